/* func.c — kernels as entry points: parameters, blocks, branches, and phis, which are copies at
 * the ends of the blocks that lead to them.
 *
 * Copies of an edge are simultaneous: where one of them reads a phi of the same block, all go
 * through registers of their own.  ptxas makes SSA form again and removes them.  An edge out of a
 * block with several successors has its copies in a block of its own.
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

/* That of a struct by value. */
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

cg_ptx_hidden cg_ptx_hidden_of(const ir_func *kernel, const cg_ptx_options *options) {
    return (cg_ptx_hidden){options->offset && asks_for(kernel, is_offset_query),
                           asks_for(kernel, is_dimension_query)};
}

static void declare_params(ptx_func *fn, ir_text *t) {
    const char *separator = "\n\t", *name = ptx_name(fn->w, fn->f->name);
    for (uint32_t n = 0; n < fn->f->nparams; n++, separator = ",\n\t") {
        ir_put(t, separator);
        declare_param(fn, t, n);
    }
    const cg_ptx_hidden hidden = cg_ptx_hidden_of(fn->f, fn->w->options);
    if (hidden.offset)
        for (const char *d = "xyz"; *d; d++, separator = ",\n\t")
            ir_putf(t, "%s.param .u64 %s$offset_%c", separator, name, *d);
    if (hidden.work_dim) ir_putf(t, "%s.param .u32 %s$work_dim", separator, name);
}

enum { USUAL_PARAMETERS = 4352, MOST_PARAMETERS = 32764 }; /* bytes */

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

