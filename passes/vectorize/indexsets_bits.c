/* indexsets_bits.c — operations on bits of an index, for all items if the other operand allows it.
 *
 * The index of an item is split at a power of two that the launch gives, in a sort, a transform or
 * a reduction:
 *
 *   i & (n - 1)    is the same distance from one item to the next within n items
 *   i ^ n, i | n   are so where n has none of the bits that differ between neighbours
 *   i & n          is the same for all neighbours then
 *
 * If the low bits of n are 0, so that this holds for as many items as a vector has at most, the
 * copy of the loop does all items; otherwise it does none.  In the copy, n without its low bits
 * takes the place of n, and n - 1 with all of its low bits that of n - 1: the shapes of values
 * (shape.c) follow from these.  It is not known where the index begins, which only costs time.
 *
 * Only what leads to an address is decided.
 */
#include "passes/vectorize/indexsets.h"

enum {
    LOW = IR_MAX_LANES - 1, /* the bits in which items of a vector differ */
    MAX_USES = 64           /* that are followed */
};

/* ------------------------------------------------------------------------------------ decisions */

static bool is_on_the_way(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_add:
    case IR_OP_sub:
    case IR_OP_mul:
    case IR_OP_shl:
    case IR_OP_and:
    case IR_OP_or:
    case IR_OP_xor:
    case IR_OP_zext:
    case IR_OP_sext:
    case IR_OP_trunc: return true;
    default: return false;
    }
}

/* Is v a part of an address? */
static bool leads_to_address(const sets *s, const ir_inst *v) {
    const ir_inst *list[MAX_USES] = {v};
    unsigned n = 1;
    for (unsigned k = 0; k < n; k++)
        foreach_use (use, list[k]) {
            if (!sets_is_inside(s, use->user)) continue;
            if (use->user->op == IR_OP_ptradd) return true;
            if (is_on_the_way(use->user) && n < MAX_USES) list[n++] = use->user;
        }
    return false;
}

static bool is_compared(const ir_inst *v) {
    foreach_use (use, v)
        if (use->user->op != IR_OP_eq && use->user->op != IR_OP_ne) return false;
    return v->uses;
}

/* The low bits of `value`, which is the same for all items, are to be all 0, or all 1. */
static void decide_bits(sets *s, ir_inst *value, bool ones) {
    foreach_in (const sets_decision, d, s->plan->decisions)
        if (d->how == SETS_IS_ROUND && d->at == value) return;
    *ir_push(s->scratch, &s->plan->decisions) =
        (sets_decision){.at = value, .how = SETS_IS_ROUND, .n = ones};
}

void sets_decide_bits(sets *s, ir_inst *i) {
    if (i->op != IR_OP_and && i->op != IR_OP_or && i->op != IR_OP_xor) return;
    if (!ir_is_int(i->type) || ir_is_vector(i->type) || ir_bits(NULL, i->type) < 32) return;
    unsigned n = sets_is_inside(s, ir_arg(i, 1)) ? 0 : 1;
    ir_inst *common = ir_arg(i, n), *index = ir_arg(i, 1 - n);
    if (sets_is_inside(s, common) || ir_is_const(common) || !sets_is_inside(s, index)) return;
    if (sets_stride_of(s, index) != 1 || !(is_compared(i) || leads_to_address(s, i))) return;
    bool ones = i->op == IR_OP_and && !is_compared(i);
    if (!ones && i->op == IR_OP_and && !s->plan->decisions.n) return; /* a test of bits alone */
    decide_bits(s, common, ones);
    bool is_less = common->op == IR_OP_add && ir_is_const(ir_arg(common, 1)) &&
                   ir_signed_const(ir_arg(common, 1)) == -1;
    if (ones && is_less) decide_bits(s, ir_arg(common, 0), false);
}

/* --------------------------------------------------------------------------------------- values */

void sets_build_bits(sets *s) {
    foreach_in (sets_decision, d, s->plan->decisions) {
        if (d->how != SETS_IS_ROUND) continue;
        ir_type t = d->at->type;
        ir_inst *low = ir_const(s->f, t, LOW), *want = ir_const(s->f, t, d->n ? LOW : 0);
        ir_inst *high = ir_const(s->f, t, ir_zext(~(uint64_t)LOW, ir_bits(NULL, t)));
        ir_inst *holds =
            ir_build2(&s->b, IR_OP_eq, IR_I1, ir_build2(&s->b, IR_OP_and, t, d->at, low), want);
        sets_require(s, holds);
        d->with = d->n ? ir_build2(&s->b, IR_OP_or, t, d->at, low)
                       : ir_build2(&s->b, IR_OP_and, t, d->at, high);
    }
}
