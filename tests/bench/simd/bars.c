/* bars.c — how fast the rows of the table have to be, next to PoCL and to loops in C.
 *
 * The bars are those of processors with AVX-512 that have nothing else to do.  They are lower than
 * what docs/TESTING.md shows, by what differs between machines and runs.  Ratios are those of CPU
 * time.
 */
#include "tests/bench/simd/bars.h"

#include <stdio.h>
#include <string.h>

static const double ROW_BY_POCL = 0.95, ROW_BY_C = 0.65, STREAMING_BY_C = 0.95;
static const double MEAN_BY_POCL = 4.5, MEAN_OF_HARD_BY_POCL = 5, MEAN_BY_C = 0.9;

/* Rows whose loop in C is not what others are: gcc leaves it scalar, or it has another order. */
static const struct {
    const char *name;
    double by_c;
} special[] = {
    {"reduction", 0.4},     {"scan", 0.4},       {"chain-of-8", 0.9}, {"nbody", 1.3},
    {"black-scholes", 0.9}, {"matmul-f32", 1.5}, {"mandelbrot", 4},   {"nearest", 4},
};

static double row_by_c(const benchmark *b) {
    for (unsigned k = 0; k < sizeof special / sizeof *special; k++)
        if (strcmp(special[k].name, b->name) == 0) return special[k].by_c;
    return b->class == STREAMING ? STREAMING_BY_C : ROW_BY_C;
}

static bool meets(const char *what, const char *by, double ratio, double bar) {
    if (ratio == 0 || ratio >= bar) return true;
    printf("%s: %.2f of %s, which is below %.2f\n", what, ratio, by, bar);
    return false;
}

static bool is_hard(const benchmark *b) {
    return b->class == DIVERGENT || b->class == BARRIER || b->class == INNER_LOOP;
}

bool meets_bars(const row_result *r, unsigned n) {
    mean_ratio by_pocl = {0}, hard_by_pocl = {0}, by_c = {0};
    bool ok = true;
    for (unsigned k = 0; k < n; k++) {
        const benchmark *b = r[k].row;
        count_ratio(&by_pocl, b->name, r[k].cpu[POCL]);
        if (is_hard(b)) count_ratio(&hard_by_pocl, b->name, r[k].cpu[POCL]);
        count_ratio(&by_c, b->name, r[k].cpu[C_LOOP]);
        ok &= meets(b->name, "PoCL", r[k].cpu[POCL], ROW_BY_POCL);
        ok &= meets(b->name, "C", r[k].cpu[C_LOOP], row_by_c(b));
    }
    ok &= meets("all", "PoCL", mean_of(&by_pocl), MEAN_BY_POCL);
    ok &= meets("divergent, barrier and inner-loop", "PoCL", mean_of(&hard_by_pocl),
                MEAN_OF_HARD_BY_POCL);
    ok &= meets("all", "C", mean_of(&by_c), MEAN_BY_C);
    return ok;
}
