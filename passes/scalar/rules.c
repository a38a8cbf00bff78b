/* rules.c — predicates and helpers of simplify.rules, and the matchers that rulegen generates.
 *
 * A predicate about a constant holds if it holds for every lane.  Arguments are the values that a
 * rule names.  Each function looks at a few instructions only, except along chains of inserts,
 * which have at most one element per lane.
 *
 * The instruction v is in a block (in pass_simplify), or it is a candidate of the builder, which is
 * in no block and does not count as a use of its operands.
 */
#include "ir/eval.h"
#include "passes/passes.h"
#include "passes/rule_words.h"

#include <math.h>

/* ----------------------------------------------------------------------- constants and literals */

/* Bits of a lane; 0 for pointers, whose size belongs to the module: no predicate holds for them. */
static unsigned width_of(ir_type t) {
    static const uint8_t bits[] = {
        [IR_I1] = 1,   [IR_I8] = 8,    [IR_I16] = 16, [IR_I32] = 32, [IR_I64] = 64,
        [IR_F16] = 16, [IR_BF16] = 16, [IR_F32] = 32, [IR_F64] = 64};
    return ir_kind_of(t) <= IR_F64 ? bits[ir_kind_of(t)] : 0;
}

static uint64_t umax_of(unsigned w) { return ir_zext(UINT64_MAX, w); }
static uint64_t smin_of(unsigned w) { return UINT64_C(1) << (w - 1); }
static uint64_t smax_of(unsigned w) { return smin_of(w) - 1; }

static bool is_int_constant(const ir_inst *x, int64_t n) {
    uint64_t bits;
    if (ir_is_float(x->type) || !ir_is_splat(x, &bits)) return false;
    unsigned w = width_of(x->type);
    if (!w) return n == 0 && bits == 0;
    bool fits = ir_sext((uint64_t)n, w) == n || ir_zext((uint64_t)n, w) == (uint64_t)n;
    return fits && bits == ir_zext((uint64_t)n, w);
}

static bool is_float_constant(const ir_inst *x, double value) {
    uint64_t bits;
    if (!ir_is_float(x->type) || !ir_is_splat(x, &bits)) return false;
    double d = ir_fp_to_double(ir_kind_of(x->type), bits);
    return memcmp(&d, &value, sizeof d) == 0;
}

/* Most operands are no constants, so that is checked first. */
static inline bool matches_int(const ir_inst *x, int64_t n) {
    return ir_is_const(x) && is_int_constant(x, n);
}

static inline bool matches_bool(const ir_inst *x, bool value) {
    return ir_is_const(x) && ir_is_bool(x->type) && is_int_constant(x, value);
}

static inline bool matches_float(const ir_inst *x, double value) {
    return ir_is_const(x) && is_float_constant(x, value);
}

/* ---------------------------------------------------------------------- predicates about constants
 *
 * Each row holds when its condition does for every lane x of constant c, w bits wide, of kind k. */

#define CONSTANT(name, condition)                                                                  \
    static bool name(const ir_inst *c) {                                                           \
        const ir_kind k = ir_kind_of(c->type);                                                     \
        const unsigned w = width_of(c->type);                                                      \
        for (unsigned lane = 0; lane < ir_lanes(c->type); lane++) {                                \
            const uint64_t x = ir_lane_bits(c, lane);                                              \
            if (k >= IR_PTR || !(condition)) return false;                                         \
        }                                                                                          \
        return w != 0;                                                                             \
    }

static bool is_normal_float(ir_kind k, uint64_t x) {
    uint64_t inf = ir_fp_inf(k, false), magnitude = x & smax_of(width_of(k));
    return magnitude >= (inf & (0 - inf)) && magnitude < inf;
}

static uint64_t reciprocal(ir_kind k, uint64_t x) {
    return ir_fp_div(k, ir_fp_from_double(k, 1), x);
}

CONSTANT(is_pow2, x && !(x & (x - 1)))
CONSTANT(is_smin, x == smin_of(w))
CONSTANT(is_smax, x == smax_of(w))
CONSTANT(is_negative, x >= smin_of(w))
CONSTANT(is_natural, x < smin_of(w))
CONSTANT(lacks_zero, x != 0)
CONSTANT(lacks_umax, x != umax_of(w))
CONSTANT(lacks_smin, x != smin_of(w))
CONSTANT(lacks_smax, x != smax_of(w))
CONSTANT(is_in_width, x < w)
CONSTANT(is_too_wide, x >= w)
CONSTANT(is_width_minus_1, x == w - 1)
CONSTANT(is_multiple_of_width, x % w == 0)
CONSTANT(is_nan, ir_fp_is_nan(k, x))
CONSTANT(lacks_nan, !ir_fp_is_nan(k, x))
CONSTANT(has_normal_reciprocal, is_normal_float(k, x) && is_normal_float(k, reciprocal(k, x)))
CONSTANT(has_power_of_2_only, ir_fp_unpack(k, x).mant == UINT64_C(1) << 63)

