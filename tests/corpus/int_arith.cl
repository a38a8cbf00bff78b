// 32-bit integer arithmetic: wrapping, signed and unsigned division and remainder, shifts, bit
// logic. Odd item count; divisors are never zero and shift amounts may exceed the width.
// thaw: clang15-O2
kernel void int_signed(global const int *a, global const int *b, global int *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    int x = a[i], y = b[i];
    int d = y == 0 ? 1 : (y == -1 ? 2 : y);
    out[0 * n + i] = as_int(as_uint(x) + as_uint(y));
    out[1 * n + i] = as_int(as_uint(x) - as_uint(y));
    out[2 * n + i] = as_int(as_uint(x) * as_uint(y));
    out[3 * n + i] = x / d;
    out[4 * n + i] = x % d;
    out[5 * n + i] = x >> (y & 31);
    out[6 * n + i] = as_int(as_uint(x) << y);
    out[7 * n + i] = (x & y) | (~x ^ y);
    out[8 * n + i] =
        (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x >= y) + 32 * (x > y);
}

kernel void int_unsigned(global const uint *a, global const uint *b, global uint *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    uint x = a[i], y = b[i];
    uint d = y | 1;
    out[0 * n + i] = x * y + 12345u;
    out[1 * n + i] = x / d;
    out[2 * n + i] = x % d;
    out[3 * n + i] = x / 10u + x % 7u;
    out[4 * n + i] = x >> y;
    out[5 * n + i] = -x;
    out[6 * n + i] = (x < y) + 2 * (x <= y) + 4 * !x + 8 * (x && y) + 16 * (x || y);
}

kernel void int_by_constants(global const int *a, global int *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    int x = a[i];
    out[0 * n + i] = x / 3;
    out[1 * n + i] = x % 10;
    out[2 * n + i] = x / 16;
    out[3 * n + i] = x % 16;
    out[4 * n + i] = x / -7;
    out[5 * n + i] = (int)((uint)x / 641u);
}
