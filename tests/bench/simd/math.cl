// math.cl: functions of OpenCL C, of floats and doubles.

float normal_cdf(float x) { return 0.5f * erfc(-x * 0.70710678f); }

kernel void black_scholes(uint n, global const float *price, global const float *strike,
                          global const float *years, global float *call, global float *put) {
    size_t i = get_global_id(0);
    if (i >= n) return;
    const float rate = 0.02f, volatility = 0.3f;
    float s = price[i], k = strike[i], t = years[i], root = sqrt(t);
    float d1 = (log(s / k) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    float d2 = d1 - volatility * root, discounted = k * exp(-rate * t);
    float c = s * normal_cdf(d1) - discounted * normal_cdf(d2);
    call[i] = c;
    put[i] = c + discounted - s;
}

kernel void gelu(uint n, global const float *x, global float *y) {
    size_t i = get_global_id(0);
    if (i >= n) return;
    float v = x[i];
    y[i] = 0.5f * v * (1.0f + tanh(0.79788456f * (v + 0.044715f * v * v * v)));
}

kernel void sigmoid(uint n, global const float *x, global float *y) {
    size_t i = get_global_id(0);
    if (i < n) y[i] = 1.0f / (1.0f + exp(-x[i]));
}

kernel void pow_f64(uint n, global const double *x, global const double *y, global double *z) {
    size_t i = get_global_id(0);
    if (i < n) z[i] = pow(x[i], y[i]);
}

kernel void sin_f64(uint n, global const double *x, global double *y) {
    size_t i = get_global_id(0);
    if (i < n) y[i] = sin(x[i]);
}

kernel void sincos_f32(uint n, global const float *x, global float *s, global float *c) {
    size_t i = get_global_id(0);
    if (i >= n) return;
    s[i] = sin(x[i]);
    c[i] = cos(x[i]);
}
