/* command_mutable_test.c — launches of command buffers that are changed between runs: what can be
 * changed, what that does to runs, to fusion and to memory, and every error. */
#include "tests/opencl/command_buffer.h"
#include "tests/opencl/mutable.h"
#include "tests/opencl/usm.h"
#include "tests/random.h"

static const cl_command_buffer_properties_khr mutable[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                           CL_COMMAND_BUFFER_MUTABLE_KHR, 0};
static cl_command_buffer_khr b; /* that can be changed */

static void begin(void) {
    begin_commands();
    cr_assert(find_mutable(ocl.platform) && find_usm(ocl.platform));
    b = new_commands(mutable);
}

static void end(void) {
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
    end_commands();
}

TestSuite(command_mutable, .init = begin, .fini = end);

/* to = from + k, which can be changed. */
static cl_mutable_command_khr record_as(const cl_properties *p, cl_mem to, cl_mem from, int k) {
    const size_t count = COUNT;
    cl_mutable_command_khr h = NULL;
    cl_kernel add = with_buffers("add", to, from);
    SUCCEEDS(clSetKernelArg(add, 2, sizeof k, &k));
    SUCCEEDS(
        khr.clCommandNDRangeKernelKHR(b, NULL, p, add, 1, NULL, &count, NULL, 0, NULL, NULL, &h));
    SUCCEEDS(clReleaseKernel(add));
    cr_assert(h);
    return h;
}

static cl_mutable_command_khr add_to(int to, int from, int k) {
    return record_as(NULL, buffers[to], buffers[from], k);
}

static void expect_sums(int where, int sum) {
    int back[COUNT];
    read_ints(where, back);
    for (int n = 0; n < COUNT; n++) cr_assert(back[n] == n + sum, "%d: %d", n, back[n]);
}

/* -------------------------------------------------------------------------------------- questions */

Test(command_mutable, capabilities) {
    TELLS(cl_mutable_dispatch_fields_khr, 31, clGetDeviceInfo, ocl.device,
          CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR);
}

static void expect_sizes(cl_mutable_command_khr h, cl_mutable_command_info_khr what, size_t x,
                         size_t y) {
    size_t told[3], size;
    SUCCEEDS(changing.info(h, what, sizeof told, told, &size));
    cr_expect(size == 2 * sizeof *told && told[0] == x && told[1] == y, "%x", what);
}

