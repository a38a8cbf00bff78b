/* explain_summary.c — what became of the launches of a plan, in a few lines:
 *
 *   4 launches become 3
 *   32.8 kB become 28.7 kB: at most 1.14 times as fast
 *   the cut is between @square and @slope: line 3 of slope.cl writes y[i], and line 13 reads y[i+1]
 *
 * The third line is about what keeps launches apart.  If there are several such reasons, each has a
 * line.
 */
#include "runtime/api/explain_text.h"

#include <stdlib.h>

enum { AMOUNT = 32 };

/* "2.6 MB"; three digits are enough to compare. */
static const char *print_bytes(char text[AMOUNT], uint64_t bytes) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    double n = (double)bytes;
    unsigned unit = 0;
    while (n >= 999.5) n /= 1000, unit++;
    snprintf(text, AMOUNT, "%.*f %s", unit && n < 99.95 ? 1 : 0, n, units[unit]);
    return text;
}

/* --------------------------------------------------------------------------------------- totals */

typedef struct {
    size_t launches, kernels;
    uint64_t before, after;
    bool exact;
} totals;

static uint64_t add(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

static totals count(const spvf_explained_part *parts, size_t n) {
    totals t = {.exact = true};
    for (size_t k = 0; k < n; k++) {
        const spvf_explanation *e = parts[k].explanation;
        t.launches += parts[k].count;
        t.kernels += e->fused ? 1 : parts[k].count;
        t.before = add(t.before, e->unfused_bytes);
        t.after = add(t.after, e->fused ? e->fused_bytes : e->unfused_bytes);
        t.exact &= e->exact;
    }
    return t;
}

static const char *plural(size_t n) { return n == 1 ? "" : "es"; }

static void print_totals(FILE *f, const totals *t) {
    char before[AMOUNT], after[AMOUNT];
    print_bytes(before, t->before);
    print_bytes(after, t->after);
    if (t->kernels == t->launches)
        fprintf(f, "%zu launch%s: none are fused\n", t->launches, plural(t->launches));
    else
        fprintf(f, "%zu launch%s become %zu\n", t->launches, plural(t->launches), t->kernels);
    if (t->before == t->after)
        fprintf(f, "%s are moved, as before", before);
    else
        fprintf(f, "%s become %s", before, after);
    if (t->after && t->before != t->after)
        fprintf(f, ": at most %.2f times as fast", (double)t->before / (double)t->after);
    fputs(t->exact ? "\n" : ", as far as addresses are understood\n", f);
}

/* ----------------------------------------------------------------------------------------- cuts */

/* Without its folders: what is meant is clear here. */
static const char *short_name(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash && slash[1] ? slash + 1 : file;
}

/* "line 3 of k.cl writes y[i]"; the file only where it is another one than that of `before`. */
static void print_access(FILE *f, const spvf_access *a, const spvf_access *before) {
    const char *known = before && before->source_file ? before->source_file : "";
    static const char *const verbs[] = {"does not access", "reads", "writes", "updates"};
    if (!a->source_file)
        fprintf(f, "@%s", a->kernel);
    else if (strcmp(a->source_file, known) == 0)
        fprintf(f, "line %u", a->source_line);
    else
        fprintf(f, "line %u of %s", a->source_line, short_name(a->source_file));
    fprintf(f, " %s %s", verbs[a->reads + 2 * a->writes], a->source ? a->source : a->place);
}

static const char *reason_of(spvf_dependence_kind kind) {
    switch (kind) {
    case SPVF_DEPENDENCE_GRID: return " in another work-group";
    case SPVF_DEPENDENCE_GROUP: return " in another work-item";
    case SPVF_DEPENDENCE_UNKNOWN: return ", which cannot be compared";
    default: return "";
    }
}

static void print_reason(FILE *f, const spvf_decision *d) {
    const spvf_dependence *why = &d->why;
    if (why->first && why->second) {
        print_access(f, why->first, NULL);
        fputs(", and ", f);
        print_access(f, why->second, why->first);
        fputs(reason_of(why->kind), f);
    } else {
        fputs(d->text, f);
    }
    fprintf(f, " [%s]", d->rule);
}

/* Between launches of a part that are not fused. */
static void print_refusal(FILE *f, const void *what) {
    const spvf_explanation *e = what;
    const spvf_access *a = e->refusal->why.first, *b = e->refusal->why.second;
    fprintf(f, "%s is not fused", e->name);
    if (a && b) fprintf(f, ": the cut is between @%s and @%s", a->kernel, b->kernel);
    fputs(a && b ? ", since " : ": ", f);
    print_reason(f, e->refusal);
}

/* After a part. */
static void print_cut(FILE *f, const void *what) {
    const spvf_explained_part *p = what;
    const spvf_explanation *e = p->cut;
    const size_t last = p->first + p->count;
    fprintf(f, "the cut is between %zu and %zu", last, last + 1);
    if (p->count < e->member_count)
        fprintf(f, " (@%s, @%s)", e->members[p->count - 1]->kernel, e->members[p->count]->kernel);
    fputs(", since ", f);
    print_reason(f, e->refusal);
}

static void print_line(FILE *f, void (*print)(FILE *f, const void *what), const void *what) {
    char *line = rt_text_of(print, what);
    if (line) rt_print_paragraph(f, 0, line, "");
    free(line);
}

typedef struct {
    const spvf_explained_part *parts;
    size_t count;
} part_list;

/* What keeps launches apart where no access does. */
static void print_others(FILE *f, const void *what) {
    const part_list *list = what;
    bool full = false;
    for (size_t k = 0; k + 1 < list->count; k++) full |= list->parts[k].count == RT_CHAIN_LAUNCHES;
    if (list->count < 2)
        fputs("nothing keeps launches apart", f);
    else if (full)
        fprintf(f, "one kernel is made of at most %d launches", RT_CHAIN_LAUNCHES);
    else
        fputs("groups or statements between them keep launches apart, and no access does", f);
}

static void print_summary(FILE *f, const void *what) {
    const part_list *list = what;
    const totals t = count(list->parts, list->count);
    bool any = false;
    print_totals(f, &t);
    for (size_t k = 0; k < list->count; k++) {
        const spvf_explained_part *p = &list->parts[k];
        const bool refused = p->explanation->refusal, cut = p->cut && p->cut->refusal;
        any |= refused || cut;
        if (refused) print_line(f, print_refusal, p->explanation);
        if (cut) print_line(f, print_cut, p);
    }
    if (!any) print_line(f, print_others, list);
}

char *spvf_explained_parts_summary(const spvf_explained_part *parts, size_t count) {
    const part_list list = {parts, count};
    return parts || !count ? rt_text_of(print_summary, &list) : NULL;
}
