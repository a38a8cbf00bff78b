// images.cl: items in a plane that read their neighbours.

// The mean of a point and its four neighbours; the frame is copied.
kernel void stencil5(uint width, uint height, global const float *in, global float *out) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    uint at = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
        out[at] = in[at];
    else
        out[at] = 0.2f * (in[at] + in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
}

// A filter of 17 points along rows, then along columns; beyond the image is its last pixel.
kernel void convolve_rows(uint width, uint height, constant float *filter, global const float *in,
                          global float *out) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int k = -8; k <= 8; k++)
        sum += filter[k + 8] * in[y * width + clamp(x + k, 0, (int)width - 1)];
    out[y * width + x] = sum;
}

kernel void convolve_columns(uint width, uint height, constant float *filter,
                             global const float *in, global float *out) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int k = -8; k <= 8; k++)
        sum += filter[k + 8] * in[clamp(y + k, 0, (int)height - 1) * width + x];
    out[y * width + x] = sum;
}

// Pixels as vectors of four bytes: a mixture of a color and its brightness.
kernel void rgba(uint n, float saturation, global const uchar4 *in, global uchar4 *out) {
    uint i = get_global_id(0);
    if (i >= n) return;
    float4 color = convert_float4(in[i]);
    float light = dot(color.xyz, (float3)(0.299f, 0.587f, 0.114f));
    color.xyz = light + (color.xyz - light) * saturation;
    out[i] = convert_uchar4_sat_rte(color);
}

kernel void transpose(uint width, uint height, global const float *in, global float *out) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

// Half the width and height: an item reads four pixels, two from each of two rows.
kernel void downscale(uint width, uint height, global const float *in, global float *out) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    global const float *from = in + 2 * y * 2 * width + 2 * x;
    out[y * width + x] = 0.25f * (from[0] + from[1] + from[2 * width] + from[2 * width + 1]);
}
