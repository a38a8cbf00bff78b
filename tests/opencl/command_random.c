/* command_random.c — random commands over random memory: a command buffer that fuses, one that is
 * updated after it has fused other launches, one that does not fuse, and the same commands enqueued
 * one by one leave the same bytes behind.
 *
 *     command_random [-n PROGRAMS] [-s SEED] tests/opencl/command_kernels.cl
 *
 * Memory is a few blocks of one type each, and places in them: buffers and their parts, buffers
 * that share memory of the host, addresses of shared memory of both kinds.  Copies and fills of memory
 * that has an address are recorded by it.  A launch is given places with which its result does not
 * depend on the order of its items; anything else may overlap.  Between runs, the host changes
 * memory, and what is updated is updated to be something else and back.  Blocks that are let go
 * before fusing are internal, and only the others are compared. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_ENABLE_BETA_EXTENSIONS
#include "runtime/spvfuse_opencl.h"
#include "tests/file.h"
#include "tests/opencl/command_compare.h"
#include "tests/opencl/mutable.h"
#include "tests/opencl/usm.h"

enum { RUNS = 3 };

/* ----------------------------------------------------------------------------------------- runs */

static cl_context context;
static cl_command_queue queue;
static cl_kernel code[KERNELS], reset;

static clCreateCommandBufferKHR_fn create;
static clReleaseCommandBufferKHR_fn release;
static clFinalizeCommandBufferKHR_fn finalize;
static clEnqueueCommandBufferKHR_fn enqueue;
static clCommandNDRangeKernelKHR_fn record_launch;
static clCommandCopyBufferKHR_fn record_copy;
static clCommandFillBufferKHR_fn record_fill;
static clCommandBarrierWithWaitListKHR_fn record_barrier;
static clGetCommandBufferInfoKHR_fn get_info;

/* In the form of version 0.9.4, as the others here, since Debian 12's headers lack them. */
#define MEMORY_ORDER                                                                               \
    cl_uint n, const cl_sync_point_khr *wait, cl_sync_point_khr *point, void *handle
static cl_int(CL_API_CALL *record_memcpy)(cl_command_buffer_khr b, cl_command_queue q, void *to,
                                          const void *from, size_t size, MEMORY_ORDER);
static cl_int(CL_API_CALL *record_memfill)(cl_command_buffer_khr b, cl_command_queue q, void *to,
                                           const void *pattern, size_t pattern_size, size_t size,
                                           MEMORY_ORDER);

/* Ends the test when a call fails. */
static void need(cl_int status, const char *what) {
    if (!status) return;
    printf("%s: %d\n", what, status);
    exit(1);
}
#define NEED(call) need(call, #call)

enum { FUSED, UPDATED, UNFUSED, ENQUEUED };

typedef struct {
    const program *program;
    cl_command_buffer_khr commands; /* NULL: they are enqueued */
    unsigned char *host[BLOCKS];
    cl_mem mem[PLACES];
    bool updates; /* some launches are recorded as others, and updated */
    cl_mutable_command_khr handles[COMMANDS];
} execution;

static void make_block(execution *x, unsigned n) {
    const block *b = &x->program->blocks[n];
    const bool shared = b->kind == SHARED;
    cl_int error;
    x->host[n] = !shared ? malloc(BYTES)
                 : n % 2 ? clSVMAlloc(context, 0, BYTES, 0)
                         : usm.shared_alloc(context, NULL, NULL, BYTES, 0, NULL);
    fill_block(x->host[n], n, b->type);
    x->mem[n] =
        clCreateBuffer(context, b->kind == BUFFER ? CL_MEM_COPY_HOST_PTR : CL_MEM_USE_HOST_PTR,
                       BYTES, x->host[n], &error);
    need(error, "clCreateBuffer");
}

