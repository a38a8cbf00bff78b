/* usm_test.c — unified shared memory: allocations of each type, what an address in one tells, how
 * they are freed, commands on them, kernels that are given them, and every error. */
#include "tests/opencl/buffers.h"
#include "tests/opencl/programs.h"
#include "tests/opencl/usm.h"

#include <pthread.h>

static void begin(void) {
    begin_buffers();
    cr_assert(find_usm(ocl.platform));
}

TestSuite(usm, .init = begin, .fini = end_buffers);

typedef enum { HOST, DEVICE, SHARED, UNBOUND, TYPES } type; /* UNBOUND: shared, of no device */

static unsigned char *allocate(type t, const cl_mem_properties_intel *p, size_t size,
                               cl_uint align) {
    cl_device_id device = t == UNBOUND ? NULL : ocl.device;
    error = -1;
    if (t == HOST) return usm.host_alloc(ocl.context, p, size, align, &error);
    if (t == DEVICE) return usm.device_alloc(ocl.context, device, p, size, align, &error);
    return usm.shared_alloc(ocl.context, device, p, size, align, &error);
}

static unsigned char *new_usm(size_t size) { return MAKE(allocate(SHARED, NULL, size, 0)); }

static void expect_type(cl_event e, cl_command_type wanted) {
    TELLS(cl_command_type, wanted, clGetEventInfo, e, CL_EVENT_COMMAND_TYPE);
    SUCCEEDS(clWaitForEvents(1, &e));
    SUCCEEDS(clReleaseEvent(e));
}

/* ----------------------------------------------------------------------------------- announcing */

static bool lists_usm(const char *names) {
    return strstr(names, "cl_intel_unified_shared_memory ") != NULL;
}

Test(usm, is_announced) {
    char names[4096];
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_EXTENSIONS, sizeof names, names, NULL));
    cr_expect(lists_usm(names));
    SUCCEEDS(clGetPlatformInfo(ocl.platform, CL_PLATFORM_EXTENSIONS, sizeof names, names, NULL));
    cr_expect(lists_usm(names));
}

/* Memory that nothing of OpenCL has allocated is for kernels if shared memory says so, too. */
static bool has_system_memory(void) {
    cl_device_svm_capabilities c;
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_SVM_CAPABILITIES, sizeof c, &c, NULL));
    return c & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM;
}

Test(usm, capabilities) {
    const cl_device_info all[] = {CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL,
                                  CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL,
                                  CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
                                  CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL};
    for (unsigned n = 0; n < sizeof all / sizeof *all; n++)
        TELLS(cl_device_unified_shared_memory_capabilities_intel, 15, clGetDeviceInfo, ocl.device,
              all[n]);
    TELLS(cl_device_unified_shared_memory_capabilities_intel, has_system_memory() ? 15 : 0,
          clGetDeviceInfo, ocl.device, CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL);
}

/* ---------------------------------------------------------------------------------- allocations */

Test(usm, alignments) {
    for (type t = 0; t < TYPES; t++)
        for (cl_uint align = 0; align <= 1 << 22; align = align ? 2 * align : 1) {
            unsigned char *p = MAKE(allocate(t, NULL, 33, align));
            cr_expect_eq((uintptr_t)p % (align ? align : 128), 0);
            memset(p, 1, 33);
            SUCCEEDS(usm.free(ocl.context, p));
        }
    cr_expect_null(allocate(HOST, NULL, 1 << 20, 3));
}

/* What an address tells of its allocation, if that is one of the context. */
static void expect_info(cl_context c, const void *at, cl_unified_shared_memory_type_intel wanted,
                        void *base, size_t size) {
    cl_unified_shared_memory_type_intel t;
    size_t bytes;
    void *begin_of;
    SUCCEEDS(usm.info(c, at, CL_MEM_ALLOC_TYPE_INTEL, sizeof t, &t, NULL));
    SUCCEEDS(usm.info(c, at, CL_MEM_ALLOC_BASE_PTR_INTEL, sizeof begin_of, &begin_of, NULL));
    SUCCEEDS(usm.info(c, at, CL_MEM_ALLOC_SIZE_INTEL, sizeof bytes, &bytes, NULL));
    cr_expect(t == wanted && begin_of == base && bytes == size, "%x %p %zu", t, begin_of, bytes);
}

static const cl_unified_shared_memory_type_intel names[TYPES] = {
    CL_MEM_TYPE_HOST_INTEL, CL_MEM_TYPE_DEVICE_INTEL, CL_MEM_TYPE_SHARED_INTEL,
    CL_MEM_TYPE_SHARED_INTEL};

