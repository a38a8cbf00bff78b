/* regions.c — the code of a work-item becomes the code of a work-group, for processors that run one
 * thread per group.
 *
 * Barriers cut the control flow graph into regions, and each region is put into loops over the
 * items of the group (Stratton, Stone and Hwu, "MCUDA", 2008; Jääskeläinen et al., "pocl", 2015;
 * Karrenberg and Hack 2012).  The steps, each in a file:
 *   regions_params.c       a copy of the kernel with the parameters that launch.h specifies; the
 *                          loops over groups
 *   regions_spaces.c       where generic pointers lead
 *   regions_ids.c          ids and sizes
 *   regions_collective.c   operations of the whole group, by barriers and variables of the group
 *   regions_print.c        printf, by a call
 *   regions_branches.c     branches that choose the next synchronization point
 *   regions_cut.c          regions, and which of their branches are taken once for the group
 *   regions_context.c      values that are needed across regions: uniform ones are kept once, cheap
 *                          ones computed again, others kept for each item
 *   regions_coalesce.c     which of the last share a slot
 *   regions_once.c         what all items of a region do alike, once
 *   regions_bounds.c       guards that become bounds of the loops over items
 *   regions_loops.c        the loops, and the jumps from region to region
 */
#include "passes/workgroup/regions_impl.h"

/* --------------------------------------------------------------------------------- what may not */

/* Is a variable of i, in private or local memory, aligned to more than memory of a launch is? */
static bool is_over_aligned(const ir_inst *i) {
    if (i->op == IR_OP_alloca) return i->imm.var->align > IR_LOCAL_ALIGN;
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *v = ir_arg(i, n);
        bool local = v->op == IR_OP_address && v->imm.global->space == IR_LOCAL;
        if (local && v->imm.global->align > IR_LOCAL_ALIGN) return true;
    }
    return false;
}

static const char *refuse_op(const ir_inst *i) {
    if (i->op == IR_OP_barrier && i->imm.sync.exec < IR_SCOPE_WORKGROUP)
        return "it has a barrier for more than a work-group";
    if (i->op == IR_OP_call)
        return i->imm.func->level == L_GROUP ? NULL : "it calls a function that asks for ids";
    if (is_over_aligned(i)) return "a variable asks for more alignment than launches give";
    if (ir_info(i)->imm == I_GROUP) return pass_refuse_collective(i);
    if (i->op == IR_OP_printf) return NULL;
    if (ir_info(i)->levels & L_GROUP || ir_info(i)->rule == R_QUERY) return NULL;
    if (i->op == IR_OP_barrier || i->op == IR_OP_subgroup_mask || i->op == IR_OP_assume)
        return NULL;
    return ir_info(i)->name;
}

static const char *find_refusal(const ir_func *kernel, const pass_group_shape *shape) {
    if (ir_is_declaration(kernel)) return "it has no body";
    if (kernel->module->pointer_bits != 64) return "its pointers are not those of this machine";
    foreach_block (b, kernel)
        foreach_inst (i, b) {
            const char *why = refuse_op(i);
            if (why) return why;
            if (shape->subgroup < kernel->attrs.subgroup_size && ir_asks_subgroup(i))
                return "it requires sub-groups of more than one work-item";
        }
    return NULL;
}

/* ----------------------------------------------------------------------------------- what helps */

pass_group_shape pass_shape_of(const ir_range *r) {
    pass_group_shape s = {.whole_groups = ir_has_local_size(r),
                          .no_offset = true,
                          .small_ids = true,
                          .dims = r->dims};
    for (unsigned d = 0; d < 3; d++) {
        uint64_t size = pass_global_size(r, d), offset = pass_global_offset(r, d);
        s.no_offset &= !offset;
        s.small_ids &= size <= INT32_MAX && offset <= INT32_MAX - size;
        if (!ir_has_local_size(r)) continue;
        s.local[d] = pass_local_size(r, d);
        s.whole_groups &= size % s.local[d] == 0;
    }
    return s;
}

bool pass_has_short_ids(const ir_range *r) {
    for (unsigned d = 0; d < 3; d++) {
        uint64_t size = pass_global_size(r, d);
        if (size > IR_SHORT || pass_global_offset(r, d) > IR_SHORT - size) return false;
    }
    return true;
}

static pass_group_shape complete_shape(const pass_group_shape *known, const ir_func *kernel) {
    pass_group_shape s = *known;
    for (unsigned d = 0; d < 3; d++) {
        if (kernel->attrs.local_size[d]) s.local[d] = kernel->attrs.local_size[d];
        if (s.dims && d >= s.dims) s.local[d] = 1;
    }
    if (s.subgroup > 1) s.inner = s.transposes = 0; /* lanes are along x */
    return s;
}

