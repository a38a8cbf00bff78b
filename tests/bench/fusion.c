/* fusion.c — what fusing gains, over pipelines as applications have them.
 *
 *   fusion PIPELINES.plan [GROUP]
 *
 * Each group of the plan runs fused and launch by launch, by turns, several times over; shown are
 * the medians by the clock and in processor time, their ratios, and the ratio of the bytes that are
 * moved, which is what a machine limited by memory could gain.  A group that is not fused counts
 * as 1.
 *
 * A group is limited by memory if its launches, one by one, move bytes at least at BOUND of the rate
 * of a kernel that copies as many as the fused one moves; for those, `ceiling` is the part of that
 * ratio which is gained.
 *
 * Fails when a group takes more processor time fused than LEAST allows, or when the median of the
 * groups without transcendental functions, whose names do not begin with "math", is below MEDIAN.
 */
#include "tests/bench/bench.h"

enum { MOST_GROUPS = 64, ROUNDS = 5 };
static const double LEAST = 0.98, MEDIAN = 1.6, BOUND = 0.6;

typedef struct {
    char name[64];
    double clock[ROUNDS], cpu[ROUNDS]; /* unfused by fused */
    double unfused_ms, fused_ms, bytes;
    double rate[ROUNDS]; /* of its launches, by that of a copy */
    unsigned rounds;
    bool fused;
} group;

typedef struct {
    group groups[MOST_GROUPS];
    unsigned n;
    const char *only; /* the group to show, or NULL */
} results;

static double ratio(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 1; }

static group *find(results *r, const char *name) {
    for (unsigned k = 0; k < r->n; k++)
        if (strcmp(r->groups[k].name, name) == 0) return &r->groups[k];
    if (r->n == MOST_GROUPS) return NULL;
    snprintf(r->groups[r->n].name, sizeof r->groups[r->n].name, "%s", name);
    return &r->groups[r->n++];
}

static void keep(void *user, const spvf_timing *t) {
    results *r = user;
    if (r->only && strcmp(r->only, t->name) != 0) return;
    group *g = find(r, t->name);
    if (!g || g->rounds == ROUNDS) return;
    g->fused = t->fused;
    g->unfused_ms = (double)t->unfused_ns / 1e6;
    g->fused_ms = (double)(t->fused ? t->fused_ns : t->unfused_ns) / 1e6;
    g->bytes = t->fused ? ratio(t->unfused_bytes, t->fused_bytes) : 1;
    g->rate[g->rounds] = ratio(t->unfused_bytes * t->copy_ns, t->copy_bytes * t->unfused_ns);
    g->clock[g->rounds] = t->fused ? ratio(t->unfused_ns, t->fused_ns) : 1;
    g->cpu[g->rounds++] = t->fused ? ratio(t->unfused_cpu_ns, t->fused_cpu_ns) : 1;
}

static bool run(const char *path, results *r) {
    file text = load("", path);
    spvf_context *c;
    spvf_plan *plan;
    const spvf_context_options co = {.size = sizeof co, .message = show_message};
    const spvf_run_options o = {
        .size = sizeof o, .device = "cpu", .timing = keep, .timing_user = r};
    spvf_context_create(&co, &c);
    bool ok = spvf_plan_load(c, path, (const char *)text.data, text.size, &plan) == SPVF_OK &&
              spvf_plan_run(plan, &o, NULL) == SPVF_OK;
    spvf_plan_destroy(plan);
    spvf_context_destroy(c);
    free(text.data);
    return ok;
}

/* The part of the ratio of bytes that is gained, if memory is the limit; otherwise 0. */
static double part_of_ceiling(group *g, double cpu) {
    if (!g->fused || median(g->rate, g->rounds) < BOUND) return 0;
    return cpu / g->bytes;
}

static void print_group(group *g, double cpu, double part) {
    printf("%-26s %10.3f %10.3f %8.2f %8.2f %8.2f", g->name, g->unfused_ms, g->fused_ms,
           median(g->clock, g->rounds), cpu, g->bytes);
    if (part != 0) printf(" %8.2f", part);
    puts(g->fused ? "" : "  not fused");
}

static bool show(results *r) {
    double plain[MOST_GROUPS], bound[MOST_GROUPS];
    unsigned n = 0, slower = 0, nbound = 0;
    printf("%-26s %10s %10s %8s %8s %8s %8s\n", "pipeline", "unfused ms", "fused ms", "clock",
           "cpu", "bytes", "ceiling");
    for (unsigned k = 0; k < r->n; k++) {
        group *g = &r->groups[k];
        double cpu = median(g->cpu, g->rounds);
        double part = part_of_ceiling(g, cpu);
        print_group(g, cpu, part);
        if (part != 0) bound[nbound++] = part;
        if (strncmp(g->name, "math", 4) != 0) plain[n++] = cpu;
        slower += cpu < LEAST;
    }
    double middle = n ? median(plain, n) : 1;
    printf(
        "%u pipelines, %u slower than %.2f; median of %u without transcendental functions %.2f\n",
        r->n, slower, LEAST, n, middle);
    double reached = nbound ? median(bound, nbound) : 0; /* sorted by that */
    if (nbound)
        printf("%u limited by memory: median %.2f of the ceiling, least %.2f\n", nbound, reached,
               bound[0]);
    return !slower && (r->only || middle >= MEDIAN);
}

int main(int argc, char **argv) {
    static results r;
    if (argc != 2 && argc != 3) return fprintf(stderr, "usage: fusion PIPELINES.plan [GROUP]\n"), 2;
    r.only = argv[2];
    progress p = progress_begin("rounds", ROUNDS);
    for (unsigned k = 0; k < ROUNDS; k++) {
        if (!run(argv[1], &r)) return 1;
        progress_step(&p);
    }
    progress_end(&p);
    return show(&r) ? 0 : 1;
}