Test(command_mutable, information) {
    const cl_properties p[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
                               CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR |
                                   CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR |
                                   CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR,
                               0};
    const size_t global[] = {20, 10}, larger[] = {10, 20}, local[] = {5, 5}, offset[] = {1, 2};
    cl_properties told[4];
    cl_mutable_command_khr h;
    cl_kernel k = with_buffers("reverse", buffers[1], buffers[0]);
    size_t size;
    SUCCEEDS(
        khr.clCommandNDRangeKernelKHR(b, NULL, p, k, 2, NULL, global, NULL, 0, NULL, NULL, &h));
    TELLS(cl_command_queue, ocl.queue, changing.info, h, CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR);
    TELLS(cl_command_buffer_khr, b, changing.info, h, CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR);
    TELLS(cl_command_type, CL_COMMAND_NDRANGE_KERNEL, changing.info, h,
          CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR);
    TELLS(cl_kernel, k, changing.info, h, CL_MUTABLE_DISPATCH_KERNEL_KHR);
    TELLS(cl_uint, 2, changing.info, h, CL_MUTABLE_DISPATCH_DIMENSIONS_KHR);
    CHECK_INFO(changing.info, h, CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR, 2 * sizeof(size_t));
    SUCCEEDS(changing.info(h, CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR, sizeof told, told, &size));
    cr_expect(size == sizeof p && !memcmp(told, p, size));
    expect_sizes(h, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR, 0, 0);
    expect_sizes(h, CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR, 20, 10);
    expect_sizes(h, CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR, 0, 0);
    finalize(b);
    const mutable_config c = {.command = h,
                              .work_dim = 2,
                              .global_work_offset = offset,
                              .global_work_size = larger,
                              .local_work_size = local};
    SUCCEEDS(update_one(b, &c));
    expect_sizes(h, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR, 1, 2);
    expect_sizes(h, CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR, 10, 20);
    expect_sizes(h, CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR, 5, 5);
    FAILS(CL_INVALID_MUTABLE_COMMAND_KHR, changing.info(NULL, 0, 0, NULL, NULL));
    FAILS(CL_INVALID_MUTABLE_COMMAND_KHR,
          changing.info((cl_mutable_command_khr)b, CL_MUTABLE_DISPATCH_KERNEL_KHR, 0, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
}

/* Without properties there are none to tell. */
Test(command_mutable, no_properties) {
    size_t size = 9;
    SUCCEEDS(
        changing.info(add_to(1, 0, 1), CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR, 0, NULL, &size));
    cr_expect_eq(size, 0);
}

/* ---------------------------------------------------------------------------------------- updates */

static cl_int set_value(cl_mutable_command_khr h, int k) {
    const mutable_arg arg = {2, sizeof k, &k};
    return update_one(b, &(mutable_config){.command = h, .num_args = 1, .arg_list = &arg});
}

static cl_int set_buffers(cl_mutable_command_khr h, cl_mem to, cl_mem from) {
    const mutable_arg args[] = {{0, sizeof to, &to}, {1, sizeof from, &from}};
    return update_one(b, &(mutable_config){.command = h, .num_args = 2, .arg_list = args});
}

Test(command_mutable, values_and_buffers) {
    cl_mutable_command_khr h = add_to(1, 0, 5);
    finalize(b);
    run(b);
    expect_sums(1, 5);
    SUCCEEDS(set_value(h, 7));
    run(b);
    expect_sums(1, 7);
    SUCCEEDS(set_buffers(h, buffers[2], buffers[1]));
    run(b);
    run(b);
    expect_sums(2, 14);
    expect_sums(1, 7);
}

Test(command_mutable, sizes) {
    const size_t one = 1, ten = 10, five = 5;
    int back[COUNT];
    cl_mutable_command_khr h = add_to(1, 0, 100);
    finalize(b);
    SUCCEEDS(update_one(b, &(mutable_config){.command = h,
                                             .global_work_offset = &one,
                                             .global_work_size = &ten,
                                             .local_work_size = &five}));
    run(b);
    read_ints(1, back);
    for (int n = 0; n < 20; n++) cr_expect_eq(back[n], n && n < 11 ? n + 100 : 0, "%d", n);
}

/* A launch of nothing is no step; it becomes one again. */
Test(command_mutable, nothing_and_something) {
    const size_t none = 0, all = COUNT;
    cl_mutable_command_khr h = add_to(1, 0, 1), last = add_to(2, 1, 1);
    finalize(b);
    SUCCEEDS(update_one(b, &(mutable_config){.command = h, .global_work_size = &none}));
    cr_expect_eq(count_launches(b), 1);
    run(b);
    SUCCEEDS(update_one(b, &(mutable_config){.command = h, .global_work_size = &all}));
    SUCCEEDS(set_value(last, 3));
    cr_expect_eq(count_launches(b), 1);
    run(b);
    expect_sums(2, 4);
}

Test(command_mutable, pointers) {
    int *svm = clSVMAlloc(ocl.context, 0, BYTES, 0);
    int *unified = MAKE(usm.shared_alloc(ocl.context, NULL, NULL, BYTES + 64, 0, &error));
    cl_mutable_command_khr h = add_to(1, 0, 5);
    for (int n = 0; n < COUNT; n++) unified[n + 16] = 3 * n;
    finalize(b);
    const mutable_arg args[] = {{0, 0, svm}, {1, 0, unified + 16}};
    SUCCEEDS(
        update_one(b, &(mutable_config){.command = h, .num_svm_args = 2, .arg_svm_list = args}));
    run(b);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(svm[n], 3 * n + 5);
    clSVMFree(ocl.context, svm);
    SUCCEEDS(usm.free(ocl.context, unified));
}

Test(command_mutable, exec_info) {
    const cl_bool yes = CL_TRUE;
    mutable_info info = {CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, sizeof yes, &yes};
    const mutable_config c = {
        .command = add_to(1, 0, 5), .num_exec_infos = 1, .exec_info_list = &info};
    finalize(b);
    FAILS(CL_SUCCESS, update_one(b, &c));
    info.size = 1;
    FAILS(CL_INVALID_VALUE, update_one(b, &c));
}

/* Several changes of one command are made in their order, and of several at once. */
Test(command_mutable, several_at_once) {
    cl_mutable_command_khr h[] = {add_to(1, 0, 1), add_to(2, 1, 1)};
    const int values[] = {10, 20, 30};
    const mutable_arg args[] = {{2, 4, &values[0]}, {2, 4, &values[1]}, {2, 4, &values[2]}};
    const mutable_config c[] = {{.command = h[0], .num_args = 1, .arg_list = &args[0]},
                                {.command = h[1], .num_args = 1, .arg_list = &args[1]},
                                {.command = h[0], .num_args = 1, .arg_list = &args[2]}};
    const cl_uint types[3] = {0};
    const void *list[] = {&c[0], &c[1], &c[2]};
    finalize(b);
    SUCCEEDS(changing.update(b, 3, types, list));
    run(b);
    expect_sums(2, 50);
    SUCCEEDS(changing.update(b, 0, NULL, NULL));
}

Test(command_mutable, all_or_nothing) {
    cl_mutable_command_khr h[] = {add_to(1, 0, 1), add_to(2, 1, 1)};
    const int value = 10;
    const mutable_arg good = {2, 4, &value}, wrong = {2, 3, &value};
    const mutable_config c[] = {{.command = h[0], .num_args = 1, .arg_list = &good},
                                {.command = h[1], .num_args = 1, .arg_list = &wrong}};
    const cl_uint types[2] = {0};
    const void *list[] = {&c[0], &c[1]};
    finalize(b);
    FAILS(CL_INVALID_ARG_SIZE, changing.update(b, 2, types, list));
    run(b);
    expect_sums(2, 2);
}

/* The kernel that was recorded keeps its arguments, and a change of them is no update. */
Test(command_mutable, the_kernel_is_its_own) {
    const size_t count = COUNT;
    const int first = 1, second = 50;
    cl_mutable_command_khr h;
    cl_kernel k = with_buffers("add", buffers[1], buffers[0]);
    SUCCEEDS(clSetKernelArg(k, 2, sizeof first, &first));
    SUCCEEDS(
        khr.clCommandNDRangeKernelKHR(b, NULL, NULL, k, 1, NULL, &count, NULL, 0, NULL, NULL, &h));
    finalize(b);
    SUCCEEDS(clSetKernelArg(k, 2, sizeof second, &second));
    SUCCEEDS(set_buffers(h, buffers[2], buffers[0]));
    run(b);
    expect_sums(2, 1);
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &count, NULL, 0, NULL, NULL));
    expect_sums(1, 50);
    SUCCEEDS(clReleaseKernel(k));
}

