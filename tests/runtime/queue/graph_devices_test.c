/* graph_devices_test.c — graphs with launches for several devices: what is fused, what is copied
 * between devices and when, and that the results are those of one launch after the other.
 */
#include "runtime/devices/template/template.h"
#include "tests/runtime/queue/launches.h"

/* Two have memory of their own and run later, three work in memory of this process. */
enum { CPU, LATER, UNORDERED, HOST, SECOND, CHECK, DEVICES };
static const struct {
    dev_opener *open;
    const char *name;
} openers[DEVICES] = {{rt_device_open, "cpu"},      {template_open, NULL},
                      {template_open, "unordered"}, {template_open, "host"},
                      {rt_device_open, "cpu"},      {rt_device_open, "check"}};

static spvf_device *devices[DEVICES];
static spvf_program *programs[DEVICES];
static spvf_queue *q; /* of device cpu, as the graph is */
static spvf_graph *graph;

static void set_up(void) {
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, kernels);
    for (int n = 0; n < DEVICES; n++) {
        cr_assert_eq(dev_open_with(c, openers[n].open, openers[n].name, &devices[n]), SPVF_OK);
        cr_assert_eq(spvf_program_create(devices[n], m, &programs[n]), SPVF_OK, "%s", messages);
    }
    cr_assert_eq(spvf_queue_create(devices[CPU], NULL, &q), SPVF_OK);
    cr_assert_eq(spvf_graph_create(devices[CPU], NULL, &graph), SPVF_OK);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

static void tear_down(void) {
    spvf_graph_destroy(graph);
    spvf_queue_destroy(q);
    for (int n = 0; n < DEVICES; n++) {
        spvf_program_destroy(programs[n]);
        spvf_device_destroy(devices[n]);
    }
}

TestSuite(graph_devices, .init = set_up, .fini = tear_down);

/* Of COUNT numbers: 0, 1, 2 … times `factor`. */
static spvf_buffer *make(int device, int32_t factor) {
    int32_t data[COUNT];
    spvf_buffer *b;
    for (int k = 0; k < COUNT; k++) data[k] = factor * k;
    cr_assert_eq(spvf_buffer_create(devices[device], BYTES, data, 0, &b), SPVF_OK);
    return b;
}

static spvf_buffer *make_empty(int device) {
    spvf_buffer *b;
    cr_assert_eq(spvf_buffer_create(devices[device], BYTES, NULL, 0, &b), SPVF_OK);
    return b;
}

static size_t record(int device, const char *kernel, const spvf_argument *args, size_t count) {
    const spvf_launch what = {.size = sizeof what,
                              .program = programs[device],
                              .kernel = kernel,
                              .range = {.dims = 1, .global = {COUNT}},
                              .args = args,
                              .arg_count = count};
    size_t index = 0;
    cr_assert_eq(spvf_graph_launch(graph, &what, &index), SPVF_OK, "%s", messages);
    return index;
}

/* to[i] = from[i] + k */
static size_t add(int device, spvf_buffer *to, spvf_buffer *from, int32_t k) {
    const spvf_argument args[] = {
        {.buffer = to}, {.buffer = from}, {.bytes = &k, .size = sizeof k}};
    return record(device, "add", args, 3);
}

static size_t reverse(int device, spvf_buffer *to, spvf_buffer *from) {
    const spvf_argument args[] = {{.buffer = to}, {.buffer = from}};
    return record(device, "reverse", args, 2);
}

static void commit(size_t kernel_count, size_t copies) {
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(graph), kernel_count, "%zu kernels",
                 spvf_graph_kernel_count(graph));
    cr_expect_eq(spvf_graph_copy_count(graph), copies, "%zu copies", spvf_graph_copy_count(graph));
}

static spvf_status run_graph(void) {
    spvf_event *e;
    cr_assert_eq(spvf_graph_run(graph, q, NULL, &e), SPVF_OK, "%s", messages);
    const spvf_status status = spvf_event_wait(e);
    spvf_event_destroy(e);
    return status;
}

