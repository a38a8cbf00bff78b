/* masks.c — which lanes are active in a node, and what phis become.
 *
 * A node that edges lead to directly keeps its phis.  In one that was deferred, they become selects
 * by the lanes that have taken each edge.  An edge is a mask of its own where a branch was folded;
 * on paths that do not pass that branch it is false (repair.c).
 *
 * A loop that lanes leave one by one runs while some lane is live; exits.c has what these lanes
 * leave it with.
 */
#include "passes/vectorize/simd.h"

static ir_inst *all_lanes(simd *s) { return ir_const(s->f, simd_mask_type(s), 1); }
static ir_inst *or_all(simd *s, ir_inst *mask) { return mask ? mask : all_lanes(s); }

ir_inst *simd_and(simd *s, ir_inst *mask, ir_inst *test) {
    return mask ? ir_build2(&s->b, IR_OP_and, mask->type, mask, test) : test;
}

static ir_inst * not(simd * s, ir_inst *mask) {
    return ir_build2(&s->b, IR_OP_xor, mask->type, mask, all_lanes(s));
}

ir_inst *simd_mask_bits(simd *s, ir_inst *mask) {
    unsigned n = s->lanes < 8 ? 8 : s->lanes; /* masks of so many lanes are integers */
    uint8_t lane[IR_MAX_LANES];
    for (unsigned k = 0; k < n; k++) lane[k] = (uint8_t)k;
    ir_inst *none = ir_const(s->f, mask->type, 0);
    if (n > s->lanes) {
        for (unsigned k = 2 * s->lanes; k < n; k++) lane[k] = (uint8_t)s->lanes;
        mask = ir_build_shuffle(&s->b, mask, none, n, lane);
    }
    ir_type t = ir_scalar(n == 8 ? IR_I8 : n == 16 ? IR_I16 : n == 32 ? IR_I32 : IR_I64);
    return ir_build1(&s->b, IR_OP_bitcast, t, mask);
}

static void add_to_holes(simd *s, simd_hole h) { *ir_push(s->code->memory, &s->code->holes) = h; }

/* Operand n of i need not be dominated by its definition. */
static void add_hole(simd *s, ir_inst *i, unsigned n) {
    ir_block *at = ir_arg(i, n)->block;
    if (at) add_to_holes(s, (simd_hole){i, n, false, at, s->preheader, s->first});
}

static void add_mask_hole(simd *s, ir_inst *i, unsigned n, const simd_lanes *mask) {
    add_to_holes(s, (simd_hole){i, n, true, mask->at, s->preheader, s->first});
}

/* These have operands that are repaired later, so they must not be simplified before. */
ir_inst *simd_merge_masks(simd *s, ir_inst *mask, const simd_lanes *more) {
    ir_inst *lanes = or_all(s, more->lanes);
    ir_inst *all = ir_build_raw(&s->b, IR_OP_or, mask->type, IR_PLAIN, IR_ARGS(mask, lanes));
    add_mask_hole(s, all, 1, more);
    return all;
}

ir_inst *simd_choose(simd *s, ir_inst *mask, ir_inst *x, ir_inst *y) {
    ir_inst *i = ir_build_raw(&s->b, IR_OP_select, x->type, IR_PLAIN, IR_ARGS(mask, x, y));
    add_hole(s, i, 1);
    add_hole(s, i, 2);
    return i;
}

ir_inst *simd_blend(simd *s, const simd_lanes *mask, ir_inst *x, ir_inst *y) {
    ir_inst *i = simd_choose(s, or_all(s, mask->lanes), x, y);
    add_mask_hole(s, i, 0, mask);
    return i;
}

/* ----------------------------------------------------------------------------------------- phis */

/* The lanes that take an edge. */
static const simd_lanes *lanes_of(const simd *s, const simd_edge *e) {
    return &s->node[e->from].edge[e->n];
}

/* The argument that a phi of the scalar code has for an edge. */
ir_inst *simd_scalar_arg(const simd *s, const ir_inst *phi, const simd_edge *in) {
    const simd_node *from = &s->node[in->from];
    return ir_arg(phi, ir_pred_index(phi->block, from->block));
}

