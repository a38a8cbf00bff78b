/* legalize_vectors.c — cuts vectors into pieces that fit registers of the target, or into scalars.
 *
 * Instructions are visited in reverse postorder, so operands come before users, except for phis,
 * whose pieces are created empty and filled at the end.  An operation is done in pieces whose
 * number of lanes fits all of its operands and its result; if the target has no instruction for it,
 * it is done lane by lane.  A lane whose number is not known is selected by comparisons.  A bitcast
 * that changes the width of lanes combines the bits of narrower lanes, or splits wider ones; one
 * of a mask in registers remains, of a mask of all its lanes.
 *
 * On a target without masks, truth values of vectors are created in two ways only: `sext` of a
 * comparison of lanes as wide as the result, and `slt mask, 0` for select, any, all, accesses and
 * bitcasts.
 */
#include "passes/lower/vectors.h"

typedef vec_state vectors;

static void set_masks(vectors *s, ir_inst *i, ir_inst **piece, unsigned n, unsigned bits) {
    s->of[i->id] = (vec_parts){.unit = n, .bits = bits, .piece = piece};
}

/* ------------------------------------------------------------------------------------- bitcasts */

/* The size of a piece of type t, or of a lane if there are no pieces. */
static unsigned piece_bytes(const vectors *s, ir_type t) {
    return vec_unit(s, t) * ir_bits(s->f->module, t) / 8;
}

/* Do both sides have pieces of the same size, and not both scalars? */
static bool casts_pieces(const vectors *s, const ir_inst *i) {
    ir_type from = ir_arg(i, 0)->type, to = i->type;
    bool both = vec_unit(s, from) > 1 && vec_unit(s, to) > 1;
    bool into = vec_unit(s, from) > 1 && !ir_is_vector(to) && ir_bits(s->f->module, to) >= 32;
    bool out_of = vec_unit(s, to) > 1 && !ir_is_vector(from) && ir_bits(s->f->module, from) >= 32;
    return (both || into || out_of) && piece_bytes(s, from) == piece_bytes(s, to);
}

static ir_inst *cast_piece(vectors *s, const ir_inst *i, unsigned k) {
    ir_inst *v = ir_arg(i, 0);
    unsigned n = vec_unit(s, v->type);
    return vec_cast(s, ir_vector(ir_elem(i->type), vec_unit(s, i->type)),
                    vec_piece(s, v, k * n, n));
}

static ir_inst *cast_to_scalar(vectors *s, const ir_inst *i) {
    bool is_mask = ir_is_bool(ir_elem(ir_arg(i, 0)->type));
    ir_inst *number = is_mask ? vec_number_of_mask(s, i) : NULL;
    if (number) return number;
    return casts_pieces(s, i) ? cast_piece(s, i, 0) : vec_cast_lane(s, i, 0);
}

static void split_bitcast(vectors *s, ir_inst *i) {
    unsigned lanes = ir_lanes(i->type), unit = vec_unit(s, i->type);
    ir_inst **out = vec_room(s, lanes);
    if (casts_pieces(s, i)) {
        for (unsigned k = 0; k < vec_count(lanes, unit); k++) out[k] = cast_piece(s, i, k);
        vec_set_pieces(s, i, out, unit);
    } else {
        for (unsigned k = 0; k < lanes; k++) out[k] = vec_cast_lane(s, i, k);
        vec_set_lanes(s, i, out);
    }
}

/* ------------------------------------------------------------------------------- piece by piece */

static bool is_lanewise(const ir_inst *i) {
    return ir_has_flag(i, F_LANEWISE) || i->op == IR_OP_select;
}

static bool takes(const vectors *s, const ir_inst *i) {
    return s->target && s->target->takes(i, s->target->level);
}

/* The pieces of an operation: their number of lanes, and the bits of the narrowest lane. */
typedef struct {
    unsigned lanes, bits;
} width;

static void limit_width(width *w, unsigned lanes, unsigned bits) {
    if (lanes < w->lanes) w->lanes = lanes;
    if (bits < w->bits) w->bits = bits;
}

