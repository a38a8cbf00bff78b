// Sum and maximum of an array in two passes: a grid-stride loop into registers, a tree in local
// memory with a barrier at each level, then one group finishes.
kernel void reduce_int(global const int *in, uint n, global int *partial, local int *tile) {
    uint l = (uint)get_local_id(0), size = (uint)get_local_size(0);
    int sum = 0;
    for (uint i = (uint)get_global_id(0); i < n; i += (uint)get_global_size(0)) sum += in[i];
    tile[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = size / 2; s > 0; s >>= 1) {
        if (l < s) tile[l] += tile[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) partial[get_group_id(0)] = tile[0];
}

kernel void reduce_max(global const float *in, uint n, global float *partial, local float *tile) {
    uint l = (uint)get_local_id(0);
    float best = -INFINITY;
    for (uint i = (uint)get_global_id(0); i < n; i += (uint)get_global_size(0))
        best = fmax(best, in[i]);
    tile[l] = best;
    for (uint s = (uint)get_local_size(0) / 2; s > 0; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s) tile[l] = fmax(tile[l], tile[l + s]);
    }
    if (l == 0) partial[get_group_id(0)] = tile[0];
}
