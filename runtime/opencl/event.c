/* event.c — events of commands and of the user, and the way of commands to the scheduler.
 *
 * An OpenCL event contains an event of the scheduler (runtime/queue/queue.h), which orders and runs
 * it.  The two have separate counts: the object counts references of the user, so that a handle
 * that was released is refused, and the event counts those of the scheduler as well.  An event
 * holds its queue, its context and the objects that its command uses; what the command uses is
 * given back when it has ended, also if the user keeps the event.
 */
#include "runtime/opencl/ocl.h"

#include <stdlib.h>

void ocl_retain_event(cl_event e) {
    ocl_retain(&e->object);
    rt_event_retain(&e->event);
}

/* The object counts what the user holds, the event also what the scheduler does. */
void ocl_release_event(cl_event e) {
    ocl_release(&e->object);
    rt_event_release(&e->event);
}

static void drop_uses(rt_event *event) {
    cl_event e = ocl_event_of(event);
    if (e->drop) e->drop(e);
    e->drop = NULL;
}

static void destroy(rt_event *event) {
    cl_event e = ocl_event_of(event);
    drop_uses(event);
    if (e->queue) ocl_release_queue(e->queue);
    ocl_release_context(e->context);
    ocl_free_object(&e->object);
}

static cl_event new_event(cl_context c, cl_command_type type, size_t size, rt_run *run) {
    cl_event e = calloc(1, size);
    if (!e) return NULL;
    e->object = ocl_new_object(OCL_EVENT);
    e->context = c;
    e->type = type;
    rt_event_init(&e->event, rt_scheduler_get(), run, destroy);
    e->event.ended = drop_uses;
    e->event.why_not = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    ocl_retain_context(c);
    return e;
}

/* ------------------------------------------------------------------------------------- commands */

cl_event ocl_new_command(cl_command_queue q, cl_command_type type, size_t size, rt_run *run,
                         void (*drop)(cl_event e)) {
    cl_event e = new_event(q->context, type, size, run);
    if (!e) return NULL;
    ocl_retain_queue(q);
    e->queue = q;
    e->drop = drop;
    return e;
}

static void tell(void *user, const spvf_message *m) {
    if (m->severity == SPVF_ERROR) ocl_tell(user, m->formatted);
}

void ocl_open_context(cl_context c, spvf_context *out) {
    const spvf_context_options o = {.size = sizeof o, .message = tell, .message_user = c};
    rt_context_init(out, &o);
}

cl_int ocl_status_of(spvf_status status) {
    if (status == SPVF_OK) return CL_SUCCESS;
    return status == SPVF_ERROR_MEMORY ? CL_OUT_OF_HOST_MEMORY : CL_OUT_OF_RESOURCES;
}

int32_t ocl_submit_to_device(cl_context c, rt_submission *s) {
    spvf_context own;
    rt_progress progress;
    ocl_open_context(c, &own);
    spvf_status status = rt_shared_submit(&ocl_device()->shared, &own, s, &progress);
    return status == SPVF_OK && progress == RT_PENDING ? RT_RUNNING : ocl_status_of(status);
}

static void end_command(rt_submission *s, ir_status status, const char *why) {
    ocl_command *c = (ocl_command *)(void *)((char *)s - offsetof(ocl_command, submission));
    rt_trace_end_of(s, status);
    if (status != IR_OK) ocl_tell(c->event.context, why);
    rt_event_continue(&c->event.event, ocl_status_of((spvf_status)status));
}

int32_t ocl_run_on_device(rt_event *e) {
    ocl_command *c = ocl_command_of(e);
    c->submission = (rt_submission){.commands = &c->command,
                                    .count = 1,
                                    .exact = rt_is_traced(),
                                    .ended = end_command,
                                    .queued = e->time[RT_QUEUED]};
    return ocl_submit_to_device(c->event.context, &c->submission);
}

void ocl_give_up(cl_event e) {
    e->event.status = CL_OUT_OF_HOST_MEMORY;
    ocl_release_event(e);
}

cl_int ocl_check_wait_list(cl_context c, cl_uint n, const cl_event *list) {
    if (!n != !list) return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint k = 0; k < n; k++) {
        if (!ocl_is(list[k], OCL_EVENT)) return CL_INVALID_EVENT_WAIT_LIST;
        if (list[k]->context != c) return CL_INVALID_CONTEXT;
    }
    return CL_SUCCESS;
}

enum { FEW = 16 };

static bool give_to_queue(cl_event e, rt_enqueue_kind kind, ocl_events v) {
    rt_event *few[FEW] = {NULL}, **wait = v.count <= FEW ? few : malloc(v.count * sizeof *wait);
    if (!wait) return false;
    for (cl_uint k = 0; k < v.count; k++) wait[k] = &v.list[k]->event;
    const rt_order order = {.kind = kind, .wait = wait, .nwait = v.count};
    bool ok = rt_enqueue(&e->queue->queue, &e->event, &order);
    if (wait != few) free(wait);
    return ok;
}

cl_int ocl_enqueue(cl_event e, rt_enqueue_kind kind, bool blocking, ocl_events events) {
    if (!give_to_queue(e, kind, events)) {
        ocl_give_up(e);
        return CL_OUT_OF_HOST_MEMORY;
    }
    cl_int status = blocking ? rt_event_wait(&e->event) : CL_SUCCESS;
    if (events.event)
        *events.event = e;
    else
        ocl_release_event(e);
    return status;
}

cl_int ocl_check_order(const ocl_request *r) {
    if (r->recording)
        return r->recording->is_update ? CL_SUCCESS : ocl_check_sync_points(r->recording);
    return ocl_check_wait_list(r->queue->context, r->wait_count, r->wait);
}

