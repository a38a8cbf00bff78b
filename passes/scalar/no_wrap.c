/* no_wrap.c — marks sums, differences, products and shifts that cannot wrap (nsw, nuw).
 *
 * Programs compute the index of an element as `row * width + column`, in 32 bits, and nothing in
 * the kernel says that this does not wrap.  A launch knows: where its ids and the integers among
 * its arguments have 15 bits, products of two of them have 30, and with a column 31.  The bounds of
 * operands (bounds.c) tell which results fit, also in loops that count up to such a number.
 *
 * Then extend_indices extends the operands, neighbours are contiguous without a doubt, and no copy
 * of a loop remains for indices that wrap.
 */
#include "passes/analysis/analysis.h"

enum { MAX_DEPTH = 4 };

typedef struct {
    int64_t low, high;
} operand;

/* Marks i if its result is from low to high and has no other than its type allows. */
static bool mark(ir_inst *i, ir_i128 low, ir_i128 high, bool natural) {
    unsigned bits = ir_bits(NULL, i->type);
    ir_i128 half = (ir_i128)1 << (bits - 1);
    uint32_t before = i->flags;
    if (low >= -half && high < half) i->flags |= IR_NSW;
    if (natural && low >= 0 && high < 2 * half) i->flags |= IR_NUW;
    return i->flags != before;
}

static bool mark_sum(ir_inst *i, operand x, operand y) {
    bool natural = x.low >= 0 && y.low >= 0;
    switch (i->op) {
    case IR_OP_add: return mark(i, (ir_i128)x.low + y.low, (ir_i128)x.high + y.high, natural);
    case IR_OP_sub: return mark(i, (ir_i128)x.low - y.high, (ir_i128)x.high - y.low, natural);
    default:
        if (!natural) return false;
        return mark(i, (ir_i128)x.low * y.low, (ir_i128)x.high * y.high, true);
    }
}

/* The form of a value is the value itself only where it fits the type. */
static bool is_positive(const pass_launch *l, ir_inst *v, const ir_block *at) {
    pass_affine form;
    int64_t low, high;
    pass_find_affine(l, v, at, &form);
    return pass_affine_bounds(l, &form, at, &low, &high) && low > 0 && high <= INT32_MAX;
}

/* Is x a sum of `part` times a positive number, and of what is not negative?  So is y * w + x below
 * the first row of an image, and an element of the row above is no less than 0 after it. */
static bool contains(const pass_launch *l, const ir_inst *x, const ir_inst *part,
                     const ir_block *at, unsigned depth) {
    if (!(x->flags & IR_NUW)) return false;
    if (x->op == IR_OP_add && depth < MAX_DEPTH)
        return contains(l, ir_arg(x, 0), part, at, depth + 1) ||
               contains(l, ir_arg(x, 1), part, at, depth + 1);
    for (unsigned n = 0; n < 2 && x->op == IR_OP_mul; n++)
        if (ir_arg(x, n) == part && is_positive(l, ir_arg(x, !n), at)) return true;
    return false;
}

static bool try_mark(const pass_launch *l, ir_inst *i) {
    operand of[2];
    if (i->type != IR_I32 || (i->flags & IR_NSW && i->flags & IR_NUW)) return false;
    for (unsigned n = 0; n < 2; n++)
        if (!pass_number_bounds(l, ir_arg(i, n), i->block, &of[n].low, &of[n].high)) return false;
    bool changed = mark_sum(i, of[0], of[1]);
    if (i->op != IR_OP_sub || i->flags & IR_NUW || of[1].low < 0) return changed;
    if (!contains(l, ir_arg(i, 0), ir_arg(i, 1), i->block, 0)) return changed;
    i->flags |= IR_NUW;
    return true;
}

/* Does:  marks sums, differences and products of 32 bits whose operands are known to be so small
 *        that nothing wraps.
 * Needs: ids as queries; reachable blocks only.
 * Gives up: on functions whose ids are not known to be short. */
bool pass_no_wrap(ir_func *f, pass_ctx *cx) {
    const pass_launch l = {.kernel = f};
    bool changed = false;
    (void)cx;
    if (!(f->flags & IR_FUNC_SHORT_IDS)) return false;
    foreach_block (b, f)
        foreach_inst (i, b)
            if (i->op == IR_OP_add || i->op == IR_OP_sub || i->op == IR_OP_mul)
                changed |= try_mark(&l, i);
    return changed;
}
