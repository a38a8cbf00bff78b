/* core_test.c — memory, types, use lists, blocks and edges, symbols, the builder. */
#include "ir/build.h"
#include "ir/ir.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

static ir_ctx cx;
static ir_module *m;
static ir_func *f;
static ir_builder b;

/* A function f(i32, i32): i32 with an empty entry block. */
static void open_function(void *unused) {
    (void)unused;
    m = ir_module_new(&cx, "test", 64);
    f = ir_func_new(m, "f", IR_I32, 2, (ir_type[]){IR_I32, IR_I32});
    ir_builder_init(&b, f);
    ir_at_end(&b, ir_block_new(f, "entry"));
}

static void setup(void) {
    cx = (ir_ctx){0};
    cr_assert(ir_try(&cx, open_function, NULL));
}

static void teardown(void) {
    ir_module_free(m);
    cr_assert_eq(cx.used, 0, "arenas give everything back");
}

TestSuite(core, .init = setup, .fini = teardown);

/* --------------------------------------------------------------------------------------- memory */

static void allocate_much(void *arg) {
    ir_arena *a = arg;
    for (int i = 0; i < 1000; i++) memset(ir_alloc(a, 10000), 1, 10000);
}

Test(core, memory_limit_throws_and_frees) {
    ir_ctx limited = {.limit = 1 << 20};
    ir_arena a;
    ir_arena_init(&a, &limited);
    cr_assert_not(ir_try(&limited, allocate_much, &a));
    cr_assert_eq(limited.status, IR_ERR_MEMORY);
    cr_assert_leq(limited.used, limited.limit);
    ir_arena_free(&a);
    cr_assert_eq(limited.used, 0);
}

typedef struct {
    unsigned allocated, held;
} counts;

static void *count_block(void *user, size_t bytes) {
    counts *n = user;
    n->allocated++;
    n->held++;
    return malloc(bytes);
}

static void count_release(void *user, void *block) {
    counts *n = user;
    n->held -= block != NULL;
    free(block);
}

static void allocate_some(void *arg) {
    ir_arena *a = arg;
    for (int i = 0; i < 100; i++) {
        char *block = ir_alloc(a, 1000);
        for (int k = 0; k < 1000; k++) cr_assert_eq(block[k], 0, "blocks are zeroed");
        memset(block, 1, 1000);
    }
}

Test(core, a_context_keeps_freed_memory) {
    counts n = {0};
    ir_ctx keeping = {.allocate = count_block,
                      .release = count_release,
                      .alloc_user = &n,
                      .keep = 256 << 10,
                      .limit = 400 << 10};
    ir_arena a;
    ir_arena_init(&a, &keeping);
    for (int round = 0; round < 10; round++) {
        cr_assert(ir_try(&keeping, allocate_some, &a));
        ir_arena_free(&a);
        cr_assert_eq(keeping.used, 0);
        cr_assert_leq(keeping.spared, keeping.keep);
    }
    cr_assert_leq(n.allocated, n.held + 1, "later rounds allocate nothing that could be kept");
    cr_assert_gt(n.held, 0);
    ir_alloc(&a, 300 << 10); /* does not fit beside what is kept */
    cr_assert_eq(n.held, 1);
    ir_arena_free(&a);
    ir_ctx_trim(&keeping);
    cr_assert_eq(n.held, 0);
    cr_assert_eq(keeping.spared, 0);
}

/* Of freed memory that a context keeps, the sanitizer still sees every use. */
#if defined(__SANITIZE_ADDRESS__)
Test(core, kept_memory_is_poisoned) {
    ir_ctx keeping = {.keep = 1 << 20};
    ir_arena a;
    ir_arena_init(&a, &keeping);
    char *first = ir_alloc(&a, 100), *last = ir_alloc(&a, 100);
    ir_arena_free(&a);
    cr_expect(__asan_address_is_poisoned(first));
    cr_expect(__asan_address_is_poisoned(last + 99));
    cr_assert_eq(ir_alloc(&a, 100), (void *)first, "the chunk was kept");
    cr_expect_not(__asan_address_is_poisoned(first));
    cr_expect_not(__asan_address_is_poisoned(last + 99));
    ir_arena_free(&a);
    ir_ctx_trim(&keeping);
}
#endif

