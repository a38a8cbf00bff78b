/* layouts.c — programs that are built with -cl-spvfuse-layout=FILE: kernels with accessors, which
 * functions of the device put together, and structs that no type describes.
 *
 *     layouts FOLDER
 *
 * The folder has pipelines.spv, pointers.spv and the layouts of tests/sycl; more are written there.
 * Whatever a layout makes of a struct, the program sets it as it was, and what special members are
 * made of after it.
 */
#include "tests/file.h"
#include "tests/opencl/stress.h"

enum { ITEMS = 64 };

static const size_t items = ITEMS;
static const char *folder;
static cl_command_queue queue;
static unsigned passed, failed;

static void check(bool right, const char *what, const char *kind) {
    passed += right;
    failed += !right;
    if (!right) printf("%s: %s\n", kind, what);
}

/* Valid until the next call. */
static const char *path_of(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_layout(const char *name, const char *text, size_t size) {
    FILE *f = fopen(path_of(name), "wb");
    expect(f && fwrite(text, 1, size, f) == size);
    if (f) expect(!fclose(f));
}

/* Valid until the next call. */
static const char *option_of(const char *layout) {
    static char option[4200];
    snprintf(option, sizeof option, "\"-cl-spvfuse-layout=%s\"", layout);
    return option;
}

static cl_int try_build(cl_program p, const char *layout) {
    return clBuildProgram(p, 0, NULL, option_of(layout), NULL, NULL);
}

static cl_program new_program(const char *name) {
    size_t size;
    char *il = read_file(path_of(name), &size);
    cl_program p = il ? clCreateProgramWithIL(context, il, size, NULL) : NULL;
    free(il);
    if (!p) exit(2);
    return p;
}

static cl_program build(const char *name, const char *layout) {
    cl_program p = new_program(name);
    expect(!try_build(p, path_of(layout)));
    return p;
}

/* ------------------------------------------------------------------------------------ accessors */

typedef struct {
    void *data;
    cl_ulong all, first, last;
} accessor;

typedef struct {
    accessor in;
    float by;
    accessor out[2];
} blend;

static void set_accessor(cl_kernel k, cl_uint first, cl_mem buffer, cl_ulong begin) {
    const cl_ulong all = ITEMS;
    expect(!clSetKernelArg(k, first, sizeof buffer, &buffer));
    expect(!clSetKernelArg(k, first + 1, sizeof all, &all));
    expect(!clSetKernelArg(k, first + 2, sizeof begin, &begin));
}

static cl_mem new_buffer(void) {
    float numbers[ITEMS + 2];
    for (int n = 0; n < ITEMS + 2; n++) numbers[n] = (float)n;
    return clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, NULL);
}

/* The first element of each accessor has become one more at the end. */
static bool has(cl_mem buffer, unsigned begin, float (*wanted)(float)) {
    float got[ITEMS + 2];
    bool right = true;
    expect(!clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    for (unsigned n = 0; n < ITEMS; n++)
        right &= got[begin + n] == wanted((float)n + 2) + (float)(n == 0);
    return right;
}

static float as_it_was(float x) { return x; }
static float scaled(float x) { return x * 0.5f; }
static float moved(float x) { return x + 0.5f + (float)ITEMS + 2; }

static void test_accessors(const char *layout) {
    const blend object = {.by = 0.5f};
    cl_program p = build("pipelines.spv", layout);
    cl_kernel k = clCreateKernel(p, "_ZTS5Blend", NULL);
    cl_mem x = new_buffer(), y = new_buffer(), z = new_buffer();
    cl_uint count = 0;
    expect(!clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL));
    check(count == 10, "the number of arguments", layout);
    expect(!clSetKernelArg(k, 0, sizeof object, &object));
    set_accessor(k, 1, x, 2);
    set_accessor(k, 4, y, 0);
    set_accessor(k, 7, z, 1);
    check(clSetKernelArg(k, 2, 4, &count) == CL_INVALID_ARG_SIZE, "a size", layout);
    check(clSetKernelArg(k, 10, 4, &count) == CL_INVALID_ARG_INDEX, "an index", layout);
    expect(!clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, NULL, 0, NULL, NULL));
    check(has(x, 2, as_it_was), "the input", layout);
    check(has(y, 0, scaled), "the first output", layout);
    check(has(z, 1, moved), "the second output", layout);
    expect(!clReleaseMemObject(x) && !clReleaseMemObject(y) && !clReleaseMemObject(z));
    expect(!clReleaseKernel(k) && !clReleaseProgram(p));
}

