/* expand.c — replaces operations that no CPU has by simpler ones.
 *
 *   does        rewrites saturating and averaging arithmetic, the common and integer functions of
 *               OpenCL.std, conversions with modes, arithmetic on f16 and bf16, functions of whole
 *               vectors, and classification of floats, for scalars and vectors alike
 *   needs       nothing
 *   leaves      the control flow graph; the basic operations of docs/PASSES.md, and those of the
 *               library (pass builtins): functions that libm decides, frem, remainder, remquo_q,
 *               and fma of f64 where the target has none.  gvn merges equal code; simplify would
 *               combine some of it again
 *   gives up    never
 *
 * Every operation is a rule of expand.rules or a function of expand_*.c.  The new code is placed
 * before the instruction and visited next, so rules may use operations that are expanded
 * themselves.  Each of them is simpler than its origin, so the pass terminates.  Results are those
 * of the eval column of ops.def bit for bit, except for NaN payloads, and for functions that libm
 * decides, which are within their error.  Float flags remain only if they hold for all steps.
 */
#include "passes/lower/expand.h"

#include "passes/rule_words.h"

/* ---------------------------------------------------------------- the words of the rules: types */

static ir_type int_like(ir_type t) { return expand_int_like(t); }

static unsigned width_of(const ir_builder *b, const ir_inst *x) {
    return ir_bits(b->f->module, x->type);
}

static bool is_up_to_16_bits(const ir_inst *x) { return ir_kind_of(x->type) <= IR_I16; }

static bool has_fma(const pass_ctx *cx) { return cx->target && cx->target->has_fma; }

static bool has_vectors(const pass_ctx *cx) { return cx->target && cx->target->vector_bytes; }

/* Is fma of this format something that the target lacks, and f64 can do? */
static bool lacks_fma(const ir_inst *x, const pass_ctx *cx) {
    return ir_kind_of(x->type) != IR_F64 && (ir_kind_of(x->type) != IR_F32 || !has_fma(cx));
}

/* Is the estimate of the reciprocal root good enough? */
static bool has_rsqrt(const ir_inst *x, const pass_ctx *cx) {
    return cx->target && cx->target->has_estimates && ir_kind_of(x->type) == IR_F32;
}

/* Has the target an estimate of the reciprocal root of x? */
static bool estimates_rsqrt(ir_builder *b, ir_inst *x, const pass_ctx *cx) {
    const ir_target *t = cx->target;
    if (!t || !t->takes || ir_kind_of(x->type) != IR_F32) return false;
    ir_inst *i = ir_build_raw(b, IR_OP_native_rsqrt, x->type, IR_PLAIN, IR_ARGS(x));
    bool takes = t->takes(i, t->level);
    ir_remove(i);
    return takes;
}

static bool same_type(const ir_inst *x, const ir_inst *y) { return x->type == y->type; }

/* Are these the ends of the range of numbers without a sign that are as wide as x? */
static bool is_range_of(ir_builder *b, const ir_inst *least, const ir_inst *most,
                        const ir_inst *x) {
    return least == ir_const_float(b->f, least->type, 0) &&
           most == ir_const_float(b->f, most->type, (double)ir_zext(UINT64_MAX, width_of(b, x)));
}

/* ------------------------------------------------------------------------------------ constants */

/* The bits that x has, in the type of `wide`. */
static ir_inst *low_bits(ir_builder *b, const ir_inst *x, const ir_inst *wide) {
    return ir_const(b->f, wide->type, ir_zext(UINT64_MAX, width_of(b, x)));
}

static ir_inst *smallest(ir_builder *b, const ir_inst *x) {
    return ir_const(b->f, x->type, UINT64_C(1) << (width_of(b, x) - 1));
}

static ir_inst *greatest(ir_builder *b, const ir_inst *x) {
    return ir_const(b->f, x->type, ir_zext(UINT64_MAX, width_of(b, x) - 1));
}

/* The greatest unsigned number of the width of x, in i32. */
static ir_inst *unsigned_end(ir_builder *b, const ir_inst *x) {
    return ir_const(b->f, i32_like(x->type), ir_zext(UINT64_MAX, width_of(b, x)));
}

static ir_inst *pattern(ir_builder *b, const ir_inst *x, uint64_t bits) {
    return ir_const(b->f, expand_int_like(x->type), bits);
}

static ir_inst *magnitude_mask(ir_builder *b, const ir_inst *x) {
    return pattern(b, x, expand_format_of(x->type).sign - 1);
}

static ir_inst *infinity_bits(ir_builder *b, const ir_inst *x) {
    return pattern(b, x, expand_format_of(x->type).infinity);
}

static uint64_t least_normal_of(const ir_inst *x) {
    return UINT64_C(1) << expand_format_of(x->type).fraction;
}

static ir_inst *least_normal(ir_builder *b, const ir_inst *x) {
    return pattern(b, x, least_normal_of(x));
}

