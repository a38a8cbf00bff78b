/* regalloc.c — register allocation: the order of its steps, and the changes to a function that they
 * share.
 *
 * Before: level `machine`, as codegen/native/native.h says.  After: level `allocated`, every value
 * in one register for all its life, and a table of registers by value id.
 */
#include "codegen/regalloc/ra.h"

enum { MAX_ROUNDS = 16 };

/* ------------------------------------------------------------------------------------ registers */

static void make_room(ra_state *s, uint32_t id) {
    uint32_t n = id + 1 > s->f->next_id ? id + 1 : s->f->next_id;
    uint32_t cap = n + n / 2;
    uint8_t *reg = ir_alloc(s->arena, cap);
    memset(reg, CG_ANY_REG, cap);
    if (s->a->nregs) memcpy(reg, s->a->reg, s->a->nregs);
    s->a->reg = reg;
    s->cap = cap;
}

void ra_set_reg(ra_state *s, const ir_inst *v, unsigned reg) {
    if (v->id >= s->cap) make_room(s, v->id);
    if (v->id >= s->a->nregs) s->a->nregs = v->id + 1;
    s->a->reg[v->id] = (uint8_t)reg;
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

uint32_t ra_new_slot(ra_state *s, unsigned class) {
    *ir_push(s->arena, &s->a->slots) = (cg_slot){.size = s->slot_bytes[class]};
    return s->a->slots.n - 1;
}

/* --------------------------------------------------------------------------------- instructions */

static ir_inst *insert(ra_state *s, ir_op op, ir_type type, ir_inst *arg, ir_block *b,
                       ir_inst *at) {
    ir_inst *i = ir_inst_new(s->f, op, type, arg ? 1 : 0);
    if (arg) ir_set_arg(i, 0, arg);
    if (at) i->loc = at->loc;
    ir_insert(i, b, at);
    return i;
}

ir_inst *ra_move(ra_state *s, ir_inst *v, ir_block *b, ir_inst *at) {
    return insert(s, IR_OP_move, v->type, v, b, at);
}

ir_inst *ra_reload(ra_state *s, ir_type type, uint32_t slot, ir_block *b, ir_inst *at) {
    ir_inst *i = insert(s, IR_OP_reload, type, NULL, b, at);
    i->imm.bits = slot;
    return i;
}

ir_inst *ra_spill(ra_state *s, ir_inst *v, uint32_t slot, ir_block *b, ir_inst *at) {
    ir_inst *i = insert(s, IR_OP_spill, IR_VOID, v, b, at);
    i->imm.bits = slot;
    return i;
}

ir_inst *ra_repeat(ra_state *s, const ir_inst *v, ir_block *b, ir_inst *at) {
    ir_inst *i = ir_inst_new(s->f, (ir_op)v->op, v->type, v->nargs);
    for (unsigned n = 0; n < v->nargs; n++) ir_set_arg(i, n, ir_arg(v, n));
    i->imm = v->imm;
    i->flags = v->flags;
    i->loc = v->loc;
    ir_insert(i, b, at);
    return i;
}

void ra_note_brief(ra_state *s, ir_inst *v) { ir_map_set(&s->scratch, &s->brief, v->id, v); }

ir_inst *ra_place_behind(const ir_inst *v) {
    ir_inst *i = v->op == IR_OP_phi ? ir_first_non_phi(v->block) : v->next;
    if (v->op != IR_OP_reg_in) return i;
    for (ir_inst *at = i; at && (at->op == IR_OP_reg_in || at->op == IR_OP_alloca); at = at->next)
        i = at->next;
    return i;
}

void ra_remove_phi(ir_inst *phi) {
    ir_replace_uses(phi, ir_undef(phi->block->func, phi->type));
    ir_remove(phi);
}

/* --------------------------------------------------------------------------------- the fast way */

/* The end of a block with several successors is no place for the moves of phis. */
static void split_edges(ir_func *f) {
    foreach_block (b, f)
        for (uint32_t n = 0; b->nsucc > 1 && n < b->nsucc; n++)
            if (b->succ[n]->npred > 1 || b->succ[n]->first->op == IR_OP_phi) ir_split_edge(b, n);
}

/* Constants where a register is asked for. */
static void move_constants(ra_state *s, ir_inst *i) {
    cg_needs needs;
    cg_describe(s->t, i, &needs);
    for (unsigned n = 0; n < needs.nargs; n++) {
        if (needs.arg[n].class >= CG_MAX_CLASSES || !ir_is_leaf(ir_arg(i, n))) continue;
        ir_set_arg(i, n, ra_move(s, ir_arg(i, n), i->block, i));
        if (s->room == RA_ENOUGH) s->room = RA_UNKNOWN;
    }
}

static void prepare(ra_state *s) {
    foreach_block (b, s->f)
        foreach_phi (phi, b)
            if (!phi->uses) ir_remove(phi);
    split_edges(s->f);
    foreach_block (b, s->f)
        foreach_inst (i, b) move_constants(s, i);
}

bool ra_fast(ra_state *s) {
    ir_ctx *cx = s->f->module->cx;
    ir_enter_stage(cx, "spill");
    prepare(s);
    ra_spill_values(s);
    ir_enter_stage(cx, "assign");
    for (unsigned round = 0; round < MAX_ROUNDS; round++) {
        ra_values evicted = {0};
        if (!ra_color(s, &evicted)) return false;
        if (!evicted.n) {
            ra_place_moves(s);
            return true;
        }
        ra_evict(s, &evicted);
    }
    return false;
}

/* ---------------------------------------------------------------------------------------- entry */

static void find_used(ra_state *s) {
    foreach_block (b, s->f)
        foreach_inst (i, b) {
            cg_needs needs;
            cg_describe(s->t, i, &needs);
            for (unsigned c = 0; c < s->t->nclasses; c++) s->a->used[c] |= needs.clobbers[c];
            bool writes = needs.result.class != CG_NO_CLASS && i->op != IR_OP_reg_in;
            if (writes) s->a->used[needs.result.class] |= ra_bit(ra_reg(s, i));
        }
}

/* Every id has an entry. */
static void complete_table(ra_state *s) {
    if (s->cap < s->f->next_id) make_room(s, s->f->next_id - 1);
    s->a->nregs = s->f->next_id;
}

static void measure(ra_state *s, uint8_t class, ir_type type) {
    if (class >= CG_MAX_CLASSES) return;
    uint32_t bytes = ra_slot_of(s->t, type);
    if (bytes > s->slot_bytes[class]) s->slot_bytes[class] = bytes;
}

/* Constants that will be moved into registers. */
static void measure_constants(ra_state *s, const ir_inst *i) {
    cg_needs needs;
    ra_describe(s->t, i, &needs);
    for (unsigned n = 0; n < needs.nargs; n++)
        if (ir_is_leaf(ir_arg(i, n))) measure(s, needs.arg[n].class, ir_arg(i, n)->type);
}

/* All slots of a class are alike, so that values can take turns. */
static void measure_slots(ra_state *s) {
    foreach_block (b, s->f)
        foreach_inst (i, b) {
            measure(s, ra_class(s->t, i), i->type);
            measure_constants(s, i);
        }
}

typedef struct {
    ra_state s;
    const cg_regalloc_options *options;
    bool ok;
} ra_job;

static void run(void *user) {
    ra_job *job = user;
    ra_state *s = &job->s;
    ir_enter_stage(s->f->module->cx, "schedule");
    ir_remove_unreachable(s->f);
    if (job->options->how == CG_REGALLOC_FAST) {
        ra_arrange(s);
        ra_commute(s);
    }
    const cg_snapshot *before =
        job->options->check ? cg_take_snapshot(s->t, s->f, &s->scratch) : NULL;
    measure_slots(s);
    bool fast = job->options->how == CG_REGALLOC_FAST && ra_fast(s);
    if (!fast && !ra_stack(s)) return;
    complete_table(s);
    find_used(s);
    s->f->level = L_ALLOCATED;
    job->ok = !before || cg_check_allocation(s->t, before, s->f, s->a);
}

bool cg_allocate(const cg_target *t, ir_func *f, const cg_regalloc_options *o, ir_arena *arena,
                 cg_allocation *out) {
    ra_job job = {.s = {.t = t, .f = f, .arena = arena, .a = out, .random = o->seed}, .options = o};
    *out = (cg_allocation){0};
    ir_arena_init(&job.s.scratch, f->module->cx);
    bool finished = ir_try(f->module->cx, run, &job);
    ir_arena_free(&job.s.scratch);
    return finished && job.ok;
}
