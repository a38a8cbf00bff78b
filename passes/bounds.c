/* bounds.c — which values the symbols of affine forms can have.
 *
 * Ids are bounded by the nd-range, iteration numbers by an exit test against a known number, values
 * of `urem`, `and` and `umin` by their second operand; guards tighten what a form of one symbol is
 * compared with on the way to a block.  A number is known when it is a constant, a parameter whose
 * value the launch gives, or a size that the range gives.
 *
 * A guard is an edge of a branch that every path to the block takes.  What it compares is read as a
 * form (affine.c) whose own bounds, guards aside, make it the value itself; so guards never ask
 * about guards, and each question looks at a limited number of them.
 *
 * Not here: relations between symbols.
 */
#include "passes/analysis.h"

enum { MAX_GUARDS = 8, MAX_DOMINATORS = 64 };

/* -------------------------------------------------------------------------------- known numbers */

static bool known_query(const pass_range *r, const ir_inst *v, int64_t *n) {
    if (!r) return false;
    unsigned d = ir_info(v)->imm == I_DIM ? v->imm.dim : 0;
    switch (v->op) {
    case IR_OP_global_size: *n = (int64_t)pass_global_size(r, d); return true;
    case IR_OP_global_offset: *n = (int64_t)pass_global_offset(r, d); return true;
    case IR_OP_work_dim: *n = r->dims; return true;
    case IR_OP_local_size:
    case IR_OP_enqueued_local_size: *n = (int64_t)pass_local_size(r, d); return r->has_local;
    case IR_OP_num_groups:
        *n = r->has_local ? (int64_t)(pass_global_size(r, d) / pass_local_size(r, d)) : 0;
        return r->has_local;
    default: return false;
    }
}

static bool known_leaf(const pass_launch *l, const ir_inst *v, int64_t *n) {
    if (ir_is_const(v)) *n = ir_signed_const(v);
    if (ir_is_const(v)) return true;
    if (ir_info(v)->rule == R_QUERY) return known_query(l->range, v, n);
    if (v->op != IR_OP_param || !l->value || !l->value[v->imm.index]) return false;
    *n = *l->value[v->imm.index];
    return true;
}

/* Also of a leaf that is cut or extended. */
bool pass_known_number(const pass_launch *l, const ir_inst *v, int64_t *n) {
    const ir_module *m = l->kernel->module;
    if (!ir_is_int(v->type) || ir_is_vector(v->type)) return false;
    bool extends = v->op == IR_OP_zext || v->op == IR_OP_sext;
    const ir_inst *x = extends || v->op == IR_OP_trunc ? ir_arg(v, 0) : v;
    if (!known_leaf(l, x, n)) return false;
    if (extends) *n = ir_sext((uint64_t)*n, ir_bits(m, x->type));
    if (v->op == IR_OP_zext) *n = (int64_t)ir_zext((uint64_t)*n, ir_bits(m, x->type));
    *n = ir_sext((uint64_t)*n, ir_bits(m, v->type));
    return true;
}

/* ----------------------------------------------------------------------------------- own bounds */

/* A test in the header is reached once more than the rest of the loop, and by what lies behind. */
static bool counter_bounds(const pass_launch *l, const ir_inst *phi, const ir_block *at,
                           int64_t *high) {
    const ir_loops *loops = ir_loop_tree(l->kernel);
    pass_counter c;
    if (!pass_find_counter(loops, phi, &c)) return false;
    int64_t latch = pass_count_launched(l, c.loop, c.latch);
    int64_t header = pass_count_launched(l, c.loop, phi->block);
    bool behind_test = at && at != phi->block && ir_in_loop(loops, at, c.loop);
    *high = latch >= 0 ? latch : header - behind_test;
    return *high >= 0;
}

static unsigned count_exits(const ir_loops *loops, const ir_loop *loop) {
    unsigned exits = 0;
    for (uint32_t k = 0; k < loop->nblocks; k++)
        for (uint32_t s = 0; s < loop->block[k]->nsucc; s++)
            exits += !ir_in_loop(loops, loop->block[k]->succ[s], loop);
    return exits;
}

