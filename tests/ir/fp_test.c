/* fp_test.c — soft floats against MPFR and the host.
 *
 * MPFR with the precision and exponent range of a format, and mpfr_subnormalize, is an independent
 * implementation of each operation in each rounding mode.  Sixteen-bit formats are covered
 * exhaustively (unary) or over a dense set of special values (binary and ternary); F32 and F64 by
 * special values and by random bits, which also meet the host's own float unit.
 */
#include "ir/ir.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------- formats */

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
static double value_of(const format *f, uint64_t bits) {
    int frac = f->precision - 1;
    uint64_t fraction = bits & ((UINT64_C(1) << frac) - 1);
    int biased = (int)(bits >> frac) & (2 * f->emax + 1);
    double sign = bits >> (f->width - 1) & 1 ? -1 : 1;
    if (biased == 2 * f->emax + 1) return fraction ? (double)NAN : sign * (double)INFINITY;
    if (!biased) return sign * ldexp((double)fraction, 1 - f->emax - frac);
    return sign * ldexp((double)(fraction + (UINT64_C(1) << frac)), biased - f->emax - frac);
}

static uint64_t canonical_nan(const format *f) {
    return ((uint64_t)(2 * f->emax + 1) << (f->precision - 1)) | UINT64_C(1) << (f->precision - 2);
}

static uint64_t bits_of_float(float x) {
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static uint64_t bits_of_double(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static float float_of(uint64_t bits) {
    uint32_t b = (uint32_t)bits;
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* -------------------------------------------------------------------------------- MPFR as oracle
 */

static void use_format(const format *f) {
    mpfr_set_default_prec(f->precision);
    mpfr_set_emin(3 - f->emax - f->precision);
    mpfr_set_emax(f->emax + 1);
}

static void use_wide(void) {
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
}

/* Do `bits` say the same as the oracle's x, which has been rounded to f? */
static bool same(const format *f, uint64_t bits, mpfr_t x) {
    if (mpfr_nan_p(x)) return bits == canonical_nan(f);
    double v = value_of(f, bits);
    if (isnan(v) || (bits & ~(UINT64_MAX >> (64 - f->width)))) return false;
    return mpfr_cmp_d(x, v) == 0 && !!mpfr_signbit(x) == !!signbit(v);
}

typedef int mpfr_fn(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c, mpfr_rnd_t mode);
typedef uint64_t ir_fn(ir_kind k, uint64_t a, uint64_t b, uint64_t c);

typedef struct {
    const char *name;
    ir_fn *ours;
    mpfr_fn *oracle;
} operation;

/* Compares one operation on one set of operands; true when they agree. */
static bool agrees(const format *f, const operation *op, uint64_t a, uint64_t b, uint64_t c) {
    static mpfr_t x, y, z, want;
    static bool ready;
    use_wide();
    if (!ready) mpfr_inits2(53, x, y, z, want, (mpfr_ptr)0);
    ready = true;
    mpfr_set_d(x, value_of(f, a), MPFR_RNDN);
    mpfr_set_d(y, value_of(f, b), MPFR_RNDN);
    mpfr_set_d(z, value_of(f, c), MPFR_RNDN);
    mpfr_set_prec(want, f->precision);
    use_format(f);
    int t = op->oracle(want, x, y, z, MPFR_RNDN);
    t = mpfr_check_range(want, t, MPFR_RNDN);
    mpfr_subnormalize(want, t, MPFR_RNDN);
    uint64_t got = op->ours(f->kind, a, b, c);
    use_wide();
    return same(f, got, want);
}

static void check(const format *f, const operation *op, uint64_t a, uint64_t b, uint64_t c) {
    if (agrees(f, op, a, b, c)) return;
    cr_assert(false, "%s.%s(%#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 ") gave %#" PRIx64, op->name,
              f->name, a, b, c, op->ours(f->kind, a, b, c));
}

#define BINARY(name, ir, mp)                                                                       \
    static uint64_t our_##name(ir_kind k, uint64_t a, uint64_t b, uint64_t c) {                    \
        (void)c;                                                                                   \
        return ir(k, a, b);                                                                        \
    }                                                                                              \
    static int mpfr_##name##_(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c, mpfr_rnd_t mode) {         \
        (void)c;                                                                                   \
        return mp(out, a, b, mode);                                                                \
    }