static uint64_t size_of_params(const ptx_func *fn) {
    const cg_ptx_hidden hidden = cg_ptx_hidden_of(fn->f, fn->w->options);
    uint64_t bytes = 0;
    for (uint32_t n = 0; n < fn->f->nparams; n++) {
        const ir_param *p = &fn->f->param[n];
        const ir_type type = fn->f->param_val[n]->type;
        const bool is_struct = p->attrs & IR_PARAM_BYVAL;
        uint64_t align = is_struct ? align_of_struct(p) : ir_alignof(fn->w->m, type);
        bytes = round_up(bytes, align) + (is_struct ? p->byval_size : ir_sizeof(fn->w->m, type));
    }
    if (hidden.offset) bytes = round_up(bytes, 8) + 3 * sizeof(uint64_t);
    return hidden.work_dim ? round_up(bytes, 4) + 4 : bytes;
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

/* A struct by value of which the kernel writes its own copy, or has pointers of another kind. */
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

/* ----------------------------------------------------------------------------------------- phis */

static const char *block_name(ptx_func *fn, const ir_block *b) {
    return ir_sprintf(fn->w->arena, "$L%u", b->id);
}

/* Does a phi of b get another one of b from its predecessor number `from`? */
static bool phis_depend(const ir_block *b, unsigned from) {
    foreach_phi (phi, b) {
        const ir_inst *v = ir_arg(phi, from);
        if (v->op == IR_OP_phi && v->block == b && v != phi) return true;
    }
    return false;
}

typedef struct {
    ptx_class class;
    const char *to, *from;
} copy;

static void write_copies(ptx_func *fn, const ir_block *b, unsigned from) {
    ir_vec(copy) copies = {0};
    bool apart = phis_depend(b, from);
    foreach_phi (phi, b) {
        const ir_inst *v = ir_arg(phi, from);
        if (v == phi || v->op == IR_OP_undef) continue;
        for (unsigned lane = 0; lane < ir_lanes(phi->type); lane++) {
            ptx_class c = ptx_class_of(fn->w->m, ir_elem(phi->type));
            const char *to = ptx_result(fn, phi, lane), *value = ptx_operand(fn, v, lane);
            const char *first = apart ? ptx_temporary(fn, c) : to;
            ptx_move(fn, c, first, value);
            if (apart) *ir_push(fn->w->arena, &copies) = (copy){c, to, first};
        }
    }
    foreach_in (const copy, c, copies) ptx_move(fn, c->class, c->to, c->from);
}

/* ------------------------------------------------------------------------------------- branches */

static void go_on(ptx_func *fn, const ir_block *b, unsigned edge) {
    const ir_block *to = b->succ[edge];
    write_copies(fn, to, ptx_place_of_edge(fn, b, edge));
    if (to != b->next) ptx_put(fn, "bra.uni %s", block_name(fn, to));
}

/* The label to jump to for an edge; one of copies, which are written later, if there are any. */
typedef struct {
    unsigned edge;
    const char *label;
} late_edge;
typedef ir_vec(late_edge) late_edges;

static bool has_phis(const ir_block *b) { return b->first->op == IR_OP_phi; }

static const char *edge_label(ptx_func *fn, const ir_block *b, unsigned edge, late_edges *late) {
    const ir_block *to = b->succ[edge];
    if (!has_phis(to)) return block_name(fn, to);
    const char *label = ptx_new_label(fn);
    *ir_push(fn->w->arena, late) = (late_edge){edge, label};
    return label;
}

static void write_late_edges(ptx_func *fn, const ir_block *b, const late_edges *late) {
    foreach_in (const late_edge, e, *late) {
        ptx_label(fn, e->label);
        write_copies(fn, b->succ[e->edge], ptx_place_of_edge(fn, b, e->edge));
        ptx_put(fn, "bra.uni %s", block_name(fn, b->succ[e->edge]));
    }
}

/* Does what follows edge `edge` of b need a phi that the other edge gives a new value? */
static bool needs_old_phis(ptx_func *fn, const ir_block *b, unsigned edge) {
    const ir_block *to = b->succ[edge], *other = b->succ[!edge];
    const ir_live *live = ir_liveness(fn->f);
    unsigned from = ptx_place_of_edge(fn, b, edge);
    foreach_phi (phi, other)
        if (phi == ir_arg(ir_term(b), 0) || ir_is_live(live, &live->in[to->id], phi)) return true;
    foreach_phi (phi, to) {
        const ir_inst *v = ir_arg(phi, from);
        if (v->op == IR_OP_phi && v->block == other) return true;
    }
    return false;
}

/* Should ptxas unroll a loop that ends with this branch?  It does not pay if the loop has a second
 * test, which each copy needs, nor if loads of several work-items are there together already. */
static bool may_be_unrolled(const ptx_func *fn, const ir_block *b) {
    const ir_op test = (ir_op)ir_arg(ir_term(b), 0)->op;
    const uint32_t *items = fn->f->attrs.coarsened;
    return test != IR_OP_and && test != IR_OP_or && !(items[0] || items[1] || items[2]);
}

/* The edge of a branch to the header of a loop whose copies can be made before the branch; 2: there
 * is none.  Such a branch is the loop's last instruction, and ptxas unrolls those loops. */
static unsigned edge_to_header(ptx_func *fn, const ir_block *b) {
    if (!may_be_unrolled(fn, b)) return 2;
    for (unsigned edge = 0; edge < 2; edge++) {
        const ir_block *to = b->succ[edge];
        bool back =
            has_phis(to) && to != b->succ[!edge] && ir_block_dominates(ir_dominators(fn->f), to, b);
        if (back && !needs_old_phis(fn, b, !edge)) return edge;
    }
    return 2;
}

/* Do all threads of a warp go the same way?  ptxas unrolls no loops whose branch back says so. */
static const char *uniform(ptx_func *fn, const ir_block *b, unsigned edge) {
    bool back = ir_block_dominates(ir_dominators(fn->f), b->succ[edge], b);
    return ir_term(b)->flags & IR_UNIFORM && !back ? ".uni" : "";
}

static void write_branch(ptx_func *fn, const ir_block *b, const ir_inst *i) {
    late_edges late = {0};
    unsigned header = edge_to_header(fn, b);
    if (header < 2) write_copies(fn, b->succ[header], ptx_place_of_edge(fn, b, header));
    const char *test = ptx_register(fn, ir_arg(i, 0), 0);
    unsigned jump = header < 2 ? header : b->succ[0] == b->next; /* the edge that is a jump */
    ptx_put(fn, "@%s%s bra%s %s", jump ? "!" : "", test, uniform(fn, b, jump),
            header < 2 ? block_name(fn, b->succ[header]) : edge_label(fn, b, jump, &late));
    write_copies(fn, b->succ[!jump], ptx_place_of_edge(fn, b, !jump));
    if (late.n || b->succ[!jump] != b->next)
        ptx_put(fn, "bra.uni %s", block_name(fn, b->succ[!jump]));
    write_late_edges(fn, b, &late);
}

/* The cases of a switch that is a table: of numbers from `least` on, which are extended by sign. */
typedef struct {
    int64_t least;
    uint64_t span; /* from the least to the greatest one */
} case_table;

enum { LEAST_TABLE = 6, MOST_GAPS = 3 }; /* cases; places of the table for each */

static int64_t case_number(const ptx_func *fn, const ir_inst *i, unsigned n) {
    const ir_inst *v = ir_arg(i, n);
    return ir_sext(v->imm.bits, ir_bits(fn->w->m, v->type));
}

/* False: there are too few of them, or they lie too far apart. */
static bool find_table(const ptx_func *fn, const ir_inst *i, case_table *out) {
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (unsigned n = 1; n < i->nargs; n++) {
        const int64_t number = case_number(fn, i, n);
        if (number < least) least = number;
        if (number > most) most = number;
    }
    *out = (case_table){least, (uint64_t)most - (uint64_t)least};
    return i->nargs > LEAST_TABLE && out->span < (uint64_t)i->nargs * MOST_GAPS;
}

/* Where the table leads: the labels of the cases, and of the default in gaps. */
static void list_targets(ptx_func *fn, const ir_block *b, const ir_inst *i, const case_table *t,
                         late_edges *late) {
    const char *otherwise = edge_label(fn, b, 0, late), *test = ptx_temporary(fn, PTX_PRED);
    const char **target = ir_new_array(fn->w->arena, const char *, t->span + 1);
    bool is_wide = ir_bits(fn->w->m, ir_arg(i, 0)->type) == 64;
    const char *at = ptx_temporary(fn, PTX_B32), *table = ptx_new_label(fn), *all = at;
    const char *x = ptx_extended(fn, ir_arg(i, 0), 0, true);
    if (is_wide) all = ptx_temporary(fn, PTX_B64);
    for (unsigned n = 1; n < i->nargs; n++)
        target[(uint64_t)case_number(fn, i, n) - (uint64_t)t->least] = edge_label(fn, b, n, late);
    ptx_put(fn, "sub.s%d %s, %s, %lld", is_wide ? 64 : 32, all, x, (long long)t->least);
    ptx_put(fn, "setp.gt.u%d %s, %s, %llu", is_wide ? 64 : 32, test, all,
            (unsigned long long)t->span);
    ptx_put(fn, "@%s bra%s %s", test, uniform(fn, b, 0), otherwise);
    if (is_wide) ptx_put(fn, "cvt.u32.u64 %s, %s", at, all);
    ir_putf(&fn->body, "%s: .branchtargets ", table);
    for (uint64_t n = 0; n <= t->span; n++)
        ir_putf(&fn->body, "%s%s", n ? ", " : "", target[n] ? target[n] : otherwise);
    ptx_end(fn);
    ptx_put(fn, "brx.idx%s %s, %s", ir_term(b)->flags & IR_UNIFORM ? ".uni" : "", at, table);
}

static void compare_with_cases(ptx_func *fn, const ir_block *b, const ir_inst *i,
                               late_edges *late) {
    const ir_inst *x = ir_arg(i, 0);
    bool wide = ir_bits(fn->w->m, x->type) == 64;
    const char *value = ptx_extended(fn, x, 0, false);
    for (unsigned n = 1; n < i->nargs; n++) {
        const char *test = ptx_temporary(fn, PTX_PRED);
        ptx_put(fn, "setp.eq.%s %s, %s, %s", wide ? "u64" : "u32", test, value,
                ptx_extended(fn, ir_arg(i, n), 0, false));
        ptx_put(fn, "@%s bra%s %s", test, uniform(fn, b, n), edge_label(fn, b, n, late));
    }
    write_copies(fn, b->succ[0], ptx_place_of_edge(fn, b, 0));
    if (late->n || b->succ[0] != b->next) ptx_put(fn, "bra.uni %s", block_name(fn, b->succ[0]));
}

static void write_switch(ptx_func *fn, const ir_block *b, const ir_inst *i) {
    late_edges late = {0};
    case_table table;
    if (find_table(fn, i, &table))
        list_targets(fn, b, i, &table, &late);
    else
        compare_with_cases(fn, b, i, &late);
    write_late_edges(fn, b, &late);
}

static void write_end(ptx_func *fn, const ir_block *b) {
    const ir_inst *i = ir_term(b);
    switch (i->op) {
    case IR_OP_jmp: go_on(fn, b, 0); break;
    case IR_OP_br: write_branch(fn, b, i); break;
    case IR_OP_switch: write_switch(fn, b, i); break;
    case IR_OP_ret: ptx_put(fn, "ret"); break;
    default: ptx_put(fn, "trap"); break;
    }
}

/* ------------------------------------------------------------------------------------ functions */

static void write_block(ptx_func *fn, const ir_block *b) {
    ptx_label(fn, block_name(fn, b));
    foreach_inst (i, b) {
        fn->inst = i;
        ir_look_at(fn->w->cx, i);
        if (i->op != IR_OP_phi && !ir_is_terminator(i)) ptx_write_inst(fn, i);
    }
    write_end(fn, b);
    fn->inst = NULL;
}

static void declare_registers(const ptx_func *fn, ir_text *t) {
    for (ptx_class c = 0; c < PTX_CLASSES; c++)
        if (fn->count[c])
            ir_putf(t, "\t.reg .%s %s<%u>;\n", ptx_class_type(c), ptx_class_prefix(c),
                    fn->count[c]);
}

/* What whoever launches the kernel has to know. */
static void write_coarsening(ir_text *t, const uint32_t items[3]) {
    static const char *const format =
        "\n// A thread runs %u work-items along x, %u along y, %u along z.";
    if (!items[0] && !items[1] && !items[2]) return;
    ir_putf(t, format, items[0] ? items[0] : 1, items[1] ? items[1] : 1, items[2] ? items[2] : 1);
}

static void write_head(ptx_func *fn, ir_text *t) {
    const uint32_t *size = fn->f->attrs.local_size;
    write_coarsening(t, fn->f->attrs.coarsened);
    ir_putf(t, "\n.visible .entry %s(", ptx_name(fn->w, fn->f->name));
    declare_params(fn, t);
    ir_put(t, ")\n");
    const unsigned most = fn->w->options->threads;
    if (size[0])
        ir_putf(t, ".reqntid %u, %u, %u\n", size[0], size[1], size[2]);
    else if (most)
        ir_putf(t, ".maxntid %u, 1, 1\n", most);
}

enum { MOST_STATIC = 48 << 10 };

/* Do the items of a work-group need memory for what it does together? */
static bool shares_values(const ir_inst *i) {
    bool collects = i->op >= IR_OP_group_add && i->op <= IR_OP_group_xor;
    return (collects || i->op == IR_OP_group_broadcast) && i->imm.group.scope == IR_SCOPE_WORKGROUP;
}

/* Bytes of local memory that the kernel uses besides its arguments. */
static uint64_t static_local(ptx_func *fn) {
    bool *seen = ir_new_array(fn->w->arena, bool, fn->f->next_id), shares = false;
    uint64_t bytes = 0;
    foreach_block (b, fn->f)
        foreach_inst (i, b) {
            shares |= shares_values(i);
            for (unsigned n = 0; n < i->nargs; n++) {
                const ir_inst *v = ir_arg(i, n);
                if (v->op != IR_OP_address || v->type != ir_ptr(IR_LOCAL) || seen[v->id]) continue;
                seen[v->id] = true;
                bytes += ir_sizeof(fn->w->m, v->imm.global->type);
            }
        }
    return bytes + (shares ? PTX_GROUP_BYTES : 0);
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
    const uint64_t local = static_local(&fn);
    if (local > MOST_STATIC)
        ptx_refuse(&fn, "it has variables of %llu bytes in local memory, PTX allows %d",
                   (unsigned long long)local, MOST_STATIC);
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
