/* width_test.c — how many items bodies of medium size run at once: more if operations wait for each
 * other. */
#include "ir/target.h"
#include "passes/passes.h"

#include <criterion/criterion.h>

enum { OPERATIONS = 200 };

/* A loop over items with as many products.  In a chain each needs the one before; otherwise all
 * need the element that has been loaded, and a tree adds them. */
static void make_function(ir_text *out, bool chain) {
    ir_put(out, "target 64\nfunc @f(%x: ptr.global, %n: i64) level group {\nentry:\n  jmp loop\n"
                "loop: items\n  %k: i64 = phi [entry: 0, loop: %next]\n  %o: i64 = shl %k, 2\n"
                "  %p: ptr.global = ptradd %x, %o\n  %v0: f32 = load %p align 4\n");
    unsigned n = 0;
    for (; n < OPERATIONS && chain; n++)
        ir_putf(out, "  %%v%u: f32 = fmul %%v%u, %%v0\n", n + 1, n);
    for (; n < OPERATIONS / 2; n++) ir_putf(out, "  %%v%u: f32 = fmul %%v0, f32 %u.5\n", n + 1, n);
    for (unsigned sum = 1; sum < n && !chain; sum += 2, n++)
        ir_putf(out, "  %%v%u: f32 = fadd %%v%u, %%v%u\n", n + 1, sum, sum + 1);
    ir_putf(out,
            "  store %%v%u, %%p align 4\n  %%next: i64 = add %%k, 1 nsw nuw\n"
            "  %%more: i1 = ult %%next, %%n\n  br %%more, loop, done\ndone:\n  ret\n}\n",
            n);
}

/* Items that share a range: each adds up elements that are `step` of them apart, and does 50 more
 * operations with the sum. */
static void make_shared(ir_text *out, unsigned step) {
    ir_putf(out,
            "target 64\nfunc @f(%%x: ptr.global, %%n: i64) level group {\nentry:\n  jmp loop\n"
            "loop: items\n  %%k: i64 = phi [entry: 0, end: %%next]\n  jmp inner\n"
            "inner:\n  %%r: i64 = phi [loop: 0, inner: %%r1]\n"
            "  %%sum: f32 = phi [loop: 0.0, inner: %%v0]\n"
            "  %%a: i64 = phi [loop: %%k, inner: %%a1]\n  %%a1: i64 = add %%a, %u\n"
            "  %%o: i64 = shl %%a, 2\n"
            "  %%p: ptr.global = ptradd %%x, %%o\n  %%v: f32 = load %%p align 4\n"
            "  %%v0: f32 = fadd %%sum, %%v\n  %%r1: i64 = add %%r, 1\n"
            "  %%again: i1 = ult %%r1, %%n\n  br %%again, inner, end\nend:\n",
            step);
    for (unsigned n = 0; n < 50; n++) ir_putf(out, "  %%v%u: f32 = fmul %%v%u, %%v0\n", n + 1, n);
    ir_put(out, "  %i: i64 = shl %k, 2\n  %q: ptr.global = ptradd %x, %i\n"
                "  store %v50, %q align 4\n  %next: i64 = add %k, 1 nsw nuw\n"
                "  %more: i1 = ult %next, %n\n  br %more, loop, done\ndone:\n  ret\n}\n");
}

typedef struct {
    ir_ctx cx;
    ir_arena arena;
    unsigned bytes; /* of a vector register */
    bool chain;
    unsigned step; /* of items that share a range; 0: they do not */
    unsigned lanes;
} subject;

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
    const ir_target target = {
        .vector_bytes = s->bytes, .vector_registers = 16, .takes = takes_all, .has_masks = false};
    const pass_options options = {
        .passes = "vectorize", .verify_each = true, .bisect = -1, .target = &target};
    if (s->step)
        make_shared(&text, s->step);
    else
        make_function(&text, s->chain);
    ir_module *m = ir_parse(&s->cx, "width", text.data, text.n);
    cr_assert_not_null(m, "the function is read");
    cr_assert(pass_run(m, &options));
    s->lanes = widest(ir_func_find(m, "f"));
    ir_module_free(m);
}

static void expect(subject s, unsigned lanes) {
    ir_arena_init(&s.arena, &s.cx);
    cr_assert(ir_try(&s.cx, run, &s));
    cr_expect_eq(s.lanes, lanes, "%u bytes: %u, not %u", s.bytes, s.lanes, lanes);
    ir_arena_free(&s.arena);
}

static void expect_lanes(unsigned bytes, bool chain, unsigned lanes) {
    expect((subject){.bytes = bytes, .chain = chain}, lanes);
}

Test(width, independent_operations_have_one_register) {
    for (unsigned bytes = 16; bytes <= 64; bytes *= 2) expect_lanes(bytes, false, bytes / 4);
}

Test(width, operations_that_wait_for_each_other_have_two) {
    for (unsigned bytes = 16; bytes <= 64; bytes *= 2) expect_lanes(bytes, true, bytes / 2);
}

Test(width, rounds_that_step_over_other_items_have_four) {
    for (unsigned bytes = 16; bytes <= 64; bytes *= 2) {
        expect((subject){.bytes = bytes, .step = 256}, bytes);
        expect((subject){.bytes = bytes, .step = 2}, bytes / 2);
    }
}
