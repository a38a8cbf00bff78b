/* world.h — where a test of passes works: a context that keeps the last error, an arena, a module
 * made of text, and what two kernels of it become when they are fused.
 *
 *   world w;
 *   world_begin(&w);
 *   cr_assert(ir_try(&w.cx, work, &w), "%s", w.message);   work: world_parse, world_fuse …
 *   world_end(&w);
 */
#ifndef SPVFUSE_TESTS_WORLD_H
#define SPVFUSE_TESTS_WORLD_H

#include "passes/fusion/fuse.h"
#include "tests/passes/ranges.h"

#include <criterion/criterion.h>

typedef struct {
    ir_ctx cx;
    ir_arena arena;
    ir_module *m;
    pass_fuse_result fused;
    char message[500];
} world;

static inline void world_report(void *user, const ir_message *m) {
    world *w = user;
    if (m->severity == IR_ERROR) snprintf(w->message, sizeof w->message, "%s", m->text);
}

static inline void world_begin(world *w) {
    *w = (world){.cx = {.report = world_report, .report_user = w}};
    ir_arena_init(&w->arena, &w->cx);
}

static inline void world_end(world *w) {
    ir_module_free(w->fused.module);
    ir_module_free(w->m);
    ir_arena_free(&w->arena);
    cr_assert_eq(w->cx.used, 0);
}

static inline void world_parse(world *w, const char *what, const char *text) {
    w->m = ir_parse(&w->cx, "test.ir", text, strlen(text));
    cr_assert(w->m && ir_verify_module(w->m), "%s: %s", what, w->message);
}

/* Fuses @write and @read; the request says how. */
static inline void world_fuse(world *w, const char *what, const char *const range[2],
                              pass_fuse_request q) {
    const pass_fuse_member members[] = {{ir_func_find(w->m, "write"), parse_range(range[0])},
                                        {ir_func_find(w->m, "read"), parse_range(range[1])}};
    q.name = "f";
    q.members = members;
    q.nmembers = 2;
    cr_assert(pass_fuse(&w->cx, &q, &w->arena, &w->fused), "%s: %s", what, w->message);
}

#endif
