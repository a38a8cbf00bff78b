/* oracle.h — math functions by MPFR, and errors in units of the last place. */
#ifndef SPVFUSE_TESTS_ORACLE_H
#define SPVFUSE_TESTS_ORACLE_H

#include "ir/eval.h"
#include "tests/random.h"

#include <math.h>
#include <mpfr.h>

/* ------------------------------------------------------------------------------------ arguments */

static inline uint64_t random_bits(void) {
    static uint64_t state = 1;
    return splitmix64(&state);
}

static inline double unit(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

/* Between low and high: sometimes uniform, sometimes uniform in the exponent. */
static inline double argument(double low, double high) {
    if (random_bits() & 1) return low + (high - low) * unit();
    double x = (random_bits() & 1) && low < 0 ? low : high;
    x *= exp2(-60 * unit() * unit());
    return x < low || x > high ? low + (high - low) * unit() : x;
}

/* --------------------------------------------------------------------------------------- errors */

/* |got - want| in units of the last place of `want` in format k. */
static inline double ulps(ir_kind k, uint64_t got, mpfr_t want) {
    int precision = k == IR_F64 ? 53 : k == IR_F32 ? 24 : 11;
    int emin = k == IR_F64 ? -1022 : k == IR_F32 ? -126 : -14;
    double g = ir_fp_to_double(k, got), w = mpfr_get_d(want, MPFR_RNDN);
    uint64_t rounded = ir_fp_from_double(k, w);
    if (isnan(g) || isnan(w)) return isnan(g) && isnan(w) ? 0 : INFINITY;
    if (got == rounded || (isinf(g) && ir_fp_is_inf(k, rounded))) return 0.5;
    if (mpfr_inf_p(want) || (isinf(g) && k == IR_F64)) return INFINITY;
    if (isinf(g)) g = copysign(ldexp(1, 2 - emin), g); /* as if the exponent had no end */
    int e = w == 0 ? emin : isinf(w) ? 1024 : ilogb(w);
    mpfr_t d;
    mpfr_init2(d, 300);
    mpfr_set_d(d, g, MPFR_RNDN);
    mpfr_sub(d, d, want, MPFR_RNDN);
    mpfr_mul_2si(d, d, precision - 1 - (e < emin ? emin : e), MPFR_RNDN);
    double out = fabs(mpfr_get_d(d, MPFR_RNDN));
    mpfr_clear(d);
    return out;
}

/* --------------------------------------------------------------------- what MPFR has not itself */

/* A function of pi * x: x is reduced exactly, so 300 bits of pi are plenty. */
static inline int pi_times(mpfr_t out, const mpfr_t x) {
    mpfr_t two;
    mpfr_init2(two, 8);
    mpfr_set_ui(two, 2, MPFR_RNDN);
    mpfr_remainder(out, x, two, MPFR_RNDN);
    mpfr_t p;
    mpfr_init2(p, 300);
    mpfr_const_pi(p, MPFR_RNDN);
    int t = mpfr_mul(out, out, p, MPFR_RNDN);
    mpfr_clears(two, p, (mpfr_ptr)0);
    return t;
}

#define PI_TIMES(name, fn)                                                                         \
    static inline int name(mpfr_t out, const mpfr_t x, mpfr_rnd_t mode) {                          \
        mpfr_t y;                                                                                  \
        mpfr_init2(y, 300);                                                                        \
        pi_times(y, x);                                                                            \
        int t = fn(out, y, mode);                                                                  \
        mpfr_clear(y);                                                                             \
        return t;                                                                                  \
    }
PI_TIMES(oracle_sinpi, mpfr_sin)
PI_TIMES(oracle_cospi, mpfr_cos)
PI_TIMES(oracle_tanpi, mpfr_tan)

static inline int over_pi(mpfr_t out, mpfr_rnd_t mode) {
    mpfr_t p;
    mpfr_init2(p, 300);
    mpfr_const_pi(p, MPFR_RNDN);
    int t = mpfr_div(out, out, p, mode);
    mpfr_clear(p);
    return t;
}

#define OVER_PI(name, fn)                                                                          \
    static inline int name(mpfr_t out, const mpfr_t x, mpfr_rnd_t mode) {                          \
        fn(out, x, mode);                                                                          \
        return over_pi(out, mode);                                                                 \
    }
OVER_PI(oracle_asinpi, mpfr_asin)
OVER_PI(oracle_acospi, mpfr_acos)
OVER_PI(oracle_atanpi, mpfr_atan)

static inline int oracle_recip(mpfr_t out, const mpfr_t x, mpfr_rnd_t mode) {
    return mpfr_ui_div(out, 1, x, mode);
}

static inline int oracle_lgamma(mpfr_t out, const mpfr_t x, mpfr_rnd_t mode) {
    int sign;
    return mpfr_lgamma(out, &sign, x, mode);
}

static inline int oracle_atan2pi(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t mode) {
    mpfr_atan2(out, x, y, mode);
    return over_pi(out, mode);
}

static inline int oracle_rootn(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t mode) {
    return mpfr_rootn_si(out, x, (long)mpfr_get_d(y, MPFR_RNDN), mode);
}

#endif
