/* loops_test.c — passes on loops keep the meaning of random counted loops, and counts of iterations
 * are those that running the loop gives. */
#include "ir/interp.h"
#include "passes/analysis/analysis.h"
#include "passes/workgroup/regions.h"
#include "tests/passes/random_loops.h"
#include "tests/passes/world.h"
#include "tests/random.h"

enum { SEEDS = RANDOM_CASES(1500), ARGUMENTS = 3 };

typedef struct {
    world w;
    ir_text text;
    uint64_t seed;
} subject;

static void make(void *user) {
    subject *s = user;
    loops_make(&s->text, s->seed);
    world_parse(&s->w, s->text.data, s->text.data);
}

static void answer(const subject *s, const char *list, uint64_t *answers) {
    for (unsigned k = 0; k < ARGUMENTS; k++) {
        ir_value args[2] = {{.bits = {s->seed + 5 * k}}, {.bits = {7 * k}}}, result = {0};
        cr_assert(ir_interp_call(s->w.m->first_func, args, &result), "%s, seed %llu runs: %s", list,
                  (unsigned long long)s->seed, s->w.message);
        answers[k] = result.bits[0];
    }
}

static void check(const char *list, const ir_target *target, uint64_t seed) {
    subject s = {.seed = seed};
    uint64_t before[ARGUMENTS], after[ARGUMENTS];
    const pass_options options = {
        .passes = list, .verify_each = true, .bisect = -1, .target = target};
    world_begin(&s.w);
    s.text.arena = &s.w.arena;
    cr_assert(ir_try(&s.w.cx, make, &s));
    answer(&s, "before", before);
    cr_assert(pass_run(s.w.m, &options), "%s, seed %llu: %s", list ? list : "standard",
              (unsigned long long)seed, s.w.message);
    answer(&s, list, after);
    cr_assert_arr_eq(before, after, sizeof before, "%s changes the answer of seed %llu",
                     list ? list : "standard", (unsigned long long)seed);
    world_end(&s.w);
}

static void check_all(const char *list) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) check(list, NULL, seed);
}

Test(loops, unroll) { check_all("unroll"); }
Test(loops, unroll_twice) { check_all("simplify,unroll,simplifycfg,simplify,unroll"); }
Test(loops, indvars) { check_all("indvars"); }
Test(loops, strength) { check_all("strength"); }
Test(loops, licm) { check_all("licm"); }
Test(loops, sink) { check_all("sink"); }
Test(loops, standard) { check_all(NULL); }

/* Arrays of private memory by index, counters of 32 bits, loops that go down to some number. */
Test(loops, threads) {
    const ir_target target = {.has_fma = true, .has_short_ids = true, .private_is_far = true};
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        check(seed & 1 ? "array_words,mem2reg,gvn,step_pointers,merge_accesses,dce" : "threads",
              &target, seed);
}

/* ------------------------------------------------------------------------------------- counting */

static const char form[] = "func @f(): i8 export {\nentry:\n  jmp loop\nloop:\n"
                           "  %%i: i8 = phi [entry: %d, loop: %%n]\n  %%n: i8 = add %%i, %d\n"
                           "  %%c: i1 = %s\n  br %%c, %s\nexit:\n  ret %%i\n}\n";

typedef struct {
    ir_ctx cx;
    char text[400];
    int64_t count;
} counted;

static void count(void *user) {
    counted *q = user;
    ir_module *m = ir_parse(&q->cx, "count.ir", q->text, strlen(q->text));
    const ir_loops *l = ir_loop_tree(m->first_func);
    q->count = pass_count_passes(l, l->first, l->first->header);
    ir_module_free(m);
}

/* What a computer does: how often the test goes on, or -1 for ever. */
static int64_t run(const loops_counter *c) {
    uint64_t x = c->init;
    for (int64_t n = 0; n < 256; n++, x += c->step)
        if (!loops_goes_on(c, x)) return n;
    return -1;
}

/* 1 when the loop ends and its count is found; never a wrong one. */
static bool is_counted(const loops_counter *c, int64_t want) {
    counted q = {.count = -2};
    char test[64], limit[16];
    const char *x = c->on_next ? "%n" : "%i";
    snprintf(limit, sizeof limit, "i8 %d", (int)ir_sext(c->limit, 8));
    snprintf(test, sizeof test, "%s %s, %s", c->op, c->left ? x : limit, c->left ? limit : x);
    snprintf(q.text, sizeof q.text, form, (int)ir_sext(c->init, 8), (int)ir_sext(c->step, 8), test,
             c->stay ? "loop, exit" : "exit, loop");
    cr_assert(ir_try(&q.cx, count, &q));
    cr_assert(q.count == want || q.count == -1, "%lld, not %lld:\n%s", (long long)q.count,
              (long long)want, q.text);
    return q.count >= 0;
}

/* A comparison, and how many of the loops below that end by it can be counted. */
typedef struct {
    const char *op;
    unsigned found;
} comparison;

static void check_counts(const comparison *compare) {
    static const uint8_t numbers[] = {0,   1,   2,   3,   5,   16,  17, 100,
                                      126, 127, 128, 129, 200, 253, 255};
    unsigned found = 0;
    for (unsigned n = 0; n < 15 * 15 * 15 * 8; n += 7) {
        loops_counter c = {
            .bits = 8, .op = compare->op, .left = n & 1, .stay = n & 2, .on_next = n & 4};
        c.init = numbers[n / 8 % 15];
        c.step = numbers[1 + n / 120 % 14];
        c.limit = numbers[n / 1800];
        found += is_counted(&c, run(&c));
    }
    cr_assert_eq(found, compare->found, "%s: %u", compare->op, found);
}

