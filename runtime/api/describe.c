/* describe.c — kernels as the API shows them: arguments, attributes, local memory, refusals.
 *
 * The description of a module is made once, when it is loaded or has changed, and lives as long as
 * the module.  A kernel is refused for what it calls, too: the reasons are those of inlining, which
 * is not run for that.
 */
#include "runtime/api/runtime.h"

spvf_arg_info rt_arg_info(const ir_module *m, ir_type t, const ir_param *p) {
    spvf_arg_info info = {
        .name = p->name, .type_name = p->type_name, .kind = (spvf_arg_kind)ir_arg_kind_of(t, p)};
    if (info.kind == SPVF_ARG_VALUE) {
        bool byval = ir_is_ptr(t);
        info.size = byval ? p->byval_size : ir_sizeof(m, t);
        info.align = byval ? p->align : (uint32_t)ir_alignof(m, t);
        info.floating =
            ir_is_float(ir_elem(t)) && ir_elem(t) != IR_BF16; /* C has no such numbers */
        info.numbers = info.floating || ir_is_int(ir_elem(t)) ? ir_lanes(t) : 0;
    } else {
        info.align = p->align;
    }
    info.constant = ir_is_ptr(t) && ir_space_of(t) == IR_CONST;
    info.read_only = info.constant || (p->attrs & IR_PARAM_READONLY);
    info.member = p->closure != 0;
    info.padding = (p->attrs & IR_PARAM_PADDING) != 0;
    info.closure = p->closure ? p->closure - 1 : 0;
    info.offset = p->offset;
    info.specialized = (p->attrs & IR_PARAM_SPECIALIZED) != 0;
    info.no_alias = (p->attrs & IR_PARAM_NOALIAS) != 0;
    info.special = p->special;
    info.special_arg = p->special_arg;
    info.spilled = (p->attrs & IR_PARAM_SPILLED) != 0;
    if (info.spilled) info.size = p->byval_size;
    return info;
}

const spvf_arg_info *const *rt_copy_args(ir_arena *a, const spvf_arg_info *const *from, size_t n) {
    spvf_arg_info *args = ir_new_array(a, spvf_arg_info, n);
    for (size_t k = 0; k < n; k++) {
        args[k] = *from[k];
        if (args[k].name) args[k].name = ir_strdup(a, args[k].name);
        if (args[k].type_name) args[k].type_name = ir_strdup(a, args[k].type_name);
    }
    return RT_LIST(a, args, n);
}

/* Parameters that were none of a struct are known, or follow what is before them.  What the kernel
 * does not write through is read-only, whatever its source promises: pointers in structs have no
 * promises. */
rt_args rt_describe_args(spvf_module *m, const ir_func *f) {
    spvf_arg_info *args = ir_new_array(&m->arena, spvf_arg_info, f->nparams);
    bool *written = ir_new_array(&m->arena, bool, f->nparams + 1);
    pass_find_written(f, written);
    for (uint32_t i = 0; i < f->nparams; i++) {
        args[i] = rt_arg_info(m->ir, f->param_val[i]->type, &f->param[i]);
        args[i].read_only |= args[i].kind == SPVF_ARG_BUFFER && !written[i];
        args[i].used = f->param_val[i]->uses != NULL;
        args[i].access = rt_arg_access(m, f, i);
        if (args[i].read_only) args[i].access &= SPVF_ACCESS_READ;
        if (args[i].member) continue;
        const rt_arg_origin *origin = ir_map_get(&m->origins, (uintptr_t)f->param_val[i]);
        if (origin)
            args[i].closure = origin->index;
        else if (i)
            args[i].closure = args[i - 1].closure + 1;
    }
    return (rt_args){args, f->nparams};
}