static uint32_t edge_from(const simd_node *n, uint16_t node) {
    for (uint32_t k = 0; k < n->npred; k++)
        if (n->pred[k].from == node) return k;
    assert(false && "an edge of the new graph is one of the scalar code");
    return 0;
}

static ir_inst *join_kept(const simd_node *n, ir_inst **arg) {
    bool same = true;
    for (uint32_t e = 1; e < n->npred; e++) same &= arg[e] == arg[0];
    if (same) return arg[0];
    ir_inst *phi = ir_build_phi(n->head, arg[0]->type);
    for (uint32_t p = 0; p < n->head->npred; p++)
        phi = ir_append_arg(phi, arg[edge_from(n, (uint16_t)n->head->pred[p]->mark)]);
    return phi;
}

static ir_inst *join_blended(simd *s, const simd_node *n, ir_inst **arg) {
    ir_inst *all = arg[0];
    for (uint32_t e = 1; e < n->npred; e++) {
        const simd_lanes *edge = lanes_of(s, &n->pred[e]), *before = lanes_of(s, &n->pred[e - 1]);
        bool same = edge->lanes == before->lanes && edge->at == before->at;
        if (arg[e] == all || (same && arg[e] == arg[e - 1])) continue;
        all = simd_blend(s, edge, arg[e], all);
    }
    return all;
}

static ir_inst *join(simd *s, uint32_t k, const ir_inst *phi, unsigned part, bool scalar) {
    const simd_node *n = &s->node[k];
    ir_inst **arg = ir_new_array(s->scratch, ir_inst *, n->npred);
    for (uint32_t e = 0; e < n->npred; e++) {
        ir_inst *v = simd_scalar_arg(s, phi, &n->pred[e]);
        ir_inst **left = simd_find_left(s, phi, &n->pred[e]);
        if (left)
            arg[e] = left[part];
        else
            arg[e] = scalar ? simd_base(s, v) : simd_part(s, v, part, n->block);
    }
    return n->deferred ? join_blended(s, n, arg) : join_kept(n, arg);
}

static void set_value(simd *s, const ir_inst *phi, unsigned part, bool scalar, ir_inst *v) {
    if (scalar)
        s->value[phi->id].base = v;
    else
        simd_set_part(s, phi, part, v);
}

/* The values of the phis of a node; those of a header before the loop, when it is entered. */
static void join_phis(simd *s, uint32_t k) {
    foreach_phi (phi, s->node[k].block) {
        bool scalar = simd_shape_of(s, phi) != SIMD_VARYING;
        for (unsigned part = 0; part < (scalar ? 1 : ir_lanes(phi->type)); part++)
            set_value(s, phi, part, scalar, join(s, k, phi, part, scalar));
    }
}

/* Phis of a loop: the first arguments are what join_phis has found. */
static void begin_phis(simd *s, const simd_node *n) {
    foreach_phi (phi, n->block) {
        bool scalar = simd_shape_of(s, phi) != SIMD_VARYING;
        for (unsigned part = 0; part < (scalar ? 1 : ir_lanes(phi->type)); part++) {
            ir_inst *init = scalar ? s->value[phi->id].base : s->value[phi->id].part[part];
            ir_inst *copy = ir_append_arg(ir_build_phi(n->head, init->type), init);
            add_hole(s, copy, 0);
            set_value(s, phi, part, scalar, copy);
        }
    }
}

/* ----------------------------------------------------------------------------- the end of loops */

/* The second argument of a phi of a loop, for which it has room. */
void simd_close_phi(simd *s, ir_inst *phi, ir_inst *arg) {
    ir_inst *same = ir_append_arg(phi, arg);
    assert(same == phi && phi->nargs == 2);
    add_hole(s, phi, 1);
}

static void close_phis(simd *s, uint32_t latch) {
    foreach_phi (phi, s->node[latch].block) {
        const simd_value *v = &s->value[phi->id];
        bool scalar = simd_shape_of(s, phi) != SIMD_VARYING;
        for (unsigned part = 0; part < (scalar ? 1 : ir_lanes(phi->type)); part++)
            simd_close_phi(s, scalar ? v->base : v->part[part], join(s, latch, phi, part, scalar));
    }
}

