/* call_depth.c — how much stack functions need, with all that they call.
 *
 * OpenCL has no recursion, so each function that can be reached has at most one frame at a time:
 * the sum of their frames is enough.  What a kernel calls through an address is the launch's
 * own function for printf, for which a fixed amount is added.
 */
#include "codegen/x86_64/x86.h"

enum { FOREIGN = 32 << 10 };

typedef struct {
    x86_writer *w;
    ir_map index;    /* by function: its frame + 1 */
    uint32_t *round; /* by frame: the last round that reached it */
    uint32_t *list;  /* the frames that are reached */
} depths;

static void reach(depths *d, uint32_t frame, uint32_t round, uint32_t *n) {
    if (d->round[frame] == round) return;
    d->round[frame] = round;
    d->list[(*n)++] = frame;
}

/* Reaches the callees of a frame; gives the bytes that calls of other code take. */
static uint64_t follow_calls(depths *d, const x86_frame *x, uint32_t round, uint32_t *n) {
    uint64_t foreign = 0;
    for (uint32_t c = x->calls; c < x->end; c++) {
        const ir_func *callee = d->w->calls.data[c];
        uintptr_t at = callee ? (uintptr_t)ir_map_get(&d->index, (uintptr_t)callee) : 0;
        if (at)
            reach(d, (uint32_t)at - 1, round, n);
        else
            foreign = FOREIGN;
    }
    return foreign;
}

static uint64_t measure(depths *d, uint32_t frame) {
    uint32_t n = 0;
    uint64_t bytes = 0, most_foreign = 0;
    reach(d, frame, frame + 1, &n);
    for (uint32_t k = 0; k < n; k++) {
        const x86_frame *x = &d->w->frames.data[d->list[k]];
        uint64_t foreign = follow_calls(d, x, frame + 1, &n);
        bytes += x->bytes;
        if (foreign > most_foreign) most_foreign = foreign;
    }
    return bytes + most_foreign;
}

void x86_measure_stacks(x86_writer *w) {
    uint32_t n = w->frames.n;
    depths d = {.w = w,
                .round = ir_new_array(w->arena, uint32_t, n + 1),
                .list = ir_new_array(w->arena, uint32_t, n + 1)};
    for (uint32_t k = 0; k < n; k++)
        ir_map_set(w->arena, &d.index, (uintptr_t)w->frames.data[k].func,
                   (void *)(uintptr_t)(k + 1));
    for (uint32_t k = 0; k < n; k++) w->frames.data[k].frame.stack = measure(&d, k);
}
