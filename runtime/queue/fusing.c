/* fusing.c — queues that fuse what is launched on them.
 *
 * Launches that are kept back are recorded in a graph.  The graph has one event, a command of no
 * queue, which ends when the last command of the graph does.  Buffers and events know the queue
 * that keeps launches which use them; a call that needs one of them, or its memory, ends the fusion
 * of that queue first.  All of this happens under one lock per device, but one for all devices cpu,
 * since buffers of two may be the same memory.  The lock is also held while the launches are
 * enqueued, so that no command that needs them comes before.
 */
#include "runtime/queue/objects.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------ the locks */

void fus_domain_init(fus_domain *f) {
    *f = (fus_domain){.queues = 0};
    rt_lock_init(&f->lock, true);
}

void fus_domain_free(fus_domain *f) { rt_lock_free(&f->lock); }

static fus_domain host;

static void init_host(void) { fus_domain_init(&host); }

fus_domain *fus_host_domain(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_host);
    return &host;
}

static void give_up_ending(fus_domain *f);

void fus_begin(spvf_device *d) {
    if (!rt_lock_take(&d->fusing->lock)) give_up_ending(d->fusing);
}

void fus_end(spvf_device *d) { rt_lock_release(&d->fusing->lock); }

/* --------------------------------------------------------------------------------------- ending */

static void mark_buffers(const spvf_launch *w, spvf_queue *fusing) {
    for (size_t n = 0; n < w->arg_count; n++)
        if (w->args[n].buffer) w->args[n].buffer->fusing = fusing;
}

static int32_t end_as_last(rt_event *e) {
    return rt_event_now(&((const spvf_event *)e)->follows->event);
}

static void drop_last(spvf_event *e) { spvf_event_destroy(e->follows); }

static bool submit(spvf_event *placeholder, spvf_event *last) {
    rt_event *e = &placeholder->event;
    const rt_blocker blocker = {last ? &last->event : NULL, false};
    pthread_mutex_lock(&e->scheduler->lock);
    bool ok = rt_event_submit(e, &blocker, last != NULL);
    pthread_mutex_unlock(&e->scheduler->lock);
    return ok;
}

/* The event ends as `last` does, or with the status; no callback is called here and now. */
static void follow(spvf_event *placeholder, spvf_event *last, spvf_status status) {
    if (last) {
        rt_event_retain(&last->event);
        placeholder->follows = last;
        placeholder->drop = drop_last;
        placeholder->event.run = end_as_last;
        if (submit(placeholder, last)) return;
        placeholder->event.run = NULL;
        status = SPVF_ERROR_MEMORY;
    }
    placeholder->event.failed = status != SPVF_OK;
    placeholder->event.why_not = cmd_result(status);
    submit(placeholder, NULL);
}

static void forget_waits(spvf_queue *q) {
    while (q->nwaits) spvf_event_destroy(q->waits[--q->nwaits]);
}

/* From here on nothing is kept any more: what needs a launch finds it enqueued.  A child of a fork
 * that comes in between counts one queue too many, which only makes searches longer. */
static void stop(spvf_queue *q) {
    bool counts = q->is_fusing;
    q->is_fusing = false;
    rt_fork_fence();
    q->device->fusing->queues -= counts;
    q->placeholder->fusing = NULL;
    graph_each_launch(q->graph, mark_buffers, NULL);
}

static spvf_status enqueue_kept(spvf_queue *q) {
    spvf_event *last = NULL;
    const spvf_wait wait = {q->waits, q->nwaits};
    spvf_status status = spvf_graph_commit(q->graph);
    if (status == SPVF_OK) status = spvf_graph_run(q->graph, q, &wait, &last);
    if (status != SPVF_OK) rt_queue_fail(&q->queue, cmd_result(status));
    follow(q->placeholder, last, status);
    spvf_event_destroy(last);
    forget_waits(q);
    return status;
}

static spvf_status end_fusion(spvf_queue *q, bool fused) {
    fus_domain *f = q->device->fusing;
    spvf_status status = SPVF_OK;
    f->ending = q;
    rt_fork_fence();
    stop(q);
    if (!fused) graph_leave_unfused(q->graph);
    if (graph_is_empty(q->graph))
        follow(q->placeholder, NULL, SPVF_OK);
    else
        status = enqueue_kept(q);
    f->ending = NULL;
    f->active--;
    return status;
}

/* In a child: the thread that was ending a fusion is not there, so its launches have failed; those
 * that it had enqueued have told the queue. */
