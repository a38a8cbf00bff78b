/* run_test.c — plans at work: what a run says and where, what it does not let pass, and that it
 * leaves nothing behind. */
#include "tests/runtime/bench.h"

#include "runtime/api/runtime.h"
#include "runtime/system/process.h"

#include <signal.h>
#include <sys/stat.h>

static const char kernels[] = "target 64\n"
                              "kernel @put(%p: ptr.global of i32, %v: i32) {\n"
                              "entry:\n"
                              "  %i: i64 = global_id 0\n"
                              "  %o: i64 = shl %i, 2\n"
                              "  %q: ptr.global = ptradd %p, %o inbounds\n"
                              "  store %v, %q align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @get(%p: ptr.global of i32, %l: ptr.local of i32) {\n"
                              "entry:\n"
                              "  %v: i32 = load %p align 4\n"
                              "  store %v, %l align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @seven(%s: ptr.private byval(0) of {}, %p: ptr.global) {\n"
                              "entry:\n"
                              "  store i32 7, %p align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @move(%s: ptr.private byval(24) align 8 of {ptr.global, i32, "
                              "ptr.global}, %n: i32) {\n"
                              "entry:\n"
                              "  %from: ptr.global = load %s align 8\n"
                              "  %0: ptr.private = ptradd %s, 8\n"
                              "  %more: i32 = load %0 align 4\n"
                              "  %1: ptr.private = ptradd %s, 16\n"
                              "  %to: ptr.global = load %1 align 8\n"
                              "  %i: i64 = global_id 0\n"
                              "  %o: i64 = shl %i, 2\n"
                              "  %p: ptr.global = ptradd %from, %o\n"
                              "  %q: ptr.global = ptradd %to, %o\n"
                              "  %v: i32 = load %p align 4\n"
                              "  %a: i32 = add %v, %more\n"
                              "  %b: i32 = mul %a, %n\n"
                              "  store %b, %q align 4\n"
                              "  ret\n"
                              "}\n"
                              "kernel @loop(%n: i32) {\n"
                              "entry:\n"
                              "  jmp head\n"
                              "head:\n"
                              "  %i: i32 = phi [entry: 0, head: %j]\n"
                              "  %j: i32 = add %i, 1\n"
                              "  %c: i1 = ult %j, %n\n"
                              "  br %c, head, end\n"
                              "end:\n"
                              "  ret\n"
                              "}\n";

static void set_up(void) { in_folder_with(kernels); }

TestSuite(run, .init = set_up, .fini = leave_folder);

static void expect_run(const char *text, spvf_status want, const char *said) {
    spvf_status got = run_text(text, NULL);
    cr_expect_eq(got, want, "%s: %s", text, spvf_status_name(got));
    cr_expect_str_eq(messages, said);
    cr_expect_eq(bytes_held, 0);
}

/* --------------------------------------------------------------------------------- expectations */

Test(run, unwritten_bytes_equal_no_expected_value) {
    expect_run("buffer x i32[4]\n"
               "launch \"k.ir\":put global 2 args x, 0\n"
               "expect x[0..1] = 0\n"
               "expect x[1..3] = 0, 0, 0\n",
               SPVF_ERROR_INPUT,
               "p:4:8: error: x[2] is undefined, nothing gave it a value, expected 0\n"
               "p:4:8: note: 2 of 3 elements are not as expected\n");
}

/* ------------------------------------------------------------------------------------- progress */

typedef struct {
    unsigned calls;
    double last;
    bool falls;
} told;

static void note_progress(void *user, double part) {
    told *t = user;
    t->falls |= part < t->last || part < 0 || part > 1;
    t->last = part;
    t->calls++;
}

static void ignore_timing(void *user, const spvf_timing *t) { (void)user, (void)t; }

/* Tells at least so often; all is done in the end, and nothing is undone. */
static void expect_progress(const char *text, spvf_run_options o, unsigned least) {
    told t = {0};
    o.size = sizeof o;
    o.progress = note_progress;
    o.progress_user = &t;
    cr_expect_eq(run_text(text, &o), SPVF_OK, "%s", messages);
    cr_expect(t.calls >= least && !t.falls && t.last == 1, "%s%s: %u calls, last %g%s", text,
              o.device ? o.device : "", t.calls, t.last, t.falls ? ", falls" : "");
}

