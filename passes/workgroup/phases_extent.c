/* phases_extent.c — the work-items that do anything in a phase.
 *
 *   barrier device   if (group_id 0 < 16) body   barrier device   =>   groups below 16
 *
 * Fusion puts the body of a member with a smaller range than the others behind such a guard, and a
 * tree of sums halves that range from phase to phase.  A launch for the phase need not visit groups
 * that would find nothing to do.  The guard stays: of a group that runs, some items may fail it.
 *
 * A guard is a branch at the beginning of its phase, before any effect; an item that fails it
 * reaches the end of the phase without one.  Its condition is a comparison of an id with a
 * constant, or a conjunction of such comparisons and others, which do not count.
 */
#include "passes/workgroup/phases_impl.h"

static bool has_effect(const ir_inst *i) {
    if (i->op == IR_OP_load) return i->imm.mem.flags & IR_MEM_VOLATILE;
    return ir_has_flag(i, F_WRITES | F_CONVERGENT | F_TRAPS) && !pass_waits_for_all(i);
}

static bool is_idle(const ir_block *b) {
    foreach_inst (i, b)
        if (!ir_is_terminator(i) && has_effect(i)) return false;
    return true;
}

/* Does an item that reaches b do nothing more in the phase? */
static bool is_done(const pass_phasing *p, const ir_block *b) {
    for (uint32_t n = 0; n < p->nblocks; n++) {
        if (pass_waits_for_all(b->first)) return true;
        if (!is_idle(b)) return false;
        if (b->last->op == IR_OP_ret) return true;
        if (b->last->op != IR_OP_jmp) return false;
        b = b->succ[0];
    }
    return false;
}

/* Adds the bounds of ids that hold where the condition does. */
static void add_condition(const ir_inst *condition, ir_extent *to) {
    if (condition->op == IR_OP_and) {
        add_condition(ir_arg(condition, 0), to);
        add_condition(ir_arg(condition, 1), to);
    }
    if (condition->op != IR_OP_ult || !ir_is_const(ir_arg(condition, 1))) return;
    const ir_inst *id = ir_arg(condition, 0);
    const uint64_t end = ir_arg(condition, 1)->imm.bits;
    const bool of_groups = id->op == IR_OP_group_id;
    const bool first = !to->end[0] && !to->end[1] && !to->end[2];
    if ((!of_groups && id->op != IR_OP_global_id) || ir_is_vector(id->type)) return;
    if (!end || end > UINT32_MAX || (!first && of_groups != to->of_groups)) return;
    uint32_t *at = &to->end[id->imm.dim];
    if (!*at || end < *at) *at = (uint32_t)end;
    to->of_groups = of_groups;
}

static ir_question question_of(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_num_groups:
    case IR_OP_global_size: return IR_ASKS_SIZES;
    case IR_OP_global_linear_id: return IR_ASKS_LINEAR_IDS;
    default: return IR_ASKS_NOTHING;
    }
}

/* What each phase asks, by its number plus 1; at 0 what the entry does, which all phases run. */
static ir_question *find_questions(const pass_phasing *p) {
    ir_question *asked = ir_new_array(p->scratch, ir_question, p->phases.n + 1);
    foreach_block (b, p->kernel)
        foreach_inst (i, b) {
            ir_question *of = &asked[b->id < p->nblocks ? p->phase_of[b->id] : 0];
            if (question_of(i) > *of) *of = question_of(i);
        }
    return asked;
}

void pass_find_extents(pass_phasing *p) {
    const ir_question *asked = find_questions(p);
    for (uint32_t k = 0; k < p->phases.n && k < IR_EXTENTS; k++) {
        const ir_block *start = p->phases.data[k].start;
        ir_extent *to = &p->out->extent[k];
        to->asks = (uint16_t)(asked[0] > asked[k + 1] ? asked[0] : asked[k + 1]);
        if (start->last->op == IR_OP_br && is_idle(start) && is_done(p, start->succ[1]))
            add_condition(ir_arg(start->last, 0), to);
        ir_count(p->kernel->module->cx, phases_partial, to->end[0] || to->end[1] || to->end[2]);
    }
}
