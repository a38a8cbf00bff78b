/* fp_text.c — float literals: reading with correct rounding, printing the shortest text.
 *
 * Reading keeps the first MAX_DIGITS significant digits and whether anything follows; the longest
 * halfway point of a double has 767, so that is enough to round correctly.  The digits, times or
 * over a power of five, are divided as big integers into a 64-bit quotient with a sticky bit, which
 * ir_fp_pack rounds.  Work is bounded by the size of the big integers, not by the exponent written.
 * See Clinger, "How to Read Floating Point Numbers Accurately", PLDI 1990.
 *
 * Printing generates the shortest decimal digits that lie within the rounding interval, and of
 * those the closest: Steele and White, "How to Print Floating-Point Numbers Accurately", PLDI 1990,
 * with the scaling of Burger and Dybvig, PLDI 1996.  Hexadecimal replaces decimal when more than
 * ten digits are needed and it is shorter: 0x1p+63, but 0.30000000000000004.
 *
 * Grammar: [+-] ( inf | nan | nan(0xBITS) | digits[.digits][e[+-]digits]
 *                 | 0xdigits[.digits][p[+-]digits] ), at least one digit before or after the point.
 * BITS is the whole pattern of the float and must be a NaN of its format.  The locale has no
 * effect.
 */
#include "ir/eval.h"

#include <inttypes.h>

/* --------------------------------------------------------------------------------- big integers */

enum { BIG_WORDS = 96, MAX_DIGITS = 770 };

/* Little-endian; w[n - 1] is not 0.  3072 bits: 10^MAX_DIGITS has 2558, 5^1170 has 2717. */
typedef struct {
    unsigned n;
    uint32_t w[BIG_WORDS];
} big;

static void big_set(big *x, uint64_t value) {
    x->n = 0;
    for (; value; value >>= 32) x->w[x->n++] = (uint32_t)value;
}

static void big_put(big *x, uint64_t word) {
    assert(x->n < BIG_WORDS);
    x->w[x->n++] = (uint32_t)word;
}

/* x = x * factor + carry */
static void big_multiply(big *x, uint32_t factor, uint32_t carry) {
    uint64_t t = carry;
    for (unsigned i = 0; i < x->n; i++, t >>= 32) {
        t += (uint64_t)x->w[i] * factor;
        x->w[i] = (uint32_t)t;
    }
    if (t) big_put(x, t);
}

static void big_multiply_power_of_5(big *x, unsigned exponent) {
    enum { STEP = 13, FIVE_TO_STEP = 1220703125 };
    for (; exponent >= STEP; exponent -= STEP) big_multiply(x, FIVE_TO_STEP, 0);
    for (; exponent; exponent--) big_multiply(x, 5, 0);
}

static unsigned big_bits(const big *x) {
    return x->n ? 32 * x->n - (unsigned)__builtin_clz(x->w[x->n - 1]) : 0;
}

static void big_shift_left(big *x, unsigned bits) {
    unsigned words = bits / 32;
    if (!x->n) return;
    assert(x->n + words <= BIG_WORDS);
    memmove(x->w + words, x->w, x->n * sizeof *x->w);
    memset(x->w, 0, words * sizeof *x->w);
    x->n += words;
    if (bits % 32) big_multiply(x, UINT32_C(1) << bits % 32, 0);
}

static int big_compare(const big *x, const big *y) {
    if (x->n != y->n) return x->n < y->n ? -1 : 1;
    for (unsigned i = x->n; i-- > 0;)
        if (x->w[i] != y->w[i]) return x->w[i] < y->w[i] ? -1 : 1;
    return 0;
}

/* x -= y, for x >= y */
static void big_subtract(big *x, const big *y) {
    int64_t t = 0;
    for (unsigned i = 0; i < x->n; i++, t >>= 32) {
        t += (int64_t)x->w[i] - (i < y->n ? y->w[i] : 0);
        x->w[i] = (uint32_t)t;
    }
    while (x->n && !x->w[x->n - 1]) x->n--;
}

static void big_add(big *x, const big *y) {
    uint64_t t = 0;
    while (x->n < y->n) big_put(x, 0);
    for (unsigned i = 0; i < x->n; i++, t >>= 32) {
        t += (uint64_t)x->w[i] + (i < y->n ? y->w[i] : 0);
        x->w[i] = (uint32_t)t;
    }
    if (t) big_put(x, t);
}

