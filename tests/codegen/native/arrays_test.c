/* arrays_test.c — loops over items with private arrays, as vectors.
 *
 * An item fills an array, stores and loads elements at random, under a mask or not, and writes what
 * it has loaded.  An index is a constant, the number of a round of an inner loop, or what memory
 * holds for the item; elements are those of the array, vectors of them, or twice as wide.  All bytes
 * of the result are compared with those of the scalar loop.
 */
#include "passes/passes.h"
#include "tests/codegen/native/levels.h"
#include "tests/native_call.h"
#include "tests/random.h"
#include "tests/report.h"

#include <criterion/criterion.h>

enum { CASES = RANDOM_CASES(1000), ITEMS = 200, MOST = 10 };

static const char *const names[] = {"i8", "i16", "i32", "i64", "f32"};
static const unsigned sizes[] = {1, 2, 4, 8, 4};

typedef enum { CONSTANT, ROUND, OWN } index_kind;

typedef struct {
    uint64_t random;
    ir_text text;
    unsigned type, elements, rounds, lanes, items;
    unsigned numbers;
    unsigned last; /* number of a value of 64 bits */
} subject;

static unsigned below(subject *s, unsigned n) { return draw_below(&s->random, n); }

static unsigned new_number(subject *s) { return ++s->numbers; }

/* One of the first elements, in bytes: %d and a number. */
static unsigned put_distance(subject *s, unsigned room) {
    unsigned i = new_number(s), step = room > 3 && below(s, 2) ? 2 : 1;
    index_kind kind = (index_kind)below(s, 3);
    if (kind == CONSTANT) {
        ir_putf(&s->text, "  %%d%u: i64 = add i64 0, %u\n", i, below(s, room) * sizes[s->type]);
        return i;
    }
    const char *from = kind == ROUND ? "%round" : "%own";
    ir_putf(&s->text, "  %%h%u: i64 = lshr %s, %u\n", i, from, below(s, 4));
    ir_putf(&s->text, "  %%r%u: i64 = urem %%h%u, %u\n", i, i, (room + step - 1) / step);
    unsigned bytes = step * sizes[s->type], last = ((room + step - 1) / step - 1) * bytes;
    bool is_reversed = below(s, 2);
    ir_putf(&s->text, "  %%%c%u: i64 = mul %%r%u, %u\n", is_reversed ? 'm' : 'd', i, i, bytes);
    if (is_reversed) ir_putf(&s->text, "  %%d%u: i64 = sub i64 %u, %%m%u\n", i, last, i);
    return i;
}

/* The address of n elements, %p and a number, by one distance or the sum of two. */
static unsigned put_address(subject *s, unsigned n) {
    unsigned room = s->elements - n + 1, first = below(s, 2) ? room : (room + 1) / 2;
    unsigned d = put_distance(s, first), p = new_number(s);
    if (first == room) {
        ir_putf(&s->text, "  %%p%u: ptr.private = ptradd %%array, %%d%u\n", p, d);
        return p;
    }
    unsigned more = put_distance(s, room - first + 1);
    ir_putf(&s->text, "  %%q%u: ptr.private = ptradd %%array, %%d%u\n", p, d);
    ir_putf(&s->text, "  %%p%u: ptr.private = ptradd %%q%u, %%d%u\n", p, p, more);
    return p;
}

/* The type of an access of some elements: a vector of them, or an integer. */
static unsigned choose_access(subject *s, char *type, size_t size) {
    unsigned bytes = sizes[s->type];
    snprintf(type, size, "%s", names[s->type]);
    if (s->elements < 4 || below(s, 3)) return 1;
    if (bytes < 8 && below(s, 2)) {
        snprintf(type, size, "i%u", 16 * bytes);
        return 2;
    }
    snprintf(type, size, "v4%s", names[s->type]);
    return 4;
}

