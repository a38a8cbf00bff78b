/* event_test.c — events: of the user and of commands, how failure reaches what waits, callbacks,
 * profiling, and events that outlive what they come from. */
#include "tests/opencl/buffers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

TestSuite(event, .init = begin_buffers, .fini = end_buffers);

static void release_all(cl_event *list, unsigned n) {
    for (unsigned k = 0; k < n; k++) SUCCEEDS(clReleaseEvent(list[k]));
}

/* A command that waits for an event (or NULL) and writes to the buffer. */
static cl_event fill_after(cl_command_queue q, cl_event wait) {
    cl_event done;
    SUCCEEDS(
        clEnqueueFillBuffer(q, buffer, "x", 1, 0, 1, wait != NULL, wait ? &wait : NULL, &done));
    return done;
}

/* -------------------------------------------------------------------------------------- answers */

Test(event, of_user) {
    cl_event e = user_event();
    TELLS(cl_command_type, CL_COMMAND_USER, clGetEventInfo, e, CL_EVENT_COMMAND_TYPE);
    TELLS(cl_command_queue, NULL, clGetEventInfo, e, CL_EVENT_COMMAND_QUEUE);
    TELLS(cl_context, ocl.context, clGetEventInfo, e, CL_EVENT_CONTEXT);
    TELLS(cl_uint, 1, clGetEventInfo, e, CL_EVENT_REFERENCE_COUNT);
    cr_expect_eq(event_status(e), CL_SUBMITTED);
    SUCCEEDS(clSetUserEventStatus(e, CL_COMPLETE));
    cr_expect_eq(event_status(e), CL_COMPLETE);
    SUCCEEDS(clReleaseEvent(e));
    e = failed_event();
    cr_expect_eq(event_status(e), -5);
    SUCCEEDS(clReleaseEvent(e));
}

Test(event, wrong_user_events) {
    cl_event e = user_event(), done = fill_after(ocl.queue, NULL);
    REFUSES(CL_INVALID_CONTEXT, clCreateUserEvent(NULL, &error));
    REFUSES(CL_INVALID_CONTEXT, clCreateUserEvent((cl_context)(void *)ocl.queue, &error));
    FAILS(CL_INVALID_EVENT, clSetUserEventStatus(NULL, CL_COMPLETE));
    FAILS(CL_INVALID_EVENT, clSetUserEventStatus(done, CL_COMPLETE));
    FAILS(CL_INVALID_VALUE, clSetUserEventStatus(e, CL_RUNNING));
    FAILS(CL_INVALID_VALUE, clSetUserEventStatus(e, CL_SUBMITTED));
    FAILS(CL_INVALID_VALUE, clSetUserEventStatus(e, CL_QUEUED));
    SUCCEEDS(clSetUserEventStatus(e, -1));
    FAILS(CL_INVALID_OPERATION, clSetUserEventStatus(e, CL_COMPLETE));
    FAILS(CL_INVALID_OPERATION, clSetUserEventStatus(e, -1));
    cr_expect_eq(event_status(e), -1);
    SUCCEEDS(clReleaseEvent(e));
    SUCCEEDS(clReleaseEvent(done));
}

Test(event, of_command) {
    cl_event go = user_event(), e = fill_after(ocl.queue, go);
    TELLS(cl_command_type, CL_COMMAND_FILL_BUFFER, clGetEventInfo, e, CL_EVENT_COMMAND_TYPE);
    TELLS(cl_command_queue, ocl.queue, clGetEventInfo, e, CL_EVENT_COMMAND_QUEUE);
    TELLS(cl_context, ocl.context, clGetEventInfo, e, CL_EVENT_CONTEXT);
    cr_expect(event_status(e) == CL_QUEUED || event_status(e) == CL_SUBMITTED);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &e));
    cr_expect_eq(event_status(e), CL_COMPLETE);
    CHECK_INFO(clGetEventInfo, e, CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue));
    FAILS(CL_INVALID_EVENT, clGetEventInfo(NULL, CL_EVENT_CONTEXT, 0, NULL, NULL));
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseEvent(e));
}

