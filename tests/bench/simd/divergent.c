/* divergent.c — branches and loops that differ between neighbours: data and references of
 * divergent.cl.
 */
#include "tests/bench/simd/peers.h"

#include <math.h>
#include <string.h>

static void make_mandelbrot(problem *p) {
    const size_t height = p->size * 3 / 4;
    set_plane(p, p->size, height, 64, 1);
    add_int(p, p->size);
    add_int(p, height);
    add_result(p, TYPE_U32, p->size * height);
}

static void want_mandelbrot(const size_t items[2], void *const *arguments) {
    uint32_t *out = arguments[2];
    for (size_t y = 0; y < items[1]; y++)
        for (size_t x = 0; x < items[0]; x++) {
            double cr = -2 + 3.0 / (double)items[0] * (double)x, zr = 0, zi = 0;
            double ci = -1 + 2.0 / (double)items[1] * (double)y;
            uint32_t n = 0;
            for (; n < 256 && zr * zr + zi * zi < 4; n++) {
                double next = zr * zr - zi * zi + cr;
                zi = 2 * zr * zi + ci;
                zr = next;
            }
            out[y * items[0] + x] = n;
        }
}

/* Of a row for each item, with 0 to 31 entries in it; the number of all entries. */
static size_t add_rows(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    uint32_t *begin = add_words(p, p->size + 1, 32), sum = 0;
    for (size_t i = 0; i <= p->size; i++) {
        uint32_t length = begin[i];
        begin[i] = sum;
        sum += length;
    }
    return begin[p->size];
}

static void make_spmv(problem *p) {
    size_t entries = add_rows(p);
    add_words(p, entries, (uint32_t)p->size);
    add_floats(p, entries, -1, 1);
    add_floats(p, p->size, -1, 1);
    add_result(p, TYPE_F32, p->size);
}

static void want_spmv(const size_t items[2], void *const *arguments) {
    const uint32_t *begin = arguments[1], *column = arguments[2];
    const float *value = arguments[3], *x = arguments[4];
    float *y = arguments[5];
    for (size_t i = 0; i < items[0]; i++) {
        double sum = 0;
        for (size_t k = begin[i]; k < begin[i + 1]; k++)
            sum += (double)value[k] * (double)x[column[k]];
        y[i] = (float)sum;
    }
}

/* A quarter of the nodes is in the frontier; the new distances are at first the old ones. */
static void make_relax(problem *p) {
    size_t edges = add_rows(p);
    add_words(p, edges, (uint32_t)p->size);
    add_words(p, edges, 100);
    uint32_t *frontier = add_words(p, p->size, 4);
    for (size_t i = 0; i < p->size; i++) frontier[i] = frontier[i] == 0;
    uint32_t *distance = add_words(p, p->size, 1000);
    memcpy(add_result(p, TYPE_U32, p->size), distance, p->size * sizeof *distance);
}

static void want_pull(const size_t items[2], void *const *arguments) {
    const uint32_t *begin = arguments[1], *before = arguments[2], *length = arguments[3];
    const uint32_t *frontier = arguments[4], *distance = arguments[5];
    uint32_t *to = arguments[6];
    for (size_t i = 0; i < items[0]; i++)
        for (size_t k = begin[i]; k < begin[i + 1]; k++) {
            uint32_t through = distance[before[k]] + length[k];
            if (frontier[before[k]] && through < to[i]) to[i] = through;
        }
}

static void want_push(const size_t items[2], void *const *arguments) {
    const uint32_t *begin = arguments[1], *after = arguments[2], *length = arguments[3];
    const uint32_t *frontier = arguments[4], *distance = arguments[5];
    uint32_t *to = arguments[6];
    for (size_t i = 0; i < items[0]; i++)
        for (size_t k = begin[i]; frontier[i] && k < begin[i + 1]; k++)
            if (distance[i] + length[k] < to[after[k]]) to[after[k]] = distance[i] + length[k];
}

static void make_switch(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_words(p, p->size, 6);
    add_floats(p, p->size, -2, 2);
    add_result(p, TYPE_F32, p->size);
}

static void want_switch(const size_t items[2], void *const *arguments) {
    const uint32_t *kind = arguments[1];
    const float *x = arguments[2];
    float *y = arguments[3];
    for (size_t i = 0; i < items[0]; i++) {
        double v = (double)x[i];
        if (kind[i] == 1) y[i] = (float)(v * v);
        if (kind[i] == 4) y[i] = (float)-v;
        if (kind[i] == 0 || kind[i] == 1 || kind[i] == 4) continue;
        v = kind[i] == 2 ? sqrt(fabs(v)) : kind[i] == 3 ? 1 / (1 + v * v) : fmin(v, 0.5);
        for (int k = 0; k < 4; k++) v = v * 0.75 + 0.125;
        y[i] = (float)v;
    }
}

static void make_collatz(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_result(p, TYPE_U32, p->size);
}

static void want_collatz(const size_t items[2], void *const *arguments) {
    uint32_t *steps = arguments[1];
    for (size_t i = 0; i < items[0]; i++)
        for (uint32_t v = (uint32_t)i + 1; v != 1 && steps[i] < 200; steps[i]++)
            v = v % 2 ? 3 * v + 1 : v / 2;
}

static void make_newton(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_doubles(p, p->size, 0.5, 1000);
    add_result(p, TYPE_F64, p->size);
}

static void want_newton(const size_t items[2], void *const *arguments) {
    const double *x = arguments[1];
    double *root = arguments[2];
    for (size_t i = 0; i < items[0]; i++) root[i] = cbrt(x[i]);
}

enum { FULL = 1 << 17, ODD = 10007, SMALL = 256 };

static const benchmark rows[] = {
    {"mandelbrot", "mandelbrot", DIVERGENT, 512, 203, 64, make_mandelbrot, want_mandelbrot,
     loop_mandelbrot, 0, 0.03},
    {"spmv", "spmv", DIVERGENT, FULL, ODD, SMALL, make_spmv, want_spmv, loop_spmv, 1e-5},
    {"relax-pull", "relax_pull", DIVERGENT, FULL, ODD, SMALL, make_relax, want_pull, loop_pull, 0},
    {"relax-push", "relax_push", DIVERGENT, FULL, ODD, SMALL, make_relax, want_push, loop_push, 0},
    {"switch-return", "switch_return", DIVERGENT, FULL, ODD, SMALL, make_switch, want_switch,
     loop_switch, 1e-6},
    {"collatz", "collatz", DIVERGENT, FULL, ODD, SMALL, make_collatz, want_collatz, loop_collatz,
     0},
    {"newton-f64", "newton", DIVERGENT, FULL, ODD, SMALL, make_newton, want_newton, loop_newton,
     1e-10},
};
const theme divergent_theme = {"divergent", rows, sizeof rows / sizeof *rows};
