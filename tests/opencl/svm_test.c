/* svm_test.c — shared virtual memory: allocations, commands on them and on other memory of the
 * program, buffers that use it, and every error. */
#include "tests/opencl/buffers.h"

TestSuite(svm, .init = begin_buffers, .fini = end_buffers);

static unsigned char *new_svm(size_t size) {
    unsigned char *p = clSVMAlloc(ocl.context, CL_MEM_READ_WRITE, size, 0);
    cr_assert(p);
    return p;
}

static void expect_type(cl_event e, cl_command_type type) {
    TELLS(cl_command_type, type, clGetEventInfo, e, CL_EVENT_COMMAND_TYPE);
    SUCCEEDS(clWaitForEvents(1, &e));
    SUCCEEDS(clReleaseEvent(e));
}

/* ---------------------------------------------------------------------------------- allocations */

Test(svm, allocate) {
    const cl_svm_mem_flags fine = CL_MEM_SVM_FINE_GRAIN_BUFFER;
    const cl_svm_mem_flags flags[] = {0,
                                      CL_MEM_READ_WRITE,
                                      CL_MEM_READ_ONLY,
                                      CL_MEM_WRITE_ONLY,
                                      CL_MEM_READ_ONLY | fine,
                                      CL_MEM_READ_WRITE | fine | CL_MEM_SVM_ATOMICS};
    for (unsigned n = 0; n < sizeof flags / sizeof *flags; n++)
        for (cl_uint align = 0; align <= 1 << 21; align = align ? 2 * align : 1) {
            unsigned char *p = clSVMAlloc(ocl.context, flags[n], 33, align);
            cr_assert(p);
            cr_expect_eq((uintptr_t)p % (align ? align : 128), 0);
            memset(p, 1, 33);
            clSVMFree(ocl.context, p);
        }
}

Test(svm, wrong_allocations) {
    const cl_svm_mem_flags wrong[] = {CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                                      CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
                                      CL_MEM_SVM_ATOMICS,
                                      CL_MEM_USE_HOST_PTR,
                                      CL_MEM_HOST_READ_ONLY,
                                      1 << 20};
    cl_ulong most;
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
    for (unsigned n = 0; n < sizeof wrong / sizeof *wrong; n++)
        cr_expect_null(clSVMAlloc(ocl.context, wrong[n], 16, 0));
    cr_expect_null(clSVMAlloc(NULL, 0, 16, 0));
    cr_expect_null(clSVMAlloc(ocl.context, 0, 0, 0));
    cr_expect_null(clSVMAlloc(ocl.context, 0, most + 1, 0));
    cr_expect_null(clSVMAlloc(ocl.context, 0, SIZE_MAX, 0));
    cr_expect_null(clSVMAlloc(ocl.context, 0, 16, 3));
    cr_expect_null(clSVMAlloc(ocl.context, 0, 16, 384));
}

Test(svm, wrong_frees_do_nothing) {
    unsigned char *p = new_svm(16), other[16];
    clSVMFree(ocl.context, NULL);
    clSVMFree(ocl.context, other);
    clSVMFree(ocl.context, p + 1);
    clSVMFree(other_context, p);
    clSVMFree(NULL, p);
    memset(p, 1, 16);
    clSVMFree(ocl.context, p);
}

/* In an order that is not that of their addresses; some are left to the context. */
Test(svm, many_allocations) {
    enum { MANY = 500 };
    unsigned char *p[MANY];
    cl_context c = new_context();
    for (unsigned n = 0; n < MANY; n++) {
        p[n] = clSVMAlloc(c, 0, 1 + n % 300, 0);
        cr_assert(p[n]);
    }
    for (unsigned n = 0; n < MANY; n += 1 + n % 3) clSVMFree(c, p[n * 7 % MANY]);
    SUCCEEDS(clReleaseContext(c));
}

/* -------------------------------------------------------------------------------------- buffers */

