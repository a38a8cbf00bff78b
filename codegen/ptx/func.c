/* func.c — kernels as entry points: parameters and blocks.
 *
 * Parameters keep their order.  One in local memory is the number of bytes at which its memory
 * begins in the dynamic part of the block's.  Hidden ones follow, if the kernel asks for them: the
 * global offset (KERNEL$offset_x, _y and _z, 64 bits each, with the option `offset`), and the
 * number of dimensions (KERNEL$work_dim, 32 bits).
 */
#include "codegen/ptx/ptx.h"

/* ----------------------------------------------------------------------------------- parameters */

static const char *param_name(ptx_func *fn, uint32_t n) {
    return ir_sprintf(fn->w->arena, "%s$param_%u", ptx_name(fn->w, fn->f->name), n);
}

static const char *param_type(ptx_func *fn, ir_type t) {
    ptx_class c = ptx_class_of(fn->w->m, t);
    if (c == PTX_PRED) return "u8";
    if (c != PTX_B32) return ptx_class_type(c);
    unsigned width = ir_bits(fn->w->m, t);
    return width == 8 ? "u8" : width == 16 ? "u16" : "b32";
}

static void declare_pointer(ptx_func *fn, ir_text *t, uint32_t n) {
    const ir_param *p = &fn->f->param[n];
    ir_space space = ir_space_of(fn->f->param_val[n]->type);
    const char *name = space == IR_GENERIC ? "" : ptx_space_name(fn, space);
    ir_putf(t, ".param .u64 .ptr %s .align %u %s", name, p->align ? p->align : 1,
            param_name(fn, n));
}

/* Of a struct by value; 8 if the module does not say it. */
static unsigned align_of_struct(const ir_param *p) { return p->align ? p->align : 8; }

static void declare_bytes(ptx_func *fn, ir_text *t, uint32_t n, uint64_t size, uint64_t align) {
    ir_putf(t, ".param .align %u .b8 %s[%llu]", (unsigned)align, param_name(fn, n),
            (unsigned long long)size);
}

static void declare_param(ptx_func *fn, ir_text *t, uint32_t n) {
    const ir_param *p = &fn->f->param[n];
    ir_type type = fn->f->param_val[n]->type;
    switch (ir_arg_kind_of(type, p)) {
    case IR_ARG_POINTER: declare_pointer(fn, t, n); return;
    case IR_ARG_LOCAL: ir_putf(t, ".param .u32 %s", param_name(fn, n)); return;
    case IR_ARG_VALUE: break;
    default: ptx_refuse(fn, "its parameter %u is an image or a sampler", n);
    }
    if (p->attrs & IR_PARAM_BYVAL)
        declare_bytes(fn, t, n, p->byval_size, align_of_struct(p));
    else if (ir_is_vector(type))
        declare_bytes(fn, t, n, ir_sizeof(fn->w->m, type), ir_alignof(fn->w->m, type));
    else
        ir_putf(t, ".param .%s %s", param_type(fn, type), param_name(fn, n));
}

static bool asks_for(const ir_func *f, bool (*is_asked)(const ir_inst *i)) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (is_asked(i)) return true;
    return false;
}

static bool is_offset_query(const ir_inst *i) {
    return i->op == IR_OP_global_id || i->op == IR_OP_global_offset;
}
static bool is_dimension_query(const ir_inst *i) { return i->op == IR_OP_work_dim; }

static cg_ptx_hidden hidden_of(const ir_func *kernel, const cg_ptx_options *options, ir_map *places,
                               ir_arena *arena) {
    return (cg_ptx_hidden){.offset = options->offset && asks_for(kernel, is_offset_query),
                           .work_dim = asks_for(kernel, is_dimension_query),
                           .variables = ptx_place_variables(kernel, places, arena)};
}

cg_ptx_hidden cg_ptx_hidden_of(const ir_func *kernel, const cg_ptx_options *options,
                               ir_arena *scratch) {
    ir_map places = {0};
    return hidden_of(kernel, options, &places, scratch);
}

enum { MOST_VARIABLES = 227 << 10 }; /* of all processors */

static void find_hidden(ptx_func *fn) {
    fn->hidden = hidden_of(fn->f, fn->w->options, &fn->places, fn->w->arena);
    if (fn->hidden.variables > MOST_VARIABLES)
        ptx_refuse(fn, "it has variables of %llu bytes in local memory, processors have %d",
                   (unsigned long long)fn->hidden.variables, MOST_VARIABLES);
}

