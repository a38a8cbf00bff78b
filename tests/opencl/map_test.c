/* map_test.c — mapping buffers: addresses, counts, what may not be mapped at the same time. */
#include "tests/opencl/buffers.h"

TestSuite(map, .init = begin_buffers, .fini = end_buffers);

static unsigned char *map(cl_mem m, cl_map_flags flags, size_t offset, size_t size) {
    error = -1;
    return clEnqueueMapBuffer(ocl.queue, m, CL_TRUE, flags, offset, size, 0, NULL, NULL, &error);
}

static cl_int unmap(cl_mem m, void *p) {
    return clEnqueueUnmapMemObject(ocl.queue, m, p, 0, NULL, NULL);
}

#define COUNTS(m, n) TELLS(cl_uint, n, clGetMemObjectInfo, m, CL_MEM_MAP_COUNT)

Test(map, shows_the_bytes) {
    unsigned char got[SIZE];
    unsigned char *p = MAKE(map(buffer, CL_MAP_READ | CL_MAP_WRITE, 100, 50));
    for (size_t n = 0; n < 50; n++) cr_expect_eq(p[n], byte_at(100 + n));
    memcpy(p, "abc", 3);
    SUCCEEDS(unmap(buffer, p));
    read_all(buffer, got);
    cr_expect_arr_eq(got + 100, "abc", 3);
    cr_expect_eq(got[103], byte_at(103));
}

Test(map, addresses) {
    char host[SIZE];
    unsigned char *p = MAKE(map(buffer, CL_MAP_READ, 0, SIZE));
    unsigned char *q = MAKE(map(buffer, CL_MAP_READ, 10, 5));
    cr_expect_eq(q, p + 10);
    SUCCEEDS(unmap(buffer, p));
    SUCCEEDS(unmap(buffer, q));
    cl_mem m = MAKE(clCreateBuffer(ocl.context, CL_MEM_USE_HOST_PTR, SIZE, host, &error));
    p = MAKE(map(m, CL_MAP_WRITE_INVALIDATE_REGION, 7, 1));
    cr_expect_eq((char *)p, host + 7);
    SUCCEEDS(unmap(m, p));
    SUCCEEDS(clReleaseMemObject(m));
}

Test(map, counts) {
    unsigned char *p = MAKE(map(buffer, CL_MAP_READ, 0, 16));
    COUNTS(buffer, 1);
    cr_expect_eq(MAKE(map(buffer, CL_MAP_READ, 0, 8)), p);
    COUNTS(buffer, 2);
    SUCCEEDS(unmap(buffer, p));
    COUNTS(buffer, 1);
    SUCCEEDS(unmap(buffer, p));
    COUNTS(buffer, 0);
    FAILS(CL_INVALID_VALUE, unmap(buffer, p));
}

Test(map, sub_buffers_have_their_own) {
    cl_mem s = sub_buffer(128, 256);
    unsigned char *p = MAKE(map(s, CL_MAP_READ, 0, 16));
    COUNTS(buffer, 0);
    COUNTS(s, 1);
    FAILS(CL_INVALID_VALUE, unmap(buffer, p));
    SUCCEEDS(unmap(s, p));
    COUNTS(s, 0);
    SUCCEEDS(clReleaseMemObject(s));
}

Test(map, events) {
    cl_event go = user_event(), mapped, unmapped;
    void *p = MAKE(clEnqueueMapBuffer(ocl.queue, buffer, CL_FALSE, CL_MAP_WRITE, 0, SIZE, 1, &go,
                                      &mapped, &error));
    SUCCEEDS(clEnqueueUnmapMemObject(ocl.queue, buffer, p, 1, &mapped, &unmapped));
    TELLS(cl_command_type, CL_COMMAND_MAP_BUFFER, clGetEventInfo, mapped, CL_EVENT_COMMAND_TYPE);
    TELLS(cl_command_type, CL_COMMAND_UNMAP_MEM_OBJECT, clGetEventInfo, unmapped,
          CL_EVENT_COMMAND_TYPE);
    TELLS(cl_int, CL_SUBMITTED, clGetEventInfo, mapped, CL_EVENT_COMMAND_EXECUTION_STATUS);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &unmapped));
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseEvent(mapped));
    SUCCEEDS(clReleaseEvent(unmapped));
}

