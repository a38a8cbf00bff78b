/* usm.c — cl_intel_unified_shared_memory: allocations that belong to the host, to the device, or to
 * both, all of which are memory of this process.
 *
 * So host, device and every other context may access each of them, at any time, and hints have
 * nothing to do.  Alignments may be larger than the extension asks for: any power of two.
 */
#include "runtime/opencl/allocation.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------------------- allocations */

static const cl_mem_alloc_flags_intel PLACED_BY_DEVICE =
    CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL;
static const cl_mem_alloc_flags_intel PLACED_BY_HOST = CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;

/* Only shared allocations can be placed, and at one place. */
static bool are_flags(cl_unified_shared_memory_type_intel type, cl_mem_alloc_flags_intel flags) {
    const cl_mem_alloc_flags_intel placed = flags & (PLACED_BY_DEVICE | PLACED_BY_HOST);
    if (flags & ~(CL_MEM_ALLOC_WRITE_COMBINED_INTEL | PLACED_BY_DEVICE | PLACED_BY_HOST))
        return false;
    if (type != CL_MEM_TYPE_SHARED_INTEL) return !placed;
    return placed != (PLACED_BY_DEVICE | PLACED_BY_HOST);
}

static cl_int read_properties(const cl_mem_properties_intel *p, ocl_shared *to) {
    bool seen = false;
    for (; p && *p; p += 2) {
        if (*p != CL_MEM_ALLOC_FLAGS_INTEL || seen) return CL_INVALID_PROPERTY;
        seen = true;
        to->flags = p[1];
    }
    return are_flags(to->type, to->flags) ? CL_SUCCESS : CL_INVALID_PROPERTY;
}

static void *allocate(cl_context c, ocl_shared wanted, const cl_mem_properties_intel *p,
                      cl_int *error) {
    if (wanted.align & (wanted.align - 1)) return ocl_fail(error, CL_INVALID_VALUE);
    cl_int bad = read_properties(p, &wanted);
    if (bad) return ocl_fail(error, bad);
    if (!wanted.memory.size || wanted.memory.size > ocl_max_allocation())
        return ocl_fail(error, CL_INVALID_BUFFER_SIZE);
    void *bytes = ocl_allocate_shared(c, &wanted);
    if (!bytes) return ocl_fail(error, CL_OUT_OF_HOST_MEMORY);
    ocl_succeed(error);
    return bytes;
}

static void *CL_API_CALL allocate_host(cl_context c, const cl_mem_properties_intel *p, size_t size,
                                       cl_uint align, cl_int *error) {
    const ocl_shared wanted = {{NULL, size}, align, CL_MEM_TYPE_HOST_INTEL, NULL, 0};
    if (!ocl_is(c, OCL_CONTEXT)) return ocl_fail(error, CL_INVALID_CONTEXT);
    return allocate(c, wanted, p, error);
}

static void *CL_API_CALL allocate_device(cl_context c, cl_device_id d,
                                         const cl_mem_properties_intel *p, size_t size,
                                         cl_uint align, cl_int *error) {
    const ocl_shared wanted = {{NULL, size}, align, CL_MEM_TYPE_DEVICE_INTEL, d, 0};
    if (!ocl_is(c, OCL_CONTEXT)) return ocl_fail(error, CL_INVALID_CONTEXT);
    if (!ocl_is_device(d)) return ocl_fail(error, CL_INVALID_DEVICE);
    return allocate(c, wanted, p, error);
}

static void *CL_API_CALL allocate_shared(cl_context c, cl_device_id d,
                                         const cl_mem_properties_intel *p, size_t size,
                                         cl_uint align, cl_int *error) {
    const ocl_shared wanted = {{NULL, size}, align, CL_MEM_TYPE_SHARED_INTEL, d, 0};
    if (!ocl_is(c, OCL_CONTEXT)) return ocl_fail(error, CL_INVALID_CONTEXT);
    if (d && !ocl_is_device(d)) return ocl_fail(error, CL_INVALID_DEVICE);
    return allocate(c, wanted, p, error);
}

