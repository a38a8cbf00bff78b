/* regions_structs.c — structs that a kernel takes by value.
 *
 * Items own what they are passed by value, so each item of a kernel that writes to a struct has a
 * copy.  A struct that is only read is the same for all items of the launch.  Then its members are
 * known like other parameters: loads of them move to the entry of the function, wherever the kernel
 * has them.  So addresses in the closures of SYCL kernels are functions of arguments and ids, and
 * can be computed again in each region.
 *
 * Loads at offsets that are not constant stay, as do those that reach beyond the struct.
 */
#include "passes/workgroup/regions_impl.h"

bool pass_is_only_read(const ir_inst *param, ir_arena *scratch) {
    ir_vec(const ir_inst *) addresses = {0};
    *ir_push(scratch, &addresses) = param;
    for (uint32_t k = 0; k < addresses.n; k++)
        for (const ir_use *u = addresses.data[k]->uses; u; u = u->next) {
            const ir_inst *i = u->user;
            if (i->op == IR_OP_ptradd || i->op == IR_OP_ptrcast)
                *ir_push(scratch, &addresses) = i;
            else if (i->op != IR_OP_load && (i->op != IR_OP_copy || u != &i->arg[1]))
                return false;
        }
    return true;
}

ir_inst *pass_take_struct(pass_group_builder *g, const ir_inst *param, ir_inst *given) {
    const ir_param *p = &g->kernel->param[param->imm.index];
    if (pass_is_only_read(param, g->scratch)) return given;
    ir_builder b;
    ir_builder_init(&b, g->f);
    ir_at_end(&b, g->start);
    ir_inst *own = ir_build_byval(&g->entry, p);
    ir_build_byval_copy(&b, p, own, given);
    return own;
}

/* -------------------------------------------------------------------------------------- members */

/* An address in a struct. */
typedef struct {
    ir_inst *address;
    uint64_t offset;
} place;

/* Is v an address at a constant offset from `from`? */
static bool is_place(ir_inst *v, const place *from, place *out) {
    bool cast = v->op == IR_OP_ptrcast, sum = v->op == IR_OP_ptradd;
    if (!cast && (!sum || !ir_is_const(ir_arg(v, 1)))) return false;
    *out = (place){v, from->offset + (sum ? ir_arg(v, 1)->imm.bits : 0)};
    return ir_arg(v, 0) == from->address;
}

static bool is_member(const ir_inst *i, const place *at, uint64_t size) {
    if (i->op != IR_OP_load || i->imm.mem.flags & IR_MEM_VOLATILE) return false;
    uint64_t bytes = ir_sizeof(i->block->func->module, i->type);
    return at->offset <= size && bytes <= size - at->offset;
}

static void load_before(pass_group_builder *g, ir_inst *given, uint64_t offset, ir_inst *load) {
    ir_set_arg(load, 0, ir_build_ptradd(&g->entry, given, pass_number(g, offset), true));
    ir_move_before(load, g->entry.block->last);
}

static void load_members(pass_group_builder *g, ir_inst *given, uint64_t size) {
    ir_vec(place) places = {0};
    *ir_push(g->scratch, &places) = (place){given, 0};
    for (uint32_t k = 0; k < places.n; k++) {
        const place from = places.data[k];
        foreach_use (u, from.address) {
            place to;
            if (u->user->block == g->entry.block) continue;
            if (is_place(u->user, &from, &to)) *ir_push(g->scratch, &places) = to;
            if (is_member(u->user, &from, size)) load_before(g, given, from.offset, u->user);
        }
    }
}

void pass_load_members(pass_group_builder *g, ir_inst *const *args) {
    for (uint32_t p = 0; p < g->kernel->nparams; p++) {
        const ir_param *info = &g->kernel->param[p];
        if (info->attrs & IR_PARAM_BYVAL && args[p]->op == IR_OP_load)
            load_members(g, args[p], info->byval_size);
    }
}
