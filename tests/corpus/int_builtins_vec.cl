// Integer built-ins on vectors of several widths, and the forms of min, max and clamp that take a
// scalar second operand.
kernel void vec_sat(global const uchar16 *a, global const uchar16 *b, global uchar16 *out) {
    size_t i = get_global_id(0);
    uchar16 x = a[i], y = b[i];
    out[3 * i + 0] = add_sat(x, y) ^ sub_sat(y, x);
    out[3 * i + 1] = hadd(x, y) + rhadd(x, y) - mul_hi(x, y);
    out[3 * i + 2] = clamp(x, (uchar)20, (uchar)90) + min(y, (uchar)33) + popcount(x) + clz(y);
}

kernel void vec_short(global const short8 *a, global const short8 *b, global short8 *out) {
    size_t i = get_global_id(0);
    out[2 * i] = mad_sat(a[i], b[i], (short8)(-7));
    out[2 * i + 1] = max(rotate(a[i], b[i]), (short)0) - as_short8(abs_diff(a[i], b[i]));
}

kernel void vec_int(global const int *a, global const int *b, global int *out, global uint4 *high) {
    size_t i = get_global_id(0);
    int3 x = vload3(i, a), y = vload3(i, b);
    int3 r = mul24(x, y) + mad24(x, (int3)(2), y) + mul_hi(x * 65536, y * 65536);
    vstore3(clamp(r, -y, y + 100000), i, out);
    high[i] = mul_hi(as_uint4((int4)(x.x, y)) * 0x01010101u, (uint4)(0x80000000u, 3, 5, 7)) +
              abs((int4)(x, -5));
}

kernel void vec_long(global const long2 *a, global long2 *out) {
    size_t i = get_global_id(0);
    out[i] =
        hadd(a[i], a[i].yx * 3) + mul_hi(a[i] << 40, (long2)(1L << 50, -1L << 33)) + min(a[i], 4L);
}