/* ------------------------------------------------------------------------------------------- runs */

/* A run is of the commands as they were when it was enqueued. */
Test(command_mutable, runs_that_wait) {
    cl_event gate = MAKE(clCreateUserEvent(ocl.context, &error));
    cl_mutable_command_khr h = add_to(1, 0, 1);
    finalize(b);
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(0, NULL, b, 1, &gate, NULL));
    SUCCEEDS(set_buffers(h, buffers[2], buffers[0]));
    SUCCEEDS(set_value(h, 2));
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(0, NULL, b, 0, NULL, NULL));
    SUCCEEDS(set_value(h, 3));
    SUCCEEDS(clSetUserEventStatus(gate, CL_COMPLETE));
    SUCCEEDS(clFinish(ocl.queue));
    expect_sums(1, 1);
    expect_sums(2, 2);
    SUCCEEDS(clReleaseEvent(gate));
}

static bool is_gone(void *flag) { return *(_Atomic int *)flag; }

static void CL_CALLBACK note_gone(cl_mem m, void *flag) {
    (void)m;
    *(_Atomic int *)flag = 1;
}

/* Memory is kept as long as the command uses it, and no longer. */
Test(command_mutable, buffers_that_are_replaced) {
    _Atomic int gone = 0;
    cl_mem m = MAKE(clCreateBuffer(ocl.context, 0, BYTES, NULL, &error));
    SUCCEEDS(clSetMemObjectDestructorCallback(m, note_gone, &gone));
    cl_mutable_command_khr h = record_as(NULL, m, buffers[0], 1);
    SUCCEEDS(clReleaseMemObject(m));
    finalize(b);
    run(b);
    SUCCEEDS(set_value(h, 4));
    cr_expect_eq(gone, 0);
    SUCCEEDS(set_buffers(h, buffers[1], buffers[0]));
    cr_expect(comes_true(is_gone, &gone));
    run(b);
    expect_sums(1, 4);
}

/* ----------------------------------------------------------------------------------------- fusion */

/* Values are no constants of the code; which memory is the same is one. */
Test(command_mutable, fusion) {
    cl_mutable_command_khr h[6];
    for (int n = 0; n < 6; n++) h[n] = add_to(n + 1, n, 1);
    finalize(b);
    cr_expect_eq(count_launches(b), 1);
    for (int k = 10; k < 30; k++) {
        SUCCEEDS(set_value(h[3], k));
        cr_expect_eq(count_launches(b), 1);
        run(b);
        expect_sums(6, k + 5);
    }
    SUCCEEDS(set_buffers(h[3], buffers[4], buffers[0]));
    run(b);
    expect_sums(6, 29 + 2);
    cr_expect(report_has(b, "update of command 4: other arguments than before are the same memory, "
                            "so commands are fused anew"));
    cr_expect_eq(count_launches(b), 1);
}

