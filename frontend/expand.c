/* expand.c — integer and float instructions that take several IR ops: shifts by amounts of another
 * width, remainders with the sign of the divisor, bit fields, carries, integer dot products.
 */
#include "frontend/reader.h"

static ir_inst *op2(reader *r, ir_op op, ir_inst *x, ir_inst *y) {
    return spv_op2(r, op, x->type, x, y);
}

static ir_inst *splat(reader *r, ir_inst *like, uint64_t bits) {
    return spv_splat_const(r, like->type, bits);
}

/* The type of the result, which must be an integer of an even width. */
static ir_type int_result(reader *r) {
    const spv_type *t = spv_value_type(r, r->in.type);
    if (!ir_is_int(t->value) || ir_is_bool(t->value))
        spv_fail(r, "%s: the result has type %s, want an integer", spv_op_name(r),
                 spv_type_name(r, t));
    if (t->odd)
        spv_refuse(r, "%s on integers of %u bits is not supported", spv_op_name(r), t->bits);
    return t->value;
}

/* ----------------------------------------------------------------------------- shifts, negation */

/* The amount may have another width; an amount that does not fit shifts everything out. */
void spv_read_shift(reader *r) {
    const spv_type *t = spv_value_type(r, r->in.type);
    ir_op op = spv_op_of_row(r);
    ir_inst *x = op == IR_OP_shl ? spv_arg_low(r, 0, t) : spv_arg_of(r, 0, t->value);
    ir_inst *amount = spv_arg(r, 1);
    if (!ir_is_int(t->value) || ir_is_bool(t->value)) spv_bad_type(r, 0, "an integer");
    if (!ir_is_int(amount->type) || ir_is_bool(amount->type) ||
        ir_lanes(amount->type) != ir_lanes(t->value))
        spv_bad_type(r, 1, spv_type_name(r, t));
    amount = spv_to_int(r, amount, t->value, false);
    if (op == IR_OP_ashr) x = spv_widen_odd(r, t, x);
    ir_inst *v = spv_emit(r, op, t->value, 2, (ir_inst *[]){x, amount});
    spv_define(r, spv_mask_odd(r, t, v));
}

void spv_read_s_negate(reader *r) {
    const spv_type *t = spv_value_type(r, r->in.type);
    if (!ir_is_int(t->value) || ir_is_bool(t->value)) spv_bad_type(r, 0, "an integer");
    ir_inst *x = spv_arg_low(r, 0, t);
    ir_inst *v = spv_emit(r, IR_OP_sub, t->value, 2, (ir_inst *[]){splat(r, x, 0), x});
    spv_define(r, spv_mask_odd(r, t, v));
}

/* ----------------------------------------------------------------------------------- remainders */

/* a remainder of 0 stays; one whose sign differs from the divisor's gets the divisor added */
static ir_inst *fix_sign(reader *r, ir_inst *rem, ir_inst *divisor, ir_inst *differs, ir_op add) {
    ir_inst *fixed = spv_op2(r, add, rem->type, rem, divisor);
    return ir_build_select(&r->b, differs, fixed, rem);
}

void spv_read_s_mod(reader *r) {
    ir_type t = int_result(r), bools = ir_with_elem(t, IR_I1);
    ir_inst *x = spv_arg_of(r, 0, t), *y = spv_arg_of(r, 1, t);
    ir_inst *rem = op2(r, IR_OP_srem, x, y), *zero = splat(r, x, 0);
    ir_inst *signs = spv_op2(r, IR_OP_slt, bools, op2(r, IR_OP_xor, rem, y), zero);
    ir_inst *nonzero = spv_op2(r, IR_OP_ne, bools, rem, zero);
    spv_define(r, fix_sign(r, rem, y, op2(r, IR_OP_and, signs, nonzero), IR_OP_add));
}

void spv_read_f_mod(reader *r) {
    ir_type t = spv_value_type(r, r->in.type)->value;
    if (!ir_is_float(t)) spv_bad_type(r, 0, "a float");
    ir_type bools = ir_with_elem(t, IR_I1);
    ir_inst *x = spv_arg_of(r, 0, t), *y = spv_arg_of(r, 1, t);
    ir_inst *rem = op2(r, IR_OP_frem, x, y), *zero = splat(r, x, 0);
    ir_inst *sign_rem = spv_op1(r, IR_OP_signbit, bools, rem);
    ir_inst *sign_y = spv_op1(r, IR_OP_signbit, bools, y);
    ir_inst *signs = spv_op2(r, IR_OP_xor, bools, sign_rem, sign_y);
    ir_inst *nonzero = spv_op2(r, IR_OP_fone, bools, rem, zero);
    spv_define(r, fix_sign(r, rem, y, op2(r, IR_OP_and, signs, nonzero), IR_OP_fadd));
}

