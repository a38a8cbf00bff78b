/* expand_convert.c — conversions that CPUs do not have, and floats of 16 bits.
 *
 * A CPU converts signed i32 and i64 from and to f32 and f64, towards zero to integers and to
 * nearest even to floats; f32 to f64 and back; f16 to f32 and back if it has F16C; and with AVX-512
 * unsigned integers, to them with saturation only.  Other conversions are built from these, without
 * branches:
 *   other formats       through f32; rounding to odd first prevents double rounding
 *   other roundings     the nearest float is compared with the exact value, and replaced by its
 *                       neighbour if it is on the wrong side
 *   unsigned integers   two halves, both exact, added with one rounding
 *   saturation          comparison with the ends of the range
 *   out of range        0, which the basic conversions give, too
 *
 * Arithmetic on f16 is done in f32.  Its 24 bits are enough for sum, product, quotient and square
 * root to be as if rounded once (Figueroa 1995: 2p + 2 bits).  bf16 has the exponents of f32 and
 * with them its denormals, so it needs f64.
 */
#include "passes/lower/expand.h"

static ir_inst *shifted(ir_builder *b, ir_op op, ir_inst *x, unsigned by) {
    return expand_2(b, op, x, expand_bits(b, x, by));
}

static ir_inst *with_bits(ir_builder *b, ir_op op, ir_inst *x, uint64_t bits) {
    return expand_2(b, op, x, expand_bits(b, x, bits));
}

static bool is_narrow(ir_type t) { return ir_kind_of(t) == IR_F16 || ir_kind_of(t) == IR_BF16; }

/* A conversion with this rounding, not saturated. */
static ir_inst *convert(ir_builder *b, ir_op op, ir_inst *x, ir_kind kind, ir_round mode) {
    ir_imm imm = {.round = {.mode = (uint8_t)mode}};
    return ir_build(b, op, expand_like(x->type, kind), ir_with_imm(imm), IR_ARGS(x));
}

ir_inst *expand_to(ir_builder *b, ir_op op, ir_inst *x, ir_kind kind) {
    if (ir_kind_of(x->type) == kind) return x;
    return convert(b, op, x, kind, ir_ops[op].rule == R_FTOI ? IR_RTZ : IR_RTE);
}

/* -------------------------------------------------------------- 16 bits to 32 and back, by bits */

/* The multiplication moves the bias, and makes denormals normal. */
static ir_inst *f16_to_f32(ir_builder *b, ir_inst *x, ir_type to) {
    ir_inst *h = ir_build1(b, IR_OP_zext, expand_int_like(to), expand_as_int(b, x));
    ir_inst *m = shifted(b, IR_OP_shl, with_bits(b, IR_OP_and, h, 0x7fff), 13);
    ir_inst *scaled = expand_as_float(b, m, to);
    scaled = expand_2(b, IR_OP_fmul, scaled, expand_number(b, scaled, 0x1p112));
    ir_inst *finite = expand_test(b, IR_OP_slt, m, expand_bits(b, m, 0x7c00 << 13));
    ir_inst *others = with_bits(b, IR_OP_or, m, 0x7f800000);
    ir_inst *bits = expand_select(b, finite, expand_as_int(b, scaled), others);
    ir_inst *sign = shifted(b, IR_OP_shl, with_bits(b, IR_OP_and, h, 0x8000), 16);
    return expand_as_float(b, expand_2(b, IR_OP_or, bits, sign), to);
}

/* The upper half of bits, rounded to nearest even. */
static ir_inst *rounded_off(ir_builder *b, ir_inst *bits, unsigned drop, uint64_t bias) {
    ir_inst *odd = with_bits(b, IR_OP_and, shifted(b, IR_OP_lshr, bits, drop), 1);
    uint64_t half = (UINT64_C(1) << (drop - 1)) - 1;
    ir_inst *sum = with_bits(b, IR_OP_add, expand_2(b, IR_OP_add, bits, odd), half - bias);
    return shifted(b, IR_OP_lshr, sum, drop);
}

/* Adding 1/2 to what is denormal in f16 rounds it to a multiple of 2^-24. */
static ir_inst *f32_to_f16_bits(ir_builder *b, ir_inst *x) {
    ir_inst *m = expand_magnitude(b, x), *v = expand_as_float(b, m, x->type);
    ir_inst *tiny = expand_2(b, IR_OP_fadd, v, expand_number(b, v, 0.5));
    tiny = with_bits(b, IR_OP_sub, expand_as_int(b, tiny), 0x3f000000);
    ir_inst *normal = rounded_off(b, m, 13, 0x38000000);
    normal = with_bits(b, IR_OP_smin, normal, 0x7c00);
    ir_inst *is_tiny = expand_test(b, IR_OP_slt, m, expand_bits(b, m, 0x38800000));
    return expand_select(b, is_tiny, tiny, normal);
}