Test(svm, buffers_use_it) {
    unsigned char *p = new_svm(512), own[512];
    const cl_buffer_region r = {128, 64};
    cl_mem m = MAKE(clCreateBuffer(ocl.context, CL_MEM_USE_HOST_PTR, 512, p, &error));
    cl_mem s = MAKE(clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &error));
    cl_mem o = MAKE(clCreateBuffer(ocl.context, CL_MEM_USE_HOST_PTR, 512, own, &error));
    cl_mem c = MAKE(clCreateBuffer(ocl.context, CL_MEM_COPY_HOST_PTR, 512, p, &error));
    TELLS(cl_bool, CL_TRUE, clGetMemObjectInfo, m, CL_MEM_USES_SVM_POINTER);
    TELLS(cl_bool, CL_TRUE, clGetMemObjectInfo, s, CL_MEM_USES_SVM_POINTER);
    TELLS(cl_bool, CL_FALSE, clGetMemObjectInfo, o, CL_MEM_USES_SVM_POINTER);
    TELLS(cl_bool, CL_FALSE, clGetMemObjectInfo, c, CL_MEM_USES_SVM_POINTER);
    SUCCEEDS(clEnqueueFillBuffer(ocl.queue, s, "x", 1, 0, 64, 0, NULL, NULL));
    SUCCEEDS(clFinish(ocl.queue));
    cr_expect(p[128] == 'x' && p[191] == 'x');
    SUCCEEDS(clReleaseMemObject(s));
    SUCCEEDS(clReleaseMemObject(m));
    SUCCEEDS(clReleaseMemObject(o));
    SUCCEEDS(clReleaseMemObject(c));
    clSVMFree(ocl.context, p);
}

Test(svm, buffers_are_no_larger) {
    unsigned char *p = new_svm(512);
    const cl_mem_flags use = CL_MEM_USE_HOST_PTR;
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateBuffer(ocl.context, use, 513, p, &error));
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateBuffer(ocl.context, use, 512, p + 1, &error));
    SUCCEEDS(clReleaseMemObject(MAKE(clCreateBuffer(ocl.context, use, 511, p + 1, &error))));
    clSVMFree(ocl.context, p);
}

/* ----------------------------------------------------------------------------- enqueued freeing */

typedef struct {
    cl_command_queue queue;
    cl_uint count;
    void *list[4];
} freed;

static void CL_CALLBACK note_freed(cl_command_queue q, cl_uint count, void *list[], void *user) {
    freed *f = user;
    f->queue = q;
    f->count = count;
    if (count) memcpy(f->list, list, count * sizeof *list);
}

Test(svm, enqueued_free) {
    void *list[] = {new_svm(16), new_svm(32)};
    cl_event done;
    SUCCEEDS(clEnqueueSVMFree(ocl.queue, 2, list, NULL, NULL, 0, NULL, &done));
    list[0] = list[1] = NULL; /* it may be used again at once */
    expect_type(done, CL_COMMAND_SVM_FREE);
}

Test(svm, free_function) {
    freed f = {NULL};
    char own[16];
    unsigned char *p = new_svm(16);
    void *list[] = {p, own};
    cl_event go = user_event(), done;
    SUCCEEDS(clEnqueueSVMFree(ocl.queue, 2, list, note_freed, &f, 1, &go, &done));
    cr_expect_null(f.queue);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    expect_type(done, CL_COMMAND_SVM_FREE);
    cr_expect(f.queue == ocl.queue && f.count == 2 && f.list[0] == p && f.list[1] == own);
    p[0] = 1; /* it was the function's to free it */
    clSVMFree(ocl.context, p);
    SUCCEEDS(clReleaseEvent(go));
}

Test(svm, wrong_free) {
    void *list_of_none[] = {NULL};
#define FREE(q, count, list, n, wait) clEnqueueSVMFree(q, count, list, NULL, NULL, n, wait, NULL)
    FAILS(CL_INVALID_COMMAND_QUEUE, FREE(NULL, 0, list_of_none, 1, NULL));
    FAILS(CL_INVALID_VALUE, FREE(ocl.queue, 0, list_of_none, 1, NULL));
    FAILS(CL_INVALID_VALUE, FREE(ocl.queue, 1, NULL, 1, NULL));
    CHECK_WAIT_LIST(FREE(ocl.queue, 1, list_of_none, n, list));
    FAILS(CL_SUCCESS, FREE(ocl.queue, 1, list_of_none, 0, NULL));
    FAILS(CL_SUCCESS, FREE(ocl.queue, 0, NULL, 0, NULL));
}

/* ----------------------------------------------------------------------------- copies and fills */

Test(svm, memcpy) {
    unsigned char *p = new_svm(16), own[16] = "from the host", back[16] = "";
    cl_event done;
    SUCCEEDS(clEnqueueSVMMemcpy(ocl.queue, CL_FALSE, p, own, 16, 0, NULL, &done));
    SUCCEEDS(clEnqueueSVMMemcpy(ocl.queue, CL_TRUE, back, p, 16, 0, NULL, NULL));
    cr_expect_str_eq((char *)back, "from the host");
    expect_type(done, CL_COMMAND_SVM_MEMCPY);
    clSVMFree(ocl.context, p);
}

