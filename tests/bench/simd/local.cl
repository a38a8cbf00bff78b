// local.cl: kernels for work-groups of any size.  `local_size` is that of their groups.

// These cannot tell their groups.
kernel void axpy(uint local_size, uint n, global const float *x, global const float *y,
                 global float *out) {
    size_t i = get_global_id(0);
    if (i < n) out[i] = 0.75f * x[i] + y[i];
}

kernel void series(uint local_size, uint n, global const float *x, global float *out) {
    size_t i = get_global_id(0);
    if (i >= n) return;
    float v = x[i], sum = 1;
    for (int k = 0; k < 12; k++) sum = sum * v * 0.5f + 1;
    out[i] = sum;
}

// Items read what others have written, in reverse order.
kernel void turn(uint local_size, global const float *x, global float *out, local float *part) {
    uint i = get_local_id(0), g = get_global_id(0);
    part[i] = x[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = part[get_local_size(0) - 1 - i] - 0.5f * x[g];
}

// The share of each item in the sum of the group, by a tree.
kernel void shares(uint local_size, global const float *x, global float *out, local float *part) {
    uint i = get_local_id(0), g = get_global_id(0);
    part[i] = x[g];
    for (uint n = get_local_size(0), reach; n > 1; n = reach) {
        barrier(CLK_LOCAL_MEM_FENCE);
        reach = (n + 1) / 2;
        if (i + reach < n) part[i] += part[i + reach];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = x[g] / part[0];
}
