/* ends_test.c — when the ends of submissions of device cuda are told, by which threads, and how long
 * their commands ran. */
#include "tests/runtime/devices/cuda/cuda_queue.h"

#include <time.h>

static void enqueue(spvf_event **out) {
    const int32_t one = 1;
    spvf_argument args[3];
    const spvf_launch l = add(args, 1, 1, &one);
    cr_assert_eq(spvf_queue_launch(t.queue, &l, NULL, out), SPVF_OK, "%s", messages);
}

Test(cuda_ends, launches_without_events_have_none_of_the_driver) {
    open_queue();
    for (int k = 0; k < 100; k++) enqueue(NULL);
    expect_sums(t.b[1], 100);
    cr_expect_lt(fake_cuda_count("cuEventRecord"), 50, "%u", fake_cuda_count("cuEventRecord"));
    close_queue();
}

/* The queue may submit them by a thread of its own. */
static void await_launches(unsigned n) {
    const struct timespec ms = {.tv_nsec = 1000000};
    for (int k = 0; k < 20000 && fake_cuda_launches() < n; k++) nanosleep(&ms, NULL);
}

/* Those of the driver are used again, also by a thousand launches at once. */
Test(cuda_ends, launches_with_events_use_those_of_earlier_ones) {
    enum { MANY = 1000 };
    static spvf_event *e[MANY];
    open_queue();
    for (int round = 0; round < 3; round++) {
        if (round == 1) fake_cuda_forget();
        fake_cuda_hold(true);
        for (int k = 0; k < MANY; k++) enqueue(&e[k]);
        await_launches(round < 2 ? MANY : 2 * MANY);
        fake_cuda_hold(false);
        cr_expect_eq(spvf_queue_finish(t.queue), SPVF_OK);
        for (int k = 0; k < MANY; k++) spvf_event_destroy(e[k]);
    }
    cr_expect_lt(fake_cuda_count("cuEventCreate"), 20, "%u, for the thread of the device",
                 fake_cuda_count("cuEventCreate"));
    cr_expect_eq(fake_cuda_count("cuEventDestroy_v2"), 0);
    cr_expect_geq(fake_cuda_count("cuEventRecord"), 2 * MANY);
    close_queue();
}

Test(cuda_ends, an_event_ends_before_later_launches_do) {
    spvf_event *first, *second;
    open_queue();
    enqueue(&first);
    cr_expect_eq(spvf_event_wait(first), SPVF_OK);
    fake_cuda_hold(true);
    enqueue(&second);
    enqueue(NULL);
    cr_expect_not(spvf_event_ended(second, NULL));
    fake_cuda_hold(false);
    cr_expect_eq(spvf_event_wait(second), SPVF_OK);
    spvf_event_destroy(first);
    spvf_event_destroy(second);
    expect_sums(t.b[1], 3);
    close_queue();
}

/* So that close_bench finds none. */
Test(cuda_ends, events_before_the_one_that_is_waited_for_are_given_back) {
    spvf_event *e[5];
    open_queue();
    fake_cuda_hold(true);
    for (int k = 0; k < 5; k++) enqueue(&e[k]);
    fake_cuda_hold(false);
    cr_expect_eq(spvf_event_wait(e[4]), SPVF_OK);
    for (int k = 0; k < 5; k++) spvf_event_destroy(e[k]);
    close_queue();
}

static void note(void *user, spvf_status status) {
    *(_Atomic int *)user = status == SPVF_OK ? 1 : 2;
}

/* Nothing waits for the queue, and the callback comes all the same. */
Test(cuda_ends, callbacks_come_without_a_thread_that_waits) {
    static _Atomic int called;
    spvf_event *e;
    open_queue();
    enqueue(&e);
    cr_assert_eq(spvf_event_on_end(e, note, &called), SPVF_OK);
    for (int k = 0; k < 2000 && !called; k++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    cr_expect_eq(called, 1);
    spvf_event_destroy(e);
    close_queue();
}

/* A launch is given to the device by the thread that enqueues it, once its kernel is known. */
Test(cuda_ends, a_launch_that_waits_for_nothing_is_begun_at_once) {
    open_queue();
    enqueue(NULL);
    cr_assert_eq(spvf_queue_finish(t.queue), SPVF_OK);
    for (unsigned k = 0; k < 20; k++) {
        enqueue(NULL);
        cr_expect_eq(fake_cuda_launches(), k + 2);
    }
    close_queue();
}

/* A launch whose event is asked for fails with the driver's event, and the next one does not.  It is
 * the first launch, so that there is no event yet that can be used again. */
Test(cuda_ends, events_of_the_driver_may_fail) {
    static const char *const calls[] = {"cuEventCreate", "cuEventRecord", "cuEventQuery"};
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        spvf_event *e;
        bench.folder[0] = 0;
        open_queue();
        fake_cuda_fail(calls[n], 1, 999, false);
        enqueue(&e);
        cr_expect_eq(spvf_event_wait(e), SPVF_ERROR_DEVICE, "%s", calls[n]);
        cr_expect_not_null(strstr(messages, "999"), "%s: %s", calls[n], messages);
        spvf_event_destroy(e);
        enqueue(&e);
        cr_expect_eq(spvf_event_wait(e), SPVF_OK, "%s", calls[n]);
        spvf_event_destroy(e);
        spvf_queue_finish(t.queue);
        close_queue();
    }
}

