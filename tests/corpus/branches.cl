// Branching without loops: nested ifs that rejoin, short-circuit && and || with side effects, the
// comma and conditional operators, booleans stored and combined, and phis that swap values.
static int bump(int *p, int by) {
    *p += by;
    return *p & 2;
}

kernel void short_circuit(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    int x = in[i], n = 0, r = 0;
    if (x > 2 && bump(&n, 1) || x < -2 && bump(&n, 2)) r = 1;
    if (!(x & 1) || bump(&n, 4)) r += 2;
    bool a = x > 0, b = x % 3 == 0, c = a != b;
    r += (a ? b ? 100 : 200 : c ? 300 : 400);
    bool d = a && !c || b;
    uchar stored = d;
    out[i] = r * 1000 + n * 10 + stored + (c ^ a);
}

kernel void rejoin(global const float *in, global float *out, int mode) {
    size_t i = get_global_id(0);
    float x = in[i], y;
    if (x > 0.0f) {
        if (mode > 1)
            y = x * 2.0f;
        else if (x > 4.0f)
            y = 4.0f;
        else
            y = x;
    } else {
        y = -x;
        if (mode == 1) y += 100.0f;
    }
    if ((i & 1) == (size_t)(mode & 1)) y = y + 0.5f, x = y;
    out[i] = x + y;
}

kernel void swap_phis(global const int *in, global int *out, int n) {
    int i = (int)get_global_id(0), a = in[i], b = in[n - 1 - i], c = 0;
    for (int k = 0; k < n; k++) {
        if ((k + i) % 3 == 0) {
            int t = a;
            a = b;
            b = c;
            c = t;
        } else if (a > b) {
            int t = a;
            a = b;
            b = t;
        }
    }
    out[i] = a * 10000 + b * 100 + c;
}
