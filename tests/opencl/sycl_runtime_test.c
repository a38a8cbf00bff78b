/* sycl_runtime_test.c — a runtime like those of SYCL, and programs on it.  It has no buffer, no queue
 * in order, and no barrier: memory is unified shared memory, commands are ordered by the events that
 * they are given, and graphs are command buffers whose nodes are updated between runs.  Where a
 * device has no such updates, graphs are recorded anew; without command buffers, nodes are enqueued
 * one by one.
 */
#include "tests/opencl/command_buffer.h"
#include "tests/opencl/mutable.h"
#include "tests/opencl/select.h"
#include "tests/opencl/usm.h"

/* ------------------------------------------------------------------------------------ the runtime */

enum { MAX_ARGS = 6, MAX_NODES = 4 };

typedef struct {
    cl_command_queue queue; /* in any order */
    cl_program program;
    bool records, updates; /* command buffers */
} runtime;

static runtime rt;

/* An argument: a pointer into unified shared memory, or a value. */
typedef struct {
    const void *pointer;
    float value;
    bool is_value;
} argument;

#define P(p)                                                                                       \
    (argument) { .pointer = (p) }
#define V(v)                                                                                       \
    (argument) { .value = (v), .is_value = true }

/* A parallel_for. */
typedef struct {
    const char *kernel;
    size_t items;
    argument args[MAX_ARGS];
} command_group;

static const char source[] =
    "kernel void iota(global float *to, float step) { to[get_global_id(0)] = get_global_id(0) * "
    "step; }\n"
    "kernel void sum(global float *to, global const float *a, global const float *b) {\n"
    "    size_t x = get_global_id(0);\n"
    "    to[x] = a[x] + b[x];\n"
    "}\n"
    "kernel void axpy(global float *y, global const float *x, float a) {\n"
    "    y[get_global_id(0)] += a * x[get_global_id(0)];\n"
    "}\n"
    "kernel void scale(global float *to, global const float *from, float a) {\n"
    "    to[get_global_id(0)] = a * from[get_global_id(0)];\n"
    "}\n"
    "typedef struct node { global struct node *next; global float *data; } node;\n"
    "kernel void gather(global float *to, global const node *list) {\n"
    "    float sum = 0;\n"
    "    for (; list; list = list->next) sum += list->data[get_global_id(0)];\n"
    "    to[get_global_id(0)] = sum;\n"
    "}\n";

static bool has_unified_memory(cl_device_id d) {
    return has_extension(d, "cl_intel_unified_shared_memory");
}

static void begin_without(const char *extensions) {
    cr_assert_eq(setenv("SPVF_WITHOUT_EXTENSIONS", extensions, 1), 0);
    begin_commands();
    cr_assert(select_device(has_unified_memory) && find_usm(ocl.platform));
    rt.records = has_extension(ocl.device, "cl_khr_command_buffer");
    rt.updates = has_extension(ocl.device, "cl_khr_command_buffer_mutable_dispatch") &&
                 find_mutable(ocl.platform);
    rt.queue = new_queue(ocl.context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    rt.program = built(source, "-cl-std=CL3.0");
}

static void end(void) {
    SUCCEEDS(clFinish(rt.queue));
    SUCCEEDS(clReleaseCommandQueue(rt.queue));
    SUCCEEDS(clReleaseProgram(rt.program));
    end_commands();
}

#define UPDATES "cl_khr_command_buffer_mutable_dispatch"
static void begin(void) { begin_without(""); }
static void begin_anew(void) { begin_without(UPDATES); }
static void begin_one_by_one(void) { begin_without("cl_khr_command_buffer " UPDATES); }

TestSuite(sycl_runtime, .init = begin, .fini = end);
TestSuite(sycl_recorded_anew, .init = begin_anew, .fini = end);
TestSuite(sycl_one_by_one, .init = begin_one_by_one, .fini = end);

static float *malloc_device(size_t count) {
    return MAKE(usm.device_alloc(ocl.context, ocl.device, NULL, count * 4, 64, &error));
}

static float *malloc_host(size_t count) {
    return MAKE(usm.host_alloc(ocl.context, NULL, count * 4, 64, &error));
}

static void *malloc_shared(size_t bytes) {
    return MAKE(usm.shared_alloc(ocl.context, ocl.device, NULL, bytes, 64, &error));
}

static void give_back(void *p) { SUCCEEDS(usm.blocking_free(ocl.context, p)); }

/* With its arguments; any kind of memory may be reached through others. */
static cl_kernel kernel_of(const command_group *g) {
    const cl_bool yes = CL_TRUE;
    cl_kernel k = MAKE(clCreateKernel(rt.program, g->kernel, &error));
    for (cl_uint n = 0; n < MAX_ARGS; n++) {
        const argument *a = &g->args[n];
        if (a->pointer) SUCCEEDS(usm.set_arg(k, n, a->pointer));
        if (a->is_value) SUCCEEDS(clSetKernelArg(k, n, sizeof a->value, &a->value));
    }
    SUCCEEDS(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, 4, &yes));
    SUCCEEDS(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL, 4, &yes));
    SUCCEEDS(clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL, 4, &yes));
    return k;
}

