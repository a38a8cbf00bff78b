/* vectors_bits.c — counts of bits, and the upper halves of products, for which the target has no
 * vector instruction.
 *
 * Bits are added up in fields of 2, 4, 8 … bits (Warren 2012).  Lanes of less than 32 bits are
 * counted in lanes of 32, with masks between fields.  The number of zeros at the end is that of the
 * ones in ~x & (x - 1); that at the start is the number of zeros when each one is repeated down to
 * the lowest bit.
 *
 * A high product of 32 bits is the upper half of a product of 64: of even lanes, and of odd ones.
 * One of 64 bits is made of four products of halves.  Signed ones are unsigned ones, less one
 * operand where the other is negative.
 */
#include "passes/lower/vectors.h"

static ir_inst *build(vec_state *s, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build2(&s->b, op, x->type, x, y);
}

/* x op n, the same for all lanes. */
static ir_inst *build_by(vec_state *s, ir_op op, ir_inst *x, uint64_t n) {
    unsigned bits = ir_bits(s->f->module, x->type);
    return build(s, op, x, ir_const(s->f, x->type, ir_zext(n, bits)));
}

/* --------------------------------------------------------------------------------------- counts */

/* Bits of `width`, repeated over 64 bits. */
static uint64_t repeat(uint64_t bits, unsigned width) {
    for (; width < 64; width *= 2) bits |= bits << width;
    return bits;
}

/* The upper bits of fields of 2 * width in the place of the lower ones, and those. */
static ir_inst *halve(vec_state *s, ir_inst *x, unsigned width, ir_inst **lower) {
    uint64_t mask = repeat((UINT64_C(1) << width) - 1, 2 * width);
    *lower = build_by(s, IR_OP_and, x, mask);
    return build_by(s, IR_OP_and, build_by(s, IR_OP_lshr, x, width), mask);
}

/* For each field of `width` bits, how many are set. */
static ir_inst *count(vec_state *s, ir_inst *x, unsigned width) {
    for (unsigned n = 1; n < width; n *= 2) {
        ir_inst *lower, *upper = halve(s, x, n, &lower);
        x = build(s, IR_OP_add, lower, upper);
    }
    return x;
}

/* Each bit that is set, and all below it in its field. */
static ir_inst *smear(vec_state *s, ir_inst *x, unsigned width) {
    uint64_t all = ir_zext(UINT64_MAX, width);
    for (unsigned n = 1; n < width; n *= 2) {
        ir_inst *down = build_by(s, IR_OP_lshr, x, n);
        if (width < ir_bits(s->f->module, x->type))
            down = build_by(s, IR_OP_and, down, repeat(all >> n, width));
        x = build(s, IR_OP_or, x, down);
    }
    return x;
}

/* The bits below the lowest one that is set. */
static ir_inst *low_zeros(vec_state *s, ir_inst *x) {
    ir_inst *below = build_by(s, IR_OP_add, x, UINT64_MAX);
    return build(s, IR_OP_and, build_by(s, IR_OP_xor, x, UINT64_MAX), below);
}

static ir_inst *count_bits(vec_state *s, const ir_inst *i, ir_inst *x) {
    ir_type t = x->type;
    unsigned width = ir_bits(s->f->module, t);
    bool has_count = vec_target_has(s, IR_OP_popcount, ir_elem(t), false);
    if (i->op == IR_OP_ctz) x = low_zeros(s, x);
    if (width < 32) x = vec_cast(s, ir_vector(IR_I32, ir_lanes(t) * width / 32), x);
    if (i->op == IR_OP_clz) x = build_by(s, IR_OP_xor, smear(s, x, width), UINT64_MAX);
    if (has_count) return ir_build1(&s->b, IR_OP_popcount, t, vec_cast(s, t, x));
    return vec_cast(s, t, count(s, x, width));
}

/* -------------------------------------------------------------------------------- high products */

/* Targets recognize a product of halves by its operands, which are results of `and`. */
static ir_inst *multiply(vec_state *s, ir_inst *x, ir_inst *y) {
    ir_inst *low = build_by(s, IR_OP_and, y, UINT32_MAX);
    return build(s, IR_OP_mul, build_by(s, IR_OP_and, x, UINT32_MAX), low);
}

static ir_inst *upper(vec_state *s, ir_inst *x) { return build_by(s, IR_OP_lshr, x, 32); }

static ir_inst *high_of_32(vec_state *s, ir_inst *x, ir_inst *y) {
    ir_type t = x->type, wide = ir_vector(IR_I64, ir_lanes(t) / 2);
    x = vec_cast(s, wide, x);
    y = vec_cast(s, wide, y);
    ir_inst *even = upper(s, multiply(s, x, y));
    ir_inst *y_upper = upper(s, y), *odd = multiply(s, upper(s, x), y_upper);
    odd = build_by(s, IR_OP_and, odd, ~(uint64_t)UINT32_MAX);
    return vec_cast(s, t, build(s, IR_OP_or, even, odd));
}

static ir_inst *high_of_64(vec_state *s, ir_inst *x, ir_inst *y) {
    ir_inst *xh = upper(s, x), *yh = upper(s, y);
    ir_inst *low = upper(s, multiply(s, x, y));
    ir_inst *middle = build(s, IR_OP_add, multiply(s, xh, y), low);
    ir_inst *rest = build_by(s, IR_OP_and, middle, UINT32_MAX);
    ir_inst *other = build(s, IR_OP_add, multiply(s, x, yh), rest), *carry = upper(s, middle);
    ir_inst *high = build(s, IR_OP_add, multiply(s, xh, yh), carry);
    return build(s, IR_OP_add, high, upper(s, other));
}

/* y where x is negative, otherwise 0. */
static ir_inst *if_negative(vec_state *s, ir_inst *x, ir_inst *y) {
    ir_inst *sign = build_by(s, IR_OP_lshr, x, ir_bits(s->f->module, x->type) - 1);
    return build(s, IR_OP_and, build(s, IR_OP_sub, ir_const(s->f, x->type, 0), sign), y);
}

static ir_inst *high_product(vec_state *s, const ir_inst *i, ir_inst *x, ir_inst *y) {
    bool wide = ir_kind_of(i->type) == IR_I64;
    ir_inst *r = wide ? high_of_64(s, x, y) : high_of_32(s, x, y);
    if (i->op == IR_OP_umulh) return r;
    r = build(s, IR_OP_sub, r, if_negative(s, x, y));
    return build(s, IR_OP_sub, r, if_negative(s, y, x));
}

/* --------------------------------------------------------------------------------------- choice */

static bool is_high(const ir_inst *i) { return i->op == IR_OP_umulh || i->op == IR_OP_smulh; }

bool vec_is_of_bits(vec_state *s, const ir_inst *i) {
    bool counts = i->op == IR_OP_popcount || i->op == IR_OP_ctz || i->op == IR_OP_clz;
    bool wide = ir_kind_of(i->type) == IR_I32 || ir_kind_of(i->type) == IR_I64;
    if (counts) return vec_target_has(s, IR_OP_lshr, wide ? ir_elem(i->type) : IR_I32, true);
    return is_high(i) && wide && vec_target_has(s, IR_OP_mul, IR_I64, false);
}

ir_inst *vec_build_of_bits(vec_state *s, const ir_inst *i, ir_inst *const *args) {
    return is_high(i) ? high_product(s, i, args[0], args[1]) : count_bits(s, i, args[0]);
}
