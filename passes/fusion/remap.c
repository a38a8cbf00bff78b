/* remap.c — what a work-item query of a member answers in the fused kernel.
 *
 * A member whose shape is a prefix of the fused one (pass_same_ids) keeps its ids; only sizes that
 * differ are constants of its own range.
 *
 * For every other member the ids are computed from the linear id L of the item, which is the same
 * before and after fusion: with sizes S, x fastest,
 *     id.x = L % S.x    id.y = L / S.x % S.y    id.z = L / (S.x * S.y)
 * Dimensions in which both ranges agree, up to the first that differs, need no arithmetic.  Such a
 * member has no explicit local size (fuse_range.c), so its work-groups may be of any size: they are
 * single items.  Local ids are then 0, and group ids are global ids.  Members that wait for other
 * items or use local memory are refused (fuse_fit.c).
 *
 * Sizes are known, so division is multiplication by a rounded-up reciprocal (Granlund and
 * Montgomery 1994), made exact for the ids that occur: for x <= limit, with M = ceil(2^k / d),
 *     x / d == x * M >> k    if  limit * (M * d - 2^k) < 2^k
 */
#include "passes/fusion/fuse_impl.h"

/* ------------------------------------------------------------------------------------- division */

/* 2^k / d rounded up, and how much that is too much: M * d - 2^k. */
static uint64_t reciprocal(unsigned k, uint64_t d, uint64_t *error) {
    ir_u128 power = (ir_u128)1 << k, m = (power + d - 1) / d;
    *error = (uint64_t)(m * d - power);
    return m >> 64 ? 0 : (uint64_t)m;
}

/* The multiplier for k == width + shift, or 0. */
static uint64_t find_multiplier(unsigned width, unsigned shift, uint64_t d, uint64_t limit) {
    uint64_t error, m = reciprocal(width + shift, d, &error);
    ir_u128 power = (ir_u128)1 << (width + shift);
    bool exact = (ir_u128)limit * error < power;
    return exact && (width == 64 || m >> width == 0) ? m : 0;
}

/* x / d for 0 <= x <= limit. */
static ir_inst *divide(ir_builder *b, ir_inst *x, uint64_t d, uint64_t limit) {
    unsigned width = x->type == IR_I32 ? 32 : 64;
    ir_inst *by = ir_const(b->f, x->type, d);
    if (limit < d) return ir_const(b->f, x->type, 0);
    for (unsigned shift = 0; shift < width - 1 && (d & (d - 1)); shift++) {
        uint64_t m = find_multiplier(width, shift, d, limit);
        if (!m) continue;
        ir_inst *high = ir_build2(b, IR_OP_umulh, x->type, x, ir_const(b->f, x->type, m));
        return ir_build2(b, IR_OP_lshr, x->type, high, ir_const(b->f, x->type, shift));
    }
    return ir_build2(b, IR_OP_udiv, x->type, x, by); /* a power of two: a shift */
}

/* ----------------------------------------------------------------------------------- linear ids */

/* The type that ids are computed in: 32 bits where all of them fit. */
static ir_type id_type(const pass_remap *r, const ir_builder *b) {
    return pass_range_items(r->fused) <= UINT32_MAX ? IR_I32 : ir_size_type(b->f->module);
}

static ir_inst *fused_id(const pass_remap *r, ir_builder *b, unsigned d) {
    ir_type size = ir_size_type(b->f->module), t = id_type(r, b);
    ir_inst *id = ir_build_query(b, IR_OP_global_id, size, d);
    return t == size ? id : ir_build1(b, IR_OP_trunc, t, id);
}

/* Counts dimensions `from` and above, x fastest.  No id is greater than the number of items. */
static ir_inst *linear_from(const pass_remap *r, ir_builder *b, unsigned from) {
    unsigned d = r->fused->dims - 1;
    if (from > d) return ir_const(b->f, id_type(r, b), 0);
    ir_inst *sum = fused_id(r, b, d);
    while (d-- > from) {
        ir_inst *size = ir_const(b->f, sum->type, pass_global_size(r->fused, d));
        ir_inst *part =
            ir_build(b, IR_OP_mul, sum->type, ir_with_flags(IR_NUW), IR_ARGS(sum, size));
        sum = ir_build(b, IR_OP_add, sum->type, ir_with_flags(IR_NUW),
                       IR_ARGS(part, fused_id(r, b, d)));
    }
    return sum;
}

