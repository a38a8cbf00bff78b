/* jit_vtune.c — loaded code made known to Intel's VTune, through its JIT profiling API.
 *
 * VTune starts a program with the name of a library in INTEL_JIT_PROFILER64.  `Initialize` of that
 * says whether it samples, and `NotifyEvent` takes what code there is: functions with names, places
 * and lines.  The declarations are ours, of the interface as Intel documents it (VTune Profiler
 * User Guide, "JIT Profiling API").  An entry of its table of lines has the offset where the code
 * of the line ends.  Code that is unloaded is not told of: events have times.
 */
#define _GNU_SOURCE
#include "runtime/native/native.h"
#include "runtime/system/environment.h"

#include <dlfcn.h>

enum { METHOD_LOAD_FINISHED = 13, SAMPLING_ON = 1, FIRST_METHOD = 1000 };

typedef struct {
    unsigned end, line;
} line_entry;

typedef struct rt_method {
    unsigned number;
    char *name;
    void *address;
    unsigned size, line_bytes; /* of the table of lines */
    line_entry *lines;
    unsigned class_number;
    char *class_file, *source_file;
} method;

/* The lock of jit_debug.c is for this, too. */
static struct {
    bool looked;
    int (*notify)(int event, void *data); /* NULL: nothing listens */
    unsigned methods;
} agent;

static void look_for_agent(void) {
    unsigned (*begin)(void);
    const char *path = rt_environment("INTEL_JIT_PROFILER64");
    void *library = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
    void *notify = library ? dlsym(library, "NotifyEvent") : NULL;
    void *initialize = library ? dlsym(library, "Initialize") : NULL;
    agent.looked = true;
    if (!notify || !initialize) return;
    memcpy(&begin, &initialize, sizeof begin); /* ISO C has no cast */
    if (begin() == SAMPLING_ON) memcpy(&agent.notify, &notify, sizeof notify);
}

/* Lines of the file that the first one is of; code in between, which has none, counts to the line
 * before. */
static void put_lines(method *m, const cg_object *o, const cg_symbol *s, ir_arena *a) {
    m->lines = ir_new_array(a, line_entry, o->lines.n);
    uint32_t n = 0;
    foreach_in (const cg_line, l, o->lines) {
        if (!l->line || l->at < s->at || l->at - s->at >= s->size) continue;
        if (!n) m->source_file = ir_strdup(a, o->files.data[l->file]);
        if (strcmp(m->source_file, o->files.data[l->file]) != 0) continue;
        if (n) m->lines[n - 1].end = (unsigned)(l->at - s->at);
        m->lines[n++] = (line_entry){s->size, l->line};
    }
    m->line_bytes = (unsigned)(n * sizeof *m->lines);
}

rt_method_list rt_list_methods(const rt_code *c, const cg_object *o, ir_arena *a) {
    rt_method_list m = {.list = ir_new_array(a, method, o->symbols.n)};
    foreach_in (const cg_symbol, s, o->symbols) {
        if (!s->function) continue;
        m.list[m.n] = (method){
            .name = ir_strdup(a, s->name), .address = c->at[CG_TEXT] + s->at, .size = s->size};
        put_lines(&m.list[m.n++], o, s, a);
    }
    return m;
}

void rt_tell_vtune(rt_method_list *m) {
    if (!agent.looked) look_for_agent();
    for (uint32_t n = 0; n < m->n && agent.notify; n++) {
        m->list[n].number = FIRST_METHOD + agent.methods++;
        agent.notify(METHOD_LOAD_FINISHED, &m->list[n]);
    }
}
