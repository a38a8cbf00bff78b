/* interp_test.c — the interpreter: every fast form against ir_eval_lane, undefined bytes, vectors,
 * control flow, calls, memory, atomics, stopping and going on, and the errors of ir_interp_call.
 */
#include "ir/build.h"
#include "ir/eval.h"
#include "ir/interp.h"
#include "tests/random.h"

#include <criterion/criterion.h>

static char last_message[2048];

static void keep_message(void *user, const ir_message *m) {
    (void)user;
    ir_format_message(m, last_message, sizeof last_message);
}

static ir_ctx new_context(void) { return (ir_ctx){.report = keep_message}; }

static ir_module *parse(ir_ctx *cx, const char *text) {
    ir_module *m = ir_parse(cx, "test.ir", text, strlen(text));
    cr_assert(m, "%s", last_message);
    return m;
}

/* Calls the first function of the module with one-lane arguments. */
static bool call(const char *text, const uint64_t *args, unsigned n, ir_value *result) {
    ir_ctx cx = new_context();
    ir_module *m = parse(&cx, text);
    ir_value *values = calloc(n + 1, sizeof *values);
    for (unsigned k = 0; k < n; k++) values[k].bits[0] = args[k];
    *result = (ir_value){0};
    last_message[0] = 0;
    bool ok = ir_interp_call(m->first_func, values, result);
    ir_module_free(m);
    cr_assert_eq(cx.used, 0);
    free(values);
    return ok;
}

#define ARGS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8

/* What a function gives for arguments; all defined. */
static uint64_t eval(const char *text, const uint64_t *args, unsigned n) {
    ir_value v;
    cr_assert(call(text, args, n, &v), "%s", last_message);
    cr_assert_eq(v.undef[0], 0);
    return v.bits[0];
}

/* The message that a call fails with. */
static const char *failure(const char *text, const uint64_t *args, unsigned n) {
    ir_value v;
    cr_assert(!call(text, args, n, &v));
    return last_message;
}

/* -------------------------------------------------------------------------- lanewise operations */

/* Values near the edges are more frequent than chance would have it. */
static uint64_t operand(uint64_t *state, unsigned width) {
    static const uint64_t edges[] = {0, 1, 2, UINT64_MAX, UINT64_C(1) << 63, 31, 32, 64, 7, 0x80};
    uint64_t pick = splitmix64(state);
    uint64_t v = pick % 3 == 0 ? edges[pick / 3 % 10] : splitmix64(state) >> (pick / 7 % 60);
    if (pick % 11 == 0) v = UINT64_C(1) << (width - 1);
    return ir_zext(v, width);
}

/* f(x, y, z) = op x, y, z as the only instruction. */
static ir_func *function_of(ir_module *m, ir_op op, ir_type res, ir_type arg) {
    const ir_type types[3] = {arg, arg, arg};
    unsigned n = ir_ops[op].nargs;
    ir_func *f = ir_func_new(m, "f", res, n, types);
    ir_builder b;
    ir_builder_init(&b, f);
    ir_at_end(&b, ir_block_new(f, "entry"));
    ir_inst *r = ir_build_raw(&b, op, res, IR_PLAIN, (ir_args){n, f->param_val});
    ir_build_ret(&b, r);
    return f;
}

static bool is_division_trap(ir_op op, const uint64_t *a, unsigned width) {
    bool divides = (ir_ops[op].flags & F_TRAPS) != 0;
    return divides && (a[1] == 0 ||
                       (a[0] == UINT64_C(1) << (width - 1) && a[1] == ir_zext(UINT64_MAX, width)));
}

