/* rules_random_test.c — rules in combination: random expressions mean the same once simplified.
 *
 * Expressions are built unsimplified from few values, many of them constants at the ends of ranges,
 * so that patterns match often.  Each is interpreted on several arguments before and after, and once
 * more as the builder makes it when it has the rules.  Ops that let a NaN's sign or payload be seen
 * (copysign, signbit, bitcast) stay out: float rules do not promise them.
 */
#include "ir/eval.h"
#include "ir/interp.h"
#include "passes/passes.h"
#include "tests/random.h"

#include <criterion/criterion.h>

enum { SEEDS = 4000, STEPS = 14, TYPES = 5, POOL = 24, PARAMS = 6, RUNS = 8 };

typedef struct {
    uint64_t state;
    ir_builder b;
    ir_type type[TYPES];
    ir_inst *pool[TYPES][POOL];
    unsigned n[TYPES];
    ir_inst *last;
    bool simple; /* build with folding and the module's rules */
} maker;

static unsigned below(maker *k, unsigned n) { return draw_below(&k->state, n); }

static uint64_t constant_bits(maker *k, ir_type t) {
    static const int64_t ints[] = {0,  1,  -1,       2,        3,         4,         7,   8,
                                   31, 32, INT8_MIN, INT8_MAX, INT32_MIN, INT32_MAX, 255, 256};
    static const double floats[] = {0.0, -0.0, 1, -1, 2, 0.5, 3, -4, 1e30, 1e-40};
    if (ir_is_float(t)) {
        unsigned i = below(k, 12);
        if (i == 10) return ir_fp_nan(ir_kind_of(t));
        return i > 10 ? ir_fp_inf(ir_kind_of(t), below(k, 2))
                      : ir_fp_from_double(ir_kind_of(t), floats[i]);
    }
    return (uint64_t)ints[below(k, 16)];
}

static ir_inst *some_constant(maker *k, ir_type t) {
    uint64_t lanes[IR_MAX_LANES];
    for (unsigned i = 0; i < ir_lanes(t); i++)
        lanes[i] = i && below(k, 2) ? lanes[0] : constant_bits(k, t);
    return ir_const_lanes(k->b.f, t, lanes);
}

/* An operand of type number t. */
static ir_inst *some_value(maker *k, unsigned t) {
    if (below(k, 3) == 0 || !k->n[t]) return some_constant(k, k->type[t]);
    return k->pool[t][below(k, k->n[t])];
}

static void keep(maker *k, unsigned t, ir_inst *v) {
    k->last = v;
    if (k->n[t] < POOL) k->pool[t][k->n[t]++] = v;
}

static ir_inst *make(maker *k, ir_op op, ir_type t, unsigned n, ir_inst *const *args) {
    ir_imm imm = {0};
    if (ir_ops[op].rule == R_FTOI) imm.round.mode = IR_RTZ;
    return (k->simple ? ir_build : ir_build_raw)(&k->b, op, t, ir_with_imm(imm),
                                                 (ir_args){n, args});
}

enum { BOOL, BYTE, WORD, FLOAT, PAIR }; /* numbers of types */

static bool is_wanted(ir_op op) {
    const ir_op_info *i = &ir_ops[op];
    bool hides_nan = op != IR_OP_copysign && op != IR_OP_signbit;
    bool integers = i->rule == R_INT || i->rule == R_BITS || i->rule == R_CMPI;
    return (integers || i->rule == R_FLT || i->rule == R_CMPF) && !(i->flags & F_NOFOLD) &&
           i->levels & L_SPMD && hides_nan && ir_has_eval(op);
}

/* An arithmetic op or a comparison, on one of the types that it takes. */
static void add_plain(maker *k, ir_op op) {
    const ir_op_info *i = &ir_ops[op];
    bool logic = op == IR_OP_and || op == IR_OP_or || op == IR_OP_xor;
    bool floats = i->rule == R_FLT || i->rule == R_CMPF;
    bool compares = i->rule == R_CMPI || i->rule == R_CMPF;
    unsigned ints[] = {BYTE, WORD, PAIR, BOOL};
    unsigned t = floats ? FLOAT : ints[below(k, compares ? 2 : logic ? 4 : 3)];
    ir_inst *args[3];
    for (unsigned n = 0; n < i->nargs; n++) args[n] = some_value(k, t);
    if (i->flags & F_TRAPS) args[1] = ir_const(k->b.f, k->type[t], 1u << below(k, 7));
    unsigned to = compares ? BOOL : t;
    keep(k, to, make(k, op, k->type[to], i->nargs, args));
}

static void add_select(maker *k) {
    unsigned t = below(k, TYPES);
    ir_inst *args[3] = {some_value(k, BOOL), some_value(k, t), some_value(k, t)};
    keep(k, t, make(k, IR_OP_select, k->type[t], 3, args));
}

