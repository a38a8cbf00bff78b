/* device_limits_test.c — kernels that a device runs one by one, and not as one: they are refused
 * with the reason, and run one by one; where the program is strict, that is an error.
 */
#include "tests/runtime/queue/launches.h"

/* ---------------------------------------------------------------------------------------- plans */

/* More phases than code has: each launch reads what other groups of the last one have written. */
static char *many_phases(const char *strict) {
    enum { LAUNCHES = 260 };
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    fprintf(f, "buffer a i32[64] = iota\nbuffer b i32[64]\nfuse g phases%s {\n", strict);
    for (int n = 0; n < LAUNCHES; n++)
        fprintf(f, "launch \"k.ir\":reverse global 64 local 16 args %s\n", n % 2 ? "a, b" : "b, a");
    fprintf(f, "}\nexpect a[0..2] = 0, 1, 2\n");
    fclose(f);
    return text;
}

/* Each of the two kernels has as much local memory as there is. */
static const char much_local[] =
    "buffer a i32[4]\nbuffer b i32[4]\n"
    "fuse g {\nlaunch \"k.ir\":last global 4 local 4 args a, local 1073741824\n"
    "launch \"k.ir\":last global 4 local 4 args b, local 1073741824\n}\n";

static void expect_refused(const char *text, const char *reason) {
    spvf_context *c = new_context();
    spvf_plan *p = load_plan(c, text);
    spvf_explanation *e;
    cr_assert_eq(spvf_plan_explain(p, 0, &e), SPVF_OK, "%s", messages);
    cr_assert(!e->fused && e->refusal, "the default device is cpu");
    cr_expect_str_eq(e->refusal->rule, "fuse.device");
    cr_expect(strstr(e->refusal->text, reason), "%s", e->refusal->text);
    cr_expect_str_eq(messages, "", "an explanation is no failure");
    spvf_explanation_destroy(e);
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
}

static void expect_run(const char *text, const char *device, spvf_status want, const char *said) {
    const spvf_run_options o = {.size = sizeof o, .device = device};
    spvf_status got = run_text(text, &o);
    cr_expect_eq(got, want, "%s: %s", device, spvf_status_name(got));
    cr_expect_str_eq(messages, said);
}

static const char powers[] =
    "target 64\nkernel @power(%x: ptr.global of f32) {\ne:\n %g: i64 = global_id 0\n"
    " %b: i64 = shl %g, 2\n %p: ptr.global = ptradd %x, %b\n %v: f32 = load %p align 4\n"
    " %r: f32 = pow %v, 0.75\n store %r, %p align 4\n ret\n}\n";

/* Ten operations in a row, which vectors of items hide. */
static const char steps[] =
    "target 64\nkernel @steps(%x: ptr.global of f32) {\ne:\n %g: i64 = global_id 0\n"
    " %b: i64 = shl %g, 2\n %p: ptr.global = ptradd %x, %b\n %v: f32 = load %p align 4\n"
    " %a1: f32 = fmul %v, 0.5\n %b1: f32 = fadd %a1, 0.25\n %a2: f32 = fmul %b1, 0.75\n"
    " %b2: f32 = fadd %a2, 0.125\n %a3: f32 = fmul %b2, 0.5\n %b3: f32 = fadd %a3, 0.75\n"
    " %a4: f32 = fmul %b3, 0.25\n %b4: f32 = fadd %a4, 0.5\n %a5: f32 = fmul %b4, 0.75\n"
    " %r: f32 = fadd %a5, 0.25\n store %r, %p align 4\n ret\n}\n";

static bool explains(const char *text, const char *rule) {
    spvf_context *c = new_context();
    spvf_plan *p = load_plan(c, text);
    spvf_explanation *e;
    bool found = false;
    cr_assert_eq(spvf_plan_explain(p, 0, &e), SPVF_OK, "%s", messages);
    for (size_t k = 0; k < e->decision_count; k++)
        found |= strcmp(e->decisions[k]->rule, rule) == 0;
    spvf_explanation_destroy(e);
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
    return found;
}

/* Only devices that run items one after the other, such as the default one, do that. */
Test(device_limits, loops_of_their_own_are_explained) {
    in_folder_with(powers);
    cr_expect(explains("buffer x f32[4096]\nfuse g {\nlaunch \"k.ir\":power global 4096 args x\n"
                       "launch \"k.ir\":power global 4096 args x\n}\n",
                       "fuse.split"));
    leave_folder();
}

Test(device_limits, short_chains_stay_one_loop) {
    in_folder_with(steps);
    cr_expect_not(
        explains("buffer x f32[4096]\nfuse g {\nlaunch \"k.ir\":steps global 4096 args x\n"
                 "launch \"k.ir\":steps global 4096 args x\n}\n",
                 "fuse.split"));
    leave_folder();
}

