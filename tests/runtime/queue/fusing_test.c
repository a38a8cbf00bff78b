/* fusing_test.c — queues that fuse: what is kept, what cancels it and with which words, and that
 * the results are always those of one launch after the other.
 */
#include "tests/runtime/queue/launches.h"

static bench t;

static void set_up(void) {
    begin(&t);
    cr_assert_eq(spvf_queue_start_fusion(t.q, NULL), SPVF_OK);
    messages[0] = 0;
}

static void tear_down(void) { end(&t); }

TestSuite(fusing, .init = set_up, .fini = tear_down);

static spvf_event *add(int to, int from, int32_t k) {
    spvf_event *e;
    cr_assert_eq(enqueue_add(&t, t.q, to, from, k, NULL, &e), SPVF_OK);
    return e;
}

static void expect_result(int buffer, int32_t more) {
    read_back(&t, t.q, buffer);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + more);
}

static size_t kernels_of_last(void) { return spvf_graph_kernel_count(spvf_queue_last_fusion(t.q)); }

static void expect_cancelled(const char *cause) {
    char text[200];
    snprintf(text, sizeof text, "warning: fusion is cancelled: %s\n", cause);
    cr_expect_str_eq(messages, text);
    cr_expect_not(spvf_queue_is_fusing(t.q));
    cr_expect_eq(kernels_of_last(), 2, "one by one");
}

Test(fusing, two_launches_become_one) {
    spvf_event *all, *first = add(1, 0, 1), *second = add(2, 1, 2);
    cr_expect_eq(first, second, "that of all");
    cr_expect_not(spvf_event_ended(first, NULL));
    cr_expect(spvf_queue_is_fusing(t.q));
    cr_expect_eq(spvf_queue_complete_fusion(t.q, &all), SPVF_OK);
    cr_expect_eq(all, first);
    cr_expect_not(spvf_queue_is_fusing(t.q));
    cr_expect_eq(kernels_of_last(), 1);
    cr_expect_eq(spvf_event_wait(all), SPVF_OK);
    expect_result(2, 3);
    cr_expect_str_eq(messages, "");
    for (int k = 0; k < 3; k++) spvf_event_destroy(all);
}

Test(fusing, its_event_lasts_until_the_next_one) {
    spvf_event *one, *two, *e = add(1, 0, 1);
    spvf_event_destroy(e);
    cr_expect_eq(spvf_queue_complete_fusion(t.q, &one), SPVF_OK);
    cr_expect_eq(spvf_queue_complete_fusion(t.q, &two), SPVF_OK);
    cr_expect_eq(one, two);
    cr_expect_eq(spvf_event_wait(one), SPVF_OK);
    spvf_event_destroy(one);
    spvf_event_destroy(two);
    cr_expect_eq(spvf_queue_start_fusion(t.q, NULL), SPVF_OK);
    cr_expect_eq(spvf_queue_complete_fusion(t.q, &two), SPVF_OK, "of nothing");
    cr_expect_eq(spvf_event_wait(two), SPVF_OK);
    spvf_event_destroy(two);
}

Test(fusing, what_was_never_started) {
    spvf_queue *q;
    cr_assert_eq(spvf_queue_create(t.device, NULL, &q), SPVF_OK);
    cr_expect_eq(spvf_queue_cancel_fusion(q), SPVF_OK);
    cr_expect_str_eq(messages, "warning: there is no fusion to be cancelled\n");
    spvf_queue_destroy(q);
}

Test(fusing, cancelled_by_the_program) {
    spvf_event *e = add(1, 0, 1), *f = add(2, 1, 1), *all;
    cr_expect_eq(spvf_queue_cancel_fusion(t.q), SPVF_OK);
    cr_expect_str_eq(messages, "");
    cr_expect_eq(kernels_of_last(), 2);
    cr_expect_eq(spvf_queue_complete_fusion(t.q, &all), SPVF_OK, "also afterwards");
    cr_expect_eq(spvf_event_wait(all), SPVF_OK);
    expect_result(2, 2);
    spvf_event_destroy(e);
    spvf_event_destroy(f);
    spvf_event_destroy(all);
}

