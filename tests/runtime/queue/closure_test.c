/* closure_test.c — kernels that take structs with pointers by value: launches are given the bytes of
 * the struct, and are ordered, fused and checked as if its members were arguments.
 */
#include "tests/runtime/queue/launches.h"

/* out[first_out + i] = in[first_in + i] + n + (int)x */
static const char text[] =
    "target 64\n"
    "kernel @add(%s: ptr.private byval(40) align 8 of {{ptr.generic, i64}, {ptr.global, i64}, i32, "
    "f32}, %more: i32) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %in: ptr.generic = load %s align 8\n"
    "  %s8: ptr.private = ptradd %s, 8\n"
    "  %first_in: i64 = load %s8 align 8\n"
    "  %s16: ptr.private = ptradd %s, 16\n"
    "  %out: ptr.global = load %s16 align 8\n"
    "  %s24: ptr.private = ptradd %s, 24\n"
    "  %first_out: i64 = load %s24 align 8\n"
    "  %s32: ptr.private = ptradd %s, 32\n"
    "  %n: i32 = load %s32 align 4\n"
    "  %s36: ptr.private = ptradd %s, 36\n"
    "  %x: f32 = load %s36 align 4\n"
    "  %a: i64 = add %i, %first_in\n"
    "  %b: i64 = shl %a, 2\n"
    "  %p: ptr.generic = ptradd %in, %b\n"
    "  %v: i32 = load %p align 4\n"
    "  %d: i32 = fptosi %x\n"
    "  %v2: i32 = add %v, %n\n"
    "  %v3: i32 = add %v2, %d\n"
    "  %v4: i32 = add %v3, %more\n"
    "  %c: i64 = add %i, %first_out\n"
    "  %e: i64 = shl %c, 2\n"
    "  %q: ptr.global = ptradd %out, %e\n"
    "  store %v4, %q align 4\n"
    "  ret\n"
    "}\n";

typedef struct {
    const int32_t *in;
    uint64_t first_in;
    int32_t *out;
    uint64_t first_out;
    int32_t n;
    float x;
} closure;

static bench t;
static spvf_program *program;
static spvf_graph *graph;
static const int32_t zero;

static spvf_program *load_program(const bench *b) {
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, text);
    spvf_program *p;
    cr_assert_eq(spvf_program_create(b->device, m, &p), SPVF_OK, "%s", messages);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    return p;
}

static void set_up(void) {
    begin(&t);
    program = load_program(&t);
    cr_assert_eq(spvf_graph_create(t.device, NULL, &graph), SPVF_OK);
}

static void tear_down(void) {
    spvf_graph_destroy(graph);
    spvf_program_destroy(program);
    end(&t);
}

TestSuite(closure, .init = set_up, .fini = tear_down);

static int32_t *at(int buffer) { return spvf_buffer_address(t.b[buffer]); }

static closure between(int to, int from, int32_t n) {
    return (closure){.in = at(from), .out = at(to), .n = n, .x = 0.5f};
}

typedef struct {
    spvf_argument args[2];
    spvf_launch what;
} request;

static const spvf_launch *launch_with(request *r, const closure *bytes) {
    r->args[0] = (spvf_argument){.bytes = bytes, .size = sizeof *bytes};
    r->args[1] = (spvf_argument){.bytes = &zero, .size = sizeof zero};
    r->what = (spvf_launch){.size = sizeof(spvf_launch),
                            .program = program,
                            .kernel = "add",
                            .range = {.dims = 1, .global = {COUNT}},
                            .args = r->args,
                            .arg_count = 2};
    return &r->what;
}

static void enqueue(spvf_queue *q, const closure *bytes) {
    request r;
    cr_assert_eq(spvf_queue_launch(q, launch_with(&r, bytes), NULL, NULL), SPVF_OK, "%s", messages);
}

static void record(const closure *bytes) {
    request r;
    cr_assert_eq(spvf_graph_launch(graph, launch_with(&r, bytes), NULL), SPVF_OK, "%s", messages);
}

static void expect_result(int buffer, int32_t more) {
    read_back(&t, t.q, buffer);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + more, "%d: %d", n, t.back[n]);
}

/* --------------------------------------------------------------------------------------- launches */

