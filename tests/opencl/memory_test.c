/* memory_test.c — buffers: how they are made, what is refused, what they say of themselves, and
 * when they end. */
#include "tests/opencl/opencl.h"

TestSuite(memory, .init = begin_opencl, .fini = end_opencl);

static const cl_mem_flags all_access[] = {0, CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY,
                                          CL_MEM_READ_ONLY};
static const cl_mem_flags all_host_access[] = {0, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY,
                                               CL_MEM_HOST_NO_ACCESS};

static void *bytes_of(cl_mem m) {
    void *p = MAKE(clEnqueueMapBuffer(ocl.queue, m, CL_TRUE, 0, 0, 1, 0, NULL, NULL, &error));
    SUCCEEDS(clEnqueueUnmapMemObject(ocl.queue, m, p, 0, NULL, NULL));
    SUCCEEDS(clFinish(ocl.queue));
    return p;
}

/* ------------------------------------------------------------------------------------- creation */

Test(memory, all_flags) {
    static const cl_mem_flags place[] = {0, CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR,
                                         CL_MEM_COPY_HOST_PTR,
                                         CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR};
    char host[200] = "bytes";
    for (unsigned n = 0; n < 4 * 4 * 5; n++) {
        cl_mem_flags flags = all_access[n % 4] | all_host_access[n / 4 % 4] | place[n / 16];
        bool given = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
        bool used = flags & CL_MEM_USE_HOST_PTR;
        cl_mem m =
            MAKE(clCreateBuffer(ocl.context, flags, sizeof host, given ? host : NULL, &error));
        TELLS(cl_mem_flags, flags, clGetMemObjectInfo, m, CL_MEM_FLAGS);
        TELLS(void *, used ? host : NULL, clGetMemObjectInfo, m, CL_MEM_HOST_PTR);
        const char *bytes = bytes_of(m);
        cr_expect_eq(bytes == host, used);
        cr_expect(used || (uintptr_t)bytes % 128 == 0);
        if (given) cr_expect_str_eq(bytes, "bytes");
        SUCCEEDS(clReleaseMemObject(m));
    }
}

Test(memory, wrong_flags) {
    static const cl_mem_flags wrong[] = {
        CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY,
        CL_MEM_READ_WRITE | CL_MEM_READ_ONLY,
        CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
        CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
        CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,
        CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
        CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
        CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS,
        CL_MEM_KERNEL_READ_AND_WRITE,
        CL_MEM_SVM_FINE_GRAIN_BUFFER,
        CL_MEM_SVM_ATOMICS,
        1 << 6,
        1 << 13,
        (cl_mem_flags)1 << 63,
    };
    char host[16];
    for (unsigned n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        bool given = wrong[n] & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
        REFUSES(CL_INVALID_VALUE,
                clCreateBuffer(ocl.context, wrong[n], 16, given ? host : NULL, &error));
    }
}

Test(memory, wrong_arguments) {
    char host[16];
    cl_ulong most;
    const cl_mem_flags use = CL_MEM_USE_HOST_PTR, copy = CL_MEM_COPY_HOST_PTR;
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
    REFUSES(CL_INVALID_CONTEXT, clCreateBuffer(NULL, 0, 16, NULL, &error));
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateBuffer(ocl.context, 0, 0, NULL, &error));
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateBuffer(ocl.context, 0, most + 1, NULL, &error));
    REFUSES(CL_INVALID_BUFFER_SIZE, clCreateBuffer(ocl.context, 0, SIZE_MAX, NULL, &error));
    REFUSES(CL_INVALID_HOST_PTR, clCreateBuffer(ocl.context, 0, 16, host, &error));
    REFUSES(CL_INVALID_HOST_PTR, clCreateBuffer(ocl.context, use, 16, NULL, &error));
    REFUSES(CL_INVALID_HOST_PTR, clCreateBuffer(ocl.context, copy, 16, NULL, &error));
    REFUSES(CL_INVALID_HOST_PTR,
            clCreateBuffer(ocl.context, CL_MEM_ALLOC_HOST_PTR, 16, host, &error));
    cr_expect_null(clCreateBuffer(ocl.context, 0, 0, NULL, NULL)); /* nobody asks why */
}

Test(memory, order_of_errors) {
    const cl_mem_properties wrong[] = {1, 2, 0};
    REFUSES(CL_INVALID_CONTEXT,
            clCreateBufferWithProperties(NULL, wrong, ~(cl_mem_flags)0, 0, NULL, &error));
    REFUSES(CL_INVALID_PROPERTY,
            clCreateBufferWithProperties(ocl.context, wrong, ~(cl_mem_flags)0, 0, NULL, &error));
    REFUSES(CL_INVALID_VALUE,
            clCreateBufferWithProperties(ocl.context, NULL, ~(cl_mem_flags)0, 0, NULL, &error));
    REFUSES(CL_INVALID_BUFFER_SIZE,
            clCreateBufferWithProperties(ocl.context, NULL, CL_MEM_COPY_HOST_PTR, 0, NULL, &error));
}

