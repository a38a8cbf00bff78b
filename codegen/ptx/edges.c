/* edges.c — which predecessor of its successor a block is by each of its edges.
 *
 * Operands of phis are found by these numbers.  A block may have as many predecessors as the
 * function has blocks, so they are not searched for each edge.  All edges are sorted at once,
 * first by the block that they leave, and those of a block by where they lead.
 */
#include "codegen/ptx/ptx.h"

typedef struct {
    const ir_block *to;
    uint32_t place;
} entry;

/* By block id: the number of its first edge. */
static uint32_t *number_first(ptx_func *fn) {
    uint32_t *first = ir_new_array(fn->w->arena, uint32_t, fn->f->next_block + 1), n = 0;
    foreach_block (b, fn->f) {
        first[b->id] = n;
        n += b->nsucc;
    }
    first[fn->f->next_block] = n;
    return first;
}

/* The edges of each block together, those to one successor in the order of its predecessors. */
static entry *sort_by_block(const ptx_func *fn) {
    const uint32_t blocks = fn->f->next_block, *first = fn->first_edge;
    uint32_t *end = ir_new_array(fn->w->arena, uint32_t, blocks);
    entry *list = ir_new_array(fn->w->arena, entry, first[blocks] + 1);
    memcpy(end, first, blocks * sizeof *end);
    foreach_block (b, fn->f)
        for (uint32_t k = 0; k < b->npred; k++) list[end[b->pred[k]->id]++] = (entry){b, k};
    return list;
}

void ptx_number_edges(ptx_func *fn) {
    fn->first_edge = number_first(fn);
    const entry *list = sort_by_block(fn);
    uint32_t *next = ir_new_array(fn->w->arena, uint32_t, fn->f->next_block); /* by block led to */
    fn->place = ir_new_array(fn->w->arena, uint32_t, fn->first_edge[fn->f->next_block] + 1);
    foreach_block (b, fn->f) {
        const uint32_t from = fn->first_edge[b->id], end = from + b->nsucc;
        for (uint32_t n = end; n-- > from;) next[list[n].to->id] = n;
        for (uint32_t n = 0; n < b->nsucc; n++)
            fn->place[from + n] = list[next[b->succ[n]->id]++].place;
    }
}

unsigned ptx_place_of_edge(const ptx_func *fn, const ir_block *b, unsigned edge) {
    return fn->place[fn->first_edge[b->id] + edge];
}
