/* weak.c — what some implementations are slow at, next to PoCL: odd local sizes, groups along y,
 * register blocking, values that live over barriers, atomics in local memory.
 *
 *   weak WEAK.plan
 *
 * The plan runs on both devices, each launch many times; shown are the medians and the ratio,
 * PoCL's time over ours.
 */
#include "tests/bench/bench.h"

enum { LAUNCHES = 10 };

/* In the order of the plan: what is launched, and how many items. */
static const struct {
    const char *name;
    double items;
} rows[LAUNCHES] = {
    {"local size 64", 1228800},       {"local size 48", 1228800},
    {"local size 96", 1228800},       {"local size 100", 1228800},
    {"1024 groups along x", 65536},   {"1024 groups along y", 65536},
    {"matmul, tiles", 65536},         {"matmul, register blocks", 16384},
    {"values over barriers", 262144}, {"local atomics", 262144},
};

typedef struct {
    double ns[LAUNCHES];
    unsigned n;
} times;

static progress shown; /* of launches on both devices */

static void keep_time(void *user, const spvf_timing *t) {
    times *s = user;
    if (s->n < LAUNCHES) s->ns[s->n++] = (double)t->unfused_ns;
    progress_step(&shown);
}

static bool run_on(const char *device, const char *path, times *t) {
    file text = load("", path);
    spvf_context *c;
    spvf_plan *plan;
    const spvf_context_options co = {.size = sizeof co, .message = show_message};
    const spvf_run_options o = {
        .size = sizeof o, .device = device, .timing = keep_time, .timing_user = t};
    spvf_context_create(&co, &c);
    bool ok = spvf_plan_load(c, path, (const char *)text.data, text.size, &plan) == SPVF_OK &&
              spvf_plan_run(plan, &o, NULL) == SPVF_OK && t->n == LAUNCHES;
    spvf_plan_destroy(plan);
    spvf_context_destroy(c);
    free(text.data);
    return ok;
}

int main(int argc, char **argv) {
    static times ours, theirs;
    if (argc != 2) return fprintf(stderr, "usage: weak WEAK.plan\n"), 2;
    shown = progress_begin("launches", 2 * LAUNCHES);
    if (!run_on("cpu", argv[1], &ours)) return 1;
    bool peer = run_on("opencl", argv[1], &theirs);
    progress_end(&shown);
    printf("time of an item, nanoseconds; PoCL's by ours\n");
    for (unsigned n = 0; n < LAUNCHES; n++) {
        printf("  %-24s %8.3f", rows[n].name, ours.ns[n] / rows[n].items);
        if (peer) printf(" %8.3f %7.2f x", theirs.ns[n] / rows[n].items, theirs.ns[n] / ours.ns[n]);
        putchar('\n');
    }
    return 0;
}
