/* far_test.c — how many items go along rows of their own at once, by what their lines take of the
 * nearest cache, and loops that stay scalar for it. */
#include "ir/target.h"
#include "passes/passes.h"

#include <criterion/criterion.h>

enum { OPERATIONS = 10 };

/* Each item goes along a row, and stores to it what depends on all of it so far: there are no
 * strips.  Rows are `stride` bytes apart, or a number that is not known; rounds of a row, `step`. */
typedef struct {
    unsigned stride, step, arrays; /* stride 0: not known */
    unsigned cache_bytes, cache_ways;
    ir_ctx cx;
    ir_arena arena;
    unsigned lanes; /* 1: it stays scalar */
} subject;

static void put_row(ir_text *out, unsigned n, const char *name) {
    ir_putf(out,
            "  %%b%u: ptr.global = ptradd %%%s, %%o\n  %%p%u: ptr.global = ptradd %%b%u, %%t\n"
            "  %%l%u: f32 = load %%p%u align 4\n",
            n, name, n, n, n, n);
}

static void make_function(ir_text *out, const subject *s) {
    ir_put(out, "target 64\nfunc @f(%x: ptr.global, %y: ptr.global, %n: i64, %m: i64)"
                " level group {\nentry:\n  jmp loop\nloop: items\n"
                "  %k: i64 = phi [entry: 0, end: %next]\n");
    if (s->stride)
        ir_putf(out, "  %%o: i64 = mul %%k, %u\n", s->stride);
    else
        ir_put(out, "  %o: i64 = mul %k, %m\n");
    ir_putf(out,
            "  jmp inner\ninner:\n  %%r: i64 = phi [loop: 0, inner: %%r1]\n"
            "  %%t: i64 = phi [loop: 0, inner: %%t1]\n"
            "  %%sum: f32 = phi [loop: 0.0, inner: %%v%u]\n  %%t1: i64 = add %%t, %u\n",
            OPERATIONS, s->step);
    put_row(out, 0, "x");
    if (s->arrays > 1) put_row(out, 1, "y");
    ir_putf(out, "  %%v0: f32 = fadd %%sum, %%l%u\n", s->arrays - 1);
    for (unsigned n = 0; n < OPERATIONS; n++)
        ir_putf(out, "  %%v%u: f32 = fmul %%v%u, %%l0\n", n + 1, n);
    ir_putf(out,
            "  store %%v%u, %%p0 align 4\n  %%r1: i64 = add %%r, 1\n  %%again: i1 = ult %%r1, %%n\n"
            "  br %%again, inner, end\nend:\n  %%next: i64 = add %%k, 1 nsw nuw\n"
            "  %%more: i1 = ult %%next, %%n\n  br %%more, loop, done\ndone:\n  ret\n}\n",
            OPERATIONS);
}

static unsigned widest(const ir_func *f) {
    unsigned most = 1;
    foreach_block (b, f)
        foreach_inst (i, b)
            if (i->type != IR_VOID && ir_lanes(i->type) > most) most = ir_lanes(i->type);
    return most;
}

static bool takes_all(const ir_inst *i, unsigned level) {
    (void)i, (void)level;
    return true;
}

static void run(void *user) {
    subject *s = user;
    ir_text text = {.arena = &s->arena};
    const ir_target target = {.vector_bytes = 64,
                              .vector_registers = 32,
                              .takes = takes_all,
                              .has_masks = true,
                              .cache_bytes = s->cache_bytes,
                              .cache_ways = s->cache_ways};
    const pass_options options = {.passes = "vectorize,simplifycfg,dce",
                                  .verify_each = true,
                                  .bisect = -1,
                                  .target = &target};
    make_function(&text, s);
    ir_module *m = ir_parse(&s->cx, "far", text.data, text.n);
    cr_assert_not_null(m, "the function is read");
    cr_assert(pass_run(m, &options));
    s->lanes = widest(ir_func_find(m, "f"));
    ir_module_free(m);
}

static void expect(subject s, unsigned lanes) {
    ir_arena_init(&s.arena, &s.cx);
    cr_assert(ir_try(&s.cx, run, &s));
    cr_expect_eq(s.lanes, lanes, "%u rows of %u bytes, %u at a time: %u, not %u", s.arrays,
                 s.stride, s.step, s.lanes, lanes);
    ir_arena_free(&s.arena);
}

static void expect_rows(unsigned stride, unsigned lanes) {
    expect((subject){stride, 4, 1, 32 << 10, 8}, lanes);
}

Test(far, lines_of_lanes_fit_into_the_cache) {
    expect_rows(4096, 8);
    expect_rows(12288, 8);
    expect_rows(2048, 16);
    expect_rows(1024, 32);
    expect_rows(512, 64);
    expect_rows(4096 + 64, 64);
    expect_rows(4000, 64);
}

Test(far, rows_are_near_a_multiple) {
    expect_rows(4092, 8);
    expect_rows(4100, 8);
    expect_rows(2044, 64); /* eight lines in a set */
    expect_rows(4080, 64);
}

Test(far, a_cache_with_more_ways_takes_more_lanes) {
    expect((subject){2048, 4, 1, 64 << 10, 16}, 32);
    expect((subject){4096, 4, 1, 64 << 10, 16}, 16);
    expect((subject){4096, 4, 1, 64 << 10, 4}, 16); /* four in each way */
}

Test(far, rows_of_two_arrays_share_it) {
    expect((subject){2048, 4, 2, 32 << 10, 8}, 8);
    expect((subject){1024, 4, 2, 32 << 10, 8}, 16);
}

Test(far, lanes_that_do_not_fit_are_scalar) {
    expect((subject){4096, 4, 2, 32 << 10, 8}, 1);
    expect((subject){4096, 4, 1, 16 << 10, 4}, 1);
}

Test(far, rows_whose_distance_is_not_known_are_scalar) { expect_rows(0, 1); }

Test(far, rounds_in_other_lines_keep_none) {
    expect((subject){4096, 4096, 1, 32 << 10, 8}, 64);
    expect((subject){0, 4096, 1, 32 << 10, 8}, 64);
}

Test(far, an_unknown_cache_is_no_limit) {
    expect((subject){4096, 4, 1, 0, 0}, 64);
    expect((subject){0, 4, 1, 0, 0}, 64);
}
