/* expand_test.c — what passes `expand` and `builtins` make of an operation gives the bits that
 * ir_eval gives.
 *
 * Every operation that has an exact result, for every type that it takes, as a scalar and in
 * vectors of 2, 3, 4, 8 and 16 lanes, for the plainest target and the richest one; conversions with
 * every rounding, saturated and not.  Operations of one operand of 8 or 16 bits, and of two of 8,
 * see all values; others special ones, such that are near special ones, and random ones.  What is
 * left must be basic. Functions of whole vectors, which have no exact result, are compared within
 * their error; functions that libm decides, with all their types, only have to become basic
 * (tests/codegen/math has their accuracy).
 */
#include "codegen/codegen.h"
#include "ir/interp.h"
#include "passes/passes.h"
#include "tests/values.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { MAX_CALLS = 4096 };

typedef struct {
    ir_ctx cx;
    const ir_target *target;
    uint64_t state;
    unsigned checked;
} bench;

/* One instruction under test. */
typedef struct {
    ir_op op;
    ir_imm imm;
    ir_type result, arg[3];
} subject;

/* --------------------------------------------------------------------------------------- values */

static unsigned width_of(ir_type t) { return ir_bits(NULL, ir_elem(t)); }

/* Bits of all operands together, 0 when there are too many values for all of them. */
static unsigned bits_of_all(const subject *s, unsigned nargs) {
    unsigned bits = 0;
    for (unsigned n = 0; n < nargs; n++) bits += width_of(s->arg[n]);
    return bits <= 16 ? bits : 0;
}

/* --------------------------------------------------------------------------- is it basic, then? */

static bool is_float_of_16_bits(ir_type t) {
    return ir_kind_of(t) == IR_F16 || ir_kind_of(t) == IR_BF16;
}

static bool is_basic_conversion(const ir_inst *i, const ir_target *t) {
    ir_kind from = ir_kind_of(ir_arg(i, 0)->type), to = ir_kind_of(i->type);
    switch (i->op) {
    case IR_OP_fptosi:
        return from >= IR_F32 && to >= IR_I32 && i->imm.round.mode == IR_RTZ && !i->imm.round.sat;
    case IR_OP_fptoui:
        return t->has_unsigned && from >= IR_F32 && to >= IR_I32 && i->imm.round.mode == IR_RTZ &&
               i->imm.round.sat;
    case IR_OP_uitofp:
    case IR_OP_sitofp:
        return from >= IR_I32 && to >= IR_F32 && i->imm.round.mode == IR_RTE &&
               (i->op == IR_OP_sitofp || t->has_unsigned);
    case IR_OP_fpcast:
        if (i->imm.round.mode != IR_RTE) return false;
        if (from >= IR_F32 && to >= IR_F32) return true;
        return t->has_f16c &&
               ((from == IR_F16 && to == IR_F32) || (from == IR_F32 && to == IR_F16));
    default: return false;
    }
}

/* For all types, and for floats of 32 and 64 bits. */
static const ir_op basic[] = {
    IR_OP_add,    IR_OP_sub,  IR_OP_mul,     IR_OP_umulh,   IR_OP_smulh,  IR_OP_udiv,
    IR_OP_sdiv,   IR_OP_urem, IR_OP_srem,    IR_OP_and,     IR_OP_or,     IR_OP_xor,
    IR_OP_shl,    IR_OP_lshr, IR_OP_ashr,    IR_OP_rotl,    IR_OP_umin,   IR_OP_umax,
    IR_OP_smin,   IR_OP_smax, IR_OP_sabs,    IR_OP_clz,     IR_OP_ctz,    IR_OP_popcount,
    IR_OP_eq,     IR_OP_ne,   IR_OP_ult,     IR_OP_ule,     IR_OP_slt,    IR_OP_sle,
    IR_OP_trunc,  IR_OP_zext, IR_OP_sext,    IR_OP_bitcast, IR_OP_select, IR_OP_extract,
    IR_OP_insert, IR_OP_vec,  IR_OP_shuffle, IR_OP_phi,     IR_OP_jmp,    IR_OP_br,
    IR_OP_switch, IR_OP_ret,  IR_OP_load,    IR_OP_store,   IR_OP_ptradd, IR_OP_alloca};