Test(event, references) {
    cl_event e = fill_after(ocl.queue, NULL), wrong = (cl_event)(void *)ocl.queue;
    SUCCEEDS(clRetainEvent(e));
    TELLS(cl_uint, 2, clGetEventInfo, e, CL_EVENT_REFERENCE_COUNT);
    SUCCEEDS(clReleaseEvent(e));
    TELLS(cl_uint, 1, clGetEventInfo, e, CL_EVENT_REFERENCE_COUNT);
    SUCCEEDS(clReleaseEvent(e));
    FAILS(CL_INVALID_EVENT, clRetainEvent(NULL));
    FAILS(CL_INVALID_EVENT, clReleaseEvent(NULL));
    FAILS(CL_INVALID_EVENT, clRetainEvent(wrong));
    FAILS(CL_INVALID_EVENT, clReleaseEvent(wrong));
}

/* -------------------------------------------------------------------------------------- waiting */

Test(event, wrong_waits) {
    cl_event list[] = {user_event(), (cl_event)(void *)ocl.queue};
    FAILS(CL_INVALID_VALUE, clWaitForEvents(0, list));
    FAILS(CL_INVALID_VALUE, clWaitForEvents(1, NULL));
    FAILS(CL_INVALID_EVENT, clWaitForEvents(2, list));
    list[1] = other_event;
    FAILS(CL_INVALID_CONTEXT, clWaitForEvents(2, list));
    SUCCEEDS(clReleaseEvent(list[0]));
}

static void *complete(void *event) {
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    SUCCEEDS(clSetUserEventStatus(event, CL_COMPLETE));
    return NULL;
}

/* All are waited for, also when the first has failed. */
Test(event, wait_for_failed_events) {
    pthread_t thread;
    cl_event list[] = {failed_event(), user_event(), fill_after(ocl.queue, NULL)};
    cr_assert(!pthread_create(&thread, NULL, complete, list[1]));
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(3, list));
    cr_expect_eq(event_status(list[1]), CL_COMPLETE);
    cr_expect_eq(event_status(list[2]), CL_COMPLETE);
    pthread_join(thread, NULL);
    SUCCEEDS(clWaitForEvents(2, list + 1));
    release_all(list, 3);
}

Test(event, many_in_a_list) {
    enum { MANY = 100 };
    cl_event list[MANY], last;
    for (int k = 0; k < MANY; k++) list[k] = user_event();
    SUCCEEDS(clEnqueueMarkerWithWaitList(ocl.queue, MANY, list, &last));
    for (int k = MANY; k--;) {
        cr_expect_neq(event_status(last), CL_COMPLETE);
        SUCCEEDS(clSetUserEventStatus(list[k], CL_COMPLETE));
    }
    SUCCEEDS(clWaitForEvents(1, &last));
    SUCCEEDS(clWaitForEvents(MANY, list));
    release_all(list, MANY);
    SUCCEEDS(clReleaseEvent(last));
}

/* -------------------------------------------------------------------------------------- failing */

/* What waits for what has failed fails, and so on; it does nothing.  Others of the queue run. */
Test(event, failure_goes_on) {
    const cl_int failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    unsigned char bytes[SIZE];
    cl_command_queue q = new_queue(ocl.context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_event go = user_event(), e[6];
    e[0] = fill_after(q, go);
    e[1] = fill_after(ocl.queue, e[0]);
    SUCCEEDS(clEnqueueMarkerWithWaitList(q, 1, &e[1], &e[2]));
    SUCCEEDS(clEnqueueBarrierWithWaitList(ocl.queue, 1, &e[2], &e[3]));
    SUCCEEDS(clEnqueueMarkerWithWaitList(ocl.queue, 0, NULL, &e[4]));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, buffer, CL_FALSE, 0, SIZE, bytes, 0, NULL, &e[5]));
    SUCCEEDS(clSetUserEventStatus(go, -5));
    SUCCEEDS(clWaitForEvents(2, &e[4]));
    for (int k = 0; k < 4; k++) cr_expect_eq(event_status(e[k]), failed, "%d", k);
    cr_expect_eq(bytes[0], byte_at(0));
    FAILS(failed, clEnqueueReadBuffer(ocl.queue, buffer, CL_TRUE, 0, 1, bytes, 1, &go, NULL));
    SUCCEEDS(clReleaseEvent(go));
    release_all(e, 6);
    SUCCEEDS(clReleaseCommandQueue(q));
}

