/* loops_peer.c — the kernels of loops.cl as loops in C, on all threads.  The inner loop of a
 * product of matrices runs along a row, since compilers vectorize it then.
 */
#include "tests/bench/simd/peers.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct {
    float x, y, z, w;
} float4;

void loop_nbody(const size_t items[2], void *const *arguments) {
    const size_t n = items[0];
    const float step = *(float *)arguments[1];
    const float4 *restrict body = arguments[2];
    float4 *restrict velocity = arguments[3];
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
        float4 me = body[i];
        float ax = 0, ay = 0, az = 0;
        for (size_t k = 0; k < n; k++) {
            float dx = body[k].x - me.x, dy = body[k].y - me.y, dz = body[k].z - me.z;
            float r = 1 / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f), pull = body[k].w * r * r * r;
            ax += dx * pull, ay += dy * pull, az += dz * pull;
        }
        velocity[i].x += step * ax, velocity[i].y += step * ay, velocity[i].z += step * az;
    }
}

#define MATMUL(name, element, total)                                                               \
    void name(const size_t items[2], void *const *arguments) {                                     \
        const size_t n = items[0];                                                                 \
        const element *restrict a = arguments[1], *restrict b = arguments[2];                      \
        total *restrict c = arguments[3];                                                          \
        _Pragma("omp parallel for") for (size_t y = 0; y < n; y++) {                               \
            memset(c + y * n, 0, n * sizeof *c);                                                   \
            for (size_t k = 0; k < n; k++)                                                         \
                for (size_t x = 0; x < n; x++)                                                     \
                    c[y * n + x] += (total)a[y * n + k] * (total)b[k * n + x];                     \
        }                                                                                          \
    }
MATMUL(loop_matmul_f32, float, float)
MATMUL(loop_matmul_f64, double, double)
MATMUL(loop_matmul_i8, int8_t, int32_t)

void loop_nearest(const size_t items[2], void *const *arguments) {
    const uint32_t centers = *(uint32_t *)arguments[1];
    const float *restrict point = arguments[2], *restrict center = arguments[3];
    uint32_t *restrict which = arguments[4];
    float *restrict distance = arguments[5];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        float least = FLT_MAX;
        uint32_t best = 0;
        for (uint32_t k = 0; k < centers; k++) {
            float dx = point[2 * i] - center[2 * k], dy = point[2 * i + 1] - center[2 * k + 1];
            float square = dx * dx + dy * dy;
            if (square < least) least = square, best = k;
        }
        which[i] = best;
        distance[i] = sqrtf(least);
    }
}

void loop_horner(const size_t items[2], void *const *arguments) {
    const double *restrict coefficient = arguments[1], *restrict x = arguments[2];
    double *restrict y = arguments[3];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        double sum = 0;
        for (int k = 0; k < 16; k++) sum = sum * x[i] + coefficient[k];
        y[i] = sum;
    }
}

void loop_row_sums(const size_t items[2], void *const *arguments) {
    const size_t columns = *(uint32_t *)arguments[1];
    const float *restrict x = arguments[2];
    float *restrict sums = arguments[3];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        float sum = 0;
        for (size_t k = 0; k < columns; k++) sum += x[i * columns + k];
        sums[i] = sum;
    }
}
