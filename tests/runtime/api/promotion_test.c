/* promotion_test.c — fused groups with buffers that become private or local memory leave what their
 * members leave one by one.  Each item has eight elements of x; kernels write some at places that
 * only running tells, then @third copies the item's third.
 */
#include "tests/runtime/bench.h"

#define OWN_8 "  %g: i64 = global_id 0\n  %e: i64 = shl %g, 3\n  %o: i64 = shl %g, 2\n"
#define FILL                                                                                       \
    "  jmp fill\nfill: no_unroll\n  %k: i64 = phi [entry: 0, fill: %k1]\n"                         \
    "  %f: i64 = add %e, %k\n  %fo: i64 = shl %f, 2\n  %fp: ptr.global = ptradd %x, %fo\n"         \
    "  store i32 7, %fp align 4\n  %k1: i64 = add %k, 1\n  %c: i1 = ult %k1, i64 8\n"              \
    "  br %c, fill, filled\nfilled:\n"
#define LOAD_I64                                                                                   \
    "  %so: i64 = shl %g, 3\n  %sp: ptr.global = ptradd %s, %so\n  %v: i64 = load %sp align 8\n"
#define PUT(index)                                                                                 \
    "  %p: i64 = add %e, " index "\n  %po: i64 = shl %p, 2\n  %pp: ptr.global = ptradd %x, %po\n"  \
    "  store i32 9, %pp align 4\n"

static const char kernels[] =
    "target 64\n"
    "kernel @third(%x: ptr.global of i32, %y: ptr.global of i32) {\n"
    "entry:\n" OWN_8 "  %i: i64 = add %e, 3\n  %io: i64 = shl %i, 2\n"
    "  %p: ptr.global = ptradd %x, %io\n  %v: i32 = load %p align 4\n"
    "  %q: ptr.global = ptradd %y, %o\n  store %v, %q align 4\n  ret\n"
    "}\n"
    /* The phi counts no iterations, though a loop has it. */
    "kernel @chain(%x: ptr.global of i32, %s: ptr.global of i64) {\n"
    "entry:\n" OWN_8 FILL LOAD_I64 "  %small: i1 = ult %v, i64 30\n  br %small, loop, done\n"
    "loop: no_unroll\n  %q: i64 = phi [filled: %v, turn: %q1]\n"
    "  %in: i1 = ult %q, i64 8\n  br %in, put, turn\nput:\n" PUT(
        "%q") "  jmp turn\nturn:\n"
              "  %q5: i64 = mul %q, 5\n  %q1: i64 = add %q5, 1\n  %more: i1 = ult %q1, i64 100\n"
              "  br %more, loop, done\ndone:\n  ret\n"
              "}\n"
              /* A narrow value that guards keep above a negative number. */
              "kernel @around(%x: ptr.global of i32, %s: ptr.global of i32, %least: i64, %end: "
              "i64) {\n"
              "entry:\n" OWN_8 FILL
              "  %sp: ptr.global = ptradd %s, %o\n  %v: i32 = load %sp align 4\n"
              "  %w: i64 = sext %v\n  %low: i1 = slt %w, %end\n  br %low, both, done\nboth:\n"
              "  %high: i1 = slt %least, %w\n  br %high, put, done\nput:\n"
              "  %i: i64 = add %w, 5\n" PUT(
                  "%i") "  jmp done\ndone:\n  ret\n"
                        "}\n"
                        "kernel @number(%x: ptr.global of i32) {\n"
                        "entry:\n" OWN_8 "  %p: ptr.global = ptradd %x, %o\n  %v: i32 = trunc %g\n"
                        "  store %v, %p align 4\n  ret\n"
                        "}\n"
                        "kernel @mirror(%x: ptr.global of i32, %y: ptr.global of i32) {\n"
                        "entry:\n" OWN_8 "  %l: i64 = local_id 0\n  %first: i64 = sub %g, %l\n"
                        "  %last: i64 = add %first, 15\n  %m: i64 = sub %last, %l\n  %mo: i64 = "
                        "shl %m, 2\n"
                        "  %p: ptr.global = ptradd %x, %mo\n  %v: i32 = load %p align 4\n"
                        "  %q: ptr.global = ptradd %y, %o\n  store %v, %q align 4\n  ret\n"
                        "}\n";

static void set_up(void) { in_folder_with(kernels); }

TestSuite(promotion, .init = set_up, .fini = leave_folder);

#define LAUNCH(name, args) "  launch \"k.ir\":" name " global 64 local 16 args " args "\n"

static const spvf_run_options validating = {
    .size = sizeof validating, .validate = true, .strict = true};

static void expect_equal(const char *text) {
    cr_expect_eq(run_text(text, &validating), SPVF_OK);
    cr_expect_str_eq(messages, "");
    cr_expect_eq(bytes_held, 0);
}

#define BUFFERS(s)                                                                                 \
    "buffer x i32[512] internal private\nbuffer s " s "\nbuffer y i32[64]\nfuse g {\n"

Test(promotion, a_phi_that_is_no_counter) {
    expect_equal(BUFFERS("i64[64] = iota") LAUNCH("chain", "x, s")
                     LAUNCH("third", "x, y") "}\nexpect y[0..3] = 7, 7, 7, 9\n");
}

Test(promotion, an_index_that_may_be_negative) {
    expect_equal(BUFFERS("i32[64] = -2") LAUNCH("around", "x, s, -6, 3")
                     LAUNCH("third", "x, y") "}\nexpect y[0..63] = 9\n");
}

#define MIRROR(policy)                                                                             \
    "buffer x i32[64] internal local\nbuffer y i32[64]\nfuse g " policy                            \
    " {\n" LAUNCH("number", "x") LAUNCH("mirror", "x, y") "}\nexpect y[0..3] = 15, 14, 13, 12\n"

Test(promotion, barriers_order_the_memory_that_a_buffer_becomes) {
    expect_equal(MIRROR("barrier_local"));
    cr_expect_eq(run_text(MIRROR("barrier_global"), &validating), SPVF_ERROR_REFUSED);
    cr_expect_not_null(strstr(messages, "[fuse.needs-barrier]"), "%s", messages);
}
