/* event.c — events: what they wait for, what waits for them, and how they end.
 *
 * A waiting event has an edge for each event that it waits for.  The edges are one block that the
 * waiting event owns, and are linked into lists of the events that it waits for.  So submitting is
 * the only place where memory can be missing.
 *
 * An edge within a stream holds its waiter back only until the blocker has begun; from then on the
 * blocker is a leader, and the edge keeps the waiter from ending before it.
 */
#include "runtime/queue/queue.h"

#include "runtime/api/runtime.h"

#include <stdlib.h>

struct rt_callback {
    rt_notify *notify;
    void *user;
    int32_t status;
    rt_callback *next;
};

void rt_event_init(rt_event *e, rt_scheduler *s, rt_run *run, void (*destroy)(rt_event *e)) {
    *e = (rt_event){.scheduler = s, .run = run, .destroy = destroy, .why_not = -1};
    rt_refs_init(&e->refs);
    atomic_init(&e->status, RT_QUEUED);
    e->time[RT_QUEUED] = rt_now_ns();
}

void rt_event_retain(rt_event *e) { rt_retain(&e->refs); }

void rt_event_release(rt_event *e) {
    if (!rt_release(&e->refs)) return;
    if (rt_event_now(e) > RT_COMPLETE) { /* a user event, destroyed when it has been ended */
        rt_event_end(e, e->why_not);
        return;
    }
    if (e->edges != e->few) free(e->edges);
    e->destroy(e);
}

/* ---------------------------------------------------------------------------------- ways to end */

/* Takes the callbacks out that are due: the last one comes first in the event's list, and the first
 * one in this. */
static rt_callback *take_due(rt_event *e, int32_t status) {
    rt_callback *due = NULL, **at = &e->callbacks;
    while (*at) {
        rt_callback *c = *at;
        if (c->status < status) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        c->next = due;
        due = c;
    }
    return due;
}

static void call(rt_event *e, rt_callback *list, int32_t status) {
    for (rt_callback *c = list, *next; c; c = next) {
        next = c->next;
        c->notify(e, status < 0 ? status : c->status, c->user);
        free(c);
    }
}

static rt_callback *change_status(rt_event *e, int32_t status, uint64_t now) {
    e->time[status < 0 ? RT_COMPLETE : status] = now;
    if (status <= RT_COMPLETE && !e->time[RT_RUNNING]) e->time[RT_RUNNING] = e->time[RT_COMPLETE];
    atomic_store_explicit(&e->status, status, memory_order_release);
    return take_due(e, status);
}

/* The first event that is ready now is handed to the thread that has ended the one before it, if
 * nothing else is ready: that thread need not wake another one. */
static void make_ready(rt_scheduler *s, rt_event *e, rt_event **handed) {
    if (handed && !*handed && !s->first)
        *handed = e;
    else
        rt_scheduler_add(s, e);
}

/* In a child, those that were given up need not run any more. */
static void unblock(rt_event *e, bool failed, rt_event **handed) {
    rt_scheduler *s = e->scheduler;
    for (rt_edge *g = e->waiting, *next; g; g = next) {
        next = g->next; /* the waiter may be gone once it is ready */
        rt_event *w = g->waiter;
        bool last = --*(g->leads ? &w->leaders : &w->blockers) == 0;
        /* Not written for a follower, which may be running and does not fail with its leader. */
        if (failed && g->fails) w->failed = true;
        bool waits = !g->leads || (w->has_outcome && !w->is_called && !w->is_ending);
        if (last && waits && rt_event_now(w) > RT_COMPLETE) make_ready(s, w, handed);
    }
    e->waiting = NULL;
}

static bool may_overtake(const rt_event *waiter, const rt_event *blocker, bool fails) {
    return blocker->stream && waiter->stream == blocker->stream && !fails;
}

static void hurry(rt_event *e) {
    if (e->hurry && e->is_begun) e->hurry(e);
}

