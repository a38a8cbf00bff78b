/* indexsets_test.c — loops over items do the same after they have been split, and after the parts
 * have been vectorized: random loops whose items compare, clamp and extend sums of their number,
 * from all over the range of each width, with bounds and sizes near its edges. */
#include "tests/passes/vectorize/same_results.h"
#include "tests/random.h"

#include <stdio.h>

enum { SEEDS = RANDOM_CASES(1200), ITEMS = 80, STEPS = 7 };

typedef struct {
    ir_text out;
    uint64_t state;
    unsigned bits, next;
    unsigned value[STEPS + 2], n; /* numbers of the width */
    unsigned word[2 * STEPS + 2], words;
} maker;

static unsigned draw(maker *r, unsigned n) { return draw_below(&r->state, n); }
static unsigned any_value(maker *r) { return r->value[draw(r, r->n)]; }
static unsigned any_word(maker *r) { return r->word[draw(r, r->words)]; }

/* A number near 0, or near an edge of some width. */
static uint64_t near_edge(uint64_t *state) {
    static const unsigned edges[] = {7, 8, 15, 16, 31, 32, 63};
    unsigned k = draw_below(state, 14);
    uint64_t edge = k < 7 ? UINT64_C(1) << edges[k] : 0;
    return edge + draw_below(state, 140) - 70;
}

static void put_bound(maker *r) {
    switch (draw(r, 5)) {
    case 0: ir_putf(&r->out, "%%size"); break;
    case 1: ir_putf(&r->out, "%%last"); break;
    case 2:
        ir_putf(&r->out, "i%u %lld", r->bits, (long long)ir_sext(near_edge(&r->state), r->bits));
        break;
    default: ir_putf(&r->out, "i%u %d", r->bits, (int)draw(r, 20) - 4); break;
    }
}

static void make_sum(maker *r) {
    static const char *const ops[] = {"add", "add", "add", "sub", "mul", "shl"};
    unsigned kind = draw(r, 6), v = r->next++;
    ir_putf(&r->out, "  %%v%u: i%u = %s %%v%u, ", v, r->bits, ops[kind], any_value(r));
    if (kind == 0)
        ir_putf(&r->out, "%%size\n");
    else if (kind == 3 && draw(r, 2))
        ir_putf(&r->out, "%%v%u\n", any_value(r));
    else
        ir_putf(&r->out, "%d\n", kind > 3 ? (int)draw(r, 4) : (int)draw(r, 24) - 12);
    r->value[r->n++] = v;
}

static void make_clamp(maker *r) {
    static const char *const ops[] = {"smin", "smax", "umin", "umax"};
    unsigned v = r->next++;
    ir_putf(&r->out, "  %%v%u: i%u = %s %%v%u, ", v, r->bits, ops[draw(r, 4)], any_value(r));
    put_bound(r);
    ir_putf(&r->out, "\n");
    r->value[r->n++] = v;
}

static void make_extension(maker *r) {
    unsigned w = r->next++, v = any_value(r);
    if (r->bits < 64)
        ir_putf(&r->out, "  %%w%u: i64 = %s %%v%u\n", w, draw(r, 2) ? "zext" : "sext", v);
    else
        ir_putf(&r->out, "  %%w%u: i64 = add %%v%u, 1\n", w, v);
    r->word[r->words++] = w;
}

static unsigned make_test(maker *r) {
    static const char *const ops[] = {"slt", "sle", "ult", "ule", "eq", "ne"};
    unsigned c = r->next++;
    bool left = draw(r, 2);
    ir_putf(&r->out, "  %%c%u: i1 = %s ", c, ops[draw(r, 6)]);
    if (left) ir_putf(&r->out, "%%v%u, ", any_value(r));
    put_bound(r);
    ir_putf(&r->out, left ? "\n" : ", %%v%u\n", any_value(r));
    return c;
}

