/* advect_mpi.c KERNELS.spv: y[i] += a (y[i + 1] - y[i]) on a ring of cells, which the ranks share.
 * A step is three launches, which become one kernel. */
#include "runtime/spvfuse_queue.h"
#include <mpi.h>
#include <stdio.h>

enum { CELLS = 1 << 16 /* of a rank */, STEPS = 100, START = 10 };

static spvf_program *load(spvf_context *context, spvf_device *device, const char *name) {
    static char bytes[1 << 20];
    FILE *file = fopen(name, "rb");
    if (!file) return perror(name), NULL;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    spvf_module *module = NULL;
    spvf_program *program = NULL;
    if (spvf_module_load(context, name, bytes, size, NULL, &module) == SPVF_OK)
        spvf_program_create(device, module, &program);
    spvf_module_destroy(module);
    return program;
}

/* One step, from `in` with a cell more to `out`; NULL: it is not one kernel. */
static spvf_graph *record(spvf_device *device, spvf_program *program, spvf_buffer *in,
                          spvf_buffer *out) {
    float a = 0.25f;
    spvf_buffer *slope, *part;
    spvf_buffer_create(device, CELLS * sizeof a, NULL, SPVF_COPY_HOST, &slope);
    spvf_buffer_create(device, CELLS * sizeof a, NULL, SPVF_COPY_HOST, &part);
    spvf_argument first[] = {{.buffer = in}, {.buffer = slope}};
    spvf_argument then[] = {{.bytes = &a, .size = sizeof a}, {.buffer = slope}, {.buffer = part}};
    spvf_argument last[] = {{.buffer = part}, {.buffer = in}, {.buffer = out}};
    spvf_range range = {.dims = 1, .global = {CELLS}, .local = {64}};
    spvf_launch launches[] = {{sizeof(spvf_launch), program, "slope", range, first, 2, false},
                              {sizeof(spvf_launch), program, "scale", range, then, 3, false},
                              {sizeof(spvf_launch), program, "add", range, last, 3, false}};
    spvf_graph *graph;
    if (spvf_graph_create(device, NULL, &graph) != SPVF_OK) return NULL;
    for (int i = 0; i < 3; i++) spvf_graph_launch(graph, &launches[i], NULL);
    spvf_graph_internal(graph, slope, SPVF_PROMOTE_AUTO);
    spvf_graph_internal(graph, part, SPVF_PROMOTE_AUTO);
    return spvf_graph_commit(graph) || spvf_graph_kernel_count(graph) != 1 ? NULL : graph;
}

int main(int argc, char **argv) {
    static float cells[2][CELLS + 1]; /* the last one is the first one of the rank to the right */
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    spvf_context *context;
    spvf_device *device;
    spvf_queue *queue;
    spvf_buffer *y[2];
    spvf_graph *step[2];
    if (argc != 2 || spvf_context_create(NULL, &context) ||
        spvf_device_open(context, "cpu:cache", &device) || spvf_queue_create(device, NULL, &queue))
        MPI_Abort(MPI_COMM_WORLD, 1);
    spvf_program *program = load(context, device, argv[1]);
    for (int k = 0; k < 2; k++)
        spvf_buffer_create(device, sizeof cells[k], cells[k], SPVF_USE_HOST, &y[k]);
    for (int k = 0; k < 2; k++)
        if (!program || !(step[k] = record(device, program, y[k], y[1 - k])))
            MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) cells[0][START] = 1024; /* it moves to the left, so soon to the last rank */
    for (int t = 0, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks; t < STEPS; t++) {
        MPI_Sendrecv(cells[t % 2], 1, MPI_FLOAT, left, 0, &cells[t % 2][CELLS], 1, MPI_FLOAT, right,
                     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        spvf_graph_run(step[t % 2], queue, NULL, NULL);
        if (spvf_queue_finish(queue) != SPVF_OK) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    double mine[2] = {0}, sum[2];
    for (long i = 0, n = (long)ranks * CELLS; i < CELLS; i++) {
        mine[0] += cells[0][i];
        mine[1] += cells[0][i] * (double)((START - (long)rank * CELLS - i + n) % n);
    }
    MPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d ranks: %g in all, moved by %g\n", ranks, sum[0], sum[1] / sum[0]);
    return MPI_Finalize();
}
