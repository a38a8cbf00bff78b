/* check_device.c — OpenCL's device as the interpreter, if SPVFUSE_DEVICE=check: kernels run item by
 * item, and their faults are told (check_say.c).
 *
 * Buffers lie where they would lie otherwise, in this process, so that reading, writing and mapping
 * them is the same.  The interpreter looks after them in addition: kernels know a buffer by an
 * address that is far from all others, and shared memory by its own.
 */
#include "runtime/opencl/check.h"
#include "runtime/system/process.h"

static bool is_wanted;

static void read_device(void) { is_wanted = rt_setting_word(RT_ENV_DEVICE) == 1; }

bool ocl_is_checking(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_device);
    return is_wanted;
}

static void tell(void *user, const rt_program *p, const check_report *r) {
    (void)user;
    ocl_say_fault(&(ocl_fault){.kind = check_kind_name(r->kind),
                               .severity = r->severity,
                               .text = r->headline,
                               .report = r,
                               .source = rt_check_source(p)});
}

rt_device *ocl_open_check(spvf_context *context) {
    const rt_check_options o = {
        .report = tell,
        .subgroup_size = ocl_subgroup_size,
        .seconds = (unsigned)rt_setting_number(RT_ENV_CHECK_SECONDS, 0),
    };
    rt_device *d = rt_check_open_with(context, &o);
    d->instruction_limit = rt_setting_number(RT_ENV_CHECK_STEPS, 0);
    return d;
}

/* --------------------------------------------------------------------------------------- memory */

typedef struct {
    const rt_check_memory *what;
    rt_memory *memory;
    const void *host;
    uint64_t size, undefined;
} request;

static rt_device *base(void) { return ocl_device()->shared.base; }

static void wrap(void *arg) {
    request *r = arg;
    r->memory = rt_check_wrap(base(), r->what);
}

rt_memory *ocl_check_wrap(const rt_check_memory *what) {
    request r = {.what = what};
    rt_shared_run(&ocl_device()->shared, wrap, &r);
    return r.memory;
}

static void mark(void *arg) {
    const request *r = arg;
    rt_check_written(base(), r->host, r->size);
}

void ocl_check_written(const void *host, uint64_t size) {
    request r = {.host = host, .size = size};
    rt_shared_run(&ocl_device()->shared, mark, &r);
}

static void count(void *arg) {
    request *r = arg;
    r->undefined = rt_check_undefined(base(), r->host, r->size);
}

uint64_t ocl_check_undefined(const void *host, uint64_t size) {
    request r = {.host = host, .size = size};
    rt_shared_run(&ocl_device()->shared, count, &r);
    return r.undefined;
}
