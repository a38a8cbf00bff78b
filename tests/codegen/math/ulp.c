/* ulp.c — the functions of the library against MPFR, in units of the last place.
 *     ulp [-i] POINTS [NAME]
 *
 * For every math function of OpenCL.std in f32, f64 and f16: special values and pairs of them, then
 * POINTS arguments, half of them any bits, half within a range that matters.  The greatest error
 * must be within the limit of the OpenCL C specification, "Relative Error as ULPs", for the full
 * profile; NaN, infinity and zeros must be those of ir/math.c, which follows Annex F of C and the
 * specification.  Prints a row per function and type, and "N passed, M failed".
 *
 * What computes the values is a function `batch`: code of this machine, with and without fma, where
 * the machine is one that there is code for; else, and with -i, the interpreter, on what passes
 * expand and builtins make of vectors of 16 lanes.
 */
#include "codegen/codegen.h"
#include "ir/interp.h"
#include "passes/passes.h"
#include "runtime/native.h"
#include "tests/native_call.h"
#include "tests/oracle.h"
#include "tests/report.h"

#include <stdlib.h>

enum { LANES = 16, CALLS = 32, BATCH = LANES * CALLS };

typedef int oracle1(mpfr_t out, const mpfr_t x, mpfr_rnd_t mode);
typedef int oracle2(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t mode);

typedef struct {
    ir_op op;
    oracle1 *one; /* or two */
    double low, high;
    double f32, f64, f16; /* limits */
    oracle2 *two;
    double low2, high2;
} function;

static const double any = 8192;

