/* fusing.h — the world of the tests of fusion: what was parsed, what became of it, what must hold.
 *
 * Kernels are IR text.  Where the meaning counts, the members are run one after another and the
 * fused kernel once, on equal memories, which must then be equal.
 */
#ifndef SPVFUSE_TESTS_FUSING_H
#define SPVFUSE_TESTS_FUSING_H

#include "passes/fusion/fuse_impl.h"
#include "tests/passes/items.h"
#include "tests/passes/ranges.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static ir_ctx cx;
static ir_arena arena;
static char message[2048]; /* of the first error */
static ir_module *parsed[4];
static unsigned nparsed;
static pass_fuse_result fused;

static inline void keep_error(void *user, const ir_message *m) {
    (void)user;
    if (m->severity == IR_ERROR && !message[0]) snprintf(message, sizeof message, "%s", m->text);
}

static inline void setup(void) {
    cx = (ir_ctx){.report = keep_error};
    ir_arena_init(&arena, &cx);
    message[0] = 0;
    nparsed = 0;
    fused = (pass_fuse_result){0};
}

static inline void teardown(void) {
    ir_module_free(fused.module);
    while (nparsed) ir_module_free(parsed[--nparsed]);
    ir_arena_free(&arena);
    cr_assert_eq(cx.used, 0, "everything is given back");
}

TestSuite(fuse, .init = setup, .fini = teardown);

/* -------------------------------------------------------------------------------------- helpers */

static inline void parse_text(void *text) {
    parsed[nparsed] = ir_parse(&cx, "test.ir", text, strlen(text));
}

static inline ir_module *parse(const char *text) {
    bool ok = ir_try(&cx, parse_text, (void *)(uintptr_t)text);
    cr_assert(ok && parsed[nparsed], "the text of the test is right: %s", message);
    return parsed[nparsed++];
}

static inline pass_fuse_member member(ir_module *m, const char *name, const char *sizes) {
    const ir_func *k = ir_func_find(m, name);
    cr_assert(k, "kernel @%s", name);
    return (pass_fuse_member){k, parse_range(sizes)};
}

static inline void print_kernel(void *text) { ir_print_func(text, fused.kernel, 0); }

static inline const char *fused_text(void) {
    ir_text t = {.arena = &arena};
    cr_assert(ir_try(&cx, print_kernel, &t));
    return t.data;
}

#define assert_has(text, part) cr_assert(strstr(text, part), "\"%s\" is in\n%s", part, text)
#define assert_lacks(text, part) cr_assert(!strstr(text, part), "\"%s\" is not in\n%s", part, text)

static inline void assert_fuses(const pass_fuse_request *q) {
    cr_assert(pass_fuse(&cx, q, &arena, &fused), "fuses: %s", message);
    cr_assert(fused.kernel, "not refused: %s",
              fused.decisions.n ? fused.decisions.data[fused.decisions.n - 1].text : "");
}

static inline void assert_error(const pass_fuse_request *q, const char *start) {
    cr_assert(!pass_fuse(&cx, q, &arena, &fused));
    cr_assert(!fused.kernel && !fused.module);
    cr_assert(strncmp(message, start, strlen(start)) == 0, "\"%s\" starts with \"%s\"", message,
              start);
}

static inline void assert_refused(const pass_fuse_request *q, const char *rule, const char *start) {
    cr_assert(pass_fuse(&cx, q, &arena, &fused), "no error: %s", message);
    cr_assert(!fused.kernel && !fused.module && fused.decisions.n);
    const pass_decision *d = &fused.decisions.data[fused.decisions.n - 1];
    cr_assert(d->refusal);
    cr_assert_str_eq(d->rule, rule);
    cr_assert(strncmp(d->text, start, strlen(start)) == 0, "\"%s\" starts with \"%s\"", d->text,
              start);
}

static inline bool has_decision(const char *rule) {
    for (uint32_t n = 0; n < fused.decisions.n; n++)
        if (strcmp(fused.decisions.data[n].rule, rule) == 0) return true;
    return false;
}

/* ---------------------------------------------------------------------------------------
 * equivalence
 *
 * Arguments by parameter of each member; pointers are addresses in the memory of items.h. */

typedef struct {
    const pass_fuse_request *request;
    const uint64_t (*args)[8];
    items *before, *after;
} both;

static inline void run_members(void *user) {
    const both *r = user;
    for (uint32_t m = 0; m < r->request->nmembers; m++) {
        const pass_fuse_member *k = &r->request->members[m];
        ir_value args[8] = {0};
        for (uint32_t p = 0; p < k->kernel->nparams; p++) args[p].bits[0] = r->args[m][p];
        items_run(r->before, ir_func_find(k->kernel->module, k->kernel->name), args, &k->range);
    }
}

static inline void run_fused(void *user) {
    const both *r = user;
    ir_value args[16] = {0};
    for (uint32_t a = 0; a < fused.nargs; a++) {
        const pass_fuse_arg *arg = &fused.args[a];
        if (arg->index != PASS_NO_PARAM)
            args[arg->index].bits[0] = r->args[arg->member][arg->param];
    }
    items_run(r->after, fused.kernel, args, &fused.range);
}

static inline items *make_items(void) {
    items *q = calloc(1, sizeof *q);
    ir_arena_init(&q->arena, &cx);
    for (unsigned n = 0; n < ITEMS_LOCALS; n += 4) memcpy(q->memory + n, &n, 4);
    return q;
}

static inline void free_items(items *q) {
    ir_arena_free(&q->arena);
    free(q);
}

static inline void assert_same_result(const pass_fuse_request *q, const uint64_t (*args)[8]) {
    both r = {q, args, make_items(), make_items()};
    cr_assert(ir_try(&cx, run_members, &r));
    cr_assert(ir_try(&cx, run_fused, &r));
    cr_assert_eq(r.before->faults, 0);
    cr_assert_eq(r.after->faults, 0);
    for (unsigned n = 0; n < ITEMS_LOCALS; n += 4)
        cr_assert_eq(memcmp(r.before->memory + n, r.after->memory + n, 4), 0, "at byte %u", n);
    free_items(r.before);
    free_items(r.after);
}

static inline void assert_optimizes(void) {
    const pass_options options = {.passes = "sccp,gvn,dce", .verify_each = true, .bisect = -1};
    cr_assert(pass_run(fused.module, &options), "%s", message);
    pass_fuse_trim(&fused);
    cr_assert(ir_verify_func(fused.kernel), "%s", message);
}

/* -------------------------------------------------------------------------------------- kernels */

static const char three[] = "kernel @a() {\ne:\n ret\n}\n"
                            "kernel @b() {\ne:\n ret\n}\n"
                            "kernel @c() {\ne:\n ret\n}\n";

#define INDEX "  %i: i64 = global_id 0\n  %o: i64 = shl %i, 2\n"
#define BINARY(name, op)                                                                           \
    "kernel @" name "(%x: ptr.global noalias align 4 of i32, %y: ptr.global align 8 of i32,"       \
    " %z: ptr.global align 4 of i32) {\nentry:\n" INDEX                                            \
    "  %px: ptr.global = ptradd %x, %o\n  %py: ptr.global = ptradd %y, %o\n"                       \
    "  %pz: ptr.global = ptradd %z, %o\n  %a: i32 = load %px align 4\n"                            \
    "  %b: i32 = load %py align 4\n  %c: i32 = " op " %a, %b\n  store %c, %pz align 4\n  ret\n}\n"

static const char add_mul[] = BINARY("add", "add") BINARY("mul", "mul");

#endif
