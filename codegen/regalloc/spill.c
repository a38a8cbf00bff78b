/* spill.c — which values are in registers at every place, so that the registers suffice.
 *
 * Braun and Hack, "Register spilling and live-range splitting for SSA-form programs" (2009): each
 * block is visited with the set W of values that are in registers.  An operand that is not in W is
 * reloaded; if there are too many values, those with the farthest next uses leave W.  At the start
 * of a block W contains what is in registers at the ends of all predecessors, and some of what is
 * in registers at the ends of some.  At the header of a loop it contains what the loop uses, and as
 * many values that are live through the loop as its pressure permits.  Where edges do not agree,
 * reloads are inserted (reload.c).
 *
 * A value that leaves W costs nothing there: what is reloaded somewhere has been stored before
 * (stores.c).  A phi that is not in W at the start of its block is in memory from there on: its
 * operands are in the same slot (congruence.c).  Values that may be repeated are computed again
 * instead of reloaded.
 *
 * Before: critical edges are split.  After: at every place, live values and registers that
 * instructions reserve (constraints.c) are no more than the registers of each class.  Which
 * register a value gets is not decided here but by assignment.
 */
#include "codegen/regalloc/spill.h"

/* The values of one class that are in registers. */
typedef struct {
    unsigned n;
    spill_use use[2 * CG_MAX_REGS];
} w_set;

/* What is known before the walk. */
typedef struct {
    const ra_graph *g;
    const ra_pressure *pressure;
    const spill_next_uses *uses;
} spill_input;

/* By value id: the number of visited predecessors at whose ends it is in a register, and the id + 1
 * of the block of which these are predecessors. */
typedef struct {
    uint32_t *count, *block;
} exit_counts;

/* By value id: its last reload, and the id + 1 of the block of that. */
typedef struct {
    ir_inst **inst;
    uint32_t *block;
} last_reloads;

/* The walk over the blocks. */
typedef struct {
    ra_state *s;
    spill_input in;
    ra_counter *counter;
    spill_distances *distance;
    w_set w[CG_MAX_CLASSES];
    ir_vec(uint32_t) next; /* of the block: next uses of all values it mentions, from its end */
    exit_counts exits;
    last_reloads reloads;
    spill_plan plan; /* the output */
} spiller;

static unsigned registers_left(const spiller *p, unsigned class, unsigned reserved) {
    uint32_t registers = p->in.pressure->registers.n[class];
    return registers > reserved ? registers - reserved : 0;
}

/* -------------------------------------------------------------------------------------------- W */

static spill_use *find_in(w_set *w, const ir_inst *v) {
    for (unsigned k = 0; k < w->n; k++)
        if (w->use[k].v == v) return &w->use[k];
    return NULL;
}

static void add_to(w_set *w, ir_inst *v, uint32_t next) {
    assert(w->n < 2 * CG_MAX_REGS);
    w->use[w->n++] = (spill_use){v, next};
}

static void remove_from(w_set *w, spill_use *e) { *e = w->use[--w->n]; }

/* The higher, the less is lost if a value leaves W.  Repeating it costs less than reloading it, and
 * that less than storing it, too. */
static uint64_t gain_of_leaving(const spiller *p, const spill_use *e, uint32_t at) {
    uint64_t distance = e->next - at;
    if (p->s->random) return 1 + ra_random(p->s, 100);
    if (ra_may_repeat(p->s->t, e->v)) return distance * 4;
    return p->plan.stored[e->v->id] ? distance + distance / 2 : distance;
}

/* Leaves at most `most` values of a class in registers, if so many are not needed at `at`. */
static void limit(spiller *p, unsigned class, unsigned most, uint32_t at) {
    w_set *w = &p->w[class];
    while (w->n > most) {
        spill_use *best = NULL;
        uint64_t highest = 0;
        for (unsigned k = 0; k < w->n; k++) {
            uint64_t gain = w->use[k].next > at ? gain_of_leaving(p, &w->use[k], at) : 0;
            if (gain > highest) best = &w->use[k];
            if (gain > highest) highest = gain;
        }
        if (!best) return;
        remove_from(w, best);
    }
}

/* ------------------------------------------------------------------------------ start of blocks */

/* The best values by next use, best first. */
typedef struct {
    unsigned n, most;
    spill_use use[CG_MAX_REGS];
} best_list;

static void offer(best_list *l, ir_inst *v, uint32_t next) {
    unsigned k = l->n < l->most ? l->n++ : l->most;
    for (; k > 0 && l->use[k - 1].next > next; k--)
        if (k < l->most) l->use[k] = l->use[k - 1];
    if (k < l->most) l->use[k] = (spill_use){v, next};
}

