/* source_test.c — programs from OpenCL C: options, logs, headers, what the compiler is told of the
 * device. */
#include "tests/opencl/programs.h"
#include "tests/temporary.h"

#include <dirent.h>
#include <pthread.h>

TestSuite(source, .init = begin_opencl, .fini = end_opencl);

#define KERNEL(body) "kernel void k(global int *out) { *out = " body "; }"

static void expect(cl_int wanted, const char *source, const char *options) {
    cl_program p = built(source, options);
    cl_int got = result_of(p, "k");
    cr_expect(got == wanted, "%s, %s: %d, not %d", source, options, got, wanted);
    SUCCEEDS(clReleaseProgram(p));
}

Test(source, runs) { expect(42, KERNEL("42"), NULL); }

Test(source, pieces) {
    const char *pieces[] = {"kernel void k(global int *", "out) left out", "{ *out = 7; }"};
    const size_t lengths[] = {0, 5, 100};
    char source[100];
    cl_program p = MAKE(clCreateProgramWithSource(ocl.context, 3, pieces, lengths, &error));
    SUCCEEDS(clGetProgramInfo(p, CL_PROGRAM_SOURCE, sizeof source, source, NULL));
    cr_expect_str_eq(source, "kernel void k(global int *out) { *out = 7; }");
    build(p, NULL);
    cr_expect(result_of(p, "k") == 7);
    SUCCEEDS(clReleaseProgram(p));
}

Test(source, definitions) {
    expect(5, KERNEL("A"), "-DA=5");
    expect(1, KERNEL("A"), " -D  A ");
    expect(7, KERNEL("A + B"), "-D A=5 -DB=2 -w");
    expect(3, KERNEL("sizeof(A) - 1"), "-DA=\\\"abc\\\"");
    expect(4, KERNEL("A"), "-D 'A=1 + 3'");
    expect(6, KERNEL("A"), "-D \"A=(2 + 4)\"");
}

Test(source, versions) {
    expect(120, KERNEL("__OPENCL_C_VERSION__"), "");
    expect(110, KERNEL("__OPENCL_C_VERSION__"), "-cl-std=CL1.1");
    expect(200, KERNEL("__OPENCL_C_VERSION__"), "-cl-std=CL2.0");
    expect(300, KERNEL("__OPENCL_C_VERSION__"), "-cl-std=CL3.0");
    expect(300, KERNEL("__OPENCL_VERSION__"), NULL);
}

#define DEFINED(name) "#ifdef " name "\n" KERNEL("1") "\n#else\n" KERNEL("0") "\n#endif\n"

/* What is a fact of the device is one of the language, in all versions. */
Test(source, features) {
    static const char *const versions[] = {"-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0"};
    for (int k = 0; k < 3; k++) {
        expect(0, DEFINED("__IMAGE_SUPPORT__"), versions[k]);
        expect(1, DEFINED("cl_khr_fp64"), versions[k]);
        expect(1, DEFINED("cl_khr_int64_extended_atomics"), versions[k]);
        expect(0, DEFINED("cl_khr_3d_image_writes"), versions[k]);
        expect(0, DEFINED("__opencl_c_pipes"), versions[k]);
        expect(0, DEFINED("__opencl_c_device_enqueue"), versions[k]);
        expect(0, DEFINED("cl_khr_extended_bit_ops"), versions[k]);
        expect(1, DEFINED("cl_khr_expect_assume"), versions[k]);
        expect(k > 0, DEFINED("cl_khr_subgroup_clustered_reduce"), versions[k]);
    }
    expect(1, DEFINED("__opencl_c_generic_address_space"), "-cl-std=CL3.0");
    expect(1, DEFINED("__opencl_c_work_group_collective_functions"), "-cl-std=CL3.0");
    expect(1, DEFINED("__FAST_RELAXED_MATH__"), "-cl-fast-relaxed-math");
}

Test(source, known_options) {
    expect(1, KERNEL("1"),
           "-cl-single-precision-constant -cl-denorms-are-zero -cl-opt-disable -cl-strict-aliasing "
           "-cl-fp32-correctly-rounded-divide-sqrt -cl-uniform-work-group-size -cl-mad-enable "
           "-cl-no-subgroup-ifp -cl-no-signed-zeros -cl-unsafe-math-optimizations "
           "-cl-finite-math-only -cl-fast-relaxed-math -w -Werror -cl-kernel-arg-info -g");
}

