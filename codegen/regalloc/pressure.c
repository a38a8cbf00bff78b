/* pressure.c — how many registers of each class are needed at every place.
 *
 * A walk from the end of each block to its start counts live values, together with the registers
 * that instructions reserve (constraints.c).  Of a block and of a loop, the maximum is kept.
 *
 * The result holds for the function as it is; a step that changes the function
 * measures it anew, or accounts for its own changes.
 */
#include "codegen/regalloc/ra.h"

ra_graph ra_find_graph(ra_state *s) {
    const ir_live *live = ir_liveness(s->f);
    const ir_order *order = &ir_dominators(s->f)->order;
    return (ra_graph){live, order, ir_loop_tree(s->f)};
}

/* --------------------------------------------------------------------------- counting live sets */

ra_counter ra_new_counter(ra_state *s, const ir_live *live) {
    ra_counter c = {.live = live, .nclasses = s->t->nclasses};
    for (unsigned k = 0; k < c.nclasses; k++)
        c.of_class[k] = ir_new_array(&s->scratch, uint32_t, live->nvalues / 32 + 1);
    for (uint32_t n = 0; n < live->nvalues; n++) {
        uint8_t class = ra_class(s->t, live->value[n]);
        if (class != CG_NO_CLASS) c.of_class[class][n / 32] |= UINT32_C(1) << n % 32;
    }
    return c;
}

/* Adds `sign` for each value of a word. */
static void add_word(ra_counter *c, uint32_t index, uint32_t bits, uint32_t sign) {
    for (unsigned k = 0; bits && k < c->nclasses; k++) {
        uint32_t own = bits & c->of_class[k][index];
        if (own) c->count.n[k] += sign * ra_count_bits(own);
        bits -= own;
    }
}

/* After the last word of a set. */
static const ir_live_word no_word = {UINT32_MAX, 0};

ra_count ra_count_live(ra_counter *c, const ir_live_set *set) {
    if (set->word == c->last.word && set->n == c->last.n) return c->count;
    for (uint32_t n = 0, m = 0; n < set->n || m < c->last.n;) {
        ir_live_word w = n < set->n ? set->word[n] : no_word;
        ir_live_word old = m < c->last.n ? c->last.word[m] : no_word;
        n += w.index <= old.index;
        m += old.index <= w.index;
        if (w.index < old.index) old.bits = 0;
        if (old.index < w.index) w = (ir_live_word){old.index, 0};
        if (w.bits & ~old.bits) add_word(c, w.index, w.bits & ~old.bits, 1);
        if (old.bits & ~w.bits) add_word(c, w.index, old.bits & ~w.bits, UINT32_MAX);
    }
    c->last = *set;
    return c->count;
}

/* --------------------------------------------------------------------------------------- blocks */

typedef struct {
    const cg_target *t;
    ir_live_here here;
    ra_count live, most;
} pressure_walk;

static void begin_range(pressure_walk *w, const ir_inst *v) {
    uint8_t class = ra_class(w->t, v);
    if (class == CG_NO_CLASS || ir_live_has(&w->here, v)) return;
    ir_live_mark(&w->here, v, true);
    w->live.n[class]++;
}

/* Raises the maximum to the live values and `more` registers. */
static void take_maximum(pressure_walk *w, unsigned class, uint32_t more) {
    if (w->live.n[class] + more > w->most.n[class]) w->most.n[class] = w->live.n[class] + more;
}

/* A result without uses needs a register nevertheless. */
static void measure_result(pressure_walk *w, const ir_inst *i, unsigned reserved_after) {
    uint8_t class = ra_class(w->t, i);
    if (class == CG_NO_CLASS) return;
    bool used = ir_live_has(&w->here, i);
    take_maximum(w, class, reserved_after + !used);
    if (used) w->live.n[class]--;
    ir_live_mark(&w->here, i, false);
}

static void measure_inst(pressure_walk *w, const ir_inst *i) {
    cg_constraints constraints;
    bool survives[CG_MAX_ARGS];
    ra_reserved reserved[CG_MAX_CLASSES];
    ra_describe(w->t, i, &constraints);
    for (unsigned n = 0; n < constraints.nargs; n++)
        survives[n] =
            ra_class(w->t, ir_arg(i, n)) != CG_NO_CLASS && ir_live_has(&w->here, ir_arg(i, n));
    ra_find_reserved(w->t, &constraints, survives, reserved);
    uint8_t class = constraints.result.class;
    measure_result(w, i, class == CG_NO_CLASS ? 0 : reserved[class].after);
    for (unsigned c = 0; c < w->t->nclasses; c++) take_maximum(w, c, reserved[c].across);
    for (unsigned n = 0; n < constraints.nargs; n++) begin_range(w, ir_arg(i, n));
    for (unsigned c = 0; c < w->t->nclasses; c++) take_maximum(w, c, reserved[c].before);
}

static ra_count measure_block(pressure_walk *w, const ir_block *b, ra_count live_out) {
    ir_live_begin(&w->here, b);
    w->live = w->most = live_out;
    for (const ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) measure_inst(w, i);
    foreach_phi (phi, b) begin_range(w, phi);
    for (unsigned c = 0; c < w->t->nclasses; c++) take_maximum(w, c, 0);
    return w->most;
}

/* ---------------------------------------------------------------------------------------- loops */

static void raise_loop(ra_pressure *p, const ir_loop *l, const ra_count *by) {
    if (!l) return;
    ra_count *most = &p->loop[l->header->id];
    for (unsigned c = 0; c < CG_MAX_CLASSES; c++)
        if (by->n[c] > most->n[c]) most->n[c] = by->n[c];
}

/* In reverse post-order, headers of inner loops come after those of outer ones. */
static void measure_loops(ra_state *s, const ra_graph *g, ra_pressure *p) {
    foreach_block (b, s->f) raise_loop(p, g->loops->of[b->id], &p->block[b->id]);
    for (uint32_t k = g->order->n; k-- > 0;) {
        const ir_block *b = g->order->rpo[k];
        const ir_loop *l = g->loops->of[b->id];
        if (l && l->header == b) raise_loop(p, l->parent, &p->loop[b->id]);
    }
}

ra_pressure ra_find_pressure(ra_state *s, const ra_graph *g, ra_counter *counter) {
    ra_pressure p = {.block = ir_new_array(&s->scratch, ra_count, s->f->next_block),
                     .loop = ir_new_array(&s->scratch, ra_count, s->f->next_block)};
    pressure_walk w = {.t = s->t};
    w.here =
        (ir_live_here){.live = g->live, .seen = ir_new_array(&s->scratch, uint32_t, s->f->next_id)};
    for (unsigned c = 0; c < s->t->nclasses; c++)
        p.registers.n[c] = ra_count_bits(s->t->class[c].usable);
    foreach_block (b, s->f) {
        p.block[b->id] = measure_block(&w, b, ra_count_live(counter, &g->live->out[b->id]));
        for (unsigned c = 0; c < s->t->nclasses; c++)
            p.exceeds |= p.block[b->id].n[c] > p.registers.n[c];
    }
    measure_loops(s, g, &p);
    return p;
}