Test(memory, properties) {
    const cl_mem_properties none[] = {0};
    cl_mem_properties told[4];
    size_t size;
    cl_mem m = MAKE(clCreateBufferWithProperties(ocl.context, none, 0, 16, NULL, &error));
    TELLS(cl_mem_properties, 0, clGetMemObjectInfo, m, CL_MEM_PROPERTIES);
    SUCCEEDS(clReleaseMemObject(m));
    m = MAKE(clCreateBufferWithProperties(ocl.context, NULL, 0, 16, NULL, &error));
    SUCCEEDS(clGetMemObjectInfo(m, CL_MEM_PROPERTIES, sizeof told, told, &size));
    cr_expect_eq(size, 0);
    SUCCEEDS(clReleaseMemObject(m));
}

Test(memory, any_address) {
    char host[64];
    for (unsigned k = 0; k < 9; k++) {
        cl_mem m = MAKE(clCreateBuffer(ocl.context, CL_MEM_USE_HOST_PTR, 32, host + k, &error));
        cr_expect_eq(bytes_of(m), host + k);
        SUCCEEDS(clReleaseMemObject(m));
    }
}

Test(memory, copy_is_taken_at_once) {
    char host[8] = "before", got[8];
    cl_mem m = MAKE(clCreateBuffer(ocl.context, CL_MEM_COPY_HOST_PTR, sizeof host, host, &error));
    strcpy(host, "after");
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, m, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    cr_expect_str_eq(got, "before");
    SUCCEEDS(clReleaseMemObject(m));
}

/* ---------------------------------------------------------------------------------- sub-buffers */

static cl_mem sub_buffer(cl_mem m, cl_mem_flags flags, size_t origin, size_t size) {
    const cl_buffer_region r = {origin, size};
    return clCreateSubBuffer(m, flags, CL_BUFFER_CREATE_TYPE_REGION, &r, &error);
}

Test(memory, sub_buffer) {
    cl_mem m = MAKE(clCreateBuffer(ocl.context, 0, 1024, NULL, &error));
    cl_mem s = MAKE(sub_buffer(m, CL_MEM_READ_ONLY, 256, 100));
    TELLS(cl_mem_object_type, CL_MEM_OBJECT_BUFFER, clGetMemObjectInfo, s, CL_MEM_TYPE);
    TELLS(cl_mem, m, clGetMemObjectInfo, s, CL_MEM_ASSOCIATED_MEMOBJECT);
    TELLS(cl_context, ocl.context, clGetMemObjectInfo, s, CL_MEM_CONTEXT);
    TELLS(size_t, 256, clGetMemObjectInfo, s, CL_MEM_OFFSET);
    TELLS(size_t, 100, clGetMemObjectInfo, s, CL_MEM_SIZE);
    TELLS(void *, NULL, clGetMemObjectInfo, s, CL_MEM_HOST_PTR);
    cr_expect_eq((char *)bytes_of(s), (char *)bytes_of(m) + 256);
    SUCCEEDS(clReleaseMemObject(m)); /* it lives as long as its part */
    SUCCEEDS(clEnqueueFillBuffer(ocl.queue, s, "x", 1, 0, 100, 0, NULL, NULL));
    SUCCEEDS(clReleaseMemObject(s));
}

Test(memory, sub_buffer_of_host_memory) {
    char host[512];
    cl_mem m = MAKE(clCreateBuffer(ocl.context, CL_MEM_USE_HOST_PTR, sizeof host, host, &error));
    cl_mem s = MAKE(sub_buffer(m, 0, 128, 384));
    TELLS(void *, host + 128, clGetMemObjectInfo, s, CL_MEM_HOST_PTR);
    TELLS(cl_mem_flags, CL_MEM_USE_HOST_PTR, clGetMemObjectInfo, s, CL_MEM_FLAGS);
    SUCCEEDS(clReleaseMemObject(s));
    SUCCEEDS(clReleaseMemObject(m));
}

static bool may_have(cl_mem_flags parent, cl_mem_flags sub) {
    if (parent & CL_MEM_WRITE_ONLY && sub & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) return false;
    if (parent & CL_MEM_READ_ONLY && sub & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) return false;
    if (parent & CL_MEM_HOST_WRITE_ONLY && sub & CL_MEM_HOST_READ_ONLY) return false;
    if (parent & CL_MEM_HOST_READ_ONLY && sub & CL_MEM_HOST_WRITE_ONLY) return false;
    return !(parent & CL_MEM_HOST_NO_ACCESS &&
             sub & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY));
}

