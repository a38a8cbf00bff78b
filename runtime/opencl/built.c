/* built.c — SPIR-V to kernels that can be launched.  Code is made when a launch asks for it. */
#include "runtime/opencl/build.h"

#include <stdlib.h>

static void complain(ocl_build *b, const char *kernel, const char *why) {
    ir_error(&b->context->cx, "kernel '%s' cannot be used: %s", kernel, why);
}

/* Kernels of which the reader makes nothing would be missing in what is written. */
static bool has_all_kernels(ocl_build *b, const spvf_module *m) {
    bool ok = true;
    foreach_func (f, m->ir) {
        if (!(f->flags & IR_FUNC_KERNEL) || !f->refusal) continue;
        complain(b, f->name, f->refusal);
        ok = false;
    }
    return ok;
}

spvf_module *ocl_load(ocl_build *b, const char *name, const ocl_code *code) {
    const spvf_module_options o = {sizeof o, code->specs, code->spec_count};
    spvf_module *m;
    if (spvf_module_load(b->context, name, code->il, code->il_size, &o, &m) != SPVF_OK)
        ir_throw(&b->context->cx, b->context->cx.status);
    if (has_all_kernels(b, m)) return m;
    spvf_module_destroy(m);
    ir_throw(&b->context->cx, IR_ERR_REFUSED);
}

typedef struct {
    ocl_build *build;
    const ocl_code *code;
    ocl_built *built;
} making;

static bool asks_subgroup(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (ir_asks_subgroup(i)) return true;
    return false;
}

/* Why no launch can run the kernel, or NULL. */
static const char *refusal_of(ir_arena *a, const spvf_kernel_info *k, const ir_func *f) {
    if (k->refusal) return k->refusal;
    if (k->required_subgroup_size > 1 && asks_subgroup(f))
        return ir_sprintf(a,
                          "it requires sub-groups of %u work-items; those of the device have one",
                          k->required_subgroup_size);
    for (size_t n = 0; n < k->arg_count; n++) {
        const spvf_arg_info *arg = &k->args[n];
        const char *name = arg->name ? arg->name : ir_sprintf(a, "%zu", n);
        if (arg->kind == SPVF_ARG_IMAGE)
            return ir_sprintf(a, "argument '%s' is an image, which the device has not", name);
        if (arg->kind == SPVF_ARG_SAMPLER)
            return ir_sprintf(a, "argument '%s' is a sampler, which the device has not", name);
    }
    return NULL;
}

/* Every kernel that cannot be used is a message. */
static void check_kernels(const making *m) {
    const spvf_kernel_info *k;
    bool ok = true;
    for (size_t n = 0; (k = spvf_module_kernel(m->built->module, n)); n++) {
        const ir_func *f = ir_func_find(m->built->module->ir, k->name);
        const char *why = refusal_of(&m->build->arena, k, f);
        if (why) complain(m->build, k->name, why);
        ok &= !why;
    }
    if (!ok) ir_throw(&m->build->context->cx, IR_ERR_REFUSED);
}

static void make(void *arg) {
    const making *m = arg;
    ir_ctx *cx = &m->build->context->cx;
    const spvf_kernel_info *k;
    m->built->module = ocl_load(m->build, "program", m->code);
    if (spvf_module_optimize(m->built->module, NULL) != SPVF_OK) ir_throw(cx, cx->status);
    check_kernels(m);
    m->built->native = cpu_program_new(&ocl_device()->machine, m->built->module->ir);
    for (size_t n = 0; (k = spvf_module_kernel(m->built->module, n)); n++)
        cpu_find_kernel(m->built->native, k->name);
}

static void drop(ocl_built *b) {
    if (b->native) cpu_program_free(b->native);
    spvf_module_destroy(b->module);
    free(b);
}

ocl_built *ocl_make_built(ocl_build *b, const ocl_code *code) {
    making m = {b, code, calloc(1, sizeof(ocl_built))};
    if (!m.built) ir_throw(&b->context->cx, IR_ERR_MEMORY);
    *m.built =
        (ocl_built){.context = b->context, .uniform = code->uniform, .arg_info = code->arg_info};
    atomic_init(&m.built->refs, 1);
    if (ir_try(&b->context->cx, make, &m)) return m.built;
    drop(m.built);
    ir_throw(&b->context->cx, b->context->cx.status);
}

void ocl_release_built(ocl_built *b) {
    if (atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
    spvf_context *context = b->context;
    drop(b);
    spvf_context_destroy(context);
}