static void format(void *arg) {
    ir_text t = {.arena = arg};
    char want[2000];
    const char *fmt = "%s: %u of %llu, %d, %lld%c%d %5.2f%% '%s' %c%u %llu|";
    for (int i = 0; i < 40; i++) {
        unsigned n = 3u * (unsigned)i << i % 30;
        unsigned long long big = i ? ~0ULL / (unsigned)i : 0;
        const char *name =
            i % 2 ? "" : "a long name that makes the text grow over its start of 256";
        long long low = i ? -(long long)(big / 2) : LLONG_MIN;
#define ARGS name, n, big, -i, low, 'x', INT_MIN + i, i * 0.37, name, 'c', UINT_MAX, 10ULL
        snprintf(want, sizeof want, fmt, ARGS);
        size_t at = t.n;
        ir_putf(&t, fmt, ARGS);
        cr_expect_str_eq(t.data + at, want);
        cr_expect_str_eq(ir_sprintf(arg, fmt, ARGS), want);
#undef ARGS
    }
    cr_expect_str_eq(ir_sprintf(arg, "%s", ""), "");
    cr_expect_str_eq(ir_sprintf(arg, "%0300d", 7) + 298, "07");
}

Test(core, text_is_formatted_as_the_library_does) {
    ir_arena a;
    ir_arena_init(&a, &cx);
    cr_assert(ir_try(&cx, format, &a));
    ir_arena_free(&a);
}

static void throw_inside(void *arg) { ir_throw(arg, IR_ERR_INPUT); }

static void nest(void *arg) {
    cr_assert_not(ir_try(arg, throw_inside, arg));
    ir_throw(arg, IR_ERR_LIMIT);
}

Test(core, try_nests) {
    cr_assert_not(ir_try(&cx, nest, &cx));
    cr_assert_eq(cx.status, IR_ERR_LIMIT);
    cr_assert_null(cx.trap);
}

Test(core, map_keeps_what_was_set) {
    ir_map map = {0};
    for (uint64_t k = 0; k < 5000; k++)
        ir_map_set(&m->arena, &map, k * k, (void *)(uintptr_t)(k + 1));
    for (uint64_t k = 0; k < 5000; k++) cr_assert_eq((uintptr_t)ir_map_get(&map, k * k), k + 1);
    cr_assert_null(ir_map_get(&map, 3));
}

/* ---------------------------------------------------------------------------------------- types */

Test(core, types_are_interned_and_laid_out) {
    ir_type v3 = ir_vector(IR_F32, 3);
    ir_type s = ir_struct_type(m, "s", false, (ir_type[]){IR_I8, v3, IR_I16}, 3);
    cr_assert_eq(s, ir_struct_type(m, NULL, false, (ir_type[]){IR_I8, v3, IR_I16}, 3));
    cr_assert_neq(s, ir_struct_type(m, NULL, true, (ir_type[]){IR_I8, v3, IR_I16}, 3));
    cr_assert_eq(ir_sizeof(m, v3), 16);
    cr_assert_eq(ir_access_size(m, v3), 12);
    cr_assert_eq(ir_type_get(m, s)->offset[1], 16);
    cr_assert_eq(ir_type_get(m, s)->offset[2], 32);
    cr_assert_eq(ir_sizeof(m, s), 48);
    ir_type packed = ir_struct_type(m, NULL, true, (ir_type[]){IR_I8, IR_F64}, 2);
    cr_assert_eq(ir_sizeof(m, packed), 9);
    cr_assert_eq(ir_alignof(m, ir_array_type(m, packed, 7)), 1);
    cr_assert_eq(ir_sizeof(m, ir_array_type(m, s, 3)), 144);
}

static void nest_arrays(void *arg) {
    ir_type t = IR_I8;
    for (int i = 0; i < 100; i++) t = ir_array_type(arg, t, 1);
}

Test(core, deep_types_are_refused) {
    cr_assert_not(ir_try(&cx, nest_arrays, m));
    cr_assert_eq(cx.status, IR_ERR_LIMIT);
}

static void double_structs(void *arg) {
    ir_type t = IR_I8;
    for (int i = 0; i < 40; i++) t = ir_struct_type(arg, NULL, false, (ir_type[]){t, t}, 2);
}

