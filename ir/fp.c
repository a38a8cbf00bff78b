/* fp.c — IEEE 754 arithmetic on bit patterns: F16, BF16, F32 and F64 through one core.
 *
 * Every operation takes its operands apart (unpack: the significand as a 64-bit integer whose top
 * bit is set, and its exponent), computes the exact result or one whose lowest bit is sticky, and
 * rounds once (pack).  A significand has at most 53 bits, so 64 bits leave 11 below the last one
 * that counts: more than the two (guard and sticky) that rounding needs.  Products, quotients and
 * square roots pass through 128-bit integers.  See Muller et al., "Handbook of Floating-Point
 * Arithmetic" (2nd edition, 2018), chapters 7 and 8.
 *
 * All computation is on integers, so the host's rounding mode, its treatment of denormals and its
 * float unit do not affect results.  Rounding is to nearest, ties to even, unless a mode is given;
 * denormals are kept; every NaN result is the canonical quiet NaN with sign 0.  There are no
 * exception flags.
 *
 * Conversions, comparisons and everything else that does not compute is in fp_convert.c; text is
 * in fp_text.c.
 */
#include "ir/eval.h"

typedef ir_fp_parts parts;

/* A rounding that only round() asks for, beside those of ir_round. */
enum { TIES_AWAY = IR_RTN + 1 };

/* Fraction bits, width, and the exponent of the greatest finite number (also the bias). */
typedef struct {
    uint8_t frac, width;
    int16_t emax;
} format;

static inline format format_of(ir_kind k) {
    static const format formats[] = {{10, 16, 15}, {7, 16, 127}, {23, 32, 127}, {52, 64, 1023}};
    return formats[k - IR_F16];
}

/* ------------------------------------------------------------------------------------- the core */

/* x * 2^-n, the bits that fall off collected in bit 0. */
static inline uint64_t shift_right_sticky(uint64_t x, unsigned n) {
    if (n > 63) return x != 0;
    return x >> n | (n && x << (64 - n));
}

static inline ir_u128 shift_right_sticky128(ir_u128 x, unsigned n) {
    if (n > 127) return x != 0;
    return x >> n | (n && x << (128 - n));
}

/* mant * 2^-drop as an integer, rounded. */
static inline uint64_t round_off(uint64_t mant, unsigned drop, bool sign, unsigned mode) {
    if (drop == 0) return mant;
    if (drop > 62) {
        mant = shift_right_sticky(mant, drop - 62);
        drop = 62;
    }
    uint64_t kept = mant >> drop, rest = mant & ((UINT64_C(1) << drop) - 1);
    uint64_t half = UINT64_C(1) << (drop - 1);
    bool up = false;
    switch (mode) {
    case IR_RTE: up = rest > half || (rest == half && (kept & 1)); break;
    case IR_RTZ: break;
    case IR_RTP: up = rest && !sign; break;
    case IR_RTN: up = rest && sign; break;
    case TIES_AWAY: up = rest >= half; break;
    }
    return kept + up;
}

static inline parts unpack(ir_kind k, uint64_t a) {
    format f = format_of(k);
    uint64_t fraction = a & ((UINT64_C(1) << f.frac) - 1);
    int biased = (int)(a >> f.frac) & (2 * f.emax + 1);
    parts p = {.sign = a >> (f.width - 1) & 1, .what = IR_FP_FINITE};
    if (biased == 2 * f.emax + 1) {
        p.what = fraction ? IR_FP_NAN : IR_FP_INF;
    } else if (biased) {
        p.mant = (fraction | UINT64_C(1) << f.frac) << (63 - f.frac);
        p.exp = biased - f.emax;
    } else if (fraction) {
        int shift = __builtin_clzll(fraction);
        p.mant = fraction << shift;
        p.exp = 1 - f.emax - f.frac + 63 - shift;
    } else {
        p.what = IR_FP_ZERO;
    }
    return p;
}

static inline uint64_t infinity(ir_kind k) {
    format f = format_of(k);
    return (uint64_t)(2 * f.emax + 1) << f.frac;
}

