/* memopt.c — replaces loads by values that memory is known to hold, and removes redundant stores.
 *
 * Memory as a whole is one variable in SSA form (Novillo 2007, "Memory SSA"): every instruction
 * that may write defines a version of it, and so does every join of different versions.  The value
 * at an address is determined by the last version that may have changed it.  The search for that
 * version skips writes that alias.c proves to be apart, and joins whose incoming paths all lead to
 * one version.
 *
 * Loads.  A load is replaced by the value that its version stored at the address, or by a
 * dominating load of the same address and version.  At a join where every incoming path has a
 * value, a phi merges the values.
 *
 * Partial overlap (pieces.c).  A load of a part of a stored value is an extract of it.  A load of
 * more bytes than a store has written is assembled from the last stores of its bytes, back to a
 * version that is not such a store.  The remaining bytes have their value of that version: they
 * are loaded before the oldest of these stores, if every path from there reaches the load.  The
 * argument of a phi is assembled in the same way if stores have written all its bytes.  This pays
 * because a processor delays a load some of whose bytes are in a store that has not reached the
 * cache.
 *
 * Stores.  A store of the value that memory already holds is removed.
 *
 * Removing loads changes no version, and only stores that change nothing are removed, so the
 * versions are computed once.  The search passes a join only if all operands of the address are
 * computed before it: then the address is the same in every iteration of the loops in between.  The
 * number of steps is limited.
 */
#include "passes/scalar/pieces.h"
#include "ir/eval.h"
#include "passes/analysis/versions.h"

enum { MAX_STEPS = 100, MAX_PHIS = 8, MAX_EDGES = 48, MAX_JOINS = 4 };

typedef struct {
    ir_func *f;
    const ir_module *m;
    ir_arena *scratch;
    pass_versions of; /* memory */
    ir_map known;     /* address and version -> the value there */
    ir_map masked;    /* the same -> the last masked load */
    ir_places places;
} memopt;

/* -------------------------------------------------------------------------------------- queries */

/* What does memory hold at an address, as a value of some type, just before an instruction? */
typedef struct {
    ir_type type;
    pass_bytes at;
} query;

static query begin_query(memopt *w, ir_inst *address, ir_type type) {
    uint64_t size = ir_access_size(w->m, type);
    return (query){type, pass_begin_search(&w->of, address, size, MAX_STEPS)};
}

static pass_version *last_writer(memopt *w, query *q, pass_version *v) {
    return pass_last_writer(&w->of, &q->at, v);
}

static bool is_memory_phi(const pass_version *v) { return !v->by && !v->before && v->block->npred; }

static bool is_volatile(const ir_inst *access) { return access->imm.mem.flags & IR_MEM_VOLATILE; }

static uint64_t version_key(const query *q, const pass_version *v) {
    return (uint64_t)q->at.address->id << 32 | v->number;
}

/* Bytes of a value, from `at` on; no value: they are not known. */
typedef struct {
    ir_inst *value;
    uint64_t at;
} part;

static const part unknown = {NULL, 0};

/* Can the value that the query is for be extracted from this one? */
static bool has_part(const memopt *w, const query *q, const part *p) {
    pass_pieces pieces = {0};
    if (p->at == 0 && ir_can_reinterpret(w->m, p->value->type, q->type)) return true;
    if (q->at.size > PASS_MAX_BYTES) return false;
    pass_add_piece(&pieces, p->value, p->at, 0, q->at.size);
    return pass_can_join(w->m, &pieces, q->type);
}

/* Is `by` a store at a known number of bytes before those of the query, and of how many bytes? */
static bool is_stored(const memopt *w, const query *q, const ir_inst *by, int64_t *step,
                      uint64_t *size) {
    return pass_is_store_near(&w->of, by, q->at.address, step) &&
           pass_written(&w->of.alias, by, size);
}

/* What version v holds there, usable just before `at`. */
static part held(const memopt *w, const query *q, const pass_version *v, const ir_inst *at) {
    int64_t step;
    uint64_t size;
    if (is_stored(w, q, v->by, &step, &size) && step >= 0) {
        const part p = {ir_arg(v->by, 0), (uint64_t)step};
        if (p.at + q->at.size <= size && has_part(w, q, &p)) return p;
    }
    const part p = {ir_map_get(&w->known, version_key(q, v)), 0};
    bool usable = p.value && ir_can_reinterpret(w->m, p.value->type, q->type) &&
                  ir_precedes(&w->places, p.value, at);
    return usable ? p : unknown;
}

