/* assign.c — a register for every value, in one walk over the blocks in the order of dominance.
 *
 * In SSA form values interfere as the subtrees of a tree do (Hack, Grund and Goos, "Register
 * allocation for programs in SSA-form", 2006): a walk down the dominator tree that gives every
 * definition a free register needs no more registers than values live at once.  Values that may not
 * have all registers (limits.c) break that.  Then one of the values in the way is chosen, the
 * cheapest to keep in memory, the walk goes on as if it were gone, and all that were chosen are
 * evicted before the next try.
 *
 * A value lives in one register.  What an instruction wants elsewhere is not decided here, but room
 * is left for it: the limits keep fixed registers free, and a tied operand that lives on gets a
 * copy in the register that the result has got.
 *
 * Of the registers that are free and not forbidden the first of these is taken: the one of the
 * operand that the result is tied to, one that an instruction wants the value in, the one that its
 * group has, one that an instruction wants another value of its group in, a cheap one, any.
 */
#include "codegen/regalloc/ra.h"

typedef struct {
    ra_state *s;
    ra_value *value;
    const uint32_t *last_use;
    uint32_t taken[CG_MAX_CLASSES];    /* registers in which something lives here */
    uint32_t arriving[CG_MAX_CLASSES]; /* registers in which values come from outside */
    ir_inst *holder[CG_MAX_CLASSES][CG_MAX_REGS];
    ra_values *evicted;
    bool failed;
} color_state;

/* ------------------------------------------------------------------------------------ occupancy */

static void occupy(color_state *c, ir_inst *v) {
    uint8_t class = ra_class(c->s->t, v);
    unsigned reg = ra_reg(c->s, v);
    if (class == CG_NO_CLASS || reg == CG_ANY_REG) return;
    c->taken[class] |= ra_bit(reg);
    c->holder[class][reg] = v;
}

static void release(color_state *c, const ir_inst *v) {
    uint8_t class = ra_class(c->s->t, v);
    unsigned reg = ra_reg(c->s, v);
    if (reg != CG_ANY_REG && c->holder[class][reg] == v) c->taken[class] &= ~ra_bit(reg);
}

static uint32_t usable(const color_state *c, unsigned class) {
    return c->s->t->class[class].usable;
}

/* ------------------------------------------------------------------------------------- choosing */

static unsigned prefer(color_state *c, const ir_inst *v, uint32_t set) {
    const ra_value *own = &c->value[v->id], *group = &c->value[ra_group(c->value, v->id)];
    unsigned wishes[] = {own->wish, group->group_reg, group->wish};
    uint32_t cheap = set & c->s->t->class[ra_class(c->s->t, v)].cheap;
    for (unsigned k = 0; k < 3 && !c->s->random; k++)
        if (wishes[k] != CG_ANY_REG && set & ra_bit(wishes[k])) return wishes[k];
    return ra_pick(c->s, cheap && !c->s->random ? cheap : set);
}

static void give(color_state *c, ir_inst *v, unsigned reg) {
    ra_value *group = &c->value[ra_group(c->value, v->id)];
    ra_set_reg(c->s, v, reg);
    if (v->op == IR_OP_phi || group->group_reg == CG_ANY_REG) group->group_reg = (uint8_t)reg;
}

static bool is_brief(const color_state *c, const ir_inst *v) {
    return ir_map_get(&c->s->brief, v->id) != NULL;
}

/* The cheapest of v and what lives in the registers of the set. */
static ir_inst *find_victim(const color_state *c, ir_inst *v, unsigned class, uint32_t set) {
    ir_inst *best = is_brief(c, v) ? NULL : v;
    for (; set; set &= set - 1) {
        ir_inst *h = c->holder[class][__builtin_ctz(set)];
        if (is_brief(c, h)) continue;
        if (!best || c->value[h->id].cost < c->value[best->id].cost) best = h;
    }
    return best;
}

/* Nothing is free for v: something gives way, and v may have its register. */
static void make_way(color_state *c, ir_inst *v, unsigned class, uint32_t set) {
    ir_inst *victim = find_victim(c, v, class, set & c->taken[class]);
    if (!victim) {
        c->failed = true;
        return;
    }
    *ir_push(&c->s->scratch, c->evicted) = victim;
    if (victim == v)
        ra_set_reg(c->s, v, CG_ANY_REG);
    else
        give(c, v, ra_reg(c->s, victim));
}

/* A register for v from a set, less those in which others live. */
static void choose(color_state *c, ir_inst *v, uint32_t set) {
    uint8_t class = ra_class(c->s->t, v);
    set &= ~c->value[v->id].forbidden;
    uint32_t open = set & ~c->taken[class];
    if (open)
        give(c, v, prefer(c, v, open));
    else
        make_way(c, v, class, set);
}

/* --------------------------------------------------------------------------------- instructions */

static uint32_t fixed_operands(const cg_needs *needs, unsigned class) {
    uint32_t set = 0;
    for (unsigned n = 0; n < needs->nargs; n++)
        if (needs->arg[n].class == class && needs->arg[n].fixed != CG_ANY_REG)
            set |= ra_bit(needs->arg[n].fixed);
    return set;
}

static bool dies(const color_state *c, const ir_inst *i, unsigned n) {
    return c->last_use[i->id] & ra_bit(n);
}

static bool is_unread(const color_state *c, const ir_inst *v) { return c->value[v->id].unread; }