cl_int ocl_submit(const ocl_request *r, cl_event e) {
    if (r->recording) return ocl_record(r->recording, e);
    const ocl_events events = {r->wait_count, r->wait, r->event};
    return ocl_enqueue(e, RT_ENQUEUE_COMMAND, r->blocking, events);
}

/* -------------------------------------------------------------------------------------- entries */

static cl_event CL_API_CALL create_user_event(cl_context c, cl_int *error) {
    if (!ocl_is(c, OCL_CONTEXT)) return ocl_fail(error, CL_INVALID_CONTEXT);
    cl_event e = new_event(c, CL_COMMAND_USER, sizeof *e, NULL);
    if (!e) return ocl_fail(error, CL_OUT_OF_HOST_MEMORY);
    e->event.status = CL_SUBMITTED;
    ocl_succeed(error);
    return e;
}

static cl_int CL_API_CALL set_user_event_status(cl_event e, cl_int status) {
    if (!ocl_is(e, OCL_EVENT) || e->queue) return CL_INVALID_EVENT;
    if (status > CL_COMPLETE) return CL_INVALID_VALUE;
    return rt_event_end(&e->event, status) ? CL_SUCCESS : CL_INVALID_OPERATION;
}

static cl_int CL_API_CALL wait_for_events(cl_uint n, const cl_event *list) {
    if (!n || !list) return CL_INVALID_VALUE;
    for (cl_uint k = 0; k < n; k++)
        if (!ocl_is(list[k], OCL_EVENT)) return CL_INVALID_EVENT;
    for (cl_uint k = 1; k < n; k++)
        if (list[k]->context != list[0]->context) return CL_INVALID_CONTEXT;
    bool failed = false;
    for (cl_uint k = 0; k < n; k++) failed |= rt_event_wait(&list[k]->event) < 0;
    return failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
}

static cl_int CL_API_CALL get_event_info(cl_event e, cl_event_info what, size_t room, void *to,
                                         size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!ocl_is(e, OCL_EVENT)) return CL_INVALID_EVENT;
    switch (what) {
    case CL_EVENT_COMMAND_QUEUE: return ocl_give_pointer(&a, e->queue);
    case CL_EVENT_CONTEXT: return ocl_give_pointer(&a, e->context);
    case CL_EVENT_COMMAND_TYPE: return ocl_give_uint(&a, e->type);
    case CL_EVENT_COMMAND_EXECUTION_STATUS: {
        cl_int status = rt_event_now(&e->event);
        return ocl_give(&a, &status, sizeof status);
    }
    case CL_EVENT_REFERENCE_COUNT: return ocl_give_uint(&a, rt_ref_count(&e->object.refs));
    default: return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL retain_event(cl_event e) {
    if (!ocl_is(e, OCL_EVENT)) return CL_INVALID_EVENT;
    ocl_retain_event(e);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_event(cl_event e) {
    if (!ocl_is(e, OCL_EVENT)) return CL_INVALID_EVENT;
    ocl_release_event(e);
    return CL_SUCCESS;
}

typedef void CL_CALLBACK event_notify(cl_event e, cl_int status, void *user);

typedef struct {
    event_notify *notify;
    void *user;
} callback;

/* The user may release the event in it. */
static void call(rt_event *e, int32_t status, void *user) {
    callback c = *(callback *)user;
    free(user);
    c.notify(ocl_event_of(e), status, c.user);
}

static cl_int CL_API_CALL set_event_callback(cl_event e, cl_int status, event_notify *notify,
                                             void *user) {
    if (!ocl_is(e, OCL_EVENT)) return CL_INVALID_EVENT;
    if (!notify || (status != CL_SUBMITTED && status != CL_RUNNING && status != CL_COMPLETE))
        return CL_INVALID_VALUE;
    callback *c = malloc(sizeof *c);
    if (!c) return CL_OUT_OF_HOST_MEMORY;
    *c = (callback){notify, user};
    if (rt_event_notify(&e->event, status, call, c)) return CL_SUCCESS;
    free(c);
    return CL_OUT_OF_HOST_MEMORY;
}

static cl_int CL_API_CALL get_profiling_info(cl_event e, cl_profiling_info what, size_t room,
                                             void *to, size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!ocl_is(e, OCL_EVENT)) return CL_INVALID_EVENT;
    bool profiled = e->queue && e->queue->flags & CL_QUEUE_PROFILING_ENABLE;
    if (!profiled || rt_event_now(&e->event) != CL_COMPLETE) return CL_PROFILING_INFO_NOT_AVAILABLE;
    switch (what) {
    case CL_PROFILING_COMMAND_QUEUED: return ocl_give_ulong(&a, e->event.time[RT_QUEUED]);
    case CL_PROFILING_COMMAND_SUBMIT: return ocl_give_ulong(&a, e->event.time[RT_SUBMITTED]);
    case CL_PROFILING_COMMAND_START: return ocl_give_ulong(&a, e->event.time[RT_RUNNING]);
    case CL_PROFILING_COMMAND_END:
    case CL_PROFILING_COMMAND_COMPLETE: return ocl_give_ulong(&a, e->event.time[RT_COMPLETE]);
    default: return CL_INVALID_VALUE;
    }
}

void ocl_fill_event(ocl_entries *e) {
    e->core.clCreateUserEvent = create_user_event;
    e->core.clSetUserEventStatus = set_user_event_status;
    e->core.clWaitForEvents = wait_for_events;
    e->core.clGetEventInfo = get_event_info;
    e->core.clRetainEvent = retain_event;
    e->core.clReleaseEvent = release_event;
    e->core.clSetEventCallback = set_event_callback;
    e->core.clGetEventProfilingInfo = get_profiling_info;
}
