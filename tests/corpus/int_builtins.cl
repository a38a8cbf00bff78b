// cl: -cl-std=CL2.0
// Integer built-ins on 32 bits, scalar: abs, abs_diff, add_sat, sub_sat, hadd, rhadd, clz, ctz,
// popcount, mul_hi, mad_hi, mad_sat, mul24, mad24, rotate, upsample, clamp, min, max.
kernel void signed32(global const int *a, global const int *b, global int *out) {
    size_t i = get_global_id(0);
    int x = a[i], y = b[i];
    global int *r = out + 16 * i;
    r[0] = (int)abs(x == INT_MIN ? 0 : x);
    r[1] = (int)abs_diff(x, y);
    r[2] = add_sat(x, y);
    r[3] = sub_sat(x, y);
    r[4] = hadd(x, y);
    r[5] = rhadd(x, y);
    r[6] = clz(x);
    r[7] = ctz(y);
    r[8] = popcount(x);
    r[9] = mul_hi(x, y);
    r[10] = mad_hi(x, y, 5);
    r[11] = mad_sat(x, y, 7);
    r[12] = mul24(x >> 9, y >> 20);
    r[13] = mad24(x >> 9, y >> 20, -3);
    r[14] = rotate(x, y);
    r[15] = clamp(x, -100, 1000) + max(x, y) / 2 - min(x, y) / 2;
}

kernel void unsigned32(global const uint *a, global const uint *b, global uint *out) {
    size_t i = get_global_id(0);
    uint x = a[i], y = b[i];
    global uint *r = out + 16 * i;
    r[0] = abs(x);
    r[1] = abs_diff(x, y);
    r[2] = add_sat(x, y);
    r[3] = sub_sat(x, y);
    r[4] = hadd(x, y);
    r[5] = rhadd(x, y);
    r[6] = clz(x);
    r[7] = ctz(y);
    r[8] = popcount(y);
    r[9] = mul_hi(x, y);
    r[10] = mad_hi(x, y, 5u);
    r[11] = mad_sat(x, y, 7u);
    r[12] = mul24(x & 0xfff, y & 0xfff);
    r[13] = mad24(x >> 20, y >> 20, 3u);
    r[14] = rotate(x, y);
    r[15] = clamp(x, 10u, 1000u) ^ max(x, y) ^ min(x, 77u);
}
