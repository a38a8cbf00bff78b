/* select_mask.c — truth values of vectors in mask registers (AVX-512): a bit for each lane.
 *
 * A mask has one bit per lane of the vectors that it was compared from; the bits above are
 * undefined.  Moves and reloads of up to 16 lanes are those of 16 bits, which are a byte shorter;
 * everything else handles masks as 64 bits.  k0 says "no mask" where an instruction is masked, so
 * values are in k1 to k7 (target.c).
 *
 * Vectors of all widths are compared into masks, since comparisons and choices of AVX take no
 * register above 15.
 */
#include "codegen/x86_64/select.h"

/* Rows by log2 of the bytes of a lane, and by width: 16, 32, 64. */
typedef uint16_t lane_rows[4][3];

/* FORM(N, LETTER): a row for lanes N and registers LETTER. */
#define BY_WIDTH(FORM, N)                                                                          \
    { FORM(N, x), FORM(N, y), FORM(N, z) }
#define BY_LANE(FORM)                                                                              \
    { BY_WIDTH(FORM, B), BY_WIDTH(FORM, W), BY_WIDTH(FORM, D), BY_WIDTH(FORM, Q) }

static unsigned width_index(ir_type t) {
    unsigned bytes = x86_bytes_of(t);
    return bytes > 32 ? 2 : bytes > 16;
}

static x86_row lane_row(const lane_rows rows, ir_type t) {
    return rows[__builtin_ctz(x86_lane_bytes(t))][width_index(t)];
}

/* ---------------------------------------------------------------------------- masks and numbers */

ir_inst *x86_mask_bits(ir_builder *b, ir_type t, ir_inst *mask) {
    return x86_build_regs(b, t, X86_KMOVQ_r64_k, IR_ARGS(mask));
}

ir_inst *x86_mask_of_bits(ir_builder *b, ir_type t, ir_inst *bits) {
    return x86_build_regs(b, t, X86_KMOVQ_k_r64, IR_ARGS(bits));
}

/* ---------------------------------------------------------------------------------- comparisons */

#define COMPARE(N, L) X86_VPCMP##N##_k_##L##_##L##m_imm8_e
#define COMPARE_UNSIGNED(N, L) X86_VPCMPU##N##_k_##L##_##L##m_imm8_e
#define SIGNS(N, L) X86_VPMOV##N##2M_k_##L##_e

typedef struct {
    x86_row row;
    ir_inst *x, *y;
    int relation, opposite; /* the immediate, and with operands exchanged */
} comparison;

static comparison compare_ints(const ir_inst *c) {
    static const lane_rows rows = BY_LANE(COMPARE), unsigneds = BY_LANE(COMPARE_UNSIGNED);
    enum { EQ, LT, LE, NE = 4, GE, GT };
    bool is_unsigned = c->op == IR_OP_ult || c->op == IR_OP_ule;
    ir_inst *x = ir_arg(c, 0), *y = ir_arg(c, 1);
    x86_row row = lane_row(is_unsigned ? unsigneds : rows, x->type);
    switch (c->op) {
    case IR_OP_eq: return (comparison){row, x, y, EQ, EQ};
    case IR_OP_ne: return (comparison){row, x, y, NE, NE};
    case IR_OP_ult:
    case IR_OP_slt: return (comparison){row, x, y, LT, GT};
    default: return (comparison){row, x, y, LE, GE};
    }
}

static x86_row relation_row(ir_type t) {
    static const uint16_t rows[2][4] = {{X86_VCMPSS_k_x_xm_imm8_e, X86_VCMPPS_k_x_xm_imm8_e,
                                         X86_VCMPPS_k_y_ym_imm8_e, X86_VCMPPS_k_z_zm_imm8_e},
                                        {X86_VCMPSD_k_x_xm_imm8_e, X86_VCMPPD_k_x_xm_imm8_e,
                                         X86_VCMPPD_k_y_ym_imm8_e, X86_VCMPPD_k_z_zm_imm8_e}};
    return rows[x86_lane_bytes(t) == 8][ir_is_vector(t) ? 1 + width_index(t) : 0];
}

static comparison compare_floats(const ir_builder *b, const ir_inst *c) {
    static const uint8_t opposites[] = {[X86_CMP_LT] = X86_CMP_GT,
                                        [X86_CMP_LE] = X86_CMP_GE,
                                        [X86_CMP_NLT] = X86_CMP_NGT,
                                        [X86_CMP_NLE] = X86_CMP_NGE,
                                        [X86_CMP_NEQ_ORD] = 0};
    int relation;
    bool swap;
    x86_find_relation(b, (ir_op)c->op, &relation, &swap);
    return (comparison){relation_row(ir_arg(c, 0)->type), ir_arg(c, swap), ir_arg(c, !swap),
                        relation, opposites[relation] ? opposites[relation] : relation};
}

