/* device.c — an OpenCL implementation that is loaded by the name of its library, and the launch of
 * a benchmark on it.
 *
 * Both implementations are in one process, so their launches can alternate.  The loader's functions
 * call the implementation that an object belongs to, so only the platform is asked from the library
 * itself.
 */
#include "tests/bench/simd/simd.h"
#include "tests/file.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef CL_API_ENTRY void *(CL_API_CALL *find_entry_fn)(const char *);
typedef CL_API_ENTRY cl_int(CL_API_CALL *get_platforms_fn)(cl_uint, cl_platform_id *, cl_uint *);

static cl_platform_id load_platform(const char *library) {
    find_entry_fn find = NULL;
    get_platforms_fn get = NULL;
    cl_platform_id platform = NULL;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL), *entry;
    if (!handle) return fprintf(stderr, "%s\n", dlerror()), NULL;
    entry = dlsym(handle, "clGetExtensionFunctionAddress");
    memcpy(&find, &entry, sizeof entry); /* ISO C has no cast */
    if (find) entry = find("clIcdGetPlatformIDsKHR");
    memcpy(&get, &entry, sizeof entry);
    return get && get(1, &platform, NULL) == CL_SUCCESS ? platform : NULL;
}

static void find_recorder(implementation *d, cl_platform_id platform) {
    static const char *const names[] = {"clCreateCommandBufferKHR", "clCommandNDRangeKernelKHR",
                                        "clFinalizeCommandBufferKHR", "clEnqueueCommandBufferKHR",
                                        "clReleaseCommandBufferKHR"};
    void *entry[5];
    for (unsigned k = 0; k < 5; k++)
        entry[k] = clGetExtensionFunctionAddressForPlatform(platform, names[k]);
    memcpy(&d->create, &entry[0], sizeof *entry);
    memcpy(&d->record, &entry[1], sizeof *entry);
    memcpy(&d->finalize, &entry[2], sizeof *entry);
    memcpy(&d->enqueue, &entry[3], sizeof *entry);
    memcpy(&d->release, &entry[4], sizeof *entry);
}

static bool can_fuse(cl_device_id device) {
    char extensions[8192] = "";
    clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL);
    return strstr(extensions, "cl_spvf_command_buffer_fusion");
}

bool open_implementation(implementation *d, const char *library) {
    cl_int error;
    cl_platform_id platform = load_platform(library);
    *d = (implementation){0};
    if (!platform ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &d->device, NULL) != CL_SUCCESS)
        return false;
    if (can_fuse(d->device)) find_recorder(d, platform);
    d->context = clCreateContext(NULL, 1, &d->device, NULL, NULL, &error);
    if (error == CL_SUCCESS) d->queue = clCreateCommandQueue(d->context, d->device, 0, &error);
    return error == CL_SUCCESS;
}

