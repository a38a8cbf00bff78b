/* validate_test.c — runs that compare fused groups with their members one by one. */
#include "tests/runtime/bench.h"

static const char kernels[] = "target 64\n"
                              "file \"shift.cl\"\n"
                              "line 10 0 4 1\n"
                              "line 20 0 9 1\n"
                              "kernel @fill(%x: ptr.global of i32) {\n"
                              "entry:\n"
                              "  %g: i64 = global_id 0\n"
                              "  %o: i64 = shl %g, 2\n"
                              "  %p: ptr.global = ptradd %x, %o\n"
                              "  %v: i32 = trunc %g\n"
                              "  store %v, %p align 4 !10\n"
                              "  ret\n"
                              "}\n"
                              "kernel @reverse(%x: ptr.global of i32, %y: ptr.global of i32) {\n"
                              "entry:\n"
                              "  %g: i64 = global_id 0\n"
                              "  %o: i64 = shl %g, 2\n"
                              "  %h: i64 = sub i64 252, %o\n"
                              "  %p: ptr.global = ptradd %x, %h\n"
                              "  %v: i32 = load %p align 4\n"
                              "  %q: ptr.global = ptradd %y, %o\n"
                              "  store %v, %q align 4 !20\n"
                              "  ret\n"
                              "}\n"
                              "kernel @turn(%x: ptr.global of i32, %l: ptr.local of i32) {\n"
                              "entry:\n"
                              "  %g: i64 = global_id 0\n"
                              "  %i: i64 = local_id 0\n"
                              "  %o: i64 = shl %g, 2\n"
                              "  %p: ptr.global = ptradd %x, %o\n"
                              "  %a: i64 = shl %i, 2\n"
                              "  %q: ptr.local = ptradd %l, %a\n"
                              "  %v: i32 = trunc %g\n"
                              "  store %v, %q align 4\n"
                              "  barrier workgroup workgroup acq_rel local\n"
                              "  %b: i64 = sub i64 60, %a\n"
                              "  %r: ptr.local = ptradd %l, %b\n"
                              "  %w: i32 = load %r align 4\n"
                              "  store %w, %p align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @tell(%x: ptr.global of i32) {\n"
                              "entry:\n"
                              "  %g: i64 = global_id 0\n"
                              "  %o: i64 = shl %g, 2\n"
                              "  %p: ptr.global = ptradd %x, %o\n"
                              "  %v: i32 = trunc %g\n"
                              "  store %v, %p align 4\n"
                              "  %n: i32 = printf \"%d\\n\", %v\n"
                              "  ret\n"
                              "}\n"
                              "kernel @keep(%x: ptr.global of i32, %y: ptr.global of i32) {\n"
                              "entry:\n"
                              "  %g: i64 = global_id 0\n"
                              "  %o: i64 = shl %g, 2\n"
                              "  %p: ptr.global = ptradd %x, %o\n"
                              "  %v: i32 = load %p align 4\n"
                              "  %q: ptr.global = ptradd %y, %o\n"
                              "  store %v, %q align 4\n"
                              "  ret\n"
                              "}\n";

static void set_up(void) { in_folder_with(kernels); }

TestSuite(validate, .init = set_up, .fini = leave_folder);

#define LAUNCH(name, args) "  launch \"k.ir\":" name " global 64 local 16 args " args "\n"
#define TAIL(text) (strstr(messages, text) ? strstr(messages, text) : messages)

static const spvf_run_options validating = {.size = sizeof validating, .validate = true};
static const spvf_run_options validating_on_cpu = {
    .size = sizeof validating_on_cpu, .device = "cpu", .validate = true};

/* As spvf_run_options.output; user: a size_t. */
static void count_lines(void *user, const char *text) {
    for (; *text; text++) *(size_t *)user += *text == '\n';
}

/* Every item reads what an item of another work-group writes. */
static const char wrong[] =
    "buffer x i32[64] = 7\nbuffer y i32[64]\nfuse g force {\n" LAUNCH("fill", "x")
        LAUNCH("reverse", "x, y") "}\n";

Test(validate, a_forced_fusion_that_is_wrong_is_found) {
    cr_expect_eq(run_text(wrong, &validating), SPVF_ERROR_INPUT);
    cr_expect_str_eq(TAIL("p:3:6: error: group"),
                     "p:3:6: error: group 'g': y[0] is 7, unfused 63\n"
                     "  fused, written last by @g, shift.cl:9: store %v.1, %q align 4\n"
                     "  unfused, written last by @reverse, shift.cl:9: store %v, %q align 4\n"
                     "p:3:6: note: 32 elements differ\n");
    cr_expect_eq(bytes_held, 0);
}

