/* inner_test.c — along which dimension the innermost loop over items runs: kernels with the answer.
 */
#include "passes/workgroup/regions.h"

#include <criterion/criterion.h>

/* Ids of x, y and z, and %w, the number of bytes from row to row. */
#define HEAD                                                                                       \
    "kernel @k(%a: ptr.global, %c: ptr.global, %w: i64, %n: i64) {\nentry:\n"                      \
    "%x: i64 = global_id 0\n%y: i64 = global_id 1\n%z: i64 = global_id 2\n"                        \
    "%x4: i64 = shl %x, 2\n%y4: i64 = shl %y, 2\n%z4: i64 = shl %z, 2\n"                           \
    "%xw: i64 = mul %x, %w\n%yw: i64 = mul %y, %w\n%zw: i64 = mul %z, %w\n"
#define AT(name, base, offset) "%" name ": ptr.global = ptradd %" base ", %" offset "\n"
#define PUT(place) "store f32 1.0, %" place " align 4\n"
#define GET(name, place) "%" name ": f32 = load %" place " align 4\n"

static const struct {
    const char *name, *body;
    unsigned inner;
    bool crosses, transposes;
} kernels[] = {
    {"no access", "ret\n", 0},
    {"a row each", "%o: i64 = add %yw, %x4\n" AT("p", "a", "o") PUT("p") "ret\n", 0},
    {"a column each", "%o: i64 = add %xw, %y4\n" AT("p", "a", "o") PUT("p") "ret\n", 1},
    {"a column of planes", "%o: i64 = add %xw, %z4\n" AT("p", "a", "o") PUT("p") "ret\n", 2},
    {"far, in the only dimension", AT("p", "a", "xw") PUT("p") "ret\n", 0},
    {"far in both", "%o: i64 = add %xw, %yw\n" AT("p", "a", "o") PUT("p") "ret\n", 0},
    {"as near in one as in the other",
     "%o: i64 = add %xw, %y4\n%q: i64 = add %yw, %x4\n" AT("p", "a", "o") AT("r", "c", "q") PUT("p")
         PUT("r") "ret\n",
     0, true},
    {"a transposition",
     "%o: i64 = add %xw, %y4\n%q: i64 = add %yw, %x4\n" AT("p", "a", "o") AT("r", "c", "q")
         GET("f", "r") "store f32 %f, %p align 4\nret\n",
     0, true, true},
    {"a transposition that reads columns",
     "%o: i64 = add %xw, %y4\n%q: i64 = add %yw, %x4\n" AT("p", "a", "q") AT("r", "c", "o")
         GET("f", "r") "store f32 %f, %p align 4\nret\n",
     1, true, true},
    {"a sum with a transposed matrix, which reads both ways",
     "%o: i64 = add %xw, %y4\n%q: i64 = add %yw, %x4\n" AT("p", "a", "q") AT("r", "c", "o")
         GET("f", "r") GET("g", "p") "%s: f32 = fadd %f, %g\nstore f32 %s, %p align 4\nret\n",
     0, true},
    {"planes become rows: lanes would be two dimensions away",
     "%o: i64 = add %xw, %z4\n%q: i64 = add %zw, %x4\n" AT("p", "a", "o") AT("r", "c", "q")
         GET("f", "r") "store f32 %f, %p align 4\nret\n",
     0, true},
    {"a step of eight elements is near",
     "%o: i64 = shl %x, 5\n%q: i64 = add %o, %yw\n" AT("p", "a", "q") PUT("p") "ret\n", 0},
    {"a step of nine elements is not",
     "%o: i64 = mul %x, 36\n%q: i64 = add %o, %y4\n" AT("p", "a", "q") PUT("p") "ret\n", 1},
    {"32 bits, which might wrap",
     "%xi: i32 = trunc %x\n%yi: i32 = trunc %y\n%wi: i32 = trunc %w\n%m: i32 = mul %xi, %wi\n"
     "%s: i32 = add %m, %yi\n%e: i64 = zext %s\n%o: i64 = shl %e, 2\n" AT("p", "a", "o")
         PUT("p") "ret\n",
     1},
    {"a clamp",
     "%y1: i64 = add %y, 1\n%l: i64 = smin %y1, %n\n%lo: i64 = shl %l, 2\n%o: i64 = add %xw, "
     "%lo\n" AT("p", "a", "o") PUT("p") "ret\n",
     1},
    {"a select",
     "%t: i1 = ult %y, %n\n%l: i64 = select %t, %y, %n\n%lo: i64 = shl %l, 2\n"
     "%o: i64 = add %xw, %lo\n" AT("p", "a", "o") PUT("p") "ret\n",
     1},
    {"an index from memory is far",
     AT("i", "c", "x4") "%e: i64 = load %i align 4\n%o: i64 = add %e, %y4\n" AT("p", "a", "o")
         PUT("p") "ret\n",
     1},
    {"variables",
     "%v: ptr.private = alloca i64 align 8\nstore %y4, %v align 8\n%l: i64 = load %v align 8\n"
     "%o: i64 = add %xw, %l\n" AT("p", "a", "o") PUT("p") "ret\n",
     1},
    {"accesses of variables do not count",
     "%v: ptr.private = alloca [64 x f32] align 8\n%q: ptr.private = ptradd %v, %y4\n"
     "store f32 1.0, %q align 4\n" AT("p", "a", "xw") PUT("p") "ret\n",
     0},
    {"what is in a loop weighs more",
     "%o: i64 = add %yw, %x4\n" AT("p", "a", "o")
         PUT("p") "jmp loop\n"
                  "loop:\n%k: i64 = phi [entry: 0, loop: %k1]\n%kw: i64 = mul %k, %w\n%m: i64 = "
                  "add %kw, %y4\n" AT("q", "c", "m") "%d: i64 = add %xw, %kw\n" AT("r", "c", "d")
                      GET("f", "q") GET("g", "r") "%k1: i64 = add %k, 1\n%b: i1 = ult %k1, %n\nbr "
                                                  "%b, loop, end\nend:\nret\n",
     1, true},
    {"a pointer that advances",
     "%o: i64 = add %xw, %y4\n" AT(
         "p", "a",
         "o") "jmp loop\n"
              "loop:\n%k: i64 = phi [entry: 0, loop: %k1]\n%q: ptr.global = phi [entry: %p, loop: "
              "%q1]\n" PUT(
                  "q") "%q1: ptr.global = ptradd %q, 4\n"
                       "%k1: i64 = add %k, 1\n%b: i1 = ult %k1, %n\nbr %b, loop, end\nend:\nret\n",
     1},
};

