/* ops.c — how each instruction is written.
 *
 * Operations with the same operands in SPIR-V are written by the spirv column of the op table.  The
 * others have functions here or in the file of their kind.  Vectors are here, too, and integer
 * operations on i1, which are logical ones in SPIR-V.
 */
#include "codegen/spirv/spirv.h"

/* ------------------------------------------------------------------------------------ plain ops */

static bool is_ext(const ir_op_info *o) { return o->spirv && strncmp(o->spirv, "ext ", 4) == 0; }

static uint32_t number_of(sw_writer *w, ir_op op) {
    if (!w->opcode[op]) w->opcode[op] = (uint16_t)(sw_opcode_of(ir_ops[op].spirv) + 1);
    assert(w->opcode[op] && "a name that opcodes.def does not list");
    return w->opcode[op] - 1u;
}

static uint32_t fast_math(const ir_inst *i) {
    uint32_t mask = 0;
    if (i->flags & IR_NNAN) mask |= SpvFPFastMathModeNotNaNMask;
    if (i->flags & IR_NINF) mask |= SpvFPFastMathModeNotInfMask;
    if (i->flags & IR_NSZ) mask |= SpvFPFastMathModeNSZMask;
    if (i->flags & IR_ARCP) mask |= SpvFPFastMathModeAllowRecipMask;
    if (i->flags & IR_FAST) mask |= SpvFPFastMathModeFastMask;
    return mask;
}

static bool takes_fast_math(const ir_inst *i) {
    switch ((ir_op)i->op) {
    case IR_OP_fadd:
    case IR_OP_fsub:
    case IR_OP_fmul:
    case IR_OP_fdiv:
    case IR_OP_frem: return true;
    default: return is_ext(ir_info(i)) && ir_is_float(i->type);
    }
}

/* Flags become decorations of the result.  Those about wrapping exist since 1.4. */
static void decorate_result(sw_func *fn, const ir_inst *i, uint32_t id) {
    uint32_t mask = fast_math(i);
    if (mask && takes_fast_math(i))
        sw_decorate(fn->w, id, SpvDecorationFPFastMathMode, SW_LIST(mask));
    if (fn->w->out.version < 0x00010400) return;
    if (i->flags & IR_NSW) sw_decorate0(fn->w, id, SpvDecorationNoSignedWrap);
    if (i->flags & IR_NUW) sw_decorate0(fn->w, id, SpvDecorationNoUnsignedWrap);
}

static void emit_plain(sw_func *fn, const ir_inst *i) {
    uint32_t *operands = ir_new_array(fn->w->arena, uint32_t, i->nargs);
    uint32_t number = number_of(fn->w, (ir_op)i->op), type = sw_type(fn->w, i->type);
    for (unsigned n = 0; n < i->nargs; n++) operands[n] = sw_arg(fn, i, n);
    uint32_t id = is_ext(ir_info(i))
                      ? sw_emit_ext(fn, number, type, (sw_list){i->nargs, operands})
                      : sw_emit_result(fn, (SpvOp)number, type, (sw_list){i->nargs, operands});
    decorate_result(fn, i, id);
    sw_set_value(fn, i, id);
}

/* ------------------------------------------------------------------------------- i1 as a number */

static uint32_t logical(sw_func *fn, const ir_inst *i, SpvOp op, uint32_t a, uint32_t b) {
    return sw_emit_result(fn, op, sw_type(fn->w, i->type), SW_LIST(a, b));
}

static uint32_t logical_not(sw_func *fn, const ir_inst *i, uint32_t a) {
    return sw_emit_result(fn, SpvOpLogicalNot, sw_type(fn->w, i->type), SW_LIST(a));
}

