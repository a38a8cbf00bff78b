/* widen.c — the copies of instructions: scalars of what is uniform or strided, and vectors of W
 * lanes of what varies, one for each component of the value.
 */
#include "passes/vectorize/simd.h"

/* --------------------------------------------------------------------------------------- values */

static ir_type wide_type(const simd *s, ir_type t) { return ir_vector(ir_elem(t), s->lanes); }

ir_inst *simd_base(simd *s, ir_inst *v) {
    if (!simd_is_inside(s, v)) return v;
    assert_at(v, s->value[v->id].base);
    return s->value[v->id].base;
}

ir_inst *simd_splat(simd *s, ir_inst *scalar) {
    if (scalar->op == IR_OP_undef) return ir_undef(s->f, wide_type(s, scalar->type));
    if (ir_is_const(scalar)) return ir_const(s->f, wide_type(s, scalar->type), scalar->imm.bits);
    return ir_build_splat(&s->b, scalar, s->lanes);
}

/* 0, stride, 2 * stride … */
static ir_inst *steps(simd *s, ir_type t, int64_t stride) {
    uint64_t lane[IR_MAX_LANES];
    for (unsigned k = 0; k < s->lanes; k++)
        lane[k] = ir_zext((uint64_t)ir_wrap_mul(stride, k), ir_bits(NULL, t));
    return ir_const_lanes(s->f, ir_vector(t, s->lanes), lane);
}

ir_inst *simd_ramp(simd *s, ir_inst *base, int64_t stride) {
    ir_inst *step = steps(s, base->type, stride);
    return ir_build2(&s->b, IR_OP_add, step->type, simd_splat(s, base), step);
}

/* Goes where a value can be spread over lanes: after its definition, or before the loop. */
static void go_after(simd *s, const ir_inst *scalar) {
    bool is_new = scalar->block && scalar->block->mark != SIMD_NONE;
    ir_inst *next = is_new ? scalar->next : s->preheader->last;
    if (is_new && scalar->op == IR_OP_phi) next = ir_first_non_phi(scalar->block);
    if (next)
        ir_before(&s->b, next);
    else
        ir_at_end(&s->b, scalar->block);
}

static ir_inst *component(simd *s, ir_inst *v, unsigned k) {
    if (!ir_is_vector(v->type)) return v;
    if (ir_is_const(v)) return ir_const(s->f, ir_elem(v->type), v->imm.lanes[k]);
    if (v->op == IR_OP_undef) return ir_undef(s->f, ir_elem(v->type));
    return ir_build_extract(&s->b, v, k);
}

static ir_inst *spread(simd *s, ir_inst *v, unsigned k) {
    const ir_builder here = s->b;
    ir_inst *base = simd_base(s, v);
    int64_t stride = 0;
    if (simd_is_inside(s, v) && simd_shape_of(s, v) == SIMD_STRIDED)
        stride = s->value[v->id].stride;
    go_after(s, base);
    base = component(s, base, k);
    ir_inst *part = stride ? simd_ramp(s, base, stride) : simd_splat(s, base);
    s->b.block = here.block;
    s->b.before = here.before;
    return part;
}

static simd_value *value_of(simd *s, const ir_inst *v) {
    assert(v->id < s->code->nvalues);
    simd_value *value = &s->value[v->id];
    if (value->part) return value;
    if (!simd_is_inside(s, v)) *ir_push(s->scratch, &s->touched) = v->id;
    value->part = ir_new_array(s->scratch, ir_inst *, ir_lanes(v->type));
    return value;
}

ir_inst *simd_part(simd *s, ir_inst *v, unsigned k, const ir_block *at) {
    if (simd_left_loop(s, v, at)) return s->value[v->id].last[k];
    if (ir_is_leaf(v) && v->op != IR_OP_param && v->op != IR_OP_address)
        return simd_splat(s, component(s, v, k));
    simd_value *value = value_of(s, v);
    if (!value->part[k]) value->part[k] = spread(s, v, k);
    return value->part[k];
}

void simd_set_part(simd *s, const ir_inst *v, unsigned k, ir_inst *part) {
    value_of(s, v)->part[k] = part;
}

/* ----------------------------------------------------------------------------------- operations */

/* Component k of operand n of i. */
static ir_inst *operand(simd *s, const ir_inst *i, unsigned n, unsigned k) {
    ir_inst *v = ir_arg(i, n);
    return simd_part(s, v, ir_is_vector(v->type) ? k : 0, i->block);
}

static ir_inst *copy_scalar(simd *s, const ir_inst *i) {
    ir_inst **args = ir_new_array(s->scratch, ir_inst *, i->nargs + 1);
    for (unsigned n = 0; n < i->nargs; n++) args[n] = simd_base(s, ir_arg(i, n));
    if (ir_has_flag(i, F_PURE)) return ir_build_like(&s->b, i, i->type, args);
    return ir_build_raw(&s->b, (ir_op)i->op, i->type, ir_attrs_of(i), (ir_args){i->nargs, args});
}

/* A lane that is not active divides by 1. */
static ir_inst *safe_divisor(simd *s, ir_inst *y, const simd_node *n) {
    if (!n->mask) return y;
    return ir_build_select(&s->b, n->mask, y, ir_const(s->f, y->type, 1));
}

