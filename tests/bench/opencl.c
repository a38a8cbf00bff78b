/* opencl.c — what an OpenCL program waits for: launches of empty kernels, a chain of kernels, also
 * recorded in a command buffer, builds from OpenCL C, and a process that starts, next to PoCL.
 *
 *   opencl SPVFUSE.icd POCL.icd VADD.spv
 *
 * A launch is enqueued and waited for, or eight of a chain and then waited for: medians.  A start
 * is a process of its own, from main to the first result of a module of SPIR-V; its code is in the
 * cache from the second one on.  CPU time; PoCL 3.1 takes no SPIR-V, and is given the source.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_ENABLE_BETA_EXTENSIONS
#include "tests/bench/bench.h"

#include <CL/cl_ext.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LAUNCHES = 2001,
    CHAINS = 501,
    CHAIN = 8,
    STARTS = 21,
    ITEMS = 64,
    LARGE = 1 << 20,
    BUILDS = 101
};

typedef struct {
    cl_context context;
    cl_command_queue queue;
    cl_device_id device;
} session;

static bool open_session(session *s) {
    cl_platform_id p;
    cl_int error;
    if (clGetPlatformIDs(1, &p, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &s->device, NULL) != CL_SUCCESS)
        return false;
    s->context = clCreateContext(NULL, 1, &s->device, NULL, NULL, &error);
    if (error == CL_SUCCESS) s->queue = clCreateCommandQueue(s->context, s->device, 0, &error);
    return error == CL_SUCCESS;
}

static cl_mem new_buffer(const session *s, cl_mem_flags flags, void *data, size_t items) {
    return clCreateBuffer(s->context, flags, items * sizeof(float), data, NULL);
}

static void enqueue(const session *s, cl_kernel k, size_t items) {
    clEnqueueNDRangeKernel(s->queue, k, 1, NULL, &items, NULL, 0, NULL, NULL);
}

/* ------------------------------------------------------------------------------------- launches */

static cl_kernel build_empty(const session *s) {
    const char *source = "kernel void empty(global float *x) {}";
    cl_program p = clCreateProgramWithSource(s->context, 1, &source, NULL, NULL);
    if (clBuildProgram(p, 1, &s->device, "", NULL, NULL) != CL_SUCCESS) return NULL;
    cl_mem m = new_buffer(s, 0, NULL, ITEMS);
    cl_kernel k = clCreateKernel(p, "empty", NULL);
    clSetKernelArg(k, 0, sizeof m, &m);
    return k;
}

static double launch(const session *s, cl_kernel k, unsigned samples, unsigned count) {
    double v[LAUNCHES];
    for (unsigned n = 0; n < samples; n++) {
        double start = now();
        for (unsigned i = 0; i < count; i++) enqueue(s, k, 1);
        clFinish(s->queue);
        v[n] = now() - start;
    }
    return median(v, samples);
}

/* --------------------------------------------------------------------------------------- chains */

static cl_program build_steps(const session *s) {
    const char *source =
        "kernel void advance(global float *to, global const float *from, float k) {"
        "  size_t i = get_global_id(0);"
        "  to[i] = from[i] * k + 1.0f;"
        "}";
    cl_program p = clCreateProgramWithSource(s->context, 1, &source, NULL, NULL);
    return clBuildProgram(p, 1, &s->device, "", NULL, NULL) == CL_SUCCESS ? p : NULL;
}

typedef struct {
    clCreateCommandBufferKHR_fn create;
    clCommandNDRangeKernelKHR_fn add;
    clFinalizeCommandBufferKHR_fn finalize;
    clEnqueueCommandBufferKHR_fn enqueue;
} recorder;

static void find_entry(const session *s, const char *name, void *to) {
    cl_platform_id p;
    clGetDeviceInfo(s->device, CL_DEVICE_PLATFORM, sizeof p, &p, NULL);
    void *entry = clGetExtensionFunctionAddressForPlatform(p, name);
    memcpy(to, &entry, sizeof entry);
}

static bool find_recorder(const session *s, recorder *r) {
    find_entry(s, "clCreateCommandBufferKHR", &r->create);
    find_entry(s, "clCommandNDRangeKernelKHR", &r->add);
    find_entry(s, "clFinalizeCommandBufferKHR", &r->finalize);
    find_entry(s, "clEnqueueCommandBufferKHR", &r->enqueue);
    return r->create && r->add && r->finalize && r->enqueue;
}

typedef struct {
    cl_kernel kernel[CHAIN]; /* each reads what the one before it wrote */
    size_t items;
} chain;

