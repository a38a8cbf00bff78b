/* explain_dot.c — launches and the buffers between them, for Graphviz.
 *
 * Each part is a cluster, with a node for each launch; a buffer is a node with an edge for each
 * parameter that is given it, as thick as the bytes that it moves.  Promoted buffers are dashed,
 * and the two kernels that cannot be one are joined by a red edge with the reason.
 */
#include "runtime/cli/explain.h"

/* Any text in quotes. */
static void put_text(FILE *f, const char *text) {
    putc('"', f);
    for (const char *s = text; *s; s++) {
        if (*s == '"' || *s == '\\') putc('\\', f);
        if ((unsigned char)*s >= ' ') putc(*s, f);
    }
    putc('"', f);
}

/* From 1 to 6 points, by the logarithm of the part that it is of all bytes. */
static double width_of(uint64_t bytes, uint64_t all) {
    double width = 6;
    for (uint64_t n = bytes; n && n < all && width > 1; n *= 2) width -= 0.75;
    return bytes ? width : 1;
}

static uint64_t moved(const spvf_explained_buffer *b) {
    return b->unfused.read + b->unfused.written;
}

/* An edge from the launch that writes, or to the one that reads. */
static void put_edge(FILE *f, size_t part, const spvf_explanation *e, size_t buffer, size_t param) {
    const spvf_explained_buffer *b = e->buffers[buffer];
    const spvf_param_info *p = e->params[b->params[param]];
    const char *dashed = b->promoted ? ", style=dashed" : "";
    const double width = width_of(moved(b), e->unfused_bytes);
    const char *arrow = b->read && b->written ? "both" : b->written ? "forward" : "back";
    fprintf(f, "    p%zum%u -> p%zub%zu [dir=%s, penwidth=%.2f%s, label=", part, p->member, part,
            buffer, arrow, width, dashed);
    put_text(f, p->name ? p->name : "");
    fputs("];\n", f);
}

static void put_buffer(FILE *f, size_t part, const spvf_explanation *e, size_t buffer) {
    const spvf_explained_buffer *b = e->buffers[buffer];
    char bytes[64];
    snprintf(bytes, sizeof bytes, "%llu to %llu bytes", (unsigned long long)moved(b),
             (unsigned long long)(b->fused.read + b->fused.written));
    fprintf(f, "    p%zub%zu [shape=cylinder%s, label=", part, buffer,
            b->promoted ? ", style=dashed" : "");
    put_text(f, b->name);
    fputs(", tooltip=", f);
    put_text(f, bytes);
    fputs("];\n", f);
    for (size_t k = 0; k < b->param_count; k++) put_edge(f, part, e, buffer, k);
}

static void put_members(FILE *f, size_t part, const spvf_explanation *e) {
    for (size_t m = 0; m < e->member_count; m++) {
        fprintf(f, "    p%zum%zu [shape=box, label=", part, m);
        put_text(f, e->members[m]->kernel);
        fputs("];\n", f);
        if (m == 0) continue;
        const bool waits = m <= e->gap_count && e->gaps[m - 1]->barrier;
        fprintf(f, "    p%zum%zu -> p%zum%zu [color=gray, label=\"%s\"];\n", part, m - 1, part, m,
                !waits                  ? ""
                : e->gaps[m - 1]->phase ? "phase"
                                        : "barrier");
    }
}

static void put_refusal(FILE *f, size_t part, const spvf_decision *d) {
    const spvf_access *a = d->why.first, *b = d->why.second;
    if (!a || !b) return;
    fprintf(f, "    p%zum%u -> p%zum%u [color=red, fontcolor=red, constraint=false, label=", part,
            a->member, part, b->member);
    put_text(f, d->rule);
    fputs(", tooltip=", f);
    put_text(f, d->text);
    fputs("];\n", f);
}

static void put_part(FILE *f, size_t part, const spvf_explanation *e) {
    fprintf(f, "  subgraph cluster_%zu {\n    color=%s;\n    label=", part,
            e->refusal ? "red" : "gray");
    put_text(f, e->name);
    fputs(";\n", f);
    put_members(f, part, e);
    for (size_t b = 0; b < e->buffer_count; b++) put_buffer(f, part, e, b);
    if (e->refusal) put_refusal(f, part, e->refusal);
    fputs("  }\n", f);
}

/* Between two parts that could not be one. */
static void put_cut(FILE *f, const cli_explained *all, size_t part) {
    const spvf_explained_part *p = &all->parts[part];
    if (!p->cut || !p->cut->refusal || part + 1 == all->count) return;
    fprintf(f, "  p%zum%zu -> p%zum0 [color=red, fontcolor=red, style=bold, label=", part,
            p->count - 1, part + 1);
    put_text(f, p->cut->refusal->rule);
    fputs(", tooltip=", f);
    put_text(f, p->cut->refusal->text);
    fputs("];\n", f);
}

void cli_print_dot(FILE *f, const cli_explained *all) {
    fputs("digraph plan {\n  rankdir=TB;\n  node [fontname=\"sans-serif\"];\n"
          "  edge [fontname=\"sans-serif\", fontsize=10];\n",
          f);
    for (size_t k = 0; k < all->count; k++) put_part(f, k, all->parts[k].explanation);
    for (size_t k = 0; k < all->count; k++) put_cut(f, all, k);
    fputs("}\n", f);
}