static void give_up_ending(fus_domain *f) {
    spvf_queue *q = f->ending;
    if (!q) return;
    rt_event *e = &q->placeholder->event;
    f->ending = NULL;
    stop(q);
    if (rt_event_end(e, e->why_not)) rt_queue_fail(&q->queue, e->why_not);
    forget_waits(q);
}

static void warn(spvf_device *d, const char *text) {
    spvf_context c;
    dev_context(d, &c);
    ir_report(&c.cx, (ir_message){.severity = IR_WARNING}, "%s", text);
}

static void trace_cancel(const char *cause) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_INSTANT, 0, "fusion", "fusion cancelled");
    rt_trace_text(&t, "spvfuse.fusion.cause", cause);
    rt_trace_write(&t);
}

static void cancel_because(spvf_queue *q, const char *cause) {
    char text[160];
    snprintf(text, sizeof text, "fusion is cancelled: %s", cause);
    warn(q->device, text);
    if (rt_is_traced()) trace_cancel(cause);
    end_fusion(q, false);
}

/* ---------------------------------------------------------------------------------------- needs */

typedef struct {
    const spvf_queue *but; /* that one's launches are left */
    spvf_queue *found;
} search;

static void find_fusing(rt_resource *r, void *user) {
    search *s = user;
    spvf_queue *q = buf_of(r)->fusing;
    if (q && q != s->but) s->found = q;
}

/* A queue that has launches which use memory of the buffer, or NULL. */
static spvf_queue *fusing_queue(spvf_buffer *b, const spvf_queue *but) {
    rt_scheduler *scheduler = rt_scheduler_get();
    search s = {.but = but};
    if (!b->device->fusing->queues) return NULL;
    pthread_mutex_lock(&scheduler->lock);
    rt_resource_visit(&b->resource, find_fusing, &s);
    pthread_mutex_unlock(&scheduler->lock);
    return s.found;
}

static void need_memory(spvf_buffer *b, const spvf_queue *but, const char *cause) {
    for (spvf_queue *q; (q = fusing_queue(b, but));) cancel_because(q, cause);
}

void fus_need_buffer(spvf_buffer *b, const char *cause) { need_memory(b, NULL, cause); }

void fus_need_event(spvf_event *e, const char *cause) {
    if (e->fusing) cancel_because(e->fusing, cause);
}

static bool is_near(const spvf_device *d, const spvf_event *e) {
    return e->device->fusing == d->fusing;
}

static const char awaited[] = "a command waits for what is being fused";

void fus_need_all(const spvf_device *d, const spvf_wait *wait) {
    for (size_t n = 0; wait && n < wait->count; n++)
        if (is_near(d, wait->events[n])) fus_need_event(wait->events[n], awaited);
}

/* An event whose launches are no longer being fused stays so, so this needs no lock. */
void fus_need_foreign(const spvf_device *d, const spvf_wait *wait) {
    for (size_t n = 0; wait && n < wait->count; n++) {
        spvf_event *e = wait->events[n];
        if (is_near(d, e) || !e->fusing) continue;
        fus_begin(e->device);
        fus_need_event(e, awaited);
        fus_end(e->device);
    }
}

void fus_need_queue(spvf_queue *q, const char *cause) {
    if (q->is_fusing) cancel_because(q, cause);
}

/* -------------------------------------------------------------------------------------- keeping */

static bool has_wait(const spvf_queue *q, const spvf_event *e) {
    if (e == q->placeholder) return true; /* what is kept is in order */
    for (uint32_t k = 0; k < q->nwaits; k++)
        if (q->waits[k] == e) return true;
    return false;
}

static bool make_room(spvf_queue *q) {
    if (q->nwaits < q->room) return true;
    uint32_t room = 2 * q->room + 8;
    spvf_event **larger = realloc(q->waits, room * sizeof *larger);
    if (!larger) return false;
    q->waits = larger;
    q->room = room;
    return true;
}

static bool keep_wait(spvf_queue *q, spvf_event *e) {
    if (has_wait(q, e)) return true;
    if (!make_room(q)) return false;
    rt_event_retain(&e->event);
    q->waits[q->nwaits++] = e;
    return true;
}

/* Those of other queues' fusions are cancelled: what is kept here may not wait for what is kept
 * there, or both might wait for each other. */
static void need_others(const spvf_queue *q, const spvf_launch *w, const spvf_wait *wait) {
    static const char cause[] = "a launch that another queue fuses needs it";
    for (size_t n = 0; n < w->arg_count; n++) {
        spvf_buffer *b = w->args[n].buffer;
        if (b) need_memory(b, q, cause);
    }
    for (size_t n = 0; wait && n < wait->count; n++) {
        spvf_event *e = wait->events[n];
        if (is_near(q->device, e) && e->fusing != q) fus_need_event(e, cause);
    }
}

