/* indexsets_bounds.c — the items for which tests hold, computed before the loop.
 *
 * The numbers of n bits are a circle, on which a test is an arc: `count` numbers from `first` on.
 * The items of a loop walk along the circle by `stride`, so they are in the arc for a while, then
 * outside of it until they come to its beginning again.  With
 *
 *   p = (v - first) mod 2^n            where the walk begins, seen from the arc
 *   left = (count - p) / stride        the items in it from the first one on, 0 if p >= count
 *   next = (2^n - p) / stride          the item that enters it after that
 *
 * rounded up, that is from 0 to `left`, or from `next` for count / stride items, whichever has more
 * items of the loop.  The numbers are exact: in 64 bits for n up to 32, and modulo 2^64 with a
 * stride of 1.  A negative stride walks backwards, and sees the arc from its end.  Values that
 * differ by up to d from v are in the arc together if v is in its first `count - d` numbers.
 *
 * For values that must not be `bound`, one item may be left out, item `bound - v`.  If that is
 * expected among the first or the last items, the interval is all items after it, or all before it.
 *
 * Comparisons begin with the first item of the loop.  Extensions begin with the first one for which
 * the comparisons hold: others may wrap, and do not use them.  If comparisons have chosen the first
 * item, or v only grows, nothing enters later, and the extensions with one stride end with the one
 * that is nearest to its end: one maximum stands for all of them.
 */
#include "passes/vectorize/indexsets.h"

static ir_inst *number(const sets *s, uint64_t n) { return ir_const(s->f, IR_I64, n); }
/* x op y; nothing if y does not change x. */
static ir_inst *build(sets *s, ir_op op, ir_inst *x, ir_inst *y) {
    uint64_t same = op == IR_OP_mul || op == IR_OP_udiv;
    bool plain = same || op == IR_OP_add || op == IR_OP_sub;
    if (plain && ir_is_const(y) && y->imm.bits == same) return x;
    if (op == IR_OP_add && ir_is_const(x) && !x->imm.bits) return y;
    return ir_build2(&s->b, op, x->type, x, y);
}
static ir_inst *test(sets *s, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build2(&s->b, op, IR_I1, x, y);
}
static ir_inst *choose(sets *s, ir_inst *condition, ir_inst *x, ir_inst *y) {
    return ir_build_select(&s->b, condition, x, y);
}
static ir_inst *extend(sets *s, ir_inst *v, bool is_signed) {
    if (v->type == IR_I64) return v;
    return ir_build1(&s->b, is_signed ? IR_OP_sext : IR_OP_zext, IR_I64, v);
}

/* ----------------------------------------------------------------------------------------- sums */

/* Each extension widens its operand, so the recursion ends soon. */
static ir_inst *symbol_at(sets *s, const pass_symbol *y, ir_inst *x) {
    ir_inst *v = (ir_inst *)y->value;
    if (v == s->plan->loop.counter) return x;
    if (!sets_is_inside(s, v)) return v;
    const ir_inst *narrow = ir_arg(v, 0);
    ir_inst *base = sets_value_at(s, &s->form[narrow->id]->sum, narrow->type, x);
    return ir_build1(&s->b, v->op, v->type, base);
}

ir_inst *sets_value_at(sets *s, const pass_affine *sum, ir_type t, ir_inst *x) {
    ir_inst *total = NULL;
    for (uint32_t k = 0; k < sum->n; k++) {
        ir_inst *v = symbol_at(s, &sum->term[k].of, x);
        if (v->type != t) v = ir_build1(&s->b, IR_OP_trunc, t, v);
        uint64_t factor = ir_zext((uint64_t)sum->term[k].factor, ir_bits(NULL, t));
        if (factor != 1) v = build(s, IR_OP_mul, v, ir_const(s->f, t, factor));
        total = total ? build(s, IR_OP_add, total, v) : v;
    }
    ir_inst *constant = ir_const(s->f, t, ir_zext((uint64_t)sum->constant, ir_bits(NULL, t)));
    return total ? build(s, IR_OP_add, total, constant) : constant;
}

