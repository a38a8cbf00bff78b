/* moves.c — the moves that follow from registers and constraints.
 *
 * An operand that an instruction requires in another register is moved there before it, and a fixed
 * result is moved to its own register after it.  Those registers are excluded for other values
 * (ranges.c), so these moves need no order.  Phis get their values at the ends of predecessors, by
 * parallel copies (parcopy.c).
 *
 * After this, every operand is in the register that its user reads, and a phi and all its operands
 * are in one register.
 */
#include "codegen/regalloc/ra.h"

typedef uint32_t class_sets[CG_MAX_CLASSES];

typedef struct {
    ra_state *s;
    class_sets *live_in;                /* by block id: registers of values that are live */
    uint32_t swap_slot[CG_MAX_CLASSES]; /* + 1 */
} mover;

static ir_inst *move_to(mover *m, ir_inst *v, unsigned reg, ra_point at) {
    ir_inst *move = ra_move(m->s, v, at);
    ra_set_reg(m->s, move, reg);
    return move;
}

/* ---------------------------------------------------------------------------------- constraints */

static void move_operands(mover *m, ir_inst *i, const cg_constraints *constraints) {
    for (unsigned n = 0; n < constraints->nargs; n++) {
        ir_inst *v = ir_arg(i, n);
        unsigned required = constraints->arg[n].fixed;
        if (constraints->arg[n].class >= CG_MAX_CLASSES) continue;
        if (required == CG_ANY_REG) required = ra_reg(m->s, constraints->tied == (int)n ? i : v);
        if (required != ra_reg(m->s, v)) ir_set_arg(i, n, move_to(m, v, required, ra_before(i)));
    }
}

static void move_result(mover *m, ir_inst *i, cg_constraint result) {
    unsigned own = ra_reg(m->s, i), reg = result.fixed;
    if (result.class == CG_NO_CLASS || reg == CG_ANY_REG || reg == own) return;
    ir_inst *move = ir_inst_new(m->s->f, IR_OP_move, i->type, 1);
    ra_point at = ra_after_definition(i);
    ir_replace_uses(i, move);
    ir_set_arg(move, 0, i);
    move->loc = i->loc;
    ir_insert(move, at.block, at.before);
    ra_set_reg(m->s, move, own);
    ra_set_reg(m->s, i, reg);
}

static void satisfy(mover *m, ir_inst *i) {
    cg_constraints constraints;
    ra_describe(m->s->t, i, &constraints);
    move_operands(m, i, &constraints);
    move_result(m, i, constraints.result);
}

/* ----------------------------------------------------------------------------------------- phis */

/* The copies of one class on an edge. */
typedef struct {
    ir_block *pred;
    uint32_t edge; /* index among the predecessors of the block with the phis */
    unsigned n, class;
    ra_copy copy[CG_MAX_REGS];
    ir_inst *phi[CG_MAX_REGS];
    ir_inst *content[CG_MAX_REGS]; /* by register: the value in it now */
    ir_type saved;                 /* of the value in the slot */
    uint32_t written;              /* registers that get or keep what a register holds */
} edge_copies;

static void collect_copies(const mover *m, edge_copies *e, const ir_block *to) {
    foreach_phi (phi, to) {
        ir_inst *v = ir_arg(phi, e->edge);
        if (ra_class(m->s->t, phi) != e->class || v->op == IR_OP_undef) continue;
        unsigned reg = ra_reg(m->s, phi), from = ir_is_leaf(v) ? CG_ANY_REG : ra_reg(m->s, v);
        if (from != CG_ANY_REG) {
            e->content[from] = v;
            e->written |= ra_bit(reg);
        }
        e->phi[e->n] = phi;
        e->copy[e->n++] = (ra_copy){(uint8_t)reg, (uint8_t)from};
    }
}

static uint32_t swap_slot_of(mover *m, unsigned class) {
    if (!m->swap_slot[class]) m->swap_slot[class] = ra_new_slot(m->s, class) + 1;
    return m->swap_slot[class] - 1;
}

static void insert_step(mover *m, edge_copies *e, ra_step step) {
    ra_point at = ra_end_of(e->pred);
    ir_inst *constant;
    switch (step.kind) {
    case RA_MOVE: e->content[step.to] = move_to(m, e->content[step.from], step.to, at); return;
    case RA_SAVE:
        e->saved = e->content[step.from]->type;
        ra_spill(m->s, e->content[step.from], swap_slot_of(m, e->class), at);
        return;
    case RA_RESTORE:
        e->content[step.to] = ra_reload(m->s, e->saved, swap_slot_of(m, e->class), at);
        ra_set_reg(m->s, e->content[step.to], step.to);
        return;
    default:
        constant = ir_arg(e->phi[step.from], e->edge);
        e->content[step.to] = move_to(m, constant, step.to, at);
    }
}

static void insert_copies(mover *m, const ir_block *to, uint32_t edge, unsigned class) {
    edge_copies e = {.pred = to->pred[edge], .edge = edge, .class = class};
    ra_step steps[2 * CG_MAX_REGS];
    collect_copies(m, &e, to);
    uint32_t spare = m->s->t->class[class].usable & ~m->live_in[to->id][class] & ~e.written;
    unsigned n = ra_order_copies(e.copy, e.n, spare ? ra_pick(m->s, spare) : CG_ANY_REG, steps);
    for (unsigned k = 0; k < n; k++) insert_step(m, &e, steps[k]);
    for (unsigned k = 0; k < e.n; k++)
        if (e.copy[k].from != e.copy[k].to) ir_set_arg(e.phi[k], edge, e.content[e.copy[k].to]);
}

/* ---------------------------------------------------------------------------------------- entry */

static class_sets *find_live_in(ra_state *s, const ir_live *live) {
    class_sets *sets = ir_new_array(&s->scratch, class_sets, s->f->next_block);
    foreach_block (b, s->f)
        foreach_live (w, live, &live->in[b->id]) {
            uint8_t class = ra_class(s->t, w.v);
            if (class != CG_NO_CLASS) sets[b->id][class] |= ra_bit(ra_reg(s, w.v));
        }
    return sets;
}

void ra_insert_moves(ra_state *s) {
    mover m = {.s = s, .live_in = find_live_in(s, ir_liveness(s->f))};
    foreach_block (b, s->f)
        for (ir_inst *i = ir_first_non_phi(b), *next; i; i = next) {
            next = i->next;
            ir_look_at(s->f->module->cx, i);
            satisfy(&m, i);
        }
    foreach_block (b, s->f) {
        bool has_phis = b->first && b->first->op == IR_OP_phi;
        for (uint32_t edge = 0; has_phis && edge < b->npred; edge++)
            for (unsigned c = 0; c < s->t->nclasses; c++) insert_copies(&m, b, edge, c);
    }
}
