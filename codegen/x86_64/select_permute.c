/* select_permute.c — lanes of a register picked by another register.
 *
 * Bytes of 16 bytes come from PSHUFB; wider lanes from anywhere in a register of AVX2 (32 bits) or
 * AVX-512 (16, 32 and 64 bits).  All of them look at the low bits of the numbers, as many as a
 * register has lanes; a byte whose highest bit is set would be 0.  What is missing here becomes
 * something else before (passes/lower/vectors_permute.c).
 */
#include "codegen/x86_64/select.h"

/* Rows by log2 of the bytes of a lane, and by width: 16, 32, 64 bytes; 0: there is none. */
typedef uint16_t lane_rows[4][3];

static const lane_rows rows_v2 = {{X86_PSHUFB_x_xm}};
static const lane_rows rows_v3 = {
    {X86_VPSHUFB_x_x_xm}, {0}, {X86_VPERMILPS_x_x_xm, X86_VPERMD_y_y_ym}};
static const lane_rows rows_v4 = {{X86_VPSHUFB_x_x_xm},
                                  {X86_VPERMW_x_x_xm_e, X86_VPERMW_y_y_ym_e, X86_VPERMW_z_z_zm_e},
                                  {X86_VPERMILPS_x_x_xm, X86_VPERMD_y_y_ym, X86_VPERMD_z_z_zm_e},
                                  {0, X86_VPERMQ_y_y_ym_e, X86_VPERMQ_z_z_zm_e}};

static x86_row find_row(ir_type t, unsigned level) {
    const lane_rows *rows = level >= X86_V4 ? &rows_v4 : level >= X86_V3 ? &rows_v3 : &rows_v2;
    unsigned bytes = x86_bytes_of(t);
    return (*rows)[__builtin_ctz(x86_lane_bytes(t))][bytes > 32 ? 2 : bytes > 16];
}

bool x86_takes_permute(ir_type t, unsigned level) { return find_row(t, level) != 0; }

ir_inst *mach_permute(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *index) {
    x86_row row = find_row(v->type, x86_cpu_for(b)->level);
    bool index_last = x86_lane_bytes(v->type) == 1 || row == X86_VPERMILPS_x_x_xm;
    x86_draft d = {.row = row, .type = v->type};
    if (!row) return NULL;
    x86_add_reg(b, &d, index_last ? x : index);
    x86_add_rm(b, &d, v, index_last ? index : x);
    return x86_build(b, &d);
}
