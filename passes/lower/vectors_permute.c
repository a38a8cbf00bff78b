/* vectors_permute.c — lanes picked by numbers that are not known.
 *
 * Targets have instructions for some sizes of lanes and registers, which look at the low bits of
 * the numbers only.  What they lack becomes a permutation of narrower lanes: lane k of 64 bits is
 * lanes 2 k and 2 k + 1 of 32, and lanes of a register of 16 bytes are bytes.  If the vector is
 * several registers, all of them are permuted, and each lane is taken from the one that has it.
 * That takes the square of their number, so lanes of many registers are loaded from memory, one by
 * one.
 */
#include "passes/lower/vectors.h"

enum {
    BYTES = 16,      /* of a register whose bytes are permuted */
    LEAST_BYTES = 4, /* of a piece */
    LEAST_LANES = 8  /* that are picked in memory */
};

static bool takes(vec_state *s, ir_type t) {
    ir_type index = ir_with_elem(t, vec_bits_type(ir_bits(s->f->module, t)));
    ir_inst *args[] = {ir_undef(s->f, t), ir_undef(s->f, index)};
    ir_inst *i = ir_build_raw(&s->b, IR_OP_permute, t, IR_PLAIN, (ir_args){2, args});
    bool taken = s->target && s->target->takes(i, s->target->level);
    ir_remove(i);
    return taken;
}

static unsigned bytes_of(const vec_state *s, ir_type t) { return ir_bits(s->f->module, t) / 8; }

/* The type as which a vector of type t is permuted; IR_VOID: it cannot be done at once. */
static ir_type find_form(vec_state *s, ir_type t) {
    unsigned lanes = ir_lanes(t), size = bytes_of(s, t);
    if (takes(s, t)) return t;
    if (size == 8) {
        ir_type words = ir_vector(IR_I32, 2 * lanes);
        return find_form(s, words) ? words : IR_VOID;
    }
    if (size * lanes > BYTES) return IR_VOID;
    ir_type bytes = ir_vector(IR_I8, size * lanes);
    return takes(s, bytes) ? bytes : IR_VOID;
}

/* The numbers of lanes of `form` that make up those of t. */
static ir_inst *scale_index(vec_state *s, ir_inst *index, ir_type t, ir_type form) {
    unsigned times = ir_lanes(form) / ir_lanes(t);
    uint64_t place[IR_MAX_LANES];
    uint8_t from[IR_MAX_LANES];
    if (times == 1) return index;
    for (unsigned k = 0; k < ir_lanes(form); k++) {
        from[k] = (uint8_t)(k / times * times);
        place[k] = k % times;
    }
    index = vec_cast(s, form, index);
    index = ir_build_shuffle(&s->b, index, ir_undef(s->f, form), ir_lanes(form), from);
    ir_type shifted = form; /* of bytes, no bit is carried into the next one */
    if (ir_elem(form) == IR_I8) shifted = ir_vector(IR_I16, ir_lanes(form) / 2);
    ir_inst *by = ir_const(s->f, shifted, (uint64_t)__builtin_ctz(times));
    index = ir_build2(&s->b, IR_OP_shl, shifted, vec_cast(s, shifted, index), by);
    return ir_build2(&s->b, IR_OP_add, form, vec_cast(s, form, index),
                     ir_const_lanes(s->f, form, place));
}

static ir_inst *permute_piece(vec_state *s, ir_inst *x, ir_inst *index, ir_type form) {
    ir_type t = x->type, next = takes(s, form) ? form : find_form(s, form);
    index = scale_index(s, index, t, form);
    x = vec_cast(s, form, x);
    if (next != form) return vec_cast(s, t, permute_piece(s, x, index, next));
    ir_inst *args[] = {x, index};
    x = ir_build_raw(&s->b, IR_OP_permute, form, IR_PLAIN, (ir_args){2, args});
    return vec_cast(s, t, x);
}

/* y where the index is at least `first`, otherwise x. */
static ir_inst *choose(vec_state *s, ir_inst *index, unsigned first, ir_inst *y, ir_inst *x) {
    ir_type t = index->type;
    ir_inst *above =
        ir_build2(&s->b, IR_OP_slt, ir_with_elem(t, IR_I1), ir_const(s->f, t, first - 1), index);
    if (!vec_has_masks(s)) above = vec_truth(s, ir_build1(&s->b, IR_OP_sext, t, above));
    return ir_build_select(&s->b, above, y, x);
}

/* The numbers within a piece, if those of bytes are above 127. */
static ir_inst *low_bits(vec_state *s, ir_inst *index, unsigned lanes, unsigned size) {
    if (lanes * size <= INT8_MAX + 1) return index;
    ir_inst *low = ir_const(s->f, index->type, ir_lanes(index->type) - 1);
    return ir_build2(&s->b, IR_OP_and, index->type, index, low);
}

