/* groups.c — work-group and sub-group operations.
 *
 * Group… operations are reached by all work-items of the group, GroupNonUniform… by those that are
 * active; the IR keeps that as one bit.  The ops come from the `spirv` column of ops.def where it
 * names the instruction, from the tables here where several instructions mean one op.
 */
#include "frontend/reader.h"

static uint8_t group_scope(reader *r, uint32_t id) {
    uint64_t scope;
    if (!spv_int_constant(r, id, &scope))
        spv_refuse(r, "%s with a scope that is not constant is not supported", spv_op_name(r));
    if (scope != IR_SCOPE_WORKGROUP && scope != IR_SCOPE_SUBGROUP)
        spv_refuse(r, "%s of scope %llu is not supported", spv_op_name(r),
                   (unsigned long long)scope);
    return (uint8_t)scope;
}

static ir_imm group_imm(reader *r, uint32_t scope_id, bool uniform) {
    return (ir_imm){.group = {.scope = group_scope(r, scope_id), .uniform = uniform}};
}

static ir_imm subgroup_imm(void) { return (ir_imm){.group = {.scope = IR_SCOPE_SUBGROUP}}; }

/* The op takes as many operands as its row in ops.def says. */
static ir_inst *emit_group(reader *r, ir_op op, ir_type t, ir_imm imm, ir_inst **args) {
    return ir_build_raw(&r->b, op, t, ir_with_imm(imm), (ir_args){ir_ops[op].nargs, args});
}

/* ------------------------------------------------------------------------- reductions and scans */

static ir_op scan_op(uint32_t opcode) {
    switch (opcode) {
    case SPV_OP_GroupIAdd:
    case SPV_OP_GroupNonUniformIAdd: return IR_OP_group_add;
    case SPV_OP_GroupFAdd:
    case SPV_OP_GroupNonUniformFAdd: return IR_OP_group_fadd;
    case SPV_OP_GroupUMin:
    case SPV_OP_GroupNonUniformUMin: return IR_OP_group_umin;
    case SPV_OP_GroupSMin:
    case SPV_OP_GroupNonUniformSMin: return IR_OP_group_smin;
    case SPV_OP_GroupFMin:
    case SPV_OP_GroupNonUniformFMin: return IR_OP_group_fmin;
    case SPV_OP_GroupUMax:
    case SPV_OP_GroupNonUniformUMax: return IR_OP_group_umax;
    case SPV_OP_GroupSMax:
    case SPV_OP_GroupNonUniformSMax: return IR_OP_group_smax;
    case SPV_OP_GroupFMax:
    case SPV_OP_GroupNonUniformFMax: return IR_OP_group_fmax;
    case SPV_OP_GroupIMulKHR:
    case SPV_OP_GroupNonUniformIMul: return IR_OP_group_mul;
    case SPV_OP_GroupFMulKHR:
    case SPV_OP_GroupNonUniformFMul: return IR_OP_group_fmul;
    case SPV_OP_GroupBitwiseAndKHR:
    case SPV_OP_GroupLogicalAndKHR:
    case SPV_OP_GroupNonUniformBitwiseAnd:
    case SPV_OP_GroupNonUniformLogicalAnd: return IR_OP_group_and;
    case SPV_OP_GroupBitwiseOrKHR:
    case SPV_OP_GroupLogicalOrKHR:
    case SPV_OP_GroupNonUniformBitwiseOr:
    case SPV_OP_GroupNonUniformLogicalOr: return IR_OP_group_or;
    case SPV_OP_GroupNonUniformBallotBitCount: return IR_OP_group_ballot_count;
    default: return IR_OP_group_xor;
    }
}

static bool is_uniform(uint32_t opcode) {
    return opcode < SPV_OP_GroupNonUniformElect || opcode >= SPV_OP_GroupIMulKHR;
}

