/* demand.c — how many registers are needed at every place, and how far away the next uses are.
 *
 * Pads turn what an instruction asks for into numbers: of the registers of a class, so many cannot
 * hold a value in front of it, across it, or after it, because it clobbers them, or wants operands
 * or its result there.  A fixed operand that may stay where it is wanted does not count twice.
 *
 * Distances are found backwards over the blocks, a few times when there are loops; they are for
 * choosing only, so they need not be exact.  Where very many values live, a block knows those of
 * the nearest only: with all of them, cost and memory would grow with blocks times values.
 */
#include "codegen/regalloc/spill.h"

enum { ROUNDS = 3 }; /* over all blocks: enough for loops in loops */

/* ----------------------------------------------------------------------------------------- pads */

/* Of registers or values; few or none, mostly. */
static unsigned count(uint32_t set) {
    unsigned n = 0;
    for (; set; set &= set - 1) n++;
    return n;
}

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
    ir_live_here here;
    spill_count n, max;
} pressure_walk;

static bool is_live(const pressure_walk *w, const ir_inst *v) {
    return ra_class(w->p->s->t, v) != CG_NO_CLASS && ir_live_has(&w->here, v);
}

static void add_live(pressure_walk *w, const ir_inst *v) {
    uint8_t class = ra_class(w->p->s->t, v);
    if (class == CG_NO_CLASS || ir_live_has(&w->here, v)) return;
    ir_live_mark(&w->here, v, true);
    w->n.n[class]++;
}

static void take_max(pressure_walk *w, unsigned class, uint32_t pad) {
    if (w->n.n[class] + pad > w->max.n[class]) w->max.n[class] = w->n.n[class] + pad;
}

/* A result without uses needs a register all the same. */
static void pass_result(pressure_walk *w, const ir_inst *i) {
    uint8_t class = ra_class(w->p->s->t, i);
    if (class == CG_NO_CLASS) return;
    bool read = ir_live_has(&w->here, i);
    take_max(w, class, !read);
    if (read) w->n.n[class]--;
    ir_live_mark(&w->here, i, false);
}

static void pass_inst(pressure_walk *w, const ir_inst *i) {
    cg_needs needs;
    bool lives_on[CG_MAX_NEEDS];
    spill_pads pads[CG_MAX_CLASSES];
    ra_describe(w->p->s->t, i, &needs);
    for (unsigned n = 0; n < needs.nargs; n++) lives_on[n] = is_live(w, ir_arg(i, n));
    spill_find_pads(w->p, &needs, lives_on, pads);
    bool has_result = needs.result.class != CG_NO_CLASS;
    if (has_result)
        take_max(w, needs.result.class, pads[needs.result.class].behind + !is_live(w, i));
    pass_result(w, i);
    for (unsigned c = 0; c < w->p->s->t->nclasses; c++) take_max(w, c, pads[c].across);
    for (unsigned n = 0; n < needs.nargs; n++) add_live(w, ir_arg(i, n));
    for (unsigned c = 0; c < w->p->s->t->nclasses; c++) take_max(w, c, pads[c].before);
}

static void pass_block(pressure_walk *w, const ir_block *b) {
    ir_live_begin(&w->here, b);
    w->n = spill_count_live(w->p, &w->p->live->out[b->id]);
    w->max = (spill_count){0};
    for (unsigned c = 0; c < w->p->s->t->nclasses; c++) take_max(w, c, 0);
    const ir_inst *i = b->last;
    for (; i && i->op != IR_OP_phi; i = i->prev) pass_inst(w, i);
    foreach_phi (phi, b) add_live(w, phi);
    for (unsigned c = 0; c < w->p->s->t->nclasses; c++) take_max(w, c, 0);
    w->p->pressure[b->id] = w->max;
}

static void raise_loop(spill_state *p, const ir_loop *l, const spill_count *by) {
    if (!l) return;
    spill_count *most = &p->loop_pressure[l->header->id];
    for (unsigned c = 0; c < p->s->t->nclasses; c++)
        if (by->n[c] > most->n[c]) most->n[c] = by->n[c];
}

/* Headers of inner loops come after those of outer ones. */
static void raise_loops(spill_state *p) {
    foreach_block (b, p->s->f) raise_loop(p, p->loops->of[b->id], &p->pressure[b->id]);
    for (uint32_t k = p->order->n; k-- > 0;) {
        const ir_block *b = p->order->rpo[k];
        const ir_loop *l = p->loops->of[b->id];
        if (l && l->header == b) raise_loop(p, l->parent, &p->loop_pressure[b->id]);
    }
}

/* For each class, the numbers of the values that its registers hold, as bits. */
static void sort_classes(spill_state *p) {
    uint32_t words = p->live->nvalues / 32 + 1;
    for (unsigned c = 0; c < p->s->t->nclasses; c++)
        p->of_class[c] = ir_new_array(&p->s->scratch, uint32_t, words);
    for (uint32_t n = 0; n < p->live->nvalues; n++) {
        uint8_t class = ra_class(p->s->t, p->live->value[n]);
        if (class != CG_NO_CLASS) p->of_class[class][n / 32] |= UINT32_C(1) << n % 32;
    }
}

