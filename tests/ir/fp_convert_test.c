/* fp_convert_test.c — conversions, order and exponents of soft floats, against MPFR and the host.
 *
 * Conversions are tried in all four rounding modes, on halfway points and their neighbours too, and
 * to integers of seven widths with and without saturation around the ends of their ranges.
 */
#include "ir/eval.h"
#include "tests/ir/fp_oracle.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <limits.h>

/* ---------------------------------------------------------------------------------- conversions */

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

Test(fp_convert, converts_between_formats_in_all_modes) {
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
Test(fp_convert, converts_halfway_points) {
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

Test(fp_convert, converts_from_integers) {
    for (const format *to = formats; to < formats + FORMATS; to++) {
        for (uint64_t a = 0; a < 300; a++) {
            check_from_int(to, a);
            check_from_int(to, 0 - a);
            check_from_int(to, (UINT64_C(1) << 63) - 150 + a);
        }
        for (int i = 0; i < 20000; i++) check_from_int(to, random_bits() >> (random_bits() & 63));
    }
}

static uint64_t want_int(double x, unsigned bits, bool is_signed, int mode, bool sat);

/* Outside of the range, not saturated. */
static uint64_t want_outside(double x, unsigned bits, bool is_signed, int mode) {
    if (bits < 32) return ir_zext(want_int(x, 32, true, mode, false), bits);
    if (is_signed) return UINT64_C(1) << (bits - 1);
    return x > 0 ? 0 : want_int(x, bits, true, mode, false);
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
    return inside || sat ? ir_zext(out, bits) : want_outside(x, bits, is_signed, mode);
}

static void check_to_int(const format *f, uint64_t a, unsigned bits) {
    for (int mode = IR_RTE; mode <= IR_RTN; mode++)
        for (int rest = 0; rest < 4; rest++) {
            bool is_signed = rest & 1, sat = rest & 2;
            ir_rounding round = {.mode = (uint8_t)mode, .sat = sat};
            uint64_t got = ir_fp_to_int(f->kind, a, bits, is_signed, round);
            uint64_t want = want_int(value_of(f, a), bits, is_signed, mode, sat);
            if (got != want)
                cr_assert(false, "%a to %c%u, mode %d, sat %d: %#" PRIx64 ", want %#" PRIx64,
                          value_of(f, a), is_signed ? 's' : 'u', bits, mode, sat, got, want);
        }
}

Test(fp_convert, converts_to_integers) {
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

Test(fp_convert, doubles_pass_through) {
    for (uint64_t a = 0; a < 65536; a++)
        for (int i = F16; i <= BF16; i++) {
            const format *f = &formats[i];
            double d = ir_fp_to_double(f->kind, a);
            uint64_t back = ir_fp_from_double(f->kind, d);
            bool nan = isnan(value_of(f, a));
            cr_expect(nan ? back == canonical_nan(f) : back == a && d == value_of(f, a));
        }
}

/* ---------------------------------------------------------------------------------------- order */

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

Test(fp_convert, orders) {
    for (const format *f = formats; f < formats + FORMATS; f++) {
        uint64_t v[64];
        unsigned n = special_values(f, v);
        for (unsigned i = 0; i < n; i++)
            for (unsigned j = 0; j < n; j++) check_order(f, v[i], v[j]);
        for (int i = 0; i < 20000; i++) check_order(f, random_float(f), random_float(f));
    }
}

Test(fp_convert, nextafter_agrees_with_the_host) {
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

/* ------------------------------------------------------------------------------------ exponents */

Test(fp_convert, ldexp_agrees_with_the_host) {
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

Test(fp_convert, frexp_and_ilogb_take_apart) {
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