static ir_inst *widen_lanewise(simd *s, const ir_inst *i, unsigned k, const simd_node *n) {
    ir_inst *args[8];
    assert_at(i, i->nargs <= 8);
    for (unsigned a = 0; a < i->nargs; a++) args[a] = operand(s, i, a, k);
    if (ir_has_flag(i, F_TRAPS)) args[1] = safe_divisor(s, args[1], n);
    uint32_t flags = i->flags;
    if (s->value[i->id].carried) flags &= ~(uint32_t)(IR_NSW | IR_NUW); /* of another order */
    return ir_build(&s->b, (ir_op)i->op, wide_type(s, i->type), (ir_attrs){flags, i->imm},
                    (ir_args){i->nargs, args});
}

/* Products, then sums of halves, as expand_dot_by_halves has them: lanes get the bits of the scalar
 * loop. */
static ir_inst *widen_dot(simd *s, const ir_inst *i) {
    ir_type t = wide_type(s, i->type);
    ir_inst *sum[IR_MAX_LANES], *rest = NULL;
    unsigned n = ir_lanes(ir_arg(i, 0)->type);
    for (unsigned k = 0; k < n; k++) {
        ir_inst *second = operand(s, i, 1, k);
        sum[k] = ir_build2(&s->b, IR_OP_fmul, t, operand(s, i, 0, k), second);
    }
    for (; n > 1; n /= 2) {
        ir_inst *last = sum[n - 1];
        if (n % 2) rest = rest ? ir_build2(&s->b, IR_OP_fadd, t, rest, last) : last;
        for (unsigned k = 0; k < n / 2; k++)
            sum[k] = ir_build2(&s->b, IR_OP_fadd, t, sum[k], sum[n / 2 + k]);
    }
    return rest ? ir_build2(&s->b, IR_OP_fadd, t, sum[0], rest) : sum[0];
}

/* some or every component */
static ir_inst *widen_reduction(simd *s, const ir_inst *i) {
    ir_inst *sum = operand(s, i, 0, 0);
    ir_op op = i->op == IR_OP_any ? IR_OP_or : IR_OP_and;
    for (unsigned k = 1; k < ir_lanes(ir_arg(i, 0)->type); k++)
        sum = ir_build2(&s->b, op, sum->type, sum, operand(s, i, 0, k));
    return sum;
}

static ir_inst *widen_shuffle(simd *s, const ir_inst *i, unsigned k) {
    unsigned from = i->imm.mask[k], n = ir_lanes(ir_arg(i, 0)->type);
    if (from == 255) return ir_undef(s->f, wide_type(s, i->type));
    return from < n ? operand(s, i, 0, from) : operand(s, i, 1, from - n);
}

/* Component k of a value that varies. */
static ir_inst *widen_part(simd *s, const ir_inst *i, unsigned k, const simd_node *n) {
    switch (i->op) {
    case IR_OP_vec: return operand(s, i, k, 0);
    case IR_OP_extract: return operand(s, i, 0, (unsigned)ir_arg(i, 1)->imm.bits);
    case IR_OP_insert: return operand(s, i, ir_arg(i, 2)->imm.bits == k, k);
    case IR_OP_shuffle: return widen_shuffle(s, i, k);
    case IR_OP_any:
    case IR_OP_all: return widen_reduction(s, i);
    case IR_OP_dot: return widen_dot(s, i);
    case IR_OP_bitcast: return simd_cast(s, i, k);
    default: return widen_lanewise(s, i, k, n);
    }
}

/* ------------------------------------------------------------------------------------ addresses */

/* A pointer that varies is a scalar pointer and an offset for each lane. */
static void widen_address(simd *s, ir_inst *i) {
    ir_inst *p = ir_arg(i, 0);
    simd_value *v = &s->value[i->id];
    if (simd_shape_of(s, p) == SIMD_VARYING) {
        v->base = s->value[p->id].base;
        v->offset = s->value[p->id].offset;
    } else {
        v->base = simd_base(s, p);
    }
    if (i->op == IR_OP_ptrcast) {
        v->base = ir_build1(&s->b, IR_OP_ptrcast, i->type, v->base);
        return;
    }
    ir_inst *step = operand(s, i, 1, 0);
    if (simd_shape_of(s, p) == SIMD_STRIDED)
        v->offset = steps(s, ir_elem(step->type), s->value[p->id].stride);
    v->offset = v->offset ? ir_build2(&s->b, IR_OP_add, step->type, v->offset, step) : step;
}

void simd_widen(simd *s, ir_inst *i, const simd_node *n) {
    simd_shape shape = simd_shape_of(s, i);
    if (simd_is_apart(s, i)) return;
    s->b.loc = i->loc;
    if (i->op == IR_OP_store) {
        simd_store(s, i, n);
    } else if (i->op == IR_OP_fill) {
        simd_fill_array(s, i, n);
    } else if (simd_is_update(i)) {
        simd_update(s, i);
    } else if (s->value[i->id].array) {
        simd_move_in_array(s, i);
    } else if (simd_widen_carried(s, i)) {
        return;
    } else if (shape != SIMD_VARYING) {
        s->value[i->id].base = copy_scalar(s, i);
    } else if (i->op == IR_OP_load) {
        simd_load(s, i, n);
    } else if (ir_is_ptr(i->type)) {
        widen_address(s, i);
    } else {
        for (unsigned k = 0; k < ir_lanes(i->type); k++)
            simd_set_part(s, i, k, widen_part(s, i, k, n));
    }
}
