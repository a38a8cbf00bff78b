/* fp_text_test.c — float literals against strtod and MPFR, and back from text to the same bits.
 *
 * Reading: hard cases from the literature, exact decimal expansions of points halfway between two
 * doubles (up to 1100 digits), random digits and exponents.  Printing: every 16-bit float, random
 * ones and all powers of two read back as they were, with no more digits than needed.
 */
#include "ir/eval.h"
#include "tests/ir/fp_oracle.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>

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

Test(fp_text, parses_hard_cases) {
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

Test(fp_text, parses_prefixes_and_refuses_the_rest) {
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

Test(fp_text, parses_random_decimals) {
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
Test(fp_text, parses_halfway_points) {
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

Test(fp_text, parses_half_floats_like_mpfr) {
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

Test(fp_text, prints_what_it_reads) {
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

Test(fp_text, prints_the_fewest_digits) {
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

Test(fp_text, prints_for_people) {
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