static void check_scan_type(reader *r, ir_op op, ir_type t) {
    ir_type operand = op == IR_OP_group_ballot_count ? ir_vector(IR_I32, 4) : t;
    if (!ir_types_fit(r->m, op, t, 1, &operand))
        spv_fail(r, "%s does not work on %s", spv_op_name(r), spv_ir_type_name(r, t));
    if (r->in.type->odd) spv_refuse_inst(r, "odd integer width");
}

/* The cluster size is a power of two; 0 where it is no constant. */
static uint8_t cluster_log(reader *r) {
    uint64_t size;
    uint8_t log = 0;
    if (r->in.n > 3 && !spv_int_constant(r, r->in.arg[3], &size)) return 0;
    if (r->in.n < 4 || !size || (size & (size - 1)))
        spv_fail(r, "%s: the cluster size is not a constant power of two", spv_op_name(r));
    if (size >> IR_MAX_CLUSTER_LOG > 1)
        spv_refuse(r, "%s with clusters of %llu work-items is not supported", spv_op_name(r),
                   (unsigned long long)size);
    while (UINT64_C(1) << log < size) log++;
    return log;
}

/* Defines the result of an operation that may be clustered; args has room for one more operand. */
static void define_scan(reader *r, ir_op op, ir_imm imm, unsigned n, ir_inst **args) {
    bool clustered = imm.group.op == IR_GROUP_CLUSTERED, known = true;
    uint64_t size;
    if (clustered) {
        imm.group.log_size = cluster_log(r);
        known = spv_int_constant(r, r->in.arg[3], &size);
    }
    if (!known) args[n++] = spv_arg_int(r, 3);
    ir_type t = spv_value_type(r, r->in.type)->value;
    ir_inst *v = ir_build_raw(&r->b, op, t, ir_with_imm(imm), (ir_args){n, args});
    if (!known) spv_note_cluster(r, v);
    spv_define(r, v);
}

void spv_read_group_scan(reader *r) {
    ir_op op = scan_op(r->in.opcode);
    ir_type t = spv_value_type(r, r->in.type)->value;
    check_scan_type(r, op, t);
    bool ballot = op == IR_OP_group_ballot_count, low = ir_ops[op].flags & F_LOW_BITS;
    ir_inst *args[2] = {ballot ? spv_arg_of(r, 2, ir_vector(IR_I32, 4))
                        : low  ? spv_arg_low(r, 2, r->in.type)
                               : spv_arg_of(r, 2, t)};
    ir_imm imm = group_imm(r, r->in.arg[0], is_uniform(r->in.opcode));
    if (r->in.arg[1] > IR_GROUP_CLUSTERED)
        spv_refuse(r, "%s with group operation %u is not supported", spv_op_name(r), r->in.arg[1]);
    imm.group.op = (uint8_t)r->in.arg[1];
    define_scan(r, op, imm, 1, args);
}

/* ---------------------------------------------------- votes, broadcasts, ballots, and shuffles */

/* The operands are those from operand k on. */
static void emit_lanes(reader *r, ir_op op, ir_imm imm, uint32_t k) {
    const spv_type *t = spv_value_type(r, r->in.type);
    unsigned n = ir_ops[op].nargs;
    ir_inst *args[2];
    if (n > 0) args[0] = spv_low_value(r, r->in.arg[k], t);
    if (n > 1) args[1] = spv_arg(r, k + 1);
    spv_check_types(r, op, t->value, args, k);
    spv_define(r, emit_group(r, op, t->value, imm, args));
}

void spv_read_group_vote(reader *r) {
    ir_op op = r->in.opcode == SPV_OP_GroupAll ? IR_OP_group_all : IR_OP_group_any;
    emit_lanes(r, op, group_imm(r, r->in.arg[0], true), 1);
}

void spv_read_group_broadcast(reader *r) {
    emit_lanes(r, IR_OP_group_broadcast, group_imm(r, r->in.arg[0], true), 1);
}