static void compare_op(ir_module *m, ir_op op, ir_type res, ir_type arg, uint64_t *state) {
    ir_func *f = function_of(m, op, res, arg);
    unsigned width = ir_bits(m, arg), lanes = ir_lanes(arg), n = ir_ops[op].nargs;
    ir_eval_env e = {op, ir_kind_of(ir_elem(res)), ir_kind_of(ir_elem(arg)), ir_bits(m, res), width,
                     {0}};
    for (unsigned round = 0; round < 40; round++) {
        ir_value args[3] = {0}, result;
        uint64_t a[IR_MAX_LANES][4] = {0};
        bool traps = false;
        for (unsigned k = 0; k < n; k++)
            for (unsigned l = 0; l < lanes; l++) args[k].bits[l] = a[l][k] = operand(state, width);
        for (unsigned l = 0; l < lanes; l++) traps |= is_division_trap(op, a[l], width);
        if (traps) continue;
        cr_assert(ir_interp_call(f, args, &result));
        for (unsigned l = 0; l < lanes; l++)
            cr_assert_eq(result.bits[l], ir_zext(ir_eval_lane(&e, a[l]), ir_bits(m, res)),
                         "%s of %u bits, lane %u", ir_ops[op].name, width, l);
    }
    ir_func_remove(f);
}

Test(interp, every_lanewise_op_agrees_with_eval) {
    ir_ctx cx = new_context();
    ir_module *m = ir_module_new(&cx, "t", 64);
    uint64_t state = 1;
    for (unsigned op = 0; op < IR_OP_COUNT; op++) {
        ir_rule rule = ir_ops[op].rule;
        bool floats = rule == R_FLT || rule == R_CMPF || rule == R_TESTF;
        if (!ir_has_eval((ir_op)op) ||
            !(floats || rule == R_INT || rule == R_BITS || rule == R_CMPI))
            continue;
        ir_kind first = floats ? IR_F16 : IR_I8, last = floats ? IR_F64 : IR_I64;
        for (ir_kind k = first; k <= last; k++)
            for (unsigned lanes = 1; lanes <= 3; lanes += 2) {
                ir_type arg = ir_vector(ir_scalar(k), lanes);
                bool tests = rule == R_CMPI || rule == R_CMPF || rule == R_TESTF;
                compare_op(m, (ir_op)op, tests ? ir_with_elem(arg, IR_I1) : arg, arg, &state);
            }
    }
    ir_module_free(m);
}

static void compare_cast(ir_module *m, ir_op op, ir_kind from, ir_kind to, uint64_t *state) {
    for (unsigned lanes = 1; lanes <= 2; lanes++)
        compare_op(m, op, ir_vector(ir_scalar(to), lanes), ir_vector(ir_scalar(from), lanes),
                   state);
}

Test(interp, casts_agree_with_eval) {
    ir_ctx cx = new_context();
    ir_module *m = ir_module_new(&cx, "t", 64);
    uint64_t state = 2;
    for (ir_kind narrow = IR_I1; narrow <= IR_I32; narrow++)
        for (ir_kind wide = narrow + 1; wide <= IR_I64; wide++) {
            compare_cast(m, IR_OP_zext, narrow, wide, &state);
            compare_cast(m, IR_OP_sext, narrow, wide, &state);
            compare_cast(m, IR_OP_trunc, wide, narrow, &state);
        }
    for (ir_kind i = IR_I8; i <= IR_I64; i++)
        for (ir_kind f = IR_F16; f <= IR_F64; f++) {
            compare_cast(m, IR_OP_sitofp, i, f, &state);
            compare_cast(m, IR_OP_uitofp, i, f, &state);
            compare_cast(m, IR_OP_fptosi, f, i, &state);
            compare_cast(m, IR_OP_fptoui, f, i, &state);
        }
    ir_module_free(m);
}

Test(interp, floats_of_the_host_are_canonical) {
    const char *text = "func @f(%x: f32, %y: f32): f32 {\n"
                       "entry:\n"
                       "  %r: f32 = fmul %x, %y\n"
                       "  ret %r\n"
                       "}\n";
    cr_assert_eq(eval(text, ARGS(0x3fc00000, 0x40000000)), 0x40400000); /* 1.5 * 2 */
    cr_assert_eq(eval(text, ARGS(0x7f800000, 0)), 0x7fc00000);          /* inf * 0: the NaN */
    cr_assert_eq(eval(text, ARGS(0x00800000, 0x3f000000)), 0x00400000); /* into the denormals */
    cr_assert_eq(eval(text, ARGS(0x7f7fffff, 0x40000000)), 0x7f800000); /* overflow */
}

