/* vectors_expand.c — expands vector operations for which the target has no instruction.
 *
 * A rotation is two shifts.  Counts of bits and high products are in vectors_bits.c.  For 64 bits,
 * products are made from those of halves, minimum and maximum from a comparison, and arithmetic
 * right shifts extend the sign by a subtraction.  Products and shifts of bytes are done in words of
 * two bytes.  If the amount is known, words are shifted, and bits that came from the other byte are
 * cleared.  Otherwise even and odd bytes are computed apart, each as a word whose lower half is the
 * result, or whose upper half for high products.
 */
#include "passes/lower/vectors.h"

static bool is_shift(ir_op op) { return op == IR_OP_shl || op == IR_OP_lshr || op == IR_OP_ashr; }

static bool is_high(ir_op op) { return op == IR_OP_umulh || op == IR_OP_smulh; }

/* The operation on words, which has two operands and nothing else to it. */
static ir_op in_words(ir_op op) { return is_shift(op) ? op : IR_OP_mul; }

static bool is_known(const ir_inst *by, uint64_t *amount) {
    return ir_is_const(by) && ir_is_splat(by, amount);
}

static bool is_known_shift(const ir_inst *i, const ir_inst *by, uint64_t *amount) {
    return is_shift((ir_op)i->op) && is_known(by, amount);
}

bool vec_target_has(vec_state *s, ir_op op, ir_type t, bool known) {
    const uint64_t different[] = {1, 2};
    t = ir_vector(t, 2);
    ir_inst *x = ir_const_lanes(s->f, t, different), *y = known ? ir_const(s->f, t, 1) : x;
    ir_inst *operands[] = {x, y};
    const ir_args args = {ir_ops[op].nargs, operands};
    ir_inst *i = ir_build_raw(&s->b, op, t, IR_PLAIN, args);
    bool takes = s->target->takes(i, s->target->level);
    ir_remove(i);
    return takes;
}

static bool goes_by_words(vec_state *s, const ir_inst *i) {
    ir_op op = (ir_op)i->op;
    uint64_t amount;
    if (ir_kind_of(i->type) != IR_I8 || !(is_shift(op) || is_high(op) || op == IR_OP_mul))
        return false;
    return vec_target_has(s, in_words(op), IR_I16, is_known_shift(i, ir_arg(i, 1), &amount));
}

bool vec_is_expanded(vec_state *s, const ir_inst *i) {
    uint64_t amount;
    if (!s->target) return false;
    if (vec_is_of_bits(s, i)) return true;
    if (i->op == IR_OP_rotl)
        return vec_target_has(s, IR_OP_shl, ir_elem(i->type), is_known(ir_arg(i, 1), &amount));
    if (ir_kind_of(i->type) != IR_I64) return goes_by_words(s, i);
    switch (i->op) {
    case IR_OP_mul: return vec_target_has(s, IR_OP_mul, IR_I64, false);
    case IR_OP_ashr: return vec_target_has(s, IR_OP_lshr, IR_I64, is_known(ir_arg(i, 1), &amount));
    case IR_OP_umin:
    case IR_OP_umax:
    case IR_OP_smin:
    case IR_OP_smax: return vec_target_has(s, IR_OP_slt, IR_I64, false);
    default: return false;
    }
}

static ir_inst *build(vec_state *s, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build2(&s->b, op, x->type, x, y);
}

/* x op n, the same for all lanes. */
static ir_inst *build_by(vec_state *s, ir_op op, ir_inst *x, uint64_t n) {
    return build(s, op, x, ir_const(s->f, x->type, n));
}

/* Amounts count modulo the width. */
static ir_inst *rotate(vec_state *s, ir_inst *x, ir_inst *by) {
    unsigned last = ir_bits(s->f->module, x->type) - 1;
    ir_inst *back = build(s, IR_OP_sub, ir_const(s->f, x->type, 0), by);
    ir_inst *left = build(s, IR_OP_shl, x, build_by(s, IR_OP_and, by, last));
    return build(s, IR_OP_or, left, build(s, IR_OP_lshr, x, build_by(s, IR_OP_and, back, last)));
}

/* -------------------------------------------------------------------------------------- 64 bits */

static bool is_half(const ir_inst *x) {
    const ir_inst *by = x->op == IR_OP_and ? ir_arg(x, 1) : x;
    uint64_t bits;
    if (x->op == IR_OP_zext) return true;
    return ir_is_const(by) && ir_is_splat(by, &bits) && bits <= UINT32_MAX;
}

static ir_inst *lower(vec_state *s, ir_inst *x) { return build_by(s, IR_OP_and, x, UINT32_MAX); }
static ir_inst *upper(vec_state *s, ir_inst *x) { return lower(s, build_by(s, IR_OP_lshr, x, 32)); }

/* Targets recognize a product of halves by its operands, which are results of `and`. */
static ir_inst *multiply(vec_state *s, ir_inst *x, ir_inst *y) {
    ir_inst *part = lower(s, y), *low = build(s, IR_OP_mul, lower(s, x), part), *middle = NULL;
    if (!is_half(x)) {
        part = lower(s, y);
        middle = build(s, IR_OP_mul, upper(s, x), part);
    }
    if (!is_half(y)) {
        part = upper(s, y);
        ir_inst *other = build(s, IR_OP_mul, lower(s, x), part);
        middle = middle ? build(s, IR_OP_add, middle, other) : other;
    }
    return middle ? build(s, IR_OP_add, low, build_by(s, IR_OP_shl, middle, 32)) : low;
}