Test(map, again_before_anything_ran) {
    cl_event go = user_event();
    for (int n = 0; n < 3; n++) {
        void *p = MAKE(clEnqueueMapBuffer(ocl.queue, buffer, CL_FALSE, CL_MAP_WRITE, 0, SIZE, 1,
                                          &go, NULL, &error));
        SUCCEEDS(unmap(buffer, p));
    }
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clReleaseEvent(go));
}

Test(map, overlap) {
    cl_mem low = sub_buffer(0, 256), high = sub_buffer(128, 256);
    void *p = MAKE(map(buffer, CL_MAP_WRITE, 100, 100));
    REFUSES(CL_INVALID_OPERATION, map(buffer, CL_MAP_WRITE, 100, 100));
    REFUSES(CL_INVALID_OPERATION, map(buffer, CL_MAP_WRITE_INVALIDATE_REGION, 0, 101));
    REFUSES(CL_INVALID_OPERATION, map(buffer, CL_MAP_READ | CL_MAP_WRITE, 199, 1));
    REFUSES(CL_INVALID_OPERATION, map(low, CL_MAP_WRITE, 150, 1));
    REFUSES(CL_INVALID_OPERATION, map(high, CL_MAP_WRITE, 0, 1));
    COUNTS(buffer, 1);
    void *before = MAKE(map(buffer, CL_MAP_WRITE, 0, 100));
    void *after = MAKE(map(high, CL_MAP_WRITE, 72, 10));
    void *within = MAKE(map(buffer, CL_MAP_READ, 110, 10));
    COUNTS(buffer, 3);
    SUCCEEDS(unmap(buffer, p));
    SUCCEEDS(unmap(buffer, MAKE(map(buffer, CL_MAP_WRITE, 100, 100))));
    SUCCEEDS(unmap(buffer, before));
    SUCCEEDS(unmap(high, after));
    SUCCEEDS(unmap(buffer, within));
    SUCCEEDS(clReleaseMemObject(low));
    SUCCEEDS(clReleaseMemObject(high));
}

Test(map, ends_with_its_buffer) {
    cl_mem s = sub_buffer(0, 256);
    MAKE(map(s, CL_MAP_WRITE, 0, 256));
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(clReleaseMemObject(s));
    struct timespec ms = {0, 1000000};
    for (int n = 0; n < 1000 && !map(buffer, CL_MAP_WRITE, 0, 256); n++) nanosleep(&ms, NULL);
    SUCCEEDS(
        error); /* the command no longer holds the sub-buffer; the buffer ends while it is mapped */
}

Test(map, fails_with_its_events) {
    cl_event bad = failed_event();
    REFUSES(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
            clEnqueueMapBuffer(ocl.queue, buffer, CL_TRUE, CL_MAP_WRITE, 0, SIZE, 1, &bad, NULL,
                               &error));
    COUNTS(buffer, 0);
    SUCCEEDS(unmap(buffer, MAKE(map(buffer, CL_MAP_WRITE, 0, SIZE))));
    SUCCEEDS(clReleaseEvent(bad));
}