static const ir_op basic_float[] = {
    IR_OP_fneg, IR_OP_fadd, IR_OP_fsub, IR_OP_fmul,  IR_OP_fdiv,    IR_OP_sqrt,
    IR_OP_fabs, IR_OP_fmin, IR_OP_fmax, IR_OP_foeq,  IR_OP_fone,    IR_OP_folt,
    IR_OP_fole, IR_OP_fueq, IR_OP_fune, IR_OP_fult,  IR_OP_fule,    IR_OP_ford,
    IR_OP_funo, IR_OP_ceil, IR_OP_rint, IR_OP_floor, IR_OP_trunc_f, IR_OP_copysign};

static bool is_among(const ir_inst *i, const ir_op *list, size_t n) {
    while (n > 0 && list[n - 1] != i->op) n--;
    return n > 0;
}

static bool is_basic(const ir_inst *i, const ir_target *t) {
    if (is_among(i, basic, sizeof basic / sizeof *basic)) return true;
    if (ir_info(i)->rule == R_FTOI || ir_info(i)->rule == R_ITOF || ir_info(i)->rule == R_FTOF)
        return is_basic_conversion(i, t);
    bool fused = i->op == IR_OP_fma && t->has_fma;
    return (fused || is_among(i, basic_float, sizeof basic_float / sizeof *basic_float)) &&
           !is_float_of_16_bits(ir_arg(i, 0)->type);
}

static void expect_basic(const bench *t, const subject *s, ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            cr_assert(is_basic(i, t->target), "%s leaves %s", ir_ops[s->op].name, ir_info(i)->name);
}

/* ------------------------------------------------------------------------------ one instruction */

static ir_func *make_function(ir_module *m, const subject *s) {
    unsigned nargs = ir_ops[s->op].nargs;
    ir_func *f = ir_func_new(m, "f", s->result, nargs, s->arg);
    ir_builder b;
    ir_builder_init(&b, f);
    ir_at_end(&b, ir_block_new(f, "entry"));
    ir_build_ret(&b, ir_build_raw(&b, s->op, s->result, ir_with_imm(s->imm),
                                  (ir_args){nargs, f->param_val}));
    return f;
}

/* Sums that cancel all but a few bits of a product. */
static uint64_t near_product(bench *t, ir_kind k, uint64_t a, uint64_t b) {
    uint64_t sign = ir_fp_inf(k, true) ^ ir_fp_inf(k, false), r = splitmix64(&t->state);
    uint64_t z = ir_fp_ldexp(k, ir_fp_mul(k, a, b), (int64_t)(r >> 8 & 7) - 3);
    return ir_zext((z ^ sign) + (r & 3) - 1, ir_bits(NULL, k));
}

static void fill_lane(bench *t, const subject *s, uint64_t number, ir_value *args, unsigned lane) {
    unsigned nargs = ir_ops[s->op].nargs, all = bits_of_all(s, nargs);
    for (unsigned n = 0; n < nargs; n++) {
        unsigned width = width_of(s->arg[n]);
        args[n].bits[lane] = all ? ir_zext(number, width) : some_value(&t->state, NULL, s->arg[n]);
        if (all) number >>= width;
    }
    if (s->op == IR_OP_fma && (splitmix64(&t->state) & 1))
        args[2].bits[lane] =
            near_product(t, ir_kind_of(s->result), args[0].bits[lane], args[1].bits[lane]);
}

static void fill_args(bench *t, const subject *s, unsigned calls, ir_value *args) {
    unsigned nargs = ir_ops[s->op].nargs, lanes = ir_lanes(s->arg[0]);
    for (unsigned c = 0; c < calls; c++)
        for (unsigned lane = 0; lane < lanes; lane++)
            fill_lane(t, s, c * lanes + lane, &args[c * nargs], lane);
}

