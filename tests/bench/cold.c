/* cold.c — from SPIR-V to the first result, with nothing compiled before: CPU time, next to PoCL's;
 * peak memory of a process that does it; the size of the library.
 *
 *   cold FOLDER SPVFUSE LIBRARY.so     FOLDER holds vadd.spv, reduce.spv, matmul.spv and
 *                                      unary_chain.spv, and gets what is made
 *
 * Ours reads modules, fuses, compiles and runs a plan, many times in a process, each time from
 * nothing; "first" are processes that do it once.  PoCL's, a process each and with an empty cache,
 * is clBuildProgram of the same kernel from LLVM bitcode and a first launch.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "runtime/spvfuse.h"
#include "tests/bench/bench.h"
#include "tests/temporary.h"

#include <CL/cl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUR_SAMPLES = 21, OFTEN = 101, PEER_SAMPLES = 3, BYTES = 4096 };

typedef struct {
    const char *name, *kernel;
    const char *plan;
    unsigned dims, buffers;
    size_t global[2], local[2];
    double asked; /* times as fast as the peer */
} problem;

#define CHAIN "launch \"unary_chain.spv\":"
static const char vadd_plan[] = "buffer a f32[64] = iota\nbuffer b f32[64] = 1.0\n"
                                "buffer c f32[64]\n"
                                "launch \"vadd.spv\":vadd global 64 args a, b, c\n"
                                "expect c[0..2] = 1.0, 2.0, 3.0\n";
static const char chain_plan[] =
    "buffer a f32[64] = iota\nbuffer b f32[64] internal\nbuffer c f32[64] internal\n"
    "buffer d f32[64] internal\nbuffer e f32[64] internal\nbuffer f f32[64] internal\n"
    "buffer g f32[64] internal\nbuffer h f32[64] internal\nbuffer i f32[64]\n"
    "fuse chain {\n" CHAIN "twice_plus_one global 64 args a, b\n" CHAIN
    "minus_fifty global 64 args b, c\n" CHAIN "absolute global 64 args c, d\n" CHAIN
    "at_least_three global 64 args d, e\n" CHAIN "quarter global 64 args e, f\n" CHAIN
    "square global 64 args f, g\n" CHAIN "floored global 64 args g, h\n" CHAIN
    "negated global 64 args h, i\n}\n";
static const char reduce_plan[] = "buffer a f32[256] = 1.0\nbuffer b f32[1]\n"
                                  "launch \"reduce.spv\":reduce global 256 local 256 args a, b\n"
                                  "expect b[0] = 256.0\n";
static const char matmul_plan[] =
    "buffer a f32[256] = 1.0\nbuffer b f32[256] = 2.0\nbuffer c f32[256]\n"
    "launch \"matmul.spv\":matmul global 16 16 local 16 16 args a, b, c\n"
    "expect c[0..1] = 32.0, 32.0\n";

static const problem problems[] = {
    {"vadd", "vadd", vadd_plan, 1, 3, {64}, {64}, 1000},
    {"chain of 8, fused", "chain", chain_plan, 1, 2, {64}, {64}, 1000},
    {"tree reduction", "reduce", reduce_plan, 1, 2, {256}, {256}, 500},
    {"tiled matmul", "matmul", matmul_plan, 2, 3, {16, 16}, {16, 16}, 500},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static const char *folder;

static double cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* ----------------------------------------------------------------------------------------- ours */

static double run_ours(const problem *p, const char *bitcode) {
    char path[1024];
    spvf_context *c;
    spvf_plan *plan = NULL;
    (void)bitcode;
    snprintf(path, sizeof path, "%s/%s.plan", folder, p->kernel);
    double start = cpu_time();
    const spvf_context_options co = {.size = sizeof co, .message = show_message};
    const spvf_run_options o = {.size = sizeof o, .device = "cpu"};
    spvf_context_create(&co, &c);
    bool ok = spvf_plan_load(c, path, p->plan, strlen(p->plan), &plan) == SPVF_OK &&
              spvf_plan_run(plan, &o, NULL) == SPVF_OK;
    double t = cpu_time() - start;
    spvf_plan_destroy(plan);
    spvf_context_destroy(c);
    return ok ? t : -1;
}

/* The same many times over in one process, which has touched its memory and code before. */
static double run_ours_often(const problem *p, const char *bitcode) {
    double v[OFTEN];
    for (unsigned n = 0; n < OFTEN; n++)
        if ((v[n] = run_ours(p, bitcode)) < 0) return -1;
    return median(v, OFTEN);
}

/* ----------------------------------------------------------------------------------------- PoCL */

static double build_and_launch(const problem *p, cl_context c, cl_device_id d, file code) {
    cl_int error, status;
    const unsigned char *bytes = code.data;
    cl_command_queue q = clCreateCommandQueue(c, d, 0, &error);
    cl_program program = clCreateProgramWithBinary(c, 1, &d, &code.size, &bytes, &status, &error);
    if (error != CL_SUCCESS) return -1;
    double start = cpu_time();
    if (clBuildProgram(program, 1, &d, "-x spir -spir-std=1.2", NULL, NULL) != CL_SUCCESS)
        return -1;
    cl_kernel k = clCreateKernel(program, p->kernel, &error);
    if (error != CL_SUCCESS) return -1;
    for (cl_uint n = 0; n < p->buffers; n++) {
        cl_mem m = clCreateBuffer(c, CL_MEM_READ_WRITE, BYTES, NULL, &error);
        if (clSetKernelArg(k, n, sizeof m, &m) != CL_SUCCESS) return -1;
    }
    if (clEnqueueNDRangeKernel(q, k, p->dims, NULL, p->global, p->local, 0, NULL, NULL) !=
            CL_SUCCESS ||
        clFinish(q) != CL_SUCCESS)
        return -1;
    return cpu_time() - start;
}

static double run_peer(const problem *p, const char *bitcode) {
    char cache[TEMPORARY_NAME], command[TEMPORARY_NAME + 20];
    cl_platform_id platform;
    cl_device_id d;
    cl_int error;
    if (!temporary_folder(cache)) return -1;
    setenv("POCL_CACHE_DIR", cache, 1);
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &d, NULL) != CL_SUCCESS)
        return -1;
    cl_context c = clCreateContext(NULL, 1, &d, NULL, NULL, &error);
    double t = error == CL_SUCCESS ? build_and_launch(p, c, d, load("", bitcode)) : -1;
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    return system(command) == 0 ? t : -1;
}

