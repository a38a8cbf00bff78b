/* inner.c — along which dimension the innermost loop over work-items runs.
 *
 * It runs along x, as programs expect, unless the items next to each other in another dimension are
 * nearer in memory.  A kernel that computes element [x][y] of a matrix leaves a whole row between
 * one item and the next of x; in a loop along y, vectors hold neighbours.  Any order of items is
 * right, but only kernels that cannot observe their groups gain by it: launches give them groups
 * that are long in the dimension that was chosen.
 *
 * Each value has a step for each dimension: by how much it differs between neighbours, 0 if it is
 * the same, FAR if that is not a constant.  One walk over the code in reverse postorder computes
 * steps from those of operands; the steps of a variable are those of what has been stored there.
 * They decide on speed only, so that nothing wraps is taken for granted, and where values meet, one
 * that does not vary gives way to one that does.  An access is near if its step is a few elements.
 * The dimension with the greatest weight of near accesses, less that of far ones, is chosen; what
 * lies between the ends of a backward edge, as loops do, weighs more.
 *
 * A transposition is near along one dimension where it reads, and along another one where it
 * writes: its groups are short in the one that is chosen, and have many rows, so that lines of the
 * cache are used again.  If it does nothing but that once, without a loop, the innermost loop runs
 * along what it reads, and lanes of vectors along what it writes: strips of that loop become tiles,
 * which are transposed in registers (passes/vectorize/strips.c), and each line is written at once.
 */
#include "passes/workgroup/regions_impl.h"

enum { DIMENSIONS = 3, NEAR_ELEMENTS = 8, WEIGHT_OF_LOOP_LOG2 = 3, DEEPEST = 4 };

#define FAR INT64_MAX

typedef struct {
    int64_t in[DIMENSIONS];
} steps;

typedef struct {
    const ir_func *kernel;
    steps *of; /* by value id */
} walk;

static steps steps_of(const walk *w, const ir_inst *v) {
    return v->block ? w->of[v->id] : (steps){0};
}

/* ---------------------------------------------------------------------------- from operands */

static int64_t scale(int64_t step, int64_t by) { return step == FAR ? FAR : ir_wrap_mul(step, by); }

static int64_t add(int64_t x, int64_t y, int64_t factor) {
    return x == FAR || y == FAR ? FAR : ir_wrap_add(x, scale(y, factor));
}

static int64_t meet(int64_t x, int64_t y) { return x == y || !y ? x : !x ? y : FAR; }

static int64_t mix(int64_t x, int64_t y) { return x || y ? FAR : 0; }

static int64_t combine(const ir_inst *i, int64_t x, int64_t y) {
    const ir_inst *by = i->nargs > 1 ? ir_arg(i, 1) : NULL;
    switch (i->op) {
    case IR_OP_add:
    case IR_OP_ptradd: return add(x, y, 1);
    case IR_OP_sub: return add(x, y, -1);
    case IR_OP_mul: return ir_is_const(by) ? scale(x, ir_signed_const(by)) : mix(x, y);
    case IR_OP_shl:
        return ir_is_const(by) && by->imm.bits < 63 ? scale(x, INT64_C(1) << by->imm.bits)
                                                    : mix(x, y);
    case IR_OP_phi:
    case IR_OP_select:
    case IR_OP_smin:
    case IR_OP_smax:
    case IR_OP_umin:
    case IR_OP_umax: return meet(x, y);
    case IR_OP_trunc:
    case IR_OP_sext:
    case IR_OP_zext:
    case IR_OP_ptrcast:
    case IR_OP_ptrcast_to: return x;
    default: return mix(x, y);
    }
}

static void join_steps(const ir_inst *i, steps *s, steps more) {
    for (unsigned d = 0; d < DIMENSIONS; d++) s->in[d] = combine(i, s->in[d], more.in[d]);
}

static steps find_steps(const walk *w, const ir_inst *i) {
    steps s = {0};
    unsigned first = i->op == IR_OP_select; /* after the condition */
    if (i->op == IR_OP_global_id) s.in[i->imm.dim] = 1;
    if (i->op == IR_OP_global_linear_id) s = (steps){{1, FAR, FAR}};
    if (i->nargs > first) s = steps_of(w, ir_arg(i, first));
    if (i->op == IR_OP_load && ir_arg(i, 0)->op == IR_OP_alloca) return s;
    if (i->nargs == first + 1) join_steps(i, &s, (steps){0});
    for (unsigned n = first + 1; n < i->nargs; n++) join_steps(i, &s, steps_of(w, ir_arg(i, n)));
    return s;
}

/* A variable has the steps of its contents. */
static void note_variable(const walk *w, const ir_inst *i) {
    if (i->op != IR_OP_store || ir_arg(i, 1)->op != IR_OP_alloca) return;
    steps *to = &w->of[ir_arg(i, 1)->id], from = steps_of(w, ir_arg(i, 0));
    for (unsigned d = 0; d < DIMENSIONS; d++) to->in[d] = meet(to->in[d], from.in[d]);
}

