/* members_test.c — loops over items that access members of structures, as vectors.
 *
 * Random accesses of a few elements of each item, whose stride is a few elements, under a mask or
 * not, in order or through a second pointer, are compared with the scalar loop.  The memory of the
 * items begins or ends with what the first or the last of them accesses, and pages around it may
 * not be accessed: a lane too many ends the test.
 */
#define _DEFAULT_SOURCE
#include "passes/passes.h"
#include "tests/codegen/native/levels.h"
#include "tests/guarded.h"
#include "tests/native_call.h"
#include "tests/random.h"
#include "tests/report.h"

#include <criterion/criterion.h>

enum { PAGES = 8, CASES = RANDOM_CASES(1500), MOST = 12 };

static const char *const names[] = {"i8", "i16", "i32", "i64", "f32", "f64"};
static const unsigned sizes[] = {1, 2, 4, 8, 4, 8};

typedef struct {
    bool stores;
    unsigned at, components; /* elements */
    bool is_aside;           /* through the second pointer */
} member;

typedef struct {
    uint64_t random;
    unsigned type, k, items, lanes;
    unsigned first, end; /* elements of an item that are accessed */
    bool is_masked;
    member access[MOST];
    unsigned n;
    uint8_t *memory, *start; /* the pages, and what is in them at first */
    size_t bytes;
} subject;

static unsigned below(subject *s, unsigned n) { return draw_below(&s->random, n); }

/* --------------------------------------------------------------------------------------- a kernel */

static void choose(subject *s) {
    static const uint8_t components[] = {1, 1, 1, 1, 2, 3, 4};
    s->type = below(s, 6);
    s->k = 2 + below(s, below(s, 4) ? 7 : 15);
    s->lanes = 2u << below(s, 6);
    s->items = 1 + below(s, 3 * s->lanes);
    s->is_masked = below(s, 3) == 0;
    s->n = 1 + below(s, MOST);
    s->first = s->k;
    s->end = 0;
    for (unsigned n = 0; n < s->n; n++) {
        member *a = &s->access[n];
        a->components = components[below(s, 7)];
        if (a->components > s->k) a->components = 1;
        a->at = below(s, s->k - a->components + 1);
        a->stores = below(s, 2);
        a->is_aside = below(s, 4) == 0;
        if (a->at < s->first) s->first = a->at;
        if (a->at + a->components > s->end) s->end = a->at + a->components;
    }
}

static void put_type(ir_text *t, const subject *s, const member *a) {
    if (a->components > 1) ir_putf(t, "v%u", a->components);
    ir_put(t, names[s->type]);
}

/* A value of n components that depends on what was loaded, and on the access. */
static void put_value(ir_text *t, const subject *s, unsigned n) {
    const member *a = &s->access[n];
    bool is_float = names[s->type][0] == 'f';
    ir_putf(t, "  %%w%u: ", n);
    put_type(t, s, a);
    for (unsigned k = n; k-- > 0;) {
        const member *from = &s->access[k];
        if (from->stores || from->components != a->components) continue;
        ir_putf(t, " = %s %%v%u, %%v%u\n", is_float ? "fadd" : "add", k, k);
        return;
    }
    ir_put(t, " = ");
    if (a->components > 1) {
        ir_put(t, "vec ");
        for (unsigned c = 0; c < a->components; c++) ir_put(t, c ? ", %own" : "%own");
        ir_put(t, "\n");
    } else {
        ir_putf(t, "%s %%own, %%own\n", is_float ? "fadd" : "add");
    }
}

static void put_access(ir_text *t, const subject *s, unsigned n) {
    const member *a = &s->access[n];
    unsigned bytes = sizes[s->type];
    ir_putf(t, "  %%p%u: ptr.global = ptradd %s, i64 %u\n", n, a->is_aside ? "%q" : "%p",
            a->at * bytes);
    if (a->stores) {
        put_value(t, s, n);
        ir_putf(t, "  store %%w%u, %%p%u align %u\n", n, n, bytes);
        return;
    }
    ir_putf(t, "  %%v%u: ", n);
    put_type(t, s, a);
    ir_putf(t, " = load %%p%u align %u\n", n, bytes);
}

