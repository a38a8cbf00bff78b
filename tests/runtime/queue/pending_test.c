/* pending_test.c — commands of a device that runs them later: their events, their order, and how
 * they end; no thread waits meanwhile that has something else to do. */
#include "runtime/devices/template/template.h"
#include "tests/runtime/queue/launches.h"

#include <time.h>

static bench t;

static void set_up(void) { begin_with(&t, template_open, "unordered"); }
static void set_up_in_order(void) { begin_with(&t, template_open, NULL); }

static void tear_down(void) { end(&t); }

TestSuite(pending, .init = set_up, .fini = tear_down);
TestSuite(in_order, .init = set_up_in_order, .fini = tear_down);

static rt_device *base(void) { return t.device->shared.base; }

static void hold_device(void) { template_hold(base(), true); }

static void let_device_go(void) { template_hold(base(), false); }

static int32_t state(const spvf_event *e) { return rt_event_now((rt_event *)(uintptr_t)&e->event); }

/* Until the event is running; commands are submitted by threads of the scheduler. */
static bool comes_to_run(const spvf_event *e) {
    for (int wait = 0; wait < 2000 && state(e) > RT_RUNNING; wait++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return state(e) == RT_RUNNING;
}

/* Until the device has n commands: one that runs may be on its way there. */
static bool come_to_the_device(unsigned n) {
    for (int wait = 0; wait < 2000 && template_facts_of(base()).submissions < n; wait++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return template_facts_of(base()).submissions == n;
}

static void expect_numbers(spvf_queue *q, int buffer, int32_t more) {
    int32_t back[COUNT];
    cr_assert_eq(spvf_queue_read(q, t.b[buffer], 0, back, BYTES, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_finish(q), SPVF_OK, "%s", messages);
    for (int k = 0; k < COUNT; k++) cr_assert_eq(back[k], k + more, "%d: %d", k, back[k]);
}

Test(pending, chain_of_launches) {
    for (int k = 0; k < 8; k++)
        cr_assert_eq(enqueue_add(&t, t.q, k + 1, k, 1, NULL, NULL), SPVF_OK);
    expect_numbers(t.q, 8, 8);
    cr_expect_eq(template_facts_of(base()).submissions, 9);
}

Test(pending, state_while_the_device_is_busy) {
    spvf_event *e;
    spvf_status status;
    hold_device();
    cr_assert_eq(enqueue_add(&t, t.q, 1, 0, 5, NULL, &e), SPVF_OK);
    cr_expect(comes_to_run(e));
    cr_expect_not(spvf_event_ended(e, &status));
    let_device_go();
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    cr_expect(spvf_event_ended(e, &status) && status == SPVF_OK);
    spvf_event_times times = spvf_event_get_times(e);
    cr_expect(times.enqueued <= times.started && times.started <= times.ended);
    spvf_event_destroy(e);
    expect_numbers(t.q, 1, 5);
}

/* The thread that has submitted a command may wait for its end: it does not run it any more. */
Test(pending, the_thread_that_submits_waits) {
    for (int n = 0; n < 200; n++) {
        spvf_event *e;
        cr_assert_eq(enqueue_add(&t, t.q, 1, 0, n, NULL, &e), SPVF_OK);
        cr_assert_eq(spvf_event_wait(e), SPVF_OK);
        spvf_event_destroy(e);
    }
    expect_numbers(t.q, 1, 199);
}

/* More commands than the scheduler has threads. */
Test(pending, independent_commands_are_pending_together) {
    hold_device();
    spvf_event *e[9];
    for (int k = 0; k < 9; k++)
        cr_assert_eq(spvf_queue_copy(t.other, t.b[0], 0, t.b[k + 1], 0, BYTES, NULL, &e[k]),
                     SPVF_OK);
    cr_expect(come_to_the_device(9));
    let_device_go();
    for (int k = 0; k < 9; k++) cr_expect_eq(spvf_event_wait(e[k]), SPVF_OK);
    cr_expect_eq(template_facts_of(base()).most, 9);
    for (int k = 0; k < 9; k++) {
        spvf_event_destroy(e[k]);
        expect_numbers(t.q, k + 1, 0);
    }
}

Test(pending, transfers) {
    int32_t seven = 7, nine = 9, back[COUNT];
    cr_assert_eq(spvf_queue_fill(t.q, t.b[1], 0, BYTES, &seven, 4, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_copy(t.q, t.b[0], 40, t.b[1], 80, 400, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_write(t.q, t.b[1], 0, &nine, 4, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_read(t.q, t.b[1], 0, back, BYTES, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK, "%s", messages);
    for (int k = 0; k < COUNT; k++) {
        int32_t want = k == 0 ? 9 : k >= 20 && k < 120 ? k - 10 : 7;
        cr_assert_eq(back[k], want, "%d: %d", k, back[k]);
    }
}

Test(pending, buffers_have_no_address) {
    cr_expect_null(spvf_buffer_address(t.b[0]));
    spvf_buffer *b;
    int32_t value;
    cr_expect_eq(spvf_buffer_create(t.device, 4, &value, SPVF_USE_HOST, &b), SPVF_ERROR_REFUSED);
}

/* A range that the kernel cannot have is found when it runs. */
Test(pending, failure_comes_later) {
    spvf_event *e, *next;
    const int32_t k = 1;
    const spvf_argument args[] = {
        {.buffer = t.b[1]}, {.buffer = t.b[0]}, {.bytes = &k, .size = sizeof k}};
    spvf_launch what = launch_of(&t, "add", args, 3);
    what.range.local[0] = 7;
    hold_device();
    cr_assert_eq(spvf_queue_launch(t.q, &what, NULL, &e), SPVF_OK);
    const spvf_wait wait = {&e, 1};
    cr_assert_eq(enqueue_add(&t, t.q, 2, 0, 1, &wait, &next), SPVF_OK);
    messages[0] = 0;
    let_device_go();
    cr_expect_eq(spvf_event_wait(e), SPVF_ERROR_DEVICE);
    cr_expect_str_eq(messages, "error: kernel @add: global size 1000 is not a multiple of local "
                               "size 7 in dimension 0\n");
    cr_expect_eq(spvf_event_wait(next), SPVF_ERROR_DEVICE, "what waits for it fails");
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_ERROR_DEVICE);
    spvf_event_destroy(e);
    spvf_event_destroy(next);
    expect_numbers(t.q, 0, 0);
}

static void note(void *user, spvf_status status) { *(spvf_status *)user = status; }

/* Callbacks are called by threads of the scheduler, and not by the device's. */
static _Atomic bool called;
static pthread_t caller;

static void note_thread(void *user, spvf_status status) {
    (void)user;
    (void)status;
    caller = pthread_self();
    called = true;
}

Test(pending, callbacks) {
    spvf_event *e;
    spvf_status status = SPVF_ERROR_INTERNAL;
    hold_device();
    cr_assert_eq(enqueue_add(&t, t.q, 1, 0, 1, NULL, &e), SPVF_OK);
    cr_assert_eq(spvf_event_on_end(e, note, &status), SPVF_OK);
    cr_assert_eq(spvf_event_on_end(e, note_thread, NULL), SPVF_OK);
    cr_expect_eq(status, SPVF_ERROR_INTERNAL);
    let_device_go();
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_OK);
    for (int wait = 0; wait < 2000 && !called; wait++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    cr_expect(called && status == SPVF_OK);
    cr_expect_not(pthread_equal(caller, template_facts_of(base()).thread));
    spvf_event_destroy(e);
}

/* All references are given back while the device still runs the command. */
Test(pending, no_thread_waits) {
    for (int n = 0; n < 100; n++)
        cr_assert_eq(enqueue_add(&t, n % 2 ? t.q : t.other, n % 9 + 1, 0, n, NULL, NULL), SPVF_OK);
}

Test(pending, a_graph_that_is_fused) {
    spvf_graph *g;
    cr_assert_eq(spvf_graph_create(t.device, NULL, &g), SPVF_OK);
    for (int k = 0; k < 4; k++) {
        const int32_t one = 1;
        const spvf_argument args[] = {
            {.buffer = t.b[k + 1]}, {.buffer = t.b[k]}, {.bytes = &one, .size = sizeof one}};
        const spvf_launch what = launch_of(&t, "add", args, 3);
        cr_assert_eq(spvf_graph_launch(g, &what, NULL), SPVF_OK);
    }
    cr_assert_eq(spvf_graph_commit(g), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(g), 1);
    cr_assert_eq(spvf_graph_run(g, t.q, NULL, NULL), SPVF_OK);
    expect_numbers(t.q, 4, 4);
    spvf_graph_destroy(g);
}

/* ---------------------------------------------------------- a device that keeps commands in order */

static unsigned pending_in_time(unsigned want) {
    for (int wait = 0; wait < 2000 && template_pending(base()) < want; wait++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return template_pending(base());
}

/* Each needs what the one before it writes, and all are given to the device at once. */
Test(in_order, a_chain_is_begun_at_once) {
    hold_device();
    for (int k = 0; k < 8; k++)
        cr_assert_eq(enqueue_add(&t, k % 2 ? t.q : t.other, k + 1, k, 1, NULL, NULL), SPVF_OK);
    cr_expect_eq(pending_in_time(8), 8);
    let_device_go();
    expect_numbers(t.q, 8, 8);
}

Test(pending, a_chain_is_begun_one_by_one) {
    for (int k = 0; k < 8; k++)
        cr_assert_eq(enqueue_add(&t, t.q, k + 1, k, 1, NULL, NULL), SPVF_OK);
    expect_numbers(t.q, 8, 8);
    cr_expect_eq(template_facts_of(base()).most, 1);
}

/* The program writes what the next command reads. */
static spvf_status add_one(void *user) {
    ++*(int32_t *)user;
    return SPVF_OK;
}

Test(in_order, functions_of_the_host_wait_for_ends) {
    int32_t first = 0;
    hold_device();
    cr_assert_eq(enqueue_add(&t, t.q, 1, 0, 6, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_read(t.q, t.b[1], 0, &first, 4, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_host(t.q, add_one, &first, NULL, 0, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_write(t.q, t.b[1], 0, &first, 4, NULL, NULL), SPVF_OK);
    cr_assert_eq(enqueue_add(&t, t.q, 2, 1, 0, NULL, NULL), SPVF_OK);
    cr_expect_eq(pending_in_time(2), 2);
    cr_expect_eq(first, 0);
    let_device_go();
    cr_assert_eq(spvf_queue_read(t.q, t.b[2], 0, &first, 4, NULL, NULL), SPVF_OK);
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_OK);
    cr_expect_eq(first, 7);
}

/* What names an event in its wait list fails with it, so it cannot begin before that has ended. */
Test(in_order, what_may_fail_with_another_waits_for_its_end) {
    spvf_event *e, *next;
    hold_device();
    cr_assert_eq(enqueue_add(&t, t.other, 1, 0, 1, NULL, &e), SPVF_OK);
    const spvf_wait wait = {&e, 1};
    cr_assert_eq(enqueue_add(&t, t.other, 3, 2, 1, &wait, &next), SPVF_OK);
    cr_expect(comes_to_run(e));
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    cr_expect_gt(state(next), RT_RUNNING);
    let_device_go();
    cr_expect_eq(spvf_event_wait(next), SPVF_OK);
    spvf_event_destroy(e);
    spvf_event_destroy(next);
}

/* When an event has ended, all before it in the queue have. */
Test(in_order, events_end_in_order) {
    enum { EVENTS = 100 };
    for (int round = 0; round < 20; round++) {
        spvf_event *e[EVENTS];
        hold_device();
        for (int k = 0; k < EVENTS; k++)
            cr_assert_eq(enqueue_add(&t, t.q, 1 + k % 2, 2 - k % 2, 0, NULL, &e[k]), SPVF_OK);
        let_device_go();
        for (int k = EVENTS - 1; k >= 0; k--) {
            spvf_status status;
            if (k == EVENTS - 1 || k % 7 == 0) cr_expect_eq(spvf_event_wait(e[k]), SPVF_OK);
            cr_expect(spvf_event_ended(e[k], &status), "%d", k);
            spvf_event_destroy(e[k]);
        }
    }
}

/* A command that fails when it is given to the device ends after those that were begun before. */
Test(in_order, a_failure_ends_in_its_turn) {
    spvf_event *e[3];
    const int32_t k = 1;
    const spvf_argument args[] = {
        {.buffer = t.b[1]}, {.buffer = t.b[0]}, {.bytes = &k, .size = sizeof k}};
    spvf_launch wrong = launch_of(&t, "add", args, 3);
    wrong.range.local[0] = 7;
    hold_device();
    cr_assert_eq(enqueue_add(&t, t.q, 1, 0, 1, NULL, &e[0]), SPVF_OK);
    cr_assert_eq(spvf_queue_launch(t.q, &wrong, NULL, &e[1]), SPVF_OK);
    cr_assert_eq(enqueue_add(&t, t.q, 2, 1, 1, NULL, &e[2]), SPVF_OK);
    cr_expect(comes_to_run(e[2]));
    for (int n = 0; n < 3; n++) cr_expect_eq(state(e[n]), RT_RUNNING);
    let_device_go();
    cr_expect_eq(spvf_event_wait(e[2]), SPVF_OK);
    cr_expect_eq(state(e[0]), RT_COMPLETE);
    cr_expect_lt(state(e[1]), RT_COMPLETE);
    for (int n = 0; n < 3; n++) spvf_event_destroy(e[n]);
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_ERROR_DEVICE);
    expect_numbers(t.q, 2, 2);
}

Test(in_order, a_refusal_ends_in_its_turn) {
    spvf_event *first, *refused;
    hold_device();
    cr_assert_eq(enqueue_add(&t, t.q, 1, 0, 1, NULL, &first), SPVF_OK);
    cr_expect(come_to_the_device(1));
    template_refuse(base(), true);
    cr_assert_eq(enqueue_add(&t, t.q, 2, 1, 1, NULL, &refused), SPVF_OK);
    cr_expect(comes_to_run(refused));
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    cr_expect_eq(state(refused), RT_RUNNING);
    let_device_go();
    cr_expect_eq(spvf_event_wait(refused), SPVF_ERROR_DEVICE);
    cr_expect_eq(state(first), RT_COMPLETE);
    spvf_event_destroy(first);
    spvf_event_destroy(refused);
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_ERROR_DEVICE);
}

/* ------------------------------------------------------------------- one command, and its thread */

static void launch_and_read(void *arg) {
    rt_device *d = base();
    int32_t *back = arg;
    rt_memory *m = d->driver->allocate(d, "m", 12, (int32_t[]){1, 2, 3});
    const rt_fill fill = {.to = {.memory = m, .offset = 4},
                          .size = 8,
                          .pattern = (unsigned char[]){1, 0},
                          .pattern_size = 2};
    rt_device_run(d, &(rt_command){.kind = RT_COMMAND_FILL, .fill = fill});
    rt_device_read(d, m, 0, back, 12);
    d->driver->release(d, m);
}

static void read_too_much(void *arg) {
    rt_device *d = base();
    rt_memory *m = d->driver->allocate(d, "m", 4, NULL);
    rt_device_read(d, m, 0, arg, 8);
}

Test(pending, commands_that_are_waited_for) {
    int32_t back[3];
    cr_assert_eq(dev_run(t.device, launch_and_read, back), SPVF_OK, "%s", messages);
    cr_expect(back[0] == 1 && back[1] == 0x10001 && back[2] == 0x10001);
    cr_expect_eq(dev_run(t.device, read_too_much, back), SPVF_ERROR_DEVICE);
}
