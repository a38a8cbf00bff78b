/* regions_branches.c — finds the branches that choose the next synchronization point.
 *
 * After all other branches the paths join again before the next synchronization point, or lead to
 * the same one.  So the branches that choose are those whose immediate postdominator, in a graph
 * that ends at every synchronization point, is the virtual exit.  That graph is built reversed, as
 * a function without instructions whose entry is the virtual exit, so postdominators are its
 * dominators.  Endless paths, and code that no defined program reaches, are left out.
 */
#include "passes/workgroup/regions_impl.h"

/* The reversed graph. */
typedef struct {
    ir_arena *scratch;
    const ir_order *order; /* of the function */
    const bool *sync;
    ir_func *f;
    ir_block **image;   /* by block id: the block in the reversed graph */
    ir_block **arrival; /* by block id of a synchronization point: the block for coming there */
} reversed;

static ir_block_list images_of(const reversed *r, ir_block *const *blocks, uint32_t n) {
    ir_block_list list = {0};
    for (uint32_t k = 0; k < n; k++)
        if (r->image[blocks[k]->id]) *ir_push(r->scratch, &list) = r->image[blocks[k]->id];
    return list;
}

static void make_images(reversed *r) {
    for (uint32_t k = 0; k < r->order->n; k++) {
        const ir_block *b = r->order->rpo[k];
        r->image[b->id] = ir_block_new(r->f, NULL);
        if (r->sync[b->id]) r->arrival[b->id] = ir_block_new(r->f, NULL);
    }
}

static void link_images(reversed *r) {
    ir_block_list arrivals = {0};
    for (uint32_t k = 0; k < r->order->n; k++) {
        const ir_block *b = r->order->rpo[k];
        ir_block_list from = images_of(r, b->pred, b->npred);
        bool sync = r->sync[b->id];
        ir_set_succs(sync ? r->arrival[b->id] : r->image[b->id], from.n, from.data);
        if (sync) *ir_push(r->scratch, &arrivals) = r->arrival[b->id];
    }
    ir_set_succs(r->f->first, arrivals.n, arrivals.data);
}

bool *pass_find_choices(const pass_group_builder *g, const pass_region_graph *graph,
                        const bool *sync) {
    const ir_order *order = &ir_dominators(g->f)->order;
    bool *chooses = ir_new_array(g->scratch, bool, graph->nblocks);
    reversed r = {.scratch = g->scratch, .order = order, .sync = sync};
    r.f = ir_func_new(g->f->module, "reversed", IR_VOID, 0, NULL);
    r.image = ir_new_array(g->scratch, ir_block *, graph->nblocks);
    r.arrival = ir_new_array(g->scratch, ir_block *, graph->nblocks);
    const ir_block *exit = ir_block_new(r.f, NULL);
    make_images(&r);
    link_images(&r);
    const ir_dom *d = ir_dominators(r.f);
    for (uint32_t k = 0; k < order->n; k++) {
        const ir_block *b = order->rpo[k];
        chooses[b->id] = b->nsucc > 1 && d->idom[r.image[b->id]->id] == exit;
    }
    ir_func_remove(r.f);
    return chooses;
}
