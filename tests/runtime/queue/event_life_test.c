/* event_life_test.c — events of spvfuse_queue.h: destroyed before, while and after their commands
 * run, held when all else has been destroyed, and callbacks that destroy, enqueue and wait.
 */
#include "tests/runtime/queue/launches.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

static bench t;

static void set_up(void) { begin(&t); }

static void tear_down(void) { end(&t); }

TestSuite(event_life, .init = set_up, .fini = tear_down);

static _Atomic int runs, calls;

static void wait_for(_Atomic int *count, int wanted) {
    for (int wait = 0; wait < 5000 && *count < wanted; wait++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    cr_assert_eq(*count, wanted);
}

static spvf_event *new_gate(void) {
    spvf_event *e;
    cr_assert_eq(spvf_event_create(t.device, &e), SPVF_OK);
    return e;
}

static void open_gate(spvf_event *gate) {
    cr_assert_eq(spvf_event_end(gate, SPVF_OK), SPVF_OK);
    spvf_event_destroy(gate);
}

static spvf_status count_run(void *user) {
    (void)user;
    runs++;
    return SPVF_OK;
}

/* A command of the queue that waits for an event, or NULL. */
static spvf_event *call_after(spvf_queue *q, spvf_event *gate) {
    spvf_event *e;
    const spvf_wait wait = {&gate, gate != NULL};
    cr_assert_eq(spvf_queue_host(q, count_run, NULL, NULL, 0, &wait, &e), SPVF_OK);
    return e;
}

/* ------------------------------------------------------------------------------------ destroyed */

Test(event_life, destroyed_before) {
    spvf_event *gate = new_gate();
    spvf_event_destroy(call_after(t.q, gate));
    spvf_event_destroy(call_after(t.other, gate));
    cr_expect_eq(runs, 0);
    open_gate(gate);
    spvf_queue_finish(t.q);
    spvf_queue_finish(t.other);
    cr_expect_eq(runs, 2);
}

static sem_t started, go_on;

static spvf_status hold_up(void *user) {
    (void)user;
    sem_post(&started);
    sem_wait(&go_on);
    return SPVF_OK;
}

Test(event_life, destroyed_while) {
    spvf_event *e;
    sem_init(&started, 0, 0);
    sem_init(&go_on, 0, 0);
    cr_assert_eq(spvf_queue_host(t.q, hold_up, NULL, NULL, 0, NULL, &e), SPVF_OK);
    spvf_event *after = call_after(t.other, e);
    sem_wait(&started);
    spvf_event_destroy(e);
    spvf_event_destroy(after);
    sem_post(&go_on);
    spvf_queue_finish(t.other);
    cr_expect_eq(runs, 1);
}

Test(event_life, destroyed_after) {
    spvf_event *e = call_after(t.q, NULL);
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    spvf_event_destroy(e);
    cr_expect_eq(runs, 1);
}

/* An event that nothing can end any more has failed. */
Test(event_life, a_gate_that_is_destroyed) {
    spvf_event *gate = new_gate(), *e = call_after(t.q, gate);
    spvf_event_destroy(gate);
    cr_expect_eq(spvf_event_wait(e), SPVF_ERROR_DEVICE);
    spvf_event_destroy(e);
    cr_expect_eq(runs, 0);
}

/* ----------------------------------------------------------------------------------------- held */

static void note_end(void *user, spvf_status status) {
    *(spvf_status *)user = status;
    calls++;
}

/* Queue, buffers, program and device are gone, the launch has yet to run or has run. */
static void hold_alone(bool late) {
    bench own;
    spvf_event *e, *gate = new_gate();
    spvf_status told = SPVF_ERROR_INTERNAL, status = told;
    begin(&own);
    if (late) spvf_queue_host(own.other, hold_up, NULL, NULL, 0, NULL, NULL);
    cr_assert_eq(enqueue_add(&own, own.q, 1, 0, 1, NULL, &e), SPVF_OK);
    if (late) sem_post(&go_on);
    end(&own);
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    cr_expect(spvf_event_ended(e, &status) && status == SPVF_OK);
    spvf_event_times times = spvf_event_get_times(e);
    cr_expect(times.enqueued && times.enqueued <= times.started && times.started <= times.ended);
    cr_expect_eq(spvf_event_on_end(e, note_end, &told), SPVF_OK);
    cr_expect_eq(told, SPVF_OK);
    spvf_event_destroy(e);
    open_gate(gate);
}

Test(event_life, held_alone) {
    sem_init(&started, 0, 0);
    sem_init(&go_on, 0, 0);
    hold_alone(false);
    hold_alone(true);
}

/* An event of the program keeps its device; what waits for it on another device waits. */
Test(event_life, a_gate_alone) {
    bench own;
    spvf_event *gate;
    begin(&own);
    cr_assert_eq(spvf_event_create(own.device, &gate), SPVF_OK);
    end(&own);
    spvf_event *e = call_after(t.q, gate);
    open_gate(gate);
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    spvf_event_destroy(e);
}

/* ------------------------------------------------------------------------------------ callbacks */

static void destroy_event(void *user, spvf_status status) {
    cr_expect_eq(status, SPVF_OK);
    spvf_event_destroy(user);
    calls++;
}

static void only_count(void *user, spvf_status status) {
    (void)user;
    cr_expect_eq(status, SPVF_OK);
    calls++;
}

/* The first callback destroys it, others follow. */
static void destroy_in_callback(spvf_event *e) {
    calls = 0;
    cr_assert_eq(spvf_event_on_end(e, destroy_event, e), SPVF_OK);
    cr_assert_eq(spvf_event_on_end(e, only_count, NULL), SPVF_OK);
    cr_assert_eq(spvf_event_on_end(e, only_count, NULL), SPVF_OK);
}

Test(event_life, destroyed_by_a_callback) {
    spvf_event *gate = new_gate();
    destroy_in_callback(call_after(t.q, gate));
    open_gate(gate);
    wait_for(&calls, 3);
    gate = new_gate();
    destroy_in_callback(gate);
    cr_assert_eq(spvf_event_end(gate, SPVF_OK), SPVF_OK);
    cr_expect_eq(calls, 3);
}

/* Each callback enqueues the next command. */
static void enqueue_next(void *user, spvf_status status) {
    _Atomic int *rest = user;
    cr_expect_eq(status, SPVF_OK);
    if (!(*rest)--) {
        calls++;
        return;
    }
    spvf_event *e = call_after(*rest % 2 ? t.q : t.other, NULL);
    cr_assert_eq(spvf_event_on_end(e, enqueue_next, user), SPVF_OK);
    spvf_event_destroy(e);
}

Test(event_life, callbacks_enqueue) {
    _Atomic int rest = 20;
    enqueue_next(&rest, SPVF_OK);
    wait_for(&calls, 1);
    cr_expect_eq(runs, 20);
}

static void destroy_queue(void *user, spvf_status status) {
    cr_expect_eq(status, SPVF_OK);
    spvf_queue_destroy(user);
    calls++;
}

/* A queue is destroyed by a callback of its first command while others wait; so are many at once,
 * whose commands wait for those of another queue: more than there are threads. */
Test(event_life, callbacks_destroy_queues) {
    enum { QUEUES = 12 };
    spvf_event *gate = new_gate(), *other_gate = new_gate();
    for (int k = 0; k < QUEUES; k++) {
        spvf_queue *q;
        cr_assert_eq(spvf_queue_create(t.device, NULL, &q), SPVF_OK);
        spvf_event *first = call_after(q, gate), *far = call_after(t.other, other_gate);
        spvf_event_destroy(call_after(q, far));
        cr_assert_eq(spvf_event_on_end(first, destroy_queue, q), SPVF_OK);
        spvf_event_destroy(first);
        spvf_event_destroy(far);
    }
    open_gate(gate);
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    open_gate(other_gate);
    wait_for(&calls, QUEUES);
    cr_expect_eq(runs, 3 * QUEUES);
}

/* ------------------------------------------------------------------------------- fused launches */

static sem_t completed;

/* The thread that has completed the fusion goes on meanwhile. */
static void destroy_fused_queue(void *user, spvf_status status) {
    cr_expect_eq(status, SPVF_OK);
    sem_wait(&completed);
    spvf_queue_destroy(user);
    calls++;
}

Test(event_life, callbacks_of_fused_launches) {
    sem_init(&completed, 0, 0);
    for (int k = 0; k < 20; k++) {
        spvf_queue *q;
        spvf_event *e, *all;
        calls = 0;
        cr_assert_eq(spvf_queue_create(t.device, NULL, &q), SPVF_OK);
        cr_assert_eq(spvf_queue_start_fusion(q, NULL), SPVF_OK);
        cr_assert_eq(enqueue_add(&t, q, 1, 0, 1, NULL, &e), SPVF_OK);
        cr_assert_eq(enqueue_add(&t, q, 2, 1, 1, NULL, NULL), SPVF_OK);
        cr_assert_eq(spvf_event_on_end(e, destroy_fused_queue, q), SPVF_OK);
        cr_expect_eq(spvf_event_end(e, SPVF_OK), SPVF_ERROR_ARGUMENT, "it is not the program's");
        cr_assert_eq(k % 2 ? spvf_queue_complete_fusion(q, &all) : spvf_queue_cancel_fusion(q),
                     SPVF_OK);
        if (k % 2) spvf_event_destroy(all);
        sem_post(&completed);
        cr_expect_eq(spvf_event_wait(e), SPVF_OK);
        spvf_event_destroy(e);
        wait_for(&calls, 1);
    }
}

/* Nothing was launched: the event ends, and its callback may do as it likes. */
Test(event_life, callbacks_of_nothing) {
    spvf_event *e;
    cr_assert_eq(spvf_queue_start_fusion(t.q, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_complete_fusion(t.q, &e), SPVF_OK);
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    cr_assert_eq(spvf_event_on_end(e, destroy_event, e), SPVF_OK);
    cr_expect_eq(calls, 1);
}

/* An event of a fusion is there when its queue, which has been destroyed, is not. */
Test(event_life, outlives_its_fusion) {
    spvf_queue *q;
    spvf_event *e;
    cr_assert_eq(spvf_queue_create(t.device, NULL, &q), SPVF_OK);
    cr_assert_eq(spvf_queue_start_fusion(q, NULL), SPVF_OK);
    cr_assert_eq(enqueue_add(&t, q, 1, 0, 1, NULL, &e), SPVF_OK);
    spvf_queue_destroy(q);
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    spvf_event_destroy(e);
}