static cl_event submit(command_group g, cl_uint n, const cl_event *deps) {
    cl_event e;
    cl_kernel k = kernel_of(&g);
    SUCCEEDS(clEnqueueNDRangeKernel(rt.queue, k, 1, NULL, &g.items, NULL, n, n ? deps : NULL, &e));
    SUCCEEDS(clReleaseKernel(k));
    return e;
}

static void wait_and_drop(cl_uint n, const cl_event *events) {
    SUCCEEDS(clWaitForEvents(n, events));
    for (cl_uint k = 0; k < n; k++) SUCCEEDS(clReleaseEvent(events[k]));
}

/* Nodes follow each other. */
typedef struct {
    cl_command_buffer_khr commands; /* NULL: not recorded */
    command_group nodes[MAX_NODES];
    cl_mutable_command_khr handles[MAX_NODES];
    cl_uint count;
} graph;

static unsigned add_node(graph *g, command_group node) {
    g->nodes[g->count] = node;
    return g->count++;
}

static void record_graph(graph *g) {
    const cl_command_buffer_properties_khr p[] = {
        CL_COMMAND_BUFFER_FLAGS_KHR,
        CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR | (rt.updates ? CL_COMMAND_BUFFER_MUTABLE_KHR : 0),
        0};
    cl_sync_point_khr point, before;
    g->commands = MAKE(khr.clCreateCommandBufferKHR(1, &rt.queue, p, &error));
    for (cl_uint n = 0; n < g->count; n++, before = point) {
        cl_kernel k = kernel_of(&g->nodes[n]);
        SUCCEEDS(khr.clCommandNDRangeKernelKHR(g->commands, NULL, NULL, k, 1, NULL,
                                               &g->nodes[n].items, NULL, n > 0, n ? &before : NULL,
                                               &point, rt.updates ? &g->handles[n] : NULL));
        SUCCEEDS(clReleaseKernel(k));
    }
    finalize(g->commands);
}

static void drop_recording(graph *g) {
    if (g->commands) SUCCEEDS(khr.clReleaseCommandBufferKHR(g->commands));
    g->commands = NULL;
}

/* All arguments anew, as runtimes do. */
static mutable_config config_of(const graph *g, unsigned n, mutable_arg args[2][MAX_ARGS]) {
    mutable_config c = {.command = g->handles[n], .global_work_size = &g->nodes[n].items};
    for (cl_uint k = 0; k < MAX_ARGS; k++) {
        const argument *a = &g->nodes[n].args[k];
        if (a->pointer) args[0][c.num_svm_args++] = (mutable_arg){k, 0, a->pointer};
        if (a->is_value) args[1][c.num_args++] = (mutable_arg){k, sizeof a->value, &a->value};
    }
    c.arg_svm_list = c.num_svm_args ? args[0] : NULL;
    c.arg_list = c.num_args ? args[1] : NULL;
    return c;
}

