/* far.c — accesses whose lanes are in lines of memory far from each other.
 *
 * Items that go along rows of their own use the elements of a line one after the other.  As lanes
 * they need as many lines at once as there are lanes, until the next round.  If rows are about a
 * multiple of a large power of two apart, these are in few sets of the nearest cache, and each line
 * is fetched again for each element.
 *
 * The width is chosen so that the lines of all lanes fit, down to half a register, or a whole one
 * where lanes leave the loop one by one, as its rounds take long.  What does not fit has a price,
 * and so has a gather of rows whose distance is only known when the kernel runs: it is often a
 * power of two.  Tiles use a line at once, and have no price.
 */
#include "passes/vectorize/groups.h"

#include <stdlib.h>

enum {
    LINE = 64, /* bytes */
    MAX_DEPTH = 8,
    MOST_ROWS = 8,  /* of one loop that are told apart */
    AGAIN = 40,     /* quarters of a cycle, to fetch the line of a lane in each round */
    PERHAPS = 20,   /* the same, if distances are not known */
    STEPS_FAR = 256 /* bytes: rounds of a loop use other lines */
};

/* ---------------------------------------------------------------------------------------- steps */

static bool is_in(const simd *s, const ir_inst *v, const ir_loop *loop) {
    return v->block && ir_in_loop(s->uniformity->loops, v->block, loop);
}

static uint64_t step_of_phi(const ir_inst *phi) {
    for (unsigned k = 0; k < phi->nargs; k++) {
        const ir_inst *next = ir_arg(phi, k);
        if ((next->op != IR_OP_add && next->op != IR_OP_ptradd) || ir_arg(next, 0) != phi) continue;
        const ir_inst *step = ir_arg(next, 1);
        return ir_is_const(step) ? (uint64_t)llabs(ir_signed_const(step)) : STEPS_FAR;
    }
    return STEPS_FAR;
}

/* By how much v changes in a round of the loop, at most; STEPS_FAR and more: it is far, or not
 * known. */
static uint64_t step_of(const simd *s, const ir_inst *v, const ir_loop *loop, unsigned depth) {
    if (!is_in(s, v, loop)) return 0;
    if (depth == MAX_DEPTH) return STEPS_FAR;
    const ir_inst *by = v->nargs > 1 ? ir_arg(v, 1) : NULL;
    switch (v->op) {
    case IR_OP_phi: return v->block == loop->header ? step_of_phi(v) : STEPS_FAR;
    case IR_OP_add:
    case IR_OP_sub:
    case IR_OP_ptradd:
        return step_of(s, ir_arg(v, 0), loop, depth + 1) + step_of(s, by, loop, depth + 1);
    case IR_OP_zext:
    case IR_OP_sext:
    case IR_OP_ptrcast: return step_of(s, ir_arg(v, 0), loop, depth + 1);
    case IR_OP_shl:
        if (!ir_is_const(by) || by->imm.bits >= MAX_DEPTH) return STEPS_FAR;
        return step_of(s, ir_arg(v, 0), loop, depth + 1) << by->imm.bits;
    default: return STEPS_FAR;
    }
}

/* ----------------------------------------------------------------------------------------- rows */

/* Is v a sum with the number of the item times what is the same for all items? */
static bool has_product(const simd *s, const ir_inst *v, unsigned depth) {
    if (!simd_is_inside(s, v) || depth == MAX_DEPTH) return false;
    switch (v->op) {
    case IR_OP_add:
    case IR_OP_sub:
    case IR_OP_ptradd:
        return has_product(s, ir_arg(v, 0), depth + 1) || has_product(s, ir_arg(v, 1), depth + 1);
    case IR_OP_shl:
    case IR_OP_zext:
    case IR_OP_sext:
    case IR_OP_ptrcast: return has_product(s, ir_arg(v, 0), depth + 1);
    case IR_OP_mul: {
        simd_shape x = simd_shape_of(s, ir_arg(v, 0)), y = simd_shape_of(s, ir_arg(v, 1));
        return (x == SIMD_STRIDED && y == SIMD_UNIFORM) || (x == SIMD_UNIFORM && y == SIMD_STRIDED);
    }
    default: return false;
    }
}