/* ---------------------------------------------------------------------------------------- nodes */

static bool is_header(const simd_node *n, uint32_t k) {
    return k && n->kind == SIMD_BLOCK && n->block == n->loop->header;
}

static ir_inst *join_edges(simd *s, uint32_t k) {
    simd_node *n = &s->node[k];
    ir_inst **arg = ir_new_array(s->scratch, ir_inst *, n->npred);
    bool all = true;
    for (uint32_t e = 0; e < n->npred; e++) {
        const simd_lanes *edge = lanes_of(s, &n->pred[e]);
        all &= !edge->lanes;
        arg[e] = or_all(s, edge->lanes);
    }
    if (!n->deferred) return all ? NULL : join_kept(n, arg);
    ir_inst *mask = simd_no_lanes(s);
    for (uint32_t e = 0; e < n->npred; e++)
        mask = simd_merge_masks(s, mask, lanes_of(s, &n->pred[e]));
    return mask;
}

/* The mask of the header of a loop that lanes leave one by one. */
static void begin_mask(simd *s, simd_node *n) {
    ir_inst *enter = or_all(s, s->node[s->enter_of[n->block->id]].mask);
    n->mask = ir_append_arg(ir_build_phi(n->head, enter->type), enter);
}

static void find_mask(simd *s, uint32_t k) {
    simd_node *n = &s->node[k];
    if (!k) return;
    if (n->mask_of != k)
        n->mask = s->node[n->mask_of].mask;
    else if (is_header(n, k))
        begin_mask(s, n);
    else
        n->mask = join_edges(s, k);
}

/* Skips the node if no lane is active. */
static void build_guard(simd *s, simd_node *n) {
    ir_block *body = ir_block_new(s->f, NULL);
    body->mark = n->head->mark;
    ir_build_br(&s->b, ir_build1(&s->b, IR_OP_any, IR_I1, n->mask), body, s->node[n->skip].head);
    n->tail = body;
    ir_at_end(&s->b, body);
}

void simd_enter_node(simd *s, uint32_t k) {
    simd_node *n = &s->node[k];
    ir_at_end(&s->b, n->head);
    find_mask(s, k);
    if (is_header(n, k))
        begin_phis(s, n);
    else if (n->kind == SIMD_LATCH)
        close_phis(s, k);
    else if (k)
        join_phis(s, k);
    if (n->kind == SIMD_LATCH && simd_diverges(s, n->loop)) simd_leave_loop(s, k);
    if (n->skip != SIMD_NONE) build_guard(s, n);
}

static void find_edges(simd *s, simd_node *n) {
    n->edge[0] = n->edge[1] = (simd_lanes){n->mask, n->tail};
    if (n->nsucc < 2) return;
    ir_inst *test = simd_part(s, ir_arg(n->block->last, 0), 0, n->block);
    for (unsigned e = 0; e < 2; e++) {
        bool own = n->folded || s->node[n->succ[e]].deferred;
        if (own) n->edge[e].lanes = simd_and(s, n->mask, e ? not(s, test) : test);
    }
}

static void end_latch(simd *s, simd_node *n) {
    simd_node *header = &s->node[s->node_of[n->block->id]];
    if (!simd_diverges(s, n->loop)) {
        ir_build_jmp(&s->b, header->head);
        return;
    }
    simd_close_phi(s, header->mask, n->mask);
    ir_build_br(&s->b, ir_build1(&s->b, IR_OP_any, IR_I1, n->mask), header->head,
                s->node[n->next[0]].head);
}

void simd_leave_node(simd *s, uint32_t k) {
    simd_node *n = &s->node[k];
    find_edges(s, n);
    if (n->kind == SIMD_LATCH)
        end_latch(s, n);
    else if (n->nnext == 2)
        ir_build_br(&s->b, simd_base(s, ir_arg(n->block->last, 0)), s->node[n->next[0]].head,
                    s->node[n->next[1]].head);
    else
        ir_build_jmp(&s->b, s->node[n->next[0]].head);
}