/* What programs write for other drivers: warnings are clang's, the rest has no effect. */
Test(source, options_of_other_drivers) {
    expect(1, KERNEL("1"), "-Wall -Wextra -Wno-unused -Wno-no-such-warning -Wall -Werror");
    cl_program p = built("inline int unused(void) { return 1; } " KERNEL("1; int a = 2"),
                         "-Wall -ffast-math -fno-such-thing -O3 -cl-nv-verbose -save-temps=x");
    cr_expect(log_has(p, "unused variable 'a'"));
    cr_expect(log_has(p, "warning: option '-ffast-math' means nothing here"));
    cr_expect(log_has(p, "warning: option '-fno-such-thing' means nothing here"));
    cr_expect(log_has(p, "warning: option '-cl-nv-verbose' means nothing here"));
    cr_expect(log_has(p, "warning: option '-O3' means nothing here"));
    SUCCEEDS(clReleaseProgram(p));
    p = built(KERNEL("1"), "-w -ffast-math");
    cr_expect_str_empty(log_of(p));
    SUCCEEDS(clReleaseProgram(p));
}

/* The log says what becomes of loops over work-items, and where, if it is asked; of a source, of its
 * binary, which has no option, and of a program that is linked. */
Test(source, remarks) {
    static const char source[] = "kernel void add(global float *x, global const float *y) {\n"
                                 "  size_t i = get_global_id(0);\n  x[i] += y[i];\n}\n"
                                 "kernel void mark(volatile global int *x) {\n"
                                 "  x[get_global_id(0)] = 1;\n}\n";
    static const char option[] = "-cl-spvfuse-remarks";
    size_t size;
    cl_program p = built(source, NULL);
    cr_expect_str_empty(log_of(p));
    SUCCEEDS(clReleaseProgram(p));
    p = built(source, "-w -cl-spvfuse-remarks");
    cr_expect(log_has(p, "code of @add for "));
    cr_expect(log_has(p, "loop at ./program.cl:3: "));
    cr_expect(log_has(p, "reads y in line 3: contiguous\n"));
    cr_expect(log_has(p, "code of @mark for "));
    cr_expect(log_has(p, "loop at ./program.cl:6: one work-item at a time: an access is volatile"));
    unsigned char *bytes = binary_of(p, &size);
    SUCCEEDS(clReleaseProgram(p));
    p = from_binary(bytes, size);
    build(p, NULL);
    cr_expect_str_empty(log_of(p));
    build(p, option);
    cr_expect(log_has(p, "loop at ./program.cl:3: "));
    free(bytes);
    SUCCEEDS(clReleaseProgram(p));
    p = make_program(source);
    SUCCEEDS(clCompileProgram(p, 0, NULL, option, 0, NULL, NULL, NULL, NULL));
    cr_expect_str_empty(log_of(p));
    cl_program e = MAKE(clLinkProgram(ocl.context, 0, NULL, option, 1, &p, NULL, NULL, &error));
    cr_expect(log_has(e, "loop at ./program.cl:3: "));
    SUCCEEDS(clReleaseProgram(e));
    SUCCEEDS(clReleaseProgram(p));
}

/* Functions that are inline and nothing else have a body, as they had in older C. */
Test(source, inline_functions) {
    const char *source = "inline int twice(int n) { return 2 * n; }" KERNEL("twice(21)");
    expect(42, source, NULL);
    expect(42, source, "-cl-opt-disable");
    expect(42, source, "-cl-std=CL3.0 -cl-opt-disable");
}

Test(source, unknown_options) {
    static const char *const wrong[] = {
        "-unknown", "x",   "-D", "-I", "-cl-std=CL9", "-create-library", "-enable-link-options",
        "@file",    "-o x"};
    cl_program p = make_program(KERNEL("1"));
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        FAILS(CL_INVALID_BUILD_OPTIONS, clBuildProgram(p, 0, NULL, wrong[k], NULL, NULL));
        FAILS(CL_INVALID_COMPILER_OPTIONS,
              clCompileProgram(p, 0, NULL, wrong[k], 0, NULL, NULL, NULL, NULL));
        cr_expect(log_has(p, "is not known"));
    }
    cr_expect(log_has(p, "option '-o'"));
    cr_expect(status_of(p) == CL_BUILD_NONE);
    SUCCEEDS(clReleaseProgram(p));
}

