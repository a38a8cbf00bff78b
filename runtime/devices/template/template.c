/* template.c — the smallest device that runs commands asynchronously.
 *
 * Submitting only puts commands into a list.  A thread of the device runs them, one submission
 * after the other, and calls back when each has ended.  A real device has a processor in place of
 * the thread, which tells of the end by an interrupt or a callback of its driver.
 *
 * Memory, programs and launches are those of a device `cpu`, which everything is passed on to.
 * Still, memory is the device's: only commands reach it, unless the device is opened as "host".
 */
#include "runtime/devices/template/template.h"

#include <stdlib.h>

typedef struct pending pending;
struct pending {
    rt_submission *submission;
    pending *next;
};

typedef struct {
    rt_device base; /* the first member */
    rt_device *cpu;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t change;
    pending *first, **end; /* a list */
    unsigned waiting;      /* its length */
    bool held, refuses, closing;
    template_facts facts;
} template_device;

static template_device *template_of(rt_device *d) { return (template_device *)d; }

/* ---------------------------------------------------------------------------------- submissions */

typedef struct {
    rt_device *cpu;
    rt_submission own;
} passing_on;

static void submit_to_cpu(void *arg) {
    passing_on *p = arg;
    p->cpu->driver->submit(p->cpu, &p->own);
}

/* The context of the submission is another thread's: commands run in a context of this one. */
static void execute(template_device *d, rt_submission *s) {
    char why[RT_CAUGHT_SIZE] = "";
    spvf_context c;
    rt_context_init(&c, &(spvf_context_options){.size = sizeof(spvf_context_options)});
    c.caught = why;
    passing_on p = {d->cpu, {.context = &c, .commands = s->commands, .count = s->count}};
    bool ok = ir_try(&c.cx, submit_to_cpu, &p);
    s->ended(s, ok ? IR_OK : c.cx.status, why);
}

/* With the lock held. */
static rt_submission *take(template_device *d) {
    pending *p = d->first;
    rt_submission *s = p->submission;
    d->first = p->next;
    if (!d->first) d->end = &d->first;
    d->waiting--;
    free(p);
    return s;
}

