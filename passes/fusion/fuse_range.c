/* fuse_range.c — the nd-range of a fused kernel.
 *
 * The fused kernel runs with as many items as the largest member, in its shape; each smaller member
 * runs on the first items of it, counted by the linear global id with x fastest.  So the linear id
 * of an item is the same before and after fusion.  The rules, in the order in which they are tried:
 *
 *   every range     1 to 3 dimensions, no size 0, a 64-bit number of items, 64-bit ids; an explicit
 *                   local size divides the global size
 *   offset          the same for all
 *   local size      the same for all that give one; that one, or none
 *   global size     the one with most items; of those the most frequent; of those the
 *                   lexicographically greatest, x first; the number of dimensions is the greatest
 *   groups          the local size divides that global size
 *   ids             where the shape of a member is not a prefix of the fused one its ids have to be
 *                   computed from the linear id; that needs offset 0 and no explicit local size
 *
 * A member's ids need no computation (pass_same_ids) when its sizes equal the fused ones up to some
 * dimension, where it may end earlier, and are 1 beyond: {256} in {512}, {8,4} in {8,8}, but not
 * {4,8} in {8,8}.
 */
#include "passes/fusion/fuse_impl.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- a member in the fused range */

bool pass_same_ids(const ir_range *member, const ir_range *fused) {
    unsigned d = 0;
    while (d < 3 && pass_global_size(member, d) == pass_global_size(fused, d)) d++;
    if (d == 3) return true;
    if (pass_global_size(member, d) > pass_global_size(fused, d)) return false;
    while (++d < 3)
        if (pass_global_size(member, d) != 1) return false;
    return true;
}

/* A member with as many items as the fused kernel runs on all of them. */
bool pass_needs_guard(const ir_range *member, const ir_range *fused) {
    return pass_range_items(member) != pass_range_items(fused);
}