static void make_choice(maker *r) {
    unsigned c = make_test(r), w = r->next++, x = any_word(r), y = any_word(r);
    if (draw(r, 2)) {
        unsigned d = make_test(r), both = r->next++;
        ir_putf(&r->out, "  %%c%u: i1 = %s %%c%u, %%c%u\n", both, draw(r, 2) ? "and" : "or", c, d);
        c = both;
    }
    if (draw(r, 2)) {
        ir_putf(&r->out, "  %%w%u: i64 = select %%c%u, %%w%u, %%w%u\n", w, c, x, y);
    } else {
        ir_putf(&r->out, "  br %%c%u, yes%u, no%u\n", c, w, w);
        ir_putf(&r->out, "yes%u:\n  %%a%u: i64 = mul %%w%u, 3\n  jmp join%u\n", w, w, x, w);
        ir_putf(&r->out, "no%u:\n  %%b%u: i64 = add %%w%u, 5\n  jmp join%u\n", w, w, y, w);
        ir_putf(&r->out, "join%u:\n  %%w%u: i64 = phi [yes%u: %%a%u, no%u: %%b%u]\n", w, w, w, w, w,
                w);
    }
    r->word[r->words++] = w;
}

/* An inner loop that adds up extended sums of its own counters and a number. */
static void make_inner(maker *r) {
    unsigned n = r->next++, v = any_value(r), bits = r->bits;
    ir_putf(&r->out, "  jmp pre%u\npre%u:\n  jmp loop%u\nloop%u:\n", n, n, n, n);
    ir_putf(&r->out, "  %%i%u: i%u = phi [pre%u: 0, loop%u: %%in%u]\n", n, bits, n, n, n);
    ir_putf(&r->out, "  %%g%u: i%u = phi [pre%u: %%size, loop%u: %%gn%u]\n", n, bits, n, n, n);
    ir_putf(&r->out, "  %%s%u: i64 = phi [pre%u: 0, loop%u: %%sn%u]\n", n, n, n, n);
    ir_putf(&r->out, "  %%t%u: i%u = add %%g%u, %%v%u\n", n, bits, n, v);
    ir_putf(&r->out, "  %%e%u: i64 = zext %%t%u\n", n, n);
    ir_putf(&r->out, "  %%sn%u: i64 = add %%s%u, %%e%u\n", n, n, n);
    ir_putf(&r->out, "  %%gn%u: i%u = add %%g%u, %s\n", n, bits, n, draw(r, 2) ? "%size" : "3");
    ir_putf(&r->out, "  %%in%u: i%u = add %%i%u, 1\n", n, bits, n);
    ir_putf(&r->out, "  %%go%u: i1 = %s %%in%u, ", n, draw(r, 2) ? "ult" : "slt", n);
    if (draw(r, 2))
        ir_put(&r->out, "%few\n");
    else
        ir_putf(&r->out, "i%u 4\n", bits);
    ir_putf(&r->out, "  br %%go%u, loop%u, end%u\nend%u:\n  %%w%u: i64 = add %%sn%u, 1\n", n, n, n,
            n, n, n);
    r->word[r->words++] = n;
}

static void make_steps(maker *r) {
    for (unsigned k = 0; k < STEPS; k++) switch (draw(r, 6)) {
        case 0: make_clamp(r); break;
        case 1: make_extension(r); break;
        case 2:
        case 3: make_choice(r); break;
        case 4:
            if (r->bits < 64 && draw(r, 2)) {
                make_inner(r);
                break;
            } /* fallthrough */
        default: make_sum(r); break;
        }
    make_extension(r);
}

