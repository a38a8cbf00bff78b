/* transfer_test.c — reading, writing, copying, filling and migrating buffers: what they move, and
 * every error.  rect_test.c has boxes, map_test.c mappings. */
#include "tests/opencl/buffers.h"

TestSuite(transfer, .init = begin_buffers, .fini = end_buffers);

/* ----------------------------------------------------------------------------- reads and writes */

Test(transfer, read) {
    unsigned char got[16];
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, buffer, CL_TRUE, 300, 16, got, 0, NULL, NULL));
    for (size_t n = 0; n < 16; n++) cr_expect_eq(got[n], byte_at(300 + n));
}

Test(transfer, write) {
    unsigned char got[SIZE];
    SUCCEEDS(clEnqueueWriteBuffer(ocl.queue, buffer, CL_TRUE, 5, 3, "abc", 0, NULL, NULL));
    read_all(buffer, got);
    cr_expect_arr_eq(got + 5, "abc", 3);
    cr_expect(got[4] == byte_at(4) && got[8] == byte_at(8));
}

Test(transfer, nothing) {
    char c = 'c';
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, buffer, CL_TRUE, SIZE, 0, &c, 0, NULL, NULL));
    SUCCEEDS(clEnqueueWriteBuffer(ocl.queue, buffer, CL_TRUE, 0, 0, &c, 0, NULL, NULL));
    SUCCEEDS(clEnqueueCopyBuffer(ocl.queue, buffer, buffer, 9, 9, 0, 0, NULL, NULL));
    SUCCEEDS(clEnqueueFillBuffer(ocl.queue, buffer, &c, 1, 7, 0, 0, NULL, NULL));
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, buffer, CL_TRUE, 7, 1, &c, 0, NULL, NULL));
    cr_expect_eq((unsigned char)c, byte_at(7));
}

Test(transfer, of_sub_buffer) {
    unsigned char got[SIZE];
    cl_mem s = sub_buffer(256, 128);
    SUCCEEDS(clEnqueueWriteBuffer(ocl.queue, s, CL_FALSE, 100, 3, "abc", 0, NULL, NULL));
    read_all(buffer, got);
    cr_expect_arr_eq(got + 356, "abc", 3);
    FAILS(CL_INVALID_VALUE,
          clEnqueueReadBuffer(ocl.queue, s, CL_TRUE, 100, 29, got, 0, NULL, NULL));
    SUCCEEDS(clReleaseMemObject(s));
}

Test(transfer, waits) {
    char text[4] = "abc", got[4] = "";
    cl_event go = user_event(), written, was_read;
    SUCCEEDS(clEnqueueWriteBuffer(ocl.queue, buffer, CL_FALSE, 0, 4, text, 1, &go, &written));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, buffer, CL_FALSE, 0, 4, got, 0, NULL, &was_read));
    TELLS(cl_command_type, CL_COMMAND_WRITE_BUFFER, clGetEventInfo, written, CL_EVENT_COMMAND_TYPE);
    TELLS(cl_command_type, CL_COMMAND_READ_BUFFER, clGetEventInfo, was_read, CL_EVENT_COMMAND_TYPE);
    cr_expect_str_eq(got, "");
    strcpy(text, "xyz");
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &was_read));
    cr_expect_str_eq(got, "xyz");
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseEvent(written));
    SUCCEEDS(clReleaseEvent(was_read));
}

Test(transfer, blocking_fails_with_its_events) {
    char got[4] = "";
    cl_event bad = failed_event(), out;
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
          clEnqueueReadBuffer(ocl.queue, buffer, CL_TRUE, 0, 4, got, 1, &bad, NULL));
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
          clEnqueueWriteBuffer(ocl.queue, buffer, CL_TRUE, 0, 4, got, 1, &bad, NULL));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, buffer, CL_FALSE, 0, 4, got, 1, &bad, &out));
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &out));
    cr_expect_arr_eq(got, "\0\0\0", 4);
    SUCCEEDS(clReleaseEvent(out));
    SUCCEEDS(clReleaseEvent(bad));
}

