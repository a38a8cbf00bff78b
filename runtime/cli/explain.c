/* explain.c — `spvfuse explain`: what becomes of each group of a plan, and why.
 *
 * The text is the library's.  A group that is refused does not end the command, unless --strict is
 * given.  explain_json.c prints the same as JSON.
 */
#include "runtime/cli/cli.h"

#include <stdlib.h>

void cli_print_explanation(FILE *f, const spvf_explanation *e) {
    char *text = spvf_explanation_text(e);
    fputs(text ? text : "error: out of memory\n", f);
    free(text);
}

static void print_group(const spvf_explanation *e, bool first) {
    if (cli_has("--json")) {
        if (!first) putchar(',');
        cli_json_explanation(stdout, e);
    } else {
        if (!first) putchar('\n');
        cli_print_explanation(stdout, e);
    }
}

/* All groups are explained, whatever became of the others. */
static bool explain_group(const char *file, spvf_plan *plan, size_t index, bool *first) {
    spvf_explanation *e;
    bool ok = spvf_plan_explain_code(plan, index, cli_get("-t"), &e) == SPVF_OK;
    if (e) print_group(e, *first);
    if (e) *first = false;
    if (e && !e->fused && cli_has("--strict")) ok = false;
    if (!ok) fprintf(stderr, "%s: error: fuse group %zu was not fused\n", file, index + 1);
    spvf_explanation_destroy(e);
    return ok;
}

static bool explain_plan(const char *file, spvf_plan *plan) {
    bool ok = true, first = true;
    if (cli_has("--json")) fputs("{\"groups\":[", stdout);
    for (size_t k = 0; k < spvf_plan_group_count(plan); k++)
        ok &= explain_group(file, plan, k, &first);
    if (cli_has("--json")) puts("]}");
    return ok;
}

static int run_explain(const char *const *files) { return cli_with_plan(files[0], explain_plan); }

static const cli_option options[] = {{"-t", "TARGET",
                                      "explain code for it: x86_64[:v2|:v3|:v4|:icelake], with "
                                      "options as \",simd=N\" (default: this machine)"},
                                     {"--json", NULL, "for programs"},
                                     {"--strict", NULL, "a group that is refused is an error"},
                                     {NULL, NULL, NULL}};
const cli_command cli_explain = {.name = "explain",
                                 .arguments = "PLAN",
                                 .help = "what fuses, what becomes vectors, and why not",
                                 .options = options,
                                 .nfiles = 1,
                                 .run = run_explain};
