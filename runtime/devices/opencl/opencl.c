/* opencl.c — the device `opencl`: any OpenCL implementation that takes SPIR-V, through the ICD
 * loader.
 *
 * The loader is opened when the device is, so nothing of OpenCL is needed to load the library.  An
 * implementation that takes no SPIR-V but has cl_khr_spir (PoCL 3) gets the module through
 * `llvm-spirv -r`, when that program is installed; devices say which way they take.
 *
 * Everything is enqueued in order and waited for: this device is for results, not for speed.
 */
#include "runtime/api/runtime.h"

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <pthread.h>

/* The calls that are used: the loader's names and types. */
/* clang-format off */
#define CL_CALLS(X)                                                                                \
    X(clGetPlatformIDs) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext)                    \
    X(clReleaseContext) X(clCreateCommandQueue) X(clReleaseCommandQueue) X(clCreateBuffer)         \
    X(clReleaseMemObject) X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer)                           \
    X(clCreateProgramWithIL)                                                                       \
    X(clCreateProgramWithBinary) X(clBuildProgram) X(clGetProgramBuildInfo) X(clReleaseProgram)    \
    X(clCreateKernel) X(clReleaseKernel) X(clSetKernelArg) X(clEnqueueNDRangeKernel) X(clFinish)
/* clang-format on */

typedef struct {
#define X(name) cl_api_##name name;
    CL_CALLS(X)
#undef X
} cl_calls;

enum { MAX_DEVICES = 64 };

/* How a device takes a module. */
typedef enum { TAKES_NOTHING, TAKES_SPIRV, TAKES_SPIR } intake;

struct rt_memory {
    cl_mem mem;
    rt_memory *next;
};

struct rt_program {
    cl_program program;
    rt_program *next;
};

typedef struct {
    rt_device base;
    ir_arena arena;
    cl_calls cl;
    cl_device_id device;
    intake takes;
    unsigned version;      /* newest SPIR-V that it takes */
    cl_uint address_bits;  /* of its pointers */
    cl_ulong local_memory; /* bytes for one work-group */
    cl_context context;
    cl_command_queue queue;
    rt_memory *memories;
    rt_program *programs;
    cl_kernel kernel; /* being launched; a launch that fails leaves it to close_device */
    const char *name; /* of that kernel, for messages; NULL: none */
} opencl;

/* --------------------------------------------------------------------------------------- loader */

/* Opened once per process and never closed: implementations behind the loader start threads and
 * hooks of their own and do not survive dlclose. */
static struct {
    pthread_once_t once;
    bool there;
    cl_calls calls;
} loader = {.once = PTHREAD_ONCE_INIT};

static void open_loader(void) {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    bool whole = true;
    /* ISO C has no cast from object to function pointers; POSIX says that this is how. */
#define X(name)                                                                                    \
    *(void **)(void *)&loader.calls.name = dlsym(library, #name);                                  \
    whole &= loader.calls.name != NULL;
    CL_CALLS(X)
#undef X
    loader.there = whole;
}

static bool find_loader(cl_calls *cl) {
    pthread_once(&loader.once, open_loader);
    *cl = loader.calls;
    return loader.there;
}

static unsigned find_devices(const cl_calls *cl, cl_device_id out[MAX_DEVICES]) {
    cl_platform_id platforms[16];
    cl_uint np = 0, n = 0;
    if (cl->clGetPlatformIDs(16, platforms, &np) != CL_SUCCESS) return 0;
    for (cl_uint p = 0; p < np && p < 16 && n < MAX_DEVICES; p++) {
        cl_uint got = 0;
        if (cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES - n, out + n, &got) ==
            CL_SUCCESS)
            n += got < MAX_DEVICES - n ? got : MAX_DEVICES - n;
    }
    return n;
}

static const char *device_string(const cl_calls *cl, cl_device_id d, cl_device_info what,
                                 ir_arena *a) {
    size_t size = 0;
    if (cl->clGetDeviceInfo(d, what, 0, NULL, &size) != CL_SUCCESS) return "";
    char *s = ir_alloc(a, size + 1);
    return cl->clGetDeviceInfo(d, what, size, s, NULL) == CL_SUCCESS ? s : "";
}

enum { SPIRV_1_2 = 0x00010200 };

