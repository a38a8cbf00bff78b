/* launch_test.c — launches: ranges of all shapes against the ids that their items must have, every
 * error, tasks, functions of the host, and the size of groups that is suggested. */
#include "tests/opencl/buffers.h"
#include "tests/opencl/programs.h"

static const char source[] =
    "kernel void ids(global int *out) {\n"
    "    size_t at = 0;\n"
    "    for (int d = 2; d >= 0; d--)\n"
    "        at = at * get_global_size(d) + get_global_id(d) - get_global_offset(d);\n"
    "    for (int d = 0; d < 3; d++) {\n"
    "        out[12 * at + d] = get_global_id(d);\n"
    "        out[12 * at + 3 + d] = get_local_id(d);\n"
    "        out[12 * at + 6 + d] = get_group_id(d);\n"
    "        out[12 * at + 9 + d] = get_local_size(d);\n"
    "    }\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void required(global int *out) {\n"
    "    out[get_global_id(0) + get_global_size(0) * get_global_id(1)] = get_local_size(1);\n"
    "}\n"
    "kernel void add(global int *out, int n) { out[get_global_id(0)] += n; }\n"
    "kernel void uses(global int *out, local int *a, local int *b) { *out = a != b; }\n";

static cl_program program;
static cl_kernel add;

static void begin(void) {
    const cl_int n = 1;
    begin_buffers();
    program = built(source, "-cl-std=CL3.0");
    add = MAKE(clCreateKernel(program, "add", &error));
    SUCCEEDS(clSetKernelArg(add, 0, sizeof buffer, &buffer));
    SUCCEEDS(clSetKernelArg(add, 1, sizeof n, &n));
}

static void end(void) {
    SUCCEEDS(clReleaseKernel(add));
    SUCCEEDS(clReleaseProgram(program));
    end_buffers();
}

TestSuite(launch, .init = begin, .fini = end);

static cl_int launch(cl_kernel k, cl_uint dims, const size_t *offset, const size_t *global,
                     const size_t *local) {
    return clEnqueueNDRangeKernel(ocl.queue, k, dims, offset, global, local, 0, NULL, NULL);
}

static cl_kernel new_kernel(const char *name) {
    cl_kernel k = MAKE(clCreateKernel(program, name, &error));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof buffer, &buffer));
    return k;
}

/* --------------------------------------------------------------------------------------- ranges */

typedef struct {
    cl_uint dims;
    size_t offset[3], global[3], local[3]; /* local all 0: none is given */
} range;

enum { FACTS = 12 };

static size_t items_of(const range *r) {
    size_t n = 1;
    for (cl_uint d = 0; d < r->dims; d++) n *= r->global[d];
    return n;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Groups at the ends are smaller. */
static bool is_right(const range *r, size_t item, const cl_int *facts, const size_t *local) {
    bool right = true;
    for (cl_uint d = 0; d < 3; d++) {
        size_t global = d < r->dims ? r->global[d] : 1, group = d < r->dims ? local[d] : 1;
        size_t id = item % global, offset = d < r->dims ? r->offset[d] : 0;
        item /= global;
        right &= (size_t)facts[d] == id + offset && (size_t)facts[3 + d] == id % group &&
                 (size_t)facts[6 + d] == id / group &&
                 (size_t)facts[9 + d] == smaller(group, global - id / group * group);
    }
    return right;
}

/* wanted: the size of groups when none is given; or NULL. */
static void check_range(cl_kernel k, const range *r, const size_t *wanted) {
    size_t n = items_of(r), bytes = n * FACTS * sizeof(cl_int), local[3], wrong = 0;
    cl_int *got = malloc(bytes);
    cl_mem out = MAKE(clCreateBuffer(ocl.context, 0, bytes, NULL, &error));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof out, &out));
    SUCCEEDS(launch(k, r->dims, r->offset, r->global, r->local[0] ? r->local : NULL));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, out, CL_TRUE, 0, bytes, got, 0, NULL, NULL));
    for (int d = 0; d < 3; d++)
        local[d] = r->local[0] ? r->local[d] : wanted ? wanted[d] : (size_t)got[9 + d];
    for (size_t i = 0; i < n; i++) wrong += !is_right(r, i, got + FACTS * i, local);
    cr_expect(!wrong, "%u-D %zu %zu %zu: %zu are wrong", r->dims, r->global[0], r->global[1],
              r->global[2], wrong);
    SUCCEEDS(clReleaseMemObject(out));
    free(got);
}

