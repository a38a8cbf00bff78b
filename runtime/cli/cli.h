/* cli.h — what the subcommands of `spvfuse` share.  They use spvfuse.h and nothing else of the
 * library. */
#ifndef SPVFUSE_CLI_H
#define SPVFUSE_CLI_H

#include "runtime/api/json_string.h"
#include "runtime/spvfuse_container.h"

#include <stdio.h>

/* Exit statuses: 0 success, 1 the input or the run failed, 2 wrong usage. */
enum { CLI_OK, CLI_FAILED, CLI_USAGE };

/* One option of a subcommand. */
typedef struct {
    const char *name;  /* "--json", or a short and a long one: "-o, --output" */
    const char *value; /* what the value stands for in the help; "N": a number; NULL: a flag */
    const char *help;
} cli_option;

typedef struct {
    const char *name;
    const char *arguments; /* "FILE.spv" */
    const char *help;
    const cli_option *options; /* ended by a NULL name */
    int nfiles;                /* positional arguments wanted */
    int optional;              /* so many of them may be missing */
    bool many;                 /* or more */
    int (*run)(const char *const *files);
    const char *alone; /* an option with which no argument is needed, or NULL */
} cli_command;

extern const cli_command cli_info, cli_opt, cli_compile, cli_fuse, cli_explain, cli_run, cli_bench,
    cli_devices, cli_cache, cli_pack, cli_unpack, cli_inspect, cli_reduce, cli_help, cli_completion,
    cli_man;
extern const cli_command *const cli_commands[]; /* ended by NULL */
/* NULL after a message. */
const cli_command *cli_find_command(const char *name);
extern const cli_option cli_common_options[]; /* of all commands */

/* The names of a row, one after the other; *at is NULL at first. (options.c) */
bool cli_next_name(const cli_option *o, const char **at, size_t *length);
/* Reads what the command is given; `files` has room for all of argv.  How many files, or -1 after a
 * message. */
int cli_read_arguments(const cli_command *c, char **argv, const char **files);

/* The name that is nearest to the one given, NULL: none is near. */
typedef struct {
    const char *given, *nearest;
    unsigned distance;
} cli_suggestion;
void cli_suggest(cli_suggestion *s, const char *name);

/* What a value is (words.c): a file, a folder, one of some words, several with commas, or other
 * text. */
typedef enum { CLI_TEXT, CLI_FILE, CLI_FOLDER, CLI_WORD, CLI_LIST } cli_value_kind;
/* Of an option that takes a value. */
cli_value_kind cli_kind_of(const cli_option *o);
/* Word n that the value may be, from 0; NULL: there are no more. */
const char *cli_value_word(const cli_command *c, const cli_option *o, size_t n);
/* Word n that the argument may be, of a command whose arguments are "A|B"; false: there are no
 * more. */
bool cli_argument_word(const cli_command *c, size_t n, char *out, size_t size);
/* False after a message: the value is near to a word, or is not the only one that there is. */
bool cli_check_value(const cli_command *c, const cli_option *o, const char *value);

/* (help.c) */
void cli_print_commands(FILE *f);
void cli_print_help(FILE *f, const cli_command *c);
/* Does the text on the stream have colours? (messages.c) */
bool cli_has_colors(FILE *f);
void cli_print_message(void *user, const spvf_message *m);
/* A line on a terminal about what takes longer than a second (progress.c): it is shown as
 * `progress` of spvf_run_options, and cleared before something else is printed. */
void cli_begin_progress(void);
void cli_show_progress(void *user, double part);
void cli_clear_progress(void);
/* With --time: the sums of the times that messages have told. */
void cli_print_times(FILE *f);

/* The value of an option of this call, "" for a flag that is set, NULL when absent. */
const char *cli_get(const char *name);
/* Of an option that is given several times, the value of number n from 0; NULL: there are fewer. */
const char *cli_get_nth(const char *name, int n);
static inline bool cli_has(const char *name) { return cli_get(name) != NULL; }

/* Does the command have such an option? */
bool cli_takes(const char *name);
/* The program's name and arguments, ended by NULL. */
char *const *cli_arguments(void);

