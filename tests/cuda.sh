#!/bin/sh
# cuda.sh FOLDER [DEVICE]: everything that is tested on a GPU of NVIDIA; a line for each suite, and for
# what was skipped why.  FOLDER/cuda.json gets the figures, FOLDER/out what the suites print.
#
# `ninja test-cuda` makes the folder: programs, SPIR-V and plans, which need the driver and none of
# our packages.  JOBS says how many processes use the device at once, POINTS how many points of each
# function are tried.
set -u
folder=$(cd "$1" && pwd)
device=${2:-cuda}
jobs=${JOBS:-8}
points=${POINTS:-1000000}
bin=$folder/bin
out=$folder/out
rm -rf "$out"
mkdir -p "$out"
export SPVFUSE_CACHE_DIR="$out/kept"
json=$folder/cuda.json
separator='['
bad=0
: >"$json"

# put ROW PASSED FAILED SECONDS REASON
put() {
    printf '%-28s %7s passed %5s failed %5s s  %s\n' "$1" "$2" "$3" "$4" "$5"
    printf '%s{"row":"%s","passed":%s,"failed":%s,"seconds":%s,"note":"%s"}\n' \
        "$separator" "$1" "$2" "$3" "$4" "$5" >>"$json"
    separator=','
    [ "$3" = 0 ] || bad=1
}
skip() { put "$1" 0 0 0 "skipped: $2"; }

# row NAME COMMAND…: a suite, whose sums are lines "N passed, M failed"; all of them count.
row() {
    name=$1
    shift
    start=$(date +%s)
    "$@" >"$out/$name" 2>&1
    status=$?
    seconds=$(($(date +%s) - start))
    sums=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' "$out/$name" |
        awk '{ p += $1; f += $2 } END { print p + 0, f + 0 }')
    passed=${sums% *} failed=${sums#* }
    [ "$status" = 0 ] || [ "$failed" != 0 ] || failed=1
    [ "$failed" = 0 ] && [ "$passed" = 0 ] && failed=1
    put "$name" "$passed" "$failed" "$seconds" ''
    [ "$failed" = 0 ] || grep -vE '^[0-9]+ passed' "$out/$name" | tail -n 15
}

# shards N COMMAND…: the command N times at once, with I/N for @.
shards() {
    n=$1 at=0 status=0 pids=
    shift
    while [ "$at" -lt "$n" ]; do
        (for word; do
            shift
            [ "$word" = @ ] && word=$at/$n
            set -- "$@" "$word"
        done
        "$@" >"$out/shard.$at" 2>&1) &
        pids="$pids $!"
        at=$((at + 1))
    done
    for pid in $pids; do wait "$pid" || status=1; done
    cat "$out"/shard.*
    rm "$out"/shard.*
    return $status
}

corpus() {
    shards "$jobs" "$bin/corpus_run" "$folder/plans" "$folder/corpus" --stage oracle --shard @ \
        --oracle "$device" --bounds "$folder/plans/cuda_bounds.txt" \
        --known "$folder/plans/cuda_differences.txt" "$@"
}

# phases DEVICE: the plans whose groups wait for each other.  In a shell of its own, for `device`.
phases() (
    device=$1
    corpus cross_group_phases
)

phase_times() {
    # shellcheck disable=SC2086
    "$bin/phases" $ways | tee "$folder/phases.txt" && echo "1 passed, 0 failed"
}

# The driver's compiler runs in the first process alone; one that is killed leaves nothing bad.  In a
# shell of its own, so that other suites keep their cache.
cached() (
    cd "$folder/plans" || exit 1
    SPVFUSE_CACHE_DIR=$out/fresh
    passed=0 failed=0
    for step in compiled found killed verified; do
        case $step in
        killed)
            "$bin/spvfuse" cache clear >/dev/null
            "$bin/spvfuse" run -d "$device" "$folder/chain.plan" >/dev/null 2>&1 &
            sleep 0.35
            kill -9 $! 2>/dev/null
            wait $! 2>/dev/null
            ;;
        verified) "$bin/spvfuse" cache verify ;;
        *) "$bin/spvfuse" run -d "$device" -time "$folder/chain.plan" 2>"$out/$step.time" ;;
        esac && passed=$((passed + 1)) || { [ $step = killed ] || failed=$((failed + 1)); }
    done
    "$bin/spvfuse" run -d "$device" "$folder/chain.plan" || failed=$((failed + 1))
    grep -h driver "$out"/compiled.time "$out"/found.time
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
)

sanitize() { # TOOL
    timeout 150 "$sanitizer" --tool "$1" --error-exitcode 9 "$bin/device" "$device" groups ranges \
        printf &&
        timeout 150 "$sanitizer" --tool "$1" --error-exitcode 9 --target-processes all \
            "$bin/corpus_run" "$folder/plans" "$folder/corpus" --stage oracle --shard 0/40 \
            --oracle "$device" --one-producer --bounds "$folder/plans/cuda_bounds.txt" \
            --known "$folder/plans/cuda_differences.txt"
}

"$bin/spvfuse" devices -v | grep "^${device%%:*}" || { echo "there is no device"; exit 1; }
row corpus corpus
row corpus-cached corpus
row conformance "$bin/fusion" --device "$device" "$folder/conformance"
row pipelines env SPVF_FUZZ_DEVICE="$device" "$bin/pipelines" -n 1000 "$folder/seeds"
# Groups that wait for each other, in both ways.
case $device in
cuda) ways='cuda:phases=together cuda:phases=launches' ;;
cuda:*) ways="$device,phases=together $device,phases=launches" ;;
*) ways= ;;
esac
for way in $ways; do
    row "corpus-${way##*=}" phases "$way"
    row "phases-${way##*=}" "$bin/device" "$way" phases
    row "pipelines-${way##*=}" env SPVF_FUZZ_DEVICE="$way" "$bin/pipelines" -n 1000 "$folder/seeds"
done
[ -z "$ways" ] || row phase-times phase_times
for part in constructs groups atomics ranges graphs phases threads printf; do
    row "$part" "$bin/device" "$device" "$part"
done
row cache cached
row ulp shards "$jobs" "$bin/ulp" -d "$device" --shard @ "$points"
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
for tool in memcheck racecheck synccheck; do
    if [ -z "$sanitizer" ]; then
        skip "$tool" "there is no compute-sanitizer"
    elif ! "$sanitizer" --tool "$tool" "$bin/device" "$device" printf >"$out/$tool" 2>&1 &&
        grep -q 'not supported' "$out/$tool"; then
        skip "$tool" "compute-sanitizer does not support the device"
    else
        row "$tool" sanitize "$tool"
    fi
done
echo ']' >>"$json"
exit $bad
