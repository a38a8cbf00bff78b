/* vectors_parts.c — the pieces of vectors: their width, and reading pieces of a value.
 *
 * A piece that is narrower than those of the value is a shuffle of one of them, and a piece of a
 * constant is a constant.  A mask is extended or truncated to the width that is asked for. */
#include "passes/lower/vectors.h"

enum {
    LEAST_BYTES = 4, /* of a piece: what one move between registers can carry */
    PART_BITS = 128  /* of vectors of the smallest size, in which lanes are reached */
};

/* --------------------------------------------------------------------------------------- widths */

static unsigned unit_of(const vec_state *s, unsigned lanes, unsigned bytes) {
    unsigned width = s->target ? s->target->vector_bytes : 0, unit = 2;
    if (lanes < 2 || width < 2 * bytes) return 1;
    while (unit * bytes < width && (unit < lanes || unit * bytes < LEAST_BYTES)) unit *= 2;
    return unit;
}

unsigned vec_unit(const vec_state *s, ir_type t) {
    if (ir_is_bool(t) || ir_is_ptr(t)) return 1;
    return unit_of(s, ir_lanes(t), ir_bits(s->f->module, t) / 8);
}

unsigned vec_mask_unit(const vec_state *s, unsigned lanes, unsigned bits) {
    return bits ? unit_of(s, lanes, bits < 8 ? 1 : bits / 8) : 1;
}

const vec_parts *vec_parts_of(const vec_state *s, const ir_inst *v) {
    return v->id < s->n && s->of[v->id].unit ? &s->of[v->id] : NULL;
}

/* --------------------------------------------------------------------------------------- pieces */

ir_inst **vec_room(vec_state *s, unsigned n) { return ir_new_array(s->scratch, ir_inst *, n); }

unsigned vec_count(unsigned lanes, unsigned unit) { return (lanes + unit - 1) / unit; }

ir_type vec_bits_type(unsigned bits) {
    static const ir_kind kinds[] = {IR_I1, IR_I1, IR_I1, IR_I8, IR_I16, IR_I32, IR_I64};
    return ir_scalar(kinds[__builtin_ctz(bits)]);
}

static ir_inst *take_lanes(vec_state *s, ir_inst *v, unsigned first, unsigned n);

/* Lanes of one part share what takes that out of the vector, unless they are read from memory. */
static ir_inst *take_lane(vec_state *s, ir_inst *v, unsigned k) {
    ir_type elem = ir_elem(v->type);
    unsigned n = ir_is_bool(v->type) ? 0 : PART_BITS / ir_bits(s->f->module, elem);
    if (n < 2 || k < n || v->op == IR_OP_load) return ir_build_extract(&s->b, v, k);
    ir_inst *part = take_lanes(s, v, k / n * n, n);
    return ir_build_raw(&s->b, IR_OP_extract, elem, IR_PLAIN,
                        IR_ARGS(part, ir_const(s->f, IR_I32, k % n)));
}

static ir_inst *take_lanes(vec_state *s, ir_inst *v, unsigned first, unsigned n) {
    uint8_t mask[IR_MAX_LANES];
    if (n == 1) return take_lane(s, v, first);
    for (unsigned k = 0; k < n; k++)
        mask[k] = first + k < ir_lanes(v->type) ? (uint8_t)(first + k) : 255;
    return ir_build_shuffle(&s->b, v, ir_undef(s->f, v->type), n, mask);
}

ir_inst *vec_of_lanes(vec_state *s, ir_type elem, ir_inst *const *lane, unsigned known,
                      unsigned n) {
    ir_inst *all[IR_MAX_LANES];
    for (unsigned k = 0; k < n; k++) all[k] = k < known ? lane[k] : ir_undef(s->f, elem);
    return ir_build_vec(&s->b, ir_vector(elem, n), all);
}

/* Part of a constant.  The last lane is repeated: what is the same in all lanes stays so. */
static ir_inst *leaf_piece(vec_state *s, const ir_inst *v, ir_type elem, unsigned first,
                           unsigned n) {
    uint64_t bits[IR_MAX_LANES];
    unsigned last = ir_lanes(v->type) - 1;
    ir_type t = ir_vector(elem, n);
    if (v->op == IR_OP_undef) return ir_undef(s->f, t);
    for (unsigned k = 0; k < n; k++) {
        bits[k] = ir_lane_bits(v, first + k < last ? first + k : last);
        if (elem != ir_elem(v->type) && bits[k]) bits[k] = UINT64_MAX;
        bits[k] = ir_zext(bits[k], ir_bits(s->f->module, elem));
    }
    return n == 1 ? ir_const(s->f, t, bits[0]) : ir_const_lanes(s->f, t, bits);
}

