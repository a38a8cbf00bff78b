/* plan_test.c — the plan language: every error with its place and text, and what is accepted. */
#include "runtime/plan/plan.h"

#include <criterion/criterion.h>

static char message[1500];

static void keep_first(void *user, const spvf_message *m) {
    (void)user;
    if (m->severity == SPVF_ERROR && !message[0])
        snprintf(message, sizeof message, "%s", m->formatted);
}

static spvf_context *new_context(void) {
    spvf_context_options o = {.size = sizeof o, .message = keep_first};
    spvf_context *c;
    message[0] = 0;
    cr_assert_eq(spvf_context_create(&o, &c), SPVF_OK);
    return c;
}

/* `x` is a buffer of 8 floats and `s` a scalar in every case below. */
static const char prefix[] = "buffer x f32[8]\nscalar s i32 = 5\n";

typedef struct {
    const char *text, *error;
} bad_plan;

static const bad_plan bad[] = {
    /* statements */
    {"bufer y f32[1]", "p:3:1: error: expected buffer, scalar, build, launch, fuse, expect, print "
                       "or write, found 'bufer'"},
    {"5", "p:3:1: error: expected buffer, scalar, build, launch, fuse, expect, print or write, "
          "found '5'"},
    {"print x print x", "p:3:9: error: expected the end of the line, found 'print'"},
    {"}", "p:3:1: error: expected buffer, scalar, build, launch, fuse, expect, print or write, "
          "found '}'"},
    {"@", "p:3:1: error: expected buffer, scalar, build, launch, fuse, expect, print or write, "
          "found '@'"},
    /* buffers */
    {"buffer", "p:3:7: error: expected a name, found the end of the plan"},
    {"buffer 7 f32[1]", "p:3:8: error: expected a name, found '7'"},
    {"buffer x f32[1]", "p:3:8: error: 'x' is already declared"},
    {"buffer s f32[1]", "p:3:8: error: 's' is already declared"},
    {"buffer y float[1]", "p:3:10: error: expected an element type (i8 … i64, u8 … u64, f16, f32, "
                          "f64, bytes), found 'float'"},
    {"buffer y f32", "p:3:13: error: expected '[', found the end of the plan"},
    {"buffer y f32[]", "p:3:14: error: expected a number of elements, found ']'"},
    {"buffer y f32[0]", "p:3:14: error: a buffer has 1 to 2^40 bytes"},
    {"buffer y f64[1099511627776]", "p:3:14: error: a buffer has 1 to 2^40 bytes"},
    {"buffer y f32[1.5]", "p:3:14: error: '1.5' is not an integer that u64 holds"},
    {"buffer y f32[99999999999999999999]",
     "p:3:14: error: '99999999999999999999' is not an integer that u64 holds"},
    {"buffer y f32[4", "p:3:15: error: expected ']', found the end of the plan"},
    {"buffer y f32[4] = 1, 2", "p:3:19: error: 2 values for 4 elements of 'y'"},
    {"buffer y f32[4] = x", "p:3:19: error: expected a number, found 'x'"},
    {"buffer y i8[1] = 128", "p:3:18: error: 128 does not fit in i8"},
    {"buffer y i8[1] = -129", "p:3:19: error: -129 does not fit in i8"},
    {"buffer y u8[1] = 256", "p:3:18: error: 256 does not fit in u8"},
    {"buffer y u8[1] = -1", "p:3:19: error: -1 does not fit in u8"},
    {"buffer y u16[1] = 0x10000", "p:3:19: error: 0x10000 does not fit in u16"},
    {"buffer y i32[1] = 1.5", "p:3:19: error: '1.5' is not an integer that i32 holds"},
    {"buffer y i32[1] = inf", "p:3:19: error: 'inf' is not an integer that i32 holds"},
    {"buffer y f32[4] = random", "p:3:25: error: expected a number, found the end of the plan"},
    {"buffer y f32[4] = file y", "p:3:24: error: expected a file name in quotes, found 'y'"},
    {"buffer y f32[4] internal shared",
     "p:3:26: error: expected the end of the line, found 'shared'"},
    /* scalars */
    {"scalar t i32", "p:3:13: error: expected '=', found the end of the plan"},
    {"scalar t i32[3] = 1, 2", "p:3:19: error: 2 values for 3 elements of 't'"},
    {"scalar s i32 = 1", "p:3:8: error: 's' is already declared"},
    /* launches */
    {"launch k.spv:k global 1",
     "p:3:8: error: expected the name of a file with kernels in quotes, found 'k.spv'"},
    {"launch \"k.spv\" global 1", "p:3:16: error: expected ':' and a kernel name, found 'global'"},
    {"launch \"k.spv",
     "p:3:8: error: expected the name of a file with kernels in quotes, found '\"'"},
    {"launch \"k.spv\":k args x", "p:3:8: error: launch needs 'global' and its sizes"},
    {"launch \"k.spv\":k global",
     "p:3:24: error: expected a global size, found the end of the plan"},
    {"launch \"k.spv\":k global 0", "p:3:8: error: a global size is 0"},
    {"launch \"k.spv\":k global 8 local 0", "p:3:8: error: a local size is 0"},
    {"launch \"k.spv\":k global 8 local 3",
     "p:3:8: error: global size 8 is not a multiple of local size 3"},
    {"launch \"k.spv\":k global 8 8 local 4",
     "p:3:8: error: global, local and offset must have the same number of sizes"},
    {"launch \"k.spv\":k global 8 offset 1 1",
     "p:3:8: error: global, local and offset must have the same number of sizes"},
    {"launch \"k.spv\":k global 1 2 3 4", "p:3:31: error: expected the end of the line, found '4'"},
    {"launch \"k.spv\":k global 8 args y", "p:3:32: error: 'y' is not declared"},
    {"launch \"k.spv\":k global 8 args",
     "p:3:31: error: expected an argument, found the end of the plan"},
    {"launch \"k.spv\":k global 8 args x at",
     "p:3:36: error: expected a number of bytes, found the end of the plan"},
    {"launch \"k.spv\":k global 8 args x at 999",
     "p:3:32: error: byte 999 is not in 'x', which has 32 bytes"},
    {"launch \"k.spv\":k global 8 args s at 0",
     "p:3:34: error: expected the end of the line, found 'at'"},
    {"launch \"k.spv\":k global 8 uneven", "p:3:8: error: 'uneven' needs 'local' and its sizes"},
    {"launch \"k.spv\":k global 8 args local",
     "p:3:37: error: expected a number of bytes, found the end of the plan"},
    {"launch \"k.spv\":k global 8 args {",
     "p:3:33: error: expected an argument, found the end of the plan"},
    {"launch \"k.spv\":k global 8 args {x, {x}}", "p:3:36: error: expected an argument, found '{'"},
    {"launch \"k.spv\":k global 8 args {x, s x}", "p:3:38: error: expected '}', found 'x'"},
    {"launch \"k.spv\":k global 8 spec 1 = 2 spec 1 = 3", "p:3:43: error: spec 1 is given twice"},
    {"launch \"k.spv\":k global 8 spec x = 2", "p:3:32: error: expected a SpecId, found 'x'"},
    {"launch \"k.spv\":k global 8 layout k",
     "p:3:34: error: expected the file name of a layout in quotes, found 'k'"},
    {"launch \"k.spv\":k global 8 layout",
     "p:3:33: error: expected the file name of a layout in quotes, found the end of the plan"},
    {"launch \"k.spv\":k global 8 layout \"a\" layout \"b\"",
     "p:3:45: error: a launch has one layout"},
    {"build k", "p:3:7: error: expected build options in quotes, found 'k'"},
    {"launch \"k.cl\":k global 8 build",
     "p:3:31: error: expected build options in quotes, found the end of the plan"},
    {"launch \"k.cl\":k global 8 build \"\" build \"\"",
     "p:3:41: error: a launch has one list of build options"},
    /* groups */
    {"fuse {", "p:3:6: error: expected a name for the fused kernel, found '{'"},
    {"fuse g launch", "p:3:8: error: expected '{', found 'launch'"},
    {"fuse g {\n}", "p:3:6: error: fuse group 'g' has no launch"},
    {"fuse g barrier_local, barrier_global {\n}",
     "p:3:23: error: 'barrier_global' contradicts 'barrier_local' of the same group"},
    {"fuse g no_barriers no_barriers {\nbarrier_local\n}",
     "p:4:1: error: 'barrier_local' contradicts 'no_barriers' of the same group"},
    {"fuse g {\nbuffer y f32[1]\n}",
     "p:4:1: error: expected 'launch', an option or '}', found 'buffer'"},
    {"fuse g {\nlaunch \"k.spv\":k global 1",
     "p:4:26: error: expected 'launch', an option or '}', found the end of the plan"},
    /* expect, print, write */
    {"expect y = 1", "p:3:8: error: expected the name of a buffer, found 'y'"},
    {"expect x", "p:3:9: error: expected '=', found the end of the plan"},
    {"expect x[8] = 1", "p:3:8: error: [8..8] is not inside 'x', which has 8 elements"},
    {"expect x[3..1] = 1", "p:3:8: error: [3..1] is not inside 'x', which has 8 elements"},
    {"expect x[0..3] = 1, 2", "p:3:8: error: 2 values for 4 elements"},
    {"expect x[0..1] = 1, 2 ~", "p:3:24: error: expected a number, found the end of the plan"},
    {"expect s = 1", "p:3:8: error: expected the name of a buffer, found 's'"},
    {"write x out", "p:3:9: error: expected a file name in quotes, found 'out'"},
};