static void limit_to_value(width *w, const vectors *s, const ir_inst *v) {
    limit_width(w, vec_unit(s, v->type), ir_bits(s->f->module, v->type));
}

/* The bits of a lane of a mask; 0: it consists of scalars. */
static unsigned mask_bits(const vectors *s, const ir_inst *v) {
    const vec_parts *p = vec_parts_of(s, v);
    return p ? p->bits : 0;
}

/* The mask v is extended or truncated to the width.  Masks of one bit have no influence on it,
 * unless there are only such masks. */
static void limit_to_mask(width *w, const vectors *s, const ir_inst *v) {
    unsigned bits = mask_bits(s, v);
    if (bits > 1 || (bits && bits == w->bits)) limit_width(w, s->of[v->id].unit, bits);
}

/* The number of lanes of a piece, or 1 if that would be too small. */
static unsigned lanes_of(const width *w) {
    return w->bits > 1 && w->lanes * w->bits < 32 ? 1 : w->lanes;
}

static void split_lanewise(vectors *s, ir_inst *i) {
    unsigned lanes = ir_lanes(i->type);
    ir_inst *args[8], **out = vec_room(s, lanes);
    width w = {IR_MAX_LANES, 64};
    limit_to_value(&w, s, i);
    for (unsigned k = 0; k < i->nargs; k++) limit_to_value(&w, s, ir_arg(i, k));
    unsigned n = lanes_of(&w);
    bool direct = takes(s, i);
    if (n == 1 || (!direct && !vec_is_expanded(s, i))) {
        vec_by_lanes(s, i);
        return;
    }
    for (unsigned first = 0; first < lanes; first += n) {
        for (unsigned k = 0; k < i->nargs; k++) args[k] = vec_piece(s, ir_arg(i, k), first, n);
        out[first / n] = direct ? vec_build_like(s, i, ir_vector(ir_elem(i->type), n), args)
                                : vec_build_expansion(s, i, args);
    }
    vec_set_pieces(s, i, out, n);
}

/* The number of bits by which x is shifted down, if they are known and leave of a lane of 64 bits
 * none of the low half; otherwise 0. */
static unsigned shift_to_low_half(const ir_inst *x) {
    uint64_t by;
    bool known = x->op == IR_OP_lshr && ir_is_const(ir_arg(x, 1)) && ir_is_splat(ir_arg(x, 1), &by);
    return known && by >= 32 && by < 64 ? (unsigned)by : 0;
}

/* Every other lane of two pieces, seen with lanes of half the size, is one piece of the result: the
 * low halves, or the high ones of what is shifted down to them.  False: they do not fit so. */
static bool take_halves(vectors *s, ir_inst *i) {
    ir_inst *x = ir_arg(i, 0), **out = vec_room(s, ir_lanes(i->type));
    unsigned n = vec_unit(s, i->type), half = vec_unit(s, x->type), by = shift_to_low_half(x);
    bool fits = half > 1 && n == 2 * half && ir_lanes(i->type) % n == 0;
    if (!fits || ir_elem(x->type) != IR_I64 || ir_elem(i->type) != IR_I32) return false;
    uint8_t mask[IR_MAX_LANES];
    for (unsigned k = 0; k < n; k++) mask[k] = (uint8_t)(2 * k + (by != 0));
    if (by) x = ir_arg(x, 0);
    for (unsigned first = 0; first < ir_lanes(i->type); first += n) {
        ir_inst *low = vec_cast(s, ir_vector(IR_I32, n), vec_piece(s, x, first, half));
        ir_inst *high = vec_cast(s, ir_vector(IR_I32, n), vec_piece(s, x, first + half, half));
        ir_inst *v = ir_build_shuffle(&s->b, low, high, n, mask);
        if (by > 32) v = ir_build2(&s->b, IR_OP_lshr, v->type, v, ir_const(s->f, v->type, by - 32));
        out[first / n] = v;
    }
    vec_set_pieces(s, i, out, n);
    return true;
}