/* One operand may be memory. */
static ir_inst *build_compare(ir_builder *b, const ir_inst *v, comparison c) {
    bool swap = x86_is_foldable(b, c.row, v, c.x) && !x86_is_foldable(b, c.row, v, c.y);
    x86_draft d = {.row = c.row, .type = v->type};
    x86_add_reg(b, &d, swap ? c.y : c.x);
    x86_add_rm(b, &d, v, swap ? c.x : c.y);
    x86_add_int(b, &d, IR_I8, (uint64_t)(swap ? c.opposite : c.relation));
    return x86_build(b, &d);
}

ir_inst *x86_mask_relation(ir_builder *b, int relation, ir_inst *x, ir_inst *y) {
    return x86_build_imm(b, x86_mask_of(x->type), relation_row(x->type), IR_ARGS(x, y), relation);
}

static bool is_zero_vector(const ir_inst *x) {
    uint64_t bits;
    return ir_is_const(x) && ir_is_splat(x, &bits) && bits == 0;
}

/* The truth value that all lanes of x are extended from with its sign; NULL: there is none. */
static ir_inst *find_common_truth(const ir_inst *x) {
    if (x->op != IR_OP_vec || ir_arg(x, 0)->op != IR_OP_sext) return NULL;
    for (unsigned k = 1; k < x->nargs; k++)
        if (ir_arg(x, k) != ir_arg(x, 0)) return NULL;
    ir_inst *c = ir_arg(ir_arg(x, 0), 0);
    return ir_is_bool(c->type) ? c : NULL;
}

/* Where x is negative. */
static ir_inst *build_signs(ir_builder *b, const ir_inst *v, ir_inst *x) {
    static const lane_rows signs = BY_LANE(SIGNS);
    ir_inst *c = find_common_truth(x);
    if (!c) return x86_build_regs(b, v->type, lane_row(signs, x->type), IR_ARGS(x));
    return x86_mask_of_bits(b, v->type, x86_build_regs(b, IR_I64, X86_NEG_rm64, IR_ARGS(c)));
}

#define TEST(N, L) X86_VPTESTM##N##_k_##L##_##L##m_e
#define TEST_NOT(N, L) X86_VPTESTNM##N##_k_##L##_##L##m_e

/* Is y 0, or one bit, the one that x may have? */
static bool is_bit_test(const ir_inst *x, const ir_inst *y) {
    uint64_t bit;
    if (!ir_is_const(y) || !ir_is_splat(y, &bit)) return false;
    return bit == 0 || (x->op == IR_OP_and && ir_arg(x, 1) == y && !(bit & (bit - 1)));
}

/* Where x has a bit, or has none.  If it is `and` for this alone, its operands are asked. */
static ir_inst *build_bit_test(ir_builder *b, const ir_inst *v, ir_inst *x, bool has) {
    static const lane_rows tests[] = {BY_LANE(TEST_NOT), BY_LANE(TEST)};
    bool both = x->op == IR_OP_and && !x->uses->next;
    ir_inst *other = both ? ir_arg(x, 1) : x;
    x86_draft d = {.row = lane_row(tests[has], x->type), .type = v->type};
    x86_add_reg(b, &d, both ? ir_arg(x, 0) : x);
    if (ir_is_const(other))
        x86_add_rm(b, &d, x, other);
    else
        x86_add_reg(b, &d, other);
    return x86_build(b, &d);
}

ir_inst *mach_mask_compare(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    if ((v->op == IR_OP_eq || v->op == IR_OP_ne) && is_bit_test(x, y))
        return build_bit_test(b, v, x, (v->op == IR_OP_ne) == is_zero_vector(y));
    if (v->op == IR_OP_slt && is_zero_vector(y)) return build_signs(b, v, x);
    bool floats = ir_info(v)->rule == R_CMPF;
    return build_compare(b, v, floats ? compare_floats(b, v) : compare_ints(v));
}

/* -------------------------------------------------------------------------------------- choices */

#define BLEND(N, L) X86_VPBLENDM##N##_##L##_##L##_##L##m_e
#define SPREAD(N, L) X86_VPMOVM2##N##_##L##_k_e

static x86_row blend_row(ir_type t) {
    static const lane_rows rows = BY_LANE(BLEND);
    return lane_row(rows, t);
}

bool x86_is_blend(const ir_inst *i) {
    return i->op == IR_OP_mach && x86_kind_of(i) == MACH_MASKED && ir_is_vector(i->type) &&
           x86_row_of(i) == blend_row(i->type);
}

ir_inst *x86_mask_choose(ir_builder *b, ir_type t, ir_inst *mask, ir_inst *x, ir_inst *y) {
    x86_draft d = {.row = blend_row(t), .kind = MACH_MASKED, .type = t};
    x86_add_reg(b, &d, y);
    x86_add_reg(b, &d, x);
    x86_add_reg(b, &d, mask);
    return x86_build(b, &d);
}

