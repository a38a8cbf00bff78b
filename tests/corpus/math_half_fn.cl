// The half_ family on float arguments: exp, exp2, exp10, log, log2, log10, sin, cos, tan, sqrt,
// rsqrt, recip, divide, powr. At least 10 bits of the result are right.
kernel void half_all(global const float *in, global float *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = in[i];
    out[0 * n + i] = half_exp(x);
    out[1 * n + i] = half_exp2(x);
    out[2 * n + i] = half_exp10(x * 0.5f);
    out[3 * n + i] = half_log(x);
    out[4 * n + i] = half_log2(x);
    out[5 * n + i] = half_log10(x);
    out[6 * n + i] = half_sin(x);
    out[7 * n + i] = half_cos(x);
    out[8 * n + i] = half_tan(x * 0.25f);
    out[9 * n + i] = half_sqrt(x);
    out[10 * n + i] = half_rsqrt(x);
    out[11 * n + i] = half_recip(x);
    out[12 * n + i] = half_divide(3.0f, x);
    out[13 * n + i] = half_powr(x, 1.5f);
}

kernel void half_vectors(global const float3 *in, global float *out) {
    size_t i = get_global_id(0);
    float3 x = in[i];
    vstore3(half_sqrt(x) + half_recip(x) * half_cos(x), i, out);
}
