// Vector comparisons (all ones per lane), ?: on vectors, any/all, select and bitselect, logical
// operators on vectors, and scalar conditions that choose whole vectors. Two-dimensional range.
kernel void compare_lanes(global const int4 *a, global const int4 *b, global int4 *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    int4 x = a[i], y = b[i];
    out[0 * n + i] = x < y;
    out[1 * n + i] = (x == y) | (x > 4);
    out[2 * n + i] = x > y ? x : y;
    out[3 * n + i] = x && y;
    out[4 * n + i] = !x || y < 0;
    out[5 * n + i] = any(x == y) ? x : -x;
    out[6 * n + i] = all(x >= y) ? (int4)(1) : (int4)(2, 3, 4, 5);
}

kernel void select_types(global const float4 *f, global const uchar8 *c, global float4 *fo,
                         global uchar8 *co) {
    size_t i = get_global_id(0), j = get_global_id(1), w = get_global_size(0);
    float4 x = f[i], y = f[j];
    fo[j * w + i] =
        select(x, y, x < y) + (isless(x, (float4)(2.0f)) ? (float4)(10.0f) : (float4)(0.0f));
    uchar8 p = c[i], q = c[j];
    uchar8 m = p > q ? (uchar8)(255) : (uchar8)(15);
    co[j * w + i] = bitselect(p, q, m) ^ select(p, q, (uchar8)(0, 128, 0, 255, 1, 127, 129, 64));
}

kernel void select_long(global const long2 *a, global long2 *out, global int *flags) {
    size_t i = get_global_id(0);
    long2 x = a[i];
    long2 m = x < 0L;
    out[i] = select(x, -x, m);
    flags[i] = any(m) + 2 * all(m) + 4 * any(x != (long2)(3, 4));
}
