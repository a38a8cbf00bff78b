/* groups.c — work-groups with barriers: data and references of groups.cl. */
#include "tests/bench/simd/peers.h"

#include <math.h>

static void set_square(problem *p) {
    set_plane(p, p->size, p->size, 16, 16);
    add_int(p, p->size);
}

static void make_tiled_f32(problem *p) {
    set_square(p);
    add_floats(p, p->size * p->size, -1, 1);
    add_floats(p, p->size * p->size, -1, 1);
    add_result(p, TYPE_F32, p->size * p->size);
}

static void make_tiled_f64(problem *p) {
    set_square(p);
    add_doubles(p, p->size * p->size, -1, 1);
    add_doubles(p, p->size * p->size, -1, 1);
    add_result(p, TYPE_F64, p->size * p->size);
}

static void make_tiled_i8(problem *p) {
    set_square(p);
    add_bytes(p, TYPE_I8, p->size * p->size);
    add_bytes(p, TYPE_I8, p->size * p->size);
    add_result(p, TYPE_I32, p->size * p->size);
}

#define MATMUL(name, element, total)                                                               \
    void name(const size_t items[2], void *const *arguments) {                                     \
        const size_t n = items[0];                                                                 \
        const element *a = arguments[1], *b = arguments[2];                                        \
        total *c = arguments[3];                                                                   \
        for (size_t y = 0; y < n; y++)                                                             \
            for (size_t x = 0; x < n; x++) {                                                       \
                double sum = 0;                                                                    \
                for (size_t k = 0; k < n; k++) sum += (double)a[y * n + k] * (double)b[k * n + x]; \
                c[y * n + x] = (total)sum;                                                         \
            }                                                                                      \
    }
MATMUL(want_matmul_f32, float, float)
MATMUL(want_matmul_f64, double, double)
MATMUL(want_matmul_i8, int8_t, int32_t)

/* Sizes are elements; the range is 64 groups at most. */
static void make_reduce(problem *p) {
    const size_t items = p->size < 16384 ? (p->size + 255) / 256 * 256 : 16384;
    set_range(p, items, 256);
    p->work = p->size;
    add_int(p, p->size);
    add_floats(p, p->size, 0, 1);
    add_result(p, TYPE_F32, items / 256);
    add_local(p, TYPE_F32, 256);
}

static void want_reduce(const size_t items[2], void *const *arguments) {
    const size_t n = *(uint32_t *)arguments[0];
    const float *x = arguments[1];
    float *sums = arguments[2];
    for (size_t group = 0; group < items[0] / 256; group++) {
        double sum = 0;
        for (size_t at = group * 256; at < n; at += items[0])
            for (size_t i = at; i < at + 256 && i < n; i++) sum += (double)x[i];
        sums[group] = (float)sum;
    }
}

static void make_scan(problem *p) {
    set_range(p, p->size, 256);
    add_int(p, p->size);
    add_words(p, p->size, 1000);
    add_result(p, TYPE_U32, p->size);
}

static void want_scan(const size_t items[2], void *const *arguments) {
    const uint32_t *x = arguments[1];
    uint32_t *out = arguments[2], sum = 0;
    for (size_t i = 0; i < items[0]; i++) out[i] = sum = i % 256 ? sum + x[i] : x[i];
}

static void make_histogram(problem *p) {
    set_range(p, p->size < 16384 ? (p->size + 255) / 256 * 256 : 16384, 256);
    p->work = p->size;
    add_int(p, p->size);
    add_bytes(p, TYPE_U8, p->size);
    add_result(p, TYPE_U32, 256);
}

static void want_histogram(const size_t items[2], void *const *arguments) {
    const size_t n = *(uint32_t *)arguments[0];
    const uint8_t *x = arguments[1];
    uint32_t *bins = arguments[2];
    (void)items;
    for (size_t i = 0; i < n; i++) bins[x[i]]++;
}

/* Sizes are rows, of 512 columns, or of 77 if odd. */
static size_t columns_of(problem *p) {
    const size_t columns = p->size % 2 == 0 ? 512 : p->size < 100 ? 77 : 511;
    set_range(p, p->size * 64, 64);
    p->work = p->size * columns;
    add_int(p, columns);
    return columns;
}

