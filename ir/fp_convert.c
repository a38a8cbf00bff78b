/* fp_convert.c — operations on floats other than arithmetic: conversions to and from other formats
 * and integers, comparisons, neighbours, and access to the exponent.
 *
 * As in fp.c, operands and results are bit patterns, all computation is on integers, and NaN
 * results are canonical. Everything that can be inexact goes through ir_fp_pack or ir_fp_round_int,
 * so that the four rounding modes have one definition.
 */
#include "ir/eval.h"

/* -------------------------------------------------------------------------------------- classes */

static uint64_t sign_mask(ir_kind k) { return ir_fp_inf(k, true) ^ ir_fp_inf(k, false); }

bool ir_fp_is_nan(ir_kind k, uint64_t a) { return (a & ~sign_mask(k)) > ir_fp_inf(k, false); }

bool ir_fp_is_inf(ir_kind k, uint64_t a) { return (a & ~sign_mask(k)) == ir_fp_inf(k, false); }

/* -------------------------------------------------------------------------------------- formats */

uint64_t ir_fp_convert(ir_kind to, ir_kind from, uint64_t a, ir_round mode) {
    ir_fp_parts x = ir_fp_unpack(from, a);
    if (x.what == IR_FP_NAN) return ir_fp_nan(to);
    if (x.what == IR_FP_INF) return ir_fp_inf(to, x.sign);
    return ir_fp_pack(to, mode, x.sign, x.exp, x.mant);
}

double ir_fp_to_double(ir_kind k, uint64_t a) {
    uint64_t bits = ir_fp_convert(IR_F64, k, a, IR_RTE);
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

uint64_t ir_fp_from_double(ir_kind k, double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return ir_fp_convert(k, IR_F64, bits, IR_RTE);
}

/* ------------------------------------------------------------------------------------- integers */

uint64_t ir_fp_from_int(ir_kind to, uint64_t a, bool is_signed, ir_round mode) {
    bool negative = is_signed && a >> 63;
    return ir_fp_pack(to, mode, negative, 63, negative ? 0 - a : a);
}

/* The magnitude of an integral float; UINT64_MAX when it does not fit in 64 bits. */
static uint64_t integral_magnitude(ir_fp_parts x, bool *fits) {
    *fits = x.what != IR_FP_INF && (x.what == IR_FP_ZERO || x.exp <= 63);
    if (!*fits) return UINT64_MAX;
    return x.what == IR_FP_ZERO ? 0 : x.mant >> (63 - x.exp);
}

/* What does not fit and is not saturated becomes what processors with one such instruction make of
 * it: signed, of 32 or 64 bits, least in its range for everything outside.  Fewer bits are the low
 * ones of 32; unsigned numbers above the signed range go through it by a subtraction. */
uint64_t ir_fp_to_int(ir_kind from, uint64_t a, unsigned bits, bool is_signed, ir_rounding round) {
    ir_fp_parts x = ir_fp_unpack(from, ir_fp_round_int(from, a, (ir_round)round.mode));
    bool sat = round.sat, nan = x.what == IR_FP_NAN, fits;
    unsigned width = sat || bits > 32 ? bits : 32;
    if (!sat) is_signed |= bits < 32 || nan || x.sign;
    uint64_t outside = is_signed ? UINT64_C(1) << (width - 1) : 0;
    if (nan) return sat ? 0 : ir_zext(outside, bits);
    uint64_t magnitude = integral_magnitude(x, &fits);
    uint64_t limit = ir_zext(UINT64_MAX, is_signed ? width - 1 : width);
    if (x.sign) limit = is_signed ? limit + 1 : 0;
    if (!fits || magnitude > limit) {
        if (!sat) return ir_zext(outside, bits);
        magnitude = limit;
    }
    return ir_zext(x.sign ? 0 - magnitude : magnitude, bits);
}

/* ---------------------------------------------------------------------------------------- order */

/* Floats other than NaN as integers in the same order; both zeros are 0. */
static int64_t order_key(ir_kind k, uint64_t a) {
    int64_t magnitude = (int64_t)(a & ~sign_mask(k));
    return a & sign_mask(k) ? -magnitude : magnitude;
}

int ir_fp_compare(ir_kind k, uint64_t a, uint64_t b) {
    if (ir_fp_is_nan(k, a) || ir_fp_is_nan(k, b)) return 2;
    int64_t x = order_key(k, a), y = order_key(k, b);
    return (x > y) - (x < y);
}

/* The other operand when one is NaN, and the canonical NaN when both are.  -0 counts as less than
 * +0, which C leaves open: so the result does not depend on the order of the operands. */
static uint64_t choose(ir_kind k, uint64_t a, uint64_t b, bool greater) {
    if (ir_fp_is_nan(k, a)) return ir_fp_is_nan(k, b) ? ir_fp_nan(k) : b;
    if (ir_fp_is_nan(k, b)) return a;
    int order = ir_fp_compare(k, a, b);
    if (order == 0) order = a == b ? 0 : a & sign_mask(k) ? -1 : 1;
    return (order > 0) == greater ? a : b;
}

uint64_t ir_fp_min(ir_kind k, uint64_t a, uint64_t b) { return choose(k, a, b, false); }

uint64_t ir_fp_max(ir_kind k, uint64_t a, uint64_t b) { return choose(k, a, b, true); }

/* Bit patterns of one sign are in the order of their magnitudes, so a step is plus or minus one. */
uint64_t ir_fp_nextafter(ir_kind k, uint64_t a, uint64_t b) {
    int order = ir_fp_compare(k, a, b);
    if (order == 2) return ir_fp_nan(k);
    if (order == 0) return b;
    if (!(a & ~sign_mask(k))) return (b & sign_mask(k)) | 1;
    bool away = (order < 0) == !(a & sign_mask(k));
    return away ? a + 1 : a - 1;
}

/* ------------------------------------------------------------------------------------ exponents */

/* Greater than the distance between the exponents of any two floats of any format. */
enum { EXPONENT_LIMIT = 1 << 16 };

uint64_t ir_fp_ldexp(ir_kind k, uint64_t a, int64_t e) {
    ir_fp_parts x = ir_fp_unpack(k, a);
    if (x.what == IR_FP_NAN) return ir_fp_nan(k);
    if (x.what != IR_FP_FINITE) return a;
    if (e > EXPONENT_LIMIT) e = EXPONENT_LIMIT;
    if (e < -EXPONENT_LIMIT) e = -EXPONENT_LIMIT;
    return ir_fp_pack(k, IR_RTE, x.sign, x.exp + (int32_t)e, x.mant);
}

uint64_t ir_fp_frexp(ir_kind k, uint64_t a, int32_t *e) {
    ir_fp_parts x = ir_fp_unpack(k, a);
    *e = 0;
    if (x.what == IR_FP_NAN) return ir_fp_nan(k);
    if (x.what != IR_FP_FINITE) return a;
    *e = x.exp + 1;
    return ir_fp_pack(k, IR_RTE, x.sign, -1, x.mant);
}

int32_t ir_fp_ilogb(ir_kind k, uint64_t a) {
    ir_fp_parts x = ir_fp_unpack(k, a);
    if (x.what == IR_FP_ZERO) return INT32_MIN; /* FP_ILOGB0 */
    return x.what == IR_FP_FINITE ? x.exp : INT32_MAX;
}
