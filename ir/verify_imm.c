/* verify_imm.c — the verifier's look at imm and flags, and the custom rules: ops whose types do not
 * follow a common pattern (images, sub-groups, async copies, printf).
 */
#include "ir/verify.h"

/* ------------------------------------------------------------------------------------------ imm */

static void check_mem(verifier *v, const ir_inst *i) {
    if (i->imm.mem.align > 31) verify_fail(v, "alignment 2^%u is above 2^31", i->imm.mem.align);
    if (i->imm.mem.flags & ~(IR_MEM_VOLATILE | IR_MEM_NONTEMPORAL))
        verify_fail(v, "unknown memory flags 0x%x", i->imm.mem.flags);
}

static void check_scope(verifier *v, unsigned scope, const char *of) {
    if (scope > IR_SCOPE_ITEM) verify_fail(v, "unknown scope %u of %s", scope, of);
}

static void check_semantics(verifier *v, unsigned semantics) {
    unsigned order =
        semantics & (IR_SEM_ACQUIRE | IR_SEM_RELEASE | IR_SEM_ACQ_REL | IR_SEM_SEQ_CST);
    unsigned memory = semantics & 0xfc0; /* all storage classes that SPIR-V names */
    unsigned rest = semantics & ~(order | memory);
    if (order & (order - 1)) verify_fail(v, "more than one memory order (0x%x)", order);
    if (rest) verify_fail(v, "unknown memory semantics 0x%x", rest);
}

static void check_sync(verifier *v, const ir_inst *i) {
    check_scope(v, i->imm.sync.scope, "memory");
    check_semantics(v, i->imm.sync.semantics);
    if (i->op == IR_OP_barrier)
        check_scope(v, i->imm.sync.exec, "execution");
    else if (i->imm.sync.exec)
        verify_fail(v, "only a barrier has a scope of execution");
    if (i->op == IR_OP_atomic_cmpxchg)
        check_semantics(v, i->imm.sync.unequal);
    else if (i->imm.sync.unequal)
        verify_fail(v, "only atomic_cmpxchg has semantics for the unequal case");
}

static bool is_clustered_rotation(const ir_inst *i) {
    return i->op == IR_OP_group_rotate && i->imm.group.op == IR_GROUP_CLUSTERED;
}

static void check_group(verifier *v, const ir_inst *i) {
    unsigned op = i->imm.group.op, scope = i->imm.group.scope;
    if (scope != IR_SCOPE_WORKGROUP && scope != IR_SCOPE_SUBGROUP)
        verify_fail(v, "a group is a work-group or a sub-group, not scope %u", scope);
    if (op > IR_GROUP_CLUSTERED)
        verify_fail(v, "unknown group operation %u", op);
    else if (op && !text_is_scan((ir_op)i->op) && !is_clustered_rotation(i))
        verify_fail(v, "%s neither reduces nor scans", ir_info(i)->name);
    if (i->imm.group.log_size && op != IR_GROUP_CLUSTERED)
        verify_fail(v, "only clustered operations have a cluster size");
    if (i->imm.group.log_size > IR_MAX_CLUSTER_LOG) verify_fail(v, "the cluster is too large");
    if (i->imm.group.uniform > 1) verify_fail(v, "uniform is 0 or 1");
}

static void check_dim(verifier *v, const ir_inst *i) {
    if (i->imm.dim > 2) verify_fail(v, "there is no dimension %u", i->imm.dim);
}

static void check_round(verifier *v, const ir_inst *i) {
    if (i->imm.round.mode > IR_RTN) verify_fail(v, "unknown rounding mode %u", i->imm.round.mode);
}

static void check_imm(verifier *v, const ir_inst *i) {
    switch (ir_info(i)->imm) {
    case I_DIM: check_dim(v, i); break;
    case I_MEM: check_mem(v, i); break;
    case I_ROUND: check_round(v, i); break;
    case I_SYNC: check_sync(v, i); break;
    case I_GROUP: check_group(v, i); break;
    case I_STRING:
        if (!i->imm.string) verify_fail(v, "the string is missing");
        break;
    default: break; /* judged with the types */
    }
}

/* ---------------------------------------------------------------------------------------- flags */

static bool touches_floats(const ir_inst *i) {
    bool found = ir_is_float(i->type);
    for (unsigned n = 0; n < i->nargs && !found; n++) found = ir_is_float(ir_arg(i, n)->type);
    return found;
}

static void check_flags(verifier *v, const ir_inst *i) {
    const uint32_t wrap = IR_NSW | IR_NUW,
                   fast = IR_NNAN | IR_NINF | IR_NSZ | IR_ARCP | IR_FAST | IR_CONTRACT;
    if (i->flags & ~(wrap | fast | IR_INBOUNDS))
        verify_fail(v, "unknown flags 0x%x", i->flags & ~(wrap | fast | IR_INBOUNDS));
    if ((i->flags & IR_INBOUNDS) && i->op != IR_OP_ptradd)
        verify_fail(v, "inbounds is for ptradd only");
    if ((i->flags & wrap) && ir_info(i)->rule != R_INT)
        verify_fail(v, "nsw and nuw are for integer arithmetic only");
    if ((i->flags & fast) && !touches_floats(i))
        verify_fail(v, "fast-math flags are for floats only");
}

