// What implementations are slow at (weak.c).

// An item has 4 elements of a row in registers; constant loops, a private array, barriers.
kernel void matmul_blocked(global const float *a, global const float *b, global float *c) {
    local float left[16][16], right[16][64];
    size_t x = get_local_id(0), y = get_local_id(1), n = 4 * get_global_size(0);
    size_t row = get_global_id(1), first = get_group_id(0) * 64;
    float sum[4] = {0, 0, 0, 0};
    for (size_t at = 0; at < n; at += 16) {
        left[y][x] = a[row * n + at + x];
        for (int k = 0; k < 4; k++)
            right[y][x + 16 * k] = b[(at + y) * n + first + x + 16 * k];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < 16; i++)
            for (int k = 0; k < 4; k++) sum[k] += left[y][i] * right[i][x + 16 * k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int k = 0; k < 4; k++) c[row * n + first + x + 16 * k] = sum[k];
}

// Values that live over barriers in a loop.
kernel void live_over_barriers(global const float *in, global float *out) {
    local float tile[64];
    size_t l = get_local_id(0);
    float a = in[get_global_id(0)], b = a * 2, c = a + 3, d = a - b;
    for (int k = 0; k < 16; k++) {
        tile[l] = a + b;
        barrier(CLK_LOCAL_MEM_FENCE);
        float t = tile[(l + 1) & 63];
        barrier(CLK_LOCAL_MEM_FENCE);
        a = b + t, b = c - t, c = d * 0.5f + t, d = a - c * 0.25f;
    }
    out[get_global_id(0)] = a + b + c + d;
}

kernel void local_atomics(global const uint *in, global uint *out) {
    local uint bins[64];
    size_t l = get_local_id(0);
    bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++) atomic_inc(&bins[(in[get_global_id(0)] + k * 7) & 63]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&out[l], bins[l]);
}

// Some arithmetic, alike for all local sizes.
kernel void work(global const float *in, global float *out) {
    size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    float v = in[i];
    for (int k = 0; k < 32; k++) v = v * 0.75f + 1.0f;
    out[i] = v;
}
