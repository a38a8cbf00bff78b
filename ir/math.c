/* math.c — the math functions of OpenCL.std by the host's long double libm.
 *
 * Every function is computed in long double and rounded once to its format.  Where long double has
 * 64 bits or more, F16, BF16 and F32 results are correctly rounded but for the rare value within
 * 2^-40 of a halfway point, and F64 results are within 0.51 ulp or so; where long double is double,
 * F64 results are as exact as the libm.  Its wider exponent also keeps intermediate results from
 * overflow and makes denormal results round once.
 *
 * Edge cases are those of the OpenCL C specification, section "Additional Requirements Beyond
 * C99 TC2" and C's Annex F: most are the libm's own; powr, rootn, and the functions of pi * x are
 * settled here.  Arguments of sinpi, cospi and tanpi are reduced exactly before pi comes in.
 * The half_ and native_ functions are the precise ones.  The functions of whole vectors add up in
 * long double too, scaled so that no square overflows or vanishes; normalize treats zero, infinite
 * and NaN lanes as the section "Geometric Functions" of the specification says.
 *
 * The host's rounding mode is expected to be to nearest; nothing here changes the environment, and
 * no libm function with hidden state (lgamma and its signgam) is used.  Only ops that are never
 * folded at compile time come here, so the libm of the host does not decide generated code.
 */
#define _DEFAULT_SOURCE /* lgammal_r */
#include "ir/eval.h"

#include <math.h>

typedef long double real;

static const real pi = 3.141592653589793238462643383279502884L;

/* ----------------------------------------------------------------------------------- in and out */

static real real_of(ir_kind k, uint64_t a) { return (real)ir_fp_to_double(k, a); }

/* Rounds once, whatever the precision of long double. */
static uint64_t bits_of(ir_kind k, real x) {
    if (isnan(x)) return ir_fp_nan(k);
    if (isinf(x)) return ir_fp_inf(k, signbit(x));
    int exp;
    real scaled = ldexpl(frexpl(fabsl(x), &exp), 64);
    uint64_t mant = (uint64_t)scaled;
    mant |= scaled != (real)mant;
    return ir_fp_pack(k, IR_RTE, signbit(x), exp - 1, mant);
}

/* The precise function that a half_ or native_ one is computed by. */
static ir_op precise(ir_op op) {
    switch (op) {
#define FORMS(name)                                                                                \
    case IR_OP_half_##name:                                                                        \
    case IR_OP_native_##name: return IR_OP_##name;
        FORMS(cos)
        FORMS(exp)
        FORMS(exp2)
        FORMS(exp10)
        FORMS(log)
        FORMS(log2)
        FORMS(log10)
        FORMS(powr)
        FORMS(rsqrt)
        FORMS(sin)
        FORMS(sqrt)
        FORMS(tan)
#undef FORMS
    default: return op;
    }
}

/* ---------------------------------------------------------------------------- functions of pi x */

/* x, finite, modulo 2, exactly, as n / 2 + rest with n in -2 … 2 and |rest| <= 1/4. */
static real quarter_turns(real x, int *n) {
    real r = remainderl(x, 2.0L);
    *n = (int)rintl(2 * r);
    return r - (real)*n / 2;
}

static real sin_pi(real x) {
    if (!isfinite(x)) return NAN;
    int n;
    real rest = quarter_turns(x, &n), y;
    if (rest == 0 && n % 2 == 0) return copysignl(0, x);
    y = n % 2 ? cosl(pi * rest) : sinl(pi * rest);
    return n == -1 || n == 2 || n == -2 ? -y : y;
}

static real cos_pi(real x) {
    if (!isfinite(x)) return NAN;
    int n;
    real rest = quarter_turns(x, &n), y;
    if (rest == 0 && n % 2) return 0;
    y = n % 2 ? sinl(pi * rest) : cosl(pi * rest);
    return n == 1 || n == 2 || n == -2 ? -y : y;
}

/* At integers 0 with the sign of x, flipped for odd ones; at n + 1/2 infinite, negative for odd n.
 */
