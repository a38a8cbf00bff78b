/* opencl_std.c — extended instructions: which set, and those of OpenCL.std that are not one IR op.
 *
 * Functions with a second result through a pointer are a pure op for each result and a store.
 */
#include "frontend/reader.h"

static ir_inst *op2(reader *r, ir_op op, ir_inst *x, ir_inst *y) {
    return spv_op2(r, op, x->type, x, y);
}

/* ------------------------------------------------------------------------------------- dispatch */

/* Debug information; sources are kept for the line table. */
static void read_debug(reader *r) {
    enum { DEBUG_SOURCE = 35 };
    bool source = !r->f && r->in.arg[1] == DEBUG_SOURCE && r->in.n > 2;
    const char *text = source ? spv_find(r, r->in.arg[2])->text : NULL;
    bool named = source && spv_find(r, r->in.arg[2])->kind == ID_STRING;
    spv_id *e = r->f ? spv_find(r, r->in.id) : spv_new_id(r, ID_OTHER);
    e->kind = ID_OTHER;
    e->text = named ? text : NULL;
}

static void read_opencl(reader *r) {
    const spv_ext_row *row = spv_ext_row_of(r->in.arg[1]);
    if (!r->f) spv_fail(r, "OpExtInst of OpenCL.std is outside a function");
    if (!row) spv_fail(r, "OpenCL.std has no instruction %u", r->in.arg[1]);
    r->in.ext = row;
    r->in.arg += 2;
    r->in.n -= 2;
    if (r->in.n < row->min || r->in.n > row->max)
        spv_fail(r, "%s takes %u operands, not %u", spv_op_name(r), row->min, r->in.n);
    row->read(r);
}

void spv_read_ext_inst(reader *r) {
    const spv_id *set = spv_find(r, r->in.arg[0]);
    if (set->kind != ID_SET) spv_fail(r, "OpExtInst: %%%u is not an instruction set", r->in.arg[0]);
    if (set->set == SET_OPENCL)
        read_opencl(r);
    else if (set->set != SET_LACKING || !r->f)
        read_debug(r);
    else
        spv_refuse(r, "the extended instruction set %s is not supported", set->text);
}

/* ---------------------------------------------------------------- functions of the same meaning */

void spv_ext_alias(reader *r) {
    switch (r->in.ext->number) {
    case SPV_STD_fmod: spv_plain(r, IR_OP_frem); break;
    case SPV_STD_fmax_common: spv_plain(r, IR_OP_fmax); break;
    default: spv_plain(r, IR_OP_fmin);
    }
}

/* -------------------------------------------------------------------- results through a pointer */

static ir_inst *float_arg(reader *r, uint32_t k) {
    ir_inst *x = spv_arg_of(r, k, spv_value_type(r, r->in.type)->value);
    if (!ir_is_float(x->type)) spv_bad_type(r, k, "a float");
    return x;
}

static void store_at(reader *r, ir_inst *v, uint32_t k) {
    const spv_type *p = spv_arg_type(r, k);
    ir_inst *to = spv_arg_pointer(r, k);
    const spv_type *pointee = spv_pointee(r, p);
    if (pointee && pointee->memory != v->type) spv_warn(r, WARN_POINTEE);
    ir_build_store(&r->b, v, to, (unsigned)ir_alignof(r->m, v->type), 0);
}

/* The result is `first` of operand 0; `second` goes to where operand 1 points. */
static void two_results(reader *r, ir_op first, ir_op second) {
    ir_inst *x = float_arg(r, 0);
    bool integer = ir_ops[second].rule == R_FLT_TO_I;
    ir_type t = integer ? ir_with_elem(x->type, IR_I32) : x->type;
    ir_inst *a = spv_emit(r, first, x->type, 1, &x), *b = spv_op1(r, second, t, x);
    store_at(r, b, 1);
    spv_define(r, a);
}

void spv_ext_fract(reader *r) { two_results(r, IR_OP_fract_part, IR_OP_floor); }

void spv_ext_frexp(reader *r) { two_results(r, IR_OP_frexp_m, IR_OP_frexp_e); }

void spv_ext_modf(reader *r) { two_results(r, IR_OP_fmodf_part, IR_OP_trunc_f); }

void spv_ext_lgamma_r(reader *r) { two_results(r, IR_OP_lgamma, IR_OP_lgamma_sign); }

