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
static void begin_iterations(ir_func *f, ir_ssa *ssa, const simd_hole *h, ir_type t) {
    ir_inst *none = h->is_mask ? ir_const(f, t, 0) : ir_undef(f, t);
    const ir_loops *loops = ir_loop_tree(f);
    if (h->is_mask) ir_ssa_def(ssa, h->preheader, none);
    for (const ir_loop *l = loops->of[h->at->id]; l; l = l->parent)
        if (l->header->id >= h->first) ir_ssa_def(ssa, l->header, none);
}

static bool is_same(const simd_hole *a, const simd_hole *b) {
    return b->user && a->at == b->at && a->is_mask == b->is_mask &&
           ir_arg(a->user, a->arg) == ir_arg(b->user, b->arg);
}

/* Repairs the first of the holes, and those like it. */
static void repair(ir_func *f, ir_arena *memory, ir_ssa *ssa, simd_hole *holes, uint32_t n) {
    const simd_hole first = holes[0];
    ir_inst *v = ir_arg(first.user, first.arg);
    ir_ssa_begin(ssa, f, memory, v->type);
    begin_iterations(f, ssa, &first, v->type);
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
        ir_set_arg(h->user, h->arg, ir_settle(f, (ir_op)h->user->op, h->arg, found));
        h->user = NULL;
    }
    ir_ssa_finish(ssa);
}

/* Those of one loop follow each other. */
static uint32_t count_of_loop(const simd_hole *holes, uint32_t n) {
    uint32_t k = 1;
    while (k < n && holes[k].first == holes[0].first) k++;
    return k;
}

/* A value of another loop may have become what that value is after the loop (combine.c). */
static bool is_settled(const ir_dom *dom, simd_hole *h) {
    if (!h->is_mask) h->at = ir_arg(h->user, h->arg)->block;
    return !h->at || is_dominated(dom, h);
}

void simd_repair(ir_func *f, const simd_code *code) {
    const ir_dom *dom = ir_dominators(f);
    simd_hole *holes = code->holes.data;
    ir_ssa ssa = {0};
    for (uint32_t k = 0; k < code->holes.n; k++)
        if (is_settled(dom, &holes[k])) holes[k].user = NULL;
    for (uint32_t k = 0, n; k < code->holes.n; k += n) {
        n = count_of_loop(holes + k, code->holes.n - k);
        for (uint32_t m = k; m < k + n; m++)
            if (holes[m].user) repair(f, code->memory, &ssa, holes + m, k + n - m);
    }
}
