/* target.c — the target as register allocation sees it.
 *
 * rsp and rbp hold the frame.  Registers that a callee may change come first: they need not be
 * saved.
 */
#include "codegen/x86_64/x86.h"

enum {
    GENERAL = 0xffff & ~(1 << RSP | 1 << RBP),
    CALLER_SAVED = 1 << RAX | 1 << RCX | 1 << RDX | 1 << RSI | 1 << RDI | 1 << R8 | 1 << R9 |
                   1 << R10 | 1 << R11
};

static uint8_t class_of(const cg_target *t, ir_type type) {
    (void)t;
    ir_kind kind = ir_kind_of(type);
    if (ir_is_vector(type)) return kind == IR_I1 ? CLASS_MASK : CLASS_VECTOR;
    return kind == IR_F32 || kind == IR_F64 ? CLASS_VECTOR : CLASS_GENERAL;
}

static uint32_t slot_of(const cg_target *t, ir_type type) {
    if (class_of(t, type) != CLASS_VECTOR) return 8;
    return x86_bytes_of(type);
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
                 .class = {{"general", GENERAL, GENERAL & CALLER_SAVED, 8},                        \
                           {"vector", vectors, 0xffff, 64},                                        \
                           {"mask", 0xfe, 0xfe, 8}},                                               \
                 .describe = x86_describe,                                                         \
                 .class_of = class_of,                                                             \
                 .slot_of = slot_of,                                                               \
                 .may_repeat = may_repeat,                                                         \
                 .commutes = commutes,                                                             \
                 .has_effect = x86_has_effect,                                                     \
                 .fold_reload = x86_fold_reload,                                                   \
                 .reads_constant = x86_reads_constant,                                             \
                 .unfold = x86_unfold,                                                             \
                 .reg_name = x86_reg_name,                                                         \
                 .put_name = x86_put_name},                                                        \
        .level = n                                                                                 \
    }

const x86_cpu *x86_cpu_of(x86_level level) {
    static const x86_cpu machines[] = {MACHINE(X86_V2, 2, 0xffff), MACHINE(X86_V3, 2, 0xffff),
                                       MACHINE(X86_V4, 3, UINT32_MAX)};
    assert(level >= X86_V2 && level <= X86_V4);
    return &machines[level - X86_V2];
}

/* ---------------------------------------------------------------------------------------- moves */

x86_row x86_vector_load(const x86_cpu *t, unsigned bytes) {
    static const uint16_t rows[2][5] = {
        {X86_MOVSS_x_m32, X86_MOVSD_x_m64, X86_MOVUPS_x_xm, X86_ROWS, X86_ROWS},
        {X86_VMOVSS_x_m32, X86_VMOVSD_x_m64, X86_VMOVUPS_x_xm, X86_VMOVUPS_y_ym,
         X86_VMOVUPS_z_zm_e}};
    return rows[t->level >= X86_V3][__builtin_ctz(bytes) - 2];
}

x86_row x86_vector_store(const x86_cpu *t, unsigned bytes) {
    static const uint16_t rows[2][5] = {
        {X86_MOVSS_m32_x, X86_MOVSD_m64_x, X86_MOVUPS_xm_x, X86_ROWS, X86_ROWS},
        {X86_VMOVSS_m32_x, X86_VMOVSD_m64_x, X86_VMOVUPS_xm_x, X86_VMOVUPS_ym_y,
         X86_VMOVUPS_zm_z_e}};
    return rows[t->level >= X86_V3][__builtin_ctz(bytes) - 2];
}

/* Broadcasts, by width and log2 of the bytes of an element. */
static x86_row pick_broadcast(const uint16_t rows[3][4], ir_type t, unsigned element) {
    unsigned bytes = x86_bytes_of(t), width = bytes > 32 ? 2 : bytes > 16;
    return rows[width][__builtin_ctz(element)];
}

x86_row x86_broadcast_row(ir_type t, unsigned element) {
    static const uint16_t rows[3][4] = {{X86_VPBROADCASTB_x_xm, X86_VPBROADCASTW_x_xm,
                                         X86_VPBROADCASTD_x_xm, X86_VPBROADCASTQ_x_xm},
                                        {X86_VPBROADCASTB_y_xm, X86_VPBROADCASTW_y_xm,
                                         X86_VPBROADCASTD_y_xm, X86_VPBROADCASTQ_y_xm},
                                        {X86_VPBROADCASTB_z_xm_e, X86_VPBROADCASTW_z_xm_e,
                                         X86_VPBROADCASTD_z_xm_e, X86_VPBROADCASTQ_z_xm_e}};
    return pick_broadcast(rows, t, element);
}

x86_row x86_general_broadcast_row(ir_type t) {
    static const uint16_t rows[3][4] = {{X86_VPBROADCASTB_x_r32_e, X86_VPBROADCASTW_x_r32_e,
                                         X86_VPBROADCASTD_x_r32_e, X86_VPBROADCASTQ_x_r64_e},
                                        {X86_VPBROADCASTB_y_r32_e, X86_VPBROADCASTW_y_r32_e,
                                         X86_VPBROADCASTD_y_r32_e, X86_VPBROADCASTQ_y_r64_e},
                                        {X86_VPBROADCASTB_z_r32_e, X86_VPBROADCASTW_z_r32_e,
                                         X86_VPBROADCASTD_z_r32_e, X86_VPBROADCASTQ_z_r64_e}};
    return pick_broadcast(rows, t, ir_bits(NULL, t) / 8);
}

/* The 4 or 8 bytes that c repeats; NULL: it repeats none. */
static ir_inst *repeated_part(ir_func *f, const ir_inst *c) {
    uint64_t bits;
    unsigned width = ir_bits(NULL, c->type);
    if (!ir_is_splat(c, &bits)) return NULL;
    for (; width < 32; width *= 2) bits |= bits << width;
    return ir_const(f, ir_scalar(width == 64 ? IR_I64 : IR_I32), bits);
}

x86_row x86_constant_load(const x86_cpu *t, ir_func *f, ir_inst **c) {
    ir_type type = (*c)->type;
    ir_inst *part = x86_bytes_of(type) > 16 ? repeated_part(f, *c) : NULL;
    if (!part) return x86_vector_load(t, x86_bytes_of(type));
    *c = part;
    return x86_broadcast_row(type, x86_bytes_of(part->type));
}
