/* combine.c — builds what carried.c has found: phis of the vector loop, and what they are after it.
 *
 *   progression  a scalar phi, which W times the step is added to
 *   reduction    W partial results, which begin with the neutral element of the operation; after
 *                the loop they are combined by halves
 *   scan         a scalar phi of what all items before have; within the vector, log2(W) steps add
 *                what is 1, 2, 4 … lanes before, as in the adder of Kogge and Stone (1973)
 *   last         lanes, or a scalar; or the vector and the mask of the last iteration in which a
 *                lane has chosen a value
 *
 * After the loop, a value of an item is that of the last lane.  The scalar loop for the remaining
 * items begins with these values, and uses after the loops get them by way of phis.
 */
#include "passes/vectorize/simd.h"

#include <math.h>

static ir_inst *phi_of(simd *s, ir_inst *init) {
    return ir_append_arg(ir_build_phi(s->node[0].head, init->type), init);
}

static bool is_scalar(const simd *s, const simd_carried *c) {
    return simd_shape_of(s, c->phi) != SIMD_VARYING;
}

static ir_block *latch_of(const simd *s) { return s->scalar.latch; }

/* ----------------------------------------------------------------------------------- operations */

static ir_inst *number_of_float(const simd *s, ir_type t, double x) {
    return ir_const(s->f, t, ir_const_float(s->f, ir_elem(t), x)->imm.bits);
}

ir_inst *simd_neutral(const simd *s, ir_op op, ir_type t) {
    uint64_t ones = ir_zext(UINT64_MAX, ir_bits(NULL, t));
    switch (op) {
    case IR_OP_fadd: return number_of_float(s, t, -0.0);
    case IR_OP_fmul: return number_of_float(s, t, 1);
    case IR_OP_fmin:
    case IR_OP_fmax: return number_of_float(s, t, NAN);
    case IR_OP_mul: return ir_const(s->f, t, 1);
    case IR_OP_and:
    case IR_OP_umin: return ir_const(s->f, t, ones);
    case IR_OP_smin: return ir_const(s->f, t, ones >> 1);
    case IR_OP_smax: return ir_const(s->f, t, ones ^ ones >> 1);
    default: return ir_const(s->f, t, 0);
    }
}

/* The flags of an operation whose operands are regrouped. */
static uint32_t flags_of(const simd_carried *c) {
    return ir_is_float(c->next->type) ? c->next->flags & ~(uint32_t)(IR_NSW | IR_NUW) : 0;
}

static ir_inst *combine(simd *s, ir_op op, uint32_t flags, ir_inst *x, ir_inst *y) {
    return ir_build(&s->b, op, x->type, ir_with_flags(flags), IR_ARGS(x, y));
}

/* The upper half of the lanes with the lower one, until one is left. */
ir_inst *simd_reduce(simd *s, ir_op op, uint32_t flags, ir_inst *x) {
    uint8_t low[IR_MAX_LANES], high[IR_MAX_LANES];
    if (ir_is_bool(x->type))
        return ir_build1(&s->b, op == IR_OP_or ? IR_OP_any : IR_OP_all, IR_I1, x);
    for (unsigned n = s->lanes / 2; n > 1; n /= 2) {
        for (unsigned k = 0; k < n; k++) low[k] = (uint8_t)k, high[k] = (uint8_t)(n + k);
        ir_inst *upper = ir_build_shuffle(&s->b, x, x, n, high);
        x = combine(s, op, flags, ir_build_shuffle(&s->b, x, x, n, low), upper);
    }
    ir_inst *second = ir_build_extract(&s->b, x, 1);
    return combine(s, op, flags, ir_build_extract(&s->b, x, 0), second);
}

ir_inst *simd_shift_lanes(simd *s, ir_inst *x, ir_inst *before, unsigned by) {
    uint8_t mask[IR_MAX_LANES];
    for (unsigned k = 0; k < s->lanes; k++)
        mask[k] = (uint8_t)(k < by ? 2 * s->lanes - by + k : k - by);
    return ir_build_shuffle(&s->b, x, before, s->lanes, mask);
}

ir_inst *simd_prefix(simd *s, ir_op op, uint32_t flags, ir_inst *x) {
    ir_inst *none = simd_neutral(s, op, x->type);
    for (unsigned by = 1; by < s->lanes; by *= 2)
        x = combine(s, op, flags, simd_shift_lanes(s, x, none, by), x);
    return x;
}

