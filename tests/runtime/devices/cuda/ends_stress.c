/* ends_stress.c — threads that launch on device cuda, run graphs and wait, to be run under
 * ThreadSanitizer: each sum is right, each callback comes once, and the driver gets back all.
 *
 * The driver is that of fake_cuda.c.  A thread lets what has been given to it end, again and again, so
 * that waiting threads meet events that have come and others that have not. */
#include "runtime/spvfuse_queue.h"
#include "tests/runtime/devices/cuda/fake_cuda.h"
#include "tests/runtime/queue/add_kernel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char kernels[] = "target 64\n" ADD_KERNEL;

enum { THREADS = 6, TURNS = 1500, N = 64, LAUNCHES = 3, KEPT = 4 };

static spvf_device *device;
static spvf_program *program;
static spvf_queue *queues[2]; /* that threads share */
static _Atomic int wrong, expected, called;
static _Atomic bool done;

static void run_kernel(const fake_cuda_launch *l, void **params) {
    int32_t *out = *(int32_t **)params[0], *in = *(int32_t **)params[1], k;
    memcpy(&k, params[2], sizeof k);
    wrong += l->params < 3;
    for (int n = 0; n < N; n++) out[n] = in[n] + k;
}

/* A buffer, to which launches and runs of a graph add. */
typedef struct {
    uint32_t seed;
    spvf_queue *queue;
    spvf_buffer *buffer;
    spvf_graph *graph;
    spvf_event *kept[KEPT];
    int32_t sum, of_graph; /* what a run of the graph adds */
} user;

static uint32_t choose(user *u, uint32_t n) {
    u->seed = u->seed * 1664525 + 1013904223;
    return (u->seed >> 16) % n;
}

static spvf_launch add(const user *u, spvf_argument args[3], const int32_t *k) {
    args[0] = args[1] = (spvf_argument){.buffer = u->buffer};
    args[2] = (spvf_argument){.bytes = k, .size = sizeof *k};
    return (spvf_launch){.size = sizeof(spvf_launch),
                         .program = program,
                         .kernel = "add",
                         .range = {.dims = 1, .global = {N}},
                         .args = args,
                         .arg_count = 3};
}

static void check(spvf_status s) { wrong += s != SPVF_OK; }

static void count(void *arg, spvf_status status) {
    (void)arg;
    called += status == SPVF_OK;
}

static void keep(user *u, spvf_event *e) {
    spvf_event **slot = &u->kept[choose(u, KEPT)];
    if (*slot && choose(u, 2)) check(spvf_event_wait(*slot));
    spvf_event_destroy(*slot);
    *slot = e;
}

static void launch(user *u, bool exact) {
    spvf_argument args[3];
    spvf_event *e = NULL;
    const int32_t k = (int32_t)choose(u, 10);
    const spvf_launch l = add(u, args, &k);
    u->sum += k;
    check(spvf_queue_launch(u->queue, &l, NULL, exact ? &e : NULL));
    if (!exact) return;
    if (choose(u, 4) == 0) {
        expected++;
        check(spvf_event_on_end(e, count, NULL));
    }
    keep(u, e);
}

static void run_graph(user *u) {
    spvf_event *e = NULL;
    bool exact = choose(u, 2);
    check(spvf_graph_run(u->graph, u->queue, NULL, exact ? &e : NULL));
    if (exact) keep(u, e);
    u->sum += u->of_graph;
}

static void change_graph(user *u) {
    const int32_t k = (int32_t)choose(u, 10);
    check(spvf_graph_set_value(u->graph, 0, 2, &k, sizeof k));
    u->of_graph = LAUNCHES - 1 + k;
}

/* Another buffer takes the place of this one, which the launches that use it keep.  The graph is that
 * of the new one. */
static void renew_buffer(user *u) {
    const int32_t k = (int32_t)choose(u, 10);
    spvf_argument args[3];
    spvf_buffer *old = u->buffer;
    spvf_launch l = add(u, args, &k);
    check(spvf_buffer_create(device, N * sizeof(int32_t), NULL, 0, &u->buffer));
    args[0].buffer = u->buffer;
    check(spvf_queue_launch(u->queue, &l, NULL, NULL));
    check(spvf_graph_set_buffer(u->graph, old, u->buffer));
    spvf_buffer_destroy(old);
    u->sum += k;
}

