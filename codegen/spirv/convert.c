/* convert.c — conversions, comparisons and selections: where bool, pointers, rounding modes and
 * saturation make SPIR-V differ from the IR.
 */
#include "codegen/spirv/spirv.h"
#include "ir/eval.h"

static void put(sw_func *fn, const ir_inst *i, SpvOp op, uint32_t operand) {
    sw_set_value(fn, i, sw_emit_result(fn, op, sw_type(fn->w, i->type), SW_LIST(operand)));
}

/* ----------------------------------------------------------------------------- bool and numbers */

static uint32_t choose(sw_func *fn, const ir_inst *i, uint64_t yes) {
    uint32_t a = sw_splat(fn->w, i->type, yes), b = sw_splat(fn->w, i->type, 0);
    return sw_emit_result(fn, SpvOpSelect, sw_type(fn->w, i->type),
                          SW_LIST(sw_arg(fn, i, 0), a, b));
}

static uint64_t value_of_true(const ir_inst *i) {
    ir_kind k = ir_kind_of(ir_elem(i->type));
    if (i->op == IR_OP_zext) return 1;
    if (i->op == IR_OP_sext) return UINT64_MAX;
    return ir_fp_from_double(k, i->op == IR_OP_uitofp ? 1.0 : -1.0);
}

static void to_bool(sw_func *fn, const ir_inst *i) {
    ir_type t = ir_arg(i, 0)->type;
    uint32_t one = sw_splat(fn->w, t, 1), zero = sw_splat(fn->w, t, 0);
    if (i->op != IR_OP_trunc)
        sw_refuse(fn, "%s to bool cannot be written as SPIR-V", ir_info(i)->name);
    uint32_t bit =
        sw_emit_result(fn, SpvOpBitwiseAnd, sw_type(fn->w, t), SW_LIST(sw_arg(fn, i, 0), one));
    sw_set_value(fn, i,
                 sw_emit_result(fn, SpvOpINotEqual, sw_type(fn->w, i->type), SW_LIST(bit, zero)));
}

/* -------------------------------------------------------------------------------------- numbers */

static SpvOp conversion_op(ir_op op) {
    switch (op) {
    case IR_OP_sext: return SpvOpSConvert;
    case IR_OP_fptoui: return SpvOpConvertFToU;
    case IR_OP_fptosi: return SpvOpConvertFToS;
    case IR_OP_uitofp: return SpvOpConvertUToF;
    case IR_OP_sitofp: return SpvOpConvertSToF;
    case IR_OP_fpcast: return SpvOpFConvert;
    default: return SpvOpUConvert;
    }
}

/* Conversions to integers round towards zero unless they say otherwise, others to nearest even. */
static void decorate_rounding(sw_func *fn, const ir_inst *i, uint32_t id) {
    ir_rule rule = ir_info(i)->rule;
    uint32_t mode = i->imm.round.mode;
    if (rule != R_FTOI && rule != R_ITOF && rule != R_FTOF) return;
    if (mode != (rule == R_FTOI ? IR_RTZ : IR_RTE))
        sw_decorate(fn->w, id, SpvDecorationFPRoundingMode, SW_LIST(mode));
    if (i->imm.round.sat) sw_decorate0(fn->w, id, SpvDecorationSaturatedConversion);
}

static void convert_number(sw_func *fn, const ir_inst *i) {
    ir_type from = ir_arg(i, 0)->type;
    if (fn->w->stores_halves && ir_elem(from) == IR_F16) {
        sw_emit_half_widening(fn, i);
    } else if (ir_is_bool(i->type)) {
        to_bool(fn, i);
    } else if (ir_is_bool(from)) {
        sw_set_value(fn, i, choose(fn, i, value_of_true(i)));
    } else {
        put(fn, i, conversion_op((ir_op)i->op), sw_arg(fn, i, 0));
        decorate_rounding(fn, i, fn->id[i->id]);
    }
}

/* ------------------------------------------------------------------------------------- pointers */

static uint32_t result_pointer_type(sw_func *fn, const ir_inst *i) {
    return sw_pointer_type(fn->w, ir_space_of(i->type), sw_pointee(fn->info, i));
}

