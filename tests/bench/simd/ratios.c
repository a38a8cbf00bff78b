/* ratios.c — medians, and the geometric mean of ratios. */
#include "tests/bench/simd/ratios.h"
#include "tests/bench/bench.h"
#include "tests/bench/simd/simd.h"

#include <math.h>
#include <string.h>

double middle(const double *v, unsigned n) {
    double copy[MOST_ROUNDS];
    memcpy(copy, v, n * sizeof *v);
    return median(copy, n);
}

double middle_ratio(const double *a, const double *b, unsigned n) {
    double v[MOST_ROUNDS];
    for (unsigned k = 0; k < n; k++) v[k] = a[k] / b[k];
    return median(v, n);
}

void count_ratio(mean_ratio *m, const char *name, double ratio) {
    if (ratio == 0) return;
    if (!m->n || ratio < m->least) m->least = ratio, m->where = name;
    m->logs += log(ratio);
    m->n++;
}

double mean_of(const mean_ratio *m) { return m->n ? exp(m->logs / m->n) : 0; }
