/* progress.h — how far a program is, and how long it will take, on a terminal.
 *
 * Nothing is shown in the first second, nor where standard error is no terminal.  The line is written
 * over by the next one, and removed at the end, and before something else is printed.  What is left
 * is taken to need as long a piece as what is done. */
#ifndef TESTS_PROGRESS_H
#define TESTS_PROGRESS_H

#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    const char *what; /* of which there are so many */
    size_t total, done;
    double begun, shown; /* seconds */
    int on;
} progress;

static inline double progress_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline progress progress_begin(const char *what, size_t total) {
    return (progress){
        .what = what, .total = total, .begun = progress_now(), .on = isatty(STDERR_FILENO)};
}

static inline void progress_show(progress *p, double now) {
    double left = (now - p->begun) * (double)(p->total - p->done) / (double)p->done;
    p->shown = now;
    fprintf(stderr, "\r\033[K%zu of %zu %s, %.0f s left ", p->done, p->total, p->what, left);
    fflush(stderr);
}

/* Another one is done. */
static inline void progress_step(progress *p) {
    if (p->done < p->total) p->done++;
    if (!p->on) return;
    double now = progress_now();
    if (now - p->begun > 1 && now - p->shown > 0.2) progress_show(p, now);
}

/* Something else is printed next. */
static inline void progress_clear(const progress *p) {
    if (p->shown > 0) fprintf(stderr, "\r\033[K");
}

static inline void progress_end(progress *p) {
    progress_clear(p);
    p->shown = 0;
}

#endif
