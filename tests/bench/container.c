/* container.c — what it costs to load containers, and what the code in them saves.
 *
 * Containers of 100 and of 1000 kernels with 5 parameters, each kernel in SPIR-V of its own, are
 * mapped from a file and closed again: medians of many, by a clock of the processor.  "a kernel" also
 * looks one up by its name, which makes the map of names, and describes its parameters; "its code"
 * also checks its image; "all kernels" describes all.  The limit for 100 kernels is 50 us.
 *
 *   container FOLDER     holds matmul.spv and saxpy.spv
 *
 * A first result is a plan with one launch, from nothing: the module is read, optimized and run; from
 * SPIR-V alone, and from a container with an object for this machine beside it.  Both take turns.
 */
#include "runtime/spvfuse_container.h"
#include "tests/bench/bench.h"
#include "tests/temporary.h"

#include <string.h>

enum { RUNS = 501 };

static spvf_context *context;

static void need(bool ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "container: %s\n", what);
    exit(1);
}

static void add_kernel(spvf_pack *p, unsigned number) {
    char text[300], name[40];
    spvf_module *m;
    int n = snprintf(text, sizeof text,
                     "target 64\nkernel @kernel_of_number_%u(%%a: ptr.global of f32, %%b: "
                     "ptr.global of f32, %%c: ptr.global of f32, %%n: i32, %%s: f32) {\nentry:\n"
                     "  store %%s, %%a align 4\n  ret\n}\n",
                     number);
    snprintf(name, sizeof name, "image_%u", number);
    need(spvf_module_load(context, "k", text, (size_t)n, NULL, &m) == SPVF_OK, "a kernel");
    need(spvf_pack_emit(p, name, m, "spirv") == SPVF_OK, "an image");
    spvf_module_destroy(m);
}

static void write_container(const char *path, unsigned kernels) {
    spvf_pack *p;
    spvf_blob blob;
    need(spvf_pack_create(context, &p) == SPVF_OK, "a pack");
    for (unsigned n = 0; n < kernels; n++) add_kernel(p, n);
    need(spvf_pack_write(p, &blob) == SPVF_OK, "the bytes");
    FILE *f = fopen(path, "wb");
    need(f && fwrite(blob.data, 1, blob.size, f) == blob.size && fclose(f) == 0, "the file");
    spvf_blob_destroy(&blob);
    spvf_pack_destroy(p);
}

/* -------------------------------------------------------------------------------------- measuring */

typedef void use(spvf_container *c);

static void use_nothing(spvf_container *c) { (void)c; }

static size_t find_last(spvf_container *c) {
    char name[40];
    snprintf(name, sizeof name, "kernel_of_number_%zu", spvf_container_kernel_count(c) - 1);
    size_t k = spvf_container_find_kernel(c, name);
    need(k != SIZE_MAX && spvf_container_kernel(c, k)->arg_count == 5, "a kernel is not found");
    return k;
}

static void use_kernel(spvf_container *c) { find_last(c); }

static void use_code(spvf_container *c) {
    size_t count, size;
    const uint32_t *images = spvf_container_providers(c, find_last(c), &count);
    need(images && spvf_container_code(c, images[0], &size), "no code");
}

static void use_all(spvf_container *c) {
    for (size_t n = 0; n < spvf_container_kernel_count(c); n++)
        need(spvf_container_kernel(c, n), "a kernel is damaged");
}

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double measure(const char *path, use *body) {
    static double us[RUNS];
    for (int n = 0; n < RUNS; n++) {
        spvf_container *c;
        double start = cpu_now();
        need(spvf_container_open(context, path, &c) == SPVF_OK, "it cannot be mapped");
        body(c);
        spvf_container_destroy(c);
        us[n] = cpu_now() - start;
    }
    return median(us, RUNS);
}

static const struct {
    const char *name;
    use *body;
} uses[] = {{"mapped", use_nothing},
            {"a kernel", use_kernel},
            {"its code", use_code},
            {"all kernels", use_all}};
enum { USES = sizeof uses / sizeof *uses };

/* ----------------------------------------------------------------------------------- a first result */

