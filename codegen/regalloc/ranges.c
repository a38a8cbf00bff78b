/* ranges.c — the registers that a live range cannot have, and those that it prefers; found by one
 * walk backwards over each block.
 *
 * A register is excluded for a value that is live while an instruction needs the register for
 * something else: the instruction clobbers it, writes its result there, or requires another operand
 * in it.  Hints are the fixed registers of operands and results.  Ranges that save a move if they
 * share a register form a set: phis with their operands, results with tied operands, and moves.
 * Sharing is a preference only, so members of a set may interfere.
 *
 * All live values are visited only at instructions that have fixed registers or clobbers.  So this
 * is linear in code and live values, provided that spilling has left no more of these than
 * registers.
 */
#include "codegen/regalloc/ra.h"

typedef struct {
    ra_state *s;
    ra_ranges out;
    uint32_t *index; /* by id: the place in `live` + 1; 0: not live */
    ra_values live;
    float weight; /* of an access in this block */
} range_walk;

/* ----------------------------------------------------------------------------- shared registers */

uint32_t ra_range_root(ra_range *of, uint32_t id) {
    while (of[id].parent != id) {
        of[id].parent = of[of[id].parent].parent;
        id = of[id].parent;
    }
    return id;
}

static void unite(range_walk *w, const ir_inst *a, const ir_inst *b) {
    if (ra_class(w->s->t, b) != ra_class(w->s->t, a)) return;
    w->out.of[ra_range_root(w->out.of, a->id)].parent = ra_range_root(w->out.of, b->id);
}

static void give_hint(range_walk *w, const ir_inst *v, cg_constraint c) {
    if (c.fixed != CG_ANY_REG) w->out.of[v->id].hint = c.fixed;
}

/* ---------------------------------------------------------------------------------- live values */

static bool is_in_range(const range_walk *w, const ir_inst *v) { return w->index[v->id] != 0; }

static void start_range(range_walk *w, ir_inst *v) {
    if (is_in_range(w, v)) return;
    *ir_push(&w->s->scratch, &w->live) = v;
    w->index[v->id] = w->live.n;
}

static void end_range(range_walk *w, const ir_inst *v) {
    ir_inst *last = w->live.data[--w->live.n];
    w->live.data[w->index[v->id] - 1] = last;
    w->index[last->id] = w->index[v->id];
    w->index[v->id] = 0;
}

/* Excludes registers of a class for all values that are live here, with one exception. */
static void exclude(range_walk *w, unsigned class, uint32_t set, const ir_inst *except) {
    for (uint32_t k = 0; set && k < w->live.n; k++) {
        const ir_inst *v = w->live.data[k];
        if (v != except && ra_class(w->s->t, v) == class) w->out.of[v->id].excluded |= set;
    }
}

/* --------------------------------------------------------------------------------- instructions */

static uint32_t fixed_set(cg_constraint c) {
    return c.class < CG_MAX_CLASSES && c.fixed != CG_ANY_REG ? ra_bit(c.fixed) : 0;
}

static void walk_result(range_walk *w, const ir_inst *i, cg_constraint result) {
    if (result.class >= CG_MAX_CLASSES) return;
    w->out.of[i->id].unused = !is_in_range(w, i);
    if (is_in_range(w, i)) end_range(w, i);
    give_hint(w, i, result);
    w->out.of[i->id].cost += w->weight;
}

/* Excludes registers for what is live after the instruction, except its result. */
static void exclude_across(range_walk *w, const cg_constraints *constraints) {
    cg_constraint result = constraints->result;
    for (unsigned c = 0; c < w->s->t->nclasses; c++) exclude(w, c, constraints->clobbers[c], NULL);
    if (result.class < CG_MAX_CLASSES) exclude(w, result.class, fixed_set(result), NULL);
}

static void walk_operands(range_walk *w, const ir_inst *i, const cg_constraints *constraints) {
    for (unsigned n = 0; n < constraints->nargs; n++) {
        ir_inst *v = ir_arg(i, n);
        if (constraints->arg[n].class >= CG_MAX_CLASSES) continue;
        w->out.of[v->id].cost += w->weight;
        if (is_in_range(w, v)) continue;
        w->out.last_use[i->id] |= ra_bit(n);
        start_range(w, v);
    }
}

/* Excludes registers for what is live before the instruction, including operands. */
static void exclude_before(range_walk *w, const ir_inst *i, const cg_constraints *constraints) {
    for (unsigned n = 0; n < constraints->nargs; n++) {
        cg_constraint c = constraints->arg[n];
        if (!fixed_set(c)) continue;
        give_hint(w, ir_arg(i, n), c);
        exclude(w, c.class, fixed_set(c), ir_arg(i, n));
    }
    if (!constraints->early || constraints->result.fixed == CG_ANY_REG) return;
    exclude(w, constraints->result.class, fixed_set(constraints->result),
            constraints->tied >= 0 ? ir_arg(i, (unsigned)constraints->tied) : NULL);
}

static void walk_inst(range_walk *w, const ir_inst *i) {
    cg_constraints constraints;
    ra_describe(w->s->t, i, &constraints);
    walk_result(w, i, constraints.result);
    exclude_across(w, &constraints);
    walk_operands(w, i, &constraints);
    exclude_before(w, i, &constraints);
    if (constraints.tied >= 0) unite(w, ir_arg(i, (unsigned)constraints.tied), i);
    if (i->op == IR_OP_move && constraints.arg[0].class != CG_NO_CLASS) unite(w, ir_arg(i, 0), i);
}

static void walk_phi(range_walk *w, const ir_inst *phi) {
    w->out.of[phi->id].unused = !is_in_range(w, phi);
    if (is_in_range(w, phi)) end_range(w, phi);
    w->out.of[phi->id].cost += w->weight;
    for (unsigned n = 0; n < phi->nargs; n++) {
        const ir_inst *v = ir_arg(phi, n);
        if (ra_class(w->s->t, v) == CG_NO_CLASS) continue;
        w->out.of[v->id].cost += w->weight;
        unite(w, v, phi);
    }
}

/* ----------------------------------------------------------------------------------------- walk */

static float weight_of(const ir_loop *loop) {
    float w = 1;
    for (uint32_t d = loop ? loop->depth : 0; d > 0 && w < 1e6f; d--) w *= 10;
    return w;
}

ra_ranges ra_find_ranges(ra_state *s) {
    uint32_t n = s->f->next_id;
    const ir_live *live = ir_liveness(s->f);
    const ir_loops *loops = ir_loop_tree(s->f);
    range_walk w = {.s = s,
                    .out = {.of = ir_new_array(&s->scratch, ra_range, n),
                            .last_use = ir_new_array(&s->scratch, uint32_t, n)},
                    .index = ir_new_array(&s->scratch, uint32_t, n)};
    for (uint32_t id = 0; id < n; id++)
        w.out.of[id] = (ra_range){.parent = id, .hint = CG_ANY_REG, .shared = CG_ANY_REG};
    foreach_block (b, s->f) {
        w.weight = weight_of(loops->of[b->id]);
        foreach_live (l, live, &live->out[b->id])
            if (ra_class(s->t, l.v) != CG_NO_CLASS) start_range(&w, l.v);
        foreach_inst_reverse (i, b) {
            if (i->op == IR_OP_phi)
                walk_phi(&w, i);
            else
                walk_inst(&w, i);
        }
        while (w.live.n) end_range(&w, w.live.data[w.live.n - 1]);
    }
    return w.out;
}
