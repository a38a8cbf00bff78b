/* launches.c — kernels that run.
 *
 * A command has a copy of the arguments.  Device cpu is given addresses, other devices their
 * memory; what a buffer is offset by only device cpu can add.
 */
#include "runtime/queue/objects.h"

#include <stdlib.h>

enum { VALUE_ALIGN = 128 };

typedef struct {
    spvf_event event; /* the first member */
    spvf_program *program;
    const spvf_kernel_info *info;
    spvf_range range;
    rt_arg *args;
    rt_memory *shifted; /* buffers from their offsets on */
    unsigned char *values;
} launch;

/* ------------------------------------------------------------------------------------ execution */

/* What device check reports has been said; the launch has failed all the same. */
static void launch_there(void *arg) {
    const launch *l = arg;
    rt_device *d = l->event.device->base;
    uint64_t reports = d->counts.reports;
    d->launch(d, l->program->program, l->info->name, &l->range, l->args, l->info->arg_count);
    if (d->counts.reports != reports) ir_throw(&d->context->cx, IR_ERR_INPUT);
}

/* On device cpu a thread launches without the device's lock, in a context of its own; but programs
 * look for their kernels with the lock. */
typedef struct {
    const spvf_program *program;
    const char *name;
    cpu_kernel *found;
} search;

static void find_kernel(void *arg) {
    search *s = arg;
    s->found = cpu_find_kernel(s->program->program, s->name);
}

static cpu_kernel *find_kernel_for(spvf_context *c, const spvf_program *p, const char *name) {
    search s = {p, name, NULL};
    dev_run_for(c, p->device, find_kernel, &s);
    return s.found;
}

typedef struct {
    const launch *launch;
    spvf_context context;
} attempt;

static void launch_here(void *arg) {
    attempt *a = arg;
    const launch *l = a->launch;
    const cpu_launch what = {.cx = &a->context.cx,
                             .machine = l->event.device->machine,
                             .kernel = find_kernel_for(&a->context, l->program, l->info->name),
                             .range = &l->range,
                             .args = l->args,
                             .count = l->info->arg_count,
                             .output = dev_print,
                             .output_user = l->event.device};
    cpu_run_launch(&what);
}

static int32_t run(rt_event *e) {
    launch *l = (launch *)e;
    spvf_device *d = l->event.device;
    if (!d->machine) return cmd_result(dev_run(d, launch_there, l));
    attempt a = {.launch = l};
    dev_context(d, &a.context);
    return cmd_result(rt_guard(&a.context, launch_here, &a));
}

static void drop(spvf_event *e) { prog_release(((launch *)e)->program); }

/* ---------------------------------------------------------------------------------- preparation */

/* Arguments of a launch that does not happen yet. */
typedef struct {
    const spvf_launch *launch;
    rt_arg *args;
    rt_memory nowhere; /* any buffer on device cpu: only what is not in it is looked at */
    bool known;        /* all buffers are somewhere */
} preparation;

static rt_memory *memory_of(preparation *p, const spvf_buffer *b) {
    return b->device->machine ? &p->nowhere : b->memory;
}

static void take_args(preparation *p) {
    const spvf_launch *w = p->launch;
    p->known = true;
    for (size_t n = 0; n < w->arg_count; n++) {
        const spvf_argument *a = &w->args[n];
        rt_memory *memory = a->buffer ? memory_of(p, a->buffer) : NULL;
        p->args[n] = (rt_arg){.buffer = memory, .bytes = a->bytes, .size = a->size};
        p->known &= !a->buffer || memory;
    }
}

static void prepare_there(void *arg) {
    preparation *p = arg;
    const spvf_launch *w = p->launch;
    rt_device *d = w->program->device->base;
    take_args(p);
    if (d->prepare && p->known)
        d->prepare(d, w->program->program, w->kernel, &w->range, p->args, w->arg_count);
}

static void prepare_here(spvf_context *c, preparation *p) {
    const spvf_launch *w = p->launch;
    const cpu_launch what = {.cx = &c->cx,
                             .machine = w->program->device->machine,
                             .kernel = find_kernel_for(c, w->program, w->kernel),
                             .range = &w->range,
                             .args = p->args,
                             .count = w->arg_count};
    take_args(p);
    cpu_prepare_launch(&what);
}

