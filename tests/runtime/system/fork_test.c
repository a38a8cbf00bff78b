/* fork_test.c — a process that uses queues forks: the child goes on, or is told why not. */
#include "tests/child.h"
#include "tests/runtime/queue/launches.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { FORKS = 40 };

/* out = in + 5, on a queue of the parent's. */
static bool launches_on(bench *t, spvf_queue *q) {
    if (enqueue_add(t, q, 1, 0, 5, NULL, NULL) != SPVF_OK || spvf_queue_finish(q) != SPVF_OK)
        return false;
    spvf_event *e;
    if (spvf_queue_read(q, t->b[1], 0, t->back, BYTES, NULL, &e) != SPVF_OK) return false;
    if (spvf_event_wait(e) != SPVF_OK) return false;
    for (int k = 0; k < COUNT; k++)
        if (t->back[k] != k + 5) return false;
    spvf_event_destroy(e);
    return true;
}

static bool uses_old_queues(void *arg) {
    bench *t = arg;
    return launches_on(t, t->q) && launches_on(t, t->other);
}

static bool makes_its_own(void *arg) {
    bench mine;
    (void)arg;
    begin(&mine);
    bool ok = launches_on(&mine, mine.q);
    end(&mine);
    return ok;
}

static bool forks_again(void *t) {
    return holds_in_child(uses_old_queues, t) && uses_old_queues(t);
}

Test(fork, a_child_of_an_idle_process_goes_on) {
    bench t;
    begin(&t);
    cr_expect(holds_in_child(uses_old_queues, &t), "nothing was launched before");
    cr_assert(launches_on(&t, t.q));
    cr_expect(holds_in_child(uses_old_queues, &t));
    cr_expect(holds_in_child(makes_its_own, &t));
    cr_expect(holds_in_child(forks_again, &t));
    cr_expect(launches_on(&t, t.q), "the parent goes on as well");
    end(&t);
}

/* ----------------------------------------------------------------------------------------- busy */

typedef struct {
    bench *bench;
    _Atomic bool stop;
} launcher;

/* Launches, and opens devices whose kernels are compiled, all the time. */
static void *launch_always(void *arg) {
    launcher *l = arg;
    for (int n = 0; !l->stop; n++) {
        enqueue_add(l->bench, l->bench->q, 2, 0, n, NULL, NULL);
        if (n % 16 == 0) spvf_queue_finish(l->bench->q);
    }
    return NULL;
}

static void *compile_always(void *arg) {
    launcher *l = arg;
    while (!l->stop) makes_its_own(NULL);
    return NULL;
}

/* What had not ended has failed; new commands run, or the device says that it is lost. */
static bool goes_on_or_says_why(void *arg) {
    bench *t = arg;
    spvf_queue_finish(t->q);
    spvf_status first = enqueue_add(t, t->q, 1, 0, 5, NULL, NULL);
    spvf_status last = spvf_queue_finish(t->q);
    if (first != SPVF_OK || last != SPVF_OK) return makes_its_own(t);
    return launches_on(t, t->q) && makes_its_own(t);
}

Test(fork, a_child_of_a_busy_process_goes_on) {
#if defined(__SANITIZE_ADDRESS__)
    cr_skip("the sanitizer's own allocator may be locked for ever in the child");
#endif
    bench t;
    begin(&t);
    launcher l = {.bench = &t};
    pthread_t a, b;
    cr_assert_eq(pthread_create(&a, NULL, launch_always, &l), 0);
    cr_assert_eq(pthread_create(&b, NULL, compile_always, &l), 0);
    int ended = 0;
    for (int n = 0; n < FORKS; n++) ended += holds_in_child(goes_on_or_says_why, &t);
    l.stop = true;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    cr_expect_eq(ended, FORKS);
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_OK);
    end(&t);
}

/* ------------------------------------------------------------------------------------ in flight */

static spvf_event *held, *waiting;

static bool has_failed_commands(void *arg) {
    bench *t = arg;
    if (spvf_event_wait(waiting) == SPVF_OK || spvf_event_end(held, SPVF_OK) != SPVF_OK)
        return false;
    return launches_on(t, t->other) && spvf_queue_finish(t->q) != SPVF_OK && launches_on(t, t->q) &&
           spvf_event_wait(waiting) != SPVF_OK;
}

