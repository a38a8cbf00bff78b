/* commute.c — operands change places where that saves a copy.
 *
 * The operand that a result is tied to is overwritten.  Where it is still needed it has to be
 * copied first; when the other operand is not, and the target says that the two may change places,
 * the other one is overwritten instead.
 */
#include "codegen/regalloc/ra.h"

typedef struct {
    ra_state *s;
    ir_live_here here;
} commute_state;

static bool saves_copy(const commute_state *c, const ir_inst *i) {
    if (i->op != IR_OP_mach || i->nargs < 2 || !c->s->t->commutes(c->s->t, i)) return false;
    const ir_inst *x = ir_arg(i, 0), *y = ir_arg(i, 1);
    return x != y && !ir_is_leaf(y) && (ir_is_leaf(x) || ir_live_has(&c->here, x)) &&
           !ir_live_has(&c->here, y);
}

static void pass_inst(commute_state *c, ir_inst *i) {
    ir_live_mark(&c->here, i, false);
    if (saves_copy(c, i)) {
        ir_inst *x = ir_arg(i, 0);
        ir_set_arg(i, 0, ir_arg(i, 1));
        ir_set_arg(i, 1, x);
    }
    for (unsigned n = 0; n < i->nargs; n++) ir_live_mark(&c->here, ir_arg(i, n), true);
}

void ra_commute(ra_state *s) {
    commute_state c = {.s = s};
    if (!s->t->commutes) return;
    c.here.live = ir_liveness(s->f);
    c.here.seen = ir_new_array(&s->scratch, uint32_t, s->f->next_id);
    foreach_block (b, s->f) {
        ir_live_begin(&c.here, b);
        for (ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) pass_inst(&c, i);
    }
}
