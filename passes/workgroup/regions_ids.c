/* regions_ids.c — what the queries of a kernel become in the code of a group.
 *
 * Values that are the same for the launch are computed in the entry block, those that are the
 * same for the group in the block after it.  Ids of items are sums of such values and of local
 * ids, which regions replace by the counters of their loops.
 *
 * Many kernels compute with ids in 32 bits.  If an id is small, truncating it to 32 bits and
 * extending it again gives the id itself, so it is used directly, and addresses are functions of
 * the counters.  Local ids are always small.
 */
#include "passes/workgroup/regions_impl.h"

#define FIELD(name) offsetof(ir_group_info, name)

/* ------------------------------------------------------------------------------ sizes of groups */

ir_inst *pass_group_id(pass_group_builder *g, unsigned d) {
    return pass_info_size(g, FIELD(group_id), d);
}

bool pass_is_flat(const pass_group_builder *g, unsigned d) {
    return g->shape->dims && d >= g->shape->dims;
}

static ir_inst *local_size(pass_group_builder *g, unsigned d) {
    if (g->shape->local[d]) return pass_number(g, g->shape->local[d]);
    return pass_info_size(g, FIELD(local_size), d);
}

/* A multiple of the local size if groups are whole, which tells steps of loops to be aligned. */
static ir_inst *global_size(pass_group_builder *g, unsigned d) {
    uint64_t local = g->shape->local[d];
    if (pass_is_flat(g, d)) return pass_number(g, 1);
    if (!g->shape->whole_groups || local < 2) return pass_info_size(g, FIELD(global_size), d);
    return pass_build_plain(&g->entry, IR_OP_mul, pass_info_size(g, FIELD(num_groups), d),
                            pass_number(g, local));
}

/* The id of the group's first item, without offset. */
static ir_inst *first_item(pass_group_builder *g, unsigned d) {
    if (pass_is_flat(g, d)) return pass_number(g, 0);
    ir_inst *size = local_size(g, d);
    return pass_build_plain(&g->group, IR_OP_mul, pass_group_id(g, d), size);
}

/* Items of this group. */
static ir_inst *actual_size(pass_group_builder *g, unsigned d) {
    ir_inst *size = local_size(g, d);
    if (g->shape->whole_groups || (ir_is_const(size) && size->imm.bits == 1)) return size;
    ir_inst *all = pass_info_size(g, FIELD(global_size), d);
    ir_inst *rest = pass_build_plain(&g->group, IR_OP_sub, all, first_item(g, d));
    return ir_build2(&g->group, IR_OP_umin, IR_I64, size, rest);
}

ir_inst *pass_multiply(ir_builder *b, ir_inst *const factor[3]) {
    ir_inst *product = factor[0];
    for (unsigned d = 1; d < 3; d++)
        if (factor[d])
            product = product ? pass_build_plain(b, IR_OP_mul, product, factor[d]) : factor[d];
    return product ? product : ir_const(b->f, IR_I64, 1);
}

/* Items of a full group. */
static ir_inst *full_size(pass_group_builder *g) {
    ir_inst *size[3];
    for (unsigned d = 0; d < 3; d++) size[d] = local_size(g, d);
    return pass_multiply(&g->entry, size);
}

/* The same, rounded up to a multiple of 64. */
static ir_inst *find_rounded(pass_group_builder *g) {
    const uint64_t *local = g->shape->local;
    if (local[0] && local[1] && local[2])
        return pass_number(g, (local[0] * local[1] * local[2] + 63) & ~UINT64_C(63));
    ir_inst *items = pass_build_plain(&g->entry, IR_OP_add, full_size(g), pass_number(g, 63));
    return ir_build2(&g->entry, IR_OP_and, IR_I64, items, pass_number(g, ~UINT64_C(63)));
}

/* -------------------------------------------------------------------------------------- queries */

static ir_inst *offset_of(pass_group_builder *g, unsigned d) {
    if (g->shape->no_offset || pass_is_flat(g, d)) return pass_number(g, 0);
    return pass_info_size(g, FIELD(global_offset), d);
}