/* Native code knows the work-group; one thread runs them in order. */
Test(validate, device_cpu_finds_it_too) {
    setenv("SPVF_THREADS", "1", 1);
    cr_expect_eq(run_text(wrong, &validating_on_cpu), SPVF_ERROR_INPUT);
    cr_expect_str_eq(TAIL("p:3:6: error: group"),
                     "p:3:6: error: group 'g': y[0] is 7, unfused 63\n"
                     "  fused, changed last by @g, group (0, 0, 0)\n"
                     "  unfused, changed last by @reverse, group (0, 0, 0)\n"
                     "p:3:6: note: 32 elements differ\n");
    cr_expect_eq(bytes_held, 0);
}

static const char right[] =
    "buffer x i32[64] = 7\nbuffer y i32[64]\nbuffer z i32[64]\n"
    "fuse g {\n" LAUNCH("fill", "x")
        LAUNCH("keep", "x, y") "}\n"
                               "fuse h {\n" LAUNCH("keep", "y, z")
                                   LAUNCH("fill", "y") "}\n"
                                                       "expect z[0..3] = 0, 1, 2, 3\n";

static void expect_silent(const spvf_run_options *o) {
    cr_expect_eq(run_text(right, o), SPVF_OK);
    cr_expect_str_eq(messages, "");
    cr_expect_eq(bytes_held, 0);
}

Test(validate, what_is_equal_is_silent_and_goes_on_from_the_fused_results) {
    expect_silent(&validating);
    expect_silent(&validating_on_cpu);
}

/* While bytes are watched the launch needs local memory and scratch all the same. */
Test(validate, device_cpu_watches_groups_with_barriers) {
    static const char text[] =
        "buffer x i32[64] = 7\nbuffer y i32[64]\nfuse g force {\n" LAUNCH("turn", "x, local 64")
            LAUNCH("reverse", "x, y") "}\n";
    setenv("SPVF_THREADS", "1", 1);
    cr_expect_eq(run_text(text, &validating_on_cpu), SPVF_ERROR_INPUT);
    cr_expect_not_null(strstr(messages, "unfused, changed last by @reverse, group (0, 0, 0)\n"),
                       "%s", messages);
    cr_expect_eq(bytes_held, 0);
}

Test(validate, printf_speaks_once) {
    static const char text[] =
        "buffer x i32[64] = 7\nbuffer y i32[64]\nfuse g force {\n" LAUNCH("tell", "x")
            LAUNCH("reverse", "x, y") "}\n";
    setenv("SPVF_THREADS", "1", 1);
    spvf_run_options o = validating_on_cpu;
    size_t lines = 0;
    o.output = count_lines;
    o.output_user = &lines;
    cr_expect_eq(run_text(text, &o), SPVF_ERROR_INPUT);
    cr_expect_eq(lines, 64);
}

/* What only one side leaves undefined differs as well: this is the first of y. */
Test(validate, a_value_and_none_are_different) {
    static const char partly[] =
        "buffer x i32[64]\nbuffer y i32[64]\nfuse g force {\n" LAUNCH("fill", "x")
            LAUNCH("reverse", "x, y") "}\n";
    cr_expect_eq(run_text(partly, &validating), SPVF_ERROR_INPUT);
    cr_expect_not_null(strstr(messages, "y[0] is undefined, unfused 63\n"), "%s", messages);
}

Test(validate, internal_buffers_are_not_compared) {
    static const char internal[] =
        "buffer x i32[64] = 7\nbuffer y i32[64] internal\nfuse g force {\n" LAUNCH("fill", "x")
            LAUNCH("reverse", "x, y") "}\n";
    run_text(internal, &validating);
    cr_expect_null(strstr(messages, "group 'g': "), "%s", messages);
}

Test(validate, counts) {
    spvf_context *c = new_context();
    spvf_plan *p = load_plan(c, wrong);
    spvf_run_result r = {.size = sizeof r};
    spvf_plan_run(p, &validating, &r);
    cr_expect_eq(r.validated, 1);
    cr_expect_eq(r.differences, 1);
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
}