void launch_prepare(spvf_context *c, const spvf_launch *w, ir_arena *scratch) {
    spvf_device *d = w->program->device;
    preparation p = {.launch = w, .args = ir_new_array(scratch, rt_arg, w->arg_count)};
    if (d->machine)
        prepare_here(c, &p);
    else
        dev_run_for(c, d, prepare_there, &p);
}

/* ------------------------------------------------------------------------------------ arguments */

static size_t aligned(size_t at) { return (at + VALUE_ALIGN - 1) / VALUE_ALIGN * VALUE_ALIGN; }

/* What a launch is refused for. */
typedef struct {
    spvf_device *device;
    const char *call;
    const spvf_launch *launch;
    const spvf_kernel_info *info;
} checking;

IR_PRINTF(3, 4)
static spvf_status refuse_arg(const checking *c, size_t n, const char *fmt, ...) {
    char text[300];
    const char *name = c->info->args[n].name;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return dev_refuse(c->device, c->call, "kernel '%s', argument %zu%s%s%s: %s", c->launch->kernel,
                      n, name ? " (" : "", name ? name : "", name ? ")" : "", text);
}

static spvf_status check_buffer(const checking *c, size_t n) {
    const spvf_argument *a = &c->launch->args[n];
    if (!a->buffer) return refuse_arg(c, n, "takes a buffer, which is NULL");
    if (a->bytes) return refuse_arg(c, n, "takes a buffer, and is given bytes as well");
    if (a->buffer->device != c->device) return refuse_arg(c, n, "the buffer is of another device");
    if (a->offset > a->buffer->size)
        return refuse_arg(c, n, "offset %zu is not in the buffer, which has %zu bytes", a->offset,
                          a->buffer->size);
    if (a->offset && !c->device->machine)
        return refuse_arg(c, n, "this device takes no offset but 0");
    return SPVF_OK;
}

static spvf_status check_value(const checking *c, size_t n) {
    const spvf_argument *a = &c->launch->args[n];
    size_t size = (size_t)c->info->args[n].size;
    if (a->buffer) return refuse_arg(c, n, "takes a value, and is given a buffer");
    if (!a->bytes) return refuse_arg(c, n, "takes a value, and bytes is NULL");
    if (a->size != size)
        return refuse_arg(c, n, "takes a value of %zu bytes, and is given %zu", size, a->size);
    return SPVF_OK;
}

static spvf_status check_local(const checking *c, size_t n) {
    const spvf_argument *a = &c->launch->args[n];
    if (a->buffer || a->bytes)
        return refuse_arg(c, n, "takes local memory, and is given %s",
                          a->buffer ? "a buffer" : "a value");
    return a->size ? SPVF_OK : refuse_arg(c, n, "takes local memory, and size is 0");
}

static spvf_status check_arg(const checking *c, size_t n) {
    switch (c->info->args[n].kind) {
    case SPVF_ARG_BUFFER: return check_buffer(c, n);
    case SPVF_ARG_LOCAL: return check_local(c, n);
    case SPVF_ARG_VALUE: return check_value(c, n);
    default: return refuse_arg(c, n, "images and samplers are not supported");
    }
}

static spvf_status check_range(const checking *c) {
    const spvf_range *r = &c->launch->range;
    uint32_t sizes = 0;
    if (r->dims < 1 || r->dims > 3)
        return dev_refuse(c->device, c->call, "range: 1 to 3 dimensions, not %u", r->dims);
    for (uint32_t d = 0; d < r->dims; d++) sizes += r->local[d] != 0;
    if (sizes == 0 || sizes == r->dims) return SPVF_OK;
    return dev_refuse(c->device, c->call, "range: a local size is 0 where another one is not");
}

