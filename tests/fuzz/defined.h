/* defined.h — operations of random programs whose results are defined to the last bit. */
#ifndef SPVFUSE_TESTS_FUZZ_DEFINED_H
#define SPVFUSE_TESTS_FUZZ_DEFINED_H

#include "ir/build.h"
#include "ir/eval.h"

/* A divisor that is neither 0 nor -1. */
static inline ir_inst *defined_divisor(ir_builder *b, ir_inst *x) {
    unsigned bits = ir_bits(b->f->module, ir_elem(x->type));
    ir_inst *low = ir_const(b->f, x->type, (UINT64_C(1) << (bits - 1)) - 1);
    ir_inst *positive = ir_build2(b, IR_OP_and, x->type, x, low);
    return ir_build2(b, IR_OP_or, x->type, positive, ir_const(b->f, x->type, 1));
}

/* Which NaN an operation gives is not defined, so its bits may not be looked at. */
static inline ir_inst *defined_nan(ir_builder *b, ir_inst *x) {
    if (!ir_is_float(x->type)) return x;
    ir_inst *nan = ir_const(b->f, x->type, ir_fp_nan(ir_kind_of(ir_elem(x->type))));
    ir_inst *is_nan = ir_build2(b, IR_OP_funo, ir_with_elem(x->type, IR_I1), x, x);
    return ir_build_select(b, is_nan, nan, x);
}

/* Nor is it defined which of two zeros some operations give. */
static inline ir_inst *defined_zero(ir_builder *b, ir_inst *x) {
    switch (x->op) {
    case IR_OP_fmin:
    case IR_OP_fmax:
    case IR_OP_fclamp:
    case IR_OP_maxmag:
    case IR_OP_minmag: return ir_build2(b, IR_OP_fadd, x->type, x, ir_const(b->f, x->type, 0));
    default: return x;
    }
}

/* Operations on lanes of one type, or that compare them. */
static inline bool defined_is_plain(ir_rule r) {
    return r == R_INT || r == R_BITS || r == R_FLT || r == R_CMPI || r == R_CMPF || r == R_TESTF;
}

static inline bool defined_takes(const ir_op_info *o, ir_type t) {
    if (o->rule == R_INT) return ir_is_int(t) && !ir_is_bool(t);
    if (o->rule == R_BITS || o->rule == R_CMPI) return ir_is_int(t);
    return ir_is_float(t);
}

/* The operation that converts between types with as many lanes; IR_OP_COUNT: there is none. */
static inline ir_op defined_conversion(ir_type from, ir_type to, bool is_signed) {
    unsigned a = ir_bits(NULL, ir_elem(from)), b = ir_bits(NULL, ir_elem(to));
    if (ir_is_int(from) && ir_is_int(to))
        return a > b ? IR_OP_trunc : a == b ? IR_OP_COUNT : is_signed ? IR_OP_sext : IR_OP_zext;
    if (ir_is_bool(from) || ir_is_bool(to)) return IR_OP_COUNT;
    if (ir_is_int(from)) return is_signed ? IR_OP_sitofp : IR_OP_uitofp;
    if (ir_is_int(to)) return is_signed ? IR_OP_fptosi : IR_OP_fptoui;
    return a == b ? IR_OP_COUNT : IR_OP_fpcast;
}

/* The bits of a value of one lane, as an i64. */
static inline ir_inst *defined_bits(ir_builder *b, ir_inst *v) {
    static const ir_kind ints[] = {
        [1] = IR_I1, [8] = IR_I8, [16] = IR_I16, [32] = IR_I32, [64] = IR_I64};
    unsigned bits = ir_bits(b->f->module, v->type);
    v = defined_nan(b, v);
    if (ir_is_float(v->type)) v = ir_build1(b, IR_OP_bitcast, ints[bits], v);
    return bits == 64 ? v : ir_build1(b, IR_OP_zext, IR_I64, v);
}

/* 31 * sum + the bits of v, lane by lane. */
static inline ir_inst *defined_digest(ir_builder *b, ir_inst *sum, ir_inst *v) {
    ir_inst *factor = ir_const(b->f, IR_I64, 31);
    for (unsigned lane = 0; lane < ir_lanes(v->type); lane++) {
        ir_inst *x = ir_is_vector(v->type) ? ir_build_extract(b, v, lane) : v;
        ir_inst *scaled = ir_build2(b, IR_OP_mul, IR_I64, sum, factor);
        sum = ir_build2(b, IR_OP_add, IR_I64, scaled, defined_bits(b, x));
    }
    return sum;
}

#endif
