// Taking floats apart and putting them together: fract, modf, frexp, ldexp, ilogb, logb, nan,
// nextafter, copysign, with pointers to private, local and global memory for the second result.
kernel void split(global const float *in, global float *out, global int *whole,
                  global float *direct) {
    local float fractions[8];
    size_t i = get_global_id(0), l = get_local_id(0), n = get_global_size(0);
    float x = in[i], f, m;
    int e;
    out[0 * n + i] = fract(x, &f);
    out[1 * n + i] = f;
    out[2 * n + i] = modf(x, &fractions[l]);
    out[3 * n + i] = fractions[l];
    out[4 * n + i] = m = frexp(x, &e);
    out[5 * n + i] = ldexp(m, e + 2);
    whole[i] = e;
    whole[n + i] = x == 0.0f ? 0 : ilogb(x);
    out[6 * n + i] = x == 0.0f ? 0.0f : logb(x);
    out[7 * n + i] = modf(-x, direct + i);
}

kernel void neighbours(global const float *a, global const float *b, global uint *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float x = a[i], y = b[i];
    out[0 * n + i] = as_uint(nextafter(x, y));
    out[1 * n + i] = as_uint(copysign(x, y));
    out[2 * n + i] = isnan(nan((uint)i)) != 0;
    out[3 * n + i] = as_uint(ldexp(x, (int)i - 3)) + (uint)(ilogb(0.0f) == FP_ILOGB0);
}

kernel void vectors(global const float4 *in, global float4 *out, global int4 *exponents) {
    size_t i = get_global_id(0);
    float4 whole, x = in[i];
    int4 e;
    out[3 * i] = fract(x, &whole) + whole;
    out[3 * i + 1] = ldexp(frexp(x, &e), 1) - logb(x);
    out[3 * i + 2] = ldexp(x, (int4)(0, 1, -1, 3)) + copysign(x, (float4)(-1.0f));
    exponents[i] = e * 10 + ilogb(x);
}
