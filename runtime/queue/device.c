/* device.c — devices that any thread may use (devices/shared.h), with their messages, and programs
 * on them.
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
    out->past = d->shared.context.past;
}

/* ------------------------------------------------------------------------------------- commands */

spvf_status dev_run(spvf_device *d, void (*body)(void *arg), void *arg) {
    return rt_shared_run(&d->shared, body, arg);
}

spvf_status dev_submit(spvf_device *d, rt_submission *s, rt_progress *progress) {
    spvf_context own;
    if (!d->shared.base->can.concurrent) return rt_shared_submit(&d->shared, NULL, s, progress);
    dev_context(d, &own);
    return rt_shared_submit(&d->shared, &own, s, progress);
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

bool dev_take_struct(spvf_device *d, const char *call, void *to, const void *from, size_t size) {
    spvf_context c;
    dev_context(d, &c);
    return rt_take_struct(&c, call, to, from, size);
}

/* -------------------------------------------------------------------------------------- devices */

void dev_retain(spvf_device *d) { rt_retain(&d->refs); }

void dev_release(spvf_device *d) {
    if (!rt_release(&d->refs)) return;
    rt_shared_close(&d->shared);
    fus_domain_free(&d->own);
    rt_lock_free(&d->speaking);
    free(d);
}

static spvf_device *new_device(const spvf_context *context) {
    spvf_device *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    rt_refs_init(&d->refs);
    fus_domain_init(&d->own);
    d->fusing = &d->own;
    rt_lock_init(&d->speaking, true);
    d->message = context->message;
    d->message_user = context->message_user;
    const spvf_context_options o = {.size = sizeof o, .message = speak, .message_user = d};
    rt_shared_init(&d->shared, &o);
    rt_shared_remember(&d->shared, context);
    return d;
}

typedef struct {
    spvf_device *device;
    dev_opener *open;
    const char *name;
} opening;

static void open_base(void *arg) {
    const opening *o = arg;
    spvf_device *d = o->device;
    rt_device *base = d->shared.base = o->open(&d->shared.context, o->name);
    if (base->can.host_memory) d->fusing = fus_host_domain();
    base->output = dev_print;
    base->output_user = d;
}

spvf_status dev_open_with(spvf_context *context, dev_opener *open, const char *name,
                          spvf_device **out) {
    spvf_device *d = new_device(context);
    if (!d) return SPVF_ERROR_MEMORY;
    opening o = {d, open, name};
    spvf_status status = dev_run(d, open_base, &o);
    if (status == SPVF_OK)
        *out = d;
    else
        dev_release(d);
    return status;
}

spvf_status spvf_device_open(spvf_context *context, const char *name, spvf_device **out) {
    if (out) *out = NULL;
    if (!context || !out)
        return rt_refuse_call(context, __func__, "%s is NULL", context ? "out" : "context");
    return dev_open_with(context, rt_device_open, name ? name : spvf_default_device(NULL), out);
}

typedef struct {
    const rt_device *base;
    void (*answer)(void *user, const spvf_device_info *info);
    void *user;
    spvf_context context;
    ir_arena arena;
    bool exact; /* one of the name has been found */
    bool answered;
} describing;

static void note_device(void *user, const spvf_device_info *info) {
    describing *j = user;
    if (strcmp(info->name, j->base->name) == 0) j->exact = true;
}

static void describe_device(void *user, const spvf_device_info *info) {
    describing *j = user;
    const rt_driver *driver = j->base->driver;
    spvf_device_info own = *info;
    if (j->answered || info->missing) return;
    if (j->exact && strcmp(info->name, j->base->name) != 0) return;
    if (j->base->name[0]) own.name = j->base->name;
    spvf_device_sizes sizes = *info->sizes;
    if (driver->target) sizes.target = driver->target(j->base, &j->arena);
    own.can = &j->base->can;
    own.sizes = &sizes;
    j->answered = true;
    j->answer(j->user, &own);
}

static void describe(void *arg) {
    describing *j = arg;
    j->base->driver->list(&j->context, note_device, j);
    j->base->driver->list(&j->context, describe_device, j);
    if (!j->answered) rt_throw(&j->context, IR_ERR_DEVICE, "the device is not there any more");
}

spvf_status spvf_device_describe(spvf_device *d,
                                 void (*answer)(void *user, const spvf_device_info *info),
                                 void *user) {
    if (!d || !answer) return dev_refuse(d, __func__, "%s is NULL", d ? "answer" : "device");
    describing j = {.base = d->shared.base, .answer = answer, .user = user};
    dev_context(d, &j.context);
    ir_arena_init(&j.arena, &j.context.cx);
    spvf_status status = rt_guard(&j.context, describe, &j);
    ir_arena_free(&j.arena);
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

void prog_retain(spvf_program *p) { rt_retain(&p->refs); }

typedef struct {
    spvf_program *program;
    const spvf_module *from;
} building;

/* The kernels in a module of the program's. */
static void copy_kernels(spvf_program *p, const spvf_module *from) {
    spvf_context *c = &p->device->shared.context;
    spvf_module *m = p->module = rt_module_new(c);
    m->ir = ir_module_new(&c->cx, from->ir->name, from->ir->pointer_bits);
    ir_importer im = {.m = m->ir};
    foreach_func (f, from->ir)
        if (f->flags & IR_FUNC_KERNEL) ir_importer_copy(&im, f, f->name);
    if (!rt_answer_queries(m->ir, &p->device->shared.base->reflection))
        rt_copy_images(m->ir, from->ir);
    if (m->ir->pointer_bits == 8 * sizeof(void *)) rt_lower_closures(m);
    rt_module_describe(m);
    foreach_func (f, m->ir) /* which launches look at, several at a time */
        if (f->flags & IR_FUNC_KERNEL && !ir_is_declaration(f)) ir_loop_tree(f);
}

/* As the program sees its kernels: structs with pointers are arguments, unless they had been taken
 * apart before; then it knows of them what the module knew, which may be gone soon. */
static void describe_for_host(spvf_program *p, const spvf_module *from) {
    const spvf_module *m = p->module;
    p->kernels = ir_new_array(&p->module->arena, spvf_kernel_info, m->kernel_count);
    for (size_t n = 0; n < m->kernel_count; n++) {
        spvf_kernel_info *k = &p->kernels[n];
        const spvf_kernel_info *was = spvf_module_find_kernel(from, m->kernels[n].name);
        *k = m->kernels[n];
        k->args = m->kernels[n].host_args;
        k->arg_count = m->kernels[n].host_arg_count;
        if (!was || was->host_args == was->args) continue;
        k->host_args = rt_copy_args(&p->module->arena, was->host_args, was->host_arg_count);
        k->host_arg_count = was->host_arg_count;
    }
}

static void build(void *arg) {
    const building *b = arg;
    spvf_program *p = b->program;
    rt_device *d = p->device->shared.base;
    copy_kernels(p, b->from);
    describe_for_host(p, b->from);
    p->functions = ir_new_array(&p->module->arena, rt_function * _Atomic, p->module->kernel_count);
    p->program = rt_device_build(d, p->module->ir);
}

void prog_release(spvf_program *p) {
    if (!rt_release(&p->refs)) return;
    spvf_device *d = p->device;
    rt_shared_discard(&d->shared, p->program);
    rt_lock_take(&d->shared.lock);
    spvf_native_destroy(p->native);
    spvf_module_destroy(p->module);
    rt_lock_release(&d->shared.lock);
    free(p);
    dev_release(d);
}

spvf_program *prog_new(spvf_device *d) {
    spvf_program *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    rt_refs_init(&p->refs);
    p->device = d;
    dev_retain(d);
    return p;
}

void prog_build(spvf_context *c, spvf_program *p, const spvf_module *from) {
    rt_shared_run_for(c, &p->device->shared, build, &(building){p, from});
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

const spvf_kernel_info *prog_kernel(const spvf_program *p, const char *name) {
    return p && name ? spvf_module_find_kernel(p->module, name) : NULL;
}

const spvf_kernel_info *spvf_program_kernel(const spvf_program *p, const char *name) {
    const spvf_kernel_info *k = prog_kernel(p, name);
    return k ? &p->kernels[k - p->module->kernels] : NULL;
}
