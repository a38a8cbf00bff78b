/* regions_bounds.c — guards become bounds of the loops over items.
 *
 *   if (id < n) …, with nothing else in the region:  the loop over ids ends before n
 *   if (id > n) …                                    it begins after n
 *   if (n > 0) …                                     the loop is skipped if that does not hold
 *
 * A guard is a branch at the beginning of a region, before anything with an effect; items for which
 * it does not hold leave the region without one.  Its condition is a comparison of an id with a
 * value that is the same for the group, a test that is the same for the group, or a conjunction of
 * these.  Tests that have become bounds are removed; others remain.  Ids do not wrap, so for an id
 * that is base + counter, with a counter from 0,
 *   id < n   is   counter < n - base, or no iteration if n is less than base
 * A loop begins at the first id for which the opposite, id < n, does not hold.  A test for local id
 * 0 is a bound, too.
 *
 * In a sub-group, an id is that of the first item plus the lane.  A test with the same result for
 * all lanes is a guard; others bound the loop over lanes.  Both also bound the loop over
 * sub-groups, where the first item is the number of the sub-group times its size:
 *   first < n   is   sub-group < n / size, rounded up
 */
#include "passes/workgroup/regions_impl.h"

enum { MAX_TESTS = 8 };

typedef struct {
    const pass_group_builder *g;
    const pass_item_ids *ids;
    const pass_region_graph *graph;
    const pass_region *r;
    pass_item_loops *out;
    pass_hoister *hoister; /* which builds in the preheader */
} bounder;

/* A comparison that must hold. */
typedef struct {
    ir_op op;
    ir_inst *left, *right;
} test;

/* ------------------------------------------------------------------------------- tests of an id */

/* Is the sum of v and the id of an item an id of it?  It may have been computed again. */
static bool is_base(const bounder *c, const ir_inst *v) {
    for (uint32_t k = 0; k < c->ids->base.n; k++)
        if (c->ids->base.data[k] == v) return true;
    return false;
}

/* The dimension of the local id that v is, or -1. */
static int find_local_id(const bounder *c, const ir_inst *v) {
    if (v->op == IR_OP_trunc && v->type == IR_I32) v = ir_arg(v, 0);
    for (int d = 0; d < 3; d++)
        if (v == c->ids->id[d] && !ir_is_leaf(v)) return d;
    return -1;
}

/* The same for a local id plus a number.  Local ids are below 2^31, so nothing wraps. */
static int find_shifted_id(const bounder *c, const ir_inst *v, ir_inst **base) {
    if (v->op != IR_OP_add || !ir_is_const(ir_arg(v, 1))) return -1;
    uint64_t by = ir_arg(v, 1)->imm.bits;
    if (by > INT32_MAX) return -1;
    *base = pass_number(c->g, by);
    return find_local_id(c, ir_arg(v, 0));
}

/* The dimension of the id that v is, or -1; *base: its first value in this group, NULL for 0. */
static int find_id(const bounder *c, ir_inst *v, ir_inst **base) {
    bool cut = v->op == IR_OP_trunc && v->type == IR_I32;
    int local = find_local_id(c, v);
    *base = NULL;
    if (local < 0) local = find_shifted_id(c, v, base);
    if (local >= 0) return local;
    if (cut) v = ir_arg(v, 0);
    for (int d = 0; d < 3; d++) {
        const ir_inst *id = c->ids->id[d];
        if (v->op != IR_OP_add || ir_is_leaf(id)) continue;
        bool first = ir_arg(v, 0) == id;
        ir_inst *other = ir_arg(v, first);
        if (!(first || ir_arg(v, 1) == id) || !is_base(c, other)) continue;
        if (cut && !c->g->shape->small_ids && other != c->ids->first_x) continue;
        *base = other;
        return d;
    }
    return -1;
}

static ir_inst *build(bounder *c, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build2(&c->hoister->b, op, IR_I64, x, y);
}

/* The number that an id must be below for the test to hold. */
static ir_inst *find_limit(bounder *c, const test *t) {
    ir_inst *n = pass_hoist(c->hoister, t->right), *one = pass_number(c->g, 1),
            *zero = pass_number(c->g, 0);
    bool is_signed = t->op == IR_OP_slt || t->op == IR_OP_sle;
    if (n->type != IR_I64)
        n = ir_build1(&c->hoister->b, is_signed ? IR_OP_sext : IR_OP_zext, IR_I64, n);
    switch (t->op) {
    case IR_OP_slt: return build(c, IR_OP_smax, n, zero);
    case IR_OP_sle:
        return build(c, IR_OP_add, build(c, IR_OP_smax, n, pass_number(c->g, UINT64_MAX)), one);
    case IR_OP_ule: return build(c, IR_OP_uaddsat, n, one);
    case IR_OP_ult: return n;
    default: return one; /* equal to 0 */
    }
}