/* ------------------------------------------------------------------------------ before the loop */

/* 0, step, 2 * step … */
static ir_inst *multiples(simd *s, ir_inst *step) {
    ir_inst *lane = simd_ramp(s, ir_const(s->f, step->type, 0), 1);
    return ir_build2(&s->b, IR_OP_mul, lane->type, lane, simd_splat(s, step));
}

static ir_inst *multiple(simd *s, ir_inst *step, unsigned n) {
    return ir_build2(&s->b, IR_OP_mul, step->type, step, ir_const(s->f, step->type, n));
}

static ir_inst *part_of_init(simd *s, const simd_carried *c, unsigned k) {
    if (!ir_is_vector(c->init->type)) return c->init;
    return ir_build_extract(&s->b, c->init, k);
}

static void begin_progression(simd *s, simd_carried *c) {
    simd_value *v = &s->value[c->phi->id];
    v->base = c->copy[0] = phi_of(s, c->init);
    c->step = multiple(s, c->by, s->lanes);
    if (is_scalar(s, c)) return;
    ir_inst *lanes = multiples(s, c->by);
    if (ir_is_ptr(c->phi->type)) {
        v->offset = lanes;
        return;
    }
    ir_at_end(&s->b, s->node[0].head);
    lanes = ir_build2(&s->b, IR_OP_add, lanes->type, simd_splat(s, v->base), lanes);
    simd_set_part(s, c->phi, 0, lanes);
}

static void begin_part(simd *s, simd_carried *c, unsigned k) {
    ir_type t = ir_vector(ir_elem(c->phi->type), s->lanes);
    ir_inst *init = part_of_init(s, c, k);
    if (c->kind == SIMD_SCAN) {
        c->copy[k] = phi_of(s, init);
        return;
    }
    init = c->kind == SIMD_REDUCTION ? simd_neutral(s, c->op, t) : simd_splat(s, init);
    c->copy[k] = phi_of(s, init);
    simd_set_part(s, c->phi, k, c->copy[k]);
}

static void begin(simd *s, simd_carried *c) {
    c->copy = ir_new_array(s->scratch, ir_inst *, ir_lanes(c->phi->type));
    if (c->kind == SIMD_PROGRESSION) {
        begin_progression(s, c);
    } else if (c->kind == SIMD_LAST && is_scalar(s, c)) {
        s->value[c->phi->id].base = c->copy[0] = phi_of(s, c->init);
    } else {
        for (unsigned k = 0; k < ir_lanes(c->phi->type); k++) begin_part(s, c, k);
        if (c->chosen) c->mask = phi_of(s, ir_const(s->f, simd_mask_type(s), 0));
    }
}

void simd_begin_carried(simd *s) {
    foreach_in (simd_carried, c, s->carried) {
        ir_before(&s->b, s->preheader->last);
        begin(s, c);
    }
}

/* ---------------------------------------------------------------------------------- in the loop */

static void scan_part(simd *s, simd_carried *c, unsigned k, const ir_block *at) {
    const uint32_t flags = flags_of(c);
    ir_inst *own = simd_part(s, c->by, ir_is_vector(c->by->type) ? k : 0, at);
    ir_inst *sums = simd_prefix(s, c->op, flags, own);
    ir_inst *before = simd_splat(s, c->copy[k]), *all = combine(s, c->op, flags, before, sums);
    ir_inst *total = ir_build_extract(&s->b, sums, s->lanes - 1);
    simd_set_part(s, c->next, k, all);
    simd_set_part(s, c->phi, k, simd_shift_lanes(s, all, before, 1));
    ir_append_arg(c->copy[k], combine(s, c->op, flags, c->copy[k], total));
}

/* The lanes of p are those of the last iteration in which a lane has chosen a value. */
static void choose_part(simd *s, simd_carried *c, unsigned k, ir_inst *some) {
    ir_inst *n = c->next;
    unsigned own = ir_arg(n, 1) == c->phi ? 2 : 1;
    ir_inst *v = simd_part(s, ir_arg(n, own), k, n->block);
    v = ir_build_select(&s->b, some, v, c->copy[k]);
    simd_set_part(s, n, k, v);
}

