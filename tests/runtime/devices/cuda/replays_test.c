/* replays_test.c — graphs on device cuda: recordings that become graphs of the driver, with other
 * buffers and values, and where they do not. */
#include "tests/runtime/devices/cuda/cuda_queue.h"

enum { LAUNCHES = 4 };

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
    cr_expect_eq(fake_cuda_count("cuLaunchKernelEx"), LAUNCHES);
    cr_expect_eq(made(), 0);
    for (int k = 0; k < 5; k++) run_and_expect(4);
    cr_expect_eq(fake_cuda_count("cuLaunchKernelEx"), LAUNCHES);
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

static unsigned early(void) { return fake_cuda_count("cuGraphAddDependencies_v2"); }

/* From sm_90 on, each kernel but the first one begins early, and waits itself, in a graph as in the
 * stream, unless the option says no. */
Test(cuda_replays, kernels_begin_before_the_end_of_those_before_them) {
    static const struct {
        const char *device, *sm;
        bool early;
    } row[] = {{"cuda", "90", true}, {"cuda", "89", false}, {"cuda:0,early=never", "90", false}};
    for (size_t n = 0; n < sizeof row / sizeof *row; n++) {
        bench.folder[0] = 0;
        setenv("FAKE_CUDA_SM", row[n].sm, 1);
        fake_cuda_forget();
        open_queue_of(row[n].device);
        make_graph();
        for (int k = 0; k < 3; k++) run_and_expect(4);
        cr_expect_eq(made(), 1);
        cr_expect_eq(early(), row[n].early ? LAUNCHES - 1 : 0);
        cr_expect_eq(fake_cuda_count("cuLaunchKernelEx"), row[n].early ? LAUNCHES : 0);
        cr_expect_eq(fake_cuda_count("cuLaunchKernel"), row[n].early ? 0 : LAUNCHES);
        close_queue();
        t.graph = NULL;
    }
}

/* Whatever the driver says to it: the edge, or the graph that has it. */
Test(cuda_replays, where_kernels_cannot_begin_early_they_begin_later) {
    static const char *const refusing[] = {"cuGraphAddDependencies_v2",
                                           "cuGraphInstantiateWithFlags"};
    for (size_t n = 0; n < sizeof refusing / sizeof *refusing; n++) {
        bench.folder[0] = 0;
        open_queue();
        make_graph();
        run_and_expect(4);
        fake_cuda_forget();
        fake_cuda_fail(refusing[n], 1, 801, false);
        for (int k = 0; k < 3; k++) run_and_expect(4);
        cr_expect_eq(fake_cuda_count("cuGraphCreate"), 2, "%s", refusing[n]);
        cr_expect_eq(replayed(), 3, "%s", refusing[n]);
        close_queue();
        t.graph = NULL;
    }
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
        for (unsigned call = 1; call < 3; call++) /* with kernels that begin early, and without */
            fake_cuda_fail(calls_of_a_graph[n], call, 801, false);
        run_and_expect(4);
        cr_expect_eq(fake_cuda_count("cuLaunchKernelEx"), LAUNCHES, "%s", calls_of_a_graph[n]);
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
