// Exclusive prefix sum after Blelloch: up-sweep and down-sweep in local memory, two elements for
// each item, block sums scanned by a second launch and added by a third.
kernel void scan_block(global const uint *in, global uint *out, global uint *sums,
                       local uint *tile) {
    uint l = (uint)get_local_id(0), n = 2 * (uint)get_local_size(0);
    size_t base = get_group_id(0) * n;
    tile[2 * l] = in[base + 2 * l];
    tile[2 * l + 1] = in[base + 2 * l + 1];
    uint stride = 1;
    for (uint d = n >> 1; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) tile[stride * (2 * l + 2) - 1] += tile[stride * (2 * l + 1) - 1];
        stride *= 2;
    }
    if (l == 0) {
        sums[get_group_id(0)] = tile[n - 1];
        tile[n - 1] = 0;
    }
    for (uint d = 1; d < n; d *= 2) {
        stride >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            uint a = stride * (2 * l + 1) - 1, b = stride * (2 * l + 2) - 1;
            uint t = tile[a];
            tile[a] = tile[b];
            tile[b] += t;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + 2 * l] = tile[2 * l];
    out[base + 2 * l + 1] = tile[2 * l + 1];
}

kernel void add_sums(global uint *data, global const uint *offsets, uint block) {
    size_t i = get_global_id(0);
    data[i] += offsets[i / block];
}
