/* cuda.c — the device `cuda`: an NVIDIA GPU, through the driver's library.
 *
 * A device uses its primary context, as programs with the CUDA runtime do; it is kept until the
 * process ends, as making one takes a third of a second.  Code is made for the newest processor
 * that is not newer than the device and that codegen/ptx/ knows.  The cache is used unless the
 * environment forbids it, as the driver's compiler is slow.
 */
#include "runtime/devices/cuda/cuda.h"
#include "runtime/system/lock.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------------------- its devices */

static int attribute(const cu_calls *cu, cu_device d, int which) {
    int value = 0;
    return cu->attribute(&value, which, d) ? 0 : value;
}

static unsigned generation_of(const cu_calls *cu, cu_device d) {
    return (unsigned)(attribute(cu, d, CU_MAJOR) * 10 + attribute(cu, d, CU_MINOR));
}

/* 0: the device is older than what code is made for. */
static unsigned newest_sm(unsigned sm) {
    while (sm && !cg_ptx_version_of(sm)) sm--;
    return sm;
}

static const spvf_capabilities capabilities = {.phases = true,
                                               .print = true,
                                               .atomics64 = true,
                                               .offsets = true,
                                               .in_order = true,
                                               .subgroup_size = 32};

static spvf_device_sizes sizes_of(const cu_calls *cu, cu_device d) {
    static const uint32_t warp[] = {32};
    spvf_device_sizes s = {.parallel = (uint32_t)attribute(cu, d, CU_PROCESSORS),
                           .local_memory = (uint64_t)attribute(cu, d, CU_SHARED_PER_BLOCK_OPTIN),
                           .group_items = (uint64_t)attribute(cu, d, CU_THREADS_PER_BLOCK),
                           .subgroup_sizes = warp,
                           .subgroup_size_count = 1};
    for (int k = 0; k < 3; k++) {
        s.group_size[k] = (uint64_t)attribute(cu, d, CU_BLOCK_SIZE + k);
        s.groups[k] = (uint64_t)attribute(cu, d, CU_GRID_SIZE + k);
    }
    return s;
}

static void list_one(const cu_calls *cu, int n, void (*each)(void *user, const spvf_device_info *),
                     void *user) {
    char name[40], description[200] = "", version[40], target[40];
    int cu_version = 0;
    cu_device d;
    if (cu->device(&d, n)) return;
    cu->name(description, sizeof description, d);
    cu->version(&cu_version);
    snprintf(name, sizeof name, "cuda:%d", n);
    spvf_device_sizes sizes = sizes_of(cu, d);
    spvf_device_info info = {.name = name,
                             .description = description,
                             .usable = newest_sm(generation_of(cu, d)) != 0,
                             .can = &capabilities,
                             .sizes = &sizes};
    snprintf(version, sizeof version, "CUDA %d.%d", cu_version / 1000, cu_version % 1000 / 10);
    snprintf(target, sizeof target, "ptx:sm_%u", newest_sm(generation_of(cu, d)));
    if (cu_version) sizes.version = version;
    if (info.usable) sizes.target = target;
    if (!info.usable) info.why_not = "it is older than sm_70";
    each(user, &info);
}

static void list_none(const char *why, void (*each)(void *user, const spvf_device_info *),
                      void *user) {
    each(user, &(spvf_device_info){.name = "cuda",
                                   .description = "NVIDIA GPU",
                                   .why_not = why,
                                   .can = &rt_can_nothing,
                                   .missing = true,
                                   .sizes = &rt_no_sizes});
}

static void list_all(spvf_context *context, void (*each)(void *user, const spvf_device_info *info),
                     void *user) {
    const char *why;
    const cu_calls *cu = cuda_driver(&why);
    int n = 0;
    (void)context;
    if (cu && cu->count(&n)) why = "the driver does not count its devices";
    if (cu && !*why && !n) why = "the driver has no device";
    for (int k = 0; k < n; k++) list_one(cu, k, each, user);
    if (!n) list_none(why, each, user);
}

/* ----------------------------------------------------------------------------- opening, closing */

static void close_device(rt_device *d) {
    cuda *c = (cuda *)d;
    if (c->context) c->cu->set_current(c->context);
    if (c->stream) c->cu->wait(c->stream);
    cuda_stop(c);
    cuda_free_replays(c);
    while (c->programs) cuda_discard(d, (rt_program *)c->programs);
    while (c->memories) cuda_release(d, (rt_memory *)c->memories);
    cuda_free_printers(c);
    cuda_free_staging(c);
    cuda_free_kept(c);
    if (c->stream) c->cu->end_stream(c->stream);
    rt_cache_close(&c->cache);
    rt_lock_free(&c->lock);
    ir_arena arena = c->arena;
    ir_arena_free(&arena);
}

