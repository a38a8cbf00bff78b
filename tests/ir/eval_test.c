/* eval_test.c — the meaning of ops: lanes against definitions in wide arithmetic, instructions,
 * and folding.
 *
 * Integer ops are checked on every pair of 8-bit and 1-bit operands and on random wide ones,
 * against definitions over 128-bit integers that share nothing with ops.def.
 */
#include "ir/build.h"
#include "ir/eval.h"
#include "tests/random.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

static uint64_t random_bits(void) {
    static uint64_t state = 7;
    return splitmix64(&state);
}

/* -------------------------------------------------------------------------------- integer lanes */

static ir_kind kind_of_width(unsigned w) {
    return w == 1 ? IR_I1 : w == 8 ? IR_I8 : w == 16 ? IR_I16 : w == 32 ? IR_I32 : IR_I64;
}

static uint64_t lane(ir_op op, unsigned w, uint64_t a, uint64_t b, uint64_t c) {
    ir_kind k = kind_of_width(w);
    bool compares = ir_ops[op].rule == R_CMPI;
    ir_eval_env e = {op, compares ? IR_I1 : k, k, compares ? 1 : w, w, {0}};
    return ir_eval_lane(&e, (uint64_t[4]){a, b, c});
}

static i128 as_signed(uint64_t a, unsigned w) {
    return a >> (w - 1) & 1 ? (i128)a - ((i128)1 << w) : (i128)a;
}

static i128 clamp(i128 x, i128 low, i128 high) { return x < low ? low : x > high ? high : x; }

static i128 floor_half(i128 x) { return (x - (x < 0 ? (x & 1) : x % 2)) / 2; }

static i128 power_of_2(unsigned n) { return (i128)1 << n; }

/* The definition of an op with two operands; *ok is false where it has none. */
static i128 define(ir_op op, unsigned w, uint64_t a, uint64_t b, bool *ok) {
    i128 ua = (i128)a, ub = (i128)b, sa = as_signed(a, w), sb = as_signed(b, w);
    i128 umax = power_of_2(w) - 1, smin = -power_of_2(w - 1), smax = power_of_2(w - 1) - 1;
    *ok = true;
    switch (op) {
    case IR_OP_add: return ua + ub;
    case IR_OP_sub: return ua - ub;
    case IR_OP_mul: return (i128)((u128)a * b);
    case IR_OP_umulh: return (i128)((u128)a * b >> w);
    case IR_OP_smulh: return sa * sb >> w;
    case IR_OP_udiv: return (*ok = b != 0) ? ua / ub : 0;
    case IR_OP_urem: return (*ok = b != 0) ? ua % ub : 0;
    case IR_OP_sdiv: return (*ok = b != 0 && sa / sb <= smax) ? sa / sb : 0;
    case IR_OP_srem: return (*ok = b != 0 && sa / sb <= smax) ? sa % sb : 0;
    case IR_OP_shl: return ub < w ? ua * power_of_2((unsigned)b) : 0;
    case IR_OP_lshr: return ub < w ? ua / power_of_2((unsigned)b) : 0;
    case IR_OP_ashr: return sa >> (ub < w ? (unsigned)b : w - 1);
    case IR_OP_rotl: return (i128)((u128)a << b % w | (u128)a >> (w - b % w)) & umax;
    case IR_OP_umin: return ua < ub ? ua : ub;
    case IR_OP_umax: return ua < ub ? ub : ua;
    case IR_OP_smin: return sa < sb ? sa : sb;
    case IR_OP_smax: return sa < sb ? sb : sa;
    case IR_OP_sabs: return sa < 0 ? -sa : sa;
    case IR_OP_uabsdiff: return ua < ub ? ub - ua : ua - ub;
    case IR_OP_sabsdiff: return sa < sb ? sb - sa : sa - sb;
    case IR_OP_uaddsat: return clamp(ua + ub, 0, umax);
    case IR_OP_saddsat: return clamp(sa + sb, smin, smax);
    case IR_OP_usubsat: return clamp(ua - ub, 0, umax);
    case IR_OP_ssubsat: return clamp(sa - sb, smin, smax);
    case IR_OP_uhadd: return (ua + ub) / 2;
    case IR_OP_urhadd: return (ua + ub + 1) / 2;
    case IR_OP_shadd: return floor_half(sa + sb);
    case IR_OP_srhadd: return floor_half(sa + sb + 1);
    case IR_OP_eq: return ua == ub;
    case IR_OP_ne: return ua != ub;
    case IR_OP_ult: return ua < ub;
    case IR_OP_ule: return ua <= ub;
    case IR_OP_slt: return sa < sb;
    case IR_OP_sle: return sa <= sb;
    default: *ok = false; return 0;
    }
}

