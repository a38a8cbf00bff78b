// Integer vectors of every width (2, 3, 4, 8, 16) and element type: element-wise operations,
// swizzles, odd/even/hi/lo halves, splats and stores of 3-component vectors through vstore3.
#define VEC(T, N)                                                                                  \
    kernel void vec_##T##N(global const T *in, global T *out) {                                    \
        size_t i = get_global_id(0);                                                               \
        T##N x = vload##N(i, in), y = vload##N(i + 1, in);                                         \
        T##N r = (x + y * (T)3) ^ (x - (T)1);                                                      \
        r = (r & (T##N)((T)0x5f)) | ~y;                                                            \
        r += (x >> (T)1) << (T)2;                                                                  \
        vstore##N(r, i, out);                                                                      \
    }
VEC(char, 2)
VEC(char, 3)
VEC(char, 16)
VEC(uchar, 4)
VEC(uchar, 8)
VEC(short, 2)
VEC(short, 8)
VEC(ushort, 3)
VEC(ushort, 16)
VEC(int, 3)
VEC(int, 4)
VEC(int, 8)
VEC(uint, 2)
VEC(uint, 16)
VEC(long, 2)
VEC(long, 4)
VEC(ulong, 3)
VEC(ulong, 8)

kernel void swizzle(global const int16 *in, global int16 *out) {
    size_t i = get_global_id(0);
    int16 v = in[i], r;
    r.lo = v.hi.odd.xyzwwzyx;
    r.hi.lo = v.s0ace + v.even.hi;
    r.sCD = v.sfE * 2;
    r.sE = v.s3;
    r.sF = 7;
    r.s2 = r.s5;
    out[i] = r;
}

kernel void vec_divide(global const int4 *a, global const int4 *b, global int4 *q,
                       global uint4 *u) {
    size_t i = get_global_id(0);
    int4 y = b[i];
    y = select(y, (int4)(1), y == 0);
    q[2 * i] = a[i] / y;
    q[2 * i + 1] = a[i] % y;
    u[i] = as_uint4(a[i]) / as_uint4(y) + as_uint4(a[i]) % (uint4)(1, 2, 3, 10);
}