static inline uint64_t canonical_nan(ir_kind k) {
    return infinity(k) | UINT64_C(1) << (format_of(k).frac - 1);
}

static inline uint64_t signed_bits(ir_kind k, bool sign, uint64_t magnitude) {
    return (uint64_t)sign << (format_of(k).width - 1) | magnitude;
}

/* The exponent field is added to the rounded significand, hidden bit included, so that a carry out
 * of the fraction, from denormal to normal and from the greatest number to infinity is right. */
static inline uint64_t pack(ir_kind k, unsigned mode, bool sign, int exp, uint64_t mant) {
    if (!mant) return signed_bits(k, sign, 0);
    format f = format_of(k);
    int shift = __builtin_clzll(mant), emin = 1 - f.emax;
    mant <<= shift;
    exp -= shift;
    unsigned drop = 63u - f.frac;
    uint64_t field = 0;
    if (exp < emin)
        drop += exp < emin - 64 ? 64u : (unsigned)(emin - exp);
    else
        field = (uint64_t)(exp - emin) << f.frac;
    uint64_t inf = infinity(k);
    uint64_t bits = exp > f.emax ? inf : field + round_off(mant, drop, sign, mode);
    if (bits >= inf) {
        bool to_inf = mode == IR_RTE || mode == TIES_AWAY || mode == (sign ? IR_RTN : IR_RTP);
        bits = to_inf ? inf : inf - 1;
    }
    return signed_bits(k, sign, bits);
}

static inline uint64_t repack(ir_kind k, parts p) { return pack(k, IR_RTE, p.sign, p.exp, p.mant); }

ir_fp_parts ir_fp_unpack(ir_kind k, uint64_t a) { return unpack(k, a); }

uint64_t ir_fp_pack(ir_kind k, ir_round mode, bool sign, int32_t exp, uint64_t mant) {
    return pack(k, mode, sign, exp, mant);
}

uint64_t ir_fp_nan(ir_kind k) { return canonical_nan(k); }

uint64_t ir_fp_inf(ir_kind k, bool negative) { return signed_bits(k, negative, infinity(k)); }

/* -------------------------------------------------------------------- sums, products, quotients */

static uint64_t add_special(ir_kind k, parts a, parts b) {
    if (a.what == IR_FP_NAN || b.what == IR_FP_NAN) return canonical_nan(k);
    if (a.what == IR_FP_INF && b.what == IR_FP_INF && a.sign != b.sign) return canonical_nan(k);
    if (a.what == IR_FP_INF) return ir_fp_inf(k, a.sign);
    if (b.what == IR_FP_INF) return ir_fp_inf(k, b.sign);
    if (a.what == IR_FP_FINITE) return repack(k, a);
    if (b.what == IR_FP_FINITE) return repack(k, b);
    return signed_bits(k, a.sign && b.sign, 0);
}

static uint64_t add(ir_kind k, parts a, parts b) {
    if (a.what != IR_FP_FINITE || b.what != IR_FP_FINITE) return add_special(k, a, b);
    if (a.exp < b.exp || (a.exp == b.exp && a.mant < b.mant)) {
        parts t = a;
        a = b;
        b = t;
    }
    uint64_t x = a.mant >> 2, y = shift_right_sticky(b.mant >> 2, (unsigned)(a.exp - b.exp));
    uint64_t sum = a.sign == b.sign ? x + y : x - y;
    return sum ? pack(k, IR_RTE, a.sign, a.exp + 2, sum) : 0;
}

uint64_t ir_fp_add(ir_kind k, uint64_t a, uint64_t b) { return add(k, unpack(k, a), unpack(k, b)); }

uint64_t ir_fp_sub(ir_kind k, uint64_t a, uint64_t b) {
    parts y = unpack(k, b);
    y.sign = !y.sign;
    return add(k, unpack(k, a), y);
}

