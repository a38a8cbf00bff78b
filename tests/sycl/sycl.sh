#!/bin/sh
# sycl.sh BUILD: kernels that clang-22 makes of function objects, without and with optimization, run
# on devices check and cpu, one by one and fused, and what is left of fused ones is what shapes.txt
# says, and the same as of the same kernels in OpenCL C (twins.cl).  Addresses in local memory are not kept over barriers.  So do kernels in assembly as DPC++ and
# AdaptiveCpp write them, and with closures as pointers (*.spvasm), with what a layout says of them, and
# reflection is that of *.txt.
set -u
build=$PWD/$1
# shellcheck source=tests/count.sh
. tests/count.sh

count() {
    awk '/ = load / { loads++ } /^  store / { stores++ } / = alloca / { variables++ }
         END { print loads + 0, stores + 0, variables + 0 }'
}

# run_plan PLAN FOLDER: on both devices, fused and not.
run_plan() {
    for device in check cpu; do
        for way in "" --unfused; do
            if "$build/spvfuse" run $way -d $device "$2/$1.plan" >"$work/out" 2>&1 &&
                ! grep -q 'not fused' "$work/out"; then
                passed
            else
                failed "$1 in $2 on $device $way"
                cat "$work/out"
            fi
        done
    done
}

# count_left PLAN FOLDER WANT: loads, stores and variables of what the plan fuses.
count_left() {
    got=$("$build/spvfuse" fuse -t ir "$2/$1.plan" 2>"$work/err" | count)
    if [ "$got" = "$3" ]; then
        passed
    else
        failed "$1 in $2: $got, not $3"
        cat "$work/err"
    fi
}

# count_private PLAN FOLDER WANT: members of closures that become private memory, as explained.
count_private() {
    got=$("$build/spvfuse" explain -v "$2/$1.plan" 2>"$work/err" |
        grep -c '^  _ZTS[A-Za-z0-9]*_arg[0-9]*\.[0-9_]* is private memory')
    if [ "$got" = "$3" ]; then
        passed
    else
        failed "$1 in $2: $got members are private memory, not $3"
        cat "$work/err"
    fi
}

