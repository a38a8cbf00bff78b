/* phases.c — a kernel in which all work-groups wait for each other becomes one that is launched
 * once for each phase between such barriers.
 *
 *   a barrier device b barrier device c    =>    switch phase: a ret, b ret, c ret
 *
 * The launch runs all groups for phase 0, then all groups for phase 1, and so on (ir_phases in
 * launch.h): no group has to wait while others run.  What a phase leaves to later ones is in memory
 * that the launch provides (phases_context.c).
 *
 * Each phase must begin where all work-items of the launch come exactly once, and end where the
 * next one begins.  The blocks that can be reached from a start without passing another one are a
 * phase.  No two phases have a block in common, and each leads to one start, or to the end of the
 * kernel.
 *
 * A barrier of the group remains at each start, so that a group, and not each of its items,
 * branches to the phase (regions_cut.c).
 */
#include "passes/workgroup/phases_impl.h"

enum { MAX_PHASES = 256 }; /* what is hoisted in front of all of them lives through all of them */

/* --------------------------------------------------------------------------------------- starts */

bool pass_waits_for_all(const ir_inst *i) {
    return i->op == IR_OP_barrier && i->imm.sync.exec < IR_SCOPE_WORKGROUP;
}

bool pass_has_phases(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (pass_waits_for_all(i)) return true;
    return false;
}

static ir_block *cut_before(ir_block *b, ir_inst *first) {
    ir_block *tail = ir_split_block(b, first);
    ir_builder builder;
    ir_builder_init(&builder, b->func);
    ir_at_end(&builder, b);
    ir_build_jmp(&builder, tail);
    return tail;
}

/* Leaves the entry to variables; every barrier of all groups begins a block. */
static ir_block *cut_blocks(ir_func *f) {
    ir_block *entry = f->first;
    ir_block *start = cut_before(entry, entry->first);
    foreach_inst (i, start)
        if (i->op == IR_OP_alloca) ir_move_before(i, entry->last);
    foreach_block (b, f)
        foreach_inst_reverse (i, b)
            if (pass_waits_for_all(i)) cut_before(b, i);
    return start;
}

/* --------------------------------------------------------------------------------------- phases */

/* All of a phase, from `start` on; *next is where the next one begins.  False: it has no such
 * place, or several, or comes to blocks of others. */
static bool collect_phase(pass_phasing *p, ir_block *start, ir_block **next) {
    uint32_t number = p->phases.n;
    ir_block_list blocks = {0};
    bool ends = false;
    *next = NULL;
    *ir_push(p->scratch, &blocks) = start;
    p->phase_of[start->id] = number;
    for (uint32_t k = 0; k < blocks.n; k++) {
        const ir_block *b = blocks.data[k];
        ends |= b->last->op == IR_OP_ret;
        for (uint32_t n = 0; n < b->nsucc; n++) {
            ir_block *to = b->succ[n];
            uint32_t *of = &p->phase_of[to->id];
            bool begins = pass_waits_for_all(to->first);
            if (begins ? *of || (*next && *next != to) : *of && *of != number) return false;
            if (begins) *next = to;
            if (begins || *of) continue;
            *of = number;
            *ir_push(p->scratch, &blocks) = to;
        }
    }
    return !(ends && *next);
}

/* Gives NULL, or why there are none.  A start has one way in, where the block has been cut. */
static const char *find_phases(pass_phasing *p, ir_block *start) {
    for (ir_block *next; start; start = next) {
        if (p->phases.n == MAX_PHASES) return "it has too many phases";
        pass_phase *phase = ir_push(p->scratch, &p->phases);
        *phase = (pass_phase){.start = start};
        if (!collect_phase(p, start, &next))
            return "a barrier of all work-groups is not passed once by all work-items";
        phase->end = next ? next->pred[0] : NULL;
    }
    return NULL;
}

/* -------------------------------------------------------------------------------------- linking */

static void end_with(ir_builder *b, ir_block *block) {
    ir_make_unreachable(block);
    ir_remove(block->last);
    ir_at_end(b, block);
}

static void begin_phase(ir_builder *b, const pass_phase *phase) {
    ir_inst *barrier = phase->start->first;
    if (pass_waits_for_all(barrier)) ir_remove(barrier);
    ir_before(b, phase->start->first);
    ir_build_barrier(b, IR_SCOPE_WORKGROUP, IR_SCOPE_WORKGROUP, IR_SEM_SEQ_CST | IR_SEM_LOCAL);
}

static void link_phases(pass_phasing *p) {
    uint32_t n = p->phases.n;
    ir_block **start = ir_new_array(p->scratch, ir_block *, n);
    uint64_t *number = ir_new_array(p->scratch, uint64_t, n);
    ir_builder b;
    ir_builder_init(&b, p->kernel);
    for (uint32_t k = 0; k < n; k++) {
        const pass_phase *phase = &p->phases.data[k];
        start[k] = phase->start;
        number[k] = k;
        begin_phase(&b, phase);
        if (!phase->end) continue;
        end_with(&b, phase->end);
        ir_build_ret(&b, NULL);
    }
    end_with(&b, p->kernel->first);
    ir_build_switch(&b, p->number, start[0], (ir_cases){n - 1, number + 1, start + 1});
}

/* ------------------------------------------------------------------------------------ the whole */

static const char *cut(pass_phasing *p) {
    ir_func *f = p->kernel;
    ir_remove_unreachable(f);
    ir_block *start = cut_blocks(f);
    p->nblocks = f->next_block;
    p->phase_of = ir_new_array(p->scratch, uint32_t, p->nblocks);
    const char *refusal = find_phases(p, start);
    if (!refusal) refusal = pass_keep_over_phases(p);
    if (refusal) return refusal;
    pass_find_extents(p);
    link_phases(p);
    p->out->n = p->phases.n;
    ir_count(f->module->cx, phases_made, p->phases.n);
    return NULL;
}

const char *pass_cut_phases(ir_func *kernel, ir_arena *scratch, ir_phases *out) {
    pass_phasing p = {.kernel = kernel, .scratch = scratch, .out = out};
    *out = (ir_phases){0};
    return pass_has_phases(kernel) ? cut(&p) : NULL;
}

const char *pass_cut_launches(ir_func *kernel, ir_arena *scratch, ir_phases *out) {
    const char *refusal = pass_cut_phases(kernel, scratch, out);
    if (refusal || !out->n) return refusal;
    if (!pass_move_to_global(kernel, scratch))
        return "several phases use one variable, whose address is more than accessed";
    const ir_block *entry = kernel->first;
    for (unsigned n = 0; n < entry->nsucc; n++) ir_remove(entry->succ[n]->first);
    return NULL;
}

/* Does:  makes a kernel that waits for all work-groups one that runs a phase (ir_phases), with two
 *        more parameters.
 * Needs: no calls; few values that cross such barriers (the standard pipeline).
 * Leaves: no barrier of more than a work-group.
 * Gives up: where work-items do not all pass the same barriers, once; on more than 256 phases; on
 *        local memory whose size the launch gives, and images or events, that several phases use.
 *        A warning gives the reason, and the kernel only has more blocks than before. */
bool pass_phases(ir_func *f, pass_ctx *cx) {
    ir_phases out;
    if (!(f->flags & IR_FUNC_KERNEL)) return false;
    const char *refusal = pass_cut_phases(f, cx->scratch, &out);
    ir_message place = {.severity = IR_WARNING, .file = f->module->name};
    if (refusal) ir_report(cx->cx, place, "no phases of @%s: %s", f->name, refusal);
    return refusal || out.n;
}
