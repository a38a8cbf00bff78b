#!/bin/sh
# sycl.sh BUILD: kernels that clang-22 makes of function objects, without and with optimization, run
# on devices check and cpu, one by one and fused, and what is left of fused ones is what shapes.txt
# says.  Addresses in local memory are not kept over barriers.
set -u
build=$PWD/$1
# shellcheck source=tests/count.sh
. tests/count.sh

count() {
    awk '/ = load / { loads++ } /^  store / { stores++ } / = alloca / { variables++ }
         END { print loads + 0, stores + 0, variables + 0 }'
}

for level in O0 O2; do
    mkdir "$work/$level"
    cp tests/sycl/*.plan "$work/$level"
    if clang++-22 -std=c++20 -Xclang -fsycl-is-device --target=spirv64 -$level \
        -c tests/sycl/pipelines.cpp -o "$work/$level/pipelines.spv" 2>"$work/err"; then
        passed
    else
        failed "pipelines.cpp at -$level"
        cat "$work/err"
    fi
    while read -r plan want; do
        case $plan in '' | '#'*) continue ;; esac
        for device in check cpu; do
            for way in "" --unfused; do
                if "$build/spvfuse" run $way -d $device "$work/$level/$plan.plan" >"$work/out" 2>&1 &&
                    ! grep -q 'not fused' "$work/out"; then
                    passed
                else
                    failed "$plan at -$level on $device $way"
                    cat "$work/out"
                fi
            done
        done
        got=$("$build/spvfuse" fuse -t ir "$work/$level/$plan.plan" 2>"$work/err" | count)
        if [ "$got" = "$want" ]; then
            passed
        else
            failed "$plan at -$level: $got, not $want"
            cat "$work/err"
        fi
    done <tests/sycl/shapes.txt
    for device in check cpu cpu:untiered,simd=16; do
        for plan in tiled weights; do
            if "$build/spvfuse" run -d $device "$work/$level/$plan.plan" >"$work/out" 2>&1; then
                passed
            else
                failed "$plan at -$level on $device"
                cat "$work/out"
            fi
        done
    done
    "$build/spvfuse" run -stats "$work/$level/tiled.plan" >"$work/out" 2>&1
    kept=$(awk '$1 == "regions.kept" { print $2 }' "$work/out")
    if [ "${kept:-99}" -le 4 ]; then
        passed
    else
        failed "tiled at -$level keeps $kept values for each item"
    fi
    "$build/spvfuse" explain "$work/$level/chain.plan" >"$work/out" 2>"$work/err"
    if grep -q '_ZTS5Scale_arg0.16 is private memory' "$work/out"; then
        passed
    else
        failed "explain at -$level does not name a member of a closure"
        cat "$work/out"
    fi
    check "OpenCL at -$level" timeout 60 "$build/tests/opencl/closures" "$work/$level/pipelines.spv"
done
finish