Test(core, types_whose_text_explodes_are_refused) {
    cr_assert_not(ir_try(&cx, double_structs, m));
    cr_assert_eq(cx.status, IR_ERR_LIMIT);
}

Test(core, types_print) {
    ir_text t = {.arena = &m->arena};
    ir_type inner = ir_struct_type(m, NULL, true, (ir_type[]){IR_I8, ir_ptr(IR_LOCAL)}, 2);
    ir_type members[] = {ir_array_type(m, inner, 2), ir_vector(IR_F16, 4), IR_BF16};
    ir_print_type(&t, m, ir_struct_type(m, NULL, false, members, 3));
    cr_assert_str_eq(t.data, "{[2 x <{i8, ptr.local}>], v4f16, bf16}");
}

/* ------------------------------------------------------------------------------ values and uses */

Test(core, constants_are_interned_by_value) {
    cr_assert_eq(ir_const(f, IR_I8, 0x1ff), ir_const(f, IR_I8, 0xff));
    cr_assert_neq(ir_const(f, IR_I8, 1), ir_const(f, IR_I16, 1));
    ir_type v2 = ir_vector(IR_I32, 2);
    cr_assert_eq(ir_const_lanes(f, v2, (uint64_t[]){7, 7}), ir_const(f, v2, 7));
    cr_assert_neq(ir_const_lanes(f, v2, (uint64_t[]){7, 8}), ir_const(f, v2, 7));
    cr_assert_neq(ir_const_float(f, IR_F32, 0.0), ir_const_float(f, IR_F32, -0.0));
}

Test(core, replace_moves_every_use) {
    ir_inst *x = f->param_val[0], *y = f->param_val[1];
    ir_inst *twice = ir_build2(&b, IR_OP_mul, IR_I32, x, x);
    ir_inst *sum = ir_build2(&b, IR_OP_add, IR_I32, twice, x);
    cr_assert_eq(ir_count_uses(x), 3);
    ir_replace_uses(x, y);
    cr_assert_eq(ir_count_uses(x), 0);
    cr_assert_eq(ir_count_uses(y), 3);
    cr_assert_eq(ir_arg(sum, 1), y);
    ir_remove(sum);
    ir_remove(twice);
    cr_assert_eq(ir_count_uses(y), 0);
}

Test(core, phi_grows_and_keeps_its_own_use) {
    ir_block *loop = ir_block_new(f, "loop");
    for (int i = 0; i < 9; i++) {
        ir_at_end(&b, ir_block_new(f, NULL));
        ir_build_jmp(&b, loop);
    }
    ir_inst *phi = ir_build_phi(loop, IR_I32);
    uint32_t id = phi->id;
    for (int i = 0; i < 9; i++) phi = ir_append_arg(phi, i % 2 ? phi : f->param_val[0]);
    cr_assert_eq(phi->id, id);
    cr_assert_eq(loop->first, phi);
    cr_assert_eq(ir_count_uses(phi), 4);
    for (unsigned i = 0; i < 9; i++) cr_assert_eq(ir_arg(phi, i), i % 2 ? phi : f->param_val[0]);
    ir_drop_arg(phi, 0);
    cr_assert_eq(phi->nargs, 8);
    cr_assert_eq(ir_arg(phi, 0), phi);
    cr_assert_eq(ir_count_uses(f->param_val[0]), 4);
}

/* ---------------------------------------------------------------------------------------- edges */

Test(core, edges_stay_in_step_with_phis) {
    ir_block *entry = f->first, *left = ir_block_new(f, "left"), *join = ir_block_new(f, "join");
    ir_build_br(&b, ir_const(f, IR_I1, 1), left, join);
    ir_at_end(&b, left);
    ir_build_jmp(&b, join);
    ir_inst *phi = ir_build_phi(join, IR_I32);
    phi = ir_append_arg(phi, f->param_val[0]);
    phi = ir_append_arg(phi, f->param_val[1]);
    ir_block *middle = ir_split_edge(entry, 1);
    cr_assert_eq(join->pred[0], middle);
    cr_assert_eq(ir_arg(phi, 0), f->param_val[0]);
    ir_make_jmp(entry, 0);
    cr_assert_eq(middle->npred, 0);
    ir_block_remove(middle);
    cr_assert_eq(phi->nargs, 1);
    cr_assert_eq(ir_arg(phi, 0), f->param_val[1]);
}

