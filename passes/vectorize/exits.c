/* exits.c — what lanes have when they leave a loop one by one.
 *
 * Such a loop runs while some lane is live.  A value that is used after it is that of the last
 * iteration in which its lane was live.
 *
 * A node after the loop that several exits lead to has phis for what these differ in.  Each of them
 * is one value that goes around in the loop, however many exits there are: at the end of an
 * iteration, lanes that have come to an exit get what the phi gets from there, one exit after the
 * other.  The last exit that a lane has come to is the one by which it leaves, or it is live and
 * comes to others.  So what is needed are the masks of the nodes with exits, and not those of the
 * exits.
 *
 * Which lanes have left for a node is collected over all iterations if there are several such
 * nodes.  If there is one, these are all lanes that have entered the loop.
 */
#include "passes/vectorize/simd.h"

static simd_node *header_of(const simd *s, uint32_t latch) {
    return &s->node[s->node_of[s->node[latch].block->id]];
}

static uint32_t enter_of(const simd *s, uint32_t latch) {
    return s->enter_of[s->node[latch].block->id];
}

/* Where edge e of node k leads to if it leaves the loop; NULL: it does not. */
static simd_node *target_after(const simd *s, uint32_t latch, uint32_t k, unsigned e) {
    const simd_node *n = &s->node[k];
    return e < n->nsucc && n->succ[e] > latch ? &s->node[n->succ[e]] : NULL;
}

#define foreach_exit(in, to, s, latch)                                                             \
    for (simd_edge in = {(uint16_t)enter_of(s, latch), 0}; in.from < (latch); in.from++)           \
        for (in.n = 0; in.n < 2; in.n++)                                                           \
            for (simd_node *to = target_after(s, latch, in.from, in.n); to; to = NULL)

/* Those exits of the loop that lead to this node, and leave no other loop. */
#define foreach_exit_to(in, to, s, latch)                                                          \
    for (const simd_edge *in = (to)->pred; in < (to)->pred + (to)->npred; in++)                    \
        if (s->node[in->from].loop == s->node[latch].loop)

/* ---------------------------------------------------------------------------------------- lanes */

/* Lanes that have left before, in the header of the loop: none when it is entered. */
static ir_inst *begin_lanes(simd *s, uint32_t latch) {
    ir_block *head = header_of(s, latch)->head;
    return ir_append_arg(ir_build_phi(head, simd_mask_type(s)), simd_no_lanes(s));
}

/* Those that have left by an edge. */
static void collect_edge(simd *s, uint32_t latch, const simd_edge *in) {
    simd_lanes *edge = &s->node[in->from].edge[in->n];
    ir_inst *before = begin_lanes(s, latch), *left = simd_merge_masks(s, before, edge);
    simd_close_phi(s, before, left);
    *edge = (simd_lanes){left, left->block};
}

/* Those that have left by any edge to the node. */
static simd_lanes collect_edges(simd *s, uint32_t latch, const simd_node *to) {
    ir_inst *before = begin_lanes(s, latch), *left = before;
    foreach_exit_to(in, to, s, latch) left =
        simd_merge_masks(s, left, &s->node[in->from].edge[in->n]);
    simd_close_phi(s, before, left);
    return (simd_lanes){left, left->block};
}

/* Do all exits lead to one node, and leave no other loop? */
static bool has_one_target(const simd *s, uint32_t latch) {
    const simd_node *first = NULL;
    foreach_exit(in, to, s, latch) {
        if ((first && first != to) || !simd_is_exit(s, &in, to)) return false;
        first = to;
    }
    return true;
}

/* --------------------------------------------------------------------------------------- values */

/* A value in the header of the loop, which has one for each lane. */
static ir_inst *begin_value(simd *s, uint32_t latch, ir_type elem) {
    ir_type t = ir_vector(elem, s->lanes);
    return ir_append_arg(ir_build_phi(header_of(s, latch)->head, t), ir_undef(s->f, t));
}

