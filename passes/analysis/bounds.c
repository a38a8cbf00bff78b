/* bounds.c — interval analysis of the symbols of affine forms.
 *
 * Ids are bounded by the nd-range, iteration numbers by an exit test against a known number, and
 * other values by their operation and the bounds of its operands, for example clamps and masks.
 * Guards on the way to a block narrow the bounds of what they compare, if that is a form of one
 * symbol.  Known numbers are constants, parameters whose value the launch gives, sizes that the
 * range gives, and results of a few operations on such numbers.
 *
 * A guard is an edge of a branch that every path to the block takes.  It counts only if the form of
 * what it compares equals the value itself according to the form's own bounds, without guards.  So
 * guards never depend on guards, and each query follows a limited number of them.
 *
 * Relations between symbols are not analysed.
 */
#include "ir/eval.h"
#include "passes/analysis/analysis.h"

enum { MAX_GUARDS = 8, MAX_DOMINATORS = 64, MAX_DEPTH = 6, MAX_OPERATIONS = 4, MAX_FACTS = 8 };

/* -------------------------------------------------------------------------------- known numbers */

static bool known_query(const ir_range *r, const ir_inst *v, int64_t *n) {
    if (!r) return false;
    unsigned d = ir_info(v)->imm == I_DIM ? v->imm.dim : 0;
    switch (v->op) {
    case IR_OP_global_size: *n = (int64_t)pass_global_size(r, d); return true;
    case IR_OP_global_offset: *n = (int64_t)pass_global_offset(r, d); return true;
    case IR_OP_work_dim: *n = r->dims; return true;
    case IR_OP_local_size:
    case IR_OP_enqueued_local_size:
        *n = (int64_t)pass_local_size(r, d);
        return ir_has_local_size(r);
    case IR_OP_num_groups:
        *n = ir_has_local_size(r) ? (int64_t)(pass_global_size(r, d) / pass_local_size(r, d)) : 0;
        return ir_has_local_size(r);
    default: return false;
    }
}

/* A member of a struct by value. */
static bool known_member(const pass_launch *l, const ir_inst *load, int64_t *n) {
    const ir_inst *p = ir_arg(load, 0);
    uint64_t offset = 0, bits = 0, size = ir_access_size(l->kernel->module, load->type);
    if (p->op == IR_OP_ptradd && ir_is_const(ir_arg(p, 1))) {
        offset = ir_arg(p, 1)->imm.bits;
        p = ir_arg(p, 0);
    }
    if (p->op != IR_OP_param || !l->bytes || !l->bytes[p->imm.index]) return false;
    const uint64_t all = l->kernel->param[p->imm.index].byval_size;
    if (offset > all || size > all - offset || size > sizeof bits) return false;
    for (uint64_t k = 0; k < size; k++)
        bits |= (uint64_t)l->bytes[p->imm.index][offset + k] << 8 * k;
    *n = (int64_t)bits;
    return true;
}

static bool known_leaf(const pass_launch *l, const ir_inst *v, int64_t *n) {
    if (ir_is_const(v)) *n = ir_signed_const(v);
    if (ir_is_const(v)) return true;
    if (v->op == IR_OP_load) return known_member(l, v, n);
    if (ir_info(v)->rule == R_QUERY) return known_query(l->range, v, n);
    if (v->op != IR_OP_param || !l->value || !l->value[v->imm.index]) return false;
    *n = *l->value[v->imm.index];
    return true;
}

static bool known_number(const pass_launch *l, const ir_inst *v, unsigned depth, int64_t *n);

/* What an operation makes of known numbers. */
static bool known_result(const pass_launch *l, const ir_inst *v, unsigned depth, int64_t *n) {
    uint64_t value[3], result, *args[3];
    bool pure = ir_has_flag(v, F_PURE) && v->nargs >= 1 && v->nargs <= 3;
    if (!pure || depth == 0) return false;
    for (unsigned k = 0; k < v->nargs; k++) {
        const ir_inst *x = ir_arg(v, k);
        if (!known_number(l, x, depth - 1, n)) return false;
        value[k] = ir_zext((uint64_t)*n, ir_bits(l->kernel->module, x->type));
        args[k] = &value[k];
    }
    if (!ir_eval(l->kernel->module, v, args, &result, false)) return false;
    *n = ir_sext(result, ir_bits(l->kernel->module, v->type));
    return true;
}

