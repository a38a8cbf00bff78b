/* reload.c — the code that makes registers hold what the plan of spilling says.
 *
 * Edges: what the plan has in a register at the start of a block, but not at the end of a
 * predecessor, is reloaded at that end; the block is its only successor, since critical edges are
 * split.
 *
 * SSA repair: reloads are new values, so what was one value has several definitions.  ir/ssa.c
 * finds the one that reaches each use, and inserts phis.
 *
 * Stores: what is reloaded, or is an operand of a phi in memory, is stored once (stores.c).
 */
#include "codegen/regalloc/spill.h"

typedef struct {
    ra_state *s;
    const ir_order *order;
    const spill_classes *classes;
    const uint32_t *slot; /* by root */
    spill_plan *plan;
    spill_stores stores;
} reload_writer;

/* ---------------------------------------------------------------------------------------- edges */

ir_inst *spill_insert_reload(ra_state *s, spill_plan *plan, ir_inst *v, ra_point at) {
    bool repeats = ra_may_repeat(s->t, v);
    ir_inst *i = repeats ? ra_repeat(s, v, at) : ra_reload(s, v->type, 0, at);
    *ir_push(&s->scratch, &plan->reloads) = (spill_reload){i, v};
    if (!repeats) plan->stored[v->id] = true;
    return i;
}

/* Puts v into a register at the end of a block. */
static void reload_at_end(ra_state *s, spill_plan *plan, ir_block *b, ir_inst *v) {
    if (ra_class(s->t, v) == CG_NO_CLASS || spill_contains(&plan->exit[b->id], v)) return;
    assert(b->nsucc == 1);
    spill_insert_reload(s, plan, v, ra_end_of(b));
    *ir_push(&s->scratch, &plan->exit[b->id]) = v;
}

static void reload_on_edge(ra_state *s, spill_plan *plan, const ir_block *to, unsigned edge) {
    const ra_values *entry = &plan->entry[to->id];
    for (uint32_t k = 0; k < entry->n; k++) {
        ir_inst *v = entry->data[k];
        bool is_phi = v->op == IR_OP_phi && v->block == to;
        reload_at_end(s, plan, to->pred[edge], is_phi ? ir_arg(v, edge) : v);
    }
}

/* The operand of a phi in memory is in the slot already, unless it is a constant. */
static void store_operand(reload_writer *w, ir_block *b, const ir_inst *phi, ir_inst *v) {
    if (v->op == IR_OP_undef) return;
    if (!ir_is_leaf(v)) {
        w->plan->stored[v->id] = true;
        return;
    }
    ir_inst *move = ra_move(w->s, v, ra_end_of(b));
    ra_note_minimal(w->s, move);
    ra_spill(w->s, move, w->slot[spill_root(w->classes, phi)], ra_end_of(b));
}

static void store_operands_of_phis(reload_writer *w) {
    for (uint32_t k = 0; k < w->order->n; k++) {
        const ir_block *b = w->order->rpo[k];
        foreach_phi (phi, b)
            for (uint32_t n = 0; w->plan->in_memory[phi->id] && n < b->npred; n++)
                store_operand(w, b->pred[n], phi, ir_arg(phi, n));
    }
}

/* ----------------------------------------------------------------------------------- SSA repair */

typedef struct {
    const reload_writer *w;
    ir_inst *v; /* the value that is being repaired */
    ir_ssa ssa;
    bool placed; /* phis of v have their places */
} repair;

/* The block of the use, or the predecessor if the user is a phi; NULL: the use stays as it is. */
static ir_block *find_use_block(const repair *r, const ir_use *u) {
    const bool *in_memory = r->w->plan->in_memory;
    const ir_inst *user = u->user;
    if (user->op != IR_OP_phi)
        return user->block != r->v->block || in_memory[r->v->id] ? user->block : NULL;
    return user->id < r->w->classes->nvalues && in_memory[user->id] ? NULL : ir_use_block(u);
}

/* Phis are placed only where v is live, which is in few blocks if it is reloaded. */
static void place_phis(repair *r) {
    if (r->placed) return;
    foreach_use (u, r->v) {
        ir_block *b = find_use_block(r, u);
        bool is_at_end = u->user->op == IR_OP_phi;
        if (b && !(is_at_end && r->ssa.end[b->id])) ir_ssa_announce(&r->ssa, b);
    }
    ir_ssa_place(&r->ssa, r->ssa.live);
    r->placed = true;
}

/* The definition that reaches the end of b.  Most are found without a join on the way, which needs
 * no phis. */
static ir_inst *find_at_end(repair *r, ir_block *b) {
    const ir_block *up = b;
    while (!r->ssa.end[up->id] && up->npred == 1) up = up->pred[0];
    if (r->ssa.end[up->id]) return r->ssa.end[up->id];
    place_phis(r);
    return ir_ssa_at_end(&r->ssa, b);
}

static ir_inst *find_at_start(repair *r, ir_block *b) {
    if (b->npred == 1) return find_at_end(r, b->pred[0]);
    place_phis(r);
    return ir_ssa_at_head(&r->ssa, b);
}

