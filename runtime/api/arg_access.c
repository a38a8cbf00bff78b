/* arg_access.c — how a kernel accesses the memory that an argument leads to, at most.
 *
 * The pointers that are made of the parameter are followed through the function.  Where one of them
 * leaves it, as to memory or to a call, everything may happen.
 */
#include "runtime/api/runtime.h"

typedef struct {
    ir_arena *arena;
    ir_map seen;
    ir_vec(const ir_inst *) pointers;
} following;

static void follow(following *f, const ir_inst *pointer) {
    if (ir_map_get(&f->seen, (uintptr_t)pointer)) return;
    ir_map_set(f->arena, &f->seen, (uintptr_t)pointer, (void *)(uintptr_t)pointer);
    *ir_push(f->arena, &f->pointers) = pointer;
}

/* What a user does with its operand n, a pointer. */
static spvf_arg_access access_of(following *f, const ir_inst *user, unsigned n) {
    switch (user->op) {
    case IR_OP_ptradd:
    case IR_OP_ptrcast:
    case IR_OP_ptrcast_to:
    case IR_OP_select:
    case IR_OP_phi: follow(f, user); return SPVF_ACCESS_NONE;
    case IR_OP_eq:
    case IR_OP_ne: return SPVF_ACCESS_NONE;
    case IR_OP_load:
    case IR_OP_atomic_load: return SPVF_ACCESS_READ;
    case IR_OP_store: return n == 1 ? SPVF_ACCESS_WRITE : SPVF_ACCESS_READ_WRITE;
    case IR_OP_fill:
    case IR_OP_atomic_store: return n == 0 ? SPVF_ACCESS_WRITE : SPVF_ACCESS_READ_WRITE;
    case IR_OP_copy:
    case IR_OP_async_copy: return n == 0 ? SPVF_ACCESS_WRITE : SPVF_ACCESS_READ;
    default: return SPVF_ACCESS_READ_WRITE;
    }
}

static spvf_arg_access access_of_image(const ir_module *m, ir_type t) {
    static const spvf_arg_access accesses[] = {SPVF_ACCESS_READ, SPVF_ACCESS_WRITE};
    if (ir_kind_of(t) != IR_IMAGE) return SPVF_ACCESS_READ;
    const unsigned access = ir_type_get(m, t)->image.access;
    return access < 2 ? accesses[access] : SPVF_ACCESS_READ_WRITE;
}

spvf_arg_access rt_arg_access(spvf_module *m, const ir_func *kernel, uint32_t n) {
    const ir_inst *param = kernel->param_val[n];
    const uint32_t attrs = kernel->param[n].attrs;
    following f = {.arena = &m->arena};
    unsigned access = SPVF_ACCESS_NONE;
    if (!param->uses || attrs & (IR_PARAM_BYVAL | IR_PARAM_NOACCESS)) return SPVF_ACCESS_NONE;
    if (ir_kind_of(param->type) == IR_SAMPLER) return SPVF_ACCESS_NONE;
    if (ir_is_opaque(param->type)) return access_of_image(m->ir, param->type);
    if (!ir_is_ptr(param->type)) return SPVF_ACCESS_NONE;
    follow(&f, param);
    for (uint32_t k = 0; k < f.pointers.n && access != SPVF_ACCESS_READ_WRITE; k++)
        foreach_use (u, f.pointers.data[k])
            access |= access_of(&f, u->user, (unsigned)(u - u->user->arg));
    const bool constant = attrs & IR_PARAM_READONLY || ir_space_of(param->type) == IR_CONST;
    return (spvf_arg_access)(constant ? access & SPVF_ACCESS_READ : access);
}
