/* queue_test.c — commands in the order that their queues and events say, and what becomes of them
 * when something fails.  queue_stress.c has many threads. */
#include "runtime/queue/queue.h"

#include "tests/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A command that notes when it ran, in the order of all. */
typedef struct {
    rt_event event; /* the first member */
    _Atomic int *clock;
    int ran; /* 1: first */
    long ns; /* that it takes */
    int32_t status;
    _Atomic bool destroyed;
} note;

static int32_t run_note(rt_event *e) {
    note *n = (note *)e;
    if (n->ns) nanosleep(&(struct timespec){0, n->ns}, NULL);
    n->ran = ++*n->clock;
    return n->status;
}

static void destroy_note(rt_event *e) { ((note *)e)->destroyed = true; }

static void begin_note(note *n, _Atomic int *clock) {
    *n = (note){.clock = clock};
    rt_event_init(&n->event, rt_scheduler_get(), run_note, destroy_note);
}

static void begin_user(note *n) {
    *n = (note){.ran = 0};
    rt_event_init(&n->event, rt_scheduler_get(), NULL, destroy_note);
}

static void put(rt_queue *q, note *n, rt_enqueue_kind kind, note *wait) {
    rt_event *list[] = {wait ? &wait->event : NULL};
    const rt_order order = {.kind = kind, .wait = list, .nwait = wait != NULL};
    cr_assert(rt_enqueue(q, &n->event, &order));
}

static void end(note *n, unsigned count) {
    for (unsigned k = 0; k < count; k++) {
        rt_event_release(&n[k].event);
        for (int wait = 0; wait < 1000 && !n[k].destroyed; wait++) /* by the thread that ran it */
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        cr_expect(n[k].destroyed);
    }
}

Test(queue, in_order) {
    enum { COUNT = 50 };
    _Atomic int clock = 0;
    rt_queue q;
    note n[COUNT];
    rt_queue_init(&q, rt_scheduler_get(), true);
    for (int k = 0; k < COUNT; k++) {
        begin_note(&n[k], &clock);
        n[k].ns = k % 3 ? 0 : 100000;
        put(&q, &n[k], RT_ENQUEUE_COMMAND, NULL);
    }
    rt_queue_finish(&q);
    for (int k = 0; k < COUNT; k++) {
        const uint64_t *t = n[k].event.time;
        cr_expect_eq(n[k].ran, k + 1);
        cr_expect(t[RT_QUEUED] <= t[RT_SUBMITTED] && t[RT_SUBMITTED] <= t[RT_RUNNING] &&
                  t[RT_RUNNING] <= t[RT_COMPLETE]);
    }
    cr_expect_null(q.oldest);
    cr_expect_eq(q.count, 0);
    end(n, COUNT);
}

/* Handing commands from thread to thread takes longer than small ones run. */
Test(queue, what_waits_for_each_other_stays_on_a_thread) {
    enum { COUNT = 200 };
    _Atomic int clock = 0;
    rt_queue q;
    note n[COUNT], user;
    rt_queue_init(&q, rt_scheduler_get(), true);
    begin_user(&user);
    for (int k = 0; k < COUNT; k++) {
        begin_note(&n[k], &clock);
        put(&q, &n[k], RT_ENQUEUE_COMMAND, k ? NULL : &user);
    }
    rt_event_end(&user.event, RT_COMPLETE);
    rt_queue_finish(&q);
    for (int k = 0; k < COUNT; k++) {
        cr_expect_eq(n[k].ran, k + 1);
        cr_expect(pthread_equal(n[k].event.runner, n[0].event.runner), "command %d", k);
    }
    end(n, COUNT);
    end(&user, 1);
}

/* The thread that waits for one event or for a queue goes on when that has ended, although others
 * follow. */
