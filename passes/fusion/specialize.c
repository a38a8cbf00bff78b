/* specialize.c — specializes a kernel for the nd-range that it is launched with.
 *
 * Sizes and the offset become constants.  Ids then have bounds (bounds.c), which allow more:
 *   - A comparison that has the same result for all items becomes a constant.
 *   - A remainder or quotient whose dividend is below the divisor needs no division; other
 *     divisions are computed in 32 bits if both operands fit.
 *   - An index that was computed as an int and is extended for an address is computed in the width
 *     of addresses, if that saves the extension and nothing can have wrapped.
 *   - The offset of an address that is made with extensions, masks or right shifts is computed as
 *     its form (affine.c), if the form shows that they change nothing.  So the ways in which
 *     compilers write an index become one, which later passes can compare.
 *
 * This is correct because a form equals the value modulo 2^width by the rules of affine.c, and the
 * offset is computed in that width without any promise about wrapping.
 */
#include "passes/fusion/fuse_impl.h"

enum { MAX_DEPTH = 8 };

typedef struct {
    const pass_launch *launch;
    bool changed;
} specializer;

static void replace(specializer *k, ir_inst *i, ir_inst *with) {
    ir_replace_uses(i, with);
    ir_remove(i);
    k->changed = true;
}

/* ---------------------------------------------------------------------------------- comparisons */

static void visit_comparison(specializer *k, ir_inst *i) {
    if (!pass_is_comparison(i)) return;
    pass_guard g = {.test = i, .compares = true};
    pass_find_affine(k->launch, ir_arg(i, 0), i->block, &g.left);
    pass_find_affine(k->launch, ir_arg(i, 1), i->block, &g.right);
    for (g.holds = false;; g.holds = true) {
        if (pass_is_always_true(k->launch, &g)) {
            replace(k, i, ir_const(k->launch->kernel, IR_I1, g.holds));
            return;
        }
        if (g.holds) return;
    }
}

/* ------------------------------------------------------------------------------------- division */

static bool is_below(const specializer *k, ir_inst *v, const ir_block *at, uint64_t end) {
    pass_affine form;
    int64_t low, high;
    unsigned bits = ir_bits(k->launch->kernel->module, v->type);
    pass_find_affine(k->launch, v, at, &form);
    return pass_affine_bounds(k->launch, &form, at, &low, &high) && low >= 0 &&
           (uint64_t)high < end && (bits > 63 || high < INT64_C(1) << bits);
}

static bool is_rest(const ir_inst *i) { return i->op == IR_OP_urem || i->op == IR_OP_srem; }

/* Is a signed or unsigned division without need? */
static bool is_trivial(const specializer *k, const ir_inst *i) {
    const ir_inst *by = ir_arg(i, 1);
    bool is_signed = i->op == IR_OP_srem || i->op == IR_OP_sdiv;
    unsigned bits = ir_bits(k->launch->kernel->module, i->type);
    if (!ir_is_const(by) || (is_signed && ir_sext(by->imm.bits, bits) < 0)) return false;
    return is_below(k, ir_arg(i, 0), i->block, by->imm.bits);
}

static ir_inst *build_narrow(ir_builder *b, ir_inst *x) {
    return ir_build1(b, IR_OP_trunc, IR_I32, x);
}

/* Both operands are below 2^32, so the signs do not matter. */
static void narrow(specializer *k, ir_inst *i) {
    ir_builder b;
    ir_builder_init(&b, k->launch->kernel);
    ir_before(&b, i);
    b.loc = i->loc;
    ir_inst *x = build_narrow(&b, ir_arg(i, 0)), *y = build_narrow(&b, ir_arg(i, 1));
    ir_inst *small = ir_build2(&b, is_rest(i) ? IR_OP_urem : IR_OP_udiv, IR_I32, x, y);
    replace(k, i, ir_build1(&b, IR_OP_zext, i->type, small));
}

static void visit_division(specializer *k, ir_inst *i) {
    const uint64_t end = UINT64_C(1) << 32;
    ir_inst *x = ir_arg(i, 0);
    if (ir_is_vector(i->type)) return;
    if (is_trivial(k, i))
        replace(k, i, is_rest(i) ? x : ir_const(k->launch->kernel, i->type, 0));
    else if (i->type == IR_I64 && is_below(k, x, i->block, end) &&
             is_below(k, ir_arg(i, 1), i->block, end))
        narrow(k, i);
}

/* ----------------------------------------------------------------------------------- extensions */

/* An extension, whose operand is computed in the wide type. */
typedef struct {
    specializer *k;
    const ir_block *at;
    ir_builder b;
    ir_type wide;
    bool is_signed;
} extension;

