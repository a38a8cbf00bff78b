/* replays_test.c — graphs on device cuda: recordings that become graphs of the driver, with other
 * buffers and values, and where they do not; when the ends of submissions are told. */
#include "runtime/queue/objects.h"
#include "tests/runtime/devices/cuda/cuda_bench.h"
#include "tests/runtime/queue/add_kernel.h"

#include <time.h>

static const char kernels[] = "target 64\n" ADD_KERNEL;

enum { N = 300, BYTES = 4 * N, BUFFERS = 6, LAUNCHES = 4 };

static struct {
    spvf_device *device;
    spvf_program *program;
    spvf_queue *queue;
    spvf_graph *graph;
    spvf_buffer *b[BUFFERS];
} t;

static void open_queue(void) {
    int32_t data[N];
    for (int k = 0; k < N; k++) data[k] = k;
    open_bench(kernels);
    cr_assert_eq(spvf_device_open(bench.context, "cuda", &t.device), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_program_create(t.device, bench.module, &t.program), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_queue_create(t.device, NULL, &t.queue), SPVF_OK);
    for (int k = 0; k < BUFFERS; k++)
        cr_assert_eq(spvf_buffer_create(t.device, BYTES, data, 0, &t.b[k]), SPVF_OK);
}

static void close_queue(void) {
    spvf_graph_destroy(t.graph);
    spvf_queue_destroy(t.queue);
    for (int k = 0; k < BUFFERS; k++) spvf_buffer_destroy(t.b[k]);
    spvf_program_destroy(t.program);
    spvf_device_destroy(t.device);
    close_bench();
    remove_cache_folder();
}

static spvf_launch add(spvf_argument args[3], int to, int from, const int32_t *k) {
    args[0] = (spvf_argument){.buffer = t.b[to]};
    args[1] = (spvf_argument){.buffer = t.b[from]};
    args[2] = (spvf_argument){.bytes = k, .size = sizeof *k};
    return (spvf_launch){.program = t.program,
                         .kernel = "add",
                         .range = {.dims = 1, .global = {N}},
                         .args = args,
                         .arg_count = 3};
}

/* Each adds 1 to what the one before it has written: b[1] … b[4] from b[0]. */
static void make_graph(void) {
    const spvf_graph_options o = {.size = sizeof o, .unfused = true};
    const int32_t one = 1;
    cr_assert_eq(spvf_graph_create(t.device, &o, &t.graph), SPVF_OK);
    for (int k = 0; k < LAUNCHES; k++) {
        spvf_argument args[3];
        const spvf_launch l = add(args, k + 1, k, &one);
        cr_assert_eq(spvf_graph_launch(t.graph, &l, NULL), SPVF_OK, "%s", messages);
    }
    cr_assert_eq(spvf_graph_commit(t.graph), SPVF_OK, "%s", messages);
}

static void run_graph(void) {
    cr_assert_eq(spvf_graph_run(t.graph, t.queue, NULL, NULL), SPVF_OK, "%s", messages);
}

