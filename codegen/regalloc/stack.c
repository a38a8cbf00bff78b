/* stack.c — every value in a slot of its own: the simplest correct allocation.
 *
 * Each instruction reads its operands from their slots into registers and writes its result back.
 * A phi has a second slot, which the ends of the predecessors write and from which the head of the
 * block copies: so phis that are operands of each other need no order.
 *
 * The allocator falls back to this if it finds no assignment, and tests compare it with the other
 * one.
 */
#include "codegen/regalloc/ra.h"

typedef struct {
    ra_state *s;
    uint32_t *slot;     /* by value id: its slot + 1 */
    uint32_t *incoming; /* by id of a phi: the slot that predecessors write, + 1 */
    uint32_t nold;      /* values from here on are new */
    bool failed;
} stack_allocator;

/* The registers of one instruction. */
typedef struct {
    const ir_inst *i;
    cg_constraints constraints;
    uint32_t taken[CG_MAX_CLASSES]; /* by operands, or by a result that is written early */
    unsigned reg[CG_MAX_ARGS];
} stack_registers;

/* ---------------------------------------------------------------------------------------- slots */

static void make_slots(stack_allocator *k) {
    uint32_t n = k->nold = k->s->f->next_id;
    k->slot = ir_new_array(&k->s->scratch, uint32_t, n);
    k->incoming = ir_new_array(&k->s->scratch, uint32_t, n);
    foreach_block (b, k->s->f)
        foreach_inst (i, b) {
            uint8_t class = ra_class(k->s->t, i);
            if (class == CG_NO_CLASS) continue;
            k->slot[i->id] = ra_new_slot(k->s, class) + 1;
            if (i->op == IR_OP_phi) k->incoming[i->id] = ra_new_slot(k->s, class) + 1;
        }
}

static ir_inst *load_value(stack_allocator *k, ir_inst *v, unsigned reg, ra_point at) {
    ir_inst *i =
        ir_is_leaf(v) ? ra_move(k->s, v, at) : ra_reload(k->s, v->type, k->slot[v->id] - 1, at);
    ra_set_reg(k->s, i, reg);
    return i;
}

static unsigned any_register(stack_allocator *k, ir_type type) {
    return ra_pick(k->s, k->s->t->class[k->s->t->class_of(k->s->t, type)].usable);
}

/* ------------------------------------------------------------------------------------ registers */

static bool refuse(stack_allocator *k, const ir_inst *i) {
    ir_text t = {.arena = &k->s->scratch};
    ir_print_inst(&t, i);
    k->failed = true;
    return ir_error(k->s->f->module->cx, "@%s: too few registers for%s", k->s->f->name, t.data);
}

/* A register from the set that no operand has. */
static bool take_register(stack_allocator *k, stack_registers *r, unsigned class, uint32_t set,
                          unsigned *reg) {
    set &= ~r->taken[class];
    if (!set) return refuse(k, r->i);
    *reg = ra_pick(k->s, set);
    r->taken[class] |= ra_bit(*reg);
    return true;
}

static uint32_t registers_for(const stack_allocator *k, const stack_registers *r, unsigned n) {
    cg_constraint c = r->constraints.arg[n];
    if (c.fixed != CG_ANY_REG) return ra_bit(c.fixed);
    uint32_t usable = k->s->t->class[c.class].usable;
    return r->constraints.tied == (int)n ? usable & ~r->constraints.clobbers[c.class] : usable;
}

/* Takes registers for operands, either for those that are fixed or for the others. */
static bool take_operands(stack_allocator *k, stack_registers *r, bool fixed) {
    for (unsigned n = 0; n < r->constraints.nargs; n++) {
        cg_constraint c = r->constraints.arg[n];
        if (c.class >= CG_MAX_CLASSES || (c.fixed != CG_ANY_REG) != fixed) continue;
        if (!take_register(k, r, c.class, registers_for(k, r, n), &r->reg[n])) return false;
    }
    return true;
}

static bool take_result(stack_allocator *k, stack_registers *r) {
    const cg_constraints *constraints = &r->constraints;
    cg_constraint c = constraints->result;
    if (c.class == CG_NO_CLASS) return true;
    unsigned reg = c.fixed;
    if (constraints->tied >= 0) {
        reg = r->reg[constraints->tied];
    } else if (reg == CG_ANY_REG) {
        uint32_t set = k->s->t->class[c.class].usable & ~constraints->clobbers[c.class];
        if (!constraints->early) r->taken[c.class] = 0;
        if (!take_register(k, r, c.class, set, &reg)) return false;
    }
    ra_set_reg(k->s, r->i, reg);
    return true;
}

static bool take_registers(stack_allocator *k, stack_registers *r) {
    const cg_constraints *constraints = &r->constraints;
    ra_describe(k->s->t, r->i, &r->constraints);
    cg_constraint c = constraints->result;
    if (constraints->early && constraints->tied < 0 && c.fixed != CG_ANY_REG)
        r->taken[c.class] = ra_bit(c.fixed);
    return take_operands(k, r, true) && take_operands(k, r, false) && take_result(k, r);
}

/* ------------------------------------------------------------------------------------ rewriting */

/* Copies phis from the slots that the predecessors have written to their own. */
static void copy_incoming(stack_allocator *k, ir_block *b) {
    ra_point at = {b, ir_first_non_phi(b)};
    foreach_phi (phi, b) {
        ir_inst *v = ra_reload(k->s, phi->type, k->incoming[phi->id] - 1, at);
        ra_set_reg(k->s, v, any_register(k, phi->type));
        ra_spill(k->s, v, k->slot[phi->id] - 1, at);
    }
}

static void write_incoming(stack_allocator *k, const ir_block *to, uint32_t edge) {
    ra_point at = ra_end_of(to->pred[edge]);
    foreach_phi (phi, to) {
        ir_inst *v = ir_arg(phi, edge);
        if (v->op == IR_OP_undef) continue;
        ir_inst *copy = load_value(k, v, any_register(k, v->type), at);
        ra_spill(k->s, copy, k->incoming[phi->id] - 1, at);
    }
}

static void rewrite_inst(stack_allocator *k, ir_inst *i) {
    stack_registers r = {.i = i};
    if (!take_registers(k, &r)) return;
    for (unsigned n = 0; n < r.constraints.nargs; n++)
        if (r.constraints.arg[n].class < CG_MAX_CLASSES)
            ir_set_arg(i, n, load_value(k, ir_arg(i, n), r.reg[n], ra_before(i)));
    if (k->slot[i->id]) ra_spill(k->s, i, k->slot[i->id] - 1, (ra_point){i->block, i->next});
}

static void rewrite_block(stack_allocator *k, ir_block *b) {
    for (ir_inst *i = ir_first_non_phi(b), *next; i && !k->failed; i = next) {
        next = i->next;
        if (i->id < k->nold) rewrite_inst(k, i);
    }
    copy_incoming(k, b);
}

bool ra_allocate_slots(ra_state *s) {
    stack_allocator k = {.s = s};
    make_slots(&k);
    foreach_block (b, s->f)
        for (uint32_t n = 0; n < b->npred; n++) write_incoming(&k, b, n);
    foreach_block (b, s->f)
        if (!k.failed) rewrite_block(&k, b);
    if (k.failed) return false;
    foreach_block (b, s->f)
        foreach_phi (phi, b) ra_remove_phi(phi);
    return true;
}
