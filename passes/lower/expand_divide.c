/* expand_divide.c — quotients of integers as those of floats, for vectors.
 *
 * No CPU divides vectors of integers.  Integers of 8 and 16 bits are exact as f32, and those of 32
 * bits as f64.  A quotient that is no integer is farther from the next one than rounding goes: the
 * fraction is at least 1 / y, and the quotient is below 2^32 / y.  So it is the quotient of the
 * floats without its fraction.  The same is true of the product with the reciprocal of a constant,
 * if the reciprocal is rounded up: multiples of y must not fall below their quotient.
 *
 * Targets without unsigned conversions get numbers of 32 bits with a bias of 2^31.
 */
#include "passes/lower/expand.h"

#include <math.h>

static const double bias = 0x1p31;

bool expand_divides_by_floats(const ir_inst *x, const pass_ctx *cx) {
    bool has = cx->target && cx->target->vector_bytes;
    return has && ir_is_vector(x->type) && ir_kind_of(x->type) < IR_I64;
}

static bool is_narrow(const ir_inst *x) { return ir_kind_of(x->type) < IR_I32; }

static ir_inst *flip_sign(ir_builder *b, ir_inst *x) {
    return expand_2(b, IR_OP_xor, x, expand_bits(b, x, UINT64_C(1) << 31));
}

static ir_inst *to_float(ir_builder *b, ir_inst *x, bool is_signed, const ir_target *t) {
    if (is_narrow(x)) {
        x = expand_to(b, is_signed ? IR_OP_sext : IR_OP_zext, x, IR_I32);
        return expand_to(b, IR_OP_sitofp, x, IR_F32);
    }
    if (is_signed || t->has_unsigned)
        return expand_to(b, is_signed ? IR_OP_sitofp : IR_OP_uitofp, x, IR_F64);
    x = expand_to(b, IR_OP_sitofp, flip_sign(b, x), IR_F64);
    return expand_2(b, IR_OP_fadd, x, expand_number(b, x, bias));
}

/* Without the fraction, as an integer of 32 bits. */
static ir_inst *to_integer(ir_builder *b, ir_inst *q, bool is_signed, const ir_target *t) {
    const ir_imm toward_zero = {.round = {.mode = IR_RTZ}}, saturated = {.round = {IR_RTZ, true}};
    ir_type wide = expand_like(q->type, IR_I32);
    if (is_signed || ir_kind_of(q->type) == IR_F32)
        return ir_build(b, IR_OP_fptosi, wide, ir_with_imm(toward_zero), IR_ARGS(q));
    if (t->has_unsigned) return ir_build(b, IR_OP_fptoui, wide, ir_with_imm(saturated), IR_ARGS(q));
    q = expand_1(b, IR_OP_trunc_f, q);
    q = expand_2(b, IR_OP_fsub, q, expand_number(b, q, bias));
    return flip_sign(b, ir_build(b, IR_OP_fptosi, wide, ir_with_imm(toward_zero), IR_ARGS(q)));
}

/* The reciprocal of the number, or of its magnitude, rounded up, in the precision of q. */
static double reciprocal_of(uint64_t bits, const ir_inst *x, bool is_signed, bool single) {
    double n = is_signed ? (double)ir_sext(bits, ir_bits(NULL, x->type)) : (double)bits;
    double r = 1 / fabs(n),
           up = single ? (double)nextafterf((float)r, INFINITY) : nextafter(r, INFINITY);
    return copysign(up, n);
}

/* x / y as floats; NULL: y is 0. */
static ir_inst *divide(ir_builder *b, ir_inst *x, ir_inst *y, bool is_signed, const ir_target *t) {
    ir_inst *dividend = to_float(b, x, is_signed, t);
    uint64_t bits;
    if (ir_is_const(y) && ir_is_splat(y, &bits) && bits) {
        double r = reciprocal_of(bits, x, is_signed, is_narrow(x));
        return expand_2(b, IR_OP_fmul, dividend, expand_number(b, dividend, r));
    }
    return expand_2(b, IR_OP_fdiv, dividend, to_float(b, y, is_signed, t));
}

static ir_inst *quotient(ir_builder *b, ir_inst *x, ir_inst *y, bool is_signed, pass_ctx *cx) {
    return to_integer(b, divide(b, x, y, is_signed, cx->target), is_signed, cx->target);
}

/* Remainders are computed in 32 bits. */
static ir_inst *remainder_of(ir_builder *b, ir_inst *x, ir_inst *y, bool is_signed, pass_ctx *cx) {
    ir_op extend = is_signed ? IR_OP_sext : IR_OP_zext;
    ir_inst *q = quotient(b, x, y, is_signed, cx);
    ir_inst *whole = expand_2(b, IR_OP_mul, q, expand_to(b, extend, y, IR_I32));
    ir_inst *r = expand_2(b, IR_OP_sub, expand_to(b, extend, x, IR_I32), whole);
    return expand_to(b, IR_OP_trunc, r, ir_kind_of(x->type));
}

ir_inst *expand_udiv(ir_builder *b, ir_inst *x, ir_inst *y, pass_ctx *cx) {
    return expand_to(b, IR_OP_trunc, quotient(b, x, y, false, cx), ir_kind_of(x->type));
}

ir_inst *expand_sdiv(ir_builder *b, ir_inst *x, ir_inst *y, pass_ctx *cx) {
    return expand_to(b, IR_OP_trunc, quotient(b, x, y, true, cx), ir_kind_of(x->type));
}

ir_inst *expand_urem(ir_builder *b, ir_inst *x, ir_inst *y, pass_ctx *cx) {
    return remainder_of(b, x, y, false, cx);
}

ir_inst *expand_srem(ir_builder *b, ir_inst *x, ir_inst *y, pass_ctx *cx) {
    return remainder_of(b, x, y, true, cx);
}