static void split_trunc(vectors *s, ir_inst *i) {
    ir_inst *x = ir_arg(i, 0), **out = vec_room(s, ir_lanes(i->type));
    if (take_halves(s, i)) return;
    width w = {IR_MAX_LANES, 64};
    limit_to_value(&w, s, x);
    limit_to_value(&w, s, i);
    unsigned n = lanes_of(&w);
    if (n == 1 || takes(s, i)) {
        split_lanewise(s, i);
        return;
    }
    for (unsigned first = 0; first < ir_lanes(i->type); first += n)
        out[first / n] = vec_narrow(s, vec_piece(s, x, first, n), ir_elem(i->type));
    vec_set_pieces(s, i, out, n);
}

/* An integer from a mask: the mask itself, or its lowest bit. */
static void split_extension(vectors *s, ir_inst *i) {
    ir_inst *c = ir_arg(i, 0), **out = vec_room(s, ir_lanes(i->type));
    unsigned bits = ir_bits(s->f->module, i->type);
    width w = {vec_unit(s, i->type), bits};
    limit_to_mask(&w, s, c);
    unsigned n = lanes_of(&w);
    if (n == 1 || !mask_bits(s, c)) {
        vec_by_lanes(s, i);
        return;
    }
    for (unsigned first = 0; first < ir_lanes(i->type); first += n) {
        ir_inst *m = vec_mask(s, c, first, n, bits);
        if (i->op == IR_OP_zext)
            m = ir_build2(&s->b, IR_OP_and, m->type, m, ir_const(s->f, m->type, 1));
        out[first / n] = m;
    }
    vec_set_pieces(s, i, out, n);
}

/* A comparison of pieces as a mask of integers.  `ne` is the opposite of `eq`, which its user may
 * take the other way round. */
static ir_inst *compare_to_mask(vectors *s, const ir_inst *i, unsigned bits, ir_inst **args) {
    ir_type truth = ir_with_elem(args[0]->type, IR_I1),
            t = ir_with_elem(truth, vec_bits_type(bits));
    if (i->op != IR_OP_ne)
        return ir_build1(&s->b, IR_OP_sext, t, vec_build_like(s, i, truth, args));
    ir_inst *equal = ir_build2(&s->b, IR_OP_eq, truth, args[0], args[1]);
    ir_inst *m = ir_build1(&s->b, IR_OP_sext, t, equal);
    return ir_build2(&s->b, IR_OP_xor, t, m, ir_const(s->f, t, ir_zext(UINT64_MAX, bits)));
}

static void split_comparison(vectors *s, ir_inst *i) {
    ir_inst *x = ir_arg(i, 0), **out = vec_room(s, ir_lanes(i->type));
    unsigned bits = vec_mask_bits(s, ir_bits(s->f->module, x->type)), n = vec_unit(s, x->type);
    if (n == 1 || !takes(s, i)) {
        vec_by_lanes(s, i);
        return;
    }
    for (unsigned first = 0; first < ir_lanes(i->type); first += n) {
        ir_inst *args[] = {vec_piece(s, x, first, n), vec_piece(s, ir_arg(i, 1), first, n)};
        out[first / n] = bits > 1 ? compare_to_mask(s, i, bits, args)
                                  : vec_build_like(s, i, ir_vector(IR_I1, n), args);
    }
    set_masks(s, i, out, n, bits);
}

static void split_logic(vectors *s, ir_inst *i) {
    ir_inst *x = ir_arg(i, 0), *y = ir_arg(i, 1), **out = vec_room(s, ir_lanes(i->type));
    unsigned bits = mask_bits(s, x) ? mask_bits(s, x) : mask_bits(s, y);
    width w = {vec_mask_unit(s, ir_lanes(i->type), bits), bits};
    limit_to_mask(&w, s, x);
    limit_to_mask(&w, s, y);
    unsigned n = lanes_of(&w);
    if (n == 1) {
        vec_by_lanes(s, i);
        return;
    }
    for (unsigned first = 0; first < ir_lanes(i->type); first += n) {
        ir_inst *m = vec_mask(s, x, first, n, bits);
        out[first / n] = ir_build2(&s->b, (ir_op)i->op, m->type, m, vec_mask(s, y, first, n, bits));
    }
    set_masks(s, i, out, n, bits);
}

