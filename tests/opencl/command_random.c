/* command_random.c — random commands over random memory: a command buffer that fuses, one that does
 * not, and the same commands enqueued one by one leave the same bytes behind.
 *
 *     command_random [-n PROGRAMS] [-s SEED]
 *
 * Memory is a few blocks of one type each, and places in them: buffers and their parts, buffers
 * that share memory of the host, addresses of shared virtual memory.  A launch is given places with
 * which its result does not depend on the order of its items; anything else may overlap.  Blocks
 * that are let go before fusing are internal, and only the others are compared.  Of a program that
 * fails the commands that matter are printed. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_ENABLE_BETA_EXTENSIONS
#include "runtime/spvfuse_opencl.h"
#include "tests/opencl/loader.h"
#include "tests/random.h"

#include <CL/cl.h>
#include <stdio.h>

enum { BLOCKS = 10, PLACES = 13, COMMANDS = 12, ARGS = 4, RUNS = 2, ITEMS = 128, BYTES = 2048 };

/* -------------------------------------------------------------------------------------- kernels */

static const char source[] =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#define X get_global_id(0)\n"
    "#define KERNEL kernel void\n"
    "#define IN global const int *from\n"
    "#define OUT global int *to\n"
    "typedef struct { char a; short b; int c[3]; long d; int3 e; } all;\n"
    "constant int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};\n"
    "global int total = 1;\n"
    "KERNEL reset() { total = 1; }\n"
    "KERNEL add(OUT, IN, int k) { to[X] = from[X] + k; }\n"
    "KERNEL mix(OUT, IN, global const int *other) { to[X] = from[X] * 3 ^ other[X]; }\n"
    "KERNEL some(OUT, IN, int k) { if (from[X] & 1) to[X] = k; }\n"
    "KERNEL sum(OUT, IN) { to[X] += from[X]; }\n"
    "KERNEL both(OUT, global int *to2, IN) { int x = from[X]; to[X] = x - 1; to2[X] += x; }\n"
    "KERNEL loop(OUT, IN, int k) {\n"
    "  int sum = k;\n"
    "  for (int n = 0; n < (from[X] & 7); n++) sum = sum * 31 + n;\n"
    "  to[X] = sum;\n"
    "}\n"
    "KERNEL leave(OUT, IN, int k) {\n"
    "  if (from[X] > 0) return;\n"
    "  for (int n = 0;; n++) if (((from[X] + n) & 15) == 3) { to[X] = n; return; }\n"
    "}\n"
    "KERNEL reverse(global int *restrict to, IN) {\n"
    "  size_t o = get_global_offset(0);\n"
    "  to[X] = from[2 * o + get_global_size(0) - 1 - X];\n"
    "}\n"
    "KERNEL scatter(OUT, global const int *restrict from, int k) {\n"
    "  size_t o = get_global_offset(0), n = get_global_size(0);\n"
    "  to[o + (X - o + (k & 63)) % n] = from[X];\n"
    "}\n"
    "KERNEL gather(OUT, IN, global const int *at) { to[X] = from[at[X] & 31]; }\n"
    "KERNEL spread(OUT, IN) { to[X] = *from; }\n"
    "KERNEL first(OUT, IN) { if (X == get_global_offset(0)) *to += *from; }\n"
    "KERNEL count(OUT, IN) { atomic_add(&to[from[X] & 15], 1); }\n"
    "KERNEL most(OUT, IN) { atomic_max(&to[X & 3], from[X]); }\n"
    "KERNEL flip(volatile OUT, IN) { atomic_xor(&to[X & 3], from[X]); to[4] = 4; }\n"
    "KERNEL own(OUT, IN) { to[X] = atomic_xchg(&to[X], from[X]) + 1; }\n"
    "KERNEL table(OUT, IN) { to[X] = primes[from[X] & 7]; }\n"
    "KERNEL total_add(IN) { atomic_add(&total, from[X]); }\n"
    "KERNEL total_get(OUT) { to[X] = total; }\n"
    "KERNEL structs(OUT, all s) { to[X] += s.a + s.b * s.c[2] + (int)s.d + s.e.z; }\n"
    "KERNEL three(OUT, IN, int k) {\n"
    "  if (X < 16) vstore3(vload3(X, from) * 3 + (int3)(1, 2, k), X, to);\n"
    "}\n"
    "KERNEL bytes(OUT, global const uchar4 *from) {\n"
    "  uchar4 v = from[X].wzxy;\n"
    "  ((global uchar4 *)to)[X] = v + (uchar4)1;\n"
    "}\n"
    "KERNEL half_bytes(OUT, IN) {\n"
    "  ushort h[2];\n"
    "  vstore_half((float)(from[X] & 0xffff) / 7, X & 1, (half *)h);\n"
    "  to[X] = h[X & 1];\n"
    "}\n"
    "KERNEL plane(OUT, IN) {\n"
    "  size_t i = (get_global_id(2) * 4 + get_global_id(1)) * 4 + X;\n"
    "  to[i] = from[i] - (int)get_global_id(1);\n"
    "}\n"
    "KERNEL groups(OUT, IN, local int *scratch) {\n"
    "  int l = get_local_id(0), n = get_local_size(0), sum = 0;\n"
    "  scratch[l] = from[X];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int k = 0; k < n; k++) sum = sum * 3 + scratch[k];\n"
    "  to[X] = sum;\n"
    "}\n"
    "KERNEL rotate_group(OUT, IN) {\n"
    "  local int tile[64];\n"
    "  int l = get_local_id(0), n = get_local_size(0);\n"
    "  tile[l] = from[X];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  to[X] = tile[(l + 1) % n];\n"
    "}\n"
    "KERNEL neighbour(OUT) {\n"
    "  int l = get_local_id(0), n = get_local_size(0), x = to[X + (l + 1) % n - l];\n"
    "  barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "  to[X] = x + 1;\n"
    "}\n"
    "KERNEL ids(OUT) {\n"
    "  to[X] = get_local_id(0) + 100 * get_group_id(0) + 10000 * get_num_groups(0) +\n"
    "          1000000 * get_local_size(0) + get_global_size(0) + get_enqueued_local_size(0);\n"
    "}\n"
    "KERNEL __attribute__((reqd_work_group_size(8, 1, 1))) eights(OUT, IN) {\n"
    "  to[X] = from[X] + work_group_reduce_add(from[X]) * get_group_id(0);\n"
    "}\n"
    "KERNEL product(global float *to, global const float *from, global const float *other) {\n"
    "  to[X] = from[X] * other[X];\n"
    "}\n"
    "KERNEL plus(global float *to, global const float *from, global const float *other) {\n"
    "  to[X] = from[X] + other[X];\n"
    "}\n"
    "KERNEL quotient(global float *to, global const float *from, global const float *other) {\n"
    "  to[X] = sqrt(from[X] / (other[X] + 1));\n"
    "}\n"
    "KERNEL wide(global double *to, global const double *from, global const float *other) {\n"
    "  to[X] = from[X] * other[X] + 1;\n"
    "}\n"
    "KERNEL narrow(global float *to, global const double *from) { to[X] = from[X]; }\n";

