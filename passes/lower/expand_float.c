/* expand_float.c — floats by their bits: exponents, neighbours, and rounding to odd.
 *
 * Only f32 and f64 get to the functions that take exponents (expand_convert.c converts the narrow
 * formats); denormals are first made normal by a multiplication.  There are no branches: zeros,
 * infinities and NaNs go through the same operations, and their results are replaced at the end.
 *
 * Rounding to odd prevents double rounding (Boldo and Melquiond 2008).  If the result of a first
 * rounding is not exact, it is the neighbour whose last bit is 1.  That says that the value is not
 * a number of any shorter format, and on which side of such numbers it is.
 */
#include "passes/lower/expand.h"

expand_format expand_format_of(ir_type t) {
    ir_kind k = ir_kind_of(t);
    uint64_t infinity = ir_fp_inf(k, false), sign = infinity ^ ir_fp_inf(k, true);
    unsigned fraction = (unsigned)__builtin_ctzll(infinity);
    return (expand_format){.kind = k,
                           .width = (unsigned)__builtin_ctzll(sign) + 1,
                           .fraction = fraction,
                           .bias = (int)(infinity >> fraction) / 2,
                           .sign = sign,
                           .infinity = infinity};
}

ir_type expand_int_like(ir_type t) {
    static const ir_kind kinds[] = {IR_I16, IR_I16, IR_I32, IR_I64};
    return expand_like(t, kinds[ir_kind_of(t) - IR_F16]);
}

ir_inst *expand_as_int(ir_builder *b, ir_inst *x) {
    return ir_build1(b, IR_OP_bitcast, expand_int_like(x->type), x);
}

ir_inst *expand_as_float(ir_builder *b, ir_inst *bits, ir_type t) {
    return ir_build1(b, IR_OP_bitcast, t, bits);
}

static ir_inst *and_bits(ir_builder *b, ir_inst *x, uint64_t mask) {
    return expand_2(b, IR_OP_and, x, expand_bits(b, x, mask));
}

static ir_inst *or_bits(ir_builder *b, ir_inst *x, uint64_t bits) {
    return expand_2(b, IR_OP_or, x, expand_bits(b, x, bits));
}

static ir_inst *add_number(ir_builder *b, ir_inst *x, int64_t n) {
    return expand_2(b, IR_OP_add, x, expand_bits(b, x, (uint64_t)n));
}

ir_inst *expand_magnitude(ir_builder *b, ir_inst *x) {
    return and_bits(b, expand_as_int(b, x), expand_format_of(x->type).sign - 1);
}

/* ------------------------------------------------------------------------------------ exponents */

/* A finite x that is not 0 is ±1.fraction * 2^exponent; for all others the parts mean nothing. */
typedef struct {
    ir_inst *plain;     /* i1: is x such a number? */
    ir_inst *magnitude; /* of x */
    ir_inst *bits;      /* sign and fraction, and any exponent */
    ir_inst *exponent;  /* as wide as x */
} parts;

static parts unpack_float(ir_builder *b, ir_inst *x) {
    expand_format f = expand_format_of(x->type);
    int up = (int)f.fraction + 1;
    uint64_t least = UINT64_C(1) << f.fraction;
    parts p = {.magnitude = expand_magnitude(b, x)};
    ir_inst *field = add_number(b, p.magnitude, -1);
    p.plain = expand_test(b, IR_OP_ult, field, expand_bits(b, field, f.infinity - 1));
    ir_inst *tiny = expand_test(b, IR_OP_slt, p.magnitude, expand_bits(b, field, least));
    ir_inst *scale = ir_const(b->f, x->type, (uint64_t)(f.bias + up) << f.fraction);
    ir_inst *normal = expand_select(b, tiny, expand_2(b, IR_OP_fmul, x, scale), x);
    p.bits = expand_as_int(b, normal);
    ir_inst *biased = expand_2(b, IR_OP_lshr, and_bits(b, p.bits, f.sign - 1),
                               expand_bits(b, p.bits, f.fraction));
    ir_inst *bias = expand_select(b, tiny, expand_bits(b, biased, (uint64_t)(f.bias + up)),
                                  expand_bits(b, biased, (uint64_t)f.bias));
    p.exponent = expand_2(b, IR_OP_sub, biased, bias);
    return p;
}