static ir_inst *global_id(pass_group_builder *g, pass_item_ids *ids, ir_builder *b, unsigned d) {
    ir_inst *offset = offset_of(g, d);
    ir_inst *base = pass_build_plain(&g->group, IR_OP_add, first_item(g, d), offset);
    ir_inst *id = ids->id[d];
    if (!d && ids->first_x) {
        base = pass_build_plain(&g->subgroup, IR_OP_add, base, ids->first_x);
        id = ids->lane;
    }
    id = pass_build_plain(b, IR_OP_add, base, id);
    *ir_push(g->scratch, &ids->global_id) = id;
    *ir_push(g->scratch, &ids->base) = base;
    return id;
}

/* x fastest, without offset. */
static ir_inst *global_linear_id(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b) {
    ir_inst *sum = pass_number(g, 0);
    for (unsigned d = 3; d-- > 0;) {
        ir_inst *id = pass_build_plain(b, IR_OP_add, first_item(g, d), ids->id[d]);
        if (d < 2 && !pass_is_flat(g, d + 1))
            sum = pass_build_plain(b, IR_OP_mul, sum, global_size(g, d));
        sum = pass_build_plain(b, IR_OP_add, sum, id);
    }
    return sum;
}

/* One item is a sub-group. */
static ir_inst *answer_subgroup(pass_group_builder *g, const pass_item_ids *ids,
                                const ir_inst *query) {
    if (ids->lane && query->op == IR_OP_enqueued_num_subgroups)
        return pass_count_subgroups(g, &g->entry, full_size(g));
    if (ids->lane) return pass_answer_lane(g, ids, query);
    switch (query->op) {
    case IR_OP_num_subgroups: return pass_multiply(&g->group, ids->count);
    case IR_OP_enqueued_num_subgroups: return full_size(g);
    case IR_OP_subgroup_id: return ids->item;
    case IR_OP_subgroup_local_id: return pass_number(g, 0);
    default: return pass_number(g, 1);
    }
}

static ir_inst *answer(pass_group_builder *g, pass_item_ids *ids, ir_builder *b,
                       const ir_inst *query) {
    unsigned d = ir_info(query)->imm == I_DIM ? query->imm.dim : 0;
    switch (query->op) {
    case IR_OP_global_id: return global_id(g, ids, b, d);
    case IR_OP_local_id: return ids->id[d];
    case IR_OP_group_id: return pass_is_flat(g, d) ? pass_number(g, 0) : pass_group_id(g, d);
    case IR_OP_global_size: return global_size(g, d);
    case IR_OP_local_size: return ids->count[d] ? ids->count[d] : pass_number(g, 1);
    case IR_OP_enqueued_local_size: return local_size(g, d);
    case IR_OP_num_groups:
        return pass_is_flat(g, d) ? pass_number(g, 1) : pass_info_size(g, FIELD(num_groups), d);
    case IR_OP_global_offset: return offset_of(g, d);
    case IR_OP_work_dim: return pass_info_field(g, FIELD(work_dim), IR_I32);
    case IR_OP_global_linear_id: return global_linear_id(g, ids, b);
    case IR_OP_local_linear_id: return ids->item;
    default: return answer_subgroup(g, ids, query);
    }
}

static ir_inst *fit(ir_builder *b, ir_inst *v, ir_type t) {
    if (v->type == t) return v;
    return ir_build1(b, t == IR_I32 ? IR_OP_trunc : IR_OP_zext, t, v);
}

/* Lanes of a sub-group: equal, ge, gt, le, lt. */
static ir_inst *answer_mask(pass_group_builder *g, const pass_item_ids *ids, ir_builder *b,
                            const ir_inst *query) {
    if (ids->lane) return pass_mask_of_lane(g, ids, b, (unsigned)query->imm.bits);
    uint64_t lanes[4] = {query->imm.bits == 2 || query->imm.bits == 4 ? 0 : 1};
    return ir_const_lanes(g->f, query->type, lanes);
}

