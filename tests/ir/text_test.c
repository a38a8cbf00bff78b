/* text_test.c — the text form beyond the golden files: coverage of the op table, exact canonical
 * text, names that must be made unique or quoted, untrusted input, lack of memory.
 *
 * Reads tests/ir/roundtrip.ir, so it runs from the top of the repository.
 */
#include "ir/build.h"
#include "ir/ir.h"
#include "tests/file.h"
#include "tests/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static ir_ctx cx;
static ir_arena arena;
static char messages[4000];

static void keep_message(void *user, const ir_message *m) {
    size_t n = strlen(messages);
    (void)user;
    ir_format_message(m, messages + n, sizeof messages - n);
}

static void setup(void) {
    cx = (ir_ctx){.report = keep_message};
    messages[0] = 0;
    ir_arena_init(&arena, &cx);
}

static void teardown(void) {
    ir_arena_free(&arena);
    cr_assert_eq(cx.used, 0, "arenas give everything back");
}

TestSuite(text, .init = setup, .fini = teardown);

/* Runs `body` where allocation may fail. */
static void in_try(void (*body)(void *), void *arg) { cr_assert(ir_try(&cx, body, arg)); }

typedef struct {
    const ir_module *m;
    ir_text out;
} print_job;

static void print(void *arg) {
    print_job *job = arg;
    ir_print_module(&job->out, job->m, IR_PRINT_LOC);
}

static const char *text_of(const ir_module *m) {
    print_job job = {.m = m, .out.arena = &arena};
    in_try(print, &job);
    return job.out.data;
}

static ir_module *parse(const char *text) {
    ir_module *m = ir_parse(&cx, "t.ir", text, strlen(text));
    cr_assert(m, "%s", messages);
    return m;
}

/* --------------------------------------------------------------------------- the whole language */

static char *whole_language(void) {
    char *text = read_file("tests/ir/roundtrip.ir", NULL);
    cr_assert(text, "run the tests from the top of the repository");
    return text;
}

static void count_ops(const ir_module *m, unsigned *count) {
    foreach_func (f, m)
        foreach_block (b, f)
            foreach_inst (i, b) {
                count[i->op]++;
                for (unsigned n = 0; n < i->nargs; n++) count[ir_arg(i, n)->op]++;
            }
}

Test(text, roundtrip_file_has_every_op) {
    char *text = whole_language();
    ir_module *m = parse(text);
    unsigned count[IR_OP_COUNT] = {0};
    count_ops(m, count);
    for (unsigned op = 0; op < IR_OP_COUNT; op++)
        cr_expect(count[op], "%s does not occur in roundtrip.ir", ir_ops[op].name);
    cr_assert(ir_verify_module(m), "%s", messages);
    ir_module_free(m);
    free(text);
}

/* Without comments and empty lines. */
static char *bare(const char *text) {
    char *out = calloc(1, strlen(text) + 1), *to = out;
    while (*text) {
        size_t n = strcspn(text, "\n") + 1;
        if (*text != ';' && *text != '\n') {
            memcpy(to, text, n);
            to += n;
        }
        text += n;
    }
    return out;
}

Test(text, roundtrip_file_is_canonical) {
    char *text = whole_language();
    ir_module *m = parse(text);
    char *want = bare(text), *got = bare(text_of(m));
    cr_assert_str_eq(got, want);
    ir_module_free(m);
    free(want);
    free(got);
    free(text);
}

Test(text, locations_print_only_when_asked) {
    ir_module *m =
        parse("target 32\nfile \"a.cl\"\nline 9 0 3 5\nfunc @f() !7 {\ne:\n  ret !9\n}\n");
    ir_text plain = {.arena = &arena};
    ir_print_module(&plain, m, 0);
    cr_assert_str_eq(plain.data, "target 32\n\nfunc @f() {\ne:\n  ret\n}\n");
    cr_assert_str_eq(text_of(m), "target 32\nfile \"a.cl\"\nline 9 0 3 5\n\n"
                                 "func @f() !7 {\ne:\n  ret !9\n}\n");
    cr_assert_eq(m->first_func->first->first->loc, 9);
    ir_module_free(m);
}

/* ---------------------------------------------------------------------------------------- names */

