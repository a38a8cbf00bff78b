/* call_depth.c — how much stack functions need, with all that they call.
 *
 * OpenCL has no recursion, so calls make a graph without cycles, and a function needs its own frame
 * and as much as the one of its callees that needs most.  Callees are measured first, by a walk
 * that keeps its way in a list, since calls may be nested as deeply as the input likes.
 *
 * What a kernel calls through an address is the launch's own function for printf, which is given a
 * fixed amount.
 */
#include "codegen/native/unit.h"

enum { FOREIGN = 32 << 10 };

typedef struct {
    cg_unit *unit;
    ir_map index;   /* by function: its frame + 1 */
    uint32_t *next; /* by frame: the call that is looked at next */
    bool *entered;  /* by frame */
    uint32_t *way, depth;
} depths;

static void enter(depths *d, uint32_t frame) {
    d->entered[frame] = true;
    d->next[frame] = d->unit->frames.data[frame].calls;
    d->way[d->depth++] = frame;
}

/* The frame on top of the way needs as much more as one of its callees. */
static void add_callee(depths *d, uint64_t bytes) {
    cg_open_frame *x = &d->unit->frames.data[d->way[d->depth - 1]];
    if (x->bytes + bytes > x->frame.stack) x->frame.stack = x->bytes + bytes;
}

/* Looks at the next call of the frame on top, or leaves it. */
static void step(depths *d) {
    uint32_t frame = d->way[d->depth - 1];
    const cg_open_frame *x = &d->unit->frames.data[frame];
    if (d->next[frame] == x->end) {
        if (--d->depth) add_callee(d, x->frame.stack);
        return;
    }
    const ir_func *callee = d->unit->calls.data[d->next[frame]++];
    uintptr_t at = callee ? (uintptr_t)ir_map_get(&d->index, (uintptr_t)callee) : 0;
    if (at && !d->entered[at - 1])
        enter(d, (uint32_t)at - 1);
    else
        add_callee(d, at ? d->unit->frames.data[at - 1].frame.stack : FOREIGN);
}

void cg_measure_stacks(cg_unit *unit) {
    uint32_t n = unit->frames.n;
    depths d = {.unit = unit,
                .next = ir_new_array(unit->arena, uint32_t, n + 1),
                .entered = ir_new_array(unit->arena, bool, n + 1),
                .way = ir_new_array(unit->arena, uint32_t, n + 1)};
    for (uint32_t k = 0; k < n; k++) {
        cg_open_frame *x = &unit->frames.data[k];
        x->frame.stack = x->bytes;
        ir_map_set(unit->arena, &d.index, (uintptr_t)x->func, (void *)(uintptr_t)(k + 1));
    }
    for (uint32_t k = 0; k < n; k++) {
        if (!d.entered[k]) enter(&d, k);
        while (d.depth) step(&d);
    }
}
