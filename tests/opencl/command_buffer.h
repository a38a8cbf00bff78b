/* command_buffer.h — what tests of command buffers share: the entries, which only the
 * implementation knows, and three kernels over COUNT elements. */
#ifndef SPVFUSE_TESTS_COMMAND_BUFFER_H
#define SPVFUSE_TESTS_COMMAND_BUFFER_H

#define CL_ENABLE_BETA_EXTENSIONS
#include "tests/opencl/programs.h"

#include "runtime/spvfuse_opencl.h"

/* The entries by their own names, found when a test begins. */
#define ENTRIES(X)                                                                                 \
    X(clCreateCommandBufferKHR)                                                                    \
    X(clRetainCommandBufferKHR)                                                                    \
    X(clReleaseCommandBufferKHR)                                                                   \
    X(clFinalizeCommandBufferKHR)                                                                  \
    X(clEnqueueCommandBufferKHR)                                                                   \
    X(clCommandBarrierWithWaitListKHR)                                                             \
    X(clCommandCopyBufferKHR)                                                                      \
    X(clCommandCopyBufferRectKHR)                                                                  \
    X(clCommandCopyBufferToImageKHR)                                                               \
    X(clCommandCopyImageKHR)                                                                       \
    X(clCommandCopyImageToBufferKHR)                                                               \
    X(clCommandFillBufferKHR)                                                                      \
    X(clCommandFillImageKHR)                                                                       \
    X(clCommandNDRangeKernelKHR)                                                                   \
    X(clGetCommandBufferInfoKHR)
#define DECLARE(name) name##_fn name;
static struct { ENTRIES(DECLARE) } khr;

enum { COUNT = 1000, BYTES = COUNT * 4, BUFFERS = 12 };
static cl_program kernels;
static cl_mem buffers[BUFFERS]; /* the first has 0, 1, 2 …, the others zeros */
static cl_command_buffer_khr commands;

static const char kernel_source[] =
    "kernel void add(global int *to, global const int *from, int k) {\n"
    "  size_t i = get_global_id(0);\n"
    "  to[i] = from[i] + k;\n"
    "}\n"
    "kernel void reverse(global int *to, global const int *from) {\n"
    "  size_t i = get_global_id(0);\n"
    "  to[i] = from[get_global_size(0) - 1 - i];\n"
    "}\n"
    "kernel void say(global const int *from, int which) {\n"
    "  if (get_global_id(0) < 3) printf(\"%d: %d\\n\", which, from[get_global_id(0)]);\n"
    "}\n";

static inline cl_command_buffer_khr new_commands(const cl_command_buffer_properties_khr *p) {
    return MAKE(khr.clCreateCommandBufferKHR(1, &ocl.queue, p, &error));
}

#define FIND(name) find_entry(#name, &khr.name);
static inline void begin_commands(void) {
    int first[COUNT];
    begin_opencl();
    ENTRIES(FIND)
    kernels = built(kernel_source, NULL);
    for (int n = 0; n < COUNT; n++) first[n] = n;
    for (int n = 0; n < BUFFERS; n++) {
        buffers[n] = MAKE(clCreateBuffer(ocl.context, 0, BYTES, NULL, &error));
        const void *from = n ? (const int[COUNT]){0} : first;
        SUCCEEDS(
            clEnqueueWriteBuffer(ocl.queue, buffers[n], CL_TRUE, 0, BYTES, from, 0, NULL, NULL));
    }
    commands = new_commands(NULL);
}

static inline void end_commands(void) {
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(khr.clReleaseCommandBufferKHR(commands));
    for (int n = 0; n < BUFFERS; n++)
        if (buffers[n]) SUCCEEDS(clReleaseMemObject(buffers[n]));
    SUCCEEDS(clReleaseProgram(kernels));
    end_opencl();
}

/* ------------------------------------------------------------------------------------ recording */

static inline void record(cl_command_buffer_khr b, cl_kernel k, size_t count) {
    SUCCEEDS(khr.clCommandNDRangeKernelKHR(b, NULL, NULL, k, 1, NULL, &count, NULL, 0, NULL, NULL,
                                           NULL));
    SUCCEEDS(clReleaseKernel(k));
}

/* A kernel with two buffers for its first arguments. */
static inline cl_kernel with_buffers(const char *name, cl_mem to, cl_mem from) {
    cl_kernel k = MAKE(clCreateKernel(kernels, name, &error));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof to, &to));
    SUCCEEDS(clSetKernelArg(k, 1, sizeof from, &from));
    return k;
}

