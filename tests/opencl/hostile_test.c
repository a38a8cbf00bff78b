/* hostile_test.c — a program that does with shared memory and command buffers what it should not:
 * NULL, sizes of nothing and of more than there is, addresses at odd bytes, objects that are
 * released before what uses them, and threads that update what others run.  Nothing breaks; what
 * has a meaning has its result.
 */
#include "tests/opencl/command_buffer.h"
#include "tests/opencl/mutable.h"
#include "tests/opencl/usm.h"

#include <pthread.h>

static void begin(void) {
    begin_commands();
    cr_assert(find_mutable(ocl.platform) && find_usm(ocl.platform));
}

TestSuite(hostile, .init = begin, .fini = end_commands);

static unsigned char *new_shared(size_t size) {
    unsigned char *p = MAKE(usm.shared_alloc(ocl.context, ocl.device, NULL, size, 0, &error));
    for (size_t n = 0; n < size; n++) p[n] = (unsigned char)n;
    return p;
}

/* -------------------------------------------------------------------------------- shared memory */

Test(hostile, nothing_at_all) {
    cr_expect_null(usm.host_alloc(NULL, NULL, 0, 0, NULL));
    cr_expect_null(usm.device_alloc(NULL, NULL, NULL, 0, 0, NULL));
    cr_expect_null(usm.shared_alloc(NULL, NULL, NULL, 0, 0, NULL));
    FAILS(CL_INVALID_CONTEXT, usm.free(NULL, NULL));
    FAILS(CL_INVALID_CONTEXT, usm.blocking_free(NULL, NULL));
    FAILS(CL_INVALID_CONTEXT, usm.info(NULL, NULL, 0, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, usm.info(ocl.context, NULL, 0, 0, NULL, NULL));
    FAILS(CL_SUCCESS, usm.info(ocl.context, NULL, CL_MEM_ALLOC_SIZE_INTEL, 0, NULL, NULL));
    FAILS(CL_INVALID_KERNEL, usm.set_arg(NULL, 0, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, usm.fill(NULL, NULL, NULL, 0, 0, 0, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, usm.set(NULL, NULL, 0, 0, 0, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, usm.copy(NULL, CL_TRUE, NULL, NULL, 0, 0, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, usm.migrate(NULL, NULL, 0, 0, 0, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, usm.advise(NULL, NULL, 0, 0, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, usm.fill(ocl.queue, NULL, NULL, 0, 0, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, usm.copy(ocl.queue, CL_TRUE, NULL, NULL, 0, 0, NULL, NULL));
}

/* Objects of other kinds in place of those that are asked for. */
Test(hostile, wrong_objects) {
    cl_context c = (cl_context)ocl.queue;
    cl_command_queue q = (cl_command_queue)ocl.context;
    unsigned char *p = new_shared(64);
    REFUSES(CL_INVALID_CONTEXT, usm.host_alloc(c, NULL, 1, 0, &error));
    FAILS(CL_INVALID_CONTEXT, usm.free(c, p));
    FAILS(CL_INVALID_CONTEXT, usm.blocking_free(c, p));
    FAILS(CL_INVALID_COMMAND_QUEUE, usm.set(q, p, 0, 1, 0, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, usm.copy(q, CL_TRUE, p, p + 8, 1, 0, NULL, NULL));
    FAILS(CL_INVALID_KERNEL, usm.set_arg((cl_kernel)kernels, 0, p));
    cl_event e = (cl_event)ocl.queue;
    FAILS(CL_INVALID_EVENT_WAIT_LIST, usm.set(ocl.queue, p, 0, 1, 1, &e, NULL));
    FAILS(CL_SUCCESS, usm.free(ocl.context, p));
}

/* Commands on no bytes are commands. */
Test(hostile, sizes_of_nothing) {
    unsigned char *p = new_shared(64);
    cl_event e[5];
    const cl_int pattern = 7;
    SUCCEEDS(usm.set(ocl.queue, p, 1, 0, 0, NULL, &e[0]));
    SUCCEEDS(usm.fill(ocl.queue, p, &pattern, 4, 0, 1, &e[0], &e[1]));
    SUCCEEDS(usm.copy(ocl.queue, CL_TRUE, p, p, 0, 1, &e[1], &e[2]));
    SUCCEEDS(usm.migrate(ocl.queue, p, 0, 0, 1, &e[2], &e[3]));
    SUCCEEDS(usm.advise(ocl.queue, p, 0, 0, 1, &e[3], &e[4]));
    SUCCEEDS(clWaitForEvents(5, e));
    for (int n = 0; n < 5; n++) SUCCEEDS(clReleaseEvent(e[n]));
    for (int n = 0; n < 64; n++) cr_expect_eq(p[n], n);
    SUCCEEDS(usm.free(ocl.context, p));
}

/* More than there is, and more than addresses can tell. */
Test(hostile, sizes_of_everything) {
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 3, SIZE_MAX / 2 + 1, SIZE_MAX - 4095};
    unsigned char *p = new_shared(64);
    const cl_int pattern = 7;
    for (int n = 0; n < 4; n++) {
        const size_t size = sizes[n];
        REFUSES(CL_INVALID_BUFFER_SIZE, usm.host_alloc(ocl.context, NULL, size, 0, &error));
        REFUSES(CL_INVALID_BUFFER_SIZE,
                usm.shared_alloc(ocl.context, NULL, NULL, size, 1u << 31, &error));
        cr_expect_null(clSVMAlloc(ocl.context, 0, size, 0));
        FAILS(CL_INVALID_VALUE, usm.set(ocl.queue, p, 1, size, 0, NULL, NULL));
        FAILS(CL_INVALID_VALUE,
              usm.fill(ocl.queue, p, &pattern, 4, size & ~(size_t)3, 0, NULL, NULL));
        cl_int got = usm.copy(ocl.queue, CL_TRUE, p, p + 32, size, 0, NULL, NULL);
        cr_expect(got == CL_INVALID_VALUE || got == CL_MEM_COPY_OVERLAP, "%d", got);
        got = clEnqueueSVMMemcpy(ocl.queue, CL_TRUE, p, &pattern, size, 0, NULL, NULL);
        cr_expect(got == CL_INVALID_VALUE || got == CL_MEM_COPY_OVERLAP, "%d", got);
        FAILS(CL_INVALID_VALUE,
              clEnqueueSVMMemFill(ocl.queue, p, &pattern, 4, size & ~(size_t)3, 0, NULL, NULL));
    }
    unsigned char *large = usm.host_alloc(ocl.context, NULL, 16, 1u << 30, NULL);
    cr_expect(!large || (uintptr_t)large % (1u << 30) == 0);
    if (large) SUCCEEDS(usm.free(ocl.context, large));
    SUCCEEDS(usm.free(ocl.context, p));
}

static const char odd[] = "kernel void four(global float4 *to, global const float4 *from) {\n"
                          "    to[get_global_id(0)] = from[get_global_id(0)] + 1;\n"
                          "}\n"
                          "kernel void one(global double *to, global const long *from) {\n"
                          "    to[get_global_id(0)] = from[get_global_id(0)];\n"
                          "}\n"
                          "kernel void sum(global ushort8 *to, global const ushort8 *from) {\n"
                          "    ushort8 s = 0;\n"
                          "    for (int n = 0; n < 3; n++) s += from[get_global_id(0) * 3 + n];\n"
                          "    to[get_global_id(0)] = s;\n"
                          "}\n";

/* x86-64 accesses them all the same. */
Test(hostile, addresses_at_odd_bytes) {
    enum { ITEMS = 1000 };
    const char *const names[] = {"four", "one", "sum"};
    cl_program program = built(odd, NULL);
    unsigned char *from = new_shared(48 * ITEMS + 64), *to = new_shared(16 * ITEMS + 64);
    for (int n = 0; n < 3; n++)
        for (int at = 1; at < 16; at += 2)
            for (size_t items = 1; items <= ITEMS; items += ITEMS - 1) {
                cl_kernel k = MAKE(clCreateKernel(program, names[n], &error));
                SUCCEEDS(usm.set_arg(k, 0, to + at));
                SUCCEEDS(usm.set_arg(k, 1, from + at + 6));
                SUCCEEDS(
                    clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &items, NULL, 0, NULL, NULL));
                SUCCEEDS(clFinish(ocl.queue));
                SUCCEEDS(clReleaseKernel(k));
            }
    double last;
    cl_long wanted;
    cl_kernel k = MAKE(clCreateKernel(program, "one", &error));
    const size_t items = ITEMS;
    SUCCEEDS(usm.set_arg(k, 0, to + 3));
    SUCCEEDS(usm.set_arg(k, 1, from + 5));
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &items, NULL, 0, NULL, NULL));
    SUCCEEDS(clFinish(ocl.queue));
    memcpy(&last, to + 3 + 8 * (ITEMS - 1), 8);
    memcpy(&wanted, from + 5 + 8 * (ITEMS - 1), 8);
    cr_expect_eq(last, (double)wanted);
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(program));
    SUCCEEDS(usm.free(ocl.context, from));
    SUCCEEDS(usm.free(ocl.context, to));
}

/* --------------------------------------------------------------------------------- odd orders */

static cl_event gate(void) { return MAKE(clCreateUserEvent(ocl.context, &error)); }

/* All that a launch needs is released while it waits; memory goes with its context. */
Test(hostile, everything_is_released_first) {
    cl_context c = new_context();
    cl_command_queue q = new_queue(c, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const char *source = kernel_source;
    const size_t items = 100;
    const int one = 1;
    int *p = MAKE(usm.shared_alloc(c, NULL, NULL, 400, 0, &error)), back[100];
    for (int n = 0; n < 100; n++) p[n] = n;
    cl_event start = MAKE(clCreateUserEvent(c, &error)), e[3];
    cl_program program = MAKE(clCreateProgramWithSource(c, 1, &source, NULL, &error));
    SUCCEEDS(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    cl_kernel k = MAKE(clCreateKernel(program, "add", &error));
    SUCCEEDS(usm.set_arg(k, 0, p));
    SUCCEEDS(usm.set_arg(k, 1, p));
    SUCCEEDS(clSetKernelArg(k, 2, sizeof one, &one));
    SUCCEEDS(clEnqueueNDRangeKernel(q, k, 1, NULL, &items, NULL, 1, &start, &e[0]));
    SUCCEEDS(clEnqueueNDRangeKernel(q, k, 1, NULL, &items, NULL, 1, &e[0], &e[1]));
    SUCCEEDS(usm.copy(q, CL_FALSE, back, p, 400, 1, &e[1], &e[2]));
    SUCCEEDS(clReleaseContext(c));
    SUCCEEDS(clReleaseProgram(program));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseCommandQueue(q));
    SUCCEEDS(clReleaseEvent(e[0]));
    SUCCEEDS(clReleaseEvent(e[1]));
    SUCCEEDS(clSetUserEventStatus(start, CL_COMPLETE));
    SUCCEEDS(clReleaseEvent(start));
    SUCCEEDS(clWaitForEvents(1, &e[2]));
    for (int n = 0; n < 100; n++) cr_expect_eq(back[n], n + 2);
    SUCCEEDS(clReleaseEvent(e[2]));
}

/* A run of fused kernels waits, the command buffer is updated and released, and so is its memory. */
Test(hostile, command_buffers_that_are_gone) {
    const cl_command_buffer_properties_khr wanted[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                       CL_COMMAND_BUFFER_MUTABLE_KHR, 0};
    const size_t count = COUNT;
    cl_command_buffer_khr b = new_commands(wanted);
    cl_mutable_command_khr h[2];
    cl_event start = gate(), ran[3];
    cl_mem between = MAKE(clCreateBuffer(ocl.context, 0, BYTES, NULL, &error));
    cl_command_queue other = new_queue(ocl.context, 0);
    for (int n = 0; n < 2; n++) {
        cl_kernel k = with_buffers("add", n ? buffers[1] : between, n ? between : buffers[0]);
        SUCCEEDS(clSetKernelArg(k, 2, sizeof n, &n));
        SUCCEEDS(khr.clCommandNDRangeKernelKHR(b, NULL, NULL, k, 1, NULL, &count, NULL, 0, NULL,
                                               NULL, &h[n]));
        SUCCEEDS(clReleaseKernel(k));
    }
    SUCCEEDS(clReleaseMemObject(between));
    finalize(b);
    for (int n = 0; n < 3; n++) {
        const int k = 10 * n;
        const mutable_arg arg = {2, sizeof k, &k}, to = {0, sizeof(cl_mem), &buffers[n + 1]};
        SUCCEEDS(
            update_one(b, &(mutable_config){.command = h[0], .num_args = 1, .arg_list = &arg}));
        SUCCEEDS(update_one(b, &(mutable_config){.command = h[1], .num_args = 1, .arg_list = &to}));
        SUCCEEDS(
            khr.clEnqueueCommandBufferKHR(n == 2, n == 2 ? &other : NULL, b, 1, &start, &ran[n]));
    }
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
    SUCCEEDS(clReleaseCommandQueue(other));
    SUCCEEDS(clSetUserEventStatus(start, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(3, ran));
    for (int n = 0; n < 3; n++) {
        int back[COUNT];
        read_ints(n + 1, back);
        for (int x = 0; x < COUNT; x++) cr_assert_eq(back[x], x + 10 * n + 1, "%d %d", n, x);
        SUCCEEDS(clReleaseEvent(ran[n]));
    }
    SUCCEEDS(clReleaseEvent(start));
}

/* ------------------------------------------------------------------------------------- threads */

enum { THREADS = 4, UPDATES = 60, PLACES = 8 };

typedef struct {
    cl_command_buffer_khr b;
    cl_mutable_command_khr h[2];
    int *p;
    unsigned number;
} worker;

/* Both kernels change their places together, so each run leaves x + 2 somewhere. */
static void *update_and_run(void *user) {
    worker *w = user;
    size_t wrong = 0;
    for (unsigned n = 0; n < UPDATES; n++) {
        const unsigned first = 1 + (n * 5 + w->number * 3) % PLACES, second = 1 + first % PLACES;
        int *const y = w->p + first * COUNT, *const z = w->p + second * COUNT;
        const mutable_arg one = {0, 0, y}, two[] = {{0, 0, z}, {1, 0, y}};
        const mutable_config c[] = {{.command = w->h[0], .num_svm_args = 1, .arg_svm_list = &one},
                                    {.command = w->h[1], .num_svm_args = 2, .arg_svm_list = two}};
        const void *list[] = {&c[0], &c[1]};
        wrong += changing.update(w->b, 2, (const cl_uint[]){0, 0}, list) != CL_SUCCESS;
        if (n % 3 == 0)
            wrong += khr.clEnqueueCommandBufferKHR(0, NULL, w->b, 0, NULL, NULL) != CL_SUCCESS;
    }
    return (void *)wrong;
}

Test(hostile, threads_that_update_and_run) {
    const cl_command_buffer_properties_khr wanted[] = {
        CL_COMMAND_BUFFER_FLAGS_KHR,
        CL_COMMAND_BUFFER_MUTABLE_KHR | CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
    const size_t count = COUNT;
    const int one = 1;
    pthread_t threads[THREADS];
    worker w[THREADS] = {
        {.b = new_commands(wanted), .p = (int *)(void *)new_shared((PLACES + 1) * (size_t)BYTES)}};
    for (int n = 0; n < COUNT; n++) w->p[n] = n;
    for (int n = 0; n < 2; n++) {
        cl_kernel k = MAKE(clCreateKernel(kernels, "add", &error));
        SUCCEEDS(usm.set_arg(k, 0, w->p + (n + 1) * COUNT));
        SUCCEEDS(usm.set_arg(k, 1, w->p + n * COUNT));
        SUCCEEDS(clSetKernelArg(k, 2, sizeof one, &one));
        SUCCEEDS(khr.clCommandNDRangeKernelKHR(w->b, NULL, NULL, k, 1, NULL, &count, NULL, 0, NULL,
                                               NULL, &w->h[n]));
        SUCCEEDS(clReleaseKernel(k));
    }
    finalize(w->b);
    cr_expect_eq(count_launches(w->b), 1);
    for (unsigned n = 0; n < THREADS; n++) {
        w[n] = w[0];
        w[n].number = n;
        cr_assert_eq(pthread_create(&threads[n], NULL, update_and_run, &w[n]), 0);
    }
    for (int n = 0; n < THREADS; n++) {
        void *wrong;
        pthread_join(threads[n], &wrong);
        cr_expect_null(wrong);
    }
    run(w->b);
    cr_expect_eq(count_launches(w->b), 1, "places change, and are as far apart as before");
    bool found = false;
    for (int n = 1; n <= PLACES; n++)
        found |= w->p[n * COUNT] == 2 && w->p[n * COUNT + COUNT - 1] == COUNT + 1;
    cr_expect(found);
    SUCCEEDS(khr.clReleaseCommandBufferKHR(w->b));
    SUCCEEDS(usm.blocking_free(ocl.context, w->p));
}
