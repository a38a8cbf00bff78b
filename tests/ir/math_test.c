/* math_test.c — math functions against MPFR, in ulps, and their edge cases.
 *
 * Random arguments over the interesting range of each function, for F32 and F64 (and a sample of
 * F16).  F16 and F32 results have to be the correctly rounded ones but for a rare one beside it,
 * F64 results within one ulp; OpenCL's limits for the full profile are wider than both.
 */
#include "tests/oracle.h"

#include <criterion/criterion.h>
#include <inttypes.h>

/* -------------------------------------------------------------------------------------- oracles */

typedef struct {
    ir_op op;
    int (*oracle)(mpfr_t out, const mpfr_t x, mpfr_rnd_t mode);
    double low, high; /* of the arguments */
    double limit;     /* ulps for F64 */
} function;

static const function functions[] = {
    {IR_OP_acos, mpfr_acos, -1, 1, 1},
    {IR_OP_acosh, mpfr_acosh, 1, 1e30, 1},
    {IR_OP_acospi, oracle_acospi, -1, 1, 1},
    {IR_OP_asin, mpfr_asin, -1, 1, 1},
    {IR_OP_asinh, mpfr_asinh, -1e30, 1e30, 1},
    {IR_OP_asinpi, oracle_asinpi, -1, 1, 1},
    {IR_OP_atan, mpfr_atan, -1e10, 1e10, 1},
    {IR_OP_atanh, mpfr_atanh, -1, 1, 1},
    {IR_OP_atanpi, oracle_atanpi, -1e10, 1e10, 1},
    {IR_OP_cbrt, mpfr_cbrt, -1e38, 1e38, 1},
    {IR_OP_cos, mpfr_cos, -1e30, 1e30, 1},
    {IR_OP_cosh, mpfr_cosh, -90, 90, 1},
    {IR_OP_cospi, oracle_cospi, -1e9, 1e9, 1},
    {IR_OP_erf, mpfr_erf, -6, 6, 1},
    {IR_OP_erfc, mpfr_erfc, -6, 10, 1},
    {IR_OP_exp, mpfr_exp, -120, 100, 1},
    {IR_OP_exp2, mpfr_exp2, -160, 130, 1},
    {IR_OP_exp10, mpfr_exp10, -50, 40, 1},
    {IR_OP_expm1, mpfr_expm1, -50, 90, 1},
    {IR_OP_lgamma, oracle_lgamma, 0.001, 1e10, 2},
    {IR_OP_log, mpfr_log, 1e-44, 1e38, 1},
    {IR_OP_log2, mpfr_log2, 1e-44, 1e38, 1},
    {IR_OP_log10, mpfr_log10, 1e-44, 1e38, 1},
    {IR_OP_log1p, mpfr_log1p, -1, 1e30, 1},
    {IR_OP_rsqrt, mpfr_rec_sqrt, 1e-40, 1e38, 1},
    {IR_OP_sin, mpfr_sin, -1e30, 1e30, 1},
    {IR_OP_sinh, mpfr_sinh, -90, 90, 1},
    {IR_OP_sinpi, oracle_sinpi, -1e9, 1e9, 1},
    {IR_OP_tan, mpfr_tan, -1e30, 1e30, 1},
    {IR_OP_tanh, mpfr_tanh, -20, 20, 1},
    {IR_OP_tanpi, oracle_tanpi, -1e9, 1e9, 1},
    {IR_OP_tgamma, mpfr_gamma, -5.5, 35, 2},
    {IR_OP_half_cos, mpfr_cos, -100, 100, 1},
    {IR_OP_native_exp2, mpfr_exp2, -100, 100, 1},
    {IR_OP_half_rsqrt, mpfr_rec_sqrt, 1e-30, 1e30, 1},
    {IR_OP_native_log10, mpfr_log10, 1e-30, 1e30, 1},
};

/* --------------------------------------------------------------------------------------- errors */

static double error_of(const function *f, ir_kind k, double at) {
    uint64_t a = ir_fp_from_double(k, at);
    mpfr_t x, want;
    mpfr_inits2(200, x, want, (mpfr_ptr)0);
    mpfr_set_d(x, ir_fp_to_double(k, a), MPFR_RNDN);
    f->oracle(want, x, MPFR_RNDN);
    double error = ulps(k, ir_math1(f->op, k, a), want);
    mpfr_clears(x, want, (mpfr_ptr)0);
    return error;
}

static void measure(const function *f, ir_kind k, int points, double limit) {
    double worst = 0, where = 0;
    for (int i = 0; i < points; i++) {
        double at = argument(f->low, f->high), error = error_of(f, k, at);
        if (error > worst) worst = error, where = at;
    }
    cr_expect(worst <= limit, "%s: %g ulp at %a", ir_ops[f->op].name, worst, where);
}

