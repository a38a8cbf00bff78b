/* spvf_queue_test.c — spvfuse_queue.h as programs use it: on device cpu, and on device check, which
 * has memory of its own and runs one launch at a time. */
#include "runtime/spvfuse_queue.h"

#include "tests/runtime/queue/add_kernel.h"
#include "tests/runtime/bench.h"

#include <criterion/parameterized.h>
#include <stdatomic.h>
#include <time.h>

static const char kernels[] = "target 64\n" ADD_KERNEL LAST_KERNEL;

enum { COUNT = 1000, BYTES = COUNT * 4 };

typedef struct {
    spvf_device *device;
    spvf_program *program;
    spvf_buffer *a, *b;
    spvf_queue *q, *other;
    int32_t data[COUNT], back[COUNT];
} bench;

/* What it was made from is gone before anything runs. */
static void begin(bench *t, const char *device) {
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, kernels);
    *t = (bench){.device = NULL};
    for (int k = 0; k < COUNT; k++) t->data[k] = k;
    cr_assert_eq(spvf_device_open(c, device, &t->device), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_program_create(t->device, m, &t->program), SPVF_OK, "%s", messages);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    cr_assert_eq(bytes_held, 0);
    cr_assert_eq(spvf_buffer_create(t->device, BYTES, t->data, 0, &t->a), SPVF_OK);
    cr_assert_eq(spvf_buffer_create(t->device, BYTES, NULL, 0, &t->b), SPVF_OK);
    cr_assert_eq(spvf_queue_create(t->device, NULL, &t->q), SPVF_OK);
    const spvf_queue_options o = {.size = sizeof o, .out_of_order = true};
    cr_assert_eq(spvf_queue_create(t->device, &o, &t->other), SPVF_OK);
}

/* In an order that leaves references to commands only. */
static void end(bench *t) {
    spvf_device_destroy(t->device);
    spvf_program_destroy(t->program);
    spvf_buffer_destroy(t->a);
    spvf_buffer_destroy(t->b);
    spvf_queue_destroy(t->q);
    spvf_queue_destroy(t->other);
}

/* to[k] = from[k] + more, in work-groups of `local` items; 0: of any size. */
typedef struct {
    spvf_buffer *to, *from;
    int32_t more;
    uint64_t local;
} addition;

static spvf_status launch(bench *t, spvf_queue *q, const addition *a, const spvf_wait *wait,
                          spvf_event **out) {
    const spvf_argument args[] = {
        {.buffer = a->to}, {.buffer = a->from}, {.bytes = &a->more, .size = sizeof a->more}};
    const spvf_launch what = {.size = sizeof what,
                              .program = t->program,
                              .kernel = "add",
                              .range = {.dims = 1, .global = {COUNT}, .local = {a->local}},
                              .args = args,
                              .arg_count = 3};
    return spvf_queue_launch(q, &what, wait, out);
}

static spvf_status add(bench *t, spvf_queue *q, spvf_buffer *to, spvf_buffer *from, int32_t more,
                       const spvf_wait *wait, spvf_event **out) {
    return launch(t, q, &(addition){to, from, more, 0}, wait, out);
}

/* A launch that fails: the local size does not divide the global one. */
static spvf_status add_wrongly(bench *t, spvf_queue *q, spvf_event **out) {
    return launch(t, q, &(addition){t->b, t->a, 1, 7}, NULL, out);
}

static void expect_back(bench *t, int32_t more) {
    for (int k = 0; k < COUNT; k++) cr_assert_eq(t->back[k], k + more, "element %d", k);
}

static char names[2][8] = {"cpu", "check"};

ParameterizedTestParameters(spvf_queue, a_chain) { return cr_make_param_array(char[8], names, 2); }

