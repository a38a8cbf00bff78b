#!/bin/sh
# fuzz.sh BUILD SEEDS LANES: each libFuzzer target for FUZZ_SECONDS (default 60), two at a time,
# within 1 GB and one second an input, programs that are generated and run within five; then 10,000
# pipelines.  LANES makes 100,000 more kernels that are vectorized: without libFuzzer and sanitizers
# that takes minutes instead of hours.  Findings stay in BUILD/findings.
set -u
export SPVF_ABORT=1 # a broken assertion is a finding
build=$1
seeds=$2
lanes=$3
seconds=${FUZZ_SECONDS:-60}
status=0
mkdir -p "$build/findings"

fuzz_one() {
    work=$build/work/$1
    mkdir -p "$work"
    "$build/fuzz_$1" -max_total_time="$seconds" -runs="${FUZZ_RUNS:--1}" -timeout=${2:-1} -rss_limit_mb=1024 -max_len=${3:-65536} \
        -print_final_stats=1 -artifact_prefix="$build/findings/$1-" "$work" "$seeds/$1" \
        >"$build/fuzz_$1.log" 2>&1
}

# A pipeline runs four times, so the interpreter counts, not the library.
fuzz_pipelines() {
    seconds=100000
    FUZZ_RUNS=${FUZZ_RUNS:-10000} fuzz_one pipelines 20 1024
}

# A new seed each time; the first line names it.
many_lanes() {
    seed=$(date +%s)
    echo "seed $seed" >"$build/lanes.log"
    "$lanes" -n 100000 -s "$seed" "$seeds/lanes" >>"$build/lanes.log" 2>&1
}

report() {
    if [ "$2" = 0 ]; then
        echo "$1: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/fuzz_$1.log") runs, no finding"
    else
        echo "$1: FAILED, see $build/fuzz_$1.log"
        status=1
    fi
}

for pair in "spirv text" "plan gen" "container hcf"; do
    set -- $pair
    fuzz_one "$1" & first=$!
    fuzz_one "$2" 5 & second=$!
    for job in "$1 $first" "$2 $second"; do
        set -- $job
        wait "$2"
        report "$1" $?
    done
done
fuzz_one entry
report entry $?
fuzz_one regalloc
report regalloc $?
fuzz_pipelines
report pipelines $?
fuzz_one lanes 30 1200
report lanes $?
if many_lanes; then
    echo "lanes: $(tail -n 1 "$build/lanes.log")"
else
    echo "lanes: FAILED, see $build/lanes.log"
    status=1
fi
exit $status
