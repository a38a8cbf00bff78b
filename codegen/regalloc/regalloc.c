/* regalloc.c — register allocation: the order of its steps.
 *
 * Hoisting, scheduling and commuting change the function within its semantics, so that it is easier
 * to allocate.  Then spilling leaves at every place no more live values than there are registers,
 * assignment gives each of them one register, and moves connect registers that differ.  Spilling
 * first and then assigning without further spills is possible in SSA form (Hack, Grund and Goos
 * 2006).  Fixed registers are the exception: assignment may fail on them, evicts a value then, and
 * is repeated.  If it has failed MAX_ATTEMPTS times, every value gets a slot instead (stack.c).
 *
 * Before: level `machine`, as codegen/native/native.h says.  After: level `allocated`; every value
 * is in one register for its whole live range, and a table has the registers by value id.
 *
 * Live ranges are split only by spilling, where a value is reloaded.  Moves are not coalesced
 * afterwards: assignment prefers registers that save them.
 */
#include "codegen/regalloc/ra.h"

enum { MAX_ATTEMPTS = 16 };

/* Do the registers suffice for all live values? */
typedef enum { UNKNOWN, SUFFICIENT, EXCEEDED } sufficiency;

/* ---------------------------------------------------------------------------------- preparation */

static sufficiency hoist_and_schedule(ra_state *s) {
    const ra_graph g = ra_find_graph(s);
    ra_counter counter = ra_new_counter(s, g.live);
    const ra_pressure pressure = ra_find_pressure(s, &g, &counter);
    ra_hoist(s, &g, &pressure);
    if (!pressure.exceeds && !s->random) return SUFFICIENT;
    return ra_schedule(s, &g, &counter, &pressure) ? EXCEEDED : UNKNOWN;
}

static void remove_unused_phis(ir_func *f) {
    foreach_block (b, f)
        foreach_phi (phi, b)
            if (!phi->uses) ir_remove(phi);
}

/* The copies of phis need a block from which only one edge leads away. */
static void split_critical_edges(ir_func *f) {
    foreach_block (b, f)
        for (uint32_t n = 0; b->nsucc > 1 && n < b->nsucc; n++)
            if (b->succ[n]->npred > 1 || b->succ[n]->first->op == IR_OP_phi) ir_split_edge(b, n);
}

/* Moves constants to registers where the instruction requires registers; true: there was one. */
static bool move_constants(ra_state *s, ir_inst *i) {
    cg_constraints constraints;
    bool moved = false;
    cg_describe(s->t, i, &constraints);
    for (unsigned n = 0; n < constraints.nargs; n++) {
        if (constraints.arg[n].class >= CG_MAX_CLASSES || !ir_is_leaf(ir_arg(i, n))) continue;
        ir_set_arg(i, n, ra_move(s, ir_arg(i, n), ra_before(i)));
        moved = true;
    }
    return moved;
}

/* ------------------------------------------------------------------------------------ registers */

/* False: no assignment was found, and no error reported; the function is still at level machine. */
static bool allocate_registers(ra_state *s, sufficiency known) {
    ir_ctx *cx = s->f->module->cx;
    ir_enter_stage(cx, "spill");
    remove_unused_phis(s->f);
    split_critical_edges(s->f);
    foreach_block (b, s->f)
        foreach_inst (i, b)
            if (move_constants(s, i) && known == SUFFICIENT) known = UNKNOWN;
    if (known != SUFFICIENT) ra_spill_values(s, known == EXCEEDED);
    ir_enter_stage(cx, "assign");
    for (unsigned attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        ra_values evicted = {0};
        if (!ra_assign(s, &evicted)) return false;
        if (!evicted.n) {
            ra_insert_moves(s);
            return true;
        }
        ra_evict(s, &evicted);
    }
    return false;
}

static void find_used_registers(ra_state *s) {
    foreach_block (b, s->f)
        foreach_inst (i, b) {
            cg_constraints constraints;
            cg_describe(s->t, i, &constraints);
            for (unsigned c = 0; c < s->t->nclasses; c++) s->a->used[c] |= constraints.clobbers[c];
            uint8_t class = constraints.result.class;
            if (class != CG_NO_CLASS && i->op != IR_OP_reg_in)
                s->a->used[class] |= ra_bit(ra_reg(s, i));
        }
}

/* ---------------------------------------------------------------------------------------- entry */

typedef struct {
    ra_state s;
    const cg_regalloc_options *options;
    bool ok;
} allocation_job;

static void run_allocation(void *user) {
    allocation_job *job = user;
    ra_state *s = &job->s;
    bool fast = job->options->how == CG_REGALLOC_FAST;
    sufficiency known = UNKNOWN;
    ir_enter_stage(s->f->module->cx, "schedule");
    ir_remove_unreachable(s->f);
    if (fast) known = hoist_and_schedule(s);
    if (fast) ra_commute(s);
    const cg_snapshot *before =
        job->options->check ? cg_take_snapshot(s->t, s->f, &s->scratch) : NULL;
    ra_measure_slots(s);
    bool allocated = fast && allocate_registers(s, known);
    if (!allocated && !ra_allocate_slots(s)) return;
    ra_complete_registers(s);
    find_used_registers(s);
    s->f->level = L_ALLOCATED;
    job->ok = !before || cg_check_allocation(s->t, before, s->f, s->a);
}

bool cg_allocate(const cg_target *t, ir_func *f, const cg_regalloc_options *o, ir_arena *arena,
                 cg_allocation *out) {
    allocation_job job = {.s = {.t = t, .f = f, .arena = arena, .a = out, .random = o->seed},
                          .options = o};
    *out = (cg_allocation){0};
    ir_arena_init(&job.s.scratch, f->module->cx);
    bool finished = ir_try(f->module->cx, run_allocation, &job);
    ir_arena_free(&job.s.scratch);
    return finished && job.ok;
}