void spv_ext_sincos(reader *r) { two_results(r, IR_OP_sin, IR_OP_cos); }

void spv_ext_remquo(reader *r) {
    ir_inst *x = float_arg(r, 0), *y = float_arg(r, 1);
    ir_inst *q = spv_op2(r, IR_OP_remquo_q, ir_with_elem(x->type, IR_I32), x, y);
    store_at(r, q, 2);
    spv_define(r, op2(r, IR_OP_remainder, x, y));
}

/* ------------------------------------------------------------------------------------- integers */

static ir_inst *int_arg(reader *r, uint32_t k) {
    ir_inst *x = spv_arg_of(r, k, spv_value_type(r, r->in.type)->value);
    if (!ir_is_int(x->type) || ir_is_bool(x->type)) spv_bad_type(r, k, "an integer");
    if (r->in.type->odd) spv_refuse_inst(r, "odd integer width");
    return x;
}

/* An operand whose high bits do not matter. */
static ir_inst *low_arg(reader *r, uint32_t k) {
    const spv_type *t = spv_value_type(r, r->in.type);
    if (!spv_is_integer(t->value)) spv_bad_type(r, k, "an integer");
    if (t->odd) spv_refuse_inst(r, "odd integer width");
    return spv_arg_low(r, k, t);
}

void spv_ext_clamp(reader *r) {
    bool is_signed = r->in.ext->number == SPV_STD_s_clamp;
    ir_inst *x = int_arg(r, 0), *low = int_arg(r, 1), *high = int_arg(r, 2);
    x = op2(r, is_signed ? IR_OP_smax : IR_OP_umax, x, low);
    spv_define(r, op2(r, is_signed ? IR_OP_smin : IR_OP_umin, x, high));
}

void spv_ext_mad_hi(reader *r) {
    bool is_signed = r->in.ext->number == SPV_STD_s_mad_hi;
    ir_inst *x = int_arg(r, 0), *y = int_arg(r, 1), *z = int_arg(r, 2);
    spv_define(r, op2(r, IR_OP_add, op2(r, is_signed ? IR_OP_smulh : IR_OP_umulh, x, y), z));
}

/* Defined for operands of 24 bits, where the full product has the same low bits. */
void spv_ext_mad24(reader *r) {
    ir_inst *x = low_arg(r, 0), *y = low_arg(r, 1), *v = op2(r, IR_OP_mul, x, y);
    spv_define(r, r->in.n > 2 ? op2(r, IR_OP_add, v, low_arg(r, 2)) : v);
}

void spv_ext_u_abs(reader *r) { spv_define(r, int_arg(r, 0)); }

void spv_ext_upsample(reader *r) {
    ir_inst *high = spv_arg(r, 0), *low = spv_arg_of(r, 1, high->type);
    ir_type t = spv_value_type(r, r->in.type)->value;
    unsigned bits = ir_bits(r->m, ir_elem(high->type));
    if (!ir_is_int(high->type) || !ir_is_int(t) || ir_bits(r->m, ir_elem(t)) != 2 * bits ||
        ir_lanes(t) != ir_lanes(high->type))
        spv_fail(r, "%s: no upsampling from %s to %s", spv_op_name(r),
                 spv_ir_type_name(r, high->type), spv_type_name(r, r->in.type));
    high = spv_op1(r, IR_OP_zext, t, high);
    high = op2(r, IR_OP_shl, high, spv_splat_const(r, t, bits));
    spv_define(r, op2(r, IR_OP_or, high, spv_op1(r, IR_OP_zext, t, low)));
}

/* ----------------------------------------------------------------------------------- relational */

static ir_type int_like(reader *r, ir_type t) {
    static const ir_kind kinds[] = {IR_I8, IR_I16, IR_I32, IR_I64};
    unsigned bits = ir_bits(r->m, ir_elem(t));
    return ir_with_elem(t, kinds[bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3]);
}

static ir_inst *as_bits(reader *r, ir_inst *x) {
    return ir_is_float(x->type) ? spv_op1(r, IR_OP_bitcast, int_like(r, x->type), x) : x;
}

