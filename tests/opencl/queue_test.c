/* queue_test.c — command queues: how they are made, what they say of themselves, in which order
 * commands run, and queues that end before their commands. */
#include "tests/opencl/buffers.h"

#include <stdatomic.h>

TestSuite(queue, .init = begin_buffers, .fini = end_buffers);

enum {
    ANY_ORDER = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
    PROFILED = CL_QUEUE_PROFILING_ENABLE,
    ON_DEVICE = CL_QUEUE_ON_DEVICE | ANY_ORDER
};

/* ------------------------------------------------------------------------------------- creation */

Test(queue, create) {
    static const cl_command_queue_properties all[] = {0, ANY_ORDER, PROFILED, ANY_ORDER | PROFILED};
    for (int k = 0; k < 4; k++) {
        const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, all[k], 0};
        cl_queue_properties told[8];
        size_t size;
        cl_command_queue q = new_queue(ocl.context, all[k]);
        TELLS(cl_command_queue_properties, all[k], clGetCommandQueueInfo, q, CL_QUEUE_PROPERTIES);
        SUCCEEDS(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof told, told, &size));
        cr_expect(size == sizeof list && memcmp(told, list, size) == 0);
        SUCCEEDS(clReleaseCommandQueue(q));
        q = MAKE(clCreateCommandQueue(ocl.context, ocl.device, all[k], &error));
        TELLS(cl_command_queue_properties, all[k], clGetCommandQueueInfo, q, CL_QUEUE_PROPERTIES);
        SUCCEEDS(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof told, told, &size));
        cr_expect_eq(size, 0);
        SUCCEEDS(clReleaseCommandQueue(q));
    }
}

typedef cl_command_queue CL_API_CALL creation(cl_context, cl_device_id, const cl_queue_properties *,
                                              cl_int *);

static void check_creation(creation *create) {
    cl_device_id wrong = (cl_device_id)(void *)ocl.platform;
    const cl_queue_properties none[] = {0}, unknown[] = {12345, 1, 0},
                              bits[] = {CL_QUEUE_PROPERTIES, 1 << 20, 0},
                              device[] = {CL_QUEUE_PROPERTIES, ON_DEVICE, 0},
                              size[] = {CL_QUEUE_PROPERTIES, ON_DEVICE, CL_QUEUE_SIZE, 16, 0},
                              host_size[] = {CL_QUEUE_SIZE, 16, 0},
                              no_priority[] = {CL_QUEUE_PRIORITY_KHR, 0, 0},
                              priorities[] = {CL_QUEUE_PRIORITY_KHR, 3, 0},
                              throttle[] = {CL_QUEUE_THROTTLE_KHR, 8, 0},
                              hints[] = {CL_QUEUE_PRIORITY_KHR, 1, CL_QUEUE_PRIORITY_KHR, 1, 0},
                              hint[] = {CL_QUEUE_PROPERTIES, ON_DEVICE, CL_QUEUE_PRIORITY_KHR, 1,
                                        0},
                              twice[] = {CL_QUEUE_PROPERTIES, 0, CL_QUEUE_PROPERTIES, 0, 0};
    SUCCEEDS(clReleaseCommandQueue(MAKE(create(ocl.context, ocl.device, NULL, &error))));
    SUCCEEDS(clReleaseCommandQueue(MAKE(create(ocl.context, ocl.device, none, &error))));
    SUCCEEDS(clReleaseCommandQueue(create(ocl.context, ocl.device, none, NULL)));
    REFUSES(CL_INVALID_CONTEXT, create((cl_context)(void *)ocl.queue, ocl.device, NULL, &error));
    REFUSES(CL_INVALID_DEVICE, create(ocl.context, NULL, unknown, &error));
    REFUSES(CL_INVALID_DEVICE, create(ocl.context, wrong, NULL, &error));
    REFUSES(CL_INVALID_VALUE, create(ocl.context, ocl.device, unknown, &error));
    REFUSES(CL_INVALID_VALUE, create(ocl.context, ocl.device, bits, &error));
    REFUSES(CL_INVALID_VALUE, create(ocl.context, ocl.device, twice, &error));
    REFUSES(CL_INVALID_VALUE, create(ocl.context, ocl.device, no_priority, &error));
    REFUSES(CL_INVALID_VALUE, create(ocl.context, ocl.device, priorities, &error));
    REFUSES(CL_INVALID_VALUE, create(ocl.context, ocl.device, throttle, &error));
    REFUSES(CL_INVALID_VALUE, create(ocl.context, ocl.device, hints, &error));
    REFUSES(CL_INVALID_QUEUE_PROPERTIES, create(ocl.context, ocl.device, hint, &error));
    REFUSES(CL_INVALID_QUEUE_PROPERTIES, create(ocl.context, ocl.device, device, &error));
    REFUSES(CL_INVALID_QUEUE_PROPERTIES, create(ocl.context, ocl.device, size, &error));
    REFUSES(CL_INVALID_QUEUE_PROPERTIES, create(ocl.context, ocl.device, host_size, &error));
}

