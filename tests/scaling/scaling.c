/* scaling.c — does cost grow faster than the input?
 *
 *   scaling [--long] [--passes] [NAME…]
 *
 * Each shape of shapes.c is made with sizes that double, four times, or five times with --long,
 * and goes the whole way: IR text is read, written as SPIR-V, read again, optimized and compiled
 * for x86-64, or as PTX; plans are read, and their group explained, fused and compiled.  Cost is
 * what count.c counts, so it is the same each time, on a busy machine too; memory is the most that
 * the context holds at once.  The exponent of a cost is the slope of its logarithm from one size to
 * the next, of memory to the next but one, and the largest counts: a limit that makes the last ones
 * small does not hide what came before.  Exponents above 1.3 fail: twice the input may cost 2.46
 * times as much.  Stages that have less than a quarter of the cost are left out.
 *
 * With --passes, prints the passes, stages of native code and analyses that cost most, and their
 * shares of optimizing and making code.
 */
#include "runtime/spvfuse.h"
#include "tests/progress.h"
#include "tests/scaling/count.h"
#include "tests/scaling/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHORT = 4, LONG = 5, MAX_NAME = 40, MAX_PASSES = 100, WORST = 4 };
static const double most = 1.3, most_of_step = 1.6, least_share = 0.25;

typedef enum { READ_TEXT, WRITE_SPIRV, READ_SPIRV, PASSES, EXPLAIN, FUSE, NATIVE, STAGES } stage;
static const char *const stage_names[] = {"reading text", "writing SPIR-V", "reading SPIR-V",
                                          "passes",       "explaining",     "fusing",
                                          "native code"};

typedef struct {
    char name[MAX_NAME];
    uint64_t steps;
} pass_cost;

/* What a module of one size costs. */
typedef struct {
    uint64_t steps[STAGES], all;
    size_t memory;
    unsigned npasses;
    pass_cost pass[MAX_PASSES];
    bool failed;
} cost;

/* ---------------------------------------------------------------------------------- one module */

static pass_cost *find_pass(cost *c, const char *name) {
    unsigned k = 0;
    while (k < c->npasses && strcmp(c->pass[k].name, name) != 0) k++;
    if (k == c->npasses) snprintf(c->pass[c->npasses++].name, MAX_NAME, "%s", name);
    return &c->pass[k];
}

/* Notes are "PASS: N ns" and "native code: STAGE: N ns", in steps. */
static void take_message(void *user, const spvf_message *m) {
    cost *c = user;
    const char *end = strrchr(m->text, ':');
    char name[MAX_NAME];
    unsigned long long steps;
    if (m->severity == SPVF_ERROR) fprintf(stderr, "%s\n", m->formatted);
    if (m->severity != SPVF_NOTE || c->npasses == MAX_PASSES || !end) return;
    if (sscanf(end, ": %llu ns", &steps) != 1) return;
    snprintf(name, sizeof name, "%.*s", (int)(end - m->text), m->text);
    find_pass(c, name)->steps += steps;
}

static bool load(spvf_context *context, cost *c, stage s, const void *bytes, size_t size,
                 spvf_module **m) {
    uint64_t start = count_steps;
    spvf_status status = spvf_module_load(context, "shape", bytes, size, NULL, m);
    c->steps[s] = count_steps - start;
    return status == SPVF_OK;
}

static bool emit(const spvf_module *m, cost *c, stage s, const char *target, spvf_blob *out) {
    uint64_t start = count_steps;
    spvf_status status = spvf_module_emit(m, target, out);
    c->steps[s] = count_steps - start;
    return status == SPVF_OK;
}

static bool optimize(spvf_module *m, cost *c) {
    spvf_pass_options o = {.size = sizeof o, .time = true};
    uint64_t start = count_steps;
    spvf_status status = spvf_module_optimize(m, &o);
    c->steps[PASSES] = count_steps - start;
    return status == SPVF_OK;
}

