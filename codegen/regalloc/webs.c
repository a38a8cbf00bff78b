/* webs.c — values that share a slot of the frame.
 *
 * A phi and its operands are one web, so that a phi can live in memory and needs no code: its
 * operands are stored to the slot that the phi is read from.  That is right only when no two
 * members are live at once.  Two sets of values that do not interfere are joined when no member of
 * one is live where a member of the other is defined; in SSA form it is enough to look at the
 * nearest member that dominates (Budimlić, Cooper, Harvey, Kennedy, Oberg and Reeves, "Fast copy
 * coalescing and live-range identification", 2002).  A phi that cannot be joined gets a web of its
 * own: its operands are moved at the ends of predecessors, its result after the phis (Sreedhar et
 * al.  1999).
 *
 * Then webs whose lives do not meet share slots: a life is the interval of code, in the order of
 * blocks, in which some member is live.
 */
#include "codegen/regalloc/spill.h"

#include <stdlib.h>

enum {
    MAX_USES = 64,     /* that are looked at for one answer; with more, values interfere */
    MAX_ROUNDS = 3,    /* then all phis are isolated */
    MANY_OPERANDS = 16 /* of a phi that joins all or none */
};

/* A value, and the place of its definition in the order of dominance. */
typedef struct {
    uint64_t place;
    ir_inst *v;
} web_key;

typedef struct {
    spill_state *p;
    const ir_dom *dom;
    ra_values *member; /* by web: sorted by place of definition */
    uint32_t *at;      /* by value id: place in its block */
    ra_values merged, stack;
    ir_vec(web_key) keys;
    uint32_t *listed, now; /* by web: listed for the join `now` */
    bool *isolated;        /* by id, of phis */
} web_state;

uint32_t spill_web(spill_state *p, const ir_inst *v) {
    uint32_t id = v->id;
    while (p->web[id] != id) id = p->web[id] = p->web[p->web[id]];
    return id;
}

/* --------------------------------------------------------------------------------- interference */

static bool is_before(const web_state *w, const ir_inst *a, const ir_inst *b) {
    uint32_t x = w->dom->enter[a->block->id], y = w->dom->enter[b->block->id];
    return a->block == b->block ? w->at[a->id] < w->at[b->id] : x < y;
}

static bool dominates(const web_state *w, const ir_inst *a, const ir_inst *b) {
    if (a->block == b->block) return w->at[a->id] <= w->at[b->id];
    return ir_block_dominates(w->dom, a->block, b->block);
}

/* Does v, whose definition dominates that of d, live after the latter? */
static bool lives_behind(const web_state *w, const ir_inst *v, const ir_inst *d) {
    unsigned looked = 0;
    if (ir_is_live(w->p->live, &w->p->live->out[d->block->id], v)) return true;
    foreach_use (u, v) {
        if (++looked > MAX_USES) return true;
        bool here = u->user->block == d->block && u->user->op != IR_OP_phi;
        if (here && w->at[u->user->id] > w->at[d->id]) return true;
    }
    return false;
}

static void merge_members(web_state *w, const ra_values *a, const ra_values *b) {
    uint32_t i = 0, j = 0;
    w->merged.n = 0;
    while (i < a->n || j < b->n) {
        bool left = j == b->n || (i < a->n && is_before(w, a->data[i], b->data[j]));
        *ir_push(&w->p->s->scratch, &w->merged) = left ? a->data[i++] : b->data[j++];
    }
}

/* Goes through both in the order of dominance, with those that dominate on a stack. */
static bool interfere(web_state *w) {
    ra_values *stack = &w->stack;
    stack->n = 0;
    for (uint32_t k = 0; k < w->merged.n; k++) {
        ir_inst *v = w->merged.data[k];
        while (stack->n && !dominates(w, stack->data[stack->n - 1], v)) stack->n--;
        if (stack->n && lives_behind(w, stack->data[stack->n - 1], v)) return true;
        *ir_push(&w->p->s->scratch, stack) = v;
    }
    return false;
}

