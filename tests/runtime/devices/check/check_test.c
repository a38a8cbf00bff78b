/* check_test.c — the check device: what kernels compute, what is counted, printf, what must not
 * happen, refusals, limits.
 */
#include "check_bench.h"

/* ----------------------------------------------------------------------- kernels that are right */

static const char saxpy[] =
    "kernel @k(%x: ptr.global, %y: ptr.global, %a: f32, %n: i32) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %n64: i64 = sext %n\n"
    "  %c: i1 = ult %i, %n64\n"
    "  br %c, body, done\n"
    "body:\n" ELEMENT("i", "x", "p") ELEMENT("i", "y", "q") "  %v: f32 = load %p align 4\n"
                                                            "  %u: f32 = load %q align 4\n"
                                                            "  %r: f32 = fma %a, %v, %u\n"
                                                            "  store %r, %q align 4\n"
                                                            "  jmp done\n"
                                                            "done:\n  ret\n}\n";

Test(check, counts_what_a_kernel_does) {
    float x[100], y[100], a = 2.0f, r[100];
    for (int k = 0; k < 100; k++) x[k] = (float)k, y[k] = 1.0f;
    open_text(saxpy);
    check_buffer *bx = keep_buffer(check_buffer_new(w.d, sizeof x, x, CHECK_BUFFER_READ_ONLY));
    check_buffer *by = keep_buffer(check_buffer_new(w.d, sizeof y, y, 0));
    set_range(128, 32);
    RUN(arg_buffer(bx), arg_buffer(by), arg_bytes(&a, 4), INT(100));
    SAYS_NOTHING();
    cr_assert(check_buffer_read(by, 0, sizeof r, r));
    for (int k = 0; k < 100; k++) cr_assert_eq(r[k], 2.0f * (float)k + 1.0f);
    const check_traffic *t = &w.result.memory[IR_GLOBAL];
    cr_assert_eq(t->loads, 200);
    cr_assert_eq(t->stores, 100);
    cr_assert_eq(t->atomics, 0);
    cr_assert_eq(t->bytes_read, 800);
    cr_assert_eq(t->bytes_written, 400);
    cr_assert_eq(w.result.instructions, 128 * 4 + 100 * 9 + 128);
    cr_assert_eq(w.result.barriers, 0);
    cr_assert_not(w.result.ended_early);
    close_all();
}

/* Every query of one work-item, 16 words per work-item. */
static const char queries[] =
    "kernel @k(%x: ptr.global) {\n"
    "entry:\n"
    "  %l: i32 = global_linear_id\n"
    "  %l64: i64 = zext %l\n"
    "  %o: i64 = mul %l64, 64\n"
    "  %p: ptr.global = ptradd %x, %o\n"
    "  %g0: i32 = global_id 0\n"
    "  %g1: i32 = global_id 1\n"
    "  %g2: i32 = global_id 2\n"
    "  %l0: i32 = local_id 0\n"
    "  %gr: i32 = group_id 0\n"
    "  %ng: i32 = num_groups 1\n"
    "  %ls: i32 = local_size 0\n"
    "  %es: i32 = enqueued_local_size 0\n"
    "  %gs: i32 = global_size 0\n"
    "  %go: i32 = global_offset 1\n"
    "  %wd: i32 = work_dim\n"
    "  %ll: i32 = local_linear_id\n"
    "  %ss: i32 = subgroup_size\n"
    "  %si: i32 = subgroup_id\n"
    "  %sl: i32 = subgroup_local_id\n"
    "  %ns: i32 = num_subgroups\n"
    "  %v: v16i32 = vec %g0, %g1, %g2, %l0, %gr, %ng, %ls, %es, %gs, %go, %wd, %ll, %ss, %si, %sl, "
    "%ns\n"
    "  store %v, %p align 4\n"
    "  ret\n}\n";

static void check_ids(check_buffer *b, unsigned item, const int32_t *expected) {
    for (unsigned k = 0; k < 16; k++)
        cr_assert_eq(int_at(b, item * 16 + k), expected[k], "item %u, query %u: %d", item, k,
                     int_at(b, item * 16 + k));
}

