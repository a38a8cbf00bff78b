/* loops.c — inner loops of equal length: data and references of loops.cl. */
#include "tests/bench/simd/peers.h"

#include <float.h>
#include <math.h>

static void make_nbody(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_float(p, 0.001f);
    add_floats(p, 4 * p->size, 0, 1);
    add_result(p, TYPE_F32, 4 * p->size);
}

static void want_nbody(const size_t items[2], void *const *arguments) {
    const double step = *(float *)arguments[1];
    const float *body = arguments[2];
    float *velocity = arguments[3];
    for (size_t i = 0; i < items[0]; i++) {
        double sum[3] = {0};
        for (size_t k = 0; k < items[0]; k++) {
            double d[3], square = 0.01;
            for (int n = 0; n < 3; n++) {
                d[n] = (double)body[4 * k + (size_t)n] - (double)body[4 * i + (size_t)n];
                square += d[n] * d[n];
            }
            for (int n = 0; n < 3; n++)
                sum[n] += d[n] * (double)body[4 * k + 3] / (square * sqrt(square));
        }
        for (int n = 0; n < 3; n++) velocity[4 * i + (size_t)n] += (float)(step * sum[n]);
    }
}

static void set_square(problem *p) {
    set_plane(p, p->size, p->size, 64, 4);
    add_int(p, p->size);
}

static void make_matmul_f32(problem *p) {
    set_square(p);
    add_floats(p, p->size * p->size, -1, 1);
    add_floats(p, p->size * p->size, -1, 1);
    add_result(p, TYPE_F32, p->size * p->size);
}

static void make_matmul_f64(problem *p) {
    set_square(p);
    add_doubles(p, p->size * p->size, -1, 1);
    add_doubles(p, p->size * p->size, -1, 1);
    add_result(p, TYPE_F64, p->size * p->size);
}

static void make_matmul_i8(problem *p) {
    set_square(p);
    add_bytes(p, TYPE_I8, p->size * p->size);
    add_bytes(p, TYPE_I8, p->size * p->size);
    add_result(p, TYPE_I32, p->size * p->size);
}

static void make_nearest(problem *p) {
    const size_t centers = 100;
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_int(p, centers);
    add_floats(p, 2 * p->size, 0, 1);
    add_floats(p, 2 * centers, 0, 1);
    add_result(p, TYPE_U32, p->size);
    add_result(p, TYPE_F32, p->size);
}

static void want_nearest(const size_t items[2], void *const *arguments) {
    const uint32_t centers = *(uint32_t *)arguments[1];
    const float *point = arguments[2], *center = arguments[3];
    uint32_t *which = arguments[4];
    float *distance = arguments[5];
    for (size_t i = 0; i < items[0]; i++) {
        double least = DBL_MAX;
        for (uint32_t k = 0; k < centers; k++) {
            double dx = (double)point[2 * i] - (double)center[2 * k];
            double dy = (double)point[2 * i + 1] - (double)center[2 * k + 1];
            if (dx * dx + dy * dy >= least) continue;
            least = dx * dx + dy * dy;
            which[i] = k;
        }
        distance[i] = (float)sqrt(least);
    }
}

static void make_horner(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_doubles(p, 16, -1, 1);
    add_doubles(p, p->size, -1.1, 1.1);
    add_result(p, TYPE_F64, p->size);
}

static void want_horner(const size_t items[2], void *const *arguments) {
    const double *coefficient = arguments[1], *x = arguments[2];
    double *y = arguments[3];
    for (size_t i = 0; i < items[0]; i++)
        for (int k = 0; k < 16; k++) y[i] += coefficient[k] * pow(x[i], 15 - k);
}

static void make_row_sums(problem *p) {
    const size_t columns = 128;
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_int(p, columns);
    add_floats(p, columns * p->size, -1, 1);
    add_result(p, TYPE_F32, p->size);
}

static void want_row_sums(const size_t items[2], void *const *arguments) {
    const size_t columns = *(uint32_t *)arguments[1];
    const float *x = arguments[2];
    float *sums = arguments[3];
    for (size_t i = 0; i < items[0]; i++) {
        double sum = 0;
        for (size_t k = 0; k < columns; k++) sum += (double)x[i * columns + k];
        sums[i] = (float)sum;
    }
}

enum { MATRIX = 384, ODD_MATRIX = 67, SMALL_MATRIX = 64 };

static const benchmark rows[] = {
    {"nbody", "nbody", INNER_LOOP, 4096, 301, 128, make_nbody, want_nbody, loop_nbody, 1e-4},
    {"matmul-f32", "matmul_f32", INNER_LOOP, MATRIX, ODD_MATRIX, SMALL_MATRIX, make_matmul_f32,
     want_matmul_f32, loop_matmul_f32, 1e-4},
    {"matmul-f64", "matmul_f64", INNER_LOOP, MATRIX, ODD_MATRIX, SMALL_MATRIX, make_matmul_f64,
     want_matmul_f64, loop_matmul_f64, 1e-12},
    {"matmul-i8", "matmul_i8", INNER_LOOP, MATRIX, ODD_MATRIX, SMALL_MATRIX, make_matmul_i8,
     want_matmul_i8, loop_matmul_i8, 0},
    {"nearest", "nearest", INNER_LOOP, 1 << 16, 1003, 256, make_nearest, want_nearest, loop_nearest,
     1e-5, .outliers = 0.001},
    {"horner-f64", "horner", INNER_LOOP, 1 << 17, 1003, 256, make_horner, want_horner, loop_horner,
     1e-12},
    {"row-sums", "row_sums", INNER_LOOP, 1 << 13, 1003, 256, make_row_sums, want_row_sums,
     loop_row_sums, 1e-5},
};
const theme loops_theme = {"loops", rows, sizeof rows / sizeof *rows};