Test(memory, sub_buffer_flags) {
    for (unsigned p = 0; p < 16; p++) {
        cl_mem_flags flags = all_access[p % 4] | all_host_access[p / 4] | CL_MEM_ALLOC_HOST_PTR;
        cl_mem m = MAKE(clCreateBuffer(ocl.context, flags, 256, NULL, &error));
        for (unsigned n = 0; n < 16; n++) {
            cl_mem_flags access = all_access[n % 4], host = all_host_access[n / 4];
            if (!may_have(flags, access | host)) {
                REFUSES(CL_INVALID_VALUE, sub_buffer(m, access | host, 0, 16));
                continue;
            }
            cl_mem s = MAKE(sub_buffer(m, access | host, 0, 16));
            if (!access) access = all_access[p % 4];
            if (!host) host = all_host_access[p / 4];
            TELLS(cl_mem_flags, access | host | CL_MEM_ALLOC_HOST_PTR, clGetMemObjectInfo, s,
                  CL_MEM_FLAGS);
            SUCCEEDS(clReleaseMemObject(s));
        }
        SUCCEEDS(clReleaseMemObject(m));
    }
}

Test(memory, wrong_sub_buffers) {
    const cl_buffer_region r = {0, 16};
    cl_mem m = MAKE(clCreateBuffer(ocl.context, 0, 1024, NULL, &error));
    cl_mem s = MAKE(sub_buffer(m, 0, 0, 512));
    REFUSES(CL_INVALID_MEM_OBJECT, sub_buffer(NULL, 0, 0, 16));
    REFUSES(CL_INVALID_MEM_OBJECT, sub_buffer(s, 0, 0, 16));
    REFUSES(CL_INVALID_VALUE, sub_buffer(m, CL_MEM_USE_HOST_PTR, 0, 16));
    REFUSES(CL_INVALID_VALUE, sub_buffer(m, CL_MEM_ALLOC_HOST_PTR, 0, 16));
    REFUSES(CL_INVALID_VALUE, sub_buffer(m, CL_MEM_COPY_HOST_PTR, 0, 16));
    REFUSES(CL_INVALID_VALUE, sub_buffer(m, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 0, 16));
    REFUSES(CL_INVALID_VALUE, sub_buffer(m, 1 << 20, 0, 16));
    REFUSES(CL_INVALID_VALUE, clCreateSubBuffer(m, 0, 0, &r, &error));
    REFUSES(CL_INVALID_VALUE, clCreateSubBuffer(m, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL, &error));
    REFUSES(CL_INVALID_VALUE, sub_buffer(m, 0, 1024, 1));
    REFUSES(CL_INVALID_VALUE, sub_buffer(m, 0, 2048, 0));
    REFUSES(CL_INVALID_VALUE, sub_buffer(m, 0, 128, 1000));
    REFUSES(CL_INVALID_VALUE, sub_buffer(m, 0, 128, SIZE_MAX));
    REFUSES(CL_INVALID_VALUE, sub_buffer(m, 0, SIZE_MAX - 127, 128));
    REFUSES(CL_INVALID_BUFFER_SIZE, sub_buffer(m, 0, 128, 0));
    REFUSES(CL_MISALIGNED_SUB_BUFFER_OFFSET, sub_buffer(m, 0, 64, 128));
    SUCCEEDS(clReleaseMemObject(s));
    SUCCEEDS(clReleaseMemObject(m));
}

/* -------------------------------------------------------------------------------------- answers */

Test(memory, info) {
    cl_mem m = MAKE(clCreateBuffer(ocl.context, CL_MEM_READ_ONLY, 100, NULL, &error));
    TELLS(cl_mem_object_type, CL_MEM_OBJECT_BUFFER, clGetMemObjectInfo, m, CL_MEM_TYPE);
    TELLS(size_t, 100, clGetMemObjectInfo, m, CL_MEM_SIZE);
    TELLS(cl_uint, 0, clGetMemObjectInfo, m, CL_MEM_MAP_COUNT);
    TELLS(cl_uint, 1, clGetMemObjectInfo, m, CL_MEM_REFERENCE_COUNT);
    TELLS(cl_context, ocl.context, clGetMemObjectInfo, m, CL_MEM_CONTEXT);
    TELLS(cl_mem, NULL, clGetMemObjectInfo, m, CL_MEM_ASSOCIATED_MEMOBJECT);
    TELLS(size_t, 0, clGetMemObjectInfo, m, CL_MEM_OFFSET);
    TELLS(cl_bool, CL_FALSE, clGetMemObjectInfo, m, CL_MEM_USES_SVM_POINTER);
    SUCCEEDS(clReleaseMemObject(m));
}