static ir_inst *normal_range(ir_builder *b, const ir_inst *x) {
    return pattern(b, x, expand_format_of(x->type).infinity - least_normal_of(x));
}

static ir_inst *nan_bits(ir_builder *b, const ir_inst *x) {
    return pattern(b, x, ir_fp_nan(ir_kind_of(x->type)));
}

/* The fraction without its highest bit, which makes a NaN quiet. */
static ir_inst *payload_mask(ir_builder *b, const ir_inst *x) {
    return pattern(b, x, least_normal_of(x) / 2 - 1);
}

static ir_inst *number_below(ir_builder *b, const ir_inst *x, double value) {
    return ir_const(b->f, x->type, ir_fp_from_double(ir_kind_of(x->type), value) - 1);
}

static ir_inst *below_1(ir_builder *b, const ir_inst *x) { return number_below(b, x, 1); }

static ir_inst *below_half(ir_builder *b, const ir_inst *x) { return number_below(b, x, 0.5); }

static ir_inst *degrees_of_1(ir_builder *b, const ir_inst *x) {
    return expand_number(b, x, 57.295779513082320877);
}

static ir_inst *radians_of_1(ir_builder *b, const ir_inst *x) {
    return expand_number(b, x, 0.017453292519943295769);
}

/* -------------------------------------------------------------- what uses a value several times */

/* Swaps neighbouring groups of 1, 2, 4 … bits. */
static ir_inst *reversed_bits(ir_builder *b, ir_inst *x) {
    unsigned width = width_of(b, x);
    for (unsigned n = 1; n < width; n *= 2) {
        ir_inst *by = expand_bits(b, x, n);
        ir_inst *low = expand_bits(b, x, UINT64_MAX / ((UINT64_C(1) << n) + 1));
        ir_inst *down = expand_2(b, IR_OP_and, expand_2(b, IR_OP_lshr, x, by), low);
        ir_inst *up = expand_2(b, IR_OP_shl, expand_2(b, IR_OP_and, x, low), by);
        x = expand_2(b, IR_OP_or, down, up);
    }
    return x;
}

static ir_inst *narrow_smadsat(ir_builder *b, ir_inst *x, ir_inst *y, ir_inst *z) {
    ir_inst *wide_x = expand_to(b, IR_OP_sext, x, IR_I32);
    ir_inst *r = expand_2(b, IR_OP_mul, wide_x, expand_to(b, IR_OP_sext, y, IR_I32));
    r = expand_2(b, IR_OP_add, r, expand_to(b, IR_OP_sext, z, IR_I32));
    r = expand_2(b, IR_OP_smax, r, expand_to(b, IR_OP_sext, smallest(b, x), IR_I32));
    r = expand_2(b, IR_OP_smin, r, expand_to(b, IR_OP_sext, greatest(b, x), IR_I32));
    return expand_to(b, IR_OP_trunc, r, ir_kind_of(x->type));
}

/* In two words: they fit into one when the upper is all sign. */
static ir_inst *wide_smadsat(ir_builder *b, ir_inst *x, ir_inst *y, ir_inst *z) {
    ir_inst *by = expand_bits(b, x, width_of(b, x) - 1), *product = expand_2(b, IR_OP_mul, x, y);
    ir_inst *low = expand_2(b, IR_OP_add, product, z);
    ir_inst *carry = expand_test(b, IR_OP_ult, low, z);
    ir_inst *sign = expand_2(b, IR_OP_ashr, z, by);
    ir_inst *high = expand_2(b, IR_OP_add, expand_2(b, IR_OP_smulh, x, y), sign);
    high = expand_2(b, IR_OP_add, high, expand_to(b, IR_OP_zext, carry, ir_kind_of(x->type)));
    ir_inst *fits = expand_test(b, IR_OP_eq, high, expand_2(b, IR_OP_ashr, low, by));
    ir_inst *most = greatest(b, x);
    ir_inst *end = expand_2(b, IR_OP_xor, expand_2(b, IR_OP_ashr, high, by), most);
    return expand_select(b, fits, low, end);
}

/* An estimate y, improved by Newton's method: y + y/2 (1 - x y^2).  For 0 and infinity the estimate
 * is exact, and the correction is NaN. */
static ir_inst *refined_rsqrt(ir_builder *b, ir_inst *x) {
    ir_inst *y = expand_1(b, IR_OP_native_rsqrt, x), *one = expand_number(b, x, 1);
    ir_inst *h = expand_1(b, IR_OP_fneg, expand_2(b, IR_OP_fmul, x, y));
    ir_inst *e = ir_build(b, IR_OP_fma, x->type, IR_PLAIN, IR_ARGS(h, y, one));
    ir_inst *half = expand_2(b, IR_OP_fmul, y, expand_number(b, x, 0.5));
    ir_inst *r = ir_build(b, IR_OP_fma, x->type, IR_PLAIN, IR_ARGS(half, e, y));
    return expand_select(b, expand_test(b, IR_OP_ford, e, e), r, y);
}