Test(check, answers_queries) {
    open_text(queries);
    check_buffer *b = zeros(5 * 4 * 2 * 16);
    w.range =
        (ir_range){.dims = 3, .global = {5, 4, 2}, .local = {3, 2, 2}, .offset = {100, 10, 1}};
    w.options.allow_non_uniform = true;
    RUN(arg_buffer(b));
    SAYS_NOTHING();
    check_ids(b, 0, (const int32_t[]){100, 10, 1, 0, 0, 2, 3, 3, 5, 10, 3, 0, 8, 0, 0, 2});
    /* global (4, 3, 1): group (1, 1, 0) of 2 x 2 x 2, local (1, 1, 1) */
    check_ids(b, 39, (const int32_t[]){104, 13, 2, 1, 1, 2, 2, 3, 5, 10, 3, 7, 8, 0, 7, 1});
    /* global (2, 1, 1): last of a group of 12 in sub-groups of 8 and 4 */
    check_ids(b, 27, (const int32_t[]){102, 11, 2, 2, 0, 2, 3, 3, 5, 10, 3, 11, 4, 1, 3, 2});
    close_all();
}

Test(check, barriers_in_loops) {
    int32_t x[16];
    for (int k = 0; k < 16; k++) x[k] = k;
    open_text(TREE("  barrier workgroup workgroup seq_cst local\n"));
    check_buffer *in = ints(16, x), *out = zeros(2);
    set_range(16, 8);
    RUN(arg_buffer(in), arg_buffer(out));
    SAYS_NOTHING();
    cr_assert_eq(int_at(out, 0), 28);
    cr_assert_eq(int_at(out, 1), 92);
    cr_assert_eq(w.result.barriers, 16 * 4);
    close_all();
}

Test(check, local_arguments_and_structs_by_value) {
    open_text(
        "kernel @k(%s: ptr.private byval(16) align 8 of {i32, i64}, %t: ptr.local, %v: v3i32, "
        "%out: ptr.global) {\n"
        "entry:\n"
        "  %p: ptr.private = ptradd %s, i64 8\n"
        "  %b: i64 = load %p align 8\n"
        "  %a: i32 = load %s align 8\n"
        "  %bt: i32 = trunc %b\n"
        "  %v2: i32 = extract %v, i32 2\n"
        "  %ab: i32 = mul %a, %bt\n"
        "  %r: i32 = add %ab, %v2\n"
        "  store i32 0, %s align 4\n"
        "  store %r, %t align 4\n"
        "  %q: i32 = load %t align 4\n"
        "  store %q, %out align 4\n"
        "  ret\n}\n");
    const struct {
        int32_t a, pad;
        int64_t b;
    } s = {6, 0, 7};
    const int32_t v[4] = {1, 2, 3, 0};
    check_buffer *out = zeros(1);
    set_range(1, 1);
    RUN(arg_bytes(&s, sizeof s), arg_local(4), arg_bytes(v, 16), arg_buffer(out));
    RUN(arg_bytes(&s, sizeof s), arg_local(4), arg_bytes(v, 12), arg_buffer(out));
    SAYS_NOTHING();
    cr_assert_eq(int_at(out, 0), 45);
    close_all();
}

Test(check, globals_live_as_long_as_the_program) {
    open_text("@count: global i32 align 4 = 5\n"
              "@tab: const [2 x i32] align 4 = {10, 20}\n"
              "@where: const ptr.const align 8 = &@tab+4\n"
              "@mine: private i32 align 4 = 1\n"
              "kernel @k(%out: ptr.global) {\n"
              "entry:\n"
              "  %p: ptr.const = load @where align 8\n"
              "  %v: i32 = load %p align 4\n"
              "  %m: i32 = load @mine align 4\n"
              "  store i32 9, @mine align 4\n"
              "  %vm: i32 = add %v, %m\n"
              "  %old: i32 = atomic_add @count, %vm device relaxed\n"
              "  store %old, %out align 4\n"
              "  ret\n}\n");
    check_buffer *out = zeros(1);
    set_range(1, 1);
    RUN(arg_buffer(out));
    cr_assert_eq(int_at(out, 0), 5);
    RUN(arg_buffer(out));
    cr_assert_eq(int_at(out, 0), 26);
    SAYS_NOTHING();
    close_all();
}

