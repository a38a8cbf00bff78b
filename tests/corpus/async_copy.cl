// async_work_group_copy and async_work_group_strided_copy in both directions, chained events,
// several element types, wait_group_events, and prefetch. Odd counts and strides.
// skip: clang22-O2 invalid module: the null event is an OpConstantNull with an extra word
kernel void tiles(global const float *in, global float *out, local float *tile, uint count) {
    size_t group = get_group_id(0);
    event_t e = async_work_group_copy(tile, in + group * count, count, 0);
    wait_group_events(1, &e);
    for (size_t k = get_local_id(0); k < count; k += get_local_size(0))
        tile[k] = tile[k] * 2.0f + (float)k;
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + group * count, tile, count, 0);
    wait_group_events(1, &e);
}

kernel void strided(global const int *in, global int *out) {
    local int columns[2][6];
    event_t e = async_work_group_strided_copy(columns[0], in + 1, 6, 3, 0);
    e = async_work_group_strided_copy(columns[1], in + 2, 6, 3, e);
    wait_group_events(1, &e);
    size_t l = get_local_id(0);
    if (l < 6) columns[0][l] += columns[1][5 - l];
    barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_strided_copy(out + 1, columns[0], 6, 2, 0);
    wait_group_events(1, &e);
}

kernel void typed(global const uchar4 *in, global uchar4 *out, global const long *wide,
                  global long *sums) {
    local uchar4 a[5];
    local long b[5];
    event_t e[2];
    e[0] = async_work_group_copy(a, in, 5, 0);
    e[1] = async_work_group_copy(b, wide, 5, 0);
    prefetch(in, 5);
    wait_group_events(2, e);
    size_t l = get_local_id(0);
    out[l] = a[4 - l].wzyx;
    sums[l] = b[l] + a[l].x;
}