/* Is x + y greater than z, or equal to it when `or_equal`? */
static bool big_sum_exceeds(const big *x, const big *y, const big *z, bool or_equal) {
    big sum = *x;
    big_add(&sum, y);
    return big_compare(&sum, z) > (or_equal ? -1 : 0);
}

/* num / den = q * 2^(*exp - 63), the last bit of q sticky.  Destroys both. */
static uint64_t big_quotient(big *num, big *den, int *exp) {
    unsigned n = big_bits(num), d = big_bits(den);
    big_shift_left(num, d > n ? d - n : 0);
    big_shift_left(den, n > d ? n - d : 0);
    *exp = (int)n - (int)d;
    uint64_t q = 0;
    for (unsigned bit = 0; bit < 64; bit++) {
        q <<= 1;
        if (big_compare(num, den) >= 0) {
            big_subtract(num, den);
            q |= 1;
        }
        big_shift_left(num, 1);
    }
    return q | (num->n != 0);
}

/* -------------------------------------------------------------------------------------- reading */

typedef struct {
    const char *s;
    size_t n, at;
} cursor;

static int peek(const cursor *c) { return c->at < c->n ? (unsigned char)c->s[c->at] : -1; }

/* Takes `word` when it comes next, in lower case. */
static bool accept(cursor *c, const char *word) {
    size_t n = strlen(word);
    if (c->n - c->at < n || memcmp(c->s + c->at, word, n) != 0) return false;
    c->at += n;
    return true;
}

static int digit_value(int ch, int base) {
    int v = ch >= '0' && ch <= '9'   ? ch - '0'
            : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
            : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
                                     : 99;
    return v < base ? v : -1;
}

/* The exponent after `letter`, 0 when there is none; a huge one stays huge without overflow. */
static int64_t take_exponent(cursor *c, char letter) {
    cursor start = *c;
    if ((peek(c) | 32) != letter) return 0;
    c->at++;
    bool negative = peek(c) == '-';
    if (negative || peek(c) == '+') c->at++;
    if (digit_value(peek(c), 10) < 0) {
        *c = start;
        return 0;
    }
    int64_t value = 0;
    for (int d; (d = digit_value(peek(c), 10)) >= 0; c->at++)
        if (value < INT64_C(1) << 56) value = 10 * value + d;
    return negative ? -value : value;
}

/* Exponents beyond this overflow or vanish in every format. */
static int32_t limit_exponent(int64_t e) {
    enum { FAR = 1 << 20 };
    return (int32_t)(e > FAR ? FAR : e < -FAR ? -FAR : e);
}

/* Digits read so far: value * 10^exponent (or mant * 2^exponent), and whether more followed. */
typedef struct {
    big value;
    uint64_t mant;
    int64_t exponent;
    unsigned kept;
    bool any, tail;
} number;

static void take_decimal_digit(number *x, unsigned digit, bool fraction) {
    if (x->kept == MAX_DIGITS) {
        x->tail |= digit != 0;
        x->exponent += !fraction;
        return;
    }
    if (x->kept || digit) {
        big_multiply(&x->value, 10, digit);
        x->kept++;
    }
    x->exponent -= fraction;
}

static void take_hex_digit(number *x, unsigned digit, bool fraction) {
    if (x->mant >> 60) {
        x->mant |= digit != 0;
        x->exponent += fraction ? 0 : 4;
    } else {
        x->mant = x->mant << 4 | digit;
        x->exponent -= fraction ? 4 : 0;
    }
}

/* Digits with at most one point among them. */
static void take_digits(cursor *c, number *x, int base) {
    for (bool fraction = false;; c->at++) {
        int d = digit_value(peek(c), base);
        if (d < 0) {
            if (fraction || peek(c) != '.') return;
            fraction = true;
            continue;
        }
        x->any = true;
        (base == 10 ? take_decimal_digit : take_hex_digit)(x, (unsigned)d, fraction);
    }
}

static uint64_t round_decimal(ir_kind k, bool sign, number *x) {
    if (x->tail) { /* stands for all that was not kept */
        big_multiply(&x->value, 10, 1);
        x->exponent--;
        x->kept++;
    }
    if (!x->kept) return ir_fp_pack(k, IR_RTE, sign, 0, 0);
    int64_t magnitude = x->kept + x->exponent; /* 10^(magnitude - 1) <= value < 10^magnitude */
    if (magnitude > 400 || magnitude < -400)
        return ir_fp_pack(k, IR_RTE, sign, magnitude > 0 ? 1 << 20 : -(1 << 20), 1);
    big den;
    big_set(&den, 1);
    if (x->exponent < 0)
        big_multiply_power_of_5(&den, (unsigned)-x->exponent);
    else
        big_multiply_power_of_5(&x->value, (unsigned)x->exponent);
    int exp;
    uint64_t mant = big_quotient(&x->value, &den, &exp);
    return ir_fp_pack(k, IR_RTE, sign, exp + (int)x->exponent, mant);
}

