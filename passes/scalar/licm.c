/* licm.c — loop-invariant code motion.
 *
 * Instructions are visited in reverse postorder, so operands move before their users.  A pure
 * instruction moves before the outermost loop in which none of its operands is computed, to the
 * preheader, which is created if the edge into the loop comes from a branch.  So code in nested
 * loops moves once.
 *
 * An instruction that has moved may be executed although its old place would not have been reached.
 * That is acceptable for cheap operations.  Expensive ones are moved only from blocks that every
 * iteration passes.  Loads and operations that may trap are moved only from blocks that are reached
 * whenever the loop is entered: every exit and every back edge passes there, and no inner loop or
 * call before it may run forever.  A load also requires that nothing in the loop writes what it
 * reads; at barriers and atomics other work-items may write.
 *
 * Nothing moves out of irreducible loops, or loops with several entries.
 */
#include "passes/analysis/alias.h"

enum { MAX_WRITES = 32, MAX_DEPTH = 64 };

/* What is known of a loop. */
typedef struct {
    bool open;        /* one edge enters; things may move out */
    ir_block *before; /* leads to the header only; NULL: not made yet */
    ir_block *each;   /* the last block that every iteration passes before the next begins */
    ir_block *sure;   /* the last block that every iteration passes, also the one that leaves */
    bool listed;      /* the next ones are known */
    bool calls;       /* something that may not return */
    bool many_writes; /* more than are listed */
    ir_vec(const ir_inst *) writes; /* barriers first: those write most of what can be written */
} loop_facts;

typedef struct {
    ir_func *f;
    ir_arena *scratch;
    const ir_loops *loops;
    const ir_dom *dom;
    loop_facts *facts;    /* by block id of the header */
    const ir_loop **home; /* by value id: the innermost loop that it is made in */
    pass_alias alias;     /* once it is asked */
    bool has_own;         /* a parameter leads to memory that other items do not use */
    bool changed;
} mover;

/* Few functions need it.  It has to come before the first edge is split, since what is hoisted to
 * the new block would not be found in the order of blocks. */
static const pass_alias *alias_of(mover *m) {
    if (!m->alias.f) pass_alias_begin_in(&m->alias, m->f, &m->dom->order, m->scratch);
    return &m->alias;
}

/* ---------------------------------------------------------------------------------------- loops */

/* The place of the one edge that enters the loop among the header's predecessors. */
static bool find_entry(const mover *m, const ir_loop *loop, uint32_t *entry) {
    const ir_block *h = loop->header;
    uint32_t n = 0;
    for (uint32_t p = 0; p < h->npred; p++) {
        if (ir_in_loop(m->loops, h->pred[p], loop)) continue;
        *entry = p;
        n++;
    }
    return n == 1;
}

static loop_facts *facts_of(const mover *m, const ir_loop *loop) {
    return &m->facts[loop->header->id];
}

static void join(const mover *m, ir_block **at, ir_block *b) {
    *at = *at ? ir_common_dominator(m->dom, *at, b) : b;
}

static void find_edge_facts(const mover *m, ir_block *b, const ir_block *to) {
    for (const ir_loop *l = m->loops->of[b->id]; l; l = l->parent) {
        bool back = l->header == to;
        if (!back && ir_in_loop(m->loops, to, l)) return;
        if (back) join(m, &facts_of(m, l)->each, b);
        join(m, &facts_of(m, l)->sure, b);
    }
}

static void find_facts(const mover *m) {
    for (uint32_t k = 0; k < m->dom->order.n; k++) {
        ir_block *b = m->dom->order.rpo[k];
        const ir_loop *loop = m->loops->of[b->id];
        uint32_t entry;
        if (loop && loop->header == b)
            facts_of(m, loop)->open =
                !loop->irreducible && loop->depth <= MAX_DEPTH && find_entry(m, loop, &entry);
        for (uint32_t n = 0; n < b->nsucc; n++) find_edge_facts(m, b, b->succ[n]);
    }
}

static ir_block *preheader_of(mover *m, const ir_loop *loop) {
    loop_facts *facts = facts_of(m, loop);
    uint32_t entry = 0;
    if (facts->before || !find_entry(m, loop, &entry)) return facts->before;
    ir_block *from = loop->header->pred[entry];
    unsigned edge = 0;
    while (from->succ[edge] != loop->header) edge++;
    if (from->nsucc > 1) alias_of(m);
    facts->before = from->nsucc == 1 ? from : ir_split_edge(from, edge);
    return facts->before;
}

/* ------------------------------------------------------------------------------------- operands */

static const ir_loop *home_of(const mover *m, const ir_inst *v) {
    return v->block ? m->home[v->id] : NULL;
}

static bool is_invariant(const mover *m, const ir_inst *i, const ir_loop *loop) {
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_loop *made = home_of(m, ir_arg(i, n));
        if (made && ir_loop_contains(loop, made)) return false;
    }
    return true;
}

