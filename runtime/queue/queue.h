/* queue.h — commands that wait for each other, and the threads that run them.
 *
 *   event.c      an event: what it waits for, what waits for it, how it ends
 *   scheduler.c  the threads
 *   queue.c      commands in order, or in any order between barriers
 *   resource.c   memory that commands use: which of it is the same
 *   ranges.c     memory by address
 *
 * A command is an event with something to run.  It is ready when all that it waits for has ended;
 * then a thread of the scheduler runs it, or a thread that waits for its queue: so a launch that is
 * waited for at once never changes threads.
 *
 * Everything may be called by any thread, but not for an object whose last reference is given back
 * meanwhile. */
#ifndef SPVFUSE_RUNTIME_QUEUE_H
#define SPVFUSE_RUNTIME_QUEUE_H

#include "runtime/system/lock.h"
#include "runtime/system/ref.h"
#include "runtime/system/trace.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rt_event rt_event;
typedef struct rt_queue rt_queue;
typedef struct rt_scheduler rt_scheduler;
typedef struct rt_edge rt_edge;
typedef struct rt_callback rt_callback;
typedef struct rt_worker rt_worker;
typedef struct rt_helper rt_helper;
typedef struct rt_resource rt_resource;
typedef struct rt_range rt_range;

/* ----------------------------------------------------------------------------- events (event.c) */

/* Where an event is; it only goes down.  Below 0: it failed.  The numbers are OpenCL's. */
typedef enum { RT_COMPLETE, RT_RUNNING, RT_SUBMITTED, RT_QUEUED, RT_STATUS_COUNT } rt_event_status;

/* Gives RT_COMPLETE or a number below 0.  RT_RUNNING: it goes on elsewhere, and rt_event_continue
 * tells of its end. */
typedef int32_t rt_run(rt_event *e);
/* Called when the event has come to `status` or below, by the thread that brought it there. */
typedef void rt_notify(rt_event *e, int32_t status, void *user);

/* A blocker and what waits for it. */
struct rt_edge {
    rt_event *waiter;
    rt_edge *next; /* of the same blocker */
    bool fails;
    bool leads; /* the blocker has begun and is a leader of the waiter */
};
enum { RT_FEW_EDGES = 2 };

struct rt_event {
    rt_refs refs;
    _Atomic int32_t status;
    rt_scheduler *scheduler;
    rt_queue *queue;              /* NULL: of no queue */
    rt_run *run;                  /* NULL: there is nothing to do */
    void (*ended)(rt_event *e);   /* it has run: what it used is not needed any more; or NULL */
    void (*destroy)(rt_event *e); /* the last reference has been given back */
    /* It has begun, and something waits for its end: with the lock held.  NULL: that changes
     * nothing. */
    void (*hurry)(rt_event *e);
    /* It has begun: this thread waits for its end, without the lock, as the device does.  False:
     * the device was told to hurry.  NULL: that changes nothing. */
    bool (*await)(rt_event *e);
    int32_t why_not; /* its status when something failed that it waited for */
    /* NULL, or all commands with the same stream run in the order in which they are begun.  So one
     * may begin as soon as those before it have begun, unless it fails with them. */
    const void *stream;
    bool prompt; /* `run` only begins something, so the thread that enqueues it may call it */
    uint64_t time[RT_STATUS_COUNT]; /* in ns, when it came there, by rt_event_status */

    /* The scheduler's lock is for all that follows. */
    uint32_t blockers; /* that it waits for to begin: they have not ended, or not begun */
    uint32_t leaders;  /* of its stream, begun before it and not ended: it ends after them */
    uint32_t awaited;  /* threads that wait for its end */
    bool failed;       /* a blocker has */
    bool is_called;    /* `run` is, by `runner` */
    bool is_begun;     /* `run` gave RT_RUNNING */
    bool is_left;      /* prompt, ready, and left to the thread that has submitted it */
    bool is_ending;    /* a thread is about to end it, if it has no leaders */
    bool has_outcome;  /* what `run` did or began has ended */
    int32_t outcome;   /* its status then */
    pthread_t runner;
    rt_edge *edges; /* room for what it waits for */
    rt_edge few[RT_FEW_EDGES];
    rt_edge *waiting; /* those that wait for it */
    rt_callback *callbacks;
    rt_event *next;                     /* that is ready, or has continued */
    rt_event *older, *newer;            /* of its queue, not ended */
    rt_event *live_before, *live_after; /* of the scheduler, submitted and not ended */
    uint64_t number;                    /* in its queue */
};

/* With one reference.  A user event has no command and ends by rt_event_end. */
void rt_event_init(rt_event *e, rt_scheduler *s, rt_run *run, void (*destroy)(rt_event *e));
void rt_event_retain(rt_event *e);
/* A user event that has not ended fails with its last reference. */
void rt_event_release(rt_event *e);

/* What an event waits for: `fails` says whether it fails as well. */
typedef struct {
    rt_event *event;
    bool fails;
} rt_blocker;

