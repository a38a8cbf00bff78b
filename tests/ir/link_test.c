/* link_test.c — ir_link: which names become one, which stay apart, what is an error. */
#include "ir/change.h"

#include <criterion/criterion.h>

enum { MANY = 4 };

static char messages[4096];

static void note(void *user, const ir_message *m) {
    (void)user;
    size_t n = strlen(messages);
    snprintf(messages + n, sizeof messages - n, "%s: %s\n", m->file, m->text);
}

static ir_module *parse(ir_ctx *cx, size_t n, const char *text) {
    ir_module *m = ir_parse(cx, n ? "second" : "first", text, strlen(text));
    cr_assert(m && ir_verify_module(m), "%s", messages);
    return m;
}

/* The text of the linked module, or the messages; to be freed. */
static char *linked(bool whole, size_t n, const char *const *texts) {
    ir_ctx cx = {.report = note};
    ir_module *from[MANY], *m = ir_module_new(&cx, "all", 64);
    *messages = 0;
    for (size_t k = 0; k < n; k++) from[k] = parse(&cx, k, texts[k]);
    bool ok = ir_link(m, from, n, whole);
    cr_expect(!ok || ir_verify_module(m));
    cr_expect(ok == !*messages, "%s", messages);
    ir_text text = {.arena = &m->arena};
    ir_print_module(&text, m, 0);
    char *result = strdup(ok ? text.data : messages);
    ir_module_free(m);
    for (size_t k = 0; k < n; k++) ir_module_free(from[k]);
    return result;
}

/* As it is printed. */
static char *printed(const char *text) {
    ir_ctx cx = {.report = note};
    ir_module *m = parse(&cx, 0, text);
    ir_text out = {.arena = &m->arena};
    ir_print_module(&out, m, 0);
    char *result = strdup(out.data);
    ir_module_free(m);
    return result;
}

static void expect(const char *wanted, bool whole, const char *first, const char *second) {
    char *got = linked(whole, 2, (const char *[]){first, second}), *want = printed(wanted);
    cr_expect_str_eq(got, want);
    free(got);
    free(want);
}

static void expect_failure(const char *message, const char *first, const char *second) {
    char *got = linked(true, 2, (const char *[]){first, second});
    cr_expect_str_eq(got, message);
    free(got);
}

#define LIBRARY false
#define WHOLE true

#define USER "kernel @k(%p: ptr.global) {\nentry:\n  call @f(%p)\n  ret\n}\n"
#define IMPORT "func @f(%p: ptr.global) import\n"
#define MAKER "func @f(%p: ptr.global) export {\nentry:\n  store i32 1, %p align 4\n  ret\n}\n"
#define OTHER_MAKER                                                                                \
    "func @f(%p: ptr.global) export {\nentry:\n  store i32 7, %p align 4\n  ret\n}\n"
#define MADE "func @f(%p: ptr.global) {\nentry:\n  store i32 1, %p align 4\n  ret\n}\n"

Test(link, either_order) {
    expect(USER "\n" MADE, WHOLE, IMPORT USER, MAKER);
    expect(MADE "\n" USER, WHOLE, MAKER, IMPORT USER);
    expect(USER "\n" MAKER, LIBRARY, IMPORT USER, MAKER);
}

Test(link, missing) {
    expect(USER "\n" IMPORT, LIBRARY, IMPORT USER, "");
    expect_failure("all: 'f' is not defined\n", IMPORT USER, "");
}

/* A name that others know is never taken by one that belongs to a module. */
Test(link, own_names) {
    expect("kernel @l(%p: ptr.global) {\nentry:\n  call @f.1(%p)\n  ret\n}\n" USER IMPORT
           "func @f.1(%p: ptr.global) {\nentry:\n  store i32 1, %p align 4\n  ret\n}\n",
           LIBRARY, "kernel @l(%p: ptr.global) {\nentry:\n  call @f(%p)\n  ret\n}\n" MADE,
           IMPORT USER);
}

Test(link, twice) {
    expect_failure("second: 'f' is defined more than once\n", MAKER, OTHER_MAKER);
    expect_failure("second: 'k' is defined more than once\n", IMPORT USER, IMPORT USER);
    expect_failure("second: 'f' is defined more than once\n", MAKER, "@f: global i32 export = 1\n");
}

Test(link, same_by_their_own_word) {
    const char *odr =
        "func @f(%p: ptr.global) export odr {\nentry:\n  store i32 2, %p align 4\n  ret\n}\n";
    expect(MADE, WHOLE, MAKER, odr);
    expect("@g: global i32 = 1\n", WHOLE, "@g: global i32 export odr = 1\n",
           "@g: global i32 export odr = 1\n");
}

/* What a header defines is in each program that includes it; what it shares may be constant. */
Test(link, equal_functions) {
    const char *table = "func @f(%p: ptr.global) export {\nentry:\n  %v: i32 = load @t align 4\n"
                        "  store %v, %p align 4\n  ret\n}\n";
    char constant[256], variable[256];
    expect(MADE, WHOLE, MAKER, MAKER);
    expect(MADE "\n" USER, WHOLE, MAKER, MAKER USER);
    snprintf(constant, sizeof constant, "@t: const i32 = 5\n%s", table);
    snprintf(variable, sizeof variable, "@t: global i32 = 5\n%s", table);
    free(linked(WHOLE, 2, (const char *[]){constant, constant}));
    cr_expect_str_empty(messages);
    expect_failure("second: 'f' is defined more than once\n", variable, variable);
}

Test(link, other_signatures) {
    expect_failure(
        "second: 'f' is defined with other parameters or another result\n", MAKER,
        "func @f(%n: i32) import\nkernel @k(%n: i32) {\nentry:\n  call @f(%n)\n  ret\n}\n");
    expect_failure("second: 'g' is defined with another type\n", "@g: global i32 export = 1\n",
                   "@g: global i64 import\n");
}

/* A variable's address in an initializer is an import like any other. */
Test(link, addresses) {
    expect("@p: global ptr.global = &@g+4\n@g: global [2 x i32] = {1, 2}\n", WHOLE,
           "@g: global [2 x i32] import\n@p: global ptr.global export = &@g+4\n",
           "@g: global [2 x i32] export = {1, 2}\n");
}

Test(link, missing_variables) {
    const char *user = "@g: global i32 import\n";
    expect("@g: global i32 import\n", LIBRARY, user, user);
    expect_failure("all: 'g' is not defined\n", user, user);
}

/* A kernel may be called by another module. */
Test(link, kernels) {
    expect("kernel @f(%p: ptr.global) {\nentry:\n  store i32 1, %p align 4\n  ret\n}\n\n" USER,
           WHOLE, "kernel @f(%p: ptr.global) {\nentry:\n  store i32 1, %p align 4\n  ret\n}\n",
           IMPORT USER);
}

Test(link, pointer_sizes) {
    expect_failure("all: 'second' has pointers of another size\n", "", "target 32\n");
}