Test(plan, errors_name_their_place) {
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        spvf_context *c = new_context();
        spvf_plan *plan;
        char text[1024];
        int n = snprintf(text, sizeof text, "%s%s", prefix, bad[i].text);
        spvf_status status = spvf_plan_load(c, "p", text, (size_t)n, &plan);
        cr_expect_eq(status, SPVF_ERROR_INPUT, "%s", bad[i].text);
        cr_expect_null(plan);
        cr_expect_str_eq(message, bad[i].error, "%s:\n  got  %s\n  want %s", bad[i].text, message,
                         bad[i].error);
        cr_expect_eq(c->cx.used, 0);
        spvf_context_destroy(c);
    }
}

static spvf_plan *load(spvf_context *c, const char *text) {
    spvf_plan *plan;
    spvf_status status = spvf_plan_load(c, "folder/p", text, strlen(text), &plan);
    cr_assert_eq(status, SPVF_OK, "%s", message);
    return plan;
}

Test(plan, reads_every_construct) {
    spvf_context *c = new_context();
    spvf_plan *p = load(
        c, "# comment\n\n"
           "buffer a f32[4] = 1, -0.0, inf,   # continued\n    nan\n"
           "buffer b i64[2] = iota*-3 internal private\n"
           "buffer c bytes[16] = random 7 internal local assume\n"
           "buffer d f16[3] internal\n"
           "scalar v f32[3] = 0.5, 1, 0x1p-3\n"
           "fuse g no_barriers, strict {\n"
           "  force\n"
           "  launch \"k.spv\":k global 8 4 2 local 4 2 1 offset 1 0 3 spec 7 = 9 args a at 8, \\\n"
           "         -2.5f, 0xffu, local 64, v, c internal local, d internal\n"
           "}\n"
           "expect a[0..1] = 1, 2 ~ 1e-6\nprint a[2]\nwrite b \"b.bin\"\n");
    cr_assert_eq(p->buffers.n, 4);
    cr_assert_eq(p->buffers.data[0].list[1], 0x80000000);
    cr_assert_eq(p->buffers.data[1].factor, (uint64_t)-3);
    const rt_internal *private = &p->buffers.data[1].internal;
    const rt_internal *local = &p->buffers.data[2].internal, *any = &p->buffers.data[3].internal;
    cr_assert_eq(private->kind, SPVF_PROMOTE_PRIVATE);
    cr_assert(local->kind == SPVF_PROMOTE_LOCAL && local->assume);
    cr_assert(any->given && any->kind == SPVF_PROMOTE_AUTO);
    cr_assert_eq(p->scalars.data[0].size, 12);
    cr_assert_eq(p->stmts.n, 4);
    const rt_group *g = &p->stmts.data[0].group;
    cr_assert(g->force && g->strict && g->barrier == SPVF_BARRIER_NONE);
    const rt_plan_launch *l = &g->launches.data[0];
    cr_assert_eq(l->range.dims, 3);
    cr_assert_eq(l->range.local[1], 2);
    cr_assert_eq(l->range.offset[2], 3);
    cr_assert_eq(l->specs.data[0].value, 9);
    cr_assert_eq(l->args.n, 7);
    cr_assert(l->args.data[1].negative);
    cr_assert_eq(l->args.data[3].bytes, 64);
    cr_assert_eq(l->args.data[0].offset, 8);
    cr_assert_not(l->args.data[0].internal.given);
    cr_assert_eq(l->args.data[5].internal.kind, SPVF_PROMOTE_LOCAL);
    cr_assert(l->args.data[6].internal.given && !l->args.data[6].internal.kind);
    cr_assert_eq(p->stmts.data[1].range.tolerance, 1e-6);
    cr_assert_str_eq(rt_plan_path(p, &p->arena, "k.spv"), "folder/k.spv");
    cr_assert_str_eq(rt_plan_path(p, &p->arena, "/k.spv"), "/k.spv");
    spvf_plan_destroy(p);
    cr_assert_eq(c->cx.used, 0);
    spvf_context_destroy(c);
}

Test(plan, integers_take_their_whole_range) {
    spvf_context *c = new_context();
    spvf_plan *p =
        load(c, "buffer a i8[4] = -128, 127, 0xff, 0\nbuffer b u64[1] = 18446744073709551615\n"
                "buffer d i64[1] = -9223372036854775808\n");
    cr_assert_eq(p->buffers.data[0].list[0], 0x80);
    cr_assert_eq(p->buffers.data[0].list[2], 0xff);
    cr_assert_eq(p->buffers.data[1].list[0], UINT64_MAX);
    cr_assert_eq(p->buffers.data[2].list[0], UINT64_C(1) << 63);
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
}