void spv_read_vector_times_scalar(reader *r) {
    ir_type t = spv_value_type(r, r->in.type)->value;
    if (!ir_is_float(t)) spv_bad_type(r, 0, "a float vector");
    ir_inst *v = spv_arg_of(r, 0, t), *s = spv_arg_of(r, 1, ir_elem(t));
    s = ir_build_splat(&r->b, s, ir_lanes(t));
    spv_define(r, spv_emit(r, IR_OP_fmul, t, 2, (ir_inst *[]){v, s}));
}

/* ----------------------------------------------------------------------------------- bit fields */

void spv_read_bit_count(reader *r) {
    ir_inst *x = spv_arg(r, 0);
    ir_type t = int_result(r);
    if (!ir_is_int(x->type) || ir_is_bool(x->type) || ir_lanes(x->type) != ir_lanes(t))
        spv_bad_type(r, 0, "integers, as many as in the result");
    spv_define(r, spv_to_int(r, spv_op1(r, IR_OP_popcount, x->type, x), t, false));
}

/* Operand k, one integer, in every lane of t. */
static ir_inst *spread(reader *r, uint32_t k, ir_type t) {
    ir_inst *v = spv_to_int(r, spv_arg_int(r, k), ir_elem(t), false);
    return ir_build_splat(&r->b, v, ir_lanes(t));
}

void spv_read_bit_field_insert(reader *r) {
    ir_type t = int_result(r);
    ir_inst *base = spv_arg_low(r, 0, r->in.type), *field = spv_arg_low(r, 1, r->in.type);
    ir_inst *offset = spread(r, 2, t), *count = spread(r, 3, t), *one = splat(r, base, 1);
    ir_inst *low = op2(r, IR_OP_sub, op2(r, IR_OP_shl, one, count), one);
    ir_inst *mask = op2(r, IR_OP_shl, low, offset);
    ir_inst *keep = op2(r, IR_OP_and, base, op2(r, IR_OP_xor, mask, splat(r, base, UINT64_MAX)));
    ir_inst *put = op2(r, IR_OP_and, op2(r, IR_OP_shl, field, offset), mask);
    spv_define(r, op2(r, IR_OP_or, keep, put));
}

/* Shifts left until the field's top bit is the word's, then right until its lowest bit is; an empty
 * field is 0. */
void spv_read_bit_field_extract(reader *r) {
    ir_type t = int_result(r);
    bool is_signed = r->in.opcode == SPV_OP_BitFieldSExtract;
    ir_inst *base = spv_arg_of(r, 0, t), *offset = spread(r, 1, t), *count = spread(r, 2, t);
    ir_inst *right = op2(r, IR_OP_sub, splat(r, base, ir_bits(r->m, t)), count);
    ir_inst *up = op2(r, IR_OP_shl, base, op2(r, IR_OP_sub, right, offset));
    ir_inst *v = op2(r, is_signed ? IR_OP_ashr : IR_OP_lshr, up, right);
    ir_inst *zero = splat(r, base, 0);
    ir_inst *empty = spv_op2(r, IR_OP_eq, ir_with_elem(t, IR_I1), count, zero);
    spv_define(r, ir_build_select(&r->b, empty, zero, v));
}

/* ----------------------------------------------------------------------- results of two members */

/* Checks that the result is a struct of two integers like the operands. */
static void take_pair(reader *r, ir_inst **x, ir_inst **y) {
    const spv_type *t = spv_value_type(r, r->in.type);
    if (t->form != T_STRUCT || t->count != 2 || t->leaves != 2 ||
        !spv_same_type(t->member[0], t->member[1]))
        spv_fail(r, "%s: the result is not a struct of two equal members", spv_op_name(r));
    ir_type elem = t->member[0]->value;
    if (!ir_is_int(elem) || ir_is_bool(elem)) spv_bad_type(r, 0, "an integer");
    if (t->member[0]->odd) spv_refuse_inst(r, "odd integer width");
    *x = spv_arg_of(r, 0, elem);
    *y = spv_arg_of(r, 1, elem);
}

static void define_pair(reader *r, ir_inst *first, ir_inst *second) {
    spv_parts *p = spv_parts_new(r, r->in.type);
    p->part[0] = first;
    p->part[1] = second;
    spv_define_parts(r, p);
}

static ir_inst *is_less(reader *r, ir_inst *x, ir_inst *y) {
    ir_inst *less = spv_op2(r, IR_OP_ult, ir_with_elem(x->type, IR_I1), x, y);
    return spv_op1(r, IR_OP_zext, x->type, less);
}

void spv_read_add_carry(reader *r) {
    ir_inst *x, *y;
    take_pair(r, &x, &y);
    ir_inst *sum = op2(r, IR_OP_add, x, y);
    define_pair(r, sum, is_less(r, sum, x));
}

void spv_read_sub_borrow(reader *r) {
    ir_inst *x, *y;
    take_pair(r, &x, &y);
    ir_inst *difference = op2(r, IR_OP_sub, x, y);
    define_pair(r, difference, is_less(r, x, y));
}

void spv_read_mul_extended(reader *r) {
    ir_inst *x, *y;
    bool is_signed = r->in.opcode == SPV_OP_SMulExtended;
    take_pair(r, &x, &y);
    ir_inst *low = op2(r, IR_OP_mul, x, y);
    define_pair(r, low, op2(r, is_signed ? IR_OP_smulh : IR_OP_umulh, x, y));
}

