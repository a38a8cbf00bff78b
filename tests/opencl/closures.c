/* closures.c — programs of OpenCL that set structs with pointers, as SYCL runtimes do: the closures of
 * tests/sycl/pipelines.cpp, with addresses of shared virtual memory.
 *
 *     closures PIPELINES.spv POINTERS.spv
 *
 * A chain of eight launches is enqueued, and recorded in a command buffer, with memory of several
 * kinds.  The results are those of the host, and the command buffer is one launch.  POINTERS.spv has
 * kernels that take a closure as a pointer (tests/sycl/pointers.spvasm).
 */
#include "tests/file.h"
#include "tests/opencl/stress.h"

#include "runtime/spvfuse_opencl.h"

enum { COUNT = 512, GROUP = 128, STEPS = 8, PLACES = STEPS + 1 };

typedef struct {
    float *data;
    cl_ulong first;
} accessor;

typedef struct {
    accessor in, out;
    float by;
} scale;

typedef struct {
    accessor in;
    float by;
    accessor out;
    cl_uint n;
} shift;

typedef struct {
    accessor in, out;
} square;

typedef struct {
    const float *in;
    float *out;
} halve;

static cl_command_queue queue;
static cl_program program;
static clCreateCommandBufferKHR_fn create;
static clReleaseCommandBufferKHR_fn release;
static clFinalizeCommandBufferKHR_fn finalize;
static clEnqueueCommandBufferKHR_fn run_commands;
static clCommandNDRangeKernelKHR_fn record;
static clGetCommandBufferInfoKHR_fn get_info;
static unsigned passed, failed;

static void check(bool right, const char *what, const char *kind) {
    passed += right;
    failed += !right;
    if (!right) printf("%s: %s\n", kind, what);
}

/* --------------------------------------------------------------------------------------- memory */

typedef enum { ALLOCATIONS, WITH_OFFSETS, PARTS, UNKNOWN, KINDS } memory_kind;

static const char *const kind_names[] = {"allocations", "allocations, and offsets in them",
                                         "parts of one allocation", "unknown memory"};

typedef struct {
    memory_kind kind;
    float *place[PLACES];
    void *block[PLACES]; /* that are to be freed */
} memory;

static float *new_place(memory *m, unsigned n) {
    const size_t bytes = COUNT * sizeof(float);
    switch (m->kind) {
    case PARTS:
        m->block[n] = n ? NULL : clSVMAlloc(context, CL_MEM_READ_WRITE, PLACES * bytes, 0);
        return (float *)m->block[0] + n * COUNT;
    case UNKNOWN: return m->block[n] = malloc(bytes);
    case WITH_OFFSETS:
        m->block[n] = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes + 64, 0);
        return (float *)m->block[n] + 16;
    default: return m->block[n] = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
    }
}

static memory new_memory(memory_kind k) {
    memory m = {.kind = k};
    for (unsigned n = 0; n < PLACES; n++) m.place[n] = new_place(&m, n);
    for (unsigned i = 0; i < COUNT; i++) m.place[0][i] = (float)i;
    return m;
}

static void free_memory(const memory *m) {
    for (unsigned n = 0; n < PLACES; n++)
        if (m->kind == UNKNOWN)
            free(m->block[n]);
        else if (m->block[n])
            clSVMFree(context, m->block[n]);
}

/* -------------------------------------------------------------------------------------- launches */

typedef enum { SCALE, SHIFT, SQUARE, HALVE } operation;

static const char *const kernel_names[] = {"_ZTS5Scale", "_ZTS5Shift", "_ZTS6Square", "_ZTS5Halve"};

typedef struct {
    operation operation;
    float by;
} step;

static const step steps[STEPS] = {{SCALE, 2},  {SHIFT, 1}, {SQUARE, 0}, {HALVE, 0},
                                  {SCALE, -4}, {SHIFT, 3}, {HALVE, 0},  {SCALE, 0.25f}};

static float on_host(const step *s, float x) {
    switch (s->operation) {
    case SCALE: return x * s->by;
    case SHIFT: return x + s->by;
    case SQUARE: return x * x;
    default: return x * 0.5f;
    }
}

