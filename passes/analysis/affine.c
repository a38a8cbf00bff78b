/* affine.c — affine forms of integers.
 *
 * The form of a value is constant + sum of factor * symbol, equal to the value modulo 2^width.
 * Symbols are ids, by-value parameters, iteration numbers of loops, and values that are not
 * analysed further.  Sums, products and shifts by constants, and truncations preserve the
 * congruence.  If all factors of one form are multiples of 2^t, and the bounds of the other one
 * are those of t bits, their `or` and `xor` are sums.  An extension needs more: the form must be
 * equal to the operand itself, read as the extension reads it.  It is if the bounds of its symbols
 * (bounds.c) keep it within the narrow type, or if it consists of such values and of operations
 * that do not wrap.
 *
 * Right shifts by C: let 2^B divide all factors and the constant, C <= B, and g be the form
 * divided by 2^B.  The value is 2^B * u modulo 2^width with u = g modulo 2^(width - B).  If the
 * bounds of g lie within a number of width - B bits, signed for ashr, then u read as such a number
 * is g, and the shifted value is 2^(B - C) * g, without a remainder.  This covers indices that
 * compilers keep in the upper half of a word and shift down at the end.  A mask that clears the
 * lowest t bits changes nothing if the form is a multiple of 2^t.
 *
 * Divisions by n, also as shifts and masks: the terms that n divides are the quotient, the others
 * the remainder.  The bounds must say that the form is not negative, and that the others are less
 * than n.  A global id counts as group * local size + local id where n divides the first of these.
 *
 * If the range is known, a linear id is expressed by ids, and group * local size + local id is the
 * global id minus its offset, so that equal places have equal forms.
 *
 * Depth and number of terms are limited; what is beyond the limit becomes a symbol.
 */
#include "passes/analysis/analysis.h"

enum { MAX_DEPTH = 24, MAX_STEPS = 1000 };

/* ----------------------------------------------------------------------------------------- sums */

bool pass_is_same_symbol(const pass_symbol *a, const pass_symbol *b) {
    return a->kind == b->kind && a->index == b->index && a->value == b->value;
}

static void drop_zeros(pass_affine *f) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < f->n; k++)
        if (f->term[k].factor) f->term[kept++] = f->term[k];
    f->n = kept;
}

bool pass_affine_add(pass_affine *to, const pass_affine *f, int64_t factor) {
    for (uint32_t k = 0; k < f->n; k++) {
        uint32_t at = 0;
        while (at < to->n && !pass_is_same_symbol(&to->term[at].of, &f->term[k].of)) at++;
        if (at == PASS_MAX_TERMS) return false;
        if (at == to->n) to->term[to->n++] = (pass_term){f->term[k].of, 0};
        int64_t part = ir_wrap_mul(f->term[k].factor, factor);
        to->term[at].factor = ir_wrap_add(to->term[at].factor, part);
    }
    to->constant = ir_wrap_add(to->constant, ir_wrap_mul(f->constant, factor));
    drop_zeros(to);
    return true;
}

bool pass_is_same_form(const pass_affine *a, const pass_affine *b) {
    pass_affine difference = *a;
    return pass_affine_add(&difference, b, -1) && !difference.n && !difference.constant;
}

static int64_t *factor_slot(pass_affine *f, ir_op kind, unsigned d) {
    for (uint32_t k = 0; k < f->n; k++)
        if (f->term[k].of.kind == kind && f->term[k].of.index == d) return &f->term[k].factor;
    return NULL;
}

void pass_join_ids(const pass_launch *l, pass_affine *f) {
    const ir_range *r = l->range;
    for (unsigned d = 0; r && ir_has_local_size(r) && d < r->dims; d++) {
        int64_t *group = factor_slot(f, IR_OP_group_id, d),
                *local = factor_slot(f, IR_OP_local_id, d);
        if (!group || !local || *group != ir_wrap_mul(*local, (int64_t)r->local[d])) continue;
        const pass_affine id = {
            .term = {{{IR_OP_global_id, d, NULL}, 1}}, .n = 1, .constant = -(int64_t)r->offset[d]};
        int64_t factor = *local;
        *group = *local = 0;
        drop_zeros(f);
        pass_affine_add(f, &id, factor);
    }
}

/* ---------------------------------------------------------------------------------------- forms */

typedef struct {
    const pass_launch *launch;
    const ir_block *at; /* where the value is wanted */
    unsigned steps;     /* taken so far: shared expressions are followed again */
} finder;