/* Does v fit in so many bits at `at`? */
static bool fits_bits(const specializer *k, ir_inst *v, const ir_block *at, unsigned bits,
                      bool is_signed) {
    pass_affine form;
    int64_t low, high;
    pass_find_affine(k->launch, v, at, &form);
    if (bits < 1 || bits > 62 || !pass_affine_bounds(k->launch, &form, at, &low, &high))
        return false;
    int64_t half = INT64_C(1) << (bits - 1);
    return is_signed ? low >= -half && high < half : low >= 0 && high < 2 * half;
}

/* Can v be computed in the wide type without an extension?  Each step goes to a value with a single
 * use, so no value is visited twice.  The form of a known number is that number, truncated to its
 * own width, whatever it is computed from. */
static bool can_extend(const extension *w, ir_inst *v, unsigned depth) {
    int64_t n;
    unsigned bits = ir_bits(w->k->launch->kernel->module, v->type);
    if (pass_known_number(w->k->launch, v, &n)) return true;
    if (depth >= MAX_DEPTH || !fits_bits(w->k, v, w->at, bits, w->is_signed)) return false;
    if (v->op == IR_OP_trunc) return ir_arg(v, 0)->type == w->wide;
    bool is_sum = v->op == IR_OP_add || v->op == IR_OP_sub || v->op == IR_OP_mul;
    return is_sum && !v->uses->next && can_extend(w, ir_arg(v, 0), depth + 1) &&
           can_extend(w, ir_arg(v, 1), depth + 1);
}

/* Forms take constants for signed numbers, also where the extension is unsigned. */
static ir_inst *extend(extension *w, ir_inst *v) {
    int64_t n;
    if (pass_known_number(w->k->launch, v, &n)) return ir_const(w->b.f, w->wide, (uint64_t)n);
    if (v->op == IR_OP_trunc) return ir_arg(v, 0);
    ir_inst *x = extend(w, ir_arg(v, 0)), *y = extend(w, ir_arg(v, 1));
    return ir_build2(&w->b, (ir_op)v->op, w->wide, x, y);
}

/* A number that is known is extended here. */
static bool fold_extension(specializer *k, ir_inst *i) {
    ir_func *f = k->launch->kernel;
    const ir_inst *x = ir_arg(i, 0);
    int64_t n;
    if (!pass_known_number(k->launch, x, &n)) return false;
    uint64_t wide =
        i->op == IR_OP_sext ? (uint64_t)n : ir_zext((uint64_t)n, ir_bits(f->module, x->type));
    replace(k, i, ir_const(f, i->type, wide));
    return true;
}

static void visit_extension(specializer *k, ir_inst *i) {
    if (ir_is_vector(i->type) || fold_extension(k, i)) return;
    extension w = {.k = k, .at = i->block, .wide = i->type, .is_signed = i->op == IR_OP_sext};
    if (!can_extend(&w, ir_arg(i, 0), 0)) return;
    ir_builder_init(&w.b, k->launch->kernel);
    ir_before(&w.b, i);
    w.b.loc = i->loc;
    replace(k, i, extend(&w, ir_arg(i, 0)));
}

/* Shifted up and down again is an extension, too. */
static void visit_shift(specializer *k, ir_inst *i) {
    const ir_inst *up = ir_arg(i, 0), *by = ir_arg(i, 1);
    if (up->op != IR_OP_shl || ir_arg(up, 1) != by || !ir_is_const(by) || ir_is_vector(i->type))
        return;
    unsigned width = ir_bits(k->launch->kernel->module, i->type);
    if (by->imm.bits >= width) return;
    unsigned bits = width - (unsigned)by->imm.bits;
    if (fits_bits(k, ir_arg(up, 0), i->block, bits, i->op == IR_OP_ashr))
        replace(k, i, ir_arg(up, 0));
}

/* ------------------------------------------------------------------------------------ addresses */

/* Is a sum of products as it is, without anything that a form sees through or puts together? */
static bool is_plain_sum(const ir_inst *v, unsigned depth) {
    switch (v->op) {
    case IR_OP_sext:
    case IR_OP_zext:
    case IR_OP_trunc:
    case IR_OP_and:
    case IR_OP_or:
    case IR_OP_xor:
    case IR_OP_ashr:
    case IR_OP_lshr:
    case IR_OP_group_id: return false;
    case IR_OP_add:
    case IR_OP_sub:
    case IR_OP_mul:
    case IR_OP_shl:
        return depth == MAX_DEPTH ||
               (is_plain_sum(ir_arg(v, 0), depth + 1) && is_plain_sum(ir_arg(v, 1), depth + 1));
    default: return true;
    }
}