/* A select by a constant mask is a shuffle; masks have no shuffles. */
static ir_inst *select_by_constant(vectors *s, ir_inst *m, ir_inst *x, ir_inst *y) {
    uint8_t from[IR_MAX_LANES];
    uint64_t rest[IR_MAX_LANES], all;
    unsigned n = ir_lanes(m->type);
    if (ir_is_splat(m, &all)) return all & 1 ? x : y;
    for (unsigned k = 0; k < n; k++) {
        from[k] = (uint8_t)(ir_lane_bits(m, k) ? k : k + n);
        rest[k] = !ir_lane_bits(m, k);
    }
    if (!ir_is_bool(x->type)) return ir_build_shuffle(&s->b, x, y, n, from);
    x = ir_build2(&s->b, IR_OP_and, x->type, x, m);
    y = ir_build2(&s->b, IR_OP_and, y->type, y, ir_const_lanes(s->f, m->type, rest));
    return ir_build2(&s->b, IR_OP_or, x->type, x, y);
}

static bool is_opposite(const ir_inst *m) {
    uint64_t bits, all = ir_zext(UINT64_MAX, ir_bits(NULL, m->type));
    return m->op == IR_OP_xor && ir_is_const(ir_arg(m, 1)) && ir_is_splat(ir_arg(m, 1), &bits) &&
           bits == all;
}

static ir_inst *select_by_mask(vectors *s, ir_inst *m, ir_inst *x, ir_inst *y, unsigned flags) {
    if (m->op == IR_OP_undef) return x;
    if (ir_is_const(m)) return select_by_constant(s, m, x, y);
    if (is_opposite(m)) return select_by_mask(s, ir_arg(m, 0), y, x, flags);
    return ir_build(&s->b, IR_OP_select, x->type, ir_with_flags(flags),
                    IR_ARGS(vec_truth(s, m), x, y));
}

static void split_select(vectors *s, ir_inst *i) {
    ir_inst *c = ir_arg(i, 0), **out = vec_room(s, ir_lanes(i->type));
    bool truth = ir_is_bool(i->type);
    unsigned bits = truth ? mask_bits(s, c) : ir_bits(s->f->module, i->type);
    for (unsigned k = 1; k < 3 && !bits; k++) bits = mask_bits(s, ir_arg(i, k)); /* c is constant */
    width w = {truth ? vec_mask_unit(s, ir_lanes(i->type), bits) : vec_unit(s, i->type), bits};
    for (unsigned k = 0; k < 3; k++) limit_to_mask(&w, s, ir_arg(i, k));
    unsigned n = lanes_of(&w);
    if (n == 1) {
        vec_by_lanes(s, i);
        return;
    }
    for (unsigned first = 0; first < ir_lanes(i->type); first += n) {
        ir_inst *arm[2];
        for (unsigned k = 0; k < 2; k++)
            arm[k] = truth ? vec_mask(s, ir_arg(i, k + 1), first, n, bits)
                           : vec_piece(s, ir_arg(i, k + 1), first, n);
        out[first / n] = select_by_mask(s, vec_mask(s, c, first, n, vec_mask_bits(s, bits)), arm[0],
                                        arm[1], i->flags);
    }
    if (truth)
        set_masks(s, i, out, n, bits);
    else
        vec_set_pieces(s, i, out, n);
}

