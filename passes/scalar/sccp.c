/* sccp.c — sparse conditional constant propagation.
 *
 * Wegman and Zadeck, "Constant propagation with conditional branches" (1991).  All values are
 * assumed to be constant and all blocks unreachable until the contrary is found: an instruction
 * counts only once its block can be reached, a phi argument only once its edge can be taken.  So
 * constants are found through loops and through branches that they decide themselves.
 *
 * The lattice: known[v] is NULL if nothing is known of value v yet, a leaf if v always is that
 * leaf, and v itself if it has several values.  Leaves are interned, so equality of bits is
 * equality of pointers: -0.0 and 0.0 differ, a NaN equals itself, and a vector is a constant like
 * any other.  Parameters and addresses of globals are leaves, too, and are propagated through phis
 * and selects.  Each value moves down the lattice at most twice, and each block changes once from
 * "no edge" to "one edge" and to "every edge", so the work is linear in uses and edges.
 *
 * An undef argument of a phi or select is taken to equal the other arguments.  A phi with no other
 * arguments becomes zero once nothing else changes.
 *
 * Memory is not analysed, and vectors are not split into lanes.
 */
#include "ir/eval.h"
#include "passes/passes.h"

enum { MAX_OPERANDS = IR_MAX_LANES };

typedef struct edge edge;
struct edge {
    ir_block *from, *to;
    uint32_t place; /* of `from` among the predecessors of `to` */
    edge *next;     /* into the same block */
};

/* How control leaves a block. */
typedef struct {
    bool reached;
    bool every;     /* by any edge */
    ir_block *only; /* or only to here; NULL: not yet */
    edge *out;      /* one per successor */
    edge *in;
} exits;

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    ir_inst **known; /* by value id */
    exits *exits;    /* by block id */
    ir_inst *probe;  /* the instruction being evaluated, with known operands */
    ir_vec(ir_use *) uses;
    ir_vec(edge *) edges;
    ir_vec(ir_block *) reached; /* in the order of discovery */
} sccp;

static ir_inst *known(const sccp *s, ir_inst *v) { return ir_is_leaf(v) ? v : s->known[v->id]; }

/* What a phi learns from this argument: undef would be any of the others. */
static ir_inst *known_choice(const sccp *s, ir_inst *v) {
    return v->op == IR_OP_undef ? NULL : known(s, v);
}

/* Moves i down the lattice to the meet with v, and queues its users. */
static void meet(sccp *s, ir_inst *i, ir_inst *v) {
    if (!v) return;
    ir_inst *old = s->known[i->id];
    ir_inst *now = ir_is_leaf(v) && (!old || old == v) ? v : i;
    if (now == old) return;
    s->known[i->id] = now;
    foreach_use (u, i) *ir_push(s->scratch, &s->uses) = u;
}

/* ----------------------------------------------------------------------------------- evaluation */

/* c decides the result of op alone: x & 0, x * 0, x | ~0. */
static bool is_absorbing(const sccp *s, ir_op op, const ir_inst *c) {
    uint64_t bits;
    if (!c || !ir_is_const(c) || !ir_is_splat(c, &bits)) return false;
    if (op == IR_OP_and || op == IR_OP_mul || op == IR_OP_umin) return bits == 0;
    if (op != IR_OP_or && op != IR_OP_umax) return false;
    return bits == ir_zext(UINT64_MAX, ir_bits(s->f->module, ir_elem(c->type)));
}

/* The value of a select whose arms decide it; NULL: they do not, or not yet. */
static ir_inst *evaluate_select(sccp *s, ir_inst *i) {
    ir_inst *cond = known(s, ir_arg(i, 0)), *yes = ir_arg(i, 1), *no = ir_arg(i, 2);
    uint64_t bits;
    if (!cond) return NULL;
    if (ir_is_const(cond) && ir_is_splat(cond, &bits)) yes = no = bits ? yes : no;
    if (yes->op == IR_OP_undef) yes = no;
    if (no->op == IR_OP_undef) no = yes;
    if (no->op == IR_OP_undef) return i;
    yes = known(s, yes);
    no = known(s, no);
    if (!yes || !no) return yes ? yes : no;
    return yes == no ? yes : NULL;
}

/* The constant that i is when all operands are known; NULL: not yet; i: none. */
static ir_inst *evaluate_operands(sccp *s, ir_inst *i) {
    bool waiting = false, constant = true;
    memcpy(s->probe, i, sizeof *i);
    for (unsigned n = 0; n < i->nargs; n++) {
        ir_inst *v = known(s, ir_arg(i, n));
        if (n < 2 && is_absorbing(s, i->op, v)) return v;
        waiting |= !v;
        constant &= v && (ir_is_const(v) || v->op == IR_OP_undef);
        s->probe->arg[n].val = v;
    }
    if (waiting) return NULL;
    ir_inst *c = constant ? ir_fold(s->f, s->probe) : NULL;
    return c ? c : i;
}

static ir_inst *evaluate(sccp *s, ir_inst *i) {
    if (!ir_has_flag(i, F_PURE) || i->nargs == 0 || i->nargs > MAX_OPERANDS) return i;
    if (i->op != IR_OP_select) return evaluate_operands(s, i);
    ir_inst *choice = evaluate_select(s, i);
    return choice ? choice : evaluate_operands(s, i);
}

/* --------------------------------------------------------------------------------- control flow */

