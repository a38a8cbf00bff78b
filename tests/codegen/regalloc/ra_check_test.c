/* ra_check_test.c — the proof of allocations finds what is wrong: allocated functions are damaged,
 * and whatever the proof lets pass must still do what the function did.
 */
#include "tests/codegen/regalloc/machine.h"
#include "tests/random.h"

enum { SEEDS = RANDOM_CASES(1500) };

static mach_source dice;

/* A random instruction that satisfies a test, or NULL. */
typedef bool (*inst_test)(const ir_inst *i);

static ir_inst *find(const machine *w, inst_test test) {
    ir_inst *found = NULL;
    uint32_t n = 0;
    foreach_block (b, w->f)
        foreach_inst (i, b)
            if (test(i) && mach_below(&dice, ++n) == 0) found = i;
    return found;
}

static bool is_value(const ir_inst *i) { return i->type != IR_VOID && i->op != IR_OP_phi; }
static bool is_copy(const ir_inst *i) {
    return i->op == IR_OP_reload || (i->op == IR_OP_move && !ir_is_leaf(i->arg[0].val));
}
static bool is_spill(const ir_inst *i) { return i->op == IR_OP_spill; }
static bool has_slot(const ir_inst *i) { return i->op == IR_OP_spill || i->op == IR_OP_reload; }
static bool has_operand(const ir_inst *i) {
    return i->nargs && i->op != IR_OP_phi && !ir_is_leaf(i->arg[0].val);
}
static bool is_behind_phis(const ir_inst *i) {
    return i->op != IR_OP_phi && i->op != IR_OP_reg_in && i->op != IR_OP_alloca;
}

static unsigned class_of(const ir_inst *v) { return mach_class(v->type); }

static unsigned any_register(const ir_inst *v) {
    uint32_t set = shapes_target.class[class_of(v)].usable;
    unsigned r;
    do r = mach_below(&dice, CG_MAX_REGS);
    while (!(set >> r & 1));
    return r;
}

/* --------------------------------------------------------------------------------------- damage */

static bool change_register(machine *w) {
    ir_inst *i = find(w, is_value);
    if (i) w->a.reg[i->id] = (uint8_t)any_register(i);
    return i;
}

static bool swap_registers(machine *w) {
    ir_inst *i = find(w, is_value), *k = find(w, is_value);
    if (!i || class_of(i) != class_of(k)) return false;
    uint8_t r = w->a.reg[i->id];
    w->a.reg[i->id] = w->a.reg[k->id];
    w->a.reg[k->id] = r;
    return true;
}

/* A phi is no code, in any place. */
static bool drop_copy(machine *w) {
    ir_inst *i = find(w, is_copy);
    if (i) i->op = IR_OP_phi;
    return i;
}

static bool drop_spill(machine *w) {
    ir_inst *i = find(w, is_spill);
    if (i) ir_remove(i);
    return i;
}

static bool change_slot(machine *w) {
    ir_inst *i = find(w, has_slot);
    if (i) i->imm.bits = mach_below(&dice, w->a.slots.n);
    return i;
}

static bool change_operand(machine *w) {
    ir_inst *i = find(w, has_operand), *v = find(w, is_value);
    if (!i || !v || class_of(ir_arg(i, 0)) != class_of(v)) return false;
    ir_set_arg(i, 0, v);
    return true;
}

/* Something more writes a register. */
static bool overwrite(machine *w) {
    ir_inst *at = find(w, is_behind_phis), *like = find(w, is_value);
    if (!at || !like) return false;
    ir_inst *m = ir_inst_new(w->f, IR_OP_move, like->type, 1);
    ir_set_arg(m, 0, ir_const(w->f, like->type, 1));
    ir_insert(m, at->block, at);
    uint8_t *reg = ir_alloc(&w->m->arena, w->f->next_id);
    memset(reg, CG_ANY_REG, w->f->next_id);
    memcpy(reg, w->a.reg, w->a.nregs);
    reg[m->id] = (uint8_t)any_register(like);
    w->a.reg = reg;
    w->a.nregs = w->f->next_id;
    return true;
}

/* ---------------------------------------------------------------------------------------- tests */

static void try_damage(const char *what, bool (*damage)(machine *w), cg_regalloc how) {
    unsigned done = 0, found = 0;
    cg_target target = shapes_target;
    target.commutes = NULL; /* the snapshot is older */
    dice = (mach_source){.state = 7};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        machine w;
        machine_allocate(&w, &target, seed, (cg_regalloc_options){.how = how});
        if (damage(&w)) {
            bool passes = cg_check_allocation(&shapes_target, w.before, w.f, &w.a);
            done++;
            found += !passes;
            if (passes && !machine_same(&w)) machine_show(&w);
            cr_assert(!passes || machine_same(&w), "%s: seed %lu", what, seed);
        }
        machine_end(&w);
    }
    cr_assert(found * 3 > done, "%s: %u of %u found", what, found, done);
}

Test(ra_check, change_register) {
    try_damage("another register", change_register, CG_REGALLOC_FAST);
}
Test(ra_check, swap_registers) {
    try_damage("registers exchanged", swap_registers, CG_REGALLOC_FAST);
}
Test(ra_check, drop_copy) { try_damage("copy dropped", drop_copy, CG_REGALLOC_FAST); }
Test(ra_check, drop_spill) { try_damage("spill dropped", drop_spill, CG_REGALLOC_FAST); }
Test(ra_check, change_slot) { try_damage("another slot", change_slot, CG_REGALLOC_FAST); }
Test(ra_check, change_operand) { try_damage("another operand", change_operand, CG_REGALLOC_FAST); }
Test(ra_check, overwrite) { try_damage("overwritten", overwrite, CG_REGALLOC_FAST); }
Test(ra_check, stack_drop) { try_damage("spill dropped", drop_spill, CG_REGALLOC_STACK); }
Test(ra_check, stack_slot) { try_damage("another slot", change_slot, CG_REGALLOC_STACK); }
