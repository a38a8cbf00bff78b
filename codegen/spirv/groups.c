/* groups.c — operations of work-groups and sub-groups.
 *
 * Uniform ones, which all work-items of the scope reach, exist since 1.0; products and logical
 * operations need SPV_KHR_uniform_group_instructions.  All others are GroupNonUniform instructions,
 * which exist since 1.3.
 */
#include "codegen/spirv/spirv.h"

/* The instructions of a reduction or scan; those on i1 are logical operations. */
typedef struct {
    SpvOp uniform, nonuniform, nonuniform_bool, uniform_bool;
} group_row;

static group_row arithmetic_row(ir_op op) {
    switch (op) {
    case IR_OP_group_add: return (group_row){SpvOpGroupIAdd, SpvOpGroupNonUniformIAdd, 0, 0};
    case IR_OP_group_fadd: return (group_row){SpvOpGroupFAdd, SpvOpGroupNonUniformFAdd, 0, 0};
    case IR_OP_group_umin: return (group_row){SpvOpGroupUMin, SpvOpGroupNonUniformUMin, 0, 0};
    case IR_OP_group_smin: return (group_row){SpvOpGroupSMin, SpvOpGroupNonUniformSMin, 0, 0};
    case IR_OP_group_fmin: return (group_row){SpvOpGroupFMin, SpvOpGroupNonUniformFMin, 0, 0};
    case IR_OP_group_umax: return (group_row){SpvOpGroupUMax, SpvOpGroupNonUniformUMax, 0, 0};
    case IR_OP_group_smax: return (group_row){SpvOpGroupSMax, SpvOpGroupNonUniformSMax, 0, 0};
    case IR_OP_group_fmax: return (group_row){SpvOpGroupFMax, SpvOpGroupNonUniformFMax, 0, 0};
    case IR_OP_group_mul: return (group_row){SpvOpGroupIMulKHR, SpvOpGroupNonUniformIMul, 0, 0};
    case IR_OP_group_fmul: return (group_row){SpvOpGroupFMulKHR, SpvOpGroupNonUniformFMul, 0, 0};
    case IR_OP_group_and:
        return (group_row){SpvOpGroupBitwiseAndKHR, SpvOpGroupNonUniformBitwiseAnd,
                           SpvOpGroupNonUniformLogicalAnd, SpvOpGroupLogicalAndKHR};
    case IR_OP_group_or:
        return (group_row){SpvOpGroupBitwiseOrKHR, SpvOpGroupNonUniformBitwiseOr,
                           SpvOpGroupNonUniformLogicalOr, SpvOpGroupLogicalOrKHR};
    case IR_OP_group_xor:
        return (group_row){SpvOpGroupBitwiseXorKHR, SpvOpGroupNonUniformBitwiseXor,
                           SpvOpGroupNonUniformLogicalXor, SpvOpGroupLogicalXorKHR};
    default: return (group_row){0};
    }
}

static void need_nonuniform(sw_func *fn, SpvCapability c) {
    sw_need_version(fn, 0x00010300, "a non-uniform group operation");
    sw_capability(fn->w, SpvCapabilityGroupNonUniform);
    sw_capability(fn->w, c);
}

static uint32_t scope_of(sw_func *fn, const ir_inst *i) {
    return sw_u32(fn->w, i->imm.group.scope);
}

static uint32_t cluster_size(sw_func *fn, const ir_inst *i) {
    return sw_u32(fn->w, 1u << i->imm.group.log_size);
}

/* ----------------------------------------------------------------------------------- arithmetic */

static bool is_khr(ir_op op) {
    return op == IR_OP_group_mul || op == IR_OP_group_fmul || op == IR_OP_group_and ||
           op == IR_OP_group_or || op == IR_OP_group_xor;
}

static void emit_uniform(sw_func *fn, const ir_inst *i, const group_row *row) {
    SpvOp op = ir_is_bool(i->type) ? row->uniform_bool : row->uniform;
    sw_capability(fn->w, SpvCapabilityGroups);
    if (is_khr((ir_op)i->op)) {
        sw_capability(fn->w, SpvCapabilityGroupUniformArithmeticKHR);
        sw_extension(fn->w, "SPV_KHR_uniform_group_instructions");
    }
    sw_emit_value(fn, i, op, SW_LIST(scope_of(fn, i), i->imm.group.op, sw_arg(fn, i, 0)));
}

static void emit_nonuniform(sw_func *fn, const ir_inst *i, const group_row *row) {
    bool clustered = i->imm.group.op == IR_GROUP_CLUSTERED;
    SpvOp op = ir_is_bool(i->type) ? row->nonuniform_bool : row->nonuniform;
    need_nonuniform(fn, clustered ? SpvCapabilityGroupNonUniformClustered
                                  : SpvCapabilityGroupNonUniformArithmetic);
    uint32_t operands[4] = {scope_of(fn, i), i->imm.group.op, sw_arg(fn, i, 0), 0};
    if (clustered) operands[3] = cluster_size(fn, i);
    sw_emit_value(fn, i, op, (sw_list){clustered ? 4 : 3, operands});
}

static bool emit_arithmetic(sw_func *fn, const ir_inst *i) {
    group_row row = arithmetic_row((ir_op)i->op);
    if (!row.uniform) return false;
    if (i->imm.group.uniform)
        emit_uniform(fn, i, &row);
    else
        emit_nonuniform(fn, i, &row);
    return true;
}

