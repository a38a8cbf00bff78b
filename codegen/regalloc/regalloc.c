/* regalloc.c — register allocation: its three stages, and the order of their steps.
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

static bool has_leaf(const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (ir_is_leaf(ir_arg(i, n))) return true;
    return false;
}

/* Moves constants to registers where the instruction requires registers; true: there was one. */
static bool move_constants(ra_state *s, ir_inst *i) {
    cg_constraints constraints;
    bool moved = false;
    if (!has_leaf(i)) return false;
    cg_describe(s->t, i, &constraints);
    for (unsigned n = 0; n < constraints.nargs; n++) {
        if (constraints.arg[n].class >= CG_MAX_CLASSES || !ir_is_leaf(ir_arg(i, n))) continue;
        ir_set_arg(i, n, ra_move(s, ir_arg(i, n), ra_before(i)));
        moved = true;
    }
    return moved;
}

/* --------------------------------------------------------------------------------------- stages */

struct cg_allocator {
    ra_state s;
    cg_regalloc_options options;
    sufficiency known;
    const cg_snapshot *before; /* NULL: nothing is to be proved */
};

cg_allocator *cg_begin_allocation(const cg_target *t, ir_func *f, const cg_regalloc_options *o,
                                  ir_arena *arena, cg_allocation *out) {
    cg_allocator *g = ir_new(arena, cg_allocator);
    *out = (cg_allocation){0};
    *g = (cg_allocator){.s = {.t = t, .f = f, .arena = arena, .a = out, .random = o->seed},
                        .options = *o};
    ir_arena_init(&g->s.scratch, f->module->cx);
    return g;
}

void cg_end_allocation(cg_allocator *g) { ir_arena_free(&g->s.scratch); }

static bool is_fast(const cg_allocator *g) { return g->options.how == CG_REGALLOC_FAST; }

/* Proofs compare with the function as scheduling leaves it. */
void cg_schedule(cg_allocator *g) {
    ra_state *s = &g->s;
    ir_remove_unreachable(s->f);
    if (is_fast(g)) g->known = hoist_and_schedule(s);
    if (is_fast(g)) ra_commute(s);
    if (g->options.check) g->before = cg_take_snapshot(s->t, s->f, &s->scratch);
    ra_measure_slots(s);
}

void cg_spill(cg_allocator *g) {
    ra_state *s = &g->s;
    if (!is_fast(g)) return;
    remove_unused_phis(s->f);
    split_critical_edges(s->f);
    foreach_block (b, s->f)
        foreach_inst (i, b)
            if (move_constants(s, i) && g->known == SUFFICIENT) g->known = UNKNOWN;
    if (g->known != SUFFICIENT) ra_spill_values(s, g->known == EXCEEDED);
}

/* False: no assignment was found, and no error reported; the function is still at level machine. */
static bool assign_registers(ra_state *s) {
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

/* A move within one register is no code. */
static void count_result(const ra_state *s) {
    ir_ctx *cx = s->f->module->cx;
    ir_count(cx, assign_slots, s->a->slots.n);
    foreach_block (b, s->f)
        foreach_inst (i, b) {
            bool moves = i->op == IR_OP_move && ra_reg(s, i) != ra_reg(s, ir_arg(i, 0));
            ir_count(cx, assign_moves, moves);
            ir_count(cx, assign_spills, i->op == IR_OP_spill);
            ir_count(cx, assign_reloads, i->op == IR_OP_reload);
        }
}

bool cg_assign(cg_allocator *g) {
    ra_state *s = &g->s;
    bool assigned = is_fast(g) && assign_registers(s);
    if (!assigned && !ra_allocate_slots(s)) return false;
    ra_complete_registers(s);
    find_used_registers(s);
    if (s->f->module->cx->counts) count_result(s);
    s->f->level = L_ALLOCATED;
    return !g->before || cg_check_allocation(s->t, g->before, s->f, s->a);
}

/* -------------------------------------------------------------------------- all of them at once */

typedef struct {
    cg_allocator *g;
    bool ok;
} allocation_job;

static void run_all(void *user) {
    allocation_job *job = user;
    cg_schedule(job->g);
    cg_spill(job->g);
    job->ok = cg_assign(job->g);
}

bool cg_allocate(const cg_target *t, ir_func *f, const cg_regalloc_options *o, ir_arena *arena,
                 cg_allocation *out) {
    allocation_job job = {.g = cg_begin_allocation(t, f, o, arena, out)};
    bool finished = ir_try(f->module->cx, run_all, &job);
    cg_end_allocation(job.g);
    return finished && job.ok;
}
