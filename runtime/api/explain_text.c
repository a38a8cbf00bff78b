/* explain_text.c — an explanation for people:
 *
 *   group pair: fused
 *     0: @add on {512/16}
 *       in1: argument 0
 *       out: argument 1
 *     1: @mul on {512/16}
 *       in: the same as argument 1
 *     runs on {512/16} [fuse.range]
 *     no barrier between @add and @mul is needed [fuse.no-barrier]
 *       @add (k.cl:3) writes 4 bytes at …; @mul (k.cl:8) reads 4 bytes at …
 *     buffer add_out (0:add.out, 1:mul.in): read and written; items depend on themselves
 *     bytes moved: 12288 unfused, 10240 fused: at most 1.20 times as fast
 *
 * The code of its kernels follows if it was asked for (explain_code_text.c).
 */
#include "runtime/api/explain_text.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------------------------- parts */

enum { COLUMNS = 100 };

/* Text that goes on in the next line, four columns deeper, where it would be too long. */
typedef struct {
    FILE *f;
    int indent, column; /* column 0: nothing is written yet */
} paragraph;

static void print_words(paragraph *p, const char *text) {
    while (*text) {
        int n = (int)strcspn(text, " ");
        bool fits = p->column + 1 + n <= COLUMNS;
        if (p->column == 0)
            p->column = fprintf(p->f, "%*s", p->indent, "");
        else if (fits)
            p->column += fprintf(p->f, " ");
        else
            p->column = fprintf(p->f, "\n%*s", p->indent + 4, "") - 1;
        p->column += fprintf(p->f, "%.*s", n, text);
        text += n + (text[n] == ' ');
    }
}

void rt_print_paragraph(FILE *f, int indent, const char *start, const char *text) {
    paragraph p = {f, indent, 0};
    print_words(&p, start);
    print_words(&p, text);
    putc('\n', f);
}

static void print_sizes(FILE *f, const uint64_t *n, uint32_t dims) {
    for (uint32_t d = 0; d < dims; d++)
        fprintf(f, "%s%llu", d ? "," : "", (unsigned long long)n[d]);
}

void rt_print_range(FILE *f, const spvf_range *r) {
    fputs("{", f);
    print_sizes(f, r->global, r->dims);
    if (r->local[0]) fputs("/", f);
    if (r->local[0]) print_sizes(f, r->local, r->dims);
    fputs("}", f);
    if (!r->offset[0] && !r->offset[1] && !r->offset[2]) return;
    fputs(" offset ", f);
    print_sizes(f, r->offset, r->dims);
}

/* "out", or "parameter 2" when it has no name. */
static void print_param_name(FILE *f, const spvf_param_info *p, const char *otherwise) {
    if (p->name)
        fputs(p->name, f);
    else
        fprintf(f, "%s%u", otherwise, p->param);
}

static void print_param(FILE *f, const spvf_param_info *p) {
    fputs("    ", f);
    print_param_name(f, p, "parameter ");
    switch (p->use) {
    case SPVF_PARAM_USED: fprintf(f, ": argument %u\n", p->arg); break;
    case SPVF_PARAM_SAME: fprintf(f, ": the same as argument %u\n", p->arg); break;
    case SPVF_PARAM_CONSTANT: fprintf(f, ": the constant %s\n", p->value); break;
    case SPVF_PARAM_UNUSED: fputs(": not used any more\n", f); break;
    case SPVF_PARAM_PROMOTED: fputs(": private or local memory\n", f); break;
    }
}

/* Parameters are listed member by member; `next` is the first of this one. */
static void print_member(FILE *f, const spvf_explanation *e, size_t m, size_t *next) {
    const spvf_explained_member *k = e->members[m];
    fprintf(f, "  %zu: @%s on ", m, k->kernel);
    rt_print_range(f, &k->range);
    fprintf(f, "%s%s\n", k->guarded ? ", some of the items" : "",
            k->remapped ? ", ids computed" : "");
    while (*next < e->param_count && e->params[*next]->member == m)
        print_param(f, e->params[(*next)++]);
}

