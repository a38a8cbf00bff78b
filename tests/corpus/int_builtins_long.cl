// cl: -cl-std=CL2.0
// Integer built-ins on 64 bits: mul_hi needs 128-bit products, rotate crosses words, saturation at
// the ends of the long range, upsample from 32 bits.
kernel void signed64(global const long *a, global const long *b, global long *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    long x = a[i], y = b[i];
    out[0 * n + i] = add_sat(x, y);
    out[1 * n + i] = sub_sat(x, y);
    out[2 * n + i] = hadd(x, y);
    out[3 * n + i] = rhadd(x, y);
    out[4 * n + i] = mul_hi(x, y);
    out[5 * n + i] = mad_hi(x, y, -1L);
    out[6 * n + i] = clz(x) * 100 + popcount(y) + ctz(y | 1L << 40) * 10000;
    out[7 * n + i] = rotate(x, 13L);
    out[8 * n + i] = as_long(abs_diff(x, y));
    out[9 * n + i] = upsample((int)x, (uint)y);
    out[10 * n + i] = clamp(x, -10L, 1L << 40) ^ min(x, y) ^ max(x, y);
}

kernel void unsigned64(global const ulong *a, global const ulong *b, global ulong *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    ulong x = a[i], y = b[i];
    out[0 * n + i] = mul_hi(x, y);
    out[1 * n + i] = mad_hi(x, y, 11ul);
    out[2 * n + i] = add_sat(x, y);
    out[3 * n + i] = sub_sat(x, y);
    out[4 * n + i] = hadd(x, y) - rhadd(x, y);
    out[5 * n + i] = rotate(x, y);
    out[6 * n + i] = upsample((uint)x, (uint)(y >> 3));
    out[7 * n + i] = popcount(x) + clz(y);
}
