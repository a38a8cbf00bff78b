/* bug_test.c — an assertion that does not hold ends the call, not the process. */
#include "runtime/api/runtime.h"
#include "tests/runtime/bench.h"

#include <stdlib.h>

static void break_a_rule(void *arg) {
    const spvf_context *c = arg;
    assert(c == NULL && "nothing is wrong");
}

static void break_a_rule_in_a_pass(void *arg) {
    spvf_context *c = arg;
    const ir_func f = {.name = "saxpy"};
    c->cx.where = (ir_where){.stage = "licm", .func = &f};
    break_a_rule(arg);
}

static void expect_internal(void (*body)(void *arg), const char *where) {
    static const char text[] = "target 64\nkernel @k() {\nentry:\n  ret\n}\n";
    spvf_context *c = new_context();
    unsetenv("SPVF_ABORT");
    cr_expect_eq(rt_guard(c, body, c), SPVF_ERROR_INTERNAL);
    cr_expect(strstr(messages, where), "no '%s' in: %s", where, messages);
    cr_expect(strstr(messages, ": 'c == NULL && \"nothing is wrong\"' does not hold"), "%s",
              messages);
    spvf_module *m = load_text(c, text); /* the context goes on */
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    cr_expect_eq(bytes_held, 0);
}

Test(bug, the_message_names_the_place) {
    expect_internal(break_a_rule, "internal error in break_a_rule() (tests/runtime/");
}

Test(bug, the_message_names_the_pass) {
    expect_internal(break_a_rule_in_a_pass, "internal error in licm of @saxpy (");
}

/* Once, as a bug of the compiler while it makes code: passes warn there of what is not complete. */
static void break_a_rule_when_warned(void *user, const spvf_message *m) {
    static bool broken;
    bool breaks = !broken && m->severity == SPVF_WARNING;
    keep_message(user, m);
    broken |= breaks;
    assert(!breaks);
}

Test(bug, a_kernel_with_a_bug_is_not_just_left_out) {
    static const char text[] = "target 64\nfunc @far() import\nkernel @k() {\nentry:\n"
                               "  call @far()\n  ret\n}\nkernel @j() {\nentry:\n  ret\n}\n";
    spvf_context *c = new_context();
    unsetenv("SPVF_ABORT");
    spvf_module *m = load_text(c, text);
    spvf_blob blob;
    c->message = break_a_rule_when_warned;
    cr_expect_eq(spvf_module_emit(m, "x86_64", &blob), SPVF_ERROR_INTERNAL);
    cr_expect(strstr(messages, "internal error"), "%s", messages);
    cr_expect_null(blob.data);
    spvf_blob_destroy(&blob);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    cr_expect_eq(bytes_held, 0);
}