/* A blocking command that fails hands its event out. */
Test(event, of_blocking_failure) {
    char bytes[16];
    cl_event bad = failed_event(), done = NULL;
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
          clEnqueueReadBuffer(ocl.queue, buffer, CL_TRUE, 0, 16, bytes, 1, &bad, &done));
    cr_assert_not_null(done);
    cr_expect_eq(event_status(done), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    SUCCEEDS(clReleaseEvent(done));
    SUCCEEDS(clReleaseEvent(bad));
}

/* A user event that cannot be ended any more has failed, so that nothing waits for it for ever. */
Test(event, abandoned_user_event) {
    cl_event go = user_event(), done = fill_after(ocl.queue, go);
    SUCCEEDS(clReleaseEvent(go));
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &done));
    SUCCEEDS(clReleaseEvent(done));
}

/* ------------------------------------------------------------------------------------ callbacks */

static struct {
    cl_int status[16];
    _Atomic unsigned begun, n;
} called;

static void CL_CALLBACK note(cl_event e, cl_int status, void *user) {
    called.status[called.begun++] = status;
    if (user) SUCCEEDS(clReleaseEvent(e));
    called.n++;
}

static bool are_called(void *n) { return called.n == *(unsigned *)n; }

static void expect_calls(unsigned n) { cr_expect(comes_true(are_called, &n), "%u", called.n); }

static const cl_int all_states[] = {CL_SUBMITTED, CL_RUNNING, CL_COMPLETE};

static void notify_all(cl_event e) {
    for (int k = 0; k < 3; k++) SUCCEEDS(clSetEventCallback(e, all_states[k], note, NULL));
}

/* Each once, when the command has come there; at once for where it has been. */
Test(event, callbacks) {
    cl_event go = user_event(), done = fill_after(ocl.queue, go);
    notify_all(done);
    SUCCEEDS(clFlush(ocl.queue));
    expect_calls(1);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    expect_calls(3);
    for (int k = 0; k < 3; k++) cr_expect_eq(called.status[k], all_states[k]);
    notify_all(done);
    cr_expect_eq(called.n, 6);
    for (int k = 0; k < 3; k++) cr_expect_eq(called.status[3 + k], all_states[k]);
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseEvent(done));
}

static unsigned calls_with(cl_int status) {
    unsigned n = 0;
    for (unsigned k = 0; k < called.n; k++) n += called.status[k] == status;
    return n;
}

/* Those of the two events may be called at the same time. */
Test(event, callbacks_of_failure) {
    cl_event go = user_event(), done = fill_after(ocl.queue, go);
    notify_all(go);
    expect_calls(1);
    SUCCEEDS(clSetEventCallback(done, CL_RUNNING, note, NULL));
    SUCCEEDS(clSetEventCallback(done, CL_COMPLETE, note, NULL));
    SUCCEEDS(clSetUserEventStatus(go, -7));
    expect_calls(5);
    cr_expect_eq(calls_with(-7), 2);
    cr_expect_eq(calls_with(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST), 2);
    SUCCEEDS(clSetEventCallback(go, CL_COMPLETE, note, NULL));
    cr_expect_eq(called.status[5], -7);
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseEvent(done));
}

