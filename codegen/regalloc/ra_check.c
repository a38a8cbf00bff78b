/* ra_check.c — proof that an allocation is right, which knows nothing of how it was made.
 *
 * What an instruction said before allocation must hold for the registers that it has now: at every
 * operand makes a demand, "just before here, this register or slot holds that value".  A demand is
 * followed backwards to the last instruction that wrote the place:
 *   the definition of the value, or a copy of an instruction that may be repeated: met;
 *   a move, spill or reload: a demand for what it copies, just before it;
 *   anything else, and what an instruction clobbers: an error.
 * At the head of a block a demand goes on to the ends of all predecessors; that for a phi of the
 * block becomes one for the operand of the edge.  A value that is defined where the place is not
 * written is not there any more, or not yet.  So phis of the allocated function, which are no code,
 * mean nothing here: what they stand for must follow from the code of all paths.
 *
 * The idea of checking against the code before, place by place, is regalloc2's (checker.rs); going
 * backwards instead of solving for the sets of values that every place holds costs what liveness
 * costs, since a block is passed once for each place and value that are demanded there.
 *
 * Beyond that: all instructions are still there, in order, or may be repeated; fixed, tied and
 * early places are as asked; registers that are written may be; values that arrive in registers are
 * met before anything overwrites them.
 */
#include "codegen/regalloc/ra_check.h"

void check_complain(checker *c, const ir_inst *i, const char *fmt, ...) {
    char what[200];
    ir_text t = {.arena = &c->scratch};
    if (++c->errors > CHECK_MAX_ERRORS) return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    ir_print_inst(&t, i);
    ir_error(c->f->module->cx, "allocation of @%s: %s, at%s", c->f->name, what, t.data);
}

/* ------------------------------------------------------------------------------------------ places
 *
 * A register (class * CG_MAX_REGS + number), or a slot, after all registers. */

enum { FIRST_SLOT = CG_MAX_CLASSES * CG_MAX_REGS };

static unsigned reg_of(const checker *c, const ir_inst *v) {
    return v->id < c->a->nregs ? c->a->reg[v->id] : CG_ANY_REG;
}

/* Of a value that is in a register. */
static uint32_t place_of(const checker *c, const ir_inst *v) {
    uint8_t class = ra_class(c->t, v);
    unsigned reg = reg_of(c, v);
    bool none = class == CG_NO_CLASS || reg >= CG_MAX_REGS;
    return none ? CHECK_NOWHERE : class * (uint32_t)CG_MAX_REGS + reg;
}

/* Of the slot that a spill, a reload or an operand names. */
static uint32_t slot_of(const ir_inst *i) { return FIRST_SLOT + cg_slot_of(i); }

static const char *name_place(const checker *c, uint32_t place, char out[40]) {
    unsigned class = place / CG_MAX_REGS, reg = place % CG_MAX_REGS;
    if (place >= FIRST_SLOT)
        snprintf(out, 40, "slot %u", place - FIRST_SLOT);
    else
        snprintf(out, 40, "%s%u", c->t->class[class].name, reg);
    return out;
}

/* ------------------------------------------------------------------------------ code and writes */

static void note_write(checker *c, uint32_t place, uint32_t at) {
    if (place == CHECK_NOWHERE) return;
    check_ids *w = &c->writes[place];
    if (w->n == 0 || w->data[w->n - 1] != at) *ir_push(&c->scratch, w) = at;
}

static void note_fixed(checker *c, cg_place p) {
    if (p.class < CG_MAX_CLASSES && p.fixed < CG_MAX_REGS) c->writable[p.class] |= ra_bit(p.fixed);
}

static void note_clobbers(checker *c, unsigned class, uint32_t set, uint32_t at) {
    for (; set; set &= set - 1)
        note_write(c, class * CG_MAX_REGS + (uint32_t)__builtin_ctz(set), at);
}

static void note_inst(checker *c, const ir_inst *i) {
    uint32_t at = c->code.n;
    cg_needs needs;
    *ir_push(&c->scratch, &c->code) = i;
    c->at[i->id] = at;
    if (i->op == IR_OP_phi) return;
    cg_describe(c->t, i, &needs);
    note_write(c, place_of(c, i), at);
    if (i->op == IR_OP_spill && cg_slot_of(i) < c->a->slots.n) note_write(c, slot_of(i), at);
    for (unsigned k = 0; k < c->t->nclasses; k++) note_clobbers(c, k, needs.clobbers[k], at);
    note_fixed(c, needs.result);
    for (unsigned n = 0; n < needs.nargs; n++) note_fixed(c, needs.arg[n]);
}