/* ------------------------------------------------------------------------------------ decisions */

static void print_decision(FILE *f, const spvf_decision *d) {
    char rule[64];
    snprintf(rule, sizeof rule, "[%s]", d->rule);
    rt_print_paragraph(f, 2, d->text, rule);
    if (d->why.text && !strstr(d->text, d->why.text)) rt_print_paragraph(f, 4, d->why.text, "");
    if (d->cure) rt_print_paragraph(f, 4, "cure:", d->cure);
}

static bool is_told(const spvf_explanation *e, const char *accesses) {
    for (size_t k = 0; k < e->decision_count; k++)
        if (e->decisions[k]->why.text && strcmp(e->decisions[k]->why.text, accesses) == 0)
            return true;
    return false;
}

/* -------------------------------------------------------------------------------------- buffers */

/* "0:add.out, 1:mul.in" */
static void print_identities(FILE *f, const spvf_explanation *e, const spvf_explained_buffer *b) {
    for (size_t k = 0; k < b->param_count; k++) {
        const spvf_param_info *p = e->params[b->params[k]];
        fprintf(f, "%s%u:%s.", k ? ", " : "", p->member, p->kernel);
        print_param_name(f, p, "");
    }
}

static void print_buffer(FILE *f, const spvf_explanation *e, const spvf_explained_buffer *b) {
    static const char *const kinds[] = {"buffer", "local memory", "value", "image", "sampler"};
    static const char *const uses[] = {"not accessed", "read", "written", "read and written"};
    static const char *const classes[] = {
        [SPVF_DEPENDENCE_NONE] = "no member depends on it",
        [SPVF_DEPENDENCE_ITEM] = "items depend on themselves",
        [SPVF_DEPENDENCE_GROUP] = "items of a work-group depend on each other",
        [SPVF_DEPENDENCE_UNKNOWN] = "not understood",
        [SPVF_DEPENDENCE_GRID] = "work-groups depend on each other"};
    const char *accesses = b->dependence.text;
    fprintf(f, "  %s %s (", kinds[b->kind], b->name);
    print_identities(f, e, b);
    fprintf(f, "): %s; %s\n", uses[b->read + 2 * b->written], classes[b->dependence.kind]);
    if (accesses && !is_told(e, accesses)) rt_print_paragraph(f, 4, accesses, "");
}

static void print_traffic(FILE *f, const spvf_explanation *e) {
    if (!e->buffer_count) return;
    fprintf(f, "  bytes moved: %llu unfused, %llu fused", (unsigned long long)e->unfused_bytes,
            (unsigned long long)e->fused_bytes);
    if (e->ceiling > 0) fprintf(f, ": at most %.2f times as fast", e->ceiling);
    fputs(e->exact ? "\n" : ", as far as addresses are understood\n", f);
}

static void print_explanation(FILE *f, const void *what) {
    const spvf_explanation *e = what;
    size_t param = 0;
    fprintf(f, "group %s: %s\n", e->name, e->fused ? "fused" : "not fused");
    for (size_t k = 0; k < e->member_count; k++) print_member(f, e, k, &param);
    for (size_t k = 0; k < e->decision_count; k++) print_decision(f, e->decisions[k]);
    for (size_t k = 0; k < e->buffer_count; k++) print_buffer(f, e, e->buffers[k]);
    print_traffic(f, e);
    for (size_t k = 0; k < e->code_count; k++) rt_print_code(f, 2, e->codes[k]);
}

char *rt_text_of(void (*print)(FILE *f, const void *what), const void *what) {
    char *text = NULL;
    size_t size;
    FILE *f = what ? open_memstream(&text, &size) : NULL;
    if (!f) return NULL;
    print(f, what);
    bool ok = !ferror(f);
    if (fclose(f) == 0 && ok) return text;
    free(text);
    return NULL;
}

char *spvf_explanation_text(const spvf_explanation *e) { return rt_text_of(print_explanation, e); }
