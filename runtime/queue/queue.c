/* queue.c — queues: which commands wait for which because of their places.
 *
 * In order, each waits for the one before it.  Out of order, a barrier waits for all that has not
 * ended, and what follows waits for the barrier.
 */
#include "runtime/queue/queue.h"

#include <stdlib.h>

void rt_queue_init(rt_queue *q, rt_scheduler *s, bool in_order) {
    *q = (rt_queue){.scheduler = s, .in_order = in_order};
}

void rt_queue_finish(rt_queue *q) {
    pthread_mutex_lock(&q->scheduler->lock);
    uint64_t all = q->enqueued;
    while (q->oldest && q->oldest->number <= all) rt_scheduler_wait(q->scheduler, q);
    pthread_mutex_unlock(&q->scheduler->lock);
}

void rt_queue_remove(rt_queue *q, rt_event *e) {
    *(e->older ? &e->older->newer : &q->oldest) = e->newer;
    *(e->newer ? &e->newer->older : &q->newest) = e->older;
    if (q->barrier == e) q->barrier = NULL;
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

/* What the command waits for because of its place; gives how many. */
static uint32_t find_before(const rt_queue *q, bool all, rt_blocker *out) {
    uint32_t n = 0;
    if (q->in_order) {
        if (q->newest) out[n++] = (rt_blocker){.event = q->newest};
    } else if (all) {
        for (rt_event *b = q->oldest; b; b = b->newer) out[n++] = (rt_blocker){.event = b};
    } else if (q->barrier) {
        out[n++] = (rt_blocker){.event = q->barrier};
    }
    return n;
}

static bool submit(rt_queue *q, rt_event *e, rt_enqueue_kind kind, rt_event *const *wait,
                   uint32_t n) {
    bool all = kind != RT_ENQUEUE_COMMAND && n == 0;
    rt_blocker *blockers = malloc((n + q->count + 1) * sizeof *blockers);
    if (!blockers) return false;
    for (uint32_t k = 0; k < n; k++) blockers[k] = (rt_blocker){.event = wait[k], .fails = true};
    uint32_t total = n + find_before(q, all, blockers + n);
    append(q, e);
    bool ok = rt_event_submit(e, blockers, total);
    if (!ok) rt_queue_remove(q, e);
    if (ok && kind == RT_ENQUEUE_BARRIER) q->barrier = e;
    free(blockers);
    return ok;
}

bool rt_enqueue(rt_queue *q, rt_event *e, rt_enqueue_kind kind, rt_event *const *wait, uint32_t n) {
    pthread_mutex_lock(&q->scheduler->lock);
    bool ok = submit(q, e, kind, wait, n);
    pthread_mutex_unlock(&q->scheduler->lock);
    return ok;
}