static void make_chain(const session *s, cl_program p, size_t items, chain *c) {
    cl_mem m[CHAIN + 1];
    const float half = 0.5f;
    c->items = items;
    for (unsigned n = 0; n <= CHAIN; n++) m[n] = new_buffer(s, 0, NULL, items);
    for (unsigned n = 0; n < CHAIN; n++) {
        c->kernel[n] = clCreateKernel(p, "advance", NULL);
        clSetKernelArg(c->kernel[n], 0, sizeof *m, &m[n + 1]);
        clSetKernelArg(c->kernel[n], 1, sizeof *m, &m[n]);
        clSetKernelArg(c->kernel[n], 2, sizeof half, &half);
    }
}

static double run_chain(const session *s, const chain *c) {
    double v[CHAINS];
    for (unsigned n = 0; n < CHAINS; n++) {
        double start = now();
        for (unsigned k = 0; k < CHAIN; k++) enqueue(s, c->kernel[k], c->items);
        clFinish(s->queue);
        v[n] = now() - start;
    }
    return median(v, CHAINS);
}

/* 0: nothing can be recorded. */
static double run_recorded(const session *s, const chain *c) {
    double v[CHAINS];
    recorder r;
    if (!find_recorder(s, &r)) return 0;
    cl_command_buffer_khr b = r.create(1, &s->queue, NULL, NULL);
    for (unsigned k = 0; k < CHAIN; k++)
        r.add(b, NULL, NULL, c->kernel[k], 1, NULL, &c->items, NULL, 0, NULL, NULL, NULL);
    bool ok = r.finalize(b) == CL_SUCCESS;
    for (unsigned n = 0; n < CHAINS; n++) {
        double start = now();
        ok = ok && r.enqueue(0, NULL, b, 0, NULL, NULL) == CL_SUCCESS;
        clFinish(s->queue);
        v[n] = now() - start;
    }
    return ok ? median(v, CHAINS) : 0;
}

/* --------------------------------------------------------------------------------------- builds */