Test(launch, ranges) {
    static const range all[] = {
        {1, {0}, {1}, {0}},
        {1, {0}, {1000}, {0}},
        {1, {0}, {1000}, {8}},
        {1, {77}, {1000}, {10}},
        {1, {1000000}, {64}, {64}},
        {2, {0}, {30, 20}, {0}},
        {2, {5, 7}, {30, 20}, {10, 4}},
        {3, {0}, {6, 5, 4}, {0}},
        {3, {1, 2, 3}, {6, 5, 4}, {3, 1, 2}},
        {3, {0}, {1, 1, 100}, {1, 1, 5}},
        {3, {9, 9, 9}, {16, 16, 16}, {16, 16, 16}},
        {1, {0}, {4096}, {4096}},
        {1, {0}, {1000}, {64}}, /* smaller groups at the ends */
        {1, {3}, {5}, {64}},
        {2, {1, 2}, {33, 19}, {8, 4}},
        {3, {0}, {7, 5, 3}, {4, 4, 2}},
    };
    cl_kernel k = new_kernel("ids");
    for (unsigned n = 0; n < sizeof all / sizeof *all; n++) check_range(k, &all[n], NULL);
    SUCCEEDS(clReleaseKernel(k));
}

Test(launch, required_sizes) {
    const size_t global[] = {8, 4, 1}, right[] = {4, 2, 1}, wrong[] = {2, 4, 1};
    const size_t uneven[] = {9, 4, 1};
    cl_int got[32];
    cl_kernel k = new_kernel("required");
    for (int given = 0; given < 2; given++) {
        SUCCEEDS(launch(k, 2, NULL, global, given ? right : NULL));
        SUCCEEDS(
            clEnqueueReadBuffer(ocl.queue, buffer, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
        for (int n = 0; n < 32; n++) cr_expect_eq(got[n], 2);
    }
    SUCCEEDS(launch(k, 3, NULL, global, right));
    SUCCEEDS(launch(k, 2, NULL, uneven, NULL)); /* groups may be smaller in OpenCL C 3.0 */
    FAILS(CL_INVALID_WORK_GROUP_SIZE, launch(k, 2, NULL, global, wrong));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, launch(k, 1, NULL, global, right));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueTask(ocl.queue, k, 0, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
}

/* OpenCL C before 2.0, and programs that say so, have groups of one size. */
Test(launch, uniform_groups) {
    static const char *const options[] = {NULL, "-cl-std=CL3.0 -cl-uniform-work-group-size"};
    const size_t global[] = {100, 10}, even[] = {10, 5}, uneven[] = {10, 3};
    const size_t required[] = {8, 2}, not_required[] = {9, 2};
    for (int k = 0; k < 2; k++) {
        cl_program p = built(source, options[k]);
        cl_kernel ids = MAKE(clCreateKernel(p, "uses", &error));
        cl_kernel req = MAKE(clCreateKernel(p, "required", &error));
        SUCCEEDS(clSetKernelArg(ids, 0, sizeof buffer, &buffer));
        SUCCEEDS(clSetKernelArg(ids, 1, 4, NULL));
        SUCCEEDS(clSetKernelArg(ids, 2, 4, NULL));
        SUCCEEDS(clSetKernelArg(req, 0, sizeof buffer, &buffer));
        SUCCEEDS(launch(ids, 2, NULL, global, even));
        SUCCEEDS(launch(ids, 2, NULL, global, NULL));
        FAILS(CL_INVALID_WORK_GROUP_SIZE, launch(ids, 2, NULL, global, uneven));
        SUCCEEDS(launch(req, 2, NULL, required, NULL));
        FAILS(CL_INVALID_WORK_GROUP_SIZE, launch(req, 2, NULL, not_required, NULL));
        SUCCEEDS(clFinish(ocl.queue));
        SUCCEEDS(clReleaseKernel(ids));
        SUCCEEDS(clReleaseKernel(req));
        SUCCEEDS(clReleaseProgram(p));
    }
}

/* Nothing to be done is done when all that is waited for has ended. */
Test(launch, empty_ranges) {
    const size_t none[] = {4, 0, 4}, local[] = {2, 2, 2};
    const size_t *all[] = {NULL, none, none + 1};
    unsigned char bytes[SIZE];
    cl_event go = user_event(), done[6];
    for (int k = 0; k < 6; k++)
        SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, add, k / 2 == 1 ? 3 : 1, NULL, all[k / 2],
                                        k % 2 ? local : NULL, 1, &go, &done[k]));
    FAILS(CL_INVALID_WORK_DIMENSION, launch(add, 0, NULL, NULL, NULL));
    for (int k = 0; k < 6; k++) cr_expect_neq(event_status(done[k]), CL_COMPLETE);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(6, done));
    read_all(buffer, bytes);
    for (size_t k = 0; k < SIZE; k++) cr_expect_eq(bytes[k], byte_at(k));
    for (int k = 0; k < 6; k++) {
        TELLS(cl_command_type, CL_COMMAND_NDRANGE_KERNEL, clGetEventInfo, done[k],
              CL_EVENT_COMMAND_TYPE);
        SUCCEEDS(clReleaseEvent(done[k]));
    }
    SUCCEEDS(clReleaseEvent(go));
}

