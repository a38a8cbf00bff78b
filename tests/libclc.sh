#!/bin/sh
# libclc.sh BUILD: Debian's libclc (2.5 MB of SPIR-V, over two thousand functions, both pointer
# sizes) is read, verified, printed and parsed back to the same bytes, written as valid SPIR-V, and
# read again.
set -u
build=$1
# shellcheck source=tests/count.sh
. tests/count.sh

for library in /usr/lib/clc/spirv-mesa3d-.spv /usr/lib/clc/spirv64-mesa3d-.spv; do
    check "$library: read and print" "$build/spvfuse" compile -O0 -t ir "$library" -o "$work/a.ir"
    check "$library: parse and print" "$build/spvfuse" compile -O0 -t ir "$work/a.ir" -o "$work/b.ir"
    check "$library: same text" cmp "$work/a.ir" "$work/b.ir"
    check "$library: write" "$build/spvfuse" compile -O0 -t spirv "$library" -o "$work/a.spv"
    check "$library: spirv-val" spirv-val --target-env spv1.2 "$work/a.spv"
    check "$library: read again" "$build/spvfuse" info "$work/a.spv"
    check "$library: optimize" "$build/spvfuse" compile -verify-each -t spirv "$library" -o "$work/o.spv"
    check "$library: spirv-val optimized" spirv-val --target-env spv1.2 "$work/o.spv"
done
functions=$(grep -c '^func ' "$work/a.ir")
check "over 2,000 functions ($functions)" test "$functions" -ge 2000
finish
