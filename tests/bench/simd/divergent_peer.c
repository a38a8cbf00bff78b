/* divergent_peer.c — the kernels of divergent.cl as loops in C, on all threads.  Threads take parts
 * of the loop by turns where iterations take different time.
 */
#include "tests/bench/simd/peers.h"

#include <math.h>

void loop_mandelbrot(const size_t items[2], void *const *arguments) {
    const size_t width = items[0], height = items[1];
    uint32_t *restrict out = arguments[2];
#pragma omp parallel for schedule(dynamic)
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            float cr = -2 + 3.0f / width * x, ci = -1 + 2.0f / height * y, zr = 0, zi = 0;
            uint32_t n = 0;
            for (; n < 256 && zr * zr + zi * zi < 4; n++) {
                float next = zr * zr - zi * zi + cr;
                zi = 2 * zr * zi + ci;
                zr = next;
            }
            out[y * width + x] = n;
        }
}

void loop_spmv(const size_t items[2], void *const *arguments) {
    const uint32_t *restrict begin = arguments[1], *restrict column = arguments[2];
    const float *restrict value = arguments[3], *restrict x = arguments[4];
    float *restrict y = arguments[5];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        float sum = 0;
        for (uint32_t k = begin[i]; k < begin[i + 1]; k++) sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}

void loop_pull(const size_t items[2], void *const *arguments) {
    const uint32_t *restrict begin = arguments[1], *restrict before = arguments[2];
    const uint32_t *restrict length = arguments[3], *restrict frontier = arguments[4];
    const uint32_t *restrict distance = arguments[5];
    uint32_t *restrict to = arguments[6];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        uint32_t least = distance[i];
        for (uint32_t k = begin[i]; k < begin[i + 1]; k++) {
            uint32_t through = distance[before[k]] + length[k];
            if (frontier[before[k]] && through < least) least = through;
        }
        to[i] = least;
    }
}

static void atomic_min(uint32_t *at, uint32_t x) {
    uint32_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (x < old &&
           !__atomic_compare_exchange_n(at, &old, x, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

void loop_push(const size_t items[2], void *const *arguments) {
    const uint32_t *restrict begin = arguments[1], *restrict after = arguments[2];
    const uint32_t *restrict length = arguments[3], *restrict frontier = arguments[4];
    const uint32_t *restrict distance = arguments[5];
    uint32_t *to = arguments[6];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++)
        for (uint32_t k = begin[i]; frontier[i] && k < begin[i + 1]; k++)
            atomic_min(&to[after[k]], distance[i] + length[k]);
}

void loop_switch(const size_t items[2], void *const *arguments) {
    const uint32_t *restrict kind = arguments[1];
    const float *restrict x = arguments[2];
    float *restrict y = arguments[3];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        float v = x[i];
        switch (kind[i]) {
        case 0: continue;
        case 1: y[i] = v * v; continue;
        case 2: v = sqrtf(fabsf(v)); break;
        case 3: v = 1 / (1 + v * v); break;
        case 4: y[i] = -v; continue;
        default: v = fminf(v, 0.5f);
        }
        for (int k = 0; k < 4; k++) v = v * 0.75f + 0.125f;
        y[i] = v;
    }
}

void loop_collatz(const size_t items[2], void *const *arguments) {
    uint32_t *restrict steps = arguments[1];
#pragma omp parallel for schedule(dynamic, 1024)
    for (uint32_t i = 0; i < (uint32_t)items[0]; i++) {
        uint32_t v = i + 1, k = 0;
        for (; v != 1 && k < 200; k++) v = v & 1 ? 3 * v + 1 : v / 2;
        steps[i] = k;
    }
}

void loop_newton(const size_t items[2], void *const *arguments) {
    const double *restrict x = arguments[1];
    double *restrict root = arguments[2];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        double a = x[i], r = a, change = 1;
        for (int k = 0; k < 60 && fabs(change) > 1e-12 * r; k++) {
            change = (r * r * r - a) / (3 * r * r);
            r -= change;
        }
        root[i] = r;
    }
}
