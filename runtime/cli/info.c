/* info.c — `spvfuse info`: kernels, arguments, attributes, specialization constants. */
#include "runtime/cli/cli.h"

static const char *const kinds[] = {"buffer", "local", "value", "image", "sampler"};
static const char *const accesses[] = {"none", "read", "write", "read_write"}; /* spvf_arg_access */

/* ----------------------------------------------------------------------------------------- text */

static bool is_set(const uint32_t v[3]) { return v[0] || v[1] || v[2]; }

/* Parameters are counted as they were read; members of a struct have its number and their place. */
static void print_place(const spvf_arg_info *a) {
    if (a->member)
        printf("  %u, byte %llu: ", a->closure, (unsigned long long)a->offset);
    else
        printf("  %u: ", a->closure);
}

/* What the kernel does with it, as far as that is known. */
static const char *access_of(const spvf_arg_info *a) {
    if (!a->used) return a->constant ? ", constant, unused" : ", unused";
    if (a->constant) return ", constant";
    if (a->kind != SPVF_ARG_BUFFER && a->kind != SPVF_ARG_LOCAL) return "";
    if (a->read_only || a->access == SPVF_ACCESS_READ) return ", read-only";
    return a->access == SPVF_ACCESS_WRITE ? ", write-only" : "";
}

static void print_arg(const spvf_arg_info *a) {
    print_place(a);
    printf("%s", a->padding ? "padding" : a->spilled ? "spilled struct" : kinds[a->kind]);
    if (a->special) printf(" %u of special %u", a->special_arg, a->special - 1);
    if (a->name && !a->member) printf(" %s", a->name);
    if (a->type_name) printf(" (%s)", a->type_name);
    if (a->kind == SPVF_ARG_VALUE || a->spilled)
        printf(", %llu bytes", (unsigned long long)a->size);
    if (a->align) printf(", align %u", a->align);
    fputs(access_of(a), stdout);
    if (a->no_alias) printf(", noalias");
    if (a->specialized) printf(", specialized");
    putchar('\n');
}

void cli_print_kernel(const spvf_kernel_info *k) {
    printf("kernel %s\n", k->name);
    for (size_t i = 0; i < k->arg_count; i++) print_arg(k->args[i]);
    if (k->all_arg_count > k->arg_count)
        printf("  %zu unused parts of structs dropped\n", k->all_arg_count - k->arg_count);
    const uint32_t *r = k->required_local_size, *h = k->local_size_hint;
    if (is_set(r)) printf("  required local size %u %u %u\n", r[0], r[1], r[2]);
    if (is_set(h)) printf("  local size hint %u %u %u\n", h[0], h[1], h[2]);
    if (k->required_subgroup_size) printf("  sub-group size %u\n", k->required_subgroup_size);
    if (k->local_memory) printf("  local memory %llu bytes\n", (unsigned long long)k->local_memory);
    if (k->refusal) printf("  refused: %s\n", k->refusal);
}

static void print_specs(const spvf_module *m) {
    for (size_t i = 0; i < spvf_module_spec_count(m); i++) {
        spvf_spec_value v;
        uint32_t bits;
        spvf_module_spec(m, i, &v, &bits);
        printf("spec %u: %u bits, 0x%llx\n", v.id, bits, (unsigned long long)v.value);
    }
}

/* ----------------------------------------------------------------------------------------- JSON */

static void json_member(const char *name, const char *value, const char *after) {
    printf("\"%s\":", name);
    json_put_string(stdout, value);
    fputs(after, stdout);
}

static void json_sizes(const char *name, const uint32_t v[3]) {
    if (is_set(v)) printf("\"%s\":[%u,%u,%u],", name, v[0], v[1], v[2]);
}

static const char *space_of(const spvf_arg_info *a) {
    if (a->kind == SPVF_ARG_LOCAL) return "\"local\"";
    if (a->kind != SPVF_ARG_BUFFER) return "null";
    return a->constant ? "\"constant\"" : "\"global\"";
}