Test(svm, wrong_memcpy) {
    char own[32] = "";
    cl_event bad = failed_event();
#define COPY(q, to, from, size, n, list)                                                           \
    clEnqueueSVMMemcpy(q, CL_TRUE, to, from, size, n, list, NULL)
    FAILS(CL_INVALID_COMMAND_QUEUE, COPY(NULL, NULL, NULL, 1, 1, NULL));
    FAILS(CL_INVALID_VALUE, COPY(ocl.queue, NULL, own, 1, 0, NULL));
    FAILS(CL_INVALID_VALUE, COPY(ocl.queue, own, NULL, 1, 0, NULL));
    FAILS(CL_MEM_COPY_OVERLAP, COPY(ocl.queue, own, own, 1, 0, NULL));
    FAILS(CL_MEM_COPY_OVERLAP, COPY(ocl.queue, own + 15, own, 16, 0, NULL));
    FAILS(CL_MEM_COPY_OVERLAP, COPY(ocl.queue, own, own + 15, 16, 0, NULL));
    FAILS(CL_MEM_COPY_OVERLAP, COPY(ocl.queue, own, own + 15, SIZE_MAX, 0, NULL));
    FAILS(CL_SUCCESS, COPY(ocl.queue, own, own + 16, 16, 0, NULL));
    FAILS(CL_SUCCESS, COPY(ocl.queue, own, own, 0, 0, NULL));
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
          COPY(ocl.queue, own, own + 16, 16, 1, &bad));
    CHECK_WAIT_LIST(COPY(ocl.queue, own, own + 16, 16, n, list));
    SUCCEEDS(clReleaseEvent(bad));
}

Test(svm, fill) {
    unsigned char *p = new_svm(512);
    const cl_ushort pattern = 0x1234;
    cl_event done;
    memset(p, 0, 512);
    SUCCEEDS(clEnqueueSVMMemFill(ocl.queue, p + 2, &pattern, sizeof pattern, 508, 0, NULL, &done));
    expect_type(done, CL_COMMAND_SVM_MEMFILL);
    cr_expect(p[1] == 0 && p[510] == 0);
    for (unsigned n = 2; n < 510; n++) cr_expect_eq(p[n], n % 2 ? 0x12 : 0x34);
    clSVMFree(ocl.context, p);
}

Test(svm, wrong_fill) {
    unsigned char *p = new_svm(512);
    const char pattern[128] = "";
#define FILL(q, p, pattern, pattern_size, size, n, list)                                           \
    clEnqueueSVMMemFill(q, p, pattern, pattern_size, size, n, list, NULL)
    FAILS(CL_INVALID_COMMAND_QUEUE, FILL(NULL, NULL, NULL, 0, 1, 1, NULL));
    FAILS(CL_INVALID_VALUE, FILL(ocl.queue, NULL, pattern, 4, 8, 0, NULL));
    FAILS(CL_INVALID_VALUE, FILL(ocl.queue, p + 2, pattern, 4, 8, 0, NULL));
    FAILS(CL_INVALID_VALUE, FILL(ocl.queue, p, NULL, 4, 8, 0, NULL));
    FAILS(CL_INVALID_VALUE, FILL(ocl.queue, p, pattern, 0, 8, 0, NULL));
    FAILS(CL_INVALID_VALUE, FILL(ocl.queue, p, pattern, 3, 9, 0, NULL));
    FAILS(CL_INVALID_VALUE, FILL(ocl.queue, p, pattern, 256, 256, 0, NULL));
    FAILS(CL_INVALID_VALUE, FILL(ocl.queue, p, pattern, 4, 6, 0, NULL));
    FAILS(CL_SUCCESS, FILL(ocl.queue, p, pattern, 128, 512, 0, NULL));
    CHECK_WAIT_LIST(FILL(ocl.queue, p, pattern, 4, 8, n, list));
    SUCCEEDS(clFinish(ocl.queue));
    clSVMFree(ocl.context, p);
}

/* ------------------------------------------------------------------------ mapping and migration */

