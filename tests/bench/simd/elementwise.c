/* elementwise.c — large arrays, element by element: data and references of elementwise.cl. */
#include "tests/bench/simd/peers.h"

#include <math.h>

/* Three buffers of 2^24 floats are beyond any cache, of 2^18 within the last level. */
enum { LARGE = 1 << 24, CACHED = 1 << 18, ODD = 10007, SMALL = 1024 };

static void make_add(problem *p) {
    set_range(p, p->size, 0);
    add_floats(p, p->size, -10, 10);
    add_floats(p, p->size, -10, 10);
    add_result(p, TYPE_F32, p->size);
}

static void want_add(const size_t items[2], void *const *arguments) {
    const float *a = arguments[0], *b = arguments[1];
    float *c = arguments[2];
    for (size_t i = 0; i < items[0]; i++) c[i] = (float)((double)a[i] + (double)b[i]);
}

static void make_saxpy(problem *p) {
    set_range(p, p->size, 256);
    add_int(p, p->size);
    add_float(p, 0.75f);
    add_floats(p, p->size, -10, 10);
    add_floats(p, p->size, -10, 10);
    is_result_too(p);
}

static void want_saxpy(const size_t items[2], void *const *arguments) {
    const float *a = arguments[1], *x = arguments[2];
    float *y = arguments[3];
    for (size_t i = 0; i < items[0]; i++) y[i] = (float)((double)*a * (double)x[i] + (double)y[i]);
}

static void make_triad(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    for (int k = 0; k < 3; k++) add_doubles(p, p->size, -10, 10);
    add_result(p, TYPE_F64, p->size);
}

static void want_triad(const size_t items[2], void *const *arguments) {
    const double *x = arguments[1], *y = arguments[2], *z = arguments[3];
    double *out = arguments[4];
    for (size_t i = 0; i < items[0]; i++) out[i] = x[i] + y[i] * z[i];
}

static void make_blend(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_bytes(p, TYPE_U8, 4 * p->size);
    add_bytes(p, TYPE_U8, 4 * p->size);
    add_result(p, TYPE_U8, 4 * p->size);
}

static void want_blend(const size_t items[2], void *const *arguments) {
    const uint8_t *a = arguments[1], *b = arguments[2];
    uint8_t *out = arguments[3];
    for (size_t i = 0; i < 4 * items[0]; i++) {
        int sum = a[i] + b[i] / 2;
        out[i] = (uint8_t)(sum < 255 ? sum : 255);
    }
}

/* The first buffer, seven that steps pass on, and the last one. */
static void make_chain(problem *p) {
    set_range(p, p->size, 0);
    add_floats(p, p->size, -2, 2);
    for (int k = 0; k < 7; k++) add_zeros(p, TYPE_F32, p->size);
    add_result(p, TYPE_F32, p->size);
}

static void want_chain(const size_t items[2], void *const *arguments) {
    const float *x = arguments[0];
    float *out = arguments[8];
    for (size_t i = 0; i < items[0]; i++) {
        double v = (double)x[i] * 1.5 + 0.25;
        v = v > 0.5 ? v : 0.5 * v;
        v = 1 / (fabs(v) + 1);
        out[i] = (float)(fmin(sqrt(v * v), 0.75) - 0.125);
    }
}

static const benchmark rows[] = {
    {"add", "add", STREAMING, LARGE, ODD, SMALL, make_add, want_add, loop_add, 1e-6},
    {"add-cached", "add", STREAMING, CACHED, 63, SMALL, make_add, want_add, loop_add, 1e-6},
    {"saxpy", "saxpy", STREAMING, LARGE, ODD, SMALL, make_saxpy, want_saxpy, loop_saxpy, 1e-6},
    {"saxpy-cached", "saxpy", STREAMING, CACHED, 257, SMALL, make_saxpy, want_saxpy, loop_saxpy,
     1e-6},
    {"triad-f64", "triad", STREAMING, CACHED, ODD, SMALL, make_triad, want_triad, loop_triad,
     1e-12},
    {"blend-u8", "blend", STREAMING, LARGE, ODD, SMALL, make_blend, want_blend, loop_blend, 0},
    {"chain-of-8", "chain", STREAMING, LARGE, ODD, SMALL, make_chain, want_chain, loop_chain, 1e-6,
     .steps = 8},
};
const theme elementwise_theme = {"elementwise", rows, sizeof rows / sizeof *rows};
