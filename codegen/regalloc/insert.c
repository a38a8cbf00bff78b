/* insert.c — the changes that all steps of register allocation make: registers of values, slots of
 * the frame, and new moves, spills, reloads and repeated instructions.
 *
 * All random choices are made here, too: with a seed, steps choose at random among what is correct.
 */
#include "codegen/regalloc/ra.h"

/* ------------------------------------------------------------------------------------ registers */

static void grow_registers(ra_state *s, uint32_t id) {
    uint32_t n = id + 1 > s->f->next_id ? id + 1 : s->f->next_id;
    uint32_t capacity = n + n / 2;
    uint8_t *reg = ir_alloc(s->arena, capacity);
    memset(reg, CG_ANY_REG, capacity);
    if (s->a->nregs) memcpy(reg, s->a->reg, s->a->nregs);
    s->a->reg = reg;
    s->capacity = capacity;
}

void ra_set_reg(ra_state *s, const ir_inst *v, unsigned reg) {
    if (v->id >= s->capacity) grow_registers(s, v->id);
    if (v->id >= s->a->nregs) s->a->nregs = v->id + 1;
    s->a->reg[v->id] = (uint8_t)reg;
}

void ra_complete_registers(ra_state *s) {
    if (s->capacity < s->f->next_id) grow_registers(s, s->f->next_id - 1);
    s->a->nregs = s->f->next_id;
}

uint32_t ra_random(ra_state *s, uint32_t n) {
    s->random = ir_mix(s->random, n) | 1;
    return (uint32_t)(s->random >> 32) % n;
}

unsigned ra_pick(ra_state *s, uint32_t set) {
    assert(set);
    uint32_t skip = s->random ? ra_random(s, (uint32_t)__builtin_popcount(set)) : 0;
    for (; skip > 0; skip--) set &= set - 1;
    return (unsigned)__builtin_ctz(set);
}

/* ---------------------------------------------------------------------------------------- slots */

static void measure_value(ra_state *s, uint8_t class, ir_type type) {
    if (class >= CG_MAX_CLASSES) return;
    uint32_t bytes = ra_slot_bytes(s->t, type);
    if (bytes > s->slot_bytes[class]) s->slot_bytes[class] = bytes;
}

/* A constant operand will be moved to a register if one is required. */
static void measure_operands(ra_state *s, const ir_inst *i) {
    cg_constraints constraints;
    ra_describe(s->t, i, &constraints);
    for (unsigned n = 0; n < constraints.nargs; n++)
        if (ir_is_leaf(ir_arg(i, n)))
            measure_value(s, constraints.arg[n].class, ir_arg(i, n)->type);
}

/* All slots of a class have the same size, so that any values can share one. */
void ra_measure_slots(ra_state *s) {
    foreach_block (b, s->f)
        foreach_inst (i, b) {
            measure_value(s, ra_class(s->t, i), i->type);
            measure_operands(s, i);
        }
}

uint32_t ra_new_slot(ra_state *s, unsigned class) {
    *ir_push(s->arena, &s->a->slots) = (cg_slot){.size = s->slot_bytes[class]};
    return s->a->slots.n - 1;
}

/* --------------------------------------------------------------------------------- instructions */

ra_point ra_after_definition(const ir_inst *v) {
    ir_inst *i = v->op == IR_OP_phi ? ir_first_non_phi(v->block) : v->next;
    bool arrives = v->op == IR_OP_reg_in; /* registers of the other reg_in must stay as they are */
    for (ir_inst *at = i; arrives && at; at = at->next) {
        if (at->op != IR_OP_reg_in && at->op != IR_OP_alloca) break;
        i = at->next;
    }
    return (ra_point){v->block, i};
}

static ir_inst *insert(ra_state *s, ir_op op, ir_type type, ir_inst *arg, ra_point at) {
    ir_inst *i = ir_inst_new(s->f, op, type, arg ? 1 : 0);
    if (arg) ir_set_arg(i, 0, arg);
    if (at.before) i->loc = at.before->loc;
    ir_insert(i, at.block, at.before);
    return i;
}

ir_inst *ra_move(ra_state *s, ir_inst *v, ra_point at) {
    return insert(s, IR_OP_move, v->type, v, at);
}

ir_inst *ra_reload(ra_state *s, ir_type type, uint32_t slot, ra_point at) {
    ir_inst *i = insert(s, IR_OP_reload, type, NULL, at);
    cg_set_slot(i, slot);
    return i;
}

ir_inst *ra_spill(ra_state *s, ir_inst *v, uint32_t slot, ra_point at) {
    ir_inst *i = insert(s, IR_OP_spill, IR_VOID, v, at);
    cg_set_slot(i, slot);
    return i;
}

ir_inst *ra_repeat(ra_state *s, const ir_inst *v, ra_point at) {
    ir_inst *i = ir_inst_new(s->f, (ir_op)v->op, v->type, v->nargs);
    for (unsigned n = 0; n < v->nargs; n++) ir_set_arg(i, n, ir_arg(v, n));
    i->imm = v->imm;
    i->flags = v->flags;
    i->loc = v->loc;
    ir_insert(i, at.block, at.before);
    ir_count(s->f->module->cx, spill_repeated, 1);
    return i;
}

void ra_note_minimal(ra_state *s, ir_inst *v) { ir_map_set(&s->scratch, &s->minimal, v->id, v); }
bool ra_is_minimal(const ra_state *s, const ir_inst *v) { return ir_map_get(&s->minimal, v->id); }

void ra_remove_phi(ir_inst *phi) {
    ir_replace_uses(phi, ir_undef(phi->block->func, phi->type));
    ir_remove(phi);
}