/* Items whose number is odd do nothing if it is masked. */
static void put_kernel(ir_text *t, const subject *s) {
    const char *name = names[s->type];
    ir_put(t, "target 64\nfunc @f(%x: i64, %y: i64, %n: i64) level group {\nentry:\n"
              "  %a: ptr.global = inttoptr %x\n  %b: ptr.global = inttoptr %y\n  jmp loop\n"
              "loop: items\n  %k: i64 = phi [entry: 0, latch: %next]\n");
    ir_putf(t, "  %%o: i64 = mul %%k, %u\n", s->k * sizes[s->type]);
    ir_put(t, "  %p: ptr.global = ptradd %a, %o\n  %q: ptr.global = ptradd %b, %o\n"
              "  %odd: i64 = and %k, 1\n  %c: i1 = eq %odd, i64 0\n");
    ir_put(t, s->is_masked ? "  br %c, body, latch\n" : "  jmp body\n");
    ir_put(t, "body:\n");
    if (name[0] == 'f')
        ir_putf(t, "  %%own: %s = uitofp %%k\n", name);
    else
        ir_putf(t, "  %%own: %s = %s\n", name, name[1] == '6' ? "add %k, 3" : "trunc %k");
    for (unsigned n = 0; n < s->n; n++) put_access(t, s, n);
    ir_put(t, "  jmp latch\nlatch:\n  %next: i64 = add %k, 1 nsw nuw\n"
              "  %more: i1 = ult %next, %n\n  br %more, loop, done\ndone:\n  ret\n}\n");
}

/* --------------------------------------------------------------------------------------- memory */

static void open_memory(subject *s) {
    s->memory = guarded_open(PAGES);
    s->bytes = PAGES * guarded_page();
    s->start = malloc(s->bytes);
}

static void close_memory(subject *s) {
    guarded_close(s->memory, PAGES);
    free(s->start);
}

/* The address of the elements of item 0: what items access ends or begins with the pages. */
static uint64_t place_items(subject *s) {
    uint64_t size = sizes[s->type], at = (uint64_t)(uintptr_t)s->memory;
    unsigned last = s->items - 1;
    if (s->is_masked) last -= last % 2;
    if (below(s, 2)) return at - s->first * size;
    return at + s->bytes - (last * s->k + s->end) * size;
}

/* ----------------------------------------------------------------------------------------- cases */

static void run(const subject *s, unsigned level, unsigned lanes, uint64_t base, uint64_t seed) {
    ir_ctx cx = {.report = print_message};
    ir_text text = {0};
    ir_value args[3] = {{.bits[0] = base}, {.bits[0] = base}, {.bits[0] = s->items}}, got = {0};
    const ir_target target = cg_host_machine()->describe(level);
    const pass_options vector = {.passes = "vectorize,simplify,gvn,dce",
                                 .verify_each = true,
                                 .bisect = -1,
                                 .target = &target,
                                 .lanes = lanes};
    const native_way way = {.code = {.level = level, .regalloc.check = true}};
    ir_arena arena;
    ir_arena_init(&arena, &cx);
    text.arena = &arena;
    put_kernel(&text, s);
    ir_module *m = ir_parse(&cx, "members", text.data, text.n);
    cr_assert(m && ir_verify_module(m), "seed %llu", (unsigned long long)seed);
    if (lanes > 1) cr_assert(pass_run(m, &vector));
    cr_assert_eq(native_call(m->first_func, &way, args, &got), NATIVE_DONE, "seed %llu",
                 (unsigned long long)seed);
    ir_module_free(m);
    ir_arena_free(&arena);
}

static void check(unsigned level, uint64_t seed) {
    subject own = {.random = seed}, *s = &own;
    open_memory(s);
    uint8_t *want = malloc(s->bytes);
    choose(s);
    uint64_t base = place_items(s);
    for (size_t n = 0; n < s->bytes; n++) s->start[n] = (uint8_t)(splitmix64(&s->random) >> 8 & 63);
    memcpy(s->memory, s->start, s->bytes);
    run(s, level, 1, base, seed);
    memcpy(want, s->memory, s->bytes);
    memcpy(s->memory, s->start, s->bytes);
    run(s, level, s->lanes, base, seed);
    cr_assert_eq(memcmp(s->memory, want, s->bytes), 0, "seed %llu: %u items, %u lanes of %u %s",
                 (unsigned long long)seed, s->items, s->lanes, s->k, names[s->type]);
    free(want);
    close_memory(s);
}

TEST_LEVELS(members, CASES, check)
