#!/bin/sh
# docs.sh BUILD: the generated parts of docs/ are current, no link between the pages is broken, the
# tables of rules and pipelines are those of the code, what follows "<!-- output of: spvfuse … -->" is
# what the command prints, the words of the glossary are used, and no comment goes on with the
# sentence of another.
set -u
status=0
fail() {
    echo "$1"
    status=1
}

"$1/docgen" --check docs/IR.md || status=1

for page in README.md docs/*.md; do
    folder=$(dirname "$page")
    for link in $(grep -oE '\]\([^)#:]+\)' "$page" | sed 's/^](//; s/)$//'); do
        [ -e "$folder/$link" ] || fail "$page: $link does not exist"
    done
done

# Every row of fuse_rules.def as a row of the page.
rules() {
    printf '%s\n' '#define RULE(id, refuses, cause, cure) | id | cause | cure |' \
        '#include "passes/fuse_rules.def"' | gcc -E -P -I. - |
        sed 's/" "//g; s/^| "\([^"]*\)" /| `\1` /; s/"//g; s/| NULL |$/| |/'
}
shown=$(grep -E '^\| `(fuse|promote)\.' docs/USAGE.md)
[ "$(rules)" = "$shown" ] || fail "docs/USAGE.md: the rules are not those of passes/fuse_rules.def"
for id in $(grep -ohE '"(fuse|promote)\.[a-z-]+"' passes/*.c runtime/*.c | sort -u); do
    grep -q "RULE($id" passes/fuse_rules.def || fail "passes/fuse_rules.def: no rule $id"
done
for id in $(grep -oE '"(fuse|promote)\.[a-z-]+"' passes/fuse_rules.def); do
    grep -q "$id" passes/*.c runtime/*.c || fail "passes/fuse_rules.def: nothing says $id"
done

# The passes of a pipeline with their reasons, as rows of the page.
pipeline() {
    sed -n "/^const char $1\[\] =/,/^\$/p" passes/pipeline.c |
        sed -n 's/^ *"\([a-z0-9]*\),*";* *\/\* \(.*\) \*\/.*$/| `\1` | \2 |/p'
}
for name in pass_standard pass_group_pipeline; do
    case $(cat docs/PASSES.md) in
    *"$(pipeline $name)"*) ;;
    *) fail "docs/PASSES.md: the reasons are not those of $name in passes/pipeline.c" ;;
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
    *"$block"*) [ -n "$block" ] || fail "docs/USAGE.md:$1: no example" ;;
    *) fail "docs/USAGE.md:$1: not what spvfuse $command prints" ;;
    esac
}
for line in $(grep -n '^<!-- output of: ' docs/USAGE.md | cut -d: -f1); do
    example "$line" "$1"
done

# Terms are in order, each section by itself, and occur in the sources.
sources="ir frontend passes codegen runtime tests"
awk -F '|' '
    /^\| term / { last = ""; next }
    /^\| / { if (tolower($2) < last) { print "docs/GLOSSARY.md: not in order:" $2; bad = 1 } last = tolower($2) }
    END { exit bad }' docs/GLOSSARY.md || status=1
for term in $(sed -n 's/^| \([^|]*\) | .*/\1/p' docs/GLOSSARY.md | sed 's/, /,/g; s/ /_/g' | tr ',' '\n'); do
    term=$(echo "$term" | tr _ ' ')
    # shellcheck disable=SC2086
    [ "$term" = term ] || grep -rqiwE --include='*.[ch]' --include='*.def' --include='*.sh' \
        "${term}s?" $sources || fail "docs/GLOSSARY.md: '$term' is not in the sources"
done

# shellcheck disable=SC2086
ellipses=$(grep -rnE '(/\*|^;) *(…|\.\.\.)' --include='*.[ch]' --include='*.re' --include='*.def' \
    --include='*.ir' $sources)
[ -z "$ellipses" ] || fail "comments without a sentence of their own:
$ellipses"

[ $status = 0 ] && echo "8 passed, 0 failed"
exit $status