/* With the scheduler's lock held.  The event waits for others, and runs then; until it has ended
 * the scheduler has a reference.  False: there is no memory, and nothing has happened.  A prompt
 * event that waits for none is left to the caller, for rt_event_begin. */
bool rt_event_submit(rt_event *e, const rt_blocker *blockers, uint32_t n);
/* Runs an event that was left to this thread; or, if it is not to run here, a thread of the
 * scheduler does. */
void rt_event_begin(rt_event *e, bool here);
/* What `run` began has ended: with RT_COMPLETE, or a number below 0.  Called once, by any thread,
 * perhaps before `run` returns; a thread of the scheduler ends the event. */
void rt_event_continue(rt_event *e, int32_t outcome);
/* Ends a user event; false: it has ended. */
bool rt_event_end(rt_event *e, int32_t status);
/* Returns when it has ended, with its status; RT_RUNNING: this thread runs it, and would wait for
 * itself. */
int32_t rt_event_wait(rt_event *e);
/* With the lock held: does this thread run it? */
bool rt_event_is_own(rt_event *e);
/* The call comes at once if the event has that status already.  False: there is no memory. */
bool rt_event_notify(rt_event *e, int32_t status, rt_notify *notify, void *user);

static inline int32_t rt_event_now(rt_event *e) {
    return atomic_load_explicit(&e->status, memory_order_acquire);
}

/* -------------------------------------------------------------------- the threads (scheduler.c) */

struct rt_scheduler {
    pthread_mutex_t lock; /* of all events and queues */
    pthread_cond_t work, done;
    rt_event *first, *last;        /* ready */
    _Atomic(rt_event *) continued; /* whose work has ended, the last one first; without the lock */
    rt_event *live;                /* submitted and not ended; the last one comes first */
    unsigned idle, started;
    unsigned waiting, blocked; /* threads that wait; workers among them */
    rt_worker *workers;        /* the threads that have not ended */
    rt_helper *helpers;        /* threads that wait as devices do */
    rt_range *placed;          /* memory whose addresses programs know: a tree */
};

/* That of this process: it has processors, not a device. */
rt_scheduler *rt_scheduler_get(void);
/* With the lock held: e is ready. */
void rt_scheduler_add(rt_scheduler *s, rt_event *e);
/* What a thread waits for: an event, or all of a queue (event NULL). */
typedef struct {
    rt_queue *queue; /* or NULL */
    rt_event *event;
    bool is_told; /* the device has been told that something waits */
} rt_wait;
/* With the lock held, which is let go meanwhile: runs a ready command that the event waits for, as
 * far as its place in the queue tells, or returns when something has happened. */
void rt_scheduler_wait(rt_scheduler *s, rt_wait *w);
/* With the lock held: does this thread run a command while it waits?  Does it wait as a device
 * does, and end what continues by that? */
bool rt_scheduler_helps(const rt_scheduler *s);
bool rt_scheduler_ends(const rt_scheduler *s);
/* With the lock held: this thread begins to call functions of the user, or has called them. */
void rt_scheduler_begin_callbacks(rt_scheduler *s);
void rt_scheduler_end_callbacks(rt_scheduler *s);
/* Around a fork: no event changes meanwhile; what has not ended has failed in the child. */
void rt_scheduler_before_fork(void);
void rt_scheduler_after_fork(bool in_child);
/* With the lock held, which is let go meanwhile: ends the events that have continued.  False: there
 * are none. (event.c) */
bool rt_event_end_continued(rt_scheduler *s);
/* With the lock held: some event has continued. */
void rt_scheduler_wake(rt_scheduler *s);
/* With the lock held, in a child, which has no thread that runs it or waits for it.  What it uses
 * stays as it is, and no callback is called. (event.c) */
void rt_event_give_up(rt_event *e);
/* Runs what a ready event has to run, and ends it.  Gives an event that has become ready by that,
 * which the caller runs or adds, or NULL. (event.c) */
rt_event *rt_event_execute(rt_event *e);

/* -------------------------------------------------------------------- memory by address (ranges.c) */

/* Bytes that have an address which the program knows. */
typedef enum {
    RT_RANGE_RESOURCE,  /* of an rt_resource: perhaps a part of an allocation */
    RT_RANGE_ALLOCATION /* all that can be reached from an address in it without another one */
} rt_range_kind;

/* Zeros, but for the kind and the owner: it is in no tree. */
struct rt_range {
    rt_range_kind kind;
    const void *owner;       /* whatever made it */
    rt_scheduler *scheduler; /* NULL: it is in no tree */
    uintptr_t begin, end;
    uintptr_t farthest; /* end of all in its subtree */
    uint64_t rank;      /* above all in its subtree */
    rt_range *before, *after;
};

