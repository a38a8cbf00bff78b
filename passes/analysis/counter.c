/* counter.c — phis that count the iterations of their loop, and how often a test lets them through.
 *
 * A counter begins with what the one edge into its loop brings and grows by a constant in each
 * iteration, modulo its width.  The exit test compares it, or its next value, with a constant.  For
 * orders the values that pass are an interval of numbers, signed or unsigned; the count is exact
 * when the first value after the interval does not wrap into it again.  For equality it is exact
 * when the step leads to the constant at all.
 */
#include "passes/analysis/analysis.h"

/* The place of the one back edge among the two predecessors of a header; 2: not so. */
static unsigned find_back_edge(const ir_loops *l, const ir_loop *loop) {
    const ir_block *h = loop->header;
    if (h->npred != 2 || loop->irreducible) return 2;
    bool first = ir_in_loop(l, h->pred[0], loop), second = ir_in_loop(l, h->pred[1], loop);
    return first == second ? 2 : second;
}

bool pass_find_counter(const ir_loops *l, const ir_inst *phi, pass_counter *c) {
    c->loop = phi->op == IR_OP_phi ? l->of[phi->block->id] : NULL;
    if (!c->loop || c->loop->header != phi->block) return false;
    unsigned back = find_back_edge(l, c->loop);
    if (back == 2 || !ir_is_int(phi->type) || ir_is_vector(phi->type)) return false;
    c->init = ir_arg(phi, !back);
    c->next = ir_arg(phi, back);
    c->latch = phi->block->pred[back];
    if (c->next->op != IR_OP_add || ir_arg(c->next, 0) != phi) return false;
    if (!ir_is_const(ir_arg(c->next, 1))) return false;
    c->step = ir_signed_const(ir_arg(c->next, 1));
    return true;
}

/* ------------------------------------------------------------------------------------- counting */

/* A comparison of a counter; `stay` is the outcome that stays in the loop. */
typedef struct {
    ir_op op;
    unsigned bits;
    bool left; /* the counter is the left operand */
    bool stay;
    pass_counter counter;
    const ir_inst *counted, *limit; /* counted: the counter, or its next value */
    uint64_t end;                   /* the number that limit is */
} exit_test;

static ir_i128 number_of(uint64_t v, unsigned bits, bool is_signed) {
    return is_signed ? (ir_i128)ir_sext(v, bits) : (ir_i128)ir_zext(v, bits);
}

static int64_t count_until_equal(const exit_test *t, uint64_t first, int64_t step) {
    uint64_t way = step > 0 ? t->end - first : first - t->end;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    way = ir_zext(way, t->bits);
    return way % stride == 0 && way / stride <= PASS_MAX_ROUNDS ? (int64_t)(way / stride) : -1;
}

static int64_t count_in_order(const exit_test *t, uint64_t first, int64_t step) {
    bool is_signed = t->op == IR_OP_slt || t->op == IR_OP_sle;
    bool strict = (t->op == IR_OP_ult || t->op == IR_OP_slt) == t->stay;
    ir_i128 limit = number_of(t->end, t->bits, is_signed), x = number_of(first, t->bits, is_signed);
    ir_i128 low = is_signed ? -((ir_i128)1 << (t->bits - 1)) : 0;
    ir_i128 high = low + ((ir_i128)1 << t->bits) - 1;
    if (t->left == t->stay)
        high = limit - strict;
    else
        low = limit + strict;
    if (x < low || x > high) return 0;
    ir_i128 n = (step > 0 ? high - x : x - low) / (step > 0 ? step : -(ir_i128)step) + 1;
    uint64_t after = (uint64_t)(x + n * step);
    ir_i128 y = number_of(after, t->bits, is_signed);
    return n > PASS_MAX_ROUNDS || (y >= low && y <= high) ? -1 : (int64_t)n;
}

static int64_t count_passes(const exit_test *t, uint64_t first, int64_t step) {
    bool equality = t->op == IR_OP_eq || t->op == IR_OP_ne;
    if (step == 0) return -1;
    if (!equality) return count_in_order(t, first, step);
    if ((t->op == IR_OP_ne) == t->stay) return count_until_equal(t, first, step);
    return ir_zext(first - t->end, t->bits) == 0;
}

/* The bits of a number that is known; without a launch: of a constant. */
static bool find_number(const pass_launch *l, const ir_inst *v, uint64_t *bits) {
    int64_t n;
    if (ir_is_const(v)) *bits = v->imm.bits;
    if (ir_is_const(v)) return true;
    if (!l || !pass_known_number(l, v, &n)) return false;
    *bits = ir_zext((uint64_t)n, ir_bits(NULL, v->type));
    return true;
}

/* Is x the counter, or its next value? */
static bool find_counted(const ir_loops *l, const ir_inst *x, pass_counter *c) {
    bool next = x->op == IR_OP_add;
    return pass_find_counter(l, next ? ir_arg(x, 0) : x, c) && (!next || c->next == x);
}