/* Of the memory of the host there are several buffers. */
static void make_place(execution *x, unsigned n) {
    const place *p = &x->program->places[n];
    const cl_buffer_region part = {p->at, BYTES / 2};
    cl_int error = 0;
    if (p->kind == ADDRESS) return;
    x->mem[n] =
        x->program->blocks[p->block].kind == HOST
            ? clCreateBuffer(context, CL_MEM_USE_HOST_PTR, part.size, x->host[p->block] + p->at,
                             &error)
            : clCreateSubBuffer(x->mem[p->block], 0, CL_BUFFER_CREATE_TYPE_REGION, &part, &error);
    need(error, "a part");
}

static void set_memory(const execution *x, const command *c, cl_uint n) {
    const place *p = &x->program->places[c->places[n]];
    cl_kernel k = code[c->kernel];
    if (p->kind == ADDRESS)
        NEED(clSetKernelArgSVMPointer(k, n, x->host[p->block] + p->at));
    else
        NEED(clSetKernelArg(k, n, sizeof(cl_mem), &x->mem[c->places[n]]));
}

static all struct_of(const command *c) { return (all){1, 2, {3, 4, c->value}, 6, {{7, 8, 9}}}; }

static void set_args(const execution *x, const command *c) {
    const all s = struct_of(c);
    const char *args = kernels[c->kernel].args;
    cl_kernel k = code[c->kernel];
    for (cl_uint n = 0; *args; n++) switch (next_parameter(&args).letter) {
        case 'v': NEED(clSetKernelArg(k, n, sizeof c->value, &c->value)); break;
        case 'l': NEED(clSetKernelArg(k, n, c->local[0] * sizeof(cl_int), NULL)); break;
        case 's': NEED(clSetKernelArg(k, n, sizeof s, &s)); break;
        default: set_memory(x, c, n);
        }
}

/* Only what is not let go can be an argument later. */
static bool is_updated(const execution *x, const command *c) {
    const char *args = kernels[c->kernel].args;
    for (unsigned n = 0; *args; n++)
        if (is_memory(next_parameter(&args)) &&
            x->program->blocks[x->program->places[c->places[n]].block].let_go)
            return false;
    return x->updates && c->kind == LAUNCH && c->value % 3;
}

/* Another place of the type, which is not let go: often one that another command has. */
static unsigned other_place(const program *p, unsigned n, unsigned by) {
    for (unsigned k = 1; k < PLACES; k++) {
        const unsigned at = (n + by + k) % PLACES;
        if (type_of(p, at) == type_of(p, n) && !p->blocks[p->places[at].block].let_go) return at;
    }
    return n;
}

/* What is recorded in place of a command; it is not run. */
static command decoy_of(const program *p, const command *c) {
    const char *args = kernels[c->kernel].args;
    command d = *c;
    for (unsigned n = 0; *args; n++)
        if (is_memory(next_parameter(&args)) && c->value % 5)
            d.places[n] = other_place(p, c->places[n], (unsigned)c->value);
    d.value += 7;
    if (!c->local[0] && c->value % 4 == 1) d.global[0] = 1 + c->global[0] / 2;
    return d;
}

typedef struct {
    mutable_config config;
    mutable_arg args[2 * ARGS], pointers[ARGS];
    all structure;
} change;

static void change_memory(const execution *x, const command *c, cl_uint n, change *to) {
    const place *p = &x->program->places[c->places[n]];
    if (p->kind == ADDRESS)
        to->pointers[to->config.num_svm_args++] = (mutable_arg){n, 0, x->host[p->block] + p->at};
    else
        to->args[to->config.num_args++] = (mutable_arg){n, sizeof(cl_mem), &x->mem[c->places[n]]};
}

