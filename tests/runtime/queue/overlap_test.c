/* overlap_test.c — buffers that are the same memory of the user, as a whole or in part: launches
 * are fused, and commands ordered, by their addresses.
 */
#include "tests/runtime/queue/launches.h"

enum { SPARE = 4 };

static bench t;
static int32_t here[COUNT + SPARE]; /* that the buffers lie in */
static spvf_buffer *low, *high;     /* from element 0 on, and from element 1 on */
static spvf_graph *graph;

static spvf_buffer *view(spvf_device *d, int32_t *at, size_t elements) {
    spvf_buffer *b;
    cr_assert_eq(spvf_buffer_create(d, elements * 4, at, SPVF_USE_HOST, &b), SPVF_OK);
    return b;
}

static void set_up(void) {
    begin(&t);
    for (int k = 0; k < COUNT + SPARE; k++) here[k] = k;
    low = view(t.device, here, COUNT);
    high = view(t.device, here + 1, COUNT);
    cr_assert_eq(spvf_graph_create(t.device, NULL, &graph), SPVF_OK);
}

static void tear_down(void) {
    spvf_graph_destroy(graph);
    spvf_buffer_destroy(low);
    spvf_buffer_destroy(high);
    end(&t);
}

TestSuite(overlap, .init = set_up, .fini = tear_down);

/* --------------------------------------------------------------------------------------- graphs */

/* to[i] = from[i] + k */
static void record(spvf_argument to, spvf_argument from, int32_t k) {
    const spvf_argument args[] = {to, from, {.bytes = &k, .size = sizeof k}};
    const spvf_launch what = launch_of(&t, "add", args, 3);
    cr_assert_eq(spvf_graph_launch(graph, &what, NULL), SPVF_OK, "%s", messages);
}

static spvf_argument all_of(spvf_buffer *b) { return (spvf_argument){.buffer = b}; }

static void run_graph(size_t kernels_wanted) {
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(graph), kernels_wanted);
    cr_assert_eq(spvf_graph_run(graph, t.other, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_finish(t.other), SPVF_OK);
}

static void expect_overlap(void) {
    spvf_graph_kernel first = spvf_graph_get_kernel(graph, 0);
    cr_assert(first.refusal && first.refusal->refusal);
    cr_expect_str_eq(first.refusal->refusal->rule, "fuse.overlap");
}

Test(overlap, memory_at_two_addresses_is_not_fused) {
    record(all_of(low), all_of(t.b[0]), 10);
    record(all_of(t.b[1]), all_of(high), 100);
    run_graph(2);
    expect_overlap();
    read_back(&t, t.other, 1);
    for (int n = 0; n + 1 < COUNT; n++) cr_assert_eq(t.back[n], n + 1 + 110);
    cr_expect_eq(t.back[COUNT - 1], COUNT + 100);
}

/* to[s.offset + i] = from[i] */
static const char moved[] = "target 64\n"
                            "kernel @moved(%to: ptr.global of i32, %from: ptr.global of i32, "
                            "%s: ptr.private byval(16) align 8 of {i64, i64}) {\n"
                            "entry:\n"
                            "  %i: i64 = global_id 0\n"
                            "  %s8: ptr.private = ptradd %s, 8\n"
                            "  %offset: i64 = load %s8 align 8\n"
                            "  %at: i64 = add %i, %offset\n"
                            "  %o: i64 = shl %i, 2\n"
                            "  %b: i64 = shl %at, 2\n"
                            "  %p: ptr.global = ptradd %from, %o\n"
                            "  %q: ptr.global = ptradd %to, %b\n"
                            "  %v: i32 = load %p align 4\n"
                            "  store %v, %q align 4\n"
                            "  ret\n"
                            "}\n";

