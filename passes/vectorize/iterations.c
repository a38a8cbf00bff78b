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
 * iterations have to be shown to be.  What goes from one to the next in phis of the header is known
 * to carried.c.  In memory, each store is compared with all other accesses of the loop:
 *
 *   apart       they never meet
 *   a record    both are strided, and lie within what one iteration steps over
 *   in order    both are contiguous, and what one iteration accesses first is accessed later by the
 *               instruction that comes later in the loop: lanes keep that order
 *
 * The lanes of one store are written in order, so a store need not be compared with itself.
 *
 * Before: all instructions are legal, and shapes are known.  The code is only looked at.
 * Cost: stores times accesses, which are few.
 */
#include "passes/analysis/alias.h"
#include "passes/vectorize/simd.h"

#include <stdlib.h>

enum { MOST_ACCESSES = 64, MOST_STORES = 8 };

typedef struct {
    simd *s;
    const pass_alias *alias;
    const ir_inst *access[MOST_ACCESSES]; /* in the order of the vector loop */
    unsigned n, stores;
} access_list;

/* Counters alone do not need each iteration. */
static bool has_result(const access_list *l) {
    bool any = l->stores > 0;
    foreach_in (simd_carried, c, l->s->carried) any |= c->kind != SIMD_PROGRESSION;
    return any;
}

static bool add_access(access_list *l, const ir_inst *i) {
    if (i->op != IR_OP_load && i->op != IR_OP_store)
        return !pass_writes(i) || simd_refuse(l->s, i, "its iterations write memory");
    l->stores += i->op == IR_OP_store;
    if (l->n == MOST_ACCESSES || l->stores > MOST_STORES)
        return simd_refuse(l->s, i, "it has too many accesses");
    l->access[l->n++] = i;
    return true;
}

static bool find_accesses(access_list *l) {
    const simd *s = l->s;
    for (uint32_t k = 0; k < s->n; k++) {
        if (s->node[k].kind != SIMD_BLOCK) continue;
        foreach_inst (i, s->node[k].block)
            if (!add_access(l, i)) return false;
    }
    return true;
}

/* Addresses of objects that are chosen in the loop may be those of another iteration. */
static bool is_known_object(const access_list *l, const ir_inst *p) {
    return !simd_is_inside(l->s, pass_object_of(l->alias, p));
}

static int64_t size_of(const access_list *l, const ir_inst *i) {
    return (int64_t)ir_access_size(l->s->f->module, simd_accessed(i));
}

/* Of two accesses with one stride, the later one in the order accesses `distance` bytes after the
 * earlier one. */
static bool is_in_order(const access_list *l, const ir_inst *earlier, const ir_inst *later,
                        int64_t distance) {
    int64_t stride = l->s->value[simd_address(earlier)->id].stride, way = llabs(stride);
    int64_t first = size_of(l, earlier), second = size_of(l, later);
    if (distance > INT32_MAX || distance < INT32_MIN) return false;
    int64_t from = distance < 0 ? distance : 0;
    int64_t to = distance + second > first ? distance + second : first;
    if (to - from <= way) return true;
    bool whole = first == way && second == way && distance % way == 0;
    return whole && distance / stride < 0;
}

static bool may_be_together(const access_list *l, unsigned x, unsigned y) {
    const simd *s = l->s;
    const ir_inst *p = simd_address(l->access[x]), *q = simd_address(l->access[y]);
    if (!is_known_object(l, p) || !is_known_object(l, q)) return false;
    const pass_relation r = pass_relate(l->alias, p, q);
    int64_t distance;
    if (r.how == PASS_APART) return true;
    if (!pass_find_step(l->alias, p, q, &distance)) return false;
    if (simd_shape_of(s, p) == SIMD_UNIFORM && simd_shape_of(s, q) == SIMD_UNIFORM)
        return distance >= size_of(l, l->access[x]) || -distance >= size_of(l, l->access[y]);
    bool strided = simd_shape_of(s, p) == SIMD_STRIDED && simd_shape_of(s, q) == SIMD_STRIDED;
    return strided && s->value[p->id].stride == s->value[q->id].stride &&
           is_in_order(l, l->access[x], l->access[y], distance);
}

bool simd_are_independent(simd *s) {
    access_list l = {.s = s};
    if (!find_accesses(&l)) return false;
    if (!has_result(&l)) return simd_refuse(s, NULL, "it computes nothing");
    if (l.stores) l.alias = simd_find_aliases(s);
    for (unsigned y = 0; y < l.n && l.stores; y++)
        for (unsigned x = 0; x < y; x++) {
            bool stores = l.access[x]->op == IR_OP_store || l.access[y]->op == IR_OP_store;
            if (stores && !may_be_together(&l, x, y))
                return simd_refuse(s, l.access[y], "iterations may access what others write");
        }
    return true;
}
