/* profit_test.c — fusing what is legal and not worth it. */
#include <criterion/criterion.h>

#include "tests/runtime/bench.h"

/* A kernel that combines n words of %x, of which each item has n, and stores the result in %y. */
static void print_kernel(char *to, size_t size, const char *name, const char *op, unsigned n) {
    size_t at =
        (size_t)snprintf(to, size,
                         "kernel @%s(%%x: ptr.global, %%y: ptr.global) {\ne:\n"
                         " %%g: i64 = global_id 0\n %%b: i64 = mul %%g, %u\n"
                         " %%p: ptr.global = ptradd %%x, %%b\n %%s0: f32 = load %%p align 4\n",
                         name, 4 * n);
    for (unsigned k = 1; k < n; k++)
        at += (size_t)snprintf(to + at, size - at,
                               " %%p%u: ptr.global = ptradd %%p, %u\n"
                               " %%v%u: f32 = load %%p%u align 4\n %%s%u: f32 = %s %%s%u, %%v%u\n",
                               k, 4 * k, k, k, k, op, k - 1, k);
    snprintf(to + at, size - at,
             " %%o: i64 = mul %%g, 4\n %%q: ptr.global = ptradd %%y, %%o\n"
             " store %%s%u, %%q align 4\n ret\n}\n",
             n - 1);
}

static spvf_identity identity = {0, 0, 1, 0};
static bool serial;
static spvf_barrier barrier;

static void check(const char *text, bool force, spvf_status want) {
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, text);
    const spvf_range range = {.dims = 1, .global = {1 << 20}};
    const spvf_member members[] = {{m, "first", range}, {m, "second", range}};
    const spvf_fuse_options o = {.size = sizeof o,
                                 .members = members,
                                 .member_count = 2,
                                 .identities = &identity,
                                 .identity_count = 1,
                                 .barrier = barrier,
                                 .serial = serial,
                                 .force = force};
    spvf_fusion *f;
    cr_expect_eq(spvf_fuse(c, &o, &f), want, "%s", messages);
    if (want == SPVF_ERROR_REFUSED)
        cr_expect(strstr(messages, "fuse.unprofitable"), "%s", messages);
    spvf_fusion_destroy(f);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    cr_assert_eq(bytes_held, 0);
}

/* Both read the same words, which the fused kernel would keep. */
static void check_words(unsigned words, bool force, spvf_status want) {
    static char text[1 << 17];
    print_kernel(text, sizeof text / 2, "first", "fadd", words);
    print_kernel(text + strlen(text), sizeof text / 2, "second", "fmul", words);
    check(text, force, want);
}

Test(profit, values_that_no_register_holds) {
    check_words(100, false, SPVF_OK);
    check_words(400, false, SPVF_ERROR_REFUSED);
    check_words(400, true, SPVF_OK);
}

/* Each kernel takes n powers of powers; the second goes on from what the first has stored. */
static void print_powers(char *to, size_t size, const char *name, const char *op, unsigned n) {
    size_t at = (size_t)snprintf(to, size,
                                 "kernel @%s(%%x: ptr.global, %%y: ptr.global) {\ne:\n"
                                 " %%g: i64 = global_id 0\n %%b: i64 = mul %%g, 4\n"
                                 " %%p: ptr.global = ptradd %%x, %%b\n"
                                 " %%q: ptr.global = ptradd %%y, %%b\n"
                                 " %%v0: f32 = load %%p align 4\n",
                                 name);
    for (unsigned k = 1; k <= n; k++)
        at += (size_t)snprintf(to + at, size - at, " %%v%u: f32 = %s %%v%u, %%v%u\n", k, op, k - 1,
                               k - 1);
    snprintf(to + at, size - at, " store %%v%u, %%q align 4\n ret\n}\n", n);
}

static void check_chain(const char *op, unsigned n, bool force, spvf_status want) {
    static char text[1 << 14];
    print_powers(text, sizeof text / 2, "first", op, n);
    print_powers(text + strlen(text), sizeof text / 2, "second", op, n);
    identity = (spvf_identity){0, 1, 1, 0};
    check(text, force, want);
}

/* Each alone is hidden behind the items that follow; together they are not, unless a barrier parts
 * them, or the device hides them in other ways. */