BINARY(add, ir_fp_add, mpfr_add)
BINARY(sub, ir_fp_sub, mpfr_sub)
BINARY(mul, ir_fp_mul, mpfr_mul)
BINARY(div, ir_fp_div, mpfr_div)
BINARY(rem, ir_fp_rem, mpfr_fmod)

static uint64_t our_remainder(ir_kind k, uint64_t a, uint64_t b, uint64_t c) {
    int quotient;
    (void)c;
    return ir_fp_remainder(k, a, b, &quotient);
}
static int mpfr_remainder_(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c, mpfr_rnd_t mode) {
    (void)c;
    return mpfr_remainder(out, a, b, mode);
}
static int mpfr_fma_(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c, mpfr_rnd_t mode) {
    return mpfr_fma(out, a, b, c, mode);
}
static uint64_t our_sqrt(ir_kind k, uint64_t a, uint64_t b, uint64_t c) {
    (void)b, (void)c;
    return ir_fp_sqrt(k, a);
}
static int mpfr_sqrt_(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c, mpfr_rnd_t mode) {
    (void)b, (void)c;
    return mpfr_sqrt(out, a, mode);
}

static const operation binary_ops[] = {
    {"add", our_add, mpfr_add_}, {"sub", our_sub, mpfr_sub_},
    {"mul", our_mul, mpfr_mul_}, {"div", our_div, mpfr_div_},
    {"rem", our_rem, mpfr_rem_}, {"remainder", our_remainder, mpfr_remainder_},
};
enum { BINARY_OPS = sizeof binary_ops / sizeof *binary_ops };
static const operation fma_op = {"fma", ir_fp_fma, mpfr_fma_};
static const operation sqrt_op = {"sqrt", our_sqrt, mpfr_sqrt_};

