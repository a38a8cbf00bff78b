/* past_graph_test.c — what is saved of fusions says the same as the program is told: for each kernel of
 * a graph, the explanation, or why the next launch is no part of it, is that of a saved plan.
 */
#include "tests/runtime/queue/launches.h"

#include "tests/file.h"
#include "tests/temporary.h"

#include <glob.h>

static spvf_context *c;
static bench t;
static spvf_graph *graph;
static spvf_graph_options options;
static int32_t here[COUNT + 8]; /* that views lie in */
static spvf_buffer *low, *high;
static char folder[TEMPORARY_NAME];

static void set_up(void) {
    const spvf_context_options o = {
        .size = sizeof o, .message = keep_message, .remember = 100, .remember_contents = 1 << 20};
    cr_assert(enter_temporary_folder(folder));
    cr_assert_eq(spvf_context_create(&o, &c), SPVF_OK);
    spvf_module *m = load_text(c, kernels);
    cr_assert_eq(spvf_device_open(c, "cpu", &t.device), SPVF_OK);
    cr_assert_eq(spvf_program_create(t.device, m, &t.program), SPVF_OK);
    for (int k = 0; k < BUFFERS; k++)
        cr_assert_eq(spvf_buffer_create(t.device, BYTES, NULL, 0, &t.b[k]), SPVF_OK);
    cr_assert_eq(spvf_buffer_create(t.device, BYTES, here, SPVF_USE_HOST, &low), SPVF_OK);
    cr_assert_eq(spvf_buffer_create(t.device, BYTES, here + 8, SPVF_USE_HOST, &high), SPVF_OK);
    cr_assert_eq(spvf_queue_create(t.device, NULL, &t.q), SPVF_OK);
    options = (spvf_graph_options){.size = sizeof options};
    spvf_module_destroy(m);
}

static void tear_down(void) {
    char command[2 * TEMPORARY_NAME];
    spvf_graph_destroy(graph);
    spvf_buffer_destroy(low);
    spvf_buffer_destroy(high);
    end(&t);
    spvf_context_destroy(c);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert(chdir("/") == 0 && system(command) == 0);
}

TestSuite(past_graph, .init = set_up, .fini = tear_down);

static void begin_graph(void) {
    cr_assert_eq(spvf_graph_create(t.device, &options, &graph), SPVF_OK);
}

static void record(const char *kernel, spvf_buffer *to, spvf_buffer *from, uint64_t items) {
    static const int32_t k = 3;
    const spvf_argument args[] = {
        {.buffer = to}, {.buffer = from}, {.bytes = &k, .size = sizeof k}};
    spvf_launch what = launch_of(&t, kernel, args, strcmp(kernel, "add") == 0 ? 3 : 2);
    what.range.global[0] = items;
    cr_assert_eq(spvf_graph_launch(graph, &what, NULL), SPVF_OK, "%s", messages);
}

/* Is it what one of the plans explains? */
static bool is_saved(const spvf_explanation *e) {
    bool found = false;
    glob_t plans;
    char *want = spvf_explanation_text(e);
    cr_assert_eq(glob("saved/*fuse*.plan", 0, NULL, &plans), 0);
    for (size_t n = 0; n < plans.gl_pathc && !found; n++) {
        size_t size;
        char *text = read_file(plans.gl_pathv[n], &size);
        spvf_plan *p;
        spvf_explanation *own = NULL;
        cr_assert_eq(spvf_plan_load(c, plans.gl_pathv[n], text, size, &p), SPVF_OK);
        cr_expect_eq(spvf_plan_explain(p, 0, &own), SPVF_OK, "%s: %s", text, messages);
        char *said = own ? spvf_explanation_text(own) : NULL;
        found = said && strcmp(said, want) == 0;
        free(said);
        spvf_explanation_destroy(own);
        spvf_plan_destroy(p);
        free(text);
    }
    globfree(&plans);
    free(want);
    return found;
}

static void expect_saved(size_t kernels_wanted) {
    size_t plans;
    cr_assert_eq(spvf_graph_commit(graph), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_graph_kernel_count(graph), kernels_wanted);
    cr_assert_eq(spvf_context_reproducer(c, "saved", &plans), SPVF_OK, "%s", messages);
    for (size_t n = 0; n < spvf_graph_kernel_count(graph); n++) {
        const spvf_graph_kernel k = spvf_graph_get_kernel(graph, n);
        if (k.explanation) cr_expect(is_saved(k.explanation), "kernel %zu", n);
        if (k.refusal) cr_expect(is_saved(k.refusal), "refusal after kernel %zu", n);
    }
}

Test(past_graph, one_kernel) {
    begin_graph();
    record("add", t.b[1], t.b[0], COUNT);
    record("add", t.b[2], t.b[1], COUNT);
    record("copy", t.b[3], t.b[2], COUNT);
    expect_saved(1);
}

Test(past_graph, an_internal_buffer) {
    begin_graph();
    record("add", t.b[1], t.b[0], COUNT);
    record("add", t.b[2], t.b[1], COUNT);
    cr_assert_eq(spvf_graph_internal(graph, t.b[1], SPVF_PROMOTE_AUTO), SPVF_OK);
    expect_saved(1);
}

Test(past_graph, an_internal_buffer_that_stays) {
    begin_graph();
    record("add", t.b[1], t.b[0], COUNT / 2);
    record("add", t.b[2], t.b[1], COUNT / 2);
    record("add", t.b[3], t.b[0], COUNT);
    cr_assert_eq(spvf_graph_internal(graph, t.b[1], SPVF_PROMOTE_AUTO), SPVF_OK);
    expect_saved(1);
}

Test(past_graph, a_refusal) {
    begin_graph();
    record("add", t.b[1], t.b[0], COUNT);
    record("reverse", t.b[2], t.b[1], COUNT);
    expect_saved(2);
}

Test(past_graph, phases) {
    options.phases = true;
    begin_graph();
    record("add", t.b[1], t.b[0], COUNT);
    record("reverse", t.b[2], t.b[1], COUNT);
    expect_saved(1);
}

Test(past_graph, constants) {
    options.constants = true;
    begin_graph();
    record("scale", t.b[1], t.b[0], COUNT);
    record("shift", t.b[2], t.b[1], COUNT);
    record("add", t.b[3], t.b[0], COUNT);
    expect_saved(1);
}

Test(past_graph, memory_at_two_addresses) {
    begin_graph();
    record("add", low, t.b[0], COUNT);
    record("add", t.b[2], high, COUNT);
    record("add", t.b[3], low, COUNT);
    expect_saved(2);
}
