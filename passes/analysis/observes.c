/* observes.c — whether a kernel can observe how its work-items are divided into work-groups.
 *
 * A kernel observes its groups if it asks for an id or a size of groups, has a barrier or another
 * operation of groups or sub-groups, or uses local memory; also in a function that it calls.  Any
 * other kernel gives the same results with groups of any shape, so a device may choose one.
 */
#include "passes/analysis/analysis.h"

/* Does the result, or the effect, of an instruction depend on the group of the item? */
static bool asks_for_group(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_global_id:
    case IR_OP_global_size:
    case IR_OP_global_offset:
    case IR_OP_global_linear_id:
    case IR_OP_work_dim:
    case IR_OP_call: return false;
    default: return (ir_info(i)->flags & (F_WORKITEM | F_CONVERGENT)) != 0;
    }
}

static bool is_local_address(const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++) {
        ir_type t = ir_arg(i, n)->type;
        if (ir_is_ptr(t) && ir_space_of(t) == IR_LOCAL) return true;
    }
    return false;
}

typedef struct {
    ir_arena *arena;
    ir_vec(const ir_func *) pending;
    ir_map seen;
} walk;

static void reach(walk *w, const ir_func *f) {
    uint64_t key = (uint64_t)(uintptr_t)f;
    if (ir_map_get(&w->seen, key)) return;
    ir_map_set(w->arena, &w->seen, key, (void *)(uintptr_t)f);
    *ir_push(w->arena, &w->pending) = f;
}

bool pass_observes_groups(const ir_func *kernel, ir_arena *scratch) {
    walk w = {.arena = scratch};
    if (kernel->attrs.subgroups || kernel->attrs.subgroup_size > 1) return true;
    reach(&w, kernel);
    while (w.pending.n) {
        const ir_func *f = w.pending.data[--w.pending.n];
        foreach_block (b, f)
            foreach_inst (i, b) {
                if (asks_for_group(i) || is_local_address(i)) return true;
                if (i->op == IR_OP_call) reach(&w, i->imm.func);
            }
    }
    return false;
}
