/* dse.c — writes that nobody reads.
 *
 * Backward data flow.  Bytes are *dead* at a place when on every path from there they are
 * overwritten before anybody can read them, or the function ends whose variable they belong to.  A
 * write of bytes that are dead behind it goes away.  One bit stands for the bytes of one write, and
 * a word of them is looked at together; how many is limited by the queries that they cost.
 *
 * A bit is about an address.  It is carried up into a block only when all that the address is made
 * of is computed before that block: so it never speaks of the address that another iteration has.
 *
 * Only writes that can be dead get a bit: to variables, and to objects that something else writes
 * as well.  Who can read what, and which writes cover others, is alias.c's answer.
 */
#include "passes/analysis.h"

enum { WORD = 64, MAX_QUERIES = 1 << 19, MAX_ROUNDS = 64 };

/* An instruction that touches memory, and what it does to the bytes of each bit. */
typedef struct {
    ir_inst *inst;
    uint64_t reads, covers;
} touch;

typedef struct {
    ir_inst *write;
    const ir_inst *address;
    uint64_t size;
    pass_place place;
} candidate;

typedef struct {
    ir_func *f;
    const ir_dom *dom;
    ir_arena *scratch;
    pass_alias alias;
    ir_vec(touch) touches;    /* in reverse postorder */
    uint32_t *first;          /* by place in that order: its first touch; one more at the end */
    ir_vec(ir_inst *) writes; /* that may get a bit */
    candidate *candidates;
    unsigned n;
    uint64_t *dead;  /* by block id: dead at its start */
    uint64_t *older; /* by block id: what is made of values from before it */
} dse;

/* ----------------------------------------------------------------------------------- candidates */

static bool is_plain_write(const ir_inst *i) {
    bool write = i->op == IR_OP_store || i->op == IR_OP_fill || i->op == IR_OP_copy;
    return write && !(i->imm.mem.flags & IR_MEM_VOLATILE);
}

static const ir_inst *written_object(const dse *d, const ir_inst *i) {
    uint64_t size;
    return pass_object_of(&d->alias, pass_written(&d->alias, i, &size));
}

static void find_touches(dse *d) {
    const ir_order *order = &d->dom->order;
    d->first = ir_new_array(d->scratch, uint32_t, order->n + 1);
    for (uint32_t k = 0; k < order->n; k++) {
        d->first[k] = d->touches.n;
        foreach_inst (i, order->rpo[k])
            if (ir_has_flag(i, F_READS | F_WRITES | F_CONVERGENT))
                *ir_push(d->scratch, &d->touches) = (touch){.inst = i};
    }
    d->first[order->n] = d->touches.n;
}

static void find_writes(dse *d) {
    uint32_t *count = ir_new_array(d->scratch, uint32_t, d->f->next_id);
    for (uint32_t k = 0; k < d->touches.n; k++)
        if (is_plain_write(d->touches.data[k].inst))
            count[written_object(d, d->touches.data[k].inst)->id]++;
    for (uint32_t k = 0; k < d->touches.n; k++) {
        ir_inst *i = d->touches.data[k].inst;
        if (!is_plain_write(i)) continue;
        const ir_inst *object = written_object(d, i);
        if (pass_is_variable(d->alias.f, object) || count[object->id] > 1)
            *ir_push(d->scratch, &d->writes) = i;
    }
}

/* ------------------------------------------------------------------------------------ data flow */

static uint64_t bit(unsigned k) { return UINT64_C(1) << k; }

/* What has been removed touches nothing any more. */
static void describe(const dse *d, touch *t) {
    uint64_t size = 0;
    const ir_inst *to =
        t->inst->block && is_plain_write(t->inst) ? pass_written(&d->alias, t->inst, &size) : NULL;
    t->reads = t->covers = 0;
    for (unsigned k = 0; k < d->n && t->inst->block; k++) {
        const candidate *c = &d->candidates[k];
        if (to && pass_covers(&d->alias, to, size, c->address, c->size)) t->covers |= bit(k);
        if (pass_may_read(&d->alias, t->inst, c->address, c->size)) t->reads |= bit(k);
    }
}

/* Do all values that the address is made of come from blocks that dominate b, and not `but`? */
static bool is_made_above(const dse *d, const candidate *c, const ir_block *b,
                          const ir_block *but) {
    const ir_block *from = c->place.base->block;
    bool above = !from || (from != but && ir_block_dominates(d->dom, from, b));
    for (uint32_t k = 0; k < c->place.offset.n; k++) {
        from = c->place.offset.term[k].of.value->block;
        above = above && (!from || (from != but && ir_block_dominates(d->dom, from, b)));
    }
    return above;
}

