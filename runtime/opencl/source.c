/* source.c — OpenCL C to SPIR-V, by clang and what translates for it.
 *
 * clang reads the source from its standard input, so that includes are relative to where the host
 * is; headers of clCompileProgram lie in a temporary folder, with all that the programs write.
 * What they say is the log.
 *
 * Where the translator does not know what clang's optimizer makes (llvm-spirv 15 refuses freeze),
 * the source is compiled again without it.
 */
#include "runtime/opencl/build.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    ocl_build *build;
    const ocl_toolchain *tools;
    const ocl_source *source;
    ir_vec(const char *) folders; /* that were made, outer ones first */
    const char *root, *include;
    const char *input, *bitcode, *output, *messages;
    void *words;
    size_t size;
} compilation;

/* ----------------------------------------------------------------------------------- the folder */

static void make_folder(compilation *c, const char *path) {
    if (mkdir(path, 0700) == 0)
        *ir_push(&c->build->arena, &c->folders) = path;
    else if (errno != EEXIST)
        rt_throw(c->build->context, IR_ERR_IO, "%s: cannot be made", path);
}

static void make_root(compilation *c) {
    ir_arena *a = &c->build->arena;
    char *name = rt_temporary_name(a);
    if (!mkdtemp(name)) rt_throw(c->build->context, IR_ERR_IO, "%s: cannot be made", name);
    *ir_push(a, &c->folders) = c->root = name;
    c->include = ir_sprintf(a, "%s/include", name);
    c->input = ir_sprintf(a, "%s/program.cl", name);
    c->bitcode = ir_sprintf(a, "%s/program.bc", name);
    c->output = ir_sprintf(a, "%s/program.spv", name);
    c->messages = ir_sprintf(a, "%s/messages", name);
    make_folder(c, c->include);
}

