/* past.c — what a context remembers of launches and fusions, for spvf_context_reproducer.
 *
 * What is remembered is what SPVFUSE_SAVE writes: plans, and the files that they name.  They are in
 * memory until the function writes them to a folder, so objects of the program may be gone then.
 * Equal files are kept once, in a hash table.  When there are too many plans or bytes, the first
 * plans are forgotten, and files that no plan names any more with them.
 *
 * Memory comes from malloc, as threads of several devices add plans.  A plan for which there is
 * none is not remembered.
 */
#include "runtime/api/save.h"
#include "runtime/system/lock.h"
#include "runtime/system/ref.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { USUAL_BYTES = 256 << 20, MODULES = 32 };

typedef struct past_file past_file;
struct past_file {
    past_file *next; /* in its list of the table */
    uint64_t hash;   /* of the name */
    uint64_t listed; /* rt_past_plan.mark of the plan that has listed it last */
    uint32_t users;  /* places in lists of plans */
    size_t size;
    const char *name, *bytes; /* after it */
};

struct rt_past_plan {
    rt_past *past;
    rt_past_plan *next;
    uint64_t number;
    char *name, *text; /* in one block */
    size_t size;       /* of the text */
    uint64_t bytes;    /* of the files that it has added */
    uint64_t mark;     /* no other plan has it; 0: it has listed no file */
    past_file **files;
    uint32_t count, room;
};

struct rt_past {
    rt_refs refs;
    rt_lock lock;
    uint64_t most_plans, most_bytes, most_of_buffer;
    rt_past_plan *first, **end; /* from here on with the lock */
    past_file **files;          /* lists of equal low bits of the hash */
    size_t nlists, nfiles;      /* nlists: a power of 2, or 0 */
    uint64_t plans, bytes, last, last_mark;
    struct {
        uint64_t module; /* ir_module.number */
        char name[40];
    } modules[MODULES]; /* whose text may be a file */
};

rt_past *rt_past_new(const spvf_context_options *o) {
    rt_past *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    rt_refs_init(&p->refs);
    rt_lock_init(&p->lock, false);
    p->most_plans = o->remember;
    p->most_of_buffer = o->remember_contents;
    p->most_bytes = o->remember_bytes ? o->remember_bytes : USUAL_BYTES;
    p->end = &p->first;
    return p;
}

void rt_past_retain(rt_past *p) {
    if (p) rt_retain(&p->refs);
}

/* The lock.  What another thread was changing when the process was forked is lost in the child. */
static void take(rt_past *p) {
    if (rt_lock_take(&p->lock)) return;
    p->first = NULL;
    p->end = &p->first;
    p->files = NULL;
    p->nlists = p->nfiles = 0;
    p->plans = p->bytes = 0;
}

uint64_t rt_past_most_of_buffer(const rt_past_plan *p) { return p->past->most_of_buffer; }

/* ---------------------------------------------------------------------------------------- files */

static past_file **list_of(const rt_past *p, uint64_t hash) {
    return &p->files[hash & (p->nlists - 1)];
}

static past_file *find_file(const rt_past *p, const char *name) {
    if (!p->nlists) return NULL;
    past_file *f = *list_of(p, ir_hash(0, name, strlen(name)));
    while (f && strcmp(f->name, name) != 0) f = f->next;
    return f;
}

static void put_file(rt_past *p, past_file *f) {
    past_file **list = list_of(p, f->hash);
    f->next = *list;
    *list = f;
}

/* As many lists as files, or more.  Without memory the lists are longer; false: there are none. */
static bool make_lists(rt_past *p) {
    if (p->nfiles < p->nlists) return true;
    const size_t before = p->nlists, now = before ? before * 2 : 16;
    past_file **files = calloc(now, sizeof *files), **old = p->files;
    if (!files) return before > 0;
    p->files = files;
    p->nlists = now;
    for (size_t n = 0; n < before; n++)
        for (past_file *f = old[n], *next; f; f = next) {
            next = f->next;
            put_file(p, f);
        }
    free(old);
    return true;
}

