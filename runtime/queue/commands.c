/* commands.c — spvfuse_queue.h: events, queues, functions of the host, markers and barriers.
 *
 * An spvf_event contains an event of the scheduler (queue.h).  A command adds to it the device, the
 * buffers that it uses, and what the device is given.  Statuses of the scheduler are numbers; here
 * they become spvf_status.
 */
#include "runtime/queue/objects.h"

#include <stdlib.h>

/* --------------------------------------------------------------------------------------- events */

/* Buffers know the commands that used them last: an event that has ended may not hold them. */
static void drop_uses(rt_event *event) {
    spvf_event *e = (spvf_event *)event;
    if (e->drop) e->drop(e);
    e->drop = NULL;
    while (e->uses) buf_release(e->use[--e->uses].buffer);
}

static void destroy_event(rt_event *event) {
    spvf_event *e = (spvf_event *)event;
    spvf_device *d = e->device;
    spvf_queue *q = e->queue;
    drop_uses(event);
    free(e);
    if (q) queue_release(q);
    dev_release(d);
}

spvf_event *event_new(spvf_device *d, size_t size, rt_run *run) {
    spvf_event *e = calloc(1, size);
    if (!e) return NULL;
    rt_event_init(&e->event, rt_scheduler_get(), run, destroy_event);
    e->event.ended = drop_uses;
    e->event.why_not = cmd_result(SPVF_ERROR_DEVICE);
    e->device = d;
    dev_retain(d);
    return e;
}

static bool is_status(spvf_status s) { return (unsigned)s <= SPVF_ERROR_INTERNAL; }

static spvf_status status_of(int32_t s) { return s < 0 ? (spvf_status)-s : SPVF_OK; }

spvf_status spvf_event_wait(spvf_event *e) {
    if (!e) return SPVF_ERROR_ARGUMENT;
    fus_begin(e->device);
    fus_need_event(e, "the program waits for the event of a launch");
    fus_end(e->device);
    int32_t status = rt_event_wait(&e->event);
    if (status <= RT_COMPLETE) return status_of(status);
    return dev_refuse(e->device, __func__, "a command waits for its own event");
}

bool spvf_event_ended(const spvf_event *e, spvf_status *status) {
    int32_t now = e ? rt_event_now((rt_event *)(uintptr_t)&e->event) : RT_QUEUED;
    if (now > RT_COMPLETE) return false;
    if (status) *status = status_of(now);
    return true;
}

typedef struct {
    void (*function)(void *user, spvf_status status);
    void *user;
} callback;

static void call(rt_event *e, int32_t status, void *user) {
    callback c = *(callback *)user;
    (void)e;
    free(user);
    c.function(c.user, status_of(status));
}

spvf_status spvf_event_on_end(spvf_event *e, void (*function)(void *user, spvf_status status),
                              void *user) {
    if (!e || !function)
        return dev_refuse(e ? e->device : NULL, __func__, "%s is NULL", e ? "function" : "event");
    callback *c = malloc(sizeof *c);
    if (!c) return SPVF_ERROR_MEMORY;
    *c = (callback){function, user};
    if (rt_event_notify(&e->event, RT_COMPLETE, call, c)) return SPVF_OK;
    free(c);
    return SPVF_ERROR_MEMORY;
}

spvf_event_times spvf_event_get_times(const spvf_event *e) {
    spvf_event_times t = {0};
    if (!e) return t;
    int32_t now = rt_event_now((rt_event *)(uintptr_t)&e->event);
    t.enqueued = e->event.time[RT_QUEUED];
    if (now <= RT_RUNNING) t.started = e->event.time[RT_RUNNING];
    if (now <= RT_COMPLETE) t.ended = e->event.time[RT_COMPLETE];
    if (now <= RT_COMPLETE && e->ran_ns) t.started = t.ended - e->ran_ns;
    return t;
}

void spvf_event_destroy(spvf_event *e) {
    if (e) rt_event_release(&e->event);
}

spvf_status spvf_event_create(spvf_device *device, spvf_event **out) {
    if (out) *out = NULL;
    if (!device || !out)
        return dev_refuse(device, __func__, "%s is NULL", device ? "out" : "device");
    *out = event_new(device, sizeof **out, NULL);
    if (!*out) return SPVF_ERROR_MEMORY;
    (*out)->is_programs = true;
    return SPVF_OK;
}