static ir_inst *f32_to_narrow(ir_builder *b, ir_inst *x, ir_type to) {
    bool half = ir_kind_of(to) == IR_F16;
    ir_inst *m = expand_magnitude(b, x);
    ir_inst *r = half ? f32_to_f16_bits(b, x) : rounded_off(b, m, 16, 0);
    ir_inst *nan = expand_test(b, IR_OP_slt, expand_bits(b, m, 0x7f800000), m);
    r = expand_select(b, nan, expand_bits(b, r, ir_fp_nan(ir_kind_of(to))), r);
    ir_inst *sign = shifted(b, IR_OP_lshr, expand_as_int(b, x), 16);
    r = expand_2(b, IR_OP_or, r, with_bits(b, IR_OP_and, sign, 0x8000));
    return expand_as_float(b, ir_build1(b, IR_OP_trunc, expand_int_like(to), r), to);
}

static ir_inst *bf16_to_f32(ir_builder *b, ir_inst *x, ir_type to) {
    ir_inst *h = ir_build1(b, IR_OP_zext, expand_int_like(to), expand_as_int(b, x));
    return expand_as_float(b, shifted(b, IR_OP_shl, h, 16), to);
}

/* ------------------------------------------------------------------------------- float to float */

/* Rounds to nearest first, then compares the result with the operand. */
static ir_inst *narrowed(ir_builder *b, ir_inst *x, ir_kind to, ir_round mode, bool odd) {
    ir_inst *r = expand_to(b, IR_OP_fpcast, x, to);
    ir_inst *back = expand_to(b, IR_OP_fpcast, r, ir_kind_of(x->type));
    ir_inst *above = expand_test(b, IR_OP_folt, back, x);
    ir_inst *below = expand_test(b, IR_OP_folt, x, back);
    return odd ? expand_round_odd(b, r, above, below)
               : expand_round_directed(b, mode, r, above, below);
}

static ir_inst *expand_fpcast(ir_builder *b, const ir_inst *v, const ir_target *target) {
    ir_inst *x = ir_arg(v, 0);
    ir_kind from = ir_kind_of(x->type), to = ir_kind_of(v->type);
    ir_round mode = v->imm.round.mode;
    bool has_f16c = target && target->has_f16c;
    if (from != IR_BF16 && to != IR_BF16 && target && target->converts_at_once) return NULL;
    if (from == IR_F32 && to == IR_BF16 && mode == IR_RTE && target && target->has_bf16)
        return NULL;
    if (is_narrow(x->type) && to != IR_F32)
        return convert(b, IR_OP_fpcast, expand_to(b, IR_OP_fpcast, x, IR_F32), to, mode);
    if (mode != IR_RTE)
        return from < to ? expand_to(b, IR_OP_fpcast, x, to) : narrowed(b, x, to, mode, false);
    if (from == IR_BF16) return bf16_to_f32(b, x, v->type);
    if (from == IR_F16) return has_f16c ? NULL : f16_to_f32(b, x, v->type);
    if (!is_narrow(v->type)) return NULL;
    if (from == IR_F64) return expand_to(b, IR_OP_fpcast, narrowed(b, x, IR_F32, IR_RTE, true), to);
    return to == IR_F16 && has_f16c ? NULL : f32_to_narrow(b, x, v->type);
}

/* ----------------------------------------------------------------------------- integer to float */

/* The bits of 2^52 + low, minus 2^52: exact. */
static ir_inst *f64_of_low_half(ir_builder *b, ir_inst *x) {
    ir_inst *low = with_bits(b, IR_OP_and, x, UINT32_MAX);
    ir_type t = expand_like(x->type, IR_F64);
    ir_inst *y = expand_as_float(b, with_bits(b, IR_OP_or, low, UINT64_C(0x433) << 52), t);
    return expand_2(b, IR_OP_fsub, y, expand_number(b, y, 0x1p52));
}

