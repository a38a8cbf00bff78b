/* structs.c — structs by value: which of them are read where they were given.
 *
 * ld.param takes an address in a register, so an index need not be known.  The memory of parameters
 * cannot be written, and has no address in another space: if a kernel does more with a struct than
 * read it, it copies the struct to private memory.  Phis and selects among addresses may be read,
 * too, if all of these are in the same struct.
 */
#include "codegen/ptx/ptx.h"

typedef ir_vec(const ir_inst *) addresses;

static bool makes_address(const ir_use *u) {
    const ir_inst *i = u->user;
    if (ir_is_vector(i->type)) return false;
    if (i->op == IR_OP_ptradd) return u == &i->arg[0];
    return i->op == IR_OP_phi || (i->op == IR_OP_select && u != &i->arg[0]);
}

static bool is_read(const ir_use *u) {
    return u->user->op == IR_OP_load || (u->user->op == IR_OP_copy && u == &u->user->arg[1]);
}

/* Marks and lists the addresses in a struct; false if one of them is not only read. */
static bool mark_addresses(ptx_func *fn, const ir_inst *param, addresses *list) {
    fn->in_param[param->id] = true;
    *ir_push(fn->w->arena, list) = param;
    for (uint32_t k = 0; k < list->n; k++)
        foreach_use (u, list->data[k]) {
            if (!makes_address(u) && !is_read(u)) return false;
            if (is_read(u) || fn->in_param[u->user->id]) continue;
            fn->in_param[u->user->id] = true;
            *ir_push(fn->w->arena, list) = u->user;
        }
    return true;
}

/* Do phis and selects in the list choose among marked addresses only? */
static bool all_are_marked(const ptx_func *fn, const addresses *list) {
    for (uint32_t k = 0; k < list->n; k++) {
        const ir_inst *i = list->data[k];
        bool is_chosen = i->op == IR_OP_phi || i->op == IR_OP_select;
        for (unsigned n = i->op == IR_OP_select; is_chosen && n < i->nargs; n++)
            if (!fn->in_param[ir_arg(i, n)->id]) return false;
    }
    return true;
}

void ptx_find_structs(ptx_func *fn) {
    fn->in_param = ir_new_array(fn->w->arena, bool, fn->f->next_id);
    for (uint32_t n = 0; n < fn->f->nparams; n++) {
        addresses list = {0};
        if (!(fn->f->param[n].attrs & IR_PARAM_BYVAL)) continue;
        if (mark_addresses(fn, fn->f->param_val[n], &list) && all_are_marked(fn, &list)) continue;
        for (uint32_t k = 0; k < list.n; k++) fn->in_param[list.data[k]->id] = false;
    }
}