/* ---------------------------------------------------------------------------------------- values
 */

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void) { /* splitmix64 */
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Random floats, often with few fraction bits set and often with a middling exponent. */
static uint64_t random_float(const format *f) {
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
static unsigned special_values(const format *f, uint64_t *out) {
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

/* ------------------------------------------------------------------------------------ arithmetic
 */

Test(fp, binary_operations_on_special_values) {
    for (const format *f = formats; f < formats + FORMATS; f++) {
        uint64_t v[64];
        unsigned n = special_values(f, v);
        for (unsigned o = 0; o < BINARY_OPS; o++)
            for (unsigned i = 0; i < n; i++)
                for (unsigned j = 0; j < n; j++) check(f, &binary_ops[o], v[i], v[j], 0);
    }
}

Test(fp, binary_operations_on_random_values) {
    for (const format *f = formats; f < formats + FORMATS; f++)
        for (unsigned o = 0; o < BINARY_OPS; o++)
            for (int i = 0; i < 20000; i++)
                check(f, &binary_ops[o], random_float(f), random_float(f), 0);
}

Test(fp, fma_on_special_and_random_values) {
    for (const format *f = formats; f < formats + FORMATS; f++) {
        uint64_t v[64];
        unsigned n = special_values(f, v);
        for (unsigned i = 0; i < n; i += f->kind == IR_F16 ? 1 : 2)
            for (unsigned j = 0; j < n; j++)
                for (unsigned l = j % 3; l < n; l += 3) check(f, &fma_op, v[i], v[j], v[l]);
        for (int i = 0; i < 40000; i++)
            check(f, &fma_op, random_float(f), random_float(f), random_float(f));
    }
}

Test(fp, fma_cancels) {
    for (const format *f = formats; f < formats + FORMATS; f++)
        for (int i = 0; i < 20000; i++) {
            uint64_t a = random_float(f), b = random_float(f);
            uint64_t c = ir_fp_mul(f->kind, a, b) ^ UINT64_C(1) << (f->width - 1);
            check(f, &fma_op, a, b, c);
            check(f, &fma_op, a, b, ir_fp_nextafter(f->kind, c, 0));
        }
}

Test(fp, sqrt_is_right_everywhere) {
    for (uint64_t a = 0; a < 65536; a++) {
        check(&formats[F16], &sqrt_op, a, 0, 0);
        check(&formats[BF16], &sqrt_op, a, 0, 0);
    }
    for (int i = 0; i < 40000; i++) {
        check(&formats[F32], &sqrt_op, random_float(&formats[F32]), 0, 0);
        check(&formats[F64], &sqrt_op, random_float(&formats[F64]), 0, 0);
    }
}

static bool same_as_host(uint64_t ours, uint64_t host, const format *f) {
    return ours == host || (ours == canonical_nan(f) && isnan(value_of(f, host)));
}

static void check_host32(uint64_t a, uint64_t b, uint64_t c) {
    const format *f = &formats[F32];
    float x = float_of(a), y = float_of(b), z = float_of(c);
    bool ok = same_as_host(ir_fp_add(IR_F32, a, b), bits_of_float(x + y), f) &&
              same_as_host(ir_fp_sub(IR_F32, a, b), bits_of_float(x - y), f) &&
              same_as_host(ir_fp_mul(IR_F32, a, b), bits_of_float(x * y), f) &&
              same_as_host(ir_fp_div(IR_F32, a, b), bits_of_float(x / y), f) &&
              same_as_host(ir_fp_sqrt(IR_F32, a), bits_of_float(sqrtf(x)), f) &&
              same_as_host(ir_fp_fma(IR_F32, a, b, c), bits_of_float(fmaf(x, y, z)), f);
    if (!ok) cr_assert(false, "f32 differs: %a %a %a", (double)x, (double)y, (double)z);
}

static void check_host64(uint64_t a, uint64_t b, uint64_t c) {
    const format *f = &formats[F64];
    double x = double_of(a), y = double_of(b), z = double_of(c);
    bool ok = same_as_host(ir_fp_add(IR_F64, a, b), bits_of_double(x + y), f) &&
              same_as_host(ir_fp_sub(IR_F64, a, b), bits_of_double(x - y), f) &&
              same_as_host(ir_fp_mul(IR_F64, a, b), bits_of_double(x * y), f) &&
              same_as_host(ir_fp_div(IR_F64, a, b), bits_of_double(x / y), f) &&
              same_as_host(ir_fp_sqrt(IR_F64, a), bits_of_double(sqrt(x)), f) &&
              same_as_host(ir_fp_fma(IR_F64, a, b, c), bits_of_double(fma(x, y, z)), f);
    if (!ok) cr_assert(false, "f64 differs: %a %a %a", x, y, z);
}

Test(fp, agrees_with_the_host) {
    for (int i = 0; i < 500000; i++) {
        const format *s = &formats[F32], *d = &formats[F64];
        check_host32(random_float(s), random_float(s), random_float(s));
        check_host64(random_float(d), random_float(d), random_float(d));
    }
}

Test(fp, remainder_gives_seven_bits_of_the_quotient) {
    for (int i = 0; i < 100000; i++) {
        uint64_t a = random_float(&formats[F64]), b = random_float(&formats[F64]);
        double x = double_of(a), y = double_of(b);
        int want = 0, got;
        remquo(x, y, &want);
        ir_fp_remainder(IR_F64, a, b, &got);
        if (!isfinite(x) || isnan(y) || y == 0) want = 0;
        if ((abs(want) & 7) != (abs(got) & 7) || abs(got) > 127 || want * got < 0)
            cr_assert(false, "remquo(%a, %a): %d, want %d", x, y, got, want);
    }
    int q;
    cr_assert_eq(ir_fp_remainder(IR_F32, bits_of_float(1001), bits_of_float(-3), &q),
                 bits_of_float(-1));
    cr_assert_eq(q, -(334 & 127));
}

/* ------------------------------------------------------------------------------- integral values
 */

static double round_by(double x, int mode) {
    switch (mode) {
    case IR_RTE: return nearbyint(x);
    case IR_RTZ: return trunc(x);
    case IR_RTP: return ceil(x);
    case IR_RTN: return floor(x);
    default: return round(x);
    }
}

static void check_integral(const format *f, uint64_t a) {
    for (int mode = IR_RTE; mode <= IR_RTN + 1; mode++) {
        uint64_t got = mode > IR_RTN ? ir_fp_round_away(f->kind, a)
                                     : ir_fp_round_int(f->kind, a, (ir_round)mode);
        double want = round_by(value_of(f, a), mode), have = value_of(f, got);
        bool ok =
            isnan(want) ? got == canonical_nan(f) : bits_of_double(want) == bits_of_double(have);
        if (!ok) cr_assert(false, "%s: %#" PRIx64 " in mode %d: %a", f->name, a, mode, have);
    }
}

Test(fp, rounds_to_integral) {
    for (uint64_t a = 0; a < 65536; a++) {
        check_integral(&formats[F16], a);
        check_integral(&formats[BF16], a);
    }
    for (int i = 0; i < 100000; i++) {
        check_integral(&formats[F32], random_float(&formats[F32]));
        check_integral(&formats[F64], random_float(&formats[F64]));
    }
}

/* ----------------------------------------------------------------------------------- conversions
 */

static void check_convert(const format *to, const format *from, uint64_t a) {
    mpfr_t want;
    use_wide();
    mpfr_init2(want, to->precision);
    for (int mode = IR_RTE; mode <= IR_RTN; mode++) {
        use_format(to);
        int t = mpfr_set_d(want, value_of(from, a), mpfr_mode[mode]);
        t = mpfr_check_range(want, t, mpfr_mode[mode]);
        mpfr_subnormalize(want, t, mpfr_mode[mode]);
        uint64_t got = ir_fp_convert(to->kind, from->kind, a, (ir_round)mode);
        if (!same(to, got, want))
            cr_assert(false, "%s %#" PRIx64 " to %s in mode %d: %#" PRIx64, from->name, a, to->name,
                      mode, got);
    }
    use_wide();
    mpfr_clear(want);
}

Test(fp, converts_between_formats_in_all_modes) {
    for (const format *to = formats; to < formats + FORMATS; to++) {
        for (uint64_t a = 0; a < 65536; a += 3) {
            check_convert(to, &formats[F16], a);
            check_convert(to, &formats[BF16], a);
        }
        for (int i = 0; i < 20000; i++) {
            check_convert(to, &formats[F32], random_float(&formats[F32]));
            check_convert(to, &formats[F64], random_float(&formats[F64]));
        }
    }
}

/* Halfway points of the narrow format and their neighbours, in the wide one. */
Test(fp, converts_halfway_points) {
    const format *wide = &formats[F64];
    for (const format *to = formats; to < formats + F64; to++)
        for (int i = 0; i < 20000; i++) {
            uint64_t low = random_float(to) & (UINT64_MAX >> (65 - to->width));
            double x = value_of(to, low), y = value_of(to, low + 1);
            if (!isfinite(x) || !isfinite(y)) continue;
            uint64_t middle = bits_of_double(x / 2 + y / 2);
            for (uint64_t a = middle - 1; a <= middle + 1; a++) check_convert(to, wide, a);
        }
}

static void check_from_int(const format *to, uint64_t a) {
    mpfr_t want;
    use_wide();
    mpfr_init2(want, to->precision);
    for (int mode = IR_RTE; mode <= IR_RTN; mode++)
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            use_format(to);
            int t = is_signed ? mpfr_set_sj(want, (intmax_t)a, mpfr_mode[mode])
                              : mpfr_set_uj(want, a, mpfr_mode[mode]);
            mpfr_check_range(want, t, mpfr_mode[mode]);
            uint64_t got = ir_fp_from_int(to->kind, a, is_signed, (ir_round)mode);
            if (!same(to, got, want))
                cr_assert(false, "%" PRIu64 " to %s in mode %d: %#" PRIx64, a, to->name, mode, got);
        }
    use_wide();
    mpfr_clear(want);
}

Test(fp, converts_from_integers) {
    for (const format *to = formats; to < formats + FORMATS; to++) {
        for (uint64_t a = 0; a < 300; a++) {
            check_from_int(to, a);
            check_from_int(to, 0 - a);
            check_from_int(to, (UINT64_C(1) << 63) - 150 + a);
        }
        for (int i = 0; i < 20000; i++) check_from_int(to, random_bits() >> (random_bits() & 63));
    }
}

/* The oracle: round to an integer in MPFR, compare with the ends of the range. */
static uint64_t want_int(double x, unsigned bits, bool is_signed, int mode, bool sat) {
    mpfr_t v, low, high;
    use_wide();
    mpfr_inits2(128, v, low, high, (mpfr_ptr)0);
    mpfr_set_d(v, x, MPFR_RNDN);
    mpfr_rint(v, v, mpfr_mode[mode]);
    mpfr_set_ui_2exp(high, 1, (mpfr_exp_t)bits - is_signed, MPFR_RNDN);
    mpfr_neg(low, high, MPFR_RNDN);
    if (!is_signed) mpfr_set_zero(low, 1);
    mpfr_sub_ui(high, high, 1, MPFR_RNDN);
    bool inside = !mpfr_nan_p(v) && mpfr_cmp(v, low) >= 0 && mpfr_cmp(v, high) <= 0;
    uint64_t out = 0;
    if (!mpfr_nan_p(v) && (inside || sat)) {
        if (mpfr_cmp(v, low) < 0) mpfr_set(v, low, MPFR_RNDN);
        if (mpfr_cmp(v, high) > 0) mpfr_set(v, high, MPFR_RNDN);
        out = is_signed ? (uint64_t)mpfr_get_sj(v, MPFR_RNDN) : mpfr_get_uj(v, MPFR_RNDN);
    }
    mpfr_clears(v, low, high, (mpfr_ptr)0);
    return ir_zext(out, bits);
}

static void check_to_int(const format *f, uint64_t a, unsigned bits) {
    for (int mode = IR_RTE; mode <= IR_RTN; mode++)
        for (int rest = 0; rest < 4; rest++) {
            bool is_signed = rest & 1, sat = rest & 2;
            uint64_t got = ir_fp_to_int(f->kind, a, bits, is_signed, (ir_round)mode, sat);
            uint64_t want = want_int(value_of(f, a), bits, is_signed, mode, sat);
            if (got != want)
                cr_assert(false, "%a to %c%u, mode %d, sat %d: %#" PRIx64 ", want %#" PRIx64,
                          value_of(f, a), is_signed ? 's' : 'u', bits, mode, sat, got, want);
        }
}

Test(fp, converts_to_integers) {
    static const unsigned widths[] = {1, 8, 16, 31, 32, 63, 64};
    for (const format *f = formats; f < formats + FORMATS; f++) {
        uint64_t v[64];
        unsigned n = special_values(f, v);
        for (unsigned w = 0; w < 7; w++) {
            for (unsigned i = 0; i < n; i++) check_to_int(f, v[i], widths[w]);
            for (int i = 0; i < 300; i++) check_to_int(f, random_float(f), widths[w]);
            for (int half = -4; half <= 4; half++) { /* around the end of the range */
                double x = ldexp(1, (int)widths[w] - 1) + half / 2.0;
                check_to_int(f, ir_fp_from_double(f->kind, x), widths[w]);
                check_to_int(f, ir_fp_from_double(f->kind, -x), widths[w]);
                check_to_int(f, ir_fp_from_double(f->kind, 2 * x), widths[w]);
            }
        }
    }
}

Test(fp, doubles_pass_through) {
    for (uint64_t a = 0; a < 65536; a++)
        for (int i = F16; i <= BF16; i++) {
            const format *f = &formats[i];
            double d = ir_fp_to_double(f->kind, a);
            uint64_t back = ir_fp_from_double(f->kind, d);
            bool nan = isnan(value_of(f, a));
            cr_expect(nan ? back == canonical_nan(f) : back == a && d == value_of(f, a));
        }
}

/* ----------------------------------------------------------------------------------------- order
 */

static int host_order(double x, double y) { return isunordered(x, y) ? 2 : (x > y) - (x < y); }

static uint64_t host_min(const format *f, uint64_t a, uint64_t b, bool greater) {
    double x = value_of(f, a), y = value_of(f, b);
    if (isnan(x)) return isnan(y) ? canonical_nan(f) : b;
    if (isnan(y)) return a;
    if (x == y) return (!!signbit(x) != greater) ? a : b;
    return (x > y) == greater ? a : b;
}

static void check_order(const format *f, uint64_t a, uint64_t b) {
    double x = value_of(f, a), y = value_of(f, b);
    bool ok = ir_fp_compare(f->kind, a, b) == host_order(x, y) &&
              ir_fp_min(f->kind, a, b) == host_min(f, a, b, false) &&
              ir_fp_max(f->kind, a, b) == host_min(f, a, b, true) &&
              ir_fp_is_nan(f->kind, a) == !!isnan(x) && ir_fp_is_inf(f->kind, a) == !!isinf(x);
    if (!ok) cr_assert(false, "%s: order of %#" PRIx64 " and %#" PRIx64, f->name, a, b);
}

Test(fp, orders) {
    for (const format *f = formats; f < formats + FORMATS; f++) {
        uint64_t v[64];
        unsigned n = special_values(f, v);
        for (unsigned i = 0; i < n; i++)
            for (unsigned j = 0; j < n; j++) check_order(f, v[i], v[j]);
        for (int i = 0; i < 20000; i++) check_order(f, random_float(f), random_float(f));
    }
}

Test(fp, nextafter_agrees_with_the_host) {
    uint64_t v[64];
    unsigned n = special_values(&formats[F32], v);
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) {
            uint64_t want = bits_of_float(nextafterf(float_of(v[i]), float_of(v[j])));
            uint64_t got = ir_fp_nextafter(IR_F32, v[i], v[j]);
            cr_expect(same_as_host(got, want, &formats[F32]), "%#" PRIx64 " %#" PRIx64, v[i], v[j]);
        }
    cr_expect_eq(ir_fp_nextafter(IR_F16, 0, 0xbc00), 0x8001);
    cr_expect_eq(ir_fp_nextafter(IR_F16, 0x7bff, 0x7c00), 0x7c00);
}

/* ------------------------------------------------------------------------------------- exponents
 */

Test(fp, ldexp_agrees_with_the_host) {
    for (int i = 0; i < 200000; i++) {
        uint64_t a = random_float(&formats[F64]);
        int e = (int)(random_bits() % 5000) - 2500;
        uint64_t want = bits_of_double(ldexp(double_of(a), e));
        cr_assert(same_as_host(ir_fp_ldexp(IR_F64, a, e), want, &formats[F64]), "%#" PRIx64 " %d",
                  a, e);
    }
    cr_expect_eq(ir_fp_ldexp(IR_F32, 1, INT64_MAX), ir_fp_inf(IR_F32, false));
    cr_expect_eq(ir_fp_ldexp(IR_F32, 0x80000001, INT64_MIN), 0x80000000);
}

Test(fp, frexp_and_ilogb_take_apart) {
    for (uint64_t a = 0; a < 65536; a++) {
        const format *f = &formats[F16];
        double x = value_of(f, a);
        int want_e = 0;
        double want = frexp(x, &want_e);
        int32_t e;
        uint64_t m = ir_fp_frexp(f->kind, a, &e);
        if (isnan(x)) {
            cr_expect_eq(m, canonical_nan(f));
            continue;
        }
        cr_expect(value_of(f, m) == want && (isinf(x) || e == want_e));
        if (isfinite(x) && x != 0) cr_expect_eq(ir_fp_ilogb(f->kind, a), ilogb(x));
    }
    cr_expect_eq(ir_fp_ilogb(IR_F64, 0), INT_MIN);
    cr_expect_eq(ir_fp_ilogb(IR_F64, ir_fp_inf(IR_F64, true)), INT_MAX);
    cr_expect_eq(ir_fp_ilogb(IR_F64, ir_fp_nan(IR_F64)), INT_MAX);
}

/* ------------------------------------------------------------------------------------------- text
 */

static uint64_t parse(ir_kind k, const char *s) {
    uint64_t bits = 0xdead;
    size_t n = strlen(s), used = ir_fp_parse(k, s, n, &bits);
    cr_assert_eq(used, n, "\"%s\": %zu of %zu characters", s, used, n);
    return bits;
}

static void check_parse(const char *s) {
    uint64_t d = parse(IR_F64, s), f = parse(IR_F32, s);
    if (d != bits_of_double(strtod(s, NULL)) || f != bits_of_float(strtof(s, NULL)))
        cr_assert(false, "\"%s\": %#" PRIx64 " %#" PRIx64, s, d, f);
}

Test(fp, parses_hard_cases) {
    static const char *const hard[] = {
        "0",
        "-0",
        "0.0",
        ".5",
        "5.",
        "1e0",
        "1E5",
        "1e+5",
        "1e-5",
        "00012.500",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e309",
        "1e-400",
        "-1e400",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0e99999999999999999999",
        "9007199254740993",
        "9007199254740992.9999999999999999999",
        "9007199254740993.00000000000000000000000000000000000000000000001",
        "5e-324",
        "3e-324",
        "8.98846567431158e307",
        "6.631236846766476e-316",
        "123456789012345678901234567890",
        "0.1",
        "0.2",
        "0.3",
        "1.1754943508222875e-38",
        "1.4012984643248170e-45",
        "7.0064923216240853e-46",
        "7.0064923216240854e-46",
        "3.4028235677973366e38",
        "3.4028235677973365e38",
        "16777217",
        "16777219",
        "0x1p0",
        "0x1.8p+3",
        "0x.8p1",
        "0xAp-3",
        "0x1.fffffffffffff8p0",
        "0x1.fffffffffffff7p0",
        "0x1.fffffffffffff80000000000001p0",
        "0x0.0000000000001p-1022",
        "0x1p-1074",
        "0x1p-1075",
        "0x1.0000000001p-1075",
        "0x1p1024",
        "0x123456789abcdef0123456789abcdefp-100",
        "0x0p999999999999999999999",
        "inf",
        "-inf"};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) check_parse(hard[i]);
    cr_expect_eq(parse(IR_F64, "nan"), ir_fp_nan(IR_F64));
    cr_expect_eq(parse(IR_F32, "nan(0x7f800001)"), 0x7f800001);
    cr_expect_eq(parse(IR_F16, "nan(0xfe01)"), 0xfe01);
}

