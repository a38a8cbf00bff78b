#!/bin/sh
# lanes.sh BUILD: 3,000 random kernels, vectorized (fuzz_lanes.c).  Each form of access of the
# counters, and each reason for which passes/vectorize/ refuses a loop, must occur.
set -u
export SPVF_ABORT=1
build=$1
. tests/count.sh

check kernels "$build/tests/fuzz/lanes" -n 3000 -s 1 "$build/seeds/lanes"
cp "$work/said" "$work/lanes"

for counter in $(sed -nE 's/^COUNTER\((vectorize), ([a-z]+),.*/\1.\2/p' ir/counters.def); do
    check "$counter" grep -Eq "^$counter: [1-9]" "$work/lanes"
done

# Golden files have these: no kernel comes with such loops.
never='it has no counter of items
items leave it in its middle
it has a branch with one target
it has too many blocks'

cat passes/vectorize/*.c | tr '\n' ' ' | grep -oE 'simd_refuse\([^";]*"[^"]*"' |
    sed 's/.*"\(.*\)"/\1/' | sort -u >"$work/reasons"
while read -r reason; do
    if printf '%s\n' "$never" | grep -qxF "$reason"; then continue; fi
    check "refused: $reason" grep -qF "refused: $reason: " "$work/lanes"
done <"$work/reasons"
finish
