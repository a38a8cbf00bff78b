/* fork.c — keeps the state of the library usable in a child of a fork.
 *
 * The thread that forks takes the locks of the process, which any call may need: so nothing that
 * they protect is half changed in the child.  There the threads of the library are gone.  The
 * scheduler gives up what had not ended, and both it and the pool start threads of their own when
 * they need some.  Locks of objects are looked at when they are taken (lock.h).
 *
 * Locks are taken here in the order in which the library nests them.
 */
#include "runtime/native/native.h"
#include "runtime/queue/queue.h"

_Atomic uint32_t rt_fork_count;

static void before(void) {
    rt_scheduler_before_fork();
    rt_locks_before_fork();
    rt_pool_before_fork();
    rt_code_before_fork();
    rt_lock_before_fork();
}

static void in_parent(void) {
    rt_lock_after_fork(false);
    rt_code_after_fork(false);
    rt_pool_after_fork(false);
    rt_locks_after_fork(false);
    rt_scheduler_after_fork(false);
}

static void in_child(void) {
    rt_fork_count++;
    rt_lock_after_fork(true);
    rt_code_after_fork(true);
    rt_pool_after_fork(true);
    rt_locks_after_fork(true);
    rt_scheduler_after_fork(true);
}

static void watch(void) { pthread_atfork(before, in_parent, in_child); }

void rt_watch_forks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch);
}
