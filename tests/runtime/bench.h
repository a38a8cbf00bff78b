/* bench.h — what the tests of the library share: a context that keeps its messages, modules from IR
 * text, and plans whose files lie in a folder of their own. */
#ifndef TESTS_RUNTIME_BENCH_H
#define TESTS_RUNTIME_BENCH_H

#include "runtime/spvfuse.h"
#include "tests/temporary.h"

#include <criterion/criterion.h>
#include <string.h>

static char messages[1 << 14]; /* all of this test, a line each */
static size_t bytes_held;

static inline void keep_message(void *user, const spvf_message *m) {
    (void)user;
    size_t n = strlen(messages);
    snprintf(messages + n, sizeof messages - n, "%s\n", m->formatted);
}

static inline void *hold(void *user, size_t bytes) {
    (void)user;
    size_t *block = malloc(bytes + 16);
    if (!block) return NULL;
    *block = bytes;
    bytes_held += bytes;
    return block + 2;
}

static inline void let_go(void *user, void *block) {
    (void)user;
    if (!block) return;
    bytes_held -= ((size_t *)block)[-2];
    free((size_t *)block - 2);
}

static inline spvf_context *new_context(void) {
    spvf_context_options o = {
        .size = sizeof o, .allocate = hold, .release = let_go, .message = keep_message};
    spvf_context *c;
    messages[0] = 0;
    cr_assert_eq(spvf_context_create(&o, &c), SPVF_OK);
    return c;
}

static inline spvf_module *load_text(spvf_context *c, const char *text) {
    spvf_module *m;
    cr_assert_eq(spvf_module_load(c, "k.ir", text, strlen(text), NULL, &m), SPVF_OK, "%s",
                 messages);
    return m;
}

static inline void write_file(const char *name, const char *text) {
    FILE *f = fopen(name, "wb");
    cr_assert_not_null(f);
    fputs(text, f);
    fclose(f);
}

/* The test goes on in a fresh folder, where k.ir holds these kernels. */
static inline void in_folder_with(const char *kernels) {
    char folder[TEMPORARY_NAME];
    cr_assert(enter_temporary_folder(folder), "%s can be made", folder);
    write_file("k.ir", kernels);
}

static inline void leave_folder(void) {
    char folder[TEMPORARY_NAME];
    cr_assert_not_null(getcwd(folder, sizeof folder));
    remove("k.ir");
    cr_assert_eq(rmdir(folder), 0);
}

static inline spvf_plan *load_plan(spvf_context *c, const char *text) {
    spvf_plan *p;
    cr_assert_eq(spvf_plan_load(c, "p", text, strlen(text), &p), SPVF_OK, "%s", messages);
    return p;
}

/* Runs a plan once; its messages are kept. */
static inline spvf_status run_text(const char *text, const spvf_run_options *o) {
    spvf_context *c = new_context();
    spvf_plan *p = load_plan(c, text);
    spvf_status status = spvf_plan_run(p, o, NULL);
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
    return status;
}

#endif
