/* random_loops.h — text of small random functions made of counted loops, for property tests.
 *
 *   loops_make(&text, seed) -> "func @f(%a: i32, %b: i32): i32 export { … }"
 *
 * Loops nest; they are tested at the head, at the end or between, by every comparison, on the
 * counter or its next value, with counters of every width that may start anywhere and wrap.  They
 * break, carry a sum, use an array on the stack by index, and their values are used after them.
 * Most numbers of iterations are constants, some come from a parameter.  Every function ends, and
 * has one answer.
 */
#ifndef SPVFUSE_TESTS_RANDOM_LOOPS_H
#define SPVFUSE_TESTS_RANDOM_LOOPS_H

#include "ir/ir.h"
#include "tests/random.h"

enum { LOOPS_POOL = 32, LOOPS_WORDS = 8, LOOPS_DEPTH = 3 };

/* Values are numbered: %v3 is an i32 that may be used here. */
typedef struct {
    unsigned value[LOOPS_POOL], n;
} loops_pool;

typedef struct {
    ir_text *out;
    uint64_t state;
    unsigned next, statements;
    loops_pool pool;
} loops_maker;

static inline uint32_t loops_below(loops_maker *r, uint32_t n) { return draw_below(&r->state, n); }

static inline unsigned loops_any(loops_maker *r) {
    return r->pool.value[loops_below(r, r->pool.n)];
}

static inline unsigned loops_offer(loops_maker *r, unsigned v) {
    r->pool.value[r->pool.n < LOOPS_POOL ? r->pool.n++ : loops_below(r, LOOPS_POOL)] = v;
    return v;
}

static inline unsigned loops_arithmetic(loops_maker *r) {
    static const char *const ops[] = {"add", "sub", "mul", "xor", "and", "umin", "shl"};
    unsigned v = r->next++, x = loops_any(r), y = loops_any(r);
    const char *op = ops[loops_below(r, 7)];
    if (loops_below(r, 3))
        ir_putf(r->out, "  %%v%u: i32 = %s %%v%u, %%v%u\n", v, op, x, y);
    else
        ir_putf(r->out, "  %%v%u: i32 = %s %%v%u, %u\n", v, op, x, loops_below(r, 5));
    return loops_offer(r, v);
}

/* Reads or writes one word of the array. */
static inline void loops_memory(loops_maker *r) {
    unsigned k = r->next++, index = loops_any(r), x = loops_any(r);
    ir_putf(r->out, "  %%k%u: i32 = and %%v%u, %d\n", k, index, LOOPS_WORDS - 1);
    ir_putf(r->out, "  %%w%u: i64 = zext %%k%u\n  %%o%u: i64 = shl %%w%u, 2\n", k, k, k, k);
    ir_putf(r->out, "  %%p%u: ptr.private = ptradd %%m, %%o%u\n", k, k);
    if (loops_below(r, 2))
        ir_putf(r->out, "  store %%v%u, %%p%u align 4\n", x, k);
    else
        ir_putf(r->out, "  %%v%u: i32 = load %%p%u align 4\n", loops_offer(r, k), k);
}

static inline void loops_statements(loops_maker *r, unsigned depth);

static inline void loops_condition(loops_maker *r, unsigned k) {
    unsigned v = loops_arithmetic(r);
    ir_putf(r->out, "  %%z%u: i32 = and %%v%u, %u\n", k, v, 1 + loops_below(r, 7));
    ir_putf(r->out, "  %%d%u: i1 = eq %%z%u, i32 0\n", k, k);
}

static inline void loops_if(loops_maker *r, unsigned depth) {
    unsigned k = r->next++, other = loops_any(r);
    loops_condition(r, k);
    ir_putf(r->out, "  jmp if%u\nif%u:\n  br %%d%u, then%u, join%u\nthen%u:\n", k, k, k, k, k, k);
    loops_pool before = r->pool;
    loops_statements(r, depth);
    ir_putf(r->out, "  jmp end%u\nend%u:\n  jmp join%u\njoin%u:\n", k, k, k, k);
    ir_putf(r->out, "  %%v%u: i32 = phi [if%u: %%v%u, end%u: %%v%u]\n", k, k, other, k,
            loops_any(r));
    r->pool = before;
    loops_offer(r, k);
}

/* ---------------------------------------------------------------------------------------- loops */

typedef struct {
    unsigned number, bits;
    uint64_t init, step, limit;
    const char *op;
    bool left, stay, on_next, by_value; /* by_value: the limit is a parameter, not a constant */
} loops_counter;

