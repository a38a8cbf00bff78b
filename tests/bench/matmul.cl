// Compiled from cold (cold.c), and what register blocks are compared with (weak.c): tiles of 16x16.
kernel void matmul(global const float *a, global const float *b, global float *c) {
    local float left[16][16], right[16][16];
    size_t x = get_local_id(0), y = get_local_id(1), n = get_global_size(0);
    size_t col = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (size_t at = 0; at < n; at += 16) {
        left[y][x] = a[row * n + at + x];
        right[y][x] = b[(at + y) * n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t k = 0; k < 16; k++) sum += left[y][k] * right[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + col] = sum;
}
