// Matrices whose rows run along y: neighbours in memory are items next to each other in y, and in
// z.  Device cpu runs its innermost loop along that dimension.
kernel void row_first(global const float *a, global const float *b, global float *c, uint n) {
    uint row = get_global_id(0), column = get_global_id(1);
    float sum = 0.0f;
    if (row >= n || column >= n) return;
    for (uint k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

kernel void blur(global const uchar *in, global uchar *out, int width) {
    int i = get_global_id(0), j = get_global_id(1), height = get_global_size(0);
    if (i < 1 || j < 1 || i >= height - 1 || j >= width - 1) return;
    int sum = 0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) sum += in[(i + y) * width + j + x];
    out[i * width + j] = (uchar)(sum / 9);
}

kernel void planes(global const int *a, global int *out) {
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t at = (x * get_global_size(1) + y) * get_global_size(2) + z;
    out[at] = a[at] * 3 + (int)(x + 10 * y + 100 * z);
}
