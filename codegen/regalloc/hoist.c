/* hoist.c — constants to registers before loops, as long as registers are free.
 *
 * Selection materializes a constant in the block that needs it, or leaves it in memory as an
 * operand; in a loop this is repeated in every iteration.  Selection does not know how many
 * registers are free; here it is known (pressure.c).  An instruction that may be repeated moves
 * before the outermost loop throughout which a register is free; equal ones in the loop become one.
 * For that, an operand in memory becomes an operand in a register (`unfold`).
 *
 * A constant stays if it is an operand of a phi, or if results overwrite it wherever it is used: it
 * would be copied there.
 *
 * Pressure is measured before the first change, and every hoisted value counts as one more in all
 * loops.  That is exact for one nest of loops, and too much for a second one.
 */
#include "codegen/regalloc/ra.h"

enum { MOST_LOOPS = 8 }; /* that a constant may be moved out of */

typedef struct {
    ra_state *s;
    const ra_graph *g;
    const ra_pressure *pressure;
    const ir_dom *dom;
    ra_count hoisted;
    ir_map constants; /* hash of an instruction and its preheader -> the instruction there */
} hoister;

/* ----------------------------------------------------------------------------------- preheaders */

/* The block before a loop from whose end only the header and blocks outside are reached; or
 * NULL. */
static ir_block *find_preheader(const hoister *h, const ir_loop *l) {
    ir_block *b = h->dom->idom[l->header->id];
    bool leads = false;
    for (uint32_t n = 0; b && n < b->nsucc; n++) leads |= b->succ[n] == l->header;
    bool outside = leads && h->g->loops->of[b->id] == l->parent;
    return outside && !l->irreducible ? b : NULL;
}

static bool has_register(const hoister *h, const ir_loop *l, const ir_block *preheader,
                         unsigned class) {
    if (h->s->random) return ra_random(h->s, 2);
    uint32_t inside = h->pressure->loop[l->header->id].n[class];
    uint32_t outside = h->pressure->block[preheader->id].n[class];
    uint32_t most = inside > outside ? inside : outside;
    return most + h->hoisted.n[class] < h->pressure->registers.n[class];
}

/* The preheader of the outermost loop around b with a free register; NULL: there is none. */
static ir_block *choose_preheader(const hoister *h, const ir_block *b, unsigned class) {
    const ir_loop *l = h->g->loops->of[b->id];
    ir_block *chosen = NULL;
    for (unsigned n = 0; l && n < MOST_LOOPS; n++, l = l->parent) {
        ir_block *preheader = find_preheader(h, l);
        if (!preheader || !has_register(h, l, preheader, class)) break;
        chosen = preheader;
    }
    return chosen;
}

/* ---------------------------------------------------------------------------------------- moves */

static bool is_same_constant(const ir_inst *x, const ir_inst *y) {
    bool same =
        x->op == y->op && x->type == y->type && x->nargs == y->nargs && x->imm.bits == y->imm.bits;
    for (unsigned n = 0; same && n < x->nargs; n++) same = ir_arg(x, n) == ir_arg(y, n);
    return same;
}

static uint64_t hash_of(const ir_inst *i, const ir_block *preheader) {
    uint64_t hash = ir_mix(ir_mix(preheader->id, i->op), ir_mix(i->type, i->imm.bits));
    for (unsigned n = 0; n < i->nargs; n++) hash = ir_mix(hash, ir_arg(i, n)->id);
    return hash;
}

/* An equal instruction before one of the loops around i.  One that is found in the map may have
 * been replaced by another farther out, when its own block was visited. */
static ir_inst *find_hoisted(const hoister *h, const ir_inst *i) {
    const ir_loop *l = h->g->loops->of[i->block->id];
    for (unsigned n = 0; l && n < MOST_LOOPS; n++, l = l->parent) {
        const ir_block *preheader = find_preheader(h, l);
        ir_inst *found = preheader ? ir_map_get(&h->constants, hash_of(i, preheader)) : NULL;
        if (found && found->block && is_same_constant(found, i)) return found;
    }
    return NULL;
}

static void hoist(hoister *h, ir_inst *i) {
    uint8_t class = ra_class(h->s->t, i);
    ir_inst *hoisted = find_hoisted(h, i);
    if (hoisted) {
        ir_replace_uses(i, hoisted);
        ir_remove(i);
        return;
    }
    ir_block *preheader = choose_preheader(h, i->block, class);
    if (!preheader) return;
    h->hoisted.n[class]++;
    ir_move_before(i, preheader->last);
    ir_count(h->s->f->module->cx, schedule_hoisted, 1);
    ir_map_set(&h->s->scratch, &h->constants, hash_of(i, preheader), i);
}

/* ----------------------------------------------------------------------------------- candidates */

/* Would the constant be copied: is it an operand of a phi, or only of results that overwrite it? */
static bool is_overwritten(const hoister *h, const ir_inst *i) {
    bool all = true;
    foreach_use (u, i) {
        cg_constraints constraints;
        if (u->user->op == IR_OP_phi) return true;
        cg_describe(h->s->t, u->user, &constraints);
        all &= constraints.tied == u - u->user->arg;
    }
    return all;
}

/* The instruction that makes the constant which i makes or reads; NULL: there is no such constant,
 * or no register is free for it. */
static ir_inst *find_constant(const hoister *h, ir_inst *i) {
    const cg_target *t = h->s->t;
    if (ra_may_repeat(t, i)) return is_overwritten(h, i) ? NULL : i;
    ir_type type = t->unfold ? t->reads_constant(t, i) : IR_VOID;
    bool free = type != IR_VOID && choose_preheader(h, i->block, t->class_of(t, type));
    return free ? t->unfold(t, i) : NULL;
}

void ra_hoist(ra_state *s, const ra_graph *g, const ra_pressure *p) {
    hoister h = {.s = s, .g = g, .pressure = p, .dom = ir_dominators(s->f)};
    foreach_block (b, s->f) {
        if (!g->loops->of[b->id]) continue;
        for (ir_inst *i = ir_first_non_phi(b), *next; i; i = next) {
            next = i->next;
            ir_inst *constant = find_constant(&h, i);
            if (constant) hoist(&h, constant);
        }
    }
}
