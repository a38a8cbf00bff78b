/* command_stress.c — many threads that record, fuse and run command buffers, and run one of all at
 * the same time, to be run under ThreadSanitizer: results are right, and all is given back. */
#include "tests/opencl/stress.h"
#include "tests/random.h"

enum { THREADS = 8, ROUNDS = 25, QUEUES = 4, ITEMS = 512, BYTES = ITEMS * 4, MOST_KERNELS = 6 };

static cl_command_queue queues[QUEUES];
static cl_program program;
static cl_mem shared[3];
static cl_command_buffer_khr everybodys;
static _Atomic unsigned runs;

static clCreateCommandBufferKHR_fn create;
static clReleaseCommandBufferKHR_fn release;
static clFinalizeCommandBufferKHR_fn finalize;
static clEnqueueCommandBufferKHR_fn enqueue;
static clCommandNDRangeKernelKHR_fn record;
static clGetCommandBufferInfoKHR_fn get_info;

static const char *const source = "kernel void add(global int *to, global const int *from, int k) {"
                                  "  to[get_global_id(0)] = from[get_global_id(0)] + k;"
                                  "}";

static void record_add(cl_command_buffer_khr b, cl_mem to, cl_mem from, cl_int n) {
    const size_t items = ITEMS;
    cl_kernel k = clCreateKernel(program, "add", NULL);
    expect(!clSetKernelArg(k, 0, sizeof to, &to) && !clSetKernelArg(k, 1, sizeof from, &from) &&
           !clSetKernelArg(k, 2, sizeof n, &n));
    expect(!record(b, NULL, NULL, k, 1, NULL, &items, NULL, 0, NULL, NULL, NULL));
    expect(!clReleaseKernel(k));
}

/* Some kernels in a row, run twice, the second time after the first; what was recorded is released
 * while it runs. */
static void run_own(cl_command_queue q, uint64_t *random) {
    cl_int zeros[ITEMS] = {0}, got[ITEMS], sum = 0;
    cl_mem m[2];
    cl_event first, second;
    cl_command_buffer_khr b = create(1, &q, NULL, NULL);
    for (int n = 0; n < 2; n++)
        m[n] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, BYTES, zeros, NULL);
    for (int left = 1 + (int)draw_below(random, MOST_KERNELS); left; left--, sum++)
        record_add(b, m[(sum + 1) & 1], m[sum & 1], 1);
    expect(!finalize(b));
    expect(!enqueue(0, NULL, b, 0, NULL, &first) && !clWaitForEvents(1, &first));
    expect(!enqueue(0, NULL, b, 1, &first, &second) && !release(b));
    expect(!clEnqueueReadBuffer(q, m[sum & 1], CL_TRUE, 0, BYTES, got, 1, &second, NULL));
    cl_int want = 2 * sum - (sum & 1); /* the last of an odd number leaves the other one behind */
    for (int n = 0; n < ITEMS; n++) expect(got[n] == want);
    expect(!clReleaseEvent(first) && !clReleaseEvent(second));
    for (int n = 0; n < 2; n++) expect(!clReleaseMemObject(m[n]));
    runs += 2;
}

static void run_shared(cl_command_queue q) {
    cl_command_buffer_state_khr state;
    cl_event e;
    expect(!enqueue(1, &q, everybodys, 0, NULL, &e));
    expect(!get_info(everybodys, CL_COMMAND_BUFFER_STATE_KHR, sizeof state, &state, NULL));
    expect(state == CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
    expect(!clWaitForEvents(1, &e) && !clReleaseEvent(e));
    runs++;
}

static void *work(void *user) {
    uint64_t random = (uintptr_t)user;
    for (int round = 0; round < ROUNDS; round++) {
        run_own(queues[draw_below(&random, QUEUES)], &random);
        run_shared(queues[draw_below(&random, QUEUES)]);
    }
    return NULL;
}

/* -------------------------------------------------------------------------------- begin and end */

static void find_entries(void) {
    load_entry(platform, "clCreateCommandBufferKHR", &create);
    load_entry(platform, "clReleaseCommandBufferKHR", &release);
    load_entry(platform, "clFinalizeCommandBufferKHR", &finalize);
    load_entry(platform, "clEnqueueCommandBufferKHR", &enqueue);
    load_entry(platform, "clCommandNDRangeKernelKHR", &record);
    load_entry(platform, "clGetCommandBufferInfoKHR", &get_info);
}

static void begin(void) {
    const cl_command_buffer_properties_khr simultaneous[] = {
        CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
    begin_context();
    find_entries();
    for (int n = 0; n < QUEUES; n++) queues[n] = new_queue(n < QUEUES / 2);
    program = build_program(source);
    everybodys = create(1, queues, simultaneous, NULL);
    for (int n = 0; n < 3; n++) shared[n] = clCreateBuffer(context, 0, BYTES, NULL, NULL);
    for (int n = 0; n < 2; n++) record_add(everybodys, shared[n + 1], shared[n], 1);
    expect(!finalize(everybodys));
}

static void end(void) {
    expect(!release(everybodys));
    for (int n = 0; n < QUEUES; n++)
        expect(!clFinish(queues[n]) && !clReleaseCommandQueue(queues[n]));
    for (int n = 0; n < 3; n++) expect(!clReleaseMemObject(shared[n]));
    expect(!clReleaseProgram(program));
    end_context(&runs, runs);
}

int main(void) {
    begin();
    run_threads(THREADS, work);
    end();
    printf("command stress: %u passed, %u failed\n", runs, wrong);
    return wrong != 0;
}
