/* command_buffer_test.c — command buffers: what is recorded runs in order, as often as it is asked
 * for; each error. */
#include "tests/opencl/command_buffer.h"

enum { COMMAND_BUFFER_CONTEXT = 0x1299 }; /* CL_COMMAND_BUFFER_CONTEXT_KHR; older headers lack it */

TestSuite(command_buffer, .init = begin_commands, .fini = end_commands);

/* ------------------------------------------------------------------------------------- commands */

Test(command_buffer, commands_run_in_order) {
    const size_t target[3] = {8, 1, 0}, source[3] = {0, 0, 0}, region[3] = {4, 3, 1};
    const int pattern = 7;
    cl_sync_point_khr point[6] = {0};
    record_add(commands, 1, 0, 5);
    SUCCEEDS(khr.clCommandCopyBufferKHR(commands, NULL, buffers[1], buffers[2], 0, 40, 400, 0, NULL,
                                        &point[0], NULL));
    SUCCEEDS(khr.clCommandBarrierWithWaitListKHR(commands, NULL, 1, point, &point[1], NULL));
    SUCCEEDS(khr.clCommandFillBufferKHR(commands, NULL, buffers[2], &pattern, 4, 20, 12, 2, point,
                                        &point[2], NULL));
    SUCCEEDS(khr.clCommandCopyBufferRectKHR(commands, NULL, buffers[1], buffers[3], source, target,
                                            region, 40, 0, 20, 0, 0, NULL, &point[3], NULL));
    record_add(commands, 2, 2, 1000);
    cr_expect(point[0] == 2 && point[1] == 3 && point[2] == 4 && point[3] == 5);
    finalize(commands);
    run(commands);
    expect_copies();
}

Test(command_buffer, arguments_are_those_of_recording) {
    int one = 1, many = 100, back[COUNT];
    size_t count = COUNT;
    cl_kernel k = with_buffers("add", buffers[1], buffers[0]);
    SUCCEEDS(clSetKernelArg(k, 2, sizeof one, &one));
    SUCCEEDS(clRetainKernel(k));
    record(commands, k, COUNT);
    SUCCEEDS(clSetKernelArg(k, 2, sizeof many, &many));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof(cl_mem), &buffers[2]));
    finalize(commands);
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &count, NULL, 0, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
    run(commands);
    read_ints(1, back);
    cr_expect(back[3] == 4);
    read_ints(2, back);
    cr_expect(back[3] == 103);
}

Test(command_buffer, objects_live_as_long_as_what_uses_them) {
    int back[COUNT];
    cl_command_queue q = new_queue(ocl.context, 0);
    cl_command_buffer_khr b = MAKE(khr.clCreateCommandBufferKHR(1, &q, NULL, &error));
    cl_event gate = MAKE(clCreateUserEvent(ocl.context, &error));
    record_add(b, 1, 0, 1);
    record_add(b, 2, 1, 1);
    finalize(b);
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(1, &ocl.queue, b, 1, &gate, NULL));
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
    SUCCEEDS(clReleaseCommandQueue(q));
    SUCCEEDS(clReleaseMemObject(buffers[1]));
    buffers[1] = NULL;
    SUCCEEDS(clSetUserEventStatus(gate, CL_COMPLETE));
    SUCCEEDS(clReleaseEvent(gate));
    SUCCEEDS(clFinish(ocl.queue));
    read_ints(2, back);
    cr_expect(back[COUNT - 1] == COUNT + 1);
}

Test(command_buffer, nothing_is_something_to_run) {
    cl_event e;
    cl_command_type type;
    finalize(commands);
    cr_expect(count_launches(commands) == 0);
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(0, NULL, commands, 0, NULL, &e));
    SUCCEEDS(clWaitForEvents(1, &e));
    SUCCEEDS(clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    cr_expect(type == CL_COMMAND_COMMAND_BUFFER_KHR);
    SUCCEEDS(clReleaseEvent(e));
}

Test(command_buffer, empty_ranges_do_nothing) {
    cl_kernel k = with_buffers("reverse", buffers[1], buffers[0]);
    size_t none = 0;
    int back[COUNT];
    record(commands, k, none);
    record_add(commands, 2, 0, 1);
    finalize(commands);
    cr_expect(count_launches(commands) == 1);
    run(commands);
    read_ints(1, back);
    cr_expect(back[0] == 0 && back[COUNT - 1] == 0);
}