Test(run, progress_is_told) {
    static const char *const texts[] = {
        "buffer x i32[64] = 0\nlaunch \"k.ir\":put global 64 local 8 args x, 7\n",
        "buffer x i32[64] = 0\nfuse g {\n  launch \"k.ir\":put global 64 local 8 args x, 7\n"
        "  launch \"k.ir\":put global 64 local 8 args x, 8\n}\nexpect x[0] = 8\n"
        "launch \"k.ir\":put global 64 local 8 args x, 7\n",
        /* refused */
        ("buffer x i32[64] = 0\nfuse g {\n  launch \"k.ir\":put global 64 local 8 args x, 7\n"
         "  launch \"k.ir\":put global 32 local 4 args x at 8, 8\n}\n")};
    for (unsigned n = 0; n < 3; n++) {
        expect_progress(texts[n], (spvf_run_options){.device = "check"}, 8);
        expect_progress(texts[n], (spvf_run_options){.device = "check", .unfused = true}, 8);
        expect_progress(texts[n], (spvf_run_options){.device = "check", .validate = true}, 8);
        expect_progress(texts[n], (spvf_run_options){.device = "check", .timing = ignore_timing},
                        5);
    }
}

/* -------------------------------------------------------------------- parts of buffers, of groups */

Test(run, arguments_begin_in_buffers) {
    expect_run("buffer x i32[4] = 0\n"
               "launch \"k.ir\":put global 2 args x at 8, 7\n"
               "expect x[0..3] = 0, 0, 7, 7\n",
               SPVF_OK, "");
    expect_run("buffer x i32[4] = 0\n"
               "fuse g strict {\n"
               "  launch \"k.ir\":put global 2 args x at 8, 7\n"
               "  launch \"k.ir\":put global 2 args x at 8, 8\n"
               "}\n"
               "expect x[0..3] = 0, 0, 8, 8\n",
               SPVF_OK, "");
}

Test(run, arguments_that_begin_elsewhere_in_a_buffer_overlap) {
    static const char text[] = "buffer x i32[4] = 0\n"
                               "fuse g {\n"
                               "  launch \"k.ir\":put global 3 args x, 7\n"
                               "  launch \"k.ir\":put global 2 args x at 8, 8\n"
                               "}\n"
                               "expect x[0..3] = 7, 7, 8, 8\n";
    expect_run(text, SPVF_OK,
               "p:2:6: warning: not fused: p of @put and p of @put reach the same memory from "
               "different addresses [fuse.overlap]\n"
               "p:2:6: warning: group 'g' runs kernel by kernel\n");
}

Test(run, an_internal_buffer_is_given_as_a_whole) {
    expect_run("buffer x i32[4] internal\n"
               "fuse g {\n"
               "  launch \"k.ir\":put global 2 args x at 8, 7\n"
               "}\n",
               SPVF_ERROR_INPUT,
               "p:3:35: error: 'x' is internal, and so an argument as a whole: without 'at'\n");
}

Test(run, values_may_stay_arguments) {
    static const char text[] = "buffer x i32[4] = 0\nbuffer y i32[4] = 0\nbuffer z i32[4] = 0\n"
                               "scalar v i32 = 9\n"
                               "fuse g strict {\n"
                               "  launch \"k.ir\":put global 4 args x, variable v\n"
                               "  launch \"k.ir\":put global 4 args y, variable v\n"
                               "  launch \"k.ir\":put global 4 args z, variable 8\n"
                               "}\n"
                               "expect x[0..3] = 9\nexpect y[0..3] = 9\nexpect z[0..3] = 8\n";
    expect_run(text, SPVF_OK, "");
    spvf_context *c = new_context();
    spvf_plan *p = load_plan(c, text);
    spvf_fusion *f;
    cr_assert_eq(spvf_plan_fuse(p, 0, &f), SPVF_OK, "%s", messages);
    cr_expect_eq(spvf_fusion_get_info(f)->arg_count, 5); /* v is one */
    spvf_fusion_destroy(f);
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
    expect_run("buffer x i32[4] = 0\nlaunch \"k.ir\":put global 4 args variable x, 1\n",
               SPVF_ERROR_INPUT, "p:2:42: error: only values can be variable\n");
}

