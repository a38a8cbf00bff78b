#!/bin/sh
# trace.sh BUILD: SPVFUSE_TRACE and --trace: the file is JSON, its events nest, and their numbers are those that
# `run --times` prints; of one process and of several, of the library and of OpenCL, and of a process that is killed.
set -u
build=$1
# shellcheck source=tests/count.sh
. tests/count.sh
export SPVFUSE_CACHE=0
if ! command -v python3 >/dev/null 2>&1; then
    echo "python3 is missing; traces are not read"
    passed
    finish
    exit
fi
# read_trace ARGUMENT…: keeps what is in the files.
read_trace() {
    check "trace $*" python3 tests/runtime/trace.py "$@"
    cp "$work/said" "$work/counts"
}
# has NAME N: the trace has as many events of the name.
has() {
    found=$(sed -n "s/^$1: //p" "$work/counts")
    check "$1: ${found:-0}, not $2: $(cat "$work/counts")" [ "${found:-0}" = "$2" ]
}
# field NAME: of `run --json`.
field() {
    sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$work/result"
}

# The numbers of a run.
for plan in demo/explain demo/heat demo/image; do
    "$build/spvfuse" run --json --trace "$work/run.json" "$build/$plan.plan" >"$work/result" 2>/dev/null
    read_trace "$work/run.json"
    has launches "$(field launches)"
    has "device launches" "$(field launches)"
    has "compile kernel" "$(field variants)"
    has fused "$(field fused_groups)"
    has refused "$(field refused_groups)"
done
check "stages of compiling" grep -q '^stage select: [1-9]' "$work/counts"
check "passes" grep -q '^stage licm: [1-9]' "$work/counts"
"$build/spvfuse" run -d check --json --trace "$work/run.json" "$build/demo/explain.plan" >"$work/result" 2>/dev/null
read_trace "$work/run.json"
has "device launches" "$(field launches)"
check "--times has the same numbers" [ "$("$build/spvfuse" run --times "$build/demo/explain.plan" 2>&1 |
    sed -n 's/^launches \([0-9]*\),.*/\1/p')" = "$(field launches)" ]
"$build/spvfuse" bench --trace "$work/bench.json" "$build/demo/heat.plan" >/dev/null 2>&1
read_trace "$work/bench.json"

# What the cache had.
for lookup in "cache miss" "cache hit"; do
    SPVFUSE_CACHE=1 SPVFUSE_CACHE_DIR="$work/cache" SPVFUSE_TRACE="$work/cached.json" \
        "$build/spvfuse" run "$build/demo/explain.plan" >/dev/null 2>&1
    read_trace "$work/cached.json"
    has "$lookup" "$(sed -n 's/^compile kernel: //p' "$work/counts")"
done

# An OpenCL program, in several processes; what is said on tracks of devices does not depend on the API.
for kernel in heat neighbours; do
    SPVFUSE_TRACE="$work/ocl-%p.json" timeout 60 "$build/tests/opencl/debugged" tests/opencl/debug_kernels.cl $kernel \
        >/dev/null
done
check "a file for each process" [ "$(find "$work" -name 'ocl-[0-9]*.json' | wc -l)" = 2 ]
read_trace "$work"/ocl-*.json
has "device launches" 2
has launches 2
# One for the program, and one that tries the compiler.
has "compile OpenCL C" 4

# Threads that launch at the same time, callbacks, children of forks.
for program in runtime/queue/queue_stress runtime/queue/spvf_queue_test runtime/queue/fusing_test runtime/system/fork_test \
    runtime/queue/pending_test; do
    rm -f "$work"/many*
    SPVFUSE_TRACE="$work/many-%p.json" timeout 120 "$build/tests/$program" >"$work/program" 2>&1
    check "$program is as without a trace: $(tail -n 3 "$work/program")" [ $? = 0 ]
    read_trace --any "$work"/many-*
done

SPVFUSE_TRACE="$work/host-%p.json" "$build/tests/runtime/queue/spvf_queue_test" >/dev/null 2>&1
read_trace --any "$work"/host-*
check "functions of the host" grep -q '^function of the host: [1-9]' "$work/counts"

# A process that is killed leaves all that has happened.
cat >"$work/endless.cl" <<'CL'
kernel void endless(global volatile int *x) { while (*x == 0) {} }
CL
cat >"$work/endless.plan" <<'PLAN'
buffer x i32[1] = 0
launch "endless.cl":endless global 1 args x
PLAN
"$build/spvfuse" run --trace "$work/killed.json" "$work/endless.plan" >"$work/endless" 2>&1 &
process=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    grep -q '"cat":"launch"' "$work/killed.json" 2>/dev/null && break
    sleep 0.5
done
sleep 0.2
kill -9 $process
wait $process 2>/dev/null
read_trace --killed "$work/killed.json"
has running 2

# What cannot be written is said once, and the run goes on.
"$build/spvfuse" run --trace "$work/no/such/folder" "$build/demo/explain.plan" >"$work/result" 2>&1
check "a run without a trace" [ $? = 0 ]
check "$(cat "$work/result")" [ "$(grep -c "SPVFUSE_TRACE: '$work/no/such/folder' cannot be written" "$work/result")" = 1 ]
if [ -w /dev/full ]; then
    "$build/spvfuse" run --trace /dev/full "$build/demo/explain.plan" >/dev/null 2>&1
    check "a full disk" [ $? = 0 ]
fi
finish