bool pass_is_counted(const pass_launch *l, const ir_loop *loop) {
    int64_t high;
    bool counted = false;
    foreach_phi (phi, loop->header) counted |= counter_bounds(l, phi, loop->header, &high);
    return counted && count_exits(ir_loop_tree(l->kernel), loop) == 1;
}

typedef struct {
    int64_t low, high; /* INT64_MIN, INT64_MAX: unknown */
} bounds;

static const bounds unbounded = {INT64_MIN, INT64_MAX};

static bool is_bounded(const bounds *b) { return b->low > INT64_MIN && b->high < INT64_MAX; }

static bounds first_of(uint64_t count, int64_t low) {
    int64_t high = (int64_t)((uint64_t)low + count - 1);
    return count && low >= 0 && high >= low ? (bounds){low, high} : unbounded;
}

/* Of a value that is not looked into, but whose operation says something. */
static bounds value_bounds(const pass_launch *l, const ir_inst *v) {
    int64_t n;
    if (v->op != IR_OP_urem && v->op != IR_OP_and && v->op != IR_OP_umin) return unbounded;
    if (!pass_known_number(l, ir_arg(v, 1), &n) || n < (v->op == IR_OP_urem)) return unbounded;
    return (bounds){0, n - (v->op == IR_OP_urem)};
}

static bounds id_bounds(const pass_range *r, const pass_symbol *s) {
    uint64_t size = pass_global_size(r, s->index);
    switch (s->kind) {
    case IR_OP_global_id: return first_of(size, (int64_t)pass_global_offset(r, s->index));
    case IR_OP_local_id: return first_of(r->has_local ? pass_local_size(r, s->index) : size, 0);
    case IR_OP_group_id:
        return first_of(r->has_local ? (size - 1) / pass_local_size(r, s->index) + 1 : size, 0);
    case IR_OP_global_linear_id:
    case IR_OP_local_linear_id: return first_of(pass_range_items(r), 0);
    default: return unbounded;
    }
}

/* Guards aside. */
static bounds own_bounds(const pass_launch *l, const pass_symbol *s, const ir_block *at) {
    int64_t high;
    if (s->kind == IR_OP_phi)
        return counter_bounds(l, s->value, at, &high) ? (bounds){0, high} : unbounded;
    if (s->value) return value_bounds(l, s->value);
    return l->range ? id_bounds(l->range, s) : unbounded;
}

typedef bounds bounds_fn(const pass_launch *l, const pass_symbol *s, const ir_block *at);

static bool form_bounds(const pass_launch *l, const pass_affine *f, const ir_block *at,
                        bounds_fn *symbol_bounds, int64_t *low, int64_t *high) {
    ir_i128 least = f->constant, most = f->constant;
    for (uint32_t k = 0; k < f->n; k++) {
        int64_t factor = f->term[k].factor;
        bounds b = symbol_bounds(l, &f->term[k].of, at);
        if (!is_bounded(&b)) return false;
        least += (ir_i128)factor * (factor < 0 ? b.high : b.low);
        most += (ir_i128)factor * (factor < 0 ? b.low : b.high);
    }
    *low = (int64_t)least;
    *high = (int64_t)most;
    return least >= INT64_MIN / 2 && most <= INT64_MAX / 2;
}

bool pass_affine_own_bounds(const pass_launch *l, const pass_affine *f, const ir_block *at,
                            int64_t *low, int64_t *high) {
    return form_bounds(l, f, at, own_bounds, low, high);
}

/* --------------------------------------------------------------------------------------- guards */

