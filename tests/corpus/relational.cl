// Relational built-ins on scalars and vectors: classification, signbit, ordered and unordered
// tests, any, all, select and bitselect on float, double and integer types.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void classify(global const uint *in, global int *out) {
    size_t i = get_global_id(0);
    float x = as_float(in[i]);
    out[i] =
        isfinite(x) | isinf(x) << 1 | isnan(x) << 2 | isnormal(x) << 3 | (signbit(x) != 0) << 4;
}

kernel void ordered(global const uint *in, global int *out) {
    size_t i = get_global_id(0), j = get_global_id(1);
    float x = as_float(in[i]), y = as_float(in[j]);
    out[j * get_global_size(0) + i] = isequal(x, y) | isnotequal(x, y) << 1 | isgreater(x, y) << 2 |
                                      isgreaterequal(x, y) << 3 | isless(x, y) << 4 |
                                      islessequal(x, y) << 5 | islessgreater(x, y) << 6 |
                                      isordered(x, y) << 7 | isunordered(x, y) << 8;
}

kernel void vectors(global const uint4 *in, global int4 *out, global long2 *wide) {
    size_t i = get_global_id(0);
    float4 x = as_float4(in[i]);
    float4 y = (float4)(1.0f, 0.0f, -1.0f, NAN);
    out[4 * i + 0] = isnan(x) + 2 * isinf(x) + 4 * signbit(x) + 8 * isnormal(x) + 16 * isfinite(x);
    out[4 * i + 1] =
        isless(x, y) + 2 * isgreaterequal(x, y) + 4 * isordered(x, y) + 8 * islessgreater(x, y);
    out[4 * i + 2] = (int4)(any(isnan(x)), all(isfinite(x)), any(x == y), all(isordered(x, y)));
    out[4 * i + 3] = as_int4(bitselect(x, y, as_float4((uint4)(0x80000000u))));
    double2 d = convert_double2(x.xy);
    wide[i] = isequal(d, (double2)(1.0, 0.0)) + 2L * isnan(d) + 4L * (d > 0.5);
}

kernel void selects(global const int *mask, global float *f, global uchar *c, global ulong *l) {
    size_t i = get_global_id(0);
    int m = mask[i];
    f[i] = select(1.0f, 2.0f, m);
    c[i] =
        bitselect((uchar)0xaa, (uchar)0x0f, (uchar)m) ^ select((uchar)1, (uchar)2, (uchar)(m & 1));
    l[i] = select(10ul, 20ul, (ulong)m) + bitselect(0ul, ~0ul, (ulong)(uint)m);
}