Test(check, modules_of_32_bits) {
    open_text("target 32\n"
              "kernel @k(%x: ptr.global) {\n"
              "entry:\n"
              "  %i: i32 = global_id 0\n"
              "  %o: i32 = shl %i, 2\n"
              "  %p: ptr.global = ptradd %x, %o\n"
              "  %a: ptr.private = alloca ptr.global align 4\n"
              "  store %p, %a align 4\n"
              "  %q: ptr.global = load %a align 4\n"
              "  store %i, %q align 4\n"
              "  ret\n}\n");
    check_buffer *x = zeros(4);
    set_range(5, 5);
    RUN(arg_buffer(x));
    cr_assert_eq(int_at(x, 3), 3);
    SAYS("t.spv: error: write of 4 bytes at x + 16 is out of bounds: x has 16 bytes\n"
         "  work-item (4, 0, 0) of group (0, 0, 0) in kernel @k: store %i, %q align 4\n");
    close_all();
}

/* --------------------------------------------------------------------------------------- printf */

static const char *printed(const char *arguments) {
    char text[1024];
    memset(&w, 0, sizeof w);
    snprintf(text, sizeof text,
             "@hello: const [6 x i8] align 1 = \"hello\\x00\"\n"
             "kernel @k() {\nentry:\n  %%r: i32 = printf %s\n  ret\n}\n",
             arguments);
    open_text(text);
    set_range(1, 1);
    RUN_PLAIN();
    close_all();
    return w.printed;
}

Test(check, printf) {
    cr_assert_str_eq(printed("\"plain 100%%\\n\""), "plain 100%\n");
    cr_assert_str_eq(printed("\"%d|%5d|%-5d|%05d|%+d\", i32 -1, i32 42, i32 42, i32 42, i32 42"),
                     "-1|   42|42   |00042|+42");
    cr_assert_str_eq(printed("\"%u %x %#X %o\", i32 -1, i32 255, i32 255, i32 8"),
                     "4294967295 ff 0XFF 10");
    cr_assert_str_eq(printed("\"%ld %lu %hhd %hd\", i64 -5, i64 -1, i32 511, i32 65537"),
                     "-5 18446744073709551615 -1 1");
    cr_assert_str_eq(printed("\"%f %.2f %8.3e %g %a\", f32 1.5, f64 0.125, f64 12345.0, f16 0.1, "
                             "f64 1.0"),
                     "1.500000 0.12 1.234e+04 0.0999756 0x1p+0");
    cr_assert_str_eq(printed("\"%f %F %f\", f32 inf, f64 inf, f64 nan"), "inf INF nan");
    cr_assert_str_eq(printed("\"%c%c|%3c\", i32 72, i32 105, i32 33"), "Hi|  !");
    cr_assert_str_eq(printed("\"%s|%8s|%-8s|%.2s\", @hello, @hello, @hello, @hello"),
                     "hello|   hello|hello   |he");
    cr_assert_str_eq(printed("\"%v4hlf\", v4f32 <1.0, 2.0, 3.0, 4.5>"),
                     "1.000000,2.000000,3.000000,4.500000");
    cr_assert_str_eq(printed("\"%#v4hhx\", v4i8 <250, 251, 252, 253>"), "0xfa,0xfb,0xfc,0xfd");
    cr_assert_str_eq(printed("\"%+v2ld\", v2i64 <600000000000, -600000000000>"),
                     "+600000000000,-600000000000");
    cr_assert_str_eq(printed("\"%3v2d|\", v2i32 <1, 2>"), "  1,  2|");
    cr_assert_str_eq(printed("\"%p\", ptr.global null"), "0x0");
}