/* --------------------------------------------------------------------------------------- errors */

Test(launch, wrong_objects) {
    const size_t one = 1;
    cl_command_queue wrong_queue = (cl_command_queue)(void *)ocl.context;
    cl_kernel wrong = (cl_kernel)(void *)ocl.queue, unset = MAKE(clCloneKernel(add, &error));
    cl_command_queue other = new_queue(other_context, 0);
    SUCCEEDS(clReleaseKernel(unset));
    unset = MAKE(clCreateKernel(program, "add", &error));
    FAILS(CL_INVALID_COMMAND_QUEUE,
          clEnqueueNDRangeKernel(NULL, add, 1, NULL, &one, NULL, 0, NULL, NULL));
    FAILS(CL_INVALID_COMMAND_QUEUE,
          clEnqueueNDRangeKernel(wrong_queue, add, 1, NULL, &one, NULL, 0, NULL, NULL));
    FAILS(CL_INVALID_KERNEL, launch(NULL, 1, NULL, &one, NULL));
    FAILS(CL_INVALID_KERNEL, launch(wrong, 1, NULL, &one, NULL));
    FAILS(CL_INVALID_CONTEXT,
          clEnqueueNDRangeKernel(other, add, 1, NULL, &one, NULL, 0, NULL, NULL));
    FAILS(CL_INVALID_KERNEL_ARGS, launch(unset, 1, NULL, &one, NULL));
    SUCCEEDS(clSetKernelArg(unset, 0, sizeof buffer, &buffer));
    FAILS(CL_INVALID_KERNEL_ARGS, launch(unset, 1, NULL, &one, NULL));
    CHECK_WAIT_LIST(clEnqueueNDRangeKernel(ocl.queue, add, 1, NULL, &one, NULL, n, list, NULL));
    CHECK_WAIT_LIST(clEnqueueTask(ocl.queue, add, n, list, NULL));
    SUCCEEDS(clReleaseKernel(unset));
    SUCCEEDS(clReleaseCommandQueue(other));
}