/* The struct as the host has it. */
typedef struct {
    cl_char a;
    cl_short b;
    cl_int c[3];
    cl_long d;
    cl_int3 e;
} all;

/* What a kernel is given, a letter each: i f d — memory of ints, floats, doubles of which an item
 * uses its own element — or I, all elements; v — an int, l — local memory, s — the struct.  What is
 * written has > in front. */
typedef struct {
    const char *name, *args;
    enum { ANY, GROUPS, EIGHTS, PLANE } range;
} kernel;

static const kernel kernels[] = {
    {"add", ">iiv", ANY},        {"mix", ">iii", ANY},
    {"some", ">iiv", ANY},       {"sum", ">ii", ANY},
    {"both", ">i>ii", ANY},      {"loop", ">iiv", ANY},
    {"leave", ">iiv", ANY},      {"reverse", ">II", ANY},
    {"scatter", ">IIv", ANY},    {"gather", ">IIi", ANY},
    {"spread", ">II", ANY},      {"first", ">II", ANY},
    {"count", ">II", ANY},       {"most", ">II", ANY},
    {"flip", ">II", ANY},        {"own", ">ii", ANY},
    {"table", ">ii", ANY},       {"total_add", "I", ANY},
    {"total_get", ">i", ANY},    {"structs", ">is", ANY},
    {"three", ">iiv", ANY},      {"bytes", ">ii", ANY},
    {"half_bytes", ">ii", ANY},  {"plane", ">ii", PLANE},
    {"groups", ">iil", GROUPS},  {"rotate_group", ">ii", GROUPS},
    {"neighbour", ">i", GROUPS}, {"ids", ">i", GROUPS},
    {"eights", ">ii", EIGHTS},   {"product", ">fff", ANY},
    {"plus", ">fff", ANY},       {"quotient", ">fff", ANY},
    {"wide", ">ddf", ANY},       {"narrow", ">fd", ANY},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* ------------------------------------------------------------------------------------- programs */

typedef struct {
    enum { BUFFER, HOST, SHARED } kind;
    char type;
    bool let_go;
} block;

/* A buffer with all of its block, a part of that buffer, or an address in it. */
typedef struct {
    unsigned block, at;
    enum { WHOLE, PART, ADDRESS } kind;
} place;

typedef struct {
    enum { LAUNCH, COPY, FILL, WAIT } kind;
    unsigned kernel, places[ARGS]; /* or: from, to */
    int value;
    cl_uint dims;
    size_t offset[3], global[3], local[3]; /* local[0] = 0: none */
    size_t at, size;
    bool left_out;
} command;

typedef struct {
    block blocks[BLOCKS];
    place places[PLACES];
    size_t global, local; /* of most launches */
    unsigned count;
    command commands[COMMANDS];
} program;

static size_t width(char type) { return type == 'd' ? 8 : 4; }

/* The first places are the blocks; others begin where a buffer may be divided, or anywhere. */
static void draw_memory(program *p, uint64_t *random) {
    for (unsigned n = 0; n < BLOCKS; n++) {
        block *b = &p->blocks[n];
        b->kind = draw_below(random, 5) < 3 ? BUFFER : 1 + draw_below(random, 2);
        b->type = n ? "iiiiffd"[draw_below(random, 7)] : 'i';
        b->let_go = b->kind == BUFFER && draw_below(random, 2);
        p->places[n] = (place){n, 0, WHOLE};
    }
    for (unsigned n = BLOCKS; n < PLACES; n++) {
        const unsigned b = draw_below(random, BLOCKS);
        p->places[n] = p->blocks[b].kind == BUFFER
                           ? (place){b, 128 * draw_below(random, 9), PART}
                           : (place){b, 8 * draw_below(random, 129),
                                     p->blocks[b].kind == HOST ? PART : ADDRESS};
    }
}

static char type_of(const program *p, unsigned n) { return p->blocks[p->places[n].block].type; }

/* One of the places of a type, often that of the command before; PLACES: there is none. */
static unsigned draw_place(const program *p, char type, uint64_t *random) {
    const unsigned last = p->count ? p->commands[p->count - 1].places[0] : PLACES;
    const bool follows = draw_below(random, 2) && last < PLACES && type_of(p, last) == type;
    const unsigned first = follows ? last : draw_below(random, PLACES);
    for (unsigned n = 0; n < PLACES; n++)
        if (type_of(p, (first + n) % PLACES) == type) return (first + n) % PLACES;
    return PLACES;
}

/* Have items elements of both, other than each its own? */
static bool share(const program *p, unsigned a, unsigned b, bool own) {
    const place *x = &p->places[a], *y = &p->places[b];
    const unsigned apart = x->at < y->at ? y->at - x->at : x->at - y->at;
    return x->block == y->block && apart < ITEMS * width(type_of(p, a)) && (apart || !own);
}

/* An argument of a kernel. */
typedef struct {
    char letter;
    bool writes;
} parameter;

/* Reads one, and the next one begins there. */
static parameter next_parameter(const char **args) {
    const bool writes = **args == '>';
    *args += writes;
    return (parameter){*(*args)++, writes};
}

static bool is_memory(parameter x) { return strchr("ifdI", x.letter) != NULL; }

static bool draw_args(const program *p, command *c, uint64_t *random) {
    const char *args = kernels[c->kernel].args;
    parameter x[ARGS];
    for (unsigned n = 0; *args; n++) {
        x[n] = next_parameter(&args);
        if (!is_memory(x[n])) break;
        c->places[n] = draw_place(p, x[n].letter == 'I' ? 'i' : x[n].letter, random);
        if (c->places[n] == PLACES) return false;
        for (unsigned k = 0; k < n; k++)
            if ((x[k].writes || x[n].writes) &&
                share(p, c->places[k], c->places[n], x[k].letter != 'I' && x[n].letter != 'I'))
                return false;
    }
    return true;
}

static void draw_plane(command *c, uint64_t *random) {
    const bool full = draw_below(random, 2);
    c->dims = 3;
    for (unsigned d = 0; d < 3; d++) {
        c->global[d] = full ? d < 2 ? 4 : 8 : 1 + draw_below(random, 4);
        c->local[d] = c->local[0] ? 1 + draw_below(random, 4) : 0;
    }
}

static size_t draw_local(uint64_t *random) { return (size_t)1 << draw_below(random, 6); }

/* Up to ITEMS; whole groups for those that work as a group. */
static void draw_range(const program *p, command *c, uint64_t *random) {
    const bool same = draw_below(random, 8);
    c->dims = 1;
    c->offset[0] = draw_below(random, 8) ? 0 : draw_below(random, 9);
    c->global[0] = same ? p->global : 1 + draw_below(random, ITEMS - 8);
    c->local[0] = same ? p->local : draw_below(random, 2) * draw_local(random);
    if (c->offset[0] + c->global[0] > ITEMS) c->global[0] = ITEMS - c->offset[0];
    switch (kernels[c->kernel].range) {
    case GROUPS:
        if (!c->local[0]) c->local[0] = draw_local(random);
        c->offset[0] = 0;
        c->global[0] = same ? ITEMS : 32 * (1 + draw_below(random, 3));
        break;
    case EIGHTS:
        c->local[0] = draw_below(random, 2) ? 8 : 0;
        c->offset[0] = 0;
        c->global[0] = same ? ITEMS : 32;
        break;
    case PLANE: draw_plane(c, random); break;
    case ANY: break;
    }
}

static bool draw_launch(const program *p, command *c, uint64_t *random) {
    c->kernel = draw_below(random, KERNELS);
    draw_range(p, c, random);
    return draw_args(p, c, random);
}

/* Between blocks; addresses are none's. */
static bool draw_transfer(const program *p, command *c, uint64_t *random) {
    const char type = p->blocks[draw_below(random, BLOCKS)].type;
    for (unsigned n = 0; n < 2; n++) {
        c->places[n] = draw_place(p, type, random);
        if (p->places[c->places[n]].kind == ADDRESS) return false;
    }
    c->at = 8 * draw_below(random, 32);
    c->size = 8 * (1 + draw_below(random, 96));
    return c->kind == FILL || p->places[c->places[0]].block != p->places[c->places[1]].block;
}

static void draw_command(const program *p, command *c, uint64_t *random) {
    bool ok;
    do {
        *c = (command){.kind = draw_below(random, 10) ? LAUNCH : 1 + draw_below(random, 3),
                       .value = (int)draw_below(random, 100)};
        ok = c->kind == LAUNCH ? draw_launch(p, c, random)
                               : c->kind == WAIT || draw_transfer(p, c, random);
    } while (!ok);
}

static void draw_program(program *p, uint64_t *random) {
    const unsigned count = 2 + draw_below(random, COMMANDS - 1);
    *p = (program){.global = draw_below(random, 4) ? ITEMS : 1 + draw_below(random, ITEMS),
                   .local = draw_below(random, 3) ? draw_local(random) : 0};
    draw_memory(p, random);
    for (; p->count < count; p->count++) draw_command(p, &p->commands[p->count], random);
}

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

/* Ends the test when a call fails. */
static void need(cl_int status, const char *what) {
    if (!status) return;
    printf("%s: %d\n", what, status);
    exit(1);
}
#define NEED(call) need(call, #call)

typedef enum { FUSED, UNFUSED, ENQUEUED, WAYS } way;

typedef struct {
    const program *program;
    cl_command_buffer_khr commands; /* NULL: they are enqueued */
    unsigned char *host[BLOCKS];
    cl_mem mem[PLACES];
} execution;

/* The same bytes for every way; floating-point numbers are between 1 and 2. */
static void fill_block(unsigned char *to, unsigned b, char type) {
    uint64_t state = b;
    for (size_t n = 0; n < BYTES; n += width(type)) {
        const cl_uint bits = (cl_uint)splitmix64(&state);
        const cl_float f = 1 + (cl_float)(bits >> 9) / (1 << 23);
        const cl_double d = f;
        memcpy(to + n,
               type == 'd'   ? (const void *)&d
               : type == 'f' ? (const void *)&f
                             : &bits,
               width(type));
    }
}

static void make_block(execution *x, unsigned n) {
    const block *b = &x->program->blocks[n];
    const bool shared = b->kind == SHARED;
    cl_int error;
    x->host[n] = shared ? clSVMAlloc(context, 0, BYTES, 0) : malloc(BYTES);
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

static void set_args(const execution *x, const command *c) {
    const all s = {1, 2, {3, 4, c->value}, 6, {{7, 8, 9}}};
    const char *args = kernels[c->kernel].args;
    cl_kernel k = code[c->kernel];
    for (cl_uint n = 0; *args; n++) switch (next_parameter(&args).letter) {
        case 'v': NEED(clSetKernelArg(k, n, sizeof c->value, &c->value)); break;
        case 'l': NEED(clSetKernelArg(k, n, c->local[0] * sizeof(cl_int), NULL)); break;
        case 's': NEED(clSetKernelArg(k, n, sizeof s, &s)); break;
        default: set_memory(x, c, n);
        }
}

static void launch(const execution *x, const command *c) {
    const size_t *local = c->local[0] ? c->local : NULL;
    cl_kernel k = code[c->kernel];
    set_args(x, c);
    if (x->commands)
        NEED(record_launch(x->commands, NULL, NULL, k, c->dims, c->offset, c->global, local, 0,
                           NULL, NULL, NULL));
    else
        NEED(clEnqueueNDRangeKernel(queue, k, c->dims, c->offset, c->global, local, 0, NULL, NULL));
}

static void copy(const execution *x, const command *c) {
    cl_mem from = x->mem[c->places[0]], to = x->mem[c->places[1]];
    if (x->commands)
        NEED(record_copy(x->commands, NULL, from, to, c->at, 8, c->size, 0, NULL, NULL, NULL));
    else
        NEED(clEnqueueCopyBuffer(queue, from, to, c->at, 8, c->size, 0, NULL, NULL));
}

static void fill(const execution *x, const command *c) {
    unsigned char pattern[BYTES];
    cl_mem to = x->mem[c->places[0]];
    const size_t size = width(type_of(x->program, c->places[0]));
    fill_block(pattern, (unsigned)c->value, type_of(x->program, c->places[0]));
    if (x->commands)
        NEED(
            record_fill(x->commands, NULL, to, pattern, size, c->at, c->size, 0, NULL, NULL, NULL));
    else
        NEED(clEnqueueFillBuffer(queue, to, pattern, size, c->at, c->size, 0, NULL, NULL));
}

static void perform(const execution *x) {
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

/* What is let go, and the parts, which nobody needs any more. */
static void let_go(execution *x) {
    for (unsigned n = 0; n < PLACES; n++) {
        const place *p = &x->program->places[n];
        if (!x->mem[n] || (p->kind == WHOLE && !x->program->blocks[p->block].let_go)) continue;
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

static void run_recorded(execution *x, way how) {
    const cl_command_buffer_properties_khr unfused[] = {CL_COMMAND_BUFFER_FUSION_SPVF,
                                                        CL_COMMAND_BUFFER_FUSION_NONE_SPVF, 0};
    x->commands = create(1, &queue, how == UNFUSED ? unfused : NULL, NULL);
    perform(x);
    forget_args();
    let_go(x);
    NEED(finalize(x->commands));
    for (int n = 0; n < RUNS; n++) {
        NEED(enqueue(0, NULL, x->commands, 0, NULL, NULL));
        NEED(clFinish(queue));
    }
}

static void print_report(const execution *x) {
    char report[1 << 16] = "";
    get_info(x->commands, CL_COMMAND_BUFFER_FUSION_REPORT_SPVF, sizeof report, report, NULL);
    printf("%s", report);
}

/* Leaves the bytes of all that was not let go, and zeros. */
static void execute(const program *p, way how, bool tell, unsigned char got[BLOCKS][BYTES]) {
    execution x = {.program = p};
    const size_t one = 1;
    memset(got, 0, BLOCKS * BYTES);
    for (unsigned n = 0; n < BLOCKS; n++) make_block(&x, n);
    for (unsigned n = BLOCKS; n < PLACES; n++) make_place(&x, n);
    NEED(clEnqueueNDRangeKernel(queue, reset, 1, NULL, &one, NULL, 0, NULL, NULL));
    if (how != ENQUEUED) run_recorded(&x, how);
    for (int n = 0; how == ENQUEUED && n < RUNS; n++) perform(&x);
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
        if (p->blocks[n].kind == SHARED)
            clSVMFree(context, x.host[n]);
        else
            free(x.host[n]);
}

/* ------------------------------------------------------------------------------------ the report */

/* The way that leaves something else behind than commands that are enqueued; WAYS: none does. */
static way find_wrong(const program *p) {
    static unsigned char got[WAYS][BLOCKS][BYTES];
    for (way how = WAYS; how-- > 0;) {
        execute(p, how, false, got[how]);
        if (memcmp(got[how], got[ENQUEUED], sizeof got[how])) return how;
    }
    return WAYS;
}

/* Without one command after the other, as long as it fails. */
static void reduce(program *p) {
    for (unsigned n = 0; n < p->count; n++) {
        p->commands[n].left_out = true;
        p->commands[n].left_out = find_wrong(p) < WAYS;
    }
}

static void print_place(const program *p, unsigned n) {
    static const char *const kinds[] = {"buffer", "host", "shared"};
    const place *at = &p->places[n];
    const block *b = &p->blocks[at->block];
    printf(" %s%u", kinds[b->kind], at->block);
    if (at->kind != WHOLE) printf("%s+%u", at->kind == ADDRESS ? "*" : "", at->at);
    if (b->let_go) printf("(let go)");
}

static void print_command(const program *p, const command *c) {
    static const char *const kinds[] = {"launch", "copy", "fill", "barrier"};
    const char *args = c->kind == LAUNCH ? kernels[c->kernel].args : c->kind == WAIT ? "" : "ii";
    if (c->left_out) return;
    printf("  %s", c->kind == LAUNCH ? kernels[c->kernel].name : kinds[c->kind]);
    for (unsigned n = 0; *args; n++)
        if (is_memory(next_parameter(&args))) print_place(p, c->places[n]);
    printf(" value %d at %zu size %zu", c->value, c->at, c->size);
    for (unsigned d = 0; d < c->dims; d++)
        printf(" | %zu + %zu / %zu", c->offset[d], c->global[d], c->local[d]);
    printf("\n");
}

static void print_program(const program *p, uint64_t seed) {
    static const char *const ways[] = {"fused", "recorded"};
    static unsigned char got[BLOCKS][BYTES];
    printf("-n 1 -s %llu: %s commands give something else:\n", (unsigned long long)seed,
           ways[find_wrong(p)]);
    for (unsigned n = 0; n < p->count; n++) print_command(p, &p->commands[n]);
    execute(p, FUSED, true, got);
}

static bool try(uint64_t seed) {
    uint64_t random = seed;
    program p;
    draw_program(&p, &random);
    if (find_wrong(&p) == WAYS) return true;
    reduce(&p);
    print_program(&p, seed);
    return false;
}

/* -------------------------------------------------------------------------------- begin and end */

static cl_platform_id platform;
static cl_program built;

static void find(const char *name, void *to) {
    void *entry = clGetExtensionFunctionAddressForPlatform(platform, name);
    memcpy(to, &entry, sizeof entry);
}

static void find_entries(void) {
    find("clCreateCommandBufferKHR", &create);
    find("clReleaseCommandBufferKHR", &release);
    find("clFinalizeCommandBufferKHR", &finalize);
    find("clEnqueueCommandBufferKHR", &enqueue);
    find("clCommandNDRangeKernelKHR", &record_launch);
    find("clCommandCopyBufferKHR", &record_copy);
    find("clCommandFillBufferKHR", &record_fill);
    find("clCommandBarrierWithWaitListKHR", &record_barrier);
    find("clGetCommandBufferInfoKHR", &get_info);
}

static cl_kernel find_kernel(const char *name) {
    cl_int error;
    cl_kernel k = clCreateKernel(built, name, &error);
    need(error, name);
    return k;
}

static void begin(void) {
    cl_device_id device;
    char log[4096] = "";
    const char *text = source;
    need(!find_implementation(), "no implementation");
    NEED(clGetPlatformIDs(1, &platform, NULL));
    NEED(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    find_entries();
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
    built = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    cl_int bad = clBuildProgram(built, 0, NULL, "-cl-std=CL3.0", NULL, NULL);
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
    unsigned long long count = 200, seed = 1, wrong = 0;
    for (int opt; (opt = getopt(argc, argv, "n:s:")) != -1;)
        *(opt == 'n' ? &count : &seed) = strtoull(optarg, NULL, 10);
    begin();
    for (unsigned long long n = 0; n < count; n++) wrong += !try(seed + n);
    end();
    printf("random commands: %llu passed, %llu failed\n", count - wrong, wrong);
    return wrong != 0;
}
