/* count.c — what running our own code costs, in a number that is the same each time.
 *
 * Time is not: this machine may be busy.  The library is compiled with -fsanitize-coverage=trace-pc
 * for this, so that every basic block calls the function below, and what the C library copies and
 * sets for it is counted by its length; the linker sends these calls here (--wrap).  What remains
 * of the C library does not depend on the size of the input, but for qsort, whose comparisons are
 * ours.
 *
 * This file is compiled without coverage.
 */
#include "tests/scaling/count.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t count_steps;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) { count_steps++; }

void *__real_memset(void *to, int byte, size_t n);
void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memmove(void *to, const void *from, size_t n);
void *__wrap_memset(void *to, int byte, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memmove(void *to, const void *from, size_t n);

void *__wrap_memset(void *to, int byte, size_t n) {
    count_steps += n / 16;
    return __real_memset(to, byte, n);
}

void *__wrap_memcpy(void *to, const void *from, size_t n) {
    count_steps += n / 16;
    return __real_memcpy(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n) {
    count_steps += n / 16;
    return __real_memmove(to, from, n);
}

/* Steps are the nanoseconds of passes and stages. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t) {
    (void)clock;
    *t = (struct timespec){.tv_sec = (time_t)(count_steps / 1000000000),
                           .tv_nsec = (long)(count_steps % 1000000000)};
    return 0;
}

/* --------------------------------------------------------------------------------------- memory */

typedef union {
    size_t bytes;
    max_align_t align;
} header;

void *count_allocate(void *user, size_t bytes) {
    count_memory *m = user;
    header *h = bytes < SIZE_MAX - sizeof *h ? malloc(sizeof *h + bytes) : NULL;
    if (!h) return NULL;
    h->bytes = bytes;
    m->now += bytes;
    if (m->now > m->most) m->most = m->now;
    return h + 1;
}

void count_release(void *user, void *block) {
    count_memory *m = user;
    header *h = (header *)block - 1;
    if (!block) return;
    m->now -= h->bytes;
    free(h);
}