/* Two vectors, one after the other. */
static ir_inst *join(vec_state *s, ir_inst *x, ir_inst *y) {
    uint8_t mask[IR_MAX_LANES];
    unsigned n = ir_lanes(x->type);
    for (unsigned k = 0; k < 2 * n; k++) mask[k] = (uint8_t)k;
    return ir_build_shuffle(&s->b, x, y, 2 * n, mask);
}

void vec_set_pieces(vec_state *s, ir_inst *i, ir_inst **piece, unsigned n) {
    unsigned unit = vec_unit(s, i->type), count = vec_count(ir_lanes(i->type), n);
    for (; n < unit; n *= 2, count = (count + 1) / 2) {
        for (unsigned k = 0; k < count; k += 2) {
            ir_inst *none = ir_undef(s->f, piece[k]->type);
            piece[k / 2] = join(s, piece[k], k + 1 < count ? piece[k + 1] : none);
        }
    }
    s->of[i->id] = (vec_parts){.unit = unit, .piece = piece};
}

static bool is_plain_leaf(const ir_inst *v) { return ir_is_const(v) || v->op == IR_OP_undef; }

static ir_inst *from_pieces(vec_state *s, const vec_parts *p, unsigned first, unsigned n) {
    ir_inst *piece = p->piece[first / p->unit];
    assert(n <= p->unit);
    return n == p->unit ? piece : take_lanes(s, piece, first % p->unit, n);
}

ir_inst *vec_lane(vec_state *s, ir_inst *v, unsigned k) {
    const vec_parts *p = vec_parts_of(s, v);
    if (!ir_is_vector(v->type)) return v;
    if (is_plain_leaf(v)) return leaf_piece(s, v, ir_elem(v->type), k, 1);
    if (!p) return ir_build_extract(&s->b, v, k);
    if (p->lane) return p->lane[k];
    ir_inst *x = from_pieces(s, p, k, 1);
    return p->bits > 1 ? ir_build1(&s->b, IR_OP_trunc, IR_I1, x) : x;
}

ir_inst *vec_piece(vec_state *s, ir_inst *v, unsigned first, unsigned n) {
    const vec_parts *p = vec_parts_of(s, v);
    if (n == 1) return vec_lane(s, v, first);
    if (is_plain_leaf(v)) return leaf_piece(s, v, ir_elem(v->type), first, n);
    return p ? from_pieces(s, p, first, n) : take_lanes(s, v, first, n);
}

ir_inst *vec_narrow(vec_state *s, ir_inst *x, ir_type elem) {
    unsigned n = ir_lanes(x->type), times = ir_bits(s->f->module, x->type);
    uint8_t mask[IR_MAX_LANES];
    times /= ir_bits(s->f->module, elem);
    for (unsigned k = 0; k < n; k++) mask[k] = (uint8_t)(k * times);
    ir_inst *bits = ir_build1(&s->b, IR_OP_bitcast, ir_vector(elem, n * times), x);
    return ir_build_shuffle(&s->b, bits, ir_undef(s->f, bits->type), n, mask);
}

/* --------------------------------------------------------------------------------- truth values */

bool vec_has_masks(const vec_state *s) { return s->target && s->target->has_masks; }

unsigned vec_mask_bits(const vec_state *s, unsigned bits) { return vec_has_masks(s) ? 1 : bits; }

static ir_inst *mask_of_lanes(vec_state *s, ir_inst *v, unsigned first, unsigned n, ir_type elem) {
    ir_inst *lane[IR_MAX_LANES];
    unsigned known = ir_lanes(v->type) - first;
    if (known > n) known = n;
    for (unsigned k = 0; k < known; k++)
        lane[k] = ir_build1(&s->b, IR_OP_sext, elem, vec_lane(s, v, first + k));
    return vec_of_lanes(s, elem, lane, known, n);
}

