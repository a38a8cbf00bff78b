/* pool.c — the pool of threads that run the work-groups of launches.
 *
 * Chunks.  A launch is a counter of work-groups.  Each thread takes chunks from it until none is
 * left; a chunk is a share of the remaining groups, so chunks become smaller towards the end
 * (guided self-scheduling, Polychronopoulos and Kuck 1987).
 *
 * Helpers.  The calling thread starts at once.  Helpers join as they wake up, and each of them
 * wakes two more while the launch needs more.  The number of helpers is derived from the times of
 * earlier launches of the kernel, or from a guess for the first.  If the caller would finish
 * before a helper could wake up, it wakes none; it then begins with few groups, and wakes helpers
 * if these take longer than the whole launch should.
 *
 * The pool has a fixed number of running threads.  A helper joins a launch while fewer are running,
 * and leaves between two chunks if callers have exceeded the number.  An idle helper polls for the
 * next launch for a while before it sleeps, because launches often follow each other closely and
 * waking a thread takes longer than a small launch.  After a longer time it ends, which frees its
 * place.
 *
 * Each thread has a seat, with memory of its own (seat.c); callers borrow one.
 *
 * Jobs.  A helper that looks for a launch to join takes a job first, if no other helper has one:
 * at most one thread compiles for later launches.  It counts as a thread that runs groups, so it
 * does not add to their number.  A job that has not begun can be taken back, and one that runs can
 * be told to end soon.
 *
 * When the program ends, the helpers of the shared pool end first, unless groups are running.  A
 * process whose main thread has ended continues until its last thread ends.  After a fork the child
 * has no helpers and starts new ones; only the shared pool may be used there.
 */
#define _GNU_SOURCE
#include "runtime/native/pool_impl.h"
#include "runtime/system/process.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    DONE_NS = 10000,  /* before a caller sleeps until helpers are done */
    IDLE_NS = 50000,  /* before a helper sleeps until there is a launch */
    POLITE_NS = 2000, /* before a thread that polls lets others run now and then */
    STACK = 8 << 20
};

typedef struct {
    rt_pool *pool;
    pthread_t thread;
    unsigned number;
    bool there; /* its thread; the seat is kept for the next one */
    rt_seat seat;
} helper;

struct rt_pool {
    pthread_mutex_t lock; /* of all that follows and is not atomic */
    pthread_cond_t work;
    pool_launch *newest;      /* of the launches that helpers may join */
    _Atomic unsigned running; /* threads that run groups; changes under the lock */
    _Atomic unsigned opened;  /* launches so far, for helpers that look out; as `running` */
    unsigned looking;         /* helpers that do */
    unsigned idle, called;    /* helpers that sleep; those of them that have been woken */
    unsigned started, limit;  /* helpers that have not ended; room for them */
    rt_job *first_job;        /* of those that have not begun */
    rt_job *job;              /* that a helper runs, or NULL */
    pthread_cond_t job_ended;
    bool stop, pin;
    rt_seat *seats;
    pid_t owner; /* the process that has helpers */
    helper helpers[];
};

/* ---------------------------------------------------------------------------------------- seats */

static rt_seat *take_seat(rt_pool *p) {
    rt_seat *s = p->seats;
    if (!s) return calloc(1, sizeof *s);
    p->seats = s->next;
    return s;
}

static void give_seat(rt_pool *p, rt_seat *s) {
    s->next = p->seats;
    p->seats = s;
}

static bool is_crowded(rt_pool *p) {
    return atomic_load_explicit(&p->running, memory_order_relaxed) > p->limit + 1;
}

/* Takes chunks until none is left, or a helper has to go; gives how many groups were run. */
static uint64_t run_chunks(rt_pool *p, pool_launch *l, const rt_seat *s, bool helps) {
    uint64_t at, count, done = 0;
    while (!(helps && is_crowded(p)) && pool_take_chunk(l, &at, &count)) {
        pool_run_groups(l, s, at, count);
        done += count;
    }
    return done;
}

/* ------------------------------------------------------------------ helpers, with the lock held */

/* The launch with the fewest helpers of those that want one, the oldest among equals. */
static pool_launch *find_launch(const rt_pool *p) {
    pool_launch *best = NULL;
    if (atomic_load_explicit(&p->running, memory_order_relaxed) > p->limit) return NULL;
    for (pool_launch *l = p->newest; l; l = l->older)
        if (l->wanted && pool_has_work(l) && (!best || l->helpers <= best->helpers)) best = l;
    return best;
}