/* All that was merged becomes the members of a web. */
static void take_merged(web_state *w, uint32_t web) {
    ra_values *to = &w->member[web];
    to->n = 0;
    for (uint32_t k = 0; k < w->merged.n; k++) *ir_push(&w->p->s->scratch, to) = w->merged.data[k];
}

static bool join(web_state *w, const ir_inst *x, const ir_inst *y) {
    uint32_t a = spill_web(w->p, x), b = spill_web(w->p, y);
    if (a == b) return true;
    merge_members(w, &w->member[a], &w->member[b]);
    if (interfere(w)) return false;
    w->p->web[b] = a;
    take_merged(w, a);
    w->member[b] = (ra_values){0};
    return true;
}

/* ----------------------------------------------------------------------------------------- phis */

static void start_webs(web_state *w) {
    spill_state *p = w->p;
    uint32_t n = p->s->f->next_id;
    p->web = ir_new_array(&p->s->scratch, uint32_t, n);
    w->member = ir_new_array(&p->s->scratch, ra_values, n);
    w->at = ir_new_array(&p->s->scratch, uint32_t, n);
    w->listed = ir_new_array(&p->s->scratch, uint32_t, n);
    for (uint32_t id = 0; id < n; id++) p->web[id] = id;
    foreach_block (b, p->s->f) {
        uint32_t at = 0;
        foreach_inst (i, b) {
            w->at[i->id] = ++at;
            *ir_push(&p->s->scratch, &w->member[i->id]) = i;
        }
    }
}