static cl_int set_closure(cl_kernel k, const step *s, float *in, float *out) {
    const accessor from = {in, 0}, to = {out, 0};
    switch (s->operation) {
    case SCALE: return clSetKernelArg(k, 0, sizeof(scale), &(scale){from, to, s->by});
    case SHIFT: return clSetKernelArg(k, 0, sizeof(shift), &(shift){from, s->by, to, COUNT});
    case SQUARE: return clSetKernelArg(k, 0, sizeof(square), &(square){from, to});
    default: return clSetKernelArg(k, 0, sizeof(halve), &(halve){in, out});
    }
}

static cl_kernel kernel_of(const step *s, float *in, float *out) {
    cl_kernel k = clCreateKernel(program, kernel_names[s->operation], NULL);
    expect(!set_closure(k, s, in, out));
    return k;
}

static const size_t items = COUNT, group = GROUP;

static void enqueue_chain(const memory *m) {
    for (unsigned n = 0; n < STEPS; n++) {
        cl_kernel k = kernel_of(&steps[n], m->place[n], m->place[n + 1]);
        expect(!clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, &group, 0, NULL, NULL));
        expect(!clReleaseKernel(k));
    }
    expect(!clFinish(queue));
}

static cl_command_buffer_khr record_chain(const memory *m) {
    cl_command_buffer_khr b = create(1, &queue, NULL, NULL);
    for (unsigned n = 0; n < STEPS; n++) {
        cl_kernel k = kernel_of(&steps[n], m->place[n], m->place[n + 1]);
        expect(!record(b, NULL, NULL, k, 1, NULL, &items, &group, 0, NULL, NULL, NULL));
        expect(!clReleaseKernel(k));
    }
    expect(!finalize(b));
    return b;
}

static bool is_right(const memory *m) {
    bool right = true;
    for (unsigned i = 0; i < COUNT; i++) {
        float x = (float)i;
        for (unsigned n = 0; n < STEPS; n++) {
            x = on_host(&steps[n], x);
            right &= m->place[n + 1][i] == x;
            m->place[n + 1][i] = 0;
        }
    }
    return right;
}

/* ----------------------------------------------------------------------------------------- tests */

static void check_report(cl_command_buffer_khr b, const char *kind) {
    static char report[1 << 16];
    expect(!get_info(b, CL_COMMAND_BUFFER_FUSION_REPORT_SPVF, sizeof report, report, NULL));
    check(strstr(report, "_ZTS5Scale_arg0.16") != NULL, "the report names no members", kind);
}

static void test_chain(memory_kind k) {
    const char *name = kind_names[k];
    memory m = new_memory(k);
    cl_uint launches;
    enqueue_chain(&m);
    check(is_right(&m), "wrong result of launches", name);
    cl_command_buffer_khr b = record_chain(&m);
    expect(!get_info(b, CL_COMMAND_BUFFER_LAUNCH_COUNT_SPVF, sizeof launches, &launches, NULL));
    check(launches == 1, "more than one launch", name);
    check_report(b, name);
    for (int run = 0; run < 2; run++) {
        expect(!run_commands(0, NULL, b, 0, NULL, NULL) && !clFinish(queue));
        check(is_right(&m), "wrong result of the command buffer", name);
    }
    expect(!release(b));
    free_memory(&m);
}

typedef struct {
    char small, unused[3];
    char bytes[8]; /* of a union */
    struct {
        char *data;
        cl_ulong first;
    } out;
    short numbers[3];
} mixed;

/* Bytes of a union arrive that are padding of its other member. */
static void test_union(void) {
    static const size_t twelve = 12;
    cl_kernel k = clCreateKernel(program, "_ZTS5Mixed", NULL);
    char *out = clSVMAlloc(context, CL_MEM_READ_WRITE, 12, 0);
    static mixed closure = {9, "", {1, 2, 3, 4, 5, 6, 7, 8}, {NULL, 0}, {10, 11, 12}};
    closure.out.data = out;
    expect(!clSetKernelArg(k, 0, sizeof closure, &closure));
    expect(!clEnqueueNDRangeKernel(queue, k, 1, NULL, &twelve, NULL, 0, NULL, NULL));
    expect(!clFinish(queue) && !clReleaseKernel(k));
    bool right = true;
    for (int n = 0; n < 12; n++) right &= out[n] == n + 1;
    check(right, "not all bytes have arrived", "union");
    clSVMFree(context, out);
}

