// Vectors of 2, 3, 4, 8 and 16 floats and doubles: constructors, arithmetic, scalar broadcast,
// component writes, horizontal sums, vectors as arguments and results.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
static float2 rotate90(float2 v) { return (float2)(-v.y, v.x); }

__attribute__((noinline)) static float8 blend8(float8 a, float8 b, float t) {
    return a + (b - a) * t;
}

kernel void float_widths(global const float *in, global float *out) {
    size_t i = get_global_id(0);
    global const float *p = in + 16 * i;
    global float *q = out + 33 * i;
    vstore2(rotate90(vload2(0, p)) * 2.0f, 0, q);
    float3 a = vload3(1, p);
    a.xy += a.zz;
    vstore3(a, 0, q + 2);
    float4 b = (float4)(vload2(1, p), 5.0f, p[3]);
    b = b.wxyz / 4.0f;
    vstore4(b, 0, q + 5);
    float8 c = blend8(vload8(0, p), vload8(1, p), 0.25f);
    vstore8(c, 0, q + 9);
    float16 d = (float16)(c, b, b) - vload16(0, p);
    vstore16(d, 0, q + 17);
}

kernel void double_widths(global const double4 *in, double2 k, global double *out) {
    size_t i = get_global_id(0);
    double4 v = in[i];
    double8 w = (double8)(v, v.wzyx) * k.x;
    w.s07 = k;
    double4 s = w.lo + w.hi;
    out[i] = s.x + s.y + s.z + s.w;
}
