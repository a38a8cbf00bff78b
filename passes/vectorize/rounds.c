/* rounds.c — loops of items that end at almost the same time.
 *
 *   for (k = id; k < n; k += 64) …        items leave in different rounds, but only in the last
 *
 * A loop that lanes leave one by one needs masks and selects in every round.  Here the test of an
 * item and that of item 0 differ by a multiple of the item's number, so a stronger test that is the
 * same for all items is known: that of the last item.  The loop goes on by that test, and a copy of
 * it does the rounds that are left, by the test of each item:
 *
 *   do body while (k0 < n - last);        k0: the k of item 0, without wrapping below 0
 *   if (k < n) do body while (k < n);
 *
 * If k is extended to 64 bits, and n does not change, the first loop is entered only if its test
 * holds for the first round, too.  Then no k in it wraps, and the extended k is the extended k0
 * plus the number of the item: items access what is side by side.
 *
 * If the step is a power of two, and no less than the number of the last item, one round is left at
 * most: no item is further below the limit.  So the copy is no loop.  (Where k wraps before it is
 * at the limit, steps of a power of two never lead there, and the scalar loop would not end.)
 *
 * The first loop has no masks of its own.  The test is found by following sums and products modulo
 * 2^n from the test back to the counter of items and to the phis of the loop.
 *
 * Before: shapes are known, and all is legal.  After: the scalar code has changed, and is to be
 * analysed again.  Only inner loops with one exit, behind their latch, are split, and each once.
 */
#include "passes/vectorize/simd.h"

enum { MAX_SIZE = 150, MAX_DEPTH = 6 };

/* The loop to be split: it goes on while x < limit. */
typedef struct {
    simd *s;
    const ir_loop *loop;
    ir_block *header, *latch, *before;
    ir_inst *x, *limit;
    bool is_signed;
    ir_block *exit; /* of its own; phis of all values that are used after the loop */
    ir_inst *phi;   /* that x is the next value of, if it is tested before each round; or NULL */
    ir_value_list init; /* what the phis begin with */
    ir_map first;       /* by id: the value for item 0 */
    ir_block *copy, *copied_latch;
} rounds;

/* ---------------------------------------------------------------------------------- recognition */

static bool is_in(const rounds *r, const ir_block *b) {
    const simd *s = r->s;
    return simd_is_in(s, b, r->loop);
}

static bool is_uniform(const rounds *r, const ir_inst *v) {
    return simd_shape_of(r->s, v) == SIMD_UNIFORM;
}

/* One edge into the loop, one back, and one out, which are the edges of the latch. */
static bool has_form(rounds *r) {
    uint32_t size = 0, exits = 0;
    r->header = r->loop->header;
    if (r->header->npred != 2) return false;
    bool first = is_in(r, r->header->pred[0]);
    r->latch = r->header->pred[!first];
    r->before = r->header->pred[first];
    for (uint32_t k = 0; k < r->loop->nblocks; k++) {
        ir_block *b = r->loop->block[k];
        for (uint32_t n = 0; n < b->nsucc; n++) exits += !is_in(r, b->succ[n]);
        foreach_inst (i, b) size++;
    }
    const ir_block *t = r->latch;
    return is_in(r, t) && !is_in(r, r->before) && exits == 1 && size <= MAX_SIZE &&
           t->last->op == IR_OP_br && t->succ[0] == r->header && t->succ[1] != r->header;
}

/* Is v computed modulo its width from what is the same for all items, the counter, and phis of the
 * loop of which the same holds? */
static bool is_plain(const rounds *r, const ir_inst *v, unsigned depth) {
    if (is_uniform(r, v) || v == r->s->scalar.counter) return true;
    if (depth > MAX_DEPTH || ir_is_vector(v->type) || !ir_is_int(v->type)) return false;
    switch (v->op) {
    case IR_OP_phi:
        if (v->block != r->header) return false;
        for (unsigned k = 0; k < v->nargs; k++) {
            const ir_inst *a = ir_arg(v, k);
            bool step = a->op == IR_OP_add && ir_arg(a, 0) == v && is_uniform(r, ir_arg(a, 1));
            if (!step && (is_in(r, v->block->pred[k]) || !is_plain(r, a, depth + 1))) return false;
        }
        return true;
    case IR_OP_add:
    case IR_OP_sub:
    case IR_OP_mul:
    case IR_OP_shl:
        return is_plain(r, ir_arg(v, 0), depth + 1) && is_plain(r, ir_arg(v, 1), depth + 1);
    case IR_OP_trunc: return is_plain(r, ir_arg(v, 0), depth + 1);
    default: return false;
    }
}

