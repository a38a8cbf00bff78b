/* command_buffer.c — commands that are recorded once and run as often as the program wants, as
 * version 0.9.8 of cl_khr_command_buffer says.
 *
 * A command is recorded as it would be enqueued; it never gets to a queue, but its function is
 * called.  A run is one command: the thread that runs it does all that was recorded, in that order,
 * and each launch uses all threads.  So a command that waits for something recorded before it needs
 * nothing special.
 */
#include "runtime/opencl/ocl.h"
#include "runtime/spvfuse_opencl.h"

#include <stdlib.h>

static bool is_command_buffer(cl_command_buffer_khr b) { return ocl_is(b, OCL_COMMAND_BUFFER); }

/* ------------------------------------------------------------------------------------- creation */

typedef struct {
    cl_command_buffer_flags_khr flags;
    cl_command_buffer_fusion_spvf fusion;
    bool no_more_groups;
} wishes;

static cl_int read_property(cl_command_buffer_properties_khr name,
                            cl_command_buffer_properties_khr value, wishes *to) {
    const cl_command_buffer_flags_khr known =
        CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR | CL_COMMAND_BUFFER_MUTABLE_KHR;
    switch (name) {
    case CL_COMMAND_BUFFER_FLAGS_KHR:
        if (value & ~known) return CL_INVALID_VALUE;
        to->flags = value;
        return CL_SUCCESS;
    case CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR:
        to->no_more_groups = value;
        return value > CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR ? CL_INVALID_VALUE
                                                                                : CL_SUCCESS;
    case CL_COMMAND_BUFFER_FUSION_SPVF:
        to->fusion = (cl_command_buffer_fusion_spvf)value;
        return value > CL_COMMAND_BUFFER_FUSION_NONE_SPVF ? CL_INVALID_VALUE : CL_SUCCESS;
    default: return CL_INVALID_VALUE;
    }
}

static cl_int read_properties(const cl_command_buffer_properties_khr *p, wishes *to) {
    *to = (wishes){0};
    for (const cl_command_buffer_properties_khr *at = p; at && *at; at += 2) {
        cl_int bad = read_property(at[0], at[1], to);
        if (bad) return bad;
        for (const cl_command_buffer_properties_khr *before = p; before < at; before += 2)
            if (*before == *at) return CL_INVALID_VALUE;
    }
    return CL_SUCCESS;
}

static cl_command_buffer_khr CL_API_CALL create(cl_uint count, const cl_command_queue *queues,
                                                const cl_command_buffer_properties_khr *p,
                                                cl_int *error) {
    wishes w;
    if (count != 1 || !queues) return ocl_fail(error, CL_INVALID_VALUE);
    if (!ocl_is(queues[0], OCL_QUEUE)) return ocl_fail(error, CL_INVALID_COMMAND_QUEUE);
    cl_int bad = read_properties(p, &w);
    if (bad) return ocl_fail(error, bad);
    cl_command_buffer_khr b = calloc(1, sizeof *b);
    if (!b) return ocl_fail(error, CL_OUT_OF_HOST_MEMORY);
    b->object = ocl_new_object(OCL_COMMAND_BUFFER);
    b->queue = queues[0];
    b->unfused = w.fusion == CL_COMMAND_BUFFER_FUSION_NONE_SPVF || ocl_is_checking();
    b->mutable = w.flags & CL_COMMAND_BUFFER_MUTABLE_KHR;
    b->no_more_groups = w.no_more_groups;
    ocl_keep_properties(&b->properties, p);
    rt_lock_init(&b->lock, false);
    ocl_retain_queue(b->queue);
    ocl_succeed(error);
    return b;
}

static cl_int CL_API_CALL retain(cl_command_buffer_khr b) {
    if (!is_command_buffer(b)) return CL_INVALID_COMMAND_BUFFER_KHR;
    ocl_retain(&b->object);
    return CL_SUCCESS;
}

/* What is recorded is given up as a command that was not enqueued. */
static void drop_reference(cl_command_buffer_khr b) {
    if (!ocl_release(&b->object)) return;
    for (cl_uint n = 0; n < b->count; n++)
        if (b->commands[n]) ocl_give_up(b->commands[n]);
    if (b->steps) ocl_release_steps(b->steps);
    ocl_free_handles(b->handles);
    ocl_release_queue(b->queue);
    rt_lock_free(&b->lock);
    free(b->commands);
    free(b);
}