/* The test that ends b, if it compares a counter of the loop. */
static bool find_test(const ir_loops *l, const ir_loop *loop, const ir_block *b, exit_test *t) {
    const ir_inst *test = b->last->op == IR_OP_br ? ir_arg(b->last, 0) : NULL;
    if (!test || !pass_is_comparison(test) || l->of[b->id] != loop) return false;
    t->stay = ir_in_loop(l, b->succ[0], loop);
    if (t->stay == ir_in_loop(l, b->succ[1], loop)) return false;
    t->op = test->op;
    t->bits = ir_bits(NULL, ir_arg(test, 0)->type);
    for (unsigned n = 0; n < 2; n++) {
        t->left = n == 0;
        t->counted = ir_arg(test, n);
        t->limit = ir_arg(test, !n);
        if (find_counted(l, t->counted, &t->counter) && t->counter.loop == loop) return true;
    }
    return false;
}

static int64_t count(const ir_loops *l, const pass_launch *launch, const ir_loop *loop,
                     const ir_block *b) {
    exit_test t;
    uint64_t first;
    if (!find_test(l, loop, b, &t) || !find_number(launch, t.limit, &t.end)) return -1;
    if (!find_number(launch, t.counter.init, &first)) return -1;
    if (t.counted == t.counter.next) first = ir_zext(first + (uint64_t)t.counter.step, t.bits);
    return count_passes(&t, first, t.counter.step);
}

int64_t pass_count_passes(const ir_loops *l, const ir_loop *loop, const ir_block *b) {
    int64_t n = count(l, NULL, loop, b);
    return n < 0 ? pass_count_by_execution(l, loop, b) : n;
}

/* A loop goes on while a counter is above some unsigned number, so no longer than while it is above
 * 0. */
int64_t pass_count_most_passes(const ir_loops *l, const ir_loop *loop, const ir_block *b) {
    exit_test t;
    if (!find_test(l, loop, b, &t) || t.counter.step >= 0 || !ir_is_const(t.counter.init))
        return -1;
    bool is_greater = t.left != t.stay && t.op == (t.stay ? IR_OP_ult : IR_OP_ule);
    if (!is_greater) return -1;
    uint64_t first = t.counter.init->imm.bits;
    if (t.counted == t.counter.next) first = ir_zext(first + (uint64_t)t.counter.step, t.bits);
    t.end = 0;
    return count_passes(&t, first, t.counter.step);
}

int64_t pass_count_launched(const pass_launch *l, const ir_loop *loop, const ir_block *b) {
    return count(ir_loop_tree(l->kernel), l, loop, b);
}

/* ------------------------------------------------------------------------------------- wrapping */

/* Does the branch at the end of b only let through what is less than something, so that a step of
 * one more does not wrap? */
static bool stays_below(const ir_loops *l, const ir_inst *phi, const pass_counter *c,
                        const ir_block *b, bool is_signed) {
    exit_test t;
    if (!find_test(l, c->loop, b, &t) || t.left != t.stay) return false;
    ir_op less = is_signed ? IR_OP_slt : IR_OP_ult, not_greater = is_signed ? IR_OP_sle : IR_OP_ule;
    return (t.counted == phi || t.counted == c->next) && t.op == (t.left ? less : not_greater);
}

/* Does the edge from `above` to `to` say that x is less than the limit of t? */
static bool says_less(const ir_block *above, const ir_block *to, const exit_test *t,
                      const ir_inst *x) {
    if (above->last->op != IR_OP_br || above->succ[0] != to || above->succ[1] == to) return false;
    const ir_inst *test = ir_arg(above->last, 0);
    return test->op == t->op && ir_arg(test, 0) == x && ir_arg(test, 1) == t->limit;
}

bool pass_counts_guarded(const ir_loops *l, const ir_inst *phi, bool is_signed) {
    enum { MOST_BLOCKS = 4 };
    pass_counter c;
    exit_test t;
    if (!pass_find_counter(l, phi, &c) || c.step != 1) return false;
    if (!find_test(l, c.loop, c.latch, &t) || t.counted != c.next) return false;
    if (!t.left || !t.stay || t.op != (is_signed ? IR_OP_slt : IR_OP_ult)) return false;
    const ir_block *to = phi->block, *above = to->pred[to->pred[0] == c.latch];
    for (unsigned n = 0; n < MOST_BLOCKS; n++) {
        if (says_less(above, to, &t, c.init)) return true;
        if (above->npred != 1) return false;
        to = above;
        above = above->pred[0];
    }
    return false;
}

bool pass_counts_whole(const ir_loops *l, const ir_inst *phi, bool is_signed) {
    pass_counter c;
    if (!pass_find_counter(l, phi, &c)) return false;
    bool small = ir_is_const(c.init) && ir_signed_const(c.init) >= 0 &&
                 ir_signed_const(c.init) < INT8_MAX; /* whatever the width */
    if (!is_signed && (!small || c.step < 0)) return false;
    if (c.next->flags & (is_signed ? IR_NSW : IR_NUW)) return true;
    return c.step == 1 && small &&
           (stays_below(l, phi, &c, phi->block, is_signed) ||
            stays_below(l, phi, &c, c.latch, is_signed));
}

const ir_inst *pass_find_end(const ir_loops *l, const ir_inst *phi, pass_counter *c,
                             bool *is_signed) {
    exit_test t;
    if (!pass_find_counter(l, phi, c) || c->step <= 0) return NULL;
    const ir_block *tests[] = {c->latch, phi->block};
    for (unsigned n = 0; n < 4; n++) {
        *is_signed = n & 1;
        if (stays_below(l, phi, c, tests[n / 2], *is_signed) &&
            find_test(l, c->loop, tests[n / 2], &t))
            return t.limit;
    }
    return NULL;
}