static past_file *make_file(rt_past *p, const char *name, const void *data, size_t size) {
    const size_t length = strlen(name) + 1;
    past_file *f = make_lists(p) ? malloc(sizeof *f + length + size) : NULL;
    if (!f) return NULL;
    char *at = (char *)(f + 1);
    memcpy(at, name, length);
    memcpy(at + length, data, size);
    *f = (past_file){.size = size, .name = at, .bytes = at + length};
    f->hash = ir_hash(0, name, length - 1);
    put_file(p, f);
    p->nfiles++;
    p->bytes += size;
    return f;
}

static void leave_file(rt_past *p, past_file *f) {
    if (--f->users || !p->nlists) return;
    past_file **at = list_of(p, f->hash);
    while (*at && *at != f) at = &(*at)->next;
    if (!*at) return; /* it is lost */
    *at = f->next;
    p->nfiles--;
    p->bytes -= f->size;
    free(f);
}

/* A plan has a file twice if another plan has listed it in between. */
static bool list_file(rt_past_plan *p, past_file *f) {
    if (!p->mark) p->mark = ++p->past->last_mark;
    if (f->listed == p->mark) return true;
    if (p->count == p->room) {
        const uint32_t room = p->room ? p->room * 2 : 8;
        past_file **files = realloc(p->files, room * sizeof *files);
        if (!files) return false;
        p->files = files;
        p->room = room;
    }
    p->files[p->count++] = f;
    f->listed = p->mark;
    f->users++;
    return true;
}

/* With the lock held. */
static void free_plan(rt_past_plan *p) {
    for (uint32_t n = 0; n < p->count; n++) leave_file(p->past, p->files[n]);
    free(p->files);
    free(p->name);
    free(p);
}

static void forget_first(rt_past *past) {
    rt_past_plan *p = past->first;
    past->first = p->next;
    if (!past->first) past->end = &past->first;
    past->plans--;
    past->bytes -= p->size;
    free_plan(p);
}

bool rt_past_add(rt_past_plan *p, const char *name, const void *data, size_t size) {
    rt_past *past = p->past;
    take(past);
    past_file *f = find_file(past, name);
    if (!f && size <= past->most_bytes && p->bytes <= past->most_bytes - size) {
        while (past->first && past->bytes > past->most_bytes - size) forget_first(past);
        f = make_file(past, name, data, size);
        p->bytes += f ? size : 0;
    }
    const bool ok = f && list_file(p, f);
    if (f && !ok) {
        f->users++;
        leave_file(past, f);
    }
    rt_lock_release(&past->lock);
    return ok;
}

const char *rt_past_module(rt_past_plan *p, uint64_t module, ir_arena *a) {
    rt_past *past = p->past;
    const char *name = NULL;
    take(past);
    for (unsigned n = 0; n < MODULES; n++) {
        past_file *f =
            past->modules[n].module == module ? find_file(past, past->modules[n].name) : NULL;
        if (f && list_file(p, f)) name = past->modules[n].name;
    }
    char copy[sizeof past->modules->name];
    snprintf(copy, sizeof copy, "%s", name ? name : "");
    rt_lock_release(&past->lock);
    return name ? ir_strdup(a, copy) : NULL;
}

void rt_past_note_module(rt_past_plan *p, uint64_t module, const char *name) {
    rt_past *past = p->past;
    take(past);
    past->modules[module % MODULES].module = module;
    snprintf(past->modules[module % MODULES].name, sizeof past->modules->name, "%s", name);
    rt_lock_release(&past->lock);
}

/* ---------------------------------------------------------------------------------------- plans */

rt_past_plan *rt_past_begin(rt_past *past) {
    rt_past_plan *p = calloc(1, sizeof *p);
    if (p) p->past = past;
    return p;
}