/* Values named x, x, x.1, "a b", "1", unnamed; blocks b0, b0, unnamed. */
static void build_names(void *arg) {
    ir_module **m = arg;
    static const char *const names[] = {"x", "x", "x.1", "a b", "1", NULL, "x"};
    *m = ir_module_new(&cx, "t.ir", 64);
    ir_func *f = ir_func_new(*m, "f", IR_VOID, 2, (ir_type[]){IR_I32, IR_I32});
    f->param[0].name = "x";
    ir_builder b;
    ir_builder_init(&b, f);
    ir_block *blocks[] = {ir_block_new(f, "b0"), ir_block_new(f, "b0"), ir_block_new(f, NULL)};
    ir_at_end(&b, blocks[0]);
    ir_inst *v = f->param_val[1];
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        v = ir_build_raw(&b, IR_OP_add, IR_I32, IR_PLAIN, IR_ARGS(v, f->param_val[0]));
        if (names[i]) ir_set_name(f, v, names[i]);
    }
    ir_build_jmp(&b, blocks[1]);
    ir_at_end(&b, blocks[1]);
    ir_build_jmp(&b, blocks[2]);
    ir_at_end(&b, blocks[2]);
    ir_build_ret(&b, NULL);
}

Test(text, names_are_made_unique_and_quoted) {
    ir_module *m = NULL;
    in_try(build_names, &m);
    const char *text = text_of(m);
    cr_assert_str_eq(text, "target 64\n\nfunc @f(%x: i32, %0: i32) {\n\"b0\":\n"
                           "  %x.1: i32 = add %0, %x\n"
                           "  %x.2: i32 = add %x.1, %x\n"
                           "  %x.1.1: i32 = add %x.2, %x\n"
                           "  %\"a b\": i32 = add %x.1.1, %x\n"
                           "  %\"1\": i32 = add %\"a b\", %x\n"
                           "  %1: i32 = add %\"1\", %x\n"
                           "  %x.3: i32 = add %1, %x\n"
                           "  jmp b0.1\nb0.1:\n  jmp b0\nb0:\n  ret\n}\n");
    ir_module *again = parse(text);
    cr_assert_str_eq(text_of(again), text);
    ir_module_free(again);
    ir_module_free(m);
}

Test(text, instruction_prints_outside_of_a_block) {
    ir_module *m = parse("func @f(%x: i32): i32 {\ne:\n  %y: i32 = add %x, 1\n  ret %y\n}\n");
    ir_func *f = m->first_func;
    ir_text out = {.arena = &arena};
    ir_inst *loose = ir_inst_new(f, IR_OP_mul, IR_I32, 0);
    ir_print_inst(&out, f->first->first);
    ir_put(&out, " | ");
    ir_print_inst(&out, ir_const(f, IR_F32, 0x3fc00000));
    ir_put(&out, " | ");
    ir_print_inst(&out, loose);
    cr_assert_str_eq(out.data, "%y: i32 = add %x, 1 | f32 1.5 | %?: i32 = mul");
    ir_module_free(m);
}

/* ------------------------------------------------------------------------------ order of things */

Test(text, first_phi_orders_the_predecessors) {
    ir_module *m = parse("func @f(%c: i1): i32 {\ne: br %c, a, b\na: jmp c\nb: jmp c\n"
                         "c: %x: i32 = phi [b: 2, a: 1]\n%y: i32 = phi [a: 3, b: 4]\nret %x\n}\n");
    ir_block *join = m->first_func->last;
    cr_assert_str_eq(join->pred[0]->name, "b");
    cr_assert_eq(ir_arg(join->first, 0)->imm.bits, 2);
    cr_assert_eq(ir_arg(join->first->next, 0)->imm.bits, 4);
    cr_assert_eq(ir_arg(join->first->next, 1)->imm.bits, 3);
    cr_assert(ir_verify_module(m), "%s", messages);
    ir_module_free(m);
}

Test(text, literals_intern_and_forward_uses_are_patched) {
    ir_module *m = parse("func @f(%p: ptr.global): i32 {\ne: jmp b\n"
                         "a: %y: i32 = add %x, 7\nswitch %x, d [7: d]\n"
                         "b: %x: i32 = load %p align 4\n%z: i32 = mul 7, @g2\njmp a\n"
                         "d: ret %y\n}\n@g2: global i32\n");
    ir_func *f = m->first_func;
    ir_inst *y = f->first->next->first, *x = f->first->next->next->first;
    cr_assert_eq(ir_arg(y, 0), x);
    cr_assert_eq(ir_arg(y, 1), ir_arg(y->next, 1), "equal literals are one leaf");
    cr_assert_eq(ir_arg(x->next, 1), ir_address(f, m->first_global));
    cr_assert_eq(ir_count_uses(x), 2);
    ir_module_free(m);
}