static bool is_integer_op(ir_op op) {
    return ir_ops[op].rule == R_INT || ir_ops[op].rule == R_BITS || ir_ops[op].rule == R_CMPI;
}

static void check_lane(ir_op op, unsigned w, uint64_t a, uint64_t b) {
    bool ok;
    i128 want = define(op, w, a, b, &ok);
    uint64_t got = lane(op, w, a, b, 0); /* must come back, defined or not */
    if (!ok) return;
    unsigned wr = ir_ops[op].rule == R_CMPI ? 1 : w;
    if (got != ir_zext((uint64_t)want, wr))
        cr_assert(false, "%s i%u %#" PRIx64 ", %#" PRIx64 ": %#" PRIx64, ir_ops[op].name, w, a, b,
                  got);
}

Test(eval, integer_ops_on_all_bytes) {
    for (ir_op op = 0; op < IR_OP_COUNT; op++) {
        if (!is_integer_op(op)) continue;
        for (uint64_t a = 0; a < 256; a++)
            for (uint64_t b = 0; b < 256; b++) check_lane(op, 8, a, b);
        for (uint64_t a = 0; a < 2; a++)
            for (uint64_t b = 0; b < 2; b++) check_lane(op, 1, a, b);
    }
}

static uint64_t random_int(unsigned w) {
    static const int64_t edges[] = {0,         1,         -1,        2,         INT8_MIN,
                                    INT16_MIN, INT32_MIN, INT64_MIN, INT64_MAX, INT32_MAX,
                                    63,        64,        65,        31,        32};
    uint64_t r = random_bits();
    if (r % 3 == 0) return ir_zext((uint64_t)edges[(r >> 8) % 15], w);
    return ir_zext(random_bits() >> ((r >> 8) & 63), w);
}

Test(eval, integer_ops_on_wide_integers) {
    for (ir_op op = 0; op < IR_OP_COUNT; op++)
        for (int i = 0; i < 6000 && is_integer_op(op); i++) {
            unsigned w = i % 3 == 0 ? 16 : i % 3 == 1 ? 32 : 64;
            check_lane(op, w, random_int(w), random_int(w));
        }
}

static unsigned slow_count(uint64_t a, unsigned w, ir_op op) {
    unsigned n = 0;
    for (unsigned i = 0; i < w; i++) {
        bool bit = a >> (op == IR_OP_clz ? w - 1 - i : i) & 1;
        if (op == IR_OP_popcount)
            n += bit;
        else if (bit)
            break;
        else
            n++;
    }
    return n;
}

Test(eval, counts_and_reversals) {
    static const unsigned widths[] = {1, 8, 16, 32, 64};
    for (int i = 0; i < 20000; i++) {
        unsigned w = widths[i % 5];
        uint64_t a = random_int(w), reversed = lane(IR_OP_bitrev, w, a, 0, 0);
        for (ir_op op = IR_OP_clz; op <= IR_OP_popcount; op++)
            cr_assert_eq(lane(op, w, a, 0, 0), ir_zext(slow_count(a, w, op), w), "%s i%u %#" PRIx64,
                         ir_ops[op].name, w, a);
        for (unsigned bit = 0; bit < w; bit++)
            cr_assert_eq(a >> bit & 1, reversed >> (w - 1 - bit) & 1);
    }
}