/* Functions are inlined by the passes, unless they are to stay: then code is made at once. */
static bool make_code(spvf_module *m, shape_way way, cost *c, spvf_blob *out) {
    if (way == CALLED) return emit(m, c, NATIVE, "x86_64:v3,time,calls", out);
    if (way == THREADS) return emit(m, c, NATIVE, "ptx:sm_90,disjoint,coarsen=4", out);
    const char *target = way == LANES ? "x86_64:v4,simd=16,time" : "x86_64:v3,time";
    return optimize(m, c) && emit(m, c, NATIVE, target, out);
}

static bool go(spvf_context *context, const shape *s, cost *c, const char *text, size_t size) {
    spvf_module *m = NULL, *again = NULL;
    spvf_blob spirv = {0}, object = {0};
    bool ok =
        load(context, c, READ_TEXT, text, size, &m) && emit(m, c, WRITE_SPIRV, "spirv", &spirv);
    spvf_module_destroy(m);
    ok = ok && load(context, c, READ_SPIRV, spirv.data, spirv.size, &again) &&
         make_code(again, s->way, c, &object);
    spvf_blob_destroy(&spirv);
    spvf_blob_destroy(&object);
    spvf_module_destroy(again);
    return ok;
}

/* The module is in a file, for the plan to find. */
static bool split_plan(const char *text, const char **plan) {
    const char *end = strstr(text, "---\n");
    FILE *f = end ? fopen("k.ir", "w") : NULL;
    if (!f) return false;
    *plan = end + 4;
    bool ok = fprintf(f, "target 64\n%.*s", (int)(end - text), text) > 0;
    return fclose(f) == 0 && ok;
}

static bool explain(spvf_plan *plan, cost *c) {
    spvf_explanation *e = NULL;
    uint64_t start = count_steps;
    spvf_status status = spvf_plan_explain(plan, 0, &e);
    spvf_explanation_destroy(e);
    c->steps[EXPLAIN] = count_steps - start;
    return status == SPVF_OK;
}

static bool fuse(spvf_plan *plan, cost *c, spvf_fusion **out) {
    uint64_t start = count_steps;
    spvf_status status = spvf_plan_fuse(plan, 0, out);
    c->steps[FUSE] = count_steps - start;
    return status == SPVF_OK;
}

static bool go_as_plan(spvf_context *context, cost *c, const char *text) {
    spvf_plan *plan = NULL;
    spvf_fusion *fusion = NULL;
    spvf_blob object = {0};
    const char *start_of_plan;
    if (!split_plan(text, &start_of_plan)) return false;
    uint64_t start = count_steps;
    spvf_status status =
        spvf_plan_load(context, "shape.plan", start_of_plan, strlen(start_of_plan), &plan);
    c->steps[READ_TEXT] = count_steps - start;
    bool ok = status == SPVF_OK && explain(plan, c) && fuse(plan, c, &fusion) &&
              emit(spvf_fusion_module(fusion), c, NATIVE, "x86_64:v3,time", &object);
    spvf_blob_destroy(&object);
    spvf_fusion_destroy(fusion);
    spvf_plan_destroy(plan);
    remove("k.ir");
    return ok;
}

static cost measure(const shape *s, uint32_t n) {
    char *text = NULL;
    size_t size = 0;
    cost c = {0};
    count_memory memory = {0};
    FILE *out = open_memstream(&text, &size);
    s->write(out, n);
    fclose(out);
    spvf_context *context = NULL;
    spvf_context_options o = {.size = sizeof o,
                              .allocate = count_allocate,
                              .release = count_release,
                              .alloc_user = &memory,
                              .message = take_message,
                              .message_user = &c};
    c.failed = spvf_context_create(&o, &context) != SPVF_OK ||
               !(s->way >= FUSED ? go_as_plan(context, &c, text) : go(context, s, &c, text, size));
    spvf_context_destroy(context);
    for (int k = 0; k < STAGES; k++) c.all += c.steps[k];
    c.memory = memory.most;
    free(text);
    return c;
}

/* ------------------------------------------------------------------------------------ exponents */

/* The largest so far, and where. */
typedef struct {
    double all, stage, memory;
    stage which;
} growth;

static double exponent(uint64_t before, uint64_t after) {
    return before && after ? log2((double)after / (double)before) : 0;
}

/* From one size to the next.  Memory comes in blocks, each larger than the one before, so its
 * exponent is that of two doublings: from `older`. */