/* ------------------------------------------------------------------------------------ bad input */

/* Whatever can be read prints as text that reads back to the same text. */
static void check_text(const char *text, size_t n) {
    ir_module *m = ir_parse(&cx, "t.ir", text, n);
    if (!m) return;
    const char *first = text_of(m);
    ir_module *again = parse(first);
    cr_assert_str_eq(text_of(again), first);
    ir_verify_module(m);
    ir_module_free(again);
    ir_module_free(m);
    ir_arena_free(&arena);
}

static void mutate(char *text, size_t *n, uint64_t *state) {
    static const char pieces[] = "%@!\"\\{}[]()<>:,=& \n;.-09axpf";
    for (uint64_t edits = 1 + splitmix64(state) % 3; edits > 0; edits--) {
        size_t at = splitmix64(state) % *n, to = splitmix64(state) % *n;
        size_t most = *n - (at > to ? at : to), size = splitmix64(state) % 24 % (most + 1);
        switch (splitmix64(state) % 4) {
        case 0: text[at] = (char)splitmix64(state); break;
        case 1: text[at] = pieces[splitmix64(state) % (sizeof pieces - 1)]; break;
        case 2: memmove(text + to, text + at, size); break;
        default: *n = at + 1;
        }
    }
}

Test(text, damaged_text_is_refused_or_read) {
    char *text = whole_language();
    size_t size = strlen(text);
    char *copy = malloc(size);
    uint64_t state = 88172645463325252u;
    for (int round = 0; round < 2000; round++) {
        size_t begin = splitmix64(&state) % size, n = 1 + splitmix64(&state) % 2000;
        const char *func = strstr(text + begin, "\nfunc @");
        begin = func ? (size_t)(func - text) : 0;
        if (n > size - begin) n = size - begin;
        memcpy(copy, text + begin, n);
        mutate(copy, &n, &state);
        messages[0] = 0;
        check_text(copy, n);
    }
    free(copy);
    free(text);
}

Test(text, errors_stop_at_a_limit) {
    static char text[4000];
    for (int i = 0; i < 200; i++) strcat(text, "@g: ?\n");
    unsigned lines = 0;
    cr_assert_null(ir_parse(&cx, "t.ir", text, strlen(text)));
    for (const char *s = messages; (s = strstr(s, "error:")) != NULL; s++) lines++;
    cr_assert_eq(lines, 20);
}

Test(text, nesting_and_counts_are_bounded) {
    enum { N = 400000 };
    char *text = malloc(N);
    memset(text, '{', N);
    memcpy(text, "@g: global ", 11);
    cr_assert_null(ir_parse(&cx, "t.ir", text, N));
    size_t n = (size_t)sprintf(text, "func @f(%%x: i32) {\ne: jmp s\ns: switch %%x, s [");
    for (int i = 0; i < 40000; i++) n += (size_t)sprintf(text + n, "%s1: s", i ? "," : "");
    n += (size_t)sprintf(text + n, "]\n}");
    ir_module *m = ir_parse(&cx, "t.ir", text, n);
    cr_assert(m);
    cr_assert_not(ir_verify_module(m), "40000 equal cases");
    ir_module_free(m);
    free(text);
}

/* ------------------------------------------------------------------------------- lack of memory */

static unsigned allocations_left;

static void *allocate(void *user, size_t bytes) {
    (void)user;
    return allocations_left-- ? malloc(bytes) : NULL;
}

static void release(void *user, void *block) {
    (void)user;
    free(block);
}

Test(text, every_allocation_may_fail) {
    char *text = whole_language();
    bool done = false;
    for (unsigned n = 0; !done; n++) {
        ir_ctx poor = {.allocate = allocate, .release = release};
        allocations_left = n;
        ir_module *m = ir_parse(&poor, "t.ir", text, strlen(text));
        done = m != NULL;
        if (!m) cr_assert_eq(poor.status, IR_ERR_MEMORY);
        ir_module_free(m);
        cr_assert_eq(poor.used, 0);
    }
    free(text);
}