/* ----------------------------------------------------------------------------------------- arcs */

typedef struct {
    ir_inst *first; /* of the type of the test */
    ir_inst *last;  /* the same, for an arc that is seen from its end */
    ir_inst *count; /* i64 */
} arc;

static ir_inst *more_by_one(sets *s, ir_inst *x) {
    return build(s, IR_OP_uaddsat, x, number(s, 1));
}

static ir_inst *distance(sets *s, ir_inst *from, ir_inst *to) {
    return extend(s, build(s, IR_OP_sub, to, from), false);
}

static arc find_arc(sets *s, const sets_test *t) {
    unsigned bits = ir_bits(NULL, t->type);
    uint64_t least = t->is_signed ? UINT64_C(1) << (bits - 1) : 0;
    ir_inst *low = ir_const(s->f, t->type, least), *one = ir_const(s->f, t->type, 1),
            *high = ir_const(s->f, t->type, ir_zext(least - 1, bits));
    if (t->kind == SETS_EXACT) return (arc){low, high, number(s, UINT64_C(1) << bits)};
    ir_inst *bound = sets_value_at(s, &t->bound, t->type, NULL);
    ir_inst *after = build(s, IR_OP_add, bound, one), *before = build(s, IR_OP_sub, bound, one);
    switch (t->kind) {
    case SETS_BELOW: return (arc){low, before, distance(s, low, bound)};
    case SETS_NOT_ABOVE: return (arc){low, bound, more_by_one(s, distance(s, low, bound))};
    case SETS_NOT_BELOW: return (arc){bound, high, more_by_one(s, distance(s, bound, high))};
    case SETS_ABOVE: return (arc){after, high, distance(s, bound, high)};
    default: return (arc){after, before, number(s, ir_zext(UINT64_MAX, bits))};
    }
}

/* May the walk begin outside of the arc, and enter it later? */
static bool may_enter(const sets_test *t) {
    bool falls = t->stride < 0 || t->low < 0;
    for (uint32_t k = 0; k < t->sum.n; k++) falls |= t->sum.term[k].factor < 0;
    switch (t->kind) {
    case SETS_BELOW:
    case SETS_NOT_ABOVE: return t->stride < 0 || (falls && !t->is_signed);
    case SETS_EXACT: return falls;
    default: return true;
    }
}

/* x / stride, rounded up. */
static ir_inst *steps(sets *s, const sets_test *t, ir_inst *x) {
    uint64_t stride = pass_magnitude(t->stride);
    if (stride == 1) return x;
    return build(s, IR_OP_udiv, build(s, IR_OP_add, x, number(s, stride - 1)), number(s, stride));
}

/* How far from the beginning of the arc the item `next` is. */
static ir_inst *enter(sets *s, const sets_test *t, ir_inst *p, ir_inst *next, ir_inst *whole) {
    uint64_t stride = pass_magnitude(t->stride);
    if (stride == 1) return number(s, 0);
    ir_inst *walked = build(s, IR_OP_mul, next, number(s, stride));
    return build(s, IR_OP_sub, build(s, IR_OP_add, p, walked), whole);
}

/* The greatest number of items of the loop. */
static uint64_t most_items(const sets *s) {
    const simd loop = {.f = s->f, .uniformity = s->uniformity, .scalar = s->plan->loop};
    return simd_most_items(&loop);
}

/* Does one item at most have the value `bound`, one that is expected to be near an end? */
static bool has_one_side(const sets *s, const sets_test *t) {
    unsigned bits = ir_bits(NULL, t->type);
    return t->kind == SETS_UNEQUAL && t->side != SETS_ANYWHERE && t->low == t->high &&
           t->stride == 1 && (bits == 64 || most_items(s) <= UINT64_C(1) << bits);
}

/* The items after or before the one that has the value `bound`. */
static sets_interval find_side(sets *s, const sets_test *t, ir_inst *x, ir_inst *items) {
    pass_affine sum = t->sum;
    sum.constant = t->low;
    ir_inst *v = sets_value_at(s, &sum, t->type, x);
    ir_inst *at = distance(s, v, sets_value_at(s, &t->bound, t->type, NULL));
    if (t->side == SETS_AT_END) return (sets_interval){NULL, build(s, IR_OP_umin, at, items)};
    ir_inst *after = build(s, IR_OP_add, at, number(s, 1));
    return (sets_interval){choose(s, test(s, IR_OP_ult, at, items), after, number(s, 0)), items};
}

