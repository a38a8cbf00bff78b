/* short_ids.c — asks for ids and sizes in 32 bits.
 *
 *   does        replaces each query of 64 bits by one of 32 bits, extended; the linear global id
 *               may be greater and is left alone
 *   needs       a target of which it is known that ids and sizes fit (has_short_ids)
 *   leaves      the control flow graph; comparisons and indices for simplify, which takes
 *               extensions out of them; several queries where one was wanted for gvn
 *   gives up    never
 *
 * GPUs compute with 32 bits twice as fast, and comparisons and products of ids take half of the
 * registers.  An address is a product of 32 bits with a result of 64 then.
 */
#include "passes/passes.h"

static void shorten(ir_builder *b, ir_inst *i) {
    ir_before(b, i);
    b->loc = i->loc;
    ir_inst *word = ir_build_query(b, (ir_op)i->op, IR_I32, i->imm.dim);
    ir_replace_uses(i, ir_build1(b, IR_OP_zext, IR_I64, word));
    ir_remove(i);
}

bool pass_short_ids(ir_func *f, pass_ctx *cx) {
    bool changed = false;
    ir_builder b;
    if (!cx->target || !cx->target->has_short_ids) return false;
    ir_builder_init(&b, f);
    foreach_block (block, f)
        foreach_inst (i, block)
            if (ir_info(i)->rule == R_QUERY && i->type == IR_I64 &&
                i->op != IR_OP_global_linear_id) {
                shorten(&b, i);
                changed = true;
            }
    return changed;
}