static void put_store(subject *s) {
    char type[16];
    unsigned n = choose_access(s, type, sizeof type), d = put_address(s, n);
    bool is_whole = n == 4, is_float = strchr(type, 'f');
    const char *elem = is_whole ? names[s->type] : type;
    ir_putf(&s->text, "  %%v%u: %s = ", d, elem);
    if (is_float)
        ir_putf(&s->text, "uitofp %%x%u\n", s->last);
    else if (strcmp(elem, "i64") == 0)
        ir_putf(&s->text, "add %%x%u, 1\n", s->last);
    else
        ir_putf(&s->text, "trunc %%x%u\n", s->last);
    if (is_whole) {
        ir_putf(&s->text, "  %%w%u: %s = vec %%v%u, %%v%u, %%v%u, %%v%u\n", d, type, d, d, d, d);
        ir_putf(&s->text, "  store %%w%u, %%p%u align 1\n", d, d);
    } else {
        ir_putf(&s->text, "  store %%v%u, %%p%u align 1\n", d, d);
    }
}

/* Adds what is loaded to the last value. */
static void put_load(subject *s) {
    char type[16];
    unsigned n = choose_access(s, type, sizeof type), d = put_address(s, n), from = d;
    ir_putf(&s->text, "  %%v%u: %s = load %%p%u align 1\n", d, type, d);
    if (below(s, 3) == 0) {
        unsigned to = put_address(s, n); /* a copy */
        ir_putf(&s->text, "  store %%v%u, %%p%u align 1\n", d, to);
    }
    const char *elem = n == 4 ? names[s->type] : type, *value = n == 4 ? "e" : "v";
    if (n == 4) ir_putf(&s->text, "  %%e%u: %s = extract %%v%u, i32 %u\n", d, elem, d, below(s, 4));
    if (elem[0] == 'f') {
        ir_putf(&s->text, "  %%b%u: i32 = bitcast %%%s%u\n", d, value, d);
        value = "b";
        elem = "i32";
    }
    if (strcmp(elem, "i64") != 0) {
        ir_putf(&s->text, "  %%z%u: i64 = zext %%%s%u\n", d, value, d);
        value = "z";
    }
    ir_putf(&s->text, "  %%x%u: i64 = add %%x%u, %%%s%u\n", from, s->last, value, d);
    s->last = from;
}

/* What is in the array at last goes to the result. */
static void put_end(subject *s) {
    const char *name = names[s->type];
    bool is_float = name[0] == 'f';
    ir_put(&s->text, "  %s0: i64 = add %sum, 0\n");
    for (unsigned n = 0; n < s->elements; n++) {
        ir_putf(&s->text, "  %%a%u: ptr.private = ptradd %%array, i64 %u\n", n, n * sizes[s->type]);
        ir_putf(&s->text, "  %%l%u: %s = load %%a%u align 1\n", n, is_float ? "i32" : name, n);
        if (sizes[s->type] < 8) ir_putf(&s->text, "  %%y%u: i64 = zext %%l%u\n", n, n);
        ir_putf(&s->text, "  %%t%u: i64 = mul %%s%u, 31\n", n, n);
        ir_putf(&s->text, "  %%s%u: i64 = add %%t%u, %%%c%u\n", n + 1, n,
                sizes[s->type] < 8 ? 'y' : 'l', n);
    }
}

