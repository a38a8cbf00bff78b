/* save.c — plans and modules of what a program does, for reports of bugs.
 *
 * If the environment variable SPVFUSE_SAVE names a folder, each fusion and each launch of a kernel
 * becomes a plan there, which `spvfuse run` repeats, before it happens: if the process ends amid
 * of it, the plan is there.  A plan names modules, as text of the IR, and contents of buffers.
 *
 * Names of files are made of their contents, so a module that many plans use is one file, and
 * running a program again adds nothing.  A plan of a launch is named by its kernel, range and
 * sizes of buffers: so the first launch of each of these is saved.  Files are written under
 * another name and renamed, so that a reader finds whole files only; the log gets a line for each
 * plan, in order.  What modules are read from is saved before it is read, with a line that says how
 * it was called and built: plans do not need it, but bugs of readers do.
 *
 * A process writes at most MOST_PLANS plans, and as much of contents as SPVFUSE_SAVE_SIZE says.
 * What cannot be written is a warning, once; the next plan is tried all the same.  A plan whose
 * contents cannot be written has others, as has one with too many of them.
 */
#include "runtime/api/save.h"
#include "runtime/system/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PLANS = 1000, SEEN = 4096 };
enum { USUAL_BUFFER = 16 << 20, USUAL_SIZE = 256 << 20 };

static char folder[3000]; /* empty: nothing is saved */
static uint64_t most_of_buffer, most_bytes;
static bool saves_all; /* launches, and not the first one of each shape */
static atomic_uint plans, temporaries;
static _Atomic uint64_t bytes_written;
/* Which warnings have been given: [0] a source, [1] a part of a plan could not be written.  There
 * are two, since that of a source may be dropped: the library itself reads some sources. */
static atomic_bool warned[2];
static _Atomic uint64_t seen[SEEN]; /* numbers that were asked about, at their last bits */

static void find_folder(void) {
    const char *asked = rt_setting(RT_ENV_SAVE);
    if (asked && strlen(asked) < sizeof folder) strcpy(folder, asked);
    if (folder[0])
        mkdir(folder, 0777); /* if it is not there; otherwise writing says what is wrong */
    saves_all = rt_setting_number(RT_ENV_SAVE_ALL, 0) == 1;
    most_of_buffer = rt_setting_size(RT_ENV_SAVE_BUFFER, USUAL_BUFFER);
    most_bytes = rt_setting_size(RT_ENV_SAVE_SIZE, USUAL_SIZE);
}

bool rt_saves(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_folder);
    return folder[0];
}

bool rt_save_is_new(uint64_t number) {
    number |= (uint64_t)1 << 63; /* nothing is 0 */
    if (saves_all) return true;
    return atomic_exchange(&seen[number % SEEN], number) != number;
}

/* Room for so many more bytes of contents. */
static bool take_bytes(uint64_t n) {
    uint64_t now = atomic_load(&bytes_written);
    do
        if (n > most_bytes || now > most_bytes - n) return false;
    while (!atomic_compare_exchange_weak(&bytes_written, &now, now + n));
    return true;
}

/* ---------------------------------------------------------------------------------------- files */