/* The lesser of x and y, or the greater one. */
static ir_inst *choose_operand(vec_state *s, ir_op less, ir_inst *x, ir_inst *y, bool lesser) {
    ir_inst *c = ir_build2(&s->b, less, ir_with_elem(x->type, IR_I1), x, y);
    if (!vec_has_masks(s)) c = vec_truth(s, ir_build1(&s->b, IR_OP_sext, x->type, c));
    return ir_build_select(&s->b, c, lesser ? x : y, lesser ? y : x);
}

/* Amounts of the width or more give what the width less 1 gives. */
static ir_inst *shift_sign(vec_state *s, ir_inst *x, ir_inst *by) {
    ir_inst *sign = ir_const(s->f, x->type, UINT64_C(1) << 63), *r;
    uint64_t amount;
    if (is_known(by, &amount)) {
        by = ir_const(s->f, x->type, amount < 63 ? amount : 63);
    } else {
        ir_inst *last = ir_const(s->f, x->type, 63);
        by = choose_operand(s, IR_OP_ult, by, last, true);
    }
    sign = build(s, IR_OP_lshr, sign, by);
    r = build(s, IR_OP_lshr, x, by);
    return build(s, IR_OP_sub, build(s, IR_OP_xor, r, sign), sign);
}

static ir_inst *do_long(vec_state *s, ir_op op, ir_inst *x, ir_inst *y) {
    switch (op) {
    case IR_OP_mul: return multiply(s, x, y);
    case IR_OP_ashr: return shift_sign(s, x, y);
    case IR_OP_umin: return choose_operand(s, IR_OP_ult, x, y, true);
    case IR_OP_umax: return choose_operand(s, IR_OP_ult, x, y, false);
    case IR_OP_smin: return choose_operand(s, IR_OP_slt, x, y, true);
    default: return choose_operand(s, IR_OP_slt, x, y, false);
    }
}

/* -------------------------------------------------------------------------------- known amounts */

/* x: words; gives the bytes.  The sign of a byte that was shifted in zeros is extended by a
 * subtraction. */
static ir_inst *shift_all(vec_state *s, ir_op op, ir_inst *x, ir_type bytes, unsigned by) {
    bool left = op == IR_OP_shl;
    uint64_t sign = 0x80u >> by, kept = (left ? 0xffu << by : 0xffu >> by) & 0xff;
    x = build_by(s, left ? IR_OP_shl : IR_OP_lshr, x, by);
    x = build_by(s, IR_OP_and, vec_cast(s, bytes, x), kept);
    if (op != IR_OP_ashr) return x;
    return build_by(s, IR_OP_sub, build_by(s, IR_OP_xor, x, sign), sign);
}

/* --------------------------------------------------------------------------------- even and odd */

/* The even or odd bytes of x as words. */
static ir_inst *extend(vec_state *s, ir_inst *x, bool is_signed, bool odd) {
    if (odd) return build_by(s, is_signed ? IR_OP_ashr : IR_OP_lshr, x, 8);
    if (!is_signed) return build_by(s, IR_OP_and, x, 0xff);
    return build_by(s, IR_OP_ashr, build_by(s, IR_OP_shl, x, 8), 8);
}

/* What is wanted of words, where it belongs. */
static ir_inst *place(vec_state *s, ir_inst *x, bool high, bool odd) {
    if (odd) return high ? build_by(s, IR_OP_and, x, 0xff00) : build_by(s, IR_OP_shl, x, 8);
    return high ? build_by(s, IR_OP_lshr, x, 8) : build_by(s, IR_OP_and, x, 0xff);
}

static ir_inst *half(vec_state *s, ir_op op, ir_inst *x, ir_inst *y, bool odd) {
    bool low = op == IR_OP_mul || op == IR_OP_shl; /* upper bits of x do not matter */
    if (odd || !low) x = extend(s, x, op == IR_OP_smulh || op == IR_OP_ashr, odd);
    if (odd || op != IR_OP_mul) y = extend(s, y, op == IR_OP_smulh, odd);
    return place(s, build(s, in_words(op), x, y), is_high(op), odd);
}

static ir_inst *do_words(vec_state *s, const ir_inst *i, ir_inst *const *args) {
    ir_op op = (ir_op)i->op;
    ir_type bytes = args[0]->type, words = ir_vector(IR_I16, ir_lanes(bytes) / 2);
    ir_inst *x = vec_cast(s, words, args[0]), *y;
    uint64_t amount;
    if (is_known_shift(i, args[1], &amount)) {
        uint64_t most = op == IR_OP_ashr ? 7 : 8;
        return shift_all(s, op, x, bytes, (unsigned)(amount < most ? amount : most));
    }
    y = vec_cast(s, words, args[1]);
    ir_inst *odd = half(s, op, x, y, true);
    return vec_cast(s, bytes, build(s, IR_OP_or, half(s, op, x, y, false), odd));
}

ir_inst *vec_build_expansion(vec_state *s, const ir_inst *i, ir_inst *const *args) {
    if (i->op == IR_OP_rotl) return rotate(s, args[0], args[1]);
    if (vec_is_of_bits(s, i)) return vec_build_of_bits(s, i, args);
    return ir_kind_of(i->type) == IR_I64 ? do_long(s, (ir_op)i->op, args[0], args[1])
                                         : do_words(s, i, args);
}
