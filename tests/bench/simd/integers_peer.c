/* integers_peer.c — the kernels of integers.cl as loops in C, on all threads. */
#include "tests/bench/simd/peers.h"

static uint32_t rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }

static uint32_t mix(uint32_t h, uint32_t word) {
    word = rotate(word * 0xcc9e2d51u, 15) * 0x1b873593u;
    return rotate(h ^ word, 13) * 5 + 0xe6546b64u;
}

void loop_hash(const size_t items[2], void *const *arguments) {
    const size_t n = items[0];
    const uint32_t *restrict words = arguments[1];
    uint32_t *restrict out = arguments[2];
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
        uint32_t h = (uint32_t)i;
        for (size_t k = 0; k < 4; k++) h = mix(h, words[k * n + i]);
        h = (h ^ h >> 16) * 0x85ebca6bu;
        h = (h ^ h >> 13) * 0xc2b2ae35u;
        out[i] = h ^ h >> 16;
    }
}

void loop_xorshift(const size_t items[2], void *const *arguments) {
    uint64_t *restrict state = arguments[1];
    float *restrict mean = arguments[2];
#pragma omp parallel for
    for (size_t i = 0; i < items[0]; i++) {
        uint64_t s = state[i];
        float sum = 0;
        for (int k = 0; k < 16; k++) {
            s ^= s >> 12;
            s ^= s << 25;
            s ^= s >> 27;
            sum += (float)(uint32_t)(s * 0x2545f4914f6cdd1d >> 40) * 0x1p-24f;
        }
        state[i] = s;
        mean[i] = sum / 16;
    }
}

void loop_bitonic(const size_t items[2], void *const *arguments) {
    const uint32_t distance = *(uint32_t *)arguments[1], block = *(uint32_t *)arguments[2];
    const uint32_t *restrict in = arguments[3];
    uint32_t *restrict out = arguments[4];
#pragma omp parallel for
    for (uint32_t i = 0; i < (uint32_t)items[0]; i++) {
        uint32_t low = 2 * i - (i & (distance - 1)), high = low + distance;
        uint32_t a = in[low], b = in[high], least = a < b ? a : b, most = a < b ? b : a;
        out[low] = low & block ? most : least;
        out[high] = low & block ? least : most;
    }
}

typedef struct {
    float x, y;
} complex_float;

static complex_float add(complex_float a, complex_float b) {
    return (complex_float){a.x + b.x, a.y + b.y};
}
static complex_float subtract(complex_float a, complex_float b) {
    return (complex_float){a.x - b.x, a.y - b.y};
}
static complex_float multiply(complex_float a, complex_float b) {
    return (complex_float){a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

void loop_fft4(const size_t items[2], void *const *arguments) {
    const uint32_t quarter = (uint32_t)items[0], done = *(uint32_t *)arguments[1];
    const complex_float *restrict in = arguments[2], *restrict twiddle = arguments[3];
    complex_float *restrict out = arguments[4];
#pragma omp parallel for
    for (uint32_t i = 0; i < quarter; i++) {
        uint32_t k = i & (done - 1), to = (i - k) * 4 + k;
        complex_float a = in[i], b = multiply(in[i + quarter], twiddle[k]);
        complex_float c = multiply(in[i + 2 * quarter], twiddle[done + k]);
        complex_float d = multiply(in[i + 3 * quarter], twiddle[2 * done + k]);
        complex_float s = add(a, c), t = subtract(a, c), u = add(b, d);
        complex_float v = {b.y - d.y, d.x - b.x};
        out[to] = add(s, u);
        out[to + done] = add(t, v);
        out[to + 2 * done] = subtract(s, u);
        out[to + 3 * done] = subtract(t, v);
    }
}
