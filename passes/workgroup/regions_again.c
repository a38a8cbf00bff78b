/* regions_again.c — which values of the context are computed again, and from what.
 *
 * An address that crosses a barrier is computed again from ids and arguments rather than to be kept
 * for each item.  If one of its operands is neither, as in `p + row[id] * pitch + k`, that operand
 * is kept, and all addresses of its family are computed again from it.  So a value has one of two
 * costs:
 *
 *   kept    what storing and loading it costs.  It is more for an index or address that is a
 *           function of ids and arguments: an access at an address that comes from memory is one of
 *           which nothing is known, whatever family the address has
 *   again   its operation, and the smaller cost of each operand, divided among the users of that
 *
 * The smaller one decides.  The division makes the costs those of a graph with shared operands
 * rather than of a tree.  It is exact where what shares an operand decides alike, as families do.
 * An optimal choice would be a minimal cut, which takes more than linear time.
 *
 * The method is area flow, from the mapping of logic to tables (Manohararajah 2006).  Minimal cuts
 * between barriers are those of Moses 2023.
 *
 * A value that would be computed by more than MAX_TREE operations, shared ones counted for each
 * user, is kept: code of a region is bounded by what it reads.  Time is linear in the operations of
 * the function.
 */
#include "passes/workgroup/regions_impl.h"

/* In thirds of an operation for each item.  One that all items do alike leaves the loops. */
enum {
    ONE = 16, /* costs are multiples of 1 / ONE */
    VARYING = 3 * ONE,
    ALIKE = ONE,
    KEEP = 4 * VARYING,        /* a value for each item, of 8 bytes */
    KEEP_INDEX = 8 * VARYING,  /* operations on it become parts of few addresses */
    KEEP_KNOWN = 16 * VARYING, /* an index or address whose form is lost */
    KEEP_ALIKE = 8 * ALIKE,    /* a value of the group */
    READ = VARYING,            /* of what is kept anyway */
    MOST = 1 << 24,            /* a larger cost counts as this */
    MAX_TREE = 64
};

typedef struct {
    bool asked;   /* some value that crosses may be computed from it */
    bool again;   /* the cheaper way */
    bool known;   /* a function of ids, arguments and values of the group */
    uint8_t tree; /* operations that computing it again takes */
    uint32_t users, cost;
} choice;

typedef struct {
    const pass_group_builder *g;
    const pass_item_ids *ids;
    const pass_region_graph *graph;
    pass_crossing *of;
    choice *at; /* by value id */
} chooser;

/* Is it there in all regions, without being read or computed? */
static bool is_free(const chooser *c, const ir_inst *v) {
    return pass_is_outside(c->g, v) || pass_is_item_id(c->ids, v) || v->id >= c->of->n ||
           c->of->how[v->id] == PASS_VARIABLE;
}

static bool is_alike(const chooser *c, const ir_inst *v) {
    return !c->graph->uniform.varies[v->id] && c->of->how[v->id] != PASS_PER_ITEM;
}

/* Is it one value for all items in each iteration of a loop that they leave one by one, and no
 * longer the one that an item has left with? */
static bool is_overtaken(const chooser *c, const ir_inst *v) {
    const pass_uniformity *u = &c->graph->uniform;
    if (c->of->how[v->id] != PASS_UNIFORM) return false;
    for (const ir_loop *l = u->loops->of[v->block->id]; l; l = l->parent)
        if (u->divergent_exits[l->header->id]) return true;
    return false;
}

