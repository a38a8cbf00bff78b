/* vectors_shuffle.c — shuffles of vectors, piece by piece.
 *
 * A piece of the result is a shuffle of the two pieces of the operands that have its lanes.  If
 * there are more, the lanes of one more piece are added each time, up to MAX_SOURCES; beyond that
 * they are taken one by one.
 */
#include "passes/lower/vectors.h"

enum { MAX_SOURCES = 4 };

/* The pieces of the operands that have the lanes of one piece of a shuffle. */
typedef struct {
    unsigned n, first[IR_MAX_LANES], operand[IR_MAX_LANES];
    uint8_t mask[IR_MAX_LANES]; /* counted over these pieces */
} sources;

static unsigned add_source(sources *a, unsigned operand, unsigned first) {
    for (unsigned k = 0; k < a->n; k++)
        if (a->operand[k] == operand && a->first[k] == first) return k;
    a->operand[a->n] = operand;
    a->first[a->n] = first;
    return a->n++;
}

static void find_sources(const ir_inst *i, unsigned at, unsigned n, unsigned unit, sources *out) {
    unsigned lanes = ir_lanes(ir_arg(i, 0)->type);
    out->n = 0;
    for (unsigned k = 0; k < n; k++) {
        unsigned from = at + k < ir_lanes(i->type) ? i->imm.mask[at + k] : 255;
        out->mask[k] = 255;
        if (from == 255) continue;
        bool second = from >= lanes;
        from -= second ? lanes : 0;
        if (ir_arg(i, second)->op == IR_OP_undef) continue;
        unsigned piece = add_source(out, second, from / unit * unit);
        out->mask[k] = (uint8_t)(piece * unit + from % unit);
    }
}

static ir_inst *source_piece(vec_state *s, const ir_inst *i, const sources *from, unsigned k,
                             unsigned unit) {
    return k < from->n ? vec_piece(s, ir_arg(i, from->operand[k]), from->first[k], unit)
                       : ir_undef(s->f, ir_vector(ir_elem(i->type), unit));
}

/* Lane `from` of the pieces, where the first `last` of them have been shuffled. */
static unsigned lane_of(unsigned from, unsigned k, unsigned last, unsigned unit) {
    if (from == 255 || from / unit > last) return 255;
    if (from / unit == last) return unit + from % unit;
    return last == 1 ? from : k;
}

/* The lanes of the first two sources, then those of one more each time. */
static ir_inst *shuffle_piece(vec_state *s, const ir_inst *i, const sources *from, unsigned n,
                              unsigned unit) {
    ir_inst *x = source_piece(s, i, from, 0, unit);
    uint8_t mask[IR_MAX_LANES];
    for (unsigned last = 1; last == 1 || last < from->n; last++) {
        unsigned lanes = last + 1 < from->n ? unit : n;
        for (unsigned k = 0; k < lanes; k++)
            mask[k] = (uint8_t)lane_of(k < n ? from->mask[k] : 255, k, last, unit);
        x = ir_build_shuffle(&s->b, x, source_piece(s, i, from, last, unit), lanes, mask);
    }
    return x;
}

void vec_shuffle(vec_state *s, ir_inst *i) {
    unsigned n = vec_unit(s, i->type), unit = vec_unit(s, ir_arg(i, 0)->type);
    ir_inst **out = vec_room(s, ir_lanes(i->type));
    sources from;
    bool fits = n > 1 && unit > 1;
    for (unsigned at = 0; fits && at < ir_lanes(i->type); at += n) {
        find_sources(i, at, n, unit, &from);
        fits = from.n <= 2 || (from.n <= MAX_SOURCES && n <= unit && from.n * unit < 255);
        if (fits) out[at / n] = shuffle_piece(s, i, &from, n, unit);
    }
    if (fits)
        vec_set_pieces(s, i, out, n);
    else
        vec_shuffle_lanes(s, i);
}
