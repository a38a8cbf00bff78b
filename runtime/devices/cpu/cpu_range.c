/* cpu_range.c — the local size of a launch that says none.
 *
 * What the kernel requires, as a size or as a number of sub-groups, which have one item each: for
 * a number, a shape of that many items that divides the range, if there is one.  Otherwise some 256
 * items, fewer where that would leave less than 64 groups, and not below 16.  Dimension x takes as
 * many as it has, what it leaves goes to y, then to z.  A kernel that cannot tell how its items are
 * grouped may have smaller groups at the ends; any other gets a divisor of the global size.  The
 * number of threads plays no part: the same launch has the same groups everywhere.
 */
#include "runtime/devices/cpu/cpu.h"

enum { MOST_ITEMS = 256, LEAST_ITEMS = 16, GROUPS = 64 };

/* Whose result, or effect, depends on the group that the item is in. */
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

static bool can_tell_groups(const ir_func *kernel, ir_arena *scratch) {
    walk w = {.arena = scratch};
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

/* ---------------------------------------------------------------------------------------- sizes */

static uint64_t largest_divisor(uint64_t n, uint64_t limit) {
    uint64_t d = n < limit ? n : limit;
    while (d > 1 && n % d != 0) d--;
    return d ? d : 1;
}

static uint64_t items_of(const spvf_range *r) {
    uint64_t items = 1;
    for (unsigned d = 0; d < r->dims; d++) {
        if (r->global[d] > UINT64_MAX / (items ? items : 1)) return UINT64_MAX;
        items *= r->global[d];
    }
    return items;
}

static uint64_t items_of_group(const spvf_range *r) {
    uint64_t room = MOST_ITEMS, items = items_of(r);
    while (room > LEAST_ITEMS && items / room < GROUPS) room /= 2;
    return room;
}

void rt_cpu_groups_of(uint64_t items, const spvf_range *range, uint64_t local[3]) {
    uint64_t left = items;
    for (unsigned d = 0; d < 3; d++) {
        local[d] = d < range->dims ? ir_common_divisor(left, range->global[d]) : 1;
        left /= local[d];
    }
    if (left == 1) return;
    local[0] = items;
    local[1] = local[2] = 1;
}

void rt_cpu_local_size(const ir_func *kernel, const spvf_range *range, uint64_t local[3],
                       ir_arena *scratch) {
    const uint32_t *required = kernel->attrs.local_size;
    if (kernel->attrs.subgroups && !required[0]) {
        rt_cpu_groups_of(kernel->attrs.subgroups, range, local);
        return;
    }
    uint64_t room = items_of_group(range);
    bool divides = can_tell_groups(kernel, scratch);
    for (unsigned d = 0; d < 3; d++) {
        uint64_t global = d < range->dims && range->global[d] ? range->global[d] : 1;
        local[d] = required[0]     ? required[d]
                   : divides       ? largest_divisor(global, room)
                   : global < room ? global
                                   : room;
        room /= local[d] < room ? local[d] : room;
    }
}