/* What -d says, or the default; a note when that is not native code. */
const char *cli_device(void);
/* Whole file, or standard input for "-".  NULL after a message. */
char *cli_read(const char *path, size_t *size);
/* Can cli_write write such data there?  False after a message.  The file stays as it is. */
bool cli_can_write(const char *path, bool binary);
/* To a file, or standard output for NULL or "-".  False after a message. */
bool cli_write(const char *path, const void *data, size_t size);
/* A header in C for the object that is made of the module; `source` is where that came from.  False
 * after a message. */
bool cli_write_header(const char *path, const spvf_module *m, const char *source);
/* Does the name end in .cl? */
bool cli_is_opencl_c(const char *path);
spvf_module *cli_load_module(spvf_context *context, const char *path,
                             const spvf_module_options *options);
/* The same with what --define, --specialize and --layout say; `target` as in spvf_module_options,
 * `closures` likewise. */
spvf_module *cli_load_defined(spvf_context *context, const char *path, const char *target,
                              bool closures);
/* clang-format off */
#define CLI_MODULE_OPTIONS                                                                         \
    {"--spec", "ID=V", "the value of a specialization constant: a number, 0x…, 1.5f, 1.5, true"},  \
        {"--build", "OPTIONS", "OpenCL C: options as those of clBuildProgram"},                        \
        {"--define", "NAME=F,G", "function NAME calls F, then G, with its arguments"},                 \
        {"--specialize", "KERNEL:ARG", "code is made for the value of the argument"},              \
        {"--layout", "FILE", "declarations of structs that kernels take by value"}
/* clang-format on */
/* What --layout names, if there is one; false after a message.  *text, which the layout points to,
 * is the caller's. (layout.c) */
bool cli_read_layout(spvf_layout *layout, char **text);
/* Does `work` with a plan, in a context of its own; the exit status. */
typedef bool cli_plan_work(const char *path, spvf_plan *plan);
int cli_with_plan(const char *path, cli_plan_work *work);
/* The same with each of some; JSON of several is a list. `named`: text of several has the name of
 * each before it. */
int cli_with_plans(const char *const *files, bool named, cli_plan_work *work);
/* "512/64", "64,32/16,4": sizes and local sizes of an nd-range; false: it is none. */
bool cli_range(const char *text, spvf_range *range);
/* The value of an option that takes N, 0 when absent. */
uint64_t cli_number(const char *name);

/* ---------------------------------------------------------------- passes and stages (inspect.c) */

/* clang-format off */
/* The pass switches that opt, compile and run share. */
#define CLI_PASS_OPTIONS                                                                           \
    {"-p, --passes", "P1,P2,…", "passes to run (default: the standard pipeline)"},                 \
        {"--verify-each", NULL, "check the IR after every pass"},                                  \
        {"--dump-after", "STAGE", "print the code after a pass or stage; * for all"},              \
        {"--dump-changed", NULL, "print the code after passes that changed it"},                   \
        {"--stop-after", "STAGE", "end there"},                                                    \
        {"--bisect", "N", "run only the first N pass executions"},                                 \
        {"--time", NULL, "report the time of each pass and stage, and sums"},                      \
        {"--stats", NULL, "count what passes and stages do"},                                      \
        {"--trace-rules", NULL, "report each rewrite"}
/* clang-format on */
/* A context that prints messages to stderr, and shows native code as the switches say.  Never NULL:
 * gives up on exhausted memory and on switches that name nothing. */
spvf_context *cli_context(void);
/* The switches for passes.  `native`: native code is made afterwards, so names of its stages are
 * right and are left out. */
spvf_pass_options cli_pass_options(bool native);
/* Is it the name of a stage of native code? */
bool cli_is_stage(const char *name);
/* With -stats: what the context has counted, sorted by name. */
void cli_print_counters(FILE *f, const spvf_context *c);
/* The tables of passes, stages and facts of order. */
int cli_list_passes(void);

/* An explanation for people. */
void cli_print_explanation(FILE *f, const spvf_explanation *e);

/* What a module or a container says of a kernel, on standard output: for people, and as a JSON
 * value. */
void cli_print_kernel(const spvf_kernel_info *k);
void cli_json_kernel(const spvf_kernel_info *k);
/* The same of all that a container holds, which has been verified. */
void cli_print_container(spvf_container *c);
void cli_json_container(spvf_container *c);

#endif
