/* shape.c — how values of the loop differ between lanes.
 *
 * A value that does not depend on the counter is uniform; one that is the counter, times constants,
 * plus uniform values, is strided: lane k has the value of lane 0 plus k times a stride, modulo the
 * width.  Extensions of strided values are strided only where no lane wraps, and operations on bits
 * only where they keep the bits in which lanes differ.  All others vary.
 *
 * Phis of loops inside begin as strided as what enters the loop; values are visited again until
 * nothing changes.  A shape only ever gets worse, so each value changes twice at most.
 */
#include "passes/vectorize/simd.h"

simd_shape simd_shape_of(const simd *s, const ir_inst *v) {
    if (!simd_is_inside(s, v) || !s->uniformity->varies[v->id]) return SIMD_UNIFORM;
    return s->value[v->id].shape;
}

const ir_loop *simd_left_loop(const simd *s, const ir_inst *v, const ir_block *at) {
    const ir_loops *loops = s->uniformity->loops;
    const ir_loop *left = NULL;
    if (!simd_is_inside(s, v)) return NULL;
    for (const ir_loop *l = loops->of[v->block->id]; l != s->scalar.loop; l = l->parent)
        if (simd_diverges(s, l) && !ir_in_loop(loops, at, l)) left = l;
    return left;
}

simd_shape simd_shape_at(const simd *s, const ir_inst *v, const ir_block *at) {
    return simd_left_loop(s, v, at) ? SIMD_VARYING : simd_shape_of(s, v);
}

typedef struct {
    simd_shape shape;
    int64_t stride;
} form;

static const form varying = {SIMD_VARYING, 0};

static form form_of(const simd *s, const ir_inst *v, const ir_block *at) {
    form f = {simd_shape_at(s, v, at), 0};
    if (f.shape == SIMD_STRIDED) f.stride = s->value[v->id].stride;
    return f;
}

static form strided(int64_t stride) {
    return stride ? (form){SIMD_STRIDED, stride} : (form){SIMD_UNIFORM, 0};
}

/* x + factor * y */
static form add_forms(form x, form y, int64_t factor) {
    if (x.shape == SIMD_UNSEEN || y.shape == SIMD_UNSEEN) return (form){0};
    if (x.shape == SIMD_VARYING || y.shape == SIMD_VARYING) return varying;
    return strided(ir_wrap_add(x.stride, ir_wrap_mul(y.stride, factor)));
}

static form scale(form x, int64_t by) {
    if (x.shape == SIMD_STRIDED) x.stride = ir_wrap_mul(x.stride, by);
    return x;
}

/* A product or a left shift with a constant. */
static form multiply(const simd *s, const ir_inst *i, form x) {
    const ir_inst *by = ir_arg(i, 1);
    (void)s;
    if (!ir_is_const(by)) return varying;
    if (i->op == IR_OP_mul) return scale(x, ir_signed_const(by));
    return by->imm.bits < 63 && by->imm.bits < ir_bits(NULL, i->type)
               ? scale(x, INT64_C(1) << by->imm.bits)
               : varying;
}

/* The stride of an extension is that of what it extends, if no lane wraps.  Lanes that are not
 * active may. */
static form extend(const simd *s, const ir_inst *i, form x) {
    const ir_inst *v = ir_arg(i, 0);
    unsigned flag = i->op == IR_OP_sext ? IR_NSW : IR_NUW;
    const simd_node *n = v->block ? &s->node[s->node_of[v->block->id]] : NULL;
    if (x.shape != SIMD_STRIDED) return x;
    if (n && n->mask_of == 0 && v->op == IR_OP_add && v->flags & flag) {
        bool plain = true; /* the operands do not wrap either */
        for (unsigned k = 0; k < 2; k++)
            plain &=
                simd_shape_of(s, ir_arg(v, k)) == SIMD_UNIFORM || ir_arg(v, k) == s->scalar.counter;
        if (plain) return x;
    }
    return simd_cannot_wrap(s, v, x.stride, i->op == IR_OP_sext) ? x : varying;
}