static bool known_number(const pass_launch *l, const ir_inst *v, unsigned depth, int64_t *n) {
    if (!ir_is_int(v->type) || ir_is_vector(v->type)) return false;
    if (!known_leaf(l, v, n) && !known_result(l, v, depth, n)) return false;
    *n = ir_sext((uint64_t)*n, ir_bits(l->kernel->module, v->type));
    return true;
}

bool pass_known_number(const pass_launch *l, const ir_inst *v, int64_t *n) {
    return known_number(l, v, MAX_OPERATIONS, n);
}

/* ----------------------------------------------------------------------------------- own bounds */

/* A test in the header is reached once more than the rest of the loop, and by what follows. */
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

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static bounds meet(bounds a, bounds b) {
    return (bounds){most(a.low, b.low), least(a.high, b.high)};
}

static bool is_bounded(const bounds *b) { return b->low > INT64_MIN && b->high < INT64_MAX; }

static bounds first_of(uint64_t count, int64_t low) {
    int64_t high = (int64_t)((uint64_t)low + count - 1);
    return count && low >= 0 && high >= low ? (bounds){low, high} : unbounded;
}

static bounds id_bounds(const ir_range *r, const pass_symbol *s) {
    uint64_t size = pass_global_size(r, s->index);
    switch (s->kind) {
    case IR_OP_global_id: return first_of(size, (int64_t)pass_global_offset(r, s->index));
    case IR_OP_local_id:
        return first_of(ir_has_local_size(r) ? pass_local_size(r, s->index) : size, 0);
    case IR_OP_group_id:
        return first_of(ir_has_local_size(r) ? (size - 1) / pass_local_size(r, s->index) + 1 : size,
                        0);
    case IR_OP_global_linear_id:
    case IR_OP_local_linear_id: return first_of(pass_range_items(r), 0);
    default: return unbounded;
    }
}

/* --------------------------------------------------------------------- comparisons with numbers */

/* `x op number`, or with left false `number op x`. */
typedef struct {
    ir_inst *x;
    ir_op op;
    bool left;
    int64_t number;
} limit;

/* The outcome of a comparison with a known number. */
static bool find_limit(const pass_launch *l, const ir_inst *test, bool outcome, limit *out) {
    int64_t n;
    bool left = pass_known_number(l, ir_arg(test, 1), &n);
    if (!left && !pass_known_number(l, ir_arg(test, 0), &n)) return false;
    ir_op op = outcome ? (ir_op)test->op : pass_opposite((ir_op)test->op);
    bool first = outcome || op == IR_OP_eq || op == IR_OP_ne ? left : !left;
    *out = (limit){ir_arg(test, !left), op, first, n};
    if (n < 0 && (op == IR_OP_ult || op == IR_OP_ule)) return false;
    return n <= INT64_MAX / 2 && n >= INT64_MIN / 2;
}

/* Does it compare unsigned numbers? */
static bool is_unsigned(const limit *t) { return t->op == IR_OP_ult || t->op == IR_OP_ule; }

/* The bounds of x as a signed number that follow from it. */
static bounds limit_bounds(const limit *t) {
    int64_t n = t->number, least = is_unsigned(t) ? 0 : INT64_MIN;
    switch (t->op) {
    case IR_OP_ult:
    case IR_OP_slt: return t->left ? (bounds){least, n - 1} : (bounds){n + 1, INT64_MAX};
    case IR_OP_ule:
    case IR_OP_sle: return t->left ? (bounds){least, n} : (bounds){n, INT64_MAX};
    case IR_OP_eq: return (bounds){n, n};
    default: return unbounded;
    }
}

/* -------------------------------------------------------------------------- values by operation */

/* What comparisons say where a value is used. */
typedef struct {
    limit of[MAX_FACTS];
    unsigned n;
} facts;

static bounds number_bounds(const pass_launch *l, const ir_inst *v, const facts *known,
                            unsigned depth);

static void add_fact(const pass_launch *l, const ir_inst *test, bool holds, facts *to) {
    if (to->n < MAX_FACTS && pass_is_comparison(test) && find_limit(l, test, holds, &to->of[to->n]))
        to->n++;
}

/* The bounds of a number, unless it does not fit the type of v, which then has another one. */
static bounds fitting(const ir_inst *v, ir_i128 low, ir_i128 high) {
    ir_i128 half = (ir_i128)1 << (ir_bits(NULL, v->type) - 1);
    if (low < -half || high >= half) return unbounded;
    return (bounds){(int64_t)low, (int64_t)high};
}