/* Where the walk of the test begins for item x, seen from its arc. */
static ir_inst *find_place(sets *s, const sets_test *t, const arc *a, ir_inst *x) {
    pass_affine sum = t->sum;
    sum.constant = t->stride > 0 ? t->low : t->high;
    ir_inst *v = sets_value_at(s, &sum, t->type, x);
    return t->stride > 0 ? distance(s, a->first, v) : distance(s, v, a->last);
}

/* Of `items` items from x on, those for which the test holds, counted from x. */
static sets_interval find_items(sets *s, const sets_test *t, ir_inst *x, ir_inst *items) {
    unsigned bits = ir_bits(NULL, t->type);
    if (has_one_side(s, t)) return find_side(s, t, x, items);
    const arc a = find_arc(s, t);
    ir_inst *p = find_place(s, t, &a, x);
    ir_inst *count =
        build(s, IR_OP_usubsat, a.count, number(s, (uint64_t)t->high - (uint64_t)t->low));
    ir_inst *left = steps(s, t, build(s, IR_OP_usubsat, count, p));
    ir_inst *end = build(s, IR_OP_umin, left, items);
    if (!may_enter(t)) return (sets_interval){NULL, end};
    ir_inst *whole = number(s, bits < 64 ? UINT64_C(1) << bits : 0);
    ir_inst *next = steps(s, t, build(s, IR_OP_sub, whole, p));
    ir_inst *inside = steps(s, t, build(s, IR_OP_usubsat, count, enter(s, t, p, next, whole)));
    ir_inst *other = build(s, IR_OP_umin, build(s, IR_OP_uaddsat, next, inside), items);
    ir_inst *most = test(s, IR_OP_ule, build(s, IR_OP_sub, items, end), end);
    return (sets_interval){choose(s, most, number(s, 0), build(s, IR_OP_umin, next, items)),
                           choose(s, most, end, other)};
}

/* ------------------------------------------------------------------------- values that change */

enum { MAX_DEPTH = 6 };

/* A phi of a loop inside that grows by what is known before the loops, and how often. */
typedef struct {
    ir_inst *init, *step;
    ir_inst *limit; /* of the counter that leaves the loop */
    ir_op op;       /* by which it is compared with its next value */
} growth;

static bool find_limit(const sets *s, const ir_inst *phi, const ir_block *latch, growth *g) {
    const ir_inst *stay = latch->last->op == IR_OP_br ? ir_arg(latch->last, 0) : NULL;
    pass_counter c;
    if (!stay || latch->succ[0] != phi->block || stay->nargs != 2) return false;
    g->op = (ir_op)stay->op;
    g->limit = ir_arg(stay, 1);
    if (g->op != IR_OP_ult && g->op != IR_OP_slt && g->op != IR_OP_ne) return false;
    if (sets_is_inside(s, g->limit)) return false;
    foreach_phi (other, phi->block) {
        if (!pass_find_counter(s->uniformity->loops, other, &c) || c.step != 1) continue;
        if (c.next == ir_arg(stay, 0) && ir_is_const(c.init) && c.init->imm.bits == 0) return true;
    }
    return false;
}

static bool find_growth(const sets *s, const ir_inst *phi, growth *g) {
    const ir_loop *loop = s->uniformity->loops->of[phi->block->id];
    if (loop->header != phi->block || phi->nargs != 2 || phi == s->plan->loop.counter) return false;
    unsigned back = ir_in_loop(s->uniformity->loops, phi->block->pred[1], loop);
    const ir_inst *next = ir_arg(phi, back);
    g->init = ir_arg(phi, !back);
    if (ir_in_loop(s->uniformity->loops, phi->block->pred[!back], loop)) return false;
    if (next->op != IR_OP_add || ir_arg(next, 0) != phi) return false;
    g->step = ir_arg(next, 1);
    bool small = !ir_is_const(g->step) || ir_signed_const(g->step) > 0;
    return small && !sets_is_inside(s, g->init) && !sets_is_inside(s, g->step) &&
           find_limit(s, phi, phi->block->pred[back], g);
}

