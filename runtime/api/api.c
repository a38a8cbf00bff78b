/* api.c — contexts, modules, and the one door through which every call enters the library.
 *
 * rt_guard runs a body under ir_try and turns how it ended into a status; below it only arenas are
 * alive, so leaving early leaks nothing.  Objects are made inside a guard and handed out when the
 * guard has succeeded.
 */
#include "runtime/api/save.h"
#include "runtime/system/environment.h"
#include "runtime/system/trace.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* -------------------------------------------------------------------------------------- version */

uint32_t spvf_version(void) { return SPVF_VERSION; }

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *spvf_version_text(void) {
    return VERSION_TEXT(SPVF_VERSION_MAJOR, SPVF_VERSION_MINOR, SPVF_VERSION_PATCH);
}

/* --------------------------------------------------------------------------------------- status */

const char *spvf_status_name(spvf_status status) {
    switch (status) {
    case SPVF_OK: return "success";
    case SPVF_ERROR_INPUT: return "malformed input";
    case SPVF_ERROR_MEMORY: return "out of memory";
    case SPVF_ERROR_LIMIT: return "a limit of the library was exceeded";
    case SPVF_ERROR_ARGUMENT: return "invalid argument";
    case SPVF_ERROR_REFUSED: return "refused";
    case SPVF_ERROR_DEVICE: return "device failure";
    case SPVF_ERROR_IO: return "input or output failed";
    case SPVF_ERROR_INTERNAL: return "internal error";
    }
    return "unknown status";
}

void rt_say_failure(spvf_context *context, ir_status status) {
    ir_message m = {.severity = IR_ERROR};
    if (status == IR_ERR_MEMORY) ir_report(&context->cx, m, "out of memory");
    if (status == IR_ERR_LIMIT) ir_report(&context->cx, m, "a limit of the library was exceeded");
}

/* What the body set about messages ends with it, however it ends. */
spvf_status rt_guard(spvf_context *context, void (*body)(void *arg), void *arg) {
    rt_place place = context->place;
    bool ok = ir_try(&context->cx, body, arg);
    context->place = place;
    context->caught = NULL;
    context->explanation = NULL;
    if (ok) return SPVF_OK;
    rt_say_failure(context, context->cx.status);
    return (spvf_status)context->cx.status;
}

void rt_throw(spvf_context *context, ir_status status, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    ir_vreport(&context->cx, (ir_message){.severity = IR_ERROR}, fmt, ap);
    va_end(ap);
    ir_throw(&context->cx, status);
}

spvf_status rt_vrefuse_call(spvf_context *context, const char *call, const char *fmt, va_list ap) {
    char text[RT_CAUGHT_SIZE];
    if (!context) return SPVF_ERROR_ARGUMENT;
    vsnprintf(text, sizeof text, fmt, ap);
    ir_report(&context->cx, (ir_message){.severity = IR_ERROR}, "%s: %s", call, text);
    return SPVF_ERROR_ARGUMENT;
}

spvf_status rt_refuse_call(spvf_context *context, const char *call, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    spvf_status status = rt_vrefuse_call(context, call, fmt, ap);
    va_end(ap);
    return status;
}

/* ------------------------------------------------------------------------------------ utilities */

uint64_t rt_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

typedef struct {
    ir_arena *arena;
    FILE *file;
    char *data;
    size_t n;
} read_job;

/* Reads to the end, so that pipes work, or one byte too many; the text gets a 0 after it. */
static void read_all(void *arg) {
    read_job *j = arg;
    size_t room = 0, got = 1;
    while (got && j->n <= SPVF_MAX_FILE_SIZE) {
        if (j->n == room) {
            room = room ? room * 4 : 1 << 14;
            if (room > SPVF_MAX_FILE_SIZE) room = SPVF_MAX_FILE_SIZE + 1;
            char *larger = ir_alloc(j->arena, room + 1);
            if (j->n) memcpy(larger, j->data, j->n);
            j->data = larger;
        }
        got = fread(j->data + j->n, 1, room - j->n, j->file);
        j->n += got;
    }
    j->data[j->n] = 0;
}

