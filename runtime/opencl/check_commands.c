/* check_commands.c — commands that move bytes or map, and calls that wait: what they are given, and
 * whether anything waits for the end of what does not block.
 *
 * A command without blocking counts as waited for when clFinish of its queue, clWaitForEvents, a
 * wait list, a callback or a query of its event, or a later blocking command of an in-order queue
 * has seen its end.  What is left when the process ends is told then.
 */
#include "runtime/opencl/check.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ what nothing has waited for */

typedef struct pending pending;
struct pending {
    const ocl_made *queue; /* NULL: it was waited for */
    cl_command_queue handle;
    cl_event event; /* or NULL */
    const char *call;
    unsigned number;
    pending *before;
};

static struct {
    pthread_mutex_t lock;
    pending *newest;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Reading and mapping give something to the host, which it must not use before. */
static void add_pending(const char *call, unsigned number, cl_command_queue q, cl_event event) {
    pending *p = malloc(sizeof *p);
    if (!p) return;
    *p = (pending){ocl_find_made(q), q, event, call, number, NULL};
    pthread_mutex_lock(&waiting.lock);
    p->before = waiting.newest;
    waiting.newest = p;
    pthread_mutex_unlock(&waiting.lock);
}

/* All commands of a queue have ended; from a command on if `from` is one. */
static void end_queue(cl_command_queue q, const pending *from) {
    bool reached = !from;
    for (pending *p = waiting.newest; p; p = p->before) {
        reached |= p == from;
        if (reached && p->handle == q) p->queue = NULL;
    }
}

static bool is_in_order(cl_command_queue q) {
    return !(q->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

static const ocl_made *finished;

static void mark_if_finished(ocl_made *r) {
    if (r->queue == finished) r->waited = true;
}

static void finish_queue(cl_command_queue q) {
    pthread_mutex_lock(&waiting.lock);
    end_queue(q, NULL);
    finished = ocl_find_made(q);
    ocl_each_of_kind(OCL_EVENT, mark_if_finished);
    pthread_mutex_unlock(&waiting.lock);
}

/* Those before it in an in-order queue have ended, too. */
static void finish_event(cl_event e) {
    ocl_made *r = ocl_find_made(e);
    pthread_mutex_lock(&waiting.lock);
    if (r) r->waited = true;
    for (pending *p = waiting.newest; p; p = p->before) {
        if (p->event != e) continue;
        p->queue = NULL;
        if (is_in_order(p->handle)) end_queue(p->handle, p);
        break;
    }
    pthread_mutex_unlock(&waiting.lock);
    if (r && r->refs && e->queue && is_in_order(e->queue)) ocl_mark_before(r);
}

void ocl_note_waited(cl_uint n, const cl_event *list) {
    for (cl_uint k = 0; list && k < n; k++) finish_event(list[k]);
}

/* After a call that enqueues: the event that it gave, and what is known when it has blocked. */
void ocl_note_enqueued(const char *call, cl_command_queue q, bool blocks, bool gives,
                       const cl_event *event) {
    ocl_made *r = event ? ocl_note_made(*event, OCL_EVENT, call) : NULL;
    unsigned number = r ? r->number : ocl_count_call(call);
    if (r) r->queue = ocl_find_made(q);
    if (r) r->waited = blocks;
    if (!blocks && gives) add_pending(call, number, q, event ? *event : NULL);
    if (blocks && is_in_order(q)) finish_queue(q);
}

void ocl_say_pending(void) {
    for (pending *p = waiting.newest; p; p = p->before)
        if (p->queue)
            ocl_say_call("not-waited", IR_WARNING,
                         "%s %u does not block, and nothing has waited for its end", p->call,
                         p->number);
}

static void say_unwaited(ocl_made *r) {
    if (!r->waited) ocl_say_call("event", IR_NOTE, "%s was never waited for", ocl_name_of(r));
}

/* -------------------------------------------------------------------------------- what is wrong */

static bool check_queue_and_mem(const char *call, cl_command_queue q, cl_mem m) {
    ocl_check_handle(call, q, OCL_QUEUE);
    ocl_check_handle(call, m, OCL_MEM);
    const ocl_made *mem = ocl_find_made(m), *queue = ocl_find_made(q);
    return (!mem || mem->refs) && (!queue || queue->refs);
}

/* Why bytes are not inside of the buffer, or "". */
static const char *why_outside(char *why, size_t room, cl_mem m, size_t offset, size_t size) {
    const ocl_made *r = ocl_find_made(m);
    *why = 0;
    if (r && ocl_is(m, OCL_MEM) && !ocl_is_inside(m, offset, size))
        snprintf(why, room, "%zu bytes from %zu on are not inside of %s", size, offset,
                 ocl_name_of(r));
    return why;
}

static void check_mapped(const char *call, cl_mem m) {
    const ocl_made *r = ocl_find_made(m);
    if (r && r->maps)
        ocl_say_call("mapped", IR_WARNING, "%s uses %s, of which a region is mapped for writing",
                     call, ocl_name_of(r));
}

/* The host gets bytes that have no value. */
static void check_read_values(const char *call, cl_mem m, size_t offset, size_t size) {
    const ocl_made *r = ocl_find_made(m);
    uint64_t n = ocl_check_undefined((char *)m->memory.bytes + offset, size);
    if (r && size && n == size)
        ocl_say_call("undefined", IR_WARNING, "%s reads %s, of which nothing has been written",
                     call, ocl_name_of(r));
    else if (r && n)
        ocl_say_call("undefined", IR_NOTE, "%s reads %s, of which %llu bytes have not been written",
                     call, ocl_name_of(r), (unsigned long long)n);
}

/* -------------------------------------------------------------------------------------- entries */

static cl_int CL_API_CALL read_buffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset,
                                      size_t size, void *host, cl_uint n, const cl_event *list,
                                      cl_event *out) {
    static const char call[] = "clEnqueueReadBuffer";
    char why[200];
    if (!check_queue_and_mem(call, q, m)) return CL_INVALID_MEM_OBJECT;
    cl_int status = ocl_plain.clEnqueueReadBuffer(q, m, blocking, offset, size, host, n, list, out);
    if (status)
        return ocl_check_result(call, status, why_outside(why, sizeof why, m, offset, size));
    check_mapped(call, m);
    ocl_note_waited(n, list);
    ocl_note_enqueued(call, q, blocking, true, out);
    if (blocking) check_read_values(call, m, offset, size);
    return status;
}

static cl_int CL_API_CALL write_buffer(cl_command_queue q, cl_mem m, cl_bool blocking,
                                       size_t offset, size_t size, const void *host, cl_uint n,
                                       const cl_event *list, cl_event *out) {
    static const char call[] = "clEnqueueWriteBuffer";
    char why[200];
    if (!check_queue_and_mem(call, q, m)) return CL_INVALID_MEM_OBJECT;
    cl_int status =
        ocl_plain.clEnqueueWriteBuffer(q, m, blocking, offset, size, host, n, list, out);
    if (status)
        return ocl_check_result(call, status, why_outside(why, sizeof why, m, offset, size));
    check_mapped(call, m);
    ocl_note_waited(n, list);
    ocl_note_enqueued(call, q, blocking, true, out);
    return status;
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue q, cl_mem from, cl_mem to, size_t source,
                                      size_t target, size_t size, cl_uint n, const cl_event *list,
                                      cl_event *out) {
    static const char call[] = "clEnqueueCopyBuffer";
    char why[200];
    if (!check_queue_and_mem(call, q, from) || !check_queue_and_mem(call, q, to))
        return CL_INVALID_MEM_OBJECT;
    cl_int status = ocl_plain.clEnqueueCopyBuffer(q, from, to, source, target, size, n, list, out);
    if (status) {
        why_outside(why, sizeof why, from, source, size);
        if (!*why) why_outside(why, sizeof why, to, target, size);
        return ocl_check_result(call, status, why);
    }
    check_mapped(call, from);
    check_mapped(call, to);
    ocl_note_waited(n, list);
    ocl_note_enqueued(call, q, false, false, out);
    return status;
}

static cl_int CL_API_CALL fill_buffer(cl_command_queue q, cl_mem m, const void *pattern,
                                      size_t pattern_size, size_t offset, size_t size, cl_uint n,
                                      const cl_event *list, cl_event *out) {
    static const char call[] = "clEnqueueFillBuffer";
    char why[200];
    if (!check_queue_and_mem(call, q, m)) return CL_INVALID_MEM_OBJECT;
    cl_int status =
        ocl_plain.clEnqueueFillBuffer(q, m, pattern, pattern_size, offset, size, n, list, out);
    if (status)
        return ocl_check_result(call, status, why_outside(why, sizeof why, m, offset, size));
    check_mapped(call, m);
    ocl_note_waited(n, list);
    ocl_note_enqueued(call, q, false, false, out);
    return status;
}

static void *CL_API_CALL map_buffer(cl_command_queue q, cl_mem m, cl_bool blocking,
                                    cl_map_flags flags, size_t offset, size_t size, cl_uint n,
                                    const cl_event *list, cl_event *out, cl_int *error) {
    static const char call[] = "clEnqueueMapBuffer";
    char why[200];
    cl_int status = CL_INVALID_MEM_OBJECT;
    void *p = check_queue_and_mem(call, q, m)
                  ? ocl_plain.clEnqueueMapBuffer(q, m, blocking, flags, offset, size, n, list, out,
                                                 &status)
                  : NULL;
    if (error) *error = status;
    if (!p) {
        ocl_check_result(call, status, why_outside(why, sizeof why, m, offset, size));
        return p;
    }
    ocl_made *r = ocl_find_made(ocl_root(m));
    if (r && flags & ~(cl_map_flags)CL_MAP_READ) r->maps++;
    ocl_note_waited(n, list);
    ocl_note_enqueued(call, q, blocking, true, out);
    if (blocking && flags == CL_MAP_READ) check_read_values(call, m, offset, size);
    return p;
}

/* The host may have written all that was mapped for that. */
static cl_int CL_API_CALL unmap(cl_command_queue q, cl_mem m, void *address, cl_uint n,
                                const cl_event *list, cl_event *out) {
    static const char call[] = "clEnqueueUnmapMemObject";
    if (!check_queue_and_mem(call, q, m)) return CL_INVALID_MEM_OBJECT;
    cl_int status = ocl_plain.clEnqueueUnmapMemObject(q, m, address, n, list, out);
    if (status) return ocl_check_result(call, status, "nothing is mapped at that address");
    ocl_made *r = ocl_find_made(ocl_root(m));
    if (r && r->maps && r->maps-- == 1) ocl_check_written(m->memory.bytes, m->memory.size);
    ocl_note_waited(n, list);
    ocl_note_enqueued(call, q, false, false, out);
    return status;
}

static cl_int CL_API_CALL finish(cl_command_queue q) {
    ocl_check_handle("clFinish", q, OCL_QUEUE);
    const ocl_made *r = ocl_find_made(q);
    if (r && !r->refs) return CL_INVALID_COMMAND_QUEUE;
    cl_int status = ocl_plain.clFinish(q);
    if (!status) finish_queue(q);
    return ocl_check_result("clFinish", status, NULL);
}

static cl_int CL_API_CALL wait_for_events(cl_uint n, const cl_event *list) {
    for (cl_uint k = 0; list && k < n; k++) {
        const ocl_made *r = ocl_find_made(list[k]);
        ocl_check_handle("clWaitForEvents", list[k], OCL_EVENT);
        if (r && !r->refs) return CL_INVALID_EVENT;
    }
    cl_int status = ocl_plain.clWaitForEvents(n, list);
    ocl_note_waited(n, list);
    return ocl_check_result("clWaitForEvents", status, NULL);
}

static cl_int CL_API_CALL get_event_info(cl_event e, cl_event_info what, size_t room, void *to,
                                         size_t *size) {
    cl_int status = ocl_plain.clGetEventInfo(e, what, room, to, size);
    if (!status && what == CL_EVENT_COMMAND_EXECUTION_STATUS) finish_event(e);
    return ocl_check_result("clGetEventInfo", status, NULL);
}

typedef void CL_CALLBACK event_notify(cl_event e, cl_int status, void *user);

static cl_int CL_API_CALL set_callback(cl_event e, cl_int when, event_notify *f, void *user) {
    cl_int status = ocl_plain.clSetEventCallback(e, when, f, user);
    if (!status) finish_event(e);
    return ocl_check_result("clSetEventCallback", status, NULL);
}

/* ------------------------------------------------------------------------------- begin and end */

/* After the handlers of the program, which may still give objects back. */
__attribute__((destructor)) static void say_all(void) {
    if (!ocl_plain.clGetPlatformIDs) return;
    ocl_say_pending();
    ocl_each_of_kind(OCL_EVENT, say_unwaited);
    ocl_say_left();
    ocl_end_faults();
}

void ocl_fill_checks(ocl_entries *e) {
    ocl_plain = e->core;
    ocl_fill_check_calls(e);
    ocl_fill_check_launch(e);
    cl_icd_dispatch *c = &e->core;
    c->clEnqueueReadBuffer = read_buffer;
    c->clEnqueueWriteBuffer = write_buffer;
    c->clEnqueueCopyBuffer = copy_buffer;
    c->clEnqueueFillBuffer = fill_buffer;
    c->clEnqueueMapBuffer = map_buffer;
    c->clEnqueueUnmapMemObject = unmap;
    c->clFinish = finish;
    c->clWaitForEvents = wait_for_events;
    c->clGetEventInfo = get_event_info;
    c->clSetEventCallback = set_callback;
}
