#!/bin/sh
# remarks.sh BUILD: what `spvfuse compile -v` says of loops over work-items: number of lanes, what is
# left, forms of access, estimates, the reason why a loop is not vectorized, and its place.
set -u
spvfuse=$PWD/$1/spvfuse
module=$PWD/$1/corpus/clang15-O2/debug_info.spv
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1

# kernel NAME: a kernel in NAME.ir whose body is the input, with buffers %x and %y, the id %i, and
# the place %p of the item in %x.
kernel() {
    {
        echo "target 64"
        echo "kernel @$1(%x: ptr.global of i32, %y: ptr.global of i32, %n: i64) {"
        echo "entry:"
        echo "  %i: i64 = global_id 0"
        echo "  %o: i64 = shl %i, 2"
        echo "  %p: ptr.global = ptradd %x, %o"
        cat
        echo "}"
    } >"$1.ir"
}

# remark TARGET NAME TEXT: the only remark of the kernel is the text, where * is for anything.
remark() {
    "$spvfuse" compile -v -t "x86_64:$1" "$2.ir" -o k.o >said 2>&1
    # shellcheck disable=SC2254
    case $(grep ': note: ' said) in
    "$2.ir: note: @$2.block: a loop runs "$3) passed ;;
    *) failed "$1, $2: $(cat said), not: $3" ;;
    esac
}

kernel along <<'IR'
  %q: ptr.global = ptradd %y, %o
  %v: i32 = load %p align 4
  store %v, %q align 4
  ret
IR
remark v4,simd=16 along "16 work-items at a time, and those that are left under a mask; accesses: 2 contiguous"
remark v2,simd=64 along "64 work-items at a time; accesses: 2 contiguous"
remark v2 along "* work-items at a time; accesses: 2 contiguous; 0.* of the estimated time of one at a time"

kernel choosing <<'IR'
  %q: ptr.global = ptradd %y, %o
  %v: i32 = load %p align 4
  %c: i1 = slt %v, i32 7
  br %c, yes, no
yes:
  %w: i32 = load %y align 4
  store %w, %q align 4
  jmp no
no:
  ret
IR
remark v4,simd=2 choosing "2 work-items at a time, and those that are left under a mask; accesses: 1 of one address, 1 contiguous, *"

kernel gathering <<'IR'
  %v: i32 = load %p align 4
  %k: i64 = zext %v
  %b: i64 = shl %k, 2
  %q: ptr.global = ptradd %y, %b
  %w: i32 = load %q align 4
  store %w, %p align 4
  ret
IR
remark v2,simd=4 gathering "4 work-items at a time; accesses: 2 contiguous, 1 of addresses that lanes have for themselves"
remark v2 gathering "one work-item at a time: it would not be faster; * of the estimated time of one at a time"

kernel counting <<'IR'
  %v: i32 = load %p align 4
  %k: i64 = zext %v
  %b: i64 = shl %k, 2
  %q: ptr.global = ptradd %y, %b
  %old: i32 = atomic_add %q, 1 device relaxed
  ret
IR
remark v4,simd=8 counting "8 work-items at a time*; accesses: 1 contiguous, 8 atomic"

kernel fencing <<'IR'
  store i32 1, %p align 4
  fence device acq_rel global
  ret
IR
remark v4,simd=8 fencing "one work-item at a time: an operation has no form for several items (fence)"

kernel volatile <<'IR'
  store i32 1, %p align 4 volatile
  ret
IR
remark v4 volatile "one work-item at a time: an access is volatile (store)"

# live COUNT: so many f64 that live around a loop.
live() {
    awk -v n="$1" 'BEGIN {
        print "  %v: f64 = load %y align 8\n  %f: f64 = uitofp %i\n  jmp loop\nloop:"
        print "  %r: i32 = phi [entry: 0, loop: %r1]"
        for (k = 0; k < n; k++) printf "  %%a%d: f64 = phi [entry: %%f, loop: %%b%d]\n", k, k
        for (k = 0; k < n; k++) printf "  %%b%d: f64 = mad %%a%d, %%v, %%a%d\n", k, k, (k + 1) % n
        print "  %r1: i32 = add %r, 1\n  %c: i1 = ult %r1, i32 1000\n  br %c, loop, end\nend:"
        print "  %s0: f64 = fadd %b0, 0.0"
        for (k = 1; k < n; k++) printf "  %%s%d: f64 = fadd %%s%d, %%b%d\n", k, k - 1, k
        printf "  %%w: i32 = fptosi %%s%d\n  store %%w, %%p align 4\n  ret\n", n - 1
    }'
}

# More lanes than a register has only where the values that live at once fit into registers.
live 2 | kernel few
remark v4 few "32 work-items at a time*"
live 40 | kernel many
remark v4 many "8 work-items at a time*"

# Scalar code was asked for, or nothing was asked.
check "one lane" sh -c '! "$0" compile -v -t x86_64:v4,simd=1 along.ir -o k.o 2>&1 | grep note' "$spvfuse"
check "no -v" sh -c '! "$0" compile -t x86_64:v4 along.ir -o k.o 2>&1 | grep note' "$spvfuse"

# Where the module knows its source, a remark has the place.
check "the place" sh -c '"$0" compile -v -t x86_64:v4,simd=16 "$1" -o k.o 2>&1 |
    grep -q "debug_info.cl:25: note: @measure.block: a loop runs 16 work-items at a time"' \
    "$spvfuse" "$module"
finish