/* ------------------------------------------------------------------------------ undefined bytes */

/* The undef mask of lane 0 of a function without parameters. */
static uint8_t undef_of(const char *body) {
    char text[1024];
    ir_value v;
    snprintf(text, sizeof text, "func @f(): i32 {\nentry:\n%s}\n", body);
    cr_assert(call(text, NULL, 0, &v), "%s", last_message);
    return v.undef[0];
}

#define FRESH "  %v: ptr.private = alloca i32 align 4\n"
#define HALF                                                                                       \
    FRESH "  store i16 7, %v align 2\n"                                                            \
          "  %x: i32 = load %v align 4\n"

#define PAIR HALF "  %b: v2i32 = vec %x, 5\n"
#define FIRST "  %z: i32 = extract %y, i32 0\n  ret %z\n"

Test(interp, undefined_bytes_of_vectors_follow_the_data) {
    cr_assert_eq(undef_of(PAIR "  %y: v2i32 = and %b, splat(65535)\n" FIRST), 0);
    cr_assert_eq(undef_of(PAIR "  %y: v2i32 = or %b, splat(-65536)\n" FIRST), 0);
    cr_assert_eq(undef_of(PAIR "  %y: v2i32 = xor %b, splat(1)\n" FIRST), 0xc);
    cr_assert_eq(undef_of(PAIR "  %y: v2i32 = shl %b, splat(16)\n" FIRST), 0);
    cr_assert_eq(undef_of(PAIR "  %y: v2i32 = lshr %b, splat(8)\n" FIRST), 0x6);
    cr_assert_eq(undef_of(PAIR "  %y: v2i32 = add %b, splat(1)\n" FIRST), 0xf);
    cr_assert_eq(undef_of(PAIR "  %y: v2i32 = mul %b, splat(0)\n  %e: v2i1 = eq %y, %b\n"
                               "  %m: v2i1 = and %e, splat(false)\n  %a: i1 = any %m\n"
                               "  %z: i32 = zext %a\n  ret %z\n"),
                 0);
}

Test(interp, undefined_bytes_follow_the_data) {
    cr_assert_eq(undef_of(FRESH "  %x: i32 = load %v align 4\n  ret %x\n"), 0xf);
    cr_assert_eq(undef_of(HALF "  ret %x\n"), 0xc);
    cr_assert_eq(undef_of(HALF "  %y: i32 = and %x, 65535\n  ret %y\n"), 0);
    cr_assert_eq(undef_of(HALF "  %y: i32 = or %x, -65536\n  ret %y\n"), 0);
    cr_assert_eq(undef_of(HALF "  %y: i32 = xor %x, 1\n  ret %y\n"), 0xc);
    cr_assert_eq(undef_of(HALF "  %y: i32 = shl %x, 16\n  ret %y\n"), 0);
    cr_assert_eq(undef_of(HALF "  %y: i32 = lshr %x, 8\n  ret %y\n"), 0x6);
    cr_assert_eq(undef_of(HALF "  %y: i32 = lshr %x, 12\n  ret %y\n"), 0x7);
    cr_assert_eq(undef_of(HALF "  %y: i32 = add %x, 1\n  ret %y\n"), 0xf);
    cr_assert_eq(undef_of(HALF "  %y: i16 = trunc %x\n  %z: i32 = zext %y\n  ret %z\n"), 0);
    cr_assert_eq(undef_of(HALF "  %y: i32 = select i1 true, %x, 1\n  ret %y\n"), 0xc);
    cr_assert_eq(undef_of(HALF "  %y: v2i16 = bitcast %x\n"
                               "  %z: i16 = extract %y, i32 0\n"
                               "  %w: i32 = sext %z\n  ret %w\n"),
                 0);
    /* Slot 0 of the frame is undefined; nothing reads it. */
    cr_assert_eq(undef_of("  %v: v2i16 = insert undef, i16 5, i32 0\n"
                          "  %x: i16 = extract %v, i32 0\n"
                          "  %y: i32 = sext %x\n"
                          "  %z: i32 = and %y, 255\n  ret %z\n"),
                 0);
    cr_assert_eq(undef_of("  %y: i32 = select i1 true, undef, 1\n  ret %y\n"), 0xf);
}

