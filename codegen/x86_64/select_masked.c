/* select_masked.c — loads and stores of lanes by a mask, gathers and scatters.
 *
 * With v4 masks are in registers of their own.  Before, the mask is `slt m 0`, and instructions
 * look at the signs of m, whose lanes are as wide as those of the vector.  Gathers and scatters
 * clear the mask (operands.c).
 *
 * A vector may have fewer lanes than the narrowest form of an instruction.  Lanes of the mask after
 * them are not known, so they are cleared.
 */
#include "codegen/x86_64/select.h"

typedef uint16_t widths[3]; /* of registers: 16, 32, 64 bytes */

enum { LEAST_BYTES = 16 };

static unsigned width_of(unsigned bytes) { return bytes > 32 ? 2 : bytes > 16; }

/* ---------------------------------------------------------------------------------------- masks */

static bool is_any_or_zero(const ir_inst *x) {
    uint64_t bits;
    return x->op == IR_OP_undef || (ir_is_const(x) && ir_is_splat(x, &bits) && bits == 0);
}

/* The constant mask c with n lanes of type t, more than it has; those are not set. */
static ir_inst *widen_constant(ir_builder *b, const ir_inst *c, ir_type elem, unsigned n) {
    uint64_t lane[IR_MAX_LANES] = {0}, all = ir_zext(UINT64_MAX, ir_bits(NULL, elem));
    for (unsigned k = 0; k < ir_lanes(c->type); k++) lane[k] = ir_lane_bits(c, k) & 1 ? all : 0;
    return ir_const_lanes(b->f, ir_vector(elem, n), lane);
}

/* The mask c in a mask register, for an instruction that looks at n lanes.  Between the shifts, all
 * bits of the register are of use, as the type says. */
static ir_inst *mask_bits(ir_builder *b, ir_inst *c, unsigned n) {
    const int rest = 64 - (int)ir_lanes(c->type);
    if (ir_lanes(c->type) >= n) return c;
    if (ir_is_const(c)) return widen_constant(b, c, IR_I1, n);
    const ir_type all = ir_vector(IR_I1, 64), used = ir_vector(IR_I1, n);
    ir_inst *high = x86_build_imm(b, all, X86_KSHIFTLQ_k_k_imm8, IR_ARGS(c), rest);
    return x86_build_imm(b, used, X86_KSHIFTRQ_k_k_imm8, IR_ARGS(high), rest);
}

/* The mask c in a vector register, for an instruction that looks at n lanes of so many bytes.  Half
 * of a register is all that a vector may have less than that. */
static ir_inst *mask_signs(ir_builder *b, ir_inst *c, unsigned n, unsigned bytes) {
    if (ir_is_const(c)) return widen_constant(b, c, bytes == 8 ? IR_I64 : IR_I32, n);
    ir_inst *m = ir_arg(c, 0);
    assert_at(c, c->op == IR_OP_slt);
    return ir_lanes(c->type) < n ? x86_build_regs(b, m->type, X86_VMOVQ_x_xm, IR_ARGS(m)) : m;
}

static unsigned lanes_in_register(ir_type t) {
    unsigned bytes = x86_bytes_of(t);
    return (bytes < LEAST_BYTES ? LEAST_BYTES : bytes) / x86_lane_bytes(t);
}

/* ------------------------------------------------------------------------- consecutive elements */