static inline bool loops_goes_on(const loops_counter *c, uint64_t counter) {
    uint64_t x = ir_zext(counter + (c->on_next ? c->step : 0), c->bits), y = c->limit;
    uint64_t a = c->left ? x : y, b = c->left ? y : x;
    int64_t sa = ir_sext(a, c->bits), sb = ir_sext(b, c->bits);
    bool result = strcmp(c->op, "ult") == 0   ? a < b
                  : strcmp(c->op, "ule") == 0 ? a <= b
                  : strcmp(c->op, "slt") == 0 ? sa < sb
                  : strcmp(c->op, "sle") == 0 ? sa <= sb
                  : strcmp(c->op, "eq") == 0  ? a == b
                                              : a != b;
    return result == c->stay;
}

static inline bool loops_ends(const loops_counter *c, unsigned rounds) {
    uint64_t x = c->init;
    for (unsigned k = 0; k < rounds; k++, x += c->step)
        if (!loops_goes_on(c, x)) return true;
    return false;
}

/* Up to the parameter, or down to it: in fewer rounds, of which only the most are known. */
static inline loops_counter loops_by_value(loops_maker *r, unsigned number) {
    loops_counter c = {.number = number, .bits = 32, .by_value = true};
    if (loops_below(r, 2)) {
        c.step = 1;
        c.op = "slt";
        c.left = c.stay = true;
    } else {
        c.init = 1 + loops_below(r, 7);
        c.step = ir_zext(UINT64_MAX, c.bits);
        c.stay = loops_below(r, 2);
        c.op = c.stay ? "ult" : "ule";
        c.left = !c.stay;
        c.on_next = loops_below(r, 2);
    }
    return c;
}

static inline loops_counter loops_any_counter(loops_maker *r, unsigned number) {
    static const char *const ops[] = {"ult", "ule", "slt", "sle", "eq", "ne"};
    loops_counter c = {.number = number};
    do {
        c.bits = 8u << loops_below(r, 4);
        c.op = ops[loops_below(r, 6)];
        c.init = ir_zext((uint64_t)loops_below(r, 12) - 6, c.bits);
        c.step = ir_zext((uint64_t)loops_below(r, 9) - 4, c.bits);
        c.limit = ir_zext((uint64_t)loops_below(r, 32) - 12, c.bits);
        c.left = loops_below(r, 2);
        c.stay = loops_below(r, 2);
        c.on_next = loops_below(r, 2);
    } while (!loops_ends(&c, 1 + loops_below(r, 12)));
    if (loops_below(r, 6) == 0) c = loops_by_value(r, number);
    return c;
}

/* Counters of 32 bits and more never wrap here. */
static inline void loops_next(loops_maker *r, const loops_counter *c) {
    ir_putf(r->out, "  %%n%u: i%u = add %%c%u, %lld%s\n", c->number, c->bits, c->number,
            (long long)ir_sext(c->step, c->bits), c->bits >= 32 ? " nsw" : "");
}

static inline void loops_test(loops_maker *r, const loops_counter *c, const char *on) {
    unsigned n = c->number;
    char x[24], y[32];
    snprintf(x, sizeof x, "%%%s%u", c->on_next ? "n" : "c", n);
    snprintf(y, sizeof y, "i%u %lld", c->bits, (long long)ir_sext(c->limit, c->bits));
    if (c->by_value) snprintf(y, sizeof y, "%%bound");
    if (c->on_next) loops_next(r, c);
    ir_putf(r->out, "  %%t%u: i1 = %s %s, %s\n", n, c->op, c->left ? x : y, c->left ? y : x);
    ir_putf(r->out, "  br %%t%u, %s%u, %s%u\n", n, c->stay ? on : "exit", n, c->stay ? "exit" : on,
            n);
}

/* The counter as an i32. */
static inline void loops_read(loops_maker *r, const loops_counter *c) {
    unsigned v = loops_offer(r, r->next++);
    const char *how = c->bits > 32 ? "trunc" : loops_below(r, 2) ? "zext" : "sext";
    if (c->bits != 32)
        ir_putf(r->out, "  %%v%u: i32 = %s %%c%u\n", v, how, c->number);
    else if (loops_below(r, 2))
        ir_putf(r->out, "  %%e%u: i64 = sext %%c%u\n  %%v%u: i32 = trunc %%e%u\n", v, c->number, v,
                v);
    else
        ir_putf(r->out, "  %%v%u: i32 = add %%c%u, %u\n", v, c->number, loops_below(r, 2));
}

