/* wrap.c — strided values of which no lane wraps, so that extensions of them are strided.
 *
 * Two reasons are known, and neither asks which lanes are active:
 *
 *   bounds      all that the lanes add up is below 2^n: `id + s` for s that only gets smaller
 *   alignment   lane 0 is a multiple of a power of two that is more than what the last lane adds:
 *               `k = id, id + 64 …`, whose lanes begin at multiples of 64.  The wrap comes at a
 *               multiple of it, too
 *
 * Bounds also tell how many items the loop has at most.
 *
 * The low bits in which lanes of an aligned value differ also decide what an operation on bits
 * makes of it.
 *
 * The counter is aligned because the vector loop advances by W.  The search ends at a fixed depth.
 */
#include "passes/vectorize/simd.h"

enum { MAX_DEPTH = 8 };

static uint64_t all_ones(const ir_inst *v) { return ir_zext(UINT64_MAX, ir_bits(NULL, v->type)); }

static bool is_scalar_int(const ir_inst *v) { return ir_is_int(v->type) && !ir_is_vector(v->type); }

/* ------------------------------------------------------------------------------------ alignment */

static unsigned zeros_below(const simd *s, const ir_inst *v, unsigned depth);

static unsigned min_zeros(const simd *s, const ir_inst *x, const ir_inst *y, unsigned depth) {
    unsigned a = zeros_below(s, x, depth), b = zeros_below(s, y, depth);
    return a < b ? a : b;
}

static unsigned zeros_of_sum(unsigned a, unsigned b) { return a + b < 63 ? a + b : 63; }

/* Of a phi of a loop, the initial value and what is added in each iteration; of others, all. */
static unsigned zeros_of_phi(const simd *s, const ir_inst *phi, unsigned depth) {
    unsigned least = 63;
    for (unsigned k = 0; k < phi->nargs; k++) {
        const ir_inst *v = ir_arg(phi, k);
        if (v == phi) continue;
        if (v->op == IR_OP_add && ir_arg(v, 0) == phi) v = ir_arg(v, 1);
        unsigned n = zeros_below(s, v, depth + 1);
        if (phi == s->scalar.counter && k != s->scalar.entry)
            n = (unsigned)__builtin_ctz(simd_most_lanes(s));
        if (n < least) least = n;
    }
    return least;
}

/* How many low bits of v, or of its lane 0, are zero; up to 63. */
static unsigned zeros_below(const simd *s, const ir_inst *v, unsigned depth) {
    if (depth > MAX_DEPTH || !is_scalar_int(v)) return 0;
    if (ir_is_const(v)) return v->imm.bits ? (unsigned)__builtin_ctzll(v->imm.bits) : 63;
    switch (v->op) {
    case IR_OP_phi: return zeros_of_phi(s, v, depth);
    case IR_OP_add:
    case IR_OP_sub:
    case IR_OP_or:
    case IR_OP_xor:
    case IR_OP_umin:
    case IR_OP_umax:
    case IR_OP_smin:
    case IR_OP_smax: return min_zeros(s, ir_arg(v, 0), ir_arg(v, 1), depth + 1);
    case IR_OP_select: return min_zeros(s, ir_arg(v, 1), ir_arg(v, 2), depth + 1);
    case IR_OP_mul:
        return zeros_of_sum(zeros_below(s, ir_arg(v, 0), depth + 1),
                            zeros_below(s, ir_arg(v, 1), depth + 1));
    case IR_OP_shl:
        if (!ir_is_const(ir_arg(v, 1)) || ir_arg(v, 1)->imm.bits > 63) return 0;
        return zeros_of_sum(zeros_below(s, ir_arg(v, 0), depth + 1),
                            (unsigned)ir_arg(v, 1)->imm.bits);
    case IR_OP_and: {
        unsigned a = zeros_below(s, ir_arg(v, 0), depth + 1);
        unsigned b = zeros_below(s, ir_arg(v, 1), depth + 1);
        return a > b ? a : b;
    }
    case IR_OP_trunc:
    case IR_OP_sext:
    case IR_OP_zext: return zeros_below(s, ir_arg(v, 0), depth + 1);
    default: return 0;
    }
}