static void expect_unknown(cl_context c, const void *at) {
    cl_device_id device = ocl.device;
    cl_mem_alloc_flags_intel flags = 9;
    expect_info(c, at, CL_MEM_TYPE_UNKNOWN_INTEL, NULL, 0);
    SUCCEEDS(usm.info(c, at, CL_MEM_ALLOC_DEVICE_INTEL, sizeof device, &device, NULL));
    SUCCEEDS(usm.info(c, at, CL_MEM_ALLOC_FLAGS_INTEL, sizeof flags, &flags, NULL));
    cr_expect(!device && !flags);
}

Test(usm, what_an_address_tells) {
    for (type t = 0; t < TYPES; t++) {
        const cl_mem_properties_intel p[] = {CL_MEM_ALLOC_FLAGS_INTEL,
                                             CL_MEM_ALLOC_WRITE_COMBINED_INTEL, 0};
        unsigned char *at = MAKE(allocate(t, t ? p : NULL, 1000, t == DEVICE ? 1 << 16 : 0));
        cl_device_id device;
        cl_mem_alloc_flags_intel flags;
        for (unsigned n = 0; n < 1000; n += 333)
            expect_info(ocl.context, at + n, names[t], at, 1000);
        SUCCEEDS(
            usm.info(ocl.context, at + 9, CL_MEM_ALLOC_DEVICE_INTEL, sizeof device, &device, NULL));
        cr_expect_eq(device, t == DEVICE || t == SHARED ? ocl.device : NULL);
        SUCCEEDS(usm.info(ocl.context, at, CL_MEM_ALLOC_FLAGS_INTEL, sizeof flags, &flags, NULL));
        cr_expect_eq(flags, t ? CL_MEM_ALLOC_WRITE_COMBINED_INTEL : 0);
        expect_unknown(ocl.context, at + 1000);
        expect_unknown(other_context, at);
        SUCCEEDS(usm.free(ocl.context, at));
        expect_unknown(ocl.context, at);
    }
}

Test(usm, what_other_addresses_tell) {
    unsigned char own[8] = "", *svm = clSVMAlloc(ocl.context, 0, 64, 1024);
    cr_assert(svm && (uintptr_t)svm % 1024 == 0);
    expect_unknown(ocl.context, NULL);
    expect_unknown(ocl.context, own);
    expect_unknown(ocl.context, svm + 8);
    clSVMFree(ocl.context, svm);
}

Test(usm, wrong_questions) {
    unsigned char *p = new_usm(64);
    size_t size, value;
    FAILS(CL_INVALID_CONTEXT, usm.info(NULL, p, CL_MEM_ALLOC_SIZE_INTEL, 8, &value, NULL));
    FAILS(CL_INVALID_VALUE, usm.info(ocl.context, p, 1, 8, &value, NULL));
    FAILS(CL_INVALID_VALUE, usm.info(ocl.context, p, CL_MEM_ALLOC_SIZE_INTEL, 7, &value, NULL));
    SUCCEEDS(usm.info(ocl.context, p, CL_MEM_ALLOC_TYPE_INTEL, 0, NULL, &size));
    cr_expect_eq(size, sizeof(cl_uint));
    SUCCEEDS(usm.free(ocl.context, p));
}

Test(usm, flags) {
    const cl_mem_alloc_flags_intel combined = CL_MEM_ALLOC_WRITE_COMBINED_INTEL,
                                   device = CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL,
                                   host = CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;
    const cl_mem_alloc_flags_intel all[] = {0, combined, device, host, device | host, 8};
    for (type t = 0; t < TYPES; t++)
        for (unsigned n = 0; n < sizeof all / sizeof *all; n++) {
            const cl_mem_properties_intel p[] = {CL_MEM_ALLOC_FLAGS_INTEL, all[n], 0};
            if (n < 2 || (n < 4 && t >= SHARED))
                SUCCEEDS(usm.free(ocl.context, MAKE(allocate(t, p, 16, 0))));
            else
                REFUSES(CL_INVALID_PROPERTY, allocate(t, p, 16, 0));
        }
}

