/* link_test.c — clCompileProgram and clLinkProgram: programs that need each other, libraries, names
 * that are missing or there twice, binaries of all kinds. */
#include "tests/opencl/programs.h"

TestSuite(link, .init = begin_opencl, .fini = end_opencl);

enum { MANY = 4 };

static cl_program link_all(const char *options, cl_uint n, const cl_program *programs) {
    return clLinkProgram(ocl.context, 1, &ocl.device, options, n, programs, NULL, NULL, &error);
}

static void release(cl_uint n, const cl_program *programs) {
    for (cl_uint k = 0; k < n; k++) SUCCEEDS(clReleaseProgram(programs[k]));
}

static void compile_all(cl_uint n, const char *const *sources, cl_program *programs) {
    for (cl_uint k = 0; k < n; k++) programs[k] = compiled(sources[k], NULL);
}

/* What kernel k of the sources, linked in this order, gives. */
static void expect(cl_int wanted, cl_uint n, const char *const *sources) {
    cl_program parts[MANY], e;
    compile_all(n, sources, parts);
    e = link_all(NULL, n, parts);
    cr_assert(error == CL_SUCCESS, "%d: %s", error, log_of(e));
    cr_expect(type_of(e) == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    cr_expect(result_of(e, "k") == wanted);
    SUCCEEDS(clReleaseProgram(e));
    release(n, parts);
}

/* The log of a link that fails has `text`. */
static void expect_failure(const char *text, cl_uint n, const char *const *sources) {
    cl_program parts[MANY], e;
    compile_all(n, sources, parts);
    e = link_all(NULL, n, parts);
    cr_assert(e && error == CL_LINK_PROGRAM_FAILURE, "%d", error);
    cr_expect(status_of(e) == CL_BUILD_ERROR);
    cr_expect(type_of(e) == CL_PROGRAM_BINARY_TYPE_NONE);
    cr_expect(log_has(e, text));
    SUCCEEDS(clReleaseProgram(e));
    release(n, parts);
}

#define EXPECT(wanted, ...)                                                                        \
    expect(wanted, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                         \
           (const char *[]){__VA_ARGS__})
#define EXPECT_FAILURE(text, ...)                                                                  \
    expect_failure(text, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                   \
                   (const char *[]){__VA_ARGS__})

/* ---------------------------------------------------------------------------------- executables */

Test(link, one) { EXPECT(4, "kernel void k(global int *out) { *out = 4; }"); }

Test(link, either_order) {
    const char *user = "int f(int); kernel void k(global int *out) { *out = f(20); }";
    const char *maker = "int f(int n) { return n * 2 + 1; }";
    EXPECT(41, user, maker);
    EXPECT(41, maker, user);
}

Test(link, each_other) {
    EXPECT(25,
           "int g(int); int f(int n) { return n > 5 ? n : g(n) + 10; }\n"
           "kernel void k(global int *out) { *out = f(5); }",
           "int h(int); int g(int n) { return h(n * 2); }", "int h(int n) { return n + 5; }");
}

/* static functions and constants belong to their program. */
Test(link, own_names) {
    EXPECT(1 + 20 + 300,
           "static int f(int n) { return n + 1; } constant int t[2] = {0, 0}; int g(int); int "
           "h(int);\n"
           "kernel void k(global int *out) { *out = f(t[*out & 1]) + g(0) + h(0); }",
           "static int f(int n) { return n + 20; } __attribute__((noinline)) int g(int n) { return "
           "f(n); }",
           "static int f(int n) { return n + 300; } __attribute__((noinline)) int h(int n) { "
           "return f(n); }");
}

Test(link, structs_and_vectors) {
    EXPECT(3 + 7 + 5,
           "typedef struct { int a, b; } pair; pair f(pair p, int4 v);\n"
           "kernel void k(global int *out) { pair p = {3, 4}; p = f(p, (int4)(1, 2, 3, 5));\n"
           "*out = p.a + p.b; }",
           "typedef struct { int a, b; } pair;\n"
           "pair f(pair p, int4 v) { pair r = {p.a + v.w, p.a + p.b}; return r; }");
}

Test(link, constants) {
    EXPECT(30, "extern constant int t[3]; kernel void k(global int *out) { *out = t[2]; }",
           "constant int t[3] = {10, 20, 30};");
}

static cl_program compiled_2(const char *source) { return compiled(source, "-cl-std=CL2.0"); }

/* Variables of a program are one, also where another's initializer has their address. */
Test(link, variables) {
    cl_program parts[2] = {
        compiled_2("global int x = 5; global int *global p; extern global int *global q;\n"
                   "kernel void k(global int *out) { x = 6; *out = *q; }"),
        compiled_2("extern global int x; global int *global q = &x;")};
    cl_program e = link_all(NULL, 2, parts);
    cr_assert(error == CL_SUCCESS, "%s", log_of(e));
    cr_expect(result_of(e, "k") == 6);
    SUCCEEDS(clReleaseProgram(e));
    release(2, parts);
}

Test(link, called_kernels) {
    EXPECT(12, "kernel void l(global int *out, int n) { *out = n + 5; }",
           "kernel void l(global int *out, int n);\n"
           "kernel void k(global int *out) { l(out, 7); }");
}

Test(link, local_memory) {
    EXPECT(9,
           "int f(local int *p); kernel void k(global int *out) {\n"
           "local int x[2]; x[1] = 4; *out = f(x); }",
           "int f(local int *p) { return p[1] + 5; }");
}

/* What clGetKernelArgInfo says comes from the source. */
Test(link, arguments) {
    cl_program p = compiled("kernel void k(const global float *restrict in, float4 by) {}",
                            "-cl-kernel-arg-info");
    cl_program e = link_all(NULL, 1, &p);
    cl_kernel k = MAKE(clCreateKernel(e, "k", &error));
    char name[20], type[20], type2[20];
    cl_kernel_arg_type_qualifier qualifiers;
    SUCCEEDS(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_NAME, sizeof name, name, NULL));
    SUCCEEDS(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL));
    SUCCEEDS(clGetKernelArgInfo(k, 1, CL_KERNEL_ARG_TYPE_NAME, sizeof type2, type2, NULL));
    SUCCEEDS(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifiers, &qualifiers,
                                NULL));
    cr_expect_str_eq(name, "in");
    cr_expect_str_eq(type, "float*");
    cr_expect_str_eq(type2, "float4");
    cr_expect(qualifiers == (CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(e));
    SUCCEEDS(clReleaseProgram(p));
}

