/* completion.c — `spvfuse completion`: what makes a shell complete commands, options and their
 * values, for bash, zsh and fish; all of it made of the tables of commands.
 *
 * Values and arguments that have names are completed by these (words.c); others are files, folders,
 * or what only the user knows.
 */
#include "runtime/cli/cli.h"

#include <string.h>

/* The words that a value may be, with a blank in front of each. */
static void print_values(const cli_command *c, const cli_option *o) {
    const char *word;
    for (size_t n = 0; (word = cli_value_word(c, o, n)) != NULL; n++) printf(" %s", word);
}

/* Calls `print` for each option of the command, and those of all. */
static void each_option(const cli_command *c,
                        void (*print)(const cli_command *, const cli_option *)) {
    for (const cli_option *o = c->options; o->name; o++) print(c, o);
    for (const cli_option *o = cli_common_options; o->name; o++) print(c, o);
}

static void print_commands(void) {
    for (const cli_command *const *c = cli_commands; *c; c++) printf(" %s", (*c)->name);
}

static bool takes_commands(const cli_command *c) { return c == &cli_help || c == &cli_man; }

/* Are the arguments words instead of files? */
static bool takes_words(const cli_command *c) {
    char word[32];
    return takes_commands(c) || cli_argument_word(c, 0, word, sizeof word);
}

static void print_arguments(const cli_command *c) {
    char word[32];
    if (takes_commands(c)) print_commands();
    for (size_t n = 0; cli_argument_word(c, n, word, sizeof word); n++) printf(" %s", word);
}

/* ---------------------------------------------------------------------------------------- bash */

static void bash_names(const cli_command *c, const cli_option *o) {
    size_t n = 0;
    (void)c;
    for (const char *s = NULL; cli_next_name(o, &s, &n);) printf(" %.*s", (int)n, s);
}

static void bash_value(const cli_command *c, const cli_option *o) {
    static const char *const how[] = {[CLI_TEXT] = "",
                                      [CLI_FILE] = "FILES",
                                      [CLI_FOLDER] = "FOLDERS",
                                      [CLI_WORD] = "",
                                      [CLI_LIST] = "LIST"};
    size_t n = 0;
    if (!o->value) return;
    for (const char *s = NULL; cli_next_name(o, &s, &n);)
        printf("%s\"%s \"%.*s", s == o->name ? "        " : "|", c->name, (int)n, s);
    printf(") words=\"%s", how[cli_kind_of(o)]);
    print_values(c, o);
    printf("\" ;;\n");
}

/* Bash ends words at "=" and ":", which ours may have: so the word is read from the line, and the
 * part that bash keeps is cut off the completions. */
static const char bash_head[] =
    "# Completion of spvfuse for bash; made by `spvfuse completion bash`.\n"
    "_spvfuse() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} current before words= done=\n"
    "    current=${line##* } before=${line% *}\n"
    "    before=${before%\"${before##*[! ]}\"} before=${before##* }\n"
    "    case $current in --*=*) before=${current%%=*} current=${current#*=} ;; esac\n"
    "    if [ \"$COMP_CWORD\" = 1 ]; then words=\"";
static const char bash_end[] =
    "            esac\n"
    "            case $current in -*) ;; *) words=$arguments ;; esac ;;\n"
    "        esac\n    fi\n"
    "    case $words in\n"
    "    FILES) compopt -o default; COMPREPLY=(); return ;;\n"
    "    FOLDERS) compopt -o dirnames; COMPREPLY=(); return ;;\n"
    "    LIST*) words=${words#LIST} done=${current%\"${current##*,}\"} ;;\n"
    "    esac\n"
    "    COMPREPLY=($(compgen -P \"$done\" -W \"$words\" -- \"${current#\"$done\"}\"))\n"
    "    [[ $COMP_WORDBREAKS != *:* ]] || "
    "COMPREPLY=(\"${COMPREPLY[@]#\"${current%\"${current##*:}\"}\"}\")\n"
    "}\ncomplete -F _spvfuse spvfuse\n";

static void print_bash(void) {
    fputs(bash_head, stdout);
    print_commands();
    printf(" --help --version\"\n    else\n        local arguments=FILES\n"
           "        case \"${COMP_WORDS[1]} $before\" in\n");
    for (const cli_command *const *c = cli_commands; *c; c++) each_option(*c, bash_value);
    printf("        *) case ${COMP_WORDS[1]} in\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("            %s) words=\"", (*c)->name);
        each_option(*c, bash_names);
        printf("\" arguments=\"");
        print_arguments(*c);
        if (!takes_words(*c) && (*c)->nfiles) printf("FILES");
        printf("\" ;;\n");
    }
    fputs(bash_end, stdout);
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

/* Colons within a word are quoted: others divide the parts of a row. */
static void zsh_value(const cli_command *c, const cli_option *o) {
    cli_value_kind kind = cli_kind_of(o);
    const char *word, *before = kind == CLI_LIST ? ":value:_sequence compadd -" : ":value:(";
    if (kind == CLI_FILE || kind == CLI_FOLDER || kind == CLI_TEXT) {
        printf(kind == CLI_FILE     ? ":file:_files"
               : kind == CLI_FOLDER ? ":folder:_files -/"
                                    : ":value: ");
        return;
    }
    for (size_t n = 0; (word = cli_value_word(c, o, n)) != NULL; n++) {
        fputs(n ? " " : before, stdout);
        if (n == 0 && kind == CLI_LIST) putchar(' ');
        zsh_text(word);
    }
    if (kind == CLI_WORD) putchar(')');
}

static void zsh_option(const cli_command *c, const cli_option *o) {
    size_t n = 0;
    (void)c;
    for (const char *s = NULL; cli_next_name(o, &s, &n);) {
        printf(" \\\n            '*%.*s[", (int)n, s);
        zsh_text(o->help);
        putchar(']');
        if (o->value) zsh_value(c, o);
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
        printf(takes_words(*c) ? " '*:argument:(" : " '*:file:_files");
        print_arguments(*c);
        printf(takes_words(*c) ? ")' ;;\n" : "' ;;\n");
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
    if (!o->value) {
        putchar('\n');
        return;
    }
    printf(" -r -a '");
    if (cli_kind_of(o) == CLI_FOLDER) printf("(__fish_complete_directories)");
    print_values(c, o);
    printf(cli_kind_of(o) == CLI_FILE ? "' -F\n" : "' -f\n");
}

static void print_fish(void) {
    printf("# Completion of spvfuse for fish; made by `spvfuse completion fish`.\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        printf("complete -c spvfuse -n __fish_use_subcommand -f -a %s -d ", (*c)->name);
        fish_text((*c)->help);
        putchar('\n');
        each_option(*c, fish_option);
        if (!takes_words(*c)) continue;
        printf("complete -c spvfuse -n '__fish_seen_subcommand_from %s' -f -a '", (*c)->name);
        print_arguments(*c);
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
