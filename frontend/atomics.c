/* atomics.c — atomic instructions, fences, barriers, and their scopes and semantics.
 *
 * Scopes and semantics are ids.  If they are not constants, the strongest meaning is taken, with a
 * warning.  The IR keeps one memory order and the kinds of memory; the other bits of semantics have
 * no meaning in OpenCL.
 */
#include "frontend/reader.h"

/* One memory order: the strongest that is asked for. */
static uint16_t semantics_of(uint64_t bits) {
    uint16_t kept = (uint16_t)(bits & (IR_SEM_LOCAL | IR_SEM_GLOBAL | IR_SEM_IMAGE));
    bool acquire = bits & IR_SEM_ACQUIRE, release = bits & IR_SEM_RELEASE;
    if (bits & IR_SEM_SEQ_CST) return kept | IR_SEM_SEQ_CST;
    if ((bits & IR_SEM_ACQ_REL) || (acquire && release)) return kept | IR_SEM_ACQ_REL;
    return kept | (acquire ? IR_SEM_ACQUIRE : 0) | (release ? IR_SEM_RELEASE : 0);
}

static uint16_t take_semantics(reader *r, uint32_t id) {
    uint64_t bits;
    if (spv_int_constant(r, id, &bits)) return semantics_of(bits);
    spv_value(r, id);
    spv_warn(r, WARN_UNKNOWN_SYNC);
    return IR_SEM_SEQ_CST | IR_SEM_LOCAL | IR_SEM_GLOBAL;
}

static uint8_t take_scope(reader *r, uint32_t id) {
    uint64_t scope;
    if (!spv_int_constant(r, id, &scope)) {
        spv_value(r, id);
        spv_warn(r, WARN_UNKNOWN_SYNC);
        return IR_SCOPE_DEVICE;
    }
    if (scope > IR_SCOPE_ITEM)
        spv_fail(r, "%s: there is no scope %llu", spv_op_name(r), (unsigned long long)scope);
    return (uint8_t)scope;
}

static ir_imm sync(reader *r, uint32_t scope, uint32_t semantics) {
    return (ir_imm){
        .sync = {.scope = take_scope(r, scope), .semantics = take_semantics(r, semantics)}};
}

/* -------------------------------------------------------------------------------------- atomics */

bool spv_is_atomic_type(reader *r, ir_op op, ir_type t) {
    const ir_type operand[] = {ir_ptr(IR_GLOBAL), t, t};
    bool stores = op == IR_OP_atomic_store;
    return ir_types_fit(r->m, op, stores ? IR_VOID : t, ir_ops[op].nargs, operand);
}

static void check_elem(reader *r, ir_op op, ir_type t) {
    if (!spv_is_atomic_type(r, op, t))
        spv_fail(r, "%s does not work on %s", spv_op_name(r), spv_ir_type_name(r, t));
}

static ir_type atomic_type(reader *r, ir_op op) {
    const spv_type *t = spv_value_type(r, r->in.type);
    check_elem(r, op, t->value);
    if (t->odd) spv_refuse_inst(r, "odd integer width");
    return t->value;
}

/* The op takes as many operands as its row in ops.def says. */
static ir_inst *emit_atomic(reader *r, ir_op op, ir_type t, ir_imm imm, ir_inst **args) {
    return ir_build_raw(&r->b, op, t, ir_with_imm(imm), (ir_args){ir_ops[op].nargs, args});
}

/* Pointer, scope, semantics and perhaps a value. */
void spv_read_atomic(reader *r) {
    ir_op op = spv_op_of_row(r);
    ir_type t = atomic_type(r, op);
    ir_inst *args[2] = {spv_arg_pointer(r, 0)};
    bool low = ir_ops[op].flags & F_LOW_BITS;
    if (r->in.n > 3) args[1] = low ? spv_arg_low(r, 3, r->in.type) : spv_arg_of(r, 3, t);
    ir_imm imm = sync(r, r->in.arg[1], r->in.arg[2]);
    spv_define(r, emit_atomic(r, op, t, imm, args));
}

void spv_read_atomic_store(reader *r) {
    ir_inst *args[2] = {spv_arg_pointer(r, 0), spv_arg(r, 3)};
    check_elem(r, IR_OP_atomic_store, args[1]->type);
    ir_imm imm = sync(r, r->in.arg[1], r->in.arg[2]);
    emit_atomic(r, IR_OP_atomic_store, IR_VOID, imm, args);
}

void spv_read_atomic_compare_exchange(reader *r) {
    ir_type t = atomic_type(r, IR_OP_atomic_cmpxchg);
    ir_inst *args[3] = {spv_arg_pointer(r, 0), spv_arg_of(r, 4, t), spv_arg_of(r, 5, t)};
    ir_imm imm = sync(r, r->in.arg[1], r->in.arg[2]);
    imm.sync.unequal = take_semantics(r, r->in.arg[3]);
    if (r->in.opcode == SPV_OP_AtomicCompareExchangeWeak) spv_warn(r, WARN_COMPARE_WEAK);
    spv_define(r, emit_atomic(r, IR_OP_atomic_cmpxchg, t, imm, args));
}

void spv_read_atomic_step(reader *r) {
    bool up = r->in.opcode == SPV_OP_AtomicIIncrement;
    ir_op op = up ? IR_OP_atomic_add : IR_OP_atomic_sub;
    ir_type t = atomic_type(r, op);
    ir_inst *args[2] = {spv_arg_pointer(r, 0), ir_const(r->b.f, t, 1)};
    spv_define(r, emit_atomic(r, op, t, sync(r, r->in.arg[1], r->in.arg[2]), args));
}

void spv_read_atomic_flag_test_and_set(reader *r) {
    ir_inst *args[2] = {spv_arg_pointer(r, 0), ir_const(r->b.f, IR_I32, 1)};
    ir_imm imm = sync(r, r->in.arg[1], r->in.arg[2]);
    ir_inst *old = emit_atomic(r, IR_OP_atomic_xchg, IR_I32, imm, args);
    spv_define_checked(r, spv_op2(r, IR_OP_ne, IR_I1, old, ir_const(r->b.f, IR_I32, 0)));
}

void spv_read_atomic_flag_clear(reader *r) {
    ir_inst *args[2] = {spv_arg_pointer(r, 0), ir_const(r->b.f, IR_I32, 0)};
    emit_atomic(r, IR_OP_atomic_store, IR_VOID, sync(r, r->in.arg[1], r->in.arg[2]), args);
}

/* ----------------------------------------------------------------------------- fences, barriers */

void spv_read_memory_barrier(reader *r) {
    emit_atomic(r, IR_OP_fence, IR_VOID, sync(r, r->in.arg[0], r->in.arg[1]), NULL);
}

/* OpenCL knows barriers of work-groups and sub-groups only; some producers write the scope of
 * memory as that of execution. */
void spv_read_control_barrier(reader *r) {
    uint8_t exec = take_scope(r, r->in.arg[0]);
    ir_imm imm = sync(r, r->in.arg[1], r->in.arg[2]);
    if (exec < IR_SCOPE_WORKGROUP) spv_warn(r, WARN_BARRIER_SCOPE);
    imm.sync.exec = exec < IR_SCOPE_WORKGROUP ? IR_SCOPE_WORKGROUP : exec;
    emit_atomic(r, IR_OP_barrier, IR_VOID, imm, NULL);
}