static void find(finder *q, ir_inst *v, unsigned depth, pass_affine *out);

static const ir_loops *loops_of(const finder *q) { return ir_loop_tree(q->launch->kernel); }

static void put_symbol(pass_affine *out, ir_op kind, uint32_t index, const ir_inst *value) {
    *out = (pass_affine){.term = {{{kind, index, value}, 1}}, .n = 1};
}

static void put_constant(pass_affine *out, int64_t n) { *out = (pass_affine){.constant = n}; }

static void find_param(finder *q, const ir_inst *v, pass_affine *out) {
    const pass_launch *l = q->launch;
    put_symbol(out, IR_OP_param, l->argument ? l->argument[v->imm.index] : v->imm.index, NULL);
}

/* Linear ids count x fastest, from 0 on. */
static void find_linear(const ir_range *r, ir_op id, pass_affine *out) {
    uint64_t stride = 1;
    *out = (pass_affine){0};
    for (unsigned d = 0; d < r->dims; d++) {
        bool global = id == IR_OP_global_id;
        const pass_affine part = {
            .term = {{{id, d, NULL}, 1}}, .n = 1, .constant = global ? -(int64_t)r->offset[d] : 0};
        pass_affine_add(out, &part, (int64_t)stride);
        stride *= global ? r->global[d] : pass_local_size(r, d);
    }
}

static void find_query(finder *q, const ir_inst *v, pass_affine *out) {
    const ir_range *r = q->launch->range;
    if (r && v->op == IR_OP_global_linear_id)
        find_linear(r, IR_OP_global_id, out);
    else if (r && ir_has_local_size(r) && v->op == IR_OP_local_linear_id)
        find_linear(r, IR_OP_local_id, out);
    else
        put_symbol(out, (ir_op)v->op, ir_info(v)->imm == I_DIM ? v->imm.dim : 0, NULL);
}

static bool is_within(finder *q, const pass_affine *f, int64_t low, int64_t high) {
    int64_t from, to;
    return pass_affine_own_bounds(q->launch, f, q->at, &from, &to) && from >= low && to <= high;
}

static bool fits(finder *q, const pass_affine *f, unsigned bits, bool is_signed) {
    if (bits >= 64) return true;
    int64_t half = INT64_C(1) << (bits - 1);
    return is_signed ? is_within(q, f, -half, half - 1) : is_within(q, f, 0, half - 1 + half);
}

/* Is the form of v its value as a signed number? */
static bool is_whole(finder *q, ir_inst *v, unsigned depth) {
    pass_affine form;
    pass_counter c;
    if (ir_is_const(v) || v->op == IR_OP_param) return true;
    if (depth >= MAX_DEPTH || ++q->steps > MAX_STEPS) return false;
    find(q, v, depth, &form);
    if (fits(q, &form, ir_bits(q->launch->kernel->module, v->type), true)) return true;
    if (form.n == 1 && form.term[0].of.kind == IR_OP_COUNT && form.term[0].of.value == v)
        return true;
    if (v->op == IR_OP_phi)
        return pass_counts_whole(loops_of(q), v, true) && pass_find_counter(loops_of(q), v, &c) &&
               is_whole(q, c.init, depth + 1);
    bool sums =
        v->op == IR_OP_add || v->op == IR_OP_sub || v->op == IR_OP_mul || v->op == IR_OP_shl;
    return sums && v->flags & IR_NSW && is_whole(q, ir_arg(v, 0), depth + 1) &&
           is_whole(q, ir_arg(v, 1), depth + 1);
}

/* Low bits that are extended. */
typedef struct {
    unsigned bits;
    bool is_signed;
} low_part;

/* An extension of the low bits of x; false: it may change the value of the form. */
static bool find_extension(finder *q, ir_inst *x, low_part part, unsigned depth, pass_affine *out) {
    find(q, x, depth + 1, out);
    if (fits(q, out, part.bits, part.is_signed)) return true;
    bool narrow = ir_bits(q->launch->kernel->module, x->type) == part.bits;
    if (!part.is_signed) return narrow && pass_counts_whole(loops_of(q), x, false);
    return narrow && is_whole(q, x, depth + 1);
}

