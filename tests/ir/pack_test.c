/* pack_test.c — what is packed and taken out again is the same text, also in a module of 32 bits,
 * as far as it can be packed.
 */
#include "ir/pack.h"

#include <criterion/criterion.h>

static char errors[1000];

static void collect(void *user, const ir_message *m) {
    (void)user;
    snprintf(errors, sizeof errors, "%s", m->text);
}

static const char source[] =
    "@table: const [3 x v2f32] align 8 constant = {splat(1.0), <2.0, -0.0>, splat(nan)}\n"
    "@hole: private i32 align 4\n"
    "func @a(%0: i32, %1: v4f16): f32 {\n"
    "b0:\n"
    "  %2: ptr.private = alloca [2 x [3 x i16]] align 4\n"
    "  %3: i1 = slt %0, i32 -5\n"
    "  br %3, b1, b2\n"
    "b1:\n"
    "  %4: i64 = sext %0\n"
    "  %5: i64 = mul %4, -9223372036854775807 nsw\n"
    "  %6: ptr.const = ptradd @table, %5 inbounds\n"
    "  %7: v2f32 = load %6 align 8 volatile\n"
    "  %8: f32 = extract %7, i32 1\n"
    "  store i16 7, %2 align 2\n"
    "  jmp b2\n"
    "b2:\n"
    "  %9: f32 = phi [b0: 0x1.8p-140, b1: %8]\n"
    "  %10: f32 = fmul %9, 2.0 contract\n"
    "  %11: v2f16 = shuffle %1, v4f16 undef [3, _]\n"
    "  %12: v2i8 = fptoui %11 rte sat\n"
    "  %13: v2i1 = eq %12, v2i8 <1, -1>\n"
    "  %14: i1 = any %13\n"
    "  switch %0, b3 [1: b1, 2: b3]\n"
    "b3:\n"
    "  %15: f32 = phi [b2: %10, b2: %10]\n"
    "  %16: f32 = select %14, %15, undef\n"
    "  ret %16\n"
    "}\n"
    "func @b(%0: f64): f64 {\n"
    "b0:\n"
    "  %1: f64 = fma %0, 0.1, %0\n"
    "  ret %1\n"
    "}\n";

static const char *print(ir_module *m, const ir_func *f) {
    ir_text t = {.arena = &m->arena};
    ir_print_func(&t, f, 0);
    return t.data;
}

typedef struct {
    ir_ctx cx;
    unsigned pointer_bits;
} bench;

static ir_pack pack_of(ir_module *m) {
    ir_text bytes = {.arena = &m->arena};
    ir_putn(&bytes, "xyz", 3); /* positions count from the archive's start */
    cr_assert(ir_pack_write(m, &bytes));
    return (ir_pack){(const uint8_t *)bytes.data + 3, bytes.n - 3};
}

static void round_trip(void *user) {
    bench *t = user;
    ir_module *m = ir_parse(&t->cx, "source", source, sizeof source - 1);
    cr_assert(m, "%s", errors);
    ir_pack pack = pack_of(m);
    ir_module *copy = ir_module_new(&t->cx, "copy", t->pointer_bits);
    ir_unpacker u = {.pack = &pack, .m = copy, .scratch = &copy->arena};
    cr_expect_eq(ir_pack_count(&pack), 2);
    cr_expect_str_eq(ir_pack_name(&pack, 1), "b");
    cr_expect(ir_pack_has(&pack, "a") && !ir_pack_has(&pack, "c"));
    cr_expect_null(ir_unpack(&u, "ab"));
    ir_func *b = ir_unpack(&u, "b");
    cr_expect_null(copy->first_global, "only what is needed");
    ir_func *a = ir_unpack(&u, "a");
    cr_assert(ir_verify_module(copy), "%s", errors);
    cr_expect_str_eq(print(copy, b), print(m, ir_func_find(m, "b")));
    if (t->pointer_bits == 64) cr_expect_str_eq(print(copy, a), print(m, ir_func_find(m, "a")));
    cr_expect_eq(memcmp(copy->first_global->init, m->first_global->init, 24), 0);
    cr_expect_null(copy->first_global->next);
    ir_module_free(copy);
    ir_module_free(m);
}

Test(pack, round_trip) {
    bench t = {.cx = {.report = collect}, .pointer_bits = 64};
    cr_assert(ir_try(&t.cx, round_trip, &t));
    cr_expect_eq(t.cx.used, 0);
}

Test(pack, offsets_are_as_wide_as_pointers) {
    bench t = {.cx = {.report = collect}, .pointer_bits = 32};
    cr_assert(ir_try(&t.cx, round_trip, &t));
}

static void refuse(void *user) {
    static const char text[] = "func @q(): i64 {\nentry:\n  %i: i64 = global_id 0\n  ret %i\n}\n";
    ir_module *m = ir_parse(user, "source", text, sizeof text - 1);
    ir_text bytes = {.arena = &m->arena};
    cr_expect_not(ir_pack_write(m, &bytes));
    cr_expect_str_eq(errors, "@q cannot be packed: global_id");
    ir_module_free(m);
}

Test(pack, refuses_what_it_cannot_say) {
    ir_ctx cx = {.report = collect};
    cr_assert(ir_try(&cx, refuse, &cx));
}
