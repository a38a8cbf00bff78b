/* stress.c — many threads with a few queues of one context, to be run under ThreadSanitizer: they
 * launch kernels, copy, fill, map, wait for each other's events, set callbacks, make objects and
 * give them back.
 *
 * Each thread has buffers of its own, whose commands are ordered by events only, whatever queue
 * they go to; what is in them at the end is compared with the same operations done one after the
 * other.  One number is everybody's: kernels add to it. */
#include "tests/opencl/stress.h"
#include "tests/random.h"

enum { THREADS = 8, ROUNDS = 300, QUEUES = 4, BUFFERS = 3, COUNT = 64, BYTES = COUNT * 4 };

static const char *const source =
    "kernel void mix(global uint *to, global const uint *from, uint n, global uint *sum) {\n"
    "    size_t i = get_global_id(0);\n"
    "    to[i] = to[i] * 3 + from[i] + n;\n"
    "    if (i == 0) atomic_add(sum, n);\n"
    "}\n";

static cl_command_queue queues[QUEUES];
static cl_program program;
static cl_mem sum;
static _Atomic cl_uint wanted_sum;
static _Atomic unsigned called, commands;

/* The last event of some thread, with a reference. */
static struct {
    pthread_mutex_t lock;
    cl_event event;
} known = {PTHREAD_MUTEX_INITIALIZER, NULL};

static cl_event exchange_known(cl_event mine) {
    expect(!clRetainEvent(mine));
    pthread_mutex_lock(&known.lock);
    cl_event other = known.event;
    known.event = mine;
    pthread_mutex_unlock(&known.lock);
    return other;
}

/* ------------------------------------------------------------------------------------- a thread */

typedef struct {
    uint64_t random;
    cl_kernel kernel;
    cl_mem mem[BUFFERS];
    cl_event last[BUFFERS]; /* that used the buffer */
    cl_event other;         /* of some thread, or NULL */
    cl_uint model[BUFFERS][COUNT];
} worker;

static cl_uint draw(worker *w, cl_uint below) { return (cl_uint)draw_below(&w->random, below); }

/* A command on buffers `to` and `from`: where it goes, and what it waits for. */
typedef struct {
    cl_uint to, from, value, waits;
    cl_command_queue queue;
    cl_event wait[4], gate, done;
} command;

/* Some commands also wait for another thread, or until they have been enqueued. */
static command begin_command(worker *w) {
    command c = {.to = draw(w, BUFFERS), .value = draw(w, 1000)};
    c.from = (c.to + 1 + draw(w, BUFFERS - 1)) % BUFFERS;
    c.queue = queues[draw(w, QUEUES)];
    c.wait[c.waits++] = w->last[c.to];
    c.wait[c.waits++] = w->last[c.from];
    if (w->other) c.wait[c.waits++] = w->other;
    if (draw(w, 4) == 0) c.gate = c.wait[c.waits++] = clCreateUserEvent(context, NULL);
    return c;
}

static void open_gate(command *c) {
    if (!c->gate) return;
    expect(!clSetUserEventStatus(c->gate, CL_COMPLETE) && !clReleaseEvent(c->gate));
    c->gate = NULL;
}

static void CL_CALLBACK count_call(cl_event e, cl_int status, void *user) {
    expect(status == CL_COMPLETE);
    called++;
    if (user) expect(!clReleaseEvent(e));
}

/* The event gets a callback, which has a reference of its own half of the time. */
static void notify(worker *w, cl_event e) {
    bool gives_back = draw(w, 2);
    if (gives_back) expect(!clRetainEvent(e));
    expect(!clSetEventCallback(e, CL_COMPLETE, count_call, gives_back ? w : NULL));
}

static void replace(cl_event *old, cl_event now) {
    if (*old) expect(!clReleaseEvent(*old));
    *old = now;
}

static void end_command(worker *w, command *c) {
    open_gate(c);
    notify(w, c->done);
    commands++;
    expect(!clRetainEvent(c->done));
    replace(&w->last[c->to], c->done);
    replace(&w->last[c->from], c->done);
    replace(&w->other, draw(w, 2) ? exchange_known(c->done) : NULL);
}

/* ----------------------------------------------------------------------------------- operations */

static void launch(worker *w, command *c) {
    const size_t count = COUNT, local = 1u << draw(w, 7);
    cl_kernel k = clCloneKernel(w->kernel, NULL);
    expect(!clSetKernelArg(k, 0, sizeof(cl_mem), &w->mem[c->to]) &&
           !clSetKernelArg(k, 1, sizeof(cl_mem), &w->mem[c->from]) &&
           !clSetKernelArg(k, 2, sizeof c->value, &c->value));
    expect(
        !clEnqueueNDRangeKernel(c->queue, k, 1, NULL, &count, &local, c->waits, c->wait, &c->done));
    expect(!clReleaseKernel(k));
    wanted_sum += c->value;
    for (int i = 0; i < COUNT; i++)
        w->model[c->to][i] = w->model[c->to][i] * 3 + w->model[c->from][i] + c->value;
}