Test(eval, multiply_add_saturates) {
    for (int i = 0; i < 50000; i++) {
        unsigned w = i & 1 ? 32 : 8;
        uint64_t a = random_int(w), b = random_int(w), c = random_int(w);
        i128 top = power_of_2(w - 1), s = as_signed(a, w) * as_signed(b, w) + as_signed(c, w);
        i128 u = (i128)a * (i128)b + (i128)c;
        cr_assert_eq(lane(IR_OP_umadsat, w, a, b, c), (uint64_t)clamp(u, 0, 2 * top - 1));
        cr_assert_eq(lane(IR_OP_smadsat, w, a, b, c),
                     ir_zext((uint64_t)clamp(s, -top, top - 1), w));
    }
    cr_expect_eq(lane(IR_OP_umadsat, 64, UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
    cr_expect_eq(lane(IR_OP_smadsat, 64, UINT64_C(1) << 63, 2, 1), UINT64_C(1) << 63);
    cr_expect_eq(lane(IR_OP_smadsat, 64, UINT64_C(1) << 63, UINT64_C(1) << 63, 0), INT64_MAX);
}

/* Parts of `size` bits one after the other. */
static i128 slow_dot(uint64_t a, uint64_t b, unsigned w, unsigned size, bool is_signed) {
    i128 sum = 0;
    for (unsigned k = 0; k < w; k += size) {
        uint64_t x = ir_zext(a >> k, size), y = ir_zext(b >> k, size);
        sum += (is_signed ? as_signed(x, size) : (i128)x) * as_signed(y, size);
    }
    return sum;
}

Test(eval, dot_products) {
    for (int i = 0; i < 50000; i++) {
        unsigned w = 8u << i % 4;
        uint64_t a = random_int(w), b = random_int(w), c = random_int(w);
        i128 bytes = slow_dot(a, b, w, 8, false), words = slow_dot(a, b, w, w < 16 ? w : 16, true);
        i128 top = power_of_2(w - 1), s = as_signed(c, w);
        cr_assert_eq(lane(IR_OP_bytedot, w, a, b, 0), ir_zext((uint64_t)bytes, w));
        cr_assert_eq(lane(IR_OP_worddot, w, a, b, 0), ir_zext((uint64_t)words, w));
        cr_assert_eq(lane(IR_OP_bytedotsat, w, a, b, c),
                     ir_zext((uint64_t)clamp(bytes + s, -top, top - 1), w));
    }
}

Test(eval, undefined_divisions_come_back) {
    for (unsigned i = 0; i < 4; i++) {
        ir_op op = (ir_op[]){IR_OP_udiv, IR_OP_sdiv, IR_OP_urem, IR_OP_srem}[i];
        cr_expect_eq(lane(op, 64, 5, 0, 0), 0);
        lane(op, 64, UINT64_C(1) << 63, UINT64_MAX, 0);
        lane(op, 8, 0x80, 0xff, 0);
        lane(op, 1, 1, 1, 0);
    }
}

/* ---------------------------------------------------------------------------------- float lanes */

static uint64_t f32(float x) {
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static float float_of(uint64_t bits) {
    uint32_t b = (uint32_t)bits;
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static unsigned result_width(ir_op op) {
    ir_rule r = ir_ops[op].rule;
    return r == R_CMPF || r == R_TESTF ? 1 : 32;
}

static uint64_t flane(ir_op op, uint64_t a, uint64_t b, uint64_t c) {
    ir_eval_env e = {op, IR_F32, IR_F32, result_width(op), 32, {0}};
    return ir_eval_lane(&e, (uint64_t[4]){a, b, c});
}

static const float edge_floats[] = {0.0f,    -0.0f,     0.5f,       -0.5f,     1,
                                    -1,      1.5f,      -2.75f,     3,         1e30f,
                                    -1e30f,  0x1p-149f, -0x1p-149f, 0x1p-126f, 0x1.fffffep127f,
                                    -1e-20f, 8388609,   INFINITY,   -INFINITY, NAN};
enum { EDGES = sizeof edge_floats / sizeof *edge_floats };

static float some_float(unsigned i) {
    float x = i < EDGES ? edge_floats[i] : float_of((uint32_t)random_bits());
    return isnan(x) ? (float)NAN : x; /* C's functions differ on signaling ones */
}

static void expect_float(ir_op op, float a, float b, uint64_t got, float want) {
    uint64_t w = isnan(want) ? 0x7fc00000 : f32(want);
    if (got != w)
        cr_assert(false, "%s(%a, %a): %a, want %a", ir_ops[op].name, (double)a, (double)b,
                  (double)float_of(got), (double)want);
}

static void check_unary(float x) {
    float whole, want = modff(x, &whole);
    uint64_t a = f32(x);
    int e = 0;
    expect_float(IR_OP_fmodf_part, x, 0, flane(IR_OP_fmodf_part, a, 0, 0), want);
    want = isinf(x) || x == 0 ? copysignf(0, x) : fminf(x - floorf(x), 0x1.fffffep-1f);
    if (isnan(x)) want = x;
    expect_float(IR_OP_fract_part, x, 0, flane(IR_OP_fract_part, a, 0, 0), want);
    want = frexpf(x, &e);
    expect_float(IR_OP_frexp_m, x, 0, flane(IR_OP_frexp_m, a, 0, 0), want);
    if (isfinite(x)) cr_assert_eq(flane(IR_OP_frexp_e, a, 0, 0), (uint32_t)e);
    expect_float(IR_OP_logb, x, 0, flane(IR_OP_logb, a, 0, 0), logbf(x));
    want = isnan(x) ? 0 : x > 0 ? 1 : x < 0 ? -1 : x;
    expect_float(IR_OP_sign, x, 0, flane(IR_OP_sign, a, 0, 0), want);
    cr_assert_eq(flane(IR_OP_isnormal, a, 0, 0), !!isnormal(x));
    cr_assert_eq(flane(IR_OP_isfinite, a, 0, 0), !!isfinite(x));
    cr_assert_eq(flane(IR_OP_isinf, a, 0, 0), !!isinf(x));
    cr_assert_eq(flane(IR_OP_signbit, a, 0, 0), !!signbit(x));
    cr_assert_eq(flane(IR_OP_fneg, a, 0, 0), a ^ 0x80000000);
    cr_assert_eq(flane(IR_OP_fabs, a, 0, 0), a & 0x7fffffff);
    expect_float(IR_OP_degrees, x, 0, flane(IR_OP_degrees, a, 0, 0), x * 57.295779513082320877f);
}

Test(eval, unary_float_lanes) {
    for (unsigned i = 0; i < 20000; i++) check_unary(some_float(i));
}

static void check_binary(float x, float y) {
    uint64_t a = f32(x), b = f32(y);
    expect_float(IR_OP_fdim, x, y, flane(IR_OP_fdim, a, b, 0), fdimf(x, y));
    float want = fabsf(x) > fabsf(y) ? x : fabsf(y) > fabsf(x) ? y : fmaxf(x, y);
    if (!(x == 0 && y == 0)) {
        expect_float(IR_OP_maxmag, x, y, flane(IR_OP_maxmag, a, b, 0), want);
        want = fabsf(x) < fabsf(y) ? x : fabsf(y) < fabsf(x) ? y : fminf(x, y);
        expect_float(IR_OP_minmag, x, y, flane(IR_OP_minmag, a, b, 0), want);
    }
    expect_float(IR_OP_step, x, y, flane(IR_OP_step, a, b, 0), y < x ? 0 : 1);
    cr_assert_eq(flane(IR_OP_copysign, a, b, 0), (a & 0x7fffffff) | (b & 0x80000000));
    bool unordered = isunordered(x, y);
    cr_assert_eq(flane(IR_OP_foeq, a, b, 0), x == y);
    cr_assert_eq(flane(IR_OP_fone, a, b, 0), x < y || x > y);
    cr_assert_eq(flane(IR_OP_folt, a, b, 0), x < y);
    cr_assert_eq(flane(IR_OP_fole, a, b, 0), x <= y);
    cr_assert_eq(flane(IR_OP_fueq, a, b, 0), x == y || unordered);
    cr_assert_eq(flane(IR_OP_fune, a, b, 0), x != y);
    cr_assert_eq(flane(IR_OP_fult, a, b, 0), x < y || unordered);
    cr_assert_eq(flane(IR_OP_fule, a, b, 0), x <= y || unordered);
    cr_assert_eq(flane(IR_OP_ford, a, b, 0), !unordered);
    cr_assert_eq(flane(IR_OP_funo, a, b, 0), unordered);
}

Test(eval, binary_float_lanes) {
    for (unsigned i = 0; i < EDGES; i++)
        for (unsigned j = 0; j < EDGES; j++) check_binary(some_float(i), some_float(j));
    for (int i = 0; i < 20000; i++) check_binary(some_float(EDGES), some_float(EDGES));
}

Test(eval, ternary_float_lanes) {
    cr_expect_eq(flane(IR_OP_mix, f32(1), f32(3), f32(0.25f)), f32(1.5f));
    cr_expect_eq(flane(IR_OP_fclamp, f32(5), f32(0), f32(1)), f32(1));
    cr_expect_eq(flane(IR_OP_smoothstep, f32(0), f32(2), f32(1)), f32(0.5f));
    cr_expect_eq(flane(IR_OP_smoothstep, f32(0), f32(2), f32(9)), f32(1));
    cr_expect_eq(flane(IR_OP_smoothstep, f32(0), f32(2), f32(-9)), f32(0));
    cr_expect_eq(flane(IR_OP_fma, f32(2), f32(3), f32(4)), f32(10));
}

Test(eval, nan_payloads_and_gamma_signs) {
    ir_eval_env e = {IR_OP_nan, IR_F32, IR_I32, 32, 32, {0}};
    cr_expect_eq(ir_eval_lane(&e, (uint64_t[4]){5}), 0x7fc00005);
    cr_expect_eq(ir_eval_lane(&e, (uint64_t[4]){UINT32_MAX}), 0x7fffffff);
    static const struct {
        float x;
        int sign;
    } gamma[] = {{3, 1}, {-0.5f, -1}, {-1.5f, 1}, {-2.5f, -1}, {-3, 0}, {0, 0}, {-0.0f, 0}};
    for (size_t i = 0; i < sizeof gamma / sizeof *gamma; i++)
        cr_expect_eq((int32_t)flane(IR_OP_lgamma_sign, f32(gamma[i].x), 0, 0), gamma[i].sign);
}

/* --------------------------------------------------------------------------------- instructions */

typedef struct {
    ir_ctx cx;
    ir_module *m;
    ir_func *f;
    ir_builder b;
} world;

static ir_func *begin(world *w) {
    memset(w, 0, sizeof *w);
    w->m = ir_module_new(&w->cx, "test", 64);
    w->f = ir_func_new(w->m, "f", IR_VOID, 0, NULL);
    ir_builder_init(&w->b, w->f);
    ir_at_end(&w->b, ir_block_new(w->f, "entry"));
    return w->f;
}

static void end(world *w) { ir_module_free(w->m); }

static ir_type i32, v4i32, v2i64, i1, v4i1;

static void set_types(void) {
    i1 = ir_scalar(IR_I1);
    i32 = ir_scalar(IR_I32);
    v4i32 = ir_vector(i32, 4);
    v4i1 = ir_vector(i1, 4);
    v2i64 = ir_vector(ir_scalar(IR_I64), 2);
}

/* What an instruction folds to. */
static ir_inst *fold(world *w, ir_op op, ir_type t, ir_imm imm, unsigned n, ir_inst *const *args) {
    return ir_fold(w->f, ir_build_raw(&w->b, op, t, ir_with_imm(imm), (ir_args){n, args}));
}

#define FOLD(op, t, ...)                                                                           \
    fold(&w, IR_OP_##op, t, (ir_imm){0}, sizeof((ir_inst *[]){__VA_ARGS__}) / sizeof(ir_inst *),   \
         (ir_inst *[]){__VA_ARGS__})

static ir_inst *lanes4(ir_func *f, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return ir_const_lanes(f, v4i32, (uint64_t[]){a, b, c, d});
}

Test(fold, arithmetic, .init = set_types) {
    world w;
    ir_func *f = begin(&w);
    ir_inst *two = ir_const(f, i32, 2), *three = ir_const(f, i32, 3), *zero = ir_const(f, i32, 0);
    ir_inst *any = ir_undef(f, i32), *v = lanes4(f, 1, 2, 3, 0xffffffff);
    cr_expect_eq(FOLD(add, i32, two, three), ir_const(f, i32, 5));
    cr_expect_eq(FOLD(sub, i32, two, three), ir_const(f, i32, 0xffffffff));
    cr_expect_eq(FOLD(add, i32, two, any), two, "undef counts as 0");
    cr_expect_eq(FOLD(ult, i1, two, three), ir_const(f, i1, 1));
    cr_expect_eq(FOLD(add, v4i32, v, v), lanes4(f, 2, 4, 6, 0xfffffffe));
    cr_expect_eq(FOLD(slt, v4i1, v, lanes4(f, 2, 2, 2, 2)),
                 ir_const_lanes(f, v4i1, (uint64_t[]){1, 0, 0, 1}));
    cr_expect_null(FOLD(udiv, i32, two, zero));
    cr_expect_null(FOLD(urem, i32, two, any));
    cr_expect_null(FOLD(sdiv, i32, ir_const(f, i32, 0x80000000), ir_const(f, i32, 0xffffffff)));
    cr_expect_null(FOLD(sdiv, v4i32, v, lanes4(f, 1, 1, 0, 1)));
    cr_expect_eq(FOLD(zext, ir_scalar(IR_I64), two), ir_const(f, ir_scalar(IR_I64), 2));
    cr_expect_null(FOLD(sin, ir_scalar(IR_F32), ir_const_float(f, ir_scalar(IR_F32), 1)));
    end(&w);
}

Test(fold, casts, .init = set_types) {
    world w;
    ir_func *f = begin(&w);
    ir_type i64 = ir_scalar(IR_I64), f32_ = ir_scalar(IR_F32), i8 = ir_scalar(IR_I8);
    ir_inst *v = lanes4(f, 1, 2, 3, 4), *null = ir_const(f, ir_ptr(IR_GLOBAL), 0);
    uint64_t wide[2] = {0x200000001, 0x400000003};
    cr_expect_eq(FOLD(bitcast, v2i64, v), ir_const_lanes(f, v2i64, wide));
    cr_expect_eq(FOLD(bitcast, v4i32, ir_const_lanes(f, v2i64, wide)), v);
    cr_expect_eq(FOLD(bitcast, f32_, ir_const(f, i32, 0x3fc00000)), ir_const_float(f, f32_, 1.5));
    uint64_t bytes[4] = {0x78, 0x56, 0x34, 0x12};
    cr_expect_eq(FOLD(bitcast, i32, ir_const_lanes(f, ir_vector(i8, 4), bytes)),
                 ir_const(f, i32, 0x12345678));
    cr_expect_eq(FOLD(bitcast, i32, ir_undef(f, f32_)), ir_undef(f, i32));
    cr_expect_eq(FOLD(ptrtoint, i64, null), ir_const(f, i64, 0));
    cr_expect_eq(FOLD(inttoptr, ir_ptr(IR_GLOBAL), ir_const(f, i64, 16)),
                 ir_const(f, ir_ptr(IR_GLOBAL), 16));
    cr_expect_eq(FOLD(ptradd, ir_ptr(IR_GLOBAL), null, ir_const(f, i64, 8)),
                 ir_const(f, ir_ptr(IR_GLOBAL), 8));
    cr_expect_eq(FOLD(ptrcast, ir_ptr(IR_GENERIC), null), ir_const(f, ir_ptr(IR_GENERIC), 0));
    cr_expect_eq(FOLD(ptrcast_to, ir_ptr(IR_LOCAL), ir_const(f, ir_ptr(IR_GENERIC), 0)),
                 ir_const(f, ir_ptr(IR_LOCAL), 0));
    cr_expect_null(FOLD(ptrcast_to, ir_ptr(IR_LOCAL), ir_const(f, ir_ptr(IR_GENERIC), 8)));
    end(&w);
}

Test(fold, pointers_of_32_bits) {
    ir_ctx cx = {0};
    ir_module *m = ir_module_new(&cx, "test", 32);
    ir_func *f = ir_func_new(m, "f", IR_VOID, 0, NULL);
    ir_builder b;
    ir_builder_init(&b, f);
    ir_at_end(&b, ir_block_new(f, "entry"));
    ir_type p = ir_ptr(IR_GLOBAL), i64 = ir_scalar(IR_I64);
    ir_inst *i =
        ir_build_raw(&b, IR_OP_inttoptr, p, IR_PLAIN, IR_ARGS(ir_const(f, i64, 0x123456789)));
    cr_expect_eq(ir_fold(f, i), ir_const(f, p, 0x23456789));
    ir_module_free(m);
}

Test(fold, vectors, .init = set_types) {
    world w;
    ir_func *f = begin(&w);
    ir_inst *v = lanes4(f, 1, 2, 3, 4), *none = ir_undef(f, v4i32), *any = ir_undef(f, i32);
    ir_inst *seven = ir_const(f, i32, 7), *two = ir_const(f, i32, 2), *nine = ir_const(f, i32, 9);
    cr_expect_eq(FOLD(extract, i32, v, two), ir_const(f, i32, 3));
    cr_expect_eq(FOLD(extract, i32, none, two), any);
    cr_expect_eq(FOLD(extract, i32, v, nine), any);
    cr_expect_eq(FOLD(insert, v4i32, v, seven, two), lanes4(f, 1, 2, 7, 4));
    cr_expect_eq(FOLD(insert, v4i32, v, any, two), v);
    cr_expect_eq(FOLD(insert, v4i32, v, seven, nine), v);
    cr_expect_eq(FOLD(insert, v4i32, none, seven, two), lanes4(f, 0, 0, 7, 0));
    cr_expect_eq(FOLD(insert, v4i32, none, any, two), none);
    cr_expect_eq(FOLD(vec, v4i32, seven, two, any, nine), lanes4(f, 7, 2, 0, 9));
    cr_expect_eq(FOLD(vec, v4i32, any, any, any, any), none);
    ir_imm swap = {.mask = (const uint8_t[]){3, 4, 255, 0}},
           right = {.mask = (const uint8_t[]){4, 5, 6, 255}};
    ir_inst *both[2] = {v, lanes4(f, 5, 6, 7, 8)}, *half[2] = {v, none};
    cr_expect_eq(fold(&w, IR_OP_shuffle, v4i32, swap, 2, both), lanes4(f, 4, 5, 0, 1));
    cr_expect_eq(fold(&w, IR_OP_shuffle, v4i32, right, 2, half), none);
    ir_inst *some = ir_const_lanes(f, v4i1, (uint64_t[]){0, 1, 0, 0});
    cr_expect_eq(FOLD(any, i1, some), ir_const(f, i1, 1));
    cr_expect_eq(FOLD(all, i1, some), ir_const(f, i1, 0));
    cr_expect_eq(FOLD(all, i1, ir_const(f, v4i1, 1)), ir_const(f, i1, 1));
    end(&w);
}

Test(fold, wide_vec, .init = set_types) {
    world w;
    ir_func *f = begin(&w);
    ir_inst *parts[16];
    uint64_t want[16];
    for (unsigned i = 0; i < 16; i++) parts[i] = ir_const(f, i32, want[i] = 3 * i + 1);
    ir_type v16 = ir_vector(i32, 16);
    cr_expect_eq(fold(&w, IR_OP_vec, v16, (ir_imm){0}, 16, parts), ir_const_lanes(f, v16, want));
    end(&w);
}

Test(fold, select, .init = set_types) {
    world w;
    ir_func *f = begin(&w);
    ir_inst *yes = ir_const(f, i1, 1), *no = ir_const(f, i1, 0), *maybe = ir_undef(f, i1);
    ir_inst *a = lanes4(f, 1, 2, 3, 4), *b = lanes4(f, 5, 6, 7, 8), *none = ir_undef(f, v4i32);
    ir_inst *mask = ir_const_lanes(f, v4i1, (uint64_t[]){0, 1, 0, 1});
    cr_expect_eq(FOLD(select, v4i32, yes, a, b), a);
    cr_expect_eq(FOLD(select, v4i32, no, a, none), none);
    cr_expect_eq(FOLD(select, v4i32, mask, a, b), lanes4(f, 5, 2, 7, 4));
    cr_expect_eq(FOLD(select, v4i32, mask, a, none), lanes4(f, 0, 2, 0, 4));
    ir_inst *chosen = FOLD(select, v4i32, maybe, a, b);
    cr_expect(chosen == a || chosen == b);
    end(&w);
}

Test(eval, vector_functions_need_libm, .init = set_types) {
    world w;
    ir_func *f = begin(&w);
    ir_type v2f32 = ir_vector(ir_scalar(IR_F32), 2);
    ir_inst *v = ir_const_lanes(f, v2f32, (uint64_t[]){f32(3), f32(4)});
    ir_inst *i = ir_build_raw(&w.b, IR_OP_length, ir_scalar(IR_F32), IR_PLAIN, IR_ARGS(v));
    uint64_t lanes[2] = {f32(3), f32(4)}, *args[1] = {lanes}, out[1];
    cr_expect(!ir_eval(w.m, i, args, out, false));
    cr_expect(ir_eval(w.m, i, args, out, true));
    cr_expect_eq(out[0], f32(5));
    cr_expect_null(ir_fold(f, i));
    end(&w);
}

Test(eval, knows_which_ops_have_a_meaning) {
    cr_expect(ir_has_eval(IR_OP_add));
    cr_expect(ir_has_eval(IR_OP_nan));
    cr_expect(ir_has_eval(IR_OP_sin));
    cr_expect(!ir_has_eval(IR_OP_load));
    cr_expect(!ir_has_eval(IR_OP_select));
}
