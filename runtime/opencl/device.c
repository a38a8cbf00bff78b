/* device.c — the one device: the processors of this machine.  What it says of itself is device.def.
 *
 * SPVFUSE_CPU has options of device cpu (docs/DEVICES.md).
 */
#include "runtime/cache/cache.h"
#include "runtime/opencl/check.h"
#include "runtime/opencl/machine.h"
#include "runtime/system/memory.h"
#include "runtime/system/process.h"

#include <stdlib.h>
#include <unistd.h>

/* What is read from the system once. */
typedef struct {
    char name[64], vendor[32];
    cl_uint megahertz, vector_bytes;
    cl_ulong memory, cache, constants;
    cl_uchar uuid[RT_HASH_BYTES], driver_uuid[RT_HASH_BYTES]; /* the first CL_UUID_SIZE_KHR */
} facts;

static struct _cl_device_id device;
static facts host;
/* Of the processors, if the device is the interpreter. */
static rt_cpu_options unused_options;
static rt_cache cache;

/* --------------------------------------------------------------------------- the system's facts */

/* The value after "key : " in a line, or NULL. */
static const char *value_of(const char *line, const char *key) {
    size_t n = strlen(key);
    const char *colon = strchr(line, ':');
    return strncmp(line, key, n) == 0 && colon ? colon + 1 + strspn(colon + 1, " \t") : NULL;
}

static void copy_line(char *to, size_t room, const char *from) {
    snprintf(to, room, "%.*s", (int)strcspn(from, "\n"), from);
}

static void read_processor(facts *h) {
    char line[512];
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f) && *line != '\n') {
        const char *name = value_of(line, "model name"), *vendor = value_of(line, "vendor_id");
        const char *speed = value_of(line, "cpu MHz");
        if (name) copy_line(h->name, sizeof h->name, name);
        if (vendor) copy_line(h->vendor, sizeof h->vendor, vendor);
        if (speed) h->megahertz = (cl_uint)strtoul(speed, NULL, 10);
    }
    if (f) fclose(f);
}

/* The processors of an installation are one device, now and after the system has started anew: its
 * number is hashed with their name, so that the number itself is not told. */
static void find_device_uuid(facts *h) {
    char id[64] = "";
    rt_hash hash;
    FILE *f = fopen("/etc/machine-id", "re");
    if (f && !fgets(id, sizeof id, f)) *id = 0;
    if (f) fclose(f);
    rt_hash_begin(&hash);
    rt_hash_add(&hash, "spvfuse device cpu", sizeof "spvfuse device cpu");
    rt_hash_add(&hash, id, sizeof id);
    rt_hash_add(&hash, h->name, sizeof h->name);
    rt_hash_end(&hash, h->uuid);
}

static void find_driver_uuid(facts *h) {
    static const char name[] = "spvfuse driver " OCL_VERSION_TEXT;
    rt_hash hash;
    rt_hash_begin(&hash);
    rt_hash_add(&hash, name, sizeof name);
    rt_hash_end(&hash, h->driver_uuid);
}

static void read_facts(facts *h) {
    copy_line(h->name, sizeof h->name, cg_host_machine() ? cg_host_machine()->title : "CPU");
    copy_line(h->vendor, sizeof h->vendor, "unknown");
    read_processor(h);
    find_device_uuid(h);
    find_driver_uuid(h);
    h->memory = rt_memory_of_machine();
    h->cache = rt_cache_size() ? rt_cache_size() : 1 << 20;
    h->constants = h->memory / 2 < OCL_CONSTANT_MEMORY ? h->memory / 2 : OCL_CONSTANT_MEMORY;
}

static cl_uint vector_bytes(void) {
    if (!device.shared.base || !cg_host_machine()) return 0;
    return cg_host_machine()->describe(ocl_cpu_options()->code.level).vector_bytes;
}

static void print(void *user, const char *text) {
    (void)user;
    fputs(text, stdout);
}

static rt_device *open_check(spvf_context *c, const rt_cpu_options *o) {
    unused_options = *o;
    if (!o->code.level) unused_options.code.level = rt_cpu_level();
    cache = o->cache ? rt_cache_open(true) : rt_no_cache;
    return ocl_open_check(c);
}

