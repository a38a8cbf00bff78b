/* regions_share.c — which values that are kept for each item have one place in memory.
 *
 * A phi at the head of a region and its argument would have two places, and a loop over all items
 * would copy one to the other.  They share a place when they are never needed at the same time.
 * Places are read at heads only, before anything is written there, so only heads have to be looked
 * at.
 *
 * Places join one by one, phi by phi, as long as they are needed at few heads.  Values that no phi
 * takes, and heads beyond so many, are not listed: lists of all would take as much memory as there
 * are values times heads.
 */
#include "passes/workgroup/regions_impl.h"

enum { MAX_HEADS = 256 };

typedef struct {
    pass_grouping *g;
    const pass_kept *kept;
    bool *paired;   /* by value id: a phi, or the argument of one, that may share its place */
    uint32_t *bits; /* of the numbers of those that are live somewhere */
} sharer;

static uint32_t find(const sharer *s, const ir_inst *v) {
    uint32_t *same = s->kept->same, id = v->id;
    while (same[id] != id) id = same[id] = same[same[id]];
    return id;
}

static bool is_candidate(const sharer *s, const ir_inst *v) {
    return v->block && v->id < s->kept->n && s->kept->each[v->id];
}

static void pair_up(const sharer *s, const ir_inst *phi) {
    for (unsigned n = 0; is_candidate(s, phi) && n < phi->nargs; n++)
        if (is_candidate(s, ir_arg(phi, n)))
            s->paired[phi->id] = s->paired[ir_arg(phi, n)->id] = true;
}

static void find_pairs(const sharer *s) {
    for (uint32_t r = 0; r < s->g->nregions; r++)
        foreach_phi (phi, s->g->regions[r].head) pair_up(s, phi);
    for (uint32_t k = 0; k < s->kept->nvalues; k++) {
        uint32_t id = s->kept->values[k]->id, number = s->kept->live->number[id];
        if (s->paired[id] && number) s->bits[(number - 1) / 32] |= UINT32_C(1) << (number - 1) % 32;
    }
}

/* One head too many is enough to know that a place cannot be joined. */
static void add_arrival(const sharer *s, uint32_t region, ir_inst *v) {
    pass_kept_place *p = &s->kept->place[v->id];
    if (p->in.n <= MAX_HEADS) *ir_push(s->g->scratch, &p->in) = (pass_arrival){region, v};
}

static void add_arrivals(const sharer *s, uint32_t region) {
    const ir_block *head = s->g->regions[region].head;
    const ir_live *live = s->kept->live;
    const ir_live_set *in = &live->in[head->id];
    for (uint32_t k = 0; k < in->n; k++) {
        const ir_live_word *w = &in->word[k];
        for (uint32_t left = w->bits & s->bits[w->index]; left; left &= left - 1)
            add_arrival(s, region, live->value[32 * w->index + (uint32_t)__builtin_ctz(left)]);
    }
    foreach_phi (phi, head)
        if (is_candidate(s, phi) && s->paired[phi->id]) add_arrival(s, region, phi);
}

static void add_made(const sharer *s, const ir_inst *v) {
    uint32_t region = s->g->region_of[v->block->id];
    bool phi = v->op == IR_OP_phi && s->g->is_head[v->block->id];
    if (!phi) *ir_push(s->g->scratch, &s->kept->place[v->id].made) = (pass_arrival){region, v};
}

/* -------------------------------------------------------------------------------------- joining */

/* All of both, by region; false when one region occurs twice. */
static bool merge(const sharer *s, const pass_arrival *a, uint32_t n, const pass_arrival *b,
                  uint32_t m, pass_kept_place *to, bool made) {
    while (n || m) {
        if (n && m && a->region == b->region) return false;
        bool first = n && (!m || a->region < b->region);
        pass_arrival *next =
            made ? ir_push(s->g->scratch, &to->made) : ir_push(s->g->scratch, &to->in);
        *next = first ? *a++ : *b++;
        n -= first;
        m -= !first;
    }
    return true;
}

static const ir_inst *value_at(const pass_arrival *list, uint32_t n, uint32_t region) {
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (list[mid].region < region)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && list[low].region == region ? list[low].value : NULL;
}

/* Does what a region makes leave alone what the next ones need? */
static bool is_in_order(const sharer *s, const pass_kept_place *p, const pass_arrival *made) {
    const ir_block_list *targets = &s->g->regions[made->region].targets;
    for (uint32_t k = 0; k < targets->n; k++) {
        const ir_block *head = targets->data[k];
        if (head == s->g->end) continue;
        const ir_inst *there = value_at(p->in.data, p->in.n, s->g->region_of[head->id]);
        if (there && there != made->value && there->block != head) return false;
    }
    return true;
}

static void join(const sharer *s, const ir_inst *phi, const ir_inst *arg) {
    uint32_t a = find(s, phi), b = find(s, arg);
    const pass_kept_place *p = &s->kept->place[a], *q = &s->kept->place[b];
    pass_kept_place both = {0};
    if (a == b || p->in.n + q->in.n > MAX_HEADS) return;
    if (!merge(s, p->in.data, p->in.n, q->in.data, q->in.n, &both, false)) return;
    if (!merge(s, p->made.data, p->made.n, q->made.data, q->made.n, &both, true)) return;
    for (uint32_t k = 0; k < both.made.n; k++)
        if (!is_in_order(s, &both, &both.made.data[k])) return;
    s->kept->same[b] = a;
    s->kept->place[a] = both;
}

void pass_share_places(pass_grouping *g, const pass_kept *kept) {
    const sharer s = {.g = g,
                      .kept = kept,
                      .paired = ir_new_array(g->scratch, bool, kept->n),
                      .bits = ir_new_array(g->scratch, uint32_t, kept->live->nvalues / 32 + 1)};
    for (uint32_t v = 0; v < kept->n; v++) kept->same[v] = v;
    find_pairs(&s);
    for (uint32_t r = 0; r < g->nregions; r++) add_arrivals(&s, r);
    for (uint32_t k = 0; k < kept->nvalues; k++)
        if (is_candidate(&s, kept->values[k])) add_made(&s, kept->values[k]);
    for (uint32_t r = 0; r < g->nregions; r++)
        foreach_phi (phi, g->regions[r].head)
            for (unsigned n = 0; is_candidate(&s, phi) && n < phi->nargs; n++)
                if (is_candidate(&s, ir_arg(phi, n))) join(&s, phi, ir_arg(phi, n));
    for (uint32_t k = 0; k < kept->nvalues; k++)
        kept->same[kept->values[k]->id] = find(&s, kept->values[k]);
}

bool pass_has_place(const pass_grouping *g, const pass_kept *kept, const ir_inst *v,
                    const ir_inst *phi, uint32_t region) {
    if (!v->block || v->id >= kept->n || !kept->each[v->id]) return false;
    if (kept->same[v->id] != kept->same[phi->id]) return false;
    const pass_kept_place *p = &kept->place[kept->same[v->id]];
    const ir_inst *made = value_at(p->made.data, p->made.n, region);
    if (made) return made == v;
    const ir_block *head = g->regions[region].head;
    bool begins = v->op == IR_OP_phi && v->block == head;
    return begins || ir_is_live(kept->live, &kept->live->in[head->id], v);
}
