/* ratios.h — what the measurements of rounds come to: medians, and the geometric mean of ratios. */
#ifndef TESTS_BENCH_SIMD_RATIOS_H
#define TESTS_BENCH_SIMD_RATIOS_H

/* The median of n numbers, at most MOST_ROUNDS, and of ratios. */
double middle(const double *v, unsigned n);
double middle_ratio(const double *a, const double *b, unsigned n);

/* The geometric mean of ratios, and the least one; ratios of 0 are not counted. */
typedef struct {
    double logs, least;
    const char *where; /* the least is */
    unsigned n;
} mean_ratio;
void count_ratio(mean_ratio *m, const char *name, double ratio);
double mean_of(const mean_ratio *m);

#endif