const rt_cpu_options *ocl_cpu_options(void) {
    return ocl_is_checking() ? &unused_options : &rt_cpu_machine(device.shared.base)->options;
}

const rt_cache *ocl_cache(void) {
    return ocl_is_checking() ? &cache : &rt_cpu_machine(device.shared.base)->cache;
}

static void open_base(void *arg) {
    spvf_context *c = &device.shared.context;
    rt_cpu_take_setting(arg); /* contexts of the program warn if that is not understood */
    if (!rt_cpu_level()) rt_throw(c, IR_ERR_DEVICE, "no code is made for this processor");
    device.shared.base = ocl_is_checking() ? open_check(c, arg) : rt_cpu_open_with(c, arg);
    device.shared.base->output = print;
}

static void open_device(void) {
    const spvf_context_options silent = {.size = sizeof silent};
    rt_cpu_options o = {.compile = rt_cpu_compile, .cache = rt_cache_wanted(true)};
    ocl_platform();
    device.object = ocl_new_object(OCL_DEVICE);
    rt_shared_init(&device.shared, &silent);
    rt_lock_hold_in_forks(&device.shared.lock);
    rt_shared_run(&device.shared, open_base, &o);
    read_facts(&host);
    host.vector_bytes = vector_bytes();
}

cl_device_id ocl_device(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_device);
    return &device;
}

bool ocl_is_device(cl_device_id d) { return d == ocl_device(); }

cl_ulong ocl_max_allocation(void) {
    ocl_device(); /* its facts */
    return host.memory / 2;
}

/* ---------------------------------------------------------------------------------------- facts */

enum {
    QUEUES = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE,
    FLOATS = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA,
    ATOMICS = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
              CL_DEVICE_ATOMIC_ORDER_SEQ_CST | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP |
              CL_DEVICE_ATOMIC_SCOPE_DEVICE | CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES,
    SHARING = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL |
              CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL |
              CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL
};

/* Of float and double; half has none. */
static const cl_device_fp_atomic_capabilities_ext FLOAT_ATOMICS =
    CL_DEVICE_GLOBAL_FP_ATOMIC_LOAD_STORE_EXT | CL_DEVICE_GLOBAL_FP_ATOMIC_ADD_EXT |
    CL_DEVICE_GLOBAL_FP_ATOMIC_MIN_MAX_EXT | CL_DEVICE_LOCAL_FP_ATOMIC_LOAD_STORE_EXT |
    CL_DEVICE_LOCAL_FP_ATOMIC_ADD_EXT | CL_DEVICE_LOCAL_FP_ATOMIC_MIN_MAX_EXT;
static const cl_uchar no_luid[CL_LUID_SIZE_KHR];

static const size_t subgroup_sizes[] = {1, 2, 4, 8, 16, 32, 64};
static const size_t group_sizes[3] = {OCL_MAX_GROUP, OCL_MAX_GROUP, OCL_MAX_GROUP};
static const cl_device_partition_property no_partition[1];
static const cl_device_integer_dot_product_acceleration_properties_khr dot_products; /* no kind */

#define VERSION(major, minor) CL_MAKE_VERSION(major, minor, 0)
#define C_VERSION(major, minor)                                                                    \
    { VERSION(major, minor), "OpenCL C" }
static const cl_name_version c_versions[] = {C_VERSION(1, 0), C_VERSION(1, 1), C_VERSION(1, 2),
                                             C_VERSION(2, 0), C_VERSION(3, 0)};
#define IL(minor)                                                                                  \
    { VERSION(1, minor), "SPIR-V" }
static const cl_name_version ils[] = {IL(0), IL(1), IL(2), IL(3), IL(4), IL(5), IL(6)};
/* -------------------------------------------------------------------------------------- entries */

cl_int ocl_check_devices(cl_uint count, const cl_device_id *devices) {
    if (!count != !devices) return CL_INVALID_VALUE;
    for (cl_uint k = 0; k < count; k++)
        if (!ocl_is_device(devices[k])) return CL_INVALID_DEVICE;
    return CL_SUCCESS;
}