/* Over two queues, one of them out of order: the buffers say what comes first. */
ParameterizedTest(char (*device)[8], spvf_queue, a_chain) {
    bench t;
    spvf_event *e;
    begin(&t, *device);
    for (int k = 0; k < 10; k++) {
        cr_assert_eq(add(&t, k % 3 ? t.q : t.other, t.b, t.a, 1, NULL, NULL), SPVF_OK);
        cr_assert_eq(add(&t, t.other, t.a, t.b, 1, NULL, NULL), SPVF_OK);
    }
    cr_assert_eq(spvf_queue_read(t.other, t.a, 0, t.back, BYTES, NULL, &e), SPVF_OK);
    cr_assert_eq(spvf_event_wait(e), SPVF_OK, "%s", messages);
    expect_back(&t, 20);
    spvf_event_times times = spvf_event_get_times(e);
    cr_expect(times.enqueued && times.enqueued <= times.started && times.started <= times.ended);
    spvf_event_destroy(e);
    end(&t);
}

ParameterizedTestParameters(spvf_queue, transfers) {
    return cr_make_param_array(char[8], names, 2);
}

ParameterizedTest(char (*device)[8], spvf_queue, transfers) {
    bench t;
    const int16_t pattern[3] = {1, 2, 3};
    int16_t filled[COUNT * 2];
    begin(&t, *device);
    cr_expect_eq(spvf_queue_fill(t.q, t.b, 4, 600, pattern, sizeof pattern, NULL, NULL), SPVF_OK);
    cr_expect_eq(spvf_queue_write(t.q, t.b, 0, t.data, 4, NULL, NULL), SPVF_OK);
    cr_expect_eq(spvf_queue_copy(t.q, t.a, 604, t.b, 604, BYTES - 604, NULL, NULL), SPVF_OK);
    cr_expect_eq(spvf_queue_read(t.q, t.b, 0, filled, BYTES, NULL, NULL), SPVF_OK);
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_OK);
    cr_expect_eq(memcmp(filled, t.data, 4), 0);
    for (int k = 0; k < 300; k++) cr_expect_eq(filled[2 + k], k % 3 + 1);
    cr_expect_eq(memcmp(filled + 302, (char *)t.data + 604, BYTES - 604), 0);
    end(&t);
}

ParameterizedTestParameters(spvf_queue, local_memory) {
    return cr_make_param_array(char[8], names, 2);
}

ParameterizedTest(char (*device)[8], spvf_queue, local_memory) {
    bench t;
    begin(&t, *device);
    const spvf_argument args[] = {{.buffer = t.b}, {.size = 40}};
    const spvf_launch what = {.size = sizeof what,
                              .program = t.program,
                              .kernel = "last",
                              .range = {.dims = 1, .global = {10}, .local = {10}},
                              .args = args,
                              .arg_count = 2};
    cr_expect_eq(spvf_queue_launch(t.q, &what, NULL, NULL), SPVF_OK);
    cr_expect_eq(spvf_queue_read(t.q, t.b, 0, t.back, 40, NULL, NULL), SPVF_OK);
    spvf_queue_finish(t.q);
    for (int k = 0; k < 10; k++) cr_expect_eq(t.back[k], 9 - k);
    end(&t);
}

/* ----------------------------------------------------------------------------------- device cpu */

Test(spvf_queue, memory_of_the_user_and_offsets) {
    bench t;
    spvf_buffer *mine;
    int32_t here[COUNT + 5] = {0};
    begin(&t, "cpu");
    cr_assert_eq(spvf_buffer_create(t.device, sizeof here, here, SPVF_USE_HOST, &mine), SPVF_OK);
    cr_expect_eq(spvf_buffer_address(mine), here);
    cr_expect_eq(spvf_buffer_size(mine), sizeof here);
    int32_t k = 7;
    const spvf_argument args[] = {
        {.buffer = mine, .offset = 20}, {.buffer = t.a}, {.bytes = &k, .size = sizeof k}};
    const spvf_launch what = {.size = sizeof what,
                              .program = t.program,
                              .kernel = "add",
                              .range = {.dims = 1, .global = {COUNT}},
                              .args = args,
                              .arg_count = 3};
    cr_assert_eq(spvf_queue_launch(t.q, &what, NULL, NULL), SPVF_OK);
    k = 0; /* it was copied */
    spvf_queue_finish(t.q);
    for (int n = 0; n < COUNT + 5; n++) cr_assert_eq(here[n], n < 5 ? 0 : n - 5 + 7);
    spvf_buffer_destroy(mine);
    end(&t);
}

