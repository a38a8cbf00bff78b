/* iterations_test.c — innermost loops do the same after their iterations have become lanes: random
 * loops whose counter has any width and begins anywhere, with reductions, scans, progressions and
 * last values of each type and operation, of all iterations or of some, whose values are computed or
 * loaded; and with stores that other accesses may meet in the same iteration, before it or after. */
#include "tests/passes/vectorize/same_results.h"
#include "tests/random.h"

enum { SEEDS = RANDOM_CASES(1500), MOST_PHIS = 4, FIRST = 3 };

typedef struct {
    const char *type, *op, *flags;
} reduction;

/* Floats are small integers, whose sums are exact in any order. */
static const reduction reductions[] = {
    {"i1", "and", ""},           {"i1", "or", ""},         {"i8", "add", ""},
    {"i8", "umin", ""},          {"i8", "smax", ""},       {"i16", "mul", ""},
    {"i16", "smin", ""},         {"i16", "xor", ""},       {"i32", "add", ""},
    {"i32", "add", " nsw nuw"},  {"i32", "sub", ""},       {"i32", "mul", ""},
    {"i32", "and", ""},          {"i32", "or", ""},        {"i32", "xor", ""},
    {"i32", "umin", ""},         {"i32", "umax", ""},      {"i32", "smin", ""},
    {"i32", "smax", ""},         {"i64", "add", ""},       {"i64", "mul", ""},
    {"i64", "umax", ""},         {"i64", "smin", ""},      {"i64", "xor", ""},
    {"f32", "fadd", " reassoc"}, {"f32", "fadd", ""},      {"f32", "fmin", " fast"},
    {"f64", "fadd", " fast"},    {"f64", "fsub", " fast"}, {"f64", "fmax", " reassoc"},
    {"v2i32", "add", ""},        {"v2i32", "umin", ""},
};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };

typedef struct {
    ir_text out;
    uint64_t state;
    unsigned bits;  /* of the counter */
    bool is_signed; /* the test */
    unsigned words; /* %w0 … are i32 values of an iteration */
    unsigned tests; /* %t0 … are i1 values */
    unsigned nphis, how[MOST_PHIS];
    const reduction *phi[MOST_PHIS];
    bool branches; /* some of it is under a condition */
    bool writes;
    unsigned stores;
} maker;

static unsigned draw(maker *r, unsigned n) { return draw_below(&r->state, n); }
static unsigned word(maker *r) { return draw(r, r->words); }

/* --------------------------------------------------------------------------- values of iterations */

/* What the table has at a place that depends on the counter, or on a value. */
static void load(maker *r) {
    unsigned w = r->words++;
    switch (draw(r, 6)) {
    case 5: ir_putf(&r->out, "  %%i%u: i64 = add %%near, %u\n", w, draw(r, 40)); break;
    case 0: ir_putf(&r->out, "  %%i%u: i64 = add %%far, %u\n", w, draw(r, 40)); break;
    case 1: ir_putf(&r->out, "  %%i%u: i64 = mul %%far, %u\n", w, 1 + draw(r, 3)); break;
    case 2: ir_putf(&r->out, "  %%i%u: i64 = sub 600, %%far\n", w); break;
    case 3: ir_putf(&r->out, "  %%i%u: i64 = and %%u, 511\n", w); break;
    default:
        ir_putf(&r->out, "  %%m%u: i32 = and %%w%u, 1023\n  %%i%u: i64 = zext %%m%u\n", w,
                draw(r, w), w, w);
    }
    ir_putf(&r->out,
            "  %%o%u: i64 = shl %%i%u, 2\n  %%p%u: ptr.global = ptradd @table, %%o%u\n"
            "  %%w%u: i32 = load %%p%u align 4\n",
            w, w, w, w, w, w);
}

/* At a place that has some distance from those of loads, for all iterations or by a value. */
static void store(maker *r) {
    unsigned n = r->stores++, w = word(r);
    switch (draw(r, 7)) {
    case 0: ir_putf(&r->out, "  %%q%u: i64 = mul %%far, 2\n", n); break;
    case 1: ir_putf(&r->out, "  %%q%u: i64 = sub 600, %%far\n", n); break;
    case 2:
        ir_putf(&r->out, "  %%r%u: i32 = and %%w%u, 1023\n  %%q%u: i64 = zext %%r%u\n", n, word(r),
                n, n);
        break;
    case 3: ir_putf(&r->out, "  %%q%u: i64 = and %%u, 511\n", n); break;
    default: ir_putf(&r->out, "  %%q%u: i64 = add %%near, %u\n", n, draw(r, 40));
    }
    ir_putf(&r->out,
            "  %%l%u: i64 = shl %%q%u, 2\n  %%g%u: ptr.global = ptradd @%s, %%l%u\n"
            "  store %%w%u, %%g%u align 4\n",
            n, n, n, draw(r, 2) ? "table" : "other", n, w, n);
}

