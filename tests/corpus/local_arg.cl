// Local memory as a kernel argument: one and two local pointers of different types and sizes next
// to an in-kernel __local array, and local pointers passed to helpers.
static void reverse(local int *tile, size_t l, size_t n, int value) {
    tile[n - 1 - l] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
}

kernel void reverse_group(global const int *in, global int *out, local int *tile) {
    size_t g = get_global_id(0), l = get_local_id(0);
    reverse(tile, l, get_local_size(0), in[g]);
    out[g] = tile[l];
}

kernel void two_tiles(local uchar *bytes, global const uint *in, local float2 *pairs, uint factor,
                      global float *out) {
    local uint best;
    size_t g = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    if (l == 0) best = 0;
    bytes[l] = (uchar)(in[g] * factor);
    barrier(CLK_LOCAL_MEM_FENCE);
    pairs[l] = (float2)(bytes[(l + 1) % n], bytes[(l + n - 1) % n]);
    atomic_max(&best, bytes[l]);
    barrier(CLK_LOCAL_MEM_FENCE);
    float2 p = pairs[n - 1 - l];
    out[g] = p.x - p.y + (float)best * 1000.0f;
}

kernel void rows(global const int *in, global int *out, local int *row) {
    size_t x = get_local_id(0), y = get_local_id(1), w = get_local_size(0), h = get_local_size(1);
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    local int *mine = row + y * (w + 1);
    mine[x] = in[at];
    if (x == 0) mine[w] = (int)get_group_id(1);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[at] = row[(h - 1 - y) * (w + 1) + x] + 1000 * mine[w];
}
