/* cold.c — what our compiler costs: processor time of building a theme's program from SPIR-V and of
 * the first launch of one kernel, scalar and with the options.  Each sample is a process, without a
 * cache.
 */
#include "tests/bench/bench.h"
#include "tests/bench/simd/simd.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES = 7 };

static double cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Milliseconds; below 0: it failed. */
static double compile(const bench_options *o, const theme *t, const benchmark *b) {
    implementation d;
    launch l;
    sized_row r = size_row(b, b->small);
    if (!open_ours(o, &d)) return -1;
    double start = cpu_time();
    cl_program program = build_theme(&d, o, t, true);
    bool ok = prepare_launch(&l, &d, program, b, &r.problem) && run_launch(&l) &&
              clFinish(d.queue) == CL_SUCCESS;
    return ok ? cpu_time() - start : -1;
}

static double compile_in_process(const bench_options *o, const theme *t, const benchmark *b,
                                 const char *options) {
    int ends[2];
    double ms = -1;
    if (pipe(ends) != 0) return -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("SPVF_CPU", options, 1);
        ms = compile(o, t, b);
        _exit(write(ends[1], &ms, sizeof ms) != sizeof ms);
    }
    close(ends[1]);
    if (read(ends[0], &ms, sizeof ms) != sizeof ms) ms = -1;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return ms;
}

/* How much longer it takes with the options; 0: it failed. */
static double compile_row(const bench_options *o, const theme *t, const benchmark *b) {
    double scalar[SAMPLES], vector[SAMPLES];
    bool ok = true;
    for (unsigned n = 0; n < SAMPLES; n++) {
        scalar[n] = compile_in_process(o, t, b, "simd=1");
        vector[n] = compile_in_process(o, t, b, o->options);
        ok &= scalar[n] >= 0 && vector[n] >= 0;
    }
    if (!ok) return printf("%-16s %-12s failed\n", b->name, t->name), 0;
    double s = median(scalar, SAMPLES), v = median(vector, SAMPLES);
    printf("%-16s %-12s %8.2f %8.2f %6.2f\n", b->name, t->name, s, v, v / s);
    return v / s;
}

bool run_cold(const bench_options *o) {
    unsigned themes, n = 0, failed = 0;
    double logs = 0, most = 0;
    const theme *const *all = all_themes(&themes);
    printf("building and first launch, CPU ms, medians of %d processes: scalar, and with %s\n",
           SAMPLES, *o->options ? o->options : "no options");
    printf("%-16s %-12s %8s %8s %6s\n", "kernel", "theme", "scalar", "options", "ratio");
    for (unsigned t = 0; t < themes; t++)
        for (unsigned k = 0; k < all[t]->n; k++) {
            if (!is_chosen(o, &all[t]->rows[k])) continue;
            double ratio = compile_row(o, all[t], &all[t]->rows[k]);
            failed += !ratio;
            logs += ratio ? log(ratio) : 0;
            n += ratio != 0;
            most = fmax(most, ratio);
        }
    if (n) printf("geometric mean of the ratios %.2f, most %.2f\n", exp(logs / n), most);
    return !failed;
}
