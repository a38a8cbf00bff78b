/* subgroups.h — what the kernels of tests/corpus/subgroup_*.cl, wg_arith.cl and dot_products.cl
 * write, computed for one item after the other and for any size of groups and sub-groups.
 *
 * A kernel writes one element per item and step.  Numbers are kept as bits.  Floats are computed as
 * doubles: inputs are powers of two near 1, so that all results are exact. */
#ifndef SPVFUSE_TESTS_SUBGROUPS_H
#define SPVFUSE_TESTS_SUBGROUPS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef enum { SIGNED, UNSIGNED, FLOATING } number_class;

typedef struct {
    const char *name;
    number_class class;
    unsigned bytes;
} number;

static const number numbers[] = {
    {"char", SIGNED, 1},   {"uchar", UNSIGNED, 1}, {"short", SIGNED, 2},    {"ushort", UNSIGNED, 2},
    {"int", SIGNED, 4},    {"uint", UNSIGNED, 4},  {"long", SIGNED, 8},     {"ulong", UNSIGNED, 8},
    {"half", FLOATING, 2}, {"float", FLOATING, 4}, {"double", FLOATING, 8},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers, MOST_ITEMS = 160, MOST_STEPS = 128 };

/* A launch, and what becomes of it. */
typedef struct {
    const number *type;
    uint32_t n, local, most;      /* items, of a group, of a sub-group that is full */
    uint64_t in[MOST_ITEMS + 15]; /* vectors of 16 are loaded from each place */
    uint64_t out[MOST_ITEMS * MOST_STEPS];
    uint32_t steps;
    bool split; /* multiples of 3 are apart from the others, which have other values */
} reference;

/* -------------------------------------------------------------------------------------- numbers */

static inline uint64_t cut(const number *t, uint64_t bits) {
    return t->bytes == 8 ? bits : bits & ((UINT64_C(1) << 8 * t->bytes) - 1);
}

static inline int64_t to_signed(const number *t, uint64_t bits) {
    unsigned above = 64 - 8 * t->bytes;
    return (int64_t)(bits << above) >> above;
}

static inline double half_to_double(uint64_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? INFINITY : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -size : exponent || fraction ? size : 0;
}

static inline uint64_t half_from_double(double v) {
    int exponent;
    uint64_t sign = signbit(v) ? 0x8000 : 0;
    double fraction = frexp(fabs(v), &exponent);
    if (v == 0 || isinf(v)) return sign | (v == 0 ? 0 : 0x7c00);
    return sign | (uint64_t)((exponent + 14) * 1024 + (int)(fraction * 2048) - 1024);
}

