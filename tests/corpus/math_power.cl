// Powers and roots in float: pow, pown, powr, rootn, sqrt, rsqrt, cbrt, hypot, with negative bases,
// zero and negative exponents, odd and even roots, and overflow-safe hypot.
kernel void powers(global const float *base, global const float *exponent, global const int *whole,
                   global float *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = base[i], y = exponent[i];
    int k = whole[i];
    out[0 * n + i] = pow(x, (float)k);
    out[1 * n + i] = pow(fabs(x), y);
    out[2 * n + i] = pown(x, k);
    out[3 * n + i] = powr(fabs(x) + 0.5f, y);
    out[4 * n + i] = rootn(fabs(x), k);
    out[5 * n + i] = rootn(-fabs(x), 3) + rootn(x * x, -4);
}

kernel void roots(global const float4 *in, global float4 *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float4 x = in[i];
    out[0 * n + i] = sqrt(x);
    out[1 * n + i] = rsqrt(x);
    out[2 * n + i] = cbrt(-x);
    out[3 * n + i] = hypot(x, x.wzyx);
    out[4 * n + i] = hypot(x * 1e19f, x * -1e19f);
}

kernel void corner_cases(global int *out) {
    float zero = (float)get_global_id(0), inf = 1.0f / zero;
    out[0] = pow(zero, zero) == 1.0f;
    out[1] = pow(inf, -1.0f) == 0.0f;
    out[2] = isinf(pow(zero, -3.0f));
    out[3] = isnan(pow(-2.0f, 0.5f + zero));
    out[4] = pown(-inf, 3) < 0.0f;
    out[5] = pow(1.0f, as_float(0x7fc00000u + (uint)zero)) == 1.0f;
    out[6] = isnan(powr(zero, zero));
    out[7] = isnan(sqrt(-1.0f - zero));
    out[8] = signbit(sqrt(-zero)) != 0;
    out[9] = isinf(hypot(inf, as_float(0x7fc00000u + (uint)zero)));
}
