#!/bin/sh
# all.sh RELEASE SANITIZED: runs every test program of both variants, as many at a time as there are
# processors, and adds up what they say.  Shows the output of those that fail; the last line is the
# sum.
set -u
release=$1
sanitized=$2
. tests/suites.sh

# Native code, of every level that this machine has; fusion in the second variant with 8 lanes.
levels=$(machine_levels "$release")
first=${levels%% *}
native=${first:+--device cpu:eager}
cpus="--oracle cpu:quick --oracle cpu:$first,regalloc=stack --oracle cpu:$first,seed=3"
for level in $levels; do
    cpus="$cpus --oracle cpu:$level --oracle cpu:$level,eager"
done

# The plans of the corpus take what stage `modules` writes.
for shard in 0 1; do
    suite "corpus-modules-$shard" "$release/tests/corpus_run" tests/corpus "$release/corpus" \
        --stage modules --shard $shard/2
done
run_suites

suite arrows sh tests/arrows.sh "$release"
suite size sh tests/size.sh
suite golden-cases sh tests/golden.sh
suite state sh tests/state.sh "$release"
suite libclc sh tests/libclc.sh "$release"
suite math-ulp "$release/tests/codegen/math/ulp" 40000
suite math-ulp-interpreted "$release/tests/codegen/math/ulp" -i 700
suite math-ulp-estimates "$release/tests/codegen/math/ulp" -e 300
suite writer sh tests/codegen/spirv/run.sh "$release"
suite ptx sh tests/codegen/ptx/run.sh "$release"
suite ptx-corpus sh tests/codegen/ptx/corpus.sh "$release"
suite ptx-random sh tests/codegen/ptx/random.sh "$release"
suite reader-plans sh tests/frontend/run.sh "$release"
suite docs sh tests/docs.sh "$release"
suite opencl-debug sh tests/opencl/debug.sh "$release"
suite commands sh tests/commands.sh "$release"
suite opencl-faults sh tests/opencl/faults.sh "$release"
suite tutorial sh tests/tutorial.sh "$release"
suite scaling "$release/count/tests/scaling/scaling"
suite scaling-graphs "$release/count/tests/scaling/graphs"
suite shapes sh tests/fused/shapes.sh "$release"
suite command sh tests/runtime/cli/command.sh "$release"
suite bugs sh tests/runtime/cli/bugs.sh "$release"
suite save sh tests/runtime/cli/save.sh "$release"
suite abi sh tests/runtime/api/abi.sh "$release"
suite cli-devices sh tests/runtime/cli/devices.sh "$release"
suite cli-source sh tests/runtime/cli/source.sh "$release"
suite cli-words sh tests/runtime/cli/words.sh "$release"
suite python sh tests/python/python.sh "$release"
[ -z "$first" ] || suite device "$release/tests/device/device" cpu
[ -z "$first" ] || suite device-pocl env POCL_CACHE_DIR="$PWD/$release/pocl" "$release/tests/device/device" opencl \
    atomics graphs phases threads printf
suite cuda-command sh tests/runtime/devices/cuda/command.sh "$release"
suite resident sh tests/passes/workgroup/resident.sh "$release"
suite growth sh tests/passes/vectorize/growth.sh "$release"
suite corpus-remarks sh tests/passes/vectorize/corpus.sh "$release"
suite remarks sh tests/runtime/cli/remarks.sh "$release"
suite explain sh tests/runtime/cli/explain.sh "$release"
suite page sh tests/runtime/cli/page.sh "$release"
suite code-forms sh tests/codegen/x86_64/forms.sh "$release"
suite stats sh tests/runtime/cli/stats.sh "$release"
suite facts sh tests/runtime/cli/facts.sh "$release"
suite specialized sh tests/runtime/cli/specialized.sh "$release"
suite definitions sh tests/runtime/cli/definitions.sh "$release"
suite cache sh tests/runtime/cache/cache.sh "$release"
suite library sh tests/runtime/library.sh "$release"
suite progress sh tests/progress.sh "$release"
suite trace sh tests/runtime/trace.sh "$release"
suite install sh tests/packaging/install.sh "$release"
suite mpi sh tests/runtime/mpi.sh "$release"
suite pools sh tests/runtime/pools.sh "$release"
suite objects sh tests/runtime/cli/objects.sh "$release"
suite assembly sh tests/runtime/cli/assembly.sh "$release"
suite recipes sh tests/recipes.sh "$release"
suite programs sh tests/conformance/short.sh "$release"
[ -z "$first" ] || suite programs-simd-16 env SPVF_CPU="${levels##* },simd=16" \
    sh tests/conformance/short.sh "$release" pyopencl clfft/-x:1000 clfft/-x:8:-y:8:-z:8
suite sycl sh tests/sycl/sycl.sh "$release"
[ -z "$first" ] || suite lanes sh tests/fuzz/lanes.sh "$release"
[ -z "$first" ] || suite operators "$release/tests/conformance/operators/operators" run \
    "$release"/operators/clang*

# PoCL, which is slow to compile, runs every second plan, of one producer; pocl.sh runs all of them.
for shard in 0 2; do
    suite "corpus-pocl-$shard" env POCL_CACHE_DIR="$PWD/$release/pocl" "$release/tests/corpus_run" \
        tests/corpus "$release/corpus" --stage oracle --shard $shard/4 --oracle opencl \
        --one-producer --known tests/corpus/oracle_differences.txt
done
for shard in 0 1; do
    [ -z "$first" ] || suite "corpus-cpu-$shard" "$release/tests/corpus_run" tests/corpus \
        "$release/corpus" --stage oracle --shard $shard/2 "$cpus" \
        --bounds tests/corpus/cpu_bounds.txt
