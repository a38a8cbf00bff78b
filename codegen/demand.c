/* demand.c — how many registers are needed at every place, and how far away the next uses are.
 *
 * Pads turn what an instruction asks for into numbers: of the registers of a class, so many cannot
 * hold a value in front of it, across it, or behind it, because it clobbers them, or wants operands
 * or its result there.  A fixed operand that may stay where it is wanted does not count twice.
 *
 * Distances are found backwards over the blocks, a few times, for loops; they are for choosing
 * only, so they need not be exact.
 */
#include "codegen/spill.h"

enum { ROUNDS = 3 }; /* over all blocks: enough for loops in loops */

/* ----------------------------------------------------------------------------------------- pads */

static unsigned count(uint32_t set) { return (unsigned)__builtin_popcount(set); }

/* Fixed operands: registers that they take away, less values that may live there. */
static void pad_operand(const spill_state *p, const cg_needs *needs, unsigned n, bool lives_on,
                        spill_pads out[CG_MAX_CLASSES]) {
    cg_place place = needs->arg[n];
    if (place.class >= CG_MAX_CLASSES || place.fixed == CG_ANY_REG) return;
    uint32_t bit = ra_bit(place.fixed) & p->s->t->class[place.class].usable;
    bool lost = needs->clobbers[place.class] & ra_bit(place.fixed) ||
                (needs->result.class == place.class && needs->result.fixed == place.fixed);
    if (!bit) return;
    if (lives_on && lost) out[place.class].before++;
    if (!lives_on && !lost) out[place.class].across++;
}

static void pad_result(const spill_state *p, const cg_needs *needs, const bool *lives_on,
                       spill_pads out[CG_MAX_CLASSES]) {
    uint8_t class = needs->result.class;
    if (class == CG_NO_CLASS) return;
    bool fixed = needs->result.fixed != CG_ANY_REG;
    bool copied = needs->tied >= 0 && lives_on[needs->tied] && !fixed;
    if (copied || (needs->early && needs->tied < 0)) out[class].before++;
    uint32_t gone = needs->clobbers[class] & p->s->t->class[class].usable;
    if (fixed) gone &= ~ra_bit(needs->result.fixed);
    out[class].behind = (uint8_t)count(gone);
}

/* Registers that no value keeps across the instruction. */
static uint32_t lost(const spill_state *p, const cg_needs *needs, unsigned class) {
    uint32_t set = needs->clobbers[class];
    if (needs->result.class == class && needs->result.fixed != CG_ANY_REG)
        set |= ra_bit(needs->result.fixed);
    return set & p->s->t->class[class].usable;
}

void spill_find_pads(const spill_state *p, const cg_needs *needs, const bool *lives_on,
                     spill_pads out[CG_MAX_CLASSES]) {
    memset(out, 0, CG_MAX_CLASSES * sizeof *out);
    for (unsigned c = 0; c < p->s->t->nclasses; c++)
        out[c].across = (uint8_t)count(lost(p, needs, c));
    for (unsigned n = 0; n < needs->nargs; n++) pad_operand(p, needs, n, lives_on[n], out);
    pad_result(p, needs, lives_on, out);
}

/* ------------------------------------------------------------------------------------- pressure */

typedef struct {
    spill_state *p;
    bool *live; /* by value id */
    spill_count n, max;
} pressure_walk;

static uint8_t class_of(const pressure_walk *w, const ir_inst *v) {
    return ra_class(w->p->s->t, v);
}

static void add_live(pressure_walk *w, const ir_inst *v) {
    uint8_t class = class_of(w, v);
    if (class == CG_NO_CLASS || w->live[v->id]) return;
    w->live[v->id] = true;
    w->n.n[class]++;
}

static void take_max(pressure_walk *w, unsigned class, uint32_t pad) {
    if (w->n.n[class] + pad > w->max.n[class]) w->max.n[class] = w->n.n[class] + pad;
}

/* A result that nobody reads needs a register all the same. */
static void pass_result(pressure_walk *w, const ir_inst *i) {
    uint8_t class = class_of(w, i);
    if (class == CG_NO_CLASS) return;
    take_max(w, class, !w->live[i->id]);
    if (w->live[i->id]) w->n.n[class]--;
    w->live[i->id] = false;
}

static void pass_inst(pressure_walk *w, const ir_inst *i) {
    cg_needs needs;
    bool lives_on[CG_MAX_NEEDS];
    spill_pads pads[CG_MAX_CLASSES];
    ra_describe(w->p->s->t, i, &needs);
    for (unsigned n = 0; n < needs.nargs; n++) lives_on[n] = w->live[ir_arg(i, n)->id];
    spill_find_pads(w->p, &needs, lives_on, pads);
    bool has_result = needs.result.class != CG_NO_CLASS;
    if (has_result)
        take_max(w, needs.result.class, pads[needs.result.class].behind + !w->live[i->id]);
    pass_result(w, i);
    for (unsigned c = 0; c < w->p->s->t->nclasses; c++) take_max(w, c, pads[c].across);
    for (unsigned n = 0; n < needs.nargs; n++) add_live(w, ir_arg(i, n));
    for (unsigned c = 0; c < w->p->s->t->nclasses; c++) take_max(w, c, pads[c].before);
}