static cl_int CL_API_CALL release(cl_context c, void *bytes) {
    if (!ocl_is(c, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
    return !bytes || ocl_free_shared(c, bytes, false) ? CL_SUCCESS : CL_INVALID_VALUE;
}

/* Commands of any queue of the context may use the memory. */
static cl_int CL_API_CALL release_when_unused(cl_context c, void *bytes) {
    if (!ocl_is(c, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
    if (!bytes) return CL_SUCCESS;
    const ocl_shared s = ocl_find_shared(c, bytes);
    if (s.memory.bytes != bytes || ocl_is_svm(&s)) return CL_INVALID_VALUE;
    cl_int bad = ocl_finish_all(c);
    return bad ? bad : release(c, bytes);
}

static cl_int CL_API_CALL get_info(cl_context c, const void *p, cl_mem_info_intel what, size_t room,
                                   void *to, size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!ocl_is(c, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
    ocl_shared s = ocl_find_shared(c, p);
    if (ocl_is_svm(&s)) s = (ocl_shared){.type = CL_MEM_TYPE_UNKNOWN_INTEL};
    switch (what) {
    case CL_MEM_ALLOC_TYPE_INTEL: return ocl_give_uint(&a, s.type);
    case CL_MEM_ALLOC_BASE_PTR_INTEL: return ocl_give_pointer(&a, s.memory.bytes);
    case CL_MEM_ALLOC_SIZE_INTEL: return ocl_give_size(&a, s.memory.size);
    case CL_MEM_ALLOC_DEVICE_INTEL: return ocl_give_pointer(&a, s.device);
    case CL_MEM_ALLOC_FLAGS_INTEL: return ocl_give_ulong(&a, s.flags);
    default: return CL_INVALID_VALUE;
    }
}

/* ------------------------------------------------------------------------------------- commands */

static cl_int CL_API_CALL enqueue_fill(cl_command_queue q, void *bytes, const void *pattern,
                                       size_t pattern_size, size_t size, cl_uint n,
                                       const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_MEMFILL_INTEL, false, n, list, out, NULL, 0, NULL};
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    return ocl_fill_svm_memory(&r, (ocl_area){bytes, size}, pattern, pattern_size);
}

/* Of earlier versions of the extension. */
static cl_int CL_API_CALL enqueue_set(cl_command_queue q, void *bytes, cl_int value, size_t size,
                                      cl_uint n, const cl_event *list, cl_event *out) {
    const unsigned char pattern = (unsigned char)value;
    return enqueue_fill(q, bytes, &pattern, 1, size, n, list, out);
}

static cl_int CL_API_CALL enqueue_copy(cl_command_queue q, cl_bool blocking, void *target,
                                       const void *source, size_t size, cl_uint n,
                                       const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_MEMCPY_INTEL, blocking, n, list, out, NULL, 0, NULL};
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    return ocl_copy_svm(&r, target, source, size);
}

static cl_int hint(const ocl_request *r, bool is_known) {
    if (!ocl_is(r->queue, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (!is_known) return CL_INVALID_VALUE;
    cl_int bad = ocl_check_order(r);
    return bad ? bad : ocl_request_nothing(r);
}

static cl_int CL_API_CALL enqueue_migrate(cl_command_queue q, const void *bytes, size_t size,
                                          cl_mem_migration_flags flags, cl_uint n,
                                          const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_MIGRATEMEM_INTEL, false, n, list, out, NULL, 0, NULL};
    (void)size;
    return hint(&r, bytes && ocl_are_migration_flags(flags));
}

/* No advice has been given a meaning yet; some numbers are reserved for it. */
static cl_int CL_API_CALL enqueue_advise(cl_command_queue q, const void *bytes, size_t size,
                                         cl_mem_advice_intel advice, cl_uint n,
                                         const cl_event *list, cl_event *out) {
    const ocl_request r = {q, CL_COMMAND_MEMADVISE_INTEL, false, n, list, out, NULL, 0, NULL};
    (void)size;
    return hint(&r, bytes && (!advice || (advice >= 0x4208 && advice <= 0x420F)));
}

void ocl_fill_usm(ocl_entries *e) {
    ocl_add_extension(e, "clHostMemAllocINTEL", (ocl_function)allocate_host);
    ocl_add_extension(e, "clDeviceMemAllocINTEL", (ocl_function)allocate_device);
    ocl_add_extension(e, "clSharedMemAllocINTEL", (ocl_function)allocate_shared);
    ocl_add_extension(e, "clMemFreeINTEL", (ocl_function)release);
    ocl_add_extension(e, "clMemBlockingFreeINTEL", (ocl_function)release_when_unused);
    ocl_add_extension(e, "clGetMemAllocInfoINTEL", (ocl_function)get_info);
    ocl_add_extension(e, "clEnqueueMemFillINTEL", (ocl_function)enqueue_fill);
    ocl_add_extension(e, "clEnqueueMemsetINTEL", (ocl_function)enqueue_set);
    ocl_add_extension(e, "clEnqueueMemcpyINTEL", (ocl_function)enqueue_copy);
    ocl_add_extension(e, "clEnqueueMigrateMemINTEL", (ocl_function)enqueue_migrate);
    ocl_add_extension(e, "clEnqueueMemAdviseINTEL", (ocl_function)enqueue_advise);
}