Test(run, smaller_groups_are_not_fused) {
    expect_run("buffer x i32[6] = 0\n"
               "fuse g {\n"
               "  launch \"k.ir\":put global 5 local 4 uneven args x, 7\n"
               "}\n",
               SPVF_ERROR_INPUT,
               "p:3:10: error: in a group, launches have whole work-groups: no 'uneven'\n");
}

Test(run, the_last_groups_are_smaller) {
    static const char text[] = "buffer x i32[6] = 0\n"
                               "launch \"k.ir\":put global 5 local 4 uneven args x, 7\n"
                               "expect x[0..5] = 7, 7, 7, 7, 7, 0\n";
    expect_run(text, SPVF_OK, "");
    const spvf_run_options on_cpu = {.size = sizeof on_cpu, .device = "cpu"};
    cr_expect_eq(run_text(text, &on_cpu), SPVF_OK);
}

/* ------------------------------------------------------------------------- structs with pointers */

#define MOVES "buffer x i32[4] = iota\nbuffer t i32[4] internal\nbuffer y i32[4]\n"

Test(run, members_of_a_struct_are_given_in_braces) {
    expect_run(MOVES "launch \"k.ir\":move global 4 args {x, 1, t}, 2\n"
                     "launch \"k.ir\":move global 4 args {t, -3,\n   y}, 10\n"
                     "expect y[0..3] = -10, 10, 30, 50\n",
               SPVF_OK, "");
}

Test(run, a_struct_without_members_is_given_as_braces) {
    expect_run("buffer x i32[1]\n"
               "launch \"k.ir\":seven global 1 args {}, x\n"
               "expect x[0] = 7\n",
               SPVF_OK, "");
    expect_run("buffer x i32[1]\n"
               "launch \"k.ir\":seven global 1 args x, {}\n",
               SPVF_ERROR_INPUT, "p:2:35: error: the kernel takes a value here\n");
}

Test(run, members_of_structs_are_fused) {
    static const char text[] = MOVES "fuse g strict {\n"
                                     "  launch \"k.ir\":move global 4 args {x, 1, t}, 2\n"
                                     "  launch \"k.ir\":move global 4 args {t, -3, y}, 10\n"
                                     "}\n"
                                     "expect y[0..3] = -10, 10, 30, 50\n";
    expect_run(text, SPVF_OK, "");
    spvf_context *c = new_context();
    spvf_plan *p = load_plan(c, text);
    spvf_fusion *f;
    cr_assert_eq(spvf_plan_fuse(p, 0, &f), SPVF_OK, "%s", messages);
    const spvf_fusion_info *info = spvf_fusion_get_info(f);
    cr_assert_eq(info->arg_count, 2); /* x and y: t is no memory, and numbers are constants */
    cr_expect_str_eq(info->args[0]->info->name, "move_s.0");
    cr_expect_str_eq(info->args[1]->info->name, "move_s.16_1");
    cr_expect_not(info->args[1]->info->member);
    spvf_fusion_destroy(f);
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
}