static const function functions[] = {
    {IR_OP_acos, mpfr_acos, -1, 1, 4, 4, 2},
    {IR_OP_acosh, mpfr_acosh, 1, 100, 4, 4, 2},
    {IR_OP_acospi, oracle_acospi, -1, 1, 5, 5, 2},
    {IR_OP_asin, mpfr_asin, -1, 1, 4, 4, 2},
    {IR_OP_asinh, mpfr_asinh, -100, 100, 4, 4, 2},
    {IR_OP_asinpi, oracle_asinpi, -1, 1, 5, 5, 2},
    {IR_OP_atan, mpfr_atan, -20, 20, 5, 5, 2},
    {IR_OP_atanh, mpfr_atanh, -1, 1, 5, 5, 2},
    {IR_OP_atanpi, oracle_atanpi, -20, 20, 5, 5, 2},
    {IR_OP_atan2, NULL, -100, 100, 6, 6, 2, mpfr_atan2, -100, 100},
    {IR_OP_atan2pi, NULL, -100, 100, 6, 6, 2, oracle_atan2pi, -100, 100},
    {IR_OP_cbrt, mpfr_cbrt, -100, 100, 2, 2, 2},
    {IR_OP_cos, mpfr_cos, -100, 100, 4, 4, 2},
    {IR_OP_cosh, mpfr_cosh, -90, 90, 4, 4, 2},
    {IR_OP_cospi, oracle_cospi, -100, 100, 4, 4, 2},
    {IR_OP_erf, mpfr_erf, -6, 6, 16, 16, 4},
    {IR_OP_erfc, mpfr_erfc, -6, 28, 16, 16, 4},
    {IR_OP_exp, mpfr_exp, -105, 90, 3, 3, 2},
    {IR_OP_exp2, mpfr_exp2, -151, 129, 3, 3, 2},
    {IR_OP_exp10, mpfr_exp10, -46, 39, 3, 3, 2},
    {IR_OP_expm1, mpfr_expm1, -20, 90, 3, 3, 2},
    {IR_OP_hypot, NULL, -100, 100, 4, 4, 2, mpfr_hypot, -100, 100},
    {IR_OP_lgamma, oracle_lgamma, -20, 40, 16, 16, 4},
    {IR_OP_log, mpfr_log, 0, 4, 3, 3, 2},
    {IR_OP_log2, mpfr_log2, 0, 4, 3, 3, 2},
    {IR_OP_log10, mpfr_log10, 0, 4, 3, 3, 2},
    {IR_OP_log1p, mpfr_log1p, -1, 3, 2, 2, 2},
    {IR_OP_pow, NULL, 0, 10, 16, 16, 4, mpfr_pow, -40, 40},
    {IR_OP_powr, NULL, 0, 10, 16, 16, 4, mpfr_pow, -40, 40},
    {IR_OP_pown, NULL, -10, 10, 16, 16, 4, mpfr_pow, -40, 40},
    {IR_OP_rootn, NULL, -100, 100, 16, 16, 4, oracle_rootn, -40, 40},
    {IR_OP_rsqrt, mpfr_rec_sqrt, 0, 100, 2, 2, 1},
    {IR_OP_sin, mpfr_sin, -100, 100, 4, 4, 2},
    {IR_OP_sinh, mpfr_sinh, -90, 90, 4, 4, 2},
    {IR_OP_sinpi, oracle_sinpi, -100, 100, 4, 4, 2},
    {IR_OP_tan, mpfr_tan, -100, 100, 5, 5, 2},
    {IR_OP_tanh, mpfr_tanh, -10, 10, 5, 5, 2},
    {IR_OP_tanpi, oracle_tanpi, -100, 100, 6, 6, 2},
    {IR_OP_tgamma, mpfr_gamma, -6, 36, 16, 16, 4},
    {IR_OP_half_cos, mpfr_cos, -32768, 32768, any, any, any},
    {IR_OP_half_divide, NULL, -100, 100, any, any, any, mpfr_div, -100, 100},
    {IR_OP_half_exp, mpfr_exp, -87, 88, any, any, any},
    {IR_OP_half_exp2, mpfr_exp2, -125, 127, any, any, any},
    {IR_OP_half_exp10, mpfr_exp10, -37, 38, any, any, any},
    {IR_OP_half_log, mpfr_log, 0, 4, any, any, any},
    {IR_OP_half_log2, mpfr_log2, 0, 4, any, any, any},
    {IR_OP_half_log10, mpfr_log10, 0, 4, any, any, any},
    {IR_OP_half_powr, NULL, 0, 10, any, any, any, mpfr_pow, -30, 30},
    {IR_OP_half_rsqrt, mpfr_rec_sqrt, 0, 100, any, any, any},
    {IR_OP_half_sin, mpfr_sin, -32768, 32768, any, any, any},
    {IR_OP_half_tan, mpfr_tan, -32768, 32768, any, any, any},
    {IR_OP_native_cos, mpfr_cos, -10, 10, any, any, any},
    {IR_OP_native_exp, mpfr_exp, -87, 88, any, any, any},
    {IR_OP_native_exp2, mpfr_exp2, -125, 127, any, any, any},
    {IR_OP_native_exp10, mpfr_exp10, -37, 38, any, any, any},
    {IR_OP_native_log, mpfr_log, 0, 4, any, any, any},
    {IR_OP_native_log2, mpfr_log2, 0, 4, any, any, any},
    {IR_OP_native_log10, mpfr_log10, 0, 4, any, any, any},
    {IR_OP_native_powr, NULL, 0, 10, any, any, any, mpfr_pow, -30, 30},
    {IR_OP_native_rsqrt, mpfr_rec_sqrt, 0, 100, any, any, any},
    {IR_OP_native_sin, mpfr_sin, -10, 10, any, any, any},
    {IR_OP_native_tan, mpfr_tan, -10, 10, any, any, any},
};

/* Values of n points: in[0], and in[1] of functions of two. */
typedef void batch(void *user, const uint64_t *const in[2], uint64_t *out, unsigned n);

static const char *kind_name(ir_kind k) {
    static const char *const names[] = {"f16", "bf16", "f32", "f64"};
    return names[k - IR_F16];
}

/* ------------------------------------------------------------------------------ the interpreter */

static const pass_target *target_of(bool rich) {
    static const pass_target plain = {0}, all = {.has_fma = true, .has_f16c = true};
    return rich ? &all : &plain;
}

static const char passes_of_library[] = "expand,builtins,simplifycfg,scalarize,gvn,licm,dce";

static bool lower(ir_module *m, bool rich) {
    pass_options o = {.passes = passes_of_library,
                      .bisect = -1,
                      .verify_each = true,
                      .target = target_of(rich),
                      .library = &cg_math_library};
    return pass_run(m, &o);
}