/* Lanes after the last one of the value get the neutral operand. */
static ir_inst *settle_rest(vectors *s, ir_inst *m, unsigned known, bool any) {
    uint64_t lane[IR_MAX_LANES] = {0}, all = ir_zext(UINT64_MAX, ir_bits(s->f->module, m->type));
    if (known >= ir_lanes(m->type)) return m;
    for (unsigned k = 0; k < ir_lanes(m->type); k++) lane[k] = (k < known) == any ? all : 0;
    return ir_build2(&s->b, any ? IR_OP_and : IR_OP_or, m->type, m,
                     ir_const_lanes(s->f, m->type, lane));
}

static ir_inst *reduce(vectors *s, const ir_inst *i) {
    ir_inst *c = ir_arg(i, 0), *sum = NULL;
    unsigned lanes = ir_lanes(c->type), bits = mask_bits(s, c);
    bool any = i->op == IR_OP_any;
    if (!bits) return vec_reduce_lanes(s, i);
    unsigned n = s->of[c->id].unit;
    for (unsigned first = 0; first < lanes; first += n) {
        ir_inst *m = settle_rest(s, vec_mask(s, c, first, n, bits), lanes - first, any);
        sum = sum ? ir_build2(&s->b, any ? IR_OP_or : IR_OP_and, m->type, sum, m) : m;
    }
    return ir_build1(&s->b, (ir_op)i->op, IR_I1, vec_truth(s, sum));
}

/* ------------------------------------------------------------------------- vec, insert, shuffle */

static void split_insert(vectors *s, ir_inst *i) {
    unsigned unit = vec_unit(s, i->type), lanes = ir_lanes(i->type);
    ir_inst *index = ir_arg(i, 2), **out = vec_room(s, lanes);
    if (unit == 1 || !ir_is_const(index) || index->imm.bits >= lanes) {
        vec_insert_lane(s, i);
        return;
    }
    for (unsigned first = 0; first < lanes; first += unit) {
        ir_inst *p = vec_piece(s, ir_arg(i, 0), first, unit);
        bool here = index->imm.bits / unit == first / unit;
        out[first / unit] =
            here ? ir_build_insert(&s->b, p, ir_arg(i, 1), (unsigned)index->imm.bits % unit) : p;
    }
    vec_set_pieces(s, i, out, unit);
}

/* ----------------------------------------------------------------------------------------- walk */

static void split_load(vectors *s, ir_inst *i) {
    unsigned unit = vec_unit(s, i->type);
    ir_inst **out = vec_room(s, vec_count(ir_lanes(i->type), unit));
    vec_load(s, i, unit, out);
    s->of[i->id] = (vec_parts){.unit = unit, .piece = out, .lane = unit == 1 ? out : NULL};
}

static void split_vec(vectors *s, ir_inst *i) {
    ir_inst **lane = vec_room(s, i->nargs);
    for (unsigned k = 0; k < i->nargs; k++) lane[k] = ir_arg(i, k);
    vec_set_lanes(s, i, lane);
}

static void split_operation(vectors *s, ir_inst *i) {
    bool truth = ir_is_bool(i->type);
    bool extends = i->op == IR_OP_zext || i->op == IR_OP_sext;
    if (i->op == IR_OP_select)
        split_select(s, i);
    else if (truth && (ir_info(i)->rule == R_CMPI || ir_info(i)->rule == R_CMPF))
        split_comparison(s, i);
    else if (truth && ir_info(i)->rule == R_BITS)
        split_logic(s, i);
    else if (extends && ir_is_bool(ir_arg(i, 0)->type))
        split_extension(s, i);
    else if (i->op == IR_OP_trunc && !truth)
        split_trunc(s, i);
    else
        split_lanewise(s, i);
}

/* Splits an instruction whose result is a vector; false: it remains. */
static bool split_vector(vectors *s, ir_inst *i) {
    switch (i->op) {
    case IR_OP_phi: vec_split_phi(s, i); return true;
    case IR_OP_load: split_load(s, i); return true;
    case IR_OP_masked_load:
    case IR_OP_gather: vec_masked_load(s, i); return true;
    case IR_OP_insert: split_insert(s, i); return true;
    case IR_OP_shuffle: vec_shuffle(s, i); return true;
    case IR_OP_vec: split_vec(s, i); return true;
    case IR_OP_permute:
        if (!vec_permute(s, i)) vec_permute_lanes(s, i);
        return true;
    case IR_OP_bitcast: split_bitcast(s, i); return true;
    default:
        if (is_lanewise(i)) split_operation(s, i);
        return is_lanewise(i);
    }
}

