/* live.c — which values are live where, and how many at once.
 *
 * Liveness sets by path exploration, one value at a time (Brandner, Boissinot, Darte, Dupont de
 * Dinechin, Rastello, "Computing liveness sets for SSA-form programs", 2011): from each use walk
 * backwards to the definition and put the value into the sets on the way.  Values are taken in
 * the order of their ids, so each set is an ascending list, and "is v there already" is a look at
 * its last element.  Time and memory are proportional to the sets; bit sets over all values would
 * cost blocks times values, which a chain of 100,000 blocks cannot afford.
 *
 * Parameters are live from the entry's start on; constants, undef and addresses never are.  The
 * arguments of a phi are used at the end of the predecessors, its result is defined at the start of
 * its block, with the results of all other phis there.
 *
 * max_live is counted by walking each block backwards from its live-out set.  Sets keep their
 * memory when they are computed again.  Unreachable blocks have empty sets.
 */
#include "ir/flow.h"

typedef struct {
    ir_live live;
    uint32_t block_room, value_room;
    ir_inst **value; /* by id: parameters and instructions */
    uint32_t *seen;  /* by id: stamp of the block in which it was found live */
    ir_block_list work;
} live_cache;

typedef struct {
    live_cache *c;
    const ir_order *order;
    ir_arena *arena;
    ir_inst *v;
    ir_block *def; /* NULL: live from before the entry */
} live_walk;

static void make_block_room(ir_func *f, live_cache *c) {
    uint32_t n = f->next_block + f->next_block / 2;
    ir_value_list *in = ir_new_array(&f->module->arena, ir_value_list, n);
    ir_value_list *out = ir_new_array(&f->module->arena, ir_value_list, n);
    if (c->block_room) memcpy(in, c->live.in, c->block_room * sizeof *in);
    if (c->block_room) memcpy(out, c->live.out, c->block_room * sizeof *out);
    c->live.in = in;
    c->live.out = out;
    c->block_room = n;
}

static void make_value_room(ir_func *f, live_cache *c) {
    uint32_t n = f->next_id + f->next_id / 2;
    c->value = ir_new_array(&f->module->arena, ir_inst *, n);
    c->seen = ir_new_array(&f->module->arena, uint32_t, n);
    c->value_room = n;
}

static void make_room(ir_func *f, live_cache *c) {
    if (c->block_room < f->next_block) make_block_room(f, c);
    if (c->value_room < f->next_id) make_value_room(f, c);
    for (uint32_t b = 0; b < f->next_block; b++) c->live.in[b].n = c->live.out[b].n = 0;
    memset(c->value, 0, f->next_id * sizeof *c->value);
    memset(c->seen, 0, f->next_id * sizeof *c->seen);
}

static void list_values(ir_func *f, live_cache *c, const ir_order *o) {
    for (uint32_t p = 0; p < f->nparams; p++) c->value[f->param_val[p]->id] = f->param_val[p];
    for (uint32_t k = 0; k < o->n; k++)
        foreach_inst (i, o->rpo[k]) c->value[i->id] = i;
}

/* ----------------------------------------------------------------------------------------- sets */

static bool add(live_walk *w, ir_value_list *set) {
    if (set->n && set->data[set->n - 1] == w->v) return false;
    *ir_push(w->arena, set) = w->v;
    return true;
}

static void add_live_in(live_walk *w, ir_block *b) {
    if (b != w->def && add(w, &w->c->live.in[b->id])) *ir_push(w->arena, &w->c->work) = b;
}

static void add_live_out(live_walk *w, ir_block *b) {
    if (w->order->index[b->id] == UINT32_MAX) return;
    if (add(w, &w->c->live.out[b->id])) add_live_in(w, b);
}

static void walk_up(live_walk *w) {
    while (w->c->work.n) {
        const ir_block *b = w->c->work.data[--w->c->work.n];
        for (uint32_t p = 0; p < b->npred; p++) add_live_out(w, b->pred[p]);
    }
}

static void follow_use(live_walk *w, const ir_use *u) {
    ir_block *b = u->user->block;
    if (w->order->index[b->id] == UINT32_MAX) return;
    if (u->user->op == IR_OP_phi)
        add_live_out(w, b->pred[u - u->user->arg]);
    else
        add_live_in(w, b);
    walk_up(w);
}

/* ------------------------------------------------------------------------------------- max-live */

typedef struct {
    uint32_t *seen, stamp, count, max;
} counter;

static void count_in(counter *n, const ir_inst *v) {
    bool counts = v->block || v->op == IR_OP_param;
    if (!counts || n->seen[v->id] == n->stamp) return;
    n->seen[v->id] = n->stamp;
    n->count++;
}

static void take_max(counter *n, uint32_t extra) {
    if (n->count + extra > n->max) n->max = n->count + extra;
}

/* A result that nobody reads still needs a place at the moment it is made. */
static void pass_definition(counter *n, const ir_inst *i) {
    if (i->type == IR_VOID) return;
    bool read = n->seen[i->id] == n->stamp;
    take_max(n, !read);
    if (read) n->count--;
    n->seen[i->id] = 0;
}

static void count_block(counter *n, const ir_block *b, const ir_value_list *out) {
    n->stamp++;
    n->count = 0;
    for (uint32_t k = 0; k < out->n; k++) count_in(n, out->data[k]);
    take_max(n, 0);
    foreach_inst_reverse (i, b) {
        if (i->op == IR_OP_phi) break;
        pass_definition(n, i);
        for (unsigned a = 0; a < i->nargs; a++) count_in(n, i->arg[a].val);
        take_max(n, 0);
    }
    foreach_phi (phi, b) count_in(n, phi);
    take_max(n, 0);
}

static uint32_t find_max(const live_cache *c, const ir_order *o) {
    counter n = {.seen = c->seen};
    for (uint32_t k = 0; k < o->n; k++) count_block(&n, o->rpo[k], &c->live.out[o->rpo[k]->id]);
    return n.max;
}

/* ---------------------------------------------------------------------------------------- entry */

static void compute(ir_func *f, live_cache *c) {
    live_walk w = {.c = c, .order = &ir_dominators(f)->order, .arena = &f->module->arena};
    make_room(f, c);
    list_values(f, c, w.order);
    for (uint32_t id = 0; id < f->next_id; id++) {
        w.v = c->value[id];
        if (!w.v) continue;
        w.def = w.v->block;
        foreach_use (u, w.v) follow_use(&w, u);
    }
    c->live.max_live = find_max(c, w.order);
}

const ir_live *ir_liveness(ir_func *f) {
    live_cache *c = (live_cache *)(void *)f->live;
    if (c && c->live.cfg_version == f->cfg_version && c->live.ssa_version == f->ssa_version)
        return f->live;
    if (!c) {
        c = ir_new(&f->module->arena, live_cache);
        f->live = &c->live;
    }
    c->live.cfg_version = f->cfg_version - 1; /* not valid should an allocation fail */
    compute(f, c);
    c->live.cfg_version = f->cfg_version;
    c->live.ssa_version = f->ssa_version;
    return f->live;
}

bool ir_has_value(const ir_value_list *set, const ir_inst *v) {
    uint32_t low = 0, high = set->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (set->data[mid]->id < v->id)
            low = mid + 1;
        else
            high = mid;
    }
    return low < set->n && set->data[low] == v;
}
