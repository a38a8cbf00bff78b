/* func.c — functions: parameters, blocks in reverse post-order, lines, terminators.
 *
 * A function is written into three sections: its head with the variables of the entry block, casts
 * of what is known from the start, and the rest.  So variables and casts can still be added while
 * the body is written.  In reverse post-order, definitions come before uses, except for operands of
 * phis, which are filled in when the function is complete (phi.c).
 *
 * SPIR-V forbids calls of entry points.  A kernel that is called is written as a function, and its
 * entry point is a second function that calls it.
 */
#include "codegen/spirv/spirv.h"

/* ----------------------------------------------------------------------------------- signatures */

static uint32_t function_control(const ir_func *f) {
    uint32_t mask = 0;
    if (f->flags & IR_FUNC_INLINE) mask |= SpvFunctionControlInlineMask;
    if (f->flags & IR_FUNC_NOINLINE) mask |= SpvFunctionControlDontInlineMask;
    if (f->flags & IR_FUNC_PURE) mask |= SpvFunctionControlPureMask;
    if (f->flags & IR_FUNC_CONST) mask |= SpvFunctionControlConstMask;
    return mask;
}

void sw_begin_function(sw_writer *w, const sw_info *info, sw_section s, uint32_t id) {
    uint32_t type = sw_function_type(w, info), ret = sw_type(w, info->f->ret);
    sw_put_result(w, s, SpvOpFunction, (sw_result){ret, id},
                  SW_LIST(function_control(info->f), type));
}

static void decorate_param(sw_writer *w, uint32_t id, const ir_param *p) {
    static const struct {
        uint32_t flag, attribute;
    } attributes[] = {
        {IR_PARAM_ZEXT, SpvFunctionParameterAttributeZext},
        {IR_PARAM_SEXT, SpvFunctionParameterAttributeSext},
        {IR_PARAM_BYVAL, SpvFunctionParameterAttributeByVal},
        {IR_PARAM_SRET, SpvFunctionParameterAttributeSret},
        {IR_PARAM_NOALIAS, SpvFunctionParameterAttributeNoAlias},
        {IR_PARAM_NOCAPTURE, SpvFunctionParameterAttributeNoCapture},
        {IR_PARAM_READONLY, SpvFunctionParameterAttributeNoWrite},
        {IR_PARAM_NOACCESS, SpvFunctionParameterAttributeNoReadWrite},
    };
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (p->attrs & attributes[i].flag)
            sw_decorate(w, id, SpvDecorationFuncParamAttr, SW_LIST(attributes[i].attribute));
    if (p->attrs & IR_PARAM_VOLATILE) sw_decorate0(w, id, SpvDecorationVolatile);
    if (p->attrs & IR_PARAM_RESTRICT) sw_decorate0(w, id, SpvDecorationRestrict);
    if (p->attrs & IR_PARAM_SPECIALIZED) sw_decorate_semantic(w, id, "specialized");
    if (p->align) sw_decorate(w, id, SpvDecorationAlignment, SW_LIST(p->align));
}

void sw_write_params(sw_writer *w, const sw_info *info, sw_section s, uint32_t *ids) {
    const ir_func *f = info->f;
    for (uint32_t n = 0; n < f->nparams; n++) {
        const ir_inst *p = f->param_val[n];
        const char *name = f->param[n].name;
        uint32_t type = ir_is_ptr(p->type)
                            ? sw_pointer_type(w, ir_space_of(p->type), sw_param_pointee(info, n))
                            : sw_type(w, p->type);
        ids[n] = sw_new_id(w);
        sw_put_result(w, s, SpvOpFunctionParameter, (sw_result){type, ids[n]}, SW_NONE);
        sw_name(w, ids[n], name ? name : ir_name_of(f, p));
        decorate_param(w, ids[n], &f->param[n]);
    }
}

/* ---------------------------------------------------------------------------------------- lines */

static uint32_t file_id(sw_writer *w, uint32_t file) {
    if (!w->file) w->file = ir_new_array(w->arena, uint32_t, w->m->files.n);
    if (!w->file[file]) {
        w->file[file] = sw_new_id(w);
        sw_put_string(
            w, SEC_STRING, SpvOpString,
            (sw_text){.before = SW_LIST(w->file[file]), .string = w->m->files.data[file]});
    }
    return w->file[file];
}