Test(check, printf_says_when_it_cannot) {
    open_text("kernel @k(%out: ptr.global) {\nentry:\n"
              "  %a: i32 = printf \"fine\"\n"
              "  %b: i32 = printf \" %d\", f32 1.0\n"
              "  %c: i32 = printf \" %d\"\n"
              "  %d: i32 = printf \" %*d\", i32 3, i32 4\n"
              "  %v: v4i32 = vec %a, %b, %c, %d\n"
              "  store %v, %out align 16\n  ret\n}\n");
    check_buffer *out = zeros(4);
    set_range(1, 1);
    RUN(arg_buffer(out));
    SAYS_NOTHING();
    cr_assert_str_eq(w.printed, "fine   ");
    cr_assert_eq(int_at(out, 0), 0);
    for (unsigned k = 1; k < 4; k++) cr_assert_eq(int_at(out, k), -1);
    close_all();
}

Test(check, printf_reads_strings_with_care) {
    open_text("kernel @k(%x: ptr.global) {\nentry:\n"
              "  %a: i32 = printf \"<%s>\", %x\n  ret\n}\n");
    check_buffer *x = keep_buffer(check_buffer_new(w.d, 2, "ab", 0));
    set_range(1, 1);
    RUN(arg_buffer(x));
    cr_assert_str_eq(w.printed, "<ab>");
    SAYS("t.spv: error: read of 1 bytes at x + 2 is out of bounds: x has 2 bytes\n" AT_KERNEL
         "%a: i32 = printf \"<%s>\", %x\n");
    close_all();
}

/* ------------------------------------------------------------------------------ the other kinds */

Test(check, endless_loops) {
    open_text(LINES "kernel @k() {\nentry:\n  jmp loop\n"
                    "loop:\n  jmp loop !20\n}\n");
    w.options.step_limit = 1000;
    set_range(4, 2);
    RUN_PLAIN();
    SAYS("t.spv: word 0x14, k.cl:7: error: no end after 1000 instructions of the work-group; the "
         "launch stops here\n" AT_KERNEL "jmp loop\n");
    cr_assert(w.result.ended_early);
    cr_assert_eq(w.result.instructions, 1000);
    close_all();
}

/* Work-item 0 waits for what work-item 1 does later. */
Test(check, spinning_on_another_work_item) {
    open_text("kernel @k(%x: ptr.global) {\nentry:\n"
              "  %l: i64 = local_id 0\n"
              "  %first: i1 = eq %l, i64 0\n"
              "  br %first, spin, set\n"
              "spin:\n"
              "  %v: i32 = atomic_load %x workgroup acquire global\n"
              "  %c: i1 = eq %v, i32 0\n"
              "  br %c, spin, done\n"
              "set:\n"
              "  atomic_store %x, i32 1 workgroup release global\n"
              "  jmp done\n"
              "done:\n  ret\n}\n");
    check_buffer *x = zeros(1);
    set_range(2, 2);
    RUN(arg_buffer(x));
    SAYS_NOTHING();
    close_all();
}

Test(check, what_must_not_happen) {
    open_text("kernel @k(%x: i32) {\nentry:\n"
              "  %q: i32 = sdiv 1, %x\n"
              "  %c: i1 = ne %x, i32 0\n"
              "  assume %c\n"
              "  %i: i32 = local_id 0\n"
              "  switch %i, a [0: b, 1: d, 2: e]\n"
              "a:\n  unreachable\n"
              "b:\n  call @missing()\n  ret\n"
              "d:\n  call @deep()\n  ret\n"
              "e:\n  call @refused()\n  ret\n}\n"
              "func @deep(): void {\nentry:\n  call @deep()\n  ret\n}\n"
              "func @missing(): void import\n"
              "func @refused(): void refused \"OpFoo is not supported\"\n");
    set_range(4, 4);
    RUN(INT(0));
    SAYS("t.spv: warning: division by zero, or its quotient overflows\n" AT_KERNEL
         "%q: i32 = sdiv 1, %x\n"
         "  4 times\n"
         "t.spv: warning: an assumption is false\n" AT_KERNEL "assume %c\n"
         "  4 times\n"
         "t.spv: error: call of @missing, which has no body\n" AT_KERNEL "call @missing()\n"
         "t.spv: error: calls are nested too deeply\n"
         "  work-item (1, 0, 0) of group (0, 0, 0) in kernel @k, @deep: call @deep()\n"
         "t.spv: error: call of @refused, which has no body: OpFoo is not supported\n"
         "  work-item (2, 0, 0) of group (0, 0, 0) in kernel @k: call @refused()\n"
         "t.spv: error: reached a place that control never comes to\n"
         "  work-item (3, 0, 0) of group (0, 0, 0) in kernel @k: unreachable\n");
    cr_assert_eq(w.result.warnings, 2);
    cr_assert_eq(w.result.errors, 4);
    cr_assert(w.result.ended_early);
    close_all();
}