void verify_imm(verifier *v, const ir_inst *i) {
    check_imm(v, i);
    if (i->flags) check_flags(v, i);
}

/* --------------------------------------------------------------------------- custom: sub-groups */

static ir_type arg_type(const ir_inst *i, unsigned n) { return ir_arg(i, n)->type; }

static bool int_operand(verifier *v, unsigned n) {
    return verify_operand_is(v, n, verify_is_int_scalar(arg_type(v->inst, n)), "an integer");
}

static bool pointer_operand(verifier *v, unsigned n) {
    return verify_operand_is(v, n, ir_is_ptr(arg_type(v->inst, n)), "a pointer");
}

static bool kind_operand(verifier *v, unsigned n, ir_kind kind, const char *what) {
    return verify_operand_is(v, n, ir_kind_of(arg_type(v->inst, n)) == kind, what);
}

static ir_type ballot_type(void) { return ir_vector(IR_I32, 4); }

static void check_broadcast(verifier *v, const ir_inst *i) {
    ir_type id = arg_type(i, 1);
    bool integer = ir_is_int(id) && !ir_is_bool(id) && ir_lanes(id) <= 3;
    if (verify_operand(v, 0, i->type))
        verify_operand_is(v, 1, integer, "an integer, or a vector of 2 or 3");
}

static void check_moved(verifier *v, const ir_inst *i) {
    if (verify_result_is(v, verify_is_value(i->type), "a value type") &&
        verify_operand(v, 0, i->type))
        int_operand(v, 1);
}

static void check_ballot(verifier *v, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_group_ballot:
        if (verify_result(v, ballot_type())) verify_operand(v, 0, IR_I1);
        break;
    case IR_OP_group_inverse_ballot:
        if (verify_result(v, IR_I1)) verify_operand(v, 0, ballot_type());
        break;
    case IR_OP_group_ballot_bit:
        if (verify_result(v, IR_I1) && verify_operand(v, 0, ballot_type())) int_operand(v, 1);
        break;
    default:
        if (verify_result_is(v, verify_is_int_scalar(i->type), "an integer"))
            verify_operand(v, 0, ballot_type());
    }
}

static void check_subgroup_mask(verifier *v, const ir_inst *i) {
    if (verify_result(v, ballot_type()) && i->imm.bits > 4)
        verify_fail(v, "there is no sub-group mask %llu", (unsigned long long)i->imm.bits);
}

static void check_all_equal(verifier *v, const ir_inst *i) {
    if (verify_result(v, IR_I1))
        verify_operand_is(v, 0, verify_is_value(arg_type(i, 0)), "a value type");
}

static void check_async_copy(verifier *v, const ir_inst *i) {
    (void)i;
    if (verify_result(v, IR_EVENT) && pointer_operand(v, 0) && pointer_operand(v, 1) &&
        int_operand(v, 2) && int_operand(v, 3) && verify_operand(v, 4, IR_EVENT))
        int_operand(v, 5);
}

static void check_wait_events(verifier *v, const ir_inst *i) {
    (void)i;
    if (verify_result(v, IR_VOID) && int_operand(v, 0)) pointer_operand(v, 1);
}

/* ------------------------------------------------------------------------------- custom: images */

/* How many operands follow for a SPIR-V image operand mask. */
static unsigned image_operand_count(uint32_t mask) {
    const uint32_t grad = 0x4, none = 0x1000 | 0x2000 | 0x4000;
    unsigned n = (mask & grad) ? 1 : 0;
    for (uint32_t rest = mask & ~none; rest; rest &= rest - 1) n++;
    return n;
}

static void check_image_operands(verifier *v, const ir_inst *i) {
    unsigned want = ir_info(i)->nargs + image_operand_count(i->imm.image.operands);
    if (i->nargs != want)
        verify_fail(v, "the image operands make %u operands, not %u", want, i->nargs);
}

static bool is_coordinate(ir_type t) {
    return ir_lanes(t) <= 4 && ((ir_is_int(t) && !ir_is_bool(t)) || ir_is_float(t));
}

static bool is_texel(ir_type t) {
    return is_coordinate(t) && (ir_lanes(t) == 4 || ir_lanes(t) == 1);
}

static bool coordinate_operand(verifier *v, unsigned n) {
    return verify_operand_is(v, n, is_coordinate(arg_type(v->inst, n)), "a coordinate");
}

static void check_image_access(verifier *v, const ir_inst *i) {
    bool sample = i->op == IR_OP_image_sample, write = i->op == IR_OP_image_write;
    bool image = sample ? kind_operand(v, 0, IR_SAMPLED_IMAGE, "a sampled image")
                        : kind_operand(v, 0, IR_IMAGE, "an image");
    if (!image || !coordinate_operand(v, 1)) return;
    if (write ? verify_result(v, IR_VOID) &&
                    verify_operand_is(v, 2, is_texel(arg_type(i, 2)), "a texel")
              : verify_result_is(v, is_texel(i->type), "a texel"))
        check_image_operands(v, i);
}