static bool find_sum(finder *q, const ir_inst *v, unsigned depth, pass_affine *out) {
    pass_affine second;
    find(q, ir_arg(v, 0), depth + 1, out);
    find(q, ir_arg(v, 1), depth + 1, &second);
    if (!pass_affine_add(out, &second, v->op == IR_OP_sub ? -1 : 1)) return false;
    pass_join_ids(q->launch, out);
    return true;
}

/* How often 2 divides all factors and the constant; at most 62. */
static unsigned even_bits(const pass_affine *f) {
    uint64_t bits = (uint64_t)f->constant | UINT64_C(1) << 62;
    unsigned n = 0;
    for (uint32_t k = 0; k < f->n; k++) bits |= (uint64_t)f->term[k].factor;
    while (!(bits >> n & 1)) n++;
    return n;
}

/* Are the bits of `low` below those of `high`? */
static bool is_below(finder *q, const pass_affine *low, const pass_affine *high) {
    return is_within(q, low, 0, (INT64_C(1) << even_bits(high)) - 1);
}

/* x | y and x ^ y without a bit that is 1 in both. */
static bool find_joined(finder *q, const ir_inst *v, unsigned depth, pass_affine *out) {
    pass_affine second;
    find(q, ir_arg(v, 0), depth + 1, out);
    find(q, ir_arg(v, 1), depth + 1, &second);
    if (!is_below(q, &second, out) && !is_below(q, out, &second)) return false;
    if (!pass_affine_add(out, &second, 1)) return false;
    pass_join_ids(q->launch, out);
    return true;
}

static bool find_product(finder *q, const ir_inst *v, unsigned depth, pass_affine *out) {
    pass_affine x, y;
    find(q, ir_arg(v, 0), depth + 1, &x);
    find(q, ir_arg(v, 1), depth + 1, &y);
    *out = (pass_affine){0};
    if (y.n == 0) return pass_affine_add(out, &x, y.constant);
    return x.n == 0 && pass_affine_add(out, &y, x.constant);
}

/* The term of a global id as group, local id and offset, if the local size is known and a group
 * has a multiple of n. */
static bool split_id(const ir_range *r, pass_term t, uint64_t n, pass_affine *out) {
    unsigned d = t.of.index;
    if (!r || t.of.kind != IR_OP_global_id || !ir_has_local_size(r) || d >= r->dims) return false;
    int64_t group = ir_wrap_mul(t.factor, (int64_t)r->local[d]);
    if (t.factor < 0 || (uint64_t)group % n) return false;
    *out = (pass_affine){
        .term = {{{IR_OP_group_id, d, NULL}, group}, {{IR_OP_local_id, d, NULL}, t.factor}},
        .n = 2,
        .constant = ir_wrap_mul(t.factor, (int64_t)r->offset[d])};
    return true;
}

/* f = n * quotient + rest, with the terms that n divides in the quotient. */
typedef struct {
    pass_affine quotient, rest;
} division;

static bool divide_term(const finder *q, pass_term t, int64_t n, division *to) {
    pass_affine whole = {.term = {t}, .n = 1}, parts;
    if (t.factor % n && split_id(q->launch->range, t, (uint64_t)n, &parts)) whole = parts;
    for (uint32_t k = 0; k < whole.n; k++) {
        pass_affine part = {.term = {whole.term[k]}, .n = 1};
        bool divides = part.term[0].factor % n == 0;
        if (divides) part.term[0].factor /= n;
        if (!pass_affine_add(divides ? &to->quotient : &to->rest, &part, 1)) return false;
    }
    to->rest.constant = ir_wrap_add(to->rest.constant, whole.constant);
    return true;
}

/* Divides a form that is equal to a number that is not negative. */
static bool divide(finder *q, const pass_affine *f, int64_t n, division *to) {
    *to = (division){.rest.constant = f->constant};
    for (uint32_t k = 0; k < f->n; k++)
        if (!divide_term(q, f->term[k], n, to)) return false;
    int64_t below = to->rest.constant % n;
    if (below < 0) below += n;
    to->quotient.constant += (to->rest.constant - below) / n;
    to->rest.constant = below;
    return is_within(q, &to->rest, 0, n - 1);
}

/* x / n and x % n, also as a shift and a mask, of ids by the size of a group and the like. */
static bool find_quotient(finder *q, ir_inst *x, int64_t n, unsigned depth, division *to) {
    pass_affine f;
    unsigned width = ir_bits(q->launch->kernel->module, x->type);
    if (n <= 0) return false;
    find(q, x, depth + 1, &f);
    int64_t most = width > 62 ? INT64_MAX / 2 : (INT64_C(1) << (width - 1)) - 1;
    return is_within(q, &f, 0, most) && divide(q, &f, n, to);
}

