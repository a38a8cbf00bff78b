/* container.c — `spvfuse pack`, `unpack` and `inspect`: containers of device code. */
#include "runtime/cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ----------------------------------------------------------------------------------------- pack */

typedef struct {
    spvf_context *context;
    spvf_pack *pack;
} packing;

/* The name of a file without its folder. */
static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool add_object(const packing *p, const char *name, const spvf_module *m,
                       const char *target) {
    char image[200];
    snprintf(image, sizeof image, "%s:%s", name, target);
    return spvf_pack_emit(p->pack, image, m, target) == SPVF_OK;
}

/* "cuda:sm_N": cubins of all texts that device cuda makes of kernels for usual launches, with each
 * combination of facts about those of many work-items. */
static bool add_cubins(const packing *p, const char *name, const spvf_module *m, const char *sm) {
    bool begins_early = strncmp(sm, "sm_", 3) == 0 && strtoul(sm + 3, NULL, 10) >= 90;
    const char *usual = begins_early ? ",dependent" : ""; /* as device cuda has it */
    for (unsigned facts = 0; facts < 8; facts++) {
        char target[64];
        snprintf(target, sizeof target, "cubin:%.20s,offset%s%s%s", sm,
                 facts & 1 ? ",disjoint" : usual, facts & 2 ? ",aligned" : "",
                 facts & 4 ? ",coarsen=4" : "");
        if (!add_object(p, name, m, target)) return false;
    }
    return true;
}

/* What is made for each target of -t, "T1,T2,…". */
static bool add_objects(const packing *p, const char *name, const spvf_module *m) {
    const char *s = cli_get("-t");
    for (size_t n; s && *s; s += n + (s[n] == ',')) {
        char target[64];
        n = strcspn(s, ",");
        snprintf(target, sizeof target, "%.*s", (int)n, s);
        const char *sm = strncmp(target, "cuda:", 5) == 0 ? target + 5 : NULL;
        if (!(sm ? add_cubins(p, name, m, sm) : add_object(p, name, m, target))) return false;
    }
    return true;
}

/* IR or OpenCL C. */
static bool is_text(const char *path) {
    const char *dot = strrchr(path, '.');
    return (dot && strcmp(dot, ".ir") == 0) || cli_is_opencl_c(path);
}

/* Code is made of modules as devices have them, so that these can run it. */
static bool add_compiled(const packing *p, const char *path, const void *bytes, size_t size) {
    const spvf_module_options o = {.size = sizeof o, .closures = true};
    spvf_module *m;
    if (spvf_module_load(p->context, path, bytes, size, &o, &m) != SPVF_OK) return false;
    bool ok = spvf_module_optimize(m, NULL) == SPVF_OK && add_objects(p, base_of(path), m);
    spvf_module_destroy(m);
    return ok;
}

static bool add_image(const packing *p, const char *path, const char *target,
                      const spvf_blob *code) {
    bool ok = spvf_pack_add(p->pack, base_of(path), target, code->data, code->size) == SPVF_OK;
    return ok && (!cli_has("-t") || add_compiled(p, path, code->data, code->size));
}

static bool add_module(const packing *p, const char *path, const spvf_module *m) {
    spvf_blob code;
    bool ok = spvf_module_emit(m, "spirv", &code) == SPVF_OK && add_image(p, path, NULL, &code);
    spvf_blob_destroy(&code);
    return ok;
}

/* Containers hold text as SPIR-V. */
static bool add_text(const packing *p, const char *path, const spvf_blob *text) {
    const char *build = cli_has("--build") ? cli_get("--build") : "";
    const spvf_module_options o = {.size = sizeof o,
                                   .opencl_c = cli_is_opencl_c(path) ? build : NULL};
    spvf_module *m;
    if (spvf_module_load(p->context, path, text->data, text->size, &o, &m) != SPVF_OK) return false;
    bool ok = add_module(p, path, m);
    spvf_module_destroy(m);
    return ok;
}