static void *help(void *arg);

/* One of them is free. */
static helper *find_place(rt_pool *p) {
    unsigned n = 0;
    while (p->helpers[n].there) n++;
    p->helpers[n] = (helper){.pool = p, .number = n, .seat = p->helpers[n].seat};
    return &p->helpers[n];
}

static bool start_helper(rt_pool *p) {
    pthread_attr_t attr;
    sigset_t all, before;
    if (p->stop || p->owner != getpid() || pthread_attr_init(&attr) != 0) return false;
    helper *h = find_place(p);
    pthread_attr_setstacksize(&attr, STACK);
    sigfillset(&all); /* signals of the program are not for helpers */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    h->there = pthread_create(&h->thread, &attr, help, h) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    p->started += h->there;
    return h->there;
}

/* False: none is idle, and no more can be started. */
static bool call_helper(rt_pool *p) {
    if (p->idle == p->called) return p->started < p->limit && start_helper(p);
    p->called++;
    pthread_cond_signal(&p->work);
    return true;
}

static void call_helpers(rt_pool *p, unsigned n) {
    const pool_launch *l;
    while (n-- && (l = find_launch(p)) && l->wanted > p->looking && call_helper(p)) continue;
}

/* A turn of a thread that has polled since `start`.  What it waits for may need its processor. */
static void poll_once(uint64_t start, uint64_t now) {
    for (int n = 0; n < 8; n++) cg_host_machine()->host->relax();
    if (now - start > POLITE_NS) sched_yield();
}

/* Without the lock, until there is another launch or it has taken too long. */
static void look_out(rt_pool *p) {
    unsigned opened = p->opened;
    p->looking++;
    pthread_mutex_unlock(&p->lock);
    uint64_t start = rt_now_ns(), now = start;
    for (; atomic_load_explicit(&p->opened, memory_order_relaxed) == opened; now = rt_now_ns()) {
        if (now - start > IDLE_NS) break;
        poll_once(start, now);
    }
    pthread_mutex_lock(&p->lock);
    p->looking--;
}

/* False: no call has come for a while. */
static bool sleep_until_called(rt_pool *p) {
    p->idle++;
    bool called = rt_cond_wait_idle(&p->work, &p->lock) || p->called;
    p->idle--;
    if (p->called) p->called--;
    return called;
}

/* What a helper does next: a job or, if there is none, a launch.  False: it is to end. */
static bool find_work(rt_pool *p, pool_launch **l) {
    *l = NULL;
    return (p->first_job && !p->job) || (*l = find_launch(p));
}

static bool wait_for_work(rt_pool *p, pool_launch **l) {
    bool wanted = true;
    if (!find_work(p, l) && !p->stop) look_out(p);
    while (!p->stop && !find_work(p, l)) {
        if (!wanted) return false;
        wanted = sleep_until_called(p);
    }
    return !p->stop;
}

/* Frees its place, but for a pool that stops, which joins it. */
static void leave_pool(helper *h) {
    if (h->pool->stop) return;
    h->there = false;
    h->pool->started--;
    pthread_detach(h->thread);
}

static void join_launch(rt_pool *p, pool_launch *l) {
    l->wanted--;
    l->helpers++;
    p->running++;
    call_helpers(p, 2);
}

/* It may go on with one helper more or less: perhaps there are fewer threads later. */
static void leave_launch(rt_pool *p, pool_launch *l, bool again) {
    if (again && pool_has_work(l)) l->wanted++;
    p->running--;
    if (--l->helpers == 0) pthread_cond_signal(&l->done);
}

/* The lock is let go meanwhile, as in the next one. */
static void help_launch(helper *h, pool_launch *l) {
    rt_pool *p = h->pool;
    join_launch(p, l);
    pthread_mutex_unlock(&p->lock);
    bool room = rt_seat_fill(&h->seat, l->work), traced = rt_is_traced();
    if (traced) rt_trace_call("groups", l->work->name);
    uint64_t done = room ? run_chunks(p, l, &h->seat, true) : 0;
    if (traced) rt_trace_end_call("spvfuse.group.count", done);
    pthread_mutex_lock(&p->lock);
    leave_launch(p, l, room);
}