/* Writes half of `low` from element `offset` on, and reads its second half. */
static void run_halves(uint64_t offset, size_t kernels_wanted) {
    const spvf_graph_options constants = {.size = sizeof constants, .constants = true};
    const uint64_t bytes[] = {0, offset};
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, moved);
    spvf_program *p;
    cr_assert_eq(spvf_program_create(t.device, m, &p), SPVF_OK, "%s", messages);
    spvf_graph_destroy(graph);
    cr_assert_eq(spvf_graph_create(t.device, &constants, &graph), SPVF_OK);
    const spvf_argument args[] = {
        all_of(low), all_of(t.b[0]), {.bytes = bytes, .size = sizeof bytes}};
    spvf_launch what = launch_of(&t, "moved", args, 3);
    what.program = p;
    what.range.global[0] = COUNT / 2;
    cr_assert_eq(spvf_graph_launch(graph, &what, NULL), SPVF_OK, "%s", messages);
    const spvf_argument second = {.buffer = low, .offset = COUNT / 2 * 4};
    const spvf_argument more[] = {all_of(t.b[1]), second, {.bytes = &(int32_t){0}, .size = 4}};
    what = launch_of(&t, "add", more, 3);
    what.range.global[0] = COUNT / 2;
    cr_assert_eq(spvf_graph_launch(graph, &what, NULL), SPVF_OK, "%s", messages);
    run_graph(kernels_wanted);
    spvf_program_destroy(p);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

/* What a kernel reaches follows from the members of a struct by value, as from other numbers. */
Test(overlap, offsets_in_structs_tell_what_is_apart) {
    run_halves(0, 1);
    read_back(&t, t.other, 1);
    for (int n = 0; n < COUNT / 2; n++) cr_assert_eq(t.back[n], n + COUNT / 2);
}

Test(overlap, offsets_in_structs_tell_what_overlaps) {
    run_halves(COUNT / 2, 2);
    expect_overlap();
    read_back(&t, t.other, 1);
    for (int n = 0; n < COUNT / 2; n++) cr_assert_eq(t.back[n], n);
}

Test(overlap, offsets_and_buffers_that_begin_elsewhere_are_one_address) {
    record((spvf_argument){.buffer = low, .offset = 4}, all_of(t.b[0]), 10);
    record(all_of(t.b[1]), all_of(high), 100);
    run_graph(1);
    read_back(&t, t.other, 1);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 110);
}

/* What the kernel does after the end of the shorter one is known to later commands. */
Test(overlap, the_longer_of_two_buffers_tells_what_is_used) {
    spvf_buffer *first = view(t.device, here, 4), *last = view(t.device, here + COUNT - 4, 4);
    const spvf_argument nothing = {.bytes = &(int32_t){0}, .size = 4};
    const spvf_argument args[] = {all_of(first), all_of(t.b[0]), nothing};
    spvf_launch what = launch_of(&t, "add", args, 3);
    spvf_event *gate, *done, *after;
    what.range.global[0] = what.range.local[0] = 4;
    cr_assert_eq(spvf_graph_launch(graph, &what, NULL), SPVF_OK);
    const spvf_argument more[] = {all_of(low), all_of(first), nothing};
    what.args = more;
    cr_assert_eq(spvf_graph_launch(graph, &what, NULL), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(graph), 1);
    cr_assert_eq(spvf_event_create(t.device, &gate), SPVF_OK);
    cr_assert_eq(spvf_graph_run(graph, t.other, &(spvf_wait){&gate, 1}, &done), SPVF_OK);
    cr_assert_eq(spvf_queue_fill(t.q, last, 0, 16, "abcd", 4, NULL, &after), SPVF_OK);
    cr_expect_not(spvf_event_ended(after, NULL));
    cr_assert_eq(spvf_event_end(gate, SPVF_OK), SPVF_OK);
    cr_expect_eq(spvf_event_wait(after), SPVF_OK);
    cr_expect(spvf_event_ended(done, NULL));
    spvf_event *all[] = {gate, done, after};
    for (int k = 0; k < 3; k++) spvf_event_destroy(all[k]);
    spvf_buffer_destroy(first);
    spvf_buffer_destroy(last);
}

Test(overlap, a_temporary_is_one_under_all_its_names) {
    spvf_buffer *again = view(t.device, here, COUNT);
    record(all_of(low), all_of(t.b[0]), 10);
    record(all_of(t.b[1]), all_of(again), 100);
    cr_expect_eq(spvf_graph_internal(graph, low, SPVF_PROMOTE_AUTO), SPVF_OK);
    run_graph(1);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(here[n], n + 10, "it was needed");
    spvf_buffer_destroy(again);
}

