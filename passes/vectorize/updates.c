/* updates.c — atomic updates of memory by W items.
 *
 *   one address for all, an associative operation   one update by what all lanes have together;
 *                                                   lane k sees what the lanes before it have
 *                                                   added to the old value
 *   all lanes, an address for each                  an update for each lane, one after the other;
 *                                                   of many, a loop that does several in a round
 *   lanes of a mask                                 a loop over the bits of the mask
 *
 * OpenCL leaves the order of updates of different items open, and one update is as good as several
 * that directly follow each other.  Only integers are combined: sums of floats depend on the order.
 *
 * A lane is taken out of a vector together with its neighbours in a word of 64 bits.  Values that
 * are only steps to the address of such an update, its extensions and shifts, exist for each lane
 * only: there are fewer words of narrow lanes, and addresses of instructions have room for steps.
 * For a loop, lanes are stored to memory, and a lane is one load.  So where lanes are many, all of
 * them have a loop, too.
 *
 * Items that wait for each other in a loop, as those do that take turns with a lock, must not be
 * lanes of one vector.  So an update whose result is used is refused in loops that lanes leave one
 * by one.
 */
#include "passes/vectorize/simd.h"

enum {
    WORD = 64 /* bits */,
    MAX_DEPTH = 8,
    ASIDE = 8, /* bytes of a lane in memory */
    ROUND = 8, /* lanes whose updates are one round of the loop over all lanes */
    MANY = 32  /* lanes: from here on a loop pays; a multiple of ROUND */
};

/* The vector of numbers that an operand is made of by steps of each lane. */
typedef struct {
    ir_inst *lanes;     /* in the scalar loop; NULL: there is none */
    const ir_block *at; /* where it is used */
    ir_inst *memory;    /* where the lanes are that are asked for */
} numbers;

bool simd_is_update(const ir_inst *i) {
    return ir_is_atomic(i) && i->op != IR_OP_atomic_load && i->op != IR_OP_atomic_store;
}

/* The operation on integers by which updates of one place are combined; IR_OP_const: none. */
static ir_op combining_op(const ir_inst *i) {
    switch (i->op) {
    case IR_OP_atomic_add:
    case IR_OP_atomic_sub: return IR_OP_add;
    case IR_OP_atomic_and: return IR_OP_and;
    case IR_OP_atomic_or: return IR_OP_or;
    case IR_OP_atomic_xor: return IR_OP_xor;
    case IR_OP_atomic_umin: return IR_OP_umin;
    case IR_OP_atomic_umax: return IR_OP_umax;
    case IR_OP_atomic_smin: return IR_OP_smin;
    case IR_OP_atomic_smax: return IR_OP_smax;
    default: return IR_OP_const;
    }
}

/* Is one place updated by all lanes together? */
static bool is_combined(const simd *s, const ir_inst *i) {
    return simd_shape_of(s, ir_arg(i, 0)) == SIMD_UNIFORM && combining_op(i) != IR_OP_const;
}

bool simd_may_update(simd *s, const ir_inst *i) {
    const ir_loop *loop = s->node[s->node_of[i->block->id]].loop;
    if (ir_is_ptr(i->type)) return simd_refuse(s, i, "an atomic update of a pointer");
    for (; i->uses && loop != s->scalar.loop; loop = loop->parent)
        if (simd_diverges(s, loop))
            return simd_refuse(s, i, "items may wait for each other in a loop");
    return true;
}

/* ----------------------------------------------------------------------- one lane, as a scalar */

static ir_inst *out_of_word(simd *s, ir_inst *lanes, unsigned k) {
    unsigned bits = ir_bits(NULL, lanes->type), all = bits * s->lanes;
    ir_type t = ir_scalar(IR_I64);
    if (ir_is_float(lanes->type) || bits == WORD || all < WORD)
        return ir_build_extract(&s->b, lanes, k);
    ir_inst *words = ir_build1(&s->b, IR_OP_bitcast, ir_vector(t, all / WORD), lanes);
    if (all == WORD) words = ir_build1(&s->b, IR_OP_bitcast, t, lanes);
    ir_inst *word = all == WORD ? words : ir_build_extract(&s->b, words, k * bits / WORD);
    word = ir_build2(&s->b, IR_OP_lshr, t, word, ir_const(s->f, t, k * bits % WORD));
    return ir_build1(&s->b, IR_OP_trunc, ir_elem(lanes->type), word);
}

static bool is_number(const ir_inst *v) {
    return ir_is_int(v->type) && !ir_is_bool(v->type) && !ir_is_vector(v->type);
}

