/* kernel_test.c — kernels: how they are made and copied, their arguments, and what is known of
 * them. */
#include "tests/opencl/buffers.h"
#include "tests/opencl/programs.h"

static const char source[] =
    "typedef struct { char c; long n; } pair;\n"
    "kernel void all(global int *out, constant int *c, local int *l, int n, float4 v, pair p) {\n"
    "    *l = n;\n"
    "    *out = (out == 0 ? 0 : *l) + (c ? *c : 0) + (int)v.w + (int)p.n;\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void required(global int *out) {}\n"
    "kernel __attribute__((work_group_size_hint(8, 1, 1))) void hint(\n"
    "    global const int *restrict in, global volatile int *out) {\n"
    "    *out = *in;\n"
    "}\n"
    "kernel void none() {}\n"
    "kernel void shares(global int *out) {\n"
    "    local int l[100];\n"
    "    l[get_local_id(0)] = 1;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    *out = l[99 - get_local_id(0)];\n"
    "}\n";

typedef struct {
    cl_char c;
    cl_long n;
} pair;

static cl_program program;

static void begin(void) {
    begin_buffers();
    program = built(source, "-cl-kernel-arg-info");
}

static void end(void) {
    SUCCEEDS(clReleaseProgram(program));
    end_buffers();
}

TestSuite(kernel, .init = begin, .fini = end);

static cl_kernel new_kernel(const char *name) {
    return MAKE(clCreateKernel(program, name, &error));
}

#define WRONG_PROGRAM (cl_program)(void *) ocl.queue
#define WRONG_KERNEL (cl_kernel)(void *) ocl.queue

/* ------------------------------------------------------------------------------------- creation */

Test(kernel, create) {
    cl_kernel k = new_kernel("all");
    SUCCEEDS(clRetainKernel(k));
    TELLS(cl_uint, 2, clGetKernelInfo, k, CL_KERNEL_REFERENCE_COUNT);
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseKernel(k));
    FAILS(CL_INVALID_KERNEL, clRetainKernel(NULL));
    FAILS(CL_INVALID_KERNEL, clReleaseKernel(NULL));
    FAILS(CL_INVALID_KERNEL, clRetainKernel(WRONG_KERNEL));
    FAILS(CL_INVALID_KERNEL, clReleaseKernel(WRONG_KERNEL));
}

Test(kernel, wrong_creation) {
    cl_program raw = make_program(source), object = compiled(source, NULL);
    cl_kernel k;
    cl_uint n;
    REFUSES(CL_INVALID_PROGRAM, clCreateKernel(NULL, "all", &error));
    REFUSES(CL_INVALID_PROGRAM, clCreateKernel(WRONG_PROGRAM, "all", &error));
    REFUSES(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(raw, "all", &error));
    REFUSES(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(object, "all", &error));
    REFUSES(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "nobody", &error));
    REFUSES(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "", &error));
    REFUSES(CL_INVALID_VALUE, clCreateKernel(program, NULL, &error));
    FAILS(CL_INVALID_PROGRAM, clCreateKernelsInProgram(NULL, 1, &k, &n));
    FAILS(CL_INVALID_PROGRAM, clCreateKernelsInProgram(WRONG_PROGRAM, 1, &k, &n));
    FAILS(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernelsInProgram(raw, 1, &k, &n));
    FAILS(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernelsInProgram(object, 0, NULL, &n));
    SUCCEEDS(clReleaseProgram(raw));
    SUCCEEDS(clReleaseProgram(object));
}

Test(kernel, all_of_a_program) {
    cl_kernel list[8] = {NULL};
    cl_uint n = 0;
    SUCCEEDS(clCreateKernelsInProgram(program, 0, NULL, &n));
    cr_assert_eq(n, 5);
    FAILS(CL_INVALID_VALUE, clCreateKernelsInProgram(program, n - 1, list, NULL));
    cr_expect_null(list[0]);
    SUCCEEDS(clCreateKernelsInProgram(program, 8, list, NULL));
    for (unsigned k = 0; k < n; k++) {
        TELLS(cl_program, program, clGetKernelInfo, list[k], CL_KERNEL_PROGRAM);
        SUCCEEDS(clReleaseKernel(list[k]));
    }
    cr_expect_null(list[n]);
}