static void run_job(rt_pool *p) {
    rt_job *j = p->job = p->first_job;
    p->first_job = j->next;
    p->running++;
    j->begun = true;
    call_helpers(p, 1); /* for a launch that counted on this one */
    pthread_mutex_unlock(&p->lock);
    j->run(j);
    pthread_mutex_lock(&p->lock);
    p->running--;
    p->job = NULL;
    atomic_store_explicit(&j->ended, true, memory_order_release); /* it may be freed now */
    pthread_cond_broadcast(&p->job_ended);
}

static void *help(void *arg) {
    helper *h = arg;
    rt_pool *p = h->pool;
    pool_launch *l;
    rt_trace_name_thread("spvfuse groups");
    if (p->pin) rt_pin_thread(h->number + 1);
    pthread_mutex_lock(&p->lock);
    while (wait_for_work(p, &l)) {
        if (l)
            help_launch(h, l);
        else
            run_job(p);
    }
    leave_pool(h);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* ------------------------------------------------------------------------------------- launches */

static void open_launch(rt_pool *p, pool_launch *l) {
    pthread_mutex_lock(&p->lock);
    l->older = p->newest;
    if (p->newest) p->newest->newer = l;
    p->newest = l;
    p->opened++;
    call_helpers(p, 2);
    pthread_mutex_unlock(&p->lock);
}

/* No helper can join any more; waits until those that have are done. */
static void close_launch(rt_pool *p, pool_launch *l) {
    pthread_mutex_lock(&p->lock);
    *(l->newer ? &l->newer->older : &p->newest) = l->older;
    if (l->older) l->older->newer = l->newer;
    pthread_mutex_unlock(&p->lock);
    uint64_t start = rt_now_ns(), now = start;
    for (; atomic_load_explicit(&l->helpers, memory_order_relaxed); now = rt_now_ns()) {
        if (now - start > DONE_NS) break;
        poll_once(start, now);
    }
    pthread_mutex_lock(&p->lock);
    while (l->helpers) pthread_cond_wait(&l->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void run_launch(rt_pool *p, pool_launch *l, const rt_seat *s) {
    uint64_t start = rt_now_ns(), done = 0;
    pool_plan_launch(l, p->limit, pool_expected_cost(l->work));
    if (!l->wanted) done = pool_run_short(l, s, start);
    if (done && done < l->total)
        pool_plan_launch(l, p->limit, pool_cost_of(rt_now_ns() - start, done));
    bool shared = l->wanted != 0;
    if (shared) open_launch(p, l);
    done += run_chunks(p, l, s, false);
    if (done) pool_learn_cost(l->work, pool_cost_of(rt_now_ns() - start, done));
    if (shared) close_launch(p, l);
}

static rt_seat *begin_caller(rt_pool *p) {
    pthread_mutex_lock(&p->lock);
    rt_seat *s = take_seat(p);
    p->running++;
    pthread_mutex_unlock(&p->lock);
    return s;
}

static void end_caller(rt_pool *p, rt_seat *s) {
    pthread_mutex_lock(&p->lock);
    p->running--;
    if (s) give_seat(p, s);
    call_helpers(p, 1);
    pthread_mutex_unlock(&p->lock);
}

static uint64_t count_groups(const ir_group_info *g) {
    return g->num_groups[0] * g->num_groups[1] * g->num_groups[2];
}

ir_status rt_pool_run(rt_pool *p, const rt_work *work) {
    pool_launch l = {.work = work,
                     .total = work->groups ? work->groups : count_groups(work->info),
                     .done = PTHREAD_COND_INITIALIZER};
    if (l.total == 0) return IR_OK;
    rt_seat *s = begin_caller(p);
    bool room = s && rt_seat_fill(s, work);
    if (room) run_launch(p, &l, s);
    end_caller(p, s);
    pthread_cond_destroy(&l.done);
    return room ? IR_OK : IR_ERR_MEMORY;
}

/* ----------------------------------------------------------------------------------------- jobs */

/* Helpers that look out are told of it as of a launch. */
bool rt_pool_add_job(rt_pool *p, rt_job *j) {
    pthread_mutex_lock(&p->lock);
    rt_job **end = &p->first_job;
    while (*end) end = &(*end)->next;
    bool busy = p->job || p->first_job || p->looking;
    bool taken =
        !p->stop && p->owner == getpid() && p->limit && (busy || call_helper(p) || p->started);
    j->next = NULL;
    if (taken) *end = j;
    if (taken) p->opened++;
    pthread_mutex_unlock(&p->lock);
    return taken;
}

bool rt_pool_end_job(rt_pool *p, rt_job *j, bool cancel) {
    pthread_mutex_lock(&p->lock);
    rt_job **at = &p->first_job;
    while (*at && *at != j) at = &(*at)->next;
    bool waits = *at;
    if (waits) *at = j->next;
    if (cancel) j->cancelled = true;
    while (p->job == j) pthread_cond_wait(&p->job_ended, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return !waits;
}

/* ---------------------------------------------------------------------------------------- pools */

rt_pool *rt_pool_new(const rt_pool_options *options) {
    unsigned threads = options && options->threads ? options->threads : rt_default_threads();
    rt_pool *p = calloc(1, sizeof *p + (threads - 1) * sizeof(helper));
    if (!p) return NULL;
    p->limit = threads - 1;
    p->pin = options && options->pin;
    p->owner = getpid();
    pthread_mutex_init(&p->lock, NULL);
    rt_cond_init(&p->work);
    pthread_cond_init(&p->job_ended, NULL);
    return p;
}

/* Launches that come later do without; a job ends soon, those that wait never begin. */
static void end_helpers(rt_pool *p, bool if_idle) {
    pthread_mutex_lock(&p->lock);
    bool stops = p->stop |= !if_idle || p->running == (p->job != NULL);
    if (p->job && stops) p->job->cancelled = true;
    pthread_cond_broadcast(&p->work);
    for (unsigned n = 0; n < p->limit && stops; n++) {
        const helper h = p->helpers[n];
        p->helpers[n].there = false;
        pthread_mutex_unlock(&p->lock);
        if (h.there) pthread_join(h.thread, NULL);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

void rt_pool_free(rt_pool *p) {
    if (!p) return;
    if (p->owner == getpid()) {
        end_helpers(p, false);
        rt_cond_free(&p->work);
        rt_cond_free(&p->job_ended);
        pthread_mutex_destroy(&p->lock);
    }
    for (unsigned n = 0; n < p->limit; n++) rt_seat_free(&p->helpers[n].seat);
    for (rt_seat *s = p->seats, *next; s; s = next) {
        next = s->next;
        rt_seat_free(s);
        free(s);
    }
    free(p);
}

unsigned rt_pool_threads(const rt_pool *p) { return p->limit + 1; }

/* A process has processors, not a context: this one variable is shared by all of them. */
static struct {
    pthread_mutex_t lock;
    rt_pool *pool;
    unsigned users;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

rt_pool *rt_pool_share(void) {
    const rt_pool_options options = {.pin = rt_setting_is_on(RT_ENV_PIN)};
    rt_watch_forks();
    pthread_mutex_lock(&shared.lock);
    if (!shared.pool) shared.pool = rt_pool_new(&options);
    rt_pool *p = shared.pool;
    shared.users += p != NULL;
    pthread_mutex_unlock(&shared.lock);
    return p;
}

void rt_pool_give_back(rt_pool *p) {
    pthread_mutex_lock(&shared.lock);
    bool last = p && --shared.users == 0;
    if (last) shared.pool = NULL;
    pthread_mutex_unlock(&shared.lock);
    if (last) rt_pool_free(p);
}

/* At the end of the program.  Groups that run are not waited for: they may never end. */
__attribute__((destructor)) static void end_shared_pool(void) {
    pthread_mutex_lock(&shared.lock);
    rt_pool *p = shared.pool;
    if (p && p->owner == getpid()) end_helpers(p, true);
    pthread_mutex_unlock(&shared.lock);
}

/* -------------------------------------------------------------------------------------- forking */

void rt_pool_before_fork(void) {
    pthread_mutex_lock(&shared.lock);
    if (shared.pool) pthread_mutex_lock(&shared.pool->lock);
}

/* No thread of the child runs groups or sleeps.  Helpers may have been changing their memory. */
static void forget_threads(rt_pool *p) {
    p->newest = NULL;
    p->running = p->looking = p->idle = p->called = p->started = 0;
    p->owner = getpid();
    for (unsigned n = 0; n < p->limit; n++) p->helpers[n] = (helper){.there = false};
    p->first_job = p->job = NULL;
    rt_cond_init(&p->work);
    pthread_cond_init(&p->job_ended, NULL);
    pthread_mutex_init(&p->lock, NULL);
}

void rt_pool_after_fork(bool in_child) {
    if (shared.pool && in_child) forget_threads(shared.pool);
    if (shared.pool && !in_child) pthread_mutex_unlock(&shared.pool->lock);
    rt_mutex_after_fork(&shared.lock, in_child);
}
