/* edges.c — arguments at which math functions go wrong.
 *
 * For functions of one argument: zeros, infinities, NaN, the ends of the format and of denormals;
 * each power of two; integers and half-integers; multiples of pi/2, among them for each exponent
 * the float that is nearest to one (convergents of a continued fraction, as Kahan finds them); each
 * with its neighbours.  For two arguments: pairs of a short list.
 *
 * Between these, what the results are says where else to look: where two neighbouring arguments
 * have results of different classes (zero, denormal, normal below 1, 1, above 1, infinite, NaN, by
 * sign), bisection finds the arguments where the class changes, and points at growing distances
 * around them are added.  So the ends of a function's range need not be known here.
 *
 * Arguments are ordered as integers: the order of floats by value, with -0 before 0.
 */
#include "tests/codegen/math/edges.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------- order of arguments */

static int64_t order_of(ir_kind k, uint64_t bits) {
    if (k == IR_I32) return (int32_t)bits;
    uint64_t sign = UINT64_C(1) << (ir_bits(NULL, k) - 1);
    return bits & sign ? -1 - (int64_t)(bits ^ sign) : (int64_t)bits;
}

static uint64_t bits_at(ir_kind k, int64_t order) {
    if (k == IR_I32) return (uint32_t)order;
    uint64_t sign = UINT64_C(1) << (ir_bits(NULL, k) - 1);
    return order < 0 ? sign | (uint64_t)(-1 - order) : (uint64_t)order;
}

/* The greatest; NaN is one more. */
static int64_t last_of(ir_kind k) { return k == IR_I32 ? INT32_MAX : (int64_t)ir_fp_inf(k, false); }

static int64_t first_of(ir_kind k) { return -1 - last_of(k); }

static int mantissa_bits(ir_kind k) { return k == IR_F64 ? 52 : k == IR_F32 ? 23 : 10; }

static int greatest_exponent(ir_kind k) { return k == IR_F64 ? 1023 : k == IR_F32 ? 127 : 15; }

/* ----------------------------------------------------------------------------------------- axes */

/* Arguments of one kind, by order. */
typedef struct {
    ir_kind k;
    int64_t *at;
    size_t n, capacity;
} axis;

static void *grown(void *data, size_t n, size_t *capacity, size_t size) {
    if (n < *capacity) return data;
    *capacity = n ? 2 * n : 256;
    void *more = realloc(data, *capacity * size);
    if (!more) abort();
    return more;
}

static void add(axis *x, int64_t order) {
    x->at = grown(x->at, x->n, &x->capacity, sizeof *x->at);
    if (order >= first_of(x->k) && order <= last_of(x->k)) x->at[x->n++] = order;
}