/* ------------------------------------------------------------------------------------ arguments */

static cl_int set(cl_kernel k, cl_uint n, size_t size, const void *value) {
    return clSetKernelArg(k, n, size, value);
}

/* 10 by value, 5 by vector, 3 by structure, and what is in the buffer of constants. */
static void set_all(cl_kernel k, cl_mem out, cl_mem constants) {
    const cl_int n = 10;
    const cl_float4 v = {{1, 2, 3, 5}};
    const pair p = {1, 3};
    SUCCEEDS(set(k, 0, sizeof out, &out));
    SUCCEEDS(set(k, 1, sizeof constants, &constants));
    SUCCEEDS(set(k, 2, 4, NULL));
    SUCCEEDS(set(k, 3, sizeof n, &n));
    SUCCEEDS(set(k, 4, sizeof v, &v));
    SUCCEEDS(set(k, 5, sizeof p, &p));
}

static cl_int run(cl_kernel k) {
    const size_t one = 1;
    return clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &one, NULL, 0, NULL, NULL);
}

static void expect_result(cl_kernel k, cl_mem out, cl_int wanted) {
    cl_int got = -1;
    SUCCEEDS(run(k));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    cr_expect_eq(got, wanted, "%d, not %d", got, wanted);
}

static cl_mem new_constants(cl_int first) {
    return MAKE(clCreateBuffer(ocl.context, CL_MEM_COPY_HOST_PTR, sizeof first, &first, &error));
}

Test(kernel, arguments) {
    cl_kernel k = new_kernel("all");
    cl_mem constants = new_constants(100), none = NULL;
    const cl_int n = 20;
    set_all(k, buffer, constants);
    expect_result(k, buffer, 118);
    SUCCEEDS(set(k, 3, sizeof n, &n));
    expect_result(k, buffer, 128);
    SUCCEEDS(set(k, 1, sizeof none, &none)); /* a buffer may be NULL, in two ways */
    expect_result(k, buffer, 28);
    SUCCEEDS(set(k, 1, sizeof constants, &constants));
    expect_result(k, buffer, 128);
    SUCCEEDS(set(k, 1, sizeof none, NULL));
    expect_result(k, buffer, 28);
    SUCCEEDS(clReleaseMemObject(constants));
    SUCCEEDS(clReleaseKernel(k));
}

/* Arguments are copied when they are set, and when a launch is enqueued. */
Test(kernel, arguments_are_copied) {
    cl_int n = 20;
    cl_kernel k = new_kernel("all");
    cl_mem constants = new_constants(100), second = new_constants(200);
    cl_event go = user_event();
    set_all(k, buffer, constants);
    SUCCEEDS(set(k, 3, sizeof n, &n));
    n = 0;
    SUCCEEDS(clEnqueueBarrierWithWaitList(ocl.queue, 1, &go, NULL));
    SUCCEEDS(run(k));
    SUCCEEDS(set(k, 0, sizeof second, &second));
    SUCCEEDS(set(k, 1, sizeof second, &second));
    SUCCEEDS(clReleaseMemObject(constants)); /* the launch has it */
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, buffer, CL_TRUE, 0, sizeof n, &n, 0, NULL, NULL));
    cr_expect_eq(n, 128);
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseMemObject(second));
    SUCCEEDS(clReleaseKernel(k));
}

