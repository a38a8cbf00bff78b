/* past_test.c — spvf_context_reproducer: the last launches become plans, which give the same results; what
 * is bounded, what cannot be written, and threads that launch meanwhile.
 */
#include "tests/runtime/queue/launches.h"
#include "tests/temporary.h"

#include "tests/file.h"

#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <sys/stat.h>

static spvf_context *c;
static spvf_module *module;
static bench t; /* its device was opened with a context of its own, and is not used */
static char folder[TEMPORARY_NAME];

static void open_context(uint32_t launches, size_t contents, size_t bytes) {
    const spvf_context_options o = {.size = sizeof o,
                                    .message = keep_message,
                                    .remember = launches,
                                    .remember_contents = contents,
                                    .remember_bytes = bytes};
    messages[0] = 0;
    cr_assert_eq(spvf_context_create(&o, &c), SPVF_OK);
    module = load_text(c, kernels);
}

static void open_device(bench *b) {
    int32_t data[COUNT];
    for (int k = 0; k < COUNT; k++) data[k] = k;
    *b = (bench){.device = NULL};
    cr_assert_eq(spvf_device_open(c, "cpu", &b->device), SPVF_OK);
    cr_assert_eq(spvf_program_create(b->device, module, &b->program), SPVF_OK);
    for (int k = 0; k < BUFFERS; k++)
        cr_assert_eq(spvf_buffer_create(b->device, BYTES, k ? NULL : data, 0, &b->b[k]), SPVF_OK);
    cr_assert_eq(spvf_queue_create(b->device, NULL, &b->q), SPVF_OK);
}

static void add(const bench *b, unsigned to, unsigned from, int32_t k) {
    const spvf_argument args[] = {
        {.buffer = b->b[to]}, {.buffer = b->b[from]}, {.bytes = &k, .size = sizeof k}};
    const spvf_launch what = launch_of(b, "add", args, 3);
    cr_assert_eq(spvf_queue_launch(b->q, &what, NULL, NULL), SPVF_OK, "%s", messages);
}

static void close_all(void) {
    end(&t);
    spvf_module_destroy(module);
    spvf_context_destroy(c);
}

static void enter(void) { cr_assert(enter_temporary_folder(folder)); }

static void leave(void) {
    char command[2 * TEMPORARY_NAME + 40];
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", folder, folder);
    cr_assert(chdir("/") == 0 && system(command) == 0);
}

TestSuite(past, .init = enter, .fini = leave);

static size_t write_to(const char *name, spvf_status want) {
    size_t plans = 99;
    cr_expect_eq(spvf_context_reproducer(c, name, &plans), want, "%s", messages);
    return plans;
}

static size_t count(const char *pattern) {
    glob_t found;
    const size_t n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return n;
}

/* What a buffer of the plan holds when it has run. */
typedef struct {
    const char *name;
    int32_t first[4];
    bool found;
} wanted;

static void note_buffer(void *user, const char *name, const char *type, const void *bytes,
                        size_t size) {
    wanted *w = user;
    (void)type;
    if (strcmp(name, w->name) != 0 || size < sizeof w->first) return;
    memcpy(w->first, bytes, sizeof w->first);
    w->found = true;
}

static wanted run_plan(const char *name, const char *buffer) {
    size_t size;
    wanted w = {.name = buffer};
    char *text = read_file(name, &size);
    spvf_context *own = new_context();
    spvf_plan *p;
    const spvf_run_options o = {.size = sizeof o,
                                .device = "cpu",
                                .no_optimize = true,
                                .buffer = note_buffer,
                                .buffer_user = &w};
    cr_assert_not_null(text, "%s", name);
    cr_assert_eq(spvf_plan_load(own, name, text, size, &p), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_plan_run(p, &o, NULL), SPVF_OK, "%s", messages);
    spvf_plan_destroy(p);
    spvf_context_destroy(own);
    free(text);
    return w;
}

Test(past, the_last_launches_are_repeated) {
    open_context(3, 1 << 20, 0);
    open_device(&t);
    for (int32_t k = 1; k <= 5; k++) add(&t, 1, k == 1 ? 0 : 1, k);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK);
    cr_expect_eq(write_to("saved", SPVF_OK), 3);
    cr_expect_eq(count("saved/*.plan"), 3);
    cr_expect_eq(count("saved/*.ir"), 1);
    cr_expect_eq(count("saved/*.bin"), 3);
    const wanted w = run_plan("saved/000005-launch-add.plan", "b0");
    cr_expect(w.found && w.first[0] == 15 && w.first[3] == 18);
    const wanted before = run_plan("saved/000004-launch-add.plan", "b0");
    cr_expect(before.found && before.first[0] == 10);
    char *log = read_file("saved/saved.log", NULL);
    cr_expect_str_eq(log, "000003-launch-add.plan\n000004-launch-add.plan\n"
                          "000005-launch-add.plan\n");
    free(log);
    close_all();
}