Test(launch, wrong_ranges) {
    const size_t huge = SIZE_MAX, large[] = {(size_t)1 << 32, (size_t)1 << 31, 1};
    const size_t global[] = {8192, 8192, 8192}, zero[] = {4, 0, 1}, wide[] = {4097, 1, 1},
                 deep[] = {64, 64, 2}, end = SIZE_MAX - 100;
    FAILS(CL_INVALID_WORK_DIMENSION, launch(add, 0, NULL, global, NULL));
    FAILS(CL_INVALID_WORK_DIMENSION, launch(add, 4, NULL, global, NULL));
    FAILS(CL_INVALID_GLOBAL_WORK_SIZE, launch(add, 1, NULL, &huge, NULL));
    FAILS(CL_INVALID_GLOBAL_WORK_SIZE, launch(add, 2, NULL, large, NULL));
    FAILS(CL_INVALID_GLOBAL_OFFSET, launch(add, 1, &end, global, NULL));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, launch(add, 3, NULL, global, zero));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, launch(add, 3, NULL, global, deep));
    FAILS(CL_INVALID_WORK_ITEM_SIZE, launch(add, 3, NULL, global, wide));
}

Test(launch, local_memory) {
    const size_t one = 1;
    cl_ulong most;
    cl_kernel k = new_kernel("uses");
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof most, &most, NULL));
    SUCCEEDS(clSetKernelArg(k, 1, most, NULL));
    SUCCEEDS(clSetKernelArg(k, 2, 4, NULL));
    FAILS(CL_OUT_OF_RESOURCES, launch(k, 1, NULL, &one, NULL));
    SUCCEEDS(clSetKernelArg(k, 1, most - 4, NULL));
    SUCCEEDS(launch(k, 1, NULL, &one, NULL));
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(clReleaseKernel(k));
}

/* What the kernels of a program have together may be more than the device has. */
Test(launch, local_memory_is_a_kernels_own) {
    static const char big[] = "#define K(name)                                               \\\n"
                              "kernel void name(global int *out) {                           \\\n"
                              "    local int l[50000];                                       \\\n"
                              "    l[get_local_id(0)] = 7;                                   \\\n"
                              "    barrier(CLK_LOCAL_MEM_FENCE);                             \\\n"
                              "    *out = l[get_local_size(0) - 1 - get_local_id(0)];        \\\n"
                              "}\n"
                              "K(a) K(b) K(c)\n";
    cl_program p = built(big, NULL);
    cr_expect_eq(result_of(p, "a"), 7);
    cr_expect_eq(result_of(p, "c"), 7);
    SUCCEEDS(clReleaseProgram(p));
}

/* ------------------------------------------------------------------------------------ lifetimes */

/* A launch keeps its kernel, its program and its buffers. */
Test(launch, keeps_what_it_uses) {
    const size_t count = 4;
    cl_int got[4] = {0}, host[4] = {1, 2, 3, 4};
    cl_event go = user_event();
    cl_kernel k = new_kernel("add");
    const cl_int n = 10;
    cl_mem m = MAKE(clCreateBuffer(ocl.context, CL_MEM_USE_HOST_PTR, sizeof host, host, &error));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof m, &m));
    SUCCEEDS(clSetKernelArg(k, 1, sizeof n, &n));
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &count, NULL, 1, &go, NULL));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, m, CL_FALSE, 0, sizeof got, got, 0, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseMemObject(m));
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clFinish(ocl.queue));
    for (int i = 0; i < 4; i++) cr_expect_eq(got[i], i + 11);
    SUCCEEDS(clReleaseEvent(go));
}