Test(usm, wrong_allocations) {
    const cl_mem_properties_intel unknown[] = {CL_MEM_FLAGS, CL_MEM_READ_WRITE, 0},
                                  twice[] = {CL_MEM_ALLOC_FLAGS_INTEL, 0, CL_MEM_ALLOC_FLAGS_INTEL,
                                             0, 0};
    cl_ulong most;
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
    for (type t = 0; t < TYPES; t++) {
        REFUSES(CL_INVALID_PROPERTY, allocate(t, unknown, 16, 0));
        REFUSES(CL_INVALID_PROPERTY, allocate(t, twice, 16, 0));
        REFUSES(CL_INVALID_VALUE, allocate(t, NULL, 16, 3));
        REFUSES(CL_INVALID_VALUE, allocate(t, NULL, 0, 96));
        REFUSES(CL_INVALID_BUFFER_SIZE, allocate(t, NULL, 0, 0));
        REFUSES(CL_INVALID_BUFFER_SIZE, allocate(t, NULL, most + 1, 0));
    }
    REFUSES(CL_INVALID_CONTEXT, usm.host_alloc(NULL, NULL, 16, 0, &error));
    REFUSES(CL_INVALID_CONTEXT, usm.device_alloc(NULL, NULL, NULL, 16, 0, &error));
    REFUSES(CL_INVALID_CONTEXT, usm.shared_alloc(NULL, NULL, NULL, 16, 0, &error));
    REFUSES(CL_INVALID_DEVICE, usm.device_alloc(ocl.context, NULL, NULL, 16, 0, &error));
    cl_device_id wrong = (cl_device_id)ocl.platform;
    REFUSES(CL_INVALID_DEVICE, usm.device_alloc(ocl.context, wrong, NULL, 16, 3, &error));
    REFUSES(CL_INVALID_DEVICE, usm.shared_alloc(ocl.context, wrong, NULL, 16, 3, &error));
    cr_expect_null(usm.host_alloc(ocl.context, NULL, 0, 0, NULL));
}

/* In an order that is not that of their addresses; some are left to the context. */
Test(usm, many_allocations) {
    enum { MANY = 600 };
    unsigned char *p[MANY];
    cl_context c = new_context();
    for (unsigned n = 0; n < MANY; n++)
        p[n] = MAKE(usm.host_alloc(c, NULL, 1 + n % 300, 1u << n % 13, &error));
    for (unsigned n = 0; n < MANY; n += 1 + n % 3) {
        const unsigned k = n * 7 % MANY;
        expect_info(c, p[k] + k % 300, CL_MEM_TYPE_HOST_INTEL, p[k], 1 + k % 300);
        SUCCEEDS(usm.free(c, p[k]));
    }
    SUCCEEDS(clReleaseContext(c));
}

/* --------------------------------------------------------------------------------------- freeing */

static void expect_frees(clMemFreeINTEL_fn free_one) {
    unsigned char own[8], *p = new_usm(64), *svm = clSVMAlloc(ocl.context, 0, 64, 0);
    FAILS(CL_SUCCESS, free_one(ocl.context, NULL));
    FAILS(CL_INVALID_CONTEXT, free_one(NULL, p));
    FAILS(CL_INVALID_VALUE, free_one(ocl.context, own));
    FAILS(CL_INVALID_VALUE, free_one(ocl.context, p + 1));
    FAILS(CL_INVALID_VALUE, free_one(ocl.context, svm));
    FAILS(CL_INVALID_VALUE, free_one(other_context, p));
    clSVMFree(ocl.context, p); /* it is none of clSVMAlloc's */
    memset(p, 1, 64);
    FAILS(CL_SUCCESS, free_one(ocl.context, p));
    FAILS(CL_INVALID_VALUE, free_one(ocl.context, p));
    clSVMFree(ocl.context, svm);
}

Test(usm, free) { expect_frees(usm.free); }

Test(usm, blocking_free) { expect_frees(usm.blocking_free); }

static void *open_gate(void *gate) {
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    clSetUserEventStatus(gate, CL_COMPLETE);
    return NULL;
}

