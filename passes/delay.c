/* delay.c — how many cycles an item takes on a processor that looks ahead.
 *
 * A processor runs items one after another.  While a chain of operations waits for its results, it
 * works on items that follow, as far as they fit in its window of WINDOW operations.  An item of n
 * operations whose longest chain takes d cycles thus needs n / WIDTH cycles, or d * n / WINDOW if
 * that is more.  Two kernels with long chains, fused into one, have one chain of twice the length
 * and half as many items in the window: they are slower than one after the other.
 *
 * Counted are all blocks, as when all branches were taken.  Loops and barriers have no estimate.
 * Latencies are those of current x86-64 cores, rounded; a library function counts as one operation
 * of many (measured: pow of f32 has 130 instructions and a chain of 155 cycles).
 */
#include "passes/analysis.h"

enum { WIDTH = 4, WINDOW = 512 };

typedef struct {
    uint32_t operations, cycles;
} cost;

static cost cost_of_function(const ir_inst *i) {
    if (i->op == IR_OP_pow || i->op == IR_OP_powr || i->op == IR_OP_tgamma) return (cost){120, 150};
    if (i->op >= IR_OP_half_cos && i->op <= IR_OP_native_tan) return (cost){25, 40};
    if (i->op == IR_OP_rsqrt) return (cost){2, 20};
    return (cost){60, 80};
}

static cost cost_of(const ir_inst *i) {
    if (i->op == IR_OP_phi || i->op == IR_OP_ptradd) return (cost){0, 0};
    if (ir_has_flag(i, F_NOFOLD)) return cost_of_function(i);
    switch (i->op) {
    case IR_OP_load: return (cost){1, 5};
    case IR_OP_fdiv:
    case IR_OP_sqrt:
    case IR_OP_udiv:
    case IR_OP_sdiv:
    case IR_OP_urem:
    case IR_OP_srem: return (cost){1, 12};
    case IR_OP_mul: return (cost){1, 3};
    default: return ir_is_float(i->type) ? (cost){1, 4} : (cost){1, 1};
    }
}

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

static uint32_t depth_of(const ir_inst *i, const uint32_t *depth) {
    uint32_t most = 0;
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *v = ir_arg(i, n);
        if (!ir_is_leaf(v) && depth[v->id] > most) most = depth[v->id];
    }
    return most + cost_of(i).cycles;
}

uint32_t pass_estimate_cycles(ir_func *f, ir_arena *scratch) {
    const ir_order *order = &ir_dominators(f)->order;
    uint32_t *depth = ir_new_array(scratch, uint32_t, f->next_id);
    uint64_t operations = 0, longest = 0;
    if (!is_straight(f)) return 0;
    for (uint32_t k = 0; k < order->n; k++)
        foreach_inst (i, order->rpo[k]) {
            depth[i->id] = depth_of(i, depth);
            operations += (uint64_t)cost_of(i).operations * ir_lanes(i->type);
            if (depth[i->id] > longest) longest = depth[i->id];
        }
    uint64_t busy = operations / WIDTH, waiting = longest * operations / WINDOW;
    uint64_t cycles = busy > waiting ? busy : waiting;
    return cycles < UINT32_MAX ? (uint32_t)cycles + 1 : UINT32_MAX;
}

bool pass_may_be_delayed(ir_func *f) { return is_straight(f) && has_library_function(f); }