enum { WAITS = 50, THREADS = 4 };

/* By the event of each launch, or by the queue. */
static void launch_and_wait(bool by_event) {
    spvf_event *e;
    enqueue(by_event ? &e : NULL);
    cr_assert_eq(by_event ? spvf_event_wait(e) : spvf_queue_finish(t.queue), SPVF_OK);
    if (by_event) spvf_event_destroy(e);
}

/* The thread of the device may be there first when others keep this one waiting. */
Test(cuda_ends, a_thread_that_waits_asks_the_driver_itself) {
    open_queue();
    launch_and_wait(true);
    for (int by_event = 0; by_event < 2; by_event++) {
        unsigned before = fake_cuda_waits();
        for (int k = 0; k < WAITS; k++) launch_and_wait(by_event);
        cr_expect_gt(fake_cuda_waits() - before, WAITS / 4, "by event: %d", by_event);
    }
    unsigned before = fake_cuda_waits();
    for (int k = 0; k < WAITS; k++) expect_sums(t.b[1], 1 + 2 * WAITS);
    cr_expect_gt(fake_cuda_waits() - before, WAITS / 4, "reading");
    close_queue();
}

/* What it waits for is begun by a thread of the scheduler, as the kernel is compiled first. */
Test(cuda_ends, a_thread_that_waits_for_a_first_launch_asks_the_driver_itself) {
    enum { PROGRAMS = 12 };
    spvf_program *own;
    use_cache_folder();
    setenv("SPVFUSE_CACHE", "0", 1);
    setenv("FAKE_CUDA_SLOW", "10", 1);
    open_queue();
    own = t.program;
    unsigned before = fake_cuda_waits();
    for (int k = 0; k < PROGRAMS; k++) {
        cr_assert_eq(spvf_program_create(t.device, bench.module, &t.program), SPVF_OK);
        enqueue(NULL);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* a thread compiles it */
        cr_assert_eq(spvf_queue_finish(t.queue), SPVF_OK);
        spvf_program_destroy(t.program);
    }
    cr_expect_gt(fake_cuda_waits() - before, PROGRAMS / 3, "%u", fake_cuda_waits() - before);
    t.program = own;
    close_queue();
}

static void *launch_often(void *arg) {
    for (int k = 0; k < WAITS; k++) launch_and_wait(k % 3 == *(const int *)arg % 3);
    return NULL;
}

Test(cuda_ends, threads_that_wait_at_once_all_go_on) {
    static const int numbers[THREADS] = {0, 1, 2, 3};
    pthread_t thread[THREADS];
    open_queue();
    for (int k = 0; k < THREADS; k++)
        cr_assert_eq(pthread_create(&thread[k], NULL, launch_often, (void *)(uintptr_t)&numbers[k]),
                     0);
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    expect_sums(t.b[1], THREADS * WAITS);
    close_queue();
}

static void *wait_for_end(void *e) {
    cr_expect_eq(spvf_event_wait(e), SPVF_OK);
    return NULL;
}

/* The launch before it has ended, and the one that it waits for does not end. */
Test(cuda_ends, a_thread_that_waits_for_a_later_launch_holds_up_no_other, .timeout = 20) {
    spvf_event *first, *second;
    pthread_t thread;
    open_queue();
    launch_and_wait(true);
    fake_cuda_hold(true);
    enqueue(&first);
    enqueue(&second);
    cr_assert_eq(pthread_create(&thread, NULL, wait_for_end, second), 0);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    fake_cuda_release(1);
    cr_expect_eq(spvf_event_wait(first), SPVF_OK);
    cr_expect_not(spvf_event_ended(second, NULL));
    fake_cuda_hold(false);
    pthread_join(thread, NULL);
    spvf_event_destroy(first);
    spvf_event_destroy(second);
    expect_sums(t.b[1], 3);
    close_queue();
}