/* What a component of a phi gets when lanes have left the loop. */
static ir_inst *join_exits(simd *s, uint32_t latch, const simd_node *to, const ir_inst *phi,
                           unsigned part) {
    ir_inst *before = begin_value(s, latch, ir_elem(phi->type)), *now = before;
    foreach_exit_to(in, to, s, latch) {
        const simd_node *n = &s->node[in->from];
        const simd_lanes reached = {n->mask, s->node[n->mask_of].head};
        ir_inst *v = simd_part(s, simd_scalar_arg(s, phi, in), part, n->block);
        now = simd_blend(s, &reached, v, now);
    }
    simd_close_phi(s, before, now);
    return now;
}

/* Are the values different that the phi gets from the exits of the loop? */
static bool differs(const simd *s, uint32_t latch, const simd_node *to, const ir_inst *phi) {
    const ir_inst *first = NULL;
    foreach_exit_to(in, to, s, latch) {
        const ir_inst *v = simd_scalar_arg(s, phi, in);
        if (first && first != v) return true;
        first = v;
    }
    return false;
}

static void leave_for(simd *s, uint32_t latch, const simd_node *to) {
    foreach_phi (phi, to->block) {
        if (simd_shape_of(s, phi) != SIMD_VARYING || !differs(s, latch, to, phi)) continue;
        unsigned parts = ir_lanes(phi->type);
        simd_left *left = ir_new_array(s->scratch, simd_left, 1);
        *left = (simd_left){s->node[latch].loop, ir_new_array(s->scratch, ir_inst *, parts),
                            s->value[phi->id].left};
        for (unsigned k = 0; k < parts; k++) left->part[k] = join_exits(s, latch, to, phi, k);
        s->value[phi->id].left = left;
    }
}

ir_inst **simd_find_left(const simd *s, const ir_inst *phi, const simd_edge *in) {
    const simd_left *left = s->value[phi->id].left;
    while (left && left->loop != s->node[in->from].loop) left = left->next;
    return left ? left->part : NULL;
}

/* Does a phi after the loop get more than this value from it? */
static bool is_joined(const simd *s, const ir_use *u, const ir_loop *loop) {
    const simd_edge in = {s->node_of[ir_use_block(u)->id], 0};
    return u->user->op == IR_OP_phi && s->node[in.from].loop == loop &&
           simd_find_left(s, u->user, &in);
}

static bool is_used_after(const simd *s, const ir_inst *v, const ir_loop *loop) {
    foreach_use (u, v) {
        if (!simd_is_in(s, ir_use_block(u), loop)) return true;
        if (!simd_is_in(s, u->user->block, loop) && !is_joined(s, u, loop)) return true;
    }
    return false;
}

/* What a value was when its lane left the loop. */
static void keep_last(simd *s, uint32_t latch, ir_inst *v) {
    const simd_node *header = header_of(s, latch);
    unsigned parts = ir_lanes(v->type);
    ir_inst **last = ir_new_array(s->scratch, ir_inst *, parts);
    for (unsigned k = 0; k < parts; k++) {
        ir_inst *now = simd_part(s, v, k, header->block);
        ir_inst *before = begin_value(s, latch, ir_elem(now->type));
        last[k] = simd_choose(s, header->mask, now, before);
        simd_close_phi(s, before, last[k]);
    }
    s->value[v->id].last = last;
}

/* ----------------------------------------------------------------------------------- the latch */

void simd_leave_loop(simd *s, uint32_t latch) {
    const ir_loop *loop = s->node[latch].loop;
    const simd_node *enter = &s->node[enter_of(s, latch)];
    const simd_lanes all = {enter->mask, enter->head};
    bool one = has_one_target(s, latch);
    foreach_exit(in, to, s, latch) {
        if (!simd_is_exit(s, &in, to)) {
            collect_edge(s, latch, &in);
        } else if (to->left != latch) {
            to->left = latch;
            leave_for(s, latch, to);
            const simd_lanes lanes = one ? all : collect_edges(s, latch, to);
            foreach_exit_to(edge, to, s, latch) s->node[edge->from].edge[edge->n] = lanes;
        }
    }
    for (uint32_t k = enter_of(s, latch); k < latch; k++)
        if (s->node[k].kind == SIMD_BLOCK)
            foreach_inst (i, s->node[k].block)
                if (i->type != IR_VOID && is_used_after(s, i, loop)) keep_last(s, latch, i);
}
