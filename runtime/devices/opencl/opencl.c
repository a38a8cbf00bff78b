/* opencl.c — the device `opencl`: any OpenCL implementation that takes SPIR-V, through the ICD
 * loader.
 *
 * The loader is opened when the device is, so nothing of OpenCL is needed to load the library.
 * Devices say whether they take SPIR-V, or need a translator (memory.c).
 */
#include "runtime/devices/opencl/opencl.h"

#include "runtime/system/process.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

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

const char *opencl_find_translator(ir_arena *a) {
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
    return spir && opencl_find_translator(a) ? TAKES_SPIR : TAKES_NOTHING;
}

/* ----------------------------------------------------------------------------- opening, closing */

static void close_device(rt_device *d) {
    opencl *o = (opencl *)d;
    while (o->programs) opencl_discard(d, (rt_program *)o->programs);
    while (o->memories) opencl_release(d, (rt_memory *)o->memories);
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
    o->base = (rt_device){.driver = &rt_opencl_driver, .context = context};
    return o;
}

static cl_int ask_device(opencl *o) {
    cl_int error = o->cl.clGetDeviceInfo(o->device, CL_DEVICE_ADDRESS_BITS, sizeof o->address_bits,
                                         &o->address_bits, NULL);
    if (error != CL_SUCCESS) return error;
    return o->cl.clGetDeviceInfo(o->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof o->local_memory,
                                 &o->local_memory, NULL);
}

static spvf_capabilities capabilities_of(const cl_calls *cl, cl_device_id d, ir_arena *a) {
    const char *extensions = device_string(cl, d, CL_DEVICE_EXTENSIONS, a);
    cl_bool images = CL_FALSE;
    cl->clGetDeviceInfo(d, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL);
    return (spvf_capabilities){.images = images,
                               .in_order = true,
                               .atomics64 = strstr(extensions, "cl_khr_int64_base_atomics")};
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
    opencl_must(o, "clGetDeviceInfo", ask_device(o));
    o->base.can = capabilities_of(&o->cl, o->device, &o->arena);
    o->context = o->cl.clCreateContext(NULL, 1, &o->device, NULL, NULL, &error);
    opencl_must(o, "clCreateContext", error);
    o->queue = o->cl.clCreateCommandQueue(o->context, o->device, 0, &error);
    opencl_must(o, "clCreateCommandQueue", error);
}

/* "N", the number of a device; NULL: the first.  MAX_DEVICES: it is no number, or too large. */
static unsigned device_index(const char *options) {
    char *end;
    if (!options) return 0;
    unsigned long index =
        *options >= '0' && *options <= '9' ? strtoul(options, &end, 10) : MAX_DEVICES;
    return index < MAX_DEVICES && !*end ? (unsigned)index : MAX_DEVICES;
}

static rt_device *open_by_index(spvf_context *context, const char *options) {
    open_job j = {.index = device_index(options)};
    if (j.index == MAX_DEVICES) return NULL;
    j.o = make_device(context);
    if (!ir_try(&context->cx, open_device, &j)) {
        ir_status status = context->cx.status;
        close_device(&j.o->base);
        ir_throw(&context->cx, status);
    }
    return &j.o->base;
}

/* A number of so many bytes; 0: it is not known. */
static uint64_t device_number(const cl_calls *cl, cl_device_id d, cl_device_info what,
                              size_t size) {
    uint64_t value = 0;
    return cl->clGetDeviceInfo(d, what, size, &value, NULL) == CL_SUCCESS ? value : 0;
}

static spvf_device_sizes sizes_of(const cl_calls *cl, cl_device_id d, ir_arena *a) {
    size_t size[3] = {0};
    spvf_device_sizes s = {
        .version = ir_sprintf(a, "%s%s%s", device_string(cl, d, CL_DEVICE_VERSION, a), ", driver ",
                              device_string(cl, d, CL_DRIVER_VERSION, a)),
        .parallel = (uint32_t)device_number(cl, d, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint)),
        .memory = device_number(cl, d, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong)),
        .local_memory = device_number(cl, d, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong)),
        .group_items = device_number(cl, d, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t))};
    cl->clGetDeviceInfo(d, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof size, size, NULL);
    for (unsigned k = 0; k < 3; k++) s.group_size[k] = size[k];
    return s;
}

static void list_one(const cl_calls *cl, cl_device_id d, unsigned index, ir_arena *a,
                     spvf_device_info *info) {
    unsigned version;
    intake takes = how_it_takes(cl, d, a, &version);
    const spvf_capabilities can = capabilities_of(cl, d, a);
    const spvf_device_sizes sizes = sizes_of(cl, d, a);
    info->name = ir_sprintf(a, "opencl:%u", index);
    info->description = ir_sprintf(a, "%s%s", device_string(cl, d, CL_DEVICE_NAME, a),
                                   takes == TAKES_SPIR ? ", through llvm-spirv" : "");
    info->takes_spirv = takes == TAKES_SPIRV;
    info->usable = takes != TAKES_NOTHING;
    info->can = ir_dup(a, &can, sizeof can);
    info->sizes = ir_dup(a, &sizes, sizeof sizes);
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
    bool there = find_loader(&cl);
    unsigned n = there ? find_devices(&cl, devices) : 0;
    spvf_device_info none = {.name = "opencl",
                             .description = "OpenCL device",
                             .can = &rt_can_nothing,
                             .missing = true,
                             .sizes = &rt_no_sizes};
    none.why_not = there ? "no implementation has a device" : "no OpenCL loader (libOpenCL.so.1)";
    if (!n) j->each(j->user, &none);
    for (unsigned i = 0; i < n; i++) {
        spvf_device_info info = {0};
        list_one(&cl, devices[i], i, &j->arena, &info);
        j->each(j->user, &info);
    }
}

static void list_all(spvf_context *context, void (*each)(void *user, const spvf_device_info *info),
                     void *user) {
    list_job j = {.each = each, .user = user};
    ir_arena_init(&j.arena, &context->cx);
    bool ok = ir_try(&context->cx, list_devices, &j);
    ir_arena_free(&j.arena);
    if (!ok) ir_throw(&context->cx, context->cx.status);
}

static const char *name_of(const rt_function *f) { return f->name; }
static const ir_func *kernel_of(const rt_function *f) { return f->ir; }
static uint64_t size_of(const rt_memory *m) { return m->bytes; }

const rt_driver rt_opencl_driver = {.name = "opencl",
                                    .forms = "opencl, opencl:N",
                                    .open = open_by_index,
                                    .list = list_all,
                                    .close = close_device,
                                    .allocate = opencl_allocate,
                                    .release = opencl_release,
                                    .size = size_of,
                                    .build = opencl_build,
                                    .find = opencl_find,
                                    .name_of = name_of,
                                    .kernel = kernel_of,
                                    .discard = opencl_discard,
                                    .submit = opencl_submit};