/* Work-groups have less than 2^31 items, whatever the range is. */
static bounds symbol_bounds(const pass_launch *l, const pass_symbol *s) {
    bool is_id = s->kind == IR_OP_global_id || s->kind == IR_OP_local_id;
    if (l->range) return id_bounds(l->range, s);
    if (is_id && l->kernel->flags & IR_FUNC_SHORT_IDS) return (bounds){0, IR_SHORT - 1};
    return s->kind == IR_OP_local_id ? (bounds){0, INT32_MAX - 1} : unbounded;
}

static bounds query_bounds(const pass_launch *l, const ir_inst *v) {
    const pass_symbol s = {(ir_op)v->op, ir_info(v)->imm == I_DIM ? v->imm.dim : 0, NULL};
    bounds b = symbol_bounds(l, &s);
    return fitting(v, b.low, b.high);
}

static bounds product_bounds(const ir_inst *v, bounds a, int64_t factor) {
    ir_i128 x = (ir_i128)a.low * factor, y = (ir_i128)a.high * factor;
    return x < y ? fitting(v, x, y) : fitting(v, y, x);
}

/* Of a number that is not negative. */
static bounds natural_quotient(bounds a, int64_t by) {
    return by > 0 ? (bounds){a.low / by, a.high / by} : unbounded;
}

static bounds smaller(bounds a, bounds b) {
    return (bounds){least(a.low, b.low), least(a.high, b.high)};
}

static bounds greater(bounds a, bounds b) {
    return (bounds){most(a.low, b.low), most(a.high, b.high)};
}

/* One of two unsigned numbers, or bits of both: no more than either, where that has no sign. */
static bounds unsigned_smaller(bounds a, bounds b) {
    if (a.low < 0) a = b;
    if (b.low < 0) b = a;
    return a.low < 0 ? unbounded : (bounds){0, least(a.high, b.high)};
}

static bounds binary_bounds(const ir_inst *v, bounds a, bounds b) {
    bool known = b.low == b.high, natural = a.low >= 0 && b.low >= 0;
    switch (v->op) {
    case IR_OP_add: return fitting(v, (ir_i128)a.low + b.low, (ir_i128)a.high + b.high);
    case IR_OP_sub: return fitting(v, (ir_i128)a.low - b.high, (ir_i128)a.high - b.low);
    case IR_OP_mul:
        if (known) return product_bounds(v, a, b.low);
        if (!natural) return unbounded;
        return fitting(v, (ir_i128)a.low * b.low, (ir_i128)a.high * b.high);
    case IR_OP_lshr:
        return natural && known && b.low < 63 ? natural_quotient(a, INT64_C(1) << b.low)
                                              : unbounded;
    case IR_OP_udiv:
    case IR_OP_sdiv: return natural && known ? natural_quotient(a, b.low) : unbounded;
    case IR_OP_shl:
        return known && b.low >= 0 && b.low < 63 ? product_bounds(v, a, INT64_C(1) << b.low)
                                                 : unbounded;
    case IR_OP_smin: return smaller(a, b);
    case IR_OP_smax: return greater(a, b);
    case IR_OP_and:
    case IR_OP_umin: return unsigned_smaller(a, b);
    case IR_OP_umax: return natural ? greater(a, b) : unbounded;
    case IR_OP_urem: return b.low > 0 ? (bounds){0, b.high - 1} : unbounded;
    default: return unbounded;
    }
}

/* The bounds of a conversion. */
static bounds converted_bounds(const ir_inst *v, bounds b) {
    if (v->op == IR_OP_trunc) return fitting(v, b.low, b.high);
    return v->op == IR_OP_sext || b.low >= 0 ? b : unbounded;
}

/* The condition of a select bounds the value that is selected. */
static bounds select_bounds(const pass_launch *l, const ir_inst *v, const facts *known,
                            unsigned depth) {
    bounds b[2];
    for (unsigned k = 0; k < 2; k++) {
        facts own = *known;
        add_fact(l, ir_arg(v, 0), !k, &own);
        b[k] = number_bounds(l, ir_arg(v, k + 1), &own, depth);
    }
    return (bounds){least(b[0].low, b[1].low), most(b[0].high, b[1].high)};
}

/* A phi that goes up while it is less than something.  What is known at one place need not be so in
 * all iterations. */
