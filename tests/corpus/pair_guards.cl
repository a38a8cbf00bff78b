// For fusion: kernels with different bounds checks, early returns and a kernel that works on every
// second element only. Elements that a guard leaves out keep their old value.
kernel void fill_below(global int *out, uint n) {
    uint i = (uint)get_global_id(0);
    if (i < n) out[i] = (int)i * 3;
}

kernel void add_if_odd(global int *data, uint n, int extra) {
    uint i = (uint)get_global_id(0);
    if (i >= n) return;
    if ((i & 1) == 0) return;
    data[i] += extra;
}

kernel void copy_clamped(global const int *in, global int *out, uint n, int top) {
    uint i = (uint)get_global_id(0);
    if (i < n && in[i] < top) out[i] = in[i];
}
