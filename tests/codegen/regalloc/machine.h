/* machine.h — a random function of the target of shapes, allocated and run.
 *
 *   machine w;
 *   machine_begin(&w, seed, options);     a function, what it does, its allocation
 *   machine_same(&w)                      does it still do that?
 *   machine_end(&w);
 */
#ifndef SPVFUSE_TESTS_MACHINE_H
#define SPVFUSE_TESTS_MACHINE_H

#include "tests/codegen/regalloc/random_mach.h"
#include "tests/codegen/regalloc/run_mach.h"

#include <criterion/criterion.h>

enum { MACHINE_RUNS = 3 };

typedef struct {
    ir_ctx cx;
    cg_target target;
    uint64_t seed;
    cg_regalloc_options options;
    ir_module *m;
    ir_func *f;
    const cg_snapshot *before;
    cg_allocation a;
    uint64_t want[MACHINE_RUNS];
    uint32_t old_blocks;
    bool ok;
    char message[600]; /* the first error */
} machine;

static inline void machine_report(void *user, const ir_message *m) {
    machine *w = user;
    if (!w->message[0]) snprintf(w->message, sizeof w->message, "%s", m->text);
}

static inline void machine_make(void *user) {
    machine *w = user;
    mach_source src = {.state = w->seed};
    w->m = ir_module_new(&w->cx, "random", 64);
    w->f = random_mach(w->m, &src);
    cr_assert(ir_verify_func(w->f), "seed %lu: %s", w->seed, w->message);
    w->old_blocks = w->f->next_block;
    for (unsigned k = 0; k < MACHINE_RUNS; k++)
        w->want[k] = run_func(&w->m->arena, w->f, NULL, w->old_blocks, k);
    w->before = cg_take_snapshot(&shapes_target, w->f, &w->m->arena);
    w->ok = cg_allocate(&w->target, w->f, &w->options, &w->m->arena, &w->a);
}

static inline void machine_show(const machine *w) {
    ir_text t = {.arena = &w->m->arena};
    cg_print_machine(&t, &shapes_target, w->f, &w->a);
    fputs(t.data, stderr);
}

static inline void machine_allocate(machine *w, const cg_target *t, uint64_t seed,
                                    cg_regalloc_options options) {
    *w = (machine){.target = *t, .seed = seed, .options = options};
    w->cx = (ir_ctx){.report = machine_report, .report_user = w};
    cr_assert(ir_try(&w->cx, machine_make, w), "seed %lu: %s", seed, w->message);
}

static inline void machine_begin(machine *w, uint64_t seed, cg_regalloc_options options) {
    machine_allocate(w, &shapes_target, seed, options);
    if (!w->ok) machine_show(w);
    cr_assert(w->ok, "seed %lu: %s", seed, w->message);
    cr_assert(ir_verify_func(w->f), "seed %lu: %s", seed, w->message);
}

static inline bool machine_same(machine *w) {
    bool same = true;
    for (unsigned k = 0; k < MACHINE_RUNS; k++)
        same &= run_func(&w->m->arena, w->f, &w->a, w->old_blocks, k) == w->want[k];
    return same;
}

static inline void machine_end(machine *w) {
    ir_module_free(w->m);
    cr_assert_eq(w->cx.used, 0);
}

#endif
