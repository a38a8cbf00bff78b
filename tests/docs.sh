#!/bin/sh
# docs.sh BUILD: the generated parts of docs/ are current, no link between the pages is broken, the
# tables of rules and pipelines are those of the code, what follows "<!-- output of: spvfuse … -->" is
# what the command prints, the plans of the pages run, the words of the glossary are used, the papers
# that are cited are listed, and no comment goes on with the sentence of another, or in another
# declaration.
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

# The reference of the library: each function has a comment, which names the statuses that it returns; all
# that the library exports is there, links lead to something, and man takes the pages.
headers='runtime/spvfuse.h runtime/spvfuse_plan.h runtime/spvfuse_native.h runtime/spvfuse_queue.h
    runtime/spvfuse_container.h runtime/spvfuse_opencl.h'
# shellcheck disable=SC2086
{
    "$1/reference" --check $headers >"$work/reference"
    check "$(grep -v ' passed' "$work/reference")" [ "$(grep -vc ' passed' "$work/reference")" = 0 ]
    "$1/reference" --html $headers >"$work/reference.html"
    mkdir "$work/man3"
    "$1/reference" --man "$work/man3" $headers
}
exported=$(nm -D --defined-only "$1/libspvfuse.so" | sed -n 's/.* T \(spvf_[a-z0-9_]*\).*/\1/p' | grep -v '^spvf_opencl_entry$')
for function in $exported; do
    check "the reference lacks $function" [ -s "$work/man3/$function.3" ]
    check "the page lacks $function" grep -q "id=\"$function\"" "$work/reference.html"
done
for link in $(grep -o 'href="#[^"]*"' "$work/reference.html" | sort -u | sed 's/^href="#//; s/"$//'); do
    check "the page lacks $link" [ "$(grep -c "id=\"$link\"" "$work/reference.html")" = 1 ]
done
check "topics of a header are paragraphs" [ "$(grep -c '^<p>Threads: ' "$work/reference.html")" -ge 2 ]
check "examples begin at the margin" grep -q '^<pre><a href="#spvf_context">spvf_context</a> \*cx;' "$work/reference.html"
check "macros with arguments have their comment" sh -c \
    "grep -A 3 'id=\"SPVF_MAKE_VERSION\"' '$work/reference.html' | grep -q 'As one number'"
check "it needs another file" sh -c "! grep -nE '(src|href)=\"[^#]' '$work/reference.html'"
if command -v groff >/dev/null; then
    check "pages of the manual" sh -c "! cat '$work'/man3/*.3 | groff -man -ww -z 2>&1 | grep ."
fi
cat >"$work/lacking.h" <<'H'
/* lacking.h — a header with mistakes. */

/* -------------------------------------------------- section */

/* A comment of the section. */

SPVF_API void spvf_without(void);
/* Gives nothing else. */
SPVF_API spvf_status spvf_no_error(void);
/* Makes nothing good.  SPVF_ERROR_MEMORY. */
SPVF_API spvf_status spvf_good(void);
/* The same as text. */
SPVF_API const char *spvf_relative(void);
/* In bytes; 0 of NULL. */
SPVF_API size_t spvf_short(void);
H
same "$work/lacking.h:7: spvf_without has no comment of its own
$work/lacking.h:9: spvf_no_error returns a status, and its comment names none
$work/lacking.h:13: spvf_relative has a comment that does not say by itself what it does
$work/lacking.h:15: spvf_short has a comment that does not say by itself what it does
1 passed, 4 failed" "$("$1/reference" --check "$work/lacking.h")" "mistakes of a header are not found"

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
shown=$(grep -E '^\| `(fuse|promote|phase)\.' docs/EXPLAIN.md)
same "$(rules)" "$shown" "docs/EXPLAIN.md: the rules are not those of passes/fusion/fuse_rules.def"
for id in $(grep -ohE '"(fuse|promote|phase)\.[a-z-]+"' passes/*/*.c runtime/*/*.c runtime/*/*/*.c | sort -u); do
    check "passes/fusion/fuse_rules.def: no rule $id" grep -q "RULE($id" passes/fusion/fuse_rules.def
done
for id in $(grep -oE '"(fuse|promote|phase)\.[a-z-]+"' passes/fusion/fuse_rules.def); do
    check "passes/fusion/fuse_rules.def: nothing says $id" \
        grep -q "$id" passes/*/*.c runtime/*/*.c runtime/*/*/*.c
