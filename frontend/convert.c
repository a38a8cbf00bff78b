/* convert.c — conversions between integers, floats and pointers.
 *
 * Rounding and saturation come from decorations.  Saturating integer conversions are clamps; those
 * from floats are a property of the IR op.  Conversions between equal types, which some producers
 * write, change nothing.
 */
#include "frontend/reader.h"

/* The operand and the result type of a conversion from one class to another, lane by lane. */
static ir_inst *take(reader *r, bool (*from)(ir_type), const char *from_name, bool (*to)(ir_type)) {
    const spv_type *t = spv_value_type(r, r->in.type);
    ir_inst *x = spv_arg(r, 0);
    if (!from(x->type)) spv_bad_type(r, 0, from_name);
    if (!to(t->value) || ir_lanes(x->type) != ir_lanes(t->value))
        spv_fail(r, "%s: no conversion from %s to %s", spv_op_name(r),
                 spv_type_name(r, spv_arg_type(r, 0)), spv_type_name(r, t));
    return x;
}

static ir_imm rounding(reader *r, ir_round otherwise, bool may_saturate) {
    const spv_decor *d = spv_decor_of(r, r->in.id);
    ir_imm imm = {.round = {.mode = (uint8_t)otherwise}};
    if (d->has & D_ROUNDING) {
        if (d->rounding > IR_RTN)
            spv_fail(r, "%s: there is no rounding mode %u", spv_op_name(r), d->rounding);
        imm.round.mode = (uint8_t)d->rounding;
    }
    imm.round.sat = may_saturate && (d->has & D_SATURATED);
    return imm;
}

/* ---------------------------------------------------------------------------- to and from float */

void spv_read_convert_f_to_i(reader *r) {
    const spv_type *t = r->in.type;
    ir_inst *x = take(r, ir_is_float, "a float", spv_is_integer);
    ir_op op = r->in.opcode == SPV_OP_ConvertFToU ? IR_OP_fptoui : IR_OP_fptosi;
    ir_imm imm = rounding(r, IR_RTZ, true);
    if (t->odd && imm.round.sat) spv_refuse_inst(r, "odd integer width");
    ir_inst *v = ir_build(&r->b, op, t->value, ir_with_imm(imm), IR_ARGS(x));
    spv_define(r, spv_mask_odd(r, t, v));
}

void spv_read_convert_i_to_f(reader *r) {
    bool is_signed = r->in.opcode == SPV_OP_ConvertSToF;
    ir_inst *x = take(r, spv_is_integer, "an integer", ir_is_float);
    if (is_signed) x = spv_widen_odd(r, spv_arg_type(r, 0), x);
    ir_op op = is_signed ? IR_OP_sitofp : IR_OP_uitofp;
    spv_define(r, ir_build(&r->b, op, r->in.type->value, ir_with_imm(rounding(r, IR_RTE, false)),
                           IR_ARGS(x)));
}

void spv_read_f_convert(reader *r) {
    ir_inst *x = take(r, ir_is_float, "a float", ir_is_float);
    ir_type t = r->in.type->value;
    if (x->type == t) {
        spv_warn(r, WARN_NO_EFFECT_CONVERT);
        spv_define(r, x);
        return;
    }
    spv_define(
        r, ir_build(&r->b, IR_OP_fpcast, t, ir_with_imm(rounding(r, IR_RTE, false)), IR_ARGS(x)));
}

/* A bf16 that is kept in an i16. */
void spv_read_convert_f_to_bf16(reader *r) {
    ir_inst *x = spv_arg(r, 0);
    if (ir_elem(x->type) != IR_F32) spv_bad_type(r, 0, "f32");
    x = spv_op1(r, IR_OP_fpcast, ir_with_elem(x->type, IR_BF16), x);
    spv_define_checked(r, spv_op1(r, IR_OP_bitcast, ir_with_elem(x->type, IR_I16), x));
}

void spv_read_convert_bf16_to_f(reader *r) {
    ir_inst *x = spv_arg(r, 0);
    if (ir_elem(x->type) != IR_I16) spv_bad_type(r, 0, "i16");
    x = spv_op1(r, IR_OP_bitcast, ir_with_elem(x->type, IR_BF16), x);
    spv_define_checked(r, spv_op1(r, IR_OP_fpcast, ir_with_elem(x->type, IR_F32), x));
}

/* --------------------------------------------------------------------------- integer to integer */

/* x clamped to [low, high] of the result type, where x can be outside. */
static ir_inst *clamp(reader *r, ir_inst *x, bool from_signed, bool to_signed, unsigned bits) {
    unsigned have = ir_bits(r->m, ir_elem(x->type));
    uint64_t high = ir_zext(UINT64_MAX, to_signed ? bits - 1 : bits);
    uint64_t most = ir_zext(UINT64_MAX, from_signed ? have - 1 : have);
    if (from_signed && (!to_signed || bits < have)) {
        uint64_t low = to_signed ? ~high : 0;
        x = spv_op2(r, IR_OP_smax, x->type, x, spv_splat_const(r, x->type, low));
    }
    if (high >= most) return x;
    ir_op min = from_signed ? IR_OP_smin : IR_OP_umin;
    return spv_op2(r, min, x->type, x, spv_splat_const(r, x->type, high));
}