static const char *text_of(ir_func *f) {
    ir_text t = {.arena = &f->module->arena};
    ir_print_func(&t, f, 0);
    return t.data;
}

static bool is_same(ir_type t, uint64_t a, uint64_t b) {
    ir_kind k = ir_kind_of(t);
    return a == b || (ir_is_float(t) && ir_fp_is_nan(k, a) && ir_fp_is_nan(k, b));
}

/* mad may be rounded twice, in 16 bits first to another format. */
static bool is_product_and_sum(const subject *s, const uint64_t a[4], uint64_t got) {
    ir_kind k = ir_kind_of(s->result);
    if (s->op != IR_OP_mad) return false;
    ir_kind wide = k == IR_F16 ? IR_F32 : k == IR_BF16 ? IR_F64 : k;
    uint64_t x[3];
    for (unsigned n = 0; n < 3; n++) x[n] = wide == k ? a[n] : ir_fp_convert(wide, k, a[n], IR_RTE);
    uint64_t twice = ir_fp_add(wide, ir_fp_mul(wide, x[0], x[1]), x[2]);
    uint64_t once = ir_fp_fma(wide, x[0], x[1], x[2]);
    if (wide != k) twice = ir_fp_convert(k, wide, twice, IR_RTE);
    if (wide != k) once = ir_fp_convert(k, wide, once, IR_RTE);
    return is_same(s->result, twice, got) || is_same(s->result, once, got);
}

static void expect_lane(const subject *s, const ir_func *f, const ir_eval_env *e,
                        const uint64_t a[4], uint64_t got) {
    uint64_t want = ir_eval_lane(e, a);
    if (is_same(s->result, want, got) || is_product_and_sum(s, a, got)) return;
    cr_assert(false, "%s(%#llx, %#llx, %#llx) mode %u sat %d: %#llx, want %#llx\n%s",
              ir_ops[s->op].name, (unsigned long long)a[0], (unsigned long long)a[1],
              (unsigned long long)a[2], s->imm.round.mode, s->imm.round.sat,
              (unsigned long long)got, (unsigned long long)want, text_of((ir_func *)(uintptr_t)f));
}

static void compare_lanes(bench *t, const subject *s, ir_func *f, unsigned calls,
                          const ir_value *args, const ir_value *got) {
    unsigned nargs = ir_ops[s->op].nargs;
    ir_eval_env e = {s->op,
                     ir_kind_of(s->result),
                     ir_kind_of(s->arg[0]),
                     width_of(s->result),
                     width_of(s->arg[0]),
                     s->imm};
    for (unsigned c = 0; c < calls; c++)
        for (unsigned lane = 0; lane < ir_lanes(s->arg[0]); lane++, t->checked++) {
            uint64_t a[4] = {0};
            for (unsigned n = 0; n < nargs; n++) a[n] = args[c * nargs + n].bits[lane];
            expect_lane(s, f, &e, a, got[c].bits[lane]);
        }
}

typedef void comparison(bench *t, const subject *s, ir_func *f, unsigned calls,
                        const ir_value *args, const ir_value *got);

/* That the code runs is enough. */
static void compare_nothing(bench *t, const subject *s, ir_func *f, unsigned calls,
                            const ir_value *args, const ir_value *got) {
    (void)s, (void)f, (void)calls, (void)args, (void)got;
    t->checked++;
}

static void check(bench *t, const subject *s, comparison *compare) {
    static ir_value args[3 * MAX_CALLS], got[MAX_CALLS];
    unsigned lanes = ir_lanes(s->arg[0]), bits = bits_of_all(s, ir_ops[s->op].nargs);
    unsigned calls = lanes < 16 ? 24 : bits ? 1 + ((1u << bits) - 1) / lanes : 64;
    ir_module *m = ir_module_new(&t->cx, "expand", 64);
    ir_func *f = make_function(m, s);
    pass_ctx cx = {
        .cx = &t->cx, .scratch = &m->arena, .target = t->target, .library = &cg_math_library};
    pass_expand(f, &cx);
    cr_assert(!pass_expand(f, &cx), "%s is expanded at once", ir_ops[s->op].name);
    pass_builtins(m, &cx);
    cr_assert(ir_verify_module(m), "%s", ir_ops[s->op].name);
    expect_basic(t, s, f);
    if (compare == compare_nothing) calls = 1;
    memset(args, 0, sizeof args);
    fill_args(t, s, calls, args);
    cr_assert(ir_interp_calls(f, calls, args, got), "%s", ir_ops[s->op].name);
    compare(t, s, f, calls, args, got);
    ir_module_free(m);
}

