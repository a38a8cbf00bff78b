/* regions_launch.c — where the code of a group finds what a kernel is given: parameters in args, sizes
 * and ids in info (ir/launch.h), variables of local memory at offsets from info->local.
 *
 * What is the same for the launch stands in the entry block, what is the same for the group in the
 * block behind it.  Ids of items are sums of such values and of g->id, the local ids, which regions
 * replace by their loop counters.
 *
 * The loops over groups are built last, around everything but the entry: until then the function
 * runs the first group of the box.
 */
#include "passes/regions_impl.h"

#define FIELD(name) offsetof(ir_group_info, name)

static ir_inst *number(pass_grouping *g, uint64_t n) { return ir_const(g->f, IR_I64, n); }

static ir_inst *address_of(ir_builder *b, ir_inst *base, uint64_t offset) {
    return ir_build_ptradd(b, base, ir_const(b->f, IR_I64, offset), true);
}

ir_inst *pass_info_field(pass_grouping *g, size_t offset, ir_type t) {
    uint64_t key = (uint64_t)offset << 32 | t;
    ir_inst *known = ir_map_get(&g->known, key);
    if (known) return known;
    unsigned size = (unsigned)ir_sizeof(g->f->module, t);
    known = ir_build_load(&g->entry, t, address_of(&g->entry, g->info, offset), size, 0);
    ir_map_set(g->scratch, &g->known, key, known);
    return known;
}

/* An element of an array of info. */
static ir_inst *sizes(pass_grouping *g, size_t array, unsigned d) {
    return pass_info_field(g, array + d * sizeof(uint64_t), IR_I64);
}

/* ----------------------------------------------------------------------------------- parameters */

/* Is the struct only read? */
static bool is_only_read(const pass_grouping *g, const ir_inst *param) {
    ir_vec(const ir_inst *) addresses = {0};
    *ir_push(g->scratch, &addresses) = param;
    for (uint32_t k = 0; k < addresses.n; k++)
        for (const ir_use *u = addresses.data[k]->uses; u; u = u->next) {
            const ir_inst *i = u->user;
            if (i->op == IR_OP_ptradd || i->op == IR_OP_ptrcast)
                *ir_push(g->scratch, &addresses) = i;
            else if (i->op != IR_OP_load && (i->op != IR_OP_copy || u != &i->arg[1]))
                return false;
        }
    return true;
}

/* Items own what they are passed by value: those that write to it get a copy. */
static ir_inst *take_struct(pass_grouping *g, ir_inst *param, ir_inst *given) {
    const ir_param *p = &g->kernel->param[param->imm.index];
    if (is_only_read(g, param)) return given;
    ir_builder b;
    ir_builder_init(&b, g->f);
    ir_at_end(&b, g->start);
    ir_inst *own = ir_build_byval(&g->entry, p);
    ir_build_byval_copy(&b, p, own, given);
    return own;
}

static ir_inst *take_param(pass_grouping *g, ir_inst *param) {
    const ir_param *info = &g->kernel->param[param->imm.index];
    ir_inst *at = address_of(&g->entry, g->args, param->imm.index * sizeof(void *));
    ir_type t = param->type, pointer = ir_ptr(IR_CONST);
    if (!param->uses) return ir_undef(g->f, t);
    if (ir_is_ptr(t) && ir_space_of(t) == IR_LOCAL) {
        ir_inst *offset = ir_build_load(&g->entry, IR_I64, at, sizeof(uint64_t), 0);
        return ir_build_ptradd(&g->entry, pass_info_field(g, FIELD(local), t), offset, true);
    }
    if (ir_is_ptr(t) || ir_is_opaque(t)) {
        ir_inst *given = ir_build_load(&g->entry, t, at, sizeof(void *), 0);
        return info->attrs & IR_PARAM_BYVAL ? take_struct(g, param, given) : given;
    }
    ir_inst *place = ir_build_load(&g->entry, pointer, at, sizeof(void *), 0);
    unsigned align = (unsigned)ir_alignof(g->f->module, ir_elem(t));
    return ir_build_load(&g->entry, t, place, align, 0);
}

static void name_value(pass_grouping *g, const ir_inst *from, const ir_inst *v) {
    const char *name = ir_name_of(g->kernel, from);
    if (name && v->block && !ir_name_of(g->f, v)) ir_set_name(g->f, v, name);
}

