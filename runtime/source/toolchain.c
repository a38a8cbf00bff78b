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
#include "runtime/source/source.h"
#include "runtime/system/process.h"

#include <pthread.h>
#include <stdlib.h>

enum { OLDEST = 11, OLDEST_DIRECT = 22, NEWEST = 40 };

typedef struct {
    rt_build *build;
    const rt_cache *cache;
    const char *folders; /* to look in; NULL: all */
    rt_clc_toolchain found;
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
    rt_clc_options none = {.optimize = true};
    const rt_clc_source source = {.source = "kernel void k(global float *x) { *x = sqrt(*x); }",
                                  .name = "program.cl",
                                  .options = &none,
                                  .cache = s->cache,
                                  .seconds = trial_seconds()};
    size_t size;
    spvf_module *m;
    const void *code = rt_clc_compile(s->build, &s->found, &source, &size);
    if (spvf_module_load(s->build->context, "program", code, size, NULL, &m) != SPVF_OK)
        ir_throw(&s->build->context->cx, IR_ERR_DEVICE);
    spvf_module_destroy(m);
}

static bool is_useless(const search *s, const char *program) {
    for (uint32_t k = 0; k < s->useless.n; k++)
        if (program && strcmp(s->useless.data[k], program) == 0) return true;
    return false;
}

static bool is_found(search *s, rt_clc_toolchain tools) {
    rt_build *b = s->build;
    if (is_useless(s, tools.clang) || is_useless(s, tools.translator)) return false;
    const char *with = tools.translator ? ir_sprintf(&b->arena, " with %s", tools.translator) : "";
    rt_build_say(b, ir_sprintf(&b->arena, "Trial of %s%s:\n", tools.clang, with));
    s->found = tools;
    b->useless = NULL;
    bool ok = rt_guard(b->context, compile_something, s) == SPVF_OK;
    if (b->useless) *ir_push(&b->arena, &s->useless) = b->useless;
    return ok;
}

/* Older ones do not know all extensions, and refuse to hear of them. */
static bool works(search *s, const char *clang, const char *translator) {
    return is_found(s, (rt_clc_toolchain){clang, translator, true}) ||
           is_found(s, (rt_clc_toolchain){clang, translator, false});
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

static rt_clc_toolchain toolchain; /* clang NULL: there is none */
static char *search_log;           /* if there is none; NULL: there was no memory */

static void keep(const rt_clc_toolchain *found) {
    char *clang = strdup(found->clang);
    char *translator = found->translator ? strdup(found->translator) : NULL;
    if (clang && !translator == !found->translator) {
        toolchain = (rt_clc_toolchain){clang, translator, found->extensions};
    } else {
        free(clang);
        free(translator);
    }
}

static void find_toolchain(void) {
    rt_build build;
    char *log;
    if (!rt_build_begin(&build)) return;
    rt_cache cache = rt_cache_wanted(true) ? rt_cache_open(true) : rt_no_cache;
    search s = {.build = &build, .cache = &cache};
    rt_build_say(&build,
                 "error: no clang was found that compiles OpenCL C; SPVFUSE_CLANG can name one\n");
    if (rt_guard(build.context, search_all, &s) == SPVF_OK) keep(&s.found);
    rt_build_end(&build, false, &log);
    rt_cache_close(&cache);
    if (toolchain.clang)
        free(log);
    else
        search_log = log;
}

const rt_clc_toolchain *rt_clc_find_toolchain(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_toolchain);
    return toolchain.clang ? &toolchain : NULL;
}

const char *rt_clc_log_of_search(void) {
    rt_clc_find_toolchain();
    return search_log ? search_log : "";
}
