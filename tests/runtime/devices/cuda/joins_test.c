/* joins_test.c — launches without events that join the command before them: they are with the device
 * at once, and what they use is kept until they have ended. */
#include <stddef.h>

#define TWICE_KERNEL                                                                               \
    "kernel @twice(%io: ptr.global of i32) {\n"                                                    \
    "entry:\n"                                                                                     \
    "  %x: i64 = global_id 0\n"                                                                    \
    "  %b: i64 = shl %x, 2\n"                                                                      \
    "  %p: ptr.global = ptradd %io, %b inbounds\n"                                                 \
    "  %v: i32 = load %p align 4\n"                                                                \
    "  %s: i32 = shl %v, 1\n"                                                                      \
    "  store %s, %p align 4\n"                                                                     \
    "  ret\n"                                                                                      \
    "}\n"
#define QUEUE_KERNELS ADD_KERNEL TWICE_KERNEL
#include "tests/runtime/devices/cuda/cuda_queue.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static void launch_of(spvf_program *p, int to, int from) {
    const int32_t one = 1;
    spvf_argument args[3];
    spvf_launch l = add(args, to, from, &one);
    l.program = p;
    cr_assert_eq(spvf_queue_launch(t.queue, &l, NULL, NULL), SPVF_OK, "%s", messages);
}

static void launch(int to, int from) { launch_of(t.program, to, from); }

static void launch_twice(int k) {
    const spvf_argument arg = {.buffer = t.b[k]};
    const spvf_launch l = {.size = sizeof l,
                           .program = t.program,
                           .kernel = "twice",
                           .range = {.dims = 1, .global = {N}},
                           .args = &arg,
                           .arg_count = 1};
    cr_assert_eq(spvf_queue_launch(t.queue, &l, NULL, NULL), SPVF_OK, "%s", messages);
}

/* The kernel is known, and nothing ends from here on. */
static void open_held(void) {
    open_queue();
    launch(1, 1);
    cr_assert_eq(spvf_queue_finish(t.queue), SPVF_OK, "%s", messages);
    fake_cuda_hold(true);
    launch(1, 1);
}

static void finish(void) {
    fake_cuda_hold(false);
    cr_expect_eq(spvf_queue_finish(t.queue), SPVF_OK, "%s", messages);
}

static unsigned commands(void) { return t.queue->queue.count; }

Test(cuda_joins, launches_in_a_row_are_one_command) {
    open_held();
    for (unsigned k = 0; k < 50; k++) {
        launch(1, 1);
        cr_expect_eq(fake_cuda_launches(), k + 3, "it is with the device");
    }
    cr_expect_eq(commands(), 1);
    finish();
    expect_sums(t.b[1], 52);
    close_queue();
}

/* So that what they use is given back at some time. */
Test(cuda_joins, a_command_takes_only_so_many) {
    open_held();
    for (unsigned k = 0; k < 1000; k++) launch(1, 1);
    cr_expect_gt(commands(), 2, "%u", commands());
    cr_expect_lt(commands(), 20, "%u", commands());
    finish();
    expect_sums(t.b[1], 1002);
    close_queue();
}

Test(cuda_joins, other_buffers_join_too) {
    open_held();
    for (int k = 1; k < BUFFERS; k++) launch(k, k - 1);
    cr_expect_eq(commands(), 1);
    finish();
    expect_sums(t.b[BUFFERS - 1], BUFFERS - 1);
    close_queue();
}

static spvf_buffer *new_buffer(void) {
    spvf_buffer *b;
    int32_t zeros[N] = {0};
    cr_assert_eq(spvf_buffer_create(t.device, BYTES, zeros, 0, &b), SPVF_OK);
    return b;
}