Test(overlap, memory_of_a_buffer_is_that_of_another) {
    int32_t *there = spvf_buffer_address(t.b[2]);
    spvf_buffer *shifted = view(t.device, there + 1, COUNT - 1);
    record(all_of(t.b[2]), all_of(t.b[0]), 10);
    record(all_of(t.b[1]), (spvf_argument){.buffer = shifted}, 100);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(graph), 2);
    expect_overlap();
    spvf_buffer_destroy(shifted);
}

Test(overlap, buffers_are_exchanged_for_memory_of_their_own) {
    spvf_buffer *again = view(t.device, here, COUNT), *apart = view(t.device, t.back, COUNT);
    record(all_of(low), all_of(t.b[0]), 10);
    record(all_of(t.b[1]), all_of(again), 100);
    run_graph(1);
    cr_expect_eq(spvf_graph_set_buffer(graph, t.b[1], high), SPVF_ERROR_ARGUMENT, "it overlaps");
    cr_expect_eq(spvf_graph_set_buffer(graph, low, apart), SPVF_ERROR_ARGUMENT, "the old one does");
    cr_expect_eq(spvf_graph_set_buffer(graph, t.b[1], apart), SPVF_OK);
    cr_expect_eq(spvf_graph_run(graph, t.q, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 110);
    spvf_buffer_destroy(again);
    spvf_buffer_destroy(apart);
}

/* The new buffer is internal where the old one was. */
Test(overlap, buffers_are_exchanged_before_they_are_fused) {
    record(all_of(low), all_of(t.b[0]), 10);
    record(all_of(t.b[1]), all_of(low), 100);
    cr_expect_eq(spvf_graph_internal(graph, low, SPVF_PROMOTE_AUTO), SPVF_OK);
    cr_expect_eq(spvf_graph_set_buffer(graph, low, low), SPVF_ERROR_ARGUMENT, "it is in there");
    cr_expect_eq(spvf_graph_set_buffer(graph, low, high), SPVF_OK, "whose bytes are not needed");
    run_graph(1);
    for (int n = 0; n < COUNT + SPARE; n++) cr_assert_eq(here[n], n, "it was not touched");
    read_back(&t, t.other, 1);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 110);
}

/* --------------------------------------------------------------------------------------- queues */

static spvf_status do_nothing(void *user) {
    (void)user;
    return SPVF_OK;
}

/* A command that uses a buffer. */
static spvf_event *use(spvf_queue *q, spvf_buffer *b, bool writes, const spvf_wait *wait) {
    spvf_event *e;
    const spvf_use u = {b, writes};
    cr_assert_eq(spvf_queue_host(q, do_nothing, NULL, &u, 1, wait, &e), SPVF_OK);
    return e;
}

/* Waits a command on `b` of one queue for one on `a` of another? */
static bool waits(spvf_queue *q, spvf_buffer *a, bool first, spvf_queue *r, spvf_buffer *b,
                  bool second) {
    spvf_event *gate;
    cr_assert_eq(spvf_event_create(t.device, &gate), SPVF_OK);
    spvf_event *before = use(q, a, first, &(spvf_wait){&gate, 1}), *after = use(r, b, second, NULL);
    const spvf_wait both[] = {{&after, 1}};
    for (int k = 0; k < 1000 && !spvf_event_ended(after, NULL); k++) sched_yield();
    bool waited = !spvf_event_ended(after, NULL);
    cr_expect_not(spvf_event_ended(before, NULL));
    spvf_event_end(gate, SPVF_OK);
    cr_expect_eq(spvf_event_wait(both->events[0]), SPVF_OK);
    cr_expect_eq(spvf_event_wait(before), SPVF_OK);
    spvf_event *all[] = {gate, before, after};
    for (int k = 0; k < 3; k++) spvf_event_destroy(all[k]);
    return waited;
}