/* They have no effect, but are told. */
Test(queue, hints) {
    const cl_queue_properties hints[] = {CL_QUEUE_PRIORITY_KHR,
                                         CL_QUEUE_PRIORITY_HIGH_KHR,
                                         CL_QUEUE_PROPERTIES,
                                         ANY_ORDER,
                                         CL_QUEUE_THROTTLE_KHR,
                                         CL_QUEUE_THROTTLE_LOW_KHR,
                                         0};
    cl_queue_properties told[8];
    size_t size;
    cl_command_queue q =
        MAKE(clCreateCommandQueueWithProperties(ocl.context, ocl.device, hints, &error));
    SUCCEEDS(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof told, told, &size));
    cr_expect(size == sizeof hints && !memcmp(told, hints, size));
    TELLS(cl_command_queue_properties, ANY_ORDER, clGetCommandQueueInfo, q, CL_QUEUE_PROPERTIES);
    SUCCEEDS(clReleaseCommandQueue(q));
}

Test(queue, wrong_properties) {
    creation *extension;
    find_entry("clCreateCommandQueueWithPropertiesKHR", &extension);
    check_creation(clCreateCommandQueueWithProperties);
    check_creation(extension);
    REFUSES(CL_INVALID_CONTEXT, clCreateCommandQueueWithProperties(NULL, ocl.device, NULL, &error));
}

Test(queue, old_creation) {
    REFUSES(CL_INVALID_CONTEXT, clCreateCommandQueue(NULL, ocl.device, 0, &error));
    REFUSES(CL_INVALID_DEVICE, clCreateCommandQueue(ocl.context, NULL, 0, &error));
    REFUSES(CL_INVALID_VALUE, clCreateCommandQueue(ocl.context, ocl.device, 1 << 20, &error));
    REFUSES(CL_INVALID_VALUE, clCreateCommandQueue(ocl.context, ocl.device, ON_DEVICE, &error));
}

/* -------------------------------------------------------------------------------------- answers */

Test(queue, info) {
    TELLS(cl_context, ocl.context, clGetCommandQueueInfo, ocl.queue, CL_QUEUE_CONTEXT);
    TELLS(cl_device_id, ocl.device, clGetCommandQueueInfo, ocl.queue, CL_QUEUE_DEVICE);
    TELLS(cl_uint, 1, clGetCommandQueueInfo, ocl.queue, CL_QUEUE_REFERENCE_COUNT);
    TELLS(cl_command_queue, NULL, clGetCommandQueueInfo, ocl.queue, CL_QUEUE_DEVICE_DEFAULT);
    CHECK_INFO(clGetCommandQueueInfo, ocl.queue, CL_QUEUE_CONTEXT, sizeof(cl_context));
    FAILS(CL_INVALID_COMMAND_QUEUE,
          clGetCommandQueueInfo(ocl.queue, CL_QUEUE_SIZE, 0, NULL, NULL)); /* the host has it */
    FAILS(CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(NULL, CL_QUEUE_CONTEXT, 0, NULL, NULL));
}

Test(queue, what_is_not_there) {
    cl_command_queue wrong = (cl_command_queue)(void *)ocl.context;
    FAILS(CL_INVALID_OPERATION, clSetCommandQueueProperty(ocl.queue, PROFILED, CL_TRUE, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE, clSetCommandQueueProperty(wrong, PROFILED, CL_TRUE, NULL));
    FAILS(CL_INVALID_OPERATION, clSetDefaultDeviceCommandQueue(ocl.context, ocl.device, ocl.queue));
    FAILS(CL_INVALID_CONTEXT, clSetDefaultDeviceCommandQueue(NULL, ocl.device, ocl.queue));
    FAILS(CL_INVALID_DEVICE, clSetDefaultDeviceCommandQueue(ocl.context, NULL, ocl.queue));
}

Test(queue, wrong_queues) {
    cl_command_queue wrong[] = {NULL, (cl_command_queue)(void *)ocl.context};
    for (int k = 0; k < 2; k++) {
        cl_command_queue q = wrong[k];
        FAILS(CL_INVALID_COMMAND_QUEUE, clRetainCommandQueue(q));
        FAILS(CL_INVALID_COMMAND_QUEUE, clReleaseCommandQueue(q));
        FAILS(CL_INVALID_COMMAND_QUEUE, clFlush(q));
        FAILS(CL_INVALID_COMMAND_QUEUE, clFinish(q));
        FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueMarkerWithWaitList(q, 0, NULL, NULL));
        FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueBarrierWithWaitList(q, 0, NULL, NULL));
        FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueMarker(q, NULL));
        FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueBarrier(q));
        FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueWaitForEvents(q, 1, &other_event));
    }
}