static bounds phi_bounds(const pass_launch *l, const ir_inst *phi, unsigned depth) {
    static const facts nothing;
    const ir_loops *loops = ir_loop_tree(l->kernel);
    pass_counter c;
    bool is_signed;
    const ir_inst *end = pass_find_end(loops, phi, &c, &is_signed);
    if (!end) return unbounded;
    bounds from = number_bounds(l, c.init, &nothing, depth);
    bounds to = number_bounds(l, end, &nothing, depth);
    if (!is_bounded(&from) || !is_bounded(&to)) return unbounded;
    if (!is_signed && (from.low < 0 || to.low < 0)) return unbounded;
    return fitting(phi, from.low, most(from.high, to.high) + (ir_i128)c.step);
}

static bounds operation_bounds(const pass_launch *l, const ir_inst *v, const facts *known,
                               unsigned depth) {
    switch (v->op) {
    case IR_OP_phi: return phi_bounds(l, v, depth);
    case IR_OP_select: return select_bounds(l, v, known, depth);
    case IR_OP_trunc:
    case IR_OP_sext:
    case IR_OP_zext: return converted_bounds(v, number_bounds(l, ir_arg(v, 0), known, depth));
    default: break;
    }
    bool integers = ir_info(v)->rule == R_INT || ir_info(v)->rule == R_BITS;
    if (v->nargs != 2 || !integers) return unbounded;
    return binary_bounds(v, number_bounds(l, ir_arg(v, 0), known, depth),
                         number_bounds(l, ir_arg(v, 1), known, depth));
}

/* The bounds of v that follow from facts about it. */
static bounds fact_bounds(const ir_inst *v, const facts *known, bool natural) {
    bounds b = unbounded;
    for (const limit *t = known->of; t < known->of + known->n; t++)
        if (t->x == v && (natural || t->left || !is_unsigned(t))) b = meet(b, limit_bounds(t));
    return b;
}

/* The bounds of v as a signed number of its type. */
static bounds number_bounds(const pass_launch *l, const ir_inst *v, const facts *known,
                            unsigned depth) {
    int64_t n;
    if (pass_known_number(l, v, &n)) return (bounds){n, n};
    if (v->op == IR_OP_param && l->kernel->param[v->imm.index].attrs & IR_PARAM_SHORT)
        return (bounds){0, IR_SHORT - 1};
    bounds b = ir_info(v)->rule == R_QUERY ? query_bounds(l, v) : unbounded;
    if (depth > 0) b = meet(b, operation_bounds(l, v, known, depth - 1));
    return meet(b, fact_bounds(v, known, b.low >= 0));
}

/* The bounds of a symbol without guards. */
static bounds own_bounds(const pass_launch *l, const pass_symbol *s, const ir_block *at) {
    int64_t high;
    if (s->kind == IR_OP_phi)
        return counter_bounds(l, s->value, at, &high) ? (bounds){0, high} : unbounded;
    if (s->value) return number_bounds(l, s->value, &(facts){.n = 0}, MAX_DEPTH);
    return symbol_bounds(l, s);
}

typedef bounds bounds_fn(const pass_launch *l, const pass_symbol *s, const ir_block *at);

static bool is_moderate(ir_i128 x) { return x >= INT64_MIN / 2 && x <= INT64_MAX / 2; }

/* Unbounded: not known, or beyond 63 bits. */
static bounds form_bounds(const pass_launch *l, const pass_affine *f, const ir_block *at,
                          bounds_fn *bounds_of) {
    bounds sum = {f->constant, f->constant};
    if (!is_moderate(f->constant)) return unbounded;
    for (uint32_t k = 0; k < f->n; k++) {
        int64_t factor = f->term[k].factor;
        bounds b = bounds_of(l, &f->term[k].of, at);
        if (!is_bounded(&b)) return unbounded;
        ir_i128 from = sum.low + (ir_i128)factor * (factor < 0 ? b.high : b.low);
        ir_i128 to = sum.high + (ir_i128)factor * (factor < 0 ? b.low : b.high);
        if (!is_moderate(from) || !is_moderate(to)) return unbounded;
        sum = (bounds){(int64_t)from, (int64_t)to};
    }
    return sum;
}

/* False: unbounded. */
static bool give_bounds(bounds b, int64_t *low, int64_t *high) {
    *low = b.low;
    *high = b.high;
    return is_bounded(&b);
}

bool pass_affine_own_bounds(const pass_launch *l, const pass_affine *f, const ir_block *at,
                            int64_t *low, int64_t *high) {
    return give_bounds(form_bounds(l, f, at, own_bounds), low, high);
}