done

# Every row of sections.def as a row of the page.
sections() {
    printf '%s\n' '#define SECTION(id, name, record, doc) | name | doc |' \
        '#include "runtime/container/sections.def"' | gcc -E -P -I. - |
        sed 's/^| "\([^"]*\)"/| `\1`/; s/"//g'
}
shown=$(sed -n '/^| kind | what it holds |/,/^$/p' docs/CONTAINER.md | sed -n '3,$p')
same "$(sections)" "$shown" "docs/CONTAINER.md: the sections are not those of runtime/container/sections.def"

# Every row of environment.def as a row of the page.
variables() {
    printf '%s\n' '#define VARIABLE(id, old, kind, values, doc) | SPVFUSE_##id | values | doc |' \
        '#include "runtime/system/environment.def"' | gcc -E -P -I. - |
        sed 's/" "//g; s/^| \(SPVFUSE_[A-Z_]*\)/| `\1`/; s/"//g'
}
shown=$(sed -n '/^| variable | values | meaning |/,/^$/p' docs/ENVIRONMENT.md | sed -n '3,$p')
same "$(variables)" "$shown" "docs/ENVIRONMENT.md: the variables are not those of runtime/system/environment.def"

# The passes of a pipeline with their reasons, as rows of the page.
pipeline() {
    sed -n "/^const char $1\[\] =/,/^\$/p" passes/pipeline.c |
        sed -n 's/^ *"\([a-z0-9_]*\),*";* *\/\* \(.*\) \*\/.*$/| `\1` | \2 |/p'
}
for name in pass_standard pass_group_pipeline pass_vector_pipeline pass_lowering pass_coarsening \
    pass_thread_lowering; do
    case $(cat docs/PASSES.md) in
    *"$(pipeline $name)"*) passed ;;
    *) failed "docs/PASSES.md: the reasons are not those of $name in passes/pipeline.c" ;;
    esac
done

# fenced PAGE LINE: the fenced block that follows this line of the page.
fenced() {
    sed -n "$2,\$p" "$1" | awk '/^```/ { n++; next } n == 1 { print } n == 2 { exit }'
}

# White space aside, the block that follows the marker in line $2 of page $1 is in what the command prints.
example() {
    command=$(sed -n "$2s/^<!-- output of: spvfuse \(.*\) -->$/\1/p" "$1")
    block=$(fenced "$1" "$2" | tr -d '[:space:]')
    # shellcheck disable=SC2086
    output=$("$3/spvfuse" $command 2>/dev/null | tr -d '[:space:]')
    case $output in
    *"$block"*) check "$1:$2: no example" [ -n "$block" ] ;;
    *) failed "$1:$2: not what spvfuse $command prints" ;;
    esac
}

# run_plan PAGE LINE BUILD MODULE…: the plan that follows the marker runs and meets its expectations.
run_plan() {
    page=$1 line=$2 build=$3
    shift 3
    fenced "$page" "$line" >"$work/page.plan"
    for module; do cp "$build/bench/$module" "$work"; done
    for device in check cpu; do
        check "$page:$line: the plan on $device" "$build/spvfuse" run --strict -d "$device" "$work/page.plan"
    done
}

# Marked lines of the pages: "PAGE LINE REST".
marked() {
    grep -n "^<!-- $1: " README.md docs/*.md |
        sed "s/^\([^:]*\):\([0-9]*\):<!-- $1: \(.*\) -->\$/\1 \2 \3/"
}
while read -r page line _; do
    example "$page" "$line" "$1"
done <<EOF
$(marked 'output of')
EOF
while read -r page line modules; do
    # shellcheck disable=SC2086
    run_plan "$page" "$line" "$1" $modules
done <<EOF
$(marked 'a plan that runs with')
EOF

# The papers that are cited are those of the list.
# shellcheck disable=SC2046
cited=$(awk -f tests/references.awk docs/REFERENCES.md $(find ir frontend passes codegen runtime tests docs README.md \
    -name '*.[ch]' -o -name '*.def' -o -name '*.rules' -o -name '*.re' -o -name '*.sh' -o -name '*.md' \
    ! -name REFERENCES.md -o -path 'codegen/math/*.ir'))
same "$cited" "" "citations:
$cited"

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