Test(closure, the_kernel_has_the_arguments_that_it_was_read_with) {
    const spvf_kernel_info *k = spvf_program_kernel(program, "add");
    cr_assert_eq(k->arg_count, 2);
    cr_expect_eq(k->args[0]->kind, SPVF_ARG_VALUE);
    cr_expect_eq(k->args[0]->size, sizeof(closure));
}

static void note_argument(void *user, size_t index, const void *bytes) {
    const void **at = user;
    at[index] = bytes;
}

/* The module that the kernels were taken apart in is gone. */
Test(closure, the_kernel_of_a_module_that_has_no_structs_any_more_knows_them) {
    const spvf_module_options o = {.size = sizeof o, .closures = true};
    spvf_context *c = new_context();
    spvf_module *m;
    spvf_program *p;
    cr_assert_eq(spvf_module_load(c, "k", text, strlen(text), &o, &m), SPVF_OK);
    const size_t members = spvf_module_find_kernel(m, "add")->arg_count;
    cr_assert_eq(spvf_program_create(t.device, m, &p), SPVF_OK, "%s", messages);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    const spvf_kernel_info *k = spvf_program_kernel(p, "add");
    cr_assert_eq(k->arg_count, members);
    cr_assert_eq(k->host_arg_count, 2);
    cr_expect_eq(k->host_args[0]->size, sizeof(closure));
    const void *at[8] = {NULL};
    const closure bytes = {0};
    cr_assert_eq(spvf_closure_arguments(k, 0, &bytes, sizeof bytes, note_argument, NULL, at),
                 SPVF_OK);
    for (size_t n = 0; n < members; n++)
        if (k->args[n]->member) cr_expect_eq(at[n], (const char *)&bytes + k->args[n]->offset);
    spvf_program_destroy(p);
}

Test(closure, launches_take_bytes) {
    const closure c = between(1, 0, 10);
    enqueue(t.q, &c);
    expect_result(1, 10);
}

Test(closure, accessors_begin_within_buffers) {
    closure c = between(1, 0, 10);
    c.in += 100;
    c.first_out = 50;
    request r;
    launch_with(&r, &c);
    r.what.range.global[0] = 100;
    cr_assert_eq(spvf_queue_fill(t.q, t.b[1], 0, BYTES, "\0\0\0\0", 4, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_launch(t.q, &r.what, NULL, NULL), SPVF_OK, "%s", messages);
    read_back(&t, t.q, 1);
    for (int n = 0; n < COUNT; n++)
        cr_assert_eq(t.back[n], n >= 50 && n < 150 ? n - 50 + 100 + 10 : 0);
}

/* The queue has no order of its own. */
Test(closure, pointers_order_commands) {
    spvf_event *gate;
    const closure first = between(1, 0, 10), second = between(2, 1, 10);
    request r;
    cr_assert_eq(spvf_event_create(t.device, &gate), SPVF_OK);
    cr_assert_eq(spvf_queue_launch(t.other, launch_with(&r, &first), &(spvf_wait){&gate, 1}, NULL),
                 SPVF_OK);
    enqueue(t.other, &second);
    cr_assert_eq(spvf_event_end(gate, SPVF_OK), SPVF_OK);
    read_back(&t, t.other, 2);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(t.back[n], n + 20);
    spvf_event_destroy(gate);
}

/* ----------------------------------------------------------------------------------------- fusion */

/* What is between them is promoted: nothing is written there. */
Test(closure, a_chain_of_eight_is_one_kernel) {
    for (int k = 0; k < 8; k++) {
        const closure c = between(k + 1, k, k);
        record(&c);
    }
    memset(at(1), 0xff, BYTES);
    for (int k = 1; k < 8; k++)
        cr_assert_eq(spvf_graph_internal(graph, t.b[k], SPVF_PROMOTE_AUTO), SPVF_OK);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_kernel_count(graph), 1);
    const spvf_explanation *e = spvf_graph_get_kernel(graph, 0).explanation;
    unsigned arguments = 0;
    for (size_t n = 0; n < e->param_count; n++)
        arguments += e->params[n]->kind == SPVF_ARG_BUFFER && e->params[n]->use == SPVF_PARAM_USED;
    cr_expect_eq(arguments, 2, "%u", arguments);
    cr_assert_eq(spvf_graph_run(graph, t.q, NULL, NULL), SPVF_OK);
    expect_result(8, 28);
    cr_expect_eq(at(1)[5], -1);
}

