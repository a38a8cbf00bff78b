/* uniform_print.c — what uniform.c finds, as text. */
#include "passes/analysis/analysis.h"

static void print_varying(ir_text *out, const pass_uniformity *u, const ir_block *b) {
    const char *separator = " varies: ";
    foreach_inst (i, b) {
        if (!u->varies[i->id] || i->type == IR_VOID) continue;
        const char *name = ir_name_of(b->func, i);
        ir_putf(out, "%s%%%s", separator, name ? name : "?");
        separator = ", ";
    }
}

/* Does:  prints for each block what varies between the items of a group, whether its branch
 *        diverges, and whether exits of the loop that it heads do.
 * Needs: names, to be of use. */
void pass_show_uniform(ir_func *f, pass_ctx *cx, ir_text *out) {
    pass_uniformity u;
    pass_find_uniform(f, cx->scratch, &u);
    ir_putf(out, "; @%s\n", f->name);
    foreach_block (b, f) {
        ir_putf(out, ";   %s:", b->name ? b->name : "?");
        print_varying(out, &u, b);
        ir_putf(out, "%s%s\n", u.divergent[b->id] ? " diverges" : "",
                u.divergent_exits[b->id] ? " exits diverge" : "");
    }
}
