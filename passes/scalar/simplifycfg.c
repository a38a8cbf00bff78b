/* simplifycfg.c — simplifies the control flow graph.
 *
 * A work list holds the blocks to visit, at first all of them in reverse postorder.  A change puts
 * the block and its neighbours back.  The following happens to a block:
 *   - A phi whose arguments are all the same value becomes that value.
 *   - A branch or switch that can go only one way becomes a jump: its condition is constant, its
 *     targets are equal, or the other way leads to `unreachable`.  A switch loses cases that lead
 *     to `unreachable`, and becomes a branch if one case is left.  A branch on C < x becomes the
 *     opposite one on x < C + 1, so that a guard and its opposite are one condition.
 *   - It is merged with its only successor, if that has no other predecessor.
 *   - A block that only jumps is bypassed by its predecessors, unless one of them would have to
 *     give two values to one phi.
 *   - Jump threading: a block of phis and a branch is bypassed by predecessors that decide the
 *     branch, because the condition is one of the phis or was branched on before.
 *   - A triangle or diamond of a few cheap instructions becomes selects (hammock.c).
 *
 * Instructions move only up along a jump, or, if they are pure and cannot trap, above the branch
 * that guards them.  So convergent operations and memory accesses remain in their control flow, and
 * nothing is duplicated.  Loops keep their shape: headers are not bypassed, and a block that jumps
 * to a header is bypassed only if it is the only latch.
 */
#include "passes/passes.h"

enum {
    MAX_CLIMB = 8,  /* blocks with one predecessor, up to a branch on the same condition */
    MAX_ROUNDS = 32 /* of passing phis on to successors; each computes dominators */
};

/* Marks of blocks. */
enum { QUEUED = 1, GONE = 2, HEADER = 4, LATCH = 8, WAITING = 16 };

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    ir_builder b;
    ir_block_list queue;
    uint32_t head;         /* of the queue */
    ir_block_list waiting; /* to be bypassed, once their phis are passed on to successors */
    bool changed;
} simplifier;

/* ------------------------------------------------------------------------------------ work list */

static void touch(simplifier *s, ir_block *b) {
    if (b->mark & (QUEUED | GONE)) return;
    b->mark |= QUEUED;
    *ir_push(s->scratch, &s->queue) = b;
}

static void touch_around(simplifier *s, ir_block *b) {
    ir_count(s->f->module->cx, simplifycfg_changes, 1);
    s->changed = true;
    touch(s, b);
    for (uint32_t n = 0; n < b->nsucc; n++) touch(s, b->succ[n]);
    for (uint32_t p = 0; p < b->npred; p++) touch(s, b->pred[p]);
}

/* Blocks whose terminator or phis use v may have become simpler. */
static void touch_users(simplifier *s, const ir_inst *v) {
    for (const ir_use *u = v->uses; u; u = u->next)
        if (u->user->op == IR_OP_phi || ir_is_terminator(u->user)) touch(s, u->user->block);
}

/* Removes b if nothing leads there any more, and then what only b led to. */
static void remove_if_dead(simplifier *s, ir_block *b) {
    ir_block_list dead = {0};
    *ir_push(s->scratch, &dead) = b;
    while (dead.n) {
        ir_block *d = dead.data[--dead.n];
        if ((d->mark & GONE) || d->npred || d == s->f->first) {
            touch(s, d);
            continue;
        }
        for (uint32_t n = 0; n < d->nsucc; n++) *ir_push(s->scratch, &dead) = d->succ[n];
        d->mark |= GONE;
        ir_block_remove(d);
    }
}

/* Calls remove_if_dead on each of the n blocks. */
static void remove_dead_blocks(simplifier *s, ir_block *const *blocks, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) remove_if_dead(s, blocks[k]);
}

/* ----------------------------------------------------------------------------------------- phis */

static void replace_phi(simplifier *s, ir_inst *phi, ir_inst *v) {
    touch_users(s, phi);
    ir_replace_uses(phi, v);
    ir_remove(phi);
}

