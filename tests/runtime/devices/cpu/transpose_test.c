/* transpose_test.c — transpositions on device cpu, whose items along the columns are lanes of vectors:
 * of many shapes, one that reads rows and one that reads columns, with sizes that the launch gives.
 */
#include "tests/runtime/bench.h"

/* Element x, y is at place %a of one matrix and at place %b of the other one. */
#define TURN(name, from, to)                                                                       \
    "kernel @" name "(%w: i32, %h: i32, %p: ptr.global of i32, %q: ptr.global of i32) {\n"         \
    "entry:\n"                                                                                     \
    "  %x: i64 = global_id 0\n"                                                                    \
    "  %y: i64 = global_id 1\n"                                                                    \
    "  %i: i32 = trunc %x\n"                                                                       \
    "  %j: i32 = trunc %y\n"                                                                       \
    "  %inside: i1 = ult %i, %w\n"                                                                 \
    "  br %inside, in, end\n"                                                                      \
    "in:\n"                                                                                        \
    "  %row: i32 = mul %j, %w\n"                                                                   \
    "  %m: i32 = add %row, %i\n"                                                                   \
    "  %m8: i64 = zext %m\n"                                                                       \
    "  %a: i64 = shl %m8, 2\n"                                                                     \
    "  %column: i32 = mul %i, %h\n"                                                                \
    "  %n: i32 = add %column, %j\n"                                                                \
    "  %n8: i64 = zext %n\n"                                                                       \
    "  %b: i64 = shl %n8, 2\n"                                                                     \
    "  %from: ptr.global = ptradd %p, %" from "\n"                                                 \
    "  %v: i32 = load %from align 4\n"                                                             \
    "  %to: ptr.global = ptradd %q, %" to "\n"                                                     \
    "  store %v, %to align 4\n"                                                                    \
    "  jmp end\n"                                                                                  \
    "end:\n"                                                                                       \
    "  ret\n"                                                                                      \
    "}\n"

static const char kernels[] =
    "target 64\n" TURN("turn_rows", "a", "b") TURN("turn_columns", "b", "a");

static void set_up(void) { in_folder_with(kernels); }

TestSuite(transpose, .init = set_up, .fini = leave_folder);

/* A transposed matrix in which each element is its place in the other one, and that one again. */
static void expect_turned(const char *device, unsigned w, unsigned h) {
    const size_t room = (size_t)w * h * 24 + 1000;
    char *text = malloc(room);
    size_t n = (size_t)sprintf(text,
                               "buffer p i32[%u] = iota\nbuffer q i32[%u]\nbuffer r i32[%u]\n"
                               "launch \"k.ir\":turn_rows global %u %u args %u, %u, p, q\n"
                               "launch \"k.ir\":turn_columns global %u %u args %u, %u, q, r\n",
                               w * h, w * h, w * h, w + 3, h, w, h, w, h, w, h);
    for (unsigned k = 0; k < w * h; k++)
        n += (size_t)sprintf(text + n, "expect q[%u] = %u\n", k, k % h * w + k / h);
    sprintf(text + n, "expect r[0] = 0\nexpect r[%u] = %u\n", w * h - 1, w * h - 1);
    spvf_run_options o = {.size = sizeof o, .device = device};
    cr_expect_eq(run_text(text, &o), SPVF_OK, "%s, %u x %u: %s", device, w, h, messages);
    free(text);
}

Test(transpose, every_element_is_in_its_place) {
    static const char *const devices[] = {"cpu", "cpu:simd=1", "cpu:simd=4", "cpu:untiered"};
    static const unsigned sizes[][2] = {{64, 64}, {37, 29}, {130, 75}, {1, 9}, {20, 1}, {16, 33}};
    for (unsigned d = 0; d < sizeof devices / sizeof *devices; d++)
        for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++)
            expect_turned(devices[d], sizes[k][0], sizes[k][1]);
}
