/* compile.c — OpenCL C as a module of the library.
 *
 * The source is compiled as OpenCL compiles programs, with lines for messages and debuggers, and
 * with its own folder for #include.  Lines "FILE:LINE:COLUMN: error: TEXT" of the compiler's log
 * become messages with that place; the lines of source that it quotes, and its counts, are left
 * out.
 */
#include "runtime/source/source.h"
#include "runtime/system/process.h"

#include <ctype.h>
#include <stdlib.h>

typedef struct {
    spvf_context *context;
    rt_build build;
    rt_cache cache;
    const rt_source *source;
    const spvf_module_options *options;
    rt_clc_options words;
    rt_source spirv;
    ir_module *module;
} reading;

/* -------------------------------------------------------------------------------- the messages */

/* ":LINE:COLUMN: " at s; NULL: there is none. */
static const char *read_place(const char *s, ir_message *m) {
    char *end;
    if (*s != ':' || !isdigit((unsigned char)s[1])) return NULL;
    m->line = (uint32_t)strtoul(s + 1, &end, 10);
    if (*end != ':' || !isdigit((unsigned char)end[1])) return NULL;
    m->column = (uint32_t)strtoul(end + 1, &end, 10);
    return strncmp(end, ": ", 2) == 0 ? end + 2 : NULL;
}

static const char *read_severity(const char *s, ir_message *m) {
    static const struct {
        const char *word;
        ir_severity severity;
    } known[] = {{"fatal error: ", IR_ERROR},
                 {"error: ", IR_ERROR},
                 {"warning: ", IR_WARNING},
                 {"note: ", IR_NOTE}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        size_t n = strlen(known[k].word);
        if (strncmp(s, known[k].word, n) != 0) continue;
        m->severity = known[k].severity;
        return s + n;
    }
    return NULL;
}

/* A line of the log, which is cut into parts. */
static void say_line(spvf_context *context, char *line) {
    ir_message m = {.severity = IR_ERROR};
    const char *text = read_severity(line, &m);
    for (char *s = line; !text && (s = strchr(s, ':')); s++) {
        const char *after = read_place(s, &m);
        text = after ? read_severity(after, &m) : NULL;
        if (!text) continue;
        *s = 0;
        m.file = line;
    }
    if (text) ir_report(&context->cx, m, "%s", text);
}

/* Why no compiler is there: each program that was tried has said something. */
static void say_search(spvf_context *context, const char *log) {
    if (strncmp(log, "error: ", 7) == 0) log += 7;
    ir_report(&context->cx, (ir_message){.severity = IR_ERROR}, "%.*s", (int)strcspn(log, "\n"),
              log);
    for (const char *s = strchr(log, '\n'); s && *++s; s = strchr(s, '\n'))
        ir_report(&context->cx, (ir_message){.severity = IR_NOTE}, "%.*s", (int)strcspn(s, "\n"),
                  s);
}

static void say_log(spvf_context *context, char *log) {
    char *next;
    for (char *line = log; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        say_line(context, line);
    }
}

/* ----------------------------------------------------------------------------------- the build */

static void add_word(reading *r, const char *word) {
    *ir_push(&r->build.arena, &r->words.words) = ir_strdup(&r->build.arena, word);
}

/* Lines, and the folder of the source. */
static void add_words(reading *r) {
    const char *name = r->source->name, *slash = strrchr(name, '/');
    add_word(r, "-g");
    add_word(r, "-fdebug-compilation-dir=.");
    int n = slash ? (int)(slash - name) : 0;
    if (slash) add_word(r, ir_sprintf(&r->build.arena, "-I%.*s", n ? n : 1, name));
}

/* With a 0 after it, and none before. */
static const char *text_of(reading *r) {
    const rt_source *s = r->source;
    if (memchr(s->bytes, 0, s->size))
        rt_throw(r->build.context, IR_ERR_INPUT, "%s is not text", s->name);
    return ir_strndup(&r->build.arena, s->bytes, s->size);
}

static void compile(void *arg) {
    reading *r = arg;
    rt_build *b = &r->build;
    if (!rt_clc_read_options(&b->arena, r->options->opencl_c, RT_CLC_FOR_BUILD, &r->words))
        ir_throw(&b->context->cx, IR_ERR_ARGUMENT);
    if (r->words.layout)
        rt_throw(b->context, IR_ERR_ARGUMENT,
                 "option '-cl-spvfuse-layout' is for OpenCL programs; a module has one of its own");
    const rt_clc_toolchain *tools = rt_clc_find_toolchain();
    if (!tools) say_search(r->context, rt_clc_log_of_search());
    if (!tools) ir_throw(&b->context->cx, IR_ERR_DEVICE);
    add_words(r);
    const rt_clc_source s = {.name = r->source->name,
                             .source = text_of(r),
                             .options = &r->words,
                             .cache = &r->cache,
                             .seconds = rt_program_seconds()};
    r->spirv.name = r->source->name;
    r->spirv.compiled = true;
    r->spirv.bytes = rt_clc_compile(b, tools, &s, &r->spirv.size);
}

static void read_all(void *arg) {
    reading *r = arg;
    spvf_status status = rt_guard(r->build.context, compile, r);
    if (r->build.log.n) say_log(r->context, r->build.log.data);
    if (status != SPVF_OK) ir_throw(&r->context->cx, (ir_status)status);
    spvf_module_options rest = *r->options;
    rest.opencl_c = NULL;
    r->module = rt_read_source(r->context, &r->spirv, &rest);
}

ir_module *rt_read_opencl_c(spvf_context *context, const rt_source *source,
                            const spvf_module_options *options) {
    char *log;
    reading r = {.context = context, .source = source, .options = options};
    if (!rt_build_begin(&r.build)) ir_throw(&context->cx, IR_ERR_MEMORY);
    r.cache = rt_cache_wanted(true) ? rt_cache_open(true) : rt_no_cache;
    bool ok = ir_try(&context->cx, read_all, &r);
    rt_cache_close(&r.cache);
    rt_build_end(&r.build, false, &log);
    free(log);
    if (!ok) ir_throw(&context->cx, context->cx.status);
    return r.module;
}