Test(source, mistakes) {
    cl_program p = make_program("kernel void k(global int *out) {\n  *out = nothing;\n}");
    FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, "-DX", NULL, NULL));
    cr_expect(log_has(p, "program.cl:2:10: error: use of undeclared identifier 'nothing'"));
    FAILS(CL_COMPILE_PROGRAM_FAILURE,
          clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    REFUSES(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(p, "k", &error));
    SUCCEEDS(clReleaseProgram(p));
}

Test(source, warnings) {
    cl_program p = built("#warning careful\n" KERNEL("1"), NULL);
    cr_expect(log_has(p, "program.cl:1:2: warning: careful"));
    SUCCEEDS(clReleaseProgram(p));
    p = make_program("#warning careful\n" KERNEL("1"));
    FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, "-Werror", NULL, NULL));
    build(p, "-w");
    cr_expect_str_empty(log_of(p));
    SUCCEEDS(clReleaseProgram(p));
}

static cl_program link_one(cl_program p) {
    return MAKE(clLinkProgram(ocl.context, 0, NULL, NULL, 1, &p, NULL, NULL, &error));
}

/* Without kernels that the device can run, the reasons are an error. */
static void refuse(const char *reason, const char *source) {
    cl_program p = make_program(source);
    FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, "-cl-std=CL2.0", NULL, NULL));
    cr_expect(log_has(p, reason));
    SUCCEEDS(clReleaseProgram(p));
}

