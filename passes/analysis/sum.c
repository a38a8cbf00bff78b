/* sum.c — integers as sums of other values of one function.
 *
 * The form is constant + sum of factor * symbol, equal to the value modulo 2^width.  It is found by
 * decomposing sums, products and shifts by constants, and `or` with bits that a shift has cleared.
 * All other values are symbols.  The extension of a sum that does not wrap (nsw for sext, nuw for
 * zext) is decomposed as well; its symbols are the extensions of narrower values.
 *
 * The forms of affine.c consist of ids and iteration numbers instead, which mean the same in
 * different kernels.
 */
#include "passes/analysis/analysis.h"

enum { MAX_OPEN = 8, MAX_STEPS = 64 };

/* factor * v, or factor times v extended. */
typedef struct {
    ir_inst *v;
    ir_op wide; /* IR_OP_sext, IR_OP_zext; IR_OP_COUNT: as it is */
    int64_t factor;
} part;

typedef struct {
    part open[MAX_OPEN]; /* still to be taken apart */
    unsigned n, steps;
    bool cancelled;
    pass_affine *out;
} splitter;

static int64_t constant_of(const part *p, const ir_inst *c) {
    unsigned bits = ir_bits(NULL, c->type);
    return p->wide == IR_OP_zext ? (int64_t)ir_zext(c->imm.bits, bits) : ir_sext(c->imm.bits, bits);
}

/* Is the extension of the sum the sum of the extensions? */
static bool may_split(const part *p) {
    if (p->wide == IR_OP_sext) return p->v->flags & IR_NSW;
    return p->wide == IR_OP_COUNT || p->v->flags & IR_NUW;
}

static void open(splitter *s, const part *from, unsigned arg, int64_t factor) {
    s->open[s->n++] = (part){ir_arg(from->v, arg), from->wide, ir_wrap_mul(from->factor, factor)};
}

static bool split_sum(splitter *s, const part *p) {
    if (!may_split(p)) return false;
    open(s, p, 0, 1);
    open(s, p, 1, p->v->op == IR_OP_sub ? -1 : 1);
    return true;
}

static bool split_product(splitter *s, const part *p) {
    const ir_inst *by = ir_arg(p->v, 1);
    if (!ir_is_const(by) || !may_split(p)) return false;
    open(s, p, 0, constant_of(p, by));
    return true;
}

/* A constant below the width, and below 63, or -1. */
static int shift_of(const ir_inst *v) {
    const ir_inst *by = ir_arg(v, 1);
    bool is_plain = ir_is_const(by) && by->imm.bits < ir_bits(NULL, v->type) && by->imm.bits < 63;
    return is_plain ? (int)by->imm.bits : -1;
}

static bool split_shift(splitter *s, const part *p) {
    int by = shift_of(p->v);
    if (by < 0 || !may_split(p)) return false;
    open(s, p, 0, INT64_C(1) << by);
    return true;
}

/* The low bits of a left shift are zero: there `or` is a sum that never wraps. */
static bool split_or(splitter *s, const part *p) {
    const ir_inst *high = ir_arg(p->v, 0), *low = ir_arg(p->v, 1);
    int by = high->op == IR_OP_shl ? shift_of(high) : -1;
    if (by < 0 || !ir_is_const(low) || low->imm.bits >> by) return false;
    open(s, p, 0, 1);
    open(s, p, 1, 1);
    return true;
}

static bool split_extension(splitter *s, const part *p) {
    if (p->wide != IR_OP_COUNT && p->wide != p->v->op && p->v->op != IR_OP_zext) return false;
    s->open[s->n++] = (part){ir_arg(p->v, 0), (ir_op)p->v->op, p->factor};
    return true;
}

/* False: v is a symbol. */
static bool split(splitter *s, const part *p) {
    if (s->n + 2 > MAX_OPEN || ++s->steps > MAX_STEPS) return false;
    switch (p->v->op) {
    case IR_OP_add:
    case IR_OP_sub: return split_sum(s, p);
    case IR_OP_mul: return split_product(s, p);
    case IR_OP_shl: return split_shift(s, p);
    case IR_OP_or: return split_or(s, p);
    case IR_OP_sext:
    case IR_OP_zext: return split_extension(s, p);
    default: return false;
    }
}

/* False: too many terms. */
static bool add_part(splitter *s, const part *p) {
    pass_affine one;
    one.n = !ir_is_const(p->v);
    one.constant = one.n ? 0 : constant_of(p, p->v);
    if (one.n) {
        ir_op kind = p->wide == IR_OP_COUNT ? (ir_op)p->v->op : p->wide;
        one.term[0] = (pass_term){{kind, 0, p->v}, 1};
    }
    uint32_t before = s->out->n;
    bool fits = pass_affine_add(s->out, &one, p->factor);
    s->cancelled |= s->out->n < before;
    return fits;
}

/* Terms that do not count are left as they are. */
bool pass_find_sum(ir_inst *v, pass_affine *out) {
    splitter s;
    s.open[0] = (part){v, IR_OP_COUNT, 1};
    s.n = 1;
    s.steps = 0;
    s.cancelled = false;
    s.out = out;
    out->n = 0;
    out->constant = 0;
    while (s.n) {
        const part p = s.open[--s.n];
        if (split(&s, &p) || add_part(&s, &p)) continue;
        *out = (pass_affine){.term = {{{(ir_op)v->op, 0, v}, 1}}, .n = 1};
        return false;
    }
    return s.cancelled;
}
