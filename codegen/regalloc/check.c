/* check.c — the proof that an allocation is correct; it knows nothing of how the allocation was
 * made.
 *
 * What an instruction meant before allocation must hold for the registers that it has now.  At
 * every operand this is a demand: "just before this instruction, this register or slot holds that
 * value".  A demand is followed backwards to the last instruction that wrote the location:
 *   the definition of the value, or a copy of an instruction that may be repeated: it is met;
 *   a move, spill or reload: becomes a demand for what it copies, just before it;
 *   anything else, and an instruction that clobbers the location: an error.
 * At the head of a block a demand continues at the ends of all predecessors; a demand for a phi of
 * the block becomes one for the operand of the edge.  If the value is defined where the location is
 * not written, the location does not hold it yet, or holds the one of another iteration.  So phis
 * of the allocated function, for which there is no code, mean nothing here: what they stand for
 * must follow from the code of all paths.
 *
 * The idea of checking against the code before, location by location, is that of regalloc2
 * (checker.rs).  Going backwards instead of solving for the sets of values that every location
 * holds costs as much as liveness, since a block is passed once for each location and value that
 * are demanded there.
 *
 * Beyond that: all instructions are still there, in order, or may be repeated; fixed, tied and
 * early operands are as required; registers that are written may be; values that the function
 * receives are read before anything overwrites them.
 */
#include "codegen/regalloc/check.h"

/* Before the instruction at position `at` of block b, or at its end, a location holds a value,
 * because `reader` reads it. */
typedef struct {
    const ir_block *b;
    const ir_inst *reader;
    uint32_t at, location, value;
} demand;

typedef struct {
    checker *c;
    /* The code of all blocks, in order: positions. */
    ir_vec(const ir_inst *) code;
    uint32_t *at;          /* by value id; CHECK_NONE: gone */
    uint32_t *begin, *end; /* by block id */
    /* What is written. */
    check_ids *writes; /* by location: positions, ascending */
    uint32_t writable[CG_MAX_CLASSES];
    /* Demands that are to be followed, and those that have been at the heads of blocks. */
    ir_vec(demand) demands;
    ir_map pairs;  /* of locations and values, by number */
    ir_map passed; /* pairs and blocks */
    uint32_t npairs;
} proof;

/* --------------------------------------------------------------------------------------- locations
 *
 * A register (class * CG_MAX_REGS + number), or a slot, after all registers. */

enum { FIRST_SLOT = CG_MAX_CLASSES * CG_MAX_REGS };

static unsigned register_of(const checker *c, const ir_inst *v) {
    return v->id < c->a->nregs ? c->a->reg[v->id] : CG_ANY_REG;
}

/* The register of a value; CHECK_NONE: it is in none. */
static uint32_t location_of(const checker *c, const ir_inst *v) {
    uint8_t class = ra_class(c->t, v);
    unsigned reg = register_of(c, v);
    bool none = class == CG_NO_CLASS || reg >= CG_MAX_REGS;
    return none ? CHECK_NONE : class * (uint32_t)CG_MAX_REGS + reg;
}

/* The slot that a spill, a reload or an operand names. */
static uint32_t slot_location(const ir_inst *i) { return FIRST_SLOT + cg_slot_of(i); }

static const char *name_location(const checker *c, uint32_t location, char out[40]) {
    unsigned class = location / CG_MAX_REGS, reg = location % CG_MAX_REGS;
    if (location >= FIRST_SLOT)
        snprintf(out, 40, "slot %u", location - FIRST_SLOT);
    else
        snprintf(out, 40, "%s%u", c->t->class[class].name, reg);
    return out;
}

/* ------------------------------------------------------------------------------ code and writes */

static void note_write(proof *p, uint32_t location, uint32_t at) {
    if (location == CHECK_NONE) return;
    check_ids *w = &p->writes[location];
    if (w->n == 0 || w->data[w->n - 1] != at) *ir_push(&p->c->scratch, w) = at;
}