static bool add_code(const packing *p, const char *path, const char *target) {
    size_t size;
    char *bytes = cli_read(path, &size);
    const spvf_blob code = {.data = bytes, .size = size};
    bool ok =
        bytes && (is_text(path) ? add_text(p, path, &code) : add_image(p, path, target, &code));
    free(bytes);
    return ok;
}

/* "FILE", or "TARGET=FILE" where the bytes do not tell what they are for. */
static bool add_file(const packing *p, const char *file) {
    char target[64];
    const char *equals = strchr(file, '=');
    if (!equals) return add_code(p, file, NULL);
    snprintf(target, sizeof target, "%.*s", (int)(equals - file), file);
    return add_code(p, equals + 1, target);
}

/* "KEY=VALUE" of the container. */
static bool add_property(const packing *p) {
    const char *text = cli_get("--set"), *equals = text ? strchr(text, '=') : NULL;
    char key[200];
    if (!text) return true;
    snprintf(key, sizeof key, "%.*s", equals ? (int)(equals - text) : 0, text);
    const spvf_property property = {.key = key, .value = equals ? equals + 1 : ""};
    if (equals) return spvf_pack_set(p->pack, &property) == SPVF_OK;
    fprintf(stderr, "spvfuse pack: --set takes KEY=VALUE, not '%s'\n", text);
    return false;
}

static bool write_blob(spvf_blob *blob) {
    bool ok = cli_write(cli_get("-o"), blob->data, blob->size);
    spvf_blob_destroy(blob);
    return ok;
}

static bool write_hcf(spvf_container *c) {
    spvf_blob blob;
    return spvf_container_hcf(c, &blob) == SPVF_OK && write_blob(&blob);
}

static bool link_images(const packing *p, spvf_container *c) {
    spvf_module *m;
    if (spvf_container_module(&c, 1, NULL, NULL, &m) != SPVF_OK) return false;
    spvf_pack *linked;
    spvf_blob blob;
    bool ok = spvf_pack_create(p->context, &linked) == SPVF_OK;
    ok = ok && add_module(&(packing){p->context, linked}, "linked", m) &&
         spvf_pack_write(linked, &blob) == SPVF_OK && write_blob(&blob);
    spvf_pack_destroy(linked);
    spvf_module_destroy(m);
    return ok;
}

/* What is packed, as a container that can be looked into. */
static bool finish_pack(const packing *p) {
    spvf_blob blob;
    spvf_container *c;
    if (spvf_pack_write(p->pack, &blob) != SPVF_OK) return false;
    if (!cli_has("--hcf") && !cli_has("--link")) return write_blob(&blob);
    bool ok = spvf_container_load(p->context, "pack", blob.data, blob.size, &c) == SPVF_OK;
    ok = ok && (cli_has("--link") ? link_images(p, c) : write_hcf(c));
    spvf_container_destroy(c);
    spvf_blob_destroy(&blob);
    return ok;
}

static int run_pack(const char *const *files) {
    packing p = {.context = cli_context()};
    bool ok = spvf_pack_create(p.context, &p.pack) == SPVF_OK;
    for (; *files && ok; files++) ok = add_file(&p, *files);
    ok = ok && add_property(&p) && finish_pack(&p);
    spvf_pack_destroy(p.pack);
    spvf_context_destroy(p.context);
    return ok ? CLI_OK : CLI_FAILED;
}

/* --------------------------------------------------------------------------------------- unpack */

static const char *extension_of(const char *format) {
    static const char *const known[][2] = {{"spirv", ".spv"},
                                           {"ptx", ".ptx"},
                                           {"cubin", ".cubin"},
                                           {"object", ".o"},
                                           {"llvm-ir", ".bc"}};
    for (unsigned n = 0; n < sizeof known / sizeof *known; n++)
        if (strcmp(format, known[n][0]) == 0) return known[n][1];
    return ".bin";
}

/* Names are those of files in the folder, whatever they contain. */
static void name_file(char *path, size_t size, size_t number, const spvf_image_info *info) {
    int n = snprintf(path, size, "%s/%zu-", cli_get("-o"), number);
    const char *extension = extension_of(info->format);
    size_t at = (size_t)n, tail = strlen(extension);
    for (const char *s = info->name; *s && at + tail + 1 < size; s++)
        path[at++] = strchr("/\\:", *s) || (unsigned char)*s < ' ' ? '_' : *s;
    path[at] = 0;
    if (at < tail || strcmp(path + at - tail, extension) != 0)
        snprintf(path + at, size - at, "%s", extension);
}