/* One item at a time overlaps fewer of such operations. */
Test(device_limits, chains_are_split_earlier_where_items_are_no_lanes) {
    in_folder_with(steps);
    setenv("SPVF_CPU", "simd=1", 1);
    cr_expect(explains("buffer x f32[4096]\nfuse g {\nlaunch \"k.ir\":steps global 4096 args x\n"
                       "launch \"k.ir\":steps global 4096 args x\n}\n",
                       "fuse.split"));
    leave_folder();
}

Test(device_limits, phases_of_a_plan) {
    char *text = many_phases(""), *strict = many_phases(" strict");
    in_folder_with(kernels);
    expect_refused(text, "it has too many phases");
    expect_run(text, "cpu", SPVF_OK,
               "p:3:6: warning: not fused: kernel 'g' cannot run on a CPU: it has too many phases "
               "[fuse.device]\np:3:6: warning: group 'g' runs kernel by kernel\n");
    expect_run(strict, "cpu", SPVF_ERROR_REFUSED,
               "p:3:6: error: not fused: kernel 'g' cannot run on a CPU: it has too many phases "
               "[fuse.device]\np:3:6: error: group 'g' was not fused\n");
    expect_run(text, "check", SPVF_OK, "");
    leave_folder();
    free(text);
    free(strict);
}

Test(device_limits, local_memory_of_a_plan) {
    in_folder_with(kernels);
    expect_refused(much_local, "1073741824 bytes of local memory are too many");
    leave_folder();
}

/* --------------------------------------------------------------------------------------- graphs */

static void record_last(const bench *t, spvf_graph *g, int to, size_t local) {
    const spvf_argument args[] = {{.buffer = t->b[to]}, {.size = local}};
    spvf_launch what = launch_of(t, "last", args, 2);
    what.range = (spvf_range){.dims = 1, .global = {4}, .local = {4}};
    cr_assert_eq(spvf_graph_launch(g, &what, NULL), SPVF_OK, "%s", messages);
}

/* Two kernels that go together, and two with more local memory than one may have. */
static spvf_graph *record_limits(const bench *t, const spvf_graph_options *o) {
    spvf_graph *g;
    cr_assert_eq(spvf_graph_create(t->device, o, &g), SPVF_OK);
    for (int n = 1; n < 5; n++) record_last(t, g, n, n > 2 ? (size_t)600 << 20 : 64);
    return g;
}

Test(device_limits, graphs) {
    bench t;
    begin(&t);
    spvf_graph *g = record_limits(&t, NULL);
    cr_assert_eq(spvf_graph_commit(g), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_graph_kernel_count(g), 2);
    spvf_graph_kernel k = spvf_graph_get_kernel(g, 0);
    cr_expect_eq(k.count, 3, "the fourth one is too much");
    cr_assert(k.explanation && k.refusal && k.refusal->refusal);
    cr_expect_not(k.refusal->fused);
    cr_expect_str_eq(k.refusal->refusal->rule, "fuse.device");
    cr_expect_str_eq(messages, "");
    cr_expect_null(t.b[1]->memory, "nothing was launched");
    spvf_graph_destroy(g);
    end(&t);
}

Test(device_limits, strict_graphs) {
    const spvf_graph_options strict = {.size = sizeof strict, .strict = true};
    bench t;
    begin(&t);
    spvf_graph *g = record_limits(&t, &strict);
    cr_expect_eq(spvf_graph_commit(g), SPVF_ERROR_REFUSED);
    cr_expect(strstr(messages, "error: not fused: ") && strstr(messages, "[fuse.device]"), "%s",
              messages);
    spvf_graph_destroy(g);
    end(&t);
}

Test(device_limits, queues_that_fuse) {
    bench t;
    begin(&t);
    cr_assert_eq(spvf_queue_start_fusion(t.q, NULL), SPVF_OK);
    for (int n = 1; n < 3; n++) {
        const spvf_argument args[] = {{.buffer = t.b[n]}, {.size = (size_t)600 << 20}};
        spvf_launch what = launch_of(&t, "last", args, 2);
        what.range = (spvf_range){.dims = 1, .global = {4}, .local = {4}};
        cr_assert_eq(spvf_queue_launch(t.q, &what, NULL, NULL), SPVF_OK);
    }
    cr_expect_eq(spvf_queue_complete_fusion(t.q, NULL), SPVF_OK);
    cr_expect_eq(spvf_graph_kernel_count(spvf_queue_last_fusion(t.q)), 2);
    cr_expect(strstr(messages, "warning: not fused: ") && strstr(messages, "[fuse.device]"), "%s",
              messages);
    cr_expect_eq(spvf_queue_finish(t.q), SPVF_OK, "each has enough");
    read_back(&t, t.q, 2);
    for (int n = 0; n < 4; n++) cr_expect_eq(t.back[n], 3 - n);
    end(&t);
}
