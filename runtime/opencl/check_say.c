/* check_say.c — tells faults: as text like that of compilers, with the line of the source and a
 * caret below the column, or as JSON, one object a line; on standard error, or in a file.
 *
 * The environment says how (SPVFUSE_CHECK_…).  The source is the one that the program was built
 * from, or the file that the module names, if it can be read.  A fault is told when it is found:
 * those of a kernel after its launch.  If the process is to stop at the first fault, or to have
 * another exit status, it ends here without the handlers of other libraries.
 */
#include "runtime/opencl/check.h"
#include "runtime/system/process.h"

#include <stdlib.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    FILE *to;
    bool json;
    unsigned faults[IR_ERROR + 1]; /* by severity */
} output = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* With the lock. */
static FILE *open_output(void) {
    const char *path = rt_setting(RT_ENV_CHECK_LOG), *format = rt_setting(RT_ENV_CHECK_FORMAT);
    if (output.to) return output.to;
    output.json = format ? strcmp(format, "json") == 0 : path && ends_with(path, ".json");
    output.to = path ? fopen(path, "we") : stderr;
    if (!output.to) {
        fprintf(stderr, "spvfuse: error: SPVFUSE_CHECK_LOG: %s: cannot be written\n", path);
        output.to = stderr;
    }
    return output.to;
}

/* --------------------------------------------------------------------------------------- source */

/* The line of that number, from 1; NULL: there are fewer. */
static const char *line_of(const char *text, uint32_t number) {
    while (text && --number) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    return text;
}

static void put_caret(FILE *f, const char *line, size_t n, uint32_t number, uint32_t column) {
    fprintf(f, "%5u | %.*s\n", number, (int)n, line);
    if (!column || column > n + 1) return;
    fputs("      | ", f);
    /* A column is a byte; those that go on with a character have no place of their own. */
    for (uint32_t k = 0; k + 1 < column; k++)
        if (((unsigned char)line[k] & 0xc0) != 0x80) fputc(line[k] == '\t' ? '\t' : ' ', f);
    fputs("^\n", f);
}

static void put_file_line(FILE *f, const char *path, uint32_t number, uint32_t column) {
    char line[400];
    FILE *source = fopen(path, "re");
    for (uint32_t n = 1; source && fgets(line, sizeof line, source); n++)
        if (n == number) {
            put_caret(f, line, strcspn(line, "\r\n"), number, column);
            break;
        }
    if (source) fclose(source);
}

static void put_source_line(FILE *f, const char *source, const check_party *p) {
    bool is_own = source && ends_with(p->file, "program.cl");
    const char *line = is_own ? line_of(source, p->line) : NULL;
    if (line)
        put_caret(f, line, strcspn(line, "\r\n"), p->line, p->column);
    else if (!is_own)
        put_file_line(f, p->file, p->line, p->column);
}

/* The source of a program is in no folder, although compilers put it into that of the process. */
static const char *shown_name(const char *file) {
    const char *slash = strrchr(file, '/');
    if (slash && strcmp(slash, "/program.cl") == 0) return slash + 1;
    return strncmp(file, "./", 2) == 0 ? file + 2 : file;
}

/* ----------------------------------------------------------------------------------------- text */

static const char *severity_name(ir_severity s) {
    return s == IR_ERROR ? "error" : s == IR_WARNING ? "warning" : "note";
}

static void put_worker(FILE *f, const check_party *p) {
    const unsigned long long *id = (const unsigned long long *)(const void *)p->global_id;
    const unsigned long long *group = (const unsigned long long *)(const void *)p->group_id;
    if (p->is_copy)
        fputs("an async copy", f);
    else
        fprintf(f, "work-item (%llu, %llu, %llu)", id[0], id[1], id[2]);
    fprintf(f, " of group (%llu, %llu, %llu)", group[0], group[1], group[2]);
}

static void put_other(FILE *f, const ocl_fault *fault) {
    const check_party *p = &fault->report->other;
    fputs("  and ", f);
    put_worker(f, p);
    if (!p->inst) fputs(", which has finished", f);
    if (p->file) fprintf(f, ", %s:%u:%u", shown_name(p->file), p->line, p->column);
    fputc('\n', f);
    if (p->file) put_source_line(f, fault->source, p);
}

/* A kernel that is called has a function of its own: "k.1". */
static bool is_kernel(const char *function, const char *kernel) {
    size_t n = strlen(kernel);
    return strncmp(function, kernel, n) == 0 &&
           (!function[n] ||
            (function[n] == '.' && !function[n + 1 + strspn(function + n + 1, "0123456789")]));
}

static void put_report(FILE *f, const ocl_fault *fault) {
    const check_report *r = fault->report;
    if (r->here.file) put_source_line(f, fault->source, &r->here);
    fputs("  ", f);
    put_worker(f, &r->here);
    fprintf(f, " in kernel '%s'", r->kernel);
    if (!is_kernel(r->here.function, r->kernel)) fprintf(f, ", function '%s'", r->here.function);
    fputc('\n', f);
    if (!r->here.file && *r->here.text) fprintf(f, "  at %s\n", r->here.text);
    if (r->has_other) put_other(f, fault);
    if (r->origin) fprintf(f, "  %s: %s\n", r->object, r->origin);
    if (r->from) fprintf(f, "  %s\n", r->from);
    if (r->count > 1) fprintf(f, "  %llu times\n", (unsigned long long)r->count);
}

