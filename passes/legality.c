/* legality.c — may the bodies of two members run one after the other in each work-item?
 *
 * Unfused, all of A ends before B begins.  Fused, an item knows only that its own A has ended, and
 * after a barrier that its work-group's has.  So for each pair of accesses, one in A and one in B,
 * at least one a write, that may touch the same byte:
 *   item   only one and the same item can touch it from both sides: nothing is needed
 *   group  only items of one work-group can: a barrier is needed
 *   grid   items of different work-groups can: not fused
 *   unknown  the addresses are not understood: not fused, unless the caller knows better
 *
 * The proof is a layout (layout.c): by ids or linear id for items, by group ids for groups.  Where
 * the fused kernel runs as one work-group, it does not matter which items touch what: all are of
 * that group, wherever addresses lead.  Images are not meant: within a kernel, no barrier makes
 * what was written to one visible to reads of it.
 *
 * That two items at one place would have raced within a kernel alone proves nothing: when all write
 * the same value there, programs rely on it.
 *
 * Arguments that are not identical are different memory.  A remapped member is compared by the
 * linear id, where its offset is a multiple of that.
 */
#include "passes/alias.h"
#include "passes/fuse_impl.h"

/* ---------------------------------------------------------------------------------------- proof */

static bool is_item_local(const pass_side *a, const pass_side *b) {
    pass_layout layout;
    uint32_t arg;
    if (pass_argument_of(&a->of->launch, a->access, &arg) && a->of->own[arg]) return true;
    return pass_find_item_layout((const pass_side[]){*a, *b}, 2, &layout);
}

static bool is_group_local(const pass_side *a, const pass_side *b) {
    pass_layout layout;
    return pass_find_layout((const pass_side[]){*a, *b}, 2, PASS_BY_GROUP, &layout);
}

/* ---------------------------------------------------------------------------------- dependences */

/* Do the two sides touch different parts of the object, whatever the items? */
static bool never_meet(const pass_side *a, const pass_side *b) {
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
    if (known && never_meet(a, b)) return PASS_DEP_NONE;
    if ((a->of->one_item && memory) || (known && is_item_local(a, b))) return PASS_DEP_ITEM;
    if ((a->of->one_group && memory) || (known && is_group_local(a, b))) return PASS_DEP_GROUP;
    bool understood = known && pass_is_understood(a->access) && pass_is_understood(b->access);
    return understood ? PASS_DEP_GRID : PASS_DEP_UNKNOWN;
}

/* What an object is to the fused kernel: its argument, or a variable of the program. */
static uint64_t identity_of(const pass_side *s) {
    uint32_t arg;
    if (pass_argument_of(&s->of->launch, s->access, &arg)) return arg;
    return (uintptr_t)s->access->object->imm.global;
}

static bool may_meet(const pass_side *a, const pass_side *b) {
    if (!((a->access->kind | b->access->kind) & PASS_WRITES)) return false;
    if (pass_is_local_variable(a->access) || pass_is_local_variable(b->access)) return false;
    return !a->access->object || !b->access->object || identity_of(a) == identity_of(b);
}

static void keep_worse(pass_dependence *worst, const pass_dependence *d) {
    if (d->kind > worst->kind) *worst = *d;
}

void pass_keep_worse(pass_dependence *by_arg, const pass_dependence *d) {
    const pass_side *const sides[] = {&d->first, &d->second};
    for (unsigned n = 0; n < 2; n++) {
        uint32_t arg = sides[n]->of->nargs;
        arg += sides[n]->access->object ? PASS_PROGRAM : PASS_ANYWHERE;
        pass_argument_of(&sides[n]->of->launch, sides[n]->access, &arg);
        keep_worse(&by_arg[arg], d);
    }
}

pass_dependence pass_find_dependence(const pass_summary *a, const pass_summary *b,
                                     pass_dependence *by_arg) {
    pass_dependence worst = {.kind = PASS_DEP_NONE};
    for (uint32_t i = 0; i < a->accesses.n; i++)
        for (uint32_t k = 0; k < b->accesses.n; k++) {
            pass_dependence d = {.first = {a, &a->accesses.data[i]},
                                 .second = {b, &b->accesses.data[k]}};
            if (!may_meet(&d.first, &d.second)) continue;
            d.kind = classify(&d.first, &d.second);
            keep_worse(&worst, &d);
            pass_keep_worse(by_arg, &d);
        }
    return worst;
}
