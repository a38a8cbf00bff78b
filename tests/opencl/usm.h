/* usm.h — the functions of cl_intel_unified_shared_memory, for tests and programs: find_usm. */
#ifndef SPVFUSE_TESTS_USM_H
#define SPVFUSE_TESTS_USM_H

#include "tests/opencl/loader.h"

#include <CL/cl_ext.h>

static struct {
    clHostMemAllocINTEL_fn host_alloc;
    clDeviceMemAllocINTEL_fn device_alloc;
    clSharedMemAllocINTEL_fn shared_alloc;
    clMemFreeINTEL_fn free;
    clMemBlockingFreeINTEL_fn blocking_free;
    clGetMemAllocInfoINTEL_fn info;
    clSetKernelArgMemPointerINTEL_fn set_arg;
    clEnqueueMemFillINTEL_fn fill;
    clEnqueueMemsetINTEL_fn set;
    clEnqueueMemcpyINTEL_fn copy;
    clEnqueueMigrateMemINTEL_fn migrate;
    clEnqueueMemAdviseINTEL_fn advise;
} usm;

/* False: a function is missing. */
static inline bool find_usm(cl_platform_id platform) {
    static const struct {
        const char *name;
        void *function;
    } entries[] = {{"clHostMemAllocINTEL", &usm.host_alloc},
                   {"clDeviceMemAllocINTEL", &usm.device_alloc},
                   {"clSharedMemAllocINTEL", &usm.shared_alloc},
                   {"clMemFreeINTEL", &usm.free},
                   {"clMemBlockingFreeINTEL", &usm.blocking_free},
                   {"clGetMemAllocInfoINTEL", &usm.info},
                   {"clSetKernelArgMemPointerINTEL", &usm.set_arg},
                   {"clEnqueueMemFillINTEL", &usm.fill},
                   {"clEnqueueMemsetINTEL", &usm.set},
                   {"clEnqueueMemcpyINTEL", &usm.copy},
                   {"clEnqueueMigrateMemINTEL", &usm.migrate},
                   {"clEnqueueMemAdviseINTEL", &usm.advise}};
    for (unsigned n = 0; n < sizeof entries / sizeof *entries; n++) {
        load_entry(platform, entries[n].name, entries[n].function);
        if (!*(void **)entries[n].function) return false;
    }
    return true;
}

#endif