static void write_variant(const char *name, const char *of, const char *convention) {
    size_t size;
    char text[4096], *rest = read_file(path_of(of), &size);
    if (!rest) exit(2);
    int n = snprintf(text, sizeof text, "%s\n%.*s", convention, (int)size, rest);
    write_layout(name, text, (size_t)n);
    free(rest);
}

/* ------------------------------------------------------------- structs that no type describes */

/* What was compiled is read with a layout once it is linked. */
static cl_program link_pointers(void) {
    cl_int status = CL_SUCCESS;
    cl_program p = new_program("pointers.spv");
    const char *missing = option_of(path_of("missing.layout"));
    expect(!clCompileProgram(p, 0, NULL, missing, 0, NULL, NULL, NULL, NULL));
    cl_program bad = clLinkProgram(context, 0, NULL, missing, 1, &p, NULL, NULL, &status);
    check(status == CL_LINK_PROGRAM_FAILURE, "a missing file", "link");
    expect(bad && !clReleaseProgram(bad));
    const char *layout = option_of(path_of("pointers.layout"));
    cl_program linked = clLinkProgram(context, 0, NULL, layout, 1, &p, NULL, NULL, &status);
    expect(!status && !clReleaseProgram(p));
    return linked;
}

static void test_pointer(cl_program p) {
    const struct {
        cl_uint n;
        const float *from;
        float *to;
        float by;
    } object = {ITEMS - 4, clSVMAlloc(context, CL_MEM_READ_WRITE, ITEMS * sizeof(float), 0),
                clSVMAlloc(context, CL_MEM_READ_WRITE, ITEMS * sizeof(float), 0), 3};
    float *in = (float *)(uintptr_t)object.from;
    for (unsigned n = 0; n < ITEMS; n++) in[n] = (float)n, object.to[n] = -1;
    cl_kernel k = clCreateKernel(p, "shift", NULL);
    expect(!clSetKernelArg(k, 0, sizeof object, &object));
    expect(!clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, NULL, 0, NULL, NULL));
    expect(!clFinish(queue));
    bool right = true;
    for (unsigned n = 0; n < ITEMS; n++)
        right &= object.to[n] == (float)n + (n < ITEMS - 4 ? 3 : 0);
    check(right, "wrong result", "pointer");
    clSVMFree(context, in);
    clSVMFree(context, object.to);
    expect(!clReleaseKernel(k) && !clReleaseProgram(p));
}

/* --------------------------------------------------------------------------------------- errors */

static void check_log(cl_program p, const char *text) {
    static char log[1 << 16];
    expect(!clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    check(strstr(log, text) != NULL, log, text);
}

static void refuse(const char *name, const char *why) {
    cl_program p = new_program("pointers.spv");
    check(try_build(p, path_of(name)) == CL_BUILD_PROGRAM_FAILURE, "no failure", name);
    check_log(p, why);
    expect(!clReleaseProgram(p));
}

static void test_errors(void) {
    static const char size[] = "closure @scale 0 size 16 { }", text[] = "layout values\nclosure x";
    write_layout("size.layout", size, strlen(size));
    write_layout("text.layout", text, strlen(text));
    write_layout("zero.layout", "layout drop\0", 12);
    refuse("missing.layout", "missing.layout: cannot be opened");
    refuse("size.layout", "layout-mismatch: kernel 'scale', parameter 0 has 24 bytes, not 16");
    refuse("text.layout", "text.layout:2:9: error: expected");
    refuse("zero.layout", "zero.layout: is no text");
    refuse(".", "cannot be read");
    cl_program p = new_program("pointers.spv");
    check(try_build(p, "") == CL_INVALID_BUILD_OPTIONS, "a file without a name", "options");
    check_log(p, "option '-cl-spvfuse-layout=' is not known, or lacks a word");
    expect(!clReleaseProgram(p));
}

int main(int argc, char **argv) {
    static const _Atomic unsigned called;
    if (argc != 2) return 2;
    folder = argv[1];
    begin_context();
    queue = new_queue(true);
    test_accessors("specials.layout");
    write_variant("values.layout", "specials.layout", "layout values");
    write_variant("spill.layout", "specials.layout", "layout values spill area 80");
    write_variant("drop.layout", "specials.layout", "layout drop");
    test_accessors("values.layout");
    test_accessors("spill.layout");
    test_accessors("drop.layout");
    test_pointer(build("pointers.spv", "pointers.layout"));
    write_variant("buffer.layout", "pointers.layout", "layout spill area 16");
    test_pointer(build("pointers.spv", "buffer.layout"));
    test_pointer(link_pointers());
    test_errors();
    expect(!clReleaseCommandQueue(queue));
    end_context(&called, 0);
    check(!wrong, "a call failed", "OpenCL");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
