/* math_peer.c — the kernels of math.cl as loops in C, with the functions of the C library. */
#include "tests/bench/simd/peers.h"

#include <math.h>

static float normal_cdf(float x) { return 0.5f * erfcf(-x * 0.70710678f); }

void loop_black_scholes(const size_t items[2], void *const *arguments) {
    const float *restrict price = arguments[1], *restrict strike = arguments[2];
    const float *restrict years = arguments[3], rate = 0.02f, volatility = 0.3f;
    float *restrict call = arguments[4], *restrict put = arguments[5];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        float s = price[i], k = strike[i], t = years[i], root = sqrtf(t);
        float d1 =
            (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
        float d2 = d1 - volatility * root, discounted = k * expf(-rate * t);
        float c = s * normal_cdf(d1) - discounted * normal_cdf(d2);
        call[i] = c;
        put[i] = c + discounted - s;
    }
}

void loop_gelu(const size_t items[2], void *const *arguments) {
    const float *restrict x = arguments[1];
    float *restrict y = arguments[2];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        float v = x[i];
        y[i] = 0.5f * v * (1 + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
    }
}

void loop_sigmoid(const size_t items[2], void *const *arguments) {
    const float *restrict x = arguments[1];
    float *restrict y = arguments[2];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) y[i] = 1 / (1 + expf(-x[i]));
}

void loop_pow(const size_t items[2], void *const *arguments) {
    const double *restrict x = arguments[1], *restrict y = arguments[2];
    double *restrict z = arguments[3];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) z[i] = pow(x[i], y[i]);
}

void loop_sin(const size_t items[2], void *const *arguments) {
    const double *restrict x = arguments[1];
    double *restrict y = arguments[2];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) y[i] = sin(x[i]);
}

void loop_sincos(const size_t items[2], void *const *arguments) {
    const float *restrict x = arguments[1];
    float *restrict s = arguments[2], *restrict c = arguments[3];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        s[i] = sinf(x[i]);
        c[i] = cosf(x[i]);
    }
}