/* The same kernel runs for other buffers as long as the same of them are the same. */
Test(command_mutable, fusion_with_other_buffers) {
    cl_mutable_command_khr h[2];
    for (int n = 0; n < 2; n++) h[n] = add_to(n + 1, n, 1);
    finalize(b);
    for (int n = 0; n < 3; n++) {
        const mutable_arg first[] = {{0, sizeof(cl_mem), &buffers[3 * n + 1]}},
                          second[] = {{0, sizeof(cl_mem), &buffers[3 * n + 2]},
                                      {1, sizeof(cl_mem), &buffers[3 * n + 1]}};
        const mutable_config c[] = {{.command = h[0], .num_args = 1, .arg_list = first},
                                    {.command = h[1], .num_args = 2, .arg_list = second}};
        const cl_uint types[2] = {0};
        const void *list[] = {&c[0], &c[1]};
        SUCCEEDS(changing.update(b, 2, types, list));
        cr_expect_eq(count_launches(b), 1);
        run(b);
        expect_sums(3 * n + 1, 1);
        expect_sums(3 * n + 2, 2);
    }
    cr_expect_null(strstr(report_of(b), "fused anew"));
}

static void expect_first(int where, int count, int sum) {
    int back[COUNT];
    read_ints(where, back);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(back[n], n < count ? n + sum : 0, "%d", n);
}

/* Sizes are constants of the code. */
Test(command_mutable, fusion_with_other_sizes) {
    cl_mutable_command_khr h[2];
    const size_t half = COUNT / 2;
    for (int n = 0; n < 2; n++) h[n] = add_to(n + 1, n, 1);
    finalize(b);
    const mutable_config c[] = {{.command = h[0], .global_work_size = &half},
                                {.command = h[1], .global_work_size = &half}};
    const void *list[] = {&c[0], &c[1]};
    SUCCEEDS(changing.update(b, 2, (const cl_uint[]){0, 0}, list));
    cr_expect(
        report_has(b, "update of command 1: its range is another one, so commands are fused"));
    cr_expect_eq(count_launches(b), 1);
    run(b);
    expect_first(2, COUNT / 2, 2);
}

static void expect_zeros(int where) {
    int back[COUNT];
    read_ints(where, back);
    for (int n = 0; n < COUNT; n++) cr_assert_eq(back[n], 0, "%d", n);
}

/* What was registers becomes memory that the program looks at. */
Test(command_mutable, a_buffer_that_was_registers) {
    cl_mem between = MAKE(clCreateBuffer(ocl.context, 0, BYTES, NULL, &error));
    cl_mutable_command_khr h[] = {record_as(NULL, between, buffers[0], 1),
                                  record_as(NULL, buffers[2], between, 1)};
    const mutable_arg to = {0, sizeof(cl_mem), &buffers[3]},
                      from = {1, sizeof(cl_mem), &buffers[3]};
    const mutable_config c[] = {{.command = h[0], .num_args = 1, .arg_list = &to},
                                {.command = h[1], .num_args = 1, .arg_list = &from}};
    const void *list[] = {&c[0], &c[1]};
    SUCCEEDS(clReleaseMemObject(between));
    finalize(b);
    SUCCEEDS(set_value(h[0], 5));
    run(b);
    expect_sums(2, 6);
    expect_zeros(3);
    SUCCEEDS(changing.update(b, 2, (const cl_uint[]){0, 0}, list));
    cr_expect(report_has(b, "a buffer that became registers is another one"));
    cr_expect_eq(count_launches(b), 1);
    run(b);
    expect_sums(3, 5);
    expect_sums(2, 6);
}

