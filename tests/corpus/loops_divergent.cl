// Divergent loops: Collatz steps, greatest common divisor, Newton iteration until it settles, loops
// with several exits, continue, and a do-while whose condition has side effects.
kernel void collatz(global const uint *in, global uint *steps, global uint *peak) {
    size_t i = get_global_id(0);
    uint x = in[i], n = 0, top = x;
    while (x != 1 && n < 200) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        top = max(top, x);
        n++;
    }
    steps[i] = n;
    peak[i] = top;
}

kernel void gcd(global const uint *a, global const uint *b, global uint *out) {
    size_t i = get_global_id(0);
    uint x = a[i], y = b[i];
    while (y) {
        uint t = x % y;
        x = y;
        y = t;
    }
    out[i] = x;
}

kernel void isqrt(global const uint *in, global uint *out) {
    size_t i = get_global_id(0);
    uint n = in[i], x = n, y = (x + 1) / 2;
    if (n < 2) {
        out[i] = n;
        return;
    }
    do {
        x = y;
    } while ((y = (x + n / x) / 2) < x);
    out[i] = x;
}

kernel void exits(global const int *data, int n, global int *out) {
    int i = (int)get_global_id(0), sum = 0, k;
    for (k = i; k < n; k++) {
        if (data[k] == 0) continue;
        if (data[k] < 0) break;
        sum += data[k];
        if (sum > 40 + i) {
            sum = -sum;
            break;
        }
    }
    out[i] = sum * 100 + k;
}
