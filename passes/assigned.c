/* assigned.c — is every byte of a promoted buffer written before it is read?
 *
 * All accesses have places in the part of an item or of a group (layout.c).  A write counts for a
 * read when every item that gets to the read has made the write: it is in an earlier member, which
 * runs on at least as many items, or it dominates the read in the same member; and its guards hold
 * for all items, or are among the guards of the read.  What such writes fill without gaps has to
 * contain what is read.  A write in a loop fills what all iterations do: the loop ends by counting
 * only, and the read is not inside.
 *
 * Memory of a group is filled by all its items together, so there the member has to run whole
 * groups, and guards must not tell items apart.
 */
#include "passes/fuse_impl.h"

enum { MAX_SIDES = 512 };

typedef struct {
    int64_t from, to;
} interval;

typedef struct {
    const pass_layout *layout;
    const pass_side *sides;
    uint32_t n;
    pass_guards *guards; /* by side */
    ir_arena *a;
} question;

static bool is_group(const question *q) { return q->layout->basis == PASS_BY_GROUP; }

/* --------------------------------------------------------------------------------------- filled */

/* Has the loop of a counter made all its iterations, the write in each, before an item gets to r?
 * Of another member's write the guards say that it is in each. */
static bool ends_before(const pass_side *w, const pass_side *r, const ir_inst *counter) {
    const pass_launch *l = &w->of->launch;
    const ir_loops *loops = ir_loop_tree(l->kernel);
    pass_counter c;
    if (!pass_find_counter(loops, counter, &c) || !pass_is_counted(l, c.loop)) return false;
    if (!ir_in_loop(loops, w->access->at->block, c.loop)) return false;
    if (w->of != r->of) return true;
    return !ir_in_loop(loops, r->access->at->block, c.loop) &&
           ir_block_dominates(ir_dominators(l->kernel), w->access->at->block, c.latch);
}

/* Has the term counted through all its values before an item gets to r? */
static bool is_complete(const question *q, const pass_side *w, const pass_side *r,
                        const pass_symbol *s) {
    if (s->kind == IR_OP_phi) return ends_before(w, r, s->value);
    return s->kind == IR_OP_local_id && !s->value && is_group(q);
}

/* The symbol of f that is not yet used and has the least factor; f->n: none. */
static uint32_t least_term(const pass_affine *f, const bool *used) {
    uint32_t least = f->n;
    for (uint32_t k = 0; k < f->n; k++) {
        if (used[k]) continue;
        if (least == f->n || (int64_t)pass_magnitude(f->term[k].factor) <
                                 (int64_t)pass_magnitude(f->term[least].factor))
            least = k;
    }
    return least;
}

/* What a write has filled before r; false: it leaves gaps. */
static bool find_filled(const question *q, const pass_side *w, const pass_side *r, interval *out) {
    const pass_launch *l = &w->of->launch;
    const ir_block *at = w->access->at->block;
    bool used[PASS_MAX_TERMS] = {false};
    pass_affine f;
    int64_t low, high, reach = (int64_t)w->access->size;
    if (!pass_find_position(q->layout, w, &f)) return false;
    for (uint32_t k; (k = least_term(&f, used)) < f.n; used[k] = true) {
        int64_t step = (int64_t)pass_magnitude(f.term[k].factor);
        if (!pass_symbol_bounds(l, &f.term[k].of, at, &low, &high)) return false;
        if (high > low && (!is_complete(q, w, r, &f.term[k].of) || step > reach)) return false;
        reach += step * (high - low);
    }
    if (!pass_affine_bounds(l, &f, at, &low, &high)) return false;
    *out = (interval){low, low + reach};
    return true;
}

/* ------------------------------------------------------------------------------- happens before */

static bool is_uniform(const pass_affine *f) {
    for (uint32_t k = 0; k < f->n; k++) {
        const pass_symbol *s = &f->term[k].of;
        if (s->value || (s->kind != IR_OP_group_id && s->kind != IR_OP_param)) return false;
    }
    return true;
}

/* Do all items of a group agree about a guard? */
static bool is_uniform_guard(const pass_guard *g) {
    return g->compares && is_uniform(&g->left) && is_uniform(&g->right);
}

static bool is_implied(const question *q, uint32_t w, uint32_t r, const pass_guard *g) {
    const pass_summary *a = q->sides[w].of, *b = q->sides[r].of;
    if (pass_is_always_true(&a->launch, g)) return true;
    if (a->remapped || b->remapped || (is_group(q) && !is_uniform_guard(g))) return false;
    return pass_has_guard(&q->guards[r], g);
}

