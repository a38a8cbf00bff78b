/* expand.h — what the files of pass `expand` share: one way to write operations down in C, and the
 * functions that rules and conversions are made of.
 *
 * All work on scalars and vectors of any lanes alike; operands of one operation have one type. */
#ifndef SPVFUSE_EXPAND_H
#define SPVFUSE_EXPAND_H

#include "ir/eval.h"
#include "passes/passes.h"

/* What the rules are applied with. */
typedef pass_ctx expand_ctx;
ir_inst *expand_apply_rules(ir_builder *b, ir_inst *v, expand_ctx *cx);
const ir_rule_info *expand_rule_info(unsigned rule);

/* --------------------------------------------------------------------------- writing operations */

static inline ir_type expand_like(ir_type shape, ir_kind kind) {
    return ir_with_elem(shape, ir_scalar(kind));
}
/* The result has the type of x. */
static inline ir_inst *expand_1(ir_builder *b, ir_op op, ir_inst *x) {
    return ir_build1(b, op, x->type, x);
}
static inline ir_inst *expand_2(ir_builder *b, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build2(b, op, x->type, x, y);
}
static inline ir_inst *expand_test(ir_builder *b, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build2(b, op, expand_like(x->type, IR_I1), x, y);
}
static inline ir_inst *expand_select(ir_builder *b, ir_inst *c, ir_inst *x, ir_inst *y) {
    return ir_build_select(b, c, x, y);
}
/* A conversion, rounded by default; x itself when it is of that kind. */
ir_inst *expand_to(ir_builder *b, ir_op op, ir_inst *x, ir_kind kind);
/* Constants in the type of x: a number, bits. */
static inline ir_inst *expand_number(ir_builder *b, const ir_inst *x, double value) {
    return ir_const_float(b->f, x->type, value);
}
static inline ir_inst *expand_bits(ir_builder *b, const ir_inst *x, uint64_t bits) {
    return ir_const(b->f, x->type, ir_zext(bits, ir_bits(b->f->module, x->type)));
}

/* ------------------------------------------------------------------------------- floats as bits */

/* A float type: 1 bit of sign, then the exponent with that bias, then the fraction. */
typedef struct {
    ir_kind kind;
    unsigned width, fraction;
    int bias;
    uint64_t sign, infinity; /* patterns */
} expand_format;
expand_format expand_format_of(ir_type t);
/* The integer type of the same width, with the same lanes. */
ir_type expand_int_like(ir_type t);
ir_inst *expand_as_int(ir_builder *b, ir_inst *x);
ir_inst *expand_as_float(ir_builder *b, ir_inst *bits, ir_type t);
ir_inst *expand_magnitude(ir_builder *b, ir_inst *x); /* bits of x, the sign's aside */

/* ----------------------------------------------------------------- taken apart (expand_float.c) */

ir_inst *expand_frexp_mantissa(ir_builder *b, ir_inst *x);
ir_inst *expand_frexp_exponent(ir_builder *b, ir_inst *x);
ir_inst *expand_ilogb(ir_builder *b, ir_inst *x);
ir_inst *expand_logb(ir_builder *b, ir_inst *x);
ir_inst *expand_ldexp(ir_builder *b, ir_inst *x, ir_inst *n);
ir_inst *expand_nextafter(ir_builder *b, ir_inst *x, ir_inst *y);
/* fma of a format narrower than f64. */
ir_inst *expand_fma(ir_builder *b, ir_inst *x, ir_inst *y, ir_inst *z);
/* r is next to an exact value, which lies above it, below it or neither: what rounding that value
 * by `mode` gives, r or its neighbour. */
ir_inst *expand_round_directed(ir_builder *b, ir_round mode, ir_inst *r, ir_inst *above,
                               ir_inst *below);
/* The same, rounded to odd: r when it is exact, otherwise r or its neighbour, whichever has its
 * last bit set.  A value that was rounded to odd may be rounded once more, to a format that has at
 * least two bits less, with the result of rounding once. */
ir_inst *expand_round_odd(ir_builder *b, ir_inst *r, ir_inst *above, ir_inst *below);
/* x + y rounded to odd. */
ir_inst *expand_add_odd(ir_builder *b, ir_inst *x, ir_inst *y);

/* --------------------------------------------------------------- conversions (expand_convert.c) */

/* What conversion v becomes, or NULL: it is one that CPUs have. */
ir_inst *expand_conversion(ir_builder *b, const ir_inst *v, const ir_target *target);
/* An operation on f16 or bf16, done in f32 or f64; NULL: it is none, or must be written otherwise.
 */
ir_inst *expand_narrow_float(ir_builder *b, ir_inst *v);

/* ------------------------------------------------------------------ quotients (expand_divide.c) */

/* Are quotients of vectors like x those of floats? */
bool expand_divides_by_floats(const ir_inst *x, const pass_ctx *cx);
ir_inst *expand_udiv(ir_builder *b, ir_inst *x, ir_inst *y, pass_ctx *cx);
ir_inst *expand_sdiv(ir_builder *b, ir_inst *x, ir_inst *y, pass_ctx *cx);
ir_inst *expand_urem(ir_builder *b, ir_inst *x, ir_inst *y, pass_ctx *cx);
ir_inst *expand_srem(ir_builder *b, ir_inst *x, ir_inst *y, pass_ctx *cx);

/* -------------------------------------------------- sums of products in a lane (expand_parts.c) */

ir_inst *expand_byte_dot(ir_builder *b, ir_inst *x, ir_inst *y);
ir_inst *expand_narrow_dot_sat(ir_builder *b, ir_inst *x, ir_inst *y, ir_inst *z);
ir_inst *expand_word_dot(ir_builder *b, ir_inst *x, ir_inst *y);

/* -------------------------------------------------------------------- vectors (expand_vector.c) */

ir_inst *expand_dot(ir_builder *b, ir_inst *x, ir_inst *y);
ir_inst *expand_dot_by_halves(ir_builder *b, ir_inst *x, ir_inst *y); /* for targets with vectors */
ir_inst *expand_cross(ir_builder *b, ir_inst *x, ir_inst *y);
ir_inst *expand_length(ir_builder *b, ir_inst *x);
ir_inst *expand_normalize(ir_builder *b, ir_inst *x);
ir_inst *expand_fast_normalize(ir_builder *b, ir_inst *x);

#endif