/* Variables stand in the entry block of the function. */
static void move_variables(pass_grouping *g) {
    foreach_block (b, g->f)
        foreach_inst (i, b)
            if (i->op == IR_OP_alloca && b != g->entry.block)
                ir_move_before(i, g->entry.block->last);
}

static ir_block *link(ir_builder *b, const char *name) {
    ir_block *next = ir_block_new(b->f, name);
    ir_before(b, ir_build_jmp(b, next));
    return next;
}

static void begin(pass_grouping *g) {
    ir_func *f = g->f;
    g->info = f->param_val[0];
    g->args = f->param_val[1];
    ir_builder_init(&g->entry, f);
    ir_builder_init(&g->group, f);
    ir_at_end(&g->entry, ir_block_new(f, "entry"));
    ir_at_end(&g->group, link(&g->entry, "group"));
    g->start = link(&g->group, "start");
    g->end = ir_block_new(f, "end");
}

void pass_take_kernel(pass_grouping *g) {
    begin(g);
    ir_inst **args = ir_new_array(g->scratch, ir_inst *, g->kernel->nparams);
    for (uint32_t p = 0; p < g->kernel->nparams; p++) {
        args[p] = take_param(g, g->kernel->param_val[p]);
        name_value(g, g->kernel->param_val[p], args[p]);
    }
    ir_block *body;
    ir_builder b;
    ir_clone_body(g->f, g->kernel, args, g->end, &body);
    ir_builder_init(&b, g->f);
    ir_at_end(&b, g->start);
    ir_build_jmp(&b, body);
    ir_at_end(&b, g->end);
    ir_build_ret(&b, NULL);
    move_variables(g);
}

/* -------------------------------------------------------------------------------- sizes of groups */

static ir_inst *group_id(pass_grouping *g, unsigned d) {
    if (!g->first_group[d]) g->first_group[d] = sizes(g, FIELD(group_id), d);
    return g->first_group[d];
}

static bool is_flat(const pass_grouping *g, unsigned d) {
    return g->shape.dims && d >= g->shape.dims;
}

static ir_inst *local_size(pass_grouping *g, unsigned d) {
    if (g->shape.local[d]) return number(g, g->shape.local[d]);
    return sizes(g, FIELD(local_size), d);
}

static ir_inst *build_plain(ir_builder *b, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build(b, op, IR_I64, IR_NSW | IR_NUW, (ir_imm){0}, 2, (ir_inst *[]){x, y});
}

/* The id of the group's first item, without offset. */
static ir_inst *first_item(pass_grouping *g, unsigned d) {
    if (is_flat(g, d)) return number(g, 0);
    return build_plain(&g->group, IR_OP_mul, group_id(g, d), local_size(g, d));
}

/* Items of this group. */
static ir_inst *actual_size(pass_grouping *g, unsigned d) {
    ir_inst *size = local_size(g, d);
    if (g->shape.whole_groups || (ir_is_const(size) && size->imm.bits == 1)) return size;
    ir_inst *all = sizes(g, FIELD(global_size), d);
    ir_inst *rest = build_plain(&g->group, IR_OP_sub, all, first_item(g, d));
    return ir_build2(&g->group, IR_OP_umin, IR_I64, size, rest);
}

static ir_inst *multiply_all(ir_builder *b, ir_inst *const factor[3]) {
    ir_inst *product = factor[0];
    for (unsigned d = 1; d < 3; d++)
        if (factor[d])
            product = product ? build_plain(b, IR_OP_mul, product, factor[d]) : factor[d];
    return product ? product : ir_const(b->f, IR_I64, 1);
}

/* Items of a full group, a multiple of 64. */
static void find_rounded(pass_grouping *g) {
    const uint64_t *local = g->shape.local;
    ir_inst *size[3];
    if (local[0] && local[1] && local[2]) {
        g->items64 = (local[0] * local[1] * local[2] + 63) & ~UINT64_C(63);
        g->rounded = number(g, g->items64);
        return;
    }
    for (unsigned d = 0; d < 3; d++) size[d] = local_size(g, d);
    ir_inst *items = multiply_all(&g->entry, size);
    items = build_plain(&g->entry, IR_OP_add, items, number(g, 63));
    g->rounded = ir_build2(&g->entry, IR_OP_and, IR_I64, items, number(g, ~UINT64_C(63)));
}