Test(source, refused) {
    const char *unknown = "int __attribute__((overloadable)) sub_group_reduce_most(int);"
                          "kernel void k(global int *out) { *out = sub_group_reduce_most(1); }";
    refuse("warning: kernel 'k' cannot be used: argument 'i' is an image",
           "kernel void k(read_only image2d_t i, global int *out) { *out = get_image_width(i); }");
    refuse("warning: kernel 'k' cannot be used: argument 's' is a sampler",
           "kernel void k(global int *out, sampler_t s) { *out = 1; }");
    refuse("sub_group_reduce_most is not supported", unknown);
    cl_program p = make_program(unknown);
    FAILS(CL_COMPILE_PROGRAM_FAILURE,
          clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    cr_expect(log_has(p, "error: none of the kernels can be used"));
    SUCCEEDS(clReleaseProgram(p));
    refuse("recursion is not supported", "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }"
                                         "kernel void k(global int *out) { *out = f(*out); }");
}

/* Kernels with an image, a sampler, or what the device has not; a and b can be used. */
#define SOME_REFUSED                                                                               \
    "kernel void i(read_only image2d_t t, global int *out) { *out = get_image_width(t); }\n"       \
    "kernel void a(global int *out) { *out = 3; }\n"                                               \
    "kernel void s(sampler_t s, global int *out) { *out = 2; }\n"                                  \
    "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"                                   \
    "kernel void r(global int *out) { *out = f(*out); }\n"                                         \
    "kernel void b(global int *out) { *out = 4; }\n"

static void expect_usable(cl_program p) {
    static const char *const refused[] = {"i", "s", "r", "f"};
    cl_kernel kernels[2];
    cl_uint n = 0;
    size_t count = 0;
    char names[100];
    cr_expect(result_of(p, "a") == 3 && result_of(p, "b") == 4);
    for (int k = 0; k < 4; k++)
        REFUSES(CL_INVALID_KERNEL_NAME, clCreateKernel(p, refused[k], &error));
    SUCCEEDS(clGetProgramInfo(p, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL));
    cr_expect_str_eq(names, "a;b");
    SUCCEEDS(clGetProgramInfo(p, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL));
    SUCCEEDS(clCreateKernelsInProgram(p, 2, kernels, &n));
    cr_expect(n == 2 && count == 2);
    for (cl_uint k = 0; k < n; k++) SUCCEEDS(clReleaseKernel(kernels[k]));
}

static void expect_arguments(cl_program p) {
    cr_expect(log_has(p, "warning: kernel 'i' cannot be used: argument 't' is an image"));
    cr_expect(log_has(p, "warning: kernel 's' cannot be used: argument 's' is a sampler"));
}

static void expect_recursion(cl_program p) {
    cr_expect(log_has(p, "warning: kernel 'r' cannot be used: it calls 'r.1'"));
}

/* What can be used is there, however the program came about. */
Test(source, partly_refused) {
    cl_program p = built(SOME_REFUSED, NULL);
    expect_arguments(p);
    expect_recursion(p);
    expect_usable(p);
    p = through_binary(p);
    build(p, NULL);
    expect_usable(p);
    SUCCEEDS(clReleaseProgram(p));
    p = compiled(SOME_REFUSED, NULL);
    expect_arguments(p);
    cl_program e = link_one(p);
    expect_recursion(e);
    expect_usable(e);
    SUCCEEDS(clReleaseProgram(e));
    SUCCEEDS(clReleaseProgram(p));
    p = built(SOME_REFUSED, "-w");
    cr_expect_str_empty(log_of(p));
    SUCCEEDS(clReleaseProgram(p));
}

/* LLVM's optimizer makes freeze of this, which llvm-spirv 15 does not know. */
Test(source, translator) {
    expect(
        3,
        "int f(int a, int b) { return b ? a / b : 0; }"
        "kernel void k(global int *out) { int s = 0; *out = 9;\n"
        "for (int i = 0; i < 3; i++) { if (*out > 4) s += f(i + 1, i); else s += i; } *out = s; }",
        NULL);
}

/* -------------------------------------------------------------------------------------- headers */

static cl_int compile_with(cl_program p, cl_uint n, const char **names, const char **texts) {
    cl_program headers[4] = {NULL};
    for (cl_uint k = 0; k < n; k++) headers[k] = make_program(texts[k]);
    cl_int status = clCompileProgram(p, 0, NULL, NULL, n, headers, names, NULL, NULL);
    for (cl_uint k = 0; k < n; k++) SUCCEEDS(clReleaseProgram(headers[k]));
    return status;
}

Test(source, headers) {
    const char *names[] = {"a.h", "deep/er/b.h"},
               *texts[] = {"#include \"deep/er/b.h\"\n", "#define X 11\n"};
    cl_program p = make_program("#include <a.h>\n" KERNEL("X"));
    SUCCEEDS(compile_with(p, 2, names, texts));
    cl_program e = link_one(p);
    cr_expect(result_of(e, "k") == 11);
    FAILS(CL_COMPILE_PROGRAM_FAILURE, compile_with(p, 1, names, texts));
    cr_expect(log_has(p, "deep/er/b.h"));
    SUCCEEDS(clReleaseProgram(e));
    SUCCEEDS(clReleaseProgram(p));
}

Test(source, wrong_headers) {
    const char *names[] = {"../a.h"}, *texts[] = {""};
    cl_program p = make_program(KERNEL("1"));
    FAILS(CL_COMPILE_PROGRAM_FAILURE, compile_with(p, 1, names, texts));
    cr_expect(log_has(p, "../a.h"));
    names[0] = NULL;
    FAILS(CL_INVALID_VALUE, compile_with(p, 1, names, texts));
    FAILS(CL_INVALID_VALUE, clCompileProgram(p, 0, NULL, NULL, 1, NULL, NULL, NULL, NULL));
    SUCCEEDS(clReleaseProgram(p));
}

Test(source, include_folder) {
    char folder[TEMPORARY_NAME], name[TEMPORARY_NAME + 10], options[TEMPORARY_NAME + 10];
    cr_assert(temporary_folder(folder));
    snprintf(name, sizeof name, "%s/c.h", folder);
    snprintf(options, sizeof options, "-I %s", folder);
    FILE *f = fopen(name, "w");
    fputs("#define X 13\n", f);
    fclose(f);
    expect(13, "#include \"c.h\"\n" KERNEL("X"), options);
    unlink(name);
    rmdir(folder);
}

/* -------------------------------------------------------------------------- what is left behind */

static int files_in(const char *folder) {
    DIR *d = opendir(folder);
    int n = 0;
    while (readdir(d)) n++;
    closedir(d);
    return n - 2;
}

Test(source, temporary_files) {
    char folder[TEMPORARY_NAME];
    cr_assert(temporary_folder(folder));
    setenv("TMPDIR", folder, 1);
    expect(1, KERNEL("1"), NULL);
    cl_program p = make_program("mistake");
    FAILS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    SUCCEEDS(clReleaseProgram(p));
    cr_expect(files_in(folder) == 0);
    rmdir(folder);
}

static void *build_twice(void *program) {
    for (int k = 0; k < 2; k++) build(program, NULL);
    return NULL;
}

Test(source, threads) {
    pthread_t threads[4];
    cl_program programs[4];
    for (int k = 0; k < 4; k++) programs[k] = make_program(KERNEL("3"));
    for (int k = 0; k < 4; k++) pthread_create(&threads[k], NULL, build_twice, programs[k]);
    for (int k = 0; k < 4; k++) pthread_join(threads[k], NULL);
    for (int k = 0; k < 4; k++) cr_expect(result_of(programs[k], "k") == 3);
    for (int k = 0; k < 4; k++) SUCCEEDS(clReleaseProgram(programs[k]));
}

static cl_int launch(cl_kernel k, cl_uint dims, const size_t *global, const size_t *local) {
    return clEnqueueNDRangeKernel(ocl.queue, k, dims, NULL, global, local, 0, NULL, NULL);
}

/* Groups are what the kernel requires in all three dimensions, said or not. */
Test(source, required_groups) {
    const size_t odd[2] = {8, 3}, even[2] = {8, 4}, right[2] = {4, 2}, wrong[2] = {2, 4};
    cl_program p = built("kernel __attribute__((reqd_work_group_size(4, 2, 1))) void k() {}", "");
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, launch(k, 1, even, NULL));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, launch(k, 1, even, right));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, launch(k, 2, odd, NULL));
    FAILS(CL_INVALID_WORK_GROUP_SIZE, launch(k, 2, even, wrong));
    SUCCEEDS(launch(k, 2, even, NULL));
    SUCCEEDS(launch(k, 2, even, right));
    SUCCEEDS(clFinish(ocl.queue));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseProgram(p));
}