static void choose(simd *s, simd_carried *c) {
    const ir_inst *n = c->next;
    ir_inst *test = simd_part(s, ir_arg(n, 0), 0, n->block);
    if (ir_arg(n, 1) == c->phi)
        test = ir_build2(&s->b, IR_OP_xor, test->type, test, ir_const(s->f, test->type, 1));
    ir_inst *any = ir_build1(&s->b, IR_OP_any, IR_I1, test);
    for (unsigned k = 0; k < ir_lanes(n->type); k++) choose_part(s, c, k, any);
    ir_append_arg(c->mask, ir_build_select(&s->b, any, test, c->mask));
}

bool simd_widen_carried(simd *s, const ir_inst *i) {
    simd_carried *c = s->value[i->id].carried;
    if (!c || i != c->next || (c->kind != SIMD_SCAN && !c->chosen)) return false;
    if (c->chosen)
        choose(s, c);
    else
        for (unsigned k = 0; k < ir_lanes(i->type); k++) scan_part(s, c, k, i->block);
    return true;
}

static void close(simd *s, simd_carried *c) {
    if (c->kind == SIMD_PROGRESSION)
        ir_append_arg(c->copy[0], ir_build(&s->b, (ir_op)c->next->op, c->phi->type, IR_PLAIN,
                                           IR_ARGS(c->copy[0], c->step)));
    else if (c->kind == SIMD_LAST && is_scalar(s, c))
        ir_append_arg(c->copy[0], simd_base(s, c->next));
    else if (c->kind != SIMD_SCAN)
        for (unsigned k = 0; k < ir_lanes(c->phi->type); k++)
            ir_append_arg(c->copy[k], simd_part(s, c->next, k, latch_of(s)));
}

void simd_close_carried(simd *s) {
    foreach_in (simd_carried, c, s->carried) close(s, c);
}

/* ------------------------------------------------------------------------------- after the loop */

static ir_inst *join_parts(simd *s, ir_type t, ir_inst **part) {
    if (!ir_is_vector(t)) return part[0];
    return ir_build_vec(&s->b, t, part);
}

/* The value of the last lane. */
static ir_inst *last_lane(simd *s, ir_inst *v) {
    simd_shape shape = simd_shape_at(s, v, latch_of(s));
    if (shape == SIMD_UNIFORM) return simd_base(s, v);
    if (shape == SIMD_STRIDED) {
        int64_t way = ir_wrap_mul(s->value[v->id].stride, s->lanes - 1);
        ir_type t = ir_is_ptr(v->type) ? ir_size_type(s->f->module) : v->type;
        ir_inst *by = ir_const(s->f, t, ir_zext((uint64_t)way, ir_bits(NULL, t)));
        return ir_build2(&s->b, ir_is_ptr(v->type) ? IR_OP_ptradd : IR_OP_add, v->type,
                         simd_base(s, v), by);
    }
    ir_inst **part = ir_new_array(s->scratch, ir_inst *, ir_lanes(v->type));
    for (unsigned k = 0; k < ir_lanes(v->type); k++)
        part[k] = ir_build_extract(&s->b, simd_part(s, v, k, latch_of(s)), s->lanes - 1);
    return join_parts(s, v->type, part);
}

/* The highest lane of a mask that is set somewhere. */
static ir_inst *highest_lane(simd *s, ir_inst *mask) {
    ir_inst *bits = simd_mask_bits(s, mask);
    ir_inst *above = ir_build1(&s->b, IR_OP_clz, bits->type, bits);
    ir_inst *last = ir_const(s->f, bits->type, ir_bits(NULL, bits->type) - 1);
    return ir_build2(&s->b, IR_OP_sub, bits->type, last, above);
}

/* What the last lane has chosen, or what the phi began with if none has. */
static ir_inst *chosen_lane(simd *s, const simd_carried *c, unsigned k) {
    ir_inst *mask = c->mask->arg[1].val, *lanes = c->copy[k]->arg[1].val;
    ir_inst *any = ir_build1(&s->b, IR_OP_any, IR_I1, mask);
    ir_inst *args[] = {lanes, highest_lane(s, mask)};
    ir_inst *v = ir_build(&s->b, IR_OP_extract, ir_elem(lanes->type), IR_PLAIN, (ir_args){2, args});
    return ir_build_select(&s->b, any, v, part_of_init(s, c, k));
}

