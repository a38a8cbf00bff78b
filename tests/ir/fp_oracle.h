/* fp_oracle.h — the float formats as their definition has them, MPFR as an oracle for them, and
 * values to try: shared by the tests of fp.c, fp_convert.c and fp_text.c.
 *
 * MPFR with the precision and exponent range of a format, and mpfr_subnormalize, is an independent
 * implementation of each operation in each rounding mode.
 */
#ifndef SPVFUSE_TESTS_FP_ORACLE_H
#define SPVFUSE_TESTS_FP_ORACLE_H

#include "ir/ir.h"
#include "tests/random.h"

#include <math.h>
#include <mpfr.h>

/* -------------------------------------------------------------------------------------- formats */

typedef struct {
    const char *name;
    ir_kind kind;
    int precision, emax;
    unsigned width;
} format;

static const format formats[] = {{"f16", IR_F16, 11, 15, 16},
                                 {"bf16", IR_BF16, 8, 127, 16},
                                 {"f32", IR_F32, 24, 127, 32},
                                 {"f64", IR_F64, 53, 1023, 64}};
enum { F16, BF16, F32, F64, FORMATS };

static const mpfr_rnd_t mpfr_mode[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDU, MPFR_RNDD};

/* The value of a bit pattern, by the definition of the format. */
static inline double value_of(const format *f, uint64_t bits) {
    int frac = f->precision - 1;
    uint64_t fraction = bits & ((UINT64_C(1) << frac) - 1);
    int biased = (int)(bits >> frac) & (2 * f->emax + 1);
    double sign = bits >> (f->width - 1) & 1 ? -1 : 1;
    if (biased == 2 * f->emax + 1) return fraction ? (double)NAN : sign * (double)INFINITY;
    if (!biased) return sign * ldexp((double)fraction, 1 - f->emax - frac);
    return sign * ldexp((double)(fraction + (UINT64_C(1) << frac)), biased - f->emax - frac);
}

static inline uint64_t canonical_nan(const format *f) {
    return ((uint64_t)(2 * f->emax + 1) << (f->precision - 1)) | UINT64_C(1) << (f->precision - 2);
}

static inline uint64_t bits_of_float(float x) {
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline uint64_t bits_of_double(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline float float_of(uint64_t bits) {
    uint32_t b = (uint32_t)bits;
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static inline double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ------------------------------------------------------------------------------- MPFR as oracle */

static inline void use_format(const format *f) {
    mpfr_set_default_prec(f->precision);
    mpfr_set_emin(3 - f->emax - f->precision);
    mpfr_set_emax(f->emax + 1);
}

static inline void use_wide(void) {
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
}

/* Do `bits` say the same as the oracle's x, which has been rounded to f? */
static inline bool same(const format *f, uint64_t bits, mpfr_t x) {
    if (mpfr_nan_p(x)) return bits == canonical_nan(f);
    double v = value_of(f, bits);
    if (isnan(v) || (bits & ~(UINT64_MAX >> (64 - f->width)))) return false;
    return mpfr_cmp_d(x, v) == 0 && !!mpfr_signbit(x) == !!signbit(v);
}

static inline bool same_as_host(uint64_t ours, uint64_t host, const format *f) {
    return ours == host || (ours == canonical_nan(f) && isnan(value_of(f, host)));
}

/* --------------------------------------------------------------------------------------- values */

static uint64_t random_state = 0x9e3779b97f4a7c15;

static inline uint64_t random_bits(void) { return splitmix64(&random_state); }

/* Random floats, often with few fraction bits set and often with a middling exponent. */
static inline uint64_t random_float(const format *f) {
    uint64_t r = random_bits(), bits = random_bits() >> (64 - f->width);
    int frac = f->precision - 1;
    uint64_t low = (UINT64_C(1) << frac) - 1;
    if (r & 1)
        bits = (bits & ~low) | (bits & low & (random_bits() & random_bits() & random_bits()));
    if (r & 2) bits |= bits & (low >> 1);
    if (r & 4) {
        uint64_t e = (uint64_t)f->emax - 6 + (r >> 8) % 12;
        bits = (bits & (low | UINT64_C(1) << (f->width - 1))) | e << frac;
    }
    return bits;
}

/* Zeros, denormals, powers of two, halfway values, the greatest and special ones, of both signs. */
static inline unsigned special_values(const format *f, uint64_t *out) {
    int frac = f->precision - 1;
    uint64_t one = (uint64_t)f->emax << frac, inf = (uint64_t)(2 * f->emax + 1) << frac;
    uint64_t ulp_exponent = (uint64_t)frac << frac;
    uint64_t base[] = {0,
                       1,
                       2,
                       3,
                       (UINT64_C(1) << frac) - 1,
                       UINT64_C(1) << frac,
                       (UINT64_C(1) << frac) + 1,
                       UINT64_C(2) << frac,
                       one,
                       one - 1,
                       one + 1,
                       one + (UINT64_C(1) << frac),
                       one - (UINT64_C(1) << frac),
                       one + (UINT64_C(1) << (frac - 1)),
                       one + (UINT64_C(3) << (frac - 2)),
                       one + ulp_exponent,
                       one - ulp_exponent,
                       one + ulp_exponent + 1,
                       one + ulp_exponent - 1,
                       one + 0x15 * (UINT64_C(1) << (frac - 5)),
                       one + (UINT64_C(2) << frac) + 3,
                       inf - 1,
                       inf - 2,
                       inf - (UINT64_C(1) << frac),
                       inf,
                       canonical_nan(f),
                       inf + 1};
    unsigned n = sizeof base / sizeof *base;
    for (unsigned i = 0; i < n; i++) {
        out[2 * i] = base[i];
        out[2 * i + 1] = base[i] | UINT64_C(1) << (f->width - 1);
    }
    return 2 * n;
}

#endif
