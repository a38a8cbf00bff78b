// Barriers inside helpers that are not inlined: called twice, in a loop, and one level deeper; the
// helper works on local memory that the kernel owns.
__attribute__((noinline)) static void rotate_tile(local int *tile, int by) {
    int l = (int)get_local_id(0), n = (int)get_local_size(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = tile[(l + by) % n];
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l] = x;
}

__attribute__((noinline)) static int sum_tile(local int *tile) {
    int l = (int)get_local_id(0), s = 0;
    rotate_tile(tile, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k <= l; k++) s += tile[k];
    return s;
}

kernel void rotations(global const int *in, global int *out, int times) {
    local int tile[6], other[6];
    tile[get_local_id(0)] = in[get_global_id(0)];
    other[get_local_id(0)] = in[get_global_id(0)] * 2;
    rotate_tile(other, 1);
    rotate_tile(tile, 2);
    for (int k = 0; k < times; k++) rotate_tile(tile, k);
    int s = sum_tile(tile) + sum_tile(other);
    out[get_global_id(0)] = tile[get_local_id(0)] * 1000 + s;
}
