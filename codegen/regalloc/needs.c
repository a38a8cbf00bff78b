/* needs.c — what every instruction asks of registers: the target knows its own, and the rest is the
 * same everywhere.
 */
#include "codegen/regalloc/ra.h"

static const cg_place nowhere = {CG_NO_CLASS, CG_ANY_REG};

uint8_t ra_class(const cg_target *t, const ir_inst *v) {
    bool none = ir_is_leaf(v) || v->op == IR_OP_alloca || v->type == IR_VOID;
    return none ? CG_NO_CLASS : t->class_of(t, v->type);
}

uint32_t ra_slot_of(const cg_target *t, ir_type type) {
    return t->slot_of ? t->slot_of(t, type) : t->class[t->class_of(t, type)].slot;
}

bool ra_may_repeat(const cg_target *t, const ir_inst *i) {
    if (i->op == IR_OP_move) return ir_is_leaf(ir_arg(i, 0));
    return i->op == IR_OP_mach && i->type != IR_VOID && t->may_repeat(t, i);
}

static void describe_copy(const cg_target *t, const ir_inst *i, cg_needs *out) {
    out->result.class = ra_class(t, i);
    out->nargs = (uint8_t)i->nargs;
    for (unsigned n = 0; n < i->nargs; n++) out->arg[n].class = ra_class(t, ir_arg(i, n));
}

void cg_describe(const cg_target *t, const ir_inst *i, cg_needs *out) {
    memset(out, 0, sizeof *out);
    out->result = nowhere;
    out->tied = -1;
    for (unsigned n = 0; n < CG_MAX_NEEDS; n++) out->arg[n] = nowhere;
    switch (i->op) {
    case IR_OP_phi: out->result.class = ra_class(t, i); return;
    case IR_OP_reg_in: out->result = (cg_place){ra_class(t, i), cg_register_of(i)}; return;
    case IR_OP_move:
    case IR_OP_spill:
    case IR_OP_reload: describe_copy(t, i, out); return;
    case IR_OP_alloca:
    case IR_OP_jmp:
    case IR_OP_unreachable: return;
    default:
        if (i->op == IR_OP_ret && i->nargs == 0) return;
        t->describe(t, i, out);
    }
}

void ra_describe(const cg_target *t, const ir_inst *i, cg_needs *out) {
    cg_describe(t, i, out);
    if (out->tied < 0) return;
    cg_place *operand = &out->arg[out->tied];
    if (out->result.fixed == CG_ANY_REG) out->result.fixed = operand->fixed;
    operand->fixed = out->result.fixed;
}
