/* queue_misuse_test.c — each entry of spvfuse_queue.h with each bad argument: its status and its
 * message; without a handle that has a callback there is no message. */
#include "tests/runtime/queue/launches.h"

static bench t;
static spvf_context *c;
static spvf_module *m;
static spvf_device *check; /* another device, and what it has */
static spvf_buffer *theirs;
static spvf_program *other_program;
static spvf_queue *other_queue;
static spvf_event *e;
static int32_t value = 1;

static void set_up(void) {
    begin(&t);
    c = new_context();
    m = load_text(c, kernels);
    cr_assert_eq(spvf_device_open(c, "check", &check), SPVF_OK);
    cr_assert_eq(spvf_buffer_create(check, BYTES, NULL, 0, &theirs), SPVF_OK);
    cr_assert_eq(spvf_program_create(check, m, &other_program), SPVF_OK);
    cr_assert_eq(spvf_queue_create(check, NULL, &other_queue), SPVF_OK);
}

static void tear_down(void) {
    spvf_queue_destroy(other_queue);
    spvf_program_destroy(other_program);
    spvf_buffer_destroy(theirs);
    spvf_device_destroy(check);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    end(&t);
}

TestSuite(queue_misuse, .init = set_up, .fini = tear_down);

/* What is to be evaluated first clears the messages. */
static void *anything(void) {
    messages[0] = 0;
    return &messages;
}

static void expect(const char *call, spvf_status got, spvf_status want, const char *text) {
    cr_expect_eq(got, want, "%s: %s", call, spvf_status_name(got));
    cr_expect_str_eq(messages, text, "%s: %s", call, messages);
}

