/* queue.c — command queues, markers and barriers.
 *
 * The order of commands is that of runtime/queue/queue.h: commands go to the scheduler when they
 * are enqueued, so flushing does nothing.  Markers and barriers are events without a function.
 * Hints of priority and throttling are taken note of, and have no effect.  Queues on the device,
 * and other properties, are refused.
 */
#include "runtime/opencl/ocl.h"

#include <stdlib.h>

void ocl_retain_queue(cl_command_queue q) { ocl_retain(&q->object); }

/* Commands have references: none is left. */
void ocl_release_queue(cl_command_queue q) {
    if (!ocl_release(&q->object)) return;
    cl_context c = q->context;
    rt_lock_take(&c->lock);
    if (q->after) q->after->before = q->before;
    *(q->before ? &q->before->after : &c->queues) = q->after;
    rt_lock_release(&c->lock);
    ocl_release_context(c);
    ocl_free_object(&q->object);
}

/* ----------------------------------------------------------------------------------- properties */

enum { HOST_FLAGS = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE };

/* CL_INVALID_VALUE: unknown ones; CL_INVALID_QUEUE_PROPERTIES: those that are not supported. */
static cl_int check_flags(cl_command_queue_properties flags) {
    const cl_command_queue_properties known =
        HOST_FLAGS | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
    if (flags & ~known) return CL_INVALID_VALUE;
    return flags & ~(cl_command_queue_properties)HOST_FLAGS ? CL_INVALID_QUEUE_PROPERTIES
                                                            : CL_SUCCESS;
}

/* High, medium, low: bits 0 to 2, one of them. */
static bool is_hint(cl_queue_properties value) { return value == 1 || value == 2 || value == 4; }

/* CL_QUEUE_SIZE is for queues on the device. */
static cl_int check_property(cl_queue_properties name, cl_queue_properties value) {
    switch (name) {
    case CL_QUEUE_PROPERTIES: return CL_SUCCESS;
    case CL_QUEUE_PRIORITY_KHR:
    case CL_QUEUE_THROTTLE_KHR: return is_hint(value) ? CL_SUCCESS : CL_INVALID_VALUE;
    case CL_QUEUE_SIZE: return CL_INVALID_QUEUE_PROPERTIES;
    default: return CL_INVALID_VALUE;
    }
}

static cl_int read_properties(const cl_queue_properties *p, cl_command_queue_properties *flags) {
    *flags = 0;
    for (const cl_queue_properties *at = p; at && *at; at += 2) {
        cl_int bad = check_property(at[0], at[1]);
        for (const cl_queue_properties *before = p; !bad && before < at; before += 2)
            if (*before == *at) bad = CL_INVALID_VALUE;
        if (bad) return bad;
        if (*at == CL_QUEUE_PROPERTIES) *flags = at[1];
    }
    return check_flags(*flags);
}

