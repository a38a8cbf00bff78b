// cl: -cl-std=CL3.0
// llvm-spirv: --spirv-ext=+SPV_KHR_uniform_group_instructions
// Products, bitwise and logical operations as reductions and scans of work-groups.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define DECLARE(T, op)                                                                             \
    T __attribute__((overloadable, convergent)) work_group_reduce_##op(T);                         \
    T __attribute__((overloadable, convergent)) work_group_scan_inclusive_##op(T);                 \
    T __attribute__((overloadable, convergent)) work_group_scan_exclusive_##op(T);
#define DECLARE_ALL(T) DECLARE(T, mul) DECLARE(T, and) DECLARE(T, or) DECLARE(T, xor)
DECLARE_ALL(int)
DECLARE_ALL(uint)
DECLARE_ALL(long)
DECLARE_ALL(ulong)
DECLARE(half, mul)
DECLARE(float, mul)
DECLARE(double, mul)
DECLARE(int, logical_and)
DECLARE(int, logical_or)
DECLARE(int, logical_xor)

#define PUT(call) out[n * step++ + i] = call;
#define EACH(op)                                                                                   \
    PUT(work_group_reduce_##op(x))                                                                 \
    PUT(work_group_scan_inclusive_##op(x))                                                         \
    PUT(work_group_scan_exclusive_##op(x))
#define INTEGERS EACH(mul) EACH(and) EACH(or) EACH(xor)
#define TRUTHS EACH(logical_and) EACH(logical_or) EACH(logical_xor)
#define KERNEL(T, ALL)                                                                             \
    kernel void group_##T(global const T *in, global T *out) {                                     \
        uint i = get_global_id(0), n = get_global_size(0), step = 0;                               \
        T x = in[i];                                                                               \
        ALL                                                                                        \
    }
KERNEL(int, INTEGERS TRUTHS)
KERNEL(uint, INTEGERS)
KERNEL(long, INTEGERS)
KERNEL(ulong, INTEGERS)
KERNEL(half, EACH(mul))
KERNEL(float, EACH(mul))
KERNEL(double, EACH(mul))
