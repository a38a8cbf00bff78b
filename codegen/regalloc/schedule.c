/* schedule.c — another order for blocks in which too many values are live at once.
 *
 * Processors find by themselves what can be executed early; what they cannot do is to need fewer
 * registers.  So only blocks whose pressure exceeds the registers are scheduled, and a new order is
 * kept only if it is better: by the excess, the sum over all places of live values without a
 * register.  Values that live through a block are a part of it that no order changes.
 *
 * From the end of the block to its start, one instruction after the other is placed before those
 * that are placed.  It is ready when all its users are placed.  Of the few instructions that became
 * ready last, one is chosen that ends most live ranges, or begins fewest: first of all classes of
 * registers, then of those that are lacking.  Taking what became ready last keeps the parts of an
 * expression together, as Sethi and Ullman (1970) do for trees.
 *
 * Instructions that write memory, or have another effect, keep their order; those that only read
 * memory stay between the same two of them.
 */
#include "codegen/regalloc/ra.h"

#include <limits.h>

enum {
    WINDOW = 4, /* instructions among which one is chosen */
    FEW = 3     /* of a block that is scheduled */
};

/* A walk from the end of a block to its start. */
typedef struct {
    ir_live_here here;
    ra_count live;
    uint64_t excess; /* live values without a register, summed over places */
} schedule_walk;

/* What an instruction has to do with memory. */
typedef enum { ACCESS_NONE, ACCESS_READS, ACCESS_ORDERED } schedule_access;

/* The new order of a block, the last instruction first. */
typedef struct {
    uint32_t *waits_for; /* by id: instructions that have to follow and are not placed, + 1; 0: it
                            is not scheduled */
    uint8_t *access;     /* by id: schedule_access */
    ir_inst **above;     /* by id: of those that keep their order, the one before; of reads, too */
    ir_inst **read;      /* by id: of those, the last read before it; of a read, the one before, if
                            both are between the same two */
    ra_values ready, placed;
} schedule_order;

typedef struct {
    ra_state *s;
    const ra_graph *g;
    const ra_pressure *pressure;
    ra_counter *counter;
    const uint8_t *class; /* by value id */
    uint32_t counted;     /* the classes that matter to the order: a bit for each */
    bool writes_late;     /* what writes is placed as soon as it is ready */
    schedule_walk walk;
    schedule_order order;
} scheduler;

/* --------------------------------------------------------------------------------------- excess */

static bool is_live(const scheduler *k, const ir_inst *v) {
    return k->class[v->id] != CG_NO_CLASS && ir_live_has(&k->walk.here, v);
}

static void use_value(scheduler *k, const ir_inst *v) {
    uint8_t class = k->class[v->id];
    if (class == CG_NO_CLASS || is_live(k, v)) return;
    ir_live_mark(&k->walk.here, v, true);
    k->walk.live.n[class]++;
}

static void start_at_end(scheduler *k, const ir_block *b) {
    ir_live_begin(&k->walk.here, b);
    k->walk.live = ra_count_live(k->counter, &k->g->live->out[b->id]);
    k->walk.excess = 0;
    for (unsigned n = 0; n < b->last->nargs; n++) use_value(k, ir_arg(b->last, n));
}

/* Goes from the place after i to that before it. */
static void step_over(scheduler *k, const ir_inst *i) {
    const ra_count *registers = &k->pressure->registers;
    if (is_live(k, i)) k->walk.live.n[k->class[i->id]]--;
    ir_live_mark(&k->walk.here, i, false);
    for (unsigned n = 0; n < i->nargs; n++) use_value(k, ir_arg(i, n));
    for (unsigned c = 0; c < k->s->t->nclasses; c++)
        if (k->walk.live.n[c] > registers->n[c])
            k->walk.excess += k->walk.live.n[c] - registers->n[c];
}

/* The excess of a block: as it is, and what no order changes, since values live through it. */
typedef struct {
    uint64_t now, least;
    bool writes_together; /* more than one instruction writes memory */
} block_excess;