static bool same_line(const ir_line *a, const ir_line *b) {
    return a && a->file == b->file && a->line == b->line && a->column == b->column;
}

static void put_line(sw_func *fn, const ir_inst *i) {
    const ir_module *m = fn->w->m;
    if (m->lines.n == 0 || fn->w->options.no_lines || i->loc == 0) return;
    const ir_line *line = ir_line_of(m, i->loc);
    if (!line || line->line == 0 || line->file >= m->files.n || same_line(fn->line, line)) return;
    sw_emit(fn, SpvOpLine, SW_LIST(file_id(fn->w, line->file), line->line, line->column));
    fn->line = line;
}

/* --------------------------------------------------------------------------------------- blocks */

static void put_switch(sw_func *fn, const ir_inst *i, uint32_t selector) {
    const ir_block *b = fn->block;
    bool wide = ir_kind_of(ir_arg(i, 0)->type) == IR_I64;
    sw_make_edge_blocks(fn, b);
    uint32_t *operands = ir_new_array(fn->w->arena, uint32_t, 2 + 3 * (size_t)b->nsucc), n = 0;
    operands[n++] = selector;
    operands[n++] = sw_edge_label(fn, b, b->succ[0]);
    for (uint32_t k = 1; k < b->nsucc; k++) {
        uint64_t value = ir_arg(i, k)->imm.bits;
        operands[n++] = (uint32_t)value;
        if (wide) operands[n++] = (uint32_t)(value >> 32);
        operands[n++] = sw_edge_label(fn, b, b->succ[k]);
    }
    sw_emit(fn, SpvOpSwitch, (sw_list){n, operands});
    sw_write_edge_blocks(fn, b);
}

static uint32_t switch_selector(sw_func *fn, const ir_inst *i) {
    uint32_t selector = sw_arg(fn, i, 0);
    if (!ir_is_bool(ir_arg(i, 0)->type)) return selector;
    return sw_emit_result(fn, SpvOpSelect, sw_type(fn->w, IR_I32),
                          SW_LIST(selector, sw_u32(fn->w, 1), sw_u32(fn->w, 0)));
}

static void put_branch(sw_func *fn, const ir_block *b, uint32_t condition) {
    uint32_t taken = fn->blocks.label[b->succ[0]->id];
    if (b->nsucc == 1 || b->succ[0] == b->succ[1])
        sw_emit(fn, SpvOpBranch, SW_LIST(taken));
    else
        sw_emit(fn, SpvOpBranchConditional,
                SW_LIST(condition, taken, fn->blocks.label[b->succ[1]->id]));
}

static void put_return(sw_func *fn, const ir_inst *i) {
    if (i->nargs == 0) {
        sw_emit(fn, SpvOpReturn, SW_NONE);
        return;
    }
    sw_emit(fn, SpvOpReturnValue, SW_LIST(sw_value_as(fn, ir_arg(i, 0), IR_I8)));
}

/* What computes the operands of the terminator precedes the merge instruction. */
static void put_terminator(sw_func *fn, const ir_inst *i) {
    uint32_t condition = i->op == IR_OP_switch ? switch_selector(fn, i)
                         : i->op == IR_OP_br   ? sw_arg(fn, i, 0)
                                               : 0;
    sw_cast_for_phis(fn, fn->block);
    sw_write_loop_merge(fn, fn->block);
    switch ((ir_op)i->op) {
    case IR_OP_switch: put_switch(fn, i, condition); break;
    case IR_OP_ret: put_return(fn, i); break;
    case IR_OP_unreachable: sw_emit(fn, SpvOpUnreachable, SW_NONE); break;
    default: put_branch(fn, fn->block, condition);
    }
}

static void write_block(sw_func *fn, ir_block *b) {
    fn->block = b;
    fn->line = NULL;
    sw_put(fn->w, b == fn->f->first ? SEC_HEAD : SEC_BODY, SpvOpLabel,
           SW_LIST(fn->blocks.label[b->id]));
    sw_name(fn->w, fn->blocks.label[b->id], b->name);
    foreach_inst (i, b) {
        if (!fn->info->typing.needed[i->id]) continue;
        fn->inst = i;
        put_line(fn, i);
        if (ir_is_terminator(i))
            put_terminator(fn, i);
        else
            sw_emit_inst(fn, i);
    }
    fn->inst = NULL;
}

/* ------------------------------------------------------------------------------------ functions */