static bool simplify_phis(simplifier *s, ir_block *b) {
    bool any = false;
    foreach_phi (phi, b) {
        ir_inst *v = ir_only_argument(s->f, NULL, phi);
        if (!v) continue;
        replace_phi(s, phi, v);
        any = true;
    }
    return any;
}

/* ---------------------------------------------------------------------------------- terminators */

/* Control that gets here never gets on. */
static bool is_dead_end(const ir_block *b) { return ir_first_non_phi(b)->op == IR_OP_unreachable; }

static bool keep_edge(simplifier *s, ir_block *b, unsigned n) {
    ir_block **old = ir_dup(s->scratch, b->succ, b->nsucc * sizeof *b->succ);
    uint32_t count = b->nsucc;
    ir_make_jmp(b, n);
    remove_dead_blocks(s, old, count);
    return true;
}

static bool keep_none(simplifier *s, ir_block *b) {
    ir_block **old = ir_dup(s->scratch, b->succ, b->nsucc * sizeof *b->succ);
    uint32_t count = b->nsucc;
    ir_make_unreachable(b);
    remove_dead_blocks(s, old, count);
    return true;
}

/* Is c a comparison C < x, where C + 1 does not wrap, with a single use? */
static bool is_turned(const ir_inst *c) {
    if ((c->op != IR_OP_slt && c->op != IR_OP_ult) || c->uses->next) return false;
    if (!ir_is_int(ir_arg(c, 0)->type)) return false;
    const ir_inst *limit = ir_arg(c, 0);
    unsigned bits = ir_bits(NULL, limit->type);
    uint64_t most = c->op == IR_OP_slt ? UINT64_MAX >> 1 >> (64 - bits) : ir_zext(UINT64_MAX, bits);
    return ir_is_const(limit) && limit->imm.bits != most;
}

static bool turn_br(simplifier *s, ir_block *b) {
    ir_inst *c = ir_arg(b->last, 0), *limit = ir_arg(c, 0);
    ir_inst *end = ir_const(s->f, limit->type, limit->imm.bits + 1);
    ir_before(&s->b, b->last);
    ir_set_arg(b->last, 0, ir_build2(&s->b, (ir_op)c->op, IR_I1, ir_arg(c, 1), end));
    ir_swap_succs(b);
    ir_remove(c);
    s->changed = true;
    return true;
}

static bool simplify_br(simplifier *s, ir_block *b) {
    const ir_inst *c = ir_arg(b->last, 0);
    if (ir_is_const(c)) return keep_edge(s, b, c->imm.bits & 1 ? 0 : 1);
    if (is_turned(c)) return turn_br(s, b);
    if (b->succ[0] == b->succ[1]) return keep_edge(s, b, 0);
    if (is_dead_end(b->succ[0])) return keep_edge(s, b, 1);
    return is_dead_end(b->succ[1]) && keep_edge(s, b, 0);
}

static void drop_case(simplifier *s, ir_block *b, unsigned n) {
    ir_block *to = b->succ[n];
    ir_remove_edge(b, n);
    ir_drop_arg(b->last, n);
    remove_if_dead(s, to);
}

/* The default cannot be taken: the last case needs no comparison then. */
static void drop_default(simplifier *s, ir_block *b) {
    unsigned last = b->nsucc - 1;
    ir_block *to = b->succ[last], *dead = b->succ[0];
    unsigned from = ir_pred_index(to, b);
    ir_redirect_edge(b, 0, to);
    foreach_phi (phi, to) ir_append_arg(phi, ir_arg(phi, from));
    drop_case(s, b, last);
    remove_if_dead(s, dead);
}

static bool drop_cases(simplifier *s, ir_block *b) {
    bool any = false;
    for (unsigned n = b->nsucc - 1; n > 0; n--) {
        if (b->succ[n] != b->succ[0] && !is_dead_end(b->succ[n])) continue;
        drop_case(s, b, n);
        any = true;
    }
    if (b->nsucc == 1 || !is_dead_end(b->succ[0])) return any;
    drop_default(s, b);
    return true;
}

static unsigned case_of(const ir_inst *term, uint64_t bits) {
    for (unsigned n = 1; n < term->nargs; n++)
        if (ir_arg(term, n)->imm.bits == bits) return n;
    return 0;
}

