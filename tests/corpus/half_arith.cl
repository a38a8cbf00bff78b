// Half arithmetic (cl_khr_fp16): operations, comparisons, conversions, half vectors, half literals,
// and accumulation that loses bits because each step rounds to 11 bits.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF
kernel void half_ops(global const half *x, global const half *y, global half *out,
                     global int *cmp) {
    size_t i = get_global_id(0), n = get_global_size(0);
    half a = x[i], b = y[i];
    out[0 * n + i] = a + b;
    out[1 * n + i] = a - b;
    out[2 * n + i] = a * b;
    out[3 * n + i] = a / b;
    out[4 * n + i] = -a;
    out[5 * n + i] = a < b ? a * (half)2.0f : b;
    cmp[i] = (a < b) + 2 * (a == b) + 4 * (a >= b);
}

kernel void half_convert(global const float *f, global const int *k, global half *h,
                         global float *g, global int *r) {
    size_t i = get_global_id(0);
    h[2 * i] = convert_half(f[i]);
    h[2 * i + 1] = (half)k[i];
    g[i] = (float)(half)f[i] + convert_float((half)k[i]);
    r[i] = convert_int((half)f[i]);
}

kernel void half_vectors(global const half4 *x, half scale, global half4 *out) {
    size_t i = get_global_id(0);
    half4 v = x[i];
    half4 acc = 0.0h;
    for (int k = 0; k < 5; k++) acc += v * scale + (half)k;
    out[i] = acc.wzyx;
}
