/* iterations.c — innermost loops whose own iterations become lanes.
 *
 *   for (k = begin[i]; k < begin[i + 1]; k++) least = min(least, length[k] + distance[before[k]]);
 *
 * Where items are not worth being lanes, because what they access is far apart or their loops
 * differ in length, the iterations of their innermost loops often are: these access neighbours in
 * memory, and what they have in common is a reduction.  So are the loops of kernels with one item
 * (Allen and Kennedy 2001; Nuzman, Rosen and Zaks 2006).
 *
 * The loop is vectorized as one over items is, by its own counter.  Items are independent, but
 * iterations have to be shown to be.  Here they are if the loop writes no memory: what goes from
 * one iteration to the next is then in the phis of its header, which carried.c knows.
 *
 * Before: all instructions are legal.  The code is only looked at.
 */
#include "passes/analysis/alias.h"
#include "passes/vectorize/simd.h"

/* Counters alone do not need each iteration. */
static bool has_result(const simd *s) {
    bool any = false;
    foreach_in (simd_carried, c, s->carried) any |= c->kind != SIMD_PROGRESSION;
    return any;
}

bool simd_are_independent(simd *s) {
    const ir_loop *loop = s->scalar.loop;
    for (uint32_t k = 0; k < loop->nblocks; k++)
        foreach_inst (i, loop->block[k])
            if (pass_writes(i)) return simd_refuse(s, i, "its iterations write memory");
    return has_result(s) || simd_refuse(s, NULL, "it computes nothing");
}
