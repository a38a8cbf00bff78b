/* fork_test.c — a process that uses queues forks: the child goes on, or is told why not. */
#include "tests/child.h"
#include "tests/runtime/launches.h"

#include <pthread.h>
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
    return spvf_event_wait(waiting) != SPVF_OK && launches_on(t, t->other);
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
