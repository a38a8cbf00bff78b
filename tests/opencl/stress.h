/* stress.h — what programs of many threads share that use one context: how it begins and ends, and
 * what is counted.  They run under ThreadSanitizer, where tests with Criterion do not. */
#ifndef SPVFUSE_TESTS_STRESS_H
#define SPVFUSE_TESTS_STRESS_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_ENABLE_BETA_EXTENSIONS
#include "tests/opencl/loader.h"

#include <CL/cl_ext.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static _Atomic unsigned wrong;

static inline void expect(bool right) { wrong += !right; }

static inline void begin_context(void) {
    expect(find_implementation());
    expect(!clGetPlatformIDs(1, &platform, NULL));
    expect(!clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
}

static inline cl_command_queue new_queue(bool in_order) {
    const cl_queue_properties any_order[] = {CL_QUEUE_PROPERTIES,
                                             CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    return clCreateCommandQueueWithProperties(context, device, in_order ? NULL : any_order, NULL);
}

static inline cl_program build_program(const char *source) {
    cl_program p = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    expect(!clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    return p;
}

static inline void run_threads(unsigned n, void *(*work)(void *number)) {
    pthread_t threads[n];
    for (uintptr_t k = 0; k < n; k++) expect(!pthread_create(&threads[k], NULL, work, (void *)k));
    for (unsigned k = 0; k < n; k++) pthread_join(threads[k], NULL);
}

/* The thread that has run a command may hold it a moment longer than the one that waited for it. */
static inline bool is_given_back(void) {
    cl_uint references;
    expect(!clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references,
                             NULL));
    return references == 1;
}

/* Nobody else has the context, and no callback is still to come. */
static inline void end_context(const _Atomic unsigned *called, unsigned wanted) {
    for (int wait = 0; wait < 2000 && !(is_given_back() && *called == wanted); wait++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    expect(is_given_back() && *called == wanted && !clReleaseContext(context));
}

#endif