static void declare_params(ptx_func *fn, ir_text *t) {
    const char *separator = "\n\t", *name = ptx_name(fn->w, fn->f->name);
    for (uint32_t n = 0; n < fn->f->nparams; n++, separator = ",\n\t") {
        ir_put(t, separator);
        declare_param(fn, t, n);
    }
    const cg_ptx_hidden hidden = fn->hidden;
    if (hidden.offset)
        for (const char *d = "xyz"; *d; d++, separator = ",\n\t")
            ir_putf(t, "%s.param .u64 %s$offset_%c", separator, name, *d);
    if (hidden.work_dim) ir_putf(t, "%s.param .u32 %s$work_dim", separator, name);
}

enum { USUAL_PARAMETERS = 4352, MOST_PARAMETERS = 32764 }; /* bytes */

static uint64_t size_of_params(const ptx_func *fn) {
    const cg_ptx_hidden hidden = fn->hidden;
    uint64_t bytes = 0;
    for (uint32_t n = 0; n < fn->f->nparams; n++) {
        const ir_param *p = &fn->f->param[n];
        const ir_type type = fn->f->param_val[n]->type;
        const bool is_struct = p->attrs & IR_PARAM_BYVAL;
        uint64_t align = is_struct ? align_of_struct(p) : ir_alignof(fn->w->m, type);
        bytes =
            ptx_round_up(bytes, align) + (is_struct ? p->byval_size : ir_sizeof(fn->w->m, type));
    }
    if (hidden.offset) bytes = ptx_round_up(bytes, 8) + 3 * sizeof(uint64_t);
    return hidden.work_dim ? ptx_round_up(bytes, 4) + 4 : bytes;
}

static void check_params(ptx_func *fn) {
    const uint64_t bytes = size_of_params(fn);
    if (bytes > USUAL_PARAMETERS) ptx_need(fn, 70, 81, "parameters of more than 4352 bytes");
    if (bytes > MOST_PARAMETERS)
        ptx_refuse(fn, "it has parameters of %llu bytes, PTX allows %d", (unsigned long long)bytes,
                   MOST_PARAMETERS);
}

/* ----------------------------------------------------------------------- parameters are values */

static void load_scalar(ptx_func *fn, const ir_inst *v, unsigned lane, uint64_t at) {
    const char *to = ptx_result(fn, v, lane);
    bool truth = ir_is_bool(ir_elem(v->type));
    const char *r = truth ? ptx_temporary(fn, PTX_B32) : to;
    ptx_put(fn, "ld.param.%s %s, [%s+%llu]", param_type(fn, ir_elem(v->type)), r,
            param_name(fn, v->imm.index), (unsigned long long)at);
    if (truth) ptx_test_bit(fn, to, r);
}

static void load_local(ptx_func *fn, const ir_inst *v) {
    const char *place = ptx_temporary(fn, PTX_B32), *wide = ptx_temporary(fn, PTX_B64);
    const char *start = ptx_temporary(fn, PTX_B64);
    fn->w->has_dynamic_local = true;
    ptx_put(fn, "ld.param.u32 %s, [%s]", place, param_name(fn, v->imm.index));
    ptx_put(fn, "cvt.u64.u32 %s, %s", wide, place);
    ptx_put(fn, "mov.u64 %s, $local", start);
    ptx_put(fn, "add.s64 %s, %s, %s", ptx_result(fn, v, 0), start, wide);
}

/* A struct by value that the kernel writes, or of which it needs a pointer in another space. */
static void copy_bytes(ptx_func *fn, const ir_inst *v, const ir_param *p) {
    const char *name = ir_sprintf(fn->w->arena, "$p%u", v->imm.index);
    unsigned long long size = p->byval_size;
    unsigned align = align_of_struct(p), step = align < 8 ? align : 8;
    ir_putf(&fn->variables, "\t.local .align %u .b8 %s[%llu];\n", align, name, size ? size : 1);
    ptx_put(fn, "mov.u64 %s, %s", ptx_result(fn, v, 0), name);
    for (unsigned long long at = 0; at < size; at += step) {
        while (at + step > size) step /= 2;
        const char *r = ptx_temporary(fn, PTX_B64);
        ptx_put(fn, "ld.param.u%u %s, [%s+%llu]", step * 8, r, param_name(fn, v->imm.index), at);
        ptx_put(fn, "st.local.u%u [%s+%llu], %s", step * 8, ptx_result(fn, v, 0), at, r);
    }
}

