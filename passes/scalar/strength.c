/* strength.c — strength reduction: products of loop counters become sums.
 *
 * The product k * n of a counter k and a loop-invariant n becomes an induction variable of its own,
 * which begins with init * n and grows by step * n.
 *
 * A product takes several times as long as a sum, and it keeps the counter alive.  A product with a
 * constant remains: addresses have factors, and shifts are as fast as sums.  Each new variable is
 * live in the whole loop, so their number is limited, and only innermost loops get them.
 */
#include "passes/analysis/analysis.h"

enum { MOST = 4 }; /* products of a loop */

typedef struct {
    ir_func *f;
    const ir_loops *loops;
    ir_builder b;
    bool changed;
} reducer;

/* What does not change in the loop and is multiplied with the counter by i; NULL: it is no such
 * product. */
static ir_inst *find_factor(const reducer *r, const pass_counter *c, const ir_inst *phi,
                            const ir_inst *i) {
    if (i->op != IR_OP_mul || !ir_in_loop(r->loops, i->block, c->loop)) return NULL;
    ir_inst *factor = ir_arg(i, ir_arg(i, 0) == phi);
    if (factor == phi || ir_is_const(factor)) return NULL;
    bool changes = factor->block && ir_in_loop(r->loops, factor->block, c->loop);
    return changes ? NULL : factor;
}

static void reduce(reducer *r, const pass_counter *c, ir_inst *product, ir_inst *factor) {
    ir_block *h = c->loop->header;
    ir_type t = product->type;
    bool back = h->pred[1] == c->latch;
    ir_before(&r->b, h->pred[!back]->last);
    ir_inst *init = ir_build2(&r->b, IR_OP_mul, t, c->init, factor);
    ir_inst *by = ir_build2(&r->b, IR_OP_mul, t, factor, ir_const(r->f, t, (uint64_t)c->step));
    ir_inst *sum = ir_inst_new(r->f, IR_OP_phi, t, 2);
    ir_insert(sum, h, h->first);
    ir_before(&r->b, c->next);
    ir_set_arg(sum, !back, init);
    ir_set_arg(sum, back, ir_build2(&r->b, IR_OP_add, t, sum, by));
    ir_replace_uses(product, sum);
    ir_count(product->block->func->module->cx, strength_products, 1);
    ir_remove(product);
    r->changed = true;
}

static void reduce_products(reducer *r, const pass_counter *c, ir_inst *phi) {
    unsigned n = 0;
    foreach_use (u, phi) {
        ir_inst *product = u->user, *factor = find_factor(r, c, phi, product);
        if (factor && n++ < MOST) reduce(r, c, product, factor);
    }
}

/* Does:  replaces products of the counters of innermost loops and what does not change by sums.
 * Needs: counters as phis (mem2reg); what does not change in a loop in front of it (licm).
 * Leaves: counters that only feed themselves, for dce; first values that are products in front of
 *        the loop.
 * Gives up: on constant factors; on loops that several edges enter or that have several back edges;
 *        on more than four products of a counter. */
bool pass_strength(ir_func *f, pass_ctx *cx) {
    (void)cx;
    reducer r = {.f = f, .loops = ir_loop_tree(f)};
    pass_counter c;
    ir_builder_init(&r.b, f);
    foreach_block (b, f)
        foreach_phi (phi, b)
            if (pass_find_counter(r.loops, phi, &c) && !c.loop->child) reduce_products(&r, &c, phi);
    return r.changed;
}
