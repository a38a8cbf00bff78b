/* forward.c — values that items exchange in local memory, or keep over a barrier, stay in registers
 * where their loop has become straight code.
 *
 * This is the work of memopt, dse and simplify, which go over the whole function, and few functions
 * have anything for them here.  So it is looked for first: a load that comes after the store of a
 * vector in the same iteration of the loops around the store, and two loads of one address, which
 * may be equal since buffers of this launch do not overlap.  Everything else has been forwarded
 * before there were vectors.
 *
 * What is looked for is a hint, not a proof: memopt compares addresses.
 */
#include "ir/flow.h"
#include "passes/analysis/analysis.h"

/* Bits for what has been seen in a loop. */
enum { SHARED = 1, KEPT = 2 };

typedef struct {
    const ir_loops *loops;
    uint8_t *stored; /* by id of the header of a loop, + 1; 0: outside of loops */
    bool *loaded;    /* by value id: a load has this address */
} finder;

/* Local memory, or memory in which items keep values; 0: another. */
static uint8_t kind_of(const ir_inst *address) {
    switch (ir_space_of(address->type)) {
    case IR_LOCAL: return SHARED;
    case IR_PRIVATE: return KEPT;
    default: return 0;
    }
}

static bool stores_vector(const ir_inst *i) {
    bool stores = i->op == IR_OP_store || i->op == IR_OP_masked_store;
    return stores && ir_is_vector(ir_arg(i, 0)->type);
}

/* Loops are nested as deep as those of the source, and the two around items. */
static bool sees_store(const finder *w, const ir_loop *loop, uint8_t kind) {
    for (; loop; loop = loop->parent)
        if (w->stored[loop->header->id + 1] & kind) return true;
    return w->stored[0] & kind;
}

static bool look_at(finder *w, const ir_loop *loop, const ir_inst *i) {
    if (stores_vector(i)) w->stored[loop ? loop->header->id + 1 : 0] |= kind_of(ir_arg(i, 1));
    if (!ir_is_load(i)) return false;
    const ir_inst *address = ir_arg(i, 0);
    bool again = w->loaded[address->id] && i->op != IR_OP_gather;
    w->loaded[address->id] = true;
    return again || sees_store(w, loop, kind_of(address));
}

static bool has_work(ir_func *f, ir_arena *scratch) {
    const ir_order *order = &ir_dominators(f)->order;
    finder w = {.loops = ir_loop_tree(f),
                .stored = ir_new_array(scratch, uint8_t, f->next_block + 1),
                .loaded = ir_new_array(scratch, bool, f->next_id)};
    for (uint32_t k = 0; k < order->n; k++)
        foreach_inst (i, order->rpo[k])
            if (look_at(&w, w.loops->of[order->rpo[k]->id], i)) return true;
    return false;
}

/* Does:  memopt, dse and simplify, if loads come after stores of vectors, or twice.
 * Needs: vectors of items, in straight code where they are few (vectorize, unroll_items); equal
 *        addresses as one value (gvn).
 * Leaves: the same as these. */
bool pass_forward_items(ir_func *f, pass_ctx *cx) {
    if (f->level != L_GROUP || !has_work(f, cx->scratch) || !pass_memopt(f, cx)) return false;
    pass_dse(f, cx);
    pass_simplify(f, cx);
    return true;
}
