/* ends.c — how the device learns that submissions have ended.
 *
 * Submissions that have not ended are a list, in the order of the stream.  One thread of the device
 * waits for the driver's events, and an event after a submission tells of the end of all before it.
 * A callback of the driver would make the stream wait for the host after each submission, and
 * recording an event costs time, too; so only submissions whose end is to be told exactly have an
 * event of their own.  For the others the thread records one at the end of the stream when
 * something waits (cuda_hurry), or when a while has passed, so that what has ended gives its memory
 * back.
 *
 * A thread of the program that waits need not wait for that thread: it waits for the stream or the
 * event itself, and ends what has ended (cuda_await).  One thread at a time does so.  As long as
 * submissions keep coming the thread of the device looks after a while, and not each time that the
 * first one is submitted, because waking it costs more than a launch.
 *
 * Whatever waits first asks a few times whether an event has come, as most kernels are short, and
 * then sleeps until it has.
 */
#define _POSIX_C_SOURCE 200809L
#include "runtime/devices/cuda/cuda.h"
#include "runtime/system/lock.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

enum { EVENT_SLEEPS = 1, EVENT_HAS_NO_TIME = 2 }; /* flags of events */
enum { ASK_NS = 50000, WHILE_NS = 1000000, PATIENCE = 50 /* whiles without a submission */ };

/* --------------------------------------------------------------------------------------- events */

/* With the lock held. */
static cu_result take_event(cuda *d, cu_event *e) {
    if (d->free_events) {
        *e = d->free_event[--d->free_events];
        return 0;
    }
    return d->cu->event(e, EVENT_SLEEPS | EVENT_HAS_NO_TIME);
}

static void keep_event(cuda *d, cu_event e) {
    if (d->free_events < CUDA_MOST_EVENTS)
        d->free_event[d->free_events++] = e;
    else
        d->cu->end_event(e);
}

/* After all that is in the stream; *out is NULL after an error. */
static cu_result record(cuda *d, cu_event *out) {
    cu_event e = NULL;
    pthread_mutex_lock(&d->lock);
    cu_result error = take_event(d, &e);
    pthread_mutex_unlock(&d->lock);
    if (!error) error = d->cu->record(e, d->stream);
    *out = error ? NULL : e;
    if (!error || !e) return error;
    pthread_mutex_lock(&d->lock);
    keep_event(d, e);
    pthread_mutex_unlock(&d->lock);
    return error;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static cu_result wait_for(const cuda *d, cu_event e) {
    const uint64_t end = now_ns() + ASK_NS;
    cu_result error;
    while ((error = d->cu->query(e)) == CU_NOT_READY && now_ns() < end) sched_yield();
    return error == CU_NOT_READY ? d->cu->wait_for(e) : error;
}

/* ----------------------------------------------------------------------------------------- ends */

static void describe_end(cuda *d, cu_result error, char *why) {
    char kernels[200], text[150];
    cuda_describe(d->cu, error, text, sizeof text);
    cuda_list_kernels(d, kernels, sizeof kernels);
    if (cuda_note_end(d, error))
        snprintf(why, RT_CAUGHT_SIZE, "cuda: the device cannot be used any more: %s", d->lost);
    else
        snprintf(why, RT_CAUGHT_SIZE, "cuda: %s%scommands failed: %s", kernels,
                 *kernels ? ": " : "", text);
}

static void end_all(cuda *d, cuda_pending *list, cu_result error, const char *why) {
    for (cuda_pending *p = list, *next; p; p = next) {
        rt_submission *s = p->submission;
        next = p->next;
        if (!error) cuda_print(d, p->printers);
        cuda_keep_printers(d, p->printers);
        s->ended(s, error ? IR_ERR_DEVICE : IR_OK, why);
    }
}

/* ----------------------------------------------------------------------------------- the thread */

/* With the lock held: takes the submissions up to this one, and their events back. */
static cuda_pending *take_until(cuda *d, cuda_pending *last) {
    cuda_pending *list = d->first;
    for (cuda_pending *p = list; p != last->next; p = p->next)
        if (p->event) keep_event(d, p->event);
    d->first = last->next;
    if (!d->first) d->end = &d->first;
    last->next = NULL;
    return list;
}

/* Until all that is in the stream has ended. */
static cu_result wait_for_stream(cuda *d) {
    cu_event e;
    cu_result error = record(d, &e);
    if (!error) error = wait_for(d, e);
    pthread_mutex_lock(&d->lock);
    if (e) keep_event(d, e);
    pthread_mutex_unlock(&d->lock);
    return error;
}

/* With the lock held, which is let go: waits for the end of this submission by its event, or for
 * all that is in the stream, and tells of the ends.  One thread at a time does so: what is printed
 * is in order. */
static void end_until(cuda *d, cuda_pending *last, cu_result (*wait_for_all)(cuda *d)) {
    char why[RT_CAUGHT_SIZE] = "";
    cu_event e = last->event;
    d->is_awaited = true;
    pthread_mutex_unlock(&d->lock);
    cu_result error = d->cu->set_current(d->context);
    if (!error) error = e ? wait_for(d, e) : wait_for_all(d);
    if (error) describe_end(d, error, why);
    pthread_mutex_lock(&d->lock);
    cuda_pending *list = take_until(d, last);
    pthread_mutex_unlock(&d->lock);
    end_all(d, list, error, why);
    pthread_mutex_lock(&d->lock);
    d->is_awaited = false;
}

/* With the lock held, which is let go: up to the first event that is there. */
static void end_some(cuda *d) {
    cuda_pending *last = d->first;
    while (!last->event && last->next) last = last->next;
    end_until(d, last, wait_for_stream);
}

/* With the lock held: until something waits, or for a while. */
static void doze(cuda *d) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += WHILE_NS;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    d->dozes = true;
    pthread_cond_timedwait(&d->change, &d->lock, &end);
    d->dozes = false;
}