/* --------------------------------------------------------------------------------- dot products */

typedef struct {
    bool signed_x, signed_y, saturate;
} dot_kind;

static dot_kind dot_kind_of(uint32_t opcode) {
    bool s = opcode == SPV_OP_SDot || opcode == SPV_OP_SDotAccSat;
    bool mixed = opcode == SPV_OP_SUDot || opcode == SPV_OP_SUDotAccSat;
    return (dot_kind){.signed_x = s || mixed,
                      .signed_y = s,
                      .saturate = opcode >= SPV_OP_SDotAccSat && opcode <= SPV_OP_SUDotAccSat};
}

/* Operand k as a vector of integers; four bytes may be packed into an i32. */
static ir_inst *dot_operand(reader *r, uint32_t k, bool packed) {
    ir_inst *v = spv_arg(r, k);
    if (packed && v->type == IR_I32) return spv_op1(r, IR_OP_bitcast, ir_vector(IR_I8, 4), v);
    if (!ir_is_int(v->type) || ir_is_bool(v->type)) spv_bad_type(r, k, "a vector of integers");
    return v;
}

static ir_inst *sum_of_products(reader *r, ir_inst *x, ir_inst *y, dot_kind kind, ir_type t) {
    ir_inst *sum = NULL;
    spv_charge(r, 2 * ir_lanes(x->type));
    ir_type wide = ir_with_elem(x->type, t);
    x = spv_to_int(r, x, wide, kind.signed_x);
    y = spv_to_int(r, y, wide, kind.signed_y);
    ir_inst *product = op2(r, IR_OP_mul, x, y);
    for (unsigned i = 0; i < ir_lanes(wide); i++) {
        ir_inst *lane = ir_is_vector(wide) ? ir_build_extract(&r->b, product, i) : product;
        sum = sum ? op2(r, IR_OP_add, sum, lane) : lane;
    }
    return sum;
}

/* x within the range of integers of `bits` bits, then cut to t. */
static ir_inst *clamp_to(reader *r, ir_inst *x, ir_type t, bool is_signed) {
    unsigned bits = ir_bits(r->m, t);
    uint64_t high = is_signed ? ir_zext(UINT64_MAX, bits - 1) : ir_zext(UINT64_MAX, bits);
    x = op2(r, is_signed ? IR_OP_smin : IR_OP_umin, x, splat(r, x, high));
    if (is_signed) x = op2(r, IR_OP_smax, x, splat(r, x, ~high));
    return spv_to_int(r, x, t, is_signed);
}

/* Does t have every sum of that many products? */
static bool holds_sums(const reader *r, ir_type t, const ir_inst *x) {
    unsigned bits = 2 * ir_bits(r->m, x->type);
    for (unsigned n = 1; n < ir_lanes(x->type); n *= 2) bits++;
    return bits <= ir_bits(r->m, t);
}

static ir_inst *dot_and_add(reader *r, ir_inst *x, ir_inst *y, dot_kind kind, ir_type t) {
    ir_inst *acc = spv_arg_of(r, 2, t);
    bool holds = t == IR_I64 || holds_sums(r, t, x);
    ir_inst *sum = sum_of_products(r, x, y, kind, holds ? t : IR_I64);
    if (holds) return op2(r, kind.signed_x ? IR_OP_saddsat : IR_OP_uaddsat, sum, acc);
    acc = spv_to_int(r, acc, IR_I64, kind.signed_x);
    return clamp_to(r, op2(r, IR_OP_add, sum, acc), t, kind.signed_x);
}

/* clang-22 adds the format of packed operands, which integer products have. */
void spv_read_dot(reader *r) {
    if (r->in.n > 2) spv_warn(r, WARN_EXTRA_WORDS);
    r->in.n = 2;
    spv_read_plain(r);
}

void spv_read_int_dot(reader *r) {
    dot_kind kind = dot_kind_of(r->in.opcode);
    uint32_t format = kind.saturate ? 3 : 2;
    bool packed = r->in.n > format;
    if (r->in.n > format + 1) spv_warn(r, WARN_EXTRA_WORDS);
    if (packed && r->in.arg[format] != SpvPackedVectorFormatPackedVectorFormat4x8Bit)
        spv_refuse_inst(r, "packed vector format");
    ir_type t = int_result(r);
    ir_inst *x = dot_operand(r, 0, packed), *y = dot_operand(r, 1, packed);
    if (x->type != y->type) spv_bad_type(r, 1, spv_ir_type_name(r, x->type));
    if (ir_is_vector(t) || ir_bits(r->m, t) < ir_bits(r->m, x->type))
        spv_fail(r, "%s: the result has type %s", spv_op_name(r), spv_type_name(r, r->in.type));
    spv_define(r,
               kind.saturate ? dot_and_add(r, x, y, kind, t) : sum_of_products(r, x, y, kind, t));
}
