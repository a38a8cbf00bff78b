/* bars.h — results of rows of the table, means of their ratios, and how fast each has to be. */
#ifndef TESTS_BENCH_SIMD_BARS_H
#define TESTS_BENCH_SIMD_BARS_H

#include "tests/bench/simd/sides.h"

/* What is known of a row: nanoseconds of an item, and ratios to ours in CPU and wall time; 0: it is
 * not known. */
typedef struct {
    const benchmark *row;
    double ns[SIDES], cpu[SIDES], wall[SIDES];
    bool is_right[SIDES];
} row_result;

/* The geometric mean of ratios, and the least one; ratios of 0 are not counted. */
typedef struct {
    double logs, least;
    const char *where; /* the least is */
    unsigned n;
} mean_ratio;
void count_ratio(mean_ratio *m, const char *name, double ratio);
double mean_of(const mean_ratio *m);

/* Whether the whole table is as fast as bars.c asks for; otherwise it prints what is not. */
bool meets_bars(const row_result *r, unsigned n);

#endif