/* Newest of "SPIR-V_1.0 SPIR-V_1.2 …" as a version word; 0: none. */
static unsigned newest_spirv(const char *versions) {
    unsigned best = 0;
    for (const char *s = versions; (s = strstr(s, "SPIR-V_1.")) != NULL; s += 9) {
        if (s[9] < '0' || s[9] > '9') continue;
        unsigned version = 0x00010000u + ((unsigned)(s[9] - '0') << 8);
        if (version > best) best = version;
    }
    return best;
}

static const char *find_translator(ir_arena *a) {
    static const char *const names[] = {"llvm-spirv-15", "llvm-spirv", "llvm-spirv-14"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = rt_find_program(a, names[i]);
        if (path) return path;
    }
    return NULL;
}

static intake how_it_takes(const cl_calls *cl, cl_device_id d, ir_arena *a, unsigned *version) {
    *version = newest_spirv(device_string(cl, d, CL_DEVICE_IL_VERSION, a));
    if (*version) return TAKES_SPIRV;
    bool spir = strstr(device_string(cl, d, CL_DEVICE_EXTENSIONS, a), "cl_khr_spir") != NULL;
    *version = 0x00010100;
    return spir && find_translator(a) ? TAKES_SPIR : TAKES_NOTHING;
}

/* --------------------------------------------------------------------------------------- errors */

IR_NORETURN static void give_up(opencl *o, const char *call, cl_int error) {
    const char *kernel = o->name ? o->name : "";
    rt_throw(o->base.context, IR_ERR_DEVICE, "opencl: %s%s%s%s failed with error %d",
             o->name ? "kernel '" : "", kernel, o->name ? "': " : "", call, (int)error);
}

static void must(opencl *o, const char *call, cl_int error) {
    if (error != CL_SUCCESS) give_up(o, call, error);
}

/* --------------------------------------------------------------------------------------- memory */

static rt_memory *allocate(rt_device *d, const char *name, uint64_t bytes, const void *data) {
    opencl *o = (opencl *)d;
    cl_int error;
    rt_memory *m = ir_new(&o->arena, rt_memory);
    cl_mem_flags flags = CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0);
    (void)name;
    m->mem = o->cl.clCreateBuffer(o->context, flags, bytes, (void *)(uintptr_t)data, &error);
    must(o, "clCreateBuffer", error);
    m->next = o->memories;
    o->memories = m;
    return m;
}

static void read_memory(rt_device *d, rt_memory *m, uint64_t offset, void *to, uint64_t bytes) {
    opencl *o = (opencl *)d;
    must(o, "clEnqueueReadBuffer",
         o->cl.clEnqueueReadBuffer(o->queue, m->mem, CL_TRUE, offset, bytes, to, 0, NULL, NULL));
}

static void write_memory(rt_device *d, rt_memory *m, uint64_t offset, const void *from,
                         uint64_t bytes) {
    opencl *o = (opencl *)d;
    must(o, "clEnqueueWriteBuffer",
         o->cl.clEnqueueWriteBuffer(o->queue, m->mem, CL_TRUE, offset, bytes, from, 0, NULL, NULL));
}

/* ------------------------------------------------------------------------------------- programs */