Test(fork, what_had_not_ended_has_failed_in_the_child) {
    bench t;
    begin(&t);
    cr_assert_eq(spvf_event_create(t.device, &held), SPVF_OK);
    const spvf_wait wait = {.events = &held, .count = 1};
    cr_assert_eq(enqueue_add(&t, t.q, 3, 0, 1, &wait, &waiting), SPVF_OK);
    cr_expect(holds_in_child(has_failed_commands, &t));
    cr_expect_eq(spvf_event_end(held, SPVF_OK), SPVF_OK);
    cr_expect_eq(spvf_event_wait(waiting), SPVF_OK, "in the parent it ends well");
    spvf_event_destroy(waiting);
    spvf_event_destroy(held);
    end(&t);
}

/* --------------------------------------------------------------------------------------- fusing */

/* Both sides of a call: the thread that makes it, with the locks that it has, and the test. */
static pthread_barrier_t called;

static void stay(void) {
    pthread_barrier_wait(&called);
    pthread_barrier_wait(&called);
}

static void say_slowly(void *user, const spvf_message *m) {
    (void)user;
    (void)m;
    stay();
}

static void end_slowly(void *user, spvf_status status) {
    (void)user;
    (void)status;
    stay();
}

static bool fuses(bench *t, spvf_queue *q) {
    return spvf_queue_start_fusion(q, NULL) == SPVF_OK &&
           enqueue_add(t, q, 4, 0, 1, NULL, NULL) == SPVF_OK &&
           enqueue_add(t, q, 5, 4, 1, NULL, NULL) == SPVF_OK &&
           spvf_queue_complete_fusion(q, NULL) == SPVF_OK && spvf_queue_finish(q) == SPVF_OK;
}

static bool fuses_on_all_queues(void *arg) {
    bench *t = arg;
    t->device->message = NULL;
    return fuses(t, t->other) && spvf_queue_finish(t->q) == SPVF_OK && fuses(t, t->q) &&
           uses_old_queues(t);
}

static void *finish_queue(void *q) { return spvf_queue_finish(q) == SPVF_OK ? q : NULL; }

/* A thread runs body(queue) as far as the first wait for `called`, goes on when a child has been made
 * and has ended, and succeeds. */
static void fork_amid(bench *t, void *(*body)(void *queue), bool (*in_child)(void *bench)) {
    pthread_t thread;
    void *ok;
    cr_assert_eq(pthread_create(&thread, NULL, body, t->q), 0);
    pthread_barrier_wait(&called);
    cr_expect(holds_in_child(in_child, t));
    pthread_barrier_wait(&called);
    pthread_join(thread, &ok);
    cr_expect_eq(ok, t->q);
}

/* That the fusion is cancelled is said with the lock of all that fuses. */
Test(fork, a_child_made_while_a_thread_cancels_a_fusion_fuses) {
    bench t;
    begin(&t);
    pthread_barrier_init(&called, NULL, 2);
    t.device->message = say_slowly;
    cr_assert_eq(spvf_queue_start_fusion(t.q, NULL), SPVF_OK);
    cr_assert_eq(enqueue_add(&t, t.q, 3, 0, 1, NULL, NULL), SPVF_OK);
    fork_amid(&t, finish_queue, fuses_on_all_queues);
    cr_expect(fuses_on_all_queues(&t));
    end(&t);
}

static void *complete_fusion(void *q) {
    return spvf_queue_complete_fusion(q, NULL) == SPVF_OK ? q : NULL;
}

static bool fuses_after_a_failure(void *arg) {
    bench *t = arg;
    return spvf_queue_finish(t->q) == SPVF_ERROR_DEVICE && fuses_on_all_queues(t);
}

/* The queue has the last reference to the second event, whose callback is called while the first
 * one is still in the queue's list. */
