/* lock.c — locks that survive a fork (lock.h).
 *
 * A lock records how many forks led to the process in which its mutex was made.  In a child the
 * number of forks is different, so the first call that uses the lock makes the mutex again.
 * `depth` counts how often the lock is held, `waiting` the waits on a condition; both change only
 * under the mutex.  If one of them is above 0 in the child, a thread of the parent held the lock
 * at the time of the fork, and the data that it protects may be half changed: rt_lock_take
 * reports that once.
 *
 * The fences order `depth` and `waiting` with the protected data: no change of the data happens
 * before the lock is marked as held, and one of the two stays above 0 during a wait.
 */
#define _POSIX_C_SOURCE 200809L
#include "runtime/system/lock.h"

#include "runtime/api/runtime.h"

#include <errno.h>
#include <time.h>

void rt_mutex_after_fork(pthread_mutex_t *m, bool in_child) {
    if (in_child)
        pthread_mutex_init(m, NULL);
    else
        pthread_mutex_unlock(m);
}

static void init_mutex(rt_lock *l) {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    if (l->recursive) pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&l->mutex, &a);
    pthread_mutexattr_destroy(&a);
}

void rt_lock_init(rt_lock *l, bool recursive) {
    rt_watch_forks();
    *l = (rt_lock){.recursive = recursive, .forks = rt_forks()};
    init_mutex(l);
}

void rt_lock_free(rt_lock *l) {
    if (l->forks == rt_forks()) pthread_mutex_destroy(&l->mutex);
}

static pthread_mutex_t renewing = PTHREAD_MUTEX_INITIALIZER;

void rt_lock_before_fork(void) { pthread_mutex_lock(&renewing); }

void rt_lock_after_fork(bool in_child) { rt_mutex_after_fork(&renewing, in_child); }

/* One thread after the other; only the first one finds a lock of the parent. */
static bool renew(rt_lock *l) {
    bool lost = false;
    pthread_mutex_lock(&renewing);
    if (l->forks != rt_forks()) {
        lost = l->depth || l->waiting;
        l->depth = l->waiting = 0;
        init_mutex(l);
        atomic_store_explicit(&l->forks, rt_forks(), memory_order_release);
    }
    pthread_mutex_unlock(&renewing);
    return lost;
}

static bool is_of_parent(rt_lock *l) {
    return atomic_load_explicit(&l->forks, memory_order_acquire) != rt_forks();
}

bool rt_lock_take(rt_lock *l) {
    bool lost = is_of_parent(l) && renew(l);
    pthread_mutex_lock(&l->mutex);
    l->depth++;
    atomic_thread_fence(memory_order_release);
    return !lost;
}

bool rt_lock_try(rt_lock *l) {
    if (is_of_parent(l) || pthread_mutex_trylock(&l->mutex) != 0) return false;
    l->depth++;
    atomic_thread_fence(memory_order_release);
    return true;
}

bool rt_lock_is_free(rt_lock *l) {
    if (is_of_parent(l) || pthread_mutex_trylock(&l->mutex) != 0) return false;
    pthread_mutex_unlock(&l->mutex);
    return true;
}

/* A thread that forks while it has a lock does not have it in the child. */
void rt_lock_release(rt_lock *l) {
    if (is_of_parent(l)) renew(l);
    if (!l->depth) return;
    atomic_thread_fence(memory_order_release);
    l->depth--;
    pthread_mutex_unlock(&l->mutex);
}

void rt_lock_wait(rt_lock *l, pthread_cond_t *c) {
    l->waiting++;
    atomic_thread_fence(memory_order_release);
    l->depth--;
    pthread_cond_wait(c, &l->mutex);
    l->depth++;
    atomic_thread_fence(memory_order_release);
    l->waiting--;
}

/* Locks that are held during forks; the list only grows, under `renewing`. */
enum { MAX_PROCESS_LOCKS = 4 };
static rt_lock *process_locks[MAX_PROCESS_LOCKS];
static _Atomic uint32_t nprocess_locks;
static uint32_t taken; /* by the thread that forks */

/* Told twice where a fork has cut off the initialization that tells it. */
void rt_lock_hold_in_forks(rt_lock *l) {
    uint32_t n = 0;
    pthread_mutex_lock(&renewing);
    while (n < nprocess_locks && process_locks[n] != l) n++;
    assert(n < MAX_PROCESS_LOCKS && "too many locks of the process");
    process_locks[n] = l;
    if (n == nprocess_locks) nprocess_locks++;
    pthread_mutex_unlock(&renewing);
}

void rt_locks_before_fork(void) {
    taken = nprocess_locks;
    for (uint32_t n = 0; n < taken; n++) rt_lock_take(process_locks[n]);
}

/* The child's thread has the locks, but in a process that they were not made for. */
void rt_locks_after_fork(bool in_child) {
    for (uint32_t n = taken; n-- > 0;) {
        if (in_child)
            rt_lock_init(process_locks[n], process_locks[n]->recursive);
        else
            rt_lock_release(process_locks[n]);
    }
}

void rt_fork_fence(void) { atomic_thread_fence(memory_order_release); }

void rt_cond_init(pthread_cond_t *c) {
    pthread_condattr_t a;
    pthread_condattr_init(&a);
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    pthread_cond_init(c, &a);
    pthread_condattr_destroy(&a);
}

bool rt_cond_wait_idle(pthread_cond_t *c, pthread_mutex_t *held) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += RT_IDLE_S;
    return pthread_cond_timedwait(c, held, &end) != ETIMEDOUT;
}

void rt_cond_free(pthread_cond_t *c) {
    if (rt_forks() == 0) pthread_cond_destroy(c);
}