static void describe_kernel(spvf_module *m, const ir_func *f, rt_local_use *local,
                            spvf_kernel_info *k) {
    const rt_args args = rt_describe_args(m, f), *kept = ir_map_get(&m->host_args, (uintptr_t)f);
    const rt_args *all = ir_map_get(&m->lowered_args, (uintptr_t)f), host = all ? *kept : args;
    const spvf_arg_info *const *list = RT_LIST(&m->arena, args.list, args.n);
    const spvf_arg_info *const *host_list = all ? RT_LIST(&m->arena, host.list, host.n) : list;
    if (!all) all = &args;
    *k = (spvf_kernel_info){.name = f->name,
                            .args = list,
                            .arg_count = args.n,
                            .required_subgroup_size = f->attrs.subgroup_size,
                            .local_memory = rt_local_memory(local, f),
                            .refusal = f->refusal,
                            .host_args = host_list,
                            .host_arg_count = host.n,
                            .all_arg_count = all->n,
                            .arg_mask = rt_mask_args(m, all, &args)};
    memcpy(k->required_local_size, f->attrs.local_size, sizeof k->required_local_size);
    memcpy(k->local_size_hint, f->attrs.hint, sizeof k->local_size_hint);
}

typedef struct {
    spvf_module *module;
    ir_arena scratch;
} description;

/* What the kernel calls decides whether it can be used as much as what it is. */
static void note_refusal(void *user, const ir_func *kernel, const char *why) {
    spvf_module *m = user;
    for (size_t i = 0; i < m->kernel_count; i++)
        if (strcmp(m->kernels[i].name, kernel->name) == 0)
            m->kernels[i].refusal = ir_strdup(&m->arena, why);
}

static void describe_kernels(void *arg) {
    description *d = arg;
    spvf_module *m = d->module;
    rt_local_use *local = rt_local_use_new(m->ir, &d->scratch);
    spvf_kernel_info *next = m->kernels;
    foreach_func (f, m->ir)
        if (f->flags & IR_FUNC_KERNEL) describe_kernel(m, f, local, next++);
    pass_find_refusals(m->ir, &d->scratch, note_refusal, m);
}

void rt_module_describe(spvf_module *m) {
    description d = {.module = m};
    m->kernel_count = 0;
    foreach_func (f, m->ir) m->kernel_count += (f->flags & IR_FUNC_KERNEL) != 0;
    m->kernels = ir_new_array(&m->arena, spvf_kernel_info, m->kernel_count);
    ir_arena_init(&d.scratch, &m->context->cx);
    bool ok = ir_try(&m->context->cx, describe_kernels, &d);
    ir_arena_free(&d.scratch);
    if (!ok) ir_throw(&m->context->cx, m->context->cx.status);
}

size_t spvf_module_kernel_count(const spvf_module *m) { return m ? m->kernel_count : 0; }

const spvf_kernel_info *spvf_module_kernel(const spvf_module *m, size_t index) {
    return m && index < m->kernel_count ? &m->kernels[index] : NULL;
}

const spvf_kernel_info *spvf_module_find_kernel(const spvf_module *m, const char *name) {
    const size_t n = m && name ? m->kernel_count : 0;
    for (size_t i = 0; i < n; i++)
        if (m->kernels[i].name == name) return &m->kernels[i];
    for (size_t i = 0; i < n; i++)
        if (strcmp(m->kernels[i].name, name) == 0) return &m->kernels[i];
    return NULL;
}

size_t spvf_module_spec_count(const spvf_module *m) { return m ? m->ir->specs.n : 0; }

spvf_status spvf_module_spec(const spvf_module *m, size_t index, spvf_spec_value *value,
                             uint32_t *bits) {
    if (!m || !value) return rt_refuse_call(m ? m->context : NULL, __func__, "value is NULL");
    if (index >= m->ir->specs.n)
        return rt_refuse_call(m->context, __func__, "there is no constant %zu among %u", index,
                              m->ir->specs.n);
    const ir_spec *s = &m->ir->specs.data[index];
    *value = (spvf_spec_value){s->id, s->value};
    if (bits) *bits = ir_bits(m->ir, s->type);
    return SPVF_OK;
}