/* Each kernel may have as much local memory as the device has, and so may both together. */
Test(command_mutable, fusion_with_more_local_memory) {
    cl_program p = built("kernel void turn(global int *to, global const int *from, local int *l) {"
                         "  size_t x = get_local_id(0), n = get_local_size(0);"
                         "  l[x] = from[get_global_id(0)];"
                         "  barrier(CLK_LOCAL_MEM_FENCE);"
                         "  to[get_global_id(0)] = l[n - 1 - x];"
                         "}",
                         NULL);
    const size_t global = COUNT, local = 100;
    cl_ulong most;
    cl_mutable_command_khr h[2];
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof most, &most, NULL));
    for (int n = 0; n < 2; n++) {
        cl_kernel k = MAKE(clCreateKernel(p, "turn", &error));
        SUCCEEDS(clSetKernelArg(k, 0, sizeof(cl_mem), &buffers[n + 1]));
        SUCCEEDS(clSetKernelArg(k, 1, sizeof(cl_mem), &buffers[n]));
        SUCCEEDS(clSetKernelArg(k, 2, 400, NULL));
        SUCCEEDS(khr.clCommandNDRangeKernelKHR(b, NULL, NULL, k, 1, NULL, &global, &local, 0, NULL,
                                               NULL, &h[n]));
        SUCCEEDS(clReleaseKernel(k));
    }
    finalize(b);
    cr_expect_eq(count_launches(b), 1);
    for (int n = 0; n < 2; n++) {
        const mutable_arg arg = {2, (size_t)most, NULL};
        const mutable_config c = {.command = h[n], .num_args = 1, .arg_list = &arg};
        SUCCEEDS(update_one(b, &c));
        cr_expect_eq(count_launches(b), 1);
        run(b);
        expect_sums(2, 0);
    }
    SUCCEEDS(clReleaseProgram(p));
}

/* h[0]: y = x + 1, h[1]: z = y + 1. */
static void set_chain(const cl_mutable_command_khr h[2], const int *x, const int *y, const int *z) {
    const mutable_arg args[2][2] = {{{0, 0, y}, {1, 0, x}}, {{0, 0, z}, {1, 0, y}}};
    mutable_config c[2];
    for (int n = 0; n < 2; n++)
        c[n] = (mutable_config){.command = h[n], .num_svm_args = 2, .arg_svm_list = args[n]};
    const void *list[] = {&c[0], &c[1]};
    SUCCEEDS(changing.update(b, 2, (const cl_uint[]){0, 0}, list));
}

/* Of one allocation, some of which overlap: one element of z is one of x each third time.  Kernels
 * that have been separated stay so. */
Test(command_mutable, fusion_of_parts) {
    int *p = clSVMAlloc(ocl.context, 0, 8 * BYTES, 0);
    cl_mutable_command_khr h[2];
    for (int n = 0; n < 2; n++) h[n] = add_to(n + 1, n, 1);
    finalize(b);
    for (int r = 0; r < 9; r++) {
        const int at = (1 + r % 4) * COUNT;
        int *const x = p + at, *const y = x + COUNT,
                   *const z = r % 3 < 2 ? y + COUNT : x - COUNT + 1;
        for (int n = 0; n < 8 * COUNT; n++) p[n] = n;
        set_chain(h, x, y, z);
        run(b);
        for (int n = 0; n < COUNT; n++) cr_assert_eq(z[n], at + n + 2, "%d: %d", r, n);
        cr_expect_eq(count_launches(b), r < 2 ? 1 : 2, "%d", r);
    }
    clSVMFree(ocl.context, p);
}

/* Each time takes as long as finalizing, so at last there is no fusion. */
Test(command_mutable, fusion_ends_after_some_updates) {
    cl_mutable_command_khr h[2];
    for (int n = 0; n < 2; n++) h[n] = add_to(n + 1, n, 1);
    finalize(b);
    for (int n = 0; n < 12; n++) {
        SUCCEEDS(set_buffers(h[1], buffers[2], buffers[n % 2]));
        run(b);
        expect_sums(2, 1 + n % 2);
    }
    cr_expect_eq(count_launches(b), 2);
    cr_expect(report_has(b, "so commands that are updated stay by themselves"));
}

/* ------------------------------------------------------------------------- arguments that are late */

static cl_command_buffer_state_khr state(void) {
    cl_command_buffer_state_khr s;
    SUCCEEDS(khr.clGetCommandBufferInfoKHR(b, CL_COMMAND_BUFFER_STATE_KHR, sizeof s, &s, NULL));
    return s;
}

enum { FINALIZED = 2 };