static cuda *make_device(spvf_context *context) {
    ir_arena arena;
    ir_arena_init(&arena, &context->cx);
    cuda *d = ir_new(&arena, cuda);
    d->arena = arena;
    d->base = (rt_device){.driver = &rt_cuda_driver, .context = context, .can = capabilities};
    d->cache = rt_cache_wanted(true) ? rt_cache_open(true) : rt_no_cache;
    rt_lock_init(&d->lock, false);
    rt_watch_forks();
    rt_cond_init(&d->change);
    rt_cond_init(&d->told);
    d->end = &d->first;
    return d;
}

typedef struct {
    cuda *d;
    unsigned index;
    rt_facts without;
    cuda_waiting waiting;
    bool never_early;
} open_job;

static void open_device(void *arg) {
    open_job *j = arg;
    cuda *d = j->d;
    const char *why;
    int n = 0;
    d->cu = cuda_driver(&why);
    if (!d->cu) rt_throw(d->base.context, IR_ERR_DEVICE, "cuda: %s", why);
    cuda_must(d, "cuDeviceGetCount", d->cu->count(&n));
    if ((int)j->index >= n)
        rt_throw(d->base.context, IR_ERR_DEVICE, "cuda: there is no device %u", j->index);
    cuda_must(d, "cuDeviceGet", d->cu->device(&d->device, (int)j->index));
    cuda_must(d, "cuDriverGetVersion", d->cu->version(&d->version));
    d->generation = generation_of(d->cu, d->device);
    d->sm = newest_sm(d->generation);
    d->most_pitch = (size_t)attribute(d->cu, d->device, CU_MOST_PITCH);
    d->shared = (unsigned)attribute(d->cu, d->device, CU_SHARED_PER_BLOCK_OPTIN);
    d->processors = (unsigned)attribute(d->cu, d->device, CU_PROCESSORS);
    d->can_wait = d->cu->launch_together && attribute(d->cu, d->device, CU_LAUNCHES_TOGETHER);
    d->can_begin_early =
        d->cu->add_edges && d->cu->launch_with && d->sm >= CG_PTX_DEPENDENT_SM && !d->never_early;
    if (!d->sm)
        rt_throw(d->base.context, IR_ERR_DEVICE, "cuda: device %u is older than sm_70", j->index);
    char target[24];
    snprintf(target, sizeof target, "sm_%u", d->generation);
    d->base.reflection = rt_reflection_of(target);
    cuda_must(d, "cuDevicePrimaryCtxRetain", d->cu->retain(&d->context, d->device));
    cuda_enter(d);
    cuda_must(d, "cuStreamCreate", d->cu->stream(&d->stream, 1));
}

enum { MOST_DEVICES = 64 };

static bool take_switch(const char **options, open_job *j) {
    if (rt_take_option(options, "early=never")) return j->never_early = true;
    if (rt_take_option(options, "phases=launches")) return (j->waiting = CUDA_BY_LAUNCHES) != 0;
    return rt_take_option(options, "phases=together") && (j->waiting = CUDA_ALL_TOGETHER) != 0;
}

/* The number of a device, facts that no code is made for, how phases run, and whether kernels begin
 * early; NULL: nothing. */
static bool read_options(const char *options, open_job *j) {
    const bool numbered = options && *options >= '0' && *options <= '9';
    if (numbered) {
        char *end;
        const unsigned long index = strtoul(options, &end, 10);
        if (index >= MOST_DEVICES || (*end && *end != ',') || (*end && !end[1])) return false;
        j->index = (unsigned)index;
        options = *end ? end + 1 : NULL;
    }
    while (options && *options)
        if (!rt_take_without(&options, &j->without) && !take_switch(&options, j)) return false;
    return numbered || !options || j->without || j->waiting || j->never_early;
}

static rt_device *open_by_index(spvf_context *context, const char *options) {
    open_job j = {.index = 0};
    if (!read_options(options, &j)) return NULL;
    j.d = make_device(context);
    j.d->without = j.without;
    j.d->waiting = j.waiting;
    j.d->never_early = j.never_early;
    if (!ir_try(&context->cx, open_device, &j)) {
        ir_status status = context->cx.status;
        close_device(&j.d->base);
        ir_throw(&context->cx, status);
    }
    return &j.d->base;
}

static const char *name_of(const rt_function *f) { return f->name; }
static uint64_t size_of(const rt_memory *m) { return m->bytes; }
static const ir_func *kernel_of(const rt_function *f) {
    return ir_func_find(f->program->module, f->name);
}

const rt_driver rt_cuda_driver = {.name = "cuda",
                                  .forms = "cuda, cuda:N, cuda:without=FACT, "
                                           "cuda:phases=launches|together, cuda:early=never",
                                  .open = open_by_index,
                                  .list = list_all,
                                  .close = close_device,
                                  .allocate = cuda_allocate,
                                  .release = cuda_release,
                                  .size = size_of,
                                  .build = cuda_build,
                                  .find = cuda_find,
                                  .name_of = name_of,
                                  .kernel = kernel_of,
                                  .discard = cuda_discard,
                                  .phases = cuda_phases,
                                  .submit = cuda_submit,
                                  .extend = cuda_extend,
                                  .assemble = cuda_assemble,
                                  .hurry = cuda_hurry,
                                  .await = cuda_await,
                                  .forget = cuda_forget};