/* Integer arithmetic modulo 2; in comparisons, true is 1 if unsigned and -1 if signed. */
static uint32_t emit_bool(sw_func *fn, const ir_inst *i) {
    uint32_t a = sw_arg(fn, i, 0), b = i->nargs > 1 ? sw_arg(fn, i, 1) : 0;
    switch ((ir_op)i->op) {
    case IR_OP_and:
    case IR_OP_mul:
    case IR_OP_umin:
    case IR_OP_smax: return logical(fn, i, SpvOpLogicalAnd, a, b);
    case IR_OP_or:
    case IR_OP_umax:
    case IR_OP_smin: return logical(fn, i, SpvOpLogicalOr, a, b);
    case IR_OP_xor:
    case IR_OP_add:
    case IR_OP_sub:
    case IR_OP_ne: return logical(fn, i, SpvOpLogicalNotEqual, a, b);
    case IR_OP_eq: return logical(fn, i, SpvOpLogicalEqual, a, b);
    case IR_OP_ult: return logical(fn, i, SpvOpLogicalAnd, logical_not(fn, i, a), b);
    case IR_OP_ule: return logical(fn, i, SpvOpLogicalOr, logical_not(fn, i, a), b);
    case IR_OP_slt: return logical(fn, i, SpvOpLogicalAnd, a, logical_not(fn, i, b));
    case IR_OP_sle: return logical(fn, i, SpvOpLogicalOr, a, logical_not(fn, i, b));
    case IR_OP_shl:
    case IR_OP_lshr: return logical(fn, i, SpvOpLogicalAnd, a, logical_not(fn, i, b));
    case IR_OP_clz:
    case IR_OP_ctz: return logical_not(fn, i, a);
    case IR_OP_ashr:
    case IR_OP_rotl:
    case IR_OP_udiv:
    case IR_OP_sdiv:
    case IR_OP_sabs:
    case IR_OP_popcount:
    case IR_OP_bitrev: return a;
    default: sw_refuse(fn, "%s on bool cannot be written as SPIR-V", ir_info(i)->name);
    }
}

static bool is_bool_operation(const ir_inst *i) {
    ir_rule r = ir_info(i)->rule;
    return (r == R_INT || r == R_BITS || r == R_CMPI) && ir_is_bool(ir_arg(i, 0)->type);
}

/* -------------------------------------------------------------------------------------- vectors */

static void emit_extract(sw_func *fn, const ir_inst *i) {
    const ir_inst *index = ir_arg(i, 1);
    bool known = ir_is_const(index);
    uint32_t lane = known ? (uint32_t)index->imm.bits : sw_arg(fn, i, 1);
    SpvOp op = known ? SpvOpCompositeExtract : SpvOpVectorExtractDynamic;
    sw_emit_value(fn, i, op, SW_LIST(sw_arg(fn, i, 0), lane));
}

static void emit_insert(sw_func *fn, const ir_inst *i) {
    const ir_inst *index = ir_arg(i, 2);
    uint32_t vector = sw_arg(fn, i, 0), lane = sw_arg(fn, i, 1), type = sw_type(fn->w, i->type);
    uint32_t id = ir_is_const(index)
                      ? sw_emit_result(fn, SpvOpCompositeInsert, type,
                                       SW_LIST(lane, vector, (uint32_t)index->imm.bits))
                      : sw_emit_result(fn, SpvOpVectorInsertDynamic, type,
                                       SW_LIST(vector, lane, sw_arg(fn, i, 2)));
    sw_set_value(fn, i, id);
}

static void emit_shuffle(sw_func *fn, const ir_inst *i) {
    uint32_t operands[IR_MAX_LANES + 2] = {sw_arg(fn, i, 0), sw_arg(fn, i, 1)};
    unsigned lanes = ir_lanes(i->type);
    for (unsigned n = 0; n < lanes; n++)
        operands[n + 2] = i->imm.mask[n] == 255 ? UINT32_MAX : i->imm.mask[n];
    sw_emit_value(fn, i, SpvOpVectorShuffle, (sw_list){lanes + 2, operands});
}

/* Are these the three dimensions of one query, as the reader takes a built-in variable apart? */
static bool is_whole_query(const sw_func *fn, const ir_inst *i) {
    const ir_inst *first = ir_arg(i, 0);
    if (ir_info(first)->imm != I_DIM || first->type != ir_size_type(fn->w->m) || i->nargs != 3)
        return false;
    for (unsigned n = 0; n < 3; n++)
        if (ir_arg(i, n)->op != first->op || ir_arg(i, n)->imm.dim != n) return false;
    return true;
}

static bool is_splat(const ir_inst *i) {
    for (unsigned n = 1; n < i->nargs; n++)
        if (ir_arg(i, n) != ir_arg(i, 0)) return false;
    return true;
}

/* Inserts lane by lane, or copies one lane to all: some consumers do not accept
 * OpCompositeConstruct for vectors. */