static void saturate(reader *r, bool from_signed, bool to_signed) {
    ir_type t = r->in.type->value;
    ir_inst *x = take(r, spv_is_integer, "an integer", spv_is_integer);
    if (r->in.type->odd || spv_arg_type(r, 0)->odd) spv_refuse_inst(r, "odd integer width");
    x = clamp(r, x, from_signed, to_signed, ir_bits(r->m, ir_elem(t)));
    spv_define(r, spv_to_int(r, x, t, from_signed));
}

void spv_read_int_convert(reader *r) {
    const spv_type *t = r->in.type;
    bool is_signed = r->in.opcode == SPV_OP_SConvert;
    ir_inst *x = take(r, spv_is_integer, "an integer", spv_is_integer);
    const spv_type *from = spv_arg_type(r, 0);
    if (spv_has(r, r->in.id, D_SATURATED)) {
        saturate(r, is_signed, is_signed);
        return;
    }
    if (from->bits == t->bits) spv_warn(r, WARN_NO_EFFECT_CONVERT);
    if (is_signed) x = spv_widen_odd(r, from, x);
    spv_define(r, spv_mask_odd(r, t, spv_to_int(r, x, t->value, is_signed)));
}

void spv_read_sat_convert(reader *r) {
    bool from_signed = r->in.opcode == SPV_OP_SatConvertSToU;
    saturate(r, from_signed, !from_signed);
}

/* ------------------------------------------------------------------------------------- pointers */

static bool is_one_int(ir_type t) { return spv_is_integer(t) && !ir_is_vector(t); }

static bool is_pointer(ir_type t) { return ir_is_ptr(t); }

void spv_read_convert_ptr_to_u(reader *r) {
    ir_inst *x = take(r, is_pointer, "a pointer", is_one_int);
    ir_inst *v = spv_op1(r, IR_OP_ptrtoint, r->in.type->value, x);
    spv_define(r, spv_mask_odd(r, r->in.type, v));
}

void spv_read_convert_u_to_ptr(reader *r) {
    ir_inst *x = take(r, is_one_int, "an integer", is_pointer);
    spv_define(r, spv_op1(r, IR_OP_inttoptr, r->in.type->value, x));
}

static bool is_generic(ir_type t) { return ir_space_of(t) == IR_GENERIC; }

/* The IR casts to and from generic only. */
ir_inst *spv_cast_space(ir_builder *b, ir_inst *p, ir_type t) {
    if (p->type == t) return p;
    if (!is_generic(p->type) && !is_generic(t))
        p = ir_build1(b, IR_OP_ptrcast, ir_ptr(IR_GENERIC), p);
    return ir_build1(b, IR_OP_ptrcast, t, p);
}

void spv_read_ptr_cast(reader *r) {
    ir_inst *p = spv_arg_pointer(r, 0);
    ir_type t = spv_value_type(r, r->in.type)->value;
    if (!ir_is_ptr(t)) spv_fail(r, "%s: the result is not a pointer", spv_op_name(r));
    bool to = r->in.opcode == SPV_OP_PtrCastToGeneric;
    if (to && !is_generic(t)) spv_fail(r, "%s: the result is not generic", spv_op_name(r));
    if (!to &&
        (r->in.opcode == SPV_OP_GenericCastToPtr ||
         r->in.opcode == SPV_OP_GenericCastToPtrExplicit) &&
        !is_generic(p->type))
        spv_bad_type(r, 0, "a generic pointer");
    if (r->in.opcode == SPV_OP_GenericCastToPtrExplicit && p->type != t)
        spv_define(r, spv_op1(r, IR_OP_ptrcast_to, t, p));
    else
        spv_define(r, spv_cast_space(&r->b, p, t));
}

/* -------------------------------------------------------------------------------------- bitcast */

static uint64_t total_bits(reader *r, ir_type t) {
    return (uint64_t)ir_bits(r->m, ir_elem(t)) * ir_lanes(t);
}

/* A number as another type of as many bits. */
static ir_inst *cast_bits(reader *r, ir_inst *x, ir_type t) {
    return x->type == t ? x : spv_op1(r, IR_OP_bitcast, t, x);
}

