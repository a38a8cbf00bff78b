#!/bin/sh
# pocl.sh RELEASE: the plans of the corpus, of all producers, on the OpenCL implementation that the
# loader finds first; all.sh runs each of them for one producer.  The last line is the sum.
set -u
release=$1
. tests/suites.sh

for shard in 0 1; do
    suite "corpus-modules-$shard" "$release/tests/corpus_run" tests/corpus "$release/corpus" \
        --stage modules --shard $shard/2
done
run_suites
for shard in 0 1; do
    suite "corpus-pocl-$shard" env POCL_CACHE_DIR="$PWD/$release/pocl" "$release/tests/corpus_run" \
        tests/corpus "$release/corpus" --stage oracle --shard $shard/2 --oracle opencl \
        --known tests/corpus/oracle_differences.txt
done
suite layouts-pocl env POCL_CACHE_DIR="$PWD/$release/pocl" \
    "$release/tests/runtime/queue/layouts" -n 100 -d opencl
run_suites
sum_up