/* The nodes have changed. */
static void update_graph(graph *g) {
    mutable_arg args[MAX_NODES][2][MAX_ARGS];
    mutable_config configs[MAX_NODES];
    const cl_uint types[MAX_NODES] = {0};
    const void *list[MAX_NODES];
    if (!rt.updates) drop_recording(g);
    if (!g->commands) return;
    for (unsigned n = 0; n < g->count; n++) {
        configs[n] = config_of(g, n, args[n]);
        list[n] = &configs[n];
    }
    SUCCEEDS(changing.update(g->commands, g->count, types, list));
}

static cl_event run_one_by_one(const graph *g, cl_uint n, const cl_event *deps) {
    cl_event last = submit(g->nodes[0], n, deps);
    for (unsigned k = 1; k < g->count; k++) {
        cl_event next = submit(g->nodes[k], 1, &last);
        SUCCEEDS(clReleaseEvent(last));
        last = next;
    }
    return last;
}

static cl_event run_graph(graph *g, cl_uint n, const cl_event *deps) {
    cl_event e;
    if (!rt.records) return run_one_by_one(g, n, deps);
    if (!g->commands) record_graph(g);
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(0, NULL, g->commands, n, n ? deps : NULL, &e));
    return e;
}

/* -------------------------------------------------------------------------------------- programs */

enum { N = 4096 };

/* Two kernels, a third one that needs both, a copy to the host: ordered by events alone. */
Test(sycl_runtime, diamond) {
    float *a = malloc_device(N), *b = malloc_device(N), *c = malloc_device(N),
          *host = malloc_host(N);
    const float one = 1, two = 2;
    cl_event gate = MAKE(clCreateUserEvent(ocl.context, &error)), e[4];
    e[0] = submit((command_group){"iota", N, {P(a), V(one)}}, 1, &gate);
    e[1] = submit((command_group){"iota", N, {P(b), V(two)}}, 1, &gate);
    e[2] = submit((command_group){"sum", N, {P(c), P(a), P(b)}}, 2, e);
    SUCCEEDS(usm.copy(rt.queue, CL_FALSE, host, c, N * 4, 1, &e[2], &e[3]));
    SUCCEEDS(clSetUserEventStatus(gate, CL_COMPLETE));
    wait_and_drop(4, e);
    for (int n = 0; n < N; n++) cr_assert_eq(host[n], 3.f * (float)n);
    SUCCEEDS(clReleaseEvent(gate));
    give_back(a);
    give_back(b);
    give_back(c);
    give_back(host);
}

/* Memory functions of a queue, in a chain of events, on places inside of allocations. */
Test(sycl_runtime, memory_functions) {
    int *p = malloc_shared(N * 4);
    const int pattern = 0x01020304;
    cl_event e[5];
    SUCCEEDS(usm.set(rt.queue, p, 0, N * 4, 0, NULL, &e[0]));
    SUCCEEDS(usm.fill(rt.queue, p + 10, &pattern, 4, 400, 1, &e[0], &e[1]));
    SUCCEEDS(usm.migrate(rt.queue, p + 10, 400, 0, 1, &e[1], &e[2]));
    SUCCEEDS(usm.advise(rt.queue, p, N * 4, 0, 1, &e[2], &e[3]));
    SUCCEEDS(usm.copy(rt.queue, CL_FALSE, p + 1000, p + 60, 400, 1, &e[3], &e[4]));
    wait_and_drop(5, e);
    for (int n = 0; n < N; n++) {
        bool filled = n >= 10 && n < 110, copied = n >= 1000 && n < 1050;
        cr_assert_eq(p[n], filled || copied ? pattern : 0, "%d", n);
    }
    give_back(p);
}

typedef struct node {
    struct node *next;
    float *data;
} node;

/* Memory of each kind that the kernel reaches through pointers in memory. */
Test(sycl_runtime, memory_that_is_not_passed) {
    float *to = malloc_host(N), *data[3] = {malloc_device(N), malloc_host(N), malloc_shared(N * 4)};
    node *list = NULL;
    cl_event e[4];
    for (int n = 0; n < 3; n++) {
        const float step = (float)(1 << n);
        node *more = malloc_shared(sizeof *more);
        *more = (node){list, data[n]};
        list = more;
        e[n] = submit((command_group){"iota", N, {P(data[n]), V(step)}}, 0, NULL);
    }
    e[3] = submit((command_group){"gather", N, {P(to), P(list)}}, 3, e);
    wait_and_drop(4, e);
    for (int n = 0; n < N; n++) cr_assert_eq(to[n], 7.f * (float)n);
    for (node *next; list; list = next) {
        next = list->next;
        give_back(list->data);
        give_back(list);
    }
    give_back(to);
}