/* ----------------------------------------------------------------------------------------- runs */

static void expect_state(cl_command_buffer_state_khr wanted) {
    TELLS(cl_command_buffer_state_khr, wanted, khr.clGetCommandBufferInfoKHR, commands,
          CL_COMMAND_BUFFER_STATE_KHR);
}

/* Each waits for the one before, as the queue says; while it runs it is executable, too. */
Test(command_buffer, runs_follow_each_other) {
    cl_event gate = MAKE(clCreateUserEvent(ocl.context, &error)), e;
    int back[COUNT];
    record_add(commands, 1, 1, 1);
    expect_state(CL_COMMAND_BUFFER_STATE_RECORDING_KHR);
    FAILS(CL_INVALID_OPERATION, khr.clEnqueueCommandBufferKHR(0, NULL, commands, 0, NULL, NULL));
    finalize(commands);
    expect_state(CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(0, NULL, commands, 1, &gate, &e));
    expect_state(CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(0, NULL, commands, 0, NULL, NULL));
    SUCCEEDS(clSetUserEventStatus(gate, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &e));
    for (int n = 0; n < 50; n++) run(commands);
    read_ints(1, back);
    for (int n = 0; n < COUNT; n++) cr_assert(back[n] == 52);
    SUCCEEDS(clReleaseEvent(e));
    SUCCEEDS(clReleaseEvent(gate));
}

Test(command_buffer, several_runs_at_a_time) {
    const cl_command_buffer_properties_khr p[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                  CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
    cl_command_buffer_khr b = new_commands(p);
    cl_command_queue other = new_queue(ocl.context, 0);
    cl_event gate = MAKE(clCreateUserEvent(ocl.context, &error));
    int back[COUNT];
    record_add(b, 1, 0, 1);
    record_add(b, 2, 1, 1);
    finalize(b);
    for (int n = 0; n < 20; n++)
        SUCCEEDS(khr.clEnqueueCommandBufferKHR(1, n & 1 ? &other : &ocl.queue, b, 1, &gate, NULL));
    SUCCEEDS(clSetUserEventStatus(gate, CL_COMPLETE));
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(clFinish(other));
    read_ints(2, back);
    for (int n = 0; n < COUNT; n++) cr_assert(back[n] == n + 2);
    SUCCEEDS(clReleaseEvent(gate));
    SUCCEEDS(clReleaseCommandQueue(other));
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
}

Test(command_buffer, a_run_that_waits_for_a_failure_fails) {
    cl_event gate = MAKE(clCreateUserEvent(ocl.context, &error)), e;
    cl_int status;
    int back[COUNT];
    record_add(commands, 1, 0, 1);
    finalize(commands);
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(0, NULL, commands, 1, &gate, &e));
    SUCCEEDS(clSetUserEventStatus(gate, -7));
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &e));
    SUCCEEDS(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    cr_expect(status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    expect_state(CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
    read_ints(1, back);
    cr_expect(back[5] == 0);
    run(commands);
    read_ints(1, back);
    cr_expect(back[5] == 6);
    SUCCEEDS(clReleaseEvent(e));
    SUCCEEDS(clReleaseEvent(gate));
}

Test(command_buffer, a_run_has_times) {
    cl_command_queue q = new_queue(ocl.context, CL_QUEUE_PROFILING_ENABLE);
    cl_command_buffer_khr b = MAKE(khr.clCreateCommandBufferKHR(1, &q, NULL, &error));
    cl_event e;
    cl_ulong queued, start, end;
    record_add(b, 1, 0, 1);
    finalize(b);
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(0, NULL, b, 0, NULL, &e));
    SUCCEEDS(clWaitForEvents(1, &e));
    SUCCEEDS(clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_QUEUED, 8, &queued, NULL));
    SUCCEEDS(clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_START, 8, &start, NULL));
    SUCCEEDS(clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, 8, &end, NULL));
    cr_expect(queued && queued <= start && start < end);
    SUCCEEDS(clReleaseEvent(e));
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
    SUCCEEDS(clReleaseCommandQueue(q));
}

