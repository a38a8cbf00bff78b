/* vectors_numbers.c — masks as numbers, the first lane in the lowest bit.
 *
 * A bitcast of a mask is one instruction for as many lanes as the target takes: the mask registers
 * of AVX-512 have up to 64, and the signs of a register of bytes are 16 or 32 bits.  So masks whose
 * lanes are integers become bytes first.  Wider masks are joined from such numbers.
 */
#include "passes/lower/vectors.h"

enum { LEAST_LANES = 16 }; /* of a register of bytes */

static bool takes(const vec_state *s, const ir_inst *i) {
    return s->target && s->target->takes(i, s->target->level);
}

/* The mask as bytes, n of which are a register.  The lanes of pieces of two become 16 bits each
 * first: two bytes are no piece. */
static ir_inst *mask_of_bytes(vec_state *s, ir_inst *v, unsigned first, unsigned n) {
    const vec_parts *p = vec_parts_of(s, v);
    uint8_t lane[IR_MAX_LANES];
    if (!p || !p->bits || p->unit > 2) return vec_mask(s, v, first, n, 8);
    if (n <= 8) return vec_narrow(s, vec_mask(s, v, first, n, 16), IR_I8);
    for (unsigned k = 0; k < n; k++) lane[k] = (uint8_t)k;
    ir_inst *x = mask_of_bytes(s, v, first, n / 2), *y = ir_undef(s->f, x->type);
    if (first + n / 2 < ir_lanes(v->type)) y = mask_of_bytes(s, v, first + n / 2, n / 2);
    return ir_build_shuffle(&s->b, x, y, n, lane);
}

/* The lanes first to first + n - 1 as an integer of n bits; NULL: the target cannot do it. */
static ir_inst *number_of_lanes(vec_state *s, ir_inst *v, unsigned first, unsigned n) {
    unsigned lanes = vec_has_masks(s) || n > LEAST_LANES ? n : LEAST_LANES;
    ir_inst *mask = vec_has_masks(s) ? vec_mask(s, v, first, lanes, 1)
                                     : vec_truth(s, mask_of_bytes(s, v, first, lanes));
    ir_inst *bits = ir_build1(&s->b, IR_OP_bitcast, vec_bits_type(lanes), mask);
    bool is_folded = bits->op != IR_OP_bitcast || ir_arg(bits, 0) != mask;
    if (!is_folded && !takes(s, bits)) {
        ir_remove(bits);
        return NULL;
    }
    return lanes == n ? bits : ir_build1(&s->b, IR_OP_trunc, vec_bits_type(n), bits);
}

ir_inst *vec_number_of_mask(vec_state *s, const ir_inst *i) {
    ir_inst *v = ir_arg(i, 0), *sum = NULL;
    unsigned lanes = ir_lanes(v->type),
             most = vec_has_masks(s) ? lanes : vec_mask_unit(s, lanes, 8);
    unsigned n = lanes < most ? lanes : most;
    if (n < 8) return NULL;
    for (unsigned first = 0; first < lanes; first += n) {
        ir_inst *x = number_of_lanes(s, v, first, n);
        if (!x || n == lanes) return x;
        x = ir_build1(&s->b, IR_OP_zext, i->type, x);
        if (first) x = ir_build2(&s->b, IR_OP_shl, i->type, x, ir_const(s->f, i->type, first));
        sum = sum ? ir_build2(&s->b, IR_OP_or, i->type, sum, x) : x;
    }
    return sum;
}
