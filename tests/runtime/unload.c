/* unload.c LIBRARY [leave | keep | block] — opens the library, launches on a queue, gives everything
 * back and closes the library, many times; then its threads have time to do harm.  The last launch is
 * a small one, for which a thread of the library begins to make code.  Run as it is, and under
 * valgrind, which is to find nothing lost.  With `leave` it launches once, gives nothing back, and its
 * main thread leaves with pthread_exit: the process ends when the library's threads do.  With `keep`
 * it closes the library all the same.  With `block` it exits while a thread of the library is in a
 * callback that never returns. */
#include "runtime/spvfuse_queue.h"
#include "tests/runtime/queue/add_kernel.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 10, COUNT = 1 << 16, FEW = 8000, PAUSE_NS = 20000000 };

static const char text[] = "target 64\n" ADD_KERNEL;
static int32_t from[COUNT], to[COUNT];

/* The function of that name, as p_NAME; ISO C has no cast. */
#define FIND(name)                                                                                 \
    __typeof__(name) *p_##name;                                                                    \
    void *at_##name = dlsym(library, #name);                                                       \
    if (!at_##name) return false;                                                                  \
    memcpy(&p_##name, &at_##name, sizeof at_##name)

static bool use(void *library, bool keep) {
    FIND(spvf_context_create);
    FIND(spvf_context_destroy);
    FIND(spvf_module_load);
    FIND(spvf_module_destroy);
    FIND(spvf_device_open);
    FIND(spvf_device_destroy);
    FIND(spvf_program_create);
    FIND(spvf_program_destroy);
    FIND(spvf_buffer_create);
    FIND(spvf_buffer_destroy);
    FIND(spvf_queue_create);
    FIND(spvf_queue_destroy);
    FIND(spvf_queue_launch);
    FIND(spvf_queue_finish);
    spvf_context *c;
    spvf_module *m;
    spvf_device *d;
    spvf_program *p, *other;
    spvf_buffer *b[2];
    spvf_queue *q;
    int32_t k = 5;
    bool ok = !p_spvf_context_create(NULL, &c) &&
              !p_spvf_module_load(c, "k", text, sizeof text - 1, NULL, &m) &&
              !p_spvf_device_open(c, "cpu", &d) && !p_spvf_program_create(d, m, &p) &&
              !p_spvf_program_create(d, m, &other) &&
              !p_spvf_buffer_create(d, sizeof to, to, SPVF_USE_HOST, &b[0]) &&
              !p_spvf_buffer_create(d, sizeof from, from, SPVF_USE_HOST, &b[1]) &&
              !p_spvf_queue_create(d, NULL, &q);
    if (!ok) return false;
    const spvf_argument args[] = {
        {.buffer = b[0]}, {.buffer = b[1]}, {.bytes = &k, .size = sizeof k}};
    spvf_launch what = {.size = sizeof what,
                        .program = p,
                        .kernel = "add",
                        .range = {.dims = 1, .global = {COUNT}},
                        .args = args,
                        .arg_count = 3};
    for (int n = 0; n < ROUNDS; n++) ok &= !p_spvf_queue_launch(q, &what, NULL, NULL);
    ok &= !p_spvf_queue_finish(q) && to[COUNT - 1] == 5;
    what.program = other;
    what.range.global[0] = FEW;
    ok &= !p_spvf_queue_launch(q, &what, NULL, NULL) && !p_spvf_queue_finish(q);
    if (keep) return ok;
    p_spvf_queue_destroy(q);
    p_spvf_buffer_destroy(b[0]);
    p_spvf_buffer_destroy(b[1]);
    p_spvf_program_destroy(p);
    p_spvf_program_destroy(other);
    p_spvf_device_destroy(d);
    p_spvf_module_destroy(m);
    p_spvf_context_destroy(c);
    return ok;
}

static bool leave(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library && use(library, true)) pthread_exit(NULL);
    return false;
}

static bool keep(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    bool ok = library && use(library, true) && dlclose(library) == 0;
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    return ok;
}

static _Atomic bool blocked;

static void never_return(void *user, spvf_status status) {
    (void)user;
    (void)status;
    for (blocked = true;;) pause();
}

/* The event is kept back until it has the callback, so that a thread of the library calls that. */
static bool block(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    FIND(spvf_context_create);
    FIND(spvf_device_open);
    FIND(spvf_queue_create);
    FIND(spvf_queue_marker);
    FIND(spvf_event_create);
    FIND(spvf_event_on_end);
    FIND(spvf_event_end);
    spvf_context *c;
    spvf_device *d;
    spvf_queue *q;
    spvf_event *first, *last;
    bool ok = !p_spvf_context_create(NULL, &c) && !p_spvf_device_open(c, "cpu", &d) &&
              !p_spvf_queue_create(d, NULL, &q) && !p_spvf_event_create(d, &first) &&
              !p_spvf_queue_marker(q, &(spvf_wait){&first, 1}, &last) &&
              !p_spvf_event_on_end(last, never_return, NULL) && !p_spvf_event_end(first, SPVF_OK);
    while (ok && !blocked) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return ok;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[2], "leave") == 0) return !leave(argv[1]);
    if (argc == 3 && strcmp(argv[2], "keep") == 0) return !keep(argv[1]);
    if (argc == 3 && strcmp(argv[2], "block") == 0) return !block(argv[1]);
    for (int n = 0; argc == 2 && n < ROUNDS; n++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library || !use(library, false) || dlclose(library) != 0) return 1;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return argc != 2;
}