/* Does what lane 0 leaves to the next multiple suffice for all lanes? */
static bool is_aligned(const simd *s, const ir_inst *v, int64_t stride) {
    unsigned n = zeros_below(s, v, 0);
    if (stride <= 0 || stride > INT32_MAX || n >= ir_bits(NULL, v->type)) return false;
    return (uint64_t)stride * (simd_most_lanes(s) - 1) < UINT64_C(1) << n;
}

/* How many low bits of v are one, up to 63. */
static unsigned ones_below(const simd *s, const ir_inst *v) {
    if (ir_is_const(v)) return ~v->imm.bits ? (unsigned)__builtin_ctzll(~v->imm.bits) : 63;
    if (v->op != IR_OP_or) return 0;
    unsigned a = ones_below(s, ir_arg(v, 1));
    return a ? a : ones_below(s, ir_arg(v, 0));
}

simd_low_bits simd_find_low_bits(const simd *s, const ir_inst *x, int64_t stride,
                                 const ir_inst *y) {
    if (!is_aligned(s, x, stride)) return SIMD_LOW_UNKNOWN;
    unsigned n = 64 - (unsigned)__builtin_clzll((uint64_t)stride * (simd_most_lanes(s) - 1) | 1);
    if (zeros_below(s, y, 0) >= n) return SIMD_LOW_ZEROS;
    return ones_below(s, y) >= n ? SIMD_LOW_ONES : SIMD_LOW_UNKNOWN;
}

/* --------------------------------------------------------------------------------------- bounds */

static uint64_t most_of(const ir_inst *v, unsigned depth);

static uint64_t most_of_both(const ir_inst *x, const ir_inst *y, unsigned depth) {
    uint64_t a = most_of(x, depth), b = most_of(y, depth);
    return a > b ? a : b;
}

/* Does an operation on the phi make it smaller, or leave it as it is? */
static bool is_decrease(const ir_inst *v, const ir_inst *phi, uint64_t most) {
    bool halved = v->op == IR_OP_lshr || v->op == IR_OP_udiv || v->op == IR_OP_and;
    if (v->op == IR_OP_sdiv)
        halved = most <= all_ones(phi) >> 1 && ir_is_const(ir_arg(v, 1)) &&
                 ir_signed_const(ir_arg(v, 1)) > 0;
    if (v == phi) return true;
    return (halved || v->op == IR_OP_umin) && ir_arg(v, 0) == phi;
}

static uint64_t most_of_phi(const ir_inst *phi, unsigned depth) {
    uint64_t most = 0, all = all_ones(phi);
    for (unsigned k = 0; k < phi->nargs; k++) {
        const ir_inst *v = ir_arg(phi, k);
        if (is_decrease(v, phi, all >> 1)) continue;
        uint64_t n = most_of(v, depth + 1);
        if (n > most) most = n;
    }
    for (unsigned k = 0; k < phi->nargs; k++)
        if (ir_arg(phi, k)->op == IR_OP_sdiv && !is_decrease(ir_arg(phi, k), phi, most)) return all;
    return most;
}

static uint64_t most_shifted(const ir_inst *v, unsigned depth) {
    const ir_inst *by = ir_arg(v, 1);
    if (!ir_is_const(by)) return most_of(ir_arg(v, 0), depth);
    return by->imm.bits < 64 ? most_of(ir_arg(v, 0), depth) >> by->imm.bits : 0;
}

