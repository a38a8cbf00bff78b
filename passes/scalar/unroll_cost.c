/* unroll_cost.c — estimates what a copy of a loop's body costs after folding.
 *
 * Each value of the loop is of one of four sorts in a single iteration.
 *   KNOWN    a constant, once the number of the iteration is constant
 *   PLACE    the address of a stack variable plus a known offset: accesses there become values
 *   FIXED    the same in all iterations, so one copy remains
 *   VARYING  all other values
 * A phi of the header is assumed to be of the sort of its initial value until its next value
 * contradicts.  After a few rounds of that, all phis count as varying.
 *
 * Definitions precede uses in the blocks of a loop, except around inner loops.  A value that is
 * used before its definition is visited counts as varying.
 */
#include "passes/analysis/analysis.h"

enum { MAX_GUESSES = 4 };

/* Marks of instructions. */
enum { VARYING, FIXED, KNOWN, PLACE };

typedef struct {
    const ir_loops *loops;
    const ir_loop *loop;
    unsigned back; /* the header's predecessor number that is its back edge */
    pass_loop_cost *cost;
} estimate;

static bool is_in_loop(const estimate *e, const ir_inst *v) {
    return v->block && ir_in_loop(e->loops, v->block, e->loop);
}

static bool is_variable(const ir_inst *p) {
    while (p->op == IR_OP_ptradd && ir_is_const(ir_arg(p, 1))) p = ir_arg(p, 0);
    return p->op == IR_OP_alloca;
}

static uint32_t sort_of(const estimate *e, const ir_inst *v) {
    if (is_in_loop(e, v)) return v->mark;
    if (ir_is_const(v) || v->op == IR_OP_undef) return KNOWN;
    return is_variable(v) ? PLACE : FIXED;
}

/* The sort of the result of a pure instruction. */
static uint32_t sort_of_result(const estimate *e, const ir_inst *i) {
    bool known = i->nargs > 0 && !ir_has_flag(i, F_NOFOLD | F_WORKITEM), fixed = true;
    bool address = i->op == IR_OP_ptradd || i->op == IR_OP_ptrcast;
    for (unsigned n = 0; n < i->nargs; n++) {
        uint32_t sort = sort_of(e, ir_arg(i, n));
        address &= sort == (n ? KNOWN : PLACE);
        known &= sort == KNOWN;
        fixed &= sort != VARYING;
    }
    return address ? PLACE : known ? KNOWN : fixed ? FIXED : VARYING;
}

static uint32_t sort_of_inst(const estimate *e, const ir_inst *i) {
    if (i->op == IR_OP_phi) return i->nargs == 1 ? sort_of(e, ir_arg(i, 0)) : VARYING;
    return ir_has_flag(i, F_PURE) ? sort_of_result(e, i) : VARYING;
}

/* The address of a load or store, or NULL. */
static const ir_inst *address_of(const ir_inst *i) {
    if (i->op != IR_OP_load && i->op != IR_OP_store) return NULL;
    return ir_arg(i, i->op == IR_OP_store);
}

static bool remains(const estimate *e, const ir_inst *i) {
    const ir_inst *address = address_of(i);
    if (address) return sort_of(e, address) != PLACE;
    if (ir_is_terminator(i)) return i->nargs && sort_of(e, ir_arg(i, 0)) != KNOWN;
    if (i->op == IR_OP_phi && i->block == e->loop->header) return false;
    return i->mark == VARYING;
}

static void count(estimate *e, const ir_inst *i) {
    const ir_inst *address = address_of(i);
    e->cost->size++;
    e->cost->copied += remains(e, i);
    e->cost->convergent |= ir_has_flag(i, F_CONVERGENT);
    e->cost->indexed |= address && is_in_loop(e, address) && address->mark == PLACE;
}

/* False: larger than `limit` instructions. */
static bool walk(estimate *e, uint32_t limit) {
    *e->cost = (pass_loop_cost){0};
    for (uint32_t k = 0; k < e->loop->nblocks; k++)
        foreach_inst (i, e->loop->block[k]) {
            bool guessed = i->op == IR_OP_phi && i->block == e->loop->header;
            if (!guessed) i->mark = sort_of_inst(e, i);
            count(e, i);
            if (e->cost->size > limit) return false;
        }
    return true;
}

/* --------------------------------------------------------------------------- phis of the header */

static void guess_phis(const estimate *e) {
    foreach_phi (phi, e->loop->header) {
        uint32_t sort = sort_of(e, ir_arg(phi, !e->back));
        phi->mark = sort == FIXED ? VARYING : sort;
    }
}

static bool correct_guesses(const estimate *e) {
    bool right = true;
    foreach_phi (phi, e->loop->header) {
        if (phi->mark == VARYING || phi->mark == sort_of(e, ir_arg(phi, e->back))) continue;
        phi->mark = VARYING;
        right = false;
    }
    return right;
}

bool pass_estimate_copies(const ir_loops *l, const ir_loop *loop, uint32_t limit,
                          pass_loop_cost *cost) {
    estimate e = {.loops = l, .loop = loop, .cost = cost};
    e.back = ir_in_loop(l, loop->header->pred[1], loop) ? 1 : 0;
    for (uint32_t k = 0; k < loop->nblocks; k++)
        foreach_inst (i, loop->block[k]) i->mark = VARYING;
    guess_phis(&e);
    for (unsigned n = 0; n < MAX_GUESSES; n++) {
        if (!walk(&e, limit)) return false;
        if (correct_guesses(&e)) return true;
    }
    foreach_phi (phi, loop->header) phi->mark = VARYING;
    return walk(&e, limit);
}
