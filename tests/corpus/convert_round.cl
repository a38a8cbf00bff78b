// Explicit rounding modes on conversions: _rte, _rtz, _rtp, _rtn for float to int, int to float and
// double to float, with and without saturation, scalar and vector.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void to_int(global const float *in, global int *out) {
    size_t i = get_global_id(0);
    float x = in[i];
    out[6 * i + 0] = convert_int_rte(x);
    out[6 * i + 1] = convert_int_rtz(x);
    out[6 * i + 2] = convert_int_rtp(x);
    out[6 * i + 3] = convert_int_rtn(x);
    out[6 * i + 4] = convert_uchar_sat_rte(x);
    out[6 * i + 5] = convert_short_sat_rtn(x * 10000.0f);
}

kernel void to_float(global const int *in, global const ulong *wide, global uint *out) {
    size_t i = get_global_id(0);
    out[8 * i + 0] = as_uint(convert_float_rte(in[i]));
    out[8 * i + 1] = as_uint(convert_float_rtz(in[i]));
    out[8 * i + 2] = as_uint(convert_float_rtp(in[i]));
    out[8 * i + 3] = as_uint(convert_float_rtn(in[i]));
    out[8 * i + 4] = as_uint(convert_float_rtp(wide[i]));
    out[8 * i + 5] = as_uint(convert_float_rtz(wide[i]));
    out[8 * i + 6] = as_uint(convert_float_rtn((double)in[i] + 0.1));
    out[8 * i + 7] = as_uint(convert_float_rtp((double)in[i] + 0.1));
}

kernel void to_int4(global const float4 *in, global int4 *out, global uchar4 *sat) {
    size_t i = get_global_id(0);
    out[2 * i] = convert_int4_rte(in[i]);
    out[2 * i + 1] = convert_int4_rtp(in[i]) - convert_int4_rtn(in[i]);
    sat[i] = convert_uchar4_sat_rtz(in[i] * 100.0f);
}