Test(transfer, wrong_read) {
    char got[16];
#define READ(q, m, offset, size, to, n, list)                                                      \
    clEnqueueReadBuffer(q, m, CL_FALSE, offset, size, to, n, list, NULL)
    FAILS(CL_INVALID_COMMAND_QUEUE, READ(NULL, NULL, SIZE + 1, 1, NULL, 1, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, READ(ocl.queue, NULL, SIZE + 1, 1, NULL, 1, NULL));
    FAILS(CL_INVALID_CONTEXT, READ(ocl.queue, other_buffer, SIZE + 1, 1, NULL, 1, NULL));
    FAILS(CL_INVALID_VALUE, READ(ocl.queue, buffer, 0, 1, NULL, 1, NULL));
    FAILS(CL_INVALID_VALUE, READ(ocl.queue, buffer, SIZE + 1, 0, got, 0, NULL));
    FAILS(CL_INVALID_VALUE, READ(ocl.queue, buffer, SIZE, 1, got, 0, NULL));
    FAILS(CL_INVALID_VALUE, READ(ocl.queue, buffer, 8, SIZE_MAX, got, 0, NULL));
    FAILS(CL_INVALID_VALUE, READ(ocl.queue, buffer, SIZE_MAX, 8, got, 0, NULL));
    CHECK_WAIT_LIST(READ(ocl.queue, buffer, 0, 1, got, n, list));
}

Test(transfer, wrong_write) {
#define WRITE(q, m, offset, size, from, n, list)                                                   \
    clEnqueueWriteBuffer(q, m, CL_FALSE, offset, size, from, n, list, NULL)
    FAILS(CL_INVALID_COMMAND_QUEUE, WRITE(NULL, NULL, SIZE + 1, 1, NULL, 1, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, WRITE(ocl.queue, NULL, SIZE + 1, 1, NULL, 1, NULL));
    FAILS(CL_INVALID_CONTEXT, WRITE(ocl.queue, other_buffer, SIZE + 1, 1, NULL, 1, NULL));
    FAILS(CL_INVALID_VALUE, WRITE(ocl.queue, buffer, 0, 1, NULL, 1, NULL));
    FAILS(CL_INVALID_VALUE, WRITE(ocl.queue, buffer, SIZE, 1, "x", 0, NULL));
    FAILS(CL_INVALID_VALUE, WRITE(ocl.queue, buffer, 8, SIZE_MAX, "x", 0, NULL));
    CHECK_WAIT_LIST(WRITE(ocl.queue, buffer, 0, 1, "x", n, list));
}

Test(transfer, host_access) {
    static const struct {
        cl_mem_flags flags;
        cl_int read, write;
    } cases[] = {
        {CL_MEM_READ_ONLY, CL_SUCCESS, CL_SUCCESS},
        {CL_MEM_WRITE_ONLY, CL_SUCCESS, CL_SUCCESS},
        {CL_MEM_HOST_WRITE_ONLY, CL_INVALID_OPERATION, CL_SUCCESS},
        {CL_MEM_HOST_READ_ONLY, CL_SUCCESS, CL_INVALID_OPERATION},
        {CL_MEM_HOST_NO_ACCESS, CL_INVALID_OPERATION, CL_INVALID_OPERATION},
    };
    char c = 0;
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        cl_mem m = new_buffer(cases[k].flags);
        FAILS(cases[k].read, clEnqueueReadBuffer(ocl.queue, m, CL_TRUE, 0, 1, &c, 0, NULL, NULL));
        FAILS(cases[k].write, clEnqueueWriteBuffer(ocl.queue, m, CL_TRUE, 0, 1, &c, 0, NULL, NULL));
        SUCCEEDS(clEnqueueCopyBuffer(ocl.queue, buffer, m, 0, 0, SIZE, 0, NULL, NULL));
        SUCCEEDS(clEnqueueFillBuffer(ocl.queue, m, &c, 1, 0, SIZE, 0, NULL, NULL));
        SUCCEEDS(clReleaseMemObject(m));
    }
}

/* --------------------------------------------------------------------------------------- copies */

Test(transfer, copy) {
    unsigned char got[SIZE];
    cl_event done;
    SUCCEEDS(clEnqueueCopyBuffer(ocl.queue, buffer, buffer, 0, 512, 512, 0, NULL, &done));
    TELLS(cl_command_type, CL_COMMAND_COPY_BUFFER, clGetEventInfo, done, CL_EVENT_COMMAND_TYPE);
    read_all(buffer, got);
    cr_expect_arr_eq(got, got + 512, 512);
    SUCCEEDS(clReleaseEvent(done));
}

static cl_int copy(cl_mem from, cl_mem to, size_t source, size_t target, size_t size) {
    return clEnqueueCopyBuffer(ocl.queue, from, to, source, target, size, 0, NULL, NULL);
}

Test(transfer, copy_overlap) {
    cl_mem low = sub_buffer(0, 384), high = sub_buffer(256, 384);
    FAILS(CL_MEM_COPY_OVERLAP, copy(buffer, buffer, 0, 0, 1));
    FAILS(CL_MEM_COPY_OVERLAP, copy(buffer, buffer, 0, 9, 10));
    FAILS(CL_MEM_COPY_OVERLAP, copy(buffer, buffer, 9, 0, 10));
    FAILS(CL_SUCCESS, copy(buffer, buffer, 0, 10, 10));
    FAILS(CL_SUCCESS, copy(buffer, buffer, 10, 0, 10));
    FAILS(CL_MEM_COPY_OVERLAP, copy(low, high, 256, 0, 10)); /* the same bytes */
    FAILS(CL_MEM_COPY_OVERLAP, copy(high, low, 0, 265, 10));
    FAILS(CL_SUCCESS, copy(high, low, 0, 256 - 10, 10));
    FAILS(CL_SUCCESS, copy(low, high, 0, 0, 256));
    FAILS(CL_MEM_COPY_OVERLAP, copy(low, high, 0, 0, 257));
    FAILS(CL_MEM_COPY_OVERLAP, copy(buffer, high, 256, 0, 10));
    SUCCEEDS(clReleaseMemObject(low));
    SUCCEEDS(clReleaseMemObject(high));
}

Test(transfer, wrong_copy) {
    FAILS(CL_INVALID_COMMAND_QUEUE,
          clEnqueueCopyBuffer(NULL, buffer, buffer, 0, 0, 1, 0, NULL, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, copy(NULL, buffer, 0, 0, 1));
    FAILS(CL_INVALID_MEM_OBJECT, copy(buffer, NULL, 0, 0, 1));
    FAILS(CL_INVALID_CONTEXT, copy(other_buffer, buffer, 0, 0, 1));
    FAILS(CL_INVALID_CONTEXT, copy(buffer, other_buffer, 0, 0, 1));
    FAILS(CL_INVALID_VALUE, copy(buffer, buffer, SIZE, 0, 1));
    FAILS(CL_INVALID_VALUE, copy(buffer, buffer, 0, SIZE, 1));
    FAILS(CL_INVALID_VALUE, copy(buffer, buffer, 1, 2, SIZE_MAX));
    FAILS(CL_INVALID_VALUE, copy(buffer, buffer, SIZE_MAX, 2, 2));
    CHECK_WAIT_LIST(clEnqueueCopyBuffer(ocl.queue, buffer, buffer, 0, 2, 2, n, list, NULL));
}

/* ---------------------------------------------------------------------------------------- fills */

Test(transfer, fill) {
    unsigned char pattern[128], got[SIZE];
    for (unsigned n = 0; n < 128; n++) pattern[n] = (unsigned char)(200 - n);
    for (size_t size = 1; size <= 128; size *= 2) {
        unsigned char copy_of_pattern[128];
        memcpy(copy_of_pattern, pattern, 128);
        SUCCEEDS(
            clEnqueueFillBuffer(ocl.queue, buffer, copy_of_pattern, size, 256, 384, 0, NULL, NULL));
        memset(copy_of_pattern, 0, 128); /* it may be used again at once */
        read_all(buffer, got);
        for (size_t n = 0; n < 384; n++) cr_assert_eq(got[256 + n], pattern[n % size]);
        cr_assert(got[255] == byte_at(255) && got[640] == byte_at(640));
    }
}

Test(transfer, fill_much) {
    enum { MUCH = 3 << 20 };
    const cl_uint pattern[2] = {1, 2};
    cl_uint *got = malloc(MUCH);
    cl_mem m = MAKE(clCreateBuffer(ocl.context, 0, MUCH, NULL, &error));
    SUCCEEDS(clEnqueueFillBuffer(ocl.queue, m, pattern, 8, 0, MUCH, 0, NULL, NULL));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, m, CL_TRUE, 0, MUCH, got, 0, NULL, NULL));
    for (size_t n = 0; n < MUCH / sizeof *got; n++) cr_assert_eq(got[n], 1 + n % 2);
    SUCCEEDS(clReleaseMemObject(m));
    free(got);
}

