/* bench.h — what the parts of the benchmark share: time, medians, files. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include "runtime/spvfuse.h"
#include "tests/file.h"
#include "tests/progress.h"
#include "tests/report.h"

#include <stdlib.h>
#include <time.h>

static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *v, size_t n) {
    qsort(v, n, sizeof *v, by_value);
    return v[n / 2];
}

typedef struct {
    unsigned char *data;
    size_t size;
} file;

static inline file load(const char *folder, const char *name) {
    char path[1024];
    file f;
    snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name);
    f.data = (unsigned char *)read_file(path, &f.size);
    if (f.data) return f;
    fprintf(stderr, "bench: %s cannot be read\n", path);
    exit(1);
}

/* As a context's `message`: errors only. */
static inline void show_message(void *user, const spvf_message *m) {
    (void)user;
    if (m->severity == SPVF_ERROR) fprintf(stderr, "%s\n", m->formatted);
}

/* Fuses chains of element-wise kernels of unary_chain.spv. (chain.c) */
void bench_chains(const char *folder);

#endif