/* The replacement of an instruction that has vectors as operands only; NULL: it remains. */
static ir_inst *scalar_result(vectors *s, const ir_inst *i) {
    if (!i->nargs || !ir_is_vector(ir_arg(i, 0)->type)) return NULL;
    switch (i->op) {
    case IR_OP_extract: return vec_pick_lane(s, i);
    case IR_OP_any:
    case IR_OP_all: return reduce(s, i);
    case IR_OP_bitcast: return cast_to_scalar(s, i);
    default: return NULL;
    }
}

static void split(vectors *s, ir_inst *i) {
    ir_before(&s->b, i);
    s->b.loc = i->loc;
    if (vec_store(s, i)) {
        ir_remove(i);
    } else if (ir_is_vector(i->type) && i->id < s->n) {
        if (split_vector(s, i)) *ir_push(s->scratch, &s->dead) = i;
    } else if (i->id < s->n) {
        ir_inst *r = scalar_result(s, i);
        if (!r) return;
        ir_replace_uses(i, r);
        ir_remove(i);
    }
}

/* Vectors with users that remain, for example calls, are assembled again. */
static void drop_vectors(vectors *s) {
    for (uint32_t n = s->dead.n; n-- > 0;) {
        ir_inst *i = s->dead.data[n], *lane[IR_MAX_LANES];
        if (i->uses) {
            ir_before(&s->b, i->op == IR_OP_phi ? ir_first_non_phi(i->block) : i->next);
            unsigned lanes = ir_lanes(i->type);
            for (unsigned k = 0; k < lanes; k++) lane[k] = vec_lane(s, i, k);
            ir_replace_uses(i, vec_of_lanes(s, ir_elem(i->type), lane, lanes, lanes));
        }
        ir_remove(i);
    }
}

static bool uses_vectors(const ir_func *f) {
    foreach_block (b, f) {
        foreach_inst (i, b) {
            if (ir_is_vector(i->type)) return true;
            if (i->nargs && ir_is_vector(ir_arg(i, 0)->type)) return true;
        }
    }
    return false;
}

static bool run(ir_func *f, pass_ctx *cx, const ir_target *target) {
    if (!uses_vectors(f)) return false;
    ir_remove_unreachable(f);
    vectors s = {.f = f, .scratch = cx->scratch, .target = target, .n = f->next_id};
    const ir_dom *dom = ir_dominators(f);
    s.of = ir_new_array(s.scratch, vec_parts, s.n);
    ir_builder_init(&s.b, f);
    for (uint32_t n = 0; n < dom->order.n; n++)
        foreach_inst (i, dom->order.rpo[n]) {
            ir_look_at(cx->cx, i);
            split(&s, i);
        }
    vec_fill_phis(&s);
    drop_vectors(&s);
    return true;
}

/* Does: makes vectors as wide as the registers of the target: wider ones become several, odd ones
 * are padded (in memory only their lanes are touched), and what the target has no instruction for
 * goes lane by lane.  Truth values of vectors become integers, 0 or -1 in each lane.
 * Needs: nothing.
 * Leaves: vectors that the target takes; any as parameters, results of functions, operands of
 * calls.
 * Gives up when: never. */
bool pass_legalize_vectors(ir_func *f, pass_ctx *cx) { return run(f, cx, cx->target); }

/* Does: replaces vector values by scalars, one per lane; loads and stores go lane by lane.
 * Needs: nothing.
 * Leaves: vectors as parameters, results of functions, and operands of calls.
 * Gives up when: never. */
bool pass_scalarize(ir_func *f, pass_ctx *cx) { return run(f, cx, NULL); }
