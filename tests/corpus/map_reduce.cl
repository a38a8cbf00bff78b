// For fusion: a map followed by a sum of each group in local memory, and a last kernel that adds
// the group sums up, which depends on every group and cannot join them.
kernel void squares(global const int *in, global int *out) {
    size_t i = get_global_id(0);
    out[i] = in[i] * in[i];
}

kernel void group_sums(global const int *in, global int *sums, local int *tile) {
    uint l = (uint)get_local_id(0);
    tile[l] = in[get_global_id(0)];
    for (uint s = (uint)get_local_size(0) / 2; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s) tile[l] += tile[l + s];
    }
    if (l == 0) sums[get_group_id(0)] = tile[0];
}

kernel void total(global const int *sums, int n, global int *out) {
    int t = 0;
    for (int k = 0; k < n; k++) t += sums[k];
    *out = t;
}