/* ------------------------------------------------------------------------------------- accesses */

typedef struct {
    int64_t gain;
    bool has_near;
    bool crosses;            /* an access is far along it, and near along another dimension */
    bool reads;              /* such a load is near along it */
    unsigned writes, misses; /* stores that are near along it, and those that are not */
} score;

static void count_access(const walk *w, const ir_inst *i, int64_t weight, score of[DIMENSIONS]) {
    bool is_store = i->op == IR_OP_store, far = false;
    const ir_inst *address = ir_arg(i, is_store);
    const steps s = steps_of(w, address);
    const uint64_t near =
        NEAR_ELEMENTS * ir_sizeof(w->kernel->module, is_store ? ir_arg(i, 0)->type : i->type);
    if (ir_space_of(address->type) == IR_PRIVATE) return;
    bool is_near[DIMENSIONS], any = false;
    for (unsigned d = 0; d < DIMENSIONS; d++) {
        is_near[d] = s.in[d] && s.in[d] != FAR && pass_magnitude(s.in[d]) <= near;
        any |= is_near[d];
        far |= s.in[d] && !is_near[d];
    }
    for (unsigned d = 0; d < DIMENSIONS; d++) {
        of[d].reads |= !is_store && is_near[d] && far;
        of[d].writes += is_store && is_near[d];
        of[d].misses += is_store && !is_near[d];
        if (!s.in[d]) continue;
        of[d].gain += is_near[d] ? weight : -weight;
        of[d].has_near |= is_near[d];
        of[d].crosses |= any && !is_near[d];
    }
}

/* By place in the order of blocks: how many backward edges lead over it. */
static const uint32_t *find_depths(const ir_order *o, ir_arena *scratch) {
    uint32_t *depth = ir_new_array(scratch, uint32_t, o->n + 1);
    for (uint32_t k = 0; k < o->n; k++)
        for (uint32_t n = 0; n < o->rpo[k]->nsucc; n++) {
            uint32_t to = o->index[o->rpo[k]->succ[n]->id];
            if (to > k) continue;
            depth[to]++;
            depth[k + 1]--; /* modulo 2^32, which the sums undo */
        }
    for (uint32_t k = 1; k < o->n; k++) depth[k] += depth[k - 1];
    return depth;
}

static void visit_block(const walk *w, const ir_block *b, uint32_t depth, score of[DIMENSIONS]) {
    const int64_t weight = INT64_C(1) << WEIGHT_OF_LOOP_LOG2 * (depth < DEEPEST ? depth : DEEPEST);
    foreach_inst (i, b) {
        if (i->op == IR_OP_alloca) continue;
        w->of[i->id] = find_steps(w, i);
        note_variable(w, i);
        if (i->op == IR_OP_load || i->op == IR_OP_store) count_access(w, i, weight, of);
    }
}

static ir_order new_order(const ir_func *f, ir_arena *scratch) {
    const uint32_t n = f->next_block;
    ir_order o = {.rpo = ir_new_array(scratch, ir_block *, n),
                  .index = ir_new_array(scratch, uint32_t, n),
                  .pre = ir_new_array(scratch, ir_block *, n),
                  .number = ir_new_array(scratch, uint32_t, n),
                  .parent = ir_new_array(scratch, uint32_t, n)};
    ir_find_order(f, &o);
    return o;
}

/* Is all that is written near along the dimension after `inner`, and far along that one, in which
 * something is read that is far in the other? */
static bool transposes(const score of[DIMENSIONS], unsigned inner) {
    unsigned order[DIMENSIONS];
    pass_order_loops(inner, order);
    const score *next = &of[order[1]];
    return of[inner].reads && !of[inner].writes && next->writes && !next->misses && !next->reads;
}

pass_item_order pass_find_inner(const ir_func *kernel, bool has_lanes, ir_arena *scratch) {
    const walk w = {kernel, ir_new_array(scratch, steps, kernel->next_id)};
    const ir_order order = new_order(kernel, scratch);
    const uint32_t *depth = find_depths(&order, scratch);
    score of[DIMENSIONS] = {0};
    pass_item_order found = {0};
    bool loops = false;
    for (uint32_t k = 0; k < order.n; k++) {
        visit_block(&w, order.rpo[k], depth[k], of);
        loops |= depth[k] != 0;
    }
    for (unsigned d = 1; d < DIMENSIONS; d++)
        if (of[d].has_near && of[d].gain > of[found.inner].gain) found.inner = d;
    for (unsigned d = 0; d < DIMENSIONS && has_lanes && !loops && !found.transposes; d++) {
        found.transposes = transposes(of, d);
        if (found.transposes) found.inner = d;
    }
    found.crosses = of[found.inner].crosses;
    return found;
}
