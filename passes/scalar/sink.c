/* sink.c — moves computations into the branch that needs them.
 *
 * Instructions are visited in postorder, users before operands, so that whole expressions move.  A
 * pure instruction moves down the dominator tree, to the last block that dominates all its uses and
 * is in no further loop, if a branch on the way may lead elsewhere.  The exit of a loop counts as
 * such a branch, but branches within other loops do not.  Its operands are unchanged there: a path
 * that computes them anew on the way to a use passes the old place as well.
 *
 * A load moves at most past the branch that ends its block, and past instructions without effects.
 */
#include "passes/passes.h"

enum { MAX_STEPS = 64 };

typedef struct {
    const ir_dom *dom;
    const ir_loops *loops;
} sinker;

/* Is b in no loop that `from` is not in? */
static bool is_as_rare(const sinker *s, const ir_block *b, const ir_block *from) {
    return ir_loop_contains(s->loops->of[b->id], s->loops->of[from->id]);
}

/* The last block that dominates all uses; NULL when it is i's, or too far away. */
static ir_block *find_common(const sinker *s, const ir_inst *i, unsigned *steps) {
    ir_block *b = i->uses ? ir_use_block(i->uses) : NULL;
    for (const ir_use *u = i->uses; u && b; u = u->next)
        while (b && !ir_block_dominates(s->dom, b, ir_use_block(u)))
            b = ++*steps < MAX_STEPS ? s->dom->idom[b->id] : NULL;
    return b != i->block ? b : NULL;
}

/* Is b reached from i's part of the program by a branch that may also lead elsewhere? */
static bool is_chosen(const sinker *s, const ir_block *b, const ir_inst *i) {
    return b->npred == 1 && b->pred[0]->nsucc > 1 && is_as_rare(s, b->pred[0], i->block);
}

static ir_block *find_place(const sinker *s, const ir_inst *i) {
    ir_block *place = NULL;
    unsigned steps = 0;
    bool chosen = false;
    for (ir_block *b = find_common(s, i, &steps); b != i->block; b = s->dom->idom[b->id]) {
        if (!b || ++steps > MAX_STEPS) return NULL;
        if (!place && is_as_rare(s, b, i->block)) place = b;
        chosen |= place && is_chosen(s, b, i);
    }
    return chosen ? place : NULL;
}

/* The block on the way to `place` that comes next after a load's own, when the load may pass all
 * that is in between. */
static ir_block *find_place_of_load(const sinker *s, const ir_inst *load, ir_block *place) {
    unsigned steps = 0;
    if (load->imm.mem.flags & IR_MEM_VOLATILE) return NULL;
    for (const ir_inst *i = load->next; i; i = i->next)
        if (ir_has_flag(i, F_WRITES | F_CONVERGENT) || ++steps > MAX_STEPS) return NULL;
    while (place && s->dom->idom[place->id] != load->block) place = s->dom->idom[place->id];
    return place && is_chosen(s, place, load) && place->pred[0] == load->block ? place : NULL;
}

static bool sink(const sinker *s, ir_inst *i) {
    bool pure = ir_has_flag(i, F_PURE) && !ir_has_flag(i, F_CONVERGENT) && i->op != IR_OP_phi;
    ir_block *place = pure || i->op == IR_OP_load ? find_place(s, i) : NULL;
    if (place && i->op == IR_OP_load) place = find_place_of_load(s, i, place);
    if (!place) return false;
    ir_move_before(i, ir_first_non_phi(place));
    ir_count(i->block->func->module->cx, sink_moved, 1);
    return true;
}

/* Does:  moves pure instructions, and loads by one branch, to where they are needed.
 * Needs: nothing; last, because branches that become selects need the opposite.
 * Leaves: the control flow graph.
 * Gives up: on uses more than 64 steps up the dominator tree apart. */
bool pass_sink(ir_func *f, pass_ctx *cx) {
    (void)cx;
    if (f->first == f->last) return false;
    bool changed = ir_remove_unreachable(f);
    sinker s = {.dom = ir_dominators(f), .loops = ir_loop_tree(f)};
    for (uint32_t k = s.dom->order.n; k-- > 0;)
        foreach_inst_reverse (i, s.dom->order.rpo[k]) changed |= sink(&s, i);
    return changed;
}
