/* images_peer.c — the kernels of images.cl as loops in C, on all threads. */
#include "tests/bench/simd/peers.h"

#include <math.h>
#include <string.h>

void loop_stencil5(const size_t items[2], void *const *arguments) {
    const size_t width = items[0], height = items[1];
    const float *restrict in = arguments[2];
    float *restrict out = arguments[3];
#pragma omp parallel for
    for (size_t y = 0; y < height; y++) {
        const float *row = in + y * width;
        float *to = out + y * width;
        if (y == 0 || y == height - 1) {
            memcpy(to, row, width * sizeof *row);
            continue;
        }
        to[0] = row[0], to[width - 1] = row[width - 1];
        for (size_t x = 1; x < width - 1; x++)
            to[x] = 0.2f * (row[x] + row[x - 1] + row[x + 1] + in[(y - 1) * width + x] +
                            in[(y + 1) * width + x]);
    }
}

static int clamped(int n, int end) { return n < 0 ? 0 : n < end ? n : end - 1; }

void loop_rows(const size_t items[2], void *const *arguments) {
    const int width = (int)items[0], height = (int)items[1];
    const float *restrict filter = arguments[2], *restrict in = arguments[3];
    float *restrict out = arguments[4];
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        const float *restrict row = in + (size_t)y * width;
        float *restrict to = out + (size_t)y * width;
        for (int x = 0; x < width; x++) {
            float sum = 0;
            for (int k = -8; k <= 8; k++) sum += filter[k + 8] * row[clamped(x + k, width)];
            to[x] = sum;
        }
    }
}

void loop_columns(const size_t items[2], void *const *arguments) {
    const int width = (int)items[0], height = (int)items[1];
    const float *restrict filter = arguments[2], *restrict in = arguments[3];
    float *restrict out = arguments[4];
#pragma omp parallel for
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float sum = 0;
            for (int k = -8; k <= 8; k++)
                sum += filter[k + 8] * in[(size_t)clamped(y + k, height) * width + x];
            out[(size_t)y * width + x] = sum;
        }
}

static uint8_t to_byte(float x) { return (uint8_t)rintf(fminf(fmaxf(x, 0), 255)); }

void loop_rgba(const size_t items[2], void *const *arguments) {
    const float saturation = *(float *)arguments[1];
    const uint8_t *restrict in = arguments[2];
    uint8_t *restrict out = arguments[3];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        float r = in[4 * i], g = in[4 * i + 1], b = in[4 * i + 2];
        float light = 0.299f * r + 0.587f * g + 0.114f * b;
        out[4 * i] = to_byte(light + (r - light) * saturation);
        out[4 * i + 1] = to_byte(light + (g - light) * saturation);
        out[4 * i + 2] = to_byte(light + (b - light) * saturation);
        out[4 * i + 3] = in[4 * i + 3];
    }
}

/* By blocks of 16 rows and columns, as caches like it. */
void loop_transpose(const size_t items[2], void *const *arguments) {
    const size_t width = items[0], height = items[1];
    const float *restrict in = arguments[2];
    float *restrict out = arguments[3];
#pragma omp parallel for
    for (size_t top = 0; top < height; top += 16)
        for (size_t left = 0; left < width; left += 16)
            for (size_t x = left; x < left + 16 && x < width; x++)
                for (size_t y = top; y < top + 16 && y < height; y++)
                    out[x * height + y] = in[y * width + x];
}

void loop_downscale(const size_t items[2], void *const *arguments) {
    const size_t width = items[0], height = items[1];
    const float *restrict in = arguments[2];
    float *restrict out = arguments[3];
#pragma omp parallel for
    for (size_t y = 0; y < height; y++) {
        const float *row = in + 2 * y * 2 * width, *below = row + 2 * width;
        for (size_t x = 0; x < width; x++)
            out[y * width + x] =
                0.25f * (row[2 * x] + row[2 * x + 1] + below[2 * x] + below[2 * x + 1]);
    }
}
