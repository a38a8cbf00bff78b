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

static void launch_there(void *arg) {
    const launch *l = arg;
    rt_device *d = l->event.device->base;
    d->launch(d, l->program->program, l->info->name, &l->range, l->args, l->info->arg_count);
}

typedef struct {
    launch *launch;
    spvf_context context;
    cpu_kernel *kernel;
} attempt;

static void find_kernel(void *arg) {
    attempt *a = arg;
    a->kernel = cpu_find_kernel(a->launch->program->program, a->launch->info->name);
}

static void launch_here(void *arg) {
    attempt *a = arg;
    const launch *l = a->launch;
    const cpu_launch what = {.cx = &a->context.cx,
                             .machine = l->event.device->machine,
                             .kernel = a->kernel,
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
    attempt a = {.launch = l};
    if (!d->machine) return cmd_result(dev_run(d, launch_there, l));
    spvf_status status = dev_run(d, find_kernel, &a);
    dev_context(d, &a.context);
    if (status == SPVF_OK) status = rt_guard(&a.context, launch_here, &a);
    return cmd_result(status);
}

static void drop(spvf_event *e) { prog_release(((launch *)e)->program); }

/* ------------------------------------------------------------------------------------ arguments */

static size_t aligned(size_t at) { return (at + VALUE_ALIGN - 1) / VALUE_ALIGN * VALUE_ALIGN; }

static bool fits(const spvf_arg_info *info, const spvf_argument *a, const spvf_device *d) {
    switch (info->kind) {
    case SPVF_ARG_BUFFER:
        return a->buffer && !a->bytes && a->buffer->device == d && a->offset <= a->buffer->size &&
               (!a->offset || d->machine);
    case SPVF_ARG_LOCAL: return !a->buffer && !a->bytes && a->size;
    case SPVF_ARG_VALUE: return !a->buffer && a->bytes && a->size == info->size;
    default: return false;
    }
}

bool launch_is_right(const spvf_device *d, const spvf_launch *w) {
    const spvf_kernel_info *info = spvf_program_kernel(w->program, w->kernel);
    if (!info || w->program->device != d || w->arg_count != info->arg_count) return false;
    if (w->arg_count && !w->args) return false;
    for (size_t n = 0; n < w->arg_count; n++)
        if (!fits(&info->args[n], &w->args[n], d)) return false;
    return true;
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

/* Arguments and values stand behind the command. */
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
    if (!q || !w || !cmd_wait_is_right(wait) || !launch_is_right(q->device, w))
        return SPVF_ERROR_ARGUMENT;
    spvf_status status;
    fus_begin(q->device);
    bool taken = fus_take(q, w, wait, out, &status);
    fus_end(q->device);
    if (taken) return status;
    if (!prepare(w)) return SPVF_ERROR_MEMORY;
    launch *l = new_launch(q, w, spvf_program_kernel(w->program, w->kernel));
    return l ? cmd_submit(&l->event, RT_ENQUEUE_COMMAND, wait, out) : SPVF_ERROR_MEMORY;
}
