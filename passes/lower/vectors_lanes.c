/* vectors_lanes.c — vector operations lane by lane, for which the target has no instruction.
 *
 * A lane whose number is not known is selected by comparisons.  Wider lanes are combined from the
 * bits of narrower ones, or split into them. */
#include "passes/lower/vectors.h"

/* i's value is made of these lanes; where values of its type come in pieces, they are put together
 * besides. */
void vec_set_lanes(vec_state *s, ir_inst *i, ir_inst **lane) {
    unsigned lanes = ir_lanes(i->type), unit = vec_unit(s, i->type);
    vec_parts *p = &s->of[i->id];
    *p = (vec_parts){.unit = unit, .lane = lane};
    if (unit == 1) return;
    p->piece = vec_room(s, vec_count(lanes, unit));
    for (unsigned first = 0; first < lanes; first += unit) {
        unsigned known = lanes - first < unit ? lanes - first : unit;
        p->piece[first / unit] = vec_of_lanes(s, ir_elem(i->type), lane + first, known, unit);
    }
}

ir_inst *vec_build_like(vec_state *s, const ir_inst *i, ir_type t, ir_inst *const *args) {
    return ir_build_like(&s->b, i, t, args);
}

/* What is the same in two lanes is done once. */
void vec_by_lanes(vec_state *s, ir_inst *i) {
    ir_inst *args[8], **out = vec_room(s, ir_lanes(i->type));
    assert(i->nargs <= 8);
    for (unsigned k = 0; k < ir_lanes(i->type); k++) {
        bool same = k > 0;
        for (unsigned n = 0; n < i->nargs; n++) {
            ir_inst *x = vec_lane(s, ir_arg(i, n), k);
            same &= k && x == args[n];
            args[n] = x;
        }
        out[k] = same ? out[k - 1] : vec_build_like(s, i, ir_elem(i->type), args);
    }
    vec_set_lanes(s, i, out);
}

static ir_inst *is_lane(vec_state *s, ir_inst *index, unsigned k) {
    return ir_build2(&s->b, IR_OP_eq, IR_I1, index, ir_const(s->f, index->type, k));
}

static ir_inst *choose(vec_state *s, ir_inst *c, ir_inst *x, ir_inst *y) {
    return ir_build_select(&s->b, c, x, y);
}

void vec_insert_lane(vec_state *s, ir_inst *i) {
    ir_inst **out = vec_room(s, ir_lanes(i->type)), *v = ir_arg(i, 0), *index = ir_arg(i, 2);
    for (unsigned k = 0; k < ir_lanes(i->type); k++) {
        ir_inst *old = vec_lane(s, v, k);
        if (ir_is_const(index))
            out[k] = index->imm.bits == k ? ir_arg(i, 1) : old;
        else
            out[k] = choose(s, is_lane(s, index, k), ir_arg(i, 1), old);
    }
    vec_set_lanes(s, i, out);
}

static ir_inst *pick_lane(vec_state *s, ir_inst *v, ir_inst *index) {
    unsigned n = ir_lanes(v->type);
    if (ir_is_const(index))
        return index->imm.bits < n ? vec_lane(s, v, (unsigned)index->imm.bits)
                                   : ir_undef(s->f, ir_elem(v->type));
    ir_inst *x = vec_lane(s, v, n - 1);
    for (unsigned k = n - 1; k-- > 0;) {
        ir_inst *lane = vec_lane(s, v, k);
        x = choose(s, is_lane(s, index, k), lane, x);
    }
    return x;
}

ir_inst *vec_pick_lane(vec_state *s, const ir_inst *i) {
    return pick_lane(s, ir_arg(i, 0), ir_arg(i, 1));
}

void vec_permute_lanes(vec_state *s, ir_inst *i) {
    ir_inst **out = vec_room(s, ir_lanes(i->type));
    for (unsigned k = 0; k < ir_lanes(i->type); k++)
        out[k] = pick_lane(s, ir_arg(i, 0), vec_lane(s, ir_arg(i, 1), k));
    vec_set_lanes(s, i, out);
}

ir_inst *vec_reduce_lanes(vec_state *s, const ir_inst *i) {
    ir_inst *v = ir_arg(i, 0), *x = vec_lane(s, v, 0);
    for (unsigned k = 1; k < ir_lanes(v->type); k++)
        x = ir_build2(&s->b, i->op == IR_OP_any ? IR_OP_or : IR_OP_and, IR_I1, x,
                      vec_lane(s, v, k));
    return x;
}

void vec_shuffle_lanes(vec_state *s, ir_inst *i) {
    ir_inst **out = vec_room(s, ir_lanes(i->type));
    unsigned n = ir_lanes(ir_arg(i, 0)->type);
    for (unsigned k = 0; k < ir_lanes(i->type); k++) {
        unsigned from = i->imm.mask[k];
        bool second = from >= n;
        out[k] = from == 255 ? ir_undef(s->f, ir_elem(i->type))
                             : vec_lane(s, ir_arg(i, second), second ? from - n : from);
    }
    vec_set_lanes(s, i, out);
}

/* ----------------------------------------------------------------------------------------- bits */

ir_inst *vec_cast(vec_state *s, ir_type t, ir_inst *x) {
    return x->type == t ? x : ir_build1(&s->b, IR_OP_bitcast, t, x);
}

static ir_inst *shift(vec_state *s, ir_op op, ir_inst *x, unsigned by) {
    return by ? ir_build2(&s->b, op, x->type, x, ir_const(s->f, x->type, by)) : x;
}

/* Lane k of type t out of narrower lanes. */
static ir_inst *join_lanes(vec_state *s, ir_inst *v, ir_type t, unsigned k) {
    const ir_module *m = s->f->module;
    unsigned narrow = ir_bits(m, v->type), wide = ir_bits(m, t), n = wide / narrow;
    ir_inst *sum = NULL;
    for (unsigned j = 0; j < n; j++) {
        ir_inst *x = vec_cast(s, vec_bits_type(narrow), vec_lane(s, v, k * n + j));
        x = shift(s, IR_OP_shl, ir_build1(&s->b, IR_OP_zext, vec_bits_type(wide), x), j * narrow);
        sum = sum ? ir_build2(&s->b, IR_OP_or, x->type, sum, x) : x;
    }
    return vec_cast(s, t, sum);
}

static ir_inst *split_lanes(vec_state *s, ir_inst *v, ir_type t, unsigned k) {
    const ir_module *m = s->f->module;
    unsigned wide = ir_bits(m, v->type), narrow = ir_bits(m, t), n = wide / narrow;
    ir_inst *x = vec_cast(s, vec_bits_type(wide), vec_lane(s, v, k / n));
    x = shift(s, IR_OP_lshr, x, k % n * narrow);
    return vec_cast(s, t, ir_build1(&s->b, IR_OP_trunc, vec_bits_type(narrow), x));
}

ir_inst *vec_cast_lane(vec_state *s, const ir_inst *i, unsigned k) {
    const ir_module *m = s->f->module;
    ir_inst *v = ir_arg(i, 0);
    ir_type t = ir_elem(i->type);
    unsigned from = ir_bits(m, v->type), to = ir_bits(m, t);
    if (from == to) return vec_cast(s, t, vec_lane(s, v, k));
    return from < to ? join_lanes(s, v, t, k) : split_lanes(s, v, t, k);
}