static void cast_space(sw_func *fn, const ir_inst *i) {
    bool up = ir_space_of(i->type) == IR_GENERIC;
    ir_space other = ir_space_of(up ? ir_arg(i, 0)->type : i->type);
    uint32_t p = sw_pointer(fn, ir_arg(i, 0), sw_pointee(fn->info, i));
    uint32_t type = result_pointer_type(fn, i);
    if (other == IR_CONST || (!up && ir_space_of(ir_arg(i, 0)->type) != IR_GENERIC))
        sw_refuse(fn, "SPIR-V casts only between generic and private, local or global");
    if (i->op == IR_OP_ptrcast_to) {
        uint32_t storage = (uint32_t)sw_storage_class(fn->w, other);
        sw_set_value(fn, i,
                     sw_emit_result(fn, SpvOpGenericCastToPtrExplicit, type, SW_LIST(p, storage)));
        return;
    }
    SpvOp op = up ? SpvOpPtrCastToGeneric : SpvOpGenericCastToPtr;
    sw_set_value(fn, i, sw_emit_result(fn, op, type, SW_LIST(p)));
}

static void int_to_pointer(sw_func *fn, const ir_inst *i) {
    sw_set_value(fn, i,
                 sw_emit_result(fn, SpvOpConvertUToPtr, result_pointer_type(fn, i),
                                SW_LIST(sw_arg(fn, i, 0))));
}

/* A pointer with the type it has; null and undef have none, so they point to bytes. */
static uint32_t any_pointer(sw_func *fn, ir_inst *v) {
    ir_type pointee = sw_pointee(fn->info, v);
    return sw_pointer(fn, v, pointee == IR_VOID ? IR_I8 : pointee);
}

void sw_emit_conversion(sw_func *fn, const ir_inst *i) {
    switch ((ir_op)i->op) {
    case IR_OP_ptrtoint: put(fn, i, SpvOpConvertPtrToU, any_pointer(fn, ir_arg(i, 0))); break;
    case IR_OP_inttoptr: int_to_pointer(fn, i); break;
    case IR_OP_ptrcast:
    case IR_OP_ptrcast_to: cast_space(fn, i); break;
    case IR_OP_ptr_space:
        put(fn, i, SpvOpGenericPtrMemSemantics, any_pointer(fn, ir_arg(i, 0)));
        break;
    default: convert_number(fn, i);
    }
}

/* ---------------------------------------------------------------------- comparisons, selections */

static SpvOp compare_op(ir_op op) {
    switch (op) {
    case IR_OP_eq: return SpvOpIEqual;
    case IR_OP_ne: return SpvOpINotEqual;
    case IR_OP_ult: return SpvOpULessThan;
    case IR_OP_ule: return SpvOpULessThanEqual;
    case IR_OP_slt: return SpvOpSLessThan;
    default: return SpvOpSLessThanEqual;
    }
}

/* Pointers are compared as integers: OpPtrEqual came with 1.4. */
static uint32_t comparable(sw_func *fn, ir_inst *v) {
    if (!ir_is_ptr(v->type)) return sw_value(fn, v);
    uint32_t type = sw_type(fn->w, ir_size_type(fn->w->m));
    return sw_emit_result(fn, SpvOpConvertPtrToU, type, SW_LIST(any_pointer(fn, v)));
}

void sw_emit_compare(sw_func *fn, const ir_inst *i) {
    uint32_t a = comparable(fn, ir_arg(i, 0)), b = comparable(fn, ir_arg(i, 1));
    uint32_t type = sw_type(fn->w, i->type);
    sw_set_value(fn, i, sw_emit_result(fn, compare_op((ir_op)i->op), type, SW_LIST(a, b)));
}

/* Before 1.4 the condition has a lane for each lane of the result. */
static uint32_t condition(sw_func *fn, const ir_inst *i) {
    uint32_t id = sw_arg(fn, i, 0);
    if (!ir_is_vector(i->type) || ir_is_vector(ir_arg(i, 0)->type)) return id;
    return sw_spread(fn, id, ir_with_elem(i->type, IR_I1));
}

void sw_emit_select(sw_func *fn, const ir_inst *i) {
    uint32_t c = condition(fn, i), a, b, type;
    if (ir_is_ptr(i->type)) {
        ir_type pointee = sw_pointee(fn->info, i);
        type = result_pointer_type(fn, i);
        a = sw_pointer(fn, ir_arg(i, 1), pointee);
        b = sw_pointer(fn, ir_arg(i, 2), pointee);
    } else {
        type = sw_type(fn->w, i->type);
        a = sw_arg(fn, i, 1);
        b = sw_arg(fn, i, 2);
    }
    sw_set_value(fn, i, sw_emit_result(fn, SpvOpSelect, type, SW_LIST(c, a, b)));
}

void sw_emit_bitcast(sw_func *fn, const ir_inst *i) {
    if (ir_is_bool(i->type) || ir_is_bool(ir_arg(i, 0)->type))
        sw_refuse(fn, "bitcast of bool cannot be written as SPIR-V");
    put(fn, i, SpvOpBitcast, sw_arg(fn, i, 0));
}