Test(kernel, wrong_arguments) {
    const cl_mem wrong = (cl_mem)(void *)ocl.queue;
    const cl_float4 v = {{0}};
    const size_t local = 1 << 30;
    cl_int *n = calloc(1, sizeof *n); /* no byte after it may be read */
    cl_kernel k = new_kernel("all");
    FAILS(CL_INVALID_KERNEL, set(NULL, 3, sizeof *n, n));
    FAILS(CL_INVALID_KERNEL, set(WRONG_KERNEL, 3, sizeof *n, n));
    FAILS(CL_INVALID_ARG_INDEX, set(k, 6, sizeof *n, n));
    FAILS(CL_INVALID_ARG_INDEX, set(k, ~0u, sizeof *n, n));
    FAILS(CL_INVALID_ARG_SIZE, set(k, 0, sizeof *n, n));
    FAILS(CL_INVALID_ARG_SIZE, set(k, 0, 0, NULL));
    FAILS(CL_INVALID_ARG_SIZE, set(k, 1, sizeof v, &v));
    FAILS(CL_INVALID_MEM_OBJECT, set(k, 0, sizeof wrong, &wrong));
    FAILS(CL_INVALID_MEM_OBJECT, set(k, 0, sizeof other_buffer, &other_buffer));
    FAILS(CL_INVALID_ARG_SIZE, set(k, 2, 0, NULL));
    FAILS(CL_INVALID_ARG_VALUE, set(k, 2, sizeof *n, n));
    FAILS(CL_OUT_OF_RESOURCES, set(k, 2, local, NULL));
    FAILS(CL_OUT_OF_RESOURCES, set(k, 2, SIZE_MAX, NULL));
    FAILS(CL_INVALID_ARG_VALUE, set(k, 3, sizeof *n, NULL));
    FAILS(CL_INVALID_ARG_SIZE, set(k, 3, 3, n));
    FAILS(CL_INVALID_ARG_SIZE, set(k, 3, 5, n));
    FAILS(CL_INVALID_ARG_SIZE, set(k, 3, 0, n));
    FAILS(CL_INVALID_ARG_SIZE, set(k, 4, sizeof *n, n));
    FAILS(CL_INVALID_ARG_SIZE, set(k, 5, sizeof *n, n));
    FAILS(CL_INVALID_KERNEL_ARGS, run(k));
    SUCCEEDS(clReleaseKernel(k));
    free(n);
}

/* What was set stays when something else is refused. */
Test(kernel, refused_arguments_change_nothing) {
    const cl_int n = 1;
    cl_kernel k = new_kernel("all");
    cl_mem constants = new_constants(100);
    set_all(k, buffer, constants);
    FAILS(CL_INVALID_ARG_SIZE, set(k, 0, 4, &n));
    FAILS(CL_INVALID_MEM_OBJECT, set(k, 1, sizeof other_buffer, &other_buffer));
    FAILS(CL_INVALID_ARG_VALUE, set(k, 2, 4, &n));
    FAILS(CL_INVALID_ARG_SIZE, set(k, 3, 2, &n));
    expect_result(k, buffer, 118);
    SUCCEEDS(clReleaseMemObject(constants));
    SUCCEEDS(clReleaseKernel(k));
}

Test(kernel, shared_pointers) {
    cl_kernel k = new_kernel("all");
    cl_mem constants = new_constants(100);
    cl_int *p = clSVMAlloc(ocl.context, 0, 2 * sizeof *p, 0);
    set_all(k, buffer, constants);
    SUCCEEDS(clSetKernelArgSVMPointer(k, 0, p + 1));
    SUCCEEDS(run(k));
    SUCCEEDS(clFinish(ocl.queue));
    cr_expect_eq(p[1], 118);
    SUCCEEDS(clSetKernelArgSVMPointer(k, 1, NULL));
    SUCCEEDS(set(k, 0, sizeof buffer, &buffer));
    expect_result(k, buffer, 18);
    FAILS(CL_INVALID_KERNEL, clSetKernelArgSVMPointer(NULL, 0, p));
    FAILS(CL_INVALID_KERNEL, clSetKernelArgSVMPointer(WRONG_KERNEL, 0, p));
    FAILS(CL_INVALID_ARG_INDEX, clSetKernelArgSVMPointer(k, 6, p));
    FAILS(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(k, 2, p));
    FAILS(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(k, 3, p));
    clSVMFree(ocl.context, p);
    SUCCEEDS(clReleaseMemObject(constants));
    SUCCEEDS(clReleaseKernel(k));
}