/* Does each lane of an access go along a row of its own in the loop? */
static bool goes_along_rows(const simd *s, const ir_inst *i, const ir_loop *loop) {
    if (i->op != IR_OP_load && i->op != IR_OP_store) return false;
    const ir_inst *p = simd_address(i);
    const simd_value *v = &s->value[p->id];
    if (!simd_is_inside(s, p) || simd_shape_of(s, p) == SIMD_UNIFORM || v->array) return false;
    uint64_t step = step_of(s, p, loop, 0);
    if (!step || step >= STEPS_FAR) return false;
    return v->shape == SIMD_STRIDED ? llabs(v->stride) >= LINE : has_product(s, p, 0);
}

/* ---------------------------------------------------------------------------------------- cache */

/* How many lines of lanes are in the same set of the nearest cache, at most. */
static unsigned find_fullest(const ir_target *t, int64_t stride, unsigned lanes) {
    uint64_t way = t->cache_bytes / t->cache_ways;
    uint64_t set[IR_MAX_LANES];
    unsigned most = 0;
    for (unsigned k = 0; k < lanes; k++) {
        unsigned same = 1;
        set[k] = (uint64_t)ir_wrap_mul(stride, k) % way / LINE;
        for (unsigned m = 0; m < k; m++) same += set[m] == set[k];
        if (same > most) most = same;
    }
    return most;
}

static const ir_inst *memory_of(const simd *s, const ir_inst *p) {
    while (simd_is_inside(s, p) && (p->op == IR_OP_ptradd || p->op == IR_OP_ptrcast))
        p = ir_arg(p, 0);
    return p;
}

static const ir_loop *inner_loop(const simd *s, uint32_t k) {
    const ir_loop *loop = s->node[k].loop;
    return s->node[k].kind == SIMD_BLOCK && loop != s->scalar.loop ? loop : NULL;
}

/* Does node k begin a part of an inner loop, the nodes between loops in it? */
static bool begins_loop(const simd *s, uint32_t k) {
    const ir_loop *loop = inner_loop(s, k);
    return loop && (!k || inner_loop(s, k - 1) != loop);
}

/* Are the lines of all lanes in the cache together, in the part of a loop from node k on?  Each
 * memory counts once. */
static bool are_in_cache(const simd *s, uint32_t k, unsigned lanes) {
    const ir_loop *loop = inner_loop(s, k);
    const ir_inst *seen[MOST_ROWS];
    unsigned n = 0, lines = 0;
    for (; k < s->n && inner_loop(s, k) == loop; k++)
        foreach_inst (i, s->node[k].block) {
            if (n == MOST_ROWS || !goes_along_rows(s, i, loop)) continue;
            const simd_value *v = &s->value[simd_address(i)->id];
            const ir_inst *memory = memory_of(s, simd_address(i));
            bool known = v->shape != SIMD_STRIDED;
            for (unsigned m = 0; m < n; m++) known |= seen[m] == memory;
            if (known) continue;
            seen[n++] = memory;
            lines += find_fullest(s->cx->target, v->stride, lanes);
        }
    return lines <= s->cx->target->cache_ways;
}

static bool has_cache(const simd *s) {
    return s->cx->target && s->cx->target->cache_ways && !s->scalar.is_innermost;
}

unsigned simd_lanes_in_cache(const simd *s, unsigned full) {
    unsigned most = IR_MAX_LANES;
    for (uint32_t k = 0; k < s->n && has_cache(s); k++) {
        if (!begins_loop(s, k)) continue;
        unsigned least = simd_diverges(s, inner_loop(s, k)) ? full : full / 2;
        while (most > least && !are_in_cache(s, k, most)) most /= 2;
    }
    return most;
}

/* ---------------------------------------------------------------------------------------- price */

static uint64_t price_block(const simd *s, const ir_block *b, const ir_loop *loop, bool crowded) {
    uint64_t sum = 0;
    foreach_inst (i, b) {
        if (!goes_along_rows(s, i, loop) || s->value[i->id].group) continue;
        bool is_known = s->value[simd_address(i)->id].shape == SIMD_STRIDED;
        sum += !is_known ? PERHAPS : crowded ? AGAIN : 0;
    }
    return sum * s->lanes;
}

uint64_t simd_price_far(const simd *s, const uint64_t *frequency) {
    uint64_t sum = 0;
    bool crowded = false;
    for (uint32_t k = 0; k < s->n && has_cache(s); k++) {
        const ir_loop *loop = inner_loop(s, k);
        if (!loop) continue;
        if (begins_loop(s, k)) crowded = !are_in_cache(s, k, s->lanes);
        sum += price_block(s, s->node[k].block, loop, crowded) * frequency[k];
    }
    return sum;
}
