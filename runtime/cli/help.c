/* help.c — what commands and options there are: `spvfuse help`, and `--help` of each command.
 */
#include "runtime/cli/cli.h"

#include <string.h>

enum { LEFT = 26 }; /* characters of the column of options */

/* Characters, each of which may have several bytes. */
static int columns_of(const char *text) {
    int n = 0;
    for (; *text; text++) n += (*text & 0xc0) != 0x80;
    return n;
}

static void print_column(FILE *f, const char *text, int width) {
    int left = width - columns_of(text);
    fprintf(f, "  %s%*s ", text, left > 0 ? left : 0, "");
}

void cli_print_commands(FILE *f) {
    fprintf(f, "usage: spvfuse COMMAND …\n\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        fprintf(f, "  %-10s", (*c)->name);
        print_column(f, (*c)->arguments, 22);
        fprintf(f, "%s\n", (*c)->help);
    }
    fprintf(f, "\n'spvfuse help COMMAND' lists the options of a command.\n");
}

/* Names without a short one begin where the others have their long one. */
static void print_options(FILE *f, const cli_option *list) {
    for (const cli_option *o = list; o->name; o++) {
        char left[96];
        bool is_short = o->name[1] != '-';
        snprintf(left, sizeof left, "%s%s%s%s", is_short ? "" : "    ", o->name,
                 o->value ? " " : "", o->value ? o->value : "");
        if (columns_of(left) > LEFT)
            fprintf(f, "  %s\n%*s", left, LEFT + 3, "");
        else
            print_column(f, left, LEFT);
        fprintf(f, "%s\n", o->help);
    }
}

void cli_print_help(FILE *f, const cli_command *c) {
    fprintf(f, "usage: spvfuse %s%s%s [options]\n%s\n\n", c->name, *c->arguments ? " " : "",
            c->arguments, c->help);
    print_options(f, c->options);
    print_options(f, cli_common_options);
}

static int run_help(const char *const *files) {
    if (!files[0]) return cli_print_commands(stdout), CLI_OK;
    const cli_command *c = cli_find_command(files[0]);
    if (c) cli_print_help(stdout, c);
    return c ? CLI_OK : CLI_USAGE;
}

static const cli_option no_options[] = {{NULL, NULL, NULL}};
const cli_command cli_help = {.name = "help",
                              .arguments = "[COMMAND]",
                              .help = "the commands, or the options of one",
                              .options = no_options,
                              .nfiles = 1,
                              .optional = 1,
                              .run = run_help};
