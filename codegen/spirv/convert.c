/* convert.c — conversions, comparisons, selections and bit casts.
 *
 * In these, bool, pointers, rounding modes and saturation make SPIR-V differ from the IR.  A bool
 * is no number there: it is converted by choosing between two constants, and tested by its lowest
 * bit.  Rounding and saturation are decorations of the result.  Pointers are compared as integers.
 */
#include "codegen/spirv/spirv.h"
#include "ir/eval.h"

/* ----------------------------------------------------------------------------- bool and numbers */

static uint32_t select_constant(sw_func *fn, const ir_inst *i, uint64_t yes) {
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
        if (i->op != IR_OP_trunc)
            sw_refuse(fn, "%s to bool cannot be written as SPIR-V", ir_info(i)->name);
        sw_set_value(fn, i, sw_emit_lowest_bit(fn, sw_arg(fn, i, 0), from));
    } else if (ir_is_bool(from)) {
        sw_set_value(fn, i, select_constant(fn, i, value_of_true(i)));
    } else {
        sw_emit_value(fn, i, conversion_op((ir_op)i->op), SW_LIST(sw_arg(fn, i, 0)));
        decorate_rounding(fn, i, fn->id[i->id]);
    }
}

/* ------------------------------------------------------------------------------------- pointers */

static void cast_space(sw_func *fn, const ir_inst *i) {
    bool up = ir_space_of(i->type) == IR_GENERIC;
    ir_space from = ir_space_of(ir_arg(i, 0)->type), other = up ? from : ir_space_of(i->type);
    uint32_t p = sw_pointer(fn, ir_arg(i, 0), sw_pointee(fn->info, i));
    if (other == IR_CONST || (!up && from != IR_GENERIC))
        sw_refuse(fn, "SPIR-V casts only between generic and private, local or global");
    if (i->op == IR_OP_ptrcast_to)
        sw_emit_value(fn, i, SpvOpGenericCastToPtrExplicit,
                      SW_LIST(p, (uint32_t)sw_storage_class(fn->w, other)));
    else
        sw_emit_value(fn, i, up ? SpvOpPtrCastToGeneric : SpvOpGenericCastToPtr, SW_LIST(p));
}

/* A pointer with the type it has; null and undef have none, so they point to bytes. */
static uint32_t any_pointer(sw_func *fn, ir_inst *v) {
    ir_type pointee = sw_pointee(fn->info, v);
    return sw_pointer(fn, v, pointee == IR_VOID ? IR_I8 : pointee);
}

void sw_emit_conversion(sw_func *fn, const ir_inst *i) {
    switch ((ir_op)i->op) {
    case IR_OP_ptrtoint:
        sw_emit_value(fn, i, SpvOpConvertPtrToU, SW_LIST(any_pointer(fn, ir_arg(i, 0))));
        break;
    case IR_OP_inttoptr: sw_emit_value(fn, i, SpvOpConvertUToPtr, SW_LIST(sw_arg(fn, i, 0))); break;
    case IR_OP_ptrcast:
    case IR_OP_ptrcast_to: cast_space(fn, i); break;
    case IR_OP_ptr_space:
        sw_emit_value(fn, i, SpvOpGenericPtrMemSemantics, SW_LIST(any_pointer(fn, ir_arg(i, 0))));
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

/* Pointers are compared as integers: OpPtrEqual exists since 1.4 only. */
static uint32_t comparable(sw_func *fn, ir_inst *v) {
    if (!ir_is_ptr(v->type)) return sw_value(fn, v);
    uint32_t type = sw_type(fn->w, ir_size_type(fn->w->m));
    return sw_emit_result(fn, SpvOpConvertPtrToU, type, SW_LIST(any_pointer(fn, v)));
}

void sw_emit_compare(sw_func *fn, const ir_inst *i) {
    uint32_t a = comparable(fn, ir_arg(i, 0)), b = comparable(fn, ir_arg(i, 1));
    sw_emit_value(fn, i, compare_op((ir_op)i->op), SW_LIST(a, b));
}

void sw_emit_select(sw_func *fn, const ir_inst *i) {
    ir_type pointee = ir_is_ptr(i->type) ? sw_pointee(fn->info, i) : IR_VOID;
    uint32_t c = sw_arg(fn, i, 0);
    /* Before 1.4, the condition must have a lane for each lane of the result. */
    if (ir_is_vector(i->type) && !ir_is_vector(ir_arg(i, 0)->type))
        c = sw_emit_splat(fn, c, ir_with_elem(i->type, IR_I1));
    uint32_t a = sw_value_as(fn, ir_arg(i, 1), pointee), b = sw_value_as(fn, ir_arg(i, 2), pointee);
    sw_emit_value(fn, i, SpvOpSelect, SW_LIST(c, a, b));
}

void sw_emit_bitcast(sw_func *fn, const ir_inst *i) {
    if (ir_is_bool(i->type) || ir_is_bool(ir_arg(i, 0)->type))
        sw_refuse(fn, "bitcast of bool cannot be written as SPIR-V");
    sw_emit_value(fn, i, SpvOpBitcast, SW_LIST(sw_arg(fn, i, 0)));
}