Test(core, split_block_hands_its_edges_on) {
    ir_block *entry = f->first, *next = ir_block_new(f, "next");
    ir_inst *x = ir_build2(&b, IR_OP_mul, IR_I32, f->param_val[0], f->param_val[1]);
    ir_inst *jmp = ir_build_jmp(&b, next);
    ir_block *tail = ir_split_block(entry, jmp);
    cr_assert_eq(entry->last, x);
    cr_assert_eq(entry->nsucc, 0);
    cr_assert_eq(tail->succ[0], next);
    cr_assert_eq(next->pred[0], tail);
    cr_assert_eq(entry->next, tail);
}

/* -------------------------------------------------------------------------------------- symbols */

Test(core, symbols_are_unique) {
    ir_func *again = ir_func_new(m, "f", IR_VOID, 0, NULL);
    ir_global *g = ir_global_new(m, "f", IR_LOCAL, IR_I32);
    cr_assert_str_eq(again->name, "f.1");
    cr_assert_str_eq(g->name, "f.2");
    ir_func_remove(again);
    cr_assert_null(ir_func_find(m, "f.1"));
    cr_assert_eq(ir_global_find(m, "f.2"), g);
    ir_func_rename(f, "f.1");
    cr_assert_eq(ir_func_find(m, "f.1"), f);
}

/* -------------------------------------------------------------------------------------- builder */

Test(core, builder_folds_and_numbers) {
    ir_inst *x = f->param_val[0];
    ir_inst *two = ir_build2(&b, IR_OP_add, IR_I32, ir_const(f, IR_I32, 1), ir_const(f, IR_I32, 1));
    cr_assert_eq(two, ir_const(f, IR_I32, 2));
    ir_inst *sum = ir_build2(&b, IR_OP_add, IR_I32, two, x);
    cr_assert_eq(ir_arg(sum, 1), two, "constants are on the right");
    cr_assert_eq(ir_build2(&b, IR_OP_add, IR_I32, x, two), sum);
    cr_assert_neq(ir_build2(&b, IR_OP_sub, IR_I32, x, two), sum);
    ir_at_end(&b, ir_block_new(f, "other"));
    cr_assert_neq(ir_build2(&b, IR_OP_add, IR_I32, x, two), sum, "numbers are per block");
}

Test(core, numbered_value_keeps_common_promises) {
    ir_inst *args[] = {f->param_val[0], f->param_val[1]};
    ir_inst *sum =
        ir_build(&b, IR_OP_add, IR_I32, ir_with_flags(IR_NSW | IR_NUW), (ir_args){2, args});
    ir_build(&b, IR_OP_add, IR_I32, ir_with_flags(IR_NUW), (ir_args){2, args});
    cr_assert_eq(sum->flags, IR_NUW);
}

Test(core, loads_are_not_merged) {
    ir_inst *p = ir_build_alloca(&b, IR_I32, 4);
    cr_assert_neq(ir_build_load(&b, IR_I32, p, 4, 0), ir_build_load(&b, IR_I32, p, 4, 0));
    cr_assert_eq(ir_build_ptradd(&b, p, ir_const(f, IR_I64, 0), true), p);
}

/* --------------------------------------------------------------------------------------- errors */

Test(core, messages_are_formatted) {
    char text[200];
    ir_message m1 = {.severity = IR_ERROR,
                     .file = "k.spv",
                     .word = 0x1a3,
                     .source = "saxpy.cl",
                     .source_line = 12,
                     .text = "bad"};
    ir_format_message(&m1, text, sizeof text);
    cr_assert_str_eq(text, "k.spv: word 0x1a3, saxpy.cl:12: error: bad");
    ir_message m2 = {
        .severity = IR_WARNING, .file = "a.plan", .line = 3, .column = 14, .text = "odd"};
    ir_format_message(&m2, text, sizeof text);
    cr_assert_str_eq(text, "a.plan:3:14: warning: odd");
    ir_format_message(&(ir_message){.text = "plain"}, text, 8);
    cr_assert_str_eq(text, "note: p", "cut to the buffer");
}