static void note_fixed(proof *p, cg_constraint c) {
    if (c.class < CG_MAX_CLASSES && c.fixed < CG_MAX_REGS) p->writable[c.class] |= ra_bit(c.fixed);
}

static void note_inst(proof *p, const ir_inst *i) {
    const checker *c = p->c;
    uint32_t at = p->code.n;
    cg_constraints constraints;
    *ir_push(&p->c->scratch, &p->code) = i;
    p->at[i->id] = at;
    if (i->op == IR_OP_phi) return;
    cg_describe(c->t, i, &constraints);
    note_write(p, location_of(c, i), at);
    bool stores = i->op == IR_OP_spill && cg_slot_of(i) < c->a->slots.n;
    if (stores) note_write(p, slot_location(i), at);
    for (unsigned k = 0; k < c->t->nclasses; k++)
        for (uint32_t set = constraints.clobbers[k]; set; set &= set - 1)
            note_write(p, k * CG_MAX_REGS + (uint32_t)__builtin_ctz(set), at);
    note_fixed(p, constraints.result);
    for (unsigned n = 0; n < constraints.nargs; n++) note_fixed(p, constraints.arg[n]);
}

static void number_code(proof *p) {
    checker *c = p->c;
    p->at = ir_new_array(&c->scratch, uint32_t, c->f->next_id);
    p->begin = ir_new_array(&c->scratch, uint32_t, c->f->next_block);
    p->end = ir_new_array(&c->scratch, uint32_t, c->f->next_block);
    p->writes = ir_new_array(&c->scratch, check_ids, FIRST_SLOT + c->a->slots.n);
    for (uint32_t id = 0; id < c->f->next_id; id++) p->at[id] = CHECK_NONE;
    for (unsigned k = 0; k < c->t->nclasses; k++) p->writable[k] = c->t->class[k].usable;
    foreach_block (b, c->f) {
        p->begin[b->id] = p->code.n;
        foreach_inst (i, b) note_inst(p, i);
        p->end[b->id] = p->code.n;
    }
}

/* The last write of the location in the block before the demand, or CHECK_NONE. */
static uint32_t find_last_write(const proof *p, const demand *d) {
    const check_ids *w = &p->writes[d->location];
    uint32_t low = 0, high = w->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (w->data[mid] < d->at)
            low = mid + 1;
        else
            high = mid;
    }
    return low && w->data[low - 1] >= p->begin[d->b->id] ? w->data[low - 1] : CHECK_NONE;
}

/* -------------------------------------------------------------------------------------- demands */

/* Adds the demand for a value in a location, at the place and for the reader of d. */
static void add_demand(proof *p, demand d, uint32_t location, uint32_t value) {
    d.location = location;
    d.value = value;
    if (location == CHECK_NONE)
        check_fail(p->c, d.reader, "an operand is in no register");
    else if (p->c->before->inst[value].op != IR_OP_undef)
        *ir_push(&p->c->scratch, &p->demands) = d;
}

static void fail_demand(const proof *p, const demand *d, const char *why) {
    checker *c = p->c;
    char name[40];
    uint32_t at = d->value < c->f->next_id ? p->at[d->value] : CHECK_NONE;
    ir_text def = {.arena = &c->scratch};
    if (at != CHECK_NONE) ir_print_inst(&def, p->code.data[at]);
    check_fail(c, d->reader, "%s should hold '%s', %s", name_location(c, d->location, name),
               def.data ? def.data : "a value that is gone", why);
}

/* Is the value that leaf, or was it a move of that leaf before allocation? */
static bool is_move_of(const checker *c, const ir_inst *leaf, uint32_t value) {
    const snapshot_inst *old = &c->before->inst[value];
    return leaf->id == value || (old->op == IR_OP_move && old->arg[0] == leaf->id);
}

