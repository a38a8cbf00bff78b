/* cpu.c — the device that runs native code on this machine's processors.
 *
 * Buffers are memory of the process; programs keep one rt_kernel per kernel, compiled when it is
 * launched first.  Threads are those of the process's pool.
 */
#include "runtime/devices/cpu.h"

#include <stdlib.h>

static rt_memory *allocate(rt_device *d, const char *name, uint64_t bytes, const void *data) {
    cpu_device *c = (cpu_device *)d;
    rt_memory *m = ir_new(&c->arena, rt_memory);
    (void)name;
    if (bytes > SIZE_MAX / 2) ir_throw(c->arena.cx, IR_ERR_MEMORY);
    m->bytes = cpu_aligned(&c->arena, bytes);
    m->size = bytes;
    if (data && bytes) memcpy(m->bytes, data, bytes);
    return m;
}

static void read_memory(rt_device *d, rt_memory *m, uint64_t offset, void *to, uint64_t bytes) {
    if (offset > m->size || bytes > m->size - offset)
        rt_throw(d->context, IR_ERR_DEVICE, "cpu: a read outside of a buffer");
    if (bytes) memcpy(to, (const char *)m->bytes + offset, bytes);
}

static void copy_memory(rt_device *d, rt_memory *to, const rt_memory *from) {
    (void)d;
    if (from->size) memcpy(to->bytes, from->bytes, from->size);
}

static bool has_globals(const ir_module *m) {
    foreach_global (g, m)
        if (g->space != IR_LOCAL) return true;
    return false;
}

/* The program's constants and variables come to be, and last as long as the device. */
static void load_globals(cpu_device *c, rt_program *p) {
    rt_native_options options = {.code = c->code};
    cg_object object;
    rt_code code;
    rt_cpu_compile_globals(p->module, &options, &c->arena, &object);
    ir_status status = rt_code_load(&object, NULL, &code);
    if (status != IR_OK)
        rt_throw(c->base.context, status, "cpu: '%s': there is no room for its variables",
                 p->module->name);
    p->globals.code = code;
    p->globals = rt_code_variables(&code, &object, &c->arena);
}

static rt_program *build(rt_device *d, const ir_module *m) {
    cpu_device *c = (cpu_device *)d;
    if (m->pointer_bits != 64)
        rt_throw(d->context, IR_ERR_DEVICE, "cpu: '%s' has pointers of %u bits, the device of 64",
                 m->name, m->pointer_bits);
    rt_program *p = ir_new(&c->arena, rt_program);
    p->module = m;
    p->next = c->programs;
    c->programs = p;
    if (has_globals(m)) load_globals(c, p);
    return p;
}

static cpu_kernel *find_kernel(cpu_device *c, rt_program *p, const char *name) {
    for (cpu_kernel *k = p->kernels; k; k = k->next)
        if (strcmp(k->function->name, name) == 0) return k;
    const ir_func *f = ir_func_find(p->module, name);
    if (!f || !(f->flags & IR_FUNC_KERNEL))
        rt_throw(c->base.context, IR_ERR_DEVICE, "no kernel @%s", name);
    if (ir_is_declaration(f))
        cpu_refuse(c, f, "it has no body%s%s", f->refusal ? ": " : "",
                   f->refusal ? f->refusal : "");
    cpu_kernel *k = ir_new(&c->arena, cpu_kernel);
    k->function = f;
    k->program = p;
    rt_kernel_init(&k->code);
    k->next = p->kernels;
    p->kernels = k;
    return k;
}

static void launch(rt_device *d, rt_program *p, const char *kernel, const spvf_range *range,
                   const rt_arg *args, size_t count) {
    cpu_device *c = (cpu_device *)d;
    cpu_launch(c, find_kernel(c, p, kernel), range, args, count);
}

/* ----------------------------------------------------------------------------- opening, closing */

static void close_device(rt_device *d) {
    cpu_device *c = (cpu_device *)d;
    for (rt_program *p = c->programs; p; p = p->next) {
        for (cpu_kernel *k = p->kernels; k; k = k->next) rt_kernel_free(&k->code);
        rt_code_unload(&p->globals.code);
    }
    rt_pool_give_back(c->pool);
    ir_arena arena = c->arena;
    ir_arena_free(&arena);
}