/* A part of the items does the accesses. */
static void put_kernel(subject *s) {
    bool is_masked = below(s, 2);
    unsigned bytes = s->elements * sizes[s->type];
    ir_putf(&s->text,
            "target 64\nfunc @f(%%in: i64, %%out: i64, %%n: i64) level group {\nentry:\n"
            "  %%array: ptr.private = alloca [%u x i8] align 8\n"
            "  %%a: ptr.global = inttoptr %%in\n  %%b: ptr.global = inttoptr %%out\n  jmp loop\n"
            "loop: items\n  %%k: i64 = phi [entry: 0, latch: %%next]\n"
            "  %%o: i64 = shl %%k, 3\n  %%p: ptr.global = ptradd %%a, %%o\n"
            "  %%own: i64 = load %%p align 8\n  fill %%array, i8 %u, i64 %u align 1\n  jmp inner\n"
            "inner:\n  %%round: i64 = phi [loop: 0, join: %%round1]\n"
            "  %%x0: i64 = phi [loop: %%k, join: %%sum]\n",
            bytes, below(s, 256), bytes);
    ir_put(&s->text, "  %bit: i64 = and %own, 1\n  %odd: i1 = ne %bit, i64 0\n");
    ir_put(&s->text, is_masked ? "  br %odd, body, join\n" : "  jmp body\n");
    ir_put(&s->text, "body:\n");
    s->last = 0;
    for (unsigned n = 1 + below(s, MOST); n-- > 0;)
        if (below(s, 2))
            put_store(s);
        else
            put_load(s);
    ir_putf(&s->text, "  jmp join\njoin:\n  %%sum: i64 = phi [%sbody: %%x%u]\n",
            is_masked ? "inner: %x0, " : "", s->last);
    ir_putf(&s->text,
            "  %%round1: i64 = add %%round, 1\n  %%again: i1 = ult %%round1, i64 %u\n"
            "  br %%again, inner, latch\nlatch:\n  %%q: ptr.global = ptradd %%b, %%o\n",
            s->rounds);
    put_end(s);
    ir_putf(&s->text,
            "  store %%s%u, %%q align 8\n  %%next: i64 = add %%k, 1 nsw nuw\n"
            "  %%more: i1 = ult %%next, %%n\n  br %%more, loop, done\ndone:\n  ret\n}\n",
            s->elements);
}

static void run(const subject *s, unsigned level, unsigned lanes, const uint64_t *in,
                uint64_t *out) {
    ir_ctx cx = {.report = print_message};
    ir_value args[3] = {{.bits[0] = (uintptr_t)in},
                        {.bits[0] = (uintptr_t)out},
                        {.bits[0] = s->items}},
             got = {0};
    const ir_target target = cg_host_machine()->describe(level);
    const pass_options vector = {.passes = "vectorize,mem2reg,simplify,gvn,dce",
                                 .verify_each = true,
                                 .bisect = -1,
                                 .target = &target,
                                 .lanes = lanes};
    const native_way way = {.code = {.level = level, .regalloc.check = true}};
    ir_module *m = ir_parse(&cx, "arrays", s->text.data, s->text.n);
    cr_assert(m && ir_verify_module(m), "%s", s->text.data);
    if (lanes > 1) cr_assert(pass_run(m, &vector));
    cr_assert_eq(native_call(m->first_func, &way, args, &got), NATIVE_DONE, "%s", s->text.data);
    ir_module_free(m);
}

static void check(unsigned level, uint64_t seed) {
    static uint64_t in[ITEMS], want[ITEMS], out[ITEMS];
    ir_ctx cx = {.report = print_message};
    ir_arena arena;
    subject s = {.random = seed};
    ir_arena_init(&arena, &cx);
    s.text.arena = &arena;
    s.type = below(&s, 5);
    s.elements = 1 + below(&s, below(&s, 3) ? 10 : 40);
    s.rounds = 1 + below(&s, 4);
    s.lanes = 2u << below(&s, 6);
    s.items = 1 + below(&s, ITEMS);
    for (unsigned n = 0; n < ITEMS; n++) in[n] = splitmix64(&s.random);
    put_kernel(&s);
    memset(want, 0, sizeof want);
    memset(out, 0, sizeof out);
    run(&s, level, 1, in, want);
    run(&s, level, s.lanes, in, out);
    for (unsigned n = 0; n < ITEMS; n++)
        cr_assert_eq(out[n], want[n], "seed %llu, item %u of %u, %u lanes\n%s",
                     (unsigned long long)seed, n, s.items, s.lanes, s.text.data);
    ir_arena_free(&arena);
}

TEST_LEVELS(arrays, CASES, check)
