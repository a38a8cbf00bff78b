/* legalize.c — replaces what no native target can select by what all of them can.
 *
 *   shifts           the amount is below the width: longer ones give 0, or the sign
 *   division         operands for which a machine traps are replaced
 *   bits in memory   an i1 is the lowest bit of a byte, whatever the others are
 *   bytes and words  division, counting, conversion to floats and high halves of products are
 *                    computed in 32 or 64 bits
 *   control flow     see legalize_flow.c
 *
 * Needs the basic operations that the expansion of builtins leaves, and vectors as the target takes
 * them, which stay.
 */
#include "codegen/native/legalize.h"

static ir_inst *op2(cg_legalizer *l, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build2(&l->b, op, x->type, x, y);
}

static unsigned width(const cg_legalizer *l, const ir_inst *x) {
    return ir_bits(l->f->module, x->type);
}

static ir_inst *number(cg_legalizer *l, const ir_inst *like, uint64_t n) {
    return ir_const(l->f, like->type, n);
}

/* --------------------------------------------------------------------------------------- shifts */

static bool is_below(const ir_inst *x, unsigned limit) {
    if (ir_is_const(x)) return x->imm.bits < limit;
    bool cut = x->op == IR_OP_and || x->op == IR_OP_umin;
    return cut && ir_is_const(ir_arg(x, 1)) && ir_arg(x, 1)->imm.bits < limit;
}

static ir_inst *legalize_shift(cg_legalizer *l, ir_inst *i) {
    ir_inst *x = ir_arg(i, 0), *y = ir_arg(i, 1);
    unsigned w = width(l, x);
    if (is_below(y, w)) return NULL;
    if (i->op == IR_OP_ashr)
        return op2(l, IR_OP_ashr, x, op2(l, IR_OP_umin, y, number(l, y, w - 1)));
    ir_inst *cut = op2(l, (ir_op)i->op, x, op2(l, IR_OP_and, y, number(l, y, w - 1)));
    ir_inst *inside = ir_build2(&l->b, IR_OP_ult, IR_I1, y, number(l, y, w));
    return ir_build_select(&l->b, inside, cut, number(l, x, 0));
}

/* A rotation by any amount is one by its remainder. */
static ir_inst *legalize_rotation(cg_legalizer *l, ir_inst *i) {
    ir_inst *y = ir_arg(i, 1);
    unsigned w = width(l, y);
    if (w >= 32 || is_below(y, w)) return NULL;
    return op2(l, IR_OP_rotl, ir_arg(i, 0), op2(l, IR_OP_and, y, number(l, y, w - 1)));
}

/* ------------------------------------------------------------------------------ narrow and wide */

static ir_inst *extend(cg_legalizer *l, ir_inst *x, ir_kind kind, bool sign) {
    return ir_build1(&l->b, sign ? IR_OP_sext : IR_OP_zext, ir_scalar(kind), x);
}

static ir_inst *cut_to(cg_legalizer *l, const ir_inst *i, ir_inst *x) {
    return ir_build1(&l->b, IR_OP_trunc, i->type, x);
}

/* -------------------------------------------------------------------------------------- division
 *
 * Machines may trap when they divide by 0, or INT_MIN by -1; in the IR these results are only
 * unspecified. */

static bool is_signed(const ir_inst *i) { return i->op == IR_OP_sdiv || i->op == IR_OP_srem; }

static bool cannot_trap(const cg_legalizer *l, const ir_inst *i) {
    const ir_inst *y = ir_arg(i, 1);
    const uint64_t ones = UINT64_MAX >> (64 - width(l, y));
    return ir_is_const(y) && y->imm.bits && !(is_signed(i) && y->imm.bits == ones);
}

static ir_inst *one_if(cg_legalizer *l, ir_inst *wrong, ir_inst *y) {
    return ir_build_select(&l->b, wrong, number(l, y, 1), y);
}