static ir_op lanes_op(uint32_t opcode) {
    switch (opcode) {
    case SPV_OP_GroupNonUniformElect: return IR_OP_group_elect;
    case SPV_OP_GroupNonUniformAll:
    case SPV_OP_SubgroupAllKHR: return IR_OP_group_all;
    case SPV_OP_GroupNonUniformAny:
    case SPV_OP_SubgroupAnyKHR: return IR_OP_group_any;
    case SPV_OP_GroupNonUniformAllEqual:
    case SPV_OP_SubgroupAllEqualKHR: return IR_OP_group_all_equal;
    case SPV_OP_GroupNonUniformBroadcast:
    case SPV_OP_SubgroupReadInvocationKHR: return IR_OP_group_broadcast;
    case SPV_OP_GroupNonUniformBroadcastFirst:
    case SPV_OP_SubgroupFirstInvocationKHR: return IR_OP_group_broadcast_first;
    case SPV_OP_GroupNonUniformBallot:
    case SPV_OP_SubgroupBallotKHR: return IR_OP_group_ballot;
    case SPV_OP_GroupNonUniformInverseBallot: return IR_OP_group_inverse_ballot;
    case SPV_OP_GroupNonUniformBallotBitExtract: return IR_OP_group_ballot_bit;
    case SPV_OP_GroupNonUniformBallotFindLSB: return IR_OP_group_ballot_lsb;
    case SPV_OP_GroupNonUniformBallotFindMSB: return IR_OP_group_ballot_msb;
    case SPV_OP_GroupNonUniformShuffle:
    case SPV_OP_SubgroupShuffleINTEL: return IR_OP_group_shuffle;
    case SPV_OP_GroupNonUniformShuffleXor:
    case SPV_OP_SubgroupShuffleXorINTEL: return IR_OP_group_shuffle_xor;
    case SPV_OP_GroupNonUniformShuffleUp: return IR_OP_group_shuffle_up;
    default: return IR_OP_group_shuffle_down;
    }
}

/* Values that are moved between work-items: scalars, vectors, pointers; i1 travels as well. */
static ir_inst *moved(reader *r, uint32_t k) {
    return spv_arg_low(r, k, spv_value_type(r, r->in.type));
}

void spv_read_group_lanes(reader *r) {
    emit_lanes(r, lanes_op(r->in.opcode), group_imm(r, r->in.arg[0], false), 1);
}

/* The forms without a scope: always of the sub-group. */
void spv_read_subgroup_khr(reader *r) {
    ir_op op = lanes_op(r->in.opcode);
    if (r->in.n < ir_ops[op].nargs) spv_fail(r, "%s takes more operands", spv_op_name(r));
    emit_lanes(r, op, subgroup_imm(), 0);
}

void spv_read_group_rotate(reader *r) {
    ir_inst *args[3] = {moved(r, 1), spv_arg_int(r, 2)};
    ir_imm imm = group_imm(r, r->in.arg[0], false);
    if (r->in.n > 3) imm.group.op = IR_GROUP_CLUSTERED;
    define_scan(r, IR_OP_group_rotate, imm, 2, args);
}

/* ----------------------------------------------------------------------------- Intel sub-groups */

static ir_inst *query(reader *r, ir_op op) { return ir_build0(&r->b, op, IR_I32); }

/* Two values side by side, as if the sub-group were twice as large; each item takes the one at its
 * own place plus delta (from the left half) or minus delta (from the right half). */
void spv_read_subgroup_shuffle_pair(reader *r) {
    bool down = r->in.opcode == SPV_OP_SubgroupShuffleDownINTEL;
    ir_inst *left = moved(r, 0), *right = moved(r, 1), *delta = spv_arg_i32(r, 2);
    ir_inst *id = query(r, IR_OP_subgroup_local_id), *size = query(r, IR_OP_subgroup_max_size);
    ir_inst *at = spv_op2(r, down ? IR_OP_add : IR_OP_sub, IR_I32, id, delta);
    if (!down) at = spv_op2(r, IR_OP_add, IR_I32, at, size);
    ir_inst *beyond = spv_op2(r, IR_OP_sub, IR_I32, at, size);
    ir_inst *x =
        emit_group(r, IR_OP_group_shuffle, left->type, subgroup_imm(), (ir_inst *[]){left, at});
    ir_inst *y = emit_group(r, IR_OP_group_shuffle, left->type, subgroup_imm(),
                            (ir_inst *[]){right, beyond});
    ir_inst *in_left = spv_op2(r, IR_OP_ult, IR_I1, at, size);
    spv_define(r, ir_build_select(&r->b, in_left, x, y));
}

