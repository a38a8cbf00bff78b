/* shared.c — devices that several threads use: the lock, and the context of the device (shared.h).
 *
 * What is thrown in the context of the device is thrown again in that of the calling thread.  The
 * commands of a concurrent device take the other way: they run without the lock, in the context of
 * the thread.
 */
#include "runtime/devices/shared.h"
#include "runtime/api/save.h"
#include "runtime/devices/save.h"

void rt_shared_init(rt_shared_device *d, const spvf_context_options *options) {
    *d = (rt_shared_device){.base = NULL};
    rt_lock_init(&d->lock, false);
    rt_context_init(&d->context, options);
    d->context.cx.keep = IR_SPARE_BYTES; /* each submission takes some memory for a moment */
}

void rt_shared_remember(rt_shared_device *d, const spvf_context *c) {
    d->context.past = c->past;
    rt_past_retain(c->past);
}

void rt_shared_close(rt_shared_device *d) {
    rt_device_close(d->base);
    rt_past_release(d->context.past);
    ir_ctx_trim(&d->context.cx);
    rt_lock_free(&d->lock);
}

/* -------------------------------------------------------------------------------- with the lock */

static void say_lost(void *arg) {
    rt_shared_device *d = arg;
    rt_throw(&d->context, IR_ERR_DEVICE,
             "another thread was using this device when the process was forked: the child "
             "has to open its own");
}

spvf_status rt_shared_run(rt_shared_device *d, void (*body)(void *arg), void *arg) {
    d->lost |= !rt_lock_take(&d->lock);
    spvf_status status = rt_guard(&d->context, d->lost ? say_lost : body, d->lost ? d : arg);
    rt_lock_release(&d->lock);
    return status;
}

void rt_shared_run_for(spvf_context *c, rt_shared_device *d, void (*body)(void *arg), void *arg) {
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

typedef struct {
    rt_shared_device *device;
    const ir_module *module;
    rt_program *program;
    const char *kernel;
    rt_function *function;
} making;

static void build(void *arg) {
    making *m = arg;
    rt_device *d = m->device->base;
    m->program = rt_device_build(d, m->module);
}

rt_program *rt_shared_build(spvf_context *c, rt_shared_device *d, const ir_module *module) {
    making m = {.device = d, .module = module};
    rt_shared_run_for(c, d, build, &m);
    return m.program;
}

static void find(void *arg) {
    making *m = arg;
    rt_device *d = m->device->base;
    m->function = d->driver->find(d, m->program, m->kernel);
}

rt_function *rt_shared_find(spvf_context *c, rt_shared_device *d, rt_program *p,
                            const char *kernel) {
    making m = {.device = d, .program = p, .kernel = kernel};
    rt_shared_run_for(c, d, find, &m);
    return m.function;
}

void rt_shared_discard(rt_shared_device *d, rt_program *program) {
    if (!program) return;
    rt_lock_take(&d->lock);
    d->base->driver->discard(d->base, program);
    rt_lock_release(&d->lock);
}

void rt_shared_release(rt_shared_device *d, rt_memory *memory) {
    if (!memory) return;
    rt_lock_take(&d->lock);
    d->base->driver->release(d->base, memory);
    rt_lock_release(&d->lock);
}

/* ----------------------------------------------------------------------- without it, if allowed */

typedef struct {
    rt_device *device;
    rt_submission *submission;
    rt_progress progress;
} submitting;

/* What device check reports has been said; the command has failed all the same. */
static void submit(void *arg) {
    submitting *a = arg;
    rt_device *d = a->device;
    uint64_t reports = d->counts.reports;
    rt_save_submission(d, a->submission);
    a->progress = rt_device_submit(d, a->submission);
    if (d->counts.reports != reports) ir_throw(&a->submission->context->cx, IR_ERR_INPUT);
}

spvf_status rt_shared_submit(rt_shared_device *d, spvf_context *own, rt_submission *s,
                             rt_progress *progress) {
    submitting a = {.device = d->base, .submission = s};
    bool concurrent = d->base->can.concurrent;
    s->context = concurrent ? own : &d->context;
    spvf_status status = concurrent ? rt_guard(own, submit, &a) : rt_shared_run(d, submit, &a);
    *progress = a.progress;
    return status;
}

/* What is traced or saved has submissions of its own. */
bool rt_shared_extend(rt_shared_device *d, rt_submission *s, const rt_more *more,
                      spvf_status *status) {
    const rt_driver *driver = d->base->driver;
    if (!driver->extend || rt_is_traced() || rt_is_saved(d->base)) return false;
    if (!rt_lock_try(&d->lock)) return false;
    ir_status failure = IR_OK;
    bool taken = !d->lost && driver->extend(d->base, s, more, &failure);
    if (failure != IR_OK) rt_say_failure(&d->context, failure);
    rt_lock_release(&d->lock);
    *status = (spvf_status)failure;
    return taken;
}

typedef struct {
    rt_device *device;
    spvf_context *context;
    const rt_launch *launch;
} preparing;

static void prepare(void *arg) {
    const preparing *p = arg;
    rt_save_prepared_launch(p->device, p->context, p->launch);
    p->device->driver->prepare(p->device, p->context, p->launch);
}

void rt_shared_prepare(spvf_context *c, rt_shared_device *d, const rt_launch *l) {
    bool concurrent = d->base->can.concurrent;
    preparing p = {d->base, concurrent ? c : &d->context, l};
    if (!d->base->driver->prepare) return;
    if (concurrent)
        prepare(&p);
    else
        rt_shared_run_for(c, d, prepare, &p);
}