bool pass_has_whole_groups(const ir_range *member, const ir_range *fused) {
    for (unsigned d = 0; d < fused->dims; d++)
        if (!ir_has_local_size(fused) || pass_global_size(member, d) % fused->local[d])
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------- messages */

typedef struct {
    ir_ctx *cx;
    const pass_fuse_member *member;
    uint32_t n;
    ir_arena *scratch;
} ranges;

static const char *text_of(const ranges *q, uint32_t m) {
    ir_text t = {.arena = q->scratch};
    ir_putf(&t, "@%s ", q->member[m].kernel->name);
    pass_print_range(&t, &q->member[m].range);
    return t.data;
}

static bool fail_pair(const ranges *q, const char *what, uint32_t a, uint32_t b) {
    return ir_error(q->cx, "%s: %s, %s", what, text_of(q, a), text_of(q, b));
}

static bool fail_groups(const ranges *q, const ir_range *global, const ir_range *local, unsigned d,
                        uint32_t m) {
    return ir_error(q->cx, "work-groups would not be uniform (%llu %% %llu): %s",
                    (unsigned long long)pass_global_size(global, d),
                    (unsigned long long)pass_local_size(local, d), text_of(q, m));
}

/* ------------------------------------------------------------------------------------ the rules */

static bool is_sound(const ranges *q, uint32_t m) {
    const ir_range *r = &q->member[m].range;
    uint64_t product = 1;
    if (r->dims < 1 || r->dims > 3)
        return ir_error(q->cx, "@%s: an nd-range has 1 to 3 dimensions, not %u",
                        q->member[m].kernel->name, r->dims);
    for (unsigned d = 0; d < r->dims; d++) {
        if (r->global[d] == 0) return ir_error(q->cx, "empty nd-range: %s", text_of(q, m));
        if (r->global[d] > UINT64_MAX / product)
            return ir_error(q->cx, "too many work-items: %s", text_of(q, m));
        product *= r->global[d];
        if (r->offset[d] > UINT64_MAX - r->global[d])
            return ir_error(q->cx, "global ids would wrap: %s", text_of(q, m));
        if (!ir_has_local_size(r)) continue;
        if (r->local[d] == 0) return ir_error(q->cx, "local size 0: %s", text_of(q, m));
        if (r->global[d] % r->local[d]) return fail_groups(q, r, r, d, m);
    }
    return true;
}

static bool have_equal_offsets(const ranges *q) {
    for (uint32_t m = 1; m < q->n; m++)
        for (unsigned d = 0; d < 3; d++)
            if (pass_global_offset(&q->member[m].range, d) !=
                pass_global_offset(&q->member[0].range, d))
                return fail_pair(q, "offsets differ", 0, m);
    return true;
}

/* *source: the first member with an explicit local size, or n. */
static bool have_equal_locals(const ranges *q, uint32_t *source) {
    *source = q->n;
    for (uint32_t m = 0; m < q->n; m++) {
        if (!ir_has_local_size(&q->member[m].range)) continue;
        if (*source == q->n) *source = m;
        for (unsigned d = 0; d < 3; d++)
            if (pass_local_size(&q->member[m].range, d) !=
                pass_local_size(&q->member[*source].range, d))
                return fail_pair(q, "different local sizes", *source, m);
    }
    return true;
}

static int compare_sizes(const void *a, const void *b) {
    const ir_range *x = a, *y = b;
    for (unsigned d = 0; d < 3; d++)
        if (x->global[d] != y->global[d]) return x->global[d] < y->global[d] ? -1 : 1;
    return 0;
}

/* A copy of all ranges with three explicit sizes each, in lexicographic order. */
static ir_range *sorted_sizes(const ranges *q) {
    ir_range *sizes = ir_new_array(q->scratch, ir_range, q->n);
    for (uint32_t m = 0; m < q->n; m++) {
        sizes[m].dims = 3;
        for (unsigned d = 0; d < 3; d++)
            sizes[m].global[d] = pass_global_size(&q->member[m].range, d);
    }
    qsort(sizes, q->n, sizeof *sizes, compare_sizes);
    return sizes;
}

/* Equal sizes are neighbours, and the lexicographically greatest come last. */
static ir_range choose_size(const ranges *q) {
    const ir_range *sizes = sorted_sizes(q), *best = sizes;
    uint32_t best_count = 0;
    for (uint32_t m = 0, end; m < q->n; m = end) {
        for (end = m + 1; end < q->n && compare_sizes(&sizes[m], &sizes[end]) == 0;) end++;
        bool more = pass_range_items(&sizes[m]) > pass_range_items(best);
        if (!more && (pass_range_items(&sizes[m]) < pass_range_items(best) || end - m < best_count))
            continue;
        best = &sizes[m];
        best_count = end - m;
    }
    return *best;
}

static void copy_group(ir_range *fused, const ranges *q, uint32_t source) {
    const ir_range *first = &q->member[0].range;
    fused->dims = 1;
    for (uint32_t m = 0; m < q->n; m++)
        if (q->member[m].range.dims > fused->dims) fused->dims = q->member[m].range.dims;
    for (unsigned d = 0; d < 3; d++) {
        fused->offset[d] = pass_global_offset(first, d);
        fused->local[d] = source < q->n ? pass_local_size(&q->member[source].range, d) : 0;
    }
}

static bool has_uniform_groups(const ranges *q, const ir_range *fused, uint32_t source) {
    for (unsigned d = 0; ir_has_local_size(fused) && d < fused->dims; d++)
        if (fused->global[d] % fused->local[d]) return fail_groups(q, fused, fused, d, source);
    return true;
}

static bool can_remap(const ranges *q, const ir_range *fused) {
    for (uint32_t m = 0; m < q->n; m++) {
        const ir_range *r = &q->member[m].range;
        if (pass_same_ids(r, fused)) continue;
        if (pass_global_offset(r, 0) || pass_global_offset(r, 1) || pass_global_offset(r, 2))
            return ir_error(q->cx, "ids cannot be computed for a range with an offset: %s",
                            text_of(q, m));
        if (ir_has_local_size(r))
            return ir_error(q->cx, "ids cannot be computed for a range with a local size: %s",
                            text_of(q, m));
    }
    return true;
}

bool pass_fuse_range(ir_ctx *cx, const pass_fuse_member *members, uint32_t n, ir_arena *scratch,
                     ir_range *fused) {
    ranges q = {.cx = cx, .member = members, .n = n, .scratch = scratch};
    uint32_t source;
    if (n == 0) return ir_error(cx, "nothing to fuse");
    for (uint32_t m = 0; m < n; m++)
        if (!is_sound(&q, m)) return false;
    if (!have_equal_offsets(&q) || !have_equal_locals(&q, &source)) return false;
    *fused = choose_size(&q);
    copy_group(fused, &q, source);
    return has_uniform_groups(&q, fused, source) && can_remap(&q, fused);
}