Test(transfer, wrong_fill) {
    const char pattern[256] = "";
#define FILL(q, m, pattern, pattern_size, offset, size, n, list)                                   \
    clEnqueueFillBuffer(q, m, pattern, pattern_size, offset, size, n, list, NULL)
    FAILS(CL_INVALID_COMMAND_QUEUE, FILL(NULL, NULL, NULL, 0, 0, 8, 0, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, FILL(ocl.queue, NULL, NULL, 0, 0, 8, 0, NULL));
    FAILS(CL_INVALID_CONTEXT, FILL(ocl.queue, other_buffer, pattern, 4, 0, 8, 0, NULL));
    FAILS(CL_INVALID_VALUE, FILL(ocl.queue, buffer, pattern, 4, SIZE, 4, 0, NULL));
    FAILS(CL_INVALID_VALUE, FILL(ocl.queue, buffer, pattern, 4, 4, SIZE_MAX - 3, 0, NULL));
    FAILS(CL_INVALID_VALUE, FILL(ocl.queue, buffer, NULL, 4, 0, 8, 0, NULL));
    for (size_t size = 0; size < 300; size++)
        FAILS(size && size <= 128 && !(size & (size - 1)) ? CL_SUCCESS : CL_INVALID_VALUE,
              FILL(ocl.queue, buffer, pattern, size, 0, 0, 0, NULL));
    FAILS(CL_INVALID_VALUE, FILL(ocl.queue, buffer, pattern, 4, 2, 8, 0, NULL));
    FAILS(CL_INVALID_VALUE, FILL(ocl.queue, buffer, pattern, 4, 4, 6, 0, NULL));
    CHECK_WAIT_LIST(FILL(ocl.queue, buffer, pattern, 4, 4, 8, n, list));
}

/* ------------------------------------------------------------------------------------ migration */

Test(transfer, migrate) {
    cl_mem s = sub_buffer(0, 16);
    const cl_mem both[] = {buffer, s};
    cl_event done;
    const cl_mem_migration_flags flags[] = {
        0, CL_MIGRATE_MEM_OBJECT_HOST, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
        CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED};
    for (unsigned k = 0; k < 4; k++) {
        SUCCEEDS(clEnqueueMigrateMemObjects(ocl.queue, 2, both, flags[k], 0, NULL, &done));
        TELLS(cl_command_type, CL_COMMAND_MIGRATE_MEM_OBJECTS, clGetEventInfo, done,
              CL_EVENT_COMMAND_TYPE);
        SUCCEEDS(clWaitForEvents(1, &done));
        SUCCEEDS(clReleaseEvent(done));
    }
    SUCCEEDS(clReleaseMemObject(s));
}

Test(transfer, wrong_migration) {
    const cl_mem wrong[] = {buffer, NULL}, foreign[] = {buffer, other_buffer};
#define MIGRATE(q, count, mems, flags, n, list)                                                    \
    clEnqueueMigrateMemObjects(q, count, mems, flags, n, list, NULL)
    FAILS(CL_INVALID_COMMAND_QUEUE, MIGRATE(NULL, 1, &buffer, 0, 0, NULL));
    FAILS(CL_INVALID_CONTEXT, MIGRATE(ocl.queue, 2, foreign, 0, 0, NULL));
    FAILS(CL_INVALID_MEM_OBJECT, MIGRATE(ocl.queue, 2, wrong, 0, 0, NULL));
    FAILS(CL_INVALID_VALUE, MIGRATE(ocl.queue, 0, &buffer, 0, 0, NULL));
    FAILS(CL_INVALID_VALUE, MIGRATE(ocl.queue, 1, NULL, 0, 0, NULL));
    FAILS(CL_INVALID_VALUE, MIGRATE(ocl.queue, 1, &buffer, 4, 0, NULL));
    CHECK_WAIT_LIST(MIGRATE(ocl.queue, 1, &buffer, 0, n, list));
}
