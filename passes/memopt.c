/* memopt.c — values that memory is known to hold.
 *
 * Memory as a whole is one variable in SSA form: every instruction that may write makes a version
 * of it, and so does a block where several versions meet (Novillo 2007, "Memory SSA").  What stands
 * at an address is decided by the last version that touched it: writes that alias.c knows to be
 * apart are passed over, and so are meetings all of whose ways come from one version.  A load that
 * finds a store there, or another load that dominates it and found the same version, is that value;
 * where every way into a meeting has a value, a phi collects them.  A store of what is there
 * already goes away.
 *
 * Versions do not change when loads go, and of stores only those that change nothing go, so all are
 * made once.  A meeting is looked through only when all that the address is made of is older: then
 * it is the same address in every iteration of the loops in between.  How far a load looks is
 * limited.
 */
#include "passes/analysis.h"

enum { MAX_STEPS = 100, MAX_MEETINGS = 8, MAX_WAYS = 48 };

typedef struct version version;
struct version {
    ir_inst *by;     /* what writes; NULL: a meeting, the state at entry, or a store that is gone */
    version *before; /* what it writes over; NULL: a meeting or the state at entry */
    ir_block *block;
    uint32_t number;
};

typedef struct {
    ir_func *f;
    const ir_module *m;
    const ir_dom *dom;
    ir_arena *scratch;
    pass_alias alias;
    version **head, **end; /* by block id */
    version **made;        /* by id of a writing instruction */
    uint32_t nversions;
    ir_map known; /* address and version -> what stands there */
} memopt;

/* ------------------------------------------------------------------------------------- versions */

static version *new_version(memopt *w, ir_block *b, ir_inst *by, version *before) {
    version *v = ir_new(w->scratch, version);
    *v = (version){.by = by, .before = before, .block = b, .number = w->nversions++};
    return v;
}

static bool has_write(const ir_block *b) {
    for (const ir_inst *i = b->first; i; i = i->next)
        if (pass_writes(i)) return true;
    return false;
}

static void place_meetings(memopt *w) {
    const ir_order *order = &w->dom->order;
    ir_block_list writers = {0}, joins = {0};
    for (uint32_t k = 0; k < order->n; k++)
        if (has_write(order->rpo[k])) *ir_push(w->scratch, &writers) = order->rpo[k];
    ir_iterated_frontier(w->f, &writers, NULL, w->scratch, &joins);
    for (uint32_t k = 0; k < joins.n; k++)
        w->head[joins.data[k]->id] = new_version(w, joins.data[k], NULL, NULL);
}

static void number_block(memopt *w, ir_block *b) {
    ir_block *up = w->dom->idom[b->id];
    version *now = w->head[b->id];
    if (!now) now = up ? w->end[up->id] : new_version(w, b, NULL, NULL);
    w->head[b->id] = now;
    foreach_inst (i, b)
        if (pass_writes(i)) now = w->made[i->id] = new_version(w, b, i, now);
    w->end[b->id] = now;
}

static void number_versions(memopt *w) {
    const ir_order *order = &w->dom->order;
    w->head = ir_new_array(w->scratch, version *, w->f->next_block);
    w->end = ir_new_array(w->scratch, version *, w->f->next_block);
    w->made = ir_new_array(w->scratch, version *, w->f->next_id);
    place_meetings(w);
    for (uint32_t k = 0; k < order->n; k++) number_block(w, order->rpo[k]);
}

/* -------------------------------------------------------------------------------------- queries */

/* What stands at an address, as a value of some type, just before an instruction? */
typedef struct {
    ir_inst *address;
    ir_type type;
    uint64_t size;
    unsigned steps; /* still to be taken */
} query;

static bool is_meeting(const version *v) { return !v->by && !v->before && v->block->npred; }

/* Passes over the writes that leave the bytes alone. */
static version *last_writer(const memopt *w, query *q, version *v) {
    for (; v->before && q->steps; v = v->before, q->steps--)
        if (v->by && pass_may_write(&w->alias, v->by, q->address, q->size)) break;
    return v;
}

static bool fits(const memopt *w, const query *q, const ir_inst *value) {
    return ir_can_reinterpret(w->m, value->type, q->type);
}

