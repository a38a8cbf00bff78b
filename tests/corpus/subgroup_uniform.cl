// cl: -cl-std=CL3.0
// Reductions and scans that all items of a sub-group reach, for every type.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define PUT(call) out[n * step++ + i] = call;
#define EACH(op)                                                                                   \
    PUT(sub_group_reduce_##op(x))                                                                  \
    PUT(sub_group_scan_inclusive_##op(x))                                                          \
    PUT(sub_group_scan_exclusive_##op(x))
#define KERNEL(T)                                                                                  \
    kernel void uniform_##T(global const T *in, global T *out) {                                   \
        uint i = get_global_id(0), n = get_global_size(0), step = 0;                               \
        T x = in[i];                                                                               \
        EACH(add) EACH(min) EACH(max)                                                              \
    }
KERNEL(char)
KERNEL(uchar)
KERNEL(short)
KERNEL(ushort)
KERNEL(int)
KERNEL(uint)
KERNEL(long)
KERNEL(ulong)
KERNEL(half)
KERNEL(float)
KERNEL(double)