Test(link, arguments_that_nobody_asked_for) {
    cl_program p = compiled("kernel void k(const global float *restrict in) {}", NULL);
    cl_program e = link_all(NULL, 1, &p);
    cl_kernel k = MAKE(clCreateKernel(e, "k", &error));
    char name[20];
    FAILS(CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
          clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_NAME, sizeof name, name, NULL));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(e));
    SUCCEEDS(clReleaseProgram(p));
}

Test(link, kernels_of_all) {
    const char *sources[] = {"kernel void k(global int *out) { *out = 1; }",
                             "kernel void l(global int *out) { *out = 2; }"};
    cl_program parts[2], e;
    char names[20];
    size_t count;
    compile_all(2, sources, parts);
    e = link_all("-cl-fast-relaxed-math -cl-no-signed-zeroes", 2, parts);
    cr_expect(result_of(e, "k") == 1);
    cr_expect(result_of(e, "l") == 2);
    SUCCEEDS(clGetProgramInfo(e, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL));
    cr_expect_str_eq(names, "k;l");
    SUCCEEDS(clGetProgramInfo(e, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL));
    cr_expect(count == 2);
    SUCCEEDS(clReleaseProgram(e));
    release(2, parts);
}

/* An inline function of a header is one function, in as many programs as include it. */
Test(link, inline_functions) {
    const char *source =
        "inline int f(int n) { for (int k = n; k; k /= 3) n ^= k; return n; }\n"
        "kernel void NAME(global int *out) { *out = f((int)get_global_size(0) + 8); }";
    for (int k = 0; k < 2; k++) {
        const char *const options[][2] = {{"-DNAME=k", "-DNAME=l"},
                                          {"-DNAME=k -cl-opt-disable", "-DNAME=l -cl-opt-disable"}};
        cl_program parts[] = {make_program(source), make_program(source)};
        for (int i = 0; i < 2; i++)
            SUCCEEDS(clCompileProgram(parts[i], 0, NULL, options[k][i], 0, NULL, NULL, NULL, NULL));
        cl_program p =
            MAKE(clLinkProgram(ocl.context, 0, NULL, NULL, 2, parts, NULL, NULL, &error));
        cr_expect(result_of(p, "k") == result_of(p, "l"));
        SUCCEEDS(clReleaseProgram(p));
        release(2, parts);
    }
}

Test(link, missing) {
    EXPECT_FAILURE("'nowhere' is not defined",
                   "int nowhere(int); kernel void k(global int *out) { *out = nowhere(1); }");
    EXPECT_FAILURE("'t' is not defined",
                   "extern constant int t[3]; kernel void k(global int *out) { *out = t[*out]; }");
}

Test(link, twice) {
    EXPECT_FAILURE("'f' is defined more than once", "int f(int n) { return n; }",
                   "int f(int n) { return n + 1; }");
    EXPECT_FAILURE("'k' is defined more than once", "kernel void k(global int *o) { *o = 1; }",
                   "kernel void k(global int *o) { *o = 2; }");
}

Test(link, other_parameters) {
    EXPECT_FAILURE("'f' is defined with other parameters",
                   "int f(int); kernel void k(global int *out) { *out = f(1); }",
                   "int f(int n, int m) { return n + m; }");
}

