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
                               .verify_each = cli_has("--verify-each"),
                               .dump_after = cli_get("--dump-after"),
                               .dump_changed = cli_has("--dump-changed"),
                               .stop_after = cli_get("--stop-after"),
                               .bisect = cli_has("--bisect"),
                               .bisect_limit = cli_number("--bisect"),
                               .time = cli_has("--time"),
                               .trace_rules = cli_has("--trace-rules"),
                               .stats = cli_has("--stats"),
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

/* ------------------------------------------------------------------------------------- contexts */

static bool is_inspected(const spvf_pass_options *o) {
    return o->dump_after || o->stop_after || o->dump_changed || o->verify_each || o->time ||
           o->trace_rules || o->stats || o->remarks;
}

spvf_context *cli_context(void) {
    spvf_context_options o = {.size = sizeof o, .message = cli_print_message};
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
    if (!cli_has("--stats")) return;
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
