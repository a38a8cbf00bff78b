/* shapes.c — kernels of all forms (shapes.cl) with local sizes of all kinds, as vectors of each
 * width: they leave what device check leaves, and touch no byte beside their buffers.
 *
 *     shapes [-a] shapes.spv
 *
 * Launches have a line of items, groups with one item in x, small planes and boxes, a smaller last
 * group, an offset.  Each runs through OpenCL on device cpu, at every level of the machine, with 1
 * to 64 lanes, by code for any local size and by code for its own: with -a in all of these ways,
 * otherwise by both kinds of code of one level and number of lanes, which take turns.  In launches
 * of one group, 1 to 70 items are left to all numbers of lanes.
 *
 * Buffers are memory of the program: one ends with a page, the other begins one, and the pages
 * around them cannot be accessed.  Where a kernel does not touch the first or the last bytes of its
 * items, the buffer does not have them.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define CL_TARGET_OPENCL_VERSION 300
#include "codegen/codegen.h"
#include "runtime/api/runtime.h"
#include "runtime/devices/check/check.h"
#include "tests/file.h"
#include "tests/machines.h"
#include "tests/opencl/loader.h"
#include "tests/random.h"

#include <CL/cl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { PAGE = 4096, AREA = 64 * PAGE, WAYS = 64, TURNS = 2 };

/* ------------------------------------------------------------------------------------- the table */

typedef struct {
    const char *name;
    unsigned in, out; /* bytes of an item */
    /* Bytes that are not accessed at the start and at the end of each buffer. */
    unsigned before, after;
    bool meets; /* it has barriers: only for groups that are all of one size */
} shaped_kernel;

