/* module_commands.c — `spvfuse opt` and `spvfuse compile`: one module in, text or a binary out.
 *
 * Both read a module and run passes.  `opt` then prints the IR, or its graph; `compile` writes the
 * module for a target.  Options of native code are put into the name of the target, which is how
 * the library takes them.
 */
#include "runtime/cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool emit(spvf_module *m, const char *target, const char *path) {
    spvf_blob blob;
    if (spvf_module_emit(m, target, &blob) != SPVF_OK) return false;
    bool ok = cli_write(path, blob.data, blob.size);
    spvf_blob_destroy(&blob);
    return ok;
}

/* Is it given by --spec? */
static bool is_given(uint32_t id) {
    const char *value;
    for (int n = 0; (value = cli_get_nth("--spec", n)) != NULL; n++)
        if (strtoul(value, NULL, 10) == id) return true;
    return false;
}

/* They became constants when the module was read, and SPIR-V written from it has none to set. */
static void warn_of_specs(const spvf_module *m, const char *file) {
    spvf_spec_value v;
    bool any = false;
    for (size_t i = 0; i < spvf_module_spec_count(m); i++) {
        if (spvf_module_spec(m, i, &v, NULL) != SPVF_OK || is_given(v.id)) continue;
        if (!any)
            fprintf(stderr,
                    "%s: warning: specialization constants become plain ones, by default:", file);
        any = true;
        fprintf(stderr, " %u", v.id);
    }
    if (any) fputc('\n', stderr);
}

typedef struct {
    const char *name; /* of the target */
    bool native;
    bool optimize;
    const spvf_range *range; /* or NULL */
    const char *path;        /* or NULL */
} output;

/* The passes end where -stop-after says; native code that would follow is not made then. */
static bool optimize_and_emit(spvf_module *m, const char *file, const output *t) {
    spvf_pass_options o = cli_pass_options(t->native);
    bool stopped = false;
    o.range = t->range;
    o.stopped = &stopped;
    if (t->optimize && spvf_module_optimize(m, &o) != SPVF_OK) return false;
    if (!emit(m, t->native && stopped ? "ir" : t->name, t->path)) return false;
    return !cli_has("--header") || cli_write_header(cli_get("--header"), m, file);
}

static int transform(const char *file, const output *t) {
    spvf_context *c = cli_context();
    spvf_module *m = cli_load_defined(c, file, t->name, false);
    if (m && strncmp(t->name, "spirv", 5) == 0) warn_of_specs(m, file);
    bool ok = m && optimize_and_emit(m, file, t);
    cli_print_counters(stderr, c);
    cli_print_times(stderr);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    return ok ? CLI_OK : CLI_FAILED;
}

/* What --range says; *given is NULL if there is none.  False after a message. */
static bool read_range(const char *command, spvf_range *range, const spvf_range **given) {
    const char *text = cli_get("--range");
    *given = text ? range : NULL;
    if (!text || cli_range(text, range)) return true;
    fprintf(stderr, "spvfuse %s: '%s' is no range: 512, 512/64, 64,32/16,4 …\n", command, text);
    return false;
}

static bool is_native(const char *target) {
    return strcmp(target, "ir") != 0 && strcmp(target, "dot") != 0 &&
           strncmp(target, "spirv", 5) != 0;
}

/* Is it a machine, of which objects are made? */
static bool is_machine(const char *target) {
    return is_native(target) && strncmp(target, "ptx", 3) != 0 && strncmp(target, "cubin", 5) != 0;
}

