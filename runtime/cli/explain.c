/* explain.c — `spvfuse explain`: what becomes of the launches of a plan, and why.
 *
 * First comes a summary of a few lines; with -v, all that is known follows.  The texts and JSON
 * are those of the library; explain_dot.c and explain_page.c write pictures.  Without --auto the
 * groups of the plan are explained one after the other, and one that is refused or wrong does not
 * end the command.
 */
#include "runtime/cli/explain.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------- parts */

static spvf_explain_options wanted(void) {
    return (spvf_explain_options){.size = sizeof(spvf_explain_options),
                                  .code = true,
                                  .target = cli_get("-t"),
                                  .device = cli_get("-d"),
                                  .listings = cli_has("--html")};
}

static bool explain_group(const char *file, spvf_plan *plan, size_t index, spvf_explanation **out) {
    const spvf_explain_options o = wanted();
    bool ok = spvf_plan_explain_with(plan, index, &o, out) == SPVF_OK;
    if (*out && !(*out)->fused && cli_has("--strict")) ok = false;
    if (!ok)
        fprintf(stderr, "%s: error: group '%s' was not fused\n", file,
                spvf_plan_group_name(plan, index));
    return ok;
}

/* Groups of which there is no explanation are left out. */
static bool explain_groups(const char *file, spvf_plan *plan, cli_explained *all) {
    size_t n = spvf_plan_group_count(plan), first = 0;
    bool ok = true;
    all->parts = calloc(n + 1, sizeof *all->parts);
    for (size_t k = 0; all->parts && k < n; k++) {
        spvf_explanation *e;
        ok &= explain_group(file, plan, k, &e);
        if (!e) continue;
        all->parts[all->count++] =
            (spvf_explained_part){.first = first, .count = e->member_count, .explanation = e};
        first += e->member_count;
    }
    return ok && all->parts;
}

static bool divide_plan(spvf_plan *plan, cli_explained *all) {
    const spvf_explain_options o = wanted();
    bool ok = spvf_plan_divide(plan, &o, &all->parts, &all->count) == SPVF_OK;
    for (size_t k = 0; k < all->count && cli_has("--strict"); k++) ok &= !all->parts[k].cut;
    return ok;
}

/* ----------------------------------------------------------------------------------------- JSON */

void cli_print_json(FILE *f, const spvf_explanation *e) {
    char *text = e ? spvf_explanation_json(e) : NULL;
    fputs(text ? text : "null", f);
    free(text);
}

void cli_print_parts(FILE *f, const cli_explained *all) {
    for (size_t k = 0; k < all->count; k++) {
        const spvf_explained_part *p = &all->parts[k];
        fprintf(f, "%s{\"first\":%zu,\"launches\":%zu,\"cut\":", k ? "," : "", p->first, p->count);
        cli_print_json(f, p->cut);
        putc('}', f);
    }
}

static void print_json(const cli_explained *all) {
    fputs("{\"groups\":[", stdout);
    for (size_t k = 0; k < all->count; k++) {
        if (k) putchar(',');
        cli_print_json(stdout, all->parts[k].explanation);
    }
    putchar(']');
    if (cli_has("--auto")) {
        fputs(",\"parts\":[", stdout);
        cli_print_parts(stdout, all);
        putchar(']');
    }
    puts("}");
}

/* ----------------------------------------------------------------------------------------- text */

void cli_print_explanation(FILE *f, const spvf_explanation *e) {
    char *text = spvf_explanation_text(e);
    fputs(text ? text : "error: out of memory\n", f);
    free(text);
}

static uint32_t most_lanes(const spvf_explained_code *c) {
    uint32_t most = 1;
    for (size_t k = 0; k < c->loop_count; k++) {
        uint32_t lanes = c->loops[k]->lanes * (c->loops[k]->rows ? c->loops[k]->rows : 1);
        if (lanes > most) most = lanes;
    }
    return most;
}

enum { COLUMNS = 100 };

/* Words from a column on; further lines are indented by four. */
static void print_words(int column, const char *text) {
    for (int n; *text; text += n + (text[n] == ' ')) {
        n = (int)strcspn(text, " ");
        if (column + 1 + n > COLUMNS)
            column = printf("\n    %.*s", n, text) - 1;
        else
            column += printf("%s%.*s", column ? " " : "", n, text);
    }
    putchar('\n');
}

/* How the device runs them. */
static void print_phases(const spvf_explanation *e) {
    for (size_t n = 0; n < e->decision_count; n++)
        if (strncmp(e->decisions[n]->rule, "phase.", 6) == 0)
            printf("  %s [%s]\n", e->decisions[n]->text, e->decisions[n]->rule);
}

enum { LONG_NAME = 60, MOST_KERNELS = 12 };

/* "@a, @b (3 times)"; the last ones are only counted if there are many. */
static void put_kernels(FILE *f, const spvf_explanation *e) {
    size_t shown = 0, times;
    for (size_t m = 0; m < e->member_count; m += times, shown++) {
        const char *kernel = e->members[m]->kernel;
        if (shown == MOST_KERNELS) {
            fprintf(f, ", and %zu more", e->member_count - m);
            return;
        }
        times = 1;
        while (m + times < e->member_count && strcmp(e->members[m + times]->kernel, kernel) == 0)
            times++;
        fprintf(f, "%s@%s", m ? ", " : "", kernel);
        if (times > 1) fprintf(f, " (%zu times)", times);
    }
}

