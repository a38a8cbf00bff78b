// Helpers that take and return structs by value, large and small, without being inlined: sret and
// byval parameters, struct copies into arrays, and a chain of such calls.
typedef struct {
    float re, im;
} complex;

typedef struct {
    float m[3][3];
    int steps;
} matrix;

typedef struct {
    complex a, b;
    matrix m;
} bundle;

__attribute__((noinline)) static complex multiply(complex x, complex y) {
    complex r = {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
    return r;
}

__attribute__((noinline)) static matrix product(matrix x, matrix y) {
    matrix r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            r.m[i][j] = 0.0f;
            for (int k = 0; k < 3; k++) r.m[i][j] += x.m[i][k] * y.m[k][j];
        }
    r.steps = x.steps + y.steps;
    return r;
}

__attribute__((noinline)) static bundle advance(bundle in, float angle) {
    bundle out = in;
    complex turn = {0.0f, angle};
    out.a = multiply(in.a, turn);
    out.b = multiply(in.b, in.a);
    out.m = product(in.m, in.m);
    return out;
}

kernel void powers(global const float2 *in, global float2 *out) {
    size_t i = get_global_id(0);
    complex z = {in[i].x, in[i].y}, r = {1.0f, 0.0f};
    for (int k = 0; k < 3; k++) r = multiply(r, z);
    out[i] = (float2)(r.re, r.im);
}

kernel void bundles(global float *out, global int *steps) {
    size_t i = get_global_id(0);
    bundle history[3];
    bundle b = {{1.0f, (float)i}, {2.0f, -1.0f}, {{{1, 1, 0}, {0, 1, (float)i}, {0, 0, 1}}, 1}};
    for (int k = 0; k < 3; k++) history[k] = b = advance(b, 1.0f);
    steps[i] = history[2].m.steps * 100 + history[i % 3].m.steps;
    out[4 * i + 0] = history[0].a.re;
    out[4 * i + 1] = history[1].b.im;
    out[4 * i + 2] = history[2].m.m[0][2];
    out[4 * i + 3] = history[1].m.m[0][1];
}
