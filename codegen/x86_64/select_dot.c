/* select_dot.c — sums of products of bytes and of words within lanes of 32 bits.
 *
 * VNNI adds them to a register that the result takes; PMADDWD, which words have always had, adds
 * nothing else.  A scalar is computed in a vector register.
 */
#include "codegen/x86_64/select.h"

static const x86_widths bytes = X86_EVEX_BINARY(VPDPBUSD), clamped = X86_EVEX_BINARY(VPDPBUSDS),
                        words = X86_EVEX_BINARY(VPDPWSSD), pairs = X86_BINARY(PMADDWD);

/* The last operands of an instruction, whose second may be memory; words in any order. */
static ir_inst *finish(ir_builder *b, x86_draft d, const ir_inst *v, const ir_inst *dot) {
    ir_inst *x = ir_arg(dot, 0), *y = ir_arg(dot, 1);
    bool swap = dot->op == IR_OP_worddot && x86_is_foldable(b, d.row, v, x) &&
                !x86_is_foldable(b, d.row, v, y);
    x86_add_reg(b, &d, swap ? y : x);
    x86_add_rm(b, &d, v, swap ? x : y);
    return x86_build(b, &d);
}

/* An i32 as the first lane of a register of type t. */
static ir_inst *to_vector(ir_builder *b, ir_inst *v, ir_type t, ir_inst *x) {
    x86_draft d = {.row = x86_has(b, X86_V3) ? X86_VMOVD_x_rm32 : X86_MOVD_x_rm32, .type = t};
    if (ir_is_const(x)) return ir_const(b->f, t, x->imm.bits);
    x86_add_rm(b, &d, v, x);
    return x86_build(b, &d);
}

/* z: what the products are added to; NULL: nothing. */
static ir_inst *build_scalar(ir_builder *b, ir_inst *v, const x86_widths forms, ir_inst *z) {
    ir_type t = ir_vector(IR_I32, 4);
    x86_draft d = {.row = forms[x86_form_of(b, t)], .type = t};
    if (z) x86_add_reg(b, &d, to_vector(b, v, t, z));
    x86_add_reg(b, &d, to_vector(b, v, t, ir_arg(v, 0)));
    x86_add_reg(b, &d, to_vector(b, v, t, ir_arg(v, 1)));
    return mach_to_general(b, v, x86_build(b, &d));
}

static ir_inst *build_dot(ir_builder *b, ir_inst *v, const x86_widths forms, ir_inst *z) {
    if (!ir_is_vector(v->type)) return build_scalar(b, v, forms, z);
    x86_draft d = {.row = forms[x86_form_of(b, v->type)], .type = v->type};
    if (z) x86_add_reg(b, &d, z);
    return finish(b, d, v, v);
}

ir_inst *mach_byte_dot(ir_builder *b, ir_inst *v, ir_inst *x) {
    (void)x;
    return build_dot(b, v, bytes, ir_const(b->f, v->type, 0));
}

ir_inst *mach_word_dot(ir_builder *b, ir_inst *v, ir_inst *x) {
    (void)x;
    return build_dot(b, v, pairs, NULL);
}

ir_inst *mach_dot_clamped(ir_builder *b, ir_inst *v, ir_inst *x, ir_inst *z) {
    (void)x;
    return build_dot(b, v, clamped, z);
}

/* The products of `dot`, which v alone uses, and z. */
ir_inst *mach_dot_sum(ir_builder *b, ir_inst *v, ir_inst *dot, ir_inst *z) {
    const uint16_t *forms = dot->op == IR_OP_bytedot ? bytes : words;
    x86_draft d = {.row = forms[x86_form_of(b, v->type)], .type = v->type};
    x86_add_reg(b, &d, z);
    return finish(b, d, v, dot);
}
