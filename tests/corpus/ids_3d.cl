// Work-item queries in two and three dimensions with odd sizes and offsets everywhere; a helper
// takes the dimension as an argument, so that it is not a constant.
// clang15-O2: -fno-slp-vectorize
__attribute__((noinline)) static uint describe(uint d) {
    return (uint)(get_global_id(d) * 1000000 + get_local_id(d) * 10000 + get_group_id(d) * 1000 +
                  get_local_size(d) * 100 + get_num_groups(d) * 10 + get_global_offset(d));
}

kernel void planes(global uint *out) {
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    size_t at = y * get_global_size(0) + x;
    out[2 * at] = describe(0);
    out[2 * at + 1] = describe(1);
}

kernel void volumes(global uint *out, uint dim) {
    size_t x = get_global_id(0) - get_global_offset(0);
    size_t y = get_global_id(1) - get_global_offset(1);
    size_t z = get_global_id(2) - get_global_offset(2);
    size_t at = (z * get_global_size(1) + y) * get_global_size(0) + x;
    out[2 * at] = describe(dim);
    uint sum = 0;
    for (uint d = 0; d < get_work_dim(); d++) sum = sum * 7 + describe(d);
    out[2 * at + 1] = sum;
}
