/* launches.h — what the tests of graphs and of queues that fuse share: a device, ten buffers of
 * which the first holds 0, 1, 2 …, and kernels: out[i] = in[i] + k, and out[i] = in[n - 1 - i]; of
 * floats out[i] = in[i] * 0.1f, where in has integers, and out[i] = in[i] + 1 / 3.f, which may be
 * contracted; and out[i] = in[i], with a call. */
#ifndef TESTS_RUNTIME_LAUNCHES_H
#define TESTS_RUNTIME_LAUNCHES_H

#include "runtime/queue/objects.h"
#include "tests/runtime/queue/add_kernel.h"
#include "tests/runtime/bench.h"

static const char kernels[] =
    "target 64\n" ADD_KERNEL LAST_KERNEL
    "kernel @reverse(%out: ptr.global of i32, %in: ptr.global const of i32) {\n"
    "entry:\n"
    "  %x: i64 = global_id 0\n"
    "  %n: i64 = global_size 0\n"
    "  %m: i64 = sub %n, 1\n"
    "  %y: i64 = sub %m, %x\n"
    "  %b: i64 = shl %x, 2\n"
    "  %c: i64 = shl %y, 2\n"
    "  %p: ptr.global = ptradd %in, %c inbounds\n"
    "  %q: ptr.global = ptradd %out, %b inbounds\n"
    "  %v: i32 = load %p align 4\n"
    "  store %v, %q align 4\n"
    "  ret\n"
    "}\n"
    "kernel @scale(%out: ptr.global of f32, %in: ptr.global const of i32) {\n"
    "entry:\n"
    "  %x: i64 = global_id 0\n"
    "  %b: i64 = shl %x, 2\n"
    "  %p: ptr.global = ptradd %in, %b inbounds\n"
    "  %q: ptr.global = ptradd %out, %b inbounds\n"
    "  %i: i32 = load %p align 4\n"
    "  %f: f32 = sitofp %i\n"
    "  %v: f32 = fmul %f, 0x1.99999ap-4 contract\n"
    "  store %v, %q align 4\n"
    "  ret\n"
    "}\n"
    "kernel @shift(%out: ptr.global of f32, %in: ptr.global const of f32) {\n"
    "entry:\n"
    "  %x: i64 = global_id 0\n"
    "  %b: i64 = shl %x, 2\n"
    "  %p: ptr.global = ptradd %in, %b inbounds\n"
    "  %q: ptr.global = ptradd %out, %b inbounds\n"
    "  %f: f32 = load %p align 4\n"
    "  %v: f32 = fadd %f, 0x1.555556p-2 contract\n"
    "  store %v, %q align 4\n"
    "  ret\n"
    "}\n"
    "func @look(%p: ptr.global) {\n"
    "entry:\n"
    "  ret\n"
    "}\n"
    "kernel @copy(%out: ptr.global of i32, %in: ptr.global of i32) {\n"
    "entry:\n"
    "  %x: i64 = global_id 0\n"
    "  %b: i64 = shl %x, 2\n"
    "  %p: ptr.global = ptradd %in, %b inbounds\n"
    "  %q: ptr.global = ptradd %out, %b inbounds\n"
    "  call @look(%in)\n"
    "  %v: i32 = load %p align 4\n"
    "  store %v, %q align 4\n"
    "  ret\n"
    "}\n";

enum { COUNT = 1000, BYTES = COUNT * 4, BUFFERS = 10 };

typedef struct {
    spvf_device *device;
    spvf_program *program;
    spvf_buffer *b[BUFFERS];
    spvf_queue *q, *other; /* in order; out of order */
    int32_t back[COUNT];
} bench;

static inline void begin_with(bench *t, dev_opener *open, const char *name) {
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, kernels);
    const spvf_queue_options o = {.size = sizeof o, .out_of_order = true};
    int32_t data[COUNT];
    for (int k = 0; k < COUNT; k++) data[k] = k;
    *t = (bench){.device = NULL};
    cr_assert_eq(dev_open_with(c, open, name, &t->device), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_program_create(t->device, m, &t->program), SPVF_OK, "%s", messages);
    for (int k = 0; k < BUFFERS; k++)
        cr_assert_eq(spvf_buffer_create(t->device, BYTES, k ? NULL : data, 0, &t->b[k]), SPVF_OK);
    cr_assert_eq(spvf_queue_create(t->device, NULL, &t->q), SPVF_OK);
    cr_assert_eq(spvf_queue_create(t->device, &o, &t->other), SPVF_OK);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

static inline void begin(bench *t) { begin_with(t, rt_device_open, "cpu"); }

static inline void end(bench *t) {
    spvf_queue_destroy(t->q);
    spvf_queue_destroy(t->other);
    for (int k = 0; k < BUFFERS; k++) spvf_buffer_destroy(t->b[k]);
    spvf_program_destroy(t->program);
    spvf_device_destroy(t->device);
}

static inline spvf_launch launch_of(const bench *t, const char *kernel, const spvf_argument *args,
                                    size_t n) {
    return (spvf_launch){.size = sizeof(spvf_launch),
                         .program = t->program,
                         .kernel = kernel,
                         .range = {.dims = 1, .global = {COUNT}},
                         .args = args,
                         .arg_count = n};
}

static inline spvf_status enqueue_add(const bench *t, spvf_queue *q, int to, int from, int32_t k,
                                      const spvf_wait *wait, spvf_event **out) {
    const spvf_argument args[] = {
        {.buffer = t->b[to]}, {.buffer = t->b[from]}, {.bytes = &k, .size = sizeof k}};
    const spvf_launch what = launch_of(t, "add", args, 3);
    return spvf_queue_launch(q, &what, wait, out);
}

static inline spvf_status enqueue_alone(const bench *t, spvf_queue *q, int to, int from, int32_t k,
                                        spvf_event **out) {
    const spvf_argument args[] = {
        {.buffer = t->b[to]}, {.buffer = t->b[from]}, {.bytes = &k, .size = sizeof k}};
    spvf_launch what = launch_of(t, "add", args, 3);
    what.alone = true;
    return spvf_queue_launch(q, &what, NULL, out);
}

static inline spvf_status enqueue_reverse(const bench *t, spvf_queue *q, int to, int from) {
    const spvf_argument args[] = {{.buffer = t->b[to]}, {.buffer = t->b[from]}};
    const spvf_launch what = launch_of(t, "reverse", args, 2);
    return spvf_queue_launch(q, &what, NULL, NULL);
}

static inline void read_back(bench *t, spvf_queue *q, int from) {
    spvf_event *e;
    cr_assert_eq(spvf_queue_read(q, t->b[from], 0, t->back, BYTES, NULL, &e), SPVF_OK);
    cr_assert_eq(spvf_event_wait(e), SPVF_OK, "%s", messages);
    spvf_event_destroy(e);
}

#endif
