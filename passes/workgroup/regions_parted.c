/* regions_parted.c — phis of loops that items of a sub-group run after they have parted.
 *
 * Items that have parted may come to the end of an iteration one after the other, by several
 * regions, or by one that runs again for items that leave an inner loop later.  The first ones then
 * write what a phi is in the next iteration, while others have yet to read what it is in this one.
 * Such a phi has an element for each item, even if all of them find the same value there.
 *
 * A phi has one value at a time if one region ends the iterations, and runs once in each: all inner
 * loops around its head are left by all items together, by uniform branches at their headers or
 * at their only latches.
 */
#include "passes/workgroup/regions_impl.h"

/* Do all items that leave an iteration by block b do so at the same time? */
static bool is_left_together(const pass_region_graph *graph, const ir_loop *loop,
                             const ir_block *b) {
    const ir_loops *loops = graph->uniform.loops;
    uint32_t region = graph->region_of[b->id];
    if (b->last->op != IR_OP_br || graph->uniform.varies[ir_arg(b->last, 0)->id]) return false;
    if (b == loop->header) return true;
    for (uint32_t n = 0; n < loop->header->npred; n++) {
        const ir_block *from = loop->header->pred[n];
        if (from != b && ir_in_loop(loops, from, loop)) return false;
    }
    return region < graph->n && loops->of[graph->region[region].head->id] == loop;
}

/* Do all items leave the loop in the same iteration? */
static bool leaves_together(const pass_region_graph *graph, const ir_loop *loop) {
    for (uint32_t n = 0; n < loop->nblocks; n++) {
        const ir_block *b = loop->block[n];
        for (unsigned e = 0; e < b->nsucc; e++)
            if (!ir_in_loop(graph->uniform.loops, b->succ[e], loop) &&
                !is_left_together(graph, loop, b))
                return false;
    }
    return true;
}

/* Does the region run once in an iteration, for all items? */
static bool runs_once(const pass_region_graph *graph, const ir_loop *loop, const pass_region *r) {
    const ir_loop *inner = graph->uniform.loops->of[r->head->id];
    for (; inner != loop; inner = inner->parent)
        if (inner->irreducible || !leaves_together(graph, inner)) return false;
    return true;
}

bool *pass_find_staggered(const pass_group_builder *g, const pass_region_graph *graph) {
    const ir_loops *loops = graph->uniform.loops;
    bool *staggered = ir_new_array(g->scratch, bool, graph->nblocks);
    uint32_t *ends = ir_new_array(g->scratch, uint32_t, graph->nblocks);
    for (uint32_t n = 0; n < graph->n; n++) {
        const pass_region *r = &graph->region[n];
        for (uint32_t t = 0; t < r->targets.n; t++) {
            const ir_block *to = r->targets.data[t];
            const ir_loop *loop = to == g->end ? NULL : loops->of[to->id];
            if (!loop || !ir_in_loop(loops, r->head, loop)) continue;
            if (to == loop->header)
                staggered[to->id] |= ends[to->id]++ || !runs_once(graph, loop, r);
            staggered[to->id] |= loop->irreducible;
        }
    }
    return staggered;
}
