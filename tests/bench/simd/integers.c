/* integers.c — integer arithmetic and computed orders: data and references of integers.cl. */
#include "tests/bench/simd/peers.h"

#include <math.h>

enum { FULL = 1 << 18, ODD = 10007, SMALL = 1024 };

static void make_hash(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_words(p, 4 * p->size, 0);
    add_result(p, TYPE_U32, p->size);
}

static void make_xorshift(problem *p) {
    set_range(p, p->size, 64);
    add_int(p, p->size);
    uint64_t *state = add_result(p, TYPE_U64, p->size);
    for (size_t i = 0; i < p->size; i++) state[i] = (i + 1) * 0x9e3779b97f4a7c15;
    add_result(p, TYPE_F32, p->size);
}

static void want_xorshift(const size_t items[2], void *const *arguments) {
    uint64_t *state = arguments[1];
    float *mean = arguments[2];
    for (size_t i = 0; i < items[0]; i++) {
        double sum = 0;
        for (int k = 0; k < 16; k++) {
            state[i] ^= state[i] >> 12;
            state[i] ^= state[i] << 25;
            state[i] ^= state[i] >> 27;
            sum += (double)(state[i] * 0x2545f4914f6cdd1d >> 40) * 0x1p-24;
        }
        mean[i] = (float)(sum / 16);
    }
}

/* Odd sizes: pairs of neighbours. */
static void make_bitonic(problem *p) {
    size_t distance = p->size & 1 ? 1 : p->size / 16;
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_int(p, distance);
    add_int(p, 2 * distance);
    add_words(p, 2 * p->size, 0);
    add_result(p, TYPE_U32, 2 * p->size);
}

static void want_bitonic(const size_t items[2], void *const *arguments) {
    const uint32_t *distance = arguments[1], *block = arguments[2], *in = arguments[3];
    uint32_t *out = arguments[4];
    for (size_t low = 0; low < 2 * items[0]; low++) {
        size_t high = low + *distance;
        if (low & *distance) continue;
        bool swaps = (in[low] > in[high]) == ((low & *block) == 0);
        out[low] = in[swaps ? high : low];
        out[high] = in[swaps ? low : high];
    }
}

/* Odd sizes: the first step. */
static void make_fft4(problem *p) {
    size_t done = p->size & 1 ? 1 : 64;
    const double turn = 2 * acos(-1.0) / (double)(4 * done);
    set_range(p, p->size, 64);
    add_int(p, p->size);
    add_int(p, done);
    add_floats(p, 8 * p->size, -1, 1);
    float *twiddle = add_floats(p, 6 * done, 0, 0);
    for (size_t r = 1; r < 4; r++)
        for (size_t k = 0; k < done; k++) {
            float *at = twiddle + 2 * ((r - 1) * done + k);
            at[0] = (float)cos(turn * (double)(r * k));
            at[1] = (float)-sin(turn * (double)(r * k));
        }
    add_result(p, TYPE_F32, 8 * p->size);
}

/* A transform of four points by its definition. */
static void want_fft4(const size_t items[2], void *const *arguments) {
    const size_t quarter = items[0], done = *(uint32_t *)arguments[1];
    const float *in = arguments[2];
    float *out = arguments[4];
    for (size_t i = 0; i < quarter; i++)
        for (size_t bin = 0; bin < 4; bin++) {
            size_t k = i % done, to = (i - k) * 4 + k + bin * done;
            double re = 0, im = 0;
            for (size_t r = 0; r < 4; r++) {
                double turn = -2 * acos(-1.0) * (double)r *
                              ((double)k / (double)(4 * done) + (double)bin / 4);
                const float *x = in + 2 * (i + r * quarter);
                re += (double)x[0] * cos(turn) - (double)x[1] * sin(turn);
                im += (double)x[0] * sin(turn) + (double)x[1] * cos(turn);
            }
            out[2 * to] = (float)re;
            out[2 * to + 1] = (float)im;
        }
}

static const benchmark rows[] = {
    {"hash", "hash", OTHER, FULL, ODD, SMALL, make_hash, loop_hash, loop_hash, 0},
    {"xorshift", "xorshift", OTHER, FULL, ODD, SMALL, make_xorshift, want_xorshift, loop_xorshift,
     1e-6},
    {"bitonic-step", "bitonic", OTHER, FULL, ODD, SMALL, make_bitonic, want_bitonic, loop_bitonic,
     0},
    {"fft-radix-4", "fft4", OTHER, FULL, ODD, SMALL, make_fft4, want_fft4, loop_fft4, 1e-5},
};
const theme integers_theme = {"integers", rows, sizeof rows / sizeof *rows};
