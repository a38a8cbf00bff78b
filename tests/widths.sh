#!/bin/sh
# widths.sh RELEASE: what runs on device cpu, with 1 to 64 work-items as lanes of vectors, at every
# level of this machine: the corpus, with the IR verified and allocations proved, and with the bits
# of scalar code; operators; kernels of all forms with local sizes of all kinds; with levels by
# turns, fusion tables, the tests of OpenCL that launch kernels, and programs of others (pyopencl,
# clFFT).  Takes minutes; all.sh has a part of it.  The last line is the sum.
set -u
release=$1
. tests/suites.sh

levels=$(machine_levels "$release")
[ -n "$levels" ] || { echo "this machine cannot run native code" >&2; exit 1; }

for shard in 0 1; do
    suite "modules-$shard" "$release/tests/corpus_run" tests/corpus "$release/corpus" \
        --stage modules --shard $shard/2
done
run_suites
for level in $levels; do
    suite "corpus-bits-$level" "$release/tests/corpus_run" tests/corpus "$release/corpus" \
        --stage oracle --reference "cpu:$level,simd=1" $(lane_oracles "$level") --bounds /dev/null
    for shard in 0 1; do
        suite "corpus-$level-$shard" "$release/tests/corpus_run" tests/corpus "$release/corpus" \
            --stage oracle --shard $shard/2 $(lane_oracles "$level") --verify \
            --bounds tests/corpus/cpu_bounds.txt
    done
done
for folder in "$release"/operators/clang*; do
    suite "operators-${folder##*/}" "$release/tests/conformance/operators/operators" widths "$folder"
done
suite shapes "$release/tests/opencl/shapes" -a "$release/tests/shapes.spv"
# One level for each number of lanes.
ways=$(lane_ways "$levels" | awk -v levels="$(echo "$levels" | wc -w)" '
    (NR - 1) % 7 % levels == int((NR - 1) / 7)')
for way in $ways; do
    suite "fusion-$way" "$release/tests/conformance/fusion" --device "cpu:$way,eager" \
        tests/conformance/fusion
    for name in command_fuse kernel launch subgroup svm; do
        suite "$name-$way" env SPVF_CPU="$way" "$release/tests/opencl/${name}_test"
    done
    suite "programs-$way" env SPVF_CPU="$way" sh tests/conformance/short.sh "$release" pyopencl \
        clfft/-x:64 clfft/-x:1000 clfft/-x:8:-y:8:-z:8
done
run_suites
sum_up
