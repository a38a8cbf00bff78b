/* regions_subgroups.c — sub-groups of several work-items.
 *
 * Regions are formed twice (Han et al. 2022 have a loop for each level, too).  First the code of an
 * item becomes the code of a sub-group: what items of a sub-group do between two places where they
 * meet is a region, in a loop over the lanes of the sub-group.  Where items meet, the exchange is
 * computed once for the sub-group, with vectors that have an element for each lane
 * (regions_exchange.c, regions_meet.c).  Then that code becomes the code of the group, as if
 * sub-groups were items: their loops are those of a group, and they meet at its barriers.
 *
 *   group:     for each sub-group …                     (up to a barrier of the group)
 *   subgroup:      for each lane { a[lane] = … }
 *                  r = sum of the vector at a           (once)
 *                  for each lane { … r … }
 *
 * The number of an item in its group is that of the sub-group times its size, plus the lane.  The
 * last sub-group may have fewer items.  Local ids follow from that number.  If rows are multiples
 * of a sub-group, local id 0 is a number that the sub-group has plus the lane, so accesses that
 * were contiguous still are; otherwise ids are divisions of the item's number.
 */
#include "passes/workgroup/regions_impl.h"

/* ---------------------------------------------------------------------------- what is decided */

enum { LANE_BYTES = 4 };

unsigned pass_subgroup_size(const ir_func *kernel, const ir_target *target) {
    uint32_t required = kernel ? kernel->attrs.subgroup_size : 0;
    unsigned most = target ? target->vector_bytes / LANE_BYTES : 1;
    bool possible = required && required <= PASS_MAX_SUBGROUP && !(required & (required - 1));
    if (most < 1) return 1;
    if (possible) return required;
    return most < PASS_MAX_SUBGROUP ? most : PASS_MAX_SUBGROUP;
}

static bool needs_subgroups(const ir_func *kernel) {
    foreach_block (b, kernel)
        foreach_inst (i, b) {
            bool barrier = i->op == IR_OP_barrier && i->imm.sync.exec == IR_SCOPE_SUBGROUP;
            if (barrier || ir_asks_subgroup(i)) return true;
        }
    return false;
}

unsigned pass_subgroup_needed(const ir_func *kernel, const ir_target *target) {
    return needs_subgroups(kernel) ? pass_subgroup_size(kernel, target) : 1;
}

/* ------------------------------------------------------------------------------------- places */

void pass_begin_subgroups(pass_group_builder *g) {
    ir_block *own = ir_block_new(g->f, "subgroup"), *end = ir_block_new(g->f, "end");
    ir_builder b;
    ir_builder_init(&b, g->f);
    ir_builder_init(&g->subgroup, g->f);
    ir_at_end(&b, own);
    ir_redirect_edge(g->group.block, 0, own);
    ir_before(&g->subgroup, ir_build_jmp(&b, g->start));
    ir_remove(g->end->last);
    ir_at_end(&b, g->end);
    ir_build_jmp(&b, end);
    ir_at_end(&b, end);
    ir_build_ret(&b, NULL);
}

/* ---------------------------------------------------------------------------------------- ids */

static bool is_number(const ir_inst *v, uint64_t n) { return ir_is_const(v) && v->imm.bits == n; }

ir_inst *pass_count_subgroups(pass_group_builder *g, ir_builder *b, ir_inst *items) {
    unsigned size = g->shape->subgroup;
    ir_inst *above = pass_build_plain(b, IR_OP_add, items, pass_number(g, size - 1));
    return ir_build2(b, IR_OP_lshr, IR_I64, above, pass_number(g, (uint64_t)__builtin_ctz(size)));
}

/* Items of this sub-group, of a group of so many. */
static ir_inst *count_lanes(pass_group_builder *g, const pass_item_ids *ids, ir_inst *items) {
    uint64_t size = g->shape->subgroup;
    if (ir_is_const(items) && items->imm.bits % size == 0) return pass_number(g, size);
    ir_inst *left = pass_build_plain(&g->subgroup, IR_OP_sub, items, ids->first);
    return ir_build2(&g->subgroup, IR_OP_umin, IR_I64, pass_number(g, size), left);
}

/* Local ids from x, which counts along rows and goes on in the next one. */
static void split_number(pass_item_ids *ids, ir_builder *b, ir_inst *x) {
    for (unsigned d = 0; d < 3; d++) {
        bool last = true;
        for (unsigned e = d + 1; e < 3; e++) last &= !ids->count[e];
        if (!ids->count[d]) {
            ids->id[d] = ir_const(b->f, IR_I64, 0);
            continue;
        }
        ids->id[d] = last ? x : ir_build2(b, IR_OP_urem, IR_I64, x, ids->count[d]);
        if (!last) x = ir_build2(b, IR_OP_udiv, IR_I64, x, ids->count[d]);
    }
}

