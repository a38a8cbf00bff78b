/* fp_test.c — soft float arithmetic against MPFR and the host.
 *
 * Sixteen-bit formats are covered exhaustively (unary) or over a dense set of special values
 * (binary and ternary); F32 and F64 by special values and by random bits, which also meet the
 * host's own float unit.
 */
#include "ir/eval.h"
#include "tests/ir/fp_oracle.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <fenv.h>
#include <stdlib.h>

/* ----------------------------------------------------------------------------------- the oracle */

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

/* ----------------------------------------------------------------------------------- arithmetic */

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

/* ------------------------------------------------------------------------------ integral values */

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

/* --------------------------------------------------------------------------------- independence */

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