/* Vectors in memory, and the bytes of a lane and of a vector. */
typedef struct {
    vec_state *s;
    ir_inst *values, *numbers, *results;
    uint64_t size, bytes;
} places;

static ir_inst *move(const places *p, ir_inst *at, uint64_t bytes) {
    return ir_build_ptradd(&p->s->b, at, ir_const(p->s->f, IR_I64, bytes), true);
}

static places find_places(vec_state *s, ir_type t, unsigned unit) {
    uint64_t size = bytes_of(s, t), bytes = unit;
    while (bytes < ir_lanes(t)) bytes *= 2;
    places p = {.s = s, .size = size, .bytes = bytes * size};
    p.values = vec_find_aside(s, (uint32_t)(3 * p.bytes));
    p.numbers = move(&p, p.values, p.bytes);
    p.results = move(&p, p.numbers, p.bytes);
    return p;
}

static void put_pieces(const places *p, ir_inst *v, unsigned unit, ir_inst *to) {
    for (unsigned first = 0; first < ir_lanes(v->type); first += unit) {
        ir_inst *at = move(p, to, first * p->size);
        ir_build_store(&p->s->b, vec_piece(p->s, v, first, unit), at, (unsigned)p->size, 0);
    }
}

/* The value whose number lane k has; outside of the vector, it is another one. */
static ir_inst *pick(const places *p, ir_type number, ir_type elem, unsigned k) {
    ir_builder *b = &p->s->b;
    ir_inst *n = ir_build_load(b, number, move(p, p->numbers, k * p->size), (unsigned)p->size, 0);
    if (number != IR_I64) n = ir_build1(b, IR_OP_zext, IR_I64, n);
    n = ir_build2(b, IR_OP_and, IR_I64, n, ir_const(p->s->f, IR_I64, p->bytes / p->size - 1));
    n = ir_build2(b, IR_OP_mul, IR_I64, n, ir_const(p->s->f, IR_I64, p->size));
    ir_inst *from = ir_build_ptradd(b, p->values, n, true);
    return ir_build_load(b, elem, from, (unsigned)p->size, 0);
}

static void permute_in_memory(vec_state *s, ir_inst *i) {
    ir_inst *v = ir_arg(i, 0), *numbers = ir_arg(i, 1), **out = vec_room(s, ir_lanes(i->type));
    unsigned unit = vec_unit(s, v->type), lanes = ir_lanes(v->type);
    places p = find_places(s, v->type, unit);
    put_pieces(&p, v, unit, p.values);
    put_pieces(&p, numbers, unit, p.numbers);
    for (unsigned k = 0; k < lanes; k++) {
        ir_inst *at = move(&p, p.results, k * p.size);
        ir_inst *lane = pick(&p, ir_elem(numbers->type), ir_elem(v->type), k);
        ir_build_store(&s->b, lane, at, (unsigned)p.size, 0);
    }
    ir_type t = ir_vector(ir_elem(v->type), unit);
    for (unsigned first = 0; first < lanes; first += unit)
        out[first / unit] =
            ir_build_load(&s->b, t, move(&p, p.results, first * p.size), (unsigned)p.size, 0);
    vec_set_pieces(s, i, out, unit);
}

bool vec_permute(vec_state *s, ir_inst *i) {
    ir_inst *v = ir_arg(i, 0), *numbers = ir_arg(i, 1), **out = vec_room(s, ir_lanes(i->type));
    unsigned lanes = ir_lanes(v->type), n = vec_unit(s, v->type), size = bytes_of(s, v->type);
    ir_type form = IR_VOID;
    for (; n * size >= LEAST_BYTES && n > 1; n /= 2)
        if ((form = find_form(s, ir_vector(ir_elem(v->type), n)))) break;
    unsigned pieces = vec_count(lanes, n);
    if (lanes >= LEAST_LANES && vec_unit(s, v->type) > 1 && (!form || pieces * pieces > lanes)) {
        permute_in_memory(s, i);
        return true;
    }
    if (!form) return false;
    for (unsigned at = 0; at < lanes; at += n) {
        ir_inst *index = vec_piece(s, numbers, at, n), *low = low_bits(s, index, lanes, size);
        ir_inst *all = NULL;
        for (unsigned first = 0; first < lanes; first += n) {
            ir_inst *x = permute_piece(s, vec_piece(s, v, first, n), low, form);
            all = all ? choose(s, index, first, x, all) : x;
        }
        out[at / n] = all;
    }
    vec_set_pieces(s, i, out, n);
    return true;
}