Test(interp, indices_out_of_range_are_undefined) {
    const char *extract = "func @f(%i: i32): i32 {\nentry:\n"
                          "  %r: i32 = extract v4i32 <1, 2, 3, 4>, %i\n  ret %r\n}\n";
    ir_value v;
    cr_assert_eq(eval(extract, ARGS(3)), 4);
    cr_assert(call(extract, ARGS(4), &v));
    cr_assert_eq(v.undef[0], 0xf);
}

Test(interp, undefined_decisions_fail) {
    cr_assert(strstr(failure("func @f(): i32 {\nentry:\n" FRESH "  %x: i32 = load %v align 4\n"
                             "  %c: i1 = eq %x, i32 0\n"
                             "  br %c, a, b\na:\n  ret i32 1\nb:\n  ret i32 2\n}\n",
                             NULL, 0),
                     "undefined operand: br %c"));
    cr_assert(strstr(failure("func @f(): i32 {\nentry:\n" FRESH "  %x: i32 = load %v align 4\n"
                             "  %y: i32 = udiv 6, %x\n  ret %y\n}\n",
                             NULL, 0),
                     "undefined operand: %y"));
}

/* -------------------------------------------------------------------------------------- vectors */

Test(interp, vectors) {
    cr_assert_eq(eval("func @f(%x: i32): i32 {\nentry:\n"
                      "  %v: v3i32 = vec %x, i32 20, i32 30\n"
                      "  %w: v3i32 = insert %v, i32 7, i32 1\n"
                      "  %s: v4i32 = shuffle %v, %w [0, 4, 2, _]\n"
                      "  %a: i32 = extract %s, i32 0\n"
                      "  %b: i32 = extract %s, i32 1\n"
                      "  %c: i32 = extract %s, i32 2\n"
                      "  %ab: i32 = mul %a, %b\n"
                      "  %r: i32 = add %ab, %c\n"
                      "  ret %r\n}\n",
                      ARGS(10)),
                 100);
    cr_assert_eq(eval("func @f(%x: i32): i8 {\nentry:\n"
                      "  %v: v4i8 = bitcast %x\n"
                      "  %r: i8 = extract %v, i32 2\n  ret %r\n}\n",
                      ARGS(0x11223344)),
                 0x22);
    cr_assert_eq(eval("func @f(%x: i32): i64 {\nentry:\n"
                      "  %v: v2i32 = vec %x, i32 5\n"
                      "  %r: i64 = bitcast %v\n  ret %r\n}\n",
                      ARGS(7)),
                 UINT64_C(0x500000007));
    cr_assert_eq(eval("func @f(%x: i32): i1 {\nentry:\n"
                      "  %v: v2i32 = vec %x, i32 5\n"
                      "  %c: v2i1 = eq %v, v2i32 <5, 5>\n"
                      "  %a: i1 = all %c\n"
                      "  %o: i1 = any %c\n"
                      "  %r: i1 = xor %a, %o\n  ret %r\n}\n",
                      ARGS(4)),
                 1);
    cr_assert_eq(eval("func @f(%x: f32): f32 {\nentry:\n"
                      "  %v: v2f32 = vec %x, f32 4.0\n"
                      "  %r: f32 = length %v\n  ret %r\n}\n",
                      ARGS(0x40400000)),
                 0x40a00000); /* 3, 4: 5 */
}

