/* man.c — `spvfuse man`: manual pages in the language of man(7), made of the tables of commands.
 */
#include "runtime/cli/cli.h"

#include <string.h>

/* A hyphen is one to copy, and a line begins with no macro. */
static void print_text(const char *s) {
    if (*s == '.' || *s == '\'') fputs("\\&", stdout);
    for (; *s; s++)
        if (*s == '-')
            fputs("\\-", stdout);
        else if (*s == '\\')
            fputs("\\e", stdout);
        else
            putchar(*s);
}

static void print_head(const char *name, const char *help) {
    printf(".TH \"");
    for (const char *s = name; *s; s++) putchar(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s);
    printf("\" \"1\" \"\" \"spvfuse %s\" \"spvfuse\"\n.SH NAME\n", spvf_version_text());
    print_text(name);
    printf(" \\- ");
    print_text(help);
    printf("\n.SH SYNOPSIS\n");
}

static void print_synopsis(const cli_command *c) {
    printf(".B spvfuse %s\n", c->name);
    if (*c->arguments) printf(".I \"");
    print_text(c->arguments);
    printf(*c->arguments ? "\"\n[options]\n" : "[options]\n");
}

static void print_options(const cli_option *list) {
    for (const cli_option *o = list; o->name; o++) {
        printf(".TP\n.B ");
        print_text(o->name);
        if (o->value) printf(" \\fI");
        if (o->value) print_text(o->value);
        printf(o->value ? "\\fR\n" : "\n");
        print_text(o->help);
        putchar('\n');
    }
}

static void print_end(void) {
    printf(".SH EXIT STATUS\n0 for success; 1 if the input or the run failed, or standard output "
           "could "
           "not be written; 2 for wrong usage.\n");
}

static void print_command(const cli_command *c) {
    char name[64];
    snprintf(name, sizeof name, "spvfuse-%s", c->name);
    print_head(name, c->help);
    print_synopsis(c);
    printf(".SH OPTIONS\n");
    print_options(c->options);
    print_options(cli_common_options);
    printf(".TP\n.B \\-\\-\nwhat follows is no option\n");
    print_end();
    printf(".SH SEE ALSO\n.BR spvfuse (1)\n");
}

static void print_all(void) {
    print_head("spvfuse", "fuses, compiles and runs compute kernels in SPIR-V");
    printf(
        ".B spvfuse\n.I COMMAND\n[options] [files]\n.SH DESCRIPTION\nReads modules of SPIR-V, of "
        "the "
        "text form of its IR, or of OpenCL C in files that end in .cl, and plans, which are small "
        "host programs in text files.\n.SH COMMANDS\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf(".TP\n.BR spvfuse\\-%s (1)\n", (*c)->name);
        print_text((*c)->help);
        putchar('\n');
    }
    printf(".SH OPTIONS\n.TP\n.B \\-V, \\-\\-version\nthe version\n");
    print_options(cli_common_options);
    print_end();
    printf(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nmessages have no colours\n.TP\n.B SPVFUSE_CACHE, "
           "SPVFUSE_CACHE_DIR, SPVFUSE_CACHE_SIZE\nthe cache of compiled kernels\n");
}

static int run_man(const char *const *files) {
    if (!files[0]) return print_all(), CLI_OK;
    const cli_command *c = cli_find_command(files[0]);
    if (c) print_command(c);
    return c ? CLI_OK : CLI_USAGE;
}

static const cli_option no_options[] = {{NULL, NULL, NULL}};
const cli_command cli_man = {.name = "man",
                             .arguments = "[COMMAND]",
                             .help = "the manual page of spvfuse or of a command",
                             .options = no_options,
                             .nfiles = 1,
                             .optional = 1,
                             .run = run_man};
