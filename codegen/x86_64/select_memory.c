/* select_memory.c — loads, stores, atomics.
 *
 * x86-64 orders loads among loads and stores among stores, so acquire and release cost nothing;
 * what is left is a store that a later load of the same work-item must not overtake (seq_cst).  One
 * thread runs all work-items of a group, so atomics on local memory need no lock.
 */
#include "codegen/x86_64/select.h"

enum { NO_ROW = X86_ROWS };

static bool is_in_vector(ir_type t) { return t == IR_F32 || t == IR_F64; }

static x86_row load_row(const ir_builder *b, ir_type t) {
    if (ir_is_vector(t)) return x86_vector_load(x86_cpu_for(b), x86_bytes_of(t));
    switch (ir_kind_of(t)) {
    case IR_F32:
    case IR_F64: return x86_vector_load(x86_cpu_for(b), x86_bytes_of(t));
    case IR_I1:
    case IR_I8: return X86_MOVZX_r32_rm8;
    case IR_I16:
    case IR_F16:
    case IR_BF16: return X86_MOVZX_r32_rm16;
    case IR_I32: return X86_MOV_r32_rm32;
    default: return X86_MOV_r64_rm64;
    }
}

ir_inst *mach_load(ir_builder *b, ir_inst *v, ir_inst *p) {
    x86_draft d = {.row = load_row(b, v->type), .type = v->type};
    d.ordered = v->op != IR_OP_load || v->imm.mem.flags & IR_MEM_VOLATILE;
    x86_add_memory(b, &d, v, p);
    return x86_build(b, &d);
}

/* Of a scalar; a relaxed store, or one that is followed by a fence. */
ir_inst *mach_store(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *p) {
    static const uint16_t regs[] = {X86_MOV_rm8_r8, X86_MOV_rm16_r16, X86_MOV_rm32_r32,
                                    X86_MOV_rm64_r64};
    static const uint16_t imms[] = {X86_MOV_rm8_imm8, X86_MOV_rm16_imm16, X86_MOV_rm32_imm32,
                                    X86_MOV_rm64_imm32};
    bool immediate;
    unsigned size = ir_is_bool(x->type) ? 0 : x86_size_of(x);
    int64_t n = 0;
    x = x86_strip(x);
    immediate = x86_is_imm32(x, &n);
    if (ir_is_const(x) && ir_is_float(x->type)) { /* its bits, where they fit */
        n = size == 3 ? (int64_t)x->imm.bits : (int32_t)x->imm.bits;
        immediate = n == (int32_t)n;
    }
    x86_draft d = {.row = immediate ? imms[size] : regs[size]};
    if (!immediate && is_in_vector(x->type))
        d.row = x86_vector_store(x86_cpu_for(b), x86_bytes_of(x->type));
    x86_add_memory(b, &d, v, p);
    if (immediate)
        x86_add_int(b, &d, IR_I64, (uint64_t)n);
    else
        x86_add_reg(b, &d, x);
    x86_build(b, &d);
    return v;
}

/* Effects have no value: rules get the instruction itself, which then vanishes. */
ir_inst *mach_packed_store(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *p) {
    unsigned bytes = x86_bytes_of(x->type);
    x86_draft d = {.row = x86_is_stream(v) ? x86_stream_row(x86_cpu_for(b), bytes)
                                           : x86_vector_store(x86_cpu_for(b), bytes)};
    x86_add_memory(b, &d, v, p);
    x86_add_reg(b, &d, x);
    x86_build(b, &d);
    return v;
}

ir_inst *mach_address(ir_builder *b, ir_inst *v, ir_inst *x) {
    (void)x;
    x86_draft d = {.row = X86_LEA_r64_m, .type = v->type};
    x86_add_memory(b, &d, v, v);
    bool plain = d.n == 1 && d.disp == 0 && !ir_is_leaf(d.arg[0]) && d.arg[0]->op != IR_OP_alloca;
    if (!plain) return x86_build(b, &d);
    return mach_same(b, v, d.arg[0]);
}

/* ------------------------------------------------------------------ memory as source and target */

typedef struct {
    uint16_t reg[4], imm8[4], imm[4];
} memory_rows;