Test(run, braces_that_do_not_fit) {
    static const struct {
        const char *args, *said;
    } wrong[] = {
        {"x, 1, t, 2",
         "p:4:34: error: parameter 0 of kernel 'move' is a struct with pointers: this "
         "member, at byte 0, is given without braces\n"},
        {"{x, 1}, t, 2", "p:4:42: error: parameter 0 of kernel 'move' is a struct with pointers: "
                         "this member, at byte 16, is given without braces\n"},
        {"{x, 1}, {t}, 2", "p:4:43: error: parameter 0 of kernel 'move' is a struct with pointers: "
                           "this member, at byte 16, is given in braces of its own\n"},
        {"{x, 1, t, 2}",
         "p:4:44: error: in braces are the members of a struct with pointers, which "
         "kernel 'move' does not take here\n"},
        {"{x, 1, t}, {2}", "p:4:46: error: in braces are the members of a struct with pointers, "
                           "which kernel 'move' does not take here\n"},
        {"{x, t}, 2", "p:4:8: error: kernel 'move' has 4 arguments, 3 are given\n"},
        {"{}, 2", "p:4:8: error: kernel 'move' has 4 arguments, 2 are given\n"},
        {"{x, 1, t}, {}", "p:4:45: error: '{}' has no bytes, the parameter has 4\n"},
    };
    for (unsigned k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        char text[300];
        snprintf(text, sizeof text, MOVES "launch \"k.ir\":move global 4 args %s\n", wrong[k].args);
        expect_run(text, SPVF_ERROR_INPUT, wrong[k].said);
    }
}

/* --------------------------------------------------------------------------------------- limits */

Test(run, local_memory_has_a_limit) {
    expect_run("buffer x i32[1] = 0\n"
               "launch \"k.ir\":get global 1 args x, local 18446744073709551615\n",
               SPVF_ERROR_DEVICE,
               "p:2:8: error: l: 18446744073709551615 bytes of local memory are too many: device "
               "check has 1073741824\n");
    expect_run("buffer x i32[1] = 0\nlaunch \"k.ir\":get global 1 args x, local 0\n",
               SPVF_ERROR_DEVICE, "p:2:8: error: l: local memory of 0 bytes\n");
}

Test(run, an_nd_range_has_a_limit) {
    expect_run("launch \"k.ir\":loop global 65536, 65536 args 1\n", SPVF_ERROR_DEVICE,
               "p:1:8: error: the nd-range has 2^32 work-items or more\n");
}

/* The limit counts for the group, not for each of its work-items. */
Test(run, endless_groups_are_stopped) {
    static const char text[] = "launch \"k.ir\":loop global 64 local 64 args 100000\n";
    spvf_run_options o = {.size = sizeof o, .instruction_limit = 1000000};
    cr_expect_eq(run_text(text, &o), SPVF_ERROR_INPUT);
    cr_expect_not_null(strstr(messages, "error: no end after 1000000 instructions of the "
                                        "work-group; the launch stops here\n"));
    o.instruction_limit = 100000000;
    cr_expect_eq(run_text(text, &o), SPVF_OK, "%s", messages);
}

/* --------------------------------------------------------------------------------------- places */

Test(run, what_is_missing_has_a_place) {
    expect_run("launch \"nope.spv\":k global 1\n", SPVF_ERROR_IO,
               "p:1:8: error: nope.spv: cannot be opened: No such file or directory\n");
    expect_run("buffer x i32[1] = 0\nbuffer y i32[4] = file \"nope.bin\"\n", SPVF_ERROR_IO,
               "p:2:8: error: nope.bin: cannot be opened: No such file or directory\n");
    expect_run("buffer x i32[1] = 0\nwrite x \"no/where\"\n", SPVF_ERROR_IO,
               "p:2:7: error: no/where: cannot be written: No such file or directory\n");
}

static const char refused[] = "buffer x i32[64] = 0\n"
                              "fuse g {\n"
                              "  launch \"k.ir\":put global 64 local 16 args x, 1\n"
                              "  launch \"k.ir\":put global 64 local 32 args x, 2\n"
                              "}\n"
                              "expect x = 2\n";

Test(run, refusals_have_a_place_and_the_severity_of_what_follows) {
    expect_run(refused, SPVF_OK,
               "p:2:6: warning: not fused: different local sizes: @put {64/16}, @put {64/32} "
               "[fuse.request]\n"
               "p:2:6: warning: group 'g' runs kernel by kernel\n");
    spvf_run_options o = {.size = sizeof o, .strict = true};
    cr_expect_eq(run_text(refused, &o), SPVF_ERROR_REFUSED);
    cr_expect_str_eq(messages, "p:2:6: error: not fused: different local sizes: @put {64/16}, @put "
                               "{64/32} [fuse.request]\n"
                               "p:2:6: error: group 'g' was not fused\n");
}