/* Divides by 1 if the divisor is 0 or -1.  For -1 the remainder is the same (0), and the quotient
 * becomes -x. */
static ir_inst *signed_division(cg_legalizer *l, ir_inst *i) {
    ir_inst *x = ir_arg(i, 0), *y = ir_arg(i, 1);
    ir_inst *next = op2(l, IR_OP_add, y, number(l, y, 1));
    ir_inst *wrong = ir_build2(&l->b, IR_OP_ult, IR_I1, next, number(l, y, 2));
    ir_inst *result = op2(l, (ir_op)i->op, x, one_if(l, wrong, y));
    if (i->op == IR_OP_srem) return result;
    ir_inst *negates = ir_build2(&l->b, IR_OP_eq, IR_I1, next, number(l, y, 0));
    ir_inst *negated = op2(l, IR_OP_sub, number(l, x, 0), x);
    return ir_build_select(&l->b, negates, negated, result);
}

/* In 32 bits no quotient of narrower numbers is too large. */
static ir_inst *legalize_division(cg_legalizer *l, ir_inst *i) {
    const bool sign = is_signed(i), narrow = width(l, i) < 32, safe = cannot_trap(l, i);
    ir_inst *x = ir_arg(i, 0), *y = ir_arg(i, 1);
    if (!narrow && safe) return NULL;
    if (!narrow && sign) return signed_division(l, i);
    if (narrow) x = extend(l, x, IR_I32, sign);
    if (narrow) y = extend(l, y, IR_I32, sign);
    if (!safe) y = one_if(l, ir_build2(&l->b, IR_OP_eq, IR_I1, y, number(l, y, 0)), y);
    ir_inst *result = op2(l, (ir_op)i->op, x, y);
    return narrow ? cut_to(l, i, result) : result;
}

/* -------------------------------------------------------------------------- products and counts */

static ir_inst *legalize_high(cg_legalizer *l, ir_inst *i) {
    bool sign = i->op == IR_OP_smulh;
    unsigned w = width(l, i);
    if (w == 64) return NULL;
    ir_inst *x = extend(l, ir_arg(i, 0), IR_I64, sign), *y = extend(l, ir_arg(i, 1), IR_I64, sign);
    ir_inst *product = op2(l, IR_OP_mul, x, y);
    return cut_to(l, i, op2(l, IR_OP_lshr, product, number(l, product, w)));
}

static ir_inst *popcount(cg_legalizer *l, ir_inst *x) {
    return ir_build1(&l->b, IR_OP_popcount, x->type, x);
}

/* Sets all bits below the highest one, and counts them. */
static ir_inst *counted_clz(cg_legalizer *l, ir_inst *x) {
    for (unsigned by = 1; by < width(l, x); by *= 2)
        x = op2(l, IR_OP_or, x, op2(l, IR_OP_lshr, x, number(l, x, by)));
    ir_inst *count = popcount(l, x);
    return op2(l, IR_OP_sub, number(l, x, width(l, x)), count);
}

/* The bits of x - 1 that x does not have are those below its lowest one. */
static ir_inst *counted_ctz(cg_legalizer *l, ir_inst *x) {
    ir_inst *ones = number(l, x, UINT64_MAX);
    ir_inst *less = op2(l, IR_OP_add, x, ones), *others = op2(l, IR_OP_xor, x, ones);
    return popcount(l, op2(l, IR_OP_and, others, less));
}

static ir_inst *legalize_clz(cg_legalizer *l, ir_inst *i) {
    unsigned w = width(l, i);
    if (w >= 32) return l->lacks_count ? counted_clz(l, ir_arg(i, 0)) : NULL;
    ir_inst *x = extend(l, ir_arg(i, 0), IR_I32, false);
    ir_inst *count = l->lacks_count ? counted_clz(l, x) : ir_build1(&l->b, IR_OP_clz, IR_I32, x);
    return cut_to(l, i, op2(l, IR_OP_sub, count, number(l, count, 32 - w)));
}

