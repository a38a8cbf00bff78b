/* components_test.c — loops over items that compute with vectors do the same as loops over
 * components: random expressions of vectors, of what all items have, and of loops inside.
 *
 * A quarter of the kernels has something that depends on which component it is, and must stay.
 */
#include "tests/passes/vectorize/same_results.h"
#include "tests/random.h"

enum { SEEDS = RANDOM_CASES(400), ELEMENTS = 512, STEPS = 8, VALUES = 40, MOST_ITEMS = 29 };

typedef struct {
    ir_text out;
    uint64_t state;
    unsigned lanes, value[VALUES], n, next;
    bool meets; /* components do somewhere */
} maker;

static unsigned draw(maker *r, unsigned n) { return draw_below(&r->state, n); }
static unsigned any(maker *r) { return r->value[draw(r, r->n)]; }
static void offer(maker *r, unsigned v) { r->value[r->n < VALUES ? r->n++ : draw(r, VALUES)] = v; }

/* "<1, 1, 1, 1>", or numbers that differ, in such brackets. */
static void put_numbers(maker *r, const char *brackets, bool equal, unsigned below) {
    unsigned first = draw(r, below);
    ir_putf(&r->out, "%c%u", brackets[0], first);
    for (unsigned k = 1; k < r->lanes; k++)
        ir_putf(&r->out, ", %u", equal ? first : draw(r, below));
    ir_putf(&r->out, "%c", brackets[1]);
}

/* The vector in memory at the item's place, some elements further on. */
static void load(maker *r, unsigned v) {
    ir_putf(&r->out, "  %%p%u: ptr.global = ptradd %%in, %u\n", v, 4 * draw(r, 5));
    ir_putf(&r->out, "  %%v%u: v%ui32 = load %%p%u align 4\n", v, r->lanes, v);
}

static void choose(maker *r, unsigned v) {
    ir_putf(&r->out, "  %%c%u: v%ui1 = slt %%v%u, %%v%u\n", v, r->lanes, any(r), any(r));
    ir_putf(&r->out, "  %%v%u: v%ui32 = select %%c%u, %%v%u, %%v%u\n", v, r->lanes, v, any(r),
            any(r));
}

static void splat(maker *r, unsigned v) {
    ir_putf(&r->out, "  %%i%u: v%ui32 = insert undef, %%n, i32 0\n", v, r->lanes);
    ir_putf(&r->out, "  %%s%u: v%ui32 = shuffle %%i%u, v%ui32 undef ", v, r->lanes, v, r->lanes);
    put_numbers(r, "[]", true, 1);
    ir_putf(&r->out, "\n  %%v%u: v%ui32 = add %%v%u, %%s%u\n", v, r->lanes, any(r), v);
}

/* Components that differ, or meet. */
static void meet(maker *r, unsigned v) {
    r->meets = true;
    ir_putf(&r->out, "  %%v%u: v%ui32 = ", v, r->lanes);
    switch (draw(r, 2)) {
    case 0:
        ir_putf(&r->out, "xor %%v%u, ", any(r));
        put_numbers(r, "<>", false, 1000);
        break;
    default:
        ir_putf(&r->out, "shuffle %%v%u, %%v%u ", any(r), any(r));
        put_numbers(r, "[]", false, r->lanes);
        break;
    }
    ir_put(&r->out, "\n");
}

static void make_step(maker *r) {
    static const char *const ops[] = {"add", "sub", "mul", "xor", "smin", "umax"};
    unsigned v = r->next++;
    switch (draw(r, 6)) {
    case 0: load(r, v); break;
    case 1: choose(r, v); break;
    case 2: splat(r, v); break;
    case 3:
        ir_putf(&r->out, "  %%v%u: v%ui32 = and %%v%u, ", v, r->lanes, any(r));
        put_numbers(r, "<>", true, 1000);
        ir_put(&r->out, "\n");
        break;
    default:
        ir_putf(&r->out, "  %%v%u: v%ui32 = %s %%v%u, %%v%u\n", v, r->lanes, ops[draw(r, 6)],
                any(r), any(r));
        break;
    }
    offer(r, v);
}

static void make_steps(maker *r) {
    for (unsigned k = 1 + draw(r, STEPS); k > 0; k--) make_step(r);
}

