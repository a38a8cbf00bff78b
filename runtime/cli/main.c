/* main.c — the `spvfuse` command: options, help, files, messages.
 *
 * Each subcommand is a row of a table, with its options.  Options are checked here, before the
 * subcommand runs.  The exit status is 0, 1 if the input or the run failed, and 2 for wrong usage.
 * A status of 0 also means that all of standard output was written.
 */
#include "runtime/cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const cli_command *const commands[] = {&cli_info,    &cli_opt,  &cli_compile, &cli_fuse,
                                              &cli_explain, &cli_run,  &cli_bench,   &cli_devices,
                                              &cli_cache,   &cli_pack, &cli_unpack,  &cli_inspect};
enum { COMMANDS = sizeof commands / sizeof *commands, MAX_OPTIONS = 32 };

/* The command and options of this call; it runs once per process. */
static const cli_command *running;
static char **arguments;
static struct { const char *name, *value; } given[MAX_OPTIONS];
static int ngiven;

const char *cli_get(const char *name) {
    for (int i = ngiven; i-- > 0;)
        if (strcmp(given[i].name, name) == 0) return given[i].value;
    return NULL;
}

const char *cli_get_nth(const char *name, int n) {
    for (int i = 0; i < ngiven; i++)
        if (strcmp(given[i].name, name) == 0 && n-- == 0) return given[i].value;
    return NULL;
}

char *const *cli_arguments(void) { return arguments; }

/* ----------------------------------------------------------------------------------------- help */

/* A column of so many characters, each of which may have several bytes. */
static void print_column(FILE *f, const char *text, int width) {
    for (const char *at = text; *at; at++) width -= (*at & 0xc0) != 0x80;
    fprintf(f, "  %s%*s ", text, width > 0 ? width : 0, "");
}

static void print_commands(FILE *f) {
    fprintf(f, "usage: spvfuse COMMAND …\n\n");
    for (int i = 0; i < COMMANDS; i++) {
        fprintf(f, "  %-7s", commands[i]->name);
        print_column(f, commands[i]->arguments, 22);
        fprintf(f, "%s\n", commands[i]->help);
    }
    fprintf(f, "\n'spvfuse COMMAND --help' lists the options of a command.\n");
}

static void print_command(FILE *f, const cli_command *c) {
    fprintf(f, "usage: spvfuse %s %s [options]\n%s\n\n", c->name, c->arguments, c->help);
    for (const cli_option *o = c->options; o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", o->name, o->value ? o->value : "");
        print_column(f, left, 22);
        fprintf(f, "%s\n", o->help);
    }
    fprintf(f, "  %-22s %s\n  %-22s %s\n", "-v", "show notes", "--help", "show this");
}

/* -------------------------------------------------------------------------------------- options */

static bool wrong(const cli_command *c, const char *what, const char *which) {
    fprintf(stderr, "spvfuse %s: %s '%s'; see 'spvfuse %s --help'\n", c->name, what, which,
            c->name);
    return false;
}

static const cli_option *find_option(const cli_command *c, const char *arg, size_t n) {
    static const cli_option verbose = {"-v", NULL, "show notes"};
    if (n == 2 && memcmp(arg, "-v", 2) == 0) return &verbose;
    for (const cli_option *o = c->options; o->name; o++)
        if (strlen(o->name) == n && memcmp(o->name, arg, n) == 0) return o;
    return NULL;
}

bool cli_takes(const char *name) { return running && find_option(running, name, strlen(name)); }

static bool is_number(const char *s) {
    errno = 0;
    if (!*s || strspn(s, "0123456789") != strlen(s)) return false;
    strtoull(s, NULL, 10);
    return errno == 0;
}

/* Takes one option, and its value from "=VALUE" or the next argument. */
static bool take_option(const cli_command *c, char **argv, int *i) {
    const char *arg = argv[*i], *equals = strchr(arg, '=');
    const cli_option *o = find_option(c, arg, equals ? (size_t)(equals - arg) : strlen(arg));
    if (!o) return wrong(c, "unknown option", arg);
    if (!o->value && equals) return wrong(c, "no value is taken by", o->name);
    if (ngiven == MAX_OPTIONS) return wrong(c, "too many options at", arg);
    const char *value = !o->value ? "" : equals ? equals + 1 : argv[++*i];
    if (!value) return wrong(c, "a value is missing after", o->name);
    if (o->value && strcmp(o->value, "N") == 0 && !is_number(value))
        return wrong(c, "not a number:", value);
    given[ngiven].name = o->name;
    given[ngiven++].value = value;
    return true;
}