static bool read_decimal(ir_kind k, bool sign, cursor *c, uint64_t *bits) {
    number x = {.kept = 0};
    take_digits(c, &x, 10);
    if (!x.any) return false;
    x.exponent += take_exponent(c, 'e');
    *bits = round_decimal(k, sign, &x);
    return true;
}

static bool read_hex(ir_kind k, bool sign, cursor *c, uint64_t *bits) {
    number x = {.kept = 0};
    take_digits(c, &x, 16);
    if (!x.any) return false;
    x.exponent += take_exponent(c, 'p');
    *bits = ir_fp_pack(k, IR_RTE, sign, 63 + limit_exponent(x.exponent), x.mant);
    return true;
}

static uint64_t sign_mask(ir_kind k) { return ir_fp_inf(k, true) ^ ir_fp_inf(k, false); }

/* After "nan": the canonical one, or the pattern in parentheses. */
static bool read_nan(ir_kind k, bool sign, cursor *c, uint64_t *bits) {
    *bits = ir_fp_nan(k) | (sign ? sign_mask(k) : 0);
    if (!accept(c, "(")) return true;
    uint64_t v = 0;
    if (!accept(c, "0x") || digit_value(peek(c), 16) < 0) return false;
    for (int d; (d = digit_value(peek(c), 16)) >= 0; c->at++) {
        if (v >> 60) return false;
        v = v << 4 | (unsigned)d;
    }
    *bits = v;
    bool fits = (v & ~(2 * sign_mask(k) - 1)) == 0;
    return accept(c, ")") && fits && !sign && ir_fp_is_nan(k, v);
}

size_t ir_fp_parse(ir_kind k, const char *s, size_t n, uint64_t *bits) {
    cursor c = {s, n, 0};
    bool sign = accept(&c, "-"), ok = true;
    if (!sign) accept(&c, "+");
    if (accept(&c, "inf"))
        *bits = ir_fp_inf(k, sign);
    else if (accept(&c, "nan"))
        ok = read_nan(k, sign, &c, bits);
    else if (accept(&c, "0x") || accept(&c, "0X"))
        ok = read_hex(k, sign, &c, bits);
    else
        ok = read_decimal(k, sign, &c, bits);
    return ok ? c.at : 0;
}

/* ------------------------------------------------------------------------------------- printing */

/* Shortest digits of a number: 0.d1 d2 … dn * 10^point. */
typedef struct {
    char digit[20];
    int n, point;
} digits;

/* What digit generation works on: the number is r / s; the ends of its rounding interval lie
 * `above` / s and `below` / s away, and belong to it when `closed`. */
typedef struct {
    big r, s, above, below;
    bool closed;
} interval;

static unsigned fraction_bits(ir_kind k) { return (unsigned)__builtin_ctzll(ir_fp_inf(k, false)); }

static void set_interval(interval *v, ir_kind k, uint64_t bits) {
    uint64_t hidden = UINT64_C(1) << fraction_bits(k);
    uint64_t fraction = bits & (hidden - 1), biased = bits >> fraction_bits(k);
    int ulp = ir_fp_ilogb(k, 1) + (biased ? (int)biased - 1 : 0); /* its logarithm */
    unsigned wide = !fraction && biased > 1 ? 2 : 1; /* the float below is half as far away */
    big_set(&v->r, (biased ? fraction | hidden : fraction) * 2 * wide);
    big_set(&v->s, 2 * wide);
    big_set(&v->above, wide);
    big_set(&v->below, 1);
    v->closed = !(bits & 1);
    if (ulp < 0) {
        big_shift_left(&v->s, (unsigned)-ulp);
        return;
    }
    big_shift_left(&v->r, (unsigned)ulp);
    big_shift_left(&v->above, (unsigned)ulp);
    big_shift_left(&v->below, (unsigned)ulp);
}

static void big_multiply_power_of_10(big *x, unsigned exponent) {
    big_multiply_power_of_5(x, exponent);
    big_shift_left(x, exponent);
}