Test(command_buffer, other_queues) {
    cl_command_queue timed = new_queue(ocl.context, CL_QUEUE_PROFILING_ENABLE), two[2];
    cl_context c = new_context();
    cl_command_queue foreign = new_queue(c, 0), none = NULL;
    two[0] = two[1] = ocl.queue;
    finalize(commands);
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(1, &timed, commands, 0, NULL, NULL));
    SUCCEEDS(clFinish(timed));
    FAILS(CL_INVALID_CONTEXT, khr.clEnqueueCommandBufferKHR(1, &foreign, commands, 0, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE,
          khr.clEnqueueCommandBufferKHR(1, &none, commands, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, khr.clEnqueueCommandBufferKHR(1, NULL, commands, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, khr.clEnqueueCommandBufferKHR(0, two, commands, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, khr.clEnqueueCommandBufferKHR(2, two, commands, 0, NULL, NULL));
    SUCCEEDS(clReleaseCommandQueue(timed));
    SUCCEEDS(clReleaseCommandQueue(foreign));
    end_context(c);
}

Test(command_buffer, errors_of_runs) {
    cl_context c = new_context();
    cl_event e = MAKE(clCreateUserEvent(c, &error)), none = NULL;
    finalize(commands);
    FAILS(CL_INVALID_COMMAND_BUFFER_KHR,
          khr.clEnqueueCommandBufferKHR(0, NULL, NULL, 0, NULL, NULL));
    FAILS(CL_INVALID_CONTEXT, khr.clEnqueueCommandBufferKHR(0, NULL, commands, 1, &e, NULL));
    FAILS(CL_INVALID_EVENT_WAIT_LIST,
          khr.clEnqueueCommandBufferKHR(0, NULL, commands, 1, &none, NULL));
    FAILS(CL_INVALID_EVENT_WAIT_LIST,
          khr.clEnqueueCommandBufferKHR(0, NULL, commands, 1, NULL, NULL));
    FAILS(CL_INVALID_EVENT_WAIT_LIST,
          khr.clEnqueueCommandBufferKHR(0, NULL, commands, 0, &e, NULL));
    expect_state(CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
    SUCCEEDS(clSetUserEventStatus(e, CL_COMPLETE));
    SUCCEEDS(clReleaseEvent(e));
    end_context(c);
}

/* ---------------------------------------------------------------------- creation and finalizing */

static void refuse_properties(cl_int wanted, const cl_command_buffer_properties_khr *p) {
    REFUSES(wanted, khr.clCreateCommandBufferKHR(1, &ocl.queue, p, &error));
}

Test(command_buffer, errors_of_creation) {
    cl_command_queue none = NULL;
    const cl_command_buffer_properties_khr unknown[] = {1, 2, 0},
                                           bits[] = {CL_COMMAND_BUFFER_FLAGS_KHR, 64, 0},
                                           twice[] = {CL_COMMAND_BUFFER_FLAGS_KHR, 0,
                                                      CL_COMMAND_BUFFER_FLAGS_KHR, 0, 0},
                                           fusion[] = {CL_COMMAND_BUFFER_FUSION_SPVF, 2, 0};
    REFUSES(CL_INVALID_VALUE, khr.clCreateCommandBufferKHR(0, &ocl.queue, NULL, &error));
    REFUSES(CL_INVALID_VALUE, khr.clCreateCommandBufferKHR(2, &ocl.queue, NULL, &error));
    REFUSES(CL_INVALID_VALUE, khr.clCreateCommandBufferKHR(1, NULL, NULL, &error));
    REFUSES(CL_INVALID_COMMAND_QUEUE, khr.clCreateCommandBufferKHR(1, &none, NULL, &error));
    refuse_properties(CL_INVALID_VALUE, unknown);
    refuse_properties(CL_INVALID_VALUE, bits);
    refuse_properties(CL_INVALID_VALUE, twice);
    refuse_properties(CL_INVALID_VALUE, fusion);
    cr_expect(!khr.clCreateCommandBufferKHR(0, NULL, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_BUFFER_KHR, khr.clRetainCommandBufferKHR(NULL));
    FAILS(CL_INVALID_COMMAND_BUFFER_KHR, khr.clReleaseCommandBufferKHR(NULL));
    FAILS(CL_INVALID_COMMAND_BUFFER_KHR, khr.clFinalizeCommandBufferKHR(NULL));
    finalize(commands);
    FAILS(CL_INVALID_OPERATION, khr.clFinalizeCommandBufferKHR(commands));
}

Test(command_buffer, information) {
    const cl_command_buffer_properties_khr p[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                  CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
    cl_command_buffer_properties_khr back[3];
    cl_command_buffer_khr b = new_commands(p);
    size_t size;
    cl_uint n;
    TELLS(cl_uint, 1, khr.clGetCommandBufferInfoKHR, b, CL_COMMAND_BUFFER_NUM_QUEUES_KHR);
    TELLS(cl_context, ocl.context, khr.clGetCommandBufferInfoKHR, b, COMMAND_BUFFER_CONTEXT);
    TELLS(cl_command_queue, ocl.queue, khr.clGetCommandBufferInfoKHR, b,
          CL_COMMAND_BUFFER_QUEUES_KHR);
    TELLS(cl_uint, 1, khr.clGetCommandBufferInfoKHR, b, CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR);
    SUCCEEDS(khr.clRetainCommandBufferKHR(b));
    TELLS(cl_uint, 2, khr.clGetCommandBufferInfoKHR, b, CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR);
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
    TELLS(cl_uint, 0, khr.clGetCommandBufferInfoKHR, b, CL_COMMAND_BUFFER_LAUNCH_COUNT_SPVF);
    SUCCEEDS(khr.clGetCommandBufferInfoKHR(b, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR, sizeof back,
                                           back, &size));
    cr_expect(size == sizeof p && memcmp(back, p, size) == 0);
    SUCCEEDS(
        khr.clGetCommandBufferInfoKHR(b, CL_COMMAND_BUFFER_FUSION_REPORT_SPVF, 0, NULL, &size));
    cr_expect(size == 1);
    FAILS(CL_INVALID_VALUE,
          khr.clGetCommandBufferInfoKHR(b, CL_COMMAND_BUFFER_NUM_QUEUES_KHR, 3, &n, NULL));
    FAILS(CL_INVALID_VALUE, khr.clGetCommandBufferInfoKHR(b, 1, sizeof n, &n, NULL));
    FAILS(
        CL_INVALID_COMMAND_BUFFER_KHR,
        khr.clGetCommandBufferInfoKHR(NULL, CL_COMMAND_BUFFER_NUM_QUEUES_KHR, sizeof n, &n, NULL));
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
}

Test(command_buffer, the_device_tells) {
    const cl_device_command_buffer_capabilities_khr all =
        CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR |
        CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR |
        CL_COMMAND_BUFFER_CAPABILITY_OUT_OF_ORDER_KHR;
    char extensions[4096];
    TELLS(cl_device_command_buffer_capabilities_khr, all, clGetDeviceInfo, ocl.device,
          CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR);
    TELLS(cl_command_queue_properties, 0, clGetDeviceInfo, ocl.device,
          CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR);
    SUCCEEDS(
        clGetDeviceInfo(ocl.device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL));
    cr_expect(strstr(extensions, "cl_khr_command_buffer "));
    cl_name_version versions[64];
    size_t size;
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof versions,
                             versions, &size));
    for (size_t n = 0; n < size / sizeof *versions; n++)
        if (!strcmp(versions[n].name, "cl_khr_command_buffer"))
            cr_expect(versions[n].version == CL_MAKE_VERSION(0, 9, 8));
}

/* ------------------------------------------------------------------------- errors of recording */

Test(command_buffer, errors_of_barriers) {
    CHECK_RECORDING(khr.clCommandBarrierWithWaitListKHR(b, q, n, list, point, handle));
}

static cl_int record_copy(cl_mem from, cl_mem to, size_t offset, size_t size) {
    return khr.clCommandCopyBufferKHR(commands, NULL, from, to, offset, 0, size, 0, NULL, NULL,
                                      NULL);
}

Test(command_buffer, errors_of_copies) {
    FAILS(CL_INVALID_MEM_OBJECT, record_copy(NULL, buffers[1], 0, 4));
    FAILS(CL_INVALID_MEM_OBJECT, record_copy(buffers[1], NULL, 0, 4));
    FAILS(CL_INVALID_VALUE, record_copy(buffers[0], buffers[1], BYTES, 4));
    FAILS(CL_MEM_COPY_OVERLAP, record_copy(buffers[1], buffers[1], 2, 4));
    CHECK_RECORDING(
        khr.clCommandCopyBufferKHR(b, q, buffers[0], buffers[1], 0, 0, 4, n, list, point, handle));
}

Test(command_buffer, errors_of_rectangles) {
    const size_t origin[3] = {0, 0, 0}, region[3] = {4, 4, 1}, none[3] = {4, 0, 1};
    FAILS(CL_INVALID_VALUE,
          khr.clCommandCopyBufferRectKHR(commands, NULL, buffers[0], buffers[1], origin, origin,
                                         none, 8, 0, 8, 0, 0, NULL, NULL, NULL));
    CHECK_RECORDING(khr.clCommandCopyBufferRectKHR(b, q, buffers[0], buffers[1], origin, origin,
                                                   region, 8, 0, 8, 0, n, list, point, handle));
}

Test(command_buffer, errors_of_fills) {
    const int pattern = 3;
    FAILS(CL_INVALID_VALUE, khr.clCommandFillBufferKHR(commands, NULL, buffers[0], &pattern, 3, 0,
                                                       3, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_MEM_OBJECT,
          khr.clCommandFillBufferKHR(commands, NULL, NULL, &pattern, 4, 0, 4, 0, NULL, NULL, NULL));
    CHECK_RECORDING(
        khr.clCommandFillBufferKHR(b, q, buffers[0], &pattern, 4, 0, 4, n, list, point, handle));
}

static cl_int record_sized(cl_kernel k, cl_uint dims, const size_t *global, const size_t *local) {
    return khr.clCommandNDRangeKernelKHR(commands, NULL, NULL, k, dims, NULL, global, local, 0,
                                         NULL, NULL, NULL);
}

Test(command_buffer, errors_of_kernels) {
    const size_t count = COUNT, zero = 0, many = 1 << 20;
    const cl_ndrange_kernel_command_properties_khr p[] = {1, 1, 0}, empty[] = {0};
    cl_kernel unset = MAKE(clCreateKernel(kernels, "add", &error));
    cl_kernel k = with_buffers("reverse", buffers[1], buffers[0]);
    FAILS(CL_INVALID_KERNEL, record_sized(NULL, 1, &count, NULL));
    FAILS(CL_INVALID_KERNEL_ARGS, record_sized(unset, 1, &count, NULL));
    FAILS(CL_INVALID_WORK_DIMENSION, record_sized(k, 0, &count, NULL));
    FAILS(CL_INVALID_WORK_DIMENSION, record_sized(k, 4, &count, NULL));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, record_sized(k, 1, &count, &zero));
    FAILS(CL_INVALID_WORK_ITEM_SIZE, record_sized(k, 1, &count, &many));
    FAILS(CL_INVALID_VALUE, khr.clCommandNDRangeKernelKHR(commands, NULL, p, k, 1, NULL, &count,
                                                          NULL, 0, NULL, NULL, NULL));
    CHECK_RECORDING_WITH(CL_SUCCESS, khr.clCommandNDRangeKernelKHR(b, q, empty, k, 1, NULL, &count,
                                                                   NULL, n, list, point, handle));
    SUCCEEDS(clReleaseKernel(unset));
    SUCCEEDS(clReleaseKernel(k));
}

Test(command_buffer, there_are_no_images) {
    const size_t o[3] = {0, 0, 0}, r[3] = {1, 1, 1};
    const cl_uint color[4] = {0};
    cl_mem m = buffers[0];
    FAILS(CL_INVALID_OPERATION,
          khr.clCommandCopyImageKHR(commands, NULL, m, m, o, o, r, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_OPERATION,
          khr.clCommandCopyImageToBufferKHR(commands, NULL, m, m, o, r, 0, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_OPERATION,
          khr.clCommandCopyBufferToImageKHR(commands, NULL, m, m, 0, o, r, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_OPERATION,
          khr.clCommandFillImageKHR(commands, NULL, m, color, o, r, 0, NULL, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_BUFFER_KHR,
          khr.clCommandFillImageKHR(NULL, NULL, m, color, o, r, 0, NULL, NULL, NULL));
}
