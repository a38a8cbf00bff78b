/* uniform_branches.c — marks branches that all work-items of a sub-group take the same way.
 *
 *   does        gives the flag `uniform` to branches of kernels that do not diverge within a
 *               sub-group (uniform.c), whatever code it stops at barriers
 *   needs       code of work-items
 *   leaves      everything as it was; the flags hold until a pass changes branches
 *   gives up    never; parameters of functions that are called may differ between items
 *
 * The threads of a warp meet again behind a branch that may diverge, which takes instructions
 * before and after it.  Behind a marked one they need not.  That a barrier is reached by all items
 * or none is not used here: programs that break this rule often work on GPUs.
 */
#include "passes/analysis/analysis.h"

static bool mark(const pass_uniformity *u, const ir_block *b) {
    ir_inst *end = ir_term(b);
    bool chooses = end->op == IR_OP_br || end->op == IR_OP_switch;
    if (!chooses || u->divergent[b->id] || end->flags & IR_UNIFORM) return false;
    end->flags |= IR_UNIFORM;
    return true;
}

bool pass_uniform_branches(ir_func *f, pass_ctx *cx) {
    bool changed = false;
    pass_uniformity u;
    if (!(f->flags & IR_FUNC_KERNEL)) return false;
    pass_find_uniform_warp(f, cx->scratch, &u);
    foreach_block (b, f) changed |= mark(&u, b);
    return changed;
}