Test(event, wrong_callbacks) {
    cl_event e = user_event();
    FAILS(CL_INVALID_EVENT, clSetEventCallback(NULL, CL_COMPLETE, note, NULL));
    FAILS(CL_INVALID_VALUE, clSetEventCallback(e, CL_COMPLETE, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clSetEventCallback(e, CL_QUEUED, note, NULL));
    FAILS(CL_INVALID_VALUE, clSetEventCallback(e, -1, note, NULL));
    FAILS(CL_INVALID_VALUE, clSetEventCallback(e, 4, note, NULL));
    SUCCEEDS(clReleaseEvent(e));
    cr_expect_eq(called.n, 0);
}

/* The last reference is given back by the first of the callbacks: the event is there for all. */
Test(event, released_by_its_callback) {
    char yes;
    cl_event e = user_event();
    SUCCEEDS(clSetEventCallback(e, CL_COMPLETE, note, &yes));
    SUCCEEDS(clSetEventCallback(e, CL_COMPLETE, note, NULL));
    SUCCEEDS(clSetUserEventStatus(e, CL_COMPLETE));
    e = fill_after(ocl.queue, NULL);
    SUCCEEDS(clSetEventCallback(e, CL_RUNNING, note, NULL));
    SUCCEEDS(clSetEventCallback(e, CL_COMPLETE, note, &yes));
    expect_calls(4);
}

static void CL_CALLBACK read_status(cl_event e, cl_int status, void *user) {
    cr_expect_eq(event_status(e), status);
    note(e, status, user);
}

Test(event, callbacks_know_their_event) {
    char yes;
    cl_event e = user_event();
    SUCCEEDS(clSetEventCallback(e, CL_COMPLETE, note, &yes));
    SUCCEEDS(clSetEventCallback(e, CL_COMPLETE, read_status, NULL));
    SUCCEEDS(clSetUserEventStatus(e, -3));
    expect_calls(2);
}

/* A callback starts the next command, as often as the user says. */
static void CL_CALLBACK go_on(cl_event e, cl_int status, void *user) {
    unsigned *left = user;
    if (!(*left)--) {
        note(e, status, user);
        return;
    }
    SUCCEEDS(clReleaseEvent(e));
    SUCCEEDS(clSetEventCallback(fill_after(ocl.queue, NULL), CL_COMPLETE, go_on, user));
}

Test(event, callbacks_enqueue) {
    unsigned left = 20;
    cl_event e = fill_after(ocl.queue, NULL);
    SUCCEEDS(clSetEventCallback(e, CL_COMPLETE, go_on, &left));
    expect_calls(1);
}

static void CL_CALLBACK end_other(cl_event e, cl_int status, void *user) {
    (void)e;
    SUCCEEDS(clSetUserEventStatus(user, status));
}

/* A command waits for an event that the callback of another one ends. */
Test(event, callbacks_end_user_events) {
    cl_event go = user_event(), first = user_event(), done = fill_after(ocl.queue, go);
    SUCCEEDS(clSetEventCallback(first, CL_COMPLETE, end_other, go));
    SUCCEEDS(clSetUserEventStatus(first, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &done));
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseEvent(first));
    SUCCEEDS(clReleaseEvent(done));
}

/* ------------------------------------------------------------------------------------ profiling */

static const cl_profiling_info counters[] = {
    CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START,
    CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_COMPLETE};

static void read_counters(cl_event e, cl_ulong to[5]) {
    for (int k = 0; k < 5; k++) {
        size_t size;
        SUCCEEDS(clGetEventProfilingInfo(e, counters[k], sizeof *to, &to[k], &size));
        cr_expect_eq(size, sizeof *to);
        cr_expect(!k || to[k - 1] <= to[k], "%d", k);
    }
}

Test(event, profiling) {
    cl_command_queue q = new_queue(ocl.context, CL_QUEUE_PROFILING_ENABLE);
    cl_ulong before, after, time[2][5];
    cl_event e[3] = {fill_after(q, NULL), fill_after(q, NULL)};
    SUCCEEDS(clGetHostTimer(ocl.device, &before));
    SUCCEEDS(clEnqueueMarkerWithWaitList(q, 0, NULL, &e[2]));
    SUCCEEDS(clFinish(q));
    SUCCEEDS(clGetHostTimer(ocl.device, &after));
    for (int k = 0; k < 2; k++) read_counters(e[k], time[k]);
    cr_expect_leq(time[0][3], time[1][2], "they run in order");
    read_counters(e[2], time[0]);
    cr_expect(before <= time[0][0] && time[0][4] <= after, "it is the host's clock");
    CHECK_INFO(clGetEventProfilingInfo, e[0], CL_PROFILING_COMMAND_END, sizeof(cl_ulong));
    release_all(e, 3);
    SUCCEEDS(clReleaseCommandQueue(q));
}

