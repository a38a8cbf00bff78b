/* work.c — how many instructions an item of a launch executes, about.
 *
 * Each block counts as often as its loops go round, which launches mostly know (counter.c): from
 * constants, sizes, and arguments by value.  A loop that is left in several ways goes round as
 * often as the first of them lets it.  Where that is not known, and for calls, a number is assumed.
 * Branches that are not taken, and items beyond a guard, count as if they were.
 *
 * The kernel stays as it is, so several threads may ask at a time.  For that its loops have to be
 * known: passes that work on loops leave them so.
 */
#include "passes/analysis/analysis.h"
#include "passes/workgroup/regions.h"

enum { SOME_ROUNDS = 64, CALL_STEPS = 1000 };

static double steps_of(const ir_block *b) {
    double n = 0;
    foreach_inst (i, b) n += i->op == IR_OP_call ? CALL_STEPS : 1;
    return n;
}

/* As often as a branch that leaves the loop is executed, or SOME_ROUNDS. */
static double rounds_of(const pass_launch *l, const ir_loops *loops, const ir_loop *loop) {
    double least = 0;
    for (uint32_t k = 0; k < loop->nblocks; k++) {
        const ir_block *b = loop->block[k];
        bool leaves = false;
        for (uint32_t n = 0; n < b->nsucc; n++) leaves |= !ir_in_loop(loops, b->succ[n], loop);
        int64_t stays = leaves ? pass_count_launched(l, loop, b) : -1;
        if (stays < 0 && leaves) stays = pass_count_by_execution(loops, loop, b);
        if (stays >= 0 && (least == 0 || (double)stays + 1 < least)) least = (double)stays + 1;
    }
    return least > 0 ? least : (double)SOME_ROUNDS;
}

/* How often the body of a loop is executed, with the loops around it; `known` has what was asked
 * before, by id of the header. */
static double times_of(const pass_launch *l, const ir_loops *loops, const ir_loop *loop,
                       double *known) {
    if (!loop) return 1;
    double *times = &known[loop->header->id];
    if (*times == 0) *times = rounds_of(l, loops, loop) * times_of(l, loops, loop->parent, known);
    return *times;
}

bool pass_estimate_work(const ir_func *kernel, const pass_given *given, ir_arena *scratch,
                        pass_work *out) {
    const ir_loops *loops = kernel->loops;
    if (!loops || loops->version != kernel->cfg_version) return false;
    const pass_launch l = {.kernel = (ir_func *)(uintptr_t)kernel,
                           .range = given->range,
                           .value = given->value,
                           .bytes = given->bytes};
    double *known = ir_new_array(scratch, double, kernel->next_block);
    *out = (pass_work){0};
    foreach_block (b, kernel) {
        double steps = steps_of(b);
        out->size += steps;
        out->steps += steps * times_of(&l, loops, loops->of[b->id], known);
    }
    return true;
}
