/* transpose.c — shuffles between lanes that lie in memory one after the other, each with all of its
 * members, and members that are vectors of lanes.
 *
 * In memory, element `lane * k + member` is a member of a lane.  It is in one of k vectors of as
 * many elements as there are lanes.  For k = 2, the members are the even and the odd elements of
 * the two vectors together, so each is one shuffle of two operands.  For k = 2 * 2, the even and
 * the odd elements are themselves interleaved, of two members each; and so on for each prime factor
 * of k (Nuzman, Rosen and Zaks 2006).  A factor p takes p - 1 shuffles for a result.  Only what is
 * asked for is built.  The way to memory is the same in the opposite order.
 *
 * Elements narrower than 4 bytes go in units if k is a power of two: within 16 bytes, the elements
 * of each member are put next to each other, which is one shuffle, and are moved together from
 * there on.
 */
#include "passes/vectorize/groups.h"
#include "passes/vectorize/transpose.h"

enum { PART = 16, UNKNOWN = 255 };

typedef struct {
    ir_builder *b;
    unsigned k, lanes; /* of a vector */
    unsigned unit;     /* elements that are moved together */
} network;

static bool is_power_of_2(unsigned k) { return !(k & (k - 1)); }

static unsigned unit_of(unsigned k, unsigned lanes, unsigned bytes) {
    unsigned part = PART / bytes < lanes ? PART / bytes : lanes;
    return bytes < 4 && is_power_of_2(k) && part > k ? part / k : 1;
}

static unsigned smallest_prime(unsigned k) {
    unsigned p = 2;
    while (k % p) p++;
    return p;
}

/* --------------------------------------------------------------------------------- one vector */

/* Where elements of a result come from: which vector, and which element of it. */
typedef struct {
    uint8_t vector[IR_MAX_LANES], element[IR_MAX_LANES];
} route;

/* The result of a route through n vectors: a shuffle of the first two, and one for each other. */
static ir_inst *follow(const network *t, const route *r, ir_inst *const *x, unsigned n) {
    ir_inst *sum = x[0];
    for (unsigned v = 1; v < n; v++) {
        uint8_t mask[IR_MAX_LANES];
        if (x[v]->op == IR_OP_undef && (v > 1 || sum->op == IR_OP_undef)) continue;
        for (unsigned e = 0; e < t->lanes; e++) {
            unsigned before = v == 1 ? r->element[e] : e;
            mask[e] = (uint8_t)(r->vector[e] < v    ? before
                                : r->vector[e] == v ? t->lanes + r->element[e]
                                                    : UNKNOWN);
        }
        sum = ir_build_shuffle(t->b, sum, x[v], t->lanes, mask);
    }
    return sum;
}

/* The units first, first + p … of p vectors. */
static void route_apart(const network *t, unsigned p, unsigned first, route *out) {
    for (unsigned e = 0; e < t->lanes; e++) {
        unsigned from = (e / t->unit * p + first) * t->unit + e % t->unit;
        out->vector[e] = (uint8_t)(from / t->lanes);
        out->element[e] = (uint8_t)(from % t->lanes);
    }
}

/* Vector number v of p vectors whose units alternate. */
static void route_together(const network *t, unsigned p, unsigned v, route *out) {
    for (unsigned e = 0; e < t->lanes; e++) {
        unsigned to = (v * t->lanes + e) / t->unit;
        out->vector[e] = (uint8_t)(to % p);
        out->element[e] = (uint8_t)(to / p * t->unit + e % t->unit);
    }
}

/* Within each part of the units of all members: element `lane * k + member` and
 * `member * unit + lane` change places. */
static ir_inst *order_parts(const network *t, ir_inst *x, bool to_memory) {
    uint8_t mask[IR_MAX_LANES];
    unsigned part = t->unit * t->k;
    if (t->unit == 1 || x->op == IR_OP_undef) return x;
    for (unsigned e = 0; e < ir_lanes(x->type); e++) {
        unsigned at = e % part;
        unsigned from =
            to_memory ? at % t->k * t->unit + at / t->k : at % t->unit * t->k + at / t->unit;
        mask[e] = (uint8_t)(e - at + from);
    }
    return ir_build_shuffle(t->b, x, x, ir_lanes(x->type), mask);
}

/* ---------------------------------------------------------------------------------- from memory */

/* The members that are wanted of k vectors. */
static void take_apart(const network *t, unsigned k, ir_inst *const *x, uint32_t wanted,
                       ir_inst **out) {
    unsigned p = k > 1 ? smallest_prime(k) : 0;
    if (k == 1) out[0] = x[0];
    for (unsigned r = 0; r < p; r++) {
        ir_inst *y[SIMD_MAX_MEMBERS], *part[SIMD_MAX_MEMBERS] = {0};
        uint32_t own = 0;
        route some;
        for (unsigned m = r; m < k; m += p) own |= (wanted >> m & 1) << m / p;
        if (!own) continue;
        route_apart(t, p, r, &some);
        for (unsigned v = 0; v < k / p; v++) y[v] = follow(t, &some, x + v * p, p);
        take_apart(t, k / p, y, own, part);
        for (unsigned m = r; m < k; m += p) out[m] = part[m / p];
    }
}

