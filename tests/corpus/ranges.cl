// For fusion: kernels launched over different ranges. Each one records what its items see: linear
// ids must survive fusion, and sizes must be those of the original launch.
kernel void line(global int *out) {
    size_t i = get_global_id(0);
    out[i] = (int)(i * 1000 + get_global_size(0));
}

kernel void grid(global int *out) {
    size_t x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    out[y * w + x] = (int)(x * 10000 + y * 100 + w + get_global_size(1));
}

kernel void groups(global int *out) {
    size_t i = get_global_id(0);
    out[i] = (int)(get_local_id(0) * 10000 + get_group_id(0) * 100 + get_num_groups(0));
}
