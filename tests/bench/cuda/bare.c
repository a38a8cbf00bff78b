/* bare.c — NVIDIA's driver without the library (host.h).  Source: CUDA Driver API. */
#include "tests/bench/cuda/host.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void *function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel, *context;
} kernel_node;

#define CALLS(X)                                                                                   \
    X(cuInit, (unsigned))                                                                          \
    X(cuDeviceGet, (int *, int))                                                                   \
    X(cuDeviceGetName, (char *, int, int))                                                         \
    X(cuDeviceGetAttribute, (int *, int, int))                                                     \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                    \
    X(cuCtxSetCurrent, (void *))                                                                   \
    X(cuStreamCreate, (void **, unsigned))                                                         \
    X(cuStreamSynchronize, (void *))                                                               \
    X(cuMemAlloc_v2, (uint64_t *, size_t))                                                         \
    X(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *))                              \
    X(cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *))                                    \
    X(cuMemcpyDtoDAsync_v2, (uint64_t, uint64_t, size_t, void *))                                  \
    X(cuModuleLoadData, (void **, const void *))                                                   \
    X(cuModuleGetFunction, (void **, void *, const char *))                                        \
    X(cuLinkCreate_v2, (unsigned, int *, void **, void **))                                        \
    X(cuLinkAddData_v2, (void *, int, void *, size_t, const char *, unsigned, int *, void **))     \
    X(cuLinkComplete, (void *, void **, size_t *))                                                 \
    X(cuLinkDestroy, (void *))                                                                     \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,         \
                       unsigned, void *, void **, void **))                                        \
    X(cuGraphCreate, (void **, unsigned))                                                          \
    X(cuGraphAddKernelNode_v2, (void **, void *, void *const *, size_t, const kernel_node *))      \
    X(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long))                          \
    X(cuGraphExecKernelNodeSetParams_v2, (void *, void *, const kernel_node *))                    \
    X(cuGraphLaunch, (void *, void *))                                                             \
    X(cuGetErrorString, (int, const char **))

static struct {
#define X(name, parameters) int(*name) parameters;
    CALLS(X)
#undef X
    int device;
    char name[100];
    void *context, *stream, *module, *function;
    struct {
        void *graph, *replay, *node[STEPS];
    } graphs[GRAPHS];
    unsigned graph; /* the one that is used */
} gpu;

static bool works(int error, const char *call) {
    const char *text = "";
    if (!error) return true;
    gpu.cuGetErrorString(error, &text);
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

bool bare_open(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), false;
    return find_calls(library) && WORKS(cuInit, 0) && WORKS(cuDeviceGet, &gpu.device, 0) &&
           WORKS(cuDeviceGetName, gpu.name, sizeof gpu.name, gpu.device) &&
           WORKS(cuDevicePrimaryCtxRetain, &gpu.context, gpu.device) &&
           WORKS(cuCtxSetCurrent, gpu.context) && WORKS(cuStreamCreate, &gpu.stream, 1);
}

const char *bare_name(void) { return gpu.name; }

unsigned bare_sm(void) {
    enum { MAJOR = 75, MINOR = 76 };
    int major = 0, minor = 0;
    WORKS(cuDeviceGetAttribute, &major, MAJOR, gpu.device);
    WORKS(cuDeviceGetAttribute, &minor, MINOR, gpu.device);
    return (unsigned)(major * 10 + minor);
}

bool bare_load(const void *image, const char *kernel) {
    return WORKS(cuModuleLoadData, &gpu.module, image) &&
           WORKS(cuModuleGetFunction, &gpu.function, gpu.module, kernel);
}

uint64_t bare_allocate(size_t bytes) {
    uint64_t at = 0;
    WORKS(cuMemAlloc_v2, &at, bytes);
    return at;
}

bool bare_wait(void) { return WORKS(cuStreamSynchronize, gpu.stream); }

