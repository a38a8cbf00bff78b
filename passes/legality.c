/* legality.c — may the bodies of two members run one after the other in each work-item?
 *
 * Unfused, all of A ends before B begins.  Fused, an item knows only that its own A has ended, and
 * behind a barrier that its work-group's has.  So for each pair of accesses, one in A and one in B,
 * at least one a write, that may touch the same byte:
 *   item   only one and the same item can touch it from both sides: nothing is needed
 *   group  only items of one work-group can: a barrier is needed
 *   grid   items of different work-groups can: not fused
 *   unknown  the addresses are not understood: not fused, unless the caller knows better
 *
 * The proof compares the offsets (affine.c) as functions of the item.  With equal factors for every
 * id, two items touch the same bytes only if |sum of factor * distance| is less than the width W
 * that constants, loops and sizes make.  Distances are bounded by the sizes of the range; so when
 * the smallest factor is at least W, and each greater one at least W more than all smaller ones
 * together can reach, there is no such pair of different items (a mixed-radix number system).  For
 * groups the same is asked of group ids, and local ids count to the width.
 *
 * A shorter way: equal offsets, where the side that writes always does.  Two different items with
 * one address would have raced within that kernel alone, which programs must not.
 *
 * Arguments that are not identical are different memory.  A remapped member is compared by the
 * linear id, where its offset is a multiple of that.
 */
#include "passes/passes.h"

/* An offset over the ids of a basis; what is left are constants, loops and arguments. */
typedef struct {
    int64_t factor[3];
    uint64_t size[3]; /* of the id; the distance between two is less */
    pass_affine rest;
} based;

typedef struct {
    const pass_launch *launch;
    const pass_access *access;
    bool remapped;
} side;

/* ---------------------------------------------------------------------------------------- bases */

static bool take_term(pass_affine *f, ir_op kind, unsigned d, int64_t *factor) {
    *factor = 0;
    for (uint32_t k = 0; k < f->n; k++) {
        if (f->term[k].of.kind != kind || f->term[k].of.index != d || f->term[k].of.value) continue;
        *factor = f->term[k].factor;
        f->term[k] = f->term[--f->n];
        return true;
    }
    return false;
}

/* By global ids. */
static void split_by_item(const side *s, based *b) {
    *b = (based){.rest = s->access->offset};
    for (unsigned d = 0; d < 3; d++) {
        take_term(&b->rest, IR_OP_global_id, d, &b->factor[d]);
        b->size[d] = pass_global_size(s->launch->range, d);
    }
}

/* By the linear id, of which ids x fastest are the digits; false: the offset is no multiple. */
static bool split_by_linear(const side *s, based *b) {
    based ids;
    uint64_t stride = 1;
    bool found = false;
    split_by_item(s, &ids);
    *b = (based){.rest = ids.rest, .size = {pass_range_items(s->launch->range), 1, 1}};
    for (unsigned d = 0; d < 3; d++) {
        if (ids.size[d] == 1) continue;
        if (!found) b->factor[0] = ids.factor[d];
        found = true;
        if ((ir_i128)ids.factor[d] != (ir_i128)b->factor[0] * (ir_i128)stride) return false;
        stride *= ids.size[d];
    }
    int64_t linear;
    if (take_term(&b->rest, IR_OP_global_linear_id, 0, &linear)) b->factor[0] += linear;
    return true;
}