Test(fp, parses_prefixes_and_refuses_the_rest) {
    uint64_t bits;
    cr_expect_eq(ir_fp_parse(IR_F32, "1.5x", 4, &bits), 3);
    cr_expect_eq(ir_fp_parse(IR_F32, "1.5e", 4, &bits), 3);
    cr_expect_eq(ir_fp_parse(IR_F32, "1.5e+", 5, &bits), 3);
    cr_expect_eq(ir_fp_parse(IR_F32, "1.2.3", 5, &bits), 3);
    cr_expect_eq(ir_fp_parse(IR_F32, "12", 1, &bits), 1);
    static const char *const bad[] = {"",
                                      "-",
                                      ".",
                                      "e5",
                                      "0x",
                                      "0xp1",
                                      "x",
                                      "nan(0x7f800000)",
                                      "nan(0x1ff800001)",
                                      "nan(7)",
                                      "nan(0x7fc00001",
                                      "- 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_eq(ir_fp_parse(IR_F32, bad[i], strlen(bad[i]), &bits), 0, "\"%s\"", bad[i]);
}

Test(fp, parses_random_decimals) {
    for (int i = 0; i < 20000; i++) {
        char s[64], *p = s;
        uint64_t digits = 1 + random_bits() % 25, point = random_bits() % 26;
        if (random_bits() & 1) *p++ = '-';
        for (uint64_t d = 0; d < digits; d++) {
            if (d == point) *p++ = '.';
            *p++ = (char)('0' + random_bits() % 10);
        }
        sprintf(p, "e%d", (int)(random_bits() % 700) - 360);
        check_parse(s);
    }
}

