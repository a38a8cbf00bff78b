/* ref.h — counted references to objects that any thread may use.
 *
 * An object is destroyed by the thread that gives back its last reference.  Giving back is ordered
 * before that, so the thread sees all that other threads have done to the object. */
#ifndef SPVFUSE_RUNTIME_REF_H
#define SPVFUSE_RUNTIME_REF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    _Atomic uint32_t count;
} rt_refs;

/* One reference. */
static inline void rt_refs_init(rt_refs *r) { atomic_init(&r->count, 1); }

static inline void rt_retain(rt_refs *r) {
    atomic_fetch_add_explicit(&r->count, 1, memory_order_relaxed);
}

/* True: that was the last reference, and the caller destroys the object. */
static inline bool rt_release(rt_refs *r) {
    return atomic_fetch_sub_explicit(&r->count, 1, memory_order_acq_rel) == 1;
}

/* For an object that is found without a reference to it.  False: it is being destroyed. */
static inline bool rt_retain_found(rt_refs *r) {
    uint32_t n = atomic_load_explicit(&r->count, memory_order_relaxed);
    while (n && !atomic_compare_exchange_weak(&r->count, &n, n + 1)) continue;
    return n != 0;
}

/* Other threads may change it at once. */
static inline uint32_t rt_ref_count(const rt_refs *r) {
    return atomic_load_explicit(&r->count, memory_order_relaxed);
}

#endif
