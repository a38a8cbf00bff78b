/* launch.c — what launches cost beside the work of their groups.
 *
 *   launch [THREADS]
 *
 * Launches of a compiled kernel without a body go through device cpu, as those of programs do: the
 * best of many, by one thread ("alone") and by all ("together").  Efficiency is that of the pool
 * below it, whose groups count: the time of one thread by the time of all, times their number; 1 is
 * what cannot be beaten.  Groups of three kinds: equal, ever longer, and one in 64 long.
 */
#include "runtime/devices/device.h"
#include "runtime/native/native.h"
#include "tests/bench/bench.h"

enum { RUNS = 30 };

/* ----------------------------------------------------------------------------------- the device */

static const struct {
    const char *name;
    uint64_t groups, local;
    unsigned often; /* launches in one measurement */
} launches[] = {{"1 group of 1 item", 1, 1, 1000},
                {"1 group of 256 items", 1, 256, 1000},
                {"10^6 groups of 1 item", 1000000, 1, 1},
                {"10^6 groups of 64 items", 1000000, 64, 1},
                {"10^6 groups of 256 items", 1000000, 256, 1}};
enum { LAUNCHES = sizeof launches / sizeof *launches };

static const char empty_text[] = "target 64\nkernel @empty() {\nentry:\n  ret\n}\n";

typedef struct {
    spvf_context *context;
    double us[LAUNCHES]; /* a launch */
} device_job;

static double time_launches(rt_device *d, rt_function *f, unsigned n) {
    const spvf_range range = {.dims = 1,
                              .global = {launches[n].groups * launches[n].local},
                              .local = {launches[n].local}};
    double best = 1e9;
    for (int i = 0; i < RUNS; i++) {
        double start = now();
        for (unsigned k = 0; k < launches[n].often; k++)
            rt_device_launch(d, &(rt_launch){.function = f, .range = &range});
        double t = (now() - start) / launches[n].often;
        if (t < best) best = t;
    }
    return best;
}

static void time_device(void *arg) {
    device_job *j = arg;
    ir_module *m = ir_parse(&j->context->cx, "empty", empty_text, sizeof empty_text - 1);
    if (!m) exit(1);
    rt_device *d = rt_device_open(j->context, "cpu");
    rt_program *p = d->driver->build(d, m);
    rt_function *f = d->driver->find(d, p, "empty");
    for (unsigned n = 0; n < LAUNCHES; n++) j->us[n] = time_launches(d, f, n);
    rt_device_close(d);
    ir_module_free(m);
}

/* The pool of the process is as large as SPVF_THREADS says when a device is opened. */
static device_job run_device(unsigned threads) {
    const spvf_context_options o = {.size = sizeof o, .message = show_message};
    device_job j = {.context = NULL};
    char text[20];
    snprintf(text, sizeof text, "%u", threads);
    setenv("SPVF_THREADS", text, 1);
    if (spvf_context_create(&o, &j.context) != SPVF_OK) exit(1);
    if (rt_guard(j.context, time_device, &j) != SPVF_OK) exit(1);
    spvf_context_destroy(j.context);
    return j;
}

static void show_launches(unsigned threads) {
    device_job one = run_device(1), all = run_device(threads);
    printf("  a launch on device cpu              alone  together\n");
    for (unsigned n = 0; n < LAUNCHES; n++)
        printf("  %-28s %9.2f us %9.2f us\n", launches[n].name, one.us[n], all.us[n]);
}

/* ------------------------------------------------------------------------------------- the pool */

typedef enum { EQUAL, RISING, RARE, KINDS } kind;

static uint64_t length_of(kind k, uint64_t group, uint64_t groups, uint64_t mean) {
    if (k == RISING) return 2 * mean * group / groups;
    if (k == RARE) return group % 64 == 0 ? mean * 64 : 0;
    return mean;
}

/* args: kind, mean length of a group in turns of the loop */
static void spin_block(const ir_group_info *g, void *const *args) {
    kind k = *(const kind *)args[0];
    uint64_t mean = *(const uint64_t *)args[1];
    for (uint64_t x = g->group_id[0]; x < g->group_end[0]; x++)
        for (uint64_t n = length_of(k, x, g->num_groups[0], mean); n; n--) __asm__ volatile("");
}

/* The best of several; the cost of the kernel is known then. */
static double time_work(rt_pool *p, rt_block *run, void *const *args, uint64_t groups) {
    double best = 1e9;
    rt_cost cost = {0};
    ir_group_info g = {.num_groups = {groups, 1, 1}};
    rt_work w = {.run = run, .info = &g, .args = args, .cost = &cost};
    for (int i = 0; i < RUNS; i++) {
        double start = now();
        rt_pool_run(p, &w);
        double t = now() - start;
        if (t < best) best = t;
    }
    return best;
}

static void show_efficiency(rt_pool *one, rt_pool *all, progress *p, uint64_t groups,
                            uint64_t mean) {
    double efficiency[KINDS];
    for (kind k = EQUAL; k < KINDS; k++) {
        void *args[] = {&k, &mean};
        double alone = time_work(one, spin_block, args, groups);
        double together = time_work(all, spin_block, args, groups);
        efficiency[k] = alone / together / rt_pool_threads(all);
    }
    progress_clear(p);
    printf("  %6llu groups of %7llu turns:", (unsigned long long)groups, (unsigned long long)mean);
    for (kind k = EQUAL; k < KINDS; k++) printf("  %.2f", efficiency[k]);
    printf("\n");
    progress_step(p);
}

enum { LEAST_MEAN = 100, MOST_MEAN = 1000000 };

static bool is_short(uint64_t groups, uint64_t mean) {
    return groups <= 65536 && groups * mean <= 100000000;
}

static size_t count_sizes(void) {
    size_t n = 0;
    for (uint64_t mean = LEAST_MEAN; mean <= MOST_MEAN; mean *= 10)
        for (uint64_t groups = 64; is_short(groups, mean); groups *= 32) n++;
    return n;
}

int main(int argc, char **argv) {
    rt_pool_options options = {.threads = argc > 1 ? (unsigned)atoi(argv[1]) : 0};
    rt_pool *one = rt_pool_new(&(rt_pool_options){.threads = 1}), *all = rt_pool_new(&options);
    if (!one || !all) return 1;
    printf("%u threads\n", rt_pool_threads(all));
    show_launches(rt_pool_threads(all));
    printf("  efficiency of groups that are          equal rising rare\n");
    progress p = progress_begin("rows", count_sizes());
    for (uint64_t mean = LEAST_MEAN; mean <= MOST_MEAN; mean *= 10)
        for (uint64_t groups = 64; is_short(groups, mean); groups *= 32)
            show_efficiency(one, all, &p, groups, mean);
    progress_end(&p);
    rt_pool_free(one);
    rt_pool_free(all);
    return 0;
}
