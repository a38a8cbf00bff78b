/* slots.c — a slot of the frame for every congruence class that has members in memory.
 *
 * The live range of a class is taken as an interval: in the order of blocks, from the first place
 * to the last one at which a member is live.  Classes whose intervals do not overlap share slots.
 * Intervals are visited in the order of their starts, with the slots that are in use in a heap, as
 * linear scan does it with registers (Poletto and Sarkar 1999).  Slots do not run out, so nothing
 * has to be chosen.
 */
#include "codegen/regalloc/spill.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------ intervals */

typedef struct {
    const ir_live *live;
    const spill_classes *classes;
    spill_intervals out;
    uint32_t *end; /* by block id: the position after its last instruction */
} interval_finder;

static void extend(interval_finder *k, const ir_inst *v, uint32_t at) {
    uint32_t root = spill_root(k->classes, v);
    if (at < k->out.from[root]) k->out.from[root] = at;
    if (at > k->out.to[root]) k->out.to[root] = at;
}

/* Extends to `at` the values of a set that are not in `done` yet, and adds them to it. */
static void extend_new(interval_finder *k, const ir_live_set *set, uint32_t *done, uint32_t at) {
    for (uint32_t n = 0; n < set->n; n++) {
        const ir_live_word *w = &set->word[n];
        for (uint32_t left = w->bits & ~done[w->index]; left; left &= left - 1)
            extend(k, k->live->value[32 * w->index + (uint32_t)__builtin_ctz(left)], at);
        done[w->index] |= w->bits;
    }
}

/* The slot of a phi is written at the ends of the predecessors. */
static void extend_to_inst(interval_finder *k, const ir_inst *i, uint32_t at) {
    extend(k, i, at);
    for (unsigned n = 0; n < i->nargs; n++)
        if (i->op == IR_OP_phi)
            extend(k, i, k->end[i->block->pred[n]->id]);
        else if (!ir_is_leaf(ir_arg(i, n)))
            extend(k, ir_arg(i, n), at);
}

static void number_ends(const ir_func *f, uint32_t *end) {
    uint32_t at = 0;
    foreach_block (b, f) {
        foreach_inst (i, b) at++;
        end[b->id] = at += 2;
    }
}

/* Only the first and the last place of a value matter: starts are found by a walk over the blocks,
 * ends by one in reverse. */
spill_intervals spill_find_intervals(ra_state *s, const ir_live *live, const spill_classes *c) {
    uint32_t at = 0, nvalues = s->f->next_id, words = live->nvalues / 32 + 1;
    uint32_t *started = ir_new_array(&s->scratch, uint32_t, words);
    uint32_t *ended = ir_new_array(&s->scratch, uint32_t, words);
    interval_finder k = {.live = live,
                         .classes = c,
                         .out = {.from = ir_new_array(&s->scratch, uint32_t, nvalues),
                                 .to = ir_new_array(&s->scratch, uint32_t, nvalues)},
                         .end = ir_new_array(&s->scratch, uint32_t, s->f->next_block)};
    memset(k.out.from, 0xff, nvalues * sizeof *k.out.from);
    number_ends(s->f, k.end);
    foreach_block (b, s->f) {
        extend_new(&k, &live->in[b->id], started, at);
        foreach_inst (i, b) extend_to_inst(&k, i, ++at);
        at = k.end[b->id];
        extend_new(&k, &live->out[b->id], started, at);
    }
    for (const ir_block *b = s->f->last; b; b = b->prev) {
        extend_new(&k, &live->out[b->id], ended, k.end[b->id]);
        extend_new(&k, &live->in[b->id], ended, b->prev ? k.end[b->prev->id] : 0);
    }
    return k.out;
}

/* ----------------------------------------------------------------------------------------- heap */

/* Slots in use, by the end of the interval that is in them. */
typedef struct {
    uint32_t end, slot;
} slot_end;
typedef ir_vec(slot_end) slot_heap;

static void push_slot(ir_arena *a, slot_heap *h, slot_end e) {
    *ir_push(a, h) = e;
    uint32_t k = h->n - 1;
    for (; k && h->data[(k - 1) / 2].end > e.end; k = (k - 1) / 2)
        h->data[k] = h->data[(k - 1) / 2];
    h->data[k] = e;
}

static uint32_t pop_slot(slot_heap *h) {
    uint32_t slot = h->data[0].slot, k = 0;
    slot_end last = h->data[--h->n];
    for (uint32_t child; (child = 2 * k + 1) < h->n; k = child) {
        if (child + 1 < h->n && h->data[child + 1].end < h->data[child].end) child++;
        if (h->data[child].end >= last.end) break;
        h->data[k] = h->data[child];
    }
    if (h->n) h->data[k] = last;
    return slot;
}

/* ---------------------------------------------------------------------------------------- slots */

typedef struct {
    uint32_t root, from, to, class;
} slot_interval;
typedef ir_vec(slot_interval) slot_intervals;

static int compare_intervals(const void *a, const void *b) {
    const slot_interval *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->root < y->root ? -1 : x->root > y->root;
}

static slot_intervals list_intervals(ra_state *s, const spill_classes *c, const spill_intervals *in,
                                     const bool *stored) {
    slot_intervals list = {0};
    bool *listed = ir_new_array(&s->scratch, bool, c->nvalues);
    foreach_block (b, s->f)
        foreach_inst (i, b) {
            if (i->id >= c->nvalues || !stored[i->id] || listed[spill_root(c, i)]) continue;
            uint32_t root = spill_root(c, i);
            listed[root] = true;
            *ir_push(&s->scratch, &list) =
                (slot_interval){root, in->from[root], in->to[root], ra_class(s->t, i)};
        }
    if (list.n) qsort(list.data, list.n, sizeof *list.data, compare_intervals);
    return list;
}

const uint32_t *spill_find_slots(ra_state *s, const spill_classes *c, const spill_intervals *in,
                                 const bool *stored) {
    slot_heap used[CG_MAX_CLASSES] = {{0}};
    uint32_t *slot = ir_new_array(&s->scratch, uint32_t, c->nvalues);
    const slot_intervals list = list_intervals(s, c, in, stored);
    foreach_in (const slot_interval, l, list) {
        slot_heap *h = &used[l->class];
        bool reuse = h->n && h->data[0].end < l->from;
        slot[l->root] = reuse ? pop_slot(h) : ra_new_slot(s, l->class);
        push_slot(&s->scratch, h, (slot_end){l->to, slot[l->root]});
    }
    return slot;
}
