/* place.c — the moves that follow from where values live.
 *
 * An operand that an instruction wants in another register is moved there in front of it, a result
 * after it to where it lives.  The limits have kept those registers free, so these moves need no
 * order.  Phis get their values at the ends of the predecessors, all at once (parcopy.c).
 */
#include "codegen/regalloc/ra.h"

typedef uint32_t class_sets[CG_MAX_CLASSES];

typedef struct {
    ra_state *s;
    class_sets *taken;                  /* by block id: registers of what is live at its start */
    uint32_t swap_slot[CG_MAX_CLASSES]; /* + 1 */
} place_state;

static ir_inst *move_to(place_state *p, ir_inst *v, unsigned reg, ir_block *b, ir_inst *at) {
    ir_inst *m = ra_move(p->s, v, b, at);
    ra_set_reg(p->s, m, reg);
    return m;
}

/* --------------------------------------------------------------------------------- instructions */

static unsigned wanted(const place_state *p, const ir_inst *i, const cg_needs *needs, unsigned n) {
    if (needs->arg[n].fixed != CG_ANY_REG) return needs->arg[n].fixed;
    return needs->tied == (int)n ? ra_reg(p->s, i) : ra_reg(p->s, ir_arg(i, n));
}

static void place_operands(place_state *p, ir_inst *i, const cg_needs *needs) {
    for (unsigned n = 0; n < needs->nargs; n++) {
        ir_inst *v = ir_arg(i, n);
        if (needs->arg[n].class >= CG_MAX_CLASSES) continue;
        unsigned reg = wanted(p, i, needs, n);
        if (reg != ra_reg(p->s, v)) ir_set_arg(i, n, move_to(p, v, reg, i->block, i));
    }
}

static void place_result(place_state *p, ir_inst *i, const cg_needs *needs) {
    unsigned home = ra_reg(p->s, i), reg = needs->result.fixed;
    if (needs->result.class == CG_NO_CLASS || reg == CG_ANY_REG || reg == home) return;
    ir_inst *m = ir_inst_new(p->s->f, IR_OP_move, i->type, 1);
    ir_replace_uses(i, m);
    ir_set_arg(m, 0, i);
    m->loc = i->loc;
    ir_insert(m, i->block, ra_place_behind(i));
    ra_set_reg(p->s, m, home);
    ra_set_reg(p->s, i, reg);
}

static void place_inst(place_state *p, ir_inst *i) {
    cg_needs needs;
    ra_describe(p->s->t, i, &needs);
    place_operands(p, i, &needs);
    place_result(p, i, &needs);
}

/* ----------------------------------------------------------------------------------------- phis */

/* The copies of one class at the end of a block. */
typedef struct {
    unsigned n, class;
    ra_copy copy[CG_MAX_REGS];
    ir_inst *phi[CG_MAX_REGS];
    ir_inst *now[CG_MAX_REGS]; /* by register: what it holds */
    ir_type saved;             /* of what is in the slot */
    uint32_t to;               /* registers that get what another holds, or keep what they hold */
} edge_copies;

static void collect(place_state *p, edge_copies *e, const ir_block *to, unsigned edge) {
    foreach_phi (phi, to) {
        ir_inst *v = ir_arg(phi, edge);
        if (ra_class(p->s->t, phi) != e->class || v->op == IR_OP_undef) continue;
        unsigned reg = ra_reg(p->s, phi), from = ir_is_leaf(v) ? CG_ANY_REG : ra_reg(p->s, v);
        if (from != CG_ANY_REG) {
            e->now[from] = v;
            e->to |= ra_bit(reg);
        }
        e->phi[e->n] = phi;
        e->copy[e->n++] = (ra_copy){(uint8_t)reg, (uint8_t)from};
    }
}

static uint32_t swap_slot(place_state *p, unsigned class) {
    if (!p->swap_slot[class]) p->swap_slot[class] = ra_new_slot(p->s, class) + 1;
    return p->swap_slot[class] - 1;
}

static void do_step(place_state *p, edge_copies *e, ra_step step, ir_block *b, unsigned edge) {
    ir_inst *at = b->last;
    switch (step.kind) {
    case RA_MOVE: e->now[step.to] = move_to(p, e->now[step.from], step.to, b, at); return;
    case RA_SAVE:
        e->saved = e->now[step.from]->type;
        ra_spill(p->s, e->now[step.from], swap_slot(p, e->class), b, at);
        return;
    case RA_RESTORE:
        e->now[step.to] = ra_reload(p->s, e->saved, swap_slot(p, e->class), b, at);
        ra_set_reg(p->s, e->now[step.to], step.to);
        return;
    default: e->now[step.to] = move_to(p, ir_arg(e->phi[step.from], edge), step.to, b, at);
    }
}

static void do_copies(place_state *p, const ir_block *to, uint32_t edge, unsigned class) {
    ir_block *b = to->pred[edge];
    edge_copies e = {.class = class};
    ra_step steps[2 * CG_MAX_REGS];
    collect(p, &e, to, edge);
    uint32_t spare = p->s->t->class[class].usable & ~p->taken[to->id][class] & ~e.to;
    unsigned n = ra_order_copies(e.copy, e.n, spare ? ra_pick(p->s, spare) : CG_ANY_REG, steps);
    for (unsigned k = 0; k < n; k++) do_step(p, &e, steps[k], b, edge);
    for (unsigned k = 0; k < e.n; k++)
        if (e.copy[k].from != e.copy[k].to) ir_set_arg(e.phi[k], edge, e.now[e.copy[k].to]);
}

static void do_edges(place_state *p, const ir_block *to) {
    if (!to->first || to->first->op != IR_OP_phi) return;
    for (uint32_t edge = 0; edge < to->npred; edge++)
        for (unsigned c = 0; c < p->s->t->nclasses; c++) do_copies(p, to, edge, c);
}

/* ---------------------------------------------------------------------------------------- entry */

static void find_taken(place_state *p, const ir_live *live) {
    p->taken = ir_new_array(&p->s->scratch, class_sets, p->s->f->next_block);
    foreach_block (b, p->s->f) {
        foreach_live (w, live, &live->in[b->id]) {
            uint8_t class = ra_class(p->s->t, w.v);
            if (class != CG_NO_CLASS) p->taken[b->id][class] |= ra_bit(ra_reg(p->s, w.v));
        }
    }
}

void ra_place_moves(ra_state *s) {
    place_state p = {.s = s};
    find_taken(&p, ir_liveness(s->f));
    foreach_block (b, s->f)
        for (ir_inst *i = ir_first_non_phi(b), *next; i; i = next) {
            next = i->next;
            place_inst(&p, i);
        }
    foreach_block (b, s->f) do_edges(&p, b);
}
