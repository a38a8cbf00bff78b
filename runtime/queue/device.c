/* device.c — devices that any thread may use, and programs on them.
 *
 * A device has a context of its own, so that it depends on no other; its lock makes it one thread's
 * at a time.  On device cpu launches run without: each has a context for its messages and memory.
 */
#include "runtime/queue/objects.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------- messages */

static void speak(void *user, const spvf_message *m) {
    spvf_device *d = user;
    if (!d->message) return;
    rt_lock_take(&d->speaking);
    d->message(d->message_user, m);
    rt_lock_release(&d->speaking);
}

void dev_print(void *user, const char *text) {
    spvf_device *d = user;
    rt_lock_take(&d->speaking);
    if (d->output) d->output(d->output_user, text);
    rt_lock_release(&d->speaking);
}

void dev_context(spvf_device *d, spvf_context *out) {
    const spvf_context_options o = {.size = sizeof o, .message = speak, .message_user = d};
    rt_context_init(out, &o);
}

static void say_lost(void *arg) {
    const spvf_device *d = arg;
    rt_throw((spvf_context *)(uintptr_t)&d->context, IR_ERR_DEVICE,
             "another thread was using this device when the process was forked: the child "
             "has to open its own");
}

spvf_status dev_run(spvf_device *d, void (*body)(void *arg), void *arg) {
    d->lost |= !rt_lock_take(&d->lock);
    spvf_status status = rt_guard(&d->context, d->lost ? say_lost : body, d->lost ? d : arg);
    rt_lock_release(&d->lock);
    return status;
}

void dev_run_for(spvf_context *c, spvf_device *d, void (*body)(void *arg), void *arg) {
    ir_ctx *cx = &d->context.cx;
    char why[RT_CAUGHT_SIZE];
    why[0] = 0;
    d->lost |= !rt_lock_take(&d->lock);
    d->context.caught = why;
    bool ok = ir_try(cx, d->lost ? say_lost : body, d->lost ? d : arg);
    ir_status status = cx->status;
    d->context.caught = NULL;
    rt_lock_release(&d->lock);
    if (ok) return;
    if (why[0]) rt_throw(c, status, "%s", why);
    ir_throw(&c->cx, status);
}

spvf_status dev_refuse(spvf_device *d, const char *call, const char *fmt, ...) {
    spvf_context c;
    va_list ap;
    if (!d) return SPVF_ERROR_ARGUMENT;
    dev_context(d, &c);
    va_start(ap, fmt);
    spvf_status status = rt_vrefuse_call(&c, call, fmt, ap);
    va_end(ap);
    return status;
}

bool dev_are_options(spvf_device *d, const char *call, const void *options) {
    spvf_context c;
    dev_context(d, &c);
    return rt_are_options(&c, call, options);
}

/* -------------------------------------------------------------------------------------- devices */

void dev_retain(spvf_device *d) { atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed); }

void dev_release(spvf_device *d) {
    if (atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) != 1) return;
    if (d->base) d->base->close(d->base);
    for (spvf_program *p = d->ended, *next; p; p = next) {
        next = p->next;
        spvf_module_destroy(p->module);
        free(p);
    }
    rt_lock_free(&d->lock);
    fus_domain_free(&d->own);
    rt_lock_free(&d->speaking);
    free(d);
}

static spvf_device *new_device(const spvf_context *context) {
    spvf_device *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    atomic_init(&d->refs, 1);
    rt_lock_init(&d->lock, false);
    fus_domain_init(&d->own);
    d->fusing = &d->own;
    rt_lock_init(&d->speaking, true);
    d->message = context->message;
    d->message_user = context->message_user;
    dev_context(d, &d->context);
    return d;
}

typedef struct {
    spvf_device *device;
    const char *name;
} opening;

