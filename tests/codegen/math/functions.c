/* functions.c — the table of math functions, and the error of a result against MPFR.
 *
 * NaN, infinity and zeros must be those of ir/math.c, which follows Annex F of C and the OpenCL C
 * specification.  Where an argument is zero or infinite, or a base is 1 or -1, and the result is
 * exact, no error is allowed: these cases are named there.  half_ and native_ functions may err in
 * them too.  Exact operations must give the bits of ir_eval; fmax and its relatives are not here,
 * since they may choose between zeros.
 */
#include "tests/codegen/math/functions.h"

#include <string.h>

enum { any = 8192 };

/* A function that exists as half_ and as native_, with the same arguments. */
#define RELAXED(name, ...)                                                                         \
    {IR_OP_half_##name, __VA_ARGS__}, { IR_OP_native_##name, __VA_ARGS__ }

const math_function math_functions[MATH_FUNCTIONS] = {
    {IR_OP_acos, mpfr_acos, -1, 1, 4, 4, 2},
    {IR_OP_acosh, mpfr_acosh, 1, 100, 4, 4, 2},
    {IR_OP_acospi, oracle_acospi, -1, 1, 5, 5, 2},
    {IR_OP_asin, mpfr_asin, -1, 1, 4, 4, 2},
    {IR_OP_asinh, mpfr_asinh, -100, 100, 4, 4, 2},
    {IR_OP_asinpi, oracle_asinpi, -1, 1, 5, 5, 2},
    {IR_OP_atan, mpfr_atan, -20, 20, 5, 5, 2},
    {IR_OP_atanh, mpfr_atanh, -1, 1, 5, 5, 2},
    {IR_OP_atanpi, oracle_atanpi, -20, 20, 5, 5, 2},
    {IR_OP_atan2, NULL, -100, 100, 6, 6, 2, mpfr_atan2, -100, 100},
    {IR_OP_atan2pi, NULL, -100, 100, 6, 6, 2, oracle_atan2pi, -100, 100},
    {IR_OP_cbrt, mpfr_cbrt, -100, 100, 2, 2, 2},
    {IR_OP_cos, mpfr_cos, -100, 100, 4, 4, 2},
    {IR_OP_cosh, mpfr_cosh, -90, 90, 4, 4, 2},
    {IR_OP_cospi, oracle_cospi, -100, 100, 4, 4, 2},
    {IR_OP_erf, mpfr_erf, -6, 6, 16, 16, 4},
    {IR_OP_erfc, mpfr_erfc, -6, 28, 16, 16, 4},
    {IR_OP_exp, mpfr_exp, -105, 90, 3, 3, 2},
    {IR_OP_exp2, mpfr_exp2, -151, 129, 3, 3, 2},
    {IR_OP_exp10, mpfr_exp10, -46, 39, 3, 3, 2},
    {IR_OP_expm1, mpfr_expm1, -20, 90, 3, 3, 2},
    {IR_OP_hypot, NULL, -100, 100, 4, 4, 2, mpfr_hypot, -100, 100},
    {IR_OP_lgamma, oracle_lgamma, -20, 40, 16, 64, 4},
    {IR_OP_log, mpfr_log, 0, 4, 3, 3, 2},
    {IR_OP_log2, mpfr_log2, 0, 4, 3, 3, 2},
    {IR_OP_log10, mpfr_log10, 0, 4, 3, 3, 2},
    {IR_OP_log1p, mpfr_log1p, -1, 3, 2, 2, 2},
    {IR_OP_pow, NULL, 0, 10, 16, 16, 4, mpfr_pow, -40, 40},
    {IR_OP_powr, NULL, 0, 10, 16, 16, 4, mpfr_pow, -40, 40},
    {IR_OP_pown, NULL, -10, 10, 16, 16, 4, mpfr_pow, -40, 40},
    {IR_OP_rootn, NULL, -100, 100, 16, 16, 4, oracle_rootn, -40, 40},
    {IR_OP_rsqrt, mpfr_rec_sqrt, 0, 100, 2, 2, 1},
    {IR_OP_sin, mpfr_sin, -100, 100, 4, 4, 2},
    {IR_OP_sinh, mpfr_sinh, -90, 90, 4, 4, 2},
    {IR_OP_sinpi, oracle_sinpi, -100, 100, 4, 4, 2},
    {IR_OP_tan, mpfr_tan, -100, 100, 5, 5, 2},
    {IR_OP_tanh, mpfr_tanh, -10, 10, 5, 5, 2},
    {IR_OP_tanpi, oracle_tanpi, -100, 100, 6, 6, 2},
    {IR_OP_tgamma, mpfr_gamma, -6, 36, 16, 16, 4},
    RELAXED(divide, NULL, -100, 100, any, any, any, mpfr_div, -100, 100),
    RELAXED(exp, mpfr_exp, -105, 90, any, any, any),
    RELAXED(exp2, mpfr_exp2, -151, 129, any, any, any),
    RELAXED(exp10, mpfr_exp10, -46, 39, any, any, any),
    RELAXED(log, mpfr_log, 0, 4, any, any, any),
    RELAXED(log2, mpfr_log2, 0, 4, any, any, any),
    RELAXED(log10, mpfr_log10, 0, 4, any, any, any),
    RELAXED(powr, NULL, 0, 10, any, any, any, mpfr_pow, -30, 30),
    RELAXED(recip, oracle_recip, -100, 100, any, any, any),
    RELAXED(rsqrt, mpfr_rec_sqrt, 0, 100, any, any, any),
    RELAXED(sqrt, mpfr_sqrt, 0, 100, any, any, any),
    {IR_OP_half_cos, mpfr_cos, -32768, 32768, any, any, any},
    {IR_OP_half_sin, mpfr_sin, -32768, 32768, any, any, any},
    {IR_OP_half_tan, mpfr_tan, -32768, 32768, any, any, any},
    {IR_OP_native_cos, mpfr_cos, -10, 10, any, any, any},
    {IR_OP_native_sin, mpfr_sin, -10, 10, any, any, any},
    {IR_OP_native_tan, mpfr_tan, -10, 10, any, any, any},
    /* These are exact, or correctly rounded. */
    {IR_OP_ceil, .low = -100, .high = 100},
    {IR_OP_copysign, .low = -1, .high = 1, .low2 = -1, .high2 = 1},
    {IR_OP_fdim, .low = -100, .high = 100, .low2 = -100, .high2 = 100},
    {IR_OP_fdiv, .low = -100, .high = 100, .low2 = -100, .high2 = 100},
    {IR_OP_floor, .low = -100, .high = 100},
    {IR_OP_fract_part, .low = -100, .high = 100},
    {IR_OP_frem, .low = -1e6, .high = 1e6, .low2 = -10, .high2 = 10},
    {IR_OP_frexp_m, .low = -100, .high = 100},
    {IR_OP_ldexp, .low = -2, .high = 2, .low2 = -160, .high2 = 160},
    {IR_OP_logb, .low = -100, .high = 100},
    {IR_OP_nextafter, .low = -2, .high = 2, .low2 = -2, .high2 = 2},
    {IR_OP_remainder, .low = -1e6, .high = 1e6, .low2 = -10, .high2 = 10},
    {IR_OP_rint, .low = -100, .high = 100},
    {IR_OP_round, .low = -100, .high = 100},
    {IR_OP_sqrt, .low = 0, .high = 100},
    {IR_OP_trunc_f, .low = -100, .high = 100},
};

double limit_of(const math_function *f, ir_kind k) {
    return k == IR_F64 ? f->f64 : k == IR_F32 ? f->f32 : f->f16;
}

bool takes_integer(const math_function *f) { return ir_ops[f->op].rule == R_FLT_INT; }

bool has_range(const math_function *f) {
    return f->op == IR_OP_native_sin || f->op == IR_OP_native_cos || f->op == IR_OP_native_tan;
}

bool takes_two(const math_function *f) { return ir_ops[f->op].nargs == 2; }

bool is_exact(const math_function *f) { return !f->one && !f->two; }

uint64_t expected(const math_function *f, ir_kind k, uint64_t a, uint64_t b) {
    unsigned width = ir_bits(NULL, k);
    const ir_eval_env exact = {.op = f->op, .k_res = k, .k_arg = k, .w_res = width, .w_arg = width};
    if (is_exact(f)) return ir_eval_lane(&exact, (const uint64_t[4]){a, b});
    return f->two ? ir_math2(f->op, k, a, b) : ir_math1(f->op, k, a);
}

static double second_of(const math_function *f, ir_kind k, uint64_t b) {
    return takes_integer(f) ? (double)(int32_t)b : ir_fp_to_double(k, b);
}

static bool is_denormal(ir_kind k, double x) {
    double least = k == IR_F64 ? 0x1p-1022 : k == IR_F32 ? 0x1p-126 : 0x1p-14;
    return x != 0 && fabs(x) < least;
}

/* half_ and native_ functions need not give denormals. */
static bool may_be_zero(const math_function *f, ir_kind k, double want) {
    return limit_of(f, k) == (double)any && is_denormal(k, want);
}

/* native_ functions need not know denormals, nor signs of zeros. */
static bool is_native(const math_function *f) {
    return strncmp(ir_ops[f->op].name, "native_", 7) == 0;
}

static bool is_power(const math_function *f) {
    return f->op == IR_OP_pow || f->op == IR_OP_powr || f->op == IR_OP_pown;
}

static bool must_be_exact(const math_function *f, ir_kind k, double x, double y, mpfr_t exact) {
    bool of_two = f->two && (y == 0 || isinf(y) || (is_power(f) && fabs(x) == 1));
    bool settled = x == 0 || isinf(x) || of_two;
    uint64_t rounded = ir_fp_from_double(k, mpfr_get_d(exact, MPFR_RNDN));
    return limit_of(f, k) != (double)any && settled &&
           mpfr_cmp_d(exact, ir_fp_to_double(k, rounded)) == 0;
}

/* lgamma has no limit near its zeros. */
static double absolute_error(ir_kind k, uint64_t got, mpfr_t exact) {
    double error = fabs(ir_fp_to_double(k, got) - mpfr_get_d(exact, MPFR_RNDN));
    return error * (k == IR_F64 ? 0x1p52 : k == IR_F32 ? 0x1p23 : 0x1p10);
}

static double compared(const math_function *f, ir_kind k, double x, double y, uint64_t got) {
    mpfr_t mx, my, exact;
    mpfr_inits2(k == IR_F64 ? 140 : 90, mx, my, exact, (mpfr_ptr)0);
    mpfr_set_d(mx, x, MPFR_RNDN);
    mpfr_set_d(my, y, MPFR_RNDN);
    if (f->two)
        f->two(exact, mx, my, MPFR_RNDN);
    else
        f->one(exact, mx, MPFR_RNDN);
    double error;
    if (mpfr_zero_p(exact) || must_be_exact(f, k, x, y, exact))
        error = INFINITY;
    else if (f->op == IR_OP_lgamma && mpfr_cmpabs_ui(exact, 1) < 0)
        error = absolute_error(k, got, exact);
    else
        error = ulps(k, got, exact);
    mpfr_clears(mx, my, exact, (mpfr_ptr)0);
    return error;
}

double error_of(const math_function *f, ir_kind k, uint64_t a, uint64_t b, uint64_t got) {
    uint64_t want = expected(f, k, a, b);
    double x = ir_fp_to_double(k, a), y = second_of(f, k, b);
    bool is_nan = ir_fp_is_nan(k, want);
    if (is_native(f) && (is_denormal(k, x) || is_denormal(k, y))) return 0;
    if (is_nan || ir_fp_is_nan(k, got)) return is_nan && ir_fp_is_nan(k, got) ? 0 : INFINITY;
    if (is_exact(f)) return got == want ? 0 : INFINITY;
    double w = ir_fp_to_double(k, want), g = ir_fp_to_double(k, got);
    if (got == want || (is_native(f) && g == w)) return 0.5;
    if (g == 0 && may_be_zero(f, k, w)) return 0.5;
    return compared(f, k, x, y, got);
}