static bool is_visited(const spiller *p, const ir_block *b, const ir_block *pred) {
    return p->in.g->order->index[pred->id] < p->in.g->order->index[b->id];
}

/* Counts the visited predecessors, and at the ends of how many each value is in a register. */
static uint32_t count_exits(spiller *p, const ir_block *b) {
    uint32_t visited = 0;
    for (uint32_t n = 0; n < b->npred; n++) {
        const ra_values *exit = &p->plan.exit[b->pred[n]->id];
        visited += is_visited(p, b, b->pred[n]);
        for (uint32_t k = 0; k < exit->n; k++) {
            uint32_t id = exit->data[k]->id;
            if (p->exits.block[id] != b->id + 1) p->exits.count[id] = 0;
            p->exits.block[id] = b->id + 1;
            p->exits.count[id]++;
        }
    }
    return visited;
}

/* The visited predecessors at whose ends the operand of a phi of b is in a register. */
static uint32_t exits_with_operand(const spiller *p, const ir_block *b, const ir_inst *phi) {
    uint32_t count = 0;
    for (uint32_t n = 0; n < b->npred; n++) {
        const ir_inst *v = ir_arg(phi, n);
        bool available = ir_is_leaf(v) || spill_contains(&p->plan.exit[b->pred[n]->id], v);
        count += available && is_visited(p, b, b->pred[n]);
    }
    return count;
}

/* Candidates for W at the start of a block: those that are taken first, and after them.  For the
 * header of a loop, values that the loop uses come first; for other blocks, those that are in
 * registers at the ends of all predecessors. */
typedef struct {
    spiller *p;
    ir_block *b;
    uint32_t visited; /* predecessors */
    bool is_header;   /* not all of them are visited: b is the header of a loop */
    best_list first[CG_MAX_CLASSES], second[CG_MAX_CLASSES];
    ra_count through; /* values that the loop does not use */
} entry_choice;

static void consider(entry_choice *c, ir_inst *v, uint32_t distance) {
    const spiller *p = c->p;
    uint8_t class = ra_class(p->s->t, v);
    if (class == CG_NO_CLASS) return;
    bool is_own_phi = v->op == IR_OP_phi && v->block == c->b;
    uint32_t exits = p->exits.block[v->id] == c->b->id + 1 ? p->exits.count[v->id] : 0;
    if (is_own_phi) exits = exits_with_operand(p, c->b, v);
    bool near = distance < SPILL_LOOP_EXIT, everywhere = exits == c->visited;
    if (is_own_phi)
        c->through.n[class] += !near;
    else
        c->through.n[class] -= near;
    if (c->is_header ? near : everywhere)
        offer(&c->first[class], v, distance);
    else if (c->is_header ? everywhere : near && exits)
        offer(&c->second[class], v, distance);
}

/* Considers values in registers at the ends of predecessors whose uses are too far to be listed. */
static void consider_far(entry_choice *c) {
    spiller *p = c->p;
    const spill_live_in *in = &p->in.uses->in[c->b->id];
    spill_clear_distances(p->distance); /* a distance means: has been considered */
    for (uint32_t k = 0; k < in->n; k++) spill_set_distance(p->distance, in->use[k].v, 0);
    for (uint32_t n = 0; n < c->b->npred; n++) {
        const ra_values *exit = &p->plan.exit[c->b->pred[n]->id];
        for (uint32_t k = 0; k < exit->n; k++) {
            ir_inst *v = exit->data[k];
            bool considered = spill_distance(p->distance, v) != SPILL_NEVER;
            if (considered || !ir_is_live(p->in.g->live, &p->in.g->live->in[c->b->id], v)) continue;
            spill_set_distance(p->distance, v, 0);
            consider(c, v, SPILL_FAR);
        }
    }
}

/* How many values that a loop does not use can be in registers throughout the loop. */
static unsigned registers_through(const entry_choice *c, unsigned class) {
    const ir_loop *l = c->p->in.g->loops->of[c->b->id];
    uint32_t needed = l ? c->p->in.pressure->loop[l->header->id].n[class] : 0;
    uint32_t own = needed > c->through.n[class] ? needed - c->through.n[class] : 0;
    return registers_left(c->p, class, own < 255 ? own : 255);
}

static void take(entry_choice *c, const best_list *l, unsigned class, unsigned most) {
    spiller *p = c->p;
    for (unsigned k = 0; k < l->n && k < most; k++) {
        add_to(&p->w[class], l->use[k].v, l->use[k].next);
        *ir_push(&p->s->scratch, &p->plan.entry[c->b->id]) = l->use[k].v;
    }
}