Test(event, no_profiling) {
    cl_command_queue q = new_queue(ocl.context, CL_QUEUE_PROFILING_ENABLE);
    cl_event go = user_event();
    cl_event e[] = {fill_after(ocl.queue, NULL), fill_after(q, go), go};
    for (int k = 0; k < 3; k++)
        for (int n = 0; n < 5; n++)
            FAILS(CL_PROFILING_INFO_NOT_AVAILABLE,
                  clGetEventProfilingInfo(e[k], counters[n], 0, NULL, NULL));
    FAILS(CL_INVALID_EVENT, clGetEventProfilingInfo(NULL, CL_PROFILING_COMMAND_END, 0, NULL, NULL));
    SUCCEEDS(clSetUserEventStatus(go, -1));
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &e[1]));
    for (int k = 1; k < 3; k++)
        FAILS(CL_PROFILING_INFO_NOT_AVAILABLE,
              clGetEventProfilingInfo(e[k], CL_PROFILING_COMMAND_END, 0, NULL, NULL));
    release_all(e, 3);
    SUCCEEDS(clReleaseCommandQueue(q));
}

/* ------------------------------------------------------------------------------------ lifetimes */

static void CL_CALLBACK count_end(cl_context c, void *user) {
    (void)c;
    ++*(_Atomic unsigned *)user;
}

static bool is_one(void *n) { return *(_Atomic unsigned *)n == 1; }

/* The handles of the queue, the buffer and the context are gone before the command runs. */
Test(event, outlives_the_others) {
    _Atomic unsigned ends = 0;
    cl_ulong time[5];
    cl_context c = new_context();
    cl_command_queue q = new_queue(c, CL_QUEUE_PROFILING_ENABLE);
    cl_mem m = MAKE(clCreateBuffer(c, 0, 16, NULL, &error));
    cl_event go = MAKE(clCreateUserEvent(c, &error)), done;
    SUCCEEDS(clSetContextDestructorCallback(c, count_end, &ends));
    SUCCEEDS(clEnqueueFillBuffer(q, m, "x", 1, 0, 16, 1, &go, &done));
    SUCCEEDS(clReleaseCommandQueue(q));
    SUCCEEDS(clReleaseMemObject(m));
    SUCCEEDS(clReleaseContext(c));
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clWaitForEvents(1, &done));
    read_counters(done, time);
    TELLS(cl_context, c, clGetEventInfo, done, CL_EVENT_CONTEXT);
    TELLS(cl_command_queue, q, clGetEventInfo, done, CL_EVENT_COMMAND_QUEUE);
    SUCCEEDS(clSetEventCallback(done, CL_COMPLETE, note, NULL));
    expect_calls(1);
    cr_expect_eq(ends, 0);
    SUCCEEDS(clReleaseEvent(done));
    cr_expect(comes_true(is_one, &ends));
}

static void CL_CALLBACK look_at(cl_event e, cl_int status, void *user) {
    (void)user;
    cr_expect(status == CL_COMPLETE && event_status(e) == CL_COMPLETE);
}

enum { ROUNDS = 2000 };
static _Atomic(cl_event) passed;

static void *end_each(void *user) {
    for (int k = 0; k < ROUNDS; k++) {
        cl_event e;
        while (!(e = atomic_exchange(&passed, NULL))) sched_yield();
        SUCCEEDS(clSetUserEventStatus(e, CL_COMPLETE));
    }
    return user;
}

/* One thread ends an event, another one waits for it and releases it as soon as it has ended. */
Test(event, released_while_it_ends) {
    pthread_t thread;
    cr_assert(!pthread_create(&thread, NULL, end_each, NULL));
    for (int k = 0; k < ROUNDS; k++) {
        cl_event e = user_event();
        SUCCEEDS(clSetEventCallback(e, CL_COMPLETE, look_at, NULL));
        passed = e;
        while (event_status(e) != CL_COMPLETE) sched_yield();
        SUCCEEDS(clReleaseEvent(e));
    }
    pthread_join(thread, NULL);
}