static void change_launch(const execution *x, const command *c, change *to) {
    const char *args = kernels[c->kernel].args;
    to->structure = struct_of(c);
    to->config.global_work_size = c->global;
    for (cl_uint n = 0; *args; n++) {
        mutable_arg *next = &to->args[to->config.num_args];
        switch (next_parameter(&args).letter) {
        case 'v': *next = (mutable_arg){n, sizeof c->value, &c->value}; break;
        case 'l': *next = (mutable_arg){n, c->local[0] * sizeof(cl_int), NULL}; break;
        case 's': *next = (mutable_arg){n, sizeof to->structure, &to->structure}; break;
        default: change_memory(x, c, n, to); continue;
        }
        to->config.num_args++;
    }
    if (to->config.num_args) to->config.arg_list = to->args;
    if (to->config.num_svm_args) to->config.arg_svm_list = to->pointers;
}

/* All at once, as they depend on each other; to what is wanted, or to what was recorded. */
static void update_launches(const execution *x, bool wanted) {
    static change changes[COMMANDS];
    static command others[COMMANDS];
    const cl_uint types[COMMANDS] = {0};
    const void *list[COMMANDS];
    cl_uint count = 0;
    for (unsigned n = 0; n < x->program->count; n++) {
        const command *c = &x->program->commands[n];
        if (c->left_out || !is_updated(x, c)) continue;
        changes[count] = (change){.config.command = x->handles[n]};
        others[count] = wanted ? *c : decoy_of(x->program, c);
        change_launch(x, &others[count], &changes[count]);
        list[count] = &changes[count].config;
        count++;
    }
    if (count) NEED(changing.update(x->commands, count, types, list));
}

static void launch(execution *x, const command *wanted) {
    const bool updated = is_updated(x, wanted);
    const command recorded = updated ? decoy_of(x->program, wanted) : *wanted, *c = &recorded;
    const size_t *local = c->local[0] ? c->local : NULL;
    cl_kernel k = code[c->kernel];
    set_args(x, c);
    if (x->commands)
        NEED(record_launch(x->commands, NULL, NULL, k, c->dims, c->offset, c->global, local, 0,
                           NULL, NULL,
                           updated ? &x->handles[wanted - x->program->commands] : NULL));
    else
        NEED(clEnqueueNDRangeKernel(queue, k, c->dims, c->offset, c->global, local, 0, NULL, NULL));
}

/* Where a place begins, if it is memory that the host can address, too. */
static unsigned char *address_of(const execution *x, unsigned n) {
    const place *p = &x->program->places[n];
    bool is_buffer = x->program->blocks[p->block].kind == BUFFER;
    return is_buffer ? NULL : x->host[p->block] + p->at;
}

/* What is recorded for memory that has an address uses it. */
static void copy(const execution *x, const command *c) {
    cl_mem from = x->mem[c->places[0]], to = x->mem[c->places[1]];
    const unsigned char *source = address_of(x, c->places[0]);
    unsigned char *target = address_of(x, c->places[1]);
    if (!x->commands)
        NEED(clEnqueueCopyBuffer(queue, from, to, c->at, 8, c->size, 0, NULL, NULL));
    else if (source && target)
        NEED(record_memcpy(x->commands, NULL, target + 8, source + c->at, c->size, 0, NULL, NULL,
                           NULL));
    else
        NEED(record_copy(x->commands, NULL, from, to, c->at, 8, c->size, 0, NULL, NULL, NULL));
}

static void fill(const execution *x, const command *c) {
    unsigned char pattern[BYTES], *target = address_of(x, c->places[0]);
    cl_mem to = x->mem[c->places[0]];
    const size_t size = width(type_of(x->program, c->places[0]));
    fill_block(pattern, (unsigned)c->value, type_of(x->program, c->places[0]));
    if (!x->commands)
        NEED(clEnqueueFillBuffer(queue, to, pattern, size, c->at, c->size, 0, NULL, NULL));
    else if (target)
        NEED(record_memfill(x->commands, NULL, target + c->at, pattern, size, c->size, 0, NULL,
                            NULL, NULL));
    else
        NEED(
            record_fill(x->commands, NULL, to, pattern, size, c->at, c->size, 0, NULL, NULL, NULL));
}