static real tan_pi(real x) {
    if (!isfinite(x)) return NAN;
    int n;
    real rest = quarter_turns(x, &n);
    if (rest == 0 && n % 2 == 0) return copysignl(0, n == 0 ? x : -x);
    if (rest == 0) return n > 0 ? HUGE_VALL : -HUGE_VALL;
    real t = tanl(pi * rest);
    return n % 2 ? -1 / t : t;
}

/* --------------------------------------------------------------------------------------- powers */

/* pow for x >= 0, where 0^0, inf^0 and 1^inf have no limit. */
static real powr_of(real x, real y) {
    if (isnan(x) || isnan(y) || x < 0) return NAN;
    if (y == 0 && (x == 0 || isinf(x))) return NAN;
    if (x == 1 && isinf(y)) return NAN;
    return powl(fabsl(x), y);
}

/* |x|^(1/n), with one Newton step against the rounding error of 1/n. */
static real positive_root(real x, int32_t n) {
    if (n == 1) return x;
    if (n == 2) return sqrtl(x);
    if (n == 3) return cbrtl(x);
    real root = powl(x, 1 / (real)n);
    if (x == 0 || isinf(x)) return root;
    return root * (1 - (powl(root, (real)n) / x - 1) / (real)n);
}

static real rootn_of(real x, int32_t n) {
    bool odd = n & 1;
    if (n == 0 || isnan(x) || (x < 0 && !odd)) return NAN;
    real root = positive_root(fabsl(x), n);
    return odd ? copysignl(root, x) : root;
}

/* Numbers from 2^62 are even, so the sign of x does not count; glibc's powl gives an infinity for
 * -inf to the power of -2^63. */
static real pow_of(real x, real y) { return powl(fabsl(y) >= 0x1p62L ? fabsl(x) : x, y); }

static real log_gamma(real x) {
    int sign;
    return lgammal_r(x, &sign);
}

/* ------------------------------------------------------------------------ one and two arguments */

static real evaluate1(ir_op op, real x) {
    switch (op) {
    case IR_OP_acos: return acosl(x);
    case IR_OP_acosh: return acoshl(x);
    case IR_OP_acospi: return acosl(x) / pi;
    case IR_OP_asin: return asinl(x);
    case IR_OP_asinh: return asinhl(x);
    case IR_OP_asinpi: return asinl(x) / pi;
    case IR_OP_atan: return atanl(x);
    case IR_OP_atanh: return atanhl(x);
    case IR_OP_atanpi: return atanl(x) / pi;
    case IR_OP_cbrt: return cbrtl(x);
    case IR_OP_cos: return cosl(x);
    case IR_OP_cosh: return coshl(x);
    case IR_OP_cospi: return cos_pi(x);
    case IR_OP_erf: return erfl(x);
    case IR_OP_erfc: return erfcl(x);
    case IR_OP_exp: return expl(x);
    case IR_OP_exp2: return exp2l(x);
    case IR_OP_exp10: return powl(10, x);
    case IR_OP_expm1: return expm1l(x);
    case IR_OP_lgamma: return log_gamma(x);
    case IR_OP_log: return logl(x);
    case IR_OP_log2: return log2l(x);
    case IR_OP_log10: return log10l(x);
    case IR_OP_log1p: return log1pl(x);
    case IR_OP_rsqrt: return 1 / sqrtl(x);
    case IR_OP_sin: return sinl(x);
    case IR_OP_sinh: return sinhl(x);
    case IR_OP_sinpi: return sin_pi(x);
    case IR_OP_tan: return tanl(x);
    case IR_OP_tanh: return tanhl(x);
    case IR_OP_tanpi: return tan_pi(x);
    case IR_OP_tgamma: return tgammal(x);
    default: assert(false && "not a math function of one argument"); return NAN;
    }
}

static real evaluate2(ir_op op, real x, real y) {
    switch (op) {
    case IR_OP_atan2: return atan2l(x, y);
    case IR_OP_atan2pi: return atan2l(x, y) / pi;
    case IR_OP_hypot: return hypotl(x, y);
    case IR_OP_pow: return pow_of(x, y);
    case IR_OP_powr: return powr_of(x, y);
    default: assert(false && "not a math function of two arguments"); return NAN;
    }
}

