/* toolchain.c — which clang is installed.
 *
 * A compiler counts when it has compiled a small kernel: then its headers, its target and the
 * programs that translate for it are installed as well.  These are tried, and the first that works
 * is taken:
 *
 *     SPVFUSE_CLANG, when it is set, and nothing else
 *     clang-N with llvm-spirv-N, newest first
 *     clang-22 and newer, which write SPIR-V themselves
 *     clang, whatever its version
 *
 * All but the first are looked for where the system has its programs, and only then in the folders
 * of PATH.
 *
 * A program that has not ended in time, or cannot be started, is not tried again with others.  If
 * none works, the log of the search is that of every build that needs a compiler.
 *
 * Translated modules come first: they have the names and types of kernel arguments, and fewer
 * mistakes.
 */
#include "runtime/opencl/build.h"
#include "runtime/system/process.h"

#include <stdlib.h>

enum { OLDEST = 11, OLDEST_DIRECT = 22, NEWEST = 40 };

typedef struct {
    ocl_build *build;
    const char *folders; /* to look in; NULL: all */
    ocl_toolchain found;
    ir_vec(const char *) useless; /* programs that hang, or cannot be started */
} search;

/* -------------------------------------------------------------------------------------- a trial */

enum { TRIAL_SECONDS = 30 };

/* There may be several that hang. */
static unsigned trial_seconds(void) {
    unsigned n = rt_program_seconds();
    return n && n < TRIAL_SECONDS ? n : TRIAL_SECONDS;
}

static void compile_something(void *arg) {
    search *s = arg;
    ocl_options none = {.optimize = true};
    ocl_code code = {.type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT};
    const ocl_source source = {.source = "kernel void k(global float *x) { *x = sqrt(*x); }",
                               .options = &none,
                               .seconds = trial_seconds()};
    code.il = ocl_compile_source(s->build, &s->found, &source, &code.il_size);
    spvf_module_destroy(ocl_load(s->build, "program", &code));
}

static bool is_useless(const search *s, const char *program) {
    for (uint32_t k = 0; k < s->useless.n; k++)
        if (program && strcmp(s->useless.data[k], program) == 0) return true;
    return false;
}

static bool is_found(search *s, ocl_toolchain tools) {
    ocl_build *b = s->build;
    if (is_useless(s, tools.clang) || is_useless(s, tools.translator)) return false;
    const char *with = tools.translator ? ir_sprintf(&b->arena, " with %s", tools.translator) : "";
    ocl_say(b, ir_sprintf(&b->arena, "Trial of %s%s:\n", tools.clang, with));
    s->found = tools;
    b->useless = NULL;
    bool ok = ocl_step(b, compile_something, s, CL_COMPILER_NOT_AVAILABLE) == CL_SUCCESS;
    if (b->useless) *ir_push(&b->arena, &s->useless) = b->useless;
    return ok;
}

/* Older ones do not know all extensions, and refuse to hear of them. */
static bool works(search *s, const char *clang, const char *translator) {
    return is_found(s, (ocl_toolchain){clang, translator, true}) ||
           is_found(s, (ocl_toolchain){clang, translator, false});
}

/* ------------------------------------------------------------------------------- the candidates */

static const char *find(const search *s, const char *name, unsigned version) {
    ir_arena *a = &s->build->arena;
    const char *full = version ? ir_sprintf(a, "%s-%u", name, version) : name;
    return s->folders ? rt_find_program_in(a, s->folders, full) : rt_find_program(a, full);
}

static bool try_translated(search *s, const char *clang, unsigned version) {
    const char *translator = clang ? find(s, "llvm-spirv", version) : NULL;
    return translator && works(s, clang, translator);
}

/* Each with its own translator. */
static bool try_pairs(search *s) {
    for (unsigned n = NEWEST; n >= OLDEST; n--)
        if (try_translated(s, find(s, "clang", n), n)) return true;
    return false;
}

static bool try_direct(search *s) {
    for (unsigned n = NEWEST; n >= OLDEST_DIRECT; n--) {
        const char *clang = find(s, "clang", n);
        if (clang && works(s, clang, NULL)) return true;
    }
    return false;
}

/* Of no known version: with every translator that there is, or alone. */
static bool try_unknown(search *s, const char *clang) {
    if (!clang) return false;
    if (try_translated(s, clang, 0)) return true;
    for (unsigned n = NEWEST; n >= OLDEST; n--)
        if (try_translated(s, clang, n)) return true;
    return works(s, clang, NULL);
}

static bool try_in(search *s, const char *folders) {
    s->folders = folders;
    return folders && (try_pairs(s) || try_direct(s) || try_unknown(s, find(s, "clang", 0)));
}

static bool try_all(search *s, const char *own) {
    if (own && *own) return try_unknown(s, strchr(own, '/') ? own : find(s, own, 0));
    return try_in(s, rt_system_folders) || try_in(s, rt_environment("PATH"));
}

static void search_all(void *arg) {
    search *s = arg;
    if (!try_all(s, rt_setting(RT_ENV_CLANG))) ir_throw(&s->build->context->cx, IR_ERR_DEVICE);
}

/* ----------------------------------------------------------------------------------- the result */

static ocl_toolchain toolchain; /* clang NULL: there is none */
static char *search_log;        /* if there is none; NULL: there was no memory */

static void keep(const ocl_toolchain *found) {
    char *clang = strdup(found->clang);
    char *translator = found->translator ? strdup(found->translator) : NULL;
    if (clang && !translator == !found->translator) {
        toolchain = (ocl_toolchain){clang, translator, found->extensions};
    } else {
        free(clang);
        free(translator);
    }
}

static void find_toolchain(void) {
    ocl_build build;
    char *log;
    if (!ocl_begin_build(&build)) return;
    search s = {.build = &build};
    ocl_say(&build,
            "error: no clang was found that compiles OpenCL C; SPVFUSE_CLANG can name one\n");
    if (ocl_step(&build, search_all, &s, CL_COMPILER_NOT_AVAILABLE) == CL_SUCCESS) keep(&s.found);
    ocl_end_build(&build, false, &log);
    if (toolchain.clang)
        free(log);
    else
        search_log = log;
}

const ocl_toolchain *ocl_find_toolchain(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_toolchain);
    return toolchain.clang ? &toolchain : NULL;
}

bool ocl_has_compiler(void) { return ocl_find_toolchain() != NULL; }

const char *ocl_log_of_search(void) {
    ocl_find_toolchain();
    return search_log ? search_log : "";
}