Test(command_mutable, arguments_are_set_later) {
    const cl_properties p[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
                               CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0};
    const size_t count = COUNT;
    cl_mutable_command_khr h[2];
    cl_kernel k = MAKE(clCreateKernel(kernels, "add", &error));
    for (int n = 0; n < 2; n++)
        SUCCEEDS(khr.clCommandNDRangeKernelKHR(b, NULL, p, k, 1, NULL, &count, NULL, 0, NULL, NULL,
                                               &h[n]));
    finalize(b);
    cr_expect_eq(state(), FINALIZED);
    FAILS(CL_INVALID_OPERATION, khr.clEnqueueCommandBufferKHR(0, NULL, b, 0, NULL, NULL));
    SUCCEEDS(set_buffers(h[0], buffers[1], buffers[0]));
    SUCCEEDS(set_value(h[0], 1));
    SUCCEEDS(set_value(h[1], 2));
    cr_expect_eq(state(), FINALIZED);
    FAILS(CL_INVALID_OPERATION, khr.clEnqueueCommandBufferKHR(0, NULL, b, 0, NULL, NULL));
    SUCCEEDS(set_buffers(h[1], buffers[2], buffers[1]));
    cr_expect_eq(state(), CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
    run(b);
    expect_sums(2, 3);
    SUCCEEDS(set_value(h[1], 5));
    run(b);
    expect_sums(2, 6);
    SUCCEEDS(clReleaseKernel(k));
}

/* Only where the properties say so, and commands can be changed. */
Test(command_mutable, arguments_are_missing) {
    const cl_properties sizes[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
                                   CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR, 0},
                        args[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
                                  CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0};
    const size_t count = COUNT;
    cl_mutable_command_khr h;
    cl_kernel k = MAKE(clCreateKernel(kernels, "add", &error));
#define RECORD(b, p)                                                                               \
    khr.clCommandNDRangeKernelKHR(b, NULL, p, k, 1, NULL, &count, NULL, 0, NULL, NULL, &h)
    FAILS(CL_INVALID_KERNEL_ARGS, RECORD(b, NULL));
    FAILS(CL_INVALID_KERNEL_ARGS, RECORD(b, sizes));
    FAILS(CL_INVALID_KERNEL_ARGS, RECORD(commands, args));
    FAILS(CL_SUCCESS, RECORD(b, args));
    SUCCEEDS(clReleaseKernel(k));
}

/* ----------------------------------------------------------------------------------------- errors */

Test(command_mutable, wrong_recording) {
    const cl_properties unknown[] = {1, 1, 0},
                        bits[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 32, 0},
                        twice[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 1,
                                   CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 1, 0},
                        asserts[] = {CL_MUTABLE_DISPATCH_ASSERTS_KHR, 2, 0},
                        groups[] = {CL_MUTABLE_DISPATCH_ASSERTS_KHR, 1, 0};
    const cl_command_buffer_properties_khr all[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                    CL_COMMAND_BUFFER_MUTABLE_KHR,
                                                    CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR,
                                                    1, 0},
                                           wrong[] = {
                                               CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR, 2,
                                               0};
    const size_t count = COUNT, ten = 10;
    cl_mutable_command_khr h;
    cl_kernel k = with_buffers("reverse", buffers[1], buffers[0]);
#define RECORD_SIZED(b, p, local)                                                                  \
    khr.clCommandNDRangeKernelKHR(b, NULL, p, k, 1, NULL, &count, local, 0, NULL, NULL, &h)
    FAILS(CL_INVALID_VALUE, RECORD_SIZED(b, unknown, NULL));
    FAILS(CL_INVALID_VALUE, RECORD_SIZED(b, bits, NULL));
    FAILS(CL_INVALID_VALUE, RECORD_SIZED(b, twice, NULL));
    FAILS(CL_INVALID_VALUE, RECORD_SIZED(b, asserts, NULL));
    FAILS(CL_INVALID_VALUE, RECORD_SIZED(b, groups, NULL));
    FAILS(CL_SUCCESS, RECORD_SIZED(b, groups, &ten));
    cl_command_buffer_khr g = new_commands(all);
    FAILS(CL_INVALID_VALUE, RECORD_SIZED(g, NULL, NULL));
    FAILS(CL_SUCCESS, RECORD_SIZED(g, NULL, &ten));
    REFUSES(CL_INVALID_VALUE, khr.clCreateCommandBufferKHR(1, &ocl.queue, wrong, &error));
    SUCCEEDS(khr.clReleaseCommandBufferKHR(g));
    SUCCEEDS(clReleaseKernel(k));
}

Test(command_mutable, wrong_calls) {
    cl_mutable_command_khr h = add_to(1, 0, 1), other;
    const size_t count = COUNT;
    cl_kernel k = with_buffers("reverse", buffers[1], buffers[0]);
    const cl_uint types[] = {0}, unknown[] = {1};
    const mutable_config c = {.command = h}, none = {.command = NULL};
    const void *list[] = {&c}, *null[] = {NULL};
    FAILS(CL_INVALID_COMMAND_BUFFER_KHR, changing.update(NULL, 1, types, list));
    FAILS(CL_INVALID_OPERATION, changing.update(b, 1, types, list)); /* it is not finalized */
    SUCCEEDS(khr.clCommandNDRangeKernelKHR(commands, NULL, NULL, k, 1, NULL, &count, NULL, 0, NULL,
                                           NULL, &other));
    finalize(b);
    finalize(commands);
    const mutable_config foreign = {.command = other};
    FAILS(CL_INVALID_OPERATION, update_one(commands, &foreign)); /* it is not mutable */
    FAILS(CL_INVALID_VALUE, changing.update(b, 0, types, list));
    FAILS(CL_INVALID_VALUE, changing.update(b, 1, NULL, list));
    FAILS(CL_INVALID_VALUE, changing.update(b, 1, types, NULL));
    FAILS(CL_INVALID_VALUE, changing.update(b, 1, unknown, list));
    FAILS(CL_INVALID_VALUE, changing.update(b, 1, types, null));
    FAILS(CL_INVALID_MUTABLE_COMMAND_KHR, update_one(b, &none));
    FAILS(CL_INVALID_MUTABLE_COMMAND_KHR, update_one(b, &foreign));
    SUCCEEDS(clReleaseKernel(k));
}

Test(command_mutable, wrong_lists) {
    const cl_bool yes = CL_TRUE;
    const mutable_arg arg = {0, 0, NULL};
    const mutable_info info = {CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof yes, &yes};
    cl_mutable_command_khr h = add_to(1, 0, 1);
    finalize(b);
    const mutable_config wrong[] = {
        {.command = h, .num_args = 1},       {.command = h, .arg_list = &arg},
        {.command = h, .num_svm_args = 1},   {.command = h, .arg_svm_list = &arg},
        {.command = h, .num_exec_infos = 1}, {.command = h, .exec_info_list = &info}};
    for (unsigned n = 0; n < sizeof wrong / sizeof *wrong; n++)
        FAILS(CL_INVALID_VALUE, update_one(b, &wrong[n]));
}

/* One field of each command can be changed. */
Test(command_mutable, fields_that_stay) {
    const size_t ten[] = {10};
    const int value = 3;
    const cl_bool yes = CL_TRUE;
    const mutable_arg arg = {2, sizeof value, &value}, pointer = {0, 0, NULL};
    const mutable_info info = {CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, sizeof yes, &yes};
    mutable_config c[] = {{.global_work_offset = ten},
                          {.global_work_size = ten},
                          {.local_work_size = ten},
                          {.num_args = 1, .arg_list = &arg},
                          {.num_exec_infos = 1, .exec_info_list = &info},
                          {.num_svm_args = 1, .arg_svm_list = &pointer}};
    cl_mutable_command_khr h[5];
    for (cl_properties n = 0; n < 5; n++) {
        const cl_properties p[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 1u << n, 0};
        h[n] = record_as(p, buffers[1], buffers[0], 1);
    }
    finalize(b);
    for (unsigned n = 0; n < 5; n++)
        for (unsigned k = 0; k < 6; k++) {
            c[k].command = h[n];
            FAILS((k == 5 ? 3 : k) == n ? CL_SUCCESS : CL_INVALID_OPERATION, update_one(b, &c[k]));
        }
}

Test(command_mutable, wrong_values) {
    const size_t three = 3, none = 0, many = 1 << 20;
    const int value = 1;
    const mutable_arg index = {3, 4, &value}, size = {2, 5, &value}, null = {2, 4, NULL},
                      pointer = {2, 0, &value};
    cl_mem no_mem = (cl_mem)(void *)ocl.queue;
    const mutable_arg mem = {0, sizeof no_mem, &no_mem};
    cl_mutable_command_khr h = add_to(1, 0, 1);
    finalize(b);
#define CHANGE(...) update_one(b, &(mutable_config){.command = h, __VA_ARGS__})
    FAILS(CL_INVALID_OPERATION, CHANGE(.work_dim = 2));
    FAILS(CL_SUCCESS, CHANGE(.work_dim = 1));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, CHANGE(.local_work_size = &none));
    FAILS(CL_INVALID_WORK_ITEM_SIZE, CHANGE(.local_work_size = &many));
    FAILS(CL_INVALID_ARG_INDEX, CHANGE(.num_args = 1, .arg_list = &index));
    FAILS(CL_INVALID_ARG_SIZE, CHANGE(.num_args = 1, .arg_list = &size));
    FAILS(CL_INVALID_ARG_VALUE, CHANGE(.num_args = 1, .arg_list = &null));
    FAILS(CL_INVALID_MEM_OBJECT, CHANGE(.num_args = 1, .arg_list = &mem));
    FAILS(CL_INVALID_ARG_VALUE, CHANGE(.num_svm_args = 1, .arg_svm_list = &pointer));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, CHANGE(.local_work_size = &three)); /* of OpenCL C 1.2 */
    run(b);
    expect_sums(1, 1);
}