static bool unpack_image(spvf_container *c, size_t number, const spvf_image_info *info) {
    char path[1024];
    size_t size;
    const void *code = spvf_container_code(c, number, &size);
    if (!code || strlen(cli_get("-o")) > sizeof path / 2) return false;
    name_file(path, sizeof path, number, info);
    if (!cli_write(path, code, size)) return false;
    puts(path);
    return true;
}

static bool unpack_all(spvf_container *c) {
    spvf_image_info info;
    size_t n = 0, count = spvf_container_image_count(c);
    mkdir(cli_get("-o"), 0777);
    while (spvf_container_image(c, n, &info) && unpack_image(c, n, &info)) n++;
    return n == count;
}

/* A container, and the bytes in which it lies. */
typedef struct {
    spvf_context *context;
    char *bytes;
    spvf_container *container;
} opened;

static opened open_container(const char *path) {
    size_t size;
    opened o = {.context = cli_context(), .bytes = cli_read(path, &size)};
    if (o.bytes) spvf_container_load(o.context, path, o.bytes, size, &o.container);
    return o;
}

static int close_container(opened *o, bool ok) {
    spvf_container_destroy(o->container);
    spvf_context_destroy(o->context);
    free(o->bytes);
    return ok ? CLI_OK : CLI_FAILED;
}

static int run_unpack(const char *const *files) {
    if (!cli_has("-o")) {
        fprintf(stderr, "spvfuse unpack: -o is needed: a folder, or a file for --hcf\n");
        return CLI_USAGE;
    }
    opened o = open_container(files[0]);
    bool ok = o.container && (cli_has("--hcf") ? write_hcf(o.container) : unpack_all(o.container));
    return close_container(&o, ok);
}

/* -------------------------------------------------------------------------------------- inspect */

static int run_inspect(const char *const *files) {
    opened o = open_container(files[0]);
    bool ok = o.container && spvf_container_verify(o.container) == SPVF_OK;
    if (ok && cli_has("--json"))
        cli_json_container(o.container);
    else if (ok)
        cli_print_container(o.container);
    return close_container(&o, ok);
}

static const cli_option pack_options[] = {
    {"-t, --target", "T1,T2,…",
     "also code for these targets: x86_64:v2, x86_64:v3 …, ptx:sm_80 …, cubin:sm_90 …"},
    {"--link", NULL, "one image of all SPIR-V: imports get what others export"},
    {"--set", "KEY=VALUE", "a property of the container"},
    {"--build", "OPTIONS", "OpenCL C: options as those of clBuildProgram"},
    {"--hcf", NULL, "a text container of AdaptiveCpp"},
    {"-o, --output", "FILE", "output (default: standard output)"},
    {NULL, NULL, NULL}};
const cli_command cli_pack = {.name = "pack",
                              .arguments = "[TARGET=]FILE…",
                              .help = "a container of SPIR-V, PTX, cubins, objects, containers",
                              .options = pack_options,
                              .nfiles = 1,
                              .many = true,
                              .run = run_pack};

static const cli_option unpack_options[] = {
    {"-o, --output", "FOLDER", "where the images become files"},
    {"--hcf", NULL, "a text container of AdaptiveCpp instead; -o is a file"},
    {NULL, NULL, NULL}};
const cli_command cli_unpack = {.name = "unpack",
                                .arguments = "FILE",
                                .help = "the images of a container",
                                .options = unpack_options,
                                .nfiles = 1,
                                .run = run_unpack};

static const cli_option inspect_options[] = {{"--json", NULL, "for programs"}, {NULL, NULL, NULL}};
const cli_command cli_inspect = {.name = "inspect",
                                 .arguments = "FILE",
                                 .help = "what a container holds, after a check of all of it",
                                 .options = inspect_options,
                                 .nfiles = 1,
                                 .run = run_inspect};
