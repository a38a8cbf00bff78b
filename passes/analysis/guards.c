/* guards.c — the conditions under which a work-item gets to a block.
 *
 * The search goes from the block up the dominator tree.  Each step is one of three.  If every path
 * from the dominator leads to the block, both are executed equally often.  If a branch at the end
 * of the dominator decides, that is a guard.  Otherwise there are further conditions, which remain
 * unknown.
 *
 * The only exit of a loop with a known number of iterations (bounds.c) is no guard: the block runs
 * once in every iteration.
 */
#include "passes/analysis/analysis.h"

enum { MAX_VISITS = 10000 }; /* of blocks, for one list of guards */

typedef struct {
    const pass_launch *launch;
    ir_arena *a;
    pass_guards *out;
    uint32_t visits;
} finder;

/* ---------------------------------------------------------------------------------------- paths */

/* Can an item get from `from` to the end of the kernel without passing `avoid`? */
static bool can_avoid(finder *q, ir_block *from, const ir_block *avoid) {
    ir_vec(ir_block *) ahead = {0};
    bool *seen = ir_new_array(q->a, bool, from->func->next_block);
    *ir_push(q->a, &ahead) = from;
    while (ahead.n) {
        ir_block *b = ahead.data[--ahead.n];
        if (b == avoid || seen[b->id]) continue;
        seen[b->id] = true;
        if (++q->visits > MAX_VISITS || b->last->op == IR_OP_ret) return true;
        for (uint32_t s = 0; s < b->nsucc; s++) *ir_push(q->a, &ahead) = b->succ[s];
    }
    return false;
}

/* Does the branch at the end of b alone decide when its loop ends, after a known number of rounds
 * that all pass `inside`?  After a test in the header there may be no round at all. */
static bool counts_rounds(const finder *q, const ir_block *b, const ir_block *inside) {
    const ir_loops *loops = ir_loop_tree(q->launch->kernel);
    const ir_loop *loop = loops->of[b->id];
    if (!loop || !ir_in_loop(loops, inside, loop) || !pass_is_counted(q->launch, loop))
        return false;
    if (b == loop->header && pass_count_launched(q->launch, loop, b) < 1) return false;
    return !ir_in_loop(loops, b->succ[0], loop) || !ir_in_loop(loops, b->succ[1], loop);
}

/* --------------------------------------------------------------------------------------- guards */

unsigned pass_split_test(ir_inst *test, bool holds, ir_inst *part[PASS_MAX_PARTS]) {
    unsigned n = 1, k = 0;
    part[0] = test;
    while (k < n) {
        ir_inst *c = part[k];
        if (c->op == (holds ? IR_OP_and : IR_OP_or) && n < PASS_MAX_PARTS) {
            part[k] = ir_arg(c, 0);
            part[n++] = ir_arg(c, 1);
        } else {
            k++;
        }
    }
    return n;
}

static void add_guard(finder *q, ir_inst *test, bool holds, const ir_block *at) {
    pass_guard g = {.test = test, .holds = holds};
    if (pass_is_comparison(test)) {
        pass_find_affine(q->launch, ir_arg(test, 0), at, &g.left);
        pass_find_affine(q->launch, ir_arg(test, 1), at, &g.right);
        g.compares = true;
    }
    *ir_push(q->a, &q->out->list) = g;
}

static void add_test(finder *q, ir_inst *test, bool holds, const ir_block *at) {
    ir_inst *part[PASS_MAX_PARTS];
    unsigned n = pass_split_test(test, holds, part);
    for (unsigned k = 0; k < n; k++) add_guard(q, part[k], holds, at);
}

ir_inst *pass_test_before(const ir_block *b, bool *holds) {
    const ir_block *from = b->npred == 1 ? b->pred[0] : NULL;
    if (!from || from->last->op != IR_OP_br) return NULL;
    *holds = from->succ[0] == b;
    return ir_arg(from->last, 0);
}