/* ---------------------------------------------------------------------------------------- parts */

/* Stores that have written parts of what a load reads. */
typedef struct {
    pass_pieces pieces;
    uint64_t missing;     /* bytes that none of them has written */
    pass_version *oldest; /* of the stores */
} gathering;

/* Collects stores of missing bytes from version v back.  False: something else has written some of
 * the bytes, or it is not known which. */
static bool gather(memopt *w, query *q, pass_version *v, gathering *g) {
    int64_t step;
    uint64_t size;
    for (; g->missing && q->at.steps; v = v->before, q->at.steps--) {
        v = last_writer(w, q, v);
        if (!v->by) return g->oldest != NULL;
        if (!is_stored(w, q, v->by, &step, &size)) return false;
        int64_t to = step < 0 ? -step : 0, end = (int64_t)size - step;
        if (end > (int64_t)q->at.size) end = (int64_t)q->at.size;
        if (to >= end || end - to > PASS_MAX_BYTES) return false;
        g->missing -= pass_add_piece(&g->pieces, ir_arg(v->by, 0), (uint64_t)(to + step),
                                     (uint64_t)to, (uint64_t)(end - to));
        g->oldest = v;
    }
    return !g->missing;
}

static ir_inst *join_before(memopt *w, const query *q, const pass_pieces *pieces, ir_inst *before) {
    ir_builder b;
    ir_builder_init(&b, w->f);
    ir_before(&b, before);
    b.loc = before->loc;
    return ir_place_before(&w->places, pass_join(&b, pieces, q->type), before);
}

/* ------------------------------------------------------------------------------------- merging */

/* An edge to a memory phi, and the last version on it that may have changed the bytes. */
typedef struct {
    pass_version *from;
    ir_block *pred;
} incoming_edge;

/* A memory phi, those that lead to it, and all edges to them, in their order. */
typedef struct {
    pass_version *memory[MAX_PHIS];
    ir_inst *phi[MAX_PHIS];
    incoming_edge edge[MAX_EDGES];
    const pass_pieces *parts[MAX_EDGES]; /* what stores have left on an edge together, or NULL */
    unsigned nphis, nedges, njoins;
} merge;

/* The place of v among the memory phis of c, or their number. */
static unsigned find_memory_phi(const merge *c, const pass_version *v) {
    unsigned k = 0;
    while (k < c->nphis && c->memory[k] != v) k++;
    return k;
}

static bool is_older(const memopt *w, const ir_inst *v, const ir_block *b) {
    return !v->block || (v->block != b && ir_block_dominates(w->of.dom, v->block, b));
}

/* Are all operands of the address computed before b, and not in it? */
static bool is_fixed(const memopt *w, const query *q, const ir_block *b) {
    const pass_place p = pass_find_place(&w->of.alias, q->at.address);
    bool fixed = is_older(w, p.base, b);
    for (uint32_t k = 0; k < p.offset.n; k++)
        fixed = fixed && is_older(w, p.offset.term[k].of.value, b);
    return fixed;
}

static bool add_edge(memopt *w, query *q, merge *c, ir_block *pred) {
    pass_version *v = last_writer(w, q, w->of.end[pred->id]);
    if (c->nedges == MAX_EDGES) return false;
    c->parts[c->nedges] = NULL;
    c->edge[c->nedges++] = (incoming_edge){v, pred};
    if (!is_memory_phi(v) || find_memory_phi(c, v) < c->nphis) return true;
    if (c->nphis == MAX_PHIS || !is_fixed(w, q, v->block)) return false;
    c->memory[c->nphis++] = v;
    return true;
}

/* False: too many edges, or not the same address on all. */
static bool find_edges(memopt *w, query *q, pass_version *phi, merge *c) {
    c->nphis = c->nedges = c->njoins = 0;
    if (!is_fixed(w, q, phi->block)) return false;
    c->memory[c->nphis++] = phi;
    for (unsigned k = 0; k < c->nphis; k++) {
        const ir_block *b = c->memory[k]->block;
        for (uint32_t e = 0; e < b->npred; e++)
            if (!add_edge(w, q, c, b->pred[e])) return false;
    }
    return true;
}