/* x may be memory, unless it is read under the mask (select_merge.c). */
ir_inst *mach_mask_blend(ir_builder *b, ir_inst *v, ir_inst *c, ir_inst *x, ir_inst *y) {
    if (!ir_is_bool(v->type)) {
        x86_draft d = {.row = blend_row(v->type), .kind = MACH_MASKED, .type = v->type};
        x86_add_reg(b, &d, y);
        if (is_zero_vector(y))
            x86_add_reg(b, &d, x);
        else
            x86_add_rm(b, &d, v, x);
        x86_add_reg(b, &d, c);
        return x86_build(b, &d);
    }
    c = cg_in_register(b, c);
    ir_inst *yes = x86_build_regs(b, v->type, X86_KANDQ_k_k_k, IR_ARGS(c, x));
    ir_inst *no = x86_build_regs(b, v->type, X86_KANDNQ_k_k_k, IR_ARGS(c, y));
    return x86_build_regs(b, v->type, X86_KORQ_k_k_k, IR_ARGS(yes, no));
}

/* All bits of the lanes where the mask is set. */
ir_inst *mach_mask_spread(ir_builder *b, ir_inst *v, ir_inst *c) {
    static const lane_rows rows = BY_LANE(SPREAD);
    return x86_build_regs(b, v->type, lane_row(rows, v->type), IR_ARGS(c));
}

ir_inst *mach_mask_not(ir_builder *b, ir_inst *v, ir_inst *x) {
    return x86_build_regs(b, v->type, X86_KNOTQ_k_k, IR_ARGS(x));
}

/* ---------------------------------------------------------------------------------------- lanes */

/* Few lanes, as a number: one is set, or none is not set. */
static x86_cc add_bits_test(ir_builder *b, x86_draft *d, ir_inst *mask, bool any) {
    ir_inst *bits = x86_mask_bits(b, IR_I64, mask);
    if (!any) bits = x86_build_regs(b, IR_I64, X86_NOT_rm64, IR_ARGS(bits));
    d->row = X86_TEST_rm8_imm8;
    x86_add_reg(b, d, bits);
    x86_add_int(b, d, IR_I64, (1u << ir_lanes(mask->type)) - 1);
    return any ? CC_NE : CC_E;
}

x86_cc x86_add_mask_any(ir_builder *b, x86_draft *d, const ir_inst *c) {
    static const uint16_t rows[] = {X86_KORTESTB_k_k, X86_KORTESTW_k_k, X86_KORTESTD_k_k,
                                    X86_KORTESTQ_k_k};
    ir_inst *mask = ir_arg(c, 0);
    bool any = c->op == IR_OP_any;
    unsigned lanes = ir_lanes(mask->type);
    if (lanes < 8) return add_bits_test(b, d, mask, any);
    bool either = any && mask->op == IR_OP_or && !mask->uses->next;
    d->row = rows[__builtin_ctz(lanes) - 3];
    x86_add_reg(b, d, either ? ir_arg(mask, 0) : mask);
    x86_add_reg(b, d, either ? ir_arg(mask, 1) : mask);
    return any ? CC_NE : CC_B;
}

ir_inst *mach_mask_extract(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *index) {
    int lane = (int)index->imm.bits;
    if (index->imm.bits >= ir_lanes(x->type)) return NULL;
    if (lane) x = x86_build_imm(b, x->type, X86_KSHIFTRQ_k_k_imm8, IR_ARGS(x), lane);
    return x86_build_imm(b, v->type, X86_AND_rm32_imm8, IR_ARGS(x86_mask_bits(b, IR_I64, x)), 1);
}

/* The bits above those of lanes are undefined, as those of a register above an integer are. */
ir_inst *mach_mask_number(ir_builder *b, ir_inst *v, ir_inst *x) {
    return x86_mask_bits(b, v->type, x);
}

/* Lanes that follow each other, from x to y; NULL for others, which are not asked for.  Two masks
 * are joined that have 8 lanes or more, as all have that are not whole values. */
ir_inst *mach_mask_shuffle(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    static const uint16_t rows[] = {X86_KUNPCKBW_k_k_k, X86_KUNPCKWD_k_k_k, X86_KUNPCKDQ_k_k_k};
    unsigned first = v->imm.mask[0], lanes = ir_lanes(x->type), n = ir_lanes(v->type);
    for (unsigned k = 0; k < n; k++)
        if (v->imm.mask[k] != 255 && v->imm.mask[k] != first + k) return NULL;
    bool joins = first + n > lanes && y->op != IR_OP_undef;
    if (joins && (first || lanes < 8)) return NULL;
    if (joins) return x86_build_regs(b, v->type, rows[__builtin_ctz(lanes) - 3], IR_ARGS(y, x));
    if (first == 0) return cg_in_register(b, x);
    return x86_build_imm(b, v->type, X86_KSHIFTRQ_k_k_imm8, IR_ARGS(x), (int)first);
}
