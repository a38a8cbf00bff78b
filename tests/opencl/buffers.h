/* buffers.h — what tests of buffers share: a buffer with known bytes, and what belongs to another
 * context. */
#ifndef SPVFUSE_TESTS_BUFFERS_H
#define SPVFUSE_TESTS_BUFFERS_H

#include "tests/opencl/opencl.h"

enum { SIZE = 1024 };

/* A buffer with 0, 1, 2 …; one of another context; an event of that context. */
static cl_mem buffer;
static cl_context other_context;
static cl_mem other_buffer;
static cl_event other_event;

static inline unsigned char byte_at(size_t n) { return (unsigned char)(n * 7 + n / 256); }

static inline void begin_buffers(void) {
    unsigned char host[SIZE];
    begin_opencl();
    for (size_t n = 0; n < SIZE; n++) host[n] = byte_at(n);
    buffer = MAKE(clCreateBuffer(ocl.context, CL_MEM_COPY_HOST_PTR, SIZE, host, &error));
    other_context = new_context();
    other_buffer = MAKE(clCreateBuffer(other_context, 0, SIZE, NULL, &error));
    other_event = MAKE(clCreateUserEvent(other_context, &error));
}

static inline void end_buffers(void) {
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(clReleaseMemObject(buffer));
    SUCCEEDS(clReleaseMemObject(other_buffer));
    SUCCEEDS(clSetUserEventStatus(other_event, CL_COMPLETE));
    SUCCEEDS(clReleaseEvent(other_event));
    end_context(other_context);
    end_opencl();
}

static inline void read_all(cl_mem m, unsigned char to[SIZE]) {
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, m, CL_TRUE, 0, SIZE, to, 0, NULL, NULL));
}

static inline cl_mem sub_buffer(size_t origin, size_t size) {
    const cl_buffer_region r = {origin, size};
    return MAKE(clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &error));
}

static inline cl_mem new_buffer(cl_mem_flags flags) {
    return MAKE(clCreateBuffer(ocl.context, flags, SIZE, NULL, &error));
}

static inline cl_event user_event(void) { return MAKE(clCreateUserEvent(ocl.context, &error)); }

/* An event that has failed. */
static inline cl_event failed_event(void) {
    cl_event e = user_event();
    SUCCEEDS(clSetUserEventStatus(e, -5));
    return e;
}

/* The errors of a wait list; `call` uses n and list. */
#define CHECK_WAIT_LIST(call)                                                                      \
    do {                                                                                           \
        const cl_event wrong_ = NULL;                                                              \
        const cl_event *list = NULL;                                                               \
        cl_uint n = 1;                                                                             \
        FAILS(CL_INVALID_EVENT_WAIT_LIST, call);                                                   \
        list = &wrong_;                                                                            \
        FAILS(CL_INVALID_EVENT_WAIT_LIST, call);                                                   \
        n = 0;                                                                                     \
        FAILS(CL_INVALID_EVENT_WAIT_LIST, call);                                                   \
        n = 1;                                                                                     \
        list = &other_event;                                                                       \
        FAILS(CL_INVALID_CONTEXT, call);                                                           \
    } while (0)

#endif