static void number_code(checker *c) {
    c->at = ir_new_array(&c->scratch, uint32_t, c->f->next_id);
    c->begin = ir_new_array(&c->scratch, uint32_t, c->f->next_block);
    c->end = ir_new_array(&c->scratch, uint32_t, c->f->next_block);
    c->writes = ir_new_array(&c->scratch, check_ids, FIRST_SLOT + c->a->slots.n);
    for (uint32_t id = 0; id < c->f->next_id; id++) c->at[id] = CHECK_NOWHERE;
    for (unsigned k = 0; k < c->t->nclasses; k++) c->writable[k] = c->t->class[k].usable;
    foreach_block (b, c->f) {
        c->begin[b->id] = c->code.n;
        foreach_inst (i, b) note_inst(c, i);
        c->end[b->id] = c->code.n;
    }
}

/* The last write of a place in the block before a position, or CHECK_NOWHERE. */
static uint32_t last_write(const checker *c, const check_demand *d) {
    const check_ids *w = &c->writes[d->place];
    uint32_t low = 0, high = w->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (w->data[mid] < d->at)
            low = mid + 1;
        else
            high = mid;
    }
    return low && w->data[low - 1] >= c->begin[d->b->id] ? w->data[low - 1] : CHECK_NOWHERE;
}

/* -------------------------------------------------------------------------------------- demands */

static void demand(checker *c, check_demand d, uint32_t place, uint32_t value) {
    d.place = place;
    d.value = value;
    if (place == CHECK_NOWHERE)
        check_complain(c, d.reader, "an operand is in no register");
    else if (c->before->inst[value].op != IR_OP_undef)
        *ir_push(&c->scratch, &c->demands) = d;
}

static void fail(checker *c, const check_demand *d, const char *why) {
    char name[40];
    uint32_t at = d->value < c->f->next_id ? c->at[d->value] : CHECK_NOWHERE;
    ir_text def = {.arena = &c->scratch};
    if (at != CHECK_NOWHERE) ir_print_inst(&def, c->code.data[at]);
    check_complain(c, d->reader, "%s should hold '%s', %s", name_place(c, d->place, name),
                   def.data ? def.data : "a value that is gone", why);
}

/* A move of a constant is that constant, and what another move of it is. */
static bool is_move_of(const checker *c, const ir_inst *leaf, uint32_t value) {
    const saved_inst *old = &c->before->inst[value];
    return leaf->id == value || (old->op == IR_OP_move && old->arg[0] == leaf->id);
}

static void follow_write(checker *c, check_demand d, uint32_t at) {
    const ir_inst *i = c->code.data[at];
    bool result = place_of(c, i) == d.place;
    d.at = at;
    if (i->op == IR_OP_spill)
        demand(c, d, place_of(c, ir_arg(i, 0)), d.value);
    else if (result && (i->id == d.value || check_repeats(c, i, d.value)))
        return;
    else if (result && i->op == IR_OP_reload)
        demand(c, d, slot_of(i), d.value);
    else if (result && i->op == IR_OP_move && !ir_is_leaf(ir_arg(i, 0)))
        demand(c, d, place_of(c, ir_arg(i, 0)), d.value);
    else if (!result || i->op != IR_OP_move || !is_move_of(c, ir_arg(i, 0), d.value))
        fail(c, &d, "and holds something else");
}

/* Has this place with this value been at the head of this block before? */
static bool has_passed(checker *c, const check_demand *d) {
    uint64_t key = (uint64_t)d->place << 32 | d->value;
    uintptr_t pair = (uintptr_t)ir_map_get(&c->pairs, key);
    if (!pair) ir_map_set(&c->scratch, &c->pairs, key, (void *)(pair = ++c->npairs));
    key = (uint64_t)pair << 32 | d->b->id;
    if (ir_map_get(&c->passed, key)) return true;
    ir_map_set(&c->scratch, &c->passed, key, c);
    return false;
}

static void go_up(checker *c, check_demand d) {
    const saved_inst *old = &c->before->inst[d.value];
    const ir_block *b = d.b;
    if (has_passed(c, &d)) return;
    if (b == c->f->first) fail(c, &d, "and nothing was put there");
    bool phi = old->op == IR_OP_phi && old->block == b->id;
    for (uint32_t n = 0; n < b->npred; n++) {
        d.b = b->pred[n];
        d.at = c->end[d.b->id];
        demand(c, d, d.place, phi ? old->arg[n] : d.value);
    }
}

/* Where in the block, before the demand, the value is defined; phis are not. */
static uint32_t defined_at(const checker *c, const check_demand *d) {
    bool phi = c->before->inst[d->value].op == IR_OP_phi;
    uint32_t at = phi ? CHECK_NOWHERE : c->at[d->value];
    bool here = at != CHECK_NOWHERE && at >= c->begin[d->b->id] && at < d->at;
    return here ? at : CHECK_NOWHERE;
}

static void resolve(checker *c, const check_demand *d) {
    uint32_t write = last_write(c, d), def = defined_at(c, d);
    if (def != CHECK_NOWHERE && (write == CHECK_NOWHERE || write < def))
        fail(c, d, "which was not put there");
    else if (write != CHECK_NOWHERE)
        follow_write(c, *d, write);
    else
        go_up(c, *d);
}