static inline double to_double(const number *t, uint64_t bits) {
    float f;
    double d;
    uint32_t word = (uint32_t)bits;
    if (t->bytes == 2) return half_to_double(bits);
    memcpy(&f, &word, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return t->bytes == 4 ? (double)f : d;
}

static inline uint64_t from_double(const number *t, double v) {
    float f = (float)v;
    uint32_t word;
    uint64_t bits;
    memcpy(&word, &f, sizeof word);
    memcpy(&bits, &v, sizeof bits);
    return t->bytes == 2 ? half_from_double(v) : t->bytes == 4 ? word : bits;
}

static inline uint64_t from_small(const number *t, int v) {
    return t->class == FLOATING ? from_double(t, v) : cut(t, (uint64_t)v);
}

/* ----------------------------------------------------------------------------------- operations */

typedef enum { ADD, MUL, MIN, MAX, AND, OR, XOR, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR } operation;

static inline double combine_floats(operation op, double x, double y) {
    switch (op) {
    case ADD: return x + y;
    case MUL: return x * y;
    case MIN: return x < y ? x : y;
    default: return x > y ? x : y;
    }
}

static inline bool is_less(const number *t, uint64_t x, uint64_t y) {
    return t->class == SIGNED ? to_signed(t, x) < to_signed(t, y) : x < y;
}

static inline uint64_t combine(const number *t, operation op, uint64_t x, uint64_t y) {
    if (t->class == FLOATING)
        return from_double(t, combine_floats(op, to_double(t, x), to_double(t, y)));
    switch (op) {
    case ADD: return cut(t, x + y);
    case MUL: return cut(t, x * y);
    case MIN: return is_less(t, x, y) ? x : y;
    case MAX: return is_less(t, x, y) ? y : x;
    case AND:
    case LOGICAL_AND: return x & y;
    case OR:
    case LOGICAL_OR: return x | y;
    default: return x ^ y;
    }
}

/* What an exclusive scan begins with. */
static inline uint64_t identity(const number *t, operation op) {
    uint64_t top = UINT64_C(1) << (8 * t->bytes - 1), ones = cut(t, UINT64_MAX);
    bool is_float = t->class == FLOATING, is_signed = t->class == SIGNED;
    switch (op) {
    case MUL: return from_small(t, 1);
    case MIN: return is_float ? from_double(t, INFINITY) : is_signed ? ones ^ top : ones;
    case MAX: return is_float ? from_double(t, -INFINITY) : is_signed ? top : 0;
    case AND: return ones;
    case LOGICAL_AND: return 1;
    default: return 0;
    }
}

/* ----------------------------------------------------------------------------- items and groups */

/* Items from `first` on, below `end`. */
typedef struct {
    uint32_t first, end;
} span;

static inline uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static inline span sub_group(const reference *r, uint32_t i) {
    uint32_t group = i - i % r->local, first = i - (i - group) % r->most;
    return (span){first, smaller(first + r->most, smaller(group + r->local, r->n))};
}

static inline bool are_together(const reference *r, uint32_t i, uint32_t j) {
    return !r->split || (i % 3 == 0) == (j % 3 == 0);
}

static inline uint64_t value(const reference *r, uint32_t i) {
    return r->in[r->split && i % 3 ? r->n - 1 - i : i];
}

static inline uint64_t combine_all(const reference *r, operation op, uint32_t i, span s) {
    uint64_t total = 0;
    bool some = false;
    for (uint32_t j = s.first; j < s.end; j++) {
        if (!are_together(r, i, j)) continue;
        uint64_t v = op >= LOGICAL_AND ? value(r, j) != 0 : value(r, j);
        total = some ? combine(r->type, op, total, v) : v;
        some = true;
    }
    return some ? total : identity(r->type, op);
}

static inline uint32_t first_together(const reference *r, uint32_t i) {
    uint32_t j = sub_group(r, i).first;
    while (!are_together(r, i, j)) j++;
    return j;
}

/* Writes one step: `result` is for item i, which is in the sub-group s at place `lane`. */
#define PUT(r, result)                                                                             \
    do {                                                                                           \
        for (uint32_t i = 0; i < (r)->n; i++) {                                                    \
            const span s = sub_group(r, i);                                                        \
            const uint32_t lane = i - s.first, size = s.end - s.first;                             \
            (void)lane, (void)size;                                                                \
            (r)->out[(r)->steps * (r)->n + i] = (result);                                          \
        }                                                                                          \
        (r)->steps++;                                                                              \
    } while (0)

/* ------------------------------------------------------------------------- reductions and scans */

static inline void put_scans(reference *r, operation op) {
    PUT(r, combine_all(r, op, i, s));
    PUT(r, combine_all(r, op, i, ((span){s.first, i + 1})));
    PUT(r, combine_all(r, op, i, ((span){s.first, i})));
}

static inline void put_clusters(reference *r, operation op, uint32_t cluster) {
    PUT(r, combine_all(r, op, i,
                       ((span){i - lane % cluster, smaller(i - lane % cluster + cluster, s.end)})));
}

static inline void put_operations(reference *r, operation first, operation last) {
    for (operation op = first; op <= last; op++) {
        put_scans(r, op);
        put_clusters(r, op, 1);
        put_clusters(r, op, 2);
        put_clusters(r, op, 8);
    }
}

static inline operation last_of(const number *t) { return t->class == FLOATING ? MAX : XOR; }

static inline void expect_arith(reference *r) {
    put_operations(r, ADD, last_of(r->type));
    r->split = true;
    put_operations(r, ADD, last_of(r->type));
}

static inline void expect_logic(reference *r) {
    put_operations(r, LOGICAL_AND, LOGICAL_XOR);
    r->split = true;
    put_operations(r, LOGICAL_AND, LOGICAL_XOR);
}

static inline void expect_uniform(reference *r) {
    put_scans(r, ADD);
    put_scans(r, MIN);
    put_scans(r, MAX);
}

/* Of work-groups. */
static inline void expect_group(reference *r) {
    bool is_int = strcmp(r->type->name, "int") == 0;
    r->most = r->local;
    put_scans(r, MUL);
    for (operation op = AND; op <= last_of(r->type); op++) put_scans(r, op);
    for (operation op = LOGICAL_AND; is_int && op <= LOGICAL_XOR; op++) put_scans(r, op);
}

/* --------------------------------------------------------------------------------------- values */

/* Of the item at `from` in the sub-group, or its own. */
#define FROM(r, from) PUT(r, (from) < size ? value(r, s.first + (from)) : value(r, i))

static inline bool are_equal(const reference *r, span s) {
    for (uint32_t j = s.first; j < s.end; j++)
        if (r->in[j] != r->in[s.first]) return false;
    return true;
}

static inline void expect_moves(reference *r) {
    static const uint32_t widths[] = {2, 3, 4, 8, 16};
    FROM(r, size - 1);
    FROM(r, 0);
    FROM(r, size - 1 - lane);
    FROM(r, lane ^ 1);
    FROM(r, lane - 1);
    FROM(r, lane + 2);
    FROM(r, (lane + 1) % r->most);
    FROM(r, (lane & ~3u) | ((lane + 3) & 3));
    PUT(r, from_small(r->type, are_equal(r, s)));
    PUT(r, from_small(r->type, 1));
    PUT(r, value(r, first_together(r, i)));
    r->split = true;
    PUT(r, value(r, first_together(r, i)));
    r->split = false;
    for (int k = 0; k < 5; k++) {
        PUT(r, r->in[s.end - 1]);
        PUT(r, r->in[s.end - 1 + widths[k] - 1]);
        PUT(r, r->in[s.first]);
        PUT(r, r->in[s.first + widths[k] - 1]);
    }
}

/* ---------------------------------------------------------------------------- votes and ballots */

typedef struct {
    uint64_t word[4];
    uint32_t all, some, same; /* of the items that are together: value > 10, > 90 */
} ballot;

static inline ballot vote(const reference *r, uint32_t i, bool everyone) {
    span s = sub_group(r, i);
    ballot b = {.all = 1, .same = 1};
    bool first = to_signed(r->type, value(r, i)) > 10;
    for (uint32_t j = s.first; j < s.end; j++) {
        if (!are_together(r, i, j)) continue;
        int64_t v = to_signed(r->type, value(r, j));
        uint32_t lane = j - s.first;
        if (everyone || v & 1) b.word[lane / 32] |= UINT64_C(1) << lane % 32;
        b.all &= v > 10;
        b.some |= v > 90;
        b.same &= (v > 10) == first;
    }
    return b;
}

static inline uint32_t bit(ballot b, uint32_t lane) { return b.word[lane / 32] >> lane % 32 & 1; }

static inline uint32_t count_bits(ballot b, uint32_t end) {
    uint32_t n = 0;
    for (uint32_t lane = 0; lane < end; lane++) n += bit(b, lane);
    return n;
}

static inline uint32_t last_bit(ballot b, uint32_t end) {
    while (!bit(b, end - 1)) end--;
    return end - 1;
}

static inline void put_votes(reference *r) {
    PUT(r, vote(r, i, false).all);
    PUT(r, vote(r, i, false).some);
    PUT(r, vote(r, i, false).same);
    for (int k = 0; k < 4; k++) PUT(r, vote(r, i, false).word[k]);
    PUT(r, bit(vote(r, i, false), lane));
    PUT(r, bit(vote(r, i, false), size - 1 - lane));
    PUT(r, count_bits(vote(r, i, false), size));
    PUT(r, count_bits(vote(r, i, false), lane + 1));
    PUT(r, count_bits(vote(r, i, false), lane));
    PUT(r, first_together(r, i) - s.first);
    PUT(r, last_bit(vote(r, i, true), size));
    PUT(r, first_together(r, i) == i);
}

/* Bits from `first` on, below `end`, in word k. */
static inline uint64_t mask_word(uint32_t first, uint32_t end, uint32_t k) {
    uint64_t word = 0;
    for (uint32_t lane = first; lane < end; lane++)
        if (lane / 32 == k) word |= UINT64_C(1) << lane % 32;
    return word;
}

static inline void expect_votes(reference *r) {
    put_votes(r);
    r->split = true;
    put_votes(r);
    for (uint32_t k = 0; k < 4; k++) PUT(r, mask_word(lane, lane + 1, k));
    for (uint32_t k = 0; k < 4; k++) PUT(r, mask_word(lane, size, k));
    for (uint32_t k = 0; k < 4; k++) PUT(r, mask_word(lane + 1, size, k));
    for (uint32_t k = 0; k < 4; k++) PUT(r, mask_word(0, lane + 1, k));
    for (uint32_t k = 0; k < 4; k++) PUT(r, mask_word(0, lane, k));
}

/* --------------------------------------------------------------------------------- dot products */

static inline int64_t byte_of(uint64_t word, int k, bool is_signed) {
    uint8_t byte = (uint8_t)(word >> 8 * k);
    return is_signed ? (int8_t)byte : byte;
}

static inline uint64_t dot(const reference *r, uint32_t i, bool signed_x, bool signed_y) {
    int64_t sum = 0;
    for (int k = 0; k < 4; k++)
        sum += byte_of(r->in[i], k, signed_x) * byte_of(r->in[r->n - 1 - i], k, signed_y);
    return (uint64_t)sum;
}

static inline uint64_t dot_sum(const reference *r, uint32_t i, bool signed_x, bool signed_y) {
    uint64_t other = r->in[(i + 1) % r->n];
    bool is_signed = signed_x || signed_y;
    int64_t sum = (int64_t)dot(r, i, signed_x, signed_y);
    sum += is_signed ? (int32_t)other : (int64_t)other;
    if (!is_signed) return sum > UINT32_MAX ? UINT32_MAX : (uint64_t)sum;
    return (uint32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}

static inline void expect_dots(reference *r) {
    static const bool kinds[4][2] = {{0, 0}, {1, 1}, {0, 1}, {1, 0}};
    for (int packed = 0; packed < 2; packed++) {
        for (int k = 0; k < 4; k++) PUT(r, (uint32_t)dot(r, i, kinds[k][0], kinds[k][1]));
        for (int k = 0; k < 4; k++) PUT(r, dot_sum(r, i, kinds[k][0], kinds[k][1]));
    }
}

/* -------------------------------------------------------------------------------------- kernels */

typedef struct {
    const char *file, *kernel; /* without the ending; NAME_TYPE */
    const char *types;         /* each between spaces; NULL: all */
    void (*expect)(reference *r);
} group_kernel;

static const group_kernel group_kernels[] = {
    {"subgroup_arith", "arith_", NULL, expect_arith},
    {"subgroup_arith", "logic_", " int ", expect_logic},
    {"subgroup_moves", "moves_", NULL, expect_moves},
    {"subgroup_uniform", "uniform_", NULL, expect_uniform},
    {"subgroup_votes", "votes_", " int ", expect_votes},
    {"wg_arith", "group_", " int uint long ulong half float double ", expect_group},
    {"dot_products", "dots_", " uint ", expect_dots},
};
enum { GROUP_KERNELS = sizeof group_kernels / sizeof *group_kernels };

static inline bool has_type(const group_kernel *k, const number *t) {
    char word[16];
    snprintf(word, sizeof word, " %s ", t->name);
    return !k->types || strstr(k->types, word);
}

static inline uint64_t input(const number *t, uint32_t i) {
    static const double floats[] = {1, -1, 2, 1, 0.5, 1, 1, -1, 1, 4, 1, 0.25, 1, -2, 1};
    uint64_t hash = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    if (t->class == FLOATING) return from_double(t, floats[i % 15]);
    switch (i % 7) {
    case 2: return 0;
    case 4: return cut(t, UINT64_MAX);
    case 5: return cut(t, UINT64_MAX) >> 1;
    default: return cut(t, hash >> 13 ^ hash);
    }
}

static inline void compute(const group_kernel *k, const number *t, reference *r) {
    r->type = t;
    r->steps = 0;
    r->split = false;
    for (uint32_t i = 0; i < r->n + 15; i++) r->in[i] = input(t, i);
    k->expect(r);
}

/* As in memory. */
static inline void pack(const number *t, const uint64_t *from, size_t n, unsigned char *to) {
    for (size_t i = 0; i < n; i++) memcpy(to + i * t->bytes, &from[i], t->bytes);
}

static inline uint64_t unpack(const number *t, const unsigned char *from, size_t i) {
    uint64_t bits = 0;
    memcpy(&bits, from + i * t->bytes, t->bytes);
    return bits;
}

#endif
