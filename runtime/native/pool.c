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
 * When the program ends, the helpers of the shared pool end first, unless groups are running.  A
 * process whose main thread has ended continues until its last thread ends.  After a fork the child
 * has no helpers and starts new ones; only the shared pool may be used there.
 */
#define _GNU_SOURCE
#include "runtime/native/native.h"
#include "runtime/system/process.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    GRAIN_NS = 20000,      /* work that is worth waking a thread */
    CHUNK_NS = 1000,       /* work that is worth going to the counter */
    CHUNKS_PER_THREAD = 2, /* of what is left, were it all cut equally */
    DONE_NS = 10000,       /* before a caller sleeps until helpers are done */
    IDLE_NS = 50000,       /* before a helper sleeps until there is a launch */
    POLITE_NS = 2000,      /* before a thread that polls lets others run now and then */
    STACK = 8 << 20
};

typedef struct launch {
    const rt_work *work;
    uint64_t total;
    _Atomic uint64_t next;    /* the first group that no thread has taken */
    uint64_t least;           /* groups of a chunk */
    uint64_t parts;           /* a chunk is what is left divided by this */
    unsigned wanted;          /* helpers that may still join */
    _Atomic unsigned helpers; /* in it */
    pthread_cond_t done;      /* helpers is 0 */
    struct launch *older, *newer;
} launch;

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
    launch *newest;           /* of the launches that helpers may join */
    _Atomic unsigned running; /* threads that run groups; changes under the lock */
    _Atomic unsigned opened;  /* launches so far, for helpers that look out; as `running` */
    unsigned looking;         /* helpers that do */
    unsigned idle, called;    /* helpers that sleep; those of them that have been woken */
    unsigned started, limit;  /* helpers that have not ended; room for them */
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

/* --------------------------------------------------------------------------------------- chunks */

