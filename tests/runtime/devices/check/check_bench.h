/* check_bench.h — what the tests of the check device share: one device, one program, everything
 * that it said, and pieces of kernels.  Each test is a process of its own, so the state is one
 * variable.
 */
#ifndef CHECK_BENCH_H
#define CHECK_BENCH_H

#include "runtime/devices/check/check.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* One device, one program, and everything that it said. */
static struct {
    ir_ctx cx;
    ir_module *m;
    check_device *d;
    check_program *p;
    check_buffer *buffers[16];
    unsigned nbuffers;
    ir_range range;
    check_options options;
    check_result result;
    check_report last; /* its pointers are stale */
    char reports[8192];
    char printed[4096];
    char message[2048];
} w;

static inline void keep_message(void *user, const ir_message *m) {
    (void)user;
    ir_format_message(m, w.message, sizeof w.message);
}

static inline void append(char *to, size_t room, const char *s, size_t n) {
    size_t used = strlen(to);
    cr_assert(used + n < room);
    memcpy(to + used, s, n);
    to[used + n] = 0;
}

static inline void keep_report(void *user, const check_report *r) {
    (void)user;
    w.last = *r;
    append(w.reports, sizeof w.reports, r->text, strlen(r->text));
    append(w.reports, sizeof w.reports, "\n", 1);
}

static inline void keep_print(void *user, const char *text, size_t n) {
    (void)user;
    append(w.printed, sizeof w.printed, text, n);
}

static inline void open_text(const char *text) {
    w.cx.report = keep_message;
    w.m = ir_parse(&w.cx, "t.spv", text, strlen(text));
    cr_assert(w.m, "%s", w.message);
    cr_assert(ir_verify_module(w.m), "%s", w.message);
    w.d = check_device_new(&w.cx);
    w.p = check_program_new(w.d, w.m);
    cr_assert(w.d && w.p);
}

static inline void close_all(void) {
    while (w.nbuffers) check_buffer_free(w.buffers[--w.nbuffers]);
    check_program_free(w.p);
    check_device_free(w.d);
    ir_module_free(w.m);
    cr_assert_eq(w.cx.used, 0, "%zu bytes leak", w.cx.used);
}

static inline check_buffer *keep_buffer(check_buffer *b) {
    cr_assert(b);
    return w.buffers[w.nbuffers++] = b;
}

/* Buffers of i32: with values, and undefined. */
static inline check_buffer *ints(unsigned n, const int32_t *values) {
    return keep_buffer(check_buffer_new(w.d, n * sizeof *values, values, 0));
}

static inline check_buffer *zeros(unsigned n) {
    int32_t *values = calloc(n, sizeof *values);
    check_buffer *b = ints(n, values);
    free(values);
    return b;
}

static inline int32_t int_at(const check_buffer *b, unsigned k) {
    int32_t v = 0;
    cr_assert(check_buffer_read(b, k * sizeof v, sizeof v, &v));
    return v;
}

static inline check_arg arg_buffer(check_buffer *b) {
    return (check_arg){.kind = IR_ARG_POINTER, .buffer = b};
}
static inline check_arg arg_bytes(const void *bytes, uint64_t size) {
    return (check_arg){.kind = IR_ARG_VALUE, .bytes = bytes, .size = size};
}
static inline check_arg arg_local(uint64_t size) {
    return (check_arg){.kind = IR_ARG_LOCAL, .size = size};
}
#define INT(v) arg_bytes(&(const int32_t){v}, 4)

static inline void set_range(uint64_t global, uint64_t local) {
    w.range = (ir_range){.dims = 1, .global = {global}, .local = {local}};
}

/* Runs the kernel @k of w.range. */
static inline bool try_run(const check_arg *args, unsigned n) {
    check_launch l = {"k", w.range, args, n, w.options};
    l.options.report = keep_report;
    l.options.print = keep_print;
    w.reports[0] = 0;
    return check_run(w.p, &l, &w.result);
}

