// NaN, infinities, signed zeros and denormals in double precision, and their conversion to float
// and back. Values go in and out as bit patterns; every NaN is written as one pattern.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
static ulong bits(double x) { return isnan(x) ? 0x7ff8000000000000ul : as_ulong(x); }

kernel void special(global const ulong *in, global ulong *out, global uint *narrow,
                    global int *flags) {
    size_t i = get_global_id(0), n = get_global_size(0);
    double x = as_double(in[i]), y = as_double(in[n - 1 - i]);
    out[0 * n + i] = bits(x + y);
    out[1 * n + i] = bits(x * y);
    out[2 * n + i] = bits(-fabs(x));
    out[3 * n + i] = bits(x * 0.5);
    out[4 * n + i] = bits(ceil(x));
    float f = (float)x;
    narrow[i] = isnan(f) ? 0x7fc00000u : as_uint(f);
    out[5 * n + i] = bits((double)f);
    flags[i] = (x < y) | (x == y) << 1 | isinf(x) << 2 | isnormal(x) << 3 | (signbit(x) != 0) << 4 |
               isunordered(x, y) << 5;
}