static bool has_bound(const sets *s, const ir_inst *v, unsigned depth) {
    growth g;
    if (v->type != IR_I32) return false;
    if (!sets_is_inside(s, v)) return !ir_is_const(v) || ir_signed_const(v) >= 0;
    if (depth == MAX_DEPTH) return false;
    switch (v->op) {
    case IR_OP_phi: return find_growth(s, v, &g);
    case IR_OP_add:
    case IR_OP_mul:
        return has_bound(s, ir_arg(v, 0), depth + 1) && has_bound(s, ir_arg(v, 1), depth + 1);
    default: return false;
    }
}

bool sets_has_bound(const sets *s, const ir_inst *v) { return has_bound(s, v, 0); }

/* x, which must have 32 bits. */
static ir_inst *small(sets *s, ir_inst *x) {
    s->small = s->small ? build(s, IR_OP_or, s->small, x) : x;
    return x;
}

/* The greatest value of a phi, init + step * (the number of iterations - 1). */
static ir_inst *build_growth(sets *s, const growth *g) {
    ir_type t = g->limit->type;
    ir_inst *one = ir_const(s->f, t, 1), *n = g->limit;
    if (g->op != IR_OP_ne) n = build(s, g->op == IR_OP_slt ? IR_OP_smax : IR_OP_umax, n, one);
    ir_inst *last = small(s, extend(s, build(s, IR_OP_sub, n, one), false));
    ir_inst *grown = build(s, IR_OP_mul, last, extend(s, g->step, false));
    return small(s, build(s, IR_OP_add, grown, extend(s, g->init, false)));
}

/* The greatest value of v; s->fits says whether it is one. */
static ir_inst *build_bound(sets *s, ir_inst *v) {
    growth g;
    if (!sets_is_inside(s, v)) return extend(s, v, false);
    if (v->op != IR_OP_phi) {
        ir_inst *second = build_bound(s, ir_arg(v, 1));
        return small(s, build(s, (ir_op)v->op, build_bound(s, ir_arg(v, 0)), second));
    }
    bool found = find_growth(s, v, &g);
    assert_at(v, found);
    return build_growth(s, &g);
}

/* Checks that the inner terms and those of items x and `items` after it have no carry. */
static void check_inner(sets *s, const sets_decision *d, ir_inst *x, ir_inst *items) {
    const sets_test *t = &s->plan->tests.data[d->test];
    ir_inst *walked = build(s, IR_OP_mul, items, number(s, pass_magnitude(t->stride)));
    pass_affine sum = t->sum;
    sum.constant = d->more;
    ir_inst *most = extend(s, sets_value_at(s, &sum, t->type, x), false);
    if (t->stride > 0) most = build(s, IR_OP_add, most, walked);
    for (uint32_t k = 0; k < d->inner.n; k++) {
        ir_inst *bound = build_bound(s, (ir_inst *)d->inner.term[k].of.value);
        ir_inst *factor = number(s, (uint64_t)d->inner.term[k].factor);
        most = build(s, IR_OP_add, most, small(s, build(s, IR_OP_mul, bound, factor)));
    }
    small(s, most);
}

/* ------------------------------------------------------------------------------------ intervals */

/* Both count from the same item. */
static sets_interval meet(sets *s, sets_interval a, sets_interval b) {
    if (!a.low)
        a.low = b.low;
    else if (b.low)
        a.low = build(s, IR_OP_umax, a.low, b.low);
    if (a.high != b.high) a.high = build(s, IR_OP_umin, a.high, b.high);
    return a;
}

static sets_interval meet_comparisons(sets *s, ir_inst *x, ir_inst *items) {
    sets_interval all = {NULL, items};
    foreach_in (const sets_test, t, s->plan->tests)
        if (t->kind != SETS_EXACT) all = meet(s, all, find_items(s, t, x, items));
    return all;
}

