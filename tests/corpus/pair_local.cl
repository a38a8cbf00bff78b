// For fusion: two kernels with local memory and barriers. The first reverses each group, the second
// sums three neighbours inside the group, so that the fused kernel needs a barrier between them.
kernel void reverse_group(global const int *in, global int *out, local int *tile) {
    size_t l = get_local_id(0), n = get_local_size(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[n - 1 - l];
}

kernel void three_neighbours(global const int *in, global int *out) {
    local int tile[16];
    size_t l = get_local_id(0), n = get_local_size(0);
    tile[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[(l + n - 1) % n] + 10 * tile[l] + 100 * tile[(l + 1) % n];
}

// Reads what other items of the group wrote to global memory.
kernel void next_in_group(global const int *in, global int *out) {
    size_t l = get_local_id(0), n = get_local_size(0), first = get_global_id(0) - l;
    out[get_global_id(0)] = in[first + (l + 1) % n] - in[first + l];
}
