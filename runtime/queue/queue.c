/* queue.c — queues: which commands wait for which because of their places, and of the memory that
 * they use.
 *
 * A command of a queue that is in order waits for the one before it.  Out of order, a barrier waits
 * for all commands that have not ended, and what follows waits for the barrier.  A command that
 * waits for all waits only for the last one that did so, and for those that came after that: so
 * each command is waited for once.
 */
#include "runtime/queue/queue.h"

#include <stdlib.h>

void rt_queue_init(rt_queue *q, rt_scheduler *s, bool in_order) {
    *q = (rt_queue){.scheduler = s, .in_order = in_order};
}

static bool has_own(const rt_queue *q) {
    rt_event *e = q->oldest;
    while (e && !rt_event_is_own(e)) e = e->newer;
    return e != NULL;
}

static bool is_through(const rt_queue *q, uint64_t number) {
    return !q->oldest || q->oldest->number > number;
}

bool rt_queue_is_awaited(const rt_queue *q) { return q->finishing && is_through(q, q->awaited); }

static int32_t finish(rt_queue *q) {
    pthread_mutex_lock(&q->scheduler->lock);
    uint64_t all = q->enqueued;
    bool own = has_own(q);
    if (!q->finishing++) q->awaited = all;
    rt_wait w = {.queue = q};
    while (!own && !is_through(q, all)) rt_scheduler_wait(q->scheduler, &w);
    q->finishing--;
    int32_t failure = own ? RT_RUNNING : q->failure;
    if (!own) q->failure = RT_COMPLETE;
    pthread_mutex_unlock(&q->scheduler->lock);
    return failure;
}

int32_t rt_queue_finish(rt_queue *q) {
    bool traced = rt_is_traced();
    if (traced) rt_trace_call("wait", "wait for queue");
    int32_t failure = finish(q);
    if (traced) rt_trace_end(0);
    return failure;
}

static void note_failure(rt_queue *q, int32_t status, uint64_t number) {
    if (status >= RT_COMPLETE || (q->failure < RT_COMPLETE && q->failed < number)) return;
    q->failure = status;
    q->failed = number;
}

void rt_queue_fail(rt_queue *q, int32_t status) {
    pthread_mutex_lock(&q->scheduler->lock);
    note_failure(q, status, q->enqueued);
    pthread_mutex_unlock(&q->scheduler->lock);
}

void rt_queue_remove(rt_queue *q, rt_event *e) {
    *(e->older ? &e->older->newer : &q->oldest) = e->newer;
    *(e->newer ? &e->newer->older : &q->newest) = e->older;
    if (q->barrier == e) q->barrier = NULL;
    if (q->gathering == e) q->gathering = NULL;
    note_failure(q, rt_event_now(e), e->number);
    q->count--;
}

static void append(rt_queue *q, rt_event *e) {
    e->queue = q;
    e->number = ++q->enqueued;
    e->older = q->newest;
    *(q->newest ? &q->newest->newer : &q->oldest) = e;
    q->newest = e;
    q->count++;
}

/* --------------------------------------------------------------------------------------- memory */

/* References that are given back when the lock has been: the last one ends an object of the user.
 */
typedef struct {
    rt_event **list;
    uint32_t n;
} dropped;

static void drop(dropped *d, rt_event *e) { d->list[d->n++] = e; }

static bool has_ended(rt_event *e) { return rt_event_now(e) <= RT_COMPLETE; }

static void drop_ended(rt_resource *r, dropped *d) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < r->nreaders; k++) {
        if (has_ended(r->readers[k]))
            drop(d, r->readers[k]);
        else
            r->readers[n++] = r->readers[k];
    }
    r->nreaders = n;
}

/* Those that have ended are looked for when there is no room; it grows when half of it stays. */
static bool make_room(rt_resource *r, dropped *d) {
    if (r->nreaders < r->room) return true;
    drop_ended(r, d);
    if (r->nreaders < r->room / 2) return true;
    uint32_t room = 2 * r->room + 4;
    rt_event **larger = realloc(r->readers, room * sizeof *larger);
    if (!larger) return false;
    r->readers = larger;
    r->room = room;
    return true;
}

static void add_user(const rt_access *a, rt_event *e, dropped *d) {
    rt_resource *r = a->resource;
    rt_event_retain(e);
    if (!a->writes) {
        r->readers[r->nreaders++] = e;
        return;
    }
    if (r->writer) drop(d, r->writer);
    for (uint32_t k = 0; k < r->nreaders; k++) drop(d, r->readers[k]);
    r->writer = e;
    r->nreaders = 0;
}

/* -------------------------------------------------------------------------------------- joining */

rt_event *rt_queue_open_event(const rt_queue *q, const void *stream) {
    rt_event *e = q->newest;
    bool open = q->in_order && !q->finishing && e && e->is_begun && e->stream == stream &&
                !e->has_outcome && !e->is_ending && !e->awaited && !e->waiting && !e->callbacks;
    return open ? e : NULL;
}

static bool precedes(rt_event *before, const rt_event *e) {
    return (before->is_begun && before->stream == e->stream) || has_ended(before);
}