/* The name of a chain is made of those of its kernels, and may be long. */
static void put_name(FILE *f, const char *name) {
    size_t n = strlen(name) > LONG_NAME ? LONG_NAME : strlen(name);
    while (name[n] && ((unsigned char)name[n] & 0xc0) == 0x80) n--; /* within a character */
    fprintf(f, "%.*s%s: ", (int)n, name, name[n] ? "…" : "");
}

static size_t count_phases(const spvf_explanation *e) {
    size_t n = 1;
    for (size_t k = 0; k < e->gap_count; k++) n += e->gaps[k]->phase;
    return n;
}

static void put_part(FILE *f, const spvf_explanation *e) {
    put_name(f, e->name);
    put_kernels(f, e);
    if (e->member_count > 1) fputs(e->fused ? " become one kernel" : " are not fused", f);
    if (e->fused && count_phases(e) > 1) fprintf(f, " of %zu phases", count_phases(e));
    if (e->fused && e->code_count && most_lanes(e->codes[0]) > 1)
        fprintf(f, ", %u work-items at a time", most_lanes(e->codes[0]));
}

/* A line about a part, and what can be done if it is refused. */
static void print_part(const spvf_explanation *e) {
    char *line = NULL;
    size_t size;
    FILE *f = open_memstream(&line, &size);
    if (f) put_part(f, e);
    if (f && fclose(f) == 0) print_words(0, line);
    free(line);
    print_phases(e);
    if (e->refusal && e->refusal->cure) print_words(printf("  cure:"), e->refusal->cure);
}

static void print_text(const cli_explained *all) {
    char *summary = spvf_explained_parts_summary(all->parts, all->count);
    fputs(summary ? summary : "error: out of memory\n", stdout);
    free(summary);
    for (size_t k = 0; k < all->count; k++) {
        if (cli_has("-v") || k == 0) putchar('\n');
        if (cli_has("-v"))
            cli_print_explanation(stdout, all->parts[k].explanation);
        else
            print_part(all->parts[k].explanation);
    }
}

/* ------------------------------------------------------------------------------------ whole */

static bool goes_to_output(const char *option) {
    const char *path = cli_get(option);
    return path && path[0] == '-' && !path[1];
}

static bool write_file(const char *option, void (*print)(FILE *f, const cli_explained *all),
                       const cli_explained *all) {
    char *text = NULL;
    size_t size;
    if (!cli_has(option)) return true;
    FILE *f = open_memstream(&text, &size);
    if (f) print(f, all);
    bool ok = f && !ferror(f);
    if (f) ok &= fclose(f) == 0;
    if (ok)
        ok = cli_write(cli_get(option), text, size);
    else
        fprintf(stderr, "spvfuse: out of memory\n");
    free(text);
    return ok;
}

static bool explain_plan(const char *file, spvf_plan *plan) {
    cli_explained all = {.file = file, .plan = plan, .divided = cli_has("--auto")};
    bool ok = all.divided ? divide_plan(plan, &all) : explain_groups(file, plan, &all);
    if (cli_has("--json"))
        print_json(&all);
    else if (!all.count && ok && !goes_to_output("--dot") && !goes_to_output("--html"))
        puts(all.divided ? "nothing to fuse: the plan has no launch"
                         : "nothing to fuse: the plan has no group, see also --auto");
    else if (all.count && !goes_to_output("--dot") && !goes_to_output("--html"))
        print_text(&all);
    ok &= write_file("--dot", cli_print_dot, &all);
    ok &= write_file("--html", cli_print_page, &all);
    spvf_explained_parts_destroy(all.parts, all.count);
    return ok;
}

static int run_explain(const char *const *files) {
    const char *one = cli_has("--html") ? "--html" : cli_has("--dot") ? "--dot" : NULL;
    if (!files[1] || !one) return cli_with_plans(files, true, explain_plan);
    fprintf(stderr, "spvfuse explain: %s is the picture of one plan\n", one);
    return CLI_USAGE;
}

static const cli_option options[] = {
    {"-d, --device", "DEVICE", "what would run the kernels, as for `spvfuse run` (default: cpu)"},
    {"-t, --target", "TARGET",
     "explain code for it: x86_64[:v2|:v3|:v4|:icelake], with options as \",simd=N\" (default: "
     "this "
     "machine)"},
    {"--auto", NULL, "divide all launches of the plan, as graphs do, whatever its groups are"},
    {"--json", NULL, "for programs"},
    {"--dot", "FILE", "launches and buffers as a graph for Graphviz"},
    {"--html", "FILE", "a page to look at, in one file"},
    {"--strict", NULL, "launches that are not fused are an error"},
    {NULL, NULL, NULL}};
const cli_command cli_explain = {.name = "explain",
                                 .arguments = "PLAN…",
                                 .help = "what fuses, what becomes vectors, and why not",
                                 .options = options,
                                 .nfiles = 1,
                                 .many = true,
                                 .run = run_explain};