Test(overlap, commands_wait_for_those_that_use_the_same_bytes) {
    spvf_buffer *half = view(t.device, here, COUNT / 2);
    spvf_buffer *rest = view(t.device, here + COUNT / 2, COUNT / 2);
    cr_expect(waits(t.q, low, true, t.other, high, true));
    cr_expect(waits(t.q, low, true, t.other, high, false));
    cr_expect(waits(t.q, low, false, t.other, high, true));
    cr_expect_not(waits(t.q, low, false, t.other, high, false), "both read");
    cr_expect(waits(t.q, low, true, t.other, rest, false));
    cr_expect(waits(t.other, rest, true, t.other, high, false));
    cr_expect_not(waits(t.q, half, true, t.other, rest, true), "no byte of them is the same");
    spvf_buffer_destroy(half);
    spvf_buffer_destroy(rest);
}

Test(overlap, devices_wait_for_each_other) {
    bench u;
    begin(&u);
    spvf_buffer *theirs = view(u.device, here + 2, COUNT);
    cr_expect(waits(t.q, low, true, u.q, theirs, true));
    cr_expect(waits(u.q, theirs, true, t.q, high, false));
    cr_expect_not(waits(u.q, theirs, true, t.q, t.b[1], true));
    spvf_buffer_destroy(theirs);
    end(&u);
}

/* Its commands have ended then, and nothing waits for them. */
Test(overlap, buffers_that_are_gone_are_forgotten) {
    for (int n = 0; n < 100; n++) {
        spvf_buffer *b = view(t.device, here + n % SPARE, COUNT);
        spvf_event *e = use(n % 2 ? t.q : t.other, b, true, NULL);
        spvf_buffer_destroy(b);
        spvf_event_destroy(e);
    }
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_OK);
    cr_expect_eq(spvf_queue_finish(t.other), SPVF_OK);
    cr_expect(waits(t.q, low, true, t.other, high, true));
}

/* --------------------------------------------------------------------------------------- fusing */

static void keep(spvf_queue *q) {
    const int32_t k = 5;
    const spvf_argument args[] = {all_of(low), all_of(t.b[0]), {.bytes = &k, .size = sizeof k}};
    const spvf_launch what = launch_of(&t, "add", args, 3);
    messages[0] = 0;
    cr_assert_eq(spvf_queue_start_fusion(q, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_launch(q, &what, NULL, NULL), SPVF_OK);
}

static void expect_cancelled(spvf_queue *q, const char *why) {
    cr_expect_not(spvf_queue_is_fusing(q));
    cr_expect(strstr(messages, "fusion is cancelled") && strstr(messages, why), "%s", messages);
}

Test(overlap, launches_that_are_kept_are_needed_by_the_same_bytes) {
    int32_t got[COUNT];
    keep(t.q);
    cr_assert_eq(spvf_queue_read(t.other, high, 0, got, BYTES, NULL, NULL), SPVF_OK);
    expect_cancelled(t.q, "a command uses a buffer");
    cr_expect_eq(spvf_queue_finish(t.other), SPVF_OK);
    for (int n = 0; n + 1 < COUNT; n++) cr_assert_eq(got[n], n + 1 + 5);
    keep(t.q);
    cr_expect_eq(spvf_buffer_address(high), here + 1);
    expect_cancelled(t.q, "the address of a buffer");
    keep(t.q);
    spvf_event_destroy(use(t.other, t.b[1], true, NULL));
    cr_expect(spvf_queue_is_fusing(t.q), "%s", messages);
    cr_expect_eq(spvf_queue_complete_fusion(t.q, NULL), SPVF_OK);
}

Test(overlap, launches_that_are_kept_are_needed_by_other_devices) {
    bench u;
    int32_t got[COUNT];
    begin(&u);
    spvf_buffer *theirs = view(u.device, here + 2, COUNT);
    keep(t.q);
    cr_assert_eq(spvf_queue_read(u.other, theirs, 0, got, BYTES, NULL, NULL), SPVF_OK);
    expect_cancelled(t.q, "a command uses a buffer");
    cr_expect_eq(spvf_queue_finish(u.other), SPVF_OK);
    for (int n = 0; n + 2 < COUNT; n++) cr_assert_eq(got[n], n + 2 + 5);
    spvf_buffer_destroy(theirs);
    end(&u);
}