Test(launch, task) {
    cl_event done;
    cl_int before, after;
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, buffer, CL_TRUE, 0, 4, &before, 0, NULL, NULL));
    SUCCEEDS(clEnqueueTask(ocl.queue, add, 0, NULL, &done));
    TELLS(cl_command_type, CL_COMMAND_TASK, clGetEventInfo, done, CL_EVENT_COMMAND_TYPE);
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, buffer, CL_TRUE, 0, 4, &after, 0, NULL, NULL));
    cr_expect_eq(after, before + 1);
    FAILS(CL_INVALID_COMMAND_QUEUE, clEnqueueTask(NULL, add, 0, NULL, NULL));
    FAILS(CL_INVALID_KERNEL, clEnqueueTask(ocl.queue, NULL, 0, NULL, NULL));
    SUCCEEDS(clReleaseEvent(done));
}

/* ------------------------------------------------------------------------ functions of the host */

typedef struct {
    unsigned char *bytes, *none;
    size_t count;
    long double aligned;
} host_args;

static _Atomic unsigned calls;

static void CL_CALLBACK reverse(void *user) {
    const host_args *a = user;
    cr_expect_null(a->none);
    cr_expect_eq((uintptr_t)user % _Alignof(max_align_t), 0);
    for (size_t k = 0; k < a->count / 2; k++) {
        unsigned char t = a->bytes[k];
        a->bytes[k] = a->bytes[a->count - 1 - k];
        a->bytes[a->count - 1 - k] = t;
    }
    calls++;
}

static void CL_CALLBACK no_args(void *args) { calls += !args; }

/* Handles become addresses, arguments and the list are copied. */
Test(launch, native_kernel) {
    unsigned char bytes[SIZE];
    cl_event done, go = user_event();
    cl_mem part = sub_buffer(128, 100), mems[] = {part, NULL, part};
    host_args a = {(unsigned char *)part, (unsigned char *)part, 100, 0};
    const void *where[] = {&a.bytes, &a.none, &a.bytes};
    SUCCEEDS(
        clEnqueueNativeKernel(ocl.queue, reverse, &a, sizeof a, 3, mems, where, 1, &go, &done));
    memset(&a, 0, sizeof a);
    memset(mems, 0, sizeof mems);
    SUCCEEDS(clReleaseMemObject(part));
    TELLS(cl_command_type, CL_COMMAND_NATIVE_KERNEL, clGetEventInfo, done, CL_EVENT_COMMAND_TYPE);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &done));
    read_all(buffer, bytes);
    for (size_t k = 0; k < 100; k++) cr_expect_eq(bytes[128 + k], byte_at(227 - k));
    cr_expect_eq(calls, 1);
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseEvent(done));
}

