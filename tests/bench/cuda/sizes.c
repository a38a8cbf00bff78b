/* sizes.c — how large the rows of the table are on a GPU. */
#include "tests/bench/cuda/cuda.h"

#include <string.h>

/* Sizes that keep a GPU busy.  What is not listed is the same kernel as another row. */
static const struct {
    const char *name;
    size_t size;
} gpu_sizes[] = {
    {"add", 1 << 25},
    {"saxpy", 1 << 25},
    {"triad-f64", 1 << 23},
    {"blend-u8", 1 << 24},
    {"chain-of-8", 1 << 24},
    {"black-scholes", 1 << 22},
    {"gelu", 1 << 24},
    {"sigmoid", 1 << 24},
    {"pow-f64", 1 << 20},
    {"sin-f64", 1 << 21},
    {"sincos-f32", 1 << 22},
    {"hash", 1 << 22},
    {"xorshift", 1 << 22},
    {"bitonic-step", 1 << 23},
    {"fft-radix-4", 1 << 21},
    {"nbody", 1 << 15},
    {"matmul-f32", 1024},
    {"matmul-f64", 1024},
    {"matmul-i8", 1024},
    {"nearest", 1 << 18},
    {"horner-f64", 1 << 22},
    {"row-sums", 1 << 14},
    {"tiled-f32", 1024},
    {"tiled-f64", 1024},
    {"tiled-i8", 1024},
    {"reduction", 1 << 24},
    {"scan", 1 << 23},
    {"histogram", 1 << 24},
    {"softmax", 1 << 14},
    {"layernorm", 1 << 14},
    {"transpose-tiled", 4096},
    {"stencil5", 4096},
    {"convolve-rows", 2048},
    {"convolve-columns", 2048},
    {"rgba", 2048},
    {"transpose", 4096},
    {"downscale", 4096},
    {"mandelbrot", 2048},
    {"spmv", 1 << 20},
    {"relax-pull", 1 << 20},
    {"relax-push", 1 << 20},
    {"switch-return", 1 << 22},
    {"collatz", 1 << 22},
    {"newton-f64", 1 << 20},
    {"particles", 1 << 22},
    {"rays", 1 << 19},
    {"digits", 1 << 23},
};

size_t gpu_size(const benchmark *b) {
    for (unsigned k = 0; k < sizeof gpu_sizes / sizeof *gpu_sizes; k++)
        if (strcmp(gpu_sizes[k].name, b->name) == 0) return gpu_sizes[k].size;
    return 0;
}
