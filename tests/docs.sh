#!/bin/sh
# docs.sh BUILD: the generated parts of docs/ are current, no link between the pages is broken, the
# tables of rules and pipelines are those of the code, what follows "<!-- output of: spvfuse … -->" is
# what the command prints, the words of the glossary are used, and no comment goes on with the
# sentence of another, or in another declaration.
set -u
# shellcheck source=tests/count.sh
. tests/count.sh

# same WANTED FOUND WHY…: a test that passes when the two are the same text.
same() {
    wanted=$1 found=$2
    shift 2
    if [ "$wanted" = "$found" ]; then passed; else failed "$*"; fi
}

check docs/IR.md "$1/docgen" --check docs/IR.md

for page in README.md docs/*.md; do
    folder=$(dirname "$page")
    for link in $(grep -oE '\]\([^)#:]+\)' "$page" | sed 's/^](//; s/)$//'); do
        check "$page: $link does not exist" [ -e "$folder/$link" ]
    done
done

# Every row of fuse_rules.def as a row of the page.
rules() {
    printf '%s\n' '#define RULE(id, refuses, cause, cure) | id | cause | cure |' \
        '#include "passes/fusion/fuse_rules.def"' | gcc -E -P -I. - |
        sed 's/" "//g; s/^| "\([^"]*\)" /| `\1` /; s/"//g; s/| NULL |$/| |/'
}
shown=$(grep -E '^\| `(fuse|promote)\.' docs/USAGE.md)
same "$(rules)" "$shown" "docs/USAGE.md: the rules are not those of passes/fusion/fuse_rules.def"
for id in $(grep -ohE '"(fuse|promote)\.[a-z-]+"' passes/*/*.c runtime/*/*.c | sort -u); do
    check "passes/fusion/fuse_rules.def: no rule $id" grep -q "RULE($id" passes/fusion/fuse_rules.def
done
for id in $(grep -oE '"(fuse|promote)\.[a-z-]+"' passes/fusion/fuse_rules.def); do
    check "passes/fusion/fuse_rules.def: nothing says $id" grep -q "$id" passes/*/*.c runtime/*/*.c
done

# The passes of a pipeline with their reasons, as rows of the page.
pipeline() {
    sed -n "/^const char $1\[\] =/,/^\$/p" passes/pipeline.c |
        sed -n 's/^ *"\([a-z0-9_]*\),*";* *\/\* \(.*\) \*\/.*$/| `\1` | \2 |/p'
}
for name in pass_standard pass_group_pipeline; do
    case $(cat docs/PASSES.md) in
    *"$(pipeline $name)"*) passed ;;
    *) failed "docs/PASSES.md: the reasons are not those of $name in passes/pipeline.c" ;;
    esac
done

# White space aside, the block that follows the marker in line $1 is in what the command prints.
example() {
    command=$(sed -n "$1s/^<!-- output of: spvfuse \(.*\) -->$/\1/p" docs/USAGE.md)
    block=$(sed -n "$1,\$p" docs/USAGE.md |
        awk '/^```/ { n++; next } n == 1 { print } n == 2 { exit }' | tr -d '[:space:]')
    # shellcheck disable=SC2086
    output=$("$2/spvfuse" $command | tr -d '[:space:]')
    case $output in
    *"$block"*) check "docs/USAGE.md:$1: no example" [ -n "$block" ] ;;
    *) failed "docs/USAGE.md:$1: not what spvfuse $command prints" ;;
    esac
}
for line in $(grep -n '^<!-- output of: ' docs/USAGE.md | cut -d: -f1); do
    example "$line" "$1"
done

# Terms are in order, each section by itself, and occur in the sources.
sources="ir frontend passes codegen runtime tests"
# shellcheck disable=SC2016
check "docs/GLOSSARY.md" awk -F '|' '
    /^\| term / { last = ""; next }
    /^\| / { if (tolower($2) < last) { print "docs/GLOSSARY.md: not in order:" $2; bad = 1 } last = tolower($2) }
    END { exit bad }' docs/GLOSSARY.md
for term in $(sed -n 's/^| \([^|]*\) | .*/\1/p' docs/GLOSSARY.md | sed 's/, /,/g; s/ /_/g' | tr ',' '\n'); do
    term=$(echo "$term" | tr _ ' ')
    # shellcheck disable=SC2086
    [ "$term" = term ] || check "docs/GLOSSARY.md: '$term' is not in the sources" \
        grep -rqiwE --include='*.[ch]' --include='*.def' --include='*.sh' "${term}s?" $sources
done

# shellcheck disable=SC2086
ellipses=$(grep -rnE '(/\*|^;) *(…|\.\.\.)' --include='*.[ch]' --include='*.re' --include='*.def' \
    --include='*.ir' $sources)
same "$ellipses" "" "comments without a sentence of their own:
$ellipses"

# shellcheck disable=SC2086
open_ended=$(grep -rnE '; +/\*.*: \*/$' --include='*.[ch]' $sources)
same "$open_ended" "" "comments that go on in the next declaration:
$open_ended"

finish