static void load_param(ptx_func *fn, uint32_t n) {
    const ir_inst *v = fn->f->param_val[n];
    const ir_param *p = &fn->f->param[n];
    uint64_t size = ir_sizeof(fn->w->m, ir_elem(v->type));
    if (!v->uses) return;
    if (ir_arg_kind_of(v->type, p) == IR_ARG_LOCAL)
        load_local(fn, v);
    else if (fn->in_param[v->id])
        ptx_put(fn, "mov.b64 %s, %s", ptx_result(fn, v, 0), param_name(fn, n));
    else if (p->attrs & IR_PARAM_BYVAL)
        copy_bytes(fn, v, p);
    else
        for (unsigned lane = 0; lane < ir_lanes(v->type); lane++)
            load_scalar(fn, v, lane, lane * size);
}

/* ------------------------------------------------------------------------------------ functions */

static void write_block(ptx_func *fn, const ir_block *b) {
    ptx_label(fn, ptx_block_name(fn, b));
    foreach_inst (i, b) {
        fn->inst = i;
        ir_look_at(fn->w->cx, i);
        if (i->op != IR_OP_phi && !ir_is_terminator(i)) ptx_write_inst(fn, i);
    }
    ptx_write_end(fn, b);
    fn->inst = NULL;
}

static void declare_registers(const ptx_func *fn, ir_text *t) {
    for (ptx_class c = 0; c < PTX_CLASSES; c++)
        if (fn->count[c])
            ir_putf(t, "\t.reg .%s %s<%u>;\n", ptx_class_type(c), ptx_class_prefix(c),
                    fn->count[c]);
}

/* A comment before the kernel, for those who launch it. */
static void write_coarsening(ir_text *t, const uint32_t items[3]) {
    static const char *const format =
        "\n// A thread runs %u work-items along x, %u along y, %u along z.";
    if (!items[0] && !items[1] && !items[2]) return;
    ir_putf(t, format, items[0] ? items[0] : 1, items[1] ? items[1] : 1, items[2] ? items[2] : 1);
}

static void write_head(ptx_func *fn, ir_text *t) {
    const uint32_t *size = fn->f->attrs.local_size;
    write_coarsening(t, fn->f->attrs.coarsened);
    if (fn->hidden.variables)
        ir_putf(t, "\n// %llu bytes of variables begin the dynamic part of shared memory.",
                (unsigned long long)fn->hidden.variables);
    ir_putf(t, "\n.visible .entry %s(", ptx_name(fn->w, fn->f->name));
    declare_params(fn, t);
    ir_put(t, ")\n");
    const unsigned most = fn->w->options->threads;
    if (size[0])
        ir_putf(t, ".reqntid %u, %u, %u\n", size[0], size[1], size[2]);
    else if (most)
        ir_putf(t, ".maxntid %u, 1, 1\n", most);
}

/* Of a kernel that depends on the size that it requires. */
static void check_subgroups(ptx_func *fn) {
    const uint32_t size = fn->f->attrs.subgroup_size;
    if (size && size != PTX_WARP && asks_for(fn->f, ir_asks_subgroup))
        ptx_refuse(fn, "it requires sub-groups of %u, and warps have %d threads", size, PTX_WARP);
}

/* A text that will rarely have to grow. */
static ir_text room_for(ir_arena *a, uint64_t instructions) {
    enum { LINE = 48, LEAST = 1000 };
    size_t bytes = LEAST + (size_t)instructions * LINE;
    return (ir_text){.arena = a, .data = ir_alloc_raw(a, bytes), .cap = bytes};
}

/* A kernel that begins early waits before it does anything else.  What comes after it may begin
 * when all of its groups have got here, and waits in turn, so there are never more than two. */
static void write_start(ptx_func *fn) {
    if (fn->w->options->dependent) {
        ptx_put(fn, "griddepcontrol.wait");
        ptx_put(fn, "griddepcontrol.launch_dependents");
    }
    for (uint32_t n = 0; n < fn->f->nparams; n++) load_param(fn, n);
}

void ptx_write_function(ptx_writer *w, ir_func *f) {
    ptx_func fn = {.w = w,
                   .f = f,
                   .first = ir_new_array(w->arena, uint32_t, f->next_id),
                   .variables = {.arena = w->arena},
                   .body = room_for(w->arena, ir_count_instructions(f))};
    ir_text head = {.arena = w->arena};
    check_subgroups(&fn);
    find_hidden(&fn);
    ptx_find_structs(&fn);
    ptx_number_edges(&fn);
    write_head(&fn, &head);
    check_params(&fn);
    write_start(&fn);
    foreach_block (b, f) write_block(&fn, b);
    ir_put(&head, "{\n");
    declare_registers(&fn, &head);
    ir_put(&fn.body, "}\n");
    *ir_push(w->arena, &w->functions) = (ptx_parts){head, fn.variables, fn.body};
}