void simd_take_apart(ir_builder *b, unsigned k, ir_inst *const *x, uint32_t wanted, ir_inst **out) {
    unsigned lanes = ir_lanes(x[0]->type), bytes = ir_bits(NULL, x[0]->type) / 8;
    ir_inst *y[SIMD_MAX_MEMBERS];
    const network t = {b, k, lanes, unit_of(k, lanes, bytes)};
    for (unsigned v = 0; v < k; v++) y[v] = order_parts(&t, x[v], false);
    take_apart(&t, k, y, wanted, out);
}

void simd_take_parts(ir_builder *b, unsigned k, unsigned unit, ir_inst *const *x, ir_inst **out) {
    const network t = {b, k, ir_lanes(x[0]->type), unit};
    take_apart(&t, k, x, UINT32_MAX, out);
}

void simd_split(ir_builder *b, unsigned k, ir_inst *x, ir_inst **out) {
    unsigned all = ir_lanes(x->type), bytes = ir_bits(NULL, x->type) / 8;
    uint8_t mask[IR_MAX_LANES];
    const network t = {b, k, all, unit_of(k, all, bytes)};
    x = order_parts(&t, x, false);
    for (unsigned e = 0; e < all; e++) {
        unsigned unit = e / t.unit, units = all / k / t.unit; /* of a member */
        mask[e] = (uint8_t)((unit % units * k + unit / units) * t.unit + e % t.unit);
    }
    if (all / k > t.unit) x = ir_build_shuffle(b, x, x, all, mask);
    for (unsigned m = 0; m < k; m++) {
        for (unsigned e = 0; e < all / k; e++) mask[e] = (uint8_t)(m * (all / k) + e);
        out[m] = ir_build_shuffle(b, x, x, all / k, mask);
    }
}

/* ------------------------------------------------------------------------------------ to memory */

/* The k vectors in memory of k members. */
static void put_together(const network *t, unsigned k, ir_inst *const *member, ir_inst **out) {
    ir_inst *some[SIMD_MAX_MEMBERS], *half[SIMD_MAX_MEMBERS], *x[SIMD_MAX_MEMBERS];
    unsigned p = k > 1 ? smallest_prime(k) : 0;
    if (k == 1) out[0] = member[0];
    for (unsigned r = 0; r < p; r++) {
        for (unsigned m = r; m < k; m += p) some[m / p] = member[m];
        put_together(t, k / p, some, half + r * (k / p));
    }
    for (unsigned v = 0; p && v < k; v++) {
        route to;
        route_together(t, p, v % p, &to);
        for (unsigned r = 0; r < p; r++) x[r] = half[r * (k / p) + v / p];
        out[v] = follow(t, &to, x, p);
    }
}

void simd_put_together(ir_builder *b, unsigned k, ir_inst *const *member, ir_inst **out) {
    unsigned lanes = ir_lanes(member[0]->type), bytes = ir_bits(NULL, member[0]->type) / 8;
    const network t = {b, k, lanes, unit_of(k, lanes, bytes)};
    put_together(&t, k, member, out);
    for (unsigned v = 0; v < k; v++) out[v] = order_parts(&t, out[v], true);
}

ir_inst *simd_concatenate(ir_builder *b, unsigned n, ir_inst *const *x) {
    uint8_t mask[IR_MAX_LANES];
    ir_inst *all[IR_MAX_LANES];
    memcpy(all, x, n * sizeof *all);
    for (unsigned e = 0; e < IR_MAX_LANES; e++) mask[e] = (uint8_t)e;
    for (; n > 1; n /= 2)
        for (unsigned k = 0; k < n / 2; k++)
            all[k] =
                ir_build_shuffle(b, all[2 * k], all[2 * k + 1], 2 * ir_lanes(all[k]->type), mask);
    return all[0];
}

ir_inst *simd_join(ir_builder *b, unsigned k, ir_inst *const *member) {
    ir_inst *x = simd_concatenate(b, k, member);
    unsigned all = ir_lanes(x->type), bytes = ir_bits(NULL, x->type) / 8;
    uint8_t mask[IR_MAX_LANES];
    const network t = {b, k, all, unit_of(k, all, bytes)};
    for (unsigned e = 0; e < all; e++) {
        unsigned unit = e / t.unit, units = all / k / t.unit;
        mask[e] = (uint8_t)((unit % k * units + unit / k) * t.unit + e % t.unit);
    }
    if (all / k > t.unit) x = ir_build_shuffle(b, x, x, all, mask);
    return order_parts(&t, x, true);
}