static uint64_t mul_special(ir_kind k, parts a, parts b) {
    bool sign = a.sign != b.sign;
    if (a.what == IR_FP_NAN || b.what == IR_FP_NAN) return canonical_nan(k);
    if (a.what != IR_FP_INF && b.what != IR_FP_INF) return signed_bits(k, sign, 0);
    if (a.what == IR_FP_ZERO || b.what == IR_FP_ZERO) return canonical_nan(k);
    return ir_fp_inf(k, sign);
}

uint64_t ir_fp_mul(ir_kind k, uint64_t a, uint64_t b) {
    parts x = unpack(k, a), y = unpack(k, b);
    if (x.what != IR_FP_FINITE || y.what != IR_FP_FINITE) return mul_special(k, x, y);
    ir_u128 product = (ir_u128)x.mant * y.mant;
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    return pack(k, IR_RTE, x.sign != y.sign, x.exp + y.exp + 1, high | (low != 0));
}

static uint64_t div_special(ir_kind k, parts a, parts b) {
    bool sign = a.sign != b.sign;
    if (a.what == IR_FP_NAN || b.what == IR_FP_NAN || (a.what == b.what)) return canonical_nan(k);
    if (a.what == IR_FP_INF || b.what == IR_FP_ZERO) return ir_fp_inf(k, sign);
    return signed_bits(k, sign, 0);
}

uint64_t ir_fp_div(ir_kind k, uint64_t a, uint64_t b) {
    parts x = unpack(k, a), y = unpack(k, b);
    if (x.what != IR_FP_FINITE || y.what != IR_FP_FINITE) return div_special(k, x, y);
    ir_u128 dividend = (ir_u128)x.mant << 63;
    uint64_t quotient = (uint64_t)(dividend / y.mant), rest = (uint64_t)(dividend % y.mant);
    return pack(k, IR_RTE, x.sign != y.sign, x.exp - y.exp, quotient | (rest != 0));
}

/* product * 2^(exp - 127) + c, for a finite product and a finite c. */
static uint64_t add_to_product(ir_kind k, bool sign, int exp, ir_u128 product, parts c) {
    ir_u128 x = product >> 2, y = (ir_u128)c.mant << 62, sum;
    if (exp >= c.exp) {
        y = shift_right_sticky128(y, (unsigned)(exp - c.exp));
    } else {
        x = shift_right_sticky128(x, (unsigned)(c.exp - exp));
        exp = c.exp;
    }
    if (sign == c.sign) {
        sum = x + y;
    } else {
        if (x == y) return 0;
        if (x < y) sign = !sign;
        sum = x < y ? y - x : x - y;
    }
    uint64_t high = (uint64_t)(sum >> 64);
    int shift = high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)sum);
    sum <<= shift;
    return pack(k, IR_RTE, sign, exp + 2 - shift, (uint64_t)(sum >> 64) | ((uint64_t)sum != 0));
}

uint64_t ir_fp_fma(ir_kind k, uint64_t a, uint64_t b, uint64_t c) {
    parts x = unpack(k, a), y = unpack(k, b), z = unpack(k, c);
    bool sign = x.sign != y.sign;
    if (x.what != IR_FP_FINITE || y.what != IR_FP_FINITE)
        return add(k, unpack(k, mul_special(k, x, y)), z);
    if (z.what == IR_FP_NAN || z.what == IR_FP_INF) return add_special(k, x, z);
    if (z.what == IR_FP_ZERO) return ir_fp_mul(k, a, b);
    return add_to_product(k, sign, x.exp + y.exp + 1, (ir_u128)x.mant * y.mant, z);
}

/* The top `bits` bits of the 64-bit root of m, which is at least 2^126; sticky below. */
static uint64_t square_root(ir_u128 m, unsigned bits) {
    uint64_t root = 0;
    for (unsigned bit = 63; bit > 63 - bits; bit--) {
        ir_u128 trial = ((ir_u128)root << (bit + 1)) + ((ir_u128)1 << 2 * bit);
        if (m < trial) continue;
        m -= trial;
        root |= UINT64_C(1) << bit;
    }
    return root | (m != 0);
}

