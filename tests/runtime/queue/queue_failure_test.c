/* queue_failure_test.c — every allocation of memory fails in turn: entries of spvfuse_queue.h say
 * so, nothing leaks, and what is there goes on. */
#include "tests/runtime/queue/launches.h"
#include "tests/short_memory.h"

#include <time.h>

static bench t;

/* Gives SPVF_OK and has undone what it did, or what went wrong. */
typedef spvf_status operation(void *user);

/* Checks fail when memory does: what is wrong is noted. */
static _Atomic unsigned wrong;

static void expect(bool right) { wrong += !right; }

/* Buffers of one operation; what they know of commands goes with them. */
static void make_buffers(void) {
    int32_t data[COUNT];
    for (int k = 0; k < COUNT; k++) data[k] = k;
    for (int k = 0; k < BUFFERS; k++)
        cr_assert_eq(spvf_buffer_create(t.device, BYTES, k ? NULL : data, 0, &t.b[k]), SPVF_OK);
}

static void drop_buffers(void) {
    for (int k = 0; k < BUFFERS; k++) {
        spvf_buffer_destroy(t.b[k]);
        t.b[k] = NULL;
    }
}

static void expect_contents(int buffer, int32_t more) {
    const int32_t *got = spvf_buffer_address(t.b[buffer]);
    for (int k = 0; got && k < COUNT; k++) expect(got[k] == k + more);
}

/* Code that was made quickly may have gone meanwhile. */
static bool is_as_before(long before) {
    for (int wait = 0; wait < 200 && count_blocks() > before; wait++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return count_blocks() <= before;
}

/* True: all memory is given back. */
static bool run_with(int allocations, operation *o, void *user, spvf_status *status) {
    const long before = count_blocks();
    make_buffers();
    has_failed = false;
    left = allocations;
    *status = o(user);
    left = -1;
    spvf_queue_finish(t.q);
    spvf_queue_finish(t.other);
    drop_buffers();
    return is_as_before(before);
}

/* Threads are started once, and keep memory; other code of a kernel is made at some launch.  What
 * leaks does so again. */
static bool leaks(int allocations, operation *o, void *user, spvf_status *status) {
    for (int again = 0; again < 5; again++)
        if (run_with(allocations, o, user, status)) return false;
    return true;
}

/* Until nothing has failed.  What waits for a command that has failed fails with the device. */
static int fail_one_by_one(operation *o, void *user) {
    spvf_status status;
    int n = 0;
    do {
        bool bad = leaks(n++, o, user, &status);
        cr_expect(!bad, "%d: memory is not given back", n);
        cr_expect(status == SPVF_OK || status == SPVF_ERROR_MEMORY || status == SPVF_ERROR_DEVICE,
                  "%d: %d", n, (int)status);
        cr_expect_eq(wrong, 0);
    } while (has_failed && n < 10000);
    cr_expect_eq(status, SPVF_OK);
    return n;
}

/* From one on all fail; then that one only.  What is made once is there before. */
static void fail_each(operation *o, void *user) {
    make_buffers();
    cr_assert_eq(o(user), SPVF_OK);
    drop_buffers();
    fails_once = false;
    cr_expect_eq(fail_one_by_one(o, user) > 1, CAN_FAIL);
    fails_once = true;
    fail_one_by_one(o, user);
}

static spvf_status rest(void *user) {
    (void)user;
    nanosleep(&(struct timespec){0, 5000000}, NULL);
    return SPVF_OK;
}

static void set_up(void) {
    begin(&t);
    drop_buffers();
}

static void tear_down(void) { end(&t); }

TestSuite(queue_failure, .init = set_up, .fini = tear_down);

/* How the command ended, which is not needed any more. */
static spvf_status ended(spvf_status status, spvf_event **e) {
    if (status != SPVF_OK) return status;
    status = spvf_event_wait(*e);
    spvf_event_destroy(*e);
    return status;
}

/* -------------------------------------------------------------------------------------- objects */

static spvf_status open_device(void *user) {
    spvf_device *d;
    spvf_status status = spvf_device_open(user, "cpu", &d);
    spvf_device_destroy(d);
    return status;
}

static spvf_status create_queue(void *user) {
    spvf_queue *q;
    spvf_status status = spvf_queue_create(t.device, user, &q);
    spvf_queue_destroy(q);
    return status;
}

static spvf_status create_buffer(void *user) {
    spvf_buffer *b;
    spvf_status status = spvf_buffer_create(t.device, BYTES, user, 0, &b);
    spvf_buffer_destroy(b);
    return status;
}

static spvf_status use_host(void *user) {
    spvf_buffer *b;
    spvf_status status = spvf_buffer_create(t.device, BYTES, user, SPVF_USE_HOST, &b);
    spvf_buffer_destroy(b);
    return status;
}

static spvf_status find_address(void *user) {
    spvf_buffer *b;
    (void)user;
    spvf_status status = spvf_buffer_create(t.device, BYTES, NULL, 0, &b);
    if (status == SPVF_OK && !spvf_buffer_address(b)) status = SPVF_ERROR_MEMORY;
    spvf_buffer_destroy(b);
    return status;
}

static spvf_status create_event(void *user) {
    spvf_event *e;
    (void)user;
    spvf_status status = spvf_event_create(t.device, &e);
    spvf_event_destroy(e);
    return status;
}

Test(queue_failure, objects) {
    int32_t host[COUNT] = {0};
    spvf_context *c = new_context();
    fail_each(open_device, c);
    fail_each(create_queue, NULL);
    fail_each(create_buffer, NULL);
    fail_each(create_buffer, host);
    fail_each(use_host, host);
    fail_each(find_address, NULL);
    fail_each(create_event, NULL);
    spvf_context_destroy(c);
}

static _Atomic int calls;

static void count_end(void *user, spvf_status status) {
    (void)user;
    calls += status == SPVF_OK;
}

/* What was promised is kept: a callback that was taken is called. */
static spvf_status notify(void *user) {
    spvf_event *e;
    int before = calls;
    (void)user;
    spvf_status status = spvf_event_create(t.device, &e);
    if (status != SPVF_OK) return status;
    status = spvf_event_on_end(e, count_end, NULL);
    spvf_event_end(e, SPVF_OK);
    expect(calls == before + (status == SPVF_OK));
    spvf_event_destroy(e);
    return status;
}

Test(queue_failure, callbacks) { fail_each(notify, NULL); }

/* ------------------------------------------------------------------------------------- commands */

static spvf_status launch(void *user) {
    spvf_event *e;
    return ended(enqueue_add(&t, t.q, 1, 0, 1, user, &e), &e);
}

static spvf_status read_some(void *user) {
    spvf_event *e;
    return ended(spvf_queue_read(t.q, t.b[0], 0, t.back, BYTES, user, &e), &e);
}

static spvf_status write_some(void *user) {
    spvf_event *e;
    return ended(spvf_queue_write(t.q, t.b[3], 0, t.back, BYTES, user, &e), &e);
}

static spvf_status copy(void *user) {
    spvf_event *e;
    return ended(spvf_queue_copy(t.other, t.b[0], 0, t.b[3], 0, BYTES, user, &e), &e);
}

static spvf_status fill(void *user) {
    spvf_event *e;
    return ended(spvf_queue_fill(t.other, t.b[3], 0, BYTES, "abcd", 4, user, &e), &e);
}

static spvf_status call(void *user) {
    spvf_event *e;
    const spvf_use uses[] = {{t.b[0], false}, {t.b[3], true}};
    return ended(spvf_queue_host(t.q, rest, NULL, uses, 2, user, &e), &e);
}

static spvf_status mark(void *user) {
    spvf_event *e;
    return ended(spvf_queue_marker(t.other, user, &e), &e);
}

static spvf_status separate(void *user) {
    spvf_event *e;
    return ended(spvf_queue_barrier(t.other, user, &e), &e);
}

Test(queue_failure, commands) {
    static operation *const all[] = {launch, read_some, write_some, copy,
                                     fill,   call,      mark,       separate};
    spvf_event *gate;
    cr_assert_eq(spvf_event_create(t.device, &gate), SPVF_OK);
    cr_assert_eq(spvf_event_end(gate, SPVF_OK), SPVF_OK);
    const spvf_wait wait = {&gate, 1};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
        fail_each(all[k], NULL);
        fail_each(all[k], (void *)(uintptr_t)&wait);
    }
    spvf_event_destroy(gate);
}