/* Objects of the program may be gone. */
Test(past, what_is_remembered_is_a_copy) {
    open_context(8, 1 << 20, 0);
    open_device(&t);
    add(&t, 1, 0, 7);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK);
    end(&t);
    open_device(&t); /* perhaps at the same addresses */
    add(&t, 2, 0, 8);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK);
    cr_expect_eq(write_to("saved", SPVF_OK), 2);
    cr_expect_eq(run_plan("saved/000001-launch-add.plan", "b0").first[1], 8);
    cr_expect_eq(run_plan("saved/000002-launch-add.plan", "b0").first[1], 9);
    close_all();
}

static bool has_text(const char *name, const char *what) {
    char *text = read_file(name, NULL);
    const bool has = text && strstr(text, what);
    free(text);
    return has;
}

Test(past, contents_are_made_up_unless_they_are_asked_for) {
    open_context(2, 0, 0);
    open_device(&t);
    add(&t, 1, 0, 7);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK);
    cr_expect_eq(write_to("saved", SPVF_OK), 1);
    cr_expect_eq(count("saved/*.bin"), 0);
    cr_expect(has_text("saved/000001-launch-add.plan",
                       "# b1 has made up contents: it has more bytes than remember_contents\n"));
    cr_expect(has_text("saved/000001-launch-add.plan", "buffer b1 i32[1000] = iota\n"));
    cr_expect_eq(run_plan("saved/000001-launch-add.plan", "b0").first[1], 8);
    close_all();
}

Test(past, memory_is_bounded) {
    open_context(100, 1 << 20, 20000); /* the module, and three buffers at most */
    open_device(&t);
    for (int32_t k = 1; k <= 50; k++) add(&t, 1, k == 1 ? 0 : 1, k);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK);
    const size_t plans = write_to("saved", SPVF_OK);
    cr_expect(plans >= 1 && plans < 5, "%zu", plans);
    cr_expect_eq(count("saved/*.plan"), plans);
    cr_expect_leq(count("saved/*.bin"), 4);
    cr_expect_eq(run_plan("saved/000050-launch-add.plan", "b0").first[0], 1275);
    close_all();
    open_context(100, 1 << 20, 9000); /* not both buffers */
    open_device(&t);
    add(&t, 1, 0, 7);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK);
    cr_expect_eq(write_to("small", SPVF_OK), 1);
    cr_expect(has_text("small/000001-launch-add.plan",
                       "has made up contents: the context can remember no more"));
    run_plan("small/000001-launch-add.plan", "b0");
    close_all();
    open_context(100, 1 << 20, 1); /* not even the module */
    open_device(&t);
    add(&t, 1, 0, 7);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK);
    cr_expect_eq(write_to("none", SPVF_OK), 0);
    close_all();
}

Test(past, graphs_and_their_fusions) {
    spvf_graph *g;
    spvf_argument args[2][3];
    const int32_t k[2] = {1, 2};
    open_context(8, 1 << 20, 0);
    open_device(&t);
    cr_assert_eq(spvf_graph_create(t.device, NULL, &g), SPVF_OK);
    for (unsigned n = 0; n < 2; n++) {
        args[n][0] = (spvf_argument){.buffer = t.b[n + 1]};
        args[n][1] = (spvf_argument){.buffer = t.b[n]};
        args[n][2] = (spvf_argument){.bytes = &k[n], .size = sizeof k[n]};
        const spvf_launch what = launch_of(&t, "add", args[n], 3);
        cr_assert_eq(spvf_graph_launch(g, &what, NULL), SPVF_OK);
    }
    cr_assert_eq(spvf_graph_commit(g), SPVF_OK);
    cr_assert_eq(spvf_graph_run(g, t.q, NULL, NULL), SPVF_OK);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK);
    cr_expect_eq(write_to("saved", SPVF_OK), 2);
    cr_expect_eq(count("saved/000001-fuse-*.plan"), 1);
    cr_expect_eq(count("saved/000002-launch-*.plan"), 1);
    spvf_graph_destroy(g);
    close_all();
}

