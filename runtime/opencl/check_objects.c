/* check_objects.c — what the program has made: for each object the call that made it, and how many
 * references the program holds.
 *
 * Records are found by handle in a table of lists and are never removed, so what was given back can
 * be named.  A handle may be that of another object later; the newest record counts.
 */
#include "runtime/opencl/check.h"

#include <stdlib.h>

enum { PLACES = 1 << 12, FUNCTIONS = 64 };

static struct {
    pthread_mutex_t lock;
    ocl_made *place[PLACES];
    ocl_made *newest;
    struct {
        const char *name;
        unsigned calls;
    } function[FUNCTIONS];
} made = {.lock = PTHREAD_MUTEX_INITIALIZER};

static ocl_made **place_of(const void *handle) {
    return &made.place[ir_mix((uintptr_t)handle, 1) % PLACES];
}

/* With the lock. */
static unsigned count_call(const char *call) {
    unsigned n = 0;
    while (n + 1 < FUNCTIONS && made.function[n].name && strcmp(made.function[n].name, call) != 0)
        n++;
    made.function[n].name = call;
    return ++made.function[n].calls;
}

unsigned ocl_count_call(const char *call) {
    pthread_mutex_lock(&made.lock);
    unsigned n = count_call(call);
    pthread_mutex_unlock(&made.lock);
    return n;
}

ocl_made *ocl_note_made(const void *handle, ocl_kind kind, const char *call) {
    ocl_made *r = calloc(1, sizeof *r);
    pthread_mutex_lock(&made.lock);
    const unsigned number = count_call(call);
    if (r) {
        ocl_made **at = place_of(handle);
        *r = (ocl_made){.handle = handle,
                        .kind = kind,
                        .call = call,
                        .number = number,
                        .refs = 1,
                        .same = *at,
                        .before = made.newest};
        *at = made.newest = r;
    }
    pthread_mutex_unlock(&made.lock);
    return r;
}

ocl_made *ocl_find_made(const void *handle) {
    pthread_mutex_lock(&made.lock);
    ocl_made *r = *place_of(handle);
    while (r && r->handle != handle) r = r->same;
    pthread_mutex_unlock(&made.lock);
    return r;
}

static const char *kind_name(ocl_kind kind) {
    switch (kind) {
    case OCL_CONTEXT: return "context";
    case OCL_QUEUE: return "queue";
    case OCL_MEM: return "buffer";
    case OCL_PROGRAM: return "program";
    case OCL_KERNEL: return "kernel";
    case OCL_EVENT: return "event";
    default: return "shared memory";
    }
}

const char *ocl_name_of(const ocl_made *r) {
    char size[60] = "", *text;
    if (r->size) snprintf(size, sizeof size, " (%llu bytes)", (unsigned long long)r->size);
    int n = snprintf(NULL, 0, "%s %u of %s%s", kind_name(r->kind), r->number, r->call, size);
    text = malloc((size_t)n + 1);
    if (!text) return r->call;
    snprintf(text, (size_t)n + 1, "%s %u of %s%s", kind_name(r->kind), r->number, r->call, size);
    return text;
}

void ocl_each_of_kind(ocl_kind kind, void (*each)(ocl_made *r)) {
    pthread_mutex_lock(&made.lock);
    for (ocl_made *r = made.newest; r; r = r->before)
        if (r->kind == kind) each(r);
    pthread_mutex_unlock(&made.lock);
}

void ocl_mark_before(ocl_made *event) {
    pthread_mutex_lock(&made.lock);
    for (ocl_made *r = event->before; r; r = r->before)
        if (r->kind == OCL_EVENT && r->queue == event->queue) r->waited = true;
    pthread_mutex_unlock(&made.lock);
}

/* The list is turned round for it, which only the end of the process may do. */
void ocl_each_made(void (*each)(ocl_made *r)) {
    ocl_made *oldest = NULL;
    for (ocl_made *r = made.newest, *next; r; r = next) {
        next = r->before;
        r->before = oldest;
        oldest = r;
    }
    made.newest = NULL;
    for (; oldest; oldest = oldest->before) each(oldest);
}