static bool is_bound(const bounder *c, const test *t, int *d, ir_inst **base) {
    *d = find_id(c, t->left, base);
    if (*d < 0) return false;
    bool less =
        t->op == IR_OP_ult || t->op == IR_OP_ule || t->op == IR_OP_slt || t->op == IR_OP_sle;
    bool zero = t->op == IR_OP_eq && ir_is_const(t->right) && t->right->imm.bits == 0;
    return (zero || less) && pass_may_hoist(c->hoister, t->right);
}

/* How often the loop runs that the test bounds; its counter starts at `base`. */
static ir_inst *find_count(bounder *c, const test *t, ir_inst *base) {
    ir_inst *limit = find_limit(c, t);
    return base ? build(c, IR_OP_usubsat, limit, base) : limit;
}

static bool has_const_bound(const bounder *c, int d) {
    return c->out->bound[d] && ir_is_const(c->out->bound[d]);
}

static void add_guard(bounder *c, ir_inst *x) {
    ir_inst **guard = &c->out->guard;
    *guard = *guard ? ir_build2(&c->hoister->b, IR_OP_and, IR_I1, *guard, x) : x;
}

static void add_bound(bounder *c, int d, ir_inst *count) {
    ir_inst **bound = &c->out->bound[d];
    *bound = build(c, IR_OP_umin, *bound ? *bound : c->ids->count[d], count);
}

/* One iteration at most: the first one, if bounds so far allow it. */
static void keep_first(bounder *c, int d, ir_inst *one) {
    ir_inst **bound = &c->out->bound[d], *zero = pass_number(c->g, 0);
    if (*bound) add_guard(c, ir_build2(&c->hoister->b, IR_OP_ult, IR_I1, zero, *bound));
    *bound = one;
}

/* Does the test, of ids from `base` on, hold for all items of a sub-group or for none? */
static bool is_for_whole_subgroup(const bounder *c, const test *t, const ir_inst *base) {
    bool below = t->op == IR_OP_ult || t->op == IR_OP_slt;
    if (!below || !c->g->lanes || !base || base != c->ids->first_x) return false;
    return ir_is_const(t->right) && t->right->imm.bits % c->g->lanes == 0;
}

static bool make_bound(bounder *c, const test *t) {
    int d;
    ir_inst *base;
    bool zero = t->op == IR_OP_eq;
    if (!is_bound(c, t, &d, &base)) return false;
    if (has_const_bound(c, d) || (zero && c->out->start[d])) return false;
    if (is_for_whole_subgroup(c, t, base))
        add_guard(c, ir_build2(&c->hoister->b, IR_OP_ult, IR_I1, base, find_limit(c, t)));
    else if (zero && !base)
        keep_first(c, d, find_count(c, t, base));
    else
        add_bound(c, d, find_count(c, t, base));
    return true;
}

/* A test of the first item of a sub-group, whose number is that of the sub-group times its size. */
static bool make_scaled_bound(bounder *c, const test *t) {
    const ir_inst *v = t->left;
    if (t->op != IR_OP_ult || v->op != IR_OP_mul || !(v->flags & IR_NUW)) return false;
    if (!ir_is_const(ir_arg(v, 1)) || !pass_may_hoist(c->hoister, t->right)) return false;
    uint64_t size = ir_arg(v, 1)->imm.bits;
    int d = find_local_id(c, ir_arg(v, 0));
    if (d < 0 || has_const_bound(c, d) || !size || size & (size - 1)) return false;
    ir_inst *above = build(c, IR_OP_uaddsat, find_limit(c, t), pass_number(c->g, size - 1));
    ir_inst *shift = pass_number(c->g, (uint64_t)__builtin_ctzll(size));
    add_bound(c, d, build(c, IR_OP_lshr, above, shift));
    return true;
}

/* The guard of a loop over items of a sub-group: there are some if the minimum of two counts is
 * above a constant, and one count is limit - first item, or 0 if the first item is not below the
 * limit.  So the first item is below it, which bounds the loop over sub-groups.  The test remains.
 */
static void make_implied_bound(bounder *c, const test *t) {
    ir_inst *least = t->right;
    if (t->op != IR_OP_ult || !ir_is_const(t->left) || least->op != IR_OP_umin) return;
    for (unsigned n = 0; n < 2; n++) {
        const ir_inst *left = ir_arg(least, n);
        if (left->op != IR_OP_usubsat) continue;
        const test first = {IR_OP_ult, ir_arg(left, 1), ir_arg(left, 0)};
        if (make_scaled_bound(c, &first)) return;
    }
}

static bool make_start(bounder *c, const test *t) {
    test below = {pass_opposite(t->op), t->right, t->left};
    int d;
    ir_inst *base;
    if (!is_bound(c, &below, &d, &base) || has_const_bound(c, d)) return false;
    ir_inst *first = find_count(c, &below, base), **start = &c->out->start[d];
    *start = *start ? build(c, IR_OP_umax, *start, first) : first;
    return true;
}