/* The address of this work-item's element i of a block: elements of one number are neighbours. */
static ir_inst *block_element(reader *r, ir_inst *p, unsigned i, ir_type elem) {
    ir_inst *size = query(r, IR_OP_subgroup_max_size), *id = query(r, IR_OP_subgroup_local_id);
    ir_inst *at = i ? spv_op2(r, IR_OP_add, IR_I32, spv_times(r, size, i), id) : id;
    at = spv_times(r, spv_to_int(r, at, ir_size_type(r->m), false), ir_sizeof(r->m, elem));
    return ir_build_ptradd(&r->b, p, at, true);
}

void spv_read_subgroup_block_read(reader *r) {
    ir_inst *p = spv_arg_pointer(r, 0), *lane[IR_MAX_LANES];
    ir_type t = spv_value_type(r, r->in.type)->value, elem = ir_elem(t);
    if (!ir_is_int(t) || ir_is_bool(t)) spv_fail(r, "%s: the result is no integer", spv_op_name(r));
    spv_charge(r, 5 * ir_lanes(t));
    for (unsigned i = 0; i < ir_lanes(t); i++)
        lane[i] = ir_build_load(&r->b, elem, block_element(r, p, i, elem),
                                (unsigned)ir_sizeof(r->m, elem), 0);
    spv_define(r, ir_is_vector(t) ? ir_build_vec(&r->b, t, lane) : lane[0]);
}

void spv_read_subgroup_block_write(reader *r) {
    ir_inst *p = spv_arg_pointer(r, 0), *v = spv_arg(r, 1);
    ir_type elem = ir_elem(v->type);
    if (!ir_is_int(v->type) || ir_is_bool(v->type)) spv_bad_type(r, 1, "integers");
    spv_charge(r, 5 * ir_lanes(v->type));
    for (unsigned i = 0; i < ir_lanes(v->type); i++) {
        ir_inst *s = ir_is_vector(v->type) ? ir_build_extract(&r->b, v, i) : v;
        ir_build_store(&r->b, s, block_element(r, p, i, elem), (unsigned)ir_sizeof(r->m, elem), 0);
    }
}

/* --------------------------------------------------------------------------------- async copies */

void spv_read_group_async_copy(reader *r) {
    const spv_type *p = spv_arg_type(r, 1);
    const spv_type *elem = p->form == T_POINTER ? spv_pointee(r, p) : NULL;
    if (!elem || elem->form == T_LACKING || elem->form == T_VOID || elem->form == T_FUNCTION)
        spv_fail(r, "%s: the size of an element is not known", spv_op_name(r));
    ir_inst *bytes = ir_const(r->b.f, ir_size_type(r->m), ir_sizeof(r->m, elem->memory));
    ir_inst *args[6] = {spv_arg_pointer(r, 1), spv_arg_pointer(r, 2),      spv_arg_size(r, 3),
                        spv_arg_size(r, 4),    spv_arg_of(r, 5, IR_EVENT), bytes};
    ir_imm imm = group_imm(r, r->in.arg[0], true);
    spv_define_checked(r, emit_group(r, IR_OP_async_copy, IR_EVENT, imm, args));
}

void spv_read_group_wait_events(reader *r) {
    ir_inst *args[2] = {spv_arg_i32(r, 1), spv_arg_pointer(r, 2)};
    emit_group(r, IR_OP_wait_events, IR_VOID, group_imm(r, r->in.arg[0], true), args);
}
