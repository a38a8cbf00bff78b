#include "peer.cuh"

KERNEL add(IN(float) a, IN(float) b, OUT(float) c) {
    uint i = global_x();
    c[i] = a[i] + b[i];
}

KERNEL saxpy(uint n, float a, IN(float) x, OUT(float) y) {
    uint i = global_x();
    if (i < n) y[i] = a * x[i] + y[i];
}

KERNEL triad(uint n, IN(double) x, IN(double) y, IN(double) z, OUT(double) out) {
    uint i = global_x();
    if (i < n) out[i] = x[i] + y[i] * z[i];
}

KERNEL blend(uint n, IN(uint) a, IN(uint) b, OUT(uint) out) {
    uint i = global_x();
    if (i < n) out[i] = __vaddus4(a[i], b[i] >> 1 & 0x7f7f7f7f);
}

/* Fused by hand. */
KERNEL chain(IN(float) x, OUT(float) y) {
    uint i = global_x();
    float v = x[i] * 1.5f + 0.25f;
    v = v > 0.5f ? v : 0.5f * v;
    v = fabsf(v) + 1.0f;
    v = 1.0f / v;
    v = v * v;
    v = sqrtf(v);
    v = fminf(v, 0.75f);
    y[i] = v - 0.125f;
}
