/* graphs.c — does committing a graph cost more than twice as much if it has twice as many launches, or
 * launching them with a context that remembers them and the contents of their buffers?
 *
 * Launches of a chain are for one device, or for two that take turns, each of which has memory of
 * its own; the buffers between them are the program's, or internal.  Nothing is fused: fusing is
 * what plans of scaling.c do.  Launches that are remembered have two buffers each, no two of which have
 * equal contents; they are launched one by one, or by one run of a graph.  Cost is what count.c counts;
 * exponents as in scaling.c.
 */
#include "runtime/spvfuse_queue.h"
#include "tests/scaling/count.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 250, SIZES = 4, IN_ROW = 16 /* launches of a device */, BYTES = 64 };
static const double most = 1.3;

static const char kernels[] = "target 64\n"
                              "kernel @copy(%to: ptr.global, %from: ptr.global const) {\n"
                              "entry:\n"
                              "  %v: i32 = load %from align 4\n"
                              "  store %v, %to align 4\n"
                              "  ret\n"
                              "}\n";

static const struct {
    const char *name;
    unsigned devices;
    bool internal;
} ways[] = {{"one device", 1, false},
            {"one device, internal buffers", 1, true},
            {"two devices", 2, false},
            {"two devices, internal buffers", 2, true}};
enum { WAYS = sizeof ways / sizeof *ways };

static const struct {
    const char *name;
    bool one_by_one;
} remembered[] = {{"launches, remembered", true}, {"a run of a graph, remembered", false}};
enum { REMEMBERED = sizeof remembered / sizeof *remembered };

static spvf_device *devices[2];
static spvf_program *programs[2];

static void must(bool ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "graphs: %s\n", what);
    exit(1);
}

static void open_devices(spvf_context *context) {
    static const char *const names[] = {"cpu", "check"};
    spvf_module *m;
    must(!spvf_module_load(context, "copy", kernels, sizeof kernels - 1, NULL, &m), "no module");
    for (int n = 0; n < 2; n++)
        must(!spvf_device_open(context, names[n], &devices[n]) &&
                 !spvf_program_create(devices[n], m, &programs[n]),
             "no device");
    spvf_module_destroy(m);
}

static void close_devices(void) {
    for (int n = 0; n < 2; n++) {
        spvf_program_destroy(programs[n]);
        spvf_device_destroy(devices[n]);
    }
}

static void record(spvf_graph *g, unsigned way, spvf_buffer **b, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        const spvf_argument args[] = {{.buffer = b[k + 1]}, {.buffer = b[k]}};
        const spvf_launch l = {.size = sizeof l,
                               .program = programs[k / IN_ROW % ways[way].devices],
                               .kernel = "copy",
                               .range = {.dims = 1, .global = {1}},
                               .args = args,
                               .arg_count = 2};
        must(!spvf_graph_launch(g, &l, NULL), "a launch is refused");
    }
    for (uint32_t k = 1; ways[way].internal && k < n; k++)
        must(!spvf_graph_internal(g, b[k], SPVF_PROMOTE_AUTO), "a buffer is refused");
}

/* Steps of committing a graph of n launches. */
static uint64_t measure(unsigned way, uint32_t n) {
    const spvf_graph_options o = {.size = sizeof o, .unfused = true};
    spvf_buffer **b = calloc(n + 1, sizeof *b);
    spvf_graph *g;
    must(b && !spvf_graph_create(devices[0], &o, &g), "no graph");
    for (uint32_t k = 0; k <= n; k++)
        must(!spvf_buffer_create(devices[0], BYTES, NULL, 0, &b[k]), "no buffer");
    record(g, way, b, n);
    uint64_t start = count_steps;
    must(!spvf_graph_commit(g), "the graph is refused");
    uint64_t steps = count_steps - start;
    must((spvf_graph_copy_count(g) > 0) == (ways[way].devices > 1), "there are no copies");
    spvf_graph_destroy(g);
    for (uint32_t k = 0; k <= n; k++) spvf_buffer_destroy(b[k]);
    free(b);
    return steps;
}

