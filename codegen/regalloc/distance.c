/* distance.c — how far away the next uses of values are (Braun and Hack 2009).
 *
 * A value's distance is the number of instructions to its next use; the end of a loop is far from
 * what follows it.  Distances at the starts of blocks are found backwards over the blocks, a few
 * times if there are loops.  They only guide choices, so they need not be exact.
 *
 * If very many values are live at the start of a block, only the nearest are kept: with all of
 * them, cost and memory would grow with blocks times values.
 */
#include "codegen/regalloc/spill.h"

enum {
    ROUNDS = 3,     /* over all blocks: enough for loops in loops */
    MOST_KEPT = 128 /* values at the start of a block */
};

/* ---------------------------------------------------------------------------------------- table */

spill_distances spill_new_distances(ra_state *s, const ra_graph *g) {
    uint32_t n = s->f->next_id;
    return (spill_distances){.s = s,
                             .g = g,
                             .next = ir_new_array(&s->scratch, uint32_t, n),
                             .epoch = ir_new_array(&s->scratch, uint32_t, n)};
}

void spill_clear_distances(spill_distances *d) {
    d->now++;
    d->far = NULL;
    if (d->set) d->set->n = 0;
}

uint32_t spill_distance(const spill_distances *d, const ir_inst *v) {
    if (d->epoch[v->id] == d->now) return d->next[v->id];
    return d->far && ir_is_live(d->g->live, d->far, v) ? SPILL_FAR : SPILL_NEVER;
}

static uint32_t add_distance(uint32_t a, uint32_t b) {
    return a == SPILL_NEVER ? a : a > SPILL_FAR - b ? SPILL_FAR : a + b;
}

static void lower_distance(spill_distances *d, ir_inst *v, uint32_t distance) {
    bool set = d->epoch[v->id] == d->now;
    if (distance != SPILL_NEVER && (!set || distance < d->next[v->id]))
        spill_set_distance(d, v, distance);
}

static uint32_t count_instructions(const ir_block *b) {
    uint32_t n = 0;
    for (const ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) n++;
    return n;
}

uint32_t spill_load_distances(spill_distances *d, const spill_next_uses *uses, const ir_block *b) {
    const ra_graph *g = d->g;
    uint32_t length = count_instructions(b);
    bool cut = false;
    for (uint32_t n = 0; n < b->nsucc; n++) cut |= uses->in[b->succ[n]->id].cut;
    spill_clear_distances(d);
    d->far = cut ? &g->live->out[b->id] : NULL;
    for (uint32_t n = 0; n < b->nsucc; n++) {
        const ir_block *to = b->succ[n];
        const spill_live_in *in = &uses->in[to->id];
        bool leaves = !ir_loop_contains(g->loops->of[b->id], g->loops->of[to->id]);
        uint32_t far = length + (leaves ? SPILL_LOOP_EXIT : 0);
        for (uint32_t k = 0; k < in->n; k++)
            lower_distance(d, in->use[k].v, add_distance(in->use[k].next, far));
        uint32_t edge = b->nsucc == 1 ? uses->edge[b->id] : 0;
        foreach_phi (phi, to)
            if (ra_class(d->s->t, ir_arg(phi, edge)) != CG_NO_CLASS)
                lower_distance(d, ir_arg(phi, edge), length);
    }
    return length;
}

/* --------------------------------------------------------------------------------------- solver */

typedef struct {
    ra_state *s;
    const ra_graph *g;
    spill_distances *d;
    spill_next_uses out;
    /* Changes of live-in values are numbered.  By block id: the last change of the block, and the
     * last one of any block when this one was visited. */
    uint32_t *changed, *visited;
    uint32_t changes;
    ra_values set; /* values with a distance, if some block is cut */
    ir_vec(spill_use) kept;
} distance_solver;

static bool is_nearer(const spill_use *a, const spill_use *b) {
    return a->next != b->next ? a->next < b->next : a->v->id < b->v->id;
}

static void exchange(spill_use *a, spill_use *b) {
    spill_use e = *a;
    *a = *b;
    *b = e;
}

