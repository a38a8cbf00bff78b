// Math, common, geometric and relational built-ins on half arguments (cl_khr_fp16), scalar and
// vector. Conversions between half and integers with saturation and rounding modes.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void half_math(global const half *in, global half *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    half x = in[i];
    out[0 * n + i] = sqrt(fabs(x));
    out[1 * n + i] = exp(x * (half)0.25f);
    out[2 * n + i] = log2(fabs(x) + (half)1.0f);
    out[3 * n + i] = sin(x) + cos(x);
    out[4 * n + i] = floor(x) + ceil(x) * (half)2.0f;
    out[5 * n + i] = fma(x, x, (half)0.5f);
    out[6 * n + i] = fmin(x, (half)1.0f) - fmax(x, (half)-1.0f);
    out[7 * n + i] = clamp(x, (half)-2.0f, (half)2.0f) + sign(x) + mix(x, (half)4.0f, (half)0.5f);
}

kernel void half_tests(global const half4 *in, global half4 *out, global int *flags,
                       global short4 *masks) {
    size_t i = get_global_id(0);
    half4 v = in[i];
    out[2 * i] = select(v, (half4)(9.0f), v < (half4)(0.0f));
    out[2 * i + 1] = fabs(v) * rsqrt((half4)(dot(v, v)));
    flags[i] = isnan(v.x) + 2 * isinf(v.y) + 4 * any(v > (half4)(2.0f)) + 8 * all(isfinite(v)) +
               16 * (signbit(v.z) != 0);
    masks[i] = isless(v, v.yzwx);
}

kernel void half_bits(global const half *in, global short *out, global uchar *sat) {
    size_t i = get_global_id(0);
    out[2 * i] = as_short(in[i]);
    out[2 * i + 1] = convert_short_rtn(in[i]);
    sat[i] = convert_uchar_sat_rte(in[i] * (half)100.0f);
}