/* The location was written last by the instruction at a position. */
static void follow_write(proof *p, demand d, uint32_t at) {
    const checker *c = p->c;
    const ir_inst *i = p->code.data[at];
    bool is_result = location_of(c, i) == d.location;
    d.at = at;
    if (i->op == IR_OP_spill)
        add_demand(p, d, location_of(c, ir_arg(i, 0)), d.value);
    else if (is_result && (i->id == d.value || check_repeats(c, i, d.value)))
        return;
    else if (is_result && i->op == IR_OP_reload)
        add_demand(p, d, slot_location(i), d.value);
    else if (is_result && i->op == IR_OP_move && !ir_is_leaf(ir_arg(i, 0)))
        add_demand(p, d, location_of(c, ir_arg(i, 0)), d.value);
    else if (!is_result || i->op != IR_OP_move || !is_move_of(c, ir_arg(i, 0), d.value))
        fail_demand(p, &d, "and holds something else");
}

/* Has this location with this value been demanded at the head of this block before? */
static bool has_passed(proof *p, const demand *d) {
    ir_arena *scratch = &p->c->scratch;
    uint64_t key = (uint64_t)d->location << 32 | d->value;
    uintptr_t pair = (uintptr_t)ir_map_get(&p->pairs, key);
    if (!pair) ir_map_set(scratch, &p->pairs, key, (void *)(pair = ++p->npairs));
    key = (uint64_t)pair << 32 | d->b->id;
    if (ir_map_get(&p->passed, key)) return true;
    ir_map_set(scratch, &p->passed, key, p);
    return false;
}

static void follow_edges(proof *p, demand d) {
    const snapshot_inst *old = &p->c->before->inst[d.value];
    const ir_block *b = d.b;
    if (has_passed(p, &d)) return;
    if (b == p->c->f->first) fail_demand(p, &d, "and nothing was put there");
    bool is_phi = old->op == IR_OP_phi && old->block == b->id;
    for (uint32_t n = 0; n < b->npred; n++) {
        d.b = b->pred[n];
        d.at = p->end[d.b->id];
        add_demand(p, d, d.location, is_phi ? old->arg[n] : d.value);
    }
}

/* The position of the definition of the value, if it is in the block before the demand, and no phi;
 * or CHECK_NONE. */
static uint32_t find_definition(const proof *p, const demand *d) {
    bool is_phi = p->c->before->inst[d->value].op == IR_OP_phi;
    uint32_t at = is_phi ? CHECK_NONE : p->at[d->value];
    bool here = at != CHECK_NONE && at >= p->begin[d->b->id] && at < d->at;
    return here ? at : CHECK_NONE;
}

static void follow(proof *p, const demand *d) {
    uint32_t write = find_last_write(p, d), def = find_definition(p, d);
    if (def != CHECK_NONE && (write == CHECK_NONE || write < def))
        fail_demand(p, d, "which was not put there");
    else if (write != CHECK_NONE)
        follow_write(p, *d, write);
    else
        follow_edges(p, *d);
}

/* --------------------------------------------------------------------------------- instructions */

static void check_operand(proof *p, const ir_inst *i, cg_constraint required, unsigned n) {
    checker *c = p->c;
    const ir_inst *v = ir_arg(i, n);
    demand d = {.b = i->block, .reader = i, .at = p->at[i->id]};
    uint32_t value = c->before->inst[i->id].arg[n];
    if (v->op == IR_OP_slot && cg_slot_of(v) >= c->a->slots.n)
        check_fail(c, i, "operand %u is in no slot", n);
    else if (v->op == IR_OP_slot)
        add_demand(p, d, slot_location(v), value);
    else if (required.class != CG_NO_CLASS && ra_class(c->t, v) != required.class)
        check_fail(c, i, "operand %u is of another class", n);
    else if (required.class != CG_NO_CLASS)
        add_demand(p, d, location_of(c, v), value);
    bool is_fixed = required.class < CG_MAX_CLASSES && required.fixed != CG_ANY_REG;
    if (is_fixed && register_of(c, v) != required.fixed)
        check_fail(c, i, "operand %u is not in its fixed register", n);
}