/* ------------------------------------------------------------------------------------ libraries */

static const char user[] = "int f(int); kernel void k(global int *out) { *out = f(1); }";
static const char middle[] = "int g(int); int f(int n) { return g(n) + 1; }";
static const char last[] = "int g(int n) { return n + 100; }";

Test(link, libraries) {
    cl_program library_parts[1] = {compiled(middle, NULL)}, parts[3];
    parts[0] = link_all("-create-library -enable-link-options", 1, library_parts);
    cr_assert(error == CL_SUCCESS, "%s", log_of(parts[0]));
    cr_expect(type_of(parts[0]) == CL_PROGRAM_BINARY_TYPE_LIBRARY);
    REFUSES(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(parts[0], "k", &error));
    parts[1] = compiled(user, NULL);
    parts[2] = compiled(last, NULL);
    cl_program e = link_all("", 3, parts);
    cr_assert(error == CL_SUCCESS, "%s", log_of(e));
    cr_expect(result_of(e, "k") == 102);
    SUCCEEDS(clReleaseProgram(e));
    release(3, parts);
    release(1, library_parts);
}

/* Objects, libraries and executables can be kept as binaries. */
Test(link, binaries) {
    cl_program parts[2] = {through_binary(compiled(user, NULL)), NULL};
    cl_program inner[2] = {through_binary(compiled(middle, NULL)), compiled(last, NULL)};
    parts[1] = through_binary(link_all("-create-library", 2, inner));
    cl_program e = through_binary(link_all(NULL, 2, parts));
    build(e, NULL);
    cr_expect(result_of(e, "k") == 102);
    SUCCEEDS(clReleaseProgram(e));
    release(2, parts);
    release(2, inner);
}

/* An object that needs no other one becomes an executable. */
Test(link, built_objects) {
    cl_program p = through_binary(compiled(user, NULL));
    FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    cr_expect(log_has(p, "'f'"));
    cr_expect(type_of(p) == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    SUCCEEDS(clReleaseProgram(p));
    p = through_binary(compiled("kernel void k(global int *out) { *out = 8; }", NULL));
    build(p, NULL);
    cr_expect(result_of(p, "k") == 8);
    SUCCEEDS(clReleaseProgram(p));
}

/* --------------------------------------------------------------------------------------- errors */

static void CL_CALLBACK count(cl_program p, void *user_data) {
    (void)p;
    ++*(int *)user_data;
}

Test(link, callback) {
    int calls = 0;
    cl_program p = compiled(user, NULL);
    cl_program e = clLinkProgram(ocl.context, 0, NULL, NULL, 1, &p, count, &calls, &error);
    cr_expect(e && error == CL_SUCCESS && calls == 1);
    cr_expect(status_of(e) == CL_BUILD_ERROR);
    SUCCEEDS(clReleaseProgram(e));
    SUCCEEDS(clReleaseProgram(p));
}

Test(link, errors) {
    cl_program p = compiled(last, NULL), source = make_program(last), none = NULL;
    cl_program whole = built("kernel void k(global int *out) { *out = 8; }", NULL);
    REFUSES(CL_INVALID_CONTEXT, clLinkProgram(NULL, 0, NULL, NULL, 1, &p, NULL, NULL, &error));
    REFUSES(CL_INVALID_VALUE, link_all(NULL, 0, &p));
    REFUSES(CL_INVALID_VALUE, link_all(NULL, 1, NULL));
    REFUSES(CL_INVALID_VALUE,
            clLinkProgram(ocl.context, 0, NULL, NULL, 1, &p, NULL, &none, &error));
    REFUSES(CL_INVALID_VALUE,
            clLinkProgram(ocl.context, 0, &ocl.device, NULL, 1, &p, NULL, NULL, &error));
    REFUSES(CL_INVALID_PROGRAM, link_all(NULL, 1, &none));
    REFUSES(CL_INVALID_OPERATION, link_all(NULL, 1, &source));
    REFUSES(CL_INVALID_OPERATION, link_all(NULL, 1, &whole));
    REFUSES(CL_INVALID_LINKER_OPTIONS, link_all("-enable-link-options", 1, &p));
    REFUSES(CL_INVALID_LINKER_OPTIONS, link_all("-DX", 1, &p));
    cl_program e = link_all("-create-library", 1, &p);
    FAILS(CL_INVALID_OPERATION, clBuildProgram(e, 0, NULL, NULL, NULL, NULL));
    FAILS(CL_INVALID_OPERATION, clCompileProgram(e, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    SUCCEEDS(clReleaseProgram(e));
    SUCCEEDS(clReleaseProgram(p));
    SUCCEEDS(clReleaseProgram(source));
    SUCCEEDS(clReleaseProgram(whole));
}