Test(kernel, exec_info) {
    const cl_kernel_exec_info pointers = CL_KERNEL_EXEC_INFO_SVM_PTRS;
    const cl_kernel_exec_info system = CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM;
    const cl_bool yes = CL_TRUE;
    void *list[] = {&list, &list};
    cl_kernel k = new_kernel("none");
    SUCCEEDS(clSetKernelExecInfo(k, pointers, sizeof list, list));
    SUCCEEDS(clSetKernelExecInfo(k, pointers, 0, NULL));
    SUCCEEDS(clSetKernelExecInfo(k, system, sizeof yes, &yes));
    FAILS(CL_INVALID_KERNEL, clSetKernelExecInfo(NULL, pointers, sizeof list, list));
    FAILS(CL_INVALID_KERNEL, clSetKernelExecInfo(WRONG_KERNEL, pointers, sizeof list, list));
    FAILS(CL_INVALID_VALUE, clSetKernelExecInfo(k, pointers, sizeof list, NULL));
    FAILS(CL_INVALID_VALUE, clSetKernelExecInfo(k, pointers, 5, list));
    FAILS(CL_INVALID_VALUE, clSetKernelExecInfo(k, pointers, 0, list));
    FAILS(CL_INVALID_VALUE, clSetKernelExecInfo(k, system, 1, &yes));
    FAILS(CL_INVALID_VALUE, clSetKernelExecInfo(k, 1, sizeof list, list));
    SUCCEEDS(clReleaseKernel(k));
}

/* ------------------------------------------------------------------- buffers that are arguments */

static void CL_CALLBACK note_end(cl_mem m, void *ended) {
    (void)m;
    *(volatile bool *)ended = true;
}

/* Buffers have no references by kernels: they go when their last reference is released. */
Test(kernel, holds_no_buffer) {
    cl_kernel k = new_kernel("all");
    volatile bool ended = false;
    cl_mem constants = new_constants(100), replaced = new_constants(7);
    SUCCEEDS(clSetMemObjectDestructorCallback(constants, note_end, (void *)(uintptr_t)&ended));
    set_all(k, buffer, replaced);
    set_all(k, buffer, constants);
    cl_kernel copy = MAKE(clCloneKernel(k, &error));
    TELLS(cl_uint, 1, clGetMemObjectInfo, constants, CL_MEM_REFERENCE_COUNT);
    TELLS(cl_uint, 1, clGetMemObjectInfo, replaced, CL_MEM_REFERENCE_COUNT);
    SUCCEEDS(clReleaseMemObject(constants));
    cr_expect(ended);
    SUCCEEDS(clReleaseMemObject(replaced));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseKernel(copy));
}

/* Launches that would use a buffer that is gone are refused, whatever has its memory now. */
Test(kernel, buffers_that_are_gone) {
    cl_kernel k = new_kernel("all");
    cl_mem constants = new_constants(100), part = sub_buffer(512, 8);
    set_all(k, buffer, constants);
    SUCCEEDS(clReleaseMemObject(constants));
    cl_mem others[16];
    for (int n = 0; n < 16; n++) others[n] = new_constants(n);
    cl_kernel copy = MAKE(clCloneKernel(k, &error));
    FAILS(CL_INVALID_KERNEL_ARGS, run(k));
    FAILS(CL_INVALID_KERNEL_ARGS, run(copy));
    FAILS(CL_INVALID_MEM_OBJECT, set(k, 1, sizeof constants, &constants));
    FAILS(CL_INVALID_MEM_OBJECT, clRetainMemObject(constants));
    FAILS(CL_INVALID_MEM_OBJECT, clReleaseMemObject(constants));
    SUCCEEDS(set(k, 1, sizeof others[5], &others[5]));
    expect_result(k, buffer, 23);
    SUCCEEDS(set(k, 1, sizeof part, &part));
    SUCCEEDS(clReleaseMemObject(part));
    FAILS(CL_INVALID_KERNEL_ARGS, run(k));
    for (int n = 0; n < 16; n++) SUCCEEDS(clReleaseMemObject(others[n]));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseKernel(copy));
}

/* A launch has references of its own: buffers that it was given may be released at once. */
Test(kernel, launches_hold_buffers) {
    volatile bool ended = false;
    cl_kernel k = new_kernel("all");
    cl_mem constants = new_constants(100);
    cl_event go = user_event();
    cl_int got = 0;
    SUCCEEDS(clSetMemObjectDestructorCallback(constants, note_end, (void *)(uintptr_t)&ended));
    set_all(k, buffer, constants);
    SUCCEEDS(clEnqueueBarrierWithWaitList(ocl.queue, 1, &go, NULL));
    SUCCEEDS(run(k));
    SUCCEEDS(clReleaseMemObject(constants));
    cr_expect(!ended);
    SUCCEEDS(clSetUserEventStatus(go, CL_COMPLETE));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, buffer, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    cr_expect_eq(got, 118);
    cr_expect(ended);
    SUCCEEDS(clReleaseEvent(go));
    SUCCEEDS(clReleaseKernel(k));
}