static void emit_vec(sw_func *fn, const ir_inst *i) {
    uint32_t type = sw_type(fn->w, i->type), v = sw_undef(fn->w, type);
    if (is_whole_query(fn, i)) {
        sw_set_value(fn, i, sw_load_query(fn, ir_arg(i, 0)));
        return;
    }
    if (is_splat(i)) {
        v = sw_emit_splat(fn, sw_arg(fn, i, 0), i->type);
    } else {
        for (unsigned n = 0; n < i->nargs; n++)
            if (ir_arg(i, n)->op != IR_OP_undef)
                v = sw_emit_result(fn, SpvOpCompositeInsert, type, SW_LIST(sw_arg(fn, i, n), v, n));
    }
    sw_set_value(fn, i, v);
}

/* The dot product of scalars is a product. */
static void emit_dot(sw_func *fn, const ir_inst *i) {
    if (ir_is_vector(ir_arg(i, 0)->type)) {
        emit_plain(fn, i);
        return;
    }
    sw_emit_value(fn, i, SpvOpFMul, SW_LIST(sw_arg(fn, i, 0), sw_arg(fn, i, 1)));
}

static void emit_assume(sw_func *fn, const ir_inst *i) {
    sw_capability(fn->w, SpvCapabilityExpectAssumeKHR);
    sw_extension(fn->w, "SPV_KHR_expect_assume");
    sw_emit(fn, SpvOpAssumeTrueKHR, SW_LIST(sw_arg(fn, i, 0)));
}

/* ------------------------------------------------------------------------------------- dispatch */

static void emit_by_rule(sw_func *fn, const ir_inst *i) {
    switch (ir_info(i)->rule) {
    case R_CMPI: sw_emit_compare(fn, i); break;
    case R_TRUNC:
    case R_EXT:
    case R_FTOI:
    case R_ITOF:
    case R_FTOF:
    case R_PTOI:
    case R_ITOP:
    case R_FROM_GENERIC:
    case R_PTOP: sw_emit_conversion(fn, i); break;
    case R_SYNC: sw_emit_sync(fn, i); break;
    case R_QUERY: sw_emit_query(fn, i); break;
    case R_ALLOCA:
    case R_LOAD:
    case R_STORE: sw_emit_memory(fn, i); break;
    default:
        if (ir_is_atomic(i))
            sw_emit_atomic(fn, i);
        else if (ir_info(i)->imm == I_GROUP)
            sw_emit_group(fn, i);
        else if (ir_is_image_op((ir_op)i->op))
            sw_emit_image(fn, i);
        else
            emit_plain(fn, i);
    }
}

void sw_emit_inst(sw_func *fn, const ir_inst *i) {
    if (is_bool_operation(i)) {
        sw_set_value(fn, i, emit_bool(fn, i));
        return;
    }
    switch ((ir_op)i->op) {
    case IR_OP_phi: sw_emit_phi(fn, i); break;
    case IR_OP_ptradd: sw_emit_ptradd(fn, i); break;
    case IR_OP_call: sw_emit_call(fn, i); break;
    case IR_OP_printf: sw_emit_printf(fn, i); break;
    case IR_OP_copy: sw_emit_copy(fn, i); break;
    case IR_OP_fill: sw_emit_fill(fn, i); break;
    case IR_OP_shl:
    case IR_OP_lshr:
    case IR_OP_ashr: sw_emit_shift(fn, i); break;
    case IR_OP_bitrev: sw_emit_bitrev(fn, i); break;
    case IR_OP_fmodf_part:
    case IR_OP_fract_part:
    case IR_OP_frexp_m:
    case IR_OP_frexp_e:
    case IR_OP_lgamma_sign:
    case IR_OP_remquo_q: sw_emit_part(fn, i); break;
    case IR_OP_bitcast: sw_emit_bitcast(fn, i); break;
    case IR_OP_select: sw_emit_select(fn, i); break;
    case IR_OP_extract: emit_extract(fn, i); break;
    case IR_OP_insert: emit_insert(fn, i); break;
    case IR_OP_shuffle: emit_shuffle(fn, i); break;
    case IR_OP_vec: emit_vec(fn, i); break;
    case IR_OP_dot: emit_dot(fn, i); break;
    case IR_OP_assume: emit_assume(fn, i); break;
    case IR_OP_subgroup_mask: sw_emit_query(fn, i); break;
    case IR_OP_ptr_space: sw_emit_conversion(fn, i); break;
    default: emit_by_rule(fn, i);
    }
}