/* Options of the command that are part of a target's name; NULL: they are too long. */
static const char *complete_target(const char *target) {
    static char out[300];
    static const char *const flags[][2] = {{"-S", ",text"}, {"-g", ",lines"}};
    static const char *const values[][2] = {
        {"--abi", ",abi="}, {"--regalloc", ",regalloc="}, {"--table", ",table="}};
    const char *stop = is_native(target) ? cli_get("--stop-after") : NULL, *value;
    FILE *f = fmemopen(out, sizeof out, "w");
    if (!f) return NULL;
    fputs(target, f);
    for (size_t n = 0; n < sizeof flags / sizeof *flags; n++)
        if (cli_has(flags[n][0])) fputs(flags[n][1], f);
    for (size_t n = 0; n < sizeof values / sizeof *values; n++)
        if ((value = cli_get(values[n][0])) != NULL) fprintf(f, "%s%s", values[n][1], value);
    if (stop) fprintf(f, ",stop=%s", stop);
    return fclose(f) == 0 ? out : NULL;
}

static const char *extension_of(const char *target) {
    if (cli_has("-S")) return "s";
    return strncmp(target, "spirv", 5) == 0   ? "spv"
           : strncmp(target, "ptx", 3) == 0   ? "ptx"
           : strncmp(target, "cubin", 5) == 0 ? "cubin"
           : is_machine(target)               ? "o"
                                              : target;
}

/* The output for one of several inputs: its name with another ending, here or in the folder of -o.
 * To be freed; NULL: no memory. */
static char *output_name(const char *file, const char *ending) {
    const char *folder = cli_get("-o"), *slash = strrchr(file, '/'),
               *name = slash ? slash + 1 : file;
    const char *dot = strrchr(name, '.');
    int length = (int)(dot && dot != name ? (size_t)(dot - name) : strlen(name));
    size_t size = (folder ? strlen(folder) : 0) + strlen(name) + strlen(ending) + 3;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%.*s.%s", folder ? folder : "", folder ? "/" : "", length, name,
                 ending);
    return path;
}

static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* False after a message: output n would be written over an input, or is that of an input before. */
static bool has_own_name(const char *const *files, size_t n, const char *path, const char *ending) {
    bool ok = true;
    for (size_t k = 0; ok && files[k]; k++) {
        char *other = k < n ? output_name(files[k], ending) : NULL;
        if (is_same_file(files[k], path)) {
            fprintf(stderr, "%s: error: would be written over; -o FOLDER names another place\n",
                    path);
            ok = false;
        } else if (other && strcmp(other, path) == 0) {
            fprintf(stderr, "%s: error: both '%s' and '%s' would become this file\n", path,
                    files[k], files[n]);
            ok = false;
        }
        free(other);
    }
    return ok;
}

static bool write_each(const char *const *files, const char *ending, output t) {
    bool ok = true;
    for (size_t n = 0; files[n]; n++) {
        char *path = output_name(files[n], ending);
        t.path = path;
        ok &= path && has_own_name(files, n, path, ending) && transform(files[n], &t) == CLI_OK;
        free(path);
    }
    return ok;
}

/* Text of several modules is one after another, each after a comment with the name of its file. */
static bool opt_each(const char *const *files, output t) {
    bool ok = true;
    for (const char *const *f = files; *f; f++) {
        printf("%s%s %s\n", f == files ? "" : "\n", cli_has("--cfg") ? "//" : ";", *f);
        ok &= transform(*f, &t) == CLI_OK;
    }
    return ok;
}

static int run_opt(const char *const *files) {
    spvf_range range;
    bool graph = cli_has("--cfg");
    output t = {.name = graph ? "dot" : "ir", .optimize = true, .path = cli_get("-o")};
    if (cli_has("--list-passes")) return cli_list_passes();
    if (!read_range("opt", &range, &t.range)) return CLI_USAGE;
    if (!files[1]) return transform(files[0], &t);
    bool ok = t.path ? write_each(files, t.name, t) : opt_each(files, t);
    return ok ? CLI_OK : CLI_FAILED;
}

static bool is_identifier(const char *s) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return *s && !(*s >= '0' && *s <= '9') && !s[strspn(s, letters)];
}