/* With the lock held: until something is submitted. */
static void sleep_until_submitted(cuda *d) {
    d->sleeps = true;
    pthread_cond_wait(&d->change, &d->lock);
    d->sleeps = false;
}

/* With the lock held: is the first submission waited for, or as old as a while? */
static bool is_due(const cuda *d, uint64_t seen) {
    return d->first && !d->is_awaited &&
           (d->first->number <= d->hurried || d->first->number <= seen || d->closing);
}

static void *work(void *arg) {
    cuda *d = arg;
    uint64_t seen = 0; /* the last submission a while ago */
    unsigned idle = 0; /* whiles since then */
    pthread_mutex_lock(&d->lock);
    while (d->first || !d->closing) {
        idle = d->submitted == seen ? idle + 1 : 0;
        seen = d->submitted;
        if (!d->first && idle > PATIENCE)
            sleep_until_submitted(d);
        else if (!is_due(d, 0))
            doze(d);
        if (is_due(d, seen)) end_some(d);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* With the lock held. */
static bool start_thread(cuda *d) {
    sigset_t all, before;
    if (d->forks_at_start == rt_forks() + 1) return true;
    sigfillset(&all); /* signals of the program are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&d->waiter, NULL, work, d) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok) d->forks_at_start = rt_forks() + 1;
    return ok;
}

/* ---------------------------------------------------------------------------------- submissions */

void cuda_expect_end(cuda *d, cuda_pending *p) {
    if (p->submission->exact) cuda_must(d, "cuEventRecord", record(d, &p->event));
    pthread_mutex_lock(&d->lock);
    bool ok = start_thread(d);
    if (!ok && p->event) keep_event(d, p->event);
    if (ok) {
        p->number = ++d->submitted;
        *d->end = p;
        d->end = &p->next;
        if (d->sleeps) pthread_cond_signal(&d->change);
    }
    pthread_mutex_unlock(&d->lock);
    if (!ok) ir_throw(&d->base.context->cx, IR_ERR_MEMORY);
}

void cuda_hurry(rt_device *device) {
    cuda *d = (cuda *)device;
    pthread_mutex_lock(&d->lock);
    d->hurried = d->submitted;
    if (d->dozes) pthread_cond_signal(&d->change);
    pthread_mutex_unlock(&d->lock);
}

/* An event of the submission has come as soon as it ends; without one the stream tells, as the
 * driver waits for it by default. */
static cu_result wait_by_driver(cuda *d) { return d->cu->wait(d->stream); }

bool cuda_await(rt_device *device, rt_submission *s) {
    cuda *d = (cuda *)device;
    cuda_pending *p = (cuda_pending *)(void *)s->own;
    pthread_mutex_lock(&d->lock);
    bool waits = d->first && d->first->number <= p->number && !d->is_awaited;
    while (waits && !p->event && p->next) p = p->next;
    if (waits) end_until(d, p, wait_by_driver);
    if (waits && is_due(d, 0)) pthread_cond_signal(&d->change);
    pthread_mutex_unlock(&d->lock);
    return waits;
}

void cuda_stop(cuda *d) {
    if (d->forks_at_start == rt_forks() + 1) {
        pthread_mutex_lock(&d->lock);
        d->closing = true;
        pthread_cond_signal(&d->change);
        pthread_mutex_unlock(&d->lock);
        pthread_join(d->waiter, NULL);
    }
    while (d->free_events) d->cu->end_event(d->free_event[--d->free_events]);
    pthread_cond_destroy(&d->change);
}
