/* program_test.c — programs: from SPIR-V and from binaries, specialization constants, what is known
 * of them, and each error. */
#include "tests/opencl/module.h"

#include <pthread.h>

TestSuite(program, .init = begin_opencl, .fini = end_opencl);

/* --------------------------------------------------------------------------------------- SPIR-V */

Test(program, il) {
    cl_program p = make_il();
    uint32_t back[1000];
    size_t size;
    SUCCEEDS(clGetProgramInfo(p, CL_PROGRAM_IL, sizeof back, back, &size));
    cr_expect(size == nwords * 4 && memcmp(back, words, size) == 0);
    build(p, NULL);
    cr_expect(result_of(p, "k") == 5);
    SUCCEEDS(clReleaseProgram(p));
}

static cl_int set_spec(cl_program p, cl_uint id, cl_ulong value, size_t size) {
    return clSetProgramSpecializationConstant(p, id, size, &value);
}

Test(program, specialization) {
    cl_program p = make_il();
    SUCCEEDS(set_spec(p, 7, 30, 4));
    build(p, NULL);
    cr_expect(result_of(p, "k") == 30);
    SUCCEEDS(set_spec(p, 8, 1, 1));
    SUCCEEDS(set_spec(p, 9, 1, 8));
    cr_expect(result_of(p, "k") == 30);
    build(p, NULL);
    cr_expect(result_of(p, "k") == 130);
    size_t size;
    unsigned char *bytes = binary_of(p, &size);
    cl_program q = from_binary(bytes, size);
    build(q, NULL);
    cr_expect(result_of(q, "k") == 130);
    free(bytes);
    SUCCEEDS(clReleaseProgram(p));
    SUCCEEDS(clReleaseProgram(q));
}

Test(program, specialization_errors) {
    cl_program p = make_il(), s = make_program("");
    FAILS(CL_INVALID_SPEC_ID, set_spec(p, 6, 0, 4));
    FAILS(CL_INVALID_VALUE, set_spec(p, 7, 0, 8));
    FAILS(CL_INVALID_VALUE, set_spec(p, 8, 0, 4));
    FAILS(CL_INVALID_VALUE, clSetProgramSpecializationConstant(p, 7, 4, NULL));
    FAILS(CL_INVALID_PROGRAM, set_spec(s, 7, 0, 4));
    FAILS(CL_INVALID_PROGRAM, set_spec(NULL, 7, 0, 4));
    SUCCEEDS(clReleaseProgram(p));
    SUCCEEDS(clReleaseProgram(s));
}

