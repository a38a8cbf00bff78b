/* devices.c — `spvfuse devices`: the devices of this machine, what each can do, and why one cannot
 * be used, or with -v is not there; as text and as JSON.  Also the device that -d names, or the
 * default.
 */
#include "runtime/cli/cli.h"

const char *cli_device(void) {
    const char *why_not;
    if (cli_has("-d")) return cli_get("-d");
    const char *device = spvf_default_device(&why_not);
    if (why_not) fprintf(stderr, "note: device %s, because of cpu: %s\n", device, why_not);
    return device;
}

/* What a device can do, in words, with a separator before each but the first. */
static void print_capabilities(const spvf_capabilities *c, const char *quote) {
    const struct {
        const char *name;
        bool is;
    } list[] = {{"phases", c->phases},
                {"printf", c->print},
                {"images", c->images},
                {"64-bit atomics", c->atomics64},
                {"host memory", c->host_memory},
                {"offsets", c->offsets},
                {"concurrent launches", c->concurrent},
                {"commands in order", c->in_order},
                {"validation", c->watch}};
    const char *before = "";
    for (size_t n = 0; n < sizeof list / sizeof *list; n++) {
        if (!list[n].is) continue;
        printf("%s%s%s%s", before, quote, list[n].name, quote);
        before = *quote ? "," : ", ";
    }
}

static void print_three(const char *name, const uint64_t n[3]) {
    printf(",\"%s\":[%llu,%llu,%llu]", name, (unsigned long long)n[0], (unsigned long long)n[1],
           (unsigned long long)n[2]);
}

/* As JSON. */
static void print_sizes(const spvf_device_sizes *s) {
    fputs("{\"version\":", stdout);
    json_put_string(stdout, s->version);
    fputs(",\"target\":", stdout);
    json_put_string(stdout, s->target);
    printf(",\"parallel\":%u,\"vector_bytes\":%u,\"memory\":%llu,\"local_memory\":%llu,"
           "\"group_items\":%llu",
           (unsigned)s->parallel, (unsigned)s->vector_bytes, (unsigned long long)s->memory,
           (unsigned long long)s->local_memory, (unsigned long long)s->group_items);
    print_three("group_size", s->group_size);
    print_three("groups", s->groups);
    fputs(",\"subgroup_sizes\":[", stdout);
    for (size_t n = 0; n < s->subgroup_size_count; n++)
        printf("%s%u", n ? "," : "", (unsigned)s->subgroup_sizes[n]);
    fputs("]}", stdout);
}

/* With -v: what is known, in lines for people. */
static void tell_sizes(const spvf_device_sizes *s) {
    const char *indent = "\n           ";
    if (s->version) printf("%sversion %s", indent, s->version);
    if (s->target) printf("%scode for %s", indent, s->target);
    if (s->parallel)
        printf("%s%u work-group%s at a time", indent, (unsigned)s->parallel,
               s->parallel == 1 ? "" : "s");
    if (s->vector_bytes) printf(", vectors of %u bytes", (unsigned)s->vector_bytes);
    if (s->memory) printf("%smemory of %llu MiB", indent, (unsigned long long)s->memory >> 20);
    if (s->local_memory)
        printf(", local memory of %llu KiB", (unsigned long long)s->local_memory >> 10);
    if (s->group_items)
        printf("%swork-groups of at most %llu work-items, %llu x %llu x %llu", indent,
               (unsigned long long)s->group_items, (unsigned long long)s->group_size[0],
               (unsigned long long)s->group_size[1], (unsigned long long)s->group_size[2]);
    if (s->subgroup_size_count) printf("%ssub-groups of", indent);
    for (size_t n = 0; n < s->subgroup_size_count; n++)
        printf("%s %u", n ? "," : "", (unsigned)s->subgroup_sizes[n]);
}

static bool first_device;

static void print_device(void *user, const spvf_device_info *d) {
    (void)user;
    if (d->missing && !cli_has("-v")) return;
    if (cli_has("--json")) {
        fputs(first_device ? "{\"name\":" : ",{\"name\":", stdout);
        first_device = false;
        json_put_string(stdout, d->name);
        fputs(",\"description\":", stdout);
        json_put_string(stdout, d->description);
        printf(",\"takes_spirv\":%s,\"usable\":%s,\"why_not\":", d->takes_spirv ? "true" : "false",
               d->usable ? "true" : "false");
        json_put_string(stdout, d->why_not);
        fputs(",\"can\":[", stdout);
        print_capabilities(d->can, "\"");
        printf("],\"subgroup_size\":%u,\"sizes\":", (unsigned)d->can->subgroup_size);
        print_sizes(d->sizes);
        putchar('}');
        return;
    }
    printf("%-10s %s", d->name, d->description);
    if (!d->usable) printf(" (not usable: %s)", d->why_not);
    if (d->missing) {
        putchar('\n');
        return;
    }
    fputs("\n           ", stdout);
    print_capabilities(d->can, "");
    if (d->can->subgroup_size)
        printf("; sub-groups of %u work-item%s", (unsigned)d->can->subgroup_size,
               d->can->subgroup_size == 1 ? "" : "s");
    if (cli_has("-v")) tell_sizes(d->sizes);
    putchar('\n');
}

static int run_devices(const char *const *files) {
    (void)files;
    spvf_context *c = cli_context();
    first_device = true;
    if (cli_has("--json")) putchar('[');
    bool ok = spvf_devices(c, print_device, NULL) == SPVF_OK;
    if (cli_has("--json")) puts("]");
    spvf_context_destroy(c);
    return ok ? CLI_OK : CLI_FAILED;
}

static const cli_option device_options[] = {{"--json", NULL, "for programs"}, {NULL, NULL, NULL}};
const cli_command cli_devices = {.name = "devices",
                                 .arguments = "",
                                 .help = "what this machine offers",
                                 .options = device_options,
                                 .nfiles = 0,
                                 .run = run_devices};