/* ------------------------------------------------------------------------------------ all types */

/* All values of 16 bits are tried with 16 lanes.  With sanitizers, code is slow, and few values are
 * enough. */
#ifdef __SANITIZE_ADDRESS__
static const unsigned lane_counts[] = {1, 3, 8};
enum { VALUES = 234672 };
#else
static const unsigned lane_counts[] = {1, 2, 3, 4, 8, 16};
enum { VALUES = 18380192 };
#endif
enum { LANE_COUNTS = sizeof lane_counts / sizeof *lane_counts };

static void check_all_lanes(bench *t, subject s) {
    for (unsigned k = 0; k < LANE_COUNTS; k++) {
        subject x = s;
        x.result = ir_vector(s.result, lane_counts[k]);
        for (unsigned n = 0; n < 3; n++) x.arg[n] = ir_vector(s.arg[n], lane_counts[k]);
        bool exact = !(ir_ops[s.op].flags & F_NOFOLD);
        check(t, &x, exact ? compare_lanes : compare_nothing);
    }
}

static ir_kind int_of(ir_kind f) { return f == IR_F64 ? IR_I64 : f == IR_F32 ? IR_I32 : IR_I16; }

static void check_same_types(bench *t, ir_op op, ir_kind k) {
    ir_rule r = ir_ops[op].rule;
    subject s = {.op = op, .result = k, .arg = {k, k, k}};
    if (r == R_CMPF || r == R_TESTF || r == R_CMPI) s.result = IR_I1;
    if (r == R_FLT_INT) s.arg[1] = IR_I32;
    if (r == R_FLT_TO_I) s.result = IR_I32;
    if (r == R_INT_TO_F) s.arg[0] = int_of(k);
    check_all_lanes(t, s);
}

static void check_conversion(bench *t, ir_op op, ir_kind from, ir_kind to) {
    for (unsigned mode = IR_RTE; mode <= IR_RTN; mode++)
        for (unsigned sat = 0; sat <= (ir_ops[op].rule == R_FTOI); sat++) {
            subject s = {.op = op, .result = to, .arg = {from}};
            s.imm.round.mode = (uint8_t)mode;
            s.imm.round.sat = sat;
            check_all_lanes(t, s);
        }
}

static bool takes_ints(ir_rule r) { return r == R_INT || r == R_BITS || r == R_CMPI; }

static bool takes_floats(ir_rule r) {
    return r == R_FLT || r == R_CMPF || r == R_TESTF || r == R_FLT_INT || r == R_FLT_TO_I ||
           r == R_INT_TO_F;
}

static void check_op(bench *t, ir_op op) {
    ir_rule r = ir_ops[op].rule;
    if (ir_ops[op].flags & F_TRAPS) return;
    for (ir_kind k = IR_I8; k <= IR_I64 && takes_ints(r); k++) check_same_types(t, op, k);
    for (ir_kind k = IR_F16; k <= IR_F64 && takes_floats(r); k++) check_same_types(t, op, k);
    for (ir_kind k = IR_F16; k <= IR_F64 && (r == R_FTOI || r == R_ITOF); k++)
        for (ir_kind i = IR_I8; i <= IR_I64; i++)
            check_conversion(t, op, r == R_FTOI ? k : i, r == R_FTOI ? i : k);
    for (ir_kind k = IR_F16; k <= IR_F64 && r == R_FTOF; k++)
        for (ir_kind to = IR_F16; to <= IR_F64; to++)
            if (to != k) check_conversion(t, op, k, to);
}