static const shaped_kernel kernels[] = {
    {"along", 4, 4, 0, 0, false},     {"narrow", 4, 4, 0, 0, false},
    {"from_end", 4, 4, 0, 0, false},  {"bytes", 1, 2, 0, 0, false},
    {"doubles", 1, 8, 0, 0, false},   {"longs", 8, 8, 0, 0, false},
    {"pairs", 8, 8, 0, 0, false},     {"triples", 6, 6, 0, 0, false},
    {"quads", 16, 16, 0, 0, false},   {"members", 20, 20, 0, 4, false},
    {"vectors", 3, 3, 1, 0, false},   {"gathered", 4, 4, 0, 0, false},
    {"scattered", 4, 4, 0, 0, false}, {"masked", 4, 4, 0, 0, false},
    {"shifted", 4, 4, 0, 0, false},   {"stencil", 4, 4, 0, 0, false},
    {"plane", 4, 4, 0, 0, false},     {"product", 4, 4, 0, 0, false},
    {"rounds", 4, 4, 0, 0, false},    {"returns", 4, 4, 0, 0, false},
    {"cases", 4, 4, 0, 0, false},     {"privately", 4, 4, 0, 0, false},
    {"strides", 4, 4, 0, 0, false},   {"turned", 4, 4, 0, 0, true},
    {"halved", 4, 4, 0, 0, true},     {"scanned", 4, 4, 0, 0, true},
    {"kept", 4, 4, 0, 0, true},       {"counted", 4, 4, 0, 0, true},
    {"collected", 4, 4, 0, 0, true},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static const ir_range ranges[] = {
    {1, {3, 1, 1}, {1, 1, 1}, {0}},
    {1, {9, 1, 1}, {3, 1, 1}, {0}},
    {1, {21, 1, 1}, {7, 1, 1}, {0}},
    {1, {48, 1, 1}, {16, 1, 1}, {0}},
    {1, {111, 1, 1}, {37, 1, 1}, {0}},
    {1, {96, 1, 1}, {48, 1, 1}, {0}},
    {1, {192, 1, 1}, {64, 1, 1}, {0}},
    {1, {192, 1, 1}, {96, 1, 1}, {0}},
    {1, {300, 1, 1}, {100, 1, 1}, {0}},
    {1, {510, 1, 1}, {255, 1, 1}, {0}},
    {1, {2000, 1, 1}, {1000, 1, 1}, {0}},
    {1, {2061, 1, 1}, {1000, 1, 1}, {0}},
    {1, {150, 1, 1}, {64, 1, 1}, {0}},
    {1, {75, 1, 1}, {16, 1, 1}, {0}},
    {1, {128, 1, 1}, {64, 1, 1}, {1000, 0, 0}},
    {2, {1, 96, 1}, {1, 48, 1}, {0}},
    {2, {2, 37, 1}, {1, 37, 1}, {0}},
    {3, {1, 64, 2}, {1, 64, 1}, {0}},
    {3, {1, 1, 100}, {1, 1, 100}, {0}},
    {3, {2, 6, 14}, {1, 3, 7}, {0}},
    {2, {32, 12, 1}, {16, 4, 1}, {0}},
    {2, {33, 8, 1}, {33, 8, 1}, {0}},
    {2, {64, 8, 1}, {64, 1, 1}, {0}},
    {2, {21, 10, 1}, {7, 5, 1}, {0}},
    {2, {50, 9, 1}, {16, 4, 1}, {0}},
    {3, {12, 6, 4}, {4, 3, 2}, {0}},
};
enum { RANGES = sizeof ranges / sizeof *ranges, RESIDUES = 70 };

/* The launch of that number: those of the table, and one group of 1 to RESIDUES items. */
static ir_range range_of(unsigned n) {
    uint64_t items = n - RANGES + 1;
    if (n < RANGES) return ranges[n];
    return (ir_range){1, {items, 1, 1}, {items, 1, 1}, {0}};
}

typedef struct {
    const shaped_kernel *kernel;
    ir_range range;
    uint64_t items, bytes[2]; /* of the buffers: in, out */
    uint8_t *first[2], *want; /* what they hold before, and `out` afterwards; NULL: not to be run */
} shaped_launch;

enum { LAUNCHES = KERNELS * (RANGES + RESIDUES) };
static shaped_launch launches[LAUNCHES];

/* --------------------------------------------------------------------------------- device check */

static void at_fault(void *user, const check_report *r) {
    shaped_launch *l = user;
    if (r->severity == IR_NOTE) return;
    printf("%s: %s\n", l->kernel->name, r->text);
    exit(1);
}

static bool is_uneven(const ir_range *r) {
    for (unsigned d = 0; d < r->dims; d++)
        if (r->global[d] % r->local[d]) return true;
    return false;
}

static void prepare(shaped_launch *l, unsigned number) {
    const shaped_kernel *k = &kernels[number % KERNELS];
    const ir_range r = range_of(number / KERNELS);
    uint64_t seed = number + 1;
    *l = (shaped_launch){.kernel = k, .range = r, .items = r.global[0] * r.global[1] * r.global[2]};
    for (unsigned b = 0; b < 2; b++) {
        l->bytes[b] = l->items * (b ? k->out : k->in) + k->before - k->after;
        l->first[b] = malloc(l->bytes[b]);
        for (uint64_t n = 0; n < l->bytes[b]; n++)
            l->first[b][n] = (uint8_t)(splitmix64(&seed) >> 16);
    }
    l->want = malloc(l->bytes[1]);
}

static uint64_t local_items(const ir_range *r) { return r->local[0] * r->local[1] * r->local[2]; }

static void run_on_check(check_device *d, check_program *p, shaped_launch *l) {
    uint32_t n = (uint32_t)l->items;
    check_buffer *buffer[2];
    check_result result;
    for (unsigned b = 0; b < 2; b++) buffer[b] = check_buffer_new(d, l->bytes[b], l->first[b], 0);
    const check_arg args[] = {{.kind = IR_ARG_POINTER, .buffer = buffer[0]},
                              {.kind = IR_ARG_POINTER, .buffer = buffer[1]},
                              {.kind = IR_ARG_VALUE, .bytes = &n, .size = sizeof n},
                              {.kind = IR_ARG_LOCAL, .size = 4 * local_items(&l->range)}};
    const check_launch c = {.kernel = l->kernel->name,
                            .range = l->range,
                            .args = args,
                            .nargs = 4,
                            .options = {.allow_non_uniform = true, .report = at_fault, .user = l}};
    if (!check_run(p, &c, &result)) printf("device check refuses %s\n", c.kernel), exit(1);
    check_buffer_read(buffer[1], 0, l->bytes[1], l->want);
    for (unsigned b = 0; b < 2; b++) check_buffer_free(buffer[b]);
}

/* What launches leave on device check. */
static void make_references(const char *path) {
    spvf_context *c;
    spvf_module *m;
    size_t size;
    char *data = read_file(path, &size);
    if (!data || spvf_context_create(NULL, &c) != SPVF_OK ||
        spvf_module_load(c, path, data, size, NULL, &m) != SPVF_OK)
        printf("%s cannot be read\n", path), exit(1);
    check_device *d = check_device_new(&c->cx);
    check_program *p = check_program_new(d, m->ir);
    for (unsigned n = 0; n < LAUNCHES; n++) {
        const ir_range r = range_of(n / KERNELS);
        if (kernels[n % KERNELS].meets && is_uneven(&r)) continue;
        prepare(&launches[n], n);
        run_on_check(d, p, &launches[n]);
    }
    check_program_free(p);
    check_device_free(d);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    free(data);
}

/* -------------------------------------------------------------------------------------- OpenCL */

static struct {
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernels[KERNELS];
    uint8_t *area[2];
} ocl;

static void need(cl_int status, const char *what) {
    if (!status) return;
    printf("%s: %d\n", what, status);
    exit(1);
}
#define NEED(call) need(call, #call)

static void open_areas(void) {
    for (unsigned b = 0; b < 2; b++) {
        uint8_t *p = mmap(NULL, AREA + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED || mprotect(p + PAGE, AREA, PROT_READ | PROT_WRITE) != 0) exit(1);
        ocl.area[b] = p + PAGE;
    }
}

static void open_device(const char *path) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    size_t size;
    char *il = read_file(path, &size);
    NEED(clGetPlatformIDs(1, &platform, NULL));
    NEED(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    ocl.context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    need(status, "clCreateContext");
    ocl.queue = clCreateCommandQueueWithProperties(ocl.context, device, NULL, &status);
    need(status, "clCreateCommandQueueWithProperties");
    cl_program program = clCreateProgramWithIL(ocl.context, il, size, &status);
    need(status, "clCreateProgramWithIL");
    NEED(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    for (unsigned k = 0; k < KERNELS; k++) {
        ocl.kernels[k] = clCreateKernel(program, kernels[k].name, &status);
        need(status, kernels[k].name);
    }
    free(il);
}

/* `in` ends with its pages, and `out` begins them, or the other way round. */
static uint8_t *place(const shaped_launch *l, unsigned b, bool turned) {
    uint8_t *at = ocl.area[b] + (turned == b ? AREA - l->bytes[b] : 0);
    return memcpy(at, l->first[b], l->bytes[b]);
}

static void enqueue(const shaped_launch *l, cl_kernel kernel, uint8_t *const at[2]) {
    cl_mem buffer[2];
    cl_uint n = (cl_uint)l->items;
    size_t offset[3], global[3], local[3];
    cl_int status;
    for (unsigned d = 0; d < 3; d++) {
        offset[d] = l->range.offset[d];
        global[d] = l->range.global[d];
        local[d] = l->range.local[d];
    }
    for (unsigned b = 0; b < 2; b++) {
        buffer[b] = clCreateBuffer(ocl.context, CL_MEM_USE_HOST_PTR, l->bytes[b], at[b], &status);
        need(status, "clCreateBuffer");
        NEED(clSetKernelArg(kernel, b, sizeof buffer[b], &buffer[b]));
    }
    NEED(clSetKernelArg(kernel, 2, sizeof n, &n));
    NEED(clSetKernelArg(kernel, 3, 4 * local_items(&l->range), NULL));
    NEED(clEnqueueNDRangeKernel(ocl.queue, kernel, l->range.dims, offset, global, local, 0, NULL,
                                NULL));
    NEED(clFinish(ocl.queue));
    for (unsigned b = 0; b < 2; b++) NEED(clReleaseMemObject(buffer[b]));
}

/* What a child has done so far. */
typedef struct {
    unsigned next, passed, failed; /* next: launch */
} progress;

static void tell(const shaped_launch *l, const char *options, const char *what) {
    const ir_range *r = &l->range;
    printf("FAIL %s, %s, global %u %u %u, local %u %u %u: %s\n", l->kernel->name, options,
           (unsigned)r->global[0], (unsigned)r->global[1], (unsigned)r->global[2],
           (unsigned)r->local[0], (unsigned)r->local[1], (unsigned)r->local[2], what);
    fflush(stdout);
}

/* Does the launch leave what it should? */
static bool run(const shaped_launch *l, const char *options, bool turned) {
    uint8_t *const at[2] = {place(l, 0, turned), place(l, 1, turned)};
    char what[100];
    uint64_t n = 0;
    enqueue(l, ocl.kernels[l->kernel - kernels], at);
    while (n < l->bytes[1] && at[1][n] == l->want[n]) n++;
    if (n == l->bytes[1]) return true;
    snprintf(what, sizeof what, "byte %u of %u differs", (unsigned)n, (unsigned)l->bytes[1]);
    tell(l, options, what);
    return false;
}

/* ------------------------------------------------------------------------------------------ ways */

static struct {
    char options[WAYS][40]; /* of device cpu */
    unsigned n;
} ways;

static void list_ways(void) {
    unsigned level;
    for (unsigned k = 0; (level = test_host_level(k)) != 0; k++)
        for (unsigned lanes = 1; lanes <= IR_MAX_LANES && ways.n < WAYS; lanes *= 2)
            for (unsigned eager = 0; eager < 2; eager++)
                snprintf(ways.options[ways.n++], sizeof *ways.options, "%s,simd=%u%s",
                         cg_level_name(cg_host_machine(), level), lanes, eager ? ",eager" : "");
}

static bool takes_turn(unsigned launch, unsigned way, bool all) {
    return all || (launch * TURNS + ways.n - way) % ways.n < TURNS;
}

/* In a child, whose device has the options: all launches from p->next on. */
static void run_from(progress *p, unsigned way, bool all, const char *path) {
    const char *options = ways.options[way];
    setenv("SPVF_CPU", options, 1);
    if (!find_implementation()) exit(1);
    open_areas();
    open_device(path);
    for (; p->next < LAUNCHES; p->next++) {
        if (!launches[p->next].want || !takes_turn(p->next, way, all)) continue;
        bool ok = run(&launches[p->next], options, p->next / KERNELS & 1);
        p->passed += ok;
        p->failed += !ok;
    }
}

/* A child that ends early has failed at its launch; another one goes on behind that. */
static void run_way(progress *p, unsigned way, bool all, const char *path) {
    p->next = 0;
    while (p->next < LAUNCHES) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            alarm(600);
            run_from(p, way, all, path);
            _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child) exit(1);
        if (status == 0) continue;
        if (launches[p->next].want)
            tell(&launches[p->next], ways.options[way], "does not end as it should");
        p->failed++;
        p->next++;
    }
}

/* With sanitizers, every third way is enough: the library is slow. */
#ifdef __SANITIZE_ADDRESS__
enum { NEXT_WAY = 3 };
#else
enum { NEXT_WAY = 1 };
#endif

int main(int argc, char **argv) {
    bool all = argc == 3 && strcmp(argv[1], "-a") == 0;
    if (argc != 2 + all) return fprintf(stderr, "usage: shapes [-a] shapes.spv\n"), 2;
    progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return 1;
    list_ways();
    make_references(argv[argc - 1]);
    for (unsigned way = 0; way < ways.n; way += NEXT_WAY) run_way(p, way, all, argv[argc - 1]);
    printf("%u passed, %u failed\n", p->passed, p->failed);
    return p->failed != 0;
}