/* The kernel has the arguments that its source has. */
static void test_arguments(void) {
    cl_kernel k = clCreateKernel(program, "_ZTS5Scale", NULL);
    const scale bytes = {.by = 1};
    cl_uint count = 0;
    expect(!clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL));
    check(count == 1, "CL_KERNEL_NUM_ARGS", "arguments");
    check(clSetKernelArg(k, 0, sizeof bytes - 1, &bytes) == CL_INVALID_ARG_SIZE, "size",
          "arguments");
    check(clSetKernelArg(k, 0, sizeof bytes, NULL) == CL_INVALID_ARG_VALUE, "NULL", "arguments");
    check(clSetKernelArg(k, 1, 4, &count) == CL_INVALID_ARG_INDEX, "index", "arguments");
    check(clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, &group, 0, NULL, NULL) ==
              CL_INVALID_KERNEL_ARGS,
          "not set", "arguments");
    expect(!clReleaseKernel(k));
}

/* ------------------------------------------------------------------------------- begin and end */

static void load_entries(void) {
    load_entry(platform, "clCreateCommandBufferKHR", &create);
    load_entry(platform, "clReleaseCommandBufferKHR", &release);
    load_entry(platform, "clFinalizeCommandBufferKHR", &finalize);
    load_entry(platform, "clEnqueueCommandBufferKHR", &run_commands);
    load_entry(platform, "clCommandNDRangeKernelKHR", &record);
    load_entry(platform, "clGetCommandBufferInfoKHR", &get_info);
}

static cl_program build(const char *path) {
    size_t size;
    char *il = read_file(path, &size);
    if (!il) return NULL;
    cl_program built = clCreateProgramWithIL(context, il, size, NULL);
    free(il);
    expect(built && !clBuildProgram(built, 0, NULL, NULL, NULL, NULL));
    return built;
}

/* A pointer to private memory is a struct that the host sets; a generic one is an address. */
static void test_pointers(cl_program pointers) {
    const struct {
        const float *in;
        float *out;
        float by;
    } closure = {clSVMAlloc(context, CL_MEM_READ_WRITE, COUNT * sizeof(float), 0),
                 clSVMAlloc(context, CL_MEM_READ_WRITE, COUNT * sizeof(float), 0), 3};
    float *in = (float *)(uintptr_t)closure.in;
    for (unsigned n = 0; n < COUNT; n++) in[n] = (float)n;
    cl_kernel by_value = clCreateKernel(pointers, "scale", NULL);
    cl_kernel generic = clCreateKernel(pointers, "shift", NULL);
    check(clSetKernelArg(by_value, 0, sizeof(void *), &in) == CL_INVALID_ARG_SIZE, "size",
          "pointers");
    check(clSetKernelArg(generic, 0, 32, &closure) == CL_INVALID_ARG_SIZE, "generic", "pointers");
    expect(!clSetKernelArg(by_value, 0, sizeof closure, &closure));
    expect(!clEnqueueNDRangeKernel(queue, by_value, 1, NULL, &items, &group, 0, NULL, NULL));
    expect(!clFinish(queue) && !clReleaseKernel(by_value) && !clReleaseKernel(generic));
    bool right = true;
    for (unsigned n = 0; n < COUNT; n++) right &= closure.out[n] == 3 * (float)n;
    check(right, "wrong result", "pointers");
    clSVMFree(context, in);
    clSVMFree(context, closure.out);
}

int main(int argc, char **argv) {
    static const _Atomic unsigned called;
    begin_context();
    load_entries();
    queue = new_queue(true);
    if (argc != 3 || !(program = build(argv[1]))) return 2;
    cl_program pointers = build(argv[2]);
    if (!pointers) return 2;
    test_arguments();
    test_union();
    for (memory_kind k = 0; k < KINDS; k++) test_chain(k);
    test_pointers(pointers);
    expect(!clReleaseProgram(program) && !clReleaseProgram(pointers));
    expect(!clReleaseCommandQueue(queue));
    end_context(&called, 0);
    check(!wrong, "a call failed", "OpenCL");
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