static bool has_exact_reciprocal(const ir_inst *c) {
    return has_power_of_2_only(c) && has_normal_reciprocal(c);
}

/* The same over lanes x and y of two constants of one shape. */
#define PAIR(name, condition)                                                                      \
    static bool name(const ir_inst *c, const ir_inst *d) {                                         \
        const unsigned w = width_of(c->type);                                                      \
        for (unsigned lane = 0; lane < ir_lanes(c->type) && w; lane++) {                           \
            const uint64_t x = ir_lane_bits(c, lane), y = ir_lane_bits(d, lane);                   \
            if (!(condition)) return false;                                                        \
        }                                                                                          \
        return w != 0;                                                                             \
    }

PAIR(contains, (x & y) == y)
PAIR(are_disjoint, (x & y) == 0)
PAIR(are_complete, (x | y) == umax_of(w))
PAIR(keeps_shifted, y < w && (x & umax_of(w) >> y) == umax_of(w) >> y)
PAIR(sum_is_width, (x) && (y) && (x < w) && x + y == w)
PAIR(sum_is_in_width, x < w && y < w && x + y < w)
PAIR(sum_is_too_wide, x < w && y < w && x + y >= w)
PAIR(sum_is_natural, x < smin_of(w) && y < smin_of(w) && x + y < smin_of(w))
PAIR(product_fits, (x) && y <= umax_of(w) / x)
PAIR(is_successor, x == y + 1 && y != umax_of(w) && y != smax_of(w))

/* The same, where w bits are the width of a lane of value v. */
#define AGAINST(name, condition)                                                                   \
    static bool name(const ir_inst *c, const ir_inst *v) {                                         \
        const unsigned w = width_of(v->type), wide = width_of(c->type);                            \
        for (unsigned lane = 0; lane < ir_lanes(c->type) && w; lane++) {                           \
            const uint64_t x = ir_lane_bits(c, lane);                                              \
            if (!(condition)) return false;                                                        \
        }                                                                                          \
        return w && wide && ir_lanes(c->type) == ir_lanes(v->type);                                \
    }

AGAINST(covers, wide >= w && (x & umax_of(w)) == umax_of(w))
AGAINST(covers_only, wide >= w && x == umax_of(w))
AGAINST(is_at_least_width_of, wide >= w && x >= w)
AGAINST(fits_unsigned, wide >= w && x <= umax_of(w))
AGAINST(is_above, wide >= w && x > umax_of(w))
AGAINST(fits_signed, wide >= w && ir_sext(x, w) == ir_sext(x, wide))
AGAINST(is_outside_signed, wide >= w && ir_sext(x, w) != ir_sext(x, wide))
AGAINST(is_magnitude_mask, wide == w && x == smax_of(w))
AGAINST(is_sign_mask, wide == w && x == smin_of(w))

/* ---------------------------------------------------------------------- predicates about values */

/* May x go when the rule is applied, because nothing but its instruction uses it?  A candidate of
 * the builder is no use yet, so there one other use passes as well. */
static bool may_vanish(const ir_inst *x) { return !x->uses || !x->uses->next; }

static bool same_type(const ir_inst *x, const ir_inst *y) { return x->type == y->type; }

static bool same_lanes(const ir_inst *x, const ir_inst *y) {
    return ir_lanes(x->type) == ir_lanes(y->type);
}

static bool same_width(const ir_inst *x, const ir_inst *y) {
    return width_of(x->type) == width_of(y->type);
}

static bool is_narrower(const ir_inst *x, const ir_inst *y) {
    return width_of(x->type) < width_of(y->type);
}

static bool is_boolean(const ir_inst *x) { return ir_is_bool(x->type); }

/* f16 and bf16 are storage on many devices: a rule must not make arithmetic on them. */
static bool is_common_float(const ir_inst *x) {
    return ir_kind_of(x->type) == IR_F32 || ir_kind_of(x->type) == IR_F64;
}

/* Is it an integer of more than one bit, so that arithmetic applies? */
static bool is_integer(const ir_inst *x) { return ir_is_int(x->type) && !ir_is_bool(x->type); }