static void compute(maker *r) {
    static const char *const ops[] = {"add", "sub", "mul", "xor", "and", "umin", "smax"};
    if (r->writes && draw(r, 3) == 0) store(r);
    if (draw(r, 3) == 0) {
        load(r);
        return;
    }
    unsigned x = word(r), y = word(r);
    ir_putf(&r->out, "  %%w%u: i32 = %s %%w%u, ", r->words++, ops[draw(r, 7)], x);
    if (draw(r, 2))
        ir_putf(&r->out, "%%w%u\n", y);
    else
        ir_putf(&r->out, "%d\n", (int)draw(r, 90) - 20);
}

static void test(maker *r) {
    static const char *const ops[] = {"slt", "ult", "eq", "ne"};
    ir_putf(&r->out, "  %%b%u: i32 = and %%w%u, 7\n  %%t%u: i1 = %s %%b%u, i32 %u\n", r->tests,
            word(r), r->tests, ops[draw(r, 4)], r->tests, draw(r, 8));
    r->tests++;
}

/* %NAME, of the type, from some word; it is small if sums must not wrap. */
static void convert(maker *r, const char *name, const reduction *what) {
    const char *type = what->type;
    unsigned w = word(r);
    unsigned bits = type[0] == 'i' ? (unsigned)strtoul(type + 1, NULL, 10) : 0;
    if (type[0] == 'f')
        ir_putf(&r->out, "  %%%ss: i32 = and %%w%u, 15\n  %%%s: %s = uitofp %%%ss\n", name, w, name,
                type, name);
    else if (type[0] == 'v')
        ir_putf(&r->out, "  %%%s: v2i32 = vec %%w%u, %%w%u\n", name, w, word(r));
    else if (bits == 32)
        ir_putf(&r->out, "  %%%s: i32 = %s %%w%u, 1023\n", name,
                strstr(what->flags, "nsw") ? "and" : "xor", w);
    else
        ir_putf(&r->out, "  %%%s: %s = %s %%w%u\n", name, type, bits < 32 ? "trunc" : "sext", w);
}

/* ---------------------------------------------------------------------------------------- the loop */

enum { EACH, SELECTED, BRANCHED, SEEN, PROGRESSION, LAST, CHOSEN, HOWS };

static void put_phis(maker *r) {
    ir_putf(&r->out, "loop:\n  %%k: i%u = phi [begin: %%first, close: %%next]\n", r->bits);
    for (unsigned n = 0; n < r->nphis; n++)
        ir_putf(&r->out, "  %%x%u: %s = phi [begin: %%s%u, close: %%y%u]\n", n, r->phi[n]->type, n,
                n);
}

/* The operation of phi n; its result is %NAMEn. */
static void combine(maker *r, unsigned n, const char *name) {
    char value[16];
    (void)snprintf(value, sizeof value, "v%s%u", name, n);
    convert(r, value, r->phi[n]);
    ir_putf(&r->out, "  %%%s%u: %s = %s %%x%u, %%%s%s\n", name, n, r->phi[n]->type, r->phi[n]->op,
            n, value, r->phi[n]->flags);
}

static void put_inside(maker *r) {
    ir_putf(&r->out, "  br %%t%u, inside, close\ninside:\n", draw(r, r->tests));
    unsigned before = r->words;
    for (unsigned k = draw(r, 3); k; k--) compute(r);
    for (unsigned n = 0; n < r->nphis; n++)
        if (r->how[n] == BRANCHED) combine(r, n, "z");
    r->words = before;
    ir_put(&r->out, "  jmp close\nclose:\n");
    for (unsigned n = 0; n < r->nphis; n++)
        if (r->how[n] == BRANCHED)
            ir_putf(&r->out, "  %%y%u: %s = phi [loop: %%x%u, inside: %%z%u]\n", n, r->phi[n]->type,
                    n, n);
}