static bool has_test(rounds *r) {
    const ir_inst *test = ir_arg(r->latch->last, 0);
    if (test->op != IR_OP_ult && test->op != IR_OP_slt) return false;
    r->is_signed = test->op == IR_OP_slt;
    r->x = ir_arg(test, 0);
    r->limit = ir_arg(test, 1);
    return simd_shape_of(r->s, r->x) == SIMD_STRIDED && r->s->value[r->x->id].stride == 1 &&
           is_uniform(r, r->limit) && is_plain(r, r->x, 0);
}

/* --------------------------------------------------------------------------- the test of item 0 */

static ir_inst *first_of(rounds *r, ir_inst *v);

/* The phi for item 0.  Its arguments are built where those of the other one come from. */
static ir_inst *first_of_phi(rounds *r, ir_inst *phi) {
    simd *s = r->s;
    ir_inst *first = ir_build_phi(r->header, phi->type), *arg[2];
    ir_map_set(s->scratch, &r->first, phi->id, first);
    for (unsigned k = 0; k < 2; k++) {
        ir_before(&s->b, r->header->pred[k]->last);
        arg[k] = first_of(r, ir_arg(phi, k));
    }
    for (unsigned k = 0; k < 2; k++) first = ir_append_arg(first, arg[k]);
    return first;
}

/* v for item 0, at the builder's place. */
static ir_inst *first_of(rounds *r, ir_inst *v) {
    simd *s = r->s;
    ir_inst *known = ir_map_get(&r->first, v->id), *args[2];
    if (known) return known;
    if (v == s->scalar.counter) return ir_const(s->f, v->type, 0);
    if (is_uniform(r, v)) return v;
    if (v->op == IR_OP_phi) return first_of_phi(r, v);
    for (unsigned n = 0; n < v->nargs; n++) args[n] = first_of(r, ir_arg(v, n));
    return ir_build(&s->b, (ir_op)v->op, v->type, IR_PLAIN, (ir_args){v->nargs, args});
}

/* The number of the last item; if type t has no such number, its greatest one. */
static ir_inst *last_item(rounds *r, ir_type t) {
    simd *s = r->s;
    ir_inst *end = s->scalar.end;
    ir_inst *last = ir_build2(&s->b, IR_OP_sub, end->type, end, ir_const(s->f, end->type, 1));
    uint64_t most = ir_zext(UINT64_MAX, ir_bits(NULL, t));
    last = ir_build2(&s->b, IR_OP_umin, end->type, last, ir_const(s->f, end->type, most));
    if (t == end->type) return last;
    bool wider = ir_bits(NULL, t) > ir_bits(NULL, end->type);
    return ir_build1(&s->b, wider ? IR_OP_zext : IR_OP_trunc, t, last);
}

/* What x of item 0 must be below for the last item to go on: limit - last.  For more items than
 * there are numbers with a sign, it is the least of these. */
static ir_inst *first_limit(rounds *r) {
    simd *s = r->s;
    const ir_inst *end = s->scalar.end;
    ir_type t = r->limit->type;
    ir_inst *last = last_item(r, t);
    if (!r->is_signed) return ir_build2(&s->b, IR_OP_usubsat, t, r->limit, last);
    uint64_t most = ir_zext(UINT64_MAX, ir_bits(NULL, t)) >> 1;
    ir_inst *few =
        ir_build2(&s->b, IR_OP_ult, IR_I1, s->scalar.end, ir_const(s->f, end->type, most));
    return ir_build_select(&s->b, few, ir_build2(&s->b, IR_OP_ssubsat, t, r->limit, last),
                           ir_const(s->f, t, most + 1));
}

static bool is_limit_inside(const rounds *r) {
    return r->limit->block && is_in(r, r->limit->block);
}

/* Does the last item go on, and so all?  x: for item 0. */
static ir_inst *compare(const rounds *r, ir_inst *x, ir_inst *limit) {
    return ir_build2(&r->s->b, r->is_signed ? IR_OP_slt : IR_OP_ult, IR_I1, x, limit);
}

