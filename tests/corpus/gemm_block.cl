// Matrix product with a block of 4 by 4 sums for each work-item, in arrays that loops with constant
// bounds index: after unrolling no private memory is left.
kernel void gemm_block(global const float *a, global const float *b, global float *c, int n) {
    int row = 4 * (int)get_global_id(1), col = 4 * (int)get_global_id(0);
    float sum[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sum[i][j] = 0;
    for (int k = 0; k < n; k++) {
        float x[4], y[4];
        for (int i = 0; i < 4; i++) x[i] = a[(row + i) * n + k];
        for (int j = 0; j < 4; j++) y[j] = b[k * n + col + j];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) sum[i][j] += x[i] * y[j];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[(row + i) * n + col + j] = sum[i][j];
}