Test(cuda_joins, buffers_live_until_the_launches_have_ended) {
    enum { MANY = 20 };
    spvf_buffer *old = NULL;
    open_held();
    for (int k = 0; k < MANY; k++) {
        if (!old) old = t.b[2];
        t.b[2] = new_buffer();
        launch(2, 2);
        if (k)
            spvf_buffer_destroy(old);
        else
            t.b[3] = (spvf_buffer_destroy(t.b[3]), old);
        old = t.b[2];
    }
    cr_expect_eq(fake_cuda_memories(), BUFFERS + MANY - 1, "%u", fake_cuda_memories());
    cr_expect_lt(commands(), 5, "%u", commands());
    finish();
    for (int k = 0; k < 2000 && fake_cuda_memories() > BUFFERS; k++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    cr_expect_leq(fake_cuda_memories(), BUFFERS, "%u", fake_cuda_memories());
    close_queue();
}

Test(cuda_joins, programs_live_until_the_launches_have_ended) {
    enum { MANY = 12 };
    spvf_program *p[MANY];
    open_queue();
    for (int k = 0; k < MANY; k++) {
        cr_assert_eq(spvf_program_create(t.device, bench.module, &p[k]), SPVF_OK);
        launch_of(p[k], 1, 1);
    }
    finish();
    fake_cuda_hold(true);
    for (int k = 0; k < MANY; k++) launch_of(p[k], 1, 1);
    cr_expect_gt(commands(), 1, "each has room for a few");
    cr_expect_lt(commands(), 5, "%u", commands());
    for (int k = 0; k < MANY; k++) spvf_program_destroy(p[k]);
    cr_expect_eq(fake_cuda_modules(), MANY);
    finish();
    expect_sums(t.b[1], 2 * MANY);
    close_queue();
}

Test(cuda_joins, runs_of_a_graph_join_with_launches) {
    const spvf_graph_options o = {.size = sizeof o, .unfused = true};
    const int32_t one = 1;
    spvf_argument args[3];
    open_queue();
    cr_assert_eq(spvf_graph_create(t.device, &o, &t.graph), SPVF_OK);
    for (int k = 0; k < 3; k++) {
        const spvf_launch l = add(args, 1, 1, &one);
        cr_assert_eq(spvf_graph_launch(t.graph, &l, NULL), SPVF_OK);
    }
    cr_assert_eq(spvf_graph_commit(t.graph), SPVF_OK, "%s", messages);
    for (int k = 0; k < 3; k++) cr_assert_eq(spvf_graph_run(t.graph, t.queue, NULL, NULL), SPVF_OK);
    finish();
    fake_cuda_hold(true);
    launch(1, 1);
    for (int k = 0; k < 20; k++)
        cr_assert_eq(spvf_graph_run(t.graph, t.queue, NULL, NULL), SPVF_OK);
    launch(1, 1);
    cr_expect_eq(commands(), 1);
    spvf_graph_destroy(t.graph);
    t.graph = NULL;
    cr_expect_eq(fake_cuda_count("cuGraphExecDestroy"), 0);
    finish();
    expect_sums(t.b[1], 3 * 23 + 2);
    close_queue();
}

/* ---------------------------------------------------------------------------------------- what waits */

static _Atomic bool may_go_on;

static spvf_status wait_for_test(void *user) {
    (void)user;
    while (!may_go_on) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return SPVF_OK;
}

/* A function of the host that another queue runs uses the buffer. */
Test(cuda_joins, a_launch_does_not_overtake_what_uses_its_memory) {
    spvf_queue *other;
    open_held();
    const spvf_use use = {t.b[2], true};
    cr_assert_eq(spvf_queue_create(t.device, NULL, &other), SPVF_OK);
    cr_assert_eq(spvf_queue_host(other, wait_for_test, NULL, &use, 1, NULL, NULL), SPVF_OK);
    const unsigned before = fake_cuda_launches();
    launch(1, 1);
    cr_expect_eq(fake_cuda_launches(), before + 1, "it uses other memory");
    launch(1, 2);
    cr_expect_eq(fake_cuda_launches(), before + 1, "it waits");
    launch(1, 1);
    cr_expect_eq(fake_cuda_launches(), before + 1, "it is after that");
    may_go_on = true;
    finish();
    spvf_queue_destroy(other);
    cr_expect_eq(fake_cuda_launches(), before + 3);
    close_queue();
}

Test(cuda_joins, what_waits_for_events_is_a_command_of_its_own) {
    spvf_event *e, *mine;
    const int32_t one = 1;
    spvf_argument args[3];
    open_held();
    const spvf_launch l = add(args, 1, 1, &one);
    cr_assert_eq(spvf_event_create(t.device, &mine), SPVF_OK);
    cr_assert_eq(spvf_queue_launch(t.queue, &l, &(spvf_wait){&mine, 1}, NULL), SPVF_OK);
    cr_expect_eq(fake_cuda_launches(), 2);
    launch(1, 1);
    cr_expect_eq(fake_cuda_launches(), 2);
    cr_assert_eq(spvf_event_end(mine, SPVF_OK), SPVF_OK);
    finish();
    fake_cuda_hold(true);
    cr_assert_eq(spvf_queue_launch(t.queue, &l, NULL, &e), SPVF_OK);
    launch(1, 1);
    fake_cuda_release(1);
    cr_expect_eq(spvf_event_wait(e), SPVF_OK, "before the launch after it");
    finish();
    spvf_event_destroy(e);
    spvf_event_destroy(mine);
    expect_sums(t.b[1], 6);
    close_queue();
}

/* ------------------------------------------------------------------------------------------- failures */

Test(cuda_joins, a_launch_that_fails_is_a_failure_of_the_queue) {
    static const char *const calls[] = {"cuLaunchKernelEx", "cuCtxSetCurrent"};
    for (unsigned n = 0; n < 2; n++) {
        bench.folder[0] = 0;
        open_held();
        launch(1, 1);
        fake_cuda_forget();
        fake_cuda_fail(calls[n], 2, 2, false);
        for (int k = 0; k < 3; k++) launch(1, 1);
        cr_expect_eq(fake_cuda_count(calls[n]), 3);
        fake_cuda_hold(false);
        cr_expect_eq(spvf_queue_finish(t.queue), SPVF_ERROR_DEVICE, "%s", calls[n]);
        cr_expect_not_null(strstr(messages, "OUT_OF_MEMORY"), "%s", messages);
        messages[0] = 0;
        expect_sums(t.b[1], 5);
        close_queue();
    }
}

Test(cuda_joins, a_lost_device_names_all_kernels) {
    open_queue();
    launch(1, 1);
    launch_twice(2);
    finish();
    fake_cuda_hold(true);
    launch(1, 1);
    launch_twice(2);
    cr_expect_eq(commands(), 1);
    fake_cuda_fail("kernel", 1, 700, false);
    launch(1, 1);
    fake_cuda_hold(false);
    cr_expect_eq(spvf_queue_finish(t.queue), SPVF_ERROR_DEVICE);
    cr_expect_not_null(strstr(messages, "'add', 'twice'"), "%s", messages);
    launch(1, 1);
    cr_expect_eq(spvf_queue_finish(t.queue), SPVF_ERROR_DEVICE, "it stays lost");
    close_queue();
}

/* The child has none of the launches that have not ended, and its own join each other. */
Test(cuda_joins, a_forked_child_has_rows_of_its_own) {
    int status = -1;
    open_held();
    for (int k = 0; k < 5; k++) launch(1, 1);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        bool ok = commands() == 0 && spvf_queue_finish(t.queue) == SPVF_ERROR_DEVICE;
        fake_cuda_hold(false);
        launch(1, 1);
        ok &= spvf_queue_finish(t.queue) == SPVF_OK;
        fake_cuda_hold(true);
        for (int k = 0; k < 3; k++) launch(1, 1);
        ok &= commands() == 1;
        fake_cuda_hold(false);
        _exit(ok && spvf_queue_finish(t.queue) == SPVF_OK ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    launch(1, 1);
    finish();
    expect_sums(t.b[1], 8);
    close_queue();
}

/* -------------------------------------------------------------------------------------------- choices */

/* What the last launch became is remembered for launches that are like it. */
Test(cuda_joins, launches_of_other_ranges_are_other_grids) {
    static const struct {
        uint64_t global, local;
        unsigned grid;
    } ranges[] = {{256, 256, 1}, {256, 256, 1}, {256, 64, 4},
                  {128, 64, 2},  {128, 64, 2},  {192, 64, 3}};
    const int32_t one = 1;
    open_queue();
    for (unsigned k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        spvf_argument args[3];
        spvf_launch l = add(args, 1, 1, &one);
        l.range.global[0] = ranges[k].global;
        l.range.local[0] = ranges[k].local;
        cr_assert_eq(spvf_queue_launch(t.queue, &l, NULL, NULL), SPVF_OK, "%s", messages);
        finish();
        cr_expect_eq(fake_cuda_launch_at(k)->grid[0], ranges[k].grid, "%u", k);
        cr_expect_eq(fake_cuda_launch_at(k)->block[0], ranges[k].local, "%u", k);
    }
    close_queue();
}
