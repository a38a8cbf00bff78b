/* context_test.c — contexts: their properties, what they say of themselves, their callbacks, and
 * when they end. */
#include "tests/opencl/opencl.h"

TestSuite(context, .init = begin_opencl, .fini = end_opencl);

static cl_context with(const cl_context_properties *p) {
    return clCreateContext(p, 1, &ocl.device, NULL, NULL, &error);
}

static cl_context of_type(const cl_context_properties *p, cl_device_type type) {
    return clCreateContextFromType(p, type, NULL, NULL, &error);
}

static void CL_CALLBACK ignore(const char *info, const void *data, size_t size, void *user) {
    (void)info, (void)data, (void)size, (void)user;
}

Test(context, create) {
    const cl_device_id twice[] = {ocl.device, ocl.device};
    char user;
    end_context(MAKE(with(NULL)));
    end_context(MAKE(clCreateContext(NULL, 2, twice, NULL, NULL, &error)));
    end_context(MAKE(clCreateContext(NULL, 1, &ocl.device, ignore, NULL, &error)));
    end_context(MAKE(clCreateContext(NULL, 1, &ocl.device, ignore, &user, &error)));
    cl_context c =
        clCreateContext(NULL, 1, &ocl.device, NULL, NULL, NULL); /* no error is asked for */
    cr_assert_not_null(c);
    end_context(c);
}

Test(context, wrong_arguments) {
    cl_device_id wrong = (cl_device_id)(void *)ocl.platform;
    const cl_device_id second[] = {ocl.device, NULL};
    char user;
    REFUSES(CL_INVALID_VALUE, clCreateContext(NULL, 0, &ocl.device, NULL, NULL, &error));
    REFUSES(CL_INVALID_VALUE, clCreateContext(NULL, 1, NULL, NULL, NULL, &error));
    REFUSES(CL_INVALID_VALUE, clCreateContext(NULL, 1, &ocl.device, NULL, &user, &error));
    REFUSES(CL_INVALID_DEVICE, clCreateContext(NULL, 1, &wrong, NULL, NULL, &error));
    REFUSES(CL_INVALID_DEVICE, clCreateContext(NULL, 2, second, NULL, NULL, &error));
    REFUSES(CL_INVALID_VALUE,
            clCreateContextFromType(NULL, CL_DEVICE_TYPE_CPU, NULL, &user, &error));
}

/* ----------------------------------------------------------------------------------- properties */

#define PLATFORM (cl_context_properties) ocl.platform

Test(context, properties) {
    const cl_context_properties none[] = {0};
    const cl_context_properties one[] = {CL_CONTEXT_PLATFORM, PLATFORM, 0};
    const cl_context_properties two[] = {CL_CONTEXT_INTEROP_USER_SYNC, CL_TRUE, CL_CONTEXT_PLATFORM,
                                         PLATFORM, 0};
    const struct {
        const cl_context_properties *list;
        size_t bytes;
    } all[] = {{NULL, 0}, {none, sizeof none}, {one, sizeof one}, {two, sizeof two}};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
        cl_context_properties told[8];
        size_t size;
        cl_context c = MAKE(with(all[k].list));
        SUCCEEDS(clGetContextInfo(c, CL_CONTEXT_PROPERTIES, sizeof told, told, &size));
        cr_expect_eq(size, all[k].bytes);
        if (size) cr_expect_eq(memcmp(told, all[k].list, size), 0);
        end_context(c);
    }
}

Test(context, wrong_properties) {
    const cl_context_properties unknown[] = {12345, 1, 0};
    const cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, PLATFORM, CL_CONTEXT_PLATFORM,
                                           PLATFORM, 0};
    const cl_context_properties platform[] = {CL_CONTEXT_PLATFORM,
                                              (cl_context_properties)ocl.device, 0};
    const cl_context_properties sync[] = {CL_CONTEXT_INTEROP_USER_SYNC, 7, 0};
    REFUSES(CL_INVALID_PROPERTY, with(unknown));
    REFUSES(CL_INVALID_PROPERTY, with(twice));
    REFUSES(CL_INVALID_PROPERTY, with(sync));
    REFUSES(CL_INVALID_PLATFORM, with(platform));
    REFUSES(CL_INVALID_PLATFORM, of_type(platform, CL_DEVICE_TYPE_ALL));
}

Test(context, order_of_errors) {
    const cl_context_properties wrong[] = {CL_CONTEXT_PLATFORM, PLATFORM, 12345, 1, 0};
    const cl_device_id second[] = {ocl.device, NULL};
    char user;
    REFUSES(CL_INVALID_PROPERTY, clCreateContext(wrong, 2, second, NULL, &user, &error));
    REFUSES(CL_INVALID_VALUE, clCreateContext(NULL, 2, second, NULL, &user, &error));
    REFUSES(CL_INVALID_PROPERTY, clCreateContextFromType(wrong, 0, NULL, &user, &error));
    REFUSES(CL_INVALID_VALUE, clCreateContextFromType(NULL, 1 << 10, NULL, &user, &error));
}

Test(context, types) {
    const cl_context_properties p[] = {CL_CONTEXT_PLATFORM, PLATFORM, 0};
    end_context(MAKE(of_type(p, CL_DEVICE_TYPE_CPU)));
    end_context(MAKE(of_type(p, CL_DEVICE_TYPE_DEFAULT)));
    end_context(MAKE(of_type(p, CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU)));
    REFUSES(CL_DEVICE_NOT_FOUND, of_type(p, CL_DEVICE_TYPE_GPU));
    REFUSES(CL_DEVICE_NOT_FOUND, of_type(p, CL_DEVICE_TYPE_CUSTOM));
    REFUSES(CL_INVALID_DEVICE_TYPE, of_type(p, 0));
    REFUSES(CL_INVALID_DEVICE_TYPE, of_type(p, 1 << 10));
}

