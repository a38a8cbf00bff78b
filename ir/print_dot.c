/* print_dot.c — control flow graphs in the language of Graphviz.
 *
 * Each function is a cluster, each block a node with its instructions, and each successor of a
 * block an edge.  Of a branch, the edge that is taken when the condition holds is marked T, the
 * other one F; the edges of a switch are numbered.
 */
#include "ir/text.h"

/* Text inside of quotation marks; lines are set flush left. */
static void put_escaped(ir_text *out, const char *text, size_t n) {
    for (size_t k = 0; k < n; k++) {
        char c = text[k];
        if (c == '\n')
            ir_put(out, "\\l");
        else
            ir_putf(out, "%s%c", c == '"' || c == '\\' ? "\\" : "", c);
    }
}

static const char *edge_label(const ir_block *b, unsigned n, char room[16]) {
    snprintf(room, 16, "%u", n);
    if (b->nsucc == 1) return "";
    return b->nsucc == 2 ? (n ? "F" : "T") : room;
}

static void put_edges(ir_text *out, unsigned number, const ir_block *b) {
    char room[16];
    for (unsigned n = 0; n < b->nsucc; n++)
        ir_putf(out, "    f%u_%u -> f%u_%u [label=\"%s\"];\n", number, b->id, number,
                b->succ[n]->id, edge_label(b, n, room));
}

static void put_nodes(ir_text *out, unsigned number, const ir_func *f) {
    ir_text text = {.arena = out->arena};
    text_printer *p = text_printer_new(&text, f);
    foreach_block (b, f) {
        text.n = 0;
        text_print_block(p, &text, b, 0);
        ir_putf(out, "    f%u_%u [label=\"", number, b->id);
        put_escaped(out, text.data, text.n);
        ir_put(out, "\"];\n");
        put_edges(out, number, b);
    }
}

void ir_print_dot(ir_text *out, const ir_module *m) {
    unsigned number = 0;
    ir_put(out, "digraph module {\n  node [shape=box, fontname=monospace];\n");
    foreach_func (f, m) {
        if (ir_is_declaration(f)) continue;
        ir_putf(out, "  subgraph cluster_%u {\n    label=\"@", number);
        put_escaped(out, f->name, strlen(f->name));
        ir_put(out, "\";\n");
        put_nodes(out, number, f);
        ir_put(out, "  }\n");
        number++;
    }
    ir_put(out, "}\n");
}