/* The one version that all edges come from, or NULL. */
static pass_version *only_version(const merge *c) {
    pass_version *only = NULL;
    for (unsigned k = 0; k < c->nedges; k++) {
        pass_version *v = c->edge[k].from;
        if (v == only || find_memory_phi(c, v) < c->nphis) continue;
        if (only) return NULL;
        only = v;
    }
    return only;
}

/* Does control that comes to `from` get to `to` without a branch? */
static bool leads_to(const ir_block *from, const ir_block *to) {
    while (from != to && from->nsucc == 1) from = from->succ[0];
    return from == to;
}

/* Have stores left all the bytes on an edge, from which control always comes to `to`? */
static bool find_parts(memopt *w, query *q, merge *c, unsigned k, const ir_block *to) {
    gathering g = {.missing = q->at.size};
    if (!leads_to(c->edge[k].pred, to)) return false;
    if (q->at.size > PASS_MAX_BYTES || c->njoins++ == MAX_JOINS) return false;
    if (!gather(w, q, c->edge[k].from, &g) || g.missing) return false;
    if (!pass_can_join(w->m, &g.pieces, q->type)) return false;
    c->parts[k] = ir_dup(w->scratch, &g.pieces, sizeof g.pieces);
    return true;
}

static bool are_all_held(memopt *w, query *q, merge *c, const ir_block *to) {
    for (unsigned k = 0; k < c->nedges; k++) {
        const incoming_edge *from = &c->edge[k];
        if (find_memory_phi(c, from->from) < c->nphis) continue;
        if (held(w, q, from->from, from->pred->last).value) continue;
        if (!find_parts(w, q, c, k, to)) return false;
    }
    return true;
}

static ir_inst *build_part(memopt *w, const query *q, const part *p, ir_inst *before) {
    ir_builder b;
    pass_pieces pieces = {0};
    if (p->value->type == q->type) return p->value;
    ir_builder_init(&b, w->f);
    ir_before(&b, before);
    b.loc = before->loc;
    if (ir_can_reinterpret(w->m, p->value->type, q->type))
        return ir_place_before(&w->places, ir_build_reinterpret(&b, p->value, q->type), before);
    pass_add_piece(&pieces, p->value, p->at, 0, q->at.size);
    return join_before(w, q, &pieces, before);
}

/* The next argument of a phi, at the end of the predecessor; the same on equal edges. */
static ir_inst *incoming(memopt *w, const query *q, const merge *c, const incoming_edge *from,
                         const ir_inst *phi) {
    unsigned inner = find_memory_phi(c, from->from);
    uint32_t first = ir_pred_index(phi->block, from->pred);
    if (inner < c->nphis) return c->phi[inner];
    if (first < phi->nargs) return ir_arg(phi, first);
    const pass_pieces *parts = c->parts[from - c->edge];
    if (parts) return join_before(w, q, parts, from->pred->last);
    const part p = held(w, q, from->from, from->pred->last);
    return build_part(w, q, &p, from->pred->last);
}

/* Builds a phi for every memory phi; the first is what memory holds at the address there. */
static ir_inst *build_phis(memopt *w, const query *q, merge *c) {
    const incoming_edge *from = c->edge;
    for (unsigned k = 0; k < c->nphis; k++) c->phi[k] = ir_build_phi(c->memory[k]->block, q->type);
    for (unsigned k = 0; k < c->nphis; k++)
        for (uint32_t e = 0; e < c->memory[k]->block->npred; e++, from++)
            c->phi[k] = ir_append_arg(c->phi[k], incoming(w, q, c, from, c->phi[k]));
    for (unsigned k = 0; k < c->nphis; k++) ir_place_phi(&w->places, c->phi[k]);
    return c->phi[0];
}

/* -------------------------------------------------------------------------------- whole values */

/* The value at the address, usable just before `at`, where memory is `now`.  *last is the version
 * that it depends on. */
static part find_value(memopt *w, query *q, pass_version *now, const ir_inst *at,
                       pass_version **last) {
    pass_version *v = *last = last_writer(w, q, now);
    merge c;
    const part found = held(w, q, v, at);
    if (found.value || !is_memory_phi(v) || !find_edges(w, q, v, &c)) return found;
    pass_version *only = only_version(&c);
    if (only) return held(w, q, *last = only, at);
    return are_all_held(w, q, &c, at->block) ? (part){build_phis(w, q, &c), 0} : unknown;
}

