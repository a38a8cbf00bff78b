// For fusion: two-dimensional kernels, element-wise over rows and columns, with an offset in one
// group of launches, and a transposing read that is not item-local.
kernel void gradient(global int *out, int pitch) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    out[y * pitch + x] = x * 10 + y * 100;
}

kernel void add_position(global const int *in, global int *out, int pitch) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    out[y * pitch + x] = in[y * pitch + x] + (int)(get_local_id(0) + get_group_id(1) * 1000000);
}

kernel void transposed(global const int *in, global int *out, int pitch) {
    int x = (int)get_global_id(0), y = (int)get_global_id(1);
    out[y * pitch + x] = in[x * pitch + y];
}