/* Successor 0, the default, is taken when the selector differs from the only case. */
static void make_br(simplifier *s, ir_block *b) {
    ir_inst *term = b->last;
    ir_before(&s->b, term);
    s->b.loc = term->loc;
    ir_inst *c = ir_build2(&s->b, IR_OP_ne, IR_I1, ir_arg(term, 0), ir_arg(term, 1));
    ir_build_raw(&s->b, IR_OP_br, IR_VOID, IR_PLAIN, IR_ARGS(c));
    ir_remove(term);
}

static bool simplify_switch(simplifier *s, ir_block *b) {
    const ir_inst *on = ir_arg(b->last, 0);
    if (ir_is_const(on)) return keep_edge(s, b, case_of(b->last, on->imm.bits));
    bool any = drop_cases(s, b);
    if (b->nsucc == 1) return keep_edge(s, b, 0);
    if (b->nsucc > 2) return any;
    make_br(s, b);
    return true;
}

static bool simplify_terminator(simplifier *s, ir_block *b) {
    switch (b->last->op) {
    case IR_OP_jmp: return is_dead_end(b->succ[0]) && keep_none(s, b);
    case IR_OP_br: return simplify_br(s, b);
    case IR_OP_switch: return simplify_switch(s, b);
    default: return false;
    }
}

/* --------------------------------------------------------------------------- straight-line code */

static bool merge_successor(simplifier *s, ir_block *b) {
    ir_block *tail = b->nsucc == 1 ? b->succ[0] : NULL;
    if (!tail || b->last->op != IR_OP_jmp || tail->npred != 1 || tail == b) return false;
    simplify_phis(s, tail);
    b->mark |= tail->mark & LATCH;
    tail->mark |= GONE;
    ir_merge_block(b);
    return true;
}

/* ------------------------------------------------------------------------------------ bypassing */

/* What v, a value at the end of `via`, is when control came there by its edge number `in`. */
static ir_inst *value_through(const ir_block *via, unsigned in, ir_inst *v) {
    return v->op == IR_OP_phi && v->block == via ? ir_arg(v, in) : v;
}

static bool is_pred(const ir_block *b, const ir_block *pred) {
    for (uint32_t p = 0; p < b->npred; p++)
        if (b->pred[p] == pred) return true;
    return false;
}

/* May `p` go to `to` directly instead of through `via`?  If it goes there already, phis must get
 * the same value both ways. */
static bool may_bypass(const ir_block *p, const ir_block *via, const ir_block *to) {
    if (!is_pred(to, p)) return true;
    unsigned in = ir_pred_index(via, p), out = ir_pred_index(to, via), own = ir_pred_index(to, p);
    foreach_phi (phi, to)
        if (value_through(via, in, ir_arg(phi, out)) != ir_arg(phi, own)) return false;
    return true;
}

/* Makes every edge from p to `via` one to `to`.  The new arguments of phis come first, while those
 * of `via` are still there; a phi that grows may move, so each is read from its current place. */
static void bypass(simplifier *s, ir_block *p, ir_block *via, ir_block *to) {
    for (unsigned n = 0; n < p->nsucc; n++) {
        if (p->succ[n] != via) continue;
        unsigned in = ir_pred_index(via, p), out = ir_pred_index(to, via);
        foreach_phi (phi, to) ir_append_arg(phi, value_through(via, in, ir_arg(phi, out)));
        ir_redirect_edge(p, n, to);
    }
    touch_around(s, p);
}

/* Are b's phis used by its terminator and, on edges from b, by phis of its successors only? */
static bool passes_phis_on(const ir_block *b) {
    foreach_phi (phi, b)
        for (const ir_use *u = phi->uses; u; u = u->next) {
            const ir_inst *user = u->user;
            if (user == b->last) continue;
            if (user->op != IR_OP_phi || user->block->pred[u - user->arg] != b) return false;
        }
    return true;
}

static bool has_only_phis(const ir_block *b) { return ir_first_non_phi(b) == b->last; }