/* Whether all groups are of one size stays as it was, also where groups may be smaller at the end. */
Test(command_mutable, uniform_groups) {
    const size_t count = COUNT, three = 3, ten = 10, seven = 7, nine = 9;
    cl_program p = built(kernel_source, "-cl-std=CL3.0");
    cl_kernel k = MAKE(clCreateKernel(p, "reverse", &error));
    cl_mutable_command_khr h;
    SUCCEEDS(clSetKernelArg(k, 0, sizeof(cl_mem), &buffers[1]));
    SUCCEEDS(clSetKernelArg(k, 1, sizeof(cl_mem), &buffers[0]));
    SUCCEEDS(
        khr.clCommandNDRangeKernelKHR(b, NULL, NULL, k, 1, NULL, &count, &ten, 0, NULL, NULL, &h));
    finalize(b);
    FAILS(CL_INVALID_OPERATION, CHANGE(.local_work_size = &three));
    FAILS(CL_INVALID_OPERATION, CHANGE(.global_work_size = &seven));
    FAILS(CL_SUCCESS, CHANGE(.global_work_size = &nine, .local_work_size = &three));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(p));
}

/* ------------------------------------------------------------------------------------- older form */

Test(command_mutable, older_headers) {
    cl_mutable_command_khr h = add_to(1, 0, 1);
    const int value = 9;
    const cl_mutable_dispatch_arg_khr arg = {2, sizeof value, &value};
    cl_mutable_dispatch_config_khr c = {.type = CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR,
                                        .command = h,
                                        .num_args = 1,
                                        .arg_list = &arg};
    cl_mutable_base_config_khr all = {CL_STRUCTURE_TYPE_MUTABLE_BASE_CONFIG_KHR, NULL, 1, &c};
    finalize(b);
    SUCCEEDS(changing.older(b, &all));
    run(b);
    expect_sums(1, 9);
    c.next = &all;
    FAILS(CL_INVALID_VALUE, changing.older(b, &all));
    c.next = NULL;
    c.type = 7;
    FAILS(CL_INVALID_VALUE, changing.older(b, &all));
    all.num_mutable_dispatch = 0;
    FAILS(CL_INVALID_VALUE, changing.older(b, &all));
    FAILS(CL_INVALID_COMMAND_BUFFER_KHR, changing.older(NULL, &all));
}