#define FAILS(call, status, text)                                                                  \
    do {                                                                                           \
        anything();                                                                                \
        spvf_status got_ = (call);                                                                 \
        expect(#call, got_, status, text);                                                         \
    } while (0)
#define REFUSED(call, text) FAILS(call, SPVF_ERROR_ARGUMENT, "error: " text "\n")
/* No handle has a callback for the message. */
#define UNHEARD(call) FAILS(call, SPVF_ERROR_ARGUMENT, "")

/* ------------------------------------------------------------------- devices and what they have */

Test(queue_misuse, devices) {
    spvf_device *d = (spvf_device *)anything();
    UNHEARD(spvf_device_open(NULL, "cpu", &d));
    cr_expect_null(d);
    REFUSED(spvf_device_open(c, "cpu", NULL), "spvf_device_open: out is NULL");
    spvf_device_destroy(NULL);
    spvf_device_on_print(NULL, NULL, NULL);
}

Test(queue_misuse, programs) {
    spvf_program *p = (spvf_program *)anything();
    UNHEARD(spvf_program_create(NULL, m, &p));
    cr_expect_null(p);
    REFUSED(spvf_program_create(t.device, NULL, &p), "spvf_program_create: module is NULL");
    REFUSED(spvf_program_create(t.device, m, NULL), "spvf_program_create: out is NULL");
    cr_expect_null(spvf_program_kernel(NULL, "add"));
    cr_expect_null(spvf_program_kernel(t.program, NULL));
    cr_expect_null(spvf_program_kernel(t.program, "nothing"));
    spvf_program_destroy(NULL);
}

Test(queue_misuse, buffers) {
    spvf_buffer *b = (spvf_buffer *)anything();
    int32_t *far = (int32_t *)(UINTPTR_MAX - 7);
    UNHEARD(spvf_buffer_create(NULL, 4, NULL, 0, &b));
    cr_expect_null(b);
    REFUSED(spvf_buffer_create(t.device, 4, NULL, 0, NULL), "spvf_buffer_create: out is NULL");
    REFUSED(spvf_buffer_create(t.device, 4, &value, 77, &b),
            "spvf_buffer_create: flags are 77, neither SPVF_COPY_HOST nor SPVF_USE_HOST");
    REFUSED(spvf_buffer_create(t.device, 4, NULL, SPVF_USE_HOST, &b),
            "spvf_buffer_create: SPVF_USE_HOST: host is NULL");
    REFUSED(
        spvf_buffer_create(t.device, 8, far, SPVF_USE_HOST, &b),
        "spvf_buffer_create: SPVF_USE_HOST: 8 bytes at 0xfffffffffffffff8 go beyond all memory");
    FAILS(spvf_buffer_create(t.device, SIZE_MAX, NULL, 0, &b), SPVF_ERROR_MEMORY,
          "error: spvf_buffer_create: 18446744073709551615 bytes are too many\n");
    FAILS(spvf_buffer_create(check, 4, &value, SPVF_USE_HOST, &b), SPVF_ERROR_REFUSED,
          "error: spvf_buffer_create: SPVF_USE_HOST: this device does not work in memory of the "
          "program\n");
    cr_expect_null(b);
    cr_expect_eq(spvf_buffer_size(NULL), 0);
    cr_expect_null(spvf_buffer_address(NULL));
    cr_expect_null(spvf_buffer_address(theirs), "it is the device's");
    spvf_buffer_destroy(NULL);
}

/* --------------------------------------------------------------------------------------- events */

static void ignore(void *user, spvf_status status) { (void)user, (void)status; }

Test(queue_misuse, events) {
    spvf_event *command;
    UNHEARD(spvf_event_create(NULL, &e));
    cr_expect_null(e);
    REFUSED(spvf_event_create(t.device, NULL), "spvf_event_create: out is NULL");
    cr_assert_eq(spvf_event_create(t.device, &e), SPVF_OK);
    UNHEARD(spvf_event_wait(NULL));
    cr_expect_not(spvf_event_ended(NULL, NULL));
    cr_expect_eq(spvf_event_get_times(NULL).enqueued, 0);
    UNHEARD(spvf_event_on_end(NULL, ignore, NULL));
    REFUSED(spvf_event_on_end(e, NULL, NULL), "spvf_event_on_end: function is NULL");
    UNHEARD(spvf_event_end(NULL, SPVF_OK));
    REFUSED(spvf_event_end(e, (spvf_status)99), "spvf_event_end: 99 is no status");
    REFUSED(spvf_event_end(e, (spvf_status)-1), "spvf_event_end: -1 is no status");
    FAILS(spvf_event_end(e, SPVF_OK), SPVF_OK, "");
    REFUSED(spvf_event_end(e, SPVF_OK), "spvf_event_end: event has ended already");
    cr_assert_eq(spvf_queue_marker(t.q, NULL, &command), SPVF_OK);
    REFUSED(spvf_event_end(command, SPVF_OK),
            "spvf_event_end: event is a command's, which ends by itself");
    spvf_event_destroy(command);
    spvf_event_destroy(e);
    spvf_event_destroy(NULL);
}

/* --------------------------------------------------------------------------------------- queues */

Test(queue_misuse, queues) {
    spvf_queue *q = (spvf_queue *)anything();
    const spvf_queue_options no_size = {.out_of_order = true};
    UNHEARD(spvf_queue_create(NULL, NULL, &q));
    cr_expect_null(q);
    REFUSED(spvf_queue_create(t.device, NULL, NULL), "spvf_queue_create: out is NULL");
    REFUSED(spvf_queue_create(t.device, &no_size, &q),
            "spvf_queue_create: options: size is 0, not that of the struct");
    UNHEARD(spvf_queue_finish(NULL));
    spvf_queue_destroy(NULL);
}

static spvf_argument args[3];
static spvf_launch what;

static void set_launch(void) {
    args[0] = (spvf_argument){.buffer = t.b[1]};
    args[1] = (spvf_argument){.buffer = t.b[0]};
    args[2] = (spvf_argument){.bytes = &value, .size = sizeof value};
    what = launch_of(&t, "add", args, 3);
}

/* The launch as it was set, but for one thing, which graphs take. */
#define BAD_FOR_QUEUES(change, text)                                                               \
    do {                                                                                           \
        set_launch();                                                                              \
        change;                                                                                    \
        REFUSED(spvf_queue_launch(t.q, &what, NULL, &e), "spvf_queue_launch: " text);              \
        cr_expect_null(e);                                                                         \
    } while (0)
/* And which they do not take either. */
#define BAD_LAUNCH(change, text)                                                                   \
    do {                                                                                           \
        BAD_FOR_QUEUES(change, text);                                                              \
        REFUSED(spvf_graph_launch(g, &what, NULL), "spvf_graph_launch: " text);                    \
    } while (0)

Test(queue_misuse, launches) {
    spvf_graph *g;
    cr_assert_eq(spvf_graph_create(t.device, NULL, &g), SPVF_OK);
    set_launch();
    UNHEARD(spvf_queue_launch(NULL, &what, NULL, &e));
    cr_expect_null(e);
    REFUSED(spvf_queue_launch(t.q, NULL, NULL, NULL), "spvf_queue_launch: what is NULL");
    BAD_LAUNCH(what.program = NULL, "program is NULL");
    BAD_FOR_QUEUES(what.program = other_program, "program is of another device");
    BAD_LAUNCH(what.kernel = NULL, "kernel is NULL");
    BAD_LAUNCH(what.kernel = "nothing", "the program has no kernel 'nothing'");
    BAD_LAUNCH(what.arg_count = 2, "kernel 'add' takes 3 arguments, not 2");
    BAD_LAUNCH(what.args = NULL, "3 arguments at NULL");
    BAD_LAUNCH(what.range.dims = 0, "range: 1 to 3 dimensions, not 0");
    BAD_LAUNCH(what.range.dims = 4, "range: 1 to 3 dimensions, not 4");
    BAD_LAUNCH((what.range.dims = 2, what.range.local[0] = 1),
               "range: a local size is 0 where another one is not");
    BAD_LAUNCH(args[0].buffer = NULL,
               "kernel 'add', argument 0 (out): takes a buffer, which is NULL");
    BAD_LAUNCH(args[0].bytes = &value,
               "kernel 'add', argument 0 (out): takes a buffer, and is given bytes as well");
    BAD_FOR_QUEUES(args[0].buffer = theirs,
                   "kernel 'add', argument 0 (out): the buffer is of another device");
    BAD_LAUNCH(args[0].offset = BYTES + 1, "kernel 'add', argument 0 (out): offset 4001 is not in "
                                           "the buffer, which has 4000 bytes");
    BAD_LAUNCH(args[2].buffer = t.b[2],
               "kernel 'add', argument 2 (k): takes a value, and is given a buffer");
    BAD_LAUNCH(args[2].bytes = NULL,
               "kernel 'add', argument 2 (k): takes a value, and bytes is NULL");
    BAD_LAUNCH(args[2].size = 8,
               "kernel 'add', argument 2 (k): takes a value of 4 bytes, and is given 8");
    BAD_LAUNCH((what.kernel = "last", what.arg_count = 2),
               "kernel 'last', argument 1 (l): takes local memory, and is given a buffer");
    BAD_LAUNCH((what.kernel = "last", what.arg_count = 2, args[1] = args[2]),
               "kernel 'last', argument 1 (l): takes local memory, and is given a value");
    BAD_LAUNCH((what.kernel = "last", what.arg_count = 2, args[1] = (spvf_argument){.size = 0}),
               "kernel 'last', argument 1 (l): takes local memory, and size is 0");
    spvf_graph_destroy(g);
    set_launch();
    what.program = other_program;
}

/* ------------------------------------------------------------------------------------ transfers */

Test(queue_misuse, reading_and_writing) {
    spvf_buffer *b = t.b[0];
    UNHEARD(spvf_queue_read(NULL, b, 0, t.back, 4, NULL, &e));
    UNHEARD(spvf_queue_write(NULL, b, 0, t.back, 4, NULL, &e));
    REFUSED(spvf_queue_read(t.q, NULL, 0, t.back, 4, NULL, &e), "spvf_queue_read: from is NULL");
    cr_expect_null(e);
    REFUSED(spvf_queue_read(t.q, b, 0, NULL, 4, NULL, &e), "spvf_queue_read: to is NULL");
    REFUSED(spvf_queue_read(t.q, theirs, 0, t.back, 4, NULL, &e),
            "spvf_queue_read: from is a buffer of another device");
    REFUSED(spvf_queue_read(t.q, b, 1, t.back, BYTES, NULL, &e),
            "spvf_queue_read: from: 4000 bytes from 1 on are not in the buffer, which has 4000");
    REFUSED(spvf_queue_read(t.q, b, SIZE_MAX, t.back, 2, NULL, &e),
            "spvf_queue_read: from: 2 bytes from 18446744073709551615 on are not in the buffer, "
            "which has 4000");
    REFUSED(spvf_queue_write(t.q, NULL, 0, t.back, 4, NULL, &e), "spvf_queue_write: to is NULL");
    REFUSED(spvf_queue_write(t.q, b, 0, NULL, 4, NULL, &e), "spvf_queue_write: from is NULL");
    REFUSED(spvf_queue_write(t.q, theirs, 0, t.back, 4, NULL, &e),
            "spvf_queue_write: to is a buffer of another device");
    REFUSED(spvf_queue_write(t.q, b, BYTES, t.back, 1, NULL, &e),
            "spvf_queue_write: to: 1 bytes from 4000 on are not in the buffer, which has 4000");
    FAILS(spvf_queue_read(t.q, b, BYTES, NULL, 0, NULL, NULL), SPVF_OK, "");
    FAILS(spvf_queue_write(t.q, b, BYTES, NULL, 0, NULL, NULL), SPVF_OK, "");
}

Test(queue_misuse, copying_and_filling) {
    spvf_buffer *a = t.b[0], *b = t.b[1];
    UNHEARD(spvf_queue_copy(NULL, a, 0, b, 0, 4, NULL, &e));
    REFUSED(spvf_queue_copy(t.q, NULL, 0, b, 0, 4, NULL, &e), "spvf_queue_copy: from is NULL");
    REFUSED(spvf_queue_copy(t.q, a, 0, NULL, 0, 4, NULL, &e), "spvf_queue_copy: to is NULL");
    REFUSED(spvf_queue_copy(t.q, a, 0, theirs, 0, 4, NULL, &e),
            "spvf_queue_copy: to is a buffer of another device");
    REFUSED(spvf_queue_copy(t.q, a, 8, b, 0, BYTES, NULL, &e),
            "spvf_queue_copy: from: 4000 bytes from 8 on are not in the buffer, which has 4000");
    REFUSED(spvf_queue_copy(t.q, a, 0, b, 8, BYTES, NULL, &e),
            "spvf_queue_copy: to: 4000 bytes from 8 on are not in the buffer, which has 4000");
    UNHEARD(spvf_queue_fill(NULL, a, 0, 4, &value, 4, NULL, &e));
    REFUSED(spvf_queue_fill(t.q, NULL, 0, 4, &value, 4, NULL, &e), "spvf_queue_fill: to is NULL");
    REFUSED(spvf_queue_fill(t.q, a, 0, 4, NULL, 4, NULL, &e), "spvf_queue_fill: pattern is NULL");
    REFUSED(spvf_queue_fill(t.q, a, 0, 4, &value, 0, NULL, &e),
            "spvf_queue_fill: a pattern has 1 to 128 bytes, not 0");
    REFUSED(spvf_queue_fill(t.q, a, 0, 129, t.back, 129, NULL, &e),
            "spvf_queue_fill: a pattern has 1 to 128 bytes, not 129");
    REFUSED(spvf_queue_fill(t.q, a, 0, 10, &value, 4, NULL, &e),
            "spvf_queue_fill: 10 bytes are no multiple of the pattern's 4");
    REFUSED(spvf_queue_fill(t.q, a, 0, BYTES + 4, &value, 4, NULL, &e),
            "spvf_queue_fill: to: 4004 bytes from 0 on are not in the buffer, which has 4000");
    cr_expect_null(e);
}

/* ------------------------------------------------------------- the host, and what is waited for */

static spvf_status give(void *user) { return *(const spvf_status *)user; }

Test(queue_misuse, functions_of_the_host) {
    spvf_use uses[2] = {{t.b[0], false}, {NULL, false}};
    spvf_status status = (spvf_status)-1;
    UNHEARD(spvf_queue_host(NULL, give, &status, NULL, 0, NULL, &e));
    REFUSED(spvf_queue_host(t.q, NULL, NULL, NULL, 0, NULL, &e),
            "spvf_queue_host: function is NULL");
    REFUSED(spvf_queue_host(t.q, give, &status, NULL, 2, NULL, &e),
            "spvf_queue_host: 2 uses at NULL");
    REFUSED(spvf_queue_host(t.q, give, &status, uses, SIZE_MAX, NULL, &e),
            "spvf_queue_host: 18446744073709551615 uses are too many");
    REFUSED(spvf_queue_host(t.q, give, &status, uses, 2, NULL, &e),
            "spvf_queue_host: use 1: buffer is NULL");
    uses[1].buffer = theirs;
    REFUSED(spvf_queue_host(t.q, give, &status, uses, 2, NULL, &e),
            "spvf_queue_host: use 1: buffer is of another device");
    cr_expect_null(e);
    cr_assert_eq(spvf_queue_host(t.q, give, &status, NULL, 0, NULL, NULL), SPVF_OK);
    REFUSED(spvf_queue_finish(t.q), "spvf_queue_host: the function gave -1, which is no status");
}

static spvf_event *gate, *own;

/* Waits for itself in three ways; the queue is gone then. */
static spvf_status wait_for_self(void *user) {
    spvf_queue *q = user;
    spvf_event_wait(gate);
    REFUSED(spvf_event_wait(own), "spvf_event_wait: a command waits for its own event");
    REFUSED(spvf_queue_finish(q), "spvf_queue_finish: a command waits for its own queue");
    spvf_queue_destroy(q);
    return SPVF_OK;
}

Test(queue_misuse, commands_that_wait_for_themselves) {
    for (int k = 0; k < 2; k++) {
        const spvf_queue_options o = {.size = sizeof o, .out_of_order = k};
        spvf_queue *q;
        cr_assert_eq(spvf_queue_create(t.device, &o, &q), SPVF_OK);
        cr_assert_eq(spvf_event_create(t.device, &gate), SPVF_OK);
        cr_assert_eq(spvf_queue_host(q, wait_for_self, q, NULL, 0, NULL, &own), SPVF_OK);
        cr_assert_eq(spvf_queue_marker(q, NULL, &e), SPVF_OK, "which comes after it");
        cr_assert_eq(spvf_event_end(gate, SPVF_OK), SPVF_OK);
        cr_expect_eq(spvf_event_wait(e), SPVF_OK);
        cr_expect_eq(spvf_event_wait(own), SPVF_OK);
        spvf_event *all[] = {gate, own, e};
        for (int n = 0; n < 3; n++) spvf_event_destroy(all[n]);
    }
}

typedef spvf_status enqueuing(const spvf_wait *wait);

static spvf_status launch(const spvf_wait *w) { return spvf_queue_launch(t.q, &what, w, &e); }
static spvf_status mark(const spvf_wait *w) { return spvf_queue_marker(t.q, w, &e); }
static spvf_status separate(const spvf_wait *w) { return spvf_queue_barrier(t.q, w, &e); }
static spvf_status call(const spvf_wait *w) {
    return spvf_queue_host(t.q, give, NULL, NULL, 0, w, &e);
}
static spvf_status read_some(const spvf_wait *w) {
    return spvf_queue_read(t.q, t.b[0], 0, t.back, 4, w, &e);
}
static spvf_status write_some(const spvf_wait *w) {
    return spvf_queue_write(t.q, t.b[0], 0, t.back, 4, w, &e);
}
static spvf_status copy(const spvf_wait *w) {
    return spvf_queue_copy(t.q, t.b[0], 0, t.b[1], 0, 4, w, &e);
}
static spvf_status fill(const spvf_wait *w) {
    return spvf_queue_fill(t.q, t.b[0], 0, 4, &value, 4, w, &e);
}
static spvf_graph *committed;
static spvf_status run_graph(const spvf_wait *w) { return spvf_graph_run(committed, t.q, w, &e); }

Test(queue_misuse, lists_of_what_is_waited_for) {
    static const struct {
        const char *name;
        enqueuing *call;
    } all[] = {
        {"spvf_queue_launch", launch},    {"spvf_queue_marker", mark},
        {"spvf_queue_barrier", separate}, {"spvf_queue_host", call},
        {"spvf_queue_read", read_some},   {"spvf_queue_write", write_some},
        {"spvf_queue_copy", copy},        {"spvf_queue_fill", fill},
        {"spvf_graph_run", run_graph},
    };
    static const struct {
        size_t count;
        bool given;
        const char *text;
    } lists[] = {{1, false, "1 events at NULL"},
                 {(size_t)1 << 40, true, "1099511627776 events are too many"},
                 {2, true, "event 1 is NULL"}};
    spvf_event *events[2] = {NULL, NULL};
    set_launch();
    cr_assert_eq(spvf_event_create(t.device, &events[0]), SPVF_OK);
    cr_assert_eq(spvf_graph_create(t.device, NULL, &committed), SPVF_OK);
    cr_assert_eq(spvf_graph_launch(committed, &what, NULL), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(committed), SPVF_OK);
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        for (int k = 0; k < 3; k++) {
            const spvf_wait wait = {lists[k].given ? events : NULL, lists[k].count};
            char text[120];
            snprintf(text, sizeof text, "error: %s: wait: %s\n", all[n].name, lists[k].text);
            FAILS(all[n].call(&wait), SPVF_ERROR_ARGUMENT, text);
            cr_expect_null(e);
        }
    }
    UNHEARD(spvf_queue_marker(NULL, NULL, &e));
    UNHEARD(spvf_queue_barrier(NULL, NULL, &e));
    spvf_graph_destroy(committed);
    spvf_event_destroy(events[0]);
}