/* ------------------------------------------------------------------------------------- refusals */

static void refused(const char *text, const check_arg *args, unsigned n, const char *message) {
    ir_range range = w.range;
    memset(&w, 0, sizeof w);
    w.range = range;
    open_text(text);
    cr_assert_not(try_run(args, n));
    cr_assert_str_eq(w.message, message);
    cr_assert_eq(w.result.instructions, 0);
    close_all();
}

Test(check, refuses_what_it_does_not_have) {
    set_range(4, 2);
    refused("kernel @k(%i: image(void, 1, 0, 0, 0, 0, 0, 0)) {\nentry:\n"
            "  %s: v2i32 = image_size %i\n  ret\n}\n",
            (const check_arg[]){INT(0)}, 1,
            "error: @k: image_size: images are not supported by device check");
    refused("kernel @k(%i: image(void, 1, 0, 0, 0, 0, 0, 0)) {\nentry:\n  ret\n}\n",
            (const check_arg[]){INT(0)}, 1, "error: i: images are not supported by device check");
    refused("kernel @k() {\nentry:\n  barrier cross_device device seq_cst global\n  ret\n}\n", NULL,
            0,
            "error: @k: barrier of a scope that is neither work-group nor sub-group is not "
            "supported by device check");
    refused("@x: global i32 align 4 import\n"
            "kernel @k() {\nentry:\n  store i32 1, @x align 4\n  ret\n}\n",
            NULL, 0, "error: @k: @x is imported and has no definition");
    refused("func @k() {\nentry:\n  ret\n}\n", NULL, 0, "error: no kernel @k");
}

Test(check, refuses_arguments_that_do_not_fit) {
    const char *text = "kernel @k(%x: ptr.global, %n: i32, %t: ptr.local) {\nentry:\n  ret\n}\n";
    const check_arg null = {.kind = IR_ARG_POINTER};
    set_range(4, 2);
    refused(text, &null, 1, "error: kernel @k takes 3 arguments, not 1");
    refused(text, (const check_arg[]){INT(0), INT(0), arg_local(4)}, 3, "error: x: wants a buffer");
    refused(text, (const check_arg[]){null, arg_local(4), arg_local(4)}, 3,
            "error: n: wants a value of 4 bytes");
    refused(text, (const check_arg[]){null, INT(0), INT(0)}, 3, "error: t: wants local memory");
}

Test(check, refuses_ranges_that_do_not_fit) {
    const char *text = "kernel @k() local_size 4 1 1 {\nentry:\n  ret\n}\n";
    set_range(10, 4);
    refused(text, NULL, 0,
            "error: global size 10 is not a multiple of local size 4 in dimension 0");
    set_range(12, 3);
    refused(text, NULL, 0, "error: kernel @k requires local size 4 in dimension 0, not 3");
    w.range.dims = 4;
    refused(text, NULL, 0, "error: an nd-range has 1 to 3 dimensions, not 4");
    memset(&w, 0, sizeof w);
    open_text(text);
    set_range(12, 0); /* the required size */
    RUN_PLAIN();
    w.range.global[0] = 0; /* nothing to do */
    RUN_PLAIN();
    cr_assert_eq(w.result.instructions, 0);
    close_all();
}

