// Work-item queries in one dimension with a non-zero global offset: global, local and group ids,
// sizes, counts, offset, and the values for dimensions that the range does not have.
kernel void ids(global int *out) {
    size_t g = get_global_id(0), o = get_global_offset(0);
    global int *r = out + 8 * (g - o);
    r[0] = (int)g;
    r[1] = (int)get_local_id(0);
    r[2] = (int)get_group_id(0);
    r[3] = (int)get_global_size(0);
    r[4] = (int)get_local_size(0);
    r[5] = (int)get_num_groups(0);
    r[6] = (int)o;
    r[7] = (int)get_work_dim();
}

kernel void absent_dimensions(global int *out) {
    size_t i = get_global_id(0) - get_global_offset(0);
    out[i] = (int)(get_global_id(1) + get_local_id(2) + get_group_id(1) + get_global_offset(2)) +
             10 * (int)(get_global_size(1) + get_local_size(2) + get_num_groups(1));
}
