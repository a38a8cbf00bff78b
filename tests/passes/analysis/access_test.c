/* access_test.c — affine forms and access summaries, as text.
 *
 * Each kernel is IR text; the range is that of the launch.
 */
#include "tests/passes/world.h"

typedef struct {
    world w;
    const char *text;
    const ir_range *range;
    const int64_t *const *value;
    ir_text out;
} trial;

static void summarize(void *user) {
    trial *t = user;
    pass_accesses list = {0};
    world_parse(&t->w, t->text, t->text);
    const pass_launch l = {.kernel = t->w.m->first_func, .range = t->range, .value = t->value};
    pass_find_accesses(&l, &t->w.arena, &list);
    pass_print_accesses(&t->out, &l, &list);
}

static void check_with(const char *text, const ir_range *range, const int64_t *const *value,
                       const char *want) {
    trial t = {.text = text, .range = range, .value = value};
    world_begin(&t.w);
    t.out.arena = &t.w.arena;
    cr_assert(ir_try(&t.w.cx, summarize, &t), "%s", t.w.message);
    cr_expect_str_eq(t.out.data ? t.out.data : "", want, "got\n%swant\n%s", t.out.data, want);
    world_end(&t.w);
}

static const ir_range line = {.dims = 1, .global = {1000}},
                      grid = {.dims = 2, .global = {64, 32}, .local = {16, 4}};

static void check(const char *text, const ir_range *range, const char *want) {
    check_with(text, range, NULL, want);
}

/* The id as an int, as OpenCL C programs have it. */
#define INT_ID "  %g: i64 = global_id 0\n  %i: i32 = trunc %g\n"

Test(access, element_of_a_float_array) {
    check("kernel @k(%x: ptr.global, %y: ptr.global) {\nentry:\n"
          "  %g: i64 = global_id 0\n  %o: i64 = shl %g, 2\n"
          "  %p: ptr.global = ptradd %x, %o\n  %v: f32 = load %p align 4\n"
          "  %q: ptr.global = ptradd %y, %o\n  %r: ptr.global = ptradd %q, 8\n"
          "  store %v, %r align 4\n  ret\n}\n",
          NULL,
          "reads 4 bytes at %x + 4*global_id.0, always\n"
          "writes 4 bytes at %y + 4*global_id.0 + 8, always\n");
}

Test(access, an_id_that_was_an_int_needs_the_range) {
    static const char text[] = "kernel @k(%x: ptr.global) {\nentry:\n" INT_ID
                               "  %w: i64 = sext %i\n  %o: i64 = shl %w, 2\n"
                               "  %p: ptr.global = ptradd %x, %o\n"
                               "  %v: i32 = load %p align 4\n  store %v, %p align 4\n  ret\n}\n";
    const ir_range wide = {.dims = 1, .global = {UINT64_C(1) << 31, 0, 0}, .offset = {1}};
    check(text, &line,
          "reads 4 bytes at %x + 4*global_id.0, always\n"
          "writes 4 bytes at %x + 4*global_id.0, always\n");
    check(text, &wide, "reads 4 bytes at %x + 4*%w, always\nwrites 4 bytes at %x + 4*%w, always\n");
    check(text, NULL, "reads 4 bytes at %x + 4*%w, always\nwrites 4 bytes at %x + 4*%w, always\n");
}

Test(access, shifted_up_and_down_is_an_extension) {
    check("kernel @k(%x: ptr.global) {\nentry:\n  %g: i64 = global_id 0\n"
          "  %u: i64 = shl %g, 32\n  %d: i64 = ashr %u, 30\n  %e: i64 = ashr %u, 32\n"
          "  %p: ptr.global = ptradd %x, %e\n  store i8 1, %p align 1\n"
          "  %q: ptr.global = ptradd %x, %d\n  store i8 1, %q align 1\n  ret\n}\n",
          &line,
          "writes 1 bytes at %x + 1*global_id.0, always\n"
          "writes 1 bytes at %x + 4*global_id.0, always\n");
}

/* Row-major with a width that is a parameter: a product of two unknowns is not affine. */
Test(access, rows_of_known_and_unknown_width) {
    static const char text[] =
        "kernel @k(%x: ptr.global, %w: i32) {\nentry:\n" INT_ID
        "  %h: i64 = global_id 1\n  %j: i32 = trunc %h\n  %r: i32 = mul %j, %w nsw\n"
        "  %s: i32 = add %r, %i nsw\n  %e: i64 = sext %s\n  %o: i64 = shl %e, 2\n"
        "  %p: ptr.global = ptradd %x, %o inbounds\n  store i32 1, %p align 4\n  ret\n}\n";
    const int64_t width = 64, *const known[] = {NULL, &width};
    check_with(text, &grid, known,
               "writes 4 bytes at %x + 256*global_id.1 + 4*global_id.0, always\n");
    check(text, &grid, "writes 4 bytes at %x + 4*%r + 4*global_id.0, always\n");
}