/* Moves the nearest `most` of n to the front (Hoare's quickselect, from the middle). */
static void select_nearest(spill_use *e, uint32_t n, uint32_t most) {
    uint32_t low = 0, high = n;
    while (high - low > 1) {
        spill_use pivot = e[low + (high - low) / 2];
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

static void keep_nearest(distance_solver *k, const ir_block *b) {
    k->kept.n = 0;
    for (uint32_t n = 0; n < k->set.n; n++) {
        ir_inst *v = k->set.data[n];
        if (v->block == b || ra_class(k->s->t, v) == CG_NO_CLASS) continue;
        *ir_push(&k->s->scratch, &k->kept) = (spill_use){v, k->d->next[v->id]};
    }
    if (k->kept.n <= MOST_KEPT) return;
    select_nearest(k->kept.data, k->kept.n, MOST_KEPT);
    k->kept.n = MOST_KEPT;
}

static void keep_all(distance_solver *k, const ir_block *b) {
    k->kept.n = 0;
    foreach_live (w, k->g->live, &k->g->live->in[b->id])
        if (ra_class(k->s->t, w.v) != CG_NO_CLASS)
            *ir_push(&k->s->scratch, &k->kept) = (spill_use){w.v, spill_distance(k->d, w.v)};
}

/* `kept` becomes the live-in values of the block; if they differ, that is a change. */
static void update_live_in(distance_solver *k, const ir_block *b) {
    spill_live_in *in = &k->out.in[b->id];
    bool same = k->changed[b->id] && in->n == k->kept.n;
    for (uint32_t n = 0; same && n < in->n; n++)
        same = in->use[n].v == k->kept.data[n].v && in->use[n].next == k->kept.data[n].next;
    if (same) return;
    in->n = k->kept.n;
    if (in->n) memcpy(in->use, k->kept.data, in->n * sizeof *in->use);
    k->changed[b->id] = ++k->changes;
}

/* Has any successor changed since the block was visited? */
static bool is_stale(const distance_solver *k, const ir_block *b) {
    bool stale = !k->changed[b->id];
    for (uint32_t n = 0; n < b->nsucc; n++) stale |= k->changed[b->succ[n]->id] > k->visited[b->id];
    return stale;
}

static void visit_block(distance_solver *k, const ir_block *b) {
    uint32_t at = spill_load_distances(k->d, &k->out, b);
    k->visited[b->id] = k->changes;
    for (const ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) {
        at--;
        for (unsigned n = 0; n < i->nargs; n++)
            if (!ir_is_leaf(ir_arg(i, n))) spill_set_distance(k->d, ir_arg(i, n), at);
    }
    if (k->out.in[b->id].cut)
        keep_nearest(k, b);
    else
        keep_all(k, b);
    update_live_in(k, b);
    foreach_phi (phi, b) k->out.phi[phi->id] = spill_distance(k->d, phi);
}

static void reserve_live_in(distance_solver *k, const ir_block *b) {
    spill_live_in *in = &k->out.in[b->id];
    const ir_live_set *live = &k->g->live->in[b->id];
    uint32_t n = 0;
    for (uint32_t w = 0; w < live->n && n <= MOST_KEPT; w++) n += ra_count_bits(live->word[w].bits);
    in->cut = n > MOST_KEPT;
    k->out.cut |= in->cut;
    in->use = ir_new_array(&k->s->scratch, spill_use, in->cut ? MOST_KEPT : n);
}

spill_next_uses spill_find_next_uses(spill_distances *d) {
    ra_state *s = d->s;
    const ra_graph *g = d->g;
    uint32_t blocks = s->f->next_block;
    distance_solver k = {.s = s,
                         .g = g,
                         .d = d,
                         .out = {.in = ir_new_array(&s->scratch, spill_live_in, blocks),
                                 .phi = ir_new_array(&s->scratch, uint32_t, s->f->next_id),
                                 .edge = ir_new_array(&s->scratch, uint32_t, blocks)},
                         .changed = ir_new_array(&s->scratch, uint32_t, blocks),
                         .visited = ir_new_array(&s->scratch, uint32_t, blocks)};
    foreach_block (b, s->f) {
        for (uint32_t e = 0; e < b->npred; e++) k.out.edge[b->pred[e]->id] = e;
        reserve_live_in(&k, b);
    }
    if (k.out.cut) d->set = &k.set;
    for (unsigned round = 0; round < (g->loops->n ? ROUNDS : 1); round++)
        for (uint32_t n = g->order->n; n > 0; n--)
            if (is_stale(&k, g->order->rpo[n - 1])) visit_block(&k, g->order->rpo[n - 1]);
    d->set = NULL;
    return k.out;
}
