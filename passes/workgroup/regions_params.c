/* regions_params.c — the parameters of the code of a group (ir/launch.h): parameters of the kernel
 * are in args, sizes in info, and variables in local memory at offsets from info->local.
 *
 * The loops over groups are built last, around everything but the entry.  Until then the function
 * runs the first group of the box.
 */
#include "passes/workgroup/regions_impl.h"

#define FIELD(name) offsetof(ir_group_info, name)

ir_inst *pass_number(const pass_group_builder *g, uint64_t n) { return ir_const(g->f, IR_I64, n); }

ir_inst *pass_build_plain(ir_builder *b, ir_op op, ir_inst *x, ir_inst *y) {
    return ir_build(b, op, IR_I64, ir_with_flags(IR_NSW | IR_NUW), IR_ARGS(x, y));
}

static ir_inst *address_of(ir_builder *b, ir_inst *base, uint64_t offset) {
    return ir_build_ptradd(b, base, ir_const(b->f, IR_I64, offset), true);
}

ir_inst *pass_info_field(pass_group_builder *g, size_t offset, ir_type t) {
    uint64_t key = (uint64_t)offset << 32 | t;
    ir_inst *known = ir_map_get(&g->fields, key);
    if (known) return known;
    unsigned size = (unsigned)ir_sizeof(g->f->module, t);
    known = ir_build_load(&g->entry, t, address_of(&g->entry, g->f->param_val[0], offset), size, 0);
    ir_map_set(g->scratch, &g->fields, key, known);
    return known;
}

ir_inst *pass_info_size(pass_group_builder *g, size_t array, unsigned d) {
    return pass_info_field(g, array + d * sizeof(uint64_t), IR_I64);
}

/* ----------------------------------------------------------------------------------- parameters */

static ir_inst *take_param(pass_group_builder *g, ir_inst *param) {
    const ir_param *info = &g->kernel->param[param->imm.index];
    ir_inst *at = address_of(&g->entry, g->f->param_val[1], param->imm.index * sizeof(void *));
    ir_type t = param->type, pointer = ir_ptr(IR_CONST);
    if (!param->uses) return ir_undef(g->f, t);
    if (ir_is_ptr(t) && ir_space_of(t) == IR_LOCAL) {
        ir_inst *offset = ir_build_load(&g->entry, IR_I64, at, sizeof(uint64_t), 0);
        return ir_build_ptradd(&g->entry, pass_info_field(g, FIELD(local), t), offset, true);
    }
    if (ir_is_ptr(t) || ir_is_opaque(t)) {
        unsigned promises = ir_is_ptr(t) ? pass_promises_of(&g->promises, g->shape, info) : 0;
        ir_inst *given = ir_build_load(&g->entry, t, at, sizeof(void *), promises);
        return info->attrs & IR_PARAM_BYVAL ? pass_take_struct(g, param, given) : given;
    }
    ir_inst *place = ir_build_load(&g->entry, pointer, at, sizeof(void *), 0);
    unsigned align = (unsigned)ir_alignof(g->f->module, ir_elem(t));
    return ir_build_load(&g->entry, t, place, align, 0);
}

void pass_copy_name(pass_group_builder *g, const ir_inst *from, const ir_inst *v) {
    const char *name = ir_name_of(g->kernel, from);
    if (name && v->block && !ir_name_of(g->f, v)) ir_set_name(g->f, v, name);
}