Test(interp, select_by_lane) {
    cr_assert_eq(eval("func @f(%c: i1): i64 {\nentry:\n"
                      "  %m: v2i1 = vec %c, i1 true\n"
                      "  %s: v2i32 = select %m, <1, 2>, <3, 4>\n"
                      "  %r: i64 = bitcast %s\n  ret %r\n}\n",
                      ARGS(0)),
                 UINT64_C(0x200000003));
}

/* --------------------------------------------------------------------------------- control flow */

Test(interp, phis_of_an_edge_move_at_once) {
    const char *text = "func @f(%n: i32): i32 {\n"
                       "entry:\n  jmp loop\n"
                       "loop:\n"
                       "  %i: i32 = phi [entry: 0, body: %i1]\n"
                       "  %a: i32 = phi [entry: 1, body: %b]\n"
                       "  %b: i32 = phi [entry: 2, body: %a]\n"
                       "  %c: i1 = ult %i, %n\n"
                       "  br %c, body, done\n"
                       "body:\n  %i1: i32 = add %i, 1\n  jmp loop\n"
                       "done:\n"
                       "  %t: i32 = shl %a, 4\n"
                       "  %r: i32 = or %t, %b\n"
                       "  ret %r\n}\n";
    cr_assert_eq(eval(text, ARGS(0)), 0x12);
    cr_assert_eq(eval(text, ARGS(1)), 0x21);
    cr_assert_eq(eval(text, ARGS(2)), 0x12);
}

Test(interp, switches) {
    const char *text = "func @f(%x: i32): i32 {\n"
                       "entry:\n  switch %x, other [-1: a, 7: b, 3: b]\n"
                       "a:\n  ret i32 10\n"
                       "b:\n  %k: i32 = phi [entry: %x, entry: %x]\n  ret %k\n"
                       "other:\n  ret i32 30\n}\n";
    cr_assert_eq(eval(text, ARGS(0xffffffff)), 10);
    cr_assert_eq(eval(text, ARGS(3)), 3);
    cr_assert_eq(eval(text, ARGS(7)), 7);
    cr_assert_eq(eval(text, ARGS(4)), 30);
}

#define FIB                                                                                        \
    "func @fib(%n: i32): i32 {\n"                                                                  \
    "entry:\n  %c: i1 = slt %n, i32 2\n  br %c, base, more\n"                                      \
    "base:\n  ret %n\n"                                                                            \
    "more:\n"                                                                                      \
    "  %a: i32 = sub %n, 1\n  %b: i32 = sub %n, 2\n"                                               \
    "  %x: i32 = call @fib(%a)\n  %y: i32 = call @fib(%b)\n"                                       \
    "  %r: i32 = add %x, %y\n  ret %r\n}\n"

Test(interp, calls) {
    cr_assert_eq(eval(FIB, ARGS(15)), 610);
    cr_assert_eq(eval("func @f(%x: i32): i32 {\nentry:\n"
                      "  %v: ptr.private = alloca i32 align 4\n"
                      "  call @set(%v, %x, i32 2, i32 3, i32 4)\n"
                      "  %r: i32 = load %v align 4\n  ret %r\n}\n"
                      "func @set(%p: ptr.private, %a: i32, %b: i32, %c: i32, %d: i32): void {\n"
                      "entry:\n"
                      "  %ab: i32 = mul %a, %b\n  %abc: i32 = add %ab, %c\n"
                      "  %r: i32 = mul %abc, %d\n"
                      "  store %r, %p align 4\n  ret\n}\n",
                      ARGS(10)),
                 92);
}

Test(interp, calls_are_bounded) {
    cr_assert(strstr(failure("func @f(%x: i32): i32 {\nentry:\n"
                             "  %r: i32 = call @f(%x)\n  ret %r\n}\n",
                             ARGS(1)),
                     "too many nested calls: %r: i32 = call @f(%x)"));
    cr_assert(strstr(failure("func @f(): i32 {\nentry:\n  %r: i32 = call @g()\n  ret %r\n}\n"
                             "func @g(): i32 import\n",
                             NULL, 0),
                     "call of a function without body"));
    cr_assert(strstr(failure("func @g(): i32 import\n", NULL, 0), "has no body"));
}

