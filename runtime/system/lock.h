/* lock.h — locks that survive a fork.
 *
 * A child has one thread, the one that forked; what another thread had locked stays locked there
 * for ever.  So the first call that takes a lock in a child makes it anew.  If it was in use in the
 * parent, that call is told so, since what the lock protects may be half changed.
 *
 * The few locks of the whole process are held while it forks instead: mutexes that fork.c lists,
 * and those that rt_lock_hold_in_forks has been told of.  A fork waits until they are free. */
#ifndef SPVFUSE_RUNTIME_LOCK_H
#define SPVFUSE_RUNTIME_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    pthread_mutex_t mutex;
    _Atomic uint32_t forks; /* rt_forks() of the process that it is made for */
    uint32_t depth;         /* how often its thread has taken it */
    uint32_t waiting;       /* threads in rt_lock_wait */
    bool recursive;
} rt_lock;

void rt_lock_init(rt_lock *l, bool recursive);
void rt_lock_free(rt_lock *l);
/* False: in the parent it was in use by another thread; only one caller is told. */
bool rt_lock_take(rt_lock *l);
/* Takes it if it is free, and not one of a parent; never waits. */
bool rt_lock_try(rt_lock *l);
void rt_lock_release(rt_lock *l);
/* Can this thread take the lock without waiting?  The next moment it may be otherwise; but false if
 * this thread has a lock that is not recursive. */
bool rt_lock_is_free(rt_lock *l);
/* Releases the lock, which was taken once, while it waits. */
void rt_lock_wait(rt_lock *l, pthread_cond_t *c);

/* Condition variables of threads of the library that end when no call comes for a while. */
void rt_cond_init(pthread_cond_t *c);
/* False: no call has come for RT_IDLE_S seconds. */
enum { RT_IDLE_S = 2 };
bool rt_cond_wait_idle(pthread_cond_t *c, pthread_mutex_t *held);
/* No thread of this process waits; threads of its parent that did are forgotten. */
void rt_cond_free(pthread_cond_t *c);

/* A mutex of the whole process that was locked before a fork: unlocked, and made anew in the child,
 * where no thread waits for it. */
void rt_mutex_after_fork(pthread_mutex_t *m, bool in_child);

/* Counts forks from the first call on; for code that makes what a fork may cut off (fork.c). */
void rt_watch_forks(void);
extern _Atomic uint32_t rt_fork_count;

/* How many forks lie between this process and the one that watched first. */
static inline uint32_t rt_forks(void) {
    return atomic_load_explicit(&rt_fork_count, memory_order_relaxed);
}

/* A child that sees what this thread changes later sees what it has changed so far. */
void rt_fork_fence(void);
/* The lock, which lasts as long as the process, is held during forks from here on: what it protects
 * is whole in a child.  It comes between the scheduler's lock and the others of fork.c. */
void rt_lock_hold_in_forks(rt_lock *l);
/* Around a fork, for those locks. */
void rt_locks_before_fork(void);
void rt_locks_after_fork(bool in_child);
/* Around a fork: no lock is made anew meanwhile. */
void rt_lock_before_fork(void);
void rt_lock_after_fork(bool in_child);

#endif
