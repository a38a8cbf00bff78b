/* cache.c — `spvfuse cache`: what the cache of compiled kernels holds, whether it is whole, and its
 * end. */
#include "runtime/cli/cli.h"

#include <string.h>

typedef struct {
    spvf_cache_action action;
    bool whole;
} answer;

static void print_json(const spvf_cache_info *i) {
    fputs("{\"directory\":", stdout);
    json_put_string(stdout, i->directory);
    printf(",\"entries\":%llu,\"bytes\":%llu,\"limit\":%llu,\"foreign\":%llu,\"damaged\":%llu}\n",
           (unsigned long long)i->entries, (unsigned long long)i->bytes,
           (unsigned long long)i->limit, (unsigned long long)i->foreign,
           (unsigned long long)i->damaged);
}

static void print_info(void *user, const spvf_cache_info *i) {
    answer *a = user;
    a->whole = i->damaged == 0;
    if (cli_has("--json")) {
        print_json(i);
        return;
    }
    printf("%s: %llu %s, %llu of %llu KiB", i->directory ? i->directory : "no directory",
           (unsigned long long)i->entries, i->entries == 1 ? "entry" : "entries",
           (unsigned long long)i->bytes >> 10, (unsigned long long)i->limit >> 10);
    if (a->action == SPVF_CACHE_VERIFY)
        printf(", %llu of other versions, %llu damaged", (unsigned long long)i->foreign,
               (unsigned long long)i->damaged);
    puts(a->action == SPVF_CACHE_CLEAR ? "; removed" : "");
}

static int run_cache(const char *const *files) {
    static const char *const actions[] = {
        [SPVF_CACHE_STATS] = "stats", [SPVF_CACHE_VERIFY] = "verify", [SPVF_CACHE_CLEAR] = "clear"};
    answer a = {.action = SPVF_CACHE_STATS};
    while (a.action <= SPVF_CACHE_CLEAR && strcmp(actions[a.action], files[0]) != 0) a.action++;
    if (a.action > SPVF_CACHE_CLEAR) {
        fprintf(stderr, "spvfuse cache: 'stats', 'verify' or 'clear', not '%s'\n", files[0]);
        return CLI_USAGE;
    }
    spvf_context *c = cli_context();
    bool ok = spvf_cache(c, a.action, print_info, &a) == SPVF_OK;
    spvf_context_destroy(c);
    return ok && a.whole ? CLI_OK : CLI_FAILED;
}

static const cli_option cache_options[] = {{"--json", NULL, "for programs"}, {NULL, NULL, NULL}};
const cli_command cli_cache = {.name = "cache",
                               .arguments = "stats|verify|clear",
                               .help = "the cache of compiled kernels",
                               .options = cache_options,
                               .nfiles = 1,
                               .run = run_cache};