static bool has_flags(const ir_inst *x, uint32_t flags) { return (x->flags & flags) != 0; }
static bool nsw(const ir_inst *x) { return has_flags(x, IR_NSW); }
static bool nuw(const ir_inst *x) { return has_flags(x, IR_NUW); }
static bool nnan(const ir_inst *x) { return has_flags(x, IR_NNAN | IR_FAST); }
static bool ninf(const ir_inst *x) { return has_flags(x, IR_NINF | IR_FAST); }
static bool nsz(const ir_inst *x) { return has_flags(x, IR_NSZ | IR_FAST); }
static bool arcp(const ir_inst *x) { return has_flags(x, IR_ARCP | IR_FAST); }
static bool fast(const ir_inst *x) { return has_flags(x, IR_FAST); }
static bool contract(const ir_inst *x) { return has_flags(x, IR_CONTRACT | IR_FAST); }

/* Is the sign bit of x known to be 0? */
static bool is_nonnegative(const ir_inst *x) {
    const ir_inst *c = x->nargs > 1 && ir_is_const(ir_arg(x, 1)) ? ir_arg(x, 1) : NULL;
    if (ir_is_bool(x->type) || !ir_is_int(x->type)) return false;
    switch (x->op) {
    case IR_OP_const: return is_natural(x);
    case IR_OP_zext:
    case IR_OP_clz:
    case IR_OP_ctz:
    case IR_OP_popcount: return true;
    case IR_OP_and:
    case IR_OP_umin:
    case IR_OP_smax:
    case IR_OP_urem: return c && is_natural(c);
    case IR_OP_lshr: return c && lacks_zero(c);
    default: return false;
    }
}

static bool is_integral(const ir_inst *x) {
    switch (x->op) {
    case IR_OP_floor:
    case IR_OP_ceil:
    case IR_OP_trunc_f:
    case IR_OP_rint:
    case IR_OP_round:
    case IR_OP_sitofp:
    case IR_OP_uitofp: return true;
    default: return false;
    }
}

/* Does the fpcast keep every value? */
static bool is_widening(const ir_inst *cast) {
    ir_kind from = ir_kind_of(ir_arg(cast, 0)->type), to = ir_kind_of(cast->type);
    return from < to && to >= IR_F32; /* f16, bf16 < f32 < f64 */
}

/* Does the conversion from an integer keep every value? */
static bool is_exact(const ir_inst *cast) {
    static const uint8_t precision[] = {11, 8, 24, 53};
    unsigned w = width_of(ir_arg(cast, 0)->type) - (cast->op == IR_OP_sitofp);
    return w <= precision[ir_kind_of(cast->type) - IR_F16];
}

static bool is_in_64_bits(const ir_inst *v) { return width_of(v->type) == 64; }

static bool is_below_32(const ir_inst *c) { return ir_is_const(c) && c->imm.bits < 32; }

/* Can the integer m hold an address? Is it exactly as wide as one? */
static bool holds_pointer(const ir_builder *b, const ir_inst *m) {
    return width_of(m->type) >= b->f->module->pointer_bits;
}

static bool is_pointer_wide(const ir_builder *b, const ir_inst *m) {
    return width_of(m->type) == b->f->module->pointer_bits;
}

/* ------------------------------------------------------------------ helpers: computed constants */

static ir_inst *log2_of(ir_builder *b, const ir_inst *c) {
    uint64_t lanes[IR_MAX_LANES];
    for (unsigned i = 0; i < ir_lanes(c->type); i++)
        lanes[i] = (uint64_t)__builtin_ctzll(ir_lane_bits(c, i));
    return ir_const_lanes(b->f, c->type, lanes);
}

static ir_inst *width_minus_1(ir_builder *b, const ir_inst *c) {
    return ir_const(b->f, c->type, width_of(c->type) - 1);
}

static ir_inst *low_word(ir_builder *b, ir_inst *x) {
    return ir_build1(b, IR_OP_trunc, ir_with_elem(x->type, IR_I32), x);
}

static ir_inst *signed_low_word(ir_builder *b, ir_inst *x) {
    return ir_build1(b, IR_OP_sext, x->type, low_word(b, x));
}

/* A mask of as many low bits as `narrow` has, in the type of `wide`. */
static ir_inst *low_mask(ir_builder *b, const ir_inst *narrow, const ir_inst *wide) {
    return ir_const(b->f, wide->type, umax_of(width_of(narrow->type)));
}

/* ----------------------------------------------------------------------------- helpers: vectors */

enum { ANY_LANE = 255 };