static void take_class(entry_choice *c, unsigned class) {
    unsigned registers = c->p->in.pressure->registers.n[class];
    c->p->w[class].n = 0;
    take(c, &c->first[class], class, registers);
    unsigned rest = registers - c->p->w[class].n;
    if (c->is_header && registers_through(c, class) < rest) rest = registers_through(c, class);
    take(c, &c->second[class], class, rest);
}

static void enter_block(spiller *p, ir_block *b) {
    entry_choice c = {.p = p, .b = b, .visited = count_exits(p, b)};
    const spill_live_in *in = &p->in.uses->in[b->id];
    unsigned nclasses = p->s->t->nclasses;
    c.is_header = c.visited < b->npred;
    c.through = ra_count_live(p->counter, &p->in.g->live->in[b->id]);
    for (unsigned k = 0; k < nclasses; k++)
        c.first[k].most = c.second[k].most = p->in.pressure->registers.n[k];
    foreach_phi (phi, b) consider(&c, phi, p->in.uses->phi[phi->id]);
    for (uint32_t k = 0; k < in->n; k++) consider(&c, in->use[k].v, in->use[k].next);
    if (in->cut) consider_far(&c);
    for (unsigned k = 0; k < nclasses; k++) take_class(&c, k);
    foreach_phi (phi, b)
        if (ra_class(p->s->t, phi) != CG_NO_CLASS && !spill_contains(&p->plan.entry[b->id], phi))
            p->plan.in_memory[phi->id] = true;
}

/* --------------------------------------------------------------------------------- instructions */

static void push_next(spiller *p, const ir_inst *v) {
    *ir_push(&p->s->scratch, &p->next) = spill_distance(p->distance, v);
}
static uint32_t pop_next(spiller *p) { return p->next.data[--p->next.n]; }

/* For each mention of a value in the block, pushes the next use after it, last instruction
 * first. */
static void push_next_uses(spiller *p, const ir_block *b) {
    uint32_t at = spill_load_distances(p->distance, p->in.uses, b);
    p->next.n = 0;
    for (const ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) {
        at--;
        push_next(p, i);
        for (unsigned n = 0; n < i->nargs; n++) {
            push_next(p, ir_arg(i, n));
            if (!ir_is_leaf(ir_arg(i, n))) spill_set_distance(p->distance, ir_arg(i, n), at);
        }
    }
}

typedef struct {
    ir_inst *i;
    uint32_t at;
    cg_constraints constraints;
    ir_inst *v[CG_MAX_ARGS];    /* operands as they were */
    uint32_t next[CG_MAX_ARGS]; /* their next uses after the instruction */
    bool survives[CG_MAX_ARGS];
    uint32_t next_result;
} spill_inst;

static bool is_in_register(const spill_inst *x, unsigned n) {
    return n < x->constraints.nargs && x->constraints.arg[n].class < CG_MAX_CLASSES;
}

/* All mentions of a value in one instruction have the same next use. */
static void unite_uses(spill_inst *x) {
    for (unsigned n = 0; n < x->constraints.nargs; n++)
        for (unsigned k = 0; k < n; k++) {
            if (!is_in_register(x, n) || !is_in_register(x, k) || x->v[k] != x->v[n]) continue;
            uint32_t next = x->next[k] > x->next[n] ? x->next[k] : x->next[n];
            x->next[k] = x->next[n] = next;
        }
}

static void read_inst(spiller *p, spill_inst *x) {
    ra_describe(p->s->t, x->i, &x->constraints);
    for (unsigned n = x->i->nargs; n > 0; n--) {
        uint32_t next = pop_next(p);
        if (!is_in_register(x, n - 1)) continue;
        x->v[n - 1] = ir_arg(x->i, n - 1);
        x->next[n - 1] = next;
    }
    x->next_result = pop_next(p);
    unite_uses(x);
    for (unsigned n = 0; n < x->constraints.nargs; n++) x->survives[n] = x->next[n] != SPILL_NEVER;
}

/* Adds the operands to W; those that are not there are reloaded. */
static void add_operands(spiller *p, const spill_inst *x) {
    for (unsigned n = 0; n < x->constraints.nargs; n++) {
        if (!is_in_register(x, n)) continue;
        ir_inst *v = x->v[n];
        w_set *w = &p->w[x->constraints.arg[n].class];
        spill_use *e = find_in(w, v);
        if (e) {
            e->next = x->at;
            continue;
        }
        add_to(w, v, x->at);
        p->reloads.inst[v->id] = spill_insert_reload(p->s, &p->plan, v, ra_before(x->i));
        p->reloads.block[v->id] = x->i->block->id + 1;
    }
}