ir_inst *pass_linear_id(const pass_remap *r, ir_builder *b) { return linear_from(r, b, 0); }

/* ------------------------------------------------------------------------------------------ ids */

/* Takes dimension d of the member off *rest, which counts dimensions d and above, up to *limit. */
static ir_inst *take_id(ir_builder *b, ir_inst **rest, uint64_t *limit, uint64_t size) {
    ir_inst *whole = *rest, *count = ir_const(b->f, whole->type, size);
    *rest = divide(b, whole, size, *limit);
    *limit /= size;
    ir_inst *rounded = ir_build2(b, IR_OP_mul, whole->type, *rest, count);
    return ir_build2(b, IR_OP_sub, whole->type, whole, rounded);
}

/* Items beyond the member's range do not pass its guard, so that range is the limit. */
static void compute_ids(pass_remap *r, ir_builder *b) {
    ir_type size = ir_size_type(b->f->module);
    unsigned last = r->own->dims - 1, d = 0;
    uint64_t limit = pass_range_items(r->own) - 1;
    for (; d < last && pass_global_size(r->own, d) == pass_global_size(r->fused, d); d++) {
        r->id[d] = fused_id(r, b, d);
        limit /= pass_global_size(r->own, d);
    }
    ir_inst *rest = linear_from(r, b, d);
    for (; d < last; d++) r->id[d] = take_id(b, &rest, &limit, pass_global_size(r->own, d));
    r->id[last] = rest;
    for (d = 0; d <= last; d++)
        if (r->id[d]->type != size) r->id[d] = ir_build1(b, IR_OP_zext, size, r->id[d]);
    while (++last < 3) r->id[last] = ir_const(b->f, size, 0);
}

void pass_remap_begin(pass_remap *r, ir_builder *b) {
    r->computed = !pass_same_ids(r->own, r->fused);
    if (r->computed) compute_ids(r, b);
}

/* -------------------------------------------------------------------------------------- queries */

static ir_inst *answer_const(ir_func *f, const ir_inst *query, uint64_t n) {
    return ir_const(f, query->type, n);
}

/* The answer to a query of a member that keeps its ids; NULL: the same as in the fused kernel. */
static ir_inst *answer_size(const pass_remap *r, ir_func *f, const ir_inst *query) {
    const ir_range *own = r->own, *fused = r->fused;
    if (query->op == IR_OP_work_dim)
        return own->dims == fused->dims ? NULL : answer_const(f, query, own->dims);
    if (query->op != IR_OP_global_size && query->op != IR_OP_num_groups) return NULL;
    unsigned d = query->imm.dim;
    if (pass_global_size(own, d) == pass_global_size(fused, d)) return NULL;
    uint64_t local = query->op == IR_OP_num_groups && d < fused->dims ? fused->local[d] : 1;
    return answer_const(f, query, pass_global_size(own, d) / local);
}

/* An id in the type of the query. */
static ir_inst *answer_id(const pass_remap *r, ir_func *f, ir_inst *query) {
    ir_inst *id = r->id[query->imm.dim];
    ir_builder b;
    if (id->type == query->type) return id;
    ir_builder_init(&b, f);
    ir_before(&b, query);
    return ir_build1(&b, id->type == IR_I64 ? IR_OP_trunc : IR_OP_zext, query->type, id);
}

/* The answer to a query of a member whose groups are single items. */
static ir_inst *answer_alone(const pass_remap *r, ir_func *f, ir_inst *query) {
    switch (query->op) {
    case IR_OP_global_id:
    case IR_OP_group_id: return answer_id(r, f, query);
    case IR_OP_global_size:
    case IR_OP_num_groups: return answer_const(f, query, pass_global_size(r->own, query->imm.dim));
    case IR_OP_local_size:
    case IR_OP_enqueued_local_size: return answer_const(f, query, 1);
    case IR_OP_local_id:
    case IR_OP_local_linear_id:
    case IR_OP_global_offset: return answer_const(f, query, 0);
    case IR_OP_work_dim: return answer_const(f, query, r->own->dims);
    default: return NULL; /* global_linear_id is what it was */
    }
}

ir_inst *pass_remap_query(const pass_remap *r, ir_func *f, ir_inst *query) {
    return r->computed ? answer_alone(r, f, query) : answer_size(r, f, query);
}
