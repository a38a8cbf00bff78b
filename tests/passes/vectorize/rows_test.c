/* rows_test.c — loops over rows of items do the same when several rows run at once: random
 * expressions of row, item and the number of an iteration inside, with loads that rows share.  Some
 * items add to what is in their place. */
#include "tests/passes/vectorize/same_results.h"
#include "tests/random.h"

enum { SEEDS = RANDOM_CASES(400), ITEMS = 256, STEPS = 8, VALUES = 40 };

typedef struct {
    ir_text out;
    uint64_t state;
    unsigned value[VALUES], n, next;
} maker;

static unsigned draw(maker *r, unsigned n) { return draw_below(&r->state, n); }
static unsigned any(maker *r) { return r->value[draw(r, r->n)]; }
static void offer(maker *r, unsigned v) { r->value[r->n < VALUES ? r->n++ : draw(r, VALUES)] = v; }

static void make_step(maker *r) {
    static const char *const ops[] = {"add", "sub", "mul", "xor", "smin", "umax"};
    unsigned v = r->next++, x = any(r), y = any(r);
    switch (draw(r, 4)) {
    case 0:
        ir_putf(&r->out, "  %%i%u: i32 = and %%v%u, 31\n  %%w%u: i64 = zext %%i%u\n", v, x, v, v);
        ir_putf(&r->out, "  %%o%u: i64 = shl %%w%u, 2\n", v, v);
        ir_putf(&r->out, "  %%p%u: ptr.global = ptradd @in, %%o%u\n", v, v);
        ir_putf(&r->out, "  %%v%u: i32 = load %%p%u align 4\n", v, v);
        break;
    case 1:
        ir_putf(&r->out, "  %%c%u: i1 = slt %%v%u, %%v%u\n", v, x, y);
        ir_putf(&r->out, "  %%v%u: i32 = select %%c%u, %%v%u, %%v%u\n", v, v, any(r), any(r));
        break;
    default: ir_putf(&r->out, "  %%v%u: i32 = %s %%v%u, %%v%u\n", v, ops[draw(r, 6)], x, y); break;
    }
    offer(r, v);
}

static void make_steps(maker *r) {
    for (unsigned k = draw(r, STEPS); k > 0; k--) make_step(r);
}

static void make_inner(maker *r) {
    unsigned start = any(r);
    ir_putf(&r->out,
            "  jmp pre\npre:\n  jmp inner\ninner:\n  %%v3: i32 = phi [pre: 0, back: %%k1]\n"
            "  %%v4: i32 = phi [pre: %%v%u, back: %%sum1]\n",
            start);
    offer(r, 3);
    offer(r, 4);
    make_steps(r);
    ir_put(&r->out, "  %bi: i32 = add %v3, %v1\n  %bm: i32 = and %bi, 31\n  %bw: i64 = zext %bm\n"
                    "  %bo: i64 = shl %bw, 2\n  %bp: ptr.global = ptradd @in, %bo\n"
                    "  %v5: i32 = load %bp align 4\n");
    offer(r, 5);
    make_steps(r);
    ir_putf(&r->out, "  %%twice: i32 = mul %%v4, 3\n  %%sum1: i32 = add %%twice, %%v%u\n", any(r));
    ir_putf(&r->out,
            "  %%k1: i32 = add %%v3, 1\n  jmp back\nback:\n"
            "  %%go: i1 = ult %%k1, %s\n  br %%go, inner, end\nend:\n",
            draw(r, 8) ? "%n" : "%v0");
}

/* Adds up what the items have written. */
static void make_total(maker *r) {
    ir_put(&r->out, "  jmp adding\nadding:\n  %j: i64 = phi [sum: 0, adding: %j1]\n"
                    "  %all: i32 = phi [sum: 0, adding: %all1]\n  %jo: i64 = shl %j, 2\n"
                    "  %jp: ptr.global = ptradd @out, %jo\n  %one: i32 = load %jp align 4\n"
                    "  %mixed: i32 = mul %all, 33\n  %all1: i32 = add %mixed, %one\n"
                    "  %j1: i64 = add %j, 1\n");
    ir_putf(&r->out,
            "  %%again: i1 = ult %%j1, i64 %d\n  br %%again, adding, done\ndone:\n"
            "  ret %%all1\n}\n",
            ITEMS);
}

