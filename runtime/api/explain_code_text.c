/* explain_code_text.c — what became of the loops over work-items of a kernel, for people:
 *
 *   code of @pair for x86_64:v4 on {1024/64}
 *     made for: local-size, no-offset, small-ids
 *     loop at k.cl:3: 64 work-items at a time; estimate: 0.12 of the time of one at a time
 *       reads x in line 3: contiguous
 *       writes y in line 4: scatter, under a mask
 *     loop at k.cl:9: one work-item at a time: an access is volatile (store in line 11)
 */
#include "runtime/api/explain_text.h"

enum { PLACE = 300, LINE = 1000 };

/* " in line 3" of the file that the loop is in, " at k.cl:3" of another one, or nothing. */
static const char *place_text(char room[PLACE], const spvf_explained_loop *l, const char *file,
                              uint32_t line) {
    if (!file) return "";
    if (l->source_file && strcmp(file, l->source_file) == 0)
        snprintf(room, PLACE, " in line %u", line);
    else
        snprintf(room, PLACE, " at %s:%u", file, line);
    return room;
}

/* ------------------------------------------------------------------------------------- accesses */

static const char *form_text(char room[60], const spvf_lane_access *a) {
    switch (a->form) {
    case SPVF_FORM_UNIFORM: return "one access for all";
    case SPVF_FORM_CONTIGUOUS: return "contiguous";
    case SPVF_FORM_REVERSED: return "contiguous, backwards";
    case SPVF_FORM_MEMBERS:
        snprintf(room, 60, "%u elements apart, by vectors and shuffles", a->step);
        return room;
    case SPVF_FORM_TILES:
        snprintf(room, 60, "tiles of %u neighbours of each, transposed", a->step);
        return room;
    case SPVF_FORM_ARRAY: return "private, side by side";
    case SPVF_FORM_APART: return a->writes ? "scatter" : "gather";
    case SPVF_FORM_ATOMIC: return "atomic";
    }
    return "?";
}

static void print_access(FILE *f, int indent, const spvf_explained_loop *l,
                         const spvf_lane_access *a) {
    static const char *const verbs[] = {"", "reads", "writes", "updates"};
    char line[LINE], place[PLACE], form[60], times[30] = "";
    if (a->count > 1) snprintf(times, sizeof times, ", %u times", a->count);
    snprintf(line, sizeof line, "%s%s%s: %s%s", a->memory,
             place_text(place, l, a->source_file, a->source_line), times, form_text(form, a),
             a->masked ? ", under a mask" : "");
    rt_print_paragraph(f, indent, verbs[a->reads + 2 * a->writes], line);
}

/* ---------------------------------------------------------------------------------------- loops */

static const char *kind_of(const spvf_explained_loop *l) {
    return l->iterations ? "iteration" : "work-item";
}

static void describe_refusal(char line[LINE], const spvf_explained_loop *l) {
    char place[PLACE], ratio[60] = "", cause[PLACE + 60] = "";
    if (l->refused)
        snprintf(cause, sizeof cause, " (%s%s)", l->refused,
                 place_text(place, l, l->refused_file, l->refused_line));
    if (l->ratio > 0)
        snprintf(ratio, sizeof ratio, "; estimate for vectors: %.2f of its time", l->ratio);
    snprintf(line, LINE, "one %s at a time: %s%s%s", kind_of(l), l->refusal, cause, ratio);
}

static void describe_vectors(char line[LINE], const spvf_explained_loop *l) {
    char rows[40] = "", ratio[80] = "";
    if (l->rows > 1) snprintf(rows, sizeof rows, " in each of %u rows", l->rows);
    if (l->ratio > 0)
        snprintf(ratio, sizeof ratio, "; estimate: %.2f of the time of one at a time", l->ratio);
    snprintf(line, LINE, "%u %s%ss at a time%s%s%s%s", l->lanes,
             l->components ? "components of " : "", kind_of(l), rows,
             l->masked_rest ? ", and those that are left under a mask" : "",
             l->inner_part ? ", except at the ends of the range" : "", ratio);
}

static void print_loop(FILE *f, int indent, const spvf_explained_loop *l) {
    char line[LINE], start[PLACE] = "loop:";
    if (l->refusal)
        describe_refusal(line, l);
    else
        describe_vectors(line, l);
    if (l->source_file)
        snprintf(start, sizeof start, "loop at %s:%u:", l->source_file, l->source_line);
    rt_print_paragraph(f, indent, start, line);
    for (size_t k = 0; k < l->access_count; k++) print_access(f, indent + 2, l, l->accesses[k]);
}

static void print_facts(FILE *f, int indent, uint32_t facts) {
    char line[LINE] = "";
    size_t at = 0;
    for (unsigned n = 0; n < SPVF_FACTS; n++)
        if (facts >> n & 1)
            at += (size_t)snprintf(line + at, LINE - at, "%s%s", at ? ", " : "",
                                   spvf_fact_name((spvf_fact)n));
    rt_print_paragraph(f, indent, "made for:", at ? line : "any launch");
}

void rt_print_code(FILE *f, int indent, const spvf_explained_code *code) {
    fprintf(f, "%*scode of @%s for %s on ", indent, "", code->kernel, code->target);
    rt_print_range(f, &code->range);
    putc('\n', f);
    print_facts(f, indent + 2, code->facts);
    if (code->failure)
        rt_print_paragraph(f, indent + 2, "none:", code->failure);
    else if (!code->loop_count)
        rt_print_paragraph(f, indent + 2, "no loop over work-items could become vectors", "");
    for (size_t k = 0; k < code->loop_count; k++) print_loop(f, indent + 2, code->loops[k]);
}

static void print(FILE *f, const void *what) { rt_print_code(f, 0, what); }

char *spvf_explained_code_text(const spvf_explained_code *code) { return rt_text_of(print, code); }
