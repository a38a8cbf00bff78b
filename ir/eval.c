/* eval.c — what ops mean: one lane, one instruction, and folding of constants.
 *
 * The meaning of a lanewise op is the eval column of ops.def; the switch in eval_op is that
 * column, and the functions above it are the words it uses.  Lanes are bit patterns in uint64_t,
 * zero above their width.  Nothing here overflows a signed integer, shifts by a width or divides
 * by zero, whatever the operands.
 *
 * Ops that are not lanewise (bitcast, select, moves between vectors, functions of whole vectors)
 * are cases of ir_eval.  Addresses that are constants (null, or made from an integer) are integers
 * of the module's pointer width.
 *
 * Folding reads an undef operand as 0, except where the op only moves values: there undef stays
 * undef when nothing defined is left.
 */
#include "ir/eval.h"

#define U64(x) ((uint64_t)(x))

/* ----------------------------------------------------------------------- integers, width w ≤ 64 */

static uint64_t sign_bit(unsigned w) { return UINT64_C(1) << (w - 1); }

static uint64_t mul_high(uint64_t a, uint64_t b, unsigned w) { return U64((ir_u128)a * b >> w); }

static uint64_t smul_high(int64_t a, int64_t b, unsigned w) { return U64((ir_i128)a * b >> w); }

/* is_undefined excludes b = 0 and the overflowing quotient. */
static uint64_t sdiv(int64_t a, int64_t b) { return U64(a / b); }

static uint64_t srem(int64_t a, int64_t b) { return U64(a % b); }

static uint64_t rotate_left(uint64_t a, uint64_t by, unsigned w) {
    unsigned n = (unsigned)(by % w);
    return n ? a << n | a >> (w - n) : a;
}

static uint64_t shift_sign(int64_t a, uint64_t by, unsigned w) {
    return U64(a >> (by < w ? by : w - 1));
}

/* Half of a + b, rounded down or up. */
static uint64_t half_sum(int64_t a, int64_t b) { return U64((a & b) + ((a ^ b) >> 1)); }

static uint64_t half_sum_up(int64_t a, int64_t b) { return U64((a | b) - ((a ^ b) >> 1)); }

static uint64_t clamp_unsigned(ir_u128 x, unsigned w) {
    uint64_t max = ir_zext(UINT64_MAX, w);
    return x > max ? max : U64(x);
}

static uint64_t clamp_signed(ir_i128 x, unsigned w) {
    ir_i128 max = ((ir_i128)1 << (w - 1)) - 1, min = -max - 1;
    return U64(x > max ? max : x < min ? min : x);
}

static uint64_t uadd_sat(uint64_t a, uint64_t b, unsigned w) {
    return clamp_unsigned((ir_u128)a + b, w);
}

static uint64_t sadd_sat(int64_t a, int64_t b, unsigned w) {
    return clamp_signed((ir_i128)a + b, w);
}

static uint64_t ssub_sat(int64_t a, int64_t b, unsigned w) {
    return clamp_signed((ir_i128)a - b, w);
}

static uint64_t umad_sat(uint64_t a, uint64_t b, uint64_t c, unsigned w) {
    return clamp_unsigned((ir_u128)a * b + c, w);
}

static uint64_t smad_sat(int64_t a, int64_t b, int64_t c, unsigned w) {
    return clamp_signed((ir_i128)a * b + c, w);
}

static uint64_t byte_products(uint64_t a, uint64_t b, unsigned w) {
    int64_t sum = 0;
    for (unsigned k = 0; k < w; k += 8) sum += (int64_t)(uint8_t)(a >> k) * (int8_t)(b >> k);
    return U64(sum);
}

static uint64_t byte_dot_sat(uint64_t a, uint64_t b, int64_t c, unsigned w) {
    return clamp_signed((ir_i128)(int64_t)byte_products(a, b, w) + c, w);
}

static uint64_t word_products(uint64_t a, uint64_t b, unsigned w) {
    int64_t sum = 0;
    for (unsigned k = 0; k < w; k += 16) sum += (int64_t)(int16_t)(a >> k) * (int16_t)(b >> k);
    return U64(sum);
}

static uint64_t count_leading(uint64_t a, unsigned w) {
    return a ? U64(__builtin_clzll(a)) - (64 - w) : w;
}

static uint64_t count_trailing(uint64_t a, unsigned w) { return a ? U64(__builtin_ctzll(a)) : w; }