static void *work(void *arg) {
    template_device *d = arg;
    pthread_mutex_lock(&d->lock);
    while (!d->closing || d->first) {
        if (d->held || !d->first) {
            pthread_cond_wait(&d->change, &d->lock);
            continue;
        }
        rt_submission *s = take(d);
        pthread_mutex_unlock(&d->lock);
        execute(d, s);
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static rt_progress submit(rt_device *device, rt_submission *s) {
    template_device *d = template_of(device);
    pending *p = malloc(sizeof *p);
    if (!p) ir_throw(&s->context->cx, IR_ERR_MEMORY);
    *p = (pending){s, NULL};
    pthread_mutex_lock(&d->lock);
    bool refuses = d->refuses;
    if (!refuses) {
        *d->end = p;
        d->end = &p->next;
        d->facts.submissions++;
        if (++d->waiting > d->facts.most) d->facts.most = d->waiting;
        pthread_cond_signal(&d->change);
    }
    pthread_mutex_unlock(&d->lock);
    if (!refuses) return RT_PENDING;
    free(p);
    rt_throw(s->context, IR_ERR_DEVICE, "device template refuses commands");
}

/* -------------------------------------------------------------------------- memory and programs */

static rt_memory *allocate(rt_device *d, const char *name, uint64_t bytes, const void *data) {
    rt_device *cpu = template_of(d)->cpu;
    return cpu->driver->allocate(cpu, name, bytes, data);
}

static rt_memory *wrap(rt_device *d, void *host, uint64_t bytes) {
    rt_device *cpu = template_of(d)->cpu;
    return cpu->driver->wrap(cpu, host, bytes);
}

static void *address(const rt_memory *m) { return rt_cpu_driver.address(m); }

static uint64_t size_of(const rt_memory *m) { return rt_cpu_driver.size(m); }

static const ir_func *kernel_of(const rt_function *f) { return rt_cpu_driver.kernel(f); }

static void release(rt_device *d, rt_memory *m) {
    rt_device *cpu = template_of(d)->cpu;
    cpu->driver->release(cpu, m);
}

static rt_program *build(rt_device *d, const ir_module *m) {
    rt_device *cpu = template_of(d)->cpu;
    return cpu->driver->build(cpu, m);
}

static rt_function *find(rt_device *d, rt_program *p, const char *kernel) {
    rt_device *cpu = template_of(d)->cpu;
    return cpu->driver->find(cpu, p, kernel);
}

static const char *name_of(const rt_function *f) { return rt_cpu_driver.name_of(f); }

static void discard(rt_device *d, rt_program *p) {
    rt_device *cpu = template_of(d)->cpu;
    cpu->driver->discard(cpu, p);
}

/* ----------------------------------------------------------------------------- opening, closing */

static void set(rt_device *device, bool *flag, bool value) {
    template_device *d = template_of(device);
    pthread_mutex_lock(&d->lock);
    *flag = value;
    pthread_cond_signal(&d->change);
    pthread_mutex_unlock(&d->lock);
}

void template_hold(rt_device *d, bool held) { set(d, &template_of(d)->held, held); }

void template_refuse(rt_device *d, bool refuses) { set(d, &template_of(d)->refuses, refuses); }

unsigned template_pending(rt_device *device) {
    template_device *d = template_of(device);
    pthread_mutex_lock(&d->lock);
    unsigned n = d->waiting;
    pthread_mutex_unlock(&d->lock);
    return n;
}

template_facts template_facts_of(rt_device *device) {
    template_device *d = template_of(device);
    pthread_mutex_lock(&d->lock);
    template_facts f = d->facts;
    pthread_mutex_unlock(&d->lock);
    return f;
}

/* What has been submitted is run first. */
static void close_device(rt_device *device) {
    template_device *d = template_of(device);
    template_hold(device, false);
    set(device, &d->closing, true);
    pthread_join(d->facts.thread, NULL);
    rt_device_close(d->cpu);
    pthread_cond_destroy(&d->change);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static const spvf_capabilities capabilities = {
    .serial = true, .atomics64 = true, .offsets = true, .in_order = true, .subgroup_size = 1};

static void begin(void *arg) {
    template_device *d = arg;
    spvf_context *c = d->base.context;
    d->cpu = rt_device_open(c, "cpu");
    if (pthread_create(&d->facts.thread, NULL, work, d) == 0) return;
    rt_device_close(d->cpu);
    rt_throw(c, IR_ERR_DEVICE, "device template: no thread can be started");
}

rt_device *template_open(spvf_context *context, const char *options) {
    bool host = options && strcmp(options, "host") == 0;
    bool unordered = options && strcmp(options, "unordered") == 0;
    if (options && !host && !unordered) return NULL;
    template_device *d = calloc(1, sizeof *d);
    if (!d) ir_throw(&context->cx, IR_ERR_MEMORY);
    d->base = (rt_device){.driver = &rt_template_driver, .context = context, .can = capabilities};
    d->base.can.host_memory = host;
    d->base.can.in_order = !unordered;
    d->end = &d->first;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->change, NULL);
    if (ir_try(&context->cx, begin, d)) return &d->base;
    pthread_cond_destroy(&d->change);
    pthread_mutex_destroy(&d->lock);
    free(d);
    ir_throw(&context->cx, context->cx.status);
}

static void list_devices(spvf_context *context,
                         void (*each)(void *user, const spvf_device_info *info), void *user) {
    const spvf_device_info info = {.name = "template",
                                   .description = "commands run later, on device cpu",
                                   .takes_spirv = true,
                                   .usable = true,
                                   .can = &capabilities,
                                   .sizes = &rt_no_sizes};
    (void)context;
    each(user, &info);
}

const rt_driver rt_template_driver = {.name = "template",
                                      .forms = "template, template:host, template:unordered",
                                      .open = template_open,
                                      .list = list_devices,
                                      .close = close_device,
                                      .allocate = allocate,
                                      .wrap = wrap,
                                      .address = address,
                                      .release = release,
                                      .build = build,
                                      .size = size_of,
                                      .find = find,
                                      .name_of = name_of,
                                      .kernel = kernel_of,
                                      .discard = discard,
                                      .submit = submit};