/* A block that only jumps to `to`, and may it go without harm to the shape of loops? */
static bool may_forward(const ir_block *b, const ir_block *to) {
    if (b->last->op != IR_OP_jmp || to == b || !has_only_phis(b) || (b->mark & HEADER))
        return false;
    if ((to->mark & HEADER) && (b->npred != 1 || !(b->mark & LATCH))) return false;
    return passes_phis_on(b);
}

static bool forward(simplifier *s, ir_block *b) {
    if (b == s->f->first || b->nsucc != 1) return false;
    ir_block *to = b->succ[0];
    if (!may_forward(b, to)) return false;
    for (uint32_t p = 0; p < b->npred; p++)
        if (!may_bypass(b->pred[p], b, to)) return false;
    while (b->npred) {
        b->pred[b->npred - 1]->mark |= b->mark & LATCH;
        bypass(s, b->pred[b->npred - 1], b, to);
    }
    remove_if_dead(s, b);
    return true;
}

/* Blocks that only jump to each other are bypassed from the last one on: in the other order, each
 * edge would be moved as often as there are blocks. */
static bool forward_chain(simplifier *s, ir_block *b) {
    ir_block_list chain = {0};
    bool any = false;
    do {
        b->mark &= ~(uint32_t)QUEUED; /* it is done now, and need not begin a chain itself */
        *ir_push(s->scratch, &chain) = b;
        b = b->nsucc == 1 && has_only_phis(b) ? b->succ[0] : NULL;
    } while (b && b->mark & QUEUED);
    while (chain.n) any |= forward(s, chain.data[--chain.n]);
    return any;
}

/* The successor that b goes to when its condition is v; NULL when that is not known. */
static ir_block *target_for(const ir_block *b, const ir_inst *v) {
    if (!ir_is_const(v)) return NULL;
    if (b->last->op == IR_OP_br) return b->succ[v->imm.bits & 1 ? 0 : 1];
    return b->succ[case_of(b->last, v->imm.bits)];
}

/* The condition's value in `b`, when a branch on it before led there; NULL: none did. */
static ir_inst *decided_before(ir_func *f, const ir_inst *c, const ir_block *from,
                               const ir_block *b) {
    for (unsigned n = 0; n < MAX_CLIMB; n++) {
        const ir_inst *br = from->last;
        if (br->op == IR_OP_br && ir_arg(br, 0) == c && from->succ[0] != from->succ[1])
            return ir_const(f, IR_I1, from->succ[0] == b);
        if (from->npred != 1) return NULL;
        b = from;
        from = from->pred[0];
    }
    return NULL;
}

/* The successor of b if control comes there by its edge number p; NULL: it is not known. */
static ir_block *way_from(simplifier *s, const ir_block *b, uint32_t p) {
    ir_inst *c = ir_arg(b->last, 0);
    ir_inst *v = value_through(b, p, c);
    if (v == c && b->last->op == IR_OP_br) v = decided_before(s->f, c, b->pred[p], b);
    ir_block *to = v ? target_for(b, v) : NULL;
    return to && to != b && !(to->mark & HEADER) && may_bypass(b->pred[p], b, to) ? to : NULL;
}

static bool may_thread(simplifier *s, const ir_block *b) {
    if (b->last->op != IR_OP_br && b->last->op != IR_OP_switch) return false;
    if (!has_only_phis(b) || (b->mark & HEADER)) return false;
    for (uint32_t p = 0; p < b->npred; p++)
        if (way_from(s, b, p)) return true;
    return false;
}

/* The successor of b through which alone a use is reached, or NULL. */
static ir_block *only_way_to(const ir_dom *dom, const ir_block *b, const ir_use *u) {
    const ir_block *at = ir_use_block(u);
    for (unsigned n = 0; n < b->nsucc; n++)
        if (b->succ[n]->npred == 1 && ir_block_dominates(dom, b->succ[n], at)) return b->succ[n];
    return NULL;
}

