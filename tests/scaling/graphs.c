/* graphs.c — does committing a graph cost more than twice as much if it has twice as many launches?
 *
 * Launches of a chain are for one device, or for two that take turns, each of which has memory of
 * its own; the buffers between them are the program's, or internal.  Nothing is fused: fusing is
 * what plans of scaling.c do.  Cost is what count.c counts; exponents as in scaling.c.
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

static bool run(unsigned way) {
    uint64_t before = 0, now = 0;
    double largest = 0;
    for (unsigned k = 0; k < SIZES; k++) {
        before = now;
        now = measure(way, FIRST << k);
        if (before) largest = fmax(largest, log2((double)now / (double)before));
    }
    bool ok = largest <= most;
    printf("| %-30s | %5u | %7.0f | %5.2f |%s\n", ways[way].name, FIRST << (SIZES - 1),
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
    for (unsigned way = 0; way < WAYS; way++) passed += run(way);
    for (int n = 0; n < 2; n++) {
        spvf_program_destroy(programs[n]);
        spvf_device_destroy(devices[n]);
    }
    spvf_context_destroy(context);
    printf("%u passed, %u failed\n", passed, WAYS - passed);
    return passed != WAYS;
}