static void append_section(sw_writer *w, sw_section to, sw_section from) {
    for (uint32_t i = 0; i < w->out.section[from].n; i++)
        *ir_push(w->arena, &w->out.section[to]) = w->out.section[from].data[i];
    w->out.section[from].n = 0;
}

static void end_function(sw_writer *w) {
    append_section(w, SEC_FUNCTION, SEC_HEAD);
    append_section(w, SEC_FUNCTION, SEC_CAST);
    append_section(w, SEC_FUNCTION, SEC_BODY);
    sw_put(w, SEC_FUNCTION, SpvOpFunctionEnd, SW_NONE);
}

static void prepare_function(sw_func *fn, sw_writer *w, sw_info *info) {
    ir_func *f = info->f;
    *fn = (sw_func){.w = w, .f = f, .info = info, .dom = ir_dominators(f), .visits.now = 1};
    fn->id = ir_new_array(w->arena, uint32_t, f->next_id);
    fn->cast = ir_new_array(w->arena, sw_cast *, f->next_id);
    fn->blocks.label = ir_new_array(w->arena, uint32_t, f->next_block);
    fn->blocks.exit = ir_new_array(w->arena, uint32_t, f->next_block);
    fn->visits.walk = ir_new_array(w->arena, uint32_t, f->next_block);
    fn->blocks.is_merge = ir_new_array(w->arena, bool, f->next_block);
    for (uint32_t k = 0; k < fn->dom->order.n; k++) {
        uint32_t block = fn->dom->order.rpo[k]->id;
        fn->blocks.label[block] = fn->blocks.exit[block] = sw_new_id(w);
    }
}

static void write_body(sw_writer *w, sw_info *info) {
    sw_func fn;
    uint32_t *params = ir_new_array(w->arena, uint32_t, info->f->nparams);
    prepare_function(&fn, w, info);
    sw_begin_function(w, info, SEC_HEAD, info->id);
    sw_write_params(w, info, SEC_HEAD, params);
    for (uint32_t n = 0; n < info->f->nparams; n++) fn.id[info->f->param_val[n]->id] = params[n];
    for (uint32_t k = 0; k < fn.dom->order.n; k++) write_block(&fn, fn.dom->order.rpo[k]);
    sw_fill_phis(&fn);
    end_function(w);
}

/* The entry point of a kernel that is called: a function that calls it. */
static void write_wrapper(sw_writer *w, const sw_info *info) {
    uint32_t *operands = ir_new_array(w->arena, uint32_t, info->f->nparams + 1);
    uint32_t type = sw_type(w, info->f->ret);
    operands[0] = info->id;
    sw_begin_function(w, info, SEC_FUNCTION, info->entry);
    sw_write_params(w, info, SEC_FUNCTION, operands + 1);
    sw_put(w, SEC_FUNCTION, SpvOpLabel, SW_LIST(sw_new_id(w)));
    sw_put_result(w, SEC_FUNCTION, SpvOpFunctionCall, (sw_result){type, sw_new_id(w)},
                  (sw_list){info->f->nparams + 1, operands});
    sw_put(w, SEC_FUNCTION, SpvOpReturn, SW_NONE);
    sw_put(w, SEC_FUNCTION, SpvOpFunctionEnd, SW_NONE);
}

void sw_write_function(sw_writer *w, sw_info *info) {
    const ir_func *f = info->f;
    bool kernel = (f->flags & IR_FUNC_KERNEL) != 0, split = kernel && info->entry != info->id;
    sw_name(w, info->id, split ? ir_sprintf(w->arena, "%s.body", f->name) : f->name);
    if (!kernel && f->flags & IR_FUNC_EXPORT) sw_decorate_linkage(w, info->id, f->name, false);
    write_body(w, info);
    if (!split) return;
    sw_name(w, info->entry, f->name);
    write_wrapper(w, info);
}

void sw_declare_function(sw_writer *w, sw_info *info) {
    uint32_t *params = ir_new_array(w->arena, uint32_t, info->f->nparams);
    sw_name(w, info->id, info->f->name);
    sw_decorate_linkage(w, info->id, info->f->name, true);
    sw_begin_function(w, info, SEC_DECLARATION, info->id);
    sw_write_params(w, info, SEC_DECLARATION, params);
    sw_put(w, SEC_DECLARATION, SpvOpFunctionEnd, SW_NONE);
}