/* Compiled, specialized and linked. */
Test(program, linked_il) {
    cl_program p = make_il();
    SUCCEEDS(set_spec(p, 7, 31, 4));
    SUCCEEDS(clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    cl_program e = MAKE(clLinkProgram(ocl.context, 0, NULL, NULL, 1, &p, NULL, NULL, &error));
    cr_expect(result_of(e, "k") == 31);
    SUCCEEDS(clReleaseProgram(e));
    SUCCEEDS(clReleaseProgram(p));
}

Test(program, wrong_il) {
    write_module();
    REFUSES(CL_INVALID_CONTEXT, clCreateProgramWithIL(NULL, words, nwords * 4, &error));
    REFUSES(CL_INVALID_VALUE, clCreateProgramWithIL(ocl.context, NULL, 20, &error));
    REFUSES(CL_INVALID_VALUE, clCreateProgramWithIL(ocl.context, words, 0, &error));
    REFUSES(CL_INVALID_VALUE, clCreateProgramWithIL(ocl.context, words, nwords * 4 - 1, &error));
    REFUSES(CL_INVALID_VALUE,
            clCreateProgramWithIL(ocl.context, "func @f() { }       ", 20, &error));
    words[nwords - 1] = 0; /* no end of the function */
    cl_program p = MAKE(clCreateProgramWithIL(ocl.context, words, nwords * 4, &error));
    FAILS(CL_INVALID_SPEC_ID, set_spec(p, 7, 0, 4));
    FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    cr_expect(log_has(p, "error:"));
    SUCCEEDS(clReleaseProgram(p));
}

/* The log of a build from SPIR-V says what is odd about the module. */
Test(program, il_warnings) {
    write_module();
    cr_assert(words[10] == SpvCapabilityInt64);
    words[10] = SpvCapabilityKernel;
    cl_program p = MAKE(clCreateProgramWithIL(ocl.context, words, nwords * 4, &error));
    build(p, NULL);
    cr_expect(log_has(p, "warning: a capability for what the module uses is missing"));
    build(p, "-w");
    cr_expect_str_empty(log_of(p));
    SUCCEEDS(clReleaseProgram(p));
}

Test(program, il_extension) {
    cl_program(CL_API_CALL * make)(cl_context, const void *, size_t, cl_int *);
    find_entry("clCreateProgramWithILKHR", &make);
    write_module();
    SUCCEEDS(clReleaseProgram(MAKE(make(ocl.context, words, nwords * 4, &error))));
}

/* ------------------------------------------------------------------------------------- binaries */

Test(program, binary) {
    cl_program p = make_il();
    build(p, NULL);
    p = through_binary(p);
    REFUSES(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(p, "k", &error));
    cr_expect(type_of(p) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    cr_expect(status_of(p) == CL_BUILD_NONE);
    FAILS(CL_INVALID_OPERATION, clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    build(p, NULL);
    cr_expect(result_of(p, "k") == 5);
    SUCCEEDS(clReleaseProgram(p));
}

static cl_int load(const unsigned char *bytes, size_t size) {
    cl_int status = 1;
    cl_program p =
        clCreateProgramWithBinary(ocl.context, 1, &ocl.device, &size, &bytes, &status, &error);
    cr_expect(status == error && !p == (error != CL_SUCCESS));
    if (p) SUCCEEDS(clReleaseProgram(p));
    return error;
}

Test(program, damaged_binaries) {
    cl_program p = make_il();
    size_t size;
    build(p, NULL);
    unsigned char *bytes = binary_of(p, &size);
    SUCCEEDS(load(bytes, size));
    for (size_t n = 0; n < size; n++) {
        if (n) FAILS(CL_INVALID_BINARY, load(bytes, n));
        bytes[n] ^= 1;
        FAILS(CL_INVALID_BINARY, load(bytes, size));
        bytes[n] ^= 1;
    }
    FAILS(CL_INVALID_VALUE, load(bytes, 0));
    FAILS(CL_INVALID_VALUE, load(NULL, size));
    free(bytes);
    SUCCEEDS(clReleaseProgram(p));
}

/* ------------------------------------------------------------------------------------- creation */

Test(program, creation_errors) {
    const char *source = "", *none = NULL;
    const unsigned char *bytes = NULL;
    size_t size = 1;
    REFUSES(CL_INVALID_CONTEXT, clCreateProgramWithSource(NULL, 1, &source, NULL, &error));
    REFUSES(CL_INVALID_VALUE, clCreateProgramWithSource(ocl.context, 0, &source, NULL, &error));
    REFUSES(CL_INVALID_VALUE, clCreateProgramWithSource(ocl.context, 1, NULL, NULL, &error));
    REFUSES(CL_INVALID_VALUE, clCreateProgramWithSource(ocl.context, 1, &none, NULL, &error));
    REFUSES(CL_INVALID_CONTEXT,
            clCreateProgramWithBinary(NULL, 1, &ocl.device, &size, &bytes, NULL, &error));
    REFUSES(CL_INVALID_VALUE,
            clCreateProgramWithBinary(ocl.context, 0, &ocl.device, &size, &bytes, NULL, &error));
    REFUSES(CL_INVALID_VALUE,
            clCreateProgramWithBuiltInKernels(ocl.context, 1, &ocl.device, "copy", &error));
    REFUSES(CL_INVALID_VALUE,
            clCreateProgramWithBuiltInKernels(ocl.context, 1, &ocl.device, NULL, &error));
}

Test(program, references) {
    cl_program p = make_il();
    TELLS(cl_uint, 1, clGetProgramInfo, p, CL_PROGRAM_REFERENCE_COUNT);
    SUCCEEDS(clRetainProgram(p));
    TELLS(cl_uint, 2, clGetProgramInfo, p, CL_PROGRAM_REFERENCE_COUNT);
    SUCCEEDS(clReleaseProgram(p));
    SUCCEEDS(clReleaseProgram(p));
    FAILS(CL_INVALID_PROGRAM, clRetainProgram(NULL));
    FAILS(CL_INVALID_PROGRAM, clReleaseProgram(NULL));
}

/* ------------------------------------------------------------------------------------- building */

static void CL_CALLBACK note(cl_program p, void *user) {
    cr_expect(status_of(p) != CL_BUILD_IN_PROGRESS);
    ++*(int *)user;
}

Test(program, callbacks) {
    int calls = 0;
    cl_program p = make_il(), s = make_program("mistake");
    SUCCEEDS(clBuildProgram(p, 1, &ocl.device, "", note, &calls));
    FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(s, 0, NULL, NULL, note, &calls));
    cr_expect(calls == 2);
    SUCCEEDS(clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, note, &calls));
    cr_expect(calls == 3);
    FAILS(CL_INVALID_BUILD_OPTIONS, clBuildProgram(p, 0, NULL, "-?", note, &calls));
    cr_expect(calls == 3);
    SUCCEEDS(clReleaseProgram(p));
    SUCCEEDS(clReleaseProgram(s));
}

Test(program, build_errors) {
    int nobody = 0;
    cl_device_id wrong = NULL;
    cl_program p = make_il();
    FAILS(CL_INVALID_PROGRAM, clBuildProgram(NULL, 0, NULL, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clBuildProgram(p, 1, NULL, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clBuildProgram(p, 0, &ocl.device, NULL, NULL, NULL));
    FAILS(CL_INVALID_VALUE, clBuildProgram(p, 0, NULL, NULL, NULL, &nobody));
    FAILS(CL_INVALID_DEVICE, clBuildProgram(p, 1, &wrong, NULL, NULL, NULL));
    SUCCEEDS(clReleaseProgram(p));
}

static void *build_often(void *program) {
    for (int k = 0; k < 20; k++) {
        cl_int status = clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
        cr_expect(status == CL_SUCCESS || status == CL_INVALID_OPERATION);
    }
    return NULL;
}

/* One builds, the others are told so. */
Test(program, threads) {
    pthread_t threads[4];
    cl_program p = make_il();
    for (int k = 0; k < 4; k++) pthread_create(&threads[k], NULL, build_often, p);
    for (int k = 0; k < 4; k++) pthread_join(threads[k], NULL);
    cr_expect(status_of(p) == CL_BUILD_SUCCESS);
    cr_expect(result_of(p, "k") == 5);
    SUCCEEDS(clReleaseProgram(p));
}

/* As long as a kernel is there the program stays as it is. */
Test(program, kernels) {
    cl_program p = make_il();
    build(p, NULL);
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    FAILS(CL_INVALID_OPERATION, clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    FAILS(CL_INVALID_OPERATION, clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    REFUSES(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(p, "k", &error));
    build(p, NULL);
    SUCCEEDS(clReleaseProgram(p));
}

Test(program, kernels_outlive_it) {
    cl_program p = make_il();
    build(p, NULL);
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    SUCCEEDS(clReleaseProgram(p));
    SUCCEEDS(clReleaseKernel(k));
}

Test(program, information) {
    cl_program p = make_il();
    char text[100];
    size_t size;
    TELLS(cl_context, ocl.context, clGetProgramInfo, p, CL_PROGRAM_CONTEXT);
    TELLS(cl_uint, 1, clGetProgramInfo, p, CL_PROGRAM_NUM_DEVICES);
    TELLS(cl_device_id, ocl.device, clGetProgramInfo, p, CL_PROGRAM_DEVICES);
    TELLS(size_t, 0, clGetProgramInfo, p, CL_PROGRAM_BINARY_SIZES);
    TELLS(cl_bool, CL_FALSE, clGetProgramInfo, p, CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT);
    TELLS(cl_bool, CL_FALSE, clGetProgramInfo, p, CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT);
    FAILS(CL_INVALID_PROGRAM_EXECUTABLE,
          clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof size, &size, NULL));
    FAILS(CL_INVALID_PROGRAM_EXECUTABLE,
          clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    FAILS(CL_INVALID_VALUE, clGetProgramInfo(p, 0, sizeof text, text, NULL));
    FAILS(CL_INVALID_PROGRAM, clGetProgramInfo(NULL, CL_PROGRAM_IL, sizeof text, text, NULL));
    SUCCEEDS(clGetProgramInfo(p, CL_PROGRAM_SOURCE, sizeof text, text, &size));
    cr_expect(size == 1 && !*text);
    build(p, "-cl-mad-enable");
    TELLS(size_t, 1, clGetProgramInfo, p, CL_PROGRAM_NUM_KERNELS);
    SUCCEEDS(clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    cr_expect_str_eq(text, "k");
    SUCCEEDS(clReleaseProgram(p));
}

Test(program, build_information) {
    cl_program p = built("global int many[100]; kernel void k(global int *out) {"
                         "*out = many[*out & 63]++; }",
                         "-cl-std=CL2.0 -w");
    char text[100];
    size_t size;
    cr_expect(status_of(p) == CL_BUILD_SUCCESS);
    cr_expect(type_of(p) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    SUCCEEDS(
        clGetProgramBuildInfo(p, ocl.device, CL_PROGRAM_BUILD_OPTIONS, sizeof text, text, &size));
    cr_expect_str_eq(text, "-cl-std=CL2.0 -w");
    SUCCEEDS(clGetProgramBuildInfo(p, ocl.device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
                                   sizeof size, &size, NULL));
    cr_expect(size == 400);
    FAILS(CL_INVALID_VALUE, clGetProgramBuildInfo(p, ocl.device, 0, sizeof text, text, NULL));
    FAILS(CL_INVALID_DEVICE,
          clGetProgramBuildInfo(p, NULL, CL_PROGRAM_BUILD_LOG, sizeof text, text, NULL));
    FAILS(CL_INVALID_PROGRAM,
          clGetProgramBuildInfo(NULL, ocl.device, CL_PROGRAM_BUILD_LOG, sizeof text, text, NULL));
    SUCCEEDS(clReleaseProgram(p));
}

static void CL_CALLBACK never(cl_program p, void *user) { (void)p, (void)user; }

Test(program, what_is_deprecated) {
    cl_program p = make_il();
    FAILS(CL_INVALID_OPERATION, clSetProgramReleaseCallback(p, never, NULL));
    FAILS(CL_INVALID_VALUE, clSetProgramReleaseCallback(p, NULL, NULL));
    FAILS(CL_INVALID_PROGRAM, clSetProgramReleaseCallback(NULL, never, NULL));
    SUCCEEDS(clUnloadPlatformCompiler(ocl.platform));
    SUCCEEDS(clUnloadCompiler());
    SUCCEEDS(clReleaseProgram(p));
}
