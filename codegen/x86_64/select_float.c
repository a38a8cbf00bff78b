/* select_float.c — f32 and f64 in vector registers; f16 is a word in a general register that is
 * only converted.
 *
 * Scalar instructions that take one value leave the upper part of their result as it was in another
 * operand.  That one is x itself, or zero, never what the register happened to hold: waiting for an
 * unrelated result would be slow.
 */
#include "codegen/x86_64/select.h"

/* Rows by [VEX][f64]. */
typedef uint16_t rows[2][2];

#define SCALAR(N)                                                                                  \
    {                                                                                              \
        {X86_##N##SS_x_xm, X86_##N##SD_x_xm}, { X86_V##N##SS_x_x_xm, X86_V##N##SD_x_x_xm }         \
    }
#define PACKED(N)                                                                                  \
    {                                                                                              \
        {X86_##N##PS_x_xm, X86_##N##PD_x_xm}, { X86_V##N##PS_x_x_xm, X86_V##N##PD_x_x_xm }         \
    }

static bool is_f64(const ir_inst *x) { return x->type == IR_F64; }

static uint16_t pick(const ir_builder *b, const rows r, const ir_inst *x) {
    return r[x86_has(b, X86_V3)][is_f64(x)];
}

/* What one instruction does.  MINSS gives x < y ? x : y, MAXSS x > y ? x : y. */
static x86_row scalar_row(const ir_builder *b, ir_op op, const ir_inst *v) {
    static const struct {
        ir_op op;
        rows rows;
    } scalars[] = {
        {IR_OP_fadd, SCALAR(ADD)},  {IR_OP_fsub, SCALAR(SUB)}, {IR_OP_fmul, SCALAR(MUL)},
        {IR_OP_fdiv, SCALAR(DIV)},  {IR_OP_fmin, SCALAR(MIN)}, {IR_OP_fmax, SCALAR(MAX)},
        {IR_OP_sqrt, SCALAR(SQRT)},
    };
    unsigned n = 0;
    while (scalars[n].op != op) n++;
    return pick(b, scalars[n].rows, v);
}

static ir_inst *build_scalar(ir_builder *b, ir_inst *v, x86_row row, ir_inst *x, ir_inst *y) {
    x86_draft d = {.row = row, .type = v->type};
    x86_add_reg(b, &d, x);
    x86_add_rm(b, &d, v, y);
    return x86_build(b, &d);
}

/* ----------------------------------------------------------------------------------- arithmetic */

ir_inst *mach_scalar(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    x86_row row = scalar_row(b, (ir_op)v->op, v);
    bool swap = ir_has_flag(v, F_COMMUTES) && x86_is_foldable(b, row, v, x) &&
                !x86_is_foldable(b, row, v, y);
    return build_scalar(b, v, row, swap ? y : x, swap ? x : y);
}

/* x < y ? x : y */
ir_inst *mach_least(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_scalar(b, v, scalar_row(b, IR_OP_fmin, v), x, y);
}
/* x > y ? x : y */
ir_inst *mach_most(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_scalar(b, v, scalar_row(b, IR_OP_fmax, v), x, y);
}

/* Rows of fused operations: scalars, 16 bytes, 32, 64; f32, f64. */
typedef uint16_t fused_rows[4][2];

static unsigned fused_row(const fused_rows r, ir_type t) {
    unsigned bytes = x86_bytes_of(t), width = bytes > 32 ? 3 : bytes > 16 ? 2 : 1;
    return r[ir_is_vector(t) ? width : 0][ir_kind_of(t) == IR_F64];
}

enum { TIED_X, TIED_Z, TIED_FACTOR };

#define FUSED(N)                                                                                   \
    {                                                                                              \
        {X86_##N##SS_x_x_xm, X86_##N##SD_x_x_xm}, {X86_##N##PS_x_x_xm, X86_##N##PD_x_x_xm},        \
            {X86_##N##PS_y_y_ym, X86_##N##PD_y_y_ym}, {                                            \
            X86_##N##PS_z_z_zm_e, X86_##N##PD_z_z_zm_e                                             \
        }                                                                                          \
    }
#define FORMS(N)                                                                                   \
    { [TIED_X] = FUSED(N##213), [TIED_Z] = FUSED(N##231), [TIED_FACTOR] = FUSED(N##132) }

/* By what is done with the product and the third operand. */
enum { ADD, SUBTRACT, ADD_TO_NEGATIVE, SUBTRACT_FROM_NEGATIVE, FUSED_OPS };
static const fused_rows fused[FUSED_OPS][3] = {FORMS(VFMADD), FORMS(VFMSUB), FORMS(VFNMADD),
                                               FORMS(VFNMSUB)};

x86_row x86_tied_to_sum(x86_row row) {
    for (unsigned op = 0; op < FUSED_OPS; op++)
        for (unsigned width = 0; width < 4; width++)
            for (unsigned wide = 0; wide < 2; wide++)
                if (fused[op][TIED_X][width][wide] == row)
                    return (x86_row)fused[op][TIED_Z][width][wide];
    return X86_ROWS;
}

/* Has z no user but v, and a choice between v and z? */
static bool ends_with(const ir_inst *v, const ir_inst *z) {
    bool chosen = !v->uses->next && x86_is_blend(v->uses->user);
    foreach_use (u, z)
        if (u->user != v && !(chosen && u->user == v->uses->user)) return false;
    return true;
}

/* z + x * y of `in`: where z ends here the sum takes its register, otherwise the product that of a
 * factor: of x, or of the one that is not in memory. */
static ir_inst *build_fma(ir_builder *b, ir_inst *v, const fused_rows tied[3],
                          ir_inst *const in[3]) {
    if (!x86_has(b, X86_V3)) return NULL;
    ir_inst *x = in[0], *y = in[1], *z = in[2];
    bool ends = !ir_is_leaf(z) && (z->op == IR_OP_phi || ends_with(v, z));
    x86_draft d = {.row = fused_row(tied[ends ? TIED_Z : TIED_X], v->type), .type = v->type};
    bool swap = x86_is_foldable(b, d.row, v, x);
    bool factor =
        !ends && !x86_is_foldable(b, d.row, v, z) && (swap || x86_is_foldable(b, d.row, v, y));
    if (factor) d.row = fused_row(tied[TIED_FACTOR], v->type);
    if ((ends || factor) && swap) x = in[1], y = in[0];
    x86_add_reg(b, &d, ends ? z : x);
    x86_add_reg(b, &d, ends ? x : factor ? z : y);
    x86_add_rm(b, &d, v, ends || factor ? y : z);
    return x86_build(b, &d);
}

#define FMA(name, op)                                                                              \
    ir_inst *mach_##name(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y, ir_inst *z) {          \
        return build_fma(b, v, fused[op], (ir_inst *[]){x, y, z});                                 \
    }
FMA(fma, ADD)                     /* x * y + z */
FMA(fms, SUBTRACT)                /* x * y - z */
FMA(fnma, ADD_TO_NEGATIVE)        /* z - x * y */
FMA(fnms, SUBTRACT_FROM_NEGATIVE) /* -(x * y) - z */
#undef FMA

/* ---------------------------------------------------------------------- one operand in, one out */

/* With x as the operand that fills the upper part. */
static ir_inst *build_merging(ir_builder *b, ir_inst *v, x86_row row, ir_inst *x) {
    return x86_build_regs(b, v->type, row, IR_ARGS(x, x));
}

ir_inst *mach_sqrt(ir_builder *b, ir_inst *v, ir_inst *x) {
    return build_merging(b, v, scalar_row(b, IR_OP_sqrt, v), x);
}

/* An estimate. */
ir_inst *mach_rsqrt(ir_builder *b, ir_inst *v, ir_inst *x) {
    return x86_has(b, X86_V4) ? build_merging(b, v, X86_VRSQRT14SS_x_x_xm_e, x) : NULL;
}

int x86_rounding_of(ir_op op) {
    switch (op) {
    case IR_OP_rint: return 8;
    case IR_OP_floor: return 9;
    case IR_OP_ceil: return 10;
    default: assert(op == IR_OP_trunc_f); return 11;
    }
}

ir_inst *mach_round(ir_builder *b, ir_inst *v, ir_inst *x) {
    static const rows r = {{X86_ROUNDSS_x_xm_imm8, X86_ROUNDSD_x_xm_imm8},
                           {X86_VROUNDSS_x_x_xm_imm8, X86_VROUNDSD_x_x_xm_imm8}};
    x86_row row = pick(b, r, v);
    return x86_build_imm(b, v->type, row, IR_ARGS(x, x), x86_rounding_of((ir_op)v->op));
}

/* ------------------------------------------------------------------------------- bits of floats */

static const rows ands = PACKED(AND), andns = PACKED(ANDN), ors = PACKED(OR), xors = PACKED(XOR);

/* The sign bit of every lane of a register, or all others. */
static ir_inst *sign_mask(ir_builder *b, const ir_inst *v, bool others) {
    uint64_t sign = UINT64_C(1) << (is_f64(v) ? 63 : 31);
    unsigned lanes = is_f64(v) ? 2 : 4;
    uint64_t bits = others ? ir_zext(~sign, is_f64(v) ? 64 : 32) : sign;
    return ir_const(b->f, ir_vector(ir_scalar(is_f64(v) ? IR_I64 : IR_I32), lanes), bits);
}

static ir_inst *build_masked(ir_builder *b, ir_inst *v, const rows r, ir_inst *x, ir_inst *mask) {
    x86_draft d = {.row = pick(b, r, v), .type = v->type, .memory = true};
    x86_add_reg(b, &d, x);
    d.arg[d.n++] = mask;
    return x86_build(b, &d);
}

ir_inst *mach_fneg(ir_builder *b, ir_inst *v, ir_inst *x) {
    return build_masked(b, v, xors, x, sign_mask(b, v, false));
}
ir_inst *mach_fabs(ir_builder *b, ir_inst *v, ir_inst *x) {
    return build_masked(b, v, ands, x, sign_mask(b, v, true));
}

static ir_inst *build_both(ir_builder *b, ir_inst *v, const rows r, ir_inst *x, ir_inst *y) {
    return x86_build_regs(b, v->type, pick(b, r, v), IR_ARGS(x, y));
}

ir_inst *mach_copysign(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    ir_inst *size = build_masked(b, v, ands, x, sign_mask(b, v, true));
    ir_inst *sign = build_masked(b, v, ands, y, sign_mask(b, v, false));
    return build_both(b, v, ors, size, sign);
}

/* x where the mask is set, otherwise y. */
static ir_inst *build_scalar_blend(ir_builder *b, ir_inst *v, ir_inst *mask, ir_inst *x,
                                   ir_inst *y) {
    if (x86_has(b, X86_V4)) return x86_mask_choose(b, v->type, mask, x, y);
    if (!x86_has(b, X86_V3)) {
        ir_inst *other = build_both(b, v, andns, mask, y);
        return build_both(b, v, ors, build_both(b, v, ands, mask, x), other);
    }
    x86_draft d = {.row = is_f64(v) ? X86_VBLENDVPD_x_x_xm_x : X86_VBLENDVPS_x_x_xm_x,
                   .type = v->type};
    x86_add_reg(b, &d, y);
    x86_add_reg(b, &d, x);
    x86_add_reg(b, &d, mask);
    return x86_build(b, &d);
}

/* All bits set where `relation` (the immediate of CMPSS) holds, or a mask of its own. */
static ir_inst *build_scalar_mask(ir_builder *b, const ir_inst *like, int relation, ir_inst *x,
                                  ir_inst *y) {
    static const rows r = {{X86_CMPSS_x_xm_imm8, X86_CMPSD_x_xm_imm8},
                           {X86_VCMPSS_x_x_xm_imm8, X86_VCMPSD_x_x_xm_imm8}};
    if (x86_has(b, X86_V4)) return x86_mask_relation(b, relation, x, y);
    return x86_build_imm(b, like->type, pick(b, r, like), IR_ARGS(x, y), relation);
}

/* A truth value as a mask: 0 or -1 in a general register, moved over; or just moved. */
static ir_inst *build_mask_of_bool(ir_builder *b, const ir_inst *v, ir_inst *c) {
    bool wide = is_f64(v), vex = x86_has(b, X86_V3);
    if (x86_has(b, X86_V4)) return x86_mask_of_bits(b, x86_mask_of(v->type), c);
    x86_draft neg = {.row = wide ? X86_NEG_rm64 : X86_NEG_rm32,
                     .type = ir_scalar(wide ? IR_I64 : IR_I32)};
    x86_add_reg(b, &neg, c);
    x86_draft move = {.type = v->type};
    move.row = vex ? (wide ? X86_VMOVQ_x_rm64 : X86_VMOVD_x_rm32)
                   : (wide ? X86_MOVQ_x_rm64 : X86_MOVD_x_rm32);
    x86_add_reg(b, &move, x86_build(b, &neg));
    return x86_build(b, &move);
}

/* c ? x : y, in vector registers */
ir_inst *mach_blend(ir_builder *b, ir_inst *v, ir_inst *c, ir_inst *x, ir_inst *y) {
    int relation;
    bool swap, direct = x86_find_relation(b, (ir_op)c->op, &relation, &swap) &&
                        ir_arg(c, 0)->type == v->type && (c->block == v->block || !c->uses->next);
    ir_inst *mask = direct ? build_scalar_mask(b, v, relation, ir_arg(c, swap), ir_arg(c, !swap))
                           : build_mask_of_bool(b, v, c);
    return build_scalar_blend(b, v, mask, x, y);
}

/* MINSS gives its second operand when one is NaN; then the first is wanted if that one is not. */
ir_inst *mach_extreme(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    if (v->flags & (IR_NNAN | IR_FAST)) return mach_scalar(b, v, x, y);
    x86_row row = scalar_row(b, (ir_op)v->op, v);
    if (x86_is_number(y)) return build_scalar(b, v, row, x, y);
    x = cg_in_register(b, x);
    y = cg_in_register(b, y);
    ir_inst *least = x86_build_regs(b, v->type, row, IR_ARGS(x, y));
    return build_scalar_blend(b, v, build_scalar_mask(b, v, X86_CMP_UNORD, y, y), x, least);
}

/* ---------------------------------------------------------------------------------- conversions */

static ir_inst *build_from_int(ir_builder *b, ir_inst *v, const rows from[2], ir_inst *x) {
    x86_draft d = {.row = pick(b, from[x86_size_of(x) == 3], v), .type = v->type};
    x86_add_reg(b, &d, ir_const(b->f, v->type, 0));
    x86_add_rm(b, &d, v, x);
    return x86_build(b, &d);
}

ir_inst *mach_sitofp(ir_builder *b, ir_inst *v, ir_inst *x) {
    static const rows from[2] = {{{X86_CVTSI2SS_x_rm32, X86_CVTSI2SD_x_rm32},
                                  {X86_VCVTSI2SS_x_x_rm32, X86_VCVTSI2SD_x_x_rm32}},
                                 {{X86_CVTSI2SS_x_rm64, X86_CVTSI2SD_x_rm64},
                                  {X86_VCVTSI2SS_x_x_rm64, X86_VCVTSI2SD_x_x_rm64}}};
    return build_from_int(b, v, from, x);
}

/* Where AVX-512 is not, pass `expand` has left none. */
ir_inst *mach_uitofp(ir_builder *b, ir_inst *v, ir_inst *x) {
    static const rows from[2] = {{{0}, {X86_VCVTUSI2SS_x_x_rm32_e, X86_VCVTUSI2SD_x_x_rm32_e}},
                                 {{0}, {X86_VCVTUSI2SS_x_x_rm64_e, X86_VCVTUSI2SD_x_x_rm64_e}}};
    return x86_has(b, X86_V4) ? build_from_int(b, v, from, x) : NULL;
}

static ir_inst *build_to_int(ir_builder *b, ir_inst *v, const rows to[2], ir_inst *x) {
    if (v->imm.round.mode != IR_RTZ) return NULL;
    x86_draft d = {.row = pick(b, to[x86_size_of(v) == 3], x), .type = v->type};
    x86_add_rm(b, &d, v, x);
    return x86_build(b, &d);
}

ir_inst *mach_fptosi(ir_builder *b, ir_inst *v, ir_inst *x) {
    static const rows to[2] = {{{X86_CVTTSS2SI_r32_xm, X86_CVTTSD2SI_r32_xm},
                                {X86_VCVTTSS2SI_r32_xm, X86_VCVTTSD2SI_r32_xm}},
                               {{X86_CVTTSS2SI_r64_xm, X86_CVTTSD2SI_r64_xm},
                                {X86_VCVTTSS2SI_r64_xm, X86_VCVTTSD2SI_r64_xm}}};
    return v->imm.round.sat ? NULL : build_to_int(b, v, to, x);
}

/* With saturation: what does not fit gives the greatest number, so what is less than 0, or NaN, is
 * made 0 before. */
ir_inst *mach_fptoui(ir_builder *b, ir_inst *v, ir_inst *x) {
    static const rows to[2] = {{{0}, {X86_VCVTTSS2USI_r32_xm_e, X86_VCVTTSD2USI_r32_xm_e}},
                               {{0}, {X86_VCVTTSS2USI_r64_xm_e, X86_VCVTTSD2USI_r64_xm_e}}};
    if (!v->imm.round.sat || !x86_has(b, X86_V4)) return NULL;
    ir_inst *zero = ir_const(b->f, x->type, 0);
    x86_row max = scalar_row(b, IR_OP_fmax, x);
    return build_to_int(b, v, to, x86_build_regs(b, x->type, max, IR_ARGS(x, zero)));
}

ir_inst *mach_to_vector(ir_builder *b, ir_inst *v, ir_inst *x) {
    static const rows r = {{X86_MOVD_x_rm32, X86_MOVQ_x_rm64},
                           {X86_VMOVD_x_rm32, X86_VMOVQ_x_rm64}};
    x86_draft d = {.row = r[x86_has(b, X86_V3)][x86_bytes_of(v->type) == 8], .type = v->type};
    x86_add_rm(b, &d, v, x);
    return x86_build(b, &d);
}

ir_inst *mach_to_general(ir_builder *b, ir_inst *v, ir_inst *x) {
    static const rows r = {{X86_MOVD_rm32_x, X86_MOVQ_rm64_x},
                           {X86_VMOVD_rm32_x, X86_VMOVQ_rm64_x}};
    x86_draft d = {.row = r[x86_has(b, X86_V3)][x86_bytes_of(x->type) == 8], .type = v->type};
    x86_add_reg(b, &d, x);
    return x86_build(b, &d);
}

/* What is in a vector register under another type. */
ir_inst *mach_view(ir_builder *b, ir_inst *v, ir_inst *x) {
    (void)v;
    return cg_in_register(b, x);
}

/* f16 goes through the low word of a vector register. */
ir_inst *mach_from_half(ir_builder *b, ir_inst *v, ir_inst *x) {
    if (!x86_has(b, X86_V3) || v->imm.round.mode != IR_RTE) return NULL;
    x86_draft word = {.row = X86_MOVZX_r32_rm16, .type = IR_I32};
    x86_add_rm(b, &word, v, x);
    x86_draft move = {.row = X86_VMOVD_x_rm32, .type = IR_F32};
    x86_add_reg(b, &move, x86_build(b, &word));
    x86_draft d = {.row = X86_VCVTPH2PS_x_xm, .type = v->type};
    x86_add_reg(b, &d, x86_build(b, &move));
    return x86_build(b, &d);
}

ir_inst *mach_to_half(ir_builder *b, ir_inst *v, ir_inst *x) {
    if (!x86_has(b, X86_V3) || v->imm.round.mode != IR_RTE) return NULL;
    x86_draft d = {.row = X86_VCVTPS2PH_xm_x_imm8, .type = IR_F32};
    x86_add_reg(b, &d, x);
    x86_add_int(b, &d, IR_I8, 0);
    x86_draft move = {.row = X86_VMOVD_rm32_x, .type = v->type};
    x86_add_reg(b, &move, x86_build(b, &d));
    return x86_build(b, &move);
}

ir_inst *mach_fpcast(ir_builder *b, ir_inst *v, ir_inst *x) {
    static const rows r = {{X86_CVTSD2SS_x_xm, X86_CVTSS2SD_x_xm},
                           {X86_VCVTSD2SS_x_x_xm, X86_VCVTSS2SD_x_x_xm}};
    if (v->imm.round.mode != IR_RTE) return NULL;
    return build_merging(b, v, pick(b, r, v), x);
}