static bool may_be_apart(const simd *s, const ir_inst *i) {
    if (s->value[i->id].carried || s->value[i->id].array || ir_is_vector(i->type)) return false;
    switch (i->op) {
    case IR_OP_ptradd:
    case IR_OP_ptrcast: return true;
    case IR_OP_zext:
    case IR_OP_sext: return !ir_is_bool(ir_arg(i, 0)->type);
    case IR_OP_shl: return ir_is_const(ir_arg(i, 1));
    default: return false;
    }
}

/* Notes the numbers that v is made of, by what `is_step` takes for steps; false: it is something
 * else that differs between lanes.  Each step changes one number, and only the last one may be a
 * pointer, so if some are no steps after all, v is still made of numbers. */
static bool find_numbers(const simd *s, ir_inst *v, const ir_block *at,
                         bool (*is_step)(const simd *s, const ir_inst *i), numbers *out) {
    simd_shape shape = simd_shape_at(s, v, at);
    if (shape != SIMD_VARYING) return shape == SIMD_UNIFORM;
    if (out->lanes) return false;
    if (simd_is_inside(s, v) && is_step(s, v)) {
        for (unsigned n = 0; n < v->nargs; n++) {
            ir_inst *x = ir_arg(v, n);
            bool plain = is_number(x) || simd_shape_at(s, x, v->block) == SIMD_UNIFORM;
            if (!plain || !find_numbers(s, x, v->block, is_step, out)) return false;
        }
        return true;
    }
    out->lanes = v;
    out->at = at;
    return is_number(v);
}

/* May an update have i for each lane only?  A loop over lanes has numbers in memory. */
static bool may_take(const simd *s, const ir_inst *i, const ir_block *at) {
    numbers from = {0};
    return !simd_is_masked(s, at) || find_numbers(s, (ir_inst *)i, at, may_be_apart, &from);
}

static bool is_apart(const simd *s, const ir_inst *i, unsigned depth) {
    if (depth > MAX_DEPTH || !simd_is_inside(s, i) || !may_be_apart(s, i)) return false;
    if (simd_shape_of(s, i) != SIMD_VARYING) return false;
    foreach_use (u, i) {
        const ir_inst *user = u->user;
        if (!simd_is_inside(s, user) || simd_left_loop(s, i, user->block)) return false;
        bool each = simd_is_update(user) && !is_combined(s, user) && may_take(s, i, user->block);
        if (!each && !is_apart(s, user, depth + 1)) return false;
    }
    return true;
}

bool simd_is_apart(const simd *s, const ir_inst *i) { return is_apart(s, i, 0); }

/* What is asked for: lane k of all, or of those in memory. */
typedef struct {
    unsigned k;
    const numbers *in; /* NULL: of all */
} place;

static ir_inst *lane_of(simd *s, ir_inst *v, place lane, const ir_block *at);

static ir_inst *build_lane(simd *s, const ir_inst *i, place lane) {
    ir_inst *args[2];
    for (unsigned n = 0; n < i->nargs; n++) args[n] = lane_of(s, ir_arg(i, n), lane, i->block);
    return ir_build(&s->b, (ir_op)i->op, i->type, IR_PLAIN, (ir_args){i->nargs, args});
}

static ir_inst *lane_of_strided(simd *s, ir_inst *v, unsigned k) {
    uint64_t by = (uint64_t)ir_wrap_mul(s->value[v->id].stride, k);
    ir_type t = ir_is_ptr(v->type) ? ir_size_type(s->f->module) : v->type;
    ir_inst *step = ir_const(s->f, t, ir_zext(by, ir_bits(NULL, t)));
    return ir_build2(&s->b, ir_is_ptr(v->type) ? IR_OP_ptradd : IR_OP_add, v->type, simd_base(s, v),
                     step);
}

static ir_inst *load_lane(simd *s, const numbers *in, ir_type t, unsigned k) {
    unsigned bytes = ir_bits(NULL, t) / 8;
    ir_inst *by = ir_const(s->f, ir_size_type(s->f->module), k * bytes);
    return ir_build_load(&s->b, t, ir_build_ptradd(&s->b, in->memory, by, false), bytes, 0);
}

/* The lane of v as it is used in block `at`. */
static ir_inst *lane_of(simd *s, ir_inst *v, place lane, const ir_block *at) {
    simd_shape shape = simd_shape_at(s, v, at);
    unsigned k = lane.k;
    if (shape == SIMD_UNIFORM) return simd_base(s, v);
    if (shape == SIMD_STRIDED) return lane_of_strided(s, v, k);
    if (simd_is_apart(s, v)) return build_lane(s, v, lane);
    if (lane.in) return load_lane(s, lane.in, v->type, k);
    if (!ir_is_ptr(v->type)) return out_of_word(s, simd_part(s, v, 0, at), k);
    ir_inst *offset = out_of_word(s, s->value[v->id].offset, k);
    if (offset->type != ir_size_type(s->f->module))
        offset = ir_build1(&s->b, IR_OP_sext, ir_size_type(s->f->module), offset);
    return ir_build_ptradd(&s->b, s->value[v->id].base, offset, false);
}