static block_excess measure_excess(scheduler *k, const ir_block *b, const ir_inst *first) {
    block_excess e = {0};
    unsigned writes = 0;
    uint64_t places = 0;
    start_at_end(k, b);
    ra_count through = ra_count_live(k->counter, &k->g->live->out[b->id]);
    for (const ir_inst *i = b->last; i != first; places++) {
        i = i->prev;
        bool leaves = is_live(k, i) && ir_is_live(k->g->live, &k->g->live->out[b->id], i);
        if (leaves) through.n[k->class[i->id]]--;
        writes += i->type == IR_VOID;
        step_over(k, i);
    }
    for (unsigned c = 0; c < k->s->t->nclasses; c++)
        if (through.n[c] > k->pressure->registers.n[c])
            e.least += places * (through.n[c] - k->pressure->registers.n[c]);
    e.now = k->walk.excess;
    if (places < FEW) e.least = e.now;
    e.writes_together = writes > 1;
    return e;
}

/* ---------------------------------------------------------------------------------------- order */

static schedule_access access_of(const cg_target *t, const ir_inst *i) {
    if (i->type == IR_VOID || i->op == IR_OP_mach_call) return ACCESS_ORDERED;
    if (i->op != IR_OP_mach || !t->has_effect(t, i)) return ACCESS_NONE;
    return t->only_reads && t->only_reads(t, i) ? ACCESS_READS : ACCESS_ORDERED;
}

static void count_waits(scheduler *k, ir_inst *first, const ir_inst *end) {
    ir_inst *above = NULL, *read = NULL;
    for (ir_inst *i = first; i != end; i = i->next) {
        k->order.waits_for[i->id] = 1;
        for (unsigned n = 0; n < i->nargs; n++) {
            uint32_t *waits = &k->order.waits_for[ir_arg(i, n)->id];
            *waits += *waits > 0;
        }
        if (k->order.access[i->id] == ACCESS_NONE) continue;
        if (above) k->order.waits_for[above->id]++;
        k->order.above[i->id] = above;
        k->order.read[i->id] = read;
        if (k->order.access[i->id] == ACCESS_READS) {
            read = i;
            continue;
        }
        for (; read; read = k->order.read[read->id]) k->order.waits_for[read->id]++;
        above = i;
    }
}

static void release_inst(scheduler *k, ir_inst *i) {
    if (!i || !k->order.waits_for[i->id]) return;
    if (--k->order.waits_for[i->id] == 1) *ir_push(&k->s->scratch, &k->order.ready) = i;
}

/* i, which keeps its order, has been placed. */
static void release_above(scheduler *k, const ir_inst *i) {
    ir_inst *read = k->order.read[i->id];
    release_inst(k, k->order.above[i->id]);
    if (k->order.access[i->id] != ACCESS_ORDERED) return;
    for (; read; read = k->order.read[read->id]) release_inst(k, read);
}

static bool is_earlier_operand(const ir_inst *i, unsigned n) {
    for (unsigned m = 0; m < n; m++)
        if (ir_arg(i, m) == ir_arg(i, n)) return true;
    return false;
}

static bool is_counted(const scheduler *k, const ir_inst *v) {
    return k->class[v->id] != CG_NO_CLASS && k->counted >> k->class[v->id] & 1;
}

/* How many more values are live before i than after it, if it is placed next. */
static int find_growth(const scheduler *k, const ir_inst *i) {
    int growth = is_live(k, i) && is_counted(k, i) ? -1 : 0;
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *v = ir_arg(i, n);
        growth += !is_live(k, v) && is_counted(k, v) && !is_earlier_operand(i, n);
    }
    return growth;
}

/* Takes one of the instructions that became ready last. */
static ir_inst *take_ready(scheduler *k) {
    uint32_t n = k->order.ready.n, end = n > WINDOW ? n - WINDOW : 0, best = n - 1;
    int least = INT_MAX;
    for (uint32_t m = n; m-- > end && n > 1;) {
        const ir_inst *i = k->order.ready.data[m];
        int growth = k->writes_late && i->type == IR_VOID ? INT_MIN : find_growth(k, i);
        if (growth < least) best = m;
        if (growth < least) least = growth;
    }
    if (k->s->random) best = ra_random(k->s, n);
    ir_inst *i = k->order.ready.data[best];
    for (; best + 1 < n; best++) k->order.ready.data[best] = k->order.ready.data[best + 1];
    k->order.ready.n--;
    return i;
}