static void put_next(maker *r, unsigned n) {
    const char *t = r->phi[n]->type;
    switch (r->how[n]) {
    case EACH:
    case SEEN: combine(r, n, "y"); break;
    case SELECTED:
        combine(r, n, "z");
        ir_putf(&r->out, "  %%y%u: %s = select %%t%u, %%z%u, %%x%u\n", n, t, draw(r, r->tests), n,
                n);
        break;
    case PROGRESSION: ir_putf(&r->out, "  %%y%u: %s = add %%x%u, %%s%u\n", n, t, n, n); break;
    case LAST: {
        char name[16];
        (void)snprintf(name, sizeof name, "y%u", n);
        convert(r, name, r->phi[n]);
        break;
    }
    case CHOSEN: {
        char name[16];
        (void)snprintf(name, sizeof name, "z%u", n);
        convert(r, name, r->phi[n]);
        ir_putf(&r->out, "  %%y%u: %s = select %%t%u, %%z%u, %%x%u\n", n, t, draw(r, r->tests), n,
                n);
        break;
    }
    default: break;
    }
}

static void put_loop(maker *r) {
    put_phis(r);
    ir_putf(&r->out, "  %%away: i%u = sub %%k, %%first\n", r->bits);
    const char *far = r->bits == 64 ? "add %away, 0" : "zext %away";
    ir_putf(&r->out, "  %%far: i64 = %s\n", far);
    const char *extend = r->bits == 64 ? "add 0," : r->is_signed ? "sext" : "zext";
    ir_putf(&r->out, "  %%wide: i64 = %s %%k\n  %%near: i64 = sub %%wide, %%wide_first\n", extend);
    const char *to_word = r->bits < 32 ? "sext %k" : r->bits == 32 ? "xor %k, 5" : "trunc %k";
    ir_putf(&r->out, "  %%w1: i32 = %s\n  %%w2: i32 = trunc %%u\n", to_word);
    r->words = 3;
    for (unsigned k = 1 + draw(r, 4); k; k--) compute(r);
    /* A scan is seen by other values. */
    for (unsigned n = 0; n < r->nphis; n++)
        if (r->how[n] == SEEN && strcmp(r->phi[n]->type, "i32") == 0)
            ir_putf(&r->out, "  %%w%u: i32 = mul %%x%u, 3\n", r->words++, n);
    test(r);
    test(r);
    if (r->branches)
        put_inside(r);
    else
        ir_put(&r->out, "  jmp close\nclose:\n");
    for (unsigned n = 0; n < r->nphis; n++) put_next(r, n);
    ir_putf(&r->out,
            "  %%next: i%u = add %%k, 1\n  %%again: i1 = %s %%next, %%end\n"
            "  br %%again, loop, done\n",
            r->bits, r->is_signed ? "slt" : "ult");
}

/* ------------------------------------------------------------------------------------ the function */

static void put_starts(maker *r) {
    ir_putf(&r->out, "  %%w0: i32 = trunc %%init\n");
    r->words = 1;
    for (unsigned n = 0; n < r->nphis; n++) {
        char name[16];
        (void)snprintf(name, sizeof name, "s%u", n);
        convert(r, name, r->phi[n]);
    }
}

/* The bits of %y0 … mixed into one number. */
static void put_digest(maker *r) {
    ir_put(&r->out, "done:\n  jmp adding\nadding:\n"
                    "  %a: i64 = phi [done: 0, adding: %a1]\n"
                    "  %hash: i64 = phi [done: 0, adding: %hash1]\n  %ao: i64 = shl %a, 2\n"
                    "  %ap: ptr.global = ptradd @table, %ao\n  %av: i32 = load %ap align 4\n"
                    "  %bp: ptr.global = ptradd @other, %ao\n  %bv: i32 = load %bp align 4\n"
                    "  %aw: i64 = sext %av\n  %bw: i64 = zext %bv\n  %ah: i64 = mul %hash, 33\n"
                    "  %ai: i64 = add %ah, %aw\n  %hash1: i64 = xor %ai, %bw\n"
                    "  %a1: i64 = add %a, 1\n  %ac: i1 = ult %a1, i64 1024\n"
                    "  br %ac, adding, mixed\nmixed:\n  %d0: i64 = add 1, %hash1\n");
    for (unsigned n = 0; n < r->nphis; n++) {
        const char *t = r->phi[n]->type;
        if (strcmp(t, "i64") == 0)
            ir_putf(&r->out, "  %%e%u: i64 = add %%y%u, 0\n", n, n);
        else if (strcmp(t, "f64") == 0 || t[0] == 'v')
            ir_putf(&r->out, "  %%e%u: i64 = bitcast %%y%u\n", n, n);
        else if (t[0] == 'f')
            ir_putf(&r->out, "  %%c%u: i32 = bitcast %%y%u\n  %%e%u: i64 = zext %%c%u\n", n, n, n,
                    n);
        else
            ir_putf(&r->out, "  %%e%u: i64 = zext %%y%u\n", n, n);
        ir_putf(&r->out, "  %%h%u: i64 = mul %%d%u, 31\n  %%d%u: i64 = xor %%h%u, %%e%u\n", n, n,
                n + 1, n, n);
    }
    ir_putf(&r->out, "  ret %%d%u\n}\n", r->nphis);
}