static void read_whole(int device, spvf_buffer *b, int32_t *to) {
    spvf_queue *own;
    cr_assert_eq(spvf_queue_create(devices[device], NULL, &own), SPVF_OK);
    cr_assert_eq(spvf_queue_read(own, b, 0, to, BYTES, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_finish(own), SPVF_OK, "%s", messages);
    spvf_queue_destroy(own);
}

/* Does it hold a·i + b? */
static void expect_line(int device, spvf_buffer *buffer, int32_t a, int32_t b) {
    int32_t got[COUNT];
    read_whole(device, buffer, got);
    for (int k = 0; k < COUNT; k++)
        cr_assert_eq(got[k], a * k + b, "%d: %d, not %d", k, got[k], a * k + b);
}

static void expect_copy(size_t index, const spvf_buffer *b, int from, int to, size_t kernel) {
    const spvf_graph_copy c = spvf_graph_get_copy(graph, index);
    cr_expect(c.buffer == b && c.from == devices[from] && c.to == devices[to] && c.kernel == kernel,
              "copy %zu is for kernel %zu", index, c.kernel);
}

/* ------------------------------------------------------------------------------ fusion, copies */

Test(graph_devices, each_device_fuses_what_follows_on_it) {
    spvf_buffer *x = make(CPU, 1), *a = make_empty(CPU), *b = make_empty(CPU), *c = make_empty(CPU),
                *y = make(CPU, 0);
    add(CPU, a, x, 1);
    add(CPU, b, a, 2);
    add(LATER, c, b, 3);
    add(LATER, c, c, 4);
    add(CHECK, y, c, 5);
    cr_expect_eq(spvf_graph_internal(graph, a, SPVF_PROMOTE_AUTO), SPVF_OK);
    cr_expect_eq(spvf_graph_internal(graph, b, SPVF_PROMOTE_AUTO), SPVF_OK);
    cr_expect_eq(spvf_graph_internal(graph, c, SPVF_PROMOTE_AUTO), SPVF_OK);
    commit(3, 4);
    expect_copy(0, b, CPU, LATER, 1);
    expect_copy(1, y, CPU, CHECK, 2);
    expect_copy(2, c, LATER, CHECK, 2);
    expect_copy(3, y, CHECK, CPU, 3);
    cr_expect_null(spvf_graph_get_copy(graph, 4).buffer);
    const spvf_graph_kernel k = spvf_graph_get_kernel(graph, 0);
    cr_expect(k.first == 0 && k.count == 2 && k.explanation);
    cr_assert(k.refusal && k.refusal->refusal);
    cr_expect_str_eq(k.refusal->refusal->rule, "fuse.devices");
    cr_expect_str_eq(k.refusal->refusal->text,
                     "launch 1 is for device cpu, and launch 2 for device template");
    cr_expect_null(spvf_graph_get_kernel(graph, 2).refusal);
    for (int n = 0; n < 3; n++) cr_assert_eq(run_graph(), SPVF_OK, "%s", messages);
    expect_line(CPU, y, 1, 15);
    cr_expect_null(a->memory, "fusion has made away with it");
    cr_expect_null(c->memory, "only copies of it have been used");
    spvf_buffer *all[] = {x, a, b, c, y};
    for (int n = 0; n < 5; n++) spvf_buffer_destroy(all[n]);
}

/* What the program sees of the border. */
Test(graph_devices, the_border_is_explained_as_text_and_json) {
    spvf_buffer *x = make(CPU, 1), *y = make(SECOND, 1);
    add(CPU, x, x, 1);
    add(SECOND, y, y, 1);
    commit(2, 0);
    const spvf_explanation *e = spvf_graph_get_kernel(graph, 0).refusal;
    cr_assert_not_null(e);
    cr_expect_str_eq(e->refusal->text,
                     "launch 0 is for device cpu, and launch 1 for another device cpu");
    cr_expect_not_null(e->refusal->cure);
    cr_expect(!e->fused && e->decision_count == 1);
    spvf_buffer_destroy(x);
    spvf_buffer_destroy(y);
}

Test(graph_devices, memory_of_the_process_is_not_copied) {
    spvf_buffer *x = make(CPU, 1), *y = make(SECOND, 0);
    for (int n = 0; n < 4; n++) {
        add(HOST, y, x, 1);
        add(SECOND, x, y, 1);
        add(CPU, x, x, 1);
    }
    commit(12, 0);
    cr_assert_eq(run_graph(), SPVF_OK, "%s", messages);
    expect_line(CPU, x, 1, 12);
    expect_line(SECOND, y, 1, 10);
    spvf_buffer_destroy(x);
    spvf_buffer_destroy(y);
}

/* Of memory that two devices share there is one copy on a third. */
/* Whichever of the two is internal, stores to it are made. */
static void read_through_another_buffer(bool first_is_internal) {
    int32_t here[COUNT] = {0};
    spvf_buffer *x = make(CPU, 1), *out = make_empty(CPU), *all, *view, *internal;
    cr_assert_eq(spvf_buffer_create(devices[CPU], BYTES, here, SPVF_USE_HOST, &all), SPVF_OK);
    cr_assert_eq(spvf_buffer_create(devices[CPU], BYTES, here, SPVF_USE_HOST, &view), SPVF_OK);
    add(CPU, all, x, 1);
    add(CPU, out, all, 1);
    add(HOST, x, view, 4);
    internal = first_is_internal ? all : view;
    cr_expect_eq(spvf_graph_internal(graph, internal, SPVF_PROMOTE_AUTO), SPVF_OK);
    commit(2, 0);
    cr_expect_eq(run_graph(), SPVF_OK);
    expect_line(CPU, out, 1, 2);
    expect_line(CPU, x, 1, 5);
    spvf_buffer *made[] = {x, out, all, view};
    for (int k = 0; k < 4; k++) spvf_buffer_destroy(made[k]);
}

Test(graph_devices, an_internal_buffer_is_read_through_another_one) {
    read_through_another_buffer(true);
}

Test(graph_devices, a_buffer_is_read_through_an_internal_one) {
    read_through_another_buffer(false);
}

Test(graph_devices, a_buffer_of_a_device_with_its_own_memory) {
    spvf_buffer *x = make(LATER, 1);
    reverse(UNORDERED, x, x);
    add(CPU, x, x, 1);
    add(HOST, x, x, 1);
    add(LATER, x, x, 1);
    add(UNORDERED, x, x, 1);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    expect_copy(0, x, LATER, UNORDERED, 0);
    expect_copy(1, x, UNORDERED, CPU, 1);
    expect_copy(2, x, CPU, LATER, 3);
    expect_copy(3, x, LATER, UNORDERED, 4);
    expect_copy(4, x, UNORDERED, LATER, 5);
    cr_expect_eq(spvf_graph_copy_count(graph), 5);
    spvf_buffer_destroy(x);
}

Test(graph_devices, no_launch_need_be_of_the_graphs_device) {
    spvf_buffer *x = make(LATER, 2);
    add(LATER, x, x, 1);
    add(LATER, x, x, 2);
    commit(1, 0);
    cr_assert_eq(run_graph(), SPVF_OK, "%s", messages);
    cr_assert_eq(run_graph(), SPVF_OK, "%s", messages);
    expect_line(LATER, x, 2, 6);
    spvf_buffer_destroy(x);
}

/* ------------------------------------------------------------------------------------ refusals */

Test(graph_devices, strict_graphs_are_refused) {
    const spvf_graph_options strict = {.size = sizeof strict, .strict = true};
    spvf_graph_destroy(graph);
    cr_assert_eq(spvf_graph_create(devices[CPU], &strict, &graph), SPVF_OK);
    spvf_buffer *x = make(CPU, 1);
    add(CPU, x, x, 1);
    add(LATER, x, x, 1);
    cr_expect_eq(spvf_graph_commit(graph), SPVF_ERROR_REFUSED);
    cr_expect(strstr(messages, "not fused: launch 0 is for device cpu, and launch 1 for device "
                               "template [fuse.devices]"),
              "%s", messages);
    spvf_buffer_destroy(x);
}

Test(graph_devices, two_copies_of_the_same_memory_are_refused) {
    static int32_t memory[COUNT + 1];
    spvf_buffer *x, *y, *z = make(CPU, 1);
    cr_assert_eq(spvf_buffer_create(devices[CPU], BYTES, memory, SPVF_USE_HOST, &x), SPVF_OK);
    cr_assert_eq(spvf_buffer_create(devices[CPU], BYTES, memory + 1, SPVF_USE_HOST, &y), SPVF_OK);
    add(CPU, z, z, 1);
    add(CPU, x, z, 1);
    add(LATER, z, y, 1);
    cr_expect_eq(spvf_graph_commit(graph), SPVF_ERROR_REFUSED);
    cr_expect(strstr(messages, "error: a buffer of launch 2 would be copied to another device, and "
                               "shares memory with a buffer of launch 1"),
              "%s", messages);
    cr_expect_eq(spvf_graph_run(graph, q, NULL, NULL), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_graph_copy_count(graph), 0);
    spvf_buffer_destroy(x);
    spvf_buffer_destroy(y);
    spvf_buffer_destroy(z);
}

/* ------------------------------------------------------------------------------------- changes */

Test(graph_devices, values_and_buffers_change_between_runs) {
    spvf_buffer *x = make(CPU, 1), *other = make(CPU, 3), *theirs = make(LATER, 1);
    const size_t first = add(HOST, x, x, 10);
    const size_t second = add(LATER, x, x, 20);
    commit(2, 2);
    cr_assert_eq(run_graph(), SPVF_OK, "%s", messages);
    expect_line(CPU, x, 1, 30);
    const int32_t one = 1, two = 2;
    cr_expect_eq(spvf_graph_set_value(graph, first, 2, &one, sizeof one), SPVF_OK);
    cr_expect_eq(spvf_graph_set_value(graph, second, 2, &two, sizeof two), SPVF_OK);
    cr_expect_eq(spvf_graph_set_buffer(graph, x, theirs), SPVF_ERROR_ARGUMENT);
    cr_expect_eq(spvf_graph_set_buffer(graph, x, other), SPVF_OK, "%s", messages);
    cr_assert_eq(run_graph(), SPVF_OK, "%s", messages);
    expect_line(CPU, other, 3, 3);
    expect_line(CPU, x, 1, 30);
    cr_expect_eq(spvf_graph_set_buffer(graph, other, x), SPVF_OK, "%s", messages);
    spvf_buffer_destroy(other);
    cr_assert_eq(run_graph(), SPVF_OK, "%s", messages);
    expect_line(CPU, x, 1, 33);
    spvf_buffer_destroy(x);
    spvf_buffer_destroy(theirs);
}

/* ---------------------------------------------------------------------------------------- runs */

static spvf_status fill_with_sevens(void *user) {
    spvf_buffer *b = user;
    int32_t *at = spvf_buffer_address(b);
    for (int k = 0; k < COUNT; k++) at[k] = 7;
    return SPVF_OK;
}

/* What is before a run in a queue, and what a run is told to wait for, comes before all of it. */
Test(graph_devices, a_run_has_a_place_in_its_queue) {
    spvf_buffer *x = make(CPU, 0);
    spvf_event *start;
    add(LATER, x, x, 1);
    add(CPU, x, x, 1);
    commit(2, 2);
    cr_assert_eq(spvf_event_create(devices[CPU], &start), SPVF_OK);
    cr_assert_eq(spvf_queue_host(q, fill_with_sevens, x, NULL, 0, &(spvf_wait){&start, 1}, NULL),
                 SPVF_OK);
    cr_assert_eq(spvf_graph_run(graph, q, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_graph_run(graph, q, NULL, NULL), SPVF_OK);
    cr_expect_eq(spvf_event_end(start, SPVF_OK), SPVF_OK);
    cr_assert_eq(spvf_queue_finish(q), SPVF_OK, "%s", messages);
    expect_line(CPU, x, 0, 11);
    spvf_event_destroy(start);
    spvf_buffer_destroy(x);
}

Test(graph_devices, a_graph_goes_while_it_runs) {
    spvf_buffer *x = make(CPU, 1);
    spvf_event *start;
    add(LATER, x, x, 1);
    add(UNORDERED, x, x, 1);
    add(HOST, x, x, 1);
    commit(3, 3);
    cr_assert_eq(spvf_event_create(devices[CPU], &start), SPVF_OK);
    cr_assert_eq(spvf_graph_run(graph, q, &(spvf_wait){&start, 1}, NULL), SPVF_OK);
    spvf_graph_destroy(graph);
    graph = NULL;
    cr_expect_eq(spvf_event_end(start, SPVF_OK), SPVF_OK);
    cr_assert_eq(spvf_queue_finish(q), SPVF_OK, "%s", messages);
    expect_line(CPU, x, 1, 3);
    spvf_event_destroy(start);
    spvf_buffer_destroy(x);
}

Test(graph_devices, a_failure_on_one_device_is_that_of_the_run) {
    spvf_buffer *x = make(CPU, 1);
    add(CPU, x, x, 1);
    add(LATER, x, x, 1);
    commit(2, 2);
    template_refuse(devices[LATER]->shared.base, true);
    cr_expect_eq(run_graph(), SPVF_ERROR_DEVICE);
    cr_expect_eq(spvf_queue_finish(q), SPVF_ERROR_DEVICE);
    template_refuse(devices[LATER]->shared.base, false);
    cr_expect_eq(run_graph(), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_queue_finish(q), SPVF_OK);
    spvf_buffer_destroy(x);
}

/* Queues of both devices keep launches that use its buffers. */
Test(graph_devices, a_run_ends_fusions_that_it_needs) {
    spvf_buffer *x = make(CPU, 1), *y = make(LATER, 0);
    spvf_queue *theirs;
    const int32_t k = 5;
    cr_assert_eq(spvf_queue_create(devices[LATER], NULL, &theirs), SPVF_OK);
    add(LATER, y, x, 1);
    add(CPU, x, y, 1);
    commit(2, 2);
    const spvf_argument args[] = {{.buffer = x}, {.buffer = x}, {.bytes = &k, .size = sizeof k}};
    const spvf_argument their_args[] = {
        {.buffer = y}, {.buffer = y}, {.bytes = &k, .size = sizeof k}};
    spvf_launch what = {.size = sizeof what,
                        .program = programs[CPU],
                        .kernel = "add",
                        .range = {.dims = 1, .global = {COUNT}},
                        .args = args,
                        .arg_count = 3};
    cr_assert_eq(spvf_queue_start_fusion(q, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_start_fusion(theirs, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_launch(q, &what, NULL, NULL), SPVF_OK);
    what.program = programs[LATER];
    what.args = their_args;
    cr_assert_eq(spvf_queue_launch(theirs, &what, NULL, NULL), SPVF_OK);
    cr_assert_eq(run_graph(), SPVF_OK, "%s", messages);
    cr_expect(!spvf_queue_is_fusing(q) && !spvf_queue_is_fusing(theirs));
    expect_line(CPU, x, 1, 7);
    expect_line(LATER, y, 1, 6);
    spvf_queue_destroy(theirs);
    spvf_buffer_destroy(x);
    spvf_buffer_destroy(y);
}

/* ------------------------------------------------------------------------------- random graphs */

static uint32_t seed = 1;

static unsigned any(unsigned below) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % below;
}

enum { HOMES = 5, LAUNCHES = 14, RUNS = 2 };
typedef struct {
    unsigned device, to, from;
    int32_t k;
    bool reverses;
} step;

static void follow(int32_t values[HOMES][COUNT], const step *s) {
    int32_t now[COUNT];
    for (int i = 0; i < COUNT; i++)
        now[i] = s->reverses ? values[s->from][COUNT - 1 - i] : values[s->from][i] + s->k;
    memcpy(values[s->to], now, sizeof now);
}

static step any_step(void) {
    step s = {any(DEVICES), any(HOMES), any(HOMES), (int32_t)any(100), any(3) == 0};
    if (s.reverses && s.to == s.from) s.to = (s.to + 1) % HOMES;
    return s;
}

static void try_any_graph(void) {
    static int32_t want[HOMES][COUNT];
    unsigned at[HOMES];
    spvf_buffer *buffers[HOMES];
    step steps[LAUNCHES];
    for (unsigned n = 0; n < HOMES; n++) {
        at[n] = any(DEVICES);
        buffers[n] = make((int)at[n], (int32_t)n);
        for (int k = 0; k < COUNT; k++) want[n][k] = (int32_t)n * k;
    }
    for (unsigned n = 0; n < LAUNCHES; n++) {
        step *s = &steps[n];
        *s = any_step();
        if (n && any(2)) s->device = steps[n - 1].device;
        if (s->reverses)
            reverse((int)s->device, buffers[s->to], buffers[s->from]);
        else
            add((int)s->device, buffers[s->to], buffers[s->from], s->k);
    }
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    for (int r = 0; r < RUNS; r++) {
        cr_assert_eq(spvf_graph_run(graph, q, NULL, NULL), SPVF_OK);
        for (unsigned n = 0; n < LAUNCHES; n++) follow(want, &steps[n]);
    }
    cr_assert_eq(spvf_queue_finish(q), SPVF_OK, "%s", messages);
    for (unsigned n = 0; n < HOMES; n++) {
        int32_t got[COUNT];
        read_whole((int)at[n], buffers[n], got);
        cr_assert(!memcmp(got, want[n], BYTES), "buffer %u", n);
        spvf_buffer_destroy(buffers[n]);
    }
    spvf_graph_destroy(graph);
    cr_assert_eq(spvf_graph_create(devices[CPU], NULL, &graph), SPVF_OK);
}

Test(graph_devices, random_launches_give_what_one_after_the_other_gives) {
    for (int n = 0; n < 60; n++) {
        seed = (uint32_t)n;
        try_any_graph();
    }
}
