/* reach_test.c — how far around its pointer parameters a kernel accesses memory, and through which
 * of them it may write.
 *
 * Each case is the body of a kernel with the parameters %p, %q and %n, and what is found: for %p
 * and %q, "[low, high)" with a "w" if it is written, or "?".
 */
#include "tests/passes/world.h"

static const ir_range line = {.dims = 1, .global = {100}, .offset = {10}};
static const int64_t seven = 7;

typedef struct {
    world w;
    const char *body;
    char found[100];
} trial;

static void describe(char *to, const pass_reach *r, bool written) {
    if (r->known)
        sprintf(to, "[%lld, %lld)%s", (long long)r->low, (long long)r->high, written ? "w" : "");
    else
        sprintf(to, "?%s", written ? "w" : "");
}

static void find(void *user) {
    trial *t = user;
    char text[2000], first[40], second[40];
    snprintf(text, sizeof text,
             "target 64\nkernel @k(%%p: ptr.global, %%q: ptr.global, %%n: i64, %%c: ptr.const) {\n"
             "entry:\n  %%g: i64 = global_id 0\n  %%o: i64 = shl %%g, 2\n%s}\n",
             t->body);
    world_parse(&t->w, text, text);
    const int64_t *values[4] = {NULL, NULL, &seven, NULL};
    pass_reach reach[4];
    bool written[4] = {false};
    const pass_launch l = {.kernel = t->w.m->first_func, .range = &line, .value = values};
    pass_find_reach(&l, &t->w.arena, reach);
    pass_find_written(l.kernel, written);
    cr_expect(!reach[2].known && !reach[3].known, "a number and constant memory");
    describe(first, &reach[0], written[0]);
    describe(second, &reach[1], written[1]);
    sprintf(t->found, "%s %s", first, second);
}

static void check(const char *body, const char *wanted) {
    trial t = {.body = body};
    world_begin(&t.w);
    cr_assert(ir_try(&t.w.cx, find, &t), "%s", t.w.message);
    cr_expect_str_eq(t.found, wanted, "%s, not %s:\n%s", t.found, wanted, body);
    world_end(&t.w);
}

#define AT(name, p, o) "  %" name ": ptr.global = ptradd %" p ", %" o "\n"

Test(reach, elements) {
    check(AT("a", "p", "o") AT("b", "q", "o") "  %v: i32 = load %a align 4\n"
                                              "  store %v, %b align 4\n  ret\n",
          "[40, 440) [40, 440)w");
}

Test(reach, nothing) { check("  ret\n", "[0, 0) [0, 0)"); }

Test(reach, both_sides) {
    check(AT("a", "p", "o") "  %a2: ptr.global = ptradd %a, -100\n"
                            "  %v: i32 = load %a2 align 4\n  %w: i64 = load %p align 8\n"
                            "  store %v, %a2 align 4\n  ret\n",
          "[-60, 340)w [0, 0)");
}

/* From the value that the launch gives. */
Test(reach, a_known_number) {
    check(AT("a", "p", "n") "  store i8 1, %a align 1\n  ret\n", "[7, 8)w [0, 0)");
}

Test(reach, an_index_that_is_read) {
    check(AT("a", "p", "o") "  %v: i64 = load %a align 8\n" AT("b", "q", "v") //
          "  store i8 1, %b align 1\n  ret\n",
          "[40, 444) ?w");
}

/* An address of unknown origin may be of any parameter. */
Test(reach, a_pointer_in_memory) {
    check("  %a: ptr.global = load %p align 8\n  store i8 1, %a align 1\n  ret\n",
          "[0, 8)w [0, 0)w");
    check("  %a: ptr.global = load %p align 8\n  %v: i8 = load %a align 1\n  ret\n",
          "[0, 8) [0, 0)");
}

Test(reach, one_of_two) {
    check("  %i: i1 = ult %g, %n\n  %a: ptr.global = select %i, %p, %q\n"
          "  store i8 1, %a align 1\n  ret\n",
          "[0, 0)w [0, 0)w");
}

Test(reach, a_guard) {
    check("  %i: i1 = ult %g, i64 20\n  br %i, then, done\nthen:\n" AT("a", "p", "o") //
          "  store i32 1, %a align 4\n  jmp done\ndone:\n  ret\n",
          "[40, 80)w [0, 0)");
}

Test(reach, operations_that_write) {
    check("  %v: i32 = atomic_add %p, i32 1 device relaxed\n  ret\n", "[0, 4)w [0, 0)");
    check("  copy %p, %q, i64 16 align 1\n  ret\n", "[0, 16)w [0, 16)");
    check("  fill %p, i8 0, %n align 1\n  ret\n", "?w [0, 0)");
    check("  barrier workgroup workgroup seq_cst local\n  ret\n", "[0, 0) [0, 0)");
}