/* It has begun: those of its stream may begin.  Others wait for its end, and threads may: these
 * wait as the device does, if they can. */
static void let_followers_begin(rt_event *e) {
    bool awaited = e->awaited || (e->queue && e->queue->finishing);
    bool pressing = e->callbacks;
    e->is_begun = true;
    if (awaited && !rt_scheduler_helps(e->scheduler)) {
        if (e->await)
            pthread_cond_broadcast(&e->scheduler->done);
        else
            pressing = true;
    }
    for (rt_edge *g = e->waiting; g; g = g->next) {
        if (!may_overtake(g->waiter, e, g->fails)) {
            pressing = true;
            continue;
        }
        g->leads = true;
        g->waiter->leaders++;
        if (--g->waiter->blockers == 0) rt_scheduler_add(e->scheduler, g->waiter);
    }
    if (pressing) hurry(e);
}

static void become_live(rt_event *e) {
    rt_scheduler *s = e->scheduler;
    e->live_after = s->live;
    if (s->live) s->live->live_before = e;
    s->live = e;
}

static void leave_live(rt_event *e) {
    rt_scheduler *s = e->scheduler;
    if (!e->live_before && s->live != e) return; /* a user event */
    *(e->live_before ? &e->live_before->live_after : &s->live) = e->live_after;
    if (e->live_after) e->live_after->live_before = e->live_before;
    e->live_before = e->live_after = NULL;
}

/* With the lock held: the callbacks that are to be called. */
static rt_callback *end_without_callbacks(rt_event *e, int32_t status, uint64_t now,
                                          rt_event **handed) {
    rt_scheduler *s = e->scheduler;
    leave_live(e);
    rt_callback *due = change_status(e, status, now);
    unblock(e, status < 0, due ? NULL : handed);
    if (e->queue) rt_queue_remove(e->queue, e);
    if (e->awaited || (e->queue && rt_queue_is_awaited(e->queue))) pthread_cond_broadcast(&s->done);
    return due;
}

/* With the lock held, which is let go; the callbacks are those of the end.  It may have been given
 * up: the command itself has forked, and goes on in the child.  An event is handed on only if there
 * are no callbacks, which may take any time.  handed: NULL if the caller takes none. */
static void finish(rt_event *e, int32_t status, rt_event **handed) {
    rt_scheduler *s = e->scheduler;
    if (rt_event_now(e) <= RT_COMPLETE) {
        pthread_mutex_unlock(&s->lock);
        return;
    }
    rt_callback *due = end_without_callbacks(e, status, rt_now_ns(), handed);
    if (due) rt_scheduler_begin_callbacks(s);
    pthread_mutex_unlock(&s->lock);
    if (!due) return;
    call(e, due, status);
    pthread_mutex_lock(&s->lock);
    rt_scheduler_end_callbacks(s);
    pthread_mutex_unlock(&s->lock);
}

/* What the command does has ended with `status`, or RT_RUNNING: it goes on elsewhere.  Gives what
 * the event ends with now, or RT_RUNNING: it may be gone. */
