/* regions_decide.c — at which branches it is open where the items meet next, and stays so until
 * they do.
 *
 * At all other branches, the paths come together again before the next meeting, or lead to one
 * meeting.  That is a question of postdominators in a graph that ends at every meeting.  The graph
 * is built reversed, as a function without instructions whose entry comes after all meetings, so
 * that postdominators are its dominators.  Paths that never end, or are unreachable in defined
 * programs, do not count.
 */
#include "passes/workgroup/regions_impl.h"

typedef struct {
    pass_grouping *g;
    ir_func *mirror;
    ir_block **image;   /* by block id: what stands for the block */
    ir_block **arrival; /* by block id of a hard head: what stands for coming there */
} reflection;

static ir_block_list images_of(const reflection *r, ir_block *const *blocks, uint32_t n) {
    ir_block_list list = {0};
    for (uint32_t k = 0; k < n; k++)
        if (r->image[blocks[k]->id]) *ir_push(r->g->scratch, &list) = r->image[blocks[k]->id];
    return list;
}

static void make_images(reflection *r, const ir_order *order) {
    for (uint32_t k = 0; k < order->n; k++) {
        const ir_block *b = order->rpo[k];
        r->image[b->id] = ir_block_new(r->mirror, NULL);
        if (r->g->hard[b->id]) r->arrival[b->id] = ir_block_new(r->mirror, NULL);
    }
}

static void link_images(reflection *r, const ir_order *order) {
    ir_block_list arrivals = {0};
    ir_block *behind = r->mirror->first;
    for (uint32_t k = 0; k < order->n; k++) {
        const ir_block *b = order->rpo[k];
        ir_block_list from = images_of(r, b->pred, b->npred);
        bool hard = r->g->hard[b->id];
        ir_set_succs(hard ? r->arrival[b->id] : r->image[b->id], from.n, from.data);
        if (hard) *ir_push(r->g->scratch, &arrivals) = r->arrival[b->id];
    }
    ir_set_succs(behind, arrivals.n, arrivals.data);
}

bool *pass_find_open(pass_grouping *g) {
    const ir_order *order = &ir_dominators(g->f)->order;
    bool *open = ir_new_array(g->scratch, bool, g->nblocks);
    reflection r = {.g = g, .mirror = ir_func_new(g->f->module, "mirror", IR_VOID, 0, NULL)};
    r.image = ir_new_array(g->scratch, ir_block *, g->nblocks);
    r.arrival = ir_new_array(g->scratch, ir_block *, g->nblocks);
    ir_block *behind = ir_block_new(r.mirror, NULL);
    make_images(&r, order);
    link_images(&r, order);
    const ir_dom *d = ir_dominators(r.mirror);
    for (uint32_t k = 0; k < order->n; k++) {
        const ir_block *b = order->rpo[k];
        open[b->id] = b->nsucc > 1 && d->idom[r.image[b->id]->id] == behind;
    }
    ir_func_remove(r.mirror);
    return open;
}