static void perform(execution *x) {
    for (unsigned n = 0; n < x->program->count; n++) {
        const command *c = &x->program->commands[n];
        if (c->left_out) continue;
        switch (c->kind) {
        case LAUNCH: launch(x, c); break;
        case COPY: copy(x, c); break;
        case FILL: fill(x, c); break;
        case WAIT:
            if (x->commands) NEED(record_barrier(x->commands, NULL, 0, NULL, NULL, NULL));
        }
    }
}

/* Releases the blocks that the program gives up, and their parts that no update needs. */
static void let_go(execution *x) {
    for (unsigned n = 0; n < PLACES; n++) {
        const place *p = &x->program->places[n];
        const bool gone = x->program->blocks[p->block].let_go;
        if (!x->mem[n] || (!gone && (p->kind == WHOLE || x->updates))) continue;
        NEED(clReleaseMemObject(x->mem[n]));
        x->mem[n] = NULL;
    }
}

/* Kernels let their buffers go, too. */
static void forget_args(void) {
    const cl_mem none = NULL;
    for (unsigned n = 0; n < KERNELS; n++) {
        const char *args = kernels[n].args;
        for (cl_uint k = 0; *args; k++)
            if (is_memory(next_parameter(&args)))
                NEED(clSetKernelArg(code[n], k, sizeof none, &none));
    }
}

/* By a command, by a mapping, or in place. */
static void change_memory_between(const execution *x, unsigned run) {
    const program *p = x->program;
    unsigned char bytes[BYTES];
    NEED(clFinish(queue));
    for (unsigned n = 0; n < BLOCKS; n++) {
        const size_t at = 8 * (n * 5 % 100), size = BYTES / 4;
        if (p->blocks[n].let_go || (n + p->count + run) % 3) continue;
        fill_block(bytes, n + 10 * (run + 1), p->blocks[n].type);
        if (p->blocks[n].kind == SHARED) {
            memcpy(x->host[n] + at, bytes, size);
        } else if (p->blocks[n].kind == BUFFER) {
            NEED(clEnqueueWriteBuffer(queue, x->mem[n], CL_TRUE, at, size, bytes, 0, NULL, NULL));
        } else {
            cl_int error;
            void *to = clEnqueueMapBuffer(queue, x->mem[n], CL_TRUE, CL_MAP_WRITE, at, size, 0,
                                          NULL, NULL, &error);
            need(error, "clEnqueueMapBuffer");
            memcpy(to, bytes, size);
            NEED(clEnqueueUnmapMemObject(queue, x->mem[n], to, 0, NULL, NULL));
        }
    }
    NEED(clFinish(queue));
}

static void run_recorded(execution *x, unsigned how) {
    const cl_command_buffer_properties_khr unfused[] = {CL_COMMAND_BUFFER_FUSION_SPVF,
                                                        CL_COMMAND_BUFFER_FUSION_NONE_SPVF, 0};
    const cl_command_buffer_properties_khr mutable[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                        CL_COMMAND_BUFFER_MUTABLE_KHR, 0};
    x->updates = how == UPDATED;
    x->commands = create(1, &queue, how == UNFUSED ? unfused : x->updates ? mutable : NULL, NULL);
    perform(x);
    forget_args();
    let_go(x);
    NEED(finalize(x->commands));
    update_launches(x, true);
    for (unsigned n = 0; n < RUNS; n++) {
        NEED(enqueue(0, NULL, x->commands, 0, NULL, NULL));
        NEED(clFinish(queue));
        change_memory_between(x, n);
        update_launches(x, n % 2);
        update_launches(x, true);
    }
}

static void print_report(const execution *x) {
    char report[1 << 16] = "";
    get_info(x->commands, CL_COMMAND_BUFFER_FUSION_REPORT_SPVF, sizeof report, report, NULL);
    printf("%s", report);
}

