/* indexsets_forms.c — values of a loop as sums, and what can be decided of them.
 *
 * In one pass in reverse postorder, each integer gets a form: a constant plus values outside of the
 * loop and its counter, times constants, modulo its width.  Where a value with a counter is
 *
 *   compared     with a value that is the same for all items, the outcome can be decided
 *   clamped      by such a value, the clamp can be its operand
 *   extended     the extension can be a sum, too
 *
 * each for items of an interval.  An outcome is decided only where few items are expected to have
 * the other one, which the scalar loop does: numbers up to 64 are taken for lower bounds; greater
 * ones, and values plus or less such numbers, for upper bounds.  An `x < n / 2` is not decided.
 *
 * Tests of values that differ by constants are one test.
 */
#include "passes/vectorize/indexsets.h"

enum { NEAR = 64 };

static const sets_form *form_of(const sets *s, const ir_inst *v) {
    return v->id < s->nvalues ? s->form[v->id] : NULL;
}

static bool is_number(const ir_inst *v) {
    return ir_is_int(v->type) && !ir_is_vector(v->type) && !ir_is_bool(v->type);
}

/* ---------------------------------------------------------------------------------------- forms */

/* The form of a value that is no sum. */
static sets_form symbol_form(const ir_inst *v, bool inner, int64_t stride) {
    return (sets_form){
        .inner = inner, .stride = stride, .sum = {.term = {{{(ir_op)v->op, 0, v}, 1}}, .n = 1}};
}

/* Fills `out`; false: the form is not known. */
static bool find_operand(const sets *s, const ir_inst *v, sets_form *out) {
    const sets_form *known = form_of(s, v);
    if (!is_number(v)) return false;
    if (ir_is_const(v))
        *out = (sets_form){.sum.constant = ir_signed_const(v)};
    else if (!sets_is_inside(s, v))
        *out = symbol_form(v, false, 0);
    else if (known)
        *out = *known;
    return ir_is_const(v) || !sets_is_inside(s, v) || known;
}

static bool add_form(sets_form *to, const sets_form *x, int64_t factor) {
    to->inner |= x->inner;
    to->stride = ir_wrap_add(to->stride, ir_wrap_mul(x->stride, factor));
    return pass_affine_add(&to->sum, &x->sum, factor);
}

static bool find_sum(const sets *s, const ir_inst *i, int64_t factor, sets_form *out) {
    sets_form y;
    return find_operand(s, ir_arg(i, 0), out) && find_operand(s, ir_arg(i, 1), &y) &&
           add_form(out, &y, factor);
}

static bool find_product(const sets *s, const ir_inst *i, sets_form *out) {
    const ir_inst *by = ir_arg(i, 1);
    sets_form x;
    if (!ir_is_const(by) || !find_operand(s, ir_arg(i, 0), &x)) return false;
    int64_t factor = ir_signed_const(by);
    if (i->op == IR_OP_shl && (by->imm.bits > 62 || by->imm.bits >= ir_bits(NULL, i->type)))
        return false;
    if (i->op == IR_OP_shl) factor = INT64_C(1) << by->imm.bits;
    *out = (sets_form){0};
    return add_form(out, &x, factor);
}

/* ---------------------------------------------------------------------------------------- tests */

static bool is_near(int64_t n) { return n >= -NEAR && n <= NEAR; }

/* Is a bound near the first items, or near the last ones? */
static bool is_lower(const sets_form *bound) {
    return !bound->sum.n && is_near(bound->sum.constant);
}

/* May a value be a size, and no part of one or a step of a loop? */
static bool is_size(const ir_inst *v) {
    if (sets_is_extension(v)) v = ir_arg(v, 0);
    switch (v->op) {
    case IR_OP_phi:
    case IR_OP_lshr:
    case IR_OP_ashr:
    case IR_OP_udiv:
    case IR_OP_sdiv: return false;
    default: return true;
    }
}

/* A size and a constant, which is written to `more`. */
static bool is_upper(const sets_form *bound, int64_t *more) {
    pass_affine sum;
    *more = 0;
    if (!bound->sum.n) return bound->sum.constant > NEAR;
    if (bound->sum.n > 1 || bound->sum.term[0].factor != 1) return false;
    pass_find_sum((ir_inst *)bound->sum.term[0].of.value, &sum);
    *more = ir_wrap_add(sum.constant, bound->sum.constant);
    bool plain = is_near(*more);
    for (uint32_t k = 0; k < sum.n; k++)
        plain &=
            is_size(sum.term[k].of.value) && (sum.term[k].factor == 1 || sum.term[k].factor == -1);
    return plain;
}

