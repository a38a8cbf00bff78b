/* regalloc_test.c — register allocation on random functions of the template target: the result is
 * proved, and does what the function did before.
 */
#include "tests/codegen/native/random_mach.h"
#include "tests/codegen/native/run_mach.h"

#include <criterion/criterion.h>

enum { RUNS = 3 };

typedef struct {
    ir_ctx cx;
    uint64_t seed;
    cg_regalloc_options options;
    ir_module *m;
    ir_func *f;
    cg_allocation a;
    uint64_t want[RUNS];
    uint32_t old_blocks;
    bool ok;
    char message[600];
} work;

static void report(void *user, const ir_message *m) {
    work *w = user;
    if (!w->message[0]) snprintf(w->message, sizeof w->message, "%s", m->text);
}

static void allocate(void *user) {
    work *w = user;
    w->m = ir_module_new(&w->cx, "random", 64);
    mach_source src = {.state = w->seed};
    w->f = random_mach(w->m, &src);
    cr_assert(ir_verify_func(w->f), "seed %lu: %s", w->seed, w->message);
    w->old_blocks = w->f->next_block;
    for (unsigned k = 0; k < RUNS; k++)
        w->want[k] = run_func(&w->m->arena, w->f, NULL, w->old_blocks, k);
    w->ok = cg_allocate(&template_target, w->f, &w->options, &w->m->arena, &w->a);
}

static void show(const work *w) {
    ir_text t = {.arena = &w->m->arena};
    cg_print_allocation(&t, &template_target, w->f, &w->a);
    fputs(t.data, stderr);
}

static void expect_same(work *w) {
    for (unsigned k = 0; k < RUNS; k++) {
        uint64_t got = run_func(&w->m->arena, w->f, &w->a, w->old_blocks, k);
        if (got != w->want[k]) show(w);
        cr_assert_eq(got, w->want[k], "seed %lu, run %u", w->seed, k);
    }
}

static void try_seed(uint64_t seed, cg_regalloc_options options) {
    work w = {.seed = seed, .options = options};
    w.cx = (ir_ctx){.report = report, .report_user = &w};
    cr_assert(ir_try(&w.cx, allocate, &w), "seed %lu: %s", seed, w.message);
    if (!w.ok) show(&w);
    cr_assert(w.ok, "seed %lu: %s", seed, w.message);
    cr_assert(ir_verify_func(w.f), "seed %lu: %s", seed, w.message);
    expect_same(&w);
    ir_module_free(w.m);
    cr_assert_eq(w.cx.used, 0);
}

Test(regalloc, stack) {
    for (uint64_t seed = 0; seed < 1000; seed++)
        try_seed(seed, (cg_regalloc_options){.how = CG_REGALLOC_STACK, .check = true});
}

Test(regalloc, stack_at_random) {
    for (uint64_t seed = 0; seed < 1000; seed++)
        try_seed(seed, (cg_regalloc_options){CG_REGALLOC_STACK, seed + 1, true});
}

Test(regalloc, fast) {
    for (uint64_t seed = 0; seed < 3000; seed++)
        try_seed(seed, (cg_regalloc_options){.check = true});
}

Test(regalloc, fast_at_random) {
    for (uint64_t seed = 0; seed < 3000; seed++)
        try_seed(seed, (cg_regalloc_options){.seed = seed + 1, .check = true});
}
