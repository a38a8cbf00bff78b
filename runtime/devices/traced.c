/* traced.c — what devices do, in a trace (runtime/system/trace.h): commands, on tracks of the
 * device, from their beginning to their end, and builds, on the track of the thread.
 */
#include "runtime/devices/device.h"

/* ------------------------------------------------------------------------------------- commands */

static uint64_t bytes_of(const rt_command *c) {
    if (c->kind == RT_COMMAND_FILL) return c->fill.size;
    return c->copy.region[0] * c->copy.region[1] * c->copy.region[2];
}

static const char *name_of(const rt_device *d, const rt_command *c) {
    switch (c->kind) {
    case RT_COMMAND_LAUNCH: return d->driver->name_of(c->launch.function);
    case RT_COMMAND_COPY:
        return c->copy.from.memory ? c->copy.to.memory ? "copy" : "read" : "write";
    case RT_COMMAND_FILL: break;
    }
    return "fill";
}

static bool has_local_size(const spvf_range *r) {
    for (unsigned k = 0; k < r->dims && k < 3; k++)
        if (r->local[k]) return true;
    return false;
}

static void describe_launch(rt_trace *t, const spvf_range *r) {
    unsigned dims = r->dims < 3 ? r->dims : 3;
    rt_trace_sizes(t, "spvfuse.range.global_size", r->global, dims);
    if (has_local_size(r)) rt_trace_sizes(t, "spvfuse.range.local_size", r->local, dims);
}

/* One command by what it does; several by their names. */
static void describe(rt_trace *t, const rt_device *d, const rt_submission *s) {
    const rt_command *c = s->commands;
    rt_trace_number(t, "spvfuse.command.count", s->count);
    if (s->count == 1 && c->kind == RT_COMMAND_LAUNCH) describe_launch(t, c->launch.range);
    if (s->count == 1 && c->kind != RT_COMMAND_LAUNCH)
        rt_trace_number(t, "spvfuse.transfer.bytes", bytes_of(c));
    for (size_t n = 1; n < s->count && n < 20; n++) {
        char key[40];
        snprintf(key, sizeof key, "spvfuse.command.%zu.name", n);
        rt_trace_text(t, key, name_of(d, &c[n]));
    }
    if (s->queued) rt_trace_number(t, "spvfuse.queue.wait_ns", rt_now_ns() - s->queued);
}

void rt_trace_submission(const rt_device *d, rt_submission *s) {
    rt_trace t;
    if (!s->count) return;
    bool launches = s->commands->kind == RT_COMMAND_LAUNCH;
    s->track = rt_trace_take_track(d, d->driver->name);
    if (!s->track) return;
    rt_trace_open(&t, RT_TRACE_BEGIN, s->track, launches ? "launch" : "transfer",
                  name_of(d, s->commands));
    rt_trace_text(&t, "spvfuse.device.name", d->driver->name);
    describe(&t, d, s);
    rt_trace_write(&t);
}

void rt_trace_submission_end(rt_submission *s, ir_status status) {
    rt_trace t;
    rt_track track = s->track;
    s->track = 0;
    rt_trace_open(&t, RT_TRACE_END, track, NULL, NULL);
    if (s->ran_ns) rt_trace_number(&t, "spvfuse.device.ran_ns", s->ran_ns);
    if (status != IR_OK) rt_trace_text(&t, "error.type", spvf_status_name((spvf_status)status));
    rt_trace_write(&t);
    rt_trace_give_track(track);
}

typedef struct {
    rt_device *device;
    rt_submission *submission;
    rt_progress progress;
} submitting;

static void submit(void *arg) {
    submitting *a = arg;
    a->progress = a->device->driver->submit(a->device, a->submission);
}

/* What has begun may have ended, and be gone, before submitting returns. */
static rt_progress submit_traced(rt_device *d, rt_submission *s) {
    submitting a = {d, s, RT_ENDED};
    ir_ctx *cx = &s->context->cx;
    rt_trace_submission(d, s);
    bool ok = ir_try(cx, submit, &a);
    if (!ok || a.progress == RT_ENDED) rt_trace_end_of(s, ok ? IR_OK : cx->status);
    if (!ok) ir_throw(cx, cx->status);
    return a.progress;
}

rt_progress rt_device_submit(rt_device *d, rt_submission *s) {
    s->track = 0;
    return rt_is_traced() ? submit_traced(d, s) : d->driver->submit(d, s);
}

/* --------------------------------------------------------------------------------------- builds */

typedef struct {
    rt_device *device;
    const ir_module *module;
    rt_program *program;
} building;

static void build(void *arg) {
    building *b = arg;
    b->program = b->device->driver->build(b->device, b->module);
}

static rt_program *build_traced(rt_device *d, const ir_module *m) {
    building b = {d, m, NULL};
    rt_trace t;
    ir_ctx *cx = &d->context->cx;
    rt_trace_open(&t, RT_TRACE_BEGIN, 0, "build", "build program");
    rt_trace_text(&t, "spvfuse.module.name", m->name);
    rt_trace_text(&t, "spvfuse.device.name", d->driver->name);
    rt_trace_write(&t);
    bool ok = ir_try(cx, build, &b);
    rt_trace_end(0);
    if (!ok) ir_throw(cx, cx->status);
    return b.program;
}

rt_program *rt_device_build(rt_device *d, const ir_module *m) {
    return rt_is_traced() ? build_traced(d, m) : d->driver->build(d, m);
}
