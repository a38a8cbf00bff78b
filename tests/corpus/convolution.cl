// Convolution: one dimension with a constant-memory kernel of run-time length, and a separable two-
// dimensional filter in two passes with mirrored borders.
static int mirror(int x, int n) {
    if (x < 0) x = -x;
    if (x >= n) x = 2 * n - 2 - x;
    return x;
}

kernel void convolve_1d(global const int *signal, int n, constant int *taps, int count,
                        global int *out) {
    int i = (int)get_global_id(0), sum = 0;
    for (int t = 0; t < count; t++) {
        int at = i + t - count / 2;
        if (at >= 0 && at < n) sum += signal[at] * taps[count - 1 - t];
    }
    out[i] = sum;
}

kernel void filter_rows(global const float *in, global float *out, constant float *taps,
                        int radius) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1), w = (int)get_global_size(0);
    float sum = taps[0] * in[y * w + x];
    for (int r = 1; r <= radius; r++)
        sum += taps[r] * (in[y * w + mirror(x - r, w)] + in[y * w + mirror(x + r, w)]);
    out[y * w + x] = sum;
}

kernel void filter_columns(global const float *in, global float *out, constant float *taps,
                           int radius) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1), w = (int)get_global_size(0),
        h = (int)get_global_size(1);
    float sum = taps[0] * in[y * w + x];
    for (int r = 1; r <= radius; r++)
        sum += taps[r] * (in[mirror(y - r, h) * w + x] + in[mirror(y + r, h) * w + x]);
    out[y * w + x] = sum;
}