/* Commands that cannot be enqueued while others wait: those run when they may. */
static spvf_status wait_for_many(void *user) {
    spvf_event *gate, *e;
    (void)user;
    spvf_status status = spvf_event_create(t.device, &gate);
    if (status != SPVF_OK) return status;
    const spvf_wait wait = {&gate, 1};
    for (int k = 0; k < 5 && status == SPVF_OK; k++)
        status = spvf_queue_copy(t.other, t.b[0], 0, t.b[4 + k], 0, BYTES, &wait, NULL);
    if (status == SPVF_OK) status = spvf_queue_barrier(t.other, NULL, &e);
    spvf_event_end(gate, SPVF_OK);
    spvf_event_destroy(gate);
    return ended(status, &e);
}

Test(queue_failure, commands_that_wait) { fail_each(wait_for_many, NULL); }

/* The kernel is compiled with what memory there is. */
static spvf_status run_program(void *user) {
    spvf_program *p;
    spvf_event *e;
    int32_t k = 1;
    spvf_status status = spvf_program_create(t.device, user, &p);
    if (status != SPVF_OK) return status;
    const spvf_argument args[] = {
        {.buffer = t.b[2]}, {.buffer = t.b[0]}, {.bytes = &k, .size = sizeof k}};
    const spvf_launch what = {.size = sizeof what,
                              .program = p,
                              .kernel = "add",
                              .range = {.dims = 1, .global = {COUNT}},
                              .args = args,
                              .arg_count = 3};
    status = ended(spvf_queue_launch(t.q, &what, NULL, &e), &e);
    spvf_program_destroy(p);
    return status;
}