/* d and its neighbours, with both signs. */
static void add_around(axis *x, double d) {
    int64_t order = order_of(x->k, ir_fp_from_double(x->k, fabs(d)));
    for (int64_t near = order - 1; near <= order + 1; near++) {
        add(x, near);
        add(x, -1 - near);
    }
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort(axis *x) {
    size_t n = 0;
    qsort(x->at, x->n, sizeof *x->at, compare);
    for (size_t i = 0; i < x->n; i++)
        if (i == 0 || x->at[i] != x->at[n - 1]) x->at[n++] = x->at[i];
    x->n = n;
}

static void add_powers_of_two(axis *x, int step) {
    int top = greatest_exponent(x->k), least = 1 - top - mantissa_bits(x->k);
    for (int e = least; e <= top; e += step) add_around(x, ldexp(1, e));
    add_around(x, INFINITY);
    add_around(x, 0);
}

static void add_halves(axis *x, double to) {
    for (double d = 0.5; d <= to; d += 0.5) add_around(x, d);
}

/* The floats q * 2^e that are nearest to multiples of pi/2: q is the denominator of a convergent of
 * 2^e / (pi/2). */
static void add_nearest_multiple(axis *x, int e, const mpfr_t two_over_pi) {
    uint64_t q = 1, before = 0, end = UINT64_C(2) << mantissa_bits(x->k);
    mpfr_t rest, whole;
    mpfr_inits2(mpfr_get_prec(two_over_pi), rest, whole, (mpfr_ptr)0);
    mpfr_mul_2si(rest, two_over_pi, e, MPFR_RNDN);
    mpfr_frac(rest, rest, MPFR_RNDN);
    for (;;) {
        mpfr_ui_div(rest, 1, rest, MPFR_RNDN);
        mpfr_floor(whole, rest);
        mpfr_sub(rest, rest, whole, MPFR_RNDN);
        double next = mpfr_get_d(whole, MPFR_RNDN) * (double)q + (double)before;
        if (next >= (double)end) break;
        uint64_t after = mpfr_get_ui(whole, MPFR_RNDN) * q + before;
        before = q;
        q = after;
    }
    add_around(x, ldexp((double)q, e));
    mpfr_clears(rest, whole, (mpfr_ptr)0);
}

static void add_multiples_of_pi(axis *x) {
    mpfr_t two_over_pi;
    mpfr_init2(two_over_pi, 1400); /* 1023 bits before the point, two times 53 and more after it */
    mpfr_const_pi(two_over_pi, MPFR_RNDN);
    mpfr_ui_div(two_over_pi, 2, two_over_pi, MPFR_RNDN);
    for (int n = 1; n <= 64; n++) add_around(x, n * 1.57079632679489661923);
    for (int e = -mantissa_bits(x->k); e + mantissa_bits(x->k) <= greatest_exponent(x->k); e++)
        add_nearest_multiple(x, e, two_over_pi);
    mpfr_clear(two_over_pi);
}

/* All that is worth a look for one argument. */
static axis fine_axis(ir_kind k) {
    axis x = {.k = k};
    add_powers_of_two(&x, 1);
    add_halves(&x, k == IR_F64 ? 1100 : 192);
    add_multiples_of_pi(&x);
    sort(&x);
    return x;
}

static axis integer_axis(void) {
    static const int32_t magnitudes[] = {0,
                                         1,
                                         2,
                                         3,
                                         4,
                                         5,
                                         7,
                                         8,
                                         10,
                                         31,
                                         32,
                                         33,
                                         64,
                                         100,
                                         126,
                                         127,
                                         128,
                                         149,
                                         150,
                                         1022,
                                         1023,
                                         1024,
                                         1074,
                                         1075,
                                         8388607,
                                         8388609,
                                         16777215,
                                         16777216,
                                         16777217,
                                         1 << 30,
                                         INT32_MAX - 1,
                                         INT32_MAX};
    axis x = {.k = IR_I32};
    for (size_t n = 0; n < sizeof magnitudes / sizeof *magnitudes; n++) {
        add(&x, magnitudes[n]);
        add(&x, -magnitudes[n]);
    }
    add(&x, INT32_MIN);
    sort(&x);
    return x;
}

/* The arguments that are put together in pairs. */
static axis short_axis(ir_kind k) {
    static const double magnitudes[] = {0.25, 0.5, 1.5, 2, 2.5, 3, 4, 5, 10};
    if (k == IR_I32) return integer_axis();
    axis x = {.k = k};
    int p = mantissa_bits(k), top = greatest_exponent(k);
    for (size_t n = 0; n < sizeof magnitudes / sizeof *magnitudes; n++) {
        add(&x, order_of(k, ir_fp_from_double(k, magnitudes[n])));
        add(&x, order_of(k, ir_fp_from_double(k, -magnitudes[n])));
    }
    const int exponents[] = {1 - top - p, 1 - top, -top / 2, -p,    0,
                             p - 1,       p,       p + 1,    p + 2, top / 2};
    for (size_t n = 0; n < sizeof exponents / sizeof *exponents; n++)
        add_around(&x, ldexp(1, exponents[n]));
    add_around(&x, INFINITY);
    add_around(&x, 0);
    sort(&x);
    return x;
}

/* --------------------------------------------------------------------------- classes of results */

typedef struct {
    const math_function *f;
    ir_kind k;
    math_points *out;
    bool of_second; /* the second argument varies */
    uint64_t other; /* the one that does not */
} line;

static void add_point(math_points *out, uint64_t a, uint64_t b) {
    out->data = grown(out->data, out->n, &out->capacity, sizeof *out->data);
    out->data[out->n++] = (math_point){a, b};
}

static ir_kind kind_of_line(const line *l) {
    return l->of_second && takes_integer(l->f) ? IR_I32 : l->k;
}

static math_point point_at(const line *l, int64_t order) {
    uint64_t bits = bits_at(kind_of_line(l), order);
    return l->of_second ? (math_point){l->other, bits} : (math_point){bits, l->other};
}

static int class_at(const line *l, int64_t order) {
    math_point p = point_at(l, order);
    double r = ir_fp_to_double(l->k, expected(l->f, l->k, p.a, p.b)), m = fabs(r);
    double least = ldexp(1, 1 - greatest_exponent(l->k));
    if (isnan(r)) return 0;
    int class = m == 0 ? 1 : m < least ? 2 : m < 1 ? 3 : m == 1 ? 4 : isfinite(r) ? 5 : 6;
    return signbit(r) ? -class : class;
}

/* Results at `from` and `to` differ in class: the neighbours that do. */
static void add_change(const line *l, int64_t from, int64_t to) {
    int class = class_at(l, from);
    while (to - from > 1) {
        int64_t middle = from + (to - from) / 2;
        *(class_at(l, middle) == class ? &from : &to) = middle;
    }
    axis x = {.k = kind_of_line(l)};
    int step = takes_two(l->f) ? 5 : 1;
    for (int64_t near = -2; near <= 2; near++) add(&x, from + near);
    for (int e = 2; e <= mantissa_bits(l->k); e += step) {
        add(&x, from - (INT64_C(1) << e));
        add(&x, to + (INT64_C(1) << e));
    }
    for (size_t n = 0; n < x.n; n++) {
        math_point p = point_at(l, x.at[n]);
        add_point(l->out, p.a, p.b);
    }
    free(x.at);
}

/* Of a function that changes its sign all the time, some places are enough. */
static void add_changes(const line *l, const axis *x) {
    enum { LIMIT = 128 };
    size_t changes = 0, seen = 0;
    bool *changed = calloc(x->n + 1, sizeof *changed);
    if (!changed) abort();
    int before = x->n ? class_at(l, x->at[0]) : 0;
    for (size_t n = 1; n < x->n; n++) {
        int class = class_at(l, x->at[n]);
        changed[n] = class != before;
        changes += changed[n];
        before = class;
    }
    for (size_t n = 1; n < x->n; n++)
        if (changed[n] && seen++ % (changes / LIMIT + 1) == 0)
            add_change(l, x->at[n - 1], x->at[n]);
    free(changed);
}

/* ---------------------------------------------------------------------------------------- entry */

static void collect_of_one(const math_function *f, ir_kind k, math_points *out) {
    axis x = fine_axis(k);
    for (size_t n = 0; n < x.n; n++) add_point(out, bits_at(k, x.at[n]), 0);
    add_point(out, ir_fp_nan(k), 0);
    const line l = {.f = f, .k = k, .out = out};
    add_changes(&l, &x);
    free(x.at);
}

/* One argument is each of `fixed`, the other goes along an axis. */
static void collect_lines(line l, const axis *fixed) {
    axis x = {.k = kind_of_line(&l)};
    if (x.k == IR_I32) {
        x = integer_axis();
    } else {
        add_powers_of_two(&x, l.k == IR_F64 ? 32 : 4);
        sort(&x);
    }
    for (size_t n = 0; n < fixed->n; n++) {
        l.other = bits_at(fixed->k, fixed->at[n]);
        add_changes(&l, &x);
    }
    free(x.at);
}

static void collect_of_two(const math_function *f, ir_kind k, math_points *out) {
    axis x = short_axis(k), y = short_axis(takes_integer(f) ? IR_I32 : k);
    for (size_t n = 0; n < x.n; n++)
        for (size_t m = 0; m < y.n; m++) add_point(out, bits_at(k, x.at[n]), bits_at(y.k, y.at[m]));
    for (size_t n = 0; n < x.n && !takes_integer(f); n++)
        add_point(out, bits_at(k, x.at[n]), ir_fp_nan(k));
    for (size_t m = 0; m < y.n; m++) add_point(out, ir_fp_nan(k), bits_at(y.k, y.at[m]));
    collect_lines((line){.f = f, .k = k, .out = out, .of_second = true}, &x);
    collect_lines((line){.f = f, .k = k, .out = out}, &y);
    free(x.at);
    free(y.at);
}

/* Functions with a range are asked for nothing else. */
static void keep_range(const math_function *f, ir_kind k, math_points *p) {
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        double x = ir_fp_to_double(k, p->data[i].a);
        if (x >= f->low && x <= f->high) p->data[n++] = p->data[i];
    }
    p->n = n;
}

math_points collect_edges(const math_function *f, ir_kind k) {
    math_points out = {0};
    if (takes_two(f))
        collect_of_two(f, k, &out);
    else
        collect_of_one(f, k, &out);
    if (has_range(f)) keep_range(f, k, &out);
    return out;
}
