/* assign.c — a register for every value, in one walk over the blocks in the order of dominance.
 *
 * In SSA form the interference graph is chordal (Hack, Grund and Goos, "Register allocation for
 * programs in SSA-form", 2006): a walk down the dominator tree that gives every definition a free
 * register needs no more registers than values are live at once.  This does not hold if values
 * cannot have all registers (ranges.c).  So a definition may find no register free.  Then one value
 * is chosen for eviction: the cheapest of the new one and those that occupy the registers.  The
 * walk continues as if it were gone, and all chosen values are evicted before the next attempt.
 *
 * A value is in one register for its whole live range.  This step does not move values to the
 * registers that instructions require, but it keeps these free: they are excluded for others.  A
 * tied operand that survives is copied to the register of the result.
 *
 * Of the registers that are free and not excluded, the first of these is chosen: that of the
 * operand to which the result is tied, the hint, the one that ranges of the same set share, the
 * hint of their root, a cheap one, any.
 */
#include "codegen/regalloc/ra.h"

typedef struct {
    ra_state *s;
    ra_range *range;                   /* by value id */
    const uint32_t *last_use;          /* see ra_ranges */
    uint32_t occupied[CG_MAX_CLASSES]; /* registers of live values */
    uint32_t arriving[CG_MAX_CLASSES]; /* registers of values that the function receives */
    ir_inst *holder[CG_MAX_CLASSES][CG_MAX_REGS];
    ra_values *evicted;
    bool failed;
} assigner;

/* ------------------------------------------------------------------------------------ occupancy */

static void occupy(assigner *a, ir_inst *v) {
    uint8_t class = ra_class(a->s->t, v);
    unsigned reg = ra_reg(a->s, v);
    if (class == CG_NO_CLASS || reg == CG_ANY_REG) return;
    a->occupied[class] |= ra_bit(reg);
    a->holder[class][reg] = v;
}

static void release_value(assigner *a, const ir_inst *v) {
    uint8_t class = ra_class(a->s->t, v);
    unsigned reg = ra_reg(a->s, v);
    if (reg != CG_ANY_REG && a->holder[class][reg] == v) a->occupied[class] &= ~ra_bit(reg);
}

static uint32_t usable(const assigner *a, unsigned class) { return a->s->t->class[class].usable; }

static bool is_unused(const assigner *a, const ir_inst *v) { return a->range[v->id].unused; }

/* ------------------------------------------------------------------------------------- choosing */

static unsigned choose_preferred(assigner *a, const ir_inst *v, uint32_t set) {
    const ra_range *own = &a->range[v->id], *root = &a->range[ra_range_root(a->range, v->id)];
    unsigned preferred[] = {own->hint, root->shared, root->hint};
    uint32_t cheap = set & a->s->t->class[ra_class(a->s->t, v)].cheap;
    for (unsigned k = 0; k < 3 && !a->s->random; k++)
        if (preferred[k] != CG_ANY_REG && set & ra_bit(preferred[k])) return preferred[k];
    return ra_pick(a->s, cheap && !a->s->random ? cheap : set);
}

static void give_register(assigner *a, ir_inst *v, unsigned reg) {
    ra_range *root = &a->range[ra_range_root(a->range, v->id)];
    ra_set_reg(a->s, v, reg);
    if (v->op == IR_OP_phi || root->shared == CG_ANY_REG) root->shared = (uint8_t)reg;
}

/* The cheapest of v and the values in the registers of the set; NULL: none can be evicted. */
static ir_inst *find_victim(const assigner *a, ir_inst *v, unsigned class, uint32_t set) {
    ir_inst *best = ra_is_minimal(a->s, v) ? NULL : v;
    for (; set; set &= set - 1) {
        ir_inst *holder = a->holder[class][__builtin_ctz(set)];
        if (ra_is_minimal(a->s, holder)) continue;
        if (!best || a->range[holder->id].cost < a->range[best->id].cost) best = holder;
    }
    return best;
}

/* No register of the set is free for v: evicts a value, whose register v gets, or v itself. */
static void evict_for(assigner *a, ir_inst *v, unsigned class, uint32_t set) {
    ir_inst *victim = find_victim(a, v, class, set & a->occupied[class]);
    if (!victim) {
        a->failed = true;
        return;
    }
    *ir_push(&a->s->scratch, a->evicted) = victim;
    if (victim == v)
        ra_set_reg(a->s, v, CG_ANY_REG);
    else
        give_register(a, v, ra_reg(a->s, victim));
}

/* Chooses a register for v from a set. */
static void choose(assigner *a, ir_inst *v, uint32_t set) {
    uint8_t class = ra_class(a->s->t, v);
    set &= ~a->range[v->id].excluded;
    uint32_t free = set & ~a->occupied[class];
    if (free)
        give_register(a, v, choose_preferred(a, v, free));
    else
        evict_for(a, v, class, set);
}

/* ------------------------------------------------------------------------------------- operands */

static uint32_t fixed_operands(const cg_constraints *constraints, unsigned class) {
    uint32_t set = 0;
    for (unsigned n = 0; n < constraints->nargs; n++)
        if (constraints->arg[n].class == class && constraints->arg[n].fixed != CG_ANY_REG)
            set |= ra_bit(constraints->arg[n].fixed);
    return set;
}

static bool is_last_use(const assigner *a, const ir_inst *i, unsigned n) {
    return a->last_use[i->id] & ra_bit(n);
}