/* Exact decimal expansions of points halfway between two doubles, and a digit to either side. */
Test(fp, parses_halfway_points) {
    mpfr_t x;
    use_wide();
    mpfr_init2(x, 64);
    for (int i = 0; i < 1000; i++) {
        uint64_t bits = random_float(&formats[F64]) & (UINT64_MAX >> 1);
        if (i & 1) bits &= UINT64_MAX >> 9;
        if (!isfinite(double_of(bits + 1))) continue;
        mpfr_set_d(x, double_of(bits), MPFR_RNDN);
        mpfr_t y;
        mpfr_init2(y, 64);
        mpfr_set_d(y, double_of(bits + 1), MPFR_RNDN);
        mpfr_add(x, x, y, MPFR_RNDN);
        mpfr_div_2ui(x, x, 1, MPFR_RNDN);
        mpfr_clear(y);
        char s[1200];
        mpfr_snprintf(s, sizeof s - 8, "%.1100Re", x);
        char *e = strchr(s, 'e'), tail[16];
        snprintf(tail, sizeof tail, "%s", e);
        check_parse(s);
        sprintf(e, "1%s", tail);
        check_parse(s);
        mpfr_nextbelow(x);
        mpfr_snprintf(s, sizeof s - 8, "%.40Re", x);
        check_parse(s);
    }
    mpfr_clear(x);
}