#define WITH_EACH_GRAPH(name)                                                                      \
    static void name(void);                                                                        \
    Test(sycl_runtime, name) { name(); }                                                           \
    Test(sycl_recorded_anew, name) { name(); }                                                     \
    Test(sycl_one_by_one, name) { name(); }                                                        \
    static void name(void)

/* y += a x; z = b y: the graph of an iteration, whose pointers change places and whose numbers are
 * others each time.  Runs follow each other by events. */
WITH_EACH_GRAPH(graph_of_an_iteration) {
    enum { ROUNDS = 12 };
    float *v[3], *host = malloc_host(N), wanted[3][4] = {{0}};
    graph g = {NULL};
    cl_event last = NULL, e;
    for (int n = 0; n < 3; n++) {
        v[n] = malloc_device(N);
        e = submit((command_group){"iota", N, {P(v[n]), V((float)(n + 1))}}, 0, NULL);
        wait_and_drop(1, &e);
        for (int x = 0; x < 4; x++) wanted[n][x] = (float)(x * (n + 1));
    }
    add_node(&g, (command_group){"axpy", N, {{NULL}}});
    add_node(&g, (command_group){"scale", N, {{NULL}}});
    for (int r = 0; r < ROUNDS; r++) {
        float *const y = v[r % 3], *const x = v[(r + 1) % 3], *const z = v[(r + 2) % 3];
        const float a = 0.25f * (float)(r + 1), b = 1.f / (float)(1 << r % 4);
        g.nodes[0] = (command_group){"axpy", N, {P(y), P(x), V(a)}};
        g.nodes[1] = (command_group){"scale", N, {P(z), P(y), V(b)}};
        update_graph(&g);
        e = run_graph(&g, last != NULL, &last);
        if (last) SUCCEEDS(clReleaseEvent(last));
        last = e;
        if (g.commands) cr_expect_eq(count_launches(g.commands), 1, "%d", r);
        for (int n = 0; n < 4; n++) {
            wanted[r % 3][n] += a * wanted[(r + 1) % 3][n];
            wanted[(r + 2) % 3][n] = b * wanted[r % 3][n];
        }
    }
    for (int n = 0; n < 3; n++) {
        SUCCEEDS(usm.copy(rt.queue, CL_TRUE, host, v[n], N * 4, 1, &last, NULL));
        for (int x = 0; x < 4; x++)
            cr_expect_float_eq(host[x], wanted[n][x], 1e-4f * (1 + wanted[n][x]), "%d %d", n, x);
    }
    wait_and_drop(1, &last);
    drop_recording(&g);
    for (int n = 0; n < 3; n++) give_back(v[n]);
    give_back(host);
}

/* Several runs at a time, each with the pointers that were set before it; memory is freed when
 * all of them have ended. */
WITH_EACH_GRAPH(runs_at_the_same_time) {
    enum { RUNS = 8 };
    float *in = malloc_host(N), *out = malloc_host(RUNS * N);
    graph g = {NULL};
    cl_event start = MAKE(clCreateUserEvent(ocl.context, &error)), e[RUNS];
    for (int n = 0; n < N; n++) in[n] = (float)n;
    add_node(&g, (command_group){"scale", N, {{NULL}}});
    for (int r = 0; r < RUNS; r++) {
        g.nodes[0] = (command_group){"scale", N, {P(out + r * N), P(in), V((float)(r + 1))}};
        update_graph(&g);
        e[r] = run_graph(&g, 1, &start);
    }
    drop_recording(&g);
    SUCCEEDS(clSetUserEventStatus(start, CL_COMPLETE));
    give_back(in);
    for (int r = 0; r < RUNS; r++)
        for (int n = 0; n < N; n++) cr_assert_eq(out[r * N + n], (float)(n * (r + 1)));
    wait_and_drop(RUNS, e);
    SUCCEEDS(clReleaseEvent(start));
    give_back(out);
}
