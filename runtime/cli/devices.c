/* devices.c — `spvfuse devices`: what this machine offers. */
#include "runtime/cli/cli.h"

const char *cli_device(void) {
    const char *why_not;
    if (cli_has("-d")) return cli_get("-d");
    const char *device = spvf_default_device(&why_not);
    if (why_not) fprintf(stderr, "note: device %s, because of cpu: %s\n", device, why_not);
    return device;
}

static bool first_device;

static void print_device(void *user, const spvf_device_info *d) {
    (void)user;
    if (cli_has("--json")) {
        fputs(first_device ? "{\"name\":" : ",{\"name\":", stdout);
        first_device = false;
        cli_json_string(stdout, d->name);
        fputs(",\"description\":", stdout);
        cli_json_string(stdout, d->description);
        printf(",\"takes_spirv\":%s,\"usable\":%s,\"why_not\":", d->takes_spirv ? "true" : "false",
               d->usable ? "true" : "false");
        cli_json_string(stdout, d->why_not);
        putchar('}');
        return;
    }
    printf("%-10s %s", d->name, d->description);
    if (!d->usable) printf(" (not usable: %s)", d->why_not);
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
