/* math.c — functions of OpenCL C: data and references of math.cl. */
#include "tests/bench/simd/peers.h"

#include <math.h>

enum { FULL = 1 << 18, ODD = 10007, SMALL = 1024 };

static void make_black_scholes(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_floats(p, p->size, 10, 100);
    add_floats(p, p->size, 10, 100);
    add_floats(p, p->size, 0.25, 5);
    add_result(p, TYPE_F32, p->size);
    add_result(p, TYPE_F32, p->size);
}

static double normal_cdf(double x) { return 0.5 * erfc(-x * sqrt(0.5)); }

static void want_black_scholes(const size_t items[2], void *const *arguments) {
    const float *price = arguments[1], *strike = arguments[2], *years = arguments[3];
    float *call = arguments[4], *put = arguments[5];
    const double rate = 0.02, volatility = 0.3;
    for (size_t i = 0; i < items[0]; i++) {
        double s = price[i], k = strike[i], t = years[i], root = sqrt(t);
        double d1 = (log(s / k) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root);
        double d2 = d1 - volatility * root, discounted = k * exp(-rate * t);
        double c = s * normal_cdf(d1) - discounted * normal_cdf(d2);
        call[i] = (float)c;
        put[i] = (float)(c + discounted - s);
    }
}

static void make_float_function(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_floats(p, p->size, -6, 6);
    add_result(p, TYPE_F32, p->size);
}

static void want_gelu(const size_t items[2], void *const *arguments) {
    const float *x = arguments[1];
    float *y = arguments[2];
    for (size_t i = 0; i < items[0]; i++) {
        double v = x[i];
        y[i] = (float)(0.5 * v * (1 + tanh(0.79788456 * (v + 0.044715 * v * v * v))));
    }
}

static void want_sigmoid(const size_t items[2], void *const *arguments) {
    const float *x = arguments[1];
    float *y = arguments[2];
    for (size_t i = 0; i < items[0]; i++) y[i] = (float)(1 / (1 + exp(-(double)x[i])));
}

static void make_pow(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_doubles(p, p->size, 0.01, 20);
    add_doubles(p, p->size, -5, 5);
    add_result(p, TYPE_F64, p->size);
}

static void want_pow(const size_t items[2], void *const *arguments) {
    const double *x = arguments[1], *y = arguments[2];
    double *z = arguments[3];
    for (size_t i = 0; i < items[0]; i++) z[i] = pow(x[i], y[i]);
}

static void make_sin(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_doubles(p, p->size, -100, 100);
    add_result(p, TYPE_F64, p->size);
}

static void want_sin(const size_t items[2], void *const *arguments) {
    const double *x = arguments[1];
    double *y = arguments[2];
    for (size_t i = 0; i < items[0]; i++) y[i] = sin(x[i]);
}

static void make_sincos(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_floats(p, p->size, -100, 100);
    add_result(p, TYPE_F32, p->size);
    add_result(p, TYPE_F32, p->size);
}

static void want_sincos(const size_t items[2], void *const *arguments) {
    const float *x = arguments[1];
    float *s = arguments[2], *c = arguments[3];
    for (size_t i = 0; i < items[0]; i++) {
        s[i] = (float)sin((double)x[i]);
        c[i] = (float)cos((double)x[i]);
    }
}

static const benchmark rows[] = {
    {"black-scholes", "black_scholes", OTHER, FULL, ODD, SMALL, make_black_scholes,
     want_black_scholes, loop_black_scholes, 1e-5},
    {"gelu", "gelu", OTHER, FULL, ODD, SMALL, make_float_function, want_gelu, loop_gelu, 1e-5},
    {"sigmoid", "sigmoid", OTHER, FULL, ODD, SMALL, make_float_function, want_sigmoid, loop_sigmoid,
     1e-5},
    {"pow-f64", "pow_f64", OTHER, FULL / 4, ODD, SMALL, make_pow, want_pow, loop_pow, 1e-13},
    {"sin-f64", "sin_f64", OTHER, FULL / 4, ODD, SMALL, make_sin, want_sin, loop_sin, 1e-13},
    {"sincos-f32", "sincos_f32", OTHER, FULL, ODD, SMALL, make_sincos, want_sincos, loop_sincos,
     1e-5},
};
const theme math_theme = {"math", rows, sizeof rows / sizeof *rows};
