/* target.c — the target as register allocation sees it.
 *
 * rsp and rbp hold the frame.  Registers that a callee may change come first: they need not be
 * saved.
 */
#include "codegen/x86_64/x86.h"

enum { GENERAL = 0xffff & ~(1 << RSP | 1 << RBP) };

static uint8_t class_of(const cg_target *t, ir_type type) {
    (void)t;
    ir_kind kind = ir_kind_of(type);
    if (type >= 32 && ir_is_vector(type)) return kind == IR_I1 ? CLASS_MASK : CLASS_VECTOR;
    return kind == IR_F32 || kind == IR_F64 ? CLASS_VECTOR : CLASS_GENERAL;
}

static uint32_t slot_of(const cg_target *t, ir_type type) {
    if (class_of(t, type) != CLASS_VECTOR) return 8;
    return x86_transfer_bytes(type);
}

/* Zeros, immediates, addresses of places, constants after the code. */
static bool may_repeat(const cg_target *t, const ir_inst *i) {
    (void)t;
    if (i->op != IR_OP_mach || i->type == IR_VOID) return false;
    if (x86_kind_of(i) == MACH_ZERO) return true;
    if (x86_kind_of(i) != MACH_PLAIN) return false;
    for (unsigned n = 0; n < i->nargs; n++)
        if (!cg_is_constant(ir_arg(i, n))) return false;
    bool reads = x86_has_memory(i) && x86_row_of(i) != X86_LEA_r64_m;
    return !reads || ir_is_const(ir_arg(i, 0));
}

#define FUSED(N)                                                                                   \
    case X86_##N##SS_x_x_xm:                                                                       \
    case X86_##N##SD_x_x_xm:                                                                       \
    case X86_##N##PS_x_x_xm:                                                                       \
    case X86_##N##PD_x_x_xm:                                                                       \
    case X86_##N##PS_y_y_ym:                                                                       \
    case X86_##N##PD_y_y_ym:                                                                       \
    case X86_##N##PS_z_z_zm_e:                                                                     \
    case X86_##N##PD_z_z_zm_e:

/* Sums, products and bitwise operations of two registers; the factors of a multiply-add. */
static bool commutes(const cg_target *t, const ir_inst *i) {
    (void)t;
    if (x86_kind_of(i) != MACH_PLAIN) return false;
    switch (x86_row_of(i)) {
        FUSED(VFMADD213)
        FUSED(VFMSUB213)
        FUSED(VFNMADD213)
        FUSED(VFNMSUB213)
        return true;
    case X86_ADD_r32_rm32:
    case X86_ADD_r64_rm64:
    case X86_AND_r32_rm32:
    case X86_AND_r64_rm64:
    case X86_OR_r32_rm32:
    case X86_OR_r64_rm64:
    case X86_XOR_r32_rm32:
    case X86_XOR_r64_rm64:
    case X86_IMUL_r32_rm32:
    case X86_IMUL_r64_rm64: return !x86_has_memory(i);
    default: return false;
    }
}

/* k0 as the mask of an instruction says that it has none. */
#define MACHINE(n, classes, vectors)                                                               \
    {                                                                                              \
        .base = {.name = "x86-64",                                                                 \
                 .nclasses = classes,                                                              \
                 .class = {{"general", GENERAL, GENERAL & X86_CALLER_SAVED, 8},                    \
                           {"vector", vectors, 0xffff, 64},                                        \
                           {"mask", 0xfe, 0xfe, 8}},                                               \
                 .describe = x86_describe,                                                         \
                 .class_of = class_of,                                                             \
                 .slot_of = slot_of,                                                               \
                 .may_repeat = may_repeat,                                                         \
                 .commutes = commutes,                                                             \
                 .has_effect = x86_has_effect,                                                     \
                 .only_reads = x86_only_reads,                                                     \
                 .fold_reload = x86_fold_reload,                                                   \
                 .reads_constant = x86_reads_constant,                                             \
                 .unfold = x86_unfold,                                                             \
                 .reg_name = x86_reg_name,                                                         \
                 .put_name = x86_put_name},                                                        \
        .level = n                                                                                 \
    }

const x86_cpu *x86_cpu_of(x86_level level) {
    static const x86_cpu machines[] = {MACHINE(X86_V2, 2, 0xffff), MACHINE(X86_V3, 2, 0xffff),
                                       MACHINE(X86_V4, 3, UINT32_MAX),
                                       MACHINE(X86_ICELAKE, 3, UINT32_MAX)};
    assert(level >= X86_V2 && level <= X86_ICELAKE);
    return &machines[level - X86_V2];
}
