/* command_fuse_test.c — which kernels of a command buffer become one, which do not, and that the
 * results are the same. */
#include "tests/opencl/command_buffer.h"
#include "tests/opencl/usm.h"

#include "runtime/opencl/newer.h"

TestSuite(command_fuse, .init = begin_commands, .fini = end_commands);

static const cl_command_buffer_properties_khr unfused[] = {CL_COMMAND_BUFFER_FUSION_SPVF,
                                                           CL_COMMAND_BUFFER_FUSION_NONE_SPVF, 0};

static void expect_first_sums(int count, int where, int sum) {
    int back[COUNT];
    read_ints(where, back);
    for (int n = 0; n < count; n++) cr_assert(back[n] == n + sum, "%d: %d", n, back[n]);
}

static void expect_sums(int where, int sum) { expect_first_sums(COUNT, where, sum); }

Test(command_fuse, a_chain_is_one_kernel) {
    for (int n = 0; n < 8; n++) record_add(commands, n + 1, n, n);
    finalize(commands);
    cr_expect(count_launches(commands) == 1);
    cr_expect(report_has(commands, "commands 1 to 8 are one kernel"));
    cr_expect(report_has(commands, "[fuse.no-barrier]"));
    run(commands);
    expect_sums(8, 28);
    expect_sums(4, 6);
}

Test(command_fuse, or_it_is_not_when_nobody_wants_that) {
    cl_command_buffer_khr b = new_commands(unfused);
    for (int n = 0; n < 8; n++) record_add(b, n + 1, n, n);
    finalize(b);
    cr_expect(count_launches(b) == 8);
    run(b);
    expect_sums(8, 28);
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
}

/* Who else has the buffers between does not care for what is in them. */
Test(command_fuse, buffers_that_nobody_else_has_are_private) {
    for (int n = 0; n < 8; n++) record_add(commands, n + 1, n, n);
    for (int n = 1; n < 8; n++) {
        if (n == 4) continue;
        SUCCEEDS(clReleaseMemObject(buffers[n]));
        buffers[n] = NULL;
    }
    finalize(commands);
    cr_expect(count_launches(commands) == 1);
    cr_expect(report_has(commands, "[promote.private]"));
    run(commands);
    expect_sums(8, 28);
    expect_sums(4, 6);
}

/* What is kept from run to run is not private. */
Test(command_fuse, unless_something_is_kept_there) {
    record_add(commands, 2, 1, 1);
    record_add(commands, 1, 2, 1);
    record_add(commands, 3, 1, 0);
    for (int n = 1; n < 3; n++) {
        SUCCEEDS(clReleaseMemObject(buffers[n]));
        buffers[n] = NULL;
    }
    finalize(commands);
    for (int n = 0; n < 3; n++) run(commands);
    int back[COUNT];
    read_ints(3, back);
    for (int n = 0; n < COUNT; n++) cr_assert(back[n] == 6);
}

Test(command_fuse, groups_that_depend_on_each_other_stay_apart) {
    record_add(commands, 1, 0, 1);
    record_add(commands, 2, 1, 1);
    record_reverse(commands, 3, 2);
    record_add(commands, 4, 3, 1);
    finalize(commands);
    cr_expect(count_launches(commands) == 2);
    cr_expect(report_has(commands, "commands 1 to 2 are one kernel"));
    cr_expect(report_has(commands, "command 3 does not go with what is before it"));
    cr_expect(report_has(commands, "[fuse.grid]"));
    cr_expect(report_has(commands, "commands 3 to 4 are one kernel"));
    run(commands);
    int back[COUNT];
    read_ints(4, back);
    for (int n = 0; n < COUNT; n++) cr_assert(back[n] == COUNT - 1 - n + 3);
}