Test(launch, native_kernel_without_arguments) {
    SUCCEEDS(clEnqueueNativeKernel(ocl.queue, no_args, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
    SUCCEEDS(clFinish(ocl.queue));
    cr_expect_eq(calls, 1);
}

static cl_int call(host_args *a, size_t size, cl_uint count, const cl_mem *mems,
                   const void **where) {
    return clEnqueueNativeKernel(ocl.queue, reverse, a, size, count, mems, where, 0, NULL, NULL);
}

Test(launch, wrong_native_kernels) {
    host_args a = {NULL, NULL, 0, 0};
    const void *where[] = {&a.bytes}, *outside[] = {&a + 1}, *end[] = {(char *)(&a + 1) - 1};
    const cl_mem wrong = (cl_mem)(void *)ocl.queue;
    FAILS(CL_INVALID_COMMAND_QUEUE,
          clEnqueueNativeKernel(NULL, reverse, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE,
          clEnqueueNativeKernel(ocl.queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, call(NULL, sizeof a, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, call(NULL, 0, 1, &buffer, where));
    FAILS(CL_INVALID_VALUE, call(&a, 0, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, call(&a, sizeof a, 1, NULL, where));
    FAILS(CL_INVALID_VALUE, call(&a, sizeof a, 1, &buffer, NULL));
    FAILS(CL_INVALID_VALUE, call(&a, sizeof a, 0, &buffer, NULL));
    FAILS(CL_INVALID_VALUE, call(&a, sizeof a, 0, NULL, where));
    FAILS(CL_INVALID_VALUE, call(&a, sizeof a, 1, &buffer, outside));
    FAILS(CL_INVALID_VALUE, call(&a, sizeof a, 1, &buffer, end));
    FAILS(CL_INVALID_MEM_OBJECT, call(&a, sizeof a, 1, &wrong, where));
    FAILS(CL_INVALID_MEM_OBJECT, call(&a, sizeof a, 1, &other_buffer, where));
    CHECK_WAIT_LIST(
        clEnqueueNativeKernel(ocl.queue, no_args, NULL, 0, 0, NULL, NULL, n, list, NULL));
    cr_expect_eq(calls, 0);
}

/* ------------------------------------------------------------------- the size that is suggested */

static clGetKernelSuggestedLocalWorkSizeKHR_fn find_suggestion(void) {
    clGetKernelSuggestedLocalWorkSizeKHR_fn f;
    find_entry("clGetKernelSuggestedLocalWorkSizeKHR", &f);
    return f;
}

/* It is what a launch takes that is given none. */
Test(launch, suggested_size) {
    clGetKernelSuggestedLocalWorkSizeKHR_fn suggest = find_suggestion();
    const size_t global[] = {30, 20};
    cl_kernel k = new_kernel("ids"), required = new_kernel("required");
    size_t size[3];
    for (cl_uint dims = 1; dims <= 3; dims++) {
        const range r = {dims, {5, 6, 7}, {30, 20, 6}, {0}};
        SUCCEEDS(suggest(ocl.queue, k, dims, r.offset, r.global, size));
        check_range(k, &r, size);
    }
    SUCCEEDS(suggest(ocl.queue, required, 2, NULL, global, size));
    cr_expect(size[0] == 4 && size[1] == 2);
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseKernel(required));
}

Test(launch, wrong_suggestions) {
    clGetKernelSuggestedLocalWorkSizeKHR_fn suggest = find_suggestion();
    const size_t global[] = {30, 20, 6}, zero[] = {30, 0, 6}, huge = SIZE_MAX, end = SIZE_MAX;
    size_t size[3];
    cl_command_queue other = new_queue(other_context, 0);
    cl_kernel unset = MAKE(clCreateKernel(program, "add", &error));
    FAILS(CL_INVALID_COMMAND_QUEUE,
          suggest((cl_command_queue)(void *)ocl.context, add, 1, NULL, global, size));
    FAILS(CL_INVALID_KERNEL,
          suggest(ocl.queue, (cl_kernel)(void *)ocl.queue, 1, NULL, global, size));
    FAILS(CL_INVALID_CONTEXT, suggest(other, add, 1, NULL, global, size));
    FAILS(CL_INVALID_KERNEL_ARGS, suggest(ocl.queue, unset, 1, NULL, global, size));
    FAILS(CL_INVALID_WORK_DIMENSION, suggest(ocl.queue, add, 0, NULL, global, size));
    FAILS(CL_INVALID_WORK_DIMENSION, suggest(ocl.queue, add, 4, NULL, global, size));
    FAILS(CL_INVALID_GLOBAL_WORK_SIZE, suggest(ocl.queue, add, 1, NULL, NULL, size));
    FAILS(CL_INVALID_GLOBAL_WORK_SIZE, suggest(ocl.queue, add, 3, NULL, zero, size));
    FAILS(CL_INVALID_GLOBAL_WORK_SIZE, suggest(ocl.queue, add, 1, NULL, &huge, size));
    FAILS(CL_INVALID_GLOBAL_OFFSET, suggest(ocl.queue, add, 1, &end, global, size));
    FAILS(CL_INVALID_VALUE, suggest(ocl.queue, add, 1, NULL, global, NULL));
    SUCCEEDS(clReleaseKernel(unset));
    SUCCEEDS(clReleaseCommandQueue(other));
}
