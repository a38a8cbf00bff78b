// cl: -cl-kernel-arg-info
// Kernel attributes: reqd_work_group_size in one and three dimensions, work_group_size_hint,
// vec_type_hint, const/restrict/volatile arguments and argument names that survive.
__attribute__((reqd_work_group_size(6, 1, 1))) kernel void
fixed_line(global const int *restrict source, global int *restrict result) {
    local int tile[6];
    tile[get_local_id(0)] = source[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    result[get_global_id(0)] = tile[5 - get_local_id(0)] + (int)get_local_size(0);
}

__attribute__((reqd_work_group_size(2, 3, 2))) kernel void fixed_box(global uint *result) {
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t l = (get_local_id(2) * 3 + get_local_id(1)) * 2 + get_local_id(0);
    result[(z * get_global_size(1) + y) * get_global_size(0) + x] =
        (uint)(l + 100 * get_local_size(1));
}

__attribute__((work_group_size_hint(8, 1, 1))) __attribute__((vec_type_hint(float4))) kernel void
hinted(global const float4 *restrict colours, global volatile float *sums, const float factor) {
    float4 c = colours[get_global_id(0)] * factor;
    sums[get_global_id(0)] = c.x + c.y + c.z + c.w;
}

__attribute__((vec_type_hint(int))) kernel void hinted_scalar(global int *data) {
    data[get_global_id(0)] += 1;
}