Test(memory, wrong_info) {
    size_t size;
    char little[4];
    cl_mem m = MAKE(clCreateBuffer(ocl.context, 0, 100, NULL, &error));
    FAILS(CL_INVALID_MEM_OBJECT, clGetMemObjectInfo(NULL, CL_MEM_SIZE, 0, NULL, &size));
    FAILS(CL_INVALID_VALUE, clGetMemObjectInfo(m, CL_MEM_SIZE, sizeof little, little, &size));
    FAILS(CL_INVALID_VALUE, clGetMemObjectInfo(m, CL_CONTEXT_DEVICES, 0, NULL, &size));
    SUCCEEDS(clGetMemObjectInfo(m, CL_MEM_SIZE, 0, NULL, &size));
    cr_expect_eq(size, sizeof size);
    SUCCEEDS(clGetMemObjectInfo(m, CL_MEM_SIZE, 0, NULL, NULL));
    SUCCEEDS(clReleaseMemObject(m));
}

/* ------------------------------------------------------------------------------------ lifetimes */

Test(memory, references) {
    cl_mem m = MAKE(clCreateBuffer(ocl.context, 0, 100, NULL, &error));
    SUCCEEDS(clRetainMemObject(m));
    TELLS(cl_uint, 2, clGetMemObjectInfo, m, CL_MEM_REFERENCE_COUNT);
    SUCCEEDS(clReleaseMemObject(m));
    SUCCEEDS(clReleaseMemObject(m));
    FAILS(CL_INVALID_MEM_OBJECT, clRetainMemObject(NULL));
    FAILS(CL_INVALID_MEM_OBJECT, clReleaseMemObject(NULL));
    FAILS(CL_INVALID_MEM_OBJECT, clReleaseMemObject((cl_mem)(void *)ocl.queue));
}

typedef struct {
    char calls[8];
    _Atomic unsigned n;
} log_of_calls;

static void CL_CALLBACK note_a(cl_mem m, void *user) {
    log_of_calls *l = user;
    (void)m;
    l->calls[l->n++] = 'a';
}

static void CL_CALLBACK note_b(cl_mem m, void *user) {
    log_of_calls *l = user;
    (void)m;
    l->calls[l->n++] = 'b';
}

Test(memory, destructors) {
    log_of_calls l = {""};
    cl_mem m = MAKE(clCreateBuffer(ocl.context, 0, 256, NULL, &error));
    FAILS(CL_INVALID_MEM_OBJECT, clSetMemObjectDestructorCallback(NULL, note_a, &l));
    FAILS(CL_INVALID_VALUE, clSetMemObjectDestructorCallback(m, NULL, &l));
    SUCCEEDS(clSetMemObjectDestructorCallback(m, note_a, &l));
    SUCCEEDS(clSetMemObjectDestructorCallback(m, note_b, &l));
    cl_mem s = MAKE(sub_buffer(m, 0, 0, 16));
    SUCCEEDS(clSetMemObjectDestructorCallback(s, note_a, &l));
    SUCCEEDS(clReleaseMemObject(m));
    cr_expect_str_eq(l.calls, "");
    SUCCEEDS(clReleaseMemObject(s));
    cr_expect_str_eq(l.calls, "aba"); /* its own, and those of its parent: the last one first */
}

static bool was_called(void *user) { return ((log_of_calls *)user)->n == 1; }

Test(memory, commands_keep_what_they_use) {
    log_of_calls l = {""};
    char got[4];
    cl_mem m = MAKE(clCreateBuffer(ocl.context, CL_MEM_COPY_HOST_PTR, 4, "abc", &error));
    cl_event go = MAKE(clCreateUserEvent(ocl.context, &error)), done;
    SUCCEEDS(clSetMemObjectDestructorCallback(m, note_a, &l));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, m, CL_FALSE, 0, 4, got, 1, &go, &done));
    SUCCEEDS(clReleaseMemObject(m));
    cr_expect_eq(l.n, 0);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &done));
    cr_expect_str_eq(got, "abc");
    cr_expect(comes_true(was_called, &l)); /* events have no buffers */
    SUCCEEDS(clReleaseEvent(done));
    SUCCEEDS(clReleaseEvent(go));
}

Test(memory, failed_commands_keep_nothing) {
    log_of_calls l = {""};
    cl_mem m = MAKE(clCreateBuffer(ocl.context, 0, 16, NULL, &error));
    cl_event go = MAKE(clCreateUserEvent(ocl.context, &error)), done;
    SUCCEEDS(clSetMemObjectDestructorCallback(m, note_a, &l));
    SUCCEEDS(clEnqueueFillBuffer(ocl.queue, m, "x", 1, 0, 16, 1, &go, &done));
    SUCCEEDS(clReleaseMemObject(m));
    SUCCEEDS(clSetUserEventStatus(go, -1));
    cr_expect(comes_true(was_called, &l));
    SUCCEEDS(clReleaseEvent(done));
    SUCCEEDS(clReleaseEvent(go));
}
