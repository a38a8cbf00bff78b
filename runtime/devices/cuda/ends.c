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
 * event itself, and ends what has ended (cuda_await).  Several threads may wait at once, each for
 * its own submission, and one at a time tells of ends.  As long as submissions keep coming the
 * thread of the device looks after a while, and not each time that the first one is submitted,
 * because waking it costs more than a launch.
 *
 * An event of the driver is recorded again only when no thread waits for it any more: otherwise
 * that thread would wait for a later submission.
 *
 * Whatever waits first asks a few times whether an event has come, as most kernels are short, and
 * then sleeps until it has.
 */
#define _POSIX_C_SOURCE 200809L
#include "runtime/devices/cuda/cuda.h"
#include "runtime/system/lock.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { EVENT_SLEEPS = 1, EVENT_HAS_NO_TIME = 2 }; /* flags of events */
enum { ASK_NS = 50000, WHILE_NS = 1000000, PATIENCE = 50 /* whiles without a submission */ };

/* --------------------------------------------------------------------------------------- events */

/* Events that are kept for later submissions.  Making and destroying one costs as much as two
 * launches, and a program may have an event for each launch that is under way. */
enum { MOST_EVENTS = 4096 };

/* An event of the driver. */
struct cuda_event {
    cu_event event;
    bool timed;       /* it is used once */
    unsigned users;   /* the submission that it belongs to, and threads that wait for it */
    cuda_event *next; /* of those that are not in use */
};

/* With the lock held: one that is not in use, or NULL. */
static cuda_event *take_event(cuda *d) {
    cuda_event *e = d->free_event;
    if (!e) return NULL;
    d->free_event = e->next;
    d->free_events--;
    e->users = 1;
    return e;
}

static void destroy_event(const cuda *d, cuda_event *e) {
    d->cu->end_event(e->event);
    free(e);
}

/* With the lock held: one user less. */
static void leave_event(cuda *d, cuda_event *e) {
    if (--e->users) return;
    if (e->timed || d->free_events == MOST_EVENTS) {
        destroy_event(d, e);
        return;
    }
    e->next = d->free_event;
    d->free_event = e;
    d->free_events++;
}

static cu_result make_event(const cuda *d, bool timed, cuda_event **out) {
    cuda_event *e = calloc(1, sizeof *e);
    if (!e) return CU_OUT_OF_MEMORY;
    cu_result error = d->cu->event(&e->event, EVENT_SLEEPS | (timed ? 0 : EVENT_HAS_NO_TIME));
    e->timed = timed;
    e->users = 1;
    if (error)
        free(e);
    else
        *out = e;
    return error;
}