/* Files has room for all of argv, and is zeroed. */
static int run_command(const cli_command *c, char **argv, const char **files) {
    int n = 0;
    running = c;
    for (int i = 0; argv[i]; i++) {
        if (strcmp(argv[i], "--help") == 0) return print_command(stdout, c), CLI_OK;
        bool ok = true;
        if (argv[i][0] == '-' && argv[i][1])
            ok = take_option(c, argv, &i);
        else if (n < c->nfiles || c->many)
            files[n++] = argv[i];
        else
            ok = wrong(c, "one argument too many", argv[i]);
        if (!ok) return CLI_USAGE;
        if (!argv[i]) break;
    }
    if (n < c->nfiles && !(c->alone && cli_has(c->alone)))
        return print_command(stderr, c), CLI_USAGE;
    return c->run(files);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) return print_commands(stderr), CLI_USAGE;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)
        return print_commands(stdout), CLI_OK;
    if (strcmp(argv[1], "--version") == 0)
        return printf("spvfuse %d.%d\n", SPVF_VERSION_MAJOR, SPVF_VERSION_MINOR), CLI_OK;
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i]->name) != 0) continue;
        const char **files = calloc((size_t)argc, sizeof *files);
        int rc = files ? run_command(commands[i], argv + 2, files) : CLI_FAILED;
        free(files);
        return rc;
    }
    fprintf(stderr, "spvfuse: unknown command '%s'; see 'spvfuse --help'\n", argv[1]);
    return CLI_USAGE;
}

/* Either all that was printed has arrived, or the command has failed. */
int main(int argc, char **argv) {
    arguments = argv;
    unsetenv("SPVFUSE_LOG"); /* all messages are printed as they are */
    int rc = dispatch(argc, argv);
    bool arrived = fflush(stdout) == 0 && !ferror(stdout);
    if (arrived || rc != CLI_OK) return rc;
    fprintf(stderr, "standard output: error: cannot be written\n");
    return CLI_FAILED;
}

/* ------------------------------------------------------------------------------ messages, files */

/* Reads to the end, or one byte too many; NULL: no memory. */
static char *read_stream(FILE *f, size_t *size) {
    size_t room = 1 << 16, n = 0, got;
    char *data = malloc(room + 1);
    while (data && n <= SPVF_MAX_FILE_SIZE && (got = fread(data + n, 1, room - n, f)) > 0) {
        n += got;
        if (n < room) continue;
        room = room * 2 > SPVF_MAX_FILE_SIZE ? SPVF_MAX_FILE_SIZE + 1 : room * 2;
        char *larger = realloc(data, room + 1);
        if (!larger) free(data);
        data = larger;
    }
    if (data) data[n] = 0;
    *size = n;
    return data;
}

char *cli_read(const char *path, size_t *size) {
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    char *data = f ? read_stream(f, size) : NULL;
    bool large = data && *size > SPVF_MAX_FILE_SIZE;
    if (!data || large || ferror(f)) {
        if (large)
            fprintf(stderr, "%s: error: has more than %zu bytes\n", path, SPVF_MAX_FILE_SIZE);
        else
            fprintf(stderr, "%s: error: cannot be read\n", path);
        free(data);
        data = NULL;
    }
    if (f && !standard) fclose(f);
    return data;
}

bool cli_write(const char *path, const void *data, size_t size) {
    bool standard = !path || strcmp(path, "-") == 0;
    FILE *f = standard ? stdout : fopen(path, "wb");
    bool ok = f && fwrite(data, 1, size, f) == size;
    if (f) ok = (standard ? fflush(f) : fclose(f)) == 0 && ok;
    if (!ok) fprintf(stderr, "%s: error: cannot be written\n", standard ? "standard output" : path);
    return ok;
}

spvf_module *cli_load_module(spvf_context *context, const char *path,
                             const spvf_module_options *options) {
    size_t size;
    spvf_module *m = NULL;
    char *bytes = cli_read(path, &size);
    if (bytes) spvf_module_load(context, path, bytes, size, options, &m);
    free(bytes);
    return m;
}

static spvf_plan *load_plan(spvf_context *context, const char *path) {
    size_t size;
    spvf_plan *p = NULL;
    char *text = cli_read(path, &size);
    if (text) spvf_plan_load(context, path, text, size, &p);
    free(text);
    return p;
}

int cli_with_plan(const char *path, cli_plan_work *work) {
    spvf_context *c = cli_context();
    spvf_plan *plan = load_plan(c, path);
    bool ok = plan && work(path, plan);
    cli_print_counters(stderr, c);
    spvf_plan_destroy(plan);
    spvf_context_destroy(c);
    return ok ? CLI_OK : CLI_FAILED;
}

uint64_t cli_number(const char *name) {
    const char *value = cli_get(name);
    return value ? strtoull(value, NULL, 10) : 0;
}

static const char *read_sizes(const char *s, uint64_t out[3], uint32_t *n) {
    for (*n = 0; *n < 3 && *s >= '0' && *s <= '9';) {
        char *end;
        out[(*n)++] = strtoull(s, &end, 10);
        s = *end == ',' ? end + 1 : end;
    }
    return s;
}

bool cli_range(const char *text, spvf_range *r) {
    uint32_t locals = 0;
    *r = (spvf_range){0};
    const char *s = read_sizes(text, r->global, &r->dims);
    bool has_local = *s == '/';
    if (has_local) s = read_sizes(s + 1, r->local, &locals);
    return !*s && r->dims && locals == (has_local ? r->dims : 0);
}