static bool has_whole_groups(const pass_range *r) {
    for (unsigned d = 0; d < r->dims; d++)
        if (!r->has_local || r->global[d] % r->local[d]) return false;
    return true;
}

/* Does the member of w, an earlier one, run on all items (or in all groups) of r's? */
static bool runs_everywhere(const question *q, const pass_side *w, const pass_side *r) {
    const pass_range *writer = w->of->launch.range, *reader = r->of->launch.range;
    if (pass_range_items(writer) < pass_range_items(reader)) return false;
    return !is_group(q) || has_whole_groups(writer);
}

static bool dominates(const pass_side *w, const pass_side *r) {
    return ir_value_dominates(ir_dominators(w->of->launch.kernel), w->access->at, r->access->at);
}

/* Has every item that gets to r made the write w? */
static bool is_before(const question *q, uint32_t w, uint32_t r) {
    const pass_side *x = &q->sides[w], *y = &q->sides[r];
    if (x->of > y->of || !q->guards[w].exact) return false;
    if (x->of == y->of && !dominates(x, y)) return false;
    if (x->of == y->of && !is_group(q)) return true;
    if (!runs_everywhere(q, x, y)) return false;
    for (uint32_t k = 0; k < q->guards[w].list.n; k++)
        if (!is_implied(q, w, r, &q->guards[w].list.data[k])) return false;
    return true;
}

/* -------------------------------------------------------------------------------------- reading */

/* Are both at the same place whenever the item gets from w to r?  What the place is made of
 * dominates w, so when it changes the item passes w again before r. */
static bool is_same_place(const question *q, uint32_t w, uint32_t r) {
    const pass_side *x = &q->sides[w], *y = &q->sides[r];
    pass_affine a, b;
    if (x->of != y->of || is_group(q) || x->access->size < y->access->size) return false;
    if (!pass_find_position(q->layout, x, &a) || !pass_find_position(q->layout, y, &b))
        return false;
    return pass_is_same_form(&a, &b) && dominates(x, y);
}

/* Do local ids alone say where both are, and the same?  Then a group has written what it reads. */
static bool is_same_set(const question *q, uint32_t w, uint32_t r) {
    const pass_side *x = &q->sides[w], *y = &q->sides[r];
    pass_affine a, b;
    if (!is_group(q) || x->access->size < y->access->size || !is_before(q, w, r)) return false;
    if (!pass_find_position(q->layout, x, &a) || !pass_find_position(q->layout, y, &b))
        return false;
    for (uint32_t k = 0; k < a.n; k++)
        if (a.term[k].of.kind != IR_OP_local_id || a.term[k].of.value) return false;
    return pass_is_same_form(&a, &b);
}

/* Intervals cover [from, to): each round takes what begins at or before the end of what is
 * covered. */
static bool is_covered(const interval *by, uint32_t n, int64_t from, int64_t to) {
    bool moved = true;
    while (from < to && moved) {
        moved = false;
        for (uint32_t k = 0; k < n; k++) {
            if (by[k].from > from || by[k].to <= from) continue;
            from = by[k].to;
            moved = true;
        }
    }
    return from >= to;
}

static bool writes(const pass_side *s) {
    return (s->access->kind & (PASS_READS | PASS_WRITES)) == PASS_WRITES;
}

static bool is_assigned(const question *q, uint32_t r) {
    interval *filled = ir_new_array(q->a, interval, q->n);
    const pass_side *read = &q->sides[r];
    uint32_t n = 0;
    pass_affine f;
    int64_t low, high;
    for (uint32_t w = 0; w < q->n; w++) {
        if (!writes(&q->sides[w])) continue;
        if (is_same_place(q, w, r) || is_same_set(q, w, r)) return true;
        if (is_before(q, w, r) && find_filled(q, &q->sides[w], read, &filled[n])) n++;
    }
    if (!pass_find_position(q->layout, read, &f)) return false;
    if (!pass_affine_bounds(&read->of->launch, &f, read->access->at->block, &low, &high))
        return false;
    return is_covered(filled, n, low, high + (int64_t)read->access->size);
}

const pass_side *pass_find_unassigned(const pass_layout *l, const pass_side *sides, uint32_t n,
                                      ir_arena *scratch) {
    question q = {l, sides, n, ir_new_array(scratch, pass_guards, n), scratch};
    for (uint32_t k = 0; k < n && n <= MAX_SIDES; k++)
        pass_find_guards(&sides[k].of->launch, sides[k].access->at->block, scratch, &q.guards[k]);
    for (uint32_t k = 0; k < n; k++)
        if (sides[k].access->kind & PASS_READS && (n > MAX_SIDES || !is_assigned(&q, k)))
            return &sides[k];
    return NULL;
}
