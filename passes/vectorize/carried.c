/* carried.c — what goes from one item to the next: the phis of the header, other than the counter.
 *
 *   progression  p + d, where d does not change: lane k has p + k * d
 *   reduction    op(p, v), where nothing else sees p or what becomes of it: each lane has a partial
 *                result, in any control flow; they are combined after the loop
 *   scan         op(p, v), computed by all items, where other instructions see p or the result:
 *                a prefix sum of the lanes, and what all lanes before them have
 *   last         a choice between p and other values, which nothing else sees: after the loop it is
 *                the value of the last item that has one
 *
 * The operations of reductions and scans are done in another order.  They are associative ones of
 * integers, and those of floats that allow it.  All other phis are refused.
 *
 * Before: shapes are not known when progressions are found, and are for all others.
 * Cost: each phi follows its users once, up to the first that does not fit.
 */
#include "passes/vectorize/simd.h"

static bool is_header_phi(const simd *s, const ir_inst *v) {
    return v->op == IR_OP_phi && v->block == s->scalar.loop->header;
}

static bool is_every_item(const simd *s, const ir_inst *i) {
    const simd_node *n = &s->node[s->node_of[i->block->id]];
    return n->loop == s->scalar.loop && s->node[n->mask_of].mask_of == 0;
}

/* --------------------------------------------------------------------------------- progressions */

static bool is_progression(const simd *s, const simd_carried *c) {
    const ir_inst *n = c->next;
    if (n->op != IR_OP_add && n->op != IR_OP_ptradd) return false;
    if (ir_is_vector(n->type) || ir_arg(n, 0) != c->phi) return false;
    return !simd_is_inside(s, ir_arg(n, 1));
}

static void list_phis(simd *s) {
    const simd_loop *l = &s->scalar;
    foreach_phi (phi, l->loop->header) {
        if (phi == l->counter) continue;
        simd_carried c = {
            .phi = phi, .init = ir_arg(phi, l->entry), .next = ir_arg(phi, 1 - l->entry)};
        *ir_push(s->scratch, &s->carried) = c;
    }
}

void simd_find_progressions(simd *s) {
    list_phis(s);
    foreach_in (simd_carried, c, s->carried) {
        if (!is_progression(s, c)) continue;
        c->kind = SIMD_PROGRESSION;
        c->by = ir_arg(c->next, 1);
        s->value[c->phi->id].carried = c;
    }
}

/* ----------------------------------------------------------------------------------- operations */

/* Does i allow that its operands are regrouped?  Sums of floats do so only if they say so. */
static bool may_reorder(const ir_inst *i) {
    return ir_is_int(i->type) || i->flags & (IR_FAST | IR_REASSOC);
}

/* The operation by which i combines operand n with another one; IR_OP_const: none. */
static ir_op combining_op(const ir_inst *i, unsigned n) {
    bool is_bool = ir_kind_of(i->type) == IR_I1;
    switch (i->op) {
    case IR_OP_and:
    case IR_OP_or: return (ir_op)i->op;
    case IR_OP_add:
    case IR_OP_mul:
    case IR_OP_xor:
    case IR_OP_umin:
    case IR_OP_umax:
    case IR_OP_smin:
    case IR_OP_smax: return is_bool ? IR_OP_const : (ir_op)i->op;
    case IR_OP_sub: return is_bool || n ? IR_OP_const : IR_OP_add;
    case IR_OP_fadd:
    case IR_OP_fmul:
    case IR_OP_fmin:
    case IR_OP_fmax: return may_reorder(i) ? (ir_op)i->op : IR_OP_const;
    case IR_OP_fsub: return may_reorder(i) && !n ? IR_OP_fadd : IR_OP_const;
    case IR_OP_fma:
    case IR_OP_mad: return may_reorder(i) && n == 2 ? IR_OP_fadd : IR_OP_const;
    default: return IR_OP_const;
    }
}

/* ---------------------------------------------------------------------- reductions, last values */

typedef struct {
    simd *s;
    simd_carried *c;
    ir_value_list members; /* p, and what becomes of it */
} chain;

static bool is_member(const chain *ch, const ir_inst *v) {
    return ch->s->value[v->id].carried == ch->c;
}

static void add_member(chain *ch, ir_inst *v) {
    if (is_member(ch, v)) return;
    ch->s->value[v->id].carried = ch->c;
    *ir_push(ch->s->scratch, &ch->members) = v;
}

static bool may_use(chain *ch, const ir_use *u) {
    const ir_inst *i = u->user;
    unsigned n = (unsigned)(u - i->arg);
    simd_carried *c = ch->c;
    if (i == c->phi) return true;
    if (!simd_is_inside(ch->s, i)) return u->val == c->next;
    const simd_carried *other = ch->s->value[i->id].carried;
    if (other && other != c) return false;
    if (i->type != c->phi->type || is_header_phi(ch->s, i)) return false;
    if (i->op == IR_OP_phi) return true;
    if (i->op == IR_OP_select) return n > 0;
    ir_op op = combining_op(i, n);
    if (c->op == IR_OP_const) c->op = op;
    return op != IR_OP_const && op == c->op;
}

/* Finds the members; false: something else sees one of them. */
static bool follow_users(chain *ch) {
    add_member(ch, ch->c->phi);
    for (uint32_t k = 0; k < ch->members.n; k++)
        foreach_use (u, ch->members.data[k]) {
            if (!may_use(ch, u)) return false;
            if (simd_is_inside(ch->s, u->user)) add_member(ch, u->user);
        }
    return is_member(ch, ch->c->next);
}

static unsigned count_members(const chain *ch, const ir_inst *i) {
    unsigned n = 0;
    for (unsigned k = 0; k < i->nargs; k++) n += is_member(ch, ir_arg(i, k));
    return n;
}