/* Counts the values of a word. */
static void count_word(const spill_state *p, uint32_t index, uint32_t bits, spill_count *n) {
    for (unsigned c = 0; bits && c < p->s->t->nclasses; c++) {
        uint32_t own = bits & p->of_class[c][index];
        if (own) n->n[c] += count(own);
        bits -= own;
    }
}

/* The set that was counted last mostly differs in few words. */
spill_count spill_count_live(spill_state *p, const ir_live_set *set) {
    if (set->word == p->counted_set.word && set->n == p->counted_set.n) return p->counted;
    const ir_live_word *w = set->word, *end = set->word + set->n;
    const ir_live_word *old = p->counted_set.word, *old_end = old + p->counted_set.n;
    spill_count more = {0}, less = {0};
    while (w != end || old != old_end) {
        if (w != end && old != old_end && w->index == old->index && w->bits == old->bits) {
            w++;
            old++;
            continue;
        }
        bool new_only = old == old_end || (w != end && w->index < old->index);
        bool old_only = w == end || (old != old_end && old->index < w->index);
        uint32_t bits = old_only ? 0 : w->bits, old_bits = new_only ? 0 : old->bits;
        if (bits & ~old_bits) count_word(p, w->index, bits & ~old_bits, &more);
        if (old_bits & ~bits) count_word(p, old->index, old_bits & ~bits, &less);
        w += !old_only;
        old += !new_only;
    }
    p->counted_set = *set;
    for (unsigned c = 0; c < p->s->t->nclasses; c++) p->counted.n[c] += more.n[c] - less.n[c];
    return p->counted;
}

void spill_look(spill_state *p) {
    p->live = ir_liveness(p->s->f);
    sort_classes(p);
    p->counted_set = (ir_live_set){0};
    p->counted = (spill_count){0};
    p->order = &ir_dominators(p->s->f)->order;
    p->loops = ir_loop_tree(p->s->f);
    for (unsigned c = 0; c < p->s->t->nclasses; c++)
        p->registers[c] = count(p->s->t->class[c].usable);
}

bool spill_find_pressure(spill_state *p) {
    pressure_walk w = {.p = p};
    bool too_much = false;
    w.here = (ir_live_here){.live = p->live,
                            .seen = ir_new_array(&p->s->scratch, uint32_t, p->s->f->next_id)};
    p->pressure = ir_new_array(&p->s->scratch, spill_count, p->s->f->next_block);
    p->loop_pressure = ir_new_array(&p->s->scratch, spill_count, p->s->f->next_block);
    foreach_block (b, p->s->f) {
        pass_block(&w, b);
        for (unsigned c = 0; c < p->s->t->nclasses; c++) too_much |= w.max.n[c] > p->registers[c];
    }
    raise_loops(p);
    return too_much;
}

/* ------------------------------------------------------------------------------------ distances */

static uint32_t add_distance(uint32_t a, uint32_t b) {
    return a == SPILL_NEVER ? a : a > SPILL_FAR - b ? SPILL_FAR : a + b;
}

uint32_t spill_distance(const spill_state *p, const ir_inst *v) {
    if (p->epoch[v->id] == p->now) return p->next[v->id];
    return p->far && ir_is_live(p->live, p->far, v) ? SPILL_FAR : SPILL_NEVER;
}

static void lower(spill_state *p, ir_inst *v, uint32_t d) {
    bool set = p->epoch[v->id] == p->now;
    if (d != SPILL_NEVER && (!set || d < p->next[v->id])) spill_set_distance(p, v, d);
}

void spill_load_distances(spill_state *p, const ir_block *b, uint32_t length) {
    bool cut = false;
    for (uint32_t n = 0; n < b->nsucc; n++) cut |= p->near[b->succ[n]->id].cut;
    p->now++;
    p->touched.n = 0;
    p->far = cut ? &p->live->out[b->id] : NULL;
    for (uint32_t n = 0; n < b->nsucc; n++) {
        const ir_block *to = b->succ[n];
        const spill_near *near = &p->near[to->id];
        bool leaves = !ir_loop_contains(p->loops->of[b->id], p->loops->of[to->id]);
        uint32_t far = length + (leaves ? SPILL_LOOP_EXIT : 0);
        for (uint32_t k = 0; k < near->n; k++)
            lower(p, near->e[k].v, add_distance(near->e[k].next, far));
        uint32_t edge = b->nsucc == 1 ? p->edge[b->id] : 0;
        foreach_phi (phi, to)
            if (ra_class(p->s->t, ir_arg(phi, edge)) != CG_NO_CLASS)
                lower(p, ir_arg(phi, edge), length);
    }
}

static uint32_t block_length(const ir_block *b) {
    uint32_t n = 0;
    for (const ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) n++;
    return n;
}

static bool is_nearer(const spill_entry *a, const spill_entry *b) {
    return a->next != b->next ? a->next < b->next : a->v->id < b->v->id;
}