static void draw_phis(maker *r) {
    r->nphis = 1 + draw(r, MOST_PHIS);
    for (unsigned n = 0; n < r->nphis; n++) {
        r->phi[n] = &reductions[draw(r, REDUCTIONS)];
        r->how[n] = draw(r, 3) ? draw(r, FIRST) : draw(r, HOWS);
        const char *t = r->phi[n]->type;
        bool is_int = t[0] == 'i' && strcmp(t, "i1") != 0;
        if (r->how[n] == PROGRESSION && !is_int) r->how[n] = EACH;
        r->branches |= r->how[n] == BRANCHED;
    }
}

static void write(ir_text *out, uint64_t seed) {
    maker r = {.out = *out, .state = seed};
    r.bits = 8u << draw(&r, 4);
    r.is_signed = draw(&r, 2);
    draw_phis(&r);
    r.writes = draw(&r, 2);
    ir_put(&r.out,
           "target 64\n@table: global [1024 x i32] align 4\n@other: global [1024 x i32] align 4\n");
    ir_put(&r.out, "func @f(%from: i64, %to: i64, %init: i64, %u: i64): i64 level group {\n");
    ir_put(&r.out, "entry:\n  jmp fill\nfill:\n  %f: i64 = phi [entry: 0, fill: %f1]\n"
                   "  %fo: i64 = shl %f, 2\n  %fp: ptr.global = ptradd @table, %fo\n"
                   "  %ft: i32 = trunc %f\n  %fv: i32 = mul %ft, 2654435\n"
                   "  %fq: ptr.global = ptradd @other, %fo\n  store %ft, %fq align 4\n"
                   "  store %fv, %fp align 4\n  %f1: i64 = add %f, 1\n"
                   "  %fc: i1 = ult %f1, i64 1024\n  br %fc, fill, begin\nbegin:\n");
    const char *narrow = r.bits < 64 ? "trunc" : "add 0,";
    ir_putf(&r.out, "  %%first: i%u = %s %%from\n  %%end: i%u = %s %%to\n", r.bits, narrow, r.bits,
            narrow);
    const char *extend = r.bits == 64 ? "add 0," : r.is_signed ? "sext" : "zext";
    ir_putf(&r.out, "  %%wide_first: i64 = %s %%first\n", extend);
    put_starts(&r);
    ir_put(&r.out, "  jmp loop\n");
    put_loop(&r);
    put_digest(&r);
    *out = r.out;
}

/* Up to 300 iterations, that may begin at any edge; one if the end is not after the beginning. */
static void draw_arguments(uint64_t *state, ir_value args[LOOPS_ARGS]) {
    static const uint64_t starts[] = {0, 0, 1, 120, 30000, INT32_MAX - 20, UINT32_MAX - 90};
    uint64_t first = draw_below(state, 9) ? starts[draw_below(state, 7)] : UINT64_MAX - 100;
    uint64_t n = draw_below(state, 3) ? draw_below(state, 140) : draw_below(state, 12);
    args[0].bits[0] = first;
    args[1].bits[0] = first + n;
    args[2].bits[0] = splitmix64(state) >> draw_below(state, 60);
    args[3].bits[0] = splitmix64(state) >> draw_below(state, 60);
}

Test(iterations, keep_the_meaning) {
    ir_counts counts = {0};
    const random_loops loops = {write, draw_arguments, IR_LOOP_ITEMS, &counts};
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        cr_assert_eq(loops_after(&loops, "vectorize", seed, 2u << seed % 6), 0);
    cr_assert_gt(counts.n[IR_COUNT_vectorize_loops], SEEDS / 2);
}

Test(iterations, the_whole_stage) {
    ir_counts counts = {0};
    const random_loops loops = {write, draw_arguments, IR_LOOP_ITEMS, &counts};
    for (uint64_t seed = SEEDS; seed < SEEDS + SEEDS / 3; seed++)
        loops_after(&loops, "standard,groups,vectors", seed, seed % 2 ? 2u << seed % 6 : 0);
    cr_assert_gt(counts.n[IR_COUNT_vectorize_loops], 0);
}
