/* Events of a trace: strings of any bytes, what does not fit, tracks of devices.  What traces say of the
 * library is in tests/runtime/trace.sh. */
#include "runtime/system/trace.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[] = "/tmp/trace-XXXXXX", text[1 << 16];

static void begin(void) {
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    close(file);
    setenv("SPVFUSE_TRACE", path, 1);
}

static void end(void) { unlink(path); }

static const char *read_trace(void) {
    FILE *f = fopen(path, "r");
    cr_assert_not_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

TestSuite(trace, .init = begin, .fini = end, .timeout = 20);

Test(trace, is_off_without_a_name) {
    unsetenv("SPVFUSE_TRACE");
    cr_assert_not(rt_is_traced());
    setenv("SPVFUSE_TRACE", path, 1);
    cr_assert_not(rt_is_traced(), "the environment is read once");
    cr_assert_null(rt_trace_failure());
}

Test(trace, strings) {
    rt_trace t;
    cr_assert(rt_is_traced());
    rt_trace_open(&t, RT_TRACE_INSTANT, 0, "cache", "a \"name\"\n\xc3\xa9 \xff \\");
    rt_trace_write(&t);
    cr_expect(strstr(read_trace(), "\"name\":\"a \\\"name\\\"\\u000a\xc3\xa9 \\ufffd \\\\\"}"),
              "%s", text);
}

static unsigned count(const char *what) {
    unsigned n = 0;
    for (const char *s = read_trace(); (s = strstr(s, what)); s++) n++;
    return n;
}

/* Each event stays one line that ends as it should. */
Test(trace, long_ones_are_cut) {
    rt_trace t;
    char name[5000];
    memset(name, '\\', sizeof name - 1);
    name[sizeof name - 1] = 0;
    cr_assert(rt_is_traced());
    rt_trace_open(&t, RT_TRACE_BEGIN, 0, "launch", name);
    for (unsigned n = 0; n < 100; n++) rt_trace_text(&t, "spvfuse.kernel.name", name);
    for (unsigned n = 0; n < 100; n++) rt_trace_number(&t, "spvfuse.number", UINT64_MAX);
    for (unsigned n = 0; n < 100; n++)
        rt_trace_sizes(&t, "spvfuse.sizes", (uint64_t[]){UINT64_MAX, 1, 2}, 3);
    rt_trace_write(&t);
    cr_expect_lt(t.n, sizeof t.text);
    cr_expect_eq(strcmp(t.text + t.n - 2, "}}"), 0, "%s", t.text);
    cr_expect_geq(count("…\""), 3, "%s", text);
    cr_expect_eq(strlen(strrchr(text, '\n')), t.n - 1, "it is one line");
}

Test(trace, commands_that_overlap_have_different_tracks) {
    int device = 0, other = 0;
    cr_assert(rt_is_traced());
    rt_track a = rt_trace_take_track(&device, "cpu"), b = rt_trace_take_track(&device, "cpu");
    rt_track c = rt_trace_take_track(&other, "cpu");
    cr_expect(a && b && c && a != b && b != c && a != c);
    rt_trace_give_track(a);
    cr_expect_eq(rt_trace_take_track(&device, "cpu"), a, "a free one is taken again");
    cr_expect_eq(count("\"process_name\""), 3, "the process, and two devices: %s", text);
    cr_expect_eq(count("\"commands 1\""), 2);
    unsigned n = 2;
    while (rt_trace_take_track(&device, "cpu")) n++;
    cr_expect_eq(n, 63, "there are so many");
    for (unsigned k = 0; k < 100; k++) rt_trace_take_track(text + k, "many");
    cr_expect(rt_trace_take_track(&other, "cpu"), "devices beyond the last row share it");
}

Test(trace, a_child_has_a_file_of_its_own) {
    char its[60];
    cr_assert(rt_is_traced());
    pid_t child = fork();
    if (child == 0) {
        if (rt_is_traced()) rt_trace_call("wait", "in the child");
        exit(0);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(count("in the child"), 0);
    snprintf(its, sizeof its, "%s.%ld", path, (long)child);
    cr_assert_eq(rename(its, path), 0, "%s", its);
    cr_expect_eq(count("in the child"), 1);
    cr_expect_eq(strcmp(text + strlen(text) - 3, "\n]\n"), 0, "it has its end: %s", text);
}

Test(trace, a_file_that_cannot_be_written) {
    setenv("SPVFUSE_TRACE", "/dev/null/no", 1);
    cr_expect_not(rt_is_traced());
    cr_expect(rt_trace_failure() && strstr(rt_trace_failure(), "'/dev/null/no' cannot be written"));
}

Test(trace, a_full_disk_ends_it) {
    setenv("SPVFUSE_TRACE", "/dev/full", 1);
    cr_expect_not(rt_is_traced());
    cr_expect(rt_trace_failure() && strstr(rt_trace_failure(), "No space left"));
}