static void make_softmax(problem *p) {
    const size_t columns = columns_of(p);
    add_floats(p, p->size * columns, -5, 5);
    add_result(p, TYPE_F32, p->size * columns);
}

static void want_softmax(const size_t items[2], void *const *arguments) {
    const size_t columns = *(uint32_t *)arguments[0];
    const float *x = arguments[1];
    float *y = arguments[2];
    for (size_t row = 0; row < items[0] / 64; row++, x += columns, y += columns) {
        double sum = 0;
        for (size_t k = 0; k < columns; k++) sum += exp((double)x[k]);
        for (size_t k = 0; k < columns; k++) y[k] = (float)(exp((double)x[k]) / sum);
    }
}

static void make_layernorm(problem *p) {
    const size_t columns = columns_of(p);
    add_floats(p, p->size * columns, -5, 5);
    add_floats(p, columns, 0.5, 1.5);
    add_floats(p, columns, -1, 1);
    add_result(p, TYPE_F32, p->size * columns);
}

static void want_layernorm(const size_t items[2], void *const *arguments) {
    const size_t columns = *(uint32_t *)arguments[0];
    const float *x = arguments[1], *scale = arguments[2], *bias = arguments[3];
    float *y = arguments[4];
    for (size_t row = 0; row < items[0] / 64; row++, x += columns, y += columns) {
        double mean = 0, variance = 0;
        for (size_t k = 0; k < columns; k++) mean += (double)x[k] / (double)columns;
        for (size_t k = 0; k < columns; k++)
            variance += ((double)x[k] - mean) * ((double)x[k] - mean) / (double)columns;
        for (size_t k = 0; k < columns; k++)
            y[k] = (float)(((double)x[k] - mean) / sqrt(variance + 1e-5) * (double)scale[k] +
                           (double)bias[k]);
    }
}

static void make_transpose_tiled(problem *p) {
    const size_t height = p->size * 3 / 4;
    set_plane(p, p->size, height, 16, 16);
    add_int(p, p->size);
    add_int(p, height);
    add_floats(p, p->size * height, -1, 1);
    add_result(p, TYPE_F32, p->size * height);
}

enum {
    MATRIX = 384,
    ODD_MATRIX = 67,
    SMALL_MATRIX = 64,
    FULL = 1 << 22,
    ODD = 10007,
    SMALL = 1024
};

static const benchmark rows[] = {
    {"tiled-f32", "tiled_f32", BARRIER, MATRIX, ODD_MATRIX, SMALL_MATRIX, make_tiled_f32,
     want_matmul_f32, loop_matmul_f32, 1e-4},
    {"tiled-f64", "tiled_f64", BARRIER, MATRIX, ODD_MATRIX, SMALL_MATRIX, make_tiled_f64,
     want_matmul_f64, loop_matmul_f64, 1e-12},
    {"tiled-i8", "tiled_i8", BARRIER, MATRIX, ODD_MATRIX, SMALL_MATRIX, make_tiled_i8,
     want_matmul_i8, loop_matmul_i8, 0},
    {"reduction", "reduce", BARRIER, FULL, ODD, SMALL, make_reduce, want_reduce, loop_reduce, 1e-5},
    {"scan", "scan", BARRIER, FULL / 4, ODD, SMALL, make_scan, want_scan, loop_scan, 0},
    {"histogram", "histogram", BARRIER, FULL, ODD, SMALL, make_histogram, want_histogram,
     loop_histogram, 0},
    {"softmax", "softmax", BARRIER, 512, 33, 8, make_softmax, want_softmax, loop_softmax, 1e-5},
    {"layernorm", "layernorm", BARRIER, 512, 33, 8, make_layernorm, want_layernorm, loop_layernorm,
     1e-4},
    {"transpose-tiled", "transpose_tiled", BARRIER, 1024, 203, 64, make_transpose_tiled,
     want_transpose, loop_transpose, 0},
};
const theme groups_theme = {"groups", rows, sizeof rows / sizeof *rows};