uint64_t ir_math1(ir_op op, ir_kind k, uint64_t a) {
    op = precise(op);
    if (op == IR_OP_sqrt) return ir_fp_sqrt(k, a);
    if (op == IR_OP_half_recip || op == IR_OP_native_recip)
        return ir_fp_div(k, ir_fp_from_double(k, 1), a);
    return bits_of(k, evaluate1(op, real_of(k, a)));
}

uint64_t ir_math2(ir_op op, ir_kind k, uint64_t a, uint64_t b) {
    if (op == IR_OP_half_divide || op == IR_OP_native_divide) return ir_fp_div(k, a, b);
    real x = real_of(k, a);
    int32_t n = (int32_t)(uint32_t)b;
    if (op == IR_OP_pown) return bits_of(k, powl(x, (real)n));
    if (op == IR_OP_rootn) return bits_of(k, rootn_of(x, n));
    return bits_of(k, evaluate2(precise(op), x, real_of(k, b)));
}

/* -------------------------------------------------------------------------------- whole vectors */

static real dot_of(unsigned n, const real *x, const real *y) {
    real sum = -0.0L; /* neutral: a sum of negative zeros is one */
    for (unsigned i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Lanes 0 to 2; a fourth becomes 0. */
static void cross_of(unsigned n, const real *x, const real *y, real *out) {
    out[0] = x[1] * y[2] - x[2] * y[1];
    out[1] = x[2] * y[0] - x[0] * y[2];
    out[2] = x[0] * y[1] - x[1] * y[0];
    if (n > 3) out[3] = 0;
}

/* Euclidean length; the greatest lane is brought near 1 first. */
static real length_of(unsigned n, const real *x) {
    real greatest = 0, scaled[IR_MAX_LANES] = {0};
    int exp = 0;
    for (unsigned i = 0; i < n; i++) greatest = fmaxl(greatest, fabsl(x[i]));
    if (isfinite(greatest)) frexpl(greatest, &exp);
    for (unsigned i = 0; i < n; i++) scaled[i] = ldexpl(x[i], -exp);
    return ldexpl(sqrtl(dot_of(n, scaled, scaled)), exp);
}

static void normalize_of(unsigned n, const real *x, real *out) {
    bool infinite = false;
    for (unsigned i = 0; i < n; i++) infinite |= isinf(x[i]) != 0;
    for (unsigned i = 0; i < n; i++)
        out[i] = !infinite ? x[i] : isinf(x[i]) ? copysignl(1, x[i]) : 0 * x[i];
    real length = length_of(n, out);
    for (unsigned i = 0; i < n && length != 0; i++) out[i] /= length;
}

void ir_math_vector(ir_op op, ir_type t, const uint64_t *a, const uint64_t *b, uint64_t *out) {
    ir_kind k = ir_kind_of(ir_elem(t));
    unsigned n = ir_lanes(t);
    real x[IR_MAX_LANES] = {0}, y[IR_MAX_LANES] = {0}, r[IR_MAX_LANES] = {0};
    unsigned results = 1;
    for (unsigned i = 0; i < n; i++) {
        x[i] = real_of(k, a[i]);
        y[i] = b ? real_of(k, b[i]) : 0;
    }
    switch (op) {
    case IR_OP_dot: r[0] = dot_of(n, x, y); break;
    case IR_OP_length:
    case IR_OP_fast_length: r[0] = length_of(n, x); break;
    case IR_OP_distance:
    case IR_OP_fast_distance:
        for (unsigned i = 0; i < n; i++) x[i] -= y[i];
        r[0] = length_of(n, x);
        break;
    case IR_OP_cross: cross_of(results = n, x, y, r); break;
    case IR_OP_normalize:
    case IR_OP_fast_normalize: normalize_of(results = n, x, r); break;
    default: assert(false && "not a function of vectors"); return;
    }
    for (unsigned i = 0; i < results; i++) out[i] = bits_of(k, r[i]);
}