/* With what programs left there that were stopped. */
static void remove_folder(const char *path) {
    const struct dirent *e;
    DIR *d = opendir(path);
    while (d && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    if (d) closedir(d);
    rmdir(path);
}

static void remove_folders(compilation *c) {
    while (c->folders.n) remove_folder(c->folders.data[--c->folders.n]);
}

/* A part of the path is "..", or it begins at the root: it would not lie in the folder. */
static bool leaves_folder(const char *name) {
    if (*name == '/') return true;
    for (const char *s = name; *s; s += strspn(s, "/")) {
        size_t n = strcspn(s, "/");
        if (n == 2 && !strncmp(s, "..", 2)) return true;
        s += n;
    }
    return false;
}

static void write_header(compilation *c, const ocl_header *h) {
    ir_arena *a = &c->build->arena;
    if (leaves_folder(h->name))
        rt_throw(c->build->context, IR_ERR_INPUT,
                 "header '%s': its name must not begin with '/' or have '..' in it", h->name);
    for (const char *s = strchr(h->name, '/'); s; s = strchr(s + 1, '/'))
        make_folder(c, ir_sprintf(a, "%s/%.*s", c->include, (int)(s - h->name), h->name));
    rt_write_file(c->build->context, ir_sprintf(a, "%s/%s", c->include, h->name), h->text,
                  strlen(h->text));
}

static void write_source(compilation *c) {
    ir_text text = {.arena = &c->build->arena};
    ocl_put_prelude(&text);
    ir_put(&text, "#line 1 \"program.cl\"\n");
    ir_put(&text, c->source->source);
    rt_write_file(c->build->context, c->input, text.data, text.n);
}

/* --------------------------------------------------------------------------------- the programs */

typedef ir_vec(const char *) arguments;

static void add(compilation *c, arguments *to, const char *const *words) {
    while (*words) *ir_push(&c->build->arena, to) = *words++;
}

#define ADD(c, to, ...) add(c, to, (const char *const[]){__VA_ARGS__, NULL})

/* Extensions of SPIR-V that some built-in functions need. */
static const char spirv_extensions[] =
    "--spirv-ext=+SPV_KHR_integer_dot_product,+SPV_KHR_subgroup_rotate,"
    "+SPV_KHR_uniform_group_instructions";

/* What a program said, to the log. */
static void take_messages(compilation *c) {
    size_t n;
    ocl_build *b = c->build;
    ocl_say(b, rt_read_file(b->context, &b->arena, c->messages, &n));
    unlink(c->messages);
}

/* True: it has made the file, and not failed as far as is known. */
static bool run(compilation *c, arguments *words, const char *in, const char *made) {
    ADD(c, words, "-o", made);
    *ir_push(&c->build->arena, words) = NULL;
    rt_outcome outcome = rt_run_program((char *const *)(uintptr_t)words->data, in, c->messages);
    if (outcome == RT_PROGRAM_MISSING)
        rt_throw(c->build->context, IR_ERR_DEVICE, "%s: cannot be started", words->data[0]);
    take_messages(c);
    return outcome == RT_PROGRAM_RAN && access(made, R_OK) == 0;
}

static bool run_clang(compilation *c, bool optimizer) {
    arguments words = {0};
    const ocl_options *o = c->source->options;
    const char *extensions = ir_sprintf(&c->build->arena, "-cl-ext=%s", ocl_c_extensions);
    ADD(c, &words, c->tools->clang, "-x", "cl", "-c", "-Xclang", "-finclude-default-header");
    ADD(c, &words, "-target", c->tools->translator ? "spir64" : "spirv64");
    ADD(c, &words, "-Xclang", extensions, "-D__OPENCL_VERSION__=300", "-cl-kernel-arg-info");
    ADD(c, &words, "-fno-discard-value-names", "-fno-crash-diagnostics");
    ADD(c, &words, "-Wno-unused-command-line-argument", "-Wno-unknown-warning-option");
    ADD(c, &words, "-fgnu89-inline", o->optimize ? "-O2" : "-O0");
    if (!optimizer) ADD(c, &words, "-Xclang", "-disable-llvm-passes");
    if (!o->has_std) ADD(c, &words, "-cl-std=CL1.2");
    if (!o->is_c1) ADD(c, &words, "-D__opencl_c_subgroups=1");
    ADD(c, &words, "-I", c->include);
    for (uint32_t k = 0; k < o->words.n; k++) ADD(c, &words, o->words.data[k]);
    if (c->tools->translator)
        ADD(c, &words, "-emit-llvm");
    else if (c->tools->extensions)
        ADD(c, &words, "-mllvm", spirv_extensions);
    ADD(c, &words, "-");
    return run(c, &words, c->input, c->tools->translator ? c->bitcode : c->output);
}

static bool run_translator(compilation *c) {
    arguments words = {0};
    ADD(c, &words, c->tools->translator, "--preserve-ocl-kernel-arg-type-metadata-through-string");
    if (c->tools->extensions) ADD(c, &words, spirv_extensions);
    ADD(c, &words, c->bitcode);
    return run(c, &words, NULL, c->output);
}

static void forget(ir_text *log, size_t from) {
    log->n = from;
    if (log->data) log->data[from] = 0;
}

/* False, and nothing said when there is another way: the translator does not take it. */
static bool compile(compilation *c, bool optimizer) {
    size_t said = c->build->log.n;
    if (!run_clang(c, optimizer))
        rt_throw(c->build->context, IR_ERR_INPUT, "program.cl cannot be compiled");
    if (!c->tools->translator || run_translator(c)) return true;
    if (optimizer) forget(&c->build->log, said);
    return false;
}

static void compile_all(void *arg) {
    compilation *c = arg;
    make_root(c);
    write_source(c);
    for (size_t k = 0; k < c->source->header_count; k++) write_header(c, &c->source->headers[k]);
    if (!compile(c, true) && !compile(c, false))
        rt_throw(c->build->context, IR_ERR_INPUT, "program.cl cannot be translated to SPIR-V");
    c->words = rt_read_file(c->build->context, &c->build->arena, c->output, &c->size);
}

void *ocl_compile_source(ocl_build *b, const ocl_toolchain *tools, const ocl_source *s,
                         size_t *size) {
    compilation c = {.build = b, .tools = tools, .source = s};
    bool ok = ir_try(&b->context->cx, compile_all, &c);
    remove_folders(&c);
    if (!ok) ir_throw(&b->context->cx, b->context->cx.status);
    *size = c.size;
    return c.words;
}