static uint64_t count_ones(uint64_t a) { return U64(__builtin_popcountll(a)); }

static uint64_t reverse_bits(uint64_t a, unsigned w) {
    uint64_t out = 0;
    for (unsigned i = 0; i < w; i++) out |= (a >> i & 1) << (w - 1 - i);
    return out;
}

/* --------------------------------------------------------------------------------------- floats */

static uint64_t float_sign(ir_kind k) { return ir_fp_inf(k, true) ^ ir_fp_inf(k, false); }

static uint64_t magnitude(ir_kind k, uint64_t a) { return a & ~float_sign(k); }

static uint64_t float_of_int(ir_kind k, int64_t x) {
    return ir_fp_from_int(k, U64(x), true, IR_RTE);
}

static bool is_less(ir_kind k, uint64_t a, uint64_t b) { return ir_fp_compare(k, a, b) == -1; }

static bool is_less_or_greater(ir_kind k, uint64_t a, uint64_t b) {
    int order = ir_fp_compare(k, a, b);
    return order == -1 || order == 1;
}

static bool is_finite(ir_kind k, uint64_t a) { return magnitude(k, a) < ir_fp_inf(k, false); }

static bool is_normal(ir_kind k, uint64_t a) {
    uint64_t inf = ir_fp_inf(k, false), least = inf & (0 - inf);
    return magnitude(k, a) >= least && magnitude(k, a) < inf;
}

/* A NaN of the arguments, if there is one, as a result; otherwise a zero with the sign of a. */
static uint64_t nan_or_zero(ir_kind k, uint64_t a) {
    return ir_fp_is_nan(k, a) ? ir_fp_nan(k) : a & float_sign(k);
}

static uint64_t copy_sign(uint64_t a, uint64_t b, unsigned w) {
    return (a & ~sign_bit(w)) | (b & sign_bit(w));
}

static uint64_t remainder_of(ir_kind k, uint64_t a, uint64_t b) {
    return ir_fp_remainder(k, a, b, &(int){0});
}

static uint64_t clamp_of(ir_kind k, uint64_t a, uint64_t low, uint64_t high) {
    return ir_fp_min(k, ir_fp_max(k, a, low), high);
}

static uint64_t to_degrees(ir_kind k, uint64_t a) {
    return ir_fp_mul(k, a, ir_fp_from_double(k, 57.295779513082320877));
}

static uint64_t to_radians(ir_kind k, uint64_t a) {
    return ir_fp_mul(k, a, ir_fp_from_double(k, 0.017453292519943295769));
}

static uint64_t to_int(ir_kind k, uint64_t a, unsigned w, bool is_signed, ir_imm imm) {
    return ir_fp_to_int(k, a, w, is_signed, imm.round);
}

static uint64_t from_int(ir_kind to, uint64_t a, bool is_signed, ir_imm imm) {
    return ir_fp_from_int(to, a, is_signed, imm.round.mode);
}

static uint64_t to_float(ir_kind to, ir_kind k, uint64_t a, ir_imm imm) {
    return ir_fp_convert(to, k, a, imm.round.mode);
}

static uint64_t modf_fraction(ir_kind k, uint64_t a) {
    if (!is_finite(k, a)) return nan_or_zero(k, a);
    uint64_t fraction = ir_fp_sub(k, a, ir_fp_round_int(k, a, IR_RTZ));
    return magnitude(k, fraction) | (a & float_sign(k));
}

static uint64_t fract_fraction(ir_kind k, uint64_t a) {
    if (!is_finite(k, a) || !magnitude(k, a)) return nan_or_zero(k, a);
    uint64_t below_one = ir_fp_nextafter(k, float_of_int(k, 1), 0);
    return ir_fp_min(k, ir_fp_sub(k, a, ir_fp_round_int(k, a, IR_RTN)), below_one);
}

static uint64_t frexp_mantissa(ir_kind k, uint64_t a) { return ir_fp_frexp(k, a, &(int32_t){0}); }

static uint64_t frexp_exponent(ir_kind k, uint64_t a) {
    int32_t e;
    ir_fp_frexp(k, a, &e);
    return U64(e);
}

static uint64_t logb_of(ir_kind k, uint64_t a) {
    if (ir_fp_is_nan(k, a)) return ir_fp_nan(k);
    if (!is_finite(k, a) || !magnitude(k, a)) return ir_fp_inf(k, is_finite(k, a));
    return float_of_int(k, ir_fp_ilogb(k, a));
}

