/* golden_test.c — what allocation makes of the functions of allocate.ir, as text: allocate.txt.
 * With BLESS=1 in the environment, the text is rewritten.
 */
#include "tests/codegen/regalloc/shapes.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { MOST = 1 << 16 };

typedef struct {
    ir_ctx cx;
    ir_module *m;
    char input[MOST], got[MOST];
} golden;

static void report(void *user, const ir_message *m) {
    (void)user;
    fprintf(stderr, "%u: %s\n", m->line, m->text);
}

static void read_text(const char *path, char *out) {
    FILE *f = fopen(path, "rb");
    cr_assert(f, "%s", path);
    out[fread(out, 1, MOST - 1, f)] = 0;
    fclose(f);
}

static void allocate_all(void *user) {
    golden *g = user;
    g->m = ir_parse(&g->cx, "allocate.ir", g->input, strlen(g->input));
    cr_assert(g->m && ir_verify_module(g->m));
    ir_text t = {.arena = &g->m->arena};
    foreach_func (f, g->m) {
        cg_allocation a;
        cr_assert(cg_allocate(&shapes_target, f, &(cg_regalloc_options){.check = true},
                              &g->m->arena, &a));
        cg_print_machine(&t, &shapes_target, f, &a);
        ir_put(&t, "\n");
    }
    snprintf(g->got, sizeof g->got, "%s", t.data);
}

static void bless(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    cr_assert(f, "%s", path);
    fputs(text, f);
    fclose(f);
}

Test(golden, allocate) {
    static golden g;
    static char want[MOST];
    g.cx.report = report;
    read_text("tests/codegen/regalloc/allocate.ir", g.input);
    cr_assert(ir_try(&g.cx, allocate_all, &g));
    if (getenv("BLESS")) bless("tests/codegen/regalloc/allocate.txt", g.got);
    read_text("tests/codegen/regalloc/allocate.txt", want);
    cr_assert_str_eq(g.got, want);
    ir_module_free(g.m);
}