static void open_base(void *arg) {
    const opening *o = arg;
    o->device->base = rt_device_open(&o->device->context, o->name);
    o->device->machine = rt_cpu_machine(o->device->base);
    if (o->device->machine) o->device->fusing = fus_host_domain();
    o->device->base->output = dev_print;
    o->device->base->output_user = o->device;
}

spvf_status spvf_device_open(spvf_context *context, const char *name, spvf_device **out) {
    if (out) *out = NULL;
    if (!context || !out)
        return rt_refuse_call(context, __func__, "%s is NULL", context ? "out" : "context");
    spvf_device *d = new_device(context);
    if (!d) return SPVF_ERROR_MEMORY;
    opening o = {d, name ? name : spvf_default_device(NULL)};
    spvf_status status = dev_run(d, open_base, &o);
    if (status == SPVF_OK)
        *out = d;
    else
        dev_release(d);
    return status;
}

void spvf_device_on_print(spvf_device *d, void (*output)(void *user, const char *text),
                          void *user) {
    if (!d) return;
    rt_lock_take(&d->speaking);
    d->output = output;
    d->output_user = user;
    rt_lock_release(&d->speaking);
}

void spvf_device_destroy(spvf_device *d) {
    if (d) dev_release(d);
}

/* ------------------------------------------------------------------------------------- programs */

void prog_retain(spvf_program *p) { atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed); }

typedef struct {
    spvf_program *program;
    const spvf_module *from;
} building;

/* The kernels in a module of the program's. */
static void copy_kernels(spvf_program *p, const spvf_module *from) {
    spvf_context *c = &p->device->context;
    spvf_module *m = p->module = rt_module_new(c);
    m->ir = ir_module_new(&c->cx, from->ir->name, from->ir->pointer_bits);
    ir_importer im = {.m = m->ir};
    foreach_func (f, from->ir)
        if (f->flags & IR_FUNC_KERNEL) ir_importer_copy(&im, f, f->name);
    rt_module_describe(m);
}

static void build(void *arg) {
    const building *b = arg;
    spvf_program *p = b->program;
    spvf_device *d = p->device;
    copy_kernels(p, b->from);
    p->program = d->machine ? cpu_program_new(d->machine, p->module->ir)
                            : d->base->build(d->base, p->module->ir);
}

/* What other devices have made of a program stays with them until they are closed. */
static void unbuild(spvf_program *p) {
    spvf_device *d = p->device;
    if (!d->machine) {
        p->next = d->ended;
        d->ended = p;
        return;
    }
    if (p->program) cpu_program_free(p->program);
    spvf_module_destroy(p->module);
    free(p);
}

void prog_release(spvf_program *p) {
    if (atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) return;
    spvf_device *d = p->device;
    rt_lock_take(&d->lock);
    unbuild(p);
    rt_lock_release(&d->lock);
    dev_release(d);
}

spvf_program *prog_new(spvf_device *d) {
    spvf_program *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    atomic_init(&p->refs, 1);
    p->device = d;
    dev_retain(d);
    return p;
}

void prog_build(spvf_context *c, spvf_program *p, const spvf_module *from) {
    dev_run_for(c, p->device, build, &(building){p, from});
}

spvf_status spvf_program_create(spvf_device *device, const spvf_module *module,
                                spvf_program **out) {
    if (out) *out = NULL;
    if (!device || !module || !out)
        return dev_refuse(device, __func__, "%s is NULL",
                          !device   ? "device"
                          : !module ? "module"
                                    : "out");
    spvf_program *p = prog_new(device);
    if (!p) return SPVF_ERROR_MEMORY;
    spvf_status status = dev_run(device, build, &(building){p, module});
    if (status == SPVF_OK)
        *out = p;
    else
        prog_release(p);
    return status;
}

void spvf_program_destroy(spvf_program *p) {
    if (p) prog_release(p);
}

const spvf_kernel_info *spvf_program_kernel(const spvf_program *p, const char *name) {
    return p && name ? spvf_module_find_kernel(p->module, name) : NULL;
}