/* ------------------------------------------------------------------------------- joined parts */

/* The same address, made before `at`; NULL: not possible. */
static ir_inst *find_address(memopt *w, const query *q, ir_inst *at) {
    ir_inst *known = ir_arg(at, 1);
    int64_t step;
    ir_builder b;
    if (ir_precedes(&w->places, q->at.address, at)) return q->at.address;
    if (known->type != q->at.address->type) return NULL;
    pass_find_step(&w->of.alias, known, q->at.address, &step);
    ir_builder_init(&b, w->f);
    ir_before(&b, at);
    b.loc = at->loc;
    ir_inst *bytes = ir_const(w->f, ir_size_type(w->m), (uint64_t)step);
    return ir_build_ptradd(&b, known, bytes, true);
}

/* A load like this one, before the store; NULL: it might not have been executed there. */
static ir_inst *load_before(memopt *w, const query *q, ir_inst *load, ir_inst *store) {
    ir_builder b;
    ir_inst *address = leads_to(store->block, load->block) ? find_address(w, q, store) : NULL;
    if (!address) return NULL;
    ir_builder_init(&b, w->f);
    ir_before(&b, store);
    b.loc = load->loc;
    return ir_build_raw(&b, IR_OP_load, load->type, ir_attrs_of(load), IR_ARGS(address));
}

/* The bytes that the stores have not written are those before the oldest of them. */
static bool find_rest(memopt *w, query *q, gathering *g, ir_inst *load) {
    ir_inst *store = g->oldest->by;
    pass_version *last;
    if (!g->missing) return true;
    part rest = find_value(w, q, g->oldest->before, store, &last);
    if (!rest.value) rest = (part){load_before(w, q, load, store), 0};
    if (!rest.value) return false;
    pass_add_piece(&g->pieces, rest.value, rest.at, 0, q->at.size);
    return true;
}

/* The value that stores of parts have left for a load; NULL: it cannot be put together. */
static ir_inst *join_parts(memopt *w, query *q, pass_version *now, ir_inst *load) {
    gathering g = {.missing = q->at.size};
    if (q->at.size > PASS_MAX_BYTES || !gather(w, q, now, &g)) return NULL;
    pass_pieces whole = g.pieces; /* with any value for the rest */
    if (g.missing) pass_add_piece(&whole, load, 0, 0, q->at.size);
    if (!pass_can_join(w->m, &whole, q->type) || !find_rest(w, q, &g, load)) return NULL;
    if (!pass_can_join(w->m, &g.pieces, q->type)) return NULL;
    return join_before(w, q, &g.pieces, load);
}

/* ----------------------------------------------------------------------------- loads and stores */

static bool visit_load(memopt *w, ir_inst *load, pass_version *now) {
    query q = begin_query(w, ir_arg(load, 0), load->type);
    pass_version *last;
    if (is_volatile(load)) return false;
    const part found = find_value(w, &q, now, load, &last);
    ir_inst *value = found.value ? build_part(w, &q, &found, load) : NULL;
    if (!value) value = join_parts(w, &q, now, load);
    ir_map_set(w->scratch, &w->known, version_key(&q, last), value ? value : load);
    if (!value) return false;
    ir_count(w->f->module->cx, memopt_loads, 1);
    ir_replace_uses(load, value);
    ir_remove(load);
    return true;
}

/* Does nothing but the lanes of the mask come into memory, after operations on each lane? */
static bool ends_under_mask(const ir_inst *v, const ir_inst *mask, unsigned depth) {
    unsigned uses = 0;
    for (const ir_use *u = v->uses; u; u = u->next) {
        const ir_inst *i = u->user;
        bool stored = i->op == IR_OP_masked_store && u == &i->arg[0] && ir_arg(i, 2) == mask;
        bool by_lane = ir_has_eval(i->op) && ir_has_flag(i, F_PURE) && !ir_has_flag(i, F_TRAPS) &&
                       ir_lanes(i->type) == ir_lanes(v->type);
        if (++uses > MAX_JOINS || depth == MAX_JOINS) return false;
        if (!stored && (!by_lane || !ends_under_mask(i, mask, depth + 1))) return false;
    }
    return true;
}