static void expect_order(const char *name, const char *body, pass_item_order want) {
    ir_ctx cx = {0};
    ir_arena scratch;
    ir_arena_init(&scratch, &cx);
    const char *text = ir_sprintf(&scratch, "%s%s}\n", HEAD, body);
    ir_module *m = ir_parse(&cx, name, text, strlen(text));
    cr_assert(m, "%s", name);
    const ir_func *kernel = ir_func_find(m, "k");
    pass_item_order found = pass_find_inner(kernel, true, &scratch);
    cr_expect_eq(found.crosses, want.crosses, "%s: %d", name, found.crosses);
    cr_expect_eq(found.transposes, want.transposes, "%s: %d", name, found.transposes);
    cr_expect_eq(found.inner, want.inner, "%s: %u, not %u", name, found.inner, want.inner);
    cr_expect_not(pass_find_inner(kernel, false, &scratch).transposes, "%s", name);
    ir_module_free(m);
    ir_arena_free(&scratch);
}

Test(inner, dimension_of_each_kernel) {
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        expect_order(
            kernels[k].name, kernels[k].body,
            (pass_item_order){kernels[k].inner, kernels[k].crosses, kernels[k].transposes});
}

Test(inner, loops_have_the_chosen_dimension_first) {
    static const unsigned orders[3][3] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1}};
    for (unsigned inner = 0; inner < 3; inner++) {
        unsigned order[3];
        pass_order_loops(inner, order);
        cr_expect_arr_eq(order, orders[inner], sizeof order);
    }
}