/* n = (n * a + b) >> c, tested before or after it. */
typedef struct {
    unsigned init, a, b, c, limit;
    bool on_next;
} recurrence;

static const char recurrence_form[] =
    "func @f(): i8 export {\nentry:\n  jmp loop\nloop:\n  %%i: i8 = phi [entry: %d, loop: %%n]\n"
    "  %%m: i8 = mul %%i, %d\n  %%s: i8 = add %%m, %d\n  %%n: i8 = lshr %%s, %u\n"
    "  %%c: i1 = ult i8 %d, %s\n  br %%c, loop, exit\nexit:\n  ret %%i\n}\n";

static unsigned next_of(const recurrence *r, unsigned n) {
    return ((n * r->a + r->b) & 0xff) >> r->c;
}

static int64_t run_recurrence(const recurrence *r) {
    unsigned x = r->init;
    for (int64_t n = 0; n <= 64; n++, x = next_of(r, x))
        if ((r->on_next ? next_of(r, x) : x) <= r->limit) return n;
    return -1;
}

static int signed_of(unsigned byte) { return (int)ir_sext(byte, 8); }

static void check_recurrence(const recurrence *r, unsigned *counts) {
    counted q = {.count = -2};
    int64_t want = run_recurrence(r);
    snprintf(q.text, sizeof q.text, recurrence_form, signed_of(r->init), signed_of(r->a),
             signed_of(r->b), r->c, signed_of(r->limit), r->on_next ? "%n" : "%i");
    cr_assert(ir_try(&q.cx, count, &q));
    cr_assert_eq(q.count, want, "%lld, not %lld:\n%s", (long long)q.count, (long long)want, q.text);
    *counts += want > 1;
}

Test(loops, executed_counts_are_exact) {
    uint64_t state = 1;
    unsigned counts = 0;
    for (unsigned n = 0; n < 4000; n++) {
        recurrence r = {.init = draw_below(&state, 256),
                        .a = 1 + draw_below(&state, 5),
                        .b = draw_below(&state, 4),
                        .c = 1 + draw_below(&state, 4),
                        .limit = draw_below(&state, 12)};
        r.on_next = draw_below(&state, 2);
        check_recurrence(&r, &counts);
    }
    cr_assert_gt(counts, 1000, "%u", counts);
}

Test(loops, counts_are_exact) {
    static const comparison all[] = {{"ult", 3414}, {"ule", 3414}, {"slt", 3480},
                                     {"sle", 3473}, {"eq", 2664},  {"ne", 2646}};
    for (unsigned k = 0; k < 6; k++) check_counts(&all[k]);
}

/* ----------------------------------------------------------------------------------------- work */

/* 6 instructions around the loops, 5 in the outer one, 5 in the inner one. */
static const char nested[] =
    "kernel @k(%%p: ptr.global, %%n: i32, %%s: ptr.private byval(16) align 8) {\nentry:\n"
    "  %%q: ptr.private = ptradd %%s, 8\n  %%m: i64 = load %%q align 8\n  %%g: i64 = global_size "
    "0\n"
    "  %%x: i64 = load %%p align 8\n  jmp outer\nouter:\n"
    "  %%i: i32 = phi [entry: 0, end: %%i1]\n  jmp inner\ninner:\n"
    "  %%k: i64 = phi [outer: 0, inner: %%k1]\n  store %%k, %%p align 8\n"
    "  %%k1: i64 = add %%k, 1\n  %%less: i1 = ult %%k1, %s\n  br %%less, inner, end\nend:\n"
    "  %%i1: i32 = add %%i, 2\n  %%c: i1 = ult %%i1, %%n\n  br %%c, outer, exit\nexit:\n"
    "  ret\n}\n";

typedef struct {
    world w;
    char text[2000];
    pass_work work;
    bool known;
} workload;

static void estimate(void *user) {
    workload *q = user;
    const int64_t n = 20;
    const int64_t *const value[] = {NULL, &n, NULL};
    const uint64_t members[] = {0, 7};
    const uint8_t *const bytes[] = {NULL, NULL, (const uint8_t *)members};
    const ir_range range = {.dims = 1, .global = {30}};
    world_parse(&q->w, q->text, q->text);
    const pass_given given = {.range = &range, .value = value, .bytes = bytes};
    ir_func *kernel = q->w.m->first_func;
    cr_expect_not(pass_estimate_work(kernel, &given, &q->w.arena, &q->work), "not yet");
    ir_loop_tree(kernel);
    q->known = pass_estimate_work(kernel, &given, &q->w.arena, &q->work);
}

/* 10 rounds of the outer loop; of the inner one, what an argument, a size or a constant says. */
Test(loops, work_of_an_item) {
    static const struct {
        const char *limit;
        double rounds;
    } all[] = {{"%m", 7}, {"%g", 30}, {"i64 3", 3}, {"%x", 64}};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
        workload q = {0};
        world_begin(&q.w);
        snprintf(q.text, sizeof q.text, nested, all[n].limit);
        cr_assert(ir_try(&q.w.cx, estimate, &q), "%s", q.w.message);
        cr_expect(q.known);
        cr_expect_eq(q.work.size, 16);
        cr_expect_eq(q.work.steps, 6 + 10 * (5 + 5 * all[n].rounds), "%s: %g", all[n].limit,
                     q.work.steps);
        world_end(&q.w);
    }
}