Test(math, functions_of_f64) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        measure(&functions[i], IR_F64, 1000, functions[i].limit);
}

Test(math, functions_of_f32_are_correctly_rounded) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        measure(&functions[i], IR_F32, 1500, 0.5001);
}

Test(math, functions_of_f16_are_correctly_rounded) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        measure(&functions[i], IR_F16, 300, 0.5001);
}

/* -------------------------------------------------------------------------------- two arguments */

typedef int oracle2(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t mode);

static double error2(ir_op op, oracle2 *oracle, ir_kind k, uint64_t a, uint64_t b, double y_value) {
    mpfr_t x, y, want;
    mpfr_inits2(200, x, y, want, (mpfr_ptr)0);
    mpfr_set_d(x, ir_fp_to_double(k, a), MPFR_RNDN);
    mpfr_set_d(y, y_value, MPFR_RNDN);
    oracle(want, x, y, MPFR_RNDN);
    double error = ulps(k, ir_math2(op, k, a, b), want);
    mpfr_clears(x, y, want, (mpfr_ptr)0);
    return error;
}

Test(math, two_arguments) {
    static const struct {
        ir_op op;
        oracle2 *oracle;
        double low, high, low2, high2;
    } pairs[] = {{IR_OP_atan2, mpfr_atan2, -100, 100, -100, 100},
                 {IR_OP_atan2pi, oracle_atan2pi, -100, 100, -100, 100},
                 {IR_OP_hypot, mpfr_hypot, -1e30, 1e30, -1e30, 1e30},
                 {IR_OP_pow, mpfr_pow, 0.001, 1000, -12, 12},
                 {IR_OP_powr, mpfr_pow, 0.001, 1000, -12, 12},
                 {IR_OP_half_divide, mpfr_div, -1e5, 1e5, 0.01, 1e5},
                 {IR_OP_native_powr, mpfr_pow, 0.001, 1000, -12, 12}};
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
        for (int i = 0; i < 3000; i++) {
            ir_kind k = i & 1 ? IR_F32 : IR_F64;
            uint64_t a = ir_fp_from_double(k, argument(pairs[p].low, pairs[p].high));
            uint64_t b = ir_fp_from_double(k, argument(pairs[p].low2, pairs[p].high2));
            double error = error2(pairs[p].op, pairs[p].oracle, k, a, b, ir_fp_to_double(k, b));
            cr_assert(error <= (k == IR_F32 ? 0.5001 : 1), "%s(%a, %a): %g ulp",
                      ir_ops[pairs[p].op].name, ir_fp_to_double(k, a), ir_fp_to_double(k, b),
                      error);
        }
}

Test(math, integer_powers_and_roots) {
    for (int i = 0; i < 4000; i++) {
        ir_kind k = i & 1 ? IR_F32 : IR_F64;
        int32_t n = (int32_t)(random_bits() % 41) - 20;
        uint64_t a = ir_fp_from_double(k, argument(-50, 50));
        double limit = k == IR_F32 ? 0.5001 : 1;
        cr_assert(error2(IR_OP_pown, mpfr_pow, k, a, (uint32_t)n, n) <= limit);
        double error = error2(IR_OP_rootn, oracle_rootn, k, a, (uint32_t)n, n);
        cr_assert(error <= limit, "rootn(%a, %d): %g ulp", ir_fp_to_double(k, a), n, error);
    }
}

/* ----------------------------------------------------------------------------------- edge cases */

static uint64_t f32(double x) { return ir_fp_from_double(IR_F32, x); }

static void expect1(ir_op op, double x, double want) {
    uint64_t got = ir_math1(op, IR_F32, f32(x));
    cr_expect_eq(got, f32(want), "%s(%g) = %g, want %g", ir_ops[op].name, x,
                 ir_fp_to_double(IR_F32, got), want);
}

static void expect2(ir_op op, double x, double y, double want) {
    uint64_t got = ir_math2(op, IR_F32, f32(x), f32(y));
    cr_expect_eq(got, f32(want), "%s(%g, %g) = %g, want %g", ir_ops[op].name, x, y,
                 ir_fp_to_double(IR_F32, got), want);
}

static void expect_int(ir_op op, double x, int32_t n, double want) {
    uint64_t got = ir_math2(op, IR_F32, f32(x), (uint32_t)n);
    cr_expect_eq(got, f32(want), "%s(%g, %d) = %g, want %g", ir_ops[op].name, x, n,
                 ir_fp_to_double(IR_F32, got), want);
}

static const double inf = INFINITY, nan_ = NAN;