static void put_text(FILE *f, const ocl_fault *fault) {
    const check_party *p = fault->report ? &fault->report->here : NULL;
    if (p && p->file) fprintf(f, "%s:%u:%u: ", shown_name(p->file), p->line, p->column);
    fprintf(f, "%s: %s [%s]\n", severity_name(fault->severity), fault->text, fault->kind);
    if (p) put_report(f, fault);
}

/* ----------------------------------------------------------------------------------------- JSON */

static void put_string(FILE *f, const char *s) {
    fputc('"', f);
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if ((unsigned char)*s < ' ')
            fprintf(f, "\\u%04x", (unsigned)(unsigned char)*s);
        else
            fputc(*s, f);
    fputc('"', f);
}

static void put_member(FILE *f, const char *name, const char *value) {
    if (!value) return;
    fprintf(f, ",\"%s\":", name);
    put_string(f, value);
}

static void put_party(FILE *f, const char *name, const char *kernel, const check_party *p) {
    fprintf(f, ",\"%s\":{\"global_id\":[%llu,%llu,%llu],\"group_id\":[%llu,%llu,%llu]", name,
            (unsigned long long)p->global_id[0], (unsigned long long)p->global_id[1],
            (unsigned long long)p->global_id[2], (unsigned long long)p->group_id[0],
            (unsigned long long)p->group_id[1], (unsigned long long)p->group_id[2]);
    put_member(f, "function", is_kernel(p->function, kernel) ? kernel : p->function);
    put_member(f, "file", p->file ? shown_name(p->file) : NULL);
    if (p->file) fprintf(f, ",\"line\":%u,\"column\":%u", p->line, p->column);
    fputc('}', f);
}

static void put_json(FILE *f, const ocl_fault *fault) {
    const check_report *r = fault->report;
    fputs("{\"kind\":", f);
    put_string(f, fault->kind);
    put_member(f, "severity", severity_name(fault->severity));
    put_member(f, "message", fault->text);
    if (r) {
        put_member(f, "kernel", r->kernel);
        put_member(f, "object", r->object);
        put_member(f, "origin", r->origin);
        put_member(f, "from", r->from);
        if (r->object) fprintf(f, ",\"offset\":%lld,\"size\":%u", (long long)r->offset, r->size);
        fprintf(f, ",\"count\":%llu", (unsigned long long)r->count);
        put_party(f, "here", r->kernel, &r->here);
        if (r->has_other) put_party(f, "other", r->kernel, &r->other);
    }
    fputs("}\n", f);
}

/* ------------------------------------------------------------------------------- what it causes */

/* 0: as without faults. */
static int wanted_status(void) {
    bool any = output.faults[IR_ERROR] || output.faults[IR_WARNING];
    unsigned long long status = rt_setting_number(RT_ENV_CHECK_EXIT, 0);
    return any && status <= 255 ? (int)status : 0;
}

static const char *plural(unsigned n) { return n == 1 ? "" : "s"; }

static void put_sum(FILE *f) {
    const unsigned *n = output.faults;
    if (output.json)
        fprintf(f, "{\"kind\":\"sum\",\"errors\":%u,\"warnings\":%u,\"notes\":%u}\n", n[IR_ERROR],
                n[IR_WARNING], n[IR_NOTE]);
    else
        fprintf(f, "spvfuse check: %u error%s, %u warning%s, %u note%s\n", n[IR_ERROR],
                plural(n[IR_ERROR]), n[IR_WARNING], plural(n[IR_WARNING]), n[IR_NOTE],
                plural(n[IR_NOTE]));
}

IR_NORETURN static void leave(int status) {
    fflush(NULL);
    _exit(status);
}

void ocl_say_fault(const ocl_fault *fault) {
    pthread_mutex_lock(&output.lock);
    FILE *f = open_output();
    output.faults[fault->severity]++;
    (output.json ? put_json : put_text)(f, fault);
    fflush(f);
    bool stops = fault->severity == IR_ERROR && rt_setting_is_on(RT_ENV_CHECK_STOP);
    if (stops) put_sum(f);
    if (stops) leave(wanted_status() ? wanted_status() : 1);
    pthread_mutex_unlock(&output.lock);
}

void ocl_say_call(const char *kind, ir_severity severity, const char *fmt, ...) {
    char text[700];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ocl_say_fault(&(ocl_fault){.kind = kind, .severity = severity, .text = text});
}

void ocl_end_faults(void) {
    pthread_mutex_lock(&output.lock);
    FILE *f = open_output();
    put_sum(f);
    fflush(f);
    pthread_mutex_unlock(&output.lock);
    if (wanted_status()) leave(wanted_status());
}