static ir_inst *result_of(simd *s, const simd_carried *c, unsigned k) {
    ir_inst *lanes = c->copy[k]->arg[1].val;
    if (c->kind == SIMD_SCAN) return lanes;
    if (c->chosen) return chosen_lane(s, c, k);
    if (c->kind == SIMD_LAST) return ir_build_extract(&s->b, lanes, s->lanes - 1);
    const uint32_t flags = flags_of(c);
    ir_inst *all = simd_reduce(s, c->op, flags, lanes);
    return combine(s, c->op, flags, part_of_init(s, c, k), all);
}

/* What the next item gets. */
static ir_inst *find_result(simd *s, const simd_carried *c) {
    unsigned m = ir_lanes(c->phi->type);
    if (is_scalar(s, c) || c->kind == SIMD_PROGRESSION) return c->copy[0]->arg[1].val;
    ir_inst **part = ir_new_array(s->scratch, ir_inst *, m);
    for (unsigned k = 0; k < m; k++) part[k] = result_of(s, c, k);
    return join_parts(s, c->phi->type, part);
}

/* -------------------------------------------------------------------------- uses after the loop */

static ir_inst *find_after(simd *s, ir_inst *v) {
    const simd_carried *c = s->value[v->id].carried;
    return c && v == c->next ? c->result : last_lane(s, v);
}

void simd_find_results(simd *s) {
    foreach_in (simd_carried, c, s->carried) c->result = find_result(s, c);
    foreach_in (simd_after, a, s->after) a->last = find_after(s, a->value);
}

/* Uses of v after the loops see `last` if they come from the vector loop. */
static void replace_uses(ir_func *f, ir_arena *memory, ir_ssa *ssa, const simd_after *a) {
    ir_inst *v = a->value;
    ir_ssa_begin(ssa, f, memory, v->type);
    ir_ssa_def(ssa, v->block, v);
    ir_ssa_def(ssa, a->rest, a->last);
    for (uint32_t k = 0; k < a->uses.n; k++) ir_ssa_announce(ssa, ir_use_block(a->uses.data[k]));
    ir_ssa_place(ssa, ssa->live);
    for (uint32_t k = 0; k < a->uses.n; k++) {
        ir_use *u = a->uses.data[k];
        const bool at_end = u->user->op == IR_OP_phi;
        ir_block *at = ir_use_block(u);
        ir_inst *found = at_end ? ir_ssa_at_end(ssa, at) : ir_ssa_at_head(ssa, at);
        ir_set_arg(u->user, (unsigned)(u - u->user->arg), found);
    }
    ir_ssa_finish(ssa);
}

/* Gives a phi of the scalar loop its argument for the edge from `rest`.  It may be at another place
 * in memory then. */
static ir_inst *append_arg(simd *s, ir_inst *phi, ir_inst *arg) {
    const ir_inst *before = phi;
    phi = ir_append_arg(phi, arg);
    foreach_in (simd_after, a, s->after)
        if (a->value == before) a->value = phi;
    return phi;
}

void simd_leave_loops(simd *s, ir_block *rest, ir_inst *end) {
    s->scalar.counter = append_arg(s, s->scalar.counter, end);
    foreach_in (simd_carried, c, s->carried) c->phi = append_arg(s, c->phi, c->result);
    foreach_in (simd_after, a, s->after)
        *ir_push(s->code->memory, &s->code->after) =
            (simd_after){.value = a->value, .last = a->last, .loop = s->scalar.loop, .rest = rest};
}

/* Uses are found as long as the loop tree holds, and include those in the copies of other loops. */
void simd_replace_after(ir_func *f, simd_code *code, const ir_loops *loops) {
    ir_ssa ssa = {0};
    foreach_in (simd_after, a, code->after)
        foreach_use (u, a->value) {
            const ir_block *b = u->user->block;
            if (b->id >= code->nblocks || !ir_in_loop(loops, b, a->loop))
                *ir_push(code->memory, &a->uses) = u;
        }
    foreach_in (const simd_after, a, code->after) replace_uses(f, code->memory, &ssa, a);
}