static void repair_use(repair *r, ir_use *u) {
    ir_block *b = find_use_block(r, u);
    unsigned arg = (unsigned)(u - u->user->arg);
    if (!b) return;
    ir_set_arg(u->user, arg, u->user->op == IR_OP_phi ? find_at_end(r, b) : find_at_start(r, b));
}

/* Uses after a reload in the same block already name that reload. */
static void repair_value(repair *r, ir_inst *v) {
    r->v = v;
    r->placed = false;
    ir_ssa_begin(&r->ssa, r->w->s->f, &r->w->s->scratch, v->type);
    if (!r->w->plan->in_memory[v->id]) ir_ssa_def(&r->ssa, v->block, v);
    for (uint32_t k = r->w->stores.first[v->id]; k; k = r->w->stores.next[k - 1]) {
        ir_inst *i = r->w->plan->reloads.data[k - 1].inst;
        ir_ssa_def(&r->ssa, i->block, i);
    }
    foreach_use (u, v) repair_use(r, u);
    ir_ssa_finish(&r->ssa);
}

static void repair_values(const reload_writer *w) {
    repair r = {.w = w};
    for (uint32_t k = 0; k < w->plan->reloads.n; k++) {
        ir_inst *v = w->plan->reloads.data[k].v;
        if (w->stores.first[v->id] == k + 1) repair_value(&r, v);
    }
}

/* ------------------------------------------------------------------------- stores and leftovers */

/* Removes a move of an isolated phi that is never stored. */
static void remove_move(const reload_writer *w, ir_inst *move) {
    if (move->op != IR_OP_move || w->plan->stored[move->id]) return;
    ir_replace_uses(move, ir_arg(move, 0));
    ir_remove(move);
}

/* A phi that has a register need not be isolated. */
static void unite_isolated(const reload_writer *w, const spill_isolated *x) {
    if (w->plan->in_memory[x->phi->id]) return;
    for (unsigned n = 0; n < x->phi->nargs; n++) {
        ir_inst *v = ir_arg(x->phi, n);
        if (v->id >= w->classes->nold && v->id < w->classes->nvalues) remove_move(w, v);
    }
    remove_move(w, x->move);
}

static void finish_value(const reload_writer *w, ir_inst *v) {
    if (w->plan->in_memory[v->id])
        ra_remove_phi(v);
    else if (w->plan->stored[v->id])
        ra_spill(w->s, v, w->slot[spill_root(w->classes, v)],
                 spill_find_store(&w->stores, w->classes, v));
    else if (!v->uses && ra_may_repeat(w->s->t, v))
        ir_remove(v);
}

/* Are there only other reloads between a reload and its only user? */
static bool is_before_user(const ir_inst *reload) {
    const ir_use *u = reload->uses;
    const ir_inst *i = reload->next;
    while (i && i->op == IR_OP_reload) i = i->next;
    return u && !u->next && u->user == i;
}

static void fold(const cg_target *t, ir_inst *reload) {
    cg_constraints constraints;
    const ir_use *u = reload->uses;
    ir_inst *user = u->user;
    unsigned n = (unsigned)(u - user->arg);
    ra_describe(t, user, &constraints);
    bool free = n < constraints.nargs && constraints.arg[n].fixed == CG_ANY_REG &&
                constraints.tied != (int)n && constraints.arg[n].class < CG_MAX_CLASSES;
    if (!free || !t->fold_reload(t, user, n)) return;
    ir_count(user->block->func->module->cx, spill_folded, 1);
    ir_set_arg(user, n, ir_slot(user->block->func, cg_slot_of(reload)));
    ir_remove(reload);
}

/* The slots of reloads are known now; a reload may become an operand of its user. */
static void finish_reload(const reload_writer *w, const spill_reload *r) {
    if (!r->inst->uses) ir_remove(r->inst);
    if (!r->inst->block || r->inst->op != IR_OP_reload) return;
    cg_set_slot(r->inst, w->slot[spill_root(w->classes, r->v)]);
    if (w->s->t->fold_reload && is_before_user(r->inst)) fold(w->s->t, r->inst);
}

void spill_write_code(ra_state *s, const ra_graph *g, const spill_classes *c,
                      const spill_intervals *intervals, spill_plan *plan) {
    const ir_order *order = g->order;
    for (uint32_t k = 0; k < order->n; k++)
        for (uint32_t n = 0; n < order->rpo[k]->npred; n++)
            reload_on_edge(s, plan, order->rpo[k], n);
    for (uint32_t k = 0; k < order->n; k++)
        foreach_phi (phi, order->rpo[k]) plan->stored[phi->id] |= plan->in_memory[phi->id];
    reload_writer w = {s,    order,
                       c,    spill_find_slots(s, c, intervals, plan->stored),
                       plan, spill_find_stores(s, g, c, plan)};
    store_operands_of_phis(&w);
    repair_values(&w);
    foreach_in (const spill_isolated, x, c->isolated) unite_isolated(&w, x);
    for (uint32_t k = 0; k < order->n; k++)
        foreach_inst (i, order->rpo[k])
            if (i->id < c->nvalues) finish_value(&w, i);
    foreach_in (const spill_reload, r, plan->reloads) finish_reload(&w, r);
}