/* Sign and fraction of the parts, and the exponent field `field`. */
static ir_inst *pack_float(ir_builder *b, const parts *p, ir_inst *field, ir_type t) {
    expand_format f = expand_format_of(t);
    uint64_t kept = f.sign | ((UINT64_C(1) << f.fraction) - 1);
    ir_inst *high = expand_2(b, IR_OP_shl, field, expand_bits(b, field, f.fraction));
    return expand_as_float(b, expand_2(b, IR_OP_or, and_bits(b, p->bits, kept), high), t);
}

ir_inst *expand_frexp_mantissa(ir_builder *b, ir_inst *x) {
    parts p = unpack_float(b, x);
    ir_inst *half = expand_bits(b, p.bits, (uint64_t)(expand_format_of(x->type).bias - 1));
    return expand_select(b, p.plain, pack_float(b, &p, half, x->type), x);
}

static ir_inst *exponent_as_i32(ir_builder *b, const parts *p) {
    return expand_to(b, IR_OP_trunc, p->exponent, IR_I32);
}

ir_inst *expand_frexp_exponent(ir_builder *b, ir_inst *x) {
    parts p = unpack_float(b, x);
    ir_inst *e = add_number(b, exponent_as_i32(b, &p), 1);
    return expand_select(b, p.plain, e, expand_bits(b, e, 0));
}

static ir_inst *is_zero(ir_builder *b, const parts *p) {
    return expand_test(b, IR_OP_eq, p->magnitude, expand_bits(b, p->magnitude, 0));
}

ir_inst *expand_ilogb(ir_builder *b, ir_inst *x) {
    parts p = unpack_float(b, x);
    ir_inst *e = exponent_as_i32(b, &p);
    ir_inst *other = expand_select(b, is_zero(b, &p), expand_bits(b, e, (uint64_t)INT32_MIN),
                                   expand_bits(b, e, INT32_MAX));
    return expand_select(b, p.plain, e, other);
}

ir_inst *expand_logb(ir_builder *b, ir_inst *x) {
    parts p = unpack_float(b, x);
    ir_inst *e = expand_to(b, IR_OP_sitofp, exponent_as_i32(b, &p), ir_kind_of(x->type));
    ir_inst *low = ir_const(b->f, x->type, ir_fp_inf(ir_kind_of(x->type), true));
    ir_inst *magnitude = expand_1(b, IR_OP_fabs, x);
    ir_inst *other = expand_select(b, is_zero(b, &p), low, magnitude);
    return expand_select(b, p.plain, e, other);
}

/* x with an exponent that is normal, times a power of two that brings it where it belongs: the one
 * product that rounds. */
ir_inst *expand_ldexp(ir_builder *b, ir_inst *x, ir_inst *n) {
    enum { FAR = 1 << 13 }; /* beyond the distance of any two floats */
    expand_format f = expand_format_of(x->type);
    parts p = unpack_float(b, x);
    n = expand_2(b, IR_OP_smax, n, expand_bits(b, n, (uint64_t)-FAR));
    n = expand_2(b, IR_OP_smin, n, expand_bits(b, n, FAR));
    n = expand_to(b, IR_OP_sext, n, ir_kind_of(p.bits->type));
    ir_inst *to = expand_2(b, IR_OP_add, p.exponent, n);
    ir_inst *e = expand_2(b, IR_OP_smax, to, expand_bits(b, to, (uint64_t)(1 - f.bias)));
    e = expand_2(b, IR_OP_smin, e, expand_bits(b, to, (uint64_t)f.bias));
    ir_inst *rest = expand_2(b, IR_OP_sub, to, e);
    rest = expand_2(b, IR_OP_smin, rest, expand_bits(b, to, 1));
    rest = expand_2(b, IR_OP_smax, rest, expand_bits(b, to, 0 - (uint64_t)(f.fraction + 2)));
    ir_inst *y = pack_float(b, &p, add_number(b, e, f.bias), x->type);
    ir_inst *power =
        expand_2(b, IR_OP_shl, add_number(b, rest, f.bias), expand_bits(b, rest, f.fraction));
    ir_inst *r = expand_2(b, IR_OP_fmul, y, expand_as_float(b, power, x->type));
    return expand_select(b, p.plain, r, x);
}

/* ----------------------------------------------------------------------------------- neighbours */

/* What is added to the bits of a float to go up: 1, or -1 when it is negative. */
static ir_inst *step_up(ir_builder *b, ir_inst *bits) {
    unsigned width = ir_bits(b->f->module, bits->type);
    return or_bits(b, expand_2(b, IR_OP_ashr, bits, expand_bits(b, bits, width - 1)), 1);
}