static void expect_sums(spvf_buffer *b, int32_t more) {
    int32_t back[N];
    cr_assert_eq(spvf_queue_read(t.queue, b, 0, back, BYTES, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_finish(t.queue), SPVF_OK, "%s", messages);
    for (int k = 0; k < N; k++) cr_assert_eq(back[k], k + more, "%d: %d", k, back[k]);
}

static void run_and_expect(int32_t more) {
    run_graph();
    expect_sums(t.b[LAUNCHES], more);
}

static unsigned made(void) { return fake_cuda_count("cuGraphInstantiateWithFlags"); }
static unsigned changed(void) { return fake_cuda_count("cuGraphExecKernelNodeSetParams_v2"); }
static unsigned replayed(void) { return fake_cuda_count("cuGraphLaunch"); }

Test(cuda_replays, the_second_run_makes_a_graph_that_later_ones_replay) {
    open_queue();
    make_graph();
    run_and_expect(4);
    cr_expect_eq(fake_cuda_count("cuLaunchKernel"), LAUNCHES);
    cr_expect_eq(made(), 0);
    for (int k = 0; k < 5; k++) run_and_expect(4);
    cr_expect_eq(fake_cuda_count("cuLaunchKernel"), LAUNCHES);
    cr_expect_eq(made(), 1);
    cr_expect_eq(replayed(), 5);
    cr_expect_eq(changed(), 0, "nothing is different");
    close_queue();
}

Test(cuda_replays, values_and_buffers_are_changed_in_the_graph) {
    const int32_t ten = 10;
    spvf_buffer *other;
    open_queue();
    make_graph();
    for (int k = 0; k < 4; k++) run_and_expect(4);
    cr_assert_eq(spvf_graph_set_value(t.graph, 2, 2, &ten, sizeof ten), SPVF_OK, "%s", messages);
    for (int k = 0; k < 3; k++) run_and_expect(13);
    cr_expect_eq(changed(), 1, "of one launch");
    cr_assert_eq(spvf_buffer_create(t.device, BYTES, NULL, 0, &other), SPVF_OK);
    cr_assert_eq(spvf_graph_set_buffer(t.graph, t.b[2], other), SPVF_OK, "%s", messages);
    for (int k = 0; k < 3; k++) run_and_expect(13);
    cr_expect_eq(changed(), 3, "one writes it and one reads it");
    expect_sums(other, 2);
    cr_expect_eq(made(), 1);
    cr_expect_eq(replayed(), 9);
    spvf_buffer_destroy(other);
    close_queue();
}

static bool has_value(const fake_cuda_launch *l, int32_t value) {
    bool found = false;
    for (unsigned n = 0; n < l->params; n++)
        found |= l->size[n] == sizeof value && !memcmp(l->value[n], &value, sizeof value);
    return found;
}

/* Of one launch, or of two that are one kernel, which nothing executes here. */
Test(cuda_replays, runs_after_a_change_of_a_single_kernel_have_the_new_value) {
    for (int count = 1; count < 3; count++) {
        int32_t value = 1000;
        spvf_argument args[3];
        bench.folder[0] = 0;
        open_queue();
        fake_cuda_run_with(NULL);
        cr_assert_eq(spvf_graph_create(t.device, NULL, &t.graph), SPVF_OK);
        for (int n = 0; n < count; n++) {
            const spvf_launch l = add(args, n + 1, n, &value);
            cr_assert_eq(spvf_graph_launch(t.graph, &l, NULL), SPVF_OK, "%s", messages);
        }
        cr_assert_eq(spvf_graph_commit(t.graph), SPVF_OK, "%s", messages);
        cr_expect_eq(spvf_graph_kernel_count(t.graph), 1);
        for (unsigned run = 0; run < 9; run++) {
            if (run % 3 == 0) value++;
            cr_assert_eq(spvf_graph_set_value(t.graph, 0, 2, &value, sizeof value), SPVF_OK);
            for (unsigned k = 0; k < 2; k++) run_graph();
            cr_assert_eq(spvf_queue_finish(t.queue), SPVF_OK);
            for (unsigned k = 2 * run; k < 2 * run + 2; k++)
                cr_expect(has_value(fake_cuda_launch_at(k), value), "%d, launch %u", count, k);
        }
        close_queue();
        t.graph = NULL;
    }
}

Test(cuda_replays, what_the_driver_does_not_change_is_made_again) {
    const int32_t ten = 10;
    open_queue();
    make_graph();
    for (int k = 0; k < 2; k++) run_and_expect(4);
    fake_cuda_fail("cuGraphExecKernelNodeSetParams_v2", 1, 910, false);
    cr_assert_eq(spvf_graph_set_value(t.graph, 0, 2, &ten, sizeof ten), SPVF_OK);
    run_and_expect(13);
    cr_expect_eq(made(), 2);
    run_and_expect(13);
    cr_expect_eq(made(), 2);
    close_queue();
}

static const char *const calls_of_a_graph[] = {"cuGraphCreate", "cuGraphAddKernelNode_v2",
                                               "cuGraphInstantiateWithFlags", "cuGraphLaunch"};

Test(cuda_replays, where_there_is_no_graph_launches_go_into_the_stream) {
    for (size_t n = 0; n < sizeof calls_of_a_graph / sizeof *calls_of_a_graph; n++) {
        bench.folder[0] = 0;
        open_queue();
        make_graph();
        run_and_expect(4);
        fake_cuda_forget();
        fake_cuda_fail(calls_of_a_graph[n], 1, 801, false);
        run_and_expect(4);
        cr_expect_eq(fake_cuda_count("cuLaunchKernel"), LAUNCHES, "%s", calls_of_a_graph[n]);
        unsigned tries = fake_cuda_count("cuGraphCreate");
        run_and_expect(4);
        cr_expect_eq(fake_cuda_count("cuGraphCreate"), tries, "%s", calls_of_a_graph[n]);
        close_queue();
        t.graph = NULL;
    }
}

/* Other values and buffers, whatever fails. */
static void change_and_run(spvf_buffer *other) {
    const int32_t ten = 10, one = 1;
    int32_t back[N];
    spvf_event *e = NULL;
    spvf_graph_run(t.graph, t.queue, NULL, NULL);
    spvf_graph_run(t.graph, t.queue, NULL, &e);
    spvf_graph_set_value(t.graph, 2, 2, &ten, sizeof ten);
    spvf_graph_run(t.graph, t.queue, NULL, NULL);
    spvf_graph_set_buffer(t.graph, t.b[2], other);
    spvf_graph_run(t.graph, t.queue, NULL, NULL);
    spvf_graph_set_value(t.graph, 2, 2, &one, sizeof one);
    spvf_graph_set_buffer(t.graph, other, t.b[2]);
    spvf_queue_read(t.queue, t.b[1], 0, back, BYTES, NULL, NULL);
    if (e) spvf_event_wait(e);
    if (e) spvf_event_destroy(e);
    spvf_queue_finish(t.queue);
}

/* False: fewer than n calls have been made, so none has failed. */
static bool goes_on_after(unsigned n, int error, bool lost) {
    spvf_buffer *other;
    bench.folder[0] = 0;
    open_queue();
    make_graph();
    cr_assert_eq(spvf_buffer_create(t.device, BYTES, NULL, 0, &other), SPVF_OK);
    fake_cuda_forget();
    fake_cuda_fail("any", n, error, lost);
    messages[0] = 0;
    change_and_run(other);
    bool failed = fake_cuda_has_failed();
    fake_cuda_forget();
    if (!lost) run_and_expect(4);
    spvf_buffer_destroy(other);
    close_queue();
    t.graph = NULL;
    return failed;
}

Test(cuda_replays, each_call_may_fail_once) {
    unsigned n = 1;
    while (goes_on_after(n, 999, false)) n++;
    cr_expect_gt(n, 40, "%u", n);
}

Test(cuda_replays, each_call_may_lose_the_device) {
    unsigned n = 1;
    while (goes_on_after(n, 700, true)) n++;
    cr_expect_gt(n, 40, "%u", n);
}

/* As fusion leaves launches in a graph: two kernels that are fused and one that is excluded. */
Test(cuda_replays, launches_that_are_left_after_fusion) {
    const int32_t one = 1;
    open_queue();
    cr_assert_eq(spvf_graph_create(t.device, NULL, &t.graph), SPVF_OK);
    for (int k = 0; k < LAUNCHES; k++) {
        spvf_argument args[3];
        const spvf_launch l = add(args, k + 1, k, &one);
        cr_assert_eq(spvf_graph_launch(t.graph, &l, NULL), SPVF_OK, "%s", messages);
    }
    cr_assert_eq(spvf_graph_exclude(t.graph, 1), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(t.graph), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(t.graph), 3);
    cr_expect_eq(spvf_graph_get_kernel(t.graph, 2).count, 2);
    close_queue();
}

Test(cuda_replays, a_graph_is_destroyed_while_it_runs) {
    open_queue();
    make_graph();
    for (int k = 0; k < 2; k++) run_and_expect(4);
    fake_cuda_hold(true);
    run_graph();
    spvf_graph_destroy(t.graph);
    cr_expect_eq(fake_cuda_count("cuGraphExecDestroy"), 0);
    make_graph();
    fake_cuda_hold(false);
    run_and_expect(4);
    close_queue();
    cr_expect_eq(fake_cuda_count("cuGraphExecDestroy"), 1);
}

Test(cuda_replays, recordings_take_turns) {
    spvf_graph *first;
    open_queue();
    make_graph();
    first = t.graph;
    make_graph();
    for (int k = 0; k < 3; k++) {
        run_and_expect(4);
        cr_assert_eq(spvf_graph_run(first, t.queue, NULL, NULL), SPVF_OK);
    }
    cr_expect_eq(made(), 2);
    cr_expect_eq(replayed(), 4);
    spvf_graph_destroy(first);
    close_queue();
}

/* ----------------------------------------------------------------------------------------- ends */

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
