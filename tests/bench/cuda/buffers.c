/* buffers.c — a row's arguments in memory of the GPU, and its launch by the driver. */
#include "tests/bench/cuda/cuda.h"

#include <string.h>

static size_t bytes_of(const argument *a) { return a->count * element_size(a->type); }

static bool is_buffer(const argument *a) { return a->data && !a->is_value; }

static bool fill_copy(const gpu_buffers *b, unsigned copy) {
    bool ok = true;
    for (unsigned k = 0; k < b->of->n && ok; k++) {
        const argument *a = &b->of->argument[k];
        if (is_buffer(a)) ok = gpu_write(b->at[copy][k], a->data, bytes_of(a));
    }
    return ok;
}

static bool allocate_copy(gpu_buffers *b) {
    for (unsigned k = 0; k < b->of->n; k++) {
        const argument *a = &b->of->argument[k];
        if (is_buffer(a) && !(b->at[b->copies][k] = gpu_allocate(bytes_of(a)))) return false;
    }
    return fill_copy(b, b->copies++);
}

bool make_gpu_buffers(gpu_buffers *b, const problem *p, bool rotate) {
    *b = (gpu_buffers){.of = p};
    for (unsigned k = 0; k < p->n; k++)
        if (is_buffer(&p->argument[k])) b->bytes += bytes_of(&p->argument[k]);
    bool ok = allocate_copy(b);
    while (ok && rotate && b->copies < MOST_COPIES && b->copies * b->bytes < 2 * gpu_cache())
        ok = allocate_copy(b);
    return ok;
}

void free_gpu_buffers(gpu_buffers *b) {
    for (unsigned c = 0; c < MOST_COPIES; c++)
        for (unsigned k = 0; k < MOST_ARGUMENTS; k++)
            if (b->at[c][k]) gpu_release(b->at[c][k]);
    *b = (gpu_buffers){0};
}

bool reset_gpu_buffers(const gpu_buffers *b) { return fill_copy(b, 0); }

bool read_gpu_results(const gpu_buffers *b, host_arguments *to) {
    for (unsigned k = 0; k < b->of->n; k++) {
        const argument *a = &b->of->argument[k];
        if (a->is_result && !gpu_read(to->at[k], b->at[0][k], bytes_of(a))) return false;
    }
    return true;
}

/* ----------------------------------------------------------------------------------------- launches */

bool prepare_gpu_side(gpu_side *s, gpu_module *m, const char *kernel, const gpu_buffers *b) {
    *s = (gpu_side){.buffers = b, .function = m ? gpu_find(m, kernel) : NULL, .coarsened = {1, 1}};
    if (s->function) gpu_describe(s->function, &s->registers, &s->spilled);
    return s->function;
}

/* The blocks of a launch whose threads run one work-item each, and threads of a block. */
void shape_launch(const problem *p, unsigned grid[2], unsigned block[2]) {
    for (unsigned k = 0; k < 2; k++) {
        block[k] = p->local[k] ? (unsigned)p->local[k] : k ? 1 : USUAL_GROUP;
        grid[k] = (unsigned)((p->items[k] + block[k] - 1) / block[k]);
    }
}

/* Where each argument is; returns the bytes of local memory. */
static unsigned list_parameters(gpu_side *s, uint64_t *place, void **parameters) {
    const gpu_buffers *b = s->buffers;
    const unsigned copy = s->turn++ % b->copies, step = s->is_fused ? b->of->n - 1 : 1;
    unsigned shared = 0, n = 0;
    for (unsigned k = 0; k < b->of->n; k += step) {
        const argument *a = &b->of->argument[k];
        if (!a->data) shared += (unsigned)bytes_of(a);
        if (is_buffer(a))
            parameters[n++] = (void *)&b->at[copy][k];
        else
            parameters[n++] = a->data ? a->data : place;
    }
    return shared;
}

bool run_gpu_side(gpu_side *s) {
    void *parameters[MOST_ARGUMENTS] = {NULL};
    unsigned grid[2], block[2];
    uint64_t place = 0;
    unsigned shared = list_parameters(s, &place, parameters);
    shape_launch(s->buffers->of, grid, block);
    for (unsigned k = 0; k < 2; k++) grid[k] /= s->coarsened[k];
    return gpu_launch(s->function, grid, block, shared, parameters);
}