Test(fp, parses_half_floats_like_mpfr) {
    mpfr_t want;
    for (int i = 0; i < 20000; i++)
        for (int n = F16; n <= BF16; n++) {
            const format *f = &formats[n];
            char s[64];
            double x = value_of(f, random_float(f) & 0x7fff);
            if (!isfinite(x)) continue;
            sprintf(s, "%.*g", 3 + (int)(random_bits() % 12), x * (1 + ldexp(1, -f->precision)));
            use_format(f);
            mpfr_init2(want, f->precision);
            int t = mpfr_strtofr(want, s, NULL, 10, MPFR_RNDN);
            mpfr_subnormalize(want, t, MPFR_RNDN);
            uint64_t got = parse(f->kind, s);
            cr_assert(same(f, got, want), "%s: \"%s\" %#" PRIx64, f->name, s, got);
            use_wide();
            mpfr_clear(want);
        }
}

static void check_print(const format *f, uint64_t bits) {
    char s[40];
    uint64_t back = ~bits;
    size_t n = ir_fp_print(f->kind, bits, s);
    bool ok = n < 40 && s[n] == 0 && ir_fp_parse(f->kind, s, n, &back) == n && back == bits &&
              (strpbrk(s, ".ep") || strstr(s, "inf") || strstr(s, "nan"));
    if (!ok) cr_assert(false, "%s: %#" PRIx64 " as \"%s\" gives %#" PRIx64, f->name, bits, s, back);
}

