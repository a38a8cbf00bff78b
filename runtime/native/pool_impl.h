/* pool_impl.h — private to pool*.c: launches that several threads work on.
 *
 *   pool.c         the threads, and what they do
 *   pool_chunks.c  which groups a thread takes at a time, and how many threads are worth having
 */
#ifndef SPVFUSE_RUNTIME_POOL_IMPL_H
#define SPVFUSE_RUNTIME_POOL_IMPL_H

#include "runtime/native/native.h"

typedef struct pool_launch {
    const rt_work *work;
    uint64_t total;
    _Atomic uint64_t next;    /* the first group that no thread has taken */
    uint64_t least;           /* groups of a chunk */
    uint64_t parts;           /* a chunk is what is left divided by this */
    unsigned wanted;          /* helpers that may still join */
    _Atomic unsigned helpers; /* in it */
    pthread_cond_t done;      /* helpers is 0 */
    struct pool_launch *older, *newer;
} pool_launch;

/* Is there a group that no thread has taken? */
static inline bool pool_has_work(const pool_launch *l) {
    return atomic_load_explicit(&l->next, memory_order_relaxed) < l->total;
}
/* False: there is none.  Otherwise `count` groups from `at` on are the caller's. */
bool pool_take_chunk(pool_launch *l, uint64_t *at, uint64_t *count);
void pool_run_groups(const pool_launch *l, const rt_seat *s, uint64_t at, uint64_t count);
/* Runs ever more groups at a time, until none is left or it has taken longer than is worth help;
 * gives how many. */
uint64_t pool_run_short(pool_launch *l, const rt_seat *s, uint64_t start);

/* Picoseconds of a group: so many groups took `ns`; what is known or guessed, or 0. */
uint64_t pool_cost_of(uint64_t ns, uint64_t groups);
uint64_t pool_expected_cost(const rt_work *w);
void pool_learn_cost(const rt_work *w, uint64_t now);
/* Fills in how many of the helpers are worth having for what is left, and what they take at a time.
 */
void pool_plan_launch(pool_launch *l, unsigned helpers, uint64_t cost);

#endif