static ir_func *make_function(ir_module *m, ir_op op, ir_kind k, bool rich) {
    unsigned nargs = ir_ops[op].nargs;
    ir_type v = ir_vector(k, LANES);
    ir_type types[2] = {v, ir_ops[op].rule == R_FLT_INT ? ir_vector(IR_I32, LANES) : v};
    ir_func *f = ir_func_new(m, "f", v, nargs, types);
    ir_builder b;
    ir_builder_init(&b, f);
    ir_at_end(&b, ir_block_new(f, "entry"));
    ir_build_ret(&b, ir_build_raw(&b, op, v, 0, (ir_imm){0}, nargs, f->param_val));
    return lower(m, rich) ? f : NULL;
}

static void interpret(void *user, const uint64_t *const in[2], uint64_t *out, unsigned n) {
    static ir_value args[2 * CALLS], results[CALLS];
    ir_func *f = user;
    for (unsigned i = 0; i < n; i++)
        for (unsigned p = 0; p < f->nparams; p++)
            args[i / LANES * f->nparams + p].bits[i % LANES] = in[p][i];
    if (!ir_interp_calls(f, n / LANES, args, results)) memset(results, 0, sizeof results);
    for (unsigned i = 0; i < n; i++) out[i] = results[i / LANES].bits[i % LANES];
}

/* ---------------------------------------------------------------------------------- native code */

/* A loop over places of 8 bytes. */
static const char loop_text[] =
    "func @run(%%a: ptr.global, %%b: ptr.global, %%c: ptr.global) level vector {\n"
    "entry:\n"
    "  jmp body\n"
    "body:\n"
    "  %%i: i64 = phi [entry: 0, body: %%j]\n"
    "  %%pa: ptr.global = ptradd %%a, %%i\n"
    "  %%pb: ptr.global = ptradd %%b, %%i\n"
    "  %%pc: ptr.global = ptradd %%c, %%i\n"
    "  %%x: %s = load %%pa align 8\n"
    "  %%y: %s = load %%pb align 8\n"
    "  %%r: %s = %s %%x%s\n"
    "  store %%r, %%pc align 8\n"
    "  %%j: i64 = add %%i, 8\n"
    "  %%more: i1 = ult %%j, i64 %u\n"
    "  br %%more, body, done\n"
    "done:\n"
    "  ret\n"
    "}\n";

static ir_module *make_loop(ir_ctx *cx, ir_op op, ir_kind k) {
    char text[2048];
    const char *x = kind_name(k), *y = ir_ops[op].rule == R_FLT_INT ? "i32" : x;
    int n = snprintf(text, sizeof text, loop_text, x, y, x, ir_ops[op].name,
                     ir_ops[op].nargs > 1 ? ", %y" : "", 8 * BATCH);
    return ir_parse(cx, "loop", text, (size_t)n);
}

static void run_native(void *user, const uint64_t *const in[2], uint64_t *out, unsigned n) {
    void (*run)(const uint64_t *, const uint64_t *, uint64_t *);
    memcpy(&run, user, sizeof run);
    memset(out, 0, n * sizeof *out);
    run(in[0], in[1], out);
}

/* ------------------------------------------------------------------------------------ arguments */

/* Each also with the other sign. */
static const double specials[] = {0,
                                  1,
                                  2,
                                  3,
                                  4,
                                  10,
                                  0.5,
                                  1.5,
                                  1e-30,
                                  1e30,
                                  170,
                                  170.5,
                                  0x1p-126,
                                  0x1p-149,
                                  0x1p-1074,
                                  0x1.fffffep127,
                                  0x1.fffffffffffffp1023,
                                  INFINITY,
                                  NAN};
enum { SPECIALS = 2 * sizeof specials / sizeof *specials };

static double special(unsigned long n) {
    double x = specials[n % SPECIALS / 2];
    return n & 1 ? -x : x;
}

typedef struct {
    const function *f;
    ir_kind k;
    unsigned long points, at; /* of which have been made */
    bool all;                 /* every value of 16 bits */
} source;

