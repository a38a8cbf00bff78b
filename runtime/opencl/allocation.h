/* allocation.h — shared memory: what clSVMAlloc and the functions of cl_intel_unified_shared_memory
 * allocate (allocation.c).  Programs know it by its addresses, as they do memory of their own. */
#ifndef SPVFUSE_RUNTIME_OCL_ALLOCATION_H
#define SPVFUSE_RUNTIME_OCL_ALLOCATION_H

#include "runtime/opencl/ocl.h"

/* What is asked for, and what is known of it later. */
typedef struct {
    ocl_area memory;                          /* bytes: NULL until it is allocated */
    cl_uint align;                            /* a power of two, or 0: as kernels require */
    cl_unified_shared_memory_type_intel type; /* CL_MEM_TYPE_UNKNOWN_INTEL: of clSVMAlloc */
    cl_device_id device;                      /* that it is for, or NULL */
    cl_mem_alloc_flags_intel flags;
} ocl_shared;

/* Memory that the interpreter looks after, and that it looks after no longer; NULL: it does not.
 * Nothing else is in so many bytes after it, so that accesses beyond it are found.
 * (check_calls.c) */
enum { OCL_CHECK_ROOM = 4096 };
rt_memory *ocl_check_shared(ocl_area memory, cl_unified_shared_memory_type_intel type);
void ocl_forget_shared(rt_memory *checked, const void *bytes);

/* Allocates what `wanted` says; NULL: there is no memory. */
void *ocl_allocate_shared(cl_context c, const ocl_shared *wanted);
/* The allocation of the context that has a byte in it; its memory is NULL if there is none. */
ocl_shared ocl_find_shared(cl_context c, const void *byte);
/* Frees what begins there and was allocated by clSVMAlloc (is_svm), or was not.  False: nothing. */
bool ocl_free_shared(cl_context c, const void *bytes, bool is_svm);
static inline bool ocl_is_svm(const ocl_shared *s) {
    return s->memory.bytes && s->type == CL_MEM_TYPE_UNKNOWN_INTEL;
}
/* Bytes from an address to the end of the allocation that it is in, whatever made that; 0: nothing
 * is known of it. */
uint64_t ocl_bytes_from(const void *address);

#endif