Test(queue, waits_end_amid_other_commands) {
    enum { COUNT = 40 };
    _Atomic int clock = 0;
    rt_queue q;
    note n[COUNT], user;
    rt_queue_init(&q, rt_scheduler_get(), true);
    begin_user(&user);
    for (int k = 0; k < COUNT; k++) {
        begin_note(&n[k], &clock);
        n[k].ns = 200000;
        put(&q, &n[k], RT_ENQUEUE_COMMAND, k == COUNT - 1 ? &user : NULL);
    }
    for (int k = 0; k < COUNT - 1; k += 3) cr_expect_eq(rt_event_wait(&n[k].event), RT_COMPLETE);
    cr_expect_eq(rt_event_now(&n[COUNT - 1].event), RT_SUBMITTED);
    rt_event_end(&user.event, RT_COMPLETE);
    rt_queue_finish(&q);
    cr_expect_eq(n[COUNT - 1].ran, COUNT);
    end(n, COUNT);
    end(&user, 1);
}

Test(queue, out_of_order_waits_for_events_and_barriers_only) {
    _Atomic int clock = 0;
    rt_queue q;
    note n[5], user;
    rt_queue_init(&q, rt_scheduler_get(), false);
    begin_user(&user);
    for (int k = 0; k < 5; k++) begin_note(&n[k], &clock);
    put(&q, &n[0], RT_ENQUEUE_COMMAND, &user);
    put(&q, &n[1], RT_ENQUEUE_COMMAND, NULL);
    cr_expect_eq(rt_event_wait(&n[1].event), RT_COMPLETE);
    cr_expect_eq(n[1].ran, 1);
    put(&q, &n[2], RT_ENQUEUE_BARRIER, NULL);
    put(&q, &n[3], RT_ENQUEUE_COMMAND, NULL);
    put(&q, &n[4], RT_ENQUEUE_MARKER, &n[1]);
    cr_expect_eq(rt_event_now(&n[3].event), RT_SUBMITTED);
    cr_expect(rt_event_end(&user.event, RT_COMPLETE));
    cr_expect_not(rt_event_end(&user.event, -5), "it has ended");
    rt_queue_finish(&q);
    cr_expect_eq(n[0].ran, 2);
    cr_expect_eq(n[2].ran, 3);
    cr_expect_eq(n[3].ran + n[4].ran, 4 + 5, "in either order");
    end(n, 5);
    end(&user, 1);
}

Test(queue, a_marker_without_list_waits_for_all_before_it) {
    _Atomic int clock = 0;
    rt_queue q;
    note n[4];
    rt_queue_init(&q, rt_scheduler_get(), false);
    for (int k = 0; k < 4; k++) {
        begin_note(&n[k], &clock);
        n[k].ns = k < 3 ? 300000 : 0;
        put(&q, &n[k], k == 3 ? RT_ENQUEUE_MARKER : RT_ENQUEUE_COMMAND, NULL);
    }
    cr_expect_eq(rt_event_wait(&n[3].event), RT_COMPLETE);
    cr_expect_eq(n[3].ran, 4);
    end(n, 4);
}

/* However many there are: one does not wait for what another one has waited for. */
Test(queue, markers_and_barriers_wait_for_each_command_once) {
    static const struct {
        rt_enqueue_kind kind;
        uint32_t blockers;
    } all[] = {{RT_ENQUEUE_COMMAND, 1}, {RT_ENQUEUE_COMMAND, 1}, {RT_ENQUEUE_MARKER, 2},
               {RT_ENQUEUE_MARKER, 1},  {RT_ENQUEUE_COMMAND, 1}, {RT_ENQUEUE_BARRIER, 2},
               {RT_ENQUEUE_BARRIER, 1}, {RT_ENQUEUE_COMMAND, 2}, {RT_ENQUEUE_MARKER, 2}};
    enum { COUNT = sizeof all / sizeof *all };
    _Atomic int clock = 0;
    rt_queue q;
    note n[COUNT], user;
    rt_queue_init(&q, rt_scheduler_get(), false);
    begin_user(&user);
    for (int k = 0; k < COUNT; k++) {
        begin_note(&n[k], &clock);
        put(&q, &n[k], all[k].kind, all[k].kind == RT_ENQUEUE_COMMAND ? &user : NULL);
        cr_expect_eq(n[k].event.blockers, all[k].blockers, "%d: %u", k, n[k].event.blockers);
    }
    rt_event_end(&user.event, RT_COMPLETE);
    rt_queue_finish(&q);
    cr_expect(n[0].ran < n[2].ran && n[1].ran < n[2].ran && n[2].ran < n[3].ran);
    cr_expect(n[3].ran < n[5].ran && n[4].ran < n[5].ran && n[5].ran < n[6].ran);
    cr_expect(n[6].ran < n[7].ran && n[7].ran < n[8].ran);
    cr_expect_null(q.gathering);
    end(n, COUNT);
    end(&user, 1);
}

