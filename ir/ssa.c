/* ssa.c — SSA form for one variable at a time.
 *
 * Shared by all passes that turn memory into values or give a value several definitions: mem2reg,
 * unrolling, spilling.  Before: the caller names the definitions.  After: each read has the value
 * that reaches it, through phis that are pruned (each has a reader).
 *
 * A phi may be needed in the iterated dominance frontier of the definitions (Cytron et al. 1991,
 * computed as in dom.c).  It is made when a read reaches such a block; the value at the head of any
 * other block is the value at the end of its immediate dominator.  Filling a phi reads at the ends
 * of its predecessors, which may make further phis.  The method of Braun et al. 2013 needs no
 * frontier, but recurses over the graph, as deep as untrusted input makes it.
 *
 * If a variable is live in few blocks of a large function, such as one that the spiller reloads,
 * announcing the reads first limits the search for the frontier to those blocks.  Values found on
 * the way up are cached, so all reads together cost no more than one walk over the dominator tree.
 * Before the first definition, and in unreachable blocks, the value is undef.
 */
#include "ir/change.h"

/* ------------------------------------------------------------------------------------ variables */

static void forget_last(ir_ssa *s) {
    for (uint32_t i = 0; i < s->defs.n; i++) s->end[s->defs.data[i]->id] = NULL;
    for (uint32_t i = 0; i < s->cached.n; i++) s->head[s->cached.data[i]->id] = NULL;
    for (uint32_t i = 0; i < s->joins.n; i++) s->join[s->joins.data[i]->id] = false;
    for (uint32_t i = 0; i < s->lived.n; i++) s->live[s->lived.data[i]->id] = false;
    s->defs.n = s->cached.n = s->joins.n = s->phis.n = s->lived.n = 0;
}

static void make_tables(ir_ssa *s, ir_func *f, ir_arena *scratch) {
    *s = (ir_ssa){.cap = f->next_block + f->next_block / 2};
    s->end = ir_new_array(scratch, ir_inst *, s->cap);
    s->head = ir_new_array(scratch, ir_inst *, s->cap);
    s->join = ir_new_array(scratch, bool, s->cap);
    s->live = ir_new_array(scratch, bool, s->cap);
}

void ir_ssa_begin(ir_ssa *s, ir_func *f, ir_arena *scratch, ir_type type) {
    if (s->cap < f->next_block)
        make_tables(s, f, scratch);
    else
        forget_last(s);
    s->f = f;
    s->scratch = scratch;
    s->type = type;
}

void ir_ssa_def(ir_ssa *s, ir_block *b, ir_inst *value) {
    assert(value->type == s->type);
    if (!s->end[b->id]) *ir_push(s->scratch, &s->defs) = b;
    s->end[b->id] = value;
}

static void mark_live(ir_ssa *s, ir_block *b) {
    if (s->live[b->id]) return;
    s->live[b->id] = true;
    *ir_push(s->scratch, &s->lived) = b;
}

void ir_ssa_announce(ir_ssa *s, ir_block *b) {
    uint32_t k = s->lived.n;
    for (mark_live(s, b); k < s->lived.n; k++) {
        b = s->lived.data[k];
        for (uint32_t p = 0; p < b->npred; p++)
            if (!s->end[b->pred[p]->id]) mark_live(s, b->pred[p]);
    }
}

void ir_ssa_place(ir_ssa *s, const bool *live_in) {
    ir_iterated_frontier(s->f, &s->defs, live_in, s->scratch, &s->joins);
    for (uint32_t i = 0; i < s->joins.n; i++) s->join[s->joins.data[i]->id] = true;
}

/* ---------------------------------------------------------------------------------------- reads */

static void set_head(ir_ssa *s, ir_block *b, ir_inst *value) {
    s->head[b->id] = value;
    *ir_push(s->scratch, &s->cached) = b;
}

static ir_inst *make_phi(ir_ssa *s, ir_block *b) {
    ir_inst *phi = ir_inst_new(s->f, IR_OP_phi, s->type, b->npred);
    for (uint32_t p = 0; p < b->npred; p++) ir_set_arg(phi, p, ir_undef(s->f, s->type));
    ir_insert(phi, b, b->first);
    *ir_push(s->scratch, &s->phis) = b;
    return phi;
}

/* Goes up from b to the block whose head, or whose dominator's end, has the value; leaves that
 * block in *stop. */
static ir_inst *find_above(ir_ssa *s, ir_block *b, ir_block **stop) {
    const ir_dom *d = ir_dominators(s->f);
    for (;; b = d->idom[b->id]) {
        ir_block *up = d->idom[b->id];
        *stop = b;
        if (s->head[b->id]) return s->head[b->id];
        if (s->join[b->id]) return make_phi(s, b);
        if (!up) return ir_undef(s->f, s->type);
        if (s->end[up->id]) return s->end[up->id];
    }
}

ir_inst *ir_ssa_at_head(ir_ssa *s, ir_block *b) {
    if (s->head[b->id]) return s->head[b->id];
    const ir_dom *d = ir_dominators(s->f);
    ir_block *stop;
    ir_inst *value = find_above(s, b, &stop);
    if (!s->head[stop->id]) set_head(s, stop, value);
    for (; b != stop; b = d->idom[b->id]) set_head(s, b, value);
    return value;
}

ir_inst *ir_ssa_at_end(ir_ssa *s, ir_block *b) {
    return s->end[b->id] ? s->end[b->id] : ir_ssa_at_head(s, b);
}

void ir_ssa_finish(ir_ssa *s) {
    for (uint32_t i = 0; i < s->phis.n; i++) {
        ir_block *b = s->phis.data[i];
        for (uint32_t p = 0; p < b->npred; p++)
            ir_set_arg(s->head[b->id], p, ir_ssa_at_end(s, b->pred[p]));
    }
}

/* ----------------------------------------------------------------------------------------- phis */

/* Another phi of the block does not: it is what the value was one iteration later. */
static bool is_above(const ir_dom *d, const ir_inst *v, const ir_inst *phi) {
    return !v->block || (v->block != phi->block && ir_block_dominates(d, v->block, phi->block));
}

ir_inst *ir_only_argument(ir_func *f, const ir_dom *d, const ir_inst *phi) {
    ir_inst *only = NULL;
    bool undef = false;
    for (unsigned n = 0; n < phi->nargs; n++) {
        ir_inst *v = ir_arg(phi, n);
        bool ignored = d && v->op == IR_OP_undef;
        undef |= ignored;
        if (v == phi || v == only || ignored) continue;
        if (only) return NULL;
        only = v;
    }
    if (!only) return ir_undef(f, phi->type);
    return !undef || is_above(d, only, phi) ? only : NULL;
}