/* -------------------------------------------------------------------------------------- queries */

static ir_inst *offset_of(pass_grouping *g, unsigned d) {
    if (g->shape.no_offset || is_flat(g, d)) return number(g, 0);
    return sizes(g, FIELD(global_offset), d);
}

static ir_inst *global_id(pass_grouping *g, ir_builder *b, unsigned d) {
    ir_inst *base = build_plain(&g->group, IR_OP_add, first_item(g, d), offset_of(g, d));
    return build_plain(b, IR_OP_add, base, g->id[d]);
}

/* x fastest, without offset. */
static ir_inst *global_linear_id(pass_grouping *g, ir_builder *b) {
    ir_inst *sum = number(g, 0);
    for (unsigned d = 3; d-- > 0;) {
        ir_inst *id = build_plain(b, IR_OP_add, first_item(g, d), g->id[d]);
        if (d < 2 && !is_flat(g, d + 1))
            sum = build_plain(b, IR_OP_mul, sum, sizes(g, FIELD(global_size), d));
        sum = build_plain(b, IR_OP_add, sum, id);
    }
    return sum;
}

static ir_inst *full_size(pass_grouping *g) {
    ir_inst *size[3];
    for (unsigned d = 0; d < 3; d++) size[d] = local_size(g, d);
    return multiply_all(&g->entry, size);
}

/* One item is a sub-group. */
static ir_inst *answer_subgroup(pass_grouping *g, const ir_inst *query) {
    switch (query->op) {
    case IR_OP_num_subgroups: return multiply_all(&g->group, g->count);
    case IR_OP_enqueued_num_subgroups: return full_size(g);
    case IR_OP_subgroup_id: return g->item;
    case IR_OP_subgroup_local_id: return number(g, 0);
    default: return number(g, 1);
    }
}

static ir_inst *answer(pass_grouping *g, ir_builder *b, const ir_inst *query) {
    unsigned d = ir_info(query)->imm == I_DIM ? query->imm.dim : 0;
    switch (query->op) {
    case IR_OP_global_id: return global_id(g, b, d);
    case IR_OP_local_id: return g->id[d];
    case IR_OP_group_id: return is_flat(g, d) ? number(g, 0) : group_id(g, d);
    case IR_OP_global_size: return is_flat(g, d) ? number(g, 1) : sizes(g, FIELD(global_size), d);
    case IR_OP_local_size: return g->count[d] ? g->count[d] : number(g, 1);
    case IR_OP_enqueued_local_size: return local_size(g, d);
    case IR_OP_num_groups: return is_flat(g, d) ? number(g, 1) : sizes(g, FIELD(num_groups), d);
    case IR_OP_global_offset: return offset_of(g, d);
    case IR_OP_work_dim: return pass_info_field(g, FIELD(work_dim), IR_I32);
    case IR_OP_global_linear_id: return global_linear_id(g, b);
    case IR_OP_local_linear_id: return g->item;
    default: return answer_subgroup(g, query);
    }
}

static ir_inst *fit(ir_builder *b, ir_inst *v, ir_type t) {
    if (v->type == t) return v;
    return ir_build1(b, t == IR_I32 ? IR_OP_trunc : IR_OP_zext, t, v);
}

/* Lanes of a sub-group of one item: equal, ge, gt, le, lt. */
static ir_inst *answer_mask(pass_grouping *g, const ir_inst *query) {
    uint64_t lanes[4] = {query->imm.bits == 2 || query->imm.bits == 4 ? 0 : 1};
    return ir_const_lanes(g->f, query->type, lanes);
}

static void replace_query(pass_grouping *g, ir_builder *b, ir_inst *query) {
    ir_before(b, query);
    ir_inst *value = query->op == IR_OP_subgroup_mask ? answer_mask(g, query)
                                                      : fit(b, answer(g, b, query), query->type);
    name_value(g, query, value);
    ir_replace_uses(query, value);
    ir_remove(query);
}

static bool is_item_id(const pass_grouping *g, const ir_inst *i) {
    return i == g->id[0] || i == g->id[1] || i == g->id[2] || i == g->item;
}

