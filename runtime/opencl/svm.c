/* svm.c — shared virtual memory: all memory is, so there is nothing to share, to map, to migrate.
 */
#include "runtime/opencl/allocation.h"

/* ---------------------------------------------------------------------------------- allocations */

static bool are_flags(cl_svm_mem_flags flags) {
    const cl_svm_mem_flags kind = CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
    return ocl_are_access_flags(flags & ~kind) && (flags & kind) != CL_MEM_SVM_ATOMICS;
}

/* Any power of two is an alignment. */
static void *CL_API_CALL allocate(cl_context c, cl_svm_mem_flags flags, size_t size,
                                  cl_uint align) {
    const ocl_shared wanted = {{NULL, size}, align, CL_MEM_TYPE_UNKNOWN_INTEL, NULL, 0};
    if (!ocl_is(c, OCL_CONTEXT) || !are_flags(flags)) return NULL;
    if (!size || size > ocl_max_allocation()) return NULL;
    return align & (align - 1) ? NULL : ocl_allocate_shared(c, &wanted);
}

/* What is no allocation is left alone. */
static void CL_API_CALL release(cl_context c, void *bytes) {
    if (ocl_is(c, OCL_CONTEXT) && bytes) ocl_free_shared(c, bytes, true);
}

/* --------------------------------------------------------------------------- commands that free */

typedef void CL_CALLBACK free_function(cl_command_queue q, cl_uint count, void *list[], void *user);

typedef struct {
    struct _cl_event event; /* the first member */
    free_function *function;
    void *user;
    cl_uint count;
    void *list[];
} free_command;

static int32_t run_free(rt_event *e) {
    free_command *f = (free_command *)(void *)ocl_event_of(e);
    if (f->function)
        f->function(f->event.queue, f->count, f->list, f->user);
    else
        for (cl_uint n = 0; n < f->count; n++) release(f->event.context, f->list[n]);
    return RT_COMPLETE;
}

static cl_int CL_API_CALL enqueue_free(cl_command_queue q, cl_uint count, void *pointers[],
                                       free_function *function, void *user, cl_uint n,
                                       const cl_event *list, cl_event *out) {
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (!count != !pointers) return CL_INVALID_VALUE;
    cl_int bad = ocl_check_wait_list(q->context, n, list);
    if (bad) return bad;
    free_command *f;
    const size_t bytes = count * sizeof *f->list;
    f = (free_command *)(void *)ocl_new_command(q, CL_COMMAND_SVM_FREE, sizeof *f + bytes, run_free,
                                                NULL);
    if (!f) return CL_OUT_OF_HOST_MEMORY;
    f->function = function;
    f->user = user;
    f->count = count;
    if (bytes) memcpy(f->list, pointers, bytes);
    return ocl_enqueue(&f->event, RT_ENQUEUE_COMMAND, false, (ocl_events){n, list, out});
}

/* ----------------------------------------------------------------------------- copies and fills */

/* Can there be so many bytes?  Of allocations that is known. */
static bool has_room(const void *bytes, size_t size) {
    rt_position p;
    if (rt_find_memory(bytes, &p) && p.is_whole) return size <= p.size - p.offset;
    return size <= UINTPTR_MAX - (uintptr_t)bytes;
}

cl_int ocl_copy_svm(const ocl_request *r, void *target, const void *source, size_t size) {
    const rt_box from = {.bytes = (char *)(uintptr_t)source}, to = {.bytes = target};
    const size_t region[3] = {size, 1, 1};
    cl_int bad = ocl_check_order(r);
    if (bad) return bad;
    if (!target || !source) return CL_INVALID_VALUE;
    if (ocl_overlap(&from, &to, region)) return CL_MEM_COPY_OVERLAP;
    if (!has_room(target, size) || !has_room(source, size)) return CL_INVALID_VALUE;
    return ocl_request_copy(r, &to, &from, region);
}

cl_int ocl_fill_svm_memory(const ocl_request *r, ocl_area to, const void *pattern,
                           size_t pattern_size) {
    if (!to.bytes || !has_room(to.bytes, to.size)) return CL_INVALID_VALUE;
    cl_int bad = ocl_check_pattern(pattern, pattern_size, (uintptr_t)to.bytes, to.size);
    if (!bad) bad = ocl_check_order(r);
    return bad ? bad : ocl_request_fill(r, to, pattern, pattern_size);
}

static cl_int CL_API_CALL enqueue_memcpy(cl_command_queue q, cl_bool blocking, void *target,
                                         const void *source, size_t size, cl_uint n,
                                         const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_SVM_MEMCPY, blocking, n, list, out, NULL, 0, NULL};
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    return ocl_copy_svm(&r, target, source, size);
}

static cl_int CL_API_CALL enqueue_fill(cl_command_queue q, void *bytes, const void *pattern,
                                       size_t pattern_size, size_t size, cl_uint n,
                                       const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_SVM_MEMFILL, false, n, list, out, NULL, 0, NULL};
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    return ocl_fill_svm_memory(&r, (ocl_area){bytes, size}, pattern, pattern_size);
}

/* ------------------------------------------------------------------ commands with nothing to do */

static cl_int CL_API_CALL enqueue_map(cl_command_queue q, cl_bool blocking, cl_map_flags flags,
                                      void *bytes, size_t size, cl_uint n, const cl_event *list,
                                      cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_SVM_MAP, blocking, n, list, out, NULL, 0, NULL};
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (!bytes || !size || !ocl_are_map_flags(flags)) return CL_INVALID_VALUE;
    cl_int bad = ocl_check_wait_list(q->context, n, list);
    return bad ? bad : ocl_request_nothing(&r);
}

static cl_int CL_API_CALL enqueue_unmap(cl_command_queue q, void *bytes, cl_uint n,
                                        const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_SVM_UNMAP, false, n, list, out, NULL, 0, NULL};
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (!bytes) return CL_INVALID_VALUE;
    cl_int bad = ocl_check_wait_list(q->context, n, list);
    return bad ? bad : ocl_request_nothing(&r);
}

/* Is a range, or the allocation that holds its first byte, of shared virtual memory? */
static bool is_range(cl_context c, const char *bytes, size_t size) {
    const ocl_shared s = ocl_find_shared(c, bytes);
    return ocl_is_svm(&s) && size <= s.memory.size - (size_t)(bytes - (char *)s.memory.bytes);
}

static cl_int CL_API_CALL enqueue_migrate(cl_command_queue q, cl_uint count, const void **pointers,
                                          const size_t *sizes, cl_mem_migration_flags flags,
                                          cl_uint n, const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_SVM_MIGRATE_MEM, false, n, list, out, NULL, 0, NULL};
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (!count || !pointers || !ocl_are_migration_flags(flags)) return CL_INVALID_VALUE;
    for (cl_uint k = 0; k < count; k++)
        if (!is_range(q->context, pointers[k], sizes ? sizes[k] : 0)) return CL_INVALID_VALUE;
    cl_int bad = ocl_check_wait_list(q->context, n, list);
    return bad ? bad : ocl_request_nothing(&r);
}

void ocl_fill_svm(ocl_entries *e) {
    e->core.clSVMAlloc = allocate;
    e->core.clSVMFree = release;
    e->core.clEnqueueSVMFree = enqueue_free;
    e->core.clEnqueueSVMMemcpy = enqueue_memcpy;
    e->core.clEnqueueSVMMemFill = enqueue_fill;
    e->core.clEnqueueSVMMap = enqueue_map;
    e->core.clEnqueueSVMUnmap = enqueue_unmap;
    e->core.clEnqueueSVMMigrateMem = enqueue_migrate;
}
