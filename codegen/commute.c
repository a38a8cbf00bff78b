/* commute.c — operands change places where that saves a copy.
 *
 * The operand that a result is tied to is overwritten.  Where it is still needed it has to be
 * copied first; when the other operand is not, and the target says that the two may change places,
 * the other one is overwritten instead.
 */
#include "codegen/ra.h"

typedef struct {
    ra_state *s;
    bool *live; /* by value id: here, and while a block is looked at */
} commute_state;

static bool saves_copy(const commute_state *c, const ir_inst *i) {
    if (i->op != IR_OP_mach || i->nargs < 2 || !c->s->t->commutes(c->s->t, i)) return false;
    const ir_inst *x = ir_arg(i, 0), *y = ir_arg(i, 1);
    return x != y && !ir_is_leaf(y) && (ir_is_leaf(x) || c->live[x->id]) && !c->live[y->id];
}

static void pass_inst(commute_state *c, ir_inst *i) {
    c->live[i->id] = false;
    if (saves_copy(c, i)) {
        ir_inst *x = ir_arg(i, 0);
        ir_set_arg(i, 0, ir_arg(i, 1));
        ir_set_arg(i, 1, x);
    }
    for (unsigned n = 0; n < i->nargs; n++) c->live[ir_arg(i, n)->id] = true;
}

void ra_commute(ra_state *s) {
    commute_state c = {.s = s};
    if (!s->t->commutes) return;
    const ir_live *live = ir_liveness(s->f);
    c.live = ir_new_array(&s->scratch, bool, s->f->next_id);
    foreach_block (b, s->f) {
        const ir_value_list *out = &live->out[b->id], *in = &live->in[b->id];
        for (uint32_t k = 0; k < out->n; k++) c.live[out->data[k]->id] = true;
        for (ir_inst *i = b->last; i && i->op != IR_OP_phi; i = i->prev) pass_inst(&c, i);
        foreach_phi (phi, b) c.live[phi->id] = false;
        for (uint32_t k = 0; k < in->n; k++) c.live[in->data[k]->id] = false;
    }
}
