/* bitcast.c — bitcasts between components of different sizes, such as a double as two integers.
 *
 * Components are vectors of their own, one lane for each item.  So a component of the result is cut
 * out of a wider one by a shift, or put together from narrower ones.
 */
#include "passes/vectorize/simd.h"

static ir_type int_of(unsigned bits) {
    return bits == 8 ? IR_I8 : bits == 16 ? IR_I16 : bits == 32 ? IR_I32 : IR_I64;
}

static ir_inst *cast(simd *s, ir_inst *x, ir_type elem) {
    ir_type t = ir_with_elem(x->type, elem);
    return x->type == t ? x : ir_build1(&s->b, IR_OP_bitcast, t, x);
}

static ir_inst *shift(simd *s, ir_op op, ir_inst *x, unsigned by) {
    return by ? ir_build2(&s->b, op, x->type, x, ir_const(s->f, x->type, by)) : x;
}

/* Component k of the operand, as integers. */
static ir_inst *part_of(simd *s, const ir_inst *i, unsigned k) {
    ir_inst *v = ir_arg(i, 0);
    return cast(s, simd_part(s, v, k, i->block), int_of(ir_bits(NULL, v->type)));
}

bool simd_may_cast(const ir_inst *i) {
    ir_type from = ir_arg(i, 0)->type, to = i->type;
    bool same = ir_lanes(from) == ir_lanes(to);
    return !ir_is_ptr(from) && !ir_is_ptr(to) && (same || (!ir_is_bool(from) && !ir_is_bool(to)));
}

ir_inst *simd_cast(simd *s, const ir_inst *i, unsigned k) {
    unsigned from = ir_bits(NULL, ir_arg(i, 0)->type), to = ir_bits(NULL, i->type);
    ir_type t = int_of(to);
    if (from == to) return cast(s, simd_part(s, ir_arg(i, 0), k, i->block), ir_elem(i->type));
    if (from > to) {
        unsigned n = from / to;
        ir_inst *x = shift(s, IR_OP_lshr, part_of(s, i, k / n), k % n * to);
        x = ir_build1(&s->b, IR_OP_trunc, ir_with_elem(x->type, t), x);
        return cast(s, x, ir_elem(i->type));
    }
    ir_inst *all = NULL;
    for (unsigned n = to / from, j = 0; j < n; j++) {
        ir_inst *x = part_of(s, i, k * n + j);
        x = ir_build1(&s->b, IR_OP_zext, ir_with_elem(x->type, t), x);
        x = shift(s, IR_OP_shl, x, j * from);
        all = all ? ir_build2(&s->b, IR_OP_or, x->type, all, x) : x;
    }
    return cast(s, all, ir_elem(i->type));
}
