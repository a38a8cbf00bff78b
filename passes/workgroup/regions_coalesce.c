/* regions_coalesce.c — which values of the context have one slot.
 *
 * A phi at the head of a region and its argument would have two slots, and a loop over all items
 * would copy one to the other.  They share a slot if they are never needed at the same time.  Slots
 * are read at heads only, before anything is written there, so interference has to be checked at
 * heads only.
 *
 * Slots are joined phi by phi.  Values that no phi uses are not listed, and a slot whose values
 * come into more than MAX_HEADS regions is not joined: complete lists would take memory for each
 * value and head.
 */
#include "passes/workgroup/regions_impl.h"

enum { MAX_HEADS = 256 };

typedef struct {
    const pass_group_builder *g;
    const pass_region_graph *graph;
    const pass_context *context;
    bool *paired;   /* by value id: a phi, or the argument of one, that may share its slot */
    uint32_t *bits; /* of the numbers of those that are live somewhere */
} coalescer;

static uint32_t find(const coalescer *s, const ir_inst *v) {
    uint32_t *same = s->context->same, id = v->id;
    while (same[id] != id) id = same[id] = same[same[id]];
    return id;
}

static bool is_candidate(const coalescer *s, const ir_inst *v) {
    return v->block && v->id < s->context->n && s->context->has_slot[v->id];
}

static void pair_up(const coalescer *s, const ir_inst *phi) {
    for (unsigned n = 0; is_candidate(s, phi) && n < phi->nargs; n++)
        if (is_candidate(s, ir_arg(phi, n)))
            s->paired[phi->id] = s->paired[ir_arg(phi, n)->id] = true;
}

static void find_pairs(const coalescer *s) {
    for (uint32_t r = 0; r < s->graph->n; r++)
        foreach_phi (phi, s->graph->region[r].head) pair_up(s, phi);
    for (uint32_t k = 0; k < s->context->nvalues; k++) {
        uint32_t id = s->context->values[k]->id, number = s->context->live->number[id];
        if (s->paired[id] && number) s->bits[(number - 1) / 32] |= UINT32_C(1) << (number - 1) % 32;
    }
}

/* One head too many is enough to know that a slot cannot be joined. */
static void add_arrival(const coalescer *s, uint32_t region, ir_inst *v) {
    pass_slot *p = &s->context->slot[v->id];
    if (p->in.n <= MAX_HEADS) *ir_push(s->g->scratch, &p->in) = (pass_arrival){region, v};
}

static void add_arrivals(const coalescer *s, uint32_t region) {
    const ir_block *head = s->graph->region[region].head;
    const ir_live *live = s->context->live;
    const ir_live_set *in = &live->in[head->id];
    for (uint32_t k = 0; k < in->n; k++) {
        const ir_live_word *w = &in->word[k];
        for (uint32_t left = w->bits & s->bits[w->index]; left; left &= left - 1)
            add_arrival(s, region, live->value[32 * w->index + (uint32_t)__builtin_ctz(left)]);
    }
    foreach_phi (phi, head)
        if (is_candidate(s, phi) && s->paired[phi->id]) add_arrival(s, region, phi);
}

static void add_definition(const coalescer *s, const ir_inst *v) {
    uint32_t region = s->graph->region_of[v->block->id];
    bool phi = v->op == IR_OP_phi && s->graph->is_head[v->block->id];
    if (!phi) *ir_push(s->g->scratch, &s->context->slot[v->id].defined) = (pass_arrival){region, v};
}

/* -------------------------------------------------------------------------------------- joining */

/* Merges two lists, which are sorted by region; false if a region is in both. */
static bool merge_arrivals(const coalescer *s, const pass_arrivals *a, const pass_arrivals *b,
                           pass_arrivals *to) {
    for (uint32_t k = 0, n = 0; k < a->n || n < b->n;) {
        const pass_arrival *x = k < a->n ? &a->data[k] : NULL, *y = n < b->n ? &b->data[n] : NULL;
        if (x && y && x->region == y->region) return false;
        bool first = x && (!y || x->region < y->region);
        *ir_push(s->g->scratch, to) = first ? a->data[k++] : b->data[n++];
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

/* Does what a region writes leave alone what the next ones need? */
static bool is_in_order(const coalescer *s, const pass_slot *p, const pass_arrival *definition) {
    const ir_block_list *targets = &s->graph->region[definition->region].targets;
    for (uint32_t k = 0; k < targets->n; k++) {
        const ir_block *head = targets->data[k];
        if (head == s->g->end) continue;
        const ir_inst *there = value_at(p->in.data, p->in.n, s->graph->region_of[head->id]);
        if (there && there != definition->value && there->block != head) return false;
    }
    return true;
}

static void join(const coalescer *s, const ir_inst *phi, const ir_inst *arg) {
    uint32_t a = find(s, phi), b = find(s, arg);
    const pass_slot *p = &s->context->slot[a], *q = &s->context->slot[b];
    pass_slot both = {0};
    if (a == b || p->in.n + q->in.n > MAX_HEADS) return;
    if (!merge_arrivals(s, &p->in, &q->in, &both.in)) return;
    if (!merge_arrivals(s, &p->defined, &q->defined, &both.defined)) return;
    for (uint32_t k = 0; k < both.defined.n; k++)
        if (!is_in_order(s, &both, &both.defined.data[k])) return;
    s->context->same[b] = a;
    s->context->slot[a] = both;
    ir_count(s->g->f->module->cx, regions_coalesced, 1);
}

void pass_coalesce_slots(const pass_group_builder *g, const pass_region_graph *graph,
                         const pass_context *context) {
    const coalescer s = {.g = g,
                         .graph = graph,
                         .context = context,
                         .paired = ir_new_array(g->scratch, bool, context->n),
                         .bits =
                             ir_new_array(g->scratch, uint32_t, context->live->nvalues / 32 + 1)};
    for (uint32_t v = 0; v < context->n; v++) context->same[v] = v;
    find_pairs(&s);
    for (uint32_t r = 0; r < graph->n; r++) add_arrivals(&s, r);
    for (uint32_t k = 0; k < context->nvalues; k++)
        if (is_candidate(&s, context->values[k])) add_definition(&s, context->values[k]);
    for (uint32_t r = 0; r < graph->n; r++)
        foreach_phi (phi, graph->region[r].head)
            for (unsigned n = 0; is_candidate(&s, phi) && n < phi->nargs; n++)
                if (is_candidate(&s, ir_arg(phi, n))) join(&s, phi, ir_arg(phi, n));
    for (uint32_t k = 0; k < context->nvalues; k++)
        context->same[context->values[k]->id] = find(&s, context->values[k]);
}

bool pass_is_in_slot(const pass_region_graph *graph, const pass_context *context, const ir_inst *v,
                     const ir_inst *phi, uint32_t region) {
    if (!v->block || v->id >= context->n || !context->has_slot[v->id]) return false;
    if (context->same[v->id] != context->same[phi->id]) return false;
    const pass_slot *p = &context->slot[context->same[v->id]];
    const ir_inst *defined = value_at(p->defined.data, p->defined.n, region);
    if (defined) return defined == v;
    const ir_block *head = graph->region[region].head;
    bool begins = v->op == IR_OP_phi && v->block == head;
    return begins || ir_is_live(context->live, &context->live->in[head->id], v);
}