static uint64_t nan_with(ir_kind k, uint64_t payload) {
    uint64_t quiet = ir_fp_nan(k) ^ ir_fp_inf(k, false);
    return ir_fp_nan(k) | (payload & (quiet - 1));
}

static uint64_t remquo_bits(ir_kind k, uint64_t a, uint64_t b) {
    int quotient;
    ir_fp_remainder(k, a, b, &quotient);
    return U64(quotient);
}

static uint64_t fdim_of(ir_kind k, uint64_t a, uint64_t b) {
    int order = ir_fp_compare(k, a, b);
    if (order == 2) return ir_fp_nan(k);
    return order == 1 ? ir_fp_sub(k, a, b) : 0;
}

static uint64_t maxmag_of(ir_kind k, uint64_t a, uint64_t b) {
    int order = ir_fp_compare(k, magnitude(k, a), magnitude(k, b));
    return order == 1 ? a : order == -1 ? b : ir_fp_max(k, a, b);
}

static uint64_t minmag_of(ir_kind k, uint64_t a, uint64_t b) {
    int order = ir_fp_compare(k, magnitude(k, a), magnitude(k, b));
    return order == -1 ? a : order == 1 ? b : ir_fp_min(k, a, b);
}

static uint64_t mix_of(ir_kind k, uint64_t a, uint64_t b, uint64_t c) {
    return ir_fp_add(k, a, ir_fp_mul(k, ir_fp_sub(k, b, a), c));
}

static uint64_t step_of(ir_kind k, uint64_t edge, uint64_t x) {
    return is_less(k, x, edge) ? 0 : float_of_int(k, 1);
}

/* t*t*(3 - 2t) for t = (x - low) / (high - low), clamped to [0, 1] */
static uint64_t smoothstep_of(ir_kind k, uint64_t low, uint64_t high, uint64_t x) {
    uint64_t t = ir_fp_div(k, ir_fp_sub(k, x, low), ir_fp_sub(k, high, low));
    t = ir_fp_min(k, ir_fp_max(k, t, 0), float_of_int(k, 1));
    uint64_t line = ir_fp_sub(k, float_of_int(k, 3), ir_fp_add(k, t, t));
    return ir_fp_mul(k, ir_fp_mul(k, t, t), line);
}

static uint64_t sign_of(ir_kind k, uint64_t a) {
    if (ir_fp_is_nan(k, a)) return 0;
    return magnitude(k, a) ? float_of_int(k, a & float_sign(k) ? -1 : 1) : a;
}

/* Gamma is negative between -1 and 0, -3 and -2, …; 0 where it has no value. */
static uint64_t lgamma_sign_of(ir_kind k, uint64_t a) {
    uint64_t floor = ir_fp_round_int(k, a, IR_RTN);
    if (!magnitude(k, a)) return 0;
    if (!(a & float_sign(k)) || !is_finite(k, a)) return 1;
    if (floor == a) return 0;
    uint64_t half = ir_fp_ldexp(k, floor, -1);
    return half == ir_fp_round_int(k, half, IR_RTZ) ? 1 : U64(-1);
}

/* ------------------------------------------------------------------------------------- one lane */

bool ir_has_eval(ir_op op) { return strcmp(ir_ops[op].eval, "NONE") != 0; }

/* Does the op have no result for these operands? */
static bool is_undefined(const ir_eval_env *e, const uint64_t a[4]) {
    switch (e->op) {
    case IR_OP_udiv:
    case IR_OP_urem: return a[1] == 0;
    case IR_OP_sdiv:
    case IR_OP_srem:
        return a[1] == 0 || (a[0] == sign_bit(e->w_arg) && a[1] == ir_zext(UINT64_MAX, e->w_arg));
    default: return false;
    }
}

/* The eval column, as an expression over a and e. */
#define A (a[0])
#define B (a[1])
#define C (a[2])
#define W (e->w_arg)
#define WR (e->w_res)
#define K (e->k_arg)
#define KR (e->k_res)
#define SA ir_sext(A, W)
#define SB ir_sext(B, W)
#define SC ir_sext(C, W)
#define IMM (e->imm)
#define NONE 0 /* callers ask ir_has_eval first */

static uint64_t eval_op(const ir_eval_env *e, const uint64_t a[4]) {
    switch (e->op) {
#define OP(name, spirv, rule, nargs, imm, levels, flags, eval, doc)                                \
    case IR_OP_##name:                                                                             \
        return U64(eval);
#include "ir/ops.def"
#undef OP
    case IR_OP_COUNT: break;
    }
    return 0;
}