Test(closure, queues_fuse) {
    closure c[8];
    for (int k = 0; k < 8; k++) c[k] = between(k + 1, k, k);
    cr_assert_eq(spvf_queue_start_fusion(t.q, NULL), SPVF_OK);
    for (int k = 0; k < 8; k++) enqueue(t.q, &c[k]);
    cr_assert_eq(spvf_queue_complete_fusion(t.q, NULL), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(spvf_queue_last_fusion(t.q)), 1);
    expect_result(8, 28);
    expect_result(3, 3);
}

Test(closure, what_overlaps_stays_apart) {
    const closure first = between(1, 0, 1);
    closure second = between(2, 1, 2);
    second.in++;
    record(&first);
    record(&second);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(graph), 2);
}

/* Nothing is known of it but what kernels access in it: here they are apart from all others. */
Test(closure, memory_of_no_buffer) {
    static int32_t here[COUNT];
    closure first = between(1, 0, 1), second = between(2, 1, 2), third = between(3, 2, 4);
    first.out = here;
    second.in = here;
    record(&first);
    record(&second);
    record(&third);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(graph), 1);
    cr_assert_eq(spvf_graph_run(graph, t.q, NULL, NULL), SPVF_OK, "%s", messages);
    expect_result(3, 7);
    cr_expect_eq(here[7], 8);
}

/* It has no items that would access it. */
Test(closure, null_that_is_fused) {
    static const char unused[] =
        "target 64\n"
        "kernel @some(%s: ptr.private byval(16) align 8 of {ptr.global, ptr.global}) {\n"
        "entry:\n"
        "  %i: i64 = global_id 0\n"
        "  %out: ptr.global = load %s align 8\n"
        "  %s8: ptr.private = ptradd %s, 8\n"
        "  %in: ptr.global = load %s8 align 8\n"
        "  %none: i1 = ult i64 1000000, %i\n"
        "  br %none, reads, writes\n"
        "reads:\n"
        "  %v: i32 = load %in align 4\n"
        "  store %v, %in align 4\n"
        "  jmp writes\n"
        "writes:\n"
        "  %b: i64 = shl %i, 2\n"
        "  %q: ptr.global = ptradd %out, %b\n"
        "  store i32 5, %q align 4\n"
        "  ret\n"
        "}\n";
    int32_t *struct_of[2] = {at(1), NULL};
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, unused);
    spvf_program *p;
    cr_assert_eq(spvf_program_create(t.device, m, &p), SPVF_OK, "%s", messages);
    for (int n = 0; n < 2; n++) {
        const spvf_argument arg = {.bytes = struct_of, .size = sizeof struct_of};
        const spvf_launch what = {.size = sizeof what,
                                  .program = p,
                                  .kernel = "some",
                                  .range = {.dims = 1, .global = {COUNT}},
                                  .args = &arg,
                                  .arg_count = 1};
        struct_of[0] = at(n + 1);
        cr_assert_eq(spvf_graph_launch(graph, &what, NULL), SPVF_OK, "%s", messages);
    }
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(graph), 1);
    cr_assert_eq(spvf_graph_run(graph, t.q, NULL, NULL), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK);
    cr_expect(at(2)[COUNT - 1] == 5 && at(1)[0] == 5);
    spvf_program_destroy(p);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

Test(closure, null_leads_nowhere) {
    closure first = between(1, 0, 1), second = between(2, 1, 2);
    request r;
    first.in = NULL;
    launch_with(&r, &first);
    r.what.range.global[0] = 0;
    cr_assert_eq(spvf_queue_launch(t.q, &r.what, NULL, NULL), SPVF_OK, "%s", messages);
    enqueue(t.q, &second);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK);
}

/* -------------------------------------------------------------------------------------- new values */

static void expect_value_refused(const closure *c, const char *why) {
    messages[0] = 0;
    cr_expect_eq(spvf_graph_set_value(graph, 1, 0, c, sizeof *c), SPVF_ERROR_ARGUMENT);
    cr_expect(strstr(messages, why), "%s", messages);
}