static const char divisions[] =
    "#define CHECK(T, LEAST)"
    "  for (int i = 0; i < 5; i++) for (int k = 0; k < 5; k++) {"
    "    T x = k < 4 ? (T)n[k] : (T)LEAST, y = i < 4 ? (T)n[i] : (T)LEAST;"
    "    T q = x / y, r = x % y;"
    "    int4 v = (int4)(k, i, 7, 0) / (int4)(i, 0, k, 0);"
    "    if (y && (x != (T)LEAST || y != (T)-1)) wrong += (T)(q * y + r) != x;"
    "    if (i) wrong += v.x != k / i;"
    "  }\n"
    "kernel void k(global int *out) {"
    "  volatile int n[] = {0, -1, 1, 7};"
    "  int wrong = 0;"
    "  CHECK(char, CHAR_MIN) CHECK(short, SHRT_MIN) CHECK(int, INT_MIN) CHECK(long, LONG_MIN)"
    "  CHECK(uchar, 5) CHECK(ushort, 5) CHECK(uint, 5) CHECK(ulong, 5)"
    "  *out = wrong;"
    "}";

/* Division by 0, and of the least number by -1, gives anything, and goes on. */
Test(source, divisions_without_a_result) { expect(0, divisions, NULL); }

static const char large[] = "kernel void k(global int *out) {"
                            "  int x[10000000];"
                            "  for (int n = 0; n < 10000000; n++) x[n] = out[n & 1];"
                            "  *out = x[*out & 1];"
                            "}";

/* More private memory than a thread has. */
Test(source, too_large) {
    const size_t one = 1;
    cl_event e;
    cl_program p = built(large, NULL);
    cl_kernel k = MAKE(clCreateKernel(p, "k", &error));
    cl_mem m = MAKE(clCreateBuffer(ocl.context, 0, 64, NULL, &error));
    SUCCEEDS(clSetKernelArg(k, 0, sizeof m, &m));
    SUCCEEDS(clEnqueueNDRangeKernel(ocl.queue, k, 1, NULL, &one, NULL, 0, NULL, &e));
    FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &e));
    SUCCEEDS(clReleaseEvent(e));
    SUCCEEDS(clReleaseKernel(k));
    SUCCEEDS(clReleaseMemObject(m));
    SUCCEEDS(clReleaseProgram(p));
}

static cl_bool has_compiler(void) {
    cl_bool yes;
    SUCCEEDS(clGetDeviceInfo(ocl.device, CL_DEVICE_COMPILER_AVAILABLE, sizeof yes, &yes, NULL));
    return yes;
}

static void begin_without_compiler(void) {
    setenv("SPVF_CLANG", "/nonexistent/clang", 1);
    begin_opencl();
}

Test(no_compiler, is_said, .init = begin_without_compiler, .fini = end_opencl) {
    cr_expect(!has_compiler());
    cl_program p = make_program(KERNEL("1"));
    FAILS(CL_COMPILER_NOT_AVAILABLE, clBuildProgram(p, 0, NULL, NULL, NULL, NULL));
    cr_expect(log_has(p, "/nonexistent/clang: cannot be started"));
    FAILS(CL_COMPILER_NOT_AVAILABLE, clCompileProgram(p, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    SUCCEEDS(clReleaseProgram(p));
}
