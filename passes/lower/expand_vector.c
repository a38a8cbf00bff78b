/* expand_vector.c — functions of whole vectors: dot, cross, length, distance, normalize.
 *
 * length scales its operand by a power of two so that the greatest lane is about 1.  Then no square
 * overflows, and none that matters underflows.  The scale is the greatest lane with its fraction
 * cleared, and its reciprocal is a subtraction from the exponent; both are normal numbers.
 * normalize treats lanes that are zero, infinite or NaN as specified in "Geometric Functions" of
 * OpenCL C.  The fast_ functions do without all this.
 */
#include "passes/lower/expand.h"

static ir_inst *lane_of(ir_builder *b, ir_inst *x, unsigned lane) {
    return ir_is_vector(x->type) ? ir_build_extract(b, x, lane) : x;
}

static ir_inst *in_all_lanes(ir_builder *b, ir_inst *x, ir_type t) {
    return ir_is_vector(t) ? ir_build_splat(b, x, ir_lanes(t)) : x;
}

ir_inst *expand_dot(ir_builder *b, ir_inst *x, ir_inst *y) {
    ir_inst *first = lane_of(b, y, 0);
    ir_inst *sum = expand_2(b, IR_OP_fmul, lane_of(b, x, 0), first);
    for (unsigned i = 1; i < ir_lanes(x->type); i++)
        sum = ir_build(b, IR_OP_mad, sum->type, IR_PLAIN,
                       IR_ARGS(lane_of(b, x, i), lane_of(b, y, i), sum));
    return sum;
}

static ir_inst *half_of(ir_builder *b, ir_inst *x, unsigned first) {
    uint8_t mask[IR_MAX_LANES];
    unsigned n = ir_lanes(x->type) / 2;
    if (n == 1) return lane_of(b, x, first);
    for (unsigned i = 0; i < n; i++) mask[i] = (uint8_t)(first + i);
    return ir_build_shuffle(b, x, ir_undef(b->f, x->type), n, mask);
}

/* One product of vectors, then sums of halves; an odd lane is added at the end. */
ir_inst *expand_dot_by_halves(ir_builder *b, ir_inst *x, ir_inst *y) {
    ir_inst *sum = expand_2(b, IR_OP_fmul, x, y), *rest = NULL;
    for (unsigned n = ir_lanes(x->type); n > 1; n /= 2) {
        if (n % 2) {
            ir_inst *last = lane_of(b, sum, n - 1);
            rest = rest ? expand_2(b, IR_OP_fadd, rest, last) : last;
        }
        ir_inst *upper = half_of(b, sum, n / 2);
        sum = expand_2(b, IR_OP_fadd, half_of(b, sum, 0), upper);
    }
    return rest ? expand_2(b, IR_OP_fadd, sum, rest) : sum;
}

/* x[i] * y[j] - x[j] * y[i] */
static ir_inst *determinant(ir_builder *b, ir_inst *x, ir_inst *y, unsigned i, unsigned j) {
    ir_inst *yj = lane_of(b, y, j), *left = expand_2(b, IR_OP_fmul, lane_of(b, x, i), yj);
    ir_inst *yi = lane_of(b, y, i), *right = expand_2(b, IR_OP_fmul, lane_of(b, x, j), yi);
    return expand_2(b, IR_OP_fsub, left, right);
}

ir_inst *expand_cross(ir_builder *b, ir_inst *x, ir_inst *y) {
    ir_inst *lanes[4] = {determinant(b, x, y, 1, 2), determinant(b, x, y, 2, 0),
                         determinant(b, x, y, 0, 1), ir_const(b->f, ir_elem(x->type), 0)};
    return ir_build_vec(b, x->type, lanes);
}

static ir_inst *greatest_lane(ir_builder *b, ir_inst *x) {
    ir_inst *magnitude = expand_1(b, IR_OP_fabs, x), *greatest = lane_of(b, magnitude, 0);
    for (unsigned i = 1; i < ir_lanes(x->type); i++)
        greatest = expand_2(b, IR_OP_fmax, greatest, lane_of(b, magnitude, i));
    return greatest;
}