/* --------------------------------------------------------------------------------------- memory */

Test(interp, variables_and_globals) {
    cr_assert_eq(eval("@tab: const [4 x i32] align 4 = {10, 20, 30, 40}\n"
                      "@where: const [2 x ptr.const] align 8 = {&@tab+4, &@tab+12}\n"
                      "func @f(%i: i64): i32 {\nentry:\n"
                      "  %o: i64 = shl %i, 3\n"
                      "  %pp: ptr.const = ptradd @where, %o\n"
                      "  %p: ptr.const = load %pp align 8\n"
                      "  %r: i32 = load %p align 4\n  ret %r\n}\n",
                      ARGS(1)),
                 40);
    cr_assert_eq(eval("@count: global i32 align 4 = 5\n"
                      "func @f(%x: i32): i32 {\nentry:\n"
                      "  %old: i32 = atomic_add @count, %x device relaxed\n"
                      "  %new: i32 = load @count align 4\n"
                      "  %r: i32 = mul %old, %new\n  ret %r\n}\n",
                      ARGS(3)),
                 40);
    cr_assert_eq(eval("func @f(%x: i32): i32 {\nentry:\n"
                      "  %a: ptr.private = alloca [4 x i32] align 4\n"
                      "  %b: ptr.private = alloca [4 x i32] align 4\n"
                      "  fill %a, i8 1, i64 16 align 4\n"
                      "  store %x, %a align 4\n"
                      "  copy %b, %a, i64 16 align 4\n"
                      "  %x0: i32 = load %b align 4\n"
                      "  %p: ptr.private = ptradd %b, i64 12\n"
                      "  %x3: i32 = load %p align 4\n"
                      "  %r: i32 = add %x0, %x3\n  ret %r\n}\n",
                      ARGS(1)),
                 0x01010102);
}

Test(interp, vectors_of_three_take_three_elements) {
    cr_assert_eq(eval("func @f(%x: i32): i32 {\nentry:\n"
                      "  %a: ptr.private = alloca [4 x i32] align 16\n"
                      "  %p: ptr.private = ptradd %a, i64 12\n"
                      "  store %x, %p align 4\n"
                      "  store v3i32 <1, 2, 3>, %a align 16\n"
                      "  %r: i32 = load %p align 4\n  ret %r\n}\n",
                      ARGS(99)),
                 99);
}

/* f(old value, operand) = old * 1000 + new, so that both are seen. */
static uint64_t atomic_result(const char *op, uint64_t old, uint64_t with) {
    char text[512];
    snprintf(text, sizeof text,
             "func @f(%%old: i32, %%with: i32): i32 {\nentry:\n"
             "  %%v: ptr.private = alloca i32 align 4\n"
             "  store %%old, %%v align 4\n"
             "  %%g: ptr.generic = ptrcast %%v\n"
             "  %%was: i32 = %s %%g, %%with%s\n"
             "  %%is: i32 = load %%v align 4\n"
             "  %%t: i32 = mul %%was, 1000\n"
             "  %%r: i32 = add %%t, %%is\n  ret %%r\n}\n",
             op,
             strcmp(op, "atomic_cmpxchg") == 0 ? ", 5 device relaxed unequal relaxed"
                                               : " device relaxed");
    return eval(text, ARGS(old, with));
}