static bool is_same_test(const sets_test *a, const sets_test *b) {
    return a->kind == b->kind && a->is_signed == b->is_signed && a->type == b->type &&
           pass_is_same_form(&a->sum, &b->sum) && pass_is_same_form(&a->bound, &b->bound);
}

/* Adds a condition; false: there are too many. */
static bool add_test(sets *s, sets_test t, uint32_t *number) {
    sets_plan *p = s->plan;
    t.low = t.high = ir_sext((uint64_t)t.sum.constant, ir_bits(NULL, t.type));
    t.sum.constant = 0;
    uint32_t k = 0;
    while (k < p->tests.n && !is_same_test(&p->tests.data[k], &t)) k++;
    if (k == SETS_MAX_TESTS) return false;
    *number = k;
    if (k == p->tests.n) {
        *ir_push(s->scratch, &p->tests) = t;
        return true;
    }
    sets_test *same = &p->tests.data[k];
    if (t.low < same->low) same->low = t.low;
    if (t.high > same->high) same->high = t.high;
    return true;
}

static void decide(sets *s, sets_decision d) { *ir_push(s->scratch, &s->plan->decisions) = d; }

/* The distance of two items is what 64 bits can hold, and exact. */
static bool has_plain_stride(const sets_form *x, ir_type t) {
    unsigned bits = ir_bits(NULL, t);
    if (!x->stride || x->inner) return false;
    return bits < 64 ? x->stride > -(1 << 16) && x->stride < 1 << 16
                     : x->stride == 1 || x->stride == -1;
}

/* `kind` of x and a bound is to hold. */
static bool add_comparison(sets *s, const ir_inst *x, const ir_inst *bound, sets_kind kind,
                           bool is_signed) {
    sets_form v, b;
    uint32_t number;
    if (!find_operand(s, x, &v) || !find_operand(s, bound, &b)) return false;
    if (!has_plain_stride(&v, x->type) || b.stride || b.inner) return false;
    int64_t more;
    bool lower = is_lower(&b), upper = is_upper(&b, &more);
    bool wanted = kind == SETS_UNEQUAL                           ? lower || upper
                  : kind == SETS_BELOW || kind == SETS_NOT_ABOVE ? upper
                                                                 : lower;
    const sets_test t = {.kind = kind,
                         .is_signed = is_signed,
                         .type = x->type,
                         .sum = v.sum,
                         .stride = v.stride,
                         .bound = b.sum,
                         .side = lower               ? SETS_AT_START
                                 : upper && more < 0 ? SETS_AT_END
                                                     : SETS_ANYWHERE};
    return wanted && add_test(s, t, &number);
}

static bool decide_order(sets *s, ir_inst *i, const ir_inst *x, const ir_inst *bound,
                         sets_kind kind) {
    static const sets_kind opposite[] = {[SETS_BELOW] = SETS_NOT_BELOW,
                                         [SETS_NOT_ABOVE] = SETS_ABOVE,
                                         [SETS_NOT_BELOW] = SETS_BELOW,
                                         [SETS_ABOVE] = SETS_NOT_ABOVE};
    bool is_signed = i->op == IR_OP_slt || i->op == IR_OP_sle;
    bool holds = add_comparison(s, x, bound, kind, is_signed);
    if (!holds && !add_comparison(s, x, bound, opposite[kind], is_signed)) return false;
    decide(s, (sets_decision){.at = i, .how = SETS_IS_CONST, .n = holds});
    return true;
}

static void decide_comparison(sets *s, ir_inst *i) {
    ir_inst *x = ir_arg(i, 0), *y = ir_arg(i, 1);
    bool strict = i->op == IR_OP_slt || i->op == IR_OP_ult;
    if (!is_number(x)) return;
    if (i->op == IR_OP_eq || i->op == IR_OP_ne) {
        if (add_comparison(s, x, y, SETS_UNEQUAL, false) ||
            add_comparison(s, y, x, SETS_UNEQUAL, false))
            decide(s, (sets_decision){.at = i, .how = SETS_IS_CONST, .n = i->op == IR_OP_ne});
    } else if (!decide_order(s, i, x, y, strict ? SETS_BELOW : SETS_NOT_ABOVE)) {
        decide_order(s, i, y, x, strict ? SETS_ABOVE : SETS_NOT_BELOW);
    }
}

/* ------------------------------------------------------------------------ clamps and extensions */