bool fus_take(spvf_queue *q, const spvf_launch *w, const spvf_wait *wait, spvf_event **out,
              spvf_status *status) {
    if (!q->is_fusing || w->alone) return false;
    need_others(q, w, wait);
    bool ok = true;
    for (size_t n = 0; ok && wait && n < wait->count; n++) ok = keep_wait(q, wait->events[n]);
    *status = ok ? graph_record(q->graph, w) : SPVF_ERROR_MEMORY;
    if (*status != SPVF_OK) return true;
    mark_buffers(w, q);
    if (!out) return true;
    rt_event_retain(&q->placeholder->event);
    *out = q->placeholder;
    return true;
}

/* -------------------------------------------------------------------------------------- entries */

void fus_free(spvf_queue *q) {
    spvf_graph_destroy(q->graph);
    spvf_event_destroy(q->placeholder);
    free(q->waits);
}

static spvf_status start(spvf_queue *q, const spvf_graph_options *options) {
    static const char call[] = "spvf_queue_start_fusion";
    spvf_graph *g;
    if (q->is_fusing) return dev_refuse(q->device, call, "the queue is fusing already");
    spvf_status status = graph_create(q->device, call, options, &g);
    if (status != SPVF_OK) return status;
    spvf_event *e = event_new(q->device, sizeof *e, NULL);
    if (!e) {
        spvf_graph_destroy(g);
        return SPVF_ERROR_MEMORY;
    }
    graph_may_be_refused(g);
    spvf_graph *old_graph = q->graph;
    spvf_event *old_placeholder = q->placeholder;
    q->graph = g;
    q->placeholder = e;
    e->fusing = q;
    q->device->fusing->queues++;
    q->device->fusing->active++;
    rt_fork_fence();
    q->is_fusing = true;
    spvf_graph_destroy(old_graph);
    spvf_event_destroy(old_placeholder);
    return SPVF_OK;
}

spvf_status spvf_queue_start_fusion(spvf_queue *q, const spvf_graph_options *options) {
    if (!q) return SPVF_ERROR_ARGUMENT;
    fus_begin(q->device);
    spvf_status status = start(q, options);
    fus_end(q->device);
    return status;
}

bool spvf_queue_is_fusing(const spvf_queue *q) {
    if (!q) return false;
    fus_begin(q->device);
    bool fusing = q->is_fusing;
    fus_end(q->device);
    return fusing;
}

/* Says why what was kept is several kernels. */
static void tell_refusals(const spvf_queue *q) {
    for (size_t k = 0; k < spvf_graph_kernel_count(q->graph); k++) {
        const spvf_explanation *why = spvf_graph_get_kernel(q->graph, k).refusal;
        char text[1024];
        if (!why || !why->refusal) continue;
        snprintf(text, sizeof text, "not fused: %s [%s]", why->refusal->text, why->refusal->rule);
        warn(q->device, text);
    }
}

static spvf_status complete(spvf_queue *q, spvf_event **out) {
    spvf_status status = SPVF_OK;
    if (!q->placeholder)
        return dev_refuse(q->device, "spvf_queue_complete_fusion", "fusion was never started");
    if (q->is_fusing) {
        status = end_fusion(q, true);
        tell_refusals(q);
    }
    if (status != SPVF_OK || !out) return status;
    rt_event_retain(&q->placeholder->event);
    *out = q->placeholder;
    return SPVF_OK;
}

spvf_status spvf_queue_complete_fusion(spvf_queue *q, spvf_event **out) {
    if (out) *out = NULL;
    if (!q) return SPVF_ERROR_ARGUMENT;
    fus_begin(q->device);
    spvf_status status = complete(q, out);
    fus_end(q->device);
    return status;
}

spvf_status spvf_queue_cancel_fusion(spvf_queue *q) {
    spvf_status status = SPVF_OK;
    if (!q) return SPVF_ERROR_ARGUMENT;
    fus_begin(q->device);
    if (q->is_fusing)
        status = end_fusion(q, false);
    else
        warn(q->device, "there is no fusion to be cancelled");
    fus_end(q->device);
    return status;
}

const spvf_graph *spvf_queue_last_fusion(const spvf_queue *q) {
    return q && !spvf_queue_is_fusing(q) ? q->graph : NULL;
}
