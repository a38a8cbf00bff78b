/* regions_promises.c — what launches promise about the memory that arguments lead to.
 *
 * A launch knows the addresses and sizes of its arguments, so it can tell whether they overlap and
 * how they are aligned (pass_group_shape).  Parameters of the kernel that are declared `restrict`
 * promise the first by themselves, but only for one item: items that wait for each other may meet
 * in what two of them lead to.  In code of a group, the load of an argument has the promise.
 *
 * An address that a kernel has found in memory, or made of an integer, may lead anywhere.  So a
 * launch promises nothing for kernels with such addresses.
 */
#include "passes/workgroup/regions_impl.h"

static bool has_foreign_addresses(const ir_func *kernel) {
    foreach_block (b, kernel)
        foreach_inst (i, b) {
            bool made = ir_has_flag(i, F_PURE) || i->op == IR_OP_phi || i->op == IR_OP_alloca;
            if (ir_is_ptr(i->type) && (!made || i->op == IR_OP_inttoptr)) return true;
        }
    return false;
}

bool pass_promise_apart(ir_func *kernel) {
    if (has_foreign_addresses(kernel)) return false;
    for (uint32_t n = 0; n < kernel->nparams; n++)
        if (ir_is_ptr(kernel->param_val[n]->type)) kernel->param[n].attrs |= IR_PARAM_NOALIAS;
    return true;
}

void pass_promise_short(ir_func *kernel) {
    kernel->flags |= IR_FUNC_SHORT_IDS;
    for (uint32_t n = 0; n < kernel->nparams; n++)
        if (pass_may_be_short(kernel->param_val[n]->type)) kernel->param[n].attrs |= IR_PARAM_SHORT;
}

static bool may_wait(const ir_func *kernel) {
    foreach_block (b, kernel)
        foreach_inst (i, b)
            if (ir_has_flag(i, F_CONVERGENT)) return true;
    return false;
}

void pass_take_promises(ir_func *kernel, const pass_group_shape *shape, ir_arena *scratch,
                        pass_group_promises *out) {
    out->waits = may_wait(kernel);
    out->apart = shape->apart && pass_promise_apart(kernel);
    if (out->apart && shape->streams) pass_mark_streams(kernel, scratch);
}

unsigned pass_promises_of(const pass_group_promises *known, const pass_group_shape *shape,
                          const ir_param *p) {
    bool apart = known->apart || (p->attrs & IR_PARAM_NOALIAS && !known->waits);
    bool on_line = shape->on_lines || p->align >= IR_LINE;
    if (p->attrs & IR_PARAM_BYVAL) return 0;
    return (apart ? IR_MEM_NOALIAS : 0) | (on_line ? IR_MEM_LINE : 0);
}
