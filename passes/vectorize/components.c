/* components.c — loops over items that compute with vectors become loops over the components.
 *
 * Pixels and quadruples of floats are vectors of the source.  Where their components never meet, an
 * item of k components is k items of one: the loop runs over n * k scalars that lie next to each
 * other, and `vectorize` makes vectors of any width of them, without a shuffle.
 *
 *   for (i = start; i < end; i++)           for (c = 0; c < (end - start) * 4; c++)
 *       y[i] = a * x[i] + y[i]                  Y[c] = A * X[c] + Y[c]
 *
 * Every value that differs between items must be a vector of k components that an operation on
 * single lanes computes from such vectors and from scalars that all components have in common; or
 * an address, linear in the counter, of a vector that is followed by that of the next item.  An
 * access of component c is at the address of the first item plus c elements.  No branch and no
 * value from one item to the next may depend on the counter.
 */
#include "passes/vectorize/simd.h"

enum {
    ANY_LANE = 255,
    MOST_BLOCKS = 64, /* of a loop */
    MOST_LOOPS = 16   /* and loops of a function: all of them will surely become vector code */
};

typedef struct {
    ir_func *f;
    const pass_uniformity *uniformity;
    const ir_order *order;
    int64_t *stride; /* by id, of integers and addresses that vary: from one item to the next */
    ir_inst **first; /* by id, of the same and the counter: for the first item */
    simd_loop loop;
    ir_inst *test, *next; /* of the counter */
    unsigned k;           /* components; 0: no vector has been seen */
    ir_builder b;
} flattening;

static bool varies(const flattening *c, const ir_inst *v) {
    const ir_loops *loops = c->uniformity->loops;
    return v->block && ir_in_loop(loops, v->block, c->loop.loop) && c->uniformity->varies[v->id];
}

/* ------------------------------------------------------------------------------------- legality */

/* The value and the lane of it that all lanes of v are; NULL: they may differ.  *lane is -1 for a
 * scalar. */
static ir_inst *common_lane(ir_inst *v, int *lane) {
    unsigned lanes = ir_lanes(v->type), n = 1;
    uint64_t bits;
    *lane = v->op == IR_OP_vec ? -1 : 0;
    if (v->op == IR_OP_undef) return v;
    if (ir_is_const(v)) return ir_is_splat(v, &bits) ? v : NULL;
    if (v->op == IR_OP_vec) {
        while (n < lanes && ir_arg(v, n) == ir_arg(v, 0)) n++;
        return n == lanes ? ir_arg(v, 0) : NULL;
    }
    if (v->op != IR_OP_shuffle) return NULL;
    const uint8_t *mask = v->imm.mask;
    while (n < lanes && (mask[n] == mask[0] || mask[n] == ANY_LANE)) n++;
    *lane = mask[0];
    return n == lanes && mask[0] < ir_lanes(ir_arg(v, 0)->type) ? ir_arg(v, 0) : NULL;
}

/* Builds that scalar, after v. */
static ir_inst *build_common(flattening *c, ir_inst *v) {
    int lane;
    if (v->block) ir_before(&c->b, v->next);
    ir_inst *from = common_lane(v, &lane);
    return lane < 0 ? from : ir_build_extract(&c->b, from, (unsigned)lane);
}

static bool has_components(flattening *c, ir_type t) {
    if (!ir_is_vector(t)) return false;
    if (!c->k) c->k = ir_lanes(t);
    return ir_lanes(t) == c->k;
}

static bool is_operand(flattening *c, ir_inst *v) {
    int lane;
    if (!ir_is_vector(v->type)) return !varies(c, v);
    return has_components(c, v->type) && (varies(c, v) || common_lane(v, &lane));
}

static bool are_operands(flattening *c, const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (!is_operand(c, ir_arg(i, n))) return false;
    return true;
}

static int64_t stride_of(const flattening *c, const ir_inst *v) {
    if (v == c->loop.counter) return 1;
    return varies(c, v) ? c->stride[v->id] : 0;
}

/* Notes the stride of an integer or address; false: it is not linear in the counter. */
static bool note_stride(const flattening *c, const ir_inst *i) {
    if (!ir_is_ptr(i->type) && i->type != c->loop.counter->type) return false;
    const ir_inst *by = i->nargs > 1 ? ir_arg(i, 1) : NULL;
    int64_t x = i->nargs ? stride_of(c, ir_arg(i, 0)) : 0, y = by ? stride_of(c, by) : 0;
    int64_t *out = &c->stride[i->id];
    switch (i->op) {
    case IR_OP_ptrcast: *out = x; return true;
    case IR_OP_add:
    case IR_OP_ptradd: *out = ir_wrap_add(x, y); return true;
    case IR_OP_sub: *out = ir_wrap_add(x, ir_wrap_mul(y, -1)); return true;
    case IR_OP_mul:
        if (!ir_is_const(by)) return false;
        *out = ir_wrap_mul(x, ir_signed_const(by));
        return true;
    case IR_OP_shl:
        if (!ir_is_const(by) || by->imm.bits > 62) return false;
        *out = ir_wrap_mul(x, INT64_C(1) << by->imm.bits);
        return true;
    default: return false;
    }
}