#undef A
#undef B
#undef C
#undef W
#undef WR
#undef K
#undef KR
#undef SA
#undef SB
#undef SC
#undef IMM
#undef NONE

uint64_t ir_eval_lane(const ir_eval_env *e, const uint64_t a[4]) {
    return is_undefined(e, a) ? 0 : ir_zext(eval_op(e, a), e->w_res);
}

/* ------------------------------------------------------------------------------ one instruction */

static bool eval_lanes(const ir_module *m, const ir_inst *i, uint64_t *const *args, uint64_t *out) {
    ir_type arg = ir_arg(i, 0)->type;
    ir_eval_env e = {(ir_op)i->op,        ir_kind_of(i->type), ir_kind_of(arg),
                     ir_bits(m, i->type), ir_bits(m, arg),     i->imm};
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        uint64_t a[4] = {0};
        for (unsigned n = 0; n < i->nargs; n++) a[n] = args[n][lane];
        if (is_undefined(&e, a)) return false;
        out[lane] = ir_eval_lane(&e, a);
    }
    return true;
}

/* Widths are powers of two, so a lane is made of whole lanes or lies within one. */
static void eval_bitcast(const ir_module *m, const ir_inst *i, const uint64_t *arg, uint64_t *out) {
    unsigned from = ir_bits(m, ir_arg(i, 0)->type), to = ir_bits(m, i->type);
    unsigned piece = from < to ? from : to;
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        out[lane] = 0;
        for (unsigned bit = 0; bit < to; bit += piece) {
            unsigned at = lane * to + bit;
            out[lane] |= ir_zext(arg[at / from] >> at % from, piece) << bit;
        }
    }
}

static void eval_select(const ir_inst *i, uint64_t *const *args, uint64_t *out) {
    bool by_lane = ir_is_vector(ir_arg(i, 0)->type);
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++)
        out[lane] = args[args[0][by_lane ? lane : 0] ? 1 : 2][lane];
}

static void eval_shuffle(const ir_inst *i, uint64_t *const *args, uint64_t *out) {
    unsigned n = ir_lanes(ir_arg(i, 0)->type), both = n + ir_lanes(ir_arg(i, 1)->type);
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        unsigned from = i->imm.mask[lane];
        out[lane] = from < n ? args[0][from] : from < both ? args[1][from - n] : 0;
    }
}

/* What is out of range reads 0. */
static void eval_permute(const ir_inst *i, uint64_t *const *args, uint64_t *out) {
    unsigned n = ir_lanes(i->type);
    for (unsigned lane = 0; lane < n; lane++)
        out[lane] = args[1][lane] < n ? args[0][args[1][lane]] : 0;
}

static uint64_t count_true(const ir_inst *v, const uint64_t *lanes) {
    uint64_t n = 0;
    for (unsigned lane = 0; lane < ir_lanes(v->type); lane++) n += lanes[lane];
    return n;
}

static void copy_lanes(const ir_inst *v, const uint64_t *lanes, uint64_t *out) {
    memcpy(out, lanes, ir_lanes(v->type) * sizeof *out);
}

/* An index out of range reads 0 and writes nothing. */
static void eval_element(const ir_inst *i, uint64_t *const *args, uint64_t *out) {
    bool insert = i->op == IR_OP_insert;
    uint64_t index = args[insert ? 2 : 1][0];
    bool inside = index < ir_lanes(ir_arg(i, 0)->type);
    if (insert) {
        copy_lanes(i, args[0], out);
        if (inside) out[index] = args[1][0];
    } else {
        out[0] = inside ? args[0][index] : 0;
    }
}

