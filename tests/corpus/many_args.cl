// A kernel with many arguments of all scalar types, vectors, pointers and local memory, in an order
// that needs padding, most of them used only once.
typedef struct {
    uchar a;
    ulong b;
} odd;

kernel void everything(char c0, uchar c1, short s0, ushort s1, int i0, uint i1, long l0, ulong l1,
                       float f0, char2 v0, short4 v1, int4 v2, uint2 v3, float4 v4, float8 v5,
                       uchar16 v6, odd o0, local int *tile, char c2, global long *out,
                       global const short *in, constant float *table, int i2, ushort s2) {
    size_t i = get_global_id(0), l = get_local_id(0);
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    long r = c0 + c1 * 2 + s0 * 3 + s1 * 5 + (long)i0 * 7 + (long)i1 * 11 + l0 + (long)(l1 >> 3);
    r += (long)(f0 * 4.0f) + v0.y + v1.w * 100 + v2.z * 1000 + v3.x + (long)v4.w + (long)v5.s7 +
         v6.sa;
    r += o0.a + (long)o0.b + c2 + (long)table[i & 1] + i2 + s2;
    out[i] = r + tile[get_local_size(0) - 1 - l];
}
