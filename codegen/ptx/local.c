/* local.c — variables in local memory.
 *
 * A kernel may use up to 48 KiB that its module declares.  If it has more, its variables begin the
 * dynamic part of local memory, before arguments: a launch has to give so many bytes more.
 */
#include "codegen/ptx/ptx.h"

enum { MOST_STATIC = 48 << 10, PART_ALIGN = 128 };

/* Does the instruction exchange values between items of a work-group through memory of its own? */
static bool shares_values(const ir_inst *i) {
    bool collects = i->op >= IR_OP_group_add && i->op <= IR_OP_group_xor;
    return (collects || i->op == IR_OP_group_broadcast) && i->imm.group.scope == IR_SCOPE_WORKGROUP;
}

/* Places the variable of an address after `bytes`, unless it has a place; returns the end. */
static uint64_t place(const ir_inst *v, uint64_t bytes, ir_map *places, ir_arena *arena) {
    const ir_global *g = v->imm.global;
    const ir_module *m = v->imm.global->module;
    if (ir_map_get(places, (uintptr_t)g)) return bytes;
    bytes = ptx_round_up(bytes, g->align ? g->align : ir_alignof(m, g->type));
    ir_map_set(arena, places, (uintptr_t)g, (void *)(uintptr_t)(bytes + 1));
    return bytes + ir_sizeof(m, g->type);
}

uint64_t ptx_place_variables(const ir_func *f, ir_map *places, ir_arena *arena) {
    uint64_t bytes = 0, shared = 0;
    foreach_block (b, f)
        foreach_inst (i, b) {
            if (shares_values(i)) shared = PTX_GROUP_BYTES;
            for (unsigned n = 0; n < i->nargs; n++)
                if (ir_arg(i, n)->op == IR_OP_address && ir_arg(i, n)->type == ir_ptr(IR_LOCAL))
                    bytes = place(ir_arg(i, n), bytes, places, arena);
        }
    return bytes + shared > MOST_STATIC ? ptx_round_up(bytes, PART_ALIGN) : 0;
}