/* The upper half of i64 x, times 2^32: exact. */
static ir_inst *f64_of_high_half(ir_builder *b, ir_inst *x, bool is_signed) {
    ir_inst *high = shifted(b, is_signed ? IR_OP_ashr : IR_OP_lshr, x, 32);
    ir_inst *y = is_signed
                     ? expand_to(b, IR_OP_sitofp, expand_to(b, IR_OP_trunc, high, IR_I32), IR_F64)
                     : f64_of_low_half(b, high);
    return expand_2(b, IR_OP_fmul, y, expand_number(b, y, 0x1p32));
}

/* 32 bits with the sign flipped are the number less 2^31. */
static ir_inst *f64_of_u32(ir_builder *b, ir_inst *x) {
    ir_inst *y = expand_to(b, IR_OP_sitofp, with_bits(b, IR_OP_xor, x, UINT64_C(1) << 31), IR_F64);
    return expand_2(b, IR_OP_fadd, y, expand_number(b, y, 0x1p31));
}

static ir_inst *f32_of_u32(ir_builder *b, ir_inst *x) {
    ir_inst *high = expand_to(b, IR_OP_sitofp, shifted(b, IR_OP_lshr, x, 16), IR_F32);
    ir_inst *low = expand_to(b, IR_OP_sitofp, with_bits(b, IR_OP_and, x, 0xffff), IR_F32);
    high = expand_2(b, IR_OP_fmul, high, expand_number(b, high, 0x1p16));
    return expand_2(b, IR_OP_fadd, high, low);
}

/* Half of x where that is needed, the bit that falls off kept as a sticky one. */
static ir_inst *f32_of_u64(ir_builder *b, ir_inst *x) {
    ir_inst *large = expand_test(b, IR_OP_slt, x, expand_bits(b, x, 0));
    ir_inst *lowest = with_bits(b, IR_OP_and, x, 1);
    ir_inst *half = expand_2(b, IR_OP_or, shifted(b, IR_OP_lshr, x, 1), lowest);
    ir_inst *r = expand_to(b, IR_OP_sitofp, expand_select(b, large, half, x), IR_F32);
    return expand_select(b, large, expand_2(b, IR_OP_fadd, r, r), r);
}

/* Rounds to nearest by a formula with one rounding; NULL: there is none. */
static ir_inst *nearest_unsigned(ir_builder *b, ir_inst *x, ir_kind to) {
    if (ir_kind_of(x->type) == IR_I32)
        return to == IR_F64 ? f64_of_u32(b, x) : to == IR_F32 ? f32_of_u32(b, x) : NULL;
    if (to == IR_F64) {
        ir_inst *low = f64_of_low_half(b, x);
        return expand_2(b, IR_OP_fadd, f64_of_high_half(b, x, false), low);
    }
    return to == IR_F32 ? f32_of_u64(b, x) : NULL;
}

/* i64 by the sum of its halves and the error of that sum, which the larger one makes easy. */
static ir_inst *rounded_i64(ir_builder *b, ir_inst *x, bool is_signed, ir_kind to, ir_round mode) {
    ir_inst *high = f64_of_high_half(b, x, is_signed), *low = f64_of_low_half(b, x);
    ir_inst *sum = expand_2(b, IR_OP_fadd, high, low), *zero = expand_number(b, sum, 0);
    ir_inst *error = expand_2(b, IR_OP_fsub, low, expand_2(b, IR_OP_fsub, sum, high));
    ir_inst *above = expand_test(b, IR_OP_folt, zero, error);
    ir_inst *below = expand_test(b, IR_OP_folt, error, zero);
    if (to == IR_F64) return expand_round_directed(b, mode, sum, above, below);
    return convert(b, IR_OP_fpcast, expand_round_odd(b, sum, above, below), to, mode);
}

static ir_inst *expand_int_to_float(ir_builder *b, const ir_inst *v, const ir_target *target) {
    ir_inst *x = ir_arg(v, 0);
    bool has_unsigned = target && target->has_unsigned;
    bool is_signed = v->op == IR_OP_sitofp;
    ir_kind from = ir_kind_of(x->type), to = ir_kind_of(v->type);
    ir_round mode = v->imm.round.mode;
    bool at_once = target && target->converts_at_once && to != IR_BF16;
    if (at_once && from >= IR_I8) return NULL;
    if (from < IR_I32) {
        x = expand_to(b, is_signed ? IR_OP_sext : IR_OP_zext, x, IR_I32);
        return convert(b, IR_OP_sitofp, x, to, mode);
    }
    if (mode == IR_RTE && (is_signed || has_unsigned) && to >= IR_F32) return NULL;
    ir_inst *nearest = mode == IR_RTE && !is_signed ? nearest_unsigned(b, x, to) : NULL;
    if (nearest) return nearest;
    if (from == IR_I64) return rounded_i64(b, x, is_signed, to, mode);
    ir_inst *exact = expand_to(b, (ir_op)v->op, x, IR_F64);
    return to == IR_F64 ? exact : convert(b, IR_OP_fpcast, exact, to, mode);
}

