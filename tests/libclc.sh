#!/bin/sh
# libclc.sh BUILD: Debian's libclc (2.5 MB of SPIR-V, over two thousand functions, both pointer
# sizes) is read, verified, printed and parsed back to the same bytes, written as valid SPIR-V, and
# read again.
set -u
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pass=0 fail=0

step() {
    name=$1
    shift
    if "$@" >"$work/out" 2>&1; then
        pass=$((pass + 1))
    else
        fail=$((fail + 1))
        echo "FAIL $name: $(head -n 2 "$work/out")"
    fi
}

for library in /usr/lib/clc/spirv-mesa3d-.spv /usr/lib/clc/spirv64-mesa3d-.spv; do
    step "$library: read and print" "$build/spvfuse" compile -O0 -t ir "$library" -o "$work/a.ir"
    step "$library: parse and print" "$build/spvfuse" compile -O0 -t ir "$work/a.ir" -o "$work/b.ir"
    step "$library: same text" cmp "$work/a.ir" "$work/b.ir"
    step "$library: write" "$build/spvfuse" compile -O0 -t spirv "$library" -o "$work/a.spv"
    step "$library: spirv-val" spirv-val --target-env spv1.2 "$work/a.spv"
    step "$library: read again" "$build/spvfuse" info "$work/a.spv"
    step "$library: optimize" "$build/spvfuse" compile -verify-each -t spirv "$library" -o "$work/o.spv"
    step "$library: spirv-val optimized" spirv-val --target-env spv1.2 "$work/o.spv"
done
functions=$(grep -c '^func ' "$work/a.ir")
step "over 2,000 functions ($functions)" test "$functions" -ge 2000
echo "$pass passed, $fail failed"
[ $fail = 0 ]
