#!/bin/sh
# run.sh BUILD: SPIR-V that compilers write and OpenCL C cannot say, as plans.  Each file of
# tests/frontend/run is a module in assembly with comments:
#   ;> LINE    a line of the plan; the module is k.spv there
#   ;? TEXT    device check reports this, and the plan fails there
# A plan that holds runs on check and cpu, and with what the SPIR-V writer makes of the module,
# which must pass spirv-val.
set -u
build=$1
here=tests/frontend/run
# shellcheck source=tests/count.sh
. tests/count.sh

check_file() {
    file=$1
    report=$(sed -n 's/^;? //p' "$file")
    sed -n 's/^;> //p' "$file" >"$work/plan"
    spirv-as --target-env spv1.4 "$file" -o "$work/k.spv" || return 1
    if [ -n "$report" ]; then
        ! "$build/spvfuse" run -d check "$work/plan" >"$work/out" 2>&1 || return 1
        grep -qF -- "$report" "$work/out" || { cat "$work/out"; return 1; }
        return 0
    fi
    "$build/spvfuse" run -d check "$work/plan" || return 1
    "$build/spvfuse" run -d cpu "$work/plan" || return 1
    "$build/spvfuse" compile -t spirv:1.4 "$work/k.spv" -o "$work/again.spv" || return 1
    spirv-val --target-env spv1.4 "$work/again.spv" || return 1
    mv "$work/again.spv" "$work/k.spv"
    "$build/spvfuse" run -d cpu "$work/plan"
}

for file in "$here"/*.spvasm; do check "$file" check_file "$file"; done
finish