Test(fusing, a_wait_for_the_queue) {
    spvf_event_destroy(add(1, 0, 1));
    spvf_event_destroy(add(2, 1, 1));
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_OK);
    expect_cancelled("the program waits for the queue");
    expect_result(2, 2);
}

Test(fusing, a_wait_for_a_launch) {
    spvf_event *e = add(1, 0, 1);
    spvf_event_destroy(add(2, 1, 1));
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    expect_cancelled("the program waits for the event of a launch");
    expect_result(2, 2);
    spvf_event_destroy(e);
}

Test(fusing, a_command_that_uses_a_buffer) {
    spvf_event_destroy(add(1, 0, 1));
    spvf_event_destroy(add(2, 1, 1));
    read_back(&t, t.other, 2);
    expect_cancelled("a command uses a buffer of what is being fused");
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 2);
}

Test(fusing, a_copy_on_the_same_queue) {
    spvf_event_destroy(add(1, 0, 1));
    spvf_event_destroy(add(2, 1, 1));
    cr_expect_eq(spvf_queue_copy(t.q, t.b[2], 0, t.b[3], 0, BYTES, NULL, NULL), SPVF_OK);
    expect_cancelled("a command uses a buffer of what is being fused");
    expect_result(3, 2);
}

Test(fusing, a_command_that_waits_for_it) {
    spvf_event *e = add(1, 0, 1);
    spvf_event_destroy(add(2, 1, 1));
    const spvf_wait wait = {&e, 1};
    cr_expect_eq(spvf_queue_marker(t.other, &wait, NULL), SPVF_OK);
    expect_cancelled("a command waits for what is being fused");
    spvf_event_destroy(e);
    expect_result(2, 2);
}

Test(fusing, a_buffer_that_is_destroyed) {
    spvf_event_destroy(add(1, 0, 1));
    spvf_event_destroy(add(2, 1, 1));
    spvf_buffer_destroy(t.b[1]);
    t.b[1] = NULL;
    expect_cancelled("a buffer of what is being fused is destroyed");
    expect_result(2, 2);
}

Test(fusing, the_address_of_a_buffer) {
    spvf_event_destroy(add(1, 0, 1));
    spvf_event_destroy(add(2, 1, 1));
    const int32_t *at = spvf_buffer_address(t.b[2]);
    cr_assert_not_null(at);
    expect_cancelled("the program wants the address of a buffer");
    expect_result(2, 2);
    cr_expect_arr_eq(at, t.back, sizeof t.back);
}

Test(fusing, a_queue_that_is_destroyed) {
    spvf_event *e = add(1, 0, 1);
    spvf_queue_destroy(t.q);
    t.q = NULL;
    cr_expect_str_eq(messages, "warning: fusion is cancelled: the queue is destroyed\n");
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    read_back(&t, t.other, 1);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 1);
    spvf_event_destroy(e);
}

/* Each would wait for the other; the second one to ask cancels the first. */
Test(fusing, two_queues_that_need_each_other) {
    spvf_event *a, *b;
    cr_assert_eq(spvf_queue_start_fusion(t.other, NULL), SPVF_OK);
    a = add(1, 0, 1);
    const spvf_wait on_a = {&a, 1};
    cr_expect_eq(enqueue_add(&t, t.other, 5, 4, 1, &on_a, &b), SPVF_OK);
    cr_expect_str_eq(messages,
                     "warning: fusion is cancelled: a launch that another queue fuses needs it\n");
    cr_expect_not(spvf_queue_is_fusing(t.q));
    cr_expect(spvf_queue_is_fusing(t.other));
    cr_expect_eq(spvf_event_wait(a), SPVF_OK);
    cr_expect_eq(spvf_queue_complete_fusion(t.other, NULL), SPVF_OK);
    cr_expect_eq(spvf_event_wait(b), SPVF_OK);
    spvf_event_destroy(a);
    spvf_event_destroy(b);
}