/* A power of two near x, not negative, and its reciprocal. */
static ir_inst *power_near(ir_builder *b, ir_inst *x, ir_inst **reciprocal) {
    expand_format f = expand_format_of(x->type);
    ir_inst *bits = expand_as_int(b, x);
    uint64_t one = UINT64_C(1) << f.fraction, twice_bias = 2 * (uint64_t)f.bias;
    bits = expand_2(b, IR_OP_and, bits, expand_bits(b, bits, f.infinity));
    bits = expand_2(b, IR_OP_smax, bits, expand_bits(b, bits, one));
    bits = expand_2(b, IR_OP_smin, bits, expand_bits(b, bits, (twice_bias - 1) * one));
    ir_inst *other = expand_2(b, IR_OP_sub, expand_bits(b, bits, twice_bias * one), bits);
    *reciprocal = expand_as_float(b, other, x->type);
    return expand_as_float(b, bits, x->type);
}

static ir_inst *root_of_squares(ir_builder *b, ir_inst *x) {
    return expand_1(b, IR_OP_sqrt, expand_dot(b, x, x));
}

ir_inst *expand_length(ir_builder *b, ir_inst *x) {
    if (!ir_is_vector(x->type)) return expand_1(b, IR_OP_fabs, x);
    ir_inst *down, *up = power_near(b, greatest_lane(b, x), &down);
    ir_inst *scaled = expand_2(b, IR_OP_fmul, x, in_all_lanes(b, down, x->type));
    return expand_2(b, IR_OP_fmul, root_of_squares(b, scaled), up);
}

/* If a lane is infinite, infinite lanes become 1 and finite ones 0, with their signs.  NaN
 * remains. */
static ir_inst *finite_direction(ir_builder *b, ir_inst *x, ir_inst *infinite) {
    ir_inst *inf = ir_const(b->f, x->type, ir_fp_inf(ir_kind_of(x->type), false));
    ir_inst *is_inf = expand_test(b, IR_OP_foeq, expand_1(b, IR_OP_fabs, x), inf);
    ir_inst *one = expand_2(b, IR_OP_copysign, expand_number(b, x, 1), x);
    ir_inst *none = expand_2(b, IR_OP_fmul, x, expand_number(b, x, 0));
    ir_inst *y = expand_select(b, is_inf, one, none);
    return expand_select(b, in_all_lanes(b, infinite, x->type), y, x);
}

ir_inst *expand_normalize(ir_builder *b, ir_inst *x) {
    ir_inst *greatest = greatest_lane(b, x), *one = expand_number(b, greatest, 1), *down;
    ir_inst *inf = ir_const(b->f, greatest->type, ir_fp_inf(ir_kind_of(x->type), false));
    ir_inst *infinite = expand_test(b, IR_OP_foeq, greatest, inf);
    ir_inst *y = finite_direction(b, x, infinite);
    power_near(b, expand_select(b, infinite, one, greatest), &down);
    ir_inst *scaled = expand_2(b, IR_OP_fmul, y, in_all_lanes(b, down, x->type));
    ir_inst *length = in_all_lanes(b, root_of_squares(b, scaled), x->type);
    ir_inst *none = expand_test(b, IR_OP_foeq, length, expand_number(b, x, 0));
    return expand_select(b, none, y, expand_2(b, IR_OP_fdiv, scaled, length));
}

ir_inst *expand_fast_normalize(ir_builder *b, ir_inst *x) {
    ir_inst *length = in_all_lanes(b, root_of_squares(b, x), x->type);
    ir_inst *none = expand_test(b, IR_OP_foeq, length, expand_number(b, x, 0));
    ir_inst *factor = expand_2(b, IR_OP_fdiv, expand_number(b, x, 1), length);
    return expand_select(b, none, x, expand_2(b, IR_OP_fmul, x, factor));
}