static void pass_block(pressure_walk *w, const ir_block *b) {
    const ir_value_list *out = &w->p->live->out[b->id], *in = &w->p->live->in[b->id];
    w->n = w->max = (spill_count){0};
    for (uint32_t k = 0; k < out->n; k++) add_live(w, out->data[k]);
    for (unsigned c = 0; c < w->p->s->t->nclasses; c++) take_max(w, c, 0);
    const ir_inst *i = b->last;
    for (; i && i->op != IR_OP_phi; i = i->prev) pass_inst(w, i);
    foreach_phi (phi, b) add_live(w, phi);
    for (unsigned c = 0; c < w->p->s->t->nclasses; c++) take_max(w, c, 0);
    foreach_phi (phi, b) w->live[phi->id] = false;
    for (uint32_t k = 0; k < in->n; k++) w->live[in->data[k]->id] = false;
    w->p->pressure[b->id] = w->max;
}

static void raise_loops(spill_state *p, const ir_block *b) {
    for (const ir_loop *l = p->loops->of[b->id]; l; l = l->parent)
        for (unsigned c = 0; c < p->s->t->nclasses; c++) {
            uint32_t *n = &p->loop_pressure[l->header->id].n[c];
            if (p->pressure[b->id].n[c] > *n) *n = p->pressure[b->id].n[c];
        }
}

void spill_look(spill_state *p) {
    p->live = ir_liveness(p->s->f);
    p->order = &ir_dominators(p->s->f)->order;
    p->loops = ir_loop_tree(p->s->f);
    for (unsigned c = 0; c < p->s->t->nclasses; c++)
        p->registers[c] = count(p->s->t->class[c].usable);
}

bool spill_find_pressure(spill_state *p) {
    pressure_walk w = {.p = p};
    bool too_much = false;
    spill_look(p);
    w.live = ir_new_array(&p->s->scratch, bool, p->s->f->next_id);
    p->pressure = ir_new_array(&p->s->scratch, spill_count, p->s->f->next_block);
    p->loop_pressure = ir_new_array(&p->s->scratch, spill_count, p->s->f->next_block);
    foreach_block (b, p->s->f) {
        pass_block(&w, b);
        raise_loops(p, b);
        for (unsigned c = 0; c < p->s->t->nclasses; c++) too_much |= w.max.n[c] > p->registers[c];
    }
    return too_much;
}

/* ------------------------------------------------------------------------------------ distances */

static uint32_t add_distance(uint32_t a, uint32_t b) {
    return a > SPILL_NEVER - b ? SPILL_NEVER : a + b;
}

uint32_t spill_distance(const spill_state *p, const ir_inst *v) {
    return p->epoch[v->id] == p->now ? p->next[v->id] : SPILL_NEVER;
}

void spill_set_distance(spill_state *p, const ir_inst *v, uint32_t d) {
    p->epoch[v->id] = p->now;
    p->next[v->id] = d;
}

static void lower(spill_state *p, const ir_inst *v, uint32_t d) {
    if (ra_class(p->s->t, v) != CG_NO_CLASS && d < spill_distance(p, v))
        spill_set_distance(p, v, d);
}

void spill_load_distances(spill_state *p, const ir_block *b, uint32_t length) {
    p->now++;
    for (uint32_t n = 0; n < b->nsucc; n++) {
        const ir_block *to = b->succ[n];
        const ir_value_list *in = &p->live->in[to->id];
        bool leaves = !ir_loop_contains(p->loops->of[b->id], p->loops->of[to->id]);
        uint32_t far = length + (leaves ? SPILL_LOOP_EXIT : 0);
        for (uint32_t k = 0; k < in->n; k++)
            lower(p, in->data[k], add_distance(p->distance[to->id][k], far));
        uint32_t edge = b->nsucc == 1 ? p->edge[b->id] : 0;
        foreach_phi (phi, to) lower(p, ir_arg(phi, edge), length);
    }
}

static uint32_t block_length(const ir_block *b) {
    uint32_t n = 0;
    for (const ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) n++;
    return n;
}

static void find_block_distances(spill_state *p, const ir_block *b) {
    uint32_t at = block_length(b);
    const ir_value_list *in = &p->live->in[b->id];
    spill_load_distances(p, b, at);
    for (const ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) {
        at--;
        for (unsigned n = 0; n < i->nargs; n++)
            if (!ir_is_leaf(ir_arg(i, n))) spill_set_distance(p, ir_arg(i, n), at);
    }
    for (uint32_t k = 0; k < in->n; k++) p->distance[b->id][k] = spill_distance(p, in->data[k]);
    foreach_phi (phi, b) p->phi_distance[phi->id] = spill_distance(p, phi);
}

static void make_tables(spill_state *p) {
    uint32_t n = p->s->f->next_id;
    p->next = ir_new_array(&p->s->scratch, uint32_t, n);
    p->epoch = ir_new_array(&p->s->scratch, uint32_t, n);
    p->phi_distance = ir_new_array(&p->s->scratch, uint32_t, n);
    p->distance = ir_new_array(&p->s->scratch, uint32_t *, p->s->f->next_block);
    p->edge = ir_new_array(&p->s->scratch, uint32_t, p->s->f->next_block);
    foreach_block (b, p->s->f) {
        for (uint32_t e = 0; e < b->npred; e++) p->edge[b->pred[e]->id] = e;
        uint32_t k = p->live->in[b->id].n;
        p->distance[b->id] = ir_new_array(&p->s->scratch, uint32_t, k);
        for (; k > 0; k--) p->distance[b->id][k - 1] = SPILL_NEVER;
    }
}

void spill_find_distances(spill_state *p) {
    make_tables(p);
    for (unsigned round = 0; round < ROUNDS; round++)
        for (uint32_t k = p->order->n; k > 0; k--) find_block_distances(p, p->order->rpo[k - 1]);
}
