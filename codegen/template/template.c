/* template.c — what the instructions of the template target ask of registers. */
#include "codegen/template/template.h"

#define IN(c)                                                                                      \
    { TEMPLATE_##c, CG_ANY_REG }
#define AT(c, n)                                                                                   \
    { TEMPLATE_##c, n }
#define NOWHERE                                                                                    \
    { CG_NO_CLASS, CG_ANY_REG }
#define UNTIED .tied = -1

enum { CALL_LOSES_R = 7, CALL_LOSES_V = 15, CALL_LOSES_M = 7 };

static const cg_constraints rows[TEMPLATE_ROWS] = {
    [TEMPLATE_SET] = {IN(R), UNTIED},
    [TEMPLATE_ADD] = {IN(R), .tied = 0, .nargs = 2, .arg = {IN(R), IN(R)}},
    [TEMPLATE_SUB] = {IN(R), UNTIED, .nargs = 2, .arg = {IN(R), IN(R)}},
    [TEMPLATE_SHL] = {IN(R), .tied = 0, .nargs = 2, .arg = {IN(R), AT(R, 1)}},
    [TEMPLATE_DIV] = {AT(R, 0), UNTIED, .nargs = 3, .arg = {AT(R, 0), AT(R, 2), IN(R)},
                      .clobbers = {[TEMPLATE_R] = 4}},
    [TEMPLATE_MULH] = {AT(R, 2), UNTIED, .nargs = 2, .arg = {AT(R, 0), IN(R)},
                       .clobbers = {[TEMPLATE_R] = 1}},
    [TEMPLATE_EARLY] = {IN(R), UNTIED, .early = true, .nargs = 2, .arg = {IN(R), IN(R)}},
    [TEMPLATE_MIX] = {IN(R), .tied = 0, .early = true, .nargs = 2, .arg = {IN(R), IN(R)}},
    [TEMPLATE_SUM] = {IN(R), UNTIED, .nargs = 5, .arg = {IN(R), IN(R), IN(R), IN(R), IN(R)}},
    [TEMPLATE_CALL] = {AT(R, 0), UNTIED, .nargs = 3, .arg = {AT(R, 0), AT(R, 1), AT(V, 0)},
                       .clobbers = {CALL_LOSES_R, CALL_LOSES_V, CALL_LOSES_M}},
    [TEMPLATE_BUSY] = {NOWHERE, UNTIED, .nargs = 1, .arg = {IN(R)},
                       .clobbers = {[TEMPLATE_R] = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4}},
    [TEMPLATE_OUT] = {NOWHERE, UNTIED, .nargs = 1, .arg = {IN(R)}},
    [TEMPLATE_TO_V] = {IN(V), UNTIED, .nargs = 1, .arg = {IN(R)}},
    [TEMPLATE_FROM_V] = {IN(R), UNTIED, .nargs = 1, .arg = {IN(V)}},
    [TEMPLATE_VADD] = {IN(V), UNTIED, .nargs = 2, .arg = {IN(V), IN(V)}},
    [TEMPLATE_FMA] = {IN(V), .tied = 0, .nargs = 3, .arg = {IN(V), IN(V), IN(V)}},
    [TEMPLATE_BLEND] = {IN(V), .tied = 0, .nargs = 3, .arg = {IN(V), IN(V), AT(M, 1)}},
    [TEMPLATE_LESS] = {IN(M), UNTIED, .nargs = 2, .arg = {IN(R), IN(R)}},
    [TEMPLATE_AND] = {IN(M), UNTIED, .nargs = 2, .arg = {IN(M), IN(M)}},
    [TEMPLATE_PICK] = {IN(R), UNTIED, .nargs = 3, .arg = {IN(M), IN(R), IN(R)}},
    [TEMPLATE_BR] = {NOWHERE, UNTIED, .nargs = 2, .arg = {IN(R), IN(R)}},
    [TEMPLATE_LOOP] = {NOWHERE, UNTIED, .nargs = 1, .arg = {AT(R, 1)},
                       .clobbers = {[TEMPLATE_R] = 4}},
};

static ir_type type_of(cg_constraint p) {
    static const ir_type types[TEMPLATE_CLASSES] = {IR_I32, IR_F32, IR_I1};
    return p.class == CG_NO_CLASS ? IR_VOID : types[p.class];
}

ir_type template_result(template_row row) { return type_of(rows[row].result); }
ir_type template_operand(template_row row, unsigned n) { return type_of(rows[row].arg[n]); }
unsigned template_operands(template_row row) { return rows[row].nargs; }

static void describe(const cg_target *t, const ir_inst *i, cg_constraints *out) {
    (void)t;
    if (i->op == IR_OP_ret) {
        out->nargs = 1;
        out->arg[0] = (cg_constraint)AT(R, 0);
        return;
    }
    *out = rows[template_row_of(i)];
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_arg(i, n)->op == IR_OP_slot) out->arg[n] = (cg_constraint)NOWHERE;
}

static uint8_t class_of(const cg_target *t, ir_type type) {
    (void)t;
    return ir_is_float(type) ? TEMPLATE_V : ir_is_bool(type) ? TEMPLATE_M : TEMPLATE_R;
}

static bool may_repeat(const cg_target *t, const ir_inst *i) {
    (void)t;
    return template_row_of(i) == TEMPLATE_SET;
}

static bool commutes(const cg_target *t, const ir_inst *i) {
    (void)t;
    return template_row_of(i) == TEMPLATE_ADD;
}

static bool has_effect(const cg_target *t, const ir_inst *i) {
    (void)t;
    return template_row_of(i) == TEMPLATE_CALL;
}

/* Nothing changes but the operand, which the caller replaces. */
static bool fold_reload(const cg_target *t, ir_inst *i, unsigned n) {
    (void)t;
    template_row row = template_row_of(i);
    return i->op == IR_OP_mach && n == 1 && (row == TEMPLATE_ADD || row == TEMPLATE_VADD);
}

const cg_target template_target = {
    .name = "template",
    .nclasses = TEMPLATE_CLASSES,
    .class = {{"r", 31, 7, 4}, {"v", 15, 15, 16}, {"m", 6, 6, 1}},
    .describe = describe,
    .class_of = class_of,
    .may_repeat = may_repeat,
    .commutes = commutes,
    .has_effect = has_effect,
    .fold_reload = fold_reload,
};
