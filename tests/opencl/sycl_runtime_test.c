/* sycl_runtime_test.c — a runtime like those of SYCL, and programs on it.  It has no buffer, no queue
 * in order, and no barrier: memory is unified shared memory, commands are ordered by the events that
 * they are given, and graphs are command buffers whose nodes are updated between runs.
 */
#include "tests/opencl/command_buffer.h"
#include "tests/opencl/mutable.h"
#include "tests/opencl/usm.h"

/* ------------------------------------------------------------------------------------ the runtime */

enum { MAX_ARGS = 6, MAX_DEPS = 4 };

typedef struct {
    cl_command_queue queue; /* in any order */
    cl_program program;
} runtime;

static runtime rt;

/* An argument: a pointer into unified shared memory, or a value. */
typedef struct {
    const void *pointer;
    const void *value;
    size_t size;
} argument;

#define P(p)                                                                                       \
    (argument) { .pointer = (p) }
#define V(v)                                                                                       \
    (argument) { .value = &(v), .size = sizeof(v) }

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

static void begin(void) {
    begin_commands();
    cr_assert(find_usm(ocl.platform) && find_mutable(ocl.platform));
    rt.queue = new_queue(ocl.context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    rt.program = built(source, "-cl-std=CL3.0");
}

static void end(void) {
    SUCCEEDS(clFinish(rt.queue));
    SUCCEEDS(clReleaseCommandQueue(rt.queue));
    SUCCEEDS(clReleaseProgram(rt.program));
    end_commands();
}

TestSuite(sycl_runtime, .init = begin, .fini = end);

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
        if (a->value) SUCCEEDS(clSetKernelArg(k, n, a->size, a->value));
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

/* A node of a graph, after others. */
typedef struct {
    cl_mutable_command_khr handle;
    cl_sync_point_khr point;
} node_of_graph;

static cl_command_buffer_khr new_graph(void) {
    const cl_command_buffer_properties_khr p[] = {
        CL_COMMAND_BUFFER_FLAGS_KHR,
        CL_COMMAND_BUFFER_MUTABLE_KHR | CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
    return MAKE(khr.clCreateCommandBufferKHR(1, &rt.queue, p, &error));
}

static node_of_graph add_node(cl_command_buffer_khr graph, command_group g, cl_uint n,
                              const cl_sync_point_khr *deps) {
    node_of_graph to;
    cl_kernel k = kernel_of(&g);
    SUCCEEDS(khr.clCommandNDRangeKernelKHR(graph, NULL, NULL, k, 1, NULL, &g.items, NULL, n,
                                           n ? deps : NULL, &to.point, &to.handle));
    SUCCEEDS(clReleaseKernel(k));
    return to;
}

/* All arguments anew, as runtimes do. */
static void update_node(cl_command_buffer_khr graph, node_of_graph at, command_group g) {
    mutable_arg values[MAX_ARGS], pointers[MAX_ARGS];
    mutable_config c = {.command = at.handle, .global_work_size = &g.items};
    for (cl_uint n = 0; n < MAX_ARGS; n++) {
        const argument *a = &g.args[n];
        if (a->pointer) pointers[c.num_svm_args++] = (mutable_arg){n, 0, a->pointer};
        if (a->value) values[c.num_args++] = (mutable_arg){n, a->size, a->value};
    }
    c.arg_list = c.num_args ? values : NULL;
    c.arg_svm_list = c.num_svm_args ? pointers : NULL;
    SUCCEEDS(update_one(graph, &c));
}

static cl_event run_graph(cl_command_buffer_khr graph, cl_uint n, const cl_event *deps) {
    cl_event e;
    SUCCEEDS(khr.clEnqueueCommandBufferKHR(0, NULL, graph, n, n ? deps : NULL, &e));
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

/* y += a x; z = b y: the graph of an iteration, whose pointers change places and whose numbers are
 * others each time.  Runs follow each other by events. */
Test(sycl_runtime, graph_of_an_iteration) {
    enum { ROUNDS = 12 };
    float *v[3], *host = malloc_host(N), wanted[3][4] = {{0}};
    cl_command_buffer_khr graph = new_graph();
    cl_event last = NULL, e;
    float a = 0.5f, b = 2;
    for (int n = 0; n < 3; n++) {
        const float step = (float)(n + 1);
        v[n] = malloc_device(N);
        e = submit((command_group){"iota", N, {P(v[n]), V(step)}}, 0, NULL);
        wait_and_drop(1, &e);
        for (int x = 0; x < 4; x++) wanted[n][x] = (float)x * step;
    }
    node_of_graph first =
        add_node(graph, (command_group){"axpy", N, {P(v[0]), P(v[1]), V(a)}}, 0, NULL);
    node_of_graph second =
        add_node(graph, (command_group){"scale", N, {P(v[2]), P(v[0]), V(b)}}, 1, &first.point);
    finalize(graph);
    cr_expect_eq(count_launches(graph), 1, "both are one kernel until they are updated");
    for (int r = 0; r < ROUNDS; r++) {
        const int y = r % 3, x = (r + 1) % 3, z = (r + 2) % 3;
        a = 0.25f * (float)(r + 1);
        b = 1.f / (float)(1 << r % 4);
        if (r) {
            update_node(graph, first, (command_group){"axpy", N, {P(v[y]), P(v[x]), V(a)}});
            update_node(graph, second, (command_group){"scale", N, {P(v[z]), P(v[y]), V(b)}});
        } else {
            a = 0.5f;
            b = 2;
        }
        e = run_graph(graph, last != NULL, &last);
        if (last) SUCCEEDS(clReleaseEvent(last));
        last = e;
        for (int n = 0; n < 4; n++) {
            wanted[y][n] += a * wanted[x][n];
            wanted[z][n] = b * wanted[y][n];
        }
    }
    for (int n = 0; n < 3; n++) {
        SUCCEEDS(usm.copy(rt.queue, CL_TRUE, host, v[n], N * 4, 1, &last, NULL));
        for (int x = 0; x < 4; x++)
            cr_expect_float_eq(host[x], wanted[n][x], 1e-4f * (1 + wanted[n][x]), "%d %d", n, x);
    }
    wait_and_drop(1, &last);
    SUCCEEDS(khr.clReleaseCommandBufferKHR(graph));
    for (int n = 0; n < 3; n++) give_back(v[n]);
    give_back(host);
}

/* Several runs at a time, each with the pointers that were set before it; memory is freed when
 * all of them have ended. */
Test(sycl_runtime, runs_at_the_same_time) {
    enum { RUNS = 8 };
    float *in = malloc_host(N), *out = malloc_host(RUNS * N);
    cl_command_buffer_khr graph = new_graph();
    cl_event gate = MAKE(clCreateUserEvent(ocl.context, &error)), e[RUNS];
    for (int n = 0; n < N; n++) in[n] = (float)n;
    float a = 1;
    node_of_graph step =
        add_node(graph, (command_group){"scale", N, {P(out), P(in), V(a)}}, 0, NULL);
    finalize(graph);
    for (int r = 0; r < RUNS; r++) {
        a = (float)(r + 1);
        update_node(graph, step, (command_group){"scale", N, {P(out + r * N), P(in), V(a)}});
        e[r] = run_graph(graph, 1, &gate);
    }
    SUCCEEDS(khr.clReleaseCommandBufferKHR(graph));
    SUCCEEDS(clSetUserEventStatus(gate, CL_COMPLETE));
    give_back(in);
    for (int r = 0; r < RUNS; r++)
        for (int n = 0; n < N; n++) cr_assert_eq(out[r * N + n], (float)(n * (r + 1)));
    wait_and_drop(RUNS, e);
    SUCCEEDS(clReleaseEvent(gate));
    give_back(out);
}