/* Lane `lane` of vector x, followed through inserts, vecs and shuffles. */
static ir_inst *lane_of(ir_builder *b, ir_inst *x, const ir_inst *index) {
    const ir_inst *start = x;
    uint64_t lane = index->imm.bits;
    if (lane >= ir_lanes(x->type)) return NULL;
    for (unsigned steps = 0; steps < 2 * IR_MAX_LANES; steps++) {
        if (x->op == IR_OP_vec) return ir_arg(x, (unsigned)lane);
        if (x->op == IR_OP_insert && ir_is_const(ir_arg(x, 2))) {
            if (ir_arg(x, 2)->imm.bits == lane) return ir_arg(x, 1);
            x = ir_arg(x, 0);
        } else if (x->op == IR_OP_shuffle) {
            unsigned n = ir_lanes(ir_arg(x, 0)->type), from = x->imm.mask[lane];
            if (from == ANY_LANE) return ir_undef(b->f, ir_elem(x->type));
            x = ir_arg(x, from < n ? 0 : 1);
            lane = from < n ? from : from - n;
        } else {
            break;
        }
    }
    return x == start ? NULL : ir_build_extract(b, x, (unsigned)lane);
}

/* The load of all lanes that v is. */
static ir_inst *plain_load(ir_builder *b, const ir_inst *v) {
    return ir_build_raw(b, IR_OP_load, v->type, ir_attrs_of(v), IR_ARGS(ir_arg(v, 0)));
}

static bool has_all(ir_inst *const *lanes, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (!lanes[i]) return false;
    return true;
}

/* The vec that a chain of inserts, each used by the next only, amounts to once every lane is set.
 */
static ir_inst *whole_vector(ir_builder *b, ir_inst *v) {
    ir_inst *lanes[IR_MAX_LANES] = {NULL};
    unsigned n = ir_lanes(v->type);
    ir_inst *x = v;
    for (unsigned steps = 0; steps < n && x->op == IR_OP_insert; steps++, x = ir_arg(x, 0)) {
        const ir_inst *index = ir_arg(x, 2);
        if (!ir_is_const(index) || index->imm.bits >= n || (x != v && !may_vanish(x))) return NULL;
        if (!lanes[index->imm.bits]) lanes[index->imm.bits] = ir_arg(x, 1);
    }
    if (x->op == IR_OP_vec && may_vanish(x))
        for (unsigned i = 0; i < n; i++)
            if (!lanes[i]) lanes[i] = ir_arg(x, i);
    if (!has_all(lanes, n)) return NULL;
    return ir_build_vec(b, v->type, lanes);
}

/* Lanes picked from at most two vectors of one type. */
typedef struct {
    ir_inst *source[2];
    uint8_t mask[IR_MAX_LANES]; /* over both sources */
    unsigned lanes;
} picking;

/* The next lane is lane `from` of x; false when that would be a third source, or another type. */
static bool pick(picking *p, ir_inst *x, unsigned from) {
    unsigned s = p->source[0] && p->source[0] != x;
    if (p->source[s] && p->source[s] != x) return false;
    if (p->source[0] && p->source[0]->type != x->type) return false;
    p->source[s] = x;
    p->mask[p->lanes++] = (uint8_t)(from + s * ir_lanes(x->type));
    return true;
}

static bool is_identity(const picking *p, ir_type t) {
    if (p->source[1] || p->source[0]->type != t) return false;
    for (unsigned i = 0; i < p->lanes; i++)
        if (p->mask[i] != i && p->mask[i] != ANY_LANE) return false;
    return true;
}

/* The value of type t that a picking makes. */
static ir_inst *build_picking(ir_builder *b, picking *p, ir_type t) {
    if (!p->source[0]) return ir_undef(b->f, t);
    if (is_identity(p, t)) return p->source[0];
    if (!p->source[1]) p->source[1] = ir_undef(b->f, p->source[0]->type);
    return ir_build_shuffle(b, p->source[0], p->source[1], p->lanes, p->mask);
}

static ir_inst *shuffle_of_extracts(ir_builder *b, const ir_inst *v) {
    picking p = {.lanes = 0};
    for (unsigned i = 0; i < v->nargs; i++) {
        const ir_inst *x = ir_arg(v, i);
        if (x->op == IR_OP_undef) {
            p.mask[p.lanes++] = ANY_LANE;
            continue;
        }
        if (x->op != IR_OP_extract || !ir_is_const(ir_arg(x, 1))) return NULL;
        uint64_t lane = ir_arg(x, 1)->imm.bits;
        ir_inst *from = ir_arg(x, 0);
        if (lane >= ir_lanes(from->type) || 2 * ir_lanes(from->type) >= ANY_LANE) return NULL;
        if (!pick(&p, from, (unsigned)lane)) return NULL;
    }
    return p.source[0] ? build_picking(b, &p, v->type) : NULL;
}

