#include "peer.cuh"

KERNEL stencil5(uint width, uint height, IN(float) in, OUT(float) out) {
    uint x = global_x(), y = global_y();
    if (x >= width || y >= height) return;
    uint at = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
        out[at] = in[at];
    else
        out[at] = 0.2f * (in[at] + in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
}

static __device__ int clamp(int x, int low, int high) { return min(max(x, low), high); }

KERNEL convolve_rows(uint width, uint height, IN(float) filter, IN(float) in, OUT(float) out) {
    int x = global_x(), y = global_y();
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int k = -8; k <= 8; k++)
        sum += filter[k + 8] * in[y * width + clamp(x + k, 0, (int)width - 1)];
    out[y * width + x] = sum;
}

KERNEL convolve_columns(uint width, uint height, IN(float) filter, IN(float) in, OUT(float) out) {
    int x = global_x(), y = global_y();
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int k = -8; k <= 8; k++)
        sum += filter[k + 8] * in[clamp(y + k, 0, (int)height - 1) * width + x];
    out[y * width + x] = sum;
}

static __device__ uint8_t to_byte(float x) {
    return (uint8_t)__float2uint_rn(fminf(fmaxf(x, 0.0f), 255.0f));
}

KERNEL rgba(uint n, float saturation, IN(uchar4) in, OUT(uchar4) out) {
    uint i = global_x();
    if (i >= n) return;
    uchar4 c = in[i];
    float r = c.x, g = c.y, b = c.z, light = r * 0.299f + g * 0.587f + b * 0.114f;
    out[i] = make_uchar4(to_byte(light + (r - light) * saturation),
                         to_byte(light + (g - light) * saturation),
                         to_byte(light + (b - light) * saturation), c.w);
}

KERNEL transpose(uint width, uint height, IN(float) in, OUT(float) out) {
    uint x = global_x(), y = global_y();
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

KERNEL downscale(uint width, uint height, IN(float) in, OUT(float) out) {
    uint x = global_x(), y = global_y();
    if (x >= width || y >= height) return;
    const float *from = in + 2 * y * 2 * width + 2 * x;
    out[y * width + x] = 0.25f * (from[0] + from[1] + from[2 * width] + from[2 * width + 1]);
}
