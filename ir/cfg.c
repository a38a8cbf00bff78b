/* cfg.c — walking the control-flow graph.
 *
 * ir_find_order makes one depth-first walk from the entry and keeps both of its orders: preorder
 * with the spanning tree, which Lengauer-Tarjan dominators and the loop tree need, and reverse
 * postorder, in which a block comes after its dominators.  The last successor is walked first, so
 * that the first one follows its branch in reverse postorder.
 *
 * The walk has no stack of its own: rpo is filled from the back while its front, not yet needed,
 * holds the path from the entry, and `index` counts the successors still to be walked.
 *
 * Unreachable blocks have no place in any order; ir_remove_unreachable deletes them.
 */
#include "ir/flow.h"

typedef struct {
    ir_order *o;
    uint32_t depth; /* blocks on the path, in rpo[0 .. depth) */
    uint32_t done;  /* finished blocks, at the back of rpo */
    uint32_t room;
} walk;

static void enter_block(walk *w, ir_block *b, uint32_t parent) {
    ir_order *o = w->o;
    o->number[b->id] = o->n;
    o->parent[o->n] = parent;
    o->pre[o->n++] = b;
    o->index[b->id] = b->nsucc;
    o->rpo[w->depth++] = b;
}

/* Goes one step down from the block at the end of the path, or finishes it. */
static void step(walk *w) {
    ir_order *o = w->o;
    ir_block *b = o->rpo[w->depth - 1];
    while (o->index[b->id]) {
        ir_block *to = b->succ[--o->index[b->id]];
        if (o->number[to->id] != UINT32_MAX) continue;
        enter_block(w, to, o->number[b->id]);
        return;
    }
    w->depth--;
    o->rpo[w->room - ++w->done] = b;
}

void ir_find_order(const ir_func *f, ir_order *o) {
    walk w = {.o = o, .room = f->next_block};
    o->n = 0;
    if (!f->first) return;
    memset(o->index, 0xff, f->next_block * sizeof *o->index);
    memset(o->number, 0xff, f->next_block * sizeof *o->number);
    enter_block(&w, f->first, 0);
    while (w.depth) step(&w);
    memmove(o->rpo, o->rpo + (w.room - w.done), w.done * sizeof(ir_block *));
    for (uint32_t i = 0; i < o->n; i++) o->index[o->rpo[i]->id] = i;
}

/* All edges are removed first, so that no phi keeps a value of a block that has been deleted. */
bool ir_remove_unreachable(ir_func *f) {
    if (f->first == f->last) return false;
    const ir_order *o = &ir_dominators(f)->order;
    bool changed = false;
    foreach_block (b, f) {
        if (o->index[b->id] != UINT32_MAX) continue;
        while (b->nsucc) ir_remove_edge(b, b->nsucc - 1);
        changed = true;
    }
    if (!changed) return false;
    foreach_block (b, f)
        if (o->index[b->id] == UINT32_MAX) ir_block_remove(b);
    return true;
}
