/* trips.c — how often a test lets a loop go on that no formula counts, by executing the loop.
 *
 * A tree over the items of a group halves a number, `n = (n + 1) / 2`.  If few operations lead from
 * one value of a phi to the next, and from there to the test, they are computed for one iteration
 * after the other, as constants are folded (Lattner and Adve's LLVM counts such loops likewise).
 * All of it must depend on one phi of the header that begins with a constant.  The number of
 * operations and iterations is bounded, so a loop costs no more than a constant.
 */
#include "ir/eval.h"
#include "passes/analysis/analysis.h"

enum { MOST_VALUES = 12, MOST_TRIPS = 64 };

typedef struct {
    const ir_loops *loops;
    const ir_loop *loop;
    const ir_inst *phi;
    const ir_inst *value[MOST_VALUES]; /* operands before their users */
    uint64_t bits[MOST_VALUES];        /* in the current iteration */
    unsigned n;
} program;

/* Its place in the list; n: it is not there. */
static unsigned place_of(const program *p, const ir_inst *v) {
    unsigned k = 0;
    while (k < p->n && p->value[k] != v) k++;
    return k;
}

static bool is_evaluable(const program *p, const ir_inst *i) {
    bool known = ir_has_eval(i->op) || i->op == IR_OP_select;
    return i->block && ir_in_loop(p->loops, i->block, p->loop) && known && ir_has_flag(i, F_PURE) &&
           !ir_has_flag(i, F_NOFOLD);
}

/* Lists v after what it is computed from; false: it is not known. */
static bool list_value(program *p, const ir_inst *v, unsigned depth) {
    if (!ir_is_int(v->type) || ir_is_vector(v->type)) return false;
    if (ir_is_const(v) || place_of(p, v) < p->n) return true;
    if (depth == MOST_VALUES) return false;
    if (v->op == IR_OP_phi) {
        if (p->phi || v->block != p->loop->header) return false;
        p->phi = v;
    } else if (!is_evaluable(p, v)) {
        return false;
    }
    for (unsigned n = 0; n < v->nargs && v != p->phi; n++)
        if (!list_value(p, ir_arg(v, n), depth + 1)) return false;
    if (p->n == MOST_VALUES) return false;
    p->value[p->n++] = v;
    return true;
}

static uint64_t bits_of(const program *p, const ir_inst *v) {
    return ir_is_const(v) ? v->imm.bits : p->bits[place_of(p, v)];
}

static bool evaluate(program *p, unsigned place) {
    const ir_inst *i = p->value[place];
    uint64_t lane[3], *args[3] = {&lane[0], &lane[1], &lane[2]};
    if (i->nargs > 3) return false;
    for (unsigned n = 0; n < i->nargs; n++) lane[n] = bits_of(p, ir_arg(i, n));
    return ir_eval(NULL, i, args, &p->bits[place], false);
}

static bool execute_iteration(program *p, uint64_t counter) {
    for (unsigned k = 0; k < p->n; k++) {
        if (p->value[k] == p->phi)
            p->bits[k] = counter;
        else if (!evaluate(p, k))
            return false;
    }
    return true;
}

int64_t pass_count_by_execution(const ir_loops *l, const ir_loop *loop, const ir_block *b) {
    program p = {.loops = l, .loop = loop};
    const ir_inst *test = b->last->op == IR_OP_br ? ir_arg(b->last, 0) : NULL;
    const ir_block *h = loop->header;
    if (!test || l->of[b->id] != loop || loop->irreducible || h->npred != 2) return -1;
    unsigned back = ir_in_loop(l, h->pred[1], loop) ? 1 : 0;
    if (!list_value(&p, test, 0) || !p.phi || !ir_is_const(ir_arg(p.phi, !back))) return -1;
    const ir_inst *next = ir_arg(p.phi, back);
    bool stay = ir_in_loop(l, b->succ[0], loop);
    if (stay == ir_in_loop(l, b->succ[1], loop) || !list_value(&p, next, 0)) return -1;
    uint64_t counter = ir_arg(p.phi, !back)->imm.bits;
    for (int64_t trip = 0; trip <= MOST_TRIPS; trip++) {
        if (!execute_iteration(&p, counter)) return -1;
        if ((bits_of(&p, test) & 1) != stay) return trip;
        counter = bits_of(&p, next);
    }
    return -1;
}
