/* moves.c — the rows that load, store and broadcast vectors, by width and level.
 *
 * Loads and stores are those for unaligned addresses.  A constant that repeats 4 or 8 bytes is
 * loaded as a broadcast of one of them, so that memory holds it once.
 */
#include "codegen/x86_64/x86.h"

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