static bool is_volatile(const ir_inst *access) { return access->imm.mem.flags & IR_MEM_VOLATILE; }

static uint64_t key_of(const query *q, const version *v) {
    return (uint64_t)q->address->id << 32 | v->number;
}

/* The value that version v holds there, usable just before `at`; NULL: unknown. */
static ir_inst *held(const memopt *w, const query *q, const version *v, const ir_inst *at) {
    const ir_inst *by = v->by;
    if (by && by->op == IR_OP_store && !is_volatile(by) && fits(w, q, ir_arg(by, 0)) &&
        pass_covers(&w->alias, ir_arg(by, 1), q->size, q->address, q->size))
        return ir_arg(by, 0);
    ir_inst *known = ir_map_get(&w->known, key_of(q, v));
    return known && fits(w, q, known) && ir_value_dominates(w->dom, known, at) ? known : NULL;
}

/* ------------------------------------------------------------------------------------- meetings */

/* An edge into a meeting, and the last version that wrote there on it. */
typedef struct {
    version *from;
    ir_block *pred;
} way;

/* A meeting, those that lead to it, and all the ways into them, in the order of edges. */
typedef struct {
    version *meeting[MAX_MEETINGS];
    ir_inst *phi[MAX_MEETINGS];
    way way[MAX_WAYS];
    unsigned nmeetings, nways;
} crossing;

/* The place of v among the meetings of c, or their number. */
static unsigned find_meeting(const crossing *c, const version *v) {
    unsigned k = 0;
    while (k < c->nmeetings && c->meeting[k] != v) k++;
    return k;
}

static bool is_older(const memopt *w, const ir_inst *v, const ir_block *b) {
    return !v->block || (v->block != b && ir_block_dominates(w->dom, v->block, b));
}

/* Was all that the address is made of there before control got to b for the first time? */
static bool is_fixed(const memopt *w, const query *q, const ir_block *b) {
    const pass_place p = pass_find_place(&w->alias, q->address);
    bool fixed = is_older(w, p.base, b);
    for (uint32_t k = 0; k < p.offset.n; k++)
        fixed = fixed && is_older(w, p.offset.term[k].of.value, b);
    return fixed;
}

static bool add_way(const memopt *w, query *q, crossing *c, ir_block *pred) {
    version *v = last_writer(w, q, w->end[pred->id]);
    if (c->nways == MAX_WAYS) return false;
    c->way[c->nways++] = (way){v, pred};
    if (!is_meeting(v) || find_meeting(c, v) < c->nmeetings) return true;
    if (c->nmeetings == MAX_MEETINGS || !is_fixed(w, q, v->block)) return false;
    c->meeting[c->nmeetings++] = v;
    return true;
}

/* False: too many ways, or not the same address on all. */
static bool find_ways(const memopt *w, query *q, version *meeting, crossing *c) {
    c->nmeetings = c->nways = 0;
    if (!is_fixed(w, q, meeting->block)) return false;
    c->meeting[c->nmeetings++] = meeting;
    for (unsigned k = 0; k < c->nmeetings; k++) {
        const ir_block *b = c->meeting[k]->block;
        for (uint32_t e = 0; e < b->npred; e++)
            if (!add_way(w, q, c, b->pred[e])) return false;
    }
    return true;
}

/* The one version that all ways come from, or NULL. */
static version *only_version(const crossing *c) {
    version *only = NULL;
    for (unsigned k = 0; k < c->nways; k++) {
        version *v = c->way[k].from;
        if (v == only || find_meeting(c, v) < c->nmeetings) continue;
        if (only) return NULL;
        only = v;
    }
    return only;
}

static bool are_all_held(const memopt *w, const query *q, const crossing *c) {
    for (unsigned k = 0; k < c->nways; k++) {
        const way *from = &c->way[k];
        bool inner = find_meeting(c, from->from) < c->nmeetings;
        if (!inner && !held(w, q, from->from, from->pred->last)) return false;
    }
    return true;
}

static ir_inst *build_as(const memopt *w, ir_inst *value, ir_type t, ir_inst *before) {
    ir_builder b;
    if (value->type == t) return value;
    ir_builder_init(&b, w->f);
    ir_before(&b, before);
    b.loc = before->loc;
    return ir_build_reinterpret(&b, value, t);
}

