/* regalloc_test.c — register allocation on random functions of the target of shapes, and on large
 * ones: the result is proved, and does what the function did before.
 */
#include "tests/codegen/regalloc/large_mach.h"
#include "tests/codegen/regalloc/machine.h"
#include "tests/random.h"

static void try_seed(uint64_t seed, cg_regalloc_options options) {
    machine w;
    machine_begin(&w, seed, options);
    bool same = machine_same(&w);
    if (!same) machine_show(&w);
    cr_assert(same, "seed %lu", seed);
    machine_end(&w);
}

Test(regalloc, stack) {
    for (uint64_t seed = 0; seed < RANDOM_CASES(500); seed++)
        try_seed(seed, (cg_regalloc_options){.how = CG_REGALLOC_STACK, .check = true});
}

Test(regalloc, stack_at_random) {
    for (uint64_t seed = 0; seed < RANDOM_CASES(500); seed++)
        try_seed(seed, (cg_regalloc_options){CG_REGALLOC_STACK, seed + 1, true});
}

Test(regalloc, fast) {
    for (uint64_t seed = 0; seed < RANDOM_CASES(2000); seed++)
        try_seed(seed, (cg_regalloc_options){.check = true});
}

Test(regalloc, fast_at_random) {
    for (uint64_t seed = 0; seed < RANDOM_CASES(2000); seed++)
        try_seed(seed, (cg_regalloc_options){.seed = seed + 1, .check = true});
}

/* -------------------------------------------------------------------------------- few registers */

static bool needs_five(const ir_inst *i) {
    return i->op == IR_OP_mach && shape_row_of(i) == SHAPE_SUM;
}

static bool has_large_need(const machine *w) {
    bool large = false;
    foreach_block (b, w->f)
        foreach_inst (i, b) large |= needs_five(i);
    return large;
}

/* With fewer registers than some instruction asks for there is an error, and that is the only
 * one. */
static void try_tight(uint64_t seed, cg_regalloc_options options) {
    machine w;
    cg_target t = shapes_target;
    t.class[SHAPE_R].usable = seed % 2 ? 15 : 7;
    t.class[SHAPE_V].usable = 7;
    if (seed % 3 == 0) t.fold_reload = NULL;
    machine_allocate(&w, &t, seed, options);
    if (w.ok && !machine_same(&w)) machine_show(&w);
    cr_assert(w.ok ? machine_same(&w) : has_large_need(&w), "seed %lu: %s", seed, w.message);
    machine_end(&w);
}

Test(regalloc, tight) {
    for (uint64_t seed = 0; seed < RANDOM_CASES(1500); seed++) {
        try_tight(seed, (cg_regalloc_options){.check = true});
        try_tight(seed, (cg_regalloc_options){.seed = seed + 1, .check = true});
        try_tight(seed, (cg_regalloc_options){.how = CG_REGALLOC_STACK, .check = true});
    }
}

/* ---------------------------------------------------------------------------------------- large */

typedef struct {
    ir_ctx cx;
    unsigned shape, reach;
    bool ok;
} large_work;

static void allocate_large(void *user) {
    large_work *w = user;
    cg_allocation a;
    ir_module *m = ir_module_new(&w->cx, "large", 64);
    ir_func *f = large_mach(m, w->shape, 20000, w->reach);
    w->ok = ir_verify_func(f) &&
            cg_allocate(&shapes_target, f, &(cg_regalloc_options){.check = true}, &m->arena, &a) &&
            ir_verify_func(f);
    ir_module_free(m);
}

Test(regalloc, large) {
    for (unsigned shape = 0; shape < LARGE_SHAPES; shape++)
        for (unsigned reach = 2; reach < 20; reach += 8) {
            large_work w = {.shape = shape, .reach = reach};
            cr_assert(ir_try(&w.cx, allocate_large, &w) && w.ok, "shape %u", shape);
        }
}

/* ------------------------------------------------------------------------------- without memory */

static void allocate_small(void *user) {
    machine *w = user;
    mach_source src = {.state = w->seed};
    w->m = ir_module_new(&w->cx, "random", 64);
    w->f = random_mach(w->m, &src);
    w->ok = cg_allocate(&shapes_target, w->f, &w->options, &w->m->arena, &w->a);
}

/* Every allocation of memory fails in turn: an error, and nothing leaks. */
Test(regalloc, no_memory) {
    bool ok = false;
    for (size_t limit = 4096; !ok; limit += 4096) {
        machine w = {.seed = 18, .options = {.check = true}, .cx = {.limit = limit}};
        ok = ir_try(&w.cx, allocate_small, &w) && w.ok;
        cr_assert(ok || w.cx.status == IR_ERR_MEMORY);
        ir_module_free(w.m);
        cr_assert_eq(w.cx.used, 0);
    }
}