static void check_image_query(verifier *v, const ir_inst *i) {
    bool size = i->op == IR_OP_image_size || i->op == IR_OP_image_size_lod;
    bool fits = size ? ir_is_int(i->type) && !ir_is_bool(i->type) && ir_lanes(i->type) <= 4
                     : i->type == IR_I32;
    if (!kind_operand(v, 0, IR_IMAGE, "an image")) return;
    if (verify_result_is(v, fits, size ? "integers" : "i32") && i->op == IR_OP_image_size_lod)
        int_operand(v, 1);
}

static void check_sampled_image(verifier *v, const ir_inst *i) {
    bool result = ir_kind_of(i->type) == IR_SAMPLED_IMAGE;
    if (verify_result_is(v, result, "a sampled image") && kind_operand(v, 0, IR_IMAGE, "an image"))
        kind_operand(v, 1, IR_SAMPLER, "a sampler");
}

/* ------------------------------------------------------------------------------- custom: others */

static void check_ptr_space(verifier *v, const ir_inst *i) {
    (void)i;
    if (verify_result(v, IR_I32)) verify_operand(v, 0, ir_ptr(IR_GENERIC));
}

static void check_printf(verifier *v, const ir_inst *i) {
    if (!verify_result(v, IR_I32)) return;
    for (unsigned n = 0; n < i->nargs; n++)
        if (!verify_operand_is(v, n, verify_is_value(arg_type(i, n)), "a value type")) return;
}

static void check_assume(verifier *v, const ir_inst *i) {
    (void)i;
    if (verify_result(v, IR_VOID)) verify_operand(v, 0, IR_I1);
}

static void check_host_call(verifier *v, const ir_inst *i) {
    bool fits = i->type == IR_VOID || verify_is_value(i->type);
    if (verify_result_is(v, fits, "a value type or nothing"))
        verify_operand_is(v, 0, ir_is_ptr(arg_type(i, 0)), "a pointer");
}

/* Operands are in the registers or slots in which the target passes them. */
static void check_mach_call(verifier *v, const ir_inst *i) {
    bool fits = i->type == IR_VOID || verify_is_value(i->type);
    if (!verify_result_is(v, fits, "a value type or nothing")) return;
    if (!i->imm.func || i->imm.func->module != v->m)
        verify_fail(v, "the callee is no function of this module");
}

/* What targets have: describe() of the target says more. */
static void check_in_register(verifier *v, const ir_inst *i) {
    if (i->op == IR_OP_spill) {
        verify_result(v, IR_VOID);
        return;
    }
    bool fits = (i->op == IR_OP_mach && i->type == IR_VOID) || verify_is_value(i->type);
    if (verify_result_is(v, fits, "a value type") && i->op == IR_OP_move)
        verify_operand(v, 0, i->type);
}

void verify_custom(verifier *v, const ir_inst *i) {
    switch (i->op) {
    case IR_OP_ptr_space: check_ptr_space(v, i); break;
    case IR_OP_subgroup_mask: check_subgroup_mask(v, i); break;
    case IR_OP_group_all_equal: check_all_equal(v, i); break;
    case IR_OP_group_broadcast: check_broadcast(v, i); break;
    case IR_OP_group_elect: verify_result(v, IR_I1); break;
    case IR_OP_group_ballot:
    case IR_OP_group_inverse_ballot:
    case IR_OP_group_ballot_bit:
    case IR_OP_group_ballot_count:
    case IR_OP_group_ballot_lsb:
    case IR_OP_group_ballot_msb: check_ballot(v, i); break;
    case IR_OP_group_shuffle:
    case IR_OP_group_shuffle_xor:
    case IR_OP_group_shuffle_up:
    case IR_OP_group_shuffle_down:
    case IR_OP_group_rotate: check_moved(v, i); break;
    case IR_OP_async_copy: check_async_copy(v, i); break;
    case IR_OP_wait_events: check_wait_events(v, i); break;
    case IR_OP_sampler: verify_result(v, IR_SAMPLER); break;
    case IR_OP_sampled_image: check_sampled_image(v, i); break;
    case IR_OP_image_sample:
    case IR_OP_image_read:
    case IR_OP_image_write: check_image_access(v, i); break;
    case IR_OP_image_size:
    case IR_OP_image_size_lod:
    case IR_OP_image_format:
    case IR_OP_image_order:
    case IR_OP_image_levels:
    case IR_OP_image_samples: check_image_query(v, i); break;
    case IR_OP_printf: check_printf(v, i); break;
    case IR_OP_assume: check_assume(v, i); break;
    case IR_OP_host_call: check_host_call(v, i); break;
    case IR_OP_mach_call: check_mach_call(v, i); break;
    case IR_OP_mach:
    case IR_OP_reg_in:
    case IR_OP_move:
    case IR_OP_spill:
    case IR_OP_reload: check_in_register(v, i); break;
    default: assert(false && "every R_CUSTOM op has a rule here");
    }
}
