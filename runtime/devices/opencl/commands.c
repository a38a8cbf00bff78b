/* commands.c — what the device `opencl` runs.
 *
 * The commands of a submission are enqueued in order, without waiting, and the event of a marker
 * after them tells of their end.
 */
#include "runtime/devices/opencl/opencl.h"

#include <stdlib.h>

/* ----------------------------------------------------------------------------- copies and fills */

typedef struct {
    opencl *device;
    const rt_copy *what;
} copying;

static void copy_row(void *user, uint64_t to_row, uint64_t from_row) {
    const copying *c = user;
    opencl *o = c->device;
    const rt_box *to = &c->what->to, *from = &c->what->from;
    size_t size = c->what->region[0];
    if (to->memory && from->memory)
        opencl_must(o, "clEnqueueCopyBuffer",
                    o->cl.clEnqueueCopyBuffer(o->queue, from->memory->mem, to->memory->mem,
                                              from->offset + from_row, to->offset + to_row, size, 0,
                                              NULL, NULL));
    else if (to->memory)
        opencl_must(o, "clEnqueueWriteBuffer",
                    o->cl.clEnqueueWriteBuffer(o->queue, to->memory->mem, CL_FALSE,
                                               to->offset + to_row, size, from->bytes + from_row, 0,
                                               NULL, NULL));
    else
        opencl_must(o, "clEnqueueReadBuffer",
                    o->cl.clEnqueueReadBuffer(o->queue, from->memory->mem, CL_FALSE,
                                              from->offset + from_row, size, to->bytes + to_row, 0,
                                              NULL, NULL));
}

static void copy(opencl *o, const rt_copy *what) {
    if (what->region[0]) rt_each_row(what, copy_row, &(copying){o, what});
}

/* Patterns may have sizes that clEnqueueFillBuffer does not take. */
static void fill(opencl *o, const rt_fill *f) {
    char *bytes = malloc(f->size + f->pattern_size);
    if (!bytes) ir_throw(&o->base.context->cx, IR_ERR_MEMORY);
    rt_repeat_pattern(bytes, f);
    cl_int error = o->cl.clEnqueueWriteBuffer(o->queue, f->to.memory->mem, CL_TRUE, f->to.offset,
                                              f->size, bytes, 0, NULL, NULL);
    free(bytes);
    opencl_must(o, "clEnqueueWriteBuffer", error);
}

/* ------------------------------------------------------------------------------------- launches */

static void check_local(const opencl *o, const rt_arg *args, size_t count) {
    uint64_t left = o->local_memory;
    for (size_t i = 0; i < count; i++) {
        if (args[i].kind != RT_ARG_LOCAL) continue;
        if (args[i].size > left)
            rt_throw(o->base.context, IR_ERR_DEVICE,
                     "opencl: kernel '%s': argument %zu has more local memory than the device, "
                     "which has %llu bytes for a work-group",
                     o->kernel, i, (unsigned long long)o->local_memory);
        left -= args[i].size;
    }
}

/* Where the value is; of local memory there is none. */
static const void *value_of(const rt_arg *a) {
    static const cl_mem null;
    if (a->kind == RT_ARG_MEMORY) return a->memory ? &a->memory->mem : &null;
    return a->kind == RT_ARG_VALUE ? a->bytes : NULL;
}

static void set_args(opencl *o, cl_kernel k, const rt_arg *args, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const rt_arg *a = &args[i];
        size_t size = a->kind == RT_ARG_MEMORY ? sizeof(cl_mem) : a->size;
        opencl_must(o, "clSetKernelArg", o->cl.clSetKernelArg(k, (cl_uint)i, size, value_of(a)));
    }
}

static void launch(opencl *o, const rt_launch *l) {
    const spvf_range *r = l->range;
    size_t global[3], local[3], offset[3];
    for (int i = 0; i < 3; i++) {
        global[i] = r->global[i];
        local[i] = r->local[i];
        offset[i] = r->offset[i];
    }
    o->kernel = l->function->name;
    check_local(o, l->args, l->count);
    set_args(o, l->function->kernel, l->args, l->count);
    opencl_must(o, "clEnqueueNDRangeKernel",
                o->cl.clEnqueueNDRangeKernel(o->queue, l->function->kernel, r->dims, offset, global,
                                             local[0] ? local : NULL, 0, NULL, NULL));
    o->kernel = NULL;
}

/* ---------------------------------------------------------------------------------- submissions */

/* A submission that is pending, by the event that ends it. */
typedef struct {
    rt_submission *submission;
    cl_api_clReleaseEvent release;
} pending;

static void CL_CALLBACK on_end(cl_event e, cl_int status, void *user) {
    pending p = *(pending *)user;
    char why[80];
    free(user);
    p.release(e);
    snprintf(why, sizeof why, "opencl: a command ended with error %d", (int)status);
    p.submission->ended(p.submission, status < 0 ? IR_ERR_DEVICE : IR_OK, why);
}

typedef struct {
    opencl *device;
    rt_submission *submission;
} submitting;

static void enqueue_all(void *arg) {
    const submitting *a = arg;
    for (size_t n = 0; n < a->submission->count; n++) {
        const rt_command *c = &a->submission->commands[n];
        switch (c->kind) {
        case RT_COMMAND_LAUNCH: launch(a->device, &c->launch); break;
        case RT_COMMAND_COPY: copy(a->device, &c->copy); break;
        case RT_COMMAND_FILL: fill(a->device, &c->fill); break;
        }
    }
}

/* False: there will be no call. */
static bool call_at_end(opencl *o, rt_submission *s) {
    cl_event last;
    pending *p = malloc(sizeof *p);
    if (!p) return false;
    *p = (pending){s, o->cl.clReleaseEvent};
    if (o->cl.clEnqueueMarkerWithWaitList(o->queue, 0, NULL, &last) == CL_SUCCESS) {
        if (o->cl.clSetEventCallback(last, CL_COMPLETE, on_end, p) == CL_SUCCESS) return true;
        o->cl.clReleaseEvent(last);
    }
    free(p);
    return false;
}

rt_progress opencl_submit(rt_device *d, rt_submission *s) {
    opencl *o = (opencl *)d;
    ir_ctx *cx = &d->context->cx;
    if (!ir_try(cx, enqueue_all, &(submitting){o, s})) {
        ir_status status = cx->status;
        o->cl.clFinish(o->queue);
        o->kernel = NULL;
        ir_throw(cx, status);
    }
    if (call_at_end(o, s)) {
        o->cl.clFlush(o->queue); /* what fails here, the event tells */
        return RT_PENDING;
    }
    opencl_must(o, "clFinish", o->cl.clFinish(o->queue));
    return RT_ENDED;
}
