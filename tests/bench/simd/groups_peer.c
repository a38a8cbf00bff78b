/* groups_peer.c — the kernels of groups.cl as loops in C, on all threads.  A group becomes an
 * iteration of the outer loop; products of matrices and transpositions are those of other themes.
 */
#include "tests/bench/simd/peers.h"

#include <math.h>

void loop_reduce(const size_t items[2], void *const *arguments) {
    const size_t n = *(uint32_t *)arguments[0];
    const float *restrict x = arguments[1];
    float *restrict sums = arguments[2];
#pragma omp parallel for
    for (size_t group = 0; group < items[0] / 256; group++) {
        float sum = 0;
        for (size_t at = group * 256; at < n; at += items[0]) {
            size_t end = at + 256 < n ? at + 256 : n;
            for (size_t i = at; i < end; i++) sum += x[i];
        }
        sums[group] = sum;
    }
}

void loop_scan(const size_t items[2], void *const *arguments) {
    const size_t n = items[0];
    const uint32_t *restrict x = arguments[1];
    uint32_t *restrict out = arguments[2];
#pragma omp parallel for
    for (size_t group = 0; group < n; group += 256) {
        uint32_t sum = 0;
        for (size_t i = group; i < group + 256 && i < n; i++) out[i] = sum += x[i];
    }
}

void loop_histogram(const size_t items[2], void *const *arguments) {
    const size_t n = *(uint32_t *)arguments[0];
    const uint8_t *restrict x = arguments[1];
    uint32_t *restrict bins = arguments[2];
    (void)items;
#pragma omp parallel
    {
        uint32_t part[256] = {0};
#pragma omp for
        for (size_t i = 0; i < n; i++) part[x[i]]++;
        for (int k = 0; k < 256; k++)
#pragma omp atomic
            bins[k] += part[k];
    }
}

void loop_softmax(const size_t items[2], void *const *arguments) {
    const size_t columns = *(uint32_t *)arguments[0];
#pragma omp parallel for
    for (size_t row = 0; row < items[0] / 64; row++) {
        const float *restrict x = (const float *)arguments[1] + row * columns;
        float *restrict y = (float *)arguments[2] + row * columns, most = x[0], sum = 0;
        for (size_t k = 0; k < columns; k++) most = fmaxf(most, x[k]);
        for (size_t k = 0; k < columns; k++) sum += y[k] = expf(x[k] - most);
        for (size_t k = 0; k < columns; k++) y[k] /= sum;
    }
}

void loop_layernorm(const size_t items[2], void *const *arguments) {
    const size_t columns = *(uint32_t *)arguments[0];
    const float *restrict scale = arguments[2], *restrict bias = arguments[3];
#pragma omp parallel for
    for (size_t row = 0; row < items[0] / 64; row++) {
        const float *restrict x = (const float *)arguments[1] + row * columns;
        float *restrict y = (float *)arguments[4] + row * columns, sum = 0, squares = 0;
        for (size_t k = 0; k < columns; k++) sum += x[k];
        float mean = sum / (float)columns;
        for (size_t k = 0; k < columns; k++) squares += (x[k] - mean) * (x[k] - mean);
        float by = 1 / sqrtf(squares / (float)columns + 1e-5f);
        for (size_t k = 0; k < columns; k++) y[k] = (x[k] - mean) * by * scale[k] + bias[k];
    }
}