/* Picks lane `lane` of operand x.  If x is a shuffle and `through` allows it, picks that lane of
 * its operand. */
static bool pick_through(picking *p, ir_inst *x, unsigned lane, bool through) {
    if (through && x->op == IR_OP_shuffle) {
        unsigned n = ir_lanes(ir_arg(x, 0)->type), from = x->imm.mask[lane];
        x = ir_arg(x, from < n ? 0 : 1);
        if (from == ANY_LANE || x->op == IR_OP_undef) {
            p->mask[p->lanes++] = ANY_LANE;
            return true;
        }
        return pick(p, x, from < n ? from : from - n);
    }
    return pick(p, x, lane);
}

/* Bit i of `through`: look through operand i. */
static bool pick_all(picking *p, const ir_inst *v, unsigned through) {
    unsigned n = ir_lanes(ir_arg(v, 0)->type);
    *p = (picking){.lanes = 0};
    for (unsigned lane = 0; lane < ir_lanes(v->type); lane++) {
        unsigned from = v->imm.mask[lane], operand = from >= n;
        ir_inst *x = from == ANY_LANE ? NULL : ir_arg(v, operand);
        if (!x || x->op == IR_OP_undef)
            p->mask[p->lanes++] = ANY_LANE;
        else if (!pick_through(p, x, operand ? from - n : from, through >> operand & 1))
            return false;
    }
    return true;
}

static bool is_same_picking(const picking *p, const ir_inst *v) {
    const ir_inst *second = ir_arg(v, 1);
    return p->source[0] == ir_arg(v, 0) && memcmp(p->mask, v->imm.mask, p->lanes) == 0 &&
           (p->source[1] == second || (!p->source[1] && second->op == IR_OP_undef));
}

/* Lanes of a vec that nothing else uses: another vec, with no more lanes. */
static ir_inst *shuffle_of_vec(ir_builder *b, const ir_inst *v, const picking *p) {
    ir_inst *lanes[IR_MAX_LANES], *x = p->source[0];
    if (p->source[1] || !x || x->op != IR_OP_vec || !may_vanish(x)) return NULL;
    if (p->lanes > ir_lanes(x->type)) return NULL;
    for (unsigned i = 0; i < p->lanes; i++)
        lanes[i] =
            p->mask[i] == ANY_LANE ? ir_undef(b->f, ir_elem(v->type)) : ir_arg(x, p->mask[i]);
    return ir_build_vec(b, v->type, lanes);
}

/* Through shuffles of shuffles, without operands that nothing is taken from, in the order of first
 * appearance; an operand or a vec when that is all that is left. */
static ir_inst *simpler_shuffle(ir_builder *b, const ir_inst *v) {
    static const uint8_t attempts[] = {3, 1, 2, 0};
    picking p;
    for (unsigned i = 0; i < sizeof attempts; i++) {
        if (!pick_all(&p, v, attempts[i])) continue;
        ir_inst *vec = shuffle_of_vec(b, v, &p);
        if (vec) return vec;
        return is_same_picking(&p, v) ? NULL : build_picking(b, &p, v->type);
    }
    return NULL;
}

static ir_inst *known_permute(ir_builder *b, const ir_inst *v) {
    uint8_t mask[IR_MAX_LANES];
    unsigned n = ir_lanes(v->type);
    for (unsigned k = 0; k < n; k++) {
        uint64_t from = ir_lane_bits(ir_arg(v, 1), k);
        mask[k] = from < n ? (uint8_t)from : ANY_LANE;
    }
    return ir_build_shuffle(b, ir_arg(v, 0), ir_undef(b->f, v->type), n, mask);
}

/* ------------------------------------------------------------------------------------ the rules */

/* What becomes of v: r, by `rule`. */
static ir_inst *fire(const pass_ctx *cx, const ir_inst *v, unsigned rule, ir_inst *r) {
    assert_at(v, r != v && r->type == v->type);
    if (cx && cx->rule_hits) cx->rule_hits[rule]++;
    if (cx) ir_count(cx->cx, simplify_rules, 1);
    if (cx && cx->trace_rules)
        ir_report(cx->cx, (ir_message){.severity = IR_NOTE}, "%s: %s", pass_rule_info(rule)->place,
                  pass_rule_info(rule)->text);
    return r;
}

#include "passes/scalar/simplify_rules.inc"
