/* completion.c — `spvfuse completion`: what makes a shell complete commands, options and their
 * values, for bash, zsh and fish; all of it made of the tables of commands.
 *
 * Values that have names are completed by these: targets, passes, stages, devices.  All others
 * are files.
 */
#include "runtime/cli/cli.h"

#include <string.h>

/* ---------------------------------------------------------------------------------- the values */

static const char targets[] =
    "ir dot spirv spirv:1.0 spirv:1.1 spirv:1.2 spirv:1.3 spirv:1.4 ptx cubin x86_64 "
    "x86_64:v2 x86_64:v3 x86_64:v4 x86_64:icelake";

/* The words after the option, with a blank in front of each; false: files. */
static bool print_values(const cli_option *o) {
    const char *name;
    bool stages = strcmp(o->value, "STAGE") == 0;
    if (strcmp(o->value, "TARGET") == 0) return printf(" %s", targets) > 0;
    if (strcmp(o->value, "DEVICE") == 0) return printf(" cpu check opencl cuda") > 0;
    if (strcmp(o->value, "WHEN") == 0) return printf(" auto always never") > 0;
    if (!stages && strcmp(o->value, "P1,P2,…") != 0) return false;
    for (size_t n = 0; (name = spvf_pass_name(n, NULL)) != NULL; n++) printf(" %s", name);
    for (size_t n = 0; stages && (name = spvf_stage_name(n, NULL)) != NULL; n++)
        printf(" %s", name);
    return true;
}

/* Calls `print` for each option of the command, and those of all. */
static void each_option(const cli_command *c,
                        void (*print)(const cli_command *, const cli_option *)) {
    for (const cli_option *o = c->options; o->name; o++) print(c, o);
    for (const cli_option *o = cli_common_options; o->name; o++) print(c, o);
}

static bool takes_commands(const cli_command *c) { return c == &cli_help || c == &cli_man; }

/* ---------------------------------------------------------------------------------------- bash */

static void bash_names(const cli_command *c, const cli_option *o) {
    size_t n = 0;
    (void)c;
    for (const char *s = NULL; cli_next_name(o, &s, &n);) printf(" %.*s", (int)n, s);
}

static void bash_value(const cli_command *c, const cli_option *o) {
    size_t n = 0;
    if (!o->value) return;
    for (const char *s = NULL; cli_next_name(o, &s, &n);)
        printf("%s\"%s \"%.*s", s == o->name ? "        " : "|", c->name, (int)n, s);
    printf(") words=\"");
    if (!print_values(o)) printf("FILES");
    printf("\" ;;\n");
}

static void bash_commands(void) {
    for (const cli_command *const *c = cli_commands; *c; c++) printf(" %s", (*c)->name);
}

static void print_bash(void) {
    printf("# Completion of spvfuse for bash; made by `spvfuse completion bash`.\n"
           "_spvfuse() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then words=\"");
    bash_commands();
    printf(" --help --version\"\n    else\n        case \"${COMP_WORDS[1]} $before\" in\n");
    for (const cli_command *const *c = cli_commands; *c; c++) each_option(*c, bash_value);
    printf("        *) case ${COMP_WORDS[1]} in\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("            %s) words=\"", (*c)->name);
        if (takes_commands(*c)) bash_commands();
        if (*c == &cli_completion) printf(" bash zsh fish");
        each_option(*c, bash_names);
        printf("\" ;;\n");
    }
    printf(
        "            esac\n"
        "            case $current in -*) ;; *) [[ ${COMP_WORDS[1]} = @(help|man|completion) ]] || "
        "words=FILES ;; esac ;;\n"
        "        esac\n    fi\n"
        "    if [[ $words = FILES ]]; then compopt -o default; COMPREPLY=()\n"
        "    else COMPREPLY=($(compgen -W \"$words\" -- \"$current\")); fi\n"
        "}\ncomplete -F _spvfuse spvfuse\n");
}