cl_int ocl_check_device_type(cl_device_type type) {
    const cl_device_type ours = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_DEFAULT;
    const cl_device_type known =
        ours | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    if (type != CL_DEVICE_TYPE_ALL && (!type || type & ~known)) return CL_INVALID_DEVICE_TYPE;
    return type & ours && ocl_device()->shared.base ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

static cl_int CL_API_CALL get_devices(cl_platform_id p, cl_device_type type, cl_uint room,
                                      cl_device_id *list, cl_uint *count) {
    if (p && p != ocl_platform()) return CL_INVALID_PLATFORM;
    cl_int bad = ocl_check_device_type(type);
    if (bad == CL_INVALID_DEVICE_TYPE) return bad;
    if ((!room && list) || (!list && !count)) return CL_INVALID_VALUE;
    if (count) *count = !bad;
    if (!bad && list) list[0] = &device;
    return bad;
}

static cl_int CL_API_CALL get_device_info(cl_device_id d, cl_device_info what, size_t room,
                                          void *to, size_t *size) {
    const ocl_answer a = {room, to, size};
    const facts *h = &host;
    if (!ocl_is_device(d)) return CL_INVALID_DEVICE;
    switch (what) {
#define ROW(what, answer)                                                                          \
    case what:                                                                                     \
        return answer
#define UINT(what, n) ROW(what, ocl_give_uint(&a, n));
#define ULONG(what, n) ROW(what, ocl_give_ulong(&a, n));
#define SIZE(what, n) ROW(what, ocl_give_size(&a, n));
#define BOOL(what, yes) ROW(what, ocl_give_bool(&a, yes));
#define STRING(what, s) ROW(what, ocl_give_string(&a, s));
#define POINTER(what, p) ROW(what, ocl_give_pointer(&a, p));
#define BYTES(what, p, n) ROW(what, ocl_give(&a, p, n));
#include "runtime/opencl/device.def"
    case OCL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES:
        ocl_note_newer_headers();
        return ocl_give_ulong(&a, QUEUES);
    case CL_DEVICE_OPENCL_C_FEATURES: return ocl_give_features(&a);
    case CL_DEVICE_EXTENSIONS: return ocl_give_extensions(&a, false);
    case CL_DEVICE_EXTENSIONS_WITH_VERSION: return ocl_give_extensions(&a, true);
    default: return CL_INVALID_VALUE;
    }
}

/* There are no sub-devices: a handle is that of the device. */
static cl_int CL_API_CALL create_sub_devices(cl_device_id d,
                                             const cl_device_partition_property *how, cl_uint room,
                                             cl_device_id *list, cl_uint *count) {
    (void)how, (void)room, (void)list, (void)count;
    return ocl_is_device(d) ? CL_INVALID_VALUE : CL_INVALID_DEVICE;
}

static cl_int CL_API_CALL retain_device(cl_device_id d) {
    return ocl_is_device(d) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

static cl_int CL_API_CALL get_host_timer(cl_device_id d, cl_ulong *now) {
    if (!ocl_is_device(d)) return CL_INVALID_DEVICE;
    if (!now) return CL_INVALID_VALUE;
    *now = rt_now_ns();
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_timers(cl_device_id d, cl_ulong *ours, cl_ulong *hosts) {
    if (!ocl_is_device(d)) return CL_INVALID_DEVICE;
    if (!ours || !hosts) return CL_INVALID_VALUE;
    *ours = *hosts = rt_now_ns();
    return CL_SUCCESS;
}

void ocl_fill_device(ocl_entries *e) {
    e->core.clGetDeviceIDs = get_devices;
    e->core.clGetDeviceInfo = get_device_info;
    e->core.clCreateSubDevices = create_sub_devices;
    e->core.clRetainDevice = retain_device;
    e->core.clReleaseDevice = retain_device;
    e->core.clGetHostTimer = get_host_timer;
    e->core.clGetDeviceAndHostTimer = get_timers;
}