static char *build_log(opencl *o, cl_program p) {
    size_t size = 0;
    o->cl.clGetProgramBuildInfo(p, o->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *text = ir_alloc(&o->arena, size + 1);
    o->cl.clGetProgramBuildInfo(p, o->device, CL_PROGRAM_BUILD_LOG, size, text, NULL);
    return text;
}

static void check_build(opencl *o, cl_program p, cl_int error) {
    if (error == CL_SUCCESS) return;
    rt_throw(o->base.context, IR_ERR_DEVICE, "opencl: clBuildProgram failed with error %d: %s",
             (int)error, build_log(o, p));
}

/* Implementations do not look at this, and crash. */
static void check_pointers(const opencl *o, const ir_module *m) {
    if (m->pointer_bits != o->address_bits)
        rt_throw(o->base.context, IR_ERR_DEVICE,
                 "opencl: '%s' has pointers of %u bits, the device of %u", m->name, m->pointer_bits,
                 (unsigned)o->address_bits);
}

static cl_program create_from_spirv(opencl *o, const uint32_t *words, size_t bytes, cl_int *error) {
    return o->cl.clCreateProgramWithIL(o->context, words, bytes, error);
}

static cl_program create_from_spir(opencl *o, const uint32_t *words, size_t bytes, cl_int *error) {
    size_t size;
    char *bitcode =
        rt_filter(o->base.context, &o->arena, find_translator(&o->arena), words, bytes, &size);
    const unsigned char *binary = (const unsigned char *)bitcode;
    cl_int status;
    return o->cl.clCreateProgramWithBinary(o->context, 1, &o->device, &size, &binary, &status,
                                           error);
}

static rt_program *build(rt_device *d, const ir_module *m) {
    opencl *o = (opencl *)d;
    check_pointers(o, m);
    /* 0: what the module needs, 1.2 or more. */
    cg_spirv_options options = {.version = o->version > SPIRV_1_2 ? 0 : o->version};
    uint32_t *words;
    size_t count;
    cl_int error;
    if (!cg_spirv_write(m, &options, &o->arena, &words, &count))
        ir_throw(&d->context->cx, d->context->cx.status);
    rt_program *p = ir_new(&o->arena, rt_program);
    bool spir = o->takes == TAKES_SPIR;
    p->program = (spir ? create_from_spir : create_from_spirv)(o, words, count * 4, &error);
    must(o, spir ? "clCreateProgramWithBinary" : "clCreateProgramWithIL", error);
    p->next = o->programs;
    o->programs = p;
    const char *how = spir ? "-x spir -spir-std=1.2" : "";
    check_build(o, p->program, o->cl.clBuildProgram(p->program, 1, &o->device, how, NULL, NULL));
    return p;
}

static void check_local(const opencl *o, const rt_arg *args, size_t count) {
    uint64_t left = o->local_memory;
    for (size_t i = 0; i < count; i++) {
        if (args[i].buffer || args[i].bytes) continue;
        if (args[i].size > left)
            rt_throw(o->base.context, IR_ERR_DEVICE,
                     "opencl: kernel '%s': argument %zu has more local memory than the device, "
                     "which has %llu bytes for a work-group",
                     o->name, i, (unsigned long long)o->local_memory);
        left -= args[i].size;
    }
}

static void set_args(opencl *o, cl_kernel k, const rt_arg *args, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const rt_arg *a = &args[i];
        const void *value = a->buffer ? (const void *)&a->buffer->mem : a->bytes;
        size_t size = a->buffer ? sizeof(cl_mem) : a->size;
        must(o, "clSetKernelArg", o->cl.clSetKernelArg(k, (cl_uint)i, size, value));
    }
}

static void release_kernel(opencl *o) {
    if (o->kernel) o->cl.clReleaseKernel(o->kernel);
    o->kernel = NULL;
    o->name = NULL;
}

static void launch(rt_device *d, rt_program *p, const char *kernel, const spvf_range *r,
                   const rt_arg *args, size_t count) {
    opencl *o = (opencl *)d;
    cl_int error;
    size_t global[3], local[3], offset[3];
    for (int i = 0; i < 3; i++) {
        global[i] = r->global[i];
        local[i] = r->local[i];
        offset[i] = r->offset[i];
    }
    o->name = kernel;
    check_local(o, args, count);
    o->kernel = o->cl.clCreateKernel(p->program, kernel, &error);
    must(o, "clCreateKernel", error);
    set_args(o, o->kernel, args, count);
    error = o->cl.clEnqueueNDRangeKernel(o->queue, o->kernel, r->dims, offset, global,
                                         local[0] ? local : NULL, 0, NULL, NULL);
    must(o, "clEnqueueNDRangeKernel", error);
    must(o, "clFinish", o->cl.clFinish(o->queue));
    release_kernel(o);
}

/* ----------------------------------------------------------------------------- opening, closing */

static void close_device(rt_device *d) {
    opencl *o = (opencl *)d;
    release_kernel(o);
    for (rt_memory *m = o->memories; m; m = m->next) o->cl.clReleaseMemObject(m->mem);
    for (rt_program *p = o->programs; p; p = p->next) o->cl.clReleaseProgram(p->program);
    if (o->queue) o->cl.clReleaseCommandQueue(o->queue);
    if (o->context) o->cl.clReleaseContext(o->context);
    ir_arena arena = o->arena;
    ir_arena_free(&arena);
}

