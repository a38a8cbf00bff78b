/* hoist.c — constants go to registers in front of loops, as long as there are free ones.
 *
 * Selection makes a constant in the block that needs it, or reads it from memory as an operand; in
 * a loop that happens in each round.  Selection does not know how many registers are free; here it
 * is known (demand.c).  An instruction that may be repeated moves in front of the outermost loop
 * through which a register is free; equal ones in the loop become one.  An operand in memory
 * becomes a register for that (`unfold`).
 *
 * A constant for a phi stays, and so does one that is only overwritten: they would be copied.  The
 * room for constants is what was free before anything has moved, less all that has moved, wherever:
 * kernels are one nest of loops.
 */
#include "codegen/regalloc/spill.h"

enum { MOST_LOOPS = 8 }; /* that a constant may leave */

typedef struct {
    ra_state *s;
    const spill_state *p;
    const ir_dom *dom;
    spill_count hoisted;
    ir_map known; /* hash of a constant and its place -> what makes it there */
} hoister;

/* --------------------------------------------------------------------------------------- places */

/* The end of this block is in front of the loop; NULL: there is no such block. */
static ir_block *block_before(const hoister *h, const ir_loop *l) {
    ir_block *b = h->dom->idom[l->header->id];
    bool leads = false;
    for (uint32_t n = 0; b && n < b->nsucc; n++) leads |= b->succ[n] == l->header;
    bool outside = leads && h->p->loops->of[b->id] == l->parent;
    return outside && !l->irreducible ? b : NULL;
}

static bool has_room(const hoister *h, const ir_loop *l, const ir_block *before, unsigned class) {
    if (h->s->random) return ra_random(h->s, 2);
    uint32_t inside = h->p->loop_pressure[l->header->id].n[class];
    uint32_t outside = h->p->pressure[before->id].n[class];
    uint32_t most = inside > outside ? inside : outside;
    return most + h->hoisted.n[class] < h->p->registers[class];
}

/* In front of the outermost loop around b that has room; NULL: none has. */
static ir_block *find_place(const hoister *h, const ir_block *b, unsigned class) {
    const ir_loop *l = h->p->loops->of[b->id];
    ir_block *place = NULL;
    for (unsigned n = 0; l && n < MOST_LOOPS; n++, l = l->parent) {
        ir_block *before = block_before(h, l);
        if (!before || !has_room(h, l, before, class)) break;
        place = before;
    }
    return place;
}

/* ---------------------------------------------------------------------------------------- moves */

static bool is_same(const ir_inst *x, const ir_inst *y) {
    bool same =
        x->op == y->op && x->type == y->type && x->nargs == y->nargs && x->imm.bits == y->imm.bits;
    for (unsigned n = 0; same && n < x->nargs; n++) same = ir_arg(x, n) == ir_arg(y, n);
    return same;
}

static uint64_t key_of(const ir_inst *i, const ir_block *place) {
    uint64_t key = ir_mix(ir_mix(place->id, i->op), ir_mix(i->type, i->imm.bits));
    for (unsigned n = 0; n < i->nargs; n++) key = ir_mix(key, ir_arg(i, n)->id);
    return key;
}

/* The same, in front of one of the loops around i.  The value there may have become another,
 * farther out, when its own block was looked at. */
static ir_inst *find_known(const hoister *h, const ir_inst *i) {
    const ir_loop *l = h->p->loops->of[i->block->id];
    for (unsigned n = 0; l && n < MOST_LOOPS; n++, l = l->parent) {
        ir_block *before = block_before(h, l);
        ir_inst *known = before ? ir_map_get(&h->known, key_of(i, before)) : NULL;
        if (known && known->block && is_same(known, i)) return known;
    }
    return NULL;
}

static void hoist(hoister *h, ir_inst *i) {
    uint8_t class = ra_class(h->s->t, i);
    ir_inst *known = find_known(h, i);
    if (known) {
        ir_replace_uses(i, known);
        ir_remove(i);
        return;
    }
    ir_block *place = find_place(h, i->block, class);
    if (!place) return;
    h->hoisted.n[class]++;
    ir_move_before(i, place->last);
    ir_map_set(&h->s->scratch, &h->known, key_of(i, place), i);
}

/* ----------------------------------------------------------------------------------- candidates */

/* Is it made in the register of what takes it: a phi, or nothing but results that overwrite it? */
static bool is_overwritten(const hoister *h, const ir_inst *i) {
    bool all = true;
    foreach_use (u, i) {
        cg_needs needs;
        if (u->user->op == IR_OP_phi) return true;
        cg_describe(h->s->t, u->user, &needs);
        all &= needs.tied == u - u->user->arg;
    }
    return all;
}

/* The constant that i makes or reads, when there may be a register for it. */
static ir_inst *find_constant(const hoister *h, ir_inst *i) {
    const cg_target *t = h->s->t;
    if (ra_may_repeat(t, i)) return is_overwritten(h, i) ? NULL : i;
    ir_type type = t->unfold ? t->reads_constant(t, i) : IR_VOID;
    bool free = type != IR_VOID && find_place(h, i->block, t->class_of(t, type));
    return free ? t->unfold(t, i) : NULL;
}

static void pass_block(hoister *h, ir_block *b) {
    for (ir_inst *i = ir_first_non_phi(b), *next; i; i = next) {
        next = i->next;
        ir_inst *constant = find_constant(h, i);
        if (constant) hoist(h, constant);
    }
}

void spill_hoist(spill_state *p) {
    hoister h = {.s = p->s, .p = p, .dom = ir_dominators(p->s->f)};
    foreach_block (b, p->s->f)
        if (p->loops->of[b->id]) pass_block(&h, b);
}
