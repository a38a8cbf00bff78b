/* opencl.c — what an OpenCL program waits for: launches of empty kernels, and a process that starts,
 * next to PoCL.
 *
 *   opencl SPVFUSE.icd POCL.icd VADD.spv
 *
 * A launch is enqueued and waited for, or eight of a chain and then waited for: medians.  A start
 * is a process of its own, from main to the first result of a module of SPIR-V; its code is in the
 * cache from the second one on.  CPU time; PoCL 3.1 takes no SPIR-V.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "tests/bench/bench.h"

#include <CL/cl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAUNCHES = 2001, CHAINS = 501, CHAIN = 8, STARTS = 21, ITEMS = 64 };

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

static cl_mem new_buffer(const session *s, cl_mem_flags flags, void *data) {
    return clCreateBuffer(s->context, flags, ITEMS * sizeof(float), data, NULL);
}

static void enqueue(const session *s, cl_kernel k, size_t items) {
    clEnqueueNDRangeKernel(s->queue, k, 1, NULL, &items, NULL, 0, NULL, NULL);
}

/* ------------------------------------------------------------------------------------- launches */

static cl_kernel build_empty(const session *s) {
    const char *source = "kernel void empty(global float *x) {}";
    cl_program p = clCreateProgramWithSource(s->context, 1, &source, NULL, NULL);
    if (clBuildProgram(p, 1, &s->device, "", NULL, NULL) != CL_SUCCESS) return NULL;
    cl_mem m = new_buffer(s, 0, NULL);
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

/* {one, a chain}; 0: there is no such implementation. */
static void time_launches(double t[2]) {
    session s;
    cl_kernel k = open_session(&s) ? build_empty(&s) : NULL;
    t[0] = k ? launch(&s, k, LAUNCHES, 1) : 0;
    t[1] = k ? launch(&s, k, CHAINS, CHAIN) : 0;
}

/* --------------------------------------------------------------------------------------- starts */

static double cpu_time(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static bool run_vadd(const session *s, file code) {
    cl_int error;
    float x[ITEMS];
    for (unsigned i = 0; i < ITEMS; i++) x[i] = (float)i;
    cl_program p = clCreateProgramWithIL(s->context, code.data, code.size, &error);
    if (error != CL_SUCCESS || clBuildProgram(p, 1, &s->device, "", NULL, NULL) != CL_SUCCESS)
        return false;
    cl_kernel k = clCreateKernel(p, "vadd", &error);
    cl_mem in = new_buffer(s, CL_MEM_COPY_HOST_PTR, x), out = new_buffer(s, 0, NULL);
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
    const char *vendors, *module; /* module NULL: launches */
} run;

/* This program again, as the loader reads its environment once; what it printed. */
static void in_process(const char *self, run r, double t[2]) {
    char command[3000];
    t[0] = t[1] = 0;
    setenv("OCL_ICD_VENDORS", r.vendors, 1);
    snprintf(command, sizeof command, "%s %s", self, r.module ? r.module : "-");
    FILE *f = popen(command, "r");
    if (!f || fscanf(f, "%lf %lf", &t[0], &t[1]) != 2) t[0] = t[1] = 0;
    if (f) pclose(f);
}

static int measure(const char *what) {
    double t[2] = {0};
    if (strcmp(what, "-") == 0)
        time_launches(t);
    else
        time_start(what, t);
    printf("%f %f\n", t[0], t[1]);
    return 0;
}

static void print_launches(const char *what, double ours, double peer) {
    printf("  %-38s %7.2f us  PoCL %8.2f us  %6.1f x\n", what, ours, peer, ours ? peer / ours : 0);
}

int main(int argc, char **argv) {
    double ours[2], peer[2], starts[STARTS];
    if (argc == 2) return measure(argv[1]);
    if (argc != 4) return 2;
    in_process(argv[0], (run){argv[1], NULL}, ours);
    in_process(argv[0], (run){argv[2], NULL}, peer);
    for (unsigned n = 0; n < STARTS; n++) {
        double t[2];
        in_process(argv[0], (run){argv[1], argv[3]}, t);
        starts[n] = t[0];
    }
    printf("OpenCL, an empty kernel\n");
    print_launches("enqueued and waited for", ours[0], peer[0]);
    print_launches("eight of them", ours[1], peer[1]);
    printf("  a process to its first result, CPU time %6.2f ms (asked: 5)\n",
           median(starts, STARTS) / 1000);
    return !ours[0] || !starts[0];
}