static void check_early(checker *c, const ir_inst *i, const cg_constraints *constraints) {
    for (unsigned n = 0; n < constraints->nargs; n++)
        if ((int)n != constraints->tied && constraints->arg[n].class == constraints->result.class &&
            location_of(c, ir_arg(i, n)) == location_of(c, i))
            check_fail(c, i, "the result is written before operand %u is read", n);
}

static void check_result(const proof *p, const ir_inst *i, const cg_constraints *constraints) {
    checker *c = p->c;
    cg_constraint required = constraints->result;
    unsigned reg = register_of(c, i);
    int tied = constraints->tied;
    if (required.class == CG_NO_CLASS) return;
    if (reg >= CG_MAX_REGS || !(p->writable[required.class] & ra_bit(reg))) {
        check_fail(c, i, "the result is in no register that may be written");
        return;
    }
    if (required.fixed != CG_ANY_REG && reg != required.fixed)
        check_fail(c, i, "the result is not in its fixed register");
    if (required.fixed == CG_ANY_REG && constraints->clobbers[required.class] & ra_bit(reg))
        check_fail(c, i, "the result is in a register that is clobbered");
    if (tied >= 0 && location_of(c, ir_arg(i, (unsigned)tied)) != location_of(c, i))
        check_fail(c, i, "the result is not where operand %d is", tied);
    if (constraints->early) check_early(c, i, constraints);
}

static void check_slot(checker *c, const ir_inst *i) {
    const ir_inst *v = i->op == IR_OP_spill ? ir_arg(i, 0) : i;
    uint8_t class = ra_class(c->t, v);
    uint32_t bytes = class == CG_NO_CLASS ? UINT32_MAX : ra_slot_bytes(c->t, v->type);
    if (cg_slot_of(i) >= c->a->slots.n)
        check_fail(c, i, "there is no such slot");
    else if (c->a->slots.data[cg_slot_of(i)].size < bytes)
        check_fail(c, i, "the slot is too small");
}

/* Nothing has overwritten a register that holds a value which the function receives. */
static void check_arrival(checker *c, const ir_inst *i) {
    if (i->block != c->f->first) check_fail(c, i, "it is not in the entry block");
    for (const ir_inst *p = i->prev; p; p = p->prev) {
        if (p->op == IR_OP_reg_in) return;
        if (p->op == IR_OP_alloca || p->op == IR_OP_spill) continue;
        check_fail(c, i, "something comes before it");
        return;
    }
}

static void check_inst(proof *p, const ir_inst *i) {
    checker *c = p->c;
    cg_constraints constraints;
    cg_describe(c->t, i, &constraints);
    check_result(p, i, &constraints);
    if (i->op == IR_OP_spill || i->op == IR_OP_reload) check_slot(c, i);
    if (i->op == IR_OP_reg_in) check_arrival(c, i);
    if (i->op == IR_OP_phi || !check_is_old(c, i)) return;
    for (unsigned n = 0; n < constraints.nargs; n++) check_operand(p, i, constraints.arg[n], n);
}

/* ---------------------------------------------------------------------------------------- entry */

static void run_proof(void *user) {
    proof p = {.c = user};
    check_code(p.c);
    if (p.c->errors) return;
    number_code(&p);
    for (uint32_t n = 0; n < p.code.n; n++) check_inst(&p, p.code.data[n]);
    while (p.demands.n && !p.c->errors) {
        demand d = p.demands.data[--p.demands.n];
        follow(&p, &d);
    }
}

bool cg_check_allocation(const cg_target *t, const cg_snapshot *before, ir_func *f,
                         const cg_allocation *a) {
    checker c = {.t = t, .before = before, .f = f, .a = a};
    ir_arena_init(&c.scratch, f->module->cx);
    bool finished = ir_try(f->module->cx, run_proof, &c);
    ir_arena_free(&c.scratch);
    return finished && c.errors == 0;
}