/* Makes the instruction use the last reloads of this block. */
static void use_reloads(spiller *p, const spill_inst *x) {
    for (unsigned n = 0; n < x->constraints.nargs; n++)
        if (is_in_register(x, n) && p->reloads.block[x->v[n]->id] == x->i->block->id + 1)
            ir_set_arg(x->i, n, p->reloads.inst[x->v[n]->id]);
}

/* Operands that do not survive leave W. */
static void leave_operands(spiller *p, const spill_inst *x) {
    for (unsigned n = 0; n < x->constraints.nargs; n++) {
        if (!is_in_register(x, n)) continue;
        w_set *w = &p->w[x->constraints.arg[n].class];
        spill_use *e = find_in(w, x->v[n]);
        if (e) e->next = x->next[n];
        if (e && !x->survives[n]) remove_from(w, e);
    }
}

static void spill_at(spiller *p, ir_inst *i, uint32_t at) {
    spill_inst x = {.i = i, .at = at};
    ra_reserved reserved[CG_MAX_CLASSES];
    unsigned nclasses = p->s->t->nclasses;
    read_inst(p, &x);
    ra_find_reserved(p->s->t, &x.constraints, x.survives, reserved);
    add_operands(p, &x);
    use_reloads(p, &x);
    for (unsigned c = 0; c < nclasses; c++)
        limit(p, c, registers_left(p, c, reserved[c].before), at);
    leave_operands(p, &x);
    for (unsigned c = 0; c < nclasses; c++)
        limit(p, c, registers_left(p, c, reserved[c].across), at);
    uint8_t class = x.constraints.result.class;
    if (class == CG_NO_CLASS) return;
    limit(p, class, registers_left(p, class, reserved[class].after + 1u), at);
    if (x.next_result != SPILL_NEVER) add_to(&p->w[class], i, x.next_result);
}

static void spill_block(spiller *p, ir_block *b) {
    uint32_t at = 0;
    enter_block(p, b);
    push_next_uses(p, b);
    for (ir_inst *i = ir_first_non_phi(b), *next; i; i = next) {
        next = i->next;
        spill_at(p, i, at++);
    }
    for (unsigned c = 0; c < p->s->t->nclasses; c++)
        for (unsigned k = 0; k < p->w[c].n; k++)
            *ir_push(&p->s->scratch, &p->plan.exit[b->id]) = p->w[c].use[k].v;
}

/* ---------------------------------------------------------------------------------------- entry */

/* Decides about all blocks, and inserts reloads before the instructions that need them. */
static spill_plan plan_spills(ra_state *s, const spill_input *in, ra_counter *counter,
                              spill_distances *distance) {
    ir_arena *scratch = &s->scratch;
    uint32_t values = s->f->next_id, blocks = s->f->next_block;
    spiller p = {.s = s, .in = *in, .counter = counter, .distance = distance};
    p.exits.count = ir_new_array(scratch, uint32_t, values);
    p.exits.block = ir_new_array(scratch, uint32_t, values);
    p.reloads.inst = ir_new_array(scratch, ir_inst *, values);
    p.reloads.block = ir_new_array(scratch, uint32_t, values);
    p.plan.entry = ir_new_array(scratch, ra_values, blocks);
    p.plan.exit = ir_new_array(scratch, ra_values, blocks);
    p.plan.in_memory = ir_new_array(scratch, bool, values);
    p.plan.stored = ir_new_array(scratch, bool, values);
    for (uint32_t n = 0; n < in->g->order->n; n++) spill_block(&p, in->g->order->rpo[n]);
    return p.plan;
}

static bool is_exceeding(ra_state *s) {
    const ra_graph g = ra_find_graph(s);
    ra_counter counter = ra_new_counter(s, g.live);
    return ra_find_pressure(s, &g, &counter).exceeds;
}

void ra_spill_values(ra_state *s, bool exceeds) {
    ir_ctx *cx = s->f->module->cx;
    ir_enter_part(cx, "pressure");
    if (!exceeds && !is_exceeding(s)) return;
    ir_enter_part(cx, "congruence");
    const spill_classes classes = spill_find_classes(s);
    const ra_graph g = ra_find_graph(s);
    const spill_intervals intervals = spill_find_intervals(s, g.live, &classes);
    ir_enter_part(cx, "pressure");
    ra_counter counter = ra_new_counter(s, g.live);
    const ra_pressure pressure = ra_find_pressure(s, &g, &counter);
    ir_enter_part(cx, "distances");
    spill_distances distance = spill_new_distances(s, &g);
    const spill_next_uses uses = spill_find_next_uses(&distance);
    ir_enter_part(cx, "spill");
    const spill_input in = {.g = &g, .pressure = &pressure, .uses = &uses};
    spill_plan plan = plan_spills(s, &in, &counter, &distance);
    spill_write_code(s, &g, &classes, &intervals, &plan);
}