static bool find_division(finder *q, const ir_inst *v, unsigned depth, pass_affine *out) {
    division d;
    int64_t n;
    if (!pass_known_number(q->launch, ir_arg(v, 1), &n)) return false;
    if (!find_quotient(q, ir_arg(v, 0), n, depth, &d)) return false;
    *out = v->op == IR_OP_udiv || v->op == IR_OP_sdiv ? d.quotient : d.rest;
    pass_join_ids(q->launch, out);
    return true;
}

/* Shifted down, where that leaves no remainder and nothing wraps. */
static bool find_shifted_down(finder *q, const ir_inst *v, unsigned by, unsigned depth,
                              pass_affine *out) {
    pass_affine x;
    unsigned width = ir_bits(q->launch->kernel->module, v->type);
    find(q, ir_arg(v, 0), depth + 1, &x);
    unsigned even = even_bits(&x);
    if (by > even || even >= width) return false;
    for (uint32_t k = 0; k < x.n; k++) x.term[k].factor /= INT64_C(1) << even;
    x.constant /= INT64_C(1) << even;
    if (!fits(q, &x, width - even, v->op == IR_OP_ashr)) return false;
    *out = (pass_affine){0};
    return pass_affine_add(out, &x, INT64_C(1) << (even - by));
}

/* Up and down again is an extension. */
static bool find_shifted_back(finder *q, const ir_inst *v, unsigned down, unsigned depth,
                              pass_affine *out) {
    const ir_inst *x = ir_arg(v, 0);
    unsigned width = ir_bits(q->launch->kernel->module, v->type);
    pass_affine form;
    if (x->op != IR_OP_shl || !ir_is_const(ir_arg(x, 1))) return false;
    uint64_t up = ir_arg(x, 1)->imm.bits;
    if (up < down || up >= width) return false;
    const low_part part = {width - (unsigned)up, v->op == IR_OP_ashr};
    *out = (pass_affine){0};
    return find_extension(q, ir_arg(x, 0), part, depth, &form) &&
           pass_affine_add(out, &form, INT64_C(1) << (up - down));
}

/* Shifts by constants. */
static bool find_shift(finder *q, const ir_inst *v, unsigned depth, pass_affine *out) {
    ir_inst *x = ir_arg(v, 0), *by = ir_arg(v, 1);
    pass_affine form;
    division d;
    if (!ir_is_const(by) || by->imm.bits >= ir_bits(q->launch->kernel->module, v->type) ||
        by->imm.bits > 62)
        return false;
    unsigned n = (unsigned)by->imm.bits;
    if (v->op == IR_OP_shl) {
        *out = (pass_affine){0};
        find(q, x, depth + 1, &form);
        return pass_affine_add(out, &form, INT64_C(1) << n);
    }
    if (find_shifted_down(q, v, n, depth, out)) return true;
    if (find_shifted_back(q, v, n, depth, out)) return true;
    if (!find_quotient(q, x, INT64_C(1) << n, depth, &d)) return false;
    *out = d.quotient;
    return true;
}

static bool find_counter_form(finder *q, ir_inst *v, unsigned depth, pass_affine *out) {
    pass_counter c;
    pass_affine rounds;
    if (!pass_find_counter(loops_of(q), v, &c)) return false;
    find(q, c.init, depth + 1, out);
    put_symbol(&rounds, IR_OP_phi, 0, v);
    return pass_affine_add(out, &rounds, c.step);
}

/* The low bits of x, as x & mask, without some that are 0 already. */
static bool find_extended(finder *q, const ir_inst *v, uint64_t mask, unsigned depth,
                          pass_affine *out) {
    unsigned width = ir_bits(q->launch->kernel->module, v->type), low = 0;
    while (!(mask >> low & 1)) low++;
    unsigned high = low;
    while (high < width && mask >> high & 1) high++;
    if (high < width && mask >> high) return false;
    if (!find_extension(q, ir_arg(v, 0), (low_part){high, false}, depth, out) && high < width)
        return false;
    return even_bits(out) >= low;
}