#define TO_MEMORY(N)                                                                               \
    {                                                                                              \
        {X86_##N##_rm8_r8, X86_##N##_rm16_r16, X86_##N##_rm32_r32, X86_##N##_rm64_r64},            \
            {X86_##N##_rm8_imm8, X86_##N##_rm16_imm8, X86_##N##_rm32_imm8, X86_##N##_rm64_imm8}, { \
            X86_##N##_rm8_imm8, X86_##N##_rm16_imm16, X86_##N##_rm32_imm32, X86_##N##_rm64_imm32   \
        }                                                                                          \
    }

static x86_row memory_row(const memory_rows *r, const ir_inst *y, int64_t *n, bool *immediate) {
    unsigned size = x86_size_of(y);
    *immediate = x86_is_imm32(y, n);
    return (x86_row)(!*immediate ? r->reg[size] : *n == (int8_t)*n ? r->imm8[size] : r->imm[size]);
}

/* Needs `user` a lock for the memory at p?  An exchange has it without saying so. */
static bool is_locked(const ir_inst *user, const ir_inst *p) {
    bool updates = user->op == IR_OP_atomic_add || user->op == IR_OP_atomic_cmpxchg;
    return updates && ir_space_of(p->type) != IR_LOCAL && ir_space_of(p->type) != IR_PRIVATE;
}

/* memory at p = memory op y; `user`: the instruction that asks for the address. */
static void build_update(ir_builder *b, const memory_rows *r, const ir_inst *user, ir_inst *p,
                         ir_inst *y) {
    int64_t n = 0;
    bool immediate;
    x86_draft d = {.row = memory_row(r, y, &n, &immediate), .lock = is_locked(user, p)};
    x86_add_memory(b, &d, user, p);
    if (immediate)
        x86_add_int(b, &d, IR_I64, (uint64_t)n);
    else
        x86_add_reg(b, &d, y);
    x86_build(b, &d);
}

/* The load x and the store v are each other's only company, and nothing writes between them. */
static bool is_update(const ir_inst *v, const ir_inst *x) {
    const ir_inst *sum = ir_arg(v, 0);
    if (v->imm.mem.flags & IR_MEM_VOLATILE || sum->block != v->block) return false;
    if (sum->uses->next || x->uses->next) return false;
    return x86_can_read_later(v, x);
}

#define STORE_OP(name, N)                                                                          \
    ir_inst *mach_store_##name(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {                \
        static const memory_rows r = TO_MEMORY(N);                                                 \
        if (!is_update(v, x)) return NULL;                                                         \
        build_update(b, &r, v, ir_arg(v, 1), y);                                                   \
        return v;                                                                                  \
    }
STORE_OP(add, ADD)
STORE_OP(sub, SUB)
STORE_OP(and, AND)
STORE_OP(or, OR)
STORE_OP(xor, XOR)
#undef STORE_OP

/* -------------------------------------------------------------------------------------- atomics */

/* The old value comes back in the register that held the operand. */
static ir_inst *build_exchange(ir_builder *b, ir_inst *v, const uint16_t rows[4], ir_inst *y,
                               ir_inst *p) {
    x86_draft d = {.row = rows[x86_size_of(v)], .type = v->type, .lock = is_locked(v, p)};
    x86_add_memory(b, &d, v, p);
    x86_add_reg(b, &d, y);
    return x86_build(b, &d);
}

/* x: the pointer, y: what is added */
ir_inst *mach_xadd(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    static const uint16_t xadds[] = {X86_XADD_rm8_r8, X86_XADD_rm16_r16, X86_XADD_rm32_r32,
                                     X86_XADD_rm64_r64};
    static const memory_rows adds = TO_MEMORY(ADD);
    if (v->uses) return build_exchange(b, v, xadds, y, x);
    build_update(b, &adds, v, x, y);
    return v;
}

ir_inst *mach_xchg(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    static const uint16_t xchgs[] = {X86_XCHG_rm8_r8, X86_XCHG_rm16_r16, X86_XCHG_rm32_r32,
                                     X86_XCHG_rm64_r64};
    return build_exchange(b, v, xchgs, y, x);
}

/* x: the pointer, y: the new value, z: what is expected */
ir_inst *mach_cmpxchg(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y, ir_inst *z) {
    static const uint16_t rows[] = {X86_CMPXCHG_rm8_r8, X86_CMPXCHG_rm16_r16, X86_CMPXCHG_rm32_r32,
                                    X86_CMPXCHG_rm64_r64};
    x86_draft d = {.row = rows[x86_size_of(v)], .type = v->type, .lock = is_locked(v, x)};
    x86_add_memory(b, &d, v, x);
    x86_add_reg(b, &d, y);
    x86_add_reg(b, &d, z);
    return x86_build(b, &d);
}

ir_inst *mach_prefetch(ir_builder *b, ir_inst *v, ir_inst *p) {
    x86_draft d = {.row = X86_PREFETCHT0_m8};
    x86_add_memory(b, &d, v, p);
    x86_build(b, &d);
    return v;
}

ir_inst *mach_fence(ir_builder *b, ir_inst *v, ir_inst *x) {
    (void)x;
    x86_draft d = {.row = X86_MFENCE};
    if (v->imm.sync.semantics & IR_SEM_SEQ_CST) x86_build(b, &d);
    return v;
}