spvf_status spvf_event_end(spvf_event *e, spvf_status status) {
    if (!e) return SPVF_ERROR_ARGUMENT;
    if (!e->is_programs)
        return dev_refuse(e->device, __func__, "event is a command's, which ends by itself");
    if (!is_status(status)) return dev_refuse(e->device, __func__, "%d is no status", (int)status);
    if (rt_event_end(&e->event, cmd_result(status))) return SPVF_OK;
    return dev_refuse(e->device, __func__, "event has ended already");
}

/* --------------------------------------------------------------------------------------- queues */

spvf_status spvf_queue_create(spvf_device *device, const spvf_queue_options *options,
                              spvf_queue **out) {
    spvf_queue_options o;
    if (out) *out = NULL;
    if (!device || !out)
        return dev_refuse(device, __func__, "%s is NULL", device ? "out" : "device");
    if (!dev_take_struct(device, __func__, &o, options, sizeof o)) return SPVF_ERROR_ARGUMENT;
    spvf_queue *q = calloc(1, sizeof *q);
    if (!q) return SPVF_ERROR_MEMORY;
    rt_refs_init(&q->refs);
    q->device = device;
    dev_retain(device);
    rt_queue_init(&q->queue, rt_scheduler_get(), !o.out_of_order);
    q->profiling = o.profiling;
    *out = q;
    return SPVF_OK;
}

void queue_release(spvf_queue *q) {
    if (!rt_release(&q->refs)) return;
    dev_release(q->device);
    free(q);
}

static int32_t finish(spvf_queue *q, const char *cause) {
    fus_begin(q->device);
    fus_need_queue(q, cause);
    fus_end(q->device);
    return rt_queue_finish(&q->queue);
}

void spvf_queue_destroy(spvf_queue *q) {
    if (!q) return;
    finish(q, "the queue is destroyed");
    fus_free(q);
    queue_release(q);
}

spvf_status spvf_queue_finish(spvf_queue *q) {
    if (!q) return SPVF_ERROR_ARGUMENT;
    int32_t status = finish(q, "the program waits for the queue");
    if (status <= RT_COMPLETE) return status_of(status);
    return dev_refuse(q->device, __func__, "a command waits for its own queue");
}

/* ------------------------------------------------------------------------------------- commands */

spvf_status cmd_check_wait(spvf_device *d, const char *call, const spvf_wait *w) {
    if (!w) return SPVF_OK;
    if (w->count && !w->events) return dev_refuse(d, call, "wait: %zu events at NULL", w->count);
    if (w->count > UINT32_MAX / 2)
        return dev_refuse(d, call, "wait: %zu events are too many", w->count);
    for (size_t k = 0; k < w->count; k++)
        if (!w->events[k]) return dev_refuse(d, call, "wait: event %zu is NULL", k);
    return SPVF_OK;
}

spvf_event *cmd_new(spvf_queue *q, size_t size, uint32_t uses, rt_run *run) {
    size_t at = (size + sizeof(spvf_use) - 1) / sizeof(spvf_use) * sizeof(spvf_use);
    spvf_event *e = event_new(q->device, at + uses * sizeof(spvf_use), run);
    if (!e) return NULL;
    e->queue = q;
    e->use = (spvf_use *)(void *)((char *)e + at);
    rt_retain(&q->refs);
    return e;
}

static void hurry_device(rt_event *e) { rt_device_hurry(((spvf_event *)e)->device->shared.base); }

static bool await_device(rt_event *e) {
    spvf_command *c = (spvf_command *)e;
    return rt_device_await(c->event.device->shared.base, &c->submission);
}

spvf_command *cmd_new_on_device(spvf_queue *q, size_t size, uint32_t uses, rt_run *run) {
    spvf_event *e = cmd_new(q, size, uses, run);
    spvf_command *c = (spvf_command *)e;
    if (!c) return NULL;
    e->event.stream = rt_shared_stream(&q->device->shared);
    if (q->device->shared.base->driver->hurry) e->event.hurry = hurry_device;
    if (q->device->shared.base->driver->await) e->event.await = await_device;
    c->commands = &c->command;
    c->count = 1;
    return c;
}