static void check_lanewise(void *user) {
    for (ir_op op = 0; op < IR_OP_COUNT; op++) check_op(user, op);
}

static const ir_target plain = {0},
                       rich = {.has_fma = true, .has_f16c = true, .has_unsigned = true};

Test(expand, keeps_the_bits_on_a_plain_target) {
    bench t = {.target = &plain};
    cr_assert(ir_try(&t.cx, check_lanewise, &t));
    cr_expect_eq(t.checked, VALUES, "%u values", t.checked);
}

Test(expand, keeps_the_bits_on_a_rich_target) {
    bench t = {.target = &rich, .state = 1};
    cr_assert(ir_try(&t.cx, check_lanewise, &t));
    cr_expect_eq(t.checked, VALUES, "%u values", t.checked);
}

/* -------------------------------------------------------------------------------- whole vectors */

/* Of the greatest product of lanes, in units of the last place. */
static bool is_close(const subject *s, const uint64_t *x, const uint64_t *y, uint64_t want,
                     uint64_t got) {
    ir_kind k = ir_kind_of(s->result);
    if (is_same(s->result, want, got)) return true;
    double a = ir_fp_to_double(k, want), b = ir_fp_to_double(k, got), most = fabs(a);
    double least = ir_fp_to_double(k, 1), unit = k == IR_F64   ? 0x1p-52
                                                 : k == IR_F32 ? 0x1p-23
                                                 : k == IR_F16 ? 0x1p-10
                                                               : 0x1p-7;
    unsigned n = ir_lanes(s->arg[0]);
    if (s->op == IR_OP_dot || s->op == IR_OP_cross)
        for (unsigned i = 0; i < n; i++)
            for (unsigned j = 0; j < n; j++)
                most = fmax(most, fabs(ir_fp_to_double(k, x[i]) * ir_fp_to_double(k, y[j])));
    if (s->op == IR_OP_dot || s->op == IR_OP_cross ? !(most < 0x1p15) : false) return true;
    return fabs(a - b) <= (3 + n) * (most * unit + least);
}

static void compare_vectors(bench *t, const subject *s, ir_func *f, unsigned calls,
                            const ir_value *args, const ir_value *got) {
    unsigned nargs = ir_ops[s->op].nargs;
    for (unsigned c = 0; c < calls; c++, t->checked++) {
        const uint64_t *x = args[c * nargs].bits, *y = args[c * nargs + nargs - 1].bits;
        uint64_t want[IR_MAX_LANES];
        ir_math_vector(s->op, s->arg[0], x, nargs > 1 ? y : NULL, want);
        for (unsigned lane = 0; lane < ir_lanes(s->result); lane++)
            cr_assert(is_close(s, x, y, want[lane], got[c].bits[lane]),
                      "%s, lane %u: %#llx, want %#llx\n%s", ir_ops[s->op].name, lane,
                      (unsigned long long)got[c].bits[lane], (unsigned long long)want[lane],
                      text_of(f));
    }
}

static void check_vectors(void *user) {
    static const ir_op ops[] = {IR_OP_dot, IR_OP_cross, IR_OP_length, IR_OP_distance,
                                IR_OP_normalize};
    for (unsigned o = 0; o < sizeof ops / sizeof *ops; o++)
        for (ir_kind k = IR_F16; k <= IR_F64; k++)
            for (unsigned n = 0; n < LANE_COUNTS; n++) {
                ir_type v = ir_vector(k, lane_counts[n]);
                bool whole = ops[o] == IR_OP_cross || ir_ops[ops[o]].rule == R_FVEC;
                subject s = {.op = ops[o], .result = whole ? v : k, .arg = {v, v}};
                if (ops[o] != IR_OP_cross || lane_counts[n] == 3 || lane_counts[n] == 4)
                    check(user, &s, compare_vectors);
            }
}

Test(expand, functions_of_vectors_are_close) {
    bench t = {.target = &plain};
    cr_assert(ir_try(&t.cx, check_vectors, &t));
    t.target = &rich;
    cr_assert(ir_try(&t.cx, check_vectors, &t));
}
