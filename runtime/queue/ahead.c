/* ahead.c — code of kernels that is made before they are launched, or to be called without that.
 *
 * What is prepared is a launch with arguments that are made up: values are 0, local memory is of
 * some size, and addresses are NULL, which counts as different memory.  Code that the user calls is
 * an object that is made for any range and loaded into this process, once for a program.
 */
#include "runtime/queue/objects.h"

#include <string.h>

/* ------------------------------------------------------------------------------------ preparing */

typedef struct {
    spvf_context context;
    ir_arena arena;
    spvf_launch launch;
} preparation;

/* A buffer has no address. */
static spvf_argument make_up(ir_arena *a, const spvf_arg_info *info) {
    enum { LOCAL_BYTES = 1024 };
    if (info->kind == SPVF_ARG_LOCAL) return (spvf_argument){.size = LOCAL_BYTES};
    if (info->kind != SPVF_ARG_VALUE) return (spvf_argument){.size = 0};
    void *zeros = ir_alloc(a, info->size);
    return (spvf_argument){.bytes = memset(zeros, 0, info->size), .size = (size_t)info->size};
}

static void prepare(void *arg) {
    preparation *p = arg;
    const spvf_kernel_info *k = prog_kernel(p->launch.program, p->launch.kernel);
    spvf_argument *args = ir_new_array(&p->arena, spvf_argument, k->arg_count + 1);
    for (size_t n = 0; n < k->arg_count; n++) args[n] = make_up(&p->arena, k->args[n]);
    p->launch.args = args;
    p->launch.arg_count = k->arg_count;
    launch_prepare(&p->context, &p->launch, &p->arena);
}

static spvf_status check_range(spvf_device *d, const spvf_range *r) {
    static const char call[] = "spvf_program_prepare";
    uint32_t sizes = 0;
    if (r->dims < 1 || r->dims > 3)
        return dev_refuse(d, call, "range: 1 to 3 dimensions, not %u", r->dims);
    for (uint32_t k = 0; k < r->dims; k++) {
        sizes += r->local[k] != 0;
        if (!r->global[k]) return dev_refuse(d, call, "range: a global size is 0");
    }
    if (sizes == 0 || sizes == r->dims) return SPVF_OK;
    return dev_refuse(d, call, "range: a local size is 0 where another one is not");
}

spvf_status spvf_program_prepare(spvf_program *program, const char *kernel,
                                 const spvf_range *range) {
    preparation p = {.launch = {.program = program, .kernel = kernel}};
    if (!program || !kernel || !range)
        return dev_refuse(program ? program->device : NULL, __func__, "%s is NULL",
                          !program  ? "program"
                          : !kernel ? "kernel"
                                    : "range");
    if (!prog_kernel(program, kernel))
        return dev_refuse(program->device, __func__, "the program has no kernel '%s'", kernel);
    spvf_status status = check_range(program->device, range);
    if (status != SPVF_OK) return status;
    p.launch.range = *range;
    dev_context(program->device, &p.context);
    ir_arena_init(&p.arena, &p.context.cx);
    status = rt_guard(&p.context, prepare, &p);
    ir_arena_free(&p.arena);
    return status;
}

/* -------------------------------------------------------------------- code that the user calls */

typedef struct {
    spvf_program *program;
    const char *kernel;
    const spvf_native_kernel *found;
    spvf_module *module; /* optimized */
    spvf_blob object;
} making;

static void take_status(spvf_context *c, spvf_status status) {
    if (status != SPVF_OK) ir_throw(&c->cx, (ir_status)status);
}

/* The kernels of the program, optimized: its own are as a device takes them. */
static spvf_module *copy_kernels(making *m, spvf_context *c) {
    const ir_module *from = m->program->module->ir;
    spvf_module *to = m->module = rt_module_new(c);
    to->ir = ir_module_new(&c->cx, from->name, from->pointer_bits);
    ir_importer im = {.m = to->ir};
    foreach_func (f, from)
        if (f->flags & IR_FUNC_KERNEL) ir_importer_copy(&im, f, f->name);
    rt_module_describe(to);
    take_status(c, spvf_module_optimize(to, NULL));
    return to;
}

static const spvf_native_kernel *find_native(const making *m) {
    const spvf_native_kernel *k = spvf_native_kernels(m->program->native);
    while (k->name && strcmp(k->name, m->kernel) != 0) k++;
    return k->name ? k : NULL;
}

static void load(making *m, spvf_context *c, const char *target) {
    take_status(c, spvf_module_emit(copy_kernels(m, c), target, &m->object));
    take_status(c, spvf_native_load(c, m->program->module->ir->name, m->object.data, m->object.size,
                                    &m->program->native));
}

/* With the device's lock held. */
static void make(void *arg) {
    making *m = arg;
    rt_device *d = m->program->device->shared.base;
    spvf_context *c = &m->program->device->shared.context;
    ir_arena *a = &m->program->module->arena;
    const char *target = d->driver->target ? d->driver->target(d, a) : NULL;
    if (!target)
        rt_throw(c, IR_ERR_REFUSED,
                 "spvf_program_native: device %s does not run code of this process",
                 d->driver->name);
    if (!m->program->native) load(m, c, target);
    m->found = find_native(m);
    if (!m->found)
        rt_throw(c, IR_ERR_REFUSED, "spvf_program_native: there is no code of kernel '%s'",
                 m->kernel);
}

spvf_status spvf_program_native(spvf_program *program, const char *kernel,
                                const spvf_native_kernel **out) {
    if (out) *out = NULL;
    if (!program || !kernel || !out)
        return dev_refuse(program ? program->device : NULL, __func__, "%s is NULL",
                          !program  ? "program"
                          : !kernel ? "kernel"
                                    : "out");
    if (!prog_kernel(program, kernel))
        return dev_refuse(program->device, __func__, "the program has no kernel '%s'", kernel);
    making m = {.program = program, .kernel = kernel};
    rt_shared_device *d = &program->device->shared;
    spvf_status status = dev_run(program->device, make, &m);
    rt_lock_take(&d->lock);
    spvf_blob_destroy(&m.object);
    spvf_module_destroy(m.module);
    rt_lock_release(&d->lock);
    *out = m.found;
    return status;
}
