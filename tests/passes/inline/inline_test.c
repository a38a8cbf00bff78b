/* inline_test.c — what is inlined, and what stays a function, when kernels would become too large.
 *
 * The programs are chains: each function calls the next one CALLS times, so that the last one has
 * CALLS^n copies.
 */
#include "tests/passes/world.h"

enum { CALLS = 4, SHARE = 1 << 16 };

typedef struct {
    world w;
    unsigned length;       /* functions of the chain */
    const char *last;      /* an instruction of the last one */
    const char *result;    /* what pass_inline says */
    const char *parameter; /* of all functions, beside %x */
} chain;

static void put_function(ir_text *t, const chain *c, unsigned k) {
    ir_putf(t, "func @f%u(%%x: i32, %s) {\nentry:\n", k, c->parameter);
    if (k == 0) ir_putf(t, "  %s\n", c->last);
    for (unsigned n = 0; k && n < CALLS; n++) {
        ir_putf(t, "  %%a%u: i32 = add %%x, i32 %u\n", n, n);
        ir_putf(t, "  call @f%u(%%a%u, %%p)\n", k - 1, n);
    }
    ir_put(t, "  ret\n}\n");
}

static void put_kernel(ir_text *t, const char *name, unsigned from) {
    ir_putf(t, "kernel @%s(%%q: ptr.global) {\nentry:\n", name);
    ir_put(t, "  %p: ptr.private = alloca [8 x i8] align 4\n");
    ir_putf(t, "  call @f%u(i32 0, %%p)\n  ret\n}\n", from);
}

static bool inline_once(chain *c) {
    const pass_options o = {.passes = "inline", .verify_each = true, .bisect = -1};
    return pass_run(c->w.m, &o);
}

static void build(void *user) {
    chain *c = user;
    ir_text t = {.arena = &c->w.arena};
    for (unsigned k = 0; k < c->length; k++) put_function(&t, c, k);
    put_kernel(&t, "small", 2);
    put_kernel(&t, "large", c->length - 1);
    world_parse(&c->w, "chain", t.data);
    cr_assert(inline_once(c), "%s", c->w.message);
}

static void begin(chain *c) {
    world_begin(&c->w);
    cr_assert(ir_try(&c->w.cx, build, c), "%s", c->w.message);
}

static uint64_t size_of(const ir_func *f) {
    uint64_t n = 0;
    foreach_block (b, f)
        foreach_inst (i, b) n += i != NULL;
    return n;
}

static uint64_t size_of_module(const ir_module *m) {
    uint64_t n = 0;
    foreach_func (f, m) n += size_of(f);
    return n;
}

static uint32_t count_calls(const ir_func *f) {
    uint32_t n = 0;
    foreach_block (b, f)
        foreach_inst (i, b) n += i->op == IR_OP_call;
    return n;
}

static const char plain[] = "store %x, %p align 4";

Test(inline, short_chains_are_inlined) {
    chain c = {.length = 5, .last = plain, .parameter = "%p: ptr.private"};
    begin(&c);
    foreach_func (f, c.w.m) cr_expect_eq(count_calls(f), 0, "@%s", f->name);
    cr_expect_null(ir_func_find(c.w.m, "f0"));
    world_end(&c.w);
}

Test(inline, long_chains_keep_functions) {
    chain c = {.length = 40, .last = plain, .parameter = "%p: ptr.private"};
    begin(&c);
    cr_expect_lt(size_of_module(c.w.m), SHARE + 4 * 40 * 10);
    cr_expect_eq(count_calls(ir_func_find(c.w.m, "large")), CALLS, "@f39 is inlined, no other");
    foreach_func (f, c.w.m) {
        bool kernel = f->flags & IR_FUNC_KERNEL;
        cr_expect(kernel || f->flags & IR_FUNC_SHARED, "@%s", f->name);
    }
    world_end(&c.w);
}

Test(inline, small_kernels_beside_large_ones_call_nothing) {
    chain c = {.length = 40, .last = plain, .parameter = "%p: ptr.private"};
    begin(&c);
    cr_expect_eq(count_calls(ir_func_find(c.w.m, "small")), 0);
    world_end(&c.w);
}

Test(inline, a_second_run_changes_nothing) {
    chain c = {.length = 40, .last = plain, .parameter = "%p: ptr.private"};
    begin(&c);
    uint64_t before = size_of_module(c.w.m);
    cr_assert(inline_once(&c));
    cr_expect_eq(size_of_module(c.w.m), before);
    world_end(&c.w);
}

/* What has to see all work-items of a group, or where memory lies, is in the kernel. */
Test(inline, what_needs_the_group_is_inlined) {
    static const char *const last[] = {"barrier workgroup workgroup seq_cst local",
                                       "%v: i1 = group_all i1 1 workgroup",
                                       "%n: i32 = subgroup_size", "store %x, @shared align 4"};
    for (unsigned k = 0; k < sizeof last / sizeof *last; k++) {
        chain c = {.length = 40, .last = last[k], .parameter = "%p: ptr.private"};
        world_begin(&c.w);
        ir_text t = {.arena = &c.w.arena};
        ir_put(&t, "@shared: local i32 align 4\n");
        for (unsigned f = 0; f < c.length; f++) put_function(&t, &c, f);
        put_kernel(&t, "large", c.length - 1);
        c.w.m = ir_parse(&c.w.cx, "test.ir", t.data, t.n);
        cr_assert(c.w.m, "%s: %s", last[k], c.w.message);
        cr_assert(inline_once(&c), "%s", c.w.message);
        const ir_func *large = ir_func_find(c.w.m, "large");
        cr_expect(large->refusal && strstr(large->refusal, "more than 1048576"), "%s", last[k]);
        world_end(&c.w);
    }
}

/* Calls in f before inlining, and in what became a part of f. */
static uint32_t count_inlined(const char *name) {
    if (strcmp(name, "small") == 0) return 1 + 4 + 16;
    if (strcmp(name, "f6") == 0) return 4 + 16 + 64 + 256 + 1024 + 4096;
    return strcmp(name, "large") == 0;
}

/* The callee owns what is passed by value: every call has a copy, also one that was inlined. */
Test(inline, values_are_copied_for_functions_that_stay) {
    chain c = {.length = 40, .last = plain, .parameter = "%p: ptr.private byval(8)"};
    begin(&c);
    foreach_func (f, c.w.m) {
        uint32_t copies = 0;
        foreach_block (b, f)
            foreach_inst (i, b) copies += i->op == IR_OP_copy;
        cr_expect_eq(copies, count_calls(f) + count_inlined(f->name), "@%s", f->name);
        for (uint32_t k = 0; k < f->nparams; k++) cr_expect_eq(f->param[k].byval_size, 0);
    }
    world_end(&c.w);
}
