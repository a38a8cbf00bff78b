// A call tree that is not inlined: helpers in three levels, called from several kernels and from
// each other, with pointers to structs, vectors and many parameters.
typedef struct {
    int total, calls;
} tally;

__attribute__((noinline)) static int leaf(int x, int y) { return x * 3 - y; }

__attribute__((noinline)) static float4 shade(float4 a, float t, int mode) {
    if (mode == 0) return a * t;
    return a + (float4)(t, 0.0f, 0.0f, (float)leaf(mode, 1));
}

__attribute__((noinline)) static void count(tally *t, int x) {
    t->total += leaf(x, t->calls);
    t->calls++;
}

__attribute__((noinline)) static int middle(global const int *p, int a, int b, int c, int d, int e,
                                            int f, tally *t) {
    int s = leaf(a, b) + leaf(c, d) + leaf(e, f);
    count(t, s);
    count(t, p[a & 7]);
    return s;
}

__attribute__((noinline)) static int upper(global const int *p, int i, tally *t) {
    int s = 0;
    for (int k = 0; k < 3; k++) s += middle(p, i, k, i + k, 2, 3, i * k, t);
    return s - leaf(s, 1) / 2;
}

kernel void tree(global const int *in, global int *out) {
    int i = (int)get_global_id(0);
    tally t = {0, 0};
    out[3 * i] = upper(in, i, &t);
    out[3 * i + 1] = t.total;
    out[3 * i + 2] = t.calls;
}

kernel void colours(global const float4 *in, global float4 *out, int mode) {
    size_t i = get_global_id(0);
    out[i] = shade(shade(in[i], 2.0f, 0), 0.5f, mode);
}

kernel void leaves(global const int2 *in, global int *out) {
    size_t i = get_global_id(0);
    out[i] = leaf(in[i].x, leaf(in[i].y, 7));
}