/* A pointer into a built-in variable stays one. */
static bool keep_builtin(reader *r) {
    const spv_id *from = spv_find(r, r->in.arg[0]);
    spv_id *to = spv_find(r, r->in.id);
    bool whole = from->kind == ID_VARIABLE && from->var->is_builtin;
    if (r->in.type->form != T_POINTER || (from->kind != ID_BUILTIN && !whole)) return false;
    spv_pointer *p = ir_new(&r->scratch, spv_pointer);
    *p = whole ? (spv_pointer){.var = from->var} : *from->pointer;
    to->kind = ID_BUILTIN;
    to->pointer = p;
    return true;
}

/* ---- between vectors of bool and integers: component i is bit i */

/* 1 << i in lane i. */
static ir_inst *bit_of_lane(reader *r, ir_type t, unsigned lanes) {
    uint64_t bit[IR_MAX_LANES];
    for (unsigned i = 0; i < lanes; i++) bit[i] = UINT64_C(1) << i;
    ir_type wide = ir_vector(t, lanes);
    return lanes == 1 ? ir_const(r->b.f, t, 1) : ir_const_lanes(r->b.f, wide, bit);
}

static ir_inst *pack_bools(reader *r, ir_inst *x, ir_type t) {
    unsigned lanes = ir_lanes(x->type);
    ir_type wide = ir_vector(t, lanes);
    ir_inst *bits = bit_of_lane(r, t, lanes), *zero = spv_splat_const(r, wide, 0), *sum = NULL;
    ir_inst *taken = ir_build_select(&r->b, x, bits, zero);
    spv_charge(r, lanes);
    for (unsigned i = 0; i < lanes; i++) {
        ir_inst *lane = lanes == 1 ? taken : ir_build_extract(&r->b, taken, i);
        sum = sum ? spv_op2(r, IR_OP_or, t, sum, lane) : lane;
    }
    return sum;
}

static ir_inst *unpack_bools(reader *r, ir_inst *x, ir_type t) {
    unsigned lanes = ir_lanes(t);
    ir_inst *all = ir_build_splat(&r->b, x, lanes), *bits = bit_of_lane(r, x->type, lanes);
    ir_inst *taken = spv_op2(r, IR_OP_and, all->type, all, bits);
    return spv_op2(r, IR_OP_ne, t, taken, spv_splat_const(r, all->type, 0));
}

/* The integer that holds as many bits as t, which is a number; IR_VOID: there is none. */
static ir_type carrier(reader *r, const spv_type *t) {
    uint64_t bits = total_bits(r, t->value);
    if (t->form == T_INT) return t->value;
    if (t->odd || ir_is_opaque(t->value) || ir_is_ptr(t->value)) return IR_VOID;
    return bits == 8    ? IR_I8
           : bits == 16 ? IR_I16
           : bits == 32 ? IR_I32
           : bits == 64 ? IR_I64
                        : IR_VOID;
}

/* From bools to a number or back, when both have equally many bits. */
static bool cast_bools(reader *r, const spv_type *from, const spv_type *to) {
    bool packs = ir_is_bool(from->value);
    const spv_type *number = packs ? to : from, *bools = packs ? from : to;
    if (ir_is_bool(number->value) || !ir_is_bool(bools->value)) return false;
    ir_type t = carrier(r, number);
    uint64_t bits = number->form == T_INT ? number->bits : total_bits(r, number->value);
    if (t == IR_VOID || bits != ir_lanes(bools->value)) return false;
    if (packs)
        spv_define(r, cast_bits(r, pack_bools(r, spv_arg(r, 0), t), to->value));
    else
        spv_define(r, unpack_bools(r, cast_bits(r, spv_arg(r, 0), t), to->value));
    return true;
}

void spv_read_bitcast(reader *r) {
    const spv_type *to = spv_value_type(r, r->in.type);
    ir_type t = to->value, whole = ir_size_type(r->m);
    if (keep_builtin(r)) return;
    ir_inst *x = spv_arg(r, 0);
    if (cast_bools(r, spv_arg_type(r, 0), to)) return;
    ir_type from = x->type;
    bool fits = !ir_is_opaque(t) && !ir_is_opaque(from) && t != IR_VOID && !ir_is_bool(t) &&
                !ir_is_bool(from) && total_bits(r, t) == total_bits(r, from);
    if (ir_is_ptr(from) && ir_is_ptr(t)) fits = from == t;
    if (!fits || ((to->odd || spv_arg_type(r, 0)->odd) && to->bits != spv_arg_type(r, 0)->bits))
        spv_fail(r, "OpBitcast: no cast from %s to %s", spv_type_name(r, spv_arg_type(r, 0)),
                 spv_type_name(r, to));
    if (ir_is_ptr(from) && !ir_is_ptr(t)) x = spv_op1(r, IR_OP_ptrtoint, whole, x);
    if (!ir_is_ptr(from) && ir_is_ptr(t)) x = spv_op1(r, IR_OP_inttoptr, t, cast_bits(r, x, whole));
    spv_define(r, cast_bits(r, x, t));
}