char *rt_read_file(spvf_context *context, ir_arena *arena, const char *path, size_t *size) {
    read_job j = {.arena = arena, .file = fopen(path, "rb")};
    if (!j.file) rt_throw(context, IR_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    errno = 0;
    bool ok = ir_try(&context->cx, read_all, &j), broken = ferror(j.file) != 0;
    const int why = errno;
    fclose(j.file);
    if (!ok) ir_throw(&context->cx, context->cx.status);
    if (broken) rt_throw(context, IR_ERR_IO, "%s: cannot be read: %s", path, strerror(why));
    if (j.n > SPVF_MAX_FILE_SIZE)
        rt_throw(context, IR_ERR_IO, "%s: has more than %zu bytes", path, SPVF_MAX_FILE_SIZE);
    *size = j.n;
    return j.data;
}

void rt_write_file(spvf_context *context, const char *path, const void *data, size_t size) {
    errno = 0;
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(data, 1, size, f) == size;
    if (f) ok = fclose(f) == 0 && ok;
    if (!ok) rt_throw(context, IR_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
}

/* -------------------------------------------------------------------------------------- context */

/* Gives a message without a place that of the current statement. */
static ir_message place_message(const spvf_context *context, ir_message m) {
    if (m.file) return m;
    m.file = context->place.file;
    m.line = context->place.line;
    m.column = context->place.column;
    return m;
}

/* An error about no place but the request, kept for a caller that says more about it. */
static bool catch_message(const spvf_context *context, const ir_message *m) {
    if (!context->caught || context->caught[0] || m->severity != IR_ERROR || m->file) return false;
    snprintf(context->caught, RT_CAUGHT_SIZE, "%s", m->text);
    return true;
}

static rt_log_level log_level;

static void read_log_level(void) { log_level = (rt_log_level)rt_setting_word(RT_ENV_LOG); }

static rt_log_level find_log_level(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_log_level);
    return log_level;
}

/* One call, so that lines of several threads stay whole. */
static void log_message(rt_log_level wanted, ir_severity severity, const char *formatted) {
    if (severity == IR_NOTE && wanted < RT_LOG_NOTES) return;
    fprintf(stderr, "spvfuse: %s\n", formatted);
}

static void forward_message(void *user, const ir_message *message) {
    spvf_context *context = user;
    char formatted[1400];
    bool caught = catch_message(context, message);
    bool logged = context->log >= (caught ? RT_LOG_ALL : RT_LOG_WARNINGS);
    if (!logged && (caught || !context->message)) return;
    const ir_message placed = place_message(context, *message), *m = &placed;
    ir_format_message(m, formatted, sizeof formatted);
    if (logged) log_message(context->log, m->severity, formatted);
    if (caught || !context->message) return;
    spvf_message out = {.severity = (spvf_severity)m->severity,
                        .file = m->file,
                        .line = m->line,
                        .column = m->column,
                        .word = m->word,
                        .source_file = m->source,
                        .source_line = m->source_line,
                        .text = m->text,
                        .formatted = formatted,
                        .explanation = context->explanation,
                        .fault = (const spvf_fault *)m->fault,
                        .name = m->name};
    context->message(context->message_user, &out);
}

static void trace_stage(const ir_where *w) {
    rt_trace_span("stage", w->stage, (uint64_t)w->began, w->func ? w->func->name : NULL);
}

void rt_context_init(spvf_context *c, const spvf_context_options *options) {
    const spvf_context_options o = options ? *options : (spvf_context_options){0};
    *c = (spvf_context){
        .message = o.message, .message_user = o.message_user, .log = find_log_level()};
    c->cx = (ir_ctx){.allocate = o.allocate,
                     .release = o.release,
                     .alloc_user = o.alloc_user,
                     .report = forward_message,
                     .report_user = c,
                     .save = rt_bug_saver(),
                     .save_user = c,
                     .span = rt_is_traced() ? trace_stage : NULL,
                     .limit = o.memory_limit};
}

static void warn_of_setting(void *user, const char *text) {
    spvf_context *c = user;
    ir_report(&c->cx, (ir_message){.severity = IR_WARNING}, "%s", text);
}

void rt_warn_of_settings(spvf_context *c) {
    const char *failure = rt_trace_failure();
    rt_check_settings(warn_of_setting, c);
    if (failure) warn_of_setting(c, failure);
}

spvf_status rt_context_create(const spvf_context_options *options, spvf_context **out) {
    spvf_context_options o;
    if (!out) return SPVF_ERROR_ARGUMENT;
    *out = NULL;
    if (!rt_take_options(NULL, "spvf_context_create", &o, options)) return SPVF_ERROR_ARGUMENT;
    if (!o.allocate != !o.release) return SPVF_ERROR_ARGUMENT;
    spvf_context *c = o.allocate ? o.allocate(o.alloc_user, sizeof *c) : malloc(sizeof *c);
    if (!c) return SPVF_ERROR_MEMORY;
    rt_context_init(c, &o);
    c->cx.keep = IR_SPARE_BYTES;
    c->past = o.remember ? rt_past_new(&o) : NULL;
    if (o.remember && !c->past) {
        spvf_context_destroy(c);
        return SPVF_ERROR_MEMORY;
    }
    *out = c;
    return SPVF_OK;
}

spvf_status spvf_context_create(const spvf_context_options *options, spvf_context **out) {
    spvf_status status = rt_context_create(options, out);
    if (status == SPVF_OK) rt_warn_of_settings(*out);
    return status;
}

void spvf_context_destroy(spvf_context *c) {
    if (!c) return;
    rt_past_release(c->past);
    ir_ctx_trim(&c->cx);
    if (c->cx.allocate)
        c->cx.release(c->cx.alloc_user, c);
    else
        free(c);
}

/* -------------------------------------------------------------------------------------- modules */

spvf_module *rt_module_new(spvf_context *context) {
    ir_arena arena;
    ir_arena_init(&arena, &context->cx);
    spvf_module *m = ir_new(&arena, spvf_module);
    *m = (spvf_module){.context = context, .arena = arena};
    return m;
}

void spvf_module_destroy(spvf_module *m) {
    if (!m) return;
    ir_arena arena = m->arena;
    ir_module_free(m->ir);
    ir_arena_free(&arena);
}

bool rt_is_spirv(const void *bytes, size_t size) {
    static const unsigned char magic[4] = {0x03, 0x02, 0x23, 0x07};
    const unsigned char *b = bytes;
    if (size < 4) return false;
    return memcmp(b, magic, 4) == 0 ||
           (b[0] == magic[3] && b[1] == magic[2] && b[2] == magic[1] && b[3] == magic[0]);
}

static bool is_blank(const char *bytes, size_t size) {
    while (size && memchr(" \t\r\n", bytes[size - 1], 4)) size--;
    return size == 0;
}

/* An empty text would be an empty module; most likely a program gives it by mistake. */
static void refuse_blank(const rt_source *source, ir_ctx *cx) {
    if (!is_blank(source->bytes, source->size)) return;
    ir_report(cx, (ir_message){.severity = IR_ERROR, .file = source->name}, "the module is empty");
    ir_throw(cx, IR_ERR_INPUT);
}

ir_module *rt_read_source(spvf_context *context, const rt_source *source,
                          const spvf_module_options *options) {
    ir_ctx *cx = &context->cx;
    rt_save_source(context, source, options);
    refuse_blank(source, cx);
    if (options->opencl_c) return rt_read_opencl_c(context, source, options);
    if (rt_is_container_source(source)) return rt_read_container(context, source, options);
    rt_refuse_other_kinds(context, source, "SPIR-V");
    spv_read_options o = {.file = source->name,
                          .specs = (const spv_spec_value *)(const void *)options->specs,
                          .nspecs = options->spec_count,
                          .silent = source->compiled};
    ir_module *m = rt_is_spirv(source->bytes, source->size)
                       ? spv_read(cx, source->bytes, source->size, &o)
                       : ir_parse(cx, source->name, source->bytes, source->size);
    if (!m) ir_throw(cx, cx->status == IR_OK ? IR_ERR_INPUT : cx->status);
    if (o.nspecs == 0 && rt_is_spirv(source->bytes, source->size))
        m->source = rt_hash_source(source->bytes, source->size);
    return m;
}

typedef struct {
    spvf_context *context;
    spvf_module *module;
    rt_module_reader *read;
    void *user;
    spvf_module_options options;
} load_job;

static void load_module(void *arg) {
    load_job *j = arg;
    j->module = rt_module_new(j->context);
    j->module->ir = j->read(j->context, j->user, &j->options);
    if (!ir_verify_module(j->module->ir)) ir_throw(&j->context->cx, IR_ERR_INPUT);
    rt_complete_module(j->module, &j->options);
    if (j->options.layout) {
        rt_declare_layout(j->module, j->options.layout);
        rt_forget_source(j->module->ir);
    }
    if (j->options.closures || j->options.layout) rt_lower_closures(j->module);
    rt_mark_specialized(j->module, &j->options);
    rt_module_describe(j->module);
}

static void trace_loaded(const load_job *j, spvf_status status) {
    rt_trace t;
    rt_trace_open(&t, RT_TRACE_END, 0, NULL, NULL);
    if (status == SPVF_OK) {
        rt_trace_text(&t, "spvfuse.module.name", j->module->ir->name);
        rt_trace_number(&t, "spvfuse.module.kernels", j->module->kernel_count);
    } else {
        rt_trace_text(&t, "error.type", spvf_status_name(status));
    }
    rt_trace_write(&t);
}

spvf_status rt_load_module(spvf_context *context, rt_module_reader *read, void *user,
                           const spvf_module_options *options, spvf_module **out) {
    load_job j = {.context = context, .read = read, .user = user, .options = *options};
    if (j.options.spec_count && !j.options.specs)
        return rt_refuse_call(context, "spvf_module_load", "%zu specs at NULL",
                              j.options.spec_count);
    if (j.options.specialized_count && !j.options.specialized)
        return rt_refuse_call(context, "spvf_module_load", "%zu specialized arguments at NULL",
                              j.options.specialized_count);
    if (j.options.definition_count && !j.options.definitions)
        return rt_refuse_call(context, "spvf_module_load", "%zu definitions at NULL",
                              j.options.definition_count);
    bool traced = rt_is_traced();
    if (traced) rt_trace_call("build", "load module");
    spvf_status status = rt_guard(context, load_module, &j);
    if (traced) trace_loaded(&j, status);
    if (status == SPVF_OK)
        *out = j.module;
    else
        spvf_module_destroy(j.module);
    return status;
}

static ir_module *read_code(spvf_context *context, void *user, const spvf_module_options *options) {
    return rt_read_source(context, user, options);
}

spvf_status spvf_module_load(spvf_context *context, const char *name, const void *bytes,
                             size_t size, const spvf_module_options *options, spvf_module **out) {
    spvf_module_options o;
    if (out) *out = NULL;
    if (!context || !out || (!bytes && size))
        return rt_refuse_call(context, __func__, "%s is NULL",
                              !context ? "context"
                              : out    ? "bytes"
                                       : "out");
    if (!rt_take_options(context, __func__, &o, options)) return SPVF_ERROR_ARGUMENT;
    rt_source code = {.name = name ? name : "<module>", .bytes = bytes, .size = size};
    return rt_load_module(context, read_code, &code, &o, out);
}

/* ----------------------------------------------------------------------------------- optimizing */

static long bisect_limit(const spvf_pass_options *o) {
    if (!o->bisect) return -1;
    return o->bisect_limit < LONG_MAX ? (long)o->bisect_limit : LONG_MAX;
}

pass_options rt_pass_options(const spvf_pass_options *options) {
    const spvf_pass_options o = options ? *options : (spvf_pass_options){0};
    return (pass_options){.passes = o.passes,
                          .verify_each = o.verify_each,
                          .dump_after = o.dump_after,
                          .dump_changed = o.dump_changed,
                          .stop_after = o.stop_after,
                          .stopped = o.stopped,
                          .bisect = bisect_limit(&o),
                          .time = o.time,
                          .dump = o.dump,
                          .dump_user = o.dump_user,
                          .trace_rules = o.trace_rules,
                          .library = &cg_math_library};
}

typedef struct {
    spvf_module *module;
    pass_options options;
    ir_range range;
} optimize_job;

static void check_range(spvf_context *context, const ir_range *r) {
    bool empty = r->dims < 1 || r->dims > 3;
    for (unsigned d = 0; d < r->dims && !empty; d++)
        empty =
            !r->global[d] || (ir_has_local_size(r) && (!r->local[d] || r->global[d] % r->local[d]));
    if (empty)
        rt_throw(context, IR_ERR_ARGUMENT,
                 "an nd-range has 1 to 3 dimensions of whole work-groups");
}

static void optimize_module(void *arg) {
    optimize_job *j = arg;
    ir_ctx *cx = &j->module->context->cx;
    if (j->options.range) check_range(j->module->context, j->options.range);
    if (!pass_run(j->module->ir, &j->options)) ir_throw(cx, cx->status);
    rt_drop_padding(j->module);
    rt_module_describe(j->module);
}

spvf_status spvf_module_optimize(spvf_module *module, const spvf_pass_options *options) {
    spvf_pass_options o;
    if (!module || !rt_take_options(module->context, __func__, &o, options))
        return SPVF_ERROR_ARGUMENT;
    optimize_job j = {.module = module, .options = rt_pass_options(&o)};
    if (o.range) j.range = rt_inner_range(o.range);
    if (o.range) j.options.range = &j.range;
    return rt_guard(module->context, optimize_module, &j);
}