/* --------------------------------------------------------------------------------------- graphs */

Test(queue_misuse, recording) {
    spvf_graph *g = (spvf_graph *)anything();
    const spvf_graph_options no_size = {.strict = true};
    const spvf_graph_options no_barrier = {.size = sizeof no_barrier, .barrier = (spvf_barrier)9};
    UNHEARD(spvf_graph_create(NULL, NULL, &g));
    cr_expect_null(g);
    REFUSED(spvf_graph_create(t.device, NULL, NULL), "spvf_graph_create: out is NULL");
    REFUSED(spvf_graph_create(t.device, &no_size, &g),
            "spvf_graph_create: options: size is 0, not that of the struct");
    REFUSED(spvf_graph_create(t.device, &no_barrier, &g),
            "spvf_graph_create: 9 is no barrier policy");
    cr_assert_eq(spvf_graph_create(t.device, NULL, &g), SPVF_OK);
    set_launch();
    UNHEARD(spvf_graph_launch(NULL, &what, NULL));
    REFUSED(spvf_graph_launch(g, NULL, NULL), "spvf_graph_launch: what is NULL");
    UNHEARD(spvf_graph_internal(NULL, t.b[1], SPVF_PROMOTE_AUTO));
    REFUSED(spvf_graph_internal(g, NULL, SPVF_PROMOTE_AUTO), "spvf_graph_internal: buffer is NULL");
    REFUSED(spvf_graph_internal(g, t.b[1], (spvf_promote)5),
            "spvf_graph_internal: 5 is no kind of promotion");
    UNHEARD(spvf_graph_exclude(NULL, 0));
    REFUSED(spvf_graph_exclude(g, 0), "spvf_graph_exclude: there is no launch 0 among 0");
    UNHEARD(spvf_graph_commit(NULL));
    REFUSED(spvf_graph_commit(g), "spvf_graph_commit: nothing was recorded");
    REFUSED(spvf_graph_run(g, t.q, NULL, &e), "spvf_graph_run: the graph is not committed yet");
    spvf_graph_destroy(g);
    spvf_graph_destroy(NULL);
}

