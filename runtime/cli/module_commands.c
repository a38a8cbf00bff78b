/* module_commands.c — `spvfuse opt` and `spvfuse compile`: one module in, text or a binary out. */
#include "runtime/cli/cli.h"

#include <string.h>

static bool emit(spvf_module *m, const char *target) {
    spvf_blob blob;
    if (spvf_module_emit(m, target, &blob) != SPVF_OK) return false;
    bool ok = cli_write(cli_get("-o"), blob.data, blob.size);
    spvf_blob_destroy(&blob);
    return ok;
}

/* They became constants when the module was read, and SPIR-V written from it has none to set. */
static void warn_of_specs(const spvf_module *m, const char *file) {
    size_t n = spvf_module_spec_count(m);
    if (n == 0) return;
    fprintf(stderr, "%s: warning: specialization constants become plain ones, by default:", file);
    for (size_t i = 0; i < n; i++) {
        spvf_spec_value v;
        if (spvf_module_spec(m, i, &v, NULL) == SPVF_OK) fprintf(stderr, " %u", v.id);
    }
    fputc('\n', stderr);
}

static int transform(const char *file, const char *target, bool optimize, const spvf_range *range) {
    spvf_context *c = cli_context();
    spvf_module *m = cli_load_module(c, file);
    spvf_pass_options o = cli_pass_options();
    o.range = range;
    if (m && strncmp(target, "spirv", 5) == 0) warn_of_specs(m, file);
    bool ok = m && (!optimize || spvf_module_optimize(m, &o) == SPVF_OK) && emit(m, target);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    return ok ? CLI_OK : CLI_FAILED;
}

static int run_opt(const char *const *files) {
    const char *text = cli_get("--range");
    spvf_range range;
    if (!text || cli_range(text, &range))
        return transform(files[0], "ir", true, text ? &range : NULL);
    fprintf(stderr, "spvfuse opt: '%s' is no range: 512, 512/64, 64,32/16,4 …\n", text);
    return CLI_USAGE;
}

/* Options of the command that are part of a target's name. */
static bool complete_target(const char *target, char *out, size_t size) {
    const char *abi = cli_get("--abi"), *regalloc = cli_get("--regalloc");
    bool native = strcmp(target, "ir") != 0 && strncmp(target, "spirv", 5) != 0;
    bool time = cli_has("-time") && native;
    int n = snprintf(out, size, "%s%s%s%s%s%s%s%s", target, cli_has("-S") ? ",text" : "",
                     cli_has("-g") ? ",lines" : "", time ? ",time" : "", abi ? ",abi=" : "",
                     abi ? abi : "", regalloc ? ",regalloc=" : "", regalloc ? regalloc : "");
    return n >= 0 && (size_t)n < size;
}

static int run_compile(const char *const *files) {
    const char *target = cli_get("-t");
    char whole[200];
    if (!target || !complete_target(target, whole, sizeof whole)) {
        fprintf(stderr, "spvfuse compile: -t TARGET is needed: ir, spirv, spirv:1.0 … spirv:1.4, "
                        "x86_64[:v2|:v3|:v4]\n");
        return CLI_USAGE;
    }
    return transform(files[0], whole, !cli_has("-O0"), NULL);
}

static const cli_option opt_options[] = {
    CLI_PASS_OPTIONS,
    {"--range", "N/L", "sizes and local sizes of launches, for -p access and -p regions"},
    {"-o", "FILE", "output (default: standard output)"},
    {NULL, NULL, NULL}};
const cli_command cli_opt = {"opt",  "FILE.spv|FILE.ir", "IR text after the passes", opt_options, 1,
                             run_opt};

static const cli_option compile_options[] = {
    {"-t", "TARGET", "ir, spirv (1.2), spirv:1.0 … spirv:1.4, x86_64[:v2|:v3|:v4] (an object)"},
    {"-S", NULL, "x86_64: assembly, to be read"},
    {"-g", NULL, "x86_64: debug information"},
    {"--abi", "nativecpu", "x86_64: functions and table of DPC++'s Native CPU"},
    {"--regalloc", "stack", "x86_64: every value in memory"},
    {"-O0", NULL, "no passes: as it was read"},
    {"-o", "FILE", "output (default: standard output)"},
    CLI_PASS_OPTIONS,
    {NULL, NULL, NULL}};
const cli_command cli_compile = {
    "compile", "FILE.spv|FILE.ir", "a module for a target", compile_options, 1, run_compile};
