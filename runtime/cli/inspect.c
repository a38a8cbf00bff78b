/* inspect.c — looking into a compile: the switches that name passes and stages, the list of these,
 * and what is printed about a bug of the compiler.
 */
#include "runtime/cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- switches */

static void print_dump(void *user, const char *stage, const char *text) {
    (void)user;
    printf("; after %s\n%s\n", stage, text);
}

static spvf_pass_options read_switches(void) {
    return (spvf_pass_options){.size = sizeof(spvf_pass_options),
                               .passes = cli_get("-p"),
                               .verify_each = cli_has("-verify-each"),
                               .dump_after = cli_get("-dump-after"),
                               .dump_changed = cli_has("-dump-changed"),
                               .stop_after = cli_get("-stop-after"),
                               .bisect = cli_has("-bisect"),
                               .bisect_limit = cli_number("-bisect"),
                               .time = cli_has("-time"),
                               .trace_rules = cli_has("-trace-rules"),
                               .stats = cli_has("-stats"),
                               .remarks = cli_has("-v"),
                               .dump = print_dump};
}

bool cli_is_stage(const char *name) {
    const char *stage;
    for (size_t n = 0; (stage = spvf_stage_name(n, NULL)) != NULL; n++)
        if (name && strcmp(stage, name) == 0) return true;
    return false;
}

spvf_pass_options cli_pass_options(bool native) {
    spvf_pass_options o = read_switches();
    if (native && cli_is_stage(o.stop_after)) o.stop_after = NULL;
    if (!native || !cli_is_stage(o.dump_after)) return o;
    o.dump_after = NULL;
    o.dump_changed = false;
    return o;
}

/* ----------------------------------------------------------------------------------------- bugs */

/* An argument as a shell reads it. */
static void print_argument(FILE *f, const char *s) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,-_./=:+@%";
    if (*s && !s[strspn(s, plain)]) {
        fputs(s, f);
        return;
    }
    putc('\'', f);
    for (; *s; s++)
        if (*s == '\'')
            fputs("'\\''", f);
        else
            putc(*s, f);
    putc('\'', f);
}

/* Compiling is deterministic: the same command has the same bug, and can show the code before it.
 * Where compiled kernels may have come from the cache, stages have other numbers the next time. */
static void print_how_to_repeat(FILE *f, const spvf_fault *fault) {
    bool counts = fault->number > 1 && !cli_takes("-d");
    fputs("spvfuse: this shows it again, after the code before it:", f);
    for (char *const *a = cli_arguments(); *a; a++) {
        putc(' ', f);
        print_argument(f, *a);
    }
    if (cli_takes("-dump-after") && counts)
        fprintf(f, " -dump-after %llu", (unsigned long long)fault->number - 1);
    else if (cli_takes("-dump-after"))
        fputs(" -dump-after '*'", f);
    putc('\n', f);
}

/* ------------------------------------------------------------------------------------- contexts */

static void print_message(void *user, const spvf_message *m) {
    (void)user;
    bool noted = cli_has("-v") || cli_has("-time") || cli_has("-trace-rules") || cli_has("-stats");
    if (m->severity == SPVF_NOTE && !noted) return;
    fprintf(stderr, "%s\n", m->formatted);
    if (m->fault) print_how_to_repeat(stderr, m->fault);
}

static bool is_inspected(const spvf_pass_options *o) {
    return o->dump_after || o->stop_after || o->dump_changed || o->verify_each || o->time ||
           o->trace_rules || o->stats || o->remarks;
}

spvf_context *cli_context(void) {
    spvf_context_options o = {.size = sizeof o, .message = print_message};
    const spvf_pass_options switches = read_switches();
    spvf_context *c;
    if (spvf_context_create(&o, &c) != SPVF_OK) {
        fprintf(stderr, "spvfuse: out of memory\n");
        exit(CLI_FAILED);
    }
    if (is_inspected(&switches) && spvf_context_inspect(c, &switches) != SPVF_OK) exit(CLI_FAILED);
    return c;
}

/* ------------------------------------------------------------------------------------- counters */

static int compare_names(const void *a, const void *b) {
    const char *x = spvf_counter_name(*(const size_t *)a, NULL);
    return strcmp(x, spvf_counter_name(*(const size_t *)b, NULL));
}

void cli_print_counters(FILE *f, const spvf_context *c) {
    enum { MOST = 256 };
    size_t order[MOST], n = 0;
    const char *what;
    if (!cli_has("-stats")) return;
    while (n < MOST && spvf_counter_name(n, NULL)) order[n] = n, n++;
    qsort(order, n, sizeof *order, compare_names);
    for (size_t k = 0; k < n; k++) {
        uint64_t count = spvf_context_counter(c, order[k]);
        const char *name = spvf_counter_name(order[k], &what);
        if (count) fprintf(f, "%-24s%10llu  %s\n", name, (unsigned long long)count, what);
    }
}

/* ---------------------------------------------------------------------------------------- lists */

int cli_list_passes(void) {
    const char *name, *doc, *second;
    for (size_t n = 0; (name = spvf_pass_name(n, &doc)) != NULL; n++)
        printf("%-18s%s\n", name, doc);
    printf("\nStages of native code, in the order in which they run:\n");
    for (size_t n = 0; (name = spvf_stage_name(n, &doc)) != NULL; n++)
        printf("%-18s%s\n", name, doc);
    printf("\nOf two passes in a pipeline, the first runs before the second:\n");
    for (size_t n = 0; (name = spvf_pass_order(n, &second, &doc)) != NULL; n++)
        printf("%-18s%-18s%s\n", name, second, doc);
    return CLI_OK;
}