/* The value of a load of known lanes, of which `other` has those that are not active, if they
 * matter; NULL: it is not known. */
static ir_inst *find_lanes(memopt *w, query *q, ir_inst *load, pass_version *now) {
    ir_inst *mask = ir_arg(load, 1), *other = ir_arg(load, 2);
    if (ends_under_mask(load, mask, 0)) other = ir_undef(w->f, load->type);
    gathering g = {.missing = q->at.size};
    if (!ir_is_const(mask) || q->at.size > PASS_MAX_BYTES) return NULL;
    uint64_t lane = q->at.size / ir_lanes(load->type);
    for (unsigned k = 0; k < ir_lanes(load->type); k++)
        if (!(ir_lane_bits(mask, k) & 1))
            g.missing -= pass_add_piece(&g.pieces, other, k * lane, k * lane, lane);
    if (!gather(w, q, now, &g) || g.missing) return NULL;
    return pass_can_join(w->m, &g.pieces, q->type) ? join_before(w, q, &g.pieces, load) : NULL;
}

/* An earlier load of the same lanes, while memory holds the same there; NULL: there is none. */
static ir_inst *find_same_lanes(memopt *w, query *q, ir_inst *load, pass_version *now) {
    uint64_t key = version_key(q, last_writer(w, q, now));
    ir_inst *known = ir_map_get(&w->masked, key);
    bool same = known && known->type == load->type && ir_arg(known, 1) == ir_arg(load, 1) &&
                ir_arg(known, 2) == ir_arg(load, 2) && ir_precedes(&w->places, known, load);
    if (!same) ir_map_set(w->scratch, &w->masked, key, load);
    return same ? known : NULL;
}

/* The same of a load of lanes. */
static bool visit_masked_load(memopt *w, ir_inst *load, pass_version *now) {
    query q = begin_query(w, ir_arg(load, 0), load->type);
    if (is_volatile(load)) return false;
    ir_inst *value = find_lanes(w, &q, load, now);
    if (!value) value = find_same_lanes(w, &q, load, now);
    if (!value) return false;
    ir_count(w->f->module->cx, memopt_loads, 1);
    ir_replace_uses(load, value);
    ir_remove(load);
    return true;
}

/* Removes a store of what memory holds already. */
static bool visit_store(memopt *w, ir_inst *store) {
    ir_inst *value = ir_arg(store, 0);
    query q = begin_query(w, ir_arg(store, 1), value->type);
    pass_version *v = w->of.made[store->id];
    if (is_volatile(store)) return false;
    const part there = held(w, &q, last_writer(w, &q, v->before), store);
    if (there.value != value || there.at) return false;
    v->by = NULL;
    ir_count(w->f->module->cx, memopt_stores, 1);
    ir_remove(store);
    return true;
}

static bool visit_block(memopt *w, ir_block *b) {
    pass_version *now = w->of.head[b->id];
    bool changed = false;
    foreach_inst (i, b) {
        if (pass_writes(i)) now = w->of.made[i->id];
        if (i->op == IR_OP_load) changed |= visit_load(w, i, now);
        if (i->op == IR_OP_masked_load) changed |= visit_masked_load(w, i, now);
        if (i->op == IR_OP_store) changed |= visit_store(w, i);
    }
    return changed;
}

/* Does: replaces loads by what was stored or loaded before at the same address, on every path, and
 *       by what stores of parts of it, or of more than it, have left; removes stores of what is
 *       there already.
 * Needs: equal addresses to be one value (gvn).
 * Leaves: every block reachable; other stores; the control flow graph.
 * Gives up: if the value is not known on one path, and after a number of steps. */
bool pass_memopt(ir_func *f, pass_ctx *cx) {
    bool changed = ir_remove_unreachable(f);
    memopt w = {.f = f, .m = f->module, .scratch = cx->scratch};
    pass_find_versions(&w.of, f, w.scratch);
    ir_number_places(&w.places, f, w.scratch);
    for (uint32_t k = 0; k < w.of.dom->order.n; k++)
        changed |= visit_block(&w, w.of.dom->order.rpo[k]);
    return changed;
}