Test(command_fuse, other_commands_divide_and_barriers_do_not) {
    record_add(commands, 1, 0, 1);
    SUCCEEDS(khr.clCommandBarrierWithWaitListKHR(commands, NULL, 0, NULL, NULL, NULL));
    record_add(commands, 2, 1, 1);
    SUCCEEDS(khr.clCommandCopyBufferKHR(commands, NULL, buffers[2], buffers[3], 0, 0, BYTES, 0,
                                        NULL, NULL, NULL));
    record_add(commands, 4, 3, 1);
    record_add(commands, 5, 4, 1);
    finalize(commands);
    cr_expect(count_launches(commands) == 2);
    cr_expect(report_has(commands, "commands 1 to 3 are one kernel"));
    cr_expect(report_has(commands, "commands 5 to 6 are one kernel"));
    run(commands);
    expect_sums(5, 4);
}

Test(command_fuse, what_is_recorded_out_of_order) {
    cl_command_queue q = new_queue(ocl.context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_command_buffer_khr b = MAKE(khr.clCreateCommandBufferKHR(1, &q, NULL, &error));
    for (int n = 0; n < 4; n++) record_add(b, n + 1, n, 1);
    finalize(b);
    cr_expect(count_launches(b) == 1);
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(0, NULL, b, 0, NULL, NULL));
    SUCCEEDS(clFinish(q));
    expect_sums(4, 4);
    SUCCEEDS(khr.clReleaseCommandBufferKHR(b));
    SUCCEEDS(clReleaseCommandQueue(q));
}

/* ------------------------------------------------------------------------------ the same memory */

static void record_add_to(cl_mem to, cl_mem from, size_t count) {
    cl_kernel k = with_buffers("add", to, from);
    SUCCEEDS(clSetKernelArg(k, 2, sizeof(int), &(int){1}));
    record(commands, k, count);
}

static cl_mem part(int of, size_t first, size_t count) {
    const cl_buffer_region r = {first * 4, count * 4};
    return MAKE(clCreateSubBuffer(buffers[of], 0, CL_BUFFER_CREATE_TYPE_REGION, &r, &error));
}

static void release_both(cl_mem low, cl_mem high) {
    SUCCEEDS(clReleaseMemObject(low));
    SUCCEEDS(clReleaseMemObject(high));
}

Test(command_fuse, parts_of_a_buffer_that_overlap) {
    cl_mem low = part(1, 0, 256), high = part(1, 128, 256);
    record_add_to(low, buffers[0], 256);
    record_add_to(buffers[2], high, 256);
    finalize(commands);
    cr_expect(count_launches(commands) == 2);
    cr_expect(report_has(commands, "[fuse.overlap]"));
    run(commands);
    int back[COUNT];
    read_ints(2, back);
    for (int n = 0; n < 256; n++) cr_assert(back[n] == (n < 128 ? n + 128 + 2 : 1));
    release_both(low, high);
}

Test(command_fuse, parts_of_a_buffer_that_do_not) {
    cl_mem low = part(1, 0, 256), high = part(1, 256, 256);
    record_add_to(low, buffers[0], 256);
    record_add_to(high, low, 256);
    record_add_to(buffers[2], high, 256);
    finalize(commands);
    cr_expect(count_launches(commands) == 1);
    run(commands);
    expect_first_sums(256, 2, 3);
    release_both(low, high);
}

/* Two that are only read may overlap. */
Test(command_fuse, parts_that_are_read) {
    cl_mem low = part(0, 0, 256), high = part(0, 128, 256);
    record_add_to(buffers[1], low, 256);
    record_add_to(buffers[2], high, 256);
    finalize(commands);
    cr_expect(count_launches(commands) == 1);
    run(commands);
    expect_first_sums(256, 2, 129);
    release_both(low, high);
}

static void record_shared(int *to, int *from) {
    cl_kernel k = MAKE(clCreateKernel(kernels, "add", &error));
    SUCCEEDS(clSetKernelArgSVMPointer(k, 0, to));
    SUCCEEDS(clSetKernelArgSVMPointer(k, 1, from));
    SUCCEEDS(clSetKernelArg(k, 2, sizeof(int), &(int){1}));
    record(commands, k, 100);
}