/* ----------------------------------------------------------------------------- blocks of a node */

static ir_block *new_block(simd *s, const simd_node *n) {
    ir_block *b = ir_block_new(s->f, NULL);
    b->mark = n->head->mark;
    return b;
}

/* Goes on in block b of the node. */
static void go_on(simd *s, simd_node *n, ir_block *b) {
    n->tail = b;
    ir_at_end(&s->b, b);
}

static ir_inst *build_update(simd *s, const ir_inst *i, ir_inst *const *arg) {
    ir_inst *args[3];
    for (unsigned n = 0; n < i->nargs; n++) args[n] = arg[n];
    return ir_build_raw(&s->b, (ir_op)i->op, i->type, ir_with_imm(i->imm),
                        (ir_args){i->nargs, args});
}

/* -------------------------------------------------------------------------- one place for all */

/* The operand of all lanes; those that are not active change nothing. */
static ir_inst *operand_of(simd *s, const ir_inst *i, const simd_node *n, ir_op op) {
    ir_inst *v = simd_part(s, ir_arg(i, 1), 0, i->block);
    return n->mask ? ir_build_select(&s->b, n->mask, v, simd_neutral(s, op, v->type)) : v;
}

/* What each lane sees: the old value, changed by the lanes before. */
static ir_inst *seen_by(simd *s, const ir_inst *i, ir_inst *old, ir_inst *before) {
    ir_op op = i->op == IR_OP_atomic_sub ? IR_OP_sub : combining_op(i);
    return ir_build2(&s->b, op, before->type, simd_splat(s, old), before);
}

/* Operand x of all active lanes together; NULL: it is not known without an operation on lanes. */
static ir_inst *total_of_same(simd *s, ir_inst *x, const simd_node *n, ir_op op) {
    if (op == IR_OP_xor) return NULL;
    if (op != IR_OP_add) return x;
    ir_inst *count = ir_const(s->f, x->type, s->lanes);
    if (n->mask) {
        ir_inst *bits = simd_mask_bits(s, n->mask);
        count = ir_build1(&s->b, IR_OP_popcount, bits->type, bits);
        bool wider = ir_bits(NULL, x->type) > ir_bits(NULL, bits->type);
        if (x->type != bits->type)
            count = ir_build1(&s->b, wider ? IR_OP_zext : IR_OP_trunc, x->type, count);
    }
    return ir_build2(&s->b, IR_OP_mul, x->type, x, count);
}

/* *before: what the lanes before each lane have together, if the result is used. */
static ir_inst *total_of(simd *s, const ir_inst *i, const simd_node *n, ir_inst **before) {
    ir_op op = combining_op(i);
    ir_inst *x = ir_arg(i, 1), *total = NULL;
    if (!i->uses && simd_shape_at(s, x, i->block) == SIMD_UNIFORM)
        total = total_of_same(s, simd_base(s, x), n, op);
    if (total) return total;
    ir_inst *v = operand_of(s, i, n, op);
    if (!i->uses) return simd_reduce(s, op, 0, v);
    ir_inst *sums = simd_prefix(s, op, 0, v);
    *before = simd_shift_lanes(s, sums, simd_neutral(s, op, v->type), 1);
    return ir_build_extract(&s->b, sums, s->lanes - 1);
}

static void update_together(simd *s, const ir_inst *i, simd_node *n) {
    ir_inst *before = NULL, *total = total_of(s, i, n, &before);
    ir_block *after = n->mask ? new_block(s, n) : NULL;
    if (after) { /* the place may not exist if no lane is active */
        ir_block *some = new_block(s, n);
        ir_build_br(&s->b, ir_build1(&s->b, IR_OP_any, IR_I1, n->mask), some, after);
        ir_at_end(&s->b, some);
    }
    ir_inst *old = build_update(s, i, (ir_inst *[]){simd_base(s, ir_arg(i, 0)), total});
    if (after) {
        ir_build_jmp(&s->b, after);
        go_on(s, n, after);
        if (before) { /* the first predecessor is the one without active lanes */
            ir_inst *seen = ir_append_arg(ir_build_phi(after, i->type), ir_undef(s->f, i->type));
            old = ir_append_arg(seen, old);
        }
    }
    if (before) simd_set_part(s, i, 0, seen_by(s, i, old, before));
}

