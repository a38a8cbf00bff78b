/* stack_need.c — how much stack functions need, with all that they call.
 *
 * OpenCL has no recursion, so calls make a graph without cycles, and a function needs its own frame
 * and as much as the one of its callees that needs most.  Callees are measured first.  The walk
 * uses an explicit stack, since the input decides how deep calls nest.
 *
 * What a kernel calls through an address is the launch's own function for printf, which is given a
 * fixed amount.
 */
#include "codegen/native/unit.h"

enum { PRINTF_STACK = 32 << 10 /* bytes reserved for the launch's printf */ };

typedef struct {
    cg_unit *unit;
    ir_map index;          /* by function: its frame + 1 */
    uint32_t *next;        /* by frame: the call that is looked at next */
    bool *entered;         /* by frame */
    uint32_t *path, depth; /* the explicit stack: frames, each called by the one before */
} stack_walk;

static void enter(stack_walk *w, uint32_t frame) {
    w->entered[frame] = true;
    w->next[frame] = w->unit->frames.data[frame].calls;
    w->path[w->depth++] = frame;
}

/* Raises the need of the frame on top to its own bytes plus those of a callee. */
static void add_callee(stack_walk *w, uint64_t bytes) {
    cg_open_frame *x = &w->unit->frames.data[w->path[w->depth - 1]];
    if (x->bytes + bytes > x->frame.stack) x->frame.stack = x->bytes + bytes;
}

/* Looks at the next call of the frame on top, or leaves it. */
static void step(stack_walk *w) {
    uint32_t frame = w->path[w->depth - 1];
    const cg_open_frame *x = &w->unit->frames.data[frame];
    if (w->next[frame] == x->end) {
        if (--w->depth) add_callee(w, x->frame.stack);
        return;
    }
    const ir_func *callee = w->unit->calls.data[w->next[frame]++];
    uintptr_t at = callee ? (uintptr_t)ir_map_get(&w->index, (uintptr_t)callee) : 0;
    if (at && !w->entered[at - 1])
        enter(w, (uint32_t)at - 1);
    else
        add_callee(w, at ? w->unit->frames.data[at - 1].frame.stack : PRINTF_STACK);
}

void cg_measure_stacks(cg_unit *unit) {
    uint32_t n = unit->frames.n;
    stack_walk w = {.unit = unit,
                    .next = ir_new_array(unit->arena, uint32_t, n + 1),
                    .entered = ir_new_array(unit->arena, bool, n + 1),
                    .path = ir_new_array(unit->arena, uint32_t, n + 1)};
    for (uint32_t k = 0; k < n; k++) {
        cg_open_frame *x = &unit->frames.data[k];
        x->frame.stack = x->bytes;
        ir_map_set(unit->arena, &w.index, (uintptr_t)x->func, (void *)(uintptr_t)(k + 1));
    }
    for (uint32_t k = 0; k < n; k++) {
        if (!w.entered[k]) enter(&w, k);
        while (w.depth) step(&w);
    }
}
