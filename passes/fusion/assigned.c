/* assigned.c — definite assignment: is every byte of a promoted buffer written before it is read?
 *
 * All accesses have places in the part of an item or of a group (layout.c).  A write counts for a
 * read if every item that gets to the read has executed the write.  The write must be in an earlier
 * member, which runs on at least as many items, or dominate the read in the same member; and its
 * guards must hold for all items, or be among the guards of the read.  The bytes that such writes
 * fill without gaps must contain the bytes that are read.  A write in a loop fills what all
 * iterations write, if the loop ends only by counting and the read is not inside it.
 *
 * Memory of a group is filled by all its items together, so the member must run whole groups.  Its
 * guards may select items if each compares one local id with a number.  Those that hold select a
 * box of items, [first, last] in each dimension, and every group has all of them, since its local
 * ids take all combinations of values.  If the box is not empty, the write fills what the items of
 * the box fill: local ids count from first to last there.  All other guards must be the same for
 * all items of the group, and hold whenever those of the reader do.
 */
#include "passes/fusion/fuse_impl.h"

enum { MAX_SIDES = 512 };

typedef struct {
    int64_t from, to;
} interval;

typedef ir_vec(interval) intervals;

typedef struct {
    const pass_layout *layout;
    const pass_side *sides;
    uint32_t n;
    pass_guards *guards; /* by side */
    ir_arena *a;
} assignment;

static bool is_by_group(const assignment *q) { return q->layout->basis == PASS_BY_GROUP; }

/* ------------------------------------------------------------------------------ boxes of items */

/* Local ids, in each dimension. */
typedef struct {
    int64_t first[3], last[3];
} box;

static box whole_group(const ir_range *r) {
    box b = {{0}, {0}};
    for (unsigned d = 0; d < 3; d++) b.last[d] = (int64_t)pass_local_size(r, d) - 1;
    return b;
}

/* Is f local id d plus a number, and as the test sees it? */
static bool is_local_id(const box *all, const pass_guard *g, const pass_affine *f, unsigned *d) {
    unsigned bits = ir_bits(NULL, ir_arg(g->test, 0)->type);
    int64_t most = bits > 62 ? INT64_MAX / 2 : (INT64_C(1) << (bits - 1)) - 1;
    if (f->n != 1 || f->term[0].of.kind != IR_OP_local_id || f->term[0].of.value) return false;
    *d = f->term[0].of.index;
    return f->term[0].factor == 1 && f->constant >= 0 && f->constant <= most - all->last[*d];
}

/* Is f a number that the test sees as it is, signed or not? */
static bool is_number(const pass_guard *g, const pass_affine *f) {
    unsigned bits = ir_bits(NULL, ir_arg(g->test, 0)->type);
    int64_t most = bits > 62 ? INT64_MAX / 2 : (INT64_C(1) << (bits - 1)) - 1;
    return !f->n && f->constant >= 0 && f->constant <= most;
}

/* Leaves the items of b for which a guard holds; false: it compares something else. */
static bool limit_box(const box *all, const pass_guard *g, box *b) {
    unsigned d;
    if (!g->compares) return false;
    bool left = is_local_id(all, g, &g->left, &d) && is_number(g, &g->right);
    if (!left && !(is_local_id(all, g, &g->right, &d) && is_number(g, &g->left))) return false;
    const pass_affine *id = left ? &g->left : &g->right, *number = left ? &g->right : &g->left;
    int64_t n = number->constant - id->constant, low = INT64_MIN, high = INT64_MAX;
    bool equal = g->test->op == (g->holds ? IR_OP_eq : IR_OP_ne);
    bool strict = g->test->op == IR_OP_slt || g->test->op == IR_OP_ult;
    bool less = strict || g->test->op == IR_OP_sle || g->test->op == IR_OP_ule;
    if (equal)
        low = high = n;
    else if (!less)
        return false;
    else if (left == g->holds) /* id < n, or not n < id */
        high = n - (strict == g->holds);
    else
        low = n + (strict == g->holds);
    if (low > b->first[d]) b->first[d] = low;
    if (high < b->last[d]) b->last[d] = high;
    return true;
}

/* The items of each group that guards of local ids let through; false: none. */
static bool find_box(const assignment *q, uint32_t w, box *out) {
    const box all = whole_group(q->sides[w].of->launch.range);
    bool any = true;
    *out = all;
    for (uint32_t k = 0; k < q->guards[w].list.n; k++)
        limit_box(&all, &q->guards[w].list.data[k], out);
    for (unsigned d = 0; d < 3; d++) any &= out->first[d] <= out->last[d];
    return any;
}

/* --------------------------------------------------------------------------------------- filled */

/* Has the loop of a counter made all its iterations, the write in each, before an item gets to r?
 * For a write of another member, guards have shown that it is in each. */
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