/* The sum, the counter, and one or two more that run in step with it or do not. */
static inline void loops_head(loops_maker *r, const loops_counter *c, unsigned start) {
    unsigned n = c->number;
    long long init = (long long)ir_sext(c->init, c->bits),
              step = (long long)ir_sext(c->step, c->bits);
    ir_putf(r->out, "  jmp pre%u\npre%u:\n  jmp head%u\nhead%u:\n", n, n, n, n);
    ir_putf(r->out, "  %%c%u: i%u = phi [pre%u: %lld, latch%u: %%n%u]\n", n, c->bits, n, init, n,
            n);
    ir_putf(r->out, "  %%v%u: i32 = phi [pre%u: %%v%u, latch%u: %%s%u]\n", loops_offer(r, n), n,
            start, n, n);
    unsigned v = r->next++, shift = loops_below(r, 3);
    if (loops_below(r, 2)) init = loops_below(r, 9);
    ir_putf(r->out, "  %%u%u: i32 = phi [pre%u: %lld, latch%u: %%un%u]\n", n, n, init, n, n);
    ir_putf(r->out, "  %%uu%u: i%u = phi [pre%u: %lld, latch%u: %%uun%u]\n", n, c->bits, n,
            init * (1 << shift), n, n);
    ir_putf(r->out, "  %%un%u: i32 = add %%u%u, %u\n", n, n, 1 + loops_below(r, 4));
    ir_putf(r->out, "  %%uun%u: i%u = add %%uu%u, %lld\n", n, c->bits, n, step * (1 << shift));
    ir_putf(r->out, "  %%uc%u: i1 = slt %%uu%u, i%u 9\n", n, n, c->bits);
    ir_putf(r->out, "  %%v%u: i32 = select %%uc%u, %%u%u, %%v%u\n", v, n, n, n);
    loops_offer(r, v);
    loops_read(r, c);
}

static inline void loops_break(loops_maker *r, unsigned n) {
    unsigned k = r->next++;
    loops_condition(r, k);
    ir_putf(r->out, "  br %%d%u, exit%u, more%u\nmore%u:\n", k, n, k, k);
}

static inline void loops_loop(loops_maker *r, unsigned depth) {
    loops_counter c = loops_any_counter(r, r->next++);
    unsigned n = c.number, form = loops_below(r, 3);
    bool breaks = loops_below(r, 3) == 0;
    loops_head(r, &c, loops_any(r));
    loops_pool after = r->pool;
    if (form == 0) {
        loops_test(r, &c, "body");
        ir_putf(r->out, "body%u:\n", n);
    }
    loops_statements(r, depth);
    if (breaks) loops_break(r, n);
    if (form == 1) {
        if (!breaks) after = r->pool;
        loops_test(r, &c, "body");
        ir_putf(r->out, "body%u:\n", n);
        loops_statements(r, depth);
    }
    ir_putf(r->out, "  %%s%u: i32 = add %%v%u, %%v%u\n", n, loops_any(r), n);
    if (form != 2) ir_putf(r->out, "  jmp latch%u\nlatch%u:\n", n, n);
    if (form != 2 && !c.on_next) loops_next(r, &c);
    if (form != 2) ir_putf(r->out, "  jmp head%u\n", n);
    if (form == 2) {
        if (!breaks) after = r->pool;
        ir_putf(r->out, "  jmp latch%u\nlatch%u:\n", n, n);
        if (!c.on_next) loops_next(r, &c);
        loops_test(r, &c, "head");
    }
    ir_putf(r->out, "exit%u:\n", n);
    r->pool = after;
}

static inline void loops_statements(loops_maker *r, unsigned depth) {
    for (unsigned k = 1 + loops_below(r, 4); k > 0 && r->statements < 60; k--) {
        r->statements++;
        unsigned kind = loops_below(r, 8);
        if (kind < 2 && depth < LOOPS_DEPTH)
            loops_loop(r, depth + 1);
        else if (kind == 2 && depth <= LOOPS_DEPTH)
            loops_if(r, depth + 1);
        else if (kind < 5)
            loops_memory(r);
        else
            loops_arithmetic(r);
    }
}

static inline void loops_make(ir_text *out, uint64_t seed) {
    loops_maker r = {.out = out, .state = seed * 2 + 1, .next = 2, .pool = {{0, 1}, 2}};
    ir_put(out, "func @f(%v0: i32, %v1: i32): i32 export {\nentry:\n");
    ir_putf(out, "  %%m: ptr.private = alloca [%d x i32] align 4\n", LOOPS_WORDS);
    ir_putf(out, "  fill %%m, i8 1, i64 %d align 4\n  %%bound: i32 = and %%v0, 7\n",
            LOOPS_WORDS * 4);
    loops_loop(&r, 1);
    loops_statements(&r, 0);
    unsigned sum = loops_any(&r);
    for (unsigned k = 0; k < LOOPS_WORDS; k++) {
        ir_putf(out, "  %%q%u: ptr.private = ptradd %%m, %u\n", k, 4 * k);
        ir_putf(out, "  %%r%u: i32 = load %%q%u align 4\n", k, k);
        ir_putf(out, "  %%x%u: i32 = mul %%%s%u, 31\n", k, k ? "y" : "v", k ? k - 1 : sum);
        ir_putf(out, "  %%y%u: i32 = add %%x%u, %%r%u\n", k, k, k);
    }
    ir_putf(out, "  ret %%y%d\n}\n", LOOPS_WORDS - 1);
}

#endif
