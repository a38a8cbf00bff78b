/* phi.c — phis, and the edges that they belong to.
 *
 * Operands of a phi may be defined after it, so it is written with room for them, which is filled
 * when the function is complete.  A pointer operand with another pointee than the phi is cast at
 * the end of its predecessor.
 *
 * SPIR-V requires one pair of operands for each predecessor, LLVM one for each edge: a switch with
 * several edges to a block with phis satisfies only one of them.  Such edges go to a block of their
 * own, an edge block, which jumps on; so a single edge leads to the phis.
 */
#include "codegen/spirv/spirv.h"

/* --------------------------------------------------------------------------------- edge blocks */

static uint64_t edge_key(const ir_block *from, const ir_block *to) {
    return (uint64_t)from->id << 32 | to->id;
}

/* The label of the edge block between two blocks, or 0. */
static uint32_t edge_block_of(const sw_func *fn, const ir_block *from, const ir_block *to) {
    return (uint32_t)(uintptr_t)ir_map_get(&fn->blocks.edge_blocks, edge_key(from, to));
}

static bool has_phis(const sw_func *fn, const ir_block *b) {
    foreach_phi (phi, b)
        if (fn->info->typing.needed[phi->id]) return true;
    return false;
}

/* Notes that a walk visits the block; true: it has visited it before. */
static bool visit(sw_visits *v, const ir_block *b) {
    bool again = v->walk[b->id] == v->now;
    v->walk[b->id] = v->now;
    return again;
}

void sw_make_edge_blocks(sw_func *fn, const ir_block *b) {
    for (uint32_t n = 0; n < b->nsucc; n++) {
        const ir_block *to = b->succ[n];
        if (visit(&fn->visits, to) && !edge_block_of(fn, b, to) && has_phis(fn, to))
            ir_map_set(fn->w->arena, &fn->blocks.edge_blocks, edge_key(b, to),
                       (void *)(uintptr_t)sw_new_id(fn->w));
    }
    fn->visits.now++;
}

void sw_write_edge_blocks(sw_func *fn, const ir_block *b) {
    for (uint32_t n = 0; n < b->nsucc; n++) {
        uint32_t edge_block = edge_block_of(fn, b, b->succ[n]);
        if (!edge_block || visit(&fn->visits, b->succ[n])) continue;
        sw_emit(fn, SpvOpLabel, SW_LIST(edge_block));
        sw_emit(fn, SpvOpBranch, SW_LIST(fn->blocks.label[b->succ[n]->id]));
    }
    fn->visits.now++;
}

uint32_t sw_edge_label(const sw_func *fn, const ir_block *from, const ir_block *to) {
    uint32_t edge_block = edge_block_of(fn, from, to);
    return edge_block ? edge_block : fn->blocks.label[to->id];
}

/* ----------------------------------------------------------------------------------------- phis */

static uint64_t cast_key(const ir_inst *phi, const ir_block *pred) {
    return (uint64_t)phi->id << 32 | pred->id;
}

void sw_cast_for_phis(sw_func *fn, const ir_block *b) {
    for (uint32_t n = 0; n < b->nsucc; n++)
        foreach_phi (phi, b->succ[n]) {
            if (!ir_is_ptr(phi->type) || !fn->info->typing.needed[phi->id]) continue;
            ir_inst *arg = ir_arg(phi, ir_pred_index(b->succ[n], b));
            uint32_t id = sw_pointer(fn, arg, sw_pointee(fn->info, phi));
            ir_map_set(fn->w->arena, &fn->edge_casts, cast_key(phi, b), (void *)(uintptr_t)id);
        }
}

/* Lists the first edge from each reachable predecessor, by its index in `pred`. */
static uint32_t live_edges(sw_func *fn, const ir_block *b, uint32_t *edge) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->npred; k++) {
        bool reached = fn->blocks.label[b->pred[k]->id] != 0;
        if (reached && !visit(&fn->visits, b->pred[k])) edge[n++] = k;
    }
    fn->visits.now++;
    return n;
}

void sw_emit_phi(sw_func *fn, const ir_inst *i) {
    uint32_t *edge = ir_new_array(fn->w->arena, uint32_t, i->nargs);
    uint32_t n = live_edges(fn, i->block, edge), id = sw_new_id(fn->w);
    uint32_t type = sw_value_type(fn->w, fn->info, i);
    uint32_t *operands = ir_new_array(fn->w->arena, uint32_t, 2 * (size_t)n);
    sw_put_result(fn->w, SEC_BODY, SpvOpPhi, (sw_result){type, id}, (sw_list){2 * n, operands});
    *ir_push(fn->w->arena, &fn->phis) =
        (sw_open_phi){i, edge, n, fn->w->out.section[SEC_BODY].n - 2 * n};
    sw_set_value(fn, i, id);
}

static uint32_t phi_argument(sw_func *fn, const ir_inst *phi, uint32_t n) {
    if (!ir_is_ptr(phi->type)) return sw_arg(fn, phi, n);
    return (uint32_t)(uintptr_t)ir_map_get(&fn->edge_casts, cast_key(phi, phi->block->pred[n]));
}

void sw_fill_phis(sw_func *fn) {
    for (uint32_t i = 0; i < fn->phis.n; i++) {
        const sw_open_phi *p = &fn->phis.data[i];
        uint32_t *at = fn->w->out.section[SEC_BODY].data + p->at;
        for (uint32_t k = 0; k < p->n; k++) {
            at[2 * k] = phi_argument(fn, p->phi, p->edge[k]);
            const ir_block *pred = p->phi->block->pred[p->edge[k]];
            uint32_t edge_block = edge_block_of(fn, pred, p->phi->block);
            at[2 * k + 1] = edge_block ? edge_block : fn->blocks.exit[pred->id];
        }
    }
}