static bool is_access(const ir_inst *i) { return i->op == IR_OP_load || i->op == IR_OP_store; }

static bool check_access(flattening *c, const ir_inst *i) {
    ir_type t = simd_accessed(i), elem = ir_elem(t);
    if (i->imm.mem.flags & IR_MEM_VOLATILE) return false;
    if (!varies(c, simd_address(i))) return i->op == IR_OP_load;
    if (!has_components(c, t) || ir_is_bool(elem)) return false;
    if (i->op == IR_OP_store && !is_operand(c, ir_arg(i, 0))) return false;
    uint64_t bytes = c->k * ir_sizeof(c->f->module, elem);
    return c->stride[simd_address(i)->id] == (int64_t)bytes;
}

static bool is_used_inside(const flattening *c, const ir_inst *i) {
    foreach_use (u, i)
        if (!ir_in_loop(c->uniformity->loops, u->user->block, c->loop.loop)) return false;
    return true;
}

static bool is_lanewise(const ir_inst *i) {
    bool casts = i->op == IR_OP_bitcast && !ir_is_ptr(ir_arg(i, 0)->type);
    return casts || i->op == IR_OP_phi || i->op == IR_OP_select || ir_has_flag(i, F_LANEWISE);
}

static bool check_inst(flattening *c, ir_inst *i) {
    if (i == c->next || i == c->test) return true;
    if (i == c->loop.counter) return is_used_inside(c, i);
    if (ir_is_terminator(i))
        return i->block == c->loop.latch || !c->uniformity->divergent[i->block->id];
    if (is_access(i) && !check_access(c, i)) return false;
    if (!is_access(i) && i->op != IR_OP_phi && !ir_has_flag(i, F_PURE)) return false;
    if (i->type == IR_VOID || !varies(c, i)) return true;
    if (!is_used_inside(c, i)) return false;
    if (!ir_is_vector(i->type)) return note_stride(c, i);
    if (is_access(i)) return true;
    return is_lanewise(i) && has_components(c, i->type) && are_operands(c, i);
}

/* Nothing but the counter goes from item to item, and it is used for addresses only. */
static bool has_plain_counter(flattening *c) {
    c->test = ir_arg(c->loop.latch->last, 0);
    c->next = ir_arg(c->test, 0);
    foreach_phi (phi, c->loop.loop->header)
        if (phi != c->loop.counter) return false;
    return ir_count_uses(c->test) == 1 && ir_count_uses(c->next) == 2;
}

/* Calls `visit` for all instructions of the loop, operands first; false: it was false for one.  The
 * blocks are neighbours in the order, since the loop is left from its latch only. */
static bool visit_loop(flattening *c, bool (*visit)(flattening *c, ir_inst *i)) {
    const ir_loop *loop = c->loop.loop;
    uint32_t from = c->order->index[loop->header->id];
    for (uint32_t k = from; k < from + loop->nblocks; k++) {
        if (k >= c->order->n) return false;
        if (!ir_in_loop(c->uniformity->loops, c->order->rpo[k], loop)) return false;
        foreach_inst (i, c->order->rpo[k])
            if (!visit(c, i)) return false;
    }
    return true;
}

static bool is_legal(flattening *c) {
    return c->loop.loop->nblocks <= MOST_BLOCKS && has_plain_counter(c) &&
           visit_loop(c, check_inst) && c->k > 1;
}

/* --------------------------------------------------------------------------------------- change */

/* n * k, as a bound whose greatest value can be seen if that of n can. */
static ir_inst *times(flattening *c, ir_inst *n) {
    ir_inst *k = ir_const(c->f, n->type, c->k);
    ir_attrs plain = ir_with_flags(IR_NSW | IR_NUW);
    if (n->op != IR_OP_umin || !ir_is_const(ir_arg(n, 1)))
        return ir_build(&c->b, IR_OP_mul, n->type, plain, IR_ARGS(n, k));
    ir_inst *x = ir_build(&c->b, IR_OP_mul, n->type, plain, IR_ARGS(ir_arg(n, 0), k));
    ir_inst *most = ir_build(&c->b, IR_OP_mul, n->type, plain, IR_ARGS(ir_arg(n, 1), k));
    return ir_build2(&c->b, IR_OP_umin, n->type, x, most);
}

