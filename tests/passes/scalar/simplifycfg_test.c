/* simplifycfg_test.c — a large function is simplified as a small one is. */
#include "passes/passes.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { MANY = 2500 };

typedef struct {
    ir_ctx cx;
    ir_arena arena;
    ir_module *m;
} fixture;

/* The branch of "both" depends on the value from "rhs"; its phi is also read after it. */
static void put_round(ir_text *t, unsigned n) {
    ir_putf(t, "m%u:\n  %%a%u: i1 = load %%b align 1 volatile\n  br %%a%u, rhs%u, both%u\n", n, n,
            n, n, n);
    ir_putf(t, "rhs%u:\n  %%v%u: i1 = load %%b align 1\n  jmp both%u\n", n, n, n);
    ir_putf(t, "both%u:\n  %%c%u: i1 = phi [m%u: false, rhs%u: %%v%u]\n", n, n, n, n, n);
    ir_putf(t, "  br %%c%u, then%u, m%u\n", n, n, n + 1);
    ir_putf(t, "then%u:\n  store %%c%u, %%p align 1\n  jmp m%u\n", n, n, n + 1);
}

static void make(void *arg) {
    fixture *x = arg;
    ir_text t = {.arena = &x->arena};
    ir_put(&t, "func @many(%b: ptr.private, %p: ptr.private) export {\nentry:\n  jmp m0\n");
    for (unsigned n = 0; n < MANY; n++) put_round(&t, n);
    ir_putf(&t, "m%u:\n  ret\n}\n", MANY);
    x->m = ir_parse(&x->cx, "many.ir", t.data, t.n);
}

static unsigned count_phis(const ir_module *m) {
    unsigned phis = 0;
    foreach_func (f, m)
        foreach_block (b, f)
            foreach_phi (phi, b) phis++;
    return phis;
}

Test(simplifycfg, many_blocks_are_bypassed) {
    fixture x = {.m = NULL};
    pass_options o = {.passes = "simplifycfg", .verify_each = true, .bisect = -1};
    ir_arena_init(&x.arena, &x.cx);
    cr_assert(ir_try(&x.cx, make, &x) && x.m);
    cr_expect(count_phis(x.m) == MANY);
    cr_assert(pass_run(x.m, &o));
    cr_expect(count_phis(x.m) == 0, "%u", count_phis(x.m));
    ir_module_free(x.m);
    ir_arena_free(&x.arena);
}
