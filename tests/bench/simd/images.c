/* images.c — items in a plane: data and references of images.cl.  A size is a width. */
#include "tests/bench/simd/peers.h"

#include <math.h>

static size_t height_of(const problem *p) { return p->size * 3 / 4; }

static void set_image(problem *p) {
    set_plane(p, p->size, height_of(p), 64, 4);
    add_int(p, p->size);
    add_int(p, height_of(p));
}

static void make_image(problem *p) {
    set_image(p);
    add_floats(p, p->size * height_of(p), -1, 1);
    add_result(p, TYPE_F32, p->size * height_of(p));
}

static void want_stencil5(const size_t items[2], void *const *arguments) {
    const size_t width = items[0], height = items[1];
    const float *in = arguments[2];
    float *out = arguments[3];
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            const float *at = in + y * width + x;
            bool frame = x == 0 || y == 0 || x == width - 1 || y == height - 1;
            out[y * width + x] = frame ? *at
                                       : (float)(((double)at[0] + (double)at[-1] + (double)at[1] +
                                                  (double)*(at - width) + (double)at[width]) /
                                                 5);
        }
}

static void make_filtered(problem *p) {
    set_image(p);
    add_floats(p, 17, 0, 0.1);
    add_floats(p, p->size * height_of(p), -1, 1);
    add_result(p, TYPE_F32, p->size * height_of(p));
}

/* n, or what is nearest to it of 0 to end - 1. */
static size_t clamped(ptrdiff_t n, size_t end) {
    return n < 0 ? 0 : n < (ptrdiff_t)end ? (size_t)n : end - 1;
}

static void want_filtered(const size_t items[2], void *const *arguments, int along_x) {
    const float *filter = arguments[2], *in = arguments[3];
    float *out = arguments[4];
    for (size_t y = 0; y < items[1]; y++)
        for (size_t x = 0; x < items[0]; x++) {
            double sum = 0;
            for (int k = -8; k <= 8; k++) {
                size_t column = clamped((ptrdiff_t)x + (along_x ? k : 0), items[0]);
                size_t row = clamped((ptrdiff_t)y + (along_x ? 0 : k), items[1]);
                sum += (double)filter[k + 8] * (double)in[row * items[0] + column];
            }
            out[y * items[0] + x] = (float)sum;
        }
}

static void want_rows(const size_t items[2], void *const *arguments) {
    want_filtered(items, arguments, 1);
}

static void want_columns(const size_t items[2], void *const *arguments) {
    want_filtered(items, arguments, 0);
}

static void make_rgba(problem *p) {
    const size_t pixels = p->size * height_of(p);
    set_range(p, pixels, 64);
    add_int(p, pixels);
    add_float(p, 1.3f);
    add_bytes(p, TYPE_U8, 4 * pixels);
    add_result(p, TYPE_U8, 4 * pixels);
}

static void want_rgba(const size_t items[2], void *const *arguments) {
    const double saturation = *(float *)arguments[1];
    const uint8_t *in = arguments[2];
    uint8_t *out = arguments[3];
    for (size_t i = 0; i < items[0]; i++, in += 4, out += 4) {
        double light = 0.299 * in[0] + 0.587 * in[1] + 0.114 * in[2];
        for (int k = 0; k < 3; k++)
            out[k] = (uint8_t)rint(fmin(fmax(light + (in[k] - light) * saturation, 0), 255));
        out[3] = in[3];
    }
}

void want_transpose(const size_t items[2], void *const *arguments) {
    const float *in = arguments[2];
    float *out = arguments[3];
    for (size_t y = 0; y < items[1]; y++)
        for (size_t x = 0; x < items[0]; x++) out[x * items[1] + y] = in[y * items[0] + x];
}

static void make_downscale(problem *p) {
    set_image(p);
    add_floats(p, 4 * p->size * height_of(p), -1, 1);
    add_result(p, TYPE_F32, p->size * height_of(p));
}

static void want_downscale(const size_t items[2], void *const *arguments) {
    const float *in = arguments[2];
    float *out = arguments[3];
    const size_t below = 2 * items[0];
    for (size_t y = 0; y < items[1]; y++)
        for (size_t x = 0; x < items[0]; x++) {
            const float *at = in + 2 * y * below + 2 * x;
            out[y * items[0] + x] = (float)(((double)at[0] + (double)at[1] + (double)at[below] +
                                             (double)at[below + 1]) /
                                            4);
        }
}

enum { FULL = 1024, ODD = 203, SMALL = 64 };

static const benchmark rows[] = {
    {"stencil5", "stencil5", STREAMING, 4 * FULL, ODD, SMALL, make_image, want_stencil5,
     loop_stencil5, 1e-5},
    {"stencil5-cached", "stencil5", STREAMING, FULL / 2, ODD, SMALL, make_image, want_stencil5,
     loop_stencil5, 1e-5},
    {"convolve-rows", "convolve_rows", INNER_LOOP, FULL, ODD, SMALL, make_filtered, want_rows,
     loop_rows, 1e-5},
    {"convolve-columns", "convolve_columns", INNER_LOOP, FULL, ODD, SMALL, make_filtered,
     want_columns, loop_columns, 1e-5},
    {"rgba", "rgba", STREAMING, FULL, ODD, SMALL, make_rgba, want_rgba, loop_rgba, 0, 0.001},
    {"transpose", "transpose", OTHER, FULL, ODD, SMALL, make_image, want_transpose, loop_transpose,
     0},
    {"downscale", "downscale", STREAMING, FULL, ODD, SMALL, make_downscale, want_downscale,
     loop_downscale, 1e-5},
};
const theme images_theme = {"images", rows, sizeof rows / sizeof *rows};