static int *shared(void) {
    int *p = clSVMAlloc(ocl.context, CL_MEM_SVM_FINE_GRAIN_BUFFER, BYTES, 0);
    cr_assert(p);
    for (int n = 0; n < COUNT; n++) p[n] = n;
    return p;
}

Test(command_fuse, shared_memory) {
    int *a = shared(), *b = shared(), *c = shared();
    record_shared(b, a);
    record_shared(c, b);
    finalize(commands);
    cr_expect(count_launches(commands) == 1);
    run(commands);
    for (int n = 0; n < 100; n++) cr_assert(c[n] == n + 2);
    clSVMFree(ocl.context, a);
    clSVMFree(ocl.context, b);
    clSVMFree(ocl.context, c);
}

static int *unified(void) {
    int *p = MAKE(usm.device_alloc(ocl.context, ocl.device, NULL, BYTES, 4096, &error));
    for (int n = 0; n < COUNT; n++) p[n] = n;
    return p;
}

/* From any place in one allocation to the same place, or to another allocation. */
Test(command_fuse, unified_shared_memory) {
    cr_assert(find_usm(ocl.platform));
    int *a = unified(), *b = unified(), *c = shared();
    record_shared(b + 30, a + 7);
    record_shared(c + 9, b + 30);
    record_shared(a + 8, c + 9);
    finalize(commands);
    cr_expect(count_launches(commands) == 2, "a + 8 overlaps a + 7");
    run(commands);
    for (int n = 0; n < 100; n++) cr_assert(c[n + 9] == n + 9 && a[n + 8] == n + 10);
    SUCCEEDS(usm.free(ocl.context, a));
    SUCCEEDS(usm.free(ocl.context, b));
    clSVMFree(ocl.context, c);
}

static cl_mem addressable(cl_mem_device_address_ext *at) {
    const cl_mem_properties p[] = {CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE, 0};
    cl_mem m = MAKE(clCreateBufferWithProperties(ocl.context, p, 0, BYTES, NULL, &error));
    SUCCEEDS(clGetMemObjectInfo(m, CL_MEM_DEVICE_ADDRESS_EXT, sizeof *at, at, NULL));
    return m;
}

/* What can be found by its address is kept although its handle is gone, and known by both names. */
Test(command_fuse, buffers_with_addresses) {
    cl_mem_device_address_ext first, second;
    cl_mem m[2] = {addressable(&first), addressable(&second)};
    int *a = (int *)(uintptr_t)first, *b = (int *)(uintptr_t)second;
    record_add_to(m[0], buffers[0], COUNT);
    record_shared(b, a);
    record_add_to(buffers[1], m[1], COUNT);
    SUCCEEDS(clReleaseMemObject(m[0]));
    SUCCEEDS(clReleaseMemObject(m[1]));
    finalize(commands);
    run(commands);
    for (int n = 0; n < 100; n++) cr_assert(a[n] == n + 1 && b[n] == n + 2, "%d", n);
}

/* What kernels access is apart, or overlaps. */
Test(command_fuse, places_in_one_allocation) {
    int *a = shared(), *b = shared();
    record_shared(a + 100, b);
    record_shared(b, a + 101);
    finalize(commands);
    cr_expect(count_launches(commands) == 2);
    cr_expect(report_has(commands, "[fuse.overlap]"));
    run(commands);
    for (int n = 0; n < 99; n++) cr_assert(b[n] == n + 3);
    clSVMFree(ocl.context, a);
    clSVMFree(ocl.context, b);
}

Test(command_fuse, parts_of_one_allocation) {
    int *a = shared();
    for (int n = 0; n < 4; n++) record_shared(a + 100 * (n + 1), a + 100 * n);
    finalize(commands);
    cr_expect(count_launches(commands) == 1);
    run(commands);
    for (int n = 0; n < 100; n++) cr_assert(a[400 + n] == n + 4);
    clSVMFree(ocl.context, a);
}