/* The greatest unsigned number that v can be, which is the same for all lanes. */
static uint64_t most_of(const ir_inst *v, unsigned depth) {
    uint64_t all = all_ones(v), n = all;
    if (ir_is_const(v)) return v->imm.bits;
    if (depth > MAX_DEPTH || !is_scalar_int(v)) return all;
    switch (v->op) {
    case IR_OP_phi: return most_of_phi(v, depth);
    case IR_OP_zext:
    case IR_OP_trunc: n = most_of(ir_arg(v, 0), depth + 1); break;
    case IR_OP_lshr: return most_shifted(v, depth + 1);
    case IR_OP_udiv: return most_of(ir_arg(v, 0), depth + 1);
    case IR_OP_select: return most_of_both(ir_arg(v, 1), ir_arg(v, 2), depth + 1);
    case IR_OP_umax: return most_of_both(ir_arg(v, 0), ir_arg(v, 1), depth + 1);
    case IR_OP_and:
    case IR_OP_umin: {
        uint64_t a = most_of(ir_arg(v, 0), depth + 1), b = most_of(ir_arg(v, 1), depth + 1);
        return a < b ? a : b;
    }
    default: break;
    }
    return n < all ? n : all;
}

/* The counter of a loop that compares signed numbers may begin below 0. */
static bool begins_as_unsigned(const simd *s) {
    const ir_inst *start = ir_arg(s->scalar.counter, s->scalar.entry);
    if (s->scalar.test == IR_OP_ult) return true;
    return ir_is_const(start) && ir_signed_const(start) >= 0;
}

static uint64_t most_of_end(const simd *s, unsigned depth) {
    uint64_t most = most_of(s->scalar.end, depth), all = all_ones(s->scalar.end);
    return s->scalar.test == IR_OP_ult || most < all >> 1 ? most : all >> 1;
}

/* The greatest number that a lane of v is; false: a lane might wrap on the way. */
static bool find_most(const simd *s, const ir_inst *v, unsigned depth, uint64_t *most) {
    uint64_t x, y;
    if (depth > MAX_DEPTH || !is_scalar_int(v)) return false;
    if (simd_shape_of(s, v) == SIMD_UNIFORM) {
        *most = most_of(v, depth);
        return true;
    }
    if (v == s->scalar.counter) {
        *most = most_of_end(s, depth) - 1;
        return begins_as_unsigned(s);
    }
    if (v->op == IR_OP_phi || v->nargs == 0 || !find_most(s, ir_arg(v, 0), depth + 1, &x))
        return false;
    switch (v->op) {
    case IR_OP_zext:
    case IR_OP_trunc: *most = x; break;
    case IR_OP_sext: *most = x; return x <= all_ones(ir_arg(v, 0)) >> 1;
    case IR_OP_add:
        if (!find_most(s, ir_arg(v, 1), depth + 1, &y) || __builtin_add_overflow(x, y, most))
            return false;
        break;
    case IR_OP_mul:
        if (!find_most(s, ir_arg(v, 1), depth + 1, &y) || __builtin_mul_overflow(x, y, most))
            return false;
        break;
    case IR_OP_shl:
        if (!ir_is_const(ir_arg(v, 1)) || ir_arg(v, 1)->imm.bits > 31 || x >> 32) return false;
        *most = x << ir_arg(v, 1)->imm.bits;
        break;
    default: return false;
    }
    return *most <= all_ones(v);
}

bool simd_cannot_wrap(const simd *s, const ir_inst *v, int64_t stride, bool is_signed) {
    uint64_t most, all = all_ones(v);
    if (is_aligned(s, v, stride)) return true;
    if (v == s->scalar.counter && is_signed == (s->scalar.test == IR_OP_slt)) return true;
    return stride > 0 && find_most(s, v, 0, &most) && most <= (is_signed ? all >> 1 : all);
}

uint64_t simd_most_items(const simd *s) {
    const ir_inst *start = ir_arg(s->scalar.counter, s->scalar.entry);
    uint64_t end = most_of_end(s, 0);
    if (!begins_as_unsigned(s)) return UINT64_MAX;
    return ir_is_const(start) && start->imm.bits < end ? end - start->imm.bits : end;
}