static void make_ids(pass_grouping *g) {
    ir_builder b;
    ir_builder_init(&b, g->f);
    ir_before(&b, g->start->first);
    for (unsigned d = 0; d < 3; d++) {
        ir_inst *count = actual_size(g, d);
        bool one = ir_is_const(count) && count->imm.bits == 1;
        g->count[d] = one ? NULL : count;
        g->id[d] = one ? number(g, 0) : ir_build_query(&b, IR_OP_local_id, IR_I64, d);
    }
    bool line = !g->count[1] && !g->count[2];
    g->item = line ? g->id[0] : ir_build_query(&b, IR_OP_local_linear_id, IR_I64, 0);
}

void pass_answer_queries(pass_grouping *g) {
    ir_builder b;
    ir_builder_init(&b, g->f);
    find_rounded(g);
    make_ids(g);
    foreach_block (block, g->f)
        foreach_inst (i, block)
            if ((ir_info(i)->rule == R_QUERY || i->op == IR_OP_subgroup_mask) && !is_item_id(g, i))
                replace_query(g, &b, i);
}

/* --------------------------------------------------------------------------------- local memory */

static ir_inst *place_of(pass_grouping *g, ir_map *places, const ir_global *v) {
    ir_inst *place = ir_map_get(places, (uintptr_t)v);
    if (place) return place;
    uint64_t align = v->align ? v->align : ir_alignof(g->f->module, v->type);
    uint64_t at = (g->out->need.local + align - 1) / align * align;
    g->out->need.local = at + ir_sizeof(g->f->module, v->type);
    place = address_of(&g->entry, pass_info_field(g, FIELD(local), ir_ptr(IR_LOCAL)), at);
    ir_map_set(g->scratch, places, (uintptr_t)v, place);
    return place;
}

void pass_place_locals(pass_grouping *g) {
    ir_map places = {0};
    foreach_block (b, g->f)
        foreach_inst (i, b)
            for (unsigned n = 0; n < i->nargs; n++) {
                const ir_inst *v = ir_arg(i, n);
                if (v->op == IR_OP_address && v->imm.global->space == IR_LOCAL)
                    ir_set_arg(i, n, place_of(g, &places, v->imm.global));
            }
}

/* ------------------------------------------------------------------------------------ the groups */

/* A loop of which `inside` is the first block and `last`, without terminator, the last one.  Leaves
 * the block in front in *inside, without terminator, and the one behind in *last. */
static void loop_over(pass_grouping *g, unsigned d, ir_block **inside, ir_block **last) {
    ir_inst *first = group_id(g, d), *end = sizes(g, FIELD(group_end), d);
    ir_block *before = ir_block_new(g->f, NULL), *after = ir_block_new(g->f, NULL);
    ir_builder b;
    ir_builder_init(&b, g->f);
    ir_at_end(&b, before);
    ir_build_jmp(&b, *inside);
    ir_inst *id = ir_build_phi(*inside, IR_I64);
    ir_replace_uses(first, id);
    ir_at_end(&b, *last);
    ir_inst *next = build_plain(&b, IR_OP_add, id, number(g, 1));
    ir_build_br(&b, ir_build2(&b, IR_OP_ult, IR_I1, next, end), *inside, after);
    id = ir_append_arg(id, first);
    ir_append_arg(id, next);
    *inside = before;
    *last = after;
}

/* Is there a group at all? */
static ir_inst *build_any(pass_grouping *g) {
    ir_inst *any = ir_const(g->f, IR_I1, 1);
    for (unsigned d = 0; d < 3; d++) {
        if (is_flat(g, d)) continue;
        ir_inst *first = group_id(g, d), *end = sizes(g, FIELD(group_end), d);
        ir_inst *some = ir_build2(&g->entry, IR_OP_ult, IR_I1, first, end);
        any = ir_build2(&g->entry, IR_OP_and, IR_I1, any, some);
    }
    return any;
}

void pass_loop_over_groups(pass_grouping *g) {
    ir_block *inside = g->group.block, *last = g->end;
    ir_remove(last->last);
    ir_make_unreachable(g->entry.block);
    ir_before(&g->entry, g->entry.block->last);
    for (unsigned d = 0; d < 3; d++)
        if (!is_flat(g, d)) loop_over(g, d, &inside, &last);
    ir_inst *any = build_any(g);
    ir_remove(g->entry.block->last);
    ir_at_end(&g->entry, g->entry.block);
    ir_build_br(&g->entry, any, inside, last);
    ir_builder b;
    ir_builder_init(&b, g->f);
    ir_at_end(&b, last);
    ir_build_ret(&b, NULL);
}
