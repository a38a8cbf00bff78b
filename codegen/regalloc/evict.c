/* evict.c — values that found no register live in slots: one store after the definition, and a
 * reload in front of every use.  What may be repeated is repeated instead.
 */
#include "codegen/regalloc/ra.h"

typedef struct {
    ra_state *s;
    ir_inst *v;
    bool repeats; /* what made v is done again */
    uint32_t slot;
} eviction;

static bool feeds_phi(const ir_inst *v) {
    foreach_use (u, v)
        if (u->user->op == IR_OP_phi) return true;
    return false;
}

/* What has been reloaded can be reloaded again, but not at the end of a block, where the slot may
 * have been given to a phi by then. */
static bool can_repeat(const ra_state *s, const ir_inst *v) {
    return (v->op == IR_OP_reload && !feeds_phi(v)) || ra_may_repeat(s->t, v);
}

/* The value in a register again, just before `at`. */
static ir_inst *fetch(const eviction *e, ir_inst *at) {
    ir_inst *i = e->repeats ? ra_repeat(e->s, e->v, at->block, at)
                            : ra_reload(e->s, e->v->type, e->slot, at->block, at);
    ra_note_brief(e->s, i);
    return i;
}

/* The place of a use: phis read at the ends of predecessors. */
static ir_inst *reads_at(const ir_use *u) {
    const ir_inst *i = u->user;
    return i->op == IR_OP_phi ? i->block->pred[u - i->arg]->last : u->user;
}

/* All operands of one instruction share a reload. */
static void replace_use(const eviction *e, ir_use *u) {
    ir_inst *user = u->user, *copy = fetch(e, reads_at(u));
    if (user->op == IR_OP_phi) {
        ir_set_arg(user, (unsigned)(u - user->arg), copy);
        return;
    }
    for (unsigned n = 0; n < user->nargs; n++)
        if (ir_arg(user, n) == e->v) ir_set_arg(user, n, copy);
}

static void evict(ra_state *s, ir_inst *v) {
    eviction e = {.s = s, .v = v, .repeats = can_repeat(s, v)};
    if (!e.repeats) e.slot = ra_new_slot(s, ra_class(s->t, v));
    ra_note_brief(s, v);
    while (v->uses) replace_use(&e, v->uses);
    if (e.repeats)
        ir_remove(v);
    else
        ra_spill(s, v, e.slot, v->block, ra_place_behind(v));
}

void ra_evict(ra_state *s, const ra_values *values) {
    for (uint32_t k = 0; k < values->n; k++)
        if (!ir_map_get(&s->brief, values->data[k]->id)) evict(s, values->data[k]);
}
