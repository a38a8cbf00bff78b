// first.cl: kernels whose first launches are timed (first.c); some have little to do for each item, others much.

kernel void vadd(uint n, global const float *a, global const float *b, global float *c) {
    size_t i = get_global_id(0);
    if (i < n) c[i] = a[i] + b[i];
}

kernel void waves(uint n, global const float *a, global const float *b, global float *c) {
    size_t i = get_global_id(0);
    if (i < n) c[i] = sin(a[i]) * exp(b[i]) + sqrt(a[i]);
}

kernel void stencil(uint n, global const float *a, global const float *b, global float *c) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
    float sum = a[y * n + x - 1] + a[y * n + x + 1] + a[(y - 1) * n + x] + a[(y + 1) * n + x];
    c[y * n + x] = 0.5f * a[y * n + x] + 0.125f * sum;
}

kernel void escape(uint n, global const float *a, global const float *b, global float *c) {
    uint x = get_global_id(0), y = get_global_id(1);
    float cr = -2.0f + 3.0f / n * x, ci = -1.0f + 2.0f / n * y, zr = 0, zi = 0;
    uint steps = 0;
    for (; steps < 256 && zr * zr + zi * zi < 4.0f; steps++) {
        float next = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = next;
    }
    c[y * n + x] = steps;
}

kernel void bodies(uint n, global const float *a, global const float *b, global float *c) {
    uint i = get_global_id(0);
    if (i >= n) return;
    float x = a[i], y = b[i], pull = 0;
    for (uint k = 0; k < n; k++) {
        float dx = a[k] - x, dy = b[k] - y, r = rsqrt(dx * dx + dy * dy + 0.01f);
        pull += dx * r * r * r;
    }
    c[i] = pull;
}

kernel void matmul(uint n, global const float *a, global const float *b, global float *c) {
    uint x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (uint k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

kernel void total(uint n, global const float *a, global const float *b, global float *c) {
    local float part[256];
    uint i = get_local_id(0), g = get_global_id(0);
    part[i] = g < n ? a[g] * b[g] : 0;
    for (uint reach = 128; reach; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < reach) part[i] += part[i + reach];
    }
    if (i == 0) c[get_group_id(0)] = part[0];
}

// The product by tiles of matrices that are parts of larger ones.
kernel void tiled(uint n, global const float *a, global const float *b, global float *c, uint pitch_a, uint pitch_b,
                  uint pitch_c) {
    local float left[16][16], right[16][16];
    uint x = get_local_id(0), y = get_local_id(1), col = get_global_id(0), row = get_global_id(1);
    float sum = 0;
    for (uint at = 0; at < n; at += 16) {
        left[y][x] = a[row * pitch_a + at + x];
        right[y][x] = b[(at + y) * pitch_b + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < 16; k++) sum += left[y][k] * right[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * pitch_c + col] = sum;
}