/* Gives each successor of b a phi for the uses of `phi` that only it leads to. */
static void pass_on(simplifier *s, ir_inst *phi) {
    ir_block *b = phi->block;
    const ir_dom *dom = ir_dominators(s->f);
    for (unsigned n = 0; n < b->nsucc; n++) {
        ir_inst *own = NULL;
        foreach_use (u, phi) {
            if (u->user == b->last || only_way_to(dom, b, u) != b->succ[n]) continue;
            if (u->user == own) continue;
            if (!own) own = ir_append_arg(ir_build_phi(b->succ[n], phi->type), phi);
            ir_set_arg(u->user, (unsigned)(u - u->user->arg), own);
        }
    }
}

static void pass_phis_on(simplifier *s, ir_block *b) {
    b->mark &= ~(uint32_t)WAITING;
    if ((b->mark & GONE) || !may_thread(s, b)) return;
    foreach_phi (phi, b) pass_on(s, phi);
    if (passes_phis_on(b)) touch(s, b);
}

/* Phis may be read by b's terminator, and by phis of its successors for the edge from b. */
static bool thread(simplifier *s, ir_block *b) {
    if (!may_thread(s, b)) return false;
    if (!passes_phis_on(b)) {
        if (!(b->mark & WAITING)) *ir_push(s->scratch, &s->waiting) = b;
        b->mark |= WAITING;
        return false;
    }
    ir_block_list from = {0};
    for (uint32_t p = b->npred; p-- > 0;) {
        ir_block *to = p < b->npred ? way_from(s, b, p) : NULL;
        if (!to) continue;
        *ir_push(s->scratch, &from) = b->pred[p];
        bypass(s, b->pred[p], b, to);
    }
    if (!from.n) return false;
    remove_if_dead(s, b);
    /* At once, since the branch that decides the next block must be near. */
    for (uint32_t k = 0; k < from.n; k++)
        if (!(from.data[k]->mark & GONE)) merge_successor(s, from.data[k]);
    return true;
}

/* ---------------------------------------------------------------------------------------- entry */

static bool simplify_block(simplifier *s, ir_block *b) {
    unsigned edge; /* of a hammock: it leads to an empty arm, which is merged next */
    return simplify_phis(s, b) || simplify_terminator(s, b) || merge_successor(s, b) ||
           forward_chain(s, b) || thread(s, b) ||
           (pass_select_arms(&s->b, b, &edge) && keep_edge(s, b, edge));
}

static void start(simplifier *s) {
    const ir_order *o = &ir_dominators(s->f)->order;
    s->queue.n = s->head = 0;
    foreach_block (b, s->f) b->mark = 0;
    for (uint32_t k = 0; k < o->n; k++) {
        ir_block *b = o->rpo[k];
        for (uint32_t n = 0; n < b->nsucc; n++) {
            if (o->index[b->succ[n]->id] > k) continue;
            b->succ[n]->mark |= HEADER;
            b->mark |= LATCH;
        }
        touch(s, b);
    }
}

static void empty_queue(simplifier *s) {
    while (s->head < s->queue.n) {
        ir_block *b = s->queue.data[s->head++];
        b->mark &= ~(uint32_t)QUEUED;
        while (!(b->mark & GONE) && simplify_block(s, b)) touch_around(s, b);
    }
}

static void run(simplifier *s) {
    start(s);
    empty_queue(s);
    for (unsigned n = 0; s->waiting.n && n < MAX_ROUNDS; n++) {
        /* All at once, since blocks, edges and dominators remain the same meanwhile. */
        for (uint32_t k = 0; k < s->waiting.n; k++) pass_phis_on(s, s->waiting.data[k]);
        s->waiting.n = 0;
        empty_queue(s);
    }
    s->waiting.n = 0;
}

/* Does: removes unreachable blocks, folds and threads branches, merges blocks, makes selects.
 * Needs: nothing.
 * Leaves: the shape of loops; convergent operations and memory accesses where they were.
 * Gives up: on a phi that would need a value it cannot name; on hammocks that are not tiny. */
bool pass_simplifycfg(ir_func *f, pass_ctx *cx) {
    simplifier s = {.f = f, .scratch = cx->scratch};
    ir_builder_init(&s.b, f);
    s.changed = ir_remove_unreachable(f);
    do {
        run(&s);
    } while (ir_remove_unreachable(f));
    return s.changed;
}