/* In 32 bits, a bit above the highest one ends the count. */
static ir_inst *legalize_ctz(cg_legalizer *l, ir_inst *i) {
    unsigned w = width(l, i);
    if (w >= 32) return l->lacks_count ? counted_ctz(l, ir_arg(i, 0)) : NULL;
    ir_inst *x = extend(l, ir_arg(i, 0), IR_I32, false);
    x = op2(l, IR_OP_or, x, number(l, x, UINT64_C(1) << w));
    return cut_to(l, i,
                  l->lacks_count ? counted_ctz(l, x) : ir_build1(&l->b, IR_OP_ctz, IR_I32, x));
}

static ir_inst *legalize_popcount(cg_legalizer *l, ir_inst *i) {
    if (width(l, i) >= 32) return NULL;
    return cut_to(l, i, popcount(l, extend(l, ir_arg(i, 0), IR_I32, false)));
}

static ir_inst *legalize_sitofp(cg_legalizer *l, ir_inst *i) {
    if (width(l, ir_arg(i, 0)) >= 32) return NULL;
    return ir_build1(&l->b, IR_OP_sitofp, i->type, extend(l, ir_arg(i, 0), IR_I32, true));
}

static ir_inst *legalize_sabs(cg_legalizer *l, ir_inst *i) {
    if (width(l, i) >= 32) return NULL;
    ir_inst *wide = extend(l, ir_arg(i, 0), IR_I32, true);
    return cut_to(l, i, ir_build1(&l->b, IR_OP_sabs, IR_I32, wide));
}

/* ----------------------------------------------------------------------------------------- walk */

/* Returns the value that replaces i; NULL: i is legal.  What it builds is legal. */
static ir_inst *legalize_load(cg_legalizer *l, ir_inst *i) {
    if (!ir_is_bool(i->type)) return NULL;
    ir_inst *byte =
        ir_build_raw(&l->b, IR_OP_load, IR_I8, ir_with_imm(i->imm), IR_ARGS(ir_arg(i, 0)));
    return cut_to(l, i, byte);
}

static ir_inst *legalize_inst(cg_legalizer *l, ir_inst *i) {
    if (ir_is_vector(i->type)) return NULL;
    switch (i->op) {
    case IR_OP_load: return legalize_load(l, i);
    case IR_OP_shl:
    case IR_OP_lshr:
    case IR_OP_ashr: return legalize_shift(l, i);
    case IR_OP_rotl: return legalize_rotation(l, i);
    case IR_OP_udiv:
    case IR_OP_sdiv:
    case IR_OP_urem:
    case IR_OP_srem: return legalize_division(l, i);
    case IR_OP_umulh:
    case IR_OP_smulh: return legalize_high(l, i);
    case IR_OP_clz: return legalize_clz(l, i);
    case IR_OP_ctz: return legalize_ctz(l, i);
    case IR_OP_popcount: return legalize_popcount(l, i);
    case IR_OP_sitofp: return legalize_sitofp(l, i);
    case IR_OP_sabs: return legalize_sabs(l, i);
    default: return NULL;
    }
}

static void legalize_block(cg_legalizer *l, ir_block *b) {
    foreach_inst (i, b) {
        ir_look_at(b->func->module->cx, i);
        ir_before(&l->b, i);
        l->b.loc = i->loc;
        ir_inst *r = legalize_inst(l, i);
        if (!r) continue;
        ir_replace_uses(i, r);
        ir_remove(i);
    }
}

void cg_legalize(ir_func *f, bool lacks_count, ir_arena *scratch) {
    cg_legalizer l = {.f = f, .scratch = scratch, .lacks_count = lacks_count};
    ir_remove_unreachable(f);
    ir_builder_init(&l.b, f);
    cg_legalize_flow(&l);
    foreach_block (b, f) legalize_block(&l, b);
    cg_legalize_branches(&l);
}
