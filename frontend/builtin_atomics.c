/* builtin_atomics.c — calls of OpenCL C's atomics, fences and barriers.
 *
 * The functions of OpenCL 1.x are relaxed, at device scope.  Those of C11 are sequentially
 * consistent unless their _explicit form names an order and perhaps a scope; orders and scopes that
 * are not constant are taken as the strongest.
 */
#include "frontend/reader.h"

/* -------------------------------------------------------------------------------------- atomics */

static ir_imm relaxed_device(void) { return (ir_imm){.sync = {.scope = IR_SCOPE_DEVICE}}; }

/* The op for the class of what the pointer points to. */
static ir_op atomic_op(reader *r, const spv_builtin *b, const char *key) {
    ir_op op = (ir_op)b->data;
    if (spv_key_class(key) == 'u' && op == IR_OP_atomic_smin) return IR_OP_atomic_umin;
    if (spv_key_class(key) == 'u' && op == IR_OP_atomic_smax) return IR_OP_atomic_umax;
    if (spv_key_class(key) != 'f' || op == IR_OP_atomic_xchg || op == IR_OP_atomic_load) return op;
    switch (op) {
    case IR_OP_atomic_add: return IR_OP_atomic_fadd;
    case IR_OP_atomic_smin: return IR_OP_atomic_fmin;
    case IR_OP_atomic_smax: return IR_OP_atomic_fmax;
    default: spv_refuse(r, "%s on floats is not supported", spv_key_name(key));
    }
}

static void check_atomic_type(reader *r, const char *key, ir_op op, ir_type t) {
    if (!spv_is_atomic_type(r, op, t) || r->in.type->odd)
        spv_fail(r, "%s does not work on %s", spv_key_name(key), spv_type_name(r, r->in.type));
}

void spv_call_atomic(reader *r, const spv_builtin *b, const char *key) {
    ir_op op = atomic_op(r, b, key);
    ir_type t = spv_value_type(r, r->in.type)->value;
    spv_want_args(r, key, b->more ? 1 : 2);
    check_atomic_type(r, key, op, t);
    ir_inst *value = b->more ? ir_const(r->b.f, t, 1) : spv_arg_of(r, 1, t);
    ir_inst *args[2] = {spv_arg_pointer(r, 0), value};
    spv_define(r, ir_build_raw(&r->b, op, t, ir_with_imm(relaxed_device()), (ir_args){2, args}));
}

/* atomic_cmpxchg(p, compare, value) */
void spv_call_cmpxchg(reader *r, const spv_builtin *b, const char *key) {
    ir_type t = spv_value_type(r, r->in.type)->value;
    (void)b;
    spv_want_args(r, key, 3);
    check_atomic_type(r, key, IR_OP_atomic_cmpxchg, t);
    ir_inst *args[3] = {spv_arg_pointer(r, 0), spv_arg_of(r, 2, t), spv_arg_of(r, 1, t)};
    spv_define(r, ir_build_raw(&r->b, IR_OP_atomic_cmpxchg, t, ir_with_imm(relaxed_device()),
                               (ir_args){3, args}));
}

/* ---------------------------------------------------------------------------------- C11 atomics */

/* memory_order_relaxed, acquire, release, acq_rel, seq_cst, as compilers number them */
static uint16_t order_at(reader *r, uint32_t k) {
    static const uint16_t orders[] = {
        0, IR_SEM_ACQUIRE, IR_SEM_ACQUIRE, IR_SEM_RELEASE, IR_SEM_ACQ_REL, IR_SEM_SEQ_CST};
    uint64_t order;
    if (k >= r->in.n || !spv_int_constant(r, r->in.arg[k], &order) || order > 5)
        return IR_SEM_SEQ_CST;
    return orders[order];
}

/* memory_scope_work_item, work_group, device, all_svm_devices, sub_group */
static uint8_t scope_at(reader *r, uint32_t k) {
    static const uint8_t scopes[] = {IR_SCOPE_ITEM, IR_SCOPE_WORKGROUP, IR_SCOPE_DEVICE,
                                     IR_SCOPE_CROSS_DEVICE, IR_SCOPE_SUBGROUP};
    uint64_t scope;
    if (k >= r->in.n || !spv_int_constant(r, r->in.arg[k], &scope) || scope > 4)
        return IR_SCOPE_DEVICE;
    return scopes[scope];
}

static ir_imm sync_at(reader *r, uint32_t order, uint32_t scope) {
    return (ir_imm){.sync = {.scope = scope_at(r, scope), .semantics = order_at(r, order)}};
}

/* atomic_fetch_add(p, value), …_explicit(p, value, order, scope); atomic_load without the value */
void spv_call_c11_atomic(reader *r, const spv_builtin *b, const char *key) {
    ir_op op = atomic_op(r, b, key);
    ir_type t = spv_value_type(r, r->in.type)->value;
    uint32_t n = ir_ops[op].nargs;
    spv_want_args(r, key, n);
    check_atomic_type(r, key, op, t);
    ir_inst *args[2] = {spv_arg_pointer(r, 0)};
    if (n > 1) args[1] = spv_arg_of(r, 1, t);
    spv_define(r,
               ir_build_raw(&r->b, op, t, ir_with_imm(sync_at(r, n, n + 1)), (ir_args){n, args}));
}