/* --------------------------------------------------------------------------------- instructions */

static void check_operand(checker *c, const ir_inst *i, const cg_needs *needs, unsigned n) {
    cg_place p = needs->arg[n];
    check_demand d = {.b = i->block, .reader = i, .at = c->at[i->id]};
    uint32_t value = c->before->inst[i->id].arg[n];
    bool in_slot = ir_arg(i, n)->op == IR_OP_slot;
    if (in_slot && cg_slot_of(ir_arg(i, n)) >= c->a->slots.n)
        check_complain(c, i, "operand %u is in no slot", n);
    else if (in_slot)
        demand(c, d, slot_of(ir_arg(i, n)), value);
    else if (p.class != CG_NO_CLASS && ra_class(c->t, ir_arg(i, n)) != p.class)
        check_complain(c, i, "operand %u is of another class", n);
    else if (p.class != CG_NO_CLASS)
        demand(c, d, place_of(c, ir_arg(i, n)), value);
    if (p.class < CG_MAX_CLASSES && p.fixed != CG_ANY_REG && reg_of(c, ir_arg(i, n)) != p.fixed)
        check_complain(c, i, "operand %u is not in its fixed register", n);
}

static void check_early(checker *c, const ir_inst *i, const cg_needs *needs) {
    for (unsigned n = 0; n < needs->nargs; n++)
        if ((int)n != needs->tied && needs->arg[n].class == needs->result.class &&
            place_of(c, ir_arg(i, n)) == place_of(c, i))
            check_complain(c, i, "the result is written before operand %u is read", n);
}

static void check_result(checker *c, const ir_inst *i, const cg_needs *needs) {
    cg_place p = needs->result;
    unsigned reg = reg_of(c, i);
    if (p.class == CG_NO_CLASS) return;
    if (reg >= CG_MAX_REGS || !(c->writable[p.class] & ra_bit(reg))) {
        check_complain(c, i, "the result is in no register that may be written");
        return;
    }
    if (p.fixed != CG_ANY_REG && reg != p.fixed)
        check_complain(c, i, "the result is not in its fixed register");
    if (p.fixed == CG_ANY_REG && needs->clobbers[p.class] & ra_bit(reg))
        check_complain(c, i, "the result is in a register that is clobbered");
    if (needs->tied >= 0 && place_of(c, ir_arg(i, (unsigned)needs->tied)) != place_of(c, i))
        check_complain(c, i, "the result is not where operand %d is", needs->tied);
    if (needs->early) check_early(c, i, needs);
}

static void check_slot(checker *c, const ir_inst *i) {
    const ir_inst *v = i->op == IR_OP_spill ? ir_arg(i, 0) : i;
    uint8_t class = ra_class(c->t, v);
    if (cg_slot_of(i) >= c->a->slots.n)
        check_complain(c, i, "there is no such slot");
    else if (class == CG_NO_CLASS ||
             c->a->slots.data[cg_slot_of(i)].size < ra_slot_of(c->t, v->type))
        check_complain(c, i, "the slot is too small");
}

/* Nothing has overwritten a register that holds a value from outside. */
static void check_arrival(checker *c, const ir_inst *i) {
    if (i->block != c->f->first) check_complain(c, i, "it is not in the entry block");
    for (const ir_inst *p = i->prev; p; p = p->prev) {
        if (p->op == IR_OP_reg_in) return;
        if (p->op == IR_OP_alloca || p->op == IR_OP_spill) continue;
        check_complain(c, i, "something comes before it");
        return;
    }
}

static void check_inst(checker *c, const ir_inst *i) {
    cg_needs needs;
    cg_describe(c->t, i, &needs);
    check_result(c, i, &needs);
    bool in_slot = i->op == IR_OP_spill || i->op == IR_OP_reload;
    if (in_slot) check_slot(c, i);
    if (i->op == IR_OP_reg_in) check_arrival(c, i);
    if (i->op == IR_OP_phi || !check_is_old(c, i)) return;
    for (unsigned n = 0; n < needs.nargs; n++) check_operand(c, i, &needs, n);
}

/* ---------------------------------------------------------------------------------------- entry */

static void check_all(void *user) {
    checker *c = user;
    check_code(c);
    if (c->errors) return;
    number_code(c);
    for (uint32_t n = 0; n < c->code.n; n++) check_inst(c, c->code.data[n]);
    while (c->demands.n && !c->errors) {
        check_demand d = c->demands.data[--c->demands.n];
        resolve(c, &d);
    }
}

bool cg_check_allocation(const cg_target *t, const cg_snapshot *before, ir_func *f,
                         const cg_allocation *a) {
    checker c = {.t = t, .before = before, .f = f, .a = a};
    ir_arena_init(&c.scratch, f->module->cx);
    bool finished = ir_try(f->module->cx, check_all, &c);
    ir_arena_free(&c.scratch);
    return finished && c.errors == 0;
}