Test(queue_misuse, graphs_that_are_committed) {
    spvf_graph *g;
    spvf_buffer *small;
    const spvf_graph_options constants = {.size = sizeof constants, .constants = true};
    set_launch();
    cr_assert_eq(spvf_buffer_create(t.device, 4, NULL, 0, &small), SPVF_OK);
    cr_assert_eq(spvf_graph_create(t.device, NULL, &g), SPVF_OK);
    cr_assert_eq(spvf_graph_launch(g, &what, NULL), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(g), SPVF_OK);
    REFUSED(spvf_graph_commit(g), "spvf_graph_commit: the graph is committed already");
    REFUSED(spvf_graph_launch(g, &what, NULL), "spvf_graph_launch: the graph is committed already");
    REFUSED(spvf_graph_internal(g, t.b[1], SPVF_PROMOTE_AUTO),
            "spvf_graph_internal: the graph is committed already");
    REFUSED(spvf_graph_exclude(g, 0), "spvf_graph_exclude: the graph is committed already");
    UNHEARD(spvf_graph_run(NULL, t.q, NULL, &e));
    REFUSED(spvf_graph_run(g, NULL, NULL, &e), "spvf_graph_run: queue is NULL");
    REFUSED(spvf_graph_run(g, other_queue, NULL, &e), "spvf_graph_run: queue is of another device");
    UNHEARD(spvf_graph_set_value(NULL, 0, 2, &value, 4));
    REFUSED(spvf_graph_set_value(g, 1, 2, &value, 4),
            "spvf_graph_set_value: there is no launch 1 among 1");
    REFUSED(spvf_graph_set_value(g, 0, 2, NULL, 4), "spvf_graph_set_value: bytes is NULL");
    REFUSED(spvf_graph_set_value(g, 0, 3, &value, 4),
            "spvf_graph_set_value: launch 0 has 3 arguments, no 3");
    REFUSED(spvf_graph_set_value(g, 0, 1, &value, 4),
            "spvf_graph_set_value: argument 1 of launch 0 is no value");
    REFUSED(spvf_graph_set_value(g, 0, 2, &value, 2),
            "spvf_graph_set_value: argument 2 of launch 0 has 4 bytes, not 2");
    UNHEARD(spvf_graph_set_buffer(NULL, t.b[0], t.b[2]));
    REFUSED(spvf_graph_set_buffer(g, NULL, t.b[2]), "spvf_graph_set_buffer: old is NULL");
    REFUSED(spvf_graph_set_buffer(g, t.b[0], NULL), "spvf_graph_set_buffer: now is NULL");
    REFUSED(spvf_graph_set_buffer(g, t.b[0], theirs),
            "spvf_graph_set_buffer: now is of another device");
    REFUSED(spvf_graph_set_buffer(g, t.b[0], small),
            "spvf_graph_set_buffer: now has 4 bytes, not the 4000 of old");
    REFUSED(spvf_graph_set_buffer(g, t.b[3], t.b[4]),
            "spvf_graph_set_buffer: old is not in the graph");
    REFUSED(spvf_graph_set_buffer(g, t.b[0], t.b[1]),
            "spvf_graph_set_buffer: now shares memory with another buffer of the graph");
    cr_expect_eq(spvf_graph_kernel_count(NULL), 0);
    cr_expect_eq(spvf_graph_get_kernel(NULL, 0).count, 0);
    cr_expect_eq(spvf_graph_get_kernel(g, 1).count, 0);
    spvf_graph_destroy(g);
    cr_assert_eq(spvf_graph_create(t.device, &constants, &g), SPVF_OK);
    cr_assert_eq(spvf_graph_launch(g, &what, NULL), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(g), SPVF_OK);
    REFUSED(spvf_graph_set_value(g, 0, 2, &value, 4),
            "spvf_graph_set_value: values of this graph are constants of its code");
    spvf_graph_destroy(g);
    spvf_buffer_destroy(small);
}

