/* built.c — SPIR-V to kernels that can be launched.
 *
 * The module is read, and its kernels are examined: one that the device can never run becomes a
 * function like others, with a warning that gives the reason.  If none is left, the build fails.
 * Native code is not made here, but when a launch asks for it.  If the build asks for remarks, code
 * for a large launch is made and thrown away, and the log says what has become of its loops.
 */
#include "runtime/opencl/machine.h"
#include "runtime/opencl/build.h"
#include "runtime/system/environment.h"

#include <stdlib.h>

/* Functions that are reached by calls from the first one. */
typedef struct {
    ir_vec(const ir_func *) list;
    ir_map seen;
} reached;

static void reach(reached *r, ir_arena *a, const ir_func *f) {
    if (ir_map_get(&r->seen, (uint64_t)(uintptr_t)f)) return;
    ir_map_set(a, &r->seen, (uint64_t)(uintptr_t)f, r);
    *ir_push(a, &r->list) = f;
}

static bool asks_subgroup(ir_arena *a, const ir_func *kernel) {
    reached r = {0};
    reach(&r, a, kernel);
    for (uint32_t n = 0; n < r.list.n; n++) {
        const ir_func *f = r.list.data[n];
        foreach_block (b, f)
            foreach_inst (i, b) {
                if (ir_asks_subgroup(i)) return true;
                if (i->op == IR_OP_call) reach(&r, a, i->imm.func);
            }
    }
    return false;
}

/* Why no launch can run the kernel, as far as is known, or NULL. */
static const char *refusal_of(ir_arena *a, const ir_func *f, const spvf_kernel_info *k) {
    if (f->refusal) return f->refusal;
    if (k->required_subgroup_size && k->required_subgroup_size != ocl_subgroup_size(f) &&
        asks_subgroup(a, f))
        return ir_sprintf(a,
                          "it requires sub-groups of %u work-items; the device has those of powers "
                          "of two, up to %d",
                          k->required_subgroup_size, PASS_MAX_SUBGROUP);
    for (size_t n = 0; n < k->arg_count; n++) {
        const spvf_arg_info *arg = k->args[n];
        const char *name = arg->name ? arg->name : ir_sprintf(a, "%zu", n);
        if (arg->kind == SPVF_ARG_IMAGE)
            return ir_sprintf(a, "argument '%s' is an image, which the device has not", name);
        if (arg->kind == SPVF_ARG_SAMPLER)
            return ir_sprintf(a, "argument '%s' is a sampler, which the device has not", name);
    }
    return NULL;
}

/* True: the kernel stays.  Otherwise a warning, and it is a function like others. */
static bool keep_kernel(rt_build *b, const spvf_module *m, const spvf_kernel_info *k) {
    ir_func *f = ir_func_find(m->ir, k->name);
    const char *why = refusal_of(&b->arena, f, k);
    if (!why) return true;
    ir_report(&b->context->cx, (ir_message){.severity = IR_WARNING},
              "kernel '%s' cannot be used: %s", k->name, why);
    f->flags &= ~(uint32_t)IR_FUNC_KERNEL;
    return false;
}

/* A program is what is left when some of its kernels cannot be used. */
static void drop_refused(rt_build *b, spvf_module *m) {
    size_t n = spvf_module_kernel_count(m), kept = 0;
    for (size_t k = 0; k < n; k++) kept += keep_kernel(b, m, spvf_module_kernel(m, k));
    if (n && !kept) rt_throw(b->context, IR_ERR_REFUSED, "none of the kernels can be used");
    if (kept < n) rt_module_describe(m);
}

typedef struct {
    rt_build *build;
    spvf_module *module;
} loading;

static void judge(void *arg) {
    const loading *l = arg;
    drop_refused(l->build, l->module);
}

static spvf_layout read_layout(rt_build *b) {
    size_t size;
    const char *text = rt_read_file(b->context, &b->arena, b->layout, &size);
    if (memchr(text, 0, size)) rt_throw(b->context, IR_ERR_INPUT, "%s: is no text", b->layout);
    return (spvf_layout){.size = sizeof(spvf_layout), .text = text, .text_name = b->layout};
}