#define LOADS(N)                                                                                   \
    { X86_##N##_x_xm_e, X86_##N##_y_ym_e, X86_##N##_z_zm_e }
#define STORES(N)                                                                                  \
    { X86_##N##_xm_x_e, X86_##N##_ym_y_e, X86_##N##_zm_z_e }
#define OLD_LOADS(N)                                                                               \
    { X86_##N##_x_x_m128, X86_##N##_y_y_m256 }
#define OLD_STORES(N)                                                                              \
    { X86_##N##_m128_x_x, X86_##N##_m256_y_y }

/* The index of rows by log2 of the bytes of a lane; those of floats follow. */
static unsigned lane_index(ir_type t) {
    bool is_float = ir_kind_of(t) == IR_F32 || ir_kind_of(t) == IR_F64;
    return (unsigned)__builtin_ctz(x86_lane_bytes(t)) + (is_float ? 2 : 0);
}

static ir_inst *build_old_load(ir_builder *b, ir_inst *v, ir_inst *p, ir_inst *c) {
    static const widths rows[] = {[2] = OLD_LOADS(VPMASKMOVD),
                                  OLD_LOADS(VPMASKMOVQ),
                                  OLD_LOADS(VMASKMOVPS),
                                  OLD_LOADS(VMASKMOVPD)};
    ir_inst *m = mask_signs(b, c, lanes_in_register(v->type), x86_lane_bytes(v->type));
    x86_draft d = {.row = rows[lane_index(v->type)][width_of(x86_bytes_of(v->type))],
                   .type = v->type};
    x86_add_reg(b, &d, m);
    x86_add_memory(b, &d, v, p);
    return x86_build(b, &d);
}

/* What was read is 0 where the mask is not set. */
static ir_inst *load_by_signs(ir_builder *b, ir_inst *v, ir_inst *p, ir_inst *c, ir_inst *other) {
    ir_inst *x = build_old_load(b, v, p, c);
    if (is_any_or_zero(other)) return x;
    ir_inst *m = mask_signs(b, c, ir_lanes(c->type), x86_lane_bytes(v->type));
    return x86_packed_choose(b, v, m, x, other);
}

x86_row x86_masked_load(ir_type t) {
    static const widths rows[] = {LOADS(VMOVDQU8),  LOADS(VMOVDQU16), LOADS(VMOVDQU32),
                                  LOADS(VMOVDQU64), LOADS(VMOVUPS),   LOADS(VMOVUPD)};
    return rows[lane_index(t)][width_of(x86_bytes_of(t))];
}

ir_inst *mach_masked_load(ir_builder *b, ir_inst *v, ir_inst *p, ir_inst *c, ir_inst *other) {
    if (!x86_has(b, X86_V4)) return load_by_signs(b, v, p, c, other);
    bool zero = is_any_or_zero(other);
    x86_draft d = {
        .row = x86_masked_load(v->type), .kind = zero ? MACH_ZEROED : MACH_MERGED, .type = v->type};
    ir_inst *mask = mask_bits(b, c, lanes_in_register(v->type));
    x86_add_memory(b, &d, v, p);
    x86_add_reg(b, &d, mask);
    if (!zero) x86_add_reg(b, &d, other);
    return x86_build(b, &d);
}

static void store_by_signs(ir_builder *b, const ir_inst *v, ir_inst *x, ir_inst *p, ir_inst *c) {
    static const widths rows[] = {[2] = OLD_STORES(VPMASKMOVD),
                                  OLD_STORES(VPMASKMOVQ),
                                  OLD_STORES(VMASKMOVPS),
                                  OLD_STORES(VMASKMOVPD)};
    ir_inst *m = mask_signs(b, c, lanes_in_register(x->type), x86_lane_bytes(x->type));
    x86_draft d = {.row = rows[lane_index(x->type)][width_of(x86_bytes_of(x->type))]};
    x86_add_memory(b, &d, v, p);
    x86_add_reg(b, &d, m);
    x86_add_reg(b, &d, x);
    x86_build(b, &d);
}

ir_inst *mach_masked_store(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *p, ir_inst *c) {
    static const widths rows[] = {STORES(VMOVDQU8),  STORES(VMOVDQU16), STORES(VMOVDQU32),
                                  STORES(VMOVDQU64), STORES(VMOVUPS),   STORES(VMOVUPD)};
    if (!x86_has(b, X86_V4)) {
        store_by_signs(b, v, x, p, c);
        return v;
    }
    ir_inst *mask = mask_bits(b, c, lanes_in_register(x->type));
    x86_draft d = {.row = rows[lane_index(x->type)][width_of(x86_bytes_of(x->type))],
                   .kind = MACH_MASKED};
    x86_add_memory(b, &d, v, p);
    x86_add_reg(b, &d, x);
    x86_add_reg(b, &d, mask);
    x86_build(b, &d);
    return v;
}

/* ------------------------------------------------------------------------- gathers and scatters */

/* Rows by the bytes of an offset, 4 or 8, then by those of a lane, and by the number of lanes. */
typedef uint16_t apart_rows[2][2][3];

#define GATHERS(DD, DQ, QD, QQ)                                                                    \
    {                                                                                              \
        {{X86_##DD##_x_vm32x_e, X86_##DD##_y_vm32y_e, X86_##DD##_z_vm32z_e},                       \
         {X86_##DQ##_x_vm32x_e, X86_##DQ##_y_vm32x_e, X86_##DQ##_z_vm32y_e}},                      \
        {                                                                                          \
            {X86_##QD##_x_vm64x_e, X86_##QD##_x_vm64y_e, X86_##QD##_y_vm64z_e}, {                  \
                X86_##QQ##_x_vm64x_e, X86_##QQ##_y_vm64y_e, X86_##QQ##_z_vm64z_e                   \
            }                                                                                      \
        }                                                                                          \
    }
#define OLD_GATHERS(DD, DQ, QD, QQ)                                                                \
    {                                                                                              \
        {{X86_##DD##_x_vm32x_x, X86_##DD##_y_vm32y_y},                                             \
         {X86_##DQ##_x_vm32x_x, X86_##DQ##_y_vm32x_y}},                                            \
        {                                                                                          \
            {X86_##QD##_x_vm64x_x, X86_##QD##_x_vm64y_x}, {                                        \
                X86_##QQ##_x_vm64x_x, X86_##QQ##_y_vm64y_y                                         \
            }                                                                                      \
        }                                                                                          \
    }
#define SCATTERS(DD, DQ, QD, QQ)                                                                   \
    {                                                                                              \
        {{X86_##DD##_vm32x_x_e, X86_##DD##_vm32y_y_e, X86_##DD##_vm32z_z_e},                       \
         {X86_##DQ##_vm32x_x_e, X86_##DQ##_vm32x_y_e, X86_##DQ##_vm32y_z_e}},                      \
        {                                                                                          \
            {X86_##QD##_vm64x_x_e, X86_##QD##_vm64y_x_e, X86_##QD##_vm64z_y_e}, {                  \
                X86_##QQ##_vm64x_x_e, X86_##QQ##_vm64y_y_e, X86_##QQ##_vm64z_z_e                   \
            }                                                                                      \
        }                                                                                          \
    }

/* The form of a gather or scatter. */
typedef struct {
    x86_row row;
    unsigned lanes; /* that it looks at */
} apart_form;

/* rows: of integers, and of floats */
static apart_form find_form(const apart_rows rows[2], ir_type t, ir_type offsets) {
    bool wide = x86_lane_bytes(t) == 8, far = x86_lane_bytes(offsets) == 8;
    unsigned width = 0, least = wide || far ? 2 : 4;
    while (least << width < ir_lanes(t)) width++;
    return (apart_form){rows[ir_is_float(t)][far][wide][width], least << width};
}

/* A mask that is also the vector of offsets goes to a register of its own, where it is cleared. */
static ir_inst *own_signs(ir_builder *b, ir_inst *m, ir_inst *offsets) {
    bool wide = !ir_is_const(m) && x86_bytes_of(m->type) > 16;
    if (x86_strip(m) != x86_strip(offsets)) return m;
    return x86_build_regs(b, m->type, wide ? X86_VMOVAPS_y_ym : X86_VMOVAPS_x_xm, IR_ARGS(m));
}

static ir_inst *gather_by_signs(ir_builder *b, ir_inst *v, ir_inst *c, ir_inst *other) {
    static const apart_rows rows[] = {OLD_GATHERS(VPGATHERDD, VPGATHERDQ, VPGATHERQD, VPGATHERQQ),
                                      OLD_GATHERS(VGATHERDPS, VGATHERDPD, VGATHERQPS, VGATHERQPD)};
    x86_lanes at = x86_find_lanes(ir_arg(v, 1));
    apart_form form = find_form(rows, v->type, at.index->type);
    ir_inst *m = mask_signs(b, c, form.lanes, x86_lane_bytes(v->type));
    x86_draft d = {.row = form.row, .type = v->type};
    m = own_signs(b, m, at.index);
    x86_add_reg(b, &d, other);
    x86_add_lanes_memory(b, &d, ir_arg(v, 0), at);
    x86_add_reg(b, &d, m);
    return x86_build(b, &d);
}

ir_inst *mach_gather(ir_builder *b, ir_inst *v, ir_inst *c, ir_inst *other) {
    static const apart_rows rows[] = {GATHERS(VPGATHERDD, VPGATHERDQ, VPGATHERQD, VPGATHERQQ),
                                      GATHERS(VGATHERDPS, VGATHERDPD, VGATHERQPS, VGATHERQPD)};
    if (!x86_has(b, X86_V4)) return gather_by_signs(b, v, c, other);
    x86_lanes at = x86_find_lanes(ir_arg(v, 1));
    apart_form form = find_form(rows, v->type, at.index->type);
    ir_inst *mask = mask_bits(b, c, form.lanes);
    x86_draft d = {.row = form.row, .kind = MACH_MASKED, .type = v->type};
    x86_add_reg(b, &d, other);
    x86_add_lanes_memory(b, &d, ir_arg(v, 0), at);
    x86_add_reg(b, &d, mask);
    return x86_build(b, &d);
}

ir_inst *mach_scatter(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *c) {
    static const apart_rows rows[] = {SCATTERS(VPSCATTERDD, VPSCATTERDQ, VPSCATTERQD, VPSCATTERQQ),
                                      SCATTERS(VSCATTERDPS, VSCATTERDPD, VSCATTERQPS, VSCATTERQPD)};
    x86_lanes at = x86_find_lanes(ir_arg(v, 2));
    apart_form form = find_form(rows, x->type, at.index->type);
    ir_inst *mask = mask_bits(b, c, form.lanes);
    x86_draft d = {.row = form.row, .kind = MACH_MASKED};
    x86_add_lanes_memory(b, &d, ir_arg(v, 1), at);
    x86_add_reg(b, &d, x);
    x86_add_reg(b, &d, mask);
    x86_build(b, &d);
    return v;
}
