// For fusion: element-wise kernels as they are written, with an int for the index and a guard, in two
// ways; the range is rounded up, the size is an argument.
kernel void sum(global const float *a, global const float *b, global float *out, int n) {
    int i = get_global_id(0);
    if (i < n) out[i] = a[i] + b[i];
}

kernel void positive(global const float *in, global float *out, int n) {
    int i = get_global_id(0);
    if (i >= n) return;
    out[i] = in[i] > 0 ? in[i] : 0.0f;
}
