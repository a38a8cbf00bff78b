/* closures.c — what it costs to take structs by value apart.
 *
 * Modules of one kernel and of 100, each with a struct of 10 members, are loaded as they are and with
 * the members as parameters, which are described: medians of many, by a clock of the processor.  The
 * limit for the difference is 20 us a kernel.
 */
#include "tests/bench/bench.h"

#include <string.h>

enum { RUNS = 501, MOST_KERNELS = 100, LIMIT = 20 };

static const char kernel[] =
    "kernel @kernel_of_number_%u(%%s: ptr.private byval(72) align 8 of {{ptr.global, i64}, "
    "{ptr.global, i64}, {ptr.global, i64}, f32, i32, f64, i64}) {\n"
    "entry:\n"
    "  %%i: i64 = global_id 0\n"
    "  %%to: ptr.global = load %%s align 8\n"
    "  %%s8: ptr.private = ptradd %%s, 8\n"
    "  %%first: i64 = load %%s8 align 8\n"
    "  %%s48: ptr.private = ptradd %%s, 48\n"
    "  %%x: f32 = load %%s48 align 4\n"
    "  %%a: i64 = add %%i, %%first\n"
    "  %%b: i64 = shl %%a, 2\n"
    "  %%p: ptr.global = ptradd %%to, %%b\n"
    "  store %%x, %%p align 4\n"
    "  ret\n"
    "}\n";

static char text[MOST_KERNELS * sizeof kernel + 100];
static spvf_context *context;

static void write_kernels(unsigned count) {
    size_t n = (size_t)snprintf(text, sizeof text, "target 64\n");
    for (unsigned k = 0; k < count; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, kernel, k);
}

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Loads and describes; gives the time, or -1. */
static double load_once(bool closures) {
    const spvf_module_options o = {.size = sizeof o, .closures = closures};
    spvf_module *m;
    double start = cpu_now();
    if (spvf_module_load(context, "k", text, strlen(text), &o, &m) != SPVF_OK) return -1;
    double us = cpu_now() - start;
    bool right = spvf_module_kernel(m, 0)->arg_count == (closures ? 10 : 1);
    spvf_module_destroy(m);
    return right ? us : -1;
}

/* Both ways in turn, so that both meet the same machine. */
static double difference(unsigned kernels) {
    static double us[2][RUNS];
    write_kernels(kernels);
    progress p = progress_begin("rounds", RUNS);
    for (int n = 0; n < RUNS; n++, progress_step(&p))
        for (int way = 0; way < 2; way++)
            if ((us[way][n] = load_once(way)) < 0) exit(1);
    progress_end(&p);
    return median(us[1], RUNS) - median(us[0], RUNS);
}

int main(void) {
    const spvf_context_options o = {.size = sizeof o, .message = show_message};
    if (spvf_context_create(&o, &context) != SPVF_OK) return 1;
    const double one = difference(1), many = difference(MOST_KERNELS);
    spvf_context_destroy(context);
    printf("  a struct of 10 members taken apart: %.1f us; of 100 kernels, %.1f us each\n", one,
           many / (double)MOST_KERNELS);
    return one > (double)LIMIT || many / (double)MOST_KERNELS > (double)LIMIT;
}
