/* target.c — the template machine as register allocation sees it.  What an instruction asks of
 * registers is read off the shape of its row.
 */
#include "codegen/template/template.h"

enum {
    USABLE = 0x1fff,     /* not lr, fp, sp */
    CALLER_SAVED = 0x1ff /* r0 to r8: free to use */
};

static uint8_t class_of(const cg_target *t, ir_type type) {
    (void)t;
    return type == IR_F32 || type == IR_F64 ? TEMPLATE_FLOAT : TEMPLATE_GENERAL;
}

/* What a letter of a shape asks of operand x, or of the result. */
static cg_constraint constraint_of(char letter, const ir_inst *x) {
    const cg_constraint none = {CG_NO_CLASS, CG_ANY_REG};
    if (letter == 'f') return (cg_constraint){TEMPLATE_FLOAT, CG_ANY_REG};
    bool memory = letter == 'm' && !cg_is_constant(x);
    return letter == 'r' || memory ? (cg_constraint){TEMPLATE_GENERAL, CG_ANY_REG} : none;
}

/* Arguments of calls from operand `first` on, the result, and what is lost. */
static void need_call(const ir_inst *i, unsigned first, cg_constraints *out) {
    for (unsigned n = first; n < i->nargs; n++)
        out->arg[n] = (cg_constraint){TEMPLATE_GENERAL, (uint8_t)(n - first)};
    if (i->type != IR_VOID) out->result = (cg_constraint){TEMPLATE_GENERAL, 0};
    out->clobbers[TEMPLATE_GENERAL] = CALLER_SAVED;
    out->clobbers[TEMPLATE_FLOAT] = UINT32_MAX;
}

static void describe(const cg_target *t, const ir_inst *i, cg_constraints *out) {
    (void)t;
    const char *shape = i->op == IR_OP_mach_call ? "-" : template_forms[template_row_of(i)].shape;
    *out = (cg_constraints){.tied = -1, .nargs = (uint8_t)i->nargs};
    out->result = constraint_of(*shape, NULL);
    for (unsigned n = 0; n < i->nargs; n++) {
        if (shape[1]) shape++;
        out->arg[n] = constraint_of(*shape, ir_arg(i, n));
    }
    if (i->op == IR_OP_mach_call)
        need_call(i, 0, out);
    else if (template_row_of(i) == TEMPLATE_CALLR)
        need_call(i, 1, out);
}

static bool has_effect(const cg_target *t, const ir_inst *i) {
    (void)t;
    return template_forms[template_row_of(i)].has_effect;
}

/* Constants and addresses. */
static bool may_repeat(const cg_target *t, const ir_inst *i) {
    if (i->op != IR_OP_mach || i->type == IR_VOID || has_effect(t, i)) return false;
    for (unsigned n = 0; n < i->nargs; n++)
        if (!cg_is_constant(ir_arg(i, n))) return false;
    return true;
}

static void put_name(const cg_target *t, const ir_inst *i, ir_text *out) {
    (void)t;
    ir_put(out, template_forms[template_row_of(i)].mnemonic);
}

const cg_target template_target = {
    .name = "template",
    .nclasses = 2,
    .class = {{"r", USABLE, CALLER_SAVED, 8}, {"f", UINT16_MAX, UINT16_MAX, 8}},
    .describe = describe,
    .class_of = class_of,
    .may_repeat = may_repeat,
    .has_effect = has_effect,
    .put_name = put_name,
};