void rt_past_drop(rt_past_plan *p) {
    rt_past *past = p->past;
    take(past);
    free_plan(p);
    rt_lock_release(&past->lock);
}

void rt_past_end(rt_past_plan *p, const char *name, const char *text, size_t size) {
    rt_past *past = p->past;
    const size_t length = strlen(name) + 1;
    p->name = malloc(length + size);
    if (!p->name) {
        rt_past_drop(p);
        return;
    }
    p->text = p->name + length;
    memcpy(p->name, name, length);
    memcpy(p->text, text, size);
    p->size = size;
    take(past);
    p->number = ++past->last;
    *past->end = p;
    past->end = &p->next;
    past->plans++;
    past->bytes += size;
    while (past->plans > past->most_plans || (past->bytes > past->most_bytes && past->first != p))
        forget_first(past);
    rt_lock_release(&past->lock);
}

void rt_past_release(rt_past *p) {
    if (!p || !rt_release(&p->refs)) return;
    while (p->first) forget_first(p);
    free(p->files);
    rt_lock_free(&p->lock);
    free(p);
}

/* -------------------------------------------------------------------------------------- writing */

enum { NAME = 128 };

typedef struct {
    spvf_context *context;
    const char *folder;
    int why;         /* it failed: an errno */
    char name[NAME]; /* of what is being written */
    size_t plans;
    char *log; /* lines of at most NAME bytes */
    size_t log_size;
} writing;

static bool put(writing *w, const char *name, const void *data, size_t size) {
    if (name != w->name) snprintf(w->name, sizeof w->name, "%s", name);
    errno = 0;
    return rt_save_write(w->folder, &(rt_save_file){name, data, size, true});
}

static bool put_plan(writing *w, const rt_past_plan *p) {
    for (uint32_t n = 0; n < p->count; n++)
        if (!put(w, p->files[n]->name, p->files[n]->bytes, p->files[n]->size)) return false;
    snprintf(w->name, sizeof w->name, "%06llu-%s", (unsigned long long)p->number, p->name);
    if (!put(w, w->name, p->text, p->size)) return false;
    w->log_size += (size_t)snprintf(w->log + w->log_size, NAME, "%s\n", w->name);
    w->plans++;
    return true;
}

/* Launches wait meanwhile. */
static bool put_all(rt_past *past, writing *w) {
    take(past);
    w->log = malloc(past->plans * NAME + 1);
    bool ok = w->log && (mkdir(w->folder, S_IRWXU) == 0 || errno == EEXIST);
    for (const rt_past_plan *p = past->first; ok && p; p = p->next) ok = put_plan(w, p);
    ok = ok && put(w, "saved.log", w->log, w->log_size);
    const int why = errno;
    rt_lock_release(&past->lock);
    free(w->log);
    errno = why;
    return ok;
}

static void say_failure(void *arg) {
    const writing *w = arg;
    ir_report(&w->context->cx, (ir_message){.severity = IR_ERROR},
              "spvf_context_reproducer: %.300s%s%s: %s", w->folder, *w->name ? "/" : "", w->name,
              strerror(w->why));
}

spvf_status spvf_context_reproducer(spvf_context *context, const char *folder, size_t *plans) {
    if (plans) *plans = 0;
    if (!context || !folder) return rt_refuse_call(context, __func__, "folder is NULL");
    if (!context->past)
        return rt_refuse_call(context, __func__,
                              "the context remembers nothing: spvf_context_options.remember is 0");
    writing w = {.context = context, .folder = folder};
    const bool ok = put_all(context->past, &w);
    if (plans) *plans = w.plans;
    if (ok) return SPVF_OK;
    w.why = errno;
    rt_guard(context, say_failure, &w);
    return w.why == ENOMEM ? SPVF_ERROR_MEMORY : SPVF_ERROR_IO;
}