static const struct {
    const char *name, *plan; /* with the file for %s */
} firsts[] = {{"matmul",
               "buffer a f32[4096] = iota\nbuffer b f32[4096] = iota\nbuffer c f32[4096]\n"
               "launch \"%s\":matmul global 64 64 local 16 16 args a, b, c\n"},
              {"saxpy", "buffer x f32[4096] = iota\nbuffer y f32[4096] = iota\nbuffer z f32[4096]\n"
                        "launch \"%s\":saxpy global 4096 args x, y, 2.0, z\n"}};
enum { FIRSTS = sizeof firsts / sizeof *firsts, FIRST_RUNS = 51 };

static double run_first(const char *plan, const char *module) {
    const spvf_context_options co = {.size = sizeof co, .message = show_message};
    const spvf_run_options o = {.size = sizeof o, .device = "cpu"};
    char text[400];
    spvf_context *c;
    spvf_plan *p;
    int n = snprintf(text, sizeof text, plan, module);
    double start = cpu_now();
    need(spvf_context_create(&co, &c) == SPVF_OK, "a context");
    need(spvf_plan_load(c, "first", text, (size_t)n, &p) == SPVF_OK, "a plan");
    need(spvf_plan_run(p, &o, NULL) == SPVF_OK, "a run");
    double us = cpu_now() - start;
    spvf_plan_destroy(p);
    spvf_context_destroy(c);
    return us;
}

static void write_blob(const char *path, const spvf_blob *blob) {
    FILE *f = fopen(path, "wb");
    need(f && fwrite(blob->data, 1, blob->size, f) == blob->size && fclose(f) == 0, "the file");
}

/* The file and code for this machine. */
static void pack_first(const char *spirv, const char *path) {
    file code = load("", spirv);
    spvf_module *m;
    spvf_pack *p;
    spvf_blob blob;
    need(spvf_module_load(context, spirv, code.data, code.size, NULL, &m) == SPVF_OK, "a module");
    need(spvf_pack_create(context, &p) == SPVF_OK, "a pack");
    need(spvf_pack_add(p, "k", NULL, code.data, code.size) == SPVF_OK, "an image");
    for (char level = '2'; level <= '4'; level++) {
        char name[] = "x86_64:v2";
        name[strlen(name) - 1] = level;
        need(spvf_pack_emit(p, "o", m, name) == SPVF_OK, "an object");
    }
    need(spvf_pack_write(p, &blob) == SPVF_OK, "the bytes");
    write_blob(path, &blob);
    spvf_blob_destroy(&blob);
    spvf_pack_destroy(p);
    spvf_module_destroy(m);
}

static void measure_first(const char *folder, unsigned k, const char *path) {
    static double spirv[FIRST_RUNS], packed[FIRST_RUNS];
    char module[1024];
    snprintf(module, sizeof module, "%s/%s.spv", folder, firsts[k].name);
    pack_first(module, path);
    for (int n = 0; n < FIRST_RUNS; n++) {
        spirv[n] = run_first(firsts[k].plan, module);
        packed[n] = run_first(firsts[k].plan, path);
    }
    double from = median(spirv, FIRST_RUNS), with = median(packed, FIRST_RUNS);
    printf("  %-20s %10.1f us %10.1f us %6.1f\n", firsts[k].name, from, with, from / with);
}

int main(int argc, char **argv) {
    static const unsigned kernels[] = {100, 1000};
    const spvf_context_options o = {.size = sizeof o, .message = show_message};
    double us[2][USES];
    char path[TEMPORARY_NAME];
    if (argc != 2 || spvf_context_create(&o, &context) != SPVF_OK) return 1;
    int made = temporary_file(path);
    need(made >= 0, "no file");
    progress p = progress_begin("uses", 2 * USES);
    for (unsigned k = 0; k < 2; k++) {
        write_container(path, kernels[k]);
        for (unsigned n = 0; n < USES; n++) {
            us[k][n] = measure(path, uses[n].body);
            progress_step(&p);
        }
    }
    progress_end(&p);
    printf("  a container            100 kernels  1000 kernels  ratio\n");
    for (unsigned n = 0; n < USES; n++)
        printf("  %-20s %10.1f us %10.1f us %6.1f\n", uses[n].name, us[0][n], us[1][n],
               us[1][n] / us[0][n]);
    printf("  a first result           from SPIR-V  with an object  ratio\n");
    for (unsigned k = 0; k < FIRSTS; k++) measure_first(argv[1], k, path);
    remove(path);
    spvf_context_destroy(context);
    return us[0][USES - 1] > 50;
}