static void look_at(growth *g, size_t older, const cost *a, const cost *b) {
    g->all = fmax(g->all, exponent(a->all, b->all));
    g->memory = fmax(g->memory, exponent(older, b->memory) / 2);
    for (int s = 0; s < STAGES; s++) {
        double e = exponent(a->steps[s], b->steps[s]);
        if (e <= g->stage || (double)b->steps[s] < least_share * (double)b->all) continue;
        g->stage = e;
        g->which = (stage)s;
    }
}

/* A line of the table; true: no exponent is too large. */
static bool report(const shape *s, const cost *c, const growth *g, uint32_t n) {
    double most_of_stage = s->way == STEPPED ? most_of_step : most;
    bool ok = !c->failed && g->all <= most && g->stage <= most_of_stage && g->memory <= most;
    printf("| %-15s | %-40s | %7u | %7.0f | %5.2f | %5.2f | %-14s | %7.1f | %5.2f |%s\n", s->name,
           s->what, n, (double)c->all / n, g->all, g->stage, stage_names[g->which],
           (double)c->memory / (1 << 20), g->memory,
           ok          ? ""
           : c->failed ? " refused"
                       : " TOO FAST");
    return ok;
}

static int compare_costs(const void *a, const void *b) {
    const pass_cost *x = a, *y = b;
    return x->steps < y->steps ? 1 : -(x->steps > y->steps);
}

static void report_passes(cost *c) {
    double all = (double)(c->steps[PASSES] + c->steps[NATIVE]);
    qsort(c->pass, c->npasses, sizeof *c->pass, compare_costs);
    for (unsigned k = 0; k < c->npasses && k < WORST; k++)
        printf("%s%s %.0f %%", k ? ", " : "|   ", c->pass[k].name,
               100 * (double)c->pass[k].steps / all);
    for (int s = 0; s < STAGES; s++)
        printf("%s %s %.0f %%", s ? "," : ";", stage_names[s],
               100 * (double)c->steps[s] / (double)c->all);
    putchar('\n');
}

static bool run(const shape *s, unsigned sizes, bool passes, const progress *shown) {
    cost before = {0}, now = {0};
    size_t older = 0;
    growth g = {0};
    uint32_t n = s->first;
    for (unsigned k = 0; k < sizes && !now.failed; k++) {
        n = s->first << k;
        older = before.memory;
        before = now;
        now = measure(s, n);
        look_at(&g, older, &before, &now);
    }
    progress_clear(shown);
    bool ok = report(s, &now, &g, n);
    if (passes) report_passes(&now);
    fflush(stdout);
    return ok;
}

static void enter_folder(char *name) {
    if (!mkdtemp(name) || chdir(name) != 0) perror(name);
}

static void leave_folder(const char *name) {
    if (chdir("/") == 0) rmdir(name);
}

static bool is_shape(const char *name) {
    unsigned s = 0;
    while (s < shape_count && strcmp(shapes[s].name, name) != 0) s++;
    return s < shape_count;
}

static int refuse(const char *argument) {
    fprintf(stderr, "scaling: there is no shape or option '%s'\n", argument);
    return 2;
}

int main(int argc, char **argv) {
    char folder[] = "/tmp/scaling-XXXXXX";
    unsigned sizes = SHORT, passed = 0, failed = 0;
    bool passes = false, chosen = false;
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--long") == 0)
            sizes = LONG;
        else if (strcmp(argv[k], "--passes") == 0)
            passes = true;
        else if (is_shape(argv[k]))
            chosen = true;
        else
            return refuse(argv[k]);
    }
    enter_folder(folder);
    puts("| shape           | what is doubled                          |       n | steps/n | steps "
         "| stage | which          |     MiB | bytes |");
    progress shown = progress_begin("shapes", chosen ? (size_t)argc - 1 : shape_count);
    for (unsigned s = 0; s < shape_count; s++) {
        bool wanted = !chosen;
        for (int k = 1; k < argc; k++) wanted |= strcmp(argv[k], shapes[s].name) == 0;
        if (!wanted) continue;
        if (run(&shapes[s], sizes, passes, &shown))
            passed++;
        else
            failed++;
        progress_step(&shown);
    }
    progress_end(&shown);
    leave_folder(folder);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