/* -------------------------------------------------------------------------------------- answers */

Test(context, info) {
    cl_context c = new_context();
    TELLS(cl_uint, 1, clGetContextInfo, c, CL_CONTEXT_REFERENCE_COUNT);
    TELLS(cl_uint, 1, clGetContextInfo, c, CL_CONTEXT_NUM_DEVICES);
    TELLS(cl_device_id, ocl.device, clGetContextInfo, c, CL_CONTEXT_DEVICES);
    CHECK_INFO(clGetContextInfo, c, CL_CONTEXT_DEVICES, sizeof(cl_device_id));
    FAILS(CL_INVALID_CONTEXT, clGetContextInfo(NULL, CL_CONTEXT_DEVICES, 0, NULL, NULL));
    end_context(c);
}

/* ------------------------------------------------------------------------------------ lifetimes */

Test(context, references) {
    cl_context c = new_context();
    SUCCEEDS(clRetainContext(c));
    TELLS(cl_uint, 2, clGetContextInfo, c, CL_CONTEXT_REFERENCE_COUNT);
    SUCCEEDS(clReleaseContext(c));
    end_context(c);
    FAILS(CL_INVALID_CONTEXT, clRetainContext(NULL));
    FAILS(CL_INVALID_CONTEXT, clReleaseContext(NULL));
    FAILS(CL_INVALID_CONTEXT, clRetainContext((cl_context)(void *)ocl.queue));
    FAILS(CL_INVALID_CONTEXT, clReleaseContext((cl_context)(void *)ocl.queue));
}

static char calls[8];

static void CL_CALLBACK note(cl_context c, void *user) {
    (void)c;
    strcat(calls, user);
}

static bool has_been_called(void *user) { return calls[0] && user; }

Test(context, destructors) {
    cl_context c = new_context();
    FAILS(CL_INVALID_CONTEXT, clSetContextDestructorCallback(NULL, note, "a"));
    FAILS(CL_INVALID_VALUE, clSetContextDestructorCallback(c, NULL, "a"));
    SUCCEEDS(clSetContextDestructorCallback(c, note, "a"));
    SUCCEEDS(clSetContextDestructorCallback(c, note, "b"));
    SUCCEEDS(clSetContextDestructorCallback(c, note, "a"));
    SUCCEEDS(clRetainContext(c));
    SUCCEEDS(clReleaseContext(c));
    cr_expect_str_eq(calls, "");
    SUCCEEDS(clReleaseContext(c));
    cr_expect_str_eq(calls, "aba"); /* the last one first */
}

/* Each object of a context keeps it. */
Test(context, outlives_its_handle) {
    char *made[4];
    for (int k = 0; k < 4; k++) {
        cl_context c = new_context();
        calls[0] = 0;
        SUCCEEDS(clSetContextDestructorCallback(c, note, "x"));
        made[0] = MAKE(clCreateBuffer(c, 0, 16, NULL, &error));
        made[1] = (void *)new_queue(c, 0);
        made[2] = MAKE(clCreateUserEvent(c, &error));
        made[3] = MAKE(clCreateProgramWithSource(c, 1, &(const char *){""}, NULL, &error));
        SUCCEEDS(clReleaseContext(c));
        for (int n = 0; n < 4; n++) {
            void *object = made[(k + n) % 4];
            cr_expect_str_eq(calls, "");
            SUCCEEDS((k + n) % 4 == 0   ? clReleaseMemObject(object)
                     : (k + n) % 4 == 1 ? clReleaseCommandQueue(object)
                     : (k + n) % 4 == 2 ? clReleaseEvent(object)
                                        : clReleaseProgram(object));
        }
        cr_expect(comes_true(has_been_called, calls));
    }
}

/* ----------------------------------------------------------------------------------- environment */

static char told[2000];

static void CL_CALLBACK keep(const char *info, const void *data, size_t size, void *user) {
    (void)data, (void)size, (void)user;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", info);
}

/* The callback is told of values that are not understood.  They are ignored, and builds, which have contexts of
 * their own, do not repeat it. */
Test(settings, told) {
    const char *source = "kernel void k(global int *y) { *y = 1; }";
    setenv("SPVFUSE_PIN", "maybe", 1);
    setenv("SPVFUSE_CPU", "simd=4,v9", 1);
    setenv("SPVFUSE_WITHOUT_EXTENSIONS", "cl_khr_fp16 cl_khr_fp17", 1);
    begin_opencl();
    cl_context c = MAKE(clCreateContext(NULL, 1, &ocl.device, keep, NULL, &error));
    cr_expect_not_null(strstr(told, "warning: SPVFUSE_PIN is 'maybe'"), "%s", told);
    cr_expect_not_null(
        strstr(told, "SPVFUSE_CPU is 'simd=4,v9', which is not understood from 'v9' on"), "%s",
        told);
    cr_expect_not_null(strstr(told, "names 'cl_khr_fp17', which is no extension"), "%s", told);
    cr_expect_null(strstr(told, "names 'cl_khr_fp16'"), "%s", told);
    cl_program p = MAKE(clCreateProgramWithSource(c, 1, &source, NULL, &error));
    SUCCEEDS(clBuildProgram(p, 0, NULL, "", NULL, NULL));
    char log[100];
    SUCCEEDS(clGetProgramBuildInfo(p, ocl.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    cr_expect_str_eq(log, "");
    SUCCEEDS(clReleaseProgram(p));
    end_context(c);
    end_opencl();
}