Test(svm, map) {
    unsigned char *p = new_svm(64);
    cl_event mapped, unmapped;
    SUCCEEDS(clEnqueueSVMMap(ocl.queue, CL_TRUE, CL_MAP_WRITE, p, 64, 0, NULL, &mapped));
    memset(p, 1, 64);
    SUCCEEDS(clEnqueueSVMUnmap(ocl.queue, p, 0, NULL, &unmapped));
    expect_type(mapped, CL_COMMAND_SVM_MAP);
    expect_type(unmapped, CL_COMMAND_SVM_UNMAP);
    clSVMFree(ocl.context, p);
}

Test(svm, wrong_map) {
    char own[16];
    const cl_map_flags r = CL_MAP_READ, both = CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION;
    cl_event bad = failed_event();
#define MAP(q, flags, p, size, n, list) clEnqueueSVMMap(q, CL_TRUE, flags, p, size, n, list, NULL)
#define UNMAP(q, p, n, list) clEnqueueSVMUnmap(q, p, n, list, NULL)
    FAILS(CL_INVALID_COMMAND_QUEUE, MAP(NULL, r, NULL, 0, 1, NULL));
    FAILS(CL_INVALID_VALUE, MAP(ocl.queue, r, NULL, 1, 0, NULL));
    FAILS(CL_INVALID_VALUE, MAP(ocl.queue, r, own, 0, 0, NULL));
    FAILS(CL_INVALID_VALUE, MAP(ocl.queue, both, own, 1, 0, NULL));
    FAILS(CL_INVALID_VALUE, MAP(ocl.queue, 8, own, 1, 0, NULL));
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, MAP(ocl.queue, r, own, 1, 1, &bad));
    CHECK_WAIT_LIST(MAP(ocl.queue, r, own, 1, n, list));
    FAILS(CL_INVALID_COMMAND_QUEUE, UNMAP(NULL, NULL, 1, NULL));
    FAILS(CL_INVALID_VALUE, UNMAP(ocl.queue, NULL, 0, NULL));
    CHECK_WAIT_LIST(UNMAP(ocl.queue, own, n, list));
    SUCCEEDS(clReleaseEvent(bad));
}

Test(svm, migrate) {
    unsigned char *p = new_svm(64), *q = new_svm(64);
    const void *list_of_two[] = {p + 10, q};
    const size_t sizes[] = {54, 0};
    cl_event done;
    SUCCEEDS(clEnqueueSVMMigrateMem(ocl.queue, 2, list_of_two, NULL, 0, 0, NULL, &done));
    expect_type(done, CL_COMMAND_SVM_MIGRATE_MEM);
    SUCCEEDS(clEnqueueSVMMigrateMem(ocl.queue, 2, list_of_two, sizes, CL_MIGRATE_MEM_OBJECT_HOST, 0,
                                    NULL, NULL));
    SUCCEEDS(clFinish(ocl.queue));
    clSVMFree(ocl.context, p);
    clSVMFree(ocl.context, q);
}

Test(svm, wrong_migration) {
    unsigned char *p = new_svm(64), *freed_one = new_svm(16);
    const void *within[] = {p + 10}, *freed_list[] = {freed_one}, *null[] = {NULL};
    const size_t good[] = {54}, large[] = {55}, most[] = {SIZE_MAX};
    clSVMFree(ocl.context, freed_one);
#define MIGRATE(q, count, list, sizes, flags, n, wait)                                             \
    clEnqueueSVMMigrateMem(q, count, list, sizes, flags, n, wait, NULL)
    FAILS(CL_INVALID_COMMAND_QUEUE, MIGRATE(NULL, 0, NULL, NULL, 0, 1, NULL));
    FAILS(CL_INVALID_VALUE, MIGRATE(ocl.queue, 0, within, NULL, 0, 0, NULL));
    FAILS(CL_INVALID_VALUE, MIGRATE(ocl.queue, 1, NULL, NULL, 0, 0, NULL));
    FAILS(CL_INVALID_VALUE, MIGRATE(ocl.queue, 1, within, large, 0, 0, NULL));
    FAILS(CL_INVALID_VALUE, MIGRATE(ocl.queue, 1, within, most, 0, 0, NULL));
    FAILS(CL_INVALID_VALUE, MIGRATE(ocl.queue, 1, freed_list, good, 0, 0, NULL));
    FAILS(CL_INVALID_VALUE, MIGRATE(ocl.queue, 1, null, NULL, 0, 0, NULL));
    FAILS(CL_INVALID_VALUE, MIGRATE(ocl.queue, 1, within, good, 8, 0, NULL));
    CHECK_WAIT_LIST(MIGRATE(ocl.queue, 1, within, good, 0, n, list));
    clSVMFree(ocl.context, p);
}