static uint64_t integer(double x) {
    return (uint32_t)(int32_t)(fabs(x) < 0x1p31 ? x : isnan(x) ? 0 : x < 0 ? -0x1p31 : 0x1p31 - 1);
}

static uint64_t second(const source *s, double x) {
    return ir_ops[s->f->op].rule == R_FLT_INT ? integer(x) : ir_fp_from_double(s->k, x);
}

static void special_point(const source *s, unsigned long n, uint64_t *a, uint64_t *b) {
    *a = ir_fp_from_double(s->k, special(n));
    *b = second(s, special(n / SPECIALS));
}

static void random_point(const source *s, uint64_t *a, uint64_t *b) {
    unsigned width = ir_bits(NULL, s->k);
    *a = ir_zext(random_bits(), width);
    *b = ir_ops[s->f->op].rule == R_FLT_INT ? random_bits() >> 32 >> (random_bits() & 31)
                                            : ir_zext(random_bits(), width);
}

static void likely_point(const source *s, uint64_t *a, uint64_t *b) {
    *a = ir_fp_from_double(s->k, argument(s->f->low, s->f->high));
    *b = second(s, s->f->two ? argument(s->f->low2, s->f->high2) : 0);
}

static void next_point(source *s, uint64_t *a, uint64_t *b) {
    unsigned long n = s->at++, of = s->f->two ? SPECIALS * SPECIALS : SPECIALS;
    /* native_ functions have limits in their range only. */
    bool anywhere = strncmp(ir_ops[s->f->op].name, "native_", 7) != 0;
    if (anywhere && n < of)
        special_point(s, n, a, b);
    else if (anywhere && s->all)
        *a = (n - of) & 0xffff;
    else if (anywhere && (n & 1))
        random_point(s, a, b);
    else
        likely_point(s, a, b);
}

/* --------------------------------------------------------------------------------------- errors */

static double limit_of(const function *f, ir_kind k) {
    return k == IR_F64 ? f->f64 : k == IR_F32 ? f->f32 : f->f16;
}

/* half_ and native_ functions need not give denormals. */
static bool is_flushed(ir_kind k, uint64_t want, uint64_t got) {
    double least = k == IR_F64 ? 0x1p-1022 : k == IR_F32 ? 0x1p-125 : 0x1p-14;
    return fabs(ir_fp_to_double(k, want)) <= least && fabs(ir_fp_to_double(k, got)) <= least;
}

static double error_of(const source *s, uint64_t a, uint64_t b, uint64_t got) {
    const function *f = s->f;
    uint64_t want = f->two ? ir_math2(f->op, s->k, a, b) : ir_math1(f->op, s->k, a);
    bool is_nan = ir_fp_is_nan(s->k, want), whole = ir_ops[f->op].rule == R_FLT_INT;
    if (is_nan || ir_fp_is_nan(s->k, got)) return is_nan == ir_fp_is_nan(s->k, got) ? 0 : INFINITY;
    if (got == want) return 0.5;
    if (limit_of(f, s->k) == any && is_flushed(s->k, want, got)) return 0.5;
    mpfr_t x, y, exact;
    mpfr_inits2(s->k == IR_F64 ? 140 : 90, x, y, exact, (mpfr_ptr)0);
    mpfr_set_d(x, ir_fp_to_double(s->k, a), MPFR_RNDN);
    mpfr_set_d(y, whole ? (double)(int32_t)b : ir_fp_to_double(s->k, b), MPFR_RNDN);
    if (f->two)
        f->two(exact, x, y, MPFR_RNDN);
    else
        f->one(exact, x, MPFR_RNDN);
    double error = mpfr_zero_p(exact) ? INFINITY : ulps(s->k, got, exact);
    if (f->op == IR_OP_lgamma && mpfr_cmpabs_ui(exact, 1) < 0) { /* no limit near its zeros */
        error = fabs(ir_fp_to_double(s->k, got) - mpfr_get_d(exact, MPFR_RNDN));
        error *= s->k == IR_F64 ? 0x1p52 : s->k == IR_F32 ? 0x1p23 : 0x1p10;
    }
    mpfr_clears(x, y, exact, (mpfr_ptr)0);
    return error;
}