Test(fp, prints_what_it_reads) {
    for (uint64_t a = 0; a < 65536; a++) {
        check_print(&formats[F16], a);
        check_print(&formats[BF16], a);
    }
    for (int i = 0; i < 20000; i++) {
        check_print(&formats[F32], random_float(&formats[F32]));
        check_print(&formats[F64], random_float(&formats[F64]));
    }
    for (int e = 0; e < 2047; e++)
        for (int d = -1; d <= 1; d++) check_print(&formats[F64], ((uint64_t)e << 52) + (uint64_t)d);
}

static int significant_digits(const char *s) {
    int n = 0, zeros = 0;
    for (; *s && *s != 'e'; s++) {
        if (*s < '0' || *s > '9') continue;
        if (*s != '0') {
            n += zeros + 1;
            zeros = 0;
        } else if (n) {
            zeros++;
        }
    }
    return n;
}

Test(fp, prints_the_fewest_digits) {
    for (int i = 0; i < 20000; i++) {
        char s[40], t[40];
        float x = float_of(random_float(&formats[F32]));
        if (!isfinite(x) || x == 0) continue;
        ir_fp_print(IR_F32, bits_of_float(x), s);
        int fewest = 1;
        for (; fewest < 9; fewest++) {
            sprintf(t, "%.*e", fewest - 1, (double)x);
            if (strtof(t, NULL) == x) break;
        }
        int n = significant_digits(s);
        cr_assert(n <= fewest, "\"%s\" has %d digits, \"%s\" does", s, n, t);
    }
}