static spvf_status check_kernel(const checking *c) {
    const spvf_launch *w = c->launch;
    if (!w->program || !w->kernel)
        return dev_refuse(c->device, c->call, "%s is NULL", w->program ? "kernel" : "program");
    if (w->program->device != c->device)
        return dev_refuse(c->device, c->call, "program is of another device");
    if (!c->info)
        return dev_refuse(c->device, c->call, "the program has no kernel '%s'", w->kernel);
    if (w->arg_count != c->info->arg_count)
        return dev_refuse(c->device, c->call, "kernel '%s' takes %zu arguments, not %zu", w->kernel,
                          c->info->arg_count, w->arg_count);
    if (w->arg_count && !w->args)
        return dev_refuse(c->device, c->call, "%zu arguments at NULL", w->arg_count);
    return check_range(c);
}

spvf_status launch_check(spvf_device *d, const char *call, const spvf_launch *w) {
    const checking c = {d, call, w, spvf_program_kernel(w->program, w->kernel)};
    spvf_status status = check_kernel(&c);
    for (size_t n = 0; status == SPVF_OK && n < w->arg_count; n++) status = check_arg(&c, n);
    return status;
}

static bool prepare(const spvf_launch *w) {
    for (size_t n = 0; n < w->arg_count; n++)
        if (w->args[n].buffer && buf_prepare(w->args[n].buffer) != SPVF_OK) return false;
    return true;
}

static size_t value_bytes(const spvf_launch *w) {
    size_t bytes = 0;
    for (size_t n = 0; n < w->arg_count; n++)
        if (w->args[n].bytes) bytes += aligned(w->args[n].size);
    return bytes;
}

static rt_memory *shift(launch *l, size_t n, const spvf_argument *a) {
    if (!a->offset) return a->buffer->memory;
    char *bytes = a->buffer->host.bytes;
    l->shifted[n] = (rt_memory){bytes + a->offset, a->buffer->size - a->offset};
    return &l->shifted[n];
}

static void copy_args(launch *l, const spvf_launch *w) {
    size_t at = 0;
    for (size_t n = 0; n < w->arg_count; n++) {
        const spvf_argument *a = &w->args[n];
        rt_arg *to = &l->args[n];
        to->size = a->size;
        if (a->buffer) {
            to->buffer = shift(l, n, a);
            cmd_use(&l->event, a->buffer, !l->info->args[n].read_only);
        } else if (a->bytes) {
            to->bytes = memcpy(l->values + at, a->bytes, a->size);
            at += aligned(a->size);
        }
    }
}

/* Arguments and values follow the command. */
static launch *new_launch(spvf_queue *q, const spvf_launch *w, const spvf_kernel_info *info) {
    size_t args = sizeof(launch), shifted = args + w->arg_count * sizeof(rt_arg);
    size_t end = shifted + w->arg_count * sizeof(rt_memory);
    size_t size = end + VALUE_ALIGN + value_bytes(w);
    launch *l = (launch *)cmd_new(q, size, (uint32_t)w->arg_count, run);
    if (!l) return NULL;
    l->program = w->program;
    l->info = info;
    l->range = w->range;
    l->args = (rt_arg *)(void *)((char *)l + args);
    l->shifted = (rt_memory *)(void *)((char *)l + shifted);
    l->values = (unsigned char *)aligned((uintptr_t)l + end);
    l->event.drop = drop;
    prog_retain(w->program);
    copy_args(l, w);
    return l;
}

spvf_status spvf_queue_launch(spvf_queue *q, const spvf_launch *w, const spvf_wait *wait,
                              spvf_event **out) {
    if (out) *out = NULL;
    if (!q || !w)
        return dev_refuse(q ? q->device : NULL, __func__, "%s is NULL", q ? "what" : "queue");
    spvf_status status = launch_check(q->device, __func__, w);
    if (status == SPVF_OK) status = cmd_check_wait(q->device, __func__, wait);
    if (status != SPVF_OK) return status;
    fus_need_foreign(q->device, wait);
    fus_begin(q->device);
    bool taken = fus_take(q, w, wait, out, &status);
    fus_end(q->device);
    if (taken) return status;
    if (!prepare(w)) return SPVF_ERROR_MEMORY;
    launch *l = new_launch(q, w, spvf_program_kernel(w->program, w->kernel));
    return l ? cmd_submit(&l->event, RT_ENQUEUE_COMMAND, wait, out) : SPVF_ERROR_MEMORY;
}
