/* constraints.c — what instructions require of registers.
 *
 * A target describes its own instructions; moves, spills, reloads and phis are the same everywhere.
 *
 * Spilling counts registers instead of naming them (spill.c).  For that, the constraints of an
 * instruction become numbers: so many registers of a class are reserved before it, across it and
 * after it, since it clobbers them or requires operands or its result there.  An operand in a fixed
 * register that it may keep is one of the live values, and reserves nothing more.
 */
#include "codegen/regalloc/ra.h"

#define NONE                                                                                       \
    { CG_NO_CLASS, CG_ANY_REG }
static const cg_constraints unconstrained = {
    .result = NONE,
    .tied = -1,
    .arg = {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE}};
#undef NONE
_Static_assert(CG_MAX_ARGS == 12, "each argument has a place above");

/* Sets are mostly empty, or have one element. */
unsigned ra_count_bits(uint32_t set) {
    unsigned n = 0;
    for (; set; set &= set - 1) n++;
    return n;
}

uint8_t ra_class(const cg_target *t, const ir_inst *v) {
    bool none = ir_is_leaf(v) || v->op == IR_OP_alloca || v->type == IR_VOID;
    return none ? CG_NO_CLASS : t->class_of(t, v->type);
}

uint32_t ra_slot_bytes(const cg_target *t, ir_type type) {
    return t->slot_of ? t->slot_of(t, type) : t->class[t->class_of(t, type)].slot;
}

bool ra_may_repeat(const cg_target *t, const ir_inst *i) {
    if (i->op == IR_OP_move) return ir_is_leaf(ir_arg(i, 0));
    return i->op == IR_OP_mach && i->type != IR_VOID && t->may_repeat(t, i);
}

/* --------------------------------------------------------------------------------- descriptions */

void cg_describe(const cg_target *t, const ir_inst *i, cg_constraints *out) {
    *out = unconstrained;
    switch (i->op) {
    case IR_OP_phi: out->result.class = ra_class(t, i); return;
    case IR_OP_reg_in: out->result = (cg_constraint){ra_class(t, i), cg_register_of(i)}; return;
    case IR_OP_move:
    case IR_OP_spill:
    case IR_OP_reload:
        out->result.class = ra_class(t, i);
        out->nargs = (uint8_t)i->nargs;
        for (unsigned n = 0; n < i->nargs; n++) out->arg[n].class = ra_class(t, ir_arg(i, n));
        return;
    case IR_OP_alloca:
    case IR_OP_jmp:
    case IR_OP_unreachable: return;
    default:
        if (i->op == IR_OP_ret && i->nargs == 0) return;
        t->describe(t, i, out);
    }
}

void ra_describe(const cg_target *t, const ir_inst *i, cg_constraints *out) {
    cg_describe(t, i, out);
    if (out->tied < 0) return;
    cg_constraint *operand = &out->arg[out->tied];
    if (out->result.fixed == CG_ANY_REG) out->result.fixed = operand->fixed;
    operand->fixed = out->result.fixed;
}

/* --------------------------------------------------------------------------- reserved registers */

/* Usable registers of a class that no value keeps across the instruction. */
static uint32_t find_lost(const cg_target *t, const cg_constraints *constraints, unsigned class) {
    uint32_t set = constraints->clobbers[class];
    if (constraints->result.class == class && constraints->result.fixed != CG_ANY_REG)
        set |= ra_bit(constraints->result.fixed);
    return set & t->class[class].usable;
}

static void reserve_for_operand(const cg_target *t, const cg_constraints *constraints, unsigned n,
                                bool survives, ra_reserved out[CG_MAX_CLASSES]) {
    cg_constraint operand = constraints->arg[n];
    if (operand.class >= CG_MAX_CLASSES || operand.fixed == CG_ANY_REG) return;
    if (!(ra_bit(operand.fixed) & t->class[operand.class].usable)) return;
    bool lost = find_lost(t, constraints, operand.class) & ra_bit(operand.fixed);
    if (survives && lost) out[operand.class].before++;
    if (!survives && !lost) out[operand.class].across++;
}

/* A tied operand that survives is copied to the register of the result. */
static void reserve_for_result(const cg_target *t, const cg_constraints *constraints,
                               const bool *survives, ra_reserved out[CG_MAX_CLASSES]) {
    uint8_t class = constraints->result.class;
    if (class == CG_NO_CLASS) return;
    bool fixed = constraints->result.fixed != CG_ANY_REG;
    bool copied = constraints->tied >= 0 && survives[constraints->tied] && !fixed;
    if (copied || (constraints->early && constraints->tied < 0)) out[class].before++;
    uint32_t clobbered = constraints->clobbers[class] & t->class[class].usable;
    if (fixed) clobbered &= ~ra_bit(constraints->result.fixed);
    out[class].after = (uint8_t)ra_count_bits(clobbered);
}

void ra_find_reserved(const cg_target *t, const cg_constraints *constraints, const bool *survives,
                      ra_reserved out[CG_MAX_CLASSES]) {
    memset(out, 0, CG_MAX_CLASSES * sizeof *out);
    for (unsigned c = 0; c < t->nclasses; c++)
        out[c].across = (uint8_t)ra_count_bits(find_lost(t, constraints, c));
    for (unsigned n = 0; n < constraints->nargs; n++)
        reserve_for_operand(t, constraints, n, survives[n], out);
    reserve_for_result(t, constraints, survives, out);
}
