#!/bin/sh
# cuda.sh BUILD [DEVICE]: the corpus on a GPU, unfused and fused, against what the interpreter
# leaves.  For machines that have NVIDIA's driver: it needs BUILD/tests/corpus_run, BUILD/corpus and
# tests/corpus, and none of our packages.  corpus/cuda_bounds.txt lists the plans whose floats may
# differ, and cuda_differences.txt what the device cannot run.
set -u
build=$1
device=${2:-cuda}
jobs=${JOBS:-8}
out=$(mktemp -d)
shard=0
while [ "$shard" -lt "$jobs" ]; do
    "$build/tests/corpus_run" tests/corpus "$build/corpus" --stage oracle --shard "$shard/$jobs" \
        --oracle "$device" --bounds tests/corpus/cuda_bounds.txt \
        --known tests/corpus/cuda_differences.txt >"$out/$shard" 2>&1 &
    shard=$((shard + 1))
done
wait
cat "$out"/* | grep -vE '^[0-9]+ passed'
cat "$out"/* | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' |
    awk -v shards="$jobs" '{ passed += $1; failed += $2; n++ }
        END { printf "%d passed, %d failed\n", passed, failed + (n < shards); exit failed > 0 || n < shards }'
status=$?
rm -rf "$out"
exit $status