/* atomic_store(p, value), atomic_init(p, value), …_explicit(p, value, order, scope) */
void spv_call_c11_store(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    spv_want_args(r, key, 2);
    ir_inst *args[2] = {spv_arg_pointer(r, 0), spv_arg(r, 1)};
    ir_type t = args[1]->type;
    bool number = spv_is_number(t);
    if (!number || ir_is_vector(t)) spv_bad_type(r, 1, "a number");
    ir_build_raw(&r->b, IR_OP_atomic_store, IR_VOID, ir_with_imm(sync_at(r, 2, 3)),
                 (ir_args){2, args});
}

static void define_bool(reader *r, ir_inst *v) {
    ir_type t = spv_value_type(r, r->in.type)->value;
    if (spv_is_integer(t) && !ir_is_vector(t)) v = spv_op1(r, IR_OP_zext, t, v);
    spv_define_checked(r, v);
}

/* atomic_compare_exchange_strong(p, expected, value, …): *expected becomes the old value */
void spv_call_c11_compare(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    spv_want_args(r, key, 3);
    ir_inst *p = spv_arg_pointer(r, 0), *expected = spv_arg_pointer(r, 1), *value = spv_arg(r, 2);
    ir_type t = value->type;
    unsigned align = (unsigned)ir_alignof(r->m, t);
    if (!ir_is_int(t) || ir_is_bool(t) || ir_is_vector(t)) spv_bad_type(r, 2, "an integer");
    ir_imm imm = sync_at(r, 3, 5);
    imm.sync.unequal = order_at(r, 4);
    ir_inst *want = ir_build_load(&r->b, t, expected, align, 0);
    ir_inst *old =
        ir_build_raw(&r->b, IR_OP_atomic_cmpxchg, t, ir_with_imm(imm), IR_ARGS(p, value, want));
    ir_build_store(&r->b, old, expected, align, 0);
    define_bool(r, spv_op2(r, IR_OP_eq, IR_I1, old, want));
}

/* atomic_flag_test_and_set, atomic_flag_clear: data is the value that is stored */
void spv_call_c11_flag(reader *r, const spv_builtin *b, const char *key) {
    spv_want_args(r, key, 1);
    ir_inst *args[2] = {spv_arg_pointer(r, 0), ir_const(r->b.f, IR_I32, b->data)};
    ir_imm imm = sync_at(r, 1, 2);
    if (!b->data) {
        ir_build_raw(&r->b, IR_OP_atomic_store, IR_VOID, ir_with_imm(imm), (ir_args){2, args});
        return;
    }
    ir_inst *old =
        ir_build_raw(&r->b, IR_OP_atomic_xchg, IR_I32, ir_with_imm(imm), (ir_args){2, args});
    define_bool(r, spv_op2(r, IR_OP_ne, IR_I1, old, ir_const(r->b.f, IR_I32, 0)));
}

/* ----------------------------------------------------------------------------- barriers, fences */

/* CLK_LOCAL_MEM_FENCE is 1, CLK_GLOBAL_MEM_FENCE 2, CLK_IMAGE_MEM_FENCE 4. */
static uint16_t fence_semantics(reader *r, uint16_t order) {
    uint64_t flags = 3;
    if (r->in.n && !spv_int_constant(r, r->in.arg[0], &flags)) flags = 7;
    return (uint16_t)(order | (flags & 1 ? IR_SEM_LOCAL : 0) | (flags & 2 ? IR_SEM_GLOBAL : 0) |
                      (flags & 4 ? IR_SEM_IMAGE : 0));
}

void spv_call_fence(reader *r, const spv_builtin *b, const char *key) {
    (void)key;
    ir_imm imm = {
        .sync = {.scope = IR_SCOPE_WORKGROUP, .semantics = fence_semantics(r, (uint16_t)b->data)}};
    ir_build_raw(&r->b, IR_OP_fence, IR_VOID, ir_with_imm(imm), IR_NO_ARGS);
}

void spv_call_barrier(reader *r, const spv_builtin *b, const char *key) {
    (void)key;
    ir_build_barrier(&r->b, b->data, IR_SCOPE_WORKGROUP, fence_semantics(r, IR_SEM_SEQ_CST));
}

/* atomic_work_item_fence(flags, order, scope) */
void spv_call_c11_fence(reader *r, const spv_builtin *b, const char *key) {
    (void)b;
    spv_want_args(r, key, 3);
    ir_imm imm = {
        .sync = {.scope = scope_at(r, 2), .semantics = fence_semantics(r, order_at(r, 1))}};
    ir_build_raw(&r->b, IR_OP_fence, IR_VOID, ir_with_imm(imm), IR_NO_ARGS);
}
