/* blocks.c — the order in which blocks have code.
 *
 * The order is reverse postorder, so that a jump to the next block can be left out.  Blocks that
 * only jump have no code: jumps there lead on at once.  A cycle of such blocks is an endless loop;
 * one of them stays.
 */
#include "codegen/native/emit.h"

typedef bool has_no_code_fn(const cg_allocation *a, const ir_inst *i);

static bool only_jumps(const ir_func *f, const ir_block *b, const cg_allocation *a,
                       has_no_code_fn *has_no_code) {
    if (b == f->first || b->last->op != IR_OP_jmp) return false;
    for (const ir_inst *i = b->first; i != b->last; i = i->next)
        if (i->op != IR_OP_phi && !has_no_code(a, i)) return false;
    return true;
}

cg_code_order cg_order_blocks(cg_unit *u, ir_func *f, const cg_allocation *a,
                              has_no_code_fn *has_no_code) {
    const ir_order *order = &ir_dominators(f)->order;
    cg_code_order o = {.block = ir_new_array(u->arena, ir_block *, order->n),
                       .target = ir_new_array(u->arena, ir_block *, f->next_block),
                       .label = ir_new_array(u->arena, uint32_t, f->next_block)};
    for (uint32_t n = order->n; n-- > 0;) {
        ir_block *b = order->rpo[n], *to = only_jumps(f, b, a, has_no_code) ? b->succ[0] : b;
        ir_block *end = o.target[to->id]; /* NULL: to comes before b, or is b */
        o.target[b->id] = to == b || !end ? to : end;
    }
    /* Through a back edge, an empty block may lead to one that is left out itself.  It keeps its
     * code then, so one block of a cycle stays. */
    for (uint32_t n = 0; n < order->n; n++) {
        ir_block *b = order->rpo[n], *to = o.target[b->id];
        if (to != b && o.target[to->id] != to) o.target[b->id] = b;
        if (o.target[b->id] != b) continue;
        o.block[o.n++] = b;
        o.label[b->id] = u->target->new_label(u);
    }
    return o;
}