/* ---------------------------------------------------------------------------------------- votes */

static void emit_vote(sw_func *fn, const ir_inst *i) {
    bool all = i->op == IR_OP_group_all;
    SpvOp op = all ? SpvOpGroupAll : SpvOpGroupAny;
    if (i->imm.group.uniform) {
        sw_capability(fn->w, SpvCapabilityGroups);
    } else {
        need_nonuniform(fn, SpvCapabilityGroupNonUniformVote);
        op = all ? SpvOpGroupNonUniformAll : SpvOpGroupNonUniformAny;
    }
    sw_emit_value(fn, i, op, SW_LIST(scope_of(fn, i), sw_arg(fn, i, 0)));
}

static void emit_broadcast(sw_func *fn, const ir_inst *i) {
    SpvOp op = SpvOpGroupBroadcast;
    if (i->imm.group.uniform) {
        sw_capability(fn->w, SpvCapabilityGroups);
    } else {
        need_nonuniform(fn, SpvCapabilityGroupNonUniformBallot);
        op = SpvOpGroupNonUniformBroadcast;
    }
    sw_emit_value(fn, i, op, SW_LIST(scope_of(fn, i), sw_arg(fn, i, 0), sw_arg(fn, i, 1)));
}

/* ----------------------------------------------------------------------- the non-uniform others */

static SpvCapability capability_of(sw_func *fn, ir_op op) {
    switch (op) {
    case IR_OP_group_elect: return SpvCapabilityGroupNonUniform;
    case IR_OP_group_all_equal: return SpvCapabilityGroupNonUniformVote;
    case IR_OP_group_shuffle:
    case IR_OP_group_shuffle_xor: return SpvCapabilityGroupNonUniformShuffle;
    case IR_OP_group_shuffle_up:
    case IR_OP_group_shuffle_down: return SpvCapabilityGroupNonUniformShuffleRelative;
    case IR_OP_group_rotate:
        sw_extension(fn->w, "SPV_KHR_subgroup_rotate");
        return SpvCapabilityGroupNonUniformRotateKHR;
    default: return SpvCapabilityGroupNonUniformBallot;
    }
}

static void emit_other(sw_func *fn, const ir_inst *i) {
    uint32_t operands[4] = {scope_of(fn, i)}, n = 1;
    bool counts = i->op == IR_OP_group_ballot_count;
    need_nonuniform(fn, capability_of(fn, (ir_op)i->op));
    if (counts) operands[n++] = i->imm.group.op;
    for (unsigned k = 0; k < i->nargs; k++) operands[n++] = sw_arg(fn, i, k);
    if (!counts && i->imm.group.op == IR_GROUP_CLUSTERED) operands[n++] = cluster_size(fn, i);
    sw_emit_value(fn, i, (SpvOp)sw_opcode_of(ir_info(i)->spirv), (sw_list){n, operands});
}

/* --------------------------------------------------------------------------------- async copies */

/* A type with the size of an element that SPIR-V can copy. */
static ir_type element_type(sw_func *fn, const ir_inst *i) {
    uint64_t bytes = ir_arg(i, 5)->imm.bits;
    ir_type known = sw_pointee(fn->info, ir_arg(i, 0));
    if (known != IR_VOID && !ir_is_aggregate(known) && ir_sizeof(fn->w->m, known) == bytes)
        return known;
    switch (bytes) {
    case 1: return IR_I8;
    case 2: return IR_I16;
    case 4: return IR_I32;
    case 8: return IR_I64;
    case 16: return ir_vector(IR_I32, 4);
    case 32: return ir_vector(IR_I32, 8);
    case 64: return ir_vector(IR_I32, 16);
    case 128: return ir_vector(IR_I64, 16);
    default: sw_refuse(fn, "SPIR-V has no elements of %llu bytes", (unsigned long long)bytes);
    }
}

static void emit_async_copy(sw_func *fn, const ir_inst *i) {
    ir_type t = element_type(fn, i);
    uint32_t to = sw_pointer(fn, ir_arg(i, 0), t), from = sw_pointer(fn, ir_arg(i, 1), t);
    sw_emit_value(
        fn, i, SpvOpGroupAsyncCopy,
        SW_LIST(scope_of(fn, i), to, from, sw_arg(fn, i, 2), sw_arg(fn, i, 3), sw_arg(fn, i, 4)));
}

static void emit_wait(sw_func *fn, const ir_inst *i) {
    uint32_t events = sw_pointer(fn, ir_arg(i, 1), IR_EVENT);
    sw_emit(fn, SpvOpGroupWaitEvents, SW_LIST(scope_of(fn, i), sw_arg(fn, i, 0), events));
}

void sw_emit_group(sw_func *fn, const ir_inst *i) {
    switch ((ir_op)i->op) {
    case IR_OP_group_all:
    case IR_OP_group_any: emit_vote(fn, i); break;
    case IR_OP_group_broadcast: emit_broadcast(fn, i); break;
    case IR_OP_async_copy: emit_async_copy(fn, i); break;
    case IR_OP_wait_events: emit_wait(fn, i); break;
    default:
        if (!emit_arithmetic(fn, i)) emit_other(fn, i);
    }
}