static bool is_reader(const rt_resource *r, const rt_event *e) {
    for (uint32_t k = r->nreaders; k-- > 0;)
        if (r->readers[k] == e) return true;
    return false;
}

bool rt_resource_join(rt_event *e, const rt_access *a, rt_dropped *d) {
    rt_resource *r = a->resource;
    if (r->range.scheduler) return false; /* it may share memory */
    if (r->writer == e && !(a->writes && r->nreaders)) return true;
    if (r->writer && !precedes(r->writer, e)) return false;
    if (!a->writes && is_reader(r, e)) return true;
    for (uint32_t k = 0; a->writes && k < r->nreaders; k++)
        if (!precedes(r->readers[k], e)) return false;
    dropped more = {d->list, d->n};
    if (d->n + 1 + r->nreaders > RT_FEW_DROPPED) return false;
    bool room = a->writes || make_room(r, &more);
    if (room) add_user(a, e, &more);
    d->n = more.n;
    return room;
}

/* ------------------------------------------------------------------------------------ enqueuing */

/* Most commands wait for few, and need no memory for lists of them. */
enum { FEW = 16 };

/* A command on its way to the queue. */
typedef struct {
    rt_queue *queue;
    rt_event *event;
    const rt_order *order;
    rt_blocker *blockers, few[FEW];
    uint32_t n;
    dropped dropped;
    rt_event *few_dropped[FEW];
} entry;

/* The command before it is often the last one that used its memory, too. */
static void add_blocker(entry *x, rt_event *e, bool fails) {
    if (x->n && x->blockers[x->n - 1].event == e && x->blockers[x->n - 1].fails == fails) return;
    x->blockers[x->n++] = (rt_blocker){e, fails};
}

/* Does it wait for all before it? */
static bool gathers(const rt_order *o) { return o->kind != RT_ENQUEUE_COMMAND && o->nwait == 0; }

static void find_all(entry *x) {
    const rt_queue *q = x->queue;
    rt_event *b = q->newest;
    for (; b && b != q->gathering; b = b->older) add_blocker(x, b, false);
    if (b) add_blocker(x, b, false);
}

/* What it waits for because of its place. */
static void find_before(entry *x) {
    const rt_queue *q = x->queue;
    if (q->in_order) {
        if (q->newest) add_blocker(x, q->newest, false);
    } else if (gathers(x->order)) {
        find_all(x);
    } else if (q->barrier) {
        add_blocker(x, q->barrier, false);
    }
}

typedef struct {
    entry *entry;
    const rt_access *access;
} use;

static void add_users(rt_resource *r, void *user) {
    const use *u = user;
    if (r->writer) add_blocker(u->entry, r->writer, false);
    for (uint32_t k = 0; u->access->writes && k < r->nreaders; k++)
        add_blocker(u->entry, r->readers[k], false);
}

static void count_users(rt_resource *r, void *user) { *(uint32_t *)user += 1 + r->nreaders; }

/* Room for all lists, while nothing has changed yet. */
static bool prepare(entry *x) {
    const rt_order *o = x->order;
    uint32_t users = 0;
    for (uint32_t k = 0; k < o->naccess; k++)
        rt_resource_visit(o->access[k].resource, count_users, &users);
    const bool all = !x->queue->in_order && gathers(o);
    const size_t n = o->nwait + (all ? x->queue->count : 0) + 1 + (size_t)users;
    x->blockers = n > FEW ? malloc(n * sizeof *x->blockers) : x->few;
    x->dropped.list = n > FEW ? malloc(n * sizeof *x->dropped.list) : x->few_dropped;
    bool room = x->blockers && x->dropped.list;
    for (uint32_t k = 0; room && k < o->naccess; k++)
        room = make_room(o->access[k].resource, &x->dropped);
    return room;
}

static bool submit(entry *x) {
    const rt_order *o = x->order;
    if (!prepare(x)) return false;
    for (uint32_t k = 0; k < o->nwait; k++) add_blocker(x, o->wait[k], true);
    find_before(x);
    for (uint32_t k = 0; k < o->naccess; k++)
        rt_resource_visit(o->access[k].resource, add_users, &(use){x, &o->access[k]});
    append(x->queue, x->event);
    if (!rt_event_submit(x->event, x->blockers, x->n)) {
        rt_queue_remove(x->queue, x->event);
        return false;
    }
    for (uint32_t k = 0; k < o->naccess; k++) add_user(&o->access[k], x->event, &x->dropped);
    if (o->kind == RT_ENQUEUE_BARRIER) x->queue->barrier = x->event;
    if (gathers(o)) x->queue->gathering = x->event;
    return true;
}

bool rt_enqueue(rt_queue *q, rt_event *e, const rt_order *order) {
    entry x = {.queue = q, .event = e, .order = order};
    pthread_mutex_lock(&q->scheduler->lock);
    bool ok = submit(&x);
    pthread_mutex_unlock(&q->scheduler->lock);
    for (uint32_t k = 0; k < x.dropped.n; k++) rt_event_release(x.dropped.list[k]);
    if (x.dropped.list != x.few_dropped) free(x.dropped.list);
    if (x.blockers != x.few) free(x.blockers);
    return ok;
}
