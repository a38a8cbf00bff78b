/* cuda_queue.h — a queue of device cuda with a few buffers, on the driver of fake_cuda.c, for tests. */
#ifndef TESTS_CUDA_QUEUE_H
#define TESTS_CUDA_QUEUE_H

#include "runtime/queue/objects.h"
#include "tests/runtime/devices/cuda/cuda_bench.h"
#include "tests/runtime/queue/add_kernel.h"

#ifndef QUEUE_KERNELS
#define QUEUE_KERNELS ADD_KERNEL
#endif
static const char kernels[] = "target 64\n" QUEUE_KERNELS;

enum { N = 300, BYTES = 4 * N, BUFFERS = 6 };

static struct {
    spvf_device *device;
    spvf_program *program;
    spvf_queue *queue;
    spvf_graph *graph;
    spvf_buffer *b[BUFFERS];
} t;

static inline void open_queue_of(const char *device) {
    int32_t data[N];
    for (int k = 0; k < N; k++) data[k] = k;
    open_bench(kernels);
    cr_assert_eq(spvf_device_open(bench.context, device, &t.device), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_program_create(t.device, bench.module, &t.program), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_queue_create(t.device, NULL, &t.queue), SPVF_OK);
    for (int k = 0; k < BUFFERS; k++)
        cr_assert_eq(spvf_buffer_create(t.device, BYTES, data, 0, &t.b[k]), SPVF_OK);
}

static inline void open_queue(void) { open_queue_of("cuda"); }

static inline void close_queue(void) {
    spvf_graph_destroy(t.graph);
    spvf_queue_destroy(t.queue);
    for (int k = 0; k < BUFFERS; k++) spvf_buffer_destroy(t.b[k]);
    spvf_program_destroy(t.program);
    spvf_device_destroy(t.device);
    close_bench();
    remove_cache_folder();
}

static inline spvf_launch add(spvf_argument args[3], int to, int from, const int32_t *k) {
    args[0] = (spvf_argument){.buffer = t.b[to]};
    args[1] = (spvf_argument){.buffer = t.b[from]};
    args[2] = (spvf_argument){.bytes = k, .size = sizeof *k};
    return (spvf_launch){.size = sizeof(spvf_launch),
                         .program = t.program,
                         .kernel = "add",
                         .range = {.dims = 1, .global = {N}},
                         .args = args,
                         .arg_count = 3};
}

static inline void expect_sums(spvf_buffer *b, int32_t more) {
    int32_t back[N];
    cr_assert_eq(spvf_queue_read(t.queue, b, 0, back, BYTES, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_finish(t.queue), SPVF_OK, "%s", messages);
    for (int k = 0; k < N; k++) cr_assert_eq(back[k], k + more, "%d: %d", k, back[k]);
}

#endif