static void release_operands(color_state *c, const ir_inst *i, const cg_needs *needs) {
    for (unsigned n = 0; n < needs->nargs; n++)
        if (dies(c, i, n)) release(c, ir_arg(i, n));
}

/* Is the value operand n and no other one? */
static bool is_read_once(const ir_inst *i, unsigned n) {
    for (unsigned k = 0; k < i->nargs; k++)
        if (k != n && ir_arg(i, k) == ir_arg(i, n)) return false;
    return true;
}

/* The last use of the value, so that the result may take its place? */
static bool ends_in(const color_state *c, const ir_inst *i, const cg_needs *needs, unsigned n) {
    if (is_read_once(i, n)) return dies(c, i, n);
    bool any = false;
    for (unsigned k = 0; k < needs->nargs; k++)
        any |= ir_arg(i, k) == ir_arg(i, n) && dies(c, i, k);
    return any && !needs->early;
}

/* Where a tied operand that ends here lives, if the result may live there. */
static uint32_t inherited(color_state *c, const ir_inst *i, const cg_needs *needs, uint32_t set) {
    const ir_inst *v = ir_arg(i, (unsigned)needs->tied);
    unsigned reg = ra_reg(c->s, v);
    if (reg == CG_ANY_REG || !ends_in(c, i, needs, (unsigned)needs->tied)) return 0;
    return set & ra_bit(reg) & ~c->value[i->id].forbidden;
}

/* The result takes over the operand's register, or gets one that no earlier instruction uses. */
static void choose_tied(color_state *c, ir_inst *i, const cg_needs *needs, uint32_t set) {
    uint32_t same = inherited(c, i, needs, set);
    if (same) {
        release_operands(c, i, needs);
        give(c, i, (unsigned)__builtin_ctz(same));
        return;
    }
    choose(c, i, set & ~fixed_operands(needs, needs->result.class));
    release_operands(c, i, needs);
}

static void choose_fixed(color_state *c, ir_inst *i, const cg_needs *needs) {
    unsigned reg = needs->result.fixed;
    uint8_t class = needs->result.class;
    uint32_t set = usable(c, class);
    bool may_stay = set & ra_bit(reg) & ~c->value[i->id].forbidden & ~c->taken[class];
    if (i->op == IR_OP_reg_in) set &= ~c->arriving[class];
    if (may_stay || is_unread(c, i))
        give(c, i, reg);
    else
        choose(c, i, set);
}

static void color_result(color_state *c, ir_inst *i, const cg_needs *needs) {
    uint8_t class = needs->result.class;
    uint32_t set = usable(c, class) & ~needs->clobbers[class];
    if (needs->result.fixed != CG_ANY_REG) {
        release_operands(c, i, needs);
        choose_fixed(c, i, needs);
    } else if (needs->tied >= 0) {
        choose_tied(c, i, needs, set);
    } else if (needs->early) {
        choose(c, i, set & ~fixed_operands(needs, class));
        release_operands(c, i, needs);
    } else {
        release_operands(c, i, needs);
        choose(c, i, set);
    }
    if (!is_unread(c, i)) occupy(c, i);
}

static void color_inst(color_state *c, ir_inst *i) {
    cg_needs needs;
    ra_describe(c->s->t, i, &needs);
    if (needs.result.class == CG_NO_CLASS)
        release_operands(c, i, &needs);
    else
        color_result(c, i, &needs);
}

/* Can the phi have what its group has? */
static bool has_place(const color_state *c, const ir_inst *phi) {
    unsigned reg = c->value[ra_group(c->value, phi->id)].group_reg;
    uint8_t class = ra_class(c->s->t, phi);
    uint32_t closed = c->taken[class] | c->value[phi->id].forbidden;
    return reg != CG_ANY_REG && usable(c, class) & ra_bit(reg) & ~closed;
}

/* Phis are there together: one without uses has a register like the others.  Those that can be
 * where their group is go first. */
static void color_phis(color_state *c, ir_block *b) {
    foreach_phi (phi, b) ra_set_reg(c->s, phi, CG_ANY_REG);
    for (unsigned round = 0; round < 2; round++)
        foreach_phi (phi, b) {
            if (ra_reg(c->s, phi) != CG_ANY_REG || (round == 0 && !has_place(c, phi))) continue;
            choose(c, phi, usable(c, ra_class(c->s->t, phi)));
            occupy(c, phi);
        }
    foreach_phi (phi, b)
        if (is_unread(c, phi)) release(c, phi);
}

static void color_block(color_state *c, ir_block *b, const ir_live *live) {
    memset(c->taken, 0, sizeof c->taken);
    foreach_live (w, live, &live->in[b->id]) occupy(c, w.v);
    color_phis(c, b);
    for (ir_inst *i = ir_first_non_phi(b); i; i = i->next) color_inst(c, i);
}

static void find_arriving(color_state *c) {
    foreach_inst (i, c->s->f->first)
        if (i->op == IR_OP_reg_in && !is_unread(c, i))
            c->arriving[ra_class(c->s->t, i)] |= ra_bit(cg_register_of(i));
}

bool ra_color(ra_state *s, ra_values *evicted) {
    const ra_limits l = ra_find_limits(s);
    color_state c = {.s = s, .value = l.value, .last_use = l.last_use, .evicted = evicted};
    const ir_live *live = ir_liveness(s->f);
    const ir_order *o = &ir_dominators(s->f)->order;
    find_arriving(&c);
    for (uint32_t n = 0; n < o->n && !c.failed; n++) color_block(&c, o->rpo[n], live);
    return !c.failed;
}