ir_inst *expand_nextafter(ir_builder *b, ir_inst *x, ir_inst *y) {
    expand_format f = expand_format_of(x->type);
    ir_inst *from = expand_as_int(b, x), *to = expand_as_int(b, y), *step = step_up(b, from);
    ir_inst *less = expand_2(b, IR_OP_sub, from, step), *more = expand_2(b, IR_OP_add, from, step);
    ir_inst *next = expand_select(b, expand_test(b, IR_OP_folt, x, y), more, less);
    ir_inst *none = expand_bits(b, from, 0);
    ir_inst *at_zero = expand_test(b, IR_OP_eq, expand_magnitude(b, x), none);
    next = expand_select(b, at_zero, or_bits(b, and_bits(b, to, f.sign), 1), next);
    next = expand_select(b, expand_test(b, IR_OP_foeq, x, y), to, next);
    next = expand_select(b, expand_test(b, IR_OP_ford, x, y), next,
                         expand_bits(b, from, ir_fp_nan(f.kind)));
    return expand_as_float(b, next, x->type);
}

ir_inst *expand_round_directed(ir_builder *b, ir_round mode, ir_inst *r, ir_inst *above,
                               ir_inst *below) {
    ir_inst *bits = expand_as_int(b, r), *next = bits;
    if (mode == IR_RTZ) {
        ir_inst *negative = expand_test(b, IR_OP_slt, bits, expand_bits(b, bits, 0));
        ir_inst *beyond = expand_select(b, negative, above, below);
        next = expand_select(b, beyond, add_number(b, bits, -1), bits);
    } else if (mode == IR_RTP) {
        next = expand_select(b, above, expand_2(b, IR_OP_add, bits, step_up(b, bits)), bits);
    } else if (mode == IR_RTN) {
        next = expand_select(b, below, expand_2(b, IR_OP_sub, bits, step_up(b, bits)), bits);
    }
    return expand_as_float(b, next, r->type);
}

ir_inst *expand_round_odd(ir_builder *b, ir_inst *r, ir_inst *above, ir_inst *below) {
    ir_inst *bits = expand_as_int(b, r), *step = step_up(b, bits);
    ir_inst *even = expand_test(b, IR_OP_eq, and_bits(b, bits, 1), expand_bits(b, bits, 0));
    ir_inst *less = expand_2(b, IR_OP_sub, bits, step), *more = expand_2(b, IR_OP_add, bits, step);
    ir_inst *next = expand_select(b, above, more, less);
    ir_inst *wrong = expand_2(b, IR_OP_and, expand_2(b, IR_OP_or, above, below), even);
    return expand_as_float(b, expand_select(b, wrong, next, bits), r->type);
}

/* The error of a sum is a float (Knuth 1997, two-sum); comparisons fail when the sum is infinite
 * or NaN. */
ir_inst *expand_add_odd(ir_builder *b, ir_inst *x, ir_inst *y) {
    ir_inst *sum = expand_2(b, IR_OP_fadd, x, y), *zero = expand_number(b, x, 0);
    ir_inst *y_part = expand_2(b, IR_OP_fsub, sum, x);
    ir_inst *x_part = expand_2(b, IR_OP_fsub, sum, y_part);
    ir_inst *y_error = expand_2(b, IR_OP_fsub, y, y_part);
    ir_inst *error = expand_2(b, IR_OP_fadd, expand_2(b, IR_OP_fsub, x, x_part), y_error);
    ir_inst *below = expand_test(b, IR_OP_folt, error, zero);
    return expand_round_odd(b, sum, expand_test(b, IR_OP_folt, zero, error), below);
}

/* Products of narrower floats are exact in f64. */
ir_inst *expand_fma(ir_builder *b, ir_inst *x, ir_inst *y, ir_inst *z) {
    ir_inst *wide_x = expand_to(b, IR_OP_fpcast, x, IR_F64);
    ir_inst *wide_y = expand_to(b, IR_OP_fpcast, y, IR_F64);
    ir_inst *wide_z = expand_to(b, IR_OP_fpcast, z, IR_F64);
    ir_inst *product = expand_2(b, IR_OP_fmul, wide_x, wide_y);
    return expand_to(b, IR_OP_fpcast, expand_add_odd(b, product, wide_z), ir_kind_of(x->type));
}
