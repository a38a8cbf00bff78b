/* limits.c — what every value may and would like to have, found in one walk backwards over each
 * block.
 *
 * A register is forbidden to a value that lives while an instruction needs the register for
 * something else: because it clobbers it, writes its result there, or wants another operand in it.
 * Wishes are the fixed registers of operands and results; groups are values that would save a move
 * by sharing a register: phis with their operands, tied operands, and moves.  Groups are wishes
 * only, so it is not asked whether their members live at the same time.
 *
 * The walk visits all live values at instructions that have fixed registers or clobbers only, so it
 * is linear in code and live values as long as spilling has left no more of these than there are
 * registers.
 */
#include "codegen/regalloc/ra.h"

typedef struct {
    ra_state *s;
    ra_value *value; /* by id */
    uint32_t *last_use;
    uint32_t *place; /* by id: index in `live` + 1; 0: not live */
    ra_values live;
} limits_state;

/* --------------------------------------------------------------------------------------- groups */

uint32_t ra_group(ra_value *table, uint32_t id) {
    while (table[id].group != id) {
        table[id].group = table[table[id].group].group;
        id = table[id].group;
    }
    return id;
}

static void join(limits_state *l, const ir_inst *a, const ir_inst *b) {
    if (ra_class(l->s->t, b) != ra_class(l->s->t, a)) return;
    l->value[ra_group(l->value, a->id)].group = ra_group(l->value, b->id);
}

static void wish(limits_state *l, const ir_inst *v, cg_place p) {
    if (p.fixed == CG_ANY_REG) return;
    l->value[v->id].wish = p.fixed;
}

/* ---------------------------------------------------------------------------------- live values */

static bool is_live(const limits_state *l, const ir_inst *v) { return l->place[v->id] != 0; }

static void add_live(limits_state *l, ir_inst *v) {
    if (is_live(l, v)) return;
    *ir_push(&l->s->scratch, &l->live) = v;
    l->place[v->id] = l->live.n;
}

static void remove_live(limits_state *l, const ir_inst *v) {
    ir_inst *last = l->live.data[--l->live.n];
    l->live.data[l->place[v->id] - 1] = last;
    l->place[last->id] = l->place[v->id];
    l->place[v->id] = 0;
}

/* Registers of a class for all that lives here, with one exception. */
static void forbid(limits_state *l, unsigned class, uint32_t set, const ir_inst *but) {
    for (uint32_t k = 0; set && k < l->live.n; k++) {
        const ir_inst *v = l->live.data[k];
        if (v != but && ra_class(l->s->t, v) == class) l->value[v->id].forbidden |= set;
    }
}

/* --------------------------------------------------------------------------------- instructions */

static uint32_t fixed_bit(cg_place p) {
    return p.class < CG_MAX_CLASSES && p.fixed != CG_ANY_REG ? ra_bit(p.fixed) : 0;
}

/* What lives after the instruction, its result aside, has kept out of its way. */
static void limit_others(limits_state *l, const cg_needs *needs) {
    for (unsigned c = 0; c < l->s->t->nclasses; c++) forbid(l, c, needs->clobbers[c], NULL);
    if (needs->result.class < CG_MAX_CLASSES)
        forbid(l, needs->result.class, fixed_bit(needs->result), NULL);
}

/* So has what lives in front of it, operands included. */
static void limit_operands(limits_state *l, const ir_inst *i, const cg_needs *needs) {
    for (unsigned n = 0; n < needs->nargs; n++) {
        if (!fixed_bit(needs->arg[n])) continue;
        wish(l, ir_arg(i, n), needs->arg[n]);
        forbid(l, needs->arg[n].class, fixed_bit(needs->arg[n]), ir_arg(i, n));
    }
    if (needs->early && needs->result.fixed != CG_ANY_REG)
        forbid(l, needs->result.class, fixed_bit(needs->result),
               needs->tied >= 0 ? ir_arg(i, (unsigned)needs->tied) : NULL);
}

static void pass_operands(limits_state *l, const ir_inst *i, const cg_needs *needs, float weight) {
    for (unsigned n = 0; n < needs->nargs; n++) {
        ir_inst *v = ir_arg(i, n);
        if (needs->arg[n].class >= CG_MAX_CLASSES) continue;
        l->value[v->id].cost += weight;
        if (is_live(l, v)) continue;
        l->last_use[i->id] |= ra_bit(n);
        add_live(l, v);
    }
}

static void pass_inst(limits_state *l, const ir_inst *i, float weight) {
    cg_needs needs;
    ra_describe(l->s->t, i, &needs);
    if (needs.result.class < CG_MAX_CLASSES) {
        if (is_live(l, i))
            remove_live(l, i);
        else
            l->value[i->id].unread = true;
        wish(l, i, needs.result);
        l->value[i->id].cost += weight;
    }
    limit_others(l, &needs);
    pass_operands(l, i, &needs, weight);
    limit_operands(l, i, &needs);
    if (needs.tied >= 0) join(l, ir_arg(i, (unsigned)needs.tied), i);
    if (i->op == IR_OP_move && needs.arg[0].class != CG_NO_CLASS) join(l, ir_arg(i, 0), i);
}

static void pass_phi(limits_state *l, const ir_inst *phi, float weight) {
    l->value[phi->id].unread = !is_live(l, phi);
    if (is_live(l, phi)) remove_live(l, phi);
    l->value[phi->id].cost += weight;
    for (unsigned n = 0; n < phi->nargs; n++)
        if (ra_class(l->s->t, ir_arg(phi, n)) != CG_NO_CLASS) {
            l->value[ir_arg(phi, n)->id].cost += weight;
            join(l, ir_arg(phi, n), phi);
        }
}

static float weight_of(const ir_loop *loop) {
    float w = 1;
    for (uint32_t d = loop ? loop->depth : 0; d > 0 && w < 1e6f; d--) w *= 10;
    return w;
}

static void pass_block(limits_state *l, ir_block *b, const ir_live *live) {
    float weight = weight_of(ir_loop_tree(l->s->f)->of[b->id]);
    foreach_live (w, live, &live->out[b->id])
        if (ra_class(l->s->t, w.v) != CG_NO_CLASS) add_live(l, w.v);
    foreach_inst_reverse (i, b) {
        if (i->op == IR_OP_phi)
            pass_phi(l, i, weight);
        else
            pass_inst(l, i, weight);
    }
    while (l->live.n) remove_live(l, l->live.data[l->live.n - 1]);
}

ra_limits ra_find_limits(ra_state *s) {
    limits_state l = {.s = s};
    uint32_t n = s->f->next_id;
    const ir_live *live = ir_liveness(s->f);
    l.value = ir_new_array(&s->scratch, ra_value, n);
    l.last_use = ir_new_array(&s->scratch, uint32_t, n);
    l.place = ir_new_array(&s->scratch, uint32_t, n);
    for (uint32_t id = 0; id < n; id++)
        l.value[id] = (ra_value){.group = id, .wish = CG_ANY_REG, .group_reg = CG_ANY_REG};
    foreach_block (b, s->f) pass_block(&l, b, live);
    return (ra_limits){l.value, l.last_use};
}
