/* stack.c — every value in a slot of its own: the simplest allocation that is right.
 *
 * Each instruction reads its operands from their slots into registers of their own and writes its
 * result back.  A phi has a second slot, which the ends of the predecessors write and the head of
 * the block copies from: so phis that read each other need no order.
 *
 * It is what the allocator falls back to when it finds no way, and the other side of comparisons.
 */
#include "codegen/regalloc/ra.h"

typedef struct {
    ra_state *s;
    uint32_t *slot;     /* by value id: its slot + 1 */
    uint32_t *incoming; /* phis: where the predecessors leave the value, + 1 */
    uint32_t old_ids;   /* instructions from here on are new */
    bool failed;
} stack_state;

/* The registers of one instruction. */
typedef struct {
    cg_needs needs;
    uint32_t taken[CG_MAX_CLASSES]; /* by operands, or by a result that is written early */
    unsigned reg[CG_MAX_NEEDS];
} stack_regs;

/* ---------------------------------------------------------------------------------------- slots */

static void give_slots(stack_state *k) {
    uint32_t n = k->old_ids = k->s->f->next_id;
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

/* v in a register, just before `at`. */
static ir_inst *fetch(stack_state *k, ir_inst *v, unsigned reg, ir_inst *at) {
    bool leaf = ir_is_leaf(v);
    ir_inst *i = leaf ? ra_move(k->s, v, at->block, at)
                      : ra_reload(k->s, v->type, k->slot[v->id] - 1, at->block, at);
    ra_set_reg(k->s, i, reg);
    return i;
}

static unsigned any_register(stack_state *k, ir_type type) {
    return ra_pick(k->s, k->s->t->class[k->s->t->class_of(k->s->t, type)].usable);
}

/* ------------------------------------------------------------------------------------ registers */

static bool refuse(stack_state *k, const ir_inst *i) {
    ir_text t = {.arena = &k->s->scratch};
    ir_print_inst(&t, i);
    k->failed = true;
    return ir_error(k->s->f->module->cx, "@%s: too few registers for%s", k->s->f->name, t.data);
}

/* A register from the set that no operand has. */
static bool take(stack_state *k, stack_regs *r, const ir_inst *i, unsigned class, uint32_t set,
                 unsigned *reg) {
    set &= ~r->taken[class];
    if (!set) return refuse(k, i);
    *reg = ra_pick(k->s, set);
    r->taken[class] |= ra_bit(*reg);
    return true;
}

static uint32_t allowed(const stack_state *k, const stack_regs *r, unsigned n) {
    cg_place p = r->needs.arg[n];
    if (p.fixed != CG_ANY_REG) return ra_bit(p.fixed);
    uint32_t usable = k->s->t->class[p.class].usable;
    return r->needs.tied == (int)n ? usable & ~r->needs.clobbers[p.class] : usable;
}

/* Registers for operands: the fixed ones first. */
static bool take_operands(stack_state *k, stack_regs *r, const ir_inst *i, bool fixed) {
    for (unsigned n = 0; n < r->needs.nargs; n++) {
        cg_place p = r->needs.arg[n];
        bool in_register = p.class < CG_MAX_CLASSES && (p.fixed != CG_ANY_REG) == fixed;
        if (in_register && !take(k, r, i, p.class, allowed(k, r, n), &r->reg[n])) return false;
    }
    return true;
}

static bool take_result(stack_state *k, stack_regs *r, const ir_inst *i) {
    cg_place p = r->needs.result;
    if (p.class == CG_NO_CLASS) return true;
    unsigned reg = p.fixed;
    if (r->needs.tied >= 0)
        reg = r->reg[r->needs.tied];
    else if (reg == CG_ANY_REG) {
        if (!r->needs.early) r->taken[p.class] = 0;
        uint32_t set = k->s->t->class[p.class].usable & ~r->needs.clobbers[p.class];
        if (!take(k, r, i, p.class, set, &reg)) return false;
    }
    ra_set_reg(k->s, i, reg);
    return true;
}

static bool choose(stack_state *k, stack_regs *r, const ir_inst *i) {
    cg_needs *needs = &r->needs;
    ra_describe(k->s->t, i, needs);
    memset(r->taken, 0, sizeof r->taken);
    cg_place p = needs->result;
    if (needs->early && needs->tied < 0 && p.fixed != CG_ANY_REG)
        r->taken[p.class] = ra_bit(p.fixed);
    return take_operands(k, r, i, true) && take_operands(k, r, i, false) && take_result(k, r, i);
}

/* ------------------------------------------------------------------------------------ rewriting */

/* Phis: from the slots that the predecessors have written to their own. */
static void rewrite_phis(stack_state *k, ir_block *b) {
    ir_inst *at = ir_first_non_phi(b);
    foreach_phi (phi, b) {
        ir_inst *v = ra_reload(k->s, phi->type, k->incoming[phi->id] - 1, b, at);
        ra_set_reg(k->s, v, any_register(k, phi->type));
        ra_spill(k->s, v, k->slot[phi->id] - 1, b, at);
    }
}

static void leave_for_phis(stack_state *k, const ir_block *to, uint32_t edge) {
    ir_block *b = to->pred[edge];
    foreach_phi (phi, to) {
        ir_inst *v = ir_arg(phi, edge);
        if (v->op == IR_OP_undef) continue;
        ir_inst *copy = fetch(k, v, any_register(k, v->type), b->last);
        ra_spill(k->s, copy, k->incoming[phi->id] - 1, b, b->last);
    }
}

static void rewrite(stack_state *k, ir_inst *i) {
    stack_regs r;
    if (!choose(k, &r, i)) return;
    for (unsigned n = 0; n < r.needs.nargs; n++)
        if (r.needs.arg[n].class < CG_MAX_CLASSES)
            ir_set_arg(i, n, fetch(k, ir_arg(i, n), r.reg[n], i));
    if (k->slot[i->id]) ra_spill(k->s, i, k->slot[i->id] - 1, i->block, i->next);
}

static void rewrite_block(stack_state *k, ir_block *b) {
    for (ir_inst *i = ir_first_non_phi(b), *next; i && !k->failed; i = next) {
        next = i->next;
        if (i->id < k->old_ids) rewrite(k, i);
    }
    rewrite_phis(k, b);
}

bool ra_stack(ra_state *s) {
    stack_state k = {.s = s};
    give_slots(&k);
    foreach_block (b, s->f)
        for (uint32_t n = 0; n < b->npred; n++) leave_for_phis(&k, b, n);
    foreach_block (b, s->f)
        if (!k.failed) rewrite_block(&k, b);
    if (k.failed) return false;
    foreach_block (b, s->f)
        foreach_phi (phi, b) ra_remove_phi(phi);
    return true;
}
