/* evict.c — values for which assignment has found no register go to slots.
 *
 * A value is stored once, after its definition, and reloaded before every use; operands of one
 * instruction share a reload.  A value that may be repeated is repeated instead.  What is inserted
 * is live for one instruction only, so it is never chosen again (ra_note_minimal).
 *
 * In contrast to spilling (spill.c), no slot is shared, and phis stay in registers.
 */
#include "codegen/regalloc/ra.h"

typedef struct {
    ra_state *s;
    ir_inst *v;
    bool repeats; /* the instruction of v is repeated */
    uint32_t slot;
} eviction;

static bool is_operand_of_phi(const ir_inst *v) {
    foreach_use (u, v)
        if (u->user->op == IR_OP_phi) return true;
    return false;
}

static ir_inst *insert_value(const eviction *e, ra_point at) {
    ir_inst *i = e->repeats ? ra_repeat(e->s, e->v, at) : ra_reload(e->s, e->v->type, e->slot, at);
    ra_note_minimal(e->s, i);
    return i;
}

/* Operands of one instruction share a reload. */
static void replace_use(const eviction *e, ir_use *u) {
    ir_inst *user = u->user;
    if (user->op == IR_OP_phi) {
        unsigned n = (unsigned)(u - user->arg);
        ir_set_arg(user, n, insert_value(e, ra_end_of(user->block->pred[n])));
        return;
    }
    ir_inst *copy = insert_value(e, ra_before(user));
    for (unsigned n = 0; n < user->nargs; n++)
        if (ir_arg(user, n) == e->v) ir_set_arg(user, n, copy);
}

/* A reload can be repeated, but not at the end of a block, where the slot may be that of a phi that
 * has been written. */
static void evict(ra_state *s, ir_inst *v) {
    bool is_reload = v->op == IR_OP_reload && !is_operand_of_phi(v);
    eviction e = {.s = s, .v = v, .repeats = is_reload || ra_may_repeat(s->t, v)};
    if (!e.repeats) e.slot = ra_new_slot(s, ra_class(s->t, v));
    ir_count(s->f->module->cx, assign_evicted, 1);
    ra_note_minimal(s, v);
    while (v->uses) replace_use(&e, v->uses);
    if (e.repeats)
        ir_remove(v);
    else
        ra_spill(s, v, e.slot, ra_after_definition(v));
}

void ra_evict(ra_state *s, const ra_values *values) {
    for (uint32_t k = 0; k < values->n; k++)
        if (!ra_is_minimal(s, values->data[k])) evict(s, values->data[k]);
}