static bool write_all(int to, const char *data, size_t size) {
    while (size) {
        ssize_t wrote = write(to, data, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        data += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

/* Of a file in a folder; the folder's name is cut if it is longer. */
enum { MOST_PATH = sizeof folder + 300 };
static const char *path_of(char out[MOST_PATH], const char *in, const char *name) {
    snprintf(out, MOST_PATH, "%.3000s/%s", in, name);
    return out;
}

static bool is_written(const char *in, const char *name) {
    char path[MOST_PATH];
    return access(path_of(path, in, name), F_OK) == 0;
}

/* Another process may have the same number, where both see only a part of the machine. */
static int open_temporary(char out[MOST_PATH], const char *in) {
    char name[60];
    int to, tries = 100;
    do {
        snprintf(name, sizeof name, ".%ld-%u", (long)getpid(), atomic_fetch_add(&temporaries, 1));
        to = open(path_of(out, in, name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                  S_IRUSR | S_IWUSR);
    } while (to < 0 && errno == EEXIST && tries--);
    return to;
}

bool rt_save_write(const char *in, const rt_save_file *f) {
    char path[MOST_PATH], temporary[MOST_PATH];
    path_of(path, in, f->name);
    if (!f->replaces && is_written(in, f->name)) return true;
    int to = open_temporary(temporary, in);
    if (to < 0) return false;
    bool ok = write_all(to, f->data, f->size);
    int why = errno;
    ok = close(to) == 0 && ok && rename(temporary, path) == 0;
    if (!ok) unlink(temporary);
    if (!ok && why) errno = why;
    return ok;
}

/* What: how it is called elsewhere, or "". */
static void put_log(const char *name, const char *what) {
    char path[sizeof folder + 20], line[800];
    snprintf(path, sizeof path, "%s/saved.log", folder);
    int n = snprintf(line, sizeof line, "%ld %s%s%.*s\n", (long)getpid(), name, *what ? " " : "",
                     (int)strcspn(what, "\n\r"), what);
    if (n >= (int)sizeof line) n = (int)sizeof line - 1;
    int to = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (to < 0) return;
    write_all(to, line, (size_t)n);
    close(to);
}

/* Of bytes and what is before them. */
static const char *name_of(rt_save *s, const char *kind, const void *data, size_t size) {
    return ir_sprintf(&s->arena, "%016llx.%s", (unsigned long long)ir_hash(1, data, size), kind);
}

/* False: a warning has been given, or had been. */
static bool try_file(rt_save *s, const rt_save_file *f) {
    errno = 0;
    if (s->past) return rt_past_add(s->past, f->name, f->data, f->size);
    if (rt_save_write(folder, f)) return true;
    const int why = errno;
    const bool is_heard = s->context->message || s->context->log != RT_LOG_NOTHING;
    if (is_heard && !atomic_exchange(&warned[s->is_plan], true))
        ir_report(&s->context->cx, (ir_message){.severity = IR_WARNING},
                  "SPVFUSE_SAVE: %.300s/%s: %s", folder, f->name, strerror(why));
    errno = why;
    return false;
}

static void add_file(rt_save *s, const rt_save_file *f) {
    if (!try_file(s, f)) ir_throw(s->arena.cx, IR_ERR_IO);
}

/* -------------------------------------------------------------------------------------- sources */

typedef struct {
    rt_save save;
    const rt_source *source;
    const char *kind, *options;
} source_job;

static void write_source(void *arg) {
    source_job *j = arg;
    const rt_source *from = j->source;
    const char *name = name_of(&j->save, j->kind, from->bytes, from->size);
    add_file(&j->save, &(rt_save_file){name, from->bytes, from->size, false});
    put_log(name, ir_sprintf(&j->save.arena, "is %.300s%s%.300s", from->name,
                             *j->options ? ", built with " : "", j->options));
}

void rt_save_source(spvf_context *context, const rt_source *source,
                    const spvf_module_options *options) {
    ir_ctx cx = {.limit = 0};
    source_job j = {.source = source, .kind = "ir", .options = ""};
    if (!rt_saves() || !source->size) return;
    if (!rt_save_is_new(ir_hash(2, source->bytes, source->size))) return;
    if (!take_bytes(source->size)) return;
    if (rt_is_spirv(source->bytes, source->size)) j.kind = "spv";
    if (rt_is_container_source(source)) j.kind = "container";
    if (options->opencl_c) {
        j.kind = "cl";
        j.options = options->opencl_c;
    }
    ir_arena_init(&j.save.arena, &cx);
    j.save.context = context;
    ir_try(&cx, write_source, &j);
    ir_arena_free(&j.save.arena);
}

/* ---------------------------------------------------------------------------- parts of the plan */

const char *rt_save_plain_name(rt_save *s, const char *name) {
    enum { MOST = 60 };
    char *plain = ir_strndup(&s->arena, name, strlen(name) < MOST ? strlen(name) : MOST);
    for (char *c = plain; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *c))
            *c = '_';
    return plain;
}

/* On one line, whatever characters names have. */
void rt_save_comment(rt_save *s, const char *fmt, ...) {
    ir_text line = {.arena = &s->arena};
    va_list ap;
    va_start(ap, fmt);
    ir_put(&line, "# ");
    ir_vputf(&line, fmt, ap);
    va_end(ap);
    for (size_t n = 0; n < line.n; n++)
        if ((unsigned char)line.data[n] < ' ') line.data[n] = ' ';
    ir_put(&line, "\n");
    ir_put(&s->comments, line.data);
}

/* Strings of plans lack some characters: what has them in its name cannot be launched by a plan. */
static const char *quotable(rt_save *s, const char *name) {
    char *text = ir_strdup(&s->arena, name);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == '"') *at = '?';
    if (strcmp(text, name) != 0)
        rt_save_comment(s, "plans have no name for kernel '%s': name it otherwise in its module",
                        name);
    return text;
}

/* The type of elements in the language of plans. */
static const char *element_name(ir_type t) {
    switch (ir_kind_of(ir_elem(t))) {
    case IR_I8: return "i8";
    case IR_I16: return "i16";
    case IR_I32: return "i32";
    case IR_I64: return "i64";
    case IR_F16: return "f16";
    case IR_F32: return "f32";
    case IR_F64: return "f64";
    default: return "bytes";
    }
}

static unsigned element_size(const char *name) {
    return name[0] == 'b' ? 1 : (unsigned)atoi(name + 1) / 8;
}

bool rt_save_takes_contents(const rt_save *s, uint64_t bytes) {
    return bytes <= (s->past ? rt_past_most_of_buffer(s->past) : most_of_buffer);
}

/* The file with them; NULL: a comment says why there is none. */
static const char *save_contents(rt_save *s, uint32_t number, const rt_saved_buffer *b) {
    const char *name = name_of(s, "bin", b->contents, b->bytes);
    if (!s->past && is_written(folder, name)) return name;
    if (!s->past && !take_bytes(b->bytes)) {
        rt_save_comment(s, "b%u has made up contents: SPVFUSE_SAVE_SIZE allows no more", number);
        return NULL;
    }
    if (try_file(s, &(rt_save_file){name, b->contents, b->bytes, false})) return name;
    rt_save_comment(s, "b%u has made up contents: %s", number,
                    s->past ? "the context can remember no more" : strerror(errno));
    return NULL;
}

/* Contents that are not known are numbers below 1, or indices. */
static void put_contents(rt_save *s, uint32_t number, const char *element,
                         const rt_saved_buffer *b) {
    if (b->undefined) return;
    const char *name = b->contents ? save_contents(s, number, b) : NULL;
    if (name)
        ir_putf(&s->declarations, " = file \"%s\"", name);
    else
        ir_put(&s->declarations, element[0] == 'f'   ? " = random 1"
                                 : element[0] == 'i' ? " = iota"
                                                     : " = 0");
}

void rt_save_buffer(rt_save *s, uint32_t number, const rt_saved_buffer *b) {
    const char *element = element_name(b->element);
    if (b->bytes % element_size(element)) element = "bytes";
    const uint64_t count = b->bytes / element_size(element);
    ir_putf(&s->declarations, "buffer b%u %s[%llu]", number, element, (unsigned long long)count);
    put_contents(s, number, element, b);
    ir_putf(&s->declarations, "%s%s\n", b->internal[0] ? " " : "", b->internal);
    s->place = ir_hash(s->place, &b->bytes, sizeof b->bytes);
}

void rt_save_value(rt_save *s, uint32_t number, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    ir_putf(&s->declarations, "scalar v%u bytes[%zu] = ", number, size);
    for (size_t n = 0; n < size; n++) ir_putf(&s->declarations, n ? ",%u" : "%u", at[n]);
    ir_put(&s->declarations, "\n");
}

static const char *save_text(rt_save *s, const ir_module *m) {
    ir_text text = {.arena = &s->arena};
    ir_print_module(&text, m, IR_PRINT_LOC);
    const char *name = name_of(s, "ir", text.data, text.n);
    add_file(s, &(rt_save_file){name, text.data, text.n, false});
    if (s->past) rt_past_note_module(s->past, m->number, name);
    return name;
}

const char *rt_save_module(rt_save *s, const ir_module *m) {
    for (uint32_t n = 0; n < s->modules.n; n++)
        if (s->modules.data[n].module == m) return s->modules.data[n].file;
    const char *name = s->past ? rt_past_module(s->past, m->number, &s->arena) : NULL;
    if (!name) name = save_text(s, m);
    *ir_push(&s->arena, &s->modules) = (rt_saved_module){m, name};
    return name;
}

static void put_sizes(rt_save *s, const char *word, const uint64_t sizes[3], uint32_t dims) {
    ir_putf(&s->launches, " %s", word);
    for (uint32_t d = 0; d < dims; d++)
        ir_putf(&s->launches, " %llu", (unsigned long long)sizes[d]);
}

static bool has_whole_groups(const spvf_range *r) {
    for (uint32_t d = 0; d < r->dims; d++)
        if (!r->local[d] || r->global[d] % r->local[d]) return false;
    return true;
}

void rt_save_launch(rt_save *s, const ir_func *kernel, const spvf_range *r, bool uneven) {
    const char *module = rt_save_module(s, kernel->module);
    ir_putf(&s->launches, "launch \"%s\":\"%s\"", module, quotable(s, kernel->name));
    put_sizes(s, "global", r->global, r->dims);
    const bool whole = has_whole_groups(r);
    if (whole || (r->local[0] && uneven))
        put_sizes(s, "local", r->local, r->dims);
    else if (r->local[0])
        rt_save_comment(s, "the local size does not divide the global one, and is left out");
    if (!whole && r->local[0] && uneven) ir_put(&s->launches, " uneven");
    if (r->offset[0] || r->offset[1] || r->offset[2]) put_sizes(s, "offset", r->offset, r->dims);
    if (kernel->nparams) ir_put(&s->launches, " args");
    s->place = ir_hash(s->place, module, strlen(module));
    s->place = ir_hash(s->place, kernel->name, strlen(kernel->name));
    s->place = ir_hash(s->place, r->global, sizeof r->global);
    s->place = ir_hash(s->place, r->local, sizeof r->local);
    s->place = ir_hash(s->place, r->offset, sizeof r->offset);
}

static bool is_said(const ir_param *p) { return !(p->attrs & IR_PARAM_PADDING); }

/* Is one said of those before it, or after it, that are of its struct, or (closure 0) of all? */
static bool is_said_before(const ir_func *f, uint32_t n, uint32_t closure) {
    while (n--) {
        if (closure && f->param[n].closure != closure) return false;
        if (is_said(&f->param[n])) return true;
    }
    return false;
}

static bool is_said_after(const ir_func *f, uint32_t n, uint32_t closure) {
    while (++n < f->nparams && f->param[n].closure == closure)
        if (is_said(&f->param[n])) return true;
    return false;
}

void rt_save_arg(rt_save *s, const ir_func *f, uint32_t n, const char *text) {
    const uint32_t closure = f->param[n].closure;
    if (!is_said(&f->param[n])) return;
    ir_put(&s->launches, is_said_before(f, n, 0) ? ", " : " ");
    if (closure && !is_said_before(f, n, closure)) ir_put(&s->launches, "{");
    ir_put(&s->launches, text);
    if (closure && !is_said_after(f, n, closure)) ir_put(&s->launches, "}");
}

/* ------------------------------------------------------------------------------------- the plan */

typedef struct {
    rt_save save;
    const rt_save_request *request;
    ir_text text;
    const char *name;
    unsigned number; /* of plans before it */
} saving;

extern char **environ;

/* What the process was told, as it may matter. */
static void put_settings(ir_text *t) {
    for (char **e = environ; e && *e; e++)
        if ((strncmp(*e, "SPVFUSE_", 8) == 0 && strncmp(*e, "SPVFUSE_SAVE=", 13) != 0) ||
            strncmp(*e, "SPVF_", 5) == 0)
            ir_putf(t, "# environment: %.*s\n", (int)strcspn(*e, "\n\r"), *e);
}

static void write_plan(void *arg) {
    saving *j = arg;
    rt_save *s = &j->save;
    j->request->write(s, j->request->arg);
    ir_text *t = &j->text;
    t->arena = &s->arena;
    ir_putf(t, "# spvfuse %s\n", spvf_version_text());
    put_settings(t);
    if (s->comments.n) ir_put(t, s->comments.data);
    if (s->declarations.n) ir_put(t, s->declarations.data);
    if (s->launches.n) ir_put(t, s->launches.data);
    const char *kind = j->request->kind, *name = rt_save_plain_name(s, j->request->name);
    if (s->past) {
        j->name = ir_sprintf(&s->arena, "%s-%s.plan", kind, name);
        rt_past_end(s->past, j->name, t->data, t->n);
        s->past = NULL;
        return;
    }
    const unsigned long long place = s->place;
    j->name =
        saves_all && j->request->numbered
            ? ir_sprintf(&s->arena, "%s-%s-%ld-%06u.plan", kind, name, (long)getpid(), j->number)
            : ir_sprintf(&s->arena, "%s-%s-%016llx.plan", kind, name, place);
    add_file(s, &(rt_save_file){j->name, t->data, t->n, j->request->replaces});
    put_log(j->name, "");
}

static void save(spvf_context *context, saving *j) {
    ir_ctx cx = {.limit = 0};
    rt_save *s = &j->save;
    ir_arena_init(&s->arena, &cx);
    s->context = context;
    s->is_plan = true;
    s->comments.arena = s->declarations.arena = s->launches.arena = &s->arena;
    ir_try(&cx, write_plan, j);
    if (s->past) rt_past_drop(s->past);
    ir_arena_free(&s->arena);
}

void rt_save_plan(spvf_context *context, const rt_save_request *request) {
    rt_past_plan *past = request->past ? rt_past_begin(request->past) : NULL;
    if (past) save(context, &(saving){.request = request, .save.past = past});
    if (!request->in_folder) return;
    const unsigned number = atomic_fetch_add(&plans, 1);
    if (number < MOST_PLANS) save(context, &(saving){.request = request, .number = number});
}