/* What is dead behind b's last instruction. */
static uint64_t dead_at_end(const dse *d, const ir_block *b) {
    uint64_t dead = UINT64_MAX;
    for (uint32_t n = 0; n < b->nsucc; n++) dead &= d->dead[b->succ[n]->id];
    for (unsigned k = 0; k < d->n && !b->nsucc; k++) {
        const candidate *c = &d->candidates[k];
        if (!pass_is_variable(d->alias.f, c->place.object) || !is_made_above(d, c, b, NULL))
            dead &= ~bit(k);
    }
    return dead;
}

static uint64_t dead_before(const touch *t, uint64_t dead) {
    return (dead | t->covers) & ~t->reads;
}

static bool flow(dse *d, uint32_t place) {
    const ir_block *b = d->dom->order.rpo[place];
    uint64_t dead = dead_at_end(d, b);
    for (uint32_t k = d->first[place + 1]; k-- > d->first[place];)
        dead = dead_before(&d->touches.data[k], dead);
    dead &= d->older[b->id];
    bool changed = dead != d->dead[b->id];
    d->dead[b->id] = dead;
    return changed;
}

static void begin_flow(dse *d) {
    const ir_order *order = &d->dom->order;
    for (uint32_t k = 0; k < d->touches.n; k++) describe(d, &d->touches.data[k]);
    for (uint32_t k = 0; k < order->n; k++) {
        const ir_block *b = order->rpo[k];
        d->dead[b->id] = UINT64_MAX;
        d->older[b->id] = 0;
        for (unsigned c = 0; c < d->n; c++)
            if (is_made_above(d, &d->candidates[c], b, b)) d->older[b->id] |= bit(c);
    }
}

static bool flow_once(dse *d) {
    bool changed = false;
    for (uint32_t k = d->dom->order.n; k-- > 0;) changed |= flow(d, k);
    return changed;
}

/* From "all is dead" down to what is true; false: it takes too long. */
static bool find_dead(dse *d) {
    unsigned rounds = 0;
    begin_flow(d);
    while (flow_once(d))
        if (++rounds == MAX_ROUNDS) return false;
    return true;
}

static unsigned number_of(const dse *d, const ir_inst *i) {
    unsigned k = 0;
    while (k < d->n && d->candidates[k].write != i) k++;
    return k;
}

/* Removes the dead writes of one block; they stay in the list of touches as if they were there. */
static bool sweep(dse *d, uint32_t place) {
    uint64_t dead = dead_at_end(d, d->dom->order.rpo[place]);
    bool changed = false;
    for (uint32_t k = d->first[place + 1]; k-- > d->first[place];) {
        touch *t = &d->touches.data[k];
        unsigned n = number_of(d, t->inst);
        uint64_t behind = dead;
        dead = dead_before(t, dead);
        if (n == d->n || !(behind & bit(n))) continue;
        ir_remove(t->inst);
        changed = true;
    }
    return changed;
}

/* ------------------------------------------------------------------------------------- the pass */

static void choose(dse *d, uint32_t from, unsigned n) {
    if (!d->candidates) d->candidates = ir_new_array(d->scratch, candidate, n);
    d->n = n;
    for (unsigned k = 0; k < n; k++) {
        candidate *c = &d->candidates[k];
        c->write = d->writes.data[from + k];
        c->address = pass_written(&d->alias, c->write, &c->size);
        c->place = pass_find_place(&d->alias, c->address);
    }
}

static bool run_word(dse *d, uint32_t from, unsigned n) {
    bool changed = false;
    choose(d, from, n);
    if (!find_dead(d)) return false;
    for (uint32_t k = 0; k < d->dom->order.n; k++) changed |= sweep(d, k);
    return changed;
}

/* Does: removes writes that are overwritten, or whose variable ends, before anybody reads them.
 * Needs: nothing; gvn and simplify make addresses comparable.
 * Leaves: the control flow graph; values and addresses without uses.
 * Gives up: on volatile writes, on writes that are overwritten in part, and on those that come last
 *           in functions with very many accesses. */
bool pass_dse(ir_func *f, pass_ctx *cx) {
    dse d = {.f = f, .dom = ir_dominators(f), .scratch = cx->scratch};
    bool changed = false;
    pass_alias_begin(&d.alias, f, cx->scratch);
    find_touches(&d);
    find_writes(&d);
    d.dead = ir_new_array(cx->scratch, uint64_t, f->next_block);
    d.older = ir_new_array(cx->scratch, uint64_t, f->next_block);
    uint32_t most = d.touches.n ? MAX_QUERIES / d.touches.n : 0;
    for (uint32_t k = 0, n; k < d.writes.n && most; k += n, most -= n) {
        n = d.writes.n - k < WORD ? d.writes.n - k : WORD;
        if (n > most) n = most;
        changed |= run_word(&d, k, n);
    }
    return changed;
}