/* May it be computed again at heads?  Values that uses read for themselves have been decided. */
static bool is_candidate(const chooser *c, const ir_inst *v) {
    bool decided = c->of->mixed[v->id] && c->of->how[v->id] != PASS_REPEATED;
    if (v->op == IR_OP_phi || !ir_is_cheap(v) || decided) return false;
    bool alike = c->of->how[v->id] == PASS_UNIFORM;
    for (unsigned n = 0; n < v->nargs; n++) {
        const ir_inst *arg = ir_arg(v, n);
        if (is_free(c, arg)) continue;
        if (ir_is_opaque(arg->type) || (alike && !is_alike(c, arg))) return false;
        if (c->of->leaves[v->id] && is_overtaken(c, arg)) return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------- costs */

/* Of an operation or value that has more than 8 bytes. */
static uint32_t scale(const chooser *c, const ir_inst *v, uint32_t cost) {
    uint64_t words = (ir_sizeof(c->g->f->module, v->type) + 7) / 8;
    return cost * (uint32_t)(words ? words : 1);
}

/* Is it the same for all items wherever it is read, although it does not cross as such? */
static bool is_of_group(const chooser *c, const ir_inst *v) {
    const pass_uniformity *u = &c->graph->uniform;
    if (u->varies[v->id] || c->graph->parts || v->op == IR_OP_phi) return false;
    if (c->graph->region_of[v->block->id] == PASS_SHARED) return false;
    for (const ir_loop *l = u->loops->of[v->block->id]; l; l = l->parent)
        if (u->divergent_exits[l->header->id]) return false;
    return true;
}

static bool is_coalesced(const chooser *c, const ir_inst *v) {
    if (v->op == IR_OP_phi && c->graph->is_head[v->block->id]) return true;
    foreach_use (u, v)
        if (u->user->op == IR_OP_phi && c->graph->is_head[u->user->block->id]) return true;
    return false;
}

static uint32_t cost_of_keeping(const chooser *c, const ir_inst *v) {
    const choice *x = &c->at[v->id];
    uint64_t users = x->users ? x->users : 1;
    switch (c->of->how[v->id]) {
    case PASS_UNIFORM: return is_candidate(c, v) ? KEEP_ALIKE : 0;
    case PASS_NOT_KEPT:
        if (is_of_group(c, v)) return KEEP_ALIKE;
        break;
    default:
        if (!is_candidate(c, v) && !is_coalesced(c, v)) return READ;
    }
    bool is_index = ir_is_ptr(v->type) || v->type == IR_I32 || v->type == IR_I64;
    if (!is_index) return scale(c, v, KEEP);
    if (!x->known) return KEEP_INDEX;
    return users * KEEP_KNOWN < MOST ? (uint32_t)users * KEEP_KNOWN : MOST;
}

static uint32_t cost_of_computing(const chooser *c, const ir_inst *v, unsigned *tree) {
    uint32_t cost = scale(c, v, is_alike(c, v) ? ALIKE : VARYING);
    *tree = 1;
    for (unsigned n = 0; n < v->nargs; n++) {
        const ir_inst *arg = ir_arg(v, n);
        if (is_free(c, arg)) continue;
        const choice *x = &c->at[arg->id];
        cost += x->cost / x->users;
        if (x->again) *tree += x->tree;
        if (cost > MOST) cost = MOST;
    }
    return cost;
}

static bool is_known(const chooser *c, const ir_inst *v) {
    if (!is_candidate(c, v)) return c->of->how[v->id] == PASS_UNIFORM;
    for (unsigned n = 0; n < v->nargs; n++)
        if (!is_free(c, ir_arg(v, n)) && !c->at[ir_arg(v, n)->id].known) return false;
    return true;
}

static void choose(const chooser *c, const ir_inst *v) {
    choice *x = &c->at[v->id];
    unsigned tree = 0;
    x->known = is_known(c, v);
    x->cost = cost_of_keeping(c, v);
    if (!is_candidate(c, v)) return;
    uint32_t again = cost_of_computing(c, v, &tree);
    x->again = c->of->how[v->id] == PASS_REPEATED || (again <= x->cost && tree <= MAX_TREE);
    if (!x->again) return;
    x->cost = again;
    x->tree = (uint8_t)tree;
}

/* ----------------------------------------------------------------------------------- the choice */

static void ask_operands(const chooser *c, const ir_inst *v) {
    for (unsigned n = 0; n < v->nargs; n++) {
        const ir_inst *arg = ir_arg(v, n);
        if (is_free(c, arg)) continue;
        c->at[arg->id].asked = true;
        c->at[arg->id].users++;
        c->of->leaves[arg->id] |= c->of->leaves[v->id];
    }
}

/* What an operand of a repeated value is kept as. */
static void keep(const chooser *c, ir_inst *v) {
    uint8_t *how = &c->of->how[v->id];
    if (*how == PASS_NOT_KEPT) {
        *how = is_of_group(c, v) ? PASS_UNIFORM : PASS_PER_ITEM;
        *ir_push(c->g->scratch, &c->of->values) = v;
    }
    c->of->needed[v->id] = true;
}

static void repeat(const chooser *c, const ir_inst *v) {
    ir_inst **args = ir_new_array(c->g->scratch, ir_inst *, v->nargs + 1u);
    for (unsigned n = 0; n < v->nargs; n++) {
        args[n] = ir_arg(v, n);
        if (is_free(c, args[n])) continue;
        c->at[args[n]->id].asked = true;
        if (!c->at[args[n]->id].again) keep(c, args[n]);
    }
    ir_map_set(c->g->scratch, &c->of->operands, (uintptr_t)v, args);
    if (c->of->how[v->id] != PASS_NOT_KEPT) c->of->how[v->id] = PASS_REPEATED;
}

static void ask_crossing(const chooser *c, unsigned users) {
    for (uint32_t n = 0; n < c->of->values.n; n++) {
        const ir_inst *v = c->of->values.data[n];
        bool decided = c->of->mixed[v->id] && c->of->how[v->id] == PASS_REPEATED;
        if (c->of->how[v->id] == PASS_VARIABLE || decided) continue;
        c->at[v->id].asked = true;
        c->at[v->id].users += users;
    }
}

/* Operands dominate, so that users are seen first from the end, and operands from the start. */
void pass_choose_repeated(pass_group_builder *g, const pass_item_ids *ids,
                          const pass_region_graph *graph, pass_crossing *of) {
    const chooser c = {g, ids, graph, of, ir_new_array(g->scratch, choice, of->n)};
    const ir_order *order = &ir_dominators(g->f)->order;
    ask_crossing(&c, 1);
    for (uint32_t b = order->n; b-- > 0;)
        foreach_inst_reverse (v, order->rpo[b])
            if (c.at[v->id].asked && is_candidate(&c, v)) ask_operands(&c, v);
    for (uint32_t b = 0; b < order->n; b++)
        foreach_inst (v, order->rpo[b])
            if (c.at[v->id].asked) choose(&c, v);
    for (uint32_t n = 0; n < of->n; n++) c.at[n].asked = false;
    ask_crossing(&c, 0);
    for (uint32_t b = order->n; b-- > 0;)
        foreach_inst_reverse (v, order->rpo[b])
            if (c.at[v->id].asked && c.at[v->id].again) repeat(&c, v);
}