/* a where a bit of c is 0, b where it is 1 */
void spv_ext_bitselect(reader *r) {
    ir_type t = spv_value_type(r, r->in.type)->value;
    ir_inst *x[3];
    if (!ir_is_int(t) && !ir_is_float(t)) spv_bad_type(r, 0, "a number");
    for (uint32_t k = 0; k < 3; k++) x[k] = as_bits(r, spv_arg_low(r, k, r->in.type));
    ir_inst *differ = op2(r, IR_OP_and, op2(r, IR_OP_xor, x[0], x[1]), x[2]);
    ir_inst *v = op2(r, IR_OP_xor, x[0], differ);
    spv_define(r, v->type == t ? v : spv_op1(r, IR_OP_bitcast, t, v));
}

/* Scalars: c is not 0.  Vectors: the top bit of each lane of c. */
void spv_ext_select(reader *r) {
    ir_type t = spv_value_type(r, r->in.type)->value;
    ir_inst *x = spv_arg_of(r, 0, t), *y = spv_arg_of(r, 1, t), *c = spv_arg(r, 2);
    if (!ir_is_int(c->type) || ir_lanes(c->type) != ir_lanes(t))
        spv_bad_type(r, 2, "integers, one for each component");
    if (!ir_is_bool(c->type))
        c = spv_op2(r, ir_is_vector(t) ? IR_OP_slt : IR_OP_ne, ir_with_elem(c->type, IR_I1), c,
                    spv_splat_const(r, c->type, 0));
    spv_define(r, ir_build_select(&r->b, c, y, x));
}

/* ------------------------------------------------------------------------------------- shuffles */

enum { WIDEST = 16 }; /* SPIR-V has no longer vectors */

/* The lane that the low bits of a mask element name in `from`; undef where there is none. */
static ir_inst *pick(reader *r, ir_inst *from, ir_inst *index, unsigned reach) {
    ir_inst *i = op2(r, IR_OP_and, index, ir_const(r->b.f, index->type, reach - 1));
    return spv_lane(r, from, spv_to_int(r, i, IR_I32, false));
}

/* The same of two vectors: bit `reach` of the mask element chooses one. */
static ir_inst *pick_of_two(reader *r, ir_inst *x, ir_inst *y, ir_inst *index, unsigned reach) {
    ir_inst *bit = op2(r, IR_OP_and, index, ir_const(r->b.f, index->type, reach));
    ir_inst *second = spv_op2(r, IR_OP_ne, IR_I1, bit, ir_const(r->b.f, bit->type, 0));
    ir_inst *a = pick(r, x, index, reach), *b = pick(r, y, index, reach);
    return ir_build_select(&r->b, second, b, a);
}

static ir_inst *side_by_side(reader *r, ir_inst *x, ir_inst *y) {
    uint8_t mask[IR_MAX_LANES];
    unsigned n = 2 * ir_lanes(x->type);
    for (unsigned i = 0; i < n; i++) mask[i] = (uint8_t)i;
    return ir_build_shuffle(&r->b, x, y, n, mask);
}

void spv_ext_shuffle(reader *r) {
    uint32_t last = r->in.n - 1;
    ir_inst *x = spv_arg(r, 0), *mask = spv_arg(r, last), *lane[IR_MAX_LANES];
    ir_inst *y = last == 2 ? spv_arg_of(r, 1, x->type) : NULL;
    ir_type t = spv_value_type(r, r->in.type)->value;
    if (!ir_is_vector(x->type)) spv_bad_type(r, 0, "a vector");
    if (!ir_is_vector(t) || ir_elem(t) != ir_elem(x->type))
        spv_fail(r, "%s: the result has type %s", spv_op_name(r), spv_type_name(r, r->in.type));
    if (!ir_is_int(mask->type) || ir_lanes(mask->type) != ir_lanes(t))
        spv_bad_type(r, last, "integers, one for each component of the result");
    if (y && ir_lanes(x->type) <= WIDEST / 2) {
        x = side_by_side(r, x, y);
        y = NULL;
    }
    unsigned reach = 1;
    spv_charge(r, 6 * ir_lanes(t));
    while (reach < ir_lanes(x->type)) reach *= 2;
    for (unsigned i = 0; i < ir_lanes(t); i++) {
        ir_inst *index = ir_build_extract(&r->b, mask, i);
        lane[i] = y ? pick_of_two(r, x, y, index, reach) : pick(r, x, index, reach);
    }
    spv_define(r, ir_build_vec(&r->b, t, lane));
}

void spv_ext_prefetch(reader *r) { spv_arg_pointer(r, 0); }
