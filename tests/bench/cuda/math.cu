#include "peer.cuh"

static __device__ float normal_cdf(float x) { return 0.5f * erfcf(-x * 0.70710678f); }

KERNEL black_scholes(uint n, IN(float) price, IN(float) strike, IN(float) years, OUT(float) call,
                     OUT(float) put) {
    uint i = global_x();
    if (i >= n) return;
    const float rate = 0.02f, volatility = 0.3f;
    float s = price[i], k = strike[i], t = years[i], root = sqrtf(t);
    float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root, discounted = k * expf(-rate * t);
    float c = s * normal_cdf(d1) - discounted * normal_cdf(d2);
    call[i] = c;
    put[i] = c + discounted - s;
}

KERNEL gelu(uint n, IN(float) x, OUT(float) y) {
    uint i = global_x();
    if (i >= n) return;
    float v = x[i];
    y[i] = 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
}

KERNEL sigmoid(uint n, IN(float) x, OUT(float) y) {
    uint i = global_x();
    if (i < n) y[i] = 1.0f / (1.0f + expf(-x[i]));
}

KERNEL pow_f64(uint n, IN(double) x, IN(double) y, OUT(double) z) {
    uint i = global_x();
    if (i < n) z[i] = pow(x[i], y[i]);
}

KERNEL sin_f64(uint n, IN(double) x, OUT(double) y) {
    uint i = global_x();
    if (i < n) y[i] = sin(x[i]);
}

KERNEL sincos_f32(uint n, IN(float) x, OUT(float) s, OUT(float) c) {
    uint i = global_x();
    if (i >= n) return;
    s[i] = sinf(x[i]);
    c[i] = cosf(x[i]);
}
