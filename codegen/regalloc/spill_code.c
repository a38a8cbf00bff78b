/* spill_code.c — the code that makes registers hold what spill.c has decided.
 *
 * Edges: what the successor expects in a register and the predecessor does not have there is
 * reloaded at the end of the predecessor, whose only successor it is, since critical edges are
 * split. Names: reloads are new values, so what was one value has several definitions; ir/ssa.c
 * finds the one that each use means. Stores: what is reloaded, or read by a phi in memory, is
 * stored once, after its definition.
 */
#include "codegen/regalloc/spill.h"

/* -------------------------------------------------------------------------------------- reloads */

ir_inst *spill_fetch(spill_state *p, ir_inst *v, ir_block *b, ir_inst *at) {
    bool repeats = ra_may_repeat(p->s->t, v);
    ir_inst *i = repeats ? ra_repeat(p->s, v, b, at) : ra_reload(p->s, v->type, 0, b, at);
    *ir_push(&p->s->scratch, &p->reloads) = (spill_reload){i, v};
    if (!repeats) p->stored[v->id] = true;
    return i;
}

static bool has(const ra_values *set, const ir_inst *v) {
    for (uint32_t k = 0; k < set->n; k++)
        if (set->data[k] == v) return true;
    return false;
}

/* v in a register at the end of a block. */
static void need_at_end(spill_state *p, ir_block *b, ir_inst *v) {
    if (ra_class(p->s->t, v) == CG_NO_CLASS || has(&p->exit[b->id], v)) return;
    assert(b->nsucc == 1);
    spill_fetch(p, v, b, b->last);
    *ir_push(&p->s->scratch, &p->exit[b->id]) = v;
}

/* A phi in memory: its operand is in the slot already, unless it is a constant. */
static void need_in_memory(spill_state *p, ir_block *b, const ir_inst *phi, ir_inst *v) {
    if (v->op == IR_OP_undef) return;
    if (!ir_is_leaf(v)) {
        p->stored[v->id] = true;
        return;
    }
    ir_inst *m = ra_move(p->s, v, b, b->last);
    ra_note_brief(p->s, m);
    ra_spill(p->s, m, p->slot[spill_web(p, phi)] - 1, b, b->last);
}

static void join_edge(spill_state *p, ir_block *from, ir_block *to, unsigned edge) {
    const ra_values *entry = &p->entry[to->id];
    for (uint32_t k = 0; k < entry->n; k++) {
        ir_inst *v = entry->data[k];
        bool phi = v->op == IR_OP_phi && v->block == to;
        need_at_end(p, from, phi ? ir_arg(v, edge) : v);
    }
}

static void join_edges(spill_state *p) {
    for (uint32_t k = 0; k < p->order->n; k++) {
        ir_block *b = p->order->rpo[k];
        for (uint32_t n = 0; n < b->npred; n++) join_edge(p, b->pred[n], b, n);
    }
}

static void feed_memory_phis(spill_state *p) {
    for (uint32_t k = 0; k < p->order->n; k++) {
        ir_block *b = p->order->rpo[k];
        foreach_phi (phi, b)
            for (uint32_t n = 0; p->in_memory[phi->id] && n < b->npred; n++)
                need_in_memory(p, b->pred[n], phi, ir_arg(phi, n));
    }
}

/* ---------------------------------------------------------------------------------------- names */

typedef struct {
    spill_state *p;
    ir_inst *v; /* the current value */
    ir_ssa ssa;
    uint32_t *first, *next; /* by value id: its first reload + 1; by reload: the next one + 1 */
    bool placed;            /* places for phis of v are known */
} name_state;

static void list_reloads(name_state *n, uint32_t values) {
    n->first = ir_new_array(&n->p->s->scratch, uint32_t, values);
    n->next = ir_new_array(&n->p->s->scratch, uint32_t, n->p->reloads.n);
    for (uint32_t k = n->p->reloads.n; k > 0; k--) {
        uint32_t *first = &n->first[n->p->reloads.data[k - 1].v->id];
        n->next[k - 1] = *first;
        *first = k;
    }
}

/* At the end of b, when a definition is there or above it without a join between; or NULL. */
static ir_inst *find_near(const name_state *n, const ir_block *b) {
    while (!n->ssa.end[b->id] && b->npred == 1) b = b->pred[0];
    return n->ssa.end[b->id];
}

/* The block of the use, or in front of it if a phi uses; NULL: the use keeps its name. */
static ir_block *find_read(const name_state *n, const ir_use *u) {
    const spill_state *p = n->p;
    const ir_inst *user = u->user;
    if (user->op != IR_OP_phi)
        return user->block != n->v->block || p->in_memory[n->v->id] ? user->block : NULL;
    return user->id < p->old_ids && p->in_memory[user->id] ? NULL : ir_use_block(u);
}

/* What is reloaded lives in few blocks, which have registers for it. */
static void place_phis(name_state *n) {
    if (n->placed) return;
    foreach_use (u, n->v) {
        ir_block *b = find_read(n, u);
        bool at_end = u->user->op == IR_OP_phi;
        if (b && !(at_end && n->ssa.end[b->id])) ir_ssa_announce(&n->ssa, b);
    }
    ir_ssa_place(&n->ssa, n->ssa.live);
    n->placed = true;
}

