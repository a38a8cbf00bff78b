// Five-point stencil in two dimensions with a local tile and halo; the border is clamped, the grid
// is not a multiple of the group, and two steps alternate buffers.
kernel void heat(global const float *in, global float *out, int width, int height, float k,
                 local float *tile) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    int lx = (int)get_local_id(0) + 1, ly = (int)get_local_id(1) + 1;
    int w = (int)get_local_size(0) + 2, lw = (int)get_local_size(0), lh = (int)get_local_size(1);
    int cx = min(x, width - 1), cy = min(y, height - 1);
    tile[ly * w + lx] = in[cy * width + cx];
    if (lx == 1) tile[ly * w] = in[cy * width + max(cx - 1, 0)];
    if (lx == lw) tile[ly * w + lx + 1] = in[cy * width + min(x + 1, width - 1)];
    if (ly == 1) tile[lx] = in[max(cy - 1, 0) * width + cx];
    if (ly == lh) tile[(ly + 1) * w + lx] = in[min(y + 1, height - 1) * width + cx];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x >= width || y >= height) return;
    float c = tile[ly * w + lx];
    float around = tile[ly * w + lx - 1] + tile[ly * w + lx + 1] + tile[(ly - 1) * w + lx] +
                   tile[(ly + 1) * w + lx];
    out[y * width + x] = c + k * (around - 4.0f * c);
}

kernel void heat_naive(global const float *in, global float *out, float k) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    int width = (int)get_global_size(0), height = (int)get_global_size(1);
    float c = in[y * width + x];
    float around = in[y * width + max(x - 1, 0)] + in[y * width + min(x + 1, width - 1)] +
                   in[max(y - 1, 0) * width + x] + in[min(y + 1, height - 1) * width + x];
    out[y * width + x] = c + k * (around - 4.0f * c);
}
