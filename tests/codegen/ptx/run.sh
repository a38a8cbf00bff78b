#!/bin/sh
# run.sh BUILD: tests of the PTX writer.  Each file is a module in IR text with comments:
#   ; target: ptx:sm_90      (default ptx)
#   ;> TEXT                  a line begins with this; in this order.  Registers are %r, %rd, %f …
#                            without their numbers
#   ;! TEXT                  no line begins with it
#   ; error: TEXT            the module is refused with this message
# Each row of ptx.def is also written for each type that it takes, on the least processor that it needs;
# what becomes of it is in rows.txt, which BLESS=1 rewrites.  What is accepted must assemble without a
# warning where NVIDIA's ptxas is found: in PATH, CUDA_HOME, or /usr/local/cuda.
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

# Each processor that ptxas knows is a target.
write_for() {
    "$build/spvfuse" compile -O0 -t "ptx:$1" "$here/loop.ir" -o "$work/out.ptx" 2>"$work/assembled" ||
        { cat "$work/assembled"; return 1; }
    grep -qx "\.target $1" "$work/out.ptx" && assemble "$work/out.ptx" "$1"
}

[ -z "$ptxas" ] || for sm in $("$ptxas" --help | grep -o "'sm_[0-9]*'" | tr -d "'" | sort -u); do
    check "a kernel for $sm" write_for "$sm"
done

# Each row and type with the least processor that it needs: "OPERATION KIND PROCESSOR TEXT".
rows() {
    printf '#define bit(k) k\n#define ROW(op, kinds, text, sm, version) row op ; kinds ; sm ; text\n#include "codegen/ptx/ptx.def"\n' |
        gcc -E -P -x c -I. - | sed 's/ *row /\nrow /g; s/" *"//g' | awk -F ' ; ' '$1 ~ /^row/ {
            sub(/^row /, "", $1); gsub(/[()|]/, " ", $2); n = split($2, kind, " ")
            for (k = 1; k <= n; k++) if (kind[k] != "PTR") print $1, tolower(kind[k]), $3, $4
        }'
}
rows >"$work/rows"
check "ptx.def has rows" [ "$(wc -l <"$work/rows")" -gt 200 ]

# kernels PROCESSOR: a kernel for each row of that processor, whose operands are loaded.
kernels() {
    echo "target 64"
    awk -v sm="$1" '$3 == sm {
        op = $1; type = $2; text = $0; compares = text ~ /setp|^(eq|ne) i1/
        n = text ~ /%[usn]?c/ ? 3 : text ~ /%[usn]?b[ ,;"]/ ? 2 : 1
        printf "kernel @%s_%s(%%o: ptr.global, %%x: ptr.global) {\nentry:\n", op, type
        args = ""
        for (k = 0; k < n; k++) {
            printf "  %%p%d: ptr.global = ptradd %%x, %d\n", k, 16 * k
            printf "  %%a%d: %s = load %%p%d align 8\n", k, type, k
            args = args (k ? ", " : "") "%a" k
        }
        printf "  %%r: %s = %s %s\n", compares ? "i1" : type, op, args
        printf "  store %%r, %%o align 8\n  ret\n}\n"
    }' "$work/rows"
}

# texts PROCESSOR: what has become of each row: "OPERATION_KIND PROCESSOR INSTRUCTION; INSTRUCTION".
texts() {
    kernels "$1" >"$work/rows.ir"
    "$build/spvfuse" compile -O0 -t "ptx:sm_$1" "$work/rows.ir" -o "$work/rows_$1.ptx" || return 1
    sed 's/^[	 ]*//; s/;$//; s/\(%[prhfdw]*\)[0-9][0-9]*/\1/g' "$work/rows_$1.ptx" | awk -v sm="$1" '
        /^\.visible/ { sub(/\($/, "", $3); name = $3 }
        /^(ld|and\.b32 .*, 1$|setp\.ne\.s32 .*, 0$)/ && !text { next }
        /^\$L0:/ { inside = 1; text = ""; next }
        /^add\.s64 %rd, %rd, [0-9]/ && inside && !text { next }
        /^st\.global/ { print name, sm, text; inside = 0; text = "" }
        inside { text = text (text ? "; " : "") $0 }'
}

processors_of_rows=$(cut -d ' ' -f 3 "$work/rows" | sort -u)
for sm in $processors_of_rows; do
    texts "$sm" >>"$work/texts" 2>"$work/err" || failed "rows for sm_$sm: $(head -n 3 "$work/err")"
    check "rows for sm_$sm are assembled" assemble_for_its_target "$work/rows_$sm.ptx"
done
[ -z "${BLESS:-}" ] || cp "$work/texts" "$here/rows.txt"
check "there is a text for each row" [ "$(wc -l <"$work/texts")" = "$(wc -l <"$work/rows")" ]
check "texts of rows" diff "$here/rows.txt" "$work/texts"
finish