static void expect_sum(user *u) {
    int32_t back[N];
    check(spvf_queue_read(u->queue, u->buffer, 0, back, sizeof back, NULL, NULL));
    check(spvf_queue_finish(u->queue));
    for (int k = 0; k < N; k++) wrong += back[k] != k + u->sum;
}

static void take_turn(user *u) {
    switch (choose(u, 16)) {
    case 0: check(spvf_queue_finish(u->queue)); break;
    case 1: expect_sum(u); break;
    case 2: change_graph(u); break;
    case 3: renew_buffer(u); break;
    case 4:
    case 5:
    case 6: run_graph(u); break;
    case 7:
    case 8:
    case 9: launch(u, true); break;
    default: launch(u, false); break;
    }
}

static void make_graph(user *u) {
    const spvf_graph_options o = {.size = sizeof o, .unfused = true};
    const int32_t one = 1;
    spvf_argument args[3];
    const spvf_launch l = add(u, args, &one);
    check(spvf_graph_create(device, &o, &u->graph));
    for (int k = 0; k < LAUNCHES; k++) check(spvf_graph_launch(u->graph, &l, NULL));
    check(spvf_graph_commit(u->graph));
    u->of_graph = LAUNCHES;
}

static void *use(void *arg) {
    const uint32_t number = (uint32_t)(uintptr_t)arg;
    user u = {.seed = number * 2654435761u + 1, .queue = queues[number % 2]};
    int32_t data[N];
    for (int k = 0; k < N; k++) data[k] = k;
    check(spvf_buffer_create(device, sizeof data, data, 0, &u.buffer));
    make_graph(&u);
    for (int k = 0; k < TURNS; k++) take_turn(&u);
    expect_sum(&u);
    for (int k = 0; k < KEPT; k++) spvf_event_destroy(u.kept[k]);
    spvf_graph_destroy(u.graph);
    spvf_buffer_destroy(u.buffer);
    return NULL;
}

/* What has been given ends, and what is given from now on does not yet. */
static void *end_again_and_again(void *arg) {
    while (!done) {
        fake_cuda_hold(true);
        nanosleep(&(struct timespec){.tv_nsec = 30000}, NULL);
    }
    fake_cuda_hold(false);
    return arg;
}

static bool open_device(spvf_context **context, spvf_module **module) {
    const spvf_context_options o = {.size = sizeof o};
    const size_t size = sizeof kernels - 1;
    return spvf_context_create(&o, context) == SPVF_OK &&
           spvf_module_load(*context, "k.ir", kernels, size, NULL, module) == SPVF_OK &&
           spvf_device_open(*context, "cuda", &device) == SPVF_OK &&
           spvf_program_create(device, *module, &program) == SPVF_OK;
}

static unsigned things_of_the_driver(void) {
    return fake_cuda_memories() + fake_cuda_modules() + fake_cuda_graphs() + fake_cuda_events();
}

int main(void) {
    pthread_t t[THREADS], ends;
    spvf_context *context;
    spvf_module *module;
    setenv("SPVFUSE_CACHE", "0", 1);
    fake_cuda_run_with(run_kernel);
    if (!open_device(&context, &module)) return 1;
    for (int k = 0; k < 2; k++) check(spvf_queue_create(device, NULL, &queues[k]));
    pthread_create(&ends, NULL, end_again_and_again, NULL);
    for (uintptr_t k = 0; k < THREADS; k++) pthread_create(&t[k], NULL, use, (void *)k);
    for (int k = 0; k < THREADS; k++) pthread_join(t[k], NULL);
    done = true;
    pthread_join(ends, NULL);
    for (int k = 0; k < 2; k++) spvf_queue_destroy(queues[k]);
    spvf_program_destroy(program);
    spvf_device_destroy(device);
    spvf_module_destroy(module);
    spvf_context_destroy(context);
    const struct timespec ms = {.tv_nsec = 1000000};
    for (int k = 0; k < 5000 && (things_of_the_driver() || called != expected); k++)
        nanosleep(&ms, NULL);
    bool ok = !wrong && called == expected && !things_of_the_driver();
    printf("threads of device cuda: %d passed, %d failed\n", ok, !ok);
    return !ok;
}