static void say(spvf_device *d, const char *why) {
    spvf_context context;
    dev_context(d, &context);
    ir_error(&context.cx, "%s", why);
}

static void end_command(rt_submission *s, ir_status status, const char *why) {
    spvf_command *c = (spvf_command *)(void *)((char *)s - offsetof(spvf_command, submission));
    rt_trace_end_of(s, status);
    if (status != IR_OK) say(c->event.device, why);
    if (c->event.queue->profiling) c->event.ran_ns = s->ran_ns;
    rt_event_continue(&c->event.event, cmd_result((spvf_status)status));
}

int32_t cmd_run_on_device(rt_event *e) {
    spvf_command *c = (spvf_command *)e;
    rt_progress progress;
    c->submission =
        (rt_submission){.commands = c->commands,
                        .count = c->count,
                        .recording = c->recording,
                        .content = c->content,
                        .exact = c->exact || rt_is_traced(),
                        .queued = e->time[RT_QUEUED],
                        .timed = (c->exact && c->event.queue->profiling) || rt_is_traced(),
                        .ended = end_command};
    spvf_status status = dev_submit(c->event.device, &c->submission, &progress);
    return status == SPVF_OK && progress == RT_PENDING ? RT_RUNNING : cmd_result(status);
}

void cmd_add_use(spvf_use *list, uint32_t *n, spvf_buffer *b, bool writes) {
    for (uint32_t k = 0; k < *n; k++) {
        if (list[k].buffer != b) continue;
        list[k].writes |= writes;
        return;
    }
    buf_retain(b);
    list[(*n)++] = (spvf_use){b, writes};
}

void cmd_use(spvf_event *e, spvf_buffer *b, bool writes) {
    cmd_add_use(e->use, &e->uses, b, writes);
}

static void give_up(spvf_event *e) {
    e->event.status = cmd_result(SPVF_ERROR_MEMORY); /* it has never been waited for */
    rt_event_release(&e->event);
}

/* wait: room for what it waits for; the uses become accesses. */
static bool enqueue(spvf_event *e, rt_enqueue_kind kind, const spvf_wait *wait) {
    enum { FEW = 8 }; /* most commands need no memory for these lists */
    uint32_t n = wait ? (uint32_t)wait->count : 0;
    rt_event *few_events[FEW], **events = few_events;
    rt_access few_accesses[FEW], *access = few_accesses;
    if (n > FEW) events = malloc(n * sizeof *events);
    if (e->uses > FEW) access = malloc(e->uses * sizeof *access);
    bool ok = events && access;
    for (uint32_t k = 0; ok && k < n; k++) events[k] = &wait->events[k]->event;
    for (uint32_t k = 0; ok && k < e->uses; k++)
        access[k] = (rt_access){&e->use[k].buffer->resource, e->use[k].writes};
    const rt_order order = {kind, n, e->uses, events, access};
    ok = ok && rt_enqueue(&e->queue->queue, &e->event, &order);
    if (events != few_events) free(events);
    if (access != few_accesses) free(access);
    return ok;
}

static const char used[] = "a command uses a buffer of what is being fused";

/* Is it among those that queues of the device fuse? */
static bool is_near(const spvf_event *e, const spvf_buffer *b) {
    return b->device->fusing == e->device->fusing;
}

/* A copy between two devices uses a buffer of each. */
static void need_foreign_buffers(const spvf_event *e) {
    for (uint32_t k = 0; k < e->uses; k++) {
        spvf_buffer *b = e->use[k].buffer;
        if (is_near(e, b) || !fus_is_active(b->device)) continue;
        fus_begin(b->device);
        fus_need_buffer(b, used);
        fus_end(b->device);
    }
}

spvf_status cmd_submit(spvf_event *e, rt_enqueue_kind kind, const spvf_wait *wait,
                       spvf_event **out) {
    fus_need_foreign(e->device, wait);
    need_foreign_buffers(e);
    const bool active = fus_is_active(e->device);
    if (active) {
        fus_begin(e->device);
        for (uint32_t k = 0; k < e->uses; k++)
            if (is_near(e, e->use[k].buffer)) fus_need_buffer(e->use[k].buffer, used);
        fus_need_all(e->device, wait);
    }
    bool ok = enqueue(e, kind, wait);
    if (active) fus_end(e->device);
    if (!ok) {
        give_up(e);
        return SPVF_ERROR_MEMORY;
    }
    /* Not amid a call of the device: a message may have called the program. */
    if (e->event.is_left) rt_event_begin(&e->event, rt_lock_is_free(&e->device->shared.lock));
    if (out)
        *out = e;
    else
        rt_event_release(&e->event);
    return SPVF_OK;
}