static void add_cast(maker *k) {
    static const struct {
        ir_op op;
        uint8_t from, to;
    } casts[] = {
        {IR_OP_zext, BOOL, WORD},    {IR_OP_sext, BOOL, BYTE},    {IR_OP_zext, BYTE, WORD},
        {IR_OP_sext, BYTE, WORD},    {IR_OP_trunc, WORD, BYTE},   {IR_OP_trunc, BYTE, BOOL},
        {IR_OP_trunc, WORD, BOOL},   {IR_OP_uitofp, BYTE, FLOAT}, {IR_OP_sitofp, WORD, FLOAT},
        {IR_OP_fptosi, FLOAT, BYTE}, {IR_OP_fptoui, FLOAT, WORD}};
    unsigned i = below(k, sizeof casts / sizeof *casts), to = casts[i].to;
    ir_inst *x = some_value(k, casts[i].from);
    keep(k, to, make(k, casts[i].op, k->type[to], 1, &x));
}

static void add_step(maker *k) {
    unsigned kind = below(k, 8);
    if (kind == 0) {
        add_select(k);
    } else if (kind == 1) {
        add_cast(k);
    } else {
        ir_op op;
        do op = (ir_op)below(k, IR_OP_COUNT);
        while (!is_wanted(op));
        add_plain(k, op);
    }
}

static ir_func *make_function(ir_module *m, uint64_t seed, bool simple) {
    ir_type i8 = ir_scalar(IR_I8), i32 = ir_scalar(IR_I32);
    ir_type types[PARAMS] = {i8, i32, i32, ir_scalar(IR_F32), ir_vector(i32, 2), ir_scalar(IR_I1)};
    unsigned number[PARAMS] = {BYTE, WORD, WORD, FLOAT, PAIR, BOOL};
    maker k = {.state = seed * 77 + 1,
               .type = {ir_scalar(IR_I1), i8, i32, ir_scalar(IR_F32), ir_vector(i32, 2)},
               .simple = simple};
    ir_func *f = ir_func_new(m, simple ? "g" : "f", IR_VOID, PARAMS, types);
    ir_builder_init(&k.b, f);
    ir_at_end(&k.b, ir_block_new(f, "entry"));
    for (unsigned p = 0; p < PARAMS; p++) keep(&k, number[p], f->param_val[p]);
    for (unsigned i = 0; i < STEPS; i++) add_step(&k);
    f->ret = k.last->type;
    ir_build_ret(&k.b, k.last);
    return f;
}

/* ----------------------------------------------------------------------------------- comparison */

static void run(ir_func *f, uint64_t seed, ir_value results[RUNS]) {
    maker k = {.state = seed};
    for (unsigned r = 0; r < RUNS; r++) {
        ir_value args[PARAMS];
        memset(args, 0, sizeof args);
        for (unsigned p = 0; p < PARAMS; p++) {
            ir_type t = f->param_val[p]->type;
            unsigned bits = ir_bits(f->module, ir_elem(t));
            for (unsigned lane = 0; lane < ir_lanes(t); lane++) {
                uint64_t wild = (uint64_t)below(&k, 1u << 31) << 11 | below(&k, 1u << 11);
                args[p].bits[lane] = ir_zext(below(&k, 2) ? wild : constant_bits(&k, t), bits);
            }
        }
        cr_assert(ir_interp_call(f, args, &results[r]));
    }
}

static bool same(ir_type t, const ir_value *a, const ir_value *b) {
    ir_kind k = ir_kind_of(t);
    for (unsigned i = 0; i < ir_lanes(t); i++) {
        bool nan = ir_is_float(t) && ir_fp_is_nan(k, a->bits[i]) && ir_fp_is_nan(k, b->bits[i]);
        if (a->bits[i] != b->bits[i] && !nan) return false;
    }
    return true;
}

static const char *text_of(ir_func *f, ir_arena *a) {
    ir_text t = {.arena = a};
    ir_print_func(&t, f, 0);
    return t.data;
}

typedef struct {
    ir_ctx cx;
    uint64_t seed;
} subject;

static void expect_same(ir_func *f, const char *original, const ir_value *want, uint64_t seed) {
    static ir_value got[RUNS];
    cr_assert(ir_verify_func(f), "seed %llu", (unsigned long long)seed);
    run(f, seed, got);
    for (unsigned r = 0; r < RUNS; r++)
        cr_assert(same(f->ret, &want[r], &got[r]), "seed %llu, run %u\n%s\nbecame\n%s",
                  (unsigned long long)seed, r, original, text_of(f, &f->module->arena));
}

static void check_seed(void *user) {
    static ir_value want[RUNS];
    subject *s = user;
    ir_module *m = ir_module_new(&s->cx, "random", 64);
    ir_func *f = make_function(m, s->seed, false);
    pass_ctx cx = {.cx = &s->cx, .scratch = &m->arena};
    const ir_simplifier rules = pass_simplifier(&cx);
    const char *original = text_of(f, &m->arena);
    cr_assert(ir_verify_func(f));
    run(f, s->seed, want);
    pass_simplify(f, &cx);
    expect_same(f, original, want, s->seed);
    cr_assert(!pass_simplify(f, &cx), "seed %llu, not all at once:\n%s",
              (unsigned long long)s->seed, text_of(f, &m->arena));
    m->simplifier = &rules;
    expect_same(make_function(m, s->seed, true), original, want, s->seed);
    ir_module_free(m);
}

Test(rules, random_expressions_keep_their_meaning) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        subject s = {.seed = seed};
        cr_assert(ir_try(&s.cx, check_seed, &s));
    }
}
