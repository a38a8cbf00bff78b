/* places.c — dominance among values of one block, without a walk over the block.
 *
 * Each instruction is numbered once by its place in its block.  What is built later has the
 * place of the instruction that it was built in front of, and a new phi one before all others, so a
 * pass that adds instructions as it goes need not number the block again.  For values without a
 * place, ir_value_dominates is asked.
 *
 * Must hold: numbered instructions do not move, and the control flow graph stays as it is.
 */
#include "ir/flow.h"

void ir_number_places(ir_places *p, ir_func *f, ir_arena *scratch) {
    *p = (ir_places){.dom = ir_dominators(f), .scratch = scratch, .n = f->next_id};
    p->place = ir_new_array(scratch, uint32_t, p->n);
    foreach_block (b, f) {
        uint32_t n = 0;
        foreach_inst (i, b) p->place[i->id] = ++n;
    }
}

static void note(ir_places *p, const ir_inst *v, uint32_t place) {
    if (v->id < p->n || ir_map_get(&p->fresh, v->id)) return;
    ir_map_set(p->scratch, &p->fresh, v->id, (void *)((uintptr_t)place + 1));
}

ir_inst *ir_place_before(ir_places *p, ir_inst *v, const ir_inst *before) {
    if (v->block == before->block && before->id < p->n) note(p, v, p->place[before->id]);
    return v;
}

void ir_place_phi(ir_places *p, const ir_inst *phi) { note(p, phi, 0); }

bool ir_precedes(const ir_places *p, const ir_inst *v, const ir_inst *at) {
    if (!v->block || v->block != at->block || at->id >= p->n)
        return ir_value_dominates(p->dom, v, at);
    if (v->id < p->n) return p->place[v->id] < p->place[at->id];
    uintptr_t place = (uintptr_t)ir_map_get(&p->fresh, v->id);
    return place ? place <= (uintptr_t)p->place[at->id] + 1 : ir_value_dominates(p->dom, v, at);
}