static void make_inner(maker *r) {
    unsigned start = any(r);
    ir_putf(&r->out,
            "  jmp inner\ninner:\n  %%j: i32 = phi [items: 0, inner: %%j1]\n"
            "  %%v1: v%ui32 = phi [items: %%v%u, inner: %%sum]\n",
            r->lanes, start);
    offer(r, 1);
    make_steps(r);
    ir_putf(&r->out, "  %%sum: v%ui32 = sub %%v1, %%v%u\n", r->lanes, any(r));
    ir_put(&r->out, "  %j1: i32 = add %j, 1\n  %go: i1 = ult %j1, %n\n  br %go, inner, end\n"
                    "end:\n");
}

/* A number that mixes all elements. */
static void make_sum(maker *r) {
    ir_putf(&r->out,
            "adding:\n  %%e: i64 = phi [end: 0, adding: %%e1]\n"
            "  %%all: i32 = phi [end: 0, adding: %%all1]\n  %%eo: i64 = shl %%e, 2\n"
            "  %%ep: ptr.global = ptradd @out, %%eo\n  %%one: i32 = load %%ep align 4\n"
            "  %%mixed: i32 = mul %%all, 33\n  %%all1: i32 = add %%mixed, %%one\n"
            "  %%e1: i64 = add %%e, 1\n  %%again: i1 = ult %%e1, i64 %d\n"
            "  br %%again, adding, done\ndone:\n  ret %%all1\n}\n",
            ELEMENTS);
}

static void make_function(maker *r) {
    static const unsigned lanes[] = {2, 3, 4, 8, 16};
    r->lanes = lanes[draw(r, 5)];
    ir_putf(&r->out,
            "target 64\n@out: global [%d x i32] align 4\n@data: global [%d x i32] align 4"
            " = {",
            ELEMENTS, ELEMENTS);
    for (unsigned k = 0; k < ELEMENTS; k++) ir_putf(&r->out, "%s%u", k ? ", " : "", draw(r, 5000));
    ir_put(&r->out, "}\nfunc @f(%start: i64, %stop: i64, %n: i32): i32 export level group {\n"
                    "entry:\n  jmp items\nitems: items\n"
                    "  %x: i64 = phi [entry: %start, end: %x1]\n");
    ir_putf(&r->out, "  %%o: i64 = mul %%x, %u\n  %%in: ptr.global = ptradd @data, %%o\n",
            4 * r->lanes);
    load(r, 0);
    offer(r, 0);
    make_steps(r);
    make_inner(r);
    if (draw(r, 4) == 0) {
        meet(r, r->next);
        ir_putf(&r->out, "  %%last: v%ui32 = add %%sum, %%v%u\n", r->lanes, r->next);
    } else {
        ir_putf(&r->out, "  %%last: v%ui32 = xor %%sum, %%v%u\n", r->lanes, any(r));
    }
    ir_put(&r->out, "  %q: ptr.global = ptradd @out, %o\n  store %last, %q align 4\n"
                    "  %x1: i64 = add %x, 1 nsw nuw\n  %more: i1 = ult %x1, %stop\n"
                    "  br %more, items, adding\n");
    make_sum(r);
}

static bool meets; /* components of the function that was written last */

static void write(ir_text *out, uint64_t seed) {
    maker r = {.out = *out, .state = seed, .next = 2};
    make_function(&r);
    meets = r.meets;
    *out = r.out;
}

static void draw_arguments(uint64_t *state, ir_value args[LOOPS_ARGS]) {
    uint64_t start = draw_below(state, 3);
    args[0].bits[0] = start;
    args[1].bits[0] = start + 1 + draw_below(state, MOST_ITEMS - 3);
    args[2].bits[0] = draw_below(state, 6);
}

static const random_loops flat_loops = {write, draw_arguments, IR_LOOP_COMPONENTS};

/* Gives whether components have become items. */
static bool check(const char *list, uint64_t seed, unsigned lanes) {
    bool flat = loops_after(&flat_loops, list, seed, lanes) > 0;
    cr_assert_neq(flat, meets, "seed %llu", (unsigned long long)seed);
    return flat;
}

Test(components, keep_the_meaning) {
    unsigned flat = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) flat += check("components", seed, 4);
    cr_assert_gt(flat, SEEDS / 2);
}

Test(components, the_whole_stage) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) check("vectors", seed, seed % 2 ? 8 : 16);
}
