#!/bin/sh
# run.sh BUILD: tests of the PTX writer.  Each file is a module in IR text with comments:
#   ; target: ptx:sm_90      (default ptx)
#   ;> TEXT                  a line begins with this; in this order.  Registers are %r, %rd, %f …
#                            without their numbers
#   ;! TEXT                  no line begins with it
#   ; error: TEXT            the module is refused with this message
# Each row of ptx.def is also written for each type that it takes.  What is accepted must assemble
# without a warning where NVIDIA's ptxas is found: in PATH, CUDA_HOME, or /usr/local/cuda.
set -u
build=$1
here=tests/codegen/ptx
# shellcheck source=tests/count.sh
. tests/count.sh

. tests/codegen/ptx/ptxas.sh
[ -n "$ptxas" ] || echo "ptxas is not there: nothing is assembled"

# A newer ptxas does not know the oldest processors, whose code newer ones run.
assemble_for_its_target() {
    [ -n "$ptxas" ] || return 0
    sm=$(sed -n 's/^\.target //p' "$1")
    knows "$sm" || sm=${processors%% *}
    assemble "$1" "$sm"
}

check_file() {
    file=$1
    target=$(sed -n 's/^; target: //p' "$file")
    error=$(sed -n 's/^; error: //p' "$file")
    if ! "$build/spvfuse" compile -O0 -t "${target:-ptx}" "$file" -o "$work/out.ptx" 2>"$work/err"; then
        [ -n "$error" ] && grep -qF -- "$error" "$work/err" && return 0
        cat "$work/err"
        return 1
    fi
    [ -z "$error" ] || { echo "not refused: $error"; return 1; }
    assemble_for_its_target "$work/out.ptx" || return 1
    sed 's/^[	 ]*//; s/\(%[prhfd]*\)[0-9][0-9]*/\1/g' "$work/out.ptx" >"$work/text"
    awk -v golden="$file" '
        { line[NR] = $0 }
        END {
            at = 1
            while ((getline want < golden) > 0) {
                kind = substr(want, 1, 3); text = substr(want, 4)
                if (kind == ";> ") {
                    while (at <= NR && index(line[at], text) != 1) at++
                    if (at > NR) { print "missing: " text; exit 1 }
                    at++
                } else if (kind == ";! ") {
                    for (i = 1; i <= NR; i++)
                        if (index(line[i], text) == 1) { print "unwanted: " line[i]; exit 1 }
                }
            }
        }' "$work/text"
}

for module in "$here"/*.ir; do check "$module" check_file "$module"; done
{ echo ";> no such text"; cat "$here/loop.ir"; } >"$work/wrong.ir"
check "texts are compared" eval '! check_file "$work/wrong.ir"'

# A kernel for each row and type: "OPERATION KIND TEXT" becomes IR.
rows() {
    printf '#define bit(k) k\n#define ROW(op, kinds, text, sm, version) row op ; kinds ; text\n#include "codegen/ptx/ptx.def"\n' |
        gcc -E -P -x c -I. - | sed 's/ row /\nrow /g' | awk -F ' ; ' '$1 ~ /^row/ {
            sub(/^row /, "", $1); gsub(/[()|]/, " ", $2); n = split($2, kind, " ")
            for (k = 1; k <= n; k++) print $1, tolower(kind[k]), $3
        }'
}
rows >"$work/rows"
check "ptx.def has rows" [ "$(wc -l <"$work/rows")" -gt 150 ]
awk '{
    op = $1; type = $2; text = $0; compares = text ~ /setp|^(eq|ne) i1/
    if (type == "ptr") next
    n = text ~ /%[usn]?c/ ? 3 : text ~ /%[usn]?b[ ,;"]/ ? 2 : 1
    printf "kernel @%s_%s(%%o: ptr.global, %%x: ptr.global) {\nentry:\n", op, type
    args = ""
    for (k = 0; k < n; k++) {
        printf "  %%p%d: ptr.global = ptradd %%x, %d\n  %%a%d: %s = load %%p%d align 1\n", k, 16 * k, k, type, k
        args = args (k ? ", " : "") "%a" k
    }
    printf "  %%r: %s = %s %s\n  store %%r, %%o align 1\n  ret\n}\n", compares ? "i1" : type, op, args
}' "$work/rows" >"$work/rows.body"
{ echo "target 64"; cat "$work/rows.body"; } >"$work/rows.ir"
check "every row is written" "$build/spvfuse" compile -O0 -t ptx "$work/rows.ir" -o "$work/rows.ptx"
check "every row is assembled" assemble_for_its_target "$work/rows.ptx"
# The first instruction of each row, up to its first blank, is there.
awk '{ text = $0; sub(/^[^"]*"/, "", text); sub(/ .*/, "", text)
       gsub(/%rn/, ".rn", text); gsub(/%approx/, "approx", text); gsub(/%full/, "full", text); print text }' \
    "$work/rows" | sort -u >"$work/names"
while read -r name; do
    check "instruction $name" grep -qF -- "	$name " "$work/rows.ptx"
done <"$work/names"
finish