/* -------------------------------------------------------------------------------------- samples */

typedef double way(const problem *p, const char *bitcode);

/* In a new process, microseconds; below 0: it failed. */
static double sample(way *run, const problem *p, const char *bitcode) {
    int ends[2];
    double t = -1;
    if (pipe(ends) != 0) return -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        t = run(p, bitcode);
        _exit(write(ends[1], &t, sizeof t) != sizeof t);
    }
    close(ends[1]);
    if (read(ends[0], &t, sizeof t) != sizeof t) t = -1;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return t;
}

static double median_of(way *run, const problem *p, const char *bitcode, unsigned n) {
    double v[OUR_SAMPLES];
    for (unsigned i = 0; i < n; i++)
        if ((v[i] = sample(run, p, bitcode)) < 0) return -1;
    return median(v, n);
}

/* The kernel that PoCL is given, the fused one where ours fuses. */
static bool make_bitcode(const problem *p, const char *spvfuse, char *path, size_t room) {
    char command[4000];
    bool fused = strstr(p->plan, "fuse ") != NULL;
    snprintf(path, room, "%s/%s.bc", folder, p->kernel);
    snprintf(command, sizeof command, "'%s' fuse '%s/%s.plan' -t spirv:1.0 -o '%s/fused.spv'",
             spvfuse, folder, p->kernel, folder);
    if (fused && system(command) != 0) return false;
    snprintf(command, sizeof command, "llvm-spirv-15 -r '%s/%s.spv' -o '%s'", folder,
             fused ? "fused" : p->kernel, path);
    return system(command) == 0;
}

static void write_plan(const problem *p) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.plan", folder, p->kernel);
    FILE *f = fopen(path, "w");
    if (f) fputs(p->plan, f), fclose(f);
}

static void bench_problem(const problem *p, const char *spvfuse, progress *shown) {
    char bitcode[1024];
    double first = median_of(run_ours, p, NULL, OUR_SAMPLES), peer = -1;
    double ours = sample(run_ours_often, p, NULL);
    if (make_bitcode(p, spvfuse, bitcode, sizeof bitcode))
        peer = median_of(run_peer, p, bitcode, PEER_SAMPLES);
    progress_clear(shown);
    printf("  %-18s %6.0f us, first %6.0f us", p->name, ours, first);
    if (peer > 0)
        printf("  PoCL %8.0f us  %6.0f x, first %6.0f x (asked: %.0f)", peer, peer / ours,
               peer / first, p->asked);
    putchar('\n');
    progress_step(shown);
}

/* ---------------------------------------------------------------------------------------- sizes */

/* Of a process that compiles and runs vadd, the first child of this one, in KiB. */
static long peak_memory(const char *spvfuse) {
    char path[1024];
    struct rusage r;
    int status;
    snprintf(path, sizeof path, "%s/vadd.plan", folder);
    pid_t child = fork();
    if (child == 0) _exit(execl(spvfuse, spvfuse, "run", path, (char *)NULL));
    if (waitpid(child, &status, 0) != child || status != 0) return 0;
    return getrusage(RUSAGE_CHILDREN, &r) == 0 ? r.ru_maxrss : 0;
}

static long stripped_size(const char *library) {
    char command[1000];
    struct stat st;
    snprintf(command, sizeof command, "strip -o '%s/stripped.so' '%s'", folder, library);
    if (system(command) != 0) return 0;
    snprintf(command, sizeof command, "%s/stripped.so", folder);
    return stat(command, &st) == 0 ? (long)st.st_size : 0;
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "usage: cold FOLDER SPVFUSE LIBRARY.so\n"), 2;
    folder = argv[1];
    for (int n = 0; n < PROBLEMS; n++) write_plan(&problems[n]);
    printf("peak memory of `spvfuse run vadd.plan`: %ld KiB; stripped library: %ld KiB\n",
           peak_memory(argv[2]), stripped_size(argv[3]) / 1024);
    printf("from SPIR-V to the first result, CPU time, medians of processes\n");
    progress p = progress_begin("kernels", PROBLEMS);
    for (int n = 0; n < PROBLEMS; n++) bench_problem(&problems[n], argv[2], &p);
    progress_end(&p);
    return 0;
}