/* Adds a fence after a barrier.  If the barrier is one of the work-group, the fence is in a region
 * of its own and runs once for all items. */
static void add_fence(pass_group_builder *g, const ir_inst *barrier) {
    ir_builder b;
    ir_imm imm = barrier->imm;
    imm.sync.exec = 0;
    ir_builder_init(&b, g->f);
    ir_before(&b, barrier->next);
    ir_build_raw(&b, IR_OP_fence, IR_VOID, ir_with_imm(imm), IR_NO_ARGS);
    if (pass_synchronizes(barrier))
        ir_build_barrier(&b, IR_SCOPE_WORKGROUP, IR_SCOPE_WORKGROUP, IR_SEM_SEQ_CST | IR_SEM_LOCAL);
}

/* Is it a barrier of one item? */
static bool is_minor(const pass_group_builder *g, const ir_inst *barrier) {
    bool several = g->shape->subgroup > 1;
    return barrier->imm.sync.exec > (several ? IR_SCOPE_SUBGROUP : IR_SCOPE_WORKGROUP);
}

/* Barriers of fewer items than a group, or a sub-group of several items, are of one item; what they
 * say about memory of other groups stays as a fence.  Assumptions have been made use of. */
static void remove_minor(pass_group_builder *g) {
    foreach_block (block, g->f)
        foreach_inst (i, block) {
            bool barrier = i->op == IR_OP_barrier;
            if (barrier && i->imm.sync.scope < IR_SCOPE_WORKGROUP) add_fence(g, i);
            if (i->op == IR_OP_assume || (barrier && is_minor(g, i))) ir_remove(i);
        }
}

/* -------------------------------------------------------------------------------- the functions */

static ir_func *new_func(ir_module *m, const char *name) {
    const ir_type types[] = {ir_ptr(IR_CONST), ir_ptr(IR_CONST)};
    ir_func *f = ir_func_new(m, name, IR_VOID, 2, types);
    f->flags = IR_FUNC_EXPORT;
    f->level = L_GROUP;
    ir_set_name(f, f->param_val[0], "info");
    ir_set_name(f, f->param_val[1], "args");
    return f;
}

/* A copy of info whose box is one group. */
static ir_inst *build_box(ir_builder *b, ir_inst *info) {
    ir_module *m = b->f->module;
    ir_type bytes = ir_array_type(m, ir_scalar(IR_I8), sizeof(ir_group_info));
    ir_inst *box = ir_build_alloca(b, bytes, sizeof(void *));
    ir_inst *args[] = {box, info, ir_const(b->f, IR_I64, sizeof(ir_group_info))};
    ir_build_raw(b, IR_OP_copy, IR_VOID, ir_with_imm(ir_mem_imm(sizeof(void *), 0)),
                 (ir_args){3, args});
    for (unsigned d = 0; d < 3; d++) {
        uint64_t from = offsetof(ir_group_info, group_id) + d * sizeof(uint64_t);
        uint64_t to = offsetof(ir_group_info, group_end) + d * sizeof(uint64_t);
        ir_inst *at = ir_build_ptradd(b, info, ir_const(b->f, IR_I64, from), true);
        ir_inst *id = ir_build_load(b, IR_I64, at, sizeof(uint64_t), 0);
        ir_inst *end = ir_build2(b, IR_OP_add, IR_I64, id, ir_const(b->f, IR_I64, 1));
        at = ir_build_ptradd(b, box, ir_const(b->f, IR_I64, to), true);
        ir_build_store(b, end, at, sizeof(uint64_t), 0);
    }
    return ir_build1(b, IR_OP_inttoptr, info->type, ir_build1(b, IR_OP_ptrtoint, IR_I64, box));
}

/* k, which takes the kernel's name: a call of k.block for a box of one group. */
static ir_func *replace_kernel(ir_func *kernel, ir_func *block) {
    ir_module *m = kernel->module;
    const char *name = kernel->name;
    ir_builder b;
    ir_func_remove(kernel);
    ir_func *f = new_func(m, name);
    ir_builder_init(&b, f);
    ir_at_end(&b, ir_block_new(f, "entry"));
    ir_inst *args[] = {build_box(&b, f->param_val[0]), f->param_val[1]};
    ir_build_call(&b, block, 2, args);
    ir_build_ret(&b, NULL);
    return f;
}

/* Instructions of straight code; 0: with loops or calls, how many run is not known. */
static uint32_t count_steps(ir_func *kernel) {
    uint32_t n = 0;
    if (ir_loop_tree(kernel)->n) return 0;
    foreach_block (b, kernel)
        foreach_inst (i, b) {
            if (i->op == IR_OP_call) return 0;
            n++;
        }
    return n;
}