static bool is_alike(const sets_test *a, const sets_test *b) {
    return a->kind == b->kind && ir_bits(NULL, a->type) == ir_bits(NULL, b->type) &&
           pass_magnitude(a->stride) == pass_magnitude(b->stride);
}

/* The items before the first one for which an extension like t wraps; NULL: an earlier test has
 * been asked for them. */
static ir_inst *find_end(sets *s, const sets_test *t, bool guarded, ir_inst *x) {
    ir_inst *most = NULL;
    foreach_in (const sets_test, other, s->plan->tests) {
        if (!is_alike(t, other) || (!guarded && may_enter(other))) continue;
        if (other < t) return NULL;
        const arc a = find_arc(s, other);
        ir_inst *span = number(s, (uint64_t)other->high - (uint64_t)other->low);
        ir_inst *p = build(s, IR_OP_add, find_place(s, other, &a, x), span);
        most = most ? build(s, IR_OP_umax, most, p) : p;
    }
    ir_inst *whole = number(s, UINT64_C(1) << ir_bits(NULL, t->type));
    return steps(s, t, build(s, IR_OP_usubsat, whole, most));
}

static sets_interval meet_extensions(sets *s, bool guarded, ir_inst *x, ir_inst *items) {
    sets_interval all = {NULL, items};
    foreach_in (const sets_test, t, s->plan->tests) {
        if (t->kind != SETS_EXACT) continue;
        if (!guarded && may_enter(t)) {
            all = meet(s, all, find_items(s, t, x, items));
            continue;
        }
        ir_inst *end = find_end(s, t, guarded, x);
        if (end) all.high = build(s, IR_OP_umin, all.high, end);
    }
    return all;
}

static void find_bases(sets *s, ir_inst *x) {
    for (uint32_t k = 0; k < s->plan->tests.n; k++) {
        sets_test *t = &s->plan->tests.data[k];
        if (t->kind != SETS_EXACT) continue;
        pass_affine sum = t->sum;
        sum.constant = t->low;
        ir_inst *v = extend(s, sets_value_at(s, &sum, t->type, x), t->is_signed);
        ir_inst *walked = build(s, IR_OP_mul, x, number(s, (uint64_t)t->stride));
        t->base = build(s, IR_OP_sub, v, walked);
    }
}

void sets_require(sets *s, ir_inst *holds) {
    s->fits = s->fits ? ir_build2(&s->b, IR_OP_and, IR_I1, s->fits, holds) : holds;
}

sets_interval sets_find_interval(sets *s) {
    const simd_loop *l = &s->plan->loop;
    ir_inst *start = ir_arg(l->counter, l->entry);
    ir_inst *items = build(s, IR_OP_sub, l->end, start);
    s->fits = s->small = NULL;
    sets_interval first = meet_comparisons(s, start, items);
    ir_inst *x = first.low ? build(s, IR_OP_add, start, first.low) : start;
    ir_inst *rest = first.low ? build(s, IR_OP_usubsat, first.high, first.low) : first.high;
    sets_interval last = meet_extensions(s, first.low, x, rest);
    ir_inst *low = last.low ? build(s, IR_OP_add, x, last.low) : x;
    ir_inst *high = build(s, IR_OP_add, x, last.high);
    if (first.low && last.high == rest)
        high = first.high == items
                   ? l->end
                   : build(s, IR_OP_add, start, build(s, IR_OP_umax, first.high, first.low));
    find_bases(s, low);
    for (uint32_t k = 0; k < s->plan->decisions.n; k++) {
        const sets_decision *d = &s->plan->decisions.data[k];
        if (d->how == SETS_IS_SUM && d->inner.n)
            check_inner(s, d, low, build(s, IR_OP_sub, high, low));
    }
    sets_build_bits(s);
    if (s->small) sets_require(s, test(s, IR_OP_ule, s->small, number(s, UINT32_MAX)));
    if (s->fits) high = choose(s, s->fits, high, low);
    return (sets_interval){low == start ? NULL : low, high};
}