static bool is_of_ids(const pass_affine *f) {
    bool ids = false;
    for (uint32_t k = 0; k < f->n; k++) {
        if (f->term[k].of.kind == IR_OP_phi) return false;
        ids |= f->term[k].of.kind != IR_OP_COUNT && f->term[k].of.kind != IR_OP_param;
    }
    return ids;
}

/* Symbols are signed numbers. */
static ir_inst *build_affine_symbol(ir_builder *b, const pass_symbol *s, ir_type t) {
    ir_inst *v = (ir_inst *)(uintptr_t)s->value;
    if (s->kind == IR_OP_param) v = b->f->param_val[s->index];
    if (!v) return ir_build_query(b, s->kind, t, s->index);
    unsigned from = ir_bits(b->f->module, v->type), to = ir_bits(b->f->module, t);
    return from == to ? v : ir_build1(b, from < to ? IR_OP_sext : IR_OP_trunc, t, v);
}

static ir_inst *multiply(ir_builder *b, ir_inst *v, uint64_t factor) {
    return ir_build2(b, IR_OP_mul, v->type, v, ir_const(b->f, v->type, factor));
}

/* Arrays with elements of different sizes share the index: it is multiplied last, by the power of
 * two that all factors are multiples of, in most cases the size of elements. */
static ir_inst *build_affine(ir_builder *b, const pass_affine *f, ir_type t) {
    uint64_t bits = 0;
    for (uint32_t k = 0; k < f->n; k++) bits |= pass_magnitude(f->term[k].factor);
    uint64_t step = bits & -bits;
    ir_inst *index = NULL;
    for (uint32_t k = 0; k < f->n; k++) {
        ir_inst *term = multiply(b, build_affine_symbol(b, &f->term[k].of, t),
                                 (uint64_t)(f->term[k].factor / (int64_t)step));
        index = index ? ir_build2(b, IR_OP_add, t, index, term) : term;
    }
    ir_inst *constant = ir_const(b->f, t, (uint64_t)f->constant);
    return ir_build2(b, IR_OP_add, t, multiply(b, index, step), constant);
}

/* The form of all steps from *object to an address, and whether all are plain; false: too many
 * terms. */
static bool find_steps(const specializer *k, ir_inst *i, ir_inst **object, pass_affine *form,
                       bool *plain) {
    const ir_block *at = i->block;
    *form = (pass_affine){0};
    for (*plain = true; i->op == IR_OP_ptradd; i = ir_arg(i, 0)) {
        pass_affine step;
        pass_find_affine(k->launch, ir_arg(i, 1), at, &step);
        if (!pass_affine_add(form, &step, 1)) return false;
        pass_join_ids(k->launch, form);
        *plain &= is_plain_sum(ir_arg(i, 1), 0);
    }
    *object = i;
    return true;
}

static bool are_inbounds(const ir_inst *i) {
    while (i->op == IR_OP_ptradd && i->flags & IR_INBOUNDS) i = ir_arg(i, 0);
    return i->op != IR_OP_ptradd;
}

static void visit_address(specializer *k, ir_inst *i) {
    ir_builder b;
    pass_affine form;
    ir_inst *object;
    bool plain;
    if (!find_steps(k, i, &object, &form, &plain) || plain || !is_of_ids(&form)) return;
    ir_builder_init(&b, k->launch->kernel);
    ir_before(&b, i);
    b.loc = i->loc;
    ir_inst *offset = build_affine(&b, &form, ir_arg(i, 1)->type);
    replace(k, i, ir_build_ptradd(&b, object, offset, are_inbounds(i)));
}

/* -------------------------------------------------------------------------------------- kernels */

static void visit(specializer *k, ir_inst *i) {
    int64_t n;
    if (ir_info(i)->rule == R_QUERY) {
        if (pass_known_number(k->launch, i, &n))
            replace(k, i, ir_const(k->launch->kernel, i->type, (uint64_t)n));
    } else if (ir_info(i)->rule == R_CMPI) {
        visit_comparison(k, i);
    } else if (i->op == IR_OP_ptradd) {
        visit_address(k, i);
    } else if (i->op == IR_OP_sext || i->op == IR_OP_zext) {
        visit_extension(k, i);
    } else if (i->op == IR_OP_ashr || i->op == IR_OP_lshr) {
        visit_shift(k, i);
    } else if (i->op == IR_OP_urem || i->op == IR_OP_srem || i->op == IR_OP_udiv ||
               i->op == IR_OP_sdiv) {
        visit_division(k, i);
    }
}

bool pass_apply_range(const pass_launch *l) {
    specializer k = {.launch = l};
    foreach_block (b, l->kernel)
        foreach_inst (i, b) visit(&k, i);
    return k.changed;
}