static void json_arg(const spvf_arg_info *a, bool first) {
    fputs(first ? "{" : ",{", stdout);
    json_member("name", a->name, ",");
    json_member("type", a->type_name, ",");
    json_member("kind", kinds[a->kind], ",");
    printf("\"size\":%llu,\"align\":%u,\"constant\":%s,\"read_only\":%s,\"noalias\":%s",
           (unsigned long long)a->size, a->align, a->constant ? "true" : "false",
           a->read_only ? "true" : "false", a->no_alias ? "true" : "false");
    if (a->specialized) printf(",\"specialized\":true");
    printf(",\"space\":%s,\"access\":\"%s\",\"used\":%s", space_of(a), accesses[a->access],
           a->used ? "true" : "false");
    if (a->member)
        printf(",\"closure\":%u,\"offset\":%llu,\"padding\":%s,\"spilled\":%s", a->closure,
               (unsigned long long)a->offset, a->padding ? "true" : "false",
               a->spilled ? "true" : "false");
    if (a->special) printf(",\"special\":%u,\"special_arg\":%u", a->special - 1, a->special_arg);
    putchar('}');
}

void cli_json_kernel(const spvf_kernel_info *k) {
    putchar('{');
    json_member("name", k->name, ",");
    json_member("refusal", k->refusal, ",");
    json_sizes("required_local_size", k->required_local_size);
    json_sizes("local_size_hint", k->local_size_hint);
    printf("\"subgroup_size\":%u,\"local_memory\":%llu,\"args\":[", k->required_subgroup_size,
           (unsigned long long)k->local_memory);
    for (size_t i = 0; i < k->arg_count; i++) json_arg(k->args[i], i == 0);
    fputs("],\"dropped\":[", stdout);
    for (size_t i = 0, n = 0; i < k->all_arg_count; i++)
        if (!(k->arg_mask[i / 64] >> i % 64 & 1)) printf("%s%zu", n++ ? "," : "", i);
    fputs("]}", stdout);
}

static void json_module(const spvf_module *m) {
    fputs("{\"kernels\":[", stdout);
    for (size_t i = 0; i < spvf_module_kernel_count(m); i++) {
        if (i) putchar(',');
        cli_json_kernel(spvf_module_kernel(m, i));
    }
    fputs("],\"specs\":[", stdout);
    for (size_t i = 0; i < spvf_module_spec_count(m); i++) {
        spvf_spec_value v;
        uint32_t bits;
        spvf_module_spec(m, i, &v, &bits);
        printf("%s{\"id\":%u,\"bits\":%u,\"value\":%llu}", i ? "," : "", v.id, bits,
               (unsigned long long)v.value);
    }
    puts("]}");
}

static void print_module(const spvf_module *m) {
    for (size_t i = 0; i < spvf_module_kernel_count(m); i++)
        cli_print_kernel(spvf_module_kernel(m, i));
    print_specs(m);
}

/* Of several files, each is named before what it has. */
static bool print_file(const char *file, bool several, bool first) {
    spvf_context *c = cli_context();
    spvf_module *m = cli_load_defined(c, file, NULL, true);
    bool json = cli_has("--json");
    bool ok = m && (!cli_has("-O") || spvf_module_optimize(m, NULL) == SPVF_OK);
    if (ok && several && !json) printf("%s%s:\n", first ? "" : "\n", file);
    if (several && json) printf(first ? "[" : ",");
    if (ok && json)
        json_module(m);
    else if (ok)
        print_module(m);
    else if (several && json)
        puts("null");
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    return ok;
}

static int run_info(const char *const *files) {
    bool ok = true, several = files[1] != NULL;
    for (const char *const *f = files; *f; f++) ok &= print_file(*f, several, f == files);
    if (several && cli_has("--json")) puts("]");
    return ok ? CLI_OK : CLI_FAILED;
}

static const cli_option options[] = {
    {"--json", NULL, "for programs"},
    {"-O, --optimize", NULL, "after the standard passes, which find out more about arguments"},
    CLI_MODULE_OPTIONS,
    {NULL, NULL, NULL}};
const cli_command cli_info = {.name = "info",
                              .arguments = "FILE…",
                              .help = "kernels, arguments and attributes of modules",
                              .options = options,
                              .nfiles = 1,
                              .many = true,
                              .run = run_info};
