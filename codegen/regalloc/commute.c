/* commute.c — exchanges operands where that saves a copy.
 *
 * A result overwrites the operand that it is tied to.  If that operand is live after the
 * instruction, it has to be copied first.  If the other operand is not, and the target says that
 * the two may be exchanged, the other one is overwritten instead.
 *
 * This takes place before the snapshot for the proof, which would find operands in another order.
 */
#include "codegen/regalloc/ra.h"

static bool saves_copy(const ra_state *s, const ir_live_here *after, const ir_inst *i) {
    if (i->op != IR_OP_mach || i->nargs < 2 || !s->t->commutes(s->t, i)) return false;
    const ir_inst *x = ir_arg(i, 0), *y = ir_arg(i, 1);
    return x != y && !ir_is_leaf(y) && (ir_is_leaf(x) || ir_live_has(after, x)) &&
           !ir_live_has(after, y);
}

void ra_commute(ra_state *s) {
    if (!s->t->commutes) return;
    ir_live_here here = {.live = ir_liveness(s->f),
                         .seen = ir_new_array(&s->scratch, uint32_t, s->f->next_id)};
    foreach_block (b, s->f) {
        ir_live_begin(&here, b);
        for (ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) {
            ir_live_mark(&here, i, false);
            if (saves_copy(s, &here, i)) {
                ir_inst *x = ir_arg(i, 0);
                ir_set_arg(i, 0, ir_arg(i, 1));
                ir_set_arg(i, 1, x);
                ir_count(s->f->module->cx, schedule_exchanged, 1);
            }
            for (unsigned n = 0; n < i->nargs; n++) ir_live_mark(&here, ir_arg(i, n), true);
        }
    }
}