/* Gives the loop its test; returns the limit. */
static ir_inst *build_test(rounds *r) {
    simd *s = r->s;
    ir_block *t = r->latch;
    ir_before(&s->b, t->last);
    ir_inst *x = first_of(r, r->x);
    ir_before(&s->b, is_limit_inside(r) ? t->last : r->before->last);
    ir_inst *limit = first_limit(r);
    ir_before(&s->b, t->last);
    ir_set_arg(t->last, 0, compare(r, x, limit));
    return limit;
}

/* ---------------------------------------------------------------------- lanes that do not wrap */

/* An extension of the phi in which lanes might wrap, as far as is known. */
static bool is_wrapping(const rounds *r, const ir_inst *i) {
    bool extends = i->op == (r->is_signed ? IR_OP_sext : IR_OP_zext);
    return extends && is_in(r, i->block) && simd_shape_of(r->s, i) == SIMD_VARYING;
}

static void find_phi(rounds *r) {
    ir_inst *phi = r->x->op == IR_OP_add ? ir_arg(r->x, 0) : NULL;
    unsigned back = ir_pred_index(r->header, r->latch);
    if (is_limit_inside(r) || !phi || phi->op != IR_OP_phi || phi->block != r->header) return;
    if (ir_arg(phi, back) != r->x) return;
    foreach_use (u, phi)
        if (is_wrapping(r, u->user)) r->phi = phi;
}

/* An extension of the phi: that for item 0, plus the number of the item. */
static void extend_first(rounds *r, ir_inst *i) {
    simd *s = r->s;
    ir_inst *number = s->scalar.counter;
    ir_before(&s->b, i);
    if (number->type != i->type) {
        bool wider = ir_bits(NULL, i->type) > ir_bits(NULL, number->type);
        number = ir_build1(&s->b, wider ? IR_OP_zext : IR_OP_trunc, i->type, number);
    }
    ir_inst *first = ir_build1(&s->b, (ir_op)i->op, i->type, ir_map_get(&r->first, r->phi->id));
    ir_replace_uses(i, ir_build2(&s->b, IR_OP_add, i->type, first, number));
}

static void extend_phi(rounds *r) {
    ir_value_list found = {0};
    foreach_use (u, r->phi)
        if (is_wrapping(r, u->user)) *ir_push(r->s->scratch, &found) = u->user;
    for (uint32_t k = 0; k < found.n; k++) extend_first(r, found.data[k]);
}

/* Enters the loop only if the test holds for what it begins with, and otherwise its copy. */
static void build_entry(rounds *r, ir_block *join, ir_inst *limit) {
    simd *s = r->s;
    ir_block *ask = r->before, *inside = ir_split_edge(ask, 0), *enter = ir_split_edge(join, 0);
    ir_block *copy = enter->succ[0];
    unsigned in = ir_pred_index(r->header, inside), edge = ir_pred_index(copy, enter);
    ir_inst *x = ir_arg(ir_map_get(&r->first, r->phi->id), in);
    ir_make_unreachable(ask);
    ir_remove(ask->last);
    ir_at_end(&s->b, ask);
    ir_build_br(&s->b, compare(r, x, limit), inside, enter);
    uint32_t k = 0;
    foreach_phi (phi, copy) {
        ir_inst *both = ir_append_arg(ir_build_phi(enter, phi->type), ir_arg(phi, edge));
        ir_set_arg(phi, edge, ir_append_arg(both, r->init.data[k++]));
    }
}

/* ------------------------------------------------------------------------------------- the copy */

static void copy_loop(rounds *r) {
    ir_arena *a = r->s->scratch;
    ir_func *f = r->s->f;
    ir_clone_map map = {.value = ir_new_array(a, ir_inst *, f->next_id),
                        .block = ir_new_array(a, ir_block *, f->next_block),
                        .edge = ir_new_array(a, uint32_t, f->next_block)};
    ir_clone_region(f, r->loop->block, r->loop->nblocks, &map);
    r->copy = map.block[r->header->id];
    r->copied_latch = map.block[r->latch->id];
}

/* A copy at the builder's place, which the first loop need not compute. */
static ir_inst *copy_inst(rounds *r, const ir_inst *i) {
    ir_inst *args[2];
    assert_at(i, i->nargs <= 2);
    for (unsigned n = 0; n < i->nargs; n++) args[n] = ir_arg(i, n);
    return ir_build_raw(&r->s->b, (ir_op)i->op, i->type, ir_attrs_of(i), (ir_args){i->nargs, args});
}

