/* select_packed.c — vectors in vector registers: arithmetic, comparisons, choices, conversions.
 *
 * A vector takes 4 to 64 bytes of a register, from lane 0 on; what follows it is not known.
 * Pass `legalize_vectors` has left lanes of 8 bits and more, as many as a power of two, and truth
 * values as masks: 0 or -1 in every lane, or (v4, select_mask.c) in registers of their own.
 *
 * Which operations there are is said by packed.def, and by x86_takes for those that need more than
 * one instruction.
 */
#include "codegen/x86_64/select.h"

#define BINARY X86_BINARY
#define UNARY X86_UNARY
#define KEEPS X86_UNARY
#define BITWISE X86_BITWISE
#define EVEX_BINARY X86_EVEX_BINARY
#define VEX_BINARY(N)                                                                              \
    { 0, X86_##N##_x_x_xm, X86_##N##_y_y_ym, X86_##N##_z_z_zm_e }
#define EVEX_UNARY(N)                                                                              \
    { 0, X86_##N##_x_xm_e, X86_##N##_y_ym_e, X86_##N##_z_zm_e }
#define COMPARES(N)                                                                                \
    { X86_##N##_x_xm, X86_V##N##_x_x_xm, X86_V##N##_y_y_ym }
#define MASKS(N)                                                                                   \
    { 0, X86_##N##Q_k_k_k }
#define WIDENS(N)                                                                                  \
    { X86_##N##_x_xm, X86_V##N##_x_xm, X86_V##N##_y_xm, X86_V##N##_z_ym_e }
#define WIDENS_MORE(N)                                                                             \
    { X86_##N##_x_xm, X86_V##N##_x_xm, X86_V##N##_y_xm, X86_V##N##_z_xm_e }
#define NARROWS(N)                                                                                 \
    { X86_##N##_x_xm, X86_V##N##_x_xm, X86_V##N##_x_ym, X86_V##N##_y_zm_e }
#define EVEX_WIDENS(N)                                                                             \
    { 0, X86_##N##_x_xm_e, X86_##N##_y_xm_e, X86_##N##_z_ym_e }
#define VEX_WIDENS(N)                                                                              \
    { 0, X86_##N##_x_xm, X86_##N##_y_xm, X86_##N##_z_ym_e }
#define VEX_NARROWS_IMM(N)                                                                         \
    { 0, X86_##N##_xm_x_imm8, X86_##N##_xm_y_imm8, X86_##N##_ym_z_imm8_e }
#define EVEX_NARROWS(N)                                                                            \
    { 0, X86_##N##_x_xm_e, X86_##N##_x_ym_e, X86_##N##_y_zm_e }
#define CUTS(N)                                                                                    \
    { 0, X86_##N##_xm_x_e, X86_##N##_xm_y_e, X86_##N##_ym_z_e }
#define CUTS_MORE(N)                                                                               \
    { 0, X86_##N##_xm_x_e, X86_##N##_xm_y_e, X86_##N##_xm_z_e }
#define BY_IMM(N)                                                                                  \
    { X86_##N##_x_imm8, X86_V##N##_x_x_imm8, X86_V##N##_y_y_imm8, X86_V##N##_z_zm_imm8_e }
#define EVEX_BY_IMM(N)                                                                             \
    { 0, X86_##N##_x_xm_imm8_e, X86_##N##_y_ym_imm8_e, X86_##N##_z_zm_imm8_e }

typedef struct {
    uint16_t op;
    uint8_t from, to; /* from: of a conversion, otherwise 0 */
    x86_widths forms;
} packed_row;

static const packed_row plain_rows[] = {
#define PACKED(op, kind, ...) {IR_OP_##op, 0, IR_##kind, __VA_ARGS__},
#define SHIFT(op, kind, ...)
#define CONVERT(op, from, to, ...) {IR_OP_##op, IR_##from, IR_##to, __VA_ARGS__},
#include "codegen/x86_64/packed.def"
#undef PACKED
#undef SHIFT
#undef CONVERT
};

static const packed_row shift_rows[] = {
#define PACKED(op, kind, ...)
#define SHIFT(op, kind, ...) {IR_OP_##op, 0, IR_##kind, __VA_ARGS__},
#define CONVERT(op, from, to, ...)
#include "codegen/x86_64/packed.def"
#undef PACKED
#undef SHIFT
#undef CONVERT
};

/* --------------------------------------------------------------------------------------- tables */

static const uint16_t *find_row(const packed_row *rows, unsigned n, ir_op op, ir_kind from,
                                ir_kind to) {
    for (unsigned k = 0; k < n; k++)
        if (rows[k].op == op && rows[k].to == to && (!rows[k].from || rows[k].from == from))
            return rows[k].forms;
    return NULL;
}

static const uint16_t *forms_of(ir_op op, ir_type from, ir_type to) {
    return find_row(plain_rows, sizeof plain_rows / sizeof *plain_rows, op, ir_kind_of(from),
                    ir_kind_of(to));
}

static const uint16_t *shift_of(const ir_inst *i) {
    return find_row(shift_rows, sizeof shift_rows / sizeof *shift_rows, (ir_op)i->op, 0,
                    ir_kind_of(i->type));
}

/* ------------------------------------------------------------------------ what operations exist */

static bool is_single_or_double(ir_type t) {
    return ir_kind_of(t) == IR_F32 || ir_kind_of(t) == IR_F64;
}

static bool takes_conversion(const ir_inst *i) {
    switch (ir_info(i)->rule) {
    case R_FTOI: return i->imm.round.mode == IR_RTZ && i->imm.round.sat == (i->op == IR_OP_fptoui);
    case R_FTOF:
    case R_ITOF: return i->imm.round.mode == IR_RTE;
    default: return true;
    }
}

/* Has the level the instruction, with all widths of registers that it has? */
static bool has_forms(const uint16_t *forms, unsigned level) {
    unsigned row = forms ? forms[level >= X86_V3 ? X86_VEX_128 : X86_SSE] : 0;
    return row && x86_forms[row].level <= level;
}

static bool takes_shift(const ir_inst *i, unsigned level) {
    uint64_t bits;
    bool known = ir_is_const(ir_arg(i, 1)) && ir_is_splat(ir_arg(i, 1), &bits);
    return known && has_forms(shift_of(i), level);
}

/* Constants of 64 bits whose lanes all have at most 32. */
static bool is_half(const ir_inst *x) {
    bool small = ir_is_const(x) && ir_kind_of(x->type) == IR_I64;
    for (unsigned k = 0; small && k < ir_lanes(x->type); k++)
        small = ir_lane_bits(x, k) <= UINT32_MAX;
    return small;
}

/* What PMULUDQ looks at: x, without the removal of upper halves; NULL: it needs more. */
static ir_inst *lower_half(ir_inst *x) {
    uint64_t bits;
    if (is_half(x)) return x;
    bool cut = x->op == IR_OP_and && ir_is_const(ir_arg(x, 1)) && ir_kind_of(x->type) == IR_I64;
    return cut && ir_is_splat(ir_arg(x, 1), &bits) && bits == UINT32_MAX ? ir_arg(x, 0) : NULL;
}

bool x86_is_product_of_halves(const ir_inst *v) {
    bool vector = v->op == IR_OP_mul && ir_is_vector(v->type);
    return vector && lower_half(ir_arg(v, 0)) && lower_half(ir_arg(v, 1));
}

ir_inst *mach_packed_halves(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    static const x86_widths forms = BINARY(PMULUDQ);
    x86_draft d = {.row = forms[x86_form_of(b, v->type)], .type = v->type};
    x86_add_reg(b, &d, lower_half(x));
    x86_add_rm(b, &d, v, lower_half(y));
    return x86_build(b, &d);
}

/* Accesses of lanes by a mask (select_masked.c). */
static bool takes_masked(const ir_inst *i, unsigned level) {
    bool loads = ir_is_load(i);
    unsigned bytes = x86_lane_bytes(loads ? i->type : ir_arg(i, 0)->type);
    if (i->op == IR_OP_masked_load || i->op == IR_OP_masked_store)
        return level >= X86_V4 || (level >= X86_V3 && bytes >= 4);
    return level >= (loads ? X86_V3 : X86_V4) && bytes >= 4;
}

/* A mask as a number: from a mask register, or the signs of bytes. */
static bool takes_number(const ir_inst *i, unsigned level) {
    const ir_inst *mask = ir_arg(i, 0);
    if (!ir_is_bool(ir_elem(mask->type))) return false;
    bool signs = mask->op == IR_OP_slt && ir_kind_of(ir_arg(mask, 0)->type) == IR_I8;
    return signs || level >= X86_V4;
}

/* For 64-bit products below v4 this only recognizes constant operands; x86_is_product_of_halves
 * also recognizes masked ones. */
bool x86_takes(const ir_inst *i, unsigned level) {
    if (ir_is_masked(i)) return takes_masked(i, level);
    ir_type from = i->nargs ? ir_arg(i, 0)->type : i->type;
    const uint16_t *forms = forms_of((ir_op)i->op, from, i->type);
    switch (i->op) {
    case IR_OP_fneg:
    case IR_OP_fabs:
    case IR_OP_copysign:
    case IR_OP_rint:
    case IR_OP_floor:
    case IR_OP_ceil:
    case IR_OP_trunc_f: return is_single_or_double(i->type);
    case IR_OP_fma:
    case IR_OP_mad: return is_single_or_double(i->type) && level >= X86_V3;
    case IR_OP_shl:
    case IR_OP_lshr:
    case IR_OP_ashr:
    case IR_OP_rotl: return takes_shift(i, level) || has_forms(forms, level);
    case IR_OP_bitcast: return takes_number(i, level);
    case IR_OP_permute: return x86_takes_permute(i->type, level);
    case IR_OP_bytedot:
    case IR_OP_bytedotsat: return ir_kind_of(i->type) == IR_I32 && level >= X86_ICELAKE;
    case IR_OP_worddot: return ir_kind_of(i->type) == IR_I32;
    case IR_OP_mul:
        if (is_half(ir_arg(i, 0)) && is_half(ir_arg(i, 1))) return true;
        break;
    default: break;
    }
    if (ir_info(i)->rule == R_CMPF) return is_single_or_double(from);
    if (ir_info(i)->rule == R_CMPI) return forms_of(IR_OP_slt, from, from) != NULL;
    return has_forms(forms, level) && takes_conversion(i);
}

/* ----------------------------------------------------------------------------------- arithmetic */

static const x86_widths pands = BITWISE(PAND), pandns = BITWISE(PANDN), pors = BITWISE(POR),
                        pxors = BITWISE(PXOR), andps = BINARY(ANDPS), orps = BINARY(ORPS),
                        xorps = BINARY(XORPS);

static ir_inst *build_rows(ir_builder *b, ir_type t, const x86_widths forms, ir_inst *x,
                           ir_inst *y) {
    return x86_build_regs(b, t, forms[x86_form_of(b, t)], IR_ARGS(x, y));
}

/* One operand may be memory. */
ir_inst *mach_packed(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    const uint16_t *forms = forms_of((ir_op)v->op, v->type, v->type);
    x86_draft d = {.type = v->type};
    if (!forms || !forms[x86_form_of(b, v->type)]) return NULL;
    d.row = forms[x86_form_of(b, v->type)];
    bool swap = ir_has_flag(v, F_COMMUTES) && x86_is_foldable(b, d.row, v, x) &&
                !x86_is_foldable(b, d.row, v, y);
    x86_add_reg(b, &d, swap ? y : x);
    x86_add_rm(b, &d, v, swap ? x : y);
    return x86_build(b, &d);
}

ir_inst *mach_packed_1(ir_builder *b, ir_inst *v, ir_inst *x) {
    const uint16_t *forms = forms_of((ir_op)v->op, x->type, v->type);
    unsigned from = x86_form_of(b, x->type), to = x86_form_of(b, v->type);
    if (!forms) return NULL;
    x86_draft d = {.row = forms[from > to ? from : to], .type = v->type};
    x86_add_rm(b, &d, v, x);
    return x86_build(b, &d);
}

/* As mach_fptoui. */
ir_inst *mach_packed_fptoui(ir_builder *b, ir_inst *v, ir_inst *x) {
    ir_inst *zero = ir_const(b->f, x->type, 0);
    return mach_packed_1(b, v,
                         build_rows(b, x->type, forms_of(IR_OP_fmax, x->type, x->type), x, zero));
}

/* Its result is what may be memory. */
ir_inst *mach_packed_trunc(ir_builder *b, ir_inst *v, ir_inst *x) {
    const uint16_t *forms = forms_of(IR_OP_trunc, x->type, v->type);
    return x86_build_regs(b, v->type, forms[x86_form_of(b, x->type)], IR_ARGS(x));
}

/* Rounded as the immediate says: to nearest. */
ir_inst *mach_packed_half(ir_builder *b, ir_inst *v, ir_inst *x) {
    const uint16_t *forms = forms_of(IR_OP_fpcast, x->type, v->type);
    return x86_build_imm(b, v->type, forms[x86_form_of(b, x->type)], IR_ARGS(x), 0);
}

/* ~x & y */
ir_inst *mach_packed_andn(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    static const x86_widths masks = MASKS(KANDN);
    return build_rows(b, v->type, ir_is_bool(v->type) ? masks : pandns, x, y);
}

/* What an operation on bits makes of eight of them. */
static unsigned apply(unsigned op, unsigned x, unsigned y) {
    return op == IR_OP_and ? x & y : op == IR_OP_or ? x | y : x ^ y;
}

static bool is_all_ones(const ir_inst *x) {
    uint64_t bits;
    return ir_is_const(x) && ir_is_splat(x, &bits) &&
           bits == ir_zext(UINT64_MAX, ir_bits(NULL, x->type));
}

/* inner and v are operations on bits: the immediate is their table of truth.  An operand that is
 * all ones is in the table and in no register. */
ir_inst *mach_packed_ternary(ir_builder *b, ir_inst *v, ir_inst *inner, ir_inst *z) {
    static const x86_widths forms = X86_EVEX_BINARY_IMM(VPTERNLOGD);
    enum { FIRST = 0xf0, SECOND = 0xcc, THIRD = 0xaa, ONES = 0xff };
    ir_inst *x = ir_arg(inner, 0), *y = ir_arg(inner, 1);
    bool not_y = is_all_ones(y), not_z = is_all_ones(z);
    unsigned table = apply(inner->op, FIRST, not_y ? ONES : SECOND);
    x86_draft d = {.row = forms[x86_form_of(b, v->type)], .type = v->type};
    x86_add_reg(b, &d, x);
    x86_add_reg(b, &d, not_y ? x : y);
    if (not_z)
        x86_add_reg(b, &d, x);
    else
        x86_add_rm(b, &d, v, z);
    x86_add_int(b, &d, IR_I8, apply(v->op, table, not_z ? ONES : THIRD));
    return x86_build(b, &d);
}

ir_inst *mach_packed_shift(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    uint64_t by;
    const uint16_t *forms = shift_of(v);
    bool known = ir_is_const(y) && ir_is_splat(y, &by);
    if (!known || !forms) return mach_packed(b, v, x, y);
    int imm = v->op == IR_OP_rotl ? (int)(by % ir_bits(NULL, v->type)) : by < 255 ? (int)by : 255;
    return x86_build_imm(b, v->type, forms[x86_form_of(b, v->type)], IR_ARGS(x), imm);
}

ir_inst *mach_packed_round(ir_builder *b, ir_inst *v, ir_inst *x) {
    static const x86_widths singles = {X86_ROUNDPS_x_xm_imm8, X86_VROUNDPS_x_xm_imm8,
                                       X86_VROUNDPS_y_ym_imm8, X86_VRNDSCALEPS_z_zm_imm8_e};
    static const x86_widths doubles = {X86_ROUNDPD_x_xm_imm8, X86_VROUNDPD_x_xm_imm8,
                                       X86_VROUNDPD_y_ym_imm8, X86_VRNDSCALEPD_z_zm_imm8_e};
    const uint16_t *forms = ir_kind_of(v->type) == IR_F64 ? doubles : singles;
    return x86_build_imm(b, v->type, forms[x86_form_of(b, v->type)], IR_ARGS(x),
                         x86_rounding_of((ir_op)v->op));
}

/* ----------------------------------------------------------------------------------------- bits */

/* The same bits in every lane, of a register at least. */
static ir_inst *all_lanes(ir_builder *b, ir_type like, uint64_t bits) {
    unsigned width = ir_bits(NULL, like), lanes = ir_lanes(like);
    ir_kind kind = width == 8 ? IR_I8 : width == 16 ? IR_I16 : width == 32 ? IR_I32 : IR_I64;
    if (lanes * width < 128) lanes = 128 / width;
    return ir_const(b->f, ir_vector(ir_scalar(kind), lanes), ir_zext(bits, width));
}

static uint64_t sign_of(ir_type t) { return UINT64_C(1) << (ir_bits(NULL, t) - 1); }

static ir_inst *build_with_constant(ir_builder *b, ir_inst *v, const x86_widths forms, ir_inst *x,
                                    uint64_t bits) {
    x86_draft d = {.row = forms[x86_form_of(b, v->type)], .type = v->type};
    x86_add_reg(b, &d, x);
    x86_add_rm(b, &d, v, all_lanes(b, v->type, bits));
    return x86_build(b, &d);
}

ir_inst *mach_packed_fneg(ir_builder *b, ir_inst *v, ir_inst *x) {
    return build_with_constant(b, v, xorps, x, sign_of(v->type));
}
ir_inst *mach_packed_fabs(ir_builder *b, ir_inst *v, ir_inst *x) {
    return build_with_constant(b, v, andps, x, ~sign_of(v->type));
}
/* Bits of x where the mask m is set, otherwise those of y. */
static ir_inst *merge_bits(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y, uint64_t m) {
    static const x86_widths forms = X86_EVEX_BINARY_IMM(VPTERNLOGD);
    enum { TABLE = 0xe4 };
    x86_draft d = {.row = forms[x86_form_of(b, v->type)], .type = v->type};
    x86_add_reg(b, &d, x);
    x86_add_reg(b, &d, y);
    x86_add_rm(b, &d, v, all_lanes(b, v->type, m));
    x86_add_int(b, &d, IR_I8, TABLE);
    return x86_build(b, &d);
}

ir_inst *mach_packed_copysign(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    if (x86_has(b, X86_V4)) return merge_bits(b, v, x, y, ~sign_of(v->type));
    ir_inst *size = build_with_constant(b, v, andps, x, ~sign_of(v->type));
    ir_inst *sign = build_with_constant(b, v, andps, y, sign_of(v->type));
    return build_rows(b, v->type, orps, size, sign);
}

/* ---------------------------------------------------------------------------------- comparisons */

static ir_inst *build_not(ir_builder *b, ir_inst *v, ir_inst *mask) {
    return build_with_constant(b, v, pxors, mask, UINT64_MAX);
}

static ir_inst *build_equal(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_rows(b, v->type, forms_of(IR_OP_eq, v->type, v->type), x, y);
}

static ir_inst *build_less(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_rows(b, v->type, forms_of(IR_OP_slt, v->type, v->type), y, x);
}

/* Unsigned: x is the smaller one; where there is no minimum, signs are turned around. */
static ir_inst *build_below_or_equal(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    const uint16_t *least = forms_of(IR_OP_umin, v->type, v->type);
    x = cg_in_register(b, x);
    if (has_forms(least, x86_cpu_for(b)->level))
        return build_equal(b, v, build_rows(b, v->type, least, x, y), x);
    x = build_with_constant(b, v, pxors, x, sign_of(v->type));
    y = build_with_constant(b, v, pxors, y, sign_of(v->type));
    return build_not(b, v, build_less(b, v, y, x));
}

static ir_inst *build_int_mask(ir_builder *b, ir_inst *v, ir_op op, ir_inst *x, ir_inst *y) {
    switch (op) {
    case IR_OP_eq: return build_equal(b, v, x, y);
    case IR_OP_ne: return build_not(b, v, build_equal(b, v, x, y));
    case IR_OP_slt: return build_less(b, v, x, y);
    case IR_OP_sle: return build_not(b, v, build_less(b, v, y, x));
    case IR_OP_ule: return build_below_or_equal(b, v, x, y);
    default: return build_not(b, v, build_below_or_equal(b, v, y, x));
    }
}

static ir_inst *build_relation(ir_builder *b, ir_inst *v, int relation, ir_inst *x, ir_inst *y) {
    static const x86_widths singles = {X86_CMPPS_x_xm_imm8, X86_VCMPPS_x_x_xm_imm8,
                                       X86_VCMPPS_y_y_ym_imm8};
    static const x86_widths doubles = {X86_CMPPD_x_xm_imm8, X86_VCMPPD_x_x_xm_imm8,
                                       X86_VCMPPD_y_y_ym_imm8};
    const uint16_t *forms = ir_bits(NULL, v->type) == 64 ? doubles : singles;
    return x86_build_imm(b, v->type, forms[x86_form_of(b, v->type)], IR_ARGS(x, y), relation);
}

/* Where one relation is not enough, the masks of two are joined. */
static ir_inst *build_float_mask(ir_builder *b, ir_inst *v, ir_op op, ir_inst *x, ir_inst *y) {
    int relation;
    bool swap, equal = op == IR_OP_fueq;
    if (x86_find_relation(b, op, &relation, &swap))
        return build_relation(b, v, relation, swap ? y : x, swap ? x : y);
    ir_inst *order = build_relation(b, v, equal ? X86_CMP_UNORD : X86_CMP_ORD, x, y);
    ir_inst *other = build_relation(b, v, equal ? X86_CMP_EQ : X86_CMP_NEQ, x, y);
    return build_rows(b, v->type, equal ? pors : pands, order, other);
}

/* All bits of the lanes where the comparison c holds. */
ir_inst *mach_packed_mask(ir_builder *b, ir_inst *v, ir_inst *c) {
    bool floats = ir_info(c)->rule == R_CMPF;
    if (!floats && ir_info(c)->rule != R_CMPI) return NULL;
    ir_inst *x = cg_in_register(b, ir_arg(c, 0)), *y = cg_in_register(b, ir_arg(c, 1));
    return floats ? build_float_mask(b, v, (ir_op)c->op, x, y)
                  : build_int_mask(b, v, (ir_op)c->op, x, y);
}

/* -------------------------------------------------------------------------------------- choices */

/* x where the mask is set, otherwise y. */
ir_inst *x86_packed_choose(ir_builder *b, ir_inst *v, ir_inst *mask, ir_inst *x, ir_inst *y) {
    if (!x86_has(b, X86_V3)) {
        mask = cg_in_register(b, mask);
        ir_inst *other = build_rows(b, v->type, pandns, mask, y);
        return build_rows(b, v->type, pors, build_rows(b, v->type, pands, mask, x), other);
    }
    bool wide = x86_bytes_of(v->type) > 16;
    x86_draft d = {.row = wide ? X86_VPBLENDVB_y_y_ym_y : X86_VPBLENDVB_x_x_xm_x, .type = v->type};
    x86_add_reg(b, &d, y);
    x86_add_reg(b, &d, x);
    x86_add_reg(b, &d, mask);
    return x86_build(b, &d);
}

ir_inst *mach_packed_blend(ir_builder *b, ir_inst *v, ir_inst *mask, ir_inst *x, ir_inst *y) {
    return x86_packed_choose(b, v, mask, x, y);
}

/* With the second operand perhaps in memory. */
static ir_inst *build_extreme(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    const uint16_t *forms = forms_of((ir_op)v->op, v->type, v->type);
    x86_draft d = {.row = forms[x86_form_of(b, v->type)], .type = v->type};
    x86_add_reg(b, &d, x);
    x86_add_rm(b, &d, v, y);
    return x86_build(b, &d);
}

/* x < y ? x : y; MINPS gives y where one is NaN. */
ir_inst *mach_packed_least(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_rows(b, v->type, forms_of(IR_OP_fmin, v->type, v->type), x, y);
}
/* x > y ? x : y */
ir_inst *mach_packed_most(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_rows(b, v->type, forms_of(IR_OP_fmax, v->type, v->type), x, y);
}

/* MINPS gives its second operand when one is NaN; then the first is wanted if that one is not. */
ir_inst *mach_packed_extreme(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    if (v->flags & (IR_NNAN | IR_FAST)) return mach_packed(b, v, x, y);
    if (x86_is_number(y)) return build_extreme(b, v, x, y);
    x = cg_in_register(b, x);
    y = cg_in_register(b, y);
    ir_inst *least = build_rows(b, v->type, forms_of((ir_op)v->op, v->type, v->type), x, y);
    if (x86_has(b, X86_V4))
        return x86_mask_choose(b, v->type, x86_mask_relation(b, X86_CMP_UNORD, y, y), x, least);
    return x86_packed_choose(b, v, build_relation(b, v, X86_CMP_UNORD, y, y), x, least);
}

/* The signs of bytes as a number of type t. */
static ir_inst *build_signs(ir_builder *b, ir_type t, ir_inst *mask) {
    static const x86_widths forms = {X86_PMOVMSKB_r32_x, X86_VPMOVMSKB_r32_x, X86_VPMOVMSKB_r32_y};
    return x86_build_regs(b, t, forms[x86_form_of(b, mask->type)], IR_ARGS(mask));
}

ir_inst *mach_signs(ir_builder *b, ir_inst *v, ir_inst *mask) {
    return build_signs(b, v->type, mask);
}

x86_cc x86_add_packed_any(ir_builder *b, x86_draft *d, const ir_inst *c) {
    ir_inst *mask = ir_arg(ir_arg(c, 0), 0);
    unsigned bytes = x86_bytes_of(mask->type);
    uint64_t bits = bytes == 32 ? UINT32_MAX : (UINT64_C(1) << bytes) - 1;
    ir_inst *signs = build_signs(b, IR_I32, mask);
    if (c->op == IR_OP_all && bytes < 16)
        signs = x86_build_imm(b, IR_I32, X86_AND_rm32_imm32, IR_ARGS(signs), (int)bits);
    bool whole = c->op == IR_OP_any && bytes >= 16; /* all other bits are 0 */
    d->row = whole                ? X86_TEST_rm32_r32
             : c->op == IR_OP_any ? X86_TEST_rm32_imm32
                                  : X86_CMP_rm32_imm32;
    x86_add_reg(b, d, signs);
    if (whole)
        x86_add_reg(b, d, signs);
    else
        x86_add_int(b, d, IR_I64, (uint64_t)(int32_t)bits);
    return c->op == IR_OP_any ? CC_NE : CC_E;
}
