#!/bin/sh
# debug.sh BUILD: SPVFUSE_JIT=step, with and without gdb: results are those of optimized code, kernels stop
# by name and line, and parameters, variables, ids and local memory can be read.
set -u
build=$1
. tests/count.sh
export SPVFUSE_THREADS=1 TMPDIR="$work"
program=$build/tests/opencl/debugged
kernels=tests/opencl/debug_kernels.cl

for kernel in heat neighbours; do
    timeout 60 "$program" $kernels $kernel >"$work/native"
    SPVFUSE_JIT=step timeout 60 "$program" $kernels $kernel >"$work/steps"
    check "$kernel: $(cat "$work/steps"), not $(cat "$work/native")" cmp -s "$work/native" "$work/steps"
done
check "a source stays: $(ls "$work")" [ -z "$(find "$work" -name program.cl)" ]

# ask KERNEL OPTION…: keeps what gdb says.
ask() {
    kernel=$1
    shift
    SPVFUSE_JIT=step timeout 120 gdb -nx -batch -ex 'set breakpoint pending on' "$@" --args "$program" $kernels "$kernel" \
        >"$work/gdb" 2>&1
}
says() {
    check "gdb does not say '$1': $(cat "$work/gdb")" grep -qF -- "$1" "$work/gdb"
}
if ! command -v gdb >/dev/null; then
    echo "there is no gdb: stops in kernels are not tested"
    finish
    exit
fi
ask heat -ex 'break heat' -ex run -ex 'info args' -ex 'delete' -ex 'break program.cl:10' -ex c -ex 'ignore 2 9' -ex c \
    -ex 'info locals' -ex 'p x[3]' -ex 'p *x@4' -ex s -ex 'bt 2' -ex finish -ex n -ex n -ex 'p sum'
says 'Breakpoint 1, heat (x='
says 'int i = get_global_id(0);'
says 'n = 8'
says 'i = 1'
says 'k = 2'
says 'global_id = {1, 0, 0}'
says '= 3'
says '= {0, 1, 2, 3}'
says '#0  square (v=3)'
says '#1  0x'
says 'in heat (x='
says '= 14'
ask neighbours -ex 'break program.cl:20' -ex run -ex c -ex 'p i' -ex 'p local_id' -ex 'p tile' -ex 'bt 1'
says '$1 = 1'
says '$2 = {1, 0, 0}'
says '$3 = {0, 1, 2, 3, 4, 5, 6, 7}'
says '#0  neighbours (x='
finish
