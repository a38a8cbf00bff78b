/* regions_print.c — printf becomes a call of the function that info names (ir/launch.h).
 *
 * The arguments are in scratch memory, each at a multiple of 8 bytes.  The result is -1 if there is
 * no such function.  A scalar float is passed as a double, as in C.  The format is a constant of
 * the module.
 */
#include "passes/workgroup/regions_impl.h"

#define FIELD(name) offsetof(ir_group_info, name)

static ir_inst *make_format(pass_group_builder *g, const char *format) {
    ir_module *m = g->f->module;
    size_t n = strlen(format) + 1;
    ir_type bytes = ir_array_type(m, IR_I8, (uint32_t)n);
    ir_global *text =
        ir_global_new(m, ir_sprintf(&m->arena, "%s.format", g->f->name), IR_CONST, bytes);
    text->constant = true;
    text->init = ir_dup(&m->arena, format, n);
    return ir_address(g->f, text);
}

/* An argument as it is in memory. */
static ir_inst *extend_argument(ir_builder *b, ir_inst *v) {
    if (!ir_is_float(v->type) || ir_is_vector(v->type) || v->type == IR_F64) return v;
    return ir_build1(b, IR_OP_fpcast, IR_F64, v);
}

static uint64_t size_in_memory(const pass_group_builder *g, const ir_inst *v) {
    return (ir_access_size(g->f->module, v->type) + 7) & ~UINT64_C(7);
}

/* Puts the arguments one after the other; *bytes is their size. */
static ir_inst *store_arguments(pass_group_builder *g, ir_builder *b, const ir_inst *i,
                                uint64_t *bytes) {
    uint64_t at = 0;
    *bytes = 0;
    for (unsigned n = 0; n < i->nargs; n++) *bytes += size_in_memory(g, ir_arg(i, n));
    ir_inst *arguments = pass_group_storage(g, *bytes);
    for (unsigned n = 0; n < i->nargs; n++) {
        ir_inst *v = extend_argument(b, ir_arg(i, n)), *offset = ir_const(g->f, IR_I64, at);
        ir_build_store(b, v, ir_build_ptradd(b, arguments, offset, true), 1, 0);
        at += size_in_memory(g, v);
    }
    return arguments;
}

static void replace_print(pass_group_builder *g, ir_inst *i) {
    ir_builder b;
    uint64_t bytes;
    ir_block *before = i->block, *after = ir_split_block(before, i);
    ir_block *calls = ir_block_new(g->f, NULL);
    ir_inst *print = pass_info_field(g, FIELD(print), ir_ptr(IR_CONST));
    ir_inst *user = pass_info_field(g, FIELD(user), ir_ptr(IR_CONST));
    ir_builder_init(&b, g->f);
    ir_at_end(&b, before);
    ir_inst *there = ir_build2(&b, IR_OP_ne, IR_I1, print, ir_const(g->f, print->type, 0));
    ir_build_br(&b, there, calls, after);
    ir_at_end(&b, calls);
    ir_inst *arguments = store_arguments(g, &b, i, &bytes);
    ir_inst *args[] = {print, user, make_format(g, i->imm.string), arguments,
                       ir_const(g->f, IR_I64, bytes)};
    ir_inst *call = ir_build_raw(&b, IR_OP_host_call, IR_I32, IR_PLAIN, (ir_args){5, args});
    ir_build_jmp(&b, after);
    ir_inst *result =
        ir_append_arg(ir_build_phi(after, IR_I32), ir_const(g->f, IR_I32, UINT32_MAX));
    result = ir_append_arg(result, call);
    ir_replace_uses(i, result);
    ir_remove(i);
}

void pass_expand_prints(pass_group_builder *g) {
    ir_vec(ir_inst *) list = {0};
    foreach_block (b, g->f)
        foreach_inst (i, b)
            if (i->op == IR_OP_printf) *ir_push(g->scratch, &list) = i;
    while (list.n)
        replace_print(g, list.data[--list.n]); /* each splits what is before the last one */
}