/* Of two queues, one of which the program does not have any more; a command has failed. */
Test(usm, blocking_free_waits_for_commands) {
    unsigned char *p = new_usm(64), back[64] = "";
    cl_event gate = user_event(), bad = failed_event(), done;
    cl_command_queue q = new_queue(ocl.context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    pthread_t thread;
    SUCCEEDS(usm.set(q, p, 7, 64, 1, &gate, &done));
    SUCCEEDS(usm.copy(q, CL_FALSE, back, p, 64, 1, &done, NULL));
    SUCCEEDS(usm.copy(ocl.queue, CL_FALSE, back, p, 64, 1, &bad, NULL));
    SUCCEEDS(clReleaseCommandQueue(q));
    cr_assert_eq(pthread_create(&thread, NULL, open_gate, gate), 0);
    FAILS(CL_SUCCESS, usm.blocking_free(ocl.context, p));
    cr_expect(back[0] == 7 && back[63] == 7);
    expect_unknown(ocl.context, p);
    pthread_join(thread, NULL);
    SUCCEEDS(clReleaseEvent(gate));
    SUCCEEDS(clReleaseEvent(bad));
    SUCCEEDS(clReleaseEvent(done));
}

/* ----------------------------------------------------------------------------- copies and fills */

Test(usm, fill) {
    unsigned char *p = new_usm(512);
    const cl_ushort pattern = 0x1234;
    cl_event done;
    memset(p, 0, 512);
    SUCCEEDS(usm.fill(ocl.queue, p + 2, &pattern, sizeof pattern, 508, 0, NULL, &done));
    expect_type(done, CL_COMMAND_MEMFILL_INTEL);
    cr_expect(p[1] == 0 && p[510] == 0);
    for (unsigned n = 2; n < 510; n++) cr_expect_eq(p[n], n % 2 ? 0x12 : 0x34);
    SUCCEEDS(usm.set(ocl.queue, p + 1, 0x199, 511, 0, NULL, &done));
    expect_type(done, CL_COMMAND_MEMFILL_INTEL);
    cr_expect_eq(p[0], 0);
    for (unsigned n = 1; n < 512; n++) cr_expect_eq(p[n], 0x99);
    SUCCEEDS(usm.free(ocl.context, p));
}

Test(usm, wrong_fill) {
    unsigned char *p = new_usm(512);
    const char pattern[128] = "";
#define FILL(q, p, pattern, pattern_size, size, n, list)                                           \
    usm.fill(q, p, pattern, pattern_size, size, n, list, NULL)
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
    FAILS(CL_INVALID_COMMAND_QUEUE, usm.set(NULL, NULL, 1, 1, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, usm.set(ocl.queue, NULL, 1, 1, 0, NULL, NULL));
    CHECK_WAIT_LIST(usm.set(ocl.queue, p, 1, 8, n, list, NULL));
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(usm.free(ocl.context, p));
}

Test(usm, copy) {
    unsigned char *p = new_usm(16), own[16] = "from the host", back[16] = "";
    cl_event done;
    SUCCEEDS(usm.copy(ocl.queue, CL_FALSE, p, own, 16, 0, NULL, &done));
    SUCCEEDS(usm.copy(ocl.queue, CL_TRUE, back, p, 16, 0, NULL, NULL));
    cr_expect_str_eq((char *)back, "from the host");
    expect_type(done, CL_COMMAND_MEMCPY_INTEL);
    SUCCEEDS(usm.free(ocl.context, p));
}

Test(usm, wrong_copy) {
    char own[32] = "";
    cl_event bad = failed_event();
#define COPY(q, to, from, size, n, list) usm.copy(q, CL_TRUE, to, from, size, n, list, NULL)
    FAILS(CL_INVALID_COMMAND_QUEUE, COPY(NULL, NULL, NULL, 1, 1, NULL));
    FAILS(CL_INVALID_VALUE, COPY(ocl.queue, NULL, own, 1, 0, NULL));
    FAILS(CL_INVALID_VALUE, COPY(ocl.queue, own, NULL, 1, 0, NULL));
    FAILS(CL_MEM_COPY_OVERLAP, COPY(ocl.queue, own, own, 1, 0, NULL));
    FAILS(CL_MEM_COPY_OVERLAP, COPY(ocl.queue, own + 15, own, 16, 0, NULL));
    FAILS(CL_SUCCESS, COPY(ocl.queue, own, own + 16, 16, 0, NULL));
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
          COPY(ocl.queue, own, own + 16, 16, 1, &bad));
    CHECK_WAIT_LIST(COPY(ocl.queue, own, own + 16, 16, n, list));
    SUCCEEDS(clReleaseEvent(bad));
}

/* ----------------------------------------------------------------------------------------- hints */

Test(usm, migrate) {
    unsigned char *p = new_usm(64);
    cl_event done;
    SUCCEEDS(usm.migrate(ocl.queue, p, 64, 0, 0, NULL, &done));
    expect_type(done, CL_COMMAND_MIGRATEMEM_INTEL);
    FAILS(CL_SUCCESS, usm.migrate(ocl.queue, p + 8, 8, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, usm.migrate(NULL, NULL, 64, 8, 1, NULL, NULL));
    FAILS(CL_INVALID_VALUE, usm.migrate(ocl.queue, NULL, 64, 0, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, usm.migrate(ocl.queue, p, 64, 8, 0, NULL, NULL));
    CHECK_WAIT_LIST(usm.migrate(ocl.queue, p, 64, 0, n, list, NULL));
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(usm.free(ocl.context, p));
}

Test(usm, advise) {
    unsigned char *p = new_usm(64);
    cl_event done;
    SUCCEEDS(usm.advise(ocl.queue, p, 64, 0, 0, NULL, &done));
    expect_type(done, CL_COMMAND_MEMADVISE_INTEL);
    FAILS(CL_SUCCESS, usm.advise(ocl.queue, p + 8, 8, 0x4208, 0, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, usm.advise(NULL, NULL, 64, 8, 1, NULL, NULL));
    FAILS(CL_INVALID_VALUE, usm.advise(ocl.queue, NULL, 64, 0, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, usm.advise(ocl.queue, p, 64, 1, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, usm.advise(ocl.queue, p, 64, 0x4210, 0, NULL, NULL));
    CHECK_WAIT_LIST(usm.advise(ocl.queue, p, 64, 0, n, list, NULL));
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(usm.free(ocl.context, p));
}

/* --------------------------------------------------------------------------------------- kernels */

static const char source[] =
    "kernel void add(global int *to, global const int *from, int k) {\n"
    "    size_t x = get_global_id(0);\n"
    "    to[x] = from[x] + k;\n"
    "}\n"
    "typedef struct node { global struct node *next; int value; } node;\n"
    "kernel void sum(global int *to, global const node *list) {\n"
    "    *to = 0;\n"
    "    for (; list; list = list->next) *to += list->value;\n"
    "}\n"
    "kernel void back(global int *end) { end[-1 - (int)get_global_id(0)] += 5; }\n";

static cl_kernel new_kernel(const char *name) {
    cl_program p = built(source, "");
    cl_kernel k = MAKE(clCreateKernel(p, name, &error));
    SUCCEEDS(clReleaseProgram(p));
    return k;
}

static void launch(cl_kernel k, size_t items) {
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &items, NULL, 0, NULL, NULL));
    SUCCEEDS(clFinish(ocl.queue));
}

/* Pointers into one allocation that overlap, and into two that do not: each time the same code. */
Test(usm, kernel_arguments) {
    enum { ITEMS = 256 };
    cl_kernel k = new_kernel("add");
    cl_int *p = (cl_int *)(void *)new_usm(2 * ITEMS * 4), *q = (cl_int *)(void *)new_usm(ITEMS * 4);
    const cl_int ten = 10;
    for (int n = 0; n < 2 * ITEMS; n++) p[n] = n;
    SUCCEEDS(clSetKernelArg(k, 2, sizeof ten, &ten));
    SUCCEEDS(usm.set_arg(k, 0, q));
    SUCCEEDS(usm.set_arg(k, 1, p + 5));
    launch(k, ITEMS);
    for (int n = 0; n < ITEMS; n++) cr_assert_eq(q[n], n + 15);
    SUCCEEDS(usm.set_arg(k, 0, p + ITEMS));
    launch(k, ITEMS - 5);
    for (int n = 0; n < ITEMS - 5; n++) cr_assert_eq(p[ITEMS + n], n + 15);
    SUCCEEDS(usm.set_arg(k, 0, p + 5)); /* each item its own */
    launch(k, ITEMS - 5);
    for (int n = 5; n < ITEMS; n++) cr_assert_eq(p[n], n + 10);
    FAILS(CL_INVALID_KERNEL, usm.set_arg(NULL, 0, p));
    FAILS(CL_INVALID_ARG_INDEX, usm.set_arg(k, 3, p));
    FAILS(CL_INVALID_ARG_VALUE, usm.set_arg(k, 2, p));
    FAILS(CL_SUCCESS, usm.set_arg(k, 0, &error)); /* any pointer, or none */
    FAILS(CL_SUCCESS, usm.set_arg(k, 0, NULL));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(usm.free(ocl.context, p));
    SUCCEEDS(usm.free(ocl.context, q));
}

/* From the address behind an allocation the kernel goes back. */
Test(usm, pointers_to_the_end) {
    cl_kernel k = new_kernel("back");
    cl_int *p = (cl_int *)(void *)new_usm(64);
    for (int n = 0; n < 16; n++) p[n] = n;
    SUCCEEDS(usm.set_arg(k, 0, p + 16));
    launch(k, 16);
    for (int n = 0; n < 16; n++) cr_assert_eq(p[n], n + 5);
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(usm.free(ocl.context, p));
}

typedef struct node {
    struct node *next;
    cl_int value;
} node;

Test(usm, memory_that_kernels_find) {
    const cl_kernel_exec_info kinds[] = {CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
                                         CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
                                         CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL};
    const cl_bool yes = CL_TRUE, no = CL_FALSE;
    cl_kernel k = new_kernel("sum");
    cl_int *to = (cl_int *)(void *)new_usm(4);
    node *list = NULL;
    for (int n = 0; n < 30; n++) {
        node *more = (node *)(void *)MAKE(allocate((type)n % TYPES, NULL, sizeof *more, 0));
        *more = (node){list, n};
        list = more;
    }
    SUCCEEDS(usm.set_arg(k, 0, to));
    SUCCEEDS(usm.set_arg(k, 1, list));
    for (unsigned n = 0; n < 3; n++) {
        FAILS(CL_SUCCESS, clSetKernelExecInfo(k, kinds[n], sizeof no, &no));
        FAILS(CL_SUCCESS, clSetKernelExecInfo(k, kinds[n], sizeof yes, &yes));
        FAILS(CL_INVALID_VALUE, clSetKernelExecInfo(k, kinds[n], 1, &yes));
        FAILS(CL_INVALID_VALUE, clSetKernelExecInfo(k, kinds[n], 0, NULL));
        FAILS(CL_INVALID_KERNEL, clSetKernelExecInfo(NULL, kinds[n], sizeof yes, &yes));
    }
    launch(k, 1);
    cr_expect_eq(*to, 29 * 30 / 2);
    const cl_kernel_exec_info set = CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL;
    void *pointers[] = {list, to, NULL, &error};
    FAILS(CL_SUCCESS, clSetKernelExecInfo(k, set, sizeof pointers, pointers));
    FAILS(CL_SUCCESS, clSetKernelExecInfo(k, set, 0, NULL));
    FAILS(CL_INVALID_VALUE, clSetKernelExecInfo(k, set, 9, pointers));
    FAILS(CL_INVALID_VALUE, clSetKernelExecInfo(k, set, 8, NULL));
    SUCCEEDS(clReleaseKernel(k));
    for (node *next; list; list = next) {
        next = list->next;
        SUCCEEDS(usm.free(ocl.context, list));
    }
    SUCCEEDS(usm.free(ocl.context, to));
}

/* --------------------------------------------------------------------------------------- threads */

enum { THREADS = 6, ROUNDS = 300, KEPT = 10 };

/* Allocations of the other threads come and go between its own. */
static void *allocate_and_ask(void *unused) {
    unsigned char *kept[KEPT] = {NULL};
    size_t wrong = 0, size, wanted[KEPT] = {0};
    void *base;
    (void)unused;
    for (unsigned n = 0; n < ROUNDS; n++) {
        unsigned k = n * 7 % KEPT;
        if (kept[k]) wrong += usm.free(ocl.context, kept[k]) != CL_SUCCESS;
        wanted[k] = 1 + n * 31 % 700;
        kept[k] = usm.shared_alloc(ocl.context, NULL, NULL, wanted[k], 1u << n % 10, NULL);
        for (k = 0; k < KEPT; k++) {
            if (!kept[k]) continue;
            const void *inside = kept[k] + n % wanted[k];
            usm.info(ocl.context, inside, CL_MEM_ALLOC_BASE_PTR_INTEL, sizeof base, &base, NULL);
            usm.info(ocl.context, inside, CL_MEM_ALLOC_SIZE_INTEL, sizeof size, &size, NULL);
            wrong += base != kept[k] || size != wanted[k];
        }
    }
    for (unsigned k = 0; k < KEPT; k++) wrong += usm.free(ocl.context, kept[k]) != CL_SUCCESS;
    return (void *)wrong;
}

Test(usm, threads) {
    pthread_t threads[THREADS];
    void *wrong;
    for (int n = 0; n < THREADS; n++)
        cr_assert_eq(pthread_create(&threads[n], NULL, allocate_and_ask, NULL), 0);
    for (int n = 0; n < THREADS; n++) {
        pthread_join(threads[n], &wrong);
        cr_expect_null(wrong);
    }
}
