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
 * but not where a rest is so rare that its time does not matter.  It is not rare if the loop is
 * one along a row: the last group of each row of an image leaves items in all its rows if the
 * width is no multiple of the lanes, and one at a time they would cost as much as all others.
 * With several rows at once (rows.c), they would also have lost what rows share.  A single
 * row with loops inside keeps to the size of other bodies: its code is large.  Innermost loops
 * may have been entered without an iteration, so their number must be known.  Loops with
 * values that go from one item to the next, or on to what follows, keep the scalar loop for the
 * rest, and so do loops with strips (strips.c), as each row of a tile would have a mask of its own.
 * A part of a loop (parts.c) with such an iteration leaves no items.
 *
 * Where loops are inside, or the loop has one iteration at most, all iterations are under a mask
 * instead, which costs little, and the body is not copied.
 */
#include "passes/vectorize/groups.h"

enum {
    SMALL = 60, /* operations of a body */
    ROWS = 200, /* of one along a row */
    TINY = 32,  /* of its iteration */
    LONG = 16,  /* iterations */
    MOST_ITEMS = 1 << 16,
    MAX_DEPTH = 8
};

static unsigned size_of(const simd *s) {
    unsigned size = 0;
    for (uint32_t k = 0; k < s->scalar.loop->nblocks; k++)
        foreach_inst (i, s->scalar.loop->block[k])
            size += (ir_has_flag(i, F_NOFOLD) ? SMALL : 1) + simd_shuffles_of(s, i);
    return size;
}

/* Is v a number that is the same for all groups but the last ones, where the range ends? */
static bool is_cut_off(const ir_inst *v, unsigned depth) {
    if (depth == MAX_DEPTH) return false;
    switch (v->op) {
    case IR_OP_const:
    case IR_OP_usubsat: return true;
    case IR_OP_zext: return is_cut_off(ir_arg(v, 0), depth + 1);
    case IR_OP_add:
    case IR_OP_lshr:
    case IR_OP_udiv: return ir_is_const(ir_arg(v, 1)) && is_cut_off(ir_arg(v, 0), depth + 1);
    case IR_OP_umin:
        return is_cut_off(ir_arg(v, 0), depth + 1) && is_cut_off(ir_arg(v, 1), depth + 1);
    case IR_OP_select:
        return is_cut_off(ir_arg(v, 1), depth + 1) && is_cut_off(ir_arg(v, 2), depth + 1);
    default: return false;
    }
}

/* Is the rest a small part of the time?  So it is if the loop has many iterations where all items
 * are there, or if these leave none: then only the last groups have a rest. */
static bool is_rare(const simd *s, unsigned size) {
    uint64_t most = simd_most_items(s);
    if (most > MOST_ITEMS) return false;
    if (most / s->lanes >= LONG) return true;
    const ir_inst *start = ir_arg(s->scalar.counter, s->scalar.entry);
    unsigned registers =
        (s->lanes * 4 + s->cx->target->vector_bytes - 1) / s->cx->target->vector_bytes;
    return most % s->lanes == 0 && size * registers > TINY && ir_is_const(start) &&
           is_cut_off(s->scalar.end, 0);
}

/* The number that a phi of two arguments goes up by in each iteration; 0: it is not a constant. */
static uint64_t step_of(const ir_inst *phi) {
    for (unsigned n = 0; n < phi->nargs; n++) {
        const ir_inst *next = ir_arg(phi, n);
        if (next->op == IR_OP_add && ir_arg(next, 0) == phi && ir_is_const(ir_arg(next, 1)))
            return ir_arg(next, 1)->imm.bits;
    }
    return 0;
}

/* The loop over rows of items, of which the loop does one or several; NULL: there is none. */
static const ir_loop *find_rows(const simd *s) {
    const ir_loop *l = s->scalar.is_innermost ? NULL : s->scalar.loop->parent;
    while (l && !(l->header->loop_hint & IR_LOOP_ROWS)) l = l->parent;
    return l;
}

unsigned simd_rows_of(const simd *s) {
    const ir_loop *l = find_rows(s);
    uint64_t rows = 1;
    if (!l) return 1;
    foreach_phi (phi, l->header)
        if (step_of(phi) > rows) rows = step_of(phi);
    return (unsigned)rows;
}

bool simd_may_have_rest(const simd *s) {
    bool masks = s->cx->target && s->cx->target->has_masks;
    bool counted = !s->scalar.is_innermost || simd_known_items(s);
    return masks && counted && !s->carried.n && !s->after.n;
}

bool simd_has_rest(const simd *s) {
    if (!simd_may_have_rest(s)) return false;
    uint64_t items = simd_known_items(s);
    if (items) return items % s->lanes != 0;
    if (s->strips->n) return false;
    unsigned size = size_of(s);
    bool is_row = find_rows(s) && (!s->scalar.loop->child || simd_rows_of(s) > 1);
    if (is_row && size <= ROWS) return true;
    return size <= SMALL && !is_rare(s, size);
}

/* Known items need no mask but in the last iteration.  Sub-groups are whole as a rule, and what
 * their items exchange costs more under a mask. */
bool simd_shares_rest(const simd *s) {
    bool lanes = s->scalar.loop->header->loop_hint & IR_LOOP_LANES;
    if (simd_known_items(s) || lanes || !simd_may_have_rest(s)) return false;
    if (simd_most_items(s) <= s->lanes) return true;
    return s->scalar.loop->child && simd_has_rest(s);
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
        n->left = 0;
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

/* Which lanes there are items for, if so many are left. */
static void build_mask(simd *s, ir_inst *left) {
    ir_type t = ir_scalar(IR_I32);
    left = ir_build1(&s->b, IR_OP_trunc, t, left);
    ir_inst *lanes = simd_ramp(s, ir_const(s->f, t, 0), 1);
    s->node[0].mask = ir_build2(&s->b, IR_OP_ult, simd_mask_type(s), lanes, simd_splat(s, left));
    s->last = ir_build2(&s->b, IR_OP_sub, t, left, ir_const(s->f, t, 1));
}

void simd_mask_items(simd *s, ir_inst *first) {
    ir_inst *left = ir_build2(&s->b, IR_OP_sub, first->type, s->scalar.end, first);
    left = ir_build2(&s->b, IR_OP_umin, left->type, left, ir_const(s->f, left->type, s->lanes));
    build_mask(s, left);
}

void simd_build_rest(simd *s, const simd_frame *fr) {
    const simd_loop *l = &s->scalar;
    uint32_t latch = ir_pred_index(l->exit, l->latch);
    begin_again(s);
    s->preheader = ir_block_new(s->f, NULL);
    s->preheader->mark = SIMD_NONE;
    ir_inst *first = find_first(s, fr);
    ir_at_end(&s->b, s->preheader);
    build_mask(s, ir_build2(&s->b, IR_OP_sub, first->type, s->scalar.end, first));
    simd_make_nodes(s);
    ir_build_jmp(&s->b, s->node[0].head);
    s->value[l->counter->id].base = first;
    simd_fill_nodes(s);
    ir_build_jmp(&s->b, l->exit);
    foreach_phi (phi, l->exit) ir_append_arg(phi, ir_arg(phi, latch));
}