static void execute(const program *p, unsigned how, bool tell, unsigned char got[BLOCKS][BYTES]) {
    execution x = {.program = p};
    const size_t one = 1;
    memset(got, 0, BLOCKS * BYTES);
    for (unsigned n = 0; n < BLOCKS; n++) make_block(&x, n);
    for (unsigned n = BLOCKS; n < PLACES; n++) make_place(&x, n);
    NEED(clEnqueueNDRangeKernel(queue, reset, 1, NULL, &one, NULL, 0, NULL, NULL));
    if (how != ENQUEUED) run_recorded(&x, how);
    for (unsigned n = 0; how == ENQUEUED && n < RUNS; n++) {
        perform(&x);
        change_memory_between(&x, n);
    }
    for (unsigned n = 0; n < BLOCKS; n++)
        if (!p->blocks[n].let_go)
            NEED(clEnqueueReadBuffer(queue, x.mem[n], CL_TRUE, 0, BYTES, got[n], 0, NULL, NULL));
    NEED(clFinish(queue));
    if (tell) print_report(&x);
    if (x.commands) NEED(release(x.commands));
    forget_args();
    for (unsigned n = 0; n < PLACES; n++)
        if (x.mem[n]) NEED(clReleaseMemObject(x.mem[n]));
    NEED(clFinish(queue));
    for (unsigned n = 0; n < BLOCKS; n++)
        if (p->blocks[n].kind != SHARED)
            free(x.host[n]);
        else if (n % 2)
            clSVMFree(context, x.host[n]);
        else
            NEED(usm.free(context, x.host[n]));
}

/* -------------------------------------------------------------------------------- begin and end */

static cl_platform_id platform;
static cl_program built;

static void find(const char *name, void *to) { load_entry(platform, name, to); }

static void find_entries(void) {
    if (!find_usm(platform) || !find_mutable(platform)) need(CL_INVALID_OPERATION, "functions");
    find("clCreateCommandBufferKHR", &create);
    find("clReleaseCommandBufferKHR", &release);
    find("clFinalizeCommandBufferKHR", &finalize);
    find("clEnqueueCommandBufferKHR", &enqueue);
    find("clCommandNDRangeKernelKHR", &record_launch);
    find("clCommandCopyBufferKHR", &record_copy);
    find("clCommandFillBufferKHR", &record_fill);
    find("clCommandSVMMemcpyKHR", &record_memcpy);
    find("clCommandSVMMemFillKHR", &record_memfill);
    find("clCommandBarrierWithWaitListKHR", &record_barrier);
    find("clGetCommandBufferInfoKHR", &get_info);
}

static cl_kernel find_kernel(const char *name) {
    cl_int error;
    cl_kernel k = clCreateKernel(built, name, &error);
    need(error, name);
    return k;
}

static void begin(const char *file) {
    cl_device_id device;
    char log[4096] = "";
    const char *text = read_file(file, NULL);
    need(!text, file);
    need(!find_implementation(), "no implementation");
    NEED(clGetPlatformIDs(1, &platform, NULL));
    NEED(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    find_entries();
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    built = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    cl_int bad = clBuildProgram(built, 0, NULL, "-cl-std=CL3.0", NULL, NULL);
    free((void *)(uintptr_t)text);
    clGetProgramBuildInfo(built, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    need(bad, log);
    for (unsigned n = 0; n < KERNELS; n++) code[n] = find_kernel(kernels[n].name);
    reset = find_kernel("reset");
}

static void end(void) {
    for (unsigned n = 0; n < KERNELS; n++) NEED(clReleaseKernel(code[n]));
    NEED(clReleaseKernel(reset));
    NEED(clReleaseProgram(built));
    NEED(clReleaseCommandQueue(queue));
    NEED(clReleaseContext(context));
}

int main(int argc, char **argv) {
    const comparison c = {.title = "random commands",
                          .begin = begin,
                          .end = end,
                          .execute = execute,
                          .count = 4,
                          .ways = {"fused", "updated", "recorded", "enqueued"}};
    return compare_programs(&c, argc, argv);
}
