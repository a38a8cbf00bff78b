/* same_results.h — functions with random loops compute the same after passes as before.
 *
 * A test writes the text of a module with a function @f from a seed, and gives arguments for calls.
 */
#ifndef SPVFUSE_TESTS_VECTORIZE_SAME_RESULTS_H
#define SPVFUSE_TESTS_VECTORIZE_SAME_RESULTS_H

#include "ir/interp.h"
#include "passes/passes.h"
#include "tests/random.h"
#include "tests/report.h"

#include <criterion/criterion.h>

enum { LOOPS_CALLS = 8, LOOPS_ARGS = 4 };

typedef struct {
    void (*write)(ir_text *out, uint64_t seed);
    void (*draw_arguments)(uint64_t *state, ir_value args[LOOPS_ARGS]);
    uint32_t hint;     /* of the loops to count */
    ir_counts *counts; /* of what passes do, or NULL */
} random_loops;

typedef struct {
    const random_loops *what;
    uint64_t seed;
    ir_ctx cx;
    ir_arena arena;
    ir_module *m;
} loops_case;

static void loops_read(void *user) {
    loops_case *c = user;
    ir_text text = {.arena = &c->arena};
    c->what->write(&text, c->seed);
    c->m = ir_parse(&c->cx, "random", text.data, text.n);
}

static void loops_call(const loops_case *c, uint64_t result[LOOPS_CALLS]) {
    uint64_t state = c->seed * 5 + 3;
    for (unsigned k = 0; k < LOOPS_CALLS; k++) {
        ir_value args[LOOPS_ARGS] = {0}, value = {0};
        c->what->draw_arguments(&state, args);
        cr_assert(ir_interp_call(ir_func_find(c->m, "f"), args, &value), "seed %llu",
                  (unsigned long long)c->seed);
        result[k] = value.bits[0];
    }
}

/* Runs passes with so many lanes.  Returns how many loops have the hint then. */
static unsigned loops_after(const random_loops *what, const char *list, uint64_t seed,
                            unsigned lanes) {
    loops_case c = {
        .what = what, .seed = seed, .cx.report = print_message, .cx.counts = what->counts};
    const pass_options options = {
        .passes = list, .verify_each = true, .bisect = -1, .lanes = lanes};
    uint64_t before[LOOPS_CALLS], after[LOOPS_CALLS];
    ir_arena_init(&c.arena, &c.cx);
    cr_assert(ir_try(&c.cx, loops_read, &c) && c.m, "seed %llu is read", (unsigned long long)seed);
    loops_call(&c, before);
    cr_assert(pass_run(c.m, &options), "seed %llu passes", (unsigned long long)seed);
    loops_call(&c, after);
    for (unsigned k = 0; k < LOOPS_CALLS; k++)
        cr_assert_eq(before[k], after[k], "%s, call %u of seed %llu", list, k,
                     (unsigned long long)seed);
    unsigned loops = 0;
    foreach_block (b, ir_func_find(c.m, "f")) loops += (b->loop_hint & what->hint) != 0;
    ir_module_free(c.m);
    ir_arena_free(&c.arena);
    return loops;
}

#endif
