/* verify_imm.c — the verifier's checks of imm and flags.
 *
 * Which fields of imm an operation uses is a column of ops.def; each layout has a check of its own.
 * Fields that belong to one operation (masks, variables, callees) are checked in verify_ops.c.
 */
#include "ir/verify.h"

/* ------------------------------------------------------------------------------------------ imm */

static void check_mem(verifier *v, const ir_inst *i) {
    if (i->imm.mem.align > 31) verify_fail(v, "alignment 2^%u is above 2^31", i->imm.mem.align);
    const uint8_t of_addresses = IR_MEM_NOALIAS | IR_MEM_LINE;
    if (i->imm.mem.flags & ~(IR_MEM_VOLATILE | IR_MEM_NONTEMPORAL | IR_MEM_WHOLE | of_addresses))
        verify_fail(v, "unknown memory flags 0x%x", i->imm.mem.flags);
    bool loads_address = i->op == IR_OP_load && ir_is_ptr(i->type);
    if (i->imm.mem.flags & of_addresses && !loads_address)
        verify_fail(v, "'noalias' and 'line' are for loads of addresses");
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
    if (i->imm.round.sat && ir_info(i)->rule != R_FTOI)
        verify_fail(v, "only conversions to integers saturate");
}

static void check_word(verifier *v, const ir_inst *i) {
    if (i->op == IR_OP_subgroup_mask && i->imm.bits > 4)
        verify_fail(v, "there is no sub-group mask %llu", (unsigned long long)i->imm.bits);
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
    case I_WORD: check_word(v, i); break;
    default: break; /* verify_ops.c */
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
                   fast = IR_NNAN | IR_NINF | IR_NSZ | IR_ARCP | IR_FAST | IR_CONTRACT | IR_REASSOC;
    const uint32_t known = wrap | fast | IR_INBOUNDS | IR_UNIFORM;
    if (i->flags & ~known) verify_fail(v, "unknown flags 0x%x", i->flags & ~known);
    if ((i->flags & IR_INBOUNDS) && i->op != IR_OP_ptradd)
        verify_fail(v, "inbounds is for ptradd only");
    if ((i->flags & IR_UNIFORM) && i->op != IR_OP_br && i->op != IR_OP_switch)
        verify_fail(v, "uniform is for branches only");
    if ((i->flags & wrap) && ir_info(i)->rule != R_INT)
        verify_fail(v, "nsw and nuw are for integer arithmetic only");
    if ((i->flags & fast) && !touches_floats(i))
        verify_fail(v, "fast-math flags are for floats only");
}

void verify_imm(verifier *v, const ir_inst *i) {
    check_imm(v, i);
    if (i->flags) check_flags(v, i);
}