/* A thread waits while another one goes on launching, and no end is lost in the end. */
Test(cuda_ends, what_is_held_ends_for_all_that_wait) {
    static const int number = 0;
    pthread_t thread;
    open_queue();
    launch_and_wait(false);
    fake_cuda_hold(true);
    cr_assert_eq(pthread_create(&thread, NULL, launch_often, (void *)(uintptr_t)&number), 0);
    for (int k = 0; k < WAITS; k++) enqueue(NULL);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    fake_cuda_hold(false);
    cr_expect_eq(spvf_queue_finish(t.queue), SPVF_OK);
    pthread_join(thread, NULL);
    expect_sums(t.b[1], 1 + 2 * WAITS);
    close_queue();
}

Test(cuda_ends, an_error_names_the_kernels_that_may_have_made_it) {
    open_queue();
    enqueue(NULL);
    cr_assert_eq(spvf_queue_finish(t.queue), SPVF_OK);
    fake_cuda_fail("kernel", 2, 700, false);
    for (int k = 0; k < 3; k++) enqueue(NULL);
    cr_expect_eq(spvf_queue_finish(t.queue), SPVF_ERROR_DEVICE);
    cr_expect_not_null(strstr(messages, "ILLEGAL_ADDRESS), in 'add'"), "%s", messages);
    close_queue();
}

/* ---------------------------------------------------------------------------------------- times */

static void open_profiled(void) {
    const spvf_queue_options o = {.size = sizeof o, .profiling = true};
    open_queue();
    spvf_queue_destroy(t.queue);
    cr_assert_eq(spvf_queue_create(t.device, &o, &t.queue), SPVF_OK);
}

static uint64_t time_of(spvf_event *e) {
    cr_expect_eq(spvf_event_wait(e), SPVF_OK, "%s", messages);
    const spvf_event_times times = spvf_event_get_times(e);
    cr_expect_gt(times.enqueued, 0);
    spvf_event_destroy(e);
    return times.ended - times.started;
}

enum { MS = 1000000 /* of a launch of fake_cuda.c */ };

Test(cuda_times, of_a_profiled_queue_are_those_of_the_device) {
    int32_t back[N];
    spvf_event *one, *other, *copied;
    open_profiled();
    enqueue(&one);
    enqueue(NULL);
    enqueue(&other);
    cr_assert_eq(spvf_queue_read(t.queue, t.b[1], 0, back, BYTES, NULL, &copied), SPVF_OK);
    cr_expect_eq(time_of(one), MS);
    cr_expect_eq(time_of(other), MS);
    cr_expect_eq(time_of(copied), 1, "which takes no time here");
    close_queue();
}

Test(cuda_times, of_a_run_of_a_graph_are_those_of_all_its_launches) {
    const spvf_graph_options o = {.size = sizeof o, .unfused = true};
    const int32_t one = 1;
    spvf_argument args[3];
    spvf_event *e;
    open_profiled();
    const spvf_launch l = add(args, 1, 1, &one);
    cr_assert_eq(spvf_graph_create(t.device, &o, &t.graph), SPVF_OK);
    for (int k = 0; k < 3; k++) cr_assert_eq(spvf_graph_launch(t.graph, &l, NULL), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(t.graph), SPVF_OK, "%s", messages);
    for (int run = 0; run < 4; run++) {
        cr_assert_eq(spvf_graph_run(t.graph, t.queue, NULL, &e), SPVF_OK);
        cr_expect_eq(time_of(e), 3 * MS);
    }
    close_queue();
}

/* Otherwise an event costs one of the driver, which has no time and is used again. */
Test(cuda_times, are_measured_only_where_that_is_asked_for) {
    spvf_event *e;
    open_queue();
    for (int k = 0; k < 3; k++) {
        enqueue(&e);
        cr_expect_eq(spvf_event_wait(e), SPVF_OK);
        spvf_event_destroy(e);
    }
    cr_expect_eq(fake_cuda_count("cuEventElapsedTime"), 0);
    close_queue();
}

/* The command ends as it would otherwise, with times of the host; close_bench finds no event left. */
Test(cuda_times, calls_that_measure_may_fail) {
    static const char *const calls[] = {"cuEventElapsedTime", "cuEventRecord", "cuEventCreate",
                                        "cuLaunchKernelEx"};
    for (unsigned n = 0; n < 4; n++)
        for (unsigned at = 1; at < 3; at++) {
            spvf_event *e;
            bench.folder[0] = 0;
            open_profiled();
            fake_cuda_fail(calls[n], at, 999, false);
            enqueue(&e);
            spvf_status status = spvf_event_wait(e);
            const spvf_event_times times = spvf_event_get_times(e);
            cr_expect_eq(status == SPVF_OK, n == 0 || (n == 3 && at == 2), "%s", calls[n]);
            cr_expect_leq(times.started, times.ended);
            spvf_event_destroy(e);
            spvf_queue_finish(t.queue);
            close_queue();
        }
}