/* --------------------------------------------------------------------------------------- memory */

static void list_effect(const mover *m, loop_facts *facts, const ir_inst *i) {
    if (!ir_has_flag(i, F_WRITES | F_CONVERGENT)) return;
    facts->calls |= i->op == IR_OP_call;
    facts->many_writes |= facts->writes.n == MAX_WRITES;
    if (facts->many_writes) return;
    *ir_push(m->scratch, &facts->writes) = i;
    if (!ir_has_flag(i, F_CONVERGENT)) return;
    facts->writes.data[facts->writes.n - 1] = facts->writes.data[0];
    facts->writes.data[0] = i;
}

static const loop_facts *effects_of(const mover *m, const ir_loop *loop) {
    loop_facts *facts = facts_of(m, loop);
    if (facts->listed) return facts;
    facts->listed = true;
    for (uint32_t k = 0; k < loop->nblocks; k++)
        foreach_inst (i, loop->block[k]) list_effect(m, facts, i);
    return facts;
}

/* Other items may write at a barrier.  This is asked first: it holds for most loads of kernels with
 * barriers, and needs no analysis of addresses. */
static bool lets_others_write(const mover *m, const loop_facts *facts, const ir_inst *load) {
    const ir_space space = ir_space_of(ir_arg(load, 0)->type);
    return facts->writes.data[0]->op == IR_OP_barrier && !m->has_own &&
           (space == IR_LOCAL || space == IR_GLOBAL);
}

static bool is_written(mover *m, const ir_inst *load, const ir_loop *loop) {
    const loop_facts *facts = effects_of(m, loop);
    uint64_t size = ir_access_size(m->f->module, load->type);
    bool written = facts->many_writes || (facts->writes.n && lets_others_write(m, facts, load));
    for (uint32_t k = 0; k < facts->writes.n && !written; k++)
        written = pass_may_write(alias_of(m), facts->writes.data[k], ir_arg(load, 0), size);
    return written;
}

/* --------------------------------------------------------------------------------------- moving */

static bool dominates(const mover *m, const ir_inst *i, const ir_block *b) {
    return b && ir_block_dominates(m->dom, i->block, b);
}

static bool is_surely_reached(const mover *m, const ir_inst *i, const ir_loop *loop) {
    bool reached =
        i->block == loop->header || (!loop->child && dominates(m, i, facts_of(m, loop)->sure));
    return reached && !effects_of(m, loop)->calls;
}

static bool may_leave(mover *m, const ir_inst *i, const ir_loop *loop) {
    if (!facts_of(m, loop)->open || !is_invariant(m, i, loop)) return false;
    if (ir_is_cheap(i)) return true;
    if (i->op == IR_OP_load) return is_surely_reached(m, i, loop) && !is_written(m, i, loop);
    return ir_has_flag(i, F_TRAPS) ? is_surely_reached(m, i, loop)
                                   : dominates(m, i, facts_of(m, loop)->each);
}

static bool is_movable(const ir_inst *i) {
    if (i->op == IR_OP_load) return !(i->imm.mem.flags & IR_MEM_VOLATILE);
    return i->op != IR_OP_phi && ir_has_flag(i, F_PURE) && !ir_has_flag(i, F_CONVERGENT);
}

static void hoist_inst(mover *m, ir_inst *i) {
    const ir_loop *home = m->loops->of[i->block->id], *out = NULL;
    for (const ir_loop *l = home; l && is_movable(i) && may_leave(m, i, l); l = l->parent) out = l;
    m->home[i->id] = out ? out->parent : home;
    if (!out) return;
    ir_move_before(i, preheader_of(m, out)->last);
    ir_count(i->block->func->module->cx, licm_hoisted, 1);
    m->changed = true;
}

/* Does:  moves invariant instructions, loads included, in front of loops.
 * Needs: nothing; equal values merged (gvn), so that each moves once.
 * Leaves: the control flow graph, but for blocks in front of loops that a branch enters.
 * Gives up: on loops that several edges enter or that are nested deeper than 64; on loads that the
 *        loop may not reach, or with more than 32 writes in it. */
bool pass_licm(ir_func *f, pass_ctx *cx) {
    mover m = {.f = f, .scratch = cx->scratch, .loops = ir_loop_tree(f), .dom = ir_dominators(f)};
    if (!m.loops->n) return false;
    m.facts = ir_new_array(cx->scratch, loop_facts, f->next_block);
    m.home = ir_new_array(cx->scratch, const ir_loop *, f->next_id);
    for (uint32_t k = 0; k < f->nparams; k++) m.has_own |= (f->param[k].attrs & IR_PARAM_OWN) != 0;
    find_facts(&m);
    for (uint32_t k = 0; k < m.dom->order.n; k++)
        if (m.loops->of[m.dom->order.rpo[k]->id])
            foreach_inst (i, m.dom->order.rpo[k]) hoist_inst(&m, i);
    return m.changed;
}
