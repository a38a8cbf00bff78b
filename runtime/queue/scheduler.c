/* scheduler.c — the threads that run commands.
 *
 * There are few of them: a command that needs many processors uses the pool.  A thread is started
 * when a command is ready and no thread is idle.  The thread that has ended a command goes on with
 * one that waited for it, so commands that follow each other wake no thread.  A thread that waits
 * in a function of the user does not count towards the limit, because the command that it waits for
 * may need a thread; one more may run until it continues.  Where a device can, a thread waits
 * for the last command there by itself, and ends it.  A thread that is idle for two seconds
 * ends.
 *
 * After a fork the child has no threads, and the commands that had not ended have failed there; new
 * threads are started when they are needed.  When the program ends, threads that are idle or about
 * to be idle end first; threads in callbacks do not.
 */
#include "runtime/queue/queue.h"

#include <signal.h>

enum { MOST_THREADS = 4, STACK = 8 << 20, PATIENCE_NS = 2000000000 };

static struct {
    rt_scheduler scheduler;
    pthread_once_t once;
    bool begun, ending;
} process = {.once = PTHREAD_ONCE_INIT};

static void begin(void) {
    pthread_mutex_init(&process.scheduler.lock, NULL);
    rt_cond_init(&process.scheduler.work);
    pthread_cond_init(&process.scheduler.done, NULL);
    process.begun = true;
    rt_watch_forks();
}

rt_scheduler *rt_scheduler_get(void) {
    pthread_once(&process.once, begin);
    return &process.scheduler;
}

/* A thread of the scheduler, on its stack.  A thread-local variable would take memory, of which
 * there may be none, when it is looked at first. */
struct rt_worker {
    pthread_t thread;
    bool idle, joined;  /* joined: end_idle_threads waits for its end */
    unsigned callbacks; /* of events that it has ended, one amid another */
    rt_worker *next;
};

/* --------------------------------------------------------------------------- with the lock held */

static void start_thread(rt_scheduler *s);

static bool is_this_thread(const rt_worker *w) { return pthread_equal(w->thread, pthread_self()); }

/* This thread, if it is the scheduler's, or NULL. */
static rt_worker *find_worker(const rt_scheduler *s) {
    rt_worker *w = s->workers;
    while (w && !is_this_thread(w)) w = w->next;
    return w;
}

/* What keeps the end of the program waiting may have changed. */
static void tell_end(rt_scheduler *s) {
    if (process.ending) pthread_cond_broadcast(&s->done);
}

void rt_scheduler_begin_callbacks(rt_scheduler *s) {
    rt_worker *w = find_worker(s);
    if (w) w->callbacks++;
    tell_end(s);
}

void rt_scheduler_end_callbacks(rt_scheduler *s) {
    rt_worker *w = find_worker(s);
    if (w) w->callbacks--;
}

/* A thread that waits, on its stack, while it runs a command or waits as the device does. */
struct rt_helper {
    pthread_t thread;
    bool ends; /* it waits as the device does */
    rt_helper *next;
};

/* The last thing that this thread does, or NULL. */
static const rt_helper *find_helper(const rt_scheduler *s) {
    const rt_helper *h = s->helpers;
    while (h && !pthread_equal(h->thread, pthread_self())) h = h->next;
    return h;
}

bool rt_scheduler_helps(const rt_scheduler *s) {
    const rt_helper *h = find_helper(s);
    return h && !h->ends;
}

bool rt_scheduler_ends(const rt_scheduler *s) {
    const rt_helper *h = find_helper(s);
    return h && h->ends;
}

static void begin_to_help(rt_scheduler *s, rt_helper *h, bool ends) {
    *h = (rt_helper){pthread_self(), ends, s->helpers};
    s->helpers = h;
}

static void end_to_help(rt_scheduler *s, const rt_helper *h) {
    rt_helper **at = &s->helpers;
    while (*at && *at != h) at = &(*at)->next;
    if (*at) *at = h->next;
}

/* Does it help the thread that waits? */
static bool is_wanted(const rt_event *e, const rt_queue *queue, const rt_event *awaited) {
    if (e == awaited) return true;
    if (!queue || e->queue != queue) return false;
    return !awaited || (queue->in_order && e->number < awaited->number);
}

static rt_event *take(rt_scheduler *s, bool any, const rt_queue *queue, const rt_event *awaited) {
    rt_event **at = &s->first, *before = NULL;
    while (*at && !any && !is_wanted(*at, queue, awaited)) {
        before = *at;
        at = &before->next;
    }
    rt_event *e = *at;
    if (!e) return NULL;
    *at = e->next;
    if (s->last == e) s->last = before;
    e->next = NULL;
    return e;
}

/* The lock is let go meanwhile.  Gives an event that this one has made ready, or NULL. */
static rt_event *run_one(rt_scheduler *s, rt_event *e) {
    pthread_mutex_unlock(&s->lock);
    rt_event *handed = rt_event_execute(e);
    pthread_mutex_lock(&s->lock);
    return handed;
}

/* Runs this one, and what it makes ready and is waited for. */
static void run_wanted(rt_scheduler *s, rt_wait *w, rt_event *e) {
    rt_helper h;
    begin_to_help(s, &h, false);
    do e = run_one(s, e);
    while (e && is_wanted(e, w->queue, w->event));
    end_to_help(s, &h);
    if (e) rt_scheduler_add(s, e);
    w->is_told = false;
}

/* The last command that is waited for, if it has begun on a device that a thread can wait as; or
 * NULL. */
static rt_event *find_awaited(const rt_wait *w) {
    rt_event *e = w->event ? w->event : w->queue->newest;
    return !w->is_told && e && e->is_begun && e->await ? e : NULL;
}