static int compare_places(const void *a, const void *b) {
    const web_key *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void list_web(web_state *w, const ir_inst *v) {
    uint32_t web = spill_web(w->p, v);
    if (w->listed[web] == w->now) return;
    w->listed[web] = w->now;
    for (uint32_t k = 0; k < w->member[web].n; k++) {
        ir_inst *m = w->member[web].data[k];
        uint64_t place = (uint64_t)w->dom->enter[m->block->id] << 32 | w->at[m->id];
        *ir_push(&w->p->s->scratch, &w->keys) = (web_key){place, m};
    }
}

/* All webs of a phi and its operands, sorted, into `merged`. */
static void merge_all(web_state *w, const ir_inst *phi) {
    w->now++;
    w->keys.n = w->merged.n = 0;
    list_web(w, phi);
    for (unsigned n = 0; n < phi->nargs; n++)
        if (!ir_is_leaf(ir_arg(phi, n))) list_web(w, ir_arg(phi, n));
    qsort(w->keys.data, w->keys.n, sizeof *w->keys.data, compare_places);
    for (uint32_t k = 0; k < w->keys.n; k++)
        *ir_push(&w->p->s->scratch, &w->merged) = w->keys.data[k].v;
}

/* One web for all of them, or none: one by one, each would be merged with all before it. */
static bool join_at_once(web_state *w, const ir_inst *phi) {
    uint32_t to = spill_web(w->p, phi);
    merge_all(w, phi);
    if (interfere(w)) return false;
    for (unsigned n = 0; n < phi->nargs; n++) {
        uint32_t web = ir_is_leaf(ir_arg(phi, n)) ? to : spill_web(w->p, ir_arg(phi, n));
        w->member[web].n = 0;
        w->p->web[web] = to;
    }
    take_merged(w, to);
    return true;
}

static bool can_join(web_state *w, const ir_inst *phi) {
    if (phi->nargs > MANY_OPERANDS) return join_at_once(w, phi);
    for (unsigned n = 0; n < phi->nargs; n++)
        if (!ir_is_leaf(ir_arg(phi, n)) && !join(w, phi, ir_arg(phi, n))) return false;
    return true;
}

/* A phi whose only use is a move, with operands whose only use is the phi. */
static void isolate(web_state *w, ir_inst *phi) {
    ra_state *s = w->p->s;
    ir_block *b = phi->block;
    for (unsigned n = 0; n < phi->nargs; n++)
        if (!ir_is_leaf(ir_arg(phi, n)))
            ir_set_arg(phi, n, ra_move(s, ir_arg(phi, n), b->pred[n], b->pred[n]->last));
    ir_inst *m = ir_inst_new(s->f, IR_OP_move, phi->type, 1);
    ir_replace_uses(phi, m);
    ir_set_arg(m, 0, phi);
    ir_insert(m, b, ir_first_non_phi(b));
    w->isolated[phi->id] = true;
    *ir_push(&s->scratch, &w->p->isolated) = (spill_isolated){phi, m};
}

/* Those that cannot be joined, or all that can be isolated; true when the code has changed. */
static bool join_phis(web_state *w, bool all) {
    ra_values apart = {0};
    foreach_block (b, w->p->s->f)
        foreach_phi (phi, b) {
            if (ra_class(w->p->s->t, phi) == CG_NO_CLASS || w->isolated[phi->id]) continue;
            if (all || !can_join(w, phi)) *ir_push(&w->p->s->scratch, &apart) = phi;
        }
    for (uint32_t k = 0; k < apart.n; k++) isolate(w, apart.data[k]);
    return apart.n > 0;
}

/* Isolated phis are joined when the others have been. */
static void join_isolated(web_state *w) {
    foreach_block (b, w->p->s->f)
        foreach_phi (phi, b)
            if (w->isolated[phi->id] && ra_class(w->p->s->t, phi) != CG_NO_CLASS) can_join(w, phi);
}

/* ---------------------------------------------------------------------------------------- lives */

typedef struct {
    uint32_t web, from, to, class;
} web_life;
typedef ir_vec(web_life) web_lives;

static void extend(spill_state *p, const ir_inst *v, uint32_t at) {
    uint32_t web = spill_web(p, v);
    if (at < p->from[web]) p->from[web] = at;
    if (at > p->to[web]) p->to[web] = at;
}

/* Those of a set that are not in `known`, which then has them. */
static void extend_new(spill_state *p, const ir_live_set *set, uint32_t *known, uint32_t at) {
    for (uint32_t k = 0; k < set->n; k++) {
        const ir_live_word *w = &set->word[k];
        for (uint32_t left = w->bits & ~known[w->index]; left; left &= left - 1)
            extend(p, p->live->value[32 * w->index + (uint32_t)__builtin_ctz(left)], at);
        known[w->index] |= w->bits;
    }
}

static void number_ends(const spill_state *p, uint32_t *end) {
    uint32_t at = 0;
    foreach_block (b, p->s->f) {
        foreach_inst (i, b) at++;
        end[b->id] = at += 2;
    }
}

/* The slot of a phi is written at the ends of the predecessors. */
static void measure_inst(spill_state *p, const ir_inst *i, uint32_t at, const uint32_t *end) {
    extend(p, i, at);
    for (unsigned n = 0; n < i->nargs; n++)
        if (i->op == IR_OP_phi)
            extend(p, i, end[i->block->pred[n]->id]);
        else if (!ir_is_leaf(ir_arg(i, n)))
            extend(p, ir_arg(i, n), at);
}

/* Lives in the order of blocks: from the head of a block when something lives there, to the end
 * when it does there, and over definitions and uses.  Only the first and the last place of each
 * value counts. */
static void measure(spill_state *p) {
    uint32_t at = 0;
    uint32_t *end = ir_new_array(&p->s->scratch, uint32_t, p->s->f->next_block);
    uint32_t *seen = ir_new_array(&p->s->scratch, uint32_t, p->live->nvalues / 32 + 1);
    uint32_t *last = ir_new_array(&p->s->scratch, uint32_t, p->live->nvalues / 32 + 1);
    p->from = ir_new_array(&p->s->scratch, uint32_t, p->s->f->next_id);
    p->to = ir_new_array(&p->s->scratch, uint32_t, p->s->f->next_id);
    memset(p->from, 0xff, p->s->f->next_id * sizeof *p->from);
    number_ends(p, end);
    foreach_block (b, p->s->f) {
        extend_new(p, &p->live->in[b->id], seen, at);
        foreach_inst (i, b) measure_inst(p, i, ++at, end);
        at = end[b->id];
        extend_new(p, &p->live->out[b->id], seen, at);
    }
    for (const ir_block *b = p->s->f->last; b; b = b->prev) {
        extend_new(p, &p->live->out[b->id], last, end[b->id]);
        extend_new(p, &p->live->in[b->id], last, b->prev ? end[b->prev->id] : 0);
    }
}

void spill_find_webs(spill_state *p) {
    web_state w = {.p = p};
    p->own_ids = p->s->f->next_id; /* phis are below */
    w.isolated = ir_new_array(&p->s->scratch, bool, p->own_ids);
    for (unsigned round = 0;; round++) {
        p->live = ir_liveness(p->s->f);
        w.dom = ir_dominators(p->s->f);
        start_webs(&w);
        if (!join_phis(&w, round == MAX_ROUNDS)) break;
    }
    join_isolated(&w);
    p->old_ids = p->s->f->next_id;
    measure(p);
}

/* ---------------------------------------------------------------------------------------- slots */

static void list_lives(spill_state *p, web_lives *lives) {
    bool *listed = ir_new_array(&p->s->scratch, bool, p->old_ids);
    foreach_block (b, p->s->f)
        foreach_inst (i, b) {
            if (i->id >= p->old_ids || !p->stored[i->id] || listed[spill_web(p, i)]) continue;
            uint32_t web = spill_web(p, i);
            listed[web] = true;
            *ir_push(&p->s->scratch, lives) =
                (web_life){web, p->from[web], p->to[web], ra_class(p->s->t, i)};
        }
}

static int compare_lives(const void *a, const void *b) {
    const web_life *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->web < y->web ? -1 : x->web > y->web;
}

/* Slots by the end of what is in them, least first: a heap. */
typedef struct {
    uint32_t end, slot;
} slot_end;
typedef ir_vec(slot_end) slot_heap;

static void heap_push(ir_arena *a, slot_heap *h, slot_end e) {
    *ir_push(a, h) = e;
    uint32_t k = h->n - 1;
    for (; k && h->data[(k - 1) / 2].end > e.end; k = (k - 1) / 2)
        h->data[k] = h->data[(k - 1) / 2];
    h->data[k] = e;
}

static slot_end heap_pop(slot_heap *h) {
    slot_end first = h->data[0], last = h->data[--h->n];
    uint32_t k = 0;
    for (uint32_t child; (child = 2 * k + 1) < h->n; k = child) {
        if (child + 1 < h->n && h->data[child + 1].end < h->data[child].end) child++;
        if (h->data[child].end >= last.end) break;
        h->data[k] = h->data[child];
    }
    if (h->n) h->data[k] = last;
    return first;
}

void spill_give_slots(spill_state *p) {
    web_lives lives = {0};
    slot_heap busy[CG_MAX_CLASSES] = {{0}};
    p->slot = ir_new_array(&p->s->scratch, uint32_t, p->old_ids);
    list_lives(p, &lives);
    if (lives.n) qsort(lives.data, lives.n, sizeof *lives.data, compare_lives);
    for (uint32_t k = 0; k < lives.n; k++) {
        const web_life *l = &lives.data[k];
        slot_heap *h = &busy[l->class];
        bool reuse = h->n && h->data[0].end < l->from;
        uint32_t slot = reuse ? heap_pop(h).slot : ra_new_slot(p->s, l->class);
        p->slot[l->web] = slot + 1;
        heap_push(&p->s->scratch, h, (slot_end){l->to, slot});
    }
}
