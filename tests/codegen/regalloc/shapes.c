/* shapes.c — what the instructions of the target of shapes ask of registers. */
#include "tests/codegen/regalloc/shapes.h"

#define IN(c)                                                                                      \
    { SHAPE_##c, CG_ANY_REG }
#define AT(c, n)                                                                                   \
    { SHAPE_##c, n }
#define NOWHERE                                                                                    \
    { CG_NO_CLASS, CG_ANY_REG }
#define UNTIED .tied = -1

enum { CALL_LOSES_R = 7, CALL_LOSES_V = 15, CALL_LOSES_M = 7 };

static const cg_constraints rows[SHAPE_ROWS] = {
    [SHAPE_SET] = {IN(R), UNTIED},
    [SHAPE_ADD] = {IN(R), .tied = 0, .nargs = 2, .arg = {IN(R), IN(R)}},
    [SHAPE_SUB] = {IN(R), UNTIED, .nargs = 2, .arg = {IN(R), IN(R)}},
    [SHAPE_SHL] = {IN(R), .tied = 0, .nargs = 2, .arg = {IN(R), AT(R, 1)}},
    [SHAPE_DIV] = {AT(R, 0), UNTIED, .nargs = 3, .arg = {AT(R, 0), AT(R, 2), IN(R)},
                   .clobbers = {[SHAPE_R] = 4}},
    [SHAPE_MULH] = {AT(R, 2), UNTIED, .nargs = 2, .arg = {AT(R, 0), IN(R)},
                    .clobbers = {[SHAPE_R] = 1}},
    [SHAPE_EARLY] = {IN(R), UNTIED, .early = true, .nargs = 2, .arg = {IN(R), IN(R)}},
    [SHAPE_MIX] = {IN(R), .tied = 0, .early = true, .nargs = 2, .arg = {IN(R), IN(R)}},
    [SHAPE_SUM] = {IN(R), UNTIED, .nargs = 5, .arg = {IN(R), IN(R), IN(R), IN(R), IN(R)}},
    [SHAPE_CALL] = {AT(R, 0), UNTIED, .nargs = 3, .arg = {AT(R, 0), AT(R, 1), AT(V, 0)},
                    .clobbers = {CALL_LOSES_R, CALL_LOSES_V, CALL_LOSES_M}},
    [SHAPE_BUSY] = {NOWHERE, UNTIED, .nargs = 1, .arg = {IN(R)},
                    .clobbers = {[SHAPE_R] = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4}},
    [SHAPE_OUT] = {NOWHERE, UNTIED, .nargs = 1, .arg = {IN(R)}},
    [SHAPE_TO_V] = {IN(V), UNTIED, .nargs = 1, .arg = {IN(R)}},
    [SHAPE_FROM_V] = {IN(R), UNTIED, .nargs = 1, .arg = {IN(V)}},
    [SHAPE_VADD] = {IN(V), UNTIED, .nargs = 2, .arg = {IN(V), IN(V)}},
    [SHAPE_FMA] = {IN(V), .tied = 0, .nargs = 3, .arg = {IN(V), IN(V), IN(V)}},
    [SHAPE_BLEND] = {IN(V), .tied = 0, .nargs = 3, .arg = {IN(V), IN(V), AT(M, 1)}},
    [SHAPE_LESS] = {IN(M), UNTIED, .nargs = 2, .arg = {IN(R), IN(R)}},
    [SHAPE_AND] = {IN(M), UNTIED, .nargs = 2, .arg = {IN(M), IN(M)}},
    [SHAPE_PICK] = {IN(R), UNTIED, .nargs = 3, .arg = {IN(M), IN(R), IN(R)}},
    [SHAPE_BR] = {NOWHERE, UNTIED, .nargs = 2, .arg = {IN(R), IN(R)}},
    [SHAPE_LOOP] = {NOWHERE, UNTIED, .nargs = 1, .arg = {AT(R, 1)}, .clobbers = {[SHAPE_R] = 4}},
};

static ir_type type_of(cg_constraint p) {
    static const ir_type types[SHAPE_CLASSES] = {IR_I32, IR_F32, IR_I1};
    return p.class == CG_NO_CLASS ? IR_VOID : types[p.class];
}

ir_type shape_result(shape_row row) { return type_of(rows[row].result); }
ir_type shape_operand(shape_row row, unsigned n) { return type_of(rows[row].arg[n]); }
unsigned shape_operands(shape_row row) { return rows[row].nargs; }

static void describe(const cg_target *t, const ir_inst *i, cg_constraints *out) {
    (void)t;
    if (i->op == IR_OP_ret) {
        out->nargs = 1;
        out->arg[0] = (cg_constraint)AT(R, 0);
        return;
    }
    *out = rows[shape_row_of(i)];
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_arg(i, n)->op == IR_OP_slot) out->arg[n] = (cg_constraint)NOWHERE;
}

static uint8_t class_of(const cg_target *t, ir_type type) {
    (void)t;
    return ir_is_float(type) ? SHAPE_V : ir_is_bool(type) ? SHAPE_M : SHAPE_R;
}

static bool may_repeat(const cg_target *t, const ir_inst *i) {
    (void)t;
    return shape_row_of(i) == SHAPE_SET;
}

static bool commutes(const cg_target *t, const ir_inst *i) {
    (void)t;
    return shape_row_of(i) == SHAPE_ADD;
}

static bool has_effect(const cg_target *t, const ir_inst *i) {
    (void)t;
    return shape_row_of(i) == SHAPE_CALL;
}

/* Nothing changes but the operand, which the caller replaces. */
static bool fold_reload(const cg_target *t, ir_inst *i, unsigned n) {
    (void)t;
    shape_row row = shape_row_of(i);
    return i->op == IR_OP_mach && n == 1 && (row == SHAPE_ADD || row == SHAPE_VADD);
}

const cg_target shapes_target = {
    .name = "shapes",
    .nclasses = SHAPE_CLASSES,
    .class = {{"r", 31, 7, 4}, {"v", 15, 15, 16}, {"m", 6, 6, 1}},
    .describe = describe,
    .class_of = class_of,
    .may_repeat = may_repeat,
    .commutes = commutes,
    .has_effect = has_effect,
    .fold_reload = fold_reload,
};