static cl_int CL_API_CALL release(cl_command_buffer_khr b) {
    if (!is_command_buffer(b)) return CL_INVALID_COMMAND_BUFFER_KHR;
    drop_reference(b);
    return CL_SUCCESS;
}

/* ------------------------------------------------------------------------------------ recording
 *
 * Sync points are numbered from 1 on.  The entries are those of command_record.c. */

bool ocl_is_finalized(cl_command_buffer_khr b) {
    rt_lock_take(&b->lock);
    bool finalized = b->finalized;
    rt_lock_release(&b->lock);
    return finalized;
}

cl_uint ocl_count_commands(cl_command_buffer_khr b) {
    rt_lock_take(&b->lock);
    cl_uint n = b->count;
    rt_lock_release(&b->lock);
    return n;
}

cl_int ocl_check_sync_points(const ocl_recording *r) {
    if (!r->wait_count != !r->wait) return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
    cl_uint known = ocl_count_commands(r->buffer);
    for (cl_uint n = 0; n < r->wait_count; n++)
        if (!r->wait[n] || r->wait[n] > known) return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
    return CL_SUCCESS;
}

/* With the lock held. */
static cl_int append(cl_command_buffer_khr b, cl_event command) {
    if (b->finalized) return CL_INVALID_OPERATION;
    if (b->count == b->room) {
        cl_uint room = b->room ? 2 * b->room : 16;
        cl_event *more = realloc(b->commands, room * sizeof *more);
        if (!more) return CL_OUT_OF_HOST_MEMORY;
        b->commands = more;
        b->room = room;
    }
    b->commands[b->count++] = command;
    return CL_SUCCESS;
}

cl_int ocl_record(const ocl_recording *r, cl_event command) {
    cl_command_buffer_khr b = r->buffer;
    rt_lock_take(&b->lock);
    cl_int bad = append(b, command);
    if (!bad && r->point) *r->point = b->count;
    if (!bad && r->form) b->form = r->form;
    if (!bad) b->incomplete += r->incomplete;
    rt_lock_release(&b->lock);
    if (bad && command) ocl_give_up(command);
    return bad;
}

static cl_int CL_API_CALL finalize(cl_command_buffer_khr b) {
    if (!is_command_buffer(b)) return CL_INVALID_COMMAND_BUFFER_KHR;
    rt_lock_take(&b->lock);
    cl_int bad = b->finalized ? CL_INVALID_OPERATION : CL_SUCCESS;
    if (!bad && !b->incomplete) bad = ocl_make_steps(b, b->commands, &b->steps);
    b->finalized |= !bad;
    rt_lock_release(&b->lock);
    return bad;
}

/* ----------------------------------------------------------------------------------------- runs */

typedef struct {
    struct _cl_event event; /* the first member */
    cl_command_buffer_khr buffer;
    ocl_steps *steps;
    rt_submission submission;
} run;

static void end_run(rt_submission *s, ir_status status, const char *why) {
    run *r = (run *)(void *)((char *)s - offsetof(run, submission));
    if (status != IR_OK) ocl_tell(r->event.context, why);
    rt_event_continue(&r->event.event, ocl_status_of((spvf_status)status));
}

static int32_t submit_steps(rt_event *event) {
    run *r = (run *)ocl_event_of(event);
    const ocl_steps *s = r->steps;
    r->submission = (rt_submission){.commands = s->run, .count = s->step_count, .ended = end_run};
    return ocl_submit_to_device(r->event.context, &r->submission);
}

static void drop_run(cl_event e) {
    run *r = (run *)e;
    ocl_release_steps(r->steps);
    drop_reference(r->buffer);
}

/* Runs have nothing in common that changes: there may be several at a time, of the commands as they
 * were when each was enqueued. */
static cl_int begin_run(cl_command_buffer_khr b, ocl_steps **steps) {
    rt_lock_take(&b->lock);
    *steps = b->steps;
    if (*steps) rt_retain(&(*steps)->refs);
    rt_lock_release(&b->lock);
    if (!*steps) return CL_INVALID_OPERATION;
    ocl_retain(&b->object);
    return CL_SUCCESS;
}