bool ir_eval(const ir_module *m, const ir_inst *i, uint64_t *const *args, uint64_t *out,
             bool libm) {
    if (ir_has_flag(i, F_NOFOLD) && !libm) return false;
    const ir_inst *first = i->nargs ? ir_arg(i, 0) : NULL;
    switch (i->op) {
    case IR_OP_bitcast: eval_bitcast(m, i, args[0], out); return true;
    case IR_OP_select: eval_select(i, args, out); return true;
    case IR_OP_extract:
    case IR_OP_insert: eval_element(i, args, out); return true;
    case IR_OP_vec:
        for (unsigned n = 0; n < i->nargs; n++) out[n] = args[n][0];
        return true;
    case IR_OP_shuffle: eval_shuffle(i, args, out); return true;
    case IR_OP_permute: eval_permute(i, args, out); return true;
    case IR_OP_any: out[0] = count_true(first, args[0]) != 0; return true;
    case IR_OP_all: out[0] = count_true(first, args[0]) == ir_lanes(first->type); return true;
    case IR_OP_ptrcast: copy_lanes(i, args[0], out); return true;
    case IR_OP_ptradd: out[0] = ir_zext(args[0][0] + args[1][0], m->pointer_bits); return true;
    case IR_OP_dot:
    case IR_OP_cross:
    case IR_OP_normalize:
    case IR_OP_fast_normalize:
    case IR_OP_length:
    case IR_OP_fast_length:
    case IR_OP_distance:
    case IR_OP_fast_distance:
        ir_math_vector((ir_op)i->op, first->type, args[0], args[i->nargs - 1], out);
        return true;
    default: return i->nargs && ir_has_eval((ir_op)i->op) && eval_lanes(m, i, args, out);
    }
}

/* -------------------------------------------------------------------------------------- folding */

static bool is_undef(const ir_inst *v) { return v->op == IR_OP_undef; }

static bool all_literal(const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (!ir_is_const(ir_arg(i, n)) && !is_undef(ir_arg(i, n))) return false;
    return i->nargs > 0;
}

static bool all_undef(const ir_inst *i) {
    for (unsigned n = 0; n < i->nargs; n++)
        if (!is_undef(ir_arg(i, n))) return false;
    return true;
}

/* Is `index` undef, or outside of `vector`? */
static bool is_outside(const ir_inst *index, const ir_inst *vector) {
    return is_undef(index) || index->imm.bits >= ir_lanes(vector->type);
}

static bool shuffles_undef_only(const ir_inst *i) {
    unsigned n = ir_lanes(ir_arg(i, 0)->type);
    for (unsigned lane = 0; lane < ir_lanes(i->type); lane++) {
        unsigned from = i->imm.mask[lane];
        if (from != 255 && !is_undef(ir_arg(i, from < n ? 0 : 1))) return false;
    }
    return true;
}

/* Ops that move values, some of them undef: the operand or undef that they give, or NULL. */
static ir_inst *fold_move(ir_func *f, const ir_inst *i) {
    ir_inst *first = i->nargs ? ir_arg(i, 0) : NULL;
    switch (i->op) {
    case IR_OP_select:
        if (is_undef(first)) return ir_arg(i, 1);
        return ir_is_vector(first->type) ? NULL : ir_arg(i, first->imm.bits ? 1 : 2);
    case IR_OP_extract:
        return is_undef(first) || is_outside(ir_arg(i, 1), first) ? ir_undef(f, i->type) : NULL;
    case IR_OP_insert:
        return is_undef(ir_arg(i, 1)) || is_outside(ir_arg(i, 2), first) ? first : NULL;
    case IR_OP_vec:
    case IR_OP_bitcast: return all_undef(i) ? ir_undef(f, i->type) : NULL;
    case IR_OP_shuffle: return shuffles_undef_only(i) ? ir_undef(f, i->type) : NULL;
    case IR_OP_permute: return is_undef(first) ? first : NULL;
    case IR_OP_ptrcast_to:
        return is_undef(first) || !first->imm.bits ? ir_const(f, i->type, 0) : NULL;
    default: return NULL;
    }
}

ir_inst *ir_fold(ir_func *f, const ir_inst *i) {
    if (!ir_has_flag(i, F_PURE) || ir_has_flag(i, F_NOFOLD) || !all_literal(i)) return NULL;
    ir_inst *moved = fold_move(f, i);
    if (moved) return moved;
    uint64_t lanes[3][IR_MAX_LANES] = {{0}}, out[IR_MAX_LANES], *args[IR_MAX_LANES];
    assert(i->nargs <= IR_MAX_LANES);
    for (unsigned n = 0; n < i->nargs; n++) {
        const ir_inst *v = ir_arg(i, n);
        args[n] = n < 3 ? lanes[n] : &lanes[2][n - 2]; /* from the fourth on: scalars of a vec */
        for (unsigned lane = 0; ir_is_const(v) && lane < ir_lanes(v->type); lane++)
            args[n][lane] = ir_lane_bits(v, lane);
    }
    if (!ir_eval(f->module, i, args, out, false)) return NULL;
    return ir_is_vector(i->type) ? ir_const_lanes(f, i->type, out) : ir_const(f, i->type, out[0]);
}