Test(access, promises_not_to_wrap_let_parameters_through) {
    check("kernel @k(%x: ptr.global, %n: i32) {\nentry:\n" INT_ID
          "  %s: i32 = add %i, %n nsw\n  %e: i64 = sext %s\n"
          "  %p: ptr.global = ptradd %x, %e\n  store i8 1, %p align 1\n"
          "  %t: i32 = add %i, %n\n  %f: i64 = sext %t\n"
          "  %q: ptr.global = ptradd %x, %f\n  store i8 1, %q align 1\n  ret\n}\n",
          &line,
          "writes 1 bytes at %x + 1*global_id.0 + 1*argument 1, always\n"
          "writes 1 bytes at %x + 1*%f, always\n");
}

Test(access, loops_count) {
    check("kernel @k(%x: ptr.global) {\nentry:\n  jmp loop\n"
          "loop:\n  %k: i32 = phi [entry: 2, loop: %m]\n  %w: i64 = zext %k\n"
          "  %o: i64 = shl %w, 3\n  %p: ptr.global = ptradd %x, %o\n  store f64 1.0, %p align 8\n"
          "  %m: i32 = add %k, 3\n  %c: i1 = ult %m, i32 20\n  br %c, loop, done\n"
          "done:\n  ret\n}\n",
          NULL, "writes 8 bytes at %x + 24*%k + 16, always\n");
    check("kernel @k(%x: ptr.global, %n: i32) {\nentry:\n  jmp loop\n"
          "loop:\n  %k: i32 = phi [entry: 2, loop: %m]\n  %w: i64 = zext %k\n"
          "  %o: i64 = shl %w, 3\n  %p: ptr.global = ptradd %x, %o\n  store f64 1.0, %p align 8\n"
          "  %m: i32 = add %k, 3\n  %c: i1 = ult %m, %n\n  br %c, loop, done\n"
          "done:\n  ret\n}\n",
          NULL, "writes 8 bytes at %x + 8*%w, always\n");
}

Test(access, guarded_and_chosen) {
    check("kernel @k(%x: ptr.global, %y: ptr.global, %n: i64) {\nentry:\n"
          "  %g: i64 = global_id 0\n  %c: i1 = ult %g, %n\n  br %c, then, end\n"
          "then:\n  %p: ptr.global = select %c, %x, %y\n  store i8 1, %p align 1\n"
          "  %q: ptr.global = ptradd %x, %g\n  %v: i32 = atomic_add %q, 1 device relaxed\n"
          "  jmp end\nend:\n  ret\n}\n",
          &line,
          "writes 1 bytes at an unknown place\n"
          "atomically updates 4 bytes at %x + 1*global_id.0\n");
}

Test(access, own_memory_and_constants_are_left_out) {
    check("@tab: const [2 x i32] align 4 = {5, 6}\n@tile: local [8 x i32] align 4\n"
          "kernel @k(%s: ptr.private byval(8) align 4 of i64) {\nentry:\n"
          "  %v: ptr.private = alloca i32 align 4\n  %a: i32 = load @tab align 4\n"
          "  store %a, %v align 4\n  %b: i64 = load %s align 4\n"
          "  %l: i64 = local_id 0\n  %o: i64 = shl %l, 2\n"
          "  %t: ptr.local = ptradd @tile, %o\n  store %a, %t align 4\n  ret\n}\n",
          &grid, "writes 4 bytes at @tile + 4*local_id.0, always\n");
}

Test(access, copies_and_fills) {
    check("kernel @k(%x: ptr.global, %y: ptr.global, %n: i64) {\nentry:\n"
          "  copy %x, %y, i64 16 align 4\n  fill %x, i8 0, %n align 1\n  ret\n}\n",
          NULL,
          "writes 16 bytes at %x + 0, always\n"
          "reads 16 bytes at %y + 0, always\n"
          "writes some bytes at %x + 0, always\n");
}

/* Inside, %k goes up to 127; after the loop it is -128. */
Test(access, a_counter_behind_its_loop_has_reached_the_limit) {
    check("kernel @k(%x: ptr.global) {\nentry:\n  jmp loop\n"
          "loop:\n  %k: i8 = phi [entry: 0, body: %m]\n  %c: i1 = ne %k, i8 -128\n"
          "  br %c, body, done\n"
          "body:\n  %i: i64 = sext %k\n  %p: ptr.global = ptradd %x, %i\n"
          "  store i8 1, %p align 1\n  %m: i8 = add %k, 1\n  jmp loop\n"
          "done:\n  %o: i64 = sext %k\n  %q: ptr.global = ptradd %x, %o\n"
          "  store i8 1, %q align 1\n  ret\n}\n",
          NULL, "writes 1 bytes at %x + 1*%k\nwrites 1 bytes at %x + 1*%o, always\n");
}