/* --------------------------------------------------------------------------------------- clones */

Test(kernel, clone) {
    const cl_int n = 20;
    cl_kernel k = new_kernel("all");
    cl_mem constants = new_constants(100);
    set_all(k, buffer, constants);
    cl_kernel copy = MAKE(clCloneKernel(k, &error));
    SUCCEEDS(set(k, 3, sizeof n, &n));
    SUCCEEDS(clSetKernelArgSVMPointer(k, 1, NULL));
    expect_result(copy, buffer, 118);
    expect_result(k, buffer, 28);
    SUCCEEDS(clReleaseKernel(k));
    expect_result(copy, buffer, 118);
    TELLS(cl_uint, 1, clGetKernelInfo, copy, CL_KERNEL_REFERENCE_COUNT);
    SUCCEEDS(clReleaseMemObject(constants));
    SUCCEEDS(clReleaseKernel(copy));
}

Test(kernel, wrong_clones) {
    cl_kernel k = new_kernel("shares"), copy = MAKE(clCloneKernel(k, &error));
    FAILS(CL_INVALID_KERNEL_ARGS, run(copy)); /* what is not set is not in the copy either */
    REFUSES(CL_INVALID_KERNEL, clCloneKernel(NULL, &error));
    REFUSES(CL_INVALID_KERNEL, clCloneKernel(WRONG_KERNEL, &error));
    SUCCEEDS(clReleaseKernel(copy));
    SUCCEEDS(clReleaseKernel(k));
}

/* -------------------------------------------------------------------------------------- answers */

static void expect_text(cl_kernel k, cl_kernel_info what, const char *wanted) {
    char text[256];
    size_t size;
    SUCCEEDS(clGetKernelInfo(k, what, sizeof text, text, &size));
    cr_expect_str_eq(text, wanted);
    cr_expect_eq(size, strlen(wanted) + 1);
}

