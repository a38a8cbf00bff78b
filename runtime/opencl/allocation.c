/* allocation.c — shared memory: all memory is, so an allocation differs from one of the program's
 * only in that its extent is known.
 *
 * Allocations are among the ranges of runtime/queue/ranges.c, where they are found by the address
 * of any byte, and in a list of their context, which frees what is left at its end.  The lock of
 * the context is for the list, and decides who frees an allocation; the lock of the ranges is taken
 * within it.
 */
#include "runtime/opencl/allocation.h"
#include "runtime/system/memory.h"

#include <stdlib.h>

struct ocl_allocation {
    rt_range range; /* the first member; its owner is the context */
    ocl_shared facts;
    ocl_area room;      /* memory that it lies in */
    rt_memory *checked; /* what looks after it, or NULL */
    ocl_allocation *before, *after;
};

/* ------------------------------------------------------------------------------------- the list */

static void add(cl_context c, ocl_allocation *a) {
    rt_lock_take(&c->lock);
    a->after = c->allocations;
    if (a->after) a->after->before = a;
    c->allocations = a;
    rt_range_place(rt_scheduler_get(), &a->range, a->facts.memory.bytes, a->facts.memory.size);
    rt_lock_release(&c->lock);
}

/* With the context's lock held. */
static void take_out(cl_context c, ocl_allocation *a) {
    rt_range_remove(&a->range);
    if (a->after) a->after->before = a->before;
    *(a->before ? &a->before->after : &c->allocations) = a->after;
}

static void free_allocation(ocl_allocation *a) {
    ocl_forget_shared(a->checked, a->facts.memory.bytes);
    rt_free_memory(a->room.bytes, a->room.size);
    free(a);
}

/* ---------------------------------------------------------------------------------- allocations */

/* Memory of that size has room for a larger alignment than its own. */
static bool allocate_room(ocl_allocation *a, const ocl_shared *wanted) {
    const size_t align = wanted->align > IR_LOCAL_ALIGN ? wanted->align : 1;
    const size_t beyond = ocl_is_checking() ? OCL_CHECK_ROOM : 0;
    a->room.size = wanted->memory.size + align - 1 + beyond;
    a->room.bytes = rt_new_memory(a->room.size);
    const uintptr_t at = (uintptr_t)a->room.bytes;
    a->facts.memory.bytes = (char *)a->room.bytes + (-at & (align - 1));
    return a->room.bytes;
}

void *ocl_allocate_shared(cl_context c, const ocl_shared *wanted) {
    ocl_allocation *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->range = (rt_range){.kind = RT_RANGE_ALLOCATION, .owner = c};
    a->facts = *wanted;
    if (!allocate_room(a, wanted)) {
        free(a);
        return NULL;
    }
    a->checked = ocl_check_shared(a->facts.memory, a->facts.type);
    add(c, a);
    return a->facts.memory.bytes;
}

typedef struct {
    cl_context context;
    ocl_allocation *found;
} search;

static void look_at(rt_range *r, void *user) {
    search *s = user;
    if (r->kind == RT_RANGE_ALLOCATION && r->owner == s->context) s->found = (ocl_allocation *)r;
}

/* Good as long as nothing else frees it. */
static ocl_allocation *find(cl_context c, const void *byte, ocl_shared *facts) {
    rt_scheduler *scheduler = rt_scheduler_get();
    search s = {.context = c};
    pthread_mutex_lock(&scheduler->lock);
    rt_range_visit_at(scheduler, byte, look_at, &s);
    *facts = s.found ? s.found->facts : (ocl_shared){.type = CL_MEM_TYPE_UNKNOWN_INTEL};
    pthread_mutex_unlock(&scheduler->lock);
    return s.found;
}

ocl_shared ocl_find_shared(cl_context c, const void *byte) {
    ocl_shared facts;
    find(c, byte, &facts);
    return facts;
}

bool ocl_free_shared(cl_context c, const void *bytes, bool is_svm) {
    ocl_shared facts;
    rt_lock_take(&c->lock);
    ocl_allocation *a = find(c, bytes, &facts);
    if (a && (facts.memory.bytes != bytes || ocl_is_svm(&facts) != is_svm)) a = NULL;
    if (a) take_out(c, a);
    rt_lock_release(&c->lock);
    if (a) free_allocation(a);
    return a;
}

void ocl_free_allocations(cl_context c) {
    for (ocl_allocation *a; (a = c->allocations);) {
        take_out(c, a);
        free_allocation(a);
    }
}

uint64_t ocl_bytes_from(const void *address) {
    rt_position p;
    return rt_find_memory(address, &p) && p.is_whole ? p.size - p.offset : 0;
}