/* One element of a part is in the next one, too. */
Test(command_fuse, parts_that_share_an_element) {
    int *a = shared();
    record_shared(a + 400, a + 100);
    record_shared(a + 1, a + 301);
    record_shared(a + 600, a + 700);
    finalize(commands);
    cr_expect(count_launches(commands) == 2);
    run(commands);
    for (int n = 0; n < 100; n++) cr_assert(a[1 + n] == (n == 99 ? 101 : 301 + n) + 1);
    clSVMFree(ocl.context, a);
}

static const char ends[] =
    "kernel void down(global int *end, global const int *from, int last) {\n"
    "    size_t x = get_global_id(0);\n"
    "    end[-1 - (long)x] = from[x] + last;\n"
    "}\n"
    "kernel void any(global int *to, global const int *at, global const int *from) {\n"
    "    to[at[get_global_id(0)]] = from[get_global_id(0)];\n"
    "}\n";

static cl_kernel of_ends(cl_program p, const char *name, int *to, const int *from) {
    cl_kernel k = MAKE(clCreateKernel(p, name, &error));
    SUCCEEDS(clSetKernelArgSVMPointer(k, 0, to));
    SUCCEEDS(clSetKernelArgSVMPointer(k, 1, from));
    return k;
}

/* From an address backwards; and to places that are read, which can be anywhere. */
Test(command_fuse, parts_by_what_kernels_do) {
    int *a = shared(), one = 1;
    cl_program p = built(ends, NULL);
    for (int n = 0; n < 2; n++) {
        cl_kernel k = of_ends(p, "down", a + 200 + 100 * n, a + 400 * n);
        SUCCEEDS(clSetKernelArg(k, 2, sizeof one, &one));
        record(commands, k, 100);
    }
    cl_kernel any = of_ends(p, "any", a + 300, a + 500);
    SUCCEEDS(clSetKernelArgSVMPointer(any, 2, a + 600));
    for (int n = 0; n < 100; n++) a[500 + n] = 99 - n;
    record(commands, any, 100);
    finalize(commands);
    cr_expect(count_launches(commands) == 2);
    run(commands);
    for (int n = 0; n < 100; n++) {
        cr_assert(a[199 - n] == n + 1, "%d", n);
        cr_assert(a[299 - n] == 400 + n + 1, "%d", n);
        cr_assert(a[300 + 99 - n] == 600 + n);
    }
    SUCCEEDS(clReleaseProgram(p));
    clSVMFree(ocl.context, a);
}

/* Parts that are apart, although the ranges of launches that have a guard are not; others overlap,
 * but not what is accessed. */
Test(command_fuse, parts_with_guards) {
    cl_program p = built("kernel void some(global int *to, global const int *from, int n) {"
                         "  int x = get_global_id(0);"
                         "  if (x < n) to[x] = from[x] + 1;"
                         "}",
                         NULL);
    int *a = shared();
    cl_mem low = part(1, 0, 64), high = part(1, 64, 64);
    cl_mem places[2][2] = {{low, buffers[0]}, {high, low}};
    for (int n = 0, most = 64; n < 2; n++) {
        cl_kernel k = MAKE(clCreateKernel(p, "some", &error));
        SUCCEEDS(clSetKernelArg(k, 0, sizeof(cl_mem), &places[n][0]));
        SUCCEEDS(clSetKernelArg(k, 1, sizeof(cl_mem), &places[n][1]));
        SUCCEEDS(clSetKernelArg(k, 2, sizeof most, &most));
        record(commands, k, 100);
    }
    record_shared(a + 100, a);
    finalize(commands);
    cr_expect(count_launches(commands) == 1);
    run(commands);
    for (int n = 0; n < 100; n++) cr_assert(a[100 + n] == n + 1);
    release_both(low, high);
    SUCCEEDS(clReleaseProgram(p));
    clSVMFree(ocl.context, a);
}

