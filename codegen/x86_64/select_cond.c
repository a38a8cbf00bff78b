/* select_cond.c — comparisons and their users: branches, choices, truth values.
 *
 * A comparison is repeated where it is needed, as part of the instruction that asks for its flags,
 * when it is in the same block or has no other use; otherwise its truth value is kept
 * in a register and tested.  Whether lanes of a vector are true is a comparison as well.
 *
 * Floats are compared with ucomis, which sets the carry for "less", the zero flag for "equal" and
 * both of them, with parity, when an operand is NaN.  So "less" is asked the other way round, as
 * "above", which no NaN satisfies.
 */
#include "codegen/x86_64/select.h"

/* ---------------------------------------------------------------------------------- comparisons */

typedef struct {
    x86_cc cc;
    bool swap; /* operands */
} test;

static test test_of(ir_op op) {
    switch (op) {
    case IR_OP_eq: return (test){CC_E, false};
    case IR_OP_ne: return (test){CC_NE, false};
    case IR_OP_ult: return (test){CC_B, false};
    case IR_OP_ule: return (test){CC_BE, false};
    case IR_OP_slt: return (test){CC_L, false};
    case IR_OP_sle: return (test){CC_LE, false};
    case IR_OP_foeq: return (test){CC_E_NP, false};
    case IR_OP_fune: return (test){CC_NE_P, false};
    case IR_OP_fone: return (test){CC_NE, false};
    case IR_OP_fueq: return (test){CC_E, false};
    case IR_OP_folt: return (test){CC_A, true};
    case IR_OP_fole: return (test){CC_AE, true};
    case IR_OP_fult: return (test){CC_B, false};
    case IR_OP_fule: return (test){CC_BE, false};
    case IR_OP_ford: return (test){CC_NP, false};
    default: assert(op == IR_OP_funo); return (test){CC_P, false};
    }
}

static bool is_comparison(const ir_inst *c) {
    ir_rule rule = ir_info(c)->rule;
    return rule == R_CMPI || rule == R_CMPF || rule == R_REDUCE;
}

/* The same test with its operands exchanged. */
static x86_cc exchange(x86_cc cc) {
    switch (cc) {
    case CC_B: return CC_A;
    case CC_BE: return CC_AE;
    case CC_L: return CC_G;
    case CC_LE: return CC_GE;
    default: return cc;
    }
}

static x86_cc add_float_test(ir_builder *b, x86_draft *d, const ir_inst *c) {
    test t = test_of((ir_op)c->op);
    ir_inst *x = ir_arg(c, t.swap), *y = ir_arg(c, !t.swap);
    bool wide = x->type == IR_F64;
    d->row = x86_has(b, X86_V3) ? (wide ? X86_VUCOMISD_x_xm : X86_VUCOMISS_x_xm)
                                : (wide ? X86_UCOMISD_x_xm : X86_UCOMISS_x_xm);
    x86_add_reg(b, d, x);
    x86_add_reg(b, d, y);
    return t.cc;
}

static bool is_zero_int(const ir_inst *x) {
    int64_t n;
    return x86_is_imm32(x, &n) && n == 0;
}

/* x & y against 0, or x against 0: one test. */
static x86_cc add_zero_test(ir_builder *b, x86_draft *d, ir_inst *x, x86_cc cc) {
    static const uint16_t rows[] = {X86_TEST_rm8_r8, X86_TEST_rm16_r16, X86_TEST_rm32_r32,
                                    X86_TEST_rm64_r64};
    static const uint16_t imms[] = {X86_TEST_rm8_imm8, X86_TEST_rm16_imm16, X86_TEST_rm32_imm32,
                                    X86_TEST_rm64_imm32};
    unsigned size = x86_size_of(x);
    ir_inst *first = x, *second = x;
    int64_t n;
    if (x->op == IR_OP_and && x->uses && !x->uses->next) {
        first = ir_arg(x, 0);
        second = ir_arg(x, 1);
    }
    bool immediate = x86_is_imm32(second, &n);
    d->row = immediate ? imms[size] : rows[size];
    x86_add_reg(b, d, first);
    if (immediate)
        x86_add_int(b, d, IR_I64, (uint64_t)n);
    else
        x86_add_reg(b, d, second);
    return cc == CC_L ? CC_S : cc;
}

