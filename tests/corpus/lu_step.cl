// LU decomposition without pivoting: divide the column, update the rest, then substitution forward
// and backward by one item; the matrix is such that results are exact.
kernel void scale_column(global float *a, int n, int k) {
    int i = (int)get_global_id(0) + k + 1;
    if (i < n) a[i * n + k] /= a[k * n + k];
}

kernel void update(global float *a, int n, int k) {
    int j = (int)get_global_id(0) + k + 1, i = (int)get_global_id(1) + k + 1;
    if (i < n && j < n) a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

kernel void solve(global const float *a, global const float *b, global float *x, int n) {
    for (int i = 0; i < n; i++) {
        float s = b[i];
        for (int j = 0; j < i; j++) s -= a[i * n + j] * x[j];
        x[i] = s;
    }
    for (int i = n - 1; i >= 0; i--) {
        float s = x[i];
        for (int j = i + 1; j < n; j++) s -= a[i * n + j] * x[j];
        x[i] = s / a[i * n + i];
    }
}
