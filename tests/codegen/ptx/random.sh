#!/bin/sh
# random.sh BUILD [MUTATIONS SEED]: random kernels (tests/fuzz/lanes.c) as PTX assemble without a
# warning, for the oldest processor that ptxas knows, sm_80, sm_90 and its newest.  Sub-groups have
# the size of a warp here.  By default the kernels are those of the seeds.
set -u
build=$1
. tests/count.sh
. tests/codegen/ptx/ptxas.sh
[ -n "$ptxas" ] || { echo "ptxas is not there: nothing is assembled"; passed; finish; exit; }

LANES_TEXT="$work/made.ir" "$build/tests/fuzz/lanes" -n "${2:-0}" -s "${3:-1}" "$build/seeds/lanes" \
    >"$work/said" 2>&1 || failed "kernels: $(tail -n 3 "$work/said")"
sed 's/ subgroup_size [0-9]*//' "$work/made.ir" >"$work/kernels.ir"

write_and_assemble() {
    "$build/spvfuse" compile -O0 "$work/kernels.ir" -t "ptx:$1" -o "$work/$1.ptx" || return 1
    assemble "$work/$1.ptx" "$1" -O0
}

check "there are kernels" grep -q '^kernel ' "$work/kernels.ir"
for sm in $processors; do check "random kernels for $sm" write_and_assemble "$sm"; done
finish
