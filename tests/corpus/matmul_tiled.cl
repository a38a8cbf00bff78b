// Matrix product with local tiles and a barrier pair in the k loop; edges are padded with zeros, so
// that no dimension has to be a multiple of the tile. A naive version checks it.
#define TILE 4
kernel void matmul(global const float *a, global const float *b, global float *c, int m, int n,
                   int k) {
    local float left[TILE][TILE], right[TILE][TILE + 1];
    int col = (int)get_global_id(0), row = (int)get_global_id(1);
    int x = (int)get_local_id(0), y = (int)get_local_id(1);
    float sum = 0.0f;
    for (int base = 0; base < k; base += TILE) {
        left[y][x] = row < m && base + x < k ? a[row * k + base + x] : 0.0f;
        right[y][x] = base + y < k && col < n ? b[(base + y) * n + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; i++) sum += left[y][i] * right[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

kernel void matmul_naive(global const float *a, global const float *b, global float *c, int n,
                         int k) {
    int col = (int)get_global_id(0), row = (int)get_global_id(1);
    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum = mad(a[row * k + i], b[i * n + col], sum);
    c[row * n + col] = sum;
}

kernel void count_differences(global const float *x, global const float *y, global int *count) {
    size_t i = get_global_id(0);
    if (x[i] != y[i]) atomic_inc(count);
}
