/* sides.c — the sides of a row: code of a theme for each, made ready for the buffers of a row, and
 * run once or timed. */
#include "tests/bench/bench.h"
#include "tests/bench/cuda/cuda.h"

#include <stdio.h>

const char *const side_names[SIDES] = {"plain", "ours", "nvcc", "exact", "OpenCL"};

/* Kinds of our code, best first: the first one that suits a launch is taken. */
static const char *const kinds[KINDS] = {",disjoint,aligned,coarsen=4",
                                         ",disjoint,aligned,coarsen=2", ",disjoint,aligned"};

static gpu_module *load_cubin(const theme_code *c, const char *kind) {
    char path[1000];
    snprintf(path, sizeof path, "%s/bench/cuda/%s.%s.cubin", c->build, c->of->name, kind);
    char *image = read_file(path, NULL);
    gpu_module *m = image ? gpu_load(image) : NULL;
    free(image);
    return m;
}

void load_theme(theme_code *c, const theme *t) {
    char path[1000];
    c->of = t;
    snprintf(path, sizeof path, "tests/bench/simd/%s.cl", t->name);
    c->plain = write_theme(c->build, t, "");
    for (unsigned k = 0; k < KINDS; k++) c->ours[k] = write_theme(c->build, t, kinds[k]);
    c->nvcc[0] = load_cubin(c, "fast");
    c->nvcc[1] = load_cubin(c, "exact");
    c->program = c->opencl.exists ? build_program(&c->opencl.device, path, false) : NULL;
}

void unload_theme(theme_code *c) {
    free_code(&c->plain);
    for (unsigned k = 0; k < KINDS; k++) free_code(&c->ours[k]);
    for (unsigned k = 0; k < 2; k++) gpu_unload(c->nvcc[k]);
    if (c->program) clReleaseProgram(c->program);
}

/* ------------------------------------------------------------------------------------------- a row */

/* A chain has code of its own, for its size. */
static our_code *write_fused(row_sides *s, const theme_code *c, const benchmark *b,
                             const char *options) {
    our_code *to = &s->fused[s->nfused++];
    return *to = write_chain(c->build, c->of, b, s->buffers.of->items[0], options), to;
}

static bool begin_ours(row_sides *s, const theme_code *c, const benchmark *b) {
    bool ok = false;
    for (unsigned k = 0; k < KINDS && !ok; k++) {
        const our_code *from = b->steps ? write_fused(s, c, b, kinds[k]) : &c->ours[k];
        ok = prepare_ours(&s->side[OURS], from, b->kernel, &s->buffers);
    }
    return ok;
}

bool begin_side(row_sides *s, const theme_code *c, const benchmark *b, unsigned k) {
    gpu_side *side = &s->side[k < NVIDIA_OPENCL ? k : 0];
    bool ok;
    switch (k) {
    case NVIDIA_OPENCL:
        return c->program && prepare_opencl(&s->opencl, &c->opencl, c->program, b, &s->buffers);
    case OURS: ok = begin_ours(s, c, b); break;
    case OURS_PLAIN:
        ok = prepare_ours(side, b->steps ? write_fused(s, c, b, "") : &c->plain, b->kernel,
                          &s->buffers);
        break;
    default: ok = prepare_gpu_side(side, c->nvcc[k - NVCC], b->kernel, &s->buffers);
    }
    side->is_fused = b->steps;
    return ok;
}

void end_sides(row_sides *s) {
    for (unsigned k = 0; k < s->nfused; k++) free_code(&s->fused[k]);
    free_opencl(&s->opencl);
    free_gpu_buffers(&s->buffers);
}

bool run_once(row_sides *s, unsigned k, const problem *p, host_arguments *to) {
    if (k == NVIDIA_OPENCL)
        return run_launch(&s->opencl.launch[0]) && read_results(&s->opencl.launch[0], p, to);
    s->side[k].turn = 0;
    return reset_gpu_buffers(&s->buffers) && run_gpu_side(&s->side[k]) && gpu_wait() &&
           read_gpu_results(&s->buffers, to);
}

double time_side(row_sides *s, unsigned k, unsigned times) {
    if (k == NVIDIA_OPENCL) return time_opencl(&s->opencl, times) / times;
    gpu_begin_time();
    for (unsigned n = 0; n < times; n++)
        if (!run_gpu_side(&s->side[k])) return 0;
    return gpu_end_time() / times;
}