/* Fills g->f with the code of a group.  NULL, or why there is none. */
static const char *build_group(pass_group_builder *g) {
    pass_item_ids ids = {0};
    pass_group_variables variables = {0};
    pass_region_graph graph = {0};
    const char *refusal = NULL;
    pass_copy_kernel(g);
    if (g->shape->subgroup > 1) pass_begin_subgroups(g);
    remove_minor(g);
    pass_answer_spaces(g);
    pass_place_locals(g);
    pass_answer_queries(g, &ids);
    pass_expand_collectives(g, &ids, &variables);
    pass_expand_prints(g);
    if (g->shape->subgroup > 1) refusal = pass_join_lanes(g, &ids);
    if (!refusal && g->shape->subgroup > 1) pass_expand_collectives(g, &ids, &variables);
    if (!refusal) refusal = pass_find_regions(g, &graph);
    if (refusal) return refusal;
    pass_build_context(g, &ids, &graph);
    pass_unshare_regions(g, &graph);
    pass_loop_over_items(g, &ids, &graph);
    pass_make_variables(g, &variables);
    pass_loop_over_groups(g);
    ir_remove_unreachable(g->f);
    ir_promote_vars(g->f, g->scratch);
    return NULL;
}

void pass_make_group(ir_func *kernel, const pass_group_shape *shape, ir_arena *arena,
                     pass_group_code *out) {
    *out = (pass_group_code){.refusal = find_refusal(kernel, shape)};
    if (out->refusal) return;
    const pass_group_shape completed = complete_shape(shape, kernel);
    const char *name = ir_sprintf(arena, "%s.block", kernel->name);
    pass_group_builder g = {
        .kernel = kernel, .shape = &completed, .scratch = arena, .need = &out->need};
    pass_take_promises(kernel, &completed, arena, &g.promises);
    out->item_steps = count_steps(kernel);
    out->block = g.f = new_func(kernel->module, name);
    g.f->loc = kernel->loc;
    g.f->level = L_SPMD; /* until it is done */
    out->refusal = build_group(&g);
    if (out->refusal) {
        ir_func_remove(g.f);
        return;
    }
    g.f->level = L_GROUP;
    out->one = replace_kernel(kernel, g.f);
}

/* ------------------------------------------------------------------------------------- the pass */

static bool make_group(ir_func *kernel, const pass_group_shape *shape, pass_ctx *cx) {
    pass_group_code out;
    ir_message place = {.severity = IR_WARNING, .file = kernel->module->name};
    pass_make_group(kernel, shape, cx->scratch, &out);
    if (out.refusal)
        ir_report(cx->cx, place, "no code for work-groups of @%s: %s", kernel->name, out.refusal);
    return !out.refusal;
}

/* Variables in local memory have become offsets. */
static void remove_locals(ir_module *m, ir_arena *scratch) {
    ir_map used = {0};
    foreach_func (f, m)
        foreach_block (b, f)
            foreach_inst (i, b)
                for (unsigned n = 0; n < i->nargs; n++) {
                    ir_inst *v = ir_arg(i, n);
                    if (v->op == IR_OP_address)
                        ir_map_set(scratch, &used, (uintptr_t)v->imm.global, v->imm.global);
                }
    foreach_global (g, m)
        if (g->space == IR_LOCAL && !ir_map_get(&used, (uintptr_t)g)) ir_global_remove(g);
}

/* Does:  makes k.block and k of each kernel (launch.h): loops over groups, over the regions of
 *        each, and over the items in them.
 * Needs: no calls; as little memory of its own as can be (the standard pipeline).
 * Leaves: no barriers, queries or group operations; values that regions share in SSA form or in
 *        scratch memory.
 * Gives up: on barriers of more than a work-group, larger sub-groups, images, 32-bit pointers, and
 *        control flow that needs too many copies of blocks.  A warning gives the reason; the kernel
 *        stays. */
bool pass_regions(ir_module *m, pass_ctx *cx) {
    const pass_group_shape any = {0};
    pass_group_shape shape = cx->range ? pass_shape_of(cx->range) : any;
    bool changed = false;
    ir_vec(ir_func *) kernels = {0};
    foreach_func (f, m)
        if (f->flags & IR_FUNC_KERNEL) *ir_push(cx->scratch, &kernels) = f;
    for (uint32_t k = 0; k < kernels.n; k++) {
        shape.subgroup = pass_subgroup_needed(kernels.data[k], cx->target);
        changed |= make_group(kernels.data[k], &shape, cx);
    }
    if (changed) remove_locals(m, cx->scratch);
    return changed;
}