static int32_t settle(rt_event *e, int32_t status) {
    if (!e->stream && status != RT_RUNNING) return status;
    rt_scheduler *s = e->scheduler;
    pthread_mutex_lock(&s->lock);
    e->is_called = false;
    if (status != RT_RUNNING) {
        e->outcome = status;
        e->has_outcome = true;
    }
    if (!e->has_outcome) let_followers_begin(e);
    status = e->has_outcome && !e->leaders ? e->outcome : RT_RUNNING;
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* With the lock held. */
static rt_callback *begin_to_run(rt_event *e, uint64_t now) {
    e->runner = pthread_self();
    e->is_called = true;
    return change_status(e, RT_RUNNING, now);
}

static int32_t run(rt_event *e) {
    rt_scheduler *s = e->scheduler;
    pthread_mutex_lock(&s->lock);
    rt_callback *due = begin_to_run(e, rt_now_ns());
    pthread_mutex_unlock(&s->lock);
    call(e, due, RT_RUNNING);
    return e->run(e);
}

/* Devices end many at once: only the first one wakes a thread, which ends all; none does if this
 * thread will. */
void rt_event_continue(rt_event *e, int32_t outcome) {
    rt_scheduler *s = e->scheduler;
    rt_event *head = atomic_load_explicit(&s->continued, memory_order_relaxed);
    e->outcome = outcome;
    do e->next = head;
    while (!atomic_compare_exchange_weak_explicit(&s->continued, &head, e, memory_order_release,
                                                  memory_order_relaxed));
    if (head) return;
    pthread_mutex_lock(&s->lock);
    if (!rt_scheduler_ends(s)) rt_scheduler_wake(s);
    pthread_mutex_unlock(&s->lock);
}

/* With the lock held: those that have continued, the first one first, without those whose `run` has
 * not returned yet: their threads end them. */
static rt_event *take_continued(rt_scheduler *s) {
    rt_event *list = NULL, *e = atomic_exchange_explicit(&s->continued, NULL, memory_order_acquire);
    for (rt_event *next; e; e = next) {
        next = e->next;
        e->has_outcome = true;
        e->is_ending = !e->is_called;
        if (e->is_called) continue;
        e->next = list;
        list = e;
    }
    return list;
}

/* With the lock held: ends those that have no leaders; the list of them.  What has callbacks is
 * left to a thread of the scheduler, as those may take any time. */
static rt_event *end_list(rt_scheduler *s, rt_event *list) {
    rt_event *ended = NULL;
    uint64_t now = rt_now_ns();
    for (rt_event *e = list, *next; e; e = next) {
        next = e->next;
        e->is_ending = false;
        if (e->leaders || rt_event_now(e) <= RT_COMPLETE) continue;
        if (e->callbacks) {
            rt_scheduler_add(s, e);
            continue;
        }
        end_without_callbacks(e, e->outcome, now, NULL);
        e->next = ended;
        ended = e;
    }
    return ended;
}

bool rt_event_end_continued(rt_scheduler *s) {
    if (!atomic_load_explicit(&s->continued, memory_order_relaxed)) return false;
    rt_event *list = take_continued(s);
    pthread_mutex_unlock(&s->lock);
    for (rt_event *e = list; e; e = e->next) {
        if (e->ended) e->ended(e);
        e->ended = NULL;
    }
    pthread_mutex_lock(&s->lock);
    list = end_list(s, list);
    pthread_mutex_unlock(&s->lock);
    for (rt_event *e = list, *next; e; e = next) {
        next = e->next;
        rt_event_release(e);
    }
    pthread_mutex_lock(&s->lock);
    return true;
}

/* It is ready: for the first time, or because it has ended, and its leaders too. */
static int32_t status_to_end_with(rt_event *e) {
    if (e->has_outcome) return e->outcome;
    if (e->failed) return settle(e, e->why_not);
    return e->run ? settle(e, run(e)) : RT_COMPLETE;
}

/* RT_RUNNING: it may be gone. */
static rt_event *end_or_go_on(rt_event *e, int32_t status) {
    rt_event *handed = NULL;
    if (status == RT_RUNNING) return NULL;
    rt_scheduler *s = e->scheduler;
    if (e->ended) e->ended(e);
    pthread_mutex_lock(&s->lock);
    finish(e, status, &handed);
    rt_event_release(e);
    return handed;
}

rt_event *rt_event_execute(rt_event *e) { return end_or_go_on(e, status_to_end_with(e)); }

void rt_event_give_up(rt_event *e) {
    leave_live(e);
    change_status(e, e->why_not, rt_now_ns());
    e->waiting = NULL;
    e->callbacks = NULL;
    if (e->queue) rt_queue_remove(e->queue, e);
}

/* A thread that has waited, or a callback, may give back the last reference while there are still
 * callbacks to call. */
bool rt_event_end(rt_event *e, int32_t status) {
    rt_scheduler *s = e->scheduler;
    pthread_mutex_lock(&s->lock);
    if (rt_event_now(e) <= RT_COMPLETE) {
        pthread_mutex_unlock(&s->lock);
        return false;
    }
    rt_event_retain(e);
    finish(e, status, NULL);
    rt_event_release(e);
    return true;
}

/* -------------------------------------------------------------------------------------- waiting */

static void add_edge(rt_event *e, rt_edge *edge, const rt_blocker *b) {
    int32_t status = rt_event_now(b->event);
    if (status <= RT_COMPLETE) {
        e->failed |= b->fails && status < 0;
        return;
    }
    bool leads = b->event->is_begun && may_overtake(e, b->event, b->fails);
    *edge = (rt_edge){e, b->event->waiting, b->fails, leads};
    b->event->waiting = edge;
    ++*(leads ? &e->leaders : &e->blockers);
    if (!leads) hurry(b->event);
}

bool rt_event_submit(rt_event *e, const rt_blocker *blockers, uint32_t n) {
    rt_edge *edges = n > RT_FEW_EDGES ? malloc(n * sizeof *edges) : e->few;
    if (!edges) return false;
    rt_event_retain(e);
    e->edges = edges;
    for (uint32_t k = 0; k < n; k++) add_edge(e, &edges[k], &blockers[k]);
    const uint64_t now = rt_now_ns();
    rt_callback *due = change_status(e, RT_SUBMITTED, now);
    assert(!due && "it has no callbacks yet");
    (void)due;
    become_live(e);
    e->is_left = e->blockers == 0 && e->prompt && !e->failed;
    if (e->is_left)
        begin_to_run(e, now);
    else if (e->blockers == 0)
        rt_scheduler_add(e->scheduler, e);
    return true;
}

void rt_event_begin(rt_event *e, bool here) {
    rt_scheduler *s = e->scheduler;
    e->is_left = false;
    rt_event *next = here ? end_or_go_on(e, settle(e, e->run(e))) : e;
    if (!next) return;
    pthread_mutex_lock(&s->lock);
    if (!here) e->is_called = false;
    rt_scheduler_add(s, next);
    pthread_mutex_unlock(&s->lock);
}

bool rt_event_is_own(rt_event *e) {
    return rt_event_now(e) == RT_RUNNING && e->is_called &&
           pthread_equal(e->runner, pthread_self());
}

static int32_t wait_for(rt_event *e) {
    rt_scheduler *s = e->scheduler;
    int32_t status;
    pthread_mutex_lock(&s->lock);
    bool own = rt_event_is_own(e);
    e->awaited++;
    rt_wait w = {.queue = e->queue, .event = e};
    while ((status = rt_event_now(e)) > RT_COMPLETE && !own) rt_scheduler_wait(s, &w);
    e->awaited--;
    pthread_mutex_unlock(&s->lock);
    return status;
}

int32_t rt_event_wait(rt_event *e) {
    int32_t status = rt_event_now(e);
    if (status <= RT_COMPLETE) return status;
    bool traced = rt_is_traced();
    if (traced) rt_trace_call("wait", "wait for event");
    status = wait_for(e);
    if (traced) rt_trace_end(0);
    return status;
}

bool rt_event_notify(rt_event *e, int32_t status, rt_notify *notify, void *user) {
    rt_scheduler *s = e->scheduler;
    rt_callback *c = malloc(sizeof *c);
    if (!c) return false;
    pthread_mutex_lock(&s->lock);
    int32_t now = rt_event_now(e);
    bool due = status >= now;
    *c = (rt_callback){notify, user, status, due ? NULL : e->callbacks};
    if (!due) {
        e->callbacks = c;
        hurry(e);
    }
    pthread_mutex_unlock(&s->lock);
    if (due) call(e, c, now);
    return true;
}