Test(queue, who_waits_for_what_failed_fails_but_not_what_comes_later) {
    _Atomic int clock = 0;
    rt_queue q;
    note n[4];
    rt_queue_init(&q, rt_scheduler_get(), true);
    for (int k = 0; k < 4; k++) begin_note(&n[k], &clock);
    n[0].status = -7;
    n[1].event.why_not = -14;
    put(&q, &n[0], RT_ENQUEUE_COMMAND, NULL);
    put(&q, &n[1], RT_ENQUEUE_COMMAND, &n[0]);
    put(&q, &n[2], RT_ENQUEUE_COMMAND, &n[1]);
    put(&q, &n[3], RT_ENQUEUE_COMMAND, NULL);
    rt_queue_finish(&q);
    cr_expect_eq(rt_event_wait(&n[0].event), -7);
    cr_expect_eq(rt_event_wait(&n[1].event), -14);
    cr_expect_eq(rt_event_wait(&n[2].event), -1);
    cr_expect_eq(rt_event_wait(&n[3].event), RT_COMPLETE);
    cr_expect(n[1].ran == 0 && n[2].ran == 0 && n[3].ran == 2);
    end(n, 4);
}

Test(queue, a_user_event_that_is_given_up_fails) {
    _Atomic int clock = 0;
    rt_queue q;
    note n, user;
    rt_queue_init(&q, rt_scheduler_get(), true);
    begin_user(&user);
    begin_note(&n, &clock);
    put(&q, &n, RT_ENQUEUE_COMMAND, &user);
    end(&user, 1);
    cr_expect_eq(rt_event_wait(&n.event), -1);
    end(&n, 1);
}

/* --------------------------------------------------------------------------------------- memory */

static void use(rt_queue *q, note *n, rt_resource *r, bool writes) {
    const rt_order order = {.naccess = 1, .access = &(rt_access){r, writes}};
    cr_assert(rt_enqueue(q, &n->event, &order));
}

/* Two queues: a write, reads in any order, a write that waits for all of them. */
Test(queue, memory_orders_commands_of_all_queues) {
    enum { COUNT = 40 };
    _Atomic int clock = 0;
    rt_queue q[2];
    rt_resource r = {0};
    note n[COUNT];
    for (int k = 0; k < 2; k++) rt_queue_init(&q[k], rt_scheduler_get(), false);
    for (int k = 0; k < COUNT; k++) {
        begin_note(&n[k], &clock);
        n[k].ns = k % 2 ? 50000 : 0;
        use(&q[k / 3 % 2], &n[k], &r, k % 8 == 0);
    }
    for (int k = 0; k < 2; k++) rt_queue_finish(&q[k]);
    for (int k = 0; k < COUNT; k++) {
        if (k % 8 == 0)
            cr_expect_eq(n[k].ran, k + 1);
        else
            cr_expect(n[k].ran > k / 8 * 8 + 1 && n[k].ran <= k / 8 * 8 + 8);
    }
    rt_resource_free(&r);
    end(n, COUNT);
}

enum { PLACES = 60 };

/* How often each was visited. */
typedef struct {
    const rt_resource *first;
    int visits[PLACES];
} visits;

static void count_visit(rt_resource *r, void *user) {
    visits *v = user;
    v->visits[r - v->first]++;
}