static bool take_chunk(launch *l, uint64_t *at, uint64_t *count) {
    *at = atomic_load_explicit(&l->next, memory_order_relaxed);
    do {
        uint64_t left = l->total - *at;
        if (left == 0) return false;
        *count = left / l->parts;
        if (*count < l->least) *count = l->least < left ? l->least : left;
    } while (!atomic_compare_exchange_weak_explicit(&l->next, at, *at + *count,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

static bool is_crowded(rt_pool *p) {
    return atomic_load_explicit(&p->running, memory_order_relaxed) > p->limit + 1;
}

typedef struct {
    const rt_work *work;
    ir_group_info *info;
    uint64_t at, count;
} chunk;

static void run_chunk(void *arg) {
    const chunk *c = arg;
    rt_run_groups(c->work->run, c->info, c->work->args, c->at, c->count);
}

static void run_groups(const launch *l, const rt_seat *s, uint64_t at, uint64_t count) {
    const rt_work *w = l->work;
    ir_group_info g = *w->info;
    const cg_host *host = cg_host_machine()->host;
    unsigned before = host->enter_float();
    rt_seat_place(s, w, &g);
    rt_stack_run(&s->stack, run_chunk, &(chunk){w, &g, at, count});
    host->leave_float(before);
}

/* Takes chunks until none is left, or a helper has to go; gives how many groups were run. */
static uint64_t run_chunks(rt_pool *p, launch *l, const rt_seat *s, bool helps) {
    uint64_t at, count, done = 0;
    while (!(helps && is_crowded(p)) && take_chunk(l, &at, &count)) {
        run_groups(l, s, at, count);
        done += count;
    }
    return done;
}

/* Runs ever more groups at a time, until none is left or it has taken longer than is worth help;
 * gives how many. */
static uint64_t run_short(launch *l, const rt_seat *s, uint64_t start) {
    uint64_t done = 0, count = 1;
    do {
        run_groups(l, s, done, count);
        done += count;
        count = 2 * count < l->total - done ? 2 * count : l->total - done;
    } while (count && rt_now_ns() - start < GRAIN_NS);
    l->next = done;
    return done;
}

/* ------------------------------------------------------------------ helpers, with the lock held */

static bool has_work(const launch *l) {
    return atomic_load_explicit(&l->next, memory_order_relaxed) < l->total;
}

/* The launch with the fewest helpers of those that want one, the oldest among equals. */
static launch *find_launch(const rt_pool *p) {
    launch *best = NULL;
    if (atomic_load_explicit(&p->running, memory_order_relaxed) > p->limit) return NULL;
    for (launch *l = p->newest; l; l = l->older)
        if (l->wanted && has_work(l) && (!best || l->helpers <= best->helpers)) best = l;
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

static void call_helpers(rt_pool *p, unsigned n) {
    const launch *l;
    while (n-- && (l = find_launch(p)) && l->wanted > p->looking) {
        if (p->idle > p->called) {
            p->called++;
            pthread_cond_signal(&p->work);
        } else if (p->started == p->limit || !start_helper(p)) {
            return;
        }
    }
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

/* NULL: the helper is to end. */
static launch *wait_for_launch(rt_pool *p) {
    launch *l = find_launch(p);
    bool wanted = true;
    if (!l && !p->stop) look_out(p);
    while (!p->stop && !(l = find_launch(p)) && wanted) wanted = sleep_until_called(p);
    return p->stop ? NULL : l;
}

/* Frees its place, but for a pool that stops, which joins it. */
static void leave_pool(helper *h) {
    if (h->pool->stop) return;
    h->there = false;
    h->pool->started--;
    pthread_detach(h->thread);
}

static void join_launch(rt_pool *p, launch *l) {
    l->wanted--;
    l->helpers++;
    p->running++;
    call_helpers(p, 2);
}

/* It may go on with one helper more or less: perhaps there are fewer threads later. */
static void leave_launch(rt_pool *p, launch *l, bool again) {
    if (again && has_work(l)) l->wanted++;
    p->running--;
    if (--l->helpers == 0) pthread_cond_signal(&l->done);
}

static void *help(void *arg) {
    helper *h = arg;
    rt_pool *p = h->pool;
    launch *l;
    rt_trace_name_thread("spvfuse groups");
    if (p->pin) rt_pin_thread(h->number + 1);
    pthread_mutex_lock(&p->lock);
    while ((l = wait_for_launch(p))) {
        join_launch(p, l);
        pthread_mutex_unlock(&p->lock);
        bool room = rt_seat_fill(&h->seat, l->work), traced = rt_is_traced();
        if (traced) rt_trace_call("groups", l->work->name);
        uint64_t done = room ? run_chunks(p, l, &h->seat, true) : 0;
        if (traced) rt_trace_end_call("spvfuse.group.count", done);
        pthread_mutex_lock(&p->lock);
        leave_launch(p, l, room);
    }
    leave_pool(h);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* ------------------------------------------------------------------------------------- launches */

static uint64_t known_cost(const rt_work *w) {
    return w->cost ? atomic_load_explicit(&w->cost->picoseconds, memory_order_relaxed) : 0;
}

static uint64_t expected_cost(const rt_work *w) {
    uint64_t known = known_cost(w);
    return known ? known : w->guess;
}

static uint64_t cost_of(uint64_t ns, uint64_t groups) {
    return (uint64_t)((ir_u128)ns * 1000 / groups) + 1;
}

/* Three parts of what was known, one of what was measured. */
static void learn_cost(const rt_work *w, uint64_t now) {
    uint64_t old = known_cost(w);
    if (w->cost)
        atomic_store_explicit(&w->cost->picoseconds, old ? old - old / 4 + now / 4 : now,
                              memory_order_relaxed);
}

/* Fills in how many helpers are worth having for what is left, and what they take at a time. */
static void plan_launch(const rt_pool *p, launch *l, uint64_t cost) {
    uint64_t left = l->total - l->next, wanted = p->limit;
    l->least = 1;
    if (wanted > left - 1) wanted = left - 1;
    if (cost) {
        ir_u128 worth = (ir_u128)left * cost / 1000 / GRAIN_NS;
        if (worth < wanted) wanted = (uint64_t)worth;
        if (cost < CHUNK_NS * 1000) l->least = CHUNK_NS * 1000 / cost;
    }
    l->wanted = (unsigned)wanted;
    l->parts = wanted ? (wanted + 1) * CHUNKS_PER_THREAD : 1;
}

static void open_launch(rt_pool *p, launch *l) {
    pthread_mutex_lock(&p->lock);
    l->older = p->newest;
    if (p->newest) p->newest->newer = l;
    p->newest = l;
    p->opened++;
    call_helpers(p, 2);
    pthread_mutex_unlock(&p->lock);
}

/* No helper can join any more; waits until those that have are done. */
static void close_launch(rt_pool *p, launch *l) {
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

static void run_launch(rt_pool *p, launch *l, const rt_seat *s) {
    uint64_t start = rt_now_ns(), done = 0;
    plan_launch(p, l, expected_cost(l->work));
    if (!l->wanted) done = run_short(l, s, start);
    if (done && done < l->total) plan_launch(p, l, cost_of(rt_now_ns() - start, done));
    bool shared = l->wanted != 0;
    if (shared) open_launch(p, l);
    done += run_chunks(p, l, s, false);
    if (done) learn_cost(l->work, cost_of(rt_now_ns() - start, done));
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
    launch l = {.work = work, .total = count_groups(work->info), .done = PTHREAD_COND_INITIALIZER};
    if (l.total == 0) return IR_OK;
    rt_seat *s = begin_caller(p);
    bool room = s && rt_seat_fill(s, work);
    if (room) run_launch(p, &l, s);
    end_caller(p, s);
    pthread_cond_destroy(&l.done);
    return room ? IR_OK : IR_ERR_MEMORY;
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
    return p;
}

/* Launches that come later do without. */
static void end_helpers(rt_pool *p, bool if_idle) {
    pthread_mutex_lock(&p->lock);
    bool stops = p->stop |= !if_idle || p->running == 0;
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
    rt_cond_init(&p->work);
    pthread_mutex_init(&p->lock, NULL);
}

void rt_pool_after_fork(bool in_child) {
    if (shared.pool && in_child) forget_threads(shared.pool);
    if (shared.pool && !in_child) pthread_mutex_unlock(&shared.pool->lock);
    rt_mutex_after_fork(&shared.lock, in_child);
}