/* -------------------------------------------------------------------------------- flush, finish */

Test(queue, nothing_to_wait_for) {
    SUCCEEDS(clFlush(ocl.queue));
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(clFinish(ocl.queue));
}

Test(queue, flush_is_enough) {
    cl_event done;
    SUCCEEDS(clEnqueueFillBuffer(ocl.queue, buffer, "x", 1, 0, SIZE, 0, NULL, &done));
    SUCCEEDS(clFlush(ocl.queue));
    cr_expect(comes_true(has_ended, done));
    SUCCEEDS(clReleaseEvent(done));
}

Test(queue, finish_waits_for_all) {
    static const cl_command_queue_properties orders[] = {0, ANY_ORDER};
    for (int k = 0; k < 2; k++) {
        cl_command_queue q = new_queue(ocl.context, orders[k]);
        cl_event done[50];
        for (int n = 0; n < 50; n++)
            SUCCEEDS(clEnqueueFillBuffer(q, buffer, "x", 1, 0, SIZE, 0, NULL, &done[n]));
        SUCCEEDS(clFinish(q));
        for (int n = 0; n < 50; n++) {
            cr_expect_eq(event_status(done[n]), CL_COMPLETE);
            SUCCEEDS(clReleaseEvent(done[n]));
        }
        SUCCEEDS(clReleaseCommandQueue(q));
    }
}

/* ---------------------------------------------------------------------------------------- order */

static _Atomic unsigned calls;

static void CL_CALLBACK count(void *args) {
    unsigned *place = *(unsigned **)args;
    *place = ++calls;
}

static void call(cl_command_queue q, unsigned *place, const cl_event *wait, cl_event *out) {
    SUCCEEDS(clEnqueueNativeKernel(q, count, &place, sizeof place, 0, NULL, NULL, wait != NULL,
                                   wait, out));
}

Test(queue, in_order) {
    unsigned at[20];
    cl_event go = user_event();
    for (int n = 0; n < 20; n++) call(ocl.queue, &at[n], n ? NULL : &go, NULL);
    SUCCEEDS(clFlush(ocl.queue));
    cr_expect_eq(calls, 0);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clFinish(ocl.queue));
    for (unsigned n = 0; n < 20; n++) cr_expect_eq(at[n], n + 1);
    SUCCEEDS(clReleaseEvent(go));
}

/* What waits delays no other command: all is done although the first two still wait. */
Test(queue, out_of_order) {
    unsigned at[3];
    cl_command_queue q = new_queue(ocl.context, ANY_ORDER);
    cl_event go = user_event(), first, done;
    call(q, &at[0], &go, &first);
    call(q, &at[1], &first, NULL);
    call(q, &at[2], NULL, &done);
    SUCCEEDS(clWaitForEvents(1, &done));
    cr_expect_eq(calls, 1);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clFinish(q));
    cr_expect(at[2] == 1 && at[0] == 2 && at[1] == 3);
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseEvent(first));
    SUCCEEDS(clReleaseEvent(done));
    SUCCEEDS(clReleaseCommandQueue(q));
}

Test(queue, barrier_separates) {
    unsigned at[3];
    cl_command_queue q = new_queue(ocl.context, ANY_ORDER);
    cl_event go = user_event(), barrier;
    call(q, &at[0], &go, NULL);
    call(q, &at[1], NULL, NULL);
    SUCCEEDS(clEnqueueBarrierWithWaitList(q, 0, NULL, &barrier));
    call(q, &at[2], NULL, NULL);
    SUCCEEDS(clFlush(q));
    cr_expect_neq(event_status(barrier), CL_COMPLETE);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clFinish(q));
    cr_expect_eq(at[2], 3);
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseEvent(barrier));
    SUCCEEDS(clReleaseCommandQueue(q));
}

/* One that waits for events holds up what comes later, not for what came before. */
Test(queue, barrier_for_events) {
    unsigned at[2];
    cl_command_queue q = new_queue(ocl.context, ANY_ORDER);
    cl_event never = user_event(), go = user_event(), late;
    call(q, &at[0], &never, NULL);
    SUCCEEDS(clEnqueueWaitForEvents(q, 1, &go));
    call(q, &at[1], NULL, &late);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &late));
    cr_expect_eq(calls, 1);
    SUCCEEDS(clSetUserEventStatus(never, CL_COMPLETE));
    SUCCEEDS(clFinish(q));
    SUCCEEDS(clReleaseEvent(never));
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseEvent(late));
    SUCCEEDS(clReleaseCommandQueue(q));
}