/* Scales r / s into [1/10, 1) and gives the decimal exponent.  floor(log2) * log10(2) is at most
 * the wanted one and less by two at most. */
static int scale(interval *v, int log2) {
    int point = log2 * 78913 >> 18;
    if (point >= 0) {
        big_multiply_power_of_10(&v->s, (unsigned)point);
    } else {
        big_multiply_power_of_10(&v->r, (unsigned)-point);
        big_multiply_power_of_10(&v->above, (unsigned)-point);
        big_multiply_power_of_10(&v->below, (unsigned)-point);
    }
    for (; big_sum_exceeds(&v->r, &v->above, &v->s, v->closed); point++) big_multiply(&v->s, 10, 0);
    return point;
}

/* Takes the next decimal digit out of r / s. */
static int next_digit(interval *v) {
    int digit = 0;
    big_multiply(&v->r, 10, 0);
    big_multiply(&v->above, 10, 0);
    big_multiply(&v->below, 10, 0);
    for (; big_compare(&v->r, &v->s) >= 0; digit++) big_subtract(&v->r, &v->s);
    return digit;
}

static digits shortest_digits(ir_kind k, uint64_t bits) {
    interval v;
    set_interval(&v, k, bits);
    digits out = {.n = 0, .point = scale(&v, ir_fp_ilogb(k, bits))};
    for (;;) {
        int digit = next_digit(&v);
        bool low = big_compare(&v.r, &v.below) < (v.closed ? 1 : 0);
        bool high = big_sum_exceeds(&v.r, &v.above, &v.s, v.closed);
        if (high && (!low || big_sum_exceeds(&v.r, &v.r, &v.s, true))) digit++;
        out.digit[out.n++] = (char)('0' + digit);
        if (low || high) return out;
    }
}

static char *put_zeros(char *p, int n) {
    for (; n > 0; n--) *p++ = '0';
    return p;
}

static char *put_chars(char *p, const char *s, int n) {
    memcpy(p, s, (size_t)n);
    return p + n;
}

/* "0.001", "12.5", "1200.0", "1.25e-07" */
static char *put_decimal(char *p, const digits *d) {
    if (d->point <= -4 || d->point > 10) {
        *p++ = d->digit[0];
        if (d->n > 1) *p++ = '.';
        p = put_chars(p, d->digit + 1, d->n - 1);
        return p + sprintf(p, "e%+d", d->point - 1);
    }
    if (d->point <= 0) {
        p = put_zeros(put_chars(p, "0.", 2), -d->point);
        return put_chars(p, d->digit, d->n);
    }
    int whole = d->n < d->point ? d->n : d->point;
    p = put_zeros(put_chars(p, d->digit, whole), d->point - whole);
    *p++ = '.';
    if (d->n == whole) return put_zeros(p, 1);
    return put_chars(p, d->digit + whole, d->n - whole);
}

/* "0x1.8p+3" */
static char *put_hex(char *p, ir_fp_parts x) {
    p += sprintf(p, "0x1");
    uint64_t fraction = x.mant << 1;
    if (fraction) *p++ = '.';
    for (; fraction; fraction <<= 4) *p++ = "0123456789abcdef"[fraction >> 60];
    return p + sprintf(p, "p%+d", x.exp);
}

static char *put_finite(char *p, ir_kind k, uint64_t bits) {
    char hex[40];
    digits d = shortest_digits(k, bits);
    char *end = put_decimal(p, &d);
    if (d.n <= 10) return end;
    int length = (int)(put_hex(hex, ir_fp_unpack(k, bits)) - hex);
    return length < end - p ? put_chars(p, hex, length) : end;
}

size_t ir_fp_print(ir_kind k, uint64_t bits, char out[40]) {
    ir_fp_parts x = ir_fp_unpack(k, bits);
    char *p = out;
    if (x.what == IR_FP_NAN) {
        p += bits == ir_fp_nan(k) ? sprintf(p, "nan") : sprintf(p, "nan(0x%" PRIx64 ")", bits);
        return (size_t)(p - out);
    }
    if (x.sign) *p++ = '-';
    switch (x.what) {
    case IR_FP_INF: p = put_chars(p, "inf", 3); break;
    case IR_FP_ZERO: p = put_chars(p, "0.0", 3); break;
    default: p = put_finite(p, k, bits & ~sign_mask(k));
    }
    *p = 0;
    return (size_t)(p - out);
}
