/* dependence.c — dependence analysis between two members.
 *
 * Unfused, all of A ends before B begins.  Fused, an item knows only that its own A has ended, and
 * after a barrier that the A of its work-group has ended.  So each pair of accesses, one in A and
 * one in B, at least one of them a write, is classified by which items may touch the same byte:
 *   item     only one and the same item: nothing is needed
 *   group    only items of one work-group: a barrier is needed
 *   grid     items of different work-groups: not fused
 *   unknown  an address is not understood: not fused, unless the caller knows better
 *
 * The proof is a layout (layout.c), by ids or linear id for items and by group ids for groups.  If
 * the fused kernel runs as one work-group, the class is `group` at most, wherever addresses lead.
 * This does not hold for images: within a kernel, no barrier makes writes of an image visible to
 * reads of it.
 *
 * That two items at one place would be a race within a single kernel proves nothing: programs rely
 * on all items writing the same value.
 *
 * Arguments that are not identical are different memory.  A remapped member is compared by the
 * linear id, if its offset is a multiple of that.
 */
#include "passes/analysis/alias.h"
#include "passes/fusion/fuse_impl.h"

/* ---------------------------------------------------------------------------------------- proof */

/* Can only one and the same item touch a byte from both sides? */
static bool is_within_items(const pass_side *a, const pass_side *b) {
    pass_layout layout;
    if (pass_is_own(a->of, pass_number_of_object(&a->of->launch, a->access))) return true;
    return pass_find_item_layout((const pass_side[]){*a, *b}, 2, &layout);
}

static bool is_within_groups(const pass_side *a, const pass_side *b) {
    pass_layout layout;
    return pass_find_layout((const pass_side[]){*a, *b}, 2, PASS_BY_GROUP, &layout);
}

/* ---------------------------------------------------------------------------------- dependences */

/* Do the two sides touch different parts of the object, whatever the items? */
static bool are_disjoint(const pass_side *a, const pass_side *b) {
    const pass_access *x = a->access, *y = b->access;
    if (!pass_is_understood(x) || !pass_is_understood(y)) return false;
    ir_i128 space = (ir_i128)1 << a->of->launch.kernel->module->pointer_bits;
    ir_i128 end_x = (ir_i128)x->high + x->size, end_y = (ir_i128)y->high + y->size;
    if (end_x > y->low && end_y > x->low) return false;
    return (end_x > end_y ? end_x : end_y) - (x->low < y->low ? x->low : y->low) <= space;
}

static bool is_known_place(const pass_side *s) { return s->access->object && s->access->size; }

/* Is it memory that a barrier orders? */
static bool is_memory(const pass_side *s) {
    return pass_is_accessed(s->access->at, s->access->arg);
}

static pass_dependence_kind classify(const pass_side *a, const pass_side *b) {
    bool known = is_known_place(a) && is_known_place(b), memory = is_memory(a) && is_memory(b);
    if (known && are_disjoint(a, b)) return PASS_DEP_NONE;
    if ((a->of->fused->one_item && memory) || (known && is_within_items(a, b)))
        return PASS_DEP_ITEM;
    if ((a->of->fused->one_group && memory) || (known && is_within_groups(a, b)))
        return PASS_DEP_GROUP;
    bool understood = known && pass_is_understood(a->access) && pass_is_understood(b->access);
    return understood ? PASS_DEP_GRID : PASS_DEP_UNKNOWN;
}

/* Do the two sides access one object, perhaps, and one of them writes? */
static bool may_conflict(const pass_side *a, const pass_side *b) {
    if (!pass_is_write(a->access) && !pass_is_write(b->access)) return false;
    if (pass_is_local_variable(a->access) || pass_is_local_variable(b->access)) return false;
    return !a->access->object || !b->access->object ||
           pass_number_of_object(&a->of->launch, a->access) ==
               pass_number_of_object(&b->of->launch, b->access);
}

static void keep_worse(pass_dependence *worst, const pass_dependence *d) {
    if (d->kind > worst->kind) *worst = *d;
}

void pass_keep_worse(pass_dependence *by_arg, const pass_dependence *d) {
    const pass_side *const sides[] = {&d->first, &d->second};
    for (unsigned n = 0; n < 2; n++) {
        uint32_t arg = sides[n]->of->fused->nargs;
        arg += sides[n]->access->object ? PASS_PROGRAM : PASS_ANYWHERE;
        pass_argument_of(&sides[n]->of->launch, sides[n]->access, &arg);
        keep_worse(&by_arg[arg], d);
    }
}

/* Compares one access with another; false: they do not depend on each other. */
static bool compare(const pass_side *x, const pass_side *y, pass_dependence *d) {
    *d = (pass_dependence){PASS_DEP_NONE, *x, *y};
    if (may_conflict(x, y)) d->kind = classify(x, y);
    return d->kind != PASS_DEP_NONE;
}

typedef struct {
    pass_dependence worst, *by_arg;
} worst_dependences;

static void add_pair(worst_dependences *w, const pass_side *x, const pass_side *y) {
    pass_dependence d;
    if (!compare(x, y, &d)) return;
    keep_worse(&w->worst, &d);
    pass_keep_worse(w->by_arg, &d);
}

pass_dependence pass_find_dependence(const pass_summary *a, const pass_summary *b,
                                     pass_dependence *by_arg) {
    worst_dependences w = {.by_arg = by_arg};
    for (uint32_t k = 0; k < a->accesses.n; k++) {
        const pass_side x = {a, &a->accesses.data[k]};
        if (!x.access->object || b->objects.has_unknown) {
            for (uint32_t n = 0; n < b->accesses.n; n++)
                add_pair(&w, &x, &(pass_side){b, &b->accesses.data[n]});
            continue;
        }
        pass_object_span span = pass_find_object(b, pass_number_of_object(&a->launch, x.access));
        for (; span.at < span.end; span.at++) add_pair(&w, &x, &(pass_side){b, span.at->access});
    }
    return w.worst;
}

pass_dependence pass_find_first_dependence(const pass_summary *a, pass_object_span x,
                                           const pass_summary *b, pass_object_span y) {
    pass_dependence d = {0};
    for (; x.at < x.end; x.at++)
        for (const pass_object_access *at = y.at; at < y.end; at++)
            if (compare(&(pass_side){a, x.at->access}, &(pass_side){b, at->access}, &d)) return d;
    return (pass_dependence){0};
}

static uint64_t count_all_pairs(const pass_accesses *a, const pass_accesses *b) {
    uint64_t writes_a = 0, writes_b = 0;
    for (uint32_t k = 0; k < a->n; k++) writes_a += pass_is_write(&a->data[k]);
    for (uint32_t k = 0; k < b->n; k++) writes_b += pass_is_write(&b->data[k]);
    return writes_a * b->n + a->n * writes_b;
}

uint64_t pass_count_pairs(const pass_summary *a, const pass_summary *b) {
    uint64_t pairs = 0;
    if (a->objects.has_unknown || b->objects.has_unknown)
        return count_all_pairs(&a->accesses, &b->accesses);
    for (uint32_t k = 0; k < a->objects.n; k++) {
        pass_object_span y = pass_find_object(b, a->objects.list[k].object);
        pairs += pass_is_write(a->objects.list[k].access)
                     ? (uint64_t)(y.end - y.at)
                     : y.end->writes_before - y.at->writes_before;
    }
    return pairs;
}
