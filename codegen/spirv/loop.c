/* loop.c — loop merge instructions, for loops with a hint to unroll them or not.
 *
 * Kernels need no structured control flow, so OpLoopMerge only carries the hint.  It is written
 * where its operands are true: the loop is reducible, has one latch and one block outside to which
 * its edges leave, this is no merge block yet, and the header ends in a branch.  The instruction is
 * in the header and names the latch, so neither of them may have become several SPIR-V blocks.  For
 * all other loops the hint is left out.
 */
#include "codegen/spirv/spirv.h"

static const ir_loop *loop_of_header(const sw_func *fn, const ir_block *b) {
    const ir_loops *loops = ir_loop_tree(fn->f);
    const ir_loop *l = loops->of[b->id];
    return l && l->header == b && !l->irreducible ? l : NULL;
}

/* The only block outside that the loop leaves to, or NULL. */
static ir_block *only_exit(const ir_loops *loops, const ir_loop *l) {
    ir_block *found = NULL;
    for (uint32_t i = 0; i < l->nblocks; i++)
        for (uint32_t n = 0; n < l->block[i]->nsucc; n++) {
            ir_block *to = l->block[i]->succ[n];
            if (ir_in_loop(loops, to, l) || to == found) continue;
            if (found) return NULL;
            found = to;
        }
    return found;
}

/* The only block of the loop that goes back to its header, or NULL. */
static ir_block *only_latch(const ir_loops *loops, const ir_loop *l) {
    ir_block *found = NULL;
    for (uint32_t n = 0; n < l->header->npred; n++) {
        ir_block *from = l->header->pred[n];
        if (!ir_in_loop(loops, from, l) || from == found) continue;
        if (found) return NULL;
        found = from;
    }
    return found;
}

/* Will the latch be one SPIR-V block, which goes back to the header itself? */
static bool goes_back_at_once(const ir_block *latch, const ir_block *header) {
    uint32_t edges = 0;
    for (uint32_t n = 0; n < latch->nsucc; n++) edges += latch->succ[n] == header;
    foreach_inst (i, latch)
        if (i->op == IR_OP_fill && sw_fills_in_loop(i)) return false;
    return edges == 1;
}

void sw_write_loop_merge(sw_func *fn, ir_block *b) {
    ir_op op = (ir_op)b->last->op;
    bool split = fn->blocks.exit[b->id] != fn->blocks.label[b->id];
    if (!b->loop_hint || split || (op != IR_OP_jmp && op != IR_OP_br)) return;
    const ir_loop *l = loop_of_header(fn, b);
    if (!l) return;
    const ir_loops *loops = ir_loop_tree(fn->f);
    ir_block *merge = only_exit(loops, l), *latch = only_latch(loops, l);
    if (!merge || !latch || fn->blocks.is_merge[merge->id] || !goes_back_at_once(latch, b)) return;
    fn->blocks.is_merge[merge->id] = true;
    uint32_t control =
        b->loop_hint & IR_LOOP_UNROLL ? SpvLoopControlUnrollMask : SpvLoopControlDontUnrollMask;
    sw_emit(fn, SpvOpLoopMerge,
            SW_LIST(fn->blocks.label[merge->id], fn->blocks.label[latch->id], control));
}
