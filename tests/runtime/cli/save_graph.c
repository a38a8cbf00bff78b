/* save_graph.c DEVICE KERNELS.ir: two launches of which the second one needs what other work-groups of
 * the first one write, recorded in a graph and run: devices that keep commands in order are given
 * both at once.  Buffers are written by commands before that, and again after it. */
#include "runtime/spvfuse_queue.h"
#include <stdio.h>
#include <string.h>

enum { COUNT = 1024 };

static spvf_program *load(spvf_context *context, spvf_device *device, const char *name) {
    static char bytes[1 << 16];
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

static void say(void *user, const spvf_message *m) {
    (void)user;
    if (m->severity >= SPVF_WARNING) fprintf(stderr, "%s\n", m->formatted);
}

int main(int argc, char **argv) {
    static float x[COUNT + 1], z[COUNT];
    static const float zeros[COUNT + 1];
    for (int i = 0; i <= COUNT; i++) x[i] = (float)i * (float)i;
    const spvf_context_options options = {.size = sizeof options, .message = say};
    spvf_context *context;
    spvf_device *device;
    spvf_queue *queue;
    if (argc != 3 || spvf_context_create(&options, &context) != SPVF_OK ||
        spvf_device_open(context, argv[1], &device) != SPVF_OK ||
        spvf_queue_create(device, NULL, &queue) != SPVF_OK)
        return 1;
    spvf_program *program = load(context, device, argv[2]);
    spvf_buffer *in, *between, *out;
    spvf_buffer_create(device, sizeof x, NULL, SPVF_COPY_HOST, &in);
    spvf_buffer_create(device, sizeof x, zeros, SPVF_COPY_HOST, &between);
    spvf_buffer_create(device, sizeof z, NULL, SPVF_COPY_HOST, &out);
    const float a = 2;
    const spvf_range all = {.dims = 1, .global = {COUNT + 1}},
                     inner = {.dims = 1, .global = {COUNT}, .local = {64}};
    const spvf_argument scaled[] = {
        {.bytes = &a, .size = sizeof a}, {.buffer = in}, {.buffer = between}};
    const spvf_argument sloped[] = {{.buffer = between}, {.buffer = out}};
    const spvf_launch scale = {sizeof scale, program, "scale", all, scaled, 3, false};
    const spvf_launch slope = {sizeof slope, program, "slope", inner, sloped, 2, false};
    spvf_graph *graph;
    spvf_graph_create(device, NULL, &graph);
    spvf_graph_launch(graph, &scale, NULL);
    spvf_graph_launch(graph, &slope, NULL);
    if (spvf_graph_commit(graph) != SPVF_OK || spvf_graph_kernel_count(graph) != 2) return 1;
    spvf_queue_write(queue, in, 0, x, sizeof x, NULL, NULL);
    spvf_graph_run(graph, queue, NULL, NULL);
    spvf_queue_write(queue, in, 0, zeros, sizeof zeros, NULL, NULL);
    spvf_queue_read(queue, out, 0, z, sizeof z, NULL, NULL);
    if (spvf_queue_finish(queue) != SPVF_OK) return 1;
    const bool right = z[0] == 2 && z[1] == 6 && z[COUNT - 1] == 2 * (2 * COUNT - 1);
    spvf_graph_destroy(graph);
    spvf_buffer_destroy(in);
    spvf_buffer_destroy(between);
    spvf_buffer_destroy(out);
    spvf_queue_destroy(queue);
    spvf_program_destroy(program);
    spvf_device_destroy(device);
    spvf_context_destroy(context);
    return !right;
}