Test(interp, atomics) {
    cr_assert_eq(atomic_result("atomic_add", 5, 7), 5012);
    cr_assert_eq(atomic_result("atomic_sub", 9, 7), 9002);
    cr_assert_eq(atomic_result("atomic_and", 6, 3), 6002);
    cr_assert_eq(atomic_result("atomic_or", 6, 3), 6007);
    cr_assert_eq(atomic_result("atomic_xor", 6, 3), 6005);
    cr_assert_eq(atomic_result("atomic_umin", 6, 3), 6003);
    cr_assert_eq(atomic_result("atomic_umax", 6, 3), 6006);
    cr_assert_eq(atomic_result("atomic_smin", 6, 8), 6006);
    cr_assert_eq(atomic_result("atomic_smax", 6, 8), 6008);
    cr_assert_eq(atomic_result("atomic_xchg", 6, 8), 6008);
    cr_assert_eq(atomic_result("atomic_cmpxchg", 5, 8), 5008);
    cr_assert_eq(atomic_result("atomic_cmpxchg", 6, 8), 6006);
    cr_assert_eq(eval("func @f(%x: f32): f32 {\nentry:\n"
                      "  %v: ptr.private = alloca f32 align 4\n"
                      "  %g: ptr.generic = ptrcast %v\n"
                      "  atomic_store %g, %x device relaxed\n"
                      "  %o: f32 = atomic_fadd %g, f32 1.0 device relaxed\n"
                      "  %r: f32 = atomic_load %g device relaxed\n  ret %r\n}\n",
                      ARGS(0x3f800000)),
                 0x40000000);
}

Test(interp, bad_accesses_fail) {
    cr_assert(
        strstr(failure("func @f(): i32 {\nentry:\n" FRESH "  %p: ptr.private = ptradd %v, i64 4\n"
                       "  %x: i32 = load %p align 4\n  ret %x\n}\n",
                       NULL, 0),
               "access outside of its memory: %x: i32 = load %p align 4"));
    cr_assert(
        strstr(failure("func @f(): i32 {\nentry:\n" FRESH "  %p: ptr.private = ptradd %v, i64 1\n"
                       "  store i16 1, %p align 2\n  ret i32 0\n}\n",
                       NULL, 0),
               "misaligned access: store i16 1, %p align 2"));
    cr_assert(strstr(failure("func @f(): i32 {\nentry:\n  %p: ptr.private = call @g()\n"
                             "  %x: i32 = load %p align 4\n  ret %x\n}\n"
                             "func @g(): ptr.private {\nentry:\n" FRESH "  ret %v\n}\n",
                             NULL, 0),
                     "access outside of its memory"));
    cr_assert(strstr(failure("func @f(): i32 {\nentry:\n  %x: i32 = load ptr.global null align 4\n"
                             "  ret %x\n}\n",
                             NULL, 0),
                     "access outside of its memory"));
}

Test(interp, other_failures) {
    cr_assert(strstr(failure("func @f(): i32 {\nentry:\n  unreachable\n}\n", NULL, 0),
                     "reached what cannot be reached"));
    cr_assert(strstr(failure("func @f(): i32 {\nentry:\n  jmp a\na:\n  jmp a\n}\n", NULL, 0),
                     "does not end"));
    cr_assert(strstr(failure("func @f(%x: i32): i32 {\nentry:\n  %r: i32 = sdiv 1, %x\n"
                             "  ret %r\n}\n",
                             ARGS(0)),
                     "division by zero"));
    cr_assert(strstr(failure("func @f(%x: i32): i32 {\nentry:\n"
                             "  %r: i32 = group_add %x workgroup reduce\n  ret %r\n}\n",
                             ARGS(0)),
                     "group operation outside of a group"));
}

Test(interp, pointers_of_32_bits) {
    cr_assert_eq(eval("target 32\n"
                      "func @f(%i: i32): i32 {\nentry:\n"
                      "  %a: ptr.private = alloca [2 x i32] align 4\n"
                      "  store i32 5, %a align 4\n"
                      "  %end: ptr.private = ptradd %a, i32 8\n"
                      "  %p: ptr.private = ptradd %end, %i\n"
                      "  %r: i32 = load %p align 4\n  ret %r\n}\n",
                      ARGS(0xfffffff8)),
                 5);
}

/* ------------------------------------------------------------------------ stopping and going on */

