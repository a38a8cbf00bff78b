/* Environment variables: old and new names, values of each kind, and what is said of those that are
 * not understood. */
#include "runtime/spvfuse.h"
#include "runtime/system/environment.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set(const char *name, const char *value) { setenv(name, value, 1); }

Test(environment, names) {
    set("SPVF_THREADS", "3");
    cr_expect_str_eq(rt_setting(RT_ENV_THREADS), "3");
    set("SPVFUSE_THREADS", "5");
    cr_expect_str_eq(rt_setting(RT_ENV_THREADS), "5", "the newer name counts");
    set("SPVFUSE_THREADS", "");
    cr_expect_str_eq(rt_setting(RT_ENV_THREADS), "3", "an empty value counts as none");
    set("SPVF_CACHE_DIR", "/tmp");
    unsetenv("SPVFUSE_CACHE_DIR");
    cr_expect_null(rt_setting(RT_ENV_CACHE_DIR), "this one had no older name");
}

static char said[2000];

static void hear(void *user, const char *text) {
    (void)user;
    strncat(said, text, sizeof said - strlen(said) - 2);
    strcat(said, "\n");
}

static const char *check_settings(void) {
    said[0] = 0;
    rt_check_settings(hear, NULL);
    return said;
}

/* Each kind of value: what it is read as, and whether it is understood. */
Test(environment, values) {
    static const struct {
        const char *name, *value;
        bool understood;
    } cases[] = {
        {"SPVFUSE_THREADS", "1", true},
        {"SPVFUSE_THREADS", "0", false},
        {"SPVFUSE_THREADS", "2x", false},
        {"SPVFUSE_THREADS", "-1", false},
        {"SPVFUSE_THREADS", "99999999999999999999", false},
        {"SPVFUSE_CHECK_EXIT", "255", true},
        {"SPVFUSE_CHECK_EXIT", "256", false},
        {"SPVFUSE_CHECK_EXIT", "0", false},
        {"SPVFUSE_COMPILER_SECONDS", "0", true},
        {"SPVFUSE_COMPILER_SECONDS", "soon", false},
        {"SPVFUSE_CACHE_SIZE", "12K", true},
        {"SPVFUSE_CACHE_SIZE", "12KB", false},
        {"SPVFUSE_CACHE_SIZE", "99999999999G", false},
        {"SPVFUSE_CACHE", "1", true},
        {"SPVFUSE_CACHE", "yes", false},
        {"SPVFUSE_LOG", "info", true},
        {"SPVFUSE_LOG", "inf", false},
        {"SPVFUSE_LOG", "warn,info", false},
        {"SPVFUSE_JIT", "gdb,perf", true},
        {"SPVFUSE_JIT", "perf gdb", true},
        {"SPVFUSE_JIT", "gdbserver", false},
        {"SPVFUSE_COMMAND_BUFFER_VERSION", "0.9.4", true},
        {"SPVFUSE_COMMAND_BUFFER_VERSION", "9", false},
        {"SPVFUSE_CLANG", "anything at all", true},
    };
    for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
        set(cases[n].name, cases[n].value);
        const char *text = check_settings();
        cr_expect_eq(!*text, cases[n].understood, "%s=%s: %s", cases[n].name, cases[n].value, text);
        unsetenv(cases[n].name);
    }
}

Test(environment, readers) {
    set("SPVFUSE_CACHE_SIZE", "3M");
    cr_expect_eq(rt_setting_size(RT_ENV_CACHE_SIZE, 7), 3u << 20);
    set("SPVFUSE_CACHE_SIZE", "3Q");
    cr_expect_eq(rt_setting_size(RT_ENV_CACHE_SIZE, 7), 7);
    set("SPVFUSE_LOG", "all");
    cr_expect_eq(rt_setting_word(RT_ENV_LOG), 2);
    set("SPVFUSE_JIT", "gdb,perf");
    cr_expect(rt_setting_has(RT_ENV_JIT, "perf"));
    cr_expect_not(rt_setting_has(RT_ENV_JIT, "per"));
    set("SPVFUSE_PIN", "0");
    cr_expect_not(rt_setting_is_on(RT_ENV_PIN));
    set("SPVFUSE_COMPILER_SECONDS", "0");
    cr_expect_eq(rt_setting_number(RT_ENV_COMPILER_SECONDS, 9), 0);
}

Test(environment, sentences) {
    set("SPVF_THREADS", "many");
    cr_expect_str_eq(
        check_settings(),
        "SPVF_THREADS is 'many', which is not understood: it takes a number from 1 on\n");
    unsetenv("SPVF_THREADS");
    set("SPVFUSE_LOG", "loud");
    cr_expect_str_eq(check_settings(),
                     "SPVFUSE_LOG is 'loud', which is not understood: it takes one "
                     "of warn, info, all\n");
    unsetenv("SPVFUSE_LOG");
    set("SPVFUSE_CASH", "1");
    cr_expect_str_eq(check_settings(),
                     "there is no variable SPVFUSE_CASH; did you mean SPVFUSE_CACHE?\n");
    unsetenv("SPVFUSE_CASH");
    set("SPVFUSE_SOMETHING_ELSE", "1");
    cr_expect_str_eq(check_settings(), "there is no variable SPVFUSE_SOMETHING_ELSE\n");
}

static unsigned heard;

static void count_warning(void *user, const spvf_message *m) {
    (void)user;
    heard += m->severity == SPVF_WARNING;
}

static void make_context(const spvf_context_options *o) {
    spvf_context *c;
    cr_assert_eq(spvf_context_create(o, &c), SPVF_OK);
    spvf_context_destroy(c);
}

/* Each context tells its callback; standard error shows nothing. */
Test(environment, callback, .init = cr_redirect_stderr) {
    const spvf_context_options o = {.size = sizeof o, .message = count_warning};
    set("SPVFUSE_PIN", "maybe");
    make_context(&o);
    make_context(&o);
    cr_expect_eq(heard, 2);
    fputs("end", stderr);
    fflush(stderr);
    cr_assert_stderr_eq_str("end");
}

Test(environment, log, .init = cr_redirect_stderr) {
    set("SPVFUSE_LOG", "warn");
    set("SPVFUSE_PIN", "maybe");
    make_context(NULL);
    fflush(stderr);
    cr_assert_stderr_eq_str("spvfuse: warning: SPVFUSE_PIN is 'maybe', which is not understood: it "
                            "takes 0 or 1\n");
}
