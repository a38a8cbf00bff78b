/* fork_test.c — a program that uses OpenCL forks: the child goes on with what it has, or is told
 * why not. */
#include "tests/child.h"
#include "tests/opencl/opencl.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FORKS = 40, COUNT = 4096 };

TestSuite(fork, .init = begin_opencl, .fini = end_opencl);

static const char *const source =
    "kernel void add(global int *to, global const int *from, int n) {\n"
    "    size_t i = get_global_id(0);\n"
    "    to[i] = from[i] + n;\n"
    "}\n";

typedef struct {
    cl_program program;
    cl_mem from, to;
    _Atomic bool stop;
} state;

/* A program that is built; NULL: it could not be. */
static cl_program build(void) {
    cl_int status;
    cl_program p =
        clCreateProgramWithSource(ocl.context, 1, (const char **)(uintptr_t)&source, NULL, &status);
    if (!status && !clBuildProgram(p, 0, NULL, NULL, NULL, NULL)) return p;
    clReleaseProgram(p);
    return NULL;
}

static void make(state *s) {
    cl_int zeros[COUNT] = {0};
    *s = (state){.program = build()};
    cr_assert_not_null(s->program);
    s->from = MAKE(clCreateBuffer(ocl.context, CL_MEM_COPY_HOST_PTR, sizeof zeros, zeros, &error));
    s->to = MAKE(clCreateBuffer(ocl.context, 0, sizeof zeros, NULL, &error));
}

static void give_back(const state *s) {
    clReleaseMemObject(s->from);
    clReleaseMemObject(s->to);
    clReleaseProgram(s->program);
}

static cl_int launch(const state *s, cl_command_queue q, cl_mem to, cl_int n) {
    const size_t items = COUNT;
    cl_int status;
    cl_kernel k = clCreateKernel(s->program, "add", &status);
    if (status) return status;
    clSetKernelArg(k, 0, sizeof to, &to);
    clSetKernelArg(k, 1, sizeof s->from, &s->from);
    clSetKernelArg(k, 2, sizeof n, &n);
    status = clEnqueueNDRangeKernel(q, k, 1, NULL, &items, NULL, 0, NULL, NULL);
    clReleaseKernel(k);
    return status;
}

static bool adds(const state *s, cl_command_queue q, cl_mem to, cl_int n) {
    cl_int back[COUNT];
    if (launch(s, q, to, n) || clEnqueueReadBuffer(q, to, CL_TRUE, 0, sizeof back, back, 0, 0, 0))
        return false;
    for (int k = 0; k < COUNT; k++)
        if (back[k] != n) return false;
    return true;
}

/* On the queue that it has, and on one of its own. */
static bool goes_on(void *arg) {
    const state *s = arg;
    cl_int status;
    clFinish(ocl.queue);
    cl_mem to = clCreateBuffer(ocl.context, 0, COUNT * sizeof(cl_int), NULL, &status);
    cl_command_queue q = clCreateCommandQueueWithProperties(ocl.context, ocl.device, NULL, &status);
    bool ok = !status && adds(s, q, to, 5) && adds(s, ocl.queue, to, 7);
    return ok && !clReleaseCommandQueue(q) && !clReleaseMemObject(to);
}

Test(fork, a_child_of_an_idle_process_goes_on) {
    state s;
    make(&s);
    cr_expect(holds_in_child(goes_on, &s), "nothing was launched before");
    cr_expect(adds(&s, ocl.queue, s.to, 3));
    cr_expect(holds_in_child(goes_on, &s));
    cr_expect(adds(&s, ocl.queue, s.to, 4));
    give_back(&s);
}

static void *launch_always(void *arg) {
    state *s = arg;
    for (int n = 0; !s->stop; n++) {
        launch(s, ocl.queue, s->to, n);
        if (n % 16 == 0) clFinish(ocl.queue);
    }
    return NULL;
}

Test(fork, a_child_of_a_busy_process_goes_on) {
#if defined(__SANITIZE_ADDRESS__)
    cr_skip("the sanitizer's own allocator may be locked for ever in the child");
#endif
    state s;
    pthread_t thread;
    int ended = 0;
    make(&s);
    cr_assert_eq(pthread_create(&thread, NULL, launch_always, &s), 0);
    for (int n = 0; n < FORKS; n++) ended += holds_in_child(goes_on, &s);
    s.stop = true;
    pthread_join(thread, NULL);
    cr_expect_eq(ended, FORKS);
    SUCCEEDS(clFinish(ocl.queue));
    give_back(&s);
}

static void *build_always(void *arg) {
    const state *s = arg;
    while (!s->stop) clReleaseProgram(build());
    return NULL;
}

/* With a program of its own, and with the one that it has. */
static bool builds_and_goes_on(void *arg) {
    state own = *(const state *)arg;
    own.program = build();
    return own.program && goes_on(&own) && !clReleaseProgram(own.program) && goes_on(arg);
}

/* The device is the same for all contexts, so a child cannot open another one.  Threads build all
 * the time, so most forks happen while one of them has the device. */
Test(fork, a_child_of_a_process_that_builds_goes_on) {
#if defined(__SANITIZE_ADDRESS__)
    cr_skip("the sanitizer's own allocator may be locked for ever in the child");
#endif
    enum { THREADS = 4 };
    state s;
    pthread_t thread[THREADS];
    int ended = 0;
    make(&s);
    for (int n = 0; n < THREADS; n++)
        cr_assert_eq(pthread_create(&thread[n], NULL, build_always, &s), 0);
    for (int n = 0; n < FORKS; n++) ended += holds_in_child(builds_and_goes_on, &s);
    s.stop = true;
    for (int n = 0; n < THREADS; n++) pthread_join(thread[n], NULL);
    cr_expect_eq(ended, FORKS);
    give_back(&s);
}