/* Waits as the device does, so the end of the command reaches this thread by no other one.  Where
 * another thread does so, or waits for an earlier command, the device is told. */
static void wait_for_device(rt_scheduler *s, rt_wait *w, rt_event *e) {
    rt_helper h;
    rt_event_retain(e);
    begin_to_help(s, &h, true);
    pthread_mutex_unlock(&s->lock);
    bool done = e->await(e);
    pthread_mutex_lock(&s->lock);
    end_to_help(s, &h);
    while (rt_event_end_continued(s)) {
    }
    w->is_told = !done && (w->event || w->queue->newest == e);
    pthread_mutex_unlock(&s->lock);
    rt_event_release(e);
    pthread_mutex_lock(&s->lock);
}

void rt_scheduler_wait(rt_scheduler *s, rt_wait *w) {
    bool alone = s->started == 0 || process.ending;
    if (rt_event_end_continued(s)) return;
    rt_event *e = take(s, alone, w->queue, w->event);
    if (e) {
        run_wanted(s, w, e);
        return;
    }
    if ((e = find_awaited(w))) {
        wait_for_device(s, w, e);
        return;
    }
    bool blocked = find_worker(s) != NULL;
    s->waiting++;
    s->blocked += blocked;
    if (s->first && !s->idle) start_thread(s);
    pthread_cond_wait(&s->done, &s->lock);
    w->is_told = false;
    s->blocked -= blocked;
    s->waiting--;
}

static bool are_too_many(const rt_scheduler *s) { return s->started - s->blocked > MOST_THREADS; }

/* In a child that it has forked itself, the scheduler has forgotten it already. */
static void forget(rt_scheduler *s, const rt_worker *w) {
    rt_worker **at = &s->workers;
    while (*at && *at != w) at = &(*at)->next;
    if (!*at) return;
    *at = w->next;
    s->started--;
    tell_end(s);
}

static rt_event *take_next(rt_scheduler *s) {
    while (rt_event_end_continued(s)) {
    }
    return take(s, true, NULL, NULL);
}

static void *work(void *arg) {
    rt_scheduler *s = arg;
    rt_trace_name_thread("spvfuse commands");
    pthread_mutex_lock(&s->lock);
    rt_worker me = {.thread = pthread_self(), .next = s->workers};
    s->workers = &me;
    for (bool wanted = true;;) {
        for (rt_event *e = NULL; e || (e = take_next(s)); wanted = true) e = run_one(s, e);
        if (are_too_many(s) || me.joined || !wanted) break;
        s->idle++;
        me.idle = true;
        tell_end(s);
        wanted = rt_cond_wait_idle(&s->work, &s->lock);
        me.idle = false;
        s->idle--;
    }
    forget(s, &me);
    if (!me.joined) pthread_detach(me.thread);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void start_thread(rt_scheduler *s) {
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all, before;
    if (s->started - s->blocked >= MOST_THREADS || process.ending) return;
    if (pthread_attr_init(&attr) != 0) return;
    pthread_attr_setstacksize(&attr, STACK);
    sigfillset(&all); /* signals of the program are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->started += pthread_create(&thread, &attr, work, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
}

void rt_scheduler_wake(rt_scheduler *s) {
    if (s->idle)
        pthread_cond_signal(&s->work);
    else
        start_thread(s);
    if (s->waiting) pthread_cond_broadcast(&s->done); /* one may run it */
}

void rt_scheduler_add(rt_scheduler *s, rt_event *e) {
    e->next = NULL;
    *(s->last ? &s->last->next : &s->first) = e;
    s->last = e;
    rt_scheduler_wake(s);
}

/* ----------------------------------------------------------------------------------------- ends */

/* Threads that need not be waited for. */
static unsigned count_settled(const rt_scheduler *s) {
    unsigned n = 0;
    for (const rt_worker *w = s->workers; w; w = w->next)
        n += w->idle || w->callbacks || is_this_thread(w);
    return n;
}

/* The other threads are idle soon when no command is left. */
static void await_idle(rt_scheduler *s) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += PATIENCE_NS;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    while (!s->live && count_settled(s) < s->started &&
           pthread_cond_timedwait(&s->done, &s->lock, &end) == 0) {
    }
}

/* Those that run a command are not waited for: it may never end. */
__attribute__((destructor)) static void end_idle_threads(void) {
    enum { MOST = 64 };
    rt_scheduler *s = &process.scheduler;
    pthread_t list[MOST];
    unsigned n = 0;
    if (!process.begun) return;
    pthread_mutex_lock(&s->lock);
    process.ending = true;
    await_idle(s);
    for (rt_worker *w = s->workers; w && n < MOST; w = w->next) {
        if (!w->idle) continue;
        w->joined = true;
        list[n++] = w->thread;
    }
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    while (n--) pthread_join(list[n], NULL);
}

void rt_scheduler_before_fork(void) { pthread_mutex_lock(&rt_scheduler_get()->lock); }

/* No command runs in the child, and no thread waits. */
static void forget_threads(rt_scheduler *s) {
    s->idle = s->started = s->waiting = s->blocked = 0;
    s->workers = NULL;
    s->helpers = NULL;
    s->first = s->last = NULL;
    s->continued = NULL;
    rt_cond_init(&s->work);
    pthread_cond_init(&s->done, NULL);
}

void rt_scheduler_after_fork(bool in_child) {
    rt_scheduler *s = &process.scheduler;
    if (in_child) forget_threads(s);
    while (in_child && s->live) rt_event_give_up(s->live);
    rt_mutex_after_fork(&s->lock, in_child);
}
