/* eval.h — arithmetic on constants, independent of the host (eval.c, fp*.c, math.c).
 *
 * Floats are bit patterns of F16, BF16, F32 or F64 in the low bits of a uint64_t.  Arithmetic is
 * IEEE 754 with denormals, rounding to nearest even unless a mode is given; every NaN result is
 * the canonical quiet NaN (sign 0, top fraction bit).  No host floating point decides a bit of
 * fp.c; math.c uses the host's libm and is reached by F_NOFOLD ops only. */
#ifndef SPVFUSE_IR_EVAL_H
#define SPVFUSE_IR_EVAL_H

#include "ir/ir.h"

uint64_t ir_fp_add(ir_kind k, uint64_t a, uint64_t b);
uint64_t ir_fp_sub(ir_kind k, uint64_t a, uint64_t b);
uint64_t ir_fp_mul(ir_kind k, uint64_t a, uint64_t b);
uint64_t ir_fp_div(ir_kind k, uint64_t a, uint64_t b);
uint64_t ir_fp_fma(ir_kind k, uint64_t a, uint64_t b, uint64_t c);
uint64_t ir_fp_sqrt(ir_kind k, uint64_t a);
uint64_t ir_fp_rem(ir_kind k, uint64_t a, uint64_t b); /* fmod: sign of a, truncated quotient */
uint64_t ir_fp_remainder(ir_kind k, uint64_t a, uint64_t b,
                         int *quotient);                        /* nearest; low 7 bits */
uint64_t ir_fp_round_int(ir_kind k, uint64_t a, ir_round mode); /* to an integral value */
uint64_t ir_fp_round_away(ir_kind k, uint64_t a);               /* ties away from zero: round() */
uint64_t ir_fp_convert(ir_kind to, ir_kind from, uint64_t a, ir_round mode);
uint64_t ir_fp_from_int(ir_kind to, uint64_t a, bool is_signed, ir_round mode);
/* To an integer of `bits` bits.  Out of range: clamped when round.sat (NaN: 0), otherwise a value
 * that is always the same but not specified. */
uint64_t ir_fp_to_int(ir_kind from, uint64_t a, unsigned bits, bool is_signed, ir_rounding round);
int ir_fp_compare(ir_kind k, uint64_t a, uint64_t b);  /* -1, 0, 1; 2: unordered */
uint64_t ir_fp_min(ir_kind k, uint64_t a, uint64_t b); /* fmin: the other operand when one is NaN */
uint64_t ir_fp_max(ir_kind k, uint64_t a, uint64_t b);
uint64_t ir_fp_ldexp(ir_kind k, uint64_t a, int64_t e);
uint64_t ir_fp_frexp(ir_kind k, uint64_t a, int32_t *e);
int32_t ir_fp_ilogb(ir_kind k, uint64_t a); /* OpenCL's FP_ILOGB0, FP_ILOGBNAN */
uint64_t ir_fp_nextafter(ir_kind k, uint64_t a, uint64_t b);
bool ir_fp_is_nan(ir_kind k, uint64_t a);
bool ir_fp_is_inf(ir_kind k, uint64_t a);
uint64_t ir_fp_nan(ir_kind k);
uint64_t ir_fp_inf(ir_kind k, bool negative);
double ir_fp_to_double(ir_kind k, uint64_t a); /* exact */
uint64_t ir_fp_from_double(ir_kind k, double d);
/* Reads a decimal or 0x…p… literal, correctly rounded; returns characters used, 0: no number. */
size_t ir_fp_parse(ir_kind k, const char *s, size_t n, uint64_t *bits);
/* Shortest text that ir_fp_parse reads back to the same bits: "1.5", "-0.0", "inf", "nan",
 * "nan(0x7f800001)". Returns its length. */
size_t ir_fp_print(ir_kind k, uint64_t bits, char out[40]);

/* What the files fp*.c share: a float taken apart, and the one place that rounds.  A finite number
 * that is not 0 has bit 63 of mant set and the value (-1)^sign * mant * 2^(exp - 63). */
typedef enum { IR_FP_ZERO, IR_FP_FINITE, IR_FP_INF, IR_FP_NAN } ir_fp_class;
typedef struct {
    uint64_t mant;
    int32_t exp;
    bool sign;
    ir_fp_class what;
} ir_fp_parts;
ir_fp_parts ir_fp_unpack(ir_kind k, uint64_t a);
/* Rounds (-1)^sign * mant * 2^(exp - 63) to a float; bit 0 of mant may stand for a nonzero tail.
 * Any mant; |exp| below 2^30. */
uint64_t ir_fp_pack(ir_kind k, ir_round mode, bool sign, int32_t exp, uint64_t mant);

/* One lane of an op with an eval column.  `a` holds the operand lanes; k_arg the kind of operand 0,
 * k_res that of the result. */
typedef struct {
    ir_op op;
    ir_kind k_res, k_arg;
    unsigned w_res, w_arg; /* widths in bits of one lane */
    ir_imm imm;
} ir_eval_env;
bool ir_has_eval(ir_op op);
/* Only for ops with an eval column. */
uint64_t ir_eval_lane(const ir_eval_env *e, const uint64_t a[4]);
/* Whole instruction on constants; result lanes in out.  False: not evaluable (no eval column, an
 * undefined division, F_NOFOLD unless `libm`). */
bool ir_eval(const ir_module *m, const ir_inst *i, uint64_t *const *args, uint64_t *out, bool libm);
/* The constant that i equals when all operands are constant, or NULL.  Never F_NOFOLD ops. */
ir_inst *ir_fold(ir_func *f, const ir_inst *i);

/* Math functions of OpenCL.std by op (math.c): correctly rounded for f16 and f32 as far as the
 * host's double and long double allow, about 1 ulp for f64. */
uint64_t ir_math1(ir_op op, ir_kind k, uint64_t a);
uint64_t ir_math2(ir_op op, ir_kind k, uint64_t a, uint64_t b);
/* Whole-vector functions (dot, cross, length, distance, normalize, fast_…) on operands of type
 * t. */
void ir_math_vector(ir_op op, ir_type t, const uint64_t *a, const uint64_t *b, uint64_t *out);

#endif
