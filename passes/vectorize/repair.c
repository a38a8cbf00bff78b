/* repair.c — uses that their definition does not dominate any more.
 *
 * Where branches are folded and nodes skipped, an edge or an argument of a phi is defined on some
 * paths only.  On the others a mask is false, and a value is any, since no lane selects it: that is
 * so at the beginning of each iteration of the loops that the definition is in.
 */
#include "passes/vectorize/simd.h"

static ir_block *place_of(const simd_hole *h) {
    return h->user->op == IR_OP_phi ? h->user->block->pred[h->arg] : h->user->block;
}

static bool is_dominated(const ir_dom *dom, const simd_hole *h) {
    const ir_inst *v = ir_arg(h->user, h->arg);
    bool is_phi = h->user->op == IR_OP_phi;
    if (h->at == h->user->block && !is_phi)
        return v->block == h->at && ir_value_dominates(dom, v, h->user);
    return ir_block_dominates(dom, h->at, place_of(h));
}

/* At the beginning of an iteration of a loop, no lane has taken an edge, and a value is any: that
 * of the iteration before would have to be kept for nothing. */
static void begin_iterations(simd *s, ir_ssa *ssa, const simd_hole *h, ir_type t) {
    ir_inst *none = h->is_mask ? ir_const(s->f, simd_mask_type(s), 0) : ir_undef(s->f, t);
    const ir_loops *loops = ir_loop_tree(s->f);
    if (h->is_mask) ir_ssa_def(ssa, h->preheader, none);
    for (const ir_loop *l = loops->of[h->at->id]; l; l = l->parent)
        if (l->header->mark != SIMD_NONE) ir_ssa_def(ssa, l->header, none);
}

static bool is_same(const simd_hole *a, const simd_hole *b) {
    return b->user && a->at == b->at && a->is_mask == b->is_mask &&
           ir_arg(a->user, a->arg) == ir_arg(b->user, b->arg);
}

/* Repairs the first of the holes, and those like it. */
static void repair(simd *s, ir_ssa *ssa, simd_hole *holes, uint32_t n) {
    const simd_hole first = holes[0];
    ir_inst *v = ir_arg(first.user, first.arg);
    ir_ssa_begin(ssa, s->f, s->scratch, v->type);
    begin_iterations(s, ssa, &first, v->type);
    ir_ssa_def(ssa, first.at, v);
    for (uint32_t k = 0; k < n; k++)
        if (is_same(&first, &holes[k])) ir_ssa_announce(ssa, place_of(&holes[k]));
    ir_ssa_place(ssa, ssa->live);
    for (uint32_t k = n; k-- > 0;) {
        simd_hole *h = &holes[k];
        if (!is_same(&first, h)) continue;
        bool at_end = h->user->op == IR_OP_phi;
        ir_inst *found =
            at_end ? ir_ssa_at_end(ssa, place_of(h)) : ir_ssa_at_head(ssa, place_of(h));
        ir_set_arg(h->user, h->arg, ir_settle(s->f, (ir_op)h->user->op, h->arg, found));
        h->user = NULL;
    }
    ir_ssa_finish(ssa);
}

void simd_repair(simd *s) {
    const ir_dom *dom = ir_dominators(s->f);
    ir_ssa ssa = {0};
    foreach_in (simd_hole, h, s->holes)
        if (is_dominated(dom, h)) h->user = NULL;
    for (uint32_t k = 0; k < s->holes.n; k++)
        if (s->holes.data[k].user) repair(s, &ssa, s->holes.data + k, s->holes.n - k);
}
