// elementwise.cl: an item for each element of large arrays, and little arithmetic.

// Without a guard: the range has as many items as there are elements.
kernel void add(global const float *a, global const float *b, global float *c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}

kernel void saxpy(uint n, float a, global const float *x, global float *y) {
    size_t i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}

// Doubles, by a 32-bit index.
kernel void triad(uint n, global const double *x, global const double *y, global const double *z,
                  global double *out) {
    uint i = get_global_id(0);
    if (i < n) out[i] = x[i] + y[i] * z[i];
}

// Pixels of four bytes that saturate.
kernel void blend(uint n, global const uchar4 *a, global const uchar4 *b, global uchar4 *out) {
    size_t i = get_global_id(0);
    if (i < n) out[i] = add_sat(a[i], b[i] / (uchar)2);
}

// The steps of a chain.
kernel void chain0(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = x[i] * 1.5f + 0.25f;
}
kernel void chain1(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = x[i] > 0.5f ? x[i] : 0.5f * x[i];
}
kernel void chain2(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = fabs(x[i]) + 1.0f;
}
kernel void chain3(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = 1.0f / x[i];
}
kernel void chain4(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = x[i] * x[i];
}
kernel void chain5(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = sqrt(x[i]);
}
kernel void chain6(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = fmin(x[i], 0.75f);
}
kernel void chain7(global const float *x, global float *y) {
    size_t i = get_global_id(0);
    y[i] = x[i] - 0.125f;
}