Test(command_fuse, memory_of_which_nothing_is_known) {
    static int x[COUNT], y[COUNT], z[COUNT];
    for (int n = 0; n < COUNT; n++) x[n] = n;
    record_shared(y, x);
    record_shared(z, y);
    record_shared(z + 50, y);
    finalize(commands);
    cr_expect(count_launches(commands) == 2);
    run(commands);
    for (int n = 0; n < 150; n++) cr_assert(z[n] == (n < 50 ? n + 2 : n - 50 + 2));
}

/* -------------------------------------------------------------------------------------- kernels */

Test(command_fuse, groups_that_are_smaller_at_the_end) {
    cl_program p = built(kernel_source, "-cl-std=CL3.0");
    const size_t count = COUNT, local = 64;
    for (int n = 0; n < 3; n++) {
        cl_kernel k = MAKE(clCreateKernel(p, "add", &error));
        SUCCEEDS(clSetKernelArg(k, 0, sizeof(cl_mem), &buffers[n + 1]));
        SUCCEEDS(clSetKernelArg(k, 1, sizeof(cl_mem), &buffers[n]));
        SUCCEEDS(clSetKernelArg(k, 2, sizeof(int), &n));
        SUCCEEDS(khr.clCommandNDRangeKernelKHR(commands, NULL, NULL, k, 1, NULL, &count, &local, 0,
                                               NULL, NULL, NULL));
        SUCCEEDS(clReleaseKernel(k));
    }
    SUCCEEDS(clReleaseProgram(p));
    finalize(commands);
    run(commands);
    expect_sums(3, 3);
}

Test(command_fuse, kernels_of_several_programs_with_one_name) {
    cl_program p = built("kernel void add(global int *to, global const int *from, int k) {"
                         "  to[get_global_id(0)] = from[get_global_id(0)] * k; }",
                         NULL);
    record_add(commands, 1, 0, 3);
    cl_kernel k = MAKE(clCreateKernel(p, "add", &error));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof(cl_mem), &buffers[2]));
    SUCCEEDS(clSetKernelArg(k, 1, sizeof(cl_mem), &buffers[1]));
    SUCCEEDS(clSetKernelArg(k, 2, sizeof(int), &(int){10}));
    record(commands, k, COUNT);
    SUCCEEDS(clReleaseProgram(p));
    record_add(commands, 3, 2, 5);
    finalize(commands);
    cr_expect(count_launches(commands) == 1);
    run(commands);
    int back[COUNT];
    read_ints(3, back);
    for (int n = 0; n < COUNT; n++) cr_assert(back[n] == (n + 3) * 10 + 5);
}

/* Smaller ranges, other shapes, local sizes that are required. */
Test(command_fuse, ranges_that_differ) {
    cl_program p =
        built("kernel void first(global int *to, global const int *from) {"
              "  size_t i = get_global_id(1) * 40 + get_global_id(0); to[i] = from[i] + 1; }"
              "kernel __attribute__((reqd_work_group_size(8, 5, 1)))"
              "void second(global int *to, global const int *from) {"
              "  size_t i = get_global_id(1) * 40 + get_global_id(0); to[i] = from[i] * 2; }",
              NULL);
    const size_t whole[2] = {40, 25}, offset[2] = {0, 5}, some[2] = {40, 20};
    cl_kernel first = MAKE(clCreateKernel(p, "first", &error));
    cl_kernel second = MAKE(clCreateKernel(p, "second", &error));
    SUCCEEDS(clSetKernelArg(first, 0, sizeof(cl_mem), &buffers[1]));
    SUCCEEDS(clSetKernelArg(first, 1, sizeof(cl_mem), &buffers[0]));
    SUCCEEDS(clSetKernelArg(second, 0, sizeof(cl_mem), &buffers[2]));
    SUCCEEDS(clSetKernelArg(second, 1, sizeof(cl_mem), &buffers[1]));
    SUCCEEDS(khr.clCommandNDRangeKernelKHR(commands, NULL, NULL, first, 2, NULL, whole, NULL, 0,
                                           NULL, NULL, NULL));
    SUCCEEDS(khr.clCommandNDRangeKernelKHR(commands, NULL, NULL, second, 2, offset, some, NULL, 0,
                                           NULL, NULL, NULL));
    SUCCEEDS(clReleaseKernel(first));
    SUCCEEDS(clReleaseKernel(second));
    SUCCEEDS(clReleaseProgram(p));
    finalize(commands);
    run(commands);
    int back[COUNT];
    read_ints(2, back);
    for (int n = 0; n < COUNT; n++) cr_assert(back[n] == (n < 200 ? 0 : (n + 1) * 2));
}

