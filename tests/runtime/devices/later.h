/* later.h — a device that runs nothing when it is asked to: submissions are pending until a thread
 * of the device has run them, one after the other, as another processor would.
 *
 * Kernels run on device cpu.  Its memory is its own: only commands reach it, unless the device is
 * opened as "host".  Opened as "unordered", it does not promise to keep commands in order.  A test
 * can hold the thread back, and let it go on. */
#ifndef TESTS_RUNTIME_LATER_H
#define TESTS_RUNTIME_LATER_H

#include "runtime/devices/device.h"
#include "runtime/system/lock.h"

#include <stdlib.h>

enum { MOST_PENDING = 1024 };

typedef struct {
    rt_device base;
    rt_device *cpu;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    rt_submission *pending[MOST_PENDING]; /* a ring */
    unsigned begin, end;
    bool held, closing;
    bool refuses; /* submissions fail at once */
    unsigned submissions, most_at_once;
} later_device;

static inline later_device *later_of(rt_device *d) { return (later_device *)d; }

typedef struct {
    rt_device *cpu;
    rt_submission what;
} later_run;

static inline void later_submit_to_cpu(void *arg) {
    later_run *r = arg;
    r->cpu->driver->submit(r->cpu, &r->what);
}

static inline void later_execute(later_device *d, rt_submission *s) {
    char why[RT_CAUGHT_SIZE] = "";
    spvf_context c;
    const spvf_context_options o = {.size = sizeof o};
    rt_context_init(&c, &o);
    c.caught = why;
    later_run r = {d->cpu, {.context = &c, .commands = s->commands, .count = s->count}};
    s->ended(s, ir_try(&c.cx, later_submit_to_cpu, &r) ? IR_OK : c.cx.status, why);
}

static inline void *later_work(void *arg) {
    later_device *d = arg;
    pthread_mutex_lock(&d->lock);
    while (!d->closing || d->begin != d->end) {
        if (d->held || d->begin == d->end) {
            pthread_cond_wait(&d->change, &d->lock);
            continue;
        }
        rt_submission *s = d->pending[d->begin++ % MOST_PENDING];
        pthread_mutex_unlock(&d->lock);
        later_execute(d, s);
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static inline void later_hold(rt_device *d, bool held) {
    pthread_mutex_lock(&later_of(d)->lock);
    later_of(d)->held = held;
    pthread_cond_signal(&later_of(d)->change);
    pthread_mutex_unlock(&later_of(d)->lock);
}

static inline rt_progress later_submit(rt_device *device, rt_submission *s) {
    later_device *d = later_of(device);
    if (d->refuses) rt_throw(s->context, IR_ERR_DEVICE, "later: refused");
    pthread_mutex_lock(&d->lock);
    d->pending[d->end++ % MOST_PENDING] = s;
    d->submissions++;
    if (d->end - d->begin > d->most_at_once) d->most_at_once = d->end - d->begin;
    pthread_cond_signal(&d->change);
    pthread_mutex_unlock(&d->lock);
    return RT_PENDING;
}

static inline rt_memory *later_allocate(rt_device *d, const char *name, uint64_t bytes,
                                        const void *data) {
    rt_device *cpu = later_of(d)->cpu;
    return cpu->driver->allocate(cpu, name, bytes, data);
}

static inline void later_release(rt_device *d, rt_memory *m) {
    rt_device *cpu = later_of(d)->cpu;
    cpu->driver->release(cpu, m);
}

static inline rt_memory *later_wrap(rt_device *d, void *host, uint64_t bytes) {
    rt_device *cpu = later_of(d)->cpu;
    return cpu->driver->wrap(cpu, host, bytes);
}

static inline void *later_address(const rt_memory *m) { return rt_cpu_driver.address(m); }

static inline rt_program *later_build(rt_device *d, const ir_module *m) {
    rt_device *cpu = later_of(d)->cpu;
    return cpu->driver->build(cpu, m);
}

static inline rt_function *later_find(rt_device *d, rt_program *p, const char *name) {
    rt_device *cpu = later_of(d)->cpu;
    return cpu->driver->find(cpu, p, name);
}

static inline void later_discard(rt_device *d, rt_program *p) {
    rt_device *cpu = later_of(d)->cpu;
    cpu->driver->discard(cpu, p);
}

static inline void later_close(rt_device *device) {
    later_device *d = later_of(device);
    pthread_mutex_lock(&d->lock);
    d->closing = true;
    d->held = false;
    pthread_cond_signal(&d->change);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    rt_device_close(d->cpu);
    free(d);
}

static const rt_driver later_driver = {.name = "later",
                                       .close = later_close,
                                       .allocate = later_allocate,
                                       .release = later_release,
                                       .build = later_build,
                                       .find = later_find,
                                       .discard = later_discard,
                                       .submit = later_submit};

static const rt_driver later_host_driver = {.name = "host",
                                            .close = later_close,
                                            .allocate = later_allocate,
                                            .wrap = later_wrap,
                                            .address = later_address,
                                            .release = later_release,
                                            .build = later_build,
                                            .find = later_find,
                                            .discard = later_discard,
                                            .submit = later_submit};

static inline rt_device *later_open(spvf_context *context, const char *name) {
    later_device *d = calloc(1, sizeof *d);
    bool host = strcmp(name, "host") == 0;
    if (!d) ir_throw(&context->cx, IR_ERR_MEMORY);
    d->base = (rt_device){.driver = host ? &later_host_driver : &later_driver,
                          .context = context,
                          .can = {.serial = true,
                                  .offsets = true,
                                  .host_memory = host,
                                  .in_order = strcmp(name, "unordered") != 0}};
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->change, NULL);
    d->cpu = rt_device_open(context, "cpu");
    pthread_create(&d->thread, NULL, later_work, d);
    return &d->base;
}

#endif
