/* closures.c CLOSURES.spv: kernels that take one struct by value.  Its members become arguments of
 * their own, as this prints, so that two launches become one kernel. */
#include "runtime/spvfuse_queue.h"
#include <stdio.h>
#include <string.h>

enum { COUNT = 4096, MOST_ARGS = 8 };
typedef struct {
    float by;
    const float *in;
    float *out;
} object;

typedef struct {
    const spvf_kernel_info *kernel;
    spvf_argument args[MOST_ARGS];
} arguments;

/* Is given the bytes of one argument, in the struct. */
static void set(void *user, size_t index, const void *bytes) {
    arguments *to = user;
    const spvf_arg_info *info = to->kernel->args[index];
    printf("%s: byte %d is argument %zu\n", to->kernel->name, (int)info->offset, index);
    if (info->kind == SPVF_ARG_BUFFER)
        memcpy(&to->args[index].address, bytes, sizeof(void *));
    else
        to->args[index] = (spvf_argument){.bytes = bytes, .size = (size_t)info->size};
}

static spvf_status record(spvf_graph *graph, spvf_program *p, const spvf_kernel_info *kernel,
                          const object *o) {
    arguments to = {.kernel = kernel};
    if (!kernel || kernel->arg_count > MOST_ARGS) return SPVF_ERROR_LIMIT;
    spvf_closure_arguments(kernel, 0, o, sizeof *o, set, NULL, &to);
    spvf_range range = {.dims = 1, .global = {COUNT}, .local = {64}};
    spvf_launch what = {sizeof what, p, kernel->name, range, to.args, kernel->arg_count, false};
    return spvf_graph_launch(graph, &what, NULL);
}

int main(int argc, char **argv) {
    static char spirv[1 << 20];
    static float memory[3][COUNT];
    for (int i = 0; i < COUNT; i++) memory[0][i] = (float)i;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t size = file ? fread(spirv, 1, sizeof spirv, file) : 0;
    if (file) fclose(file);
    spvf_module_options options = {.size = sizeof options, .closures = true};
    spvf_context *context;
    spvf_module *module;
    spvf_device *device;
    spvf_program *program;
    spvf_queue *queue;
    spvf_graph *graph;
    spvf_buffer *buffers[3];
    if (spvf_context_create(NULL, &context) != SPVF_OK ||
        spvf_device_open(context, "cpu", &device) != SPVF_OK ||
        spvf_queue_create(device, NULL, &queue) != SPVF_OK ||
        spvf_module_load(context, argv[1], spirv, size, &options, &module) != SPVF_OK ||
        spvf_module_optimize(module, NULL) != SPVF_OK || /* drops padding */
        spvf_program_create(device, module, &program) != SPVF_OK ||
        spvf_graph_create(device, NULL, &graph) != SPVF_OK)
        return 1;
    for (int n = 0; n < 3; n++)
        spvf_buffer_create(device, sizeof memory[n], memory[n], SPVF_USE_HOST, &buffers[n]);
    const object scale = {2, memory[0], memory[1]}, shift = {1, memory[1], memory[2]};
    bool failed = record(graph, program, spvf_module_find_kernel(module, "scale"), &scale) ||
                  record(graph, program, spvf_module_find_kernel(module, "shift"), &shift) ||
                  spvf_graph_commit(graph) || spvf_graph_run(graph, queue, NULL, NULL) ||
                  spvf_queue_finish(queue);
    printf("2 launches became %zu\n2 * 10 + 1 = %g\n", spvf_graph_kernel_count(graph),
           memory[2][10]);
    spvf_graph_destroy(graph);
    for (int n = 0; n < 3; n++) spvf_buffer_destroy(buffers[n]);
    spvf_queue_destroy(queue);
    spvf_program_destroy(program);
    spvf_module_destroy(module);
    spvf_device_destroy(device);
    spvf_context_destroy(context);
    return failed;
}