/* The counter counts components, from 0 on.  Gives its value for the first item. */
static ir_inst *count_components(flattening *c) {
    simd_loop *l = &c->loop;
    ir_block *h = l->loop->header, *from = h->pred[l->entry];
    ir_inst *start = ir_arg(l->counter, l->entry);
    ir_block *setup = ir_split_edge(from, from->succ[0] == h ? 0 : 1);
    ir_before(&c->b, setup->last);
    ir_inst *zero = ir_const(c->f, start->type, 0), *n = l->end;
    if (start != zero) n = ir_build2(&c->b, IR_OP_sub, n->type, n, start);
    ir_set_arg(c->test, 1, times(c, n));
    ir_set_arg(l->counter, l->entry, zero);
    return start;
}

static ir_inst *first_of(const flattening *c, ir_inst *v) {
    return v->block && c->first[v->id] ? c->first[v->id] : v;
}

static void build_first(flattening *c, ir_inst *i) {
    ir_inst *args[2] = {NULL};
    for (unsigned n = 0; n < i->nargs; n++) args[n] = first_of(c, ir_arg(i, n));
    ir_before(&c->b, i);
    c->first[i->id] =
        ir_build(&c->b, (ir_op)i->op, i->type, ir_attrs_of(i), (ir_args){i->nargs, args});
}

static void move_access(flattening *c, ir_inst *i) {
    const ir_type t = c->loop.counter->type;
    ir_inst *first = first_of(c, simd_address(i));
    uint64_t bytes = ir_sizeof(c->f->module, ir_elem(simd_accessed(i)));
    uint8_t size = 0; /* log2 */
    while (UINT64_C(1) << size < bytes) size++;
    ir_before(&c->b, i);
    ir_inst *offset = ir_build2(&c->b, IR_OP_shl, t, c->loop.counter, ir_const(c->f, t, size));
    ir_set_arg(i, i->op == IR_OP_store, ir_build_ptradd(&c->b, first, offset, false));
    if (i->imm.mem.align > size) i->imm.mem.align = size;
}

/* Makes i what it is for one component. */
static bool flatten(flattening *c, ir_inst *i) {
    if (i == c->loop.counter || i == c->next || i == c->test || ir_is_terminator(i)) return true;
    bool moves = is_access(i) && varies(c, simd_address(i));
    bool is_value = i->type != IR_VOID && varies(c, i);
    if (is_value && !ir_is_vector(i->type)) {
        build_first(c, i);
        return true;
    }
    if (!moves && !is_value) return true;
    if (moves) move_access(c, i);
    for (unsigned n = 0; n < i->nargs; n++) {
        ir_inst *v = ir_arg(i, n);
        if (ir_is_vector(v->type) && !varies(c, v)) ir_set_arg(i, n, build_common(c, v));
    }
    i->type = ir_elem(i->type);
    return true;
}

static void flatten_loop(flattening *c) {
    c->first[c->loop.counter->id] = count_components(c);
    visit_loop(c, flatten);
    c->loop.loop->header->loop_hint |= IR_LOOP_COMPONENTS;
    ir_count(c->f->module->cx, components_loops, 1);
}

/* ------------------------------------------------------------------------------------- the pass */

static bool find_loop(flattening *c, const ir_loop *loop) {
    simd s = {.f = c->f, .uniformity = c->uniformity, .scalar.loop = loop};
    if (!simd_find_loop(&s)) return false;
    c->loop = s.scalar;
    return true;
}

static bool has_few_loops(const ir_func *f) {
    unsigned n = 0;
    foreach_block (b, f) n += (b->loop_hint & IR_LOOP_ITEMS) != 0;
    return n && n <= MOST_LOOPS;
}

/* Does:  runs loops over items that compute with vectors of k components as loops over k times as
 *        many scalars, where components do not meet.
 * Needs: code of a work-group, with the loops that `regions` makes.
 * Leaves: the hint `items` on loops whose iterations are components of items.
 * Gives up: on all other uses of vectors, and of the number of the item. */
bool pass_components(ir_func *f, pass_ctx *cx) {
    pass_uniformity uniformity;
    ir_vec(flattening) legal = {0};
    if (f->level != L_GROUP || cx->lanes == 1 || !has_few_loops(f)) return false;
    pass_find_uniform_items(f, cx->scratch, &uniformity);
    flattening all = {.f = f,
                      .uniformity = &uniformity,
                      .order = &ir_dominators(f)->order,
                      .stride = ir_new_array(cx->scratch, int64_t, f->next_id),
                      .first = ir_new_array(cx->scratch, ir_inst *, f->next_id)};
    ir_builder_init(&all.b, f);
    foreach_block (b, f) {
        const ir_loop *loop = uniformity.loops->of[b->id];
        flattening c = all;
        if (!(b->loop_hint & IR_LOOP_ITEMS) || !loop || loop->header != b) continue;
        if (find_loop(&c, loop) && is_legal(&c)) *ir_push(cx->scratch, &legal) = c;
    }
    foreach_in (flattening, c, legal) flatten_loop(c);
    return legal.n > 0;
}