bool bare_begin_read(void *to, uint64_t from, size_t bytes) {
    return WORKS(cuMemcpyDtoHAsync_v2, to, from, bytes, gpu.stream);
}

bool bare_read(void *to, uint64_t from, size_t bytes) {
    return bare_begin_read(to, from, bytes) && bare_wait();
}

bool bare_write(uint64_t to, const void *from, size_t bytes) {
    return WORKS(cuMemcpyHtoDAsync_v2, to, from, bytes, gpu.stream);
}

bool bare_copy(uint64_t to, uint64_t from, size_t bytes) {
    return WORKS(cuMemcpyDtoDAsync_v2, to, from, bytes, gpu.stream);
}

bool bare_saxpy(const uint64_t buffers[3], float a, unsigned items) {
    uint64_t b[3] = {buffers[0], buffers[1], buffers[2]}, offset = 0;
    void *params[] = {&b[0], &b[1], &a, &b[2], &offset, &offset, &offset};
    return WORKS(cuLaunchKernel, gpu.function, items / 256, 1, 1, 256, 1, 1, 0, gpu.stream, params,
                 NULL);
}

bool bare_add(const add_arguments *a) {
    add_arguments own = *a;
    uint64_t offset = 0;
    void *params[] = {&own.out, &own.in, &own.k, &offset, &offset, &offset};
    return WORKS(cuLaunchKernel, gpu.function, 1, 1, 1, ADD_ITEMS, 1, 1, 0, gpu.stream, params,
                 NULL);
}

/* The driver copies what the node leads to. */
typedef struct {
    add_arguments own;
    uint64_t offset;
    void *params[6];
    kernel_node node;
} described;

static const kernel_node *describe(described *d, const add_arguments *a) {
    *d = (described){.own = *a};
    void *params[] = {&d->own.out, &d->own.in, &d->own.k, &d->offset, &d->offset, &d->offset};
    memcpy(d->params, params, sizeof params);
    d->node = (kernel_node){.function = gpu.function,
                            .grid = {1, 1, 1},
                            .block = {ADD_ITEMS, 1, 1},
                            .params = d->params};
    return &d->node;
}

void bare_take_graph(unsigned n) { gpu.graph = n; }

bool bare_make_graph(unsigned n, const add_arguments steps[STEPS]) {
    void **node = gpu.graphs[n].node, **graph = &gpu.graphs[n].graph;
    bare_take_graph(n);
    bool ok = WORKS(cuGraphCreate, graph, 0);
    for (unsigned k = 0; ok && k < STEPS; k++) {
        described d;
        ok = WORKS(cuGraphAddKernelNode_v2, &node[k], *graph, k ? &node[k - 1] : NULL, k != 0,
                   describe(&d, &steps[k]));
    }
    return ok && WORKS(cuGraphInstantiateWithFlags, &gpu.graphs[n].replay, *graph, 0);
}

bool bare_change(unsigned step, const add_arguments *a) {
    described d;
    return WORKS(cuGraphExecKernelNodeSetParams_v2, gpu.graphs[gpu.graph].replay,
                 gpu.graphs[gpu.graph].node[step], describe(&d, a));
}

bool bare_make_current(void) { return WORKS(cuCtxSetCurrent, gpu.context); }

bool bare_replay(void) { return WORKS(cuGraphLaunch, gpu.graphs[gpu.graph].replay, gpu.stream); }

void *bare_compile(const char *ptx, size_t *size) {
    enum { IS_PTX = 1 };
    void *link = NULL, *code = NULL, *copy = NULL;
    if (!WORKS(cuLinkCreate_v2, 0, NULL, NULL, &link)) return NULL;
    if (WORKS(cuLinkAddData_v2, link, IS_PTX, (void *)(uintptr_t)ptx, strlen(ptx) + 1, "add", 0,
              NULL, NULL) &&
        WORKS(cuLinkComplete, link, &code, size) && (copy = malloc(*size)))
        memcpy(copy, code, *size);
    WORKS(cuLinkDestroy, link);
    return copy;
}