Test(math, edges_of_pi_functions) {
    expect1(IR_OP_sinpi, 0, 0);
    expect1(IR_OP_sinpi, -0.0, -0.0);
    expect1(IR_OP_sinpi, 3, 0);
    expect1(IR_OP_sinpi, -3, -0.0);
    expect1(IR_OP_sinpi, 0.5, 1);
    expect1(IR_OP_sinpi, -1.5, 1);
    expect1(IR_OP_sinpi, 16777217.5, 0);
    expect1(IR_OP_sinpi, inf, nan_);
    expect1(IR_OP_cospi, 0, 1);
    expect1(IR_OP_cospi, 1, -1);
    expect1(IR_OP_cospi, -1, -1);
    for (double x = -3.5; x < 4; x++) expect1(IR_OP_cospi, x, 0);
    expect1(IR_OP_cospi, -inf, nan_);
    expect1(IR_OP_tanpi, 0, 0);
    expect1(IR_OP_tanpi, -0.0, -0.0);
    expect1(IR_OP_tanpi, 2, 0);
    expect1(IR_OP_tanpi, -2, -0.0);
    expect1(IR_OP_tanpi, 1, -0.0);
    expect1(IR_OP_tanpi, -1, 0);
    expect1(IR_OP_tanpi, 0.5, inf);
    expect1(IR_OP_tanpi, 1.5, -inf);
    expect1(IR_OP_tanpi, -0.5, -inf);
    expect1(IR_OP_tanpi, -1.5, inf);
    expect1(IR_OP_tanpi, 0.25, 1);
    expect1(IR_OP_tanpi, inf, nan_);
    expect1(IR_OP_asinpi, 1, 0.5);
    expect1(IR_OP_acospi, 1, 0);
    expect1(IR_OP_acospi, -1, 1);
    expect1(IR_OP_atanpi, inf, 0.5);
    expect1(IR_OP_atanpi, -1, -0.25);
    expect2(IR_OP_atan2pi, 0, -1, 1);
    expect2(IR_OP_atan2pi, -0.0, -0.0, -1);
    expect2(IR_OP_atan2pi, 0, 0, 0);
    expect2(IR_OP_atan2pi, -1, 0, -0.5);
    expect2(IR_OP_atan2pi, 1, -inf, 1);
    expect2(IR_OP_atan2pi, -inf, -inf, -0.75);
    expect2(IR_OP_atan2pi, inf, inf, 0.25);
}

Test(math, edges_of_powers) {
    expect2(IR_OP_pow, nan_, 0, 1);
    expect2(IR_OP_pow, 1, nan_, 1);
    expect2(IR_OP_pow, -0.0, -3, -inf);
    expect2(IR_OP_pow, -0.0, -inf, inf);
    expect2(IR_OP_pow, -1, inf, 1);
    expect2(IR_OP_pow, -8, 1.5, nan_);
    expect2(IR_OP_powr, 0, 0, nan_);
    expect2(IR_OP_powr, inf, 0, nan_);
    expect2(IR_OP_powr, 1, inf, nan_);
    expect2(IR_OP_powr, 1, nan_, nan_);
    expect2(IR_OP_powr, nan_, 0, nan_);
    expect2(IR_OP_powr, -2, 2, nan_);
    expect2(IR_OP_powr, -0.0, -1, inf);
    expect2(IR_OP_powr, -0.0, -inf, inf);
    expect2(IR_OP_powr, -0.0, 3, 0);
    expect2(IR_OP_powr, 5, 0, 1);
    expect_int(IR_OP_pown, nan_, 0, 1);
    expect_int(IR_OP_pown, -0.0, -1, -inf);
    expect_int(IR_OP_pown, -0.0, -2, inf);
    expect_int(IR_OP_pown, -2, 3, -8);
    expect_int(IR_OP_pown, -1, INT32_MIN, 1);
    expect_int(IR_OP_rootn, -0.0, -3, -inf);
    expect_int(IR_OP_rootn, -0.0, -2, inf);
    expect_int(IR_OP_rootn, -0.0, 2, 0);
    expect_int(IR_OP_rootn, -0.0, 3, -0.0);
    expect_int(IR_OP_rootn, -8, 3, -2);
    expect_int(IR_OP_rootn, -8, 2, nan_);
    expect_int(IR_OP_rootn, 8, 0, nan_);
    expect_int(IR_OP_rootn, 32, -5, 0.5);
    expect_int(IR_OP_rootn, -inf, 5, -inf);
    expect_int(IR_OP_rootn, inf, -4, 0);
    expect1(IR_OP_exp10, 10, 1e10);
    expect1(IR_OP_exp10, -inf, 0);
    expect2(IR_OP_hypot, inf, nan_, inf);
    expect2(IR_OP_hypot, 3e38, 0, 3e38);
}