done
for shard in 0 1; do
    suite "corpus-plans-$shard" "$release/tests/corpus_run" tests/corpus "$release/corpus" \
        --stage plans --shard $shard/2
done
# Functions that stay functions: all that may, in kernels as they were read.
[ -z "$first" ] || suite corpus-calls "$release/tests/corpus_run" tests/corpus "$release/corpus" \
    --stage oracle --oracle cpu:calls --oracle "cpu:$first,calls,regalloc=stack" \
    --bounds tests/corpus/cpu_bounds.txt
suite "corpus-groups" "$release/tests/regions_run" tests/corpus "$release/corpus"
for lanes in 4 8 16 64; do
    suite "corpus-groups-simd-$lanes" "$release/tests/regions_run" tests/corpus "$release/corpus" \
        --simd $lanes
done

# Our own implementation, as any program with the loader sees it.
[ -z "$first" ] || suite math-modes "$release/tests/opencl/math"
[ -z "$first" ] || suite corpus-icd env OCL_ICD_VENDORS="$PWD/$release/spvfuse.icd" \
    "$release/tests/corpus_run" tests/corpus "$release/corpus" --stage oracle --oracle opencl \
    --bounds tests/corpus/cpu_bounds.txt

[ -z "$first" ] || suite bench-simd "$release/tests/bench/simd/simd" --short "$release"
case "$levels" in *v4*) suite bench-simd-sizes "$release/tests/bench/simd/simd" --sizes "$release" ;; esac
[ -z "$first" ] || suite bench-simd-16 "$release/tests/bench/simd/simd" --short -o simd=16 "$release"

# Stores past the caches, whatever the sizes of buffers.
[ -z "$first" ] || suite corpus-streams "$release/tests/corpus_run" tests/corpus "$release/corpus" \
    --stage oracle --oracle "cpu:$first,caches=1,eager" --bounds tests/corpus/cpu_bounds.txt

# Widths take turns; widths.sh runs all of them.
for shard in 0 1; do
    [ -z "$first" ] || suite "corpus-widths-$shard" "$release/tests/corpus_run" tests/corpus \
        "$release/corpus" --stage oracle --shard $shard/2 $(lane_oracles "$levels") --turns 2 \
        --verify --bounds tests/corpus/cpu_bounds.txt
done
# Vectors have the bits of scalar code; more lanes of f64 are large where nothing multiplies and adds
# at once.
for level in $levels; do
    case $level in v2) lanes=4 ;; *) lanes=8 ;; esac
    suite "corpus-bits-$level" "$release/tests/corpus_run" tests/corpus "$release/corpus" \
        --stage oracle --reference "cpu:$level,simd=1" --oracle "cpu:$level,simd=$lanes" \
        --bounds /dev/null
done

# AVX2 code where the machine has none: emulated.
if [ "$levels" = v2 ] && command -v qemu-x86_64 >/dev/null; then
    suite corpus-cpu-emulated qemu-x86_64 -cpu max "$release/tests/corpus_run" tests/corpus \
        "$release/corpus" --stage oracle --oracle cpu:v3 --bounds tests/corpus/cpu_bounds.txt
fi

# Those of the release variant are the shortest, and last: no processor waits long for the other.
# The sanitizer variant has fewer random cases (tests/random.h).
for variant in $sanitized $release; do
    short=${variant##*/}
    case $variant in "$sanitized") turns=--turns share=3 ;; *) turns= share=1 ;; esac
    for source in $(find tests -name '*_test.c' | sort); do
        suite "$short-$(suite_of "$source")" "$variant/${source%.c}"
    done
    suite "$short-golden" "$variant/tests/run" --isel $turns tests/ir tests/passes \
        $(machine_folders)
    suite "$short-fusion" "$variant/tests/conformance/fusion" $native tests/conformance/fusion
    native=${first:+--device cpu:eager,simd=8}
    suite "$short-reader-errors" "$variant/tests/frontend/errors" tests/frontend "$release/reader"
    suite "$short-reader-widths" "$variant/tests/frontend/widths" "$release/reader"
    suite "$short-pool-stress" "$variant/tests/runtime/native/pool_stress"
    suite "$short-queue-stress" "$variant/tests/runtime/queue/queue_stress"
    suite "$short-later-stress" "$variant/tests/runtime/queue/later_stress"
    suite "$short-ends-stress" "$variant/tests/runtime/devices/cuda/ends_stress"
    suite "$short-memory-stress" "$variant/tests/opencl/memory_stress"
    suite "$short-command-stress" "$variant/tests/opencl/command_stress"
    [ -z "$first" ] || suite "$short-shapes" "$variant/tests/opencl/shapes" "$release/tests/shapes.spv"
    suite "$short-opencl-stress" "$variant/tests/opencl/stress"
    suite "$short-command-random" "$variant/tests/opencl/command_random" -n $((3000 / share)) \
        tests/opencl/command_kernels.cl
    suite "$short-queue-random" "$variant/tests/runtime/queue/queue_random" -n 500 \
        "$release/tests/command_kernels.spv"
    suite "$short-layouts" "$variant/tests/runtime/queue/layouts" -n $((500 / share))
    for target in spirv text plan gen entry regalloc container hcf; do
        suite "$short-fuzz-$target" "$variant/tests/fuzz/$target" -n $((1500 / share)) -s 1 \
            "$release/seeds/$target"
    done
    # In the release variant, the suite `lanes` runs more of them.
    [ "$variant" = "$release" ] || suite "$short-fuzz-lanes" "$variant/tests/fuzz/lanes" -n 130 -s 1 \
        "$release/seeds/lanes"
    suite "$short-fuzz-pipelines" "$variant/tests/fuzz/pipelines" -n 200 -s 1 "$release/seeds/pipelines"
done
run_suites
sum_up