uint64_t ir_fp_sqrt(ir_kind k, uint64_t a) {
    parts x = unpack(k, a);
    if (x.what == IR_FP_ZERO) return a;
    if (x.what == IR_FP_NAN || x.sign) return canonical_nan(k);
    if (x.what == IR_FP_INF) return a;
    unsigned odd = (unsigned)x.exp & 1;
    uint64_t root = square_root((ir_u128)x.mant << (63 + odd), format_of(k).frac + 2u);
    return pack(k, IR_RTE, false, (x.exp - (int)odd) / 2, root);
}

/* ----------------------------------------------------------------------------------- remainders */

/* |a| mod |b| as *rest * 2^(b.exp - 63), for a.exp >= b.exp; gives the low bits of the quotient. */
static uint64_t reduce(parts a, parts b, uint64_t *rest) {
    uint64_t r = a.mant, quotient = 0;
    if (r >= b.mant) {
        r -= b.mant;
        quotient = 1;
    }
    for (int left = a.exp - b.exp; left > 0;) {
        int step = left < 63 ? left : 63;
        ir_u128 wide = (ir_u128)r << step;
        quotient = (quotient << step) + (uint64_t)(wide / b.mant);
        r = (uint64_t)(wide % b.mant);
        left -= step;
    }
    *rest = r;
    return quotient;
}

/* Is the remainder of a by b a special case, which needs no division?  Then it is in *out. */
static bool rem_special(ir_kind k, uint64_t a, parts x, parts y, uint64_t *out) {
    if (x.what == IR_FP_NAN || x.what == IR_FP_INF || y.what == IR_FP_NAN || y.what == IR_FP_ZERO)
        *out = canonical_nan(k);
    else if (x.what == IR_FP_ZERO || y.what == IR_FP_INF)
        *out = a;
    else
        return false;
    return true;
}

uint64_t ir_fp_rem(ir_kind k, uint64_t a, uint64_t b) {
    parts x = unpack(k, a), y = unpack(k, b);
    uint64_t rest;
    if (rem_special(k, a, x, y, &rest)) return rest;
    if (x.exp < y.exp) return a;
    reduce(x, y, &rest);
    return pack(k, IR_RTE, x.sign, y.exp, rest);
}

uint64_t ir_fp_remainder(ir_kind k, uint64_t a, uint64_t b, int *quotient) {
    parts x = unpack(k, a), y = unpack(k, b);
    uint64_t rest, n = 0;
    *quotient = 0;
    if (rem_special(k, a, x, y, &rest)) return rest;
    if (x.exp < y.exp - 1) return a;
    bool sign = x.sign;
    if (x.exp < y.exp)
        rest = x.mant >> 1; /* exact: the low bits are 0 */
    else
        n = reduce(x, y, &rest);
    uint64_t other = y.mant - rest;
    if (rest > other || (rest == other && (n & 1))) {
        rest = other;
        sign = !sign;
        n++;
    }
    *quotient = (int)(n & 127);
    if (x.sign != y.sign) *quotient = -*quotient;
    return pack(k, IR_RTE, sign, y.exp, rest);
}

/* ------------------------------------------------------------------------------ integral values */

static uint64_t round_integral(ir_kind k, uint64_t a, unsigned mode) {
    parts x = unpack(k, a);
    if (x.what == IR_FP_NAN) return canonical_nan(k);
    if (x.what != IR_FP_FINITE || x.exp >= format_of(k).frac) return a;
    unsigned drop = x.exp < -1 ? 65 : (unsigned)(63 - x.exp);
    return pack(k, IR_RTE, x.sign, 63, round_off(x.mant, drop, x.sign, mode));
}

uint64_t ir_fp_round_int(ir_kind k, uint64_t a, ir_round mode) {
    return round_integral(k, a, mode);
}

uint64_t ir_fp_round_away(ir_kind k, uint64_t a) { return round_integral(k, a, TIES_AWAY); }