/* By group ids; local ids stay in the rest.  False: the local size is not known. */
static bool split_by_group(const side *s, based *b) {
    const pass_range *r = s->launch->range;
    if (!r->has_local || s->remapped) return false;
    *b = (based){.rest = s->access->offset};
    for (unsigned d = 0; d < 3; d++) {
        int64_t global, group, local_size = d < r->dims ? (int64_t)r->local[d] : 1;
        take_term(&b->rest, IR_OP_global_id, d, &global);
        take_term(&b->rest, IR_OP_group_id, d, &group);
        b->factor[d] = ir_wrap_add(ir_wrap_mul(global, local_size), group);
        b->size[d] = (pass_global_size(r, d) - 1) / (uint64_t)local_size + 1;
        if (!global) continue;
        const pass_affine local = {.term = {{{IR_OP_local_id, d, NULL}, 1}}, .n = 1};
        if (!pass_affine_add(&b->rest, &local, global)) return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------- proof */

static uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

/* The width in which the two sides can meet: arguments cancel, everything else is bounded. */
static bool find_width(const side *a, const based *x, const side *b, const based *y,
                       uint64_t *width) {
    pass_affine common = {0}, mine = x->rest, yours = y->rest;
    int64_t low_a, high_a, low_b, high_b;
    for (uint32_t k = 0; k < x->rest.n; k++)
        if (x->rest.term[k].of.kind == IR_OP_param && !x->rest.term[k].of.value)
            common.term[common.n++] = x->rest.term[k];
    if (!pass_affine_add(&mine, &common, -1) || !pass_affine_add(&yours, &common, -1)) return false;
    if (!a->access->size || !b->access->size) return false;
    if (!pass_affine_bounds(a->launch, &mine, a->access->at->block, &low_a, &high_a)) return false;
    if (!pass_affine_bounds(b->launch, &yours, b->access->at->block, &low_b, &high_b)) return false;
    ir_i128 up = (ir_i128)high_a + (ir_i128)a->access->size - low_b;
    ir_i128 down = (ir_i128)high_b + (ir_i128)b->access->size - low_a;
    ir_i128 most = up > down ? up : down;
    *width = most < 1 ? 1 : (uint64_t)most;
    return most <= INT64_MAX;
}

/* The dimension with the least factor among those not used yet; 3: none. */
static unsigned least_factor(const based *x, const bool used[3]) {
    unsigned least = 3;
    for (unsigned d = 0; d < 3; d++) {
        if (used[d] || x->size[d] < 2) continue;
        if (least == 3 || magnitude(x->factor[d]) < magnitude(x->factor[least])) least = d;
    }
    return least;
}

static ir_i128 address_space(const side *s) {
    return (ir_i128)1 << s->launch->kernel->module->pointer_bits;
}

/* Can no two different ids be closer than the width?  Not around the end of the address space
 * either: offsets are equal modulo its size. */
static bool is_apart(const side *s, const based *x, uint64_t width) {
    bool used[3] = {false};
    ir_i128 reach = 0;
    for (unsigned d; (d = least_factor(x, used)) < 3; used[d] = true) {
        ir_i128 factor = magnitude(x->factor[d]);
        if (factor < reach + width) return false;
        reach += factor * (ir_i128)(x->size[d] - 1);
        if (reach + width > address_space(s)) return false;
    }
    return true;
}

static void widen_sizes(based *x, const based *y) {
    for (unsigned d = 0; d < 3; d++)
        if (y->size[d] > x->size[d]) x->size[d] = y->size[d];
}

static bool is_proved(const side *a, based *x, const side *b, const based *y) {
    uint64_t width;
    for (unsigned d = 0; d < 3; d++)
        if (x->factor[d] != y->factor[d]) return false;
    widen_sizes(x, y);
    return find_width(a, x, b, y, &width) && is_apart(a, x, width);
}

static bool is_item_local(const side *a, const side *b) {
    based x, y;
    if (split_by_linear(a, &x) && split_by_linear(b, &y) && is_proved(a, &x, b, &y)) return true;
    if (a->remapped || b->remapped) return false;
    split_by_item(a, &x);
    split_by_item(b, &y);
    return is_proved(a, &x, b, &y);
}

static bool is_group_local(const side *a, const side *b) {
    based x, y;
    return split_by_group(a, &x) && split_by_group(b, &y) && is_proved(a, &x, b, &y);
}

/* --------------------------------------------------------------------------- the shorter way */

static bool is_id_or_param(const pass_affine *f) {
    for (uint32_t k = 0; k < f->n; k++)
        if (f->term[k].of.value) return false;
    return true;
}

static bool covers(const pass_range *writer, const pass_range *other) {
    for (unsigned d = 0; d < 3; d++)
        if (pass_global_size(other, d) > pass_global_size(writer, d)) return false;
    return true;
}

/* Does w write, always, at the same offset as o, so that another item at that place is a race? */
static bool would_race(const side *w, const side *o) {
    pass_affine difference = w->access->offset;
    if (!(w->access->kind & PASS_WRITES) || w->access->kind & PASS_ATOMIC) return false;
    if (!w->access->always || !w->access->size || w->access->size != o->access->size) return false;
    if (w->remapped || o->remapped || !covers(w->launch->range, o->launch->range)) return false;
    return is_id_or_param(&w->access->offset) &&
           pass_affine_add(&difference, &o->access->offset, -1) && difference.n == 0 &&
           difference.constant == 0;
}

/* --------------------------------------------------------------------------------- dependences */

/* Is everything in the offset an id or bounded, so that what is not proved is probably so? */
static bool is_understood(const side *s) {
    int64_t low, high;
    return s->access->object && s->access->size &&
           pass_affine_bounds(s->launch, &s->access->offset, s->access->at->block, &low, &high);
}

/* Do the two sides touch different parts of the object, whatever the items? */
static bool never_meet(const side *a, const side *b) {
    int64_t low_a, high_a, low_b, high_b;
    if (!is_understood(a) || !is_understood(b)) return false;
    pass_affine_bounds(a->launch, &a->access->offset, a->access->at->block, &low_a, &high_a);
    pass_affine_bounds(b->launch, &b->access->offset, b->access->at->block, &low_b, &high_b);
    ir_i128 end_a = (ir_i128)high_a + a->access->size, end_b = (ir_i128)high_b + b->access->size;
    if (end_a > low_b && end_b > low_a) return false;
    return (end_a > end_b ? end_a : end_b) - (low_a < low_b ? low_a : low_b) <= address_space(a);
}

static bool is_known_place(const side *s) { return s->access->object && s->access->size; }

static pass_dependence_kind classify(const side *a, const side *b) {
    if (!is_known_place(a) || !is_known_place(b)) return PASS_DEP_UNKNOWN;
    if (never_meet(a, b)) return PASS_DEP_NONE;
    if (would_race(a, b) || would_race(b, a) || is_item_local(a, b)) return PASS_DEP_ITEM;
    if (is_group_local(a, b)) return PASS_DEP_GROUP;
    return is_understood(a) && is_understood(b) ? PASS_DEP_GRID : PASS_DEP_UNKNOWN;
}

/* What an object is to the fused kernel: its argument, or a variable of the program. */
static uint64_t identity_of(const side *s) {
    const ir_inst *o = s->access->object;
    if (o->op == IR_OP_address) return (uintptr_t)o->imm.global;
    return s->launch->argument[o->imm.index];
}

/* Each body has variables in local memory of its own. */
static bool is_private_to_body(const side *s) {
    const ir_inst *o = s->access->object;
    return o && o->op == IR_OP_address && o->imm.global->space == IR_LOCAL;
}

static bool may_meet(const side *a, const side *b) {
    if (!((a->access->kind | b->access->kind) & PASS_WRITES)) return false;
    if (is_private_to_body(a) || is_private_to_body(b)) return false;
    return !a->access->object || !b->access->object || identity_of(a) == identity_of(b);
}

pass_dependence pass_find_dependence(const pass_summary *a, const pass_summary *b) {
    pass_dependence worst = {.kind = PASS_DEP_NONE};
    for (uint32_t i = 0; i < a->accesses.n; i++)
        for (uint32_t k = 0; k < b->accesses.n; k++) {
            const side x = {&a->launch, &a->accesses.data[i], a->remapped};
            const side y = {&b->launch, &b->accesses.data[k], b->remapped};
            if (!may_meet(&x, &y)) continue;
            pass_dependence_kind kind = classify(&x, &y);
            if (kind > worst.kind) worst = (pass_dependence){kind, x.access, y.access};
        }
    return worst;
}
