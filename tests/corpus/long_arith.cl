// 64-bit integers: wrapping multiply, division by variables and constants, shifts across the word
// boundary, mixed 32/64-bit operands, comparisons, and a 64-bit index computation.
// thaw: clang15-O2
kernel void long_signed(global const long *a, global const long *b, global long *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    long x = a[i], y = b[i];
    long d = y == 0 || y == -1 ? 3 : y;
    out[0 * n + i] = as_long(as_ulong(x) * as_ulong(y));
    out[1 * n + i] = x / d;
    out[2 * n + i] = x % d;
    out[3 * n + i] = x >> (y & 63);
    out[4 * n + i] = as_long(as_ulong(x) << (i * 9 & 63));
    out[5 * n + i] = x / 1000000007L;
    out[6 * n + i] = (x < y) + 2 * (x == y) + 4 * (x > 0 && y > 0);
}

kernel void ulong_mixed(global const ulong *a, uint k, ulong wide, global ulong *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    ulong x = a[i];
    out[0 * n + i] = x / (wide | k);
    out[1 * n + i] = x % (ulong)(k + 1);
    out[2 * n + i] = (x >> 32 | x << 32) ^ wide;
    out[3 * n + i] = (ulong)(uint)x * k + (uint)(x >> 32);
    out[4 * n + i] = (ulong)(long)(int)x;
    out[5 * n + i] = x / 10 * 10 + (x > wide ? 1 : 0);
}

kernel void index_64(global const ulong *a, ulong stride, long back, global ulong *out) {
    long i = get_global_id(0);
    long last = (long)get_global_size(0) - 1;
    long j = (i * (long)stride + back) % (last + 1);
    if (j < 0) j += last + 1;
    out[last - i] = a[j];
}