typedef struct {
    double error;
    uint64_t a, b, got;
} worst;

static void measure(source *s, batch *compute, void *user, worst *w) {
    static uint64_t a[BATCH], b[BATCH], out[BATCH];
    while (s->at < s->points) {
        for (unsigned i = 0; i < BATCH; i++) next_point(s, &a[i], &b[i]);
        compute(user, (const uint64_t *const[2]){a, b}, out, BATCH);
        for (unsigned i = 0; i < BATCH; i++) {
            double error = error_of(s, a[i], b[i], out[i]);
            if (error > w->error) *w = (worst){error, a[i], b[i], out[i]};
        }
    }
}

/* ------------------------------------------------------------------------------------- a report */

static bool report(const source *s, const worst *w) {
    bool whole = ir_ops[s->f->op].rule == R_FLT_INT, pass = w->error <= limit_of(s->f, s->k);
    double b = whole ? (double)(int32_t)w->b : ir_fp_to_double(s->k, w->b);
    printf("%-14s %s %9.3f of %4g at %.13a", ir_ops[s->f->op].name, kind_name(s->k), w->error,
           limit_of(s->f, s->k), ir_fp_to_double(s->k, w->a));
    if (s->f->two) printf(", %.13a", b);
    printf("%s", pass ? "\n" : "");
    if (!pass) printf(": %.13a  FAILED\n", ir_fp_to_double(s->k, w->got));
    return pass;
}

typedef struct {
    ir_ctx cx;
    source s;
    bool native, pass;
} job;

/* With the interpreter half of the functions are made for each target. */
static bool check_interpreted(job *j, worst *w) {
    ir_module *m = ir_module_new(&j->cx, "ulp", 64);
    ir_func *f = make_function(m, j->s.f->op, j->s.k, j->s.f->op & 1);
    if (f) measure(&j->s, interpret, f, w);
    ir_module_free(m);
    return f;
}

static bool check_level(job *j, worst *w, unsigned level) {
    ir_module *m = make_loop(&j->cx, j->s.f->op, j->s.k);
    const cg_x86_64_options o = {.level = level};
    cg_object object;
    rt_code code;
    if (!m || !lower(m, level >= CG_X86_64_V3)) return false;
    if (!cg_x86_64_compile(m, &o, &m->arena, &object)) return false;
    if (rt_code_load(&object, NULL, &code) != IR_OK) return false;
    uint32_t n = 0; /* tables come first */
    while (strcmp(object.symbols.data[n].name, "run") != 0) n++;
    void *symbol = rt_code_symbol(&code, &object, n);
    measure(&j->s, run_native, &symbol, w);
    rt_code_unload(&code);
    ir_module_free(m);
    return true;
}

static bool check_native(job *j, worst *w) {
    unsigned long points = j->s.points;
    if (native_has_level(CG_X86_64_V3)) {
        if (!check_level(j, w, CG_X86_64_V3)) return false;
        j->s.points += points / 4;
    }
    return check_level(j, w, CG_X86_64_V2);
}

static void check(void *arg) {
    job *j = arg;
    worst w = {.error = -1};
    bool done = j->native ? check_native(j, &w) : check_interpreted(j, &w);
    j->pass = done && report(&j->s, &w);
}

int main(int argc, char **argv) {
    static const ir_kind kinds[] = {IR_F32, IR_F64, IR_F16};
    bool native = native_has_level(CG_X86_64_V2);
    if (argc > 1 && !strcmp(argv[1], "-i")) native = false, argc--, argv++;
    unsigned long points = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000;
    unsigned passed = 0, failed = 0;
    for (unsigned n = 0; n < sizeof functions / sizeof *functions; n++)
        for (unsigned k = 0; k < 3; k++) {
            const function *f = &functions[n];
            if (argc > 2 && strcmp(argv[2], ir_ops[f->op].name) != 0) continue;
            job j = {.cx = {.report = print_message}, .native = native};
            j.s = (source){.f = f, .k = kinds[k], .points = points};
            j.s.all = kinds[k] == IR_F16 && !f->two && points >= 65536;
            if (ir_try(&j.cx, check, &j) && j.pass)
                passed++;
            else
                failed++;
        }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