static bounds meet(bounds a, bounds b) {
    return (bounds){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

/* What `x op n` says about x, as signed numbers; `left`: x is the first operand. */
static bounds said_by(ir_op op, bool left, int64_t n) {
    switch (op) {
    case IR_OP_ult:
    case IR_OP_slt: return left ? (bounds){INT64_MIN, n - 1} : (bounds){n + 1, INT64_MAX};
    case IR_OP_ule:
    case IR_OP_sle: return left ? (bounds){INT64_MIN, n} : (bounds){n, INT64_MAX};
    case IR_OP_eq: return (bounds){n, n};
    default: return unbounded;
    }
}

/* Below an unsigned number that is no negative one, without wrapping: neither is x. */
static bool is_unsigned_limit(ir_op op, bool left) {
    return left && (op == IR_OP_ult || op == IR_OP_ule);
}

/* Is the form of x, one symbol and a constant, the value that the comparison sees? */
static bool sees_form(const pass_launch *l, const pass_affine *x, unsigned bits, ir_op op,
                      bool left) {
    int64_t low, high, half = bits > 62 ? INT64_MAX / 2 : (INT64_C(1) << (bits - 1)) - 1;
    bool is_signed = op == IR_OP_slt || op == IR_OP_sle || op == IR_OP_eq;
    if (bits == 64 && x->constant == 0 && (is_signed || is_unsigned_limit(op, left))) return true;
    return pass_affine_own_bounds(l, x, NULL, &low, &high) && low >= (is_signed ? -half : 0) &&
           high <= half;
}

/* What a comparison that is true, or false, says about s. */
static bounds compare_bounds(const pass_launch *l, const pass_symbol *s, const ir_inst *test,
                             bool outcome) {
    int64_t n;
    pass_affine x;
    bool left = pass_known_number(l, ir_arg(test, 1), &n);
    if (!left && !pass_known_number(l, ir_arg(test, 0), &n)) return unbounded;
    ir_inst *other = ir_arg(test, !left);
    ir_op op = outcome ? (ir_op)test->op : pass_opposite((ir_op)test->op);
    bool first = outcome || op == IR_OP_eq || op == IR_OP_ne ? left : !left;
    if (n < 0 && (op == IR_OP_ult || op == IR_OP_ule)) return unbounded;
    if (n > INT64_MAX / 2 || n < INT64_MIN / 2 || !ir_is_int(other->type)) return unbounded;
    pass_find_affine(l, other, NULL, &x);
    if (x.n != 1 || x.term[0].factor != 1 || !pass_is_same_symbol(&x.term[0].of, s))
        return unbounded;
    if (!sees_form(l, &x, ir_bits(l->kernel->module, other->type), op, first)) return unbounded;
    bounds b = said_by(op, first, n);
    if (is_unsigned_limit(op, first) && b.low < 0) b.low = 0;
    if (b.low > INT64_MIN) b.low = ir_wrap_add(b.low, -x.constant);
    if (b.high < INT64_MAX) b.high = ir_wrap_add(b.high, -x.constant);
    return b;
}

/* The same of a condition: `and`s that are true, `or`s that are false, comparisons. */
static bounds condition_bounds(const pass_launch *l, const pass_symbol *s, const ir_inst *test,
                               bool outcome) {
    const ir_inst *pending[MAX_GUARDS] = {test};
    bounds b = unbounded;
    for (unsigned n = 1; n;) {
        const ir_inst *c = pending[--n];
        if (c->op == (outcome ? IR_OP_and : IR_OP_or) && n + 2 <= MAX_GUARDS) {
            pending[n++] = ir_arg(c, 0);
            pending[n++] = ir_arg(c, 1);
        } else if (pass_is_comparison(c)) {
            b = meet(b, compare_bounds(l, s, c, outcome));
        }
    }
    return b;
}

/* Guarded by every branch of which one edge leads to a dominator of `at` and nowhere else. */
static bounds guarded_bounds(const pass_launch *l, const pass_symbol *s, const ir_block *at) {
    const ir_dom *dom = ir_dominators(l->kernel);
    bounds b = own_bounds(l, s, at);
    unsigned guards = 0;
    for (unsigned n = 0; n < MAX_DOMINATORS && guards < MAX_GUARDS; n++) {
        const ir_block *from = dom->idom[at->id];
        if (!from) break;
        bool holds;
        const ir_inst *test = pass_test_before(at, &holds);
        if (test) b = meet(b, condition_bounds(l, s, test, holds));
        guards += test != NULL;
        at = from;
    }
    return b;
}

bool pass_symbol_bounds(const pass_launch *l, const pass_symbol *s, const ir_block *at,
                        int64_t *low, int64_t *high) {
    bounds b = guarded_bounds(l, s, at);
    *low = b.low;
    *high = b.high;
    return is_bounded(&b);
}

bool pass_affine_bounds(const pass_launch *l, const pass_affine *f, const ir_block *at,
                        int64_t *low, int64_t *high) {
    return form_bounds(l, f, at, guarded_bounds, low, high);
}
