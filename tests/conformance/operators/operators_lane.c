/* operators_lane.c — what an operator of OpenCL C gives for one lane, computed in C; operands.
 *
 * Scalars of less than 32 bits are promoted to int, lanes of vectors are not: that decides how far
 * they are shifted.  Truth is 1 for scalars; in vectors it is -1, in integers of the lanes' width.
 * A half is computed as a float and rounded, which gives the same (24 bits are enough for 11).
 */
#include "tests/conformance/operators/operators.h"

#include "ir/eval.h"
#include "tests/random.h"

static unsigned bits_of(const lane_type *t) { return ir_bits(NULL, ir_scalar(t->kind)); }

/* The value of an integer lane, with its sign if it has one. */
static int64_t number_of(const lane_type *t, uint64_t x) {
    return t->is_signed ? ir_sext(x, bits_of(t)) : (int64_t)ir_zext(x, bits_of(t));
}

static uint64_t divide(const lane_type *t, bool remainder, uint64_t x, uint64_t y) {
    int64_t a = number_of(t, x), b = number_of(t, y);
    if (t->is_signed) return (uint64_t)(remainder ? a % b : a / b);
    return remainder ? (uint64_t)a % (uint64_t)b : (uint64_t)a / (uint64_t)b;
}

static unsigned shift_of(const lane_type *t, bool scalar, uint64_t y) {
    unsigned width = scalar && bits_of(t) < 32 ? 32 : bits_of(t);
    return (unsigned)y & (width - 1);
}

static uint64_t shift_right(const lane_type *t, uint64_t x, unsigned by) {
    return t->is_signed ? (uint64_t)(number_of(t, x) >> by) : (uint64_t)number_of(t, x) >> by;
}

static uint64_t compute_int(const lane_type *t, operation op, bool scalar, uint64_t x, uint64_t y) {
    switch (op) {
    case OP_NEG: return 0 - x;
    case OP_INVERT: return ~x;
    case OP_INC: return x + 1;
    case OP_DEC: return x - 1;
    case OP_ADD: return x + y;
    case OP_TWICE: return x + x;
    case OP_SUB: return x - y;
    case OP_SUB_FROM: return y - x;
    case OP_MUL: return x * y;
    case OP_DIV: return divide(t, false, x, y);
    case OP_REM: return divide(t, true, x, y);
    case OP_AND: return x & y;
    case OP_OR: return x | y;
    case OP_XOR: return x ^ y;
    case OP_SHL: return x << shift_of(t, scalar, y);
    default: return shift_right(t, x, shift_of(t, scalar, y));
    }
}

#define COMPUTE(x, y)                                                                              \
    switch (op) {                                                                                  \
    case OP_NEG: return -(x);                                                                      \
    case OP_INC: return (x) + 1;                                                                   \
    case OP_DEC: return (x)-1;                                                                     \
    case OP_ADD: return (x) + (y);                                                                 \
    case OP_TWICE: return (x) + (x);                                                               \
    case OP_SUB: return (x) - (y);                                                                 \
    case OP_SUB_FROM: return (y) - (x);                                                            \
    case OP_MUL: return (x) * (y);                                                                 \
    default: return (x) / (y);                                                                     \
    }

static float compute_float(operation op, float x, float y) { COMPUTE(x, y) }
static double compute_double(operation op, double x, double y) { COMPUTE(x, y) }