static bool says(const char *list, const char *word) { return list && strstr(list, word); }

static cpu_device *make_device(spvf_context *context, const rt_cpu_options *options) {
    ir_arena arena;
    ir_arena_init(&arena, &context->cx);
    cpu_device *c = ir_new(&arena, cpu_device);
    c->arena = arena;
    c->base = (rt_device){.context = context,
                          .close = close_device,
                          .allocate = allocate,
                          .read = read_memory,
                          .copy = copy_memory,
                          .build = build,
                          .launch = launch};
    c->compile = options->compile;
    c->code = options->code;
    c->eager = options->eager;
    if (!c->code.level) c->code.level = rt_cpu_level();
    c->tools.gdb = says(getenv("SPVF_JIT"), "gdb");
    c->tools.perf = says(getenv("SPVF_JIT"), "perf");
    return c;
}

rt_device *rt_cpu_open_with(spvf_context *context, const rt_cpu_options *options) {
    if (options->code.level > rt_cpu_level())
        rt_throw(context, IR_ERR_DEVICE, "cpu: this machine is no x86-64-v%u", options->code.level);
    cpu_device *c = make_device(context, options);
    c->pool = rt_pool_share();
    if (!c->pool) {
        close_device(&c->base);
        ir_throw(&context->cx, IR_ERR_MEMORY);
    }
    return &c->base;
}

/* Why it cannot be used, or NULL. */
static const char *why_not_usable(void) {
    return rt_cpu_level() ? rt_cpu_missing() : "the processor is no x86-64-v2";
}

static bool take_eager(const char **list, rt_cpu_options *o) {
    return rt_take_option(list, "eager") && (o->eager = true);
}

static void take_options(spvf_context *context, const char *list, rt_cpu_options *o) {
    if (!list) list = getenv("SPVF_CPU");
    while (list && *list && (rt_take_code_option(&list, &o->code) || take_eager(&list, o)))
        continue;
    if (list && *list)
        rt_throw(context, IR_ERR_ARGUMENT,
                 "unknown option '%s' of device cpu: v2, v3, v4, regalloc=stack, seed=N, eager",
                 list);
}

const char *spvf_default_device(const char **why_not) {
    if (why_not) *why_not = why_not_usable();
    return why_not_usable() ? "check" : "cpu";
}

rt_device *rt_cpu_open(spvf_context *context, const char *list) {
    rt_cpu_options o = {.compile = rt_cpu_compile};
    take_options(context, list, &o);
    if (why_not_usable()) rt_throw(context, IR_ERR_DEVICE, "device cpu: %s", why_not_usable());
    return rt_cpu_open_with(context, &o);
}

void rt_cpu_list(void (*each)(void *user, const spvf_device_info *info), void *user) {
    char text[80];
    spvf_device_info info = {.name = "cpu",
                             .description = text,
                             .takes_spirv = true,
                             .usable = !why_not_usable(),
                             .why_not = why_not_usable()};
    snprintf(text, sizeof text, "native code for x86-64-v%u, %u threads", rt_cpu_level(),
             rt_default_threads());
    each(user, &info);
}

typedef struct {
    const spvf_module *module;
    const char *kernel;
    const spvf_range *range;
    uint64_t *local;
    ir_arena scratch;
} local_size_job;

static void find_local_size(void *arg) {
    local_size_job *j = arg;
    const ir_func *f = ir_func_find(j->module->ir, j->kernel);
    if (!f || !(f->flags & IR_FUNC_KERNEL))
        rt_throw(j->module->context, IR_ERR_ARGUMENT, "no kernel @%s", j->kernel);
    rt_cpu_local_size(f, j->range, j->local, &j->scratch);
}

spvf_status spvf_cpu_local_size(const spvf_module *module, const char *kernel,
                                const spvf_range *range, uint64_t local[3]) {
    if (!module || !kernel || !range || !local || range->dims < 1 || range->dims > 3)
        return SPVF_ERROR_ARGUMENT;
    local_size_job j = {.module = module, .kernel = kernel, .range = range, .local = local};
    ir_arena_init(&j.scratch, &module->context->cx);
    spvf_status status = rt_guard(module->context, find_local_size, &j);
    ir_arena_free(&j.scratch);
    return status;
}