static cl_command_queue new_queue(cl_context c, cl_command_queue_properties flags, cl_int *error) {
    cl_command_queue q = calloc(1, sizeof *q);
    if (!q) return ocl_fail(error, CL_OUT_OF_HOST_MEMORY);
    q->object = ocl_new_object(OCL_QUEUE);
    q->context = c;
    q->flags = flags;
    ocl_retain_context(c);
    rt_lock_take(&c->lock);
    q->after = c->queues;
    if (q->after) q->after->before = q;
    c->queues = q;
    rt_lock_release(&c->lock);
    rt_queue_init(&q->queue, rt_scheduler_get(), !(flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
    ocl_succeed(error);
    return q;
}

static cl_command_queue CL_API_CALL create_queue(cl_context c, cl_device_id d,
                                                 cl_command_queue_properties flags, cl_int *error) {
    if (!ocl_is(c, OCL_CONTEXT)) return ocl_fail(error, CL_INVALID_CONTEXT);
    if (!ocl_is_device(d)) return ocl_fail(error, CL_INVALID_DEVICE);
    if (flags & ~(cl_command_queue_properties)HOST_FLAGS) return ocl_fail(error, CL_INVALID_VALUE);
    return new_queue(c, flags, error);
}

static cl_command_queue CL_API_CALL create_queue_with_properties(cl_context c, cl_device_id d,
                                                                 const cl_queue_properties *p,
                                                                 cl_int *error) {
    cl_command_queue_properties flags;
    if (!ocl_is(c, OCL_CONTEXT)) return ocl_fail(error, CL_INVALID_CONTEXT);
    if (!ocl_is_device(d)) return ocl_fail(error, CL_INVALID_DEVICE);
    cl_int bad = read_properties(p, &flags);
    if (bad) return ocl_fail(error, bad);
    cl_command_queue q = new_queue(c, flags, error);
    if (q) ocl_keep_properties(&q->properties, p);
    return q;
}

/* -------------------------------------------------------------------------------------- entries */

static cl_int CL_API_CALL retain_queue(cl_command_queue q) {
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    ocl_retain_queue(q);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_queue(cl_command_queue q) {
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    ocl_release_queue(q);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_queue_info(cl_command_queue q, cl_command_queue_info what,
                                         size_t room, void *to, size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    switch (what) {
    case CL_QUEUE_CONTEXT: return ocl_give_pointer(&a, q->context);
    case CL_QUEUE_DEVICE: return ocl_give_pointer(&a, ocl_device());
    case CL_QUEUE_REFERENCE_COUNT: return ocl_give_uint(&a, rt_ref_count(&q->object.refs));
    case CL_QUEUE_PROPERTIES: return ocl_give(&a, &q->flags, sizeof q->flags);
    case CL_QUEUE_PROPERTIES_ARRAY: return ocl_give_properties(&a, &q->properties);
    case CL_QUEUE_DEVICE_DEFAULT: return ocl_give_pointer(&a, NULL);
    case CL_QUEUE_SIZE: return CL_INVALID_COMMAND_QUEUE; /* it is on the host */
    default: return CL_INVALID_VALUE;
    }
}

/* It could not be changed while commands run, and is deprecated since OpenCL 1.1. */
static cl_int CL_API_CALL set_queue_property(cl_command_queue q, cl_command_queue_properties flags,
                                             cl_bool enable, cl_command_queue_properties *old) {
    (void)flags, (void)enable, (void)old;
    return ocl_is(q, OCL_QUEUE) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

static cl_int CL_API_CALL set_default_device_queue(cl_context c, cl_device_id d,
                                                   cl_command_queue q) {
    if (!ocl_is(c, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
    if (!ocl_is_device(d)) return CL_INVALID_DEVICE;
    (void)q;
    return CL_INVALID_OPERATION; /* there are none on the device */
}

/* Commands go to the scheduler when they are enqueued. */
static cl_int CL_API_CALL flush(cl_command_queue q) {
    return ocl_is(q, OCL_QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

static cl_int CL_API_CALL finish(cl_command_queue q) {
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    rt_queue_finish(&q->queue);
    return CL_SUCCESS;
}

/* With the context's lock held: references to its queues; one that is being freed has none. */
static cl_uint retain_queues(cl_context c, cl_command_queue *list) {
    cl_uint n = 0;
    for (cl_command_queue q = c->queues; q; q = q->after)
        if (rt_retain_found(&q->object.refs)) list[n++] = q;
    return n;
}

cl_int ocl_finish_all(cl_context c) {
    cl_uint n = 0;
    rt_lock_take(&c->lock);
    for (cl_command_queue q = c->queues; q; q = q->after) n++;
    cl_command_queue *list = malloc((n + 1) * sizeof *list);
    if (list) n = retain_queues(c, list);
    rt_lock_release(&c->lock);
    if (!list) return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint k = 0; k < n; k++) {
        rt_queue_finish(&list[k]->queue);
        ocl_release_queue(list[k]);
    }
    free(list);
    return CL_SUCCESS;
}

/* ------------------------------------------------------------------------- markers and barriers */

static cl_int enqueue_nothing(cl_command_queue q, rt_enqueue_kind kind, ocl_events events) {
    bool marker = kind == RT_ENQUEUE_MARKER;
    cl_int bad = ocl_check_wait_list(q->context, events.count, events.list);
    if (bad) return bad;
    cl_event e =
        ocl_new_command(q, marker ? CL_COMMAND_MARKER : CL_COMMAND_BARRIER, sizeof *e, NULL, NULL);
    return e ? ocl_enqueue(e, kind, false, events) : CL_OUT_OF_HOST_MEMORY;
}

static cl_int CL_API_CALL enqueue_marker_list(cl_command_queue q, cl_uint n, const cl_event *list,
                                              cl_event *out) {
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    return enqueue_nothing(q, RT_ENQUEUE_MARKER, (ocl_events){n, list, out});
}

static cl_int CL_API_CALL enqueue_barrier_list(cl_command_queue q, cl_uint n, const cl_event *list,
                                               cl_event *out) {
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    return enqueue_nothing(q, RT_ENQUEUE_BARRIER, (ocl_events){n, list, out});
}

static cl_int CL_API_CALL enqueue_marker(cl_command_queue q, cl_event *out) {
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (!out) return CL_INVALID_VALUE;
    return enqueue_nothing(q, RT_ENQUEUE_MARKER, (ocl_events){.event = out});
}

static cl_int CL_API_CALL enqueue_barrier(cl_command_queue q) {
    return enqueue_barrier_list(q, 0, NULL, NULL);
}

static cl_int CL_API_CALL enqueue_wait(cl_command_queue q, cl_uint n, const cl_event *list) {
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    if (!n || !list) return CL_INVALID_VALUE;
    for (cl_uint k = 0; k < n; k++)
        if (!ocl_is(list[k], OCL_EVENT)) return CL_INVALID_EVENT;
    return enqueue_nothing(q, RT_ENQUEUE_BARRIER, (ocl_events){n, list, NULL});
}

void ocl_fill_queue(ocl_entries *e) {
    e->core.clCreateCommandQueue = create_queue;
    e->core.clCreateCommandQueueWithProperties = create_queue_with_properties;
    e->core.clRetainCommandQueue = retain_queue;
    e->core.clReleaseCommandQueue = release_queue;
    e->core.clGetCommandQueueInfo = get_queue_info;
    e->core.clSetCommandQueueProperty = set_queue_property;
    e->core.clSetDefaultDeviceCommandQueue = set_default_device_queue;
    e->core.clFlush = flush;
    e->core.clFinish = finish;
    e->core.clEnqueueMarkerWithWaitList = enqueue_marker_list;
    e->core.clEnqueueBarrierWithWaitList = enqueue_barrier_list;
    e->core.clEnqueueMarker = enqueue_marker;
    e->core.clEnqueueBarrier = enqueue_barrier;
    e->core.clEnqueueWaitForEvents = enqueue_wait;
    ocl_add_extension(e, "clCreateCommandQueueWithPropertiesKHR",
                      (ocl_function)create_queue_with_properties);
}