static void show_log(cl_program p, cl_device_id device) {
    char log[4000] = "";
    clGetProgramBuildInfo(p, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    fprintf(stderr, "%s\n", log);
}

cl_program build_program(const implementation *d, const char *path, bool is_spirv) {
    cl_int error;
    size_t size;
    char *text = read_file(path, &size);
    const char *source = text;
    if (!text) return fprintf(stderr, "%s cannot be read\n", path), NULL;
    cl_program p = is_spirv ? clCreateProgramWithIL(d->context, text, size, &error)
                            : clCreateProgramWithSource(d->context, 1, &source, &size, &error);
    free(text);
    if (!p || clBuildProgram(p, 1, &d->device, "", NULL, NULL) == CL_SUCCESS) return p;
    show_log(p, d->device);
    clReleaseProgram(p);
    return NULL;
}

/* ------------------------------------------------------------------------------------- launches */

static bool make_buffers(launch *l, const problem *p) {
    cl_int error = CL_SUCCESS;
    for (unsigned k = 0; k < p->n; k++) {
        const argument *a = &p->argument[k];
        if (a->is_value || !a->data) continue;
        l->buffer[k] = clCreateBuffer(l->on->context, CL_MEM_COPY_HOST_PTR,
                                      a->count * element_size(a->type), a->data, &error);
        if (error != CL_SUCCESS) return false;
    }
    return true;
}

static cl_int set_argument(const launch *l, cl_kernel kernel, const problem *p, unsigned k,
                           unsigned to) {
    const argument *a = &p->argument[k];
    size_t bytes = a->count * element_size(a->type);
    if (l->buffer[k]) return clSetKernelArg(kernel, to, sizeof(cl_mem), &l->buffer[k]);
    return clSetKernelArg(kernel, to, bytes, a->data);
}

static bool make_kernels(launch *l, cl_program program, const benchmark *b, const problem *p) {
    char name[100];
    cl_int error = CL_SUCCESS;
    l->kernels = b->steps ? b->steps : 1;
    for (unsigned s = 0; s < l->kernels && error == CL_SUCCESS; s++) {
        snprintf(name, sizeof name, b->steps ? "%s%u" : "%s", b->kernel, s);
        l->kernel[s] = clCreateKernel(program, name, &error);
        unsigned first = b->steps ? s : 0, n = b->steps ? 2 : p->n;
        for (unsigned k = 0; k < n && error == CL_SUCCESS; k++)
            error = set_argument(l, l->kernel[s], p, first + k, k);
    }
    return error == CL_SUCCESS;
}

static const size_t *local_size(const launch *l) { return l->local[0] ? l->local : NULL; }

/* A chain as one command.  What its kernels only pass on to the next one is released, so the
 * implementation may keep it in registers. */
static bool record_chain(launch *l) {
    cl_int error;
    l->commands = l->on->create(1, &l->on->queue, NULL, &error);
    for (unsigned s = 0; s < l->kernels && error == CL_SUCCESS; s++)
        error = l->on->record(l->commands, NULL, NULL, l->kernel[s], l->dims, NULL, l->global,
                              local_size(l), 0, NULL, NULL, NULL);
    for (unsigned k = 1; k < l->kernels; k++) {
        clReleaseMemObject(l->buffer[k]);
        l->buffer[k] = NULL;
    }
    return error == CL_SUCCESS && l->on->finalize(l->commands) == CL_SUCCESS;
}

bool prepare_launch(launch *l, const implementation *d, cl_program program, const benchmark *b,
                    const problem *p) {
    *l = (launch){.on = d, .dims = p->items[1] > 1 ? 2 : 1};
    for (unsigned k = 0; k < 2; k++) {
        l->local[k] = p->local[k];
        size_t unit = p->local[k] ? p->local[k] : 1;
        l->global[k] = (p->items[k] + unit - 1) / unit * unit;
    }
    return program && make_buffers(l, p) && make_kernels(l, program, b, p) &&
           (!b->steps || !d->create || record_chain(l));
}

bool run_launch(const launch *l) {
    cl_int error = CL_SUCCESS;
    if (l->commands) return l->on->enqueue(0, NULL, l->commands, 0, NULL, NULL) == CL_SUCCESS;
    for (unsigned s = 0; s < l->kernels && error == CL_SUCCESS; s++)
        error = clEnqueueNDRangeKernel(l->on->queue, l->kernel[s], l->dims, NULL, l->global,
                                       local_size(l), 0, NULL, NULL);
    return error == CL_SUCCESS;
}

bool read_results(const launch *l, const problem *p, host_arguments *to) {
    cl_int error = CL_SUCCESS;
    for (unsigned k = 0; k < p->n && error == CL_SUCCESS; k++) {
        const argument *a = &p->argument[k];
        if (a->is_result)
            error = clEnqueueReadBuffer(l->on->queue, l->buffer[k], CL_TRUE, 0,
                                        a->count * element_size(a->type), to->at[k], 0, NULL, NULL);
    }
    return error == CL_SUCCESS;
}

static double cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double time_item(const launch *l, const problem *p) {
    enum { REPEATS = 8 };
    run_launch(l);
    clFinish(l->on->queue);
    double start = cpu_time();
    for (unsigned n = 0; n < REPEATS; n++) run_launch(l);
    clFinish(l->on->queue);
    return (cpu_time() - start) / (double)REPEATS / (double)p->work;
}

void free_launch(launch *l) {
    if (l->commands) l->on->release(l->commands);
    for (unsigned s = 0; s < MOST_STEPS; s++)
        if (l->kernel[s]) clReleaseKernel(l->kernel[s]);
    for (unsigned k = 0; k < MOST_ARGUMENTS; k++)
        if (l->buffer[k]) clReleaseMemObject(l->buffer[k]);
    *l = (launch){0};
}