static spvf_module *load(rt_build *b, const char *name, const ocl_code *code, bool closures) {
    const bool described = closures && b->layout;
    const spvf_layout layout = described ? read_layout(b) : (spvf_layout){0};
    const spvf_module_options o = {.size = sizeof o,
                                   .specs = code->specs,
                                   .spec_count = code->spec_count,
                                   .closures = closures,
                                   .target = "cpu",
                                   .layout = described ? &layout : NULL};
    loading l = {.build = b};
    ir_ctx *cx = &b->context->cx;
    if (spvf_module_load(b->context, name, code->il, code->il_size, &o, &l.module) != SPVF_OK)
        ir_throw(cx, cx->status);
    if (ir_try(cx, judge, &l)) return l.module;
    spvf_module_destroy(l.module);
    ir_throw(cx, cx->status);
}

/* The source is in a file of this process, and not where the one was that made the binary. */
static void rename_source(ir_module *m, const char *path) {
    for (uint32_t k = 0; k < m->files.n; k++) {
        const char *name = strrchr(m->files.data[k], '/');
        if (strcmp(name ? name + 1 : m->files.data[k], "program.cl") == 0)
            m->files.data[k] = ir_strdup(&m->arena, path);
    }
    m->source = 0;
}

spvf_module *ocl_load(rt_build *b, const char *name, const ocl_code *code) {
    return load(b, name, code, false);
}

typedef struct {
    rt_build *build;
    const ocl_code *code;
    ocl_built *built;
} making;

static void say_code(rt_build *b, const rt_code_request *request) {
    const spvf_explained_code code = rt_explain_code(b->context, request, &b->arena);
    char *text = spvf_explained_code_text(&code);
    if (text) rt_build_say(b, text);
    free(text);
}

static void say_remarks(rt_build *b, const spvf_module *m) {
    rt_code_request r = {.target = rt_cpu_target(ocl_cpu_options(), &b->arena)};
    for (size_t n = 0; r.target && n < m->kernel_count; n++) {
        r.kernel = ir_func_find(m->ir, m->kernels[n].name);
        say_code(b, &r);
    }
}

/* What kernels call is known when they have taken it in. */
static void make(void *arg) {
    const making *m = arg;
    ir_ctx *cx = &m->build->context->cx;
    const spvf_kernel_info *k;
    spvf_module *module = m->built->module = load(m->build, "program", m->code, true);
    if (m->code->path) rename_source(module->ir, m->code->path);
    module->ir->steps = m->code->steps && rt_setting_has(RT_ENV_JIT, "gdb");
    const bool as_is = ocl_keeps_source() || module->ir->steps;
    if (!as_is && spvf_module_optimize(module, NULL) != SPVF_OK) ir_throw(cx, cx->status);
    drop_refused(m->build, module);
    ocl_number_arguments(module);
    rt_shared_device *d = &ocl_device()->shared;
    m->built->native = rt_shared_build(m->build->context, d, module->ir);
    if (m->build->remarks) say_remarks(m->build, module);
    m->built->functions = ir_new_array(&module->arena, rt_function *, module->kernel_count);
    for (size_t n = 0; (k = spvf_module_kernel(module, n)); n++)
        m->built->functions[n] = rt_shared_find(m->build->context, d, m->built->native, k->name);
}

static void drop(ocl_built *b) {
    rt_shared_discard(&ocl_device()->shared, b->native);
    spvf_module_destroy(b->module);
    free(b);
}

ocl_built *ocl_make_built(rt_build *b, const ocl_code *code) {
    making m = {b, code, calloc(1, sizeof(ocl_built))};
    if (!m.built) ir_throw(&b->context->cx, IR_ERR_MEMORY);
    *m.built =
        (ocl_built){.context = b->context, .uniform = code->uniform, .arg_info = code->arg_info};
    rt_refs_init(&m.built->refs);
    if (ir_try(&b->context->cx, make, &m)) return m.built;
    drop(m.built);
    ir_throw(&b->context->cx, b->context->cx.status);
}

void ocl_release_built(ocl_built *b) {
    if (!rt_release(&b->refs)) return;
    spvf_context *context = b->context;
    drop(b);
    spvf_context_destroy(context);
}