/* The quotient or the remainder of a power of two. */
static bool find_masked(finder *q, const ir_inst *v, unsigned depth, pass_affine *out) {
    const ir_inst *c = ir_arg(v, 1);
    unsigned width = ir_bits(q->launch->kernel->module, v->type);
    division d;
    if (!ir_is_const(c) || !c->imm.bits) return false;
    uint64_t mask = ir_zext(c->imm.bits, width), cleared = ir_zext(~mask, width);
    if (find_extended(q, v, mask, depth, out)) return true;
    bool rest = !(mask & (mask + 1));
    uint64_t below = rest ? mask : cleared;
    if (below & (below + 1) || below >> 62) return false;
    if (!find_quotient(q, ir_arg(v, 0), (int64_t)below + 1, depth, &d)) return false;
    *out = rest ? d.rest : (pass_affine){0};
    return rest || pass_affine_add(out, &d.quotient, (int64_t)below + 1);
}

/* ~x is -x - 1. */
static bool find_inverted(finder *q, const ir_inst *v, unsigned depth, pass_affine *out) {
    int64_t ones;
    pass_affine x;
    if (!pass_known_number(q->launch, ir_arg(v, 1), &ones) || ones != -1) return false;
    find(q, ir_arg(v, 0), depth + 1, &x);
    put_constant(out, -1);
    return pass_affine_add(out, &x, -1);
}

/* False: v is a symbol. */
static bool find_op(finder *q, ir_inst *v, unsigned depth, pass_affine *out) {
    unsigned bits = v->nargs ? ir_bits(q->launch->kernel->module, ir_arg(v, 0)->type) : 0;
    switch (v->op) {
    case IR_OP_add:
    case IR_OP_sub: return find_sum(q, v, depth, out);
    case IR_OP_mul: return find_product(q, v, depth, out);
    case IR_OP_shl:
    case IR_OP_ashr:
    case IR_OP_lshr: return find_shift(q, v, depth, out);
    case IR_OP_and: return find_masked(q, v, depth, out);
    case IR_OP_or: return find_joined(q, v, depth, out);
    case IR_OP_xor: return find_inverted(q, v, depth, out) || find_joined(q, v, depth, out);
    case IR_OP_udiv:
    case IR_OP_sdiv:
    case IR_OP_urem:
    case IR_OP_srem: return find_division(q, v, depth, out);
    case IR_OP_trunc: find(q, ir_arg(v, 0), depth + 1, out); return true;
    case IR_OP_sext: return find_extension(q, ir_arg(v, 0), (low_part){bits, true}, depth, out);
    case IR_OP_zext: return find_extension(q, ir_arg(v, 0), (low_part){bits, false}, depth, out);
    case IR_OP_phi: return find_counter_form(q, v, depth, out);
    default: return false;
    }
}

static void find(finder *q, ir_inst *v, unsigned depth, pass_affine *out) {
    int64_t n;
    if (pass_known_number(q->launch, v, &n))
        put_constant(out, n);
    else if (v->op == IR_OP_param)
        find_param(q, v, out);
    else if (ir_info(v)->rule == R_QUERY)
        find_query(q, v, out);
    else if (depth >= MAX_DEPTH || ++q->steps > MAX_STEPS || !find_op(q, v, depth, out))
        put_symbol(out, IR_OP_COUNT, 0, v);
}

void pass_find_affine(const pass_launch *l, ir_inst *v, const ir_block *at, pass_affine *out) {
    finder q = {.launch = l, .at = at};
    find(&q, v, 0, out);
}

/* ------------------------------------------------------------------------------------- printing */

static void print_symbol(ir_text *out, const pass_launch *l, const pass_symbol *s) {
    if (s->value)
        ir_putf(out, "%%%s",
                ir_name_of(l->kernel, s->value) ? ir_name_of(l->kernel, s->value)
                                                : ir_ops[s->value->op].name);
    else if (s->kind == IR_OP_param)
        ir_putf(out, "argument %u", s->index);
    else if (ir_ops[s->kind].imm == I_DIM)
        ir_putf(out, "%s.%u", ir_ops[s->kind].name, s->index);
    else
        ir_put(out, ir_ops[s->kind].name);
}

void pass_print_affine(ir_text *out, const pass_launch *l, const pass_affine *f) {
    for (uint32_t k = 0; k < f->n; k++) {
        ir_putf(out, "%s%lld*", k ? " + " : "", (long long)f->term[k].factor);
        print_symbol(out, l, &f->term[k].of);
    }
    if (f->constant || !f->n) ir_putf(out, "%s%lld", f->n ? " + " : "", (long long)f->constant);
}