Test(queue_failure, programs) {
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, kernels);
    fail_each(run_program, m);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

/* --------------------------------------------------------------------------------------- graphs */

static spvf_status record(spvf_graph *g, int to, int from) {
    const int32_t k = 1;
    const spvf_argument args[] = {
        {.buffer = t.b[to]}, {.buffer = t.b[from]}, {.bytes = &k, .size = sizeof k}};
    const spvf_launch what = launch_of(&t, "add", args, 3);
    return spvf_graph_launch(g, &what, NULL);
}

/* A graph whose commit has failed does not run: not all of it would. */
static spvf_status run_graph(void *user) {
    spvf_graph *g;
    spvf_event *e;
    spvf_status status = spvf_graph_create(t.device, user, &g);
    if (status == SPVF_OK) status = record(g, 1, 0);
    if (status == SPVF_OK) status = record(g, 2, 1);
    if (status == SPVF_OK) status = record(g, 3, 2);
    if (status == SPVF_OK) status = spvf_graph_internal(g, t.b[1], SPVF_PROMOTE_AUTO);
    if (status == SPVF_OK && (status = spvf_graph_commit(g)) != SPVF_OK)
        expect(spvf_graph_run(g, t.q, NULL, NULL) == SPVF_ERROR_ARGUMENT);
    if (status == SPVF_OK) status = ended(spvf_graph_run(g, t.q, NULL, &e), &e);
    if (status == SPVF_OK) expect_contents(3, 3);
    spvf_graph_destroy(g);
    return status;
}

static spvf_program *elsewhere; /* on a device with memory of its own */

/* There and back again. */
static spvf_status run_spread_graph(void *user) {
    spvf_graph *g;
    spvf_event *e;
    spvf_program *here = t.program;
    spvf_status status = spvf_graph_create(t.device, user, &g);
    if (status == SPVF_OK) status = record(g, 1, 0);
    t.program = elsewhere;
    if (status == SPVF_OK) status = record(g, 2, 1);
    t.program = here;
    if (status == SPVF_OK) status = record(g, 3, 2);
    if (status == SPVF_OK) status = spvf_graph_internal(g, t.b[2], SPVF_PROMOTE_AUTO);
    if (status == SPVF_OK && (status = spvf_graph_commit(g)) != SPVF_OK)
        expect(spvf_graph_run(g, t.q, NULL, NULL) == SPVF_ERROR_ARGUMENT);
    if (status == SPVF_OK) status = spvf_graph_set_buffer(g, t.b[1], t.b[4]);
    if (status == SPVF_OK) status = ended(spvf_graph_run(g, t.q, NULL, &e), &e);
    if (status == SPVF_OK) expect_contents(3, 3);
    spvf_graph_destroy(g);
    return status;
}

Test(queue_failure, graphs_of_two_devices) {
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, kernels);
    spvf_device *d;
    cr_assert_eq(spvf_device_open(c, "check", &d), SPVF_OK);
    cr_assert_eq(spvf_program_create(d, m, &elsewhere), SPVF_OK);
    fail_each(run_spread_graph, NULL);
    spvf_program_destroy(elsewhere);
    spvf_device_destroy(d);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

Test(queue_failure, graphs) {
    const spvf_graph_options apart = {.size = sizeof apart, .unfused = true};
    fail_each(run_graph, NULL);
    fail_each(run_graph, (void *)(uintptr_t)&apart);
}

/* --------------------------------------------------------------------------------------- fusing */

typedef spvf_status way(spvf_queue *q, spvf_event **out);

static spvf_status cancel(spvf_queue *q, spvf_event **out) {
    spvf_status status = spvf_queue_cancel_fusion(q);
    return status == SPVF_OK ? spvf_queue_complete_fusion(q, out) : status;
}

/* Finishing the queue cancels as well. */
static spvf_status finish(spvf_queue *q, spvf_event **out) {
    spvf_status status = spvf_queue_finish(q);
    return status == SPVF_OK ? spvf_queue_complete_fusion(q, out) : status;
}

static spvf_status fuse(void *user) {
    way *const *how = user;
    const spvf_queue_options o = {.size = sizeof o};
    spvf_queue *q;
    spvf_event *e;
    spvf_status status = spvf_queue_create(t.device, &o, &q);
    if (status != SPVF_OK) return status;
    status = spvf_queue_start_fusion(q, NULL);
    for (int k = 0; k < 3 && status == SPVF_OK; k++)
        status = enqueue_add(&t, q, k + 1, k, 1, NULL, NULL);
    if (status == SPVF_OK) status = ended((*how)(q, &e), &e);
    if (status == SPVF_OK) expect_contents(3, 3);
    spvf_queue_destroy(q);
    return status;
}

Test(queue_failure, fusing) {
    static way *const all[] = {spvf_queue_complete_fusion, cancel, finish};
    for (int k = 0; k < 3; k++) fail_each(fuse, (void *)(uintptr_t)&all[k]);
}
