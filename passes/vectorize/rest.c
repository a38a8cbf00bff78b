/* rest.c — the items that are left after the vector loop, as one more iteration under a mask.
 *
 *   entry -> setup -> vector loop -> are there more? -> iteration under a mask -> after the loop
 *              |                           |               ^                          ^
 *              |                           +---------------|--------------------------+
 *              +-------------------------------------------+
 *
 * The body is copied once more; its first mask has the lanes for which there are items.  At least
 * one lane is active, so what is the same for all items needs no mask.  The scalar loop is removed.
 *
 * This is done where the target has masks, if the number of items is known or the body is small,
 * but not after loops of so many iterations that the rest does not matter.  Loops with values that
 * go from one item to the next, or on to what follows, keep the scalar loop for the rest.  A part
 * of a loop (parts.c) with such an iteration leaves no items.
 */
#include "passes/vectorize/simd.h"

enum { SMALL = 60 /* operations */, LONG = 16 /* iterations */ };

static unsigned size_of(const simd *s) {
    unsigned size = 0;
    for (uint32_t k = 0; k < s->scalar.loop->nblocks; k++)
        foreach_inst (i, s->scalar.loop->block[k])
            size += (ir_has_flag(i, F_NOFOLD) ? SMALL : 1) + simd_shuffles_of(s, i);
    return size;
}

/* Has the vector loop many iterations at least where all items are there, so that the rest is a
 * small part of the time? */
static bool is_long(const simd *s) {
    const ir_inst *end = s->scalar.end, *most = end->op == IR_OP_umin ? ir_arg(end, 1) : end;
    return ir_is_const(most) && most->imm.bits / s->lanes >= LONG;
}

bool simd_may_have_rest(const simd *s) {
    bool masks = s->cx->target && s->cx->target->has_masks;
    return masks && !s->carried.n && !s->after.n;
}

bool simd_has_rest(const simd *s) {
    if (!simd_may_have_rest(s)) return false;
    uint64_t items = simd_known_items(s);
    return items ? items % s->lanes != 0 : !is_long(s) && size_of(s) <= SMALL;
}

/* The copies of the vector loop are forgotten. */
static void begin_again(simd *s) {
    foreach_in (uint32_t, id, s->touched) {
        simd_value *v = &s->value[*id];
        *v = (simd_value){.shape = v->shape, .stride = v->stride, .array = v->array};
    }
    for (uint32_t k = 0; k < s->n; k++) {
        simd_node *n = &s->node[k];
        n->mask = NULL;
        n->edge[0] = n->edge[1] = (simd_lanes){0};
    }
    s->phis.n = 0;
    s->is_rest = true;
    simd_find_groups(s);
}

/* Leads an edge to the scalar loop into the block before the iteration instead. */
static void lead_here(simd *s, ir_block *from) {
    ir_redirect_edge(from, from->succ[0] == s->scalar.loop->header ? 0 : 1, s->preheader);
}

/* The number of the first item, which is known if the number of items is. */
static ir_inst *find_first(simd *s, const simd_frame *fr) {
    uint64_t items = simd_known_items(s);
    if (items >= s->lanes) {
        lead_here(s, fr->rest);
        return fr->end;
    }
    if (items) {
        lead_here(s, fr->skip);
        return fr->start;
    }
    ir_inst *first = ir_build_phi(s->preheader, s->scalar.counter->type);
    lead_here(s, fr->rest);
    lead_here(s, fr->skip);
    return ir_append_arg(ir_append_arg(first, fr->end), fr->start);
}

/* Which lanes there are items for, from the number of the first one on. */
static void build_mask(simd *s, ir_inst *first) {
    ir_at_end(&s->b, s->preheader);
    ir_inst *left = ir_build2(&s->b, IR_OP_sub, first->type, s->scalar.end, first);
    ir_type t = ir_scalar(IR_I32);
    left = ir_build1(&s->b, IR_OP_trunc, t, left);
    ir_inst *lanes = simd_ramp(s, ir_const(s->f, t, 0), 1);
    s->node[0].mask = ir_build2(&s->b, IR_OP_ult, simd_mask_type(s), lanes, simd_splat(s, left));
    s->last = ir_build2(&s->b, IR_OP_sub, t, left, ir_const(s->f, t, 1));
}

void simd_build_rest(simd *s, const simd_frame *fr) {
    const simd_loop *l = &s->scalar;
    uint32_t latch = ir_pred_index(l->exit, l->latch);
    begin_again(s);
    s->preheader = ir_block_new(s->f, NULL);
    s->preheader->mark = SIMD_NONE;
    ir_inst *first = find_first(s, fr);
    build_mask(s, first);
    simd_make_nodes(s);
    ir_build_jmp(&s->b, s->node[0].head);
    s->value[l->counter->id].base = first;
    simd_fill_nodes(s);
    ir_build_jmp(&s->b, l->exit);
    foreach_phi (phi, l->exit) ir_append_arg(phi, ir_arg(phi, latch));
}