/* A write, by the items of a box, and a later read. */
typedef struct {
    const pass_side *write, *read;
    box items;
} filling;

/* Has the term counted through all its values before an item gets to the read? */
static bool is_complete(const assignment *q, const filling *f, const pass_symbol *s) {
    if (s->kind == IR_OP_phi) return ends_before(f->write, f->read, s->value);
    return s->kind == IR_OP_local_id && !s->value && is_by_group(q);
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

/* The values that a symbol has in all the items that write. */
static bool find_values(const assignment *q, const filling *f, const pass_symbol *s,
                        interval *out) {
    const pass_side *w = f->write;
    if (s->kind == IR_OP_local_id && !s->value && is_by_group(q)) {
        *out = (interval){f->items.first[s->index], f->items.last[s->index]};
        return true;
    }
    return pass_symbol_bounds(&w->of->launch, s, w->access->at->block, &out->from, &out->to);
}

/* What a write of a part of its bytes has filled before the read; false: it leaves gaps. */
static bool find_filled(const assignment *q, const filling *f, interval part, interval *out) {
    bool used[PASS_MAX_TERMS] = {false};
    pass_affine at;
    interval of;
    ir_i128 least, reach = part.to - part.from;
    if (!pass_find_position(q->layout, f->write, &at)) return false;
    least = (ir_i128)at.constant + part.from;
    for (uint32_t k; (k = least_term(&at, used)) < at.n; used[k] = true) {
        int64_t factor = at.term[k].factor, step = (int64_t)pass_magnitude(factor);
        if (step < 0 || !find_values(q, f, &at.term[k].of, &of)) return false;
        if (of.to > of.from && (!is_complete(q, f, &at.term[k].of) || step > reach)) return false;
        reach += step * ((ir_i128)of.to - of.from);
        least += (ir_i128)factor * (factor < 0 ? of.to : of.from);
        if (reach > INT64_MAX / 2 || least > INT64_MAX / 2 || least < INT64_MIN / 2) return false;
    }
    *out = (interval){(int64_t)least, (int64_t)(least + reach)};
    return true;
}

/* ------------------------------------------------------------------------------- happens before */

static bool is_group_uniform(const pass_affine *f) {
    for (uint32_t k = 0; k < f->n; k++) {
        const pass_symbol *s = &f->term[k].of;
        if (s->value || (s->kind != IR_OP_group_id && s->kind != IR_OP_param)) return false;
    }
    return true;
}

static bool is_implied(const assignment *q, uint32_t w, uint32_t r, const pass_guard *g) {
    const pass_summary *a = q->sides[w].of, *b = q->sides[r].of;
    if (pass_is_always_true(&a->launch, g)) return true;
    const box all = whole_group(a->launch.range);
    box some = all;
    if (is_by_group(q) && limit_box(&all, g, &some)) return true; /* the items of find_box */
    bool uniform = g->compares && is_group_uniform(&g->left) && is_group_uniform(&g->right);
    if (a->remapped || b->remapped || (is_by_group(q) && !uniform)) return false;
    return pass_has_guard(&q->guards[r], g);
}

/* Does the member of w, an earlier one, run on all items (or in all groups) of r's? */
static bool runs_everywhere(const assignment *q, const pass_side *w, const pass_side *r) {
    const ir_range *writer = w->of->launch.range, *reader = r->of->launch.range;
    if (pass_range_items(writer) < pass_range_items(reader)) return false;
    for (unsigned d = 0; d < writer->dims && is_by_group(q); d++)
        if (!ir_has_local_size(writer) || writer->global[d] % writer->local[d]) return false;
    return true;
}

static bool dominates(const pass_side *w, const pass_side *r) {
    return ir_value_dominates(ir_dominators(w->of->launch.kernel), w->access->at, r->access->at);
}

/* Has every item that gets to r made the write w? */
static bool is_before(const assignment *q, uint32_t w, uint32_t r) {
    const pass_side *x = &q->sides[w], *y = &q->sides[r];
    if (x->of > y->of || !q->guards[w].exact) return false;
    if (x->of == y->of && !dominates(x, y)) return false;
    if (x->of == y->of && !is_by_group(q)) return true;
    if (!runs_everywhere(q, x, y)) return false;
    for (uint32_t k = 0; k < q->guards[w].list.n; k++)
        if (!is_implied(q, w, r, &q->guards[w].list.data[k])) return false;
    return true;
}

/* -------------------------------------------------------------------------------------- reading */

/* Are both at the same place whenever the item gets from w to r?  What the place is made of
 * dominates w, so when it changes the item passes w again before r. */
static bool is_same_place(const assignment *q, uint32_t w, uint32_t r) {
    const pass_side *x = &q->sides[w], *y = &q->sides[r];
    pass_affine a, b;
    if (x->of != y->of || is_by_group(q) || x->access->size < y->access->size) return false;
    if (!pass_find_position(q->layout, x, &a) || !pass_find_position(q->layout, y, &b))
        return false;
    return pass_is_same_form(&a, &b) && dominates(x, y);
}

/* Are both at the same place, which depends on local ids only?  Then a group has written what it
 * reads. */
static bool is_same_set(const assignment *q, uint32_t w, uint32_t r) {
    const pass_side *x = &q->sides[w], *y = &q->sides[r];
    pass_affine a, b;
    const box all = whole_group(x->of->launch.range);
    box some;
    if (!is_by_group(q) || x->access->size < y->access->size || !is_before(q, w, r)) return false;
    if (!find_box(q, w, &some) || memcmp(&some, &all, sizeof all) != 0) return false;
    if (!pass_find_position(q->layout, x, &a) || !pass_find_position(q->layout, y, &b))
        return false;
    for (uint32_t k = 0; k < a.n; k++)
        if (a.term[k].of.kind != IR_OP_local_id || a.term[k].of.value) return false;
    return pass_is_same_form(&a, &b);
}

/* Intervals cover [from, to): each round takes what begins at or before the end of what is
 * covered. */
static bool is_covered(const intervals *by, int64_t from, int64_t to) {
    bool moved = true;
    while (from < to && moved) {
        moved = false;
        for (uint32_t k = 0; k < by->n; k++) {
            if (by->data[k].from > from || by->data[k].to <= from) continue;
            from = by->data[k].to;
            moved = true;
        }
    }
    return from >= to;
}

static bool writes(const pass_side *s) {
    return (s->access->kind & (PASS_READS | PASS_WRITES)) == PASS_WRITES;
}

/* The bytes of the lanes with a bit, in runs; all bytes of an access that is no vector. */
static void find_parts(const assignment *q, const pass_side *s, uint64_t lanes, intervals *out) {
    const ir_inst *i = s->access->at;
    unsigned n = ir_lanes(i->op == IR_OP_store ? ir_arg(i, 0)->type : i->type);
    int64_t size = (int64_t)s->access->size / n;
    if (lanes == UINT64_MAX) n = 1;
    if (lanes == UINT64_MAX) size = (int64_t)s->access->size;
    for (unsigned k = 0, end; k < n; k = end + 1) {
        for (end = k; end < n && lanes >> end & 1;) end++;
        if (end > k) *ir_push(q->a, out) = (interval){k * size, end * size};
    }
}

/* Adds what a write has filled before r. */
static void add_filled(const assignment *q, uint32_t w, uint32_t r, intervals *filled) {
    intervals parts = {0};
    interval part;
    filling f = {.write = &q->sides[w], .read = &q->sides[r]};
    if (!is_before(q, w, r) || (is_by_group(q) && !find_box(q, w, &f.items))) return;
    find_parts(q, &q->sides[w], pass_changed_lanes(&q->sides[w]), &parts);
    for (uint32_t k = 0; k < parts.n; k++)
        if (find_filled(q, &f, parts.data[k], &part)) *ir_push(q->a, filled) = part;
}

static bool is_assigned(const assignment *q, uint32_t r) {
    const pass_side *read = &q->sides[r];
    intervals filled = {0}, parts = {0};
    pass_affine f;
    int64_t low, high;
    for (uint32_t w = 0; w < q->n; w++) {
        if (!writes(&q->sides[w])) continue;
        uint64_t lanes = pass_changed_lanes(&q->sides[w]);
        bool all =
            lanes == UINT64_MAX || lanes == pass_all_lanes(ir_arg(q->sides[w].access->at, 0)->type);
        if (all && (is_same_place(q, w, r) || is_same_set(q, w, r))) return true;
        add_filled(q, w, r, &filled);
    }
    if (!pass_find_position(q->layout, read, &f)) return false;
    if (!pass_affine_bounds(&read->of->launch, &f, read->access->at->block, &low, &high))
        return false;
    find_parts(q, read, pass_used_lanes(read), &parts);
    bool covered = true;
    for (uint32_t k = 0; k < parts.n; k++)
        covered &= is_covered(&filled, low + parts.data[k].from, high + parts.data[k].to);
    return covered;
}

const pass_side *pass_find_unassigned(const pass_layout *l, const pass_side *sides, uint32_t n,
                                      ir_arena *scratch) {
    assignment q = {l, sides, n, ir_new_array(scratch, pass_guards, n), scratch};
    for (uint32_t k = 0; k < n && n <= MAX_SIDES; k++)
        pass_find_guards(&sides[k].of->launch, sides[k].access->at->block, scratch, &q.guards[k]);
    for (uint32_t k = 0; k < n; k++)
        if (sides[k].access->kind & PASS_READS && (n > MAX_SIDES || !is_assigned(&q, k)))
            return &sides[k];
    return NULL;
}