/* ----------------------------------------------------------------------------------------- zsh */

/* Help inside of '…[…]': quotes, brackets and colons end it otherwise. */
static void zsh_text(const char *s) {
    for (; *s; s++)
        if (*s == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *s))
            printf("\\%c", *s);
        else
            putchar(*s);
}

static void zsh_option(const cli_command *c, const cli_option *o) {
    size_t n = 0;
    (void)c;
    for (const char *s = NULL; cli_next_name(o, &s, &n);) {
        printf(" \\\n            '*%.*s[", (int)n, s);
        zsh_text(o->help);
        putchar(']');
        if (o->value) printf(":value:");
        if (o->value) {
            putchar('(');
            bool known = print_values(o);
            printf(")");
            if (!known) printf(":_files");
        }
        putchar('\'');
    }
}

static void print_zsh(void) {
    printf("#compdef spvfuse\n# Completion of spvfuse for zsh; made by `spvfuse completion zsh`.\n"
           "_spvfuse() {\n    local -a commands\n    commands=(\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("        '%s:", (*c)->name);
        zsh_text((*c)->help);
        printf("'\n");
    }
    printf("    )\n    if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
           "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command "
           "in\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("        %s) _arguments", (*c)->name);
        each_option(*c, zsh_option);
        if (takes_commands(*c))
            printf(" '*:command:((${commands}))'");
        else
            printf(*c == &cli_completion ? " '*:shell:(bash zsh fish)'" : " '*:file:_files'");
        printf(" ;;\n");
    }
    printf("    esac\n}\n_spvfuse \"$@\"\n");
}

/* ---------------------------------------------------------------------------------------- fish */

static void fish_text(const char *s) {
    putchar('\'');
    for (; *s; s++) printf(*s == '\'' || *s == '\\' ? "\\%c" : "%c", *s);
    putchar('\'');
}

static void fish_option(const cli_command *c, const cli_option *o) {
    size_t n = 0;
    printf("complete -c spvfuse -n '__fish_seen_subcommand_from %s'", c->name);
    for (const char *s = NULL; cli_next_name(o, &s, &n);)
        printf(" %s %.*s",
               s[1] == '-' ? "-l"
               : n == 2    ? "-s"
                           : "-o",
               (int)n - (s[1] == '-' ? 2 : 1), s + (s[1] == '-' ? 2 : 1));
    printf(" -d ");
    fish_text(o->help);
    if (o->value) printf(" -r -a '");
    bool files = o->value && !print_values(o);
    if (o->value) printf(files ? "' -F" : "' -f");
    putchar('\n');
}

static void print_fish(void) {
    printf("# Completion of spvfuse for fish; made by `spvfuse completion fish`.\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("complete -c spvfuse -n __fish_use_subcommand -f -a %s -d ", (*c)->name);
        fish_text((*c)->help);
        putchar('\n');
        each_option(*c, fish_option);
        if (!takes_commands(*c) && *c != &cli_completion) continue;
        printf("complete -c spvfuse -n '__fish_seen_subcommand_from %s' -f -a '", (*c)->name);
        if (takes_commands(*c))
            bash_commands();
        else
            printf("bash zsh fish");
        printf("'\n");
    }
}

static int run_completion(const char *const *files) {
    static const struct {
        const char *shell;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t n = 0; n < sizeof shells / sizeof *shells; n++)
        if (strcmp(files[0], shells[n].shell) == 0) return shells[n].print(), CLI_OK;
    fprintf(stderr, "spvfuse completion: '%s' is neither bash, zsh nor fish\n", files[0]);
    return CLI_USAGE;
}

static const cli_option no_options[] = {{NULL, NULL, NULL}};
const cli_command cli_completion = {.name = "completion",
                                    .arguments = "bash|zsh|fish",
                                    .help = "what makes a shell complete commands and options",
                                    .options = no_options,
                                    .nfiles = 1,
                                    .run = run_completion};