/* The truth value of n lanes if it is the same one; otherwise NULL. */
static ir_inst *common_truth(const vec_state *s, ir_inst *v, unsigned first, unsigned n) {
    const vec_parts *p = vec_parts_of(s, v);
    if (!ir_is_vector(v->type)) return v;
    if (!p || !p->lane) return NULL;
    for (unsigned k = first + 1; k < first + n && k < ir_lanes(v->type); k++)
        if (p->lane[k] != p->lane[first]) return NULL;
    return p->lane[first];
}

static bool is_opposite(const ir_inst *c) {
    return c->op == IR_OP_xor && ir_is_const(ir_arg(c, 1)) && ir_arg(c, 1)->imm.bits & 1;
}

/* A mask whose lanes all have the truth value c, as vec_mask gives it.  An opposite is made of the
 * mask that it is the opposite of, since both are needed often. */
static ir_inst *mask_of_one(vec_state *s, ir_inst *c, unsigned n, ir_type elem, unsigned bits) {
    if (!is_opposite(c)) {
        ir_inst *m = ir_build_splat(&s->b, ir_build1(&s->b, IR_OP_sext, elem, c), n);
        return bits == 1 ? vec_truth(s, m) : m;
    }
    ir_inst *m = mask_of_one(s, ir_arg(c, 0), n, elem, bits);
    uint64_t all = ir_zext(UINT64_MAX, ir_bits(s->f->module, m->type));
    return ir_build2(&s->b, IR_OP_xor, m->type, m, ir_const(s->f, m->type, all));
}

/* A mask of scalars, as integers of the least size of which there are pieces. */
static ir_inst *mask_of_scalars(vec_state *s, ir_inst *v, unsigned first, unsigned n,
                                unsigned bits) {
    unsigned least = n < LEAST_BYTES ? 16 : 8;
    ir_type elem = vec_bits_type(bits == 1 ? least : bits);
    ir_inst *c = common_truth(s, v, first, n);
    if (c) return mask_of_one(s, c, n, elem, bits);
    ir_inst *m = mask_of_lanes(s, v, first, n, elem);
    return bits == 1 ? vec_truth(s, m) : m;
}

/* n lanes of a mask, which may be more than a piece has. */
static ir_inst *join_masks(vec_state *s, const vec_parts *p, unsigned lanes, unsigned first,
                           unsigned n) {
    if (n <= p->unit) return from_pieces(s, p, first, n);
    ir_inst *x = join_masks(s, p, lanes, first, n / 2);
    bool more = first + n / 2 < lanes;
    return join(s, x,
                more ? join_masks(s, p, lanes, first + n / 2, n / 2) : ir_undef(s->f, x->type));
}

/* Two halves of a mask, each from pieces of its own. */
static ir_inst *mask_of_halves(vec_state *s, ir_inst *v, unsigned first, unsigned n,
                               unsigned bits) {
    ir_inst *x = vec_mask(s, v, first, n / 2, bits);
    bool more = first + n / 2 < ir_lanes(v->type);
    return join(s, x, more ? vec_mask(s, v, first + n / 2, n / 2, bits) : ir_undef(s->f, x->type));
}

ir_inst *vec_mask(vec_state *s, ir_inst *v, unsigned first, unsigned n, unsigned bits) {
    const vec_parts *p = vec_parts_of(s, v);
    ir_type elem = vec_bits_type(bits);
    if (is_plain_leaf(v) && ir_is_vector(v->type)) return leaf_piece(s, v, elem, first, n);
    if (!p || !p->bits) return mask_of_scalars(s, v, first, n, bits);
    if (p->bits > 1 && n > p->unit) return mask_of_halves(s, v, first, n, bits);
    ir_inst *x =
        p->bits == 1 ? join_masks(s, p, ir_lanes(v->type), first, n) : from_pieces(s, p, first, n);
    if (p->bits == bits) return x;
    return p->bits < bits ? ir_build1(&s->b, IR_OP_sext, ir_vector(elem, n), x)
                          : vec_narrow(s, x, elem);
}

ir_inst *vec_truth(vec_state *s, ir_inst *mask) {
    ir_type truth = ir_with_elem(mask->type, IR_I1);
    if (mask->type == truth) return mask;
    return ir_build2(&s->b, IR_OP_slt, truth, mask, ir_const(s->f, mask->type, 0));
}