static void copy(worker *w, command *c) {
    expect(!clEnqueueCopyBuffer(c->queue, w->mem[c->from], w->mem[c->to], 0, 0, BYTES, c->waits,
                                c->wait, &c->done));
    memcpy(w->model[c->to], w->model[c->from], BYTES);
}

/* By way of a part of the buffer, which is given back at once. */
static void fill(worker *w, command *c) {
    const cl_buffer_region half = {BYTES / 2, BYTES / 2};
    cl_mem part = clCreateSubBuffer(w->mem[c->to], 0, CL_BUFFER_CREATE_TYPE_REGION, &half, NULL);
    expect(!clEnqueueFillBuffer(c->queue, part, &c->value, 4, 0, BYTES / 2, c->waits, c->wait,
                                &c->done));
    expect(!clReleaseMemObject(part));
    for (int i = COUNT / 2; i < COUNT; i++) w->model[c->to][i] = c->value;
}

static void map(worker *w, command *c) {
    cl_event mapped;
    cl_int error;
    cl_uint *p = clEnqueueMapBuffer(c->queue, w->mem[c->to], CL_FALSE, CL_MAP_READ | CL_MAP_WRITE,
                                    0, BYTES, c->waits, c->wait, &mapped, &error);
    open_gate(c);
    expect(!error && !clWaitForEvents(1, &mapped) && !clReleaseEvent(mapped));
    expect(memcmp(p, w->model[c->to], BYTES) == 0);
    for (int i = 0; i < COUNT; i++) p[i] = w->model[c->to][i] ^= c->value;
    expect(!clEnqueueUnmapMemObject(c->queue, w->mem[c->to], p, 0, NULL, &c->done));
}

/* A new buffer takes the place of the old one, and a queue is there for this command only. */
static void renew(worker *w, command *c) {
    cl_command_queue q = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    cl_mem fresh = clCreateBuffer(context, 0, BYTES, NULL, NULL);
    expect(!clEnqueueCopyBuffer(q, w->mem[c->to], fresh, 0, 0, BYTES, c->waits, c->wait, &c->done));
    expect(!clReleaseCommandQueue(q) && !clReleaseMemObject(w->mem[c->to]));
    w->mem[c->to] = fresh;
}

static void synchronize(worker *w, command *c) {
    if (draw(w, 2))
        expect(!clEnqueueMarkerWithWaitList(c->queue, c->waits, c->wait, &c->done));
    else
        expect(!clEnqueueBarrierWithWaitList(c->queue, c->waits, c->wait, &c->done));
    open_gate(c);
    if (draw(w, 8) == 0) expect(!clFinish(c->queue));
}

static void (*const operations[])(worker *w, command *c) = {launch, launch, copy,       fill,
                                                            map,    renew,  synchronize};

static void begin_worker(worker *w, size_t me) {
    *w = (worker){.random = me};
    w->kernel = clCreateKernel(program, "mix", NULL);
    expect(!clSetKernelArg(w->kernel, 3, sizeof sum, &sum));
    for (int b = 0; b < BUFFERS; b++) {
        for (cl_uint i = 0; i < COUNT; i++) w->model[b][i] = draw(w, 1000);
        w->mem[b] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, BYTES, w->model[b], NULL);
        expect(!clEnqueueMarkerWithWaitList(queues[b], 0, NULL, &w->last[b]));
    }
}

static void end_worker(worker *w) {
    cl_uint got[COUNT];
    for (int b = 0; b < BUFFERS; b++) {
        expect(!clEnqueueReadBuffer(queues[b], w->mem[b], CL_TRUE, 0, BYTES, got, 1, &w->last[b],
                                    NULL));
        expect(memcmp(got, w->model[b], BYTES) == 0);
        expect(!clReleaseMemObject(w->mem[b]) && !clReleaseEvent(w->last[b]));
    }
    replace(&w->other, NULL);
    expect(!clReleaseKernel(w->kernel));
}

static void *work(void *user) {
    worker w;
    begin_worker(&w, (size_t)(uintptr_t)user);
    for (int round = 0; round < ROUNDS; round++) {
        command c = begin_command(&w);
        operations[draw(&w, sizeof operations / sizeof *operations)](&w, &c);
        end_command(&w, &c);
    }
    end_worker(&w);
    return NULL;
}

/* ----------------------------------------------------------------------------------- everything */

static void begin(void) {
    const cl_uint zero = 0;
    begin_context();
    for (int n = 0; n < QUEUES; n++) queues[n] = new_queue(n % 2 == 0);
    program = build_program(source);
    sum =
        clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof zero, (void *)(uintptr_t)&zero, NULL);
}

static void end(void) {
    cl_uint got;
    expect(!clEnqueueReadBuffer(queues[0], sum, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    expect(got == wanted_sum);
    for (int n = 0; n < QUEUES; n++)
        expect(!clFinish(queues[n]) && !clReleaseCommandQueue(queues[n]));
    if (known.event) expect(!clReleaseEvent(known.event));
    expect(!clReleaseMemObject(sum) && !clReleaseProgram(program));
    end_context(&called, commands);
}

int main(void) {
    begin();
    run_threads(THREADS, work);
    end();
    printf("opencl stress: %u passed, %u failed\n", commands, wrong);
    return wrong != 0;
}