static void no_problem(void *user, ir_problem what, const ir_inst *i, unsigned operand) {
    (void)user, (void)i, (void)operand;
    cr_assert(false, "problem %d", (int)what);
}

Test(interp, any_budget_gives_the_same_result) {
    ir_ctx cx = new_context();
    ir_module *m = parse(&cx, FIB);
    ir_interp_host host = {.problem = no_problem};
    ir_value arg = {.bits = {9}}, result;
    ir_arena arena;
    ir_arena_init(&arena, &cx);
    ir_interp_code *code = ir_interp_code_new(&arena, m);
    ir_interp *w = ir_interp_new(&arena, code, &host);
    uint64_t counts[3];
    for (uint64_t turn = 1; turn <= 3; turn++) {
        ir_interp_start(w, m->first_func, &arg);
        counts[turn - 1] = 0;
        ir_run state;
        do {
            uint64_t left = turn;
            state = ir_interp_run(w, &left);
            counts[turn - 1] += turn - left;
        } while (state == IR_RUN_MORE);
        cr_assert_eq(state, IR_RUN_DONE);
        ir_interp_result(w, &result);
        cr_assert_eq(result.bits[0], 34);
    }
    cr_assert_eq(counts[0], counts[1]);
    cr_assert_eq(counts[0], counts[2]);
    ir_arena_free(&arena);
    ir_module_free(m);
}

Test(interp, waits_and_goes_on) {
    ir_ctx cx = new_context();
    ir_module *m = parse(&cx, "func @f(%x: i32): i32 {\nentry:\n"
                              "  barrier workgroup workgroup seq_cst local\n"
                              "  %s: i32 = group_add %x workgroup reduce\n"
                              "  %r: i32 = add %s, 1\n  ret %r\n}\n");
    ir_interp_host host = {.problem = no_problem};
    ir_value arg = {.bits = {20}}, value;
    ir_arena arena;
    ir_arena_init(&arena, &cx);
    ir_interp_code *code = ir_interp_code_new(&arena, m);
    ir_interp *a = ir_interp_new(&arena, code, &host), *b = ir_interp_new(&arena, code, &host);
    uint64_t budget = 100;
    ir_interp_start(a, m->first_func, &arg);
    ir_interp_start(b, m->first_func, &arg);
    cr_assert_eq(ir_interp_run(a, &budget), IR_RUN_BLOCKED);
    cr_assert_eq(ir_interp_run(b, &budget), IR_RUN_BLOCKED);
    cr_assert_eq(ir_interp_at(a)->op, IR_OP_barrier);
    cr_assert_eq(ir_interp_order(a, b), 0);
    ir_interp_resume(a, NULL);
    cr_assert_eq(ir_interp_run(a, &budget), IR_RUN_BLOCKED);
    cr_assert(ir_interp_order(b, a) < 0);
    cr_assert_eq(ir_interp_at(a)->op, IR_OP_group_add);
    ir_interp_operand(a, 0, &value);
    cr_assert_eq(value.bits[0], 20);
    value.bits[0] = 40;
    ir_interp_resume(a, &value);
    cr_assert_eq(ir_interp_run(a, &budget), IR_RUN_DONE);
    ir_interp_result(a, &value);
    cr_assert_eq(value.bits[0], 41);
    ir_arena_free(&arena);
    ir_module_free(m);
}

Test(interp, lack_of_memory_is_reported) {
    ir_ctx cx = new_context();
    ir_module *m = parse(&cx, FIB);
    ir_value arg = {.bits = {5}}, result;
    for (size_t more = 0; more < 4096; more += 512) {
        cx.limit = cx.used + more;
        bool ok = ir_interp_call(m->first_func, &arg, &result);
        cr_assert(ok || strstr(last_message, "out of memory"));
    }
    cx.limit = 0;
    cr_assert(ir_interp_call(m->first_func, &arg, &result));
    cr_assert_eq(result.bits[0], 5);
    ir_module_free(m);
}