/* Queues have no properties that command buffers would not take. */
static cl_int check_queue(cl_command_buffer_khr b, cl_command_queue q) {
    if (!ocl_is(q, OCL_QUEUE)) return CL_INVALID_COMMAND_QUEUE;
    return q->context == b->queue->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

static cl_int CL_API_CALL enqueue(cl_uint count, cl_command_queue *queues, cl_command_buffer_khr b,
                                  cl_uint n, const cl_event *list, cl_event *out) {
    if (!is_command_buffer(b)) return CL_INVALID_COMMAND_BUFFER_KHR;
    if (!count != !queues || count > 1) return CL_INVALID_VALUE;
    cl_command_queue q = queues ? queues[0] : b->queue;
    ocl_steps *steps;
    cl_int bad = check_queue(b, q);
    if (!bad) bad = ocl_check_wait_list(q->context, n, list);
    if (!bad) bad = begin_run(b, &steps);
    if (bad) return bad;
    run *r =
        (run *)ocl_new_command(q, CL_COMMAND_COMMAND_BUFFER_KHR, sizeof *r, submit_steps, drop_run);
    if (r) {
        r->buffer = b;
        r->steps = steps;
        return ocl_enqueue(&r->event, RT_ENQUEUE_COMMAND, false, (ocl_events){n, list, out});
    }
    drop_run(&(run){.buffer = b, .steps = steps}.event);
    return CL_OUT_OF_HOST_MEMORY;
}

/* ---------------------------------------------------------------------------------- information */

static cl_command_buffer_state_khr state_of(cl_command_buffer_khr b) {
    rt_lock_take(&b->lock);
    cl_command_buffer_state_khr state = b->steps       ? CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR
                                        : b->finalized ? OCL_COMMAND_BUFFER_STATE_FINALIZED
                                                       : CL_COMMAND_BUFFER_STATE_RECORDING_KHR;
    rt_lock_release(&b->lock);
    return state;
}

static cl_uint count_launches(cl_command_buffer_khr b) {
    cl_uint launches = 0;
    rt_lock_take(&b->lock);
    for (cl_uint n = 0; b->steps && n < b->steps->step_count; n++)
        launches += b->steps->steps[n]->type == CL_COMMAND_NDRANGE_KERNEL;
    rt_lock_release(&b->lock);
    return launches;
}

static cl_int give_report(const ocl_answer *a, cl_command_buffer_khr b) {
    rt_lock_take(&b->lock);
    cl_int bad = ocl_give_string(a, b->steps ? ocl_report(b->steps) : NULL);
    rt_lock_release(&b->lock);
    return bad;
}

static cl_int CL_API_CALL get_info(cl_command_buffer_khr b, cl_command_buffer_info_khr what,
                                   size_t room, void *to, size_t *size) {
    const ocl_answer a = {room, to, size};
    if (!is_command_buffer(b)) return CL_INVALID_COMMAND_BUFFER_KHR;
    switch (what) {
    case CL_COMMAND_BUFFER_NUM_QUEUES_KHR: return ocl_give_uint(&a, 1);
    case OCL_COMMAND_BUFFER_CONTEXT: return ocl_give_pointer(&a, b->queue->context);
    case CL_COMMAND_BUFFER_QUEUES_KHR: return ocl_give_pointer(&a, b->queue);
    case CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR:
        return ocl_give_uint(&a, rt_ref_count(&b->object.refs));
    case CL_COMMAND_BUFFER_STATE_KHR: return ocl_give_uint(&a, state_of(b));
    case CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR: return ocl_give_properties(&a, &b->properties);
    case CL_COMMAND_BUFFER_FUSION_REPORT_SPVF: return give_report(&a, b);
    case CL_COMMAND_BUFFER_LAUNCH_COUNT_SPVF: return ocl_give_uint(&a, count_launches(b));
    default: return CL_INVALID_VALUE;
    }
}

void ocl_fill_command_buffer(ocl_entries *e) {
    ocl_add_extension(e, "clCreateCommandBufferKHR", (ocl_function)create);
    ocl_add_extension(e, "clRetainCommandBufferKHR", (ocl_function)retain);
    ocl_add_extension(e, "clReleaseCommandBufferKHR", (ocl_function)release);
    ocl_add_extension(e, "clFinalizeCommandBufferKHR", (ocl_function)finalize);
    ocl_add_extension(e, "clEnqueueCommandBufferKHR", (ocl_function)enqueue);
    ocl_add_extension(e, "clGetCommandBufferInfoKHR", (ocl_function)get_info);
}
