// For fusion: three-dimensional kernels, element-wise, then along z by the items of one plane,
// which stays item-local because each item owns a column.
kernel void volume(global float *out) {
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    out[(z * get_global_size(1) + y) * get_global_size(0) + x] =
        (float)x + 10.0f * (float)y + 100.0f * (float)z;
}

kernel void halve(global const float *in, global float *out) {
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t at = (z * get_global_size(1) + y) * get_global_size(0) + x;
    out[at] = in[at] * 0.5f;
}

kernel void columns(global const float *in, global float *out, int depth) {
    size_t at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    size_t plane = get_global_size(0) * get_global_size(1);
    float sum = 0.0f;
    for (int z = 0; z < depth; z++) out[at + (size_t)z * plane] = sum += in[at + (size_t)z * plane];
}