Test(closure, values_of_graphs) {
    closure first = between(1, 0, 1), second = between(2, 1, 2), other;
    record(&first);
    record(&second);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_kernel_count(graph), 1);
    second.x = 100;
    cr_expect_eq(spvf_graph_set_value(graph, 1, 0, &second, sizeof second), SPVF_OK, "%s",
                 messages);
    cr_expect_eq(spvf_graph_set_value(graph, 1, 1, &(int32_t){1000}, 4), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_run(graph, t.q, NULL, NULL), SPVF_OK);
    expect_result(2, 1103);
    other = second;
    other.n = 3;
    expect_value_refused(&other, "an integer in the struct is another one");
    other = second;
    other.out = at(3);
    expect_value_refused(&other, "a pointer in the struct is another one");
    messages[0] = 0;
    cr_expect_eq(spvf_graph_set_value(graph, 1, 0, &other, 4), SPVF_ERROR_ARGUMENT);
    cr_expect(strstr(messages, "argument 0 of launch 1 has 40 bytes, not 4"), "%s", messages);
}

Test(closure, integers_change_where_nothing_is_fused) {
    closure first = between(1, 0, 1);
    record(&first);
    graph_leave_unfused(graph);
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    first.n = 30;
    cr_expect_eq(spvf_graph_set_value(graph, 0, 0, &first, sizeof first), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_run(graph, t.q, NULL, NULL), SPVF_OK);
    expect_result(1, 30);
}

/* ----------------------------------------------------------------------------------------- misuse */

static void expect_refused(const request *r, const char *why) {
    messages[0] = 0;
    cr_expect_eq(spvf_queue_launch(t.q, &r->what, NULL, NULL), SPVF_ERROR_ARGUMENT);
    cr_expect(strstr(messages, why), "%s", messages);
    messages[0] = 0;
    cr_expect_eq(spvf_graph_launch(graph, &r->what, NULL), SPVF_ERROR_ARGUMENT);
    cr_expect(strstr(messages, why), "%s", messages);
}

Test(closure, wrong_arguments) {
    const closure c = between(1, 0, 1);
    request r;
    launch_with(&r, &c);
    r.what.arg_count = 7;
    expect_refused(&r, "kernel 'add' takes 2 arguments, not 7");
    launch_with(&r, &c);
    r.what.args = NULL;
    expect_refused(&r, "2 arguments at NULL");
    launch_with(&r, &c);
    r.args[0].size = 39;
    expect_refused(&r, "argument 0: takes a value of 40 bytes, and is given 39");
    r.args[0] = (spvf_argument){.buffer = t.b[0]};
    expect_refused(&r, "argument 0: takes the bytes of a struct");
    r.args[0] = (spvf_argument){.size = 40};
    expect_refused(&r, "argument 0: takes the bytes of a struct");
    launch_with(&r, &c);
    r.args[1].size = 8;
    expect_refused(&r, "argument 1 (more): takes a value of 4 bytes, and is given 8");
    cr_expect_eq(rt_ref_count(&t.b[1]->refs), 1, "what was found is given back");
}

/* The kernel accesses nothing through them. */
Test(closure, null_on_a_device_with_memory_of_its_own) {
    bench check;
    begin_with(&check, rt_device_open, "check");
    spvf_program *p = load_program(&check);
    const closure c = {.n = 1};
    request r;
    launch_with(&r, &c);
    r.what.program = p;
    r.what.range.global[0] = 0;
    cr_expect_eq(spvf_queue_launch(check.q, &r.what, NULL, NULL), SPVF_OK, "%s", messages);
    r.what.range.global[0] = 1;
    messages[0] = 0;
    cr_expect_eq(spvf_queue_launch(check.q, &r.what, NULL, NULL), SPVF_OK, "%s", messages);
    cr_expect_neq(spvf_queue_finish(check.q), SPVF_OK);
    cr_expect(strstr(messages, "read of 4 bytes through a null pointer"), "%s", messages);
    spvf_program_destroy(p);
    end(&check);
}

Test(closure, pointers_want_memory_of_the_program) {
    bench check;
    begin_with(&check, rt_device_open, "check");
    spvf_program *p = load_program(&check);
    int32_t here = 0;
    const closure c = {.in = &here, .out = &here};
    request r;
    launch_with(&r, &c);
    r.what.program = p;
    messages[0] = 0;
    cr_expect_eq(spvf_queue_launch(check.q, &r.what, NULL, NULL), SPVF_ERROR_ARGUMENT);
    cr_expect(strstr(messages, "argument 0: no buffer of the device is at"), "%s", messages);
    spvf_program_destroy(p);
    end(&check);
}