/* ----------------------------------------------------------------------------- float to integer */

static ir_inst *rounded_to_integral(ir_builder *b, ir_inst *x, ir_round mode) {
    switch (mode) {
    case IR_RTE: return expand_1(b, IR_OP_rint, x);
    case IR_RTP: return expand_1(b, IR_OP_ceil, x);
    case IR_RTN: return expand_1(b, IR_OP_floor, x);
    default: return x;
    }
}

/* 2^n in the type of x. */
static ir_inst *power_of_2(ir_builder *b, const ir_inst *x, unsigned n) {
    return expand_number(b, x, n == 64 ? 0x1p64 : (double)(UINT64_C(1) << n));
}

/* The integer for x of 2^n and more. */
static ir_inst *clamp_above(ir_builder *b, ir_inst *x, unsigned n, ir_inst *r, uint64_t end) {
    ir_inst *over = expand_test(b, IR_OP_fole, power_of_2(b, x, n), x);
    return expand_select(b, over, expand_bits(b, r, end), r);
}

/* Converts to i32 or i64, towards zero.  NaN becomes 0, since CPUs differ. */
static ir_inst *saturated_signed(ir_builder *b, ir_inst *x, ir_kind to, unsigned width) {
    ir_inst *r = expand_to(b, IR_OP_fptosi, x, to);
    ir_inst *low = expand_1(b, IR_OP_fneg, power_of_2(b, x, width - 1));
    uint64_t least = UINT64_C(1) << (width - 1);
    r = expand_select(b, expand_test(b, IR_OP_fole, x, low), expand_bits(b, r, least), r);
    r = clamp_above(b, x, width - 1, r, least - 1);
    return expand_select(b, expand_test(b, IR_OP_ford, x, x), r, expand_bits(b, r, 0));
}

/* What is above the signed range is brought into it by a subtraction, which is exact. */
static ir_inst *wide_unsigned(ir_builder *b, ir_inst *x, ir_kind to, unsigned width) {
    ir_inst *middle = power_of_2(b, x, width - 1), *zero = expand_number(b, x, 0);
    ir_inst *upper = expand_test(b, IR_OP_fole, middle, x);
    ir_inst *y = expand_2(b, IR_OP_fsub, x, expand_select(b, upper, middle, zero));
    ir_inst *r = expand_to(b, IR_OP_fptosi, y, to);
    ir_inst *top = expand_bits(b, r, UINT64_C(1) << (width - 1)), *none = expand_bits(b, r, 0);
    return expand_2(b, IR_OP_xor, r, expand_select(b, upper, top, none));
}

static ir_inst *saturated_unsigned(ir_builder *b, ir_inst *x, ir_kind to, unsigned width) {
    ir_inst *r = wide_unsigned(b, x, to, width);
    ir_inst *inside = expand_test(b, IR_OP_folt, expand_number(b, x, -1), x);
    r = expand_select(b, inside, r, expand_bits(b, r, 0));
    return clamp_above(b, x, width, r, UINT64_MAX);
}

/* fmax makes NaN the lower end, which is 0 for unsigned integers. */
static ir_inst *narrow_saturated(ir_builder *b, ir_inst *x, const ir_inst *v, unsigned width) {
    bool is_signed = v->op == IR_OP_fptosi;
    double end = (double)(1u << (is_signed ? width - 1 : width));
    ir_inst *y = expand_2(b, IR_OP_fmax, x, expand_number(b, x, is_signed ? -end : 0));
    y = expand_2(b, IR_OP_fmin, y, expand_number(b, y, end - 1));
    ir_inst *r = expand_to(b, IR_OP_fptosi, y, IR_I32);
    if (is_signed) r = expand_select(b, expand_test(b, IR_OP_ford, x, x), r, expand_bits(b, r, 0));
    return ir_build1(b, IR_OP_trunc, v->type, r);
}

/* The same conversion as v, of x, with this rounding. */
static ir_inst *convert_like(ir_builder *b, const ir_inst *v, ir_inst *x, ir_round mode) {
    ir_imm imm = v->imm;
    imm.round.mode = (uint8_t)mode;
    return ir_build(b, (ir_op)v->op, v->type, ir_with_imm(imm), IR_ARGS(x));
}