/* A name cannot add a statement to a plan. */
Test(past, names_that_plans_cannot_say) {
    static const char text[] =
        "target 64\nkernel @\"k\\nwrite b0 \\\"f\\\"\\n\"(%p: ptr.global of i32) {\n"
        "entry:\n  store i32 7, %p align 4\n  ret\n}\n";
    spvf_program *program;
    size_t size;
    spvf_plan *p;
    open_context(2, 1 << 20, 0);
    open_device(&t);
    spvf_module *odd = load_text(c, text);
    cr_assert_eq(spvf_program_create(t.device, odd, &program), SPVF_OK, "%s", messages);
    const char *name = spvf_module_kernel(odd, 0)->name;
    cr_assert(strchr(name, '\n') && strchr(name, '"'), "%s", name);
    const spvf_argument arg = {.buffer = t.b[0]};
    spvf_launch what = launch_of(&t, name, &arg, 1);
    what.program = program;
    cr_assert_eq(spvf_queue_launch(t.q, &what, NULL, NULL), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_queue_finish(t.q), SPVF_OK);
    cr_expect_eq(write_to("saved", SPVF_OK), 1);
    char *plan = read_file("saved/000001-launch-k_write_b0__f__.plan", &size);
    cr_assert_not_null(plan);
    cr_expect_null(strstr(plan, "\nwrite"), "%s", plan);
    cr_expect_eq(spvf_plan_load(c, "p", plan, size, &p), SPVF_OK, "%s", messages);
    spvf_plan_destroy(p);
    free(plan);
    spvf_program_destroy(program);
    spvf_module_destroy(odd);
    close_all();
}

Test(past, what_cannot_be_done) {
    cr_expect_eq(spvf_context_reproducer(NULL, "saved", NULL), SPVF_ERROR_ARGUMENT);
    open_context(2, 0, 0);
    cr_expect_eq(write_to(NULL, SPVF_ERROR_ARGUMENT), 0);
    cr_expect_str_eq(messages, "error: spvf_context_reproducer: folder is NULL\n");
    cr_expect_eq(write_to("empty", SPVF_OK), 0);
    cr_expect_eq(count("empty/saved.log"), 1);
    messages[0] = 0;
    cr_expect_eq(write_to("no/where", SPVF_ERROR_IO), 0);
    cr_expect_str_eq(messages,
                     "error: spvf_context_reproducer: no/where: No such file or directory\n");
    messages[0] = 0;
    fclose(fopen("file", "w"));
    cr_expect_eq(write_to("file", SPVF_ERROR_IO), 0);
    cr_expect_str_eq(messages, "error: spvf_context_reproducer: file/saved.log: Not a directory\n");
    spvf_module_destroy(module);
    spvf_context_destroy(c);
    open_context(0, 0, 0);
    cr_expect_eq(write_to("saved", SPVF_ERROR_ARGUMENT), 0);
    cr_expect_str_eq(messages, "error: spvf_context_reproducer: the context remembers nothing: "
                               "spvf_context_options.remember is 0\n");
    cr_expect_eq(count("saved"), 0);
    spvf_module_destroy(module);
    spvf_context_destroy(c);
}

/* ------------------------------------------------------------------------------------- threads */

enum { THREADS = 3, LAUNCHES = 100 };

static void *launch_many(void *user) {
    const bench *b = user;
    for (int32_t k = 0; k < LAUNCHES; k++) add(b, 1, 0, k);
    spvf_queue_finish(b->q);
    return NULL;
}

Test(past, threads) {
    static bench own[THREADS];
    pthread_t thread[THREADS];
    open_context(16, 1 << 20, 0);
    for (unsigned n = 0; n < THREADS; n++) open_device(&own[n]);
    for (unsigned n = 0; n < THREADS; n++)
        cr_assert_eq(pthread_create(&thread[n], NULL, launch_many, &own[n]), 0);
    for (unsigned n = 0; n < 5; n++) cr_expect_leq(write_to("some", SPVF_OK), 16);
    for (unsigned n = 0; n < THREADS; n++) pthread_join(thread[n], NULL);
    cr_expect_eq(write_to("saved", SPVF_OK), 16);
    cr_expect_eq(count("saved/*.plan"), 16);
    for (unsigned n = 0; n < THREADS; n++) end(&own[n]);
    spvf_module_destroy(module);
    spvf_context_destroy(c);
}
