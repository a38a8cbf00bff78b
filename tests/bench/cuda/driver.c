/* driver.c — NVIDIA's driver, by its library: one device, its primary context, its default stream.
 * Source: CUDA Driver API.
 */
#include "tests/bench/cuda/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS(X)                                                                                   \
    X(cuInit, (unsigned))                                                                          \
    X(cuDeviceGet, (int *, int))                                                                   \
    X(cuDeviceGetName, (char *, int, int))                                                         \
    X(cuDeviceGetAttribute, (int *, int, int))                                                     \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                    \
    X(cuCtxSetCurrent, (void *))                                                                   \
    X(cuCtxSynchronize, (void))                                                                    \
    X(cuMemAlloc_v2, (gpu_address *, size_t))                                                      \
    X(cuMemFree_v2, (gpu_address))                                                                 \
    X(cuMemcpyHtoD_v2, (gpu_address, const void *, size_t))                                        \
    X(cuMemcpyDtoH_v2, (void *, gpu_address, size_t))                                              \
    X(cuMemcpyDtoDAsync_v2, (gpu_address, gpu_address, size_t, void *))                            \
    X(cuModuleLoadDataEx, (gpu_module **, const void *, unsigned, int *, void **))                 \
    X(cuModuleUnload, (gpu_module *))                                                              \
    X(cuModuleGetFunction, (gpu_function **, gpu_module *, const char *))                          \
    X(cuFuncGetAttribute, (int *, int, gpu_function *))                                            \
    X(cuLaunchKernel, (gpu_function *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                       unsigned, void *, void **, void **))                                        \
    X(cuEventCreate, (gpu_event **, unsigned))                                                     \
    X(cuEventRecord, (gpu_event *, void *))                                                        \
    X(cuEventSynchronize, (gpu_event *))                                                           \
    X(cuEventElapsedTime, (float *, gpu_event *, gpu_event *))                                     \
    X(cuGetErrorString, (int, const char **))

static struct {
#define X(name, parameters) int(*name) parameters;
    CALLS(X)
#undef X
    int device;
    gpu_event *begin, *end;
    char name[100];
} gpu;

static bool works(int error, const char *call) {
    const char *text = "";
    if (!error) return true;
    if (gpu.cuGetErrorString) gpu.cuGetErrorString(error, &text);
    fprintf(stderr, "%s: error %d, %s\n", call, error, text ? text : "");
    return false;
}
#define WORKS(call, ...) works(gpu.call(__VA_ARGS__), #call)

static bool find_calls(void *library) {
    void *entry;
#define X(name, parameters)                                                                        \
    entry = dlsym(library, #name);                                                                 \
    memcpy(&gpu.name, &entry, sizeof entry); /* ISO C has no cast */                               \
    if (!entry) return fprintf(stderr, "libcuda.so.1 has no %s\n", #name), false;
    CALLS(X)
#undef X
    return true;
}

bool gpu_open(void) {
    void *context, *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), false;
    return find_calls(library) && WORKS(cuInit, 0) && WORKS(cuDeviceGet, &gpu.device, 0) &&
           WORKS(cuDeviceGetName, gpu.name, sizeof gpu.name, gpu.device) &&
           WORKS(cuDevicePrimaryCtxRetain, &context, gpu.device) &&
           WORKS(cuCtxSetCurrent, context) && WORKS(cuEventCreate, &gpu.begin, 0) &&
           WORKS(cuEventCreate, &gpu.end, 0);
}

static int attribute(int which) {
    int value = 0;
    WORKS(cuDeviceGetAttribute, &value, which, gpu.device);
    return value;
}

const char *gpu_name(void) { return gpu.name; }
unsigned gpu_sm(void) {
    enum { MAJOR = 75, MINOR = 76 };
    return (unsigned)(attribute(MAJOR) * 10 + attribute(MINOR));
}
unsigned gpu_processors(void) {
    enum { MULTIPROCESSORS = 16 };
    return (unsigned)attribute(MULTIPROCESSORS);
}
size_t gpu_cache(void) {
    enum { L2_BYTES = 38 };
    return (size_t)attribute(L2_BYTES);
}

/* ----------------------------------------------------------------------------------------- memory */

gpu_address gpu_allocate(size_t bytes) {
    gpu_address a = 0;
    return WORKS(cuMemAlloc_v2, &a, bytes) ? a : 0;
}
void gpu_release(gpu_address a) { WORKS(cuMemFree_v2, a); }
bool gpu_write(gpu_address to, const void *from, size_t bytes) {
    return WORKS(cuMemcpyHtoD_v2, to, from, bytes);
}
bool gpu_read(void *to, gpu_address from, size_t bytes) {
    return WORKS(cuMemcpyDtoH_v2, to, from, bytes);
}
bool gpu_copy(gpu_address to, gpu_address from, size_t bytes) {
    return WORKS(cuMemcpyDtoDAsync_v2, to, from, bytes, NULL);
}

/* ----------------------------------------------------------------------------------------- kernels */

gpu_module *gpu_load(const void *image) {
    enum { ERROR_LOG = 5, ERROR_LOG_SIZE = 6 };
    char log[4000] = "";
    int option[2] = {ERROR_LOG, ERROR_LOG_SIZE};
    void *value[2] = {log, (void *)(uintptr_t)sizeof log};
    gpu_module *m = NULL;
    if (!WORKS(cuModuleLoadDataEx, &m, image, 2, option, value)) fprintf(stderr, "%s\n", log);
    return m;
}
void gpu_unload(gpu_module *m) {
    if (m) WORKS(cuModuleUnload, m);
}

gpu_function *gpu_find(gpu_module *m, const char *name) {
    gpu_function *f = NULL;
    if (gpu.cuModuleGetFunction(&f, m, name)) fprintf(stderr, "no kernel %s\n", name);
    return f;
}

void gpu_describe(gpu_function *f, int *registers, int *spilled) {
    enum { LOCAL_BYTES = 3, REGISTERS = 4 };
    WORKS(cuFuncGetAttribute, registers, REGISTERS, f);
    WORKS(cuFuncGetAttribute, spilled, LOCAL_BYTES, f);
}

bool gpu_launch(gpu_function *f, const unsigned grid[2], const unsigned block[2], unsigned shared,
                void **parameters) {
    return WORKS(cuLaunchKernel, f, grid[0], grid[1], 1, block[0], block[1], 1, shared, NULL,
                 parameters, NULL);
}

bool gpu_wait(void) { return works(gpu.cuCtxSynchronize(), "cuCtxSynchronize"); }

void gpu_begin_time(void) { WORKS(cuEventRecord, gpu.begin, NULL); }

double gpu_end_time(void) {
    float milliseconds = 0;
    WORKS(cuEventRecord, gpu.end, NULL);
    WORKS(cuEventSynchronize, gpu.end);
    WORKS(cuEventElapsedTime, &milliseconds, gpu.begin, gpu.end);
    return (double)milliseconds * 1e3;
}