Test(map, wrong_arguments) {
#define MAP(q, m, flags, offset, size, n, list)                                                    \
    clEnqueueMapBuffer(q, m, CL_FALSE, flags, offset, size, n, list, NULL, &error)
    const cl_map_flags r = CL_MAP_READ, invalidate = CL_MAP_WRITE_INVALIDATE_REGION;
    REFUSES(CL_INVALID_COMMAND_QUEUE, MAP(NULL, NULL, 99, SIZE + 1, 0, 1, NULL));
    REFUSES(CL_INVALID_MEM_OBJECT, MAP(ocl.queue, NULL, 99, SIZE + 1, 0, 1, NULL));
    REFUSES(CL_INVALID_CONTEXT, MAP(ocl.queue, other_buffer, 99, SIZE + 1, 0, 1, NULL));
    REFUSES(CL_INVALID_VALUE, MAP(ocl.queue, buffer, r, 0, 0, 0, NULL));
    REFUSES(CL_INVALID_VALUE, MAP(ocl.queue, buffer, r, SIZE, 1, 0, NULL));
    REFUSES(CL_INVALID_VALUE, MAP(ocl.queue, buffer, r, 0, SIZE + 1, 0, NULL));
    REFUSES(CL_INVALID_VALUE, MAP(ocl.queue, buffer, r, 2, SIZE_MAX, 0, NULL));
    REFUSES(CL_INVALID_VALUE, MAP(ocl.queue, buffer, 8, 0, 1, 0, NULL));
    REFUSES(CL_INVALID_VALUE, MAP(ocl.queue, buffer, r | invalidate, 0, 1, 0, NULL));
    REFUSES(CL_INVALID_VALUE, MAP(ocl.queue, buffer, CL_MAP_WRITE | invalidate, 0, 1, 0, NULL));
    REFUSES(CL_INVALID_EVENT_WAIT_LIST, MAP(ocl.queue, buffer, r, 0, 1, 1, NULL));
    REFUSES(CL_INVALID_EVENT_WAIT_LIST, MAP(ocl.queue, buffer, r, 0, 1, 0, &other_event));
    REFUSES(CL_INVALID_CONTEXT, MAP(ocl.queue, buffer, r, 0, 1, 1, &other_event));
    COUNTS(buffer, 0);
}

Test(map, wrong_unmapping) {
#define UNMAP(q, m, p, n, list) clEnqueueUnmapMemObject(q, m, p, n, list, NULL)
    unsigned char *p = MAKE(map(buffer, CL_MAP_READ, 10, 10));
    FAILS(CL_INVALID_COMMAND_QUEUE, UNMAP(NULL, buffer, p, 0, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, UNMAP(ocl.queue, NULL, p, 0, NULL));
    FAILS(CL_INVALID_CONTEXT, UNMAP(ocl.queue, other_buffer, p, 0, NULL));
    FAILS(CL_INVALID_VALUE, UNMAP(ocl.queue, buffer, NULL, 0, NULL));
    FAILS(CL_INVALID_VALUE, UNMAP(ocl.queue, buffer, p + 1, 0, NULL));
    CHECK_WAIT_LIST(UNMAP(ocl.queue, buffer, p, n, list));
    COUNTS(buffer, 1);
    SUCCEEDS(unmap(buffer, p));
}

Test(map, host_access) {
    static const cl_mem_flags made[] = {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY,
                                        CL_MEM_HOST_NO_ACCESS};
    static const cl_map_flags wanted[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION,
                                          CL_MAP_READ | CL_MAP_WRITE};
    for (unsigned n = 0; n < 3 * 4; n++) {
        cl_mem_flags flags = made[n / 4];
        bool reads = wanted[n % 4] & CL_MAP_READ;
        bool writes = wanted[n % 4] & ~(cl_map_flags)CL_MAP_READ;
        cl_mem m = new_buffer(flags);
        if ((reads && flags != CL_MEM_HOST_READ_ONLY) ||
            (writes && flags != CL_MEM_HOST_WRITE_ONLY))
            REFUSES(CL_INVALID_OPERATION, map(m, wanted[n % 4], 0, 16));
        else
            SUCCEEDS(unmap(m, MAKE(map(m, wanted[n % 4], 0, 16))));
        SUCCEEDS(clReleaseMemObject(m));
    }
}
