/* programs.h — programs that a test makes, and one launch of a kernel. */
#ifndef SPVFUSE_TESTS_PROGRAMS_H
#define SPVFUSE_TESTS_PROGRAMS_H

#include "tests/opencl/opencl.h"

static inline cl_program make_program(const char *source) {
    return MAKE(clCreateProgramWithSource(ocl.context, 1, &source, NULL, &error));
}

/* What the last build said; valid until the next call. */
static inline const char *log_of(cl_program p) {
    static char log[1 << 16];
    SUCCEEDS(clGetProgramBuildInfo(p, ocl.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    return log;
}

static inline cl_build_status status_of(cl_program p) {
    cl_build_status status;
    SUCCEEDS(clGetProgramBuildInfo(p, ocl.device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status,
                                   NULL));
    return status;
}

static inline cl_program_binary_type type_of(cl_program p) {
    cl_program_binary_type type;
    SUCCEEDS(
        clGetProgramBuildInfo(p, ocl.device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    return type;
}

static inline bool log_has(cl_program p, const char *text) {
    bool found = strstr(log_of(p), text) != NULL;
    if (!found) fprintf(stderr, "no \"%s\" in the log:\n%s", text, log_of(p));
    return found;
}

static inline void build(cl_program p, const char *options) {
    cl_int status = clBuildProgram(p, 0, NULL, options, NULL, NULL);
    cr_assert(status == CL_SUCCESS, "%d: %s", status, log_of(p));
}

static inline cl_program built(const char *source, const char *options) {
    cl_program p = make_program(source);
    build(p, options);
    return p;
}

static inline cl_program compiled(const char *source, const char *options) {
    cl_program p = make_program(source);
    cl_int status = clCompileProgram(p, 0, NULL, options, 0, NULL, NULL, NULL, NULL);
    cr_assert(status == CL_SUCCESS, "%d: %s", status, log_of(p));
    return p;
}

/* What kernel `name (global int *out)` writes; one work-item. */
static inline cl_int result_of(cl_program p, const char *name) {
    cl_int got = -1;
    size_t one = 1;
    cl_mem out = MAKE(clCreateBuffer(ocl.context, 0, sizeof got, NULL, &error));
    cl_kernel k = MAKE(clCreateKernel(p, name, &error));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof out, &out));
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    SUCCEEDS(clEnqueueReadBuffer(ocl.queue, out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseMemObject(out));
    return got;
}

/* Its binary, to be freed. */
static inline unsigned char *binary_of(cl_program p, size_t *size) {
    SUCCEEDS(clGetProgramInfo(p, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL));
    unsigned char *bytes = malloc(*size + 1);
    SUCCEEDS(clGetProgramInfo(p, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL));
    return bytes;
}

static inline cl_program from_binary(const unsigned char *bytes, size_t size) {
    cl_int status = -1;
    cl_program p = MAKE(
        clCreateProgramWithBinary(ocl.context, 1, &ocl.device, &size, &bytes, &status, &error));
    cr_expect(status == CL_SUCCESS);
    return p;
}

/* The program once more, from its binary, of the same type; what it was is released. */
static inline cl_program through_binary(cl_program p) {
    size_t size;
    unsigned char *bytes = binary_of(p, &size);
    cl_program_binary_type type = type_of(p);
    SUCCEEDS(clReleaseProgram(p));
    p = from_binary(bytes, size);
    cr_expect(type_of(p) == type);
    free(bytes);
    return p;
}

#endif