static _Atomic int calls;

static void note_end(void *user, spvf_status status) {
    *(spvf_status *)user = status;
    calls++;
}

static spvf_status fail(void *user) {
    (void)user;
    return SPVF_ERROR_IO;
}

Test(spvf_queue, events_of_the_program_and_failures) {
    bench t;
    spvf_event *gate, *bad, *after, *free_one;
    spvf_status told = SPVF_OK, status;
    begin(&t, "cpu");
    cr_assert_eq(spvf_event_create(t.device, &gate), SPVF_OK);
    const spvf_wait on_gate = {&gate, 1};
    const spvf_use use = {t.b, true};
    cr_assert_eq(spvf_queue_host(t.other, fail, NULL, &use, 1, &on_gate, &bad), SPVF_OK);
    const spvf_wait on_bad = {&bad, 1};
    cr_assert_eq(add(&t, t.other, t.b, t.a, 1, &on_bad, &after), SPVF_OK);
    cr_assert_eq(add(&t, t.other, t.b, t.a, 5, NULL, &free_one), SPVF_OK);
    cr_assert_eq(spvf_event_on_end(after, note_end, &told), SPVF_OK);
    cr_expect_not(spvf_event_ended(bad, NULL));
    cr_expect_not(spvf_event_ended(free_one, NULL), "it uses the same buffer");
    cr_assert_eq(spvf_event_end(gate, SPVF_OK), SPVF_OK);
    cr_expect_eq(spvf_event_end(gate, SPVF_OK), SPVF_ERROR_ARGUMENT, "it has ended");
    cr_expect_eq(spvf_event_end(bad, SPVF_OK), SPVF_ERROR_ARGUMENT, "not the program's");
    cr_expect_eq(spvf_event_wait(bad), SPVF_ERROR_IO);
    cr_expect_eq(spvf_event_wait(after), SPVF_ERROR_DEVICE);
    cr_expect_eq(spvf_event_wait(free_one), SPVF_OK, "buffers say when, not whether");
    cr_expect(spvf_event_ended(after, &status) && status == SPVF_ERROR_DEVICE);
    spvf_queue_read(t.other, t.b, 0, t.back, BYTES, NULL, NULL);
    spvf_queue_finish(t.other);
    expect_back(&t, 5);
    while (!calls) nanosleep(&(struct timespec){0, 100000}, NULL);
    cr_expect_eq(told, SPVF_ERROR_DEVICE);
    spvf_event *all[] = {gate, bad, after, free_one};
    for (int k = 0; k < 4; k++) spvf_event_destroy(all[k]);
    end(&t);
}

/* Until it is told that it may end, and a while more. */
static _Atomic bool may_end;

static spvf_status rest(void *user) {
    while (!may_end) nanosleep(&(struct timespec){0, 100000}, NULL);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    atomic_store((_Atomic int *)user, 1);
    return SPVF_OK;
}

Test(spvf_queue, barriers_and_markers) {
    bench t;
    _Atomic int rested = 0;
    spvf_event *marker, *e;
    begin(&t, "cpu");
    cr_assert_eq(spvf_queue_host(t.other, rest, &rested, NULL, 0, NULL, NULL), SPVF_OK);
    cr_assert_eq(add(&t, t.other, t.b, t.a, 1, NULL, &e), SPVF_OK);
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    cr_expect_eq(rested, 0, "nothing orders them");
    may_end = true;
    spvf_event_destroy(e);
    cr_assert_eq(spvf_queue_barrier(t.other, NULL, NULL), SPVF_OK);
    cr_assert_eq(add(&t, t.other, t.b, t.a, 1, NULL, &e), SPVF_OK);
    cr_assert_eq(spvf_queue_marker(t.other, NULL, &marker), SPVF_OK);
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    cr_expect_eq(rested, 1);
    cr_expect_eq(spvf_event_wait(marker), SPVF_OK);
    spvf_event_destroy(e);
    spvf_event_destroy(marker);
    end(&t);
}

