/* later_stress.c — programs, queues and devices that are destroyed while a thread of the library makes
 * code for later launches, to be run under ThreadSanitizer: results are right, and nothing that the
 * thread reads is gone.
 *
 * The kernel has loops, so that its first launch counts as one with much to do, and vector code of it
 * takes long to make.
 */
#include "runtime/queue/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 25, ITEMS = 320, MOST_LAUNCHES = 30, CHILDREN = 10 };

static const char text[] = "target 64\n"
                           "kernel @mix(%p: ptr.global, %n: i32) {\n"
                           "entry:\n"
                           "  %x: i64 = global_id 0\n"
                           "  %w: i32 = trunc %x\n"
                           "  %o: i64 = shl %x, 2\n"
                           "  %a: ptr.global = ptradd %p, %o\n"
                           "  jmp outer\n"
                           "outer:\n"
                           "  %i: i32 = phi [entry: 0, next: %i1]\n"
                           "  %s: i32 = phi [entry: %w, next: %u]\n"
                           "  jmp inner\n"
                           "inner:\n"
                           "  %k: i32 = phi [outer: 0, inner: %k1]\n"
                           "  %t: i32 = phi [outer: %s, inner: %u]\n"
                           "  %m: i32 = mul %t, 5\n"
                           "  %u: i32 = add %m, %k\n"
                           "  %k1: i32 = add %k, 1\n"
                           "  %again: i1 = ult %k1, %n\n"
                           "  br %again, inner, next\n"
                           "next:\n"
                           "  %i1: i32 = add %i, 1\n"
                           "  %more: i1 = ult %i1, %n\n"
                           "  br %more, outer, done\n"
                           "done:\n"
                           "  store %u, %a align 4\n"
                           "  ret\n"
                           "}\n";

static uint32_t mix(uint32_t s, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++) s = s * 5 + k;
    return s;
}

static spvf_device *device; /* of all threads */
static spvf_program *program;
static _Atomic int wrong;

/* The module is gone before the first launch. */
static spvf_program *new_program(spvf_device *d) {
    spvf_context *c;
    spvf_module *m;
    spvf_program *p = NULL;
    if (spvf_context_create(NULL, &c) != SPVF_OK) return NULL;
    if (spvf_module_load(c, "mix", text, sizeof text - 1, NULL, &m) == SPVF_OK) {
        spvf_module_optimize(m, NULL);
        spvf_program_create(d, m, &p);
        spvf_module_destroy(m);
    }
    spvf_context_destroy(c);
    return p;
}

static spvf_device *new_device(const char *name) {
    spvf_context *c;
    spvf_device *d = NULL;
    if (spvf_context_create(NULL, &c) != SPVF_OK) return NULL;
    spvf_device_open(c, name, &d);
    spvf_context_destroy(c);
    return d;
}

static bool launch(spvf_queue *q, spvf_program *p, spvf_buffer *b, uint32_t n) {
    const spvf_argument args[] = {{.buffer = b}, {.bytes = &n, .size = sizeof n}};
    const spvf_launch what = {.size = sizeof what,
                              .program = p,
                              .kernel = "mix",
                              .range = {.dims = 1, .global = {ITEMS}},
                              .args = args,
                              .arg_count = 2};
    return spvf_queue_launch(q, &what, NULL, NULL) == SPVF_OK;
}

/* Launches, which have not ended when it returns if the program is destroyed before. */
static bool use_program(spvf_device *d, spvf_program *p, unsigned launches, bool destroys) {
    uint32_t result[ITEMS], n = 8 - launches % 4; /* 5 to 8 */
    spvf_queue *q;
    spvf_buffer *b;
    bool ok = spvf_queue_create(d, NULL, &q) == SPVF_OK &&
              spvf_buffer_create(d, sizeof result, result, SPVF_USE_HOST, &b) == SPVF_OK;
    for (unsigned k = 0; ok && k < launches; k++) ok = launch(q, p, b, n);
    if (destroys) spvf_program_destroy(p);
    ok = ok && spvf_queue_finish(q) == SPVF_OK;
    for (uint32_t k = 0; ok && launches && k < ITEMS; k++) ok = result[k] == mix(k, n);
    spvf_buffer_destroy(b);
    spvf_queue_destroy(q);
    return ok;
}

/* By turns a program of its own, a device of its own with one, and the program of all. */
static void *use_programs(void *arg) {
    unsigned seed = (unsigned)(uintptr_t)arg;
    for (int k = 0; k < ROUNDS; k++) {
        unsigned launches = (unsigned)rand_r(&seed) % MOST_LAUNCHES;
        spvf_device *own = k % 3 == 1 ? new_device("cpu") : NULL, *d = own ? own : device;
        spvf_program *p = k % 3 == 2 ? program : new_program(d);
        wrong += !p || !use_program(d, p, launches, p != program);
        spvf_device_destroy(own);
    }
    return NULL;
}

static bool share_device(void) {
    pthread_t t[THREADS];
    device = new_device("cpu");
    program = device ? new_program(device) : NULL;
    if (!program) return false;
    for (uintptr_t k = 0; k < THREADS; k++) pthread_create(&t[k], NULL, use_programs, (void *)k);
    for (unsigned k = 0; k < THREADS; k++) pthread_join(t[k], NULL);
    spvf_program_destroy(program);
    spvf_device_destroy(device);
    return !wrong;
}

/* Few launches, whose code is made quickly: how many kinds of code there are after a while, in which
 * no other launch can have made one. */
static bool has_code(const char *name, unsigned kinds, int ms) {
    spvf_device *d = new_device(name);
    spvf_program *p = d ? new_program(d) : NULL;
    const _Atomic uint64_t *variants = d ? &d->shared.base->code.variants : NULL;
    bool ok = p && use_program(d, p, 1, false) && *variants >= 1;
    for (int k = 0; ok && k < ms && *variants < 2; k++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ok = ok && *variants == kinds && use_program(d, p, 1, false);
    spvf_program_destroy(p);
    spvf_device_destroy(d);
    return ok;
}

/* A child of a process in which code is being made goes on, and so does the process. */
static bool fork_amid(void) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    return true; /* their own locks may be taken for ever in the child */
#else
    spvf_device *d = new_device("cpu");
    bool ok = d;
    for (int k = 0; ok && k < CHILDREN; k++) {
        spvf_program *p = new_program(d);
        int status = 1;
        ok = p && use_program(d, p, 1, false);
        pid_t child = fork();
        if (child == 0) _exit(!use_program(d, p, 3, true));
        ok = ok && child > 0 && waitpid(child, &status, 0) == child && status == 0;
        ok = use_program(d, p, 3, true) && ok;
    }
    spvf_device_destroy(d);
    return ok;
#endif
}

int main(void) {
    int passed = 0;
    if (strcmp(spvf_default_device(NULL), "cpu") != 0) return 0;
    setenv("SPVFUSE_THREADS", "4", 1);
    passed += share_device();
    passed += has_code("cpu:without=values", 2, 10000);
    passed += has_code("cpu:without=values,waiting", 1, 50);
    passed += fork_amid();
    printf("code for later launches: %d passed, %d failed\n", passed, 4 - passed);
    return passed != 4;
}