/* --------------------------------------------------------------------------------------- guards */

/* Is the form of x, one symbol and a constant, the value that the comparison sees? */
static bool sees_form(const pass_launch *l, const pass_affine *x, const limit *t) {
    unsigned bits = ir_bits(NULL, t->x->type);
    int64_t low, high, half = bits > 62 ? INT64_MAX / 2 : (INT64_C(1) << (bits - 1)) - 1;
    bool natural = is_unsigned(t);
    if (bits == 64 && x->constant == 0 && (!natural || t->left)) return true;
    return pass_affine_own_bounds(l, x, NULL, &low, &high) && low >= (natural ? 0 : -half) &&
           high <= half;
}

/* The bounds of numbers with these bounds that are not n. */
static bounds bounds_without(bounds b, int64_t n) {
    b.low += b.low == n;
    b.high -= b.high == n;
    return b;
}

/* The bounds of s that follow from the outcome of a comparison. */
static bounds compare_bounds(const pass_launch *l, const pass_symbol *s, const ir_inst *test,
                             bool outcome) {
    limit t;
    pass_affine x;
    if (!find_limit(l, test, outcome, &t)) return unbounded;
    pass_find_affine(l, t.x, NULL, &x);
    if (x.n != 1 || x.term[0].factor != 1 || !pass_is_same_symbol(&x.term[0].of, s))
        return unbounded;
    if (!sees_form(l, &x, &t)) return unbounded;
    if (t.op == IR_OP_ne)
        return bounds_without(own_bounds(l, s, NULL), ir_wrap_add(t.number, -x.constant));
    bounds b = limit_bounds(&t);
    if (b.low > INT64_MIN) b.low = ir_wrap_add(b.low, -x.constant);
    if (b.high < INT64_MAX) b.high = ir_wrap_add(b.high, -x.constant);
    return b;
}

/* The same of a condition. */
static bounds condition_bounds(const pass_launch *l, const pass_symbol *s, ir_inst *test,
                               bool outcome) {
    ir_inst *part[PASS_MAX_PARTS];
    unsigned n = pass_split_test(test, outcome, part);
    bounds b = unbounded;
    for (unsigned k = 0; k < n; k++)
        if (pass_is_comparison(part[k])) b = meet(b, compare_bounds(l, s, part[k], outcome));
    return b;
}

/* Guarded by every branch with an edge that leads to a dominator of `at` and nowhere else. */
static bounds guarded_bounds(const pass_launch *l, const pass_symbol *s, const ir_block *at) {
    const ir_dom *dom = ir_dominators(l->kernel);
    bounds b = own_bounds(l, s, at);
    unsigned guards = 0;
    for (unsigned n = 0; n < MAX_DOMINATORS && guards < MAX_GUARDS; n++) {
        const ir_block *from = dom->idom[at->id];
        if (!from) break;
        bool holds;
        ir_inst *test = pass_test_before(at, &holds);
        if (test) b = meet(b, condition_bounds(l, s, test, holds));
        guards += test != NULL;
        at = from;
    }
    return b;
}

bool pass_symbol_bounds(const pass_launch *l, const pass_symbol *s, const ir_block *at,
                        int64_t *low, int64_t *high) {
    return give_bounds(guarded_bounds(l, s, at), low, high);
}

bool pass_affine_bounds(const pass_launch *l, const pass_affine *f, const ir_block *at,
                        int64_t *low, int64_t *high) {
    return give_bounds(form_bounds(l, f, at, guarded_bounds), low, high);
}

/* The same guards, of all values that they compare. */
static facts guards_of(const pass_launch *l, const ir_block *at) {
    const ir_dom *dom = ir_dominators(l->kernel);
    facts known = {.n = 0};
    for (unsigned n = 0; n < MAX_DOMINATORS && known.n < MAX_FACTS && dom->idom[at->id]; n++) {
        ir_inst *part[PASS_MAX_PARTS];
        bool holds;
        ir_inst *test = pass_test_before(at, &holds);
        unsigned parts = test ? pass_split_test(test, holds, part) : 0;
        for (unsigned k = 0; k < parts; k++) add_fact(l, part[k], holds, &known);
        at = dom->idom[at->id];
    }
    return known;
}

bool pass_number_bounds(const pass_launch *l, const ir_inst *v, const ir_block *at, int64_t *low,
                        int64_t *high) {
    facts known = guards_of(l, at);
    return give_bounds(number_bounds(l, v, &known, MAX_DEPTH), low, high);
}
