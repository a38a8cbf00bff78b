/* closures.c — structs by value whose members are parameters: what the host gives, and what kernels
 * take.
 *
 * A host sets the arguments that a kernel had as it was read.  The module keeps them for kernels
 * that pass `closures` has changed; each parameter says where its bytes are in them.
 */
#include "runtime/api/runtime.h"

static void run_pass(const spvf_module *m, const char *name) {
    ir_ctx *cx = &m->context->cx;
    const pass_options options = {.passes = name, .bisect = -1};
    if (!pass_run(m->ir, &options)) ir_throw(cx, cx->status);
}

static bool has_struct(const ir_func *f) {
    bool found = false;
    for (uint32_t n = 0; n < f->nparams; n++) found |= (f->param[n].attrs & IR_PARAM_BYVAL) != 0;
    return found;
}

bool rt_has_members(const ir_func *f) {
    bool found = false;
    for (uint32_t n = 0; n < f->nparams; n++) found |= f->param[n].closure != 0;
    return found;
}

static void keep_args(spvf_module *m, const ir_func *f) {
    rt_args *kept = ir_new(&m->arena, rt_args);
    *kept = rt_describe_args(m, f);
    ir_map_set(&m->arena, &m->host_args, (uintptr_t)f, kept);
}

void rt_lower_closures(spvf_module *m) {
    bool any = false;
    foreach_func (f, m->ir)
        if (f->flags & IR_FUNC_KERNEL && has_struct(f) && !rt_has_members(f)) {
            keep_args(m, f);
            any = true;
        }
    if (any) run_pass(m, "closures");
}

void rt_drop_padding(spvf_module *m) {
    bool any = false;
    foreach_func (f, m->ir) any |= (f->flags & IR_FUNC_KERNEL) && rt_has_members(f);
    if (any) run_pass(m, "padding");
}

bool rt_is_size(const spvf_module *m, const spvf_kernel_info *k, size_t param) {
    if (!k->args[param].member) return false;
    return ir_is_int(ir_func_find(m->ir, k->name)->param_val[param]->type);
}

spvf_status spvf_closure_arguments(const spvf_kernel_info *k, size_t host_arg, const void *bytes,
                                   size_t size,
                                   void (*set)(void *user, size_t index, const void *b),
                                   void *user) {
    if (!k || !bytes || !set || host_arg >= k->host_arg_count) return SPVF_ERROR_ARGUMENT;
    const spvf_arg_info *host = &k->host_args[host_arg];
    if (host->kind != SPVF_ARG_VALUE || host->size != size) return SPVF_ERROR_ARGUMENT;
    for (size_t n = 0; n < k->arg_count; n++)
        if (k->args[n].closure == host_arg) set(user, n, (const char *)bytes + k->args[n].offset);
    return SPVF_OK;
}