/* The range can be found by the addresses of its bytes, until it is removed. */
void rt_range_place(rt_scheduler *s, rt_range *r, const void *begin, size_t size);
void rt_range_remove(rt_range *r);
/* With the lock held: others that have bytes of a range, and all that have the byte at an
 * address. */
typedef void rt_visit_range(rt_range *r, void *user);
void rt_range_visit(const rt_range *r, rt_visit_range *visit, void *user);
void rt_range_visit_at(rt_scheduler *s, const void *address, rt_visit_range *visit, void *user);

/* The memory that an address leads to. */
typedef struct {
    uintptr_t begin;
    size_t size, offset; /* of the memory; of the address in it */
    bool is_whole;       /* an allocation: nothing beyond it can be reached from there */
} rt_position;
/* Of all memory that has a byte, whatever made it: whole allocations come first, then what ends
 * last.  False: nothing is known of the address. */
bool rt_find_memory(const void *address, rt_position *to);

/* ----------------------------------------------------------------------------- queues (queue.c) */

struct rt_queue {
    rt_scheduler *scheduler;
    bool in_order;
    /* The scheduler's lock is for these. */
    rt_event *oldest, *newest; /* not ended */
    uint32_t count;
    rt_event *barrier;   /* that later commands wait for, or NULL */
    rt_event *gathering; /* the last one that waits for all before it, or NULL */
    uint64_t enqueued;
    uint32_t finishing; /* threads that wait until commands of it have ended */
    uint64_t awaited;   /* the number of the last of these commands, of the first such thread */
    int32_t failure;    /* of the first command that failed and was not told of, or RT_COMPLETE */
    uint64_t failed;    /* its number */
};

typedef enum {
    RT_ENQUEUE_COMMAND, /* waits for the events that are given */
    RT_ENQUEUE_MARKER,  /* the same; when none are given, it waits for all before it */
    RT_ENQUEUE_BARRIER  /* like a marker; all that is enqueued later waits for it */
} rt_enqueue_kind;

/* Memory that commands use: one that writes waits for all before it that use the memory, one that
 * reads for the last one that wrote, whatever their queues.  Zeros: no command does, and it
 * shares no byte with any other. */
struct rt_resource {
    rt_event *writer; /* the last one; with a reference, as the next ones */
    rt_event **readers;
    uint32_t nreaders, room;
    rt_range range; /* where it lies, once it may share memory */
};

typedef struct {
    rt_resource *resource;
    bool writes;
} rt_access;

/* What a command waits for besides its place in the queue.  When one of `wait` fails it fails too.
 */
typedef struct {
    rt_enqueue_kind kind;
    uint32_t nwait, naccess;
    rt_event *const *wait;
    const rt_access *access; /* each resource once */
} rt_order;

void rt_queue_init(rt_queue *q, rt_scheduler *s, bool in_order);
/* Returns when all that was enqueued before has ended: the status of the first command, in the
 * order of enqueuing, that has failed since this was asked last, or RT_COMPLETE.  RT_RUNNING: this
 * thread runs one of them, and would wait for itself. */
int32_t rt_queue_finish(rt_queue *q);
/* Something failed that did not become a command. */
void rt_queue_fail(rt_queue *q, int32_t status);
/* Gives the event to the scheduler.  False: there is no memory, and nothing has happened. */
bool rt_enqueue(rt_queue *q, rt_event *e, const rt_order *order);
/* With the lock held: the last command of the queue, if it has begun on this stream and nothing
 * waits for its end, so that more of the stream's work may become a part of it; or NULL. */
rt_event *rt_queue_open_event(const rt_queue *q, const void *stream);
/* References that are given back when the lock has been. */
enum { RT_FEW_DROPPED = 16 };
typedef struct {
    rt_event *list[RT_FEW_DROPPED];
    uint32_t n;
} rt_dropped;
/* With the lock held: that event uses the memory, too, after all that do.  False: some of these
 * have not begun on its stream, or there is no room. */
bool rt_resource_join(rt_event *e, const rt_access *a, rt_dropped *d);
/* Where the memory lies: commands that use other resources with bytes of it are ordered, too. */
void rt_resource_place(rt_scheduler *s, rt_resource *r, const void *begin, size_t size);
/* No command uses the memory any more, or will. */
void rt_resource_free(rt_resource *r);
/* With the lock held: the resource, and all that share memory with it. */
typedef void rt_visit_resource(rt_resource *r, void *user);
void rt_resource_visit(rt_resource *r, rt_visit_resource *visit, void *user);
/* The resource that lies in the range; NULL: it is another kind of range. */
static inline rt_resource *rt_resource_of(rt_range *r) {
    if (r->kind != RT_RANGE_RESOURCE) return NULL;
    return (rt_resource *)(void *)((char *)r - offsetof(rt_resource, range));
}
/* With the lock held: the event has ended, or was not enqueued after all. */
void rt_queue_remove(rt_queue *q, rt_event *e);
/* With the lock held: has all ended that a thread waits for? */
bool rt_queue_is_awaited(const rt_queue *q);

#endif
