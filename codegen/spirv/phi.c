/* phi.c — phis, and the edges that they belong to.
 *
 * A phi gets room for its operands and is filled when the function is complete, since they may be
 * defined after it.  A pointer that flows into a phi of another pointee is cast at the end of its
 * block.
 *
 * SPIR-V wants one pair of operands for each predecessor, LLVM one for each edge: a switch with
 * several edges to a block with phis satisfies only one of them.  Such edges meet in a block
 * of their own, a joint, which jumps on; from there one edge goes to the phis.
 */
#include "codegen/spirv/spirv.h"

/* --------------------------------------------------------------------------------------- joints */

static uint64_t edge_key(const ir_block *from, const ir_block *to) {
    return (uint64_t)from->id << 32 | to->id;
}

/* The label of the joint between two blocks, or 0. */
static uint32_t joint_of(const sw_func *fn, const ir_block *from, const ir_block *to) {
    return (uint32_t)(uintptr_t)ir_map_get(&fn->joints, edge_key(from, to));
}

static bool has_phis(const sw_func *fn, const ir_block *b) {
    foreach_phi (phi, b)
        if (fn->info->needed[phi->id]) return true;
    return false;
}

/* Was the block met since the stamp changed? */
static bool meet(sw_func *fn, const ir_block *b) {
    bool met = fn->met[b->id] == fn->stamp;
    fn->met[b->id] = fn->stamp;
    return met;
}

void sw_join_edges(sw_func *fn, const ir_block *b) {
    for (uint32_t n = 0; n < b->nsucc; n++) {
        const ir_block *to = b->succ[n];
        if (meet(fn, to) && !joint_of(fn, b, to) && has_phis(fn, to))
            ir_map_set(fn->w->arena, &fn->joints, edge_key(b, to),
                       (void *)(uintptr_t)sw_new_id(fn->w));
    }
    fn->stamp++;
}

void sw_write_joints(sw_func *fn, const ir_block *b) {
    for (uint32_t n = 0; n < b->nsucc; n++) {
        uint32_t joint = joint_of(fn, b, b->succ[n]);
        if (!joint || meet(fn, b->succ[n])) continue;
        sw_emit(fn, SpvOpLabel, SW_LIST(joint));
        sw_emit(fn, SpvOpBranch, SW_LIST(fn->label[b->succ[n]->id]));
    }
    fn->stamp++;
}

uint32_t sw_edge_label(const sw_func *fn, const ir_block *from, const ir_block *to) {
    uint32_t joint = joint_of(fn, from, to);
    return joint ? joint : fn->label[to->id];
}

/* The label of the SPIR-V block that jumps from one block to the other. */
static uint32_t last_label(const sw_func *fn, const ir_block *from, const ir_block *to) {
    uint32_t joint = joint_of(fn, from, to);
    return joint ? joint : fn->exit[from->id];
}

/* ----------------------------------------------------------------------------------------- phis */

/* Casts pointers for the phis of this block's successors. */
void sw_cast_for_phis(sw_func *fn, const ir_block *b) {
    for (uint32_t n = 0; n < b->nsucc; n++)
        foreach_phi (phi, b->succ[n]) {
            if (!ir_is_ptr(phi->type) || !fn->info->needed[phi->id]) continue;
            ir_inst *arg = ir_arg(phi, ir_pred_index(b->succ[n], b));
            uint32_t id = sw_pointer(fn, arg, sw_pointee(fn->info, phi));
            *ir_push(fn->w->arena, &fn->edge[b->id]) = (sw_edge_cast){phi, id};
        }
}

/* The first argument for each block that can be reached, as (place in `pred`). */
static uint32_t live_edges(sw_func *fn, const ir_block *b, uint32_t *edge) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->npred; k++) {
        bool reached = fn->label[b->pred[k]->id] != 0;
        if (reached && !meet(fn, b->pred[k])) edge[n++] = k;
    }
    fn->stamp++;
    return n;
}

void sw_emit_phi(sw_func *fn, const ir_inst *i) {
    uint32_t *edge = ir_new_array(fn->w->arena, uint32_t, i->nargs);
    uint32_t n = live_edges(fn, i->block, edge), id = sw_new_id(fn->w);
    uint32_t type = ir_is_ptr(i->type)
                        ? sw_pointer_type(fn->w, ir_space_of(i->type), sw_pointee(fn->info, i))
                        : sw_type(fn->w, i->type);
    uint32_t *operands = ir_new_array(fn->w->arena, uint32_t, 2 * (size_t)n);
    sw_put_result(fn->w, SEC_BODY, SpvOpPhi, type, id, (sw_list){2 * n, operands});
    *ir_push(fn->w->arena, &fn->phis) =
        (sw_open_phi){i, edge, n, fn->w->section[SEC_BODY].n - 2 * n};
    sw_set_value(fn, i, id);
}

static uint32_t phi_argument(sw_func *fn, const ir_inst *phi, uint32_t n) {
    if (!ir_is_ptr(phi->type)) return sw_arg(fn, phi, n);
    const sw_edge_casts *casts = &fn->edge[phi->block->pred[n]->id];
    uint32_t i = 0;
    while (casts->data[i].phi != phi) i++;
    return casts->data[i].id;
}

void sw_fill_phis(sw_func *fn) {
    for (uint32_t i = 0; i < fn->phis.n; i++) {
        const sw_open_phi *p = &fn->phis.data[i];
        uint32_t *at = fn->w->section[SEC_BODY].data + p->at;
        for (uint32_t k = 0; k < p->n; k++) {
            at[2 * k] = phi_argument(fn, p->phi, p->edge[k]);
            at[2 * k + 1] = last_label(fn, p->phi->block->pred[p->edge[k]], p->phi->block);
        }
    }
}