Test(math, edges_of_the_rest) {
    expect1(IR_OP_tgamma, 0, inf);
    expect1(IR_OP_tgamma, -0.0, -inf);
    expect1(IR_OP_tgamma, -2, nan_);
    expect1(IR_OP_tgamma, 5, 24);
    expect1(IR_OP_lgamma, 1, 0);
    expect1(IR_OP_lgamma, -3, inf);
    expect1(IR_OP_log, 0, -inf);
    expect1(IR_OP_log, -1, nan_);
    expect1(IR_OP_log1p, -1, -inf);
    expect1(IR_OP_rsqrt, 0, inf);
    expect1(IR_OP_rsqrt, 4, 0.5);
    expect1(IR_OP_half_recip, 4, 0.25);
    expect1(IR_OP_native_sqrt, -0.0, -0.0);
    expect1(IR_OP_sin, -0.0, -0.0);
    expect1(IR_OP_cbrt, -27, -3);
    expect1(IR_OP_exp, nan_, nan_);
    expect1(IR_OP_acosh, 0.5, nan_);
}

/* -------------------------------------------------------------------------------------- vectors */

static void expect_vector(ir_op op, unsigned n, const double *a, const double *b, unsigned results,
                          const double *want) {
    uint64_t x[4], y[4], out[4];
    for (unsigned i = 0; i < n; i++) x[i] = f32(a[i]), y[i] = b ? f32(b[i]) : 0;
    ir_math_vector(op, ir_vector(IR_F32, n), x, y, out);
    for (unsigned i = 0; i < results; i++)
        cr_expect_eq(out[i], f32(want[i]), "%s lane %u: %g, want %g", ir_ops[op].name, i,
                     ir_fp_to_double(IR_F32, out[i]), want[i]);
}

#define V(...) ((const double[]){__VA_ARGS__})

Test(math, vectors) {
    expect_vector(IR_OP_dot, 3, V(1, 2, 3), V(4, 5, 6), 1, V(32));
    expect_vector(IR_OP_dot, 2, V(1e30, 1), V(1e30, 1), 1, V(inf));
    expect_vector(IR_OP_dot, 2, V(1e30, 1e30), V(1e30, -1e30), 1, V(0));
    expect_vector(IR_OP_dot, 1, V(-0.0), V(3), 1, V(-0.0));
    expect_vector(IR_OP_cross, 3, V(1, 0, 0), V(0, 1, 0), 3, V(0, 0, 1));
    expect_vector(IR_OP_cross, 4, V(1, 2, 3, 9), V(4, 5, 6, 9), 4, V(-3, 6, -3, 0));
    expect_vector(IR_OP_length, 2, V(3e30, 4e30), NULL, 1, V(5e30));
    expect_vector(IR_OP_length, 2, V(3e-40, 4e-40), NULL, 1, V(5e-40));
    expect_vector(IR_OP_length, 2, V(0, -0.0), NULL, 1, V(0));
    expect_vector(IR_OP_length, 2, V(1, -inf), NULL, 1, V(inf));
    expect_vector(IR_OP_length, 2, V(1, nan_), NULL, 1, V(nan_));
    expect_vector(IR_OP_fast_distance, 2, V(3e38, 1), V(3e38, 4), 1, V(3));
    expect_vector(IR_OP_normalize, 2, V(3e38, 0), NULL, 2, V(1, 0));
    expect_vector(IR_OP_normalize, 2, V(0, -0.0), NULL, 2, V(0, -0.0));
    expect_vector(IR_OP_normalize, 3, V(-inf, 2, -2), NULL, 3, V(-1, 0, -0.0));
    expect_vector(IR_OP_normalize, 2, V(1, nan_), NULL, 2, V(nan_, nan_));
    expect_vector(IR_OP_fast_normalize, 1, V(-7), NULL, 1, V(-1));
}

Test(math, length_of_doubles_does_not_overflow) {
    uint64_t x[2] = {ir_fp_from_double(IR_F64, 3e300), ir_fp_from_double(IR_F64, 4e300)}, out;
    ir_math_vector(IR_OP_length, ir_vector(IR_F64, 2), x, NULL, &out);
    cr_expect_eq(out, ir_fp_from_double(IR_F64, 5e300));
    x[0] = ir_fp_from_double(IR_F64, 3e-310), x[1] = ir_fp_from_double(IR_F64, 4e-310);
    ir_math_vector(IR_OP_length, ir_vector(IR_F64, 2), x, NULL, &out);
    cr_expect_eq(out, ir_fp_from_double(IR_F64, 5e-310));
}