/* An item writes a word; the sum of all words is the result. */
static void make_function(maker *r) {
    ir_putf(&r->out, "target 64\n@out: global [%d x i64] align 8\n", ITEMS);
    unsigned start = draw(r, 3), items = 1 + draw(r, ITEMS);
    char first[24] = "%start", end[24] = "%end";
    if (draw(r, 3) == 0) { /* the items are known */
        snprintf(first, sizeof first, "%u", start);
        snprintf(end, sizeof end, "i64 %u", start + items);
    }
    ir_put(&r->out, "func @f(%start: i64, %end: i64, %base: i64, %wide: i64): i64 export "
                    "level group {\nentry:\n");
    if (r->bits < 64)
        ir_putf(&r->out, "  %%size: i%u = trunc %%wide\n", r->bits);
    else
        ir_putf(&r->out, "  %%size: i64 = xor %%wide, 0\n");
    ir_putf(&r->out, "  %%last: i%u = add %%size, -1\n", r->bits);
    ir_putf(&r->out, "  %%few: i%u = and %%size, 7\n  jmp items\nitems: items\n", r->bits);
    ir_putf(&r->out, "  %%k: i64 = phi [entry: %s, end: %%next]\n", first);
    ir_putf(&r->out, "  %%id: i64 = add %%k, %s\n", draw(r, 3) ? "%base" : "0");
    ir_putf(&r->out, "  %%v0: i%u = %s %%id%s\n", r->bits, r->bits < 64 ? "trunc" : "add",
            r->bits < 64 ? "" : ", 0");
    ir_put(&r->out, "  %w0: i64 = mul %id, 7\n");
    make_steps(r);
    ir_putf(&r->out, "  jmp end\nend:\n  %%from: i64 = sub %%k, %s\n", first);
    ir_put(&r->out, "  %o: i64 = shl %from, 3\n  %p: ptr.global = ptradd @out, %o\n");
    unsigned last = r->word[r->words - 1];
    for (unsigned k = 0; k < 3; k++) {
        ir_putf(&r->out, "  %%h%u: i64 = mul %%%c%u, 31\n", k, k ? 'x' : 'w', k ? k - 1 : last);
        ir_putf(&r->out, "  %%x%u: i64 = xor %%h%u, %%w%u\n", k, k, any_word(r));
    }
    ir_putf(&r->out,
            "  store %%x2, %%p align 8\n  %%next: i64 = add %%k, 1 nsw nuw\n"
            "  %%more: i1 = ult %%next, %s\n  br %%more, items, sum\nsum:\n"
            "  %%n: i64 = sub %s, %s\n",
            end, end, first);
    ir_put(&r->out, "  jmp adding\nadding:\n"
                    "  %j: i64 = phi [sum: 0, adding: %jn]\n"
                    "  %all: i64 = phi [sum: 0, adding: %more_all]\n  %jo: i64 = shl %j, 3\n"
                    "  %jp: ptr.global = ptradd @out, %jo\n  %one: i64 = load %jp align 8\n"
                    "  %mixed: i64 = mul %all, 33\n  %more_all: i64 = add %mixed, %one\n"
                    "  %jn: i64 = add %j, 1\n  %again: i1 = ult %jn, %n\n"
                    "  br %again, adding, done\ndone:\n  ret %more_all\n}\n");
}

static void write(ir_text *out, uint64_t seed) {
    maker r = {.out = *out, .state = seed, .next = 1, .n = 1, .words = 1};
    r.bits = 8u << draw(&r, 4);
    if (draw(&r, 2)) r.bits = 32;
    make_function(&r);
    *out = r.out;
}

static void draw_arguments(uint64_t *state, ir_value args[LOOPS_ARGS]) {
    static const uint64_t starts[] = {0, 0, 0, 5, 200, UINT32_MAX - 40, INT64_MAX - 100};
    uint64_t start = starts[draw_below(state, 7)];
    args[0].bits[0] = start;
    args[1].bits[0] = start + 1 + draw_below(state, ITEMS);
    args[2].bits[0] = near_edge(state) - (draw_below(state, 2) ? start : 0);
    args[3].bits[0] = draw_below(state, 3) ? draw_below(state, 100) : near_edge(state);
}

/* A loop that is split leaves a part, until that is vectorized. */
static const random_loops parts = {write, draw_arguments, IR_LOOP_PART};

