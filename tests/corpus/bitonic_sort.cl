// Bitonic sort: whole blocks in local memory with nested loops of barriers, then global merge steps
// with one launch each; ascending and descending.
static void order(local uint *a, local uint *b, bool up) {
    if ((*a > *b) == up) {
        uint t = *a;
        *a = *b;
        *b = t;
    }
}

kernel void sort_block(global uint *data, local uint *tile) {
    uint l = (uint)get_local_id(0), n = 2 * (uint)get_local_size(0);
    size_t base = get_group_id(0) * n;
    tile[l] = data[base + l];
    tile[l + n / 2] = data[base + l + n / 2];
    for (uint size = 2; size <= n; size <<= 1) {
        bool up = size == n ? !(get_group_id(0) & 1) : !(l & size / 2);
        for (uint stride = size / 2; stride > 0; stride >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint at = 2 * l - (l & (stride - 1));
            order(&tile[at], &tile[at + stride], up);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[base + l] = tile[l];
    data[base + l + n / 2] = tile[l + n / 2];
}

kernel void merge_step(global uint *data, uint size, uint stride) {
    uint i = (uint)get_global_id(0);
    uint at = 2 * i - (i & (stride - 1));
    uint a = data[at], b = data[at + stride];
    bool up = !(i & size / 2);
    data[at] = up ? min(a, b) : max(a, b);
    data[at + stride] = up ? max(a, b) : min(a, b);
}

kernel void check_sorted(global const uint *data, global int *inversions) {
    size_t i = get_global_id(0);
    if (data[i] > data[i + 1]) atomic_inc(inversions);
}
