/* delay.c — how many cycles an item takes on an out-of-order processor.
 *
 * A processor runs items one after another.  While a chain of operations waits for its results, it
 * works on items that follow, as far as they fit in its window of WINDOW operations.  An item of n
 * operations whose longest chain takes d cycles thus needs n / WIDTH cycles, or d * n / WINDOW if
 * that is more.  Two kernels with long chains, fused into one, have one chain of twice the length
 * and half as many items in the window: they are slower than one after the other.
 *
 * All blocks count, as if all branches were taken, and all operations (latency.def); a library
 * function is many in one.  Loops and barriers have no estimate.
 */
#include "passes/analysis/analysis.h"

enum { WIDTH = 4, WINDOW = 512 };

/* Is the kernel one piece of code, whose items follow each other? */
static bool is_straight(ir_func *f) {
    if (ir_loop_tree(f)->n) return false;
    foreach_block (b, f)
        foreach_inst (i, b)
            if (ir_has_flag(i, F_CONVERGENT)) return false;
    return true;
}

static bool has_library_function(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (ir_has_flag(i, F_NOFOLD)) return true;
    return false;
}

pass_cost pass_find_chain(ir_func *f, pass_cost (*cost)(const ir_inst *i), ir_arena *scratch) {
    const ir_order *order = &ir_dominators(f)->order;
    /* By id: the cycle in which a value is ready. */
    uint32_t *ready = ir_new_array(scratch, uint32_t, f->next_id);
    pass_cost all = {0};
    for (uint32_t k = 0; k < order->n; k++)
        foreach_inst (i, order->rpo[k]) {
            const pass_cost c = cost(i);
            for (unsigned n = 0; n < i->nargs; n++)
                if (ready[ir_arg(i, n)->id] > ready[i->id]) ready[i->id] = ready[ir_arg(i, n)->id];
            ready[i->id] += c.cycles;
            all.operations += c.operations;
            if (ready[i->id] > all.cycles) all.cycles = ready[i->id];
        }
    return all;
}

static pass_cost cost_of_lanes(const ir_inst *i) {
    pass_cost c = pass_cost_of(i);
    c.operations *= ir_lanes(i->type);
    return c;
}

uint32_t pass_estimate_cycles(ir_func *f, ir_arena *scratch) {
    if (!is_straight(f)) return 0;
    const pass_cost all = pass_find_chain(f, cost_of_lanes, scratch);
    uint64_t busy = all.operations / WIDTH, waiting = all.cycles * all.operations / WINDOW;
    uint64_t cycles = busy > waiting ? busy : waiting;
    return cycles < UINT32_MAX ? (uint32_t)cycles + 1 : UINT32_MAX;
}

bool pass_may_be_delayed(ir_func *f) { return is_straight(f) && has_library_function(f); }