/* Is the x of a sub-group's items its first one's plus the lane? */
static bool follows_lanes(const pass_group_builder *g, const pass_item_ids *ids) {
    if (!ids->count[1] && !ids->count[2]) return true;
    return ids->count[0] && ir_is_const(ids->count[0]) &&
           ids->count[0]->imm.bits % g->shape->subgroup == 0;
}

void pass_make_lane_ids(pass_group_builder *g, pass_item_ids *ids) {
    ir_builder b;
    ir_inst *items = pass_multiply(&g->group, ids->count), *zero = pass_number(g, 0);
    ir_builder_init(&b, g->f);
    ir_before(&b, g->start->first);
    ids->subgroups = pass_count_subgroups(g, &g->group, items);
    bool one = is_number(ids->subgroups, 1), alone = is_number(items, 1);
    ids->subgroup = one ? zero : ir_build_query(&g->subgroup, IR_OP_subgroup_id, IR_I64, 0);
    ids->lane = alone ? zero : ir_build_query(&b, IR_OP_subgroup_local_id, IR_I64, 0);
    ids->first = pass_build_plain(&g->subgroup, IR_OP_mul, ids->subgroup,
                                  pass_number(g, g->shape->subgroup));
    ids->lanes = count_lanes(g, ids, items);
    ids->item = pass_build_plain(&b, IR_OP_add, ids->first, ids->lane);
    if (!follows_lanes(g, ids)) {
        split_number(ids, &b, ids->item);
        return;
    }
    split_number(ids, &g->subgroup, ids->first);
    ids->first_x = ids->id[0];
    ids->id[0] = pass_build_plain(&b, IR_OP_add, ids->first_x, ids->lane);
    *ir_push(g->scratch, &ids->global_id) = ids->id[0];
    *ir_push(g->scratch, &ids->base) = ids->first_x;
}

/* Other sub-groups use the same memory after this one, unless they wait for each other. */
ir_inst *pass_subgroup_storage(pass_group_builder *g, const pass_item_ids *ids, uint64_t bytes) {
    if (pass_is_reused(g)) return pass_group_storage(g, bytes * IR_MAX_LANES);
    ir_inst *all = pass_item_storage(g, ids, bytes, IR_LOCAL_ALIGN);
    ir_inst *before = pass_build_plain(&g->group, IR_OP_mul, ids->first, pass_number(g, bytes));
    return ir_build_ptradd(&g->group, all, before, true);
}

/* ---------------------------------------------------------------------- the code of sub-groups */

/* The lanes of a sub-group as items of a group. */
static pass_item_ids ids_of_lanes(pass_group_builder *g, const pass_item_ids *ids) {
    ir_inst *zero = pass_number(g, 0);
    pass_item_ids lanes = *ids;
    lanes.count[0] = ir_is_leaf(ids->lane) ? NULL : ids->lanes;
    lanes.count[1] = lanes.count[2] = NULL;
    lanes.id[0] = lanes.item = ids->lane;
    lanes.id[1] = lanes.id[2] = zero;
    return lanes;
}

static void become_subgroups(pass_group_builder *g, pass_item_ids *ids) {
    ir_inst *zero = pass_number(g, 0);
    *ids = (pass_item_ids){.rounded = ids->rounded,
                           .count = {is_number(ids->subgroups, 1) ? NULL : ids->subgroups},
                           .id = {ids->subgroup, zero, zero},
                           .item = ids->subgroup};
}

static const char *make_regions(pass_group_builder *g, const pass_item_ids *ids) {
    pass_region_graph graph = {0};
    pass_exchanges exchanges = {0};
    pass_item_ids lanes = ids_of_lanes(g, ids);
    pass_find_exchanges(g, ids, &exchanges);
    const char *refusal = pass_find_regions(g, &graph);
    if (refusal) return refusal;
    if (graph.parts && lanes.count[0]) lanes.count[0] = pass_number(g, g->lanes);
    if (graph.parts) pass_number_regions(g, &lanes, &graph);
    g->has_parted = graph.parts;
    pass_build_context(g, &lanes, &graph);
    pass_unshare_regions(g, &graph);
    pass_meet(g, &lanes, &graph, &exchanges);
    pass_loop_over_items(g, &lanes, &graph);
    return NULL;
}

static bool has_barriers(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (pass_synchronizes(i)) return true;
    return false;
}

const char *pass_join_lanes(pass_group_builder *g, pass_item_ids *ids) {
    const ir_builder group = g->group;
    ir_block *const own = g->subgroup.block, *const end = g->end->succ[0];
    g->outer = group.block;
    g->group = g->subgroup;
    g->lanes = g->shape->subgroup;
    g->has_barriers = has_barriers(g->f);
    const char *refusal = make_regions(g, ids);
    ir_promote_vars(g->f, g->scratch);
    g->subgroup = g->group;
    g->group = group;
    g->start = own;
    g->end = end;
    g->outer = NULL;
    g->lanes = 0;
    become_subgroups(g, ids);
    return refusal;
}
