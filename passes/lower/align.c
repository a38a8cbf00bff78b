/* align.c — accesses learn how their addresses are aligned.
 *
 * Front ends say that an access is aligned as its type, but arguments of launches often begin at
 * lines, and vectors of items at multiples of them (analysis/zeros.c).
 *
 * Alignment begins at arguments that lead to lines (flag `line`), and at pointers that a kernel is
 * given; functions without any are left alone.
 */
#include "passes/analysis/analysis.h"

static bool has_promises(ir_func *f) {
    for (uint32_t n = 0; n < f->nparams && f->flags & IR_FUNC_KERNEL; n++)
        if (ir_is_ptr(f->param_val[n]->type) && f->param[n].align > 1) return true;
    foreach_block (b, f)
        foreach_inst (i, b)
            if (i->op == IR_OP_load && i->imm.mem.flags & IR_MEM_LINE) return true;
    return false;
}

static const ir_inst *accessed(const ir_inst *i) {
    if (i->op == IR_OP_load) return ir_arg(i, 0);
    return i->op == IR_OP_store ? ir_arg(i, 1) : NULL;
}

static bool raise_alignment(const pass_zeros *z, ir_func *f) {
    bool changed = false;
    foreach_block (b, f)
        foreach_inst (i, b) {
            const ir_inst *p = accessed(i);
            if (!p || pass_zeros_of(z, p) <= i->imm.mem.align) continue;
            i->imm.mem.align = (uint8_t)pass_zeros_of(z, p);
            changed = true;
        }
    return changed;
}

/* Does:  raises the alignment of loads and stores to what is known of their addresses.
 * Needs: nothing.
 * Leaves: all else as it was.
 * Gives up: on functions whose arguments promise nothing. */
bool pass_align(ir_func *f, pass_ctx *cx) {
    pass_zeros z = {0};
    return has_promises(f) && pass_find_zeros(f, &z, cx->scratch) && raise_alignment(&z, f);
}
