/* select_int.c — integers: arithmetic, logic, shifts, divisions, counting, widths.
 *
 * Bytes and words are computed in registers of 32 bits; the contents of the upper bits are not
 * known.  Where it would matter (right shifts, divisions, extensions, comparisons) the operand is
 * extended, or the instruction of that width taken.  i1 is 0 or 1 in all bits of a register.
 */
#include "codegen/x86_64/select.h"

/* Rows of one operation by log2 of the operand's bytes. */
typedef struct {
    uint16_t r_rm[4], rm_imm8[4], rm_imm[4];
} family;

#define FAMILY(N)                                                                                  \
    {                                                                                              \
        {X86_##N##_r8_rm8, X86_##N##_r16_rm16, X86_##N##_r32_rm32, X86_##N##_r64_rm64},            \
            {X86_##N##_rm8_imm8, X86_##N##_rm16_imm8, X86_##N##_rm32_imm8, X86_##N##_rm64_imm8}, { \
            X86_##N##_rm8_imm8, X86_##N##_rm16_imm16, X86_##N##_rm32_imm32, X86_##N##_rm64_imm32   \
        }                                                                                          \
    }

static const family adds = FAMILY(ADD), subs = FAMILY(SUB), ands = FAMILY(AND), ors = FAMILY(OR),
                    xors = FAMILY(XOR);

static x86_draft draft_of(const ir_inst *v, x86_row row) {
    return (x86_draft){.row = row, .type = v->type};
}

static bool is_imm8(int64_t n) { return n == (int8_t)n; }

/* v = x op y */
static ir_inst *build_binary(ir_builder *b, ir_inst *v, const family *f, ir_inst *x, ir_inst *y) {
    unsigned size = x86_word_of(v);
    int64_t n;
    x86_draft d = draft_of(v, f->r_rm[size]);
    bool immediate = x86_is_imm32(y, &n);
    if (immediate) d.row = is_imm8(n) ? f->rm_imm8[size] : f->rm_imm[size];
    x86_add_reg(b, &d, x);
    if (immediate)
        x86_add_int(b, &d, IR_I64, (uint64_t)n);
    else
        x86_add_rm(b, &d, v, y);
    return x86_build(b, &d);
}

/* The operand that can be memory comes second. */
static ir_inst *build_commuting(ir_builder *b, ir_inst *v, const family *f, ir_inst *x,
                                ir_inst *y) {
    x86_row row = f->r_rm[x86_word_of(v)];
    bool swap = x86_is_foldable(b, row, v, x) && !x86_is_foldable(b, row, v, y);
    return swap && !ir_is_const(y) ? build_binary(b, v, f, y, x) : build_binary(b, v, f, x, y);
}

static ir_inst *build_unary(ir_builder *b, ir_inst *v, x86_row row32, x86_row row64, ir_inst *x) {
    x86_draft d = draft_of(v, x86_word_of(v) == 3 ? row64 : row32);
    x86_add_reg(b, &d, x);
    return x86_build(b, &d);
}

/* ----------------------------------------------------------------------------------- arithmetic */

/* A sum in a third register: where x goes on living, an addition would need a copy of it. */
static x86_draft lea_of(const ir_inst *v) {
    x86_draft d = draft_of(v, x86_word_of(v) == 3 ? X86_LEA_r64_m : X86_LEA_r32_m);
    d.memory = true;
    return d;
}

/* x + n */
static ir_inst *build_lea_constant(ir_builder *b, ir_inst *v, ir_inst *x, int32_t n) {
    x86_draft d = lea_of(v);
    x86_add_reg(b, &d, x);
    d.disp = n;
    return x86_build(b, &d);
}

/* x + (y << scale) */
static ir_inst *build_lea(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y, unsigned scale) {
    x86_draft d = lea_of(v);
    x86_add_reg(b, &d, x);
    x86_add_reg(b, &d, y);
    d.index = true;
    d.scale = scale;
    return x86_build(b, &d);
}

ir_inst *mach_add(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    int64_t n;
    x86_row row = adds.r_rm[x86_word_of(v)];
    if (x86_is_imm32(y, &n)) {
        if (x86_lives_on(b, v, x)) return build_lea_constant(b, v, x, (int32_t)n);
    } else if (x86_lives_on(b, v, x) && x86_lives_on(b, v, y) && !x86_is_foldable(b, row, v, y)) {
        return build_lea(b, v, x, y, 0);
    }
    return build_commuting(b, v, &adds, x, y);
}

ir_inst *mach_sub(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_binary(b, v, &subs, x, y);
}
ir_inst *mach_and(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_commuting(b, v, &ands, x, y);
}
ir_inst *mach_or(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_commuting(b, v, &ors, x, y);
}
ir_inst *mach_xor(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_commuting(b, v, &xors, x, y);
}

/* ~x & y */
ir_inst *mach_andn(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    if (!x86_has(b, X86_V3)) return NULL;
    x86_draft d = draft_of(v, x86_word_of(v) == 3 ? X86_ANDN_r64_r64_rm64 : X86_ANDN_r32_r32_rm32);
    x86_add_reg(b, &d, x);
    x86_add_rm(b, &d, v, y);
    return x86_build(b, &d);
}

ir_inst *mach_neg(ir_builder *b, ir_inst *v, ir_inst *x) {
    return build_unary(b, v, X86_NEG_rm32, X86_NEG_rm64, x);
}

ir_inst *mach_not(ir_builder *b, ir_inst *v, ir_inst *x) {
    if (ir_is_bool(v->type)) return mach_xor(b, v, x, ir_const(b->f, IR_I1, 1));
    return build_unary(b, v, X86_NOT_rm32, X86_NOT_rm64, x);
}

/* x times 3, 5 or 9 is x + x * 2, 4 or 8. */
static ir_inst *build_small_product(ir_builder *b, ir_inst *v, ir_inst *x, int64_t n) {
    unsigned scale = n == 3 ? 1 : n == 5 ? 2 : n == 9 ? 3 : 0;
    return scale ? build_lea(b, v, x, x, scale) : NULL;
}

ir_inst *mach_mul(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    bool wide = x86_word_of(v) == 3;
    int64_t n;
    x86_draft d = draft_of(v, wide ? X86_IMUL_r64_rm64 : X86_IMUL_r32_rm32);
    if (!x86_is_imm32(y, &n)) {
        bool swap = x86_is_foldable(b, d.row, v, x);
        x86_add_reg(b, &d, swap ? y : x);
        x86_add_rm(b, &d, v, swap ? x : y);
        return x86_build(b, &d);
    }
    ir_inst *lea = build_small_product(b, v, x, n);
    if (lea) return lea;
    if (is_imm8(n))
        d.row = wide ? X86_IMUL_r64_rm64_imm8 : X86_IMUL_r32_rm32_imm8;
    else
        d.row = wide ? X86_IMUL_r64_rm64_imm32 : X86_IMUL_r32_rm32_imm32;
    x86_add_rm(b, &d, v, x);
    x86_add_int(b, &d, IR_I64, (uint64_t)n);
    return x86_build(b, &d);
}

/* The high half of a product, in rdx. */
static ir_inst *build_high(ir_builder *b, ir_inst *v, x86_row row, ir_inst *x, ir_inst *y) {
    x86_draft d = draft_of(v, row);
    d.high = true;
    x86_add_rm(b, &d, v, y);
    x86_add_reg(b, &d, x);
    return x86_build(b, &d);
}

ir_inst *mach_umulh(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_high(b, v, X86_MUL_rm64, x, y);
}
ir_inst *mach_smulh(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_high(b, v, X86_IMUL_rm64, x, y);
}

/* The upper half of a dividend: zeros, or its sign. */
static ir_inst *build_front(ir_builder *b, ir_inst *x, bool sign) {
    if (!sign) return cg_in_register(b, ir_const(b->f, x->type, 0));
    x86_draft d = {.row = x86_size_of(x) == 3 ? X86_CQO : X86_CDQ, .type = x->type};
    d.high = true;
    x86_add_reg(b, &d, x);
    return x86_build(b, &d);
}

/* Quotient and remainder come in rax and rdx. */
typedef struct {
    x86_row row32, row64;
    bool sign, high;
} division;

static const division udivs = {X86_DIV_rm32, X86_DIV_rm64, false, false};
static const division urems = {X86_DIV_rm32, X86_DIV_rm64, false, true};
static const division sdivs = {X86_IDIV_rm32, X86_IDIV_rm64, true, false};
static const division srems = {X86_IDIV_rm32, X86_IDIV_rm64, true, true};

static ir_inst *build_division(ir_builder *b, ir_inst *v, const division *f, ir_inst *x,
                               ir_inst *y) {
    x86_draft d = draft_of(v, x86_size_of(v) == 3 ? f->row64 : f->row32);
    d.high = f->high;
    x = cg_in_register(b, x);
    ir_inst *front = build_front(b, x, f->sign);
    x86_add_rm(b, &d, v, y);
    x86_add_reg(b, &d, x);
    x86_add_reg(b, &d, front);
    return x86_build(b, &d);
}

ir_inst *mach_udiv(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_division(b, v, &udivs, x, y);
}
ir_inst *mach_urem(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_division(b, v, &urems, x, y);
}
ir_inst *mach_sdiv(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_division(b, v, &sdivs, x, y);
}
ir_inst *mach_srem(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_division(b, v, &srems, x, y);
}

/* ------------------------------------------------------------------------------------------ shifts
 *
 * Amounts are below the width: legalization has seen to that. */

typedef struct {
    uint16_t imm[4], cl[4];
    uint16_t any[4]; /* the amount in any register; V3, 32 and 64 bits */
    bool narrow;     /* bytes and words are shifted as such, otherwise as 32 bits */
} shift;

#define SHIFT(N, X32, X64, NARROW)                                                                 \
    {                                                                                              \
        {X86_##N##_rm8_imm8, X86_##N##_rm16_imm8, X86_##N##_rm32_imm8, X86_##N##_rm64_imm8},       \
            {X86_##N##_rm8_cl, X86_##N##_rm16_cl, X86_##N##_rm32_cl, X86_##N##_rm64_cl},           \
            {0, 0, X32, X64}, NARROW,                                                              \
    }

static const shift shls = SHIFT(SHL, X86_SHLX_r32_rm32_r32, X86_SHLX_r64_rm64_r64, false);
static const shift shrs = SHIFT(SHR, X86_SHRX_r32_rm32_r32, X86_SHRX_r64_rm64_r64, false);
static const shift sars = SHIFT(SAR, X86_SARX_r32_rm32_r32, X86_SARX_r64_rm64_r64, false);
static const shift rols = SHIFT(ROL, 0, 0, true);

static ir_inst *build_shift(ir_builder *b, ir_inst *v, const shift *f, ir_inst *x, ir_inst *y) {
    unsigned size = f->narrow ? x86_size_of(v) : x86_word_of(v);
    bool any = f->any[size] && x86_has(b, X86_V3) && !ir_is_const(y);
    x86_draft d = draft_of(v, (x86_row)(any ? f->any[size] : f->cl[size]));
    if (ir_is_const(y)) d.row = f->imm[size];
    if (any)
        x86_add_rm(b, &d, v, x);
    else
        x86_add_reg(b, &d, x);
    if (ir_is_const(y))
        x86_add_int(b, &d, IR_I8, y->imm.bits & ((8u << size) - 1));
    else
        x86_add_reg(b, &d, y);
    return x86_build(b, &d);
}

ir_inst *mach_shl(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    if (ir_is_const(y) && y->imm.bits == 1 && x86_lives_on(b, v, x))
        return build_lea(b, v, x, x, 0);
    return build_shift(b, v, &shls, x, y);
}
ir_inst *mach_rotl(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_shift(b, v, &rols, x, y);
}

static ir_inst *build_extension(ir_builder *b, ir_type t, ir_inst *v, ir_inst *x, bool sign);

/* Right shifts bring in the bits above a byte or a word. */
static ir_inst *widen(ir_builder *b, ir_inst *v, ir_inst *x, bool sign) {
    return x86_size_of(v) < 2 ? build_extension(b, IR_I32, v, x, sign) : x;
}
ir_inst *mach_lshr(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_shift(b, v, &shrs, widen(b, v, x, false), y);
}
ir_inst *mach_ashr(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_shift(b, v, &sars, widen(b, v, x, true), y);
}

/* ----------------------------------------------------------------------------- minimum, maximum */

/* The one of x and y that `cc` picks: y when it holds of the comparison x, y. */
static ir_inst *build_choice(ir_builder *b, ir_inst *v, x86_cc cc, ir_inst *x, ir_inst *y) {
    static const uint16_t compares[] = {X86_CMP_r8_rm8, X86_CMP_r16_rm16, X86_CMP_r32_rm32,
                                        X86_CMP_r64_rm64};
    x86_draft d = draft_of(v, compares[x86_size_of(v)]);
    d.kind = MACH_CMOV;
    d.cc = cc;
    x86_add_reg(b, &d, x);
    x86_add_reg(b, &d, y);
    x86_add_reg(b, &d, x);
    x86_add_reg(b, &d, y);
    return x86_build(b, &d);
}

ir_inst *mach_umin(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_choice(b, v, CC_A, x, y);
}
ir_inst *mach_umax(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_choice(b, v, CC_B, x, y);
}
ir_inst *mach_smin(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_choice(b, v, CC_G, x, y);
}
ir_inst *mach_smax(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *y) {
    return build_choice(b, v, CC_L, x, y);
}

/* max(x, -x) */
ir_inst *mach_sabs(ir_builder *b, ir_inst *v, ir_inst *x) {
    return build_choice(b, v, CC_L, x, mach_neg(b, v, x));
}

/* ------------------------------------------------------------------------------------- counting */

/* Like build_unary, of rows whose operand may be memory. */
static ir_inst *build_count(ir_builder *b, ir_inst *v, x86_row row32, x86_row row64, ir_inst *x) {
    x86_draft d = draft_of(v, x86_size_of(v) == 3 ? row64 : row32);
    x86_add_rm(b, &d, v, x);
    return x86_build(b, &d);
}

ir_inst *mach_clz(ir_builder *b, ir_inst *v, ir_inst *x) {
    if (!x86_has(b, X86_V3)) return NULL;
    return build_count(b, v, X86_LZCNT_r32_rm32, X86_LZCNT_r64_rm64, x);
}
ir_inst *mach_ctz(ir_builder *b, ir_inst *v, ir_inst *x) {
    if (!x86_has(b, X86_V3)) return NULL;
    return build_count(b, v, X86_TZCNT_r32_rm32, X86_TZCNT_r64_rm64, x);
}
ir_inst *mach_popcount(ir_builder *b, ir_inst *v, ir_inst *x) {
    return build_count(b, v, X86_POPCNT_r32_rm32, X86_POPCNT_r64_rm64, x);
}

/* --------------------------------------------------------------------------------------- widths */

/* By log2 of the bytes that are extended. */
static const uint16_t zero_rows[] = {X86_MOVZX_r32_rm8, X86_MOVZX_r32_rm16, X86_MOV_r32_rm32};
static const uint16_t sign_rows[2][3] = {
    {X86_MOVSX_r32_rm8, X86_MOVSX_r32_rm16, X86_MOV_r32_rm32},
    {X86_MOVSX_r64_rm8, X86_MOVSX_r64_rm16, X86_MOVSXD_r64_rm32}};

static ir_inst *build_extension(ir_builder *b, ir_type t, ir_inst *v, ir_inst *x, bool sign) {
    unsigned size = x86_size_of(x);
    x86_draft d = {.type = t};
    d.row = sign ? sign_rows[ir_kind_of(t) == IR_I64][size] : zero_rows[size];
    x86_add_rm(b, &d, v, x);
    return x86_build(b, &d);
}

/* The low bytes that a mask keeps. */
ir_inst *mach_low_part(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *mask) {
    uint64_t m = mask->imm.bits;
    x86_draft d = draft_of(v, zero_rows[m == 0xff ? 0 : m == 0xffff ? 1 : 2]);
    x86_add_reg(b, &d, x);
    return x86_build(b, &d);
}

/* The low bytes that a shift to the left leaves, with their sign. */
ir_inst *mach_sign_copy(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *by) {
    bool wide = x86_size_of(v) == 3;
    uint64_t narrow = (wide ? 64 : 32) - by->imm.bits;
    x86_draft d = draft_of(v, sign_rows[wide][narrow == 8 ? 0 : narrow == 16 ? 1 : 2]);
    x86_add_reg(b, &d, x);
    return x86_build(b, &d);
}

/* The same bits under another type. */
ir_inst *mach_same(ir_builder *b, ir_inst *v, ir_inst *x) {
    x86_draft d = draft_of(v, X86_MOV_r64_rm64);
    x86_add_reg(b, &d, x);
    return x86_build(b, &d);
}

ir_inst *mach_trunc(ir_builder *b, ir_inst *v, ir_inst *x) {
    if (!ir_is_bool(v->type)) return mach_same(b, v, x);
    return build_binary(b, v, &ands, x, ir_const(b->f, IR_I32, 1));
}

/* Is x made by an instruction that clears the upper half of its register? */
static bool clears_upper(const ir_inst *x) {
    if (x->type != IR_I32 || !x->block) return false;
    bool counts = x->op == IR_OP_clz || x->op == IR_OP_ctz || x->op == IR_OP_popcount;
    bool comes_from_wider = x->op == IR_OP_trunc || x->op == IR_OP_bitcast;
    if (x->op == IR_OP_zext || x->op == IR_OP_sext || counts) return true;
    bool computed = ir_info(x)->rule == R_INT || ir_info(x)->rule == R_BITS;
    return computed && !comes_from_wider;
}

ir_inst *mach_zext(ir_builder *b, ir_inst *v, ir_inst *x) {
    if (ir_is_bool(x->type) || clears_upper(x)) return mach_same(b, v, x);
    return build_extension(b, v->type, v, x, false);
}

ir_inst *mach_sext(ir_builder *b, ir_inst *v, ir_inst *x) {
    return ir_is_bool(x->type) ? mach_neg(b, v, x) : build_extension(b, v->type, v, x, true);
}