Test(fork, a_child_made_while_a_thread_ends_a_fusion_fuses) {
    bench t;
    begin(&t);
    spvf_event *events[2];
    pthread_barrier_init(&called, NULL, 2);
    for (int n = 0; n < 2; n++) cr_assert_eq(spvf_event_create(t.device, &events[n]), SPVF_OK);
    cr_assert_eq(spvf_event_on_end(events[1], end_slowly, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_start_fusion(t.q, NULL), SPVF_OK);
    cr_assert_eq(enqueue_add(&t, t.q, 3, 0, 1, &(spvf_wait){events, 2}, NULL), SPVF_OK);
    spvf_event_destroy(events[1]);
    fork_amid(&t, complete_fusion, fuses_after_a_failure);
    cr_expect_eq(spvf_event_end(events[0], SPVF_OK), SPVF_OK);
    spvf_event_destroy(events[0]);
    cr_expect(fuses_after_a_failure(&t), "the second event has failed");
    end(&t);
}

static bool completes(void *arg) {
    bench *t = arg;
    return enqueue_add(t, t->q, 5, 4, 1, NULL, NULL) == SPVF_OK &&
           spvf_queue_complete_fusion(t->q, NULL) == SPVF_OK &&
           spvf_queue_finish(t->q) == SPVF_OK && fuses_on_all_queues(t);
}

Test(fork, a_child_goes_on_with_what_is_being_fused) {
    bench t;
    begin(&t);
    cr_assert_eq(spvf_queue_start_fusion(t.q, NULL), SPVF_OK);
    cr_assert_eq(enqueue_add(&t, t.q, 4, 0, 1, NULL, NULL), SPVF_OK);
    cr_expect(holds_in_child(completes, &t));
    cr_expect(completes(&t));
    end(&t);
}

/* A fusion that another thread is ending, or has ended: its event, what it waits for, and what it
 * adds to numbers. */
static spvf_event *_Atomic kept;
static spvf_event *_Atomic awaited;
static _Atomic int32_t added;

static void *fuse_always(void *arg) {
    launcher *l = arg;
    bench *t = l->bench;
    for (int32_t n = 1; !l->stop; n++) {
        spvf_event *first, *e = NULL;
        spvf_event_create(t->device, &first);
        spvf_queue_start_fusion(t->q, NULL);
        enqueue_add(t, t->q, 4, 0, n, &(spvf_wait){&first, 1}, &e);
        enqueue_add(t, t->q, 5, 4, n, NULL, NULL);
        added = 2 * n;
        awaited = first;
        kept = e;
        spvf_queue_complete_fusion(t->q, NULL);
        spvf_event_end(first, SPVF_OK);
        spvf_queue_finish(t->q);
        kept = NULL;
        spvf_event_destroy(first);
        spvf_event_destroy(e);
    }
    return NULL;
}

static bool has_sum(const spvf_buffer *b, int32_t n) {
    const int32_t *numbers = buf_place(b);
    for (int32_t k = 0; numbers && k < COUNT; k++)
        if (numbers[k] != k + n) return false;
    return numbers;
}

static bool is_ok_or_lost(spvf_status s) { return s == SPVF_OK || s == SPVF_ERROR_DEVICE; }

/* The device may be lost, but nothing else fails, and nothing waits. */
static bool may_fuse_again(bench *t) {
    spvf_status start = spvf_queue_start_fusion(t->q, NULL);
    spvf_status first = enqueue_add(t, t->q, 4, 0, 1, NULL, NULL);
    spvf_status second = enqueue_add(t, t->q, 5, 4, 1, NULL, NULL);
    spvf_status complete = spvf_queue_complete_fusion(t->q, NULL);
    spvf_status finish = spvf_queue_finish(t->q);
    return start == SPVF_OK && first == SPVF_OK && second == SPVF_OK && is_ok_or_lost(complete) &&
           finish == complete && (finish != SPVF_OK || has_sum(t->b[5], 2));
}

/* What no thread was ending is not lost, and waits for its event. */
static bool ends_what_was_kept(void *arg) {
    bench *t = arg;
    if (!kept) return true;
    if (!t->device->fusing->ending) spvf_event_end(awaited, SPVF_OK);
    spvf_status wait = spvf_event_wait(kept), finish = spvf_queue_finish(t->q);
    if (!is_ok_or_lost(wait) || !is_ok_or_lost(finish)) return false;
    if ((wait == SPVF_OK || finish == SPVF_OK) && !has_sum(t->b[5], added)) return false;
    return may_fuse_again(t) && makes_its_own(t);
}

Test(fork, a_child_made_while_a_fusion_is_compiled_waits_for_nothing) {
#if defined(__SANITIZE_ADDRESS__)
    cr_skip("the sanitizer's own allocator may be locked for ever in the child");
#endif
    bench t;
    begin(&t);
    launcher l = {.bench = &t};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, fuse_always, &l), 0);
    int ended = 0;
    for (int n = 0; n < FORKS && ended == n; n++) {
        while (!kept) sched_yield();
        ended += holds_in_child(ends_what_was_kept, &t);
    }
    l.stop = true;
    pthread_join(thread, NULL);
    cr_expect_eq(ended, FORKS);
    end(&t);
}
