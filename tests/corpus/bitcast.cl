// Bit casts: as_type between scalars, between vectors of equal size but other element counts,
// between 3- and 4-component vectors, through unions and through pointers to char.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void as_scalars(global const float *f, global uint *u, global float *g, global ulong *l) {
    size_t i = get_global_id(0);
    uint b = as_uint(f[i]);
    u[i] = b;
    g[i] = as_float(b ^ 0x80000000u);
    l[i] = as_ulong((double)f[i]) >> 32;
}

kernel void as_vectors(global const uint4 *in, global uchar16 *c, global ulong2 *l,
                       global ushort8 *s, global float4 *f) {
    size_t i = get_global_id(0);
    uint4 v = in[i];
    c[i] = as_uchar16(v.wzyx);
    l[i] = as_ulong2(v) + as_ulong2(as_char16(v));
    s[i] = as_ushort8(as_int4(v) >> 4);
    f[i] = as_float4(v & 0x3fffffffu);
    if (i == 1) {
        uint3 t = as_uint3(v);
        f[i].xyz = as_float3(t);
    }
}

typedef union {
    float f;
    uint u;
    uchar b[4];
    ushort2 h;
} word;

kernel void by_union(global const uint *in, global uint *out) {
    size_t i = get_global_id(0);
    word w, r;
    w.u = in[i];
    for (int k = 0; k < 4; k++) r.b[3 - k] = w.b[k];
    out[3 * i] = r.u;
    r.h = w.h.yx;
    out[3 * i + 1] = r.u;
    r.f = 1.0f;
    const uchar *bytes = (const uchar *)&r;
    out[3 * i + 2] = bytes[3] << 8 | bytes[2] | (uint)w.b[i & 3] << 16;
}