Test(run, a_plan_fused_alone_says_the_same) {
    spvf_context *c = new_context();
    spvf_plan *p = load_plan(c, refused);
    spvf_fusion *f;
    cr_expect_eq(spvf_plan_fuse(p, 0, &f), SPVF_ERROR_REFUSED);
    cr_expect_null(f);
    cr_expect_str_eq(messages, "p:2:6: warning: not fused: different local sizes: @put {64/16}, "
                               "@put {64/32} [fuse.request]\n");
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
}

/* A message that belongs to no plan gets no place from the plan that ran before. */
Test(run, places_end_with_the_run) {
    spvf_context *c = new_context();
    spvf_plan *p = load_plan(c, "launch \"nope.spv\":k global 1\n");
    spvf_fuse_options o = {.size = sizeof o};
    spvf_fusion *f;
    spvf_plan_run(p, NULL, NULL);
    messages[0] = 0;
    spvf_fuse(c, &o, &f);
    cr_expect_str_eq(messages, "error: nothing to fuse\n");
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
}

/* --------------------------------------------------------------------------------------- memory */

Test(run, running_again_holds_no_more) {
    spvf_context *c = new_context();
    spvf_plan *p = load_plan(c, "buffer x i32[10000] = iota\n"
                                "launch \"k.ir\":put global 64 args x, 1\n"
                                "fuse g {\n"
                                "  launch \"k.ir\":put global 64 args x, 2\n"
                                "  launch \"k.ir\":put global 64 args x, 3\n"
                                "}\n"
                                "print x[0..100]\nexpect x[0..63] = 3\n");
    size_t held = 0; /* after the first run: the context keeps some memory for the next ones */
    for (int i = 0; i < 4; i++) {
        spvf_fusion *f;
        cr_assert_eq(spvf_plan_run(p, NULL, NULL), SPVF_OK, "%s", messages);
        cr_assert_eq(spvf_plan_fuse(p, 0, &f), SPVF_OK);
        spvf_fusion_destroy(f);
        if (i == 0) held = bytes_held;
        cr_expect_eq(bytes_held, held);
    }
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
}

/* ------------------------------------------------------------------------------- other programs */

typedef struct {
    spvf_context *c;
    ir_arena *a;
    const char *program;
    size_t size;
} filter_job;

static void filter(void *arg) {
    filter_job *j = arg;
    j->size = rt_filter(j->c, j->a, j->program, (rt_bytes){"abc", 3}).size;
}

static spvf_status filter_with(const char *script, size_t *size) {
    spvf_context *c = new_context();
    ir_arena a;
    write_file("filter.sh", script);
    chmod("filter.sh", 0700);
    ir_arena_init(&a, &c->cx);
    filter_job j = {c, &a, "./filter.sh", 0};
    spvf_status status = rt_guard(c, filter, &j);
    *size = j.size;
    ir_arena_free(&a);
    spvf_context_destroy(c);
    remove("filter.sh");
    return status;
}

/* Arguments of a filter: -r /dev/stdin -o -. */
static void filter_all_ways(void) {
    size_t size;
    cr_expect_eq(filter_with("#!/bin/sh\ncat $2\n", &size), SPVF_OK, "%s", messages);
    cr_expect_eq(size, 3);
    cr_expect_eq(filter_with("#!/bin/sh\nexit 1\n", &size), SPVF_ERROR_DEVICE);
    cr_expect_eq(filter_with("#!/bin/sh\nexit 0\n", &size), SPVF_ERROR_DEVICE);
    cr_expect_str_eq(messages, "error: ./filter.sh gave nothing for the module\n");
}

Test(run, filters) { filter_all_ways(); }

Test(run, filters_of_a_host_that_ignores_its_children) {
    signal(SIGCHLD, SIG_IGN);
    filter_all_ways();
}