static bool share_bytes(const rt_resource *a, const rt_resource *b) {
    return a->range.begin < b->range.end && b->range.begin < a->range.end;
}

/* Itself, and each that it shares bytes with, once. */
static void expect_overlapping(rt_resource *r, const rt_resource *all) {
    rt_scheduler *s = rt_scheduler_get();
    visits v = {.first = all};
    pthread_mutex_lock(&s->lock);
    rt_resource_visit(r, count_visit, &v);
    pthread_mutex_unlock(&s->lock);
    for (int k = 0; k < PLACES; k++)
        cr_assert_eq(v.visits[k], r == &all[k] || share_bytes(r, &all[k]));
}

/* Ranges come and go; of each the others that overlap it are those that a look at all finds. */
Test(queue, resources_at_addresses) {
    rt_resource all[PLACES] = {0};
    uint64_t random = 1;
    for (int n = 0; n < 3000; n++) {
        rt_resource *r = &all[draw_below(&random, PLACES)];
        const char *begin = (const char *)(uintptr_t)(1000 + draw_below(&random, 500));
        if (r->range.scheduler)
            rt_resource_free(r);
        else
            rt_resource_place(rt_scheduler_get(), r, begin, draw_below(&random, 60));
        expect_overlapping(r, all);
    }
    for (int k = 0; k < PLACES; k++) rt_resource_free(&all[k]);
    cr_expect_null(rt_scheduler_get()->placed);
}

/* ------------------------------------------------------------------------------------ callbacks */

typedef struct {
    _Atomic int calls;
    int32_t status[8];
} calls;

static void note_call(rt_event *e, int32_t status, void *user) {
    calls *c = user;
    (void)e;
    c->status[c->calls] = status;
    c->calls++;
}

Test(queue, callbacks_come_once_and_in_order) {
    _Atomic int clock = 0;
    rt_queue q;
    note n, user;
    calls c = {0};
    rt_queue_init(&q, rt_scheduler_get(), true);
    begin_user(&user);
    begin_note(&n, &clock);
    put(&q, &n, RT_ENQUEUE_COMMAND, &user);
    cr_assert(rt_event_notify(&n.event, RT_COMPLETE, note_call, &c));
    cr_assert(rt_event_notify(&n.event, RT_RUNNING, note_call, &c));
    cr_assert(rt_event_notify(&n.event, RT_SUBMITTED, note_call, &c));
    cr_expect_eq(c.calls, 1, "it has been submitted");
    rt_event_end(&user.event, RT_COMPLETE);
    rt_event_wait(&n.event);
    cr_assert(rt_event_notify(&n.event, RT_COMPLETE, note_call, &c), "at once");
    end(&n, 1);
    end(&user, 1);
    cr_expect_eq(c.calls, 4);
    cr_expect_eq(c.status[0], RT_SUBMITTED);
    cr_expect_eq(c.status[1], RT_RUNNING);
    cr_expect_eq(c.status[2] + c.status[3], RT_COMPLETE);
}

Test(queue, callbacks_are_told_of_failure) {
    note user;
    calls c = {0};
    begin_user(&user);
    cr_assert(rt_event_notify(&user.event, RT_COMPLETE, note_call, &c));
    rt_event_end(&user.event, -59);
    cr_expect(c.calls == 1 && c.status[0] == -59);
    end(&user, 1);
}

Test(queue, a_forked_child_runs_its_own) {
    _Atomic int clock = 0;
    rt_queue q;
    note n;
    rt_queue_init(&q, rt_scheduler_get(), true);
    begin_note(&n, &clock);
    put(&q, &n, RT_ENQUEUE_COMMAND, NULL);
    rt_queue_finish(&q);
    end(&n, 1);
    pid_t child = fork();
    if (child == 0) {
        begin_note(&n, &clock);
        alarm(10);
        bool ok = rt_enqueue(&q, &n.event, &(rt_order){.kind = RT_ENQUEUE_COMMAND});
        _exit(ok && rt_event_wait(&n.event) == RT_COMPLETE && n.ran == 2 ? 0 : 1);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
}