/* Is i computed from members only, or does an operation combine it with something else? */
static bool is_pure(const chain *ch, const ir_inst *i) {
    unsigned n = count_members(ch, i);
    if (i == ch->c->phi) return true;
    if (i->op == IR_OP_phi) return n == i->nargs;
    return i->op == IR_OP_select ? n == 2 : n == 1;
}

static bool is_reduction(const chain *ch) {
    for (uint32_t k = 0; k < ch->members.n; k++)
        if (!is_pure(ch, ch->members.data[k])) return false;
    return ch->c->op != IR_OP_const;
}

/* Do all lanes make the same choice? */
static bool chooses_together(const chain *ch, const ir_inst *i) {
    const simd *s = ch->s;
    uint16_t node = s->node_of[i->block->id];
    for (const ir_loop *l = s->node[node].loop; l != s->scalar.loop; l = l->parent)
        if (simd_diverges(s, l)) return false;
    if (i->op == IR_OP_select) return simd_shape_of(s, ir_arg(i, 0)) == SIMD_UNIFORM;
    if (s->enter_of[i->block->id] != SIMD_NONE) node = s->enter_of[i->block->id];
    return is_header_phi(s, i) || !s->node[node].deferred;
}

static bool is_uniform_but(const chain *ch, const ir_inst *i) {
    for (unsigned k = i->op == IR_OP_select; k < i->nargs; k++) {
        const ir_inst *v = ir_arg(i, k);
        if (!is_member(ch, v) && simd_shape_at(ch->s, v, i->block) != SIMD_UNIFORM) return false;
    }
    return true;
}

/* The shape of values that nothing but the end of the loop sees is that of what is chosen. */
static void make_uniform(const chain *ch) {
    for (uint32_t k = 0; k < ch->members.n; k++)
        ch->s->value[ch->members.data[k]->id].shape = SIMD_UNIFORM;
}

static bool is_last(chain *ch) {
    simd_carried *c = ch->c;
    bool together = c->op == IR_OP_const, uniform = true;
    for (uint32_t k = 0; k < ch->members.n && together; k++) {
        together = chooses_together(ch, ch->members.data[k]);
        uniform &= is_uniform_but(ch, ch->members.data[k]);
    }
    if (together && uniform) make_uniform(ch);
    if (together) return true;
    c->chosen = c->next->op == IR_OP_select && ch->members.n == 2 && is_every_item(ch->s, c->next);
    return c->chosen;
}

static bool find_chain(simd *s, simd_carried *c) {
    chain ch = {.s = s, .c = c};
    c->op = IR_OP_const;
    if (!ir_is_ptr(c->phi->type) && follow_users(&ch)) {
        c->kind = is_reduction(&ch) ? SIMD_REDUCTION : SIMD_LAST;
        if (c->kind == SIMD_REDUCTION || is_last(&ch)) return true;
    }
    for (uint32_t k = 0; k < ch.members.n; k++) s->value[ch.members.data[k]->id].carried = NULL;
    return false;
}

/* ---------------------------------------------------------------------------------------- scans */

/* Does v depend on p, in this iteration or by way of other phis of the header? */
static bool depends(simd *s, const simd_carried *c, const ir_inst *v) {
    ir_value_list work = {0};
    uint32_t *seen = s->code->number;
    simd_clear_numbers(s);
    *ir_push(s->scratch, &work) = c->phi;
    while (work.n) {
        const ir_inst *from = work.data[--work.n];
        foreach_use (u, from) {
            ir_inst *i = u->user;
            if (i == v) return true;
            if (i == c->phi || !simd_is_inside(s, i) || seen[i->id]) continue;
            seen[i->id] = 1;
            *ir_push(s->scratch, &work) = i;
        }
    }
    return false;
}

/* Moves the operation to where its operands are known. */
static void hoist(const simd_carried *c) {
    ir_inst *n = c->next;
    bool same = c->by->block == n->block && c->by->op != IR_OP_phi;
    ir_inst *where = same ? c->by->next : ir_first_non_phi(n->block);
    if (where != n) ir_move_before(n, where);
}

/* Is p used only where the operation has been done? */
static bool is_done_first(const simd *s, const simd_carried *c) {
    const ir_dom *dom = s->code->dom;
    foreach_use (u, c->phi) {
        const ir_block *at = ir_use_block(u);
        if (u->user == c->next || !simd_is_inside(s, u->user)) continue;
        bool here = at == c->next->block && u->user->op != IR_OP_phi;
        if (here ? !ir_value_dominates(dom, c->next, u->user)
                 : !ir_block_dominates(dom, c->next->block, at))
            return false;
    }
    return true;
}

static bool find_scan(simd *s, simd_carried *c) {
    const ir_inst *n = c->next;
    if (!simd_is_inside(s, n) || n->op == IR_OP_phi || n->nargs != 2 || !is_every_item(s, n))
        return false;
    unsigned own = ir_arg(n, 0) != c->phi;
    if (ir_arg(n, own) != c->phi || ir_arg(n, !own) == c->phi) return false;
    c->op = combining_op(n, own);
    c->by = ir_arg(n, !own);
    if (c->op != (ir_op)n->op || ir_kind_of(n->type) == IR_I1 || depends(s, c, c->by)) return false;
    hoist(c);
    c->kind = SIMD_SCAN;
    s->value[c->phi->id].carried = s->value[n->id].carried = c;
    return is_done_first(s, c);
}

bool simd_find_carried(simd *s) {
    foreach_in (simd_carried, c, s->carried)
        if (c->kind != SIMD_PROGRESSION && !find_chain(s, c) && !find_scan(s, c))
            return simd_refuse(s, c->phi, "a value goes from one to the next");
    return true;
}
