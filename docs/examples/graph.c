/* graph.c KERNELS.spv: records z = a x + y as two launches, which become one kernel, and runs it
 * for several values of a. */
#include "runtime/spvfuse_queue.h"
#include <stdio.h>

enum { COUNT = 4096 };

static spvf_program *load(spvf_context *context, spvf_device *device, const char *name) {
    static char bytes[1 << 20];
    FILE *file = fopen(name, "rb");
    if (!file) return NULL;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    spvf_module *module = NULL;
    spvf_program *program = NULL;
    if (spvf_module_load(context, name, bytes, size, NULL, &module) == SPVF_OK)
        spvf_program_create(device, module, &program);
    spvf_module_destroy(module);
    return program;
}

int main(int argc, char **argv) {
    static float x[COUNT], y[COUNT], z[COUNT];
    for (int i = 0; i < COUNT; i++) x[i] = (float)i, y[i] = 1;
    spvf_context *context;
    spvf_device *device;
    spvf_queue *queue;
    if (argc != 2 || spvf_context_create(NULL, &context) != SPVF_OK ||
        spvf_device_open(context, "cpu", &device) != SPVF_OK ||
        spvf_queue_create(device, NULL, &queue) != SPVF_OK)
        return 1;
    spvf_program *program = load(context, device, argv[1]);
    if (!program) return 1;
    spvf_buffer *in, *more, *between, *out;
    spvf_buffer_create(device, sizeof x, x, SPVF_USE_HOST, &in);
    spvf_buffer_create(device, sizeof y, y, SPVF_USE_HOST, &more);
    spvf_buffer_create(device, sizeof x, NULL, SPVF_COPY_HOST, &between);
    spvf_buffer_create(device, sizeof z, z, SPVF_USE_HOST, &out);

    float a = 0;
    spvf_range range = {.dims = 1, .global = {COUNT}, .local = {64}};
    spvf_argument scaled[] = {{.bytes = &a, .size = sizeof a}, {.buffer = in}, {.buffer = between}};
    spvf_argument added[] = {{.buffer = between}, {.buffer = more}, {.buffer = out}};
    spvf_launch scale = {sizeof scale, program, "scale", range, scaled, 3, false};
    spvf_launch add = {sizeof add, program, "add", range, added, 3, false};
    spvf_graph *graph;
    size_t first;
    if (spvf_graph_create(device, NULL, &graph) != SPVF_OK) return 1;
    spvf_graph_launch(graph, &scale, &first);
    spvf_graph_launch(graph, &add, NULL);
    spvf_graph_internal(graph, between, SPVF_PROMOTE_AUTO); /* it is never allocated */
    spvf_status status = spvf_graph_commit(graph);
    printf("2 launches became %zu\n", spvf_graph_kernel_count(graph));
    for (int run = 1; status == SPVF_OK && run <= 3; run++) {
        a = (float)run;
        spvf_graph_set_value(graph, first, 0, &a, sizeof a);
        spvf_graph_run(graph, queue, NULL, NULL);
        status = spvf_queue_finish(queue);
        printf("%g * %g + %g = %g\n", a, x[10], y[10], z[10]);
    }
    spvf_graph_destroy(graph);
    spvf_buffer *buffers[] = {in, more, between, out};
    for (int i = 0; i < 4; i++) spvf_buffer_destroy(buffers[i]);
    spvf_queue_destroy(queue);
    spvf_program_destroy(program);
    spvf_device_destroy(device);
    spvf_context_destroy(context);
    return status != SPVF_OK;
}