Test(indexsets, keep_the_meaning) {
    unsigned split = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        split += loops_after(&parts, "indexsets", seed, 4) > 0;
    cr_assert_gt(split, SEEDS * 3 / 4);
}

Test(indexsets, vectorize) {
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        cr_assert_eq(
            loops_after(&parts, "indexsets,vectorize", seed, seed % 5 ? 1u << seed % 5 : 0), 0);
}

Test(indexsets, the_whole_stage) {
    for (uint64_t seed = 0; seed < SEEDS / 3; seed++)
        loops_after(&parts, "vectors", seed, seed % 2 ? 8 : 0);
}

/* ---------------------------------------------------------------------------- many rows of items */

/* Items that add up elements of as many rows; where one begins is a number of 32 bits. */
static void make_column(ir_text *out, unsigned rows) {
    ir_put(out, "target 64\nfunc @f(%in: ptr.global, %out: ptr.global, %y: i32, %n: i64) "
                "level group {\nentry:\n");
    for (unsigned k = 0; k < rows; k++) ir_putf(out, "  %%r%u: i32 = xor %%y, %u\n", k, k * 1000);
    ir_put(out, "  jmp loop\nloop: items\n  %i: i64 = phi [entry: 0, loop: %next]\n"
                "  %x: i32 = trunc %i\n  %s0: f32 = bitcast %y\n");
    for (unsigned k = 0; k < rows; k++)
        ir_putf(out,
                "  %%a%u: i32 = add %%r%u, %%x\n  %%w%u: i64 = zext %%a%u\n"
                "  %%o%u: i64 = shl %%w%u, 2\n  %%p%u: ptr.global = ptradd %%in, %%o%u\n"
                "  %%v%u: f32 = load %%p%u align 4\n  %%s%u: f32 = fadd %%s%u, %%v%u\n",
                k, k, k, k, k, k, k, k, k, k, k + 1, k, k);
    ir_putf(out,
            "  %%o: i64 = shl %%i, 2\n  %%p: ptr.global = ptradd %%out, %%o\n"
            "  store %%s%u, %%p align 4\n  %%next: i64 = add %%i, 1 nsw nuw\n"
            "  %%more: i1 = ult %%next, %%n\n  br %%more, loop, done\ndone:\n  ret\n}\n",
            rows);
}

typedef struct {
    ir_ctx cx;
    ir_arena arena;
    unsigned rows, gathers, loads;
} column;

static bool takes_all(const ir_inst *i, unsigned level) {
    (void)i, (void)level;
    return true;
}

static void count_accesses(void *user) {
    column *c = user;
    ir_text text = {.arena = &c->arena};
    const ir_target target = {
        .vector_bytes = 64, .vector_registers = 32, .takes = takes_all, .has_masks = true};
    const pass_options options = {.passes = "indexsets,vectorize",
                                  .verify_each = true,
                                  .bisect = -1,
                                  .target = &target,
                                  .lanes = 16};
    make_column(&text, c->rows);
    ir_module *m = ir_parse(&c->cx, "column", text.data, text.n);
    cr_assert_not_null(m, "the function is read");
    cr_assert(pass_run(m, &options));
    foreach_block (b, ir_func_find(m, "f"))
        foreach_inst (i, b) {
            c->gathers += i->op == IR_OP_gather;
            c->loads += i->op == IR_OP_load && ir_is_vector(i->type);
        }
    ir_module_free(m);
}

Test(indexsets, columns_of_many_rows_are_loads) {
    static const unsigned rows[] = {1, 17, 49, 64};
    for (unsigned k = 0; k < 4; k++) {
        column c = {.rows = rows[k]};
        ir_arena_init(&c.arena, &c.cx);
        cr_assert(ir_try(&c.cx, count_accesses, &c));
        cr_expect_eq(c.gathers, 0, "%u rows have %u gathers", c.rows, c.gathers);
        cr_expect_eq(c.loads, c.rows, "%u rows have %u loads", c.rows, c.loads);
        ir_arena_free(&c.arena);
    }
}