# What was decided about the group and its buffers, and what the fused kernel does: parameters are
# numbered, and without what their type promises.
describe_fused() {
    "$build/spvfuse" explain --json "$1" 2>"$work/err" |
        grep -oE '"(rule|refusal|barrier|promotion|promoted_bytes|map)":[^,}]*|"(un)?fused":[{][^}]*[}]'
    "$build/spvfuse" fuse -t ir "$1" 2>"$work/err" | awk '
        /^source / { next }
        /^kernel / {
            count = split($0, parts, /[(]|, /) - 1
            for (k = 1; k <= count; k++) {
                sub(/:.*/, "", parts[k + 1])
                number[parts[k + 1]] = k
            }
            print count " parameters"
            next
        }
        {
            gsub(/ inbounds/, "")
            for (k = 1; k <= NF; k++) {
                word = $k
                sub(/,$/, "", word)
                if (word in number) sub(word, "%arg" number[word], $k)
            }
            print
        }'
}

# compare_twin PLAN FOLDER: the same kernels in OpenCL C become the same.
compare_twin() {
    sed '/launch/ { s/"pipelines.spv":_ZTS[0-9]*/"twins.spv":/; s/, 0\([,}]\)/\1/g; s/[{}]//g; }' \
        "$2/$1.plan" >"$2/$1-twin.plan"
    check "the twin of $1 in $2" "$build/spvfuse" run -d check "$2/$1-twin.plan"
    describe_fused "$2/$1.plan" >"$work/own"
    describe_fused "$2/$1-twin.plan" >"$work/twin"
    check "$1 in $2 stores" grep -q '^ *store %' "$work/own"
    check "$1 in $2 is fused" grep -q '"rule":"fuse' "$work/own"
    check "$1 in $2 is as its twin" diff -u "$work/twin" "$work/own"
}

spirv-as --target-env spv1.2 tests/sycl/pointers.spvasm -o "$work/pointers.spv"
for level in O0 O2; do
    mkdir "$work/$level"
    cp tests/sycl/*.plan tests/sycl/*.layout "$work/$level"
    if clang++-22 -std=c++20 -Xclang -fsycl-is-device --target=spirv64 -$level \
        -c tests/sycl/pipelines.cpp -o "$work/$level/pipelines.spv" 2>"$work/err"; then
        passed
    else
        failed "pipelines.cpp at -$level"
        cat "$work/err"
    fi
    clang-22 -target spirv64 -cl-std=CL3.0 -$level -c tests/sycl/twins.cl -o "$work/$level/twins.spv"
    while read -r plan loads stores variables private; do
        case $plan in '' | '#'*) continue ;; esac
        compare_twin "$plan" "$work/$level"
        run_plan "$plan" "$work/$level"
        count_left "$plan" "$work/$level" "$loads $stores $variables"
        count_private "$plan" "$work/$level" "$private"
    done <tests/sycl/shapes.txt
    clang-22 -target spirv64 -cl-std=CL3.0 -$level -c tests/sycl/wrappers.cl -o "$work/$level/wrappers.spv"
    run_plan wrappers "$work/$level"
    count_left wrappers "$work/$level" "1 1 0"
    run_plan specials "$work/$level"
    for convention in "spilled layout values spill area 80" "values layout values"; do
        plan=${convention%% *}
        { echo "${convention#* }" && cat tests/sycl/specials.layout; } >"$work/$level/$plan.layout"
        run_plan "$plan" "$work/$level"
    done
    count_left specials "$work/$level" "5 6 0"
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
    "$build/spvfuse" explain -v "$work/$level/chain.plan" >"$work/out" 2>"$work/err"
    if grep -q '_ZTS5Scale_arg0.16 is private memory' "$work/out"; then
        passed
    else
        failed "explain at -$level does not name a member of a closure"
        cat "$work/out"
    fi
    check "OpenCL at -$level" timeout 60 "$build/tests/opencl/closures" \
        "$work/$level/pipelines.spv" "$work/pointers.spv"
    cp "$work/pointers.spv" "$work/$level"
    for device in cpu check; do
        check "layouts of OpenCL at -$level on $device" env SPVFUSE_DEVICE=$device timeout 60 \
            "$build/tests/opencl/layouts" "$work/$level"
    done
done

# module, what is left of the fused kernel
while read -r module want; do
    spirv-as --target-env spv1.2 "tests/sycl/$module.spvasm" -o "$work/$module.spv"
    check "$module is valid" spirv-val --target-env spv1.2 "$work/$module.spv"
    cp "tests/sycl/$module.plan" "tests/sycl/$module.layout" "$work"
    run_plan "$module" "$work"
    count_left "$module" "$work" "$want"
    "$build/spvfuse" info -O --layout "tests/sycl/$module.layout" "$work/$module.spv" >"$work/info"
    "$build/spvfuse" info -O --json --layout "tests/sycl/$module.layout" "$work/$module.spv" \
        >>"$work/info"
    check "reflection of $module" diff -u "tests/sycl/$module.txt" "$work/info"
done <<END
adaptivecpp 1 1 0
dpcpp 1 2 0
pointers 1 1 0
END

# refuse LAYOUT WHY: the plan of pointers with another layout is an error, which names the launch.
refuse() {
    sed "s/pointers.layout/$1/" "$work/pointers.plan" >"$work/refused.plan"
    for command in run fuse explain; do
        "$build/spvfuse" $command "$work/refused.plan" >"$work/out" 2>&1
        check "$1, $command" grep -qF "$2" "$work/out"
        check "the place of $1, $command" grep -q 'refused.plan:6:10: error: ' "$work/out"
    done
}

echo 'closure @scale 0 size 16 { }' >"$work/size.layout"
printf 'layout values\nclosure @shift 0 size x' >"$work/text.layout"
printf 'layout drop\0' >"$work/zero.layout"
refuse missing.layout 'missing.layout: cannot be opened'
refuse size.layout "layout-mismatch: kernel 'scale', parameter 0 has 24 bytes, not 16"
refuse text.layout "text.layout:2:23: error: expected a number of bytes, found 'x'"
refuse zero.layout "'zero.layout' is no text"
finish
