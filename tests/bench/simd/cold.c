/* cold.c — what our compiler costs: processor time of building a theme's program from SPIR-V and of
 * the first launch of one kernel, and the size of its code, scalar and with the options.  Each
 * sample is a process, without a cache.
 *
 * Both kinds of code are those of large launches, since small ones may begin with scalar code.
 * The size is that of all functions that the process has loaded, which it writes for profilers.
 */
#include "tests/bench/bench.h"
#include "tests/bench/simd/simd.h"

#include <inttypes.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAMPLES = 7 };

/* How many times as large as scalar code the code may be, for one kernel and in the mean. */
static const double most_larger = 4, most_in_mean = 2.52;

/* Of one process. */
typedef struct {
    bool ok;
    double ms;
    uint64_t bytes; /* of code, if it is asked for */
} cost;

static double cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The sum of the sizes in /tmp/perf-PID.map, whose lines are ADDRESS SIZE NAME; it is removed, and
 * the dump of the code, too. */
static uint64_t take_code_size(void) {
    char path[40], dump[40];
    uint64_t sum = 0, bytes;
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    snprintf(dump, sizeof dump, "/tmp/jit-%ld.dump", (long)getpid());
    FILE *f = fopen(path, "r");
    while (f && fscanf(f, "%*x %" SCNx64 " %*s", &bytes) == 1) sum += bytes;
    if (f) fclose(f), unlink(path), unlink(dump);
    return sum;
}

static cost compile(const bench_options *o, const theme *t, const benchmark *b) {
    cost c = {0};
    implementation d;
    launch l;
    sized_row r = size_row(b, b->small);
    if (!open_ours(o, &d)) return c;
    double start = cpu_time();
    cl_program program = build_theme(&d, o, t, true);
    c.ok = prepare_launch(&l, &d, program, b, &r.problem) && run_launch(&l) &&
           clFinish(d.queue) == CL_SUCCESS;
    c.ms = cpu_time() - start;
    c.bytes = take_code_size();
    return c;
}

static cost compile_in_process(const bench_options *o, const theme *t, const benchmark *b,
                               const char *options) {
    int ends[2];
    cost c = {0};
    if (pipe(ends) != 0) return c;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char all[80];
        snprintf(all, sizeof all, "untiered%s%s", *options ? "," : "", options);
        setenv("SPVF_CPU", all, 1);
        c = compile(o, t, b);
        _exit(write(ends[1], &c, sizeof c) != sizeof c);
    }
    close(ends[1]);
    if (read(ends[0], &c, sizeof c) != sizeof c) c.ok = false;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return c;
}

/* -------------------------------------------------------------------------------------- tables */

/* How many times what it costs in scalar code a row costs with the options; 0: it failed. */
typedef double compare_row(const bench_options *o, const theme *t, const benchmark *b);

static progress shown; /* of rows */

static double print_failure(const theme *t, const benchmark *b) {
    progress_clear(&shown);
    printf("%-16s %-12s failed\n", b->name, t->name);
    return 0;
}

static double compare_times(const bench_options *o, const theme *t, const benchmark *b) {
    double scalar[SAMPLES], vector[SAMPLES];
    bool ok = true;
    for (unsigned n = 0; n < SAMPLES; n++) {
        const cost before = compile_in_process(o, t, b, "simd=1");
        const cost after = compile_in_process(o, t, b, o->options);
        scalar[n] = before.ms;
        vector[n] = after.ms;
        ok &= before.ok && after.ok;
    }
    if (!ok) return print_failure(t, b);
    double s = median(scalar, SAMPLES), v = median(vector, SAMPLES);
    progress_clear(&shown);
    printf("%-16s %-12s %8.2f %8.2f %6.2f\n", b->name, t->name, s, v, v / s);
    return v / s;
}

static double compare_sizes(const bench_options *o, const theme *t, const benchmark *b) {
    const cost scalar = compile_in_process(o, t, b, "simd=1");
    const cost vector = compile_in_process(o, t, b, o->options);
    if (!scalar.ok || !vector.ok || !scalar.bytes || !vector.bytes) return print_failure(t, b);
    double ratio = (double)vector.bytes / (double)scalar.bytes;
    progress_clear(&shown);
    printf("%-16s %-12s %8" PRIu64 " %8" PRIu64 " %6.2f%s\n", b->name, t->name, scalar.bytes,
           vector.bytes, ratio, ratio > most_larger ? " is too large" : "");
    return ratio;
}

/* False: a row failed, is above its bound, or the mean is above that. */
static bool compare_rows(const bench_options *o, compare_row *compare, bool bounded) {
    unsigned themes, n = 0, failed = 0;
    double logs = 0, most = 0;
    const theme *const *all = all_themes(&themes);
    printf("%-16s %-12s %8s %8s %6s\n", "kernel", "theme", "scalar", "options", "ratio");
    shown = begin_rows(o);
    for (unsigned t = 0; t < themes; t++)
        for (unsigned k = 0; k < all[t]->n; k++) {
            if (!is_chosen(o, &all[t]->rows[k])) continue;
            double ratio = compare(o, all[t], &all[t]->rows[k]);
            failed += ratio == 0 || (bounded && ratio > most_larger);
            logs += ratio > 0 ? log(ratio) : 0;
            n += ratio != 0;
            most = fmax(most, ratio);
            progress_step(&shown);
        }
    progress_end(&shown);
    double mean = n ? exp(logs / n) : 0;
    if (n) printf("geometric mean of the ratios %.2f, most %.2f\n", mean, most);
    if (bounded) printf("%u passed, %u failed\n", n - (failed < n ? failed : n), failed);
    return !failed && (!bounded || o->names || mean <= most_in_mean);
}

static const char *options_text(const bench_options *o) {
    return *o->options ? o->options : "no options";
}

bool run_cold(const bench_options *o) {
    printf("building and first launch, CPU ms, medians of %d processes: scalar, and with %s\n",
           SAMPLES, options_text(o));
    return compare_rows(o, compare_times, false);
}

bool run_sizes(const bench_options *o) {
    printf("bytes of code for a launch: scalar, and with %s\n", options_text(o));
    setenv("SPVF_JIT", "perf", 1);
    setenv("JITDUMPDIR", "/tmp", 1);
    return compare_rows(o, compare_sizes, true);
}
