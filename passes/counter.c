/* counter.c — phis that count the iterations of their loop, and how often a test lets them through.
 *
 * A counter begins with what the one edge into its loop brings and grows by a constant in each
 * iteration, modulo its width.  The exit test compares it, or its next value, with a constant.  For
 * orders the values that pass are an interval of numbers, signed or unsigned; the count is exact
 * when the first value behind the interval does not wrap into it again.  For equality it is exact
 * when the step leads to the constant at all.
 */
#include "passes/passes.h"

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

/* A comparison of a counter with a constant; `stay` is the outcome that goes on. */
typedef struct {
    ir_op op;
    unsigned bits;
    bool left; /* the counter stands on the left */
    bool stay;
    uint64_t limit;
} exit_test;

static ir_i128 number_of(uint64_t v, unsigned bits, bool is_signed) {
    return is_signed ? (ir_i128)ir_sext(v, bits) : (ir_i128)ir_zext(v, bits);
}

static int64_t count_until_equal(const exit_test *t, uint64_t first, int64_t step) {
    uint64_t way = step > 0 ? t->limit - first : first - t->limit;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    way = ir_zext(way, t->bits);
    return way % stride == 0 && way / stride <= PASS_MAX_ROUNDS ? (int64_t)(way / stride) : -1;
}

static int64_t count_in_order(const exit_test *t, uint64_t first, int64_t step) {
    bool is_signed = t->op == IR_OP_slt || t->op == IR_OP_sle;
    bool strict = (t->op == IR_OP_ult || t->op == IR_OP_slt) == t->stay;
    ir_i128 limit = number_of(t->limit, t->bits, is_signed),
            x = number_of(first, t->bits, is_signed);
    ir_i128 low = is_signed ? -((ir_i128)1 << (t->bits - 1)) : 0;
    ir_i128 high = low + ((ir_i128)1 << t->bits) - 1;
    if (t->left == t->stay)
        high = limit - strict;
    else
        low = limit + strict;
    if (x < low || x > high) return 0;
    ir_i128 n = (step > 0 ? high - x : x - low) / (step > 0 ? step : -(ir_i128)step) + 1;
    uint64_t behind = (uint64_t)(x + n * step);
    ir_i128 y = number_of(behind, t->bits, is_signed);
    return n > PASS_MAX_ROUNDS || (y >= low && y <= high) ? -1 : (int64_t)n;
}

static int64_t count_passes(const exit_test *t, uint64_t first, int64_t step) {
    bool equality = t->op == IR_OP_eq || t->op == IR_OP_ne;
    if (step == 0) return -1;
    if (!equality) return count_in_order(t, first, step);
    if ((t->op == IR_OP_ne) == t->stay) return count_until_equal(t, first, step);
    return ir_zext(first - t->limit, t->bits) == 0;
}

static bool is_comparison(const ir_inst *i) {
    return ir_info(i)->rule == R_CMPI && ir_is_int(ir_arg(i, 0)->type) && !ir_is_vector(i->type);
}

/* The counter that x is, or the next value of; *first is x in the first iteration. */
static bool find_counted(const ir_loops *l, const ir_inst *x, pass_counter *c, uint64_t *first) {
    bool next = x->op == IR_OP_add;
    if (!pass_find_counter(l, next ? ir_arg(x, 0) : x, c) || !ir_is_const(c->init)) return false;
    *first = c->init->imm.bits + (next ? (uint64_t)c->step : 0);
    return !next || c->next == x;
}

int64_t pass_count_passes(const ir_loops *l, const ir_loop *loop, const ir_block *b) {
    const ir_inst *test = b->last->op == IR_OP_br ? ir_arg(b->last, 0) : NULL;
    pass_counter c;
    uint64_t first;
    if (!test || !is_comparison(test) || l->of[b->id] != loop) return -1;
    bool left = !ir_is_const(ir_arg(test, 0)), stay = ir_in_loop(l, b->succ[0], loop);
    const ir_inst *x = ir_arg(test, !left), *limit = ir_arg(test, left);
    if (stay == ir_in_loop(l, b->succ[1], loop) || !ir_is_const(limit)) return -1;
    if (!find_counted(l, x, &c, &first) || c.loop != loop) return -1;
    exit_test t = {test->op, ir_bits(NULL, x->type), left, stay, limit->imm.bits};
    return count_passes(&t, first, c.step);
}
