/* plan_commands.c — `spvfuse fuse` and `spvfuse run`.
 *
 * `fuse` fuses all groups of a plan, and writes the kernel of the first one.  `run` runs the plan
 * on a device, and prints what the plan prints, then what became of its launches and expectations.
 */
#include "runtime/cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------- fuse */

/* Fuses group `index`; the kernel of one is written. */
static spvf_status fuse_group(spvf_plan *plan, size_t index, spvf_blob *blob) {
    const char *target = cli_get("-t") ? cli_get("-t") : "spirv";
    spvf_fusion *f;
    spvf_status status = spvf_plan_fuse(plan, index, &f);
    if (status != SPVF_OK) return status;
    if (cli_has("--explain")) cli_print_explanation(stderr, spvf_fusion_explanation(f));
    if (blob) status = spvf_module_emit(spvf_fusion_module(f), target, blob);
    spvf_fusion_destroy(f);
    return status;
}

static bool tell_refused(const char *file, const char *group) {
    fprintf(stderr, "%s: error: group '%s' was not fused\n", file, group);
    return false;
}

/* All groups are fused and explained.  The first one is wanted; that a later one is refused takes
 * nothing away from it. */
static bool fuse_all(const char *file, spvf_plan *plan, spvf_blob *blob) {
    bool ok = true;
    for (size_t i = 0, n = spvf_plan_group_count(plan); i < n; i++) {
        spvf_status status = fuse_group(plan, i, i ? NULL : blob);
        bool harmless = i > 0 && !cli_has("--strict") && status == SPVF_ERROR_REFUSED;
        if (status == SPVF_OK || harmless) continue;
        ok = tell_refused(file, spvf_plan_group_name(plan, i));
    }
    return ok;
}

static bool fuse_named(const char *file, spvf_plan *plan, spvf_blob *blob) {
    const char *wanted = cli_get("--group"), *name;
    cli_suggestion s = {.given = wanted};
    for (size_t i = 0; (name = spvf_plan_group_name(plan, i)) != NULL; i++) {
        if (strcmp(name, wanted) == 0)
            return fuse_group(plan, i, blob) == SPVF_OK || tell_refused(file, name);
        cli_suggest(&s, name);
    }
    fprintf(stderr, "%s: error: the plan has no group '%s'", file, wanted);
    if (s.nearest) fprintf(stderr, "; did you mean '%s'?", s.nearest);
    fputc('\n', stderr);
    return false;
}

static bool fuse_plan(const char *file, spvf_plan *plan) {
    spvf_blob blob = {0};
    bool ok = spvf_plan_group_count(plan) != 0;
    if (!ok) fprintf(stderr, "%s: error: the plan has no fuse group\n", file);
    if (ok) ok = (cli_has("--group") ? fuse_named : fuse_all)(file, plan, &blob);
    if (ok) ok = cli_write(cli_get("-o"), blob.data, blob.size);
    spvf_blob_destroy(&blob);
    return ok;
}

static int run_fuse(const char *const *files) { return cli_with_plan(files[0], fuse_plan); }

static const cli_option fuse_options[] = {
    {"-t, --target", "TARGET",
     "spirv (default), spirv:1.0 … spirv:1.4, ir, dot, ptx[:sm_N] (text), cubin[:sm_N], "
     "x86_64[:v2|:v3|:v4|:icelake] (an object)"},
    {"-o, --output", "FILE", "output (default: standard output)"},
    {"--group", "NAME", "this group, and no other (default: the first one)"},
    {"--explain", NULL, "what was fused and why, on standard error"},
    {"--strict", NULL, "a later group that is refused is an error, too"},
    {"--stats", NULL, "count what passes and fusion do"},
    {NULL, NULL, NULL}};
const cli_command cli_fuse = {.name = "fuse",
                              .arguments = "PLAN",
                              .help = "the fused kernel of a plan's first group",
                              .options = fuse_options,
                              .nfiles = 1,
                              .run = run_fuse};

/* ------------------------------------------------------------------------------------------ run */

