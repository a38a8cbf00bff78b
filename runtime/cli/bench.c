/* bench.c — `spvfuse bench`: what fusing the groups of a plan gains.
 *
 * The library measures; this prints, for each group, medians with and without
 * fusion, the rates at which the predicted bytes move, and the limit: the time of a copy.
 */
#include "runtime/cli/cli.h"

static bool first_timing;

/* Bytes a nanosecond are 10^9 bytes a second. */
static double rate(uint64_t bytes, uint64_t ns) { return ns ? (double)bytes / (double)ns : 0; }

static double ratio(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }

/* Nanoseconds that copying the bytes of the fused kernel would take. */
static double limit_of(const spvf_timing *t) {
    double copied = rate(t->copy_bytes, t->copy_ns);
    return copied > 0 ? (double)t->fused_bytes / copied : 0;
}

static void print_way(const char *name, uint64_t ns, uint64_t bytes) {
    printf("  %-8s %10.3f ms", name, (double)ns / 1e6);
    if (bytes) printf("  %7.2f GB/s", rate(bytes, ns));
}

static void print_timing(void *user, const spvf_timing *t) {
    cli_clear_progress();
    (void)user;
    printf("%s: %llu launches, median of %u\n", t->name, (unsigned long long)t->launches, t->runs);
    print_way("unfused", t->unfused_ns, t->unfused_bytes);
    putchar('\n');
    if (!t->fused) return;
    print_way("fused", t->fused_ns, t->fused_bytes);
    printf("  %.2f times as fast", ratio(t->unfused_ns, t->fused_ns));
    if (t->fused_bytes)
        printf(", at most %.2f%s by bytes moved", ratio(t->unfused_bytes, t->fused_bytes),
               t->exact ? "" : " or so");
    printf("\n  made in  %10.3f ms: fusing %.3f, compiling %.3f\n",
           (double)(t->fuse_ns + t->compile_ns) / 1e6, (double)t->fuse_ns / 1e6,
           (double)t->compile_ns / 1e6);
    double limit = limit_of(t);
    if (limit > 0)
        printf("  limit    %10.3f ms  %7.2f GB/s, a copy: %.2f of it reached\n", limit / 1e6,
               rate(t->copy_bytes, t->copy_ns), t->fused_ns ? limit / (double)t->fused_ns : 0);
}

static void json_timing(void *user, const spvf_timing *t) {
    cli_clear_progress();
    (void)user;
    fputs(first_timing ? "" : ",", stdout);
    first_timing = false;
    fputs("{\"name\":", stdout);
    json_put_string(stdout, t->name);
    printf(",\"launches\":%llu,\"fused\":%s,\"runs\":%u,\"fuse_ns\":%llu,\"compile_ns\":%llu,"
           "\"unfused_ns\":%llu,\"fused_ns\":%llu,\"unfused_cpu_ns\":%llu,\"fused_cpu_ns\":%llu,"
           "\"unfused_bytes\":%llu,\"fused_bytes\":%llu,"
           "\"exact\":%s,\"copy_bytes\":%llu,\"copy_ns\":%llu,\"limit_ns\":%.0f}",
           (unsigned long long)t->launches, t->fused ? "true" : "false", t->runs,
           (unsigned long long)t->fuse_ns, (unsigned long long)t->compile_ns,
           (unsigned long long)t->unfused_ns, (unsigned long long)t->fused_ns,
           (unsigned long long)t->unfused_cpu_ns, (unsigned long long)t->fused_cpu_ns,
           (unsigned long long)t->unfused_bytes, (unsigned long long)t->fused_bytes,
           t->exact ? "true" : "false", (unsigned long long)t->copy_bytes,
           (unsigned long long)t->copy_ns, limit_of(t));
}

static bool bench_plan(const char *file, spvf_plan *plan) {
    (void)file;
    bool json = cli_has("--json");
    spvf_run_options o = {.size = sizeof o,
                          .device = cli_device(),
                          .timing = json ? json_timing : print_timing,
                          .progress = cli_show_progress};
    first_timing = true;
    if (json) fputs("{\"groups\":[", stdout);
    cli_begin_progress();
    bool ok = spvf_plan_run(plan, &o, NULL) == SPVF_OK;
    cli_clear_progress();
    if (json) puts("]}");
    return ok;
}

static int run_bench(const char *const *files) { return cli_with_plans(files, true, bench_plan); }

static const cli_option bench_options[] = {
    {"-d, --device", "DEVICE", "what `spvfuse devices` lists, as in DEVICES.md; default: cpu"},
    {"--trace", "FILE", "what ran when, for ui.perfetto.dev, as SPVFUSE_TRACE=FILE"},
    {"--json", NULL, "for programs"},
    {NULL, NULL, NULL}};
const cli_command cli_bench = {.name = "bench",
                               .arguments = "PLAN…",
                               .help = "times each group, fused and kernel by kernel",
                               .options = bench_options,
                               .nfiles = 1,
                               .many = true,
                               .run = run_bench};