Test(fp, prints_for_people) {
    static const struct {
        ir_kind k;
        double x;
        const char *text;
    } want[] = {{IR_F32, 1.5, "1.5"},
                {IR_F64, -0.0, "-0.0"},
                {IR_F64, 0.1, "0.1"},
                {IR_F32, 0.1f, "0.1"},
                {IR_F64, 0.1f, "0x1.99999ap-4"},
                {IR_F16, 0.1, "0.1"},
                {IR_F64, 100, "100.0"},
                {IR_F64, 1e30, "1e+30"},
                {IR_F64, 0x1p-1074, "5e-324"},
                {IR_F64, 0x1p63, "0x1p+63"},
                {IR_F32, 2147483648., "2147483600.0"},
                {IR_F64, 2147483648., "2147483648.0"},
                {IR_F64, 0.3333333333333333, "0.3333333333333333"},
                {IR_F64, 0.1 + 0.2, "0.30000000000000004"},
                {IR_F32, 1e-7f, "1e-7"},
                {IR_F32, 0.001f, "0.001"},
                {IR_F64, 12.25, "12.25"},
                {IR_F64, 9007199254740992., "0x1p+53"},
                {IR_F64, -INFINITY, "-inf"},
                {IR_F16, NAN, "nan"},
                {IR_F32, 3.4028235e38f, "3.4028235e+38"}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        char s[40];
        ir_fp_print(want[i].k, ir_fp_from_double(want[i].k, want[i].x), s);
        cr_expect_str_eq(s, want[i].text);
    }
}

/* ---------------------------------------------------------------------------------- independence
 */

Test(fp, host_rounding_mode_has_no_part) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    uint64_t sum[4] = {0}, third = 0;
    for (int m = 0; m < 4; m++) {
        fesetround(modes[m]);
        random_state = 42;
        for (int i = 0; i < 2000; i++) {
            uint64_t a = random_bits(), b = random_bits(), c = random_bits(), t = 0;
            sum[m] = ir_mix(sum[m], ir_fp_fma(IR_F64, a, b, c) ^ ir_fp_div(IR_F64, a, b));
            sum[m] = ir_mix(sum[m], ir_fp_sqrt(IR_F64, a) + ir_fp_add(IR_F64, b, c));
            sum[m] = ir_mix(sum[m], ir_fp_convert(IR_F32, IR_F64, a, IR_RTE));
            ir_fp_parse(IR_F64, "0.3333333333333333333", 21, &t);
            third |= t;
        }
        fesetround(FE_TONEAREST);
        cr_expect_eq(sum[m], sum[0]);
    }
    cr_expect_eq(third, bits_of_double(1.0 / 3));
}