/* An operation on bits of an index whose lanes differ in low bits only, and of what all lanes have:
 * these bits are kept, flipped, or become the same.  Where all bits are flipped, it is -1 - x. */
static form mask(const simd *s, const ir_inst *i) {
    for (unsigned n = 0; n < 2; n++) {
        const ir_inst *other = ir_arg(i, 1 - n);
        form x = form_of(s, ir_arg(i, n), i->block), y = form_of(s, other, i->block);
        if (x.shape != SIMD_STRIDED || y.shape != SIMD_UNIFORM) continue;
        bool flips = i->op == IR_OP_xor && ir_is_const(other) && ir_signed_const(other) == -1;
        if (flips) return scale(x, -1);
        simd_low_bits low = simd_find_low_bits(s, ir_arg(i, n), x.stride, other);
        if (low == SIMD_LOW_UNKNOWN) return varying;
        if (low == SIMD_LOW_ONES && i->op == IR_OP_xor) return scale(x, -1);
        return low == (i->op == IR_OP_and ? SIMD_LOW_ONES : SIMD_LOW_ZEROS) ? x : strided(0);
    }
    return varying;
}

static form phi_form(const simd *s, const ir_inst *phi) {
    const ir_block *b = phi->block;
    const ir_loop *loop = s->uniformity->loops->of[b->id];
    const simd_carried *c = s->value[phi->id].carried;
    if (phi == s->scalar.counter) return strided(1);
    if (c && ir_is_const(c->by)) return strided(ir_signed_const(c->by));
    if (loop->header != b || loop == s->scalar.loop || phi->nargs != 2) return varying;
    if (!ir_is_int(phi->type) && !ir_is_ptr(phi->type)) return varying;
    form f = {0};
    for (unsigned k = 0; k < phi->nargs; k++) {
        form x = form_of(s, ir_arg(phi, k), b);
        if (x.shape == SIMD_UNSEEN) continue;
        if (f.shape != SIMD_UNSEEN && (f.shape != x.shape || f.stride != x.stride)) return varying;
        f = x;
    }
    return f;
}

static form find_form(const simd *s, const ir_inst *i) {
    form x = {0};
    if (i->op == IR_OP_phi) return phi_form(s, i);
    if (!ir_has_flag(i, F_PURE) || ir_is_vector(i->type) || ir_is_bool(i->type)) return varying;
    for (unsigned k = 0; k < i->nargs; k++)
        if (form_of(s, ir_arg(i, k), i->block).shape == SIMD_UNSEEN) return x;
    if (i->nargs) x = form_of(s, ir_arg(i, 0), i->block);
    switch (i->op) {
    case IR_OP_add:
    case IR_OP_ptradd: return add_forms(x, form_of(s, ir_arg(i, 1), i->block), 1);
    case IR_OP_sub: return add_forms(x, form_of(s, ir_arg(i, 1), i->block), -1);
    case IR_OP_mul:
    case IR_OP_shl: return multiply(s, i, x);
    case IR_OP_and:
    case IR_OP_or:
    case IR_OP_xor: return mask(s, i);
    case IR_OP_trunc:
    case IR_OP_ptrcast: return x;
    case IR_OP_sext:
    case IR_OP_zext: return extend(s, i, x);
    default: return varying;
    }
}

static bool visit(simd *s, const ir_inst *i) {
    simd_value *v = &s->value[i->id];
    form f = find_form(s, i);
    if (v->shape == SIMD_VARYING || f.shape == SIMD_UNSEEN) return false;
    if (v->shape == f.shape && v->stride == f.stride) return false;
    if (v->shape != SIMD_UNSEEN) f = varying;
    v->shape = f.shape;
    v->stride = f.stride;
    return true;
}

void simd_find_shapes(simd *s) {
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = 0; k < s->n; k++) {
            if (s->node[k].kind != SIMD_BLOCK) continue;
            foreach_inst (i, s->node[k].block)
                if (s->uniformity->varies[i->id] && i->type != IR_VOID) again |= visit(s, i);
        }
    }
}
