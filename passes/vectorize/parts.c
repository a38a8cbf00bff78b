/* parts.c — loops with the hint `part`, which leave items to the code after them (indexsets.c).
 *
 * The vector loop of a part has no scalar loop of its own: phis after it that have the end of the
 * part get the end of the vector loop.  A part that does not become a vector loop leaves all items.
 * Then nothing is gained by the interval that it is for, so the interval becomes empty where it is
 * chosen, and is not computed.
 */
#include "passes/vectorize/simd.h"

void simd_exit_part(simd *s, ir_inst *end) {
    const simd_loop *l = &s->scalar;
    uint32_t latch = ir_pred_index(l->exit, l->latch);
    foreach_phi (phi, l->exit) {
        ir_inst *v = ir_arg(phi, latch);
        ir_append_arg(phi, v == l->end ? end : v);
    }
}

/* The interval is chosen by two selects, or by a branch to the part if there is one. */
static void empty_interval(simd *s, const ir_block *entry, ir_inst *start) {
    ir_inst *end = s->scalar.end, *no = ir_const(s->f, IR_I1, 0);
    if (start->op == IR_OP_select && end->op == IR_OP_select &&
        ir_arg(start, 0) == ir_arg(end, 0)) {
        ir_set_arg(start, 0, no);
        ir_set_arg(end, 0, no);
        return;
    }
    const ir_block *choice = entry->npred == 1 ? entry->pred[0] : NULL;
    if (!choice || choice->last->op != IR_OP_br || choice->succ[0] != entry) return;
    const ir_inst *any = ir_arg(choice->last, 0);
    if (any->op == IR_OP_ult && ir_arg(any, 0) == start && ir_arg(any, 1) == end)
        ir_set_arg(choice->last, 0, no);
}

/* `from` leads to the exit instead of the part, and leaves the items from `end` on. */
static void pass_by(simd *s, ir_block *from, ir_inst *end) {
    const simd_loop *l = &s->scalar;
    ir_redirect_edge(from, from->succ[0] == l->loop->header ? 0 : 1, l->exit);
    simd_exit_part(s, end);
}

void simd_leave_part(simd *s) {
    const simd_loop *l = &s->scalar;
    ir_block *from = l->loop->header->pred[l->entry];
    ir_inst *start = ir_arg(l->counter, l->entry);
    empty_interval(s, from, start);
    pass_by(s, from, start);
}

void simd_replace_part(simd *s, ir_block *setup, ir_inst *start, ir_inst *end) {
    if (end == start) empty_interval(s, setup->pred[0], start);
    pass_by(s, setup->succ[1], end);
}