/* After all that is in the stream; *out is NULL after an error. */
static cu_result record(cuda *d, bool timed, cuda_event **out) {
    rt_lock_take(&d->lock);
    cuda_event *e = timed ? NULL : take_event(d);
    rt_lock_release(&d->lock);
    cu_result error = e ? 0 : make_event(d, timed, &e);
    if (!error) error = d->cu->record(e->event, d->stream);
    *out = error ? NULL : e;
    if (!error || !e) return error;
    rt_lock_take(&d->lock);
    leave_event(d, e);
    rt_lock_release(&d->lock);
    return error;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static cu_result wait_for(const cuda *d, const cuda_event *e) {
    const uint64_t end = now_ns() + ASK_NS;
    cu_result error;
    while ((error = d->cu->query(e->event)) == CU_NOT_READY && now_ns() < end) sched_yield();
    return error == CU_NOT_READY ? d->cu->wait_for(e->event) : error;
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

/* After an error the time is not known. */
static void note_time(const cuda *d, const cuda_pending *p) {
    float ms;
    if (d->cu->elapsed(&ms, p->begin->event, p->event->event)) return;
    p->submission->ran_ns = ms > 1e-6f ? (uint64_t)(ms * 1e6) : 1;
}

/* With the lock held: takes the submissions up to a number, what they have read, and their events
 * back. */
static cuda_pending *take_until(cuda *d, uint64_t number, bool ok) {
    cuda_pending *list = d->first, **at = &list;
    for (; *at && (*at)->number <= number && !(*at)->grows; at = &(*at)->next) {
        cuda_pending *p = *at;
        p->is_listed = false;
        cuda_end_read(d, p, ok);
        d->unstaged = p->staged;
        if (p->begin) note_time(d, p);
        if (p->begin) leave_event(d, p->begin);
        if (p->event) leave_event(d, p->event);
    }
    d->first = *at;
    *at = NULL;
    if (!d->first) d->end = &d->first;
    return list;
}

/* With the lock held, which is let go: the submissions up to a number have ended.  Where another
 * thread tells of ends, this one waits for it, so what is printed is in order. */
static void tell_until(cuda *d, uint64_t number, cu_result error) {
    char why[RT_CAUGHT_SIZE] = "";
    while (d->is_telling) rt_lock_wait(&d->lock, &d->told);
    if (!d->first || d->first->number > number) return;
    d->is_telling = true;
    rt_lock_release(&d->lock);
    if (error) describe_end(d, error, why);
    rt_lock_take(&d->lock);
    cuda_pending *list = take_until(d, number, !error);
    rt_lock_release(&d->lock);
    end_all(d, list, error, why);
    rt_lock_take(&d->lock);
    d->is_telling = false;
    pthread_cond_broadcast(&d->told);
}

/* Until all that is in the stream has ended. */
static cu_result wait_for_stream(cuda *d) {
    cuda_event *e;
    cu_result error = record(d, false, &e);
    if (!error) error = wait_for(d, e);
    rt_lock_take(&d->lock);
    if (e) leave_event(d, e);
    rt_lock_release(&d->lock);
    return error;
}

/* With the lock held, which is let go: waits for the end of this submission by its event, or for
 * all that is in the stream, and tells of the ends. */
static void end_until(cuda *d, const cuda_pending *last, cu_result (*wait_for_all)(cuda *d)) {
    cuda_event *e = last->event;
    const uint64_t number = last->number;
    if (e) e->users++;
    rt_lock_release(&d->lock);
    cu_result error = d->cu->set_current(d->context);
    if (!error) error = e ? wait_for(d, e) : wait_for_all(d);
    rt_lock_take(&d->lock);
    if (e) leave_event(d, e);
    tell_until(d, number, error);
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
    pthread_cond_timedwait(&d->change, &d->lock.mutex, &end);
    d->dozes = false;
}

/* With the lock held: until something is submitted. */
static void sleep_until_submitted(cuda *d) {
    d->sleeps = true;
    rt_lock_wait(&d->lock, &d->change);
    d->sleeps = false;
}

/* With the lock held: is the thread to wait for the first submission?  Something else waits for it,
 * or it is as old as a while and no thread of the program waits by itself. */
static bool is_due(const cuda *d, uint64_t seen) {
    if (!d->first) return false;
    const uint64_t number = d->first->number;
    return number <= d->hurried || d->closing || (number <= seen && number > d->awaited);
}

static void *work(void *arg) {
    cuda *d = arg;
    uint64_t seen = 0; /* the last submission a while ago */
    unsigned idle = 0; /* whiles since then */
    rt_lock_take(&d->lock);
    while (d->first || !d->closing) {
        idle = d->submitted == seen ? idle + 1 : 0;
        seen = d->submitted;
        if (!d->first && idle > PATIENCE)
            sleep_until_submitted(d);
        else if (!is_due(d, 0))
            doze(d);
        if (is_due(d, seen)) end_some(d);
    }
    rt_lock_release(&d->lock);
    return NULL;
}

/* In a child: no thread of the parent is there that waits or tells of ends. */
static void forget_threads(cuda *d) {
    rt_cond_init(&d->change);
    rt_cond_init(&d->told);
    d->is_telling = d->dozes = d->sleeps = false;
}

/* With the lock held. */
static bool start_thread(cuda *d) {
    sigset_t all, before;
    if (d->forks_at_start == rt_forks() + 1) return true;
    if (d->forks_at_start) forget_threads(d);
    sigfillset(&all); /* signals of the program are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&d->waiter, NULL, work, d) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok) d->forks_at_start = rt_forks() + 1;
    return ok;
}

/* ---------------------------------------------------------------------------------- submissions */

void cuda_expect_begin(cuda *d, cuda_pending *p) {
    if (p->submission->timed) cuda_must(d, "cuEventRecord", record(d, true, &p->begin));
}

void cuda_forget_begin(cuda *d, const cuda_pending *p) {
    rt_lock_take(&d->lock);
    if (p->begin) leave_event(d, p->begin);
    rt_lock_release(&d->lock);
}

void cuda_expect_end(cuda *d, cuda_pending *p) {
    const rt_submission *s = p->submission;
    p->staged = d->staged;
    if (s->exact) cuda_must(d, "cuEventRecord", record(d, s->timed, &p->event));
    rt_lock_take(&d->lock);
    bool ok = start_thread(d);
    if (!ok && p->event) leave_event(d, p->event);
    if (ok) {
        p->since = p->number = ++d->submitted;
        p->is_listed = true;
        d->reads += p->read.bytes != 0;
        *d->end = p;
        d->end = &p->next;
        if (d->sleeps) pthread_cond_signal(&d->change);
    }
    rt_lock_release(&d->lock);
    if (!ok) ir_throw(&d->base.context->cx, IR_ERR_MEMORY);
}

/* ----------------------------------------------------------------------------------- extensions
 *
 * The end of a submission that is extended is that of what it is extended by: it gets the next
 * number, so what has been recorded in the stream before does not tell of it any more.
 */

static bool has_kernel(const cuda_pending *p, const rt_function *f) {
    const rt_submission *s = p->submission;
    for (size_t n = 0; n < s->count; n++)
        if (s->commands[n].kind == RT_COMMAND_LAUNCH && s->commands[n].launch.function == f)
            return true;
    for (unsigned n = 0; n < p->more_count; n++)
        if (p->more[n] == f) return true;
    return false;
}

/* With the lock held: messages name its kernels. */
static bool take_kernels(cuda_pending *p, const rt_more *more) {
    if (more->commands == p->submission->commands) return true;
    for (size_t n = 0; n < more->count; n++) {
        const rt_function *f = more->commands[n].launch.function;
        if (f->prints) return false;
        if (has_kernel(p, f)) continue;
        if (p->more_count == CUDA_MORE) return false;
        p->more[p->more_count++] = f;
    }
    return true;
}

bool cuda_begin_more(cuda *d, cuda_pending *p, const rt_more *more) {
    rt_lock_take(&d->lock);
    p->grows = p->is_listed && !p->next && !p->event && !p->printers && take_kernels(p, more);
    bool grows = p->grows;
    rt_lock_release(&d->lock);
    return grows;
}

void cuda_end_more(cuda *d, cuda_pending *p) {
    rt_lock_take(&d->lock);
    const bool hurried = p->number <= d->hurried;
    p->number = ++d->submitted;
    if (hurried) d->hurried = p->number;
    p->grows = false;
    rt_lock_release(&d->lock);
}

void cuda_hurry(rt_device *device) {
    cuda *d = (cuda *)device;
    rt_lock_take(&d->lock);
    d->hurried = d->submitted;
    if (d->dozes) pthread_cond_signal(&d->change);
    rt_lock_release(&d->lock);
}

/* An event of the submission has come as soon as it ends; without one the stream tells, as the
 * driver waits for it by default. */
static cu_result wait_by_driver(cuda *d) { return d->cu->wait(d->stream); }

bool cuda_await(rt_device *device, rt_submission *s) {
    cuda *d = (cuda *)device;
    cuda_pending *p = (cuda_pending *)(void *)s->own;
    rt_lock_take(&d->lock);
    bool waits = d->first && d->first->number <= p->number && !d->is_telling;
    while (waits && !p->event && p->next) p = p->next;
    if (waits && p->number > d->awaited) d->awaited = p->number;
    if (waits) end_until(d, p, wait_by_driver);
    rt_lock_release(&d->lock);
    return waits;
}

void cuda_stop(cuda *d) {
    if (d->forks_at_start == rt_forks() + 1) {
        rt_lock_take(&d->lock);
        d->closing = true;
        pthread_cond_signal(&d->change);
        rt_lock_release(&d->lock);
        pthread_join(d->waiter, NULL);
    }
    for (cuda_event *e; (e = take_event(d));) destroy_event(d, e);
    rt_cond_free(&d->told);
    rt_cond_free(&d->change);
}
