#!/bin/sh
# random.sh BUILD: what the generators of random programs make of a seed that is new each time, the
# seconds since 1970, or SEED: pipelines, functions, kernels, programs of the register allocator, commands of
# queues and of command buffers, damaged modules, plans, containers and entries of the cache.  RANDOM_TIMES
# (default 1) as many as below, which take minutes.  The first line names the seed, with which the
# same is made again; what fails is shown.
set -u
export SPVF_ABORT=1 SPVFUSE_CACHE=0
build=$1
seed=${SEED:-$(date +%s)}
times=${RANDOM_TIMES:-1}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
status=0
echo "SEED=$seed"

# try COUNT PROGRAM [ARGUMENT]: the last line of what it says, or all.
try() {
    if "$build/tests/$2" -n $(($1 * times)) -s "$seed" ${3+"$3"} >"$out" 2>&1; then
        echo "$2: $(tail -n 1 "$out")"
    else
        echo "$2: FAILED"
        cat "$out"
        status=1
    fi
}

try 4000 fuzz/pipelines "$build/seeds/pipelines"
try 10000 fuzz/gen "$build/seeds/gen"
try 20000 fuzz/lanes "$build/seeds/lanes"
try 4000 fuzz/regalloc "$build/seeds/regalloc"
try 20000 opencl/command_random tests/opencl/command_kernels.cl
try 5000 runtime/queue/queue_random "$build/tests/command_kernels.spv"
try 20000 runtime/queue/layouts
try 20000 fuzz/spirv "$build/seeds/spirv"
try 20000 fuzz/text "$build/seeds/text"
try 20000 fuzz/plan "$build/seeds/plan"
try 20000 fuzz/entry "$build/seeds/entry"
try 20000 fuzz/container "$build/seeds/container"
try 20000 fuzz/hcf "$build/seeds/hcf"
exit $status
