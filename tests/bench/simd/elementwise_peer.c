/* elementwise_peer.c — the kernels of elementwise.cl as loops in C, on all threads. */
#include "tests/bench/simd/peers.h"

#include <math.h>

void loop_add(const size_t items[2], void *const *arguments) {
    const float *restrict a = arguments[0], *restrict b = arguments[1];
    float *restrict c = arguments[2];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) c[i] = a[i] + b[i];
}

void loop_saxpy(const size_t items[2], void *const *arguments) {
    const float a = *(const float *)arguments[1], *restrict x = arguments[2];
    float *restrict y = arguments[3];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) y[i] = a * x[i] + y[i];
}

void loop_triad(const size_t items[2], void *const *arguments) {
    const double *restrict x = arguments[1], *restrict y = arguments[2], *restrict z = arguments[3];
    double *restrict out = arguments[4];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) out[i] = x[i] + y[i] * z[i];
}

void loop_blend(const size_t items[2], void *const *arguments) {
    const uint8_t *restrict a = arguments[1], *restrict b = arguments[2];
    uint8_t *restrict out = arguments[3];
#pragma omp parallel for
    for (size_t i = 0; i < 4 * items[0]; i++) {
        int sum = a[i] + b[i] / 2;
        out[i] = (uint8_t)(sum < 255 ? sum : 255);
    }
}

/* All steps in one loop. */
void loop_chain(const size_t items[2], void *const *arguments) {
    const float *restrict x = arguments[0];
    float *restrict out = arguments[8];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        float v = x[i] * 1.5f + 0.25f;
        v = v > 0.5f ? v : 0.5f * v;
        v = 1 / (fabsf(v) + 1);
        out[i] = fminf(sqrtf(v * v), 0.75f) - 0.125f;
    }
}
