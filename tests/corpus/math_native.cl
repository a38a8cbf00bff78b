// The native_ family: exp, exp2, exp10, log, log2, log10, sin, cos, tan, sqrt, rsqrt, recip,
// divide, powr, scalar and vector. The results are held to a few digits only.
kernel void native_all(global const float *in, global float *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = in[i];
    out[0 * n + i] = native_exp(x);
    out[1 * n + i] = native_exp2(x);
    out[2 * n + i] = native_exp10(x * 0.5f);
    out[3 * n + i] = native_log(x);
    out[4 * n + i] = native_log2(x);
    out[5 * n + i] = native_log10(x);
    out[6 * n + i] = native_sin(x);
    out[7 * n + i] = native_cos(x);
    out[8 * n + i] = native_tan(x * 0.25f);
    out[9 * n + i] = native_sqrt(x);
    out[10 * n + i] = native_rsqrt(x);
    out[11 * n + i] = native_recip(x);
    out[12 * n + i] = native_divide(3.0f, x);
    out[13 * n + i] = native_powr(x, 1.5f);
}

kernel void native_vectors(global const float4 *in, global float4 *out) {
    size_t i = get_global_id(0);
    float4 x = in[i];
    out[2 * i] = native_sin(x) * native_recip(x) + native_sqrt(x);
    out[2 * i + 1] = native_divide(native_exp(x), native_powr(x, (float4)(2.0f)));
}