Test(fusing, what_has_nothing_to_do_with_it_goes_its_way) {
    spvf_event *e;
    spvf_event_destroy(add(1, 0, 1));
    cr_expect_eq(spvf_queue_fill(t.q, t.b[6], 0, BYTES, "a", 1, NULL, &e), SPVF_OK);
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    cr_expect(spvf_queue_is_fusing(t.q));
    spvf_event_destroy(e);
    cr_expect_eq(enqueue_alone(&t, t.q, 8, 7, 1, &e), SPVF_OK);
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    cr_expect(spvf_queue_is_fusing(t.q));
    spvf_event_destroy(e);
    cr_expect_eq(spvf_queue_complete_fusion(t.q, NULL), SPVF_OK);
    cr_expect_str_eq(messages, "");
    expect_result(1, 1);
}

/* What it waits for outside stays: nothing runs before. */
Test(fusing, events_from_outside) {
    spvf_event *gate, *e, *all;
    cr_assert_eq(spvf_event_create(t.device, &gate), SPVF_OK);
    const spvf_wait on_gate = {&gate, 1};
    spvf_event_destroy(add(1, 0, 1));
    cr_expect_eq(enqueue_add(&t, t.q, 2, 1, 1, &on_gate, &e), SPVF_OK);
    cr_expect_eq(spvf_queue_complete_fusion(t.q, &all), SPVF_OK);
    cr_expect_eq(kernels_of_last(), 1);
    cr_expect_not(spvf_event_ended(all, NULL));
    cr_expect_eq(spvf_event_end(gate, SPVF_OK), SPVF_OK);
    cr_expect_eq(spvf_event_wait(all), SPVF_OK);
    expect_result(2, 2);
    spvf_event_destroy(gate);
    spvf_event_destroy(e);
    spvf_event_destroy(all);
}

Test(fusing, what_is_refused_runs_one_by_one_with_a_warning) {
    spvf_event *all;
    spvf_event_destroy(add(1, 0, 1));
    cr_assert_eq(enqueue_reverse(&t, t.q, 2, 1), SPVF_OK);
    cr_expect_eq(spvf_queue_complete_fusion(t.q, &all), SPVF_OK);
    cr_expect_eq(kernels_of_last(), 2);
    cr_expect(strstr(messages, "warning: not fused: work-groups depend on each other"), "%s",
              messages);
    cr_expect(strstr(messages, "[fuse.grid]\n"));
    cr_expect_eq(spvf_event_wait(all), SPVF_OK);
    spvf_event_destroy(all);
    read_back(&t, t.q, 2);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], COUNT - n);
}

/* The devices have nothing in common but the event, each its own lock. */
Test(fusing, events_of_other_devices) {
    spvf_context *c = new_context();
    spvf_device *check;
    spvf_queue *q;
    spvf_event *e, *marker;
    cr_assert_eq(spvf_device_open(c, "check", &check), SPVF_OK);
    cr_assert_eq(spvf_queue_create(check, NULL, &q), SPVF_OK);
    cr_assert_eq(spvf_queue_start_fusion(q, NULL), SPVF_OK);
    e = add(1, 0, 1);
    cr_expect_eq(spvf_queue_marker(q, &(spvf_wait){&e, 1}, &marker), SPVF_OK);
    cr_expect_str_eq(messages, "warning: fusion is cancelled: a command waits for what is being "
                               "fused\n");
    cr_expect_not(spvf_queue_is_fusing(t.q));
    cr_expect(spvf_queue_is_fusing(q));
    cr_expect_eq(spvf_event_wait(marker), SPVF_OK);
    cr_expect(spvf_event_ended(e, NULL));
    spvf_event_destroy(e);
    spvf_event_destroy(marker);
    spvf_queue_destroy(q);
    spvf_device_destroy(check);
    spvf_context_destroy(c);
    expect_result(1, 1);
}