static ir_inst *expand_float_to_int(ir_builder *b, const ir_inst *v, const ir_target *target) {
    ir_inst *x = ir_arg(v, 0);
    bool has_unsigned = target && target->has_unsigned;
    ir_kind to = ir_kind_of(v->type);
    ir_round mode = v->imm.round.mode;
    bool sat = v->imm.round.sat;
    if (is_narrow(x->type)) {
        x = expand_to(b, IR_OP_fpcast, x, IR_F32);
        return convert_like(b, v, x, mode);
    }
    if (target && target->converts_at_once) return NULL;
    bool basic = to >= IR_I32 && (v->op == IR_OP_fptosi ? !sat : sat && has_unsigned);
    if (basic && mode == IR_RTZ) return NULL;
    x = rounded_to_integral(b, x, mode);
    if (basic) return convert_like(b, v, x, IR_RTZ);
    unsigned width = ir_bits(b->f->module, v->type);
    if (to < IR_I32 && !sat)
        return ir_build1(b, IR_OP_trunc, v->type, expand_to(b, IR_OP_fptosi, x, IR_I32));
    if (to < IR_I32) return narrow_saturated(b, x, v, width);
    if (v->op == IR_OP_fptosi) return saturated_signed(b, x, to, width);
    return sat ? saturated_unsigned(b, x, to, width) : wide_unsigned(b, x, to, width);
}

ir_inst *expand_conversion(ir_builder *b, const ir_inst *v, const ir_target *target) {
    switch (v->op) {
    case IR_OP_fpcast: return expand_fpcast(b, v, target);
    case IR_OP_sitofp:
    case IR_OP_uitofp: return expand_int_to_float(b, v, target);
    case IR_OP_fptosi:
    case IR_OP_fptoui: return expand_float_to_int(b, v, target);
    default: return NULL;
    }
}

/* ------------------------------------------------------------------------ arithmetic in 16 bits */

static ir_inst *sign_as_bits(ir_builder *b, ir_inst *v) {
    ir_inst *x = expand_as_int(b, ir_arg(v, 0)), *r = NULL;
    uint64_t sign = UINT64_C(1) << 15;
    if (v->op == IR_OP_fneg) r = with_bits(b, IR_OP_xor, x, sign);
    if (v->op == IR_OP_fabs) r = with_bits(b, IR_OP_and, x, sign - 1);
    if (v->op == IR_OP_copysign) {
        ir_inst *other = with_bits(b, IR_OP_and, expand_as_int(b, ir_arg(v, 1)), sign);
        r = expand_2(b, IR_OP_or, with_bits(b, IR_OP_and, x, sign - 1), other);
    }
    return r ? expand_as_float(b, r, v->type) : NULL;
}

/* Is what the op gives in a wider format, rounded once more, what it gives in a narrow one?  Not
 * where it knows its format, or rounds in between. */
static bool may_extend(const ir_inst *v) {
    switch (v->op) {
    case IR_OP_fma:
    case IR_OP_mix:
    case IR_OP_smoothstep:
    case IR_OP_degrees:
    case IR_OP_radians:
    case IR_OP_nextafter:
    case IR_OP_fract_part: return false;
    default: break;
    }
    switch (ir_info(v)->rule) {
    case R_FLT:
    case R_CMPF:
    case R_FLT_INT:
    case R_FLT_TO_I:
    case R_DOT:
    case R_FVEC:
    case R_CROSS:
    case R_FVEC1: return true;
    default: return false;
    }
}

ir_inst *expand_narrow_float(ir_builder *b, ir_inst *v) {
    if (!v->nargs || !is_narrow(ir_arg(v, 0)->type)) return NULL;
    if (!may_extend(v)) return NULL;
    ir_inst *by_sign = sign_as_bits(b, v), *args[3];
    if (by_sign) return by_sign;
    ir_kind kind = ir_kind_of(ir_arg(v, 0)->type);
    ir_kind wide = kind == IR_F16 || ir_has_flag(v, F_NOFOLD) ? IR_F32 : IR_F64;
    for (unsigned n = 0; n < v->nargs; n++)
        args[n] = is_narrow(ir_arg(v, n)->type) ? expand_to(b, IR_OP_fpcast, ir_arg(v, n), wide)
                                                : ir_arg(v, n);
    bool narrow = is_narrow(v->type);
    ir_type t = narrow ? expand_like(v->type, wide) : v->type;
    ir_inst *r = ir_build_like(b, v, t, args);
    return narrow ? expand_to(b, IR_OP_fpcast, r, kind) : r;
}
