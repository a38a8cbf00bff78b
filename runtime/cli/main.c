/* main.c — the `spvfuse` command: finds the subcommand and runs it.
 *
 * Each subcommand is a row of a table, with its options.  Options are checked before it runs.  The
 * exit status is 0, 1 if the input or the run failed, and 2 for wrong usage.  A status of 0 also
 * means that all of standard output was written.
 */
#include "runtime/cli/cli.h"

#include <stdlib.h>
#include <string.h>

const cli_command *const cli_commands[] = {
    &cli_info,   &cli_opt,     &cli_compile,    &cli_fuse, &cli_explain, &cli_run,
    &cli_bench,  &cli_devices, &cli_cache,      &cli_pack, &cli_unpack,  &cli_inspect,
    &cli_reduce, &cli_help,    &cli_completion, &cli_man,  NULL};

static char **arguments;

char *const *cli_arguments(void) { return arguments; }

const cli_command *cli_find_command(const char *name) {
    cli_suggestion s = {.given = name};
    for (const cli_command *const *c = cli_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0) return *c;
    for (const cli_command *const *c = cli_commands; *c; c++) cli_suggest(&s, (*c)->name);
    if (s.nearest)
        fprintf(stderr, "spvfuse: unknown command '%s'; did you mean '%s'?\n", name, s.nearest);
    else
        fprintf(stderr, "spvfuse: unknown command '%s'; see 'spvfuse --help'\n", name);
    return NULL;
}

/* Files has room for all of argv, and is zeroed. */
static int run_command(const cli_command *c, char **argv, const char **files) {
    int n = cli_read_arguments(c, argv, files);
    if (n < 0) return CLI_USAGE;
    if (cli_has("-h")) return cli_print_help(stdout, c), CLI_OK;
    if (cli_get("--trace")) setenv("SPVFUSE_TRACE", cli_get("--trace"), 1);
    if (n >= c->nfiles - c->optional || (c->alone && cli_has(c->alone))) return c->run(files);
    fprintf(stderr, "spvfuse %s: %s is missing\n\n", c->name, c->arguments);
    cli_print_help(stderr, c);
    return CLI_USAGE;
}

/* Before a command there are two options. */
static void refuse_option(const char *name) {
    cli_suggestion s = {.given = name};
    cli_suggest(&s, "--help");
    cli_suggest(&s, "--version");
    if (s.nearest)
        fprintf(stderr, "spvfuse: unknown option '%s'; did you mean '%s'?\n", name, s.nearest);
    else
        fprintf(stderr,
                "spvfuse: unknown option '%s'; options follow a command, see 'spvfuse --help'\n",
                name);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) return cli_print_commands(stderr), CLI_USAGE;
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return cli_print_commands(stdout), CLI_OK;
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return printf("spvfuse %s\n", spvf_version_text()), CLI_OK;
    if (*name == '-') return refuse_option(name), CLI_USAGE;
    const cli_command *c = cli_find_command(name);
    const char **files = c ? calloc((size_t)argc, sizeof *files) : NULL;
    int rc = files ? run_command(c, argv + 2, files) : c ? CLI_FAILED : CLI_USAGE;
    free(files);
    return rc;
}

/* All messages are printed as they are.  A value that is not understood stays, for the warning. */
static void forget_log(void) {
    static const char *const values[] = {"warn", "info", "all"};
    const char *value = getenv("SPVFUSE_LOG");
    for (size_t k = 0; value && k < sizeof values / sizeof *values; k++)
        if (strcmp(value, values[k]) == 0) {
            unsetenv("SPVFUSE_LOG");
            return;
        }
}

/* Either all that was printed has arrived, or the command has failed. */
int main(int argc, char **argv) {
    arguments = argv;
    forget_log();
    int rc = dispatch(argc, argv);
    bool arrived = fflush(stdout) == 0 && !ferror(stdout);
    if (arrived || rc != CLI_OK) return rc;
    fprintf(stderr, "standard output: error: cannot be written\n");
    return CLI_FAILED;
}