Test(spvf_queue, a_queue_that_is_destroyed_has_done_its_work) {
    bench t;
    _Atomic int rested = 0;
    spvf_queue *q;
    begin(&t, "cpu");
    spvf_queue_create(t.device, NULL, &q);
    may_end = true;
    spvf_queue_host(q, rest, &rested, NULL, 0, NULL, NULL);
    spvf_queue_destroy(q);
    cr_expect_eq(rested, 1);
    end(&t);
}

/* Each failure is told once; the first one is that of the first command. */
Test(spvf_queue, queues_remember_failures) {
    bench t;
    spvf_event *gate, *e;
    begin(&t, "cpu");
    cr_expect_eq(spvf_queue_finish(t.other), SPVF_OK, "nothing was enqueued");
    cr_assert_eq(spvf_event_create(t.device, &gate), SPVF_OK);
    cr_assert_eq(spvf_queue_host(t.other, fail, NULL, NULL, 0, &(spvf_wait){&gate, 1}, NULL),
                 SPVF_OK);
    cr_assert_eq(add_wrongly(&t, t.other, &e), SPVF_OK);
    cr_expect_eq(spvf_event_wait(e), SPVF_ERROR_DEVICE, "it ends first");
    cr_expect_eq(spvf_event_end(gate, SPVF_OK), SPVF_OK);
    cr_expect_eq(spvf_queue_finish(t.other), SPVF_ERROR_IO);
    cr_expect_eq(spvf_queue_finish(t.other), SPVF_OK, "it was told");
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_OK, "it was another queue");
    spvf_event_destroy(e);
    spvf_event_destroy(gate);
    end(&t);
}

/* Elements 0 to 999 of half the memory: it runs, is reported, and has failed. */
Test(spvf_queue, reports_are_failures) {
    bench t;
    spvf_buffer *half;
    spvf_event *e;
    begin(&t, "check");
    cr_assert_eq(spvf_buffer_create(t.device, BYTES / 2, NULL, 0, &half), SPVF_OK);
    cr_assert_eq(add(&t, t.q, half, t.a, 1, NULL, &e), SPVF_OK);
    cr_expect_eq(spvf_event_wait(e), SPVF_ERROR_INPUT);
    cr_expect(strstr(messages, "out of bounds"), "%s", messages);
    cr_expect_eq(add(&t, t.q, t.b, t.a, 1, NULL, NULL), SPVF_OK);
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_ERROR_INPUT);
    cr_expect_eq(add(&t, t.q, t.b, t.a, 1, NULL, NULL), SPVF_OK);
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_OK, "what was reported before does not count");
    spvf_queue_read(t.q, half, 0, t.back, BYTES / 2, NULL, NULL);
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_OK);
    for (int k = 0; k < COUNT / 2; k++) cr_assert_eq(t.back[k], k + 1);
    spvf_event_destroy(e);
    spvf_buffer_destroy(half);
    end(&t);
}

Test(spvf_queue, a_launch_that_fails_says_why) {
    bench t;
    spvf_event *e;
    begin(&t, "cpu");
    cr_assert_eq(add_wrongly(&t, t.q, &e), SPVF_OK);
    cr_expect_eq(spvf_event_wait(e), SPVF_ERROR_DEVICE);
    cr_expect_str_eq(messages, "error: kernel @add: global size 1000 is not a multiple of local "
                               "size 7 in dimension 0\n");
    spvf_event_destroy(e);
    end(&t);
}
