/* stores.c — where a value is stored that has to be in its slot.
 *
 * After its definition it always may be.  If all of its reloads are in a part of the code that is
 * not always run, such as a rare case within a loop, it is enough to store it where that part
 * begins: in the nearest block that dominates all reloads.  There the value must be in a register
 * still, and the block must not be in a loop that the definition is not in, where it might run more
 * often.
 *
 * A value that shares its slot with a phi in memory is stored after its definition, since the phi
 * reads it at the end of an edge.
 */
#include "codegen/regalloc/spill.h"

enum { MOST_STEPS = 64 }; /* up the tree of dominators, for one value: so that time is linear */

spill_stores spill_find_stores(ra_state *s, const ra_graph *g, const spill_classes *c,
                               const spill_plan *plan) {
    spill_stores x = {.graph = g, .dom = ir_dominators(s->f), .plan = plan};
    x.first = ir_new_array(&s->scratch, uint32_t, c->nvalues);
    x.next = ir_new_array(&s->scratch, uint32_t, plan->reloads.n);
    x.with_phi = ir_new_array(&s->scratch, bool, c->nvalues);
    for (uint32_t k = plan->reloads.n; k > 0; k--) {
        uint32_t *first = &x.first[plan->reloads.data[k - 1].v->id];
        x.next[k - 1] = *first;
        *first = k;
    }
    for (uint32_t n = 0; n < g->order->n; n++)
        foreach_phi (phi, g->order->rpo[n])
            if (plan->in_memory[phi->id]) x.with_phi[spill_root(c, phi)] = true;
    return x;
}

/* The nearest block that dominates both; NULL: it is too far up. */
static ir_block *find_common(const spill_stores *x, ir_block *a, ir_block *b, unsigned *steps) {
    const uint32_t *index = x->graph->order->index;
    while (a != b) {
        if (++*steps > MOST_STEPS) return NULL;
        if (index[a->id] > index[b->id])
            a = x->dom->idom[a->id];
        else
            b = x->dom->idom[b->id];
    }
    return a;
}

/* Is b in no loop that the definition is not in? */
static bool runs_no_more_often(const spill_stores *x, const ir_block *b,
                               const ir_block *definition) {
    const ir_loop *l = x->graph->loops->of[b->id];
    return !l || ir_in_loop(x->graph->loops, definition, l);
}

ra_point spill_find_store(const spill_stores *x, const spill_classes *c, const ir_inst *v) {
    ir_block *b = NULL;
    unsigned steps = 0;
    bool shared = x->with_phi[spill_root(c, v)];
    for (uint32_t k = shared ? 0 : x->first[v->id]; k; k = x->next[k - 1]) {
        ir_inst *reload = x->plan->reloads.data[k - 1].inst;
        if (!reload->block) continue;
        b = b ? find_common(x, b, reload->block, &steps) : reload->block;
        if (!b) break;
    }
    while (b && b != v->block && !runs_no_more_often(x, b, v->block))
        b = ++steps > MOST_STEPS ? NULL : x->dom->idom[b->id];
    if (!b || b == v->block || !spill_contains(&x->plan->entry[b->id], v))
        return ra_after_definition(v);
    return ra_before(ir_first_non_phi(b));
}
