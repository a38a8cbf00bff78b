// Conversions between integers and floating types: default rounding both ways, large 64-bit values,
// unsigned sources, saturating float-to-int with NaN and infinities, float and double.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void int_to_float(global const long *in, global float *f, global double *d) {
    size_t i = get_global_id(0), n = get_global_size(0);
    long x = in[i];
    f[0 * n + i] = (float)x;
    f[1 * n + i] = convert_float(as_ulong(x));
    f[2 * n + i] = convert_float((int)x);
    f[3 * n + i] = (float)(uint)x;
    f[4 * n + i] = (char)x + (float)(ushort)x;
    d[0 * n + i] = (double)x;
    d[1 * n + i] = convert_double(as_ulong(x));
    d[2 * n + i] = (double)(uint)x - (double)(short)x;
}

kernel void float_to_int(global const float *in, global int *s, global uint *u, global long *l) {
    size_t i = get_global_id(0);
    float x = in[i];
    s[i] = (int)x;
    u[i] = (uint)fabs(x);
    l[i] = convert_long(x * 1048576.0f);
}

kernel void float_to_int_sat(global const float *in, global int *s, global uint *u, global char *c,
                             global ushort *us, global long *l) {
    size_t i = get_global_id(0);
    float x = in[i] * (i == 5 ? INFINITY : 1.0f);
    if (i == 6) x = NAN;
    s[i] = convert_int_sat(x);
    u[i] = convert_uint_sat(x);
    c[i] = convert_char_sat(x);
    us[i] = convert_ushort_sat((double)x);
    l[i] = convert_long_sat(x);
}

kernel void float_vectors(global const float4 *in, global int4 *s, global uchar4 *u,
                          global double4 *d) {
    size_t i = get_global_id(0);
    s[i] = convert_int4(in[i]);
    u[i] = convert_uchar4_sat(in[i] * 2.0f);
    d[i] = convert_double4(in[i]) * 0.5;
}
