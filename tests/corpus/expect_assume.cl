// Compiler hints: __builtin_expect on branches and switches, __builtin_assume on ranges,
// __builtin_unreachable after exhaustive cases, and a trap on a path that is never taken.
kernel void hints(global const int *in, global const int *kinds, global int *out, int n) {
    int i = (int)get_global_id(0);
    __builtin_assume(n > 0);
    if (__builtin_expect(i >= n, 0)) return;
    int x = in[i], r;
    if (__builtin_expect(x == 0, 1))
        r = -1;
    else
        r = 100 / x;
    __builtin_assume(r <= 100);
    switch (kinds[i]) {
    case 0: r += 1; break;
    case 1: r += 2; break;
    case 2: r += 3; break;
    case 3: r += 4; break;
    default: __builtin_unreachable();
    }
    out[i] = r;
}

static int kind(uint c) {
    if (c < 10) return 1;
    if (c < 100) return 2;
    if (c < 256) return 3;
    __builtin_unreachable();
}

kernel void exhaustive(global const uchar *in, global int *out) {
    size_t i = get_global_id(0);
    uint c = in[i];
    __builtin_assume(c < 256);
    out[i] = kind(c) * 10 + (__builtin_expect(c & 1, 0) ? 7 : 3);
}

kernel void trapped(global const int *in, global int *out) {
    int i = (int)get_global_id(0), x = in[i];
    if (x == 12345678) __builtin_trap();
    out[i] = x / 2;
}
