/* lanes_fold.c — innermost loops of random kernels that combine elements of a buffer, whose
 * iterations can be lanes: neighbours from or to the end of the buffer, in steps, and those that
 * other elements say; in all iterations, or in those that a condition lets through.
 *
 * Items become lanes before their loops do, so most kernels with such a loop have an access that is
 * volatile, for which loops over items are refused.
 */
#include "tests/fuzz/lanes_impl.h"

typedef struct {
    lanes *g;
    unsigned buffer;
    uint64_t count; /* of its elements */
    ir_type elem, type;
    ir_op op;
    ir_inst *first, *n, *k, *sum; /* i64, i64; the phis */
} fold;

static ir_inst *load(const fold *o, ir_inst *index, unsigned flags) {
    lanes *g = o->g;
    uint64_t size = ir_sizeof(g->f->module, o->elem);
    ir_inst *by = lanes_op(g, IR_OP_mul, index, lanes_number(g, IR_I64, size));
    ir_inst *p = ir_build_ptradd(&g->b, g->param[o->buffer], by, true);
    return ir_build_load(&g->b, o->elem, p, (unsigned)size, flags);
}

static ir_inst *widen(lanes *g, ir_inst *v) {
    return v->type == IR_I64 ? v : ir_build1(&g->b, IR_OP_zext, IR_I64, v);
}

/* The element of this iteration. */
static ir_inst *load_own(const fold *o, unsigned how) {
    lanes *g = o->g;
    ir_inst *k = widen(g, o->k), *index = lanes_op(g, IR_OP_add, o->first, k);
    ir_inst *last = lanes_number(g, IR_I64, o->count - 1);
    if (how == 1) index = lanes_op(g, IR_OP_sub, last, index);
    if (how == 2) index = lanes_op(g, IR_OP_umin, lanes_op(g, IR_OP_add, index, k), last);
    return load(o, index, 0);
}

/* An element that another one says, which may be outside of the buffer unless it is tested. */
static ir_inst *place_of(const fold *o, ir_inst *v) {
    lanes *g = o->g;
    ir_inst *index = widen(g, lanes_as(g, v, IR_I32));
    return lanes_byte(g) & 1 ? lanes_op(g, IR_OP_add, index, widen(g, o->k)) : index;
}

static ir_inst *combine(const fold *o, ir_inst *v) {
    return lanes_op(o->g, o->op, o->sum, lanes_as(o->g, v, o->type));
}

/* One iteration; the value that the sum has then. */
static ir_inst *build_body(const fold *o) {
    lanes *g = o->g;
    unsigned how = lanes_below(g, 6);
    ir_inst *v = load_own(o, how % 3);
    if (how < 3) return combine(o, v);
    ir_inst *index = place_of(o, v);
    ir_inst *inside = ir_build2(&g->b, IR_OP_ult, IR_I1, index, lanes_number(g, IR_I64, o->count));
    ir_block *from = g->b.block, *yes = lanes_block(g), *next = lanes_block(g);
    ir_build_br(&g->b, inside, yes, next);
    ir_at_end(&g->b, yes);
    ir_inst *some = combine(o, load(o, index, 0));
    ir_build_jmp(&g->b, next);
    ir_at_end(&g->b, next);
    ir_inst *both = ir_build_phi(next, o->type);
    for (uint32_t p = 0; p < next->npred; p++)
        both = ir_append_arg(both, next->pred[p] == from ? o->sum : some);
    return lanes_byte(g) & 1 ? combine(o, both) : both;
}

static void build_loop(fold *o, ir_type t, ir_inst *init) {
    lanes *g = o->g;
    ir_block *before = g->b.block, *body = lanes_block(g), *next = lanes_block(g);
    ir_inst *end = t == IR_I64 ? o->n : ir_build1(&g->b, IR_OP_trunc, t, o->n);
    ir_build_br(&g->b, ir_build2(&g->b, IR_OP_ne, IR_I1, o->n, lanes_number(g, IR_I64, 0)), body,
                next);
    o->k = ir_append_arg(ir_build_phi(body, t), lanes_number(g, t, 0));
    o->sum = ir_append_arg(ir_build_phi(body, o->type), init);
    ir_at_end(&g->b, body);
    ir_inst *sum = build_body(o);
    ir_inst *up = lanes_op(g, IR_OP_add, o->k, lanes_number(g, t, 1));
    ir_build_br(&g->b, ir_build2(&g->b, IR_OP_ult, IR_I1, up, end), body, next);
    ir_append_arg(o->k, up);
    ir_append_arg(o->sum, sum);
    ir_at_end(&g->b, next);
    ir_inst *all = ir_build_phi(next, o->type);
    for (uint32_t p = 0; p < next->npred; p++)
        all = ir_append_arg(all, next->pred[p] == before ? init : sum);
    lanes_put(g, all->type == IR_I32 ? all : lanes_as(g, all, IR_I32));
}

/* Up to 63 iterations, and as many as there are elements: of the first ones, or of the last. */
static void choose_range(fold *o) {
    lanes *g = o->g;
    ir_inst *n = lanes_byte(g) & 1 ? g->u : lanes_some(g, IR_I32);
    n = widen(g, lanes_op(g, IR_OP_and, n, lanes_number(g, IR_I32, 63)));
    ir_inst *count = lanes_number(g, IR_I64, o->count);
    o->n = lanes_op(g, IR_OP_umin, n, count);
    o->first = lanes_byte(g) & 1 ? lanes_op(g, IR_OP_sub, count, o->n) : lanes_number(g, IR_I64, 0);
}

void lanes_fold(lanes *g) {
    static const ir_type types[] = {IR_I32, IR_I8, IR_I16, IR_I64};
    static const ir_op ops[] = {IR_OP_add, IR_OP_umin, IR_OP_umax, IR_OP_smin, IR_OP_smax,
                                IR_OP_xor, IR_OP_and,  IR_OP_or,   IR_OP_mul};
    unsigned buffer = lanes_below(g, g->k->nbuffers), draw = lanes_byte(g);
    const lanes_buffer *b = &g->k->buffer[buffer];
    if (b->role != LANES_INPUT) return;
    fold o = {.g = g, .buffer = buffer, .elem = ir_elem(b->elem), .type = types[draw % 4]};
    o.count = b->count * ir_lanes(b->elem);
    o.op = ops[draw / 4 % 9];
    if (ir_lanes(b->elem) == 3) o.count = b->count * 4; /* they have the room of four */
    if (lanes_byte(g) % 4) (void)load(&o, lanes_number(g, IR_I64, 0), IR_MEM_VOLATILE);
    choose_range(&o);
    build_loop(&o, lanes_byte(g) & 1 ? IR_I64 : IR_I32, lanes_as(g, lanes_some(g, IR_I32), o.type));
}
