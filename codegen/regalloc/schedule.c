/* schedule.c — another order for blocks in which too many values live at once.
 *
 * Machines of today find what can run early by themselves; what they cannot do is to need fewer
 * registers.  So only blocks are looked at in which registers do not suffice, and their order
 * changes only when it gets better: by the sum, over all places, of the values for which there is
 * no register.
 *
 * From the end of the block to its start, one instruction after the other is put in front of those
 * that are placed.  It is one whose users are all placed, and of the few that became so last the
 * one that lets most values end, or fewest begin.  Taking what became ready last keeps the parts of
 * one expression together, as Sethi and Ullman (1970) do with trees.
 *
 * What reads or writes memory, or does more than give a result, keeps its order.
 */
#include "codegen/regalloc/spill.h"

#include <limits.h>

enum { WINDOW = 4 }; /* instructions among which one is chosen */

typedef struct {
    spill_state *p;
    uint8_t *class;  /* by value id */
    uint32_t *waits; /* by id: what has to follow it and is not placed, + 1; 0: it stays */
    ir_inst **above; /* by id: of those that keep their order, the one in front */
    ir_live_here here;
    spill_count n;   /* live values */
    uint64_t excess; /* live values for which there is no register, summed over places */
    ra_values ready, placed;
} scheduler;

/* --------------------------------------------------------------------------------------- values */

static bool is_live(const scheduler *k, const ir_inst *v) {
    return k->class[v->id] != CG_NO_CLASS && ir_live_has(&k->here, v);
}

static void add_live(scheduler *k, const ir_inst *v) {
    uint8_t class = k->class[v->id];
    if (class == CG_NO_CLASS || is_live(k, v)) return;
    ir_live_mark(&k->here, v, true);
    k->n.n[class]++;
}

static void begin_at_end(scheduler *k, const ir_block *b) {
    ir_live_begin(&k->here, b);
    k->n = spill_count_live(k->p, &k->p->live->out[b->id]);
    k->excess = 0;
    for (unsigned n = 0; n < b->last->nargs; n++) add_live(k, ir_arg(b->last, n));
}

static void pass_inst(scheduler *k, const ir_inst *i) {
    if (is_live(k, i)) k->n.n[k->class[i->id]]--;
    ir_live_mark(&k->here, i, false);
    for (unsigned n = 0; n < i->nargs; n++) add_live(k, ir_arg(i, n));
    for (unsigned c = 0; c < k->p->s->t->nclasses; c++)
        if (k->n.n[c] > k->p->registers[c]) k->excess += k->n.n[c] - k->p->registers[c];
}

/* ---------------------------------------------------------------------------------------- order */

static bool keeps_order(const scheduler *k, const ir_inst *i) {
    const cg_target *t = k->p->s->t;
    return i->type == IR_VOID || (i->op == IR_OP_mach && t->has_effect(t, i));
}

static void count_waits(scheduler *k, ir_inst *first, const ir_inst *end) {
    ir_inst *above = NULL;
    for (ir_inst *i = first; i != end; i = i->next) {
        k->waits[i->id] = 1;
        for (unsigned n = 0; n < i->nargs; n++)
            k->waits[ir_arg(i, n)->id] += k->waits[ir_arg(i, n)->id] > 0;
        if (!keeps_order(k, i)) continue;
        if (above) k->waits[above->id]++;
        k->above[i->id] = above;
        above = i;
    }
}

static void release(scheduler *k, ir_inst *v) {
    if (v && k->waits[v->id] && --k->waits[v->id] == 1) *ir_push(&k->p->s->scratch, &k->ready) = v;
}

static bool is_repeated(const ir_inst *i, unsigned n) {
    for (unsigned m = 0; m < n; m++)
        if (ir_arg(i, m) == ir_arg(i, n)) return true;
    return false;
}

