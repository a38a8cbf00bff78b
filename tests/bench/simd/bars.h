/* bars.h — results of rows of the table, and how fast each has to be. */
#ifndef TESTS_BENCH_SIMD_BARS_H
#define TESTS_BENCH_SIMD_BARS_H

#include "tests/bench/simd/ratios.h"
#include "tests/bench/simd/sides.h"

/* What is known of a row: nanoseconds of an item, and ratios to ours in CPU and wall time; 0: it is
 * not known. */
typedef struct {
    const benchmark *row;
    double ns[SIDES], cpu[SIDES], wall[SIDES];
    bool is_right[SIDES];
} row_result;

/* Whether the whole table is as fast as bars.c asks for; otherwise it prints what is not. */
bool meets_bars(const row_result *r, unsigned n);

#endif
