/* close.c — loops in loop-closed form: before a loop is copied, values that are used after it get a
 * phi in a block that only it leads to, so that copies only have to extend these phis.
 */
#include "passes/vectorize/simd.h"

static bool is_after(const simd *s, const ir_loop *loop, const ir_use *u) {
    return !simd_is_in(s, u->user->block, loop) ||
           (u->user->op == IR_OP_phi && !simd_is_in(s, ir_use_block(u), loop));
}

ir_block *simd_close_loop(simd *s, const ir_loop *loop, ir_block *latch) {
    ir_value_list out = {0};
    for (uint32_t k = 0; k < loop->nblocks; k++)
        foreach_inst (i, loop->block[k]) {
            bool after = false;
            foreach_use (u, i) after |= is_after(s, loop, u);
            if (after) *ir_push(s->scratch, &out) = i;
        }
    ir_block *exit = ir_split_edge(latch, 1);
    for (uint32_t k = 0; k < out.n; k++) {
        ir_inst *phi = ir_inst_new(s->f, IR_OP_phi, out.data[k]->type, 1);
        foreach_use (u, out.data[k])
            if (is_after(s, loop, u)) ir_set_arg(u->user, (unsigned)(u - u->user->arg), phi);
        ir_set_arg(phi, 0, out.data[k]);
        ir_insert(phi, exit, exit->first);
    }
    return exit;
}
