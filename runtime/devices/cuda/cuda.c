/* cuda.c — the device `cuda`: an NVIDIA GPU, through the driver's library.
 *
 * The library is opened when a device is listed or opened, once per process, and never closed.  A
 * device uses its primary context, as programs with the CUDA runtime do; it is kept until the
 * process ends, as making one takes a third of a second.  Code is made for the
 * newest processor that is not newer than the device and that codegen/ptx/ knows.
 */
#include "runtime/devices/cuda/cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

/* ----------------------------------------------------------------------------------- the driver */

static struct {
    pthread_once_t once;
    const char *why_not; /* NULL: it is there */
    cu_calls calls;
} driver = {.once = PTHREAD_ONCE_INIT};

static void open_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    bool whole = library != NULL;
    driver.why_not = "there is no driver (libcuda.so.1)";
    if (!library) return;
        /* ISO C has no cast from object to function pointers; POSIX says that this is how. */
#define X(name, symbol, parameters)                                                                \
    *(void **)(void *)&driver.calls.name = dlsym(library, symbol);                                 \
    whole &= driver.calls.name != NULL;
    CU_CALLS(X)
#undef X
    driver.why_not = !whole                 ? "the driver is too old"
                     : driver.calls.init(0) ? "the driver does not start"
                                            : NULL;
}

/* NULL: there is none, and *why says so. */
static const cu_calls *find_driver(const char **why) {
    pthread_once(&driver.once, open_driver);
    if (why) *why = driver.why_not;
    return driver.why_not ? NULL : &driver.calls;
}

IR_NORETURN static void give_up(cuda *d, const char *call, cu_result error) {
    const char *text = NULL;
    d->cu->error_text(error, &text);
    rt_throw(d->base.context, IR_ERR_DEVICE, "cuda: %s%s%s%s failed: %s (error %d)",
             d->kernel ? "kernel '" : "", d->kernel ? d->kernel : "", d->kernel ? "': " : "", call,
             text ? text : "unknown", error);
}

void cuda_must(cuda *d, const char *call, cu_result error) {
    if (error) give_up(d, call, error);
}

void cuda_enter(cuda *d) { cuda_must(d, "cuCtxSetCurrent", d->cu->set_current(d->context)); }

/* ---------------------------------------------------------------------------------- its devices */

static int attribute(const cu_calls *cu, cu_device d, int which) {
    int value = 0;
    return cu->attribute(&value, which, d) ? 0 : value;
}

/* 0: the device is older than what code is made for. */
static unsigned newest_sm(const cu_calls *cu, cu_device d) {
    unsigned sm = (unsigned)(attribute(cu, d, CU_MAJOR) * 10 + attribute(cu, d, CU_MINOR));
    while (sm && !cg_ptx_version_of(sm)) sm--;
    return sm;
}

static const spvf_capabilities capabilities = {
    .atomics64 = true, .offsets = true, .in_order = true, .subgroup_size = 32};

static void list_one(const cu_calls *cu, int n, void (*each)(void *user, const spvf_device_info *),
                     void *user) {
    char name[40], description[200] = "";
    cu_device d;
    if (cu->device(&d, n)) return;
    cu->name(description, sizeof description, d);
    snprintf(name, sizeof name, "cuda:%d", n);
    spvf_device_info info = {.name = name,
                             .description = description,
                             .usable = newest_sm(cu, d) != 0,
                             .can = capabilities};
    if (!info.usable) info.why_not = "it is older than sm_70";
    each(user, &info);
}

static void list_all(spvf_context *context, void (*each)(void *user, const spvf_device_info *info),
                     void *user) {
    const cu_calls *cu = find_driver(NULL);
    int n = 0;
    (void)context;
    if (!cu || cu->count(&n)) return;
    for (int k = 0; k < n; k++) list_one(cu, k, each, user);
}

/* ----------------------------------------------------------------------------- opening, closing */

static void close_device(rt_device *d) {
    cuda *c = (cuda *)d;
    if (c->context) c->cu->set_current(c->context);
    if (c->stream) c->cu->wait(c->stream);
    while (c->programs) cuda_discard(d, (rt_program *)c->programs);
    while (c->memories) cuda_release(d, (rt_memory *)c->memories);
    if (c->stream) c->cu->end_stream(c->stream);
    ir_arena arena = c->arena;
    ir_arena_free(&arena);
}

static cuda *make_device(spvf_context *context) {
    ir_arena arena;
    ir_arena_init(&arena, &context->cx);
    cuda *d = ir_new(&arena, cuda);
    d->arena = arena;
    d->base = (rt_device){.driver = &rt_cuda_driver, .context = context, .can = capabilities};
    return d;
}

typedef struct {
    cuda *d;
    unsigned index;
} open_job;

static void open_device(void *arg) {
    open_job *j = arg;
    cuda *d = j->d;
    const char *why;
    int n = 0;
    d->cu = find_driver(&why);
    if (!d->cu) rt_throw(d->base.context, IR_ERR_DEVICE, "cuda: %s", why);
    cuda_must(d, "cuDeviceGetCount", d->cu->count(&n));
    if ((int)j->index >= n)
        rt_throw(d->base.context, IR_ERR_DEVICE, "cuda: there is no device %u", j->index);
    cuda_must(d, "cuDeviceGet", d->cu->device(&d->device, (int)j->index));
    d->sm = newest_sm(d->cu, d->device);
    d->shared = (unsigned)attribute(d->cu, d->device, CU_SHARED_PER_BLOCK_OPTIN);
    if (!d->sm)
        rt_throw(d->base.context, IR_ERR_DEVICE, "cuda: device %u is older than sm_70", j->index);
    cuda_must(d, "cuDevicePrimaryCtxRetain", d->cu->retain(&d->context, d->device));
    cuda_enter(d);
    cuda_must(d, "cuStreamCreate", d->cu->stream(&d->stream, 1));
}

enum { MOST_DEVICES = 64 };

/* "N", the number of a device; NULL: the first.  MOST_DEVICES: it is no number, or too large. */
static unsigned device_index(const char *options) {
    char *end;
    if (!options) return 0;
    unsigned long index =
        *options >= '0' && *options <= '9' ? strtoul(options, &end, 10) : MOST_DEVICES;
    return index < MOST_DEVICES && !*end ? (unsigned)index : MOST_DEVICES;
}

static rt_device *open_by_index(spvf_context *context, const char *options) {
    open_job j = {.index = device_index(options)};
    if (j.index == MOST_DEVICES) return NULL;
    j.d = make_device(context);
    if (!ir_try(&context->cx, open_device, &j)) {
        ir_status status = context->cx.status;
        close_device(&j.d->base);
        ir_throw(&context->cx, status);
    }
    return &j.d->base;
}

const rt_driver rt_cuda_driver = {.name = "cuda",
                                  .forms = "cuda, cuda:N",
                                  .open = open_by_index,
                                  .list = list_all,
                                  .close = close_device,
                                  .allocate = cuda_allocate,
                                  .release = cuda_release,
                                  .build = cuda_build,
                                  .find = cuda_find,
                                  .discard = cuda_discard,
                                  .submit = cuda_submit};