/* CPU time of this process and those that it has waited for. */
static double cpu_time(void) {
    double sum = 0;
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    for (unsigned k = 0; k < 2; k++) {
        struct rusage u;
        getrusage(whose[k], &u);
        sum += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
               (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    }
    return sum;
}

/* 0: it failed. */
static double build(const session *s, const char *source) {
    double start = cpu_time();
    cl_program p = clCreateProgramWithSource(s->context, 1, &source, NULL, NULL);
    bool ok = clBuildProgram(p, 1, &s->device, "", NULL, NULL) == CL_SUCCESS;
    clReleaseProgram(p);
    return ok ? cpu_time() - start : 0;
}

/* Of a source that was never built before; then of the same one. */
static void time_builds(const session *s, double *compiled, double *kept) {
    char source[200];
    double v[BUILDS];
    snprintf(source, sizeof source,
             "kernel void scale(global float *x) { x[get_global_id(0)] *= %.0f.0f; }",
             now() + (double)getpid());
    *compiled = build(s, source);
    for (unsigned n = 0; n < BUILDS; n++) v[n] = build(s, source);
    *kept = median(v, BUILDS);
}

/* ------------------------------------------------------------------------------------------ all */

/* Of an empty kernel, several of them, a chain of few items and of many, and recorded; of builds;
 * 0: there is no such implementation. */
enum { EMPTY, SEVERAL, FEW, MANY, FEW_RECORDED, MANY_RECORDED, COMPILED, KEPT, TIMES };

static void time_all(double t[TIMES]) {
    session s;
    cl_kernel k = open_session(&s) ? build_empty(&s) : NULL;
    cl_program p = k ? build_steps(&s) : NULL;
    if (!p) return;
    chain few, many;
    make_chain(&s, p, ITEMS, &few);
    make_chain(&s, p, LARGE, &many);
    t[EMPTY] = launch(&s, k, LAUNCHES, 1);
    t[SEVERAL] = launch(&s, k, CHAINS, CHAIN);
    t[FEW] = run_chain(&s, &few);
    t[MANY] = run_chain(&s, &many);
    t[FEW_RECORDED] = run_recorded(&s, &few);
    t[MANY_RECORDED] = run_recorded(&s, &many);
    time_builds(&s, &t[COMPILED], &t[KEPT]);
}

/* --------------------------------------------------------------------------------------- starts */

static cl_program load_vadd(const session *s, file code) {
    const char *source = "kernel void vadd(global const float *a, global const float *b,"
                         "                 global float *c) {"
                         "  size_t i = get_global_id(0);"
                         "  c[i] = a[i] + b[i];"
                         "}";
    cl_int error;
    cl_program p = clCreateProgramWithIL(s->context, code.data, code.size, &error);
    return p ? p : clCreateProgramWithSource(s->context, 1, &source, NULL, &error);
}

static bool run_vadd(const session *s, file code) {
    cl_int error;
    float x[ITEMS];
    for (unsigned i = 0; i < ITEMS; i++) x[i] = (float)i;
    cl_program p = load_vadd(s, code);
    if (clBuildProgram(p, 1, &s->device, "", NULL, NULL) != CL_SUCCESS) return false;
    cl_kernel k = clCreateKernel(p, "vadd", &error);
    cl_mem in = new_buffer(s, CL_MEM_COPY_HOST_PTR, x, ITEMS);
    cl_mem out = new_buffer(s, 0, NULL, ITEMS);
    const cl_mem args[] = {in, in, out};
    for (cl_uint n = 0; n < 3; n++) clSetKernelArg(k, n, sizeof *args, &args[n]);
    enqueue(s, k, ITEMS);
    clEnqueueReadBuffer(s->queue, out, CL_TRUE, 0, sizeof x, x, 0, NULL, NULL);
    return x[ITEMS - 1] == 2 * (ITEMS - 1);
}

static void time_start(const char *path, double *t) {
    session s;
    *t = open_session(&s) && run_vadd(&s, load("", path)) ? cpu_time() : 0;
}

/* ------------------------------------------------------------------------------------ processes */

typedef struct {
    const char *vendors, *what; /* a module, or "-": launches */
} run;

/* This program again, as the loader reads its environment once; what it printed. */
static void in_process(const char *self, run r, double t[TIMES]) {
    char command[3000];
    setenv("OCL_ICD_VENDORS", r.vendors, 1);
    snprintf(command, sizeof command, "%s %s", self, r.what);
    FILE *f = popen(command, "r");
    bool ok = f;
    for (unsigned n = 0; n < TIMES; n++) ok = ok && fscanf(f, "%lf", &t[n]) == 1;
    for (unsigned n = 0; n < TIMES && !ok; n++) t[n] = 0;
    if (f) pclose(f);
}

static int measure(const char *what) {
    double t[TIMES] = {0};
    if (strcmp(what, "-") == 0)
        time_all(t);
    else
        time_start(what, t);
    for (unsigned n = 0; n < TIMES; n++) printf("%f\n", t[n]);
    return 0;
}

static void print_both(const char *what, double ours, double peer) {
    printf("  %-38s %7.2f us  PoCL %8.2f us  %6.1f x\n", what, ours, peer,
           ours > 0 ? peer / ours : 0);
}

/* CPU time in ms, from the start of a process to its first result. */
static double start_time(const char *self, const char *vendors, const char *module) {
    double t[TIMES], starts[STARTS];
    in_process(self, (run){vendors, module}, t); /* into the cache */
    for (unsigned n = 0; n < STARTS; n++) {
        in_process(self, (run){vendors, module}, t);
        starts[n] = t[0];
    }
    return median(starts, STARTS) / 1000;
}

int main(int argc, char **argv) {
    double ours[TIMES], peer[TIMES];
    if (argc == 2) return measure(argv[1]);
    if (argc != 4) return 2;
    progress p = progress_begin("processes", 4);
    in_process(argv[0], (run){argv[1], "-"}, ours);
    progress_step(&p);
    in_process(argv[0], (run){argv[2], "-"}, peer);
    progress_step(&p);
    const double start = start_time(argv[0], argv[1], argv[3]);
    progress_step(&p);
    const double peers_start = start_time(argv[0], argv[2], argv[3]);
    progress_end(&p);
    printf("OpenCL, enqueued and waited for\n");
    print_both("an empty kernel", ours[EMPTY], peer[EMPTY]);
    print_both("eight of them", ours[SEVERAL], peer[SEVERAL]);
    print_both("a chain of eight, 64 items", ours[FEW], peer[FEW]);
    print_both("  recorded", ours[FEW_RECORDED], peer[FEW_RECORDED]);
    print_both("a chain of eight, 2^20 items", ours[MANY], peer[MANY]);
    print_both("  recorded", ours[MANY_RECORDED], peer[MANY_RECORDED]);
    print_both("a build from OpenCL C, CPU", ours[COMPILED], peer[COMPILED]);
    print_both("  of the same source again", ours[KEPT], peer[KEPT]);
    printf("  %-38s %7.2f ms  PoCL %8.2f ms  %6.1f x (asked: 5 ms)\n",
           "a process to a result, code kept, CPU", start, peers_start,
           start > 0 ? peers_start / start : 0);
    return ours[EMPTY] == 0 || ours[MANY_RECORDED] == 0 || ours[COMPILED] == 0 || ours[KEPT] == 0 ||
           start == 0;
}
