#!/bin/sh
# objects.sh BUILD: object files of `spvfuse compile` in C programs: the one that docs/COMMAND.md
# shows, and one that calls kernels as the runtime of Native CPU does.
set -u
spvfuse=$PWD/$1/spvfuse
tree=$PWD
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1

cat >saxpy.ir <<'IR'
target 64
kernel @saxpy(%x: ptr.global of f32, %y: ptr.global of f32, %a: f32) {
entry:
  %i: i64 = global_id 0
  %o: i64 = shl %i, 2
  %p: ptr.global = ptradd %x, %o
  %q: ptr.global = ptradd %y, %o
  %v: f32 = load %p align 4
  %w: f32 = load %q align 4
  %m: f32 = fmul %v, %a
  %s: f32 = fadd %m, %w
  store %s, %q align 4
  ret
}
IR

# The page's program, and what calls it.
{ echo '#include "runtime/spvfuse.h"'
    awk '/^## Object files/ { on = 1 } on && /^```/ { n++; next } on && n == 1' \
        "$tree/docs/COMMAND.md"
    cat <<'C'
int main(void) {
    static float x[1000], y[1001];
    for (int i = 0; i < 1000; i++) x[i] = (float)i, y[i] = 1;
    run_saxpy(2, x, y);
    for (int i = 0; i < 1000; i++)
        if (y[i] != 2 * (float)i + 1) return 1;
    return y[1000] != 0 || spvf_kernels[1].name;
}
C
} >plain.c

cat >nativecpu.c <<'C'
#include <stddef.h>
typedef struct {
    size_t global_id[3], global_range[3], group_size[3], group[3], local_id[3], groups[3],
        offset[3];
    unsigned subgroup[4];
} state;
extern void saxpy(void *const *args, state *s);
extern const struct {
    const char *name;
    void (*run)(void *const *args, state *s);
} __sycl_native_cpu_decls[];
int main(void) {
    static float x[1000], y[1001];
    float a = 2;
    void *args[] = {x, y, &a};
    state s = {.global_range = {1000, 1, 1}, .group_size = {100, 1, 1}, .groups = {10, 1, 1}};
    for (int i = 0; i < 1000; i++) x[i] = (float)i, y[i] = 1;
    for (; s.group[0] < 10; s.group[0]++) __sycl_native_cpu_decls[0].run(args, &s);
    for (int i = 0; i < 1000; i++)
        if (y[i] != 2 * (float)i + 1) return 1;
    return y[1000] != 0 || __sycl_native_cpu_decls[0].run != saxpy;
}
C

# link_and_run PROGRAM OPTION…
link_and_run() {
    program=$1
    shift
    if "$spvfuse" compile saxpy.ir "$@" -o k.o &&
        gcc -std=c17 -Wall -Werror -I"$tree" "$program.c" k.o -o main && ./main; then
        passed
    else
        failed "$program: spvfuse compile $*: does not run"
    fi
}

for level in $("$tree/$1/tests/run" --levels); do
    for more in '' -g '--regalloc stack'; do
        # shellcheck disable=SC2086
        link_and_run plain -t x86_64:$level $more
        # shellcheck disable=SC2086
        link_and_run nativecpu -t x86_64:$level --abi nativecpu $more
    done
done

# Headers: every scalar type, a value without one, local memory, and names that are keywords of C++.
cat >types.cl <<'CL'
typedef struct { int a, b; } pair;
kernel void all(char this, uchar b, short c, ushort d, int e, uint f, long g, ulong h, float i,
                double j, float4 v, pair p, int unused, local int *class, global const int *in,
                global double *out) {
    class[get_local_id(0)] = in[0];
    out[0] = (double)this + b + c + d + e + f + g + h + i + j + v.x + v.w + p.a + p.b + class[0];
}
kernel void nothing(void) {}
CL
cat >types.c <<'C'
#include "types.h"
int main(void) {
    _Alignas(128) static char local[128];
    spvf_group_info all = {.group_end = {1, 1, 1}, .num_groups = {1, 1, 1}, .work_dim = 1,
                           .local_size = {1, 1, 1}, .global_size = {1, 1, 1}, .local = local};
    _Alignas(16) const float v[4] = {1, 8, 8, 2};
    const int p[2] = {3, 4}, in = 5;
    double out = 0;
    spvf_run_all(&all, -1, 255, -2, 65535, -3, 4000000000u, -4, 1ull << 40, 0.5f, 0.25, v, p, 9, 0,
                 &in, &out);
    spvf_run_nothing(&all);
    return out != -1 + 255 - 2 + 65535 - 3 + 4000000000.0 - 4 + 1099511627776.0 + 0.75 + 15;
}
C
cat >header.sh <<'SH'
set -e
clang-15 -target spir64 -O1 -cl-std=CL1.2 -fno-discard-value-names -cl-kernel-arg-info -emit-llvm \
    -c types.cl -o types.bc
llvm-spirv-15 $2 types.bc -o types.spv
"$1" compile types.spv -t x86_64:v2 -o types.o --header types.h
SH
names=--preserve-ocl-kernel-arg-type-metadata-through-string
strict='-Wall -Wextra -Wpedantic -Wconversion -Werror'
check "a header without types of arguments" sh header.sh "$spvfuse"
check "values are given by address" grep -q 'const void \*arg_this /\* of 1 bytes \*/' types.h
check "a header" sh header.sh "$spvfuse" $names
# shellcheck disable=SC2086
check "its program" gcc -std=c17 $strict -I. -isystem "$tree/runtime" types.c types.o -o types
[ -z "$("$tree/$1/tests/run" --levels)" ] || check "its program runs" ./types
# shellcheck disable=SC2086
check "a header in C++" g++ -std=c++17 $strict -I"$tree/runtime" -include types.h -x c++ \
    -fsyntax-only /dev/null
cat >twice.spvasm <<'ASM'
OpCapability Kernel
OpCapability Addresses
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k"
OpName %a "x"
OpName %b "x"
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%type = OpTypeFunction %void %uint %uint
%k = OpFunction %void None %type
%a = OpFunctionParameter %uint
%b = OpFunctionParameter %uint
%entry = OpLabel
OpReturn
OpFunctionEnd
ASM
spirv-as --target-env spv1.2 twice.spvasm -o twice.spv
"$spvfuse" compile twice.spv -t x86_64:v2 -o twice.o --header twice.h
# shellcheck disable=SC2086
check "a header with one name of two arguments" gcc -std=c17 $strict -isystem "$tree/runtime" \
    -include twice.h -x c -fsyntax-only /dev/null
check "a header of PTX" sh -c '"$1" compile types.spv -t ptx -o t.ptx --header t.h; [ $? = 2 ]' - \
    "$spvfuse"
check "a folder that does not exist" sh -c '! "$1" compile types.spv -t x86_64 -o t.o --header no/t' \
    - "$spvfuse"
finish