/* The test of each item. */
static ir_inst *copy_test(rounds *r) {
    ir_inst *test = copy_inst(r, ir_arg(r->latch->last, 0));
    if (r->x->op != IR_OP_phi) {
        ir_before(&r->s->b, test);
        ir_set_arg(test, 0, copy_inst(r, r->x));
        ir_at_end(&r->s->b, test->block);
    }
    return test;
}

/* latch -> join -> the copy, or the exit */
static ir_block *link_copy(rounds *r) {
    simd *s = r->s;
    ir_block *copy = r->copy;
    ir_block *join = ir_block_new(s->f, NULL);
    ir_value_list left = {0}, next = {0};
    unsigned out = ir_pred_index(r->exit, r->latch), back = ir_pred_index(r->header, r->latch);
    foreach_phi (phi, r->exit) *ir_push(s->scratch, &left) = ir_arg(phi, out);
    foreach_phi (phi, r->header) *ir_push(s->scratch, &next) = ir_arg(phi, back);
    ir_redirect_edge(r->latch, 1, join);
    ir_at_end(&s->b, join);
    ir_build_br(&s->b, copy_test(r), copy, r->exit);
    uint32_t k = 0;
    foreach_phi (phi, r->exit) ir_append_arg(phi, left.data[k++]);
    k = 0;
    foreach_phi (phi, copy) ir_append_arg(phi, next.data[k++]);
    return join;
}

/* Is one round left at most? */
static bool has_one_left(const rounds *r) {
    const ir_inst *phi = r->x->op == IR_OP_add ? ir_arg(r->x, 0) : NULL;
    const ir_inst *step = phi ? ir_arg(r->x, 1) : NULL;
    if (!phi || phi->op != IR_OP_phi || phi->block != r->header || !ir_is_const(step)) return false;
    uint64_t by = step->imm.bits, half = ir_zext(UINT64_MAX, ir_bits(NULL, step->type)) >> 1;
    bool is_next = ir_arg(phi, ir_pred_index(r->header, r->latch)) == r->x;
    return is_next && by && !(by & (by - 1)) && by <= half && simd_most_items(r->s) - 1 <= by;
}

static void leave_after_round(const rounds *r) {
    ir_make_jmp(r->copied_latch, 1);
    for (ir_inst *phi; r->copy->npred == 1 && (phi = r->copy->first)->op == IR_OP_phi;) {
        ir_replace_uses(phi, ir_arg(phi, 0));
        ir_remove(phi);
    }
}

static void split(rounds *r) {
    simd *s = r->s;
    find_phi(r);
    if (r->phi) r->before = ir_split_edge(r->before, r->before->succ[0] == r->header ? 0 : 1);
    foreach_phi (phi, r->header)
        *ir_push(s->scratch, &r->init) = ir_arg(phi, ir_pred_index(r->header, r->before));
    r->exit = simd_close_loop(s, r->loop, r->latch);
    bool once = has_one_left(r);
    copy_loop(r);
    ir_block *join = link_copy(r);
    ir_inst *limit = build_test(r);
    if (r->phi) {
        build_entry(r, join, limit);
        extend_phi(r);
    }
    if (once) leave_after_round(r);
    ir_count(s->f->module->cx, vectorize_rounds, 1);
}

/* Copies are not split again. */
static bool is_candidate(const simd *s, const simd_node *n) {
    if (n->kind != SIMD_LATCH || n->loop->child || !simd_diverges(s, n->loop)) return false;
    return n->block->id < s->nsplit && !s->is_split[n->block->id];
}

/* Which loops are split is known before the first one is, since that changes the code. */
bool simd_split_rounds(simd *s) {
    ir_vec(rounds) list = {0};
    for (uint32_t k = 0; k < s->n; k++) {
        const simd_node *n = &s->node[k];
        rounds r = {.s = s, .loop = n->loop};
        if (!is_candidate(s, n)) continue;
        s->is_split[n->block->id] = true;
        if (has_form(&r) && has_test(&r)) *ir_push(s->scratch, &list) = r;
    }
    ir_builder_init(&s->b, s->f);
    foreach_in (rounds, r, list) split(r);
    return list.n > 0;
}