/* What comes on edge e of a phi's block, at the end of the predecessor; the same on equal edges. */
static ir_inst *incoming(const memopt *w, const query *q, const crossing *c, const way *from,
                         const ir_inst *phi, uint32_t e) {
    unsigned inner = find_meeting(c, from->from);
    uint32_t first = ir_pred_index(phi->block, from->pred);
    if (inner < c->nmeetings) return c->phi[inner];
    if (first < e) return ir_arg(phi, first);
    ir_inst *value = held(w, q, from->from, from->pred->last);
    return build_as(w, value, q->type, from->pred->last);
}

/* A phi for every meeting; the first is what stands at the address there. */
static ir_inst *build_phis(const memopt *w, const query *q, crossing *c) {
    const way *from = c->way;
    for (unsigned k = 0; k < c->nmeetings; k++)
        c->phi[k] = ir_build_phi(c->meeting[k]->block, q->type);
    for (unsigned k = 0; k < c->nmeetings; k++)
        for (uint32_t e = 0; e < c->meeting[k]->block->npred; e++, from++)
            c->phi[k] = ir_append_arg(c->phi[k], incoming(w, q, c, from, c->phi[k], e));
    return c->phi[0];
}

/* ----------------------------------------------------------------------------- loads and stores */

/* The value at the address, usable just before `at`, where memory is `now`; NULL: unknown.
 * *last is the version that it depends on. */
static ir_inst *find_value(const memopt *w, query *q, version *now, const ir_inst *at,
                           version **last) {
    version *v = *last = last_writer(w, q, now);
    crossing c;
    ir_inst *value = held(w, q, v, at);
    if (value || !is_meeting(v) || !find_ways(w, q, v, &c)) return value;
    version *only = only_version(&c);
    if (only) return held(w, q, *last = only, at);
    return are_all_held(w, q, &c) ? build_phis(w, q, &c) : NULL;
}

static bool visit_load(memopt *w, ir_inst *load, version *now) {
    query q = {ir_arg(load, 0), load->type, ir_access_size(w->m, load->type), MAX_STEPS};
    version *last;
    if (is_volatile(load)) return false;
    ir_inst *value = find_value(w, &q, now, load, &last);
    ir_map_set(w->scratch, &w->known, key_of(&q, last), value ? value : load);
    if (!value) return false;
    ir_replace_uses(load, build_as(w, value, load->type, load));
    ir_remove(load);
    return true;
}

/* Does it write what is there already? */
static bool visit_store(memopt *w, ir_inst *store) {
    ir_inst *value = ir_arg(store, 0);
    query q = {ir_arg(store, 1), value->type, ir_access_size(w->m, value->type), MAX_STEPS};
    version *v = w->made[store->id];
    if (is_volatile(store) || held(w, &q, last_writer(w, &q, v->before), store) != value)
        return false;
    v->by = NULL;
    ir_remove(store);
    return true;
}

static bool visit_block(memopt *w, ir_block *b) {
    version *now = w->head[b->id];
    bool changed = false;
    foreach_inst (i, b) {
        if (pass_writes(i)) now = w->made[i->id];
        if (i->op == IR_OP_load) changed |= visit_load(w, i, now);
        if (i->op == IR_OP_store) changed |= visit_store(w, i);
    }
    return changed;
}

/* Does: replaces loads by what was stored or loaded before at the same address, on every path;
 *       removes stores of what is there already.
 * Needs: equal addresses to be one value (gvn).
 * Leaves: every block reachable; other stores; the control flow graph.
 * Gives up: where one path does not know the value, and after a number of steps. */
bool pass_memopt(ir_func *f, pass_ctx *cx) {
    bool changed = ir_remove_unreachable(f);
    memopt w = {.f = f, .m = f->module, .dom = ir_dominators(f), .scratch = cx->scratch};
    pass_alias_begin(&w.alias, f, cx->scratch);
    number_versions(&w);
    for (uint32_t k = 0; k < w.dom->order.n; k++) changed |= visit_block(&w, w.dom->order.rpo[k]);
    return changed;
}