/* Variables are in the entry block of the function. */
static void move_variables(pass_group_builder *g) {
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

static void begin_group(pass_group_builder *g) {
    ir_func *f = g->f;
    ir_builder_init(&g->entry, f);
    ir_builder_init(&g->group, f);
    ir_at_end(&g->entry, ir_block_new(f, "entry"));
    ir_at_end(&g->group, link(&g->entry, "group"));
    g->start = link(&g->group, "start");
    g->end = ir_block_new(f, "end");
}

void pass_copy_kernel(pass_group_builder *g) {
    begin_group(g);
    ir_inst **args = ir_new_array(g->scratch, ir_inst *, g->kernel->nparams);
    for (uint32_t p = 0; p < g->kernel->nparams; p++) {
        args[p] = take_param(g, g->kernel->param_val[p]);
        pass_copy_name(g, g->kernel->param_val[p], args[p]);
    }
    ir_block *body;
    ir_builder b;
    ir_clone_body(g->f, g->kernel, args, g->end, &body);
    pass_load_members(g, args);
    ir_builder_init(&b, g->f);
    ir_at_end(&b, g->start);
    ir_build_jmp(&b, body);
    ir_at_end(&b, g->end);
    ir_build_ret(&b, NULL);
    move_variables(g);
}

/* --------------------------------------------------------------------------------- local memory */

static bool is_zero(const ir_module *m, const ir_global *v) {
    uint64_t size = ir_sizeof(m, v->type), k = 0;
    while (k < size && !v->init[k]) k++;
    return k == size && !v->nreloc;
}

/* The address of a constant with the initial value of v. */
static ir_inst *make_initial(pass_group_builder *g, const ir_global *v) {
    ir_module *m = g->f->module;
    const char *name = ir_sprintf(&m->arena, "%s.%s.initial", g->f->name, v->name);
    ir_global *initial = ir_global_new(m, name, IR_CONST, v->type);
    initial->constant = true;
    initial->init = v->init;
    initial->reloc = v->reloc;
    initial->nreloc = v->nreloc;
    return ir_address(g->f, initial);
}

/* Initializes v at the start of each group. */
static void initialize(pass_group_builder *g, const ir_global *v, ir_inst *place, unsigned align) {
    ir_inst *bytes = pass_number(g, ir_sizeof(g->f->module, v->type));
    bool zero = is_zero(g->f->module, v);
    ir_inst *from = zero ? ir_const(g->f, IR_I8, 0) : make_initial(g, v);
    ir_build_raw(&g->group, zero ? IR_OP_fill : IR_OP_copy, IR_VOID,
                 ir_with_imm(ir_mem_imm(align, 0)), IR_ARGS(place, from, bytes));
}

static ir_inst *place_of(pass_group_builder *g, ir_map *places, const ir_global *v) {
    ir_inst *place = ir_map_get(places, (uintptr_t)v);
    if (place) return place;
    uint64_t align = v->align ? v->align : ir_alignof(g->f->module, v->type);
    uint64_t at = (g->need->local + align - 1) / align * align;
    g->need->local = at + ir_sizeof(g->f->module, v->type);
    place = address_of(&g->entry, pass_info_field(g, FIELD(local), ir_ptr(IR_LOCAL)), at);
    ir_map_set(g->scratch, places, (uintptr_t)v, place);
    if (v->init) initialize(g, v, place, (unsigned)align);
    return place;
}

void pass_place_locals(pass_group_builder *g) {
    ir_map places = {0};
    foreach_block (b, g->f)
        foreach_inst (i, b)
            for (unsigned n = 0; n < i->nargs; n++) {
                const ir_inst *v = ir_arg(i, n);
                if (v->op == IR_OP_address && v->imm.global->space == IR_LOCAL)
                    ir_set_arg(i, n, place_of(g, &places, v->imm.global));
            }
}

/* ----------------------------------------------------------------------------------- the groups */

/* A loop whose first block is `inside` and whose last one, without terminator, is `last`.  Leaves
 * the block in front in *inside, without terminator, and the one after it in *last. */
static void loop_over(pass_group_builder *g, unsigned d, ir_block **inside, ir_block **last) {
    ir_inst *first = pass_group_id(g, d), *end = pass_info_size(g, FIELD(group_end), d);
    ir_block *before = ir_block_new(g->f, NULL), *after = ir_block_new(g->f, NULL);
    ir_builder b;
    ir_builder_init(&b, g->f);
    ir_at_end(&b, before);
    ir_build_jmp(&b, *inside);
    ir_inst *id = ir_build_phi(*inside, IR_I64);
    ir_replace_uses(first, id);
    ir_at_end(&b, *last);
    ir_inst *next = pass_build_plain(&b, IR_OP_add, id, pass_number(g, 1));
    ir_build_br(&b, ir_build2(&b, IR_OP_ult, IR_I1, next, end), *inside, after);
    id = ir_append_arg(id, first);
    ir_append_arg(id, next);
    *inside = before;
    *last = after;
}

/* Is there a group at all? */
static ir_inst *build_any(pass_group_builder *g) {
    ir_inst *any = ir_const(g->f, IR_I1, 1);
    for (unsigned d = 0; d < 3; d++) {
        if (pass_is_flat(g, d)) continue;
        ir_inst *first = pass_group_id(g, d), *end = pass_info_size(g, FIELD(group_end), d);
        ir_inst *some = ir_build2(&g->entry, IR_OP_ult, IR_I1, first, end);
        any = ir_build2(&g->entry, IR_OP_and, IR_I1, any, some);
    }
    return any;
}

void pass_loop_over_groups(pass_group_builder *g) {
    ir_block *inside = g->group.block, *last = g->end;
    ir_remove(last->last);
    ir_make_unreachable(g->entry.block);
    ir_before(&g->entry, g->entry.block->last);
    for (unsigned d = 0; d < 3; d++)
        if (!pass_is_flat(g, d)) loop_over(g, d, &inside, &last);
    ir_inst *any = build_any(g);
    ir_remove(g->entry.block->last);
    ir_at_end(&g->entry, g->entry.block);
    ir_build_br(&g->entry, any, inside, last);
    ir_builder b;
    ir_builder_init(&b, g->f);
    ir_at_end(&b, last);
    ir_build_ret(&b, NULL);
}
