#!/bin/sh
# lanes.sh BUILD [--table]: 3,000 random kernels, vectorized and as code of threads (fuzz_lanes.c).
# They have each form of access that a counter counts, each operation of each type that the generator
# can give it, and each form of control flow; passes for threads have something to do; kernels or
# golden files have each reason for which passes/vectorize/ refuses a loop.  With --table, only prints
# how often kernels have each operation, of each type.
set -u
export SPVF_ABORT=1
build=$1
. tests/count.sh

if [ "${2:-}" = --table ]; then
    "$build/tests/fuzz/lanes" -n 3000 -s 2 "$build/seeds/lanes" 2>&1 | awk -F ': ' '
        $1 != "made" { next }
        $2 != row { if (row) print line; row = $2; line = sprintf("%-20s", row) }
        { line = line " " $3 " " $4 }
        END { print line }'
    exit
fi

check kernels "$build/tests/fuzz/lanes" -n 3000 -s 2 "$build/seeds/lanes"
cp "$work/said" "$work/lanes"

for counter in $(sed -nE 's/^COUNTER\((vectorize|dots|array_words|step_pointers|merge_accesses), ([a-z]+),.*/\1.\2/p' ir/counters.def); do
    check "$counter" grep -Eq "^$counter: [1-9]" "$work/lanes"
done

# What kernels of the generator do not have: leaves; what has no defined bits, as NaNs and sums of
# floats in any order; what passes take apart before there are loops; addresses as integers; fences
# and events, which order nothing here; images; text.
never='const|undef|param|address|nan|cross|(fast_)?(normalize|length|distance)|copy|fill'
never="$never|ptrtoint|inttoptr|ptrcast(_to)?|ptr_space|atomic_f(add|min|max)|fence|subgroup_mask"
never="$never|async_copy|wait_events|(sampl|image)[a-z_]*"
never="$never|printf|assume|call|unreachable"
grep '^made: ' "$work/lanes" >"$work/made"
while IFS= read -r row; do
    case $row in *': 0') failed "the kernels have no $row" ;; *) passed ;; esac
done <<EOF
$(grep -vE "^made: ($never): " "$work/made")
EOF
check "a row for each operation and form" [ "$(grep -c . "$work/made")" -gt 500 ]

for cases in tests/passes/vectorize/*.ir; do
    "$build/spvfuse" opt "$cases" -p vectorize -v 2>>"$work/lanes" >"$work/out"
done

# A function whose innermost loop has many stores.
awk 'BEGIN {
    print "func @stores(%y: ptr.global, %n: i64) level group {\nentry:\n  jmp loop\nloop:"
    print "  %k: i64 = phi [entry: 0, loop: %next]\n  %o: i64 = shl %k, 6\n  %p: ptr.global = ptradd %y, %o"
    for (k = 0; k < 9; k++)
        printf "  %%p%d: ptr.global = ptradd %%p, %d\n  store i32 %d, %%p%d align 4\n", k, 4 * k + 4, k, k
    print "  %next: i64 = add %k, 1 nuw\n  %c: i1 = ult %next, %n\n  br %c, loop, end\nend:\n  ret\n}"
}' >"$work/loops.ir"
"$build/spvfuse" opt "$work/loops.ir" -p vectorize -v 2>>"$work/lanes" >"$work/out"

# Two are left out: one takes 500 blocks, and what is no private array is refused before.
cat passes/vectorize/*.c | tr '\n' ' ' | grep -oE 'simd_refuse\([^";]*"[^"]*"' |
    sed 's/.*"\(.*\)"/\1/' | sort -u |
    grep -vxFe 'it has too many blocks' -e 'an access of private memory' >"$work/reasons"
while read -r reason; do
    check "refused: $reason" grep -qE "(one (work-item|iteration) at a time|refused): $reason" "$work/lanes"
done <"$work/reasons"
finish