Test(profit, chains_that_become_one) {
    check_chain("pow", 1, false, SPVF_OK);
    serial = true;
    check_chain("pow", 1, false, SPVF_OK);
    barrier = SPVF_BARRIER_NONE;
    check_chain("pow", 1, false, SPVF_ERROR_REFUSED);
    check_chain("pow", 1, true, SPVF_OK);
    check_chain("fmul", 20, false, SPVF_OK);
}

#define KERNEL(name, body)                                                                         \
    "kernel @" name "(%x: ptr.global, %y: ptr.global) {\ne:\n %g: i64 = global_id 0\n"             \
    " %b: i64 = mul %g, 16\n %p: ptr.global = ptradd %x, %b\n" body " ret\n}\n"
#define STORE_LANE                                                                                 \
    " %o: i64 = mul %g, 4\n %z: ptr.global = ptradd %y, %o\n %v: f32 = load %z align 4\n"          \
    " %q: ptr.global = ptradd %p, 4\n store %v, %q align 4\n"
#define LOAD_VECTOR                                                                                \
    " %w: v4f32 = load %p align 16\n %u: v4f32 = fadd %w, %w\n store %u, %p align 16\n"
#define SOMETIMES(body)                                                                            \
    " %o: i64 = mul %g, 4\n %z: ptr.global = ptradd %y, %o\n %n: i32 = load %z align 4\n"          \
    " %t: i1 = slt %n, i32 3\n br %t, some, none\nsome:\n" body " jmp none\nnone:\n"

/* The second reads four words of which the first has stored one. */
Test(profit, loads_that_wait_for_stores) {
    check(KERNEL("first", STORE_LANE) KERNEL("second", LOAD_VECTOR), false, SPVF_OK);
    check(KERNEL("first", STORE_LANE) KERNEL("second", SOMETIMES(LOAD_VECTOR)), false,
          SPVF_ERROR_REFUSED);
    check(KERNEL("first", STORE_LANE) KERNEL("second", SOMETIMES(LOAD_VECTOR)), true, SPVF_OK);
}

/* ------------------------------------------------------------------------- loops of their own */

#define STEP(name, value)                                                                          \
    "kernel @" name "(%x: ptr.global, %y: ptr.global) {\ne:\n %g: i64 = global_id 0\n"             \
    " %b: i64 = shl %g, 2\n %p: ptr.global = ptradd %x, %b\n %v: f32 = load %p align 4\n" value    \
    " store %r, %p align 4\n ret\n}\n"
#define SHORT(name) STEP(name, " %r: f32 = fmul %v, 2.0\n")
#define POWER(name) STEP(name, " %r: f32 = pow %v, 0.75\n")
#define ROUNDS(name)                                                                               \
    STEP(name,                                                                                     \
         " jmp l\nl: no_unroll\n %k: i32 = phi [e: 0, l: %n]\n %w: f32 = phi [e: %v, l: %r]\n"     \
         " %r: f32 = pow %w, 0.75\n %n: i32 = add %k, 1\n %t: i1 = ult %n, i32 100\n"              \
         " br %t, l, d\nd:\n")

/* How many barriers the fused kernel has. */
static unsigned count_barriers(const char *text, bool in_turn) {
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, text);
    const spvf_range range = {.dims = 1, .global = {1 << 16}};
    const spvf_member members[] = {{m, "first", range}, {m, "second", range}};
    const spvf_identity same = {0, 0, 1, 0};
    const spvf_fuse_options o = {.size = sizeof o,
                                 .members = members,
                                 .member_count = 2,
                                 .identities = &same,
                                 .identity_count = 1,
                                 .serial = in_turn};
    spvf_fusion *f;
    spvf_blob blob;
    unsigned n = 0;
    cr_assert_eq(spvf_fuse(c, &o, &f), SPVF_OK, "%s", messages);
    cr_assert_eq(spvf_module_emit(spvf_fusion_module(f), "ir", &blob), SPVF_OK);
    const char *at = blob.data, *end = at + blob.size;
    for (; at + 9 < end; at++) n += memcmp(at, "\n  barrier", 9) == 0;
    spvf_blob_destroy(&blob);
    spvf_fusion_destroy(f);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    return n;
}

Test(profit, long_bodies_have_loops_of_their_own) {
    cr_expect_eq(count_barriers(SHORT("first") SHORT("second"), true), 0);
    cr_expect_eq(count_barriers(POWER("first") POWER("second"), true), 1);
    cr_expect_eq(count_barriers(POWER("first") POWER("second"), false), 0);
    cr_expect_eq(count_barriers(ROUNDS("first") POWER("second"), true), 0);
}