static bool make_guard(bounder *c, ir_inst *condition, bool holds) {
    if (!pass_may_hoist(c->hoister, condition)) return false;
    ir_inst *x = pass_hoist(c->hoister, condition);
    if (!holds) x = ir_build2(&c->hoister->b, IR_OP_xor, IR_I1, x, ir_const(c->g->f, IR_I1, 1));
    add_guard(c, x);
    return true;
}

/* --------------------------------------------------------------------------------------- guards */

static bool has_no_effect(const ir_block *b) {
    for (const ir_inst *i = b->first; i != b->last; i = i->next) {
        bool load = i->op == IR_OP_load && !(i->imm.mem.flags & IR_MEM_VOLATILE);
        if (!load && !ir_has_flag(i, F_PURE)) return false;
    }
    return true;
}

/* Is its branch taken once for all items, after the loops? */
static bool is_choice(const bounder *c, const ir_block *b) {
    return c->hoister->chooses_before && b == c->r->chooser;
}

/* Does the edge to b lead out of the region, without an effect on the way? */
static bool leaves(const bounder *c, const ir_block *b) {
    for (uint32_t k = 0; k < c->r->blocks.n; k++) {
        if (b->id < c->graph->nblocks && c->graph->is_head[b->id]) return true;
        if (!has_no_effect(b)) return false;
        if (is_choice(c, b)) return true;
        if (b->last->op != IR_OP_jmp) return false;
        b = b->succ[0];
    }
    return false;
}

/* Appends the comparisons that must hold for the branch to stay in the region; false: there are
 * other conditions. */
static unsigned list_tests(ir_inst *condition, bool holds, ir_inst *list[MAX_TESTS]) {
    ir_op joint = holds ? IR_OP_and : IR_OP_or;
    unsigned n = 1;
    list[0] = condition;
    for (unsigned k = 0; k < n;) {
        ir_inst *i = list[k];
        if (i->op != joint || n == MAX_TESTS) {
            k++;
            continue;
        }
        list[k] = ir_arg(i, 0);
        list[n++] = ir_arg(i, 1);
    }
    return n;
}

static bool becomes_bound(bounder *c, ir_inst *i, bool holds) {
    if (make_guard(c, i, holds)) return true;
    if (ir_info(i)->rule != R_CMPI || !pass_is_comparison(i)) return false;
    test t = {(ir_op)i->op, ir_arg(i, 0), ir_arg(i, 1)};
    if (!holds) t = (test){pass_opposite(t.op), ir_arg(i, 1), ir_arg(i, 0)};
    if (!holds && (i->op == IR_OP_eq || i->op == IR_OP_ne))
        t.left = ir_arg(i, 0), t.right = ir_arg(i, 1);
    if (make_bound(c, &t) || make_scaled_bound(c, &t) || make_start(c, &t)) return true;
    make_implied_bound(c, &t);
    return false;
}

/* Takes bounds out of the branch that ends b; true when nothing is left of it. */
static bool take_guard(bounder *c, ir_block *b) {
    ir_inst *list[MAX_TESTS], *rest = NULL;
    bool holds = leaves(c, b->succ[1]);
    ir_builder at;
    if (b->succ[0] == b->succ[1] || (!holds && !leaves(c, b->succ[0]))) return false;
    unsigned n = list_tests(ir_arg(b->last, 0), holds, list);
    ir_builder_init(&at, c->g->f);
    ir_before(&at, b->last);
    for (unsigned k = 0; k < n; k++) {
        if (becomes_bound(c, list[k], holds)) {
            ir_count(c->g->f->module->cx, regions_bounds, 1);
            continue;
        }
        ir_op joint = holds ? IR_OP_and : IR_OP_or;
        rest = rest ? ir_build2(&at, joint, IR_I1, rest, list[k]) : list[k];
    }
    if (rest)
        ir_set_arg(b->last, 0, rest);
    else
        ir_make_jmp(b, !holds);
    return !rest;
}

/* The block after one that only leads on. */
static ir_block *next_block(const bounder *c, const ir_block *b) {
    ir_block *next = b->succ[0];
    bool plain = b->last->op == IR_OP_jmp && !leaves(c, next) && next->npred == 1;
    return plain && next->first->op != IR_OP_phi ? next : NULL;
}

void pass_find_bounds(const pass_group_builder *g, const pass_item_ids *ids,
                      const pass_region_graph *graph, pass_hoister *hoister, pass_item_loops *out) {
    const pass_region *r = hoister->region;
    bounder c = {.g = g, .ids = ids, .graph = graph, .r = r, .out = out, .hoister = hoister};
    if (r->targets.n > 1 && !hoister->chooses_before) return;
    for (ir_block *b = r->head; b && has_no_effect(b) && !is_choice(&c, b);) {
        if (b->last->op == IR_OP_br && !take_guard(&c, b)) return;
        b = b->nsucc == 1 ? next_block(&c, b) : NULL;
    }
}
