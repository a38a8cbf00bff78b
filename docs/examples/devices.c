/* devices.c KERNELS.spv DEVICE DEVICE: y[i] += a (y[i + 1] - y[i]) on a line of cells, of which
 * each device has one half.  All steps are enqueued at once: events order the devices. */
#include "runtime/spvfuse_queue.h"
#include <stdio.h>

enum { HALF = 1 << 10, STEPS = 40, SIZE = HALF * sizeof(float) };

static float cells[2][HALF + 1], border[STEPS];
typedef struct {
    spvf_device *device;
    spvf_queue *queue;
    spvf_program *program;
    spvf_buffer *y[2];   /* with one cell more: the first one of the other half */
    spvf_graph *step[2]; /* from y[k] to y[1 - k] */
} part;

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

/* A step is three launches, which become one kernel. */
static spvf_graph *record(const part *p, spvf_buffer *in, spvf_buffer *out) {
    spvf_buffer *slope, *more;
    spvf_buffer_create(p->device, SIZE, NULL, SPVF_COPY_HOST, &slope);
    spvf_buffer_create(p->device, SIZE, NULL, SPVF_COPY_HOST, &more);
    spvf_argument first[] = {{.buffer = in}, {.buffer = slope}};
    spvf_argument then[] = {
        {.bytes = &(float){0.25f}, .size = 4}, {.buffer = slope}, {.buffer = more}};
    spvf_argument last[] = {{.buffer = more}, {.buffer = in}, {.buffer = out}};
    spvf_range range = {.dims = 1, .global = {HALF}, .local = {64}};
    spvf_launch launches[] = {{sizeof(spvf_launch), p->program, "slope", range, first, 2, false},
                              {sizeof(spvf_launch), p->program, "scale", range, then, 3, false},
                              {sizeof(spvf_launch), p->program, "add", range, last, 3, false}};
    spvf_graph *graph;
    if (spvf_graph_create(p->device, NULL, &graph) != SPVF_OK) return NULL;
    for (int i = 0; i < 3; i++) spvf_graph_launch(graph, &launches[i], NULL);
    spvf_graph_internal(graph, slope, SPVF_PROMOTE_AUTO);
    spvf_graph_internal(graph, more, SPVF_PROMOTE_AUTO);
    return spvf_graph_commit(graph) || spvf_graph_kernel_count(graph) != 1 ? NULL : graph;
}

int main(int argc, char **argv) {
    part p[2];
    spvf_context *context;
    cells[1][5] = 1024; /* moves from the second half to the first one */
    if (argc != 4 || spvf_context_create(NULL, &context) != SPVF_OK) return 1;
    for (int n = 0; n < 2; n++) {
        if (spvf_device_open(context, argv[2 + n], &p[n].device) ||
            spvf_queue_create(p[n].device, NULL, &p[n].queue) ||
            !(p[n].program = load(context, p[n].device, argv[1])))
            return 1;
        for (int k = 0; k < 2; k++)
            spvf_buffer_create(p[n].device, sizeof cells[n], cells[n], SPVF_COPY_HOST, &p[n].y[k]);
        for (int k = 0; k < 2; k++)
            if (!(p[n].step[k] = record(&p[n], p[n].y[k], p[n].y[1 - k]))) return 1;
    }
    for (int t = 0, k = 0; t < STEPS; t++, k = t % 2) {
        spvf_event *e;
        spvf_queue_read(p[1].queue, p[1].y[k], 0, &border[t], 4, NULL, &e);
        spvf_queue_write(p[0].queue, p[0].y[k], SIZE, &border[t], 4, &(spvf_wait){&e, 1}, NULL);
        spvf_event_destroy(e);
        for (int n = 0; n < 2; n++) spvf_graph_run(p[n].step[k], p[n].queue, NULL, NULL);
    }
    for (int n = 0; n < 2; n++) {
        spvf_queue_read(p[n].queue, p[n].y[0], 0, cells[n], SIZE, NULL, NULL);
        if (spvf_queue_finish(p[n].queue) != SPVF_OK) return 1;
    }
    printf("%.2f on %s, %.2f on %s\n", cells[0][1023], argv[2], cells[1][0], argv[3]);
    return 0;
}
