// cl: -cl-std=CL3.0
// Non-uniform and clustered reductions and scans of sub-groups, for every type and operation: once
// for all items, once on both sides of a branch, whose values differ, as some compilers would take
// equal calls out of it. Clusters may be larger than sub-groups.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define PUT(call) out[n * step++ + i] = call;
#define EACH(op)                                                                                   \
    PUT(sub_group_non_uniform_reduce_##op(x))                                                      \
    PUT(sub_group_non_uniform_scan_inclusive_##op(x))                                              \
    PUT(sub_group_non_uniform_scan_exclusive_##op(x))                                              \
    PUT(sub_group_clustered_reduce_##op(x, 1))                                                     \
    PUT(sub_group_clustered_reduce_##op(x, 2))                                                     \
    PUT(sub_group_clustered_reduce_##op(x, 8))
#define NUMBERS EACH(add) EACH(mul) EACH(min) EACH(max)
#define INTEGERS NUMBERS EACH(and) EACH(or) EACH(xor)
#define TRUTHS EACH(logical_and) EACH(logical_or) EACH(logical_xor)
#define KERNEL(name, T, ALL)                                                                       \
    kernel void name(global const T *in, global T *out) {                                          \
        uint i = get_global_id(0), n = get_global_size(0), step = 0;                               \
        T x = in[i];                                                                               \
        ALL                                                                                        \
        if (i % 3 == 0) {                                                                          \
            ALL                                                                                    \
        } else {                                                                                   \
            x = in[n - 1 - i];                                                                     \
            ALL                                                                                    \
        }                                                                                          \
    }
KERNEL(arith_char, char, INTEGERS)
KERNEL(arith_uchar, uchar, INTEGERS)
KERNEL(arith_short, short, INTEGERS)
KERNEL(arith_ushort, ushort, INTEGERS)
KERNEL(arith_int, int, INTEGERS)
KERNEL(arith_uint, uint, INTEGERS)
KERNEL(arith_long, long, INTEGERS)
KERNEL(arith_ulong, ulong, INTEGERS)
KERNEL(arith_half, half, NUMBERS)
KERNEL(arith_float, float, NUMBERS)
KERNEL(arith_double, double, NUMBERS)
KERNEL(logic_int, int, TRUTHS)