static void exchange(spill_entry *a, spill_entry *b) {
    spill_entry e = *a;
    *a = *b;
    *b = e;
}

/* The nearest `most` of n come first (Hoare's quickselect, from the middle). */
static void select_nearest(spill_entry *e, uint32_t n, uint32_t most) {
    uint32_t low = 0, high = n;
    while (high - low > 1) {
        spill_entry pivot = e[low + (high - low) / 2];
        uint32_t less = low, same = low, more = high;
        while (same < more)
            if (is_nearer(&e[same], &pivot))
                exchange(&e[less++], &e[same++]);
            else if (is_nearer(&pivot, &e[same]))
                exchange(&e[same], &e[--more]);
            else
                same++;
        if (most < less)
            high = less;
        else if (most > same)
            low = same;
        else
            return;
    }
}

/* The nearest of those that have got a distance. */
static void keep_nearest(spill_state *p, const ir_block *b) {
    p->nearest.n = 0;
    for (uint32_t k = 0; k < p->touched.n; k++) {
        ir_inst *v = p->touched.data[k];
        if (v->block == b || ra_class(p->s->t, v) == CG_NO_CLASS) continue;
        *ir_push(&p->s->scratch, &p->nearest) = (spill_entry){v, p->next[v->id]};
    }
    if (p->nearest.n <= SPILL_MOST_NEAR) return;
    select_nearest(p->nearest.data, p->nearest.n, SPILL_MOST_NEAR);
    p->nearest.n = SPILL_MOST_NEAR;
}

static void keep_all(spill_state *p, const ir_block *b) {
    p->nearest.n = 0;
    foreach_live (w, p->live, &p->live->in[b->id])
        if (ra_class(p->s->t, w.v) != CG_NO_CLASS)
            *ir_push(&p->s->scratch, &p->nearest) = (spill_entry){w.v, spill_distance(p, w.v)};
}

/* Takes what was kept; notes when that is new. */
static void update_near(spill_state *p, spill_near *to) {
    bool same = to->changed && to->n == p->nearest.n;
    for (uint32_t k = 0; same && k < to->n; k++)
        same = to->e[k].v == p->nearest.data[k].v && to->e[k].next == p->nearest.data[k].next;
    if (same) return;
    to->n = p->nearest.n;
    if (to->n) memcpy(to->e, p->nearest.data, to->n * sizeof *to->e);
    to->changed = ++p->changes;
}

/* Has any successor changed since the block was looked at? */
static bool is_stale(const spill_state *p, const ir_block *b) {
    const spill_near *near = &p->near[b->id];
    bool stale = !near->changed;
    for (uint32_t n = 0; n < b->nsucc; n++) stale |= p->near[b->succ[n]->id].changed > near->looked;
    return stale;
}

static void find_block_distances(spill_state *p, const ir_block *b) {
    uint32_t at = block_length(b);
    p->near[b->id].looked = p->changes;
    spill_load_distances(p, b, at);
    for (const ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) {
        at--;
        for (unsigned n = 0; n < i->nargs; n++)
            if (!ir_is_leaf(ir_arg(i, n))) spill_set_distance(p, ir_arg(i, n), at);
    }
    if (p->near[b->id].cut)
        keep_nearest(p, b);
    else
        keep_all(p, b);
    update_near(p, &p->near[b->id]);
    foreach_phi (phi, b) p->phi_distance[phi->id] = spill_distance(p, phi);
}

static void make_room_for(spill_state *p, const ir_block *b) {
    spill_near *near = &p->near[b->id];
    const ir_live_set *in = &p->live->in[b->id];
    uint32_t n = 0;
    for (uint32_t k = 0; k < in->n && n <= SPILL_MOST_NEAR; k++) n += count(in->word[k].bits);
    near->cut = n > SPILL_MOST_NEAR;
    p->is_cut |= near->cut;
    near->e = ir_new_array(&p->s->scratch, spill_entry, near->cut ? SPILL_MOST_NEAR : n);
}

static void make_tables(spill_state *p) {
    uint32_t n = p->s->f->next_id;
    p->next = ir_new_array(&p->s->scratch, uint32_t, n);
    p->epoch = ir_new_array(&p->s->scratch, uint32_t, n);
    p->phi_distance = ir_new_array(&p->s->scratch, uint32_t, n);
    p->near = ir_new_array(&p->s->scratch, spill_near, p->s->f->next_block);
    p->edge = ir_new_array(&p->s->scratch, uint32_t, p->s->f->next_block);
    foreach_block (b, p->s->f) {
        for (uint32_t e = 0; e < b->npred; e++) p->edge[b->pred[e]->id] = e;
        make_room_for(p, b);
    }
}

void spill_find_distances(spill_state *p) {
    unsigned rounds = p->loops->n ? ROUNDS : 1;
    make_tables(p);
    for (unsigned round = 0; round < rounds; round++)
        for (uint32_t k = p->order->n; k > 0; k--)
            if (is_stale(p, p->order->rpo[k - 1])) find_block_distances(p, p->order->rpo[k - 1]);
}
