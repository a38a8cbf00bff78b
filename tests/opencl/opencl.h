/* opencl.h — what tests of the OpenCL implementation share: they find it as other programs do, by
 * the loader, with one context and one queue in order.
 *
 *     TestSuite(memory, .init = begin_opencl, .fini = end_opencl);
 *     Test(memory, create) { cl_mem m = MAKE(clCreateBuffer(ocl.context, 0, 64, NULL, &error)); … }
 *
 * A test gives back all that it makes: at its end nothing else holds the context. */
#ifndef SPVFUSE_TESTS_OPENCL_H
#define SPVFUSE_TESTS_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include "tests/opencl/loader.h"

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <time.h>

/* --------------------------------------------------------------------------------------- checks */

/* That a call gives an error code; the test goes on. */
#define FAILS(wanted, call)                                                                        \
    do {                                                                                           \
        cl_int got_ = (call);                                                                      \
        cr_expect(got_ == (wanted), "%s: %d, not %s", #call, got_, #wanted);                       \
    } while (0)
/* That a call gives CL_SUCCESS; otherwise the test ends. */
#define SUCCEEDS(call)                                                                             \
    do {                                                                                           \
        cl_int got_ = (call);                                                                      \
        cr_assert(got_ == CL_SUCCESS, "%s: %d", #call, got_);                                      \
    } while (0)

static cl_int error; /* of the last call whose last argument is &error */

/* A call gives an error code by &error, and NULL. */
#define REFUSES(wanted, call)                                                                      \
    do {                                                                                           \
        error = CL_SUCCESS;                                                                        \
        const void *got_ = (call);                                                                 \
        cr_expect(!got_ && error == (wanted), "%s: %d, not %s", #call, error, #wanted);            \
    } while (0)
/* The object that a call makes, with CL_SUCCESS; otherwise the test ends. */
#define MAKE(call) (error = -1, check_made((call), #call, __LINE__))

static inline void *check_made(void *made, const char *call, int line) {
    cr_assert(made && error == CL_SUCCESS, "line %d: %s: %d", line, call, error);
    return made;
}

/* What clGet…Info says: TELLS(cl_uint, 0, clGetMemObjectInfo, m, CL_MEM_MAP_COUNT). */
#define TELLS(type, wanted, get, object, what)                                                     \
    do {                                                                                           \
        type told_;                                                                                \
        size_t size_ = 0;                                                                          \
        SUCCEEDS(get(object, what, sizeof told_, &told_, &size_));                                 \
        cr_expect(size_ == sizeof told_, "%s: %zu bytes", #what, size_);                           \
        cr_expect(told_ == (wanted), "%s is not %s", #what, #wanted);                              \
    } while (0)

/* The errors of clGet…Info: there is no such parameter, or less room than the answer has bytes. */
#define CHECK_INFO(get, object, what, bytes)                                                       \
    do {                                                                                           \
        char room_[bytes];                                                                         \
        size_t size_ = 0;                                                                          \
        SUCCEEDS(get(object, what, 0, NULL, &size_));                                              \
        cr_expect(size_ == (bytes), "%s: %zu bytes", #what, size_);                                \
        SUCCEEDS(get(object, what, sizeof room_, room_, NULL));                                    \
        SUCCEEDS(get(object, what, 0, NULL, NULL));                                                \
        FAILS(CL_INVALID_VALUE, get(object, what, sizeof room_ - 1, room_, NULL));                 \
        FAILS(CL_INVALID_VALUE, get(object, 1, sizeof room_, room_, NULL));                        \
    } while (0)

/* -------------------------------------------------------------------------------- begin and end */

static struct {
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
} ocl;

static inline cl_context new_context(void) {
    return MAKE(clCreateContext(NULL, 1, &ocl.device, NULL, NULL, &error));
}

/* Properties: CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE … */
static inline cl_command_queue new_queue(cl_context c, cl_command_queue_properties flags) {
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, flags, 0};
    return MAKE(clCreateCommandQueueWithProperties(c, ocl.device, list, &error));
}

/* Stores the entry of that name in *function. */
static inline void find_entry(const char *name, void *function) {
    load_entry(ocl.platform, name, function);
    cr_assert(*(void **)function, "%s", name);
}

static inline void begin_opencl(void) {
    cr_assert(find_implementation());
    SUCCEEDS(clGetPlatformIDs(1, &ocl.platform, NULL));
    SUCCEEDS(clGetDeviceIDs(ocl.platform, CL_DEVICE_TYPE_ALL, 1, &ocl.device, NULL));
    ocl.context = new_context();
    ocl.queue = new_queue(ocl.context, 0);
}

/* A thread that has run a command may hold it a moment longer than the one that waited for it. */
static inline bool comes_true(bool (*is_true)(void *user), void *user) {
    for (int wait = 0; wait < 2000 && !is_true(user); wait++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return is_true(user);
}

static inline cl_int event_status(cl_event e) {
    cl_int status;
    SUCCEEDS(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

static inline bool has_ended(void *event) { return event_status(event) <= CL_COMPLETE; }

static inline bool has_one_reference(void *context) {
    cl_uint n;
    SUCCEEDS(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, NULL));
    return n == 1;
}

static inline void end_context(cl_context c) {
    cr_expect(comes_true(has_one_reference, c), "something holds the context");
    SUCCEEDS(clReleaseContext(c));
}

static inline void end_opencl(void) {
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(clReleaseCommandQueue(ocl.queue));
    end_context(ocl.context);
}

#endif