/* A given option that only objects have, if the target is another; NULL: there is none. */
static const char *misplaced(const char *target) {
    static const char *const only[] = {"-S", "-g", "--abi", "--regalloc", "--header", "--table"};
    const bool object = is_machine(target);
    for (size_t n = 0; n < sizeof only / sizeof *only; n++)
        if (cli_has(only[n]) && (!object || (n > 3 && cli_has("--abi")))) return only[n];
    return NULL;
}

static bool is_wrong(const char *target, bool several) {
    const char *what = misplaced(target);
    if (what)
        fprintf(stderr, "spvfuse compile: %s is for objects of -t x86_64%s\n", what,
                strcmp(what, "--abi") != 0 && cli_has("--abi") ? " without --abi" : "");
    else if (cli_has("--header") && several)
        fprintf(stderr, "spvfuse compile: --header is that of one module\n");
    else if (cli_has("--table") && !is_identifier(cli_get("--table")))
        fprintf(stderr, "spvfuse compile: --table takes a name of C, not '%s'\n",
                cli_get("--table"));
    else
        return false;
    return true;
}

static int run_compile(const char *const *files) {
    const char *name = cli_get("-t"), *whole = name ? complete_target(name) : NULL;
    spvf_range range;
    if (!whole) {
        fprintf(stderr,
                "spvfuse compile: -t TARGET is needed: ir, dot, spirv, spirv:1.0 … spirv:1.4, "
                "ptx[:sm_N], cubin[:sm_N], x86_64[:v2|:v3|:v4|:icelake]\n");
        return CLI_USAGE;
    }
    output t = {.name = whole,
                .native = is_native(name),
                .optimize = !cli_has("-O0"),
                .path = cli_get("-o")};
    if (is_wrong(name, files[1]) || !read_range("compile", &range, &t.range)) return CLI_USAGE;
    if (files[1]) return write_each(files, extension_of(name), t) ? CLI_OK : CLI_FAILED;
    return transform(files[0], &t);
}

static const cli_option opt_options[] = {
    CLI_PASS_OPTIONS,
    CLI_MODULE_OPTIONS,
    {"--range", "N/L", "sizes and local sizes of launches, for -p access and -p regions"},
    {"--cfg", NULL, "control flow graphs instead of text, for Graphviz"},
    {"--list-passes", NULL, "the passes, and which runs before which"},
    {"-o, --output", "FILE", "output (default: standard output)"},
    {NULL, NULL, NULL}};
const cli_command cli_opt = {.name = "opt",
                             .arguments = "FILE…",
                             .help = "IR text after the passes",
                             .options = opt_options,
                             .nfiles = 1,
                             .many = true,
                             .run = run_opt,
                             .alone = "--list-passes"};

static const cli_option compile_options[] = {
    {"-t, --target", "TARGET",
     "ir, dot, spirv (1.2), spirv:1.0 … spirv:1.4, ptx[:sm_N] (text), cubin[:sm_N], "
     "x86_64[:v2|:v3|:v4|:icelake] (an object)"},
    {"-S, --assembly", NULL, "x86_64: assembly, as GNU as and clang take it"},
    {"-g, --debug", NULL, "x86_64: debug information"},
    {"--abi", "nativecpu", "x86_64: functions and table of DPC++'s Native CPU"},
    {"--header", "FILE", "x86_64: declarations of the kernels in C, for calling them"},
    {"--table", "NAME", "x86_64: the name of the table of kernels, which is spvf_kernels"},
    {"--regalloc", "stack", "x86_64: every value in memory"},
    {"--range", "N/L", "sizes and local sizes of launches, for -p access and -p regions"},
    {"-O0, --no-optimize", NULL, "no passes: as it was read"},
    {"-o, --output", "FILE", "output (default: standard output)"},
    CLI_PASS_OPTIONS,
    CLI_MODULE_OPTIONS,
    {NULL, NULL, NULL}};
const cli_command cli_compile = {.name = "compile",
                                 .arguments = "FILE…",
                                 .help = "a module for a target; several: a file for each",
                                 .options = compile_options,
                                 .nfiles = 1,
                                 .many = true,
                                 .run = run_compile};