static ir_inst *at_end(name_state *n, ir_block *b) {
    ir_inst *near = find_near(n, b);
    if (near) return near;
    place_phis(n);
    return ir_ssa_at_end(&n->ssa, b);
}

static ir_inst *at_head(name_state *n, ir_block *b) {
    if (b->npred == 1) return at_end(n, b->pred[0]);
    place_phis(n);
    return ir_ssa_at_head(&n->ssa, b);
}

static void rename_use(name_state *n, ir_use *u) {
    ir_block *b = find_read(n, u);
    unsigned arg = (unsigned)(u - u->user->arg);
    if (!b) return;
    ir_set_arg(u->user, arg, u->user->op == IR_OP_phi ? at_end(n, b) : at_head(n, b));
}

/* Uses that a reload of the same block serves name it already. */
static void rename_value(name_state *n, ir_inst *v) {
    n->v = v;
    n->placed = false;
    ir_ssa_begin(&n->ssa, n->p->s->f, &n->p->s->scratch, v->type);
    if (!n->p->in_memory[v->id]) ir_ssa_def(&n->ssa, v->block, v);
    for (uint32_t k = n->first[v->id]; k; k = n->next[k - 1]) {
        ir_inst *i = n->p->reloads.data[k - 1].inst;
        ir_ssa_def(&n->ssa, i->block, i);
    }
    foreach_use (u, v) rename_use(n, u);
    ir_ssa_finish(&n->ssa);
}

static void rename_all(spill_state *p) {
    name_state n = {.p = p};
    list_reloads(&n, p->old_ids);
    for (uint32_t k = 0; k < p->reloads.n; k++) {
        ir_inst *v = p->reloads.data[k].v;
        if (n.first[v->id] == k + 1) rename_value(&n, v);
    }
}

/* ---------------------------------------------------------------------- stores and what is left */

static void finish_value(spill_state *p, ir_inst *v) {
    if (p->in_memory[v->id])
        ra_remove_phi(v);
    else if (p->stored[v->id])
        ra_spill(p->s, v, p->slot[spill_web(p, v)] - 1, v->block, ra_place_behind(v));
    else if (!v->uses && ra_may_repeat(p->s->t, v))
        ir_remove(v);
}

static void finish_values(spill_state *p) {
    for (uint32_t k = 0; k < p->order->n; k++)
        foreach_inst (i, p->order->rpo[k])
            if (i->id < p->old_ids) finish_value(p, i);
}

/* Removes a move that is never stored. */
static void join_move(const spill_state *p, ir_inst *m) {
    if (m->op != IR_OP_move || p->stored[m->id]) return;
    ir_replace_uses(m, ir_arg(m, 0));
    ir_remove(m);
}

/* A phi that has a register needs no moves that keep it apart. */
static void join_isolated(const spill_state *p, const spill_isolated *x) {
    if (p->in_memory[x->phi->id]) return;
    for (unsigned n = 0; n < x->phi->nargs; n++) {
        ir_inst *m = ir_arg(x->phi, n);
        if (m->id >= p->own_ids && m->id < p->old_ids) join_move(p, m);
    }
    join_move(p, x->move);
}

/* Are there only other reloads between a reload and the one instruction that it is for? */
static bool is_at_use(const ir_inst *reload) {
    const ir_use *u = reload->uses;
    const ir_inst *i = reload->next;
    while (i && i->op == IR_OP_reload) i = i->next;
    return u && !u->next && u->user == i;
}

static void fold(const cg_target *t, ir_inst *reload) {
    cg_needs needs;
    const ir_use *u = reload->uses;
    ir_inst *user = u->user;
    unsigned n = (unsigned)(u - user->arg);
    ra_describe(t, user, &needs);
    bool free = n < needs.nargs && needs.arg[n].fixed == CG_ANY_REG && needs.tied != (int)n &&
                needs.arg[n].class < CG_MAX_CLASSES;
    if (!free || !t->fold_reload(t, user, n)) return;
    ir_set_arg(user, n, ir_slot(user->block->func, cg_slot_of(reload)));
    ir_remove(reload);
}

/* Reloads know their slots now, and may vanish in the instruction that they are for. */
static void finish_reload(spill_state *p, const spill_reload *r) {
    if (!r->inst->uses) ir_remove(r->inst);
    if (!r->inst->block || r->inst->op != IR_OP_reload) return;
    r->inst->imm.bits = p->slot[spill_web(p, r->v)] - 1;
    if (p->s->t->fold_reload && is_at_use(r->inst)) fold(p->s->t, r->inst);
}

void spill_write_code(spill_state *p) {
    join_edges(p);
    for (uint32_t k = 0; k < p->order->n; k++)
        foreach_phi (phi, p->order->rpo[k]) p->stored[phi->id] |= p->in_memory[phi->id];
    spill_give_slots(p);
    feed_memory_phis(p);
    rename_all(p);
    for (uint32_t k = 0; k < p->isolated.n; k++) join_isolated(p, &p->isolated.data[k]);
    finish_values(p);
    for (uint32_t k = 0; k < p->reloads.n; k++) finish_reload(p, &p->reloads.data[k]);
}