static void replace_query(pass_group_builder *g, pass_item_ids *ids, ir_builder *b,
                          ir_inst *query) {
    ir_before(b, query);
    ir_inst *value = query->op == IR_OP_subgroup_mask
                         ? answer_mask(g, ids, b, query)
                         : fit(b, answer(g, ids, b, query), query->type);
    pass_copy_name(g, query, value);
    ir_replace_uses(query, value);
    ir_remove(query);
}

/* ------------------------------------------------------------------------------------ small ids */

/* 64 bits that are the id again, if that has at most 31. */
static bool is_same_number(const ir_inst *i) {
    const ir_inst *narrow = ir_arg(i, 0);
    if (i->op == IR_OP_sext || i->op == IR_OP_zext)
        return i->type == IR_I64 && narrow->op == IR_OP_trunc && narrow->type == IR_I32;
    const ir_inst *mask = i->op == IR_OP_and ? ir_arg(i, 1) : i;
    return ir_is_const(mask) && (mask->imm.bits & INT32_MAX) == INT32_MAX;
}

/* A mask of 31 bits leaves the 32 bits of the id as they are. */
static void replace_extended(ir_inst *id, ir_inst *narrow) {
    foreach_use (u, narrow)
        if (is_same_number(u->user))
            ir_replace_uses(u->user, u->user->type == id->type ? id : narrow);
}

static void use_as_it_is(ir_inst *id) {
    if (ir_is_leaf(id)) return;
    foreach_use (u, id) {
        if (u->user->op == IR_OP_trunc) replace_extended(id, u->user);
        if (u->user->op == IR_OP_and && is_same_number(u->user)) ir_replace_uses(u->user, id);
    }
}

static void use_small_ids(const pass_group_builder *g, const pass_item_ids *ids) {
    for (unsigned d = 0; d < 3; d++) use_as_it_is(ids->id[d]);
    for (uint32_t k = 0; g->shape->small_ids && k < ids->global_id.n; k++)
        use_as_it_is(ids->global_id.data[k]);
}

/* ------------------------------------------------------------------------------------ the whole */

bool pass_is_item_id(const pass_item_ids *ids, const ir_inst *v) {
    return v == ids->id[0] || v == ids->id[1] || v == ids->id[2] || v == ids->item;
}

/* Queries of this function, which regions replace by counters of their loops. */
static void make_ids(pass_group_builder *g, pass_item_ids *ids) {
    ir_builder b;
    ir_builder_init(&b, g->f);
    ir_before(&b, g->start->first);
    for (unsigned d = 0; d < 3; d++) {
        ir_inst *count = actual_size(g, d);
        bool one = ir_is_const(count) && count->imm.bits == 1;
        ids->count[d] = one ? NULL : count;
    }
    if (g->shape->subgroup > 1) {
        pass_make_lane_ids(g, ids);
        return;
    }
    for (unsigned d = 0; d < 3; d++)
        ids->id[d] =
            ids->count[d] ? ir_build_query(&b, IR_OP_local_id, IR_I64, d) : pass_number(g, 0);
    bool line = !ids->count[1] && !ids->count[2];
    ids->item = line ? ids->id[0] : ir_build_query(&b, IR_OP_local_linear_id, IR_I64, 0);
}

void pass_answer_queries(pass_group_builder *g, pass_item_ids *out) {
    ir_builder b;
    ir_builder_init(&b, g->f);
    out->rounded = find_rounded(g);
    make_ids(g, out);
    foreach_block (block, g->f)
        foreach_inst (i, block) {
            bool queries = ir_info(i)->rule == R_QUERY || i->op == IR_OP_subgroup_mask;
            bool made = pass_is_item_id(out, i) || i == out->lane || i == out->subgroup;
            if (queries && !made) replace_query(g, out, &b, i);
        }
    use_small_ids(g, out);
}
