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
    rt_arg_origin *origins = ir_new_array(&m->arena, rt_arg_origin, f->nparams);
    for (uint32_t n = 0; n < f->nparams; n++) {
        origins[n].index = n;
        ir_map_set(&m->arena, &m->origins, (uintptr_t)f->param_val[n], &origins[n]);
    }
    ir_map_set(&m->arena, &m->host_args, (uintptr_t)f, kept);
}

/* Kernels that have changed keep all arguments that they have before any is dropped. */
static void keep_lowered(spvf_module *m) {
    foreach_func (f, m->ir) {
        const rt_args *kept = ir_map_get(&m->host_args, (uintptr_t)f);
        if (!kept || (!rt_has_members(f) && f->nparams == kept->n)) continue;
        rt_args *lowered = ir_new(&m->arena, rt_args);
        *lowered = rt_describe_args(m, f);
        ir_map_set(&m->arena, &m->lowered_args, (uintptr_t)f, lowered);
    }
}

void rt_lower_closures(spvf_module *m) {
    bool any = m->ir->layout != NULL;
    pass_take_structs(m->ir, &m->arena);
    foreach_func (f, m->ir)
        if (f->flags & IR_FUNC_KERNEL && has_struct(f) && !rt_has_members(f)) {
            keep_args(m, f);
            any = true;
        }
    if (!any) return;
    run_pass(m, "closures");
    keep_lowered(m);
}

void rt_drop_padding(spvf_module *m) {
    bool any = false;
    foreach_func (f, m->ir) any |= (f->flags & IR_FUNC_KERNEL) && rt_has_members(f);
    if (any) run_pass(m, "padding");
}

/* Are they one parameter? */
static bool is_same(const spvf_arg_info *a, const spvf_arg_info *b) {
    return a->closure == b->closure && a->member == b->member && a->offset == b->offset &&
           a->special == b->special && a->special_arg == b->special_arg && a->spilled == b->spilled;
}

const uint64_t *rt_mask_args(spvf_module *m, const rt_args *all, const rt_args *left) {
    uint64_t *mask = ir_new_array(&m->arena, uint64_t, (all->n + 63) / 64);
    for (size_t n = 0, k = 0; n < all->n && k < left->n; n++) {
        if (!is_same(&all->list[n], &left->list[k])) continue;
        mask[n / 64] |= UINT64_C(1) << n % 64;
        k++;
    }
    return mask;
}

bool rt_is_size(const spvf_module *m, const spvf_kernel_info *k, size_t param) {
    if (!k->args[param]->member) return false;
    return ir_is_int(ir_func_find(m->ir, k->name)->param_val[param]->type);
}

static bool has_special(const spvf_kernel_info *k, size_t host_arg) {
    for (size_t n = 0; n < k->arg_count; n++)
        if (k->args[n]->special && k->args[n]->closure == host_arg) return true;
    return false;
}

spvf_status spvf_closure_arguments(const spvf_kernel_info *k, size_t host_arg, const void *bytes,
                                   size_t size, spvf_set_argument *set, spvf_set_argument *special,
                                   void *user) {
    if (!k || !bytes || !set || host_arg >= k->host_arg_count) return SPVF_ERROR_ARGUMENT;
    const spvf_arg_info *host = k->host_args[host_arg];
    if (host->kind != SPVF_ARG_VALUE || host->size != size) return SPVF_ERROR_ARGUMENT;
    if (!special && has_special(k, host_arg)) return SPVF_ERROR_ARGUMENT;
    for (size_t n = 0; n < k->arg_count; n++) {
        const spvf_arg_info *a = k->args[n];
        if (a->closure == host_arg)
            (a->special ? special : set)(user, n, (const char *)bytes + a->offset);
    }
    return SPVF_OK;
}