/* A marker ends after all before it, and delays no command. */
Test(queue, marker) {
    unsigned at[2];
    cl_command_queue q = new_queue(ocl.context, ANY_ORDER);
    cl_event go = user_event(), marker, late;
    call(q, &at[0], &go, NULL);
    SUCCEEDS(clEnqueueMarker(q, &marker));
    call(q, &at[1], NULL, &late);
    SUCCEEDS(clWaitForEvents(1, &late));
    cr_expect_neq(event_status(marker), CL_COMPLETE);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &marker));
    cr_expect_eq(calls, 2);
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseEvent(marker));
    SUCCEEDS(clReleaseEvent(late));
    SUCCEEDS(clReleaseCommandQueue(q));
}

Test(queue, kinds_of_markers) {
    cl_event e;
    SUCCEEDS(clEnqueueMarkerWithWaitList(ocl.queue, 0, NULL, &e));
    TELLS(cl_command_type, CL_COMMAND_MARKER, clGetEventInfo, e, CL_EVENT_COMMAND_TYPE);
    SUCCEEDS(clReleaseEvent(e));
    SUCCEEDS(clEnqueueMarker(ocl.queue, &e));
    TELLS(cl_command_type, CL_COMMAND_MARKER, clGetEventInfo, e, CL_EVENT_COMMAND_TYPE);
    SUCCEEDS(clReleaseEvent(e));
    SUCCEEDS(clEnqueueBarrierWithWaitList(ocl.queue, 0, NULL, &e));
    TELLS(cl_command_type, CL_COMMAND_BARRIER, clGetEventInfo, e, CL_EVENT_COMMAND_TYPE);
    SUCCEEDS(clReleaseEvent(e));
    SUCCEEDS(clEnqueueBarrier(ocl.queue));
}

Test(queue, wrong_waits) {
    const cl_event wrong = (cl_event)(void *)ocl.queue;
    CHECK_WAIT_LIST(clEnqueueMarkerWithWaitList(ocl.queue, n, list, NULL));
    CHECK_WAIT_LIST(clEnqueueBarrierWithWaitList(ocl.queue, n, list, NULL));
    FAILS(CL_INVALID_VALUE, clEnqueueMarker(ocl.queue, NULL));
    FAILS(CL_INVALID_VALUE, clEnqueueWaitForEvents(ocl.queue, 0, &other_event));
    FAILS(CL_INVALID_VALUE, clEnqueueWaitForEvents(ocl.queue, 1, NULL));
    FAILS(CL_INVALID_EVENT, clEnqueueWaitForEvents(ocl.queue, 1, &wrong));
    FAILS(CL_INVALID_CONTEXT, clEnqueueWaitForEvents(ocl.queue, 1, &other_event));
}

/* ------------------------------------------------------------------------------------ lifetimes */

Test(queue, references) {
    cl_command_queue q = new_queue(ocl.context, 0);
    SUCCEEDS(clRetainCommandQueue(q));
    TELLS(cl_uint, 2, clGetCommandQueueInfo, q, CL_QUEUE_REFERENCE_COUNT);
    SUCCEEDS(clReleaseCommandQueue(q));
    TELLS(cl_uint, 1, clGetCommandQueueInfo, q, CL_QUEUE_REFERENCE_COUNT);
    SUCCEEDS(clReleaseCommandQueue(q));
}

/* Commands of a queue that has been released run. */
Test(queue, released_while_commands_run) {
    for (int k = 0; k < 2; k++) {
        unsigned at[2];
        cl_command_queue q = new_queue(ocl.context, k ? ANY_ORDER : 0);
        cl_event go = user_event(), done, last;
        call(q, &at[0], &go, &done);
        SUCCEEDS(clEnqueueMarkerWithWaitList(q, 0, NULL, &last));
        SUCCEEDS(clReleaseCommandQueue(q));
        SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
        SUCCEEDS(clWaitForEvents(1, &last));
        cr_expect_eq(event_status(done), CL_COMPLETE);
        TELLS(cl_command_queue, q, clGetEventInfo, done, CL_EVENT_COMMAND_QUEUE);
        SUCCEEDS(clReleaseEvent(go));
        SUCCEEDS(clReleaseEvent(done));
        SUCCEEDS(clReleaseEvent(last));
    }
    cr_expect_eq(calls, 2);
}