/* Up to the first instruction of an item.  Groups may be known to have 8 rows. */
static void make_head(maker *r, bool known) {
    ir_putf(&r->out, "target 64\n@out: global [%d x i32] align 4\n", ITEMS);
    ir_put(&r->out, "@in: global [32 x i32] align 4 = {");
    for (unsigned k = 0; k < 32; k++) ir_putf(&r->out, "%s%u", k ? ", " : "", draw(r, 50));
    ir_put(&r->out, "}\nfunc @f(%start: i64, %rows: i64, %columns: i64, %n: i32): i32 export "
                    "level group {\nentry:\n  %v2: i32 = mul %n, 5\n");
    ir_putf(&r->out, "  %%limit: i64 = umin %%rows, %d\n", known ? 8 : ITEMS);
    ir_putf(&r->out, "  jmp rows\nrows: rows\n  %%y: i64 = phi [entry: %s, next: %%y1]\n",
            known ? "0" : "%start");
    ir_put(&r->out, "  %v0: i32 = trunc %y\n  %line: i64 = mul %y, %columns\n  jmp items\n"
                    "items: items\n  %x: i64 = phi [rows: 0, end: %x1]\n  %v1: i32 = trunc %x\n");
}

/* Values 0 to 2 are row, item, and a parameter; 0 is at most 7 in the loop inside. */
static void make_function(maker *r) {
    make_head(r, draw(r, 2));
    make_steps(r);
    make_inner(r);
    bool updates = draw(r, 2); /* what is there, which each row sees as it was */
    ir_put(&r->out, "  %at: i64 = add %line, %x\n  %o: i64 = shl %at, 2\n"
                    "  %p: ptr.global = ptradd @out, %o\n");
    if (updates) ir_put(&r->out, "  %old: i32 = load %p align 4\n  %new: i32 = add %old, %sum1\n");
    ir_putf(&r->out, "  store %s, %%p align 4\n", updates ? "%new" : "%sum1");
    ir_put(&r->out, "  %x1: i64 = add %x, 1 nsw nuw\n  %morex: i1 = ult %x1, %columns\n"
                    "  br %morex, items, next\nnext:\n  %y1: i64 = add %y, 1 nsw nuw\n"
                    "  %morey: i1 = ult %y1, %limit\n  br %morey, rows, sum\nsum:\n");
    make_total(r);
}

static void write(ir_text *out, uint64_t seed) {
    maker r = {.out = *out, .state = seed, .value = {0, 1, 2}, .n = 3, .next = 6};
    make_function(&r);
    *out = r.out;
}

static void draw_arguments(uint64_t *state, ir_value args[LOOPS_ARGS]) {
    uint64_t start = draw_below(state, 3);
    args[0].bits[0] = start;
    args[1].bits[0] = start + 1 + draw_below(state, 13);
    args[2].bits[0] = 1 + draw_below(state, 14);
    args[3].bits[0] = draw_below(state, 6);
}

Test(rows, keep_the_meaning) {
    ir_counts counts = {0};
    const random_loops rows = {write, draw_arguments, IR_LOOP_ROWS, &counts};
    for (uint64_t seed = 0; seed < SEEDS; seed++) loops_after(&rows, "rows", seed, 4);
    cr_assert_gt(counts.n[IR_COUNT_rows_loops], SEEDS / 2);
}

Test(rows, the_whole_stage) {
    const random_loops rows = {write, draw_arguments, IR_LOOP_ROWS, NULL};
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        loops_after(&rows, "vectors", seed, seed % 2 ? 8 : 4);
}