static inline void record_add(cl_command_buffer_khr b, int to, int from, int n) {
    cl_kernel k = with_buffers("add", buffers[to], buffers[from]);
    SUCCEEDS(clSetKernelArg(k, 2, sizeof n, &n));
    record(b, k, COUNT);
}

static inline void record_reverse(cl_command_buffer_khr b, int to, int from) {
    record(b, with_buffers("reverse", buffers[to], buffers[from]), COUNT);
}

static inline void finalize(cl_command_buffer_khr b) {
    SUCCEEDS(khr.clFinalizeCommandBufferKHR(b));
}

static inline void run(cl_command_buffer_khr b) {
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(0, NULL, b, 0, NULL, NULL));
    SUCCEEDS(clFinish(ocl.queue));
}

static inline cl_uint count_launches(cl_command_buffer_khr b) {
    cl_uint n;
    SUCCEEDS(
        khr.clGetCommandBufferInfoKHR(b, CL_COMMAND_BUFFER_LAUNCH_COUNT_SPVF, sizeof n, &n, NULL));
    return n;
}

static inline const char *report_of(cl_command_buffer_khr b) {
    static char report[1 << 16];
    SUCCEEDS(khr.clGetCommandBufferInfoKHR(b, CL_COMMAND_BUFFER_FUSION_REPORT_SPVF, sizeof report,
                                           report, NULL));
    return report;
}

static inline bool report_has(cl_command_buffer_khr b, const char *text) {
    bool found = strstr(report_of(b), text) != NULL;
    if (!found) fprintf(stderr, "no \"%s\" in the report:\n%s", text, report_of(b));
    return found;
}

static inline void read_ints(int from, int to[COUNT]) {
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, buffers[from], CL_TRUE, 0, BYTES, to, 0, NULL, NULL));
}

/* What commands_run_in_order leaves, in both forms of the entries.  Buffer 1 has n + 5.  Its first
 * 100 elements go to element 10 of buffer 2, where elements 5 to 7 become 7 and all gain 1000;
 * three rows of it go to buffer 3. */
static inline void expect_copies(void) {
    int back[COUNT];
    read_ints(2, back);
    for (int n = 0; n < COUNT; n++) {
        int want = n >= 5 && n < 8 ? 7 : n >= 10 && n < 110 ? n - 10 + 5 : 0;
        cr_assert(back[n] == want + 1000, "%d: %d", n, back[n]);
    }
    read_ints(3, back); /* element 10 × row from 5 × (row + 1) + 2 on */
    for (int row = 0; row < 3; row++) cr_expect(back[5 * (row + 1) + 2] == 10 * row + 5);
    cr_expect(back[0] == 0 && back[8] == 0);
}

/* ----------------------------------------------------------------------------- errors of recording
 *
 * `call` records to `b` with `q`, `n`, `list`, `point` and `handle`; where that is not NULL, it gives
 * `handles`. */
#define CHECK_RECORDING(call) CHECK_RECORDING_WITH(CL_INVALID_VALUE, call)
#define CHECK_RECORDING_WITH(handles, call)                                                        \
    do {                                                                                           \
        cl_command_buffer_khr b = commands;                                                        \
        cl_command_queue q = NULL;                                                                 \
        cl_uint n = 0;                                                                             \
        cl_sync_point_khr known_[2] = {1, 99}, id_ = 0, *point = &id_;                             \
        const cl_sync_point_khr *list = NULL;                                                      \
        cl_mutable_command_khr some_, *handle = NULL;                                              \
        SUCCEEDS(call);                                                                            \
        cr_expect(id_ == 1);                                                                       \
        b = NULL;                                                                                  \
        FAILS(CL_INVALID_COMMAND_BUFFER_KHR, call);                                                \
        b = commands;                                                                              \
        q = ocl.queue;                                                                             \
        FAILS(CL_INVALID_COMMAND_QUEUE, call);                                                     \
        q = NULL;                                                                                  \
        handle = &some_;                                                                           \
        FAILS(handles, call);                                                                      \
        handle = NULL;                                                                             \
        n = 1;                                                                                     \
        FAILS(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, call);                                          \
        list = known_;                                                                             \
        SUCCEEDS(call);                                                                            \
        n = 0;                                                                                     \
        FAILS(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, call);                                          \
        n = 2;                                                                                     \
        FAILS(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, call);                                          \
        known_[1] = 0;                                                                             \
        FAILS(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, call);                                          \
        n = 0;                                                                                     \
        list = NULL;                                                                               \
        finalize(commands);                                                                        \
        FAILS(CL_INVALID_OPERATION, call);                                                         \
    } while (0)

#endif