Test(check, sub_groups_are_as_the_kernel_requires) {
    const char *text = "kernel @k(%x: ptr.global of i32) subgroup_size 4 subgroups 3 {\nentry:\n"
                       "  %s: i32 = subgroup_max_size\n  store %s, %x align 4\n  ret\n}\n";
    const check_arg null = {.kind = IR_ARG_POINTER};
    set_range(16, 8);
    refused(text, &null, 1, "error: kernel @k requires 3 sub-groups, not 2");
    memset(&w, 0, sizeof w);
    open_text(text);
    set_range(10, 10);
    check_buffer *out = zeros(1);
    RUN(arg_buffer(out));
    cr_assert_eq(int_at(out, 0), 4);
    w.options.subgroup_size = 8;
    cr_assert_not(try_run((check_arg[]){arg_buffer(out)}, 1));
    cr_assert_str_eq(w.message, "error: kernel @k requires sub-groups of 4 work-items, not 8");
    close_all();
}

/* ----------------------------------------------------------------------------------- the device */

Test(check, distinct_reports_are_limited) {
    open_text("kernel @k(%x: ptr.global) {\nentry:\n"
              "  %a: i32 = load %x align 4\n"
              "  %b: i32 = load %x align 4\n"
              "  %c: i32 = load %x align 4\n  ret\n}\n");
    w.options.max_reports = 2;
    set_range(2, 1);
    RUN((check_arg){.kind = IR_ARG_POINTER});
    cr_assert_eq(w.result.errors, 2);
    cr_assert_eq(w.result.unreported, 2);
    close_all();
}

Test(check, a_run_is_like_the_one_before) {
    char first[sizeof w.reports];
    open_text(TREE(""));
    check_buffer *in = zeros(16), *out = zeros(2);
    set_range(16, 8);
    RUN(arg_buffer(in), arg_buffer(out));
    memcpy(first, w.reports, sizeof first);
    uint64_t instructions = w.result.instructions;
    size_t used = w.cx.used;
    for (int k = 0; k < 3; k++) {
        RUN(arg_buffer(in), arg_buffer(out));
        cr_assert_str_eq(w.reports, first);
        cr_assert_eq(w.result.instructions, instructions);
        cr_assert_eq(w.cx.used, used);
    }
    close_all();
}

Test(check, lack_of_memory) {
    float a = 2.0f;
    open_text(saxpy);
    check_buffer *x = zeros(64), *y = zeros(64);
    set_range(64, 16);
    const check_arg args[] = {arg_buffer(x), arg_buffer(y), arg_bytes(&a, 4), INT(64)};
    bool ok = false;
    for (size_t more = 0; !ok; more += 16384) {
        w.cx.limit = w.cx.used + more;
        ok = try_run(args, 4);
        cr_assert(ok || strstr(w.message, "out of memory"));
        cr_assert_null(check_buffer_new(w.d, 1 << 30, NULL, 0));
    }
    w.cx.limit = 0;
    RUN(args[0], args[1], args[2], args[3]);
    SAYS_NOTHING();
    close_all();
}

Test(check, many_variables_come_and_go) {
    open_text("target 32\n"
              "kernel @k(%x: ptr.global) {\nentry:\n  jmp loop\n"
              "loop:\n"
              "  %i: i32 = phi [entry: 0, loop: %i1]\n"
              "  %v: i32 = call @f(%i)\n"
              "  %i1: i32 = add %v, 1\n"
              "  %c: i1 = ult %i1, i32 400000\n"
              "  br %c, loop, done\n"
              "done:\n  store %i1, %x align 4\n  ret\n}\n"
              "func @f(%i: i32): i32 {\nentry:\n"
              "  %a: ptr.private = alloca i32 align 4\n"
              "  %b: ptr.private = alloca [3000 x i8] align 4\n"
              "  store %i, %a align 4\n"
              "  %v: i32 = load %a align 4\n  ret %v\n}\n");
    check_buffer *x = zeros(1);
    set_range(1, 1);
    RUN(arg_buffer(x));
    SAYS_NOTHING();
    cr_assert_eq(int_at(x, 0), 400000);
    close_all();
}