/* --------------------------------------------------------------------------------------- fusing */

Test(queue_misuse, fusing) {
    const spvf_graph_options no_size = {.strict = true};
    UNHEARD(spvf_queue_start_fusion(NULL, NULL));
    UNHEARD(spvf_queue_complete_fusion(NULL, &e));
    UNHEARD(spvf_queue_cancel_fusion(NULL));
    cr_expect_not(spvf_queue_is_fusing(NULL));
    cr_expect_null(spvf_queue_last_fusion(NULL));
    REFUSED(spvf_queue_complete_fusion(t.q, &e),
            "spvf_queue_complete_fusion: fusion was never started");
    REFUSED(spvf_queue_start_fusion(t.q, &no_size),
            "spvf_queue_start_fusion: options: size is 0, not that of the struct");
    cr_assert_eq(spvf_queue_start_fusion(t.q, NULL), SPVF_OK);
    REFUSED(spvf_queue_start_fusion(t.q, NULL),
            "spvf_queue_start_fusion: the queue is fusing already");
    set_launch();
    args[2].size = 3;
    REFUSED(spvf_queue_launch(t.q, &what, NULL, NULL),
            "spvf_queue_launch: kernel 'add', argument 2 (k): takes a value of 4 bytes, and is "
            "given 3");
    cr_expect(spvf_queue_is_fusing(t.q), "nothing has happened");
}