static opencl *make_device(spvf_context *context) {
    ir_arena arena;
    ir_arena_init(&arena, &context->cx);
    opencl *o = ir_new(&arena, opencl);
    o->arena = arena;
    o->base = (rt_device){.context = context,
                          .close = close_device,
                          .allocate = allocate,
                          .read = read_memory,
                          .write = write_memory,
                          .build = build,
                          .launch = launch};
    return o;
}

static cl_int ask_device(opencl *o) {
    cl_int error = o->cl.clGetDeviceInfo(o->device, CL_DEVICE_ADDRESS_BITS, sizeof o->address_bits,
                                         &o->address_bits, NULL);
    if (error != CL_SUCCESS) return error;
    return o->cl.clGetDeviceInfo(o->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof o->local_memory,
                                 &o->local_memory, NULL);
}

typedef struct {
    opencl *o;
    unsigned index;
} open_job;

static void open_device(void *arg) {
    open_job *j = arg;
    opencl *o = j->o;
    cl_device_id devices[MAX_DEVICES];
    cl_int error;
    if (!find_loader(&o->cl))
        rt_throw(o->base.context, IR_ERR_DEVICE, "opencl: no OpenCL loader (libOpenCL.so.1)");
    if (j->index >= find_devices(&o->cl, devices))
        rt_throw(o->base.context, IR_ERR_DEVICE, "opencl: there is no device %u", j->index);
    o->device = devices[j->index];
    o->takes = how_it_takes(&o->cl, o->device, &o->arena, &o->version);
    if (o->takes == TAKES_NOTHING)
        rt_throw(o->base.context, IR_ERR_DEVICE,
                 "opencl: device %u takes no SPIR-V, and llvm-spirv is not installed", j->index);
    must(o, "clGetDeviceInfo", ask_device(o));
    o->context = o->cl.clCreateContext(NULL, 1, &o->device, NULL, NULL, &error);
    must(o, "clCreateContext", error);
    o->queue = o->cl.clCreateCommandQueue(o->context, o->device, 0, &error);
    must(o, "clCreateCommandQueue", error);
}

rt_device *rt_opencl_open(spvf_context *context, unsigned index) {
    open_job j = {make_device(context), index};
    if (!ir_try(&context->cx, open_device, &j)) {
        ir_status status = context->cx.status;
        close_device(&j.o->base);
        ir_throw(&context->cx, status);
    }
    return &j.o->base;
}

static void list_one(const cl_calls *cl, cl_device_id d, unsigned index, ir_arena *a,
                     spvf_device_info *info) {
    unsigned version;
    intake takes = how_it_takes(cl, d, a, &version);
    info->name = ir_sprintf(a, "opencl:%u", index);
    info->description = ir_sprintf(a, "%s%s", device_string(cl, d, CL_DEVICE_NAME, a),
                                   takes == TAKES_SPIR ? ", through llvm-spirv" : "");
    info->takes_spirv = takes == TAKES_SPIRV;
    info->usable = takes != TAKES_NOTHING;
    info->why_not = info->usable ? NULL : "it takes no SPIR-V, and llvm-spirv is not installed";
}

typedef struct {
    ir_arena arena;
    void (*each)(void *user, const spvf_device_info *info);
    void *user;
} list_job;

static void list_devices(void *arg) {
    list_job *j = arg;
    cl_calls cl;
    cl_device_id devices[MAX_DEVICES];
    if (!find_loader(&cl)) return;
    unsigned n = find_devices(&cl, devices);
    for (unsigned i = 0; i < n; i++) {
        spvf_device_info info;
        list_one(&cl, devices[i], i, &j->arena, &info);
        j->each(j->user, &info);
    }
}

void rt_opencl_list(spvf_context *context, void (*each)(void *user, const spvf_device_info *info),
                    void *user) {
    list_job j = {.each = each, .user = user};
    ir_arena_init(&j.arena, &context->cx);
    bool ok = ir_try(&context->cx, list_devices, &j);
    ir_arena_free(&j.arena);
    if (!ok) ir_throw(&context->cx, context->cx.status);
}