/* A minimum or maximum that can be one of its operands has that one's form. */
static bool decide_clamp(sets *s, ir_inst *i, sets_form *out) {
    bool most = i->op == IR_OP_smin || i->op == IR_OP_umin;
    bool is_signed = i->op == IR_OP_smin || i->op == IR_OP_smax;
    for (unsigned n = 0; n < 2; n++) {
        const ir_inst *x = ir_arg(i, n), *bound = ir_arg(i, 1 - n);
        if (!add_comparison(s, x, bound, most ? SETS_NOT_ABOVE : SETS_NOT_BELOW, is_signed))
            continue;
        decide(s, (sets_decision){.at = i, .how = SETS_IS_OPERAND, .n = n});
        return find_operand(s, x, out);
    }
    return false;
}

static bool is_inner(const sets *s, const pass_symbol *y) {
    if (!sets_is_inside(s, y->value) || y->value == s->plan->loop.counter) return false;
    const sets_form *form = form_of(s, y->value);
    return !form || form->inner || !sets_is_extension(y->value);
}

/* Takes the terms that change while an item is executed out of a sum; false: they may be large. */
static bool split_inner(const sets *s, const ir_inst *v, pass_affine *outer, pass_affine *inner) {
    const pass_affine all = *outer;
    *outer = (pass_affine){.constant = all.constant};
    *inner = (pass_affine){0};
    for (uint32_t k = 0; k < all.n; k++) {
        const pass_term *t = &all.term[k];
        bool own = is_inner(s, &t->of);
        pass_affine *to = own ? inner : outer;
        if (own && (t->factor < 1 || t->factor > UINT16_MAX || t->of.value->type != v->type ||
                    !sets_has_bound(s, t->of.value)))
            return false;
        to->term[to->n++] = *t;
    }
    return true;
}

/* An extension of what has a stride is a sum. */
static bool decide_extension(sets *s, ir_inst *i, sets_form *out) {
    const ir_inst *v = ir_arg(i, 0);
    sets_decision d = {.at = i, .how = SETS_IS_SUM};
    sets_form x;
    if (i->type != IR_I64 || !find_operand(s, v, &x)) return false;
    sets_form outer = x;
    outer.inner = false;
    if (!has_plain_stride(&outer, v->type)) return false;
    if (x.inner && i->op == IR_OP_sext) return false;
    if (x.inner && !split_inner(s, v, &outer.sum, &d.inner)) return false;
    const sets_test t = {.kind = SETS_EXACT,
                         .is_signed = i->op == IR_OP_sext,
                         .type = v->type,
                         .sum = outer.sum,
                         .stride = x.stride};
    if (!add_test(s, t, &d.test)) return false;
    d.more = ir_sext((uint64_t)outer.sum.constant, ir_bits(NULL, v->type));
    decide(s, d);
    *out = symbol_form(i, x.inner, x.stride);
    return true;
}

/* ---------------------------------------------------------------------------------- all values */

static bool find_form(sets *s, ir_inst *i, sets_form *out) {
    *out = (sets_form){0};
    if (!is_number(i)) return false;
    if (i == s->plan->loop.counter) {
        *out = symbol_form(i, false, 1);
        return true;
    }
    if (!s->uniformity->varies[i->id] && i->op != IR_OP_add && i->op != IR_OP_sub) {
        *out = symbol_form(i, true, 0);
        return true;
    }
    switch (i->op) {
    case IR_OP_add: return find_sum(s, i, 1, out);
    case IR_OP_sub: return find_sum(s, i, -1, out);
    case IR_OP_mul:
    case IR_OP_shl: return find_product(s, i, out);
    case IR_OP_trunc: return find_operand(s, ir_arg(i, 0), out);
    case IR_OP_smin:
    case IR_OP_smax:
    case IR_OP_umin:
    case IR_OP_umax: return decide_clamp(s, i, out);
    case IR_OP_sext:
    case IR_OP_zext: return decide_extension(s, i, out);
    default: return false;
    }
}

int64_t sets_stride_of(const sets *s, const ir_inst *v) {
    sets_form f;
    return find_operand(s, v, &f) && has_plain_stride(&f, v->type) ? f.stride : 0;
}

void sets_find_decisions(sets *s) {
    for (uint32_t k = 0; k < s->plan->blocks.n; k++)
        foreach_inst (i, s->plan->blocks.data[k]) {
            sets_form f;
            if (i == ir_arg(s->plan->loop.latch->last, 0)) continue;
            if (find_form(s, i, &f)) {
                s->form[i->id] = ir_new(s->scratch, sets_form);
                *s->form[i->id] = f;
            }
            if (pass_is_comparison(i)) decide_comparison(s, i);
            sets_decide_bits(s, i);
        }
}