/* Values that begin to live when i is placed, less its result. */
static int growth(const scheduler *k, const ir_inst *i) {
    int n = is_live(k, i) ? -1 : 0;
    for (unsigned m = 0; m < i->nargs; m++) {
        const ir_inst *v = ir_arg(i, m);
        n += !is_live(k, v) && k->class[v->id] != CG_NO_CLASS && !is_repeated(i, m);
    }
    return n;
}

/* Takes one of those that became ready last. */
static ir_inst *choose(scheduler *k) {
    uint32_t n = k->ready.n, end = n > WINDOW ? n - WINDOW : 0, best = n - 1;
    int least = INT_MAX;
    for (uint32_t m = n; m-- > end && n > 1;) {
        int now = growth(k, k->ready.data[m]);
        if (now < least) best = m;
        if (now < least) least = now;
    }
    if (k->p->s->random) best = ra_random(k->p->s, n);
    ir_inst *i = k->ready.data[best];
    for (; best + 1 < n; best++) k->ready.data[best] = k->ready.data[best + 1];
    k->ready.n--;
    return i;
}

static void place_all(scheduler *k, ir_inst *first, const ir_inst *end) {
    k->placed.n = 0;
    for (ir_inst *i = first; i != end; i = i->next)
        if (k->waits[i->id] == 1) *ir_push(&k->p->s->scratch, &k->ready) = i;
    while (k->ready.n) {
        ir_inst *i = choose(k);
        *ir_push(&k->p->s->scratch, &k->placed) = i;
        pass_inst(k, i);
        for (unsigned n = 0; n < i->nargs; n++) release(k, ir_arg(i, n));
        release(k, k->above[i->id]);
    }
}

/* --------------------------------------------------------------------------------------- blocks */

static ir_inst *first_movable(const ir_block *b) {
    ir_inst *i = ir_first_non_phi(b);
    while (i->op == IR_OP_reg_in || i->op == IR_OP_alloca) i = i->next;
    return i;
}

static uint64_t excess_of(scheduler *k, const ir_block *b, const ir_inst *first) {
    begin_at_end(k, b);
    for (const ir_inst *i = b->last; i != first;) pass_inst(k, i = i->prev);
    return k->excess;
}

/* Does it need too many registers all the same?  Not for values alone, when there is no excess. */
static bool pass_block(scheduler *k, ir_block *b) {
    ir_inst *first = first_movable(b);
    uint64_t before = excess_of(k, b, first);
    if (!before && !k->p->s->random) return true;
    count_waits(k, first, b->last);
    begin_at_end(k, b);
    place_all(k, first, b->last);
    for (ir_inst *i = first; i != b->last; i = i->next) k->waits[i->id] = 0;
    if (k->excess >= before && !k->p->s->random) return true;
    for (uint32_t n = k->placed.n; n-- > 0;) ir_move_before(k->placed.data[n], b->last);
    return k->excess > 0;
}

static bool has_too_few(const spill_state *p, const ir_block *b) {
    bool too_few = p->s->random;
    for (unsigned c = 0; c < p->s->t->nclasses; c++)
        too_few |= p->pressure[b->id].n[c] > p->registers[c];
    return too_few;
}

bool spill_schedule(spill_state *p) {
    uint32_t values = p->s->f->next_id;
    scheduler k = {.p = p};
    bool still = false;
    k.class = ir_alloc(&p->s->scratch, values);
    memset(k.class, CG_NO_CLASS, values);
    foreach_block (b, p->s->f)
        foreach_inst (i, b) k.class[i->id] = ra_class(p->s->t, i);
    k.waits = ir_new_array(&p->s->scratch, uint32_t, values);
    k.above = ir_new_array(&p->s->scratch, ir_inst *, values);
    k.here =
        (ir_live_here){.live = p->live, .seen = ir_new_array(&p->s->scratch, uint32_t, values)};
    foreach_block (b, p->s->f)
        if (has_too_few(p, b)) still |= pass_block(&k, b);
    return still;
}
