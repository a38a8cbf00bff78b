/* scalar_peer.c — the kernels of scalar_kernels.h as C, each in loops over the items that a
 * compiler can see through.  Built with -O2 -fno-tree-vectorize -mfma.
 */
#include "tests/bench/scalar_peer.h"

#include <math.h>

#define KERNEL(name, ...) static inline void name(int X, int Y, __VA_ARGS__)
#define GLOBAL
#define SQRT sqrtf
#define TO_FLOATS(x) __builtin_convertvector(x, float4)
#define TO_BYTES(x) __builtin_convertvector(__builtin_convertvector(x, int4), uchar4)
typedef float float4 __attribute__((vector_size(16)));
typedef int int4 __attribute__((vector_size(16)));
typedef unsigned char uchar4 __attribute__((vector_size(4)));
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "tests/bench/scalar_kernels.h"

static void loop_saxpy(const uint64_t items[2], void *const *args) {
    const float *x = args[0];
    float *y = args[1], a = *(float *)args[2];
    for (int i = 0; i < (int)items[0]; i++) saxpy(i, 0, x, y, a);
}

static void loop_matmul(const uint64_t items[2], void *const *args) {
    const float *a = args[0], *b = args[1];
    float *c = args[2];
    int n = *(int *)args[3];
    for (int y = 0; y < (int)items[1]; y++)
        for (int x = 0; x < (int)items[0]; x++) matmul(x, y, a, b, c, n);
}

static void loop_stencil(const uint64_t items[2], void *const *args) {
    const float *in = args[0];
    float *out = args[1];
    int w = *(int *)args[2], h = *(int *)args[3];
    for (int y = 0; y < (int)items[1]; y++)
        for (int x = 0; x < (int)items[0]; x++) stencil(x, y, in, out, w, h);
}

static void loop_nbody(const uint64_t items[2], void *const *args) {
    const float *p = args[0];
    float *v = args[1];
    int n = *(int *)args[2];
    for (int x = 0; x < (int)items[0]; x++) nbody(x, 0, p, v, n);
}

static void loop_mandelbrot(const uint64_t items[2], void *const *args) {
    int *out = args[0], w = *(int *)args[1];
    float step = *(float *)args[2];
    for (int y = 0; y < (int)items[1]; y++)
        for (int x = 0; x < (int)items[0]; x++) mandelbrot(x, y, out, w, step);
}

static void loop_spmv(const uint64_t items[2], void *const *args) {
    const int *row = args[0], *column = args[1];
    const float *value = args[2], *v = args[3];
    float *y = args[4];
    for (int x = 0; x < (int)items[0]; x++) spmv(x, 0, row, column, value, v, y);
}

static void loop_hash(const uint64_t items[2], void *const *args) {
    const unsigned *in = args[0];
    unsigned *out = args[1];
    int n = *(int *)args[2];
    for (int x = 0; x < (int)items[0]; x++) hash(x, 0, in, out, n);
}

static void loop_paths(const uint64_t items[2], void *const *args) {
    int *d = args[0], n = *(int *)args[1], k = *(int *)args[2];
    for (int y = 0; y < (int)items[1]; y++)
        for (int x = 0; x < (int)items[0]; x++) paths(x, y, d, n, k);
}

static void loop_nearest(const uint64_t items[2], void *const *args) {
    const float *points = args[0], *centers = args[1];
    int *out = args[2], n = *(int *)args[3];
    for (int x = 0; x < (int)items[0]; x++) nearest(x, 0, points, centers, out, n);
}

static void loop_moments(const uint64_t items[2], void *const *args) {
    const double *v = args[0];
    double *out = args[1];
    int n = *(int *)args[2];
    for (int x = 0; x < (int)items[0]; x++) moments(x, 0, v, out, n);
}

static void loop_horner4(const uint64_t items[2], void *const *args) {
    const float4 *v = args[0];
    float4 *out = args[1];
    int n = *(int *)args[2];
    for (int x = 0; x < (int)items[0]; x++) horner4(x, 0, v, out, n);
}

static void loop_fade4(const uint64_t items[2], void *const *args) {
    const uchar4 *a = args[0], *b = args[1];
    uchar4 *out = args[2];
    float t = *(float *)args[3];
    for (int x = 0; x < (int)items[0]; x++) fade4(x, 0, a, b, out, t);
}

const scalar_peer scalar_peers[SCALAR_KERNELS] = {
    {"saxpy", loop_saxpy},           {"matmul", loop_matmul},   {"stencil", loop_stencil},
    {"nbody", loop_nbody},           {"spmv", loop_spmv},       {"hash", loop_hash},
    {"mandelbrot", loop_mandelbrot}, {"paths", loop_paths},     {"nearest", loop_nearest},
    {"moments", loop_moments},       {"horner4", loop_horner4}, {"fade4", loop_fade4},
};
