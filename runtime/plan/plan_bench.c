/* plan_bench.c — how long a group of a plan takes, fused and kernel by kernel.
 *
 * Both ways run by turns, so that other load of the machine falls on both; the medians count.  The
 * time of compiling is what the first fused launch takes beyond the median.  The limit is the time
 * that the device needs to copy as many bytes as the fused kernel moves, with a kernel that does
 * nothing else.
 */
#include "runtime/plan/plan.h"

#include <stdlib.h>
#include <time.h>

enum {
    LEAST_RUNS = 5,
    MOST_RUNS = 1001,
    COPIES = 11,
    FIRST_COPIES = 3, /* before them: devices make code for a launch when it comes again */
    LEAST_BYTES = 1 << 12,
    MOST_BYTES = 1 << 30,
    ITEM = 32
};
static const uint64_t long_enough = 300000000; /* ns */

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median(uint64_t *v, uint32_t n) {
    qsort(v, n, sizeof *v, by_value);
    return v[n / 2];
}

/* One way to run the group: each run by the clock, and in processor time. */
typedef struct {
    bool fused;
    uint64_t *ns, *cpu_ns;
    uint32_t n;
} runs;

static runs new_runs(const rt_bench *b, bool fused) {
    return (runs){.fused = fused,
                  .ns = ir_new_array(b->arena, uint64_t, MOST_RUNS),
                  .cpu_ns = ir_new_array(b->arena, uint64_t, MOST_RUNS)};
}

static uint64_t cpu_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t time_launch(const rt_bench *b, bool fused) {
    uint64_t start = rt_now_ns();
    b->launch(b->user, fused);
    return rt_now_ns() - start;
}

static void add_run(const rt_bench *b, runs *r) {
    uint64_t start = cpu_now_ns();
    r->ns[r->n] = time_launch(b, r->fused);
    r->cpu_ns[r->n++] = cpu_now_ns() - start;
}

/* --------------------------------------------------------------------------------------- copies */

static const char copy_text[] = "target 64\n"
                                "kernel @copy(%from: ptr.global, %to: ptr.global) {\n"
                                "entry:\n"
                                "  %i: i64 = global_id 0\n"
                                "  %at: i64 = shl %i, 4\n"
                                "  %p: ptr.global = ptradd %from, %at\n"
                                "  %q: ptr.global = ptradd %to, %at\n"
                                "  %v: v4i32 = load %p align 16\n"
                                "  store %v, %q align 16\n"
                                "  ret\n"
                                "}\n";

static void time_copies(const rt_bench *b, const ir_module *m, spvf_timing *t) {
    rt_device *d = b->device;
    uint64_t ns[COPIES], items = t->fused_bytes / ITEM;
    if (items > MOST_BYTES / ITEM) items = MOST_BYTES / ITEM;
    if (items < LEAST_BYTES / ITEM) items = LEAST_BYTES / ITEM;
    void *zeros = calloc(items, ITEM / 2);
    if (!zeros) ir_throw(&b->context->cx, IR_ERR_MEMORY);
    const rt_arg args[] = {
        rt_memory_arg(d->driver->allocate(d, "from", items * ITEM / 2, zeros), 0),
        rt_memory_arg(d->driver->allocate(d, "to", items * ITEM / 2, zeros), 0)};
    free(zeros);
    rt_program *p = rt_device_build(d, m);
    const spvf_range range = {.dims = 1, .global = {items}};
    const rt_launch copy = {d->driver->find(d, p, "copy"), &range, args, 2, .uneven = false};
    for (uint32_t n = 0; n < FIRST_COPIES; n++) rt_device_launch(d, &copy);
    for (uint32_t n = 0; n < COPIES; n++) {
        uint64_t start = rt_now_ns();
        rt_device_launch(d, &copy);
        ns[n] = rt_now_ns() - start;
    }
    t->copy_bytes = items * ITEM;
    t->copy_ns = median(ns, COPIES);
}

/* ----------------------------------------------------------------------------------------- runs */

static void time_runs(const rt_bench *b, spvf_timing *t) {
    runs unfused = new_runs(b, false), fused = new_runs(b, true);
    b->launch(b->user, false);
    uint64_t first = t->fused ? time_launch(b, true) : 0, begin = rt_now_ns();
    for (t->runs = 0; t->runs < MOST_RUNS; t->runs++) {
        if (t->runs >= LEAST_RUNS && rt_now_ns() - begin > long_enough) break;
        add_run(b, &unfused);
        if (t->fused) add_run(b, &fused);
        double enough = (t->runs + 1.0) / (double)LEAST_RUNS;
        double time = (double)(rt_now_ns() - begin) / (double)long_enough;
        rt_tell_progress(b->progress, enough < time ? enough : time);
    }
    t->unfused_ns = median(unfused.ns, unfused.n);
    t->unfused_cpu_ns = median(unfused.cpu_ns, unfused.n);
    if (!t->fused) return;
    t->fused_ns = median(fused.ns, fused.n);
    t->fused_cpu_ns = median(fused.cpu_ns, fused.n);
    t->compile_ns = first > t->fused_ns ? first - t->fused_ns : 0;
}

void rt_bench_group(const rt_bench *b, spvf_timing *t) {
    spvf_context *c = b->context;
    time_runs(b, t);
    if (!t->fused_bytes) return;
    ir_module *m = ir_parse(&c->cx, "copy", copy_text, sizeof copy_text - 1);
    *ir_push(b->arena, b->modules) = m;
    if (!m) ir_throw(&c->cx, IR_ERR_INTERNAL);
    time_copies(b, m, t);
}