/* -------------------------------------------------------------------------- lanes in memory */

/* Memory of the function for lanes. */
static ir_inst *aside(simd *s, unsigned k) {
    ir_builder b;
    if (s->aside[k]) return s->aside[k];
    ir_builder_init(&b, s->f);
    ir_before(&b, s->f->first->first);
    ir_type t = ir_array_type(s->f->module, IR_I8, ASIDE * IR_MAX_LANES);
    return s->aside[k] = ir_build_alloca(&b, t, WORD);
}

/* The address of a lane there. */
static ir_inst *lane_aside(simd *s, unsigned k, ir_type t, ir_inst *lane) {
    unsigned bytes = ir_bits(NULL, t) / 8;
    ir_inst *by = ir_const(s->f, lane->type, (uint64_t)__builtin_ctz(bytes));
    ir_inst *offset = ir_build2(&s->b, IR_OP_shl, lane->type, lane, by);
    return ir_build_ptradd(&s->b, aside(s, k), offset, false);
}

/* -------------------------------------------------------------------------------- all lanes */

static void update_each(simd *s, const ir_inst *i) {
    ir_inst **old = ir_new_array(s->scratch, ir_inst *, s->lanes), *args[3];
    for (unsigned k = 0; k < s->lanes; k++) {
        for (unsigned n = 0; n < i->nargs; n++)
            args[n] = lane_of(s, ir_arg(i, n), (place){k, NULL}, i->block);
        old[k] = build_update(s, i, args);
    }
    if (i->uses) simd_set_part(s, i, 0, ir_build_vec(&s->b, ir_vector(i->type, s->lanes), old));
}

/* Are there so many lanes that a loop over them pays, and is one vector of numbers all that differs
 * between them? */
static bool has_loop(const simd *s, const ir_inst *i, numbers *from) {
    *from = (numbers){0};
    if (i->uses || s->lanes < MANY) return false;
    for (unsigned n = 0; n < i->nargs; n++)
        if (!find_numbers(s, ir_arg(i, n), i->block, simd_is_apart, from)) return false;
    return from->lanes;
}

/* for (at = 0; at < lanes; at += ROUND) update lanes at, at + 1, … */
static void update_rounds(simd *s, const ir_inst *i, simd_node *n, numbers *from) {
    unsigned bytes = ir_bits(NULL, from->lanes->type) / 8;
    ir_block *loop = new_block(s, n), *after = new_block(s, n);
    ir_type t = ir_size_type(s->f->module);
    ir_inst *into = aside(s, 0);
    ir_build_store(&s->b, simd_part(s, from->lanes, 0, from->at), into, WORD, 0);
    ir_build_jmp(&s->b, loop);
    ir_at_end(&s->b, loop);
    loop->loop_hint |= IR_LOOP_NO_UNROLL;
    ir_inst *at = ir_append_arg(ir_build_phi(loop, t), ir_const(s->f, t, 0)), *args[3];
    from->memory = ir_build_ptradd(&s->b, aside(s, 0), at, false);
    for (unsigned k = 0; k < ROUND; k++) {
        for (unsigned a = 0; a < i->nargs; a++)
            args[a] = lane_of(s, ir_arg(i, a), (place){k, from}, i->block);
        build_update(s, i, args);
    }
    ir_inst *next = ir_build2(&s->b, IR_OP_add, t, at, ir_const(s->f, t, ROUND * bytes));
    ir_inst *end = ir_const(s->f, t, s->lanes * bytes);
    ir_build_br(&s->b, ir_build2(&s->b, IR_OP_ult, IR_I1, next, end), loop, after);
    ir_append_arg(at, next);
    go_on(s, n, after);
}

/* ------------------------------------------------------------------------- lanes, one by one */

/* An operand of the update: the same for all lanes, steps of them, or lanes in memory. */
typedef struct {
    ir_inst *base;
    int64_t stride;
    ir_type lanes; /* in memory, IR_VOID: none */
    numbers from;  /* what is in memory, if each lane makes the operand of that by steps */
} source;