static void print_text(void *user, const char *text) {
    (void)user;
    cli_clear_progress();
    fputs(text, stdout);
}

/* What launches of native code were made for. */
static void print_code(const spvf_run_result *r) {
    const char *before = "";
    fprintf(stderr, "native launches %llu, variants %llu in %.3f ms, made for: ",
            (unsigned long long)r->native_launches, (unsigned long long)r->variants,
            (double)r->compile_ns / 1e6);
    for (unsigned n = 0; n < SPVF_FACTS; n++) {
        if (!r->fact_launches[n]) continue;
        fprintf(stderr, "%s%s %llu", before, spvf_fact_name((spvf_fact)n),
                (unsigned long long)r->fact_launches[n]);
        before = ", ";
    }
    fprintf(stderr, "%s\n", *before ? "" : "any launch");
}

static void print_times(const spvf_run_result *r) {
    fprintf(stderr, "launches %llu, fused groups %llu, refused %llu, expectations %llu of %llu\n",
            (unsigned long long)r->launches, (unsigned long long)r->fused_groups,
            (unsigned long long)r->refused_groups,
            (unsigned long long)(r->expects - r->failed_expects), (unsigned long long)r->expects);
    fprintf(stderr, "read %.3f ms, fuse %.3f ms, run %.3f ms\n", (double)r->read_ns / 1e6,
            (double)r->fuse_ns / 1e6, (double)r->run_ns / 1e6);
    if (r->answers) fprintf(stderr, "answered queries %llu\n", (unsigned long long)r->answers);
    if (r->definitions)
        fprintf(stderr, "defined functions %llu\n", (unsigned long long)r->definitions);
    if (r->native_launches) print_code(r);
    if (r->validated)
        fprintf(stderr, "validated %llu groups, %llu differ\n", (unsigned long long)r->validated,
                (unsigned long long)r->differences);
    if (r->instructions)
        fprintf(stderr, "executed %llu instructions, %llu loads, %llu stores\n",
                (unsigned long long)r->instructions, (unsigned long long)r->loads,
                (unsigned long long)r->stores);
}

/* What is told during the run, and printed after it. */
typedef struct {
    FILE *f; /* writes to the text */
    char *text;
    size_t size;
    bool any;
} phase_list;

static void list_phases(void *user, const spvf_phase_run *p) {
    phase_list *to = user;
    if (!to->f) return;
    if (!cli_has("--json")) {
        fprintf(to->f, "@%s, %llu launches: %s [%s]\n", p->kernel, (unsigned long long)p->launches,
                p->text, p->rule);
        return;
    }
    fprintf(to->f, "%s{\"kernel\":", to->any ? "," : "");
    json_put_string(to->f, p->kernel);
    fprintf(to->f, ",\"phases\":%llu,\"launches\":%llu,\"together\":%s,\"rule\":\"%s\",\"text\":",
            (unsigned long long)p->phases, (unsigned long long)p->launches,
            p->together ? "true" : "false", p->rule);
    json_put_string(to->f, p->text);
    putc('}', to->f);
    to->any = true;
}

static void json_result(const spvf_run_result *r, const char *phases, bool ok) {
    printf(
        "{\"ok\":%s,\"launches\":%llu,\"fused_groups\":%llu,\"refused_groups\":%llu,"
        "\"expects\":%llu,\"failed_expects\":%llu,\"reports\":%llu,\"read_ns\":%llu,"
        "\"fuse_ns\":%llu,\"run_ns\":%llu,\"instructions\":%llu,\"loads\":%llu,"
        "\"stores\":%llu,\"validated\":%llu,\"differences\":%llu,\"native_launches\":%llu,"
        "\"variants\":%llu,\"compile_ns\":%llu,\"answers\":%llu,\"definitions\":%llu,\"facts\":{",
        ok ? "true" : "false", (unsigned long long)r->launches, (unsigned long long)r->fused_groups,
        (unsigned long long)r->refused_groups, (unsigned long long)r->expects,
        (unsigned long long)r->failed_expects, (unsigned long long)r->reports,
        (unsigned long long)r->read_ns, (unsigned long long)r->fuse_ns,
        (unsigned long long)r->run_ns, (unsigned long long)r->instructions,
        (unsigned long long)r->loads, (unsigned long long)r->stores,
        (unsigned long long)r->validated, (unsigned long long)r->differences,
        (unsigned long long)r->native_launches, (unsigned long long)r->variants,
        (unsigned long long)r->compile_ns, (unsigned long long)r->answers,
        (unsigned long long)r->definitions);
    for (unsigned n = 0; n < SPVF_FACTS; n++)
        printf("%s\"%s\":%llu", n ? "," : "", spvf_fact_name((spvf_fact)n),
               (unsigned long long)r->fact_launches[n]);
    printf("},\"phases\":[%s]}\n", phases);
}