Test(command_fuse, variables_of_a_program_stay_with_it) {
    cl_program p = built("global int total = 5;"
                         "kernel void set(global int *out) { total += 10; *out = 0; }"
                         "kernel void get(global int *out) { *out = total; }",
                         "-cl-std=CL3.0");
    const char *const names[] = {"set", "get"};
    for (int n = 0; n < 2; n++) {
        cl_kernel k = MAKE(clCreateKernel(p, names[n], &error));
        SUCCEEDS(clSetKernelArg(k, 0, sizeof(cl_mem), &buffers[n + 1]));
        record(commands, k, 1);
    }
    finalize(commands);
    cr_expect(count_launches(commands) == 2);
    cr_expect(report_has(commands, "[fuse.program-variable]"));
    for (int n = 0; n < 3; n++) run(commands);
    cr_expect(result_of(p, "get") == 35);
    SUCCEEDS(clReleaseProgram(p));
}

/* Together these have more private memory than an item may have. */
Test(command_fuse, kernels_that_are_too_large_together) {
    cl_program p = built("kernel void large(global int *to) {"
                         "  int x[1000000], i = get_global_id(0);"
                         "  for (int n = 0; n < 1000000; n++) x[n] = n + to[i];"
                         "  to[i] = x[to[i]];"
                         "}",
                         NULL);
    for (int n = 0; n < 3; n++) {
        cl_kernel k = MAKE(clCreateKernel(p, "large", &error));
        SUCCEEDS(clSetKernelArg(k, 0, sizeof(cl_mem), &buffers[0]));
        record(commands, k, 8);
    }
    SUCCEEDS(clReleaseProgram(p));
    finalize(commands);
    cr_expect(count_launches(commands) == 3);
    run(commands);
    int back[COUNT];
    read_ints(0, back);
    for (int n = 0; n < 8; n++) cr_assert(back[n] == 8 * n);
}

/* What the first prints comes before what the second prints. */
Test(command_fuse, kernels_that_print_stay_apart) {
    FILE *f = tmpfile();
    char text[64] = "";
    int old = dup(1);
    for (int n = 0; n < 2; n++) {
        cl_kernel k = MAKE(clCreateKernel(kernels, "say", &error));
        SUCCEEDS(clSetKernelArg(k, 0, sizeof(cl_mem), &buffers[0]));
        SUCCEEDS(clSetKernelArg(k, 1, sizeof n, &n));
        record(commands, k, 3);
    }
    finalize(commands);
    cr_expect(report_has(commands, "[fuse.printf]"));
    fflush(stdout);
    dup2(fileno(f), 1);
    run(commands);
    fflush(stdout);
    dup2(old, 1);
    close(old);
    rewind(f);
    cr_expect(fread(text, 1, sizeof text - 1, f) == 30);
    cr_expect_str_eq(text, "0: 0\n0: 1\n0: 2\n1: 0\n1: 1\n1: 2\n");
    fclose(f);
}