static float as_float(uint64_t x) {
    uint32_t bits = (uint32_t)x;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static double as_double(uint64_t x) {
    double d;
    memcpy(&d, &x, sizeof d);
    return d;
}

static double value_of(const lane_type *t, uint64_t x) { return ir_fp_to_double(t->kind, x); }

static uint64_t compute_real(const lane_type *t, operation op, uint64_t x, uint64_t y) {
    if (t->kind == IR_F64)
        return ir_fp_from_double(IR_F64, compute_double(op, as_double(x), as_double(y)));
    if (t->kind == IR_F32)
        return ir_fp_from_double(IR_F32, (double)compute_float(op, as_float(x), as_float(y)));
    float r = compute_float(op, (float)value_of(t, x), (float)value_of(t, y));
    return ir_fp_from_double(IR_F16, (double)r);
}

/* -1, 0 or 1 as x is less than y, equal, greater; 2: a NaN is neither. */
static int compare(const lane_type *t, uint64_t x, uint64_t y) {
    if (ir_is_float(ir_scalar(t->kind))) {
        double a = value_of(t, x), b = value_of(t, y);
        return a < b ? -1 : a == b ? 0 : a > b ? 1 : 2;
    }
    int64_t a = number_of(t, x), b = number_of(t, y);
    if (!t->is_signed) return (uint64_t)a < (uint64_t)b ? -1 : (uint64_t)a > (uint64_t)b;
    return a < b ? -1 : a > b;
}

static bool is_true(const lane_type *t, operation op, uint64_t x, uint64_t y) {
    int order = compare(t, x, y);
    bool left = compare(t, x, 0) != 0, right = compare(t, y, 0) != 0;
    switch (op) {
    case OP_NOT: return !left;
    case OP_EQ: return order == 0;
    case OP_NE: return order != 0;
    case OP_LT:
    case OP_LEAST: return order == -1;
    case OP_LE: return order == -1 || order == 0;
    case OP_GT: return order == 1;
    case OP_GE: return order == 0 || order == 1;
    case OP_BOTH: return left && right;
    default: return left || right;
    }
}

uint64_t compute_lane(const lane_type *t, operation op, bool scalar, uint64_t x, uint64_t y) {
    bool real = ir_is_float(ir_scalar(t->kind)), truth = op == OP_NOT || op >= OP_EQ;
    uint64_t r;
    if (op == OP_RIGHT)
        r = y;
    else if (!truth)
        r = real ? compute_real(t, op, x, y) : compute_int(t, op, scalar, x, y);
    else if (op == OP_LEAST)
        r = is_true(t, op, x, y) ? x : y;
    else if (!is_true(t, op, x, y))
        r = 0;
    else
        r = !scalar ? UINT64_MAX : real ? ir_fp_from_double(t->kind, 1) : 1;
    return ir_zext(r, bits_of(t));
}

/* --------------------------------------------------------------------------------------- values */

static uint64_t some_real(uint64_t *state, ir_kind k) {
    static const double edges[] = {0, -0.0, 1, -1, 65504, 0x1p-24, 0x1p-149, 3.4e38};
    uint64_t r = splitmix64(state);
    if (r % 16 == 0) return ir_fp_from_double(k, edges[r >> 8 & 7]);
    if (r % 16 == 1) return r & 256 ? ir_fp_nan(k) : ir_fp_inf(k, r & 512);
    return ir_fp_from_double(k, (double)((int64_t)(r >> 50) - 8192) * 0.125);
}

static uint64_t some_int(uint64_t *state, unsigned bits) {
    uint64_t r = splitmix64(state);
    switch (r % 8) {
    case 0: return (r >> 8 & 7) - 4;
    case 1: return (UINT64_C(1) << (bits - 1)) + (r >> 8 & 1) - 1;
    default: return splitmix64(state);
    }
}

uint64_t some_lane(uint64_t *state, const lane_type *t, bool divides) {
    if (ir_is_float(ir_scalar(t->kind))) return some_real(state, t->kind);
    return divides ? 1 + splitmix64(state) % 100
                   : some_int(state, ir_bits(NULL, ir_scalar(t->kind)));
}

bool has_divisor(const operator_row *row) { return row->op == OP_DIV || row->op == OP_REM; }

uint64_t program_lane(const lane_type *t, unsigned lanes, unsigned n, unsigned lane) {
    uint64_t state = (uint64_t)(lanes * MAX_LANES + lane) << 32 | n;
    return some_lane(&state, t, has_divisor(&operator_rows[n / ITEMS]));
}
