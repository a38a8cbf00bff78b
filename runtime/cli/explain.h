/* explain.h — private to the files of `spvfuse explain`. */
#ifndef SPVFUSE_CLI_EXPLAIN_H
#define SPVFUSE_CLI_EXPLAIN_H

#include "runtime/cli/cli.h"

/* What becomes of a plan. */
typedef struct {
    const char *file; /* of the plan */
    const spvf_plan *plan;
    bool divided; /* by --auto: parts are all launches, and between them may be cuts */
    spvf_explained_part *parts;
    size_t count;
} cli_explained;

/* One value of JSON; null for NULL. */
void cli_print_json(FILE *f, const spvf_explanation *e);
/* {"first":0,"launches":2,"cut":…}, one for each part, with commas between them. */
void cli_print_parts(FILE *f, const cli_explained *all);
/* The same in the language of Graphviz (explain_dot.c), and as a page (explain_page.c). */
void cli_print_dot(FILE *f, const cli_explained *all);
void cli_print_page(FILE *f, const cli_explained *all);
/* The source files that a page shows, as a list of JSON.  (explain_sources.c) */
void cli_print_sources(FILE *f, const cli_explained *all);

#endif