/* ----------------------------------------------------------------------------------------- random */

enum { CHAIN = 5, UPDATES = 150 };

/* A command as it shall be: to and from are blocks of ints, by number. */
typedef struct {
    unsigned to, from;
    int k;
} wanted;

static void draw(wanted *w, uint64_t *random) {
    w->to = 1 + draw_below(random, 5);
    w->from = draw_below(random, 6);
    w->k = (int)draw_below(random, 100);
}

static void follow(const wanted *w, int blocks[6][COUNT]) {
    for (int c = 0; c < CHAIN; c++)
        for (int n = 0; n < COUNT; n++) blocks[w[c].to][n] = blocks[w[c].from][n] + w[c].k;
}

/* Random changes of random commands, with runs between them, leave what the same sums leave. */
Test(command_mutable, random_updates) {
    static int blocks[6][COUNT], back[COUNT];
    uint64_t random = 7;
    cl_mutable_command_khr h[CHAIN];
    wanted w[CHAIN];
    for (int n = 0; n < COUNT; n++) blocks[0][n] = n;
    for (int c = 0; c < CHAIN; c++) {
        draw(&w[c], &random);
        h[c] = add_to((int)w[c].to, (int)w[c].from, w[c].k);
    }
    finalize(b);
    for (int u = 0; u < UPDATES; u++) {
        const unsigned c = draw_below(&random, CHAIN);
        draw(&w[c], &random);
        SUCCEEDS(set_buffers(h[c], buffers[w[c].to], buffers[w[c].from]));
        SUCCEEDS(set_value(h[c], w[c].k));
        run(b);
        follow(w, blocks);
        for (int n = 0; n < 6; n++) {
            read_ints(n, back);
            cr_assert(!memcmp(back, blocks[n], BYTES), "update %d, block %d", u, n);
        }
    }
}