/* What only device check does needs no -d. */
static const char *device(void) {
    bool check = cli_has("--validate") || cli_has("--limit");
    return check && !cli_has("-d") ? "check" : cli_device();
}

static bool run_plan(const char *file, spvf_plan *plan) {
    (void)file;
    spvf_pass_options passes = cli_pass_options(true);
    spvf_run_result result = {.size = sizeof result};
    phase_list phases = {0};
    if (cli_has("--times") || cli_has("--json"))
        phases.f = open_memstream(&phases.text, &phases.size);
    spvf_run_options o = {.size = sizeof o,
                          .device = device(),
                          .unfused = cli_has("--unfused"),
                          .strict = cli_has("--strict"),
                          .validate = cli_has("--validate"),
                          .output = cli_has("--json") ? NULL : print_text,
                          .passes = &passes,
                          .no_optimize = cli_has("-O0"),
                          .instruction_limit = cli_number("--limit"),
                          .phases = list_phases,
                          .phases_user = &phases,
                          .progress = cli_show_progress};
    cli_begin_progress();
    bool ok = spvf_plan_run(plan, &o, &result) == SPVF_OK;
    cli_clear_progress();
    if (phases.f) fclose(phases.f);
    if (cli_has("--times")) print_times(&result);
    if (cli_has("--times") && !cli_has("--json")) fputs(phases.text ? phases.text : "", stderr);
    if (cli_has("--json")) json_result(&result, phases.text ? phases.text : "", ok);
    free(phases.text);
    return ok;
}

static int run_run(const char *const *files) {
    if (cli_is_stage(cli_get("--stop-after"))) {
        fprintf(stderr,
                "spvfuse run: kernels that are not compiled cannot run; see 'spvfuse compile "
                "-stop-after'\n");
        return CLI_USAGE;
    }
    if (cli_has("--validate") && cli_has("--unfused")) {
        fprintf(stderr, "spvfuse run: --validate compares fused groups, --unfused fuses none\n");
        return CLI_USAGE;
    }
    return cli_with_plans(files, false, run_plan);
}

static const cli_option run_options[] = {
    {"-d, --device", "DEVICE", "what `spvfuse devices` lists, as in DEVICES.md; default: cpu"},
    {"--unfused", NULL, "launch the members of groups one by one"},
    {"--strict", NULL, "a refused fusion is an error"},
    {"--validate", NULL, "run fused groups unfused too, and compare (check, the default, or cpu)"},
    {"--limit", "N", "instructions of a work-group, device check (default: 150 million)"},
    {"--times", NULL, "counts and times on standard error"},
    {"--trace", "FILE", "what ran when, for ui.perfetto.dev, as SPVFUSE_TRACE=FILE"},
    {"--json", NULL, "the outcome for programs"},
    {"-O0, --no-optimize", NULL, "no optimization"},
    CLI_PASS_OPTIONS,
    {NULL, NULL, NULL}};
const cli_command cli_run = {.name = "run",
                             .arguments = "PLAN…",
                             .help = "runs plans and checks what they expect",
                             .options = run_options,
                             .nfiles = 1,
                             .many = true,
                             .run = run_run};