Test(kernel, info) {
    cl_kernel k = new_kernel("all");
    expect_text(k, CL_KERNEL_FUNCTION_NAME, "all");
    expect_text(k, CL_KERNEL_ATTRIBUTES, "");
    TELLS(cl_uint, 6, clGetKernelInfo, k, CL_KERNEL_NUM_ARGS);
    TELLS(cl_uint, 1, clGetKernelInfo, k, CL_KERNEL_REFERENCE_COUNT);
    TELLS(cl_context, ocl.context, clGetKernelInfo, k, CL_KERNEL_CONTEXT);
    TELLS(cl_program, program, clGetKernelInfo, k, CL_KERNEL_PROGRAM);
    CHECK_INFO(clGetKernelInfo, k, CL_KERNEL_PROGRAM, sizeof(cl_program));
    FAILS(CL_INVALID_KERNEL, clGetKernelInfo(NULL, CL_KERNEL_PROGRAM, 0, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
}

/* They are those of the source: a program that comes from elsewhere has none. */
Test(kernel, attributes) {
    cl_kernel required = new_kernel("required"), hint = new_kernel("hint");
    expect_text(required, CL_KERNEL_ATTRIBUTES, "reqd_work_group_size(4,2,1)");
    expect_text(hint, CL_KERNEL_ATTRIBUTES, "work_group_size_hint(8,1,1)");
    SUCCEEDS(clReleaseKernel(required));
    SUCCEEDS(clReleaseKernel(hint));
    program = through_binary(program);
    build(program, NULL);
    required = new_kernel("required");
    expect_text(required, CL_KERNEL_ATTRIBUTES, "");
    SUCCEEDS(clReleaseKernel(required));
}

static void expect_attributes(cl_program p, const char *name, const char *wanted) {
    cl_kernel k = MAKE(clCreateKernel(p, name, &error));
    expect_text(k, CL_KERNEL_ATTRIBUTES, wanted);
    SUCCEEDS(clReleaseKernel(k));
}

/* A hint of every type that vectors have; SPIR-V does not know signs, the source does. */
Test(kernel, vector_hints) {
    static const char *const types[] = {"char", "uchar", "short", "ushort", "int",   "uint",
                                        "long", "ulong", "half",  "float",  "double"};
    static const char *const sizes[] = {"", "2", "3", "4", "8", "16"};
    char text[16384] = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n", name[32], wanted[64];
    size_t n = strlen(text);
    for (int t = 0; t < 11; t++)
        for (int s = 0; s < 6; s++)
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "%s __attribute__((vec_type_hint(%s%s))) void k%d_%d(int x) {}\n",
                                  s & 1 ? "kernel" : "__kernel", types[t], sizes[s], t, s);
    cl_program p = built(text, NULL);
    for (int t = 0; t < 11; t++)
        for (int s = 0; s < 6; s++) {
            snprintf(name, sizeof name, "k%d_%d", t, s);
            snprintf(wanted, sizeof wanted, "vec_type_hint(%s%s)", types[t], sizes[s]);
            expect_attributes(p, name, wanted);
        }
    SUCCEEDS(clReleaseProgram(p));
}

/* All kinds in one kernel, spelt in several ways, and with none that is another kernel's. */
Test(kernel, several_attributes) {
    cl_program p =
        built("kernel void none() {}\n"
              "__attribute__((vec_type_hint(uint4), reqd_work_group_size(2, 1, 1)))\n"
              "__attribute__((work_group_size_hint(2, 1, 1))) kernel void all(global uint4 *a) {}\n"
              "kernel __attribute__(( __vec_type_hint__ ( unsigned short ) )) void spelt() {}\n"
              "kernel __attribute__((vec_type_hint(short))) void uspelt() {}\n"
              "#define HINT(t) kernel __attribute__((vec_type_hint(t)))\n"
              "HINT(int8) void macro() {}\n",
              NULL);
    expect_attributes(p, "none", "");
    expect_attributes(p, "all",
                      "reqd_work_group_size(2,1,1) work_group_size_hint(2,1,1) "
                      "vec_type_hint(uint4)");
    expect_attributes(p, "spelt", "vec_type_hint(ushort)");
    expect_attributes(p, "uspelt", "vec_type_hint(short)");
    expect_attributes(p, "macro", "vec_type_hint(int8)");
    SUCCEEDS(clReleaseProgram(p));
}

typedef struct {
    cl_uint n;
    cl_kernel_arg_address_qualifier address;
    cl_kernel_arg_type_qualifier type;
    const char *type_name, *name;
} arg_facts;

static void check_arg(cl_kernel k, const arg_facts *f) {
    cl_kernel_arg_address_qualifier address;
    cl_kernel_arg_access_qualifier access;
    cl_kernel_arg_type_qualifier type;
    char text[64];
    SUCCEEDS(clGetKernelArgInfo(k, f->n, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address,
                                NULL));
    SUCCEEDS(
        clGetKernelArgInfo(k, f->n, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL));
    SUCCEEDS(clGetKernelArgInfo(k, f->n, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof type, &type, NULL));
    cr_expect_eq(address, f->address);
    cr_expect_eq(access, CL_KERNEL_ARG_ACCESS_NONE);
    cr_expect_eq(type, f->type, "%s: %#x", f->name, (unsigned)type);
    SUCCEEDS(clGetKernelArgInfo(k, f->n, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
    cr_expect_str_eq(text, f->type_name);
    SUCCEEDS(clGetKernelArgInfo(k, f->n, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
    cr_expect_str_eq(text, f->name);
}

Test(kernel, arg_info) {
    static const arg_facts all[] = {
        {0, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_NONE, "int*", "out"},
        {1, CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_TYPE_CONST, "int*", "c"},
        {2, CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_TYPE_NONE, "int*", "l"},
        {3, CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_NONE, "int", "n"},
        {4, CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_NONE, "float4", "v"},
        {5, CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_NONE, "pair", "p"}};
    static const arg_facts hints[] = {
        {0, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT,
         "int*", "in"},
        {1, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_VOLATILE, "int*", "out"}};
    cl_kernel k = new_kernel("all"), hint = new_kernel("hint");
    for (int n = 0; n < 6; n++) check_arg(k, &all[n]);
    for (int n = 0; n < 2; n++) check_arg(hint, &hints[n]);
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseKernel(hint));
}

Test(kernel, wrong_arg_info) {
    const cl_kernel_arg_info name = CL_KERNEL_ARG_NAME;
    char room[2];
    cl_program plain = built(source, NULL);
    cl_kernel k = new_kernel("all"), other = MAKE(clCreateKernel(plain, "all", &error));
    FAILS(CL_INVALID_KERNEL, clGetKernelArgInfo(NULL, 0, name, 0, NULL, NULL));
    FAILS(CL_INVALID_KERNEL, clGetKernelArgInfo(WRONG_KERNEL, 0, name, 0, NULL, NULL));
    FAILS(CL_INVALID_ARG_INDEX, clGetKernelArgInfo(k, 6, name, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clGetKernelArgInfo(k, 0, 1, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clGetKernelArgInfo(k, 0, name, sizeof room, room, NULL));
    FAILS(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, clGetKernelArgInfo(other, 0, name, 0, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseKernel(other));
    SUCCEEDS(clReleaseProgram(plain));
}

/* ---------------------------------------------------------------------------------- work-groups */

static size_t size_of(cl_kernel k, cl_kernel_work_group_info what) {
    size_t n, size;
    SUCCEEDS(clGetKernelWorkGroupInfo(k, ocl.device, what, sizeof n, &n, &size));
    cr_expect_eq(size, sizeof n);
    return n;
}

Test(kernel, work_groups) {
    size_t required[3], most;
    const cl_mem none = NULL;
    cl_kernel k = new_kernel("required"), shares = new_kernel("shares"), all = new_kernel("all");
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    SUCCEEDS(clGetKernelWorkGroupInfo(k, NULL, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required,
                                      required, NULL));
    cr_expect(required[0] == 4 && required[1] == 2 && required[2] == 1);
    SUCCEEDS(clGetKernelWorkGroupInfo(all, NULL, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required,
                                      required, NULL));
    cr_expect(!required[0] && !required[1] && !required[2]);
    cr_expect_eq(size_of(k, CL_KERNEL_WORK_GROUP_SIZE), 8);
    cr_expect_eq(size_of(all, CL_KERNEL_WORK_GROUP_SIZE), most);
    cr_expect_eq(size_of(all, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE), 16);
    cr_expect_eq(size_of(all, CL_KERNEL_LOCAL_MEM_SIZE), 0);
    cr_expect_eq(size_of(shares, CL_KERNEL_LOCAL_MEM_SIZE), 400);
    size_of(all, CL_KERNEL_PRIVATE_MEM_SIZE);
    SUCCEEDS(set(all, 2, 1000, NULL));
    SUCCEEDS(set(all, 0, sizeof none, &none));
    cr_expect_eq(size_of(all, CL_KERNEL_LOCAL_MEM_SIZE), 1000);
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseKernel(shares));
    SUCCEEDS(clReleaseKernel(all));
}

Test(kernel, wrong_work_groups) {
    const cl_kernel_work_group_info size = CL_KERNEL_WORK_GROUP_SIZE;
    char room[4];
    cl_device_id wrong = (cl_device_id)(void *)ocl.platform;
    cl_kernel k = new_kernel("all");
    FAILS(CL_INVALID_KERNEL, clGetKernelWorkGroupInfo(NULL, ocl.device, size, 0, NULL, NULL));
    FAILS(CL_INVALID_KERNEL,
          clGetKernelWorkGroupInfo(WRONG_KERNEL, ocl.device, size, 0, NULL, NULL));
    FAILS(CL_INVALID_DEVICE, clGetKernelWorkGroupInfo(k, wrong, size, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clGetKernelWorkGroupInfo(k, NULL, 1, 0, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clGetKernelWorkGroupInfo(k, NULL, size, sizeof room, room, NULL));
    FAILS(CL_INVALID_VALUE,
          clGetKernelWorkGroupInfo(k, NULL, CL_KERNEL_GLOBAL_WORK_SIZE, 0, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
}
