/* abi_test.c — structs of other sizes than this version's: what is read of them, what is written, and
 * what is refused.  Memory ends where a struct does.  abi.sh runs whole programs of other versions.
 */
#define _DEFAULT_SOURCE
#include "runtime/spvfuse_queue.h"
#include "tests/guarded.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static char text[400], name[40];

static void on_message(void *user, const spvf_message *m) {
    (void)user;
    snprintf(text, sizeof text, "%s", m->text);
    snprintf(name, sizeof name, "%s", m->name ? m->name : "");
}

static const spvf_context_options listening = {.size = sizeof listening, .message = on_message};
static const char kernel[] = "target 64\nkernel @k(%p: ptr.global of i32) {\nentry:\n  ret\n}\n";
static uint8_t *page;
static spvf_context *context;
static spvf_module *module;

static void begin(void) {
    page = guarded_open(2);
    cr_assert_eq(spvf_context_create(&listening, &context), SPVF_OK);
    cr_assert_eq(spvf_module_load(context, "k", kernel, sizeof kernel - 1, NULL, &module), SPVF_OK);
}

static void end(void) {
    spvf_module_destroy(module);
    spvf_context_destroy(context);
    guarded_close(page, 2);
}

TestSuite(abi, .init = begin, .fini = end);

/* A struct of so many bytes at the end of the pages, with its size; it does not move. */
static void *struct_of(size_t size) {
    uint8_t *at = page + 2 * guarded_page() - size;
    memset(page, 0, 2 * guarded_page());
    memcpy(at, &size, size < sizeof size ? size : sizeof size);
    return at;
}

static spvf_status optimize(const void *options) {
    text[0] = name[0] = 0;
    return spvf_module_optimize(module, options);
}

Test(abi, a_struct_may_be_shorter) {
    for (size_t size = sizeof(size_t); size <= sizeof(spvf_pass_options); size++)
        cr_expect_eq(optimize(struct_of(size)), SPVF_OK, "%zu bytes: %s", size, text);
}

Test(abi, members_of_a_shorter_struct_count) {
    const char *passes = "nothing";
    uint8_t *options = struct_of(offsetof(spvf_pass_options, passes) + sizeof passes);
    memcpy(options + offsetof(spvf_pass_options, passes), &passes, sizeof passes);
    cr_expect_eq(optimize(options), SPVF_ERROR_ARGUMENT);
    cr_expect(strstr(text, "nothing"), "%s", text);
}

Test(abi, a_struct_may_be_longer_if_the_rest_is_zero) {
    const size_t known = sizeof(spvf_pass_options);
    for (size_t more = 1; more < 100; more += 9) {
        uint8_t *options = struct_of(known + more);
        cr_expect_eq(optimize(options), SPVF_OK, "%s", text);
        for (size_t at = known; at < known + more; at++) {
            options[at] = 1;
            cr_expect_eq(optimize(options), SPVF_ERROR_ARGUMENT);
            cr_expect_str_eq(name, "unknown-member");
            options[at] = 0;
        }
    }
    ((uint8_t *)struct_of(known + 8))[known + 3] = 255;
    optimize(page + 2 * guarded_page() - known - 8);
    cr_expect_str_eq(text,
                     "spvf_module_optimize: options: byte 115 is not 0, and library 0.1.0 knows "
                     "112 bytes of them");
}

Test(abi, a_size_that_is_none_is_refused) {
    cr_expect_eq(optimize(struct_of(4096)), SPVF_OK, "%s", text);
    for (size_t size = 4097; size != 0; size = size < 4100 ? size + 1 : size << 1) {
        spvf_pass_options options = {.size = size};
        cr_expect_eq(optimize(&options), SPVF_ERROR_ARGUMENT);
        cr_expect_str_eq(name, "");
    }
    for (size_t size = 0; size < sizeof size; size++) {
        spvf_pass_options options = {.size = size};
        cr_expect_eq(optimize(&options), SPVF_ERROR_ARGUMENT);
        cr_expect(strstr(text, "size is"), "%s", text);
    }
}

/* As much of a result as there is room for. */
Test(abi, results_end_where_the_caller_says) {
    spvf_run_result all = {.size = sizeof all};
    spvf_plan *p;
    static const char plan[] = "buffer x i32[4] = 1\nexpect x[0] = 1\n";
    cr_assert_eq(spvf_plan_load(context, NULL, plan, sizeof plan - 1, &p), SPVF_OK, "%s", text);
    cr_assert_eq(spvf_plan_run(p, NULL, &all), SPVF_OK, "%s", text);
    cr_expect_eq(all.expects, 1);
    for (size_t size = sizeof(size_t); size < sizeof all + 40; size += 4) {
        uint8_t *result = struct_of(size);
        memset(result + sizeof size, 0xaa, size - sizeof size);
        cr_expect_eq(spvf_plan_run(p, NULL, (void *)result), SPVF_OK, "%s", text);
        cr_expect(memcmp(result, &size, sizeof size) == 0, "the size stays");
        for (size_t at = sizeof all; at < size; at++) cr_expect_eq(result[at], 0);
        if (size <= offsetof(spvf_run_result, failed_expects)) continue;
        cr_expect(!memcmp(result + offsetof(spvf_run_result, expects), &all.expects, 8));
    }
    all.size = 0;
    cr_expect_eq(spvf_plan_run(p, NULL, &all), SPVF_ERROR_ARGUMENT);
    cr_expect_str_eq(text, "spvf_plan_run: result: size is 0, not that of the struct");
    spvf_plan_destroy(p);
}

/* Also without a callback, and for structs that others point to. */
Test(abi, all_that_have_a_size_are_looked_at) {
    union {
        spvf_context_options known;
        uint8_t bytes[sizeof(spvf_context_options) + 8];
    } c = {.known = {.size = sizeof c}};
    union {
        spvf_layout known;
        uint8_t bytes[sizeof(spvf_layout) + 8];
    } layout = {.known = {.size = sizeof layout}};
    const spvf_module_options load = {.size = sizeof load, .layout = &layout.known};
    spvf_context *other = context;
    spvf_module *m = module;
    c.bytes[sizeof c.known] = 1;
    cr_expect_eq(spvf_context_create(&c.known, &other), SPVF_ERROR_ARGUMENT);
    cr_expect_null(other);
    layout.bytes[sizeof layout.known + 7] = 1;
    cr_expect_eq(spvf_module_load(context, "k", kernel, sizeof kernel - 1, &load, &m),
                 SPVF_ERROR_ARGUMENT);
    cr_expect_null(m);
    cr_expect_str_eq(name, "unknown-member");
}