#define RUN(...)                                                                                   \
    cr_assert(try_run((const check_arg[]){__VA_ARGS__},                                            \
                      sizeof((check_arg[]){__VA_ARGS__}) / sizeof(check_arg)),                     \
              "%s", w.message)
#define RUN_PLAIN() cr_assert(try_run(NULL, 0), "%s", w.message)
#define SAYS(text) cr_assert_str_eq(w.reports, text)
#define SAYS_NOTHING() cr_assert_str_eq(w.reports, "")

/* The address of element %i of %x, as %p. */
#define ELEMENT(i, x, p)                                                                           \
    "  %" p "o: i64 = shl %" i ", 2\n"                                                             \
    "  %" p ": ptr.global = ptradd %" x ", %" p "o\n"
#define LOCAL_ELEMENT(i, x, p)                                                                     \
    "  %" p "o: i64 = shl %" i ", 2\n"                                                             \
    "  %" p ": ptr.local = ptradd " x ", %" p "o\n"

/* Sums the group's elements in local memory, a tree with a barrier per level. */
#define TREE(barrier)                                                                              \
    "@tmp: local [8 x i32] align 4\n"                                                              \
    "kernel @k(%x: ptr.global, %out: ptr.global) {\n"                                              \
    "entry:\n"                                                                                     \
    "  %i: i64 = global_id 0\n"                                                                    \
    "  %l: i64 = local_id 0\n"                                                                     \
    "  %n: i64 = local_size 0\n" ELEMENT("i", "x", "p") LOCAL_ELEMENT(                             \
        "l", "@tmp", "t") "  %v: i32 = load %p align 4\n"                                          \
                          "  store %v, %t align 4\n" barrier "  %half: i64 = lshr %n, 1\n"         \
                          "  jmp loop\n"                                                           \
                          "loop:\n"                                                                \
                          "  %s: i64 = phi [entry: %half, next: %s2]\n"                            \
                          "  %more: i1 = ne %s, i64 0\n"                                           \
                          "  br %more, level, done\n"                                              \
                          "level:\n"                                                               \
                          "  %active: i1 = ult %l, %s\n"                                           \
                          "  br %active, add, next\n"                                              \
                          "add:\n"                                                                 \
                          "  %m: i64 = add %l, %s\n" LOCAL_ELEMENT(                                \
                              "m", "@tmp", "u") "  %a: i32 = load %t align 4\n"                    \
                                                "  %b: i32 = load %u align 4\n"                    \
                                                "  %ab: i32 = add %a, %b\n"                        \
                                                "  store %ab, %t align 4\n"                        \
                                                "  jmp next\n"                                     \
                                                "next:\n" barrier "  %s2: i64 = lshr %s, 1\n"      \
                                                "  jmp loop\n"                                     \
                                                "done:\n"                                          \
                                                "  %first: i1 = eq %l, i64 0\n"                    \
                                                "  br %first, write, end\n"                        \
                                                "write:\n"                                         \
                                                "  %g: i64 = group_id 0\n" ELEMENT(                \
                                                    "g", "out",                                    \
                                                    "q") "  %r: i32 = load @tmp align 4\n"         \
                                                         "  store %r, %q align 4\n"                \
                                                         "  jmp end\n"                             \
                                                         "end:\n  ret\n}\n"

/* Words 10, 20, 30 and 40 of the module are lines 3, 7, 9 and 11 of k.cl. */
#define LINES                                                                                      \
    "file \"k.cl\"\n"                                                                              \
    "line 10 0 3 1\n"                                                                              \
    "line 20 0 7 5\n"                                                                              \
    "line 30 0 9 5\n"                                                                              \
    "line 40 0 11 5\n"

#define AT_KERNEL "  work-item (0, 0, 0) of group (0, 0, 0) in kernel @k: "

#endif