/* ----------------------------------------------------------- functions of the host, and nothing */

typedef struct {
    spvf_event event; /* the first member */
    spvf_status (*function)(void *user);
    void *user;
} host_call;

static spvf_status call_host(const host_call *h) {
    if (!rt_is_traced()) return h->function(h->user);
    rt_trace_call("host", "function of the host");
    spvf_status status = h->function(h->user);
    rt_trace_end(0);
    return status;
}

static int32_t run_host(rt_event *e) {
    const host_call *h = (const host_call *)e;
    spvf_status status = call_host(h);
    if (is_status(status)) return cmd_result(status);
    return cmd_result(dev_refuse(h->event.device, "spvf_queue_host",
                                 "the function gave %d, which is no status", (int)status));
}

static spvf_status check_uses(const spvf_queue *q, const spvf_use *uses, size_t n) {
    static const char call[] = "spvf_queue_host";
    if (n && !uses) return dev_refuse(q->device, call, "%zu uses at NULL", n);
    if (n > UINT32_MAX / 64) return dev_refuse(q->device, call, "%zu uses are too many", n);
    for (size_t k = 0; k < n; k++) {
        const spvf_buffer *b = uses[k].buffer;
        if (!b) return dev_refuse(q->device, call, "use %zu: buffer is NULL", k);
        if (b->device != q->device)
            return dev_refuse(q->device, call, "use %zu: buffer is of another device", k);
    }
    return SPVF_OK;
}

spvf_status spvf_queue_host(spvf_queue *q, spvf_status (*function)(void *user), void *user,
                            const spvf_use *uses, size_t use_count, const spvf_wait *wait,
                            spvf_event **out) {
    if (out) *out = NULL;
    if (!q || !function)
        return dev_refuse(q ? q->device : NULL, __func__, "%s is NULL", q ? "function" : "queue");
    if (cmd_check_wait(q->device, __func__, wait) || check_uses(q, uses, use_count))
        return SPVF_ERROR_ARGUMENT;
    for (size_t k = 0; k < use_count; k++)
        if (buf_prepare(uses[k].buffer) != SPVF_OK) return SPVF_ERROR_MEMORY;
    host_call *h = (host_call *)cmd_new(q, sizeof *h, (uint32_t)use_count, run_host);
    if (!h) return SPVF_ERROR_MEMORY;
    h->function = function;
    h->user = user;
    for (size_t k = 0; k < use_count; k++) cmd_use(&h->event, uses[k].buffer, uses[k].writes);
    return cmd_submit(&h->event, RT_ENQUEUE_COMMAND, wait, out);
}

spvf_status nothing_enqueue(spvf_queue *q, const spvf_wait *wait, spvf_event **out) {
    spvf_event *e = cmd_new(q, sizeof *e, 0, NULL);
    return e ? cmd_submit(e, RT_ENQUEUE_COMMAND, wait, out) : SPVF_ERROR_MEMORY;
}

static spvf_status enqueue_nothing(spvf_queue *q, const char *call, rt_enqueue_kind kind,
                                   const spvf_wait *wait, spvf_event **out) {
    if (out) *out = NULL;
    if (!q || cmd_check_wait(q->device, call, wait)) return SPVF_ERROR_ARGUMENT;
    spvf_event *e = cmd_new(q, sizeof *e, 0, NULL);
    return e ? cmd_submit(e, kind, wait, out) : SPVF_ERROR_MEMORY;
}

spvf_status spvf_queue_marker(spvf_queue *q, const spvf_wait *wait, spvf_event **out) {
    return enqueue_nothing(q, __func__, RT_ENQUEUE_MARKER, wait, out);
}

spvf_status spvf_queue_barrier(spvf_queue *q, const spvf_wait *wait, spvf_event **out) {
    return enqueue_nothing(q, __func__, RT_ENQUEUE_BARRIER, wait, out);
}