/* t*t*(3 - 2t) for t = (x - low) / (high - low), clamped to [0, 1]. */
static ir_inst *smooth_step(ir_builder *b, ir_inst *low, ir_inst *high, ir_inst *x) {
    ir_inst *width = expand_2(b, IR_OP_fsub, high, low);
    ir_inst *t = expand_2(b, IR_OP_fdiv, expand_2(b, IR_OP_fsub, x, low), width);
    t = expand_2(b, IR_OP_fmax, t, expand_number(b, t, 0));
    t = expand_2(b, IR_OP_fmin, t, expand_number(b, t, 1));
    ir_inst *line = expand_2(b, IR_OP_fsub, expand_number(b, t, 3), expand_2(b, IR_OP_fadd, t, t));
    return expand_2(b, IR_OP_fmul, expand_2(b, IR_OP_fmul, t, t), line);
}

/* What becomes of v: r, by `rule`. */
static ir_inst *fire(const pass_ctx *cx, const ir_inst *v, unsigned rule, ir_inst *r) {
    assert_at(v, r != v && r->type == v->type);
    ir_count(cx->cx, expand_rules, 1);
    if (cx->trace_rules)
        ir_report(cx->cx, (ir_message){.severity = IR_NOTE}, "%s: %s",
                  expand_rule_info(rule)->place, expand_rule_info(rule)->text);
    return r;
}

#include "passes/lower/expand_rules.inc"

/* ------------------------------------------------------------------------------------- the pass */

/* The promises of v that hold for whatever it is made of. */
static uint32_t lasting_flags(const ir_inst *v) {
    switch (v->op) {
    case IR_OP_fclamp:
    case IR_OP_maxmag:
    case IR_OP_minmag: return v->flags;
    default: return v->flags & (IR_CONTRACT | IR_FAST) ? IR_CONTRACT : 0;
    }
}

/* A fast function of f32 that may be an instruction. */
static bool is_native(const ir_inst *v) {
    switch (v->op) {
    case IR_OP_native_cos:
    case IR_OP_native_divide:
    case IR_OP_native_exp2:
    case IR_OP_native_log2:
    case IR_OP_native_recip:
    case IR_OP_native_rsqrt:
    case IR_OP_native_sin:
    case IR_OP_native_sqrt: return ir_kind_of(v->type) == IR_F32;
    default: return false;
    }
}

/* Arithmetic on floats of 16 bits, or a comparison of them. */
static bool is_narrow_float(const ir_inst *v) {
    const ir_rule rule = ir_info(v)->rule;
    ir_kind kind = v->nargs ? ir_kind_of(ir_arg(v, 0)->type) : IR_VOID;
    return (rule == R_FLT || rule == R_CMPF) && (kind == IR_F16 || kind == IR_BF16);
}

/* Has the target an instruction for v: a vector of integers, arithmetic on floats of 16 bits,
 * a fast function, or a dot product? */
static bool is_taken(const ir_inst *v, const pass_ctx *cx) {
    const ir_target *t = cx->target;
    bool ints = ir_is_vector(v->type) && ir_info(v)->rule == R_INT;
    bool dot = v->op == IR_OP_bytedot || v->op == IR_OP_bytedotsat || v->op == IR_OP_worddot;
    bool asked = ints || dot || is_native(v) || is_narrow_float(v);
    return asked && t && t->takes && t->takes(v, t->level);
}

static ir_inst *simpler(ir_builder *b, ir_inst *v, pass_ctx *cx) {
    ir_inst *r = expand_narrow_float(b, v);
    if (!r) r = expand_conversion(b, v, cx->target);
    return r ? r : expand_apply_rules(b, v, cx);
}

/* True when v has been replaced. */
static bool expand(ir_builder *b, ir_inst *v, pass_ctx *cx) {
    uint32_t flags = v->flags;
    if (is_taken(v, cx)) return false;
    ir_before(b, v);
    b->loc = v->loc;
    if (ir_has_flag(v, F_PURE)) v->flags = lasting_flags(v);
    ir_inst *r = simpler(b, v, cx);
    v->flags = flags;
    if (!r) return false;
    ir_replace_uses(v, r);
    ir_remove(v);
    return true;
}

/* The builder's own rules would undo the work. */
bool pass_expand(ir_func *f, pass_ctx *cx) {
    const ir_simplifier *simplifier = f->module->simplifier;
    bool changed = false;
    ir_builder b;
    ir_builder_init(&b, f);
    f->module->simplifier = NULL;
    foreach_block (block, f) {
        for (ir_inst *i = block->first, *next; i; i = next) {
            ir_inst *before = i->prev;
            ir_look_at(cx->cx, i);
            bool replaced = expand(&b, i, cx);
            next = !replaced ? i->next : before ? before->next : block->first;
            changed |= replaced;
        }
    }
    f->module->simplifier = simplifier;
    return changed;
}
