/* threads.c — launches from eight threads, each with a queue and buffers of its own. */
#include "tests/device/device.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 200, ITEMS = 10000 };

static const char text[] = "target 64\n"
                           "kernel @k(%x: ptr.global of i32, %by: i32) {\n"
                           "entry:\n"
                           "  %i: i64 = global_id 0\n"
                           "  %o: i64 = shl %i, 2\n"
                           "  %p: ptr.global = ptradd %x, %o inbounds\n"
                           "  %v: i32 = load %p align 4\n"
                           "  %w: i32 = add %v, %by\n"
                           "  store %w, %p align 4\n"
                           "  ret\n"
                           "}\n";

typedef struct {
    spvf_device *device;
    spvf_program *program;
    int32_t by;
    bool ok;
} worker;

static bool run_all(worker *w, spvf_queue *q, spvf_buffer *x, int32_t *values) {
    const spvf_argument args[] = {{.buffer = x}, {.bytes = &w->by, .size = sizeof w->by}};
    const spvf_launch l = {.size = sizeof l,
                           .program = w->program,
                           .kernel = "k",
                           .range = {.dims = 1, .global = {ITEMS}},
                           .args = args,
                           .arg_count = 2};
    bool ok = true;
    for (unsigned n = 0; n < ROUNDS; n++) ok &= spvf_queue_launch(q, &l, NULL, NULL) == SPVF_OK;
    ok &= spvf_queue_read(q, x, 0, values, ITEMS * 4, NULL, NULL) == SPVF_OK &&
          spvf_queue_finish(q) == SPVF_OK;
    for (int32_t n = 0; n < ITEMS; n++) ok &= values[n] == n + w->by * ROUNDS;
    return ok;
}

static void *work(void *arg) {
    const spvf_queue_options o = {.size = sizeof o};
    worker *w = arg;
    spvf_queue *q = NULL;
    spvf_buffer *x = NULL;
    int32_t *values = malloc(ITEMS * sizeof *values);
    for (int32_t n = 0; values && n < ITEMS; n++) values[n] = n;
    w->ok = values && spvf_queue_create(w->device, &o, &q) == SPVF_OK &&
            spvf_buffer_create(w->device, ITEMS * 4, values, SPVF_COPY_HOST, &x) == SPVF_OK &&
            run_all(w, q, x, values);
    if (q) spvf_queue_destroy(q);
    if (x) spvf_buffer_destroy(x);
    free(values);
    return NULL;
}

void dt_threads(device_test *t) {
    pthread_t thread[THREADS];
    worker w[THREADS] = {{NULL}};
    spvf_device *d = NULL;
    spvf_module *m = NULL;
    spvf_program *p = NULL;
    bool ok = spvf_device_open(t->context, t->name, &d) == SPVF_OK &&
              spvf_module_load(t->context, "k.ir", text, strlen(text), NULL, &m) == SPVF_OK &&
              spvf_program_create(d, m, &p) == SPVF_OK;
    dt_check(t, ok, "threads: a program");
    for (int n = 0; ok && n < THREADS; n++) {
        w[n] = (worker){d, p, n + 1, false};
        if (pthread_create(&thread[n], NULL, work, &w[n])) abort();
    }
    for (int n = 0; ok && n < THREADS; n++) {
        pthread_join(thread[n], NULL);
        dt_check(t, w[n].ok, "threads: number %d", n);
    }
    if (p) spvf_program_destroy(p);
    if (m) spvf_module_destroy(m);
    if (d) spvf_device_destroy(d);
}