static source put_aside(simd *s, const ir_inst *i, unsigned k) {
    ir_inst *v = ir_arg(i, k), *lanes;
    simd_shape shape = simd_shape_at(s, v, i->block);
    source from = {.lanes = IR_VOID};
    if (simd_is_apart(s, v)) {
        bool found = find_numbers(s, v, i->block, simd_is_apart, &from.from);
        assert_at(v, found);
        lanes = simd_part(s, from.from.lanes, 0, from.from.at);
    } else if (shape == SIMD_VARYING && ir_is_ptr(v->type)) {
        from.base = s->value[v->id].base;
        lanes = s->value[v->id].offset;
    } else if (shape == SIMD_VARYING) {
        lanes = simd_part(s, v, 0, i->block);
    } else {
        from.base = simd_base(s, v);
        if (shape == SIMD_STRIDED) from.stride = s->value[v->id].stride;
        return from;
    }
    from.lanes = ir_elem(lanes->type);
    ir_build_store(&s->b, lanes, aside(s, k), WORD, 0);
    return from;
}

/* The operand of lane number `lane`, an i64. */
static ir_inst *take_back(simd *s, const ir_inst *i, source *from, unsigned k, ir_inst *lane) {
    ir_inst *own = NULL;
    if (from->from.lanes) {
        from->from.memory = lane_aside(s, k, from->lanes, lane);
        return lane_of(s, ir_arg(i, k), (place){0, &from->from}, i->block);
    }
    if (from->lanes != IR_VOID) {
        ir_inst *p = lane_aside(s, k, from->lanes, lane);
        own = ir_build_load(&s->b, from->lanes, p, ir_bits(NULL, from->lanes) / 8, 0);
    } else if (from->stride) {
        own = ir_build2(&s->b, IR_OP_mul, lane->type, lane,
                        ir_const(s->f, lane->type, (uint64_t)from->stride));
    }
    if (!from->base || !own) return own ? own : from->base;
    if (ir_is_ptr(from->base->type)) {
        ir_type t = ir_size_type(s->f->module);
        bool narrow = ir_bits(NULL, own->type) < ir_bits(NULL, t);
        if (own->type != t) own = ir_build1(&s->b, narrow ? IR_OP_sext : IR_OP_trunc, t, own);
        return ir_build_ptradd(&s->b, from->base, own, false);
    }
    if (own->type != from->base->type) own = ir_build1(&s->b, IR_OP_trunc, from->base->type, own);
    return ir_build2(&s->b, IR_OP_add, own->type, from->base, own);
}

/* for (bits = mask; bits; bits &= bits - 1) update lane ctz(bits) */
static void update_some(simd *s, const ir_inst *i, simd_node *n) {
    ir_block *loop = new_block(s, n), *after = new_block(s, n);
    ir_inst *all = simd_mask_bits(s, n->mask), *args[3];
    ir_type t = all->type, wide = ir_scalar(IR_I64);
    source source_of[3];
    for (unsigned k = 0; k < i->nargs; k++) source_of[k] = put_aside(s, i, k);
    ir_inst *zero = ir_const(s->f, t, 0);
    ir_build_br(&s->b, ir_build2(&s->b, IR_OP_ne, IR_I1, all, zero), loop, after);
    ir_at_end(&s->b, loop);
    ir_inst *bits = ir_append_arg(ir_build_phi(loop, t), all);
    ir_inst *lane = ir_build1(&s->b, IR_OP_ctz, t, bits);
    if (t != wide) lane = ir_build1(&s->b, IR_OP_zext, wide, lane);
    for (unsigned k = 0; k < i->nargs; k++) args[k] = take_back(s, i, &source_of[k], k, lane);
    ir_inst *old = build_update(s, i, args);
    if (i->uses)
        ir_build_store(&s->b, old, lane_aside(s, 3, old->type, lane), ir_bits(NULL, old->type) / 8,
                       0);
    ir_inst *less = ir_build2(&s->b, IR_OP_sub, t, bits, ir_const(s->f, t, 1));
    ir_inst *left = ir_build2(&s->b, IR_OP_and, t, bits, less);
    ir_build_br(&s->b, ir_build2(&s->b, IR_OP_ne, IR_I1, left, zero), loop, after);
    ir_append_arg(bits, left);
    go_on(s, n, after);
    if (i->uses)
        simd_set_part(s, i, 0,
                      ir_build_load(&s->b, ir_vector(i->type, s->lanes), aside(s, 3), WORD, 0));
}

void simd_update(simd *s, const ir_inst *i) {
    ir_ctx *cx = s->f->module->cx;
    simd_node *n = &s->node[s->node_of[i->block->id]];
    if (is_combined(s, i)) {
        ir_count(cx, vectorize_combined, 1);
        update_together(s, i, n);
    } else if (n->mask) {
        ir_count(cx, vectorize_picked, 1);
        update_some(s, i, n);
    } else {
        numbers from;
        ir_count(cx, vectorize_updates, 1);
        if (has_loop(s, i, &from))
            update_rounds(s, i, n, &from);
        else
            update_each(s, i);
    }
}