static void list_edges(sccp *s) {
    foreach_block (b, s->f) {
        edge *out = s->exits[b->id].out = ir_new_array(s->scratch, edge, b->nsucc);
        for (unsigned n = 0; n < b->nsucc; n++) {
            exits *to = &s->exits[b->succ[n]->id];
            out[n] = (edge){.from = b, .to = b->succ[n], .next = to->in};
            to->in = &out[n];
        }
    }
    /* An edge that occurs twice has the same argument twice, so either place may be used. */
    foreach_block (b, s->f) {
        if (b->first->op != IR_OP_phi) continue;
        for (uint32_t n = 0; n < b->npred; n++) b->pred[n]->mark = n;
        for (edge *e = s->exits[b->id].in; e; e = e->next) e->place = e->from->mark;
    }
}

static bool is_taken(const sccp *s, const ir_block *from, const ir_block *to) {
    return s->exits[from->id].every || s->exits[from->id].only == to;
}

static void leave_anywhere(sccp *s, ir_block *b) {
    exits *e = &s->exits[b->id];
    if (e->every) return;
    e->every = true;
    for (unsigned n = 0; n < b->nsucc; n++)
        if (b->succ[n] != e->only) *ir_push(s->scratch, &s->edges) = &e->out[n];
}

static void leave_by(sccp *s, ir_block *b, unsigned n) {
    exits *e = &s->exits[b->id];
    if (e->every || e->only == b->succ[n]) return;
    if (e->only) {
        leave_anywhere(s, b);
        return;
    }
    e->only = b->succ[n];
    *ir_push(s->scratch, &s->edges) = &e->out[n];
}

/* The successor that a constant selects. */
static unsigned selected(const ir_inst *i, const ir_inst *on) {
    if (i->op == IR_OP_br) return on->imm.bits ? 0 : 1;
    for (unsigned n = 1; n < i->nargs; n++)
        if (ir_arg(i, n) == on) return n;
    return 0;
}

static void visit_terminator(sccp *s, ir_inst *i) {
    ir_block *b = i->block;
    ir_inst *on = i->op == IR_OP_br || i->op == IR_OP_switch ? known(s, ir_arg(i, 0)) : NULL;
    if (i->op == IR_OP_jmp)
        leave_by(s, b, 0);
    else if (on && ir_is_const(on))
        leave_by(s, b, selected(i, on));
    else if (on)
        leave_anywhere(s, b);
}

static void visit(sccp *s, ir_inst *i) {
    if (ir_is_terminator(i))
        visit_terminator(s, i);
    else if (i->type != IR_VOID && s->known[i->id] != i)
        meet(s, i, evaluate(s, i));
}

/* ---------------------------------------------------------------------------------- propagation */

static void reach(sccp *s, ir_block *b) {
    if (s->exits[b->id].reached) return;
    s->exits[b->id].reached = true;
    *ir_push(s->scratch, &s->reached) = b;
    for (ir_inst *i = ir_first_non_phi(b); i; i = i->next) visit(s, i);
}

static void revisit(sccp *s, const ir_use *u) {
    ir_inst *i = u->user;
    if (!s->exits[i->block->id].reached) return;
    if (i->op != IR_OP_phi)
        visit(s, i);
    else if (is_taken(s, i->block->pred[u - i->arg], i->block))
        meet(s, i, known_choice(s, u->val));
}

static void propagate(sccp *s) {
    while (s->edges.n || s->uses.n) {
        if (!s->edges.n) {
            revisit(s, s->uses.data[--s->uses.n]);
            continue;
        }
        const edge *e = s->edges.data[--s->edges.n];
        foreach_phi (phi, e->to) meet(s, phi, known_choice(s, ir_arg(phi, e->place)));
        reach(s, e->to);
    }
}

/* A phi of undef only becomes zero, if there is such a constant.  Blocks that are reached by that
 * are appended to the list. */
static void propagate_all(sccp *s) {
    list_edges(s);
    reach(s, s->f->first);
    propagate(s);
    for (uint32_t n = 0; n < s->reached.n; n++)
        foreach_phi (phi, s->reached.data[n]) {
            if (s->known[phi->id]) continue;
            meet(s, phi, ir_is_opaque(phi->type) ? phi : ir_const(s->f, phi->type, 0));
            propagate(s);
        }
}

/* ------------------------------------------------------------------------------------ rewriting */

static bool replace_constants(sccp *s, ir_block *b) {
    bool changed = false;
    foreach_inst (i, b) {
        ir_inst *v = s->known[i->id];
        if (!v || v == i) continue;
        ir_replace_uses(i, v);
        ir_remove(i);
        ir_count(b->func->module->cx, sccp_constants, 1);
        changed = true;
    }
    return changed;
}

static bool decide_branch(const sccp *s, ir_block *b) {
    const exits *e = &s->exits[b->id];
    if (e->every || !e->only || b->nsucc < 2) return false;
    unsigned keep = 0;
    while (b->succ[keep] != e->only) keep++;
    ir_make_jmp(b, keep);
    return true;
}

/* Does:  replaces values that are always the same constant, parameter or address; makes branches
 *        that always go one way into jumps; removes blocks that are then unreachable.
 * Needs: nothing.
 * Leaves: every block reachable; phis with one argument where edges have gone.
 * Gives up: on loads, calls and work-item queries; on operations that are not folded (libm's). */
bool pass_sccp(ir_func *f, pass_ctx *cx) {
    sccp s = {.f = f, .scratch = cx->scratch};
    bool changed = false;
    s.known = ir_new_array(cx->scratch, ir_inst *, f->next_id);
    s.exits = ir_new_array(cx->scratch, exits, f->next_block);
    s.probe = ir_alloc_raw(cx->scratch, sizeof *s.probe + MAX_OPERANDS * sizeof(ir_use));
    propagate_all(&s);
    for (uint32_t n = 0; n < s.reached.n; n++) {
        changed |= replace_constants(&s, s.reached.data[n]);
        changed |= decide_branch(&s, s.reached.data[n]);
    }
    return ir_remove_unreachable(f) || changed;
}