static x86_cc add_int_test(ir_builder *b, x86_draft *d, const ir_inst *c) {
    static const uint16_t rows[] = {X86_CMP_r8_rm8, X86_CMP_r16_rm16, X86_CMP_r32_rm32,
                                    X86_CMP_r64_rm64};
    static const uint16_t imm8s[] = {X86_CMP_rm8_imm8, X86_CMP_rm16_imm8, X86_CMP_rm32_imm8,
                                     X86_CMP_rm64_imm8};
    static const uint16_t imms[] = {X86_CMP_rm8_imm8, X86_CMP_rm16_imm16, X86_CMP_rm32_imm32,
                                    X86_CMP_rm64_imm32};
    x86_cc cc = test_of((ir_op)c->op).cc;
    bool swap = ir_is_bool(ir_arg(c, 0)->type) && (cc == CC_L || cc == CC_LE);
    ir_inst *x = ir_arg(c, swap), *y = ir_arg(c, !swap);
    int64_t n;
    if (swap) cc = cc == CC_L ? CC_B : CC_BE; /* true is -1 with signs, and 1 in a register */
    if (is_zero_int(y) && (cc == CC_E || cc == CC_NE || cc == CC_L))
        return add_zero_test(b, d, x86_strip(x), cc);
    if (x86_is_imm32(x, &n)) {
        ir_inst *t = x;
        x = y;
        y = t;
        cc = exchange(cc);
    }
    unsigned size = x86_size_of(x);
    bool immediate = x86_is_imm32(y, &n);
    d->row = !immediate ? rows[size] : n == (int8_t)n ? imm8s[size] : imms[size];
    x86_add_reg(b, d, x);
    if (immediate)
        x86_add_int(b, d, IR_I64, (uint64_t)n);
    else
        x86_add_reg(b, d, y);
    return cc;
}

static x86_cc add_test(ir_builder *b, x86_draft *d, const ir_inst *c) {
    switch (ir_info(c)->rule) {
    case R_CMPF: return add_float_test(b, d, c);
    case R_REDUCE:
        return x86_has(b, X86_V4) ? x86_add_mask_any(b, d, c) : x86_add_packed_any(b, d, c);
    default: return add_int_test(b, d, c);
    }
}

/* The comparison is to be made at its user. */
static bool is_repeated(const ir_inst *c, const ir_inst *user) {
    return is_comparison(c) && (c->block == user->block || !c->uses->next);
}

x86_cc x86_add_condition(ir_builder *b, x86_draft *d, const ir_inst *user, ir_inst *c) {
    if (c->op == IR_OP_xor && c->block == user->block && is_repeated(ir_arg(c, 0), user) &&
        ir_is_const(ir_arg(c, 1)))
        return x86_negate(x86_add_condition(b, d, user, ir_arg(c, 0)));
    if (!is_repeated(c, user)) return add_zero_test(b, d, c, CC_NE);
    return add_test(b, d, c);
}

/* ---------------------------------------------------------------------------------------- users */

/* Two flags do not make one byte: a mask of the comparison does, and its lowest bit is kept. */
static ir_inst *build_float_equal(ir_builder *b, ir_inst *v) {
    bool wide = ir_arg(v, 0)->type == IR_F64, vex = x86_has(b, X86_V3);
    int relation = v->op == IR_OP_foeq ? X86_CMP_EQ : X86_CMP_NEQ;
    if (x86_has(b, X86_V4)) {
        ir_inst *mask = x86_mask_relation(b, relation, ir_arg(v, 0), ir_arg(v, 1));
        return x86_mask_bits(b, v->type, mask);
    }
    x86_draft d = {.type = wide ? IR_F64 : IR_F32};
    d.row = vex ? (wide ? X86_VCMPSD_x_x_xm_imm8 : X86_VCMPSS_x_x_xm_imm8)
                : (wide ? X86_CMPSD_x_xm_imm8 : X86_CMPSS_x_xm_imm8);
    x86_add_reg(b, &d, ir_arg(v, 0));
    x86_add_reg(b, &d, ir_arg(v, 1));
    x86_add_int(b, &d, IR_I8, (uint64_t)relation);
    x86_draft move = {.row = vex ? X86_VMOVD_rm32_x : X86_MOVD_rm32_x, .type = IR_I32};
    x86_add_reg(b, &move, x86_build(b, &d));
    x86_draft low = {.row = X86_AND_rm32_imm8, .type = v->type};
    x86_add_reg(b, &low, x86_build(b, &move));
    x86_add_int(b, &low, IR_I8, 1);
    return x86_build(b, &low);
}

/* The truth value of comparison v. */
ir_inst *mach_set(ir_builder *b, ir_inst *v, ir_inst *x) {
    (void)x;
    if (v->op == IR_OP_foeq || v->op == IR_OP_fune) return build_float_equal(b, v);
    x86_draft d = {.type = v->type, .kind = MACH_SET};
    d.cc = add_test(b, &d, v);
    return x86_build(b, &d);
}

/* c ? x : y, in general registers */
ir_inst *mach_choose(ir_builder *b, ir_inst *v, ir_inst *c, ir_inst *x, ir_inst *y) {
    x86_draft d = {.type = v->type, .kind = MACH_CMOV};
    x86_cc cc = x86_add_condition(b, &d, v, c);
    if (cc == CC_E_NP) {
        ir_inst *t = x;
        x = y;
        y = t;
        cc = CC_NE_P;
    }
    d.cc = cc;
    x86_add_reg(b, &d, y);
    x86_add_reg(b, &d, x);
    return x86_build(b, &d);
}