/* A device of a context that remembers all. */
static spvf_context *begin_remembering(uint32_t n) {
    const spvf_context_options o = {.size = sizeof o, .remember = n, .remember_contents = BYTES};
    spvf_context *context;
    must(!spvf_context_create(&o, &context), "no context");
    open_devices(context);
    return context;
}

static void launch_all(bool one_by_one, spvf_buffer **b, uint32_t n) {
    const spvf_graph_options o = {.size = sizeof o, .unfused = true};
    spvf_graph *g = NULL;
    spvf_queue *q;
    must(!spvf_queue_create(devices[0], NULL, &q), "no queue");
    must(one_by_one || !spvf_graph_create(devices[0], &o, &g), "no graph");
    for (uint32_t k = 0; k < n; k++) {
        const spvf_argument args[] = {{.buffer = b[2 * k]}, {.buffer = b[2 * k + 1]}};
        const spvf_launch l = {.size = sizeof l,
                               .program = programs[0],
                               .kernel = "copy",
                               .range = {.dims = 1, .global = {1}},
                               .args = args,
                               .arg_count = 2};
        must(!(g ? spvf_graph_launch(g, &l, NULL) : spvf_queue_launch(q, &l, NULL, NULL)),
             "a launch is refused");
    }
    must(!g || (!spvf_graph_commit(g) && !spvf_graph_run(g, q, NULL, NULL)), "no run");
    must(!spvf_queue_finish(q), "the queue has failed");
    spvf_graph_destroy(g);
    spvf_queue_destroy(q);
}

/* Steps of n launches, and of forgetting them. */
static uint64_t measure_remembered(unsigned way, uint32_t n) {
    spvf_context *context = begin_remembering(n);
    spvf_buffer **b = calloc(2 * n, sizeof *b);
    must(b, "no memory");
    for (uint32_t k = 0; k < 2 * n; k++) {
        uint32_t contents[BYTES / 4] = {k};
        must(!spvf_buffer_create(devices[0], BYTES, contents, 0, &b[k]), "no buffer");
    }
    uint64_t start = count_steps;
    launch_all(remembered[way].one_by_one, b, n);
    uint64_t steps = count_steps - start;
    for (uint32_t k = 0; k < 2 * n; k++) spvf_buffer_destroy(b[k]);
    free(b);
    close_devices();
    start = count_steps;
    spvf_context_destroy(context);
    return steps + count_steps - start;
}

typedef uint64_t measure_fn(unsigned way, uint32_t n);

static bool run(const char *name, measure_fn *cost, unsigned way) {
    uint64_t before = 0, now = 0;
    double largest = 0;
    for (unsigned k = 0; k < SIZES; k++) {
        before = now;
        now = cost(way, FIRST << k);
        if (before) largest = fmax(largest, log2((double)now / (double)before));
    }
    bool ok = largest <= most;
    printf("| %-30s | %5u | %7.0f | %5.2f |%s\n", name, FIRST << (SIZES - 1),
           (double)now / (FIRST << (SIZES - 1)), largest, ok ? "" : " TOO FAST");
    return ok;
}

int main(void) {
    const spvf_context_options o = {.size = sizeof o};
    spvf_context *context;
    unsigned passed = 0;
    must(!spvf_context_create(&o, &context), "no context");
    open_devices(context);
    puts("| committing a chain on          |     n | steps/n | steps |");
    for (unsigned way = 0; way < WAYS; way++) passed += run(ways[way].name, measure, way);
    close_devices();
    spvf_context_destroy(context);
    for (unsigned way = 0; way < REMEMBERED; way++)
        passed += run(remembered[way].name, measure_remembered, way);
    printf("%u passed, %u failed\n", passed, WAYS + REMEMBERED - passed);
    return passed != WAYS + REMEMBERED;
}