static void climb(finder *q, ir_block *from, ir_block *to) {
    bool holds;
    if (!can_avoid(q, from, to)) return;
    ir_inst *test = pass_test_before(to, &holds);
    if (!test) q->out->exact = false;
    if (test && !counts_rounds(q, from, to)) add_test(q, test, holds, from);
}

void pass_find_guards(const pass_launch *l, ir_block *b, ir_arena *a, pass_guards *out) {
    finder q = {.launch = l, .a = a, .out = out};
    const ir_dom *dom = ir_dominators(l->kernel);
    *out = (pass_guards){.exact = true};
    for (ir_block *up; (up = dom->idom[b->id]) != NULL && up != b; b = up) climb(&q, up, b);
    if (q.visits > MAX_VISITS) out->exact = false;
}

/* ---------------------------------------------------------------------------------- comparisons */

bool pass_is_comparison(const ir_inst *i) {
    return ir_info(i)->rule == R_CMPI && ir_is_int(ir_arg(i, 0)->type) && !ir_is_vector(i->type);
}

ir_op pass_opposite(ir_op op) {
    switch (op) {
    case IR_OP_eq: return IR_OP_ne;
    case IR_OP_ne: return IR_OP_eq;
    case IR_OP_slt: return IR_OP_sle;
    case IR_OP_sle: return IR_OP_slt;
    case IR_OP_ult: return IR_OP_ule;
    default: return IR_OP_ult;
    }
}

/* What holds on the way: not x < y is y <= x. */
typedef struct {
    ir_op op;
    const pass_affine *left, *right;
} relation;

static relation relation_of(const pass_guard *g) {
    ir_op op = (ir_op)g->test->op;
    if (g->holds) return (relation){op, &g->left, &g->right};
    return (relation){pass_opposite(op), &g->right, &g->left};
}

/* Is it made of ids, sizes and arguments alone, which other kernels have as well? */
static bool is_common_form(const pass_affine *f) {
    for (uint32_t k = 0; k < f->n; k++)
        if (f->term[k].of.value) return false;
    return true;
}

static bool is_same_guard(const pass_guard *a, const pass_guard *b) {
    if (!a->compares || !b->compares) return false;
    if (ir_arg(a->test, 0)->type != ir_arg(b->test, 0)->type) return false;
    const relation x = relation_of(a), y = relation_of(b);
    return x.op == y.op && is_common_form(x.left) && is_common_form(x.right) &&
           pass_is_same_form(x.left, y.left) && pass_is_same_form(x.right, y.right);
}

bool pass_has_guard(const pass_guards *list, const pass_guard *g) {
    for (uint32_t k = 0; k < list->list.n; k++)
        if (is_same_guard(&list->list.data[k], g)) return true;
    return false;
}

typedef struct {
    int64_t low, high;
} bounds;

/* The values of an operand of the test; false: not known, or not those of its type. */
static bool find_bounds(const pass_launch *l, const pass_guard *g, const pass_affine *f,
                        bool is_signed, bounds *out) {
    unsigned bits = ir_bits(l->kernel->module, ir_arg(g->test, 0)->type);
    int64_t most = (int64_t)(UINT64_MAX >> 1 >> (64 - bits));
    return pass_affine_bounds(l, f, g->test->block, &out->low, &out->high) &&
           out->low >= (is_signed ? -most - 1 : 0) && out->high <= most;
}

bool pass_is_always_true(const pass_launch *l, const pass_guard *g) {
    bool is_signed = g->test->op == IR_OP_slt || g->test->op == IR_OP_sle;
    bool is_strict = g->test->op == IR_OP_slt || g->test->op == IR_OP_ult;
    bounds x, y;
    if (!g->compares || !(is_signed || is_strict || g->test->op == IR_OP_ule)) return false;
    if (!find_bounds(l, g, &g->left, is_signed, &x)) return false;
    if (!find_bounds(l, g, &g->right, is_signed, &y)) return false;
    if (!g->holds) return is_strict ? y.high <= x.low : y.high < x.low;
    return is_strict ? x.high < y.low : x.high <= y.low;
}