static void release_operands(assigner *a, const ir_inst *i, const cg_constraints *constraints) {
    for (unsigned n = 0; n < constraints->nargs; n++)
        if (is_last_use(a, i, n)) release_value(a, ir_arg(i, n));
}

/* Does the range of operand n end here, so that the result may have its register?  An early result
 * may not if the value is another operand, too. */
static bool ends_at(const assigner *a, const ir_inst *i, const cg_constraints *constraints,
                    unsigned n) {
    unsigned mentions = 0;
    bool ends = false;
    for (unsigned k = 0; k < i->nargs; k++) {
        if (ir_arg(i, k) != ir_arg(i, n)) continue;
        ends |= k < constraints->nargs && is_last_use(a, i, k);
        mentions++;
    }
    return ends && (mentions == 1 || !constraints->early);
}

/* -------------------------------------------------------------------------------------- results */

/* The result gets the register of the operand if the range of that ends here, otherwise one that no
 * operand is in. */
static void choose_tied(assigner *a, ir_inst *i, const cg_constraints *constraints, uint32_t set) {
    unsigned n = (unsigned)constraints->tied, reg = ra_reg(a->s, ir_arg(i, n));
    uint32_t same = reg == CG_ANY_REG ? 0 : set & ra_bit(reg) & ~a->range[i->id].excluded;
    bool inherits = same && ends_at(a, i, constraints, n);
    if (!inherits) choose(a, i, set & ~fixed_operands(constraints, constraints->result.class));
    release_operands(a, i, constraints);
    if (inherits) give_register(a, i, reg);
}

/* Chooses the register in which the result appears, or another one to which it is moved. */
static void choose_fixed(assigner *a, ir_inst *i, cg_constraint result) {
    uint32_t set = usable(a, result.class);
    bool may_stay =
        set & ra_bit(result.fixed) & ~a->range[i->id].excluded & ~a->occupied[result.class];
    if (i->op == IR_OP_reg_in) set &= ~a->arriving[result.class];
    if (may_stay || is_unused(a, i))
        give_register(a, i, result.fixed);
    else
        choose(a, i, set);
}

static void assign_result(assigner *a, ir_inst *i, const cg_constraints *constraints) {
    uint8_t class = constraints->result.class;
    uint32_t set = usable(a, class) & ~constraints->clobbers[class];
    if (constraints->result.fixed != CG_ANY_REG) {
        release_operands(a, i, constraints);
        choose_fixed(a, i, constraints->result);
    } else if (constraints->tied >= 0) {
        choose_tied(a, i, constraints, set);
    } else if (constraints->early) {
        choose(a, i, set & ~fixed_operands(constraints, class));
        release_operands(a, i, constraints);
    } else {
        release_operands(a, i, constraints);
        choose(a, i, set);
    }
    if (!is_unused(a, i)) occupy(a, i);
}

/* --------------------------------------------------------------------------------------- blocks */

/* Can the phi have the register that its set shares? */
static bool can_share(const assigner *a, const ir_inst *phi) {
    unsigned reg = a->range[ra_range_root(a->range, phi->id)].shared;
    uint8_t class = ra_class(a->s->t, phi);
    uint32_t closed = a->occupied[class] | a->range[phi->id].excluded;
    return reg != CG_ANY_REG && usable(a, class) & ra_bit(reg) & ~closed;
}

/* All phis of a block are live at once, those without uses, too.  The first round is for those that
 * can have the register of their set. */
static void assign_phis(assigner *a, ir_block *b) {
    foreach_phi (phi, b) ra_set_reg(a->s, phi, CG_ANY_REG);
    for (unsigned round = 0; round < 2; round++)
        foreach_phi (phi, b) {
            if (ra_reg(a->s, phi) != CG_ANY_REG || (round == 0 && !can_share(a, phi))) continue;
            choose(a, phi, usable(a, ra_class(a->s->t, phi)));
            occupy(a, phi);
        }
    foreach_phi (phi, b)
        if (is_unused(a, phi)) release_value(a, phi);
}

static void assign_block(assigner *a, ir_block *b, const ir_live *live) {
    memset(a->occupied, 0, sizeof a->occupied);
    foreach_live (w, live, &live->in[b->id]) occupy(a, w.v);
    assign_phis(a, b);
    for (ir_inst *i = ir_first_non_phi(b); i; i = i->next) {
        cg_constraints constraints;
        ir_look_at(b->func->module->cx, i);
        ra_describe(a->s->t, i, &constraints);
        if (constraints.result.class == CG_NO_CLASS)
            release_operands(a, i, &constraints);
        else
            assign_result(a, i, &constraints);
    }
}

bool ra_assign(ra_state *s, ra_values *evicted) {
    const ra_ranges ranges = ra_find_ranges(s);
    assigner a = {.s = s, .range = ranges.of, .last_use = ranges.last_use, .evicted = evicted};
    const ir_live *live = ir_liveness(s->f);
    const ir_order *order = &ir_dominators(s->f)->order;
    foreach_inst (i, s->f->first)
        if (i->op == IR_OP_reg_in && !is_unused(&a, i))
            a.arriving[ra_class(s->t, i)] |= ra_bit(cg_register_of(i));
    for (uint32_t n = 0; n < order->n && !a.failed; n++) assign_block(&a, order->rpo[n], live);
    return !a.failed;
}
