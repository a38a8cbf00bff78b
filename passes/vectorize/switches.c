/* switches.c — switches in loops over items become branches, which can be linearized.
 *
 * The cases are tested one after the other.  A switch with many cases remains, and so its loop
 * stays scalar.
 */
#include "passes/vectorize/simd.h"

enum { MOST = 32 };

static void lower_switch(ir_func *f, ir_block *b) {
    ir_inst *on = ir_arg(b->last, 0), *value[MOST + 1];
    ir_block *target[MOST + 1];
    unsigned n = b->nsucc - 1;
    ir_builder build;
    for (unsigned k = 0; k <= n; k++) {
        target[k] = ir_split_edge(b, k);
        value[k] = ir_arg(b->last, k);
    }
    ir_make_unreachable(b);
    ir_remove(b->last);
    ir_builder_init(&build, f);
    ir_at_end(&build, b);
    for (unsigned k = 1; k <= n; k++) {
        ir_block *next = k < n ? ir_block_new(f, NULL) : target[0];
        ir_build_br(&build, ir_build2(&build, IR_OP_eq, IR_I1, on, value[k]), target[k], next);
        ir_at_end(&build, next);
    }
}

static bool is_in_items(const ir_loops *loops, const ir_block *b) {
    for (const ir_loop *l = loops->of[b->id]; l; l = l->parent)
        if (l->header->loop_hint & IR_LOOP_ITEMS) return true;
    return false;
}

bool simd_lower_switches(ir_func *f, ir_arena *scratch) {
    const ir_loops *loops = ir_loop_tree(f);
    ir_block_list found = {0};
    foreach_block (b, f) {
        bool some = b->last->op == IR_OP_switch && b->nsucc > 1 && b->nsucc <= MOST + 1;
        if (some && is_in_items(loops, b)) *ir_push(scratch, &found) = b;
    }
    for (uint32_t k = 0; k < found.n; k++) lower_switch(f, found.data[k]);
    return found.n;
}
