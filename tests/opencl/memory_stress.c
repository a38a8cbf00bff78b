/* memory_stress.c — many threads that make, move, map and give back memory of one context, to be
 * run under ThreadSanitizer: no thread sees the bytes of another, and all is given back. */
#include "tests/opencl/stress.h"
#include "tests/random.h"

enum { THREADS = 8, ROUNDS = 300, PART = 512, QUEUES = 2 };

static cl_command_queue queues[QUEUES];
static cl_mem shared; /* each thread has a part */
static _Atomic unsigned ended;

static void CL_CALLBACK count_end(cl_mem m, void *user) {
    (void)m, (void)user;
    ended++;
}

/* A part of the shared buffer that is filled, copied to another buffer and read from there. */
static void move(cl_command_queue q, cl_mem part, unsigned char mark) {
    unsigned char got[PART];
    cl_event filled, copied;
    cl_mem other = clCreateBuffer(context, 0, PART, NULL, NULL);
    expect(!clSetMemObjectDestructorCallback(other, count_end, NULL));
    expect(!clEnqueueFillBuffer(q, part, &mark, 1, 0, PART, 0, NULL, &filled));
    expect(!clEnqueueCopyBuffer(q, part, other, 0, 0, PART, 1, &filled, &copied));
    expect(!clEnqueueReadBuffer(q, other, CL_TRUE, 0, PART, got, 1, &copied, NULL));
    for (int n = 0; n < PART; n++) expect(got[n] == mark);
    expect(!clReleaseEvent(filled) && !clReleaseEvent(copied) && !clReleaseMemObject(other));
}

static void map(cl_command_queue q, cl_mem part, unsigned char mark) {
    cl_event unmapped;
    cl_int error;
    unsigned char *p = clEnqueueMapBuffer(q, part, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, PART, 0,
                                          NULL, NULL, &error);
    expect(!error);
    for (int n = 0; n < PART; n++) expect(p[n] == mark);
    memset(p, mark + 1, PART);
    expect(!clEnqueueUnmapMemObject(q, part, p, 0, NULL, &unmapped));
    expect(!clWaitForEvents(1, &unmapped) && !clReleaseEvent(unmapped));
}

static void share(cl_command_queue q, unsigned char mark) {
    void *p = clSVMAlloc(context, 0, PART, 0);
    expect(!clEnqueueSVMMemFill(q, p, &mark, 1, PART, 0, NULL, NULL));
    expect(!clEnqueueBarrierWithWaitList(q, 0, NULL, NULL));
    expect(!clEnqueueSVMFree(q, 1, &p, NULL, NULL, 0, NULL, NULL));
}

static void *work(void *user) {
    const size_t me = (size_t)(uintptr_t)user;
    const cl_buffer_region region = {me * PART, PART};
    uint64_t random = me;
    for (int round = 0; round < ROUNDS; round++) {
        cl_command_queue q = queues[draw_below(&random, QUEUES)];
        unsigned char mark = (unsigned char)draw_below(&random, 255);
        cl_mem part = clCreateSubBuffer(shared, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
        move(q, part, mark);
        map(q, part, mark);
        share(q, mark);
        expect(!clReleaseMemObject(part));
    }
    return NULL;
}

int main(void) {
    begin_context();
    for (int n = 0; n < QUEUES; n++) queues[n] = new_queue(n == 0);
    shared = clCreateBuffer(context, 0, THREADS * PART, NULL, NULL);
    run_threads(THREADS, work);
    for (int n = 0; n < QUEUES; n++)
        expect(!clFinish(queues[n]) && !clReleaseCommandQueue(queues[n]));
    expect(!clReleaseMemObject(shared));
    end_context(&ended, THREADS * ROUNDS);
    printf("memory stress: %u passed, %u failed\n", ended, wrong);
    return wrong != 0;
}