/* Lists the instructions in their new order, the last one first. */
static void find_order(scheduler *k, const ir_block *b, ir_inst *first) {
    count_waits(k, first, b->last);
    start_at_end(k, b);
    k->order.placed.n = 0;
    for (ir_inst *i = first; i != b->last; i = i->next)
        if (k->order.waits_for[i->id] == 1) *ir_push(&k->s->scratch, &k->order.ready) = i;
    while (k->order.ready.n) {
        ir_inst *i = take_ready(k);
        *ir_push(&k->s->scratch, &k->order.placed) = i;
        step_over(k, i);
        for (unsigned n = 0; n < i->nargs; n++) release_inst(k, ir_arg(i, n));
        release_above(k, i);
    }
    for (ir_inst *i = first; i != b->last; i = i->next) k->order.waits_for[i->id] = 0;
}

/* --------------------------------------------------------------------------------------- blocks */

static ir_inst *find_first_movable(const ir_block *b) {
    ir_inst *i = ir_first_non_phi(b);
    while (i->op == IR_OP_reg_in || i->op == IR_OP_alloca) i = i->next;
    return i;
}

/* The classes of which the block needs more than there is. */
static uint32_t find_exceeded(const scheduler *k, const ir_block *b) {
    uint32_t exceeded = 0;
    for (unsigned c = 0; c < k->s->t->nclasses; c++)
        if (k->pressure->block[b->id].n[c] > k->pressure->registers.n[c]) exceeded |= 1u << c;
    return exceeded;
}

static void apply_order(scheduler *k, ir_block *b) {
    for (uint32_t n = k->order.placed.n; n-- > 0;) ir_move_before(k->order.placed.data[n], b->last);
}

/* Schedules a block; true: it needs too many registers nevertheless.  If there was no excess, it
 * needs them because instructions reserve registers, and scheduling does not help.  What saves most
 * registers of all classes may not save those that are lacking, so these are tried alone, too.
 * Where several results are written, no read may follow the first write: all writes together let
 * reads come late. */
static bool schedule_block(scheduler *k, ir_block *b, uint32_t exceeded) {
    const uint32_t counted[] = {UINT32_MAX, exceeded, exceeded};
    block_excess e = measure_excess(k, b, find_first_movable(b));
    if (!e.now && !k->s->random) return true;
    foreach_inst (i, b) k->order.access[i->id] = (uint8_t)access_of(k->s->t, i);
    for (unsigned n = 0; n < 2u + e.writes_together && (e.now > e.least || k->s->random); n++) {
        k->counted = counted[n];
        k->writes_late = n == 2;
        find_order(k, b, find_first_movable(b));
        if (k->walk.excess >= e.now && !k->s->random) continue;
        apply_order(k, b);
        e.now = k->walk.excess;
    }
    return e.now > 0;
}

bool ra_schedule(ra_state *s, const ra_graph *g, ra_counter *c, const ra_pressure *p) {
    uint32_t values = s->f->next_id;
    uint8_t *class = ir_alloc(&s->scratch, values);
    bool exceeds = false;
    memset(class, CG_NO_CLASS, values);
    foreach_block (b, s->f)
        foreach_inst (i, b) class[i->id] = ra_class(s->t, i);
    scheduler k = {.s = s, .g = g, .pressure = p, .counter = c, .class = class};
    k.walk.here =
        (ir_live_here){.live = g->live, .seen = ir_new_array(&s->scratch, uint32_t, values)};
    k.order.waits_for = ir_new_array(&s->scratch, uint32_t, values);
    k.order.access = ir_alloc(&s->scratch, values);
    k.order.above = ir_new_array(&s->scratch, ir_inst *, values);
    k.order.read = ir_new_array(&s->scratch, ir_inst *, values);
    foreach_block (b, s->f) {
        uint32_t exceeded = find_exceeded(&k, b);
        if (exceeded || s->random) exceeds |= schedule_block(&k, b, exceeded);
    }
    return exceeds;
}
